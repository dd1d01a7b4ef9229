/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The rules of networks, each broken alone: the status that is returned and the place that is named. */
#include <stdio.h>
#include <xir/icraft.h>
#include "support/net.h"
#include "graph.h"

/* small_net: 0 in -> [0]; 1 conv([0], w [1]) -> [2]; 2 relu -> [3]; 3 pool -> [4]; 4 add([4], [4]) -> [5]; 5 out. */

typedef void breakage(xir_network *net);

/* Files may have what the API refuses to make: readers take everything that decodes. */
static void *body_of(xir_op *op) {
    void *body = arena_copy(&op->net->arena, op->attrs, op->cls->body_size);
    op->attrs = body;
    return body;
}

static const xir_type *quantized(const double *ratios, size_t n, int64_t axis, const xir_type *storage) {
    const xir_type *normalized = xir_type_normalized(ctx, xir_norm_ratios_from(ctx, ratios, n, axis), storage, NULL);
    const double one = 1;
    return xir_type_normalized_quantized(ctx, normalized, xir_scales_from(ctx, &one, 1, -1), NULL, 0);
}

static void give_type(xir_network *net, int64_t v_id, const xir_type *element, const char *layout, const int64_t *dims,
                      size_t rank) {
    DOES(xir_value_set_type(value_of(net, v_id), xir_type_tensor_text(ctx, element, layout, dims, rank)));
}

static const xir_type *fp32(void) { return xir_type_float(ctx, XIR_FLOAT_FP32); }
#define DIMS(...) (const int64_t[]){ __VA_ARGS__ }, COUNT(((const int64_t[]){ __VA_ARGS__ }))

/* ---- the network ------------------------------------------------------------------------------------------------- */

static void nothing_in_it(xir_network *net) {
    while (xir_network_last(net)) DOES(xir_op_erase(xir_network_last(net)));
}
static void first_is_no_input(xir_network *net)   { DOES(xir_op_move(op_of(net, 1), op_of(net, 0))); }
static void last_is_no_output(xir_network *net)   { DOES(xir_op_erase(op_of(net, 5))); }
static void output_not_last(xir_network *net)     { DOES(xir_op_move(op_of(net, 5), op_of(net, 4))); }
static void two_outputs(xir_network *net) {
    assert_non_null(xir_output(xir_at_end(net), XIR_VALUES(value_of(net, 3))));
}
static void used_before_made(xir_network *net)    { DOES(xir_op_move(op_of(net, 2), op_of(net, 4))); }
static void input_in_the_middle(xir_network *net) { DOES(xir_op_move(op_of(net, 0), op_of(net, 3))); }
static void never_made(xir_network *net) {
    xir_value *orphan = value_make_orphan(net, xir_value_type(value_of(net, 3)));
    DOES(xir_op_set_input(op_of(net, 3), 0, orphan));
}
static void made_by_what_is_not_placed(xir_network *net) {
    xir_op *late = xir_op_new(net, &(xir_op_desc)DESC(relu, INPUTS(value_of(net, 2))));
    DOES(xir_op_set_input(op_of(net, 3), 0, xir_op_output(late, 0)));
}
static void op_id_twice(xir_network *net)         { op_of(net, 3)->id = 2; }
static void op_id_negative(xir_network *net)      { op_of(net, 3)->id = -1; }
static void value_id_twice(xir_network *net)      { value_of(net, 4)->id = 2; }
static void value_id_of_params(xir_network *net)  { value_of(net, 4)->id = 1; }
static void params_id_twice(xir_network *net) {
    xir_value *w = xir_params_new(net, XIR_STR("w2"), FP32("HWIO", 3, 3, 3, 4)), *old = value_of(net, 1);
    DOES(xir_op_set_input(op_of(net, 1), 1, w));
    DOES(xir_op_add_input(op_of(net, 5), old));
    w->id = 1;
}

/* ---- ops -------------------------------------------------------------------------------------------------------- */

