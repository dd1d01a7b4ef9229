/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include "planned.h"
#include <inttypes.h>
#include <stdlib.h>
#include "actual.h"
#include "class_shares.h"
#include "shares.h"

enum {
    ALIGNED     = 64,      /* addresses in the block have the same remainder as in their memory         */
    GUARD       = 64,      /* bytes before and after an island                                          */
    NAN_BYTE    = 0xFF,    /* floats of such bytes are NaN, integers -1 or the greatest                 */
    GUARD_BYTE  = 0xA5,
    MOST_DIRECT = 64,      /* inputs of an op that is to make its output in its place                   */
};

#define NOWHERE SIZE_MAX

typedef struct planned_place {
    size_t   at, size;     /* in the block; NOWHERE: it has no address                                  */
    uint32_t island;
    uint32_t sharing;      /* a place that shares the bytes, and whose `values` count; itself           */
    uint32_t values;       /* in these bytes that live                                                  */
} planned_place;

/* Places that overlap, directly or through others, in the block. */
typedef struct planned_island { size_t from, to; } planned_island;

static size_t index_of(const planned *p, const xir_value *v) {
    const xir_op *op = value_op(v);
    return p->first[op->slot] + (size_t)(v - op_outputs(op));
}

/* The place of a value, or of Params; NULL if it has none in the block. */
static planned_place *place_of(const planned *p, const xir_value *v) {
    if (!v) return NULL;
    const xir_op *op = value_op(v);
    const uint32_t *number = value_is_params(v) ? pointer_table_find(&p->params, v) : NULL;
    if (!number && (!op || op->net != p->net || !(op->flags & OP_PLACED))) return NULL;
    planned_place *it = &p->places[number ? *number : index_of(p, v)];
    return it->at == NOWHERE ? NULL : it;
}

/* ---- addresses --------------------------------------------------------------------------------------------------- */

typedef struct address {
    uint64_t memory, from;   /* a number for each memory: its kind and chunk */
    uint64_t bytes;
    size_t   place;
} address;

typedef struct layout {
    planned   *p;
    address   *all;
    size_t     n, room;
    xir_diags *why;
} layout;

static bool has_address(const xir_value *v) {
    return v && xir_mtype_kind_of(xir_value_mtype(v)) != XIR_MTYPE_HOST;
}

/* Notes the address of the value, or Params, of a place. */
static xir_status add_address(layout *l, const xir_value *v, size_t place) {
    const xir_mtype *mtype = xir_value_mtype(v);
    const xir_mtype_kind kind = xir_mtype_kind_of(mtype);
    const bool chunk = kind == XIR_MTYPE_CHUNK;
    const xir_str name = xir_value_name(v);
    address it = { .memory = chunk ? xir_mtype_addr(mtype) * 4 + kind : (uint64_t)kind,
                   .from = chunk ? xir_mtype_offset(mtype) : xir_mtype_addr(mtype), .place = place };
    if (!v->type || xir_type_bytes(v->type, &it.bytes)) {
        return array_fail(l->why, XIR_E_BOUNDS, "the bytes of '%.*s', which has an address, are unknown: bind its "
                          "symbols", CLIP_TO(name, 80));
    }
    if (it.bytes > UINT64_MAX - it.from)
        return array_fail(l->why, XIR_E_LIMIT, "'%.*s' ends beyond 2^64 - 1", CLIP_TO(name, 80));
    if (!mem_reserve(l->p->alloc, (void **)&l->all, &l->room, l->n + 1, sizeof *l->all)) return diag_memory(l->why);
    l->all[l->n++] = it;
    return XIR_OK;
}

static bool add_place(planned *p) {
    if (!mem_reserve(p->alloc, (void **)&p->places, &p->room, p->n + 1, sizeof *p->places)) return false;
    p->places[p->n] = (planned_place){ .at = NOWHERE, .sharing = (uint32_t)p->n };
    p->n++;
    return true;
}

