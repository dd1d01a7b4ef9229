/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The rows of NNB, held against the table of functions: each function has a row, with the arguments of its numbers and
 * the api levels that they come with. And the table of docs/nnb.md has all rows. */
#include <xir/nnb.h>
#include "convert/row_table.h"

static const xir_convert_row *row_of(const char *name) {
    char key[100];
    snprintf(key, sizeof key, "nnb::%s", name);
    return xir_convert_find(ctx, xir_str_of(key));
}

/* The item "name:…" of a row's attributes, up to its end; NULL: it does not have it. */
static const char *attribute_of(const char *attributes, const char *name, size_t n) {
    const char *p = attributes;
    while (*p) {
        if (strncmp(p, name, n) == 0 && p[n] == ':') return p + n + 1;
        p += strcspn(p, " ");
        p += strspn(p, " ");
    }
    return NULL;
}

static int level_in(const char *item) {
    const char *version = strstr(item, ">=");
    return version && version < item + strcspn(item, " ") ? atoi(version + 2) : 0;
}

static void check_function(const xir_nnb_function *f) {
    const xir_convert_row *row = row_of(f->name);
    if (!row) fail_msg("%s has no row", f->name);
    if (!row->cls || !f->api_level) return;
    const int own = strncmp(row->attributes, ">=", 2) == 0 ? atoi(row->attributes + 2) : 1;
    if (f->api_level < own) fail_msg("%s %u is of api level %u", f->name, f->id, f->api_level);
    for (const char *p = f->arguments; *p;) {
        const size_t n = strcspn(p, " {");
        const char *item = attribute_of(row->attributes, p, n);
        if (!item) fail_msg("%s: the row does not have %.*s", f->name, (int)n, p);
        if (level_in(item) > f->api_level)
            fail_msg("%s: %.*s comes with api level %u", f->name, (int)n, p, f->api_level);
        p += strcspn(p, " ");
        p += strspn(p, " ");
    }
}

static void rows_have_the_arguments_of_all_numbers(void **state) {
    (void)state;
    size_t functions = 0, runtime = 0;
    for (size_t i = 0; xir_nnb_function_at(i); i++) {
        const xir_nnb_function *f = xir_nnb_function_at(i);
        check_function(f);
        functions++;
        if (f->runtime && !row_of(f->name)->cls) fail_msg("the C runtime computes %s, and no row converts it", f->name);
        runtime += f->runtime;
    }
    assert_true(functions > 200 && runtime > 62);
}

static void the_docs_have_all_rows(void **state) {
    (void)state;
    row_table_is_in_docs(&(row_page){ "nnb::", "NNabla", "functions", "nnb.md", true });
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_have_the_arguments_of_all_numbers),
        cmocka_unit_test(the_docs_have_all_rows),
    };
    return RUN_GROUP(tests);
}
