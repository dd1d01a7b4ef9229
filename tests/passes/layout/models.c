/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* layout on real networks: digits.onnx, which belongs to the project, and those of XIR_CORPUS/onnx. Afterwards the
 * convolutional networks have no NCHW inside, and every value has its expected shape. */
#include <stdio.h>
#include "passes/layout/unpacked.h"
#include "support/nchw.h"
#include "support/skips.h"

/* The default pipeline up to layout. */
static const char prelude[] = "onnx-to-xir,sort,infer,fold,infer";

static void run_pipeline(xir_network *net, const char *text) {
    xir_pipeline *pipeline = xir_pipeline_parse(ctx, xir_str_of(text), why);
    assert_non_null(pipeline);
    xir_status status = xir_pipeline_run(pipeline, net, NULL, NULL, why);
    if (status) xir_diags_print(why, stderr);
    assert_int_equal(status, XIR_OK);
    xir_pipeline_free(pipeline);
    xir_diags_clear(why);
}

/* Returns true if a Transpose is at an input or result of the network. */
static bool at_border(const xir_op *op) {
    const xir_op *from = xir_value_op(xir_op_input(op, 0));
    bool border = from && xir_op_is(from, xir_input_class());
    for (const xir_use *u = xir_value_uses(xir_op_output(op, 0)); u; u = xir_use_next(u)) {
        border |= xir_op_is(xir_use_op(u), xir_output_class());
    }
    return border;
}

static size_t inner_transposes(const xir_network *net) {
    size_t n = 0;
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op))
        n += xir_op_is(op, xir_transpose_class()) && !at_border(op);
    return n;
}

/* Convolutions, pools and their results also have the letters NHWC. */
static void check_letters(const xir_network *net) {
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
        bool map = xir_op_is(op, xir_conv2d_class()) || xir_op_is(op, xir_max_pool2d_class()) ||
            xir_op_is(op, xir_avg_pool2d_class());
        if (map) CHECK_STR(xir_layout_text(xir_type_layout(xir_value_type(xir_op_output(op, 0)))), "NHWC");
    }
}

static void digits(void **state) {
    (void)state;
    xir_network *net = xir_network_load(ctx, XIR_TEST_DATA "/../examples/models/digits.onnx", NULL, why);
    assert_non_null(net);
    run_pipeline(net, prelude);
    assert_true(PROVE_WITHIN(net, 1e-5) > 0);
    assert_int_equal(inner_transposes(net), 0);
    assert_true(TRANSPOSES(net) <= 1);
    check_letters(net);
    xir_network_free(net);

    net = xir_network_load(ctx, XIR_TEST_DATA "/../examples/models/digits.onnx", NULL, why);
    run_pipeline(net, prelude);
    prove_pass(net, "layout", "io=nhwc", 1e-5, __FILE__, __LINE__);
    assert_int_equal(TRANSPOSES(net), 0);
    xir_network_free(net);
}

/* ---- the corpus ------------------------------------------------------------------------------------------------- */

/* Counts values without a static shape though nothing that they are made from depends on data. Whether it does
 * follows from the ops; for ops of the source that are left it is unknown. */
static size_t shapes_missing(const xir_network *net, bool say, size_t *checked) {
    size_t missing = 0, n = xir_network_slot_count(net);
    bool *depends = calloc(n, sizeof *depends);
    assert_non_null(depends);
    *checked = 0;
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
        const xir_class *cls = xir_op_class(op);
        bool *d = &depends[xir_op_slot(op)];
        *d = xir_class_is_opaque(cls) || xir_op_is(op, xir_non_zero_class()) ||
            xir_op_is(op, xir_non_max_suppression_class());
        for (size_t i = 0; i < xir_op_input_count(op); i++) {
            const xir_op *from = xir_op_input(op, (int64_t)i) ? xir_value_op(xir_op_input(op, (int64_t)i)) : NULL;
            *d |= from && depends[xir_op_slot(from)];
        }
        for (size_t i = 0; i < xir_op_output_count(op) && !*d; i++) {
            const xir_type *type = xir_value_type(xir_op_output(op, (int64_t)i));
            bool whole = xir_type_as_tensor(type) && !xir_type_has_unknown_dim(type);
            ++*checked;
            if (!whole && say)
                print_error("%.*s has no static shape\n", (int)xir_class_key(cls).size, xir_class_key(cls).data);
            missing += !whole;
        }
    }
    free(depends);
    return missing;
}

typedef struct model {
    const char *name;
    size_t      inner, most;   /* expected Transposes: inside, in total                     */
    bool        is_static;     /* all dims of its inputs are known                         */
    double      proven;        /* tolerance of running it before and after; 0: not run      */
} model;

static const model models[] = {
    { "unet_small",                     0, 2,  true,  1e-5 },
    { "resnet18",                       0, 1,  true,  0    },
    { "mobilenet_v2",                   0, 1,  true,  0    },
    { "mobilenet_v2_dyn",               0, 1,  false, 0    },
    { "densenet121",                    0, 1,  true,  0    },
    { "lstm_2layer_bidir",              0, 1,  true,  1e-5 },
    { "swin_t",                        57, 58, true,  0    },   /* from its own windows and heads */
    { "ssdlite320_mobilenet_v3_large", 180, 181, true, 0   },   /* after NonZero              */
};

static void the_corpus(void **state) {
    (void)state;
    const char *corpus = CORPUS_OR_SKIP();
    size_t n = 0;
    for (size_t i = 0; i < COUNT(models); i++) {
        const model *m = &models[i];
        size_t checked;
        xir_network *net = unpacked(corpus, m->name);
        if (!net) continue;
        n++;
        run_pipeline(net, prelude);
        size_t missing = shapes_missing(net, m->is_static, &checked);
        if (m->is_static && missing) fail_msg("%s: %zu of %zu values have no static shape", m->name, missing, checked);
        if (m->proven > 0) prove_pass(net, "layout", NULL, m->proven, m->name, 0);
        else run_pass(net, "layout", NULL, m->name, 0);
        check_letters(net);
        missing = shapes_missing(net, m->is_static, &checked);
        if (m->is_static && missing) fail_msg("%s: %zu of %zu values have lost their shape", m->name, missing, checked);
        print_message("%s: %zu transposes, %zu of them inside; %zu shapes, %zu missing\n", m->name, TRANSPOSES(net),
                      inner_transposes(net), checked, missing);
        if (inner_transposes(net) > m->inner || TRANSPOSES(net) > m->most) {
            fail_msg("%s: %zu transposes inside, %zu in all", m->name, inner_transposes(net), TRANSPOSES(net));
        }
        xir_network_free(net);
    }
    if (!n) SKIP("XIR_CORPUS/onnx has none of these models, or xz is missing");
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digits),
        cmocka_unit_test(the_corpus),
    };
    return RUN_GROUP(tests);
}
