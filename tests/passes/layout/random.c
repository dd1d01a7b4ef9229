/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* layout: random networks of all classes with a row and some without, with Transposes anywhere. Their results stay the
 * same, a second run of the pass changes nothing, and the number of Transposes never grows. */
#include "support/nchw.h"
#include "support/often.h"
#include "support/path_rule.h"
#include <stdio.h>

enum { MOST_VALUES = 40, NETWORKS = OFTEN(1000) };

typedef struct pool { xir_network *net; xir_value *values[MOST_VALUES]; size_t n; } pool;

static int64_t dim(const xir_value *v, int64_t i) { return xir_type_dim(xir_value_type(v), i, false); }
static size_t  rank(const xir_value *v)           { return xir_type_rank(xir_value_type(v)); }
static int64_t elements(const xir_value *v) {
    int64_t n = 0;
    xir_type_elements(xir_value_type(v), &n);
    return n;
}

static xir_value *first(xir_op *op) { return op ? xir_op_output(op, 0) : NULL; }
static xir_at end(const pool *p)    { return xir_at_end(p->net); }

static void keep(pool *p, xir_value *v) {
    if (!v) {
        xir_diags_print(xir_network_diags(p->net), stderr);
        fail();
    }
    if (p->n < MOST_VALUES && elements(v) < 4000 && rank(v) <= 6) p->values[p->n++] = v;
}

/* A value, usually a recent one. */
static xir_value *any(const pool *p) {
    size_t late = p->n < 4 ? p->n : 4;
    return p->values[chance(3) ? p->n - 1 - chance(late) : chance(p->n)];
}

static xir_value *any_map(const pool *p) {
    for (int i = 0; i < 20; i++) {
        xir_value *v = any(p);
        if (rank(v) == 4) return v;
    }
    return p->values[0];
}

/* A value with the same dims as another one, except for one axis unless that is -1. */
static xir_value *one_like(const pool *p, const xir_value *v, int64_t but) {
    for (int i = 0; i < 20; i++) {
        xir_value *w = any(p);
        bool same = rank(w) == rank(v);
        for (int64_t k = 0; same && k < (int64_t)rank(v); k++) same = k == but || dim(v, k) == dim(w, k);
        if (same) return w;
    }
    return NULL;
}

static xir_value *turned(const pool *p, xir_value *v) {
    int64_t dims[8];
    size_t n = rank(v);
    (void)p;
    for (size_t i = 0; i < n; i++) dims[i] = (int64_t)i;
    if (n == 4 && chance(2)) return chance(2) ? (v) : channels_first(v);
    for (size_t i = n; i > 1; i--) {
        size_t k = chance(i);
        int64_t was = dims[i - 1];
        dims[i - 1] = dims[k];
        dims[k] = was;
    }
    return nchw_transpose(v, NULL, dims, n);
}

/* Neighbouring dims merged, or one split. */
static xir_value *reshaped(const pool *p, xir_value *v) {
    int64_t dims[9];
    size_t n = rank(v), m = 0, at = chance(n ? n : 1);
    bool split = chance(2);
    (void)p;
    for (size_t i = 0; i < n; i++) {
        int64_t d = dim(v, (int64_t)i);
        if (split && i == at && n < 6) {
            int64_t part = d % 3 == 0 ? 3 : d % 2 == 0 ? 2 : 1;
            dims[m++] = part;
            dims[m++] = d / part;
        } else if (!split && i == at && i + 1 < n) {
            dims[m++] = d * dim(v, (int64_t)++i);
        } else {
            dims[m++] = d;
        }
    }
    return reshape_of(v, "reshaped", dims, m);
}

static xir_value *with_constant(const pool *p, xir_value *v) {
    int64_t dims[8];
    size_t n = rank(v), m = chance(n + 1);
    for (size_t i = 0; i < m; i++) dims[i] = chance(2) ? 1 : dim(v, (int64_t)(n - m + i));
    xir_value *k = nchw_params(p->net, "k", NULL, dims, m);
    return chance(2) ? first(xir_add_add(end(p), (xir_add_in){ v, k }, NULL))
           : first(xir_add_multiply(end(p), (xir_multiply_in){ k, v }, NULL));
}

