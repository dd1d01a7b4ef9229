/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Declarations for the parts of the writer: the nodes of the file, where bytes go, the first failure. */
#ifndef SERIALIZE_TSM_WRITE_H
#define SERIALIZE_TSM_WRITE_H

#include "tsm/tsm.h"

enum { TSM_FLUSH = 64 << 10 };

/* A node of the file: an op, or a value that is Params or an input. */
typedef struct tsm_out_node {
    const xir_op    *op;       /* NULL: a value */
    const xir_value *value;
} tsm_out_node;

/* The destination of bytes: the caller, perhaps scrambled; or they are counted. */
typedef struct tsm_sink {
    bool     counts, sums, scrambles;
    uint64_t size, sum;         /* of what was counted                        */
    uint64_t left;              /* scrambled: bytes in whole blocks that are still to come */
    uint64_t at;
} tsm_sink;

typedef struct tsm_writer {
    xir_network          *net;
    const format_writing *how;
    const xir_allocator  *alloc;
    arena                 scratch;
    tsm_out_node         *nodes;     /* in the usual order                                  */
    size_t                n, room;
    pointer_table         numbers;   /* of values: places in `nodes`                        */
    uint32_t             *inputs;    /* of all nodes: numbers in the file, found in the dry walk */
    size_t                n_inputs, input_room, next_input;
    text_table            names;     /* that are taken                                      */
    text_table            stems;     /* of made names: the number to try next               */
    uint32_t             *number_of, *node_at;   /* of a place: its number in the file; and back */
    xir_str              *made;      /* of a place: a name that was made; size 0: its own   */
    const xir_op         *input, *output;
    buffer                out;
    xir_status            status;
    char                  fault[400];   /* empty: out of memory */
    bool                  stopped, reported;   /* reported: there is a finding */
    tsm_sink              sink;
} tsm_writer;

/* The first failure is kept. They return false. */
bool tsm_refuse(tsm_writer *w, xir_status status, const char *sentence, ...) XIR_PRINTF(3, 4);
bool tsm_no_memory(tsm_writer *w);

/* write_nodes.c: lists the nodes, numbers and names them. */
bool           tsm_list_nodes(tsm_writer *w);
xir_str        tsm_name_of(const tsm_writer *w, size_t place);
/* The operator that an op is, without "tsm::"; empty for another class. */
xir_str        tsm_operator_of(const xir_op *op);
/* Returns a property of a file that the usual writer chooses otherwise; NULL if nothing of this kind is kept. */
const xir_any *tsm_kept(const tsm_out_node *n, const char *key, xir_any_kind kind);

/* write_node.c: one node, and the numbers of inputs. `dry`: everything is checked, and parameters are not written.
 * Every walk asks for the inputs of the same ops in the same order. */
bool tsm_put_node(tsm_writer *w, size_t place, bool dry);
bool tsm_put_inputs(tsm_writer *w, const xir_op *op, bool dry);

/* write_sink.c: passes bytes on; the buffer, if it has at least so many; elements, large ones where they lie. */
void tsm_put_out(tsm_writer *w, const void *data, size_t size);
void tsm_flush(tsm_writer *w, size_t least);
void tsm_put_data(tsm_writer *w, const void *data, size_t size);

#endif
