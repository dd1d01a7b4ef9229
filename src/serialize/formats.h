/* What loading and saving share: which formats a context has, how one is found, and names of files. */
#ifndef SERIALIZE_FORMATS_H
#define SERIALIZE_FORMATS_H

#include "format.h"

/* The formats of a context by position: those of the library, then the registered ones. False past the end. `ctx` NULL:
 * the library's. */
bool format_at(xir_context *ctx, size_t i, format *out);
/* By its word; false with a finding. */
bool format_named(xir_context *ctx, const char *word, format *out, xir_diags *why);
/* By content, then by name, as xir_probe_grade says. False: neither tells. */
bool format_detect(xir_context *ctx, const void *head, size_t size, uint64_t total, xir_str name, format *out);

/* Whether a file of the format may begin like this, if more bytes follow; else false with a finding. */
bool format_may_begin(const format *f, const void *head, size_t size, xir_str name, xir_diags *why);

/* "json, imodel, fb", for sentences: the formats that can be read, or written. */
typedef struct format_list { char text[300]; } format_list;
format_list format_words(xir_context *ctx, bool written);

/* The format that a declaration makes (declared.c). */
format format_declared(const xir_format_decl *decl);

/* How long the longest of the suffixes is that a file's name ends with; 0: none of them. *which is its position. What
 * is left of the name before the dot is not empty: ".json" has no suffix. */
size_t suffix_length(const char *suffixes, xir_str path, size_t *which);

/* The file of the parameters next to that of a structure: the first that is there, or NULL, with *status if there is no
 * memory; or the one that is written, NULL without memory. `room` is the size with the zero byte. */
char *companion_find(const xir_allocator *alloc, const format *f, const char *path, size_t *room, xir_status *status);
char *companion_name(const xir_allocator *alloc, const format *f, const char *path, size_t *room);

/* Copies findings to `out` in their order, those of `from` on a text of this format with line and column: if they have
 * a byte, or a path that the format finds. XIR_OK or XIR_E_MEMORY. */
xir_status format_place_findings(xir_context *ctx, const format *f, xir_str text, xir_str file, const xir_diags *from,
                                 xir_diags *out);

#endif
