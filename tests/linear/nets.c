/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Shapes of networks that are built by calls. */
#include "linear/shapes.h"
#include <xir/icraft.h>

typedef struct making {
    xir_context *ctx;
    xir_network *net;
    xir_at       at;
    xir_value   *x;      /* the result of the last op; at first the input, of 4 floats */
    int64_t      n;
} making;

static const xir_type *vector(xir_context *ctx, int64_t dim) {
    return XIR_TENSOR(ctx, xir_type_float(ctx, XIR_FLOAT_FP32), "*", dim);
}
static const xir_type *image(xir_context *ctx) {
    return XIR_TENSOR(ctx, xir_type_float(ctx, XIR_FLOAT_FP32), "NHWC", 1, 4, 4, 4);
}

static making begin_with(xir_context *ctx, int64_t n, const xir_type *type) {
    making m = { .ctx = ctx, .net = xir_network_new(ctx, "shape", XIR_FRAMEWORK_PYTORCH, "1"), .n = n };
    m.at = xir_at_end(m.net);
    m.x = xir_input(m.at, "in", type);
    return m;
}

static making begin(xir_context *ctx, int64_t n) { return begin_with(ctx, n, vector(ctx, 4)); }

static xir_network *end(making *m) {
    xir_output(m->at, XIR_VALUES(m->x));
    return m->net;
}

#define EACH(m) for (int64_t i = 0; i < (m).n; i++)

static char numbered[64];
static const char *number(const char *stem, int64_t i) {
    snprintf(numbered, sizeof numbered, "%s%lld", stem, (long long)i);
    return numbered;
}

/* The Params of 4 floats that are `first`, … */
static xir_value *constant(making *m, float first) {
    const float x[4] = { first, first + 1, first + 2, first + 3 };
    return xir_params_copy(m->net, XIR_STR("w"), vector(m->ctx, 4), x, sizeof x);
}

/* An op of an unknown class. */
static xir_op *strange(making *m, const char *key, xir_value *const *inputs, size_t n_inputs, size_t n_outputs) {
    const xir_type **types = malloc((n_outputs + 1) * sizeof *types);
    for (size_t i = 0; i < n_outputs; i++) types[i] = vector(m->ctx, 4);
    xir_op *op = xir_network_add(m->net, &XIR_INIT(xir_op_desc, .cls = xir_class_opaque(m->ctx, xir_str_of(key)),
                                                   .inputs = inputs,
                                                   .n_inputs = n_inputs, .types = types, .n_types = n_outputs,
                                                   .id = XIR_NO_ID));
    free((void *)types);
    return op;
}

static xir_value *strange_one(making *m, const char *key, xir_value *input) {
    xir_op *op = strange(m, key, &input, 1, 1);
    return op ? xir_op_output(op, 0) : NULL;
}

/* ---- chains and fans -------------------------------------------------------------------------------------------- */

static xir_network *chain(xir_context *ctx, int64_t n) {
    making m = begin(ctx, n);
    EACH(m) m.x = xir_build_relu(m.at, m.x, NULL);
    return end(&m);
}

static xir_network *fan_out(xir_context *ctx, int64_t n) {
    making m = begin(ctx, n);
    xir_value **all = malloc((size_t)n * sizeof(xir_value *));
    EACH(m) all[i] = strange_one(&m, "t::Op", m.x);
    xir_output(m.at, (xir_values){ all, (size_t)n });
    free((void *)all);
    return m.net;
}

static xir_network *fan_in(xir_context *ctx, int64_t n) {
    making m = begin(ctx, n);
    xir_value **all = malloc((size_t)n * sizeof(xir_value *));
    EACH(m) all[i] = xir_build_relu(m.at, m.x, NULL);
    xir_op *op = strange(&m, "t::Join", all, (size_t)n, 1);
    m.x = xir_op_output(op, 0);
    free((void *)all);
    return end(&m);
}

static xir_network *one_value_all_uses(xir_context *ctx, int64_t n) {
    making m = begin(ctx, n);
    xir_value **all = malloc((size_t)n * sizeof(xir_value *));
    EACH(m) all[i] = m.x;
    m.x = xir_op_output(strange(&m, "t::Join", all, (size_t)n, 1), 0);
    free((void *)all);
    return end(&m);
}

