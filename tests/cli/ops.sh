# xir ops: what the classes say of themselves.
. "$SRC/tests/cli/lib.sh"

run 0 ops; quiet; out "icraft::xir::Conv2d"; out "icraft::xir::HardOp"; not_out "TensorType"
run 0 ops Conv2d; quiet; cp out conv; out "stride_width"; out "= 1, from 1"; out "weights"; out "(optional)"
run 0 ops icraft::xir::Conv2d; same out conv
run 0 ops conv2d; same out conv
run 0 ops Maxpool; out "icraft::xir::MaxPool2d"; cp out pool
run 0 ops icraft::xir::Maxpool; same out pool
run 0 ops TensorType; out "element_dtype"
run 2 ops Cnv2d; err "was Conv2d meant?"; silent
run 2 ops ''; silent
run 2 ops icraft::xir::; silent

run 0 ops --json; quiet
json 'isinstance(d, list) and len(d) >= 10 and len({c["type_key"] for c in d}) == len(d)'
json 'all(set(c) == {"type_key", "describe", "inputs", "outputs", "traits", "attributes"} for c in d)'
json 'all({"name", "type", "default", "lower", "upper", "describe"} <= set(a) and a["describe"] for c in d for a in c["attributes"])'
run 0 ops --json Conv2d; quiet
json 'len(d) == 1 and [p["name"] for p in d[0]["inputs"]] == ["input", "weights", "bias"] and d[0]["inputs"][2]["optional"]'
json '[p["name"] for p in d[0]["outputs"]] == ["output"]'
json 'd[0]["attributes"][0]["name"] == "stride_width" and d[0]["attributes"][0]["default"] == 1 and d[0]["attributes"][0]["lower"] == 1'
json 'all(a["upper"] is None for a in d[0]["attributes"])'
json '{a["name"]: a for a in d[0]["attributes"]}["padding_mode"]["default"] == "ZEROS"'
json '{a["name"]: a for a in d[0]["attributes"]}["cut_scale"]["default"] == "@scales([axis=-1])"'
run 0 ops --json ReLU; json 'd[0]["traits"] == ["activation"] and {a["name"]: a for a in d[0]["attributes"]}["max_value"]["default"] == "inf"'
json '{a["name"]: a for a in d[0]["attributes"]}["max_value"]["upper"] is None'
run 0 ops --json MaxPool2d; json 'd[0]["attributes"][0]["default"] is None and d[0]["attributes"][0]["required"]'
run 0 ops --json Add; json '{a["name"]: a for a in d[0]["attributes"]}["alpha"]["default"] == [1.0]'
run 0 ops --json HardOp; json 'd[0]["inputs"][0]["variadic"] and d[0]["outputs"][0]["variadic"]'
finish
