/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Random cases of moves, and a way to run them on the library without building a network for each. */
#include <stdio.h>
#include <string.h>
#include "moves.h"
#include <xir/xir.h>

/* ---- running ---------------------------------------------------------------------------------------------------- */

struct moves moves;

const char *const move_names[KINDS] = {   // ORDER move_kind
    "Slice", "Split", "Unstack", "Roll", "SwapOrder", "Pad", "Concat", "Stack", "Transpose", "Squeeze", "Expand", "Tile",
    "Reshape", "ChannelShuffle", "PixelShuffle",
};

void moves_begin(void) {
    moves.target = NULL;
    moves.tiles_at = moves.unit_at = 0;
    moves.ctx = xir_context_new(NULL);
    moves.net = xir_network_new(moves.ctx, "net", XIR_FRAMEWORK_PYTORCH, "v1.9");
    const xir_type *number = xir_type_tensor(moves.ctx, xir_type_float(moves.ctx, XIR_FLOAT_FP32), NULL, NULL, 0);
    for (size_t i = 0; i < MOST_INPUTS; i++) moves.values[i] = value_make_orphan(moves.net, number);
    assert_non_null(moves.values[MOST_INPUTS - 1]);
}
void moves_end(void) {
    xir_network_free(moves.net);
    xir_context_free(moves.ctx);
}

typedef union any_attrs {
    xir_slice_attrs slice; xir_split_attrs split; xir_unstack_attrs unstack; xir_roll_attrs roll;
    xir_swap_order_attrs swap; xir_pad_attrs pad; xir_concat_attrs concat; xir_stack_attrs stack;
    xir_transpose_attrs transpose; xir_squeeze_attrs squeeze;
    xir_expand_attrs expand; xir_tile_attrs tile; xir_reshape_attrs reshape; xir_channel_shuffle_attrs shuffle;
    xir_pixel_shuffle_attrs pixel;
} any_attrs;

static const xir_class_decl *attrs_of(const move_case *c, any_attrs *a) {
    const xir_i64s x = { c->a.data, c->a.size }, y = { c->b.data, c->b.size }, z = { c->c.data, c->c.size },
                   null = { NULL, 0 };
    const int64_t n = c->number;
    const xir_scalar *zero = xir_scalar_int(moves.ctx, 0);
#define WITH(id, member, ...) a->member = *XIR_ATTRS(id, __VA_ARGS__); return xir_##id##_class()
    switch (c->kind) {
    case SLICE:     WITH(slice,           slice,     (begin, x), (end, y), (stride, z));
    case SPLIT:     WITH(split,           split,     (sections, x), (axis, n));
    case UNSTACK:   WITH(unstack,         unstack,   (dim, n));
    case ROLL:      WITH(roll,            roll,      (shifts, x), (dims, c->null_list ? null : y));
    case SWAP:      WITH(swap_order,      swap,      (order, x), (axis, n));
    case PAD:       WITH(pad,             pad,       (padding, x), (mode, (xir_pad_mode)n), (value, zero));
    case CONCAT:    WITH(concat,          concat,    (axis, n));
    case STACK:     WITH(stack,           stack,     (dim, n));
    case TRANSPOSE: WITH(transpose,       transpose, (dims, x));
    case SQUEEZE:   WITH(squeeze,         squeeze,   (axis, x));
    case EXPAND:    WITH(expand,          expand,    (sizes, x));
    case TILE:      WITH(tile,            tile,      (dims, x));
    case RESHAPE:   WITH(reshape,         reshape,   (shape, x), (layout, xir_layout_default(moves.ctx, x.size)));
    case SHUFFLE:   WITH(channel_shuffle, shuffle,   (groups, n));
    case PIXEL:     WITH(pixel_shuffle,   pixel,     (upscale_factor, n));
    case KINDS:     break;
    }
#undef WITH
    return NULL;
}

xir_status move_run(const move_case *c, const xir_type *const *types, xir_infer *at) {
    any_attrs a;
    const xir_class_decl *decl = attrs_of(c, &a);
    for (size_t i = 0; i < c->n_inputs; i++) assert_int_equal(xir_value_set_type(moves.values[i], types[i]), XIR_OK);
    infer_start(at, moves.net, xir_class_find_decl(moves.ctx, decl), &a, moves.target, moves.values, c->n_inputs,
                (xir_str){ NULL, 0 }, NULL);
    return infer_run(at);
}

