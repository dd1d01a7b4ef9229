/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Finds the parts of values that a region needs. Each op is asked once for each of its outputs, after all that use
 * them; what several ops need of a value is one box. The body of a call is walked in the place of the call, in the same
 * table. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "hash.h"
#include "needs_walk.h"
#include "legal.h"
#include "region.h"
#include "sized.h"

/* ---- the table -------------------------------------------------------------------------------------------------- */

typedef struct needed_part { const xir_value *value; xir_box part; } needed_part;

/* A walk from results to inputs, in which each op is asked once. */
typedef struct needs_walk {
    const xir_allocator *alloc;
    xir_diags           *why;
    pointer_table        places;    /* of each value, where its part is             */
    needed_part         *parts;     /* in the order in which they were first needed */
    size_t               n, room;
} needs_walk;

static void needs_open(needs_walk *w, const xir_allocator *alloc, xir_diags *why) {
    *w = (needs_walk){ .alloc = alloc, .why = why };
    pointer_table_init(&w->places, alloc);
}

static void needs_close(needs_walk *w) {
    pointer_table_free(&w->places);
    mem_free(w->alloc, w->parts, w->room * sizeof *w->parts);
}

/* Adds what is needed of a value to what is already. XIR_E_MEMORY. */
static xir_status needs_add(needs_walk *w, const xir_value *value, const xir_box *part) {
    if (part->none) return XIR_OK;
    if (!mem_reserve(w->alloc, (void **)&w->parts, &w->room, w->n + 1, sizeof *w->parts)) return diag_memory(w->why);
    const uint32_t *place = pointer_table_add(&w->places, value, (uint32_t)w->n);
    if (!place) return diag_memory(w->why);
    if (*place < w->n) box_join(&w->parts[*place].part, part);
    else w->parts[w->n++] = (needed_part){ value, *part };
    return XIR_OK;
}

/* The part of a value; NULL if nothing of it is needed. Valid until the next one is added. */
static const xir_box *needs_find(const needs_walk *w, const xir_value *value) {
    const uint32_t *place = pointer_table_find(&w->places, value);
    return place ? &w->parts[*place].part : NULL;
}

/* ---- ops -------------------------------------------------------------------------------------------------------- */

/* Asks an op, all of whose users have been asked; a Call through its body. A finding names the op. */
static xir_status needs_ask(needs_walk *w, const xir_op *op);

/* Asks an op. Only if that fails, it is asked again for the finding, which gets the place of the op. */
static xir_status ask_op(const needs_walk *w, const xir_op *op, infer_needs_seen *seen) {
    xir_status status = op_needs(op, seen, NULL);
    if (!status || !w->why) return status;
    if (status == XIR_E_MEMORY) return diag_memory(w->why);
    xir_diags *own = xir_diags_new(op->net->ctx);
    if (!own) return diag_memory(w->why);
    (void)op_needs(op, seen, own);
    const xir_diag *first = xir_diags_at(own, 0);
    const xir_str at = first ? first->path : XIR_STR(""), message = first ? first->message : XIR_STR("");
    char path[96] = "";
    if (op_is_in(op))
        snprintf(path, sizeof path, "/ops/%" PRId64 "%s%.*s", xir_network_index_of(op->net, op), at.size ? "/" : "",
                 CLIP_TO(at, 40));
    status = diag_fail(w->why, status, xir_str_of(path), "%.*s: %.*s", CLIP_TO(op->cls->key, 200),
                       CLIP_TO(message, 300));
    xir_diags_free(own);
    return status;
}

/* Sub ops may read the whole of values that are made elsewhere. */
static bool add_children(void *user, xir_op *op) {
    needs_walk *w = user;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const xir_value *v = op_inputs(op)[i].value;
        xir_box all = XIR_INIT(xir_box);
        if (v && xir_box_whole(v->type, &all, NULL) == XIR_OK) {
            all.exact = 0;
            if (needs_add(w, v, &all)) return false;
        }
    }
    return op_each_child(op, add_children, user);
}

