/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Views: which ops they select, which values enter and leave, when they are stale, and networks made from them. */
#include <stdio.h>
#include <string.h>
#include <xir/xir.h>
#include <xir/icraft.h>
#include "support/group.h"

/* ---- a network to look at --------------------------------------------------------------------------------------- */

/*     id 0  in    makes image (value 0)
 *     id 1  conv  image, w (value 1)          makes 2
 *     id 2  left  relu of 2                   makes 3
 *     id 3  right relu of 2                   makes 4
 *     id 4  sum   3 + 4                       makes 5
 *     id 5  last  relu of 5                   makes 6
 *     id 6  out   takes 6 and 3: not in the order in which they are made */
static xir_network *net;

static xir_value *named(xir_at at, xir_value *input, const char *name) { return xir_build_relu(at, input, name); }

static xir_network *build(xir_context *in) {
    xir_network *made = xir_network_new(in, "branches", XIR_FRAMEWORK_PYTORCH, "v1.9");
    if (!made) return NULL;
    const xir_type *fp32 = xir_type_float(in, XIR_FLOAT_FP32);
    xir_at at = XIR_AT(made);
    xir_value *image = xir_input(at, "in", XIR_TENSOR(in, fp32, "NHWC", 1, 8, 8, 3));
    xir_value *w = xir_params_new(made, XIR_STR("w"), XIR_TENSOR(in, fp32, "HWIO", 1, 1, 3, 4));
    xir_value *conv = XIR_CONV2D(at, .input = image, .weights = w, .name = "conv");
    xir_value *left = named(at, conv, "left"), *right = named(at, conv, "right");
    xir_value *last = named(at, xir_build_add(at, left, right, 1, 1, "sum"), "last");
    xir_op *out = xir_output(at, XIR_VALUES(last, left));
    if (!out) {
        xir_network_free(made);
        return NULL;
    }
    return made;
}

static int set_up(void **state) {
    (void)state;
    net = build(ctx);
    return net ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    xir_network_free(net);
    net = NULL;
    return 0;
}

static xir_op *op(int64_t id);
static xir_value *value(int64_t id);

/* "right" reads the image, and 2 is an output of the network: now no path leaves conv, left and sum and returns. */
static void part_the_branches(void) {
    assert_int_equal(xir_op_set_input(op(3), 0, value(0)), XIR_OK);
    assert_int_equal(xir_op_add_input(op(6), value(2)), XIR_OK);
}

/* "left" reads a constant, and "sum" reads it twice: no path leads from in and conv to last. False if memory runs
 * out. */
static bool detach_last(xir_network *from) {
    const xir_op *conv = xir_op_next(xir_network_first(from));
    xir_op *left = xir_op_next(conv), *sum = xir_op_next(xir_op_next(left));
    return xir_op_set_input(left, 0, xir_op_input(conv, 1)) == XIR_OK &&
           xir_op_set_input(sum, 1, xir_op_output(left, 0)) == XIR_OK;
}

static xir_op *op(int64_t id) { return xir_network_op_by_id(net, id); }
static xir_value *value(int64_t id) { return xir_network_value_by_id(net, id); }

/* The ids of a view's ops, inputs, outputs and params: "1 2 3 | 0 | 3 | 1". */
static const char *ids(const xir_view *view) {
    static char out[512];
    int n = 0;
    out[0] = '\0';
    for (size_t i = 0; i < xir_view_op_count(view); i++) {
        n += snprintf(out + n, sizeof out - (size_t)n, "%lld ", (long long)xir_op_id(xir_view_op_at(view, (int64_t)i)));
    }
    size_t (*const lists[])(const xir_view *, xir_value **, size_t) = { xir_view_inputs, xir_view_outputs,
                                                                        xir_view_params };
    for (int list = 0; list < 3; list++) {
        xir_value *values[32];
        size_t count = lists[list](view, values, 32);
        n += snprintf(out + n, sizeof out - (size_t)n, "|");
        for (size_t i = 0; i < count; i++)
            n += snprintf(out + n, sizeof out - (size_t)n, " %lld", (long long)xir_value_id(values[i]));
        n += snprintf(out + n, sizeof out - (size_t)n, "%s", list < 2 ? " " : "");
    }
    return out;
}

#define CHECK_VIEW(made, expected)                  \
    do {                                            \
        xir_view *view_ = (made);                   \
        assert_non_null(view_);                     \
        assert_string_equal(ids(view_), expected);  \
        xir_view_free(view_);                       \
    } while (0)

