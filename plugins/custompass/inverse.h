/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The pass `inverse`, which a plug-in (custompass.c) or a program can register. */
#ifndef CUSTOMPASS_INVERSE_H
#define CUSTOMPASS_INVERSE_H

#include <xir/pass.h>

extern const xir_pass_decl inverse_pass;

#endif