static xir_network *many_outputs(xir_context *ctx, int64_t n) {
    making m = begin(ctx, n);
    xir_op *op = strange(&m, "t::Split", &m.x, 1, (size_t)n);
    EACH(m) m.x = xir_build_add(m.at, xir_op_output(op, i), m.x, 1, 1, NULL);
    return end(&m);
}

static xir_network *many_arguments(xir_context *ctx, int64_t n) {
    making m = begin(ctx, n);
    xir_network_free(m.net);
    m.net = xir_network_new(ctx, "shape", XIR_FRAMEWORK_PYTORCH, "1");
    m.at = xir_at_end(m.net);
    const xir_type **types = malloc((size_t)n * sizeof *types);
    xir_value **all = malloc((size_t)n * sizeof(xir_value *));
    EACH(m) types[i] = vector(ctx, 4);
    xir_op *op = xir_inputs(m.at, "in", types, (size_t)n);
    EACH(m) all[i] = xir_op_output(op, i);
    xir_output(m.at, (xir_values){ all, (size_t)n });
    free((void *)types);
    free((void *)all);
    return m.net;
}

static xir_network *ladder(xir_context *ctx, int64_t n) {
    making m = begin(ctx, n);
    EACH(m) m.x = xir_build_add(m.at, m.x, m.x, 1, 1, NULL);
    return end(&m);
}

static xir_network *residuals(xir_context *ctx, int64_t n) {
    making m = begin(ctx, n);
    EACH(m) m.x = xir_build_add(m.at, m.x, xir_build_relu(m.at, m.x, NULL), 1, 1, NULL);
    return end(&m);
}

/* Every op also reads the input of the network. */
static xir_network *long_skips(xir_context *ctx, int64_t n) {
    making m = begin(ctx, n);
    xir_value *in = m.x;
    EACH(m) m.x = xir_build_add(m.at, in, m.x, 1, 1, NULL);
    return end(&m);
}

/* Each op is inserted before all others. */
static xir_network *reversed(xir_context *ctx, int64_t n) {
    making m = begin(ctx, n);
    xir_value *in = m.x;
    xir_op *before = xir_value_op(m.x = xir_build_relu(m.at, in, NULL));
    EACH(m) {
        xir_op *op = xir_network_add(m.net, &XIR_INIT(xir_op_desc, .cls = xir_class_find_decl(ctx, xir_relu_class()),
                                                      .inputs = &in, .n_inputs = 1, .id = XIR_NO_ID, .before = before));
        before = op ? op : before;
    }
    return end(&m);
}

static xir_network *dead_ops(xir_context *ctx, int64_t n) {
    making m = begin(ctx, n);
    xir_value *x = m.x;
    EACH(m) x = xir_build_relu(m.at, x, NULL);
    return end(&m);
}

/* ---- names ------------------------------------------------------------------------------------------------------ */

static xir_network *one_name(xir_context *ctx, int64_t n) {
    making m = begin(ctx, n);
    EACH(m) {
        m.x = xir_build_relu(m.at, m.x, "name");
        xir_value_set_name(m.x, XIR_STR("value"));
    }
    return end(&m);
}

/* Each name is one that numbering the names before it would give. */
static xir_network *names_in_the_way(xir_context *ctx, int64_t n) {
    making m = begin(ctx, n);
    EACH(m) {
        m.x = xir_build_relu(m.at, m.x, i % 2 ? "a" : number("a_", i / 2));
        xir_value_set_name(m.x, xir_str_of(i % 2 ? number("v_", i / 2) : "v"));
    }
    return end(&m);
}

static xir_network *all_names(xir_context *ctx, int64_t n) {
    making m = begin(ctx, n);
    EACH(m) {
        m.x = xir_build_relu(m.at, m.x, number("op", i));
        xir_value_set_name(m.x, xir_str_of(number("value", i)));
    }
    return end(&m);
}

static xir_network *long_names(xir_context *ctx, int64_t n) {
    making m = begin(ctx, n);
    char name[600];
    memset(name, 'n', sizeof name);
    EACH(m) {
        snprintf(name + 500, 100, "%lld", (long long)i);
        m.x = xir_build_relu(m.at, m.x, name);
    }
    return end(&m);
}