/* The last finding of the network, which is cleared. */
static void check_net_refused(xir_status code, const char *part) {
    assert_int_equal(xir_network_status(net), code);
    const xir_diag *diag = xir_diags_at(xir_network_diags(net), 0);
    char sentence[300];
    snprintf(sentence, sizeof sentence, "%.*s", (int)diag->message.size, diag->message.data);
    if (!strstr(sentence, part)) print_error("expected: %s\nfound:    %s\n", part, sentence);
    assert_non_null(strstr(sentence, part));
    xir_network_clear_status(net);
}

/* ---- picking ---------------------------------------------------------------------------------------------------- */

static bool is_relu(const xir_op *o, void *user) {
    ++*(int *)user;
    return xir_op_is(o, xir_relu_class());
}

static void views_select_ops(void **state) {
    (void)state;
    /* The whole network: outputs in the order of the network's own. */
    CHECK_VIEW(xir_view_range(net, 0, INT64_MAX), "0 1 2 3 4 5 6 | 0 | 6 3 | 1");
    CHECK_VIEW(xir_view_range(net, 2, 5), "2 3 4 | 2 | 3 5 |");
    CHECK_VIEW(xir_view_range(net, -3, -1), "4 5 | 3 4 | 6 |");
    CHECK_VIEW(xir_view_range(net, 1, -1), "1 2 3 4 5 | 0 | 6 3 | 1");   /* the outputs of the whole, in the same order */
    CHECK_VIEW(xir_view_range(net, 3, 3), "| | |");
    CHECK_VIEW(xir_view_range(net, 7, INT64_MAX), "| | |");
    CHECK_VIEW(xir_view_id_range(net, 2, 4), "2 3 4 | 2 | 3 5 |");         /* including the end */
    CHECK_VIEW(xir_view_id_range(net, 6, 6), "6 | 6 3 | 6 3 |");           /* its inputs are its outputs */
    CHECK_VIEW(xir_view_ids(net, (const int64_t[]){ 4, 1, 4, 2 }, 3), "1 4 | 0 3 4 | 2 5 | 1");
    CHECK_VIEW(xir_view_ids(net, (const int64_t[]){ 4, 1, 4, 2 }, 4), "1 2 4 | 0 4 | 2 3 5 | 1");
    CHECK_VIEW(xir_view_ops(net, (xir_op *const[]){ op(5), op(0) }, 2), "0 5 | 0 5 | 0 6 |");
    CHECK_VIEW(xir_view_except(net, (const int64_t[]){ 0, 6 }, 2), "1 2 3 4 5 | 0 | 6 3 | 1");
    CHECK_VIEW(xir_view_except(net, NULL, 0), "0 1 2 3 4 5 6 | 0 | 6 3 | 1");
    int asked = 0;
    CHECK_VIEW(xir_view_if(net, is_relu, &asked), "2 3 5 | 2 5 | 3 4 6 |");
    assert_int_equal(asked, 7);
    assert_int_equal(xir_network_status(net), XIR_OK);
}

static void bad_selections_are_refused(void **state) {
    (void)state;
    assert_null(xir_view_range(net, 2, 8));
    check_net_refused(XIR_E_BOUNDS, "positions from 2 to 8 are not within 7 ops");
    assert_null(xir_view_range(net, 5, 3));
    check_net_refused(XIR_E_BOUNDS, "positions from 5 to 3");
    assert_null(xir_view_range(net, -8, 3));
    check_net_refused(XIR_E_BOUNDS, "positions from -8 to 3");
    assert_null(xir_view_range(net, 0, INT64_MIN));
    check_net_refused(XIR_E_BOUNDS, "positions from 0");
    assert_null(xir_view_ids(net, (const int64_t[]){ 1, 77 }, 2));
    check_net_refused(XIR_E_MISSING, "no op of the network has the id 77");
    assert_null(xir_view_except(net, (const int64_t[]){ -1 }, 1));
    check_net_refused(XIR_E_MISSING, "has the id -1");
    assert_null(xir_view_id_range(net, 4, 2));
    check_net_refused(XIR_E_BOUNDS, "op 2 runs before op 4");
    assert_null(xir_view_id_range(net, 9, 2));
    check_net_refused(XIR_E_MISSING, "the id 9");

    xir_network *other = build(ctx);
    assert_null(xir_view_ops(net, (xir_op *const[]){ op(1), xir_network_op_by_id(other, 1) }, 2));
    check_net_refused(XIR_E_INVALID, "op 1 of a view is not in the network's order");
    xir_network_free(other);
    xir_op *loose = xir_op_clone(op(2));
    assert_null(xir_view_ops(net, &loose, 1));
    check_net_refused(XIR_E_INVALID, "op 0 of a view");
}

