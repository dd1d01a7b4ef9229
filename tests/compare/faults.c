/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Planted faults: one op of a network is made wrong, and the comparison with the right network must name it. Ten
 * networks; four of them are compared with a form that has its channels last, two are quantised. A fault is drawn until
 * it changes the value of its own op, computed by running the network with and without it. With XIR_FAULTS=N in the
 * environment there are N faults of each kind. */
#include <math.h>
#include <stdio.h>
#include "support/nchw.h"
#include "support/quantiser.h"
#include "support/story.h"

/* ---- networks ---------------------------------------------------------------------------------------------------- */

typedef struct subject {
    xir_network    *a, *b;        /* the right network, and what is to be made wrong: another form of it */
    xir_provenance *p;            /* of b; NULL: it is a copy                                            */
    xir_array      *in[4];
    size_t          n_in;
} subject;

static void draw_inputs(subject *s) {
    xir_value *inputs[4];
    s->n_in = xir_network_inputs(s->a, inputs, 4);
    for (size_t i = 0; i < s->n_in && !s->in[i]; i++) {
        s->in[i] = xir_array_random(ctx, xir_value_type(inputs[i]), 11 + i, why);
        assert_non_null(s->in[i]);
    }
}

/* Channels first, and the same after the pass layout. */
static subject moved(xir_network *net) {
    subject s = { .a = net, .b = xir_network_clone(net) };
    s.p = xir_provenance_new(s.b, why);
    assert_non_null(s.p);
    DOES(xir_pass_run(s.b, "layout", NULL, NULL, why));
    draw_inputs(&s);
    return s;
}

static subject copied(const char *story) {
    subject s = { .a = story_net(story) };
    s.b = xir_network_clone(s.a);
    draw_inputs(&s);
    return s;
}

static subject quantised_of(const char *story) {
    const quantiser how = { .per_channel = false, .bits = 8, .constants = false };
    quantised q = quantise_story(story, &how);
    subject s = { .a = xir_network_clone(q.net), .b = xir_network_clone(q.net), .n_in = q.n_in };
    for (size_t i = 0; i < q.n_in; i++) s.in[i] = xir_array_retain(q.quantised[i]);
    quantised_free(&q);
    return s;
}

static subject plain_convs(void) {
    xir_network *net;
    xir_value *x = NCHW_BEGIN(&net, 1, 3, 12, 12);
    x = relu_of(nchw_conv(x, 8, 3, "c1"), "r1");
    x = relu_of(nchw_conv(nchw_pool(x, "p1"), 8, 3, "c2"), "r2");
    x = sigmoid_of(nchw_conv(x, 4, 1, "c3"), "s3");
    NCHW_END(x);
    return moved(net);
}

static subject residual(void) {
    xir_network *net;
    xir_value *x = NCHW_BEGIN(&net, 1, 4, 10, 10), *y;
    x = relu_of(nchw_conv(x, 6, 1, "c1"), "r1");
    y = nchw_batch_norm(nchw_conv(x, 6, 1, "c2"), "n2");
    x = relu_of(add_of(x, y, "a"), "r2");
    NCHW_END(nchw_global_pool(x, "g"));
    return moved(net);
}

static subject gated(void) {
    xir_network *net;
    xir_value *x = NCHW_BEGIN(&net, 1, 4, 8, 8), *y;
    x = nchw_conv(x, 6, 3, "c1");
    y = sigmoid_of(nchw_conv(x, 6, 1, "c2"), "s");
    x = multiply_of(x, y, "m");
    NCHW_END(concat_of(XIR_VALUES(x, y), 1, "j"));
    return moved(net);
}

static subject upsampled(void) {
    xir_network *net;
    xir_value *x = NCHW_BEGIN(&net, 1, 3, 8, 8), *y;
    x = relu_of(nchw_conv(x, 5, 3, "c1"), "r1");
    y = relu_of(nchw_conv(nchw_pool(x, "p"), 5, 1, "c2"), "r2");
    y = nchw_upsample(y, 8, 8, "u");
    NCHW_END(nchw_conv(add_of(x, y, "a"), 2, 1, "c3"));
    return moved(net);
}

