# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# xir check finds values and Params that share bytes while they live, and what is beyond Buyi's on-chip memory.
. "$SRC/tests/cli/lib.sh"

run 0 opt "$SRC/examples/models/digits.onnx" d.json
run 0 check d.json
sed 's/@hostm/@etm(4096)/g' d.json >all.json
cp d.raw all.raw
run 1 check all.json
err "/ops/2/outputs/0: bytes 4096 to 8191 of external memory overlap those of Params 'fc.bias', 4096 to 4135"
out "all.json: 22 errors"      # 14 values and 10 Params but the first one, and the Reshape, which writes nothing

# Two real files, if they are here.
if [ -d "${XIR_CORPUS:-}/icraft" ]; then
    for file in "$XIR_CORPUS"/icraft/*.json; do
        run 0 check "$file" --no-params
    done
    sed 's/@ocm(0)/@ocm(2097120)/g' "$XIR_CORPUS/icraft/superpoint_test_softmax_BY.json" >far.json
    run 1 check far.json --no-params
    err "end beyond the on-chip memory, which has 2097152"
fi
finish