static void views_answer_queries(void **state) {
    (void)state;
    xir_view *view = xir_view_range(net, 2, 5), *same = xir_view_id_range(net, 2, 4),
              *other = xir_view_range(net, 2, 6);
    assert_ptr_equal(xir_view_network(view), net);
    assert_ptr_equal(xir_view_op_at(view, 1), op(3));
    assert_ptr_equal(xir_view_op_at(view, -1), op(4));
    assert_null(xir_view_op_at(view, 3));
    assert_null(xir_view_op_at(view, -4));
    assert_ptr_equal(xir_view_op_by_id(view, 4), op(4));
    assert_null(xir_view_op_by_id(view, 5));   /* of the network, but not of the view */
    assert_int_equal(xir_view_index_of(view, op(4)), 2);
    assert_int_equal(xir_view_index_of(view, op(1)), -1);
    assert_true(xir_view_has(view, op(2)));
    assert_false(xir_view_has(view, op(6)));
    assert_false(xir_view_has(view, NULL));
    assert_true(xir_view_equal(view, same));
    assert_false(xir_view_equal(view, other));
    xir_value *one[1] = { NULL };
    assert_int_equal(xir_view_outputs(view, one, 1), 2);   /* the number of outputs; only as many as fit are written */
    assert_ptr_equal(one[0], value(3));
    assert_int_equal(xir_view_outputs(view, NULL, 0), 2);
    xir_view_free(view);
    xir_view_free(same);
    xir_view_free(other);
    xir_view_free(NULL);
}

/* A value without users is an output: it was made for some purpose. */
static void unused_values_are_outputs(void **state) {
    (void)state;
    xir_at before_the_end = XIR_AT(net);
    before_the_end.before = op(6);
    assert_non_null(named(before_the_end, value(5), "dead"));
    CHECK_VIEW(xir_view_ids(net, (const int64_t[]){ 4, 5, 7 }, 3), "4 5 7 | 3 4 | 6 7 |");
    /* An op that has no place in the order uses nothing: 5 is still used inside only. */
    assert_non_null(xir_op_clone(op(5)));
    CHECK_VIEW(xir_view_ids(net, (const int64_t[]){ 4, 5, 7 }, 3), "4 5 7 | 3 4 | 6 7 |");
}

static void outputs_are_put_into_order(void **state) {
    (void)state;
    part_the_branches();
    xir_view *view = xir_view_ids(net, (const int64_t[]){ 1, 2, 4 }, 3);
    assert_string_equal(ids(view), "1 2 4 | 0 4 | 2 3 5 | 1");
    assert_int_equal(xir_view_order_outputs(view, (const int64_t[]){ 5, 2, 3 }, 3), XIR_OK);
    assert_string_equal(ids(view), "1 2 4 | 0 4 | 5 2 3 | 1");
    assert_int_equal(xir_view_order_outputs(view, (const int64_t[]){ 5, 2 }, 2), XIR_E_INVALID);
    check_net_refused(XIR_E_INVALID, "2 outputs are to be ordered, the view has 3");
    assert_int_equal(xir_view_order_outputs(view, (const int64_t[]){ 5, 2, 4 }, 3), XIR_E_INVALID);
    check_net_refused(XIR_E_INVALID, "value 4 is not an output of the view");
    assert_int_equal(xir_view_order_outputs(view, (const int64_t[]){ 5, 2, 2 }, 3), XIR_E_INVALID);
    check_net_refused(XIR_E_INVALID, "value 2 is named twice");
    assert_string_equal(ids(view), "1 2 4 | 0 4 | 5 2 3 | 1");   /* unchanged */

    xir_network *part = xir_view_to_network(view);
    xir_value *outputs[4];
    assert_int_equal(xir_network_outputs(part, outputs, 4), 3);
    assert_int_equal(xir_value_id(outputs[0]), 5);
    assert_int_equal(xir_value_id(outputs[2]), 3);
    xir_network_free(part);
    xir_view_free(view);
}

