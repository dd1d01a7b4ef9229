# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# --plugin: operations that the library does not have, for any command; and files that are not plug-ins.
. "$SRC/tests/cli/lib.sh"
modules=$BUILD/tests/plugin flatten=$BUILD/tests/plugin/flatten.so

# Classes of plug-ins are listed after the library's, for any form of the option.
run 2 ops Flatten; err "there is no class 'Flatten'"
run 0 ops --plugin "$flatten"; quiet; out "whatever::Flatten"; cp out list
run 0 --plugin "$flatten" ops; quiet; same out list
run 0 --plugin="$flatten" ops; same out list
run 0 ops "--plugin=$flatten" --plugin "$flatten"; quiet; same out list
run 0 --plugin "$flatten" ops Flatten --plugin "$flatten"; quiet; out "start"; out "= 1, from 0, to 7"
run 0 --plugin "$flatten" ops --json whatever::Flatten; json 'd[0]["type_key"] == "whatever::Flatten" and d[0]["attributes"][0]["upper"] == 7'
json 'd[0]["c"]["constructor"] == "XIR_OP(at, flatten, …)"'
run 0 --plugin "$flatten" --version; out "xir "
run 0 --plugin "$flatten" help ops; out "--plugin LIB"
run 0 check --help --plugin nowhere.so; out "--plugin LIB"

# A target of a plug-in is known by its key and its name.
npu=$BUILD/tests/plugin/npu.so
run 2 ops npu; err "there is no class 'npu'"
run 0 ops buyi; quiet; out "icraft::xir::BuyiTarget"; out "tiles: of any size"
run 0 --plugin "$npu" ops npu; quiet; out "acme::NpuTarget"; out "tiles: 16"; cp out npu.txt
run 0 --plugin "$npu" ops NpuTarget; same out npu.txt
run 0 --plugin "$npu" ops Twice; quiet; out "infers on: host, npu, dsp"
run 0 --plugin "$npu" ops --json dsp; json 'd[0]["target"] == {"name": "dsp", "accelerator": False, "tiles": [], "cores": "v1 v2"}'

# A file of the working directory does not need "./", and no other folder is searched.
cp "$flatten" here.so
run 0 ops --plugin here.so; quiet; same out list
run 3 ops --plugin libm.so.6; silent; err "libm.so.6: cannot be loaded: No such file"

# A network with an op of an unknown class, and the same with its plug-in.
value() { echo "{\"_type_key\":\"icraft::xir::Value\",\"dtype\":{\"_type_key\":\"icraft::xir::TensorType\",\"element_dtype\":\"@fp(32)\",\"layout\":\"@layout($2)\",\"merged_distrs\":[],\"shape\":[$3]},\"mtype\":\"@hostm\",\"name\":\"\",\"tags\":{},\"v_id\":$1}"; }
op() { echo "{\"_type_key\":\"$2\",\"compile_target\":\"@hostt\",\"inputs\":[$3],\"name\":\"\",\"op_id\":$1,\"outputs\":[$4],$5\"tags\":{}}"; }
x=$(value 0 NHWC 1,4,4,3) y=$(value 1 '**' 1,48)
printf '%s' "{\"_type_key\":\"icraft::xir::Network\",\"ai_target\":\"@buyit\",\"framework_kind\":\"PYTORCH\",\"framework_version\":\"v1.9\",\"icraft_version\":\"v3.33.1\",\"icraft_xir_version\":\"3.33.1.0\",\"name\":\"flat\",\"ops\":[$(op 0 icraft::xir::Input "" "$x" ""),$(op 1 whatever::Flatten "$x" "$y" '"start":1,'),$(op 2 icraft::xir::Output "$y" "" "")],\"params_bytes\":0,\"params_md5\":\"d41d8cd98f00b204e9800998ecf8427e\",\"tags\":{}}" >net.json
run 0 check net.json; err "1 op of class whatever::Flatten is not known here and was not checked"; out "no fault found, 1 note"
run 0 check net.json --plugin "$flatten"; quiet; out "no fault found"
run 0 convert --plugin "$flatten" net.json same.json; quiet; same same.json net.json
run 0 show --plugin "$flatten" --compact net.json; same out net.json
run 0 info --plugin "$flatten" --json net.json; json 'd["op_types"]["whatever::Flatten"] == 1'
run 0 diff --plugin "$flatten" net.json same.json; silent
edit net.json start.json 's/"start":1/"start":9/'
edit net.json type.json 's/\[1,48\]/[1,47]/g'
edit net.json kind.json 's/"start":1/"start":"one"/'
run 0 check start.json
run 1 check --plugin "$flatten" start.json; err "/ops/1/start: 9 is above 7, the greatest start of whatever::Flatten"
run 0 check type.json
run 1 check --plugin "$flatten" type.json; err "/ops/1/outputs/0/dtype: the declared type is @fp(32) ** [1,47], inference gives @fp(32) ** [1,48]"
run 0 convert kind.json other.json; same other.json kind.json
run 1 convert --plugin "$flatten" kind.json other.json; err "/ops/1/start: expected a number, found a text"
run 1 diff --plugin "$flatten" net.json start.json; out "~ start: 1 -> 9"

