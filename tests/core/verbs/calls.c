/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The class xir::Call: its body is copied, typed and asked like other ops, a wrong one is an error with its place, and
 * none is nested deeper than files may be. */
#include <stdio.h>
#include <stdlib.h>
#include <xir/cost.h>
#include <xir/exec.h>
#include <xir/icraft.h>
#include "support/formats.h"
#include "support/op_list.h"
#include "support/region_net.h"
#include "support/scratch.h"

static void sizes_that_change_outside_change_inside(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_at at = XIR_AT(net);
    xir_value *x = xir_input(at, "x", FP32("**", -1, 4)), *a = xir_build_relu(at, x, "a");
    xir_value *b = xir_build_add(at, a, a, 1, 1, "b");
    assert_non_null(xir_output(at, XIR_VALUES(b)));
    xir_op *ops[] = { xir_value_op(a), xir_value_op(b) };
    xir_op *call = xir_outline(net, ops, 2, NULL);
    DOES(xir_value_set_type(x, FP32("**", 7, 4)));
    DOES(xir_network_infer(net, why));
    assert_true(xir_type_equal(xir_value_type(xir_op_output(call, 0)), FP32("**", 7, 4)));
    assert_int_equal(xir_network_validate(net, why), XIR_OK);
    xir_work work = XIR_INIT(xir_work);
    DOES(xir_op_work(call, &work, why));
    assert_int_equal(work.element_ops, 56);
    DOES(xir_op_inline(call));
    assert_true(xir_type_equal(xir_value_type(a), FP32("**", 7, 4)));
    assert_int_equal(xir_network_validate(net, why), XIR_OK);
    xir_network_free(net);
}

/* The cost of a body is not known if it is not known of one of its ops, whichever comes first. */
static void a_body_costs_what_its_ops_cost(void **state) {
    (void)state;
    for (int open = 0; open < 2; open++) {
        xir_network *net = new_net();
        xir_at at = XIR_AT(net);
        xir_value *x = xir_input(at, "x", FP32("**", open ? -1 : 3, 4)), *a = xir_build_relu(at, x, "a");
        xir_value *b = xir_build_add(at, a, a, 1, 1, "b");
        assert_non_null(xir_output(at, XIR_VALUES(b)));
        xir_op *call = xir_outline(net, (xir_op *[]){ xir_value_op(a), xir_value_op(b) }, 2, NULL);
        xir_cost cost = XIR_INIT(xir_cost);
        DOES(xir_op_cost(call, &cost, why));
        assert_true(cost.element_ops == (open ? XIR_COST_UNKNOWN : 24));
        xir_network_free(net);
    }
}

/* Copies of a call, in its network and in another one, run and come back like the call itself. */
static void a_call_is_copied_with_its_body(void **state) {
    (void)state;
    xir_network *net = ladder_net(), *before = xir_network_clone(net), *to = new_net();
    xir_op *ops[] = { named_op(net, "b"), named_op(net, "c"), named_op(net, "e"), named_op(net, "d") };
    xir_op *call = xir_outline(net, ops, 4, NULL), *copy = xir_op_clone(call);
    DOES(xir_op_place(copy, xir_op_next(call)));
    assert_int_equal(xir_network_validate(net, why), XIR_OK);
    CHECK_SOUND(net);
    assert_ptr_not_equal(xir_call_op_of(copy)->body.data[1], ops[0]);
    DOES(xir_op_inline(copy));
    CHECK_OPS(net, "x = Input()", "a = ReLU(x)", "f = ReLU(x)", "d = Call(a)", "b = ReLU(a)", "c = ReLU(b)",
              "e = ReLU(b)",
              "d = Add(c, e)", "Output(d, f)");
    DOES(xir_pass_run(net, "dce", NULL, NULL, why));   /* what nothing uses goes, the call does not */
    CHECK_OPS(net, "x = Input()", "a = ReLU(x)", "f = ReLU(x)", "d = Call(a)", "Output(d, f)");

    xir_mapping *map = xir_mapping_new(net, to);
    xir_view *all = xir_view_range(net, 0, INT64_MAX);
    DOES(xir_mapping_clone_view(map, all, NULL));
    assert_int_equal(xir_network_validate(to, why), XIR_OK);
    DOES(xir_op_inline(xir_mapping_op(map, call)));
    CHECK_OPS(to, "x = Input()", "a = ReLU(x)", "f = ReLU(x)", "b = ReLU(a)", "c = ReLU(b)", "e = ReLU(b)",
              "d = Add(c, e)", "Output(d, f)");
    xir_view_free(all);
    xir_mapping_free(map);
    xir_network_free(to);
    xir_network_free(net);
    xir_network_free(before);
}

