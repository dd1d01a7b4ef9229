/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Small FlatBuffers files that expand: contents that are shared, overlap, or are met in several ways. The verifier and
 * the reader take time and memory linear in the file; here it is enough that they end. */
#include "support/probe.h"
#include "support/flat_make.h"
#include "support/json_net.h"

typedef struct bytes { uint8_t *data; size_t size; } bytes;

static void check(const void *data, size_t size, xir_status verified, xir_status read, const char *sentence) {
    xir_diags_clear(why);
    xir_status status = xir_flat_verify(ctx, data, size, XIR_STR("x.fb"), why);
    if (status != verified) show_findings();
    assert_int_equal(status, verified);
    xir_diags_clear(why);
    xir_network *net = flat_read_bytes(ctx, data, size, why);
    if (read == XIR_OK) {
        if (!net) show_findings();
        assert_non_null(net);
        assert_int_equal(xir_diags_count(why), 0);
    } else {
        assert_null(net);
        assert_int_equal(xir_diags_count(why), 1);
        check_finding(read, sentence);
    }
    xir_network_free(net);
}

static void check_text(paper *p, xir_status verified, xir_status read, const char *sentence) {
    flat_made m = flat_make(ctx, p->data);
    check(m.data, m.size, verified, read, sentence);
    flat_made_free(&m);
    free(p->data);
    *p = (paper){ 0 };
}

#define OP_OF_TYPE \
    "{'op_id':%d,'outputs_type':['Value'],'outputs':[{'v_id':%d,'dtype_type':'QuantizedType','dtype':'*t%03d'}]}"

/* n types, each with the next one in it `times` times; ops whose values have the types from..to. */
static void put_types(paper *p, int n, int times) {
    put(p, "'&':{'s':{'=':'QuantizedScaleArray'},");
    for (int i = 0; i < n; i++) {
        put(p, "'t%03d':{'=':'QuantizedType','scale_type':'QuantizedScaleArray','scale':'*z'", i);
        static const char *const fields[] = { "storage_dtype", "expressed_dtype" };
        for (int k = 0; k < 2; k++) {
            bool next = i + 1 < n && k < times;
            put(p, ",'%s_type':'%s','%s':'*", fields[k], next ? "QuantizedType" : "BoolType", fields[k]);
            if (next) put(p, "t%03d'", i + 1);
            else put(p, "zz'");
        }
        put(p, "},");
    }
    put(p, "'z':{'=':'QuantizedScaleArray'},'zz':{'=':'BoolType'}}");
}

static paper nested(int n, int times, int first, int step) {
    paper p = { 0 };
    put(&p, "{'ops_type':[");
    int ops = 0;
    for (int i = first; i >= 0; i -= step) put(&p, "%s'Input'", ops++ ? "," : "");
    put(&p, "],'ops':[");
    int id = 0;
    for (int i = first; i >= 0; i -= step, id++) {
        if (id) put(&p, ",");
        put(&p, OP_OF_TYPE, id, id, i);
    }
    put(&p, "],");
    put_types(&p, n, times);
    put(&p, "}");
    return p;
}

static void expansion_of_a_type_is_limited(void **state) {
    (void)state;
    paper p = nested(12, 2, 0, 1);
    check_text(&p, XIR_OK, XIR_OK, "");
    p = nested(100, 2, 0, 1);   /* 2^100 ways to the last one */
    check_text(&p, XIR_OK, XIR_E_LIMIT, "counting shared ones at each use");
    p = nested(100, 2, 99, 1);  /* the last one first */
    check_text(&p, XIR_OK, XIR_E_LIMIT, "counting shared ones at each use");
}

/* Network, ops, op, outputs, value: the type is at level six; the list of zero points in the last one is the
 * deepest. */
