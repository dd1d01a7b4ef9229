/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Rolls next to windows: a map is rolled and cut into windows, and the windows are joined and rolled back, as Swin does
 * around its attention. Reshape, Transpose and Reshape only move whole rows of the last dim, and so does the Roll. Both
 * together are one permutation of rows, a Gather with constant indices:
 *
 *     r = Roll x;  a = Reshape r;  t = Transpose a;  y = Reshape t
 *     r = Reshape x;  g = Gather r, indices;  y = Reshape g                 r is [rows, elements of a row] */
#include <string.h>
#include "fuse/fuse.h"
#include "support/upkeep.h"

/* The indices of all matches of a network together stay below this number: none takes more than its share. */
enum { X, MOST_DIMS = 12, MOST_ROWS = 1 << 16, MOST_INDICES = 1 << 26 };

static xir_i64s dims_of(const xir_value *v) { return xir_type_as_tensor(v->type)->shape; }

/* ---- rows and where they come from ------------------------------------------------------------------------------ */

/* The number of rows of a value with a known shape; 0: unknown, none, or too many. */
static int64_t rows_of(const xir_value *v) {
    xir_i64s dims = dims_of(v);
    int64_t rows = 1;
    if (dims.size < 2 || dims.size > MOST_DIMS) return 0;
    for (size_t i = 0; i < dims.size; i++) {
        if (dims.data[i] <= 0) return 0;
        if (i + 1 < dims.size && (!mul_i64(rows, dims.data[i], &rows) || rows > MOST_ROWS)) return 0;
    }
    return rows;
}

static int64_t row_size(const xir_value *v) { return dims_of(v).data[dims_of(v).size - 1]; }

/* Reads a list of axes; false unless they are a permutation that keeps the last one. */
static bool read_axes(xir_i64s list, size_t rank, size_t *axes) {
    uint32_t seen = 0;
    if (list.size != rank || rank > MOST_DIMS) return false;
    for (size_t i = 0; i < rank; i++) {
        int64_t axis = from_end(list.data[i], (int64_t)rank);
        if (axis < 0 || axis >= (int64_t)rank) return false;
        axes[i] = (size_t)axis;
        seen |= 1u << axis;
    }
    return seen == (1u << rank) - 1 && axes[rank - 1] == rank - 1;
}

/* By how much a Roll moves each dim, from 0 to its size; false if it moves the last dim, or all dims as one. */
static bool read_shifts(const xir_op *op, xir_i64s dims, int64_t *by) {
    const xir_roll_attrs *a = xir_roll_of(op);
    if (!a->dims.size || a->dims.size != a->shifts.size || dims.size > MOST_DIMS) return false;
    memset(by, 0, dims.size * sizeof *by);
    for (size_t i = 0; i < a->dims.size; i++) {
        int64_t axis = from_end(a->dims.data[i], (int64_t)dims.size), n;
        if (axis < 0 || axis >= (int64_t)dims.size - 1) return false;
        n = dims.data[axis];
        by[axis] = (by[axis] + (a->shifts.data[i] % n + n) % n) % n;
    }
    return true;
}

/* Indices of a map as its rows stand now: `at[i]` is the row of the source that row i has. */
typedef struct row_map { int64_t *at, *room; size_t n; } row_map;

/* Moves on to the next place of a map. */
static void step(const int64_t *dims, size_t rank, int64_t *place) {
    for (size_t k = rank; k-- > 0 && ++place[k] == dims[k];) place[k] = 0;
}

static void turn_around(row_map *m) {
    int64_t *was = m->at;
    m->at = m->room;
    m->room = was;
}

static void roll_rows(row_map *m, xir_i64s dims, const int64_t *by) {
    int64_t place[MOST_DIMS] = { 0 };
    size_t rank = dims.size - 1;
    for (size_t i = 0; i < m->n; i++) {
        size_t to = 0;
        for (size_t k = 0; k < rank; k++) {
            to = to * (size_t)dims.data[k] + (size_t)((place[k] + by[k]) % dims.data[k]);
        }
        m->room[to] = m->at[i];
        step(dims.data, rank, place);
    }
    turn_around(m);
}

static void transpose_rows(row_map *m, xir_i64s dims, const size_t *axes) {
    int64_t place[MOST_DIMS] = { 0 }, now[MOST_DIMS];
    size_t rank = dims.size - 1, steps[MOST_DIMS], all = 1;
    for (size_t k = rank; k-- > 0; all *= (size_t)dims.data[k]) steps[k] = all;
    for (size_t k = 0; k < rank; k++) now[k] = dims.data[axes[k]];
    for (size_t i = 0; i < m->n; i++) {
        size_t from = 0;
        for (size_t k = 0; k < rank; k++) from += (size_t)place[k] * steps[axes[k]];
        m->room[i] = m->at[from];
        step(now, rank, place);
    }
    turn_around(m);
}

