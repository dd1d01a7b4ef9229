/* What loading and saving share: which formats there are, how one is found, and names of files. */
#ifndef SERIALIZE_FORMATS_H
#define SERIALIZE_FORMATS_H

#include "format.h"

enum { FORMAT_HEAD = 256 };

/* By its word; NULL with a finding. */
const format *format_named(const char *word, xir_diags *why);
/* By the first bytes; NULL: they say nothing. */
const format *format_of_head(const void *head, size_t size);
/* By the suffix of a file's name; NULL: it says nothing. */
const format *format_of_name(xir_str name);

/* "json, imodel, fb", for sentences. */
typedef struct format_list { char text[200]; } format_list;
format_list format_words(void);

/* The suffix of the last name of a path, without its dot; empty if it has none. ".json" has none. */
xir_str path_suffix(xir_str path);
/* "X.raw" for "X.json" and "raw"; also for "X". Size with the zero byte in *room; NULL without memory. */
char   *path_beside(const xir_allocator *alloc, const char *path, const char *suffix, size_t *room);

#endif
