/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* FlatBuffers files as they are written: a small one byte by byte, slots checked by hand, contents that slots cannot
 * hold, every class of operations. */
#include "support/json_net.h"
#include "support/flat_file.h"
#include "support/own.h"
#include "support/scratch.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static xir_network *net_of(const char *text) { return must_read(text, strlen(text)); }

static flat_file flat_of_json(const char *text) {
    xir_network *net = net_of(text);
    flat_file f = flat_written(net);
    xir_network_free(net);
    return f;
}

static char *golden(const char *name) {
    char path[PATH_MAX];
    size_t size;
    snprintf(path, sizeof path, XIR_TEST_DATA "/golden/flat/%s", name);
    char *text = (char *)scratch_get(path, &size);
    assert_non_null(text);
    while (size && text[size - 1] == '\n') text[--size] = '\0';
    return text;
}

/* ---- byte by byte ------------------------------------------------------------------------------------------ */

/* The bytes of a commented dump; each line must give its own place. */
static size_t undump(const char *text, uint8_t *out) {
    size_t n = 0;
    for (const char *line = text; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        char *p;
        if (*line == '#' || *line == '\n') continue;
        assert_int_equal(strtoul(line, &p, 16), n);
        for (;;) {
            while (*p == ' ') p++;
            if (*p == '#' || *p == '\n' || !*p) break;
            out[n++] = (uint8_t)strtoul(p, &p, 16);
        }
    }
    return n;
}

static void a_small_network_byte_by_byte(void **state) {
    (void)state;
    char *json = golden("small.json"), *dump = golden("small.txt");
    uint8_t expected[4096];
    size_t size = undump(dump, expected);
    xir_network *net = net_of(json);
    assert_int_equal(xir_params_set_copy(xir_network_value_by_id(net, 7), "\1\2\3", 3), XIR_OK);
    for (int again = 0; again < 2; again++) {   /* the same network gives the same bytes */
        flat_file f = flat_written_aligned(net, 16);
        check_same((const char *)f.data, f.size, (const char *)expected, size);
        free(f.data);
    }
    xir_network_free(net);
    free(json);
    free(dump);
}

/* ---- slots ------------------------------------------------------------------------------------------------- */

/* The attributes of an op in the middle of a network, as in JSON, with sorted keys: BEGIN, rows, MIDDLE, rows, END. */
#define NET_OF(op) NETWORK_OF("3.33.1.0", INPUT_OP "," op "," OUTPUT_OP)
#define OP_END "\"name\":\"r\",\"op_id\":1,\"outputs\":[" VALUE("1", "1,2,2,3") "]"
#define OP_IN "\"compile_target\":\"@hostt\",\"inputs\":[" VALUE("0", "1,2,2,3") "]"

static void minus_zero_is_a_number(void **state) {
    (void)state;
    flat_file f =
        flat_of_json(NET_OF("{\"_type_key\":\"icraft::xir::ReLU\",\"alpha\":-0.0," OP_IN ",\"max_value\":0.0," OP_END
                            ",\"tags\":{},\"threshold\":0.5}"));
    size_t relu = flat_op_at(&f, 1);
    assert_int_equal(flat_slot_number(&f, relu, 0, 4), 0x80000000);
    assert_int_equal(flat_slot_at(&f, relu, 1), 0);
    assert_int_equal(flat_slot_number(&f, relu, 2, 4), 0x3F000000);
    free(f.data);
}

/* A missing list is not an empty one. */
static void null_lists_and_empty_ones(void **state) {
    (void)state;
    static const char *const dims[] = { "null", "[]", "[2]" };
    for (size_t i = 0; i < COUNT(dims); i++) {
        char text[4000];
        snprintf(text, sizeof text, NET_OF("{\"_type_key\":\"icraft::xir::Roll\"," OP_IN ",\"dims\":%s,"
                                           "\"inputs\":[]," OP_END ",\"shifts\":[1],\"tags\":{}}"), dims[i]);
        /* keys are sorted: inputs come after dims */
        char *twice = strstr(text, ",\"inputs\":[],\"name\":\"r\"");
        assert_non_null(twice);
        memmove(twice, twice + strlen(",\"inputs\":[]"), strlen(twice + strlen(",\"inputs\":[]")) + 1);
        flat_file f = flat_of_json(text);
        size_t at = flat_slot_to(&f, flat_op_at(&f, 1), 1);
        if (i == 0) assert_int_equal(at, 0);
        else assert_int_equal(flat_count(&f, at), i - 1);
        free(f.data);
    }
}

/* ---- tables that differ from their rows ---------------------------------------------------------------------- */

