/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Params are a value with a blob. Giving them bytes replaces the blob, so other holders of the old one are not
 * affected. Before a write they get their own blob, unless they have one. The type decides each time whether there
 * are enough bytes: a type that takes none needs no blob, and such Params always count as having data. */
#include <stdio.h>
#include "params_room.h"
#include "types.h"

/* Params without a type, which only readers make, take as many bytes as they have. */
xir_status params_size(const xir_value *value, uint64_t *out) {
    *out = 0;
    if (value->type) return xir_type_bytes(value->type, out);
    const blob *data = value_more_of(value) && value_more_of(value)->params ? value_params(value)->data : NULL;
    if (data) *out = data->size;
    return data ? XIR_OK : XIR_E_TYPE;
}

static params *params_of(const xir_value *value) {
    return value && value_is_params(value) ? value_params(value) : NULL;
}

static void give(params *p, blob *data) {
    blob *old = p->data;
    p->data = data;
    blob_release(old);
}

/* ---- making ------------------------------------------------------------------------------------------------- */

static xir_status size_fail(xir_network *net, xir_status status, xir_str called, uint64_t needed, uint64_t size) {
    int n = text_clip(called, 100);
    const char *text = n ? called.data : "";
    switch (status) {
    case XIR_OK:
        return net_fail(net, XIR_E_BOUNDS, "parameter '%.*s' gets %llu bytes, its type takes %llu", n, text,
                        (unsigned long long)size, (unsigned long long)needed);
    case XIR_E_TYPE:
        return net_fail(net, status, "parameter '%.*s' gets bytes but has no type", n, text);
    case XIR_E_UNKNOWN:
        return net_fail(net, status, "parameter '%.*s' gets bytes, but how its type is stored is not known", n, text);
    case XIR_E_BOUNDS:
        return net_fail(net, status, "parameter '%.*s' gets bytes but has an unknown dim", n, text);
    default:
        return net_fail(net, status, "parameter '%.*s' gets bytes, but its type takes more than memory can have", n,
                        text);
    }
}

/* Returns XIR_OK if Params of `value`'s type take `size` bytes; otherwise adds a finding. */
static xir_status check_size(xir_value *value, uint64_t size) {
    uint64_t needed = 0;
    xir_status status = value->type ? params_size(value, &needed) : XIR_E_TYPE;
    if (status == XIR_OK && needed == size) return XIR_OK;
    return size_fail(value_net(value), status, xir_value_name(value), needed, size);
}

xir_status net_no_type(xir_network *net, const char *what, xir_str text) {
    char reason[sizeof ((type_refusal *)0)->words] = "NULL was given";
    context_take_refusal(net->ctx, reason);
    return net_fail(net, XIR_E_TYPE, "%s '%.*s' is made without a type: %s", what, CLIP_TO(text, 100), reason);
}

static xir_value *no_type(xir_network *net, xir_str text) {
    net_no_type(net, "parameter", text);
    return NULL;
}

/* Without a type if `type` is NULL. */
static xir_value *make(xir_network *net, xir_str text, const xir_type *type) {
    const xir_type *mine = net_type(net, type);
    const label *n = mine || !type ? net_name(net, text) : NULL;
    xir_value *value = n ? params_make(net, mine) : NULL;
    if (!value) {
        net_fail(net, XIR_E_MEMORY, "no memory for a parameter");
        return NULL;
    }
    value_more_of(value)->name = n;
    value_named(value);
    return value;
}

xir_value *xir_params_new(xir_network *net, xir_str text, const xir_type *type) {
    if (!net) return NULL;
    return type ? make(net, text, type) : no_type(net, text);
}

xir_value *xir_params_new_untyped(xir_network *net, xir_str text) { return net ? make(net, text, NULL) : NULL; }

/* Checked before anything is made, so that a refused call leaves nothing in the network. */
static bool size_fits(xir_network *net, xir_str text, const xir_type *type, uint64_t size) {
    uint64_t needed = 0;
    xir_value as_if = { .type = type };
    xir_status status = params_size(&as_if, &needed);
    if (status == XIR_OK && needed == size) return true;
    size_fail(net, status, text, needed, size);
    return false;
}

