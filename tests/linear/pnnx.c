/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Shapes of PNNX texts. */
#include "linear/shapes.h"

static void begin(bytes *b, int64_t ops, int64_t operands) {
    putf(b, "7767517\n%lld %lld\npnnx.Input in 0 1 x #x=(4)f32\n", (i64)ops, (i64)operands);
}

static void pnnx_chain(bytes *b, int64_t n) {
    begin(b, n + 1, n + 1);
    for (i64 i = 0; i < n; i++)
        putf(b, "F.relu relu_%lld 1 1 %s%lld v%lld $input=%s%lld\n", i, i ? "v" : "x", i, i + 1, i ? "v" : "x", i);
}

static void pnnx_reversed(bytes *b, int64_t n) {
    begin(b, n + 1, n + 1);
    for (i64 i = n; i > 0; i--) putf(b, "F.relu relu_%lld 1 1 v%lld v%lld $input=v%lld\n", i, i - 1, i, i - 1);
}

static void pnnx_types(bytes *b, int64_t n) {
    begin(b, n + 1, n + 1);
    for (i64 i = 0; i < n; i++) putf(b, "t.type%lld op 1 1 x v%lld a=1\n", i, i);
}

/* Each line differs from how it would be written. */
static void pnnx_other_spelling(bytes *b, int64_t n) {
    begin(b, n + 1, n + 1);
    for (i64 i = 0; i < n; i++) putf(b, "t.op op%lld 1 1 x v%lld b=01 a=[%lld] #v%lld=(1)f32\n", i, i, i, i);
}

static void pnnx_items_of_a_line(bytes *b, int64_t n) {
    begin(b, 2, 2);
    put_text(b, "t.op op 1 1 x y");
    for (i64 i = 0; i < n; i++) putf(b, " k%lld=%lld", i * 7919 % 1000003, i);
    put_text(b, "\n");
}

static void pnnx_one_key_again(bytes *b, int64_t n) {
    begin(b, 2, 2);
    put_text(b, "t.op op 1 1 x y");
    for (i64 i = 0; i < n; i++) putf(b, " k=%lld", i);
    put_text(b, "\n");
}

static void pnnx_long_list(bytes *b, int64_t n) {
    begin(b, 2, 2);
    put_text(b, "t.op op 1 1 x y k=(1");
    for (i64 i = 0; i < n; i++) putf(b, ",%lld", i);
    put_text(b, ")\n");
}

/* Names and shapes of operands in the opposite order. */
static void pnnx_operands_of_a_line(bytes *b, int64_t n) {
    begin(b, 2, n + 1);
    putf(b, "t.op op %lld %lld", (i64)n, (i64)n);
    for (i64 i = 0; i < n; i++) putf(b, " u%lld", i);
    for (i64 i = 0; i < n; i++) putf(b, " v%lld", i);
    for (i64 i = n; i > 0; i--) putf(b, " $k%lld=u%lld", i - 1, i - 1);
    for (i64 i = n; i > 0; i--) putf(b, " #v%lld=(%lld)f32", i - 1, i);
    put_text(b, "\n");
}

static void pnnx_one_operand_again(bytes *b, int64_t n) {
    begin(b, 2, 2);
    putf(b, "t.op op %lld 1", (i64)n);
    for (i64 i = 0; i < n; i++) put_text(b, " x");
    put_text(b, " y");
    for (i64 i = 0; i < n; i++) putf(b, " $k%lld=x", i);
    put_text(b, "\n");
}

/* Items that name no operand of their line. */
static void pnnx_strange_items(bytes *b, int64_t n) {
    begin(b, 2, 2);
    put_text(b, "t.op op 1 1 x y");
    for (i64 i = 0; i < n; i++) putf(b, " $k=z%lld #z%lld=(1)f32", i, i);
    put_text(b, "\n");
}

/* Every line declares another shape for the input. */
static void pnnx_shapes_of_one_operand(bytes *b, int64_t n) {
    begin(b, n + 1, n + 1);
    for (i64 i = 0; i < n; i++) putf(b, "t.op op%lld 1 1 x v%lld #x=(%lld)f32\n", i, i, i + 1);
}

