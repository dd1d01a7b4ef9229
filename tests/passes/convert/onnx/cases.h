/* Small ONNX models as lines of text, for tests with many of them (cases/NAME.txt):
 *
 *     name | opset=N | values | nodes | outputs [| …]
 *
 * The opset may be empty: 17. A value is "x=f32[2,3]", an input of drawn numbers; "x=i64[2]{1,5}", an input of these
 * numbers; with a star in front, "*w=f32[3]", a constant. A dim "?3" is open, and 3 in the run; open dims at the same
 * position are equal. An input of many elements has no numbers: its model can be checked, but not run. A node is
 * "Type inputs outputs attribute=value …", where an absent input is "" between commas and "-" stands for no input at
 * all; nodes are separated by ';'. Of an attribute [1,2] is a list of integers, {0.5,1} one of reals, 1 an integer, 1.0
 * a real, anything else a text. Drawn numbers are those of cases/onnxruntime.mjs. */
#ifndef TEST_CONVERT_ONNX_CASES_H
#define TEST_CONVERT_ONNX_CASES_H

#include <stdio.h>
#include <stdlib.h>
#include <xir/exec.h>
#include <xir/serialize.h>
#include "support/net.h"
#include "support/onnx_make.h"

enum { CASE_PARTS = 8, CASE_VALUES = 24, CASE_RANK = 8, CASE_NUMBERS = 4096 };

/* An input or a constant. */
typedef struct case_value {
    char    name[40];
    bool    constant;
    int     element;
    int64_t dims[CASE_RANK], declared[CASE_RANK];   /* -1: open */
    size_t  rank, n;
    double  v[CASE_NUMBERS];
} case_value;

typedef struct onnx_case {
    char        text[4000], *part[CASE_PARTS];
    size_t      parts, n;
    case_value *values;      /* CASE_VALUES of them, shared by all cases */
} onnx_case;

/* ---- values ----------------------------------------------------------------------------------------------------- */

enum { CASE_UINT4 = 21, CASE_INT4 = 22 };   /* of TensorProto.DataType */

static const struct { const char *word; int element; size_t size; } case_elements[] = {
    { "f32", ONNX_FLOAT, 4 }, { "f64", ONNX_DOUBLE, 8 }, { "u8", ONNX_UINT8, 1 }, { "i8", ONNX_INT8, 1 },
    { "i32", ONNX_INT32, 4 }, { "i64", ONNX_INT64, 8 }, { "bool", ONNX_BOOL, 1 }, { "u32", ONNX_UINT32, 4 },
    { "u16", ONNX_UINT16, 2 }, { "i16", ONNX_INT16, 2 }, { "u64", ONNX_UINT64, 8 },
    { "u4", CASE_UINT4, 1 }, { "i4", CASE_INT4, 1 },   /* two in a byte, constants only */
};

static inline size_t case_element_at(int element) {
    size_t i = 0;
    while (i < COUNT(case_elements) && case_elements[i].element != element) i++;
    assert_true(i < COUNT(case_elements));
    return i;
}

/* Reals in [-1, 1), integers that their type has, true for one of 4. */
static inline void case_draw(case_value *v, unsigned seed) {
    for (size_t i = 0; i < v->n; i++) {
        seed = seed * 1103515245u + 12345u;
        const unsigned r = seed >> 16 & 1023;
        const bool real = v->element == ONNX_FLOAT || v->element == ONNX_DOUBLE;
        v->v[i] = real ? (double)r / 512 - 1 : v->element == ONNX_BOOL ? (int)(r < 256) : v->element == ONNX_UINT8
            ? (int)(r & 255)
                : v->element == ONNX_INT8 ? (int)(r & 255) - 128 : v->element == CASE_UINT4 ? (int)(r & 15)
                : v->element == CASE_INT4 ? (int)(r & 15) - 8 : (int)(r & 3);
    }
}