static xir_value *sliced(const pool *p, xir_value *v) {
    int64_t begin[8], stop[8], stride[8];
    for (size_t i = 0; i < rank(v); i++) {
        int64_t d = dim(v, (int64_t)i);
        begin[i] = 0, stop[i] = d, stride[i] = 1;
        if (chance(3) || d < 2) continue;
        if (chance(3) == 0) begin[i] = -1, stop[i] = -d - 1, stride[i] = -1;
        else if (chance(2)) begin[i] = 1;
        else stride[i] = 2;
    }
    xir_slice_attrs a = xir_slice_init();
    a.begin = (xir_i64s){ begin, rank(v) };
    a.end = (xir_i64s){ stop, rank(v) };
    a.stride = (xir_i64s){ stride, rank(v) };
    return first(xir_add_slice(end(p), (xir_slice_in){ v }, &a));
}

static xir_value *padded(const pool *p, xir_value *v) {
    int64_t pads[16];
    for (size_t i = 0; i < 2 * rank(v); i++) pads[i] = chance(4) ? 0 : 1;
    xir_pad_attrs a = xir_pad_init();
    a.padding = (xir_i64s){ pads, 2 * rank(v) };
    return first(xir_add_pad(end(p), (xir_pad_in){ v }, &a));
}

static xir_value *reduced(const pool *p, xir_value *v) {
    int64_t axes[8];
    size_t n = 0;
    for (size_t i = 0; i < rank(v); i++) {
        if (chance(3) == 0) axes[n++] = chance(2) ? (int64_t)i : (int64_t)i - (int64_t)rank(v);
    }
    bool kept = chance(2);
    if (chance(4) == 0) {
        xir_max_attrs a = xir_max_init();
        a.dim = (const xir_int_imm *)xir_scalar_int(ctx, (int64_t)chance(rank(v)));
        a.keepdim = kept;
        return first(xir_add_max(end(p), (xir_max_in){ v }, &a));
    }
    xir_mean_attrs a = xir_mean_init();
    a.dim = (xir_i64s){ axes, n };
    a.keepdim = kept;
    return first(xir_add_mean(end(p), (xir_mean_in){ v }, &a));
}

static xir_value *along(const pool *p, xir_value *v) {
    int64_t axis = (int64_t)chance(rank(v));
    if (chance(2)) {
        xir_softmax_attrs a = xir_softmax_init();
        a.axis = axis;
        return first(xir_add_softmax(end(p), (xir_softmax_in){ v }, &a));
    }
    xir_cum_sum_attrs a = xir_cum_sum_init();
    a.axis = chance(2) ? axis : axis - (int64_t)rank(v);
    return first(xir_add_cum_sum(end(p), (xir_cum_sum_in){ v }, &a));
}

static void split(pool *p, xir_value *v) {
    int64_t axis = (int64_t)chance(rank(v)), d = dim(v, axis), sections[2] = { d / 2, d - d / 2 };
    if (d < 2) return;
    xir_split_attrs a = xir_split_init();
    a.axis = axis;
    a.sections = (xir_i64s){ sections, 2 };
    xir_op *op = xir_add_split(end(p), (xir_split_in){ v }, &a);
    keep(p, first(op));
    keep(p, xir_op_output(op, 1));
}

static void unstack(pool *p, xir_value *v) {
    int64_t axis = (int64_t)chance(rank(v)), d = dim(v, axis);
    if (d > 4) return;
    xir_unstack_attrs a = xir_unstack_init();
    a.dim = axis;
    xir_op *op = xir_add_unstack(end(p), (xir_unstack_in){ v }, &a);
    for (int64_t i = 0; i < d; i++) keep(p, xir_op_output(op, i));
}

static xir_value *gathered(const pool *p, xir_value *v) {
    static const int64_t at[] = { 0, -1, 0, 0 }, two_by_two[] = { 2, 2 };
    size_t n = chance(3);
    const xir_type *type = xir_type_tensor(ctx, xir_type_sint(ctx, 64), NULL, two_by_two, n);
    xir_value *i = constant(p->net, "i", type, at, n == 2 ? 32 : n == 1 ? 16 : 8);
    xir_gather_attrs a = xir_gather_init();
    a.axis = (int64_t)chance(rank(v));
    return first(xir_add_gather(end(p), (xir_gather_in){ v, i }, &a));
}

static xir_value *stacked(const pool *p, xir_value *v) {
    xir_value *w = one_like(p, v, -1);
    xir_stack_attrs a = xir_stack_init();
    a.dim = (int64_t)chance(rank(v) + 1);
    return rank(v) < 6 ? first(xir_add_stack(end(p), (xir_stack_in){ XIR_VALUES(v, w ? w : v) }, &a)) : v;
}

