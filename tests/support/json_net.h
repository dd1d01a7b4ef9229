/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Networks as text, written without the library: small ones by hand, and random ones that use everything a file may
 * contain. Keys are in byte order and there are no blanks, so a reader and a writer must give the same text back. */
#ifndef TESTS_JSON_NET_H
#define TESTS_JSON_NET_H

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <xir/xir.h>
#include "forms.h"

/* A text that grows. */
typedef struct paper { char *data; size_t size, room; } paper;

static inline void put_bytes(paper *p, const char *data, size_t size) {
    if (p->size + size + 1 > p->room) {
        p->room = (p->size + size + 1) * 2;
        p->data = realloc(p->data, p->room);
        if (!p->data) abort();
    }
    memcpy(p->data + p->size, data, size);
    p->size += size;
    p->data[p->size] = '\0';
}

static inline void put(paper *p, const char *what, ...) {
    char text[4096];
    va_list args;
    va_start(args, what);
    int n = vsnprintf(text, sizeof text, what, args);
    va_end(args);
    if (n < 0 || (size_t)n >= sizeof text) abort();
    put_bytes(p, text, (size_t)n);
}

/* The text in a block of exactly its size, so that a sanitizer detects a read past the end. Free it. */
static inline char *block_of(const char *text, size_t size) {
    char *block = malloc(size ? size : 1);
    if (!block) abort();
    if (size) memcpy(block, text, size);
    return block;
}

static inline xir_network *read_net(const char *text, size_t size) {
    char *block = block_of(text, size);
    xir_network *net = xir_json_read(ctx, (xir_str){ block, size }, XIR_STR("test.json"), why);
    free(block);
    return net;
}

static inline void show_findings(void) { xir_diags_print(why, stderr); }

/* Reads a network; it must succeed. */
static inline xir_network *must_read(const char *text, size_t size) {
    xir_network *net = read_net(text, size);
    if (!net) show_findings();
    assert_non_null(net);
    assert_int_equal(xir_diags_count(why), 0);
    return net;
}

/* Compares long texts, and prints where they begin to differ. */
static inline void check_same(const char *a, size_t n, const char *b, size_t m) {
    size_t i = 0;
    while (i < n && i < m && a[i] == b[i]) i++;
    if (i == n && i == m) return;
    size_t from = i > 60 ? i - 60 : 0;
    fprintf(stderr, "differ from byte %zu of %zu and %zu:\n  %.*s\n  %.*s\n", i, n, m,
            (int)(n - from > 160 ? 160 : n - from), a + from, (int)(m - from > 160 ? 160 : m - from), b + from);
    assert_true(false);
}

static inline void check_prints(xir_network *net, int indent, const char *text, size_t size) {
    xir_text_buffer out;
    assert_int_equal(xir_json_print(net, indent, &out), XIR_OK);
    check_same(out.data, out.size, text, size);
    xir_text_free(&out);
}

/* Reading and writing must give the same text. */
static inline void check_round(const char *text, size_t size) {
    xir_network *net = must_read(text, size);
    check_prints(net, 0, text, size);
    xir_network_free(net);
}

/* ---- by hand ----------------------------------------------------------------------------------------------- */

#define FP32(shape) "{\"_type_key\":\"icraft::xir::TensorType\",\"element_dtype\":\"@fp(32)\"," \
                    "\"layout\":\"@layout(NHWC)\",\"merged_distrs\":[],\"shape\":[" shape "]}"
#define VALUE(id, shape) "{\"_type_key\":\"icraft::xir::Value\",\"dtype\":" FP32(shape) \
                         ",\"mtype\":\"@hostm\",\"name\":\"\",\"tags\":{},\"v_id\":" id "}"
#define PARAM(id, shape) "{\"_allow_no_data\":false,\"_type_key\":\"icraft::xir::Params\",\"dtype\":" FP32(shape) \
                         ",\"mtype\":\"@hostm\",\"name\":\"\",\"tags\":{},\"v_id\":" id "}"
#define INPUT_OP "{\"_type_key\":\"icraft::xir::Input\",\"compile_target\":\"@hostt\",\"inputs\":[],\"name\":\"\",\"op_id\":0," \
                 "\"outputs\":[" VALUE("0", "1,2,2,3") "],\"tags\":{}}"
#define RELU_OP "{\"_type_key\":\"icraft::xir::ReLU\",\"alpha\":0.0,\"compile_target\":\"@hostt\",\"inputs\":[" \
                VALUE("0", "1,2,2,3") "],\"max_value\":\"inf\",\"name\":\"r\",\"op_id\":1,\"outputs\":[" \
                VALUE("1", "1,2,2,3") "],\"tags\":{},\"threshold\":0.0}"
