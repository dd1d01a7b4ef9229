/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The libraries that XIR uses have names, and versions that are numbers. */
#include <ctype.h>
#include <xir/base.h>
#include "support/net.h"

static void libraries_have_names_and_versions(void **state) {
    (void)state;
    static const char *const names[] = { "OpenSSL", "msgpack-c", "libdeflate" };
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(xir_dependency_name(i), names[i]);
        const char *version = xir_dependency_version(i);
        assert_true(isdigit((unsigned char)version[0]));
        assert_non_null(strchr(version, '.'));
        assert_null(strpbrk(version, " \n"));
    }
}

static void past_the_last_one_there_is_nothing(void **state) {
    (void)state;
    assert_null(xir_dependency_name(3));
    assert_null(xir_dependency_version(3));
    assert_null(xir_dependency_name(SIZE_MAX));
    assert_null(xir_dependency_version(SIZE_MAX));
}

static void headers_know_their_version(void **state) {
    (void)state;
#if !XIR_VERSION_AT_LEAST(XIR_VERSION_MAJOR, XIR_VERSION_MINOR, XIR_VERSION_PATCH)
#error "the headers are older than they are"
#endif
    char dotted[40];
    snprintf(dotted, sizeof dotted, "%d.%d.%d", XIR_VERSION_MAJOR, XIR_VERSION_MINOR, XIR_VERSION_PATCH);
    assert_string_equal(xir_version(), dotted);
    assert_false(XIR_VERSION_AT_LEAST(XIR_VERSION_MAJOR, XIR_VERSION_MINOR, XIR_VERSION_PATCH + 1));
    assert_false(XIR_VERSION_AT_LEAST(XIR_VERSION_MAJOR + 1, 0, 0));
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(libraries_have_names_and_versions),
        cmocka_unit_test(past_the_last_one_there_is_nothing),
        cmocka_unit_test(headers_know_their_version),
    };
    return RUN_GROUP(tests);
}