/* ---- one Gather -------------------------------------------------------------------------------------------------- */

/* The value with other dims, without letters. */
static xir_value *reshaped(xir_at at, xir_value *x, xir_i64s dims, const xir_layout *letters) {
    xir_reshape_attrs a = xir_reshape_init();
    if (!x || !letters) return NULL;
    a.shape = dims;
    a.layout = letters;
    return xir_op_output(xir_add_reshape(at, (xir_reshape_in){ .input = x }, &a), 0);
}

static xir_value *gathered(const xir_match *m, xir_network *net, const row_map *rows) {
    xir_context *ctx = xir_network_context(net);
    xir_value *x = xir_match_value(m, X), *out = xir_op_output(m->root, 0);
    const int64_t flat[] = { (int64_t)rows->n, row_size(x) };
    const xir_type *type = xir_type_tensor_text(ctx, xir_type_sint(ctx, 64), "*", flat, 1);
    const xir_layout *letters = xir_layout_default(ctx, 2);
    xir_at at = xir_match_at(m), inner = at;
    inner.name = (xir_str){ NULL, 0 };
    if (!type || !letters) net_no_memory(net);
    xir_value *indices = type ? xir_params_copy(net, inner.name, type, rows->at, rows->n * sizeof *rows->at) : NULL;
    xir_value *y = reshaped(inner, x, (xir_i64s){ flat, 2 }, letters);
    if (!y || !indices) return NULL;
    xir_gather_attrs a = xir_gather_init();
    a.axis = 0;
    y = xir_op_output(xir_add_gather(inner, (xir_gather_in){ .data = y, .indices = indices }, &a), 0);
    return reshaped(at, y, dims_of(out), xir_type_layout(out->type));
}

/* The Rolls, and the moves of windows after or before them, in the order of the computation. */
typedef struct moved { const xir_op *rolls[2], *transpose; bool rolled_first; } moved;

static xir_verdict to_gather(xir_rewriter *at, const xir_match *m, const moved *ops) {
    xir_network *net = xir_rewriter_network(at);
    const xir_value *apart = xir_op_input(ops->transpose, 0);
    size_t n = (size_t)rows_of(xir_match_value(m, X)), axes[MOST_DIMS];
    int64_t by[MOST_DIMS];
    row_map rows = { mem_new(&net->alloc, n * sizeof *rows.at), mem_new(&net->alloc, n * sizeof *rows.room), n };
    int64_t *const first = rows.at, *const second = rows.room;
    xir_value *y = NULL;
    if (first && second) {
        for (size_t i = 0; i < n; i++) rows.at[i] = (int64_t)i;
        bool good = read_axes(xir_transpose_of(ops->transpose)->dims, dims_of(apart).size, axes);
        if (good && !ops->rolled_first) transpose_rows(&rows, dims_of(apart), axes);
        for (size_t i = 0; i < 2 && good; i++) {
            if (!ops->rolls[i]) continue;
            xir_i64s dims = dims_of(xir_op_input(ops->rolls[i], 0));
            good = read_shifts(ops->rolls[i], dims, by);
            if (good) roll_rows(&rows, dims, by);
        }
        if (good && ops->rolled_first) transpose_rows(&rows, dims_of(apart), axes);
        if (good) y = gathered(m, net, &rows);
    } else {
        net_no_memory(net);
    }
    mem_free(&net->alloc, first, n * sizeof *first);
    mem_free(&net->alloc, second, n * sizeof *second);
    return xir_match_replace(m, y);
}

/* Returns true if the parts move whole rows of a known number. */
static bool moves_rows(const xir_match *m, const moved *ops) {
    const xir_value *x = xir_match_value(m, X), *y = xir_op_output(m->root, 0);
    const xir_value *apart = xir_op_input(ops->transpose, 0);
    size_t axes[MOST_DIMS];
    int64_t by[MOST_DIMS];
    if (!y || !fuse_check_ops(m) || !fuse_is_plain(x->type) || !fuse_is_plain(apart->type) ||
        !fuse_is_plain(y->type) || !xir_type_layout(y->type)) return false;
    if (!xir_type_equal(xir_type_element(x->type), xir_type_element(y->type)) ||
        !xir_type_equal(xir_type_element(x->type), xir_type_element(apart->type))) return false;
    if (!rows_of(x) || rows_of(apart) != rows_of(x) || rows_of(y) != rows_of(x)) return false;
    if ((size_t)rows_of(x) > MOST_INDICES / xir_network_op_count(xir_op_network(m->root))) return false;
    if (row_size(apart) != row_size(x) || row_size(y) != row_size(x)) return false;
    for (size_t i = 0; i < 2; i++) {
        const xir_value *whole = ops->rolls[i] ? xir_op_input(ops->rolls[i], 0) : x;
        if (!fuse_is_plain(whole->type) || rows_of(whole) != rows_of(x) || row_size(whole) != row_size(x)) return false;
        if (ops->rolls[i] && !read_shifts(ops->rolls[i], dims_of(whole), by)) return false;
    }
    return read_axes(xir_transpose_of(ops->transpose)->dims, dims_of(apart).size, axes);
}

