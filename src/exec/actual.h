/* The types of one run: what an op computes has the type that inference gives for the types of its actual inputs. So
 * dims that a network leaves open are known, and kernels can rely on what the class's check demands, whatever a file
 * says. */
#ifndef EXEC_ACTUAL_H
#define EXEC_ACTUAL_H

#include "kernel.h"

/* A finding about an op; returns `code`. */
xir_status op_fail(const xir_op *op, xir_status code, xir_diags *why, const char *where, const char *text);

typedef struct sentence { char text[460]; } sentence;

/* The type of an array in place of a value: the value's, with the array's dims. Otherwise a status, and a sentence
 * that says why. */
xir_status agree(xir_context *ctx, const xir_type *declared, const xir_type *actual, const xir_type **out,
                 sentence *why);

/* Gives the outputs of a kernel, whose inputs are there, their types: what inference says, with the elements that
 * the network says. Dims that inference does not know are unknown, whatever the network says: the kernel gives them.
 * Without inference they are as the network says. */
xir_status actual_types(xir_kernel *at);

/* How much the op computes for these types; XIR_E_BOUNDS: its kernel alone knows. */
xir_status actual_work(xir_kernel *at, xir_work *out);

/* Computes an op of Params alone within a budget: what passes ask for. */
run_op_fn exec_constant;

#endif