#define TYPED(type) NETWORK_OF("3.33.1.0",                                                                             \
                               "{\"_type_key\":\"icraft::xir::Input\",\"compile_target\":\"@hostt\",\"inputs\":[],"    \
    "\"name\":\"\",\"op_id\":0,\"outputs\":[{\"_type_key\":\"icraft::xir::Value\",\"dtype\":" type ",\"mtype\":\"@hostm\"," \
    "\"name\":\"\",\"tags\":{},\"v_id\":0}],\"tags\":{}}")

/* The type of the only value of a file. */
static size_t only_type(const flat_file *f) {
    size_t value = flat_item_at(f, flat_slot_to(f, flat_op_at(f, 0), AT_OP_OUTPUTS), 0);
    return flat_slot_to(f, value, AT_VALUE_DTYPE);
}

static void layouts_distributions_and_arrays(void **state) {
    (void)state;
    flat_file f = flat_of_json(TYPED(
        "{\"_type_key\":\"icraft::xir::TensorType\",\"element_dtype\":{\"_type_key\":\"icraft::xir::NormalizedQuantizedType\","
        "\"expressed_dtype\":\"@bf(16)\",\"normratio\":\"@norm_ratios([axis=-1]2*1.5,0.25)\","
        "\"scale\":\"@exp_scales([axis=3]3/2/0.75,2*-1/0/-1)\",\"storage_dtype\":\"@uint(12)\",\"zero_points\":[7,-8]},"
        "\"layout\":\"@layout(N*Cc32)\",\"merged_distrs\":[\"@merged_distr([1, 4]^NONE:{v:[0, 2), u:[2, 5)})\","
        "\"@merged_distr([0]:{u:[0, 1)})\"],\"shape\":[1,2,3,32]}"));
    size_t type = only_type(&f);
    size_t layout = flat_slot_to(&f, type, 3), axes = flat_slot_to(&f, layout, 1), kinds = flat_slot_to(&f, layout, 0);
    assert_int_equal(flat_count(&f, axes), 4);
    assert_memory_equal(f.data + kinds + 4, "\x02\x02\x02\x01", 4);   /* AxisName, AxisUnit */
    assert_string_equal(flat_slot_text(&f, flat_item_at(&f, axes, 1), 0), "*");
    assert_int_equal(flat_slot_number(&f, flat_item_at(&f, axes, 3), 0, 8), 32);
    assert_string_equal(flat_slot_text(&f, flat_item_at(&f, axes, 3), 1), "c");

    size_t distrs = flat_slot_to(&f, type, 4), one = flat_item_at(&f, distrs, 0), old = flat_item_at(&f, distrs, 1);
    assert_int_equal(flat_count(&f, distrs), 2);
    assert_int_equal(flat_number(&f, flat_slot_to(&f, one, 0) + 12, 8), 4);
    assert_int_equal(flat_count(&f, flat_slot_to(&f, one, 1)), 5);
    assert_memory_equal(f.data + flat_slot_to(&f, one, 1) + 4, "\1\1\0\0\0", 5);
    assert_string_equal(flat_slot_text(&f, one, 2), "NONE");
    assert_int_equal(flat_slot_at(&f, old, 2), 0);   /* its one-string form has no name */

    assert_int_equal(flat_slot_number(&f, type, 0, 1), 6);   /* NormalizedQuantizedType */
    size_t element = flat_slot_to(&f, type, 1), ratio = flat_slot_to(&f, element, 0),
           scale = flat_slot_to(&f, element, 2);
    static const uint32_t ratios[] = { 0x3FC00000, 0x3FC00000, 0x3E800000 },
                          values[] = { 0x3F400000, 0xBF800000, 0xBF800000 };
    assert_int_equal((int64_t)flat_slot_number(&f, ratio, 0, 8), -1);
    assert_memory_equal(f.data + flat_slot_to(&f, ratio, 1) + 4, ratios, sizeof ratios);
    assert_int_equal(flat_slot_number(&f, element, 1, 1), 1);   /* ExpQuantizedScaleArray */
    static const int64_t m[] = { 3, -1, -1 }, exps[] = { 2, 0, 0 };
    assert_memory_equal(f.data + flat_slot_to(&f, scale, 0) + 4, m, sizeof m);
    assert_memory_equal(f.data + flat_slot_to(&f, scale, 1) + 4, exps, sizeof exps);
    assert_int_equal(flat_slot_number(&f, scale, 2, 8), 3);
    assert_memory_equal(f.data + flat_slot_to(&f, scale, 3) + 4, values, sizeof values);
    assert_int_equal((int64_t)flat_number(&f, flat_slot_to(&f, element, 3) + 12, 8), -8);
    assert_int_equal(flat_slot_number(&f, element, 4, 1), 2);   /* IntegerType */
    assert_int_equal(flat_slot_at(&f, flat_slot_to(&f, element, 5), 0), 0);   /* unsigned */
    assert_int_equal(flat_slot_number(&f, flat_slot_to(&f, element, 5), 1, 8), 12);
    static const int64_t bf16[] = { 127, -126, 8, 16 };
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(flat_slot_number(&f, flat_slot_to(&f, element, 7), i, 8), bf16[i]);
    free(f.data);
}

