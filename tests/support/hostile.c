/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include <math.h>
#include <stdio.h>
#include "support/hostile.h"

/* ---- numbers ---------------------------------------------------------------------------------------------------- */

static int64_t extreme(void) {
    static const int64_t numbers[] = { INT64_MAX, INT64_MIN, INT64_MAX - 1, INT64_MIN + 1, INT64_MAX / 2,
                                       INT64_MAX / 2 + 1, -2, -1000000, 0, 1,
                                       INT64_C(1) << 62, INT64_C(1) << 32, INT64_C(1) << 31, UINT32_MAX, 3037000500,
                                       -(INT64_C(1) << 62) };
    return once_in(4) ? some_number() : numbers[chance(COUNT(numbers))];
}

static int64_t small(const pool *p) {
    switch (chance(4)) {
    case 0:  return p->dims[chance(COUNT(p->dims))];
    case 1:  return (int64_t)chance(4) - 2;
    case 2:  return (int64_t)chance(p->rank + 2);
    default: return (int64_t)chance(3);
    }
}

static double some_real(bool wild) {
    static const double reals[] = { 0, -0.0, 1, -1, 0.5, 2, 1e-5, 3.4e38, -3.4e38, 1e300, INFINITY, -INFINITY, NAN,
                                    1e-320, 0x1p63, -0x1p63 };
    return reals[chance(wild ? COUNT(reals) : 7)];
}

/* No type has a smaller dim than -1: those are refused where they come from. */
static int64_t some_dim(const pool *p) {
    int64_t wild = p->wild && once_in(3) ? extreme() : XIR_UNKNOWN_DIM;
    if (wild > XIR_UNKNOWN_DIM) return wild;
    return once_in(12) ? -1 : once_in(20) ? 0 : p->dims[chance(COUNT(p->dims))];
}

/* ---- layouts ---------------------------------------------------------------------------------------------------- */

enum { MOST_RANK = 10 };

/* A layout of `rank` dims; its units are those of `dims`, unless it is wild. */
static const xir_layout *some_layout(const pool *p, const int64_t *dims, size_t rank) {
    static const char *const common[][3] = { { "", "", "" }, { "C", "O", "*" }, { "NC", "IO", "**" },
                                             { "NLC", "NCL", "LIO" },
                                             { "NHWC", "NCHW", "HWIO" }, { "NDHWC", "NCDHW", "DHWIO" } };
    static const char *const tiled[] = { "Cc32", "*Cc32", "N*Cc32", "NCHWc32", "*C**c32", "**C*c16", "***Cc8", "Oo32",
                                         "OIHWo32i32", "IOo16i32" };
    char text[200];
    size_t at = 0;
    if (p->wild && once_in(4)) return once_in(3) ? NULL : some_layout(p, dims, chance(MOST_RANK + 1));
    if (once_in(6)) {
        snprintf(text, sizeof text, "%s", tiled[chance(COUNT(tiled))]);
    } else if (rank < COUNT(common) && !once_in(4)) {
        snprintf(text, sizeof text, "%s", common[rank][chance(3)]);
    } else {
        for (size_t i = 0; i < rank && at < sizeof text - 24; i++) {
            char letter = "NHWCDIOL****"[chance(12)];
            if (p->wild && letter != '*' && once_in(4)) {
                at += (size_t)snprintf(text + at, sizeof text - at, "%c%lld", letter | 0x20,
                                       dims[i] > 0 ? (long long)dims[i] : 32);
            } else text[at++] = letter;
        }
        text[at] = '\0';
    }
    form_error e;
    /* NULL if the text is not a layout, for example with the same letter twice */
    return layout_make(&p->net->pool, xir_str_of(text), 0, &e);
}

/* ---- element types ---------------------------------------------------------------------------------------------- */

/* Runs of `count` items, equal or not. */
static xir_runs some_runs(int64_t count, bool exp, xir_run room[3]) {
    size_t n = 0;
    if (count > 1 && once_in(2)) room[n++] = (xir_run){ .end = count / 2, .m = exp, .exp = 0, .value = 0.5f };
    if (count > 0) room[n++] = (xir_run){ .end = count, .m = exp * 3, .exp = exp * 2, .value = 0.75f };
    return (xir_runs){ room, n };
}

/* A quantised type whose arrays run along one of these dims. If wild, the arrays have other lengths, or parts are
 * missing. */
