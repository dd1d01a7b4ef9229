/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Applies the options of to-xir to a network before the conversion. */
#ifndef CONVERT_OPTIONS_H
#define CONVERT_OPTIONS_H

#include "manager/pass.h"

/* The words for elements in `input-shape`. */
#define CONVERT_ELEMENT_WORDS "fp16 fp32 fp64 bf16 tf32 bool, i8 i64 and u8 of any width"

/* Applies the options `bind` and `input-shape`. *fixed: one of them is given. After a failure some dims may be set. */
xir_status convert_fix_inputs(xir_pass *at, bool *fixed);

#endif
