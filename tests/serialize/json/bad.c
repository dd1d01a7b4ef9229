/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Malformed networks: each is refused with its status, its place and a message, and leaves nothing. A grave accent
 * marks the byte; it is not part of the text. Rules that `validate` checks are not tested here. */
#include "json/json.h"
#include "support/json_net.h"

/* The surrounding text. */
typedef enum part { WHOLE, MEMBERS, OPS, OP, INPUTS, OUTPUTS, TYPE } part;
static const char *const around[][2] = {
    [WHOLE]   = { "", "" },
    [MEMBERS] = { "{\"_type_key\":\"icraft::xir::Network\",\"ops\":[],", "}" },
    [OPS]     = { "{\"_type_key\":\"icraft::xir::Network\",\"ops\":", "}" },
    [OP]      = { "{\"_type_key\":\"icraft::xir::Network\",\"ops\":[", "]}" },
    [INPUTS]  = { "{\"_type_key\":\"icraft::xir::Network\",\"ops\":[{\"_type_key\":\"someone::Op\",\"op_id\":1,\"inputs\":[", "]}]}" },
    [OUTPUTS] = { "{\"_type_key\":\"icraft::xir::Network\",\"ops\":[{\"_type_key\":\"someone::Op\",\"op_id\":1,\"outputs\":[", "]}]}" },
    [TYPE]    = { "{\"_type_key\":\"icraft::xir::Network\",\"ops\":[{\"_type_key\":\"someone::Op\",\"op_id\":1,\"outputs\":["
                  "{\"_type_key\":\"icraft::xir::Value\",\"v_id\":1,\"dtype\":", "}]}]}" },
};

typedef struct bad {
    part        in;
    const char *text;
    xir_status  status;
    const char *path;
    const char *sentence;   /* a part of it */
} bad;

#define KEY(name) "{\"_type_key\":\"icraft::xir::" name "\""
#define RELU_ KEY("ReLU") ",\"op_id\":1"
#define CONV_ KEY("Conv2d") ",\"op_id\":1"
#define HARD_ KEY("HardOp") ",\"op_id\":1"
#define VAL(id) KEY("Value") ",\"dtype\":null,\"v_id\":" id "}"
#define PAR(id) KEY("Params") ",\"dtype\":null,\"v_id\":" id "}"
#define TENSOR(more) KEY("TensorType") more "}"

