/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Functions by class and by trait, and traits that programs and plug-ins define. */
#include <stdio.h>
#include <xir/icraft.h>
#include "support/net.h"
#include "support/own.h"

/* Each answers with a letter. */
typedef char letter_fn(int times);
XIR_FUNCTOR(letter, letter_fn)

static char a(int n) { return (char)('a' + n); }
static char b(int n) { return (char)('b' + n); }
static char c(int n) { return (char)('c' + n); }
static char d(int n) { return (char)('d' + n); }

static char letter_of_class(const xir_functor *f, const xir_class *cls) {
    letter_fn *fn = (letter_fn *)xir_functor_find(f, cls);
    return fn ? fn(0) : '-';
}

static xir_context *with;
static xir_functor *f;

static int set_up(void **state) {
    (void)state;
    with = xir_context_new(NULL);
    f = with ? xir_functor_new(with) : NULL;
    return f ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    xir_functor_free(f);
    xir_context_free(with);
    return 0;
}

static const xir_class *class_of(xir_class_fn *fn) {
    const xir_class *cls = xir_class_find_decl(with, fn());
    assert_non_null(cls);
    return cls;
}

static void register_own(void) {
    const xir_class_decl *const own[] = { xir_own_thing_class(), xir_own_grain_class(), xir_own_box_class(),
                                          xir_own_mix_class(), xir_own_all_class() };
    for (size_t i = 0; i < COUNT(own); i++) DOES(xir_class_register(with, own[i], why));
}

/* ---- numbers ---------------------------------------------------------------------------------------------------- */

static void classes_are_numbered_in_the_order_of_registration(void **state) {
    (void)state;
    uint32_t n = 0;
    for (; xir_context_class_at(with, n); n++) assert_int_equal(xir_class_number(xir_context_class_at(with, n)), n);
    assert_int_equal(xir_class_number(xir_class_opaque(with, XIR_STR("someone::Op"))), UINT32_MAX);
    register_own();
    assert_int_equal(xir_class_number(class_of(xir_own_thing_class)), n);
    assert_int_equal(xir_class_number(class_of(xir_own_all_class)), n + 4);
    assert_int_equal(xir_class_number(xir_context_class_at(with, 7)), 7);
}

/* ---- functors --------------------------------------------------------------------------------------------------- */

static void a_function_is_chosen_by_class(void **state) {
    (void)state;
    xir_network *net = small_net_in(with);
    assert_null(letter_of(f, xir_network_first(net)));
    DOES(letter_set(f, xir_conv2d_class(), a));
    DOES(letter_set(f, xir_relu_class(), b));
    DOES(letter_set_trait(f, XIR_TRAIT_ACTIVATION, c));
    DOES(letter_set_rest(f, d));
    char found[8] = "", *out = found;
    for (xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) *out++ = letter_of(f, op)(0);
    assert_string_equal(found, "dabddd");
    assert_int_equal(letter_of(f, xir_network_first(net))(2), 'f');
    assert_int_equal(letter_of_class(f, class_of(xir_tanh_class)), 'c');   /* an activation without its own */
    DOES(letter_set(f, xir_relu_class(), NULL));
    assert_int_equal(letter_of_class(f, class_of(xir_relu_class)), 'c');
    DOES(letter_set(f, xir_relu_class(), d));
    assert_int_equal(letter_of_class(f, class_of(xir_relu_class)), 'd');
    assert_null(letter_of(f, NULL));
    xir_network_free(net);
}

static void a_class_without_a_function_has_its_base_s(void **state) {
    (void)state;
    register_own();
    DOES(letter_set(f, xir_own_thing_class(), a));
    assert_int_equal(letter_of_class(f, class_of(xir_own_grain_class)), 'a');
    DOES(letter_set(f, xir_own_box_class(), b));
    assert_int_equal(letter_of_class(f, class_of(xir_own_box_class)), 'b');
    assert_int_equal(letter_of_class(f, class_of(xir_own_mix_class)), '-');
}

