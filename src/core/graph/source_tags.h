/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Tags that readers of foreign formats set and passes use, for every format, with the prefix "source.". Files from the
 * time when ONNX was the only such format have "onnx." instead, which counts if the new tag is missing. */
#ifndef CORE_SOURCE_TAGS_H
#define CORE_SOURCE_TAGS_H

#include "graph.h"

typedef enum source_tag {
    SOURCE_DIMS,        /* of a value: its declared dims, a list of integers, names and nulls                   */
    SOURCE_CAPTURES,    /* of an op: the names of its last inputs, which its subgraphs capture from outside     */
    SOURCE_DUPLICATE,   /* of a value: true if another value has its name and gets the uses of that name        */
    SOURCE_INPUTS,      /* of an op: the format's names for its first inputs, a list of names and nulls             */
    SOURCE_RANDOM_INPUTS,   /* of a network that is converted: what the format draws are inputs               */
    SOURCE_INFERENCE,   /* of a network that is converted: what only training does is left out              */
    SOURCE_REPEATED,    /* of an op, an input or Params: attributes that its node has before; the first counts  */
    SOURCE_VERSION,     /* of an op: the version of its operator set, if it is not the network's              */
    SOURCE_TAG_COUNT
} source_tag;

/* The key that is written. */
xir_str source_tag_key(source_tag which);
/* Returns true if a key is the tag's, old or new. */
bool source_tag_is(source_tag which, xir_str key);
/* The value of the tag in `tags`, which may be NULL; NULL if there is none. */
const xir_any *source_tag_find(const xir_map *tags, source_tag which);
/* Returns true if a value has the tag SOURCE_DUPLICATE. */
bool source_is_duplicate(const xir_value *v);
/* Sets the tag of a value under its new key and removes the old one. A NULL `value` removes both. */
xir_status source_tag_set(xir_value *v, source_tag which, const xir_any *value);

#endif