static const bad table[] = {
    /* the whole */
    { WHOLE, "`",                              XIR_E_SYNTAX,  "", "expected a value, found the end of the text" },
    { WHOLE, "`[]",                            XIR_E_TYPE,    "", "expected icraft::xir::Network, found a list" },
    { WHOLE, "`\"@fp(32)\"",                   XIR_E_TYPE,    "", "found a text" },
    { WHOLE, "`null",                          XIR_E_TYPE,    "", "found null" },
    { WHOLE, "`{}",                            XIR_E_MISSING, "", "a network needs _type_key" },
    { WHOLE, "`" KEY("Network") "}",           XIR_E_MISSING, "", "a network needs ops" },
    { WHOLE, "`{\"ops\":[]}",                  XIR_E_MISSING, "", "a network needs _type_key" },
    { WHOLE, "{\"_type_key\":`\"icraft::xir::NetworkView\",\"ops\":[]}", XIR_E_TYPE, "/_type_key", "found icraft::xir::NetworkView" },
    { WHOLE, "{\"_type_key\":`7,\"ops\":[]}",  XIR_E_TYPE,    "/_type_key", "expected a text, found a number" },
    { WHOLE, KEY("Network") ",\"ops\":[]} `x", XIR_E_SYNTAX,  "", "expected the end of the text, found 'x'" },
    { WHOLE, KEY("Network") ",\"ops\":[]`",    XIR_E_SYNTAX,  "", "expected ',' or '}', found the end of the text" },
    { WHOLE, "`\xFF\xFE{", XIR_E_SYNTAX, "", "expected a value in UTF-8, found a byte order mark of UTF-16" },
    { WHOLE, "`\xEF\xBB\xBF" KEY("Network") ",\"ops\":[]}", XIR_E_SYNTAX, "", "found a byte order mark" },
    { WHOLE, KEY("Network") ",\"ops\":[],\"name\":\"a`\xFF\"}", XIR_E_SYNTAX, "/name", "byte 0xff is not UTF-8 here" },
    { WHOLE, KEY("Network") ",\"ops\":[]`;\"tags\":{}}", XIR_E_SYNTAX, "", "found ';'" },
    { WHOLE, KEY("Network") ",`name:\"x\"}",   XIR_E_SYNTAX,  "", "expected a key, found 'n'" },

    /* the network's members */
    { MEMBERS, "\"name\":`1",                  XIR_E_TYPE,    "/name", "expected a text, found a number" },
    { MEMBERS, "\"name\":`null",               XIR_E_TYPE,    "/name", "found null" },
    { MEMBERS, "\"framework_kind\":`{}",       XIR_E_TYPE,    "/framework_kind", "found a map" },
    { MEMBERS, "\"framework_version\":`[]",    XIR_E_TYPE,    "/framework_version", "found a list" },
    { MEMBERS, "\"icraft_version\":`3",        XIR_E_TYPE,    "/icraft_version", "expected a text" },
    { MEMBERS, "\"icraft_xir_version\":`3.3",  XIR_E_TYPE,    "/icraft_xir_version", "expected a text" },
    { MEMBERS, "\"params_bytes\":`-1",         XIR_E_BOUNDS,  "/params_bytes", "expected a number of bytes" },
    { MEMBERS, "\"params_bytes\":`1.5",        XIR_E_TYPE,    "/params_bytes", "expected a number of bytes" },
    { MEMBERS, "\"params_bytes\":`18446744073709551616", XIR_E_TYPE, "/params_bytes", "expected a number of bytes" },
    { MEMBERS, "\"params_bytes\":`\"1\"",      XIR_E_TYPE,    "/params_bytes", "expected a number, found a text" },
    { MEMBERS, "\"params_md5\":`0",            XIR_E_TYPE,    "/params_md5", "expected a text" },
    { MEMBERS, "\"tags\":`[]",                 XIR_E_TYPE,    "/tags", "expected a map, found a list" },
    { MEMBERS, "\"tags\":`null",               XIR_E_TYPE,    "/tags", "expected a map, found null" },
    { MEMBERS, "\"tags\":{\"a\":{\"b\":[1,`}]}}", XIR_E_SYNTAX, "/tags/a/b/1", "found '}'" },
    { MEMBERS, "\"ai_target\":`\"buyit\"",     XIR_E_TYPE,    "/ai_target", "expected icraft::xir::CompileTarget, found the text \"buyit\"" },
    { MEMBERS, "\"ai_target\":`\"@hostm\"",    XIR_E_TYPE,    "/ai_target", "found icraft::xir::HostMem" },
    { MEMBERS, "\"ai_target\":\"@`nobodyt\"",  XIR_E_UNKNOWN, "/ai_target", "found 'nobodyt'" },
    { MEMBERS, "\"ai_target\":`1",             XIR_E_TYPE,    "/ai_target", "found a number" },
    { MEMBERS, "\"name\":\"a\",\"name\":`\"b\"", XIR_E_EXISTS, "/name", "the key \"name\" appears twice" },
    { MEMBERS, "\"ops\":`[]",                  XIR_E_EXISTS,  "/ops", "the key \"ops\" appears twice" },
    { MEMBERS, "\"new\":1,\"new\":`2",         XIR_E_EXISTS,  "", "the key \"new\" appears twice" },
    { MEMBERS, "\"new\":`01",                  XIR_E_SYNTAX,  "", "" },
    { MEMBERS, "\"new\":[1,{\"x\":`1e999}]",   XIR_E_BOUNDS,  "/new/1/x", "1e999 is more than a double can hold" },

    /* ops */
    { OPS, "`{}",                              XIR_E_TYPE,    "/ops", "expected a list, found a map" },
    { OPS, "`null",                            XIR_E_TYPE,    "/ops", "expected a list, found null" },
    { OPS, "[`1]",                             XIR_E_TYPE,    "/ops/0", "expected an op, found a number" },
    { OPS, "[" RELU_ "},`null]",               XIR_E_TYPE,    "/ops/1", "expected an op, found null" },
    { OPS, "[" RELU_ "},`]",                   XIR_E_SYNTAX,  "/ops/1", "expected a value, found ']'" },
    { OPS, "[`{}]",                            XIR_E_MISSING, "/ops/0", "an op needs _type_key" },
    { OPS, "[`{\"op_id\":1}]",                 XIR_E_MISSING, "/ops/0", "an op needs _type_key" },
    { OPS, "[`{\"_type_key\":7}]",             XIR_E_MISSING, "/ops/0", "an op needs _type_key" },
    { OPS, "[{\"_type_key\":\"a\",\"op_id\":1,\"b\":t`x}]", XIR_E_SYNTAX, "/ops/0/b", "expected true, false or null" },
    { OPS, "[{\"a\":`x,\"_type_key\":\"a\"}]", XIR_E_SYNTAX,  "/ops/0/a", "expected a value, found 'x'" },
    { OPS, "[`" KEY("Layout") ",\"op_id\":1}]", XIR_E_TYPE,   "/ops/0", "expected an op, found icraft::xir::Layout" },
    { OPS, "[`" KEY("ReLU") "}]",              XIR_E_MISSING, "/ops/0", "an op needs op_id" },
    { OPS, "[" RELU_ "}," KEY("ReLU") ",\"op_id\":`1}]", XIR_E_EXISTS, "/ops/1/op_id", "op_id 1 is already used by another op" },
    { OPS, "[" KEY("ReLU") ",\"op_id\":9}," RELU_ "}," KEY("ReLU") ",\"op_id\":`9}]", XIR_E_EXISTS, "/ops/2/op_id", "op_id 9" },
    { OP, KEY("ReLU") ",\"op_id\":`-1}",       XIR_E_BOUNDS,  "/ops/0/op_id", "op_id -1 is outside" },
    { OP, KEY("ReLU") ",\"op_id\":`9223372036854775807}", XIR_E_BOUNDS, "/ops/0/op_id", "op_id 9223372036854775807 is outside" },
    { OP, KEY("ReLU") ",\"op_id\":`9223372036854775808}", XIR_E_BOUNDS, "/ops/0/op_id", "9223372036854775808 does not fit" },
    { OP, KEY("ReLU") ",\"op_id\":`1.0}",      XIR_E_TYPE,    "/ops/0/op_id", "expected an integer, found 1.0" },
    { OP, KEY("ReLU") ",\"op_id\":`1e3}",      XIR_E_TYPE,    "/ops/0/op_id", "expected an integer, found 1e3" },
    { OP, KEY("ReLU") ",\"op_id\":`\"1\"}",    XIR_E_TYPE,    "/ops/0/op_id", "expected a number, found a text" },
    { OP, KEY("ReLU") ",\"op_id\":0`1}",       XIR_E_SYNTAX,  "/ops/0", "" },
    { OP, RELU_ ",\"name\":`1}",               XIR_E_TYPE,    "/ops/0/name", "expected a text" },
    { OP, RELU_ ",\"name\":\"`\\q\"}",         XIR_E_SYNTAX,  "/ops/0/name", "unknown escape" },
    { OP, RELU_ ",\"name\":\"`\\ud800\"}",     XIR_E_SYNTAX,  "/ops/0/name", "an unpaired surrogate" },
    { OP, RELU_ ",\"tags\":`\"\"}",            XIR_E_TYPE,    "/ops/0/tags", "expected a map, found a text" },
    { OP, RELU_ ",\"compile_target\":`null}",  XIR_E_TYPE,    "/ops/0/compile_target", "expected icraft::xir::CompileTarget, found null" },
    { OP, RELU_ ",\"compile_target\":\"@hostt`(1)\"}", XIR_E_SYNTAX, "/ops/0/compile_target", "expected the end" },
    { OP, RELU_ ",\"compile_target\":\"@zhuget`\"}", XIR_E_SYNTAX, "/ops/0/compile_target", "expected '('" },
    { OP, RELU_ ",\"compile_target\":`\"@fp(32)\"}", XIR_E_TYPE, "/ops/0/compile_target", "found icraft::xir::FloatType" },
    { OP, RELU_ ",\"op_id\":`2}",              XIR_E_EXISTS,  "/ops/0/op_id", "the key \"op_id\" appears twice" },
    { OP, RELU_ ",\"alpha\":1,\"alpha\":`1}",  XIR_E_EXISTS,  "/ops/0/alpha", "the key \"alpha\" appears twice" },
    { OP, RELU_ ",\"new\":1,\"old\":2,\"new\":`[]}", XIR_E_EXISTS, "/ops/0", "the key \"new\" appears twice" },
    { OP, RELU_ ",\"new\":[1,[2,`[3,]]]}",     XIR_E_SYNTAX,  "", "" },
    { OP, RELU_ "`",                           XIR_E_SYNTAX,  "/ops/0", "" },

    /* attributes of every kind */
    { OP, RELU_ ",\"alpha\":`\"big\"}",        XIR_E_TYPE,    "/ops/0/alpha", "expected a number, \"inf\", \"-inf\" or \"nan\", found \"big\"" },
    { OP, RELU_ ",\"alpha\":`true}",           XIR_E_TYPE,    "/ops/0/alpha", "expected a number, found true or false" },
    { OP, RELU_ ",\"alpha\":`null}",           XIR_E_TYPE,    "/ops/0/alpha", "found null" },
    { OP, RELU_ ",\"alpha\":`1e39}",           XIR_E_BOUNDS,  "/ops/0/alpha", "more than a float32 can hold" },
    { OP, RELU_ ",\"alpha\":`1e400}",          XIR_E_BOUNDS,  "/ops/0/alpha", "more than a double can hold" },
    { OP, RELU_ ",\"alpha\":`.5}",             XIR_E_SYNTAX,  "/ops/0/alpha", "expected a value, found '.'" },
    { OP, CONV_ ",\"groups\":`\"1\"}",         XIR_E_TYPE,    "/ops/0/groups", "expected a number, found a text" },
    { OP, CONV_ ",\"groups\":`0.5}",           XIR_E_TYPE,    "/ops/0/groups", "expected an integer, found 0.5" },
    { OP, CONV_ ",\"groups\":`-9223372036854775809}", XIR_E_BOUNDS, "/ops/0/groups", "does not fit 64 bits" },
    { OP, CONV_ ",\"groups\":`99999999999999999999999}", XIR_E_BOUNDS, "/ops/0/groups", "does not fit 64 bits" },
    { OP, CONV_ ",\"groups\":`{}}",            XIR_E_TYPE,    "/ops/0/groups", "found a map" },
    { OP, CONV_ ",\"padding_mode\":`\"zeros\"}", XIR_E_UNKNOWN, "/ops/0/padding_mode", "\"zeros\" is not one of ZEROS, REFLECT, REPLICATE, CIRCULAR" },
    { OP, CONV_ ",\"padding_mode\":`0}",       XIR_E_TYPE,    "/ops/0/padding_mode", "expected a text, found a number" },
    { OP, CONV_ ",\"cut_scale\":`1.0}",        XIR_E_TYPE,    "/ops/0/cut_scale", "expected icraft::xir::QuantizedScaleArray, found a number" },
    { OP, CONV_ ",\"cut_scale\":`\"@layout(C)\"}", XIR_E_TYPE, "/ops/0/cut_scale", "found icraft::xir::Layout" },
    { OP, CONV_ ",\"cut_scale\":\"@scales(`axis)\"}", XIR_E_SYNTAX, "/ops/0/cut_scale", "" },
    { OP, CONV_ ",\"cut_scale\":\"@scales([axis=-1]1,`x)\"}", XIR_E_SYNTAX, "/ops/0/cut_scale", "" },
    { OP, CONV_ ",\"cut_scale\":`" KEY("QuantizedScaleArray") "}}", XIR_E_TYPE, "/ops/0/cut_scale", "QuantizedScaleArray as one text, found a map" },
    { OP, CONV_ ",\"cut_scale\":`{\"_type_key\":\"someone::Scale\"}}", XIR_E_UNKNOWN, "/ops/0/cut_scale", "found the unknown class someone::Scale" },
    { OP, CONV_ ",\"cut_scale\":`{}}",         XIR_E_MISSING, "/ops/0/cut_scale", "found a map without _type_key" },
    { OP, CONV_ ",\"cut_scale\":`[]}",         XIR_E_TYPE,    "/ops/0/cut_scale", "found a list" },
    { OP, KEY("Add") ",\"op_id\":1,\"alpha\":`1.0}", XIR_E_TYPE, "/ops/0/alpha", "expected a list, found a number" },
    { OP, KEY("Add") ",\"op_id\":1,\"alpha\":[1.0,`\"x\"]}", XIR_E_TYPE, "/ops/0/alpha/1", "expected icraft::xir::ScalarImm, found the text \"x\"" },
    { OP, KEY("Add") ",\"op_id\":1,\"alpha\":[`18446744073709551615]}", XIR_E_BOUNDS, "/ops/0/alpha/0", "does not fit 64 bits with a sign" },
    { OP, KEY("Add") ",\"op_id\":1,\"alpha\":[`null]}", XIR_E_TYPE, "/ops/0/alpha/0", "found null" },
    { OP, KEY("AlignAxis") ",\"op_id\":1,\"aligned_units\":[`3]}", XIR_E_TYPE, "/ops/0/aligned_units/0", "expected icraft::xir::AlignedUnit" },
    { OP, KEY("AlignAxis") ",\"op_id\":1,\"aligned_units\":[" KEY("AlignedUnit") ",\"index\":[1,`1.5]}]}", XIR_E_TYPE,
      "/ops/0/aligned_units/0/index/1", "expected an integer, found 1.5" },
    { OP, KEY("PruneAxis") ",\"op_id\":1,\"index\":`0}", XIR_E_TYPE, "/ops/0/index", "expected a list, found a number" },
    { OP, KEY("PruneAxis") ",\"op_id\":1,\"index\":[0,1,`true]}", XIR_E_TYPE, "/ops/0/index/2", "expected a number" },
    { OP, KEY("PruneAxis") ",\"op_id\":1,\"index\":[0`;1]}", XIR_E_SYNTAX, "", "expected ',' or ']', found ';'" },
    { OP, HARD_ ",\"device_info\":`[]}",       XIR_E_TYPE,    "/ops/0/device_info", "expected a map, found a list" },
    { OP, HARD_ ",\"instr\":`7}",              XIR_E_TYPE,    "/ops/0/instr", "expected a list, found a number" },
    { OP, HARD_ ",\"instr\":[`null]}",         XIR_E_TYPE,    "/ops/0/instr/0", "expected icraft::xir::Params, found null" },
    { OP, HARD_ ",\"instr\":[`" VAL("3") "]}", XIR_E_TYPE,    "/ops/0/instr/0", "expected icraft::xir::Params, found icraft::xir::Value" },
    { OP, HARD_ ",\"params\":[" PAR("3") ",`" KEY("Params") ",\"dtype\":\"@fp(32)\",\"v_id\":3}]}", XIR_E_CORRUPT,
      "/ops/0/params/1", "this copy of v_id 3 differs from the one at /ops/0/params/0" },
    { OP, HARD_ ",\"params\":`" PAR("3") "}",  XIR_E_TYPE,    "/ops/0/params", "expected a list, found a map" },
    { OP, HARD_ ",\"sub_hard_ops\":[`1]}",     XIR_E_TYPE,    "/ops/0/sub_hard_ops/0", "expected an op, found a number" },
    { OP, HARD_ ",\"sub_hard_ops\":[" KEY("HardOp") ",\"op_id\":`1}]}", XIR_E_EXISTS, "/ops/0/sub_hard_ops/0/op_id", "op_id 1" },
    { OP, HARD_ ",\"sub_hard_ops\":[" KEY("HardOp") ",\"op_id\":2,\"sub_hard_ops\":[" KEY("HardOp") ",\"op_id\":3,\"layer_count\":`\"\"}]}]}",
      XIR_E_TYPE, "/ops/0/sub_hard_ops/0/sub_hard_ops/0/layer_count", "expected a number" },

    /* values */
    { OP, RELU_ ",\"inputs\":`{}}",            XIR_E_TYPE,    "/ops/0/inputs", "expected a list, found a map" },
    { OP, RELU_ ",\"outputs\":`null}",         XIR_E_TYPE,    "/ops/0/outputs", "expected a list, found null" },
    { INPUTS, "`1",                            XIR_E_TYPE,    "/ops/0/inputs/0", "expected a value or null, found a number" },
    { INPUTS, "null,`[]",                      XIR_E_TYPE,    "/ops/0/inputs/1", "expected a value or null, found a list" },
    { INPUTS, "`{}",                           XIR_E_MISSING, "/ops/0/inputs/0", "a value needs _type_key" },
    { INPUTS, "`" KEY("Value") ",\"dtype\":null}", XIR_E_MISSING, "/ops/0/inputs/0", "a value needs v_id" },
    { INPUTS, "`" KEY("Value") ",\"v_id\":1}", XIR_E_MISSING, "/ops/0/inputs/0", "a value needs dtype" },
    { INPUTS, "{\"_type_key\":`\"icraft::xir::Tensor\",\"dtype\":null,\"v_id\":1}", XIR_E_TYPE,
      "/ops/0/inputs/0/_type_key", "found icraft::xir::Tensor" },
    { INPUTS, KEY("Value") ",\"dtype\":null,\"v_id\":`-1}", XIR_E_BOUNDS, "/ops/0/inputs/0/v_id", "v_id -1 is outside" },
    { INPUTS, KEY("Value") ",\"dtype\":null,\"v_id\":`1.5}", XIR_E_TYPE, "/ops/0/inputs/0/v_id", "expected an integer" },
    { INPUTS, KEY("Value") ",\"dtype\":null,\"v_id\":1,\"v_id\":`1}", XIR_E_EXISTS, "/ops/0/inputs/0/v_id", "appears twice" },
    { INPUTS, KEY("Value") ",\"dtype\":null,\"name\":`{},\"v_id\":1}", XIR_E_TYPE, "/ops/0/inputs/0/name", "expected a text" },
    { INPUTS, KEY("Value") ",\"dtype\":null,\"tags\":`0,\"v_id\":1}", XIR_E_TYPE, "/ops/0/inputs/0/tags", "expected a map" },
    { INPUTS, KEY("Value") ",\"dtype\":null,\"mtype\":`null,\"v_id\":1}", XIR_E_TYPE, "/ops/0/inputs/0/mtype", "expected icraft::xir::MemType" },
    { INPUTS, KEY("Value") ",\"dtype\":null,\"mtype\":\"@ocm(`x)\",\"v_id\":1}", XIR_E_SYNTAX, "/ops/0/inputs/0/mtype", "" },
    { INPUTS, KEY("Value") ",\"dtype\":null,\"mtype\":\"@ocm(`18446744073709551616)\",\"v_id\":1}", XIR_E_BOUNDS, "/ops/0/inputs/0/mtype", "" },
    { INPUTS, "`{\"_allow_no_data\":true,\"_type_key\":\"icraft::xir::Value\",\"dtype\":null,\"v_id\":1}", XIR_E_TYPE,
      "/ops/0/inputs/0", "only icraft::xir::Params has _allow_no_data" },
    { INPUTS, "{\"_allow_no_data\":`1,\"_type_key\":\"icraft::xir::Params\",\"dtype\":null,\"v_id\":1}", XIR_E_TYPE,
      "/ops/0/inputs/0/_allow_no_data", "expected true or false" },
    { INPUTS, PAR("1") ",`" VAL("1"),          XIR_E_CORRUPT, "/ops/0/inputs/1", "differs from the one at /ops/0/inputs/0" },
    { INPUTS, VAL("1") ",`" KEY("Value") ",\"dtype\":null,\"name\":\"x\",\"v_id\":1}", XIR_E_CORRUPT, "/ops/0/inputs/1",
      "this copy of v_id 1 differs from the one at /ops/0/inputs/0" },
    { INPUTS, VAL("1") ",`" KEY("Value") ",\"dtype\":null,\"tags\":{\"a\":1},\"v_id\":1}", XIR_E_CORRUPT, "/ops/0/inputs/1", "differs" },
    { INPUTS, VAL("1") ",`" KEY("Value") ",\"dtype\":null,\"mtype\":\"@ocm(1)\",\"v_id\":1}", XIR_E_CORRUPT, "/ops/0/inputs/1", "differs" },
    { INPUTS, VAL("1") ",`" KEY("Value") ",\"dtype\":null,\"v_id\":1,\"new\":1}", XIR_E_CORRUPT, "/ops/0/inputs/1", "differs" },
    { INPUTS, PAR("1") ",`{\"_allow_no_data\":true,\"_type_key\":\"icraft::xir::Params\",\"dtype\":null,\"v_id\":1}",
      XIR_E_CORRUPT, "/ops/0/inputs/1", "differs" },
    { OUTPUTS, "`null",                        XIR_E_TYPE,    "/ops/0/outputs/0", "expected icraft::xir::Value, found null" },
    { OUTPUTS, "`" PAR("1"),                   XIR_E_TYPE,    "/ops/0/outputs/0", "expected icraft::xir::Value, found icraft::xir::Params" },
    { OUTPUTS, VAL("1") ",`" VAL("1"),         XIR_E_EXISTS,  "/ops/0/outputs/1", "v_id 1 is already used by another value" },
    { OPS, "[" RELU_ ",\"outputs\":[" VAL("4") "]}," KEY("ReLU") ",\"op_id\":2,\"outputs\":[`" VAL("4") "]}]",
      XIR_E_EXISTS, "/ops/1/outputs/0", "v_id 4 is already used by another value" },
    { OPS, "[" RELU_ ",\"inputs\":[" PAR("4") "]}," KEY("ReLU") ",\"op_id\":2,\"outputs\":[`" VAL("4") "]}]",
      XIR_E_EXISTS, "/ops/1/outputs/0", "v_id 4 is already used by another value" },
    { OPS, "[" RELU_ ",\"inputs\":[" VAL("4") "]}," KEY("ReLU") ",\"op_id\":2,\"outputs\":[`" KEY("Value") ",\"dtype\":\"@bool\",\"v_id\":4}]}]",
      XIR_E_CORRUPT, "/ops/1/outputs/0", "this copy of v_id 4 differs from the one at /ops/0/inputs/0" },
    { OPS, "[" RELU_ ",\"outputs\":[" VAL("4") "]}," KEY("ReLU") ",\"op_id\":2,\"inputs\":[null,`" KEY("Value") ",\"dtype\":\"@bool\",\"v_id\":4}]}]",
      XIR_E_CORRUPT, "/ops/1/inputs/1", "this copy of v_id 4 differs from the one at /ops/0/outputs/0" },
    { OP, "{\"_type_key\":\"someone::Op\",\"op_id\":1,\"a\":[{\"b\":" PAR("4") "}],\"c\":`" KEY("Params") ",\"dtype\":\"@bool\",\"v_id\":4}}",
      XIR_E_CORRUPT, "/ops/0/c", "differs from the one at /ops/0/a/0/b" },

    /* duplicate keys, one of them in a repeated part */
    { OPS, "[" KEY("ReLU") ",\"op_id\":1,\"alpha\":1,\"threshold\":2}," KEY("ReLU") ",\"alpha\":1,\"op_id\":2,\"alpha\":`1,\"threshold\":2}]",
      XIR_E_EXISTS, "/ops/1/alpha", "the key \"alpha\" appears twice" },
    { INPUTS, KEY("Value") ",\"dtype\":null,\"mtype\":\"@hostm\",\"name\":\"\",\"tags\":{},\"v_id\":1}," KEY("Value")
      ",\"name\":\"\",\"dtype\":null,\"mtype\":\"@hostm\",\"name\":`\"\",\"tags\":{},\"v_id\":2}", XIR_E_EXISTS, "/ops/0/inputs/1/name",
      "the key \"name\" appears twice" },
    { OP,
      "{\"_type_key\":\"someone::Op\",\"op_id\":1,\"a\":{\"_type_key\":\"x\",\"_type_key\":`\"icraft::xir::Params\"}}",
      XIR_E_EXISTS, "/ops/0/a", "the key \"_type_key\" appears twice" },
    { OPS, "[" KEY("ReLU") ",\"op_id\":1,\"alpha\":1}," KEY("ReLU") ",\"op_id\":2,\"alpha\":1`x}]", XIR_E_SYNTAX, "/ops/1", "found 'x'" },
    { OPS, "[" KEY("ReLU") ",\"op_id\":1,\"alpha\":1}," KEY("ReLU") ",\"op_id\":2,\"alpha\":`1e400}]", XIR_E_BOUNDS, "/ops/1/alpha", "" },

    /* types */
    { TYPE, "`7",                              XIR_E_TYPE,    "/ops/0/outputs/0/dtype", "expected icraft::xir::DataType, found a number" },
    { TYPE, "`\"fp32\"",                       XIR_E_TYPE,    "/ops/0/outputs/0/dtype", "found the text \"fp32\"" },
    { TYPE, "`\"@hostm\"",                     XIR_E_TYPE,    "/ops/0/outputs/0/dtype", "found icraft::xir::HostMem" },
    { TYPE, "\"@fp(`31)\"",                    XIR_E_BOUNDS,  "/ops/0/outputs/0/dtype", "" },
    { TYPE, "\"@sint(`0)\"",                   XIR_E_BOUNDS,  "/ops/0/outputs/0/dtype", "" },
    { TYPE, "\"@sint(8`\"",                    XIR_E_SYNTAX,  "/ops/0/outputs/0/dtype", "expected ')'" },
    { TYPE, "`{}",                             XIR_E_MISSING, "/ops/0/outputs/0/dtype", "found a map without _type_key" },
    { TYPE, "`" KEY("ReLU") "}",               XIR_E_TYPE,    "/ops/0/outputs/0/dtype", "found icraft::xir::ReLU" },
    { TYPE, "`" KEY("DataType") "}",           XIR_E_TYPE,    "/ops/0/outputs/0/dtype", "is a family" },
    { TYPE, "`" KEY("FloatType") "}",          XIR_E_TYPE,    "/ops/0/outputs/0/dtype", "as one text, found a map" },
    { TYPE, "`" KEY("AlignedUnit") "}",        XIR_E_TYPE,    "/ops/0/outputs/0/dtype", "found icraft::xir::AlignedUnit" },
    { TYPE, "`" TENSOR(""),                    XIR_E_MISSING, "/ops/0/outputs/0/dtype", "icraft::xir::TensorType needs element_dtype" },
    { TYPE, "`" TENSOR(",\"element_dtype\":\"@bool\""), XIR_E_MISSING, "/ops/0/outputs/0/dtype", "icraft::xir::TensorType needs layout" },
    { TYPE, "`" TENSOR(",\"element_dtype\":null,\"layout\":\"@layout(C)\""), XIR_E_MISSING, "/ops/0/outputs/0/dtype", "needs element_dtype" },
    { TYPE, TENSOR(",\"element_dtype\":\"@bool\",\"layout\":\"@layout(N`X)\""), XIR_E_SYNTAX, "/ops/0/outputs/0/dtype/layout", "'X'" },
    { TYPE, TENSOR(",\"element_dtype\":\"@bool\",\"layout\":`\"NHWC\""), XIR_E_TYPE, "/ops/0/outputs/0/dtype/layout", "found the text \"NHWC\"" },
    { TYPE, TENSOR(",\"element_dtype\":\"@bool\",\"layout\":\"@layout(C)\",\"shape\":`3"), XIR_E_TYPE, "/ops/0/outputs/0/dtype/shape", "expected a list" },
    { TYPE, TENSOR(",\"element_dtype\":\"@bool\",\"layout\":\"@layout(C)\",\"shape\":[3,`null]"), XIR_E_TYPE, "/ops/0/outputs/0/dtype/shape/1", "expected a number, found null" },
    { TYPE, TENSOR(",\"element_dtype\":\"@bool\",\"layout\":\"@layout(C)\",\"shape\":[3`"), XIR_E_SYNTAX, "", "" },
    { TYPE, TENSOR(",\"element_dtype\":\"@bool\",\"layout\":\"@layout(C)\",\"merged_distrs\":[\"@merged_distr([3]:`x\"]"), XIR_E_SYNTAX, "/ops/0/outputs/0/dtype/merged_distrs/0", "" },
    { TYPE, TENSOR(",\"layout\":\"@layout(C)\",\"layout\":`\"@layout(C)\""), XIR_E_EXISTS, "/ops/0/outputs/0/dtype/layout", "appears twice" },
    { TYPE, TENSOR(",\"element_dtype\":" KEY("QuantizedType") ",\"scale\":\"@scales([axis=-1]1)\",\"storage_dtype\":\"@sint(8)\",\"expressed_dtype\":`5}"),
      XIR_E_TYPE, "/ops/0/outputs/0/dtype/element_dtype/expressed_dtype", "expected icraft::xir::DataType" },
    { TYPE, TENSOR(",\"element_dtype\":" KEY("CalibratedType") ",\"min\":[`\"low\"]}"), XIR_E_TYPE, "/ops/0/outputs/0/dtype/element_dtype/min/0", "found \"low\"" },
};

