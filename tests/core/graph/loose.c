/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Values that are made before the op that makes them, or in another network. */
#include <stdio.h>
#include <xir/icraft.h>
#include "support/input_net.h"

static xir_op *relu;

static int set_up(void **state) {
    if (begin_with_input(state)) return -1;
    relu = xir_value_op(XIR_OP(XIR_AT(net), relu, .input = x, .name = "relu"));
    return relu ? 0 : -1;
}

static xir_value *loose(const char *name) {
    xir_value *v = xir_value_new(net, xir_str_of(name), FP32("NC", 1, 2), xir_mtype_onchip(ctx, 64));
    assert_non_null(v);
    return v;
}

static void a_value_is_made_before_its_op(void **state) {
    (void)state;
    xir_value *v = loose("v");
    assert_true(xir_value_id(v) < 0 && !xir_value_op(v) && !xir_value_is_params(v));
    assert_ptr_equal(xir_value_network(v), net);
    CHECK_STR(xir_value_name(v), "v");
    assert_int_equal(xir_mtype_addr(xir_value_mtype(v)), 64);
    DOES(xir_value_set_tag(v, XIR_STR("k"), &(xir_any){ .kind = XIR_ANY_INT, .as.integer = 3 }));

    /* It has users, one of them placed, before it is an output. */
    xir_op *tanh = xir_op_new(net, &(xir_op_desc)DESC(tanh, INPUTS(v)));
    xir_op *add = xir_value_op(XIR_OP(XIR_AT(net), add, .lhs = x, .rhs = x));
    DOES(xir_op_set_inputs(add, (xir_value *const[]){ v, v }, 2));
    assert_int_equal(xir_op_validate(add, why), XIR_E_MISSING);
    check_finding(XIR_E_MISSING, "no op makes value");

    xir_op *hard = xir_op_new(net, &(xir_op_desc)DESC(hard_op, INPUTS(x), TYPES(FP32("C", 1))));
    DOES(xir_op_place(hard, add));
    const int64_t id = xir_value_id(xir_op_output(hard, 0));
    xir_value *out = xir_op_set_output(hard, 0, v);
    assert_ptr_equal(out, xir_op_output(hard, 0));
    assert_int_equal(xir_value_id(out), id);
    CHECK_STR(xir_value_name(out), "v");
    assert_int_equal(xir_mtype_addr(xir_value_mtype(out)), 64);
    assert_true(xir_type_equal(xir_value_type(out), FP32("NC", 1, 2)));
    assert_non_null(xir_map_find(xir_value_tags(out), XIR_STR("k")));
    assert_int_equal(xir_value_use_count(out), 3);
    assert_ptr_equal(xir_op_input(tanh, 0), out);
    assert_ptr_equal(xir_network_value_by_name(net, XIR_STR("v")), out);
    CHECK_SOUND(net);
}

static void an_output_keeps_its_uses_and_gets_those_of_the_value(void **state) {
    (void)state;
    xir_value *y = xir_op_output(relu, 0), *v = loose("");
    xir_op *first = xir_value_op(XIR_OP(XIR_AT(net), tanh, .input = y));
    xir_op *second = xir_op_new(net, &(xir_op_desc)DESC(tanh, INPUTS(v)));
    DOES(xir_value_set_name(y, XIR_STR("old")));
    assert_ptr_equal(xir_op_set_output(relu, 0, v), y);
    assert_int_equal(xir_value_name(y).size, 0);   /* the value had none */
    assert_ptr_equal(xir_op_input(first, 0), y);
    assert_ptr_equal(xir_op_input(second, 0), y);
    assert_null(xir_network_value_by_name(net, XIR_STR("old")));
    CHECK_SOUND(net);
}