static void depth_is_counted_as_json_counts_it(void **state) {
    (void)state;
    enum { MOST = 128 - 6 };
    for (int shallow_first = 0; shallow_first < 2; shallow_first++) {
        int first = shallow_first ? MOST - 1 : 0;
        paper p = nested(MOST, 1, first, 1);
        flat_made m = flat_make(ctx, p.data);
        xir_network *net = flat_read_bytes(ctx, m.data, m.size, why);
        if (!net) show_findings();
        assert_non_null(net);
        xir_text_buffer text;
        assert_int_equal(xir_json_print(net, 0, &text), XIR_OK);
        xir_network *again = xir_json_read(ctx, (xir_str){ text.data, text.size }, XIR_STR(""), why);
        assert_non_null(again);
        xir_network_free(again);
        xir_text_free(&text);
        xir_network_free(net);
        flat_made_free(&m);
        free(p.data);
        p = nested(MOST + 1, 1, shallow_first ? MOST : 0, 1);
        check_text(&p, XIR_E_LIMIT, XIR_E_LIMIT, "nested deeper than 128");
        p = nested(900, 1, shallow_first ? 899 : 0, 100 + shallow_first * -99);
        check_text(&p, XIR_E_LIMIT, XIR_E_LIMIT, "nested deeper than 128");
    }
}

static void put_u32(bytes *b, size_t at, size_t v) {
    for (int i = 0; i < 4; i++) b->data[at + (size_t)i] = (uint8_t)(v >> 8 * i);
}

/* Ops of class Abs, all with one vtable, and free space after them; name i is at `names` + i * step. */
static bytes many_ops(size_t n, size_t names_size, size_t step) {
    enum { VTABLE = 4, VTABLE_SIZE = 8, ROOT_VTABLE = 12, ROOT_VTABLE_SIZE = 24, ROOT = 36, TABLE = 16 };
    size_t tags = ROOT + 12, values = (tags + 4 + n + 3) & ~(size_t)3, ops = (values + 4 + 4 * n + 7) & ~(size_t)7,
           names = ops + n * TABLE;
    bytes b = { .size = names + names_size };
    b.data = calloc(1, b.size);
    put_u32(&b, 0, ROOT);
    b.data[VTABLE] = VTABLE_SIZE, b.data[VTABLE + 2] = TABLE, b.data[VTABLE + 4] = 8, b.data[VTABLE + 6] = 4;
    b.data[ROOT_VTABLE] = ROOT_VTABLE_SIZE, b.data[ROOT_VTABLE + 2] = 12;
    b.data[ROOT_VTABLE + 4 + 2 * 8] = 4, b.data[ROOT_VTABLE + 4 + 2 * 9] = 8;
    put_u32(&b, ROOT, ROOT - ROOT_VTABLE);
    put_u32(&b, ROOT + 4, tags - ROOT - 4);
    put_u32(&b, ROOT + 8, values - ROOT - 8);
    put_u32(&b, tags, n);
    put_u32(&b, values, n);
    for (size_t i = 0; i < n; i++) {
        size_t op = ops + i * TABLE;
        b.data[tags + 4 + i] = 3;
        put_u32(&b, values + 4 + 4 * i, op - (values + 4 + 4 * i));
        put_u32(&b, op, op - VTABLE);
        put_u32(&b, op + 8, i);
        put_u32(&b, op + 4, names + i * step - op - 4);
    }
    return b;
}

static void copies_of_one_name_are_limited(void **state) {
    (void)state;
    enum { LONG = 1 << 20 };
    for (int few = 0; few < 2; few++) {
        bytes b = many_ops(few ? 20 : 4000, 4 + LONG + 1, 0);
        put_u32(&b, b.size - LONG - 5, LONG);
        memset(b.data + b.size - LONG - 1, 'x', LONG);
        check(b.data, b.size, XIR_OK, few ? XIR_OK : XIR_E_LIMIT, "take too much memory");
        free(b.data);
    }
}

/* Each word is the length of a text, and a part of the texts before it. */
static void overlap_of_texts_is_limited(void **state) {
    (void)state;
    enum { LENGTH = 0x030303, AREA = 600000 };
    bytes b = many_ops(50000, AREA, 4);
    for (size_t at = b.size - AREA; at + 4 <= b.size; at += 4) put_u32(&b, at, LENGTH);
    check(b.data, b.size, XIR_E_LIMIT, XIR_E_LIMIT, "this is shared too often");
    free(b.data);
    b = many_ops(2, AREA, 4);   /* overlap alone is not an error */
    for (size_t at = b.size - AREA; at + 4 <= b.size; at += 4) put_u32(&b, at, LENGTH);
    check(b.data, b.size, XIR_OK, XIR_OK, "");
    free(b.data);
}

