/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Composed classes: twins of classes of the library infer the same types and compute the same numbers; the parts of a
 * composed op compute the same bits, and are found again; findings name the op and its part. */
#include <math.h>
#include <stdio.h>
#include <xir/cost.h>
#include <xir/exec.h>
#include <xir/liveness.h>
#include <xir/takes.h>
#include "compose.h"
#include "support/scarce.h"

#define XIR_DEFS "support/twins.def"
#include <xir/declare.h>
#define XIR_DEFS "support/twins.def"
#include <xir/define.h>

static const xir_class_decl *(*const twins[])(void) = {
    xir_twin_hardswish_class, xir_twin_silu_class, xir_twin_gelu_class, xir_twin_mish_class, xir_twin_softplus_class,
    xir_twin_layer_norm_class, xir_twin_rms_norm_class, xir_twin_normalize_class, xir_twin_group_norm_class,
    xir_twin_channel_shuffle_class, xir_twin_pixel_shuffle_class, xir_twin_conv_class, xir_twin_conv_bn_class,
    xir_twin_block_class, xir_twin_halves_class, xir_twin_plus_class,
};

static void register_twins(xir_context *with) {
    for (size_t i = 0; i < COUNT(twins); i++)
        if (xir_class_register(with, twins[i](), why)) {
            xir_diags_print(why, stderr);
            fail_msg("twin %zu is not registered", i);
        }
}

/* ---- random ops ------------------------------------------------------------------------------------------------- */

static uint64_t seed = 1;

static uint64_t next_of(uint64_t n) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (seed >> 33) % n;
}

static const xir_type *random_element(bool odd) {
    switch (next_of(odd ? 7 : 3)) {
    case 0:  return xir_type_float(ctx, XIR_FLOAT_FP16);
    case 3:  return xir_type_float(ctx, XIR_FLOAT_BF16);
    case 4:  return xir_type_sint(ctx, 32);
    case 5:  return xir_type_uint(ctx, 8);
    case 6:  return xir_type_bool(ctx);
    default: return xir_type_float(ctx, XIR_FLOAT_FP32);
    }
}

/* The oddity of an op: one at a time, so that one finding is expected. */
enum { NOTHING_ODD, ODD_ELEMENT, ODD_DIM, ODD_ATTR, ODD_THINGS };

/* A tensor of any layout and rank; with `map`, NHWC. An odd dim is 0 or unknown; of a map, the first one is. */
static const xir_type *random_type(bool map, int odd, size_t *rank, int64_t *dims) {
    static const char *const layouts[] = { "", "*", "NC", "NLC", "NCHW", "NDHWC" };
    *rank = map ? 4 : 1 + next_of(5);
    for (size_t i = 0; i < *rank; i++) dims[i] = (int64_t)next_of(8) + 1;
    if (odd == ODD_DIM) dims[map ? 0 : next_of(*rank)] = map || next_of(2) ? XIR_UNKNOWN_DIM : 0;
    const char *axes = map ? "NHWC" : layouts[*rank];
    const xir_layout *layout = map || next_of(2) ? xir_layout_parse(ctx, xir_str_of(axes), why) : NULL;
    return xir_type_tensor(ctx, random_element(odd == ODD_ELEMENT), layout, dims, *rank);
}

/* The arguments of the class and its twin. */
typedef struct drawn {
    bool                  map;        /* the twin takes maps NHWC only                    */
    int                   odd;
    const xir_type       *type;
    int64_t               dims[8], axis[8];
    size_t                rank, n_axis;
    int64_t               groups, factor;
    double                eps, beta;
    bool                  gamma, shift;
} drawn;

static void draw(drawn *d) {
    d->type = random_type(d->map, d->odd, &d->rank, d->dims);
    d->n_axis = 1 + next_of(d->rank);
    for (size_t i = 0; i < d->n_axis; i++) d->axis[i] = (int64_t)(d->rank - d->n_axis + i);
    if (next_of(3) == 0) for (size_t i = 0; i < d->n_axis; i++) d->axis[i] -= (int64_t)d->rank;
    const int64_t beyond = (int64_t)(d->rank + next_of(3));
    if (d->odd == ODD_ATTR) d->axis[0] = next_of(2) ? beyond : -1 - beyond;
    d->factor = 1 + (int64_t)next_of(3);
    d->groups = 1 + (int64_t)next_of(4);
    if (d->map && d->odd != ODD_ATTR) {   /* what divides the channels */
        while (d->dims[3] % d->groups) d->groups--;
        while (d->dims[3] % (d->factor * d->factor)) d->factor--;
    }
    d->eps = 0.25 * (double)(1 + next_of(3));   /* not whole */
    d->beta = 0.5 * (double)(1 + next_of(5));
    d->gamma = next_of(2) && d->odd != ODD_ATTR;
    d->shift = next_of(2) && d->odd != ODD_ATTR;
}