static const char *const stories[] = {
    /* windows, as a detector has them */
    "x: NHWC 1 9 9 4; w: params HWIO 3 3 4 6; v: params HWIO 1 1 6 6; c = Conv2d x w; r = ReLU c; p = MaxPool2d r "
    "[pool_height=2 pool_width=2]; d = Conv2d p v; e = Tanh d; f = Floor d; s = Add e f [alpha=2]; out s",
    /* products, as a transformer has them */
    "x: fp32 6 6; w: params 6 6; v: params 6 6; q = Matmul x w; k = Matmul x v; m = Matmul q k; s = Softmax m; "
    "o = Matmul s k; r = Add o x [beta=0.5]; n = Round r; g = Sigmoid r; y = Add g n [beta=0.25]; out y",
    /* elements */
    "x: fp32 2 8; y: fp32 2 8; a = Add x y [alpha=3]; b = Ceil a; c = Maximum x b; d = Div c y; e = Add b a [alpha=0.5]; "
    "f = Exp x; g = Floor e; h = Add g f [beta=2]; out h d",
    /* moves */
    "x: fp32 4 4 4; w: params 4 4; t = Transpose x [dims=0,2,1 layout=@layout(***)]; m = Matmul t w; u = Transpose m [dims=2,1,0 layout=@layout(***)]; a = Add u x "
    "[beta=2]; r = Round a; v = Transpose a [dims=1,0,2 layout=@layout(***)]; s = Sign v; y = Add v r [alpha=0.5]; out y s",
};

static const char *const quantised_stories[] = {
    "x: NHWC 1 6 6 4; w: params HWIO 3 3 4 5; c = Conv2d x w; r = ReLU c; a = Add r c; out a",
    "x: NHWC 1 6 6 3; w: params HWIO 1 1 3 6; v: params HWIO 3 3 6 4; c = Conv2d x w; s = Sigmoid c; d = Conv2d s v; out d",
};

enum { SUBJECTS = 10 };
static subject subject_of(size_t i) {
    switch (i) {
    case 0: return plain_convs();
    case 1: return residual();
    case 2: return gated();
    case 3: return upsampled();
    case 4: case 5: case 6: case 7: return copied(stories[i - 4]);
    default: return quantised_of(quantised_stories[i - 8]);
    }
}

static void subject_free(subject *s) {
    for (size_t i = 0; i < s->n_in; i++) xir_array_free(s->in[i]);
    xir_provenance_free(s->p);
    xir_network_free(s->a);
    xir_network_free(s->b);
}

/* ---- faults ------------------------------------------------------------------------------------------------------ */

/* Makes an op wrong; false: this op cannot be, in this way. */
typedef bool plant_fn(xir_op *op);

static bool plant_stride(xir_op *op) {
    const char *const names[] = { "stride_height", "stride_width", "stride" };
    const char *name = names[chance(3)];
    int64_t stride;
    return !xir_op_get_i64(op, name, &stride) && !xir_op_set_i64(op, name, stride == 1 ? 2 : 1);
}

static bool plant_swap(xir_op *op) {
    xir_value *a = xir_op_input(op, 0), *b = xir_op_input(op, 1);
    if (!a || !b || a == b || xir_value_is_params(a) || xir_value_is_params(b)) return false;
    return !xir_op_set_input(op, 0, b) && !xir_op_set_input(op, 1, a);
}

/* Own Params of the op that are floats, for writing. */
static float *own_floats(xir_op *op, xir_value **params, size_t *n) {
    const size_t i = xir_op_input_count(op) ? (size_t)chance(xir_op_input_count(op)) : 0;
    xir_value *v = xir_op_input(op, (int64_t)i);
    uint64_t bytes = 0;
    if (!v || !xir_value_is_params(v) || xir_value_use_count(v) != 1 ||
        !xir_type_equal(xir_type_element(xir_value_type(v)), xir_type_float(ctx, XIR_FLOAT_FP32))) return NULL;
    xir_params_data(v, &bytes);
    *params = v;
    *n = (size_t)bytes / sizeof(float);
    return xir_params_edit(v);
}