static const xir_type *some_quantized(const pool *p, const int64_t *dims, size_t rank) {
    object_pool *h = &p->net->pool;
    xir_run room[3], ratio_room[3];
    static const int64_t zeros[64] = { 1, 2, 3 };
    int64_t axis = rank ? (int64_t)chance(rank) : 0, count = rank && !once_in(3) ? dims[axis] : 1;
    if (p->wild && once_in(2)) count = extreme();
    if (p->wild && once_in(4)) axis = extreme();
    if (count < 0 || (!p->wild && count > 1000)) count = 1;
    if (axis >= 0 && axis < (int64_t)rank && once_in(2)) axis -= (int64_t)rank;
    bool exp = once_in(2);
    const xir_scales *scales = scales_make(h, exp, some_runs(count, exp, room), axis);
    const xir_norm_ratios *ratios = norm_ratios_make(h, some_runs(count, false, ratio_room), axis);
    const xir_type *storage = type_integer(h, true, 8), *expressed = type_float(h, XIR_FLOAT_FP32);
    if (p->wild && once_in(6)) storage = NULL;
    if (p->wild && once_in(6)) expressed = NULL;
    if (p->wild && once_in(6)) scales = NULL;
    if (p->wild && once_in(6)) ratios = NULL;
    xir_i64s zero_points = { zeros, once_in(3) && count <= (int64_t)COUNT(zeros) ? (size_t)count : 0 };
    const xir_quantized_type q = { { .cls = xir_class_find_decl(ctx, xir_quantized_type_class()) }, scales, zero_points,
                                   storage, expressed };
    const xir_normalized_type n = { { .cls = xir_class_find_decl(ctx, xir_normalized_type_class()) }, ratios, storage,
                                    expressed };
    const xir_normalized_quantized_type nq =
        { { .cls = xir_class_find_decl(ctx, xir_normalized_quantized_type_class()) }, ratios, scales,
          zero_points, storage, expressed };
    const xir_calibrated_type c = { .head = { .cls = xir_class_find_decl(ctx, xir_calibrated_type_class()) },
                                    .storage_dtype = storage, .expressed_dtype = expressed };
    const xir_object *const all[] = { &q.head, &q.head, &n.head, &nq.head, &c.head };
    return (const xir_type *)pool_intern(h, all[chance(COUNT(all))]);
}

static const xir_type *any_plain(pool *p) {
    object_pool *h = &p->net->pool;
    switch (chance(8)) {
    case 0:  return type_bool(h);
    case 1:  return type_integer(h, once_in(2), 1 + (int64_t)chance(64));
    case 2:  return type_integer(h, true, INT64_C(8) << chance(4));
    case 3:  return type_integer(h, true, 64);
    default: return type_float(h, (xir_float_format)chance(XIR_FLOAT_FPE6M9 + 1));
    }
}

static const xir_type *some_element(pool *p, const int64_t *dims, size_t rank) {
    if (p->wild && once_in(20)) return NULL;
    if (p->wild && once_in(20)) {
        return (const xir_type *)pool_intern(&p->net->pool,
                                             &(xir_object){ .cls = class_opaque(ctx, XIR_STR("some::Type"), false) });
    }
    if (once_in(6)) return some_quantized(p, dims, rank);
    return once_in(8) ? any_plain(p) : p->elements[chance(COUNT(p->elements))];
}

/* ---- tensor types ----------------------------------------------------------------------------------------------- */

/* A distribution of one or two dims whose product is known. If wild, of any dims, with another total. */
static const xir_distr *some_distr(const pool *p, const int64_t *dims, size_t rank) {
    int64_t axes[2], total = 1;
    size_t n = 1 + chance(2);
    if (n > rank) return NULL;
    axes[0] = (int64_t)chance(rank);
    axes[1] = (axes[0] + 1) % (int64_t)rank;
    for (size_t i = 0; i < n; i++) {
        if (dims[axes[i]] < 0 || !mul_i64(total, dims[axes[i]], &total)) total = 5;
    }
    if (p->wild && once_in(3)) total = extreme();
    if (p->wild && once_in(3)) axes[chance(2)] = small(p);
    xir_run runs[2];
    size_t m = 0;
    int64_t valid = total > 1 && once_in(2) ? 1 + (int64_t)chance((uint64_t)total - 1) : total;
    if (valid > 0) runs[m++] = (xir_run){ .end = valid, .m = 1 };
    if (total > valid) runs[m++] = (xir_run){ .end = total, .m = 0 };
    xir_uvalue rest = once_in(8) ? XIR_UVALUE_NONE : XIR_UVALUE_ZERO;
    return distr_make(&p->net->pool, (xir_i64s){ axes, n }, (xir_runs){ runs, m }, rest, false);
}