static bool has(const xir_class_decl *decl, const char *name) {
    return xir_class_field(xir_class_find_decl(ctx, decl), xir_str_of(name));
}

/* Params of the last dims: a factor or an addend. */
static xir_value *factors(xir_network *net, const drawn *d, bool channels) {
    size_t n = channels ? 1 : d->n_axis;
    const xir_type *type = xir_type_tensor(ctx, xir_type_element(d->type), NULL, d->dims + (d->rank - n), n);
    xir_value *v = xir_params_new(net, XIR_STR("factor"), type);
    xir_array *array = xir_array_random(ctx, type, seed, why);
    size_t size = 0;
    const void *bytes = array ? xir_array_data(array, &size) : NULL;
    if (array && v) DOES(xir_params_set_copy(v, bytes, size));
    xir_array_free(array);
    return v;
}

static void add_real(xir_named_attr *list, size_t *n, const char *name, double v) {
    list[(*n)++] = (xir_named_attr){ xir_str_of(name), { .kind = XIR_KIND_REAL, .as.real = v } };
}
static void add_integer(xir_named_attr *list, size_t *n, const char *name, int64_t v) {
    list[(*n)++] = (xir_named_attr){ xir_str_of(name), { .kind = XIR_KIND_I64, .as.i64 = v } };
}

static void add_factors(xir_named_attr *list, size_t *n, const char *name, xir_value *v) {
    list[(*n)++] = (xir_named_attr){ xir_str_of(name), { .kind = XIR_KIND_PARAMS, .as.params = v } };
}

/* An op of the class in a network of its own; NULL if it is refused, with the status and the path of the finding. */
static xir_network *net_with(const xir_class_decl *decl, const drawn *d, xir_op **op, xir_status *status, char *path) {
    xir_network *net = new_net();
    xir_named_attr named[8];
    size_t n = 0;
    const bool norm = has(decl, "eps"), channels = has(decl, "groups");
    const bool known = !xir_type_has_unknown_dim(d->type);
    xir_value *x = xir_input(xir_at_end(net), "x", d->type);
    if (has(decl, "axis")) named[n++] = (xir_named_attr){ XIR_STR("axis"), { .kind = XIR_KIND_I64S,
                                                          .as.i64s = { d->axis, d->n_axis } } };
    if (norm) add_real(named, &n, "eps", d->eps);
    if (channels) add_integer(named, &n, "groups", d->groups);
    if (has(decl, "upscale_factor")) add_integer(named, &n, "upscale_factor", d->factor);
    if (has(decl, "threshold")) add_real(named, &n, "beta", d->beta);
    if (has(decl, "gamma") && d->gamma && known)
        add_factors(named, &n, "gamma", factors(net, d, channels));
    if (norm && has(decl, "beta") && d->shift && known)
        add_factors(named, &n, "beta", factors(net, d, channels));
    *op = xir_network_add(net, &XIR_INIT(xir_op_desc, .cls = xir_class_find_decl(ctx, decl), .inputs = &x,
                                         .n_inputs = 1, .named = named, .n_named = n, .name = XIR_STR("it"),
                                         .id = XIR_NO_ID));
    *status = *op ? XIR_OK : xir_network_status(net);
    const xir_diag *diag = xir_diags_at(xir_network_diags(net), 0);
    snprintf(path, 100, "%.*s", diag ? (int)diag->path.size : 0, diag ? diag->path.data : "");
    return net;
}

typedef struct pair { const xir_class_decl *(*of)(void), *(*twin)(void); bool map; } pair;
static const pair all[] = {
    { xir_hardswish_class,       xir_twin_hardswish_class,       false },
    { xir_silu_class,            xir_twin_silu_class,            false },
    { xir_gelu_class,            xir_twin_gelu_class,            false },
    { xir_mish_class,            xir_twin_mish_class,            false },
    { xir_softplus_class,        xir_twin_softplus_class,        false },
    { xir_layer_norm_class,      xir_twin_layer_norm_class,      false },
    { xir_rms_norm_class,        xir_twin_rms_norm_class,        false },
    { xir_normalize_class,       xir_twin_normalize_class,       false },
    { xir_group_norm_class,      xir_twin_group_norm_class,      true  },
    { xir_channel_shuffle_class, xir_twin_channel_shuffle_class, true  },
    { xir_pixel_shuffle_class,   xir_twin_pixel_shuffle_class,   true  },
};

