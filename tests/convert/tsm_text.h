/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Networks of TSM from short texts, for tests. Inputs are "a=2,3 k=4": of reals, of positive ones if the name begins
 * with p, of 64-bit indices 0 to 2 with k. Nodes are lines of support/tsm_make.h without the n, separated by ';'; their
 * numbers go on after those of the inputs. Results are the nodes whose names begin with y. Constants whose names begin
 * with w or q get numbers that follow from their names, as ONNX's weights do; those of q are positive. */
#ifndef TEST_CONVERT_TSM_TEXT_H
#define TEST_CONVERT_TSM_TEXT_H

#include <stdio.h>
#include <xir/exec.h>
#include "convert/onnx_text.h"
#include "support/tsm_make.h"

enum { TSM_MOST_ENDS = 8 };

/* The file's text; and the inputs and outputs as onnx_net takes them, rooms of 1000 bytes. */
static inline void tsm_text(char text[8000], const char *inputs, const char *nodes, char *in, char *out) {
    char words[1000], lines[6000], ends[200] = "", results[200] = "", *rest;
    size_t n = 0, at = 0;
    *in = *out = '\0';
    *lines = '\0';
    snprintf(words, sizeof words, "%s", inputs);
    for (char *w = strtok_r(words, " ", &rest); w; w = strtok_r(NULL, " ", &rest), n++) {
        char *dims = strchr(w, '=');
        assert_non_null(dims);
        *dims++ = '\0';
        size_t rank = *dims != '\0';
        for (const char *p = dims; *p; p++) rank += *p == ',';
        at += (size_t)snprintf(lines + at, sizeof lines - at, "n <param> %s - #dtype=5::%d #shape=5:%zu:%s\n", w,
                               *w == 'k' ? 7 : 10, rank, dims);
        snprintf(ends + strlen(ends), 24, "%c%zu", *ends ? ',' : ' ', n);
        snprintf(in + strlen(in), 80, "%s=(%s)%s ", w, dims, *w == 'k' ? "i64" : "f32");
    }
    snprintf(words, sizeof words, "%s", nodes);
    for (char *node = strtok_r(words, ";", &rest); node; node = strtok_r(NULL, ";", &rest), n++) {
        const char *line = node + strspn(node, " "), *name = line + strcspn(line, " ") + 1;
        at += (size_t)snprintf(lines + at, sizeof lines - at, "n %s\n", line);
        if (*name != 'y') continue;
        snprintf(results + strlen(results), 24, "%c%zu", *results ? ',' : ' ', n);
        snprintf(out + strlen(out), 20, "%.*s ", (int)strcspn(name, " "), name);
    }
    assert_true(at < sizeof lines);
    snprintf(text, 8000, "inputs%s\noutputs%s\n%s", ends, results, lines);
}

static inline double tsm_number(const char *name, size_t i) {
    const double v = number_of(name, i);
    return *name == 'k' ? (double)(int)(1.5 + v) : *name == 'w' ? v : *name == 'q' || *name == 'p'
         ? positive_of(name, i) : 2 * v;
}

static inline xir_network *tsm_read(const char *text) {
    static tsm_made file;
    tsm_make(&file, text);
    xir_diags_clear(why);
    return xir_network_read(ctx, file.bytes, file.size, XIR_STR("x.tsm"),
                            &XIR_INIT(xir_load_options, .format = "tsm"), why);
}

static inline xir_network *tsm_net(const char *text) {
    enum { MOST_PARAMS = 32 };
    xir_network *net = tsm_read(text);
    if (!net) xir_diags_print(why, stderr);
    assert_non_null(net);
    xir_value *params[MOST_PARAMS];
    const size_t n = xir_network_params(net, params, MOST_PARAMS);
    assert_true(n <= MOST_PARAMS);
    for (size_t i = 0; i < n; i++) {
        static float numbers[MOST_WEIGHT];
        char name[40];
        int64_t count = 0;
        snprintf(name, sizeof name, "%.*s", (int)xir_value_name(params[i]).size, xir_value_name(params[i]).data);
        if (*name != 'w' && *name != 'q') continue;
        DOES(xir_type_elements(xir_value_type(params[i]), &count));
        assert_true(count <= MOST_WEIGHT);
        for (size_t k = 0; k < (size_t)count; k++) numbers[k] = (float)tsm_number(name, k);
        DOES(xir_params_set_copy(params[i], numbers, 4 * (uint64_t)count));
    }
    return net;
}

/* Computes a network with the numbers of its inputs' names. Returns the number of results. */
static inline size_t tsm_run(const xir_network *net, xir_array **out) {
    xir_array *in[TSM_MOST_ENDS] = { NULL };
    const xir_op *first = xir_network_input_op(net);
    const size_t n_in = xir_op_output_count(first), n_out = xir_op_input_count(xir_network_output_op(net));
    assert_true(n_in <= TSM_MOST_ENDS && n_out <= TSM_MOST_ENDS);
    for (size_t i = 0; i < n_in; i++) {
        const xir_value *v = xir_op_output(first, (int64_t)i);
        char name[40];
        snprintf(name, sizeof name, "%.*s", (int)xir_value_name(v).size, xir_value_name(v).data);
        in[i] = xir_array_new(ctx, xir_value_type(v), why);
        assert_non_null(in[i]);
        for (size_t k = 0; k < xir_array_count(in[i]); k++) {
            if (*name == 'k') ((int64_t *)xir_array_edit(in[i]))[k] = (int64_t)tsm_number(name, k);
            else ((float *)xir_array_edit(in[i]))[k] = (float)tsm_number(name, k);
        }
    }
    xir_diags_clear(why);
    const xir_status status = xir_network_run(net, (const xir_array *const *)in, n_in, out, n_out, NULL, why);
    if (status) xir_diags_print(why, stderr);
    assert_int_equal(status, XIR_OK);
    for (size_t i = 0; i < n_in; i++) xir_array_free(in[i]);
    return n_out;
}

#endif
