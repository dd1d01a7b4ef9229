/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A single packed tensor as arrays, and back. */
#include <xir/tsm.h>
#include "file.h"
#include "tsm/tsm.h"

/* All tensors are walked first: then nothing is refused for what the file says. */
static bool count(tsm_cursor *c, uint64_t most, uint32_t *n) {
    if (!tsm_take_count(c, 5, n, "the number of tensors")) return false;
    for (uint32_t i = 0; i < *n; i++) {
        tsm_tensor t;
        if (!tsm_take_tensor(c, most, &t)) return false;
        const element_code *e = element_code_at(&element_codes_tsm, t.dtype);
        if (e->kind == ELEMENT_NONE)
            return trace_fail(c->trace, XIR_E_UNSUPPORTED, tsm_at(c, t.at), "tensor %" PRIu32 " has elements of type "
                              "%s, which XIR does not have", i, e->name);
    }
    return c->p == c->end ||
           trace_fail(c->trace, XIR_E_CORRUPT, tsm_at(c, c->p), "%" PRIu64 " bytes follow the last tensor: expected "
                      "the end", tsm_left(c));
}

static xir_array *make(xir_context *ctx, const tsm_tensor *t, xir_diags *why) {
    const xir_type *element = element_code_type(ctx, element_code_at(&element_codes_tsm, t->dtype));
    int64_t *dims = element ? mem_new(context_alloc(ctx), (t->rank + (size_t)1) * sizeof *dims) : NULL;
    for (uint32_t i = 0; dims && i < t->rank; i++) dims[i] = tsm_dim(t, i);
    const xir_type *type = dims ? xir_type_tensor(ctx, element, NULL, dims, t->rank) : NULL;
    mem_free(context_alloc(ctx), dims, (t->rank + (size_t)1) * sizeof *dims);
    if (type) return xir_array_copy(ctx, type, t->data, (size_t)t->bytes, why);
    diag_memory(why);
    return NULL;
}

xir_status xir_tsm_tensor_read(xir_context *ctx, const void *data, size_t size, xir_str name, xir_array **out,
                               size_t room, size_t *n, xir_diags *why) {
    if (!ctx) return diag_null(why, "context");
    if (!data && size) return diag_null(why, "data");
    if (!n) return diag_null(why, "n");
    if (!out && room) return diag_null(why, "out");
    trace place = { .ctx = ctx, .why = why, .file = name };
    const uint8_t *bytes = data ? data : (const uint8_t *)"";
    tsm_cursor c = { bytes, bytes, bytes + size, &place };
    uint32_t all = 0;
    *n = 0;
    for (size_t i = 0; i < room; i++) out[i] = NULL;
    if (!count(&c, ctx->limits.max_elements, &all)) return place.status;
    c.p = bytes + 4;
    for (uint32_t i = 0; i < all && i < room; i++) {
        tsm_tensor t;
        (void)tsm_take_tensor(&c, UINT64_MAX, &t);
        if ((out[i] = make(ctx, &t, why))) continue;
        for (uint32_t k = 0; k < i; k++) {
            xir_array_free(out[k]);
            out[k] = NULL;
        }
        return XIR_E_MEMORY;
    }
    *n = all;
    return XIR_OK;
}

xir_status xir_tsm_tensor_load(xir_context *ctx, const char *path, xir_array **out, size_t room, size_t *n,
                               xir_diags *why) {
    if (!ctx) return diag_null(why, "context");
    if (!path) return diag_null(why, "path");
    blob *whole = file_read(ctx, path, why);
    if (!whole) return xir_diags_count(why) ? xir_diags_at(why, xir_diags_count(why) - 1)->code : XIR_E_IO;
    const xir_status status = xir_tsm_tensor_read(ctx, whole->bytes, (size_t)whole->size, xir_str_of(path), out, room,
                                                  n, why);
    blob_release(whole);
    return status;
}

/* The type byte and the dims of an array. */
static xir_status head_of(const xir_array *array, buffer *out, xir_diags *why) {
    const xir_type *type = xir_array_type(array);
    const xir_tensor_type *tensor = xir_type_as_tensor(type);
    uint8_t dtype = 0;
    if (!tensor || !tsm_code_of(xir_type_element(type), &dtype))
        return diag_fail(why, XIR_E_UNSUPPORTED, XIR_STR(""), "TensorStack does not have the element type of the "
                         "array");
    for (size_t i = 0; i < tensor->shape.size; i++)
        if (tensor->shape.data[i] > INT32_MAX)
            return diag_fail(why, XIR_E_LIMIT, XIR_STR(""), "dim %zu of the array is %" PRId64 ": expected less than "
                             "2^31", i, tensor->shape.data[i]);
    tsm_put_head(out, dtype, tensor->shape.data, tensor->shape.size);
    return out->failed ? diag_memory(why) : XIR_OK;
}

xir_status xir_tsm_tensor_write(const xir_array *const *arrays, size_t n, xir_write_fn *write, void *user,
                                xir_diags *why) {
    if (!arrays && n) return diag_null(why, "arrays");
    if (!write) return diag_null(why, "write");
    if (n > UINT32_MAX) return diag_fail(why, XIR_E_LIMIT, XIR_STR(""), "more than 2^32 - 1 arrays");
    xir_status status = XIR_OK;
    buffer out;
    buffer_init(&out, &memory_default);
    for (size_t i = 0; i < n && !status; i++) {
        status = arrays[i] ? head_of(arrays[i], &out, why) : diag_null(why, "array");
        out.size = 0;
    }
    tsm_put_word(&out, (uint32_t)n);
    if (!status && out.failed) status = diag_memory(why);
    bool going = status || write(user, out.data, out.size);
    for (size_t i = 0; i < n && !status && going; i++) {
        size_t size;
        const void *data = xir_array_data(arrays[i], &size);
        out.size = 0;
        status = head_of(arrays[i], &out, why);
        going = status || (write(user, out.data, out.size) && (!size || write(user, data, size)));
    }
    buffer_free(&out);
    if (status || going) return status;
    return diag_fail(why, XIR_E_IO, XIR_STR(""), "the writer stopped");
}
