/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Ops that only move elements, taken apart by an exporter: Roll as two Slices and a Concat; ChannelShuffle and
 * PixelShuffle as Reshape, Transpose, Reshape. */
#include <string.h>
#include "fuse/fuse.h"
#include "support/affine.h"
#include "support/upkeep.h"

enum { X, MOST_DIMS = 16 };

static xir_i64s dims_of(const xir_value *v) { return xir_type_as_tensor(v->type)->shape; }

static bool is_movable(const xir_match *m) {
    const xir_value *x = xir_match_value(m, X), *y = xir_op_output(m->root, 0);
    return y && fuse_check_ops(m) && fuse_is_plain(x->type) && fuse_is_plain(y->type) &&
           xir_type_equal(xir_type_element(x->type), xir_type_element(y->type)) &&
           xir_type_rank(x->type) <= MOST_DIMS;
}

/* ---- Roll: the end of a dim, then its beginning ----------------------------------------------------------------- */

enum { R_END = 1, R_BEGIN, R_OUT };
static const xir_pattern_row roll_rows[] = {
    [X]       = { XIR_ROW_ANY },
    [R_END]   = { XIR_ROW_OP(xir_slice_class), XIR_ROW_INPUTS(X) },
    [R_BEGIN] = { XIR_ROW_OP(xir_slice_class), XIR_ROW_INPUTS(X) },
    [R_OUT]   = { XIR_ROW_OP(xir_concat_class), XIR_ROW_INPUTS(R_END, R_BEGIN) },
};

/* A position of a slice with a positive step in a known dim. */
static int64_t position(int64_t at, int64_t n) {
    if (at < 0) at += n;
    return at < 0 ? 0 : at > n ? n : at;
}

/* Returns true if a slice takes [*from, *to) of the axis and all of the other dims. */
static bool takes_part(const xir_op *op, xir_i64s dims, size_t axis, int64_t *from, int64_t *to) {
    const xir_slice_attrs *a = xir_slice_of(op);
    if (a->begin.size != dims.size || a->end.size != dims.size || a->stride.size != dims.size) return false;
    for (size_t i = 0; i < dims.size; i++) {
        int64_t n = dims.data[i], begin = a->begin.data[i], end = a->end.data[i];
        if (a->stride.data[i] != 1) return false;
        if (i == axis) {
            *from = position(begin, n);
            *to = position(end, n);
        } else if (n < 0 ? begin != 0 || end < INT32_MAX : position(begin, n) != 0 || position(end, n) != n) {
            return false;
        }
    }
    return true;
}

/* By how much the Concat rolls its axis; of both directions the shorter one. */
static bool read_roll(const xir_match *m, int64_t *axis, int64_t *shift) {
    xir_i64s dims = dims_of(xir_match_value(m, X));
    int64_t from, to, start, middle, rank = (int64_t)dims.size;
    *axis = from_end(xir_concat_of(m->root)->axis, rank);
    if (*axis < 0 || *axis >= rank || dims.data[*axis] <= 0) return false;
    if (!takes_part(xir_match_op(m, R_END), dims, (size_t)*axis, &from, &to) ||
        !takes_part(xir_match_op(m, R_BEGIN), dims, (size_t)*axis, &start, &middle)) return false;
    int64_t n = dims.data[*axis];
    *shift = from > n - from ? n - from : -from;
    return start == 0 && middle == from && to == n;
}

static bool is_roll(const xir_match *m, void *user) {
    (void)user;
    int64_t axis, shift;
    return is_movable(m) && xir_type_equal(xir_match_value(m, X)->type, xir_op_output(m->root, 0)->type) &&
           read_roll(m, &axis, &shift);
}

static const xir_pattern_decl roll = { XIR_PATTERN_HEAD("roll", roll_rows), .closed = true, .check = is_roll };

static xir_verdict make_roll(const xir_match *m, const int64_t *shifts, const int64_t *dims, size_t n) {
    xir_roll_attrs a = xir_roll_init();
    a.shifts = (xir_i64s){ shifts, n };
    a.dims = (xir_i64s){ dims, n };
    xir_op *now = xir_add_roll(xir_match_at(m), (xir_roll_in){ .input = xir_match_value(m, X) }, &a);
    return xir_match_replace(m, xir_op_output(now, 0));
}

