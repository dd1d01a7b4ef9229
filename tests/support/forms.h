/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Shared by the tests of types, layouts, distributions and arrays: objects to text and back, and tables of texts
 * that must be refused. */
#ifndef SUPPORT_FORMS_H
#define SUPPORT_FORMS_H

#include "types.h"
#include "support/group.h"

/* The text of an object; valid until the eighth call from now. */
const char *spelled(const void *object);
/* The object of a text, which must be valid. The text is read from a block of exactly its size. */
const void *read_text(const char *text);
/* The same, or NULL with the error. */
const void *try_text(const char *text, size_t size, form_error *e);

/* Each is a check that reports the line of its caller. */
#define CHECK_SPELLED(object, text)  assert_string_equal(spelled(object), text)
#define CHECK_ROUND(text)            assert_string_equal(spelled(read_text(text)), text)
#define CHECK_READ(text, canonical)  assert_string_equal(spelled(read_text(text)), canonical)

/* A text that is refused: with this status, at this byte, by a message that has "expected" and "found". */
typedef struct bad_text {
    const char *text;
    xir_status  status;
    size_t      at;
} bad_text;
void check_bad(const bad_text *rows, size_t n);
#define CHECK_BAD(rows) check_bad(rows, sizeof(rows) / sizeof *(rows))

/* Tries every beginning of the text and every text that differs from it in one byte. Each is refused, or it is an
 * object whose text gives the same object again. Sanitizers detect reads past the end. */
void check_damaged(const char *text);

/* Checks the last finding: its status, and that its message contains this text. Clears the findings. */
void check_finding(xir_status code, const char *part);

#endif