/* 2^20 elements are written out, one more becomes a text. */
static void long_runs_are_not_expanded(void **state) {
    (void)state;
    for (int more = 0; more < 2; more++) {
        char text[3000];
        int n = (1 << 20) + more;
        snprintf(text, sizeof text, TYPED(
            "{\"_type_key\":\"icraft::xir::TensorType\",\"element_dtype\":{\"_type_key\":\"icraft::xir::QuantizedType\","
            "\"expressed_dtype\":\"@fp(32)\",\"scale\":\"@scales([axis=-1]%d*0.5)\",\"storage_dtype\":\"@sint(8)\",\"zero_points\":[]},"
            "\"layout\":\"@layout(*)\",\"merged_distrs\":[\"@merged_distr([0]^ZERO:{v:[0, %d)})\"],\"shape\":[9]}"), n, n);
        flat_file f = flat_of_json(text);
        size_t type = only_type(&f), element = flat_slot_to(&f, type, 1);
        if (more) {
            assert_true(f.size < 2000);
            assert_int_equal(flat_slot_at(&f, type, 4), 0);
            assert_string_equal(flat_slot_text(&f, type, 5),
                                "{\"merged_distrs\":[\"@merged_distr([0]^ZERO:{v:[0, 1048577)})\"]}");
            assert_int_equal(flat_slot_at(&f, element, 0), 0);
            assert_int_equal(flat_slot_at(&f, element, 1), 0);
            assert_string_equal(flat_slot_text(&f, element, 7), "{\"scale\":\"@scales([axis=-1]1048577*0.5)\"}");
        } else {
            assert_int_equal(flat_count(&f, flat_slot_to(&f, flat_item_at(&f, flat_slot_to(&f, type, 4), 0), 1)), n);
            assert_int_equal(flat_count(&f, flat_slot_to(&f, flat_slot_to(&f, element, 1), 1)), n);
            assert_int_equal(flat_slot_at(&f, type, 5), 0);
        }
        free(f.data);
    }
}

/* The total is limited too: short texts must not become megabytes each. */
static void many_runs_are_not_expanded(void **state) {
    (void)state;
    enum { ARRAYS = 20, WRITTEN_OUT = 16, LENGTH = 1 << 20 };
    static const char type[] =
        "{\"_type_key\":\"icraft::xir::QuantizedType\",\"expressed_dtype\":\"@fp(32)\",\"scale\":"
                               "\"@scales([axis=-1]%d*%d)\",\"storage_dtype\":\"@sint(8)\",\"zero_points\":[]}";
    paper p = { 0 };
    put(&p, "{\"_type_key\":\"icraft::xir::Network\",\"ops\":[{\"_type_key\":\"icraft::xir::Input\",\"inputs\":[],\"name\":\"\","
            "\"op_id\":0,\"outputs\":[");
    for (int i = 0; i < ARRAYS; i++) {
        put(&p, "%s{\"_type_key\":\"icraft::xir::Value\",\"dtype\":", i ? "," : "");
        put(&p, type, LENGTH, i + 1);
        put(&p, ",\"name\":\"\",\"tags\":{},\"v_id\":%d}", i);
    }
    put(&p, "],\"tags\":{}}],\"tags\":{}}");
    flat_file f = flat_of_json(p.data);
    size_t outputs = flat_slot_to(&f, flat_op_at(&f, 0), AT_OP_OUTPUTS);
    for (size_t i = 0; i < ARRAYS; i++) {
        size_t quantized = flat_slot_to(&f, flat_item_at(&f, outputs, i), AT_VALUE_DTYPE),
               scale = flat_slot_to(&f, quantized, 1);
        char text[100];
        snprintf(text, sizeof text, "{\"scale\":\"@scales([axis=-1]%d*%zu)\"}", LENGTH, i + 1);
        if (i < WRITTEN_OUT) assert_int_equal(flat_count(&f, flat_slot_to(&f, scale, 1)), LENGTH);
        else assert_string_equal(flat_slot_text(&f, quantized, 7), text);
    }
    assert_in_range(f.size, WRITTEN_OUT * 4 * (size_t)LENGTH, WRITTEN_OUT * 4 * (size_t)LENGTH + 5000);
    free(f.data);
    free(p.data);
}