static void below_its_bound(xir_network *net)     { ((xir_conv2d_attrs *)body_of(op_of(net, 1)))->stride_width = 0; }
static void no_word(xir_network *net) {
    ((xir_conv2d_attrs *)body_of(op_of(net, 1)))->padding_mode = (xir_padding)9;
}
static void attribute_null(xir_network *net)      { ((xir_conv2d_attrs *)body_of(op_of(net, 1)))->cut_scale = NULL; }
static void attribute_of_another_class(xir_network *net) {
    ((xir_conv2d_attrs *)body_of(op_of(net, 1)))->cut_scale = (const xir_scales *)xir_mtype_host(ctx);
}
static void input_absent(xir_network *net)        { DOES(xir_op_set_input(op_of(net, 2), 0, NULL)); }
static void inputs_too_few(xir_network *net)      { DOES(xir_op_remove_input(op_of(net, 4), 1)); }
static void inputs_too_many(xir_network *net)     { DOES(xir_op_add_input(op_of(net, 2), value_of(net, 0))); }
static void no_inputs(xir_network *net)           { xir_op_clear_inputs(op_of(net, 5)); }
static void output_absent_input(xir_network *net) { DOES(xir_op_add_input(op_of(net, 5), NULL)); }
static void outputs_too_many(xir_network *net) {
    const xir_type *type = FP32("*", 1);
    DOES(xir_op_set_outputs(op_of(net, 5), (const xir_type *const[]){ type }, 1));
}
static void outputs_too_few(xir_network *net) {
    DOES(xir_op_set_input(op_of(net, 5), 0, value_of(net, 4)));
    DOES(xir_op_set_outputs(op_of(net, 4), NULL, 0));
}
static void target_clashes(xir_network *net) {
    DOES(xir_op_set_target(op_of(net, 1), xir_target_of_kind(ctx, XIR_TARGET_WOLONG, NULL)));
}
static void core_clashes(xir_network *net) {
    DOES(xir_network_set_ai_target(net, xir_target_of_kind(ctx, XIR_TARGET_ZHUGE, "330")));
    DOES(xir_op_set_target(op_of(net, 1), xir_target_of_kind(ctx, XIR_TARGET_ZHUGE, "340")));
}
static void rule_of_the_class(xir_network *net)   { give_type(net, 0, fp32(), "NHWC", DIMS(1, 8, 8, 5)); }
static void rule_of_attributes(xir_network *net)  { DOES(xir_op_set_i64(op_of(net, 1), "groups", 3)); }

/* ---- types ------------------------------------------------------------------------------------------------------ */

static void layout_of_another_rank(xir_network *net) { give_type(net, 3, fp32(), "NHW", DIMS(1, 8, 8, 4)); }
static void layout_axis_twice(xir_network *net)      { give_type(net, 3, fp32(), "NHHC", DIMS(1, 8, 8, 4)); }
static void unit_without_its_axis(xir_network *net)  { give_type(net, 3, fp32(), "NHWc4", DIMS(1, 8, 8, 4)); }
static void unit_is_not_the_dim(xir_network *net)    { give_type(net, 3, fp32(), "NHWCc8", DIMS(1, 8, 8, 1, 4)); }
static void element_null(xir_network *net) {
    xir_tensor_type type = *xir_type_as_tensor(xir_value_type(value_of(net, 3)));
    type.element_dtype = NULL;
    type.head.hash = 0;
    value_of(net, 3)->type = arena_copy(&net->arena, &type, sizeof type);
}
static void ratios_too_few(xir_network *net) {
    give_type(net, 3, quantized((const double[]){ 1, 2, 3 }, 3, -1, xir_type_sint(ctx, 8)), "NHWC", DIMS(1, 8, 8, 4));
}
static void one_ratio_for_all(xir_network *net) {
    give_type(net, 3, quantized((const double[]){ 2 }, 1, -1, xir_type_sint(ctx, 8)), "NHWC", DIMS(1, 8, 8, 4));
}
static void ratios_along_no_axis(xir_network *net) {
    give_type(net, 3, quantized((const double[]){ 1, 2, 3, 4 }, 4, 4, xir_type_sint(ctx, 8)), "NHWC", DIMS(1, 8, 8, 4));
}
static void weights_layout(xir_network *net)         { give_type(net, 1, fp32(), "HWI", DIMS(3, 3, 3, 4)); }

