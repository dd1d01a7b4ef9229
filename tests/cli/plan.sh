# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# xir plan prints where each value is, and writes the network with its addresses.
. "$SRC/tests/cli/lib.sh"

run 0 opt "$SRC/examples/models/digits.onnx" d.json
run 0 plan d.json; quiet; out "chunk "; out "most alive at op "
run 0 plan d.json p.fb --how memory=etm; quiet; out "etm "
run 0 check p.fb; run 0 info p.fb
run 0 opt p.fb c.json --passes 'plan{clear}'; same c.json d.json
run 0 opt d.json q.fb --passes 'plan{memory=etm}' --verify --prove
run 0 diff p.fb q.fb
run 0 plan d.json --csv; quiet; out "id,lower,upper,size,alignment,offset"; out "0,0,2,256,64,"
cp out d.csv
run 0 plan --from-csv d.csv; quiet; cut -d, -f1-5 d.csv >d.buffers; cut -d, -f1-5 out >out.buffers
same d.buffers out.buffers
for off in 'in-place= false' 'in-place="false"'; do
    run 0 plan d.json --how "$off"; quiet; out "14 values in 13 buffers"; not_out "= /b1"
done
run 0 plan "$data/open.json" --how upper=6; out " 288      0-1      x"; out "608 bytes from 0 to 608, at most 576 alive"
out "most alive at op y: x 288, y 288"
run 1 plan "$data/open.json"; err "the bytes of value 'x' are unknown"
run 1 plan d.json no.fb --how limit=100; err "the buffers need at least"; gone no.fb
run 2 plan d.json -; err "OUT is a file"
run 2 plan "$SRC/examples/models/digits.onnx"; err "convert it first"
run 1 plan d.json --how memory=disk; err "expected chunk, etm or ocm"

# Real back ends' networks need no more than what lives in them at once.
if [ -d "${XIR_CORPUS:-}/icraft" ]; then
    zhuge=$XIR_CORPUS/icraft/yolov5s_plin_352x640_ZG.json buyi=$XIR_CORPUS/icraft/superpoint_test_softmax_BY.json
    run 0 plan --no-params "$zhuge" --how limit=2703360; out "2703360 bytes from 0 to 2703360, at most 2703360 alive"
    run 1 plan --no-params "$zhuge" --how limit=2703359; err "the most bytes live while op"
    run 0 plan --no-params "$buyi" b.json --how memory=etm
    grep -q '"ftmp_segment_bytesize":24576000' b.json || bad "the maps take another number of bytes"
    grep -q '"input_segment_addr":1314368' b.json || bad "inputs do not begin after the Params of the compiler"
    grep -q '"params_segment_bytesize":1310272' b.json || bad "the Params of the compiler are forgotten"
    run 0 check --no-params b.json
    run 0 plan --no-params "$buyi" c.json --how clear; not_out "etm "
fi
if [ -d "${XIR_CORPUS:-}/onnx" ] && command -v xz >/dev/null; then
    while read -r name bytes; do
        xz -dc "$XIR_CORPUS/onnx/$name.onnx.xz" >$name.onnx
        run 0 opt $name.onnx $name.fb
        run 0 plan $name.fb --how align=1; out "$bytes bytes from 0 to $bytes, at most $bytes alive"
        rm -f $name.onnx $name.fb
    done <<'END'
resnet18 4014080
mobilenet_v2 6021120
densenet121 7225344
swin_t 8429568
unet_small 6291456
END
fi

# Buffers without a network.
printf 'id,lower,upper,size\nb1,0,3,4\nb2,3,9,4\nb3,0,9,4\n' >b.csv
run 0 plan --from-csv b.csv; quiet; out "id,lower,upper,size,alignment,offset"; out "b3,0,9,4,1,"; lines out 4
cp out p.csv
run 0 plan --from-csv p.csv --effort 2 --limit 8; same out p.csv
printf 'lower,size,buffer,offset,end\r\n0,4,first,0,3\r\n3,4,the other,2,9\r\n' >q.csv
run 1 plan --from-csv q.csv; err "bytes 2 to 5 overlap those of buffer 0"
sed 's/,2,9/,4,9/' q.csv >r.csv
run 0 plan --from-csv r.csv; quiet; out "first,0,4,4,1,"; out "the other,3,10,4,1,"
run 1 plan --from-csv b.csv --limit 7; err "the buffers need at least 8 bytes"
run 1 plan --from-csv d.json; err "is not a column of buffers"
run 3 plan --from-csv none.csv; err "none.csv"
run 2 plan --from-csv b.csv x.fb; err "there is no OUT"; gone x.fb
run 2 plan --from-csv b.csv --effort 3; err "--effort takes"
run 2 plan --from-csv b.csv --limit x; err "--limit takes"
run 2 plan --from-csv b.csv --how effort=2; err "--how is for a network, not for --from-csv"
run 2 plan --from-csv b.csv --csv; err "--csv is for a network"
run 2 plan --from-csv b.csv --no-params; err "--no-params is for a network"
run 2 plan d.json --effort 2; err "belong to --from-csv"
finish