static void pnnx_dims_of_a_shape(bytes *b, int64_t n) {
    begin(b, 2, 2);
    put_text(b, "t.op op 1 1 x y #y=(1");
    for (i64 i = 0; i < n; i++) put_text(b, ",2");
    put_text(b, ")f32\n");
}

static void pnnx_open_inputs(bytes *b, int64_t n) {
    putf(b, "7767517\n%lld %lld\n", (i64)n, (i64)n);
    for (i64 i = 0; i < n; i++) putf(b, "pnnx.Input in%lld 0 1 x%lld #x%lld=(?,%%a%lld)f32\n", i, i, i, i);
}

static void pnnx_outputs(bytes *b, int64_t n) {
    begin(b, n + 1, 1);
    for (i64 i = 0; i < n; i++) putf(b, "pnnx.Output out%lld 1 0 x #x=(4)f32\n", i);
}

/* One name for all operators and all operands. */
static void pnnx_one_name(bytes *b, int64_t n) {
    begin(b, n + 1, n + 1);
    for (i64 i = 0; i < n; i++) put_text(b, "t.op op 1 1 x x $a=x #x=(4)f32\n");
}

static void pnnx_weights_of_a_line(bytes *b, int64_t n) {
    begin(b, 2, 2);
    put_text(b, "t.op op 1 1 x y");
    for (i64 i = 0; i < n; i++) putf(b, " @w%lld=(2,2)f32", i);
    put_text(b, "\n");
}

static void pnnx_weights(bytes *b, int64_t n) {
    begin(b, n + 1, n + 1);
    for (i64 i = 0; i < n; i++) putf(b, "t.op op%lld 1 1 x v%lld k=%lld @w=(2,2)f32\n", i, i, i % 2);
}

static void pnnx_blank_lines(bytes *b, int64_t n) {
    begin(b, 1, 1);
    for (i64 i = 0; i < n; i++) put_text(b, " \t \r\n");
}

/* Names that are one identifier in Python: the bits of a number in two characters that it does not have. */
static void pnnx_one_identifier(bytes *b, int64_t n) {
    begin(b, n + 1, n + 1);
    for (i64 i = 0; i < n; i++) {
        putf(b, "F.relu r%lld 1 1 x ", i);
        for (i64 bit = 1; bit < 4096; bit *= 2) put_text(b, i & bit ? "-" : "+");
        put_text(b, "\n");
    }
}

/* A list of formulas, and one of tensors, which is taken apart. */
static void pnnx_lists(bytes *b, int64_t n) {
    begin(b, 4, n + 4);
    put_text(b, "pnnx.Expression e 1 1 x e expr=[size(@0,0)");
    for (i64 i = 0; i < n; i++) put_text(b, ",neg(size(@0,0))");
    putf(b, "]\nprim::ListConstruct c %lld 1", (i64)n);
    for (i64 i = 0; i < n; i++) put_text(b, " x");
    putf(b, " c\nprim::ListUnpack u 1 %lld c", (i64)n);
    for (i64 i = 0; i < n; i++) putf(b, " u%lld", i);
    put_text(b, "\n");
}

static void pnnx_cut_off(bytes *b, int64_t n) {
    pnnx_chain(b, n);
    put_text(b, "F.relu cut 2 1 x");
}

const file_shape pnnx_shapes[] = {
    SHAPE(pnnx_chain), SHAPE(pnnx_reversed), SHAPE(pnnx_types), SHAPE(pnnx_other_spelling), SHAPE(pnnx_items_of_a_line),
    SHAPE(pnnx_one_key_again), SHAPE(pnnx_long_list), SHAPE(pnnx_operands_of_a_line), SHAPE(pnnx_one_operand_again),
    SHAPE(pnnx_strange_items), SHAPE(pnnx_shapes_of_one_operand), SHAPE(pnnx_dims_of_a_shape), SHAPE(pnnx_open_inputs),
    SHAPE(pnnx_outputs), SHAPE(pnnx_one_name), SHAPE(pnnx_weights_of_a_line), SHAPE(pnnx_weights),
    SHAPE(pnnx_blank_lines), SHAPE(pnnx_one_identifier), SHAPE(pnnx_lists), REFUSED(pnnx_cut_off),
};
const size_t n_pnnx_shapes = sizeof pnnx_shapes / sizeof *pnnx_shapes;
