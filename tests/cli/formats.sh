# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# Every format with every command: JSON with a raw file next to it, MessagePack and FlatBuffers with parameters inside.
. "$SRC/tests/cli/lib.sh"
cp "$data/small.json" "$data/small.raw" .
run 0 show small.json; cp out small.shown
run 0 convert small.json small.imodel; quiet; silent
run 0 convert small.json small.fb; quiet; silent
gone small.params

# From each format to each other, by files and by pipes: JSON and raw are unchanged.
for file in small.json small.imodel small.fb; do
    for kind in json imodel fb; do
        for lazy in "" --lazy; do
            run 0 convert $file a.$kind $lazy; quiet
            run 0 convert a.$kind b.json $lazy; quiet; same b.json small.json; same b.raw small.raw
            rm a.$kind b.json b.raw; rm -f a.raw
        done
    done
    run 0 show $file; same out small.shown; quiet
    run 0 show --compact $file; same out small.json
    run 0 diff $file small.json --params; quiet; silent
    run 0 diff small.fb $file --params --lazy; quiet; silent
    run 0 check $file; quiet; out "$file: no fault found"
    run 0 check $file --lazy; quiet
    run 0 info $file; quiet; out "format      ${file#small.}"; out "ops         7"; out "params      3, 564 bytes in"
    run 0 info --json $file; json 'd["ops"] == 7 and d["params_bytes"] == 564'
done
for kind in imodel fb; do
    "$XIR" convert small.json - --to $kind >piped 2>err || bad "to standard output"
    same piped small.$kind; [ ! -s err ] || bad "to standard output"
    "$XIR" convert - c.json <piped >out 2>err || bad "from standard input"
    same c.json small.json; same c.raw small.raw
    cat piped | "$XIR" convert --lazy - - --to json --out-params d.raw >out 2>err || bad "through pipes"
    same out small.json; same d.raw small.raw
    "$XIR" info - <small.$kind >out 2>err || bad "info of standard input"; out "ops         7"; out "564 bytes inside"
    "$XIR" check - <small.$kind >out 2>err || bad "check of standard input"; out "no fault found"; quiet
    run 0 info small.$kind; out "inside"
    run 0 info --json small.$kind; json 'd["params_file"].startswith("small.") and d["format"] in d["params_file"]'

    # Onto itself, also while it is mapped.
    cp small.$kind self.$kind
    run 0 convert self.$kind self.$kind; same self.$kind small.$kind
    run 0 convert self.$kind self.$kind --lazy; same self.$kind small.$kind

    # The structure alone.
    run 0 convert small.json bare.$kind --no-params; quiet
    [ "$(wc -c <bare.$kind)" -lt "$(wc -c <small.$kind)" ] || bad "parameters are in it"
    run 0 convert bare.$kind e.json; err "bare.$kind: warning: there are no parameters in it"; same e.json small.json
    gone e.raw
    run 0 convert bare.$kind e.json --no-params; quiet
    run 0 convert small.$kind e.json --no-params; quiet; same e.json small.json; gone e.raw
    run 0 check bare.$kind; err "note: there are no parameters in it"
    run 0 check bare.$kind --no-params; quiet
    run 0 info bare.$kind; err "warning"; out "3, 564 bytes"; not_out "inside"
    run 0 info bare.$kind --no-params; quiet
    cp small.json alone.json
    run 0 convert alone.json f.$kind; err "alone.json: warning: there is no parameter file next to it"
    same f.$kind bare.$kind
    run 3 convert alone.json g.$kind --params missing.raw; gone g.$kind
    run 0 convert alone.json g.$kind --params small.raw; quiet; same g.$kind small.$kind; rm g.$kind

    # The parameters are inside: no file can be named for them.
    run 2 convert small.$kind g.json --params small.raw; err "inside"; gone g.json
    run 2 convert small.json g.$kind --out-params g.raw; err "inside"; gone g.$kind; gone g.raw
    run 2 info small.$kind --params small.raw; run 2 show small.$kind --params small.raw
    run 2 check small.$kind --params small.raw
    run 2 convert small.json g.$kind --indent; err "is not a text"; gone g.$kind

    # A finding has a pointer and no line.
    edit small.json odd.json 's/"stride_width":1/"stride_width":0/'
    run 0 convert odd.json odd.$kind --no-params; quiet
    run 1 check odd.$kind --no-params; err "odd.$kind: /ops/1/stride_width: 0 is below 1"
    not_err "odd.$kind:1:"

    # Bytes that differ from the MD5: a command that reads them, or copies them from a mapping, reports it.
    cp small.raw flip.raw; poke flip.raw 100 '\377'
    old=$(md5sum <small.raw | cut -c 1-32) new=$(md5sum <flip.raw | cut -c 1-32)
    edit small.json flip.json "s/$old/$new/"
    run 0 convert flip.json flip.$kind; quiet
    sed "s/$new/$old/" flip.$kind >flip; mv flip flip.$kind
    run 1 check flip.$kind; err "MD5"; out "1 error"
    run 1 check flip.$kind --lazy; err "MD5"
    for word in --eager --lazy ""; do
        run 1 convert flip.$kind g.json $word; err "MD5"; gone g.json; gone g.raw
    done
    run 0 info flip.$kind; quiet
    run 1 diff small.json flip.$kind --params; quiet; out "values differ"
    run 0 show flip.$kind; same out small.shown

    # Truncated anywhere it is not a network, and nothing is written.
    size=$(wc -c <small.$kind)
    for n in 1 2 8 20 100 1000 2000 $((size / 2)) $((size - 1)); do
        head -c $n small.$kind >cut.$kind
        run 1 convert cut.$kind h.json; gone h.json; gone h.raw
        err "cut.$kind"
        run 1 convert cut.$kind h.json --lazy; gone h.json
    done
    : >none.$kind; run 1 show none.$kind; err "none.$kind"; silent
    echo "hello, hello, hello" >none.$kind; run 1 show none.$kind; err "none.$kind"; silent

    # Content counts before the name.
    cp small.$kind wrong.json; run 0 show wrong.json; same out small.shown
    cp small.$kind noname; run 0 show noname; same out small.shown
    run 0 show --from $kind noname; same out small.shown
    run 1 show --from json noname; silent
