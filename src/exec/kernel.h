/* What a kernel sees of the op that it computes. The runner gives it inputs under the types that they have in the
 * network, and the types of outputs as far as inference knows them; when the kernel is done it takes the outputs as
 * arrays. */
#ifndef EXEC_KERNEL_H
#define EXEC_KERNEL_H

#include <xir/exec.h>
#include "array.h"
#include "normalised.h"

typedef struct kernel_input {
    const xir_array *array;    /* NULL: absent                                                  */
    const xir_type  *type;     /* its dims, the network's layout and element type               */
    double          *reals;    /* made on the first question                                    */
    int64_t         *i64s;
} kernel_input;

typedef enum output_state { OUTPUT_NONE, OUTPUT_REALS, OUTPUT_I64S, OUTPUT_ARRAY } output_state;

typedef struct kernel_output {
    const xir_type *type;      /* with unknown dims until the kernel gives them; NULL: nothing is known */
    bool            followed;  /* its element type is what inference says, not what the network says instead */
    output_state    state;
    double         *reals;
    int64_t        *i64s;
    xir_array      *array;
} kernel_output;

struct xir_kernel {
    const xir_op  *op;
    xir_context   *ctx;
    kernel_input  *inputs;
    kernel_output *outputs;
    size_t         n_inputs, n_outputs;
    op_numbers     numbers;        /* what its maps are read as, and its results are stored as */
    struct kernel_piece *pieces;   /* memory until it is done */
    budget        *within;         /* what it may take; NULL: all                                    */
    uint64_t       steps;          /* done since the last question whether the run is cancelled      */
    xir_diags     *why;
    xir_status     status;         /* the first failure that has a finding */
};

/* Runs the kernel of the op's class: makes arrays of all outputs, or fails with a finding. The rest of `at` is set. */
xir_status kernel_run(xir_kernel *at);
/* Makes arrays of the outputs as they are: those without elements need no kernel. */
xir_status kernel_store(xir_kernel *at);
/* Frees memory and what is left in the outputs. */
void       kernel_end(xir_kernel *at);

#endif