static const xir_type *some_type(pool *p) {
    int64_t dims[MOST_RANK];
    size_t rank = p->wild || once_in(4) ? chance(MOST_RANK + 1) : p->rank;
    for (size_t i = 0; i < rank; i++) dims[i] = some_dim(p);
    if (p->wild && once_in(30)) return some_element(p, dims, rank);   /* not a tensor type */
    const xir_layout *layout = once_in(3) ? NULL : some_layout(p, dims, rank);
    for (size_t i = 0; layout && !p->wild && i < rank && xir_layout_rank(layout) == rank; i++) {
        if (xir_layout_unit(layout, i)) dims[i] = (int64_t)xir_layout_unit(layout, i);
    }
    if (layout && !p->wild && xir_layout_rank(layout) != rank) layout = NULL;
    const xir_object *distrs[2];
    size_t n = 0;
    for (size_t i = once_in(5) ? 0 : 2; i < 2; i++) {
        const xir_distr *distr = some_distr(p, dims, rank);
        if (distr) distrs[n++] = (const xir_object *)distr;
    }
    const xir_type *element = some_element(p, dims, rank);
    return type_tensor(&p->net->pool, element, layout, (xir_i64s){ dims, rank }, (xir_refs){ distrs, n });
}

static void ignore_fault(void *user, const char *where, const char *sentence) {
    (void)user, (void)where, (void)sentence;
}

static bool layout_is_sound(const xir_layout *layout) {
    fault_sink sink = { ignore_fault, NULL, 0 };
    layout_faults(layout, &sink);
    return sink.count == 0;
}

/* An array along an axis has an item for each element of that axis; scales may have one item for all. */
static bool array_fits(const xir_type *type, int64_t axis, size_t count, bool may_be_one) {
    int64_t rank = (int64_t)xir_type_rank(type);
    if (count <= 1 && (may_be_one || (rank == 0 && count == 1))) return true;
    if (axis < -rank || axis >= rank) return false;
    int64_t dim = xir_type_dim(type, axis, true);
    return dim < 0 || (uint64_t)dim == count;
}

bool type_is_sound(const xir_type *type) {
    const xir_tensor_type *tensor = xir_type_as_tensor(type);
    fault_sink sink = { ignore_fault, NULL, 0 };
    if (!tensor || !tensor->element_dtype || !tensor->layout) return false;
    tensor_faults(tensor, &sink);
    layout_faults(tensor->layout, &sink);
    if (sink.count || ((const xir_object *)tensor->element_dtype)->cls->opaque) return false;
    if (!xir_type_is_quantized(tensor->element_dtype)) return true;
    const xir_scales *scales = xir_type_scale(type);
    const xir_norm_ratios *ratios = xir_type_norm_ratios(type);
    xir_type_kind kind = xir_type_kind_of(tensor->element_dtype);
    if (!xir_type_storage(type) || !xir_type_expressed(type)) return false;
    if (!ratios && (kind == XIR_TYPE_NORMALIZED || kind == XIR_TYPE_NORMALIZED_QUANTIZED)) return false;
    if (!scales && (kind == XIR_TYPE_QUANTIZED || kind == XIR_TYPE_NORMALIZED_QUANTIZED)) return false;
    return (!scales || array_fits(type, xir_scales_axis(scales), xir_scales_count(scales), true)) &&
           (!ratios || array_fits(type, xir_norm_ratios_axis(ratios), xir_norm_ratios_count(ratios), false));
}

/* Unknown dims carry no claims: a type that an op infers from claims about them is not right or wrong. */
static bool says_what_is_known(const xir_type *type) {
    const xir_tensor_type *tensor = xir_type_as_tensor(type);
    bool unknown = xir_type_has_unknown_dim(type);
    return !unknown || (tensor->merged_distrs.size == 0 && !xir_type_is_quantized(tensor->element_dtype));
}

static bool is_sound(const xir_type *type) { return type_is_sound(type) && says_what_is_known(type); }

/* ---- the pool --------------------------------------------------------------------------------------------------- */

