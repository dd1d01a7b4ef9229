/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Boxes, and asking a class which parts of its inputs a part of an output needs. Every box begins as the whole input,
 * and the NEEDS function narrows it. */
#include <inttypes.h>
#include <stdio.h>
#include "graph.h"
#include "needs_ask.h"
#include "sized.h"

/* ---- boxes ------------------------------------------------------------------------------------------------------ */

/* A box without elements. */
static void box_clear(xir_box *box) {
    memset(box->begin, 0, sizeof box->begin);
    memset(box->end, 0, sizeof box->end);
    box->none = 1;
}

/* Fills a box with all elements of a type; `where` is the path of the finding. */
static xir_status whole(const xir_type *type, const char *where, xir_box *box, xir_diags *why) {
    const xir_tensor_type *tensor = xir_type_as_tensor(type);
    *box = (xir_box){ .size = sizeof *box };
    if (!tensor) return diag_fail(why, XIR_E_TYPE, xir_str_of(where), "not a tensor: expected a tensor of known dims");
    if (tensor->shape.size > XIR_BOX_DIMS)
        return diag_fail(why, XIR_E_LIMIT, xir_str_of(where), "%zu dims: boxes have at most %d", tensor->shape.size,
                         XIR_BOX_DIMS);
    box->rank = (uint32_t)tensor->shape.size;
    box->exact = 1;
    for (uint32_t k = 0; k < box->rank; k++) {
        const int64_t dim = tensor->shape.data[k];
        if (dim < 0)
            return diag_fail(why, XIR_E_BOUNDS, xir_str_of(where), "dim %" PRIu32 " is not known: bind it first", k);
        box->end[k] = dim;
        if (!dim) box->none = 1;
    }
    if (box->none) box_clear(box);
    return XIR_OK;
}

xir_status xir_box_whole(const xir_type *type, xir_box *out, xir_diags *why) {
    xir_box box;
    if (!out) return diag_null(why, "out");
    xir_status status = whole(type, "", &box, why);
    return status ? status : sized_fill(BOX_STRUCT, out, &box, why);
}

uint64_t xir_box_elements(const xir_box *box) {
    uint64_t n = 1;
    if (!box || box->none) return 0;
    for (uint32_t k = 0; k < box->rank && k < XIR_BOX_DIMS; k++) {
        if (box->end[k] <= box->begin[k]) return 0;
        if (!mul_u64(n, (uint64_t)(box->end[k] - box->begin[k]), &n)) return UINT64_MAX;
    }
    return n;
}

void box_join(xir_box *box, const xir_box *by) {
    if (by->none) return;
    if (box->none) {
        *box = *by;
        return;
    }
    if (box_contains(box, by)) return;
    if (box_contains(by, box)) {
        *box = *by;
        return;
    }
    box->exact = 0;
    for (uint32_t k = 0; k < box->rank; k++) {
        if (by->begin[k] < box->begin[k]) box->begin[k] = by->begin[k];
        if (by->end[k] > box->end[k]) box->end[k] = by->end[k];
    }
}

bool box_contains(const xir_box *box, const xir_box *other) {
    if (other->none) return true;
    if (box->none) return false;
    for (uint32_t k = 0; k < box->rank; k++)
        if (other->begin[k] < box->begin[k] || other->end[k] > box->end[k]) return false;
    return true;
}

/* ---- what a NEEDS function says --------------------------------------------------------------------------------- */

size_t         xir_needs_output(const xir_infer *at) { return at->needs ? at->needs->output : 0; }
const xir_box *xir_needs_part(const xir_infer *at)   { return at->needs ? &at->needs->part : NULL; }

static xir_box *box_of(const xir_infer *at, size_t i) {
    return at->needs && i < at->n_inputs ? &at->needs->in[i] : NULL;
}

void xir_needs_along(xir_infer *at, size_t i, size_t dim, int64_t begin, int64_t end) {
    xir_box *box = box_of(at, i);
    if (!box || box->none || dim >= box->rank) return;
    if (begin > box->begin[dim]) box->begin[dim] = begin;
    if (end < box->end[dim]) box->end[dim] = end;
    if (box->begin[dim] >= box->end[dim]) box_clear(box);
}

void xir_needs_none(xir_infer *at, size_t i) {
    xir_box *box = box_of(at, i);
    if (box) box_clear(box);
}

void xir_needs_wide(xir_infer *at, size_t i) {
    xir_box *box = box_of(at, i);
    if (box) box->exact = 0;
}

bool xir_tile_asked(const xir_infer *at) { return at->needs && at->needs->tile; }

void xir_tile_same(xir_infer *at) {
    if (xir_tile_asked(at)) at->needs->possible = true;
}

