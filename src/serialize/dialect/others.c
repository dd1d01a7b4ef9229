/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Ops that a foreign format does not have, described in one sentence for its writer. */
#include <stdio.h>
#include "dialect/others.h"
#include "text.h"

bool dialect_is_known(const xir_op *op, xir_str prefix) {
    const xir_str key = op->cls->key;
    if (xir_class_is_opaque(op->cls)) return key.size > prefix.size && memcmp(key.data, prefix.data, prefix.size) == 0;
    return xir_str_equal(key, XIR_STR("icraft::xir::Input")) || xir_str_equal(key, XIR_STR("icraft::xir::Output"));
}

bool dialect_has_all(const xir_network *net, xir_str prefix, const char *format, const char *noun, const char *advice,
                     char out[DIALECT_OTHERS]) {
    enum { NAMED = 6 };
    const xir_class *named[NAMED];
    size_t n = 0, n_ops = 0, at = 0;
    bool more = false;
    for (const xir_op *op = net->first; op; op = op->next) {
        if (dialect_is_known(op, prefix)) continue;
        size_t i = 0;
        while (i < n && named[i] != op->cls) i++;
        if (i == n && n < NAMED) named[n++] = op->cls;
        else more |= i == n;
        n_ops++;
    }
    if (!n_ops) return true;
    at = (size_t)snprintf(out, DIALECT_OTHERS, "%s has no %s for %zu op%s: ", format, noun, n_ops,
                          n_ops == 1 ? "" : "s");
    for (size_t i = 0; i < n; i++)
        at += (size_t)snprintf(out + at, DIALECT_OTHERS - at, "%s%.*s", i ? ", " : "", CLIP_TO(named[i]->key, 30));
    snprintf(out + at, DIALECT_OTHERS - at, "%s; %s", more ? ", …" : "", advice);
    return false;
}