static xir_network *one_long_name(xir_context *ctx, int64_t n) {
    making m = begin(ctx, n);
    size_t size = (size_t)n * 600;
    char *name = malloc(size);
    memset(name, 'n', size);
    m.x = xir_build_relu(m.at, m.x, NULL);
    xir_op_set_name(xir_value_op(m.x), (xir_str){ name, size });
    xir_value_set_name(m.x, (xir_str){ name, size });
    free(name);
    return end(&m);
}

static xir_network *deep_scopes(xir_context *ctx, int64_t n) {
    making m = begin(ctx, n);
    char name[400] = "";
    for (int i = 0; i < 60; i++) strcat(name, "s/");
    EACH(m) {
        snprintf(name + 120, 100, "%lld", (long long)i);
        m.x = xir_build_relu(m.at, m.x, name);
    }
    return end(&m);
}

/* Blocks of eight ops within layers. */
static xir_network *scopes(xir_context *ctx, int64_t n) {
    making m = begin(ctx, n);
    char name[100];
    EACH(m) {
        snprintf(name, sizeof name, "/model/layers.%d/block%d/op%d", (int)(i / 64), (int)(i / 8 % 8), (int)(i % 8));
        m.x = xir_build_relu(m.at, m.x, name);
    }
    return end(&m);
}

/* ---- classes, types, places ------------------------------------------------------------------------------------- */

static xir_network *all_classes(xir_context *ctx, int64_t n) {
    making m = begin(ctx, n);
    EACH(m) m.x = strange_one(&m, number("t::Op", i), m.x);
    return end(&m);
}

static xir_network *one_strange_class(xir_context *ctx, int64_t n) {
    making m = begin(ctx, n);
    EACH(m) m.x = strange_one(&m, "t::Op", m.x);
    return end(&m);
}

static xir_network *all_domains(xir_context *ctx, int64_t n) {
    making m = begin(ctx, n);
    EACH(m) {
        char key[80];
        snprintf(key, sizeof key, "d%lld::Op", (long long)i);
        m.x = strange_one(&m, key, m.x);
    }
    return end(&m);
}

static xir_network *all_types(xir_context *ctx, int64_t n) {
    making m = begin(ctx, n);
    EACH(m) {
        const xir_type *type = vector(ctx, i + 1);
        xir_op *op = xir_network_add(m.net, &XIR_INIT(xir_op_desc, .cls = xir_class_opaque(ctx, XIR_STR("t::Op")),
                                                      .inputs = &m.x,
                                                      .n_inputs = 1, .types = &type, .n_types = 1, .id = XIR_NO_ID));
        m.x = op ? xir_op_output(op, 0) : NULL;
    }
    return end(&m);
}

static xir_network *all_element_types(xir_context *ctx, int64_t n) {
    making m = begin(ctx, n);
    EACH(m) {
        const double scale[] = { (double)(i + 1) / 64 };
        const xir_type *element = xir_type_quantized(ctx, xir_scales_from(ctx, scale, 1, -1), NULL, 0,
                                                     xir_type_sint(ctx, 8), xir_type_float(ctx, XIR_FLOAT_FP32));
        const xir_type *type = XIR_TENSOR(ctx, element, "*", 4);
        xir_op *op = xir_network_add(m.net, &XIR_INIT(xir_op_desc, .cls = xir_class_opaque(ctx, XIR_STR("t::Op")),
                                                      .inputs = &m.x,
                                                      .n_inputs = 1, .types = &type, .n_types = 1, .id = XIR_NO_ID));
        m.x = op ? xir_op_output(op, 0) : NULL;
    }
    return end(&m);
}

static xir_network *long_scales(xir_context *ctx, int64_t n) {
    making m = begin(ctx, n);
    double *scales = malloc((size_t)n * sizeof *scales);
    EACH(m) scales[i] = (double)(i + 1) / 64;
    const xir_type *element = xir_type_quantized(ctx, xir_scales_from(ctx, scales, (size_t)n, 0), NULL, 0,
                                                 xir_type_sint(ctx, 8), xir_type_float(ctx, XIR_FLOAT_FP32));
    const xir_type *type = XIR_TENSOR(ctx, element, "*", n);
    for (int i = 0; i < 4; i++) {
        xir_op *op = xir_network_add(m.net, &XIR_INIT(xir_op_desc, .cls = xir_class_opaque(ctx, XIR_STR("t::Op")),
                                                      .inputs = &m.x,
                                                      .n_inputs = 1, .types = &type, .n_types = 1, .id = XIR_NO_ID));
        m.x = op ? xir_op_output(op, 0) : NULL;
    }
    free(scales);
    return end(&m);
}