static void the_trait_that_was_set_first_counts(void **state) {
    (void)state;
    register_own();
    const xir_trait edible = xir_trait_find(with, XIR_STR("test::Edible"));
    const xir_trait large = xir_trait_find(with, XIR_STR("test::Large"));
    const xir_class *mix = class_of(xir_own_mix_class), *all = class_of(xir_own_all_class);
    DOES(letter_set_trait(f, edible | large, a));
    DOES(letter_set_trait(f, large, b));
    DOES(letter_set_trait(f, edible, c));
    assert_int_equal(letter_of_class(f, mix), 'c');   /* not large */
    assert_int_equal(letter_of_class(f, all), 'a');
    DOES(letter_set_trait(f, edible | large, NULL));
    assert_int_equal(letter_of_class(f, all), 'b');
    DOES(letter_set_trait(f, edible | large, a));     /* now the last one */
    assert_int_equal(letter_of_class(f, all), 'b');
    DOES(letter_set_trait(f, large, d));              /* it keeps its place */
    assert_int_equal(letter_of_class(f, all), 'd');
    assert_int_equal(xir_functor_set_trait(f, 0, NULL), XIR_E_INVALID);
}

/* Items that a plug-in brings later take part at once. */
static void classes_and_traits_that_come_later_count(void **state) {
    (void)state;
    DOES(letter_set_rest(f, d));
    assert_int_equal(letter_set(f, xir_own_mix_class(), a), XIR_E_UNKNOWN);
    const xir_trait edible = xir_trait_register(with, XIR_STR("test::Edible"), why);
    DOES(letter_set_trait(f, edible, a));
    register_own();
    assert_int_equal(letter_of_class(f, class_of(xir_own_mix_class)), 'a');
    assert_int_equal(letter_of_class(f, class_of(xir_own_grain_class)), 'd');
    DOES(xir_class_add_trait(with, xir_conv2d_class(), edible));
    assert_int_equal(letter_of_class(f, class_of(xir_conv2d_class)), 'a');
    DOES(letter_set(f, xir_own_grain_class(), b));
    assert_int_equal(letter_of_class(f, class_of(xir_own_grain_class)), 'b');
    assert_int_equal(letter_of_class(f, class_of(xir_conv2d_class)), 'a');
}

static void classes_of_elsewhere_have_no_function(void **state) {
    (void)state;
    DOES(letter_set_rest(f, d));
    const xir_class *strange = xir_class_find_decl(ctx, xir_relu_class());
    assert_int_equal(letter_of_class(f, strange), '-');
    assert_int_equal(xir_functor_set_class(f, strange, (xir_any_fn *)a), XIR_E_UNKNOWN);
    const xir_class *opaque = xir_class_opaque(with, XIR_STR("someone::Op"));
    assert_int_equal(letter_of_class(f, opaque), 'd');
    assert_int_equal(xir_functor_set_class(f, opaque, (xir_any_fn *)a), XIR_E_UNKNOWN);
    assert_int_equal(xir_functor_set_class(f, NULL, (xir_any_fn *)a), XIR_E_UNKNOWN);
    assert_null(xir_functor_find(NULL, class_of(xir_relu_class)));
    assert_int_equal(letter_set(NULL, xir_relu_class(), a), XIR_E_MISSING);
    assert_int_equal(letter_set_trait(NULL, XIR_TRAIT_SINK, a), XIR_E_MISSING);
    assert_int_equal(letter_set_rest(NULL, a), XIR_E_MISSING);
}

/* ---- traits ----------------------------------------------------------------------------------------------------- */

static void a_trait_has_a_name(void **state) {
    (void)state;
    assert_int_equal(xir_trait_find(with, XIR_STR("acme::Fusable")), 0);
    char name[] = "acme::Fusable";
    const xir_trait fusable = xir_trait_register(with, xir_str_of(name), why);
    name[0] = 'x';   /* it is copied */
    assert_true(fusable > UINT32_MAX && !(fusable & (fusable - 1)));
    assert_true(xir_trait_register(with, XIR_STR("acme::Fusable"), why) == fusable);
    assert_true(xir_trait_find(with, XIR_STR("acme::Fusable")) == fusable);
    CHECK_STR(xir_trait_name(with, fusable), "acme::Fusable");
    assert_true(xir_trait_find(with, XIR_STR("sink")) == XIR_TRAIT_SINK);
    CHECK_STR(xir_trait_name(with, XIR_TRAIT_ACTIVATION), "activation");
    assert_int_equal(xir_trait_name(with, fusable << 1).size, 0);
    assert_int_equal(xir_trait_name(with, fusable | XIR_TRAIT_SINK).size, 0);
}

