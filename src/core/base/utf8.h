/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* UTF-8, strictly as defined. */
#ifndef SERIALIZE_UTF8_H
#define SERIALIZE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The length of the well-formed UTF-8 character at `text`, which begins with a byte from 0x80 on; 0 if malformed. */
static inline size_t utf8_length(const char *text, const char *end) {
    const unsigned char *p = (const unsigned char *)text;
    size_t left = (size_t)(end - text), length;
    unsigned char least = 0x80, greatest = 0xBF;
    if (p[0] >= 0xC2 && p[0] <= 0xDF) length = 2;
    else if (p[0] >= 0xE0 && p[0] <= 0xEF) length = 3;
    else if (p[0] >= 0xF0 && p[0] <= 0xF4) length = 4;
    else return 0;
    if (p[0] == 0xE0) least = 0xA0;      /* no overlong forms    */
    if (p[0] == 0xED) greatest = 0x9F;   /* no surrogates        */
    if (p[0] == 0xF0) least = 0x90;
    if (p[0] == 0xF4) greatest = 0x8F;   /* not above U+10FFFF   */
    if (left < length || p[1] < least || p[1] > greatest) return 0;
    for (size_t i = 2; i < length; i++) {
        if (p[i] < 0x80 || p[i] > 0xBF) return 0;
    }
    return length;
}

/* The length of the byte order mark of UTF-8 that a text begins with; 0: there is none. */
static inline size_t utf8_mark(const char *text, size_t size) {
    return size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
}

/* The other encoding whose byte order mark a text begins with, "UTF-16" or "UTF-32"; NULL: there is none. */
static inline const char *utf8_other_mark(const char *text, size_t size) {
    if (size >= 4 && (memcmp(text, "\xFF\xFE\0\0", 4) == 0 || memcmp(text, "\0\0\xFE\xFF", 4) == 0)) return "UTF-32";
    return size >= 2 && (memcmp(text, "\xFF\xFE", 2) == 0 || memcmp(text, "\xFE\xFF", 2) == 0) ? "UTF-16" : NULL;
}

/* The number of bytes of well-formed UTF-8 at the beginning of a text. Most texts are ASCII. */
static inline size_t utf8_good(const char *text, size_t size) {
    const char *p = text, *end = size ? text + size : text;   /* no text may be NULL */
    while (p < end) {
        uint64_t eight = 0;
        const size_t n = (size_t)(end - p) < 8 ? (size_t)(end - p) : 8;
        memcpy(&eight, p, n);
        if (!(eight & UINT64_C(0x8080808080808080))) {
            p += n;
            continue;
        }
        while ((unsigned char)*p < 0x80) p++;
        const size_t length = utf8_length(p, end);
        if (!length) break;
        p += length;
    }
    return (size_t)(p - text);
}

/* Returns true if no byte is above 127. Short texts take a load or two. */
static inline bool utf8_is_ascii(const char *text, size_t size) {
    const uint64_t high = UINT64_C(0x8080808080808080);
    uint64_t bits = 0, some;
    if (size >= 8) {
        for (size_t i = 0; i + 8 <= size; i += 8) {
            memcpy(&some, text + i, 8);
            bits |= some;
        }
        memcpy(&some, text + size - 8, 8);
        return !((bits | some) & high);
    }
    if (size >= 4) {
        uint32_t first, last;
        memcpy(&first, text, 4);
        memcpy(&last, text + size - 4, 4);
        return !((first | last) & (uint32_t)high);
    }
    for (size_t i = 0; i < size; i++) bits |= (unsigned char)text[i];
    return !(bits & 0x80);
}

static inline bool utf8_is_text(const char *text, size_t size) {
    return utf8_is_ascii(text, size) || utf8_good(text, size) == size;
}

#endif
