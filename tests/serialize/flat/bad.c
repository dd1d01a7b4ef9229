/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Malformed FlatBuffers files: each is refused with its status, its byte, its place in the network and a message. Files
 * are made by hand and then spoiled at places that have names (support/flat_make.h). */
#include <stdio.h>
#include "support/flat_make.h"
#include "support/net.h"

typedef struct bad {
    const char *fb;        /* the file to spoil                                  */
    const char *changes;   /* for flat_spoil; "" if the file is malformed already */
    xir_status  status;
    const char *byte;      /* the name of its place                              */
    const char *path;
    const char *sentence;  /* a part of the message                              */
} bad;

/* `sees`: the verifier refuses it; otherwise only the reader does. */
static void check(const bad *b, size_t i, bool sees) {
    xir_diags_clear(why);
    flat_made m = flat_make(ctx, b->fb);
    size_t byte = flat_spot_at(&m, b->byte);
    flat_spoil(&m, b->changes);
    for (int twice = 0; twice < 2; twice++) {
        xir_status status = XIR_OK;
        uint8_t *exact = malloc(m.size ? m.size : 1);
        memcpy(exact, m.data, m.size);
        if (twice) {
            xir_network *net = flat_read_bytes(ctx, m.data, m.size, why);
            if (net) fail_msg("row %zu (%s): it was read", i, b->changes);
        } else {
            status = xir_flat_verify(ctx, exact, m.size, XIR_STR("x.fb"), why);
        }
        free(exact);
        size_t n = xir_diags_count(why);
        if (!twice && !sees) {
            if (status != XIR_OK || n) {
                xir_diags_print(why, stderr);
                fail_msg("row %zu (%s): the verifier refuses it", i, b->changes);
            }
            continue;
        }
        const xir_diag *d = n == 1 ? xir_diags_at(why, 0) : NULL;
        bool right = d && d->code == b->status && d->byte == byte && xir_str_equal(d->path, xir_str_of(b->path));
        right = right && (twice || status == b->status);
        char sentence[700];
        if (d) snprintf(sentence, sizeof sentence, "%.*s", (int)d->message.size, d->message.data);
        if (!right || !strstr(sentence, b->sentence)) {
            xir_diags_print(why, stderr);
            fail_msg("row %zu (%s): expected %s at byte %zu, %s: %s; found %s at byte %d", i, b->changes,
                     xir_status_name(b->status), byte, b->path,
                     b->sentence, d ? xir_status_name(d->code) : "nothing", d ? (int)d->byte : -1);
        }
        xir_diags_clear(why);
    }
    flat_made_free(&m);
}

#define CHECK_ALL(rows, sees) for (size_t i = 0; i < COUNT(rows); i++) check(&(rows)[i], i, sees)

#define BOOL_TYPE "'dtype_type':'BoolType','dtype':{}"
#define ABS \
    "{'name':'net','ops_type':['Input','Abs'],'ops':[{'outputs_type':['Value'],'outputs':[{'v_id':5," BOOL_TYPE "}]}," \
    "{'op_id':1,'name':'abs','inputs_type':['Value'],'inputs':[{'v_id':5," BOOL_TYPE "}],'outputs_type':['Value'],"    \
    "'outputs':[{'v_id':6,'name':'out'," BOOL_TYPE "}],'compile_target_type':'ZhugeTarget','compile_target':{'core':'330'},'tags':'{}'}]}"
#define CONV \
    "{'ops_type':['Conv2d'],'ops':[{'stride_width':1,'padding_mode':'ZEROS','cut_scale_type':'QuantizedScaleArray','cut_scale':{'axis':-1,'origin_scale':[1]},'op_id':3}]}"
#define ADD \
    "{'ops_type':['Add'],'ops':[{'alpha_type':['IntImm','FloatImm'],'alpha':[{'value':1},{'value':2}],'op_id':9}]}"
#define HARD \
    "{'ops_type':['HardOp'],'ops':[{'params':[{'v_id':1," BOOL_TYPE ",'_data':[1]}],'origin_ops_id':[1,2],'sub_hard_ops':[{'op_id':2}],'extra_params':[{'v_id':2," BOOL_TYPE "}]}]}"
#define EMPTY "{}"