/* Removes the mark, and returns its place. */
static char *unmarked(const bad *row, size_t *size, uint64_t *byte) {
    paper p = { 0 };
    put(&p, "%s", around[row->in][0]);
    const char *mark = strchr(row->text, '`');
    assert_non_null(mark);
    put_bytes(&p, row->text, (size_t)(mark - row->text));
    *byte = p.size;
    put(&p, "%s%s", mark + 1, row->in == WHOLE ? "" : around[row->in][1]);
    *size = p.size;
    return p.data;
}

static bool holds(xir_str text, const char *words) {
    return memmem(text.data ? text.data : "", text.size, words, strlen(words)) != NULL;
}

static void malformed_networks_are_refused_at_the_wrong_byte(void **state) {
    (void)state;
    int wrong = 0;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        const bad *row = &table[i];
        size_t size;
        uint64_t byte;
        char *text = unmarked(row, &size, &byte);
        xir_network *net = read_net(text, size);
        const xir_diag *d = xir_diags_at(why, 0);
        bool ok = !net && xir_diags_count(why) == 1 && d->code == row->status && d->severity == XIR_ERROR &&
                  xir_str_equal(d->file, XIR_STR("test.json")) && holds(d->message, row->sentence);
        if (*row->sentence || *row->path) ok = ok && d->byte == byte && d->column == byte + 1 && d->line == 1;
        if (*row->path) ok = ok && xir_str_equal(d->path, xir_str_of(row->path));
        if (!ok) {
            fprintf(stderr, "%s\n  was expected: byte %" PRIu64 ", %s, %s, %s; was found", text, byte,
                    xir_status_name(row->status), row->path, row->sentence);
            if (d) fprintf(stderr, " byte %" PRIu64 ", %s, ", d->byte, xir_status_name(d->code));
            show_findings();
            wrong++;
        }
        xir_diags_clear(why);
        xir_network_free(net);
        free(text);
    }
    assert_int_equal(wrong, 0);
}

