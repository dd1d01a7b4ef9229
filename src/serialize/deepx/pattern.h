/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Lines that are alike. A trace repeats few lines, each time with other names, values and times:
 *
 *     mulscalar (tensor<float32>:t1, var<float32>:2) -> (tensor<float32>:t1) // author=miaobyte  created_at=17447.07
 *
 * A pattern is what such lines have in common: texts that stay, and holes between them. A line that fits a pattern is
 * compared with it, which takes a fifth of the time that the grammar takes. The result is the same: only a line without
 * findings, all of whose slots have a type of one category, becomes a pattern, and a hole takes only texts of which the
 * grammar would not say anything else. */
#ifndef SERIALIZE_DEEPX_PATTERN_H
#define SERIALIZE_DEEPX_PATTERN_H

#include "deepx/deepx.h"

enum { DEEPX_PATTERN_SLOTS = 8, DEEPX_PATTERN_HOLES = 16, DEEPX_PATTERN_TEXT = 224, DEEPX_PATTERN_HEADS = 64 };

typedef struct deepx_hole { uint8_t before /* the size of the text that stays before it */, kind; } deepx_hole;

typedef struct deepx_pattern {
    uint64_t   begin;                           /* its first bytes                                        */
    size_t     next;                            /* the next one in the list that begins with the same head */
    uint8_t    n_holes, n_args, n_rets, name;   /* `name`: its size                                       */
    uint8_t    last;                            /* the size of the text after the last hole               */
    uint8_t    to_meta;                         /* from the last slot to the metadata; 0: there is none   */
    bool       parens;
    deepx_hole holes[DEEPX_PATTERN_HOLES];      /* those of the slots come first                          */
    deepx_slot slots[DEEPX_PATTERN_SLOTS];      /* of the last line that fits                             */
    char       text[DEEPX_PATTERN_TEXT];        /* what stays                                             */
} deepx_pattern;

/* A zeroed one with an allocator is empty. */
typedef struct deepx_patterns {
    const xir_allocator *alloc;
    deepx_pattern       *all;
    size_t               n, room;
    size_t               heads[DEEPX_PATTERN_HEADS];   /* the number of the first pattern of a list; 0: none */
    uint64_t             hits, misses;                 /* lines that fit a pattern, or only begin like one   */
} deepx_patterns;
void deepx_patterns_free(deepx_patterns *p);

/* Reads a line that fits a pattern; false if it fits none. The slots are those of the line until the next call. */
bool deepx_read_alike(deepx_patterns *p, xir_str text, deepx_line *out);
/* Makes a pattern of a line that was read without findings, if it can be one, and sets its number. False if out of
 * memory. */
bool deepx_remember_line(deepx_patterns *p, xir_str text, deepx_line *line);

#endif
