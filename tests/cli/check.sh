# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# xir check: every fault with its place, and notes about what was not checked.
. "$SRC/tests/cli/lib.sh"
cp "$data/small.json" "$data/small.raw" .

run 0 check small.json; quiet; out "small.json: no fault found"
run 0 check --lazy small.json; quiet
run 0 check --params small.raw small.json; quiet
"$XIR" check - --params small.raw <small.json >out 2>err || bad "standard input"; quiet

# All of them, in the order of their places, on stderr; the summary on stdout.
edit small.json a.json -e 's/"stride_width":1/"stride_width":0/' -e 's/"shape":\[1,4,4,4\]/"shape":[1,4,4,5]/g' -e 's/"dilation_height":1/"dilation_height":-7/2'
cp small.raw a.raw
run 1 check a.json
err "a.json:1:$(column a.json '"stride_width":'): /ops/1/stride_width: "
err "/ops/3/dilation_height: "; err "-7"
err "/outputs/0/dtype: the declared type is @fp(32) NHWC [1,4,4,5], inference gives @fp(32) NHWC [1,4,4,4]"
out "a.json: 3 errors"; lines err 3

# In an indented file the same faults have other places.
"$XIR" show a.json >b.json; cp small.raw b.raw
run 1 check b.json; line=$(grep -n '"stride_width": 0' b.json | cut -d: -f1); err "b.json:$line:29: /ops/1/stride_width"
lines err 3
"$XIR" check - --no-params <b.json >out 2>err; [ $? -eq 1 ] || bad "from standard input"; err "<stdin>:$line:29: /ops/1"

# One wrong type is one finding, although other ops depend on it; and so is one wrong attribute.
edit small.json c.json 's/\[1,8,8,4\]},"mtype":"@hostm","name":"","tags":{},"v_id":3}/[1,9,8,4]},"mtype":"@hostm","name":"","tags":{},"v_id":3}/g'
run 1 check --no-params c.json; err "/ops/1/outputs/0/dtype: the declared type is @fp(32) NHWC [1,9,8,4], inference gives @fp(32) NHWC [1,8,8,4]"; lines err 1
# A layout that differs is a warning, because its letters change nothing: of the convolution, and of the activation that
# has its type.
edit small.json c.json 's/@layout(NHWC)","merged_distrs":\[\],"shape":\[1,8,8,4\]},"mtype":"@hostm","name":"","tags":{},"v_id":3}/@layout(N**C)","merged_distrs":[],"shape":[1,8,8,4]},"mtype":"@hostm","name":"","tags":{},"v_id":3}/g'
run 0 check --no-params c.json; err "/ops/1/outputs/0/dtype: warning: the declared type is @fp(32) N**C [1,8,8,4], inference gives @fp(32) NHWC [1,8,8,4]"
lines err 2; out "c.json: no fault found, 2 warnings"
edit small.json c.json 's/"pad_top":1/"pad_top":3/'
run 1 check --no-params c.json; err "/ops/1/outputs/0/dtype: "; lines err 1
edit small.json d.json 's/@fp(32)/@fp(16)/3'
run 1 check --no-params d.json

# Files that are not networks: the reader's place.
head -c 700 small.json >e.json; run 1 check e.json; err "e.json:1:701: "; silent
run 3 check missing.json; silent

# Parameters.
mv small.raw other.raw
run 0 check small.json; err "note: there is no parameter file next to it: the parameters were not checked"; out "no fault found, 1 note"
run 0 check --no-params small.json; quiet
run 3 check --params missing.raw small.json; err "missing.raw"
cp other.raw small.raw; poke small.raw 200 '\001'
run 1 check small.json; err "small.raw"; err "MD5"; out "1 error"
run 1 check --lazy small.json; err "MD5"
head -c 560 other.raw >small.raw; run 1 check small.json; err "small.raw"
cp other.raw small.raw; poke small.raw 0 'x'; run 1 check small.json; err "small.raw@0x0: "
cp other.raw small.raw; poke small.raw 16 '\007'; run 1 check small.json; err "small.raw@0x"
: >small.raw; run 1 check small.json; err "small.raw"
rm small.raw; mkdir small.raw; run 3 check small.json; rmdir small.raw
edit small.json f.json 's/"params_md5":"[0-9a-f]*"/"params_md5":""/'; cp other.raw f.raw
run 0 check f.json; err "f.raw: note: the network has no params_md5"; out "no fault found, 1 note"

# Faults of structure and of parameters at once.
cp a.json g.json; cp other.raw g.raw; poke g.raw 200 '\001'
run 1 check g.json; out "4 errors"; lines err 4

# Maps in normalised numbers are valid where it is known what their constants hold: ReLU has no constant, except a
# greatest value.
halves() { sed 's/"element_dtype":"@fp(32)","layout":"@layout(NHWC)","merged_distrs":\[\],"shape":\[1,8,8,4\]/"element_dtype":{"_type_key":"icraft::xir::NormalizedQuantizedType","expressed_dtype":"@fp(32)","normratio":"@norm_ratios([axis=-1]4*0.5)","scale":"@exp_scales([axis=-1]1\/0\/1)","storage_dtype":"@sint(8)","zero_points":[]},"layout":"@layout(NHWC)","merged_distrs":[],"shape":[1,8,8,4]/g' "$1"; }
halves small.json >n.json; cp other.raw n.raw
run 0 check n.json; not_err "normalised numbers"
edit n.json o.json 's/"max_value":[^,]*/"max_value":6.0/'; cp other.raw o.raw
run 0 check o.json; err "/ops/2/max_value: note: icraft::xir::ReLU"; err "it is not known which numbers 'max_value' holds"

