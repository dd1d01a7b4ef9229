/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The table of docs/pnnx.md has all rows of PNNX. */
#include "convert/row_table.h"

static void the_docs_have_all_rows(void **state) {
    (void)state;
    row_table_is_in_docs(&(row_page){ "pnnx::", "PNNX", "types", "pnnx.md", true });
}

GROUP {
    const struct CMUnitTest tests[] = { cmocka_unit_test(the_docs_have_all_rows) };
    return RUN_GROUP(tests);
}