/* A HardOp with these Params as instructions and as an undeclared attribute. */
static void add_hard(xir_network *net, xir_value *instr, xir_value *table, xir_value *extra) {
    const xir_type *type = FP32("*", 4);
    const xir_entry entry = { XIR_STR("table"), { .kind = XIR_ANY_PARAMS, .as.params = table } };
    const xir_any any = { .kind = XIR_ANY_PARAMS, .as.params = extra };
    xir_hard_op_attrs attrs = xir_hard_op_init();
    if (instr) attrs.instr = (xir_values){ &instr, 1 };
    if (table) attrs.device_info = (xir_map){ &entry, 1 };
    xir_op *op = xir_network_add(net,
                                 &(xir_op_desc)DESC(hard_op, .attrs = &attrs, TYPES(type), .before = op_of(net, 5)));
    assert_non_null(op);
    if (extra) DOES(xir_op_set_extra(op, XIR_STR("more"), &any));
}
static xir_value *badly_typed(xir_network *net)      { return xir_params_new(net, XIR_STR("bad"), FP32("NHW", 4)); }
static void params_attribute_type(xir_network *net)  { add_hard(net, badly_typed(net), NULL, NULL); }
static void params_in_map_type(xir_network *net)     { add_hard(net, NULL, badly_typed(net), NULL); }
static void params_undeclared_type(xir_network *net) { add_hard(net, NULL, NULL, badly_typed(net)); }

/* ---- sub ops ---------------------------------------------------------------------------------------------------- */

static xir_op *add_family(xir_network *net) {
    const xir_type *type = FP32("*", 4);
    xir_op *part = xir_op_new(net, &(xir_op_desc)DESC(hard_op, INPUTS(value_of(net, 2)), TYPES(type)));
    xir_hard_op_attrs attrs = xir_hard_op_init();
    attrs.sub_hard_ops = (xir_ops){ &part, 1 };
    assert_non_null(xir_network_add(net, &(xir_op_desc)DESC(hard_op, .attrs = &attrs, INPUTS(value_of(net, 2)),
                                                            TYPES(type), .before = op_of(net, 5))));
    return part;
}
static void sub_op_input_absent(xir_network *net)    { DOES(xir_op_add_input(add_family(net), NULL)); }
static void sub_op_type(xir_network *net) {
    DOES(xir_value_set_type(xir_op_output(add_family(net), 0), FP32("NHW", 1)));
}
static void sub_op_id_twice(xir_network *net)        { add_family(net)->id = 3; }
static void sub_op_value_id_twice(xir_network *net)  { xir_op_output(add_family(net), 0)->id = 3; }

