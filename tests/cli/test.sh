# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# xir test: cases in files, each a network, what is done with it, and what is expected.
. "$SRC/tests/cli/lib.sh"

cat >good.xir <<'END'
// A comment of the file.
// opt: dce
%x = Input() : fp32 * [2]
%y = ReLU(%x) : fp32 * [2]
%z = Sigmoid(%x) : fp32 * [2]
Output(%y)
// ----
%a = Input() : fp32 * [2]
%b = ReLU(%a) : fp32 * [2]
Output(%b)

// check
%x = Input() : fp32 * [2]
%y = ReLU(%w) : fp32 * [2]
// error: no op makes %w
//        ^
Output(%y)

// check
%x = Input() : fp32 * [2]
// no findings
Output(%x)

// convert: fb
%x = Input() : fp32 * [2]
%y = Add(%x, @w : fp32 * [2] = [1,2]) : fp32 * [2]
Output(%y)

// infer
%x = Input() : fp32 * [2]
%y = ReLU(%x) : none
Output(%y)
// ----
%x = Input() : fp32 * [2]
%y = ReLU(%x) : fp32 * [2]
Output(%y)

// opt: nothing
%x = Input() : fp32 * [2]
Output(%x)
// error: nothing
END
run 0 test good.xir; out "6 cases, 0 failed"; quiet
mkdir -p folder/deep; cp good.xir folder/deep/a.xir; cp good.xir folder/b.xir
run 0 test folder; out "12 cases, 0 failed"
mkdir empty; run 1 test empty; err "no .xir files"
run 3 test nowhere.xir; err "nowhere.xir"

# Without what is expected, a case fails; so does a file without a case.
printf '// opt: dce\n%%x = Input() : fp32 * [2]\nOutput(%%x)\n' >none.xir
run 1 test none.xir; out "none.xir:1: it expects nothing"
printf '%%x = Input() : fp32 * [2]\nOutput(%%x)\n' >no_case.xir
run 1 test no_case.xir; out "no case"
: >nothing.xir; run 1 test nothing.xir; out "no case"

# Differences are printed as xir diff prints them.
sed 's/^%b = ReLU/%b = Tanh/' good.xir >wrong.xir
run 1 test wrong.xir; out "wrong.xir:7: the network differs"; out "icraft::xir::ReLU"; out "6 cases, 1 failed"
sed 's/error: no op/error: some op/' good.xir >words.xir
run 1 test words.xir; out "words.xir:14: at column 11: no op makes %w; expected in line 14: some op makes %w"
sed 's,^//        ^,//       ^,' good.xir >place.xir; run 1 test place.xir; out "at column 11"
sed 's/%w)/%x)/' good.xir >found.xir; run 1 test found.xir; out "not found: no op makes %w"

# --update writes what is, and only there.
cp wrong.xir update.xir; run 0 test --update update.xir; out "1 updated"
run 0 test update.xir
sed 's/^%a =/%x =/; s/^%b =/%y =/; s/(%a)/(%x)/; s/(%b)/(%y)/' good.xir >expected.xir; same update.xir expected.xir
for file in words place none; do
    run 0 test --update $file.xir; run 0 test $file.xir
done
same words.xir good.xir; same place.xir good.xir
run 0 test --update good.xir; not_out "updated"

# A report for other programs.
run 1 test --junit report.xml wrong.xir
python3 -c 'import sys, xml.etree.ElementTree as e
s = e.parse("report.xml").getroot()[0]
assert (s.get("tests"), s.get("failures")) == ("6", "0"), s.attrib' 2>/dev/null && bad "no failure in the report"
grep -q '<testsuite name="wrong.xir" tests="6" failures="1">' report.xml || bad "report.xml"

# exact: names, ids and the order count, too.
printf '// opt: dce\n// exact\n%%x#4 = Input() : fp32 * [2]\nOutput(%%x)\n' >exact.xir
printf '// ----\n%%x#5 = Input() : fp32 * [2]\nOutput(%%x)\n' >>exact.xir
run 1 test exact.xir; run 0 test --update exact.xir; run 0 test exact.xir
grep -q "%x#4 = Input" exact.xir || bad exact.xir
# bind, target
printf '// opt: infer\n// bind: n=3\n%%x = Input() : fp32 * [n]\nOutput(%%x)\n' >bind.xir
printf '// ----\n%%x = Input() : fp32 * [3]\nOutput(%%x)\n' >>bind.xir
run 0 test bind.xir

# The cases of this project.
run 0 test "$SRC/tests/passes"; quiet
custompass=$BUILD/plugins/custompass.so
[ ! -e "$custompass" ] || { run 0 test --plugin "$custompass" "$SRC/plugins/custompass"; out "3 cases, 0 failed"; }
finish
