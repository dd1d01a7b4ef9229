/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The orders of one op: the order of one input, or of the outputs, determines those of all its operands and results. */
#include "layout/layout.h"

/* ---- types ------------------------------------------------------------------------------------------------------ */

/* Ratios, and the ranges of calibrated types, do not follow their axes here. */
static bool has_ratios(const xir_type *element) {
    return xir_type_is_quantized(element) && xir_type_kind_of(element) != XIR_TYPE_QUANTIZED;
}

static type_facts read_facts(const xir_type *type) {
    const xir_tensor_type *t = xir_type_as_tensor(type);
    type_facts f = { .type = type, .plain = false, .single = true };
    if (!t || t->shape.size > MOST_AXES) return f;
    f.rank = (uint8_t)t->shape.size;
    f.plain = t->merged_distrs.size == 0 && !has_ratios(t->element_dtype) &&
        !(t->layout && xir_layout_is_layouted(t->layout));
    for (size_t i = 0; i < t->shape.size; i++) f.single &= t->shape.data[i] == 1;
    return f;
}

const type_facts *facts_of(plan *l, const xir_type *type) {
    uintptr_t bits = (uintptr_t)type >> 4;
    type_facts *f = &l->facts[(bits ^ bits >> 8) & (FACTS - 1)];
    if (f->type != type || !type) *f = read_facts(type);
    return f;
}

static size_t rank_of(const xir_value *value) { return xir_type_rank(value->type); }
static size_t rank_in(const plan *l, const node *n) { return l->ports[n->port].rank; }

static size_t letter_at(const xir_type *type, char letter, size_t otherwise) {
    const xir_layout *layout = xir_type_layout(type);
    int64_t found = layout && xir_layout_rank(layout) == xir_type_rank(type) ? xir_layout_index(layout, letter) : -1;
    return found < 0 ? otherwise : (size_t)found;
}

/* ---- attributes ------------------------------------------------------------------------------------------------- */

static uint32_t bit_of(int64_t axis, size_t rank) {
    if (axis < 0) axis += (int64_t)rank;
    return axis >= 0 && axis < (int64_t)rank ? 1u << axis : 0;
}

/* The axes that an attribute of the row names, one bit each. */
static uint32_t axes_named(const node *n) {
    const xir_field *field = n->row->attr[0];
    const xir_value *input = op_inputs(n->op)[0].value;
    size_t rank = n->row->kind == LAYOUT_GAIN ? n->rank : rank_of(input);
    uint32_t all = (1u << rank) - 1, mask = 0;
    if (n->row->form == BY_AXIS) return bit_of(*(const int64_t *)attr_at(n->op, field), rank);
    if (n->row->form == BY_AXIS_REF) {
        const xir_int_imm *axis = *(const xir_int_imm *const *)attr_at(n->op, field);
        return axis ? bit_of(axis->value, rank) : all;
    }
    const xir_i64s *axes = attr_at(n->op, field);
    for (size_t i = 0; i < axes->size; i++) mask |= bit_of(axes->data[i], rank);
    if (axes->size) return mask;
    if (!(n->row->flags & LAYOUT_ONES)) return all;
    for (size_t i = 0; i < rank; i++) mask |= (uint32_t)(xir_type_dim(input->type, (int64_t)i, false) == 1) << i;
    return mask;
}

static int64_t clamped(int64_t axis, int64_t rank) {
    if (axis < 0) axis += rank;
    return axis < 0 ? 0 : axis > rank ? rank : axis;
}

void axes_asked(const node *n, size_t *from, size_t *to) {
    const xir_int_imm *last = *(const xir_int_imm *const *)attr_at(n->op, n->row->attr[1]);
    int64_t rank = (int64_t)rank_of(op_inputs(n->op)[0].value),
            start = clamped(*(const int64_t *)attr_at(n->op, n->row->attr[0]), rank);
    int64_t end = last ? clamped(last->value, rank) : rank;
    *from = (size_t)start;
    *to = (size_t)(end > start ? end : start);
}

static bool names_some(const node *n) {
    const void *attr = attr_at(n->op, n->row->attr[0]);
    return n->row->form == BY_AXIS_REF ? *(const void *const *)attr != NULL : ((const xir_i64s *)attr)->size > 0;
}

