/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The types of one run. The outputs of an op have the types that inference gives for the actual inputs. So dims that a
 * network leaves open are known during a run, and a kernel can rely on the check of its class for any file. */
#ifndef EXEC_ACTUAL_H
#define EXEC_ACTUAL_H

#include "kernel.h"

/* Adds a finding about an op and returns `code`. */
xir_status op_fail(const xir_op *op, xir_status code, xir_diags *why, const char *where, const char *text);

/* Adds a finding about the number of arrays, and returns XIR_E_BOUNDS. */
xir_status count_fail(xir_diags *why, const char *what, size_t expected, size_t found);

typedef struct sentence { char text[460]; } sentence;

/* The type of an array that stands for a value: the declared type with the dims of the array. On failure returns a
 * status and writes the reason to `why`. */
xir_status agree(xir_context *ctx, const xir_type *declared, const xir_type *actual, const xir_type **out,
                 sentence *why);

/* Sets the output types of a kernel whose inputs are set: the inferred types with the declared elements. Dims that
 * inference does not know are unknown, whatever the network declares; the kernel sets them. Without inference the
 * declared types are used. */
xir_status actual_types(xir_kernel *at);

/* Finds the work of the op for these types. XIR_E_BOUNDS: only its kernel can know. */
xir_status actual_work(xir_kernel *at, xir_work *out);

/* Runs an op over arrays, NULL for absent ones and for Params that are to be looked up. `outputs` is all NULL. */
xir_status exec_op(const xir_op *op, const xir_array *const *inputs, xir_array **outputs, budget *within,
                   xir_diags *why);

/* The kernel of xir::Call, which runs the ops of its body through exec_op: each of them is charged and has numbers of
 * its own, but not the call. (kernel_call.c) */
xir_status kernel_call(xir_kernel *at);

/* Runs ops, from an Input to an Output, over arrays for the outputs of the Input, and makes what the Output reads the
 * outputs of the kernel. The ops have been checked as a body (body_values.h). */
xir_status kernel_run_ops(xir_kernel *at, xir_ops ops, const xir_array *const *given);

/* The kernel of composed classes that have no other: runs their parts. (kernel_composed.c) */
xir_status kernel_composed(xir_kernel *at);
/* Returns true if the class of this kernel can run: all parts can. True for other classes. */
bool composed_can_run(const xir_class *cls);
/* Returns true if an op runs others through exec_op, which are charged and have numbers of their own. */
static inline bool op_runs_others(const xir_op *op) {
    xir_kernel_fn *kernel = class_kernel(op->cls);
    return kernel == kernel_call || kernel == kernel_composed;
}

/* Computes an op whose inputs are all Params, within a budget. Passes call this. */
run_op_fn exec_constant;

#endif
