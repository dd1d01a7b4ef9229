/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Diagnostics: sentences with a place. A list belongs to the caller of a piece of work or to a network, never to the
 * context, so findings of different threads do not mix. */
#ifndef XIR_DIAG_H
#define XIR_DIAG_H

#include <stdio.h>
#include <xir/base.h>

XIR_BEGIN

typedef struct xir_context xir_context;
typedef struct xir_diags   xir_diags;

typedef enum xir_severity { XIR_ERROR, XIR_WARNING, XIR_NOTE } xir_severity;

#define XIR_NO_BYTE UINT64_MAX

/* Of a finding about a rule of a target (place.h): the parts of its sentence, for programs. */
typedef struct xir_diag_rule {
    xir_str target;       /* "buyi"                                                              */
    xir_str name;         /* of the rule, "conv-stride"; empty if the target's row gives none    */
    xir_str found;        /* "(224 - 3 + 1 + 1) % 2 is 1"; empty if the rule does not say it     */
    xir_str needed;       /* "strides that divide"; empty: another class                         */
    xir_str mend;         /* "legalize cuts the padding"; empty if the row gives none            */
} xir_diag_rule;

/* One finding. Its texts live as long as the list that holds it. */
typedef struct xir_diag {
    xir_severity severity;
    xir_status   code;    /* XIR_OK for warnings and notes that no status fits                     */
    xir_str      message; /* one sentence, lower case: what was expected and what was found        */
    xir_str      file;    /* empty if the input was not a file                                     */
    uint64_t     byte;    /* offset in the file, or XIR_NO_BYTE                                    */
    uint32_t     line;    /* from 1; 0 if there are no lines (binary files, memory)                */
    uint32_t     column;  /* from 1, in bytes                                                      */
    xir_str      path;    /* JSON pointer, "/ops/17/inputs/1/dtype"; empty: the whole               */
    const xir_diag_rule *rule; /* NULL: it is about no rule of a target                              */
} xir_diag;

/* Returns an empty list, or NULL if memory runs out. The context must outlive it. Only one thread may use a list at a
 * time. Free it with xir_diags_free, which accepts NULL.
 *
 * A hostile file can have a fault every few bytes. So a list keeps at most as many findings as the context's limits
 * (xir_limits.max_findings) or xir_diags_set_max allow, and only counts the rest. The first error and the first
 * out-of-memory finding are always kept. The list of a network is not limited. */
XIR_API xir_diags *xir_diags_new(xir_context *ctx);
XIR_API void       xir_diags_free(xir_diags *diags);
XIR_API void       xir_diags_set_max(xir_diags *diags, size_t most);

/* Removes all findings. */
XIR_API void xir_diags_clear(xir_diags *diags);

/* The number of findings that are kept, the number that were only counted, and the number of one severity, kept or not.
 * For NULL all are 0. */
XIR_API size_t xir_diags_count(const xir_diags *diags);
XIR_API size_t xir_diags_more(const xir_diags *diags);
XIR_API size_t xir_diags_count_of(const xir_diags *diags, xir_severity severity);

/* Returns the i-th kept finding, oldest first; NULL past the end. A zero byte follows its message. */
XIR_API const xir_diag *xir_diags_at(const xir_diags *diags, size_t i);

/* Adds a finding and returns `code`. If `diags` is NULL, it only returns the status. Adding never fails: if memory runs
 * out, a static sentence takes the place of this one. `path` is copied. */
XIR_API xir_status xir_diags_add(xir_diags *diags, xir_severity severity, xir_status code, xir_str path,
                                 const char *format, ...) XIR_PRINTF(5, 6);

/* Adds a finding with every field given. All texts are copied. */
XIR_API xir_status xir_diags_append(xir_diags *diags, const xir_diag *diag);

/* Prints one finding, or all of them, one per line: `file:line:col: /json/pointer: what`, or `file@0xoffset: …` if
 * there are no lines. Warnings and notes have that word before the sentence. Texts from files are escaped, so that a
 * file cannot control a terminal: control characters, the Unicode characters that change text direction or end a
 * line, and invalid UTF-8 are printed as \xNN. A list ends with "and N more" if not all findings were kept. A list
 * is written to `out` in a few large pieces, however many findings it has. */
XIR_API void xir_diag_print(const xir_diag *diag, FILE *out);
XIR_API void xir_diags_print(const xir_diags *diags, FILE *out);

XIR_END

#endif
