/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Unique: elements, or slices along an axis, are sorted by a stable sort of each column, from the last to the first.
 * Those that differ from the one before begin a group; how many do depends on data. */
#include "onnx/rows.h"
#include "formula/parts.h"

enum { MOST_COLUMNS = 64 };

/* x as rows [n, columns], and the values that follow from it. */
typedef struct unique_parts {
    xir_value *rows;
    xir_value *perm, *back;      /* the row at each place of the sorted order; the place of each row     */
    xir_value *begins, *ends;    /* [n]: whether the first, the last row of a group is at this place, as integers */
    xir_value *group;            /* [n]: the number of the group at each place                            */
    int64_t    n, columns;
} unique_parts;

static xir_value *taken(xir_node *at, xir_value *from, xir_value *places) {
    return xir_node_make(at, "Gather", INS(from, places), SETS(INT("axis", 0)));
}

/* The places of the numbers in ascending order; equal ones keep their order. XIR's TopK gives places in the elements
 * of its input. */
static xir_value *sorted_places(xir_node *at, xir_value *keys, int64_t n) {
    const xir_ints count = xir_node_make_ints(at, 1, n);
    if (!keys || !count.v) return NULL;
    const bool wide = v_is_integer(keys) && xir_type_storage_bits(v_element(keys)) == 64;
    if (!wide) keys = xir_node_cast(at, keys, xir_type_float(at->c->ctx, XIR_FLOAT_FP64));
    xir_op *op = xir_node_make_op(at, "TopK", INS(keys, xir_node_integers(at, &count)),
                                  SETS(INT("axis", 0), INT("largest", 0), INT("sorted", 1)));
    return op ? xir_node_cast(at, xir_op_output(op, 1), xir_type_sint(at->c->ctx, 64)) : NULL;
}

/* The places where a list is not 0. */
static xir_value *places_of(xir_node *at, xir_value *list) {
    const xir_ints flat = { (int64_t[]){ -1 }, 1 };
    xir_value *found = xir_node_unary(at, "NonZero", list);
    if (found && xir_value_is_params(found)) return make_reshaped(at, found, &flat);
    return xir_node_make(at, "Reshape", INS(found),
                         SETS(LIST("shape", &flat), OBJ("layout", xir_layout_default(at->c->ctx, 1))));
}

static xir_value *counted(xir_node *at, xir_value *marks) {
    xir_value *sum = xir_node_make(at, "CumSum", INS(marks), SETS(INT("axis", 0)));
    return make_affine(at, sum, 1, -1);
}

/* Along which rows the columns lie one after another. */
static xir_value *as_rows(xir_node *at, xir_value *x, size_t axis, unique_parts *p) {
    const size_t rank = v_rank(x);
    xir_ints dims = xir_node_dims(at, x), order = xir_node_series(at, 0, rank);
    if (xir_node_failed(at) || !xir_node_need_dims(at, x, 0, SIZE_MAX)) return NULL;
    p->n = dims.v[axis];
    p->columns = p->n ? product_of(&dims, 0, rank) / p->n : 0;
    for (size_t i = axis; i > 0; i--) order.v[i] = order.v[i - 1];
    order.v[0] = (int64_t)axis;
    return make_shaped(at, axis ? xir_node_transposed(at, x, order.v, rank, NULL) : x,
                       (int64_t[]){ p->n, p->columns }, 2);
}

static bool sort_rows(xir_node *at, unique_parts *p) {
    const xir_type *whole = xir_type_sint(at->c->ctx, 64);
    const xir_ints one = { (int64_t[]){ 1 }, 1 };
    for (int64_t k = p->columns; k-- > 0 && !xir_node_failed(at);) {
        xir_value *keys = make_shaped(at, make_part(at, p->rows, 1, k, k + 1, 1), (int64_t[]){ p->n }, 1);
        xir_value *places = sorted_places(at, p->perm ? taken(at, keys, p->perm) : keys, p->n);
        p->perm = p->perm ? taken(at, p->perm, places) : places;
    }
    p->back = sorted_places(at, p->perm, p->n);
    xir_value *sorted = taken(at, p->rows, p->perm), *edge = xir_node_filled(at, whole, &one, 1);
    p->begins = p->ends = edge;
    if (p->n > 1) {
        xir_value *differs = xir_node_unary(at, "Not", xir_node_make(at, "Equal",
            INS(make_part(at, sorted, 0, 1, p->n, 1), make_part(at, sorted, 0, 0, p->n - 1, 1)), NO_SETS));
        differs = xir_node_reduced(at, "Max", xir_node_cast(at, differs, whole), &one, false);
        p->begins = xir_node_make(at, "Concat", INS(edge, differs), SETS(INT("axis", 0)));
        p->ends = xir_node_make(at, "Concat", INS(differs, edge), SETS(INT("axis", 0)));
    }
    p->group = counted(at, p->begins);
    return !xir_node_failed(at);
}

/* The outputs after the first: the position at which each group is met first, the group of each row, the number of rows
 * of each group. Groups are in the sorted order, or in that of their first rows. */
bool onnx_unique(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *groups = NULL, *inverse = NULL;
    const bool sorted = xir_node_bool(at, "sorted", true), along = xir_node_attr(at, "axis");
    int64_t axis = xir_node_int(at, "axis", 0);
    unique_parts p = { NULL };
    if (x && !along) x = make_shaped(at, x, (int64_t[]){ -1 }, 1);
    if (!x || !xir_node_axis(at, "attribute/axis", axis, v_rank(x), &axis)) return false;
    if (!v_is_real(x) && !v_is_integer(x)) return xir_node_unsupported(at, "elements that can't be sorted");
    p.rows = as_rows(at, x, (size_t)axis, &p);
    if (xir_node_failed(at)) return false;
    if (p.n < 1 || p.columns < 1) return xir_node_unsupported(at, "there are no elements");
    if (p.columns > MOST_COLUMNS)
        return xir_node_unsupported(at, "slices have more than %d elements", MOST_COLUMNS);
    if (!sort_rows(at, &p)) return false;
    xir_value *from = places_of(at, p.begins), *first = sorted ? taken(at, p.perm, from) : NULL;
    if (!sorted) {
        xir_value *met = taken(at, p.begins, p.back), *own = taken(at, p.group, p.back);
        first = places_of(at, met);
        groups = taken(at, own, first);
        /* the number of the group's first row among all first rows */
        if (node_wants(at, 2))
            inverse = taken(at, counted(at, met), taken(at, taken(at, p.perm, from), own));
    } else if (node_wants(at, 2)) {
        inverse = taken(at, p.group, p.back);
    }
    xir_node_result(at, 0, xir_node_make(at, "Gather", INS(x, first), SETS(INT("axis", axis))));
    if (node_wants(at, 1)) xir_node_result(at, 1, first);
    if (node_wants(at, 2)) xir_node_result(at, 2, inverse);
    if (!node_wants(at, 3)) return !xir_node_failed(at);
    xir_value *sizes = make_affine(at, xir_node_sum(at, places_of(at, p.ends), from, 1, -1), 1, 1);
    return xir_node_result(at, 3, sorted ? sizes : taken(at, sizes, groups));
}