#define OUTPUT_OP "{\"_type_key\":\"icraft::xir::Output\",\"compile_target\":\"@hostt\",\"inputs\":[" \
                  VALUE("1", "1,2,2,3") "],\"name\":\"\",\"op_id\":2,\"outputs\":[],\"tags\":{}}"
#define NETWORK_OF(version, ops) \
    "{\"_type_key\":\"icraft::xir::Network\",\"ai_target\":\"@buyit\",\"framework_kind\":\"PYTORCH\"," \
    "\"framework_version\":\"1.9\",\"icraft_version\":\"v3.33.1\",\"icraft_xir_version\":\"" version "\"," \
    "\"name\":\"n\",\"ops\":[" ops "],\"params_bytes\":0,\"params_md5\":\"d41d8cd98f00b204e9800998ecf8427e\",\"tags\":{}}"
#define SMALL NETWORK_OF("3.33.1.0", INPUT_OP "," RELU_OP "," OUTPUT_OP)

/* ---- random ------------------------------------------------------------------------------------------------ */

static inline bool now_and_then(uint64_t n) { return chance(n) == 0; }

static inline void random_text(paper *p) {
    static const char *const parts[] = { "a", "conv", "x y", "\\\"", "\\\\", "\\n", "\\u0001", "\\u001f", "\xC3\xA9",
                                         "\xE4\xB8\xAD",
                                         "\xF0\x9F\x98\x80", "/", "~", "@", "\x7F", "0123456789abcdef0123456789abcdef" };
    put(p, "\"");
    for (uint64_t n = chance(4); n > 0; n--) put(p, "%s", parts[chance(sizeof parts / sizeof parts[0])]);
    put(p, "\"");
}

static inline void random_number(paper *p) {
    static const char *const numbers[] = { "0", "1", "-1", "7", "255", "-9223372036854775808", "9223372036854775807",
                                           "9223372036854775808",
                                           "18446744073709551615", "0.0", "-0.0", "0.5", "1.0", "1e-05", "1e+16", "0.1",
                                           "1.2345678901234568e+17", "5e-324", "1.7976931348623157e+308", "100000000000000.0" };
    put(p, "%s", numbers[chance(sizeof numbers / sizeof numbers[0])]);
}

static inline void random_any(paper *p, int depth) {
    uint64_t kind = chance(depth > 0 ? 7 : 5);
    switch (kind) {
    case 0: put(p, "null"); break;
    case 1: put(p, now_and_then(2) ? "true" : "false"); break;
    case 2: random_number(p); break;
    case 3: random_text(p); break;
    case 4: put(p, now_and_then(2) ? "[]" : "{}"); break;
    case 5:
        put(p, "[");
        for (uint64_t n = chance(4), i = 0; i <= n; i++) {
            if (i) put(p, ",");
            random_any(p, depth - 1);
        }
        put(p, "]");
        break;
    default:
        put(p, "{");
        for (uint64_t n = chance(4), i = 0; i <= n; i++) {
            put(p, "%s\"k%" PRIu64 "\":", i ? "," : "", i);
            random_any(p, depth - 1);
        }
        put(p, "}");
    }
}

static inline void random_tags(paper *p) {
    if (!now_and_then(6)) {
        put(p, "{}");
        return;
    }
    put(p, "{\"a\":");
    random_any(p, 2);
    put(p, ",\"b\":");
    random_any(p, 0);
    put(p, "}");
}

static inline void random_element(paper *p) {
    static const char *const forms[] = { "@fp(32)", "@fp(16)", "@bf(16)", "@sint(8)", "@uint(8)", "@uint(12)", "@bool",
                                         "@tf(32)" };
    switch (chance(8)) {
    case 0:
        put(p, "{\"_type_key\":\"icraft::xir::QuantizedType\",\"expressed_dtype\":\"@fp(32)\",\"scale\":\"@scales([axis=-1]4*0.5,%d*0.1)\","
               "\"storage_dtype\":\"@sint(8)\",\"zero_points\":[%d]}", (int)chance(5) + 2, (int)chance(3));
        break;
    case 1:
        put(p, "{\"_type_key\":\"icraft::xir::NormalizedQuantizedType\",\"expressed_dtype\":\"@fp(32)\",\"normratio\":"
               "\"@norm_ratios([axis=-1]1.007874)\",\"scale\":\"@exp_scales([axis=-1]%d/0/1)\",\"storage_dtype\":\"@sint(8)\","
               "\"zero_points\":[]}", (int)chance(3) + 1);
        break;
    case 2:
        if (now_and_then(3)) put(p, "{\"_type_key\":\"someone::Element\",\"bits\":%d}", (int)chance(3));
        else put(p, "{\"_type_key\":\"icraft::xir::CalibratedType\",\"expressed_dtype\":\"@fp(32)\",\"max\":[0.5],\"min\":[-0.5],\"sat\":[],"
                    "\"storage_dtype\":\"@sint(8)\"}");
        break;
    default: put(p, "\"%s\"", forms[chance(sizeof forms / sizeof forms[0])]); break;
    }
}