static xir_status add_params(layout *l, const xir_op *op) {
    planned *p = l->p;
    xir_status status = XIR_OK;
    for (uint32_t i = 0; i < op->n_inputs && !status; i++) {
        const xir_value *v = op_inputs(op)[i].value;
        if (!has_address(v) || !value_is_params(v) || pointer_table_find(&p->params, v)) continue;
        const uint32_t number = (uint32_t)p->n;
        status = add_place(p) && pointer_table_add(&p->params, v, number) ? add_address(l, v, number)
                 : diag_memory(l->why);
    }
    return status;
}

static xir_status add_all(layout *l) {
    planned *p = l->p;
    xir_status status = XIR_OK;
    for (size_t i = 0; i < p->n_values && !status; i++) status = add_place(p) ? XIR_OK : diag_memory(l->why);
    for (const xir_op *op = p->net->first; op && !status; op = op->next) {
        for (uint32_t i = 0; i < op->n_outputs && !status; i++) {
            const xir_value *v = &op_outputs(op)[i];
            if (has_address(v)) status = add_address(l, v, index_of(p, v));
        }
        if (!status) status = add_params(l, op);
    }
    if (!status && !l->n) {
        status = array_fail(l->why, XIR_E_MISSING, "no value of the network has an address: plan its memory first "
                            "(the pass plan)");
    }
    if (!status && p->n >= UINT32_MAX)
        status = array_fail(l->why, XIR_E_LIMIT, "more than 2^32 - 2 values and Params have addresses");
    return status;
}

/* ---- the block --------------------------------------------------------------------------------------------------- */

static int compare_addresses(const void *a, const void *b) {
    const address *left = a, *right = b;
    if (left->memory != right->memory) return left->memory < right->memory ? -1 : 1;
    if (left->from != right->from) return left->from < right->from ? -1 : 1;
    return left->place < right->place ? -1 : left->place > right->place;
}

/* Finds the places in the block, one island after the other. Params that no value overlaps need none: nothing writes
 * them. */
static xir_status lay_out(layout *l) {
    planned *p = l->p;
    size_t at = 0;   /* the end of what is laid out */
    if (l->n) qsort(l->all, l->n, sizeof *l->all, compare_addresses);
    if (!mem_reserve(p->alloc, (void **)&p->islands, &p->island_room, l->n, sizeof *p->islands))
        return diag_memory(l->why);
    for (size_t i = 0; i < l->n;) {
        const address *first = &l->all[i];
        uint64_t to = first->from + first->bytes;
        bool written = first->place < p->n_values;
        size_t n = i + 1;
        for (; n < l->n && l->all[n].memory == first->memory && l->all[n].from < to; n++) {
            if (l->all[n].from + l->all[n].bytes > to) to = l->all[n].from + l->all[n].bytes;
            written = written || l->all[n].place < p->n_values;
        }
        if (!written) {
            i = n;
            continue;
        }
        at += GUARD;
        at += (size_t)((first->from - at) & (ALIGNED - 1));
        if (to - first->from > SIZE_MAX / 2 - 2 * GUARD - at)
            return array_fail(l->why, XIR_E_LIMIT, "the memory of the plan exceeds the address space");
        p->islands[p->n_islands] = (planned_island){ at, at + (size_t)(to - first->from) };
        for (; i < n; i++) {
            planned_place *it = &p->places[l->all[i].place];
            it->at = at + (size_t)(l->all[i].from - first->from);
            it->size = (size_t)l->all[i].bytes;
            it->island = (uint32_t)p->n_islands;
        }
        at = p->islands[p->n_islands++].to;
    }
    p->size = at + GUARD + ALIGNED;
    return XIR_OK;
}

