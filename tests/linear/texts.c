/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Shapes of files: JSON and MessagePack. Calls cannot build many of these networks. */
#include "linear/shapes.h"
#include <stdarg.h>

void put(bytes *b, const void *data, size_t size) {
    if (b->size + size > b->room) {
        b->room = 2 * (b->size + size);
        b->data = realloc(b->data, b->room);
        if (!b->data) abort();
    }
    memcpy(b->data + b->size, data, size);
    b->size += size;
}

void putf(bytes *b, const char *format, ...) {
    char text[400];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n < 0 || (size_t)n >= sizeof text) abort();
    put(b, text, (size_t)n);
}

/* Items with commas between them. */
#define ITEMS(b, n, ...)                       \
    for (i64 i = 0; i < (i64)(n); i++) {       \
        if (i) put_text(b, ",");               \
        putf(b, __VA_ARGS__);                  \
    }

/* ---- JSON ------------------------------------------------------------------------------------------------------- */

#define TYPE \
    "{\"_type_key\":\"icraft::xir::TensorType\",\"element_dtype\":\"@fp(32)\",\"layout\":\"@layout(*)\",\"merged_distrs\":[],\"shape\":[4]}"
#define VALUE \
    "{\"_type_key\":\"icraft::xir::Value\",\"dtype\":" TYPE ",\"mtype\":\"@hostm\",\"name\":\"\",\"tags\":{},\"v_id\":%lld}"

static void head(bytes *b) { put_text(b, "{\"_type_key\":\"icraft::xir::Network\",\"name\":\"shape\","); }

/* An op of an unknown class, with more members. */
#define OP "{\"_type_key\":\"t::Op\",%s\"inputs\":[%s],\"name\":\"\",\"op_id\":%lld,\"outputs\":[%s],\"tags\":{}}"

static void one_op(bytes *b, const char *before) {
    head(b);
    putf(b, "\"ops\":[{\"_type_key\":\"t::Op\",%s", before);
}
static void end_op(bytes *b) { put_text(b, "\"inputs\":[],\"name\":\"\",\"op_id\":0,\"outputs\":[],\"tags\":{}}]}"); }

static void tags_of_network(bytes *b, int64_t n) {
    head(b);
    put_text(b, "\"tags\":{");
    ITEMS(b, n, "\"k%lld\":%lld", i, i)
    put_text(b, "},\"ops\":[]}");
}

static void tags_of_one_op(bytes *b, int64_t n) {
    head(b);
    put_text(b, "\"ops\":[{\"_type_key\":\"t::Op\",\"inputs\":[],\"name\":\"\",\"op_id\":0,\"outputs\":[],\"tags\":{");
    ITEMS(b, n, "\"k%lld\":\"v\"", (n - i) * 7919 % 1000003)
    put_text(b, "}}]}");
}

static void tags_of_values(bytes *b, int64_t n) {
    head(b);
    put_text(b, "\"ops\":[");
    for (i64 i = 0; i < n; i++) {
        putf(b, "%s{\"_type_key\":\"t::Op\",\"inputs\":[],\"name\":\"\",\"op_id\":%lld,", i ? "," : "", i);
        put_text(b, "\"outputs\":[{\"_type_key\":\"icraft::xir::Value\",\"dtype\":" TYPE ",\"mtype\":\"@hostm\",\"name\":\"\",");
        putf(b, "\"tags\":{\"a\":%lld},\"v_id\":%lld}],\"tags\":{}}", i, i);
    }
    put_text(b, "]}");
}

static void keys_of_network(bytes *b, int64_t n) {
    head(b);
    for (i64 i = 0; i < n; i++) putf(b, "\"z%lld\":null,", i);
    put_text(b, "\"ops\":[]}");
}

static void attributes(bytes *b, int64_t n) {
    one_op(b, "");
    for (i64 i = 0; i < n; i++) putf(b, "\"attr%lld\":[%lld],", i, i);
    end_op(b);
}

static void one_long_list(bytes *b, int64_t n) {
    one_op(b, "\"a\":[");
    ITEMS(b, n, "%lld", i)
    put_text(b, "],");
    end_op(b);
}

static void list_of_lists(bytes *b, int64_t n) {
    one_op(b, "\"a\":[");
    ITEMS(b, n, "[[%lld]]", i)
    put_text(b, "],");
    end_op(b);
}

static void small_maps(bytes *b, int64_t n) {
    one_op(b, "\"a\":[");
    ITEMS(b, n, "{\"k\":%lld}", i)
    put_text(b, "],");
    end_op(b);
}

static void deep_values(bytes *b, int64_t n) {
    one_op(b, "\"a\":[");
    for (i64 i = 0; i < n / 16; i++) {
        if (i) put_text(b, ",");
        for (int k = 0; k < 16; k++) put_text(b, "[");
        for (int k = 0; k < 16; k++) put_text(b, "]");
    }
    put_text(b, "],");
    end_op(b);
}

static void one_key_again(bytes *b, int64_t n) {
    one_op(b, "\"a\":{");
    ITEMS(b, n, "\"k\":%lld", i)
    put_text(b, "},");
    end_op(b);
}

