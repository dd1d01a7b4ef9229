/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Variables: a record of 20 bytes, a shape, and of a parameter its data, which the network keeps in place. Fixed-point
 * types are quantised types with a scale of 2^-fp_pos; a sign is an unsigned integer of one bit, 1 for +1, 0 for -1.
 *
 * Affine weights are transposed in files, but their shape is not: both are kept, since an op is what the file says. */
#include "nnb/nnb.h"
#include <math.h>
#include "number.h"

static const uint8_t widths[NNB_TYPES] = { 32, 16, 8, 1 };

xir_str nnb_variable_name(uint32_t i, char text[16]) {
    text[0] = 'v';
    return (xir_str){ text, 1 + number_put_u64(text + 1, i) };
}

/* ---- records --------------------------------------------------------------------------------------------------- */

static bool read_variable(nnb_reader *r, uint32_t i, uint32_t k, uint64_t place) {
    nnb_read_variable *v = &r->v[i];
    nnb_block dims;
    uint32_t at;
    if (!nnb_resolve(r, k, place, "a variable", &at)) return false;
    if (r->data_size - at < NNB_VARIABLE)
        return NNB_FAIL(r, at, XIR_E_CORRUPT, "the record of variable %" PRIu32 " has %d bytes, "
                        "but the data ends after %" PRIu32, i, NNB_VARIABLE, r->data_size - at);
    const uint8_t *p = r->data + at;
    if (!nnb_take_list(r, little_u32(p + 4), little_u32(p + 8), at + 8, "a shape", &dims)) return false;
    *v = (nnb_read_variable){ .shape = dims.at, .rank = dims.n, .data_index = (int32_t)little_u32(p + 16),
                              .type = p[12] & 15, .fp_pos = p[12] >> 4 };
    if (v->data_index >= 0 && (uint32_t)v->data_index >= r->n_index)
        return NNB_FAIL(r, at + 16, XIR_E_BOUNDS, "the data of variable %" PRIu32 " is entry %" PRId32 " of the index, "
                        "which has %" PRIu32, i, v->data_index, r->n_index);
    if (v->data_index >= 0 && v->type >= NNB_TYPES)
        return NNB_FAIL(r, at + 12, XIR_E_TYPE, "variable %" PRIu32 " has data of type %d, expected less than %d", i,
                        v->type, NNB_TYPES);
    return true;
}

bool nnb_read_variables(nnb_reader *r) {
    const uint8_t *p = r->data + r->variables.at;
    r->v = arena_take(&r->d.scratch, r->variables.n * sizeof *r->v);
    if (!r->v) return trace_memory(&r->d.trace);
    for (uint32_t i = 0; i < r->variables.n; i++) {
        const uint64_t place = r->variables.at + 4 * (uint64_t)i;
        if (!read_variable(r, i, little_u32(p + 4 * (size_t)i), place)) return false;
    }
    return true;
}

/* ---- types ----------------------------------------------------------------------------------------------------- */

static const xir_type *make_element(nnb_reader *r, uint8_t type, uint8_t fp_pos) {
    xir_context *ctx = r->d.ctx;
    if (type == NNB_FLOAT32) return xir_type_float(ctx, XIR_FLOAT_FP32);
    if (type == NNB_SIGN) return xir_type_uint(ctx, 1);
    const double step = ldexp(1, -fp_pos);
    const int64_t zero = 0;
    const xir_scales *scale = xir_scales_from(ctx, &step, 1, -1);
    const xir_type *storage = xir_type_sint(ctx, widths[type]);
    return scale && storage ? xir_type_quantized(ctx, scale, &zero, 1, storage, NULL) : NULL;
}

static const xir_type *element(nnb_reader *r, uint8_t type, uint8_t fp_pos) {
    const xir_type **memo = &r->elements[type][fp_pos];
    if (!*memo) *memo = net_type(r->d.net, make_element(r, type, fp_pos));
    if (!*memo) trace_memory(&r->d.trace);
    return *memo;
}

/* The dims in r->dims; false if one is negative, or with a failure. */
static bool take_dims(nnb_reader *r, const nnb_read_variable *v) {
    const uint8_t *p = r->data + v->shape;
    bool known = true;
    r->dims.size = 0;
    for (uint32_t i = 0; i < v->rank; i++) {
        int64_t *out = dialect_add(&r->d, &r->dims, sizeof *out);
        if (!out) return false;
        *out = (int32_t)little_u32(p + 4 * (size_t)i);
        known &= *out >= 0;
    }
    return known;
}

