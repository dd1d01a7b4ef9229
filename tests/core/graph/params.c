/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Params: values with bytes that may be copied, borrowed, or shared by clones, and that only their sole owner writes
 * to. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <xir/icraft.h>
#include "support/program.h"
#include "support/raw_net.h"

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

typedef struct world { xir_context *ctx; xir_network *net; } world;

static world new_world(void) {
    world w = { .ctx = xir_context_new(NULL) };
    assert_non_null(w.ctx);
    w.net = xir_network_new(w.ctx, "params", XIR_FRAMEWORK_PYTORCH, "v1.9");
    assert_non_null(w.net);
    return w;
}

static void end_world(world w) {
    xir_network_free(w.net);
    xir_context_free(w.ctx);
}

/* The newest finding of the network. */
static void assert_said(const world *w, const char *text) {
    const xir_diag *d = xir_diags_at(xir_network_diags(w->net), xir_diags_count(xir_network_diags(w->net)) - 1);
    assert_non_null(d);
    if (d->message.size != strlen(text) || memcmp(d->message.data, text, d->message.size) != 0)
        fail_msg("expected \"%s\", found \"%.*s\"", text, (int)d->message.size, d->message.data);
}

static const xir_type *f32s(const world *w, int64_t n) {
    return xir_type_tensor_text(w->ctx, xir_type_float(w->ctx, XIR_FLOAT_FP32), "*", &n, 1);
}

/* Counts releases, and records which bytes were released. */
typedef struct lender { int released; const void *of; } lender;
static void release(void *user, const void *data) {
    lender *l = user;
    l->released++;
    l->of = data;
}

/* ---- making ------------------------------------------------------------------------------------------------- */

static void new_params_have_a_name_a_type_and_no_bytes(void **state) {
    (void)state;
    world w = new_world();
    uint64_t size = 1;
    char byte;
    xir_value *p = xir_params_new(w.net, XIR_STR("w"), f32s(&w, 3));
    assert_non_null(p);
    assert_true(xir_value_is_params(p));
    assert_true(xir_str_equal(xir_value_name(p), XIR_STR("w")));
    assert_true(xir_type_equal(xir_value_type(p), f32s(&w, 3)));
    assert_true(xir_value_id(p) < 0);
    assert_false(xir_params_has_data(p));
    assert_false(xir_params_is_lazy(p));
    assert_null(xir_params_data(p, &size));
    assert_int_equal(size, 0);
    assert_null(xir_params_data(p, NULL));
    assert_null(xir_params_typed(p, 4));
    assert_null(xir_params_edit(p));
    assert_int_equal(xir_params_read(p, 0, &byte, 1), XIR_E_MISSING);
    assert_int_equal(xir_params_load(p), XIR_E_MISSING);
    assert_null(xir_params_new(w.net, XIR_STR("none"), NULL));
    assert_said(&w, "parameter 'none' is made without a type: NULL was given");
    end_world(w);
}

static void copied_bytes_are_the_values_own(void **state) {
    (void)state;
    world w = new_world();
    float bytes[3] = { 1, 2, 3 };
    uint64_t size;
    xir_value *p = xir_params_copy(w.net, XIR_STR("w"), f32s(&w, 3), bytes, sizeof bytes);
    assert_non_null(p);
    bytes[0] = 9;
    const float *data = xir_params_typed(p, sizeof(float));
    assert_non_null(data);
    assert_ptr_equal(xir_params_data(p, &size), data);
    assert_int_equal(size, 12);
    assert_true(data[0] == 1 && data[2] == 3);
    assert_true(xir_params_has_data(p));

    float two[2] = { 0 };
    assert_int_equal(xir_params_read(p, 4, two, 8), XIR_OK);
    assert_true(two[0] == 2 && two[1] == 3);
    assert_int_equal(xir_params_read(p, 12, two, 0), XIR_OK);
    assert_int_equal(xir_params_read(p, 5, two, 8), XIR_E_BOUNDS);
    assert_int_equal(xir_params_read(p, 13, two, 0), XIR_E_BOUNDS);
    assert_int_equal(xir_params_read(p, UINT64_MAX, two, 1), XIR_E_BOUNDS);

    float *mine = xir_params_edit(p);
    assert_ptr_equal(mine, data);   /* no other owner: no copy */
    mine[1] = 7;
    assert_int_equal(xir_params_read(p, 4, two, 4), XIR_OK);
    assert_true(two[0] == 7);

    /* Filled from its own bytes: the old ones are read before they are freed. */
    assert_int_equal(xir_params_set_copy(p, data, 12), XIR_OK);
    data = xir_params_data(p, NULL);
    assert_true(data[0] == 1 && data[1] == 7 && data[2] == 3);
    end_world(w);
}

