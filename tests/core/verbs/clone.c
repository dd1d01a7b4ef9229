/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Copies and equality: a cloned network does not depend on its source; the three senses of "the same". */
#include <stdio.h>
#include <xir/icraft.h>
#include "support/net.h"
#include "graph.h"

/* A network with everything in it: names, tags, undeclared keys, targets, memory types, sub ops, Params in every
 * place, types with parts, an op that is out of order, an absent input, a value without a type. */
static xir_network *rich_net(xir_context *with) {
    xir_network *net = small_net_in(with);
    const xir_type *vector = XIR_TENSOR(with, xir_type_sint(with, 8), "*", 4), *none = NULL;
    const xir_any number = xir_any_int(-7), word = xir_any_text(XIR_STR("word"));
    xir_any items[] = { number, word, xir_any_real(0.5), xir_any_bool(true), xir_any_null() };
    const xir_any list = xir_any_list(items, COUNT(items));
    static const uint8_t bytes[4] = { 1, 2, 3, 4 };

    xir_value *p[6];
    for (int i = 0; i < 6; i++) p[i] = xir_params_copy(net, XIR_STR("p"), vector, bytes, 4);
    xir_params_set_allow_no_data(p[1], true);
    xir_value_set_tag(p[2], XIR_STR("tag"), &list);
    xir_params_clear(p[5]);

    xir_op *a = xir_op_new(net, &XIR_INIT(xir_op_desc, .cls = xir_class_find_decl(with, xir_hard_op_class()),
                                          INPUTS(value_of(net, 2), p[0]),
                                                TYPES(vector), .name = XIR_STR("a"), .id = XIR_NO_ID));
    xir_op *b = xir_op_new(net, &XIR_INIT(xir_op_desc, .cls = xir_class_find_decl(with, xir_hard_op_class()),
                                          INPUTS(xir_op_output(a, 0)),
                                                TYPES(vector, none), .name = XIR_STR("b"), .id = XIR_NO_ID));
    xir_entry info[] =
        { { XIR_STR("base"), number }, { XIR_STR("table"), { .kind = XIR_ANY_PARAMS, .as.params = p[1] } } };
    xir_hard_op_attrs attrs = xir_hard_op_init();
    attrs.instr = XIR_VALUES(p[2], p[3]);
    attrs.params = XIR_VALUES(p[2]);
    attrs.origin_ops_id = (xir_i64s){ (const int64_t[]){ 3, 1 }, 2 };
    attrs.device_info = (xir_map){ info, 2 };
    attrs.layer_count = 2;
    attrs.sub_hard_ops = (xir_ops){ (xir_op *const[]){ a, b }, 2 };
    xir_op *hard = xir_network_add(net, &XIR_INIT(xir_op_desc, .cls = xir_class_find_decl(with, xir_hard_op_class()),
                                                  .attrs = &attrs,
        INPUTS(value_of(net, 3), p[4]), TYPES(vector, none), .name = XIR_STR("hard"), .id = 50,
        .target = xir_target_of_kind(with, XIR_TARGET_ZHUGE, "330"), .before = op_of(net, 5)));
    xir_op *quant = xir_network_add(net, &XIR_INIT(xir_op_desc, .cls = xir_class_find_decl(with, xir_relu_class()),
                                                   INPUTS(value_of(net, 5)),
        TYPES(xir_type_with_element(with, XIR_TENSOR(with, vector ? xir_type_sint(with, 8) : NULL, "NHWC", 1, 4, 4, 4),
              xir_type_calibrated(with, -1, 1, 0.5, xir_type_sint(with, 8), NULL), NULL)), .name = XIR_STR("quant"),
              .id = XIR_NO_ID,
        .before = op_of(net, 5)));
    if (!hard || !quant) return NULL;
    const xir_any extra_params = { .kind = XIR_ANY_PARAMS, .as.params = p[5] };
    xir_op_set_extra(op_of(net, 1), XIR_STR("codebook"), &extra_params);
    xir_op_set_extra(op_of(net, 1), XIR_STR("note"), &list);
    xir_op_set_tag(op_of(net, 2), XIR_STR("tag"), &list);
    xir_value_set_tag(value_of(net, 3), XIR_STR("tag"), &word);
    xir_value_set_name(value_of(net, 3), XIR_STR("v3"));
    xir_value_set_mtype(value_of(net, 3), xir_mtype_chunk(with, 12, 34));
    xir_network_set_tag(net, XIR_STR("tag"), &list);
    xir_network_set_extra(net, XIR_STR("swap_mode"), &number);
    xir_network_set_ai_target(net, xir_target_of_kind(with, XIR_TARGET_ZHUGE, "330"));
    xir_network_set_text(net, XIR_TEXT_XIR_VERSION, XIR_STR("3.6.2.82"));
    xir_op_set_i64(op_of(net, 1), "pad_top", 2);
    xir_op_set_real(op_of(net, 2), "alpha", 0.1);
    xir_op_add_input(hard, NULL);
    xir_op_move(op_of(net, 4), op_of(net, 3));   /* reads what comes later */
    if (xir_network_status(net)) xir_diags_print(xir_network_diags(net), stderr);
    return xir_network_status(net) ? NULL : net;
}

