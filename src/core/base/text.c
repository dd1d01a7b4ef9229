/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* See text.h. */
#include "text.h"
#include <stdio.h>

/* The size of a text whose end was cut off, without the bytes of an incomplete character. */
static size_t whole_characters(const char *text, size_t size) {
    size_t begin = size;
    while (begin > 0 && size - begin < 3 && ((unsigned char)text[begin - 1] & 0xC0) == 0x80) begin--;
    if (begin == 0) return size;
    unsigned char first = (unsigned char)text[begin - 1];
    size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC0 ? 2 : 1;
    return length > size - (begin - 1) ? begin - 1 : size;
}

xir_str text_vprint(char *out, size_t room, const char *format, va_list args) {
    int n = vsnprintf(out, room, format, args);
    size_t size = n < 0 ? 0 : (size_t)n < room ? (size_t)n : whole_characters(out, room - 1);
    out[size] = '\0';
    return (xir_str){ out, size };
}