static xir_network *all_places(xir_context *ctx, int64_t n) {
    making m = begin(ctx, n);
    EACH(m) {
        m.x = xir_build_relu(m.at, m.x, NULL);
        xir_value_set_mtype(m.x, xir_mtype_external(ctx, (uint64_t)i * 64));
    }
    return end(&m);
}

static xir_network *two_targets(xir_context *ctx, int64_t n) {
    making m = begin(ctx, n);
    EACH(m) {
        m.x = strange_one(&m, "t::Op", m.x);
        xir_op_set_target(xir_value_op(m.x), xir_target_of_kind(ctx, i % 2 ? XIR_TARGET_FPGA : XIR_TARGET_HOST, ""));
    }
    return end(&m);
}

static xir_network *sparse_ids(xir_context *ctx, int64_t n) {
    making m = begin(ctx, n);
    EACH(m) {
        m.x = xir_build_relu(m.at, m.x, NULL);
        xir_op_set_id(xir_value_op(m.x), 1000000 + i * 65536);
        xir_value_set_id(m.x, 1000000 + i * 65536);
    }
    return end(&m);
}

/* ---- parameters ------------------------------------------------------------------------------------------------- */

static xir_network *all_params(xir_context *ctx, int64_t n) {
    making m = begin(ctx, n);
    EACH(m) m.x = xir_build_add(m.at, m.x, constant(&m, (float)i), 1, 1, NULL);
    return end(&m);
}

static xir_network *equal_params(xir_context *ctx, int64_t n) {
    making m = begin(ctx, n);
    EACH(m) m.x = xir_build_add(m.at, m.x, constant(&m, 1), 1, 1, NULL);
    return end(&m);
}

static xir_network *one_params(xir_context *ctx, int64_t n) {
    making m = begin(ctx, n);
    xir_value *w = constant(&m, 1);
    EACH(m) m.x = xir_build_add(m.at, m.x, w, 1, 1, NULL);
    return end(&m);
}

static xir_network *large_params(xir_context *ctx, int64_t n) {
    making m = begin(ctx, n);
    float *x = calloc((size_t)n * 100, sizeof *x);
    xir_value *w = xir_params_copy(m.net, XIR_STR("w"), vector(ctx, n * 100), x, (size_t)n * 100 * sizeof *x);
    free(x);
    for (int i = 0; i < 4; i++) m.x = xir_op_output(strange(&m, "t::Op", (xir_value *const[]){ m.x, w }, 2, 1), 0);
    return end(&m);
}

/* Only constants: everything is computed. */
static xir_network *constants(xir_context *ctx, int64_t n) {
    making m = begin(ctx, n);
    xir_value *in = m.x, *w = constant(&m, 1);
    m.x = w;
    EACH(m) m.x = xir_build_add(m.at, m.x, w, 1, 1, NULL);
    m.x = xir_build_add(m.at, m.x, in, 1, 1, NULL);
    return end(&m);
}

/* Each constant follows from the one before. */
static xir_network *constants_read_inside(xir_context *ctx, int64_t n) {
    making m = begin(ctx, n);
    xir_value *w = constant(&m, 1);
    EACH(m) {
        const double alpha = 0.5 + (double)i / (double)n;
        w = XIR_OP(m.at, elu, .input = XIR_OP(m.at, tanh, .input = w), .attrs = XIR_ATTRS(elu, (alpha, alpha)));
        m.x = XIR_OP(m.at, multiply, .lhs = m.x, .rhs = w);
    }
    return end(&m);
}

static xir_network *equal_ops(xir_context *ctx, int64_t n) {
    making m = begin(ctx, n);
    xir_value *in = m.x;
    EACH(m) m.x = xir_build_add(m.at, xir_build_relu(m.at, in, NULL), m.x, 1, 1, NULL);
    return end(&m);
}

/* ---- equal values, and results that are read inside ------------------------------------------------------------- */

/* Soon all values are one of two. */
static xir_network *equal_values(xir_context *ctx, int64_t n) {
    making m = begin(ctx, n);
    EACH(m) m.x = i % 2 ? XIR_OP(m.at, sigmoid, .input = m.x) : XIR_OP(m.at, tanh, .input = m.x);
    return end(&m);
}