static xir_network *rich(void) {
    xir_network *net = rich_net(ctx);
    assert_non_null(net);
    CHECK_SOUND(net);
    return net;
}

/* ---- networks --------------------------------------------------------------------------------------------------- */

static void a_clone_is_unchanged_when_its_source_is_freed(void **state) {
    (void)state;
    xir_network *net = rich();
    char *before = picture(net);
    xir_network *copy = xir_network_clone(net);
    assert_non_null(copy);
    assert_true(xir_network_equal(net, copy, false));
    assert_true(xir_network_equal(net, copy, true));
    assert_true(xir_network_equal(copy, net, true));
    CHECK_SOUND(net);
    xir_network_free(net);
    char *after = picture(copy);
    assert_string_equal(before, after);
    CHECK_SOUND(copy);
    free(before);
    free(after);
    xir_network_free(copy);
}

static void a_clone_outlives_everybody_s_context(void **state) {
    (void)state;
    xir_context *own = xir_context_new(NULL);
    xir_network *net = rich_net(own);
    assert_non_null(net);
    char *before = picture(net);
    xir_network *copy = xir_network_clone(net);
    xir_context_free(own);
    xir_network_free(net);
    char *after = picture(copy);
    assert_string_equal(before, after);
    free(before);
    free(after);
    xir_network_free(copy);
}

static void changing_one_does_not_change_the_other(void **state) {
    (void)state;
    xir_network *net = rich(), *copy = xir_network_clone(net);
    char *before = picture(net);
    const xir_any tag = xir_any_int(1);
    DOES(xir_op_set_i64(op_of(copy, 1), "pad_top", 5));
    DOES(xir_op_set_name(op_of(copy, 1), XIR_STR("x")));
    DOES(xir_op_set_tag(op_of(copy, 2), XIR_STR("tag"), &tag));
    DOES(xir_network_set_tag(copy, XIR_STR("tag"), NULL));
    DOES(xir_value_set_type(value_of(copy, 3), FP32("*", 1)));
    DOES(xir_network_remove(copy, op_of(copy, 50)));
    ((uint8_t *)xir_params_edit(value_of(copy, 6)))[0] = 77;
    char *after = picture(net);
    assert_string_equal(before, after);
    CHECK_SOUND(net);
    CHECK_SOUND(copy);
    free(before);
    free(after);
    xir_network_free(copy);
    xir_network_free(net);
}

static void parameter_bytes_are_shared_until_written(void **state) {
    (void)state;
    xir_network *net = rich(), *copy = xir_network_clone(net);
    xir_value *p = value_of(net, 6), *q = value_of(copy, 6);
    assert_ptr_equal(xir_params_data(p, NULL), xir_params_data(q, NULL));
    uint8_t *bytes = xir_params_edit(q);
    assert_ptr_not_equal(bytes, xir_params_data(p, NULL));
    assert_int_equal(bytes[1], 2);
    bytes[1] = 9;
    assert_int_equal(((const uint8_t *)xir_params_data(p, NULL))[1], 2);
    assert_true(xir_network_equal(net, copy, false));
    assert_false(xir_network_equal(net, copy, true));
    xir_network_free(net);
    assert_int_equal(((const uint8_t *)xir_params_data(q, NULL))[1], 9);
    xir_network_free(copy);
}

