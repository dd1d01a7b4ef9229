/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Modules of TensorStack from a text, a line for each thing:
 *
 *     inputs 0
 *     outputs 2
 *     n <param> x - #dtype=5::10 #shape=5:2:1,4        a node: operator, name, inputs (- for none), parameters
 *     n <const> w - value=10:4:1,2.5,0,-1               a parameter: the number of the type, dims, elements
 *     n add y 0,1 dim=5::1 format='NCHW                 a scalar has no dims; a text begins with '
 *     n <const> p - value=10:1:1+5:2:3,4 none=          several tensors; none
 *     n * * 0 #op='relu                                 a node with these parameters alone
 *
 * Missing elements are 0. */
#ifndef SUPPORT_TSM_MAKE_H
#define SUPPORT_TSM_MAKE_H

#include <stddef.h>
#include <stdint.h>

enum { TSM_MADE_SIZE = 16384, TSM_MADE_ITEMS = 32 };

typedef struct tsm_made {
    uint8_t  bytes[TSM_MADE_SIZE];
    size_t   size;
    uint32_t inputs, outputs, graph;                     /* where their counts are                    */
    uint32_t nodes[TSM_MADE_ITEMS];                      /* where the count of parameters is          */
    uint32_t ends[TSM_MADE_ITEMS];                       /* where the count of inputs is              */
    uint32_t params[TSM_MADE_ITEMS][TSM_MADE_ITEMS];     /* where the length of the name is           */
    uint32_t fields[TSM_MADE_ITEMS][TSM_MADE_ITEMS];     /* where the count of tensors is             */
    uint32_t n_nodes;
} tsm_made;

/* A text that is malformed is a failure of the test. */
void tsm_make(tsm_made *out, const char *text);

static inline void tsm_set_word(tsm_made *f, size_t at, uint32_t v) {
    for (int i = 0; i < 4; i++) f->bytes[at + (size_t)i] = (uint8_t)(v >> 8 * i);
}

#endif
