# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# A network computes the same bits in the memory that it plans and without a plan.
. "$SRC/tests/cli/lib.sh"

# same_numbers NET PLANNED: the results of both, on the same inputs.
same_numbers() {
    run 0 run "$2" --arena --seed 1 --output a; quiet
    run 0 run "$1" --seed 1 --compare a --tolerance 0; quiet
    rm -rf a
}

run 0 opt "$SRC/examples/models/digits.onnx" d.fb
for how in memory=etm memory=chunk,parts memory=ocm 'memory=etm,levels="ocm=4K,etm"' chunks=views in-place=false; do
    run 0 opt d.fb p.fb --passes "plan{$how}" --verify --prove; out "proven: 2 networks compute the same"
    run 0 check p.fb; out "no fault found"
    same_numbers d.fb p.fb
done
run 1 run d.fb --arena; err "no value of the network has an address"
run 0 run p.fb --arena --memory --max-memory 1M; out "memory: at most"

# All values at one address: the checker says so, and the numbers are others.
run 0 opt d.fb p.json --passes 'plan{memory=etm,base=0,reuse=false}'
sed 's/@etm([0-9]*)/@etm(0)/g' p.json >wrong.json
cp p.raw wrong.raw
run 1 check wrong.json; err "overlap"
run 0 run p.json --arena --seed 1 --output a
run 1 run wrong.json --arena --seed 1 --compare a
run 0 run wrong.json --seed 1 --compare a --tolerance 0

run 0 plan d.fb --svg; quiet; out "<svg "; out "</svg>"; out "<title>"
run 0 plan d.fb --svg --how memory=ocm; out "on the chip"
run 2 plan d.fb --svg --csv; err "only one can"

if [ -d "${XIR_CORPUS:-}/onnx" ] && command -v xz >/dev/null; then
    if ! sanitized; then
        xz -dc "$XIR_CORPUS/onnx/swin_t.onnx.xz" >s.onnx
        run 0 opt s.onnx s.fb
        run 0 opt s.fb p.fb --passes "plan{memory=etm}" --verify --prove; out "proven: 2 networks compute the same"
        run 0 check p.fb
        same_numbers s.fb p.fb
    fi
    xz -dc "$XIR_CORPUS/onnx/unet_small.onnx.xz" >u.onnx
    run 0 opt u.onnx uc.fb
    run 0 opt uc.fb u.fb --passes 'layout{to=nchw}'
    run 0 stats u.fb --views --in-place --parts; out "4.719 MB"
    run 0 plan u.fb p.fb --how parts,align=1; out "4718592 bytes from 0 to 4718592, at most 4718592 alive"
    run 0 check p.fb
    same_numbers u.fb p.fb
fi
finish
