/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Small ONNX models as lines of text, for tests with many of them (cases/NAME.txt):
 *
 *     name | opset=N | values | nodes | outputs [| …]
 *
 * The opset may be empty: 17. A value is "x=f32[2,3]", an input of drawn numbers; "x=i64[2]{1,5}", an input of these
 * numbers; with a star in front, "*w=f32[3]", a constant. A dim "?3" is open, and 3 in the run; open dims at the same
 * position are equal. An input of many elements has no numbers: its model can be checked, but not run. A node is
 * "Type inputs outputs attribute=value …", where an absent input is "" between commas and "-" stands for no input at
 * all; nodes are separated by ';'. Of an attribute [1,2] is a list of integers, {0.5,1} one of reals, 1 an integer, 1.0
 * a real, anything else a text. Drawn numbers are those of cases/onnxruntime.mjs.
 *
 * A line before it gives a graph that attributes of the lines after it name, as body=@B, or a function of a domain:
 *
 *     @B | inputs, "x", "x=f32" of any shape or "x=f32[2]" | constants | nodes | outputs
 *     @domain.Name | inputs | attributes | nodes | outputs [| opset=N [| overload]]
 *
 * Attributes of a function are "k", or "k=1.0" with a default; in its nodes "alpha=$k:f" refers to one, f a real, i
 * an integer, I a list of them; "overload:=a" is a node's overload. A model has all functions of the domains that its
 * nodes name. */
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
        const int64_t whole = v->v[i] >= 0x1p63 ? INT64_MAX : (int64_t)v->v[i];
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

/* ---- graphs and functions --------------------------------------------------------------------------------------- */

typedef struct case_body { char text[1200], *part[CASE_PARTS]; size_t parts; } case_body;
typedef struct case_bodies { case_body v[120]; size_t n; } case_bodies;

static inline case_bodies *case_all_bodies(void) {
    static case_bodies all;
    return &all;
}

static inline const case_body *case_body_of(const char *name) {
    case_bodies *all = case_all_bodies();
    for (size_t i = all->n; i-- > 0;) if (strcmp(all->v[i].part[0] + 1, name) == 0) return &all->v[i];
    fail_msg("no graph '%s'", name);
    return NULL;
}

static inline size_t case_split(char *text, char **part) {
    size_t n = 0;
    for (char *p = text; p; p = strchr(p, '|') ? strchr(p, '|') + 1 : NULL) {
        assert_true(n < CASE_PARTS);
        part[n++] = p;
    }
    for (size_t i = 0; i < n; i++) {
        char *p = part[i], *end = i + 1 < n ? part[i + 1] - 1 : p + strlen(p);
        *end = '\0';
        while (*p == ' ') p++;
        while (end > p && end[-1] == ' ') *--end = '\0';
        part[i] = p;
    }
    return n;
}

static inline void case_define(const char *line) {
    case_bodies *all = case_all_bodies();
    assert_true(all->n < COUNT(all->v));
    case_body *b = &all->v[all->n++];
    snprintf(b->text, sizeof b->text, "%.*s", (int)strcspn(line, "\n"), line);
    b->parts = case_split(b->text, b->part);
    if (b->parts < 5) fail_msg("'%s' has %zu parts", b->part[0], b->parts);
}

/* The type of a value: elements, and dims up to a bracket; NULL: of any shape. */
static inline void case_type(om_bytes *to, const char *word, const char *dims) {
    om_bytes type = { 0 }, tensor = { 0 }, shape = { 0 };
    size_t e = 0;
    while (e < COUNT(case_elements) && strcmp(case_elements[e].word, word) != 0) e++;
    assert_true(e < COUNT(case_elements));
    om_put_int(&tensor, 1, case_elements[e].element);
    for (char *end; dims && *dims != ']'; dims = *end == ',' ? end + 1 : end) {
        om_bytes dim = { 0 };
        om_put_int(&dim, 1, strtoll(dims, &end, 10));
        om_put_message(&shape, 1, &dim);
    }
    if (dims) om_put_message(&tensor, 2, &shape);
    om_put_message(&type, 1, &tensor);
    om_put_message(to, 2, &type);
}

/* Messages of values, "x", "x=f32" of any shape or "x=f32[2]", or the names themselves. */
static inline void case_names(om_bytes *to, uint32_t field, const char *names, bool messages) {
    char text[400], *rest;
    snprintf(text, sizeof text, "%s", names);
    for (char *w = strtok_r(text, " ", &rest); w; w = strtok_r(NULL, " ", &rest)) {
        om_bytes info = { 0 };
        char *type = messages ? strchr(w, '=') : NULL, *dims = type ? strchr(type, '[') : NULL;
        if (type) *type++ = '\0';
        if (dims) *dims++ = '\0';
        om_put_text(&info, 1, w);
        if (type) case_type(&info, type, dims);
        if (messages) om_put_message(to, field, &info);
        else om_put_text(to, field, w);
        om_bytes_free(&info);
    }
}

static inline void case_nodes(om *m, const char *nodes);

static inline om case_graph(const case_body *b) {
    static unsigned char bytes[CASE_NUMBERS * 8];
    char text[1200], *rest;
    om g = om_begin(b->part[0] + 1);
    case_value *v = calloc(1, sizeof *v);
    snprintf(text, sizeof text, "%s", b->part[2]);
    for (char *w = strtok_r(text, " ", &rest); w; w = strtok_r(NULL, " ", &rest)) {
        case_read_value(v, w, 1);
        case_bytes(v, bytes);
        om_raw(&g, v->name, v->element, (om_dims){ v->dims, v->rank }, bytes, case_size(v));
    }
    free(v);
    case_names(&g.graph, 11, b->part[1], true);
    case_names(&g.graph, 12, b->part[4], true);
    case_nodes(&g, b->part[3]);
    return g;
}

