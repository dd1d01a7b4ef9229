/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* See chars.h. */
#include "deepx/chars.h"

#define FOUR(c, bits)    [c] = (bits), [(c) + 1] = (bits), [(c) + 2] = (bits), [(c) + 3] = (bits)
#define SIXTEEN(c, bits) FOUR(c, bits), FOUR((c) + 4, bits), FOUR((c) + 8, bits), FOUR((c) + 12, bits)

enum {
    LETTER  = DEEPX_LETTER,
    CONTROL = DEEPX_NO_NAME,
    BRACKET = DEEPX_NO_NAME | DEEPX_ENDS | DEEPX_HOLDS,
};

const uint8_t deepx_chars[256] = {
    FOUR(0x00, CONTROL), FOUR(0x04, CONTROL), [0x08] = CONTROL, ['\t'] = CONTROL | DEEPX_TYPE, [0x0A] = CONTROL,
    [0x0B] = CONTROL, FOUR(0x0C, CONTROL), SIXTEEN(0x10, CONTROL), [0x7F] = CONTROL,
    [' '] = CONTROL | DEEPX_TYPE, ['<'] = DEEPX_NO_NAME | DEEPX_TYPE, ['>'] = DEEPX_NO_NAME | DEEPX_TYPE,
    ['|'] = DEEPX_NO_NAME | DEEPX_TYPE,
    ['('] = BRACKET, [')'] = BRACKET, ['['] = BRACKET, [']'] = BRACKET, ['{'] = BRACKET, ['}'] = BRACKET,
    ['"'] = BRACKET, ['\''] = BRACKET, [','] = DEEPX_NO_NAME | DEEPX_ENDS, ['-'] = DEEPX_ENDS,
    ['/'] = DEEPX_ENDS | DEEPX_NO_HOLE, [':'] = DEEPX_NO_HOLE,
    FOUR('0', DEEPX_DIGIT), FOUR('4', DEEPX_DIGIT), ['8'] = DEEPX_DIGIT, ['9'] = DEEPX_DIGIT,
    ['_'] = LETTER,
    SIXTEEN('a', LETTER), FOUR('q', LETTER), FOUR('u', LETTER), ['y'] = LETTER, ['z'] = LETTER,
    SIXTEEN('A', LETTER), FOUR('Q', LETTER), FOUR('U', LETTER), ['Y'] = LETTER, ['Z'] = LETTER,
    SIXTEEN(0x80, LETTER), SIXTEEN(0x90, LETTER), SIXTEEN(0xA0, LETTER), SIXTEEN(0xB0, LETTER),
    SIXTEEN(0xC0, LETTER), SIXTEEN(0xD0, LETTER), SIXTEEN(0xE0, LETTER), SIXTEEN(0xF0, LETTER),
};
