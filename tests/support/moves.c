/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The second implementation of moves: it computes with indices, one element after the other. */
#include <string.h>
#include "moves.h"
#include <xir/xir.h>

int64_t shape_elements(const shape *s) {
    int64_t n = 1;
    for (size_t k = 0; k < s->rank; k++) n *= s->dim[k];
    return n;
}

bool move_axis(int64_t *axis, size_t rank) {
    if (*axis < 0) *axis += (int64_t)rank;
    return *axis >= 0 && *axis < (int64_t)rank;
}

size_t move_picked(int64_t begin, int64_t end, int64_t stride, int64_t n, int64_t *out) {
    __extension__ typedef __int128 wide;
    wide b = begin, e = end;
    size_t count = 0;
    if (b < 0) b += n;
    if (e < 0) e += n;
    wide least = stride < 0 ? -1 : 0, most = stride < 0 ? n - 1 : n;
    while (b < least || b > most) b = b < least ? least : most;
    while (e < least || e > most) e = e < least ? least : most;
    for (wide i = b; stride > 0 ? i < e : i > e; i += stride) out[count++] = (int64_t)i;
    return count;
}

/* The index in a dim of size n of the element at index `at` of the padded dim; -1: a new element; -2: there is no
 * such element. */
static int64_t padded_from(int64_t mode, int64_t n, int64_t before, int64_t after, int64_t at) {
    int64_t first = before < 0 ? -before : 0, last = n - 1 + (after < 0 ? after : 0), i = at - before;
    if (i >= first && i <= last) return i;
    if (mode == XIR_PAD_CONSTANT) return -1;
    if (last < first) return -2;
    if (mode == XIR_PAD_REPLICATION) return i < first ? first : last;
    if (mode == XIR_PAD_REFLECTION) i = i < first ? 2 * first - i : 2 * last - i;
    else i = i < first ? 2 * first - 1 - i : 2 * last + 1 - i;
    return i >= first && i <= last ? i : -2;
}

