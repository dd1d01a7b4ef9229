/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Reading the stream: no length or count is trusted before it is compared with the bytes that are left. */
#include "tsm/tsm.h"
#include "utf8.h"

#define CURSOR_FAIL(c, place, code, ...) trace_fail((c)->trace, (code), tsm_at((c), (place)), __VA_ARGS__)

static bool is_cut(tsm_cursor *c, const char *what, uint64_t bytes) {
    return CURSOR_FAIL(c, c->p, XIR_E_CORRUPT, "the file ends in %s: expected %" PRIu64 " bytes, found %" PRIu64, what,
                       bytes, tsm_left(c));
}

bool tsm_bad_count(tsm_cursor *c, uint64_t least, const char *what) {
    if (tsm_left(c) < 4) return is_cut(c, what, 4);
    const uint64_t left = tsm_left(c) - 4;
    return CURSOR_FAIL(c, c->p, XIR_E_CORRUPT, "%s is %" PRIu32 ", but the %" PRIu64 " bytes that follow hold at most %"
                       PRIu64, what, little_u32(c->p), left, left / least);
}

/* ---- tensors ----------------------------------------------------------------------------------------------------- */

/* The elements that the dims stand for. */
static bool multiply(tsm_cursor *c, uint64_t most, tsm_tensor *t) {
    uint64_t n = 1;
    bool zero = false, over = false;
    for (uint32_t i = 0; i < t->rank; i++) {
        const int64_t dim = tsm_dim(t, i);
        if (dim < 0)
            return CURSOR_FAIL(c, t->dims + 4 * (size_t)i, XIR_E_BOUNDS, "dim %" PRIu32 " of a tensor is negative: "
                               "expected 0 or more, found %" PRId64, i, dim);
        zero |= dim == 0;
        over |= !mul_u64(n, (uint64_t)dim, &n);
    }
    t->elements = zero ? 0 : n;
    if (!zero && (over || n > INT64_MAX))
        return CURSOR_FAIL(c, t->dims, XIR_E_LIMIT, "the dims of a tensor have 2^63 elements or more");
    return t->elements <= most ||
           CURSOR_FAIL(c, t->dims, XIR_E_LIMIT, "a tensor has %" PRIu64 " elements: the limit is %" PRIu64,
                       t->elements, most);
}

bool tsm_take_tensor(tsm_cursor *c, uint64_t most, tsm_tensor *t) {
    t->at = c->p;
    if (tsm_left(c) < 1) return is_cut(c, "the type of a tensor", 1);
    t->dtype = *c->p++;
    const element_code *e = element_code_at(&element_codes_tsm, t->dtype);
    if (!e || t->dtype == TSM_PTR)
        return CURSOR_FAIL(c, t->at, XIR_E_TYPE, "the type of a tensor is %d%s: expected 0 to 32 without 12", t->dtype,
                           e ? " (PTR), which a file cannot hold" : "");
    if (!tsm_take_count(c, 4, &t->rank, "the number of dims of a tensor")) return false;
    t->dims = c->p;
    c->p += 4 * (size_t)t->rank;
    if (!multiply(c, most, t)) return false;
    t->data = c->p;
    if (!mul_u64(t->elements, e->bits / 8, &t->bytes) || t->bytes > tsm_left(c))
        return CURSOR_FAIL(c, t->data, XIR_E_CORRUPT, "the file ends in the elements of a tensor: expected %" PRIu64
                           " of %d bytes each, found %" PRIu64 " bytes", t->elements, e->bits / 8, tsm_left(c));
    c->p += t->bytes;
    return true;
}

bool tsm_integer(const tsm_tensor *t, size_t i, int64_t *out) {
    const element_code *e = element_code_at(&element_codes_tsm, t->dtype);
    const element_format f = { (element_kind)e->kind, (uint8_t)e->bits, 0, 0 };
    if (i >= t->elements || (e->kind != ELEMENT_SIGNED && e->kind != ELEMENT_UNSIGNED)) return false;
    *out = element_i64(f, t->data, i);
    return true;
}

bool tsm_is_utf8(xir_str text) { return utf8_is_text(text.data, text.size); }
