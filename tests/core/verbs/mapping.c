/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Copies of ops, views and networks in networks that exist: what the inputs are, what is shared, what is refused; and
 * equality by rules of the caller. */
#include <stdlib.h>
#include <xir/icraft.h>
#include "support/net.h"
#include "support/often.h"

/* A network with one input like the second value of small_net, and nothing else. */
static xir_network *empty_with(xir_value **x, const xir_value *like) {
    xir_network *net = new_net();
    *x = xir_input(xir_at_end(net), "x", xir_value_type(like));
    assert_non_null(*x);
    return net;
}

static xir_mapping *mapping(xir_network *from, xir_network *to) {
    xir_mapping *map = xir_mapping_new(from, to);
    assert_non_null(map);
    return map;
}

static xir_view *all(xir_network *net) { return xir_view_range(net, 0, INT64_MAX); }

static void free_all(xir_mapping *map, xir_network *from, xir_network *to) {
    xir_mapping_free(map);
    xir_network_free(from);
    xir_network_free(to);
}

/* ---- ops -------------------------------------------------------------------------------------------------------- */

static void a_copied_op_takes_what_its_inputs_are_mapped_to(void **state) {
    (void)state;
    xir_network *net = small_net();
    xir_value *x;
    xir_network *to = empty_with(&x, value_of(net, 0));
    xir_mapping *map = mapping(net, to);
    DOES(xir_mapping_set(map, value_of(net, 0), x));
    xir_op *conv = xir_mapping_clone(map, op_of(net, 1), NULL);
    assert_non_null(conv);
    assert_ptr_equal(xir_op_input(conv, 0), x);
    CHECK_STR(xir_op_name(conv), "conv");
    assert_int_equal(xir_op_id(conv), 1);
    assert_ptr_equal(xir_mapping_op(map, op_of(net, 1)), conv);
    assert_ptr_equal(xir_mapping_value(map, value_of(net, 2)), xir_op_output(conv, 0));
    assert_true(xir_type_equal(xir_value_type(xir_op_output(conv, 0)), xir_value_type(value_of(net, 2))));
    /* the weights came along, and the bytes are those of the original until somebody writes */
    xir_value *w = xir_op_input(conv, 1);
    assert_ptr_equal(xir_value_network(w), to);
    assert_ptr_equal(xir_mapping_value(map, value_of(net, 1)), w);
    assert_ptr_equal(xir_params_data(w, NULL), xir_params_data(value_of(net, 1), NULL));
    CHECK_SOUND(to);
    xir_mapping_free(map);
    xir_network_free(net);
    CHECK_SOUND(to);
    xir_network_free(to);
}

static void params_are_copied_once(void **state) {
    (void)state;
    xir_network *net = small_net();
    xir_value *x;
    xir_network *to = empty_with(&x, value_of(net, 0));
    xir_mapping *map = mapping(net, to);
    DOES(xir_mapping_set(map, value_of(net, 0), x));
    xir_op *first = xir_mapping_clone(map, op_of(net, 1), NULL), *second = xir_mapping_clone(map, op_of(net, 1), NULL);
    assert_ptr_not_equal(first, second);
    assert_ptr_equal(xir_op_input(first, 1), xir_op_input(second, 1));
    assert_ptr_equal(xir_mapping_op(map, op_of(net, 1)), second);   /* the newest */
    free_all(map, net, to);
}

/* Unrolling: a body is repeated in its own network, each time with what the time before has made. */
static void within_one_network_values_are_themselves(void **state) {
    (void)state;
    xir_network *net = small_net();
    xir_mapping *map = mapping(net, net);
    xir_op *relu = op_of(net, 2), *out = op_of(net, 5);
    assert_ptr_equal(xir_mapping_value(map, value_of(net, 1)), value_of(net, 1));
    xir_value *now = value_of(net, 3);
    for (int i = 0; i < 3; i++) {
        DOES(xir_mapping_set(map, value_of(net, 2), now));
        xir_op *copy = xir_mapping_clone(map, relu, op_of(net, 3));
        assert_ptr_equal(xir_op_input(copy, 0), now);
        now = xir_op_output(copy, 0);
    }
    DOES(xir_op_set_input(op_of(net, 3), 0, now));
    CHECK_ORDER(net, "0 1 2 6 7 8 3 4 5");
    CHECK_INPUTS(out, "5");
    assert_int_equal(xir_network_validate(net, why), XIR_OK);
    /* weights are shared, unless the rules say no */
    xir_op *conv = xir_mapping_clone(map, op_of(net, 1), op_of(net, 3));
    assert_ptr_equal(xir_op_input(conv, 1), value_of(net, 1));
    DOES(xir_mapping_set_rules(map, &XIR_INIT(xir_mapping_rules, .copies_params = true)));
    conv = xir_mapping_clone(map, op_of(net, 1), op_of(net, 3));
    assert_ptr_not_equal(xir_op_input(conv, 1), value_of(net, 1));
    xir_mapping_free(map);
    CHECK_SOUND(net);
    xir_network_free(net);
}