bool move_shapes(const move_case *c, const shape *in, shape *out, size_t *n_out) {
    int64_t room[64], axis = c->number;
    size_t rank = in->rank;
    shape *o = out;
    *n_out = 1;
    *o = *in;
    switch (c->kind) {
    case SLICE:
        for (size_t k = 0; k < rank; k++) {
            o->dim[k] = (int64_t)move_picked(c->a.data[k], c->b.data[k], c->c.data[k], in->dim[k], room);
        }
        return true;
    case SPLIT: {
        int64_t total = 0;
        if (!move_axis(&axis, rank) || c->a.size == 0) return false;
        for (size_t i = 0; i < c->a.size; i++) {
            out[i] = *in;
            out[i].dim[axis] = c->a.data[i];
            total += c->a.data[i];
            if (c->a.data[i] < 0) return false;
        }
        *n_out = c->a.size;
        return total == in->dim[axis];
    }
    case UNSTACK:
        if (!move_axis(&axis, rank) || in->dim[axis] == 0) return false;
        *n_out = (size_t)in->dim[axis];
        o->rank = 0;
        for (size_t k = 0; k < rank; k++) if ((int64_t)k != axis) o->dim[o->rank++] = in->dim[k];
        for (size_t i = 1; i < *n_out; i++) out[i] = *o;
        return true;
    case ROLL:
        for (size_t i = 0; i < c->b.size; i++) if (!move_axis(&(int64_t){ c->b.data[i] }, rank)) return false;
        return c->b.size ? c->a.size == c->b.size : c->a.size == 1;
    case SWAP:
        if (!move_axis(&axis, rank) || (int64_t)c->a.size != in->dim[axis]) return false;
        for (size_t i = 0; i < c->a.size; i++) {
            size_t times = 0;
            for (size_t k = 0; k < c->a.size; k++) times += c->a.data[k] == (int64_t)i;
            if (times != 1) return false;
        }
        return true;
    case PAD:
        for (size_t k = 0; k < rank; k++) {
            int64_t before = c->a.data[2 * k], after = c->a.data[2 * k + 1];
            if (in->dim[k] + (before < 0 ? before : 0) + (after < 0 ? after : 0) < 0) return false;
            o->dim[k] = in->dim[k] + before + after;
            for (int64_t i = 0; i < o->dim[k]; i++) {
                if (padded_from(c->number, in->dim[k], before, after, i) == -2) return false;
            }
        }
        return true;
    case CONCAT:
        if (axis == -1) axis = (int64_t)rank - 1;
        if (axis < 0 || axis >= (int64_t)rank) return false;
        for (size_t i = 1; i < c->n_inputs; i++) {
            if (in[i].rank != rank) return false;
            for (size_t k = 0; k < rank; k++) if ((int64_t)k != axis && in[i].dim[k] != in->dim[k]) return false;
            o->dim[axis] += in[i].dim[axis];
        }
        return true;
    case STACK:
        if (!move_axis(&axis, rank + 1)) return false;
        for (size_t i = 1; i < c->n_inputs; i++) {
            if (in[i].rank != rank || memcmp(in[i].dim, in->dim, rank * sizeof(int64_t)) != 0) return false;
        }
        o->rank = 0;
        for (size_t k = 0; k <= rank; k++) {
            o->dim[o->rank++] = (int64_t)k == axis ? (int64_t)c->n_inputs : in->dim[k - ((int64_t)k > axis)];
        }
        return true;
    case TRANSPOSE:
        if (c->a.size != rank) return false;
        for (size_t k = 0; k < rank; k++) {
            int64_t from = c->a.data[k];
            if (!move_axis(&from, rank)) return false;
            for (size_t l = 0; l < k; l++) {
                int64_t other = c->a.data[l];
                move_axis(&other, rank);
                if (other == from) return false;
            }
            o->dim[k] = in->dim[from];
        }
        return true;
    case SQUEEZE: {
        bool goes[MOST_RANK] = { false };
        for (size_t i = 0; i < c->a.size; i++) {
            int64_t gone = c->a.data[i];
            if (!move_axis(&gone, rank) || goes[gone] || in->dim[gone] != 1) return false;
            goes[gone] = true;
        }
        o->rank = 0;
        for (size_t k = 0; k < rank; k++) if (c->a.size ? !goes[k] : in->dim[k] != 1) o->dim[o->rank++] = in->dim[k];
        return true;
    }
    case EXPAND:
        if (c->a.size < rank) return false;
        o->rank = c->a.size;
        for (size_t k = 0; k < o->rank; k++) {
            bool fresh = k + rank < o->rank;
            int64_t size = c->a.data[k], dim = fresh ? 1 : in->dim[k + rank - o->rank];
            if (size < -1 || (size == -1 && fresh) || (size >= 0 && size != dim && dim != 1)) return false;
            o->dim[k] = size == -1 ? dim : size;
        }
        return true;
    case TILE:
        o->rank = c->a.size > rank ? c->a.size : rank;
        for (size_t k = 0; k < o->rank; k++) {
            int64_t dim = k + rank < o->rank ? 1 : in->dim[k + rank - o->rank];
            int64_t times = k + c->a.size < o->rank ? 1 : c->a.data[k + c->a.size - o->rank];
            if (times < 0) return false;
            o->dim[k] = dim * times;
        }
        return true;
    case RESHAPE: {
        int64_t rest = -1, product = 1;
        o->rank = c->a.size;
        for (size_t k = 0; k < o->rank; k++) {
            o->dim[k] = c->a.data[k];
            if (o->dim[k] < -1 || (o->dim[k] == -1 && rest >= 0)) return false;
            if (o->dim[k] == -1) rest = (int64_t)k;
            else product *= o->dim[k];
        }
        if (rest < 0) return product == shape_elements(in);
        if (product == 0 || shape_elements(in) % product) return false;
        o->dim[rest] = shape_elements(in) / product;
        return true;
    }
    case SHUFFLE:
        return rank && c->number >= 1 && in->dim[rank - 1] % c->number == 0;
    case PIXEL:
        if (rank != 4 || c->number < 1 || in->dim[3] % (c->number * c->number)) return false;
        o->dim[1] *= c->number;
        o->dim[2] *= c->number;
        o->dim[3] /= c->number * c->number;
        return true;
    case KINDS: break;
    }
    return false;
}

