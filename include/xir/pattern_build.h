/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Patterns composed at run time. A part is a row of pattern.h whose inputs are other parts; a pattern is made of a part
 * and everything that it leads to, and is matched as one from a table. Parts are immutable and name parts that exist,
 * so they have no cycles; one part may be used in many places and in many patterns. x * sigmoid(x) is
 *
 *     xir_parts *of = xir_parts_new(ctx);
 *     xir_part *x = xir_part_any(of);
 *     xir_part *gate = XIR_PART(of, XIR_WITH(x), XIR_ROW_OP(xir_sigmoid_class));
 *     xir_part *out = XIR_PART(of, XIR_WITH(x, gate), XIR_ROW_OP(xir_multiply_class), .commutes = true);
 *     const xir_pattern_decl decl = { XIR_PATTERN_HEAD_OF("silu"), .closed = true };
 *     xir_pattern *silu = xir_parts_pattern(of, out, &decl, why);
 *     xir_parts_free(of);
 *
 * Errors stick: a part that cannot be made is NULL, a part of NULL is NULL, and xir_parts_pattern tells why. */
#ifndef XIR_PATTERN_BUILD_H
#define XIR_PATTERN_BUILD_H

#include <string.h>
#include <xir/pattern.h>

XIR_BEGIN

typedef struct xir_parts xir_parts;   /* owns parts          */
typedef struct xir_part  xir_part;    /* lives as long as it */

/* Returns an empty builder, which keeps its context alive; NULL if memory runs out. It is used by one thread at a time.
 * xir_parts_free accepts NULL; patterns keep the parts alive that they were made of. */
XIR_API xir_parts *xir_parts_new(xir_context *ctx);
XIR_API void       xir_parts_free(xir_parts *of);
/* The first failure of a call that makes parts; XIR_OK: none. */
XIR_API xir_status xir_parts_status(const xir_parts *of);

/* Makes a part of a row and of the parts of its inputs; the row's own `inputs` and `n_inputs` must be zero. Everything
 * that the row points to is copied, except what `user` points to. NULL, and the builder remembers:
 *   XIR_E_MISSING  an input is NULL
 *   XIR_E_INVALID  an input is of another builder; the row has no kind, or inputs of its own
 *   XIR_E_LIMIT    more than XIR_ROW_MAX_INPUTS inputs
 *   XIR_E_ABI      a row without its size; XIR_E_UNSUPPORTED: it sets members that this library does not know
 *   XIR_E_MEMORY
 * Classes and element types are looked up when a pattern is made. */
XIR_API xir_part *xir_part_new(xir_parts *of, const xir_pattern_row *row, size_t row_size, xir_part *const *inputs,
                               size_t n_inputs);

/* The parts of inputs, and a part: the last arguments are the members of its row. XIR_PART is for C. */
#define XIR_WITH(...) \
    (xir_part *const[]){ __VA_ARGS__ }, sizeof((xir_part *const[]){ __VA_ARGS__ }) / sizeof(xir_part *)
#define XIR_WITH_ANY             NULL, 0
#define XIR_PART(of, inputs, ...) xir_part_new((of), &(xir_pattern_row){ __VA_ARGS__ }, sizeof(xir_pattern_row), inputs)

/* Parts without conditions. An op has any of the classes with these keys, "icraft::xir::Conv2d|onnx::Conv"; NULL: any
 * class. Without inputs (n = 0) they are not tested. */
static inline xir_part *xir_part_of_kind(xir_parts *of, xir_pattern_kind kind, xir_part *const *inputs, size_t n) {
    xir_pattern_row row;
    memset(&row, 0, sizeof row);
    row.kind = kind;
    return xir_part_new(of, &row, sizeof row, inputs, n);
}
static inline xir_part *xir_part_any(xir_parts *of)    { return xir_part_of_kind(of, XIR_PATTERN_ANY, NULL, 0); }
static inline xir_part *xir_part_params(xir_parts *of) { return xir_part_of_kind(of, XIR_PATTERN_PARAMS, NULL, 0); }
static inline xir_part *xir_part_rest(xir_parts *of)   { return xir_part_of_kind(of, XIR_PATTERN_REST, NULL, 0); }
static inline xir_part *xir_part_either(xir_parts *of, xir_part *const *parts, size_t n) {
    return xir_part_of_kind(of, XIR_PATTERN_EITHER, parts, n);
}
static inline xir_part *xir_part_op(xir_parts *of, const char *keys, xir_part *const *inputs, size_t n) {
    xir_pattern_row row;
    memset(&row, 0, sizeof row);
    row.kind = XIR_PATTERN_OP;
    row.keys = keys;
    return xir_part_new(of, &row, sizeof row, inputs, n);
}
/* Another output of the op of a part. */
static inline xir_part *xir_part_output(xir_parts *of, xir_part *op, uint8_t output) {
    xir_pattern_row row;
    memset(&row, 0, sizeof row);
    row.kind = XIR_PATTERN_OUTPUT;
    row.output = output;
    return xir_part_new(of, &row, sizeof row, &op, 1);
}

/* Makes a pattern whose root is a part. `decl` gives its name, `closed`, `check` and `user`, and no rows. The rows of
 * the pattern, which findings number, are the parts that the root leads to, in the order in which they were made. NULL
 * with a finding: what xir_pattern_new refuses; XIR_E_LIMIT for more than XIR_PATTERN_ROWS parts; XIR_E_INVALID for a
 * root of another builder; and if a part could not be made, that failure. */
XIR_API xir_pattern *xir_parts_pattern(xir_parts *of, const xir_part *root, const xir_pattern_decl *decl,
                                       xir_diags *why);
#define XIR_PATTERN_HEAD_OF(name_)                                                                                  \
    .abi = XIR_ABI, .size = sizeof(xir_pattern_decl), .row_size = sizeof(xir_pattern_row), .name = (name_)

/* The op or value that a part matched, as xir_match_op and xir_match_value tell it of rows. NULL too if the pattern
 * does not have the part. Logarithmic in the pattern; also after xir_parts_free, while the pattern exists. */
XIR_API xir_op    *xir_match_part_op(const xir_match *m, const xir_part *part);
XIR_API xir_value *xir_match_part_value(const xir_match *m, const xir_part *part);

XIR_END

#endif