static const struct { const char *what; breakage *make; xir_status status; const char *path, *part; } rules[] = {
#define RULE(f, status, path, part) { #f, f, status, path, part }
    RULE(nothing_in_it,              XIR_E_MISSING, "/ops",                  "the network is empty: expected an Input and an Output"),
    RULE(first_is_no_input,          XIR_E_INVALID, "/ops/0",                "the first op must be an Input, found a icraft::xir::Conv2d"),
    RULE(last_is_no_output,          XIR_E_INVALID, "/ops/4",                "the last op must be an Output, found a icraft::xir::Add"),
    RULE(output_not_last,            XIR_E_INVALID, "/ops/5",                "the last op must be an Output"),
    RULE(two_outputs,                XIR_E_INVALID, "/ops/5",                "a network has one Output, and this is another"),
    RULE(used_before_made,           XIR_E_INVALID, "/ops/2/inputs/0",       "value 3 'relu' is used before op 2 makes it"),
    RULE(input_in_the_middle,        XIR_E_INVALID, "/ops/2",                "an Input must be the first op"),
    RULE(never_made,                 XIR_E_MISSING, "/ops/3/inputs/0",       "no op makes value"),
    RULE(made_by_what_is_not_placed, XIR_E_INVALID, "/ops/3/inputs/0",       "is used before op"),
    RULE(op_id_twice,                XIR_E_EXISTS,  "/ops/3/op_id",          "op id 2 is taken by another op"),
    RULE(op_id_negative,             XIR_E_BOUNDS,  "/ops/3/op_id",          "op id -1 is below 0"),
    RULE(value_id_twice,             XIR_E_EXISTS,  "/ops/3/outputs/0/v_id", "value id 2 is taken by another value"),
    RULE(value_id_of_params,         XIR_E_EXISTS,  "/ops/3/outputs/0/v_id", "value id 1 is taken by another value"),
    RULE(params_id_twice,            XIR_E_EXISTS,  "/ops",                  "value id 1 is taken by another value"),
    RULE(below_its_bound,            XIR_E_BOUNDS,  "/ops/1/stride_width",   "0 is below 1, the least stride_width of icraft::xir::Conv2d 'conv'"),
    RULE(no_word,                    XIR_E_BOUNDS,  "/ops/1/padding_mode",   "9 is not a word of padding, which has 4"),
    RULE(attribute_null,             XIR_E_MISSING, "/ops/1/cut_scale",      "attribute cut_scale of icraft::xir::Conv2d 'conv' is null"),
    RULE(attribute_of_another_class, XIR_E_TYPE,    "/ops/1/cut_scale",      "expected a icraft::xir::QuantizedScaleArray, found a icraft::xir::HostMem"),
    RULE(input_absent,               XIR_E_MISSING, "/ops/2/inputs/0",       "the input is absent"),
    RULE(inputs_too_few,             XIR_E_MISSING, "/ops/4/inputs",         "icraft::xir::Add needs 2 inputs, found 1"),
    RULE(inputs_too_many,            XIR_E_INVALID, "/ops/2/inputs",         "icraft::xir::ReLU takes at most 1 inputs, found 2"),
    RULE(no_inputs,                  XIR_E_MISSING, "/ops/5/inputs",         "the op has no inputs"),
    RULE(output_absent_input,        XIR_E_MISSING, "/ops/5/inputs/1",       "the input is absent"),
    RULE(outputs_too_many,           XIR_E_INVALID, "/ops/5/outputs",        "icraft::xir::Output has 0 outputs, found 1"),
    RULE(outputs_too_few,            XIR_E_INVALID, "/ops/4/outputs",        "icraft::xir::Add has 1 outputs, found 0"),
    RULE(target_clashes,             XIR_E_INVALID, "/ops/1/compile_target",
         "the op targets icraft::xir::WolongTarget, but the network has no ai_target: expected the same"),
    RULE(core_clashes,               XIR_E_INVALID, "/ops/1/compile_target", "the op targets icraft::xir::ZhugeTarget, but its network targets "),
    RULE(rule_of_the_class,          XIR_E_INVALID, "/ops/1/inputs/1",       "icraft::xir::Conv2d 'conv': input has 5 channels"),
    RULE(rule_of_attributes,         XIR_E_INVALID, "/ops/1/inputs/1",       "in each of 3 groups: expected channels = I * groups"),
    RULE(layout_of_another_rank,     XIR_E_INVALID, "/ops/2/outputs/0/dtype", "NHW"),
    RULE(layout_axis_twice,          XIR_E_INVALID, "/ops/2/outputs/0/dtype", "H"),
    RULE(unit_without_its_axis,      XIR_E_INVALID, "/ops/2/outputs/0/dtype", "C"),
    RULE(unit_is_not_the_dim,        XIR_E_INVALID, "/ops/2/outputs/0/dtype", "8"),
    RULE(element_null,               XIR_E_MISSING, "/ops/2/outputs/0/dtype", "attribute element_dtype of icraft::xir::TensorType is null"),
    RULE(ratios_too_few,             XIR_E_INVALID, "/ops/2/outputs/0/dtype", "axis -1 has 4 elements: expected a norm ratio for each of them, found 3"),
    RULE(one_ratio_for_all,          XIR_E_INVALID, "/ops/2/outputs/0/dtype", "expected a norm ratio for each of them, found 1"),
    RULE(ratios_along_no_axis,       XIR_E_BOUNDS,  "/ops/2/outputs/0/dtype", "the norm ratios are along axis 4, the rank is 4"),
    RULE(weights_layout,             XIR_E_INVALID, "/ops/1/inputs/1/dtype",  "HWI"),
    RULE(params_attribute_type,      XIR_E_INVALID, "/ops/5/instr/0/dtype",   "NHW"),
    RULE(params_in_map_type,         XIR_E_INVALID, "/ops/5/device_info",     "NHW"),
    RULE(params_undeclared_type,     XIR_E_INVALID, "/ops/5/more",            "NHW"),
    RULE(sub_op_input_absent,        XIR_E_MISSING, "/ops/5/sub_hard_ops/0/inputs/1", "the input is absent"),
    RULE(sub_op_type,                XIR_E_INVALID, "/ops/5/sub_hard_ops/0/outputs/0/dtype", "NHW"),
    RULE(sub_op_id_twice,            XIR_E_EXISTS,  "/ops/5/sub_hard_ops/0/op_id", "op id 3 is taken by another op"),
    RULE(sub_op_value_id_twice,      XIR_E_EXISTS,  "/ops/5/sub_hard_ops/0/outputs/0/v_id", "value id 3 is taken by another value"),
};