static inline void random_type(paper *p) {
    if (now_and_then(20)) {
        put(p, now_and_then(2) ? "null" : "\"@fp(32)\"");
        return;
    }
    put(p, "{\"_type_key\":\"icraft::xir::TensorType\",\"element_dtype\":");
    random_element(p);
    put(p, ",\"layout\":\"@layout(%s)\"", now_and_then(3) ? "NCHWc32" : "NHWC");
    if (!now_and_then(30))
        put(p, ",\"merged_distrs\":[%s]", now_and_then(5) ? "\"@merged_distr([1, 4]^ZERO:{v:[0, 1), u:[1, 9)})\"" : "");
    put(p, ",\"shape\":[1,%d,%d,3]", (int)chance(3) * 100 + 1, (int)chance(3) + 1);
    if (now_and_then(30)) put(p, ",\"zzz\":[1,{\"a\":null}]");
    put(p, "}");
}

static inline void random_value(paper *p, bool constant, int64_t id) {
    static const char *const places[] = { "@hostm", "@hostm", "@hostm", "@ocm(1234)", "@etm(36299968)",
                                          "@chunk(1234@100)" };
    put(p, "{");
    if (constant) put(p, "\"_allow_no_data\":%s,", now_and_then(4) ? "true" : "false");
    put(p, "\"_type_key\":\"icraft::xir::%s\",\"dtype\":", constant ? "Params" : "Value");
    random_type(p);
    if (now_and_then(40)) put(p, ",\"mtype\":{\"_type_key\":\"someone::Memory\"},\"name\":");
    else put(p, ",\"mtype\":\"%s\",\"name\":", places[chance(6)]);
    if (now_and_then(2)) random_text(p);
    else put(p, "\"\"");
    put(p, ",\"tags\":");
    random_tags(p);
    put(p, ",\"v_id\":%" PRId64, id);
    if (now_and_then(40)) put(p, ",\"zz\":1.5");
    put(p, "}");
}

/* The parts of a random network so far: the texts of its values. */
typedef struct rough {
    paper    text;
    char    *values[4000];
    bool     params[4000];
    int64_t  next_value, next_op;
    size_t   n_values;
    bool     old;          /* a version before 3.30: reals are doubles      */
    bool     single;       /* before 3.31: a list of one item may be that item */
} rough;

static inline const char *new_value(rough *r, bool constant) {
    if (r->n_values == 4000) abort();
    paper p = { 0 };
    r->next_value += (int64_t)chance(3) + 1;
    random_value(&p, constant, r->next_value);
    r->params[r->n_values] = constant;
    return r->values[r->n_values++] = p.data;
}

/* A value for an input: usually an existing one. */
static inline const char *some_value(rough *r) {
    if (!r->n_values || now_and_then(3)) return new_value(r, !now_and_then(4));
    return r->values[now_and_then(2) ? r->n_values - 1 : chance(r->n_values)];
}

static inline const char *some_params(rough *r) {
    for (int i = 0; i < 4 && r->n_values; i++) {
        size_t at = chance(r->n_values);
        if (r->params[at]) return r->values[at];
    }
    return new_value(r, true);
}

static inline void put_inputs(rough *r, uint64_t most) {
    paper *p = &r->text;
    put(p, "\"inputs\":[");
    uint64_t n = chance(most + 1);
    for (uint64_t i = 0; i < n; i++) {
        if (i) put(p, ",");
        if (i + 1 < n && now_and_then(8)) put(p, "null");
        else put(p, "%s", some_value(r));
    }
    put(p, "]");
}

static inline void put_id(rough *r) {
    paper *p = &r->text;
    put(p, "\"name\":");
    if (now_and_then(2)) random_text(p);
    else put(p, "\"\"");
    r->next_op += (int64_t)chance(4) + 1;
    put(p, ",\"op_id\":%" PRId64, r->next_op);
}