static void borrowed_bytes_are_released_once(void **state) {
    (void)state;
    world w = new_world();
    static const float bytes[3] = { 1, 2, 3 };
    lender first = { 0 }, second = { 0 }, third = { 0 };
    xir_value *p = xir_params_borrow(w.net, XIR_STR("w"), f32s(&w, 3), bytes, 12, release, &first);
    assert_ptr_equal(xir_params_data(p, NULL), bytes);
    assert_int_equal(xir_params_set_borrow(p, bytes, 12, release, &second), XIR_OK);
    assert_int_equal(first.released, 1);
    assert_ptr_equal(first.of, bytes);
    float *mine = xir_params_edit(p);   /* a copy: borrowed bytes are never written */
    assert_int_equal(second.released, 1);
    assert_ptr_not_equal(mine, bytes);
    assert_true(mine[2] == 3);
    assert_int_equal((uintptr_t)mine % 16, 0);
    assert_int_equal(xir_params_set_borrow(p, bytes, 12, NULL, NULL), XIR_OK);
    assert_int_equal(xir_params_set_borrow(p, bytes, 12, release, &third), XIR_OK);
    xir_params_clear(p);
    assert_int_equal(third.released, 1);
    assert_false(xir_params_has_data(p));
    assert_int_equal(xir_params_set_borrow(p, bytes, 12, release, &third), XIR_OK);
    end_world(w);
    assert_int_equal(third.released, 2);
}

static void a_size_that_the_type_does_not_take_is_refused(void **state) {
    (void)state;
    world w = new_world();
    lender l = { 0 };
    float bytes[3] = { 1, 2, 3 };
    assert_null(xir_params_copy(w.net, XIR_STR("w"), f32s(&w, 3), bytes, 11));
    assert_int_equal(xir_network_status(w.net), XIR_E_BOUNDS);
    assert_said(&w, "parameter 'w' gets 11 bytes, its type takes 12");
    assert_null(xir_params_borrow(w.net, XIR_STR("w"), f32s(&w, 3), bytes, 13, release, &l));
    assert_null(xir_params_copy(w.net, XIR_STR("w"), f32s(&w, -1), bytes, 12));
    assert_said(&w, "parameter 'w' gets bytes but has an unknown dim");
    assert_null(xir_params_copy(w.net, XIR_STR("w"), f32s(&w, INT64_MAX), bytes, 12));
    assert_int_equal(l.released, 0);   /* a refused caller keeps the bytes that it offered */

    xir_value *p = xir_params_copy(w.net, XIR_STR("w"), f32s(&w, 3), bytes, 12);
    assert_int_equal(xir_params_set_copy(p, bytes, 8), XIR_E_BOUNDS);
    assert_int_equal(xir_params_set_borrow(p, bytes, 8, release, &l), XIR_E_BOUNDS);
    assert_int_equal(l.released, 0);
    assert_memory_equal(xir_params_data(p, NULL), bytes, 12);
    end_world(w);
}

static float square(size_t i) { return (float)(i * i); }

