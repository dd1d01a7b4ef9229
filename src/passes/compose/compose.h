/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Shared by the passes about composed classes. */
#ifndef PASSES_COMPOSE_H
#define PASSES_COMPOSE_H

#include "compose_walk.h"
#include "manager/pass.h"

/* The class that the option `class` names by its key, NULL if the option is not given. XIR_E_UNKNOWN, with a finding,
 * if there is no such class; XIR_E_INVALID if it is not composed. */
xir_status pass_composed_class(xir_pass *at, const xir_class **out);

#endif