static void an_input_may_be_left_out(void **state) {
    (void)state;
    xir_network *net = small_net();
    xir_mapping *map = mapping(net, net);
    DOES(xir_mapping_set(map, value_of(net, 1), NULL));
    xir_op *conv = xir_mapping_clone(map, op_of(net, 1), op_of(net, 2));
    CHECK_INPUTS(conv, "0 -");
    assert_int_equal(xir_network_status(net), XIR_OK);
    xir_mapping_free(map);
    xir_network_free(net);
}

/* ---- views ------------------------------------------------------------------------------------------------------ */

static void a_whole_network_goes_into_an_empty_one(void **state) {
    (void)state;
    xir_network *net = small_net(), *to = new_net();
    xir_mapping *map = mapping(net, to);
    xir_view *view = all(net);
    DOES(xir_mapping_clone_view(map, view, NULL));
    bool equal = false;
    DOES(xir_network_equal_by(net, to, &XIR_INIT(xir_equal_rules, .flags = XIR_EQUAL_NO_FIELDS), &equal));
    assert_true(equal);   /* the ids too: the original had the first ones */
    xir_view_free(view);
    xir_mapping_free(map);
    xir_network_free(net);
    assert_int_equal(xir_network_validate(to, why), XIR_OK);
    xir_network_free(to);
}

static void a_network_is_inlined_without_its_ends(void **state) {
    (void)state;
    xir_network *net = small_net(), *body = small_net();
    xir_mapping *map = mapping(body, net);
    xir_op *out = op_of(net, 5);
    DOES(xir_mapping_set(map, value_of(body, 0), value_of(net, 0)));
    xir_view *view = all(body);
    DOES(xir_mapping_clone_view(map, view, out));
    CHECK_ORDER(net, "0 1 2 3 4 6 7 8 9 5");
    xir_value *result = xir_mapping_value(map, value_of(body, 5));
    assert_ptr_equal(xir_value_op(result), op_of(net, 9));
    DOES(xir_op_add_input(out, result));
    assert_int_equal(xir_network_validate(net, why), XIR_OK);
    CHECK_SOUND(net);
    xir_view_free(view);
    xir_mapping_free(map);
    xir_network_free(body);
    xir_network_free(net);
}

static void an_op_may_come_before_what_it_reads(void **state) {
    (void)state;
    xir_network *net = small_net(), *to = new_net();
    DOES(xir_op_move(op_of(net, 4), op_of(net, 3)));
    xir_mapping *map = mapping(net, to);
    xir_view *view = all(net);
    DOES(xir_mapping_clone_view(map, view, NULL));
    assert_ptr_equal(xir_op_input(xir_mapping_op(map, op_of(net, 4)), 0), xir_mapping_value(map, value_of(net, 4)));
    xir_view_free(view);
    free_all(map, net, to);
}