static xir_status ask_output(needs_walk *w, const xir_op *op, infer_needs_seen *seen) {
    const bool exact = seen->part.exact;
    xir_status status = ask_op(w, op, seen);
    for (uint32_t i = 0; i < op->n_inputs && !status; i++) {
        const xir_value *v = op_inputs(op)[i].value;
        if (!v) continue;
        if (!exact) seen->in[i].exact = 0;
        status = needs_add(w, v, &seen->in[i]);
    }
    return status;
}

/* The values of the body's Output have the parts of the outputs of the call, the inputs those of the body's Input. */
static xir_status ask_body(needs_walk *w, const xir_op *op, xir_ops body) {
    const xir_op *in = body.data[0], *out = body.data[body.size - 1];
    xir_status status = XIR_OK;
    for (uint32_t i = 0; i < op->n_outputs && i < out->n_inputs && !status; i++) {
        const xir_box *part = needs_find(w, &op_outputs(op)[i]);
        const xir_value *v = op_inputs(out)[i].value;
        if (!part || !v) continue;
        const xir_box copy = *part;
        status = needs_add(w, v, &copy);
    }
    for (size_t k = body.size - 1; k-- > 1 && !status;) status = needs_ask(w, body.data[k]);
    for (uint32_t i = 0; i < op->n_inputs && i < in->n_outputs && !status; i++) {
        const xir_box *part = needs_find(w, &op_outputs(in)[i]);
        const xir_value *v = op_inputs(op)[i].value;
        if (!part || !v) continue;
        const xir_box copy = *part;
        status = needs_add(w, v, &copy);
    }
    return status;
}

static bool has_body(const xir_op *op, xir_ops *body) {
    xir_attr attr;
    if (!is_call(op->cls) || xir_op_get(op, XIR_STR("body"), &attr) || attr.kind != XIR_KIND_OPS) return false;
    *body = attr.as.ops;
    return body->size >= 2;
}

static xir_status needs_ask(needs_walk *w, const xir_op *op) {
    xir_ops body;
    if (has_body(op, &body)) return ask_body(w, op, body);
    if (op->cls->traits & (XIR_TRAIT_SOURCE | XIR_TRAIT_SINK)) return XIR_OK;
    const size_t bytes = (op->n_inputs + (size_t)1) * sizeof(xir_box);
    infer_needs_seen seen = { .in = NULL };
    xir_status status = XIR_OK;
    bool asked = false;
    seen.in = mem_new(w->alloc, bytes);
    if (!seen.in) return diag_memory(w->why);
    for (uint32_t o = 0; o < op->n_outputs && !status; o++) {
        const xir_box *part = needs_find(w, &op_outputs(op)[o]);
        if (!part) continue;
        asked = true;
        seen.output = o;
        seen.part = *part;
        status = ask_output(w, op, &seen);
    }
    if (asked && !status && op_has_children(op) && !op_each_child(op, add_children, w)) status = XIR_E_MEMORY;
    mem_free(w->alloc, seen.in, bytes);
    return status;
}

xir_status needs_of_call(xir_infer *at, xir_ops body) {
    const size_t output = xir_needs_output(at);
    const xir_box *part = xir_needs_part(at);
    if (body.size < 2 || !part || output >= body.data[body.size - 1]->n_inputs) return XIR_E_INVALID;
    const xir_op *in = body.data[0];
    const xir_value *v = op_inputs(body.data[body.size - 1])[output].value;
    needs_walk w;
    needs_open(&w, &at->ctx->alloc, NULL);
    xir_status status = v ? needs_add(&w, v, part) : XIR_E_INVALID;
    for (size_t k = body.size - 1; k-- > 1 && !status;) status = needs_ask(&w, body.data[k]);
    for (uint32_t i = 0; i < in->n_outputs && !status; i++) {
        const xir_box *needed = needs_find(&w, &op_outputs(in)[i]);
        if (!needed) xir_needs_none(at, i);
        for (uint32_t k = 0; needed && k < needed->rank; k++)
            xir_needs_along(at, i, k, needed->begin[k], needed->end[k]);
        if (needed && !needed->exact) xir_needs_wide(at, i);
    }
    needs_close(&w);
    return status;
}