static void count_release(void *user, const void *bytes) {
    (void)bytes;
    ++*(int *)user;
}

static void borrowed_bytes_are_released_with_their_last_owner(void **state) {
    (void)state;
    static const float data[4] = { 1, 2, 3, 4 };
    int released = 0;
    xir_network *net = small_net();
    xir_value *p = xir_params_borrow(net, XIR_STR("p"), FP32("*", 4), data, sizeof data, count_release, &released);
    DOES(xir_op_add_input(op_of(net, 5), p));
    xir_network *copy = xir_network_clone(net), *second = xir_network_clone(copy);
    xir_network_free(net);
    xir_network_free(second);
    assert_int_equal(released, 0);
    assert_memory_equal(xir_params_data(value_of(copy, xir_network_next_value_id(copy) - 1), NULL), data, sizeof data);
    xir_network_free(copy);
    assert_int_equal(released, 1);
}

static void a_clone_continues_the_numbers(void **state) {
    (void)state;
    xir_network *net = rich();
    DOES(xir_op_erase(op_of(net, 53)));   /* the highest id is free, and is not given again */
    xir_network *copy = xir_network_clone(net);
    assert_int_equal(xir_network_next_op_id(copy), xir_network_next_op_id(net));
    assert_int_equal(xir_network_next_value_id(copy), xir_network_next_value_id(net));
    xir_value *x = xir_build_relu(xir_at_end(copy), value_of(copy, 5), NULL);
    assert_int_equal(xir_op_id(xir_value_op(x)), 54);
    xir_network_free(net);
    xir_network_free(copy);
}

static void clones_of_clones(void **state) {
    (void)state;
    xir_network *net = rich();
    char *before = picture(net);
    for (int i = 0; i < 10; i++) {
        xir_network *copy = xir_network_clone(net);
        xir_network_free(net);
        net = copy;
    }
    char *after = picture(net);
    assert_string_equal(before, after);
    free(before);
    free(after);
    xir_network_free(net);
}

static void an_empty_network_is_cloned(void **state) {
    (void)state;
    xir_network *net = new_net(), *copy = xir_network_clone(net);
    assert_true(xir_network_equal(net, copy, true));
    assert_non_null(xir_input(xir_at_end(copy), "x", FP32("*", 1)));
    assert_false(xir_network_equal(net, copy, false));
    xir_network_free(net);
    xir_network_free(copy);
}

static void ops_that_are_not_placed_are_not_cloned(void **state) {
    (void)state;
    xir_network *net = small_net();
    xir_op *late = xir_op_new(net, &(xir_op_desc)DESC(relu, INPUTS(value_of(net, 2))));
    xir_params_new(net, XIR_STR("unused"), FP32("*", 1));
    xir_network *copy = xir_network_clone(net);
    assert_int_equal(xir_value_use_count(value_of(copy, 2)), 1);
    assert_true(xir_network_equal(net, copy, true));
    CHECK_SOUND(copy);
    (void)late;
    xir_network_free(copy);
    xir_network_free(net);
}

static void a_failed_network_clones_as_a_good_one(void **state) {
    (void)state;
    xir_network *net = small_net();
    assert_null(xir_build_relu(xir_at_end(net), NULL, NULL));
    xir_network *copy = xir_network_clone(net);
    assert_int_equal(xir_network_status(copy), XIR_OK);
    assert_int_equal(xir_diags_count(xir_network_diags(copy)), 0);
    xir_network_free(copy);
    xir_network_free(net);
}

