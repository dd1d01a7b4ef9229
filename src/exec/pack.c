/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Packing arrays for devices: axes in another order, padding, tiles. All of these are one walk over an outer array,
 * each of whose axes steps along an axis of an inner one: an element goes one way or the other, and an outer element
 * beyond the inner array has none. */
#include <xir/exec.h>
#include <xir/ops.h>
#include <xir/sugar.h>
#include "array.h"
#include "types.h"

enum { AXES = 64 };   /* of an array; a layout in a file may have more */

/* ---- the walk --------------------------------------------------------------------------------------------------- */

/* An axis of the outer array: it steps along an axis of the inner one, by so many elements. */
typedef struct outer_axis { size_t inner; int64_t step, n; } outer_axis;

typedef struct walk {
    outer_axis outer[AXES];
    int64_t    inner[AXES];     /* dims of the inner array                                       */
    int64_t    start[AXES];     /* where the outer array begins in it                            */
    size_t     n_outer, n_inner;
    uint64_t   bits;
    bool       inwards;         /* elements go from the outer to the inner array                 */
} walk;

static void move_bits(const uint8_t *from, uint64_t i, uint8_t *to, uint64_t k, uint64_t bits) {
    for (uint64_t b = 0; b < bits; b++) {
        const uint64_t x = i * bits + b, y = k * bits + b;
        const uint8_t bit = (uint8_t)(from[x / 8] >> (x % 8) & 1);
        to[y / 8] = (uint8_t)((to[y / 8] & ~(1u << (y % 8))) | (unsigned)bit << (y % 8));
    }
}

/* Moves `n` elements from one place on, `step` apart in the inner array and next to each other in the outer one. */
static void move_row(const walk *w, const uint8_t *from, uint8_t *to, uint64_t outer, uint64_t inner, uint64_t step,
                     uint64_t n) {
    const uint64_t bytes = w->bits % 8 ? 0 : w->bits / 8;
    if (bytes && step == 1) {
        const uint64_t a = (w->inwards ? outer : inner) * bytes, b = (w->inwards ? inner : outer) * bytes;
        memcpy(to + b, from + a, n * bytes);
        return;
    }
#define EACH(size) \
    for (uint64_t i = 0; i < n; i++) { \
        const uint64_t x = outer + i, y = inner + i * step; \
        memcpy(to + (w->inwards ? y : x) * (size), from + (w->inwards ? x : y) * (size), (size)); \
    }
    switch (bytes) {
    case 1: EACH(1) break;
    case 2: EACH(2) break;
    case 4: EACH(4) break;
    case 8: EACH(8) break;
    case 0:
        for (uint64_t i = 0; i < n; i++) {
            const uint64_t x = outer + i, y = inner + i * step;
            move_bits(from, w->inwards ? x : y, to, w->inwards ? y : x, w->bits);
        }
        break;
    default: EACH(bytes) break;
    }
#undef EACH
}

/* Walks the rows of the outer array. */
static void move(const walk *w, const uint8_t *from, uint8_t *to) {
    int64_t at[AXES] = { 0 }, place[AXES], stride[AXES];
    uint64_t outer = 0;
    int64_t s = 1;
    const size_t last = w->n_outer - 1;
    for (size_t k = w->n_inner; k-- > 0; s *= w->inner[k]) stride[k] = s;
    for (size_t k = 0; k < w->n_outer; k++) if (w->outer[k].n == 0) return;
    for (size_t k = 0; k < w->n_inner; k++) if (w->inner[k] == 0) return;
    for (;;) {
        const outer_axis *row = &w->outer[last];
        int64_t inner = 0, first = 0, end = row->n;
        bool inside = true;
        for (size_t k = 0; k < w->n_inner; k++) place[k] = w->start[k];
        for (size_t k = 0; k < last; k++) place[w->outer[k].inner] += at[k] * w->outer[k].step;
        for (size_t k = 0; k < w->n_inner; k++) {
            if (k == row->inner) continue;
            inside &= place[k] >= 0 && place[k] < w->inner[k];
            inner += place[k] * stride[k];
        }
        /* The part of the row that is in the inner array. */
        const int64_t begin = place[row->inner], dim = w->inner[row->inner];
        if (begin < 0) first = (-begin + row->step - 1) / row->step;
        if (begin + (end - 1) * row->step >= dim) end = begin >= dim ? 0 : (dim - begin + row->step - 1) / row->step;
        if (inside && first < end)
            move_row(w, from, to, outer + (uint64_t)first,
                     (uint64_t)(inner + (begin + first * row->step) * stride[row->inner]),
                     (uint64_t)(row->step * stride[row->inner]), (uint64_t)(end - first));
        outer += (uint64_t)row->n;
        size_t k = last;
        while (k > 0 && ++at[k - 1] == w->outer[k - 1].n) at[--k] = 0;
        if (k == 0) return;
    }
}

