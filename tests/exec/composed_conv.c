/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A convolution with its BatchNorm as one composed class, on random draws, against the two ops: the same types, the
 * same bits, the same findings. And what composed ops need of their inputs is what their parts need; and parts are
 * asked about types once. */
#include <stdio.h>
#include <stdlib.h>
#include <xir/exec.h>
#include "support/net.h"

#define XIR_DEFS "support/twins.def"
#include <xir/declare.h>

static int begin_group(void **state) {
    static const xir_class_decl *(*const twins[])(void) = {
        xir_twin_conv_bn_class, xir_twin_conv_class, xir_twin_silu_class, xir_twin_gelu_class,
        xir_twin_layer_norm_class, xir_twin_group_norm_class, xir_twin_pixel_shuffle_class, xir_twin_block_class,
    };
    int bad = group_begin(state);
    for (size_t i = 0; i < COUNT(twins) && !bad; i++) bad = xir_class_register(ctx, twins[i](), why) != XIR_OK;
    return bad;
}

static uint64_t seed = 1;

static int64_t next_of(int64_t n) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((seed >> 33) % (uint64_t)n);
}

/* ---- draws ------------------------------------------------------------------------------------------------------ */

/* One thing of a draw may be odd, so that one finding is expected. */
enum { NOTHING_ODD, ODD_ELEMENT, ODD_DIM, ODD_STRIDE, ODD_CHANNELS, ODD_VARIANCE, ODD_MEAN, ODD_RANK, ODD_THINGS };

typedef struct drawn {
    int     odd;
    int64_t x[4], w[4], stride_width, stride_height, n_variance, n_mean;
    bool    half;
} drawn;

static drawn draw(void) {
    drawn d = { .odd = next_of(2) ? NOTHING_ODD : (int)next_of(ODD_THINGS) };
    const int64_t channels = 1 + next_of(4), out = 1 + next_of(4);
    const int64_t x[] = { 1 + next_of(2), 3 + next_of(5), 3 + next_of(5), channels };
    const int64_t w[] = { 1 + next_of(3), 1 + next_of(3), channels + (d.odd == ODD_CHANNELS), out };
    memcpy(d.x, x, sizeof x);
    memcpy(d.w, w, sizeof w);
    if (d.odd == ODD_DIM) d.x[next_of(3)] = XIR_UNKNOWN_DIM;
    d.stride_width = 1 + next_of(3);
    d.stride_height = d.odd == ODD_STRIDE ? 0 : 1 + next_of(3);
    d.n_variance = out + (d.odd == ODD_VARIANCE);
    d.n_mean = out + (d.odd == ODD_MEAN);
    d.half = next_of(3) == 0;
    return d;
}

static xir_value *random_params(xir_network *net, const char *name, const xir_type *type, uint64_t of) {
    const xir_numbers range = xir_numbers_between(0.5, 1.5);
    xir_array *array = xir_array_random_in(ctx, type, of, &range, why);
    xir_value *v = xir_params_from_array(net, xir_str_of(name), array);
    xir_array_free(array);
    return v;
}

/* The network of a draw, with one op or two. */
typedef struct made {
    xir_network *net;
    xir_value   *y;           /* NULL: refused */
    bool         second;      /* by the BatchNorm */
    char         path[100];
} made;

static xir_op *add(xir_network *net, const xir_class_decl *decl, xir_value *const *in, size_t n_in,
                   const xir_named_attr *named, size_t n) {
    return xir_network_add(net, &XIR_INIT(xir_op_desc, .cls = xir_class_find_decl(ctx, decl), .inputs = in,
                                          .n_inputs = n_in, .named = named, .n_named = n, .name = XIR_STR("it"),
                                          .id = XIR_NO_ID));
}