static void a_type_without_a_size_takes_no_bytes(void **state) {
    (void)state;
    world w = new_world();
    float bytes[3] = { 1, 2, 3 };
    const xir_object *odd = xir_object_parse(w.ctx, XIR_STR("{\"_type_key\":\"my::OddType\"}"), NULL);
    assert_non_null(odd);
    xir_value *p = xir_params_copy(w.net, XIR_STR("w"), f32s(&w, 3), bytes, 12);
    assert_null(xir_params_copy(w.net, XIR_STR("odd"), (const xir_type *)odd, bytes, 12));
    assert_said(&w, "parameter 'odd' gets bytes, but how its type is stored is not known");
    assert_int_equal(xir_value_set_type(p, NULL), XIR_OK);
    assert_int_equal(xir_params_set_copy(p, bytes, 12), XIR_E_TYPE);
    assert_said(&w, "parameter 'w' gets bytes but has no type");
    assert_int_equal(xir_params_fill_f32(p, square), XIR_E_TYPE);
    assert_true(xir_params_has_data(p));   /* the old bytes */
    xir_params_clear(p);
    assert_false(xir_params_has_data(p));
    assert_true(xir_params_equal(p, p));
    end_world(w);
}

static void sizes_follow_the_storage(void **state) {
    (void)state;
    world w = new_world();
    static const struct { int64_t bits, n; size_t bytes; } rows[] = {
        { 1, 1, 1 }, { 1, 8, 1 }, { 1, 9, 2 }, { 4, 3, 2 }, { 8, 5, 5 }, { 12, 3, 5 }, { 16, 2, 4 }, { 64, 2, 16 }, { 3, 0, 0 },
    };
    uint8_t bytes[16] = { 0 };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const xir_type *type = xir_type_tensor_text(w.ctx, xir_type_uint(w.ctx, rows[i].bits), "*", &rows[i].n, 1);
        xir_value *p = xir_params_copy(w.net, XIR_STR("w"), type, bytes, rows[i].bytes);
        assert_non_null(p);
        assert_true(xir_params_has_data(p));
    }
    end_world(w);
}

static void a_type_of_no_bytes_is_never_without_data(void **state) {
    (void)state;
    world w = new_world();
    uint64_t size;
    xir_value *p = xir_params_new(w.net, XIR_STR("empty"), f32s(&w, 0));
    for (int i = 0; i < 3; i++) {
        assert_true(xir_params_has_data(p));
        assert_null(xir_params_data(p, &size));
        assert_int_equal(size, 0);
        assert_int_equal(xir_params_read(p, 0, &size, 0), XIR_OK);
        assert_int_equal(xir_params_read(p, 0, &size, 1), XIR_E_BOUNDS);
        assert_int_equal(xir_params_load(p), XIR_OK);
        assert_null(xir_params_edit(p));
        if (i == 0) assert_int_equal(xir_params_set_copy(p, NULL, 0), XIR_OK);
        else xir_params_clear(p);
    }
    end_world(w);
}

/* ---- filling ------------------------------------------------------------------------------------------------ */

static void double_it(void *user, size_t i, void *out) {
    uint16_t v = (uint16_t)(i * 2 + *(unsigned *)user);
    memcpy(out, &v, sizeof v);
}

