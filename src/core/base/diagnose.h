/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Findings inside the library: the functions with which every layer reports what is wrong. */
#ifndef CORE_DIAGNOSE_H
#define CORE_DIAGNOSE_H

#include <xir/diag.h>
#include "text.h"

/* Adds a finding; with a NULL list it only returns the status. */
xir_status diag_fail(xir_diags *why, xir_status code, xir_str path, const char *format, ...) XIR_PRINTF(4, 5);
/* Adds a finding at the place in `at`, with a message of at most SENTENCE_ROOM. Returns at->code. */
xir_status diag_failv(xir_diags *why, const xir_diag *at, const char *format, va_list args) XIR_PRINTF(3, 0);
xir_status diag_memory(xir_diags *why);
/* The same for a struct that keeps its first status and a function that returns true or false: returns false. */
static inline bool diag_no_memory(xir_status *status, xir_diags *why) {
    if (!*status) *status = diag_memory(why);
    return false;
}
/* For findings whose sentences take time: returns true if the list is NULL or has counted this one, which it would not
 * keep; otherwise it is yet to be added. */
bool       diag_is_counted(xir_diags *why, xir_severity severity, xir_status code);
/* From now on `seen` gets each finding that is added, kept or not, but none that says that memory ran out; NULL ends
 * that. The list may be NULL. */
typedef void diag_seen_fn(void *user, xir_severity severity, xir_str path);
void       diags_watch(xir_diags *diags, diag_seen_fn *seen, void *user);
/* Reports that a caller passed NULL for `what`, "network": XIR_E_MISSING. */
xir_status diag_null(xir_diags *why, const char *what);
/* Adds all findings of a list, including the number that it did not keep; or only that number. Either may be NULL. */
void       diags_append(xir_diags *to, const xir_diags *from);
void       diags_append_more(xir_diags *to, const xir_diags *from);
/* Sets the source line of all findings from index `from` on that have no place. */
void       diags_add_place(xir_diags *diags, size_t from, const char *file, int line);

#endif