static void sub_ops_are_copied_with_their_op(void **state) {
    (void)state;
    xir_network *net = small_net();
    const xir_type *vector = FP32("*", 4);
    xir_op *a = xir_op_new(net, &(xir_op_desc)DESC(hard_op, INPUTS(value_of(net, 3)), TYPES(vector)));
    xir_op *b = xir_op_new(net, &(xir_op_desc)DESC(hard_op, INPUTS(xir_op_output(a, 0)), TYPES(vector)));
    xir_hard_op_attrs attrs = xir_hard_op_init();
    attrs.sub_hard_ops = (xir_ops){ (xir_op *const[]){ a, b }, 2 };
    xir_op *hard = xir_network_add(net, &(xir_op_desc)DESC(hard_op, .attrs = &attrs, INPUTS(value_of(net, 3)),
                                                           TYPES(vector), .before = op_of(net, 3)));
    assert_non_null(hard);
    xir_value *x;
    xir_network *to = empty_with(&x, value_of(net, 3));
    xir_mapping *map = mapping(net, to);
    REFUSES_NULL(to, xir_mapping_clone(map, hard, NULL), XIR_E_MISSING, "value 3 'relu' is not mapped");
    DOES(xir_mapping_set(map, value_of(net, 3), x));
    xir_op *copy = xir_mapping_clone(map, hard, NULL);
    const xir_ops parts = xir_hard_op_of(copy)->sub_hard_ops;
    assert_int_equal(parts.size, 2);
    assert_ptr_equal(xir_op_parent(parts.data[1]), copy);
    assert_ptr_equal(xir_op_input(parts.data[0], 0), x);
    assert_ptr_equal(xir_op_input(parts.data[1], 0), xir_op_output(parts.data[0], 0));
    assert_ptr_equal(xir_mapping_op(map, a), parts.data[0]);
    CHECK_SOUND(to);
    free_all(map, net, to);
}

/* ---- rules ------------------------------------------------------------------------------------------------------ */

/* Every ReLU becomes a Sigmoid. */
static xir_op *sigmoid_for_relu(void *user, xir_mapping *map, const xir_op *from) {
    ++*(int *)user;
    if (!xir_op_is(from, xir_relu_class())) return NULL;
    xir_value *x = xir_mapping_value(map, xir_op_input(from, 0));
    return xir_op_new(xir_value_network(x), &(xir_op_desc)DESC(sigmoid, INPUTS(x)));
}

/* Weights without their bytes. */
static xir_value *no_bytes(void *user, xir_mapping *map, const xir_value *from) {
    (void)map;
    return xir_params_new(user, xir_value_name(from), xir_value_type(from));
}

static void a_rule_gives_the_op(void **state) {
    (void)state;
    int asked = 0;
    xir_network *net = small_net(), *to = new_net();
    xir_mapping *map = mapping(net, to);
    DOES(xir_mapping_set_rules(map, &XIR_INIT(xir_mapping_rules, .user = &asked, .op = sigmoid_for_relu)));
    xir_view *view = all(net);
    DOES(xir_mapping_clone_view(map, view, NULL));
    assert_int_equal(asked, 6);
    assert_true(xir_op_is(xir_network_op_at(to, 2), xir_sigmoid_class()));
    assert_ptr_equal(xir_op_input(xir_network_op_at(to, 3), 0), xir_op_output(xir_network_op_at(to, 2), 0));
    assert_int_equal(xir_network_validate(to, why), XIR_OK);
    xir_view_free(view);
    free_all(map, net, to);
}

static void a_rule_gives_the_params(void **state) {
    (void)state;
    xir_network *net = small_net();
    xir_value *x;
    xir_network *to = empty_with(&x, value_of(net, 0));
    xir_mapping *map = mapping(net, to);
    DOES(xir_mapping_set_rules(map, &XIR_INIT(xir_mapping_rules, .user = to, .params = no_bytes)));
    DOES(xir_mapping_set(map, value_of(net, 0), x));
    xir_op *conv = xir_mapping_clone(map, op_of(net, 1), NULL);
    CHECK_STR(xir_value_name(xir_op_input(conv, 1)), "w");
    assert_false(xir_params_has_data(xir_op_input(conv, 1)));
    free_all(map, net, to);
}

static xir_op *placed_op(void *user, xir_mapping *map, const xir_op *from) { (void)map, (void)from; return user; }
static xir_value *not_params(void *user, xir_mapping *map, const xir_value *v) { (void)map, (void)v; return user; }

static void a_rule_that_does_not_fit_is_refused(void **state) {
    (void)state;
    xir_network *net = small_net();
    xir_mapping *map = mapping(net, net);
    DOES(xir_mapping_set_rules(map, &XIR_INIT(xir_mapping_rules, .user = op_of(net, 3), .op = placed_op)));
    REFUSES_NULL(net, xir_mapping_clone(map, op_of(net, 2), NULL), XIR_E_INVALID, "the rule's op for op 2 is placed");
    DOES(xir_mapping_set_rules(map, &XIR_INIT(xir_mapping_rules, .user = value_of(net, 3), .params = not_params,
                                              .copies_params = true)));
    REFUSES_NULL(net, xir_mapping_clone(map, op_of(net, 1), NULL), XIR_E_INVALID, "the rule for Params gave something");
    xir_mapping_rules unsized_rules = { 0 };
    REFUSES(net, xir_mapping_set_rules(map, &unsized_rules), XIR_E_ABI, "");
    xir_mapping_free(map);
    xir_network_free(net);
}

