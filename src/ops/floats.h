/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#ifndef OPS_FLOATS_H
#define OPS_FLOATS_H

#include "object.h"

/* Notes what the rules of a class of the library, which has just been registered, give for plain tensors of floats. */
void floats_of_class(const xir_class *cls);

#endif
