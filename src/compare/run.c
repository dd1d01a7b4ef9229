/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Two runs side by side. The second network leads: when it has computed a value of a pair, the first one is stepped
 * until it has the partner. What the first computes on the way is kept for its turn. With a folder one network runs,
 * and the folder answers at once. */
#include "comparison.h"

typedef struct stepping {
    xir_compare    *c;
    xir_run_state  *a, *b;
    xir_array     **kept;       /* by pair: what `a` has computed and `b` has not      */
    bool           *reached;    /* by pair: `a` has computed it                        */
    bool            a_ended;
    xir_status      unread;     /* the first file that could not be read, as a status  */
    xir_diags      *why;
} stepping;

static uint32_t pair_of(const compare_side *side, const xir_op *op, size_t i) {
    return side->pair[compare_number(side, xir_op_output(op, (int64_t)i))];
}

/* The pair of the value that an input is made from, by ops of one input each. */
static uint32_t pair_before(const compare_side *side, const xir_value *v) {
    for (size_t steps = 0; v && steps < 8; steps++) {
        const uint32_t k = compare_number(side, v);
        if (k == NO_NUMBER || side->pair[k] != NO_NUMBER) return k == NO_NUMBER ? k : side->pair[k];
        v = xir_op_input(xir_value_op(v), 0);
    }
    return NO_NUMBER;
}

/* Compares a pair in another order, which is its order if it is good then: *done. */
static xir_status try_order(stepping *s, uint32_t pair, const xir_array *expected, const xir_array *found,
                            const compare_order *order, compare_measure *m, bool *done) {
    compare_measure other;
    xir_array *there = NULL;
    xir_status status = compare_unfold(s->c, found, order, &there, s->why);
    if (!status && there) status = compare_measure_pair(s->c, expected, there, &other, s->why);
    *done = !status && there && !compare_is_bad(s->c, &other);
    xir_array_free(there);
    if (!*done) return status;
    *m = other;
    s->c->orders[pair] = *order;
    return XIR_OK;
}

/* A reshape does not show that its input had another order, and neither do the ops after it. So if a pair is bad in the
 * order of its types, it is compared in the order in which an input of its op was found. A file does not say at all
 * where its channels are. */
static xir_status try_orders(stepping *s, uint32_t pair, const xir_array *expected, const xir_array *found,
                             compare_measure *m) {
    const compare_side *side = s->c->b.net ? &s->c->b : &s->c->a;
    const xir_compare_pair *p = &s->c->pairs[pair];
    const xir_op *op = xir_value_op(p->b ? p->b : p->a);
    xir_status status = XIR_OK;
    bool done = false;
    for (size_t i = 0; i < xir_op_input_count(op) && !status && !done; i++) {
        const uint32_t before = pair_before(side, xir_op_input(op, (int64_t)i));
        if (before != NO_NUMBER && s->c->orders[before].rank)
            status = try_order(s, pair, expected, found, &s->c->orders[before], m, &done);
    }
    for (int last = 0; last < 2 && s->c->folder.path && !status && !done; last++) {
        compare_order order;
        if (compare_other_order(xir_array_type(found), xir_array_type(expected), last, &order))
            status = try_order(s, pair, expected, found, &order, m, &done);
    }
    return status;
}

/* Letters on one side alone say less than it seems: an exporter may have kept channels last without a word. If dims
 * allow both and the moved one is bad, the elements as they stand may be right. */
static xir_status try_plain(stepping *s, uint32_t pair, const xir_array *expected, const xir_array *found,
                            compare_measure *m) {
    compare_measure other;
    xir_array *there = NULL;
    xir_status status = compare_relabel(s->c, found, xir_array_type(expected), &there, s->why);
    if (!status && there) status = compare_measure_pair(s->c, expected, there, &other, s->why);
    if (!status && there && !compare_is_bad(s->c, &other)) {
        *m = other;
        s->c->orders[pair] = (compare_order){ .plain = true };
    }
    xir_array_free(there);
    return status;
}

/* Compares what was found for a pair with what was expected. */
static xir_status compare_arrays(stepping *s, uint32_t pair, const xir_array *expected, const xir_array *found) {
    xir_array *there = NULL;
    compare_measure m;
    xir_status status = compare_follow(s->c, found, xir_array_type(expected), &there, &s->c->orders[pair], s->why);
    if (!status && there && xir_array_count(there) == xir_array_count(expected)) {
        status = compare_measure_pair(s->c, expected, there, &m, s->why);
        if (!status && compare_is_bad(s->c, &m))
            status = (there == found ? try_orders : try_plain)(s, pair, expected, found, &m);
        if (!status) compare_note(s->c, pair, &m);
    } else if (!status) {
        compare_note_shape(s->c, pair);
    }
    xir_array_free(there);
    return status;
}

/* Puts an array in the place of a value of a pair; one that has no places there changes nothing. With `inner` the value
 * has another order than its dims show. */