static xir_value *new_with(xir_network *net, xir_str text, const xir_type *type, blob *data) {
    xir_value *value = data ? xir_params_new(net, text, type) : NULL;
    if (value) value_params(value)->data = data;
    return value;
}

xir_value *params_with_room(xir_network *net, xir_str text, const xir_type *type, size_t size, void **bytes) {
    if (!net) return NULL;
    if (!type) return no_type(net, text);
    if (!size_fits(net, text, type, size)) return NULL;
    blob *b = blob_new(&net->alloc, size);
    if (!b) net_fail(net, XIR_E_MEMORY, "no memory for %zu bytes of a parameter", size);
    xir_value *value = new_with(net, text, type, b);
    if (value) *bytes = (void *)(uintptr_t)b->bytes;
    else blob_release(b);
    return value;
}

xir_value *xir_params_copy(xir_network *net, xir_str text, const xir_type *type, const void *data, size_t size) {
    void *bytes;
    xir_value *value = params_with_room(net, text, type, size, &bytes);
    if (value && size) memcpy(bytes, data, size);
    return value;
}

xir_value *xir_params_borrow(xir_network *net, xir_str text, const xir_type *type, const void *data, size_t size,
                             void (*release)(void *user, const void *data), void *user) {
    if (!net) return NULL;
    if (!type) return no_type(net, text);
    if (!size_fits(net, text, type, size)) return NULL;
    blob *b = blob_borrow(&net->alloc, data, size, false, release, user);
    if (!b) net_fail(net, XIR_E_MEMORY, "no memory for a parameter");
    xir_value *value = new_with(net, text, type, b);
    if (!value && b) {
        b->release = NULL;   /* a refused caller keeps the bytes */
        blob_release(b);
    }
    return value;
}

xir_status xir_params_set_copy(xir_value *value, const void *data, size_t size) {
    params *p = params_of(value);
    if (!p) return XIR_E_TYPE;
    xir_status status = check_size(value, size);
    if (status != XIR_OK) return status;
    blob *b = blob_new(&value_net(value)->alloc, size);
    if (!b) return net_fail(value_net(value), XIR_E_MEMORY, "no memory for %zu bytes of a parameter", size);
    if (size) memmove((void *)(uintptr_t)b->bytes, data, size);   /* `data` may overlap the old bytes */
    give(p, b);
    return XIR_OK;
}

xir_status xir_params_set_borrow(xir_value *value, const void *data, size_t size,
                                 void (*release)(void *user, const void *data), void *user) {
    params *p = params_of(value);
    if (!p) return XIR_E_TYPE;
    xir_status status = check_size(value, size);
    if (status != XIR_OK) return status;
    blob *b = blob_borrow(&value_net(value)->alloc, data, size, false, release, user);
    if (!b) return net_fail(value_net(value), XIR_E_MEMORY, "no memory for a parameter");
    give(p, b);
    return XIR_OK;
}

/* ---- filling ------------------------------------------------------------------------------------------------ */

/* A blob for all elements, and their number in `*n`; NULL with a finding. */
static blob *blob_for(xir_value *value, size_t element_size, size_t *n, xir_status *status) {
    xir_network *net = value_net(value);
    xir_str called = xir_value_name(value);
    uint64_t size = 0, bits = value->type ? xir_type_storage_bits(value->type) : 0;
    *status = params_size(value, &size);
    if (*status != XIR_OK) {
        size_fail(net, *status, called, size, 0);
        return NULL;
    }
    if (element_size == 0 || bits != 8 * (uint64_t)element_size) {
        *status = net_fail(net, XIR_E_TYPE,
                           "parameter '%.*s' is filled with elements of %zu bytes, its type stores %llu bits",
                           CLIP_TO(called, 100), element_size,
                           (unsigned long long)bits);
        return NULL;
    }
    blob *b = blob_new(&net->alloc, size);
    if (b) *n = (size_t)(size / element_size);
    else *status = net_fail(net, XIR_E_MEMORY, "no memory for %llu bytes of a parameter", (unsigned long long)size);
    return b;
}

