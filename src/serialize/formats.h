/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Shared by loading and saving: the formats of a context, how to find one, and file names. */
#ifndef SERIALIZE_FORMATS_H
#define SERIALIZE_FORMATS_H

#include "format.h"

/* The context itself; for NULL one that has all formats of the library, the usual allocator and nothing else. */
xir_context *formats_of(xir_context *ctx);

/* The formats of a context by position: the library's, then the registered ones. False past the end. */
bool format_at(xir_context *ctx, size_t i, format *out);
/* By name; false with a finding. */
bool format_named(xir_context *ctx, const char *format_name, format *out, xir_diags *why);
/* By content, then by file name, as xir_probe_grade says. False: neither identifies a format. */
bool format_detect(xir_context *ctx, const void *head, size_t size, uint64_t total, xir_str name, format *out);

/* Returns true if a file of the format may begin with these bytes, if more follow; otherwise false with a finding. */
bool format_may_begin(const format *f, const void *head, size_t size, xir_str name, xir_diags *why);

/* "json, imodel, fb", for messages: the formats that can be read, or written. */
typedef struct format_list { char text[300]; } format_list;
format_list format_names(xir_context *ctx, bool written);

/* The format of a declaration (declared.c). */
format format_declared(const xir_format_decl *decl);

/* The length of the longest suffix that a file name ends with; 0: none of them. *which is its position. The name before
 * the dot must not be empty: ".json" has no suffix. */
size_t suffix_length(const char *suffixes, xir_str path, size_t *which);

/* Finishes the save of two files that ended before it had replaced both, if there is one of this structure: before
 * another save over it. `params_path` is the parameter file that the new save names, or NULL. (unfinished.c) */
xir_status unfinished_check(xir_context *ctx, const char *path, xir_diags *why);   /* xir_save_check, of a context */
xir_status unfinished_end(xir_context *ctx, const char *path, const char *params_path, bool *finished, xir_diags *why);

/* *lacks: some Params of the network lack bytes that they need. *needs_file: loading looks for the parameter file of
 * the structure, since it states that the file has bytes, or does not state that it has none and a Params is without,
 * or the format makes Params from the file. XIR_E_MEMORY, with a finding. */
xir_status companion_is_needed(const format *f, const xir_network *net, bool *lacks, bool *needs_file, xir_diags *why);
/* Compares the sizes of the parameters with what a file of the format holds, without reading them: XIR_OK, or
 * XIR_E_LIMIT. `by_type`: Params without bytes count as their types say, unless they may stay without. */
xir_status format_check_sizes(const format *f, const xir_network *net, bool by_type, const char *path, xir_diags *why);
/* The parameter file next to a structure file: the first that exists, or NULL, with *status if memory ran out; or the
 * one to be written, NULL if memory ran out. `room` is the size with the terminating zero. */
char *companion_find(const xir_allocator *alloc, const format *f, const char *path, size_t *room, xir_status *status);
char *companion_name(const xir_allocator *alloc, const format *f, const char *path, size_t *room);

/* Copies findings to `out` in order. Findings in `from` on a text of this format get line and column if they have a
 * byte, or a path that the format finds. XIR_OK or XIR_E_MEMORY. */
xir_status format_place_findings(xir_context *ctx, const format *f, xir_str text, xir_str file, const xir_diags *from,
                                 xir_diags *out);

#endif