static void the_beginning(void **state) {
    (void)state;
    static const bad rows[] = {
        { EMPTY, "cut ^+0",             XIR_E_BOUNDS,  "^",   "", "0 bytes are too few" },
        { EMPTY, "cut ^+7",             XIR_E_BOUNDS,  "^",   "", "7 bytes are too few" },
        { EMPTY, "u32 ^ = 0",           XIR_E_CORRUPT, "^",   "", "an offset of 0 leads nowhere" },
        { EMPTY, "u32 ^ = 9",           XIR_E_CORRUPT, "^",   "", "byte 9, expected a multiple of 4" },
        { EMPTY, "u32 ^ = 1000",        XIR_E_BOUNDS,  "^",   "", "leads to byte 1000, the file has" },
        { EMPTY, "u32 ^ = 0x80000000",  XIR_E_BOUNDS,  "^",   "", "leads to byte 2147483648" },
        { EMPTY, "u32 ^ = 0xFFFFFFFC",  XIR_E_BOUNDS,  "^",   "", "leads to byte 4294967292" },
        { EMPTY, "u32 ^ >= @$",         XIR_E_BOUNDS,  "^",   "", "an offset leads to byte" },
    };
    CHECK_ALL(rows, true);
}

static void vtables(void **state) {
    (void)state;
    static const bad rows[] = {
        { ABS, "u32 root = 0x7FFFFFFF",   XIR_E_BOUNDS,  "",           "",       "the vtable of Network is at byte -" },
        { ABS, "u32 root = 0x80000000",   XIR_E_BOUNDS,  "",           "",       "expected an even byte in the file" },
        { ABS, "u32 root += 1",           XIR_E_BOUNDS,  "",           "",       "expected an even byte in the file" },
        { ABS, "u32 root <= @$-2",        XIR_E_BOUNDS,  "",           "",       "expected an even byte in the file" },
        { ABS, "u32 root <= @$",          XIR_E_BOUNDS,  "",           "",       "expected an even byte in the file" },
        { ABS, "u16 : = 0",               XIR_E_BOUNDS,  ":",          "",       "a vtable of 0 bytes" },
        { ABS, "u16 : = 2",               XIR_E_BOUNDS,  ":",          "",       "a vtable of 2 bytes" },
        { ABS, "u16 : += 1",              XIR_E_BOUNDS,  ":",          "",       "expected an even size from 4 on" },
        { ABS, "u16 : = 0xFFFE",          XIR_E_BOUNDS,  ":",          "",       "a vtable of 65534 bytes" },
        { ABS, "u16 :+2 = 0",             XIR_E_BOUNDS,  ":+2",        "",       "a table of 0 bytes" },
        { ABS, "u16 :+2 = 3",             XIR_E_BOUNDS,  ":+2",        "",       "a table of 3 bytes" },
        { ABS, "u16 :+2 = 0xFFFF",        XIR_E_BOUNDS,  "",           "",       "Network takes 65535 bytes" },
        { ABS, "u16 :+2 = 4",             XIR_E_BOUNDS,  ":name",      "/name",  "does not fit its table of 4 bytes" },
        { ABS, "u16 :name = 2",           XIR_E_BOUNDS,  ":name",      "/name",  "a field of 4 bytes at 2 does not fit" },
        { ABS, "u16 :name = 5",           XIR_E_CORRUPT, ":name",      "/name",  "a field of 4 bytes is misaligned at byte" },
        { ABS, "u16 :name = 0xFFFC",      XIR_E_BOUNDS,  ":name",      "/name",  "at 65532" },
        { ABS, "u16 /ops/1:op_id = 12",   XIR_E_CORRUPT, "/ops/1:op_id", "/ops/1/op_id", "a field of 8 bytes is misaligned at byte" },
        { ABS, "u16 /ops/1:op_id = 1",    XIR_E_BOUNDS,  "/ops/1:op_id", "/ops/1/op_id", "a field of 8 bytes at 1" },
        { ABS, "u16 /ops/1:+2 = 12",      XIR_E_BOUNDS,  "/ops/1:op_id", "/ops/1/op_id", "does not fit its table of 12 bytes" },
        { ABS, "u16 /ops/1:compile_target_type = 0xFFFF", XIR_E_BOUNDS, "/ops/1:compile_target_type", "/ops/1/compile_target", "a field of 1 bytes at 65535" },
        { ABS, "u16 :ops_type = 0",       XIR_E_CORRUPT, ":",          "/ops",   "a union has only values" },
        { ABS, "u16 :ops = 0",            XIR_E_CORRUPT, ":",          "/ops",   "a union has only tags" },
        { ABS, "u16 /ops/1:compile_target_type = 0", XIR_E_CORRUPT, "/ops/1:", "/ops/1/compile_target", "a union has only values" },
        { ABS, "u32 /ops/0 += 1",         XIR_E_BOUNDS,  "/ops/0",     "/ops/0", "the vtable of Input is at byte" },
        { ABS, "u32 /ops/1/inputs/0 = 0x7FFFFFFE", XIR_E_BOUNDS, "/ops/1/inputs/0", "/ops/1/inputs/0", "the vtable of Value" },
        { ABS, "u32 /ops/1/outputs/0/dtype = 3", XIR_E_BOUNDS, "/ops/1/outputs/0/dtype", "/ops/1/outputs/0/dtype", "the vtable of BoolType" },
        { CONV, "u16 /ops/0:stride_width = 6", XIR_E_CORRUPT, "/ops/0:stride_width", "/ops/0/stride_width", "a field of 8 bytes is misaligned at byte" },
        { CONV, "u16 /ops/0:cut_scale = 0xFFFC", XIR_E_BOUNDS, "/ops/0:cut_scale", "/ops/0/cut_scale", "a field of 4 bytes at 65532" },
    };
    CHECK_ALL(rows, true);
}