/* ---- types ------------------------------------------------------------------------------------------------------ */

typedef struct counts { int same, refused, places, differ; } counts;

static void compare_types(const pair *p, counts *n) {
    drawn d = { .map = p->map, .odd = (int)next_of(ODD_THINGS) };
    xir_op *op, *twin;
    xir_status status, other;
    char path[100], place[100];
    draw(&d);
    xir_network *net = net_with(p->of(), &d, &op, &status, path), *net2 = net_with(p->twin(), &d, &twin, &other, place);
    if (op && twin) {
        n->same++;
        if (!xir_type_equal(xir_value_type(xir_op_output(op, 0)), xir_value_type(xir_op_output(twin, 0)))) n->differ++;
    } else if (!op && !twin) {
        n->refused++;
        n->places += strcmp(path, place) == 0;
        if (getenv("XIR_SHOW") && strcmp(path, place) != 0) {
            printf("%s: '%s' '%s'\n", p->of()->rows->name, path, place);
            xir_diags_print(xir_network_diags(net), stdout);
            xir_diags_print(xir_network_diags(net2), stdout);
        }
    } else {
        n->differ++;
        if (getenv("XIR_SHOW")) {
            printf("%s: %s %s\n", p->of()->rows->name, xir_status_name(status), xir_status_name(other));
            xir_diags_print(xir_network_diags(op ? net2 : net), stdout);
        }
    }
    xir_network_free(net);
    xir_network_free(net2);
}

static void twins_have_the_types_of_the_classes(void **state) {
    (void)state;
    const char *many = getenv("XIR_MANY");
    const int tries = many ? atoi(many) : 300;
    for (size_t i = 0; i < COUNT(all); i++) {
        counts n = { 0 };
        seed = i + 1;
        for (int k = 0; k < tries; k++) compare_types(&all[i], &n);
        if (n.differ || n.places != n.refused || n.same < tries / 2)
            fail_msg("%s: %d types, %d differ; %d refused by both, %d at the same place", all[i].twin()->rows->name,
                     n.same, n.differ, n.refused, n.places);
    }
}

/* ---- numbers ---------------------------------------------------------------------------------------------------- */

static xir_array *run_one(xir_network *net, const xir_op *op, const xir_array *x) {
    xir_array *y = NULL;
    xir_diags_clear(why);
    (void)net;
    const xir_status status = xir_op_run(op, &x, 1, &y, 1, NULL, why);
    if (status) {
        xir_diags_print(why, stderr);
        fail_msg("%s", xir_status_name(status));
    }
    return y;
}

static void compare_numbers(const pair *p, int *compared) {
    drawn d = { .map = p->map };
    xir_op *op, *twin;
    xir_status status, other;
    char path[100], place[100];
    draw(&d);
    const uint64_t same = seed;
    xir_network *net = net_with(p->of(), &d, &op, &status, path);
    seed = same;
    xir_network *net2 = net_with(p->twin(), &d, &twin, &other, place);
    if (op && twin) {
        xir_array *x = xir_array_random(ctx, d.type, seed, why);
        xir_array *y = run_one(net, op, x), *z = run_one(net2, twin, x);
        xir_difference diff;
        const bool half = xir_type_equal(xir_type_element(d.type), xir_type_float(ctx, XIR_FLOAT_FP16));
        DOES(xir_array_compare(z, y, half ? 6e-3 : 2e-6, half ? 6e-3 : 2e-6, &diff));
        if (!diff.same_shape || diff.count)
            fail_msg("%s: %zu elements differ, the first is %g instead of %g", p->twin()->rows->name, diff.count,
                     diff.a, diff.b);
        ++*compared;
        xir_array_free(x);
        xir_array_free(y);
        xir_array_free(z);
    }
    xir_network_free(net);
    xir_network_free(net2);
}

static void twins_compute_the_numbers_of_the_classes(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(all); i++) {
        int compared = 0;
        seed = 100 + i;
        for (int k = 0; k < 60; k++) compare_numbers(&all[i], &compared);
        if (compared < 8) fail_msg("%s: only %d ops were compared", all[i].twin()->rows->name, compared);
    }
}

/* ---- parts ------------------------------------------------------------------------------------------------------ */

