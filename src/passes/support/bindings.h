/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Bindings of open dims by name, as options of passes: "batch=4;length=8..512". */
#ifndef SUPPORT_BINDINGS_H
#define SUPPORT_BINDINGS_H

#include <xir/symbols.h>
#include "manager/pass.h"

/* Binds what a text option lists, NAME=N or NAME=A..B, separated by `separator`. A name may contain '=': the last one
 * counts. A name is a symbol of the network, or one that the file gives to open dims (the tag source.dims), which can
 * only get a number; all dims of the name are bound. A value without open dims loses that tag. Counts one change if
 * anything has changed, also in `*changed`. On failure the network is unchanged, unless memory ran out:
 *   XIR_E_SYNTAX        an item is not of this form
 *   XIR_E_UNKNOWN       no open dim has the name
 *   XIR_E_BOUNDS        a number or interval is empty, below 0, too large, or not within the interval of the symbol; or
 *                       a dim would be negative
 *   XIR_E_EXISTS        a name appears twice
 *   XIR_E_UNSUPPORTED   an interval for a name that is not a symbol */
xir_status bindings_apply(xir_pass *at, const char *option, char separator, bool *changed);
/* xir_network_bind; the finding names the pass and the option. */
xir_status bindings_bind(xir_pass *at, const char *option, const xir_symbol *symbols, size_t n);

#endif