static void fill_small(void *user, size_t i, void *out) {
    const pool *p = user;
    (void)i;
    int64_t number = p->wild ? extreme() : once_in(3) ? small(p) : (int64_t)chance(4);
    memcpy(out, &number, 1);
}

static void fill_params(pool *p, xir_value *v) {
    uint64_t size;
    if (xir_type_bytes(xir_value_type(v), &size) != XIR_OK || size > 4096 || once_in(4)) return;
    uint8_t *bytes = calloc(1, size + 8);
    assert_non_null(bytes);
    uint64_t step = xir_type_storage_bits(xir_value_type(v)) / 8;
    if (!step) step = 1;
    for (uint64_t at = 0; at < size; at += step) {
        uint8_t number[8] = { 0 };
        fill_small(p, 0, number);
        if (p->wild) for (size_t i = 0; i < 8; i++) number[i] = (uint8_t)chance(256);
        memcpy(bytes + at, number, step < size - at ? (step < 8 ? step : 8) : size - at < 8 ? size - at : 8);
    }
    DOES(xir_params_set_copy(v, bytes, (size_t)size));
    free(bytes);
}

/* Wild things are rare: with two of them, an op seldom gets as far as its own rules. */
static bool be_wild(void) { return once_in(6); }

void pool_begin(pool *p) {
    static const int64_t tame[] = { 1, 1, 2, 2, 3, 4, 5, 8, 16, 32 };
    *p = (pool){ .net = new_net(), .rank = chance(6) };
    for (size_t i = 0; i < COUNT(p->dims); i++) p->dims[i] = tame[chance(COUNT(tame))];
    if (once_in(2)) p->dims[1] = p->dims[2] = p->dims[0];
    for (size_t i = 0; i < COUNT(p->elements); i++)
        p->elements[i] = once_in(3) ? any_plain(p) : type_float(&p->net->pool, XIR_FLOAT_FP32);
    if (once_in(3)) p->elements[2] = type_integer(&p->net->pool, true, 64);

    const xir_type *types[POOL_VALUES];
    for (size_t i = 0; i < POOL_VALUES; i++) {
        p->wild = be_wild();
        types[i] = p->wild && once_in(30) ? NULL : some_type(p);
        p->sound[i] = is_sound(types[i]);
    }
    xir_op_desc d = DESC(input, .types = types, .n_types = POOL_VALUES, .name = XIR_STR("in"));
    xir_op *op = xir_network_add(p->net, &d);
    assert_non_null(op);
    for (size_t i = 0; i < POOL_VALUES; i++) p->values[i] = xir_op_output(op, (int64_t)i);
    for (size_t i = 0; i < POOL_PARAMS; i++) {
        p->wild = be_wild();
        const xir_type *type = some_type(p);
        if (!p->wild && once_in(2)) {   /* lists of numbers and single numbers */
            int64_t dim = once_in(2) ? 1 : p->dims[chance(COUNT(p->dims))];
            const xir_type *element = once_in(2) ? type_integer(&p->net->pool, true, 64)
                : p->elements[chance(COUNT(p->elements))];
            type = type_tensor(&p->net->pool, element, NULL, (xir_i64s){ &dim, chance(4) != 0 }, (xir_refs){ 0 });
        }
        if (!type) type = p->elements[0];   /* Params must have a type */
        p->params[i] = xir_params_new(p->net, XIR_STR("p"), type);
        p->sound[POOL_VALUES + i] = is_sound(type);
        assert_non_null(p->params[i]);
        fill_params(p, p->params[i]);
    }
}

static void free_blocks(pool *p) {
    while (p->n_blocks) free(p->blocks[--p->n_blocks]);
}

void pool_end(pool *p) {
    free_blocks(p);
    xir_network_free(p->net);
}

xir_value *pool_value(pool *p, bool *sound) {
    if (once_in(60)) return NULL;
    size_t i = once_in(3) ? POOL_VALUES + chance(POOL_PARAMS) : chance(POOL_VALUES);
    *sound &= p->sound[i];
    return i < POOL_VALUES ? p->values[i] : p->params[i - POOL_VALUES];
}

/* ---- bodies ----------------------------------------------------------------------------------------------------- */

static void *block(pool *p, size_t size) {
    assert_true(p->n_blocks < POOL_BLOCKS);
    void *data = malloc(size ? size : 1);
    assert_non_null(data);
    return p->blocks[p->n_blocks++] = data;
}

