/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Networks cut at values: what is in the part, and that it computes what the whole does. XIR_REGIONS is how many random
 * networks are tried. */
#include <stdlib.h>
#include <xir/exec.h>
#include "support/often.h"
#include "support/op_list.h"
#include "support/region_net.h"

/* x, y -> a = x + w, b = relu(a), c = b + y, d = relu(x), out (c, d, b) */
static xir_network *small(xir_value **v) {
    xir_network *net = new_net();
    xir_at at = XIR_AT(net);
    const xir_type *type = FP32("*", 4);
    xir_op *input = xir_network_add(net, &(xir_op_desc)DESC(input, TYPES(type, type), .name = XIR_STR("in")));
    v[0] = named(xir_op_output(input, 0), "x");
    v[1] = named(xir_op_output(input, 1), "y");
    xir_value *w = xir_params_copy(net, XIR_STR("w"), type, "0123456789abcde", 16);
    v[2] = xir_build_add(at, v[0], w, 1, 1, "a");
    v[3] = xir_build_relu(at, v[2], "b");
    v[4] = xir_build_add(at, v[3], v[1], 1, 1, "c");
    v[5] = xir_build_relu(at, v[0], "d");
    assert_non_null(xir_output(at, XIR_VALUES(v[4], v[5], v[3])));
    return net;
}

static xir_network *cut(const xir_network *net, xir_values begin, xir_values end) {
    xir_network *part = xir_extract(net, begin.data, begin.size, end.data, end.size, why);
    if (!part) {
        xir_diags_print(why, stderr);
        fail_msg("nothing is extracted");
    }
    CHECK_SOUND(part);
    assert_int_equal(xir_network_validate(part, why), XIR_OK);
    return part;
}

static void a_part_has_what_its_ends_need(void **state) {
    (void)state;
    const xir_values none = { NULL, 0 };
    xir_value *v[6], *params[2];
    xir_network *net = small(v), *before = xir_network_clone(net), *part;
    const xir_any tag = xir_any_int(7);
    DOES(xir_value_set_tag(v[3], XIR_STR("t"), &tag));
    DOES(xir_value_set_tag(value_of(before, xir_value_id(v[3])), XIR_STR("t"), &tag));

    part = cut(net, XIR_VALUES(v[3]), none);   /* also y is needed; nothing else */
    CHECK_OPS(part, "b, y = Input()", "c = Add(b, y)", "Output(c, b)");
    assert_int_equal(xir_network_params(part, params, 2), 0);
    assert_int_equal(xir_value_id(xir_op_output(xir_network_first(part), 0)), xir_value_id(v[3]));
    assert_non_null(xir_map_find(xir_value_tags(xir_op_output(xir_network_first(part), 0)), XIR_STR("t")));
    CHECK_STR(xir_op_name(xir_network_first(part)), "in");
    assert_int_equal(xir_op_id(xir_network_first(part)), 0);
    xir_network_free(part);

    part = cut(net, none, XIR_VALUES(v[3], v[2]));
    CHECK_OPS(part, "x = Input()", "a = Add(x, w)", "b = ReLU(a)", "Output(b, a)");
    assert_int_equal(xir_network_params(part, params, 2), 1);
    assert_ptr_equal(xir_params_data(params[0], NULL), xir_params_data(xir_op_input(xir_value_op(v[2]), 1), NULL));
    xir_network_free(part);

    part = cut(net, XIR_VALUES(v[1], v[3]), XIR_VALUES(v[4]));
    CHECK_OPS(part, "y, b = Input()", "c = Add(b, y)", "Output(c)");
    xir_network_free(part);

    part = cut(net, XIR_VALUES(v[2]), XIR_VALUES(v[2]));
    CHECK_OPS(part, "a = Input()", "Output(a)");
    xir_network_free(part);

    part = cut(net, none, none);
    assert_true(xir_network_equal(part, net, true));
    xir_network_free(part);
    assert_true(xir_network_equal(before, net, true));
    xir_network_free(net);
    xir_network_free(before);
}