xir_status xir_params_fill(xir_value *value, size_t element_size, void (*fill)(void *user, size_t i, void *out),
                           void *user) {
    params *p = params_of(value);
    if (!p) return XIR_E_TYPE;
    size_t n = 0;
    xir_status status;
    blob *b = blob_for(value, element_size, &n, &status);
    if (!b) return status;
    uint8_t *out = (uint8_t *)(uintptr_t)b->bytes;
    for (size_t i = 0; i < n; i++) fill(user, i, out + i * element_size);
    give(p, b);
    return XIR_OK;
}

xir_status xir_params_fill_f32(xir_value *value, float (*fill)(size_t i)) {
    params *p = params_of(value);
    if (!p) return XIR_E_TYPE;
    size_t n = 0;
    xir_status status;
    blob *b = blob_for(value, sizeof(float), &n, &status);
    if (!b) return status;
    float *out = (float *)(uintptr_t)b->bytes;   /* owned bytes are aligned */
    for (size_t i = 0; i < n; i++) out[i] = fill(i);
    give(p, b);
    return XIR_OK;
}

/* ---- watched files ------------------------------------------------------------------------------------------ */

static xir_status say_gone(const xir_value *value, const blob *b, xir_diags *why) {
    char text[200];
    xir_str called = xir_value_name(value);
    snprintf(text, sizeof text, "parameter '%.*s' is gone: the file was changed after it had been opened",
             CLIP_TO(called, 100));
    return xir_diags_append(why, &(xir_diag){
        .severity = XIR_ERROR, .code = XIR_E_IO, .message = xir_str_of(text), .file = xir_str_of(blob_path(b)),
        .byte = XIR_NO_BYTE });
}

/* Returns true if the bytes may be read: each call compares the file, and one that has changed once is not trusted
 * again. Several threads may call; the one that finds the change first reports to the network. What a pass reads stays
 * until the pass ends, and fails then. */
static bool may_touch(const xir_value *value, const blob *b) {
    atomic_bool *gone = (atomic_bool *)(uintptr_t)&b->gone;
    xir_network *net = value_net(value);
    if (atomic_load_explicit(gone, memory_order_relaxed)) return net->passes > 0;
    if (blob_is_there(b)) return true;
    if (!atomic_exchange(gone, true)) {
        pthread_mutex_lock(&net->cache_lock);
        if (!net->status) net->status = XIR_E_IO;
        say_gone(value, b, net->diags);
        pthread_mutex_unlock(&net->cache_lock);
    }
    return net->passes > 0;
}

/* Returns false if the bytes belong to a watched file that has changed. */
static inline bool is_readable(const xir_value *value, const blob *b) {
    return !b || !b->watch || b->size == 0 || blob_is_hushed(b) || may_touch(value, b);
}

static bool is_gone(const blob *b) {
    return b->watch && atomic_load_explicit((atomic_bool *)(uintptr_t)&b->gone, memory_order_relaxed);
}

xir_status params_check(const xir_value *value, xir_diags *why) {
    const blob *b = value_params(value)->data;
    if (!b || !b->watch || b->size == 0) return XIR_OK;
    return may_touch(value, b) && !is_gone(b) ? XIR_OK : say_gone(value, b, why);
}

/* ---- asking ------------------------------------------------------------------------------------------------- */

static bool needs_none(const xir_value *value) {
    uint64_t needed;
    return params_size(value, &needed) == XIR_OK && needed == 0;
}

bool xir_params_has_data(const xir_value *value) {
    const params *p = params_of(value);
    return p && (p->data ? !is_gone(p->data) : needs_none(value));
}

bool xir_params_is_lazy(const xir_value *value) {
    const params *p = params_of(value);
    return p && p->data && p->data->mapped;
}

const void *xir_params_data(const xir_value *value, uint64_t *size) {
    const params *p = params_of(value);
    const blob *b = p ? p->data : NULL;
    if (!is_readable(value, b)) b = NULL;
    if (size) *size = b ? b->size : 0;
    return b && b->size ? b->bytes : NULL;
}

xir_status xir_params_read(const xir_value *value, uint64_t offset, void *out, size_t size) {
    const params *p = params_of(value);
    if (p && !is_readable(value, p->data)) return XIR_E_IO;
    if (!xir_params_has_data(value)) return XIR_E_MISSING;
    uint64_t all;
    const uint8_t *data = xir_params_data(value, &all);
    if (offset > all || size > all - offset) return XIR_E_BOUNDS;
    if (size) memcpy(out, data + offset, size);
    return XIR_OK;
}