/* An invalid file may contain this: two ops read a value that no op makes. */
static void a_value_without_a_producer_is_kept(void **state) {
    (void)state;
    const xir_any tag = xir_any_int(1);
    xir_network *net = small_net();
    xir_value *orphan = value_make_orphan(net, xir_value_type(value_of(net, 3)));
    DOES(xir_op_set_input(op_of(net, 3), 0, orphan));
    DOES(xir_op_set_input(op_of(net, 4), 1, orphan));
    DOES(xir_value_set_id(orphan, 70));
    DOES(xir_value_set_name(orphan, XIR_STR("lost")));
    DOES(xir_value_set_tag(orphan, XIR_STR("t"), &tag));
    assert_ptr_equal(xir_network_value_by_id(net, 70), orphan);
    xir_network *copy = xir_network_clone(net);
    assert_true(xir_network_equal(net, copy, true));
    CHECK_USES(value_of(copy, 70), "3:0 4:1");
    CHECK_STR(xir_value_name(value_of(copy, 70)), "lost");
    CHECK_SOUND(copy);
    xir_network_free(net);
    /* A copy of the copy, whose table of ids is made when it is needed. */
    net = xir_network_clone(copy);
    xir_network *third = xir_network_clone(net);
    assert_ptr_equal(xir_network_value_by_id(third, 70), xir_op_input(op_of(third, 4), 1));
    xir_network_free(net);
    xir_network_free(copy);
    xir_network_free(third);
}

/* ---- what makes networks differ --------------------------------------------------------------------------------- */

typedef void change(xir_network *net);

static const xir_any *a_number(void) {
    static xir_any number;
    number = xir_any_int(99);
    return &number;
}

static void op_name(xir_network *n)      { DOES(xir_op_set_name(op_of(n, 2), XIR_STR("x"))); }
static void op_id(xir_network *n)        { DOES(xir_op_set_id(op_of(n, 2), 99)); }
static void op_tag(xir_network *n)       { DOES(xir_op_set_tag(op_of(n, 3), XIR_STR("t"), a_number())); }
static void op_extra(xir_network *n)     { DOES(xir_op_set_extra(op_of(n, 3), XIR_STR("t"), a_number())); }
static void op_targeted(xir_network *n) {
    DOES(xir_op_set_target(op_of(n, 3), xir_target_of_kind(ctx, XIR_TARGET_BUYI, NULL)));
}
static void op_attr(xir_network *n)      { DOES(xir_op_set_i64(op_of(n, 3), "pad_top", 1)); }
static void op_real(xir_network *n)      { DOES(xir_op_set_real(op_of(n, 2), "alpha", -0.0)); }
static void op_refs(xir_network *n) {
    const xir_object *two = (const xir_object *)xir_scalar_real(ctx, 2);
    DOES(xir_op_set(op_of(n, 4), XIR_STR("alpha"), &(xir_attr){ .kind = XIR_KIND_REFS, .as.refs = { &two, 1 } }));
}
static void op_rewired(xir_network *n)   { DOES(xir_op_set_input(op_of(n, 3), 0, value_of(n, 2))); }
static void op_absent(xir_network *n)    { DOES(xir_op_add_input(op_of(n, 3), NULL)); }
static void op_order(xir_network *n)     { DOES(xir_op_move(op_of(n, 3), op_of(n, 2))); }
static void op_gone(xir_network *n)      { DOES(xir_network_remove(n, op_of(n, 5))); }
static void op_added(xir_network *n)      { assert_non_null(xir_build_relu(xir_at_end(n), value_of(n, 5), NULL)); }
static void value_name(xir_network *n)   { DOES(xir_value_set_name(value_of(n, 2), XIR_STR("x"))); }
static void value_id(xir_network *n)     { DOES(xir_value_set_id(value_of(n, 2), 99)); }
static void value_tag(xir_network *n)    { DOES(xir_value_set_tag(value_of(n, 2), XIR_STR("t"), a_number())); }
static void value_type(xir_network *n)   { DOES(xir_value_set_type(value_of(n, 2), FP32("NHWC", 1, 8, 8, 5))); }
static void value_untyped(xir_network *n) { DOES(xir_value_set_type(value_of(n, 2), NULL)); }
static void value_mtype(xir_network *n)  { DOES(xir_value_set_mtype(value_of(n, 2), xir_mtype_onchip(ctx, 0))); }
static void params_flag(xir_network *n)  { xir_params_set_allow_no_data(value_of(n, 1), true); }
static void net_name_(xir_network *n)    { DOES(xir_network_set_text(n, XIR_TEXT_NAME, XIR_STR("x"))); }
static void net_version(xir_network *n)  { DOES(xir_network_set_text(n, XIR_TEXT_XIR_VERSION, XIR_STR("3.6"))); }
static void net_target(xir_network *n)   { DOES(xir_network_set_ai_target(n, NULL)); }
static void net_tag(xir_network *n)      { DOES(xir_network_set_tag(n, XIR_STR("t"), a_number())); }
static void net_extra(xir_network *n)    { DOES(xir_network_set_extra(n, XIR_STR("t"), a_number())); }

