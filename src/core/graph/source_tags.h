/* Tags that readers of foreign formats give and passes act on, whatever the format: "source." stands before them. Files
 * written while ONNX was the only such format have "onnx." instead, which counts where the tag itself is missing. */
#ifndef CORE_SOURCE_TAGS_H
#define CORE_SOURCE_TAGS_H

#include "graph.h"

typedef enum source_tag {
    SOURCE_DIMS,        /* of a value: its dims as declared, a list of integers, names and nulls                */
    SOURCE_CAPTURES,    /* of an op: the names of its last inputs, which its subgraphs take from outside        */
    SOURCE_DUPLICATE,   /* of a value: true if another one has its name and is the one that uses of it mean     */
    SOURCE_INPUTS,      /* of an op: what the format calls its first inputs, a list of names and nulls              */
    SOURCE_TAG_COUNT
} source_tag;

/* The key that is written. */
xir_str source_tag_key(source_tag which);
/* Whether a key is the tag's, old or new. */
bool source_tag_is(source_tag which, xir_str key);
/* The tag's value among tags, which may be NULL; NULL: there is none. */
const xir_any *source_tag_find(const xir_map *tags, source_tag which);
/* Sets the tag of a value under its new key; the old one goes. `value` NULL removes both. */
xir_status source_tag_set(xir_value *v, source_tag which, const xir_any *value);

#endif
