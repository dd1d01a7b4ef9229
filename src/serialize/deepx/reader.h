/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Shared by the files that make a network of a text: read.c has the whole text, call.c a call, attributes.c what a call
 * has besides tensors. */
#ifndef SERIALIZE_DEEPX_READER_H
#define SERIALIZE_DEEPX_READER_H

#include "deepx/pattern.h"

/* A name that was used before it was made. */
typedef struct deepx_missing { xir_str name; size_t element; } deepx_missing;

/* The effect of a function on tensors besides writing them. */
typedef enum deepx_verb { VERB_NONE, VERB_NEW, VERB_LOAD, VERB_RENAME, VERB_RESHAPE } deepx_verb;
deepx_verb deepx_verb_of(xir_str function);

/* A slot as a number: its type, what it is, and how many tensors a list has. */
typedef uint64_t slot_code;
enum { CODE_TYPED = 24, CODE_KIND = 25, CODE_ITEMS = 32, MEMO_SLOTS = DEEPX_PATTERN_SLOTS };
static inline deepx_slot_kind deepx_kind_in(slot_code code) { return (deepx_slot_kind)(code >> CODE_KIND & 3); }

/* Calls of a function usually have the same types, and often the same texts: both are kept once. `made` is the type of
 * the tensor that newtensor makes of these texts; NULL: not known. */
typedef struct types_memo { slot_code codes[MEMO_SLOTS]; size_t n_args, n_rets; xir_any text; } types_memo;
typedef struct texts_memo {
    const xir_class *cls;
    const char      *types;
    const xir_map   *extra;
    const xir_type  *made;
} texts_memo;
enum { TYPE_MEMOS = 64, TEXTS_MEMOS = 512 };

/* The common part of the calls of one pattern. */
typedef struct call_plan {
    bool        known;               /* a call of the pattern was read                              */
    bool        printed;             /* the op is written as the line stands                        */
    deepx_verb  verb;
    size_t      type;                /* the number of the type of the node                          */
    slot_code   codes[MEMO_SLOTS];   /* without the numbers of tensors in lists                     */
    xir_any     types;               /* the text of the types; none if they have lists of tensors   */
    texts_memo *texts;               /* where those of the last call were; NULL: too many slots     */
} call_plan;

typedef struct deepx_reader {
    dialect        d;
    deepx_place    w;
    xir_str        text;
    const char    *after;            /* the end of the last call                                 */
    dialect_list   missing;          /* deepx_missing: names that were used before they were made */
    dialect_list   defs;             /* xir_any: texts                                           */
    dialect_list   former;           /* xir_value *: of the outputs of the op                    */
    dialect_list   codes;            /* slot_code: of the slots of the line                      */
    dialect_list   plans;            /* call_plan: of the patterns                               */
    dialect_list   versions;         /* const xir_map *: the tags of values, by their version    */
    call_plan      plan;             /* of the line, if it has no pattern                        */
    bool           renames;          /* the call is renametensor as it is defined                */
    buffer         types;            /* of the op                                                */
    deepx_printer  printer;
    uint64_t       n_calls;
    uint64_t       sum;              /* of the definitions                                       */
    bool           has_spelling;
    size_t         fresh;            /* the element type that the file's newtensor gives, + 1    */
    xir_str        meta_key, version_key;   /* in the arena of the network; empty at first       */
    types_memo     type_memos[TYPE_MEMOS];
    texts_memo     texts_memos[TEXTS_MEMOS];
} deepx_reader;

/* call.c: appends the op of a call. */
bool deepx_read_call(deepx_reader *r, xir_str whole, const deepx_line *line);

/* attributes.c: gives the node its attributes, those of an earlier call with the same types and texts if there is one.
 * The codes of its slots are known; plan->texts is set. */
bool deepx_add_attributes(deepx_reader *r, const deepx_line *line, call_plan *plan);

#endif