/* A pass removes a Copy after a call, so that the output of the call is the result "y". */
static void results_keep_what_they_got_as_outputs_of_a_call(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_at at = XIR_AT(net);
    xir_value *x = xir_input(at, "x", FP32("*", 4)), *a = xir_build_relu(at, x, "a"), *b = xir_build_relu(at, a, "b");
    xir_op *copy = xir_network_add(net, &(xir_op_desc)DESC(copy, INPUTS(b), .name = XIR_STR("y")));
    DOES(xir_value_set_name(xir_op_output(copy, 0), XIR_STR("y")));
    assert_non_null(xir_output(at, XIR_VALUES(xir_op_output(copy, 0))));
    const xir_any one = xir_any_int(1), two = xir_any_int(2);
    DOES(xir_value_set_tag(b, XIR_STR("own"), &one));
    DOES(xir_value_set_tag(b, XIR_STR("both"), &one));
    xir_op *ops[] = { xir_value_op(a), xir_value_op(b) }, *call = xir_outline(net, ops, 2, NULL);
    DOES(xir_pass_run(net, "identity", NULL, NULL, why));
    xir_value *out = xir_op_output(call, 0);
    assert_ptr_equal(xir_op_input(xir_network_output_op(net), 0), out);
    CHECK_STR(xir_value_name(out), "y");
    DOES(xir_value_set_tag(out, XIR_STR("both"), &two));
    DOES(xir_value_set_mtype(out, xir_mtype_external(ctx, 64)));
    assert_ptr_equal(xir_network_value_by_name(net, XIR_STR("y")), out);
    DOES(xir_op_inline(call));
    assert_ptr_equal(xir_op_input(xir_network_output_op(net), 0), b);
    CHECK_STR(xir_value_name(b), "y");
    assert_ptr_equal(xir_network_value_by_name(net, XIR_STR("y")), b);
    assert_true(xir_any_equal(xir_map_find(xir_value_tags(b), XIR_STR("own")), &one));
    assert_true(xir_any_equal(xir_map_find(xir_value_tags(b), XIR_STR("both")), &two));
    assert_int_equal(xir_mtype_kind_of(xir_value_mtype(b)), XIR_MTYPE_EXTERNAL);
    CHECK_SOUND(net);
    xir_network_free(net);
}

/* The body gives its first value twice, and what it takes. */
static void of_outputs_that_are_one_value_the_first_decides(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_at at = XIR_AT(net);
    xir_value *x = xir_input(at, "x", FP32("*", 4)), *a = xir_build_relu(at, x, "a"), *b = xir_build_relu(at, x, "b");
    xir_value *c = xir_build_relu(at, x, "c");
    assert_non_null(xir_output(at, XIR_VALUES(a, b, c)));
    xir_op *ops[] = { xir_value_op(a), xir_value_op(b), xir_value_op(c) }, *call = xir_outline(net, ops, 3, NULL);
    const xir_ops body = xir_call_op_of(call)->body;
    xir_op *last = body.data[body.size - 1];
    DOES(xir_op_set_input(last, 1, a));
    DOES(xir_op_set_input(last, 2, xir_op_output(body.data[0], 0)));
    DOES(xir_value_set_name(xir_op_output(call, 0), XIR_STR("first")));
    DOES(xir_value_set_name(xir_op_output(call, 1), XIR_STR("second")));
    DOES(xir_value_set_name(xir_op_output(call, 2), XIR_STR("third")));
    DOES(xir_op_inline(call));
    CHECK_STR(xir_value_name(a), "first");
    CHECK_STR(xir_value_name(b), "b");
    CHECK_STR(xir_value_name(x), "x");
    for (size_t i = 0; i < 3; i++)
        assert_ptr_equal(xir_op_input(xir_network_output_op(net), i), i < 2 ? a : x);
    CHECK_SOUND(net);
    xir_network_free(net);
}

/* Indices stay within their table, so that random inputs of a network with a call can be run. */
static void a_call_takes_what_its_ops_take(void **state) {
    (void)state;
    xir_network *net = new_net();
    const xir_type *table = FP32("*", 5), *index = XIR_TENSOR(ctx, xir_type_sint(ctx, 64), "*", 3);
    xir_op *input = xir_network_add(net, &(xir_op_desc)DESC(input, TYPES(table, index)));
    xir_op *gather = xir_network_add(net, &(xir_op_desc)DESC(gather, INPUTS(xir_op_output(input, 0),
                                                                            xir_op_output(input, 1))));
    xir_value *y = xir_build_relu(XIR_AT(net), xir_op_output(gather, 0), "y");
    assert_non_null(xir_output(XIR_AT(net), XIR_VALUES(y)));
    xir_numbers had[2] = { XIR_INIT(xir_numbers), XIR_INIT(xir_numbers) };
    xir_numbers has[2] = { XIR_INIT(xir_numbers), XIR_INIT(xir_numbers) };
    DOES(xir_network_input_numbers(net, had, 2, why));
    xir_op *ops[] = { gather, xir_value_op(y) }, *call = xir_outline(net, ops, 2, NULL);
    assert_non_null(xir_outline(net, &call, 1, NULL));
    DOES(xir_network_input_numbers(net, has, 2, why));
    assert_true(had[1].high == 4);
    for (int i = 0; i < 2; i++) assert_true(had[i].low == has[i].low && had[i].high == has[i].high);
    xir_network_free(net);
}