static void any_difference_counts(void **state) {
    (void)state;
    static const struct { const char *what; change *make; } changes[] = {
#define CHANGE(f) { #f, f }
        CHANGE(op_name), CHANGE(op_id), CHANGE(op_tag), CHANGE(op_extra), CHANGE(op_targeted), CHANGE(op_attr),
        CHANGE(op_real), CHANGE(op_refs), CHANGE(op_rewired), CHANGE(op_absent), CHANGE(op_order), CHANGE(op_gone), CHANGE(op_added),
        CHANGE(value_name), CHANGE(value_id), CHANGE(value_tag), CHANGE(value_type), CHANGE(value_untyped), CHANGE(value_mtype),
        CHANGE(params_flag), CHANGE(net_name_), CHANGE(net_version), CHANGE(net_target), CHANGE(net_tag), CHANGE(net_extra),
    };
    for (size_t i = 0; i < COUNT(changes); i++) {
        xir_network *net = small_net(), *copy = xir_network_clone(net), *built = small_net();
        assert_true(xir_network_equal(net, built, true));
        changes[i].make(copy);
        if (xir_network_equal(net, copy, false) || xir_network_equal(copy, net, true))
            fail_msg("%s, changed in one, is not detected", changes[i].what);
        changes[i].make(net);
        if (!xir_network_equal(net, copy, true)) fail_msg("%s, changed in both, makes them differ", changes[i].what);
        CHECK_SOUND(copy);
        xir_network_free(net);
        xir_network_free(copy);
        xir_network_free(built);
    }
}

static void sizes_and_checksums_of_files_do_not_count(void **state) {
    (void)state;
    xir_network *net = small_net(), *copy = xir_network_clone(net);
    DOES(xir_network_set_text(copy, XIR_TEXT_PARAMS_MD5, XIR_STR("0")));
    assert_true(xir_network_equal(net, copy, true));
    xir_network_free(net);
    xir_network_free(copy);
}

static void differences_deep_inside_count(void **state) {
    (void)state;
    xir_network *net = rich(), *copy = xir_network_clone(net);
    xir_op *part = xir_hard_op_of(op_of(copy, 50))->sub_hard_ops.data[1];
    DOES(xir_op_set_name(part, XIR_STR("other")));
    assert_false(xir_network_equal(net, copy, false));
    DOES(xir_op_set_name(part, XIR_STR("b")));
    assert_true(xir_network_equal(net, copy, true));
    xir_value *table = xir_map_find(&xir_hard_op_of(op_of(copy, 50))->device_info, XIR_STR("table"))->as.params;
    ((uint8_t *)xir_params_edit(table))[3] = 0;   /* bytes of a tensor in a map */
    assert_true(xir_network_equal(net, copy, false));
    assert_false(xir_network_equal(net, copy, true));
    xir_network_free(net);
    xir_network_free(copy);
}

static float half(size_t i) { return (float)i / 2; }

static void bytes_and_no_bytes_differ(void **state) {
    (void)state;
    xir_network *net = small_net(), *copy = xir_network_clone(net);
    DOES(xir_params_fill_f32(value_of(copy, 1), half));
    assert_true(xir_network_equal(net, copy, false));
    assert_false(xir_network_equal(net, copy, true));
    DOES(xir_params_fill_f32(value_of(net, 1), half));
    assert_true(xir_network_equal(net, copy, true));
    xir_network_free(net);
    xir_network_free(copy);
}