static void every_element_is_filled(void **state) {
    (void)state;
    world w = new_world();
    int64_t dims[] = { 2, 3 };
    unsigned base = 100;
    xir_value *p = xir_params_new(w.net, XIR_STR("w"),
                                  xir_type_tensor_text(w.ctx, xir_type_float(w.ctx, XIR_FLOAT_FP32), "**", dims, 2));
    assert_int_equal(xir_params_fill_f32(p, square), XIR_OK);
    const float *reals = xir_params_typed(p, 4);
    for (int i = 0; i < 6; i++) assert_true(reals[i] == (float)(i * i));
    assert_int_equal(xir_params_fill(p, 2, double_it, &base), XIR_E_TYPE);
    assert_said(&w, "parameter 'w' is filled with elements of 2 bytes, its type stores 32 bits");
    assert_true(((const float *)xir_params_data(p, NULL))[5] == 25);   /* the old bytes are kept */

    p = xir_params_new(w.net, XIR_STR("h"),
                       xir_type_tensor_text(w.ctx, xir_type_float(w.ctx, XIR_FLOAT_FP16), "**", dims, 2));
    assert_int_equal(xir_params_fill(p, 2, double_it, &base), XIR_OK);
    const uint16_t *halves = xir_params_typed(p, 2);
    for (unsigned i = 0; i < 6; i++) assert_int_equal(halves[i], 2 * i + base);
    assert_int_equal(xir_params_fill_f32(p, square), XIR_E_TYPE);

    p = xir_params_new(w.net, XIR_STR("n"), xir_type_tensor_text(w.ctx, xir_type_uint(w.ctx, 4), "**", dims, 2));
    assert_int_equal(xir_params_fill(p, 0, double_it, &base), XIR_E_TYPE);
    assert_int_equal(xir_params_fill(p, 1, double_it, &base), XIR_E_TYPE);
    p = xir_params_new(w.net, XIR_STR("u"), f32s(&w, XIR_UNKNOWN_DIM));
    assert_int_equal(xir_params_fill_f32(p, square), XIR_E_BOUNDS);
    end_world(w);
}

/* ---- sharing ------------------------------------------------------------------------------------------------ */

static void clones_share_until_one_writes(void **state) {
    (void)state;
    static const raw_param wanted[] = { { 3, 1000 } };
    xir_context *ctx = xir_context_new(NULL);
    xir_value *a, *b;
    xir_network *net = raw_network(ctx, wanted, 1, 1, &a);
    raw_fill(a);
    xir_network *copy = xir_network_clone(net);
    assert_non_null(copy);
    assert_int_equal(xir_network_params(copy, &b, 1), 1);
    assert_ptr_not_equal(a, b);
    assert_ptr_equal(xir_params_data(a, NULL), xir_params_data(b, NULL));
    assert_true(xir_params_equal(a, b));
    const void *shared = xir_params_data(a, NULL);
    uint8_t *mine = xir_params_edit(a);
    assert_ptr_not_equal(mine, shared);
    assert_true(raw_is_filled(a));
    mine[7] ^= 1;
    assert_true(raw_is_filled(b));
    assert_false(xir_params_equal(a, b));
    assert_ptr_equal(xir_params_edit(b), shared);   /* the only owner again: no copy */
    xir_network_free(net);
    assert_true(raw_is_filled(b));
    xir_network_free(copy);
    xir_context_free(ctx);
}

static void equality_is_of_sizes_and_bytes(void **state) {
    (void)state;
    world w = new_world();
    xir_value *a = xir_params_new(w.net, XIR_STR("a"), f32s(&w, 2)),
               *b = xir_params_new(w.net, XIR_STR("b"), f32s(&w, 2));
    xir_value *c = xir_params_new(w.net, XIR_STR("c"), f32s(&w, 3)),
               *u = xir_params_new(w.net, XIR_STR("u"), f32s(&w, -1));
    xir_value *i = xir_params_new(w.net, XIR_STR("i"),
                                  xir_type_tensor_text(w.ctx, xir_type_sint(w.ctx, 8), "*", &(int64_t){ 8 }, 1));
    xir_value *x = xir_input(xir_at_end(w.net), "x", f32s(&w, 2));
    assert_true(xir_params_equal(a, b));    /* both without bytes */
    assert_false(xir_params_equal(a, c));
    assert_false(xir_params_equal(a, u));
    assert_true(xir_params_equal(u, u));
    assert_false(xir_params_equal(a, x));
    assert_false(xir_params_equal(x, x));
    assert_int_equal(xir_params_set_copy(a, "01234567", 8), XIR_OK);
    assert_false(xir_params_equal(a, b));   /* one without bytes */
    assert_int_equal(xir_params_set_copy(b, "01234568", 8), XIR_OK);
    assert_false(xir_params_equal(a, b));
    assert_int_equal(xir_params_set_copy(b, "01234567", 8), XIR_OK);
    assert_true(xir_params_equal(a, b));
    assert_int_equal(xir_params_set_copy(i, "01234567", 8), XIR_OK);
    assert_true(xir_params_equal(a, i));    /* types may differ in everything but size */
    end_world(w);
}

