# PyTorch computes the modules that XIR writes, and gives what XIR and the recorded runs give. PyTorch is a package that
# building and testing do not need: XIR_TORCH names an interpreter of Python that has it (Debian's python3-torch 1.13).
. "$SRC/tests/cli/lib.sh"

"${XIR_TORCH:-false}" -c 'import torch' 2>/dev/null || skip "XIR_TORCH names no interpreter of Python with PyTorch"

# A network of another format, with its recorded results: all digits, one by one.
models="$SRC/examples/models"
run 0 opt "$models/digits.onnx" digits.py; quiet
"$XIR_TORCH" -B - "$models/digits_inputs.npy" "$models/digits_logits.npy" >out 2>err <<'END' || bad "digits.py"
import sys
import numpy, torch
import digits
model = digits.Model()
inputs, expected = map(numpy.load, sys.argv[1:])
with torch.no_grad():
    found = numpy.concatenate([model(torch.from_numpy(one[None])).numpy() for one in inputs])
assert found.shape == expected.shape and numpy.allclose(found, expected, rtol=1e-5, atol=1e-5)
print(digits.test_inference().shape)
END
out "torch.Size([1, 10])"

if [ -d "${XIR_CORPUS-}/pnnx/values" ]; then
    "$XIR_TORCH" -B "$SRC/tests/cli/pytorch.py" "$XIR" "$XIR_CORPUS/pnnx/values" \
        "$SRC/tests/passes/convert/pnnx_values.txt" >out 2>err || bad "pytorch.py"
    cat out
else
    without "XIR_CORPUS with networks of PNNX"
fi
finish