static void sharing_of_vectors_is_limited(void **state) {
    (void)state;
    paper p = { 0 };
    put(&p, "{'ops_type':['Add'");
    for (int i = 1; i < 3000; i++) put(&p, ",'Add'");
    put(&p, "],'ops':[{'op_id':0}");
    for (int i = 1; i < 3000; i++) put(&p, ",{'op_id':%d,'alpha_type':['IntImm'],'alpha':[{'value':1}]}", i);
    put(&p, "]}");
    flat_made m = flat_make(ctx, p.data);
    free(p.data);
    check(m.data, m.size, XIR_OK, XIR_OK, "");
    /* one vector of 20000 for all of them */
    size_t n = 20000, at = (m.size + 3) & ~(size_t)3, size = at + 8 + 4 * n + n + 3;
    bytes b = { calloc(1, size), size };
    memcpy(b.data, m.data, m.size);
    size_t tags = at + 4 + 4 * n;
    put_u32(&b, at, n);
    put_u32(&b, tags, n);
    memset(b.data + tags + 4, 0, n);
    for (int i = 1; i < 3000; i++) {
        char name[60];
        snprintf(name, sizeof name, "/ops/%d.alpha", i);
        size_t field = flat_spot_at(&m, name);
        put_u32(&b, field, at - field);
        snprintf(name, sizeof name, "/ops/%d.alpha_type", i);
        field = flat_spot_at(&m, name);
        put_u32(&b, field, tags - field);
    }
    check(b.data, b.size, XIR_E_LIMIT, XIR_E_LIMIT, "this is shared too often");
    free(b.data);
    flat_made_free(&m);
}

#define TWO_ABS \
    "{'ops_type':['Abs','Abs'],'ops':[{'name':'a','inputs_type':['Value'],'inputs':['*v']},{'op_id':1,'name':'b','inputs_type':['Params'],'inputs':['*v']}]," \
    "'&':{'v':{'=':'Value','v_id':1,'name':'xxxxxxx','dtype_type':'BoolType','dtype':'*w'},'w':{'=':'BoolType'}}}"

static void one_table_may_be_two_things(void **state) {
    (void)state;
    /* as Params, its id's slot is that of a bool, and its name's slot that of the id */
    flat_made m = flat_make(ctx, TWO_ABS);
    check(m.data, m.size, XIR_E_CORRUPT, XIR_E_CORRUPT, "expected a multiple of 4");
    flat_made_free(&m);
    m = flat_make(ctx, "{'ops_type':['Abs','Sin'],'ops':['*o','*o'],'&':{'o':{'=':'Abs','op_id':4}}}");
    check(m.data, m.size, XIR_OK, XIR_E_EXISTS, "op_id 4 is already used by another op");
    flat_made_free(&m);
    /* an empty table fits every kind */
    m = flat_make(ctx, "{'ops_type':['Abs'],'ops':[{'compile_target_type':'HostTarget','compile_target':'*t','outputs_type':['Value','Value'],"
                       "'outputs':[{'v_id':1,'dtype_type':'BoolType','dtype':'*t','mtype_type':'HostMem','mtype':'*t'},{'v_id':2,'dtype_type':'BoolType','dtype':'*t'}]}],"
                       "'&':{'t':{'=':'BoolType'}}}");
    check(m.data, m.size, XIR_OK, XIR_OK, "");
    flat_made_free(&m);
}

