# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# Inputs that the command line makes constants: every command sees the network without them.
. "$SRC/tests/cli/lib.sh"
digits=$SRC/examples/models/digits

run 0 opt "$digits.onnx" zero.fb --const image=0 --prove; quiet; out "proven: "
run 0 info zero.fb; not_out "'image'"; run 0 run zero.fb --output by_number; quiet
run 0 run "$digits.onnx" --const image=0 --output in_run; quiet; same by_number/logits.npy in_run/logits.npy
run 0 opt "$digits.onnx" digits.fb; quiet
# A picture that needs the parameters reads the network again.
run 0 view "$digits.onnx" - --dot --const image=0; quiet; out 'Gemm'; not_out 'out: image'
for command in stats check; do run 0 $command digits.fb --const image=0.5; quiet; done

# An array gives what the same input gives.
run 0 run digits.fb --const image=0.25 --output quarter; quiet
run 1 opt digits.fb no.fb --const "image=$digits"_inputs.npy; err "the input 'image': expected"; gone no.fb
run 0 run zero.fb --output again; same by_number/logits.npy again/logits.npy
if cmp -s by_number/logits.npy quarter/logits.npy; then bad "two constants give the same"; fi

# A wrong name or number is a wrong command line.
run 2 opt digits.fb no.fb --const imag=0; err "the network has no input 'imag'; did you mean 'image'?"; gone no.fb
run 2 opt digits.fb no.fb --const image; err "NAME=NUMBER"; gone no.fb
run 2 opt digits.fb no.fb --const image; err "--const takes NAME=NUMBER or NAME=FILE.npy, not 'image'"
run 2 check digits.fb --const =1; err "--const takes NAME=NUMBER or NAME=FILE.npy, not '=1'"
run 3 opt digits.fb no.fb --const image=nowhere.npy; err "nowhere.npy"; gone no.fb
run 2 opt digits.fb no.fb --const image=0 --const image=1; err "the network has no such input any more"; gone no.fb
finish