static xir_status make_block(planned *p, xir_diags *why) {
    p->block = mem_new(p->rooms->alloc, p->size);
    if (!p->block) {
        return p->rooms->meter
            ? array_fail(why, XIR_E_LIMIT, "the memory of the plan takes %zu bytes: the limit is %" PRIu64
                         " (max_memory)", p->size, p->rooms->meter->limit)
            : array_fail(why, XIR_E_MEMORY, "out of memory for the %zu bytes of the plan", p->size);
    }
    p->bytes = p->block + (ALIGNED - (uintptr_t)p->block % ALIGNED) % ALIGNED;
    memset(p->block, GUARD_BYTE, p->size);
    for (size_t i = 0; i < p->n_islands; i++)
        memset(p->bytes + p->islands[i].from, NAN_BYTE, p->islands[i].to - p->islands[i].from);
    return XIR_OK;
}

static xir_status copy_params(planned *p, xir_diags *why) {
    const size_t n = p->n - p->n_values;
    if (!mem_reserve(p->alloc, (void **)&p->arrays, &p->n_arrays, n, sizeof *p->arrays)) return diag_memory(why);
    for (size_t i = 0; i < p->n_arrays; i++) p->arrays[i] = NULL;
    xir_status status = XIR_OK;
    for (const xir_op *op = p->net->first; op && !status; op = op->next) {
        for (uint32_t i = 0; i < op->n_inputs && !status; i++) {
            const xir_value *v = op_inputs(op)[i].value;
            planned_place *it = v && value_is_params(v) ? place_of(p, v) : NULL;
            if (!it || it->values) continue;
            xir_array *own = NULL;
            status = array_of_params(v, &own, why);
            if (!status && it->size) memcpy(p->bytes + it->at, array_bytes(own), it->size);
            if (!status) {
                status = array_over(p->net->ctx, v->type, p->bytes + it->at,
                                    &p->arrays[(size_t)(it - p->places) - p->n_values], why);
            }
            xir_array_free(own);
            it->values = 1;   /* it lives all the time */
        }
    }
    return status;
}

xir_status planned_open(planned *p, const xir_network *net, const size_t *first, size_t n_values, rooms *from,
                        planned_uses_fn *uses_left, const void *user, xir_diags *why) {
    *p = (planned){ .net = net, .alloc = &net->ctx->alloc, .first = first, .n_values = n_values, .rooms = from,
                    .uses_left = uses_left, .user = user };
    layout l = { .p = p, .why = why };
    pointer_table_init(&p->params, p->alloc);
    xir_status status = add_all(&l);
    if (!status) status = lay_out(&l);
    mem_free(p->alloc, l.all, l.room * sizeof *l.all);
    if (!status) status = make_block(p, why);
    if (!status) status = copy_params(p, why);
    return status;
}

void planned_close(planned *p) {
    for (size_t i = 0; i < p->n_arrays; i++) xir_array_free(p->arrays[i]);
    if (p->block) mem_free(p->rooms->alloc, p->block, p->size);
    mem_free(p->alloc, (void *)p->arrays, p->n_arrays * sizeof *p->arrays);
    mem_free(p->alloc, p->islands, p->island_room * sizeof *p->islands);
    mem_free(p->alloc, p->places, p->room * sizeof *p->places);
    pointer_table_free(&p->params);
    *p = (planned){ .alloc = p->alloc };
}

const xir_array *planned_params(const planned *p, const xir_value *value) {
    const planned_place *it = p->block ? place_of(p, value) : NULL;
    return it ? p->arrays[(size_t)(it - p->places) - p->n_values] : NULL;
}

/* ---- before an op ------------------------------------------------------------------------------------------------ */

static bool is_same(const planned_place *a, const planned_place *b) { return a->at == b->at && a->size == b->size; }

/* The place whose `values` count those in the bytes of a place. Shortens the way for later. */
static uint32_t bytes_of(const planned *p, const planned_place *it) {
    uint32_t of = (uint32_t)(it - p->places);
    while (p->places[of].sharing != of) {
        p->places[of].sharing = p->places[p->places[of].sharing].sharing;
        of = p->places[of].sharing;
    }
    return of;
}

