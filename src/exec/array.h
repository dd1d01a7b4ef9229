/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* An array is a type of its context, so that it outlives every network, and a blob, as in Params. */
#ifndef EXEC_ARRAY_H
#define EXEC_ARRAY_H

#include <xir/array.h>
#include "graph.h"
#include "rooms.h"

struct xir_array {
    atomic_size_t   references;
    xir_context    *ctx;
    const xir_type *type;
    blob           *data;    /* NULL if the array needs no bytes */
    size_t          count;
};

/* Each sets *out to an array, or returns a status and adds a finding. array_raw: uninitialised bytes, if possible those
 * of a former array of the run (`from` may be NULL). array_as: the bytes of another array under a type of the same
 * size. array_over: bytes of the caller, as many as the type takes. array_of_params: the bytes of Params. */
xir_status array_raw(xir_context *ctx, const xir_type *type, rooms *from, xir_array **out, xir_diags *why);
xir_status array_as(const xir_array *array, const xir_type *type, xir_array **out, xir_diags *why);
xir_status array_over(xir_context *ctx, const xir_type *type, void *bytes, xir_array **out, xir_diags *why);
xir_status array_of_params(const xir_value *params, xir_array **out, xir_diags *why);
/* The bytes of Params under their type, as a struct of the caller's that holds no reference: it is not freed, and lives
 * no longer than the Params. */
xir_status array_lend(const xir_value *params, xir_array *out, xir_diags *why);

/* Frees an array, which may be NULL. If nobody else holds it, the run keeps its bytes for another array. */
void array_give_back(xir_array *array, rooms *to);

/* Adds a finding without a place and returns `code`. */
#define array_fail(why, code, ...) diag_fail((why), (code), (xir_str){ 0 }, __VA_ARGS__)

static inline uint8_t *array_bytes(const xir_array *array) {
    return array->data ? (uint8_t *)(uintptr_t)array->data->bytes : NULL;
}

#endif