/* ---- refusals --------------------------------------------------------------------------------------------------- */

static void what_cannot_be_copied_changes_nothing(void **state) {
    (void)state;
    xir_network *net = small_net(), *other = small_net();
    xir_value *x;
    xir_network *to = empty_with(&x, value_of(net, 0));
    xir_mapping *map = mapping(net, to);
    xir_op *dead = xir_op_clone(op_of(net, 2));
    xir_value *lost = xir_op_output(dead, 0);
    DOES(xir_op_erase(dead));
    REFUSES_NULL(to, xir_mapping_clone(map, op_of(net, 2), NULL), XIR_E_MISSING, "value 2 'conv' is not mapped");
    REFUSES_NULL(to, xir_mapping_clone(map, op_of(other, 1), NULL), XIR_E_INVALID, "of another network");
    REFUSES_NULL(to, xir_mapping_clone(map, dead, NULL), XIR_E_INVALID, "erased");
    REFUSES(to, xir_mapping_set(map, value_of(other, 2), x), XIR_E_INVALID, "of another network");
    REFUSES(to, xir_mapping_set(map, value_of(net, 2), value_of(net, 3)), XIR_E_INVALID, "of another network");
    REFUSES(to, xir_mapping_set(map, lost, x), XIR_E_INVALID, "erased");
    REFUSES_NULL(to, xir_mapping_clone(map, op_of(net, 0), NULL), XIR_E_INVALID, "it must be the first");
    DOES(xir_mapping_set(map, value_of(net, 0), x));
    REFUSES_NULL(to, xir_mapping_clone(map, op_of(net, 1), op_of(net, 2)), XIR_E_INVALID, "is not in this network's");
    xir_view *part = xir_view_range(net, 2, 4), *of_other = all(other), *stale = all(net);
    REFUSES(to, xir_mapping_clone_view(map, part, NULL), XIR_E_MISSING, "value 2 'conv' is not mapped");
    REFUSES(to, xir_mapping_clone_view(map, of_other, NULL), XIR_E_INVALID, "of another network");
    DOES(xir_op_set_name(op_of(net, 2), XIR_STR("new")));
    REFUSES(to, xir_mapping_clone_view(map, stale, NULL), XIR_E_STALE, "has been changed");
    assert_null(xir_mapping_op(map, op_of(net, 2)));
    assert_null(xir_mapping_value(map, value_of(net, 3)));
    CHECK_ORDER(to, "0");
    CHECK_SOUND(to);
    xir_view_free(part);
    xir_view_free(of_other);
    xir_view_free(stale);
    xir_mapping_free(map);
    xir_network_free(net);
    xir_network_free(other);
    xir_network_free(to);
}

static void erased_copies_are_forgotten(void **state) {
    (void)state;
    xir_network *net = small_net();
    xir_mapping *map = mapping(net, net);
    xir_op *copy = xir_mapping_clone(map, op_of(net, 2), op_of(net, 3));
    DOES(xir_op_erase(copy));
    assert_null(xir_mapping_op(map, op_of(net, 2)));
    assert_ptr_equal(xir_mapping_value(map, value_of(net, 3)), value_of(net, 3));
    xir_mapping_free(map);
    xir_network_free(net);
}

static void networks_of_two_contexts_are_refused(void **state) {
    (void)state;
    xir_context *own = xir_context_new(NULL);
    xir_network *net = small_net_in(own), *to = small_net();
    REFUSES_NULL(to, xir_mapping_new(net, to), XIR_E_INVALID, "two contexts");
    xir_network_free(net);
    xir_context_free(own);
    xir_network_free(to);
}

/* ---- any view of any network ------------------------------------------------------------------------------------ */

enum { MOST_VALUES = 40 };