#define HEAD "xir 1\n%x = Input() : fp32 NHWC [1,8,8,4]\n"
#define KERNEL "@w : fp32 HWIO [3,3,4,6] = splat 0.125"

static xir_network *net_of_text(const char *text) {
    xir_diags_clear(why);
    xir_network *net = xir_network_read(ctx, text, strlen(text), XIR_STR("text"), &XIR_INIT(xir_load_options,
                                        .format = "text"), why);
    if (net) return net;
    xir_diags_print(why, stderr);
    fail_msg("not read: %s", text);
    return NULL;
}

static bool put(void *user, const void *data, size_t size) {
    char **at = user;
    memcpy(*at, data, size);
    *at += size;
    return true;
}

static const char *text_of(xir_network *net) {
    static char text[20000];
    char *at = text;
    DOES(xir_network_write(net, put, &at, &XIR_INIT(xir_save_options, .format = "text", .unchecked = true,
                           .flags = XIR_SAVE_NO_IDS), why));
    *at = '\0';
    return text;
}

static xir_status run_passes(xir_network *net, const char *text) {
    xir_diags_clear(why);
    xir_pipeline *pipe = xir_pipeline_parse(ctx, xir_str_of(text), why);
    const xir_status status = pipe ? xir_pipeline_run(pipe, net, NULL, NULL, why) : XIR_E_INVALID;
    xir_pipeline_free(pipe);
    return status;
}

static void pass(xir_network *net, const char *text) {
    if (run_passes(net, text) == XIR_OK) return;
    xir_diags_print(why, stderr);
    fail_msg("%s failed", text);
}

/* Networks with composed ops, and with their parts. */
static const struct { const char *whole, *parts, *fuse; } forms[] = {
    { HEAD "%y = twin::SiLU(%x) \"a\" : fp32 NHWC [1,8,8,4]\nOutput(%y)\n",
      HEAD "%a.s = Sigmoid(%x) \"a.s\" : fp32 NHWC [1,8,8,4]\n%y = Multiply(%x, %a.s) \"a\" : fp32 NHWC [1,8,8,4]\nOutput(%y)\n",
      "fuse-to{class=twin::SiLU}" },
    { HEAD "%y = twin::Conv(%x, " KERNEL ", @b : fp32 * [6] = splat 1) {stride_width=2, high=6} \"a\" : fp32 NHWC [1,6,3,6]\n"
      "Output(%y)\n",
      HEAD "%a.c = Conv2d(%x, " KERNEL ", @b : fp32 * [6] = splat 1) {stride_width=2} \"a.c\" : fp32 NHWC [1,6,3,6]\n"
      "%y = ReLU(%a.c) {max_value=6} \"a\" : fp32 NHWC [1,6,3,6]\nOutput(%y)\n",
      "fuse-to{class=twin::Conv}" },
    { "xir 1\n%x, %r = Input() : fp32 NHWC [1,8,8,4], fp32 NHWC [1,6,6,6]\n"
      "%y = twin::Conv(%x, " KERNEL ", _, %r) {leak=0.5} \"a\" : fp32 NHWC [1,6,6,6]\nOutput(%y)\n",
      "xir 1\n%x, %r = Input() : fp32 NHWC [1,8,8,4], fp32 NHWC [1,6,6,6]\n"
      "%a.c = Conv2d(%x, " KERNEL ") \"a.c\" : fp32 NHWC [1,6,6,6]\n%a.s = Add(%a.c, %r) \"a.s\" : fp32 NHWC [1,6,6,6]\n"
      "%y = ReLU(%a.s) {alpha=0.5} \"a\" : fp32 NHWC [1,6,6,6]\nOutput(%y)\n",
      "fuse-to{class=twin::Conv}" },
    { HEAD "%y = twin::LayerNorm(%x) {axis=[3], eps=0.25, beta=@b : fp32 * [4] = [1,2,3,4]} \"n\" : fp32 NHWC [1,8,8,4]\n"
      "Output(%y)\n", NULL, "fuse-to{class=twin::LayerNorm}" },
    { HEAD "%y = twin::RMSNorm(%x) {axis=[2,3], gamma=@b : fp32 ** [8,4] = splat 2} \"n\" : fp32 NHWC [1,8,8,4]\nOutput(%y)\n",
      NULL, "fuse-to{class=twin::RMSNorm}" },
    { HEAD "%y = twin::RMSNorm(%x) {axis=[2,3]} \"n\" : fp32 NHWC [1,8,8,4]\nOutput(%y)\n",
      NULL, "fuse-to{class=twin::RMSNorm}" },
    { HEAD "%y = twin::GroupNorm(%x) {groups=2} \"n\" : fp32 NHWC [1,8,8,4]\nOutput(%y)\n", NULL,
      "fuse-to{class=twin::GroupNorm}" },
    { HEAD "%y = twin::PixelShuffle(%x) {upscale_factor=2} \"n\" : fp32 NHWC [1,16,16,1]\nOutput(%y)\n", NULL, NULL },
    { HEAD "%y = twin::Softplus(%x) {beta=0.5} \"n\" : fp32 NHWC [1,8,8,4]\nOutput(%y)\n", NULL,
      "fuse-to{class=twin::Softplus}" },
    { HEAD "%y = twin::ConvBatchNorm(%x, " KERNEL ") {stride_height=2, variance=@v : fp32 * [6] = splat 3, "
      "mean=@m : fp32 * [6] = splat 4} \"n\" : fp32 NHWC [1,3,6,6]\nOutput(%y)\n", NULL, "fuse-to{class=twin::ConvBatchNorm}" },
    { HEAD "%y = twin::Block(%x, " KERNEL ") \"n\" : fp32 NHWC [1,6,6,6]\nOutput(%y)\n", NULL,
      "fuse-to{class=twin::SiLU},fuse-to{class=twin::Conv},fuse-to{class=twin::Block}" },
    { "xir 1\n%x, %r = Input() : fp32 NHWC [1,8,8,4], fp32 NHWC [1,6,6,6]\n"
      "%y = twin::Block(%x, " KERNEL ", %r) \"n\" : fp32 NHWC [1,6,6,6]\nOutput(%y)\n", NULL,
      "fuse-to{class=twin::SiLU},fuse-to{class=twin::Conv},fuse-to{class=twin::Block}" },
    { "xir 1\n%x, %r, %s = Input() : fp32 NHWC [1,8,8,4], fp32 NHWC [1,8,8,1], fp32 NHWC [1,8,8,3]\n"
      "%y, %z = twin::Halves(%x, %r, %s) {half=4} \"n\" : fp32 NHWC [1,8,8,4], fp32 NHWC [1,8,8,4]\nOutput(%y, %z)\n",
      NULL, NULL },
};