static void offsets(void **state) {
    (void)state;
    static const bad rows[] = {
        { ABS, "u32 .name = 0",                XIR_E_CORRUPT, ".name",               "/name", "an offset of 0" },
        { ABS, "u32 .name += 1",               XIR_E_CORRUPT, ".name",               "/name", "expected a multiple of 4" },
        { ABS, "u32 .name += 2",               XIR_E_CORRUPT, ".name",               "/name", "expected a multiple of 4" },
        { ABS, "u32 .name = 0xFFFFFFFF",       XIR_E_CORRUPT, ".name",               "/name", "expected a multiple of 4" },
        { ABS, "u32 .ops = 0",                 XIR_E_CORRUPT, ".ops",                "/ops",  "an offset of 0" },
        { ABS, "u32 .ops = 0x7FFFFF00",        XIR_E_BOUNDS,  ".ops",                "/ops",  "the file has" },
        { ABS, "u32 .ops_type = 0",            XIR_E_CORRUPT, ".ops_type",           "/ops",  "an offset of 0" },
        { ABS, "u32 .ops_type += 0x10000",     XIR_E_BOUNDS,  ".ops_type",           "/ops",  "the file has" },
        { ABS, "u32 /ops[1] = 0",                  XIR_E_CORRUPT, "/ops[1]",             "/ops/1", "an offset of 0" },
        { ABS, "u32 /ops[1] += 1",                 XIR_E_CORRUPT, "/ops[1]",             "/ops/1", "expected a multiple of 4" },
        { ABS, "u32 /ops[0] = 0x40000000",         XIR_E_BOUNDS,  "/ops[0]",             "/ops/0", "the file has" },
        { ABS, "u32 /ops/1.name = 0",              XIR_E_CORRUPT, "/ops/1.name",         "/ops/1/name", "an offset of 0" },
        { ABS, "u32 /ops/1.tags += 0x1000",        XIR_E_BOUNDS,  "/ops/1.tags",         "/ops/1/tags", "the file has" },
        { ABS, "u32 /ops/1.compile_target = 0",    XIR_E_CORRUPT, "/ops/1.compile_target", "/ops/1/compile_target", "an offset of 0" },
        { ABS, "u32 /ops/1/compile_target.core = 0", XIR_E_CORRUPT, "/ops/1/compile_target.core", "/ops/1/compile_target/core", "an offset of 0" },
        { ABS, "u32 /ops/1/inputs/0.dtype += 3",   XIR_E_CORRUPT, "/ops/1/inputs/0.dtype", "/ops/1/inputs/0/dtype", "expected a multiple" },
        { ABS, "u32 /ops/1/outputs/0.name += 4096", XIR_E_BOUNDS, "/ops/1/outputs/0.name", "/ops/1/outputs/0/name", "the file has" },
        { CONV, "u32 /ops/0.padding_mode = 0",     XIR_E_CORRUPT, "/ops/0.padding_mode", "/ops/0/padding_mode", "an offset of 0" },
        { CONV, "u32 /ops/0/cut_scale.origin_scale = 1", XIR_E_CORRUPT, "/ops/0/cut_scale.origin_scale", "/ops/0/cut_scale/origin_scale", "expected a multiple" },
        { ADD, "u32 /ops/0/alpha[1] = 0",          XIR_E_CORRUPT, "/ops/0/alpha[1]",     "/ops/0/alpha/1", "an offset of 0" },
        { HARD, "u32 /ops/0/params[0] = 0",        XIR_E_CORRUPT, "/ops/0/params[0]",    "/ops/0/params/0", "an offset of 0" },
        { HARD, "u32 /ops/0/params/0._data = 0",   XIR_E_CORRUPT, "/ops/0/params/0._data", "/ops/0/params/0/_data", "an offset of 0" },
        { HARD, "u32 /ops/0/sub_hard_ops[0] = 2",  XIR_E_CORRUPT, "/ops/0/sub_hard_ops[0]", "/ops/0/sub_hard_ops/0", "expected a multiple" },
        { HARD, "u32 /ops/0/extra_params[0] = 0x7FFFFFFC", XIR_E_BOUNDS, "/ops/0/extra_params[0]", "/ops/0/extra_params/0", "the file has" },
    };
    CHECK_ALL(rows, true);
}

