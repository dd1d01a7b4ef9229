# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# Commands that map parameters without being asked: weights of any size are never in memory, what is written is compared
# with the MD5 before it gets its name, and files that change are an error.
. "$SRC/tests/cli/lib.sh"
cp "$data/small.json" "$data/small.raw" .
old=$(md5sum <small.raw | cut -c 1-32)

for command in "convert small.json a.fb" "opt small.json a.fb" "run small.json" "stats small.json" "view small.json"; do
    run 2 $command --lazy --eager; err "contradict each other"; gone a.fb
done
for word in "" --lazy --eager; do
    run 0 convert small.json $word a.fb; quiet
    run 0 opt --passes dce small.json $word b.fb
    run 0 run small.json $word
    cp out ran$word; same ran ran$word
    run 0 stats small.json $word
    run 0 view small.json $word
    cmp -s a.fb first.fb || [ ! -e first.fb ] || bad "$word: other bytes"
    mv a.fb first.fb
done

# The MD5 is compared by the commands that write, and not by those that only use the parameters.
cp small.json wrong.json; cp small.raw wrong.raw; poke wrong.raw 100 '\377'
for word in "" --lazy --eager; do
    for out in c.json c.fb c.imodel; do
        run 1 opt --passes dce wrong.json $word $out; err "wrong.raw"; err "MD5"; gone $out; gone c.raw
    done
    run 1 convert wrong.json $word c.fb; err "MD5"; gone c.fb
done
run 0 run wrong.json; run 1 run wrong.json --eager; err "MD5"
run 0 stats wrong.json; run 1 stats wrong.json --eager; err "MD5"
run 0 view wrong.json
"$XIR" convert wrong.json - --to fb >out 2>err; [ $? -eq 1 ] || bad "to standard output"; err "MD5"

# In place, in each format.
for file in small.json small.fb small.imodel; do
    [ -e $file ] || run 0 convert small.json $file
    kept=kept.${file#*.}; cp $file $kept
    run 0 convert $file $file; quiet; same $file $kept
    run 0 convert $file $file --eager; quiet; same $file $kept
done

# 96 MiB of weights in 64 MiB of memory, of an operator that nobody knows. A sanitizer needs more than that for itself.
{
    printf '\010\010\072\237\200\200\060\012\007\012\001w\042\002Op\052\221\200\200\060'
    printf '\010\003\010\200\200\200\020\020\002\102\001w\112\200\200\200\060'
    head -c 100663296 /dev/zero
} >large.onnx
within() {
    ran="within 64 MiB: $*"
    (ulimit -d 65536 && "$XIR" "$@") >out 2>err || bad "$ran"
    quiet
}
run 0 convert large.onnx large.fb; quiet
if (ulimit -d 65536 && "$XIR" --version) >/dev/null 2>&1; then
    within convert large.onnx other.fb; same other.fb large.fb
    within convert large.fb large.json
    within convert large.json other.imodel
    within opt --passes "" large.json other.fb; same other.fb large.fb
    within opt --passes "" other.imodel other.json; same other.raw large.raw
    (ulimit -d 65536 && "$XIR" convert --eager large.fb other.fb) >out 2>err && bad "--eager maps"
fi

# A file that changes while it is written: the writer of the pipe waits until all else is done.
cp large.fb other.fb
mkfifo pipe
"$XIR" convert other.fb - --to imodel >pipe 2>err &
{ head -c 4096 >/dev/null; touch other.fb; cat >/dev/null; } <pipe
wait $!; [ $? -eq 3 ] || bad "a file that was changed while it was written"
err "other.fb"; err "changed"
finish
