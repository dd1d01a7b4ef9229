/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Each row of formats.def is a format that reads or writes and has a name. It has a page and is listed in
 * docs/formats.md, and a dialect has rows and its passes in both directions, which docs/passes.md describes. */
#include <xir/convert.h>
#include <xir/pass.h>
#include "format.h"
#include "support/net.h"
#include "support/scratch.h"
#include "support/ways.h"

typedef struct row { const char *id, *page; const format *f; bool dialect; } row;
static const row rows[] = {
#define FORMAT(id, page, fuzz)  { #id, #page, &format_##id, false },
#define DIALECT(id, page, fuzz) { #id, #page, &format_##id, true },
#include "formats.def"
#undef DIALECT
#undef FORMAT
};

/* docs/PAGE.md exists, and has this name in it. */
static void check_page(const char *page, const char *name) {
    char path[200], wanted[100];
    size_t size;
    snprintf(path, sizeof path, XIR_TEST_DATA "/../docs/%s.md", page);
    snprintf(wanted, sizeof wanted, "`%s`", name);
    uint8_t *text = scratch_get(path, &size);
    if (!text) fail_msg("there is no page %s", path);
    if (*name && !memmem(text, size, wanted, strlen(wanted))) fail_msg("docs/%s.md does not have %s", page, wanted);
    free(text);
}

static void a_format_says_what_it_is(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const format *f = rows[i].f;
        xir_format_info info = XIR_INIT(xir_format_info);
        DOES(xir_format_at(i, &info, why));
        assert_string_equal(info.name, f->name);
        if (!f->meaning || !f->suffixes || !(f->read || f->write) || (f->read && !f->probe) ||
            !(f->traits & XIR_FORMAT_DIALECT) != !(rows[i].dialect || f->operators))
            fail_msg("the format %s is not whole", rows[i].id);
        check_page(rows[i].page, "");
        check_page("formats", f->name);
    }
    assert_int_equal(xir_format_at(COUNT(rows), &XIR_INIT(xir_format_info), NULL), XIR_E_BOUNDS);
}

static void a_dialect_goes_both_ways(void **state) {
    (void)state;
    size_t n = 0;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char key[40], to[40];
        if (!rows[i].dialect) continue;
        const xir_dialect_decl *d = xir_dialect_at(ctx, n);
        assert_string_equal(rows[i].id, dialect_formats[n]);
        snprintf(key, sizeof key, "%s::", rows[i].id);
        snprintf(to, sizeof to, "%s-to-xir", rows[i].id);
        if (!d || strcmp(d->prefix, key) || !d->n_rows || !d->pass || strcmp(d->pass, to) || !d->back ||
            strcmp(d->back->name, ways_back[n])) fail_msg("the dialect of %s is not whole", rows[i].id);
        assert_string_equal(rows[i].f->name, rows[i].id);   /* what `xir opt` finds the way back by */
        check_page("passes", to);
        check_page("passes", ways_back[n++]);
    }
    assert_null(xir_dialect_at(ctx, n));
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_format_says_what_it_is),
        cmocka_unit_test(a_dialect_goes_both_ways),
    };
    return RUN_GROUP(tests);
}