/* Runs a network on random inputs; its outputs, `room` at most. */
static size_t run_net(const xir_network *net, xir_array **out, size_t room) {
    xir_array *in[4] = { NULL };
    const xir_op *input = xir_network_input_op(net), *output = xir_network_output_op(net);
    const size_t n = xir_op_output_count(input), m = xir_op_input_count(output);
    assert_true(n <= COUNT(in) && m <= room);
    for (size_t i = 0; i < n; i++)
        in[i] = xir_array_random(ctx, xir_value_type(xir_op_output(input, (int64_t)i)), i + 5, why);
    xir_diags_clear(why);
    const xir_status status = xir_network_run(net, (const xir_array *const *)in, n, out, m, NULL, why);
    for (size_t i = 0; i < n; i++) xir_array_free(in[i]);
    if (status) xir_diags_print(why, stderr);
    assert_int_equal(status, XIR_OK);
    return m;
}

static void check_same_bits(const xir_network *a, const xir_network *b) {
    xir_array *one[4], *other[4];
    const size_t n = run_net(a, one, COUNT(one));
    assert_int_equal(run_net(b, other, COUNT(other)), n);
    for (size_t i = 0; i < n; i++) {
        size_t size, size2;
        const void *bytes = xir_array_data(one[i], &size), *bytes2 = xir_array_data(other[i], &size2);
        assert_int_equal(size, size2);
        assert_true(size > 0);
        assert_memory_equal(bytes, bytes2, size);
        xir_array_free(one[i]);
        xir_array_free(other[i]);
    }
}

static bool has_composed(const xir_network *net) {
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op))
        if (xir_class_is_composed(xir_op_class(op), NULL)) return true;
    return false;
}

static void parts_compute_the_same_bits_and_are_found_again(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(forms); i++) {
        xir_network *net = net_of_text(forms[i].whole), *whole = net_of_text(forms[i].whole);
        DOES(xir_network_validate(net, why));
        pass(net, "to-parts");
        if (has_composed(net)) fail_msg("still composed:\n%s", text_of(net));
        DOES(xir_network_validate(net, why));
        check_same_bits(whole, net);
        if (forms[i].parts) {
            xir_network *parts = net_of_text(forms[i].parts);
            char *expected = strdup(text_of(parts));
            assert_string_equal(text_of(net), expected);
            free(expected);
            xir_network_free(parts);
        }
        if (forms[i].fuse) {
            pass(net, forms[i].fuse);
            DOES(xir_network_validate(net, why));
            if (xir_network_op_count(net) != xir_network_op_count(whole)) fail_msg("not found:\n%s", text_of(net));
            check_same_bits(whole, net);
        }
        xir_network_free(net);
        xir_network_free(whole);
    }
}

