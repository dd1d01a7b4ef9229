/* What every rule may ask, for an object or an op, and how it reports what is wrong. */
#include <stdarg.h>
#include <stdio.h>
#include "rule.h"

xir_context      *xir_infer_context(const xir_infer *at) { return at->ctx; }
const xir_class  *xir_infer_class(const xir_infer *at)   { return at->cls; }
const void       *xir_infer_attrs(const xir_infer *at)   { return at->attrs; }
const xir_target *xir_infer_target(const xir_infer *at)  { return at->target; }

xir_status xir_infer_fail(xir_infer *at, xir_status code, const char *where, const char *format, ...) {
    at->status = code;
    if (diag_is_counted(at->why, XIR_ERROR, code)) return code;
    char sentence[SENTENCE_ROOM], path[300];
    va_list list;
    va_start(list, format);
    text_vprint(sentence, sizeof sentence, format, list);
    va_end(list);
    char op[40] = "";
    if (at->place) snprintf(op, sizeof op, "/ops/%zu", at->place - 1);
    int n = snprintf(path, sizeof path, "%.*s%s%s%s", (int)at->path.size, at->path.data ? at->path.data : "", op,
                     where ? "/" : "", where ? where : "");
    xir_str place = { path, n < 0 ? 0 : (size_t)n < sizeof path ? (size_t)n : sizeof path - 1 };
    if (at->op_name.size) {
        return xir_diags_add(at->why, XIR_ERROR, code, place, "%.*s '%.*s': %s", (int)at->cls->key.size,
                             at->cls->key.data, (int)at->op_name.size, at->op_name.data, sentence);
    }
    return xir_diags_add(at->why, XIR_ERROR, code, place, "%.*s: %s", (int)at->cls->key.size,
                         at->cls->key.data, sentence);
}

xir_status rule_failed(xir_infer *at, xir_status status) {
    at->status = status;
    if (status == XIR_E_MEMORY) return diag_memory(at->why);
    return xir_infer_fail(at, status, NULL, "its rule fails (%s) and does not say why", xir_status_name(status));
}
