/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The items that every context registers, layer by layer: the library calls these functions in this order when it
 * makes a context (src/library). Each layer defines its own; none calls another's. */
#ifndef CORE_LIBRARY_H
#define CORE_LIBRARY_H

#include <xir/context.h>

xir_status types_register(xir_context *ctx);    /* classes of objects, and the first objects                   */
xir_status graph_register(xir_context *ctx);    /* what objects need to know about values                      */
xir_status ops_register(xir_context *ctx);      /* classes of operations                                       */
xir_status serialize_register(xir_context *ctx); /* rules for formats                                          */
xir_status exec_register(xir_context *ctx);     /* the executor's kernels, and the function that runs an op    */
xir_status passes_register(xir_context *ctx);   /* passes                                                      */
xir_status convert_register(xir_context *ctx);  /* the passes between dialects and XIR, and the dialects       */
xir_status targets_register(xir_context *ctx);  /* the rules of Buyi and Zhuge                                 */

#endif
