/* Findings, from inside: what every layer uses to say what is wrong. */
#ifndef CORE_DIAGNOSE_H
#define CORE_DIAGNOSE_H

#include <xir/diag.h>
#include "text.h"

/* Findings with what core has at hand; a NULL list takes only the status. */
xir_status diag_fail(xir_diags *why, xir_status code, xir_str path, const char *format, ...) XIR_PRINTF(4, 5);
/* A finding at the place that `at` gives, with a sentence of SENTENCE_ROOM at most as its message. Returns at->code. */
xir_status diag_failv(xir_diags *why, const xir_diag *at, const char *format, va_list args) XIR_PRINTF(3, 0);
xir_status diag_memory(xir_diags *why);
/* A caller passed NULL for `what`, "network": XIR_E_MISSING. */
xir_status diag_null(xir_diags *why, const char *what);
/* Adds all findings of a list, those too that it counted and did not keep; and those alone. Either may be NULL. */
void       diags_append(xir_diags *to, const xir_diags *from);
void       diags_append_more(xir_diags *to, const xir_diags *from);
/* Gives findings from index `from` on that have no place a line of the program. */
void       diags_add_place(xir_diags *diags, size_t from, const char *file, int line);

#endif