static xir_network *equal_values_of_constants(xir_context *ctx, int64_t n) {
    making m = begin(ctx, n);
    EACH(m) m.x = XIR_OP(m.at, add, .lhs = m.x, .rhs = XIR_OP(m.at, tanh, .input = constant(&m, 1)));
    return end(&m);
}

/* Each value is a result of the network, and the input of the next op. */
static xir_network *results_read_inside(xir_context *ctx, int64_t n) {
    making m = begin(ctx, n);
    xir_value **all = malloc((size_t)n * sizeof(xir_value *));
    EACH(m) all[i] = m.x = i % 2 ? XIR_OP(m.at, sigmoid, .input = m.x) : XIR_OP(m.at, tanh, .input = m.x);
    xir_output(m.at, (xir_values){ all, (size_t)n });
    free((void *)all);
    return m.net;
}

/* Equal ops, each read by an op of its own; one of `every` is a result too. */
static xir_network *equal_read(xir_context *ctx, int64_t n, int64_t every) {
    making m = begin(ctx, n);
    xir_value **all = malloc(2 * (size_t)n * sizeof(xir_value *)), *in = m.x;
    size_t count = 0;
    EACH(m) {
        m.x = XIR_OP(m.at, sigmoid, .input = in);
        all[count++] = XIR_OP(m.at, elu, .input = m.x, .attrs = XIR_ATTRS(elu, (alpha, 0.5 + (double)i / (double)n)));
        if (i % every == 0) all[count++] = m.x;
    }
    xir_output(m.at, (xir_values){ all, count });
    free((void *)all);
    return m.net;
}

static xir_network *equal_results_read_inside(xir_context *ctx, int64_t n) { return equal_read(ctx, n, 1); }
static xir_network *equal_results_in_turn(xir_context *ctx, int64_t n)     { return equal_read(ctx, n, 2); }

/* Reshapes that change nothing; every second one is a result. */
static xir_network *views_in_turn(xir_context *ctx, int64_t n) {
    making m = begin(ctx, n);
    xir_value **all = malloc(2 * (size_t)n * sizeof(xir_value *)), *of = xir_build_relu(m.at, m.x, NULL);
    size_t count = 0;
    EACH(m) {
        m.x = XIR_RESHAPE(m.at, of, "*", 4);
        all[count++] = XIR_OP(m.at, elu, .input = m.x, .attrs = XIR_ATTRS(elu, (alpha, 0.5 + (double)i / (double)n)));
        if (i % 2) all[count++] = m.x;
    }
    xir_output(m.at, (xir_values){ all, count });
    free((void *)all);
    return m.net;
}

/* Two equal ops and a dead one, in a chain. */
static xir_network *equal_pairs(xir_context *ctx, int64_t n) {
    making m = begin(ctx, n);
    EACH(m) {
        xir_value *a = XIR_OP(m.at, sigmoid, .input = m.x), *b = XIR_OP(m.at, sigmoid, .input = m.x);
        (void)XIR_OP(m.at, tanh, .input = m.x);
        m.x = XIR_OP(m.at, add, .lhs = a, .rhs = b);
    }
    return end(&m);
}

/* ---- what passes look for --------------------------------------------------------------------------------------- */

static xir_network *transposes(xir_context *ctx, int64_t n) {
    making m = begin_with(ctx, n, image(ctx));
    EACH(m) m.x = i % 2 ? XIR_TRANSPOSE(m.at, m.x, 0, 2, 3, 1) : XIR_TRANSPOSE(m.at, m.x, 0, 3, 1, 2);
    return end(&m);
}

static xir_network *transposes_of_one(xir_context *ctx, int64_t n) {
    making m = begin_with(ctx, n, image(ctx));
    xir_value *in = m.x;
    EACH(m) m.x = XIR_TRANSPOSE(m.at, XIR_RELU(m.at, XIR_TRANSPOSE(m.at, in, 0, 3, 1, 2)), 0, 2, 3, 1);
    return end(&m);
}

