# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# Texts: every command reads and writes them; JSON and raw come back byte for byte.
. "$SRC/tests/cli/lib.sh"
small=$data/small.json

run 0 convert "$small" small.xir; quiet; gone small.raw            # few parameters are in the text
run 0 convert small.xir back.json; quiet; same back.json "$small"; same back.raw "$data/small.raw"
run 0 convert small.xir again.xir; same again.xir small.xir
run 0 convert --inline none "$small" raw.xir; same raw.raw "$data/small.raw"
run 0 convert raw.xir back.json; quiet; same back.json "$small"; same back.raw "$data/small.raw"
run 0 convert "$small" other.xir --out-params other.raw; same other.raw "$data/small.raw"
run 0 convert --inline all raw.xir all.xir; same all.xir small.xir
for kind in imodel fb; do
    run 0 convert small.xir "between.$kind"
    run 0 convert "between.$kind" back.xir; same back.xir small.xir
done
run 0 diff --params "$small" small.xir; silent
run 0 check small.xir; out "no fault found"
run 0 info small.xir; out "text"
run 0 show small.xir --compact; same out "$small"
run 0 opt small.xir --passes dce out.xir; same out.xir small.xir

run 0 show --text "$small"; same out small.xir
run 0 show --text --op relu1 "$small"
out '%4 = ReLU(%3 : fp32 NHWC [1,8,8,4]) "relu1" #2 : fp32 NHWC [1,8,8,4]'
run 2 show --text --compact "$small"; err "contradict"
run 0 convert --no-ids small.xir no.xir; grep -q '#' no.xir && bad "--no-ids writes an id"
run 0 diff --params --ignore ids no.xir small.xir; silent

# A text leaves out the name of an op that its result has, and payloads in the raw file. Older texts have both.
printf '%s\n' 'xir 1' '.params 8 "33cdeccccebe80329f1fdbee7f5874cb"' '%a_output_0 = Input() "a" : fp32 * [2]' \
    '%b = Add(%a_output_0, @w : fp32 * [2] = raw) "b" : fp32 * [2]' '%b_output_0.c = ReLU(%b) "b.c" : fp32 * [2]' \
    '%b_output_1 = ReLU(%b_output_0.c) "b" : fp32 * [2]' 'Output(%b_output_1)' >old.xir
run 0 convert old.xir new.xir
printf '%s\n' 'xir 1' '.params 8 "33cdeccccebe80329f1fdbee7f5874cb"' '%a_output_0 = Input() ~ : fp32 * [2]' \
    '%b = Add(%a_output_0, @w : fp32 * [2]) ~ : fp32 * [2]' '%b_output_0.c = ReLU(%b) ~ : fp32 * [2]' \
    '%b_output_1 = ReLU(%b_output_0.c) "b" : fp32 * [2]' 'Output(%b_output_1)' >expected.xir
same new.xir expected.xir
run 0 convert old.xir old.json; run 0 convert new.xir new.json; same old.json new.json

# A scalar with more keys, or without its number, is not the bare number.
printf '%s' '{"_type_key":"icraft::xir::Network","ops":[{"_type_key":"icraft::xir::Pad","name":"p","op_id":0,' \
    '"value":{"_type_key":"icraft::xir::IntImm","dtype":"@sint(8)"}},{"_type_key":"icraft::xir::Pad","name":"q","op_id":1,' \
    '"value":{"_type_key":"icraft::xir::FloatImm","more":[1,2],"value":0.5}}]}' >scalars.json
run 0 convert --no-params scalars.json again.json; run 0 convert --no-params again.json scalars.xir
grep -q '"dtype":"@sint(8)"}.*"more":\[1,2\]' again.json || bad "JSON loses keys of a scalar"
run 0 convert --no-params scalars.xir back.json; same back.json again.json

