/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Bytes in the file for Params: whose they are, and their order in a raw file. None are copied. */
#include "flat/read.h"

static bool same_bytes(const flat_reader *r, const flat_payload *a, const flat_payload *b) {
    return a->size == b->size && (a->at == b->at || memcmp(r->base + a->at, r->base + b->at, a->size) == 0);
}

/* Params that are embedded more than once have as many copies of their bytes: the first copy counts, the others must be
 * equal. The list is in the order of the payloads. `index` has room for all Params. */
static bool drop_copies(flat_reader *r, uint32_t *index) {
    memset(index, 0, r->d.net->n_params * sizeof *index);
    size_t n = 0;
    for (size_t i = 0; i < r->n_payloads; i++) {
        const flat_payload *p = &r->payloads[i];
        uint32_t *first = &index[value_params(p->value)->number];
        if (!*first) {
            r->payloads[n++] = *p;
            *first = (uint32_t)n;
        } else if (!same_bytes(r, &r->payloads[*first - 1], p)) {
            return FLAT_FAIL(r, r->base + p->at, XIR_E_CORRUPT,
                             "the bytes of v_id %" PRId64 " differ from those at byte %u",
                             p->value->id, r->payloads[*first - 1].at);
        }
    }
    r->n_payloads = n;
    return true;
}

/* Orders that the payloads of a raw file may have had: XIR's is the first. Other writers do not say; the digest
 * tells. */
typedef enum order { BY_PLACE, BACKWARDS, AS_MET, BY_ID, BY_TABLE } order;

static uint64_t rank_of(const flat_payload *p, order how) {
    uint64_t place = (uint64_t)p->at << 32 | p->table;   /* same place: in the order of their tables */
    return how == BY_PLACE || how == BY_TABLE ? place : how == BACKWARDS ? ~place : how == AS_MET ? p->met
           : (uint64_t)p->value->id;
}

static void sort_payloads(flat_reader *r, order how, raw_rank *ranks, flat_payload *sorted) {
    size_t n = r->n_payloads;
    for (size_t i = 0; i < n; i++) ranks[i] = (raw_rank){ rank_of(&r->payloads[i], how), (uint32_t)i };
    rank_sort(ranks, ranks + n, n);
    for (size_t i = 0; i < n; i++) sorted[i] = r->payloads[ranks[i].index];
    memcpy(r->payloads, sorted, n * sizeof *sorted);
}

/* The order of the raw file's table, if it differs from that of the payloads: all their v_ids. */
static bool read_table(flat_reader *r, const uint8_t *field, raw_rank *ranks, payload *list) {
    const uint8_t *vector = flat_follow(field), *ids = vector + 4;
    size_t n = r->n_payloads, found = 0;
    if (little_u32(vector) != n) {
        return FLAT_FAIL(r, vector, XIR_E_CORRUPT, "params_table has %u entries for %zu Params with bytes",
                         little_u32(vector), n);
    }
    for (size_t i = 0; i < n; i++) {
        ranks[i] = (raw_rank){ (uint64_t)list[i].value->id, (uint32_t)i };
        list[i].entry = UINT32_MAX;
    }
    rank_sort(ranks, ranks + n, n);
    for (size_t i = 0; i < n; i++, found = 0) {
        int64_t id = flat_i64(ids + 8 * i);
        size_t end = n;
        while (found < end) {
            size_t middle = found + (end - found) / 2;
            if (ranks[middle].key < (uint64_t)id) found = middle + 1;
            else end = middle;
        }
        if (found == n || ranks[found].key != (uint64_t)id || list[ranks[found].index].entry != UINT32_MAX) {
            return FLAT_FAIL(r, ids + 8 * i, XIR_E_CORRUPT, "params_table has v_id %" PRId64 " %s", id,
                             found < n && ranks[found].key == (uint64_t)id ? "twice" : "of no Params with bytes");
        }
        list[ranks[found].index].entry = (uint32_t)i;
    }
    return true;
}

/* Memory for as many items as there are payloads, and marks for all Params. */
typedef struct payload_room { payload *list; raw_rank *ranks; flat_payload *sorted; uint32_t *index; } payload_room;

