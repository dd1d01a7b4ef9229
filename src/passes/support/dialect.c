/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A dialect is looked up by the part of a class key before the first "::". */
#include "support/dialect.h"

const xir_dialect_decl *xir_dialect_find(xir_context *ctx, xir_str key) {
    const char *colon = key.size ? memchr(key.data, ':', key.size) : NULL;
    size_t n = colon ? (size_t)(colon - key.data) + 2 : 0;
    if (!colon || key.size <= n || key.data[n - 1] != ':') return NULL;
    return registry_find(ctx, REGISTRY_DIALECT, (xir_str){ key.data, n });
}

const xir_dialect_decl *xir_dialect_at(xir_context *ctx, size_t i) { return registry_at(ctx, REGISTRY_DIALECT, i); }

const xir_dialect_decl *dialect_of_class(const xir_class *cls) {
    return cls->opaque ? xir_dialect_find(cls->ctx, cls->key) : NULL;
}