int64_t shape_number(const shape *s, const int64_t *index) {
    int64_t n = 0;
    for (size_t k = 0; k < s->rank; k++) n = n * s->dim[k] + index[k];
    return n;
}
void shape_index(const shape *s, int64_t n, int64_t *index) {
    for (size_t k = s->rank; k-- > 0; n /= s->dim[k]) index[k] = n % s->dim[k];
}

bool move_source(const move_case *c, const shape *out, size_t part, const int64_t *index, size_t *input,
                 int64_t *from) {
    const shape *in = c->in;
    size_t rank = in->rank;
    int64_t axis = c->number, room[64];
    *input = 0;
    if (c->kind != EXPAND && c->kind != TILE) memcpy(from, index, sizeof(int64_t) * MOST_RANK);
    switch (c->kind) {
    case SLICE:
        for (size_t k = 0; k < rank; k++) {
            move_picked(c->a.data[k], c->b.data[k], c->c.data[k], in->dim[k], room);
            from[k] = room[index[k]];
        }
        return true;
    case SPLIT:
        move_axis(&axis, rank);
        for (size_t i = 0; i < part; i++) from[axis] += c->a.data[i];
        return true;
    case UNSTACK:
        move_axis(&axis, rank);
        for (size_t k = 0, l = 0; k < rank; k++) from[k] = (int64_t)k == axis ? (int64_t)part : index[l++];
        return true;
    case ROLL:
        if (c->b.size == 0) {
            int64_t n = shape_elements(in);
            shape_index(in, ((shape_number(in, index) - c->a.data[0]) % n + n) % n, from);
        }
        for (size_t i = 0; i < c->b.size; i++) {
            axis = c->b.data[i];
            move_axis(&axis, rank);
            from[axis] = ((from[axis] - c->a.data[i]) % in->dim[axis] + in->dim[axis]) % in->dim[axis];
        }
        return true;
    case SWAP:
        move_axis(&axis, rank);
        from[axis] = c->a.data[index[axis]];
        return true;
    case PAD: {
        bool old = true;
        for (size_t k = 0; k < rank; k++) {
            from[k] = padded_from(c->number, in->dim[k], c->a.data[2 * k], c->a.data[2 * k + 1], index[k]);
            old &= from[k] >= 0;
        }
        return old;
    }
    case CONCAT:
        if (axis == -1) axis = (int64_t)rank - 1;
        for (; from[axis] >= in[*input].dim[axis]; (*input)++) from[axis] -= in[*input].dim[axis];
        return true;
    case STACK:
        move_axis(&axis, rank + 1);
        *input = (size_t)index[axis];
        for (size_t k = 0; k < rank; k++) from[k] = index[k + ((int64_t)k >= axis)];
        return true;
    case TRANSPOSE:
        for (size_t k = 0; k < rank; k++) {
            axis = c->a.data[k];
            move_axis(&axis, rank);
            from[axis] = index[k];
        }
        return true;
    case SQUEEZE:
    case RESHAPE: shape_index(in, shape_number(out, index), from); return true;
    case EXPAND:
    case TILE:
        for (size_t k = 0; k < rank; k++) from[k] = index[k + out->rank - rank] % in->dim[k];
        return true;
    case SHUFFLE: {
        int64_t channel = index[rank - 1], each = in->dim[rank - 1] / c->number;
        from[rank - 1] = channel % c->number * each + channel / c->number;
        return true;
    }
    case PIXEL:
        from[1] = index[1] / c->number;
        from[2] = index[2] / c->number;
        from[3] = (index[3] * c->number + index[1] % c->number) * c->number + index[2] % c->number;
        return true;
    case KINDS: break;
    }
    return false;
}
