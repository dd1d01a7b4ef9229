/* Diagnostics: sentences with a place. A list belongs to the caller of one piece of work or to a network,
 * never to the context, so threads do not mix them. */
#ifndef XIR_DIAG_H
#define XIR_DIAG_H

#include <stdio.h>
#include <xir/base.h>

XIR_BEGIN

typedef struct xir_context xir_context;
typedef struct xir_diags   xir_diags;

typedef enum xir_severity { XIR_ERROR, XIR_WARNING, XIR_NOTE } xir_severity;

#define XIR_NO_BYTE UINT64_MAX

/* One finding. All texts live as long as the list that holds it. */
typedef struct xir_diag {
    xir_severity severity;
    xir_status   code;    /* XIR_OK for warnings and notes that no status fits                     */
    xir_str      message; /* one sentence, lower case, what was expected and what was found        */
    xir_str      file;    /* empty for work in memory                                              */
    uint64_t     byte;    /* offset in the file, or XIR_NO_BYTE                                    */
    uint32_t     line;    /* from 1; 0 where there are no lines (binary files, memory)             */
    uint32_t     column;  /* from 1, in bytes                                                      */
    xir_str      path;    /* JSON pointer, "/ops/17/inputs/1/dtype"; empty for the whole            */
} xir_diag;

/* Returns an empty list, or NULL without memory. The context must outlive it. Free with
 * xir_diags_free, which accepts NULL. One thread at a time.
 *
 * A hostile file can have a fault in every few bytes, so a list keeps no more findings than the context's limits say
 * (xir_limits.max_findings), or than is set here. Those that come later are counted. But the first
 * error is always kept, and the first that says that memory has run out. The list of a network has no such limit. */
XIR_API xir_diags *xir_diags_new(xir_context *ctx);
XIR_API void       xir_diags_free(xir_diags *diags);
XIR_API void       xir_diags_set_max(xir_diags *diags, size_t most);

/* Forgets all findings. */
XIR_API void xir_diags_clear(xir_diags *diags);

/* How many findings are kept; how many came that are not; how many came of one severity, kept or not. NULL has none. */
XIR_API size_t xir_diags_count(const xir_diags *diags);
XIR_API size_t xir_diags_more(const xir_diags *diags);
XIR_API size_t xir_diags_count_of(const xir_diags *diags, xir_severity severity);

/* Returns the i-th finding that is kept, oldest first; NULL if there is none. A zero byte follows its message. */
XIR_API const xir_diag *xir_diags_at(const xir_diags *diags, size_t i);

/* Adds a finding and returns `code`. `diags` may be NULL: then only the status remains. Without memory for
 * the sentence a static one takes its place; adding never fails. `path` is copied. */
XIR_API xir_status xir_diags_add(xir_diags *diags, xir_severity severity, xir_status code, xir_str path,
                                 const char *format, ...) XIR_PRINTF(5, 6);

/* Adds a finding with every field given; all texts are copied. */
XIR_API xir_status xir_diags_append(xir_diags *diags, const xir_diag *diag);

/* Prints one finding, or all, one a line: `file:line:col: /json/pointer: what`, `file@0xoffset: …` where there are
 * no lines, warnings and notes with their word before the sentence. Control characters (those of Unicode that change
 * the direction of text or end a line, too) and invalid UTF-8 in texts from files are printed as \xNN, so that a
 * file cannot drive a terminal. A list ends with "and N more" if not all were kept. It is handed to `out` in few
 * pieces, however many findings it has. */
XIR_API void xir_diag_print(const xir_diag *diag, FILE *out);
XIR_API void xir_diags_print(const xir_diags *diags, FILE *out);

XIR_END

#endif
