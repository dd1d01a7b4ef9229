/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The interface of a running pass: what it works on, and how it reports findings. */
#include "manager/pass.h"
#include <stdarg.h>
#include <stdio.h>

xir_network *xir_pass_network(const xir_pass *at) { return at->net; }
xir_context *xir_pass_context(const xir_pass *at) { return at->net->ctx; }
void        *xir_pass_user(const xir_pass *at) { return at->decl->user; }
xir_diags   *xir_pass_diags(xir_pass *at) { return at->why; }
void         xir_pass_changed(xir_pass *at, size_t n) { at->changes += n; }

static XIR_PRINTF(5, 0) void tell(xir_pass *at, xir_severity severity, xir_status code, const xir_op *op,
                                  const char *format, va_list list) {
    char sentence[SENTENCE_ROOM], path[48] = "";
    if (diag_is_counted(at->why, severity, code)) return;
    text_vprint(sentence, sizeof sentence, format, list);
    int64_t i = op ? xir_network_index_of(at->net, op) : -1;
    if (i >= 0) snprintf(path, sizeof path, "/ops/%lld", (long long)i);
    xir_str name = op ? xir_op_name(op) : (xir_str){ NULL, 0 }, key = op ? xir_class_key(op->cls) : name;
    if (op) {
        xir_diags_add(at->why, severity, code, xir_str_of(path), "%s: %.*s '%.*s': %s", at->decl->name,
                      (int)key.size, key.data, (int)name.size, name.size ? name.data : "", sentence);
    } else {
        xir_diags_add(at->why, severity, code, xir_str_of(path), "%s: %s", at->decl->name, sentence);
    }
}

xir_status xir_pass_fail(xir_pass *at, xir_status code, const xir_op *op, const char *format, ...) {
    va_list list;
    va_start(list, format);
    tell(at, XIR_ERROR, code, op, format, list);
    va_end(list);
    return code;
}

void xir_pass_diag(xir_pass *at, xir_severity severity, const xir_op *op, const char *format, ...) {
    va_list list;
    va_start(list, format);
    tell(at, severity, XIR_OK, op, format, list);
    va_end(list);
}