static made make(const drawn *d, bool composed) {
    made m = { .net = new_net() };
    const xir_type *element = d->odd == ODD_ELEMENT ? xir_type_bool(ctx)
                            : xir_type_float(ctx, d->half ? XIR_FLOAT_FP16 : XIR_FLOAT_FP32);
    const xir_type *fp = xir_type_float(ctx, d->half ? XIR_FLOAT_FP16 : XIR_FLOAT_FP32);
    const xir_layout *maps = xir_layout_parse(ctx, XIR_STR("NHWC"), why);
    const xir_layout *kernels = xir_layout_parse(ctx, XIR_STR("HWIO"), why);
    const xir_type *type = d->odd == ODD_RANK ? xir_type_tensor(ctx, element, NULL, d->x, 3)
                                              : xir_type_tensor(ctx, element, maps, d->x, 4);
    xir_value *x = xir_input(xir_at_end(m.net), "x", type);
    xir_value *const in[] = { x, random_params(m.net, "w", xir_type_tensor(ctx, fp, kernels, d->w, 4), 1) };
    const xir_named_attr all[] = {
        { XIR_STR("stride_width"),  { .kind = XIR_KIND_I64, .as.i64 = d->stride_width } },
        { XIR_STR("stride_height"), { .kind = XIR_KIND_I64, .as.i64 = d->stride_height } },
        { XIR_STR("variance"), { .kind = XIR_KIND_PARAMS, .as.params =
                                 random_params(m.net, "v", xir_type_tensor(ctx, fp, NULL, &d->n_variance, 1), 2) } },
        { XIR_STR("mean"), { .kind = XIR_KIND_PARAMS, .as.params =
                             random_params(m.net, "m", xir_type_tensor(ctx, fp, NULL, &d->n_mean, 1), 3) } },
    };
    xir_op *op = composed ? add(m.net, xir_twin_conv_bn_class(), in, 2, all, 4)
                          : add(m.net, xir_conv2d_class(), in, 2, all, 2);
    if (op && !composed) {
        xir_value *const c[] = { xir_op_output(op, 0) };
        op = add(m.net, xir_batch_norm2d_class(), c, 1, all + 2, 2);
        m.second = !op;
    }
    m.y = op ? xir_op_output(op, 0) : NULL;
    const xir_diag *found = xir_diags_at(xir_network_diags(m.net), 0);
    snprintf(m.path, sizeof m.path, "%.*s", found ? (int)found->path.size : 0, found ? found->path.data : "");
    return m;
}

/* ---- twins ------------------------------------------------------------------------------------------------------ */

typedef struct counts { int same, refused, second, differ, places, numbers; } counts;

static void run_one(const made *m, xir_array **y) {
    xir_value *x;
    (void)xir_network_inputs(m->net, &x, 1);
    xir_array *in = xir_array_random(ctx, xir_value_type(x), 9, why);
    xir_value *const out[] = { m->y };
    DOES(xir_network_add(m->net, &XIR_INIT(xir_op_desc, .cls = xir_class_find_decl(ctx, xir_output_class()),
                                           .inputs = out, .n_inputs = 1, .id = XIR_NO_ID)) ? XIR_OK : XIR_E_INVALID);
    DOES(xir_network_run(m->net, (const xir_array *const *)&in, 1, y, 1, NULL, why));
    xir_array_free(in);
}

static void compare_bits(const made *a, const made *b, counts *n) {
    xir_array *one = NULL, *other = NULL;
    size_t size, size2;
    run_one(a, &one);
    run_one(b, &other);
    const void *bytes = xir_array_data(one, &size), *bytes2 = xir_array_data(other, &size2);
    if (size != size2 || memcmp(bytes, bytes2, size) != 0) n->differ++;
    n->numbers++;
    xir_array_free(one);
    xir_array_free(other);
}

