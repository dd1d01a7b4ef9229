# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# xir ops: what classes know about themselves.
. "$SRC/tests/cli/lib.sh"

run 0 ops; quiet; out "icraft::xir::Conv2d"; out "icraft::xir::HardOp"; not_out "TensorType"
run 0 ops Conv2d; quiet; cp out conv; out "stride_width"; out "= 1, from 1"; out "weights"; out "(optional)"
run 0 ops icraft::xir::Conv2d; same out conv
run 0 ops conv2d; same out conv
run 0 ops Maxpool; out "icraft::xir::MaxPool2d"; cp out pool
run 0 ops icraft::xir::Maxpool; same out pool
run 0 ops TensorType; out "element_dtype"
run 0 ops MaxPool2d; out "old key: icraft::xir::Maxpool"; out "FlatBuffers tag: 60"; out "infers on: host"
run 0 ops TopK; out "computes"; out "gives"; out "unlike"; out "PyTorch"; out "SAME, AXIS, axis"; not_out "tag"
run 0 ops Conv2d; out "from normalised numbers"; out "PRODUCT, weights, bias, cut_scale"
run 0 ops HardOp; out "infers on: nothing"
run 0 ops TensorType; not_out "infers on"
run 2 ops Cnv2d; err "did you mean 'Conv2d'?"; silent
run 2 ops ''; silent
run 2 ops icraft::xir::; silent

run 0 ops --json; quiet
json 'isinstance(d, list) and len(d) >= 10 and len({c["type_key"] for c in d}) == len(d)'
json 'all(set(c) == {"type_key", "doc", "aliases", "base", "tag", "c", "inputs", "outputs", "traits", "attributes", "infers_on", "formula", "gives", "unlike", "layout", "normalised", "shares", "needs"} for c in d)'
json '[c["type_key"].split("::")[-1].lower() for c in d] == sorted(c["type_key"].split("::")[-1].lower() for c in d)'
json 'len({c["tag"] for c in d if c["tag"]}) == len([c for c in d if c["tag"]])'
json 'all(("words" in a) == (a["kind"] == "enum") for c in d for a in c["attributes"])'
json 'all(a["default"] in a["words"] for c in d for a in c["attributes"] if a["kind"] == "enum" and not a["required"])'
json 'all(a["default"] is None for c in d for a in c["attributes"] if a["required"])'
json 'all(k.startswith("icraft::xir::") for c in d for k in c["aliases"])'
json 'all(set(c["infers_on"]) <= {"host", "fpga", "custom", "buyi", "zhuge", "wolong"} for c in d)'
json '[c["type_key"] for c in d if "host" not in c["infers_on"]] == ["icraft::xir::HardOp", "icraft::xir::InnerProduct", "icraft::xir::Input", "icraft::xir::MultiYolo", "icraft::xir::Region", "icraft::xir::Reorg", "icraft::xir::SSDOutput", "icraft::xir::Unknown", "icraft::xir::Unsupport", "icraft::xir::Yolo"]'
json 'all({"name", "type", "default", "lower", "upper", "doc"} <= set(a) and a["doc"] for c in d for a in c["attributes"])'
run 0 ops --json Conv2d; quiet
json 'len(d) == 1 and [p["name"] for p in d[0]["inputs"]] == ["input", "weights", "bias"] and d[0]["inputs"][2]["optional"]'
json '[p["name"] for p in d[0]["outputs"]] == ["output"]'
json 'd[0]["attributes"][0]["name"] == "stride_width" and d[0]["attributes"][0]["default"] == 1 and d[0]["attributes"][0]["lower"] == 1'
json 'all(a["upper"] is None for a in d[0]["attributes"])'
json '{a["name"]: a for a in d[0]["attributes"]}["padding_mode"]["default"] == "ZEROS"'
json '{a["name"]: a for a in d[0]["attributes"]}["padding_mode"]["words"] == ["ZEROS", "REFLECT", "REPLICATE", "CIRCULAR"]'
json '{a["name"]: a for a in d[0]["attributes"]}["padding_mode"]["type"] == "enum ZEROS|REFLECT|REPLICATE|CIRCULAR"'
json '{a["name"]: a for a in d[0]["attributes"]}["cut_scale"]["default"] == "@scales([axis=-1])"'
json '{a["name"]: a for a in d[0]["attributes"]}["cut_scale"]["class"] == "icraft::xir::QuantizedScaleArray"'
json 'd[0]["tag"] == 25 and d[0]["base"] is None and "host" in d[0]["infers_on"]'
json 'd[0]["c"] == {"constructor": "XIR_OP(at, conv2d, …)", "struct": "xir_conv2d_attrs", "class": "xir_conv2d_class"}'
run 0 ops Conv2d; out "in C: XIR_OP(at, conv2d, …), xir_conv2d_attrs, xir_conv2d_class"
run 0 ops --json TensorType; json 'd[0]["c"] == {"constructor": "xir_tensor_type_make", "struct": "xir_tensor_type", "class": "xir_tensor_type_class"}'
run 0 ops --json Maxpool; json 'd[0]["aliases"] == ["icraft::xir::Maxpool"] and d[0]["type_key"] == "icraft::xir::MaxPool2d"'
run 0 ops --json TopK; json 'd[0]["tag"] == 0 and d[0]["formula"] and d[0]["gives"] and d[0]["unlike"]'
run 0 ops --json BuyiTarget; json 'd[0]["base"] == "icraft::xir::CompileTarget" and d[0]["infers_on"] == []'
run 0 ops --json ReLU; json 'd[0]["traits"] == ["activation"] and {a["name"]: a for a in d[0]["attributes"]}["max_value"]["default"] == "inf"'
json '{a["name"]: a for a in d[0]["attributes"]}["max_value"]["upper"] is None'
run 0 ops --json MaxPool2d; json 'd[0]["attributes"][0]["default"] is None and d[0]["attributes"][0]["required"]'
run 0 ops --json Add; json '{a["name"]: a for a in d[0]["attributes"]}["alpha"]["default"] == [1.0]'
run 0 ops --json HardOp; json 'd[0]["inputs"][0]["variadic"] and d[0]["outputs"][0]["variadic"]'

# The reference: a line and a section for each.
run 0 ops --markdown; quiet
heads=$(grep -c '^## ' out) && lines=$(grep -c '^| \[' out)
[ "$heads" -eq $((lines + 3)) ] || bad "$ran: $heads headings, $lines lines of contents"
out "| [Conv2d](#conv2d) | "; out "## Conv2d"; out '`icraft::xir::Conv2d`, tag 25'; out '| `bias` | input, may be absent | '
out '| `stride_width` | `int64`, from 1 = `1` | '; out '| `padding_mode` | **ZEROS**, REFLECT, REPLICATE, CIRCULAR | '
out '`icraft::xir::MaxPool2d`, tag 60; old: `icraft::xir::Maxpool`'
out '| `pool_width` | `int64`, from 1 | '; out '; *activation*'; out '; *free*; *impure*; the types of its outputs are given'
out 'In C: `XIR_OP(at, max_pool2d, …)`, `xir_max_pool2d_attrs`, `xir_max_pool2d_class`'
run 0 ops --markdown TopK; not_out "Conv2d"; out '- **Gives** '; out '- **Unlike** PyTorch'
run 2 ops --markdown --json; err "exclude each other"
finish
