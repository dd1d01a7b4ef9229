/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Reshape in other orders. Dims of the input and the output fall into minimal groups with the same product: the dims of
 * a group are merged, split, or both. If the dims of each group stay together and in sequence, the groups may change
 * places, in the same way on both sides. Dims of 1 belong to no group and may stand anywhere.
 *
 *     [N, C, H, W] -> [N, C, H*W]      groups N | C | H W         NHWC gives [N, H*W, C]
 *     [N, C, H, W] -> [N, g, C/g, H, W]       N | C | H | W       NHWC gives [N, H, W, g, C/g]
 *     [N, C, H, W] -> [N, C*H*W]              N | C H W           NHWC gives [N, C*H*W], merged in another order
 *
 * The last one is allowed if all readers can take the merged axis in this order: a product can, by exchanging the rows
 * of its constant. In the other direction the producer of an axis that is split into a feature map may make it in
 * another order: a product can, by exchanging the columns of its constant. */
#include "layout/layout.h"

/* The axes of a side whose dims are not 1. */
typedef struct side { size_t axis[MOST_AXES], n; } side;
/* Consecutive dims of both sides with the same product. */
typedef struct group { size_t in, n_in, out, n_out; } group;
typedef struct grouping {
    const int64_t *in_dims, *out_dims;
    size_t         in_rank, out_rank;
    side           in, out;
    group          groups[MOST_AXES];
    size_t         n;
} grouping;

static void list_side(const int64_t *dims, size_t rank, side *out) {
    out->n = 0;
    for (size_t i = 0; i < rank; i++) {
        if (dims[i] != 1) out->axis[out->n++] = i;
    }
}

/* The smallest number of dims from i and j on, forwards or backwards, with the same product; false if it is unknown. */
static bool meet(const grouping *g, size_t i, size_t i_room, size_t j, size_t j_room, bool back, size_t *n_in,
                 size_t *n_out) {
    int64_t a = 1, b = 1;
    *n_in = *n_out = 0;
    do {
        bool left = *n_in == 0 || (*n_out > 0 && a < b);
        if (left ? *n_in == i_room : *n_out == j_room) return false;
        int64_t dim = left ? g->in_dims[g->in.axis[back ? i - (*n_in)++ : i + (*n_in)++]]
                           : g->out_dims[g->out.axis[back ? j - (*n_out)++ : j + (*n_out)++]];
        if (dim < 0 || !mul_i64(left ? a : b, dim, left ? &a : &b)) return false;
    } while (*n_out == 0 || a != b);
    return true;
}

static bool make_groups(const node *n, grouping *g) {
    xir_i64s in = xir_type_as_tensor(op_inputs(n->op)[0].value->type)->shape,
             out = xir_type_as_tensor(op_outputs(n->op)->type)->shape;
    *g = (grouping){ in.data, out.data, in.size, out.size, .n = 0 };
    for (size_t i = 0; i < in.size; i++) {
        if (in.data[i] == 0) return false;
    }
    list_side(in.data, in.size, &g->in);
    list_side(out.data, out.size, &g->out);
    size_t i = 0, j = 0, i_end = g->in.n, j_end = g->out.n, n_in, n_out;
    while (i < i_end && j < j_end && meet(g, i, i_end - i, j, j_end - j, false, &n_in, &n_out)) {
        g->groups[g->n++] = (group){ i, n_in, j, n_out };
        i += n_in;
        j += n_out;
    }
    while (i < i_end && j < j_end && meet(g, i_end - 1, i_end - i, j_end - 1, j_end - j, true, &n_in, &n_out)) {
        i_end -= n_in;
        j_end -= n_out;
        g->groups[g->n++] = (group){ i_end, n_in, j_end, n_out };
    }
    /* The rest also has one product, whatever its unknown dims are. */
    if ((i < i_end) != (j < j_end)) return false;
    if (i < i_end) g->groups[g->n++] = (group){ i, i_end - i, j, j_end - j };
    return true;
}

/* The positions of a side's dims in an order, without counting dims of 1. */
static void places(const side *s, size_t rank, axis_order p, size_t *place) {
    for (size_t i = 0, n = 0; i < rank; i++) {
        for (size_t k = 0; k < s->n; k++) {
            if (s->axis[k] == order_at(p, i)) place[k] = n++;
        }
    }
}

/* Sorts the groups by position; false unless the dims of each group are together. *mixed is the group whose dims are
 * not in sequence, g->n if there is none; false if there are two. */
static bool sort_groups(const grouping *g, const size_t *place, bool input, size_t *sorted, size_t *mixed) {
    size_t least[MOST_AXES];
    *mixed = g->n;
    for (size_t k = 0; k < g->n; k++) {
        size_t from = input ? g->groups[k].in : g->groups[k].out, n = input ? g->groups[k].n_in : g->groups[k].n_out;
        size_t low = place[from], high = low;
        bool turned = false;
        for (size_t i = 1; i < n; i++) {
            size_t at = place[from + i];
            turned |= at != place[from + i - 1] + 1;
            low = at < low ? at : low;
            high = at > high ? at : high;
        }
        if (high - low != n - 1) return false;
        if (turned && *mixed < g->n) return false;
        if (turned) *mixed = k;
        least[k] = low;
        size_t i = k;
        for (; i > 0 && least[sorted[i - 1]] > low; i--) sorted[i] = sorted[i - 1];
        sorted[i] = k;
    }
    return true;
}