static void lengths_and_texts(void **state) {
    (void)state;
    static const bad rows[] = {
        { ABS, "u32 /name = 0xFFFFFFFF",           XIR_E_BOUNDS,  "/name",               "/name", "a text of 4294967295 bytes" },
        { ABS, "u32 /name = 100000",               XIR_E_BOUNDS,  "/name",               "/name", "a text of 100000 bytes and its terminating zero do not fit" },
        { ABS, "u32 /name = 2",                    XIR_E_CORRUPT, "/name+6",             "/name", "the terminating zero of a text is missing" },
        { ABS, "u8 /name+7 = 1",                   XIR_E_CORRUPT, "/name+7",             "/name", "the terminating zero of a text is missing" },
        { ABS, "u8 /name+5 = 0x80",                XIR_E_SYNTAX,  "/name+5",             "/name", "byte 0x80 is not UTF-8 here" },
        { ABS, "u8 /name+6 = 0xC3",                XIR_E_SYNTAX,  "/name+6",             "/name", "byte 0xc3 is not UTF-8 here" },
        { ABS, "u16 /name+4 = 0xAFC0",             XIR_E_SYNTAX,  "/name+4",             "/name", "byte 0xc0" },
        { ABS, "u32 /name+4 = 0xA0ED",             XIR_E_SYNTAX,  "/name+4",             "/name", "byte 0xed" },
        { ABS, "u8 /ops/1/name+4 = 0xFF",          XIR_E_SYNTAX,  "/ops/1/name+4",       "/ops/1/name", "byte 0xff" },
        { ABS, "u8 /ops/1/outputs/0/name+4 = 0xF8", XIR_E_SYNTAX, "/ops/1/outputs/0/name+4", "/ops/1/outputs/0/name", "byte 0xf8" },
        { ABS, "u32 /ops/1/compile_target/core = 0x7FFFFFFF", XIR_E_BOUNDS, "/ops/1/compile_target/core", "/ops/1/compile_target/core", "a text of" },
        { ABS, "u32 /ops = 0xFFFFFFFF",            XIR_E_BOUNDS,  "/ops",                "/ops",  "4294967295 items of 4 bytes" },
        { ABS, "u32 /ops = 0x40000000",            XIR_E_BOUNDS,  "/ops",                "/ops",  "1073741824 items of 4 bytes" },
        { ABS, "u32 /ops_type = 0xFFFFFFFF",       XIR_E_BOUNDS,  "/ops_type",           "/ops",  "4294967295 items of 1 bytes" },
        { ABS, "u32 /ops_type = 1",                XIR_E_CORRUPT, "/ops_type",           "/ops",  "found 1 tags for 2 values" },
        { ABS, "u32 /ops = 3",                     XIR_E_CORRUPT, "/ops_type",           "/ops",  "found 2 tags for 3 values" },
        { ABS, "u32 /ops/1/inputs = 0",            XIR_E_CORRUPT, "/ops/1/inputs_type",  "/ops/1/inputs", "found 1 tags for 0 values" },
        { CONV, "u32 /ops/0/padding_mode = 77777", XIR_E_BOUNDS,  "/ops/0/padding_mode", "/ops/0/padding_mode", "a text of 77777" },
        { CONV, "u32 /ops/0/cut_scale/origin_scale = 0x3FFFFFFF", XIR_E_BOUNDS, "/ops/0/cut_scale/origin_scale", "/ops/0/cut_scale/origin_scale", "items of 4 bytes" },
        { HARD, "u32 /ops/0/origin_ops_id = 0x20000000", XIR_E_BOUNDS, "/ops/0/origin_ops_id", "/ops/0/origin_ops_id", "536870912 items of 8 bytes" },
        { HARD, "u32 /ops/0.origin_ops_id += 4",   XIR_E_CORRUPT, "/ops/0/origin_ops_id+4", "/ops/0/origin_ops_id", "items of 8 bytes are misaligned at byte" },
        { HARD, "u32 /ops/0/params/0/_data = 0x7FFFFFFF", XIR_E_BOUNDS, "/ops/0/params/0/_data", "/ops/0/params/0/_data", "items of 1 bytes" },
        { HARD, "u32 /ops/0/params = 0x10000000",  XIR_E_BOUNDS,  "/ops/0/params",       "/ops/0/params", "items of 4 bytes" },
        { HARD, "u32 /ops/0/extra_params = 0xFFFFFFFF", XIR_E_BOUNDS, "/ops/0/extra_params", "/ops/0/extra_params", "items of 4 bytes" },
    };
    CHECK_ALL(rows, true);
}