# Bytes an op, without weights: of a trained network, and of a decoder with caches and named dims.
few() { [ "$(wc -c <"$1")" -le "$(($2 * $3))" ] || bad "$1 has $(wc -c <"$1") bytes: at most $2 an op, $3 ops"; }
run 0 opt "$SRC/examples/models/digits.onnx" digits.json
run 0 convert --inline none digits.json digits.xir; few digits.xir 140 15
(
    cat <<'END'
xir 1
.name "decoder" .framework ONNX "opset17" .symbols {batch, seq, past}
%x = Input() : fp32 *** [batch,seq,512]
%past.k, %past.v = Input() : fp32 **** [batch,8,past,64], fp32 **** [batch,8,past,64]
END
    last=x
    for i in $(seq 80); do
        sed "s/LAST/$last/;s/N\./layers.$i./g" <<'END'
%N.norm1 = xir::RMSNorm(%LAST) {axis=[2], gamma=@N.n1 : fp32 * [512]} "N.norm1" : fp32 *** [batch,seq,512]
%N.q = Matmul(%N.norm1, @N.q.w : fp32 ** [512,512]) "N.q" : fp32 *** [batch,seq,512]
%N.q.heads = Reshape(%N.q) {shape=[0,0,8,64], layout=****} "N.q.heads" : fp32 **** [batch,seq,8,64]
%N.q.t = Transpose(%N.q.heads) {dims=[0,2,1,3], layout=****} "N.q.t" : fp32 **** [batch,8,seq,64]
%N.k = Matmul(%N.norm1, @N.k.w : fp32 ** [512,512]) "N.k" : fp32 *** [batch,seq,512]
%N.k.heads = Reshape(%N.k) {shape=[0,0,8,64], layout=****} "N.k.heads" : fp32 **** [batch,seq,8,64]
%N.k.t = Transpose(%N.k.heads) {dims=[0,2,1,3], layout=****} "N.k.t" : fp32 **** [batch,8,seq,64]
%N.keys = Concat(%past.k, %N.k.t) {axis=2} "N.keys" : fp32 **** [batch,8,past + seq,64]
%N.kt = Transpose(%N.keys) {dims=[0,1,3,2], layout=****} "N.kt" : fp32 **** [batch,8,64,past + seq]
%N.scores = Matmul(%N.q.t, %N.kt) "N.scores" : fp32 **** [batch,8,seq,past + seq]
%N.scaled = DivideScalar(%N.scores) {divisor=8.0} "N.scaled" : fp32 **** [batch,8,seq,past + seq]
%N.probs = Softmax(%N.scaled) {axis=3} "N.probs" : fp32 **** [batch,8,seq,past + seq]
%N.values = Concat(%past.v, %N.k.t) {axis=2} "N.values" : fp32 **** [batch,8,past + seq,64]
%N.mixed = Matmul(%N.probs, %N.values) "N.mixed" : fp32 **** [batch,8,seq,64]
%N.mixed.t = Transpose(%N.mixed) {dims=[0,2,1,3], layout=****} "N.mixed.t" : fp32 **** [batch,seq,8,64]
%N.joined = Reshape(%N.mixed.t) {shape=[0,0,512], layout=***} "N.joined" : fp32 *** [batch,seq,512]
%N.out = Matmul(%N.joined, @N.o.w : fp32 ** [512,512]) "N.out" : fp32 *** [batch,seq,512]
END
        last="layers.$i.out"
    done
    echo "Output(%$last)"
) >long.xir
run 0 convert --inline none long.xir decoder.xir; few decoder.xir 110 1363

run 2 convert --inline some "$small" x.xir; err "expected all or none"
run 2 convert --inline all "$small" x.fb; err "--inline and --no-ids are for text"
run 2 convert --no-ids "$small" x.json; err "--inline and --no-ids are for text"
gone x.xir

# All faults in one run, each with its line and a caret.
printf 'xir 1\n%%x = Inptu() : fp32 * [2]\n%%y = ReLU(%%x) {alhpa=[1]} : fp32 * [2]\nOutput(%%z)\n' >bad.xir
run 1 convert bad.xir x.json; gone x.json
err "bad.xir:2:6: there is no class icraft::xir::Inptu: perhaps Input is meant"
err "    %x = Inptu() : fp32 * [2]"
err "         ^"
err "bad.xir:3:16: icraft::xir::ReLU has no attribute 'alhpa': perhaps 'alpha' is meant"
err "bad.xir:4:8: no op makes %z"
printf 'xir 1\n%%x = Input() : fp32 NHWC [1,2,2,1]\n%%y = Softmax(%%x) {axis=9} : fp32 NHWC [1,2,2,1]\nOutput(%%y)\n' >fault.xir
run 1 check fault.xir; err "fault.xir:3:19:"

# The mark of an editor is skipped, and not written. Texts are UTF-8.
for name in bad fault; do { printf '\357\273\277'; cat $name.xir; } >marked_$name.xir; done
run 1 convert marked_bad.xir x.json; err "marked_bad.xir:2:6: there is no class"; err "marked_bad.xir:4:8: no op makes %z"
run 1 check marked_fault.xir; err "marked_fault.xir:3:19:"
run 0 convert fault.xir plain.xir; run 0 convert - same.xir <marked_fault.xir; quiet; same same.xir plain.xir
printf '\377\376x\0i\0r\0 \0001\0\n\0' >wide.xir
printf 'xir 2\n' >later.xir
for command in check show info "opt --no-params"; do
    run 1 $command later.xir; err "later.xir:1:5: version 2 of the text is not known, only 1"
done
run 1 convert later.xir x.json; gone x.json
run 1 check wide.xir; err "wide.xir:1:1: expected 'xir 1' in UTF-8, found a byte order mark of UTF-16"; lines err 3
finish