static bool overlaps(const planned_place *a, const planned_place *b) {
    return a->at < b->at + b->size && b->at < a->at + a->size;
}

/* The place of the input that the first output is a view of; NULL if its row names none, or it is elsewhere. */
static planned_place *viewed(const planned *p, const xir_op *op, const planned_place *out) {
    if (op->cls->more->shares.kind != SHARES_VIEW) return NULL;
    const size_t input = (size_t)__builtin_ctzll(op->cls->more->shares.inputs);
    planned_place *it = shares_is_view(op, input) ? place_of(p, op_inputs(op)[input].value) : NULL;
    return it && is_same(it, out) ? it : NULL;
}

/* Returns true if a value ends with an op, which reads it only through inputs that its row names. */
static bool may_write_over(const planned *p, const xir_op *op, const xir_value *v) {
    size_t reads = 0;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        if (op_inputs(op)[i].value != v) continue;
        if (!shares_names_input(op, i)) return false;
        reads++;
    }
    return !value_is_params(v) && p->uses_left(p->user, index_of(p, v)) == reads;
}

/* The place of the input over which the first output is written; NULL if its row names none, or they are elsewhere.
 * What else is in these bytes is lost. */
static planned_place *written_over(const planned *p, const xir_op *op, const planned_place *out) {
    if (op->cls->more->shares.kind != SHARES_OVER || op_has_children(op)) return NULL;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const xir_value *v = op_inputs(op)[i].value;
        planned_place *it = shares_names_input(op, i) ? place_of(p, v) : NULL;
        if (!it || !is_same(it, out) || !shares_same_places(v->type, op_outputs(op)[0].type)) continue;
        return may_write_over(p, op, v) ? it : NULL;
    }
    return NULL;
}

/* The place of the input that an output is a part of; NULL if it is elsewhere. */
static planned_place *divided(const planned *p, const shares_parts *parts, const planned_place *out, uint64_t offset) {
    planned_place *whole = place_of(p, parts->whole);
    return whole && out->at == whole->at + offset ? whole : NULL;
}

/* An output begins to live: in the bytes of `in`, which it shares, or in bytes of its own. */
static void begin_in(const planned *p, planned_place *out, const planned_place *in) {
    const uint32_t own = (uint32_t)(out - p->places);
    out->values = 0;
    out->sharing = in ? bytes_of(p, in) : own;
    p->places[out->sharing].values++;
    if (!in) memset(p->bytes + out->at, NAN_BYTE, out->size);
}

/* The outputs of an op that divides. */
static void begin_divided(const planned *p, shares_parts *parts) {
    const xir_value *part;
    uint64_t offset, bytes;
    while (shares_next_part(parts, &part, &offset, &bytes)) {
        planned_place *out = place_of(p, part);
        if (out) begin_in(p, out, divided(p, parts, out, offset));
    }
}

/* The output of an op that joins. Inputs that are at their places in it stay there. */
static void begin_joined(const planned *p, shares_parts *parts) {
    planned_place *out = place_of(p, parts->whole);
    const xir_value *part;
    uint64_t offset, bytes;
    if (!out) return;
    const uint32_t own = (uint32_t)(out - p->places);
    size_t kept = out->at;   /* what is before stays, or is NaN */
    out->sharing = own;
    out->values = 1;
    while (shares_next_part(parts, &part, &offset, &bytes)) {
        const planned_place *in = value_is_params(part) ? NULL : place_of(p, part);
        planned_place *all = in ? &p->places[bytes_of(p, in)] : NULL;
        if (!in || in->at != out->at + offset || !all->values) continue;
        if (all->at < out->at || all->at + all->size > out->at + out->size) continue;   /* a part of more than this */
        memset(p->bytes + kept, NAN_BYTE, in->at - kept);
        kept = in->at + in->size;
        if (all == out) continue;
        out->values += all->values;
        all->values = 0;
        all->sharing = own;
    }
    memset(p->bytes + kept, NAN_BYTE, out->at + out->size - kept);
}

