# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# Files: what cannot be read or written (3), what is not a network (1), pipes.
. "$SRC/tests/cli/lib.sh"
cp "$data/small.json" "$data/small.raw" .

for sub in info show check; do
    run 3 $sub missing.json; err "missing.json: cannot be read: No such file"; silent
    run 3 $sub .; err ".: cannot be read: Is a directory"
done
run 3 diff small.json missing.json; run 3 diff missing.json small.json
run 3 convert missing.json o.json; gone o.json
if [ "$(id -u)" -ne 0 ]; then
    cp small.json secret.json; chmod 0 secret.json
    run 3 show secret.json; err "Permission denied"
fi

# Formats are detected by content, then by name.
: >empty; : >empty.json; echo hello >hello; echo hello >hello.json
run 1 show empty; err "empty: the file is empty"
run 1 show empty.json; err "empty.json:1:1: "
run 1 show hello; err "neither the content nor the name identifies the format: --from sets it, to one of json"
run 1 show hello.json; err "hello.json:1:1: "
cp small.json small.onnx; run 0 show --compact small.onnx; same out small.json
cp small.json noname; run 0 show --compact noname; same out small.json
printf 'x' >net.json; run 1 show net.json --from json; err "net.json:1:1: "
printf '\200\200' >net.fb; run 1 show net.fb; err "net.fb@0x"
printf '\200\200' >net.imodel; run 1 show net.imodel; err "net.imodel@0x"
run 1 convert net.imodel o.json; gone o.json
cp small.json net.onnx; run 0 show --compact net.onnx; same out small.json
printf '\010\010' >net.onnx; run 1 show net.onnx; err "net.onnx@0x2: the model has no graph"
run 3 convert small.json o.onnx; err "ONNX has no operator for "; gone o.onnx
run 3 convert small.json o.json --to onnx; gone o.json
run 2 convert small.json o.xyz; err "the name does not tell the format"; gone o.xyz
printf '\357\273\277{}' >bom.json; run 1 show bom.json; err "byte order mark"

# Truncated at many places: the finding has a place in the text, and nothing is printed.
size=$(wc -c <small.json)
for n in 1 2 3 50 100 500 1000 2000 4000 $((size - 2)) $((size - 1)); do
    head -c $n small.json >cut.json
    run 1 show cut.json; err "cut.json:1:"; silent
done
run 1 diff small.json cut.json; run 1 diff cut.json small.json
run 1 convert cut.json o.json; gone o.json; gone o.raw
printf '%s x' "$(cat small.json)" >more.json; run 1 show more.json; err "more.json:1:"
run 0 show small.json; sed '4s/.*/    "framework_version": nothing/' out >lines.json
run 1 show lines.json; err "lines.json:4:26: "

# Pipes and standard input.
"$XIR" show --compact - <small.json >out 2>err || bad "standard input"; same out small.json
cat small.json | "$XIR" show --compact - >out 2>err || bad "a pipe"; same out small.json
cat small.json | "$XIR" show --compact /dev/stdin >out 2>err || bad "/dev/stdin"; same out small.json
head -c 100 small.json | "$XIR" show - >out 2>err; [ $? -eq 1 ] || bad "half of a pipe"; err "<stdin>:1:"
"$XIR" show - <&- >out 2>err; [ $? -eq 3 ] || bad "closed standard input"; err "<stdin>: cannot be read"

# A stream without a size may never end, and is read up to a limit.
run 1 info --from json --max-bytes 100000 /dev/zero; err "/dev/zero: it has more than 100000 bytes, which is the limit; --max-bytes raises it"; lines err 1
run 1 info --from json --max-bytes=100000 - </dev/zero; err "<stdin>: it has more than 100000 bytes"
run 1 info --from json /dev/zero
err "/dev/zero@0x0: a file of format json does not begin with the bytes 00 00 00 00 00 00 00 00: the rest is not read"
lines err 1
zeros="a parameter file of format json does not begin with the bytes 00 00 00 00 00 00 00 00: the rest is not read"
for command in info check convert; do
    rest=; [ $command != convert ] || rest=zero.imodel
    "$XIR" $command --params - small.json $rest </dev/zero >out 2>err; [ $? -eq 1 ] || bad "$command, endless"
    err "<stdin>@0x0: $zeros"; lines err 1; gone zero.imodel
done
yes | "$XIR" check --from onnx - >out 2>err; [ $? -eq 1 ] || bad "an endless pipe"
err "<stdin>@0x0: a file of format onnx does not begin with the bytes 79 0A"; lines err 1
run 1 opt /dev/zero out.json; err "/dev/zero: neither the content nor the name identifies the format"; gone out.json
run 0 show --max-bytes "$(wc -c <small.json)" --compact - <small.json; same out small.json
run 1 show --max-bytes 100 small.json; err "small.json: the file has $(wc -c <small.json) bytes, the limit is 100"
run 1 convert --max-bytes 10000 --from json --params /dev/zero small.json out.imodel; err "/dev/zero"; gone out.imodel
for n in 0 -1 many 1k ''; do
    run 2 info --max-bytes "$n" small.json; err "--max-bytes takes a number from 1 on, not '$n'"
done

# Output that cannot be written.
if [ -c /dev/full ]; then
    for sub in "info small.json" "info --json small.json" "show small.json" "ops" "ops --json" "check small.json" "help" "--version" "convert small.json -"; do
        "$XIR" $sub >/dev/full 2>err; [ $? -eq 3 ] || bad "xir $sub into a full device"
        err "No space left on device"
    done
    run 3 convert small.json /dev/full; err "/dev/full"
fi
"$XIR" show small.json >&- 2>err; [ $? -eq 3 ] || bad "closed standard output"
"$XIR" info small.json >&- 2>err; [ $? -eq 3 ] || bad "closed standard output of info"
"$XIR" ops >&- 2>&-; [ $? -eq 3 ] || bad "everything closed"
awk 'BEGIN { for (i = 0; i < 30000; i++) printf "longname"; }' >long
sed "s/\"name\":\"small\"/\"name\":\"$(cut -c1-60000 long)$(cut -c60001-120000 long)\"/" small.json >long.json
{ "$XIR" show long.json 2>err; echo $? >code; } | :
[ "$(cat code)" -eq 3 ] || bad "a reader that has gone: exit $(cat code)"
run 3 convert small.json no/such/folder.json; err "no/such/folder"
run 3 convert small.json .; err "."
finish
