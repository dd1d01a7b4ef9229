/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* layout: each class with its input in another order. Every story is a convolution, the op, and another convolution;
 * or, where the op's results are not maps, the results themselves. The op must work without a Transpose between,
 * with its axes at their new positions, and compute the same. */
#include "support/nchw.h"
#include "layout/layout.h"

static xir_network *of(const xir_value *x) { return xir_value_network(x); }
static xir_at end(const xir_value *x)      { return xir_at_end(of(x)); }

static xir_value *first(xir_op *op, const xir_value *x) {
    if (!op) xir_diags_print(xir_network_diags(of(x)), stderr);
    assert_non_null(op);
    return xir_op_output(op, 0);
}

/* Makes an op with the constructor of its class: MAKE(softmax, IN(x), a.axis = 1). */
#define IN(...) { __VA_ARGS__ }
#define MAKE(id, in_, ...)                                          \
    do {                                                            \
        xir_##id##_attrs a = xir_##id##_init();                     \
        __VA_ARGS__;                                                \
        return first(xir_add_##id(end(x), (xir_##id##_in)in_, &a), x); \
    } while (0)
#define PLAIN(id, in_) return first(xir_add_##id(end(x), (xir_##id##_in)in_, NULL), x)

static const xir_int_imm *imm(int64_t v) { return (const xir_int_imm *)xir_scalar_int(ctx, v); }
static xir_value *indices(const xir_value *x, const int64_t *data, const int64_t *dims, size_t rank) {
    const xir_type *type = xir_type_tensor(ctx, xir_type_sint(ctx, 64), NULL, dims, rank);
    int64_t n;
    assert_int_equal(xir_type_elements(type, &n), XIR_OK);
    return constant(of(x), "i", type, data, (size_t)n * sizeof *data);
}

/* ---- maps from maps: [2, 6, 4, 5], N C H W, to any map ---------------------------------------------------------- */

static xir_value *do_softmax(xir_value *x)      { MAKE(softmax, IN(x), a.axis = 1); }
static xir_value *do_softmax_last(xir_value *x) { MAKE(softmax, IN(x), a.axis = -1); }
static xir_value *do_log_softmax(xir_value *x)  { MAKE(log_softmax, IN(x), a.axis = -3); }
static xir_value *do_cum_sum(xir_value *x)      { MAKE(cum_sum, IN(x), a.axis = 2); }
static xir_value *do_normalize(xir_value *x)    { MAKE(normalize, IN(x), a.axis = LIST(1)); }
static xir_value *do_layer_norm(xir_value *x) {
    MAKE(layer_norm, IN(x), a.axis = LIST(2, 3); a.gamma = PARAMS(of(x), "g", NULL, 20); a.beta = PARAMS(of(x), "h", NULL, 20));
}
static xir_value *do_rms_norm(xir_value *x) {
    MAKE(rms_norm, IN(x), a.axis = LIST(-3); a.gamma = PARAMS(of(x), "g", NULL, 6));
}
static xir_value *do_swap_order(xir_value *x) {
    MAKE(swap_order, IN(x), a.axis = 1; a.order = LIST(5, 3, 1, 0, 2, 4));
}
static xir_value *do_roll(xir_value *x)         { MAKE(roll, IN(x), a.shifts = LIST(1, 2); a.dims = LIST(1, 3)); }
static xir_value *do_slice(xir_value *x) {
    MAKE(slice, IN(x), a.begin = LIST(0, 1, 0, 4); a.end = LIST(2, 6, 4, -6); a.stride = LIST(1, 2, 1, -1));
}
static xir_value *do_pad(xir_value *x)          { MAKE(pad, IN(x), a.padding = LIST(0, 0, 1, 2, 0, 3, -1, 0)); }
static xir_value *do_pad_mirrored(xir_value *x) {
    MAKE(pad, IN(x), a.padding = LIST(0, 0, 1, 2, 0, 3, 1, 1); a.mode = XIR_PAD_REFLECTION);
}
static xir_value *do_tile(xir_value *x)         { MAKE(tile, IN(x), a.dims = LIST(2, 1, 3)); }
static xir_value *do_expand(xir_value *x) {
    x = nchw_global_pool(x, "g");
    MAKE(expand, IN(x), a.sizes = LIST(2, -1, 3, 4));
}
static xir_value *do_concat(xir_value *x)        { MAKE(concat, IN(XIR_VALUES(x, relu_of(x, "r"))), a.axis = 1); }
static xir_value *do_concat_params(xir_value *x) {
    MAKE(concat, IN(XIR_VALUES(PARAMS(of(x), "k", NULL, 2, 6, 1, 5), x)), a.axis = 2);
}
static xir_value *do_split(xir_value *x) {
    xir_split_attrs a = xir_split_init();
    a.sections = LIST(2, 4);
    a.axis = -3;
    xir_op *op = xir_add_split(end(x), (xir_split_in){ x }, &a);
    assert_non_null(op);
    return concat_of(XIR_VALUES(xir_op_output(op, 1), xir_op_output(op, 0)), 1, "c");
}
static xir_value *do_gather(xir_value *x) {
    MAKE(gather, IN(x, indices(x, LIST(5, 0, 3, -1).data, LIST(4).data, 1)), a.axis = 1);
}
static xir_value *do_gather_elements(xir_value *x) {
    const xir_type *type = XIR_TENSOR(ctx, xir_type_sint(ctx, 64), "****", 2, 3, 4, 5);
    xir_array *i = xir_array_random(ctx, type, 1, why);
    int64_t *data = xir_array_edit(i);
    for (size_t k = 0; k < 120; k++) data[k] %= 6;
    xir_value *v = xir_params_from_array(of(x), XIR_STR("i"), i);
    xir_array_free(i);
    MAKE(gather_elements, IN(x, v), a.axis = 1);
}
static xir_value *do_top_k(xir_value *x) { MAKE(top_k, IN(x, indices(x, LIST(3).data, LIST(1).data, 1)), a.axis = 1); }
static xir_value *do_max_kept(xir_value *x)  { MAKE(max, IN(x), a.dim = imm(1); a.keepdim = true); }
static xir_value *do_mean_kept(xir_value *x) { MAKE(mean, IN(x), a.dim = LIST(2, -1); a.keepdim = true); }
static xir_value *do_cast(xir_value *x) {
    x = relu_of(x, "r");
    xir_cast_attrs a = xir_cast_init();
    const xir_type *half = XIR_TENSOR(ctx, xir_type_float(ctx, XIR_FLOAT_FP16), "****", 2, 6, 4, 5),
                    *single = FP32("****", 2, 6, 4, 5);
    a.target_dtype = xir_type_as_tensor(half);
    x = first(xir_add_cast(end(x), (xir_cast_in){ x }, &a), x);
    a.target_dtype = xir_type_as_tensor(single);
    return first(xir_add_cast(end(x), (xir_cast_in){ x }, &a), x);
}
static xir_value *do_prelu_one(xir_value *x)  { MAKE(prelu, IN(x), a.alpha = PARAMS(of(x), "alpha", NULL, 1)); }
static xir_value *do_copy(xir_value *x)       { PLAIN(copy, IN(x)); }
static xir_value *do_erf(xir_value *x)        { PLAIN(erf, IN(x)); }
static xir_value *do_clamp(xir_value *x)      { MAKE(clamp_scalar, IN(x), a.min = -0.5; a.max = 0.5); }

/* Constants are broadcast from the right: one with fewer dims may need more dims in another order. */
static xir_value *do_add_channels(xir_value *x)   { return add_of(x, PARAMS(of(x), "k", NULL, 6, 1, 1), "y"); }
static xir_value *do_add_rows(xir_value *x)       { return add_of(PARAMS(of(x), "k", NULL, 4, 1), x, "y"); }
static xir_value *do_add_columns(xir_value *x)    { return add_of(x, PARAMS(of(x), "k", NULL, 5), "y"); }
static xir_value *do_add_number(xir_value *x)     { return add_of(x, PARAMS(of(x), "k", NULL, 1), "y"); }
static xir_value *do_add_map(xir_value *x)        { return add_of(x, PARAMS(of(x), "k", NULL, 6, 4, 5), "y"); }
static xir_value *do_add_plane(xir_value *x)      { return add_of(x, PARAMS(of(x), "k", NULL, 1, 1, 4, 5), "y"); }
static xir_value *do_where(xir_value *x) {
    xir_value *c = first(xir_add_greater(end(x), (xir_greater_in){ x, PARAMS(of(x), "k", NULL, 6, 1, 1) }, NULL), x);
    PLAIN(where, IN(x, PARAMS(of(x), "other", NULL, 1, 5), c));
}
static xir_value *do_power(xir_value *x) { PLAIN(pow, IN(sigmoid_of(x, "s"), PARAMS(of(x), "e", NULL, 4, 5))); }
/* Computed maps may have fewer dims, too, if these are still the last ones. */
static xir_value *do_add_channels_computed(xir_value *x) {
    xir_mean_attrs m = xir_mean_init();
    m.dim = LIST(0);
    return add_of(x, first(xir_add_mean(end(x), (xir_mean_in){ x }, &m), x), "y");
}
static xir_value *do_stack_and_reduce(xir_value *x) {
    xir_stack_attrs b = xir_stack_init();
    b.dim = -1;
    xir_value *s = first(xir_add_stack(
        end(x), (xir_stack_in){ XIR_VALUES(x, relu_of(x, "r"), PARAMS(of(x), "k", NULL, 2, 6, 4, 5)) }, &b), x);
    MAKE(mean, IN(s), a.dim = LIST(4));
}
static xir_value *do_unstack_and_stack(xir_value *x) {
    xir_unstack_attrs u = xir_unstack_init();
    u.dim = 2;
    xir_op *op = xir_add_unstack(end(x), (xir_unstack_in){ x }, &u);
    assert_non_null(op);
    MAKE(stack, IN(XIR_VALUES(xir_op_output(op, 3), xir_op_output(op, 0))), a.dim = 2);
}
static xir_value *do_reshape_split(xir_value *x)  { return RESHAPE(RESHAPE(x, "s", 2, 6, 2, 2, 5), "y", 2, 6, 2, 10); }
static xir_value *do_reshape_ones(xir_value *x)   { return RESHAPE(RESHAPE(x, "s", 2, 1, 6, 4, 5), "y", 2, 6, 4, 5); }
static xir_value *do_pool_in_between(xir_value *x) { return nchw_pool(x, "y"); }

/* ---- other results ---------------------------------------------------------------------------------------------- */

static xir_value *do_argmax(xir_value *x)      { MAKE(argmax, IN(x), a.dim = imm(1)); }
static xir_value *do_argmax_all(xir_value *x)  { MAKE(argmax, IN(x), a.dim = NULL); }
static xir_value *do_max_rows(xir_value *x)    { MAKE(max, IN(x), a.dim = imm(2)); }
static xir_value *do_min_all(xir_value *x)     { MAKE(min, IN(x), a.dim = NULL); }
static xir_value *do_mean_pixels(xir_value *x) { MAKE(mean, IN(x), a.dim = LIST(2, 3)); }
static xir_value *do_squeeze(xir_value *x) {
    x = nchw_global_pool(x, "g");
    MAKE(squeeze, IN(x), a.axis = LIST(-1, 2));
}
static xir_value *do_squeeze_one(xir_value *x) {
    x = nchw_global_pool(x, "g");
    MAKE(squeeze, IN(x), a.axis = LIST(3));
}
static xir_value *do_gather_one(xir_value *x) {
    MAKE(gather, IN(x, indices(x, LIST(3).data, NULL, 0)), a.axis = 1);
}
static xir_value *do_gather_table(xir_value *x) {
    MAKE(gather, IN(x, indices(x, LIST(5, 0, 3, -1, 2, 2).data, LIST(2, 3).data, 2)), a.axis = 1);
}
static xir_value *do_unstack_channels(xir_value *x) {
    xir_unstack_attrs a = xir_unstack_init();
    a.dim = 1;
    return first(xir_add_unstack(end(x), (xir_unstack_in){ x }, &a), x);
}
static xir_value *do_roll_all(xir_value *x)    { MAKE(roll, IN(x), a.shifts = LIST(7)); }
static xir_value *do_layer_norm_mixed(xir_value *x) {
    MAKE(layer_norm, IN(x), a.axis = LIST(1, 2, 3); a.gamma = PARAMS(of(x), "g", NULL, 120));
}
static xir_value *do_columns(xir_value *x)     { return RESHAPE(x, "y", 2, 6, 20); }
static xir_value *do_mixed(xir_value *x)       { return RESHAPE(x, "y", 2, 24, 5); }
static xir_value *do_matmul(xir_value *x)      { return matmul_of(x, 3, "y"); }

typedef struct story {
    const char *name;
    xir_value *(*make)(xir_value *x);
    bool        map;
    size_t      transposes;   /* remaining ones, the input's included */
} story;

static const story stories[] = {
#define MAP(make)         { #make, do_##make, true, 2 }
#define RESULT(make, n)   { #make, do_##make, false, n }
    MAP(softmax), MAP(softmax_last), MAP(log_softmax), MAP(cum_sum), MAP(normalize), MAP(layer_norm), MAP(rms_norm), MAP(swap_order),
    MAP(roll), MAP(slice), MAP(pad), MAP(pad_mirrored), MAP(tile), MAP(expand), MAP(concat), MAP(concat_params), MAP(split),
    MAP(gather), MAP(gather_elements), MAP(top_k), MAP(max_kept), MAP(mean_kept), MAP(cast), MAP(prelu_one), MAP(copy), MAP(erf),
    MAP(clamp), MAP(add_channels), MAP(add_rows), MAP(add_columns), MAP(add_number), MAP(add_map), MAP(add_plane), MAP(where),
    MAP(power), MAP(add_channels_computed), MAP(stack_and_reduce), MAP(unstack_and_stack), MAP(reshape_split), MAP(reshape_ones),
    MAP(pool_in_between),
    RESULT(argmax, 1),         /* N H W, as before                                      */
    RESULT(argmax_all, 2),     /* counts the elements in their order                    */
    RESULT(max_rows, 2),       /* N C W from N W C                                      */
    RESULT(min_all, 1),
    RESULT(mean_pixels, 1),
    RESULT(squeeze, 1),
    RESULT(squeeze_one, 2),    /* N C 1 from N 1 C                                      */
    RESULT(gather_one, 1),
    RESULT(gather_table, 2),   /* N (2 3) H W from N H W (2 3)                          */
    RESULT(unstack_channels, 1),
    RESULT(roll_all, 2),
    RESULT(layer_norm_mixed, 2),
    RESULT(columns, 2),
    RESULT(mixed, 2),
    RESULT(matmul, 2),
};

static void classes_work_in_other_orders(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(stories); i++) {
        const story *s = &stories[i];
        xir_network *net;
        xir_value *x = nchw_conv(NCHW_BEGIN(&net, 2, 3, 4, 5), 6, 3, "a");
        xir_value *y = named(s->make(x), "made");
        NCHW_END(s->map ? nchw_conv(y, 2, 1, "z") : y);
        /* Sums of reals in another order differ in the last bits. */
        prove_pass(net, "layout", NULL, 1e-6, s->name, __LINE__);
        if (TRANSPOSES(net) != s->transposes)
            fail_msg("%s: %zu transposes are left\n%s", s->name, TRANSPOSES(net), op_list_typed(net));
        xir_network_free(net);
    }
}