static void a_vtable_may_be_anywhere(void **state) {
    (void)state;
    flat_made m = flat_make(ctx, "{'ops_type':['Abs'],'ops':[{'op_id':4,'name':'abc'}],'tags':'{}','name':'abcdefgh'}");
    size_t vtable = flat_spot_at(&m, "/ops/0:"), size = 8;
    memcpy(m.data + flat_spot_at(&m, "/name") + 4, m.data + vtable, size);   /* in a text: 8 0 16 0 8 0 4 0 is ASCII */
    check(m.data, m.size, XIR_OK, XIR_OK, "");
    flat_spoil(&m, "u32 /ops/0 <= @/name+4");
    check(m.data, m.size, XIR_OK, XIR_OK, "");
    flat_spoil(&m, "u8 /name+4 = 6");   /* one slot fewer */
    check(m.data, m.size, XIR_OK, XIR_OK, "");
    flat_made_free(&m);
    /* two classes share a vtable; in a table of another alignment its fields are misaligned */
    m = flat_make(ctx, "{'ops_type':['Abs','Sin','Cos'],'ops':[{'op_id':4},{'op_id':5},{'op_id':6}]}");
    flat_spoil(&m, "u32 /ops/1 <= @/ops/0:; u32 /ops/2 <= @/ops/0:");
    check(m.data, m.size, XIR_OK, XIR_OK, "");
    flat_spoil(&m, "u32 /ops[2] >= @/ops/2+4; u32 /ops/2+4 <= @/ops/0:-4");
    check(m.data, m.size, XIR_E_BOUNDS, XIR_E_BOUNDS, "");
    flat_made_free(&m);
}

static void a_file_has_a_size(void **state) {
    (void)state;
    uint8_t few[16] = { 8 };
    assert_int_equal(xir_flat_verify(ctx, few, (size_t)1 << 31, XIR_STR("x.fb"), why), XIR_E_LIMIT);
    check_finding(XIR_E_LIMIT, "the file has 2147483648 bytes, FlatBuffers allow at most 2147483647");
}

/* In memory, not in the pages of a file: the reader needs no alignment. */
static void a_buffer_may_be_anywhere(void **state) {
    (void)state;
    flat_made m = flat_make(
        ctx, "{'ops_type':['Concat'],'ops':[{'op_id':1,'inputs_type':['Params'],'inputs':[{'v_id':1,'dtype_type':'TensorType','dtype':{'element_dtype_type':'BoolType',"
                                 "'element_dtype':{},'shape':[2],'layout':{'axis_names_type':['AxisName'],'axis_names':[{'name':'*'}]}},'_data':[1,0]}]}]}");
    for (size_t at = 0; at < 8; at++) {
        uint8_t *memory = malloc(m.size + at);
        memcpy(memory + at, m.data, m.size);
        assert_int_equal(xir_flat_verify(ctx, memory + at, m.size, XIR_STR("x.fb"), why), XIR_OK);
        xir_load_options options = XIR_INIT(xir_load_options, .format = "fb", .lazy = true);
        xir_network *net = xir_network_read(ctx, memory + at, m.size, XIR_STR("x.fb"), &options, why);
        assert_non_null(net);
        assert_int_equal(value_params(net->all_params)->data->bytes[0], 1);
        xir_network_free(net);
        free(memory);
    }
    flat_made_free(&m);
}

/* ---- detection -------------------------------------------------------------------------------------------------- */

