/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The words of a row's text, and the finding for a text that is refused. */
#include "row_words.h"
#include <stdarg.h>
#include <stdio.h>

xir_str row_word(xir_str *text) {
    size_t i = 0, n = 0;
    while (i < text->size && (text->data[i] == ' ' || text->data[i] == ',')) i++;
    while (i + n < text->size && text->data[i + n] != ' ' && text->data[i + n] != ',') n++;
    xir_str word = { text->data + i, n };
    *text = (xir_str){ text->data + i + n, text->size - i - n };
    return word;
}

uint32_t row_input(const xir_class *cls, xir_str name) {
    uint32_t i = 0;
    while (i < cls->more->n_inputs && !xir_str_equal(cls->more->inputs[i].name, name)) i++;
    return i;
}

xir_status row_refuse(const xir_class *cls, const char *row, xir_diags *why, const char *format, ...) {
    char sentence[256];
    va_list list;
    va_start(list, format);
    vsnprintf(sentence, sizeof sentence, format, list);
    va_end(list);
    return diag_fail(why, XIR_E_INVALID, XIR_STR(""), "class %.*s: %s: %s", SHOWN(cls->key), row, sentence);
}