static xir_value *joined(const pool *p, xir_value *v) {
    int64_t axis = (int64_t)chance(rank(v));
    xir_value *w = one_like(p, v, axis);
    xir_concat_attrs a = xir_concat_init();
    a.axis = axis == (int64_t)rank(v) - 1 && chance(2) ? -1 : axis;
    return first(xir_add_concat(end(p), (xir_concat_in){ XIR_VALUES(v, w ? w : v) }, &a));
}

static xir_value *normed(const pool *p, xir_value *v) {
    xir_layer_norm_attrs a = xir_layer_norm_init();
    int64_t axis = (int64_t)chance(rank(v));
    a.axis = (xir_i64s){ &axis, 1 };
    a.gamma = nchw_params(p->net, "g", NULL, (const int64_t[]){ dim(v, axis) }, 1);
    return first(xir_add_layer_norm(end(p), (xir_layer_norm_in){ v }, &a));
}

/* A map that is flattened, multiplied, and reshaped to a map again, with elementwise functions and constants
 * between. */
static xir_value *through_a_product(const pool *p, xir_value *m) {
    int64_t batch = dim(m, 0), channels = 1 + (int64_t)chance(3);
    xir_value *v = reshape_of(m, "flat", (const int64_t[]){ batch, elements(m) / batch }, 2);
    if (chance(2)) v = relu_of(v, "r");
    if (chance(3) == 0) v = with_constant(p, v);
    v = matmul_of(v, channels * 12, "fc");
    if (chance(2)) v = with_constant(p, v);
    if (chance(3) == 0) v = sigmoid_of(v, "s");
    return chance(4) ? reshape_of(v, "map", (const int64_t[]){ batch, channels, 3, 4 }, 4) : v;
}

static void grow(pool *p) {
    char name[32];
    snprintf(name, sizeof name, "v%zu", p->n);
    xir_value *v = any(p), *m = any_map(p), *w;
    bool ranked = rank(v) > 0;
    if (!ranked) v = m;
    switch (chance(25)) {
    case 0: case 1: case 2: case 3:
        keep(p, nchw_conv(m, 1 + (int64_t)chance(5), chance(2) ? 1 : 3, name));
        break;
    case 4:  if (dim(m, 2) > 1 && dim(m, 3) > 1) keep(p, nchw_pool(m, name)); break;
    case 5:  keep(p, multiply_of(m, nchw_global_pool(m, "g"), name)); break;
    case 6:  keep(p, nchw_upsample(m, 4, 5, name)); break;
    case 7:  keep(p, nchw_batch_norm(m, name)); break;
    case 8: case 9: keep(p, named(turned(p, v), name)); break;
    case 10: keep(p, named(turned(p, turned(p, v)), name)); break;
    case 11: keep(p, reshaped(p, v)); break;
    case 12: keep(p, with_constant(p, v)); break;
    case 13: keep(p, sliced(p, v)); break;
    case 14: keep(p, padded(p, v)); break;
    case 15: keep(p, reduced(p, v)); break;
    case 16: keep(p, along(p, v)); break;
    case 17: split(p, v); break;
    case 18: chance(2) ? unstack(p, v) : keep(p, stacked(p, v)); break;
    case 19: keep(p, gathered(p, v)); break;
    case 20: keep(p, joined(p, v)); break;
    case 21: keep(p, normed(p, v)); break;
    case 23: keep(p, through_a_product(p, m)); break;
    case 22: if (rank(v) >= 2) keep(p, matmul_of(v, 1 + (int64_t)chance(4), name)); break;
    default:
        w = one_like(p, v, -1);
        keep(p, w && w != v ? add_of(v, w, name) : relu_of(v, name));
        break;
    }
}

static pool some_network(void) {
    pool p = { .n = 0 };
    p.values[p.n++] = NCHW_BEGIN(&p.net, 2, 3, 4, 5);
    size_t size = 4 + chance(20);
    while (p.n < size) grow(&p);
    xir_value *y = p.values[p.n - 1], *z = any(&p);
    if (y == p.values[0]) y = relu_of(y, "r");
    if (z == p.values[0] || z == y) z = sigmoid_of(y, "s");
    NCHW_END(named(y, "first"), named(z, "second"));
    return p;
}

