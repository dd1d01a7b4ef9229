/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The operation of tern.def, and the description of the Tern NPU. */
#ifndef TERN_H
#define TERN_H

#include <xir/plugin.h>

#define XIR_DEFS "tern.def"
#include <xir/declare.h>

#endif