/* The length of a list. */
static size_t some_length(const pool *p) {
    if (p->wild) return once_in(20) ? chance(300) : chance(14);
    switch (chance(6)) {
    case 0:  return chance(4);
    case 1:  return 2 * p->rank;
    case 2:  return 1;
    default: return p->rank;
    }
}

static xir_str some_text(pool *p) {
    static const char *const texts[] = { "", "ij,jk->ik", "bij,bjk->bik", "...ij,...jk->...ik", "i,i->", "ij->ji",
                                         "ii->i", "ab,cd", "->", ",,,", "a->b" };
    if (!once_in(3)) return xir_str_of(texts[chance(COUNT(texts))]);
    size_t size = chance(once_in(10) ? 3000 : 24);
    char *data = block(p, size);
    for (size_t i = 0; i < size; i++) data[i] = p->wild && once_in(8) ? (char)chance(256) : "ijkabc,->. *Z"[chance(13)];
    return (xir_str){ data, size };
}

static const xir_object *some_object(pool *p, const xir_class *of);

static const xir_object *some_scalar(const pool *p, size_t which) {
    object_pool *h = &p->net->pool;
    const xir_int_imm integer = { { .cls = ctx->types[CLASS_int_imm] }, p->wild ? extreme() : small(p), NULL, NULL };
    const xir_float_imm real = { { .cls = ctx->types[CLASS_float_imm] }, some_real(p->wild), NULL, NULL };
    const xir_bool_imm truth = { { .cls = ctx->types[CLASS_bool_imm] }, once_in(2), NULL, NULL };
    const xir_object *const all[] = { &integer.head, &real.head, &truth.head };
    return pool_intern(h, all[which]);
}

static const xir_object *some_unit(pool *p) {
    int64_t numbers[2][3];
    size_t n = chance(3) + !p->wild;
    for (size_t i = 0; i < n; i++) {
        numbers[0][i] = p->wild && once_in(3) ? extreme() : small(p);
        numbers[1][i] = p->wild && once_in(3) ? extreme() : 1 + (int64_t)chance(32);
    }
    const xir_aligned_unit unit = { { .cls = xir_class_find_decl(ctx, xir_aligned_unit_class()) }, { numbers[0], n },
                                    { numbers[1], p->wild && n ? n - chance(2) : n } };
    return pool_intern(&p->net->pool, &unit.head);
}

static const xir_object *some_object(pool *p, const xir_class *of) {
    int64_t dims[MOST_RANK];
    xir_run room[3];
    size_t rank = p->wild ? chance(MOST_RANK + 1) : p->rank;
    for (size_t i = 0; i < rank; i++) dims[i] = some_dim(p);
    if (of && of->traits & XIR_TRAIT_ABSTRACT && p->wild && once_in(10)) {
        return pool_intern(&p->net->pool, &(xir_object){ .cls = class_opaque(ctx, XIR_STR("some::Thing"), false) });
    }
    if (of == ctx->tensor_class) {
        const xir_type *type = some_type(p);
        return xir_type_as_tensor(type) ? (const xir_object *)type : NULL;
    }
    if (of == ctx->types[CLASS_layout]) return (const xir_object *)some_layout(p, dims, rank);
    if (of == ctx->types[CLASS_int_imm]) return some_scalar(p, 0);
    if (of == ctx->types[CLASS_float_imm]) return some_scalar(p, 1);
    if (of == ctx->types[CLASS_scalar]) return some_scalar(p, chance(3));
    if (of == ctx->types[CLASS_scalar_type] || of == ctx->types[CLASS_type])
        return (const xir_object *)some_element(p, dims, rank);
    if (of == ctx->types[CLASS_scales]) {
        bool exp = once_in(2);
        int64_t count = p->wild ? extreme() & INT64_MAX : small(p) & 31;
        return (const xir_object *)scales_make(&p->net->pool, exp, some_runs(count, exp, room),
                                               p->wild ? extreme() : -1);
    }
    if (of == xir_class_find_decl(ctx, xir_aligned_unit_class())) return some_unit(p);
    if (of) fail_msg("nothing makes a %s: teach tests/support/hostile.c", of->key.data);
    return (const xir_object *)some_type(p);
}

static xir_value *some_params(pool *p) {
    size_t i = chance(POOL_PARAMS);
    p->body_sound &= p->sound[POOL_VALUES + i];
    return p->params[i];
}