/* The scale of a quantised output, or all weights. */
static bool plant_scale(xir_op *op) {
    xir_value *out = xir_op_output(op, 0), *params;
    const xir_type *type = xir_value_type(out);
    size_t n;
    if (xir_type_is_quantized(xir_type_element(type))) {
        const xir_scales *was = xir_type_scale(type);
        double scale[64];
        const size_t count = xir_scales_count(was);
        for (size_t i = 0; i < count && i < 64; i++) scale[i] = xir_scales_at(was, i) / 8;
        const xir_scales *now = xir_scales_from(ctx, scale, count, xir_scales_axis(was));
        type = now ? xir_type_with_scale(ctx, type, now, NULL) : NULL;
        return type && !xir_value_set_type(out, type);
    }
    float *v = own_floats(op, &params, &n);
    for (size_t i = 0; v && i < n; i++) v[i] /= 8;
    return v != NULL;
}

static bool plant_weight(xir_op *op) {
    xir_value *params;
    size_t n;
    float *v = own_floats(op, &params, &n);
    if (v) v[chance(n)] += 3;
    return v != NULL;
}

/* The elements of weights in the order of other axes, or a Transpose to another one. */
static bool plant_layout(xir_op *op) {
    xir_value *params;
    xir_i64s dims;
    size_t n;
    if (!xir_op_get_i64s(op, "dims", &dims) && xir_op_is(op, xir_transpose_class()) && dims.size > 1) {
        int64_t now[8];
        const size_t i = (size_t)chance(dims.size - 1);
        memcpy(now, dims.data, dims.size * sizeof *now);
        now[i] = dims.data[i + 1];
        now[i + 1] = dims.data[i];
        return !xir_op_set_i64s(op, "dims", now, dims.size);
    }
    float *v = own_floats(op, &params, &n), was[1024];
    if (!v || xir_type_rank(xir_value_type(params)) < 2 || n > 1024) return false;
    const size_t last = (size_t)xir_type_dim(xir_value_type(params), -1, false), rows = n / last;
    memcpy(was, v, n * sizeof *was);
    for (size_t i = 0; i < n; i++) v[i % last * rows + i / last] = was[i];
    return true;
}

/* Floor, Ceil and Round in each other's place. */
static bool plant_rounding(xir_op *op) {
    const xir_class_decl *const kinds[] = { xir_floor_class(), xir_ceil_class(), xir_round_class() };
    xir_network *net = xir_op_network(op);
    size_t is = 0;
    while (is < 3 && !xir_op_is(op, kinds[is])) is++;
    if (is == 3) return false;
    const xir_op_desc desc = { .size = sizeof desc, .cls = xir_class_find_decl(ctx, kinds[(is + 1 + chance(2)) % 3]),
                               .id = XIR_NO_ID, INPUTS(xir_op_input(op, 0)), .name = xir_op_name(op) };
    xir_op *now = xir_op_new(net, &desc);
    const xir_str name = xir_value_name(xir_op_output(op, 0));
    return now && !xir_value_set_name(xir_op_output(now, 0), name) && !xir_network_replace_keep_uses(net, op, now);
}

/* A number of the op. */
static bool plant_attribute(xir_op *op) {
    const xir_class *cls = xir_op_class(op);
    const size_t n = xir_class_field_count(cls);
    const xir_field *f = n ? xir_class_field_at(cls, (size_t)chance(n)) : NULL;
    xir_attr v;
    if (!f || xir_op_get(op, f->name, &v) || v.is_null) return false;
    if (f->kind == XIR_KIND_REAL) v.as.real += 1.5;
    else if (f->kind == XIR_KIND_I64) v.as.i64 += 1;
    else if (f->kind == XIR_KIND_REF) v = (xir_attr){ .kind = XIR_KIND_REAL, .as.real = 2.5 };   /* a factor */
    else return false;
    return !xir_op_set(op, f->name, &v);
}

static bool plant_missing(xir_op *op) {
    xir_value *in = xir_op_input(op, 0), *out = xir_op_output(op, 0);
    if (!in || xir_value_is_params(in) || !xir_type_equal(xir_value_type(in), xir_value_type(out))) return false;
    return !xir_network_bypass(xir_op_network(op), &op, 1);
}

static const struct { const char *name; plant_fn *plant; } kinds[] = {
    { "a stride",          plant_stride },    { "swapped inputs",   plant_swap },
    { "a scale",           plant_scale },     { "one weight",       plant_weight },
    { "a wrong layout",    plant_layout },    { "a wrong rounding", plant_rounding },
    { "an attribute",      plant_attribute }, { "a missing op",     plant_missing },
};

/* ---- what a fault changes ---------------------------------------------------------------------------------------- */

