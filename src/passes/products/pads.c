/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A Pad before a convolution or a pool becomes padding of that op: zeros, or -inf before a maximum. */
#include <math.h>
#include "canon/canon.h"
#include "products/products.h"
#include "provenance.h"
#include "support/sides.h"
#include "support/upkeep.h"

enum { X, PAD, WEIGHTS, BIAS, OUT };

enum { MOST_PAD = 1 << 20 };

/* Reads the cells that the Pad adds along each letter. Returns false if it pads another dim, or cuts. */
static bool read_amounts(const xir_match *m, amounts *out) {
    const xir_op *pad = xir_match_op(m, PAD);
    const xir_i64s list = xir_pad_of(pad)->padding;
    const xir_layout *letters = xir_type_layout(xir_match_value(m, X)->type);
    const size_t rank = xir_type_rank(xir_match_value(m, X)->type);
    if (pad->n_inputs != 1 || list.size != 2 * rank || !letters || xir_layout_rank(letters) != rank) return false;
    for (size_t i = 0; i < SIDES; i++) out[i] = (amounts){ 0, 0 };
    for (size_t i = 0; i < rank; i++) {
        const amounts a = { list.data[2 * i], list.data[2 * i + 1] };
        size_t k = 0;
        if (a.before < 0 || a.after < 0 || a.before > MOST_PAD || a.after > MOST_PAD) return false;
        if (!a.before && !a.after) continue;
        while (k < SIDES && xir_layout_index(letters, sides[k].letter) != (int64_t)i) k++;
        if (k == SIDES || !xir_class_field(m->root->cls, xir_str_of(sides[k].before))) return false;
        out[k] = a;
    }
    return true;
}

static bool is_max(const xir_op *op) {
    return xir_max_pool1d_of(op) || xir_max_pool2d_of(op) || xir_max_pool3d_of(op);
}

/* Returns true if the op pads by itself. */
static bool pads(const xir_op *op) {
    bool any = false;
    for (size_t i = 0; i < SIDES; i++)
        any |= side_number(op, sides[i].before, 0) || side_number(op, sides[i].after, 0);
    return any;
}

/* Returns true if the op's own padding is of the same kind: zeros of a convolution, cells that a mean counts. */
static bool goes_on(const xir_op *op) {
    xir_attr a;
    bool counts;
    if (!pads(op) || is_max(op)) return true;
    if (xir_op_get(op, XIR_STR("padding_mode"), &a) == XIR_OK) return a.as.enumerator == XIR_PADDING_ZEROS;
    return xir_op_get_bool(op, "count_include_pad", &counts) == XIR_OK && counts;
}

static bool may_fold(const xir_match *m, void *user) {
    amounts a[SIDES];
    const xir_pad_attrs *pad = xir_pad_of(xir_match_op(m, PAD));
    const xir_value *x = xir_match_value(m, X), *y = xir_op_output(m->root, 0);
    (void)user;
    return y && canon_check_ops(m) && fuse_is_plain(x->type) && fuse_is_plain(y->type) &&
           element_is_float(element_format_of(x->type)) &&
           xir_type_equal(xir_type_element(x->type), xir_type_element(xir_match_value(m, PAD)->type)) &&
           pad->mode == XIR_PAD_CONSTANT && pad->value &&
           xir_scalar_as_real(pad->value) == (is_max(m->root) ? -(double)INFINITY : 0) &&
           read_amounts(m, a) && goes_on(m->root);
}

static const xir_pattern_row rows[] = {
    [X]       = { XIR_ROW_ANY },
    [PAD]     = { XIR_ROW_OP(xir_pad_class), XIR_ROW_INPUTS(X) },
    [WEIGHTS] = { XIR_ROW_ANY, .optional = true },
    [BIAS]    = { XIR_ROW_ANY, .optional = true },
    [OUT]     = { XIR_ROW_OP(SIDES_CLASSES), XIR_ROW_INPUTS(PAD, WEIGHTS, BIAS) },
};
static const xir_pattern_decl pad = { XIR_PATTERN_HEAD("pad", rows), .check = may_fold };

static xir_verdict to_padding(xir_rewriter *at, const xir_match *m, const void *user) {
    amounts a[SIDES];
    (void)user;
    if (!read_amounts(m, a)) return XIR_REWRITE_LEFT;
    xir_op *op = m->root, *pad_op = xir_match_op(m, PAD);
    xir_status status = sides_add(op, a, true);
    if (!status) status = xir_op_set_input(op, 0, xir_match_value(m, X));
    provenance_absorbed(op, pad_op);
    if (!status && op_is_unused(pad_op)) status = xir_op_erase(pad_op);
    if (!status) products_touch_above(at, xir_match_value(m, X));
    return status ? XIR_REWRITE_FAILED : XIR_REWRITE_DONE;
}

const pass_rule products_pads[] = { { &pad, to_padding }, { NULL, NULL } };