/* ---- ops -------------------------------------------------------------------------------------------------------- */

static void a_cloned_op_has_the_same_inputs_and_is_not_placed(void **state) {
    (void)state;
    xir_network *net = rich();
    xir_op *conv = op_of(net, 1), *copy = xir_op_clone(conv);
    assert_non_null(copy);
    assert_false(xir_op_is_placed(copy));
    assert_true(xir_op_id(copy) < 0);
    CHECK_INPUTS(copy, "0 1");
    CHECK_STR(xir_op_name(copy), "conv");
    assert_ptr_equal(xir_conv2d_of(copy), xir_conv2d_of(conv));
    assert_true(xir_map_equal(xir_op_extra(copy), xir_op_extra(conv)));
    assert_true(xir_type_equal(xir_value_type(xir_op_output(copy, 0)), xir_value_type(value_of(net, 2))));
    assert_true(xir_value_id(xir_op_output(copy, 0)) < 0);
    DOES(xir_op_place(copy, NULL));
    assert_int_equal(xir_op_id(copy), 54);
    assert_true(xir_op_structural_equal(conv, copy));
    assert_false(xir_op_identical(conv, copy));   /* ids differ */
    DOES(xir_op_set_i64(copy, "pad_top", 9));
    assert_int_equal(xir_conv2d_of(conv)->pad_top, 2);
    CHECK_SOUND(net);
    xir_network_free(net);
}

static void names_tags_and_memory_of_values_are_cloned(void **state) {
    (void)state;
    xir_network *net = rich();
    xir_op *relu = op_of(net, 2), *copy = xir_op_clone(relu);
    CHECK_STR(xir_value_name(xir_op_output(copy, 0)), "v3");
    assert_true(xir_map_equal(xir_value_tags(xir_op_output(copy, 0)), xir_value_tags(value_of(net, 3))));
    assert_int_equal(xir_mtype_offset(xir_value_mtype(xir_op_output(copy, 0))), 34);
    DOES(xir_op_set_tag(copy, XIR_STR("tag"), NULL));
    assert_int_equal(xir_op_tags(relu)->size, 1);
    xir_network_free(net);
}

/* Comparing them ends, and says no. */
static void params_that_name_each_other_equal_only_themselves(void **state) {
    (void)state;
    xir_network *net = small_net();
    xir_value *p = value_of(net, 1), *q = xir_params_new(net, XIR_STR("q"), xir_value_type(p));
    const xir_any to_q = { .kind = XIR_ANY_PARAMS, .as.params = q }, to_p = { .kind = XIR_ANY_PARAMS, .as.params = p };
    DOES(xir_value_set_tag(p, XIR_STR("other"), &to_q));
    xir_network *straight = xir_network_clone(net);
    assert_true(xir_network_equal(net, straight, true));
    DOES(xir_value_set_tag(q, XIR_STR("other"), &to_p));
    DOES(xir_value_set_tag(q, XIR_STR("again"), &to_p));
    xir_network *circle = xir_network_clone(net);
    assert_true(xir_network_equal(net, net, true));
    assert_false(xir_network_equal(net, circle, true));
    assert_false(xir_network_equal(net, straight, true));
    xir_network_free(net);
    xir_network_free(straight);
    xir_network_free(circle);
}

static void ops_of_two_networks_are_identical(void **state) {
    (void)state;
    xir_network *net = rich(), *copy = xir_network_clone(net);
    for (const xir_op *a = xir_network_first(net), *b = xir_network_first(copy); a; a = xir_op_next(a),
         b = xir_op_next(b)) {
        assert_true(xir_op_identical(a, b));
        assert_true(xir_op_identical(a, a));
        assert_false(xir_op_structural_equal(a, b));   /* operands differ */
    }
    xir_network_free(net);
    xir_network_free(copy);
}