static void files_that_look_like_flatbuffers(void **state) {
    (void)state;
    flat_made m = flat_make(
        ctx, "{'name':'n','params_bytes':16,'ops_type':['Abs'],'ops':[{}],'ai_target_type':'BuyiTarget','ai_target':{},'extra':'{}'}");
    assert_true(probe_head(&format_flat, m.data, m.size) == XIR_PROBE_LIKELY);
    assert_string_equal(xir_format_of(m.data, m.size), "fb");
    flat_made_free(&m);
    m = flat_make(ctx, "{}");
    assert_int_equal(probe_head(&format_flat, m.data, m.size), m.size >= 16 ? XIR_PROBE_LIKELY : XIR_PROBE_NO);
    flat_made_free(&m);
    static const struct { const char *bytes; size_t size; } others[] = {
        { "{\"_type_key\":\"icraft::xir::Network\",\"ops\":[]}", 44 },
        { "  \n\n  {\"_type_key\":\"icraft\"}           ", 38 },
        { "\xA5ICRAFT_RAW\xA5\1\0\0\0\1\0\0\0\x1C\0\0\0\0\0\0\0", 28 },
        { "PK\3\4\x14\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 20 },
        { "\x8B\xAA_type_key\xB4icraft::xir::Network", 33 },
        { "\xDE\0\x0C\xAA_type_key\xB4icraft::xir", 30 },
        { "\xDF\0\0\0\x0C\xAA_type_key\xB4icraft::xir", 30 },
        { "\x08\x07\x12\x07pytorch\x1A\x04" "1.10\0\0\0\0", 24 },
        { "\x08\0\0\0\x0A\0\0\0\x12\0\0\0\x1A\0\0\0\x22\0\0\0", 20 },
        { "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 24 },
        { "\x04\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 24 },
        { "\x08\0\0\0\4\0\4\0\4\0\0\0", 12 },
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (probe_head(&format_flat, others[i].bytes, others[i].size)) fail_msg("row %zu looks like FlatBuffers", i);
    }
    /* neither do random bytes */
    for (int i = 0; i < 100000; i++) {
        uint8_t head[256];
        for (size_t k = 0; k < sizeof head; k++) head[k] = (uint8_t)(chance(3) ? 0 : chance(256));
        if (i % 2) head[0] = (uint8_t)(chance(60) * 4), head[1] = head[2] = head[3] = 0;
        if (probe_head(&format_flat, head, sizeof head)) check(head, sizeof head, XIR_OK, XIR_OK, "");
    }
}

/* ---- memory ----------------------------------------------------------------------------------------------------- */

static bool read_scarcely(xir_context *with) {
    xir_diags *found = xir_diags_new(with);
    if (!found) return false;
    static bytes file;
    if (!file.data) {
        flat_made made = flat_make(
            ctx, "{'name':'n','tags':'{\\'a\\':[1]}','ops_type':['Input','Conv2d','Unknown'],'ops':[{'outputs_type':['Value'],'outputs':['*v']},"
                           "{'op_id':1,'padding_mode':'ZEROS','inputs_type':['Value','Params'],'inputs':['*v',{'v_id':7,'dtype_type':'TensorType','dtype':{"
                           "'element_dtype_type':'BoolType','element_dtype':{},'shape':[3],'layout':{'axis_names_type':['AxisName'],'axis_names':[{'name':'*'}]},"
                           "'merged_distrs':[{'valid_mask':[1,0,1,0,1,0,1]}]},'_data':[1,2,3]}],'cut_scale_type':'QuantizedScaleArray','cut_scale':{'origin_scale':[1,2,3,4,5,6]},"
                           "'extra':'{\\'x\\':[1,{}],\\'groups\\':null}'},{'op_id':2,'extra':'{\\'_type_key\\':\\'a::B\\',\\'b\\':1}'}],'params_table':[7],"
                           "'&':{'v':{'=':'Value','v_id':5,'name':'v','tags':'{\\'t\\':1}','dtype_type':'BoolType','dtype':{}}}}");
        file = (bytes){ made.data, made.size };
        made.data = NULL;
        flat_made_free(&made);
    }
    xir_network *net = flat_read_bytes(with, file.data, file.size, found);
    if (!net) {
        for (size_t i = 0; i < xir_diags_count(found); i++)
            assert_int_equal(xir_diags_at(found, i)->code, XIR_E_MEMORY);
    } else {
        assert_int_equal(xir_network_op_count(net), 3);
        free(file.data);
        file.data = NULL;
    }
    bool done = net != NULL;
    xir_network_free(net);
    xir_diags_free(found);
    return done;
}

static void memory_may_run_out_anywhere(void **state) {
    (void)state;
    check_memory(read_scarcely);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expansion_of_a_type_is_limited),
        cmocka_unit_test(depth_is_counted_as_json_counts_it),
        cmocka_unit_test(copies_of_one_name_are_limited),
        cmocka_unit_test(overlap_of_texts_is_limited),
        cmocka_unit_test(sharing_of_vectors_is_limited),
        cmocka_unit_test(one_table_may_be_two_things),
        cmocka_unit_test(a_vtable_may_be_anywhere),
        cmocka_unit_test(a_file_has_a_size),
        cmocka_unit_test(a_buffer_may_be_anywhere),
        cmocka_unit_test(files_that_look_like_flatbuffers),
        cmocka_unit_test(memory_may_run_out_anywhere),
    };
    return RUN_GROUP(tests);
}