static void tags(void **state) {
    (void)state;
    static const bad rows[] = {
        { ABS, "u8 /ops_type[0] = 107",            XIR_E_UNKNOWN, "/ops_type[0]",        "/ops/0", "107 is not a tag of Operation_box, expected 1 to 106" },
        { ABS, "u8 /ops_type[1] = 255",            XIR_E_UNKNOWN, "/ops_type[1]",        "/ops/1", "255 is not a tag" },
        { ABS, "u8 /ops_type[1] = 0",              XIR_E_CORRUPT, "/ops[1]",             "/ops/1", "a union of tag 0 has a value" },
        { ABS, "u8 /ops/1/inputs_type[0] = 3",     XIR_E_UNKNOWN, "/ops/1/inputs_type[0]", "/ops/1/inputs/0", "3 is not a tag of Value_box" },
        { ABS, "u8 /ops/1/inputs_type[0] = 0",     XIR_E_CORRUPT, "/ops/1/inputs[0]",    "/ops/1/inputs/0", "a union of tag 0 has a value" },
        { ABS, "u32 /ops/1/inputs[0] = 0",         XIR_E_CORRUPT, "/ops/1/inputs[0]",    "/ops/1/inputs/0", "an offset of 0" },
        { ABS, "u8 /ops/1.compile_target_type = 0", XIR_E_CORRUPT, "/ops/1.compile_target", "/ops/1/compile_target", "a union of tag 0 has a value" },
        { ABS, "u8 /ops/1.compile_target_type = 8", XIR_E_UNKNOWN, "/ops/1.compile_target_type", "/ops/1/compile_target", "8 is not a tag of CompileTarget_box" },
        { ABS, "u16 /ops/1:compile_target = 0",    XIR_E_CORRUPT, "/ops/1.compile_target_type", "/ops/1/compile_target", "a union of tag 5 has no value" },
        { ABS, "u8 /ops/1/inputs/0.dtype_type = 12", XIR_E_UNKNOWN, "/ops/1/inputs/0.dtype_type", "/ops/1/inputs/0/dtype", "12 is not a tag of DataType_box, expected 1 to 11" },
        { ADD, "u8 /ops/0/alpha_type[1] = 5",      XIR_E_UNKNOWN, "/ops/0/alpha_type[1]", "/ops/0/alpha/1", "5 is not a tag of ScalarImm_box" },
        { CONV, "u8 /ops/0.cut_scale_type = 3",    XIR_E_UNKNOWN, "/ops/0.cut_scale_type", "/ops/0/cut_scale", "3 is not a tag of QuantizedScaleArray_box" },
    };
    CHECK_ALL(rows, true);
}

/* ---- accepted by the verifier ------------------------------------------------------------------------------- */

#define TYPE(tag, fields) \
    "{'ops_type':['Input'],'ops':[{'outputs_type':['Value'],'outputs':[{'dtype_type':'" tag "','dtype':{" fields "}}]}]}"
#define DTYPE "/ops/0/outputs/0/dtype"
#define OP(type, fields) "{'ops_type':['" type "'],'ops':[{" fields "}]}"
#define EXTRA(text) OP("ReLU", "'extra':'" text "'")
#define AXIS(tag, fields) OP("Reshape", "'layout':{'axis_names_type':['" tag "'],'axis_names':[{" fields "}]}")
#define TWO_ABS(first, second) \
    "{'ops_type':['Abs','Abs'],'ops':[{" first "},{'op_id':1" second "}]}"
#define DATA(more, p, q) \
    "{'ops_type':['Concat'],'ops':[{'inputs_type':['Params','Params'],'inputs':[{'v_id':1," ONE p "},{'v_id':" q "}]}]" more "}"