/* Keeps the value with an id, or the inputs of the op that has taken its place. */
typedef struct keeping { int64_t id; xir_array *array; } keeping;

static bool keep(void *user, const xir_value *value, const xir_array *array) {
    keeping *k = user;
    if (xir_value_id(value) == k->id && !k->array) k->array = xir_array_retain((xir_array *)(uintptr_t)array);
    return true;
}

/* The array of a value of b, or of what is at its place in a network made from b; NULL if that cannot be run. */
static xir_array *array_of(const subject *s, const xir_network *net, int64_t id) {
    keeping k = { .id = id };
    xir_array *out[8] = { NULL };
    const size_t n = xir_network_outputs(net, NULL, 0);
    const xir_status status = xir_network_run(net, (const xir_array *const *)s->in, s->n_in, out, n,
                                              &XIR_INIT(xir_run_options, .watch = keep, .user = &k), why);
    for (size_t i = 0; i < n; i++) xir_array_free(out[i]);
    xir_diags_clear(why);
    if (!status) return k.array;
    xir_array_free(k.array);
    return NULL;
}

/* Returns true if an element of two values differs by more than twice the tolerance; dims of length 1 are ignored.
 * Returns false if one is NULL. */
static bool differ(const xir_array *a, const xir_array *b) {
    xir_difference d;
    if (!a || !b) return false;
    DOES(xir_array_compare(b, a, 2e-4, 2e-4, &d));
    if (d.same_shape || xir_array_count(a) != xir_array_count(b)) return !d.same_shape || d.count;
    for (size_t i = 0; i < xir_array_count(a); i++)
        if (fabs(xir_array_real(a, i) - xir_array_real(b, i)) > 2e-4 + 2e-4 * fabs(xir_array_real(a, i))) return true;
    return false;
}

static bool changes(const subject *s, const xir_network *wrong, int64_t of, int64_t at) {
    xir_array *right = array_of(s, s->b, of), *found = array_of(s, wrong, at);
    const bool differs = differ(right, found);
    xir_array_free(right);
    xir_array_free(found);
    return differs;
}

/* ---- drawing ----------------------------------------------------------------------------------------------------- */

typedef struct planted_fault {
    xir_network *net;         /* b with the fault                                      */
    int64_t      value;       /* of the first wrong value; -1 if its op is missing     */
    int64_t      was;         /* the value of the op in b                              */
} planted_fault;

static xir_op *same_op(const xir_network *net, const xir_op *op) { return xir_network_op_by_id(net, xir_op_id(op)); }

/* One attempt to make the op of b wrong in a copy. */
static bool plant(const subject *s, xir_op *of, size_t kind, planted_fault *f) {
    *f = (planted_fault){ .net = xir_network_clone(s->b), .value = -1 };
    xir_op *op = same_op(f->net, of);
    f->was = xir_value_id(xir_op_output(of, 0));
    const xir_str name = xir_value_name(xir_op_output(of, 0));
    xir_value *in = xir_op_input(op, 0);
    const int64_t source = in ? xir_value_id(in) : -1;
    bool planted = kinds[kind].plant(op) && !xir_network_infer(f->net, NULL);
    if (planted && kinds[kind].plant == plant_missing) {
        planted = changes(s, f->net, f->was, source);
    } else if (planted) {
        const xir_value *v = xir_network_value_by_id(f->net, f->was);
        if (!v) v = xir_network_value_by_name(f->net, name);   /* an op in its place */
        f->value = v ? xir_value_id(v) : -1;
        planted = v && changes(s, f->net, f->was, f->value);
    }
    xir_network_clear_status(f->net);
    if (!planted) xir_network_free(f->net);
    return planted;
}

/* Draws a network, an op and a way until the op's own value is wrong. */
static planted_fault draw(const subject *all, size_t kind, size_t *which) {
    planted_fault f;
    for (size_t tries = 0; tries < 20000; tries++) {
        *which = (size_t)chance(SUBJECTS);
        const subject *s = &all[*which];
        xir_op *op = xir_network_op_at(s->b, (int64_t)chance(xir_network_op_count(s->b)));
        if (op == xir_network_input_op(s->b) || op == xir_network_output_op(s->b) || !xir_op_output(op, 0)) continue;
        if (plant(s, op, kind, &f)) return f;
    }
    fail_msg("no fault of the kind '%s' can be drawn", kinds[kind].name);
    return f;
}