# An unknown class is reported once, and does not count as a fault.
edit small.json h.json -e 's/"_type_key":"icraft::xir::ReLU"/"_type_key":"customop::DetPostZG"/' -e 's/"_type_key":"icraft::xir::Add"/"_type_key":"my\/own::Op"/'; cp other.raw h.raw
run 0 check h.json; err "h.json: note: 1 op of class customop::DetPostZG is not known here and was not checked"; out "no fault found, 2 notes"

# Of many faults the first are printed, and the number of the others. All are counted.
many() {
    awk -v n="$1" 'BEGIN {
        printf "{\"_type_key\":\"icraft::xir::Network\",\"ops\":["
        for (i = 0; i < n; i++) {
            if (i) printf ","
            printf "{\"_type_key\":\"icraft::xir::ReLU\",\"inputs\":[],\"name\":\"\",\"op_id\":%d,", i
            printf "\"outputs\":[],\"tags\":{}}"
        }
        print "]}"
    }'
}
many 3000 >many.json
run 1 check many.json; lines err 1001; out "many.json: 9002 errors"; err "and 8002 more"
run 1 check --max-findings 5 many.json; lines err 6
run 1 check --max-findings 100000 many.json; lines err 9002; not_err " more"
run 2 check --max-findings none many.json; err "--max-findings takes a number from 1 on, not 'none'"

# Rules of networks.
edit small.json i.json 's/"op_id":2,/"op_id":1,/'; run 1 check --no-params i.json; err "op_id"
edit small.json j.json 's/@layout(NHWC)/@layout(NHW)/g'; run 1 check --no-params j.json; err "/outputs/0/dtype"
edit small.json k.json 's/"compile_target":"@hostt"/"compile_target":"@zhuget(330)"/2'; run 1 check --no-params k.json; err "/ops/1/compile_target: "
echo '{"_type_key":"icraft::xir::Network","icraft_xir_version":"3.33.1.0","ops":[]}' >l.json; run 1 check l.json; err "l.json:1:"; err "/ops"

# As JSON: all parts of all findings; the exit code is the same.
cp other.raw a.raw
run 1 check --json a.json; err "/ops/1/stride_width: "; not_out "3 errors"
json 'd["file"] == "a.json" and d["format"] == "json" and d["complete"] and d["exit_code"] == 1'
json '[d["errors"], d["warnings"], d["notes"], d["more"], len(d["findings"])] == [3, 0, 0, 0, 3]'
json '[f["path"] for f in d["findings"]][0] == "/ops/1/stride_width" and d["findings"][0]["status"] == "bounds"'
json 'all(f["severity"] == "error" and f["file"] == "a.json" and f["line"] == 1 and f["column"] == f["byte"] + 1 for f in d["findings"])'
json 'open("a.json").read()[d["findings"][0]["byte"]] == "0" and d["findings"][0]["message"].startswith("0 is below 1")'
cp other.raw small.raw
run 0 check --json small.json; quiet; json 'd["complete"] and d["exit_code"] == 0 and d["findings"] == []'
poke small.raw 0 'x'; run 1 check --json small.json
json '[(f["file"], f["byte"], f["line"], f["column"]) for f in d["findings"]] == [("small.raw", 0, None, None)]'
run 0 check --json --no-params h.json; json '{(f["severity"], f["status"]) for f in d["findings"]} == {("note", None)} and d["notes"] == 2'
run 1 check --json --max-findings 5 many.json; json '[d["errors"], len(d["findings"]), d["more"]] == [9002, 5, 8997]'
run 1 check --json e.json; json 'not d["complete"] and d["errors"] == 1 and d["findings"][0]["status"] == "syntax"'
run 3 check --json missing.json; json 'd["exit_code"] == 3 and d["format"] is None and d["findings"][0]["status"] == "io"'
run 2 check --json --max-findings none small.json; json 'list(d) == ["exit_code", "findings", "more"] and d["exit_code"] == 2'
run 2 check --lasy --json small.json; json 'd["findings"][0]["file"] is None and "lasy" in d["findings"][0]["message"]'

# Several files: a line each, and the worst exit code.
cp other.raw small.raw
run 0 check small.json small.json; quiet; lines out 2
run 1 check small.json a.json f.json; lines out 3; out "small.json: no fault found"; out "a.json: 3 errors"; out "f.json: no fault found"
run 3 check missing.json small.json a.json; out "small.json: no fault found"; out "a.json: 3 errors"; err "missing.json: "
run 1 check --json small.json a.json; json '[(f["file"], f["exit_code"], len(f["findings"])) for f in d] == [("small.json", 0, 0), ("a.json", 1, 3)]'
run 2 check - small.json -; err "standard input can be read only once"
# Ops that a target does not run: its rules, and how to mend the op; or it does not run the class at all.
halves="--plugin $BUILD/plugins/customtarget.so"
run 2 check --target halves small.json; err "--target: there is no target 'halves'"
run 2 check --target "buyi(3)" small.json; err "--target: there is no target"
run 2 check --target buyy small.json; err "did you mean 'buyi'?"
run 0 check --target "zhuge(330)" small.json; quiet
run 0 check --target host small.json; quiet
run 1 check --target host "$data/small.onnx"; err "no target can be asked about ops of a dialect: convert the network first"
if [ -e "$BUILD/plugins/customtarget.so" ]; then
    run 0 check $halves --target halves small.json; quiet
    run 0 opt "$data/small.onnx" converted.json; run 1 check $halves --target halves --no-params converted.json
    err "converted.json:1:"; err "halves does not run this class"
    edit small.json dilated.json -e 's/"dilation_height":1/"dilation_height":2/' -e 's/"pad_\(top\|bottom\)":1/"pad_\1":2/g'
    run 1 check $halves --target halves --no-params dilated.json
    err "halves needs a kernel without dilation; fill it with zeros"
fi
finish
