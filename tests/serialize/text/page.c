/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The examples of docs/text.md: each block is read, and written again as the same bytes. */
#include "support/forms.h"
#include "support/net.h"
#include "support/scratch.h"

static bool append(void *user, const void *data, size_t size) {
    char **text = user;
    const size_t had = *text ? strlen(*text) : 0;
    *text = realloc(*text, had + size + 1);
    memcpy(*text + had, data, size);
    (*text)[had + size] = '\0';
    return true;
}

static void comes_back(const char *block, size_t size) {
    char *again = NULL;
    const xir_load_options from = XIR_INIT(xir_load_options, .format = "text");
    const xir_save_options to = XIR_INIT(xir_save_options, .format = "text", .unchecked = true);
    xir_network *net = xir_network_read(ctx, block, size, XIR_STR("page"), &from, why);
    if (!net) {
        xir_diags_print(why, stderr);
        fail_msg("cannot be read:\n%.*s", (int)size, block);
    }
    assert_int_equal(xir_network_write(net, append, &again, &to, why), XIR_OK);
    if (strlen(again) != size || memcmp(again, block, size) != 0) fail_msg("expected\n%.*s\nfound\n%s", (int)size,
        block, again);
    free(again);
    xir_network_free(net);
}

static void every_block_comes_back(void **state) {
    (void)state;
    size_t size, n = 0;
    char *page = (char *)scratch_get(XIR_TEST_DATA "/../docs/text.md", &size);
    assert_non_null(page);
    page = realloc(page, size + 1);
    page[size] = '\0';
    for (char *p = page; (p = strstr(p, "\n```xir\n")) != NULL; n++) {
        char *begin = p + 8, *end = strstr(begin, "\n```");
        assert_non_null(end);
        comes_back(begin, (size_t)(end + 1 - begin));
        p = end;
    }
    assert_true(n >= 9);
    free(page);
}

GROUP {
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_block_comes_back) };
    return RUN_GROUP(tests);
}
