# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# xir reduce: what is left of a network while a command finds it interesting.
. "$SRC/tests/cli/lib.sh"
cp "$data/small.json" "$data/small.raw" "$data/chain.onnx" "$SRC/examples/models/digits.onnx" .
TMPDIR=$PWD/tmp; export TMPDIR; mkdir tmp
clean() { [ -z "$(ls tmp)" ] || bad "$ran: files are left in the folder of candidates"; }

# A check: the candidate is a network in the format of NET, with its parameters next to it; {} is quoted.
cat >has_relu <<END
"$XIR" info "\$1" | grep -q ReLU
END
run 0 reduce small.json one.json --check 'sh has_relu {}'; quiet; out "3 of"; out "ReLU"; clean
run 0 check one.json; run 0 info one.json; out ReLU; cp out first
run 0 reduce small.json again.json --check 'sh has_relu {}' --jobs 3; same one.json again.json
mkdir "a b"; cp small.json "a b/it's.json"; cp small.raw "a b/it's.raw"
run 0 reduce "a b/it's.json" quoted.fb --check 'sh has_relu {}' --max-runs 3; quiet; run 0 check quoted.fb

# The format of the file is kept: an ONNX model stays one.
run 0 reduce digits.onnx gemm.onnx --check "'$XIR' show {} --compact | grep -q onnx::Gemm" --max-runs 20; quiet
run 0 info gemm.onnx; out "onnx::Gemm"; run 0 check gemm.onnx

# Nothing is known of an op of a dialect, so a list that it reads stays: ONNX refuses scales of 0.
run 0 reduce "$SRC/tests/convert/onnx/dynamic/yolo.onnx" resize.onnx \
    --check "'$XIR' show {} --compact | grep -q onnx::Resize" --max-runs 200
run 0 convert resize.onnx resize.xir; grep -q 'fp32 \* \[4\] = \[1,1,2,2\]' resize.xir || bad "the scales are gone"

# NET itself must be interesting, and what the command says is printed.
run 1 reduce small.json no.json --check 'echo so it is {} >&2; exit 7'; gone no.json; clean
err "small.json: the command does not call the network interesting: exit code 7"; err "so it is"
run 1 reduce small.json no.json --check 'exit 125; {}'; err "exit code 125"; gone no.json

# A command of xir that fails, by its first finding.
edit small.json faulty.json 's/"stride_width":1/"stride_width":0/'; cp small.raw faulty.raw
run 1 check faulty.json; cp err first
run 0 reduce faulty.json faulty_small.json --fails check; quiet; clean
run 1 check faulty_small.json; err "stride_width: 0 is below 1"
run 1 reduce small.json no.json --fails check; err "the command does not fail, so there is nothing to reduce: exit code 0"
run 1 reduce small.json no.json --fails 'frobnicate'; err "exit code 2"
run 1 reduce small.json no.json --fails 'opt --passes frobnicate'; err "exit code 2"
run 0 reduce small.json limit.json --fails 'run --max-work 1000'; quiet; run 1 run limit.json --max-work 1000
run 0 reduce small.json limit.json --fails 'run --max-work 1000' --any-failure --max-runs 2; quiet

# Two networks that differ.
run 0 convert small.json other.json; edit other.json wrong.json 's/"alpha":[0-9.]*/"alpha":0.5/'; cp other.raw wrong.raw
if ! "$XIR" compare small.json wrong.json >out 2>err; then
    run 0 reduce small.json differs.json --differs wrong.json; quiet; out "3 of"
    run 1 compare differs.json wrong.json; err "the first bad value"
fi

# Lines that make no sense.
run 2 reduce small.json; err "usage: xir reduce NET OUT"
run 2 reduce small.json x.json; err "reduce needs one of --check, --fails and --differs"
run 2 reduce small.json x.json --check true --fails check; err "one of --check"
run 2 reduce small.json x.json --check true; err "--check takes a command with {}"
run 2 reduce small.json x.json --fails check --jobs 0; err "--jobs takes a number from 1 to 64"
run 2 reduce small.json x.json --fails check --max-runs x; err "--max-runs takes a number"
run 2 reduce small.json x.json --fails check --timeout -1; err "--timeout takes a number of seconds"
run 2 reduce small.json x.nothing --fails check; err "x.nothing"
run 2 reduce - x.json --fails check --from json <small.json; err "standard input"
run 3 reduce nothing.json x.json --fails check; err "nothing.json"
finish