/* ---- stale ------------------------------------------------------------------------------------------------------ */

typedef void edit_fn(void);
static void add_op(void)      { named(XIR_AT(net), value(5), "new"); }
static void remove_op(void)   { xir_network_remove(net, op(5)); }
static void move_op(void)     { xir_op_move(op(3), op(2)); }
static void set_input(void)   { xir_op_set_input(op(5), 0, value(3)); }
static void set_id(void)      { xir_op_set_id(op(5), 50); }
static void set_name(void)    { xir_op_set_name(op(5), XIR_STR("other")); }
static void set_attr(void)    { xir_op_set_real(op(2), "alpha", 0.5); }
static void set_type(void)    { xir_value_set_type(value(5), xir_value_type(value(0))); }
static void replace_use(void) { xir_value_replace(value(4), value(3)); }

static void an_edit_makes_views_stale(void **state) {
    (void)state;
    static edit_fn *const edits[] = { add_op, remove_op, move_op, set_input, set_id, set_name, set_attr, set_type,
                                      replace_use };
    for (size_t i = 0; i < sizeof edits / sizeof edits[0]; i++) {
        xir_view *view = xir_view_range(net, 1, 5), *twin = xir_view_range(net, 1, 5);
        assert_false(xir_view_is_stale(view));
        edits[i]();
        assert_int_equal(xir_network_status(net), XIR_OK);
        assert_true(xir_view_is_stale(view));
        assert_string_equal(ids(view), "| | |");
        assert_null(xir_view_op_at(view, 0));
        assert_null(xir_view_op_by_id(view, 1));
        assert_int_equal(xir_view_index_of(view, op(1)), -1);
        assert_false(xir_view_has(view, op(1)));
        assert_false(xir_view_equal(view, twin));
        assert_ptr_equal(xir_view_network(view), net);
        assert_int_equal(xir_view_order_outputs(view, NULL, 0), XIR_E_STALE);
        check_net_refused(XIR_E_STALE, "changed since the view was made");
        assert_null(xir_view_to_network(view));
        check_net_refused(XIR_E_STALE, "changed since the view was made");
        xir_view_free(view);
        xir_view_free(twin);
        tear_down(NULL);
        assert_int_equal(set_up(NULL), 0);
    }
}

/* Querying a network, or a failed edit, changes nothing. */
static void queries_do_not_make_views_stale(void **state) {
    (void)state;
    xir_view *view = xir_view_range(net, 1, 5);
    xir_network_op_at(net, 3);
    xir_network_op_by_id(net, 2);
    xir_network_validate(net, NULL);
    assert_int_equal(xir_op_erase(op(1)), XIR_E_IN_USE);
    assert_null(xir_view_range(net, 5, 1));
    xir_network_clear_status(net);
    assert_false(xir_view_is_stale(view));
    xir_network_free(xir_view_to_network(view));
    assert_false(xir_view_is_stale(view));
    xir_view_free(view);
}

static void a_view_keeps_its_network(void **state) {
    (void)state;
    xir_context *own = xir_context_new(NULL);
    xir_network *short_lived = build(own);
    xir_view *view = xir_view_range(short_lived, 2, 5), *other = xir_view_range(short_lived, 0, 1);
    xir_network_free(short_lived);
    xir_context_free(own);
    assert_string_equal(ids(view), "2 3 4 | 2 | 3 5 |");
    xir_view_free(view);
    assert_string_equal(ids(other), "0 | 0 | 0 |");
    xir_view_free(other);
}

/* ---- networks of views ------------------------------------------------------------------------------------------ */

static void check_text_of(xir_str text, const char *expected) {
    assert_int_equal(text.size, strlen(expected));
    if (text.size) assert_memory_equal(text.data, expected, text.size);
}