/* ---- bodies that are wrong -------------------------------------------------------------------------------------- */

/* A ladder whose ops b, c, e and d are a call: op 1 of the order is a, op 3 the call. */
static xir_network *with_call(xir_op **call) {
    xir_network *net = ladder_net();
    xir_op *ops[] = { named_op(net, "b"), named_op(net, "c"), named_op(net, "e"), named_op(net, "d") };
    *call = xir_outline(net, ops, 4, NULL);
    assert_non_null(*call);
    return net;
}

/* The network is not valid, whether it was edited or read from a file; nobody who meets it fails. */
static void check_wrong(xir_network *net, xir_op *call, xir_status code, const char *place, int line) {
    const xir_load_options how = XIR_INIT(xir_load_options, .format = "json");
    const char *path = scratch("wrong.json");
    xir_network_clear_status(net);
    for (int read = 0; read < 2; read++) {
        xir_network *it = net;
        if (read) {
            it = xir_network_save(net, path, NULL, why) ? NULL : xir_network_load(ctx, path, &how, why);
            if (!it) {   /* the writer or the reader refuses it already */
                assert_true(xir_diags_at(why, 0)->code != XIR_OK);
                xir_diags_clear(why);
                continue;
            }
            call = xir_network_op_by_id(it, xir_op_id(call));
        }
        const xir_status status = xir_network_validate(it, why);
        const xir_diag *d = xir_diags_at(why, 0);
        if (status != code || !d || strncmp(d->path.data, place, strlen(place)) != 0)
            fail_msg("line %d: %s at %s: %s", line, xir_status_name(status), d ? d->path.data : "-",
                     d ? d->message.data : "valid");
        xir_diags_clear(why);
        REFUSES(it, xir_op_inline(call), code, "");
        xir_array *in = xir_array_random(ctx, FP32("*", 4), 1, NULL), *out[2];
        assert_true(xir_network_run(it, (const xir_array *const *)&in, 1, out, 2, NULL, why) != XIR_OK);
        (void)xir_network_infer(it, why);
        (void)xir_op_try(call, NULL, why);
        xir_work work = XIR_INIT(xir_work);
        (void)xir_op_work(call, &work, why);
        xir_op *outer = xir_outline(it, &call, 1, NULL);
        assert_true(!outer || xir_op_inline(outer) == XIR_OK);
        xir_array_free(in);
        xir_diags_clear(why);
        if (read) xir_network_free(it);
    }
    xir_network_free(net);
}
#define CHECK_WRONG(code, place) check_wrong(net, call, code, place, __LINE__)

static void a_wrong_body_is_an_error_with_its_place(void **state) {
    (void)state;
    xir_op *call, *gone;
    xir_network *net = with_call(&call);
    const xir_str names[] = { XIR_STR("p"), XIR_STR("p") };
    (void)xir_op_set_texts(call, "takes", names, 2);   /* a port that the body does not have */
    CHECK_WRONG(XIR_E_INVALID, "/ops/3/takes");

    net = with_call(&call);
    (void)xir_op_set_texts(call, "gives", NULL, 0);
    CHECK_WRONG(XIR_E_INVALID, "/ops/3/gives");

    net = with_call(&call);
    (void)xir_op_set_texts(call, "takes", &(xir_str){ "", 0 }, 1);
    CHECK_WRONG(XIR_E_INVALID, "/ops/3/takes");

    net = with_call(&call);   /* a value from outside */
    DOES(xir_op_set_input(xir_call_op_of(call)->body.data[1], 0, xir_op_output(named_op(net, "a"), 0)));
    CHECK_WRONG(XIR_E_INVALID, "/ops/3/body/1/inputs/0");

    net = with_call(&call);   /* a cycle */
    DOES(xir_op_set_input(xir_call_op_of(call)->body.data[1], 0,
                          xir_op_output(xir_call_op_of(call)->body.data[4], 0)));
    CHECK_WRONG(XIR_E_INVALID, "/ops/3/body/1/inputs/0");

    net = with_call(&call);   /* a value of the body that is used outside */
    DOES(xir_op_set_input(named_op(net, "f"), 0, xir_op_output(xir_call_op_of(call)->body.data[1], 0)));
    CHECK_WRONG(XIR_E_INVALID, "/ops/3/body/1/outputs/0");

    net = with_call(&call);   /* types that disagree */
    DOES(xir_value_set_type(xir_op_output(xir_call_op_of(call)->body.data[0], 0), FP32("*", 5)));
    CHECK_WRONG(XIR_E_TYPE, "/ops/3/inputs/0");

    net = with_call(&call);
    DOES(xir_value_set_type(xir_op_output(call, 0), FP32("**", 2, 2)));
    CHECK_WRONG(XIR_E_TYPE, "/ops/3/outputs/0");

    net = with_call(&call);   /* no result */
    gone = xir_call_op_of(call)->body.data[5];
    DOES(xir_op_set_inputs(gone, NULL, 0));
    CHECK_WRONG(XIR_E_INVALID, "/ops/3/gives");

    net = with_call(&call);   /* a call without a body cannot be made */
    REFUSES_NULL(net, xir_network_add(net, &(xir_op_desc)DESC(call_op, INPUTS(xir_op_output(call, 0)))), XIR_E_INVALID,
                 "the body has 0 ops");
    xir_network_free(net);
}