/* Unary and binary ops over values of one type, each reading any values before it. */
static xir_network *random_chain(void) {
    xir_network *net = new_net();
    xir_at at = XIR_AT(net);
    xir_value *v[MOST_VALUES];
    size_t n = 1, most = 2 + chance(MOST_VALUES - 2);
    v[0] = xir_input(at, "x", FP32("*", 3));
    xir_value *numbers = xir_params_copy(net, XIR_STR("numbers"), FP32("*", 3), "0123456789a", 12);
    while (n < most) {
        xir_value *a = v[chance(n)], *b = v[chance(n)];
        switch (chance(4)) {
        case 0:  v[n++] = xir_build_relu(at, a, "r");               break;
        case 1:  v[n++] = xir_build_add(at, a, numbers, 1, 1, "p"); break;
        default: v[n++] = xir_build_add(at, a, b, 1, 1, "a");       break;
        }
    }
    assert_non_null(xir_output(at, XIR_VALUES(v[n - 1], v[chance(n)])));
    return net;
}

/* The view in a network of its own, made with a mapping. */
static xir_network *by_mapping(xir_network *net, const xir_view *view) {
    xir_network *to = new_net();
    xir_mapping *map = mapping(net, to);
    xir_value *in[MOST_VALUES + 2], *out[MOST_VALUES + 2];
    const xir_type *types[MOST_VALUES + 2];
    size_t n_in = xir_view_inputs(view, in, COUNT(in)), n_out = xir_view_outputs(view, out, COUNT(out));
    for (size_t i = 0; i < n_in; i++) types[i] = xir_value_type(in[i]);
    xir_op *input = xir_network_add(to, &(xir_op_desc)DESC(input, .types = types, .n_types = n_in));
    for (size_t i = 0; i < n_in; i++) DOES(xir_mapping_set(map, in[i], xir_op_output(input, (int64_t)i)));
    DOES(xir_mapping_clone_view(map, view, NULL));
    for (size_t i = 0; i < n_out; i++) out[i] = xir_mapping_value(map, out[i]);
    assert_non_null(xir_output(xir_at_end(to), (xir_values){ out, n_out }));
    xir_mapping_free(map);
    return to;
}

/* The numbers of every value of a network for random inputs: its results are all that its ops make. */
typedef struct numbers {
    const xir_value *of[MOST_VALUES + 2];
    xir_array       *array[MOST_VALUES + 2];
    size_t           n;
} numbers;

static const xir_array *number_of(const numbers *all, const xir_value *v) {
    for (size_t i = 0; i < all->n; i++) {
        if (all->of[i] == v) return all->array[i];
    }
    fail_msg("value %lld has no numbers", (long long)xir_value_id(v));
    return NULL;
}

static numbers compute(xir_network *net, uint64_t seed) {
    numbers all = { .n = 0 };
    xir_value *made[MOST_VALUES + 2];
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
        if (xir_op_output_count(op)) made[all.n] = xir_op_output(op, 0), all.of[all.n] = made[all.n], all.n++;
    }
    xir_network *copy = xir_network_clone(net);   /* views of the network stay valid */
    for (size_t i = 0; i < all.n; i++) made[i] = value_of(copy, xir_value_id(made[i]));
    DOES(xir_op_set_inputs(xir_network_output_op(copy), made, all.n));
    xir_array *x = xir_array_random(ctx, FP32("*", 3), seed, why);
    DOES(xir_network_run(copy, (const xir_array *const *)&x, 1, all.array, all.n, NULL, why));
    xir_array_free(x);
    xir_network_free(copy);
    return all;
}

/* The copy of a view, given what enters the view, computes what leaves it. */
static void same_numbers(const xir_network *to, const xir_view *view, const numbers *all) {
    xir_value *in[MOST_VALUES + 2], *out[MOST_VALUES + 2];
    const xir_array *given[MOST_VALUES + 2];
    xir_array *found[MOST_VALUES + 2];
    const size_t n_in = xir_view_inputs(view, in, COUNT(in)), n_out = xir_view_outputs(view, out, COUNT(out));
    for (size_t i = 0; i < n_in; i++) given[i] = number_of(all, in[i]);
    DOES(xir_network_run(to, given, n_in, found, n_out, NULL, why));
    for (size_t i = 0; i < n_out; i++) {
        assert_memory_equal(xir_array_data(found[i], NULL), xir_array_data(number_of(all, out[i]), NULL), 12);
        xir_array_free(found[i]);
    }
}

/* The copy of a view has the same ops, in the same order; and so has the network of the view, which is made in another
 * way, if the view is convex. Returns whether it is. */
