/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Types of values. A tensor with elements that XIR has is a tensor type with a layout of `*`. Named dims are unknown in
 * the type; their names are in the tag source.dims. */
#include "dialect/dialect.h"
#include "types.h"

const xir_type *dialect_element(dialect *d, uint64_t code) {
    if (dialect_failed(d) || !dialect_has_element(d, code)) return NULL;
    const xir_type **memo = code < DIALECT_ELEMENTS ? &d->elements[code] : NULL;
    if (memo && *memo) return *memo;
    const xir_type *type = net_type(d->net, element_code_type(d->ctx, element_code_at(d->about->elements, code)));
    if (!type) trace_memory(&d->trace);
    if (memo) *memo = type;
    return type;
}

static const xir_layout *stars(dialect *d, size_t rank) {
    if (rank < DIALECT_LAYOUTS && d->layouts[rank]) return d->layouts[rank];
    char few[DIALECT_LAYOUTS], *text = rank < DIALECT_LAYOUTS ? few : arena_take(&d->scratch, rank);
    form_error why;
    if (!text) return NULL;
    memset(text, '*', rank);
    const xir_layout *layout = layout_make(&d->net->pool, (xir_str){ text, rank }, 0, &why);
    if (rank < DIALECT_LAYOUTS) d->layouts[rank] = layout;
    return layout;
}

/* Layers usually repeat the shapes of others. */
static bool is_such(const xir_type *type, const xir_type *element, const int64_t *dims, size_t rank) {
    const xir_tensor_type *tensor = (const xir_tensor_type *)type;
    return tensor && tensor->element_dtype == element && tensor->shape.size == rank &&
           (!rank || memcmp(tensor->shape.data, dims, rank * sizeof *dims) == 0);
}

const xir_type *dialect_tensor(dialect *d, const xir_type *element, const int64_t *dims, size_t rank) {
    if (!element || dialect_failed(d)) return NULL;
    uint64_t mixed = rank;
    for (size_t i = 0; i < rank; i++) mixed = mixed * 31 + (uint64_t)dims[i];
    const xir_type **memo = &d->tensors[(mixed ^ mixed >> 8) % DIALECT_TENSORS];
    if (is_such(*memo, element, dims, rank)) return *memo;
    const xir_layout *layout = stars(d, rank);
    const xir_type *type = NULL;
    if (layout) type = type_tensor(&d->net->pool, element, layout, (xir_i64s){ dims, rank }, (xir_refs){ 0 });
    if (!type) trace_memory(&d->trace);
    return *memo = type;
}

bool dialect_declared_tensor(dialect *d, const xir_type *element, const dialect_dim *dims, size_t rank,
                             dialect_declared *out) {
    enum { FEW = 8 };
    int64_t few_sizes[FEW], *sizes = few_sizes;
    xir_any few_names[FEW], *names = few_names;
    bool named = false;
    if (dialect_failed(d)) return false;
    if (rank > FEW) {
        sizes = rank <= SIZE_MAX / sizeof *names ? arena_take(&d->scratch, rank * sizeof *sizes) : NULL;
        names = sizes ? arena_take(&d->scratch, rank * sizeof *names) : NULL;
        if (!names) return trace_memory(&d->trace);
    }
    for (size_t i = 0; i < rank; i++) {
        bool has_name = !dims[i].has_size && dims[i].name.size;
        bool known = dims[i].has_size && dims[i].size >= 0;
        sizes[i] = known ? dims[i].size : XIR_UNKNOWN_DIM;
        names[i] = dims[i].has_size ? xir_any_int(dims[i].size)
                 : has_name ? xir_any_text(dims[i].name) : xir_any_null();
        named |= has_name || (dims[i].has_size && !known);
    }
    if (named && !dialect_tag(d, &out->tags, source_tag_key(SOURCE_DIMS).data, xir_any_list(names, rank))) return false;
    out->type = dialect_tensor(d, element, sizes, rank);
    return out->type || !element;
}

xir_status dialect_size(const int64_t *dims, size_t rank, uint64_t bits, uint64_t *elements, uint64_t *bytes) {
    uint64_t n = 1, whole;
    bool over = false, zero = false;
    for (size_t i = 0; i < rank; i++) {
        if (dims[i] < 0) return XIR_E_BOUNDS;
        zero |= dims[i] == 0;
        over |= !mul_u64(n, (uint64_t)dims[i], &n);
    }
    *elements = zero ? 0 : n;
    if ((over && !zero) || *elements > INT64_MAX) return XIR_E_LIMIT;
    bool fits = mul_u64(*elements / 8, bits, &whole) && add_u64(whole, (*elements % 8 * bits + 7) / 8, bytes);
    return fits ? XIR_OK : XIR_E_LIMIT;
}
