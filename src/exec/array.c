/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Arrays are immutable once they are returned, so they can share bytes with Params and with each other. */
#include "array.h"
#include <math.h>
#include <xir/exec.h>
#include "elements.h"
#include "types.h"

/* ---- construction ---------------------------------------------------------------------------------------------- */

static xir_status measure(const xir_type *type, uint64_t *size, size_t *count, xir_diags *why) {
    int64_t n = 0;
    if (!xir_type_as_tensor(type)) return array_fail(why, XIR_E_TYPE, "expected a tensor type for an array");
    xir_status status = xir_type_elements(type, &n);
    if (!status) status = xir_type_bytes(type, size);
    if (status == XIR_E_BOUNDS) {
        return array_fail(why, status, "an array needs known dims: the type has an unknown one");
    }
    if (status) {
        return array_fail(why, status, status == XIR_E_LIMIT ? "the size of the array exceeds 64 bits"
                          : "the stored form of the elements is unknown");
    }
    if ((uint64_t)n > SIZE_MAX / 16 || *size > SIZE_MAX / 16) {
        return array_fail(why, XIR_E_LIMIT, "an array of %lld elements is too large", (long long)n);
    }
    *count = (size_t)n;
    return XIR_OK;
}

/* Takes over the blob, even on failure. */
static xir_status make(xir_context *ctx, const xir_type *type, blob *data, size_t count, xir_array **out,
                       xir_diags *why) {
    const xir_type *own = (const xir_type *)pool_intern(context_pool(ctx), xir_type_object(type));
    xir_array *array = own ? mem_new(&ctx->alloc, sizeof *array) : NULL;
    if (!array) {
        blob_release(data);
        return diag_memory(why);
    }
    *array = (xir_array){ .ctx = ctx, .type = own, .data = data, .count = count };
    atomic_init(&array->references, 1);
    context_retain(ctx);
    *out = array;
    return XIR_OK;
}

xir_status array_raw(xir_context *ctx, const xir_type *type, rooms *from, xir_array **out, xir_diags *why) {
    uint64_t size;
    size_t count = 0;
    xir_status status = measure(type, &size, &count, why);
    if (status) return status;
    blob *data = rooms_take_blob(from, &ctx->alloc, size);
    if (!data) {
        return array_fail(why, XIR_E_MEMORY, "out of memory for an array of %llu bytes", (unsigned long long)size);
    }
    return make(ctx, type, data, count, out, why);
}

xir_array *xir_array_new(xir_context *ctx, const xir_type *type, xir_diags *why) {
    xir_array *array = NULL;
    if (array_raw(ctx, type, NULL, &array, why)) return NULL;
    memset(array_bytes(array), 0, (size_t)array->data->size);
    return array;
}

xir_array *xir_array_copy(xir_context *ctx, const xir_type *type, const void *data, size_t size, xir_diags *why) {
    uint64_t needed;
    size_t count = 0;
    xir_array *array = NULL;
    if (measure(type, &needed, &count, why)) return NULL;
    if (needed != size) {
        array_fail(why, XIR_E_BOUNDS, "wrong size of an array: expected %llu bytes, found %zu",
                   (unsigned long long)needed, size);
        return NULL;
    }
    if (!array_raw(ctx, type, NULL, &array, why) && size) memcpy(array_bytes(array), data, size);
    return array;
}

xir_array *xir_array_filled(xir_context *ctx, const xir_type *type, double number, xir_diags *why) {
    uint64_t size;
    size_t count = 0;
    xir_array *array = NULL;
    if (measure(type, &size, &count, why)) return NULL;
    const xir_type *element = xir_type_element(type);
    if (!element_readable(element) || !element_has(element, number)) {
        array_fail(why, XIR_E_BOUNDS, "the elements of the array cannot be %.17g", number);
        return NULL;
    }
    if (!array_raw(ctx, type, NULL, &array, why)) (void)elements_fill(element, number, count, array_bytes(array));
    return array;
}