static bool has_factors(const node *n) {
    for (size_t k = 0; k < LAYOUT_ATTRS && n->row->attr[k]; k++) {
        const xir_field *field = n->row->attr[k];
        int64_t count = 1;
        if (field->kind == XIR_KIND_REFS) count = (int64_t)((const xir_refs *)attr_at(n->op, field))->size;
        else xir_type_elements((*(xir_value *const *)attr_at(n->op, field))->type, &count);
        if (count > 1) return true;
    }
    return false;
}

static bool finds_channels(const node *n) {
    return n->row->flags & LAYOUT_CHANNELS || (n->row->form == BY_FACTORS && has_factors(n));
}

static bool keeps_dims(const node *n) { return n->row->keepdim && *(const bool *)attr_at(n->op, n->row->keepdim); }

/* ---- the ability of ops ----------------------------------------------------------------------------------------- */

/* The type of the input that gives the output its layout: the first of those with the highest rank. */
static const xir_type *leading_type(const node *n) {
    const xir_value *leading = op_inputs(n->op)[0].value;
    for (uint32_t i = 1; i < n->op->n_inputs; i++) {
        const xir_value *v = op_inputs(n->op)[i].value;
        if (v && rank_of(v) > rank_of(leading)) leading = v;
    }
    return leading->type;
}

/* Returns true if the last `rank` of `all` axes stay last. */
static bool keeps_last(axis_order p, size_t all, size_t rank) {
    for (size_t i = all - rank; i < all; i++) {
        if (order_at(p, i) < all - rank) return false;
    }
    return true;
}

static bool inputs_can(plan *l, const node *n, axis_order in) {
    for (uint32_t i = 0; i < n->n_in; i++) {
        const port *p = &l->ports[n->port + i];
        if (p->root != NONE) {
            if (n->row->kind == LAYOUT_EACH && p->rank < n->rank && !p->single && !keeps_last(in, n->rank, p->rank))
                return false;
        } else if (p->type && !params_movable(op_inputs(n->op)[i].value)) {
            return false;
        }
    }
    return true;
}

/* Returns true if the leading input may have this order, which is an order of axes. */
static bool can_work_in(plan *l, const node *n, axis_order in) {
    const class_layout *row = n->row;
    bool joins = row->kind == LAYOUT_EACH || row->kind == LAYOUT_JOIN || row->kind == LAYOUT_GAIN;
    if (joins && !inputs_can(l, n, in)) return false;
    if (!row->flags && row->form != BY_ITEMS && row->form != BY_FACTORS) return true;
    const xir_type *type = row->kind == LAYOUT_EACH ? leading_type(n) : op_inputs(n->op)[0].value->type;
    size_t rank = xir_type_rank(type);
    if (finds_channels(n)) {
        if (rank == 0 || order_at(in, rank - 1) != letter_at(type, 'C', rank - 1)) return false;
    }
    if (row->flags & LAYOUT_BATCH && order_at(in, 0) != letter_at(type, 'N', 0)) return false;
    if (row->flags & LAYOUT_NAMED && !names_some(n)) return false;
    if (row->flags & LAYOUT_IN_TURN) {
        uint32_t named = axes_named(n), before = 0;
        for (size_t i = 0; i < rank; i++) {
            uint32_t axis = order_at(in, i);
            if (!(named >> axis & 1)) continue;
            if (axis < before) return false;
            before = axis;
        }
    }
    return row->form != BY_ITEMS || ((const xir_i64s *)attr_at(n->op, n->row->attr[0]))->size <= rank;
}

/* Returns true if the ranks are what the row expects. A file may have any ranks, and no pass before this one checks
 * them. */
static bool ranks_fit(const plan *l, const node *n, layout_kind kind) {
    size_t rank = rank_in(l, n), named = (size_t)__builtin_popcount(n->row->attr[0] && n->row->form != BY_NONE &&
                                                                    n->row->form < BY_ITEMS ? axes_named(n) : 0);
    bool all = kind == LAYOUT_JOIN || kind == LAYOUT_GAIN, axis = n->row->form == BY_AXIS;
    size_t out = rank;
    if (axis && named == 0) return false;
    if (kind == LAYOUT_LOSE && !keeps_dims(n)) out -= named;
    if (kind == LAYOUT_GAIN) out++;
    if (kind == LAYOUT_GATHER) {
        if (n->n_in < 2 || !l->ports[n->port + 1].type) return false;
        out = rank - 1 + l->ports[n->port + 1].rank;
    }
    for (uint32_t i = 0; i < n->n_in; i++) {
        const port *p = &l->ports[n->port + i];
        if (!p->type) {
            if (all || kind == LAYOUT_EACH) return false;
        } else if (kind == LAYOUT_EACH ? p->rank > n->rank : all && p->rank != rank) {
            return false;
        }
    }
    for (uint32_t i = 1; i < n->n_out && kind == LAYOUT_EACH; i++) {
        if (rank_of(&op_outputs(n->op)[i]) != n->rank) return false;
    }
    if (kind == LAYOUT_EACH || kind == LAYOUT_RESHAPE || kind == LAYOUT_MATMUL || kind == LAYOUT_SHAPE) return true;
    for (uint32_t i = 0; i < n->n_out; i++) {
        if (rank_of(&op_outputs(n->op)[i]) != out) return false;
    }
    return true;
}

