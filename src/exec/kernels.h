/* The kernels of the executor by family. Each file of kernels has one table of the classes it supports. A new kernel is
 * a function and a row; a new family is a file and a line in kernels.c. */
#ifndef EXEC_KERNELS_H
#define EXEC_KERNELS_H

#include <xir/exec.h>
#include <xir/ops.h>

typedef struct kernel_row {
    const xir_class_decl *(*cls)(void);
    xir_kernel_fn         *run;
} kernel_row;

/* Ends with a row of NULL. */
typedef const kernel_row kernel_table[];

#endif
