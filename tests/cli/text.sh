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
finish