bool row_fits(plan *l, const node *n) {
    layout_kind kind = n->row->kind;
    if (!ranks_fit(l, n, kind)) return false;
    if (kind == LAYOUT_RESHAPE) {
        const xir_layout *letters = *(const xir_layout *const *)attr_at(n->op, n->row->attr[1]);
        return ((const xir_i64s *)attr_at(n->op, n->row->attr[0]))->size == n->rank && letters &&
               xir_layout_rank(letters) == n->rank;
    }
    if (n->row->form == BY_TYPE) {
        return facts_of(l, *(const xir_type *const *)attr_at(n->op, n->row->attr[0]))->plain &&
               xir_type_rank(*(const xir_type *const *)attr_at(n->op, n->row->attr[0])) == n->rank;
    }
    for (size_t k = 0; k < LAYOUT_ATTRS && n->row->form == BY_FACTORS && n->row->attr[k]; k++) {
        if (n->row->attr[k]->kind == XIR_KIND_PARAMS && !*(xir_value *const *)attr_at(n->op, n->row->attr[k]))
            return false;
    }
    return true;
}

/* ---- broadcasting ----------------------------------------------------------------------------------------------- */

/* The order of an input with fewer dims than the result, and the order of the result from the order of such an
 * input. */
static axis_order narrowed(axis_order p, size_t all, size_t rank) {
    axis_order out = ORDER_SAME;
    for (size_t i = 0; i < rank; i++) out = order_put(out, i, order_at(p, i + all - rank) - (all - rank));
    return out;
}

static axis_order widened(axis_order p, size_t all, size_t rank) {
    axis_order out = ORDER_SAME;
    for (size_t i = 0; i < rank; i++) out = order_put(out, i + all - rank, order_at(p, i) + all - rank);
    return out;
}

/* ---- removed and added axes ------------------------------------------------------------------------------------- */

/* An order with some axes removed. */
static axis_order without(axis_order p, size_t rank, uint32_t gone) {
    axis_order out = ORDER_SAME;
    for (size_t i = 0, n = 0; i < rank; i++) {
        uint32_t axis = order_at(p, i);
        if (gone >> axis & 1) continue;
        out = order_put(out, n++, axis - (size_t)__builtin_popcount(gone & ((1u << axis) - 1)));
    }
    return out;
}

/* An order of `rank` axes: `p`, with the axes of `more` in their old positions. */
static axis_order with(axis_order p, size_t rank, uint32_t more) {
    size_t axes[MOST_AXES], k = 0, n = 0;
    for (size_t i = 0; i < rank; i++) {
        if (!(more >> i & 1)) axes[k++] = i;
    }
    axis_order out = ORDER_SAME;
    for (size_t i = 0; i < rank; i++) out = order_put(out, i, more >> i & 1 ? i : axes[order_at(p, n++)]);
    return out;
}

static axis_order gather_out(const plan *l, const node *n, axis_order in) {
    size_t rank = rank_in(l, n), k = rank_of(op_inputs(n->op)[1].value), m = 0;
    size_t axis = (size_t)__builtin_ctz(axes_named(n));
    axis_order out = ORDER_SAME;
    for (size_t i = 0; i < rank; i++) {
        size_t a = order_at(in, i);
        for (size_t j = 0; a == axis && j < k; j++) out = order_put(out, m++, axis + j);
        if (a != axis) out = order_put(out, m++, a < axis ? a : a + k - 1);
    }
    return out;
}