/* ---- extra -------------------------------------------------------------------------------------------------- */

static void what_slots_cannot_hold_is_text(void **state) {
    (void)state;
    /* alpha was left out; max_value is not a float32 (an old version); two keys are undeclared. */
    flat_file f =
        flat_of_json(NETWORK_OF("3.6.2.82", INPUT_OP ",{\"_type_key\":\"icraft::xir::ReLU\",\"beta\":[1,null]," OP_IN
                                ",\"max_value\":0.1," OP_END ",\"tags\":{\"k\":\"v\"},\"threshold\":0.5,\"zz\":{}}," OUTPUT_OP));
    size_t relu = flat_op_at(&f, 1);
    assert_string_equal(flat_slot_text(&f, relu, 3 + AT_OP_EXTRA),
                        "{\"alpha\":null,\"beta\":[1,null],\"max_value\":0.1,\"zz\":{}}");
    assert_int_equal(flat_slot_at(&f, relu, 1), 0);
    assert_int_equal(flat_slot_number(&f, relu, 2, 4), 0x3F000000);
    assert_string_equal(flat_slot_text(&f, relu, 3 + AT_OP_TAGS), "{\"k\":\"v\"}");
    assert_int_equal(flat_slot_at(&f, relu, 3 + AT_OP_EXTRA_PARAMS), 0);
    free(f.data);
}

static void unknown_classes_are_text(void **state) {
    (void)state;
    flat_file f = flat_of_json(NETWORK_OF("3.33.1.0",
        "{\"_type_key\":\"icraft::xir::Input\",\"compile_target\":{\"_type_key\":\"someone::Target\"},\"inputs\":[],\"name\":\"\","
        "\"op_id\":0,\"outputs\":[{\"_type_key\":\"icraft::xir::Value\",\"dtype\":{\"_type_key\":\"someone::Type\",\"x\":1},"
        "\"mtype\":{\"_type_key\":\"someone::Memory\"},\"name\":\"\",\"tags\":{},\"v_id\":0,\"zz\":true}],\"tags\":{}}"));
    size_t input = flat_op_at(&f, 0), value = flat_item_at(&f, flat_slot_to(&f, input, AT_OP_OUTPUTS), 0);
    enum { CUSTOM_TARGET = 3 };   /* readers of the schema see a custom target */
    assert_int_equal(flat_slot_number(&f, input, AT_OP_TARGET_TYPE, 1), CUSTOM_TARGET);
    assert_string_equal(flat_slot_text(&f, flat_slot_to(&f, input, AT_OP_TARGET), 0),
                        "{\"_type_key\":\"someone::Target\"}");
    assert_int_equal(flat_slot_at(&f, input, AT_OP_EXTRA), 0);
    assert_int_equal(flat_slot_at(&f, value, AT_VALUE_DTYPE), 0);
    assert_int_equal(flat_slot_at(&f, value, AT_VALUE_MTYPE), 0);
    assert_string_equal(flat_slot_text(&f, value, AT_VALUE_EXTRA),
                        "{\"dtype\":{\"_type_key\":\"someone::Type\",\"x\":1},"
                        "\"mtype\":{\"_type_key\":\"someone::Memory\"},\"zz\":true}");
    free(f.data);
}

static void a_value_without_a_type_has_none(void **state) {
    (void)state;
    flat_file f = flat_of_json(TYPED("null"));
    size_t value = flat_item_at(&f, flat_slot_to(&f, flat_op_at(&f, 0), AT_OP_OUTPUTS), 0);
    assert_int_equal(flat_slot_at(&f, value, AT_VALUE_DTYPE_TYPE), 0);
    assert_int_equal(flat_slot_at(&f, value, AT_VALUE_EXTRA), 0);
    free(f.data);
}