/* ---- element types ---------------------------------------------------------------------------------------------- */

/* The axis with scales or zero points of its own; -1: there is none. -2: not known. */
static int64_t own_axis(const xir_type *element, size_t rank) {
    const xir_quantized_type *q = (const xir_quantized_type *)element;
    if (!xir_type_is_quantized(element)) return -1;
    if (xir_type_kind_of(element) != XIR_TYPE_QUANTIZED || !q->scale) return -2;
    if (runs_total(q->scale->items) <= 1 && q->zero_points.size <= 1) return -1;
    const int64_t axis = q->scale->axis < 0 ? q->scale->axis + (int64_t)rank : q->scale->axis;
    return axis < 0 || axis >= (int64_t)rank ? -2 : axis;
}

/* The quantised type with its scales along another axis; NULL without memory. */
static const xir_type *with_axis(xir_context *ctx, const xir_type *element, int64_t axis) {
    xir_quantized_type q = *(const xir_quantized_type *)element;
    const bool exp = q.scale->head.cls == ctx->types[CLASS_exp_scales];
    q.scale = scales_make(context_pool(ctx), exp, q.scale->items, axis);
    q.head.hash = 0;
    return q.scale ? (const xir_type *)pool_intern(context_pool(ctx), &q.head) : NULL;
}

/* The element type of a result: `moved` says, for each axis, where it is now; -1: it was padded or tiled. */
static const xir_type *element_of(const xir_array *array, const int64_t *moved) {
    const xir_type *element = xir_type_element(array->type);
    const int64_t axis = own_axis(element, xir_type_rank(array->type));
    if (axis == -1) return element;
    if (axis < 0 || moved[axis] < 0) return xir_type_storage(element);
    return moved[axis] == axis ? element : with_axis(array->ctx, element, moved[axis]);
}

/* ---- results ---------------------------------------------------------------------------------------------------- */

static bool check_array(const xir_array *array, xir_diags *why) {
    if (!array) return diag_null(why, "array"), false;
    if (xir_type_rank(array->type) <= AXES) return true;
    return array_fail(why, XIR_E_LIMIT, "the array has %zu axes: at most %d can be packed", xir_type_rank(array->type),
                      AXES), false;
}

/* A new array with cleared bytes, to which the walk moves the elements. `number` fills it first. */
static xir_array *result(const xir_array *array, const xir_type *element, const xir_layout *layout, const int64_t *dims,
                         size_t rank, const walk *w, double number, xir_diags *why) {
    xir_context *ctx = array->ctx;
    const xir_type *type = element && layout ? xir_type_tensor(ctx, element, layout, dims, rank) : NULL;
    xir_array *out;
    if (!type) return diag_memory(why), NULL;
    out = number != 0 ? xir_array_filled(ctx, type, number, why) : xir_array_new(ctx, type, why);
    if (!out) return NULL;
    walk whole = *w;
    whole.bits = xir_type_storage_bits(element);
    if (!whole.n_outer) {   /* one element */
        whole.outer[whole.n_outer++] = (outer_axis){ .inner = 0, .step = 1, .n = 1 };
        whole.inner[whole.n_inner++] = 1;
        whole.start[0] = 0;
    }
    if (out->count && array->count) move(&whole, array_bytes(array), array_bytes(out));
    return out;
}

