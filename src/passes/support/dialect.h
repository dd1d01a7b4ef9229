/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The dialects that a context knows (xir/convert.h), for passes that meet ops of foreign formats. */
#ifndef PASSES_DIALECT_H
#define PASSES_DIALECT_H

#include <xir/convert.h>
#include "graph.h"

/* The dialect of an unregistered class, or NULL. Returns at once for registered classes. */
const xir_dialect_decl *dialect_of_class(const xir_class *cls);
/* Returns true if the class is of a dialect. A pass may be given a copy of the declaration that is registered. */
bool dialect_has_class(const xir_dialect_decl *dialect, const xir_class *cls);

#endif