static void one_more_output_is_added(void **state) {
    (void)state;
    xir_value *y = xir_op_output(relu, 0);
    const int64_t id = xir_value_id(y);
    XIR_OP(XIR_AT(net), tanh, .input = y);
    assert_int_equal(xir_network_op_by_id(net, 0) != NULL, 1);   /* makes the tables of ids */
    xir_value *more = xir_op_set_output(relu, 1, loose("more"));
    assert_ptr_equal(more, xir_op_output(relu, 1));
    assert_int_equal(xir_value_id(xir_op_output(relu, 0)), id);
    assert_ptr_equal(xir_network_value_by_id(net, id), xir_op_output(relu, 0));
    assert_ptr_equal(xir_network_value_by_id(net, xir_value_id(more)), more);
    REFUSES_NULL(net, xir_op_set_output(relu, 3, loose("far")), XIR_E_BOUNDS, "output 3 of an op that has 2");
    CHECK_SOUND(net);
}

static void an_id_comes_along(void **state) {
    (void)state;
    xir_value *v = loose("v"), *same = loose("same");
    DOES(xir_value_set_id(v, 40));
    REFUSES_NULL(net, xir_op_set_output(relu, 0, x), XIR_E_INVALID, "is an output of op 0");
    xir_value *out = xir_op_set_output(relu, 0, v);
    assert_int_equal(xir_value_id(out), 40);
    assert_ptr_equal(xir_network_value_by_id(net, 40), out);
    assert_null(xir_network_value_by_id(net, 1));        /* the id that the output had */
    REFUSES(net, xir_value_set_id(same, 40), XIR_E_EXISTS, "value id 40 is taken");
    CHECK_SOUND(net);
}

static void all_outputs_are_set_at_once(void **state) {
    (void)state;
    xir_value *values[] = { loose("a"), loose("b"), loose("c"), loose("d"), loose("e"), loose("f") };
    DOES(xir_op_set_output_values(relu, values, 6));
    assert_int_equal(xir_op_output_count(relu), 6);
    CHECK_STR(xir_value_name(xir_op_output(relu, 5)), "f");
    xir_value *e = xir_op_output(relu, 4);
    XIR_OP(XIR_AT(net), tanh, .input = e);
    xir_value *two[] = { loose("g"), loose("h") };
    REFUSES(net, xir_op_set_output_values(relu, two, 2), XIR_E_IN_USE, "output 4 of op 1 is used by op 2");
    CHECK_STR(xir_value_name(two[0]), "g");              /* it may still become one */
    xir_op *other = xir_op_new(net, &(xir_op_desc)DESC(hard_op, INPUTS(x), TYPES(FP32("C", 1))));
    DOES(xir_op_set_output_values(other, two, 2));
    DOES(xir_op_place(other, NULL));
    CHECK_STR(xir_value_name(xir_op_output(other, 1)), "h");
    DOES(xir_op_set_output_values(other, NULL, 0));
    assert_int_equal(xir_op_output_count(other), 0);
    CHECK_SOUND(net);
}

static void values_that_do_not_fit_are_refused(void **state) {
    (void)state;
    xir_network *elsewhere = new_net();
    xir_value *v = loose("v"), *spent = loose("spent");
    xir_value *stranger = xir_value_new(elsewhere, XIR_STR("s"), FP32("C", 1), NULL);
    xir_value *params = xir_params_new(net, XIR_STR("p"), FP32("C", 1));
    assert_non_null(xir_op_set_output(relu, 0, spent));
    REFUSES_NULL(net, xir_op_set_output(relu, 0, NULL), XIR_E_MISSING, "expected a value, found NULL");
    REFUSES_NULL(net, xir_op_set_output(relu, 0, spent), XIR_E_INVALID, "has become an output already");
    REFUSES_NULL(net, xir_op_set_output(relu, 0, params), XIR_E_INVALID, "is Params");
    REFUSES_NULL(net, xir_op_set_output(relu, 0, stranger), XIR_E_INVALID, "is of another network");
    REFUSES(net, xir_op_set_output_values(relu, (xir_value *const[]){ v, v }, 2), XIR_E_EXISTS, "is listed twice");
    REFUSES(net, xir_op_set_output_values(relu, (xir_value *const[]){ v, x }, 2), XIR_E_INVALID,
            "output 1 is an output of op 0");
    REFUSES(net, xir_op_add_input(relu, spent), XIR_E_INVALID, "the value has become an output: use that");
    REFUSES_NULL(net, xir_add_relu(xir_at_end(net), (xir_relu_in){ .input = spent }, NULL), XIR_E_INVALID,
                 "has become an output: use that");
    assert_null(xir_value_op(v));
    xir_op *loop = xir_op_new(net, &(xir_op_desc)DESC(hard_op, INPUTS(v), TYPES(FP32("C", 1))));
    REFUSES_NULL(net, xir_op_set_output(loop, 0, v), XIR_E_INVALID, "would be an input of its own op");
    DOES(xir_op_erase(loop));
    REFUSES_NULL(net, xir_op_set_output(loop, 0, v), XIR_E_INVALID, "the op is erased");
    REFUSES_NULL(net, xir_value_new(net, XIR_STR("n"), NULL, NULL), XIR_E_TYPE, "value 'n' is made without a type");
    assert_non_null(xir_op_set_output(relu, 0, v));
    xir_network_free(elsewhere);
}

