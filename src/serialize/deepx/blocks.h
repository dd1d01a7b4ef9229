/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The functions with a body that a network has: what their heads say, their lines, and how a call of one becomes its
 * lines. A block may be used if its lines write each of its return slots and none of its parameters, use what they or
 * the head have made, and if it does not call itself. */
#ifndef SERIALIZE_DEEPX_BLOCKS_H
#define SERIALIZE_DEEPX_BLOCKS_H

#include "deepx/deepx.h"

typedef struct deepx_formal { xir_str name, type; } deepx_formal;
typedef struct deepx_block_line { xir_str text; uint32_t calls; /* a block: its index + 1 */ } deepx_block_line;

typedef struct deepx_block {
    xir_str           name;
    deepx_formal     *formals;       /* parameters, then return slots                              */
    deepx_block_line *lines;
    size_t            n_params, n_formals, n_lines, formal_room, line_room;
    uint32_t          number;        /* in the tag of the network                                  */
    uint64_t          size;          /* how many calls take its place, first and last, with those of other blocks */
    bool              again;         /* a block before it has the name                             */
    xir_status        status;        /* XIR_OK: it may be used                                     */
    char              fault[200];    /* otherwise why not                                          */
} deepx_block;

typedef struct deepx_blocks {
    const xir_allocator *alloc;
    deepx_block         *list;
    size_t               n, room;
    text_table           names;      /* -> index in `list` */
} deepx_blocks;

/* "?1x3": dims of a shape. */
bool deepx_is_shape(xir_str text);
/* The kind of a slot of a line in a block: there a shape and an element type are values, too. */
deepx_slot_kind deepx_kind_in_block(const deepx_line *line, const deepx_slot *slot);
/* blocks.c: the blocks of a network's tag. False: out of memory. */
bool deepx_blocks_begin(deepx_blocks *b, const xir_network *net);
void deepx_blocks_end(deepx_blocks *b);
/* The block that an op calls; NULL: none. */
const deepx_block *deepx_block_of(const deepx_blocks *b, const xir_op *op);
/* Returns the number of calls that putting all blocks in place makes, or UINT64_MAX if it does not fit. */
uint64_t deepx_blocks_size(const deepx_blocks *b, const xir_network *net);
/* The most that this may be. */
uint64_t deepx_blocks_most(const xir_network *net);

/* ---- bind.c: a call and the head of its block ------------------------------------------------------------------- */

enum { DEEPX_MOST_NAMED_DIMS = 128 };

/* The content of a slot of a call: a text, or values, which `list` makes a list. */
typedef struct deepx_actual { xir_str text; xir_value **values; size_t n; bool list; } deepx_actual;
typedef struct deepx_binding {
    deepx_actual *actuals;                        /* one for each formal: of parameters, then of return slots     */
    size_t        n_actuals, n_params;
    xir_str       dims[DEEPX_MOST_NAMED_DIMS];    /* "1" of "?1"                                                   */
    int64_t       sizes[DEEPX_MOST_NAMED_DIMS];
    size_t        n_dims;
    size_t        slot;                           /* the formal that a fault is about; SIZE_MAX: the call          */
    char          fault[240];
} deepx_binding;

/* Takes the slots of a call and binds the dims of the head: the same name means the same number. `scratch` holds what
 * is taken. XIR_OK, XIR_E_MEMORY, or the fault. */
xir_status deepx_bind(const xir_op *op, const deepx_block *block, arena *scratch, deepx_binding *out);
/* The number of a dim "3" or "?1"; false if it is not known. */
bool deepx_dim_size(const deepx_binding *b, xir_str dim, int64_t *out);
/* The type of a formal that is a tensor whose dims are all known; NULL if one is not, or if memory runs out. */
const xir_type *deepx_formal_type(xir_network *net, const deepx_binding *b, xir_str type);
/* A tensor type of the network with a layout of `*`; NULL without an element or dims, or if memory runs out. */
const xir_type *deepx_tensor_type(xir_network *net, const xir_type *element, const int64_t *dims, size_t rank);
/* The number of the element "f32"; SIZE_MAX if DeepX has none. */
size_t deepx_element_word(xir_str word);

#endif