bool xir_params_equal(const xir_value *a, const xir_value *b) {
    uint64_t a_needs, b_needs, a_size, b_size;
    if (!params_of(a) || !params_of(b)) return false;
    if (a == b) return true;
    if (!is_readable(a, value_params(a)->data) || !is_readable(b, value_params(b)->data)) return false;
    xir_status a_status = params_size(a, &a_needs), b_status = params_size(b, &b_needs);
    if (a_status != b_status || a_needs != b_needs || xir_params_has_data(a) != xir_params_has_data(b)) return false;
    const void *a_data = xir_params_data(a, &a_size), *b_data = xir_params_data(b, &b_size);
    return a_size == b_size && (a_data == b_data || memcmp(a_data, b_data, (size_t)a_size) == 0);
}

bool xir_params_allow_no_data(const xir_value *value) {
    const params *p = params_of(value);
    return p && p->allow_no_data;
}

void xir_params_set_allow_no_data(xir_value *value, bool allow) {
    params *p = params_of(value);
    if (p) p->allow_no_data = allow;
}

/* ---- joining ------------------------------------------------------------------------------------------------ */

static bool is_joinable(xir_network *net, const xir_value *v) {
    return params_of(v) && value_net(v) == net && xir_type_as_tensor(v->type) && xir_type_rank(v->type);
}

static bool differs_from(const xir_tensor_type *first, const xir_tensor_type *t) {
    const size_t rank = first->shape.size;
    return !xir_type_equal(first->element_dtype, t->element_dtype) || t->shape.size != rank ||
           !xir_object_equal((const xir_object *)first->layout, (const xir_object *)t->layout) ||
           memcmp(first->shape.data + 1, t->shape.data + 1, (rank - 1) * sizeof *t->shape.data) != 0;
}

/* Checks a part, and adds its first dim and its bytes to those of the parts before it. */
static xir_status add_part(xir_network *net, xir_value *const *parts, size_t i, int64_t *rows, uint64_t *bytes) {
    const xir_value *v = parts[i];
    if (!is_joinable(net, v))
        return net_fail(net, XIR_E_TYPE, "part %zu is not Params of this network with a tensor type", i);
    const xir_tensor_type *first = xir_type_as_tensor(parts[0]->type), *t = xir_type_as_tensor(v->type);
    if (differs_from(first, t))
        return net_fail(net, XIR_E_TYPE, "part %zu differs from the first one in its element type, its layout, or a dim "
                        "after the first", i);
    if (xir_type_is_quantized(v->type) || t->merged_distrs.size || xir_type_storage_bits(v->type) % 8)
        return net_fail(net, XIR_E_UNSUPPORTED, "part %zu has quantised elements, a distribution, or elements that do "
                        "not fill whole bytes", i);
    if (params_of(v)->data && !is_readable(v, params_of(v)->data)) return XIR_E_IO;
    if (!xir_params_has_data(v)) return net_fail(net, XIR_E_MISSING, "part %zu has no bytes", i);
    uint64_t size;
    xir_params_data(v, &size);
    if (t->shape.data[0] > INT64_MAX - *rows || !add_u64(*bytes, size, bytes))
        return net_fail(net, XIR_E_LIMIT, "the parts have too many elements together");
    *rows += t->shape.data[0];
    return XIR_OK;
}

static const xir_type *joined_type(xir_network *net, const xir_value *first, int64_t rows) {
    const xir_tensor_type *t = xir_type_as_tensor(first->type);
    const size_t size = t->shape.size * sizeof(int64_t);
    int64_t *dims = mem_new(&net->alloc, size);
    if (!dims) return NULL;
    memcpy(dims, t->shape.data, size);
    dims[0] = rows;
    const xir_type *type = type_tensor(&net->pool, t->element_dtype, t->layout, (xir_i64s){ dims, t->shape.size },
                                       (xir_refs){ 0 });
    mem_free(&net->alloc, dims, size);
    return type;
}