/* The axes of a cube go round, two steps in three. */
static xir_network *transposes_that_merge(xir_context *ctx, int64_t n) {
    making m = begin_with(ctx, n, XIR_TENSOR(ctx, xir_type_float(ctx, XIR_FLOAT_FP32), "***", 2, 3, 4));
    EACH(m) m.x = i % 3 == 2 ? XIR_OP(m.at, sigmoid, .input = m.x) : XIR_TRANSPOSE(m.at, m.x, 2, 0, 1);
    return end(&m);
}

static xir_network *reshapes(xir_context *ctx, int64_t n) {
    making m = begin_with(ctx, n, image(ctx));
    EACH(m) m.x = i % 2 ? XIR_RESHAPE(m.at, m.x, "NHWC", 1, 4, 4, 4) : XIR_RESHAPE(m.at, m.x, "NC", 1, 64);
    return end(&m);
}

/* Lists of integers: the type of `n` of them, and an input that is not known before the network runs. */
static const xir_type *integers(xir_context *ctx, int64_t n) {
    return XIR_TENSOR(ctx, xir_type_sint(ctx, 64), "*", n);
}

/* Many shapes that are computed from one list of many parts; all but the last are empty. */
static xir_network *shapes_of_one_list(xir_context *ctx, int64_t n) {
    making m = begin(ctx, n);
    const int64_t open = -1;
    const xir_shape_attrs all = xir_shape_init();
    xir_value *empty = xir_params_copy(m.net, XIR_STR("w"), integers(ctx, 0), &open, 0);
    xir_value *shape = xir_op_output(xir_add_shape(m.at, (xir_shape_in){ .input = m.x }, &all), 0);
    xir_value **parts = malloc((size_t)n * sizeof *parts);
    EACH(m) parts[i] = i + 1 < n ? empty : shape;
    const xir_concat_attrs joined = xir_concat_init();
    xir_op *list = xir_add_concat(m.at, (xir_concat_in){ .inputs = { parts, (size_t)n } }, &joined);
    xir_reshape_attrs a = xir_reshape_init();
    a.shape = (xir_i64s){ &open, 1 };
    a.layout = xir_layout_default(ctx, 1);
    EACH(m) {
        const xir_reshape_in in = { .input = m.x, .dims = list ? xir_op_output(list, 0) : NULL };
        m.x = xir_op_output(xir_add_reshape(m.at, in, &a), 0);
    }
    free((void *)parts);
    return end(&m);
}

static xir_network *convolutions(xir_context *ctx, int64_t n) {
    making m = begin_with(ctx, n, image(ctx));
    static const float zeros[16];
    const xir_type *type = XIR_TENSOR(ctx, xir_type_float(ctx, XIR_FLOAT_FP32), "HWIO", 1, 1, 4, 4);
    EACH(m) {
        xir_value *w = xir_params_copy(m.net, XIR_STR("w"), type, zeros, sizeof zeros);
        m.x = xir_build_relu(m.at, XIR_CONV2D(m.at, .input = m.x, .weights = w), NULL);
    }
    return end(&m);
}

/* Inputs with their axes in other orders, which layout transposes. */
static xir_network *convolutions_between_transposes(xir_context *ctx, int64_t n) {
    making m = begin_with(ctx, n, XIR_TENSOR(ctx, xir_type_float(ctx, XIR_FLOAT_FP32), "NCHW", 1, 4, 4, 4));
    static const float zeros[16];
    const xir_type *type = XIR_TENSOR(ctx, xir_type_float(ctx, XIR_FLOAT_FP32), "HWIO", 1, 1, 4, 4);
    EACH(m) {
        xir_value *w = xir_params_copy(m.net, XIR_STR("w"), type, zeros, sizeof zeros);
        m.x = XIR_CONV2D(m.at, .input = XIR_TRANSPOSE(m.at, m.x, 0, 2, 3, 1), .weights = w);
        m.x = xir_build_relu(m.at, XIR_TRANSPOSE(m.at, m.x, 0, 3, 1, 2), NULL);
    }
    return end(&m);
}

static xir_network *casts(xir_context *ctx, int64_t n) {
    making m = begin(ctx, n);
    EACH(m) m.x = xir_build_cast(m.at, m.x, XIR_TENSOR(ctx, xir_type_float(ctx, i % 2 ? XIR_FLOAT_FP32 : XIR_FLOAT_FP16), "*", 4), NULL);
    return end(&m);
}