static void other_values_have_no_bytes(void **state) {
    (void)state;
    world w = new_world();
    xir_value *x = xir_input(xir_at_end(w.net), "x", f32s(&w, 2));
    float bytes[2] = { 0 };
    assert_false(xir_params_has_data(x));
    assert_int_equal(xir_params_fill(x, 4, double_it, NULL), XIR_E_TYPE);
    assert_false(xir_params_is_lazy(x));
    assert_false(xir_params_allow_no_data(x));
    assert_null(xir_params_data(x, NULL));
    assert_null(xir_params_typed(x, 1));
    assert_null(xir_params_edit(x));
    assert_int_equal(xir_params_set_copy(x, bytes, 8), XIR_E_TYPE);
    assert_int_equal(xir_params_set_borrow(x, bytes, 8, NULL, NULL), XIR_E_TYPE);
    assert_int_equal(xir_params_fill_f32(x, square), XIR_E_TYPE);
    assert_int_equal(xir_params_load(x), XIR_E_TYPE);
    xir_params_clear(x);
    xir_params_set_allow_no_data(x, true);
    assert_false(xir_params_allow_no_data(x));
    xir_value *p = xir_params_new(w.net, XIR_STR("p"), f32s(&w, 2));
    assert_false(xir_params_allow_no_data(p));
    xir_params_set_allow_no_data(p, true);
    assert_true(xir_params_allow_no_data(p));
    end_world(w);
}

static void an_alignment_that_is_not_there_is_not_given(void **state) {
    (void)state;
    world w = new_world();
    _Alignas(16) static const uint8_t bytes[17] = { 0 };
    xir_value *p = xir_params_borrow(w.net, XIR_STR("w"), f32s(&w, 4), bytes + 1, 16, NULL, NULL);
    assert_ptr_equal(xir_params_typed(p, 1), bytes + 1);
    assert_null(xir_params_typed(p, 2));
    assert_null(xir_params_typed(p, 4));
    assert_int_equal(xir_params_set_borrow(p, bytes, 16, NULL, NULL), XIR_OK);
    for (size_t alignment = 1; alignment <= 16; alignment *= 2) assert_ptr_equal(xir_params_typed(p, alignment), bytes);
    assert_null(xir_params_typed(p, 0));
    end_world(w);
}

static void elements_are_aligned_wherever_the_bytes_are(void **state) {
    (void)state;
    world w = new_world();
    _Alignas(16) uint8_t bytes[17] = { 0 };
    const float numbers[4] = { 1, 2, 3, 4 };
    memcpy(bytes + 1, numbers, 16);
    xir_value *p = xir_params_borrow(w.net, XIR_STR("w"), f32s(&w, 4), bytes + 1, 16, NULL, NULL);
    xir_value *q = xir_params_borrow(w.net, XIR_STR("q"), f32s(&w, 4), numbers, 16, NULL, NULL);
    assert_ptr_equal(xir_params_elements(q, 4), numbers);   /* nothing is copied without need */
    const float *found = xir_params_elements(p, sizeof(float));
    assert_true(found && found[0] == 1 && found[3] == 4);
    assert_ptr_equal(xir_params_elements(p, 4), found);
    assert_null(xir_params_elements(p, 8));
    assert_said(&w, "'w' is read as elements of 8 bytes, its type stores 32 bits");
    assert_null(xir_params_elements(p, 0));
    xir_value *bare = xir_params_new(w.net, XIR_STR("bare"), f32s(&w, 4));
    assert_null(xir_params_elements(bare, 4));
    assert_said(&w, "parameter 'bare' has no bytes");
    assert_int_equal(xir_network_status(w.net), XIR_E_TYPE);
    assert_non_null(xir_params_elements(xir_params_new(w.net, XIR_STR("none"), f32s(&w, 0)), 4));
    xir_value *x = xir_input(xir_at_end(w.net), "x", f32s(&w, 4));
    xir_network_clear_status(w.net);
    assert_null(xir_params_elements(x, 4));
    assert_int_equal(xir_network_status(w.net), XIR_E_TYPE);
    end_world(w);
}

