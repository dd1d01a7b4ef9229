# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# The work of xir: a limited amount for constants, and for a run as much as it needs unless an option says
# otherwise.
. "$SRC/tests/cli/lib.sh"
cp "$data/small.json" "$data/small.raw" "$data/ages.onnx" .

# Six vectors of 60 numbers, the sum of all whose products, 4.7e10, is computed.
why="Einsum 'sum' (node 0): its inputs are constants, but it is not computed: it takes 233280000010 steps"
run 0 check ages.onnx; lines err 1; err "ages.onnx: /graph/node/0: note: $why, and a constant may take 2000000000"; out "no fault found, 1 note"
run 0 opt ages.onnx ages.json; lines err 1; err "$why, and a constant may take 2000000000"; there ages.json
run 0 check --max-op-work 1T --max-work 233G ages.onnx; err "$why, and 233000000000 are left for constants"
run 0 opt --max-op-work 7 ages.onnx; err "a constant may take 7"
run 0 check ages.json; quiet

# A run and a proof have no limit except the given one.
run 0 run small.json; quiet
run 1 run --max-work 3000 small.json --output w; err "the op takes"; err "steps, but only 1080 are left"; silent; gone w
run 0 run --max-work 1G small.json; quiet
run 0 opt --prove small.json; out "proven"
run 0 opt --prove --threads 3 small.json; out "proven"
run 2 opt --prove --threads 0 small.json; err "--threads takes a number from 1 on, not '0'"
run 1 opt --prove --max-work 3000 small.json; err "nothing was proven: no network could be run"; err "steps, but only 3000 are left"
run 2 opt --max-memory 1M small.json; err "and --max-memory need --prove"

# The inputs count, before they are made.
large=large.pnnx.param
printf '7767517\n2 1\npnnx.Input in 0 1 x #x=(536870912)f32\npnnx.Output out 1 0 x\n' >$large
run 1 run --max-work 1M $large; err "an input takes 5368709120 steps, but only 1000000 are left (--max-work)"; silent
run 1 run --max-memory 1G $large; err "an input takes 2147483648 bytes, but only 1000000000 are left (--max-memory)"
run 1 opt --prove --max-work 1M $large; err "making the inputs takes 5368709120 steps: the limit is 1000000"
run 1 opt --prove --max-memory 1G $large; err "the inputs take 2147483648 bytes: the limit is 1000000000"
run 1 run --max-memory 2000 small.json; err "bytes more: the values of the run take"; silent
run 0 run --max-memory 1M small.json; quiet
run 0 opt --prove --max-memory 1M small.json; out "proven"

# A conversion makes a table of 20000 numbers.
printf 'newtensor(vector<int32>:[20000])->(tensor<float32>:a)\narange(var<float32>:1, var<float32>:1)->(tensor<float32>:a)\n' > line.ir
why="it takes 160008 bytes, more than are left of max_converted"
run 0 opt line.ir; quiet
run 0 opt --max-converted 9K line.ir; err "note: to-xir: arange '' (call 2): not converted: $why"
run 1 opt --max-converted 9K --strict line.ir; err "/ops/2: to-xir: arange '' (call 2): not converted: $why"
run 0 check --max-converted 9K line.ir; err "note: arange '' (call 2): not checked, nor are nodes like it: $why"; out "no fault found, 1 note"
run 0 check --max-converted 1M line.ir; quiet

# Texts that are not a number above 0.
for word in 0 -1 x 1x 1KK 99999999999999999999 99999999999T ''; do
    run 2 run --max-work "$word" small.json; err "--max-work takes a number above 0, as 2000000000 or 2G, not '$word'"; silent
    run 2 check --max-op-work "$word" small.json; err "--max-op-work takes"
    run 2 check --max-converted "$word" small.json; err "--max-converted takes"
    run 2 opt --max-work "$word" small.json; err "--max-work takes"
    run 2 opt --prove --max-memory "$word" small.json; err "--max-memory takes"
done
finish