/* An op without a table is Unknown; its Params are next to the text that has them. */
static void unknown_ops_have_their_params_in_extra_params(void **state) {
    (void)state;
    const char *text =
        NET_OF("{\"_type_key\":\"someone::Op\",\"a\":[" PARAM("8", "2") "," PARAM("9", "3") "," PARAM("8", "2") "],"
               OP_IN "," OP_END ",\"tags\":{}}");
    flat_file f = flat_of_json(text);
    size_t op = flat_op_at(&f, 1);
    assert_int_equal(f.data[flat_slot_to(&f, flat_root(&f), AT_NET_OPS_TYPE) + 5], 101);
    assert_int_equal(flat_slot_at(&f, op, 0), 0);
    assert_int_equal(flat_slot_at(&f, op, 1), 0);
    assert_string_equal(flat_slot_text(&f, op, 2 + AT_OP_EXTRA),
                        "{\"_type_key\":\"someone::Op\",\"a\":[" PARAM("8", "2") ","
                                                                 PARAM("9", "3") "," PARAM("8", "2") "]}");
    size_t table = flat_slot_to(&f, op, 2 + AT_OP_EXTRA_PARAMS);
    assert_int_equal(flat_count(&f, table), 2);
    assert_int_equal(flat_slot_number(&f, flat_item_at(&f, table, 0), AT_PARAMS_ID, 8), 8);
    assert_int_equal(flat_slot_number(&f, flat_item_at(&f, table, 1), AT_PARAMS_ID, 8), 9);
    free(f.data);

    /* The class that really has this name has slots, and no class key in its text. */
    f = flat_of_json(
        NET_OF("{\"_type_key\":\"icraft::xir::Unknown\"," OP_IN ",\"json_info\":\"j\",\"msg_info\":\"m\"," OP_END
               ",\"tags\":{},\"u\":0}"));
    op = flat_op_at(&f, 1);
    assert_string_equal(flat_slot_text(&f, op, 0), "m");
    assert_string_equal(flat_slot_text(&f, op, 1), "j");
    assert_string_equal(flat_slot_text(&f, op, 2 + AT_OP_EXTRA), "{\"u\":0}");
    free(f.data);
}

/* Rows of a program's own class are text; rows that were left out stay out. */
static void ops_of_own_classes_are_unknown(void **state) {
    (void)state;
    static const xir_class_decl *(*const own[])(void) = { xir_own_grain_class, xir_own_thing_class, xir_own_box_class,
                                                          xir_own_mix_class };
    for (size_t i = 0; i < COUNT(own); i++) xir_class_register(ctx, own[i](), NULL);
    const xir_class *mix = xir_class_find_decl(ctx, xir_own_mix_class());
    assert_non_null(mix);
    char text[6000];
    xir_str row = { NULL, 0 };
    for (size_t i = 0; i < xir_class_field_count(mix) && !row.size; i++) {
        if (xir_class_field_at(mix, i)->kind == XIR_KIND_I64) row = xir_class_field_at(mix, i)->name;
    }
    bool before = str_order(row, XIR_STR("compile_target")) < 0, middle = !before &&
        str_order(row, XIR_STR("inputs")) < 0;
    char item[100];
    snprintf(item, sizeof item, "\"%.*s\":3,", (int)row.size, row.data ? row.data : "");
    snprintf(text, sizeof text,
             NET_OF("{\"_type_key\":\"%.*s\",%s\"compile_target\":\"@hostt\",%s\"inputs\":[],%s\"name\":\"r\","
                    "\"op_id\":1,\"outputs\":[" VALUE("1", "1,2,2,3") "],\"tags\":{}}"),
             (int)xir_class_key(mix).size, xir_class_key(mix).data, before ? item : "", middle ? item : "",
             row.size && !before && !middle ? item : "");
    flat_file f = flat_of_json(text);
    char expected[300];
    item[strlen(item) - 1] = '\0';
    snprintf(expected, sizeof expected, "{\"_type_key\":\"%.*s\"%s%s}", (int)xir_class_key(mix).size,
             xir_class_key(mix).data, row.size ? "," : "", row.size ? item : "");
    assert_string_equal(flat_slot_text(&f, flat_op_at(&f, 1), 2 + AT_OP_EXTRA), expected);
    free(f.data);
}

static void missing_keys_of_the_network(void **state) {
    (void)state;
    flat_file f = flat_of_json("{\"_type_key\":\"icraft::xir::Network\",\"ops\":[],\"tags\":{},\"zz\":1}");
    size_t root = flat_root(&f);
    for (unsigned slot = AT_NET_NAME; slot <= AT_NET_MD5; slot++) assert_int_equal(flat_slot_at(&f, root, slot), 0);
    assert_int_equal(flat_count(&f, flat_slot_to(&f, root, AT_NET_OPS)), 0);
    assert_int_equal(flat_slot_at(&f, root, AT_NET_TARGET), 0);
    assert_string_equal(flat_slot_text(&f, root, AT_NET_EXTRA), "{\"params_bytes\":null,\"zz\":1}");
    free(f.data);
    /* Present, and null. */
    f = flat_of_json("{\"_type_key\":\"icraft::xir::Network\",\"ai_target\":null,\"name\":\"\",\"ops\":[],\"params_bytes\":0,\"tags\":{}}");
    root = flat_root(&f);
    assert_string_equal(flat_slot_text(&f, root, AT_NET_NAME), "");
    assert_string_equal(flat_slot_text(&f, root, AT_NET_EXTRA), "{\"ai_target\":null}");
    free(f.data);
}

