/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The operation of acme.def, and the description of the back end. */
#ifndef ACME_H
#define ACME_H

#include <xir/plugin.h>

#define XIR_DEFS "acme.def"
#include <xir/declare.h>

#endif
