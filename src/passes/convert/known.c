/* Short lists of integers that are known while a network is converted: dims, and what is computed from them. Exporters
 * write much such shape arithmetic. A list may be known in part: an unknown dim does not affect the other items. */
#include "convert/convert.h"

enum { MOST_KNOWN = 64 };

/* A list under construction. */
typedef struct draft {
    size_t           n;
    int64_t          v[MOST_KNOWN];
    bool             open[MOST_KNOWN];
    const xir_value *of[MOST_KNOWN];
} draft;

/* Reads a value as a list; false if its list is unknown. */
static bool list_of(conversion *c, const xir_value *value, draft *out) {
    int64_t n;
    const xir_type *type = value ? xir_value_type(value) : NULL;
    if (!type || !xir_type_as_tensor(type) || xir_type_rank(type) > 1) return false;
    const known_ints *known = conversion_known(c, value);
    if (known) {
        out->n = known->n;
        memcpy(out->v, known->v, known->n * sizeof *out->v);
        for (size_t i = 0; i < known->n; i++) {
            out->open[i] = known->open && known->open[i];
            out->of[i] = out->open[i] ? known->of[i] : NULL;
        }
        return true;
    }
    xir_type_kind kind = xir_type_kind_of(xir_type_element(type));
    if ((kind != XIR_TYPE_INTEGER && kind != XIR_TYPE_BOOL) || !element_readable(xir_type_element(type))) return false;
    if (!xir_value_is_params(value) || !xir_params_has_data(value)) return false;
    if (xir_type_elements(type, &n) != XIR_OK || n > MOST_KNOWN) return false;
    const void *bytes = xir_params_data(value, NULL);
    if (!bytes && n) return false;
    out->n = (size_t)n;
    memset(out->open, 0, sizeof out->open);
    memset((void *)out->of, 0, sizeof out->of);
    if (n) elements_to_ints(xir_type_element(type), bytes, 0, out->n, out->v);
    return true;
}

/* ---- the ops of shape arithmetic -------------------------------------------------------------------------------- */

static bool shape(const xir_op *op, draft *out, size_t n) {
    const xir_shape_attrs *a = xir_op_body(op, xir_shape_class());
    const xir_type *x = xir_value_type(xir_op_input(op, 0));
    int64_t rank = (int64_t)xir_type_rank(x), start = a->start < 0 ? a->start + rank : a->start;
    start = start < 0 ? 0 : start;
    for (size_t i = 0; i < n; i++) {
        out->v[i] = xir_type_dim(x, start + (int64_t)i, false);
        out->open[i] = out->v[i] < 0;
        out->of[i] = xir_op_input(op, 0);
        if (out->open[i]) out->v[i] = start + (int64_t)i;
    }
    return true;
}

static bool gather(conversion *c, const xir_op *op, draft *out, size_t n) {
    draft data, at;
    if (!list_of(c, xir_op_input(op, 0), &data) || !list_of(c, xir_op_input(op, 1), &at) || at.n != n) return false;
    for (size_t i = 0; i < n; i++) {
        int64_t k = at.v[i] < 0 ? at.v[i] + (int64_t)data.n : at.v[i];
        bool known = !at.open[i];
        if (known && (k < 0 || k >= (int64_t)data.n)) return false;
        out->v[i] = known ? data.v[k] : 0;
        out->open[i] = !known || data.open[k];
        out->of[i] = known ? data.of[k] : NULL;
    }
    return true;
}

static bool slice(conversion *c, const xir_op *op, draft *out, size_t n) {
    const xir_slice_attrs *a = xir_op_body(op, xir_slice_class());
    draft data;
    if (!list_of(c, xir_op_input(op, 0), &data) || a->begin.size != 1 || a->stride.size != 1) return false;
    int64_t size = (int64_t)data.n, step = a->stride.data[0], at = a->begin.data[0] < 0
        ? a->begin.data[0] + size : a->begin.data[0];
    at = at < 0 ? 0 : at >= size && step < 0 ? size - 1 : at;
    for (size_t i = 0; i < n; i++, at += step) {
        if (at < 0 || at >= size) return false;
        out->v[i] = data.v[at];
        out->open[i] = data.open[at];
        out->of[i] = data.of[at];
    }
    return true;
}

static bool concat(conversion *c, const xir_op *op, draft *out, size_t n) {
    draft part;
    size_t filled = 0;
    for (size_t i = 0; i < xir_op_input_count(op); i++) {
        if (!list_of(c, xir_op_input(op, (int64_t)i), &part) || filled + part.n > n) return false;
        memcpy(out->v + filled, part.v, part.n * sizeof *part.v);
        memcpy(out->open + filled, part.open, part.n * sizeof *part.open);
        memcpy((void *)(out->of + filled), (const void *)part.of, part.n * sizeof *part.of);
        filled += part.n;
    }
    return filled == n;
}

