/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Ops that sum constant weights times inputs for each output channel: convolutions, and products with a constant
 * matrix. A factor and an addend for each channel, before or after such an op, become part of its constants. New
 * constants are computed in double and rounded once. */
#ifndef PASSES_LINEAR_H
#define PASSES_LINEAR_H

#include "elements.h"
#include "graph.h"
#include "support/operands.h"

/* The weights are read as a row-major tensor with an input dim and an output dim. */
typedef struct linear {
    xir_op     *op;
    xir_value  *weights, *bias;       /* bias may be NULL */
    element_format form, bias_form;
    bool        transposed, matmul;
    int64_t     groups, count;        /* count: number of weights */
    int64_t     in_dim, in_step;      /* size and stride, in elements, of the two dims */
    int64_t     out_dim, out_step;
    int64_t     in_channels, out_channels;
} linear;

/* The maximum number of channels whose numbers a pass keeps on the stack. */
enum { FEW_CHANNELS = 32 };

/* Factor and addend of each channel. */
typedef struct channel_line { double factor, addend; } channel_line;

/* Reads an op; false if it is not such an op, or if its constants must not be changed. */
bool linear_of(xir_op *op, linear *l);

/* The dim of the data that the op reads, or of those that it makes, that counts channels; -1: there is none. */
int64_t linear_dim(const linear *l, const xir_type *data);

/* Returns true if every output reads all its weights: no input element is a zero of the padding. */
bool linear_reads_all(const linear *l);

/* Sets *holds to whether the weights, multiplied by the factors of their input channels, are finite, and for each
 * channel precise enough. XIR_E_MEMORY is the only failure. */
xir_status linear_holds(const linear *l, const channel_line *lines, bool *holds);

/* Operands that an op will have; NULL: as before. */
typedef struct linear_made { xir_value *weights, *bias; } linear_made;

/* Makes operands with which the op computes of x what it computed of line(x) or, if `after`, the line of what it
 * computed. There is a line for each channel that it reads or makes. The op is unchanged. */
xir_status linear_make(const linear *l, const channel_line *lines, bool after, linear_made *out);
/* Makes weights of an op with one group, for an input whose channels are in the order that they had before channel i
 * came from channel order[i]. The op is unchanged. */
xir_status linear_reorder(const linear *l, const int64_t *order, linear_made *out);
/* The change that gives the op the operands, and an input unless it is NULL. */
operand_change linear_change(xir_op *op, const linear_made *made, xir_value *input);

/* Returns true if the value is Params with exactly the bytes that its type takes, whose layout is not tiled. */
bool constant_is_plain(const xir_value *v, int64_t *count);

/* A writable copy of Params under their name; if others use them too, the name of the op is appended. */
xir_value *constant_copy(const xir_value *from, const xir_op *op);

#endif
