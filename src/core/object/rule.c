/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The questions of rules, about an object or an op, and their findings. */
#include <stdarg.h>
#include <stdio.h>
#include "rule.h"

xir_context      *xir_infer_context(const xir_infer *at) { return at->ctx; }
const xir_class  *xir_infer_class(const xir_infer *at)   { return at->cls; }
const void       *xir_infer_attrs(const xir_infer *at)   { return at->attrs; }
const xir_target *xir_infer_target(const xir_infer *at)  { return at->target; }

void rule_say(xir_infer *at, xir_severity severity, xir_status code, const char *where, const xir_diag_rule *rule,
              const char *sentence) {
    if (diag_is_counted(at->why, severity, code)) return;
    char path[300], op[40] = "", whole[2 * SENTENCE_ROOM];
    if (at->place) snprintf(op, sizeof op, "/ops/%zu", at->place - 1);
    int n = snprintf(path, sizeof path, "%.*s%s%s%s", (int)at->path.size, at->path.data ? at->path.data : "", op,
                     where ? "/" : "", where ? where : "");
    const xir_str key = at->cls->key, name = at->op_name;
    xir_diag diag = { .severity = severity, .code = code, .byte = XIR_NO_BYTE, .rule = rule };
    diag.path = (xir_str){ path, n < 0 ? 0 : (size_t)n < sizeof path ? (size_t)n : sizeof path - 1 };
    n = name.size ? snprintf(whole, sizeof whole, "%.*s '%.*s': %s", (int)key.size, key.data, (int)name.size,
                             name.data, sentence)
                  : snprintf(whole, sizeof whole, "%.*s: %s", (int)key.size, key.data, sentence);
    diag.message = (xir_str){ whole, n < 0 ? 0 : (size_t)n < sizeof whole ? (size_t)n : sizeof whole - 1 };
    xir_diags_append(at->why, &diag);
}

void xir_rule_found(xir_infer *at, const char *where, const char *format, ...) {
    rule_finding *found = at->found;
    if (!found) return;
    va_list list;
    va_start(list, format);
    text_vprint(found->text, sizeof found->text, format, list);
    va_end(list);
    snprintf(found->where, sizeof found->where, "%s", where ? where : "");
}

xir_status xir_infer_fail(xir_infer *at, xir_status code, const char *where, const char *format, ...) {
    at->status = code;
    if (diag_is_counted(at->why, XIR_ERROR, code)) return code;
    char sentence[SENTENCE_ROOM];
    va_list list;
    va_start(list, format);
    text_vprint(sentence, sizeof sentence, format, list);
    va_end(list);
    rule_say(at, XIR_ERROR, code, where, NULL, sentence);
    return code;
}

xir_status rule_failed(xir_infer *at, xir_status status) {
    at->status = status;
    if (status == XIR_E_MEMORY) return diag_memory(at->why);
    return xir_infer_fail(at, status, NULL, "its rule fails (%s) and does not say why", xir_status_name(status));
}