static void compare(const drawn *d, counts *n) {
    made one = make(d, true), two = make(d, false);
    if (one.y && two.y) {
        n->same++;
        if (!xir_type_equal(xir_value_type(one.y), xir_value_type(two.y))) n->differ++;
        else if (n->numbers < 200 && !xir_type_has_unknown_dim(xir_value_type(one.y))) compare_bits(&one, &two, n);
    } else if (!one.y && !two.y) {
        n->refused++;
        n->second += two.second;
        /* The value between is not one of the composed op, and depends on several inputs. */
        const char *place = two.second && strcmp(two.path, "inputs/0") == 0 ? "" : two.path;
        n->places += strcmp(one.path, place) == 0;
        if (getenv("XIR_SHOW") && strcmp(one.path, place) != 0)
            printf("odd %d: '%s' '%s'\n", d->odd, one.path, two.path);
    } else {
        n->differ++;
        if (getenv("XIR_SHOW")) xir_diags_print(xir_network_diags(one.y ? two.net : one.net), stdout);
    }
    xir_network_free(one.net);
    xir_network_free(two.net);
}

static void a_convolution_and_its_batch_norm_are_the_two_ops(void **state) {
    (void)state;
    counts n = { 0 };
    const char *many = getenv("XIR_MANY");
    const int tries = many ? atoi(many) : 1000;
    for (int i = 0; i < tries; i++) {
        const drawn d = draw();
        compare(&d, &n);
    }
    if (n.differ || n.places != n.refused || n.same < tries / 2 || n.refused < tries / 10 || !n.second || !n.numbers)
        fail_msg("%d types and %d numbers compared, %d differ; %d refused, %d of them by the second op, %d at the same "
                 "place", n.same, n.numbers, n.differ, n.refused, n.second, n.places);
}

/* ---- what is needed ---------------------------------------------------------------------------------------------- */

static const char *const networks[] = {
    "%y = twin::Conv(%x, @w : fp32 HWIO [3,3,4,4] = splat 1, _, %r) {pad_top=1, pad_bottom=1, pad_left=1, pad_right=1} : fp32 NHWC [1,8,8,4]",
    "%y = twin::Conv(%x, @w : fp32 HWIO [3,2,4,4] = splat 1, @b : fp32 * [4] = splat 1) {stride_height=2, pad_right=1} : fp32 NHWC [1,3,8,4]",
    "%y = twin::SiLU(%x) : fp32 NHWC [1,8,8,4]",
    "%y = twin::GELU(%x) : fp32 NHWC [1,8,8,4]",
    "%y = twin::LayerNorm(%x) {axis=[3]} : fp32 NHWC [1,8,8,4]",
    "%y = twin::LayerNorm(%x) {axis=[2,3]} : fp32 NHWC [1,8,8,4]",
    "%y = twin::GroupNorm(%x) {groups=2} : fp32 NHWC [1,8,8,4]",
    "%y = twin::PixelShuffle(%x) {upscale_factor=2} : fp32 NHWC [1,16,16,1]",
    "%y = twin::Block(%x, @w : fp32 HWIO [1,1,4,4] = splat 1, %r) : fp32 NHWC [1,8,8,4]",
};

static xir_network *read_line_of(const char *line) {
    char text[600];
    snprintf(text, sizeof text, "xir 1\n%%x, %%r = Input() : fp32 NHWC [1,8,8,4], fp32 NHWC [1,8,8,4]\n%s\n"
             "Output(%%y)\n", line);
    xir_network *net = xir_network_read(ctx, text, strlen(text), XIR_STR("text"),
                                        &XIR_INIT(xir_load_options, .format = "text"), why);
    if (!net) {
        xir_diags_print(why, stderr);
        fail_msg("not read: %s", text);
    }
    return net;
}

typedef struct found { const xir_network *net; xir_box box[2]; } found;

/* The parts of the two inputs of the network. */
static void see(void *user, const xir_value *value, const xir_box *part) {
    found *f = user;
    for (int64_t i = 0; i < 2; i++)
        if (value == xir_op_output(xir_network_input_op(f->net), i)) f->box[i] = *part;
}

