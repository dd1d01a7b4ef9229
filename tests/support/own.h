/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The classes of own.def and wide.def, as a program that has its own ops declares them. */
#ifndef SUPPORT_OWN_H
#define SUPPORT_OWN_H

#include <xir/xir.h>

#define XIR_DEFS "support/own.def"
#include <xir/declare.h>
#define XIR_DEFS "support/wide.def"
#include <xir/declare.h>

#endif