/* ---- permute and pad -------------------------------------------------------------------------------------------- */

/* The layout of an array whose letters move along; the default if it is tiled or does not fit. */
static const xir_layout *permuted_layout(const xir_array *array, const size_t *axes, size_t n, xir_diags *why) {
    const xir_layout *from = xir_type_layout(array->type);
    char text[AXES];
    if (xir_layout_rank(from) != n || xir_layout_is_layouted(from)) return xir_layout_default(array->ctx, n);
    for (size_t i = 0; i < n; i++) text[i] = xir_layout_axis(from, axes[i]);
    return n ? xir_layout_parse(array->ctx, (xir_str){ text, n }, why) : xir_layout_default(array->ctx, 0);
}

xir_array *xir_array_permute(const xir_array *array, const int64_t *order, size_t n, xir_diags *why) {
    size_t axes[AXES];
    int64_t moved[AXES], dims[AXES];
    walk w = { 0 };
    if (!check_array(array, why)) return NULL;
    const size_t rank = xir_type_rank(array->type);
    if (n != rank || (n && !order))
        return array_fail(why, XIR_E_BOUNDS, "expected %zu axes, one for each of the array, found %zu", rank, n), NULL;
    for (size_t i = 0; i < n; i++) moved[i] = -1;
    for (size_t i = 0; i < n; i++) {
        const int64_t k = order[i] < 0 ? order[i] + (int64_t)n : order[i];
        if (k < 0 || k >= (int64_t)n || moved[k] >= 0)
            return array_fail(why, XIR_E_BOUNDS, "axis %lld of the order is %s: expected a permutation of %zu axes",
                              (long long)order[i], k < 0 || k >= (int64_t)n ? "out of range" : "listed twice", n), NULL;
        axes[i] = (size_t)k;
        moved[k] = (int64_t)i;
    }
    for (size_t i = 0; i < n; i++) {
        w.inner[i] = xir_type_dim(array->type, (int64_t)i, false);
        dims[i] = xir_type_dim(array->type, (int64_t)axes[i], false);
        w.outer[i] = (outer_axis){ .inner = axes[i], .step = 1, .n = dims[i] };
    }
    w.n_outer = w.n_inner = n;
    return result(array, element_of(array, moved), permuted_layout(array, axes, n, why), dims, n, &w, 0, why);
}

xir_array *xir_array_pad(const xir_array *array, const int64_t *before, const int64_t *after, size_t n, double number,
                         xir_diags *why) {
    int64_t moved[AXES], dims[AXES];
    walk w = { 0 };
    if (!check_array(array, why)) return NULL;
    const size_t rank = xir_type_rank(array->type);
    if (n != rank || (n && (!before || !after)))
        return array_fail(why, XIR_E_BOUNDS, "expected the padding of %zu axes, found %zu", rank, n), NULL;
    for (size_t i = 0; i < n; i++) {
        const int64_t dim = xir_type_dim(array->type, (int64_t)i, false);
        if (!add_i64(dim, before[i], &dims[i]) || !add_i64(dims[i], after[i], &dims[i]) || dims[i] < 0 ||
            before[i] == INT64_MIN)
            return array_fail(why, XIR_E_BOUNDS, "the padding of axis %zu, %lld and %lld, leaves no dim of %lld", i,
                              (long long)before[i], (long long)after[i], (long long)dim), NULL;
        moved[i] = before[i] || after[i] ? -1 : (int64_t)i;
        w.inner[i] = dim;
        w.start[i] = -before[i];
        w.outer[i] = (outer_axis){ .inner = i, .step = 1, .n = dims[i] };
    }
    w.n_outer = w.n_inner = n;
    if (number != 0 && xir_type_is_quantized(xir_type_element(array->type)))
        return array_fail(why, XIR_E_BOUNDS, "the elements are quantised: expected 0 as padding, found %.17g", number), NULL;
    return result(array, element_of(array, moved), xir_type_layout(array->type), dims, n, &w, number, why);
}

