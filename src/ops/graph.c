/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The inputs and outputs of a network. The program sets the types of an Input's outputs. */
#include "rules.h"

xir_status output_infer(xir_infer *at) {
    (void)at;
    return XIR_OK;   // an Output has no outputs
}