static void a_class_has_the_traits_of_its_rows(void **state) {
    (void)state;
    register_own();
    const xir_trait edible = xir_trait_find(with, XIR_STR("test::Edible"));
    const xir_trait large = xir_trait_find(with, XIR_STR("test::Large"));
    assert_true(edible && large && edible != large);
    const xir_class *mix = class_of(xir_own_mix_class), *all = class_of(xir_own_all_class);
    assert_true(xir_class_has_trait(mix, edible) && !xir_class_has_trait(mix, large));
    assert_true(xir_class_has_trait(mix, edible | XIR_TRAIT_ACTIVATION));
    assert_true(xir_class_has_trait(all, edible | large) && !xir_class_has_trait(all, XIR_TRAIT_ACTIVATION));
    assert_false(xir_class_has_trait(mix, 0));
    CHECK_STR(xir_class_trait_at(mix, 0), "activation");
    CHECK_STR(xir_class_trait_at(mix, 1), "test::Edible");
    assert_int_equal(xir_class_trait_at(mix, 2).size, 0);
    assert_false(xir_class_has_trait(class_of(xir_own_grain_class), edible));
    assert_false(xir_class_has_trait(xir_class_opaque(with, XIR_STR("someone::Op")), edible));
}

static void a_class_is_given_a_trait_later(void **state) {
    (void)state;
    xir_network *net = small_net_in(with);
    xir_op *conv = xir_op_next(xir_network_first(net));
    const xir_trait heavy = xir_trait_register(with, XIR_STR("acme::Heavy"), why);
    assert_false(xir_op_has_trait(conv, heavy));
    DOES(xir_class_add_trait(with, xir_conv2d_class(), heavy));
    assert_true(xir_op_has_trait(conv, heavy));
    assert_false(xir_op_has_trait(NULL, heavy));
    assert_int_equal(xir_class_traits(xir_op_class(conv)), XIR_TRAIT_NONE);
    assert_int_equal(xir_class_add_trait(with, xir_own_mix_class(), heavy), XIR_E_UNKNOWN);
    assert_int_equal(xir_class_add_trait(with, xir_relu_class(), heavy << 1), XIR_E_INVALID);
    assert_int_equal(xir_class_add_trait(with, xir_relu_class(), XIR_TRAIT_SINK), XIR_E_INVALID);
    assert_int_equal(xir_class_add_trait(with, xir_relu_class(), 0), XIR_E_INVALID);
    xir_network_free(net);
}

static void a_context_has_room_for_32(void **state) {
    (void)state;
    char name[32];
    xir_trait all = 0;
    for (int i = 0; i < 31; i++) {
        snprintf(name, sizeof name, "test::Trait%d", i);
        all |= xir_trait_register(with, xir_str_of(name), why);
    }
    assert_true(all == (UINT64_MAX >> 1 & ~(uint64_t)UINT32_MAX));
    /* Of this class's two new traits, the second finds no room: then the first is not registered either. */
    assert_int_equal(xir_class_register(with, xir_own_thing_class(), why), XIR_OK);
    assert_int_equal(xir_class_register(with, xir_own_all_class(), why), XIR_E_LIMIT);
    check_finding(XIR_E_LIMIT, "trait test::Large: the context has 32 others already");
    assert_int_equal(xir_trait_find(with, XIR_STR("test::Edible")), 0);
    assert_true(xir_trait_register(with, XIR_STR("last"), why));
    assert_int_equal(xir_trait_register(with, XIR_STR("one more"), why), 0);
    check_finding(XIR_E_LIMIT, "one more");
    assert_int_equal(xir_trait_register(with, XIR_STR(""), why), 0);
    check_finding(XIR_E_INVALID, "a trait has no name");
}