/* ---- tiles ------------------------------------------------------------------------------------------------------ */

/* "OIHW16o" as "OIHWo16": units before their letters go after them. Returns the length; 0 if the text is too long, or
 * if a number has no letter. */
static size_t usual_text(xir_str text, char *out, size_t room) {
    size_t n = 0, i = 0;
    if (text.size > room) return 0;
    while (i < text.size) {
        size_t digits = 0;
        while (i + digits < text.size && text.data[i + digits] >= '0' && text.data[i + digits] <= '9') digits++;
        const char next = i + digits < text.size ? text.data[i + digits] : '\0';
        const bool before = digits && next >= 'a' && next <= 'z';
        if (before) {
            out[n++] = text.data[i + digits];
            memcpy(out + n, text.data + i, digits);
            n += digits;
            i += digits + 1;
            continue;
        }
        if (digits) return 0;
        /* A letter takes the digits that follow it. */
        const bool lower = text.data[i] >= 'a' && text.data[i] <= 'z';
        do out[n++] = text.data[i++];
        while (lower && i < text.size && text.data[i] >= '0' && text.data[i] <= '9');
    }
    return n;
}

static const xir_layout *read_layout(const xir_array *array, xir_str text, xir_diags *why) {
    char usual[256];
    if (!text.size) return xir_type_layout(array->type);
    const size_t n = usual_text(text, usual, sizeof usual);
    if (!n)
        return array_fail(why, XIR_E_SYNTAX, "the layout '%.*s' is too long, or has a number without a letter",
                          CLIP(text)), NULL;
    return xir_layout_parse(array->ctx, (xir_str){ usual, n }, why);
}

static char upper(char c) { return c >= 'a' && c <= 'z' ? (char)(c ^ 0x20) : c; }

/* Checks that a layout names each of `rank` axes once. */
static bool names_all(const xir_layout *layout, size_t rank, xir_diags *why) {
    const xir_str text = xir_layout_text(layout);
    if (xir_layout_rank(layout) != rank)
        return array_fail(why, XIR_E_BOUNDS, "the layout %.*s has %zu axes, expected %zu", CLIP(text),
                          xir_layout_rank(layout), rank), false;
    for (size_t i = 0; i < rank; i++) {
        const char c = xir_layout_axis(layout, i);
        if (c == '*' || c != upper(c) || xir_layout_index(layout, c) != (int64_t)i)
            return array_fail(why, XIR_E_INVALID, "the layout %.*s does not name each axis by a letter of its own",
                              CLIP(text)), false;
    }
    return true;
}