/* A file whose calls are nested 10 000 deep. */
static void a_file_that_is_too_deep_is_refused(void **state) {
    (void)state;
    enum { DEEP = 10000 };
    static const char open[] = "{\"_type_key\":\"xir::Call\",\"op_id\":%d,\"name\":\"\",\"inputs\":[],\"outputs\":[],"
                               "\"takes\":[],\"gives\":[],\"places\":[],\"tags\":{},\"compile_target\":\"@hostt\","
                               "\"body\":[";
    static const char head[] = "{\"_type_key\":\"icraft::xir::Network\",\"name\":\"deep\",\"framework_kind\":\"ONNX\","
                               "\"framework_version\":\"1\",\"icraft_version\":\"v3.33.1\",\"icraft_xir_version\":"
                               "\"3.33.1.0\",\"ai_target\":\"@buyit\",\"tags\":{},\"params_bytes\":0,\"params_md5\":"
                               "\"d41d8cd98f00b204e9800998ecf8427e\",\"ops\":[";
    const size_t room = sizeof head + DEEP * (sizeof open + 10) + 16;
    char *text = malloc(room), *at = text;
    at += sprintf(at, "%s", head);
    for (int i = 0; i < DEEP; i++) at += sprintf(at, open, i);
    for (int i = 0; i < DEEP; i++) at += sprintf(at, "]}");
    at += sprintf(at, "]}");
    const xir_load_options how = XIR_INIT(xir_load_options, .format = "json", .no_params = true);
    assert_null(xir_network_read(ctx, text, (size_t)(at - text), XIR_STR("deep.json"), &how, why));
    if (xir_diags_at(why, 0)->code != XIR_E_LIMIT) fail_msg("%s", xir_diags_at(why, 0)->message.data);
    assert_true(xir_diags_at(why, 0)->byte != XIR_NO_BYTE || xir_diags_at(why, 0)->path.size);
    xir_diags_clear(why);
    free(text);
}

/* A call in a call in a call, until a file could not be read back. */
static void bodies_are_not_nested_too_deep(void **state) {
    (void)state;
    xir_network *net = ladder_net(), *before = xir_network_clone(net);
    xir_op *op = named_op(net, "a"), *calls[200];
    size_t n = 0;
    while (n < 200 && (calls[n] = xir_outline(net, &op, 1, NULL))) op = calls[n++];
    assert_int_equal(xir_network_status(net), XIR_E_LIMIT);
    assert_true(n > 10 && n < 100);
    xir_network_clear_status(net);
    assert_int_equal(xir_network_validate(net, why), XIR_OK);
    xir_format_info format;
    for (size_t i = 0; written_format_at(i, &format); i++) {
        xir_network *again = region_through(net, format.name, scratch("net"));
        assert_true(!again || xir_network_equal(net, again, true));
        xir_network_free(again);
    }
    while (n-- > 0) DOES(xir_op_inline(calls[n]));
    assert_true(xir_network_equal(net, before, true));
    xir_network_free(net);
    xir_network_free(before);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_that_change_outside_change_inside),
        cmocka_unit_test(a_body_costs_what_its_ops_cost),
        cmocka_unit_test(a_call_is_copied_with_its_body),
        cmocka_unit_test(results_keep_what_they_got_as_outputs_of_a_call),
        cmocka_unit_test(of_outputs_that_are_one_value_the_first_decides),
        cmocka_unit_test(a_call_takes_what_its_ops_take),
        cmocka_unit_test(a_wrong_body_is_an_error_with_its_place),
        cmocka_unit_test(a_file_that_is_too_deep_is_refused),
        cmocka_unit_test(bodies_are_not_nested_too_deep),
    };
    scratch_make();
    return RUN_GROUP(tests);
}
