/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Networks of PNNX as text, for tests: inputs "a=(1,3)f32 b=(2)i64", the lines of operators, and the operands that are
 * results, "y z". The weights of operators have numbers that follow from their names. Operands have no declared types
 * unless their lines declare them. */
#ifndef TEST_CONVERT_PNNX_TEXT_H
#define TEST_CONVERT_PNNX_TEXT_H

#include <stdio.h>
#include <stdlib.h>
#include <xir/exec.h>
#include <xir/pass.h>
#include <xir/serialize.h>
#include "convert/onnx_text.h"
#include "elements.h"
#include "support/net.h"

enum { PNNX_MOST_TEXT = 1 << 14, PNNX_MOST_ENDS = 8 };

/* The text of a whole file; `room` has PNNX_MOST_TEXT bytes. */
static inline void pnnx_text(char *room, const char *inputs, const char *lines, const char *outputs) {
    size_t n = 0, ops = 0;
    char ends[500];
    for (const char *p = lines; *p; p++) ops += *p == '\n';
    for (const char *const *end = (const char *const[]){ inputs, outputs, NULL }; *end; end++)
        for (const char *p = *end; *p; p += strspn(p, " ")) p += strcspn(p, " "), ops++;
    n += (size_t)snprintf(room, PNNX_MOST_TEXT, "7767517\n%zu %zu\n", ops, ops);
    snprintf(ends, sizeof ends, "%s", inputs);
    for (char *rest, *w = strtok_r(ends, " ", &rest); w; w = strtok_r(NULL, " ", &rest))
        n += (size_t)snprintf(room + n, PNNX_MOST_TEXT - n, "pnnx.Input %.*s_in 0 1 %.*s #%s\n", (int)strcspn(w, "="),
                              w, (int)strcspn(w, "="), w, w);
    n += (size_t)snprintf(room + n, PNNX_MOST_TEXT - n, "%s", lines);
    snprintf(ends, sizeof ends, "%s", outputs);
    for (char *rest, *w = strtok_r(ends, " ", &rest); w; w = strtok_r(NULL, " ", &rest))
        n += (size_t)snprintf(room + n, PNNX_MOST_TEXT - n, "pnnx.Output %s_out 1 0 %s\n", w, w);
    assert_true(n < PNNX_MOST_TEXT);
}

/* Gives Params without bytes the numbers of their names; integers are 0, 1 or 2. */
static inline void pnnx_fill(xir_network *net) {
    xir_value *params[64];
    const size_t n = xir_network_params(net, params, COUNT(params));
    assert_true(n <= COUNT(params));
    for (size_t i = 0; i < n; i++) {
        char name[80];
        int64_t count = 0;
        uint64_t size = 0;
        const xir_type *type = xir_value_type(params[i]);
        snprintf(name, sizeof name, "%.*s", (int)xir_value_name(params[i]).size, xir_value_name(params[i]).data);
        DOES(xir_type_elements(type, &count));
        DOES(xir_type_bytes(type, &size));
        const xir_type *element = xir_type_element(type);
        const bool real = xir_type_kind_of(element) == XIR_TYPE_FLOAT;
        char *bytes = malloc(size + 8);
        assert_true(bytes && (real || size == (uint64_t)count * 8));
        for (int64_t k = 0; k < count; k++) {
            const double v = number_of(name, (size_t)k);
            if (real) assert_true(elements_of_reals(element, &v, 1, bytes + size / (uint64_t)count * (uint64_t)k));
            else ((int64_t *)(void *)bytes)[k] = (int64_t)(1.5 + v);
        }
        DOES(xir_params_set_copy(params[i], bytes, size));
        free(bytes);
    }
}

static inline xir_network *pnnx_net(const char *inputs, const char *lines, const char *outputs) {
    static char text[PNNX_MOST_TEXT];
    const xir_load_options options = XIR_INIT(xir_load_options, .format = "pnnx", .no_params = true);
    pnnx_text(text, inputs, lines, outputs);
    xir_diags_clear(why);
    xir_network *net = xir_network_read(ctx, text, strlen(text), XIR_STR("net.pnnx.param"), &options, why);
    if (!net) xir_diags_print(why, stderr);
    assert_non_null(net);
    pnnx_fill(net);
    return net;
}

/* Arrays for the inputs of a network: reals from -2 to 2, integers 0, 1 or 2, bools. */
static inline void pnnx_arrays(const xir_network *net, xir_array **arrays) {
    const xir_op *first = xir_network_input_op(net);
    for (size_t i = 0; i < xir_op_output_count(first); i++) {
        const xir_value *v = xir_op_output(first, (int64_t)i);
        char name[80];
        snprintf(name, sizeof name, "%.*s", (int)xir_value_name(v).size, xir_value_name(v).data);
        arrays[i] = xir_array_new(ctx, xir_value_type(v), why);
        assert_non_null(arrays[i]);
        const int kind = (int)xir_type_kind_of(xir_type_element(xir_value_type(v)));
        void *data = xir_array_edit(arrays[i]);
        for (size_t k = 0; k < xir_array_count(arrays[i]); k++) {
            const double x = number_of(name, k);
            if (kind == XIR_TYPE_FLOAT) ((float *)data)[k] = (float)(2 * x);
            else if (kind == XIR_TYPE_BOOL) ((uint8_t *)data)[k] = x > 0;
            else ((int64_t *)data)[k] = (int64_t)(1.5 + x);
        }
    }
}

/* Computes a network; what it gives is in out. Returns the number of results. */
static inline size_t pnnx_run(const xir_network *net, xir_array **out) {
    xir_array *in[PNNX_MOST_ENDS] = { NULL };
    const size_t n_in = xir_op_output_count(xir_network_input_op(net));
    const size_t n_out = xir_op_input_count(xir_network_output_op(net));
    assert_true(n_in <= PNNX_MOST_ENDS && n_out <= PNNX_MOST_ENDS);
    pnnx_arrays(net, in);
    xir_diags_clear(why);
    const xir_status status = xir_network_run(net, (const xir_array *const *)in, n_in, out, n_out, NULL, why);
    if (status) xir_diags_print(why, stderr);
    assert_int_equal(status, XIR_OK);
    for (size_t i = 0; i < n_in; i++) xir_array_free(in[i]);
    return n_out;
}

/* Converts a network whole. */
static inline void pnnx_converted(xir_network *net, const char *what) {
    xir_diags_clear(why);
    if (xir_pass_run(net, "pnnx-to-xir", "strict", NULL, why) || xir_diags_count(why)) {
        xir_diags_print(why, stderr);
        fail_msg("%s", what);
    }
    assert_int_equal(xir_network_validate(net, why), XIR_OK);
}

#endif