static void check_refused(const xir_network *net, xir_values begin, xir_values end, xir_status code, const char *part,
                          int line) {
    assert_null(xir_extract(net, begin.data, begin.size, end.data, end.size, why));
    const xir_diag *d = xir_diags_at(why, 0);
    if (!d || d->code != code || !strstr(d->message.data, part))
        fail_msg("line %d: %s", line, d ? d->message.data : "no finding");
    xir_diags_clear(why);
}
#define REFUSED(begin, end, code, part) check_refused(net, begin, end, code, part, __LINE__)

static void what_is_no_cut_is_refused(void **state) {
    (void)state;
    const xir_values none = { NULL, 0 };
    xir_value *v[6], *strange[6];
    xir_network *net = small(v), *other = small(strange);
    REFUSED(XIR_VALUES(v[4]), XIR_VALUES(v[3]), XIR_E_INVALID, "is not needed");
    REFUSED(XIR_VALUES(v[2], v[0]), XIR_VALUES(v[3]), XIR_E_INVALID, "'x' is not needed");
    REFUSED(XIR_VALUES(v[2], v[2]), none, XIR_E_INVALID, "given twice");
    REFUSED(none, XIR_VALUES(v[2], v[3], v[2]), XIR_E_INVALID, "end value 2");
    REFUSED(XIR_VALUES(strange[2]), none, XIR_E_INVALID, "another network");
    REFUSED(XIR_VALUES(xir_op_input(xir_value_op(v[2]), 1)), none, XIR_E_INVALID, "Params");
    REFUSED(XIR_VALUES(NULL), none, XIR_E_MISSING, "NULL");
    assert_null(xir_extract(NULL, NULL, 0, NULL, 0, why));
    assert_null(xir_extract(net, NULL, 1, NULL, 0, why));
    xir_diags_clear(why);
    DOES(xir_network_remove(net, xir_value_op(v[5])));
    REFUSED(none, XIR_VALUES(v[5]), XIR_E_INVALID, "not made by any op");
    xir_op *op = xir_value_op(v[3]);
    assert_non_null(xir_outline(net, &op, 1, NULL));
    REFUSED(none, XIR_VALUES(v[3]), XIR_E_INVALID, "sub op");
    DOES(xir_op_set_input(xir_network_output_op(net), 2, v[3]));   /* nothing checks the network here */
    REFUSED(none, none, XIR_E_INVALID, "output value 2 is made by a sub op");
    xir_value *loose = xir_value_new(net, XIR_STR("loose"), FP32("*", 4), NULL);
    DOES(xir_op_set_input(xir_network_output_op(net), 2, loose));
    REFUSED(none, none, XIR_E_INVALID, "output value 2 is not made by any op");
    xir_op *unplaced = xir_op_clone(xir_value_op(v[4]));
    DOES(xir_op_set_input(xir_network_output_op(net), 2, xir_op_output(unplaced, 0)));
    REFUSED(none, none, XIR_E_INVALID, "output value 2 is made by an op that is not placed");
    xir_network_free(net);
    xir_network_free(other);
}

/* ---- numbers ---------------------------------------------------------------------------------------------------- */

typedef struct kept { const xir_value *of[3 * REGION_MOST_OPS]; xir_array *array[3 * REGION_MOST_OPS]; size_t n; } kept;

static bool keep(void *user, const xir_value *value, const xir_array *array) {
    kept *k = user;
    k->of[k->n] = value;
    k->array[k->n++] = xir_array_retain((xir_array *)(uintptr_t)array);
    return true;
}

static const xir_array *array_of(const kept *k, const xir_value *v) {
    for (size_t i = 0; i < k->n; i++)
        if (k->of[i] == v) return k->array[i];
    fail_msg("value %lld has no numbers", (long long)xir_value_id(v));
    return NULL;
}

/* Every value of a network. Unused values are computed, too. */
static void compute(const xir_network *net, kept *k) {
    const xir_op *input = xir_network_input_op(net);
    xir_array *in[2], *out[3];
    for (int i = 0; i < 2; i++) {
        in[i] = xir_array_random(ctx, FP32("*", 4), (uint64_t)i, why);
        keep(k, xir_op_output(input, i), in[i]);
    }
    const xir_run_options options = XIR_INIT(xir_run_options, .watch = keep, .user = k);
    DOES(xir_network_run(net, (const xir_array *const *)in, 2, out, 3, &options, why));
    for (int i = 0; i < 3; i++) xir_array_free(out[i]);
    for (int i = 0; i < 2; i++) xir_array_free(in[i]);
}

