# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# Real files, if XIR_CORPUS names them.
. "$SRC/tests/cli/lib.sh"
[ -d "${XIR_CORPUS:-}/icraft" ] || skip "XIR_CORPUS names no folder of real files"

for file in "$XIR_CORPUS"/icraft/*.json; do
    name=$(basename "$file" .json) raw=${file%.json}.raw
    run 0 convert "$file" "$name.json"; same "$name.json" "$file"
    if [ -e "$raw" ]; then
        quiet; same "$name.raw" "$raw"
        run 0 convert --lazy "$file" lazy.json; same lazy.json "$file"; same lazy.raw "$raw"
    else
        err "warning"; gone "$name.raw"
    fi
    for kind in imodel fb; do
        run 0 convert "$file" "net.$kind"
        run 0 convert "net.$kind" back.json; same back.json "$file"
        [ ! -e "$raw" ] || same back.raw "$raw"
        run 0 check "net.$kind"; out "no fault found"
        run 0 diff "$file" "net.$kind"; silent
        run 0 show --compact "net.$kind"; same out "$file"
    done
    run 0 convert net.imodel other.fb --lazy; same other.fb net.fb
    run 0 convert net.fb other.imodel --lazy; same other.imodel net.imodel
    rm -f back.* net.* other.*
    run 0 check "$file"; out "no fault found"
    run 0 show --compact "$file"; same out "$file"
    run 0 show "$file"; cp out indented.json
    run 0 show --compact indented.json; same out "$file"
    run 0 diff "$file" indented.json; silent
    run 0 diff --params "$file" "$name.json"; silent
    run 0 info --json "$file"; json 'd["ops"] > 0 and d["params"] > 0 and sum(d["op_types"].values()) == d["ops"]'
    edit "$file" changed.json 's/"_type_key":"icraft::xir::HardOp","compile_target":"[^"]*"/"_type_key":"icraft::xir::HardOp","compile_target":"@hostt"/'
    run 1 diff "$file" changed.json; out '~ compile_target: '; out "1 changed"
    run 0 check --no-params "$file"
    head -c 20000 "$file" >cut.json; run 1 check cut.json; err "cut.json:1:"
done
finish