/* A value that has become an output is done with: nothing brings it back. */
static void a_value_that_is_used_up_is_refused(void **state) {
    (void)state;
    xir_value *spent = loose("spent"), *out = xir_op_set_output(relu, 0, spent);
    const xir_user user = { relu, 0 };
    REFUSES(net, xir_value_connect(spent, &user, 1), XIR_E_INVALID, "has become an output: use that");
    REFUSES(net, xir_value_replace(x, spent), XIR_E_INVALID, "has become an output: use that");
    REFUSES(net, xir_value_set_name(spent, XIR_STR("")), XIR_E_INVALID, "has become an output: use that");
    REFUSES(net, xir_value_set_id(spent, 70), XIR_E_INVALID, "has become an output: use that");
    REFUSES(net, xir_value_set_type(spent, FP32("C", 1)), XIR_E_INVALID, "has become an output: use that");
    REFUSES(net, xir_value_set_mtype(spent, NULL), XIR_E_INVALID, "has become an output: use that");
    REFUSES(net, xir_value_set_tag(spent, XIR_STR("a"), NULL), XIR_E_INVALID, "has become an output: use that");
    assert_ptr_equal(xir_op_input(relu, 0), x);
    assert_ptr_equal(xir_op_output(relu, 0), out);
    CHECK_SOUND(net);
}

static void an_id_is_taken_though_no_op_uses_the_value(void **state) {
    (void)state;
    xir_value *v = loose("v"), *w = loose("w");
    DOES(xir_value_set_id(v, 40));
    REFUSES(net, xir_value_set_id(w, 40), XIR_E_EXISTS, "value id 40 is taken");
    const xir_value *out = xir_op_set_output(relu, 0, v);
    assert_int_equal(xir_value_id(out), 40);
}

/* The identity of the value counts, although its id is temporary. */
static void a_clone_with_a_value_that_no_op_makes_is_equal(void **state) {
    (void)state;
    xir_value *v = loose("v"), *w = loose("v");
    xir_op *hard = xir_network_add(net, &(xir_op_desc)DESC(hard_op, INPUTS(v, v), TYPES(FP32("C", 1))));
    xir_network *copy = xir_network_clone(net);
    assert_true(xir_network_equal(net, copy, true));
    DOES(xir_op_set_input(hard, 1, w));
    assert_false(xir_network_equal(net, copy, true));
    xir_network_free(copy);
}

static void a_value_is_found_by_name_though_a_later_op_is_not_placed(void **state) {
    (void)state;
    xir_value *v = loose("v");
    DOES(xir_op_set_input(relu, 0, v));
    xir_op *draft = xir_op_create(net, XIR_STR("icraft::xir::ReLU"));
    DOES(xir_op_add_input(draft, v));
    assert_ptr_equal(xir_network_value_by_name(net, XIR_STR("v")), v);
}

static void a_value_is_found_by_name_once_an_op_uses_it(void **state) {
    (void)state;
    xir_value *v = loose("v"), *w = loose("w");
    assert_null(xir_network_value_by_name(net, XIR_STR("v")));   /* the table is made now */
    DOES(xir_op_set_input(relu, 0, v));
    assert_ptr_equal(xir_network_value_by_name(net, XIR_STR("v")), v);
    DOES(xir_value_replace(v, w));
    assert_ptr_equal(xir_network_value_by_name(net, XIR_STR("w")), w);
    DOES(xir_value_connect(v, &(const xir_user){ relu, 0 }, 1));
    assert_ptr_equal(xir_network_value_by_name(net, XIR_STR("v")), v);
}

