# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# Every system call of every command fails once: an error that is printed is never followed by exit code 0, and an exit
# code other than 0 never comes without a word. tests/cli/calls.c, which is preloaded, does it all.
. "$SRC/tests/cli/lib.sh"
calls=$BUILD/tests/cli/calls.so
[ -f "$calls" ] || skip "system calls cannot be made to fail: a sanitizer, or a C library that is not glibc"
[ "$(uname -m)" = x86_64 ] || skip "system calls are intercepted on x86-64 alone"
cp "$data/small.json" "$data/small.raw" "$data/small.onnx" "$data/external.onnx" .
digits=$SRC/examples/models/digits
printf 12345678 >weights.bin
run 0 convert small.json small.fb; run 0 convert small.json small.imodel; run 0 run small.fb --output expected
run 0 opt "$digits.onnx" digits.pnnx.param
printf 'load(var<string>:/w)->()\n' >small.ir; mkdir small.data; printf ab >small.data/w.data
printf 'dtype: int8\ndim: 1\nshape: [2]\nstride: [1]\nsize: 2\n' >small.data/w.shape
edit small.json bad.json 's/"stride_width":[0-9]*/"stride_width":0/'; cp small.raw bad.raw
edit small.json alias.json 's/icraft::xir::ReLU/icraft::xir::Relu/'; cp small.raw alias.raw

# fail LEAST WORDS…: runs xir once for each of its system calls, of which there are LEAST or more.
fail() {
    least=$1
    shift
    ran="xir $*"
    rm -rf tried; mkdir tried
    XIR_CALLS=$PWD/tried LD_PRELOAD=$calls "$XIR" "$@" </dev/null
    [ -s tried/count ] && [ "$(cat tried/count)" -ge "$least" ] || bad "$ran: $(cat tried/count) calls are tried"
    [ ! -s tried/faults ] || { cp tried/faults err; : >out; bad "$ran"; }
}

fail 10 info small.json
fail 10 info external.onnx
fail 10 info digits.pnnx.param
fail 10 info small.ir
fail 8 show small.imodel
fail 10 check small.json
fail 10 check bad.json
fail 10 check --repair small.json
fail 10 diff small.json small.fb --params
fail 10 stats small.json
fail 5 trace small.onnx "#1"
fail 10 run small.fb --compare expected
fail 20 run small.fb --output computed
fail 20 compare small.json small.fb
fail 20 compare small.json expected --seed 0
fail 10 view small.json new.svg
fail 30 convert small.json new.json
fail 30 convert alias.json new.json
fail 30 convert digits.pnnx.param new.json
fail 30 convert digits.pnnx.param new.pnnx.param
fail 30 convert small.ir new.ir
fail 20 convert --lazy small.json new.fb
fail 20 convert small.fb new.imodel
fail 30 opt small.json new.json --passes "fix(fold,dce)"
fail 30 opt "$digits.onnx" new.onnx --external
fail 20 extract small.json new.fb --begin relu1 --end conv2

# A pair of files is saved over another one, and the program is killed at each call in turn: the pair is the old one or
# the new one, or every command says that its save is unfinished, and what finishes it.
mkdir -p old new
pair() {
    structure=$1 params=$2 unfinished=0 n=0
    run 0 convert "old/$structure" "$structure"; mv "$structure" "$params" old
    run 0 convert "new/$structure" "$structure"; mv "$structure" "$params" new
    while n=$((n + 1)) && cp "old/$structure" "old/$params" . &&
        ! XIR_CALLS_KILL=$n LD_PRELOAD=$calls "$XIR" convert "new/$structure" "$structure" >out 2>err; do
        "$XIR" info "$structure" >out 2>err
        code=$?
        if [ $code -ne 0 ]; then
            ran="xir convert … $structure, killed at call $n"; [ $code -eq 1 ] || bad "$ran: info: exit code $code"
            lines err 1; err "was interrupted: xir check --repair $structure finishes it"
            run 1 check "$structure"; err "xir check --repair $structure finishes it"; not_out "no fault found"
            run 0 check --repair "$structure"; out "no fault found"
            err "note: a save of this file and its parameters was interrupted, and is finished now"
            unfinished=$((unfinished + 1))
        fi
        if ! cmp -s "new/$structure" "$structure"; then
            [ $code -eq 0 ] || bad "$ran: it is not the new structure"
            same "old/$structure" "$structure"; same "old/$params" "$params"
        else
            same "new/$params" "$params"
        fi
        rm -f "$structure" "$params" "$structure.xir-save" .xir-*.tmp
        [ "$n" -lt 300 ] || bad "$ran: it never ends"
    done
    [ "$unfinished" -ge 3 ] || bad "$structure: $unfinished unfinished saves"
    ls -A | grep 'xir-save\|[.]tmp$' && bad "$structure: something is left"
}
run 0 convert small.json old/net.json; run 0 convert small.onnx new/net.json
pair net.json net.raw
run 0 convert digits.pnnx.param old/net.param
printf '7767517\n2 1\npnnx.Input a 0 1 x\npnnx.Output b 1 0 x\n' >new/net.param
pair net.param net.bin
finish
