/* What tests of types, layouts, distributions and arrays share: objects to text and back, and tables of texts that
 * must be refused. */
#ifndef SUPPORT_FORMS_H
#define SUPPORT_FORMS_H

#include "types.h"
#include "support/group.h"

/* The text of an object, until the call after the next seven. */
const char *spelled(const void *object);
/* The object of a text, which must be one. The text is read from a block of just its size. */
const void *read_text(const char *text);
/* The same, or NULL with the error. */
const void *try_text(const char *text, size_t size, form_error *e);

/* Each is a check that names the line it was called from. */
#define CHECK_SPELLED(object, text)  assert_string_equal(spelled(object), text)
#define CHECK_ROUND(text)            assert_string_equal(spelled(read_text(text)), text)
#define CHECK_READ(text, canonical)  assert_string_equal(spelled(read_text(text)), canonical)

/* Texts that are refused: with this status, at this byte, by a sentence that has "expected" and "found". */
typedef struct bad_text {
    const char *text;
    xir_status  status;
    size_t      at;
} bad_text;
void check_bad(const bad_text *rows, size_t n);
#define CHECK_BAD(rows) check_bad(rows, sizeof(rows) / sizeof *(rows))

/* Every beginning of the text and every text that differs from it in one byte: refused, or an object whose
 * text is the same object's again. Nothing is read past the end (the sanitizer's business). */
void check_damaged(const char *text);

/* The last finding: its status and that its sentence has this in it. Forgets the findings. */
void check_finding(xir_status code, const char *part);

#endif