/* Ops that the class does not mean are not found: another attribute, a value that is used elsewhere, another number. */
static const struct { const char *text, *class; } strangers[] = {
    { HEAD "%s = Sigmoid(%x) : fp32 NHWC [1,8,8,4]\n%y = Multiply(%x, %s) : fp32 NHWC [1,8,8,4]\nOutput(%y, %s)\n",
      "twin::SiLU" },
    { HEAD "%s = Sigmoid(%x) : fp32 NHWC [1,8,8,4]\n%y = Multiply(%s, %s) : fp32 NHWC [1,8,8,4]\nOutput(%y)\n", "twin::SiLU" },
    { HEAD "%c = Conv2d(%x, " KERNEL ") {dilation_width=2} : fp32 NHWC [1,6,4,6]\n"
      "%y = ReLU(%c) : fp32 NHWC [1,6,4,6]\nOutput(%y)\n", "twin::Conv" },
    { HEAD "%c = Conv2d(%x, " KERNEL ") {stride_width=17} : fp32 NHWC [1,6,1,6]\n"
      "%y = ReLU(%c) : fp32 NHWC [1,6,1,6]\nOutput(%y)\n", "twin::Conv" },
    { HEAD "%c = Conv2d(%x, " KERNEL ") : fp32 NHWC [1,6,6,6]\n"
      "%y = ReLU(%c) {threshold=1} : fp32 NHWC [1,6,6,6]\nOutput(%y)\n", "twin::Conv" },
    { HEAD "%d = DivideScalar(%x) {divisor=1.5} : fp32 NHWC [1,8,8,4]\n%e = xir::Erf(%d) : fp32 NHWC [1,8,8,4]\n"
      "%o = Add(%e, @n : fp32 [] = [1]) : fp32 NHWC [1,8,8,4]\n%m = Multiply(%x, %o) : fp32 NHWC [1,8,8,4]\n"
      "%y = DivideScalar(%m) {divisor=2} : fp32 NHWC [1,8,8,4]\nOutput(%y)\n", "twin::GELU" },
    { HEAD "%d = DivideScalar(%x) {divisor=1.4142135} : fp32 NHWC [1,8,8,4]\n%e = xir::Erf(%d) : fp32 NHWC [1,8,8,4]\n"
      "%o = Add(%e, @n : fp32 [] = [1.5]) : fp32 NHWC [1,8,8,4]\n%m = Multiply(%x, %o) : fp32 NHWC [1,8,8,4]\n"
      "%y = DivideScalar(%m) {divisor=2} : fp32 NHWC [1,8,8,4]\nOutput(%y)\n", "twin::GELU" },
};

static void what_is_not_the_class_is_not_found(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(strangers); i++) {
        char passes[100];
        snprintf(passes, sizeof passes, "fuse-to{class=%s}", strangers[i].class);
        xir_network *net = net_of_text(strangers[i].text);
        pass(net, passes);
        if (has_composed(net)) fail_msg("found:\n%s", text_of(net));
        xir_network_free(net);
    }
    xir_network *net = net_of_text(strangers[0].text);
    assert_int_equal(run_passes(net, "fuse-to"), XIR_E_MISSING);
    assert_int_equal(run_passes(net, "fuse-to{class=twin::Nothing}"), XIR_E_UNKNOWN);
    assert_int_equal(run_passes(net, "fuse-to{class=icraft::xir::ReLU}"), XIR_E_INVALID);
    assert_int_equal(run_passes(net, "to-parts{class=icraft::xir::ReLU}"), XIR_E_INVALID);
    assert_int_equal(run_passes(net, "fuse-to{class=twin::Halves}"), XIR_E_UNSUPPORTED);
    xir_network_free(net);
    xir_diags_clear(why);
}

/* ---- findings --------------------------------------------------------------------------------------------------- */