static bool gather_in(const plan *l, const node *n, axis_order out, axis_order *in) {
    size_t rank = rank_in(l, n), k = rank_of(op_inputs(n->op)[1].value), m = 0;
    size_t axis = (size_t)__builtin_ctz(axes_named(n));
    if (k == 0) {
        *in = with(out, rank, 1u << axis);
        return true;
    }
    *in = ORDER_SAME;
    for (size_t i = 0; i < rank - 1 + k; i++) {
        size_t a = order_at(out, i);
        if (a < axis || a >= axis + k) *in = order_put(*in, m++, a < axis ? a : a - k + 1);
        else if (a == axis) *in = order_put(*in, m++, axis);
        else if (i == 0 || order_at(out, i - 1) != a - 1) return false;   // the axes of the indices stay together
    }
    return true;
}

/* ---- public queries --------------------------------------------------------------------------------------------- */

axis_order op_needs_order(const plan *l, const node *n, size_t i, axis_order in) {
    if (in == ORDER_SAME) return ORDER_SAME;
    if (!n->row) return i == 0 ? in : ORDER_SAME;   // an anchor to be turned
    layout_kind kind = n->row->kind;
    if (kind != LAYOUT_EACH) return i == 0 || kind == LAYOUT_JOIN || kind == LAYOUT_GAIN ? in : ORDER_SAME;
    const port *p = &l->ports[n->port + i];
    if (order_is_merged(in)) return in;
    return p->single ? ORDER_SAME : p->rank == n->rank ? in : narrowed(in, n->rank, p->rank);
}

/* Axes that the output does not have, and dims of 1, may stand anywhere. Channels that gain letters allow more ops to
 * follow. */
bool has_choice(const node *n) {
    layout_kind kind = n->row->kind;
    return kind == LAYOUT_LOSE || kind == LAYOUT_GAIN || kind == LAYOUT_GATHER || kind == LAYOUT_RESHAPE ||
           finds_channels(n);
}

/* Returns true if each axis of a layout has its own letter, and none is `*`. */
static bool says_all(const xir_layout *letters, size_t rank) {
    bool all = letters && xir_layout_rank(letters) == rank;
    for (size_t k = 0; all && k < rank; k++) {
        const char letter = xir_layout_axis(letters, k);
        all = letter != '*' && xir_layout_index(letters, letter) == (int64_t)k;
    }
    return all;
}

/* The axis that a Cast puts at axis k: it finds axes by letter if both layouts have the same, each once. */
static size_t cast_source(const xir_layout *from, const xir_layout *to, size_t rank, size_t k) {
    bool by_letter = says_all(from, rank) && says_all(to, rank);
    for (size_t i = 0; by_letter && i < rank; i++) by_letter = xir_layout_has(from, xir_layout_axis(to, i));
    return by_letter ? (size_t)xir_layout_index(from, xir_layout_axis(to, k)) : k;
}

static size_t place_of(axis_order by, size_t axis) { return by == ORDER_SAME ? axis : order_find(by, axis); }

bool cast_finds_axes(plan *l, const node *n) {
    const port *p = &l->ports[n->port];
    const axis_order needs = op_needs_order(l, n, 0, n->in);
    const xir_type *to = *(const xir_type *const *)attr_at(n->op, n->row->attr[0]);
    const xir_layout *from = xir_type_layout(p->type), *target = xir_type_layout(op_outputs(n->op)[0].type),
                     *now = xir_type_layout(op_inputs(n->op)[0].value->type), *next = xir_type_layout(to);
    if (order_is_merged(needs) || order_is_merged(n->out)) return true;
    for (size_t k = 0; k < p->rank; k++) {
        const size_t source = cast_source(from, target, p->rank, k);
        if (cast_source(now, next, p->rank, place_of(n->out, k)) != place_of(needs, source)) return false;
    }
    return true;
}

bool finds_same_axes(plan *l, const node *n, uint32_t i) {
    const port *p = &l->ports[n->port + i];
    const xir_type *now = op_inputs(n->op)[i].value->type;
    size_t last = p->rank - 1u;
    if (p->rank < 2) return true;
    if (!n->row) {
        const xir_type *then =
            n->letters && p->rank > 2 ? type_in_order(l, p->type, op_needs_order(l, n, i, n->in)) : NULL;
        return !then || letters_agree(l, now, ORDER_SAME, then);
    }
    if (n->row->form == BY_TYPE) return cast_finds_axes(l, n);
    if (!finds_channels(n)) return true;
    axis_order needs = op_needs_order(l, n, i, n->in);
    if (letter_at(now, 'C', last) != order_find(needs, letter_at(p->type, 'C', last))) return false;
    return !(n->row->flags & LAYOUT_BATCH) || letter_at(now, 'N', 0) == order_find(needs, letter_at(p->type, 'N', 0));
}