static void params_are_typed_later(void **state) {
    (void)state;
    world w = new_world();
    xir_value *p = xir_params_new_untyped(w.net, XIR_STR("p"));
    assert_true(p && xir_value_is_params(p) && !xir_value_type(p) && !xir_params_has_data(p));
    assert_int_equal(xir_params_set_copy(p, "abcd", 4), XIR_E_TYPE);
    assert_said(&w, "parameter 'p' gets bytes but has no type");
    /* As an operand before it has a type. */
    xir_network_clear_status(w.net);
    const int64_t dims[] = { 1, 2, 2, 4 };
    xir_value *x = xir_input(xir_at_end(w.net), "x",
                             xir_type_tensor_text(w.ctx, xir_type_float(w.ctx, XIR_FLOAT_FP32), "NHWC", dims, 4));
    xir_value *y = XIR_OP(xir_at_end(w.net), prelu, .input = x, .attrs = XIR_ATTRS(prelu, (alpha, p)));
    assert_non_null(y);
    assert_int_equal(xir_value_id(p), 1);
    assert_int_equal(xir_value_set_type(p, f32s(&w, 4)), XIR_OK);
    const float slopes[] = { 1, 2, 3, 4 };
    assert_int_equal(xir_params_set_copy(p, slopes, sizeof slopes), XIR_OK);
    assert_true(xir_params_has_data(p));
    end_world(w);
}

static void type_memory_and_bytes_are_given_at_once(void **state) {
    (void)state;
    world w = new_world();
    const float numbers[] = { 1, 2 };
    xir_value *p = xir_params_copy_in(w.net, XIR_STR("p"), f32s(&w, 2), xir_mtype_external(w.ctx, 512), numbers, 8);
    assert_non_null(p);
    assert_int_equal(xir_mtype_addr(xir_value_mtype(p)), 512);
    assert_memory_equal(xir_params_data(p, NULL), numbers, 8);
    xir_value *host = xir_params_copy_in(w.net, XIR_STR("h"), f32s(&w, 2), NULL, numbers, 8);
    assert_int_equal(xir_mtype_kind_of(xir_value_mtype(host)), XIR_MTYPE_HOST);
    assert_null(xir_params_copy_in(w.net, XIR_STR("s"), f32s(&w, 2), NULL, numbers, 7));
    assert_said(&w, "parameter 's' gets 7 bytes, its type takes 8");
    assert_null(xir_params_copy_in(w.net, XIR_STR("t"), NULL, NULL, numbers, 8));
    end_world(w);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(new_params_have_a_name_a_type_and_no_bytes),
        cmocka_unit_test(copied_bytes_are_the_values_own),
        cmocka_unit_test(borrowed_bytes_are_released_once),
        cmocka_unit_test(a_size_that_the_type_does_not_take_is_refused),
        cmocka_unit_test(a_type_without_a_size_takes_no_bytes),
        cmocka_unit_test(sizes_follow_the_storage),
        cmocka_unit_test(a_type_of_no_bytes_is_never_without_data),
        cmocka_unit_test(every_element_is_filled),
        cmocka_unit_test(clones_share_until_one_writes),
        cmocka_unit_test(equality_is_of_sizes_and_bytes),
        cmocka_unit_test(other_values_have_no_bytes),
        cmocka_unit_test(an_alignment_that_is_not_there_is_not_given),
        cmocka_unit_test(elements_are_aligned_wherever_the_bytes_are),
        cmocka_unit_test(params_are_typed_later),
        cmocka_unit_test(type_memory_and_bytes_are_given_at_once),
    };
    return cmocka_run_group_tests_name("params", tests, NULL, NULL);
}
