/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Constants in other orders are new Params, since other ops may use the old ones. They are recorded, so a constant that
 * many ops share is moved once. */
#include "layout/layout.h"
#include "provenance.h"
#include "support/numbers.h"

/* ---- constants made so far -------------------------------------------------------------------------------------- */

bool params_movable(const xir_value *value) {
    uint64_t bits = xir_type_storage_bits(value->type), size;
    const blob *data = value_params(value)->data;
    /* A program may give Params a type that does not fit their bytes. */
    return bits > 0 && bits % 8 == 0 && data && params_size(value, &size) == XIR_OK && size > 0 && data->size == size &&
           xir_params_has_data(value);
}

static xir_value *made_before(const plan *l, const xir_value *was, axis_order by, size_t rank) {
    uint32_t number = value_params(was)->number;
    for (uint32_t i = number < l->n_constants ? l->constants[number] : 0; i; i = l->reordered[i].next) {
        if (l->reordered[i].by == by && l->reordered[i].rank == rank) return l->reordered[i].value;
    }
    return NULL;
}

/* Makes new Params with these bytes, and owns the bytes on success. */
static xir_value *keep(plan *l, const xir_value *was, axis_order by, size_t rank, const xir_type *type, blob *data) {
    uint32_t number = value_params(was)->number;
    bool room = mem_reserve(l->alloc, (void **)&l->reordered, &l->reordered_room, l->n_reordered + 2,
                            sizeof *l->reordered);
    xir_value *value = room && type && data ? xir_params_new(l->net, xir_value_name(was), type) : NULL;
    if (!value) {
        blob_release(data);
        return NULL;
    }
    value_params(value)->data = data;
    value_params(value)->allow_no_data = value_params(was)->allow_no_data;
    provenance_replaced(l->net, was, value);
    if (value_is_default(was))
        xir_pass_diag(l->at, XIR_NOTE, NULL, "the input '%.*s' becomes a constant: its default has another order now",
                      CLIP(xir_value_name(was)));
    if (number >= l->n_constants) return value;   // the source was made by this pass
    uint32_t i = (uint32_t)++l->n_reordered;
    l->reordered[i] = (reordered){ by, (uint32_t)rank, l->constants[number], value };
    l->constants[number] = i;
    return value;
}

/* ---- moving bytes ----------------------------------------------------------------------------------------------- */

/* A copy of elements: `dims` of the copy, row-major, and for each dim the `step` in bytes in the source. */
typedef struct moved {
    int64_t dims[MOST_AXES + 2], step[MOST_AXES + 2];
    size_t  rank;
} moved;

static void move_bytes(const moved *m, size_t element, const uint8_t *from, uint8_t *to) {
    int64_t at[MOST_AXES + 2] = { 0 }, n = m->rank ? m->dims[m->rank - 1] : 1,
            step = m->rank ? m->step[m->rank - 1] : 0;
    size_t outer = m->rank ? m->rank - 1 : 0;
    for (size_t i = 0; i < m->rank; i++) {
        if (m->dims[i] == 0) return;
    }
    for (;;) {
        if (step == (int64_t)element) {
            memcpy(to, from, (size_t)n * element);
            to += (size_t)n * element;
        } else if (element == 4) {
            for (int64_t i = 0; i < n; i++, to += 4) memcpy(to, from + i * step, 4);
        } else {
            for (int64_t i = 0; i < n; i++, to += element) memcpy(to, from + i * step, element);
        }
        size_t k = outer;
        for (; k > 0; k--) {
            from += m->step[k - 1];
            if (++at[k - 1] < m->dims[k - 1]) break;
            from -= m->step[k - 1] * m->dims[k - 1];
            at[k - 1] = 0;
        }
        if (k == 0) return;
    }
}

/* Returns true if all elements stay in place: only dims of 1 move. */
static bool stays(const moved *m, size_t element) {
    int64_t expected = (int64_t)element;
    for (size_t i = m->rank; i-- > 0;) {
        if (m->dims[i] == 1) continue;
        if (m->step[i] != expected) return false;
        expected *= m->dims[i];
    }
    return true;
}

static blob *moved_blob(plan *l, const xir_value *was, const moved *m) {
    uint64_t size;
    const uint8_t *from = whole_params(was);
    size_t element = (size_t)(xir_type_storage_bits(was->type) / 8);
    if (stays(m, element) || !from) {
        blob *data = value_params(was)->data;
        if (data) blob_retain(data);
        return data ? data : blob_new(&l->net->alloc, 0);
    }
    (void)xir_params_data(was, &size);
    blob *data = blob_new(&l->net->alloc, size);
    if (data) move_bytes(m, element, from, (uint8_t *)(uintptr_t)data->bytes);
    return data;
}

xir_value *params_in_order(plan *l, xir_value *was, size_t rank, axis_order by) {
    const xir_tensor_type *t = xir_type_as_tensor(was->type);
    size_t own = t->shape.size, more = rank - own, element = (size_t)(xir_type_storage_bits(was->type) / 8), skip = 0;
    xir_value *value = made_before(l, was, by, rank);
    if (value || facts_of(l, was->type)->single) return value ? value : was;
    moved m = { .rank = rank };
    int64_t steps[MOST_AXES], step = (int64_t)element;
    for (size_t i = own; i-- > 0; step *= t->shape.data[i]) steps[i] = step;
    for (size_t i = 0; i < rank; i++) {
        size_t axis = order_at(by, i);
        m.dims[i] = axis < more ? 1 : t->shape.data[axis - more];
        m.step[i] = axis < more ? 0 : steps[axis - more];
    }
    while (rank - skip > own && m.dims[skip] == 1) skip++;   // it needs no more dims than before
    const xir_type *type;
    if (rank == own) type = type_in_order(l, was->type, by);
    else type = xir_type_tensor(l->net->ctx, t->element_dtype, NULL, m.dims + skip, rank - skip);
    if (type && xir_type_equal(type, was->type) && stays(&m, element)) return was;
    return type ? keep(l, was, by, rank, type, moved_blob(l, was, &m)) : NULL;
}

xir_value *params_merged_in_order(plan *l, xir_value *was, axis_order by, size_t axis, const merged_axis *merged) {
    const xir_tensor_type *t = xir_type_as_tensor(was->type);
    size_t rank = 2 * MOST_AXES + axis, n = merged->count;   // not a broadcast
    xir_value *value = made_before(l, was, by, rank);
    if (value) return value;
    moved m = { .rank = n + 2 };
    int64_t step = (int64_t)(xir_type_storage_bits(was->type) / 8), steps[MOST_AXES];
    m.dims[0] = m.dims[n + 1] = 1;
    for (size_t i = 0; i < t->shape.size; i++) {
        if (i != axis) m.dims[i < axis ? 0 : n + 1] *= t->shape.data[i];
    }
    m.step[n + 1] = step;
    step *= m.dims[n + 1];
    for (size_t i = n; i-- > 0; step *= merged->dims[i]) steps[i] = step;
    m.step[0] = step;
    for (size_t i = 0; i < n; i++) {
        m.dims[i + 1] = merged->dims[merged->from[i]];
        m.step[i + 1] = steps[merged->from[i]];
    }
    return keep(l, was, by, rank, was->type, moved_blob(l, was, &m));
}