/* ---- damage ------------------------------------------------------------------------------------------------ */

/* Two small networks that have something of everything. */
static const char *const whole[] = {
    SMALL,
    NETWORK_OF("3.6.2.82",
        "{\"_type_key\":\"icraft::xir::HardOp\",\"compile_target\":\"@zhuget(330)\",\"device_info\":{\"a\":4294972444},\"inputs\":["
        PARAM("0", "1,2,2,3") ",null," VALUE("1", "1,2") "],\"instr\":" PARAM("2", "3") ",\"layer_count\":0,\"name\":\"\\u0041\xC3\xA9\","
        "\"op_id\":7,\"origin_ops_id\":[1,-2],\"outputs\":[" VALUE("3", "4") "],\"params\":[],\"sub_hard_ops\":[" KEY("HardOp")
        ",\"inputs\":[],\"op_id\":9,\"outputs\":[" VALUE("4", "") "]}],\"tags\":{\"ReadState\":[0,21.5],\"io\":true}},"
        "{\"_type_key\":\"someone::Op\",\"gamma\":" PARAM("5", "3") ",\"inputs\":[" VALUE("3", "4") "],\"op_id\":1,\"outputs\":["
        KEY("Value") ",\"dtype\":" TENSOR(",\"element_dtype\":" KEY("QuantizedType") ",\"expressed_dtype\":\"@fp(32)\",\"scale\":"
        "\"@scales([axis=-1]3*0.5,1e-05)\",\"storage_dtype\":\"@sint(8)\",\"zero_points\":[1]},\"layout\":\"@layout(NCHWc32)\",\"merged_distrs\":"
        "[\"@merged_distr([1, 4]:{v:[0, 1), u:[1, 9)})\"],\"shape\":[1,-1]") ",\"mtype\":\"@chunk(1@2)\",\"name\":\"\",\"tags\":{},\"v_id\":8}]},"
        "{\"_type_key\":\"icraft::xir::Conv2d\",\"cut_scale\":\"@exp_scales([axis=-1]3/3/0.377)\",\"op_id\":2,\"padding_mode\":\"REFLECT\"}"),
};