/* ---- a region --------------------------------------------------------------------------------------------------- */

static int by_position(const void *a, const void *b) {
    const xir_op *x = *(const xir_op *const *)a, *y = *(const xir_op *const *)b;
    return (x->position > y->position) - (x->position < y->position);
}

xir_status region_sort(const xir_network *net, xir_op *const *ops, size_t n, const xir_op ***out, xir_diags *why) {
    bool sorted = true;
    for (size_t i = 0; i < n; i++) {
        xir_status status = region_op_check(net, ops[i], i, why);
        if (status) return status;
        sorted &= i == 0 || ops[i - 1]->position < ops[i]->position;
    }
    const xir_op **list = mem_new(&net->alloc, (n + 1) * sizeof *list);
    if (!list) return diag_memory(why);
    if (n) memcpy((void *)list, (const void *)ops, n * sizeof *list);
    if (!sorted) qsort((void *)list, n, sizeof *list, by_position);
    *out = list;
    for (size_t i = 1; i < n; i++) {
        if (list[i - 1] != list[i]) continue;
        mem_free(&net->alloc, (void *)list, (n + 1) * sizeof *list);
        return diag_fail(why, XIR_E_INVALID, XIR_STR(""), "op %" PRId64 " is in the region twice", ops[i]->id);
    }
    return XIR_OK;
}

static xir_status add_given(needs_walk *w, const xir_network *net, const xir_value *v, const void *parts, size_t i) {
    xir_box part, all = XIR_INIT(xir_box);
    char where[32];
    snprintf(where, sizeof where, "values/%zu", i);
    if (!v) return diag_null(w->why, "value");
    if (value_net(v) != net)
        return diag_fail(w->why, XIR_E_INVALID, xir_str_of(where), "the value is of another network");
    xir_status status = sized_take_at(BOX_STRUCT, &part, parts, i, w->why);
    if (!status) status = xir_box_whole(v->type, &all, w->why);
    if (status) return status;
    if (part.none || !xir_box_elements(&part)) return XIR_OK;
    if (part.rank != all.rank || !box_contains(&all, &part))
        return diag_fail(w->why, XIR_E_BOUNDS, xir_str_of(where), "the part does not lie within the value");
    part.exact = 1;
    return needs_add(w, v, &part);
}

xir_status xir_region_needed(const xir_network *net, xir_op *const *ops, size_t n, const xir_value *const *values,
                             const xir_box *parts, size_t n_values, xir_needed_fn *each, void *user, xir_diags *why) {
    const char *null = !net ? "net" : !ops && n ? "ops" : !each ? "each" : n_values && !values ? "values"
                     : n_values && !parts ? "parts" : NULL;
    const xir_op **sorted = NULL;
    needs_walk w;
    if (null) return diag_null(why, null);
    xir_status status = region_sort(net, ops, n, &sorted, why);
    if (status) return status;
    needs_open(&w, &net->alloc, why);
    for (size_t i = 0; i < n_values && !status; i++) status = add_given(&w, net, values[i], parts, i);
    for (size_t i = n; i-- > 0 && !status;) status = needs_ask(&w, sorted[i]);
    for (size_t i = 0; i < w.n && !status; i++) {
        const xir_op *maker = value_op(w.parts[i].value);
        if (!maker || !(maker->flags & OP_CHILD)) each(user, w.parts[i].value, &w.parts[i].part);
    }
    needs_close(&w);
    mem_free(&net->alloc, (void *)sorted, (n + 1) * sizeof *sorted);
    return status;
}
