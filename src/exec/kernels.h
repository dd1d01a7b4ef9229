/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The kernels of the executor by family. Each file of kernels has one table of the classes it supports. A new kernel is
 * a function and a row; a new family is a file and a line in kernels.c. */
#ifndef EXEC_KERNELS_H
#define EXEC_KERNELS_H

#include <xir/exec.h>
#include <xir/ops.h>

typedef struct kernel_row {
    const xir_class_decl *(*cls)(void);
    xir_kernel_fn         *run;
    /* Returns true if the kernel computes an op, however large, on one thread. NULL: its loops decide (pool.h). */
    bool                 (*alone)(const xir_op *op);
} kernel_row;

/* The same for all ops: true. */
bool kernel_is_alone(const xir_op *op);

/* Ends with a row of NULL. */
typedef const kernel_row kernel_table[];

#endif
