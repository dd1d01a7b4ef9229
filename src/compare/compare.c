/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The public calls: a comparison is opened, asked and freed. */
#include "comparison.h"
#include "sized.h"

#define OPTIONS SIZED(xir_compare_options, threads)
#define STATE   SIZED(xir_compare_state, alone_b)

static xir_status refuse(xir_diags *why, xir_status status, const char *sentence) {
    return xir_diags_add(why, XIR_ERROR, status, XIR_STR(""), "%s", sentence);
}

static xir_status check(const xir_network *a, const xir_network *b, xir_compare_options *how, xir_diags *why) {
    if (!a) return refuse(why, XIR_E_MISSING, "expected a network, found NULL");
    if (!b && !how->folder) return refuse(why, XIR_E_MISSING, "expected a second network or a folder, found neither");
    if (b && how->folder) return refuse(why, XIR_E_INVALID, "expected a second network or a folder, found both");
    if (b && xir_network_context(a) != xir_network_context(b))
        return refuse(why, XIR_E_INVALID, "the two networks belong to different contexts");
    if (!(how->absolute >= 0) || !(how->relative >= 0))
        return refuse(why, XIR_E_INVALID, "expected tolerances that are not below 0");
    if (how->by_snr && how->least_snr != how->least_snr)
        return refuse(why, XIR_E_INVALID, "expected a number of dB, found NaN");
    if (!how->absolute && !how->relative) how->absolute = how->relative = 1e-4;
    return XIR_OK;
}

/* ---- pairs ------------------------------------------------------------------------------------------------------- */

/* Returns true if a value of the first network has a partner or a file. */
static bool is_paired(const xir_compare *c, size_t i) {
    if (compare_is_input(&c->a, c->a.values[i])) return false;
    if (c->folder.path) return c->folder.file_of[i] != NO_NUMBER;
    const uint32_t k = c->a.partner[i];
    return k != NO_NUMBER && !compare_is_input(&c->b, c->b.values[k]);
}

static const xir_value *output_at(const compare_side *side, size_t i) {
    return xir_op_input(xir_network_output_op(side->net), (int64_t)i);
}

static size_t count_outputs(const compare_side *side) {
    const xir_op *out = side->net ? xir_network_output_op(side->net) : NULL;
    return out ? xir_op_input_count(out) : 0;
}

/* Returns true for a value whose partner is an output, and for inputs and Params, which need none. */
static bool is_settled(const compare_side *side, const compare_side *other, const xir_value *v) {
    const uint32_t k = v ? compare_number(side, v) : NO_NUMBER;
    if (k == NO_NUMBER || compare_is_input(side, v)) return true;
    return side->partner[k] != NO_NUMBER && other->is_output[side->partner[k]];
}

/* Adds the pairs of outputs at the same position that are not found otherwise; without room it counts them. */
static size_t add_outputs(const xir_compare *c, xir_compare_pair *out) {
    const size_t n = count_outputs(&c->a);
    size_t added = 0;
    for (size_t i = 0; i < n && n == count_outputs(&c->b); i++) {
        const xir_value *a = output_at(&c->a, i), *b = output_at(&c->b, i);
        if (is_settled(&c->a, &c->b, a) || is_settled(&c->b, &c->a, b)) continue;
        if (out) out[added] = (xir_compare_pair){ .a = a, .b = b, .same_shape = true, .by = XIR_COMPARE_BY_POSITION };
        added++;
    }
    return added;
}

static xir_status list_pairs(xir_compare *c, xir_diags *why) {
    size_t n = add_outputs(c, NULL);
    for (size_t i = 0; i < c->a.n; i++) n += is_paired(c, i);
    c->n_pairs = n;
    c->pairs = compare_new(c->alloc, n, sizeof *c->pairs);
    c->sums = compare_new(c->alloc, n, sizeof *c->sums);
    c->orders = compare_new(c->alloc, n, sizeof *c->orders);
    if (!c->pairs || !c->sums || !c->orders) return no_memory(why);
    n = 0;
    for (size_t i = 0; i < c->a.n; i++) {
        if (!is_paired(c, i)) continue;
        const uint32_t k = c->a.partner[i];
        c->a.pair[i] = (uint32_t)n;
        if (k != NO_NUMBER) c->b.pair[k] = (uint32_t)n;
        c->pairs[n++] = (xir_compare_pair){
            .a = c->a.values[i], .b = k != NO_NUMBER ? c->b.values[k] : NULL, .same_shape = true,
            .by = c->folder.path ? XIR_COMPARE_BY_FILE : (xir_compare_by)c->a.by[i],
        };
    }
    (void)add_outputs(c, c->pairs + n);
    if (c->n_pairs) return XIR_OK;
    return refuse(why, XIR_E_INVALID, c->folder.path ? "the folder has no file for a value of the network"
                                                     : "no value of one network stands for one of the other");
}

/* ---- the calls --------------------------------------------------------------------------------------------------- */

static xir_status open(xir_compare *c, const xir_network *a, const xir_network *b, xir_diags *why) {
    if (!compare_open_side(&c->a, a, c->alloc) || (b && !compare_open_side(&c->b, b, c->alloc)))
        return no_memory(why);
    xir_status status = b ? compare_find_partners(c, why) : compare_open_folder(c, why);
    return status ? status : list_pairs(c, why);
}