static void long_text(bytes *b, int64_t n) {
    one_op(b, "\"a\":\"");
    for (i64 i = 0; i < n; i++) put_text(b, "\\u0041\\n\xC3\xA9 text ");
    put_text(b, "\",");
    end_op(b);
}

static void long_number(bytes *b, int64_t n) {
    one_op(b, "\"a\":0.");
    for (i64 i = 0; i < 10 * n; i++) put_text(b, "7");
    put_text(b, ",");
    end_op(b);
}

static void blanks(bytes *b, int64_t n) {
    head(b);
    for (i64 i = 0; i < n; i++) put_text(b, "\n          \t");
    put_text(b, "\"ops\":[]}");
}

static void uses_before_makers(bytes *b, int64_t n) {
    head(b);
    put_text(b, "\"ops\":[");
    for (i64 i = 0; i < n; i++) {
        putf(b, "%s{\"_type_key\":\"t::Op\",\"inputs\":[", i ? "," : "");
        putf(b, VALUE, n - i - 1);
        putf(b, "],\"name\":\"\",\"op_id\":%lld,\"outputs\":[", i);
        putf(b, VALUE, n - i);
        put_text(b, "],\"tags\":{}}");
    }
    put_text(b, "]}");
}

static void values_without_makers(bytes *b, int64_t n) {
    head(b);
    put_text(b, "\"ops\":[");
    for (i64 i = 0; i < n; i++) {
        putf(b, "%s{\"_type_key\":\"t::Op\",\"inputs\":[", i ? "," : "");
        putf(b, VALUE, 2 * i);
        putf(b, "],\"name\":\"\",\"op_id\":%lld,\"outputs\":[],\"tags\":{}}", i);
    }
    put_text(b, "]}");
}

static void faulty_ops(bytes *b, int64_t n) {
    head(b);
    put_text(b, "\"ops\":[");
    ITEMS(b, n, "{\"_type_key\":\"icraft::xir::ReLU\",\"inputs\":[],\"name\":\"\",\"op_id\":%lld,\"outputs\":[],\"tags\":{}}", i)
    put_text(b, "]}");
}

static void empty_ops(bytes *b, int64_t n) {
    head(b);
    put_text(b, "\"ops\":[");
    ITEMS(b, n, "{\"_type_key\":\"t::Op\",\"inputs\":[],\"name\":\"\",\"op_id\":%lld,\"outputs\":[],\"tags\":{}}", i)
    put_text(b, "]}");
}

static void cut_off(bytes *b, int64_t n) {
    head(b);
    put_text(b, "\"ops\":[");
    for (i64 i = 0; i < n; i++)
        putf(b, "{\"_type_key\":\"t::Op\",\n\"inputs\":[],\"name\":\"\",\"op_id\":%lld,\"outputs\":[],\"tags\":{}},\n",
             i);
}

static void only_brackets(bytes *b, int64_t n) {
    for (i64 i = 0; i < n; i++) put_text(b, "[{\"a\":");
}

const file_shape json_shapes[] = {
    SHAPE(tags_of_network), SHAPE(tags_of_one_op), SHAPE(tags_of_values), SHAPE(keys_of_network), SHAPE(attributes), SHAPE(one_long_list),
    SHAPE(list_of_lists), SHAPE(small_maps), SHAPE(deep_values), SHAPE(one_key_again), SHAPE(long_text), SHAPE(long_number), SHAPE(blanks),
    SHAPE(uses_before_makers), SHAPE(values_without_makers), SHAPE(faulty_ops), SHAPE(empty_ops), REFUSED(cut_off), REFUSED(only_brackets),
};
const size_t n_json_shapes = sizeof json_shapes / sizeof *json_shapes;

/* ---- MessagePack ------------------------------------------------------------------------------------------------ */

static void put_count(bytes *b, char kind, int64_t n) {
    const char count[] = { kind, (char)(n >> 24), (char)(n >> 16), (char)(n >> 8), (char)n };
    put(b, count, sizeof count);
}

static void packed_head(bytes *b, int64_t n) {
    put_text(b, "\x83\xA9_type_key\xB4icraft::xir::Network\xA3ops\x90\xA4tags\x81\xA1" "a");
    put_count(b, '\xDD', n);
}

static void packed_nils(bytes *b, int64_t n) {
    packed_head(b, 40 * n);
    for (i64 i = 0; i < 40 * n; i++) put_text(b, "\xC0");
}

static void packed_maps(bytes *b, int64_t n) {
    packed_head(b, 10 * n);
    for (i64 i = 0; i < 10 * n; i++) put_text(b, "\x81\xA0\xC0");
}

static void packed_keys(bytes *b, int64_t n) {
    packed_head(b, 1);
    put_count(b, '\xDF', n);
    for (i64 i = 0; i < n; i++) putf(b, "\xA8%08llx\xC0", i * 7919 % 1000003);
}

static void packed_promises(bytes *b, int64_t n) {
    packed_head(b, n);
    for (i64 i = 0; i < n; i++) put_count(b, '\xDD', 100);
}

const file_shape packed_shapes[] = { SHAPE(packed_nils), SHAPE(packed_maps), SHAPE(packed_keys),
                                     REFUSED(packed_promises) };
const size_t n_packed_shapes = sizeof packed_shapes / sizeof *packed_shapes;