void move_describe(const move_case *c) {
    const list *lists[] = { &c->a, &c->b, &c->c };
    print_error("%s number=%lld\n", move_names[c->kind], (long long)c->number);
    for (size_t i = 0; i < c->n_inputs; i++) {
        print_error("  input %zu:", i);
        for (size_t k = 0; k < c->in[i].rank; k++) print_error(" %lld", (long long)c->in[i].dim[k]);
        xir_text_buffer text = { 0 };
        xir_object_print(moves.ctx, (const xir_object *)xir_value_type(moves.values[i]), 0, &text);
        print_error("   %.*s\n", (int)text.size, text.data);
        xir_text_free(&text);
    }
    for (size_t i = 0; i < 3; i++) {
        print_error("  list %zu:", i);
        for (size_t k = 0; k < lists[i]->size; k++) print_error(" %lld", (long long)lists[i]->data[k]);
        print_error("\n");
    }
}

void move_describe_type(const char *what, const xir_type *type) {
    xir_text_buffer text = { 0 };
    xir_object_print(moves.ctx, (const xir_object *)type, 0, &text);
    print_error("  %s: %.*s\n", what, (int)text.size, text.data);
    xir_text_free(&text);
}

/* ---- random cases ----------------------------------------------------------------------------------------------- */

static shape some_shape(size_t rank) {
    shape s = { .rank = rank };
    for (size_t k = 0; k < rank; k++) s.dim[k] = chance(12) ? between(1, 4) : 0;
    return s;
}

static int64_t some_place(void) { return chance(8) ? between(-6, 6) : chance(2) ? INT64_MAX : INT64_MIN; }

/* Usually an axis that exists, counted from either end. */
static int64_t some_axis(size_t rank) {
    return chance(30) ? between(-(int64_t)rank, (int64_t)rank - (rank > 0)) : between(-9, 9);
}

void move_shuffled(list *l, size_t n) {
    l->size = n;
    for (size_t i = 0; i < n; i++) l->data[i] = (int64_t)i;
    for (size_t i = n; i > 1; i--) {
        size_t k = chance(i);
        int64_t other = l->data[k];
        l->data[k] = l->data[i - 1];
        l->data[i - 1] = other;
    }
}

