/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Networks of ONNX as text, for tests that compare another format's with them: inputs "a=(1,3)f32 b=(2)i64", weights,
 * nodes "Class inputs outputs attribute=value …", separated by ';', and outputs. Of an attribute [1,2] is a list of
 * integers, 1 an integer, 1.0 a real, anything else a text. */
#ifndef TEST_CONVERT_ONNX_TEXT_H
#define TEST_CONVERT_ONNX_TEXT_H

#include <stdlib.h>
#include <xir/pass.h>
#include <xir/serialize.h>
#include "support/net.h"
#include "support/onnx_make.h"

enum { MOST_WEIGHT = 4096 };

/* Numbers that follow from a name: from -1 to 1, of a variance from 0 to 1; and from 0.2 to 1. */
static inline double number_of(const char *name, size_t i) {
    const char *var = strstr(name, "_var");
    uint64_t bits = 1469598103934665603u + i * 0x9E3779B97F4A7C15u;
    for (; *name; name++) bits = (bits ^ (unsigned char)*name) * 1099511628211u;
    bits ^= bits >> 29;
    bits *= 0xBF58476D1CE4E5B9u;
    bits ^= bits >> 32;
    return var ? (double)(bits % 2001) / 2000 : (double)(bits % 2001) / 1000 - 1;
}
static inline double positive_of(const char *name, size_t i) { return 0.6 + 0.4 * number_of(name, i); }

static inline om_dims dims_of(const char *text, int64_t *room) {
    om_dims dims = { room, 0 };
    for (const char *p = text; *p && *p != ')' && *p != ']'; p += *p == ',') {
        char *after;
        room[dims.size++] = strtoll(p, &after, 10);
        p = after;
    }
    return dims;
}

/* "w=(2,3)": numbers that follow from the name; "w=+(4)": from 0.2 to 1; "i=[1,2]": integers; "c={0.5,2}": reals. */
static inline void put_weight(om *m, const char *word) {
    static float numbers[MOST_WEIGHT];
    char name[80];
    int64_t room[16];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    const char *value = word + strlen(name) + 1;
    if (*value == '{') {
        size_t count = 0;
        for (const char *p = value; *p && *p != '}'; p += strcspn(p + 1, ",}") + 1)
            numbers[count++] = strtof(p + 1, NULL);
        om_floats(m, name, OM_DIMS((int64_t)count), numbers, count);
        return;
    }
    const bool positive = *value == '+';
    value += positive;
    const om_dims dims = dims_of(value + 1, room);
    if (*value == '[') {
        om_int64s(m, name, OM_DIMS((int64_t)dims.size), room, dims.size);
        return;
    }
    size_t n = 1;
    for (size_t i = 0; i < dims.size; i++) n *= (size_t)dims.data[i];
    assert_true(n <= MOST_WEIGHT);
    for (size_t i = 0; i < n; i++) numbers[i] = (float)(positive ? positive_of(name, i) : number_of(name, i));
    om_floats(m, name, dims, numbers, n);
}

static inline void put_attribute(om *m, char *word) {
    char *value = strchr(word, '=');
    int64_t room[16];
    assert_non_null(value);
    *value++ = '\0';
    const bool number = (*value >= '0' && *value <= '9') || *value == '-';
    if (*value == '[') om_ints(m, word, dims_of(value + 1, room));
    else if (number && strchr(value, '.')) om_float(m, word, strtof(value, NULL));
    else if (number) om_int(m, word, strtoll(value, NULL, 10));
    else om_text(m, word, value);
}

static inline xir_network *onnx_net(const char *inputs, const char *weights, const char *nodes, const char *outputs) {
    char text[2000], *rest, *more;
    int64_t room[16];
    om made = om_begin("net"), *m = &made;
    om_opset(m, "", 21);
    snprintf(text, sizeof text, "%s", inputs);
    for (char *w = strtok_r(text, " ", &rest); w; w = strtok_r(NULL, " ", &rest)) {
        const char *type = strchr(w, ')') + 1;
        const int element = strcmp(type, "f32") == 0 ? ONNX_FLOAT : strcmp(type, "bool") == 0 ? ONNX_BOOL : ONNX_INT64;
        const om_dims dims = dims_of(strchr(w, '(') + 1, room);
        *strchr(w, '=') = '\0';
        om_input(m, w, element, dims);
    }
    snprintf(text, sizeof text, "%s", weights);
    for (char *w = strtok_r(text, " ", &rest); w; w = strtok_r(NULL, " ", &rest)) put_weight(m, w);
    snprintf(text, sizeof text, "%s", nodes);
    for (char *node = strtok_r(text, ";", &rest); node; node = strtok_r(NULL, ";", &rest)) {
        const char *type = strtok_r(node, " ", &more), *in = strtok_r(NULL, " ", &more);
        const char *out = strtok_r(NULL, " ", &more);
        om_node(m, type, "", in, out);
        for (char *w = strtok_r(NULL, " ", &more); w; w = strtok_r(NULL, " ", &more)) put_attribute(m, w);
    }
    snprintf(text, sizeof text, "%s", outputs);
    for (char *w = strtok_r(text, " ", &rest); w; w = strtok_r(NULL, " ", &rest)) om_output(m, w, 0, OM_NO_RANK);
    size_t size;
    const void *bytes = om_done(m, &size);
    xir_diags_clear(why);
    xir_network *net = xir_network_read(ctx, bytes, size, XIR_STR("model.onnx"), NULL, why);
    if (!net) xir_diags_print(why, stderr);
    assert_non_null(net);
    om_free(m);
    xir_diags_clear(why);
    const xir_status status = xir_pass_run(net, "onnx-to-xir", "strict", NULL, why);
    if (status) xir_diags_print(why, stderr);
    assert_int_equal(status, XIR_OK);
    return net;
}

#endif