static inline void case_read_value(case_value *v, const char *word, unsigned seed) {
    char type[8];
    v->constant = *word == '*';
    word += v->constant;
    const size_t name = strcspn(word, "="), size = strcspn(word + name + 1, "[");
    assert_true(word[name] == '=' && name < sizeof v->name && size < sizeof type);
    snprintf(v->name, sizeof v->name, "%.*s", (int)name, word);
    snprintf(type, sizeof type, "%.*s", (int)size, word + name + 1);
    size_t e = 0;
    while (e < COUNT(case_elements) && strcmp(case_elements[e].word, type) != 0) e++;
    if (e == COUNT(case_elements)) fail_msg("'%s': no elements '%s'", word, type);
    v->element = case_elements[e].element;
    const char *p = word + name + 1 + size;
    char *end;
    v->rank = 0, v->n = 1;
    for (p++; *p != ']'; p = *end == ',' ? end + 1 : end) {
        const bool open = *p == '?';
        assert_true(v->rank < CASE_RANK);
        p += open;
        v->dims[v->rank] = strtoll(p, &end, 10);
        v->declared[v->rank] = open ? -1 : v->dims[v->rank];
        v->n *= (size_t)v->dims[v->rank++];
        assert_true(end != p);
    }
    if (!v->constant && v->n > CASE_NUMBERS) v->n = 0;
    assert_true(v->n <= CASE_NUMBERS);
    case_draw(v, seed);
    if (*++p != '{') return;
    for (size_t i = 0; i < v->n && *p != '}'; i++) v->v[i] = strtod(p + 1, &end), p = end;
    if (*p != '}') fail_msg("'%s': more numbers than elements", word);
}

static inline bool case_is_packed(const case_value *v) {
    return v->element == CASE_UINT4 || v->element == CASE_INT4;
}
static inline size_t case_size(const case_value *v) {
    return case_is_packed(v) ? (v->n + 1) / 2 : v->n * case_elements[case_element_at(v->element)].size;
}

static inline void case_bytes(const case_value *v, unsigned char *out) {
    if (case_is_packed(v)) {
        memset(out, 0, case_size(v));
        for (size_t i = 0; i < v->n; i++) out[i / 2] |= (unsigned char)(((int)v->v[i] & 15) << i % 2 * 4);
        return;
    }
    for (size_t i = 0; i < v->n; i++) {
        const size_t size = case_elements[case_element_at(v->element)].size;
        const float f = (float)v->v[i];
        const int64_t whole = (int64_t)v->v[i];
        const void *from = v->element == ONNX_FLOAT ? (const void *)&f : v->element == ONNX_DOUBLE
            ? (const void *)&v->v[i]
                         : (const void *)&whole;
        memcpy(out + i * size, from, size);   /* little-endian */
    }
}

static inline const xir_type *case_element(int element) {
    const char *word = case_elements[case_element_at(element)].word;
    if (*word == 'b') return xir_type_bool(ctx);
    if (*word == 'f') return xir_type_float(ctx, word[1] == '3' ? XIR_FLOAT_FP32 : XIR_FLOAT_FP64);
    return *word == 'u' ? xir_type_uint(ctx, atoi(word + 1)) : xir_type_sint(ctx, atoi(word + 1));
}

static inline xir_array *case_array(const case_value *v) {
    static unsigned char bytes[CASE_NUMBERS * 8];
    case_bytes(v, bytes);
    const xir_type *type = xir_type_tensor(ctx, case_element(v->element), NULL, v->dims, v->rank);
    xir_array *a = xir_array_copy(ctx, type, bytes, case_size(v), why);
    assert_non_null(a);
    return a;
}

/* ---- models ----------------------------------------------------------------------------------------------------- */

static inline void case_attribute(om *m, char *word) {
    char *value = strchr(word, '='), *end;
    int64_t ints[64];
    float reals[64];
    size_t n = 0;
    if (!value) fail_msg("'%s' is not an attribute", word);
    *value++ = '\0';
    if (*value == '[' || *value == '{') {
        for (char *p = value + 1; *p && *p != ']' && *p != '}'; p = *end == ',' ? end + 1 : end, n++) {
            assert_true(n < COUNT(ints));
            ints[n] = strtoll(p, &end, 10);
            reals[n] = strtof(p, &end);
        }
        if (*value == '[') om_ints(m, word, (om_dims){ ints, n });
        else om_reals(m, word, reals, n);
        return;
    }
    const bool number = (*value >= '0' && *value <= '9') || *value == '-';
    if (number && strpbrk(value, ".e")) om_float(m, word, strtof(value, NULL));
    else if (number) om_int(m, word, strtoll(value, NULL, 10));
    else om_text(m, word, value);
}