static void begin_outputs(const planned *p, const xir_op *op) {
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        planned_place *out = place_of(p, &op_outputs(op)[i]), *in = NULL;
        if (!out) continue;
        if (i == 0) in = viewed(p, op, out);
        if (i == 0 && !in) in = written_over(p, op, out);
        begin_in(p, out, in);
    }
}

/* Returns true if the op may write its output at once: it cannot read what it has written. Arrays that kernels get are
 * aligned. */
static bool is_direct(const planned *p, const xir_op *op, const planned_place *out) {
    if (op->n_inputs > MOST_DIRECT || out->at % ALIGNED) return false;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const planned_place *in = place_of(p, op_inputs(op)[i].value);
        if (in && overlaps(in, out)) return false;
    }
    return true;
}

void planned_begin(planned *p, const xir_op *op) {
    shares_parts parts;
    if (!p->block) return;
    if (!shares_begin_parts(op, &parts)) begin_outputs(p, op);
    else if (parts.joins) begin_joined(p, &parts);
    else begin_divided(p, &parts);
}

xir_status planned_into(const planned *p, const xir_op *op, xir_array **out, xir_diags *why) {
    const planned_place *its = p->block && op->n_outputs == 1 ? place_of(p, &op_outputs(op)[0]) : NULL;
    *out = NULL;
    if (!its || !is_direct(p, op, its)) return XIR_OK;
    return array_over(p->net->ctx, op_outputs(op)[0].type, p->bytes + its->at, out, why);
}

/* ---- after it ---------------------------------------------------------------------------------------------------- */

static bool is_guard(const uint8_t *bytes) {
    for (size_t i = 0; i < GUARD; i++)
        if (bytes[i] != GUARD_BYTE) return false;
    return true;
}

static xir_status fail_output(const xir_op *op, uint32_t i, xir_diags *why, const char *text) {
    char where[PORT_PATH];
    return op_fail(op, XIR_E_INVALID, why, port_path(where, "outputs", i), text);
}

/* A value without an address may be a view of one that has. */
static xir_status take_out(const planned *p, xir_array **array, xir_diags *why) {
    size_t size;
    const uint8_t *data = xir_array_data(*array, &size);
    if (!size || data < p->block || data >= p->block + p->size) return XIR_OK;
    xir_array *own = xir_array_copy((*array)->ctx, (*array)->type, data, size, why);
    if (!own) return XIR_E_MEMORY;
    xir_array_free(*array);
    *array = own;
    return XIR_OK;
}

xir_status planned_settle(planned *p, const xir_op *op, uint32_t i, xir_array **array, xir_diags *why) {
    const planned_place *it = place_of(p, &op_outputs(op)[i]);
    if (!*array) return XIR_OK;
    if (!it) return take_out(p, array, why);
    const size_t size = (*array)->data ? (size_t)(*array)->data->size : 0;
    if (size != it->size) return fail_output(op, i, why, "the output has other bytes than its type declares");
    if (size && array_bytes(*array) != p->bytes + it->at) {
        xir_array *placed = NULL;
        memmove(p->bytes + it->at, array_bytes(*array), size);
        xir_status status = array_over(p->net->ctx, (*array)->type, p->bytes + it->at, &placed, why);
        if (status) return status;
        array_give_back(*array, p->rooms);
        *array = placed;
    }
    const planned_island *around = &p->islands[it->island];
    return is_guard(p->bytes + around->from - GUARD) && is_guard(p->bytes + around->to) ? XIR_OK
         : fail_output(op, i, why, "the op has written beyond its output: a guard next to the memory of the plan has "
                       "changed");
}

void planned_end(planned *p, size_t index) {
    if (!p->block || p->places[index].at == NOWHERE) return;
    planned_place *of = &p->places[bytes_of(p, &p->places[index])];
    if (of->values && !--of->values) memset(p->bytes + of->at, NAN_BYTE, of->size);
}