/* The next attribute of the op of a tile; NULL, and no such op is possible, if there is no room. */
static tile_attr *add_attr(xir_infer *at, const char *name, size_t n) {
    if (!xir_tile_asked(at)) return NULL;
    infer_needs_seen *seen = at->needs;
    if (seen->n_attrs >= MOST_TILE_ATTRS || n > 2 * XIR_BOX_DIMS) {
        seen->n_attrs = MOST_TILE_ATTRS + 1;
        return NULL;
    }
    seen->possible = true;
    tile_attr *attr = &seen->attrs[seen->n_attrs++];
    attr->name = name;
    attr->n = n;
    return attr;
}

void xir_tile_i64(xir_infer *at, const char *name, int64_t v) {
    tile_attr *attr = add_attr(at, name, 1);
    if (!attr) return;
    attr->kind = TILE_I64;
    attr->numbers[0] = v;
}

void xir_tile_i64s(xir_infer *at, const char *name, const int64_t *v, size_t n) {
    tile_attr *attr = add_attr(at, name, n);
    if (!attr) return;
    attr->kind = TILE_I64S;
    if (n) memcpy(attr->numbers, v, n * sizeof *v);
}

void xir_tile_type(xir_infer *at, const char *name) {
    tile_attr *attr = add_attr(at, name, 0);
    if (attr) attr->kind = TILE_TYPE;
}

void xir_tile_makes(xir_infer *at, size_t dim, int64_t begin, int64_t end) {
    if (!xir_tile_asked(at) || dim >= at->needs->makes.rank) return;
    xir_box *makes = &at->needs->makes;
    if (begin < makes->begin[dim]) makes->begin[dim] = begin;
    if (end > makes->end[dim]) makes->end[dim] = end;
}

/* ---- asking ----------------------------------------------------------------------------------------------------- */

xir_needs xir_class_needs(const xir_class *cls) {
    if (!cls || !xir_class_is_op(cls) || !cls->more->needs) return XIR_NEEDS_ALL;
    return cls->more->needs_wide ? XIR_NEEDS_SUPERSET : XIR_NEEDS_EXACT;
}

/* The whole inputs, which are needed if nothing better is known. */
static xir_status begin_whole(const xir_infer *at, xir_box *in, xir_diags *why) {
    for (size_t i = 0; i < at->n_inputs; i++) {
        char where[32];
        const xir_value *v = infer_input(at, i);
        if (!v) in[i] = (xir_box){ .size = sizeof *in, .none = 1, .exact = 1 };
        else if (whole(v->type, "", &in[i], NULL) == XIR_OK) continue;
        if (!v) continue;
        snprintf(where, sizeof where, "inputs/%zu", i);
        return whole(v->type, where, &in[i], why);
    }
    return XIR_OK;
}

/* Restores the boxes if a function has failed, or cannot make a tile. */
static xir_status forget(const xir_infer *at, infer_needs_seen *seen, xir_diags *why) {
    seen->possible = false;
    seen->n_attrs = 0;
    xir_status status = begin_whole(at, seen->in, why);
    for (size_t i = 0; i < at->n_inputs; i++) seen->in[i].exact = 0;
    return status;
}

/* Tiles of a back end, and elements that are declared as padding, are left to whole inputs. */
static bool is_plain(const xir_type *type) {
    const xir_tensor_type *tensor = xir_type_as_tensor(type);
    return !tensor || (!tensor->merged_distrs.size && !xir_type_is_layouted(type));
}

static bool has_plain_values(const xir_infer *at) {
    for (size_t i = 0; i < at->n_inputs; i++) {
        const xir_value *v = infer_input(at, i);
        if (v && !is_plain(v->type)) return false;
    }
    for (size_t i = 0; i < at->n_out; i++)
        if (!is_plain(at->out[i])) return false;
    return true;
}

static xir_status ask(xir_infer *at, infer_needs_seen *seen, xir_diags *why) {
    at->needs = seen;
    seen->makes = seen->part;
    xir_status status = at->cls->more->needs(at);
    if (status == XIR_E_MEMORY) return diag_memory(why);
    if (status || seen->n_attrs > MOST_TILE_ATTRS) return forget(at, seen, why);
    xir_box *const makes = &seen->makes;
    if (!seen->possible || box_contains(&seen->part, makes)) return XIR_OK;
    xir_box all;
    status = whole(at->out[seen->output], "outputs", &all, why);
    for (uint32_t k = 0; k < makes->rank && !status; k++) {
        if (makes->begin[k] < 0) makes->begin[k] = 0;
        if (makes->end[k] > all.end[k]) makes->end[k] = all.end[k];
    }
    return status;
}

/* Narrows the boxes of whole inputs. `asks`: the class has a function that is asked. */
static xir_status answer(xir_infer *at, bool asks, infer_needs_seen *seen, xir_diags *why) {
    seen->possible = false;
    seen->n_attrs = 0;
    xir_status status = asks ? ask(at, seen, why) : XIR_OK;
    const bool exact = asks && !at->cls->more->needs_wide;
    for (size_t i = 0; i < at->n_inputs && !exact; i++) seen->in[i].exact = 0;
    return status;
}

static bool is_asked(const xir_infer *at) { return at->cls->more->needs && has_plain_values(at); }