static void absent_inputs_are_unions_of_nothing(void **state) {
    (void)state;
    flat_file f = flat_of_json(
        NET_OF("{\"_type_key\":\"someone::Op\",\"compile_target\":\"@hostt\",\"inputs\":[null," VALUE("0", "1,2,2,3")
               ",null]," OP_END ",\"tags\":{}}"));
    size_t op = flat_op_at(&f, 1), inputs = flat_slot_to(&f, op, 2 + AT_OP_INPUTS);
    assert_int_equal(flat_count(&f, inputs), 2);   /* the last one is left out */
    assert_memory_equal(f.data + flat_slot_to(&f, op, 2 + AT_OP_INPUTS_TYPE) + 4, "\0\2", 2);
    assert_int_equal(flat_number(&f, inputs + 4, 4), 0);
    free(f.data);
}

/* One of each kind of attribute: slots.json. */
static void attributes_of_every_kind(void **state) {
    (void)state;
    char *json = golden("slots.json");
    flat_file f = flat_of_json(json);
    size_t add = flat_op_at(&f, 1), alpha = flat_slot_to(&f, add, 1), half = flat_item_at(&f, alpha, 0);
    assert_memory_equal(f.data + flat_slot_to(&f, add, 0) + 4, "\3\2\1\3", 4);   /* FloatImm, IntImm, Bool */
    assert_int_equal(flat_slot_number(&f, half, 0, 4), 0x3F000000);
    assert_int_equal(flat_slot_at(&f, half, 1), 0);   /* no type, no memory type */
    assert_int_equal(flat_slot_number(&f, flat_item_at(&f, alpha, 1), 0, 8), 2);
    assert_int_equal(flat_slot_number(&f, flat_item_at(&f, alpha, 2), 0, 1), 1);
    assert_int_equal(flat_count(&f, flat_slot_to(&f, add, 3)), 0);

    size_t max = flat_op_at(&f, 2), min = flat_op_at(&f, 3);
    assert_int_equal((int64_t)flat_slot_number(&f, flat_slot_to(&f, max, 0), 0, 8), -1);
    assert_int_equal(flat_slot_number(&f, max, 1, 1), 1);
    assert_int_equal(flat_slot_at(&f, min, 0), 0);   /* null */

    size_t units = flat_slot_to(&f, flat_op_at(&f, 4), 0), unit = flat_item_at(&f, units, 0);
    assert_int_equal(flat_number(&f, flat_slot_to(&f, unit, 0) + 4, 8), 3);
    assert_int_equal(flat_number(&f, flat_slot_to(&f, unit, 1) + 12, 8), 8);
    assert_string_equal(flat_slot_text(&f, flat_item_at(&f, units, 1), 2), "{\"zz\":1}");

    size_t other = flat_op_at(&f, 5);   /* a list with an object of an unknown class is text */
    assert_int_equal(flat_slot_at(&f, other, 0), 0);
    assert_int_equal(flat_slot_at(&f, other, 1), 0);
    assert_int_equal(flat_count(&f, flat_slot_to(&f, other, 3)), 1);
    assert_string_equal(flat_slot_text(&f, other, 6 + AT_OP_EXTRA),
                        "{\"alpha\":[{\"_type_key\":\"someone::Scalar\",\"v\":1},1.0]}");

    size_t norm = flat_op_at(&f, 8), layer = flat_op_at(&f, 9);
    assert_int_equal(flat_slot_number(&f, flat_slot_to(&f, norm, 2), AT_PARAMS_ID, 8), 4);   /* gamma; beta is absent */
    assert_int_equal(flat_slot_at(&f, norm, 3), 0);
    assert_string_equal(flat_slot_text(&f, flat_slot_to(&f, layer, 1 + AT_OP_TARGET), 0), "30S");

    /* A map with Params in it: they are in the text, and next to it. */
    size_t hard = flat_op_at(&f, 14), extra_params = flat_slot_to(&f, hard, 6 + AT_OP_EXTRA_PARAMS),
           instr = flat_slot_to(&f, hard, 0);
    assert_int_equal(flat_count(&f, instr), 3);
    assert_int_equal(flat_item_at(&f, instr, 0), flat_item_at(&f, instr, 2));
    assert_non_null(strstr(flat_slot_text(&f, hard, 3), "\"reg\":4294972444"));
    assert_int_equal(flat_count(&f, extra_params), 1);
    assert_int_equal(flat_item_at(&f, extra_params, 0), flat_item_at(&f, instr, 1));
    assert_int_equal((int64_t)flat_slot_number(&f, hard, 4, 8), -1);
    assert_string_equal(flat_slot_text(&f, flat_op_at(&f, 13), 0), "a b, b c -> a c \xC3\xA9\"\\");
    free(f.data);
    free(json);
}