static void a_part_becomes_a_network(void **state) {
    (void)state;
    float bytes[12];
    for (int i = 0; i < 12; i++) bytes[i] = (float)i;
    assert_int_equal(xir_params_set_copy(value(1), bytes, sizeof bytes), XIR_OK);
    xir_value_set_name(value(0), XIR_STR("image"));
    xir_value_set_name(value(3), XIR_STR("left"));
    const xir_any tag = xir_any_int(7);
    xir_value_set_tag(value(0), XIR_STR("zoom"), &tag);
    xir_value_set_mtype(value(0), xir_mtype_external(ctx, 4096));

    part_the_branches();
    xir_view *view = xir_view_ids(net, (const int64_t[]){ 1, 2, 4 }, 3);
    xir_network *part = xir_view_to_network(view);
    assert_non_null(part);
    xir_view_free(view);
    xir_network_free(net);   /* it does not depend on the other one */
    net = NULL;

    /* in (value 0, 4), conv, left, sum, out (2, 3, 5); numbers of new ops continue. */
    assert_int_equal(xir_network_validate(part, why), XIR_OK);
    assert_int_equal(xir_diags_count(why), 0);
    assert_int_equal(xir_network_op_count(part), 5);
    xir_op *in = xir_network_first(part), *out = xir_network_last(part);
    assert_true(xir_op_is(in, xir_input_class()));
    assert_true(xir_op_is(out, xir_output_class()));
    assert_int_equal(xir_op_id(in), 7);
    assert_int_equal(xir_op_id(out), 8);
    assert_int_equal(xir_op_output_count(in), 2);
    xir_value *image = xir_op_output(in, 0);
    assert_int_equal(xir_value_id(image), 0);
    check_text_of(xir_value_name(image), "image");
    int64_t zoom = 0;
    assert_true(xir_tag_int(xir_value_tags(image), "zoom", &zoom));
    assert_int_equal(zoom, 7);
    assert_int_equal(xir_mtype_addr(xir_value_mtype(image)), 4096);
    assert_int_equal(xir_value_id(xir_op_output(in, 1)), 4);
    assert_ptr_equal(xir_network_value_by_id(part, 4), xir_op_output(in, 1));
    assert_int_equal(xir_network_next_value_id(part), 7);

    xir_op *conv = xir_network_op_by_id(part, 1);
    assert_ptr_equal(xir_op_input(conv, 0), image);
    assert_int_equal(xir_value_use_count(image), 1);
    check_text_of(xir_op_name(conv), "conv");
    assert_memory_equal(xir_params_data(xir_op_input(conv, 1), NULL), bytes, sizeof bytes);
    xir_op *sum = xir_network_op_by_id(part, 4);
    assert_ptr_equal(xir_op_input(sum, 1), xir_op_output(in, 1));
    assert_null(xir_network_op_by_id(part, 3));
    assert_null(xir_network_op_by_id(part, 6));
    xir_value *outputs[4];
    assert_int_equal(xir_network_outputs(part, outputs, 4), 3);
    assert_int_equal(xir_value_id(outputs[0]), 2);
    assert_int_equal(xir_value_id(outputs[1]), 3);
    check_text_of(xir_value_name(outputs[1]), "left");
    assert_int_equal(xir_value_id(outputs[2]), 5);
    xir_network_free(part);
}

/* Its argument would be a value that it makes itself. */
static void a_part_that_is_not_convex_is_refused(void **state) {
    (void)state;
    static const struct { int64_t ids[4]; size_t n; const char *part; } refused[] = {
        { { 1, 2, 4 }, 3, "op 1 'conv', op 3 'right', op 4 'sum'" },
        { { 1, 5 },    2, "op 1 'conv', op 3 'right', op 4 'sum', op 5 'last'" },
        { { 0, 6 },    2, "op 2 'left', op 6" },
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        xir_view *view = xir_view_ids(net, refused[i].ids, refused[i].n);
        assert_null(xir_view_to_network(view));
        check_net_refused(XIR_E_INVALID, refused[i].part);
        xir_view_free(view);
    }
}

/* Each op outside is visited once, however many paths lead to it: a ladder of 20000 rungs has more paths than there
 * are numbers. */
static void a_long_path_is_found_at_once(void **state) {
    (void)state;
    xir_network *big = xir_network_new(ctx, "ladder", XIR_FRAMEWORK_PYTORCH, "v1.9");
    xir_at at = XIR_AT(big);
    xir_value *x = xir_input(at, "in", XIR_TENSOR(ctx, xir_type_float(ctx, XIR_FLOAT_FP32), "*", 2));
    xir_value *first = xir_build_relu(at, x, "first");
    x = first;
    for (int i = 0; i < 20000; i++) x = xir_build_add(at, x, x, 1, 1, "");
    xir_value *last = xir_build_relu(at, x, "last");
    xir_output(at, XIR_VALUES(last));
    const int64_t ends[] = { xir_op_id(xir_value_op(first)), xir_op_id(xir_value_op(last)) };
    xir_view *view = xir_view_ids(big, ends, 2);
    assert_null(xir_view_to_network(view));
    assert_int_equal(xir_network_status(big), XIR_E_INVALID);
    xir_view_free(view);
    xir_network_free(big);
}