/* Refused with one finding and nothing left, or written so that it is read back as the same. */
static void check_survives(const char *text, size_t size) {
    xir_network *net = read_net(text, size);
    assert_int_equal(xir_diags_count(why), net ? 0 : 1);
    xir_diags_clear(why);
    if (!net) return;
    xir_text_buffer once;
    assert_int_equal(xir_json_print(net, 0, &once), XIR_OK);
    xir_network *again = must_read(once.data, once.size);
    check_prints(again, 0, once.data, once.size);
    xir_network_free(again);
    xir_text_free(&once);
    xir_network_free(net);
}

static void networks_cut_anywhere_are_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        size_t size = strlen(whole[i]);
        xir_network_free(must_read(whole[i], size));
        for (size_t n = 0; n < size; n++) {
            xir_network *net = read_net(whole[i], n);
            assert_null(net);
            assert_int_equal(xir_diags_count(why), 1);
            assert_true(xir_diags_at(why, 0)->byte <= n);
            xir_diags_clear(why);
        }
    }
}

static void networks_changed_anywhere_are_survived(void **state) {
    (void)state;
    static const char common[] = "\"\\{}[],:0-.eE u\n\x80\xC3\xED\xF4@()^*_n";
    for (size_t i = 0; i < 2; i++) {
        size_t size = strlen(whole[i]);
        char *text = block_of(whole[i], size);
        for (size_t at = 0; at < size; at++) {
            char was = text[at];
            for (int k = 0; k < 6; k++) {
                text[at] = k < 4 ? (char)(was ^ (1 << chance(8))) : common[chance(sizeof common - 1)];
                check_survives(text, size);
            }
            text[at] = was;
        }
        free(text);
    }
}

