/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Changes ops that work in other orders: the attributes that name axes, and their constants. */
#include "layout/layout.h"

/* ---- attributes ------------------------------------------------------------------------------------------------- */

static size_t rank_of(const xir_value *value) { return xir_type_rank(value->type); }

/* The new position of an axis in an attribute. */
static int64_t moved_axis(axis_order p, int64_t axis, size_t rank) {
    if (axis < 0) axis += (int64_t)rank;
    return axis < 0 || axis >= (int64_t)rank ? axis : (int64_t)order_find(p, (size_t)axis);
}

static xir_status set_list(const node *n, const xir_field *field, const int64_t *items, size_t size) {
    return xir_op_set(n->op, field->name, &(xir_attr){ .kind = XIR_KIND_I64S, .as.i64s = { items, size } });
}

static xir_status set_ref(const node *n, const xir_field *field, const void *ref) {
    if (!ref) return XIR_E_MEMORY;
    return xir_op_set(n->op, field->name, &(xir_attr){ .kind = XIR_KIND_REF, .as.ref = ref });
}

static xir_status set_axis(const node *n, const xir_field *field, int64_t axis) {
    return xir_op_set(n->op, field->name, &(xir_attr){ .kind = XIR_KIND_I64, .as.i64 = axis });
}

static xir_status move_axes(const node *n, const xir_field *field, size_t rank) {
    const xir_i64s *axes = attr_at(n->op, field);
    int64_t now[MOST_AXES];
    bool same = true;
    if (axes->size > MOST_AXES) return XIR_OK;   // an axis twice: nothing that is valid
    for (size_t i = 0; i < axes->size; i++) {
        now[i] = moved_axis(n->in, axes->data[i], rank);
        same &= now[i] == axes->data[i];
    }
    return same ? XIR_OK : set_list(n, field, now, axes->size);
}

/* Moves `each` items per axis; missing items in front count as 1. */
static xir_status move_items(const node *n, const xir_field *field, size_t rank, size_t each) {
    const xir_i64s *items = attr_at(n->op, field);
    int64_t now[2 * MOST_AXES];
    size_t missing = rank * each - items->size;
    if (items->size > rank * each) return XIR_OK;
    for (size_t i = 0; i < rank * each; i++) {
        size_t from = order_at(n->in, i / each) * each + i % each;
        now[i] = from < missing ? 1 : items->data[from - missing];
    }
    return set_list(n, field, now, rank * each);
}

const xir_layout *letters_of(plan *l, const value_node *root, const xir_layout *was) {
    for (uint32_t i = root->next_view; i != NONE; i = l->values[i].next_view) {
        const value_node *view = &l->values[i];
        if (view->view != root->stored) continue;
        const xir_layout *letters = xir_type_layout(op_outputs(l->nodes[view->producer].op)->type);
        if (letters && xir_layout_rank(letters) == xir_layout_rank(was)) return letters;
    }
    return letters_in_order(l, was, root->stored);
}

static xir_status reorder_reshape(plan *l, const node *n) {
    const xir_i64s *dims = attr_at(n->op, n->row->attr[0]);
    const xir_layout *was = *(const xir_layout *const *)attr_at(n->op, n->row->attr[1]);
    int64_t now[MOST_AXES];
    if (n->out == ORDER_SAME || order_is_merged(n->out)) return XIR_OK;
    for (size_t i = 0; i < dims->size; i++) now[i] = dims->data[order_at(n->out, i)];
    xir_status status = set_ref(n, n->row->attr[1], letters_of(l, &l->values[n->first], was));
    return status ? status : set_list(n, n->row->attr[0], now, dims->size);
}

static xir_status reorder_cast(plan *l, const node *n) {
    const xir_type *was = (const xir_type *)*(const xir_object *const *)attr_at(n->op, n->row->attr[0]);
    const xir_type *type = type_in_order(l, was, n->out);
    const xir_layout *letters = type ? xir_type_layout(was) : NULL;
    if (letters && !(letters = letters_of(l, &l->values[n->first], letters))) return XIR_E_MEMORY;
    if (letters) type = xir_type_with_layout(l->net->ctx, type, letters, NULL);
    return set_ref(n, n->row->attr[0], type);
}

static xir_status reorder_attrs(plan *l, const node *n) {
    const class_layout *row = n->row;
    size_t rank = row->kind == LAYOUT_EACH ? 0 : rank_of(op_inputs(n->op)[0].value);
    xir_status status = XIR_OK;
    for (size_t k = 0; k < LAYOUT_ATTRS && row->attr[k] && !status; k++) {
        const xir_field *field = n->row->attr[k];
        switch (row->form) {
        case BY_AXIS: {
            bool gain = row->kind == LAYOUT_GAIN;
            int64_t was = *(const int64_t *)attr_at(n->op, field),
                    now = moved_axis(gain ? n->out : n->in, was, rank + gain);
            if (now != was) status = set_axis(n, field, now);
            break;
        }
        case BY_AXIS_REF: {
            const xir_int_imm *was = *(const xir_int_imm *const *)attr_at(n->op, field);
            if (!was) break;
            xir_int_imm now = *was;
            now.value = moved_axis(n->in, was->value, rank);
            if (now.value != was->value) {
                status = set_ref(n, field, xir_object_make(l->net->ctx, xir_int_imm_class(), &now, NULL));
            }
            break;
        }
        case BY_AXES:
            status = move_axes(n, field, rank);
            break;
        case BY_ITEMS:
            status = move_items(n, field, rank, 1);
            break;
        case BY_PAIRS:
            status = move_items(n, field, rank, 2);
            break;
        case BY_TYPE:
            status = reorder_cast(l, n);
            break;
        case BY_DIMS:
            return reorder_reshape(l, n);
        case BY_NONE: case BY_FACTORS: case BY_RANGE: case BY_FORMS:
            break;
        }
    }
    return status;
}