xir_status array_as(const xir_array *array, const xir_type *type, xir_array **out, xir_diags *why) {
    uint64_t size, there = array->data ? array->data->size : 0;
    size_t count = 0;
    xir_status status = measure(type, &size, &count, why);
    if (status) return status;
    if (size != there) {
        return array_fail(why, XIR_E_BOUNDS,
                          "wrong size of the new type: the array has %llu bytes, the type takes %llu",
                          (unsigned long long)there, (unsigned long long)size);
    }
    if (array->data) blob_retain(array->data);
    return make(array->ctx, type, array->data, count, out, why);
}

xir_status array_over(xir_context *ctx, const xir_type *type, void *bytes, xir_array **out, xir_diags *why) {
    uint64_t size;
    size_t count = 0;
    xir_status status = measure(type, &size, &count, why);
    if (status) return status;
    blob *data = blob_borrow(&ctx->alloc, bytes, size, false, NULL, NULL);
    return data ? make(ctx, type, data, count, out, why) : diag_memory(why);
}

/* ---- Params --------------------------------------------------------------------------------------------------- */

xir_status array_lend(const xir_value *value, xir_array *out, xir_diags *why) {
    if (!value || !value_is_params(value)) return array_fail(why, XIR_E_TYPE, "the value is not a parameter");
    uint64_t size, there;
    size_t count = 0;
    xir_status status = measure(value->type, &size, &count, why);
    if (status) return status;
    xir_str name = xir_value_name(value);
    const void *bytes = xir_params_data(value, &there);   // checks a watched file
    blob *data = value_params(value)->data;
    if (size && !bytes) {
        bool gone = data && data->size;
        return array_fail(why, gone ? XIR_E_IO : XIR_E_MISSING, "parameter '%.*s' has no bytes%s", CLIP_TO(name, 80),
                          gone ? " any more" : "");
    }
    if (size != there) {
        return array_fail(why, XIR_E_BOUNDS, "parameter '%.*s' has %llu bytes: expected %llu for its type",
                          CLIP_TO(name, 80), (unsigned long long)there, (unsigned long long)size);
    }
    *out = (xir_array){ .ctx = value_net(value)->ctx, .type = value->type, .data = data, .count = count };
    return XIR_OK;
}

xir_status array_of_params(const xir_value *value, xir_array **out, xir_diags *why) {
    xir_array lent = { .data = NULL };   /* compilers do not see that a success sets it */
    const xir_status status = array_lend(value, &lent, why);
    if (status) return status;
    if (lent.data) blob_retain(lent.data);
    return make(lent.ctx, lent.type, lent.data, lent.count, out, why);
}

xir_array *xir_array_from_params(const xir_value *value, xir_diags *why) {
    xir_array *array = NULL;
    (void)array_of_params(value, &array, why);
    return array;
}

xir_value *xir_params_from_array(xir_network *net, xir_str name, const xir_array *array) {
    if (!net) return NULL;
    xir_value *value = xir_params_new(net, name, array->type);
    if (!value || !array->data) return value;
    blob_retain(array->data);
    value_params(value)->data = array->data;
    return value;
}

/* ---- references ------------------------------------------------------------------------------------------------ */

xir_array *xir_array_retain(xir_array *array) {
    atomic_fetch_add_explicit(&array->references, 1, memory_order_relaxed);
    return array;
}

void xir_array_free(xir_array *array) {
    if (!array || atomic_fetch_sub_explicit(&array->references, 1, memory_order_acq_rel) != 1) return;
    xir_context *ctx = array->ctx;
    blob_release(array->data);
    mem_free(&ctx->alloc, array, sizeof *array);
    xir_context_free(ctx);
}

void array_give_back(xir_array *array, rooms *to) {
    if (to && array && atomic_load_explicit(&array->references, memory_order_acquire) == 1) {
        rooms_give_blob(to, array->data);
        array->data = NULL;
    }
    xir_array_free(array);
}