# An op whose inference gives a wrong number of types is named with its class.
faulty=$modules/faulty.so
sed -e 's/whatever::Flatten","compile_target":"@hostt",\(.*\)"name":"","op_id":1/whatever::Flatten","compile_target":"@hostt",\1"name":"bad","op_id":1/' -e 's/"start":1,//' -e 's/\[1,48\]/[1,4,4,3]/g; s/@layout(\*\*)/@layout(NHWC)/g' net.json >bad.json
for row in None,0,types Two,2,types; do
    class=${row%%,*} row=${row#*,}
    sed "s/whatever::Flatten/faulty::$class/" bad.json >wrong.json
    grep -q "faulty::$class" wrong.json || bad "no op of faulty::$class"
    run 1 check --plugin "$faulty" wrong.json
    err "/ops/1: faulty::$class 'bad': its inference gives ${row%,*} types: expected 1, one for each output of the class"
    run 1 opt --plugin "$faulty" --passes infer wrong.json; err "faulty::$class 'bad': its inference gives ${row%,*} types"
done

sed "s/whatever::Flatten/faulty::Null/" bad.json >wrong.json
run 1 check --plugin "$faulty" wrong.json; err "/ops/1: faulty::Null 'bad': its inference gives no type for output 0"

# If a kernel crashes, the program names the op, and ends as a crash ends a program. A sanitizer has its own handlers,
# or makes a write to nowhere an illegal instruction.
ulimit -c 0
crashes() {
    class=$1 signal=$2
    sed "s/whatever::Flatten/faulty::$class/" bad.json >wrong.json
    ran="xir run faulty::$class"
    { "$XIR" run --plugin "$faulty" wrong.json >out 2>err; code=$?; } 2>shell
    grep -q -e Sanitizer -e 'runtime error' err && return
    [ $code -eq $((128 + signal)) ] || [ $code -eq 132 ] || bad "$ran: exit code $code, not that of signal $signal"
    silent; err "xir: the kernel of faulty::$class 'bad' crashed"
}
crashes Abort 6; crashes Write 11; crashes Deep 11

# If a file is not a plug-in, nothing else is done, and the exit code is not that of an invalid network.
printf 'text' >text.so
mkdir folder.so
run 3 check --plugin nowhere.so net.json; silent; err "nowhere.so: cannot be loaded: No such file"
run 3 check --plugin folder.so net.json; silent; err "folder.so: cannot be loaded: it is not a regular file"
run 2 check --plugin text.so net.json; silent; err "text.so: the system cannot load it: "
run 2 check --plugin "$modules/no_entry.so" net.json; silent; err "there is no xir_plugin_entry in it: it is not a plug-in"
run 2 check --plugin "$modules/undefined.so" net.json; silent; err "undefined symbol: xir_of_the_future"
run 2 check --plugin "$modules/bad.so" net.json; silent; err "bad.so: xir_plugin_entry gives NULL"
XIR_BAD=abi; export XIR_BAD
run 2 check --plugin "$modules/bad.so" net.json; silent; err "built for version 4 of the binary interface, this library has 3"
XIR_BAD=bounds; run 2 check --plugin "$flatten" --plugin "$modules/bad.so" net.json; err "the default of 'count' is outside its bounds"
unset XIR_BAD
run 2 check --plugin "$flatten" --plugin here.so net.json; err "here.so: the class whatever::Flatten is registered already"
run 2 check net.json --plugin; silent; err "--plugin needs an argument: LIB"
run 2 --plugin; err "--plugin needs an argument: LIB"
run 2 --plugin "$flatten"; err "usage: xir COMMAND"
run 2 ops --plugn x; err "did you mean '--plugin'?"

# A network file cannot name a plug-in: a key that looks like it is an attribute like any other.
cp "$modules/no_entry.so" evil.so
edit net.json evil.json 's/"start":1,/"plugin":".\/evil.so","start":1,/'
run 0 check --plugin "$flatten" evil.json; not_err evil.so
run 0 convert --plugin "$flatten" evil.json other.json; same other.json evil.json

# The custom ops of real files.
customop=$BUILD/plugins/customop.so
[ -e "$customop" ] || finish
run 0 ops --plugin "$customop" --json; json '{"customop::ImageMake", "customop::DetPost", "customop::DetPostZG"} <= {c["type_key"] for c in d}'
run 0 ops --plugin "$customop" --json DetPostZG; json 'd[0]["traits"] == ["impure", "customop::InFpga"] and {a["name"]: a for a in d[0]["attributes"]}["thr_f"]["type"] == "float"'
[ -d "${XIR_CORPUS:-}/icraft" ] || finish
for file in "$XIR_CORPUS"/icraft/*.json; do
    run 0 check --plugin "$customop" "$file"; out "no fault found"; not_err "not known here"
    run 0 convert --plugin "$customop" --no-params "$file" with.json; same with.json "$file"
done
finish