/* "$k:f" */
static inline void case_reference(om *m, const char *name, const char *value) {
    static const char kinds[] = "?fistg  I";
    static const int types[] = { 0, 1, 2, 3, 4, 5, 0, 0, 7 };
    char of[40];
    snprintf(of, sizeof of, "%.*s", (int)strcspn(value, ":"), value);
    om_bytes attribute = om_attribute_of(name, types[strchr(kinds, value[strlen(value) - 1]) - kinds]);
    om_put_text(&attribute, 21, of);
    om_attribute(m, &attribute);
}

/* ---- models ----------------------------------------------------------------------------------------------------- */

static inline void case_attribute(om *m, char *word) {
    char *value = strchr(word, '='), *end;
    int64_t ints[64];
    float reals[64];
    size_t n = 0;
    if (!value) fail_msg("'%s' is not an attribute", word);
    *value++ = '\0';
    if (*value == '@') {
        om g = case_graph(case_body_of(value + 1));
        om_graph_attr(m, word, &g);
        return;
    }
    if (*value == '$') {
        case_reference(m, word, value + 1);
        return;
    }
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
        for (char *w = strtok_r(NULL, " ", &more); w; w = strtok_r(NULL, " ", &more)) {
            if (strncmp(w, "overload:=", 10) == 0) om_put_text(&m->node, 8, w + 10);
            else case_attribute(m, w);
        }
    }
}

/* The messages of one field as those of another: nodes of a graph as those of a function. */
static inline void case_move(om_bytes *to, const om_bytes *of, uint32_t from, uint32_t field) {
    for (size_t at = 0; at < of->size;) {
        const unsigned char key = of->data[at++];
        size_t size = 0;
        for (unsigned shift = 0;; shift += 7) {
            size |= (size_t)(of->data[at] & 127) << shift;
            if (of->data[at++] < 128) break;
        }
        if (key == (from << 3 | 2)) om_put_bytes(to, field, of->data + at, size);
        at += size;
    }
}

static inline void case_function(om *m, const case_body *b) {
    char domain[80], text[400], *rest, *dot;
    om g = om_begin("");
    om_bytes f = { 0 }, set = { 0 };
    snprintf(domain, sizeof domain, "%s", b->part[0] + 1);
    dot = strrchr(domain, '.');
    *dot = '\0';
    om_put_text(&f, 1, dot + 1);
    case_names(&f, 4, b->part[1], false);
    case_names(&f, 5, b->part[4], false);
    case_nodes(&g, b->part[3]);
    case_move(&f, om_graph(&g), 1, 7);
    om_free(&g);
    om_put_text(&set, 1, "");
    om_put_int(&set, 2, b->parts > 5 && *b->part[5] ? strtoll(b->part[5] + strlen("opset="), NULL, 10) : 17);
    om_put_message(&f, 9, &set);
    om_put_text(&set, 1, domain);
    om_put_int(&set, 2, 1);
    om_put_message(&f, 9, &set);
    om_put_text(&f, 10, domain);
    if (b->parts > 6) om_put_text(&f, 13, b->part[6]);
    snprintf(text, sizeof text, "%s", b->part[2]);
    for (char *w = strtok_r(text, " ", &rest); w; w = strtok_r(NULL, " ", &rest)) {
        om defaults = om_begin("");
        if (strchr(w, '=')) case_attribute(&defaults, w);
        else om_put_text(&f, 6, w);
        case_move(&f, &defaults.node, 5, 11);
        om_free(&defaults);
    }
    om_put_message(&m->model, 25, &f);
}

/* Returns true if the nodes of a case name the domain. */
static inline bool case_uses(const onnx_case *c, const char *domain) {
    char text[90];
    snprintf(text, sizeof text, "%s.", domain);
    return strstr(c->part[3], text);
}

static inline void case_functions(om *m, const onnx_case *c) {
    case_bodies *all = case_all_bodies();
    for (size_t i = 0; i < all->n; i++) {
        char domain[80];
        char *dot;
        snprintf(domain, sizeof domain, "%s", all->v[i].part[0] + 1);
        if (!(dot = strrchr(domain, '.'))) continue;
        *dot = '\0';
        if (!case_uses(c, domain)) continue;
        case_function(m, &all->v[i]);
        om_opset(m, domain, 1);
    }
}

/* Reads a line; false: it has no case. */
static inline bool case_read(onnx_case *c, const char *line) {
    static case_value values[CASE_VALUES];
    char text[2000], *rest;
    snprintf(c->text, sizeof c->text, "%.*s", (int)strcspn(line, "\n"), line);
    if (*c->text == '#' || !*c->text) return false;
    if (*c->text == '@') {
        case_define(line);
        return false;
    }
    c->n = 0;
    c->values = values;
    c->parts = case_split(c->text, c->part);
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
    case_functions(&m, c);
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

/* The network of lines: the last one is the model, the others are its bodies and functions. */
static inline xir_network *case_model(const char *const *lines, size_t n) {
    static onnx_case c;
    case_all_bodies()->n = 0;
    for (size_t i = 0; i + 1 < n; i++) assert_false(case_read(&c, lines[i]));
    assert_true(case_read(&c, lines[n - 1]));
    return case_network(&c);
}
#define CASE_MODEL(...) case_model((const char *const[]){ __VA_ARGS__ }, COUNT(((const char *const[]){ __VA_ARGS__ })))

#endif