/* ---- of another network ----------------------------------------------------------------------------------------- */

static void a_value_of_another_network_is_copied(void **state) {
    (void)state;
    xir_network *from = small_net();
    xir_value *conv = value_of(from, 2), *weights = value_of(from, 1);
    DOES(xir_value_set_name(conv, XIR_STR("conv")));
    DOES(xir_value_set_mtype(conv, xir_mtype_external(ctx, 128)));
    xir_value *v = xir_value_clone(conv, net), *p = xir_value_clone(weights, net);
    assert_true(v && !xir_value_op(v) && xir_value_id(v) < 0 && !xir_value_uses(v));
    CHECK_STR(xir_value_name(v), "conv");
    assert_int_equal(xir_mtype_addr(xir_value_mtype(v)), 128);
    assert_true(p && xir_value_is_params(p) && xir_value_network(p) == net && xir_value_id(p) < 0);
    assert_true(xir_params_equal(p, weights));
    if (xir_params_has_data(weights)) assert_ptr_equal(xir_params_data(p, NULL), xir_params_data(weights, NULL));
    xir_value *again = xir_value_clone(p, net);                  /* in its own network */
    assert_true(again && again != p);
    xir_network_free(from);
    xir_value *out = xir_op_set_output(relu, 0, v);              /* it needs nothing of the other network */
    CHECK_STR(xir_value_name(out), "conv");
    assert_true(xir_type_equal(xir_value_type(out), FP32("NHWC", 1, 8, 8, 4)));
    CHECK_SOUND(net);
}

static void what_cannot_be_copied_is_refused(void **state) {
    (void)state;
    xir_context *other = xir_context_new(NULL);
    xir_network *there = small_net_in(other);
    REFUSES_NULL(net, xir_value_clone(value_of(there, 1), net), XIR_E_INVALID, "of another context");
    xir_value *spent = loose("v"), *y = xir_op_output(relu, 0);
    xir_op_set_output(relu, 0, spent);
    REFUSES_NULL(net, xir_value_clone(spent, net), XIR_E_INVALID, "has become an output");
    DOES(xir_network_remove(net, relu));
    REFUSES_NULL(net, xir_value_clone(y, net), XIR_E_INVALID, "of an erased op");
    xir_network_free(there);
    xir_context_free(other);
}

/* ---- clones of networks ------------------------------------------------------------------------------------------ */

static void a_value_used_twice_is_one_value_in_a_clone(void **state) {
    (void)state;
    xir_value *v = loose("v"), *w = loose("v");
    DOES(xir_value_set_id(w, 70));
    xir_op *add = xir_value_op(XIR_OP(XIR_AT(net), add, .lhs = x, .rhs = x));
    xir_op *mul = xir_value_op(XIR_OP(XIR_AT(net), multiply, .lhs = x, .rhs = x));
    DOES(xir_op_set_inputs(add, (xir_value *const[]){ v, v }, 2));
    DOES(xir_op_set_inputs(mul, (xir_value *const[]){ w, v }, 2));
    xir_network *copy = xir_network_clone(net);
    xir_op *sum = op_of(copy, xir_op_id(add)), *product = op_of(copy, xir_op_id(mul));
    xir_value *one = xir_op_input(sum, 0), *other = xir_op_input(product, 0);
    assert_true(one && other && one != v && other != one);
    assert_ptr_equal(xir_op_input(sum, 1), one);
    assert_ptr_equal(xir_op_input(product, 1), one);
    assert_true(xir_value_id(one) < 0);
    assert_int_equal(xir_value_id(other), 70);
    assert_ptr_equal(xir_network_value_by_id(copy, 70), other);
    CHECK_STR(xir_value_name(one), "v");

    /* Once it is an output, all uses are satisfied. */
    xir_value *made = xir_op_set_output(op_of(copy, xir_op_id(relu)), 0, one);
    assert_ptr_equal(xir_op_input(sum, 1), made);
    assert_ptr_equal(xir_op_input(product, 1), made);
    CHECK_SOUND(copy);
    xir_network_free(copy);
}

