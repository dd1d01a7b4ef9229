/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The type rules of ONNX Runtime's operators, for nodes that are not converted: they give each model of
 * cases/cases.txt with one such node the elements and the dims that its conversion gives, and known ones where the
 * inputs have known dims. */
#include <xir/convert.h>
#include <xir/pass.h>
#include "cases.h"
#include "walk/walk.h"
#include "onnx/onnx.h"

static const xir_type *type_of_output(const xir_network *net, size_t i) {
    return xir_value_type(xir_op_input(xir_network_output_op(net), (int64_t)i));
}

/* The only node, its outputs without types, then with those of the rules. */
static void give_types(xir_network *net) {
    xir_op *op = xir_network_op_at(net, 1);
    conversion c;
    budget within = budget_of(&ctx->limits);
    conversion_begin(&c, net, why);
    c.within = &within;
    xir_node at = { .c = &c, .op = op, .cls = conversion_class(&c, xir_op_class(op)),
                    .n_in = xir_op_input_count(op), .n_out = xir_op_output_count(op), .fate = NODE_STAYS };
    while (at.n_in && !xir_op_input(op, (int64_t)at.n_in - 1)) at.n_in--;
    for (size_t i = 0; i < at.n_out; i++) xir_op_output(op, (int64_t)i)->type = NULL;
    onnx_types(&at);
    conversion_end(&c);
}

static void compare(const onnx_case *c, size_t i, const xir_type *given, const xir_type *expected, bool open) {
    if (!given) fail_msg("%s: output %zu has no type", c->part[0], i);
    if (!xir_type_equal(xir_type_element(given), xir_type_element(expected)))
        fail_msg("%s: output %zu has other elements", c->part[0], i);
    if (xir_type_rank(given) != xir_type_rank(expected)) fail_msg("%s: output %zu has another rank", c->part[0], i);
    for (size_t k = 0; k < xir_type_rank(given); k++) {
        const int64_t dim = xir_type_dim(given, (int64_t)k, false), is = xir_type_dim(expected, (int64_t)k, false);
        if (dim < 0 && !open && is >= 0) fail_msg("%s: output %zu: dim %zu is unknown", c->part[0], i, k);
        if (dim >= 0 && is >= 0 && dim != is)
            fail_msg("%s: output %zu: dim %zu is %lld, not %lld", c->part[0], i, k, (long long)is, (long long)dim);
    }
}

static void rules_agree_with_conversions(void **state) {
    (void)state;
    static onnx_case c;
    static char line[1 << 16];
    size_t n = 0;
    FILE *f = fopen(XIR_TEST_DATA "/convert/onnx/cases/cases.txt", "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        if (!case_read(&c, line) || strncmp(c.part[3], "com.microsoft.", 14) != 0 || strchr(c.part[3], ';')) continue;
        if (strstr(c.part[3], "channels_last=1") || strstr(c.part[3], "NhwcMaxPool")) continue;   /* no rules */
        xir_network *kept = case_network(&c), *converted = case_network(&c);
        xir_diags_clear(why);
        assert_int_equal(xir_pass_run(converted, "onnx-to-xir", NULL, NULL, why), XIR_OK);
        give_types(kept);
        bool open = strstr(c.part[3], "GroupQueryAttention") != NULL;   /* a run says how many keys there are */
        for (size_t i = 0; i < c.n; i++)
            for (size_t k = 0; k < c.values[i].rank; k++) open |= c.values[i].declared[k] < 0;
        for (size_t i = 0; i < xir_op_input_count(xir_network_output_op(kept)); i++)
            compare(&c, i, type_of_output(kept, i), type_of_output(converted, i), open);
        xir_network_free(kept);
        xir_network_free(converted);
        n++;
    }
    fclose(f);
    assert_true(n >= 100);
}

/* A node of a form that XIR does not have does not stop those after it. */
static void what_follows_is_converted(void **state) {
    (void)state;
    static onnx_case c;
    char line[] = "kept | | q=f32[2,3,8] k=f32[2,4,8] v=f32[2,4,8] *w=f32[8,5] | com.microsoft.MultiHeadAttention q,k,v,,,,,,,"
                  " h,,,s num_heads=2;MatMul h,w y;Relu s z | y z";
    assert_true(case_read(&c, line));
    xir_network *net = case_network(&c);
    xir_diags_clear(why);
    assert_int_equal(xir_pass_run(net, "onnx-to-xir", NULL, NULL, why), XIR_OK);
    const xir_value *y = xir_op_input(xir_network_output_op(net), 0);
    assert_false(xir_class_is_dialect(xir_op_class(xir_value_op(y))));
    assert_int_equal(xir_type_dim(xir_value_type(y), 2, false), 5);
    xir_network_free(net);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_agree_with_conversions),
        cmocka_unit_test(what_follows_is_converted),
    };
    return RUN_GROUP(tests);
}
