/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Fewer ops. A part of the network is cut out at its values: what an op outside makes becomes an input, and what only
 * ops outside use becomes an output. So any set of ops can be kept, and types stay as they are. Where a fault needs an
 * op's input in place of its output, the op is bypassed. */
#include "reduction.h"

/* The ops of a network but Input and Output, in execution order. */
typedef struct op_list {
    xir_op **ops;
    size_t   n;
} op_list;

static bool is_border(const xir_network *net, const xir_op *op) {
    return op == xir_network_input_op(net) || op == xir_network_output_op(net);
}

static bool list_ops(reducing *r, const xir_network *net, op_list *out) {
    out->n = 0;
    out->ops = reduce_new(r, xir_network_op_count(net), sizeof *out->ops);
    for (xir_op *op = xir_network_first(net); out->ops && op; op = xir_op_next(op))
        if (!is_border(net, op)) out->ops[out->n++] = op;
    return out->ops != NULL;
}

static void drop_ops(const reducing *r, const xir_network *net, op_list *list) {
    reduce_drop(r, (void *)list->ops, xir_network_op_count(net), sizeof *list->ops);
}

static size_t count_ops(const reducing *r) {
    size_t n = 0;
    for (const xir_op *op = xir_network_first(r->best); op; op = xir_op_next(op)) n += !is_border(r->best, op);
    return n;
}

/* ---- parts ------------------------------------------------------------------------------------------------------- */

/* The ops that are kept: those of `list` from `first` on up to `end`, or the others. */
typedef struct part {
    const op_list *list;
    size_t         first, end;
    bool           inside;
} part;

/* The borders of a part. */
typedef struct border {
    xir_value **begin, **end;
    size_t      n_begin, n_end, room;
} border;

/* Marks the slots of the ops that are kept. */
static bool *mark(reducing *r, const part *p) {
    bool *kept = reduce_new(r, xir_network_slot_count(r->best), sizeof *kept);
    for (size_t i = 0; kept && i < p->list->n; i++)
        kept[xir_op_slot(p->list->ops[i])] = (i >= p->first && i < p->end) == p->inside;
    return kept;
}

static bool is_used_inside(const bool *kept, const xir_value *v) {
    for (const xir_use *u = xir_value_uses(v); u; u = xir_use_next(u)) {
        const xir_op *op = xir_use_op(u);
        while (xir_op_parent(op)) op = xir_op_parent(op);
        if (xir_op_is_placed(op) && kept[xir_op_slot(op)]) return true;
    }
    return false;
}

static bool is_output(const xir_network *net, const xir_value *v) {
    const xir_op *out = xir_network_output_op(net);
    for (const xir_use *u = out ? xir_value_uses(v) : NULL; u; u = xir_use_next(u))
        if (xir_use_op(u) == out) return true;
    return false;
}

static void find_border(const reducing *r, const op_list *list, const bool *kept, border *b) {
    for (size_t i = 0; i < list->n; i++) {
        const xir_op *op = list->ops[i];
        for (size_t k = 0; k < xir_op_output_count(op); k++) {
            xir_value *v = xir_op_output(op, (int64_t)k);
            const bool used = is_used_inside(kept, v);
            if (!kept[xir_op_slot(op)] && used) b->begin[b->n_begin++] = v;
            if (kept[xir_op_slot(op)] && (!used || is_output(r->best, v))) b->end[b->n_end++] = v;
        }
    }
}

static xir_network *extract(reducing *r, xir_value *const *begin, size_t n_begin, xir_value *const *end, size_t n_end) {
    xir_diags *why = xir_diags_new(xir_network_context(r->best));
    xir_network *net = why ? xir_extract(r->best, begin, n_begin, end, n_end, why) : NULL;
    const xir_diag *d = net ? NULL : xir_diags_at(why, 0);
    if (!net && (!d || d->code == XIR_E_MEMORY)) r->status = XIR_E_MEMORY;
    xir_diags_free(why);
    return net;
}

static xir_network *cut(reducing *r, const part *p) {
    border b = { 0 };
    bool *kept = mark(r, p);
    xir_network *net = NULL;
    for (size_t i = 0; i < p->list->n; i++) b.room += xir_op_output_count(p->list->ops[i]);
    b.begin = reduce_new(r, b.room, sizeof *b.begin);
    b.end = reduce_new(r, b.room, sizeof *b.end);
    if (!r->status) find_border(r, p->list, kept, &b);
    if (!r->status && b.n_end) net = extract(r, b.begin, b.n_begin, b.end, b.n_end);
    reduce_drop(r, (void *)b.begin, b.room, sizeof *b.begin);
    reduce_drop(r, (void *)b.end, b.room, sizeof *b.end);
    reduce_drop(r, kept, xir_network_slot_count(r->best), sizeof *kept);
    return reduce_settle(r, net, XIR_OK);
}

static xir_network *cut_out(reducing *r, size_t first, size_t end, bool inside) {
    op_list list;
    if (!list_ops(r, r->best, &list)) return NULL;
    xir_network *net = cut(r, &(part){ &list, first, end, inside });
    drop_ops(r, r->best, &list);
    return net;
}

/* ---- ends -------------------------------------------------------------------------------------------------------- */

static xir_network *keep_before(reducing *r, size_t i, const void *arg) {
    (void)arg;
    return cut_out(r, 0, i, true);
}

static xir_network *keep_from(reducing *r, size_t i, const void *arg) {
    (void)arg;
    return cut_out(r, i, SIZE_MAX, true);
}

