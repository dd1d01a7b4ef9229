/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Declarations for the files of validation. Attributes and types that ops share are checked once: two small memos
 * remember what is valid. */
#ifndef VERBS_VALIDATE_H
#define VERBS_VALIDATE_H

#include "graph.h"
#include "legal.h"

/* The ids met so far: one bit each if ids are dense, as they are in files; otherwise the tables are used. */
typedef struct id_set {
    uint64_t *bits;
    uint64_t  room;    /* ids below this have a bit */
    int64_t   highest;
} id_set;

typedef struct checker {
    const xir_network *net;
    object_pool        pool;            /* what rules make: a validated network may be read by others  */
    size_t             memo;            /* items of the next two, a power of two                       */
    const void       **good;            /* attributes, types and their parts without faults of their own */
    /* questions to which a class's own rule has answered XIR_OK; NULL: not remembered */
    infer_memo        *ruled;
    rules_memo        *rules;           /* what is known of classes; may be NULL                       */
    const xir_target  *asked;           /* the target of the op before                                 */
    bool               asks;            /* its rules are asked                                         */
    id_set             op_ids, value_ids;
} checker;

static inline void keep_first(xir_status *first, xir_status status) {
    if (!*first) *first = status;
}

/* A place under a path: "path/inputs/1". */
typedef struct place { char text[160]; } place;
xir_str place_under(place *p, xir_str path, const char *format, size_t i);

/* A value, for a sentence: its id, and its name if it has one. */
typedef struct value_words { char text[120]; } value_words;
value_words value_called(const xir_value *v);

/* Returns true for an op of a dialect: it is unknown how many inputs it needs, and which of them. */
bool class_is_foreign(const xir_class *cls);

/* Checks an op without its ids and its position. `why` NULL: nothing is said, and `path` is not used. */
xir_status checker_op(checker *c, const xir_op *op, xir_str path, xir_diags *why);

#endif
