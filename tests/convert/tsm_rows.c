/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The table of docs/tsm.md has all operators that the rows convert, with what they become and what comes back as them,
 * and all that they do not convert. */
#include "convert/row_table.h"

static void the_docs_have_all_rows(void **state) {
    (void)state;
    row_table_is_in_docs(&(row_page){ .prefix = "tsm::", .heading = "TensorStack", .types = "operators",
                                      .file = "tsm.md", .back = true });
}

GROUP {
    const struct CMUnitTest tests[] = { cmocka_unit_test(the_docs_have_all_rows) };
    return RUN_GROUP(tests);
}