static bool same(conversion *c, const xir_op *op, draft *out, size_t n) {
    return list_of(c, xir_op_input(op, 0), out) && out->n == n;
}

static bool one_factor(xir_refs factors, int64_t *out) {
    if (factors.size != 1) return false;
    const xir_scalar *s = (const xir_scalar *)(const void *)factors.data[0];
    double v = xir_scalar_as_real(s);
    *out = v < 0 ? -1 : 1;
    return v == 1 || v == -1;
}

/* Wraps around at 64 bits. */
static bool binary(conversion *c, const xir_op *op, draft *out, size_t n) {
    draft a, b;
    int64_t alpha = 1, beta = 1;
    const xir_add_attrs *add = xir_op_body(op, xir_add_class());
    const xir_div_attrs *div = xir_op_body(op, xir_div_class());
    if (add && (!one_factor(add->alpha, &alpha) || !one_factor(add->beta, &beta))) return false;
    if (div && div->rounding_mode == XIR_ROUNDING_NONE) return false;
    if (!list_of(c, xir_op_input(op, 0), &a) || !list_of(c, xir_op_input(op, 1), &b)) return false;
    if ((a.n != n && a.n != 1) || (b.n != n && b.n != 1)) return false;
    for (size_t i = 0; i < n; i++) {
        size_t ia = a.n == 1 ? 0 : i, ib = b.n == 1 ? 0 : i;
        int64_t x = a.v[ia], y = b.v[ib];
        uint64_t ux = (uint64_t)x, uy = (uint64_t)y;
        out->open[i] = a.open[ia] || b.open[ib];
        out->of[i] = NULL;
        if (add) out->v[i] = (int64_t)(ux * (uint64_t)alpha + uy * (uint64_t)beta);
        else if (!div) out->v[i] = (int64_t)(ux * uy);
        else if (out->open[i]) out->v[i] = 0;
        else if (y == 0 || y == -1) { if (y == 0) return false; out->v[i] = (int64_t)(0 - ux); }
        else out->v[i] = x / y - (div->rounding_mode == XIR_ROUNDING_FLOOR && x % y && (x < 0) != (y < 0));
    }
    return true;
}

/* Compares items: an unknown dim differs from a negative number. */
static bool equal(conversion *c, const xir_op *op, draft *out, size_t n) {
    draft a, b;
    if (!list_of(c, xir_op_input(op, 0), &a) || !list_of(c, xir_op_input(op, 1), &b)) return false;
    if ((a.n != n && a.n != 1) || (b.n != n && b.n != 1)) return false;
    for (size_t i = 0; i < n; i++) {
        size_t ia = a.n == 1 ? 0 : i, ib = b.n == 1 ? 0 : i;
        bool apart = (a.open[ia] && a.of[ia] && !b.open[ib] && b.v[ib] < 0) ||
            (b.open[ib] && b.of[ib] && !a.open[ia] && a.v[ia] < 0);
        out->open[i] = !apart && (a.open[ia] || b.open[ib]);
        out->v[i] = !apart && !out->open[i] && a.v[ia] == b.v[ib];
        out->of[i] = NULL;
    }
    return true;
}

/* Takes the items of the first list where the condition is true, and those of the second elsewhere. */
static bool choice(conversion *c, const xir_op *op, draft *out, size_t n) {
    draft from[3];
    for (size_t k = 0; k < 3; k++) {
        if (!list_of(c, xir_op_input(op, (int64_t)k), &from[k]) || (from[k].n != n && from[k].n != 1)) return false;
    }
    for (size_t i = 0; i < n; i++) {
        size_t at = from[2].n == 1 ? 0 : i;
        const draft *taken = &from[from[2].v[at] ? 0 : 1];
        size_t k = taken->n == 1 ? 0 : i;
        out->open[i] = from[2].open[at] || taken->open[k];
        out->v[i] = taken->v[k];
        out->of[i] = from[2].open[at] ? NULL : taken->of[k];
    }
    return true;
}

static bool product(conversion *c, const xir_op *op, draft *out, size_t n) {
    draft a;
    if (!list_of(c, xir_op_input(op, 0), &a) || n != 1 ||
        ((const xir_prod_attrs *)xir_op_body(op, xir_prod_class()))->dim.size > 1) return false;
    uint64_t all = 1;
    out->open[0] = false;
    out->of[0] = NULL;
    for (size_t i = 0; i < a.n; i++) all *= (uint64_t)a.v[i], out->open[0] |= a.open[i];
    out->v[0] = (int64_t)all;
    return true;
}

