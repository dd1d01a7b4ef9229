/* Texts in sentences, and sentences from formats. */
#ifndef CORE_TEXT_H
#define CORE_TEXT_H

#include <stdarg.h>
#include <xir/base.h>

/* ---- in sentences ------------------------------------------------------------------------------------------ */

/* How many bytes of a text fit into `most`, without cutting a character of UTF-8 in two. */
static inline int text_clip(xir_str text, size_t most) {
    size_t n = text.size;
    if (n > most) {
        n = most;
        while (n > 0 && ((unsigned char)text.data[n] & 0xC0) == 0x80) n--;
    }
    return (int)n;
}

/* The two arguments of a "%.*s": texts come from files, so a sentence has only so many bytes of each. `s` is read
 * often. */
#define CLIP_TO(s, most) text_clip((s), (most)), (s).data ? (s).data : ""
#define CLIP(s)          CLIP_TO(s, 60)
#define WHOLE(s) \
    (int)(s).size, (s).data ? (s).data : ""   /* of what was checked before: keys, names of attributes */

/* ---- from formats ------------------------------------------------------------------------------------------ */

/* Room for the sentence of a finding, of which longer ones are cut, and its ending zero. */
enum { SENTENCE_ROOM = 1024 };

/* Prints into `out`; what does not fit is cut before the character. Returns what is there, also terminated by a
 * zero. */
xir_str text_vprint(char *out, size_t room, const char *format, va_list args) XIR_PRINTF(3, 0);

#endif