/* The order of the other side: its groups as sorted; dims of 1 keep their positions. */
static axis_order order_of_groups(const grouping *g, bool input, const size_t *sorted) {
    const side *s = input ? &g->in : &g->out;
    const int64_t *dims = input ? g->in_dims : g->out_dims;
    size_t rank = input ? g->in_rank : g->out_rank, axes[MOST_AXES], n = 0;
    for (size_t k = 0; k < g->n; k++) {
        const group *p = &g->groups[sorted[k]];
        for (size_t i = 0; i < (input ? p->n_in : p->n_out); i++) axes[n++] = s->axis[(input ? p->in : p->out) + i];
    }
    axis_order out = ORDER_SAME;
    for (size_t i = 0, next = 0; i < rank; i++) out = order_put(out, i, dims[i] == 1 ? i : axes[next++]);
    return out;
}

/* Returns true if all readers of the merged axis, maybe through elementwise functions, can take it in another order. */
static bool merged_is_followed(plan *l, const node *n, axis_order as) {
    enum { MOST_READERS = 16 };
    uint32_t open[MOST_READERS];
    size_t n_open = 1;
    open[0] = n->first;
    for (size_t k = 0; k < n_open; k++) {
        const value_node *root = &l->values[open[k]];
        if (root->n_uses == 0) return false;
        for (size_t i = 0; i < root->n_uses; i++) {
            const root_use *use = &l->uses[root->first_use + i];
            const node *user = &l->nodes[use->user];
            axis_order in, out;
            if (l->ports[user->port + use->port].view != ORDER_SAME || user->in != ORDER_SAME) return false;
            if (!orders_by_input(l, user, use->port, as, &in, &out)) return false;
            if (out != as) continue;
            if (n_open == MOST_READERS) return false;
            open[n_open++] = user->first;
        }
    }
    return true;
}

/* The product of some dims of a side; -1 if unknown. */
static int64_t product(const side *s, const int64_t *dims, size_t from, size_t count) {
    int64_t all = 1;
    for (size_t i = 0; i < count; i++) {
        if (dims[s->axis[from + i]] < 0 || !mul_i64(all, dims[s->axis[from + i]], &all)) return -1;
    }
    return all;
}

/* Returns true if all dims of a group are known. In an invalid network they may not match the merged dim. */
static bool is_known(const grouping *g, const group *m) {
    int64_t in = product(&g->in, g->in_dims, m->in, m->n_in);
    return in >= 0 && in == product(&g->out, g->out_dims, m->out, m->n_out);
}

bool reshape_forward(plan *l, const node *n, axis_order in, axis_order *out) {
    grouping g;
    size_t place[MOST_AXES], sorted[MOST_AXES], mixed;
    if (!make_groups(n, &g)) return false;
    places(&g.in, g.in_rank, in, place);
    if (!sort_groups(&g, place, true, sorted, &mixed)) return false;
    *out = order_of_groups(&g, false, sorted);
    if (mixed == g.n) return true;
    const group *m = &g.groups[mixed];
    if (*out != ORDER_SAME || m->n_out != 1 || g.out.axis[m->out] != g.out_rank - 1) return false;
    if (!is_known(&g, m)) return false;
    *out = ORDER_MERGED | (uint32_t)(n - l->nodes);
    return merged_is_followed(l, n, *out);
}

bool reshape_backward(const plan *l, const node *n, axis_order out, axis_order *in) {
    grouping g;
    size_t place[MOST_AXES], sorted[MOST_AXES], mixed;
    if (!make_groups(n, &g)) return false;
    places(&g.out, g.out_rank, out, place);
    if (!sort_groups(&g, place, false, sorted, &mixed)) return false;
    *in = order_of_groups(&g, true, sorted);
    if (mixed == g.n) return true;
    const group *m = &g.groups[mixed];
    if (*in != ORDER_SAME || m->n_in != 1 || g.in.axis[m->in] != g.in_rank - 1 || l->ports[n->port].view != ORDER_SAME)
        return false;
    if (!is_known(&g, m)) return false;
    *in = ORDER_MERGED | ORDER_SPLIT | (uint32_t)(n - l->nodes);
    return true;
}

/* Lists the dims of one side that the last axis of the other side has, in the working order of the first. */
static void list_merged(const side *s, const int64_t *dims, size_t rank, axis_order p, size_t from, size_t count,
                        merged_axis *out) {
    size_t place[MOST_AXES], low = MOST_AXES;
    places(s, rank, p, place);
    for (size_t i = 0; i < count; i++) low = place[from + i] < low ? place[from + i] : low;
    out->count = count;
    for (size_t i = 0; i < count; i++) {
        out->dims[i] = dims[s->axis[from + i]];
        out->from[place[from + i] - low] = i;
    }
}

void reshape_merged(const node *n, merged_axis *out) {
    grouping g;
    out->count = 0;
    if (!make_groups(n, &g)) return;
    for (size_t k = 0; k < g.n; k++) {
        const group *p = &g.groups[k];
        if (order_is_merged(n->out) && p->n_out == 1 && g.out.axis[p->out] == g.out_rank - 1) {
            list_merged(&g.in, g.in_dims, g.in_rank, n->in, p->in, p->n_in, out);
        }
        if (order_is_merged(n->in) && p->n_in == 1 && g.in.axis[p->in] == g.in_rank - 1) {
            list_merged(&g.out, g.out_dims, g.out_rank, n->out, p->out, p->n_out, out);
        }
    }
}