static xir_status exchange(stepping *s, xir_run_state *run, const xir_value *value, const xir_array *with,
                           const compare_order *inner) {
    xir_array *there = NULL, *folded = NULL;
    xir_status status = XIR_OK;
    if (inner->plain) status = compare_relabel(s->c, with, xir_value_type(value), &folded, s->why);
    else if (inner->rank && compare_places_of(xir_array_type(with), xir_value_type(value)) == PLACES_SAME)
        status = compare_fold(s->c, with, inner, &folded, s->why);
    if (!status) status = compare_fit(s->c, folded ? folded : with, xir_value_type(value), &there, s->why);
    xir_array_free(folded);
    if (!status && there) status = xir_run_set(run, value, there, s->why);
    xir_array_free(there);
    return status;
}

/* ---- two networks ------------------------------------------------------------------------------------------------ */

/* Steps the first network, and keeps what it has computed for a pair. */
static xir_status step_first(stepping *s) {
    const xir_op *op;
    xir_status status = xir_run_step(s->a, &op, s->why);
    if (status) return status;
    s->a_ended = !op;
    for (size_t i = 0; op && i < xir_op_output_count(op); i++) {
        const uint32_t pair = pair_of(&s->c->a, op, i);
        if (pair == NO_NUMBER) continue;
        s->kept[pair] = xir_run_value(s->a, xir_op_output(op, (int64_t)i), s->why);
        if (!s->kept[pair]) return XIR_E_MEMORY;
        s->reached[pair] = true;
    }
    return XIR_OK;
}

static xir_status meet(stepping *s, const xir_op *op, size_t i) {
    const uint32_t pair = pair_of(&s->c->b, op, i);
    const xir_value *value = xir_op_output(op, (int64_t)i);
    xir_status status = XIR_OK;
    if (pair == NO_NUMBER) return XIR_OK;
    while (!status && !s->reached[pair] && !s->a_ended) status = step_first(s);
    xir_array *expected = s->kept[pair];
    if (status || !expected) return status;
    s->kept[pair] = NULL;
    xir_array *found = xir_run_value(s->b, value, s->why);
    status = found ? compare_arrays(s, pair, expected, found) : XIR_E_MEMORY;
    xir_array_free(found);
    if (!status && s->c->how.alone) status = exchange(s, s->b, value, expected, &s->c->orders[pair]);
    xir_array_free(expected);
    return status;
}

/* Outputs exist until the end of both runs. */
static xir_status compare_outputs(stepping *s) {
    xir_status status = XIR_OK;
    for (size_t i = 0; i < s->c->n_pairs && !status; i++) {
        const xir_compare_pair *p = &s->c->pairs[i];
        if (p->by != XIR_COMPARE_BY_POSITION) continue;
        while (!status && !s->a_ended) status = step_first(s);
        xir_array *expected = status ? NULL : xir_run_value(s->a, p->a, s->why);
        xir_array *found = expected ? xir_run_value(s->b, p->b, s->why) : NULL;
        if (!status) status = found ? compare_arrays(s, (uint32_t)i, expected, found) : XIR_E_MEMORY;
        xir_array_free(expected);
        xir_array_free(found);
    }
    return status;
}

static xir_status run_both(stepping *s) {
    const xir_op *op = NULL;
    xir_status status;
    do {
        status = xir_run_step(s->b, &op, s->why);
        if (status == XIR_E_TYPE || status == XIR_E_BOUNDS)
            xir_diags_add(s->why, XIR_NOTE, XIR_OK, XIR_STR(""), "this is about the second network, whose inputs are "
                          "those of the first one");
        for (size_t i = 0; !status && op && i < xir_op_output_count(op); i++) status = meet(s, op, i);
    } while (!status && op);
    return status ? status : compare_outputs(s);
}

/* ---- a network and a folder -------------------------------------------------------------------------------------- */

/* The first network goes on with what was found. */
static xir_status take_found(stepping *s, const xir_value *value, const xir_array *found, const compare_order *inner) {
    xir_array *unfolded = NULL;
    xir_status status = inner->rank ? compare_unfold(s->c, found, inner, &unfolded, s->why) : XIR_OK;
    const compare_order order = { .plain = inner->plain };
    if (!status) status = exchange(s, s->a, value, unfolded ? unfolded : found, &order);
    xir_array_free(unfolded);
    return status;
}

static xir_status look_up(stepping *s, const xir_op *op, size_t i) {
    const compare_side *side = &s->c->a;
    const xir_value *value = xir_op_output(op, (int64_t)i);
    const uint32_t pair = pair_of(side, op, i);
    xir_array *found = NULL;
    if (pair == NO_NUMBER) return XIR_OK;
    xir_status status = compare_read_file(s->c, compare_number(side, value), &found, s->why);
    if (status && status != XIR_E_MEMORY) {
        if (!s->unread) s->unread = status;
        return XIR_OK;
    }
    xir_array *expected = status ? NULL : xir_run_value(s->a, value, s->why);
    if (!status) status = expected ? compare_arrays(s, pair, expected, found) : XIR_E_MEMORY;
    if (!status && s->c->how.alone) status = take_found(s, value, found, &s->c->orders[pair]);
    xir_array_free(expected);
    xir_array_free(found);
    return status;
}

