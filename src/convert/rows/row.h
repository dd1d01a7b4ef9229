/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Rows: their texts, read in both directions, and what they say about a class. Hooks call what is here, and what a node
 * has. */
#ifndef CONVERT_ROW_H
#define CONVERT_ROW_H

#include "node/node.h"

/* ---- the list --------------------------------------------------------------------------------------------------- */

/* A row of a table; all rows of a table have the size of the first. */
static inline const xir_convert_row *convert_row_at(const xir_convert_row *rows, size_t i) {
    return (const xir_convert_row *)(const void *)((const char *)rows + i * rows->size);
}
/* The members at the end of a row, which may be shorter than this library's. */
xir_convert_fn *convert_row_back(const xir_convert_row *row);
/* The list of classes that a row stands for on the way back. */
const char     *convert_row_classes(const xir_convert_row *row);
/* The row of an op type, by the type itself or another spelling of it; NULL if no row has it. */
const xir_convert_row *convert_row_of(xir_context *ctx, const xir_dialect_decl *dialect, xir_str key);
/* The dialect's row whose name is closest to an unknown key; NULL: none is close. */
const xir_convert_row *row_like(xir_context *ctx, const xir_dialect_decl *dialect, xir_str key);

/* classes.c: the facts about an op's class; about a foreign class by its key; and about an op, which may be of another
 * version than those of its network. NULL: out of memory. */
const convert_class *conversion_class(conversion *c, const xir_class *cls);
const convert_class *conversion_class_named(conversion *c, const char *key);
const convert_class *conversion_class_of(conversion *c, const xir_op *op);

/* ---- texts ------------------------------------------------------------------------------------------------------ */

/* The most sets of a row, and the bytes of a set's name with its end. */
enum { ROW_SETS = 32, ROW_NAME = 64 };

/* text.c: the texts of rows. Registering checks them, classes.c reads them once for a conversion, and a class has what
 * they say. Reads the next attribute of the list; false at the end, or if the text is malformed: then *text is not at
 * its end. */
typedef struct row_attribute {
    xir_str name;          /* "*": any other name                                   */
    xir_str kinds;         /* letters of the kinds that it may have                 */
    bool    needed;
    int64_t from, until;   /* versions that have it: from <= version < until */
} row_attribute;
bool row_next_attribute(const char **text, row_attribute *out);
/* The versions that have the op itself: from <= version < until. */
void row_versions(const char *attributes, int64_t *from, int64_t *until);
/* Reads a range like "1-3"; false if it is malformed. `most` is SIZE_MAX if there is no limit. */
bool row_range(const char *text, size_t *least, size_t *most);
/* The names in "2-3 input weight bias", and the next of them; false at the end, or if the text is malformed: then *text
 * is not at its end. */
const char *row_input_names(const char *inputs);
bool row_next_input(const char **text, row_input *out);
/* The file's word and XIR's, "0:MAX". */
typedef struct row_word { xir_str theirs, own; } row_word;
typedef struct row_set {
    xir_str field, attribute;   /* attribute is empty for a number or a word          */
    bool    is_item;            /* "stride[0]"                                        */
    size_t  item;
    bool    inverted;           /* "!bias"                                            */
    xir_str words;              /* "0:MAX,1:AVG": theirs and XIR's; empty: as it is  */
    xir_str word;               /* a word of XIR's: "'FLOOR'"                         */
    bool    has_number;
    double  number;
    /* by classes.c: both names with an end; the kinds of the attribute; the first set of the same attribute; `words` */
    const char     *name, *theirs;
    xir_str         kinds;
    size_t          first;
    const row_word *pairs;
    size_t          n_pairs;
} row_set;
bool row_next_set(const char **text, row_set *out);
/* Takes the next pair off a list of words; false at the end, or if it is malformed: then the list is not empty. */
bool row_next_word(xir_str *words, row_word *out);
/* The next class of a list; false at its end. `classes` begins as convert_row_classes. */
bool convert_next_class(const char **classes, char name[64]);

/* The attribute of a row by its name; NULL: the row does not have it. */
const row_attribute *row_attribute_named(const convert_class *cls, xir_str name);

/* ---- both ways -------------------------------------------------------------------------------------------------- */

/* Makes the op of the row's class and sets; `more` are set instead of the row's sets of the same names. */
bool row_run(xir_node *at);
bool row_run_with(xir_node *at, xir_sets more);

/* check_node.c: whether counts and attributes fit the row; adds findings. */
bool node_is_sound(xir_node *at);
/* For formats with integers of 32 bits: their files have no others, but ops that are converted may. */
bool node_ints_are_short(xir_node *at);

/* row_back.c: reads the node's candidate backward. */
bool row_run_back(xir_node *at);
/* Writes the sets of the row as attributes of the foreign op; sets of `more` win. */
bool row_becomes(xir_node *at, xir_values inputs, xir_sets more);
/* An input in the order that the row gives for its position; NULL if absent or after a failure. */
xir_value *row_back_input(xir_node *at, size_t i);
/* Gives the node the outputs of a foreign op, feature maps in the order that the node's outputs have. */
bool row_back_results(xir_node *at, xir_op *op);

/* An op of a class that was made on the way back. Most are like one of the latest: they share its attributes. In a
 * dialect of the library, what it was checked for holds for them, since rows and checks there see attributes and types
 * alone. */
enum { LIKE_SETS = 16, LIKE_ENDS = 8, LIKES = 8 };
typedef struct foreign_like {
    const xir_map *extra;             /* its attributes, if no Params are among them; NULL: none                  */
    uint8_t        place[LIKE_SETS];  /* in `extra`, of the entries as they were given                            */
    bool           made;              /* there is such an op                                                      */
    bool           sound;             /* it has passed the checks, and what follows is known                      */
    uint32_t       n_in, n_out;
    uintptr_t      ends[LIKE_ENDS];   /* of its inputs and outputs: infer_key_of                                  */
} foreign_like;

/* Attributes of a node without a finding. */
typedef struct passed_attributes {
    const xir_map *extra;             /* NULL: none                */
    int64_t        version;           /* in which they passed      */
    bool           strict;            /* with checking, or without */
} passed_attributes;

/* Of a class: the latest ops that were made on the way back and differ, and the latest attributes that passed. */
typedef struct foreign_likes {
    foreign_like      made[LIKES];
    passed_attributes passed[LIKES];
    uint32_t          next_made, next_passed;   /* the places that are overwritten next */
} foreign_likes;

/* foreign.c: the value that stands for v as an input of a foreign op. xir_node_make_foreign by class. */
xir_value *foreign_input(xir_node *at, xir_value *v);
/* Makes a foreign op with one output, of a type (NULL: no memory), or of elements and dims. NULL after a failure. */
xir_value *foreign_value(xir_node *at, const char *key, xir_values inputs, xir_sets sets, const xir_type *type);
xir_value *foreign_tensor(xir_node *at, const char *key, xir_values inputs, xir_sets sets, const xir_type *element,
                          const xir_ints *dims);
/* Makes the foreign op the main one of the node, and its outputs the node's. False after a failure, and if it is
 * NULL. */
bool       foreign_gives(xir_node *at, xir_op *op);
xir_op    *foreign_make(xir_node *at, const convert_class *cls, xir_values inputs, xir_sets sets,
                        const xir_type *const *types, size_t n);

#endif
