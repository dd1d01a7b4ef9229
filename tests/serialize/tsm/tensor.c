/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Single tensors of TensorStack as arrays: what is written is read again, and each fault has its byte. */
#include <xir/tsm.h>
#include "support/kept.h"
#include "support/net.h"
#include "support/scarce.h"

static bool stop(void *user, const void *data, size_t size) {
    (void)user;
    (void)data;
    (void)size;
    return false;
}

static const uint8_t two[] = {
    2, 0, 0, 0,
    5, 2, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 7, 0, 0, 0, 0xff, 0xff, 0xff, 0xff,   /* INT32 [1, 2]: 7, -1 */
    21, 0, 0, 0, 0, 1                                                            /* BOOLEAN: true        */
};

static void tensors_become_arrays_and_come_back(void **state) {
    xir_array *arrays[3] = { NULL };
    int64_t v[2];
    size_t n;
    buffer out;
    (void)state;
    DOES(xir_tsm_tensor_read(ctx, two, sizeof two, XIR_STR("x.t"), arrays, 3, &n, why));
    assert_int_equal(n, 2);
    assert_null(arrays[2]);
    assert_int_equal(xir_type_rank(xir_array_type(arrays[0])), 2);
    DOES(xir_array_i64s(arrays[0], 0, 2, v));
    assert_true(v[0] == 7 && v[1] == -1);
    assert_int_equal(xir_type_rank(xir_array_type(arrays[1])), 0);
    buffer_init(&out, &memory_default);
    DOES(xir_tsm_tensor_write((const xir_array *const *)arrays, 2, keep, &out, why));
    assert_int_equal(out.size, sizeof two);
    assert_memory_equal(out.data, two, sizeof two);
    assert_int_equal(xir_tsm_tensor_write((const xir_array *const *)arrays, 2, stop, NULL, why), XIR_E_IO);
    check_finding(XIR_E_IO, "the writer stopped");
    buffer_free(&out);
    xir_array_free(arrays[0]);
    xir_array_free(arrays[1]);
}

static void how_many_there_are_is_said_without_room(void **state) {
    xir_array *first;
    size_t n;
    (void)state;
    DOES(xir_tsm_tensor_read(ctx, two, sizeof two, XIR_STR("x.t"), NULL, 0, &n, why));
    assert_int_equal(n, 2);
    DOES(xir_tsm_tensor_read(ctx, two, sizeof two, XIR_STR("x.t"), &first, 1, &n, why));
    assert_int_equal(n, 2);
    xir_array_free(first);
}

static void faults_have_their_byte(void **state) {
    static const struct { size_t at; uint8_t v; xir_status status; uint64_t byte; const char *sentence; } rows[] = {
        { 0,  3,    XIR_E_CORRUPT,     31, "the file ends in the type of a tensor" },
        { 0,  1,    XIR_E_CORRUPT,     25, "6 bytes follow the last tensor" },
        { 3,  0xff, XIR_E_CORRUPT,     0,  "the number of tensors is 4278190082" },
        { 4,  33,   XIR_E_TYPE,        4,  "the type of a tensor is 33" },
        { 4,  12,   XIR_E_TYPE,        4,  "the type of a tensor is 12" },
        { 4,  18,   XIR_E_UNSUPPORTED, 4,  "tensor 0 has elements of type UNKNOWN32" },
        { 5,  9,    XIR_E_CORRUPT,     5,  "the number of dims of a tensor is 9" },
        { 12, 0x80, XIR_E_BOUNDS,      9,  "dim 0 of a tensor is negative" },
        { 9,  9,    XIR_E_CORRUPT,     17, "the file ends in the elements of a tensor: expected 18 of 4" },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint8_t bytes[sizeof two];
        xir_array *arrays[2];
        size_t n;
        memcpy(bytes, two, sizeof two);
        bytes[rows[i].at] = rows[i].v;
        assert_int_equal(xir_tsm_tensor_read(ctx, bytes, sizeof two, XIR_STR("x.t"), arrays, 2, &n, why),
                         rows[i].status);
        const xir_diag *d = xir_diags_at(why, 0);
        if (d->byte != rows[i].byte) fail_msg("row %zu: byte %llu", i, (unsigned long long)d->byte);
        assert_null(arrays[0]);
        check_finding(rows[i].status, rows[i].sentence);
    }
    for (size_t size = 0; size < sizeof two; size++) {
        size_t n;
        assert_int_equal(xir_tsm_tensor_read(ctx, two, size, XIR_STR("x.t"), NULL, 0, &n, why), XIR_E_CORRUPT);
        xir_diags_clear(why);
    }
}

static void arrays_that_tensorstack_does_not_have(void **state) {
    const xir_type *type = xir_type_tensor_text(ctx, xir_type_float(ctx, XIR_FLOAT_BF16), "*", &(int64_t){ 1 }, 1);
    xir_array *array = xir_array_new(ctx, type, why);
    buffer out;
    (void)state;
    buffer_init(&out, &memory_default);
    assert_int_equal(xir_tsm_tensor_write((const xir_array *const[]){ array }, 1, keep, &out, why), XIR_E_UNSUPPORTED);
    check_finding(XIR_E_UNSUPPORTED, "does not have the element type");
    assert_int_equal(out.size, 0);
    buffer_free(&out);
    xir_array_free(array);
}

static void reading(want *w) {
    xir_array *arrays[2];
    size_t n;
    TRY(w, xir_tsm_tensor_read(w->ctx, two, sizeof two, XIR_STR("x.t"), arrays, 2, &n, w->why));
    for (size_t i = 0; i < n; i++) xir_array_free(arrays[i]);
}
SCARCE_TEST(reading)

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensors_become_arrays_and_come_back),
        cmocka_unit_test(how_many_there_are_is_said_without_room),
        cmocka_unit_test(faults_have_their_byte),
        cmocka_unit_test(arrays_that_tensorstack_does_not_have),
        cmocka_unit_test(test_reading),
    };
    return cmocka_run_group_tests(tests, group_begin, group_end);
}