/* Shape asks for the dims at their new positions. If those are not adjacent, it asks for all dims, and a Gather picks
 * the right ones. */
static xir_status reorder_shape(plan *l, const node *n) {
    const xir_field *start = n->row->attr[0], *end = n->row->attr[1];
    size_t from, to, count;
    axes_asked(n, &from, &to);
    if ((count = to - from) == 0) return XIR_OK;
    int64_t places[MOST_AXES];
    bool together = true;
    for (size_t i = 0; i < count; i++) {
        places[i] = (int64_t)order_find(n->in, from + i);
        together &= places[i] == places[0] + (int64_t)i;
    }
    if (together) {
        xir_status status =
            set_ref(n, end, (const xir_int_imm *)xir_scalar_int(l->net->ctx, places[0] + (int64_t)count));
        return status ? status : set_axis(n, start, places[0]);
    }
    xir_value *dims = op_outputs(n->op);
    const xir_type *type = dims->type,
                    *index = XIR_TENSOR(l->net->ctx, xir_type_sint(l->net->ctx, 64), "*", (int64_t)count);
    xir_value *which = index ? xir_params_copy(l->net, XIR_STR(""), index, places, count * sizeof *places) : NULL;
    if (!which) return XIR_E_MEMORY;
    xir_op *gather = xir_network_add(l->net, &XIR_INIT(xir_op_desc,
        .cls = xir_class_find_decl(l->net->ctx, xir_gather_class()), .inputs = (xir_value *const[]){ dims, which },
        .n_inputs = 2, .types = &type, .n_types = 1, .target = op_target(n->op), .id = XIR_NO_ID,
        .before = n->op->next));
    if (!gather) return XIR_E_MEMORY;
    xir_status status = xir_value_replace(dims, op_outputs(gather));
    if (!status) status = xir_op_set_input(gather, 0, dims);
    if (!status && !name_move(dims, op_outputs(gather), ORDER_SAME)) status = XIR_E_MEMORY;
    if (!status) status = xir_op_set(n->op, end->name, &(xir_attr){ .kind = XIR_KIND_REF, .is_null = true });
    return status ? status : set_axis(n, start, 0);
}

/* ---- constants -------------------------------------------------------------------------------------------------- */

/* Puts one axis of input i into the order of a merged one. A constant with one number there has no order. */
static xir_status reorder_merged(plan *l, const node *n, uint32_t i, axis_order by, size_t axis) {
    xir_value *v = op_inputs(n->op)[i].value;
    if (xir_type_dim(v->type, (int64_t)axis, false) == 1) return XIR_OK;
    merged_axis merged;
    reshape_merged(&l->nodes[by & ORDER_PLACE], &merged);
    xir_value *now = params_merged_in_order(l, v, by, axis, &merged);
    return now ? xir_op_set_input(n->op, i, now) : XIR_E_MEMORY;
}

static xir_status reorder_matrix(plan *l, const node *n) {
    const xir_value *b = n->n_in > 2 ? op_inputs(n->op)[2].value : NULL;
    xir_status status = order_is_merged(n->in) ? reorder_merged(l, n, 1, n->in, 0) : XIR_OK;
    if (!status && order_is_merged(n->out)) status = reorder_merged(l, n, 1, n->out, 1);
    if (!status && order_is_merged(n->out) && b && rank_of(b)) status = reorder_merged(l, n, 2, n->out, rank_of(b) - 1);
    return status;
}

static xir_status reorder_constants(plan *l, const node *n) {
    layout_kind kind = n->row->kind;
    if (kind == LAYOUT_MATMUL) return reorder_matrix(l, n);
    if (kind != LAYOUT_EACH && kind != LAYOUT_JOIN && kind != LAYOUT_GAIN) return XIR_OK;
    for (uint32_t i = 0; i < n->n_in; i++) {
        xir_value *v = op_inputs(n->op)[i].value;
        if (!v || !value_is_params(v)) continue;
        xir_status status = XIR_OK;
        if (order_is_merged(n->in)) {
            if (rank_of(v)) status = reorder_merged(l, n, i, n->in, rank_of(v) - 1);
        } else {
            xir_value *now = params_in_order(l, v, kind == LAYOUT_EACH ? n->rank : rank_of(v), n->in);
            status = !now ? XIR_E_MEMORY : now == v ? XIR_OK : xir_op_set_input(n->op, i, now);
        }
        if (status) return status;
    }
    return XIR_OK;
}

xir_status reorder_ops(plan *l, size_t *changes) {
    for (size_t i = 0; i < l->n_nodes; i++) {
        node *n = &l->nodes[i];
        if (n->in == ORDER_SAME && n->out == ORDER_SAME) continue;
        /* Constants first: they are broadcast to the old types. */
        xir_status status = n->row ? reorder_constants(l, n) : XIR_OK;
        if (!status && n->row) status = n->row->kind == LAYOUT_SHAPE ? reorder_shape(l, n) : reorder_attrs(l, n);
        if (status) return status;
        n->dirty = true;
        l->again |= n->row && has_choice(n);
        ++*changes;
    }
    return XIR_OK;
}