static xir_status run_with_folder(stepping *s) {
    const xir_op *op = NULL;
    xir_status status;
    do {
        status = xir_run_step(s->a, &op, s->why);
        for (size_t i = 0; !status && op && i < xir_op_output_count(op); i++) status = look_up(s, op, i);
    } while (!status && op);
    return status ? status : s->unread;
}

/* ---- beginning --------------------------------------------------------------------------------------------------- */

/* The position of the first network's input that an input of the second one gets. */
static size_t source_of(const xir_compare *c, const xir_value *input, size_t position) {
    const uint32_t k = compare_number(&c->b, input), partner = k != NO_NUMBER ? c->b.partner[k] : NO_NUMBER;
    if (partner == NO_NUMBER || !compare_is_input(&c->a, c->a.values[partner])) return position;
    return xir_value_index(c->a.values[partner]);
}

/* Makes the inputs of the second network of those of the first. */
static xir_status follow_inputs(const xir_compare *c, const xir_array *const *inputs, size_t n, xir_array **out,
                                xir_diags *why) {
    const xir_op *in = xir_network_input_op(c->b.net);
    const size_t needs = in ? xir_op_output_count(in) : 0;
    xir_status status = XIR_OK;
    if (n != needs)
        return xir_diags_add(why, XIR_ERROR, XIR_E_BOUNDS, XIR_STR(""), "the first network has %zu inputs, the second "
                             "one %zu: expected as many", n, needs);
    for (size_t i = 0; i < n && !status; i++) {
        const xir_value *v = xir_op_output(in, (int64_t)i);
        const xir_array *from = inputs[source_of(c, v, i)];
        if (!from) continue;
        status = compare_fit(c, from, xir_value_type(v), &out[i], why);
        /* the run says what is wrong */
        if (!status && !out[i]) out[i] = xir_array_retain((xir_array *)(uintptr_t)from);
    }
    return status;
}

static xir_status open_runs(stepping *s, const xir_array *const *inputs, size_t n, xir_array **others) {
    const xir_compare *c = s->c;
    const xir_run_options how = XIR_INIT(xir_run_options, .cancel = c->how.cancel, .user = c->how.user,
                                         .max_work = c->how.max_work, .max_memory = c->how.max_memory,
                                         .threads = c->how.threads);
    const size_t before = xir_diags_count(s->why);
    xir_status status = XIR_OK;
    s->a = xir_run_new(c->a.net, inputs, n, &how, s->why);
    if (s->a && c->b.net) status = follow_inputs(c, inputs, n, others, s->why);
    if (s->a && c->b.net && !status) s->b = xir_run_new(c->b.net, (const xir_array *const *)others, n, &how, s->why);
    if (status || (s->a && (s->b || !c->b.net))) return status;
    const xir_diag *d = xir_diags_at(s->why, before);
    return d ? d->code : XIR_E_MEMORY;
}

xir_status xir_compare_run(xir_compare *c, const xir_array *const *inputs, size_t n_inputs, xir_diags *why) {
    if (!c) return xir_diags_add(why, XIR_ERROR, XIR_E_MISSING, XIR_STR(""), "expected a comparison, found NULL");
    stepping s = { .c = c, .why = why };
    xir_array **others = compare_new(c->alloc, n_inputs, sizeof *others);
    s.kept = compare_new(c->alloc, c->n_pairs, sizeof *s.kept);
    s.reached = compare_new(c->alloc, c->n_pairs, sizeof *s.reached);
    xir_diags *own = why ? NULL : xir_diags_new(c->ctx);   /* a status is read from the first finding */
    if (!why) s.why = own;
    xir_status status = others && s.kept && s.reached && s.why ? XIR_OK : no_memory(why);
    if (!status) status = open_runs(&s, inputs, n_inputs, others);
    if (!status) status = c->b.net ? run_both(&s) : run_with_folder(&s);
    if (!status) c->samples++;
    xir_run_free(s.a);
    xir_run_free(s.b);
    for (size_t i = 0; others && i < n_inputs; i++) xir_array_free(others[i]);
    for (size_t i = 0; s.kept && i < c->n_pairs; i++) xir_array_free(s.kept[i]);
    compare_drop(c->alloc, others, n_inputs, sizeof *others);
    compare_drop(c->alloc, s.kept, c->n_pairs, sizeof *s.kept);
    compare_drop(c->alloc, s.reached, c->n_pairs, sizeof *s.reached);
    xir_diags_free(own);
    return status;
}