/* Finds the shortest beginning of the order that is interesting, as if every longer one were, and then the shortest end
 * of that. */
bool reduce_cut_ends(reducing *r) {
    const size_t all = count_ops(r);
    size_t no = 0, yes = all;
    while (yes - no > 1 && !reduce_ends(r)) {
        const size_t middle = no + (yes - no) / 2;
        if (reduce_first(r, middle, middle + 1, keep_before, NULL) == middle) yes = count_ops(r);
        else no = middle;
        if (yes <= no) break;
    }
    for (yes = 0, no = count_ops(r); no - yes > 1 && !reduce_ends(r);) {
        const size_t middle = yes + (no - yes) / 2, before = count_ops(r);
        if (reduce_first(r, middle, middle + 1, keep_from, NULL) != middle) {
            no = middle;
            continue;
        }
        const size_t gone = before - count_ops(r);
        no = no > gone ? no - gone : 0;
        yes = 0;
    }
    return count_ops(r) < all;
}

/* ---- runs of ops ------------------------------------------------------------------------------------------------- */

/* Returns true if the inputs of each op have the types that they had: where a class has no inference, no check would
 * find another type. The ops after the bypass are those of the list that are left. */
static bool reads_the_same_types(const xir_network *was, const op_list *now) {
    size_t i = 0;
    for (const xir_op *op = xir_network_first(was); op; op = xir_op_next(op)) {
        if (is_border(was, op)) continue;
        const xir_op *copy = now->ops[i++];
        if (xir_op_is_erased(copy)) continue;
        for (size_t k = 0; k < xir_op_input_count(op); k++) {
            const xir_value *a = xir_op_input(op, (int64_t)k), *b = xir_op_input(copy, (int64_t)k);
            if (!a != !b || (a && xir_value_type(a) != xir_value_type(b) &&
                             !xir_type_equal(xir_value_type(a), xir_value_type(b)))) return false;
        }
    }
    return true;
}

static xir_network *bypass(reducing *r, size_t first, size_t end) {
    xir_network *net = reduce_clone(r);
    op_list list;
    if (!net) return NULL;
    if (!list_ops(r, net, &list)) {
        xir_network_free(net);
        return NULL;
    }
    xir_status status = xir_network_bypass(net, list.ops + first, end - first);
    if (!status && r->is_dialect && !reads_the_same_types(r->best, &list)) status = XIR_E_TYPE;
    reduce_drop(r, (void *)list.ops, xir_network_op_count(r->best), sizeof *list.ops);
    return reduce_settle(r, net, status);
}

/* The networks 2i and 2i + 1 are those without the i-th run of `length` ops. */
static xir_network *without_run(reducing *r, size_t i, const void *arg) {
    const size_t length = *(const size_t *)arg, n = count_ops(r), first = i / 2 * length;
    const size_t end = first + length < n ? first + length : n;
    if (first >= n || end - first == n) return NULL;
    if (i % 2) return r->how.parts ? NULL : bypass(r, first, end);
    return cut_out(r, first, end, false);
}

/* Removes runs of one length as long as that helps; where one was removed, another one stands. */
static bool remove_runs(reducing *r, size_t length) {
    bool helped = false;
    for (size_t i = 0; !reduce_ends(r);) {
        const size_t to = 2 * ((count_ops(r) + length - 1) / length);
        i = reduce_first(r, i, to, without_run, &length);
        if (i >= to) return helped;
        i -= i % 2;
        helped = true;
    }
    return helped;
}

bool reduce_remove_ops(reducing *r) {
    const size_t all = count_ops(r);
    for (size_t length = all / 2; length && !reduce_ends(r);) {
        const bool helped = remove_runs(r, length);
        const size_t n = count_ops(r);
        if (!helped || length > 1) length /= 2;
        if (length > n) length = n;
    }
    return count_ops(r) < all;
}

/* ---- outputs ----------------------------------------------------------------------------------------------------- */

/* The network without output i, and without what only it needs; for i past them, without inputs that nothing needs. */
static xir_network *without_output(reducing *r, size_t i, const void *arg) {
    (void)arg;
    const size_t n = xir_network_outputs(r->best, NULL, 0);
    xir_value **ends = reduce_new(r, n, sizeof *ends);
    if (!ends) return NULL;
    xir_network_outputs(r->best, ends, n);
    size_t kept = 0;
    for (size_t k = 0; k < n; k++) {
        bool twice = false;
        for (size_t m = 0; m < kept; m++) twice = twice || ends[m] == ends[k];
        if (k != i && !twice && ends[k] && !xir_value_is_params(ends[k])) ends[kept++] = ends[k];
    }
    xir_network *net = kept ? extract(r, NULL, 0, ends, kept) : NULL;
    reduce_drop(r, (void *)ends, n, sizeof *ends);
    if (net && i >= n && xir_network_inputs(net, NULL, 0) == xir_network_inputs(r->best, NULL, 0)) {
        xir_network_free(net);
        return NULL;
    }
    return reduce_settle(r, net, XIR_OK);
}

bool reduce_outputs(reducing *r) {
    bool helped = false;
    for (size_t i = 0; !reduce_ends(r);) {
        const size_t n = xir_network_outputs(r->best, NULL, 0);
        i = reduce_first(r, n > 1 ? i : n, n + 1, without_output, NULL);
        if (i > n) return helped;
        helped = true;
    }
    return helped;
}