static bool same_network(xir_network *to, const xir_view *view) {
    bool equal = true;
    xir_network *again = xir_view_to_network(view);
    if (again) {
        DOES(xir_network_equal_by(to, again, &XIR_INIT(xir_equal_rules, .flags = XIR_EQUAL_NO_IDS | XIR_EQUAL_NO_NAMES |
                                                       XIR_EQUAL_NO_FIELDS), &equal));
    } else {
        xir_network_clear_status(xir_view_network(view));
    }
    assert_int_equal(xir_network_op_count(to), xir_view_op_count(view) + 2);
    for (int64_t i = 0; i < (int64_t)xir_view_op_count(view) && equal; i++) {
        const xir_op *op = xir_view_op_at(view, i), *copy = xir_network_op_at(to, i + 1);
        equal = xir_op_class(op) == xir_op_class(copy) && xir_op_input_count(op) == xir_op_input_count(copy);
    }
    if (!equal) fail_msg("the copy of a view differs");
    const bool convex = again != NULL;
    xir_network_free(again);
    return convex;
}

static bool is_picked(const xir_op *op, void *user) {
    return ((const bool *)user)[xir_op_slot(op)] && !xir_op_is(op, xir_input_class()) &&
           !xir_op_is(op, xir_output_class());
}

/* A range of the order, or any set of ops. */
static xir_view *random_view(xir_network *net) {
    const int64_t n = (int64_t)xir_network_op_count(net), first = 1 + (int64_t)chance((uint64_t)n - 2);
    bool picked[2 * MOST_VALUES] = { false };
    if (chance(2)) return xir_view_range(net, first, first + 1 + (int64_t)chance((uint64_t)(n - 1 - first)));
    for (size_t i = 0, most = 1 + chance(8); i < COUNT(picked); i++) picked[i] = chance(8) < most;
    picked[xir_op_slot(xir_network_op_at(net, first))] = true;   /* at least one */
    return xir_view_if(net, is_picked, picked);
}

/* Any view, convex or not. XIR_VIEWS is how many. */
static void any_view_becomes_the_same_network(void **state) {
    (void)state;
    const char *text = getenv("XIR_VIEWS");
    const long times = text ? atol(text) : OFTEN(1000);
    long convex = 0;
    for (long i = 0; i < times;) {
        xir_network *net = random_chain();
        const numbers all = compute(net, (uint64_t)i);
        for (int k = 0; k < 4 && i < times; k++, i++) {
            xir_view *view = random_view(net);
            assert_non_null(view);
            xir_network *to = by_mapping(net, view);
            convex += same_network(to, view);
            same_numbers(to, view, &all);
            CHECK_SOUND(to);
            xir_view_free(view);
            xir_network_free(to);
        }
        for (size_t k = 0; k < all.n; k++) xir_array_free(all.array[k]);
        xir_network_free(net);
    }
    if (convex < times / 2 || convex > times * 9 / 10) fail_msg("%ld of %ld views are convex", convex, times);
}

/* ---- equality by rules ------------------------------------------------------------------------------------------ */

static bool equal_by(const xir_network *a, const xir_network *b, unsigned flags) {
    bool equal = false;
    DOES(xir_network_equal_by(a, b, &XIR_INIT(xir_equal_rules, .flags = flags), &equal));
    return equal;
}

static float number(size_t i) { return (float)i; }

static void each_flag_leaves_out_one_thing(void **state) {
    (void)state;
    const xir_any tag = xir_any_int(1);
    for (unsigned what = XIR_EQUAL_NO_IDS; what <= XIR_EQUAL_NO_FIELDS; what *= 2) {
        xir_network *a = small_net(), *b = small_net();
        assert_true(equal_by(a, b, 0));
        switch (what) {
        case XIR_EQUAL_NO_IDS:     DOES(xir_op_set_id(op_of(b, 2), 40));                                break;
        case XIR_EQUAL_NO_NAMES:   DOES(xir_op_set_name(op_of(b, 2), XIR_STR("other")));                break;
        case XIR_EQUAL_NO_TAGS:    DOES(xir_value_set_tag(value_of(b, 2), XIR_STR("t"), &tag));         break;
        case XIR_EQUAL_NO_TARGETS: DOES(xir_value_set_mtype(value_of(b, 2), xir_mtype_onchip(ctx, 1))); break;
        case XIR_EQUAL_NO_BYTES:   DOES(xir_params_fill_f32(value_of(b, 1), number));                   break;
        case XIR_EQUAL_NO_FIELDS:  DOES(xir_network_set_text(b, XIR_TEXT_NAME, XIR_STR("other")));      break;
        default:                   fail_msg("no change for flag %u", what);
        }
        for (unsigned flag = 1; flag <= XIR_EQUAL_NO_FIELDS; flag *= 2) {
            if (equal_by(a, b, flag) != (flag == what)) fail_msg("change %u, flag %u", what, flag);
        }
        xir_network_free(a);
        xir_network_free(b);
    }
}