/* Parts of random networks are removed, doubled, exchanged. */
static void networks_torn_anywhere_are_survived(void **state) {
    (void)state;
    for (int i = 0; i < 400; i++) {
        paper p = random_network(4), q = { 0 };
        size_t from = chance(p.size), n = chance(p.size - from + 1), to = chance(p.size);
        if (now_and_then(2)) n = chance(n % 40 + 1);
        put_bytes(&q, p.data, now_and_then(2) ? from : to);
        put_bytes(&q, p.data + from, n);
        put_bytes(&q, p.data + to, p.size - to);
        check_survives(q.data, q.size);
        free(q.data);
        free(p.data);
    }
}

static void limits_hold(void **state) {
    (void)state;
    xir_limits limits = XIR_INIT(xir_limits), small;
    assert_int_equal(xir_context_limits(ctx, &limits, why), XIR_OK);
    small = limits;
    small.max_bytes = 1000;
    xir_context_set_limits(ctx, &small, why);
    assert_null(read_net(SMALL, strlen(SMALL)));
    check_finding(XIR_E_LIMIT, "bytes are more than the limit of 1000");
    small = limits;
    small.max_depth = 6;
    xir_context_set_limits(ctx, &small, why);
    assert_null(read_net(SMALL, strlen(SMALL)));
    check_finding(XIR_E_LIMIT, "values are nested deeper than 6");
    xir_context_set_limits(ctx, &limits, why);
    /* Sub ops of sub ops. */
    paper p = { 0 };
    put(&p, KEY("Network") ",\"ops\":[");
    for (int i = 0; i < 100; i++) put(&p, "%s" KEY("HardOp") ",\"op_id\":%d,\"sub_hard_ops\":[", i ? "" : "", i);
    for (int i = 0; i < 100; i++) put(&p, "]}");
    put(&p, "]}");
    assert_null(read_net(p.data, p.size));
    check_finding(XIR_E_LIMIT, "nested deeper than 128");
    free(p.data);
}