static void an_input_that_an_unplaced_op_makes_is_one_that_no_op_makes_in_a_clone(void **state) {
    (void)state;
    xir_op *late = xir_op_new(net, &(xir_op_desc)DESC(hard_op, INPUTS(x), TYPES(FP32("C", 1), FP32("NC", 1, 3))));
    xir_value *y = xir_op_output(late, 1);
    DOES(xir_value_set_name(y, XIR_STR("late")));
    DOES(xir_value_set_mtype(y, xir_mtype_onchip(ctx, 64)));
    xir_op *add = xir_value_op(XIR_OP(XIR_AT(net), add, .lhs = x, .rhs = x));
    DOES(xir_op_set_inputs(add, (xir_value *const[]){ y, y }, 2));
    DOES(xir_op_set_input(relu, 0, xir_op_output(late, 0)));   /* a value with nothing but a type */
    xir_network *copy = xir_network_clone(net);
    xir_op *sum = op_of(copy, xir_op_id(add));
    xir_value *v = xir_op_input(sum, 0), *plain = xir_op_input(op_of(copy, xir_op_id(relu)), 0);
    assert_true(v && plain && v != plain && !xir_value_op(v) && !xir_value_op(plain));
    assert_ptr_equal(xir_op_input(sum, 1), v);
    assert_ptr_equal(xir_value_network(v), copy);
    CHECK_STR(xir_value_name(v), "late");
    assert_int_equal(xir_mtype_addr(xir_value_mtype(v)), 64);
    assert_true(xir_type_equal(xir_value_type(v), FP32("NC", 1, 3)));
    assert_true(xir_type_equal(xir_value_type(plain), FP32("C", 1)));
    assert_int_equal(xir_op_validate(sum, why), XIR_E_MISSING);
    check_finding(XIR_E_MISSING, "no op makes value");
    xir_network_free(copy);
}

/* The network of a view has an Input for them, with an id that a file may have. */
static void loose_values_are_inputs_of_the_network_of_a_view(void **state) {
    (void)state;
    xir_value *v = xir_value_new(net, XIR_STR("v"), FP32("NC", 1, 2), NULL);
    xir_op *add = xir_value_op(XIR_OP(XIR_AT(net), add, .lhs = v, .rhs = v));
    xir_op *late = xir_op_new(net, &(xir_op_desc)DESC(hard_op, INPUTS(x), TYPES(FP32("NC", 1, 2))));
    xir_op *mul = xir_value_op(XIR_OP(XIR_AT(net), multiply, .lhs = xir_op_output(late, 0), .rhs = v));
    const int64_t next = xir_network_next_value_id(net);
    for (int with_source = 0; with_source < 2; with_source++) {
        xir_op *ops[] = { add, mul, xir_value_op(x) };
        xir_view *view = xir_view_ops(net, ops, 2 + with_source);
        xir_network *part = xir_view_to_network(view);
        xir_op *input = xir_network_first(part), *sum = op_of(part, xir_op_id(add));
        assert_int_equal(xir_op_output_count(input), 2 + with_source);
        xir_value *first = xir_op_output(input, with_source), *second = xir_op_output(input, with_source + 1);
        assert_int_equal(xir_value_id(first), next);
        assert_int_equal(xir_value_id(second), next + 1);
        CHECK_STR(xir_value_name(first), "v");
        assert_ptr_equal(xir_op_input(sum, 0), first);
        assert_ptr_equal(xir_op_input(sum, 1), first);
        assert_ptr_equal(xir_op_input(op_of(part, xir_op_id(mul)), 0), second);
        assert_ptr_equal(xir_op_input(op_of(part, xir_op_id(mul)), 1), first);
        assert_int_equal(xir_network_validate(part, why), XIR_OK);
        CHECK_SOUND(part);
        xir_network_free(part);
        xir_view_free(view);
    }
}

/* ---- Params in tags that name each other ----------------------------------------------------------------------- */

static void tag_with(xir_value *v, const char *key, xir_value *params) {
    DOES(xir_value_set_tag(v, xir_str_of(key), &(xir_any){ .kind = XIR_ANY_PARAMS, .as.params = params }));
}