/* ---- sub ops ------------------------------------------------------------------------------------------------ */

#define HARD(                                                                                                          \
    id, instr,                                                                                                         \
    subs) "{\"_type_key\":\"icraft::xir::HardOp\",\"compile_target\":\"@buyit\",\"device_info\":{},\"inputs\":[],"     \
    "\"instr\":[" instr "],\"layer_count\":0,\"name\":\"\",\"op_id\":" id ",\"origin_ops_id\":[],\"outputs\":[],\"params\":[]," \
    "\"sub_hard_ops\":[" subs "],\"tags\":{}}"
#define OTHER_SUB "{\"_type_key\":\"someone::Op\",\"compile_target\":\"@hostt\",\"inputs\":[" PARAM(                   \
    "6", "2") "],\"name\":\"\",\"op_id\":9,"                                                                           \
    "\"outputs\":[],\"tags\":{}}"

static void sub_ops_are_tables_or_text(void **state) {
    (void)state;
    flat_file f =
        flat_of_json(NETWORK_OF("3.33.1.0", HARD("1", PARAM("5", "1"), HARD("2", PARAM("5", "1"), HARD("3", "", "")) ","
                                                 HARD("4", "", ""))));
    size_t op = flat_op_at(&f, 0), subs = flat_slot_to(&f, op, 5), sub = flat_item_at(&f, subs, 0);
    assert_int_equal(flat_count(&f, subs), 2);
    assert_int_equal(flat_slot_number(&f, sub, 6 + AT_OP_ID, 8), 2);
    assert_int_equal(flat_slot_number(&f, flat_item_at(&f, flat_slot_to(&f, sub, 5), 0), 6 + AT_OP_ID, 8), 3);
    assert_int_equal(flat_item_at(&f, flat_slot_to(&f, sub, 0), 0), flat_item_at(&f, flat_slot_to(&f, op, 0), 0));
    assert_string_equal(flat_slot_text(&f, op, 3), "{}");
    assert_int_equal(flat_slot_at(&f, op, 6 + AT_OP_EXTRA), 0);
    free(f.data);

    /* If one is not a HardOp, all of them are text, and the Params that they use are next to it. */
    f = flat_of_json(NETWORK_OF("3.33.1.0", HARD("1", "", HARD("2", PARAM("5", "1"), "") "," OTHER_SUB)));
    op = flat_op_at(&f, 0);
    assert_int_equal(flat_slot_at(&f, op, 5), 0);
    assert_string_equal(flat_slot_text(&f, op, 6 + AT_OP_EXTRA),
                        "{\"sub_hard_ops\":[" HARD("2", PARAM("5", "1"), "") "," OTHER_SUB "]}");
    size_t table = flat_slot_to(&f, op, 6 + AT_OP_EXTRA_PARAMS);
    assert_int_equal(flat_count(&f, table), 2);
    assert_int_equal(flat_slot_number(&f, flat_item_at(&f, table, 1), AT_PARAMS_ID, 8), 6);
    free(f.data);
}

/* ---- every class -------------------------------------------------------------------------------------------- */

static void every_class_of_operations(void **state) {
    (void)state;
    size_t tables = 0, others = 0;
    for (size_t i = 0; xir_context_class_at(ctx, i); i++) {
        const xir_class *cls = xir_context_class_at(ctx, i);
        if (!xir_class_is_op(cls)) continue;
        char text[1000];
        snprintf(text, sizeof text,
                 NETWORK_OF("3.33.1.0", "{\"_type_key\":\"%.*s\",\"compile_target\":\"@hostt\",\"inputs\":[],\"name\":"
                 "\"x\",\"op_id\":5,\"outputs\":[],\"tags\":{}}"),
                 (int)xir_class_key(cls).size, xir_class_key(cls).data);
        flat_file f = flat_of_json(text);
        size_t op = flat_op_at(&f, 0);
        bool own = xir_class_tag(cls) && memcmp(xir_class_key(cls).data, "icraft::xir::", 13) == 0;
        uint8_t tag = f.data[flat_slot_to(&f, flat_root(&f), AT_NET_OPS_TYPE) + 4];
        assert_int_equal(tag, own ? xir_class_tag(cls) : 101);
        if (!own) assert_string_equal(flat_slot_text(&f, op, 2 + AT_OP_NAME), "x");
        own ? tables++ : others++;
        free(f.data);
    }
    assert_int_equal(tables, 105);
    assert_true(others > 10);
}