static void ask(xir_network *net, const xir_box *part, found *f) {
    xir_op *ops[40];
    size_t n = 0;
    const xir_value *y = xir_op_input(xir_network_output_op(net), 0);
    *f = (found){ .net = net, .box = { XIR_INIT(xir_box, .none = 1), XIR_INIT(xir_box, .none = 1) } };
    for (xir_op *op = xir_op_next(xir_network_input_op(net)); op != xir_network_output_op(net); op = xir_op_next(op))
        ops[n++] = op;
    DOES(xir_region_needed(net, ops, n, &y, part, 1, see, f, why));
}

static bool is_within(const xir_box *a, const xir_box *b) {
    if (a->none || b->none) return a->none;
    for (uint32_t k = 0; k < a->rank; k++)
        if (a->begin[k] < b->begin[k] || a->end[k] > b->end[k]) return false;
    return true;
}

static void a_composed_op_needs_what_its_parts_need(void **state) {
    (void)state;
    size_t narrow = 0, exact = 0;
    for (size_t i = 0; i < COUNT(networks); i++) {
        xir_network *whole = read_line_of(networks[i]), *parts = read_line_of(networks[i]);
        DOES(xir_pass_run(parts, "to-parts", NULL, NULL, why));
        assert_true(xir_class_needs(xir_op_class(xir_op_next(xir_network_input_op(whole)))) != XIR_NEEDS_ALL);
        for (int k = 0; k < 20; k++) {
            xir_box part = XIR_INIT(xir_box);
            found a, b;
            DOES(xir_box_whole(xir_value_type(xir_op_input(xir_network_output_op(whole), 0)), &part, why));
            for (uint32_t dim = 0; dim < part.rank; dim++) {
                part.begin[dim] = next_of(part.end[dim]);
                part.end[dim] = part.begin[dim] + 1 + next_of(part.end[dim] - part.begin[dim]);
            }
            ask(whole, &part, &a);
            ask(parts, &part, &b);
            for (size_t in = 0; in < 2; in++) {
                if (!is_within(&a.box[in], &b.box[in]) || !is_within(&b.box[in], &a.box[in]))
                    fail_msg("%s: input %zu, rows %d to %d instead of %d to %d", networks[i], in,
                             (int)a.box[in].begin[1], (int)a.box[in].end[1], (int)b.box[in].begin[1],
                             (int)b.box[in].end[1]);
                if (a.box[in].exact && !b.box[in].exact) fail_msg("%s: exact, but its parts are not", networks[i]);
                narrow += !a.box[in].none && xir_box_elements(&a.box[in]) < 8 * 8 * 4;
                exact += !a.box[in].none && a.box[in].exact;
            }
        }
        xir_network_free(whole);
        xir_network_free(parts);
    }
    assert_true(narrow > 100 && exact > 50);
}

/* ---- inference --------------------------------------------------------------------------------------------------- */

static size_t asked;

static xir_status count_infer(xir_infer *at) {
    asked++;
    return xir_infer_result(at, xir_infer_input(at, 0));
}

typedef struct part_body { uint32_t made; } part_body;
typedef struct whole_body { xir_i64s axis; xir_value *gamma; uint32_t made; } whole_body;

static const xir_class_decl *part_class(void) {
    static const xir_row rows[] = {
        { .decl = XIR_DECL_OP, .name = "counted::Part", .doc = "", .offset = sizeof(part_body) + 4 },
        { .decl = XIR_DECL_IN,  .name = "x", .doc = "" },
        { .decl = XIR_DECL_OUT, .name = "y", .doc = "" },
        { .decl = XIR_DECL_INFER, .fn = count_infer },
        { .decl = XIR_DECL_END },
    };
    static const xir_class_decl decl = { XIR_ABI, sizeof decl, sizeof(xir_row), rows };
    return &decl;
}

