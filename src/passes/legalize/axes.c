/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Ops that a target runs along some axes only: they are transposed before and after, or other dims are joined; and
 * Transposes and Expands in steps. */
#include <string.h>
#include "legalize/legalize.h"

/* ---- Transpose in steps ------------------------------------------------------------------------------------------ */

/* Swaps axes i and j of a value; the last step has the type of the op's output. */
static xir_value *swap(const legalizer *l, xir_op *op, xir_value *v, size_t i, size_t j, bool last) {
    const size_t rank = xir_type_rank(v->type);
    int64_t order[MOST_DIMS];
    for (size_t k = 0; k < rank; k++) order[k] = (int64_t)(k == i ? j : k == j ? i : k);
    if (!last) return xir_build_transpose(step_at(l, op), v, order, rank, NULL);
    xir_transpose_attrs a = xir_transpose_init();
    a.dims = (xir_i64s){ order, rank };
    a.layout = xir_type_layout(op_outputs(op)[0].type);
    return XIR_OP(last_at(l, op), transpose, .input = v, .attrs = &a);
}

/* The swaps that bring axes into an order: of two axes other than the last one, or of the last two. */
static size_t plan_swaps(const int64_t *order, size_t rank, size_t swaps[][2]) {
    int64_t now[MOST_DIMS];
    size_t n = 0;
    for (size_t i = 0; i < rank; i++) now[i] = (int64_t)i;
#define SWAP(a, b)                                      \
    do {                                                \
        const int64_t t = now[a];                       \
        now[a] = now[b], now[b] = t;                    \
        swaps[n][0] = (a), swaps[n][1] = (b), n++;      \
    } while (0)
    if (now[rank - 1] != order[rank - 1]) {
        size_t at = 0;
        while (now[at] != order[rank - 1]) at++;
        if (at != rank - 2) SWAP(at, rank - 2);
        SWAP(rank - 2, rank - 1);
    }
    for (size_t i = 0; i + 1 < rank; i++) {
        size_t at = i;
        while (now[at] != order[i]) at++;
        if (at != i) SWAP(i, at);
    }
#undef SWAP
    return n;
}

static bool transpose_in_steps(const legalizer *l, xir_op *op, xir_value **out) {
    const xir_transpose_attrs *a = xir_transpose_of(op);
    const size_t rank = a->dims.size;
    int64_t order[MOST_DIMS];
    size_t swaps[MOST_DIMS + 2][2];
    xir_value *v = xir_op_input(op, 0);
    if (rank < 2 || rank > MOST_DIMS) return false;
    for (size_t i = 0; i < rank; i++) order[i] = from_end(a->dims.data[i], (int64_t)rank);
    const size_t n = plan_swaps(order, rank, swaps);
    if (n < 2) return false;
    for (size_t i = 0; i < n && v; i++) v = swap(l, op, v, swaps[i][0], swaps[i][1], i + 1 == n);
    out[0] = v;
    return true;
}

/* ---- Expand, a dim at a time ------------------------------------------------------------------------------------ */

static bool expand_in_steps(const legalizer *l, xir_op *op, xir_value **out) {
    xir_value *v = xir_op_input(op, 0);
    const xir_i64s *in = known_dims(v), *to = known_dims(&op_outputs(op)[0]);
    int64_t dims[MOST_DIMS];
    size_t changed = 0, done = 0;
    if (!in || !to || in->size > to->size) return false;
    const size_t more = to->size - in->size;
    for (size_t i = 0; i < to->size; i++) {
        dims[i] = i < more ? 1 : in->data[i - more];
        changed += dims[i] != to->data[i];
    }
    if (!changed || (changed == 1 && !more)) return false;
    if (more) v = reshape_to(step_at(l, op), v, dims, to->size, xir_type_layout(op_outputs(op)[0].type));
    for (size_t i = 0; i < to->size && v; i++) {
        if (dims[i] == to->data[i]) continue;
        dims[i] = to->data[i];
        xir_expand_attrs a = xir_expand_init();
        a.sizes = (xir_i64s){ dims, to->size };
        v = XIR_OP(++done == changed ? last_at(l, op) : step_at(l, op), expand, .input = v, .attrs = &a);
    }
    out[0] = v;
    return true;
}

