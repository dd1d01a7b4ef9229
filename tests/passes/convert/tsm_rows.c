/* The table of docs/tsm.md has all operators that the rows convert, with what they become, and all that they do not
 * convert. */
#include <stdio.h>
#include <stdlib.h>
#include <xir/convert.h>
#include "support/net.h"

static const char prefix[] = "tsm::";

static bool is_tsm(const xir_convert_row *row) { return strncmp(row->name, prefix, sizeof prefix - 1) == 0; }

static bool same(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

static char *table_of_rows(void) {
    char *text = NULL;
    size_t size, converted = 0, kept = 0;
    FILE *out = open_memstream(&text, &size);
    const xir_convert_row *row, *before = NULL;
    assert_non_null(out);
    for (size_t i = 0; (row = xir_convert_at(ctx, i)); i++) {
        converted += is_tsm(row) && row->cls;
        kept += is_tsm(row) && !row->cls;
    }
    fprintf(out, "<!-- rows -->\n%zu operators are converted, %zu are not:\n\n| TensorStack | becomes |\n|---|---|\n",
            converted, kept);
    for (size_t i = 0; (row = xir_convert_at(ctx, i)); i++) {
        if (!is_tsm(row) || !row->cls) continue;
        const bool joins = before && same(before->cls, row->cls);
        if (before && !joins) fprintf(out, " | %s |\n", before->cls);
        fprintf(out, "%s%s", joins ? ", " : "| ", row->name + sizeof prefix - 1);
        before = row;
    }
    if (before) fprintf(out, " | %s |\n", before->cls);
    kept = 0;
    for (size_t i = 0; (row = xir_convert_at(ctx, i)); i++)
        if (is_tsm(row) && !row->cls) fprintf(out, "%s%s", kept++ ? ", " : "| ", row->name + sizeof prefix - 1);
    fputs(" | not converted |\n<!-- end of rows -->\n", out);
    fclose(out);
    return text;
}

static void the_docs_have_all_rows(void **state) {
    (void)state;
    enum { ROOM = 1 << 20 };
    char *expected = table_of_rows(), *found = malloc(ROOM + 1);
    FILE *f = fopen(XIR_TEST_DATA "/../docs/tsm.md", "r");
    assert_true(f && found);
    found[fread(found, 1, ROOM, f)] = '\0';
    fclose(f);
    const bool there = strstr(found, expected);
    if (!there) fprintf(stderr, "docs/tsm.md should have:\n%s", expected);
    free(found);
    free(expected);
    assert_true(there);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(the_docs_have_all_rows) };
    return RUN_GROUP(tests);
}