static xir_status attach(flat_reader *r, order by, const payload_room *room, const uint8_t *table,
                         payload_compare compare, const format_reading *how, blob *whole, xir_diags *why) {
    sort_payloads(r, by, room->ranks, room->sorted);
    for (size_t i = 0; i < r->n_payloads; i++) {
        const flat_payload *p = &r->payloads[i];
        room->list[i] = (payload){ p->value, p->at, p->size, (uint32_t)i };
    }
    if (table && !read_table(r, table, room->ranks, room->list)) return r->d.trace.status;
    for (uint32_t i = 0; by == BY_TABLE && i < r->n_payloads; i++) {
        while (room->list[i].entry != i) {   /* each moves to its place, once */
            payload *to = &room->list[room->list[i].entry], p = *to;
            *to = room->list[i];
            room->list[i] = p;
        }
    }
    return payload_attach(r->d.net, whole, room->list, r->n_payloads, compare, how->name, why);
}

/* XIR writes all payloads after all tables, in their order. Other writers have tables between them. */
static bool is_ours(const flat_reader *r) {
    uint32_t last_table = 0;
    for (size_t i = 0; i < r->n_payloads; i++)
        if (r->payloads[i].table > last_table) last_table = r->payloads[i].table;
    return r->n_payloads && r->payloads[0].at > last_table;
}

/* A file of another writer may have another order: the order that matches the network's digest is right. If none
 * matches, the findings of the first order count. Any other failure does not depend on the order: it ends the
 * search. */
static xir_status attach_in_order(flat_reader *r, const payload_room *room, const uint8_t *root,
                                  const format_reading *how, blob *whole) {
    flat_view t = flat_view_of(root);
    const uint8_t *table = flat_field_at(&t, r->schema->network->slots[NET_SLOT_PARAMS_TABLE].slot);
    payload_compare compare = payload_compare_of(how->compare, how->meanwhile);
    const bool one_order = r->n_payloads < 2 || (compare == PAYLOAD_MEANWHILE && is_ours(r));
    if (compare == PAYLOAD_TRUSTED || one_order)
        return attach(r, BY_PLACE, room, table, compare, how, whole, how->why);
    compare = PAYLOAD_COMPARED;
    xir_diags *said = xir_diags_new(r->d.ctx), *again = xir_diags_new(r->d.ctx), *counts = said;
    xir_status status = said && again ? attach(r, BY_PLACE, room, table, compare, how, whole, said)
                                      : diag_memory(how->why);
    bool settled = status != XIR_E_CORRUPT || r->d.trace.status;
    for (order by = table ? BY_TABLE : BACKWARDS; !settled && by <= (table ? BY_TABLE : BY_ID); by++) {
        xir_diags_clear(again);
        xir_status now = attach(r, by, room, table, compare, how, whole, again);
        if ((settled = now != XIR_E_CORRUPT)) {
            status = now;
            counts = again;
        }
    }
    diags_append(how->why, counts);
    xir_diags_free(said);
    xir_diags_free(again);
    return status;
}

bool flat_read_payloads(flat_reader *r, const uint8_t *root, const format_reading *how, blob *whole) {
    size_t n = r->n_payloads, all = r->d.net->n_params;
    if (!n) return true;
    const xir_allocator *alloc = context_alloc(r->d.ctx);
    size_t size = n * (sizeof(payload) + 2 * sizeof(raw_rank) + sizeof(flat_payload)) + all * sizeof(uint32_t);
    payload_room room = { .list = mem_new(alloc, size) };
    if (!room.list) return trace_memory(&r->d.trace);
    room.ranks = (raw_rank *)(void *)(room.list + n);
    room.sorted = (flat_payload *)(void *)(room.ranks + 2 * n);
    room.index = (uint32_t *)(void *)(room.sorted + n);
    sort_payloads(r, BY_PLACE, room.ranks, room.sorted);
    bool ok = drop_copies(r, room.index);
    if (ok) r->d.trace.status = attach_in_order(r, &room, root, how, whole);
    mem_free(alloc, room.list, size);
    return ok && !r->d.trace.status;
}
