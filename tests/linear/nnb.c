/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Shapes of NNB files. */
#include "linear/shapes.h"

/* A file being made: blocks, and the lists of variables and functions. */
typedef struct making {
    bytes    data, index, variables, functions;
    uint32_t n, n_variables, n_functions;
} making;

static void put_word(bytes *b, int64_t v) {
    const uint8_t p[] = { (uint8_t)v, (uint8_t)(v >> 8), (uint8_t)(v >> 16), (uint8_t)(v >> 24) };
    put(b, p, sizeof p);
}

/* Begins a block. Returns its entry. */
static uint32_t begin(making *f) {
    put_word(&f->index, (int64_t)f->data.size);
    return f->n++;
}

static uint32_t put_block(making *f, const int64_t *words, size_t n) {
    const uint32_t k = begin(f);
    for (size_t i = 0; i < n; i++) put_word(&f->data, words[i]);
    return k;
}
#define BLOCK(f, ...) put_block(f, (const int64_t[]){ __VA_ARGS__ }, sizeof((int64_t[]){ __VA_ARGS__ }) / 8)

/* `first`, and what follows it by `step`. */
static uint32_t put_series(making *f, int64_t first, int64_t step, int64_t n) {
    const uint32_t k = begin(f);
    for (i64 i = 0; i < n; i++) put_word(&f->data, first + i * step);
    return k;
}

/* `data`: an entry, or the number of a buffer minus one, negative. */
static void put_variable(making *f, uint32_t shape, int64_t data) {
    put_word(&f->variables, BLOCK(f, f->n_variables, 1, shape, 0, data));
    f->n_variables++;
}

/* Variables in a buffer, of 4 floats. */
static void put_plain(making *f, int64_t n) {
    const uint32_t shape = BLOCK(f, 4);
    for (i64 i = 0; i < n; i++) put_variable(f, shape, -1 - i % 2);
}

static void put_function(making *f, int64_t id, int64_t n_in, uint32_t in, int64_t n_out, uint32_t out,
                         int64_t argument) {
    put_word(&f->functions, BLOCK(f, id, n_in, in, n_out, out, argument));
    f->n_functions++;
}

static void put_relu(making *f, int64_t x, int64_t y) {
    const uint32_t in = BLOCK(f, x), out = BLOCK(f, y);
    put_function(f, 14, 1, in, 1, out, 0);
}

static void done(bytes *b, making *f, int64_t n_outputs, int64_t output) {
    const uint32_t inputs = BLOCK(f, 0), outputs = put_series(f, output, 1, n_outputs), buffers = BLOCK(f, 16, 16);
    const uint32_t variables = begin(f), functions = variables + 1;
    put(&f->data, f->variables.data, f->variables.size);
    begin(f);
    put(&f->data, f->functions.data, f->functions.size);
    const int64_t head[] = { 3, 44, 2, buffers, f->n_variables, variables, f->n_functions, functions, 1, inputs,
                             n_outputs, outputs, f->n, (int64_t)f->data.size };
    for (size_t i = 0; i < sizeof head / sizeof *head; i++) put_word(b, head[i]);
    put(b, f->index.data, f->index.size);
    put(b, f->data.data, f->data.size);
    free(f->data.data);
    free(f->index.data);
    free(f->variables.data);
    free(f->functions.data);
}

static void nnb_chain(bytes *b, int64_t n) {
    making f = { .n = 0 };
    put_plain(&f, n + 1);
    for (i64 i = 0; i < n; i++) put_relu(&f, i, i + 1);
    done(b, &f, 1, n);
}

static void nnb_reversed(bytes *b, int64_t n) {
    making f = { .n = 0 };
    put_plain(&f, n + 1);
    for (i64 i = n; i > 0; i--) put_relu(&f, i - 1, i);
    done(b, &f, 1, n);
}

/* An entry of the index that leads back. */
static void nnb_falling_index(bytes *b, int64_t n) {
    making f = { .n = 0 };
    put_plain(&f, n + 1);
    for (i64 i = 0; i < n; i++) put_relu(&f, i, i + 1);
    put_word(&f.index, 0);
    f.n++;
    done(b, &f, 1, n);
}

static void nnb_one_input(bytes *b, int64_t n) {
    making f = { .n = 0 };
    put_plain(&f, n + 1);
    for (i64 i = 0; i < n; i++) put_relu(&f, 0, i + 1);
    done(b, &f, n, 1);
}

static void nnb_one_output(bytes *b, int64_t n) {
    making f = { .n = 0 };
    put_plain(&f, 2);
    for (i64 i = 0; i < n; i++) put_relu(&f, 0, 1);
    done(b, &f, 1, 1);
}

static void nnb_inputs_of_a_function(bytes *b, int64_t n) {
    making f = { .n = 0 };
    put_plain(&f, n + 1);
    const uint32_t in = put_series(&f, 0, 1, n), out = BLOCK(&f, n);
    put_function(&f, 74, n, in, 1, out, 0);
    done(b, &f, 1, n);
}