/* The number of elements of a merged axis. */
static int64_t merged_size(const plan *l, axis_order as) {
    const xir_op *op = l->nodes[as & ORDER_PLACE].op;
    return xir_type_dim(as & ORDER_SPLIT ? op_inputs(op)[0].value->type : op_outputs(op)->type, -1, false);
}

/* Returns true if the elements of a constant along an axis can follow the order of a merged one. */
static bool can_merge(const plan *l, const xir_value *v, int64_t axis, axis_order as) {
    if (!v || !value_is_params(v) || !params_movable(v)) return false;
    return rank_of(v) == 0 || xir_type_dim(v->type, axis, false) == 1 ||
           xir_type_dim(v->type, axis, false) == merged_size(l, as);
}

/* Returns true if an op can read its last axis in the order of a merged one and pass that order on. */
static bool each_can_merge(const plan *l, const node *n, axis_order as) {
    size_t values = 0;
    if (finds_channels(n)) return false;
    for (uint32_t i = 0; i < n->n_in; i++) {
        const port *p = &l->ports[n->port + i];
        if (p->root == NONE ? !can_merge(l, op_inputs(n->op)[i].value, -1, as)
            : p->rank != n->rank || p->view != ORDER_SAME) return false;
        values += p->root != NONE;
    }
    return values == 1;
}

static bool matrix_can_merge(const plan *l, const node *n, int64_t axis, axis_order as) {
    const xir_value *k = n->n_in > 1 ? op_inputs(n->op)[1].value : NULL;
    const xir_value *b = n->n_in > 2 ? op_inputs(n->op)[2].value : NULL;
    return k && rank_of(k) == 2 && xir_type_dim(k->type, axis, false) == merged_size(l, as) &&
           can_merge(l, k, axis, as) &&
           (axis == 0 || !b || can_merge(l, b, -1, as));
}

bool orders_by_input(plan *l, const node *n, size_t i, axis_order as, axis_order *in, axis_order *out) {
    if (!n->row) return false;
    layout_kind kind = n->row->kind;
    *in = *out = as;
    if (order_is_merged(as)) {
        if (kind == LAYOUT_MATMUL) *out = n->out;
        return kind == LAYOUT_MATMUL ? i == 0 && matrix_can_merge(l, n, 0, as)
               : kind == LAYOUT_EACH && each_can_merge(l, n, as);
    }
    if (kind == LAYOUT_EACH) {
        const port *p = &l->ports[n->port + i];
        if (p->single) return false;
        if (p->rank < n->rank) *in = *out = widened(as, n->rank, p->rank);
        return can_work_in(l, n, *in);
    }
    if (kind == LAYOUT_MATMUL || (i > 0 && kind != LAYOUT_JOIN && kind != LAYOUT_GAIN) || !can_work_in(l, n, as))
        return false;
    if (kind == LAYOUT_LOSE && !keeps_dims(n)) *out = without(as, rank_in(l, n), axes_named(n));
    if (kind == LAYOUT_GAIN) *out = with(as, n->rank, axes_named(n));
    if (kind == LAYOUT_GATHER) *out = gather_out(l, n, as);
    if (kind == LAYOUT_SHAPE) *out = ORDER_SAME;
    if (kind == LAYOUT_SHAPE && l->values[n->first].next_view != NONE) return false;
    return kind != LAYOUT_RESHAPE || reshape_forward(l, n, as, out);
}

bool orders_by_output(plan *l, const node *n, axis_order as, axis_order *in, axis_order *out) {
    if (!n->row) return false;
    layout_kind kind = n->row->kind;
    *in = *out = as;
    if (order_is_merged(as)) {
        if (kind == LAYOUT_MATMUL) *in = n->in;
        return kind == LAYOUT_MATMUL ? matrix_can_merge(l, n, 1, as) : kind == LAYOUT_EACH && each_can_merge(l, n, as);
    }
    if (kind == LAYOUT_MATMUL || kind == LAYOUT_SHAPE) return false;
    if (kind == LAYOUT_LOSE && !keeps_dims(n)) *in = with(as, rank_in(l, n), axes_named(n));
    if (kind == LAYOUT_GAIN) *in = without(as, n->rank, axes_named(n));
    if (kind == LAYOUT_GATHER && !gather_in(l, n, as, in)) return false;
    if (kind == LAYOUT_RESHAPE && !reshape_backward(l, n, as, in)) return false;
    return can_work_in(l, n, *in);
}