/* ---- of plug-ins ------------------------------------------------------------------------------------------------- */

static xir_class_fn *const brought[] = { xir_own_thing_class, xir_own_grain_class };
static const xir_plugin_trait given[] = {
    { xir_own_grain_class, "test::Tiny" }, { xir_relu_class, "test::Tiny" }, { xir_relu_class, "test::Round" },
};
static const xir_plugin_trait bad_class[] = { { xir_relu_class, "test::Tiny" }, { xir_own_mix_class, "test::Tiny" } };
static const xir_plugin_trait no_name[] = { { xir_relu_class, NULL } }, empty_name[] = { { xir_relu_class, "" } };
static const xir_plugin_trait own_name[] = { { xir_relu_class, "sink" } };
static const xir_plugin_trait no_class[] = { { NULL, "test::Tiny" } };

static void a_plug_in_brings_traits(void **state) {
    (void)state;
    static const xir_plugin said = { XIR_PLUGIN_HEAD("traits"), .classes = brought, .n_classes = 2, .traits = given,
                                     .n_traits = COUNT(given) };
    DOES(letter_set_trait(f, xir_trait_register(with, XIR_STR("test::Round"), why), b));
    DOES(xir_plugin_add(with, &said, why));
    const xir_trait tiny = xir_trait_find(with, XIR_STR("test::Tiny"));
    assert_true(xir_class_has_trait(class_of(xir_own_grain_class), tiny));
    assert_true(xir_class_has_trait(class_of(xir_relu_class), tiny));
    assert_false(xir_class_has_trait(class_of(xir_own_thing_class), tiny));
    assert_int_equal(letter_of_class(f, class_of(xir_relu_class)), 'b');
}

static void a_plug_in_with_broken_traits_is_refused_whole(void **state) {
    (void)state;
    static const struct { xir_plugin said; xir_status status; const char *part; } rows[] = {
        { { XIR_PLUGIN_HEAD("x"), .n_traits = 1 }, XIR_E_INVALID, "trait 0 of the plug-in is NULL" },
        { { XIR_PLUGIN_HEAD("x"), .traits = no_name, .n_traits = 1 }, XIR_E_INVALID, "trait 0 of the plug-in is NULL" },
        { { XIR_PLUGIN_HEAD("x"), .traits = no_class, .n_traits = 1 }, XIR_E_INVALID, "trait 0 of the plug-in is NULL" },
        { { XIR_PLUGIN_HEAD("x"), .traits = empty_name, .n_traits = 1 }, XIR_E_INVALID, "a trait has no name" },
        { { XIR_PLUGIN_HEAD("x"), .traits = own_name, .n_traits = 1 }, XIR_E_INVALID, "sink, is the library's" },
        { { XIR_PLUGIN_HEAD("x"), .classes = brought, .n_classes = 2, .traits = bad_class, .n_traits = 2 },
          XIR_E_UNKNOWN, "trait 1 is of test::Mix, which is not a registered class" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_int_equal(xir_plugin_add(with, &rows[i].said, why), rows[i].status);
        check_finding(rows[i].status, rows[i].part);
        assert_int_equal(xir_trait_find(with, XIR_STR("test::Tiny")), 0);
        assert_null(xir_class_find(with, XIR_STR("test::Grain")));
    }
}

#define STORY(t) cmocka_unit_test_setup_teardown(t, set_up, tear_down)

GROUP {
    const struct CMUnitTest tests[] = {
        STORY(classes_are_numbered_in_the_order_of_registration),
        STORY(a_function_is_chosen_by_class),
        STORY(a_class_without_a_function_has_its_base_s),
        STORY(the_trait_that_was_set_first_counts),
        STORY(classes_and_traits_that_come_later_count),
        STORY(classes_of_elsewhere_have_no_function),
        STORY(a_trait_has_a_name),
        STORY(a_class_has_the_traits_of_its_rows),
        STORY(a_class_is_given_a_trait_later),
        STORY(a_context_has_room_for_32),
        STORY(a_plug_in_brings_traits),
        STORY(a_plug_in_with_broken_traits_is_refused_whole),
    };
    return RUN_GROUP(tests);
}