/* Fills the walk between a plain array and a tiled one; the dims of the inner, plain one are known. */
static bool walk_tiles(walk *w, const xir_layout *plain, const xir_layout *tiled, xir_diags *why) {
    const xir_str text = xir_layout_text(tiled);
    const size_t n = xir_layout_rank(tiled);
    uint32_t seen = 0;
    if (n > AXES) return array_fail(why, XIR_E_LIMIT, "the layout has more than %d axes", AXES), false;
    for (size_t i = n; i-- > 0;) {   /* the finest unit comes last */
        const char c = xir_layout_axis(tiled, i), letter = upper(c);
        const int64_t k = letter == '*' ? -1 : xir_layout_index(plain, letter), unit = xir_layout_unit(tiled, i);
        if (k < 0)
            return array_fail(why, XIR_E_INVALID, "the layout %.*s has the axis %c, which %.*s does not have",
                              CLIP(text), letter, CLIP(xir_layout_text(plain))), false;
        int64_t step = 1;
        for (size_t j = i + 1; j < n; j++)
            if (upper(xir_layout_axis(tiled, j)) == letter && !mul_i64(step, xir_layout_unit(tiled, j), &step))
                return array_fail(why, XIR_E_LIMIT, "the units of %c exceed 64 bits", letter), false;
        w->outer[i] = (outer_axis){ .inner = (size_t)k, .step = step, .n = unit };
        if (unit) continue;
        if (seen >> k & 1)
            return array_fail(why, XIR_E_INVALID, "the layout %.*s has the axis %c twice", CLIP(text), letter), false;
        seen |= UINT32_C(1) << k;
        const int64_t dim = w->inner[k];
        w->outer[i].n = dim / step + (dim % step != 0);
    }
    for (size_t i = 0; i < n; i++) {
        /* Units follow their axis, so that each has one. */
        bool has = !xir_layout_unit(tiled, i);
        for (size_t j = 0; j < i; j++)
            has |= xir_layout_axis(tiled, j) == upper(xir_layout_axis(tiled, i));
        if (!has)
            return array_fail(why, XIR_E_INVALID, "the layout %.*s has a unit of %c before the axis", CLIP(text),
                              xir_layout_axis(tiled, i)), false;
    }
    for (size_t k = 0; k < w->n_inner; k++)
        if (!(seen >> k & 1))
            return array_fail(why, XIR_E_INVALID, "the layout %.*s lacks the axis %c", CLIP(text),
                              xir_layout_axis(plain, k)), false;
    w->n_outer = n;
    return true;
}

/* Finds the positions of the axes of a plain array in a tiled one, and the other way round. */
static void find_moved(const walk *w, int64_t *to_outer) {
    int count[AXES] = { 0 };
    for (size_t i = 0; i < w->n_outer; i++) count[w->outer[i].inner]++;
    for (size_t i = 0; i < w->n_outer; i++)
        to_outer[w->outer[i].inner] = count[w->outer[i].inner] == 1 ? (int64_t)i : -1;
}

xir_array *xir_array_tile(const xir_array *array, xir_str from, xir_str to, xir_diags *why) {
    int64_t moved[AXES], dims[AXES];
    walk w = { 0 };
    if (!check_array(array, why)) return NULL;
    const size_t rank = xir_type_rank(array->type);
    const xir_layout *plain = read_layout(array, from, why), *tiled = plain ? read_layout(array, to, why) : NULL;
    if (!tiled || !names_all(plain, rank, why)) return NULL;
    w.n_inner = rank;
    for (size_t k = 0; k < rank; k++) w.inner[k] = xir_type_dim(array->type, (int64_t)k, false);
    if (!walk_tiles(&w, plain, tiled, why)) return NULL;
    for (size_t i = 0; i < w.n_outer; i++) dims[i] = w.outer[i].n;
    find_moved(&w, moved);
    return result(array, element_of(array, moved), tiled, dims, w.n_outer, &w, 0, why);
}

/* The dims of the plain array: those that are given, or all that the tiles have. */
static bool plain_dims(walk *w, const xir_array *array, const xir_layout *plain, const xir_layout *tiled,
                       const int64_t *dims, xir_diags *why) {
    for (size_t k = 0; k < w->n_inner; k++) {
        int64_t most = 1;
        for (size_t i = 0; i < xir_layout_rank(tiled); i++) {
            if (upper(xir_layout_axis(tiled, i)) != xir_layout_axis(plain, k)) continue;
            if (!mul_i64(most, xir_type_dim(array->type, (int64_t)i, false), &most))
                return array_fail(why, XIR_E_LIMIT, "dim %zu exceeds 64 bits", k), false;
        }
        w->inner[k] = dims ? dims[k] : most;
        if (w->inner[k] < 0 || w->inner[k] > most)
            return array_fail(why, XIR_E_BOUNDS, "dim %zu is %lld: the tiles have %lld", k, (long long)w->inner[k],
                              (long long)most), false;
    }
    return true;
}