static bool compute(conversion *c, const xir_op *op, draft *out, size_t n) {
    if (xir_op_is(op, xir_shape_class())) return shape(op, out, n);
    if (xir_op_is(op, xir_gather_class())) return gather(c, op, out, n);
    if (xir_op_is(op, xir_slice_class())) return slice(c, op, out, n);
    if (xir_op_is(op, xir_concat_class())) return concat(c, op, out, n);
    if (xir_op_is(op, xir_reshape_class()) || xir_op_is(op, xir_squeeze_class()) || xir_op_is(op, xir_cast_class()) ||
        xir_op_is(op, xir_copy_class())) return same(c, op, out, n);
    if (xir_op_is(op, xir_add_class()) || xir_op_is(op, xir_multiply_class()) ||
        xir_op_is(op, xir_div_class())) return binary(c, op, out, n);
    if (xir_op_is(op, xir_prod_class())) return product(c, op, out, n);
    if (xir_op_is(op, xir_equal_class())) return equal(c, op, out, n);
    if (xir_op_is(op, xir_where_class())) return choice(c, op, out, n);
    return false;
}

/* ---- recorded lists --------------------------------------------------------------------------------------------- */

const known_ints *conversion_known(conversion *c, const xir_value *v) {
    if (!v || xir_value_is_params(v) || !v->producer || v != v->producer->outputs) return NULL;
    uint32_t slot = v->producer->slot;
    return slot < c->known_room ? c->known[slot] : NULL;
}

bool conversion_items(conversion *c, const xir_value *v, xir_ints *out) {
    draft d;
    if (!v || !list_of(c, v, &d)) return false;
    *out = (xir_ints){ arena_take(&c->scratch, (d.n + 1) * sizeof *out->v), d.n };
    c->no_memory |= !out->v;
    for (size_t i = 0; out->v && i < d.n; i++) out->v[i] = d.open[i] ? OPEN_ITEM : d.v[i];
    return out->v;
}

void conversion_forget(conversion *c, const xir_op *op) {
    if (op->slot < c->known_room) c->known[op->slot] = NULL;
}

static bool remember(conversion *c, const xir_op *op, const draft *d, bool open) {
    size_t before = c->known_room;
    known_ints *k = arena_take(&c->scratch, sizeof *k + d->n * (sizeof *d->v + sizeof *d->of + sizeof *d->open));
    c->no_memory = !k || !mem_reserve(context_alloc(c->ctx), (void **)&c->known, &c->known_room, op->slot + (size_t)1,
                                      sizeof *c->known);
    if (c->no_memory) return false;
    memset((void *)(c->known + before), 0, (c->known_room - before) * sizeof *c->known);
    const xir_value **of = (const xir_value **)(void *)(k->v + d->n);
    bool *marks = (bool *)(of + d->n);
    memcpy(k->v, d->v, d->n * sizeof *d->v);
    memcpy((void *)of, (const void *)d->of, d->n * sizeof *of);
    memcpy(marks, d->open, d->n * sizeof *marks);
    k->n = d->n;
    k->of = of;
    k->open = open ? marks : NULL;
    c->known[op->slot] = k;
    return true;
}

bool conversion_learn(conversion *c, const xir_op *op) {
    draft d;
    int64_t n;
    const xir_type *type = xir_value_type(xir_op_output(op, 0));
    if (xir_op_output_count(op) != 1 || !xir_type_as_tensor(type) || xir_type_rank(type) > 1) return false;
    xir_type_kind kind = xir_type_kind_of(xir_type_element(type));
    if (kind != XIR_TYPE_INTEGER && kind != XIR_TYPE_BOOL) return false;
    if (xir_type_elements(type, &n) != XIR_OK || n > MOST_KNOWN || !compute(c, op, &d, (size_t)n)) return false;
    d.n = (size_t)n;
    bool open = false;
    for (size_t i = 0; i < d.n; i++) open |= d.open[i];
    return remember(c, op, &d, open) && !open;
}

xir_value *conversion_known_params(conversion *c, const xir_op *op) {
    const xir_type *type = xir_value_type(xir_op_output(op, 0));
    const known_ints *k = c->known[op->slot];
    uint8_t bytes[MOST_KNOWN * sizeof(int64_t)];
    uint64_t size;
    if (xir_type_bytes(type, &size) != XIR_OK || size > sizeof bytes ||
        !elements_of_ints(xir_type_element(type), k->v, k->n, bytes)) return NULL;
    return xir_params_copy(c->net, XIR_STR(""), type, bytes, (size_t)size);
}