done
run 1 show --from fb small.imodel; run 1 show --from imodel small.fb
run 0 convert small.json x.msg; same x.msg small.imodel

# The offset of parameters in a FlatBuffers file.
for n in 1 16 64 4096 65536; do
    run 0 convert small.json aligned.fb --align $n; quiet
    run 0 convert aligned.fb i.json; same i.json small.json; same i.raw small.raw
done
run 0 convert small.json aligned.fb --align 64; same aligned.fb small.fb    # all are small
run 0 convert small.json aligned.fb --align 4096
[ "$(wc -c <aligned.fb)" -gt 4096 ] || bad "no parameter is at 4096"
run 0 convert small.json aligned.fb --align 65536
[ "$(wc -c <aligned.fb)" -gt 65536 ] || bad "no parameter is at 65536"
for n in 0 3 -1 x 4096x 2147483648 ""; do
    run 2 convert small.json j.fb --align "$n"; err "power of two"; gone j.fb
done
run 2 convert small.json j.json --align 64; err "--align is for fb"; gone j.json
run 2 convert small.json j.imodel --align 64; gone j.imodel

# A mapped file that becomes shorter: the writer of the pipe waits until the first file is mapped.
mkfifo pipe.fb
cp small.json short.json
for gone in short.raw short.fb; do
    cp small.raw short.raw; cp small.fb short.fb
    file=short.json; [ $gone = short.raw ] || file=short.fb
    "$XIR" diff --params --lazy $file pipe.fb >out 2>err &
    { : >$gone; cat small.fb; } >pipe.fb
    wait $!; [ $? -eq 3 ] || bad "a file that was made shorter"
    err "/$gone: a file was made shorter while it was mapped"
done

# The same without a signal: 1 MiB is copied from the mapping to a pipe, whose reader shortens the file before it
# continues.
{ printf '\245ICRAFT_RAW\245\003\0\0\0\001\0\0\0\064\0\0\0\0\0\0\0\002\0\0\0\064\0\020\0\0\0\0\0\005\0\0\0\104\0\020\0\0\0\0\0'
  head -c $((1048576 + 16 + 64)) /dev/zero; } >large.raw
edit small.json large.json "s/\[3,3,3,4\]/[256,256,4,1]/; s/$(md5sum <small.raw | cut -c 1-32)/$(md5sum <large.raw | cut -c 1-32)/"
run 0 convert --lazy large.json large.fb
mkfifo pipe.out
for file in "large.fb large.fb" "large.json large.raw"; do
    cp large.raw kept
    "$XIR" convert --lazy ${file% *} - --to imodel >pipe.out 2>err &
    { head -c 4096 >/dev/null; : >${file#* }; cat >/dev/null; } <pipe.out
    wait $!; [ $? -eq 3 ] || bad "a file that was made shorter while it was written"
    err "/${file#* }: a file was made shorter while it was mapped"; not_err "standard output"
    cp kept large.raw
done

# Output that cannot be written.
if [ -c /dev/full ]; then
    for kind in imodel fb; do
        "$XIR" convert small.json - --to $kind >/dev/full 2>err; [ $? -eq 3 ] || bad "$kind into a full device"
        run 3 convert small.json /dev/full --to $kind; err "/dev/full"
    done
fi
# A file that is something else, whatever its name: the first error says so.
printf 'hello world, this is a text and not at all a network\n' >text
for row in onnx,an,ONNX fb,a,FlatBuffers imodel,a,MessagePack nnb,a,NNabla tsm,a,TensorStack; do
    suffix=${row%%,*} row=${row#*,}
    cp text "other.$suffix"
    run 1 info "other.$suffix"; err "other.$suffix@0x"; err ": this is not ${row%,*} ${row#*,} file: "; lines err 1
done
finish
