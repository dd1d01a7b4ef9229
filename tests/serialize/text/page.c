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

/* An attribute without a default is in the text, whatever its value. A text without it lacks it, as a JSON would. */
static void what_has_no_default_is_given(void **state) {
    static const char given[] = "xir 1\n%x = Input() : fp32 * [2]\n%y = DivideScalar(%x) {divisor=0} : fp32 * [2]\n"
                                "%z = DivideScalar(%y) {divisor=0} : fp32 * [2]\nOutput(%z)\n",
                      lacks[] = "xir 1\n%x = Input() : fp32 * [2]\n%y = DivideScalar(%x) : fp32 * [2]\nOutput(%y)\n",
                      absent[] = "xir 1\n%x = Input() : fp32 * [2]\n%y = DivideScalar(%x) : fp32 * [2] "
                                 "absent(divisor)\nOutput(%y)\n";
    (void)state;
    comes_back(given, strlen(given));
    comes_back(absent, strlen(absent));
    const xir_load_options from = XIR_INIT(xir_load_options, .format = "text");
    xir_network *net = xir_network_read(ctx, lacks, strlen(lacks), XIR_STR("lacks"), &from, why);
    assert_non_null(net);
    xir_diags_clear(why);
    assert_int_equal(xir_network_validate(net, why), XIR_E_MISSING);
    assert_non_null(strstr(xir_diags_at(why, 0)->message.data, "divisor of icraft::xir::DivideScalar has no default"));
    xir_network_free(net);
}

GROUP {
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_block_comes_back),
                                        cmocka_unit_test(what_has_no_default_is_given) };
    return RUN_GROUP(tests);
}