static bool begins_with(xir_str text, const char *start) {
    return text.size >= strlen(start) && memcmp(text.data, start, strlen(start)) == 0;
}

static void each_rule_is_reported_alone(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(rules); i++) {
        xir_network *net = small_net();
        rules[i].make(net);
        xir_status status = xir_network_validate(net, why);
        const xir_diag *d = NULL;
        for (size_t k = 0; k < xir_diags_count(why) && !d; k++) {
            const xir_diag *found = xir_diags_at(why, k);
            bool said = memmem(found->message.data, found->message.size, rules[i].part, strlen(rules[i].part));
            if (said && found->code == rules[i].status && begins_with(found->path, rules[i].path)) d = found;
        }
        if (status != rules[i].status || !d) {
            print_error("%s: expected %s at %s ('%s'), the status is %s, found\n", rules[i].what,
                        xir_status_name(rules[i].status), rules[i].path, rules[i].part, xir_status_name(status));
            xir_diags_print(why, stderr);
            fail();
        }
        /* Findings are optional, and validation changes nothing. */
        assert_int_equal(xir_network_validate(net, NULL), rules[i].status);
        size_t n = xir_diags_count(why);
        xir_diags_clear(why);
        assert_int_equal(xir_network_validate(net, why), rules[i].status);
        assert_int_equal(xir_diags_count(why), n);
        assert_int_equal(xir_network_status(net), XIR_OK);
        xir_diags_clear(why);
        xir_network_free(net);
    }
}

static void a_valid_network_has_no_finding(void **state) {
    (void)state;
    xir_network *net = small_net();
    add_family(net);
    DOES(xir_network_validate(net, why));
    assert_int_equal(xir_diags_count(why), 0);
    for (xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) DOES(xir_op_validate(op, why));
    xir_network_free(net);
}