static blob *joined_bytes(xir_network *net, xir_value *const *parts, size_t n, uint64_t all) {
    blob *b = blob_new(&net->alloc, all);
    uint8_t *out = b ? (uint8_t *)(uintptr_t)b->bytes : NULL;
    for (size_t i = 0; b && i < n; i++) {
        uint64_t size;
        const void *data = xir_params_data(parts[i], &size);
        if (size) memcpy(out, data, (size_t)size);
        out += size;
    }
    return b;
}

xir_value *xir_params_concat(xir_network *net, xir_str text, xir_value *const *parts, size_t n) {
    int64_t rows = 0;
    uint64_t bytes = 0;
    if (!net) return NULL;
    if (!n || !parts) {
        net_fail(net, XIR_E_INVALID, "there are no Params to join");
        return NULL;
    }
    for (size_t i = 0; i < n; i++) {
        if (add_part(net, parts, i, &rows, &bytes)) return NULL;
    }
    const xir_type *type = joined_type(net, parts[0], rows);
    if (!type) net_fail(net, XIR_E_MEMORY, "no memory for a parameter");
    if (!type || !size_fits(net, text, type, bytes)) return NULL;
    blob *b = joined_bytes(net, parts, n, bytes);
    xir_value *value = b ? new_with(net, text, type, b) : NULL;
    if (!b) net_fail(net, XIR_E_MEMORY, "no memory for %llu bytes of a parameter", (unsigned long long)bytes);
    else if (!value) blob_release(b);
    return value;
}

/* ---- changing ----------------------------------------------------------------------------------------------- */

/* Replaces the blob by an own copy; false without memory, with a finding. */
static bool copy_own(xir_value *value, params *p) {
    blob *b = blob_new(&value_net(value)->alloc, p->data->size);
    if (!b) {
        net_fail(value_net(value), XIR_E_MEMORY, "no memory for %llu bytes of a parameter",
                 (unsigned long long)p->data->size);
        return false;
    }
    memcpy((void *)(uintptr_t)b->bytes, p->data->bytes, (size_t)b->size);
    give(p, b);
    return true;
}

const void *xir_params_elements(xir_value *value, size_t element_size) {
    if (!value) return NULL;
    xir_network *net = value_net(value);
    params *p = params_of(value);
    const uint64_t bits = p && value->type ? xir_type_storage_bits(value->type) : 0;
    const xir_str called = xir_value_name(value);
    if (!element_size || bits != 8 * (uint64_t)element_size) {
        net_fail(net, XIR_E_TYPE, "'%.*s' is read as elements of %zu bytes, its type stores %llu bits",
                 CLIP_TO(called, 100), element_size, (unsigned long long)bits);
        return NULL;
    }
    if (p->data && !is_readable(value, p->data)) return NULL;
    static const _Alignas(16) uint8_t no_elements[16];
    const void *data = xir_params_data(value, NULL);
    if (!data && xir_params_has_data(value)) return no_elements;
    if (!data) {
        net_fail(net, XIR_E_MISSING, "parameter '%.*s' has no bytes", CLIP_TO(called, 100));
        return NULL;
    }
    /* The largest power of two that divides the size: what such a number may need, up to what own bytes have. */
    size_t alignment = element_size & (~element_size + 1);
    if (alignment > 16) alignment = 16;
    if (((uintptr_t)data & (alignment - 1)) == 0) return data;
    return copy_own(value, p) ? p->data->bytes : NULL;
}

void *xir_params_edit(xir_value *value) {
    params *p = params_of(value);
    if (!p || !p->data || p->data->size == 0 || !is_readable(value, p->data)) return NULL;
    if (!blob_is_mine(p->data) && !copy_own(value, p)) return NULL;
    return (void *)(uintptr_t)p->data->bytes;
}

xir_status xir_params_load(xir_value *value) {
    params *p = params_of(value);
    if (!p) return XIR_E_TYPE;
    if (!p->data) return xir_params_has_data(value) ? XIR_OK : XIR_E_MISSING;
    if (!p->data->mapped) return XIR_OK;
    if (p->data->size == 0) {   /* nothing to copy, but the file is released */
        give(p, NULL);
        return XIR_OK;
    }
    if (!is_readable(value, p->data)) return XIR_E_IO;
    return copy_own(value, p) ? XIR_OK : XIR_E_MEMORY;
}

void xir_params_clear(xir_value *value) {
    params *p = params_of(value);
    if (p) give(p, NULL);
}