static void the_whole_becomes_an_equal_network(void **state) {
    (void)state;
    xir_view *view = xir_view_range(net, 0, INT64_MAX);
    xir_network *copy = xir_view_to_network(view);
    assert_true(xir_network_equal(net, copy, true));
    xir_network_free(copy);
    xir_view_free(view);
    /* Without its ends it gets new ones, which are equal except for their ids. */
    view = xir_view_range(net, 1, -1);
    copy = xir_view_to_network(view);
    assert_int_equal(xir_network_op_count(copy), 7);
    assert_int_equal(xir_network_validate(copy, NULL), XIR_OK);
    xir_value *outputs[2];
    assert_int_equal(xir_network_outputs(copy, outputs, 2), 2);
    assert_int_equal(xir_value_id(outputs[0]), 6);
    assert_int_equal(xir_value_id(outputs[1]), 3);
    xir_network_free(copy);
    xir_view_free(view);
}

/* Ends that the view has are kept, and completed. */
static void ends_inside_are_kept(void **state) {
    (void)state;
    /* Input, conv, last, Output: 5 enters as well as the image; 2 leaves as well as 6, and 3 passes through. */
    assert_true(detach_last(net));
    xir_view *view = xir_view_ids(net, (const int64_t[]){ 0, 1, 5, 6 }, 4);
    assert_string_equal(ids(view), "0 1 5 6 | 0 5 3 | 2 6 3 | 1");
    xir_network *part = xir_view_to_network(view);
    assert_non_null(part);
    assert_int_equal(xir_network_validate(part, why), XIR_OK);
    assert_int_equal(xir_network_op_count(part), 4);
    xir_op *in = xir_network_op_by_id(part, 0), *out = xir_network_op_by_id(part, 6);
    assert_ptr_equal(in, xir_network_first(part));
    assert_ptr_equal(out, xir_network_last(part));
    static const int64_t arguments[] = { 0, 5, 3 }, results[] = { 6, 3, 2 };
    assert_int_equal(xir_op_output_count(in), 3);
    assert_int_equal(xir_op_input_count(out), 3);
    for (int64_t i = 0; i < 3; i++) {
        assert_int_equal(xir_value_id(xir_op_output(in, i)), arguments[i]);
        assert_int_equal(xir_value_id(xir_op_input(out, i)), results[i]);
        assert_ptr_equal(xir_network_value_by_id(part, arguments[i]), xir_op_output(in, i));
    }
    assert_ptr_equal(xir_op_input(out, 1), xir_op_output(in, 2));
    assert_ptr_equal(xir_op_input(xir_network_op_by_id(part, 1), 0), xir_op_output(in, 0));
    assert_int_equal(xir_network_next_value_id(part), 7);
    xir_network_free(part);

    /* A requested order also applies to an Output op inside. */
    assert_int_equal(xir_view_order_outputs(view, (const int64_t[]){ 3, 2, 6 }, 3), XIR_OK);
    part = xir_view_to_network(view);
    out = xir_network_op_by_id(part, 6);
    assert_int_equal(xir_value_id(xir_op_input(out, 0)), 3);
    assert_ptr_equal(xir_op_input(out, 0), xir_op_output(xir_network_op_by_id(part, 0), 2));
    assert_int_equal(xir_value_id(xir_op_input(out, 2)), 6);
    assert_int_equal(xir_network_validate(part, why), XIR_OK);
    xir_network_free(part);
    xir_view_free(view);
}

static void an_empty_view_becomes_an_empty_network(void **state) {
    (void)state;
    xir_view *view = xir_view_range(net, 2, 2);
    xir_network *part = xir_view_to_network(view);
    assert_int_equal(xir_network_op_count(part), 2);
    assert_int_equal(xir_network_inputs(part, NULL, 0), 0);
    assert_int_equal(xir_network_outputs(part, NULL, 0), 0);
    assert_int_equal(xir_network_params(part, NULL, 0), 0);
    xir_network_free(part);
    xir_view_free(view);
}