static xir_value *tagged(const xir_value *v, const char *key) {
    const xir_any *tag = xir_map_find(xir_value_tags(v), xir_str_of(key));
    return tag && tag->kind == XIR_ANY_PARAMS ? tag->as.params : NULL;
}

/* Params p and q that name each other; p also names itself, and, twice, Params without tags. */
static xir_value *knot(void) {
    xir_value *p = xir_params_new(net, XIR_STR("p"), FP32("C", 1));
    xir_value *q = xir_params_new(net, XIR_STR("q"), FP32("C", 2));
    xir_value *r = xir_params_new(net, XIR_STR("r"), FP32("C", 3));
    tag_with(p, "self", p);
    tag_with(p, "other", q);
    tag_with(q, "other", p);
    tag_with(p, "plain", r);
    tag_with(q, "plain", r);
    return p;
}

static void check_knot(const xir_value *p, const xir_network *in) {
    const xir_value *q = tagged(p, "other"), *r = tagged(p, "plain");
    assert_true(q && r && q != p && xir_value_network(p) == in && xir_value_network(q) == in);
    CHECK_STR(xir_value_name(p), "p");
    CHECK_STR(xir_value_name(q), "q");
    CHECK_STR(xir_value_name(r), "r");
    assert_ptr_equal(xir_value_network(r), in);
    assert_ptr_equal(tagged(p, "self"), p);
    assert_ptr_equal(tagged(q, "other"), p);
    assert_ptr_equal(tagged(q, "plain"), r);
}

static void params_that_name_each_other_are_copied_once(void **state) {
    (void)state;
    xir_value *p = knot();
    xir_network *there = new_net();
    check_knot(xir_value_clone(p, there), there);
    xir_value *again = xir_value_clone(p, net);
    assert_true(again != p && tagged(again, "other") != tagged(p, "other"));
    check_knot(again, net);
    xir_value *v = loose("v");                     /* an ordinary value may name them too */
    tag_with(v, "a", p);
    tag_with(v, "b", tagged(p, "other"));
    xir_value *named = xir_value_clone(v, there);
    check_knot(tagged(named, "a"), there);
    assert_ptr_equal(tagged(named, "b"), tagged(tagged(named, "a"), "other"));

    DOES(xir_op_add_input(relu, p));
    xir_network *copy = xir_network_clone(net);
    check_knot(xir_op_input(op_of(copy, xir_op_id(relu)), 1), copy);
    xir_network_free(copy);
    xir_network_free(there);
}

/* A copy that fails leaves nothing incomplete in the mapping. */
static void a_mapping_copies_params_that_name_each_other(void **state) {
    (void)state;
    xir_value *p = knot(), *q = tagged(p, "other");
    xir_op *add = xir_value_op(XIR_OP(XIR_AT(net), add, .lhs = p, .rhs = q));
    enum { MANY = 20 };                            /* so many that the lists of the mapping grow */
    char keys[MANY][16];
    for (int i = 0; i < MANY; i++) {
        snprintf(keys[i], sizeof keys[i], "key%d", i);
        tag_with(p, keys[i], xir_params_new(net, xir_str_of(keys[i]), FP32("C", 1)));
    }
    bool refused = true;
    for (size_t n = 0; refused; n++) {
        xir_network *there = new_net();
        assert_non_null(xir_input(XIR_AT(there), "x", FP32("C", 1)));   /* an Add is not the first op */
        xir_mapping *map = xir_mapping_new(net, there);
        refuse_after(n);
        xir_op *sum = xir_mapping_clone(map, add, NULL);
        refused = refuse_end();
        assert_true(refused || sum);
        if (!sum) sum = xir_mapping_clone(map, add, NULL);
        assert_non_null(sum);
        check_knot(xir_op_input(sum, 0), there);
        assert_ptr_equal(xir_op_input(sum, 1), tagged(xir_op_input(sum, 0), "other"));
        assert_ptr_equal(xir_mapping_value(map, p), xir_op_input(sum, 0));
        assert_ptr_equal(xir_mapping_value(map, tagged(p, "plain")), tagged(xir_op_input(sum, 0), "plain"));
        for (int i = 0; i < MANY; i++)
            assert_ptr_equal(xir_mapping_value(map, tagged(p, keys[i])), tagged(xir_op_input(sum, 0), keys[i]));
        xir_mapping_free(map);
        xir_network_free(there);
    }
}

