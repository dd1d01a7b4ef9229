/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* All operations: attribute struct, input struct and functions of each, made from ops/all.def. */
#ifndef XIR_OPS_H
#define XIR_OPS_H

#include <xir/network.h>

#define XIR_DEFS <xir/ops/all.def>
#define XIR_DECLARED XIR_API
#include <xir/declare.h>

#endif
