/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include "forms.h"
#include <stdio.h>

/* ---- texts --------------------------------------------------------------------------------------------------- */

const char *spelled(const void *object) {
    static char *texts[8];
    static unsigned turn;
    char **text = &texts[turn++ % 8];
    assert_non_null(object);
    buffer b;
    buffer_init(&b, &memory_default);
    ((const xir_object *)object)->cls->more->form->print(object, &b);
    buffer_char(&b, '\0');
    assert_false(b.failed);
    free(*text);
    *text = b.data;   /* the default allocator is malloc */
    return *text;
}

const void *try_text(const char *text, size_t size, form_error *e) {
    char *block = malloc(size ? size : 1);
    assert_non_null(block);
    memcpy(block, text, size);
    const void *object = form_parse(context_pool(ctx), (xir_str){ size ? block : NULL, size }, e);
    free(block);
    return object;
}

const void *read_text(const char *text) {
    form_error e = { 0 };
    const void *object = try_text(text, strlen(text), &e);
    if (!object) fail_msg("%s: %s, at %zu", text, e.message, e.at);
    return object;
}

void check_bad(const bad_text *rows, size_t n) {
    for (size_t i = 0; i < n; i++) {
        form_error e = { 0 };
        if (try_text(rows[i].text, strlen(rows[i].text), &e)) fail_msg("'%s' was taken", rows[i].text);
        if (e.status != rows[i].status || e.at != rows[i].at || !strstr(e.message, "expected") ||
            !strstr(e.message, "found")) {
            fail_msg("'%s': expected %s at %zu, found %s at %zu: %s", rows[i].text,
                     xir_status_name(rows[i].status), rows[i].at,
                     xir_status_name(e.status), e.at, e.message);
        }
        /* A caller that passes no error gets the same answer. */
        assert_null(form_parse(context_pool(ctx), xir_str_of(rows[i].text), NULL));
    }
}

static void check_one(const char *text, size_t size) {
    form_error e = { 0 };
    const void *object = try_text(text, size, &e);
    if (!object) {
        assert_true(e.status != XIR_OK && e.at <= size && e.message[0]);
        return;
    }
    buffer once;   /* its text may contain any byte, including 0 */
    buffer_init(&once, &memory_default);
    ((const xir_object *)object)->cls->more->form->print(object, &once);
    assert_ptr_equal(try_text(once.data, once.size, &e), object);
    buffer_free(&once);
}

void check_damaged(const char *text) {
    static const char others[] = "@()[]{}^:*/,- =.0123456789eEinfau+vZNCcwx|\n\x80\xff";
    size_t size = strlen(text);
    for (size_t i = 0; i <= size; i++) check_one(text, i);
    char *copy = malloc(size + 1);
    assert_non_null(copy);
    for (size_t i = 0; i < size; i++) {
        memcpy(copy, text, size);
        for (size_t j = 0; j < sizeof others; j++) {   /* including the terminating zero */
            copy[i] = others[j];
            check_one(copy, size);
        }
        memmove(copy + i, text + i + 1, size - i - 1);
        check_one(copy, size - 1);
        memcpy(copy, text, i + 1);
        memcpy(copy + i + 1, text + i, size - i);
        check_one(copy, size + 1);
    }
    free(copy);
}

void check_finding(xir_status code, const char *part) {
    size_t n = xir_diags_count(why);
    if (n == 0) fail_msg("expected a finding: %s", part);
    const xir_diag *d = xir_diags_at(why, n - 1);
    char text[600];
    snprintf(text, sizeof text, "%.*s", (int)d->message.size, d->message.data);
    if (d->code != code || !strstr(text, part)) {
        fail_msg("expected %s with '%s', found %s: %s", xir_status_name(code), part,
                 xir_status_name(d->code), text);
    }
    xir_diags_clear(why);
}