/* ---- Roll, then windows ------------------------------------------------------------------------------------------ */

enum { A_FIRST = 1, A_ROLL, A_APART, A_TURNED, A_OUT };
static const xir_pattern_row rolled_rows[] = {
    [X]        = { XIR_ROW_ANY },
    [A_FIRST]  = { XIR_ROW_OP(xir_roll_class), XIR_ROW_INPUTS(X), .optional = true },
    [A_ROLL]   = { XIR_ROW_OP(xir_roll_class), XIR_ROW_INPUTS(A_FIRST) },
    [A_APART]  = { XIR_ROW_OP(xir_reshape_class), XIR_ROW_INPUTS(A_ROLL) },
    [A_TURNED] = { XIR_ROW_OP(xir_transpose_class), XIR_ROW_INPUTS(A_APART) },
    [A_OUT]    = { XIR_ROW_OP(xir_reshape_class), XIR_ROW_INPUTS(A_TURNED) },
};

static moved rolled_ops(const xir_match *m) {
    return (moved){ { xir_match_op(m, A_FIRST), xir_match_op(m, A_ROLL) }, xir_match_op(m, A_TURNED), true };
}

static bool is_rolled(const xir_match *m, void *user) {
    (void)user;
    const moved ops = rolled_ops(m);
    return moves_rows(m, &ops);
}

static const xir_pattern_decl rolled = {
    XIR_PATTERN_HEAD("rolled-windows", rolled_rows), .closed = true, .check = is_rolled,
};

static xir_verdict rolled_to_gather(xir_rewriter *at, const xir_match *m, const void *user) {
    (void)user;
    const moved ops = rolled_ops(m);
    return to_gather(at, m, &ops);
}

/* ---- windows, then Roll ------------------------------------------------------------------------------------------ */

enum { B_APART = 1, B_TURNED, B_WHOLE, B_FIRST, B_OUT };
static const xir_pattern_row joined_rows[] = {
    [X]        = { XIR_ROW_ANY },
    [B_APART]  = { XIR_ROW_OP(xir_reshape_class), XIR_ROW_INPUTS(X) },
    [B_TURNED] = { XIR_ROW_OP(xir_transpose_class), XIR_ROW_INPUTS(B_APART) },
    [B_WHOLE]  = { XIR_ROW_OP(xir_reshape_class), XIR_ROW_INPUTS(B_TURNED) },
    [B_FIRST]  = { XIR_ROW_OP(xir_roll_class), XIR_ROW_INPUTS(B_WHOLE), .optional = true },
    [B_OUT]    = { XIR_ROW_OP(xir_roll_class), XIR_ROW_INPUTS(B_FIRST) },
};

static moved joined_ops(const xir_match *m) {
    return (moved){ { xir_match_op(m, B_FIRST), xir_match_op(m, B_OUT) }, xir_match_op(m, B_TURNED), false };
}

/* A Roll after this one is the rest of the roll: then that one is the root. */
static bool ends_here(const xir_value *y) {
    const xir_use *u = y->uses;
    return !u || u->next || !xir_op_is(u->user, xir_roll_class());
}

static bool is_joined(const xir_match *m, void *user) {
    (void)user;
    const moved ops = joined_ops(m);
    return moves_rows(m, &ops) && ends_here(xir_op_output(m->root, 0));
}

static const xir_pattern_decl joined = {
    XIR_PATTERN_HEAD("windows-rolled", joined_rows), .closed = true, .check = is_joined,
};

static xir_verdict joined_to_gather(xir_rewriter *at, const xir_match *m, const void *user) {
    (void)user;
    const moved ops = joined_ops(m);
    return to_gather(at, m, &ops);
}

const fuse_rule fuse_windows[] = {
    { &rolled, rolled_to_gather },
    { &joined, joined_to_gather },
    { NULL, NULL },
};