static const xir_class_decl *whole_class(void) {
    static const xir_row rows[] = {
        { .decl = XIR_DECL_OP, .name = "counted::Whole", .doc = "", .offset = sizeof(whole_body) },
        { .decl = XIR_DECL_IN, .name = "x", .doc = "" },
        { .decl = XIR_DECL_FIELD, .kind = XIR_KIND_I64S, .name = "axis", .doc = "", .offset = offsetof(whole_body, axis) },
        { .decl = XIR_DECL_FIELD, .kind = XIR_KIND_PARAMS, .name = "gamma", .doc = "", .flags = XIR_FIELD_OPTIONAL,
          .offset = offsetof(whole_body, gamma) },
        { .decl = XIR_DECL_OUT, .name = "y", .doc = "" },
        { .decl = XIR_DECL_COMPOSED, .doc = "%p = counted::Part(%x); %m = Mean(%p){dim=axis, keepdim=true};"
                                            "%s = Multiply(%m, gamma)?; %y = Add(%p, %s)" },
        { .decl = XIR_DECL_END },
    };
    static const xir_class_decl decl = { XIR_ABI, sizeof decl, sizeof(xir_row), rows };
    return &decl;
}

/* Adds an op, and returns how often its part was asked. */
static size_t add_whole(xir_network *net, int64_t axis, size_t n_gamma) {
    const float numbers[4] = { 1, 2, 3, 4 };
    const int64_t n = (int64_t)n_gamma;
    const xir_type *type = xir_type_tensor(ctx, xir_type_float(ctx, XIR_FLOAT_FP32), NULL, &n, 1);
    xir_value *x = xir_op_output(xir_network_input_op(net), 0);
    const xir_named_attr named[] = {
        { XIR_STR("axis"), { .kind = XIR_KIND_I64S, .as.i64s = { &axis, 1 } } },
        { XIR_STR("gamma"), { .kind = XIR_KIND_PARAMS, .is_null = !n_gamma, .as.params = !n_gamma ? NULL :
                              xir_params_copy(net, XIR_STR("g"), type, numbers, n_gamma * sizeof *numbers) } },
    };
    const size_t before = asked;
    assert_non_null(add(net, whole_class(), &x, 1, named, 2));
    return asked - before;
}

static void parts_are_asked_once_about_the_same_types(void **state) {
    (void)state;
    DOES(xir_class_register(ctx, part_class(), why));
    DOES(xir_class_register(ctx, whole_class(), why));
    xir_network *net = new_net();
    (void)xir_input(xir_at_end(net), "x", XIR_TENSOR(ctx, xir_type_float(ctx, XIR_FLOAT_FP32), "NHWC", 1, 8, 8, 4));
    assert_true(add_whole(net, 3, 4) > 0);
    assert_int_equal(add_whole(net, 3, 4), 0);      /* other Params of the same type */
    assert_int_equal(add_whole(net, 3, 4), 0);
    assert_true(add_whole(net, 2, 4) > 0);          /* another list */
    assert_true(add_whole(net, 3, 1) > 0);          /* Params of another type */
    assert_true(add_whole(net, 3, 0) > 0);          /* none */
    assert_int_equal(add_whole(net, 3, 0), 0);
    xir_op *op = xir_network_last(net);
    size_t before = asked;
    DOES(xir_op_infer(op, true));
    assert_int_equal(asked, before);
    DOES(xir_infer_register(ctx, xir_relu_class(), XIR_TARGET_WOLONG, count_infer));   /* another function */
    DOES(xir_op_infer(op, true));
    assert_true(asked > before);
    xir_network_free(net);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_asked_once_about_the_same_types),
        cmocka_unit_test(a_convolution_and_its_batch_norm_are_the_two_ops),
        cmocka_unit_test(a_composed_op_needs_what_its_parts_need),
    };
    return cmocka_run_group_tests(tests, begin_group, group_end);
}