/* Networks that look wrong but are valid. */
static void a_value_need_not_have_a_type(xir_network *net)      { DOES(xir_value_set_type(value_of(net, 5), NULL)); }
static void a_layout_of_stars(xir_network *net)                 { give_type(net, 5, fp32(), "****", DIMS(1, 4, 4, 4)); }
static void unknown_dims(xir_network *net) {
    give_type(net, 0, fp32(), "NHWC", DIMS(-1, -1, -1, 3));
    DOES(xir_network_infer(net, NULL));
}
static void the_target_of_the_network(xir_network *net) {
    DOES(xir_op_set_target(op_of(net, 1), xir_network_ai_target(net)));
}
static void a_target_without_accelerator(xir_network *net) {
    DOES(xir_op_set_target(op_of(net, 1), xir_target_of_kind(ctx, XIR_TARGET_FPGA, NULL)));
}
static void any_target_where_the_network_has_none(xir_network *net) {
    DOES(xir_network_set_ai_target(net, NULL));
    DOES(xir_op_set_target(op_of(net, 1), xir_target_of_kind(ctx, XIR_TARGET_WOLONG, NULL)));
}
static void a_hard_op_without_inputs(xir_network *net) {
    const xir_type *type = FP32("*", 4);
    assert_non_null(xir_network_add(net, &(xir_op_desc)DESC(hard_op, TYPES(type), .before = op_of(net, 3))));
}
static void ratios_of_reals(xir_network *net) {
    give_type(net, 5, quantized((const double[]){ 1, 2, 3 }, 3, -1, xir_type_float(ctx, XIR_FLOAT_FP32)), "NHWC",
              DIMS(1, 4, 4, 4));
}
static void ids_in_any_order(xir_network *net) {
    DOES(xir_op_set_id(op_of(net, 1), 1000000));
    DOES(xir_value_set_id(value_of(net, 4), 5000000000));
    DOES(xir_op_set_id(op_of(net, 3), 1));
}
static void params_without_bytes(xir_network *net)              { assert_false(xir_params_has_data(value_of(net, 1))); }
static void an_output_used_by_nobody(xir_network *net) {
    xir_at at = { .net = net, .before = op_of(net, 5) };
    xir_build_relu(at, value_of(net, 2), NULL);
}

static void unusual_networks_are_valid(void **state) {
    (void)state;
    static const struct { const char *what; breakage *make; } fine[] = {
#define FINE(f) { #f, f }
        FINE(a_value_need_not_have_a_type), FINE(a_layout_of_stars), FINE(unknown_dims), FINE(the_target_of_the_network),
        FINE(a_target_without_accelerator), FINE(any_target_where_the_network_has_none), FINE(a_hard_op_without_inputs),
        FINE(ratios_of_reals), FINE(ids_in_any_order), FINE(params_without_bytes), FINE(an_output_used_by_nobody),
    };
    for (size_t i = 0; i < COUNT(fine); i++) {
        xir_network *net = small_net();
        fine[i].make(net);
        if (xir_network_validate(net, why)) {
            print_error("%s:\n", fine[i].what);
            xir_diags_print(why, stderr);
            fail();
        }
        xir_network_free(net);
    }
}

static void all_findings_are_listed(void **state) {
    (void)state;
    xir_network *net = small_net();
    below_its_bound(net);
    no_word(net);
    inputs_too_many(net);
    input_absent(net);
    layout_of_another_rank(net);
    op_id_twice(net);
    core_clashes(net);
    last_is_no_output(net);
    assert_int_equal(xir_network_validate(net, why), XIR_E_INVALID);   /* the first in the order of the list */
    static const char *const places[] = {
        "/ops/4", "/ops/1/stride_width", "/ops/1/padding_mode", "/ops/1/compile_target", "/ops/2/inputs", "/ops/2/inputs/0",
        "/ops/2/outputs/0/dtype", "/ops/3/op_id",
    };
    assert_true(xir_diags_count(why) >= COUNT(places));
    for (size_t i = 0; i < COUNT(places); i++) {
        bool found = false;
        for (size_t k = 0; k < xir_diags_count(why); k++) found |= begins_with(xir_diags_at(why, k)->path, places[i]);
        if (!found) fail_msg("no finding at %s", places[i]);
    }
    xir_diags_clear(why);
    xir_network_free(net);
}