/* Params of attributes and of sub ops belong to the view too. */
static void params_of_attributes_count(void **state) {
    (void)state;
    const xir_type *code = XIR_TENSOR(ctx, xir_type_uint(ctx, 64), "*", 4), *type = xir_value_type(value(3));
    xir_value *instr = xir_params_new(net, XIR_STR("instr"), code),
               *inner = xir_params_new(net, XIR_STR("inner"), code);
    xir_hard_op_attrs a = xir_hard_op_init();
    a.instr = (xir_values){ &inner, 1 };
    xir_op_desc desc = XIR_INIT(xir_op_desc, .cls = xir_class_find_decl(ctx, xir_hard_op_class()), .attrs = &a,
                                .types = &type, .n_types = 1, .id = XIR_NO_ID);
    xir_value *inputs[] = { value(5), value(1) };
    desc.inputs = inputs;
    desc.n_inputs = 1;
    xir_op *child = xir_op_new(net, &desc);
    assert_non_null(child);
    a.instr = (xir_values){ &instr, 1 };
    a.sub_hard_ops = (xir_ops){ &child, 1 };
    desc.n_inputs = 2;
    desc.before = op(6);
    xir_op *hard = xir_network_add(net, &desc);
    assert_non_null(hard);

    xir_view *view = xir_view_ids(net, (const int64_t[]){ 1, xir_op_id(hard) }, 2);
    xir_value *constants[4];
    assert_int_equal(xir_view_params(view, constants, 4), 3);
    assert_ptr_equal(constants[0], value(1));   /* once, though two ops have it */
    assert_ptr_equal(constants[1], instr);
    assert_ptr_equal(constants[2], inner);
    xir_view_free(view);
    /* The sub op uses 5 for its parent: in a view that has both, 5 does not leave. */
    view = xir_view_ids(net, (const int64_t[]){ 4, 5, xir_op_id(hard) }, 3);
    xir_value *outputs[4];
    assert_int_equal(xir_view_outputs(view, outputs, 4), 2);
    assert_int_equal(xir_value_id(outputs[0]), 6);
    xir_view_free(view);
}

/* ---- chance ----------------------------------------------------------------------------------------------------- */

/* Slow and obvious: marks the ops outside that are reached from op `from`. */
static void mark_outside(const xir_op *from, const bool *picked, bool *outside) {
    for (size_t i = 0; i < xir_op_output_count(from); i++) {
        for (const xir_use *u = xir_value_uses(xir_op_output(from, (int64_t)i)); u; u = xir_use_next(u)) {
            const xir_op *user = xir_use_op(u);
            int64_t id = xir_op_id(user);
            if (picked[id] || outside[id]) continue;
            outside[id] = true;
            mark_outside(user, picked, outside);
        }
    }
}

/* The first op of the selection that is reached through an op outside it that follows an op of the selection; -1:
 * none, it is convex. */
static int64_t comes_back(const xir_network *of, const bool *picked) {
    bool outside[32] = { false };
    int64_t n = (int64_t)xir_network_op_count(of);
    for (int64_t i = 0; i < n; i++) if (picked[i]) mark_outside(xir_network_op_at(of, i), picked, outside);
    for (int64_t i = 0; i < n; i++) {
        const xir_op *one = xir_network_op_at(of, i);
        for (size_t k = 0; picked[i] && k < xir_op_input_count(one); k++) {
            const xir_op *maker = xir_value_op(xir_op_input(one, (int64_t)k));
            if (maker && outside[xir_op_id(maker)]) return i;
        }
    }
    return -1;
}

/* Adds the ops before the one that a path returns to, until the selection is convex. Returns whether it was. */
static bool make_convex(const xir_network *of, bool *picked) {
    bool was = true;
    for (int64_t back; (back = comes_back(of, picked)) >= 0; was = false) {
        for (int64_t i = 0; i < back; i++) picked[i] = true;
    }
    return was;
}