#define ONE \
    "'dtype_type':'TensorType','dtype':{'element_dtype_type':'BoolType','element_dtype':{},'shape':[2],'layout':{'axis_names_type':['AxisName'],'axis_names':[{'name':'*'}]}}"

static void contents(void **state) {
    (void)state;
    static const bad rows[] = {
        { "{'ops_type':['NONE'],'ops':[null]}", "", XIR_E_TYPE, "/ops[0]", "/ops/0", "expected an op, found nothing" },
        { "{'ops_type':['Operation'],'ops':[{}]}", "", XIR_E_TYPE, "/ops/0", "/ops/0", "expected an op, found Operation" },
        { OP("Abs", "'op_id':-1"), "", XIR_E_BOUNDS, "/ops/0", "/ops/0/op_id", "op_id -1 is outside 0 to 9223372036854775806" },
        { OP("Abs", "'op_id':9223372036854775807"), "", XIR_E_BOUNDS, "/ops/0", "/ops/0/op_id", "is outside 0 to" },
        { "{'ops_type':['Abs','Abs'],'ops':[{'op_id':2},{'op_id':2}]}", "", XIR_E_EXISTS, "/ops/1", "/ops/1/op_id", "op_id 2 is already used by another op" },
        { ABS, "u64 /ops/1/outputs/0.v_id = 5", XIR_E_EXISTS, "/ops/1/outputs/0", "/ops/1/outputs/0", "v_id 5 is already used by another value" },
        { ABS, "u64 /ops/1/inputs/0.v_id = -1", XIR_E_BOUNDS, "/ops/1/inputs/0", "/ops/1/inputs/0/v_id", "v_id -1 is outside" },
        { TWO_ABS("'inputs_type':['Value'],'inputs':[{'v_id':5," BOOL_TYPE "}]",
                  ",'inputs_type':['Value'],'inputs':[{'v_id':5}]"), "",
          XIR_E_CORRUPT, "/ops/1/inputs/0", "/ops/1/inputs/0", "this copy of v_id 5 differs from the one at byte" },
        { TWO_ABS("'inputs_type':['Params'],'inputs':[{'v_id':5," BOOL_TYPE "}]",
                  ",'inputs_type':['Params'],'inputs':[{'v_id':5,'name':'x'," BOOL_TYPE "}]"), "",
          XIR_E_CORRUPT, "/ops/1/inputs/0", "/ops/1/inputs/0", "this copy of v_id 5 differs from the one at byte" },
        { OP("Abs", "'outputs_type':['Params'],'outputs':[{}]"), "", XIR_E_TYPE, "/ops/0/outputs/0", "/ops/0/outputs/0", "found icraft::xir::Params" },
        { OP("Abs", "'outputs_type':['NONE'],'outputs':[null]"), "", XIR_E_TYPE, "/ops/0", "/ops/0/outputs/0", "found nothing" },
        { OP("Abs", "'compile_target_type':'CompileTarget','compile_target':{}"), "", XIR_E_TYPE, "/ops/0/compile_target", "/ops/0/compile_target", "CompileTarget is a family" },
        { OP("Abs", "'tags':'['"), "", XIR_E_TYPE, "/ops/0/tags+4", "/ops/0/tags", "expected a map, found a list" },
        { OP("Abs", "'tags':'{'"), "", XIR_E_SYNTAX, "/ops/0/tags+5", "/ops/0/tags", "found the end of the text" },
        { OP("Abs", "'tags':'{}x'"), "", XIR_E_SYNTAX, "/ops/0/tags+6", "/ops/0/tags", "expected the end of the text" },
        { OP("Conv2d", "'padding_mode':'ONES'"), "", XIR_E_UNKNOWN, "/ops/0/padding_mode+4", "/ops/0/padding_mode", "\"ONES\" is not one of" },
        { OP("Conv2d", "'padding_mode':''"), "", XIR_E_UNKNOWN, "/ops/0/padding_mode+4", "/ops/0/padding_mode", "\"\" is not one of" },
        { OP("Add", "'alpha_type':['NONE'],'alpha':[null]"), "", XIR_E_TYPE, "/ops/0/alpha[0]", "/ops/0/alpha/0", "expected an item of alpha" },
        { OP("Add", "'alpha_type':['ScalarImm'],'alpha':[{}]"), "", XIR_E_TYPE, "/ops/0/alpha/0", "/ops/0/alpha/0", "ScalarImm is a family" },
        { TYPE("DataType", ""), "", XIR_E_TYPE, DTYPE, DTYPE, "DataType is a family" },
        { TYPE("IntegerType", ""), "", XIR_E_BOUNDS, DTYPE, DTYPE, "ibits 0 is outside 1 to 65536" },
        { TYPE("IntegerType", "'ibits':65537"), "", XIR_E_BOUNDS, DTYPE, DTYPE, "ibits 65537 is outside" },
        { TYPE("IntegerType", "'ibits':18446744073709551615"), "", XIR_E_BOUNDS, DTYPE ".ibits", DTYPE "/ibits", "18446744073709551615 does not fit" },
        { TYPE("IntegerType", "'ibits':8,'extra':'{\\'a\\':1}'"), "", XIR_E_TYPE, DTYPE ".extra", DTYPE, "written as one text and cannot have a" },
        { TYPE("FloatType", ""), "", XIR_E_UNKNOWN, DTYPE, DTYPE, "no float format has emax 0, emin 0, precision 0 and 0 bits" },
        { TYPE("QuantizedType", ""), "", XIR_E_MISSING, DTYPE, DTYPE, "icraft::xir::QuantizedType needs scale" },
        { TYPE("NormalizedQuantizedType", "'scale_type':'ExpQuantizedScaleArray','scale':{'m':[1]}"), "", XIR_E_CORRUPT,
          DTYPE "/scale", DTYPE "/scale", "found 1, 0 and 0" },
        { TYPE("TensorType", "'merged_distrs':[{'uvalue':'ONE'}]"), "", XIR_E_UNKNOWN, DTYPE "/merged_distrs/0/uvalue+4", DTYPE "/merged_distrs/0", "\"ONE\" is not one of" },
        { TYPE("TensorType", "'extra':'{\\'element_dtype\\':1}'"), "", XIR_E_TYPE, DTYPE "/extra+21", DTYPE "/extra/element_dtype", "found a number" },
        { AXIS("AxisName", ""), "", XIR_E_SYNTAX, "/ops/0/layout/axis_names/0", "/ops/0/layout/axis_names/0", "an axis is named \"\"" },
        { AXIS("AxisName", "'name':'NH'"), "", XIR_E_SYNTAX, "/ops/0/layout/axis_names/0", "/ops/0/layout/axis_names/0", "an axis is named \"NH\"" },
        { AXIS("AxisName", "'name':'c'"), "", XIR_E_SYNTAX, "/ops/0/layout/axis_names/0", "/ops/0/layout/axis_names/0", "one upper-case letter" },
        { AXIS("AxisUnit", "'name':'C'"), "", XIR_E_SYNTAX, "/ops/0/layout/axis_names/0", "/ops/0/layout/axis_names/0", "one lower-case letter" },
        { AXIS("AxisUnit", "'name':'c'"), "", XIR_E_BOUNDS, "/ops/0/layout", "/ops/0/layout", "layout 'c0'" },
        { AXIS("AxisName", "'name':'X'"), "", XIR_E_SYNTAX, "/ops/0/layout", "/ops/0/layout", "layout 'X'" },
        { OP("Reshape", "'layout':{'axis_names_type':['NONE'],'axis_names':[null]}"), "", XIR_E_TYPE, "/ops/0/layout/axis_names[0]", "/ops/0/layout/axis_names/0", "an item of axis_names" },
        { EXTRA(""), "", XIR_E_SYNTAX, "/ops/0/extra+4", "/ops/0/extra", "found the end of the text" },
        { EXTRA("1"), "", XIR_E_TYPE, "/ops/0/extra+4", "/ops/0/extra", "expected a map" },
        { EXTRA("{}1"), "", XIR_E_SYNTAX, "/ops/0/extra+6", "/ops/0/extra", "the end of the text" },
        { EXTRA("{\\'a\\':1,\\'a\\':2}"), "", XIR_E_EXISTS, "/ops/0/extra+15", "/ops/0/extra", "the key \"a\" appears twice" },
        { EXTRA("{\\'alpha\\':1,\\'alpha\\':2}"), "", XIR_E_EXISTS, "/ops/0/extra+23", "/ops/0/extra/alpha", "the key \"alpha\" appears twice" },
        { EXTRA("{\\'alpha\\':[]}"), "", XIR_E_TYPE, "/ops/0/extra+13", "/ops/0/extra/alpha", "expected a number" },
        { EXTRA("{\\'op_id\\':1}"), "", XIR_E_EXISTS, "/ops/0/extra+13", "/ops/0/extra/op_id", "\"op_id\" has a slot and cannot be in extra" },
        { EXTRA("{\\'inputs\\':[]}"), "", XIR_E_EXISTS, "/ops/0/extra+14", "/ops/0/extra/inputs", "has a slot" },
        { EXTRA("{\\'_type_key\\':\\'x\\'}"), "", XIR_E_EXISTS, "/ops/0/extra+17", "/ops/0/extra/_type_key", "has a slot" },
        { "{'extra':'{\\'ops\\':[]}'}", "", XIR_E_EXISTS, "/extra+11", "/extra/ops", "has a slot" },
        { "{'extra':'{\\'params_bytes\\':1}'}", "", XIR_E_EXISTS, "/extra+20", "/extra/params_bytes", "has a slot" },
        { OP("Abs", "'inputs_type':['Value'],'inputs':[{'extra':'{\\'v_id\\':1}'}]"), "", XIR_E_EXISTS, "/ops/0/inputs/0/extra+12", "/ops/0/inputs/0/extra/v_id", "has a slot" },
        { OP("Abs", "'inputs_type':['Value'],'inputs':[{'extra':'{\\'dtype\\':null,\\'dtype\\':null}'}]"), "",
          XIR_E_EXISTS, "/ops/0/inputs/0/extra+26", "/ops/0/inputs/0/extra/dtype", "appears twice" },
        { OP("Unknown", "'extra':'{\\'_type_key\\':\\'icraft::xir::Layout\\'}'"), "", XIR_E_TYPE, "/ops/0.extra", "/ops/0", "expected an op, found icraft::xir::Layout" },
        { OP("Unknown", "'json_info':'x','extra':'{\\'_type_key\\':\\'a\\'}'"), "", XIR_E_CORRUPT, "/ops/0.json_info", "/ops/0/json_info", "a has its attributes in extra" },
        { OP("Unknown", "'extra':'{\\'_type_key\\':\\'icraft::xir::Argmax\\',\\'keepdim\\':null}'"), "", XIR_E_TYPE, "/ops/0/extra+49", "/ops/0/extra/keepdim", "expected true or false" },
        { OP("ReLU", "'extra_params':[{'v_id':1," BOOL_TYPE "}],'extra':'{\\'p\\':{\\'_type_key\\':\\'icraft::xir::Params\\',\\'v_id\\':1,\\'dtype\\':null}}'"), "",
          XIR_E_CORRUPT, "/ops/0/extra+9", "/ops/0/extra/p", "this copy of v_id 1 differs from the one at byte" },
        { DATA("", ",'_data':[1]", "2," ONE ",'_data':[1,2]"), "", XIR_E_CORRUPT, "/ops/0/inputs/0/_data+4", "", "v_id 1 has 1 bytes, but its type takes 2" },
        { DATA("", ",'_data':[1,2]", "1," ONE ",'_data':[1,3]"), "", XIR_E_CORRUPT, "/ops/0/inputs/1/_data+4", "", "the bytes of v_id 1 differ from those at byte" },
        { DATA(",'params_table':[1]", ",'_data':[1,2]", "2," ONE ",'_data':[1,3]"), "", XIR_E_CORRUPT, "/params_table", "", "params_table has 1 entries for 2 Params" },
        { DATA(",'params_table':[1,1]", ",'_data':[1,2]", "2," ONE ",'_data':[1,3]"), "", XIR_E_CORRUPT, "/params_table[1]", "", "params_table has v_id 1 twice" },
        { DATA(",'params_table':[1,-3]", ",'_data':[1,2]", "2," ONE ",'_data':[1,3]"), "", XIR_E_CORRUPT, "/params_table[1]", "", "params_table has v_id -3 of no Params" },
    };
    CHECK_ALL(rows, false);
}

/* Its bytes are the last ones of the file. */
static void a_text_leaves_room_for_its_zero(void **state) {
    (void)state;
    flat_made m = flat_make(ctx, ABS);
    char changes[40];
    snprintf(changes, sizeof changes, "u32 /name = %zu", m.size - flat_spot_at(&m, "/name") - 4);
    check(&(bad){ ABS, changes, XIR_E_BOUNDS, "/name", "/name", "and its terminating zero do not fit" }, 0, true);
    flat_made_free(&m);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_beginning),
        cmocka_unit_test(vtables),
        cmocka_unit_test(offsets),
        cmocka_unit_test(lengths_and_texts),
        cmocka_unit_test(a_text_leaves_room_for_its_zero),
        cmocka_unit_test(tags),
        cmocka_unit_test(contents),
    };
    return RUN_GROUP(tests);
}