static void findings_in_files_have_lines(void **state) {
    (void)state;
    static const char text[] =
        "{\n  \"_type_key\": \"icraft::xir::Network\",\n  \"ops\": [\n    {\n      \"_type_key\": "
        "\"icraft::xir::ReLU\",\n"
                               "      \"op_id\": 0,\n      \"alpha\": \"x\"\n    }\n  ]\n}\n";
    assert_null(read_net(text, strlen(text)));
    const xir_diag *d = xir_diags_at(why, 0);
    assert_int_equal(d->line, 7);
    assert_int_equal(d->column, 16);
    assert_true(xir_str_equal(d->path, XIR_STR("/ops/0/alpha")));
    xir_diags_clear(why);
    /* Without a list only the status remains. */
    assert_null(xir_json_read(ctx, XIR_STR("{"), XIR_STR(""), NULL));
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(malformed_networks_are_refused_at_the_wrong_byte),
        cmocka_unit_test(networks_cut_anywhere_are_refused),
        cmocka_unit_test(networks_changed_anywhere_are_survived),
        cmocka_unit_test(networks_torn_anywhere_are_survived),
        cmocka_unit_test(limits_hold),
        cmocka_unit_test(findings_in_files_have_lines),
    };
    return RUN_GROUP(tests);
}
