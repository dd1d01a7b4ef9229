# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# PyTorch computes the modules that XIR writes, and gives what XIR and the recorded runs give. PyTorch is a package that
# building and testing do not need: XIR_TORCH names an interpreter of Python that has it (Debian's python3-torch 1.13).
. "$SRC/tests/cli/lib.sh"

"${XIR_TORCH:-false}" -c 'import torch' 2>/dev/null || skip "XIR_TORCH names no interpreter of Python with PyTorch"

# A network of another format, with its recorded results: all digits, one by one.
models="$SRC/examples/models"
run 0 opt "$models/digits.onnx" digits.py; err "not in the file: 9 of 23 names of values"
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

# PyTorch does not take positions of 8 bits, and its sums of integers have 64.
cat >small.pnnx.param <<'END'
7767517
9 6
pnnx.Input x 0 1 0 #0=(200,3)f32
pnnx.Input i 0 1 1 #1=(4)u8
pnnx.Input n 0 1 2 #2=(2,3)i32
torch.index_select rows 2 1 0 1 3 dim=0 #0=(200,3)f32 #1=(4)u8 #3=(4,3)f32
torch.gather cells 2 1 0 2 4 dim=1 #0=(200,3)f32 #2=(2,3)i32 #4=(2,3)f32
torch.cumsum sums 1 1 2 5 dim=1 dtype=torch.int #2=(2,3)i32 #5=(2,3)i32
pnnx.Output a 1 0 3 #3=(4,3)f32
pnnx.Output b 1 0 4 #4=(2,3)f32
pnnx.Output c 1 0 5 #5=(2,3)i32
END
run 0 opt small.pnnx.param small.py; quiet
"$XIR_TORCH" -B - >out 2>err <<'END' || bad "small.py"
import torch
import small
x = torch.arange(600.).reshape(200, 3)
i = torch.tensor([0, 199, 7, 128], dtype=torch.uint8)
n = torch.tensor([[0, 1, -1], [2, 2, 1]], dtype=torch.int32)
rows, cells, sums = small.Model()(x, i, n)
assert torch.equal(rows, x[i.long()]) and torch.equal(cells, x[:2].gather(1, n.long() % 3))
print(sums.dtype, sums.tolist())
END
out "torch.int32 [[0, 1, 0], [2, 4, 5]]"

if [ -d "${XIR_CORPUS-}/pnnx/values" ]; then
    "$XIR_TORCH" -B "$SRC/tests/cli/pytorch.py" "$XIR" "$XIR_CORPUS/pnnx/values" \
        "$SRC/tests/convert/pnnx_values.txt" >out 2>err || bad "pytorch.py"
    cat out
else
    without "XIR_CORPUS with networks of PNNX"
fi
finish