xir_array *xir_array_untile(const xir_array *array, xir_str from, xir_str to, const int64_t *dims, size_t n,
                            xir_diags *why) {
    int64_t moved[AXES], back[AXES];
    walk w = { .inwards = true };
    if (!check_array(array, why)) return NULL;
    const size_t rank = xir_type_rank(array->type);
    const xir_layout *tiled = read_layout(array, from, why), *plain = tiled ? read_layout(array, to, why) : NULL;
    if (!plain || !names_all(plain, xir_layout_rank(plain), why)) return NULL;
    w.n_inner = xir_layout_rank(plain);
    if (xir_layout_rank(tiled) != rank || (dims && n != w.n_inner))
        return array_fail(why, XIR_E_BOUNDS, "the layouts %.*s and %.*s have %zu and %zu axes, found %zu and %zu dims",
                          CLIP(xir_layout_text(tiled)), CLIP(xir_layout_text(plain)), xir_layout_rank(tiled), w.n_inner,
                          rank, dims ? n : w.n_inner), NULL;
    if (!plain_dims(&w, array, plain, tiled, dims, why) || !walk_tiles(&w, plain, tiled, why)) return NULL;
    for (size_t i = 0; i < rank; i++) {
        const int64_t dim = xir_type_dim(array->type, (int64_t)i, false);
        if (xir_layout_unit(tiled, i) && xir_layout_unit(tiled, i) != dim)
            return array_fail(why, XIR_E_BOUNDS, "dim %zu is %lld: the unit is %lld", i, (long long)dim,
                              (long long)xir_layout_unit(tiled, i)), NULL;
        w.outer[i].n = dim;
    }
    find_moved(&w, moved);
    for (size_t i = 0; i < rank; i++) {
        const size_t k = w.outer[i].inner;
        back[i] = moved[k] < 0 || w.inner[k] != w.outer[i].n ? -1 : (int64_t)k;
    }
    return result(array, element_of(array, back), plain, w.inner, w.n_inner, &w, 0, why);
}

/* ---- elements --------------------------------------------------------------------------------------------------- */

/* Cast takes no tiles, but a type in which the same dims are plain. */
xir_array *xir_array_cast(const xir_array *array, const xir_type *element, xir_diags *why) {
    if (!array || !element) return array_fail(why, XIR_E_MISSING, "a cast needs an array and an element type"), NULL;
    if (!xir_type_is_scalar(element))
        return array_fail(why, XIR_E_TYPE, "a cast makes elements: the type is not one of them"), NULL;
    if (xir_type_equal(xir_type_element(array->type), element)) return xir_array_retain((xir_array *)(uintptr_t)array);
    xir_context *ctx = array->ctx;
    const xir_i64s shape = xir_type_as_tensor(array->type)->shape;
    const xir_type *in = xir_type_tensor(ctx, xir_type_element(array->type), NULL, shape.data, shape.size);
    const xir_type *out = xir_type_tensor(ctx, element, NULL, shape.data, shape.size);
    const xir_type *type = xir_type_tensor(ctx, element, xir_type_layout(array->type), shape.data, shape.size);
    xir_network *net = in && out && type ? network_new(ctx) : NULL;
    if (!net) return diag_memory(why), NULL;
    xir_array *plain = NULL, *made = NULL, *done = NULL;
    xir_cast_attrs a = xir_cast_init();
    a.target_dtype = (const xir_tensor_type *)out;
    xir_value *x = xir_input(xir_at_end(net), "x", in);
    xir_op *op = x ? xir_add_cast(xir_at_end(net), (xir_cast_in){ x }, &a) : NULL;
    if (!op) xir_network_move_diags(net, why);
    else if (!array_as(array, in, &plain, why)) {
        const xir_array *given = plain;
        if (!xir_op_run(op, &given, 1, &made, 1, NULL, why)) (void)array_as(made, type, &done, why);
    }
    xir_array_free(plain);
    xir_array_free(made);
    xir_network_free(net);
    return done;
}