/* Ops that a pass may merge: names, ids and tags do not matter, everything else does. */
static void structure_is_class_target_attributes_operands_and_types(void **state) {
    (void)state;
    xir_network *net = small_net();
    const xir_any number = xir_any_int(1);
    xir_value *x = value_of(net, 3);
    xir_at at = xir_at_end(net);
    xir_op *a = xir_value_op(xir_build_relu(at, x, "a")), *b = xir_value_op(xir_build_relu(at, x, "b"));
    DOES(xir_op_set_tag(b, XIR_STR("t"), &number));
    assert_true(xir_op_structural_equal(a, b));
    assert_int_equal(xir_op_structural_hash(a), xir_op_structural_hash(b));

    DOES(xir_op_set_real(b, "alpha", 0.5));
    assert_false(xir_op_structural_equal(a, b));
    DOES(xir_op_set_real(a, "alpha", 0.5));
    assert_true(xir_op_structural_equal(a, b));
    assert_int_equal(xir_op_structural_hash(a), xir_op_structural_hash(b));

    DOES(xir_op_set_input(b, 0, value_of(net, 2)));
    assert_false(xir_op_structural_equal(a, b));
    DOES(xir_op_set_input(b, 0, x));
    DOES(xir_op_set_target(b, xir_target_of_kind(ctx, XIR_TARGET_BUYI, NULL)));
    assert_false(xir_op_structural_equal(a, b));
    DOES(xir_op_set_target(b, NULL));
    DOES(xir_value_set_type(xir_op_output(b, 0), FP32("*", 1)));
    assert_false(xir_op_structural_equal(a, b));
    DOES(xir_op_infer(b, true));
    DOES(xir_op_set_extra(b, XIR_STR("k"), &number));
    assert_false(xir_op_structural_equal(a, b));
    DOES(xir_op_set_extra(b, XIR_STR("k"), NULL));
    assert_true(xir_op_structural_equal(a, b));
    assert_false(xir_op_structural_equal(a, op_of(net, 3)));
    xir_network_free(net);
}

static void equal_lists_hash_alike(void **state) {
    (void)state;
    xir_network *net = small_net();
    xir_op *a = op_of(net, 4), *b = xir_op_clone(a);
    const xir_object *halves[] = { (const xir_object *)xir_scalar_real(ctx, 0.5),
                                   (const xir_object *)xir_scalar_real(ctx, 0.25) };
    const xir_attr attr = { .kind = XIR_KIND_REFS, .as.refs = { halves, 2 } };
    DOES(xir_op_set(a, XIR_STR("alpha"), &attr));
    assert_false(xir_op_structural_equal(a, b));
    DOES(xir_op_set(b, XIR_STR("alpha"), &attr));
    assert_true(xir_op_structural_equal(a, b));
    assert_int_equal(xir_op_structural_hash(a), xir_op_structural_hash(b));
    xir_network_free(net);
}

#define STORY(f) cmocka_unit_test(f)

GROUP {
    const struct CMUnitTest tests[] = {
        STORY(a_clone_is_unchanged_when_its_source_is_freed),
        STORY(a_clone_outlives_everybody_s_context),
        STORY(changing_one_does_not_change_the_other),
        STORY(parameter_bytes_are_shared_until_written),
        STORY(borrowed_bytes_are_released_with_their_last_owner),
        STORY(a_clone_continues_the_numbers),
        STORY(clones_of_clones),
        STORY(a_value_without_a_producer_is_kept),
        STORY(an_empty_network_is_cloned),
        STORY(ops_that_are_not_placed_are_not_cloned),
        STORY(a_failed_network_clones_as_a_good_one),
        STORY(any_difference_counts),
        STORY(sizes_and_checksums_of_files_do_not_count),
        STORY(differences_deep_inside_count),
        STORY(bytes_and_no_bytes_differ),
        STORY(a_cloned_op_has_the_same_inputs_and_is_not_placed),
        STORY(names_tags_and_memory_of_values_are_cloned),
        STORY(params_that_name_each_other_equal_only_themselves),
        STORY(ops_of_two_networks_are_identical),
        STORY(structure_is_class_target_attributes_operands_and_types),
        STORY(equal_lists_hash_alike),
    };
    return RUN_GROUP(tests);
}
