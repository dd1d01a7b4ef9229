/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Texts in messages: cut between characters, and findings from formats. */
#include "support/net.h"
#include "text.h"

static void texts_are_cut_between_characters(void **state) {
    (void)state;
    static const struct { const char *text; size_t most; int bytes; } rows[] = {
        { "",                 4, 0 }, { "abcd",            4, 4 }, { "abcde",          4, 4 },
        { "abc\xC3\xA9",      5, 5 }, { "abc\xC3\xA9",     4, 3 },                              /* é      */
        { "ab\xE2\x82\xAC",   5, 5 }, { "ab\xE2\x82\xAC",  4, 2 }, { "ab\xE2\x82\xAC", 3, 2 },   /* €      */
        { "\xF0\x9F\x98\x80", 4, 4 }, { "\xF0\x9F\x98\x80", 3, 0 },                             /* a face */
        { "\x80\x80\x80",     2, 0 }, { "a\xFF\xFF",       2, 2 },                              /* not UTF-8 */
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        int bytes = text_clip(xir_str_of(rows[i].text), rows[i].most);
        if (bytes != rows[i].bytes) fail_msg("row %zu: found %d bytes", i, bytes);
    }
    char out[80];
    const xir_str none = { NULL, 0 }, name = XIR_STR("abc\xC3\xA9");
    snprintf(out, sizeof out, "%.*s|%.*s|%.*s|%.*s", CLIP(none), CLIP_TO(name, 4), CLIP(name), WHOLE(none));
    assert_string_equal(out, "|abc|abc\xC3\xA9|");
}

static XIR_PRINTF(3, 4) xir_str print(char *out, size_t room, const char *format, ...) {
    va_list args;
    va_start(args, format);
    xir_str text = text_vprint(out, room, format, args);
    va_end(args);
    return text;
}

/* A text of each length around the available room, which ends with a character of one to four bytes. */
static void what_does_not_fit_is_cut_between_characters(void **state) {
    (void)state;
    static const char *const characters[] = { "x", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\xFF" };
    enum { ROOM = 16 };
    for (size_t c = 0; c < COUNT(characters); c++) {
        for (int before = 0; before < 2 * ROOM; before++) {
            char out[ROOM + 1];
            out[ROOM] = 'E';
            xir_str text = print(out, ROOM, "%.*s%s", before, "................................", characters[c]);
            size_t whole = (size_t)before + strlen(characters[c]);
            size_t wanted = whole < ROOM ? whole : before < ROOM ? (size_t)before : ROOM - 1;
            if (text.size != wanted || text.data != out || out[text.size] != '\0')
                fail_msg("%d dots and %s: %zu", before, characters[c], text.size);
            assert_int_equal(out[ROOM], 'E');
        }
    }
    char one[1];
    assert_int_equal(print(one, 1, "abc").size, 0);
}

static XIR_PRINTF(3, 4) xir_status fail_at(xir_diags *to, const xir_diag *at, const char *format, ...) {
    va_list args;
    va_start(args, format);
    xir_status status = diag_failv(to, at, format, args);
    va_end(args);
    return status;
}

static void findings_have_their_place_and_a_sentence(void **state) {
    (void)state;
    char large[2000];
    memset(large, 'y', sizeof large);
    const xir_diag at = { .severity = XIR_WARNING, .code = XIR_E_IO, .file = XIR_STR("f"), .byte = 7,
                          .path = XIR_STR("/p"), .line = 3, .column = 2 };
    xir_diags_clear(why);
    assert_int_equal(fail_at(NULL, &at, "%d", 1), XIR_E_IO);
    assert_int_equal(fail_at(why, &at, "%d and %s", 1, "two"), XIR_E_IO);
    assert_int_equal(fail_at(why, &at, "%.*s", 2000, large), XIR_E_IO);
    assert_int_equal(xir_diags_count(why), 2);
    const xir_diag *d = xir_diags_at(why, 0);
    CHECK_STR(d->message, "1 and two");
    CHECK_STR(d->file, "f");
    CHECK_STR(d->path, "/p");
    assert_true(d->severity == XIR_WARNING && d->code == XIR_E_IO && d->byte == 7 && d->line == 3 && d->column == 2);
    assert_int_equal(xir_diags_at(why, 1)->message.size, SENTENCE_ROOM - 1);
    xir_diags_clear(why);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_cut_between_characters),
        cmocka_unit_test(what_does_not_fit_is_cut_between_characters),
        cmocka_unit_test(findings_have_their_place_and_a_sentence),
    };
    return RUN_GROUP(tests);
}