static inline void put_outputs(rough *r) {
    paper *p = &r->text;
    put(p, ",\"outputs\":[");
    for (uint64_t n = chance(now_and_then(6) ? 9 : 3), i = 0; i < n; i++)
        put(p, "%s%s", i ? "," : "", new_value(r, false));
    put(p, "]");
}

static inline void put_ids(rough *r) {
    put_id(r);
    put_outputs(r);
}

static inline void put_target(paper *p) {
    static const char *const targets[] = { "@hostt", "@hostt", "@buyit", "@zhuget(330)", "@fpgat" };
    if (now_and_then(40)) put(p, "\"compile_target\":{\"_type_key\":\"someone::Target\",\"x\":[%d]}", (int)chance(2));
    else put(p, "\"compile_target\":\"%s\"", targets[chance(5)]);
}

static inline void put_tags(paper *p) {
    put(p, "\"tags\":");
    random_tags(p);
}

/* A float attribute: a number that a float32 holds exactly, or any double in old files. */
static inline void put_float(rough *r, const char *key) {
    static const char *const reals[] = { "0.0", "1.0", "0.5", "-0.0", "\"inf\"", "\"-inf\"", "\"nan\"",
                                         "0.10000000149011612" };
    static const char *const doubles[] = { "4.8", "0.1", "3.14", "1e+300" };
    if (r->old && now_and_then(2)) put(&r->text, "\"%s\":%s", key, doubles[chance(4)]);
    else put(&r->text, "\"%s\":%s", key, reals[chance(8)]);
}

static inline void put_extra(paper *p, const char *key) {
    if (!now_and_then(8)) return;
    put(p, ",\"%s\":", key);
    random_any(p, 2);
}

static inline void put_hard_op(rough *r, int depth);

static inline void random_op(rough *r) {
    paper *p = &r->text;
    switch (chance(6)) {
    case 0:
        put(p, "{\"_type_key\":\"icraft::xir::ReLU\"");
        if (!now_and_then(8)) put(p, ","), put_float(r, "alpha");
        put(p, ",");
        put_target(p);
        put(p, ",");
        put_inputs(r, 2);
        put(p, ",");
        put_float(r, "max_value");
        put(p, ",");
        put_ids(r);
        put(p, ",");
        put_tags(p);
        if (!now_and_then(8)) put(p, ","), put_float(r, "threshold");
        put_extra(p, "zeta");
        put(p, "}");
        break;
    case 1: {
        static const char *const modes[] = { "ZEROS", "REFLECT", "REPLICATE", "CIRCULAR" };
        put(p, "{");
        if (now_and_then(8)) put(p, "\"A\":1,");
        put(p, "\"_type_key\":\"icraft::xir::Conv2d\",");
        put_target(p);
        put(p, ",\"cut_scale\":\"@scales([axis=-1]%s)\",\"dilation_height\":%d,\"dilation_width\":%" PRId64,
            now_and_then(2) ? "" : "3*0.5", (int)chance(3), some_number());
        put_extra(p, "dimension");
        if (!now_and_then(4)) put(p, ",\"groups\":%" PRId64, some_number() | 2);
        put(p, ",");
        put_inputs(r, 3);
        put(p, ",");
        put_ids(r);
        put(p, ",\"pad_bottom\":%d,\"pad_left\":1,\"pad_right\":1,\"pad_top\":1,\"padding_mode\":\"%s\",\"stride_height\":2,\"stride_width\":2,",
            (int)chance(2), modes[chance(4)]);
        put_tags(p);
        put(p, "}");
        break;
    }
    case 2:
        put(p, "{\"_type_key\":\"icraft::xir::Add\",\"alpha\":[%s],\"beta\":[2,true,0.5],",
            now_and_then(8) ? "{\"_type_key\":\"someone::Scalar\",\"v\":null}" : now_and_then(2) ? "1.0" : "");
        put_target(p);
        put(p, ",\"cut_scale\":%s,", now_and_then(4) ? "null" : "\"@exp_scales([axis=-1]3/3/0.377)\"");
        put_inputs(r, 2);
        put(p, ",");
        put_ids(r);
        put(p, ",");
        put_tags(p);
        put(p, "}");
        break;
    case 3:
        put(p, "{\"_type_key\":\"someone::Op%d\",", (int)chance(3));
        put_target(p);
        if (now_and_then(2)) put(p, ",\"gamma\":%s", some_params(r));
        put(p, ",");
        put_inputs(r, 4);
        put_extra(p, "list");
        put(p, ",");
        put_ids(r);
        put(p, ",\"params\":[1,[%s],{\"deep\":%s}],", some_params(r), some_params(r));
        put_tags(p);
        put_extra(p, "zeta");
        put(p, "}");
        break;
    case 4:
        put(p, "{\"_type_key\":\"icraft::xir::AlignAxis\",\"aligned_units\":[{\"_type_key\":\"icraft::xir::AlignedUnit\",\"index\":[3],"
               "\"unit\":[%d]}],", (int)chance(9));
        put_target(p);
        put(p, ",");
        put_inputs(r, 1);
        put(p, ",");
        put_ids(r);
        put(p, ",");
        put_tags(p);
        put(p, "}");
        break;
    default: put_hard_op(r, 2); break;
    }
}

