/* The table of docs/deepx.md has the functions of the rows and what they become. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xir/convert.h>
#include "support/net.h"

static const char prefix[] = "deepx::";

static char *table_of_rows(void) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    const xir_convert_row *row, *before = NULL;
    assert_non_null(out);
    fprintf(out, "<!-- rows -->\n| DeepX | becomes |\n|---|---|\n");
    for (size_t i = 0; (row = xir_convert_at(ctx, i)); i++) {
        if (strncmp(row->name, prefix, sizeof prefix - 1) != 0 || !row->cls) continue;
        const bool joins = before && strcmp(before->cls, row->cls) == 0;
        if (before && !joins) fprintf(out, " | %s |\n", before->cls);
        fprintf(out, "%s%s", joins ? ", " : "| ", row->name + sizeof prefix - 1);
        before = row;
    }
    fprintf(out, " | %s |\n<!-- end of rows -->\n", before ? before->cls : "");
    fclose(out);
    return text;
}

static void the_docs_have_all_rows(void **state) {
    (void)state;
    enum { MOST = 1 << 18 };
    char *expected = table_of_rows(), *found = malloc(MOST + 1);
    FILE *f = fopen(XIR_TEST_DATA "/../docs/deepx.md", "r");
    assert_true(f && found);
    found[fread(found, 1, MOST, f)] = '\0';
    fclose(f);
    const bool there = strstr(found, expected);
    if (!there) fprintf(stderr, "docs/deepx.md should have:\n%s", expected);
    free(found);
    free(expected);
    assert_true(there);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(the_docs_have_all_rows) };
    return RUN_GROUP(tests);
}
