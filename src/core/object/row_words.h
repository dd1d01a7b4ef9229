/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The words of a row's text, "SAME, AXIS, axis": LAYOUT, NORMALISED and SHARES rows. */
#ifndef CORE_ROW_WORDS_H
#define CORE_ROW_WORDS_H

#include "object.h"

/* The arguments of "%.*s" for an xir_str. */
#define SHOWN(s) (int)(s).size, (s).data

/* Removes the first word from the text and returns it; empty at the end. */
xir_str row_word(xir_str *text);

/* The position of the input with a name; the number of inputs if the class has none. */
uint32_t row_input(const xir_class *cls, xir_str name);

/* Adds "class KEY: ROW: SENTENCE" and returns XIR_E_INVALID. `row` is the word that declares the row. */
xir_status row_refuse(const xir_class *cls, const char *row, xir_diags *why, const char *format, ...) XIR_PRINTF(4, 5);

#endif