/* The list decides how many of them it keeps. */
static void all_faults_are_found(void **state) {
    (void)state;
    enum { MANY = 2000, KEPT = 1000 };
    xir_network *net = small_net();
    xir_at at = { .net = net, .before = op_of(net, 5) };
    for (int i = 0; i < MANY; i++) {
        xir_value *x = xir_build_relu(at, value_of(net, 2), NULL);
        DOES(xir_op_set_input(xir_value_op(x), 0, NULL));
    }
    assert_int_equal(xir_network_validate(net, why), XIR_E_MISSING);
    assert_int_equal(xir_diags_count_of(why, XIR_ERROR), MANY);
    assert_int_equal(xir_diags_count(why), KEPT);
    assert_int_equal(xir_diags_more(why), MANY - KEPT);
    xir_diags_clear(why);
    xir_diags *all = xir_diags_new(ctx);
    xir_diags_set_max(all, MANY);
    assert_int_equal(xir_network_validate(net, all), XIR_E_MISSING);
    assert_int_equal(xir_diags_count(all), MANY);
    CHECK_STR(xir_diags_at(all, MANY - 1)->path, "/ops/2004/inputs/0");
    xir_diags_free(all);
    xir_network_free(net);
}

static void faults_of_shared_attributes_are_reported_for_each_op(void **state) {
    (void)state;
    xir_network *net = small_net();
    xir_op *conv = op_of(net, 1), *other = xir_op_clone(conv);
    DOES(xir_op_place(other, op_of(net, 5)));
    below_its_bound(net);
    other->attrs = conv->attrs;
    const xir_type *bad = FP32("NHW", 1, 8, 8, 4);
    DOES(xir_value_set_type(xir_op_output(conv, 0), bad));
    DOES(xir_value_set_type(xir_op_output(other, 0), bad));
    assert_true(xir_network_validate(net, why) != XIR_OK);
    static const char *const places[] = { "/ops/1/stride_width", "/ops/1/outputs/0/dtype", "/ops/5/stride_width",
                                          "/ops/5/outputs/0/dtype" };
    for (size_t i = 0; i < COUNT(places); i++) {
        bool found = false;
        for (size_t k = 0; k < xir_diags_count(why); k++) found |= begins_with(xir_diags_at(why, k)->path, places[i]);
        if (!found) fail_msg("no finding at %s", places[i]);
    }
    xir_diags_clear(why);
    xir_network_free(net);
}

static void an_op_is_validated_alone(void **state) {
    (void)state;
    xir_network *net = small_net();
    below_its_bound(net);
    input_absent(net);
    assert_int_equal(xir_op_validate(op_of(net, 1), why), XIR_E_BOUNDS);
    CHECK_STR(xir_diags_at(why, 0)->path, "/stride_width");
    xir_diags_clear(why);
    assert_int_equal(xir_op_validate(op_of(net, 2), why), XIR_E_MISSING);
    CHECK_STR(xir_diags_at(why, 0)->path, "/inputs/0");
    DOES(xir_op_validate(op_of(net, 3), why));
    xir_diags_clear(why);
    xir_network_free(net);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_rule_is_reported_alone),
        cmocka_unit_test(a_valid_network_has_no_finding),
        cmocka_unit_test(unusual_networks_are_valid),
        cmocka_unit_test(all_findings_are_listed),
        cmocka_unit_test(all_faults_are_found),
        cmocka_unit_test(faults_of_shared_attributes_are_reported_for_each_op),
        cmocka_unit_test(an_op_is_validated_alone),
    };
    return RUN_GROUP(tests);
}
