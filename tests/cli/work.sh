# How much xir computes: a limited amount for constants, and for a run as much as it needs unless an option says
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
run 1 run --max-work 1000 small.json --output w; err "the op takes"; err "steps, but only 1000 are left"; silent; gone w
run 0 run --max-work 1G small.json; quiet
run 0 opt --prove small.json; out "proven"
run 0 opt --prove --threads 3 small.json; out "proven"
run 2 opt --prove --threads 0 small.json; err "--threads takes a number from 1 on, not '0'"
run 1 opt --prove --max-work 1000 small.json; err "nothing was proven: no network could be run"; err "steps, but only 1000 are left"

# What is not a number above 0.
for word in 0 -1 x 1x 1KK 99999999999999999999 99999999999T ''; do
    run 2 run --max-work "$word" small.json; err "--max-work takes a number above 0, as 2000000000 or 2G, not '$word'"; silent
    run 2 check --max-op-work "$word" small.json; err "--max-op-work takes"
    run 2 opt --max-work "$word" small.json; err "--max-work takes"
done
finish