static void clones_fail_without_memory(void **state) {
    (void)state;
    xir_value *p = knot();
    for (int i = 0; i < 40; i++) {                 /* so many that their table grows */
        xir_value *v = loose("v");
        XIR_OP(XIR_AT(net), add, .lhs = v, .rhs = v);
    }
    DOES(xir_op_add_input(relu, p));
    bool refused = true;
    size_t failures = 0;
    for (size_t n = 0; refused; n++) {
        refuse_after(n);
        xir_network *copy = xir_network_clone(net);
        refused = refuse_end();
        assert_true(copy || refused);
        failures += !copy;
        if (copy) check_knot(xir_op_input(op_of(copy, xir_op_id(relu)), 1), copy);
        const xir_op *last = copy ? xir_network_last(copy) : NULL;
        if (last) assert_true(xir_op_input(last, 0) && xir_op_input(last, 0) == xir_op_input(last, 1));
        xir_network_free(copy);
    }
    assert_true(failures > 3);
    refused = true;
    for (size_t n = 0; refused; n++) {
        xir_network *there = new_net();
        refuse_after(n);
        xir_value *copy = xir_value_clone(p, there);
        refused = refuse_end();
        assert_true(copy || refused);
        if (copy) check_knot(copy, there);
        else assert_int_equal(xir_network_status(there), XIR_E_MEMORY);
        xir_network_free(there);
    }
}

/* ---- fewer outputs ----------------------------------------------------------------------------------------------- */

static void outputs_get_types_and_fewer_remain(void **state) {
    (void)state;
    enum { N = 12 };
    const xir_type *types[N];
    for (int i = 0; i < N; i++) types[i] = FP32("C", i + 1);
    DOES(xir_op_set_outputs(relu, types, N));
    for (int i = 0; i < N; i++) assert_true(xir_type_equal(xir_value_type(xir_op_output(relu, i)), types[i]));
    xir_value *first = xir_op_output(relu, 0);
    const xir_type *reversed[N];
    for (int i = 0; i < N; i++) reversed[i] = xir_value_type(xir_op_output(relu, N - 1 - i));
    DOES(xir_op_set_outputs(relu, reversed, N - 1));
    assert_ptr_equal(xir_op_output(relu, 0), first);
    assert_int_equal(xir_op_output_count(relu), N - 1);
    for (int i = 0; i < N - 1; i++)
        assert_true(xir_type_equal(xir_value_type(xir_op_output(relu, i)), types[N - 1 - i]));
    CHECK_SOUND(net);
}

#define STORY(f) cmocka_unit_test_setup_teardown(f, set_up, end_net)

GROUP {
    const struct CMUnitTest tests[] = {
        STORY(a_value_is_made_before_its_op),
        STORY(an_output_keeps_its_uses_and_gets_those_of_the_value),
        STORY(one_more_output_is_added),
        STORY(an_id_comes_along),
        STORY(all_outputs_are_set_at_once),
        STORY(values_that_do_not_fit_are_refused),
        STORY(a_value_that_is_used_up_is_refused),
        STORY(an_id_is_taken_though_no_op_uses_the_value),
        STORY(a_clone_with_a_value_that_no_op_makes_is_equal),
        STORY(a_value_is_found_by_name_though_a_later_op_is_not_placed),
        STORY(a_value_is_found_by_name_once_an_op_uses_it),
        STORY(a_value_of_another_network_is_copied),
        STORY(what_cannot_be_copied_is_refused),
        STORY(a_value_used_twice_is_one_value_in_a_clone),
        STORY(an_input_that_an_unplaced_op_makes_is_one_that_no_op_makes_in_a_clone),
        STORY(loose_values_are_inputs_of_the_network_of_a_view),
        STORY(params_that_name_each_other_are_copied_once),
        STORY(a_mapping_copies_params_that_name_each_other),
        STORY(clones_fail_without_memory),
        STORY(outputs_get_types_and_fewer_remain),
    };
    return RUN_GROUP(tests);
}