xir_status infer_needs(xir_infer *at, infer_needs_seen *seen, xir_diags *why) {
    xir_status status = begin_whole(at, seen->in, why);
    return status ? status : answer(at, is_asked(at), seen, why);
}

/* ---- an op ------------------------------------------------------------------------------------------------------ */

xir_status needs_asker_open(needs_asker *a, const xir_op *op, xir_box *inputs, xir_diags *why) {
    xir_status status = XIR_OK;
    pool_init_reader(&a->pool, &op->net->pool);
    infer_start(&a->at, op->net, op->cls, op->attrs, op_target(op), NULL, op->n_inputs, name_text(op_label(op)), NULL);
    a->at.pool = &a->pool;
    a->at.op = op;
    a->inputs = inputs;
    for (uint32_t i = 0; i < op->n_outputs && !status; i++) status = infer_see_output(&a->at, op_outputs(op)[i].type);
    status = status ? diag_memory(why) : begin_whole(&a->at, inputs, why);
    a->asks = !status && is_asked(&a->at);
    if (status) needs_asker_close(a);
    return status;
}

void needs_asker_close(needs_asker *a) {
    infer_end(&a->at);
    pool_free(&a->pool);
}

xir_status needs_asker_ask(needs_asker *a, infer_needs_seen *seen, xir_diags *why) {
    memcpy(seen->in, a->inputs, a->at.n_inputs * sizeof *seen->in);
    return answer(&a->at, a->asks, seen, why);
}

xir_status op_needs(const xir_op *op, infer_needs_seen *seen, xir_diags *why) {
    needs_asker a;
    xir_status status = needs_asker_open(&a, op, seen->in, why);
    if (status) return status;
    status = answer(&a.at, a.asks, seen, why);
    needs_asker_close(&a);
    return status;
}

/* The boxes of an op that is asked about no element. */
static xir_status nothing(const xir_op *op, infer_needs_seen *seen, xir_diags *why) {
    xir_infer at;
    infer_start(&at, op->net, op->cls, op->attrs, op_target(op), NULL, op->n_inputs, XIR_STR(""), NULL);
    at.op = op;
    const xir_status status = begin_whole(&at, seen->in, why);
    infer_end(&at);
    return status;
}

static xir_status check_part(const xir_op *op, size_t output, const xir_box *part, xir_diags *why) {
    xir_box all;
    if (op->flags & OP_DRAFT)
        return diag_fail(why, XIR_E_MISSING, XIR_STR(""), "the op is a draft: complete it first");
    if (output >= op->n_outputs)
        return diag_fail(why, XIR_E_BOUNDS, XIR_STR("output"), "output %zu is asked about, the op has %" PRIu32, output,
                         op->n_outputs);
    xir_status status = whole(op_outputs(op)[output].type, "outputs", &all, why);
    if (status) return status;
    if (part->rank != all.rank)
        return diag_fail(why, XIR_E_BOUNDS, XIR_STR("part"), "the part has %" PRIu32 " dims, the output %" PRIu32,
                         part->rank, all.rank);
    for (uint32_t k = 0; k < part->rank && !part->none; k++)
        if (part->begin[k] < 0 || part->end[k] > all.end[k] || part->begin[k] > part->end[k])
            return diag_fail(why, XIR_E_BOUNDS, XIR_STR("part"), "dim %" PRIu32 " of the part is [%" PRId64 ", %" PRId64
                             "): expected a part of [0, %" PRId64 ")", k, part->begin[k], part->end[k], all.end[k]);
    return XIR_OK;
}

xir_status xir_op_needed(const xir_op *op, size_t output, const xir_box *part, xir_box *needed, size_t n,
                         xir_diags *why) {
    infer_needs_seen seen = { .output = output };
    if (!op || !part || (!needed && n)) return diag_null(why, !op ? "op" : !part ? "part" : "needed");
    xir_status status = sized_take(BOX_STRUCT, &seen.part, part, why);
    if (!status) status = check_part(op, output, &seen.part, why);
    if (status) return status;
    const xir_allocator *alloc = &op->net->alloc;
    const size_t bytes = (op->n_inputs + (size_t)1) * sizeof *seen.in;
    seen.in = mem_new(alloc, bytes);
    if (!seen.in) return diag_memory(why);
    const bool empty = xir_box_elements(&seen.part) == 0;
    status = empty ? nothing(op, &seen, why) : op_needs(op, &seen, why);
    const xir_box none = { .size = sizeof none, .none = 1, .exact = 1 };
    for (size_t i = 0; i < n && !status; i++) {
        xir_box *to = (xir_box *)((char *)needed + i * needed->size);
        if (empty && i < op->n_inputs) {
            box_clear(&seen.in[i]);
            seen.in[i].exact = 1;
        }
        status = sized_fill(BOX_STRUCT, to, i < op->n_inputs ? &seen.in[i] : &none, why);
    }
    mem_free(alloc, seen.in, bytes);
    return status;
}