/* Every convex part of a network makes a valid network whose ends are those of the view; any other part is refused. */
static void any_part_is_a_network(void **state) {
    (void)state;
    for (int round = 0; round < 200; round++) {
        xir_network *big = xir_network_new(ctx, "chance", XIR_FRAMEWORK_PYTORCH, "v1.9");
        xir_at at = XIR_AT(big);
        xir_value *made[24] =
            { xir_input(at, "in", XIR_TENSOR(ctx, xir_type_float(ctx, XIR_FLOAT_FP32), "NHWC", 1, 2, 2, 2)) };
        size_t n = 1;
        while (n < 24) {
            xir_value *a = made[chance(n)], *b = made[chance(n)];
            made[n++] = chance(2) ? xir_build_add(at, a, b, 1, 1, "") : XIR_RELU(at, a);
        }
        xir_output(at, XIR_VALUES(made[chance(n)], made[chance(n)], made[n - 1]));
        assert_int_equal(xir_network_status(big), XIR_OK);
        bool chosen[32] = { false };
        int64_t picked[26];
        size_t n_picked = 0;
        for (int64_t i = 0; i < (int64_t)xir_network_op_count(big); i++) {
            if ((chosen[i] = chance(2))) picked[n_picked++] = i;
        }
        xir_view *view = xir_view_ids(big, picked, n_picked);
        xir_network *part = xir_view_to_network(view);
        bool convex = make_convex(big, chosen);
        assert_int_equal(part != NULL, convex);
        if (!convex) {
            assert_int_equal(xir_network_status(big), XIR_E_INVALID);
            xir_network_clear_status(big);
            xir_view_free(view);
            n_picked = 0;
            for (int64_t i = 0; i < (int64_t)xir_network_op_count(big); i++) {
                if (chosen[i]) picked[n_picked++] = i;
            }
            view = xir_view_ids(big, picked, n_picked);
            part = xir_view_to_network(view);
        }
        assert_non_null(part);
        assert_int_equal(xir_network_validate(part, why), XIR_OK);
        xir_value *inputs[30], *outputs[40];
        size_t n_in = xir_view_inputs(view, inputs, 30);
        xir_op *in = xir_network_input_op(part);
        assert_int_equal(xir_op_output_count(in), n_in);
        for (size_t i = 0; i < n_in; i++)
            assert_int_equal(xir_value_id(inputs[i]), xir_value_id(xir_op_output(in, (int64_t)i)));
        for (size_t i = 0; i < n_picked; i++) {
            const xir_op *one = xir_network_op_by_id(big, picked[i]), *other = xir_network_op_by_id(part, picked[i]);
            for (int64_t k = 0; k < (int64_t)xir_op_input_count(one) && !xir_op_is(one, xir_output_class()); k++) {
                assert_int_equal(xir_value_id(xir_op_input(one, k)), xir_value_id(xir_op_input(other, k)));
            }
        }
        size_t n_out = xir_network_outputs(part, outputs, 40);
        for (size_t i = 0; i < n_out; i++) assert_non_null(outputs[i]);
        xir_network_free(part);
        xir_view_free(view);
        xir_network_free(big);
    }
}

static bool look_and_cut(xir_context *with) {
    xir_network *made = build(with);
    if (!made) return false;
    xir_view *view = detach_last(made) ? xir_view_ids(made, (const int64_t[]){ 6, 5, 1, 0 }, 4) : NULL;
    bool ordered = view && xir_view_order_outputs(view, (const int64_t[]){ 3, 2, 6 }, 3) == XIR_OK;
    xir_network *part = ordered ? xir_view_to_network(view) : NULL;
    xir_view *rest = part ? xir_view_except(made, (const int64_t[]){ 0, 6 }, 2) : NULL;
    xir_network *other = rest ? xir_view_to_network(rest) : NULL;
    bool done = other;
    if (!done) assert_int_equal(xir_network_status(made), XIR_E_MEMORY);
    if (view) assert_false(xir_view_is_stale(view));
    xir_network_free(made);
    xir_view_free(view);
    xir_view_free(rest);
    xir_network_free(part);
    xir_network_free(other);
    return done;
}

static void failing_allocations_lose_nothing(void **state) {
    (void)state;
    check_memory(look_and_cut);
}

#define STORY(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

GROUP {
    const struct CMUnitTest tests[] = {
        STORY(views_select_ops),
        STORY(bad_selections_are_refused),
        STORY(views_answer_queries),
        STORY(unused_values_are_outputs),
        STORY(outputs_are_put_into_order),
        STORY(an_edit_makes_views_stale),
        STORY(queries_do_not_make_views_stale),
        STORY(a_view_keeps_its_network),
        STORY(a_part_becomes_a_network),
        STORY(a_part_that_is_not_convex_is_refused),
        STORY(a_long_path_is_found_at_once),
        STORY(the_whole_becomes_an_equal_network),
        STORY(ends_inside_are_kept),
        STORY(an_empty_view_becomes_an_empty_network),
        STORY(params_of_attributes_count),
        STORY(any_part_is_a_network),
        STORY(failing_allocations_lose_nothing),
    };
    return RUN_GROUP(tests);
}