static xir_verdict to_roll(xir_rewriter *at, const xir_match *m, const void *user) {
    (void)at, (void)user;
    int64_t axis, shift;
    return read_roll(m, &axis, &shift) ? make_roll(m, &shift, &axis, 1) : XIR_REWRITE_LEFT;
}

/* ---- Rolls in sequence ------------------------------------------------------------------------------------------ */

enum { T_FIRST = 1, T_OUT };
static const xir_pattern_row rolls_rows[] = {
    [X]       = { XIR_ROW_ANY },
    [T_FIRST] = { XIR_ROW_OP(xir_roll_class), XIR_ROW_INPUTS(X) },
    [T_OUT]   = { XIR_ROW_OP(xir_roll_class), XIR_ROW_INPUTS(T_FIRST) },
};

static bool has_pairs(const xir_roll_attrs *a) {
    return a->dims.size > 0 && a->dims.size == a->shifts.size && a->dims.size <= MOST_DIMS;
}

static bool are_rolls(const xir_match *m, void *user) {
    (void)user;
    return is_movable(m) && xir_type_equal(xir_match_value(m, X)->type, xir_op_output(m->root, 0)->type) &&
           has_pairs(xir_roll_of(xir_match_op(m, T_FIRST))) && has_pairs(xir_roll_of(m->root)) &&
           xir_roll_of(xir_match_op(m, T_FIRST))->dims.size + xir_roll_of(m->root)->dims.size <= MOST_DIMS;
}

static const xir_pattern_decl rolls = { XIR_PATTERN_HEAD("rolls", rolls_rows), .closed = true, .check = are_rolls };

static xir_verdict to_one_roll(xir_rewriter *at, const xir_match *m, const void *user) {
    (void)at, (void)user;
    const xir_roll_attrs *first = xir_roll_of(xir_match_op(m, T_FIRST)), *second = xir_roll_of(m->root);
    int64_t shifts[MOST_DIMS], dims[MOST_DIMS];
    size_t n = first->dims.size, more = second->dims.size;
    memcpy(shifts, first->shifts.data, n * sizeof *shifts);
    memcpy(shifts + n, second->shifts.data, more * sizeof *shifts);
    memcpy(dims, first->dims.data, n * sizeof *dims);
    memcpy(dims + n, second->dims.data, more * sizeof *dims);
    return make_roll(m, shifts, dims, n + more);
}

/* ---- Reshape, Transpose, Reshape -------------------------------------------------------------------------------- */

enum { S_LIST = 1, S_APART, S_TURNED, S_BACK, S_OUT };
static const xir_pattern_row shuffle_rows[] = {
    [X]        = { XIR_ROW_ANY },
    [S_LIST]   = { XIR_ROW_ANY, .optional = true },   /* computed dims: the types have them, too */
    [S_APART]  = { XIR_ROW_OP(xir_reshape_class), XIR_ROW_INPUTS(X, S_LIST) },
    [S_TURNED] = { XIR_ROW_OP(xir_transpose_class), XIR_ROW_INPUTS(S_APART) },
    [S_BACK]   = { XIR_ROW_ANY, .optional = true },
    [S_OUT]    = { XIR_ROW_OP(xir_reshape_class), XIR_ROW_INPUTS(S_TURNED, S_BACK) },
};

/* Dims that a Transpose brings into another order; dims of 1 are left out, because they may stand anywhere. */
typedef struct turn { int64_t dims[MOST_DIMS]; size_t order[MOST_DIMS], n; } turn;

/* False if a dim is unknown or 0, or if the order is not a permutation. */
static bool make_turn(const int64_t *dims, const int64_t *order, size_t rank, turn *out) {
    size_t place[MOST_DIMS];
    uint32_t seen = 0;
    out->n = 0;
    for (size_t i = 0; i < rank; i++) {
        if (dims[i] == 0 || dims[i] == XIR_UNKNOWN_DIM) return false;
        place[i] = out->n;
        if (dims[i] != 1) out->dims[out->n++] = dims[i];
    }
    for (size_t i = 0, n = 0; i < rank; i++) {
        int64_t axis = from_end(order[i], (int64_t)rank);
        if (axis < 0 || axis >= (int64_t)rank || seen >> axis & 1) return false;
        seen |= 1u << axis;
        if (dims[axis] != 1) out->order[n++] = place[axis];
    }
    return true;
}