static inline void put_hard_op(rough *r, int depth) {
    paper *p = &r->text;
    put(p, "{\"_type_key\":\"icraft::xir::HardOp\",");
    put_target(p);
    put(p, ",\"device_info\":{\"a\":4294972444%s},", now_and_then(2) ? ",\"b\":18446744073709551615" : "");
    put_inputs(r, 3);
    bool single = r->single && now_and_then(2);
    put(p, single ? ",\"instr\":%s" : ",\"instr\":[%s", some_params(r));
    if (!single && (r->single || now_and_then(2))) put(p, ",%s", some_params(r));
    put(p, single ? "" : "]");
    put(p, ",\"layer_count\":%d,", (int)chance(4));
    put_id(r);
    put(p, ",\"origin_ops_id\":[");
    for (uint64_t n = chance(4), i = 0; i < n; i++) put(p, "%s%" PRId64, i ? "," : "", some_number());
    put(p, "]");
    put_outputs(r);
    put(p, ",\"params\":[%s]", now_and_then(2) ? "" : some_params(r));
    if (!now_and_then(3)) {
        put(p, ",\"sub_hard_ops\":[");
        for (uint64_t n = depth > 0 ? chance(3) : 0, i = 0; i < n; i++) {
            if (i) put(p, ",");
            put_hard_op(r, depth - 1);
        }
        put(p, "]");
    }
    put(p, ",");
    put_tags(p);
    put(p, "}");
}

/* A network of up to `most` ops; free it. */
static inline paper random_network(uint64_t most) {
    static const char *const versions[] = { "3.33.1.0", "3.33.1.0", "3.30.0.0", "3.6.2.82", "2.0.0.1" };
    rough r = { .next_value = -1, .next_op = -1 };
    const char *version = versions[chance(5)];
    r.old = strcmp(version, "3.6.2.82") == 0 || strcmp(version, "2.0.0.1") == 0;
    r.single = r.old || strcmp(version, "3.30.0.0") == 0;
    paper *p = &r.text;
    put(p, "{\"_type_key\":\"icraft::xir::Network\"");
    if (r.single ? now_and_then(4) : !now_and_then(8))
        put(p, ",\"ai_target\":%s", now_and_then(4) ? "null" : "\"@zhuget(330)\"");
    if (now_and_then(8)) put(p, ",\"extra\":{\"a\":[1,2.5,\"x\"]}");
    put(p, ",\"framework_kind\":\"%s\"", now_and_then(4) ? "NNABLA" : "ONNX");
    if (!now_and_then(8)) put(p, ",\"framework_version\":\"1.9\"");
    put(p, ",\"icraft_version\":\"v3.33.1\",\"icraft_xir_version\":\"%s\",\"name\":", version);
    random_text(p);
    put(p, ",\"ops\":[");
    uint64_t n = chance(most + 1);
    for (uint64_t i = 0; i < n; i++) {
        if (i) put(p, ",");
        random_op(&r);
    }
    /* No Params have bytes, so these texts are unchanged, unless the network has no Params. */
    bool any = false;
    for (size_t i = 0; i < r.n_values; i++) any |= r.params[i];
    if (any) put(p, "],\"params_bytes\":%d,\"params_md5\":\"abc\"", (int)chance(1000) + 1);
    else put(p, "],\"params_bytes\":0,\"params_md5\":\"d41d8cd98f00b204e9800998ecf8427e\"");
    put(p, ",\"swap_mode\":%s,", now_and_then(2) ? "true" : "false");
    put_tags(p);
    put(p, "}");
    for (size_t i = 0; i < r.n_values; i++) free(r.values[i]);
    return *p;
}

#endif