/* ---- normalisation along one axis -------------------------------------------------------------------------------- */

/* The only axis of such an op, from 0; -1 if it has several. */
static int64_t axis_of(const xir_op *op, size_t rank) {
    int64_t axis;
    xir_i64s axes;
    if (xir_op_get_i64(op, "axis", &axis) == XIR_OK) return from_end(axis, (int64_t)rank);
    return xir_op_get_i64s(op, "axis", &axes) == XIR_OK && axes.size == 1 ? from_end(axes.data[0], (int64_t)rank) : -1;
}

/* The op on another value, along another axis. */
static xir_value *along(const legalizer *l, xir_op *op, xir_value *v, const int64_t *axis, bool last) {
    xir_named_attr set = named_i64("axis", *axis);
    xir_i64s axes;
    if (xir_op_get_i64s(op, "axis", &axes) == XIR_OK)
        set.value = (xir_attr){ .kind = XIR_KIND_I64S, .as.i64s = { axis, 1 } };
    xir_op *now = xir_network_add(l->net, &XIR_INIT(xir_op_desc, .cls = op->cls, .attrs = op->attrs, .inputs = &v,
                                  .n_inputs = 1, .target = op_target(op), .id = XIR_NO_ID, .before = op, .named = &set,
                                  .n_named = 1, .name = last ? xir_op_name(op) : XIR_STR("")));
    return now ? &op_outputs(now)[0] : NULL;
}

/* LayerNorm's own factors would be along another axis, too. */
static bool is_bare(const xir_op *op) {
    const xir_layer_norm_attrs *a = xir_layer_norm_of(op);
    return !a || (!a->gamma && !a->beta);
}

/* The axis changes places with another one, counted from the end. */
static bool turn_to(const legalizer *l, xir_op *op, int64_t from_last, xir_value **out) {
    xir_value *v = xir_op_input(op, 0);
    const xir_i64s *dims = known_dims(v);
    if (!dims || dims->size < 2 || !is_bare(op)) return false;
    const size_t rank = dims->size;
    const int64_t axis = axis_of(op, rank), wanted = (int64_t)rank - from_last;
    if (axis < 0 || axis == wanted) return false;
    v = swap(l, op, v, (size_t)axis, (size_t)wanted, false);
    v = v ? along(l, op, v, &wanted, false) : NULL;
    out[0] = v ? swap(l, op, v, (size_t)axis, (size_t)wanted, true) : NULL;
    return true;
}

static bool turn(const legalizer *l, xir_op *op, xir_value **out)         { return turn_to(l, op, 2, out); }
static bool turn_to_last(const legalizer *l, xir_op *op, xir_value **out) { return turn_to(l, op, 1, out); }

/* A row becomes a column. */
static bool stand_up(const legalizer *l, xir_op *op, xir_value **out) {
    static const int64_t rows = 0;
    xir_value *v = xir_op_input(op, 0);
    const xir_i64s *dims = known_dims(v);
    if (!dims || dims->size != 1 || !is_bare(op)) return false;
    const int64_t column[] = { dims->data[0], 1 };
    v = reshape_to(step_at(l, op), v, column, 2, NULL);
    v = v ? along(l, op, v, &rows, false) : NULL;
    out[0] = v ? reshape_like(l, op, v, 0) : NULL;
    return true;
}

/* ---- channels last ---------------------------------------------------------------------------------------------- */