static bool read_turn(const xir_match *m, turn *out) {
    const xir_type *x = xir_match_value(m, X)->type, *apart = xir_match_value(m, S_APART)->type;
    if (!fuse_is_plain(apart) || !xir_type_equal(xir_type_element(apart), xir_type_element(x))) return false;
    xir_i64s dims = dims_of(xir_match_value(m, S_APART));
    const xir_transpose_attrs *t = xir_transpose_of(xir_match_op(m, S_TURNED));
    return dims.size <= MOST_DIMS && t->dims.size == dims.size && make_turn(dims.data, t->dims.data, dims.size, out);
}

static bool same_turn(const turn *a, const turn *b) {
    return a->n == b->n && memcmp(a->dims, b->dims, a->n * sizeof *a->dims) == 0 &&
           memcmp(a->order, b->order, a->n * sizeof *a->order) == 0;
}

/* The product of known dims; 0 if one is unknown, or the product is very large. */
static int64_t product(const int64_t *dims, size_t n) {
    int64_t all = 1;
    for (size_t i = 0; i < n; i++) {
        if (dims[i] <= 0 || !mul_i64(all, dims[i], &all)) return 0;
    }
    return all;
}

/* A value with the letters of X stands for the root, if need be before a Reshape that gives it other letters and that
 * can say all dims. */
static bool can_put_back(const xir_match *m) {
    const xir_type *x = xir_match_value(m, X)->type, *y = xir_op_output(m->root, 0)->type;
    const xir_layout *of_x = xir_type_layout(x), *of_y = xir_type_layout(y);
    if (!of_x || !of_y) return false;
    return xir_object_equal((const xir_object *)of_x, (const xir_object *)of_y) || !xir_type_has_unknown_dim(y);
}

static bool has_letters_of_x(const xir_match *m) {
    return xir_object_equal((const xir_object *)xir_type_layout(xir_match_value(m, X)->type),
                            (const xir_object *)xir_type_layout(xir_op_output(m->root, 0)->type));
}

/* The cursor for the op that stands for the root, which has its name if nothing follows. */
static xir_at at_root(const xir_match *m) {
    xir_at at = xir_match_at(m);
    if (!has_letters_of_x(m)) at.name = (xir_str){ NULL, 0 };
    return at;
}

/* Replaces the parts by an op whose output has the dims of the last Reshape, perhaps with other letters. */
static xir_verdict put_back(const xir_match *m, xir_value *y) {
    xir_value *out = xir_op_output(m->root, 0);
    xir_reshape_attrs a = xir_reshape_init();
    if (!y || has_letters_of_x(m)) return xir_match_replace(m, y);
    a.shape = dims_of(out);
    a.layout = xir_type_layout(out->type);
    xir_op *now = xir_add_reshape(xir_match_at(m), (xir_reshape_in){ .input = y }, &a);
    return xir_match_replace(m, xir_op_output(now, 0));
}

/* ---- ChannelShuffle: [groups, each] channels become [each, groups] ---------------------------------------------- */

/* Two neighbouring blocks of dims change places, and together they are the channels. */
static bool read_groups(const xir_match *m, int64_t *groups) {
    const xir_value *x = xir_match_value(m, X);
    turn t;
    size_t i = 0, j = 0, k;
    int64_t channel = channel_dim(x->type), each, after;
    xir_i64s dims = dims_of(x);
    if (channel < 0 || !read_turn(m, &t)) return false;
    while (i < t.n && t.order[i] == i) i++;
    if (i == t.n) return false;
    const size_t middle = t.order[i];
    for (k = i; k < t.n && t.order[k] == middle + (k - i); k++) {}
    const size_t end = middle + (k - i);
    for (j = k; j < t.n && t.order[j] == (j < end ? i + (j - k) : j); j++) {}
    if (j != t.n) return false;
    *groups = product(t.dims + i, middle - i);
    each = product(t.dims + middle, end - middle);
    after = product(t.dims + end, t.n - end);
    return *groups > 0 && each > 0 && after > 0 && dims.data[channel] > 0 &&
           dims.data[channel] % each == 0 && dims.data[channel] / each == *groups &&
           after == product(dims.data + channel + 1, dims.size - (size_t)channel - 1);
}