static void random_networks_compute_the_same(void **state) {
    (void)state;
    size_t before = 0, after = 0, changed = 0;
    for (int i = 0; i < NETWORKS; i++) {
        pool p = some_network();
        size_t had = TRANSPOSES(p.net);
        path_counts paths = { 0 };
        xir_network *was = xir_network_clone(p.net);
        xir_provenance *made_of = xir_provenance_new(p.net, why);
        size_t n = prove_pass(p.net, "layout", NULL, 1e-5, "the network of this number", i);
        if (TRANSPOSES(p.net) > had) fail_msg("network %d: %zu transposes, %zu before", i, TRANSPOSES(p.net), had);
        after += TRANSPOSES(p.net);
        if (i % 4 == 0) prove_pass(p.net, "layout", "to=nchw", 1e-5, "channels first, the network of this number", i);
        const char *broken = broken_path(made_of, was, &paths);
        if (broken) fail_msg("network %d: %s", i, broken);
        assert_int_equal(paths.named, paths.ops);
        xir_provenance_free(made_of);
        xir_network_free(was);
        before += had;
        changed += n > 0;
        xir_network_free(p.net);
    }
    assert_true(changed > NETWORKS / 2);
    assert_true(after < before * 2 / 3);
}

/* ---- broken networks -------------------------------------------------------------------------------------------- */

static xir_value *other_value(xir_network *net) {
    xir_op *op = xir_network_op_at(net, (int64_t)chance(xir_network_op_count(net)));
    return op && xir_op_output_count(op) ? xir_op_output(op, (int64_t)chance(xir_op_output_count(op))) : NULL;
}

static const xir_type *other_type(void) {
    static const char *const letters[] = { NULL, NULL, "NHWC", "NCHW", "NC", "NCHWc2", "C", "***C" };
    int64_t dims[10];
    size_t n = chance(10);
    for (size_t i = 0; i < n; i++) dims[i] = chance(8) ? 1 + (int64_t)chance(4) : chance(2) ? -1 : 0;
    const xir_layout *layout = chance(3) ? NULL : xir_layout_parse(ctx, xir_str_of(letters[2 + chance(6)]), NULL);
    return chance(30) ? xir_type_tensor(ctx, xir_type_float(ctx, XIR_FLOAT_FP32), layout, dims, n) : chance(2)
           ? xir_type_sint(ctx, 8) : NULL;
}

/* Replaces an attribute, an input or a type; refusals are ignored. */
static void spoil(xir_network *net) {
    xir_op *op = xir_network_op_at(net, (int64_t)chance(xir_network_op_count(net)));
    size_t n_in = xir_op_input_count(op), n_fields = xir_class_field_count(xir_op_class(op));
    int64_t list[12];
    for (size_t i = 0; i < 12; i++) list[i] = (int64_t)chance(12) - 3;
    switch (chance(6)) {
    case 0:
        if (n_in) xir_op_set_input(op, chance(n_in), chance(4) ? other_value(net) : NULL);
        break;
    case 1:
        if (n_in && chance(2)) xir_op_remove_input(op, chance(n_in));
        else if (other_value(net)) xir_op_add_input(op, other_value(net));
        break;
    case 2: {
        xir_value *v = n_in && chance(2) ? xir_op_input(op, (int64_t)chance(n_in)) : other_value(net);
        if (v) xir_value_set_type(v, other_type());
        break;
    }
    default: {
        if (!n_fields) break;
        const xir_field *field = xir_class_field_at(xir_op_class(op), chance(n_fields));
        if (field->kind == XIR_KIND_I64)
            xir_op_set(op, field->name, &(xir_attr){ .kind = XIR_KIND_I64, .as.i64 = list[0] });
        if (field->kind == XIR_KIND_BOOL)
            xir_op_set(op, field->name, &(xir_attr){ .kind = XIR_KIND_BOOL, .as.boolean = list[0] & 1 });
        if (field->kind == XIR_KIND_I64S) {
            xir_op_set(op, field->name, &(xir_attr){ .kind = XIR_KIND_I64S, .as.i64s = { list, chance(12) } });
        }
        break;
    }
    }
}

static void broken_networks_stay_consistent(void **state) {
    (void)state;
    for (int i = 0; i < NETWORKS; i++) {
        pool p = some_network();
        for (size_t n = 1 + chance(4); n > 0; n--) spoil(p.net);
        xir_network_clear_status(p.net);
        xir_pass_run(p.net, "layout", chance(2) ? NULL : chance(2) ? "io=nhwc" : "to=nchw", NULL, why);
        check_sound(p.net, "the broken network of this number", i);
        xir_diags_clear(why);
        xir_network_free(p.net);
    }
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_networks_compute_the_same),
        cmocka_unit_test(broken_networks_stay_consistent),
    };
    return RUN_GROUP(tests);
}