/* A map whose channels are elsewhere is transposed before the op, and its result back. */
static bool move_channels(const legalizer *l, xir_op *op, xir_value **out) {
    enum { THREE = 3 };
    xir_value *inputs[THREE];
    const xir_layout *layout = xir_type_layout(xir_op_input(op, 0)->type);
    const size_t rank = xir_type_rank(xir_op_input(op, 0)->type);
    const int64_t channels = layout ? xir_layout_index(layout, 'C') : -1;
    int64_t there[MOST_DIMS], back[MOST_DIMS];
    if (channels < 0 || rank > MOST_DIMS || channels + 1 == (int64_t)rank || op->n_inputs > THREE) return false;
    for (size_t i = 0; i < rank; i++) {
        there[i] = i + 1 == rank ? channels : (int64_t)i + ((int64_t)i >= channels);
        back[there[i]] = (int64_t)i;
    }
    for (uint32_t i = 0; i < op->n_inputs; i++) inputs[i] = op_inputs(op)[i].value;
    inputs[0] = xir_build_transpose(step_at(l, op), inputs[0], there, rank, NULL);
    if (!inputs[0]) return false;
    xir_op *now = xir_network_add(l->net, &XIR_INIT(xir_op_desc, .cls = op->cls, .attrs = op->attrs, .inputs = inputs,
                                  .n_inputs = op->n_inputs, .target = op_target(op), .id = XIR_NO_ID, .before = op));
    xir_transpose_attrs a = xir_transpose_init();
    a.dims = (xir_i64s){ back, rank };
    a.layout = xir_type_layout(op_outputs(op)[0].type);
    out[0] = now ? XIR_OP(last_at(l, op), transpose, .input = &op_outputs(now)[0], .attrs = &a) : NULL;
    return true;
}

/* All dims before the last one become one, or are left out if they are 1 and the axis is the one before the last. */
static bool join(const legalizer *l, xir_op *op, xir_value **out) {
    xir_value *v = xir_op_input(op, 0);
    const xir_i64s *dims = known_dims(v);
    if (!dims || dims->size == 2 || !dims->size || !is_bare(op)) return false;
    const size_t rank = dims->size;
    const int64_t axis = axis_of(op, rank);
    int64_t rows = 1, product = 1;
    for (size_t i = 0; i + 1 < rank; i++) {
        if (__builtin_mul_overflow(rows, dims->data[i], &rows)) return false;
        if (i + 2 < rank) product = rows;
    }
    const bool last = axis == (int64_t)rank - 1;
    if (axis < 0 || (!last && (axis != (int64_t)rank - 2 || product != 1))) return false;
    const int64_t flat[] = { rows, dims->data[rank - 1] }, now = last ? 1 : 0;
    v = reshape_to(step_at(l, op), v, flat, 2, NULL);
    v = v ? along(l, op, v, &now, false) : NULL;
    out[0] = v ? reshape_like(l, op, v, 0) : NULL;
    return true;
}

const rewrite legalize_axes[] = {
    { xir_conv2d_class,           move_channels, false },
    { xir_conv_transpose2d_class, move_channels, false },
    { xir_max_pool2d_class,       move_channels, false },
    { xir_avg_pool2d_class,       move_channels, false },
    { xir_upsample_class,         move_channels, false },
    { xir_instance_norm2d_class,  move_channels, false },
    { xir_transpose_class,        transpose_in_steps, true },
    { xir_expand_class,           expand_in_steps,    true },
    { xir_softmax_class,     turn,               false },
    { xir_layer_norm_class,  turn,               false },
    { xir_normalize_class,   turn,               false },
    { xir_softmax_class,     stand_up,           false },
    { xir_layer_norm_class,  stand_up,           false },
    { xir_normalize_class,   stand_up,           false },
    { xir_softmax_class,     join,               false },
    { xir_layer_norm_class,  join,               false },
    { xir_log_softmax_class, join,               false },
    { xir_softmax_class,     turn_to_last,       false },
    { xir_layer_norm_class,  turn_to_last,       false },
    { xir_log_softmax_class, turn_to_last,       false },
    { NULL },
};