static inline void case_nodes(om *m, const char *nodes) {
    char text[2000], *rest, *more;
    size_t number = 0;
    snprintf(text, sizeof text, "%s", nodes);
    for (char *node = strtok_r(text, ";", &rest); node; node = strtok_r(NULL, ";", &rest)) {
        char name[20];
        snprintf(name, sizeof name, "n%zu", number++);
        const char *type = strtok_r(node, " ", &more), *in = strtok_r(NULL, " ", &more);
        const char *out = strtok_r(NULL, " ", &more);
        assert_true(type && in && out);
        om_node(m, type, name, strcmp(in, "-") == 0 ? "" : in, out);
        for (char *w = strtok_r(NULL, " ", &more); w; w = strtok_r(NULL, " ", &more)) case_attribute(m, w);
    }
}

/* Reads a line; false: it has no case. */
static inline bool case_read(onnx_case *c, const char *line) {
    static case_value values[CASE_VALUES];
    char text[2000], *rest;
    snprintf(c->text, sizeof c->text, "%.*s", (int)strcspn(line, "\n"), line);
    if (*c->text == '#' || !*c->text) return false;
    c->parts = c->n = 0;
    c->values = values;
    for (char *p = c->text; p; p = strchr(p, '|') ? strchr(p, '|') + 1 : NULL) {
        assert_true(c->parts < CASE_PARTS);
        c->part[c->parts++] = p;
    }
    for (size_t i = 0; i < c->parts; i++) {
        char *p = c->part[i], *end = i + 1 < c->parts ? c->part[i + 1] - 1 : p + strlen(p);
        *end = '\0';
        while (*p == ' ') p++;
        while (end > p && end[-1] == ' ') *--end = '\0';
        c->part[i] = p;
    }
    if (c->parts < 5) fail_msg("'%s' has %zu parts", c->part[0], c->parts);
    snprintf(text, sizeof text, "%s", c->part[2]);
    for (char *w = strtok_r(text, " ", &rest); w; w = strtok_r(NULL, " ", &rest)) {
        assert_true(c->n < CASE_VALUES);
        case_read_value(&c->values[c->n], w, (unsigned)c->n + 1);
        c->n++;
    }
    return true;
}

static inline xir_network *case_network_in(xir_context *of, const onnx_case *c) {
    static unsigned char bytes[CASE_NUMBERS * 8];
    char text[400], *rest;
    om m = om_begin("net");
    om_opset(&m, "", *c->part[1] ? strtoll(c->part[1] + strlen("opset="), NULL, 10) : 17);
    om_opset(&m, "com.microsoft", 1);
    for (size_t i = 0; i < c->n; i++) {
        const case_value *v = &c->values[i];
        const om_dims dims = { v->dims, v->rank };
        case_bytes(v, bytes);
        if (v->constant)
            om_raw(&m, v->name, v->element, dims, bytes, case_size(v));
        else om_input(&m, v->name, v->element, (om_dims){ v->declared, v->rank });
    }
    case_nodes(&m, c->part[3]);
    snprintf(text, sizeof text, "%s", c->part[4]);
    for (char *w = strtok_r(text, " ", &rest); w; w = strtok_r(NULL, " ", &rest)) om_output(&m, w, 0, OM_NO_RANK);
    size_t size;
    const void *model = om_done(&m, &size);
    xir_diags_clear(why);
    xir_network *net = xir_network_read(of, model, size, XIR_STR("model.onnx"), NULL, why);
    if (!net) xir_diags_print(why, stderr);
    assert_non_null(net);
    om_free(&m);
    return net;
}
static inline xir_network *case_network(const onnx_case *c) { return case_network_in(ctx, c); }

#endif
