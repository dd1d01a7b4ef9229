# xir plan prints where each value is, and writes the network with its addresses.
. "$SRC/tests/cli/lib.sh"

run 0 opt "$SRC/examples/models/digits.onnx" d.json
run 0 plan d.json; quiet; out "chunk "; out "most alive at op "
run 0 plan d.json p.fb --how memory=etm; quiet; out "etm "
run 0 check p.fb; run 0 info p.fb
run 0 opt p.fb c.json --passes 'plan{clear}'; same c.json d.json
run 0 opt d.json q.fb --passes 'plan{memory=etm}' --verify --prove
run 0 diff p.fb q.fb
run 0 plan d.json --csv; quiet; out "id,lower,upper,size,offset"; out "0,0,2,256,"
run 1 plan d.json no.fb --how limit=100; err "the buffers need at least"; gone no.fb
run 2 plan d.json -; err "OUT is a file"
run 2 plan "$SRC/examples/models/digits.onnx"; err "convert it first"
run 1 plan d.json --how memory=disk; err "expected chunk or etm"
finish
