/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Modules of TensorStack that are large in one way each. */
#include "linear/shapes.h"

/* ---- the file --------------------------------------------------------------------------------------------------- */

static void put_word(bytes *b, i64 v) {
    unsigned char word[4];
    for (int i = 0; i < 4; i++) word[i] = (unsigned char)(v >> 8 * i);
    put(b, word, sizeof word);
}

static void put_name(bytes *b, const char *text) {
    put_word(b, (i64)strlen(text));
    put_text(b, text);
}

/* A tensor up to its elements; a `size` of -1: a scalar. */
static void put_tensor(bytes *b, char type, i64 size) {
    put(b, &type, 1);
    put_word(b, size >= 0);
    if (size >= 0) put_word(b, size);
}

static void put_string(bytes *b, const char *name, const char *text) {
    put_name(b, name);
    put_word(b, 1);
    put_tensor(b, 13, (i64)strlen(text));
    put_text(b, text);
}

static void put_number(bytes *b, const char *name, i64 v) {
    put_name(b, name);
    put_word(b, 1);
    put_tensor(b, 5, -1);
    put_word(b, v);
}

/* A node up to its other parameters. */
static void put_node(bytes *b, const char *op, i64 number, i64 params) {
    char name[24];
    snprintf(name, sizeof name, "n%lld", number);
    put_word(b, params + 2);
    put_string(b, "#name", name);
    put_string(b, "#op", op);
}

static void put_relu(bytes *b, i64 number, i64 from) {
    put_node(b, "relu", number, 0);
    put_word(b, 1);
    put_word(b, from);
}

static void put_constant(bytes *b, i64 number) {
    put_node(b, "<const>", number, 1);
    put_name(b, "value");
    put_word(b, 1);
    put_tensor(b, 10, 1);
    put_word(b, number);
    put_word(b, 0);
}

static void put_input(bytes *b, i64 number) {
    put_node(b, "<param>", number, 2);
    put_number(b, "#dtype", 10);
    put_name(b, "#shape");
    put_word(b, 1);
    put_tensor(b, 5, 1);
    put_word(b, 1);
    put_word(b, 0);
}

/* A node without an operator of the format, up to its other parameters; and its only input. */
static void put_own(bytes *b, i64 params) {
    put_input(b, 0);
    put_node(b, "mine", 1, params);
}

static void put_from(bytes *b, i64 node) {
    put_word(b, 1);
    put_word(b, node);
}

/* The header, the inputs, node `from` and those after it as outputs, the number of nodes. */
static void begin(bytes *b, i64 inputs, i64 input, i64 outputs, i64 from, i64 nodes) {
    static const char user[120];
    put_word(b, 0);
    put_word(b, 0x19910929);
    put(b, user, sizeof user);
    put_word(b, inputs);
    for (i64 i = 0; i < inputs; i++) put_word(b, input + i);
    put_word(b, outputs);
    for (i64 i = 0; i < outputs; i++) put_word(b, from + i);
    put_word(b, nodes);
}

/* ---- shapes ----------------------------------------------------------------------------------------------------- */

static void tsm_chain(bytes *b, int64_t n) {
    begin(b, 1, 0, 1, n, n + 1);
    put_input(b, 0);
    for (i64 i = 1; i <= n; i++) put_relu(b, i, i - 1);
}

static void tsm_reversed(bytes *b, int64_t n) {
    begin(b, 1, n, 1, 0, n + 1);
    for (i64 i = 0; i < n; i++) put_relu(b, i, i + 1);
    put_input(b, n);
}

static void tsm_outputs(bytes *b, int64_t n) {
    begin(b, 1, 0, n, 1, n + 1);
    put_input(b, 0);
    for (i64 i = 1; i <= n; i++) put_relu(b, i, 0);
}

static void tsm_inputs(bytes *b, int64_t n) {
    begin(b, n, 0, 1, n, n + 1);
    for (i64 i = 0; i < n; i++) put_input(b, i);
    put_node(b, "concat", n, 1);
    put_number(b, "dim", 0);
    put_word(b, n);
    for (i64 i = 0; i < n; i++) put_word(b, i);
}

static void tsm_constants(bytes *b, int64_t n) {
    begin(b, 1, 0, 1, 2 * n, 2 * n + 1);
    put_input(b, 0);
    for (i64 i = 1; i < 2 * n; i += 2) {
        put_constant(b, i);
        put_node(b, "add", i + 1, 0);
        put_word(b, 2);
        put_word(b, i - 1);
        put_word(b, i);
    }
}

static void tsm_parameters(bytes *b, int64_t n) {
    begin(b, 1, 0, 1, 1, 2);
    put_own(b, n);
    for (i64 i = 0; i < n; i++) {
        char name[24];
        snprintf(name, sizeof name, "p%lld", i);
        put_number(b, name, i);
    }
    put_from(b, 0);
}

static void tsm_repeated_parameters(bytes *b, int64_t n) {
    begin(b, 1, 0, 1, 1, 2);
    put_own(b, n);
    for (i64 i = 0; i < n; i++) put_number(b, "p", i);
    put_from(b, 0);
}

/* Each has other parameters than the one before. */
static void tsm_unlike_nodes(bytes *b, int64_t n) {
    begin(b, 1, 0, 1, n, n + 1);
    put_input(b, 0);
    for (i64 i = 1; i <= n; i++) {
        put_node(b, "leaky_relu", i, 1);
        put_number(b, "scale", i);
        put_from(b, i - 1);
    }
}

static void tsm_packed(bytes *b, int64_t n) {
    begin(b, 1, 0, 1, 1, 2);
    put_own(b, 1);
    put_name(b, "p");
    put_word(b, n);
    for (i64 i = 0; i < n; i++) {
        put_tensor(b, 5, -1);
        put_word(b, i);
    }
    put_from(b, 0);
}

/* ---- containers -------------------------------------------------------------------------------------------------- */

/* A tree of two maps around the module. */
static void put_container(bytes *b, i64 n) {
    bytes module = { NULL, 0, 0 };
    tsm_chain(&module, n);
    put_word(b, 0x19910929);
    put(b, "\6", 1);
    put_word(b, 1);
    put_name(b, "backbone");
    put(b, "\6", 1);
    put_word(b, 1);
    put_name(b, "tsm");
    put(b, "\4", 1);
    put_word(b, (i64)module.size);
    put(b, module.data, module.size);
    free(module.data);
}

static void tsm_container(bytes *b, int64_t n) { put_container(b, n); }

/* Each whole block of 16 bytes is combined with a number of 8 bytes, twice. */
static void tsm_scrambled(bytes *b, int64_t n) {
    unsigned long long key = 0;
    for (const char *p = "seetatech.com"; *p; p++) key = key * 10 + (unsigned char)*p;
    put_text(b, "fast");
    put_container(b, n);
    for (size_t i = 4; i < 4 + (b->size - 4) / 16 * 16; i++)
        b->data[i] = (char)(b->data[i] ^ (char)(key >> 8 * ((i - 4) % 8)));
}

const file_shape tsm_shapes[] = {
    SHAPE(tsm_chain), SHAPE(tsm_reversed), SHAPE(tsm_outputs), SHAPE(tsm_inputs), SHAPE(tsm_constants),
    SHAPE(tsm_parameters), SHAPE(tsm_repeated_parameters), SHAPE(tsm_unlike_nodes), SHAPE(tsm_packed),
    SHAPE(tsm_container), SHAPE(tsm_scrambled),
};
const size_t n_tsm_shapes = sizeof tsm_shapes / sizeof *tsm_shapes;
