/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Texts in sentences, and sentences from formats. */
#ifndef CORE_TEXT_H
#define CORE_TEXT_H

#include <stdarg.h>
#include <xir/base.h>

/* ---- in sentences ------------------------------------------------------------------------------------------ */

/* Returns how many bytes of a text fit into `most` without splitting a UTF-8 character. */
static inline int text_clip(xir_str text, size_t most) {
    size_t n = text.size;
    if (n > most) {
        n = most;
        while (n > 0 && ((unsigned char)text.data[n] & 0xC0) == 0x80) n--;
    }
    return (int)n;
}

/* The two arguments of a "%.*s". Texts come from files, so a sentence contains only so many bytes of each. `s` is
 * evaluated several times. */
#define CLIP_TO(s, most) text_clip((s), (most)), (s).data ? (s).data : ""
#define CLIP(s)          CLIP_TO(s, 60)
#define WHOLE(s) \
    (int)(s).size, (s).data ? (s).data : ""   /* for checked texts: keys, names of attributes */

/* ---- from formats ------------------------------------------------------------------------------------------ */

/* Room for the sentence of a finding with its terminating zero; longer sentences are cut. */
enum { SENTENCE_ROOM = 1024 };

/* Prints into `out`, terminated by a zero. A text that does not fit is cut before a character. Returns the text. */
xir_str text_vprint(char *out, size_t room, const char *format, va_list args) XIR_PRINTF(3, 0);

#endif