static bool same_dims(const xir_value *a, const xir_value *b) {
    xir_i64s x = dims_of(a), y = dims_of(b);
    bool same = x.size == y.size;
    for (size_t i = 0; i < x.size && same; i++) same = x.data[i] == y.data[i] && x.data[i] != XIR_UNKNOWN_DIM;
    return same;
}

static bool is_channel_shuffle(const xir_match *m, void *user) {
    (void)user;
    int64_t groups;
    return is_movable(m) && can_put_back(m) && same_dims(xir_match_value(m, X), xir_op_output(m->root, 0)) &&
           read_groups(m, &groups);
}

static const xir_pattern_decl channel_shuffle = {
    XIR_PATTERN_HEAD("channel-shuffle", shuffle_rows), .closed = true, .check = is_channel_shuffle,
};

static xir_verdict to_channel_shuffle(xir_rewriter *at, const xir_match *m, const void *user) {
    (void)at, (void)user;
    xir_value *x = xir_match_value(m, X);
    xir_channel_shuffle_attrs a = xir_channel_shuffle_init();
    if (!read_groups(m, &a.groups)) return XIR_REWRITE_LEFT;
    xir_op *now = xir_add_channel_shuffle(at_root(m), (xir_channel_shuffle_in){ .input = x }, &a);
    return put_back(m, xir_op_output(now, 0));
}

/* ---- PixelShuffle: [c, r, r] channels become parts of rows and columns ------------------------------------------ */

/* Returns true if letters say that the channels are last, or second. */
static bool is_image(const xir_type *type, bool *last) {
    const xir_layout *letters = xir_type_layout(type);
    if (xir_type_rank(type) != 4 || !letters) return false;
    xir_str text = xir_layout_text(letters);
    *last = xir_str_equal(text, XIR_STR("NHWC"));
    return *last || xir_str_equal(text, XIR_STR("NCHW"));
}

static bool read_factor(const xir_match *m, int64_t *factor) {
    static const int64_t order[] = { 0, 1, 4, 2, 5, 3 };
    const xir_value *x = xir_match_value(m, X), *y = xir_op_output(m->root, 0);
    turn is, wanted;
    bool last;
    if (!is_image(x->type, &last) || xir_type_rank(y->type) != 4 || !read_turn(m, &is)) return false;
    const int64_t *in = dims_of(x).data, *to = dims_of(y).data;
    const size_t c = last ? 3 : 1, h = last ? 1 : 2;
    if (in[c] <= 0 || to[c] <= 0 || in[h] <= 0 || in[h + 1] <= 0 || to[h] % in[h]) return false;
    const int64_t r = *factor = to[h] / in[h];
    if (r < 2 || r > INT32_MAX || in[c] % r || in[c] / r % r || in[c] / r / r != to[c]) return false;
    const int64_t first[]    = { in[0], to[c], r, r, in[h], in[h + 1] },
                  trailing[] = { in[0], in[h], in[h + 1], to[c], r, r };
    return to[0] == in[0] && to[h + 1] / r == in[h + 1] && to[h + 1] % r == 0 &&
           make_turn(last ? trailing : first, order, 6, &wanted) && same_turn(&is, &wanted);
}

static bool is_pixel_shuffle(const xir_match *m, void *user) {
    (void)user;
    int64_t factor;
    return is_movable(m) && can_put_back(m) && read_factor(m, &factor);
}

static const xir_pattern_decl pixel_shuffle = {
    XIR_PATTERN_HEAD("pixel-shuffle", shuffle_rows), .closed = true, .check = is_pixel_shuffle,
};

static xir_verdict to_pixel_shuffle(xir_rewriter *at, const xir_match *m, const void *user) {
    (void)at, (void)user;
    xir_pixel_shuffle_attrs a = xir_pixel_shuffle_init();
    if (!read_factor(m, &a.upscale_factor)) return XIR_REWRITE_LEFT;
    xir_op *now = xir_add_pixel_shuffle(at_root(m), (xir_pixel_shuffle_in){ .input = xir_match_value(m, X) }, &a);
    return put_back(m, xir_op_output(now, 0));
}

const fuse_rule fuse_moves[] = {
    { &roll,            to_roll            },
    { &rolls,           to_one_roll        },
    { &channel_shuffle, to_channel_shuffle },
    { &pixel_shuffle,   to_pixel_shuffle   },
    { NULL, NULL },
};