move_case move_by_chance(move_kind kind) {
    move_case c = { .kind = kind, .n_inputs = 1 };
    size_t rank = chance(5), axis;
    c.in[0] = some_shape(kind == PIXEL ? 4 : rank);
    shape *in = c.in;
    c.number = some_axis(rank);
    axis = rank ? (size_t)((c.number % (int64_t)rank + (int64_t)rank) % (int64_t)rank) : 0;
    switch (kind) {
    case SLICE:
        c.a.size = c.b.size = c.c.size = rank;
        for (size_t k = 0; k < rank; k++) {
            c.a.data[k] = chance(4) ? some_place() : 0;
            c.b.data[k] = chance(4) ? some_place() : INT64_MAX;
            c.c.data[k] = chance(3) ? chance(9) ? between(1, 3) : INT64_MAX : chance(9) ? between(-3, -1) : INT64_MIN;
        }
        break;
    case SPLIT: {
        int64_t rest = rank ? in->dim[axis] : 1;
        while (c.a.size < 4) {
            c.a.data[c.a.size] = c.a.size == 3 || !chance(3) ? rest : between(0, rest);
            rest -= c.a.data[c.a.size++];
            if (rest == 0 && chance(2)) break;
        }
        if (!chance(20)) c.a.data[0] += between(-1, 1);
        break;
    }
    case UNSTACK: break;
    case ROLL:
        c.b.size = rank ? chance(4) : 0;
        c.null_list = c.b.size == 0 && chance(2);
        c.a.size = c.b.size ? c.b.size : 1;
        for (size_t i = 0; i < c.a.size; i++) c.a.data[i] = between(-9, 9);
        for (size_t i = 0; i < c.b.size; i++) c.b.data[i] = some_axis(rank);
        if (!chance(30)) c.a.size = chance(4);
        break;
    case SWAP:
        move_shuffled(&c.a, rank ? (size_t)in->dim[axis] : 2);
        if (c.a.size && !chance(20)) c.a.data[chance(c.a.size)] = between(-1, 4);
        break;
    case PAD:
        c.number = (int64_t)chance(4);
        c.a.size = 2 * rank;
        for (size_t k = 0; k < rank; k++) {
            bool some = chance(2);
            for (size_t i = 0; i < 2; i++) c.a.data[2 * k + i] = some ? between(-1, 3) : 0;
        }
        break;
    case CONCAT:
        c.n_inputs = 1 + chance(MOST_INPUTS);
        if (!chance(2)) c.number = c.number < 0 ? -1 : c.number;
        if (rank) axis = c.number == -1 ? rank - 1 : axis;
        for (size_t i = 1; i < c.n_inputs; i++) {
            in[i] = *in;
            if (rank) in[i].dim[axis] = between(0, 4);
            if (!chance(20)) in[i] = some_shape(chance(5));
        }
        break;
    case STACK:
        c.n_inputs = 1 + chance(MOST_INPUTS);
        c.number = some_axis(rank + 1);
        for (size_t i = 1; i < c.n_inputs; i++) in[i] = chance(20) ? *in : some_shape(chance(5));
        break;
    case TRANSPOSE:
        move_shuffled(&c.a, rank);
        for (size_t k = 0; k < rank; k++) if (!chance(3)) c.a.data[k] -= (int64_t)rank;
        if (rank && !chance(20)) c.a.data[chance(rank)] = between(-5, 5);
        break;
    case SQUEEZE:
        for (size_t k = 0; k < rank; k++) {
            if (chance(2)) in->dim[k] = 1;
            if (in->dim[k] == 1 && chance(2))
                c.a.data[c.a.size++] = chance(2) ? (int64_t)k : (int64_t)k - (int64_t)rank;
        }
        if (!chance(20)) c.a.data[c.a.size++] = some_axis(rank);
        break;
    case EXPAND:
        c.a.size = rank + chance(3);
        for (size_t k = 0; k < c.a.size; k++) {
            bool fresh = k + rank < c.a.size;
            int64_t *dim = fresh ? NULL : &in->dim[k + rank - c.a.size];
            if (dim && chance(2)) *dim = 1;
            c.a.data[k] = !dim || *dim == 1 ? between(0, 4) : chance(2) ? -1 : *dim;
            if (!chance(20)) c.a.data[k] = between(-2, 4);
        }
        break;
    case TILE:
        c.a.size = chance(6);
        for (size_t k = 0; k < c.a.size; k++) c.a.data[k] = chance(12) ? between(1, 3) : between(-1, 0);
        break;
    case RESHAPE: {
        /* Merges adjacent dims, splits dims, and inserts dims of 1; sometimes the number of elements differs. */
        int64_t carry = 1;
        for (size_t k = 0; k < rank; k++) {
            carry *= in->dim[k];
            if (k + 1 < rank && !chance(3)) continue;
            if (carry > 0 && carry % 2 == 0 && !chance(4) && c.a.size < 4) c.a.data[c.a.size++] = 2, carry /= 2;
            if (!chance(6) && c.a.size < 4) c.a.data[c.a.size++] = 1;
            c.a.data[c.a.size++] = carry;
            carry = 1;
        }
        if (c.a.size && !chance(3)) c.a.data[chance(c.a.size)] = chance(9) ? -1 : between(-2, 5);
        if (c.a.size > MOST_RANK) c.a.size = MOST_RANK;
        break;
    }
    case SHUFFLE:
        c.number = between(chance(20) != 0, 3);
        if (rank) in->dim[rank - 1] = chance(9) ? c.number * between(0, 3) : between(0, 7);
        break;
    case PIXEL:
        c.number = between(chance(20) != 0, 3);
        in->dim[3] = chance(9) ? c.number * c.number * between(0, 2) : between(0, 7);
        break;
    case KINDS: break;
    }
    return c;
}