static const struct { const char *op; xir_status status; const char *path, *message; } findings[] = {
    { "%y = twin::Conv(%x, @w : fp32 HWIO [3,3,5,6] = splat 1) \"c1\"", XIR_E_INVALID, "/ops/1/inputs/1",
      "twin::Conv 'c1': part %c: icraft::xir::Conv2d: " },
    { "%y = twin::Conv(%x, @w : fp32 HWIO [3,3,4,6] = splat 1) {groups=0}", XIR_E_BOUNDS, "/ops/1/groups",
      "twin::Conv: part %c: icraft::xir::Conv2d: " },
    { "%y = twin::Conv(%x, @w : fp32 HWIO [3,3,4,6] = splat 1, _, @r : fp32 NHWC [1,5,5,6] = splat 1)", XIR_E_INVALID,
      "/ops/1/inputs/3", "twin::Conv: part %s: icraft::xir::Add: " },
    { "%y = twin::Block(%x, @w : fp32 HWIO [3,3,5,6] = splat 1)", XIR_E_INVALID, "/ops/1/inputs/1",
      "twin::Block: part %c: twin::Conv: part %c: icraft::xir::Conv2d: " },
    { "%y = twin::ChannelShuffle(%x) {groups=3}", XIR_E_BOUNDS, "/ops/1/groups",
      "twin::ChannelShuffle: part %i: icraft::xir::Reshape: " },
    { "%y = twin::Plus(@i : int64 [2] = [1,2]) {n=9007199254740993}", XIR_E_TYPE, "/ops/1/inputs/0",
      "twin::Plus: part %output: icraft::xir::Add: the number 9007199254740993 has more than the 53 bits of a constant" },
    { "%y = twin::Plus(@i : int8 [2] = [1,2]) {n=128}", XIR_E_TYPE, "/ops/1/inputs/0",
      "twin::Plus: part %output: icraft::xir::Add: the number 128 does not fit the elements of the first value that it reads" },
    { "%y = twin::GELU(@i : int32 [2] = [1,2])", XIR_E_TYPE, "/ops/1/inputs/0", "twin::GELU: part %d: icraft::xir::DivideScalar: " },
};

static void findings_name_the_op_and_its_part(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(findings); i++) {
        char text[500];
        snprintf(text, sizeof text, "%s%s : none\nOutput(%%y)\n", HEAD, findings[i].op);
        xir_network *net = net_of_text(text);
        xir_diags_clear(why);
        const xir_status status = xir_network_infer(net, why);
        const xir_diag *d = xir_diags_at(why, 0);
        assert_non_null(d);
        if (status != findings[i].status || !xir_str_equal(d->path, xir_str_of(findings[i].path)) ||
            d->message.size < strlen(findings[i].message) ||
            memcmp(d->message.data, findings[i].message, strlen(findings[i].message)) != 0)
            fail_msg("%s: %s at %.*s: %.*s", findings[i].op, xir_status_name(status), (int)d->path.size, d->path.data,
                     (int)d->message.size, d->message.data);
        xir_network_free(net);
    }
    xir_diags_clear(why);
}

/* A finding of a run does, too. */
static void a_part_that_fails_is_named(void **state) {
    (void)state;
    xir_network *net = net_of_text(forms[1].whole);
    xir_array *x = xir_array_random(ctx, FP32("NHWC", 1, 8, 8, 4), 1, why), *y = NULL;
    xir_diags_clear(why);
    const xir_status status = xir_network_run(net, (const xir_array *const *)&x, 1, &y, 1,
                                              &XIR_INIT(xir_run_options, .max_work = 1000), why);
    assert_int_equal(status, XIR_E_LIMIT);
    const xir_diag *d = xir_diags_at(why, 0);
    assert_non_null(d);
    if (!strstr(d->message.data, "part icraft::xir::Conv2d 'c'")) fail_msg("%s", d->message.data);
    xir_array_free(x);
    xir_network_free(net);
    xir_diags_clear(why);
}

/* ---- rows that follow ------------------------------------------------------------------------------------------- */

static const composition *composition_of(const xir_class_decl *decl) {
    return xir_class_find_decl(ctx, decl)->more->composed;
}

static void rows_follow_from_the_parts(void **state) {
    (void)state;
    const class_shares conv = compose_shares(composition_of(xir_twin_conv_class()));
    assert_int_equal(conv.kind, SHARES_OVER);
    assert_int_equal(conv.inputs, 1u << 3);
    assert_int_equal(compose_shares(composition_of(xir_twin_silu_class())).inputs, 1);
    assert_int_equal(compose_shares(composition_of(xir_twin_layer_norm_class())).kind, SHARES_NOTHING);
    assert_int_equal(compose_shares(composition_of(xir_twin_channel_shuffle_class())).kind, SHARES_NOTHING);
    assert_int_equal(compose_shares(composition_of(xir_twin_conv_bn_class())).kind, SHARES_NOTHING);
}