xir_compare *xir_compare_new(const xir_network *a, const xir_network *b, const xir_compare_options *options,
                             xir_diags *why) {
    xir_compare_options how;
    if (sized_take(OPTIONS, &how, options, why) || check(a, b, &how, why)) return NULL;
    xir_context *ctx = xir_network_context(a);
    const xir_allocator *alloc = xir_context_allocator(ctx);
    xir_compare *c = compare_new(alloc, 1, sizeof *c);
    if (!c) {
        no_memory(why);
        return NULL;
    }
    c->ctx = ctx;
    c->alloc = alloc;
    c->how = how;
    if (!open(c, a, b, why)) return c;
    xir_compare_free(c);
    return NULL;
}

void xir_compare_free(xir_compare *c) {
    if (!c) return;
    const xir_allocator *alloc = c->alloc;
    compare_drop(alloc, c->pairs, c->n_pairs, sizeof *c->pairs);
    compare_drop(alloc, c->sums, c->n_pairs, sizeof *c->sums);
    compare_drop(alloc, c->orders, c->n_pairs, sizeof *c->orders);
    compare_close_folder(c);
    compare_close_side(&c->a, alloc);
    compare_close_side(&c->b, alloc);
    compare_drop(alloc, c, 1, sizeof *c);
}

size_t xir_compare_count(const xir_compare *c) { return c ? c->n_pairs : 0; }

const xir_compare_pair *xir_compare_at(const xir_compare *c, size_t i) {
    return c && i < c->n_pairs ? &c->pairs[i] : NULL;
}

const xir_compare_pair *xir_compare_first_bad(const xir_compare *c) {
    for (size_t i = 0; c && i < c->n_pairs; i++)
        if (c->pairs[i].bad) return &c->pairs[i];
    return NULL;
}

xir_status xir_compare_array(const xir_compare *c, const xir_value *value, xir_array **out, xir_diags *why) {
    *out = NULL;
    if (!c) return refuse(why, XIR_E_MISSING, "expected a comparison, found NULL");
    const uint32_t i = value ? compare_number(&c->a, value) : NO_NUMBER;
    if (i == NO_NUMBER || !c->folder.path || c->folder.file_of[i] == NO_NUMBER) return XIR_OK;
    xir_array *read, *there = NULL;
    xir_status status = compare_read_file(c, i, &read, why);
    if (!status) status = compare_fit(c, read, xir_value_type(value), &there, why);
    if (there || status) xir_array_free(read);
    *out = there ? there : status ? NULL : read;
    return status;
}

const char *xir_compare_file_alone(const xir_compare *c, size_t i) {
    for (size_t k = 0; c && k < c->folder.n; k++)
        if (!c->folder.taken[k] && i-- == 0) return c->folder.files[k];
    return NULL;
}

static size_t count_alone(const compare_side *side) {
    size_t n = 0;
    for (size_t i = 0; i < side->n; i++)
        n += side->pair[i] == NO_NUMBER && !compare_is_input(side, side->values[i]);
    return n;
}

xir_status xir_compare_state_of(const xir_compare *c, xir_compare_state *out, xir_diags *why) {
    xir_compare_state state = { 0 };
    if (!out) return refuse(why, XIR_E_ABI, "xir_compare_state has no size: make it with XIR_INIT(xir_compare_state)");
    for (size_t i = 0; c && i < c->n_pairs; i++) state.bad += c->pairs[i].bad;
    if (c) {
        state.samples = c->samples;
        state.alone_a = count_alone(&c->a);
        state.alone_b = count_alone(&c->b);
        for (size_t i = 0; i < c->folder.n; i++) state.alone_b += !c->folder.taken[i];
    }
    return sized_fill(STATE, out, &state, why);
}

/* ---- where a value comes from ------------------------------------------------------------------------------------ */

/* Marks the ops before one that make values of no pair for it. */
static void mark_before(const compare_side *side, const xir_op *op, bool *marks) {
    for (size_t i = 0; i < xir_op_input_count(op); i++) {
        const xir_value *v = xir_op_input(op, (int64_t)i);
        const uint32_t k = v ? compare_number(side, v) : NO_NUMBER;
        if (k != NO_NUMBER && side->pair[k] == NO_NUMBER && !compare_is_input(side, v))
            marks[xir_op_slot(xir_value_op(v))] = true;
    }
}

size_t xir_compare_ops(const xir_compare *c, const xir_compare_pair *pair, bool of_b, const xir_op **out,
                       size_t room) {
    if (!c || !pair || !(of_b ? pair->b : pair->a)) return 0;
    const compare_side *side = of_b ? &c->b : &c->a;
    const xir_op *op = xir_value_op(of_b ? pair->b : pair->a);
    bool *marks = compare_new(c->alloc, side->slots, sizeof *marks);
    size_t n = 0;
    if (!marks) return SIZE_MAX;
    for (marks[xir_op_slot(op)] = true; op; op = xir_op_prev(op)) {
        if (!marks[xir_op_slot(op)]) continue;
        if (n < room) out[n] = op;
        n++;
        mark_before(side, op, marks);
    }
    compare_drop(c->alloc, marks, side->slots, sizeof *marks);
    return n;
}