/* ---- finding ----------------------------------------------------------------------------------------------------- */

/* Returns true if an output of the op has this id. */
static bool makes(const xir_op *op, int64_t id) {
    for (size_t i = 0; i < xir_op_output_count(op); i++)
        if (xir_value_id(xir_op_output(op, (int64_t)i)) == id) return true;
    return false;
}

static bool is_right(const subject *s, const planted_fault *f, const xir_compare *c) {
    const xir_compare_pair *bad = xir_compare_first_bad(c);
    const xir_op *ops[16];
    if (!bad) return false;
    if (f->value >= 0) {
        const size_t n = xir_compare_ops(c, bad, true, ops, 16);
        for (size_t i = 0; i < n && i < 16; i++)
            if (makes(ops[i], f->value)) return true;
        return false;
    }
    /* the op is missing: among those that make the value in a, one stands for the op of b */
    const xir_value *was = xir_network_value_by_id(s->b, f->was);
    const size_t n = xir_compare_ops(c, bad, false, ops, 16);
    for (size_t i = 0; i < n && i < 16; i++) {
        if (!s->p && makes(ops[i], f->was)) return true;
        int64_t ids[8];
        size_t n_ids = 0;
        if (!s->p || xir_provenance_of_value(s->p, was, ids, 8, &n_ids)) continue;
        for (size_t k = 0; k < n_ids && k < 8; k++)
            if (ids[k] == xir_op_id(ops[i])) return true;
    }
    return false;
}

static xir_compare *compared(const subject *s, const xir_network *b) {
    xir_compare *c = xir_compare_new(s->a, b, NULL, why);
    if (!c) xir_diags_print(why, stderr);
    assert_non_null(c);
    if (xir_compare_run(c, (const xir_array *const *)s->in, s->n_in, why)) xir_diags_print(why, stderr);
    assert_int_equal(xir_diags_count_of(why, XIR_ERROR), 0);
    return c;
}

static void the_first_bad_value_is_that_of_the_fault(void **state) {
    subject all[SUBJECTS];
    const size_t each = getenv("XIR_FAULTS") ? strtoul(getenv("XIR_FAULTS"), NULL, 10) : 4;
    size_t right = 0, n = 0, of[SUBJECTS] = { 0 };
    (void)state;
    for (size_t i = 0; i < SUBJECTS; i++) {
        all[i] = subject_of(i);
        if (all[i].p) DOES(xir_provenance_write_tags(all[i].p));
        xir_compare *c = compared(&all[i], all[i].b);
        const xir_compare_pair *bad = xir_compare_first_bad(c);
        if (bad) fail_msg("network %zu: '%.*s' of the unchanged copy is bad: %g is expected, %g found", i,
                          XIR_ARG(xir_value_name(bad->a)), bad->expected, bad->found);
        assert_true(xir_compare_count(c) > 2);
        xir_compare_free(c);
    }
    for (size_t kind = 0; kind < COUNT(kinds); kind++) {
        for (size_t k = 0; k < each; k++, n++) {
            size_t which;
            planted_fault f = draw(all, kind, &which);
            xir_compare *c = compared(&all[which], f.net);
            const bool found = is_right(&all[which], &f, c);
            if (!found) {
                const xir_compare_pair *bad = xir_compare_first_bad(c);
                const xir_op *op = xir_value_op(xir_network_value_by_id(all[which].b, f.was));
                print_error("network %zu: %s in op %d '%.*s' is found in '%.*s'\n", which, kinds[kind].name,
                            (int)xir_op_id(op), XIR_ARG(xir_op_name(op)),
                            XIR_ARG(bad ? xir_value_name(bad->a) : XIR_STR("nothing")));
            }
            right += found;
            of[which]++;
            xir_compare_free(c);
            xir_network_free(f.net);
        }
    }
    print_message("%zu of %zu faults found where they are; by network:", right, n);
    for (size_t i = 0; i < SUBJECTS; i++) print_message(" %zu", of[i]);
    print_message("\n");
    for (size_t i = 0; i < SUBJECTS; i++) subject_free(&all[i]);
    assert_int_equal(right, n);
}

GROUP {
    const struct CMUnitTest tests[] = { cmocka_unit_test(the_first_bad_value_is_that_of_the_fault) };
    return RUN_GROUP(tests);
}