static int64_t some_i64(const pool *p, const xir_field *f) {
    if (p->wild && once_in(2)) return extreme();
    if (f->has_min && once_in(p->wild ? 3 : 30)) return f->min.i - (f->min.i > INT64_MIN);
    if (f->has_min) return f->min.i + (int64_t)chance(4);
    return small(p);
}

static void fill_field(pool *p, const xir_field *f, void *body) {
    void *at = body_at(body, f);
    size_t n = some_length(p);
    switch (f->kind) {
    case XIR_KIND_BOOL: *(bool *)at = once_in(2); break;
    case XIR_KIND_U64:
    case XIR_KIND_I64:  *(int64_t *)at = some_i64(p, f); break;
    case XIR_KIND_REAL: *(double *)at = some_real(p->wild); break;
    case XIR_KIND_TEXT: *(xir_str *)at = some_text(p); break;
    case XIR_KIND_ENUM: *(int *)at = p->wild && once_in(2) ? (int)some_number() : (int)chance(f->members->size); break;
    case XIR_KIND_REF: {
        const xir_object *ref = p->wild && once_in(4) ? NULL : some_object(p, f->of);
        if (ref && xir_type_as_tensor((const xir_type *)ref)) p->body_sound &= is_sound((const xir_type *)ref);
        if (ref && ref->cls == ctx->types[CLASS_layout]) p->body_sound &= layout_is_sound((const xir_layout *)ref);
        *(const xir_object **)at = ref;
        break;
    }
    case XIR_KIND_PARAMS: *(xir_value **)at = p->wild && once_in(4) ? NULL : some_params(p); break;
    case XIR_KIND_BOOLS: {
        bool *data = block(p, n * sizeof *data);
        for (size_t i = 0; i < n; i++) data[i] = once_in(2);
        *(xir_bools *)at = (xir_bools){ data, n };
        break;
    }
    case XIR_KIND_I64S: {
        int64_t *data = block(p, n * sizeof *data);
        for (size_t i = 0; i < n; i++) data[i] = p->wild && once_in(3) ? extreme() : small(p);
        if (once_in(3) && n) for (size_t i = 0; i < n; i++) data[i] = (int64_t)((i + 1) % n);   /* a permutation */
        *(xir_i64s *)at = (xir_i64s){ data, n };
        if (f->flags & XIR_FIELD_OPTIONAL && once_in(2)) *(xir_i64s *)at = (xir_i64s){ NULL, 0 };
        break;
    }
    case XIR_KIND_REALS: {
        double *data = block(p, n * sizeof *data);
        for (size_t i = 0; i < n; i++) data[i] = some_real(p->wild);
        *(xir_reals *)at = (xir_reals){ data, n };
        break;
    }
    case XIR_KIND_TEXTS: {
        xir_str *data = block(p, n * sizeof *data);
        for (size_t i = 0; i < n; i++) data[i] = i < 20 ? some_text(p) : XIR_STR("");
        *(xir_texts *)at = (xir_texts){ data, n };
        break;
    }
    case XIR_KIND_REFS: {
        const xir_object **data = block(p, n * sizeof *data);
        size_t made = 0;
        for (size_t i = 0; i < n; i++) {
            if ((data[made] = some_object(p, f->of))) made++;
        }
        *(xir_refs *)at = (xir_refs){ data, made };
        break;
    }
    case XIR_KIND_PARAMSS: {
        xir_value **data = block(p, n * sizeof *data);
        for (size_t i = 0; i < n; i++) data[i] = some_params(p);
        *(xir_values *)at = (xir_values){ data, n };
        break;
    }
    default: break;   /* maps, ops and runs are unchanged */
    }
}

void *pool_body(pool *p, const xir_class *cls, bool wild) {
    free_blocks(p);
    p->body_sound = true;
    char *body = block(p, cls->body_size);
    memcpy(body, cls->defaults, cls->body_size);
    for (uint32_t i = 0; i < cls->n_fields; i++) {
        const xir_field *f = &cls->fields[i];
        p->wild = wild && once_in(2);
        bool needed = f->flags & XIR_FIELD_REQUIRED || f->kind == XIR_KIND_I64S;
        if (p->wild || (needed ? !once_in(20) : once_in(2))) fill_field(p, f, body);
    }
    return body;
}