static bool tag_dims(nnb_reader *r, const xir_map **tags) {
    const int64_t *dims = r->dims.data;
    xir_any *items = arena_take(&r->d.scratch, (r->dims.size + 1) * sizeof *items);
    if (!items) return trace_memory(&r->d.trace);
    for (size_t i = 0; i < r->dims.size; i++) items[i] = xir_any_int(dims[i]);
    return dialect_tag(&r->d, tags, NNB_TAG_SHAPE, xir_any_list(items, r->dims.size));
}

static bool has_fraction(const nnb_read_variable *v) { return v->type == NNB_INT16 || v->type == NNB_INT8; }

/* A variable of an unknown type or with a negative dim has no type: tags have what the file says. */
bool nnb_declare(nnb_reader *r, uint32_t i, dialect_declared *out) {
    const nnb_read_variable *v = &r->v[i];
    const bool known = take_dims(r, v) && v->type < NNB_TYPES;
    if (dialect_failed(&r->d)) return false;
    if (v->fp_pos && !has_fraction(v) && !dialect_tag(&r->d, &out->tags, NNB_TAG_FP_POS, xir_any_int(v->fp_pos)))
        return false;
    if (known) {
        const xir_type *of = element(r, v->type, has_fraction(v) ? v->fp_pos : 0);
        out->type = dialect_tensor(&r->d, of, r->dims.data, r->dims.size);
        return out->type;
    }
    if (has_fraction(v) && !dialect_tag(&r->d, &out->tags, NNB_TAG_FP_POS, xir_any_int(v->fp_pos))) return false;
    return dialect_tag(&r->d, &out->tags, NNB_TAG_TYPE, xir_any_int(v->type)) && tag_dims(r, &out->tags);
}

/* ---- parameters ------------------------------------------------------------------------------------------------ */

/* Returns how many elements the data has: those of the shape, unless the data ends before, or the next block begins
 * before and a function is known to store one element (trap 5 of docs/nnb.md). */
static uint64_t stored_elements(const nnb_reader *r, const nnb_read_variable *v, uint32_t at, uint64_t elements,
                                uint64_t bytes) {
    const uint64_t bits = widths[v->type], left = r->data_size - at;
    if (v->one && elements && nnb_next_block(r, (uint32_t)v->data_index, at) - at < bytes && left >= (bits + 7) / 8)
        return 1;
    return bytes <= left ? elements : left * 8 / bits;
}

static bool make_params(nnb_reader *r, uint32_t i) {
    nnb_read_variable *v = &r->v[i];
    dialect *d = &r->d;
    char text[16];
    uint32_t at;
    uint64_t elements, bytes;
    const xir_map *tags = NULL;
    bool known = take_dims(r, v);
    if (dialect_failed(d) || !nnb_resolve(r, (uint32_t)v->data_index, 0, "the data", &at)) return false;
    xir_status status = known ? dialect_size(r->dims.data, r->dims.size, widths[v->type], &elements, &bytes)
        : XIR_E_BOUNDS;
    if (status)
        return NNB_FAIL(r, v->shape, status, "variable %" PRIu32 " has data, but its shape %s", i,
                        known ? "has too many elements" : "has a negative dim");
    const uint64_t stored = stored_elements(r, v, at, elements, bytes);
    const xir_type *of = element(r, v->type, has_fraction(v) ? v->fp_pos : 0);
    if (!of) return false;
    if (v->fp_pos && !has_fraction(v) && !dialect_tag(d, &tags, NNB_TAG_FP_POS, xir_any_int(v->fp_pos))) return false;
    if (stored != elements) {
        if (!tag_dims(r, &tags)) return false;
        bytes = (stored * widths[v->type] + 7) / 8;
        r->dims.size = 0;
        int64_t *n = dialect_add(d, &r->dims, sizeof *n);
        if (!n) return false;
        *n = (int64_t)stored;
    }
    const xir_type *type = dialect_tensor(d, of, r->dims.data, r->dims.size);
    if (!type || !nnb_spend(r, bytes, at)) return false;
    nnb_hole *hole = dialect_add(d, &r->holes, sizeof *hole);
    if (!hole) return false;
    const uint64_t place = (uint64_t)(r->data - d->base) + at;
    blob *data = NULL;
    if (!d->how->no_params && !(data = dialect_part(d, NULL, place, bytes))) return false;
    v->params = dialect_params(d, nnb_variable_name(i, text), type, data);
    *hole = (nnb_hole){ place, bytes, 0, v->params };
    return v->params && dialect_value_tags(d, v->params, tags);
}

/* A parameter that a function makes as well is not a constant: it is among the unused ones. */
bool nnb_make_params(nnb_reader *r) {
    for (uint32_t i = 0; i < r->variables.n; i++) {
        if (r->v[i].data_index < 0) continue;
        if (!make_params(r, i)) return false;
        if (!r->v[i].made && !dialect_constant_ref(&r->d, r->v[i].params, dialect_number(i))) return false;
    }
    return true;
}
