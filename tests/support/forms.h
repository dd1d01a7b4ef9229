/* What tests of types, layouts, distributions and arrays share: a context for the group, objects to text
 * and back, tables of texts that must be refused, chance that is the same every time, and an allocator
 * that refuses. */
#ifndef SUPPORT_FORMS_H
#define SUPPORT_FORMS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "types.h"

/* The context and the findings of the group; its allocator checks that every size given back is the size
 * asked for. */
extern xir_context *ctx;
extern xir_diags   *why;
int group_begin(void **state);
int group_end(void **state);
#define RUN_GROUP(tests) cmocka_run_group_tests(tests, group_begin, group_end)

/* The text of an object, until the call after the next seven. */
const char *spelled(const void *object);
/* The object of a text, which must be one. The text is read from a block of just its size. */
const void *read_text(const char *text);
/* The same, or NULL with the error. */
const void *try_text(const char *text, size_t size, form_error *e);

/* The group's context allocates n times more, then it refuses; until the end, which says whether it has. */
void refuse_after(size_t n);
bool refuse_end(void);

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

/* A number below n, and one that is often small, often at a power of two; the same sequence in every run. */
uint64_t chance(uint64_t n);
int64_t  some_number(void);

/* Calls `work` with a context whose n-th allocation from then on fails, for n from 0 until it succeeds.
 * `work` says whether it did; nothing may be lost, and what it did before must hold. */
void check_memory(bool (*work)(xir_context *with));

#endif