/* The part, given what its inputs are in the whole, computes what its outputs are in it. */
static void same_numbers(const xir_network *part, const xir_network *net, const kept *k) {
    xir_value *in[REGION_MOST_OPS], *out[REGION_MOST_OPS];
    const xir_array *given[REGION_MOST_OPS];
    xir_array *found[REGION_MOST_OPS];
    const size_t n_in = xir_network_inputs(part, in, COUNT(in)), n_out = xir_network_outputs(part, out, COUNT(out));
    for (size_t i = 0; i < n_in; i++) given[i] = array_of(k, value_of(net, xir_value_id(in[i])));
    DOES(xir_network_run(part, given, n_in, found, n_out, NULL, why));
    for (size_t i = 0; i < n_out; i++) {
        const xir_array *expected = array_of(k, value_of(net, xir_value_id(out[i])));
        size_t size = 0, other = 0;
        const void *a = xir_array_data(found[i], &size), *b = xir_array_data(expected, &other);
        assert_int_equal(size, other);
        assert_memory_equal(a, b, size);
        xir_array_free(found[i]);
    }
}

static bool add_once(xir_value **list, size_t *n, xir_value *v) {
    for (size_t i = 0; i < *n; i++)
        if (list[i] == v) return false;
    list[(*n)++] = v;
    return true;
}

/* The begin values are some that the ends need: going back from an end, each op's inputs are cut or followed. */
static void go_back(xir_value *v, xir_value **begin, size_t *n, int depth) {
    const xir_op *op = xir_value_op(v);
    if (!chance(5) || depth > 6) {
        if (*n < 8) (void)add_once(begin, n, v);
        return;
    }
    for (size_t i = 0; op && i < xir_op_input_count(op); i++) {
        xir_value *in = xir_op_input(op, (int64_t)i);
        if (!xir_value_is_params(in)) go_back(in, begin, n, depth + 1);
    }
}

static void any_cut_computes_the_same(void **state) {
    (void)state;
    const char *text = getenv("XIR_REGIONS");
    size_t cuts = 0;
    for (long i = 0, n = text ? atol(text) : OFTEN(1000); i < n; i++) {
        xir_network *net = region_net(24), *before = xir_network_clone(net);
        kept k = { .n = 0 };
        compute(net, &k);
        for (int again = 0; again < 4; again++) {
            xir_value *begin[16], *end[4];
            size_t n_begin = 0, n_end = 0;
            for (size_t most = 1 + chance(3), m = 0; m < most; m++) {
                xir_op *op = xir_network_op_at(net, 1 + (int64_t)chance(xir_network_op_count(net) - 2));
                (void)add_once(end, &n_end, xir_op_output(op, (int64_t)chance(xir_op_output_count(op))));
            }
            if (chance(4)) go_back(end[chance(n_end)], begin, &n_begin, 0);
            xir_network *part = xir_extract(net, begin, n_begin, end, n_end, why);
            if (!part) {   /* another begin value is between */
                assert_int_equal(xir_diags_at(why, 0)->code, XIR_E_INVALID);
                xir_diags_clear(why);
                continue;
            }
            cuts++;
            const char *broken = broken_invariant(part, ASK_ALL);
            if (broken) fail_msg("network %ld: %s", i, broken);
            same_numbers(part, net, &k);
            xir_network_free(part);
        }
        assert_true(xir_network_equal(net, before, true));
        for (size_t m = 0; m < k.n; m++) xir_array_free(k.array[m]);
        xir_network_free(net);
        xir_network_free(before);
    }
    assert_true(cuts > (size_t)(text ? atol(text) : OFTEN(1000)));
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_part_has_what_its_ends_need),
        cmocka_unit_test(what_is_no_cut_is_refused),
        cmocka_unit_test(any_cut_computes_the_same),
    };
    return RUN_GROUP(tests);
}