const xir_type *xir_array_type(const xir_array *array)  { return array->type; }
size_t          xir_array_count(const xir_array *array) { return array->count; }

const void *xir_array_data(const xir_array *array, size_t *size) {
    if (size) *size = array->data ? (size_t)array->data->size : 0;
    return array->data && array->data->size ? array->data->bytes : NULL;
}

void *xir_array_edit(xir_array *array) {
    bool mine = array->data && array->data->size && blob_is_mine(array->data) &&
                atomic_load_explicit(&array->references, memory_order_acquire) == 1;
    return mine ? (void *)(uintptr_t)array->data->bytes : NULL;
}

/* ---- as numbers ------------------------------------------------------------------------------------------------ */

static xir_status look(const xir_array *array, size_t from, size_t n, tensor_elements *e) {
    if (from > array->count || n > array->count - from) return XIR_E_BOUNDS;
    xir_status status = elements_open(e, &array->ctx->alloc, array->type, NULL);
    return status == XIR_E_UNSUPPORTED ? XIR_E_TYPE : status;
}

xir_status xir_array_reals(const xir_array *array, size_t from, size_t n, double *out) {
    tensor_elements e;
    xir_status status = look(array, from, n, &e);
    if (status) return status;
    if (n) elements_read_reals(&e, array->data->bytes, from, n, out);
    elements_close(&e);
    return XIR_OK;
}

xir_status xir_array_i64s(const xir_array *array, size_t from, size_t n, int64_t *out) {
    tensor_elements e;
    xir_status status = look(array, from, n, &e);
    if (status) return status;
    if (n) elements_read_i64s(&e, array->data->bytes, from, n, out);
    elements_close(&e);
    return XIR_OK;
}

double xir_array_real(const xir_array *array, size_t i) {
    double v;
    return xir_array_reals(array, i, 1, &v) ? NAN : v;
}

/* ---- comparison ------------------------------------------------------------------------------------------------ */

static bool same_shape(const xir_type *a, const xir_type *b) {
    if (xir_type_rank(a) != xir_type_rank(b)) return false;
    for (size_t k = 0; k < xir_type_rank(a); k++) {
        if (xir_type_dim(a, (int64_t)k, false) != xir_type_dim(b, (int64_t)k, false)) return false;
    }
    return true;
}

static void compare_one(double a, double b, double absolute, double relative, size_t i, xir_difference *out) {
    double distance = a == b ? 0 : fabs(a - b);   // 0 for equal infinities
    bool nan = isnan(a) || isnan(b);
    bool differ = nan ? isnan(a) != isnan(b) : distance > absolute + (isinf(b) ? 0 : relative * fabs(b));
    if (!nan && distance > out->largest) out->largest = distance;
    if (!differ) return;
    if (out->count++ == 0) {
        out->first = i;
        out->a = a;
        out->b = b;
    }
}

xir_status xir_array_compare(const xir_array *a, const xir_array *b, double absolute, double relative,
                             xir_difference *out) {
    enum { AT_ONCE = 512 };
    double x[AT_ONCE], y[AT_ONCE];
    *out = (xir_difference){ .first = SIZE_MAX, .same_shape = same_shape(a->type, b->type) };
    if (!out->same_shape) return XIR_OK;
    tensor_elements ea, eb;
    xir_status status = look(a, 0, a->count, &ea);
    if (status) return status;
    status = look(b, 0, b->count, &eb);
    for (size_t from = 0; !status && from < a->count; from += AT_ONCE) {
        size_t n = a->count - from < AT_ONCE ? a->count - from : AT_ONCE;
        elements_read_reals(&ea, a->data->bytes, from, n, x);
        elements_read_reals(&eb, b->data->bytes, from, n, y);
        for (size_t i = 0; i < n; i++) compare_one(x[i], y[i], absolute, relative, from + i, out);
    }
    elements_close(&ea);
    if (!status) elements_close(&eb);
    return status;
}
