/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A kernel's view of the op that it computes. The runner sets the inputs under their declared types, and the output
 * types as far as inference knows them. When the kernel is done, the runner takes the outputs as arrays. */
#ifndef EXEC_KERNEL_H
#define EXEC_KERNEL_H

#include <xir/exec.h>
#include "array.h"
#include "elements.h"
#include "normalised.h"

typedef struct kernel_input {
    const xir_array *array;    /* NULL if the input is absent                                   */
    const xir_type  *type;     /* the dims of the array, the declared layout and elements       */
    double          *reals;    /* converted on first use                                        */
    int64_t         *i64s;
    bool             opened;   /* `elements` is set                                             */
    tensor_elements  elements;
    xir_array        lent;     /* `array` of Params, without a reference to their bytes         */
} kernel_input;

typedef enum output_state { OUTPUT_NONE, OUTPUT_REALS, OUTPUT_I64S, OUTPUT_ARRAY } output_state;

typedef struct kernel_output {
    const xir_type *type;      /* may have unknown dims until the kernel sets them; NULL: unknown */
    bool            followed;  /* the element type is the inferred one, not another declared one */
    output_state    state;
    double         *reals;
    int64_t        *i64s;
    xir_array      *array;
    bool            opened;    /* `elements` is set                                            */
    tensor_elements elements;
} kernel_output;

struct xir_kernel {
    const xir_op  *op;
    xir_context   *ctx;
    kernel_input  *inputs;
    kernel_output *outputs;
    size_t         n_inputs, n_outputs;
    op_numbers     numbers;        /* the number format of its maps and results */
    bool           sums;           /* it adds products of stored numbers: see sums.c                 */
    struct kernel_piece *pieces;   /* memory that is freed at the end */
    budget        *within;         /* the work that it may do; NULL: unlimited                       */
    rooms         *rooms;          /* memory that the run uses again; NULL: none                     */
    const xir_array *into;         /* in whose bytes output 0 is made if it has as many; NULL: new   */
    uint64_t       steps;          /* steps since the last check for cancellation                    */
    xir_diags     *why;
    xir_status     status;         /* the first failure; it has a finding */
};

enum { STEPS_A_QUESTION = 1024 };   /* whether the run is cancelled: see xir_kernel_stops */

/* The place of an op, "/ops/3", and of an op of a body, "/ops/3/body/2". */
void op_path(const xir_op *op, char *out, size_t size);

/* Writes the place of an input or an output within an op, "inputs/3", and returns `out`. `list` has at most 8
 * letters. */
enum { PORT_PATH = 32 };
const char *port_path(char out[PORT_PATH], const char *list, size_t i);

/* Returns true if the result of the op is the sum of products of its quantised operands, in their scale: sums.c. */
bool kernel_sums(const xir_kernel *at);
/* The same as xir_kernel_alloc and the xir_kernel_..._out functions, but not cleared: the kernel writes all of it. */
void    *kernel_room(xir_kernel *at, size_t n, size_t size);
double  *kernel_all_reals(xir_kernel *at, size_t output);
int64_t *kernel_all_i64s(xir_kernel *at, size_t output);
void    *kernel_all_bytes(xir_kernel *at, size_t output);

/* An input or output whose elements can be read or stored in the numbers of the op, a block at a time (blocks.h). An
 * output has an array then. NULL after a failure, which has a finding. */
const kernel_input *kernel_open_input(xir_kernel *at, size_t i);
kernel_output      *kernel_open_output(xir_kernel *at, size_t i);
/* Finds the number of constant factors of an output, and of elements in order that each is for. False after a
 * failure. */
bool                kernel_cut(xir_kernel *at, size_t output, size_t *count, size_t *inner);

/* Runs the kernel of the op's class: creates arrays of all outputs, or fails with a finding. The other members of `at`
 * are set by the caller. */
xir_status kernel_run(xir_kernel *at);
/* Creates arrays of the outputs as they are, for outputs without elements, which need no kernel. */
xir_status kernel_store(xir_kernel *at);
/* Frees the memory, and arrays that are still in the outputs. */
void       kernel_end(xir_kernel *at);

#endif