/* ---- depth --------------------------------------------------------------------------------------------------- */

static xir_status written_nowhere(xir_network *net) {
    flat_file f = { 0 };
    xir_status status = flat_write_to(net, &f, 4096, why);
    assert_int_equal(f.size, 0);
    free(f.data);
    return status;
}

/* Nested sub ops: each takes two levels, as in JSON. The network, its list, an op and its lists are four. */
static void depth_is_limited(void **state) {
    (void)state;
    xir_limits usual = XIR_INIT(xir_limits), few;
    assert_int_equal(xir_context_limits(ctx, &usual, why), XIR_OK);
    few = usual;
    for (int levels = 0; levels < 4; levels++) {
        paper p = { 0 };
        put(&p, "{\"_type_key\":\"icraft::xir::Network\",\"ops\":[");
        for (int i = 0; i < levels; i++)
            put(&p, "{\"_type_key\":\"icraft::xir::HardOp\",\"inputs\":[],\"name\":\"\",\"op_id\":%d,\"outputs\":[],\"sub_hard_ops\":[", i);
        put(&p, "{\"_type_key\":\"icraft::xir::HardOp\",\"inputs\":[],\"name\":\"\",\"op_id\":99,\"outputs\":[],\"tags\":{}}");
        for (int i = 0; i < levels; i++) put(&p, "],\"tags\":{}}");
        put(&p, "],\"tags\":{}}");
        xir_network *net = must_read(p.data, p.size);
        few.max_depth = 4 + 2 * (uint32_t)levels;
        xir_context_set_limits(ctx, &few, why);
        free(flat_written(net).data);
        few.max_depth--;
        xir_context_set_limits(ctx, &few, why);
        assert_int_equal(written_nowhere(net), XIR_E_LIMIT);
        char sentence[100];
        snprintf(sentence, sizeof sentence, "nested deeper than %u", few.max_depth);
        check_finding(XIR_E_LIMIT, sentence);
        xir_context_set_limits(ctx, &usual, why);
        xir_network_free(net);
        free(p.data);
    }
    /* The depth of texts is limited too: tags of an op in the network's list are at level three. */
    const char *text =
        "{\"_type_key\":\"icraft::xir::Network\",\"ops\":[{\"_type_key\":\"icraft::xir::Input\",\"inputs\":[],\"name\":\"\","
                       "\"op_id\":0,\"outputs\":[],\"tags\":{\"a\":[[\"[\\\"{\"]]}}],\"tags\":{}}";
    xir_network *net = net_of(text);
    few.max_depth = 6;
    xir_context_set_limits(ctx, &few, why);
    free(flat_written(net).data);
    few.max_depth = 5;
    xir_context_set_limits(ctx, &few, why);
    assert_int_equal(written_nowhere(net), XIR_E_LIMIT);
    xir_diags_clear(why);
    xir_context_set_limits(ctx, &usual, why);
    xir_network_free(net);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_small_network_byte_by_byte),
        cmocka_unit_test(minus_zero_is_a_number),
        cmocka_unit_test(null_lists_and_empty_ones),
        cmocka_unit_test(layouts_distributions_and_arrays),
        cmocka_unit_test(long_runs_are_not_expanded),
        cmocka_unit_test(many_runs_are_not_expanded),
        cmocka_unit_test(what_slots_cannot_hold_is_text),
        cmocka_unit_test(unknown_classes_are_text),
        cmocka_unit_test(a_value_without_a_type_has_none),
        cmocka_unit_test(unknown_ops_have_their_params_in_extra_params),
        cmocka_unit_test(missing_keys_of_the_network),
        cmocka_unit_test(absent_inputs_are_unions_of_nothing),
        cmocka_unit_test(attributes_of_every_kind),
        cmocka_unit_test(sub_ops_are_tables_or_text),
        cmocka_unit_test(every_class_of_operations),
        cmocka_unit_test(depth_is_limited),
        cmocka_unit_test(ops_of_own_classes_are_unknown),
    };
    return RUN_GROUP(tests);
}
