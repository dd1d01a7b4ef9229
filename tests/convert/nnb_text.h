/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Networks of NNB from short texts, for tests. Variables are words, numbered as they come: "i2,3" an input, "j" one of
 * positive numbers, "k" one of indices 0 to 2, "p" a parameter, "q" a positive one, "o" an output, "t" a variable in
 * between; "-" for no dims. Functions are lines of support/nnb_make.h without the f, separated by ';'. The numbers of
 * inputs and parameters follow from their names, v0, v1, … */
#ifndef TEST_CONVERT_NNB_TEXT_H
#define TEST_CONVERT_NNB_TEXT_H

#include <stdio.h>
#include <xir/exec.h>
#include "convert/onnx_text.h"
#include "support/nnb_make.h"

enum { NNB_MOST_ENDS = 8, NNB_MOST_WORDS = 24 };

typedef struct nnb_words { char kind[NNB_MOST_WORDS]; size_t n; } nnb_words;

static inline size_t nnb_elements(const char *dims) {
    size_t n = 1;
    for (const char *p = dims; *p >= '0' && *p <= '9'; p += *p == ',') {
        char *after;
        n *= strtoul(p, &after, 10);
        p = after;
    }
    return n;
}

/* Writes the file's text; and the inputs and outputs as onnx_net takes them, rooms of 1000 bytes. */
static inline nnb_words nnb_text(char text[8000], const char *variables, const char *functions, char *inputs,
                                 char *outputs) {
    char words[1000], lines[4000] = "", in[200] = "", out[200] = "", sizes[400] = "", *rest;
    nnb_words made = { .n = 0 };
    size_t n = 0, buffers = 0;
    *inputs = *outputs = '\0';
    snprintf(words, sizeof words, "%s", variables);
    for (char *w = strtok_r(words, " ", &rest); w; w = strtok_r(NULL, " ", &rest), made.n++) {
        const bool stored = *w == 'p' || *w == 'q', given = *w == 'i' || *w == 'j' || *w == 'k';
        const size_t count = nnb_elements(w + 1);
        assert_true(made.n < NNB_MOST_WORDS);
        made.kind[made.n] = *w;
        n += (size_t)snprintf(lines + n, sizeof lines - n, "v f %s %c%zu\n", w + 1, stored ? 'p' : 'b',
                              stored ? 4 * count : buffers);
        if (!stored) snprintf(sizes + strlen(sizes), 20, " %zu", 4 * count), buffers++;
        if (given) snprintf(in + strlen(in), 20, " %zu", made.n);
        if (given) snprintf(inputs + strlen(inputs), 80, "v%zu=(%s)f32 ", made.n, w[1] == '-' ? "" : w + 1);
        if (*w == 'o') snprintf(out + strlen(out), 20, " %zu", made.n);
        if (*w == 'o') snprintf(outputs + strlen(outputs), 20, "v%zu ", made.n);
    }
    size_t at = (size_t)snprintf(text, 8000, "nnb 3 45\ninputs%s\noutputs%s\nbuffers%s\n%s", in, out, sizes, lines);
    snprintf(words, sizeof words, "%s", functions);
    for (char *f = strtok_r(words, ";", &rest); f; f = strtok_r(NULL, ";", &rest))
        at += (size_t)snprintf(text + at, 8000 - at, "f %s\n", f + strspn(f, " "));
    assert_true(at < 8000 && n < sizeof lines);
    return made;
}

static inline double nnb_number(char kind, const char *name, size_t i) {
    const double v = number_of(name, i);
    return kind == 'i' ? 2 * v : kind == 'p' ? v : kind == 'k' ? (double)(int)(1.5 + v) : positive_of(name, i);
}

static inline xir_network *nnb_net(const char *text, const nnb_words *words) {
    static nnb_made file;
    nnb_make(&file, text);
    xir_diags_clear(why);
    xir_network *net = xir_network_read(ctx, file.bytes, file.size, XIR_STR("x.nnb"),
                                        &XIR_INIT(xir_load_options, .format = "nnb"), why);
    if (!net) xir_diags_print(why, stderr);
    assert_non_null(net);
    xir_value *params[NNB_MOST_WORDS];
    const size_t n = xir_network_params(net, params, NNB_MOST_WORDS);
    assert_true(n <= NNB_MOST_WORDS);
    for (size_t i = 0; i < n; i++) {
        static float numbers[MOST_WEIGHT];
        char name[16];
        int64_t count = 0;
        snprintf(name, sizeof name, "%.*s", (int)xir_value_name(params[i]).size, xir_value_name(params[i]).data);
        DOES(xir_type_elements(xir_value_type(params[i]), &count));
        assert_true(count <= MOST_WEIGHT);
        const char kind = words->kind[atoi(name + 1)];
        for (size_t k = 0; k < (size_t)count; k++) numbers[k] = (float)nnb_number(kind, name, k);
        DOES(xir_params_set_copy(params[i], numbers, 4 * (uint64_t)count));
    }
    return net;
}

/* The inputs of a network, with the numbers of their names, in `in`. Returns how many there are. */
static inline size_t nnb_inputs(const xir_network *net, const nnb_words *words, xir_array **in) {
    const xir_op *first = xir_network_input_op(net);
    const size_t n = xir_op_output_count(first);
    assert_true(n <= NNB_MOST_ENDS);
    for (size_t i = 0; i < n; i++) {
        const xir_value *v = xir_op_output(first, (int64_t)i);
        char name[16];
        snprintf(name, sizeof name, "%.*s", (int)xir_value_name(v).size, xir_value_name(v).data);
        in[i] = xir_array_new(ctx, xir_value_type(v), why);
        assert_non_null(in[i]);
        float *data = xir_array_edit(in[i]);
        for (size_t k = 0; k < xir_array_count(in[i]); k++)
            data[k] = (float)nnb_number(words->kind[atoi(name + 1)], name, k);
    }
    return n;
}

/* Computes a network with these inputs; what it gives is in out. Returns the number of results. */
static inline size_t nnb_run(const xir_network *net, const nnb_words *words, xir_array **out) {
    xir_array *in[NNB_MOST_ENDS] = { NULL };
    const size_t n_in = nnb_inputs(net, words, in), n_out = xir_op_input_count(xir_network_output_op(net));
    assert_true(n_out <= NNB_MOST_ENDS);
    xir_diags_clear(why);
    const xir_status status = xir_network_run(net, (const xir_array *const *)in, n_in, out, n_out, NULL, why);
    if (status) xir_diags_print(why, stderr);
    assert_int_equal(status, XIR_OK);
    for (size_t i = 0; i < n_in; i++) xir_array_free(in[i]);
    return n_out;
}

#endif
