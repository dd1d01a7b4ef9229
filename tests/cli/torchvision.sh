# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# Networks that torchvision builds and PyTorch writes as ONNX: what the default pipeline leaves of them, what they
# compute, and the memory that they need. Building and testing do not need the package torchvision: XIR_TORCH names an
# interpreter of Python that has it (Debian's python3-torchvision 0.14).
. "$SRC/tests/cli/lib.sh"

"${XIR_TORCH:-false}" -c 'import torchvision' 2>/dev/null ||
    skip "XIR_TORCH names no interpreter of Python with torchvision"

# one NAME OPS BYTES: at most so many ops are left, they compute what PyTorch does, and a plan needs just these bytes,
# which is the bound. In the memory of the plan the network computes the same bits.
one() {
    "$XIR_TORCH" -B "$SRC/tests/cli/torchvision_export.py" "$1" >out 2>err || bad "torchvision_export.py $1"
    run 0 opt "$1.onnx" "$1.fb"
    run 0 info "$1.fb" --json; json "d['ops'] <= $2"
    run 0 run "$1.fb" --input "$1/x.npy" --compare "$1"; quiet
    run 0 plan "$1.fb" p.fb --how align=1; quiet; out "$3 bytes from 0 to $3, at most $3 alive"
    run 0 run "$1.fb" --input "$1/x.npy" --output real
    run 0 run p.fb --arena --lazy --input "$1/x.npy" --compare real --tolerance 0; quiet
    rm -rf "$1.onnx" "$1" real p.fb
}
one googlenet          142 4014080
one inception_v3       218 8297856
one efficientnet_b0    193 6021120
one shufflenet_v2_x1_0 144 1806336
one mobilenet_v3_small 125 1404928
one resnet50           125 7225344

# With channels first, what a Concat joins is made in its place: no byte is copied.
for name in googlenet inception_v3; do
    run 0 opt $name.fb n.fb --passes 'layout{to=nchw}'
    run 0 plan n.fb p.json --how parts,align=1; quiet
    "$XIR_TORCH" -B - p.json >out 2>err <<'END' || bad "$name: an input of a Concat is outside of it"
import json, math, re, sys
ops = [op for op in json.load(open(sys.argv[1]))['ops'] if op['_type_key'].endswith('::Concat')]
def bytes_of(value):
    chunk, offset = map(int, re.fullmatch(r'@chunk\((\d+)@(\d+)\)', value['mtype']).groups())
    return chunk, offset, offset + 4 * math.prod(value['dtype']['shape'])
for op in ops:
    chunk, first, end = bytes_of(op['outputs'][0])
    for chunk_in, first_in, end_in in map(bytes_of, op['inputs']):
        assert (chunk_in, True) == (chunk, first <= first_in and end_in <= end), op['name']
print(len(ops), 'Concats')
END
    grep -q '^[1-9]' out || bad "$name has no Concat"
done

# Parameters that are mapped and the memory of the plan are nearly all that a run takes.
run 0 plan resnet50.fb p.fb --how align=64
"$XIR_TORCH" -B - "$XIR" >out 2>err <<'END' || bad "a run of resnet50 takes too much memory"
import os, resource, subprocess, sys
subprocess.run([sys.argv[1], 'run', 'p.fb', '--arena', '--lazy', '--seed', '1'], check=True)
most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
limit = 7225344 + 102123200 + (32 << 20)
assert most <= limit, (most, limit)
END
finish
