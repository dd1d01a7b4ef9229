/* The rows of NNB, held against the table of functions: each function has a row, with the arguments of its numbers and
 * the api levels that they come with. And the table of docs/nnb.md has all functions that the rows convert, with what
 * they become, and all that they do not convert. */
#include <stdio.h>
#include <stdlib.h>
#include <xir/convert.h>
#include <xir/nnb.h>
#include "support/net.h"

static const char prefix[] = "nnb::";

static bool is_nnb(const xir_convert_row *row) { return strncmp(row->name, prefix, sizeof prefix - 1) == 0; }

static const xir_convert_row *row_of(const char *name) {
    char key[100];
    snprintf(key, sizeof key, "%s%s", prefix, name);
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

static bool same(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

static char *table_of_rows(void) {
    char *text = NULL;
    size_t size, converted = 0, kept = 0;
    FILE *out = open_memstream(&text, &size);
    const xir_convert_row *row, *before = NULL;
    assert_non_null(out);
    for (size_t i = 0; (row = xir_convert_at(ctx, i)); i++) {
        converted += is_nnb(row) && row->cls;
        kept += is_nnb(row) && !row->cls;
    }
    fprintf(out, "<!-- rows -->\n%zu functions are converted, %zu are not:\n\n| NNabla | becomes |\n|---|---|\n", converted,
            kept);
    for (size_t i = 0; (row = xir_convert_at(ctx, i)); i++) {
        if (!is_nnb(row) || !row->cls) continue;
        const bool joins = before && same(before->cls, row->cls);
        if (before && !joins) fprintf(out, " | %s |\n", before->cls);
        fprintf(out, "%s%s", joins ? ", " : "| ", row->name + sizeof prefix - 1);
        before = row;
    }
    if (before) fprintf(out, " | %s |\n", before->cls);
    kept = 0;
    for (size_t i = 0; (row = xir_convert_at(ctx, i)); i++)
        if (is_nnb(row) && !row->cls) fprintf(out, "%s%s", kept++ ? ", " : "| ", row->name + sizeof prefix - 1);
    fputs(" | not converted |\n<!-- end of rows -->\n", out);
    fclose(out);
    return text;
}

static void the_docs_have_all_rows(void **state) {
    (void)state;
    enum { ROOM = 1 << 20 };
    char *expected = table_of_rows(), *found = malloc(ROOM + 1);
    FILE *f = fopen(XIR_TEST_DATA "/../docs/nnb.md", "r");
    assert_true(f && found);
    found[fread(found, 1, ROOM, f)] = '\0';
    fclose(f);
    const bool there = strstr(found, expected);
    if (!there) fprintf(stderr, "docs/nnb.md should have:\n%s", expected);
    free(found);
    free(expected);
    assert_true(there);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_have_the_arguments_of_all_numbers),
        cmocka_unit_test(the_docs_have_all_rows),
    };
    return RUN_GROUP(tests);
}