/* Without ids an operand is where it comes from. */
static void without_ids_operands_count(void **state) {
    (void)state;
    xir_network *a = small_net(), *b = small_net();
    DOES(xir_op_set_input(op_of(b, 3), 0, value_of(b, 2)));
    assert_false(equal_by(a, b, XIR_EQUAL_NO_IDS));
    DOES(xir_op_set_input(op_of(a, 3), 0, value_of(a, 2)));
    assert_true(equal_by(a, b, XIR_EQUAL_NO_IDS));
    xir_network_free(a);
    xir_network_free(b);
}

static xir_sameness any_relu(void *user, const xir_op *a, const xir_op *b) {
    (void)user;
    return xir_op_is(a, xir_relu_class()) && xir_op_is(b, xir_relu_class()) ? XIR_SAME_ALWAYS : XIR_SAME_IF_USUAL;
}
static xir_sameness never_params(void *user, const xir_value *a, const xir_value *b) {
    (void)user, (void)b;
    return xir_value_is_params(a) ? XIR_SAME_NEVER : XIR_SAME_IF_USUAL;
}

static void rules_answer_first(void **state) {
    (void)state;
    bool equal = false;
    xir_network *a = small_net(), *b = small_net();
    DOES(xir_op_set_real(op_of(b, 2), "alpha", 0.5));
    assert_false(equal_by(a, b, 0));
    DOES(xir_network_equal_by(a, b, &XIR_INIT(xir_equal_rules, .op = any_relu), &equal));
    assert_true(equal);
    DOES(xir_network_equal_by(a, a, &XIR_INIT(xir_equal_rules, .value = never_params), &equal));
    assert_true(equal);   /* the same record is equal to itself */
    DOES(xir_network_equal_by(a, b, &XIR_INIT(xir_equal_rules, .op = any_relu, .value = never_params), &equal));
    assert_false(equal);
    xir_network_free(a);
    xir_network_free(b);
}

static void rules_that_are_not_known_are_refused(void **state) {
    (void)state;
    bool equal;
    xir_network *a = small_net();
    assert_int_equal(xir_network_equal_by(a, a, &XIR_INIT(xir_equal_rules, .flags = 64), &equal), XIR_E_UNSUPPORTED);
    assert_int_equal(xir_network_equal_by(a, a, &(xir_equal_rules){ 0 }, &equal), XIR_E_ABI);
    assert_int_equal(xir_network_equal_by(NULL, a, NULL, &equal), XIR_E_MISSING);
    assert_int_equal(xir_network_equal_by(a, a, NULL, NULL), XIR_E_MISSING);
    xir_network_free(a);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copied_op_takes_what_its_inputs_are_mapped_to),
        cmocka_unit_test(params_are_copied_once),
        cmocka_unit_test(within_one_network_values_are_themselves),
        cmocka_unit_test(an_input_may_be_left_out),
        cmocka_unit_test(a_whole_network_goes_into_an_empty_one),
        cmocka_unit_test(a_network_is_inlined_without_its_ends),
        cmocka_unit_test(an_op_may_come_before_what_it_reads),
        cmocka_unit_test(sub_ops_are_copied_with_their_op),
        cmocka_unit_test(a_rule_gives_the_op),
        cmocka_unit_test(a_rule_gives_the_params),
        cmocka_unit_test(a_rule_that_does_not_fit_is_refused),
        cmocka_unit_test(what_cannot_be_copied_changes_nothing),
        cmocka_unit_test(erased_copies_are_forgotten),
        cmocka_unit_test(networks_of_two_contexts_are_refused),
        cmocka_unit_test(any_view_becomes_the_same_network),
        cmocka_unit_test(each_flag_leaves_out_one_thing),
        cmocka_unit_test(without_ids_operands_count),
        cmocka_unit_test(rules_answer_first),
        cmocka_unit_test(rules_that_are_not_known_are_refused),
    };
    return RUN_GROUP(tests);
}