static void the_cost_is_that_of_the_parts(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(forms); i++) {
        xir_network *whole = net_of_text(forms[i].whole), *parts = net_of_text(forms[i].whole);
        xir_cost one = XIR_INIT(xir_cost), other = XIR_INIT(xir_cost);
        pass(parts, "to-parts");
        DOES(xir_network_cost(whole, &one, NULL, why));
        DOES(xir_network_cost(parts, &other, NULL, why));
        assert_int_equal(one.multiply_adds, other.multiply_adds);
        assert_int_equal(one.element_ops, other.element_ops);
        xir_network_free(whole);
        xir_network_free(parts);
    }
}

/* The numbers that a part takes are those that the input takes. */
static void inputs_take_what_the_parts_take(void **state) {
    (void)state;
    static const xir_row rows[] = {
        { .decl = XIR_DECL_OP, .name = "twin::LogOfDouble", .doc = "" },
        { .decl = XIR_DECL_IN, .name = "x", .doc = "" },
        { .decl = XIR_DECL_OUT, .name = "y", .doc = "" },
        { .decl = XIR_DECL_COMPOSED, .doc = "%t = Reshape(%x){shape=[-1], layout=@layout(*)}; %y = Log(%t)" },
        { .decl = XIR_DECL_END },
    };
    static const xir_class_decl decl = { XIR_ABI, sizeof decl, sizeof(xir_row), rows };
    DOES(xir_class_register(ctx, &decl, why));
    xir_network *net = net_of_text(HEAD "%y = twin::LogOfDouble(%x) : fp32 [256]\nOutput(%y)\n");
    xir_numbers range = XIR_INIT(xir_numbers);
    DOES(xir_network_input_numbers(net, &range, 1, why));
    assert_true(range.low > 0);
    xir_network_free(net);
}

/* ---- memory ----------------------------------------------------------------------------------------------------- */

static xir_status register_scarcely(want *w) {
    xir_status status = XIR_OK;
    for (size_t i = 0; i < COUNT(twins) && !status; i++) status = xir_class_register(w->ctx, twins[i](), w->why);
    return status;
}

static void a_composed_class(want *w) {
    static const int64_t axis[] = { 3 };
    xir_network *net = NULL;
    TRY(w, register_scarcely(w));
    TRY_MAKE(w, net, xir_network_new(w->ctx, "n", XIR_FRAMEWORK_PYTORCH, "1"));
    w->net = net;
    xir_context *own = w->ctx;
    const xir_type *type = NULL;
    TRY_MAKE(w, type, XIR_TENSOR(own, xir_type_float(own, XIR_FLOAT_FP32), "NHWC", 1, 2, 2, 4));
    xir_value *x = NULL, *y = NULL;
    TRY_MAKE(w, x, xir_input(xir_at_end(net), "x", type));
    xir_twin_layer_norm_attrs a = xir_twin_layer_norm_init();
    a.axis = (xir_i64s){ axis, 1 };
    TRY_MAKE(w, y, XIR_OP(xir_at_end(net), twin_layer_norm, .input = x, .attrs = &a));
    xir_array *in = NULL, *out = NULL;
    TRY_MAKE(w, in, xir_array_random(own, type, 1, w->why));
    const xir_array *given = in;
    TRY(w, xir_op_run(xir_value_op(y), &given, 1, &out, 1, NULL, w->why));
    xir_array_free(in);
    xir_array_free(out);
    w->net = NULL;
    xir_network_free(net);
}

static void memory_runs_out(void **state) {
    (void)state;
    run_scarcely("a composed class", a_composed_class, false);
}

static int begin_group(void **state) {
    const int bad = group_begin(state);
    if (!bad) register_twins(ctx);
    return bad;
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(twins_have_the_types_of_the_classes),
        cmocka_unit_test(twins_compute_the_numbers_of_the_classes),
        cmocka_unit_test(parts_compute_the_same_bits_and_are_found_again),
        cmocka_unit_test(what_is_not_the_class_is_not_found),
        cmocka_unit_test(findings_name_the_op_and_its_part),
        cmocka_unit_test(a_part_that_fails_is_named),
        cmocka_unit_test(rows_follow_from_the_parts),
        cmocka_unit_test(the_cost_is_that_of_the_parts),
        cmocka_unit_test(inputs_take_what_the_parts_take),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, begin_group, group_end);
}