/* The list of classes with a LAYOUT row; and the attributes that a row names have the kinds that the pass reads. */
static void rows_fit_their_classes(void **state) {
    (void)state;
    static const xir_kind kinds[BY_FORMS][2] = {   /* ORDER LAYOUT */
        [BY_AXIS]  = { XIR_KIND_I64 },  [BY_AXIS_REF] = { XIR_KIND_REF },  [BY_AXES] = { XIR_KIND_I64S },
        [BY_ITEMS] = { XIR_KIND_I64S, XIR_KIND_I64S }, [BY_PAIRS] = { XIR_KIND_I64S }, [BY_TYPE] = { XIR_KIND_REF },
        [BY_DIMS]  = { XIR_KIND_I64S, XIR_KIND_REF },  [BY_RANGE] = { XIR_KIND_I64, XIR_KIND_REF },
    };
    const xir_class *cls;
    size_t rows = 0;
    for (size_t i = 0; (cls = xir_context_class_at(ctx, i)); i++) {
        const class_layout *row = cls->more->layout;
        assert_int_equal(row != NULL, xir_class_note(cls, XIR_DECL_LAYOUT, 0).size != 0);
        if (!row) continue;
        rows++;
        for (size_t k = 0; k < LAYOUT_ATTRS && row->attr[k]; k++) {
            const xir_field *field = row->attr[k];
            if (row->form == BY_FACTORS) assert_true(field->kind == XIR_KIND_REFS || field->kind == XIR_KIND_PARAMS);
            else assert_int_equal(field->kind, kinds[row->form][k > 1 ? 1 : k]);
        }
        assert_int_equal(row->form != BY_NONE, row->attr[0] != NULL);
        assert_int_equal(row->keepdim != NULL, xir_class_field(cls, XIR_STR("keepdim")) != NULL);
    }
    assert_true(rows > 100);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_work_in_other_orders),
        cmocka_unit_test(rows_fit_their_classes),
    };
    return RUN_GROUP(tests);
}
