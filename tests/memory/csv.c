/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Buffers as lines of numbers: every spelling of the columns, and what is refused, with its line. */
#include "support/buffers.h"

/* "0-2:64" for each buffer, with "/8" for its alignment and "@16" for its offset. */
static void check_read(const char *text, const char *expected, int line) {
    char found[400] = "";
    xir_buffer *b;
    uint64_t *offsets;
    size_t n, size = 0;
    DOES(xir_memory_csv_read(ctx, xir_str_of(text), &b, &offsets, &n, why));
    for (size_t i = 0; i < n; i++) {
        size += (size_t)snprintf(found + size, sizeof found - size, "%s%lld-%lld:%llu", i ? " " : "",
                                 (long long)b[i].from, (long long)b[i].to, (unsigned long long)b[i].size);
        const unsigned long long align = b[i].align, offset = offsets ? offsets[i] : 0;
        if (align) size += (size_t)snprintf(found + size, sizeof found - size, "/%llu", align);
        if (offsets) size += (size_t)snprintf(found + size, sizeof found - size, "@%llu", offset);
    }
    xir_memory_csv_free(ctx, b, offsets, n);
    if (strcmp(found, expected)) fail_msg("line %d: expected %s, found %s", line, expected, found);
}
#define READS(text, expected) check_read(text, expected, __LINE__)

static void check_refused(const char *text, xir_status status, uint32_t at, const char *part, int line) {
    xir_buffer *b = NULL;
    uint64_t *offsets = NULL;
    size_t n = 7;
    const xir_status found = xir_memory_csv_read(ctx, xir_str_of(text), &b, &offsets, &n, why);
    if (found != status) fail_msg("line %d: %s", line, xir_status_name(found));
    assert_true(!b && !offsets && n == 7);
    if (xir_diags_at(why, 0)->line != at) fail_msg("line %d: found at line %u", line, xir_diags_at(why, 0)->line);
    check_finding(status, part);
}
#define REFUSED(text, status, at, part) check_refused(text, status, at, part, __LINE__)

static void lines_are_buffers(void **state) {
    (void)state;
    READS("id,lower,upper,size\n0,0,3,64\n1,3,9,32\n", "0-2:64 3-8:32");
    READS("id,lower,upper,size\r\nb1,0,3,64\r\n\r\n", "0-2:64");
    READS("size,offset,end,start,buffer,alignment\n64,16,3,0,a b,8", "0-3:64/8@16");
    READS("lower,upper,size\n", "");
    READS("begin,end,size\n5,5,18446744073709551615", "5-5:18446744073709551615");
}

static void bad_lines_are_named(void **state) {
    (void)state;
    REFUSED("", XIR_E_SYNTAX, 1, "'' is not a column of buffers");
    REFUSED("id,lower,upper\n", XIR_E_SYNTAX, 1, "needs the columns lower, upper and size");
    REFUSED("id,lower,upper,size,gaps\n", XIR_E_SYNTAX, 1, "'gaps' is not a column of buffers");
    REFUSED("lower,start,upper,size\n", XIR_E_SYNTAX, 1, "the column 'start' appears twice");
    REFUSED("lower,upper,end,size\n", XIR_E_SYNTAX, 1, "both 'upper' and 'end'");
    REFUSED("lower,upper,size\n0,1,2\n0,1\n", XIR_E_SYNTAX, 3, "expected 3 fields, as in the first line, found 2");
    REFUSED("lower,upper,size\n0,1,2,3\n", XIR_E_SYNTAX, 2, "more fields than the first one, which has 3");
    REFUSED("lower,upper,size\n\n0,1,2\n", XIR_E_SYNTAX, 2, "expected an integer, found ''");
    REFUSED("lower,upper,size\n0,1,nan\n", XIR_E_SYNTAX, 2, "expected an integer, found 'nan'");
    REFUSED("lower,upper,size\n0,1,1e3\n", XIR_E_SYNTAX, 2, "expected an integer, found '1e3'");
    REFUSED("lower,upper,size\n0,1,1.5\n", XIR_E_SYNTAX, 2, "expected an integer, found '1.5'");
    REFUSED("lower,upper,size\n0,1, 5\n", XIR_E_SYNTAX, 2, "expected an integer, found ' 5'");
    REFUSED("lower,upper,size\n0,1,-5\n", XIR_E_BOUNDS, 2, "expected a number from 0 to 18446744073709551615, found '-5'");
    REFUSED("lower,upper,size\n0,1,18446744073709551616\n", XIR_E_BOUNDS, 2, "found '18446744073709551616'");
    REFUSED("lower,upper,size\n0,9223372036854775808,1\n", XIR_E_BOUNDS, 2, "from 0 to 9223372036854775807");
}

static void a_million_columns_are_refused_at_once(void **state) {
    (void)state;
    enum { MANY = 1000000 };
    char *text = malloc(MANY + 1);
    xir_buffer *b;
    uint64_t *offsets;
    size_t n;
    memset(text, ',', MANY);
    assert_int_equal(xir_memory_csv_read(ctx, (xir_str){ text, MANY }, &b, &offsets, &n, why), XIR_E_SYNTAX);
    check_finding(XIR_E_SYNTAX, "is not a column");
    memcpy(text, "lower,upper,size\n", 17);
    assert_int_equal(xir_memory_csv_read(ctx, (xir_str){ text, MANY }, &b, &offsets, &n, why), XIR_E_SYNTAX);
    check_finding(XIR_E_SYNTAX, "expected an integer");
    free(text);
    assert_int_equal(xir_memory_csv_read(NULL, XIR_STR(""), &b, &offsets, &n, why), XIR_E_MISSING);
    check_finding(XIR_E_MISSING, "context");
    xir_memory_csv_free(NULL, NULL, NULL, 0);
}

static bool read_lines(xir_context *with) {
    xir_buffer *b;
    uint64_t *offsets;
    size_t n;
    if (xir_memory_csv_read(with, XIR_STR("lower,upper,size,offset\n0,3,64,0\n1,3,64,0\n"), &b, &offsets, &n, NULL))
        return false;
    xir_memory_csv_free(with, b, offsets, n);
    return true;
}

static void memory_may_run_out(void **state) {
    (void)state;
    check_memory(read_lines);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_buffers),
        cmocka_unit_test(bad_lines_are_named),
        cmocka_unit_test(a_million_columns_are_refused_at_once),
        cmocka_unit_test(memory_may_run_out),
    };
    return RUN_GROUP(tests);
}