static xir_network *powers(xir_context *ctx, int64_t n) {
    making m = begin(ctx, n);
    EACH(m) m.x = xir_build_pow(m.at, m.x, 2, NULL);
    return end(&m);
}

/* ---- sub ops ---------------------------------------------------------------------------------------------------- */

static xir_network *sub_ops(xir_context *ctx, int64_t n) {
    making m = begin(ctx, n);
    xir_op **parts = malloc((size_t)n * sizeof(xir_op *));
    const xir_type *type = vector(ctx, 4);
    EACH(m) {
        parts[i] = xir_op_new(m.net, &XIR_INIT(xir_op_desc, .cls = xir_class_find_decl(ctx, xir_relu_class()),
                                               .inputs = &m.x, .n_inputs = 1,
                                               .types = &type, .n_types = 1, .id = XIR_NO_ID));
    }
    xir_hard_op_attrs attrs = xir_hard_op_init();
    attrs.sub_hard_ops = (xir_ops){ parts, (size_t)n };
    xir_op *op = xir_network_add(m.net, &XIR_INIT(xir_op_desc, .cls = xir_class_find_decl(ctx, xir_hard_op_class()),
                                                  .attrs = &attrs,
                                                  .inputs = &m.x, .n_inputs = 1, .types = &type, .n_types = 1,
                                                  .id = XIR_NO_ID));
    m.x = op ? xir_op_output(op, 0) : NULL;
    free((void *)parts);
    return end(&m);
}

static xir_network *ops_of_one_part(xir_context *ctx, int64_t n) {
    making m = begin(ctx, n);
    const xir_type *type = vector(ctx, 4);
    EACH(m) {
        xir_op *part = xir_op_new(m.net, &XIR_INIT(xir_op_desc, .cls = xir_class_find_decl(ctx, xir_relu_class()),
                                                   .inputs = &m.x, .n_inputs = 1,
                                                   .types = &type, .n_types = 1, .id = XIR_NO_ID));
        xir_hard_op_attrs attrs = xir_hard_op_init();
        attrs.sub_hard_ops = (xir_ops){ &part, 1 };
        xir_op *op = xir_network_add(m.net, &XIR_INIT(xir_op_desc, .cls = xir_class_find_decl(ctx, xir_hard_op_class()),
                                                      .attrs = &attrs,
                                                      .inputs = &m.x, .n_inputs = 1, .types = &type, .n_types = 1,
                                                      .id = XIR_NO_ID));
        m.x = op ? xir_op_output(op, 0) : NULL;
    }
    return end(&m);
}

/* ---- the table -------------------------------------------------------------------------------------------------- */

const net_shape net_shapes[] = {
    SHAPE(chain), SHAPE(fan_out), SHAPE(fan_in), SHAPE(one_value_all_uses), SHAPE(many_outputs), SHAPE(many_arguments),
    SHAPE(ladder), SHAPE(residuals), SHAPE(long_skips), SHAPE(reversed), SHAPE(dead_ops),
    SHAPE(one_name), SHAPE(names_in_the_way), SHAPE(all_names), SHAPE(long_names), SHAPE(one_long_name), SHAPE(deep_scopes), SHAPE(scopes),
    SHAPE(all_classes), SHAPE(one_strange_class), SHAPE(all_domains), SHAPE(all_types), SHAPE(all_element_types), SHAPE(long_scales),
    SHAPE(all_places), SHAPE(two_targets), SHAPE(sparse_ids),
    SHAPE(all_params), SHAPE(equal_params), SHAPE(one_params), SHAPE(large_params), SHAPE(constants), SHAPE(constants_read_inside), SHAPE(equal_ops),
    SHAPE(equal_values), SHAPE(equal_values_of_constants), SHAPE(results_read_inside), SHAPE(equal_results_read_inside), SHAPE(equal_results_in_turn), SHAPE(views_in_turn), SHAPE(equal_pairs),
    SHAPE(transposes), SHAPE(transposes_of_one), SHAPE(transposes_that_merge), SHAPE(reshapes), SHAPE(shapes_of_one_list), SHAPE(convolutions), SHAPE(convolutions_between_transposes),
    SHAPE(casts), SHAPE(powers),
    SHAPE(sub_ops), SHAPE(ops_of_one_part),
};
const size_t n_net_shapes = sizeof net_shapes / sizeof *net_shapes;
