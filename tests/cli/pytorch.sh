# PyTorch computes the modules that XIR writes, and gives what XIR and the recorded runs give. PyTorch is a package that
# building and testing do not need: XIR_TORCH names an interpreter of Python that has it (Debian's python3-torch 1.13).
. "$SRC/tests/cli/lib.sh"

"${XIR_TORCH:-false}" -c 'import torch' 2>/dev/null || skip "XIR_TORCH names no interpreter of Python with PyTorch"
[ -d "${XIR_CORPUS-}/pnnx/values" ] || skip "XIR_CORPUS has no networks of PNNX with recorded runs"
"$XIR_TORCH" -B "$SRC/tests/cli/pytorch.py" "$XIR" "$XIR_CORPUS/pnnx/values" "$SRC/tests/passes/convert/pnnx_values.txt" >out 2>err ||
    bad "pytorch.py"
cat out
finish