static void nnb_long_list(bytes *b, int64_t n) {
    making f = { .n = 0 };
    put_plain(&f, 2);
    const uint32_t in = BLOCK(&f, 0), out = BLOCK(&f, 1), axes = put_series(&f, 0, 0, n);
    put_word(&f.functions, BLOCK(&f, 78, 1, in, 1, out, n, axes));
    f.n_functions++;
    done(b, &f, 1, 1);
}

/* Each has other arguments. */
static void nnb_arguments(bytes *b, int64_t n) {
    making f = { .n = 0 };
    put_plain(&f, n + 1);
    for (i64 i = 0; i < n; i++) {
        const uint32_t in = BLOCK(&f, i), out = BLOCK(&f, i + 1);
        put_function(&f, 15, 1, in, 1, out, 0x3f000000 + i);
    }
    done(b, &f, 1, n);
}

static void nnb_unknown_functions(bytes *b, int64_t n) {
    making f = { .n = 0 };
    put_plain(&f, n + 1);
    for (i64 i = 0; i < n; i++) {
        const uint32_t in = BLOCK(&f, i), out = BLOCK(&f, i + 1);
        put_function(&f, 400 + i % 1000, 1, in, 1, out, i);
    }
    done(b, &f, 1, n);
}

static void nnb_faulty_functions(bytes *b, int64_t n) {
    making f = { .n = 0 };
    put_plain(&f, n + 1);
    for (i64 i = 0; i < n; i++) {
        const uint32_t in = BLOCK(&f, i), out = BLOCK(&f, i + 1);
        put_function(&f, 16, 1, in, 1, out, 9);
    }
    done(b, &f, 1, n);
}

/* Params of PReLU, with data of their own or of all together. */
static void put_weights(bytes *b, int64_t n, bool shared) {
    making f = { .n = 0 };
    put_plain(&f, n + 1);
    const uint32_t shape = BLOCK(&f, 1), data = BLOCK(&f, 0x3f800000);
    for (i64 i = 0; i < n; i++) put_variable(&f, shape, shared ? data : BLOCK(&f, i));
    for (i64 i = 0; i < n; i++) {
        const uint32_t in = BLOCK(&f, i, n + 1 + i), out = BLOCK(&f, i + 1);
        put_function(&f, 21, 2, in, 1, out, 0);
    }
    done(b, &f, 1, n);
}
static void nnb_weights(bytes *b, int64_t n) { put_weights(b, n, false); }
static void nnb_shared_weights(bytes *b, int64_t n) { put_weights(b, n, true); }

/* Statistics that functions write, in one block. */
static void nnb_written_statistics(bytes *b, int64_t n) {
    making f = { .n = 0 };
    put_plain(&f, n + 1);
    const uint32_t shape = BLOCK(&f, 1), data = BLOCK(&f, 0x3f800000), axes = BLOCK(&f, 0);
    for (i64 i = 0; i < 4 * n; i++) put_variable(&f, shape, data);
    for (i64 i = 0; i < n; i++) {
        const i64 first = n + 1 + 4 * i;
        const uint32_t in = BLOCK(&f, i, first, first + 1, first + 2, first + 3), out = BLOCK(&f, i + 1);
        put_word(&f.functions, BLOCK(&f, 22, 5, in, 1, out, 1, axes, 0x3f000000, 0x3f000000, 1));
        f.n_functions++;
    }
    done(b, &f, 1, n);
}

static void nnb_idle_variables(bytes *b, int64_t n) {
    making f = { .n = 0 };
    put_plain(&f, n + 2);
    put_relu(&f, 0, 1);
    done(b, &f, 1, 1);
}

static void nnb_unused_weights(bytes *b, int64_t n) {
    making f = { .n = 0 };
    put_plain(&f, 2);
    const uint32_t shape = BLOCK(&f, 1);
    for (i64 i = 0; i < n; i++) put_variable(&f, shape, BLOCK(&f, i));
    put_relu(&f, 0, 1);
    done(b, &f, 1, 1);
}

static void nnb_cut_off(bytes *b, int64_t n) {
    nnb_chain(b, n);
    b->size -= 4;
}

const file_shape nnb_shapes[] = {
    SHAPE(nnb_chain), SHAPE(nnb_reversed), SHAPE(nnb_falling_index), SHAPE(nnb_one_input), SHAPE(nnb_one_output),
    SHAPE(nnb_inputs_of_a_function), SHAPE(nnb_long_list), SHAPE(nnb_arguments), SHAPE(nnb_unknown_functions),
    SHAPE(nnb_faulty_functions), SHAPE(nnb_weights), SHAPE(nnb_shared_weights), SHAPE(nnb_written_statistics),
    SHAPE(nnb_idle_variables), SHAPE(nnb_unused_weights), REFUSED(nnb_cut_off),
};
const size_t n_nnb_shapes = sizeof nnb_shapes / sizeof *nnb_shapes;
