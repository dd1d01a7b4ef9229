/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Ops and constants that rewrites are made of. */
#include "legalize/legalize.h"
#include "support/numbers.h"

const xir_i64s *known_dims(const xir_value *v) {
    const xir_i64s *dims = value_dims(v);
    if (!dims || dims->size > MOST_DIMS) return NULL;
    for (size_t i = 0; i < dims->size; i++) {
        if (dims->data[i] < 0) return NULL;
    }
    return dims;
}

xir_value *rebuild(const legalizer *l, xir_op *op, xir_value *const *inputs, size_t n, const xir_named_attr *set,
                   size_t n_set) {
    const xir_type *type = op_outputs(op)[0].type;
    xir_op *now = xir_network_add(l->net, &XIR_INIT(xir_op_desc, .cls = op->cls, .attrs = op->attrs, .inputs = inputs,
                                  .n_inputs = n, .types = &type, .n_types = 1, .target = op_target(op),
                                  .name = xir_op_name(op), .id = XIR_NO_ID, .before = op, .named = set,
                                  .n_named = n_set));
    return now ? &op_outputs(now)[0] : NULL;
}

xir_value *slice_of(const legalizer *l, xir_op *op, xir_value *v, const int64_t *begin, const int64_t *end,
                    size_t rank) {
    int64_t ones[MOST_DIMS];
    xir_slice_attrs a = xir_slice_init();
    for (size_t i = 0; i < rank; i++) ones[i] = 1;
    a.begin = (xir_i64s){ begin, rank };
    a.end = (xir_i64s){ end, rank };
    a.stride = (xir_i64s){ ones, rank };
    return XIR_OP(step_at(l, op), slice, .input = v, .attrs = &a);
}

xir_value *reshape_to(xir_at at, xir_value *v, const int64_t *dims, size_t rank, const xir_layout *layout) {
    xir_reshape_attrs a = xir_reshape_init();
    a.shape = (xir_i64s){ dims, rank };
    a.layout = layout ? layout : xir_layout_default(at.net->ctx, rank);
    return a.layout ? XIR_OP(at, reshape, .input = v, .attrs = &a) : NULL;
}

xir_value *reshape_like(const legalizer *l, xir_op *op, xir_value *v, size_t output) {
    const xir_value *like = &op_outputs(op)[output];
    const xir_i64s *dims = known_dims(like);
    xir_at at = op->n_outputs == 1 ? last_at(l, op) : step_at(l, op);
    return dims ? reshape_to(at, v, dims->data, dims->size, xir_type_layout(like->type)) : NULL;
}

/* ---- constants -------------------------------------------------------------------------------------------------- */

/* Copies elements: `dims` of the copy, row-major, and for each dim the step in elements of the source. */
static void copy_elements(const uint8_t *from, uint8_t *to, size_t element, const int64_t *dims, const int64_t *step,
                          size_t rank) {
    int64_t at[MOST_DIMS] = { 0 }, place = 0;
    for (;;) {
        memcpy(to, from + (size_t)place * element, element);
        to += element;
        size_t i = rank;
        while (i > 0) {
            i--;
            place += step[i];
            if (++at[i] < dims[i]) break;
            place -= step[i] * dims[i];
            at[i] = 0;
            if (i == 0) return;
        }
        if (rank == 0) return;
    }
}

/* New Params of these dims with elements of others, from `first` on. */
static xir_value *params_copied(xir_network *net, const xir_value *v, int64_t first, const int64_t *dims,
                                const int64_t *step, size_t rank) {
    const uint64_t bits = xir_type_storage_bits(v->type);
    const uint8_t *bytes = whole_params(v);
    const bool whole = bytes && bits && bits % 8 == 0;
    const xir_type *type = whole ? xir_type_with_shape(net->ctx, v->type, dims, rank, NULL) : NULL;
    uint64_t size;
    if (!type || xir_type_bytes(type, &size) != XIR_OK || !size || size > UINT64_C(1) << 28) return NULL;
    xir_value *now = xir_params_new(net, xir_value_name(v), type);
    uint8_t *out = mem_new(&net->alloc, (size_t)size);
    xir_status status = now && out ? XIR_OK : XIR_E_MEMORY;
    if (!status) {
        copy_elements(bytes + (size_t)first * (bits / 8), out, bits / 8, dims, step, rank);
        status = xir_params_set_copy(now, out, (size_t)size);
    }
    mem_free(&net->alloc, out, (size_t)size);
    return status ? NULL : now;
}

static void row_major(const int64_t *dims, size_t rank, int64_t *step) {
    int64_t n = 1;
    for (size_t i = rank; i-- > 0; n *= dims[i]) step[i] = n;
}

xir_value *params_part(xir_network *net, const xir_value *v, const int64_t *begin, const int64_t *dims, size_t rank) {
    const xir_i64s *own = known_dims(v);
    int64_t step[MOST_DIMS], first = 0;
    if (!own || own->size != rank) return NULL;
    row_major(own->data, rank, step);
    for (size_t i = 0; i < rank; i++) first += begin[i] * step[i];
    return params_copied(net, v, first, dims, step, rank);
}

xir_value *params_repeated(xir_network *net, const xir_value *v, const int64_t *dims, size_t rank) {
    const xir_i64s *own = known_dims(v);
    int64_t step[MOST_DIMS];
    if (!own || own->size != rank) return NULL;
    row_major(own->data, rank, step);
    for (size_t i = 0; i < rank; i++) {
        if (own->data[i] == dims[i]) continue;
        if (own->data[i] != 1) return NULL;
        step[i] = 0;
    }
    return params_copied(net, v, 0, dims, step, rank);
}

xir_value *params_shaped(xir_network *net, const xir_value *v, const int64_t *dims, size_t rank) {
    const xir_layout *layout = xir_layout_default(net->ctx, rank);
    const xir_type *type = layout ? xir_type_tensor(net->ctx, xir_type_element(v->type), layout, dims, rank) : NULL;
    xir_value *now = type ? xir_value_clone(v, net) : NULL;
    if (!now || xir_value_set_type(now, type)) return NULL;
    return now;
}
