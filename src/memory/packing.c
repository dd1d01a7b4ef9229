/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Buffers become pieces. Starts and ends are sorted by time, and a pass over both numbers the sections: the first end
 * after a start closes a section. Pieces are then sorted into an order that does not depend on that of equal
 * buffers. */
#include "packing.h"
#include <inttypes.h>
#include "place.h"
#include "sort.h"

/* Of a large packing most of the time would go into finding pages. */
void *packing_take(const packing *p, size_t n, size_t size) {
    void *array = mem_new(p->alloc, (n + 1) * size);
    if (array) (void)memory_advise_huge(array, (n + 1) * size);
    return array;
}

void packing_drop(const packing *p, void *array, size_t n, size_t size) {
    mem_free(p->alloc, array, (n + 1) * size);
}

void packing_offer(packing *p, uint64_t **trial, uint64_t peak) {
    if (peak >= p->peak) return;
    uint64_t *worse = p->best;
    p->best = *trial;
    p->peak = peak;
    *trial = worse;
}

/* ---- checking ---------------------------------------------------------------------------------------------------- */

static xir_status check_buffer(const xir_buffer *b, size_t i, xir_diags *why) {
    const uint64_t align = b->align ? b->align : 1;
    if (b->to < b->from) return FAIL_BUFFER(why, XIR_E_INVALID, i, "the life ends before it begins");
    if (align & (align - 1)) {
        return FAIL_BUFFER(why, XIR_E_INVALID, i, "the alignment %" PRIu64 " is not a power of two", align);
    }
    if (b->size > FAR - (align - 1) || (b->fixed && (b->offset > FAR || b->size > FAR - b->offset))) {
        return FAIL_BUFFER(why, XIR_E_BOUNDS, i, "%" PRIu64 " bytes end beyond 2^63 - 1", b->size);
    }
    if (b->fixed && b->offset & (align - 1)) {
        return FAIL_BUFFER(why, XIR_E_INVALID, i, "the fixed offset %" PRIu64 " is not a multiple of %" PRIu64,
                           b->offset, align);
    }
    return XIR_OK;
}

static xir_status check_buffers(const xir_buffer *buffers, size_t n, xir_diags *why) {
    for (size_t i = 0; i < n; i++) {
        xir_status status = check_buffer(&buffers[i], i, why);
        if (status) return status;
    }
    return XIR_OK;
}

/* ---- pieces ------------------------------------------------------------------------------------------------------ */

typedef struct opener {
    packing          *p;
    const xir_buffer *buffers;
    size_t            n;
    keyed            *starts, *ends, *spare;
    uint32_t         *first, *last;   /* by buffer */
} opener;

/* Moments as numbers without a sign, in the same order. */
static uint64_t moment_key(int64_t moment) { return (uint64_t)moment ^ (uint64_t)1 << 63; }

static bool opener_open(opener *o) {
    const packing *p = o->p;
    o->starts = packing_take(p, o->n, sizeof *o->starts);
    o->ends = packing_take(p, o->n, sizeof *o->ends);
    o->spare = packing_take(p, o->n, sizeof *o->spare);
    o->first = packing_take(p, o->n, sizeof *o->first);
    o->last = packing_take(p, o->n, sizeof *o->last);
    return o->starts && o->ends && o->spare && o->first && o->last;
}

static void drop_ends(opener *o) {
    packing_drop(o->p, o->ends, o->n, sizeof *o->ends);
    o->ends = NULL;
}

static void opener_close(opener *o) {
    const packing *p = o->p;
    drop_ends(o);
    packing_drop(p, o->starts, o->n, sizeof *o->starts);
    packing_drop(p, o->spare, o->n, sizeof *o->spare);
    packing_drop(p, o->first, o->n, sizeof *o->first);
    packing_drop(p, o->last, o->n, sizeof *o->last);
}

/* Numbers the sections, and the range of each buffer with bytes. */
static void find_sections(opener *o) {
    packing *p = o->p;
    uint32_t n = 0, section = 0;
    for (size_t i = 0; i < o->n; i++) {
        if (!o->buffers[i].size) continue;
        o->starts[n] = (keyed){ moment_key(o->buffers[i].from), (uint32_t)i };
        o->ends[n++] = (keyed){ moment_key(o->buffers[i].to), (uint32_t)i };
    }
    sort_keyed(o->starts, o->spare, n);
    sort_keyed(o->ends, o->spare, n);
    bool open = false;
    for (uint32_t start = 0, end = 0; end < n;) {
        if (start < n && o->starts[start].key <= o->ends[end].key) {
            open = true;
            o->first[o->starts[start++].number] = section;
            continue;
        }
        section += open;
        open = false;
        o->last[o->ends[end++].number] = section - 1;
    }
    p->n = n;
    p->sections = section;
}

enum { BY_GROUP, BY_OFFSET, BY_ALIGN, BY_MOMENTS, BY_LAST, BY_SIZE, BY_FIRST, KEYS };

static uint64_t key_of(const opener *o, uint32_t number, int by) {
    const xir_buffer *b = &o->buffers[number];
    switch (by) {
    case BY_GROUP:   return b->group;
    case BY_OFFSET:  return b->fixed ? b->offset + 1 : 0;
    case BY_ALIGN:   return b->align;
    case BY_MOMENTS: return UINT64_MAX - ((uint64_t)b->to - (uint64_t)b->from);
    case BY_LAST:    return UINT32_MAX - o->last[number];
    case BY_SIZE:    return UINT64_MAX - b->size;
    default:         return o->first[number];
    }
}

static piece piece_of(const opener *o, uint32_t number) {
    const xir_buffer *b = &o->buffers[number];
    const uint64_t align = b->align ? b->align : 1;
    const unsigned bits = (unsigned)__builtin_ctzll(align);
    return (piece){ .size = b->fixed ? b->size : align_up(b->size, bits), .offset = b->fixed ? b->offset : 0,
                    .first = o->first[number], .last = o->last[number], .buffer = number, .group = b->group,
                    .align = (uint8_t)bits, .fixed = b->fixed };
}

static void make_pieces(opener *o) {
    packing *p = o->p;
    for (uint32_t i = 0, n = 0; n < p->n; i++) {
        if (o->buffers[i].size) o->starts[n++].number = i;
    }
    for (int by = 0; by < KEYS; by++) {
        for (uint32_t i = 0; i < p->n; i++) o->starts[i].key = key_of(o, o->starts[i].number, by);
        sort_keyed(o->starts, o->spare, p->n);
    }
    for (uint32_t i = 0; i < p->n; i++) {
        p->pieces[i] = piece_of(o, o->starts[i].number);
        p->fixed += p->pieces[i].fixed;
    }
}

/* ---- the bound --------------------------------------------------------------------------------------------------- */

/* A piece may be counted where it must have bytes that no other piece has. */
static uint64_t counted(const piece *it) { return it->group ? 0 : it->size; }

static xir_status find_bound(packing *p, xir_diags *why) {
    uint64_t *ended = packing_take(p, p->sections, sizeof *ended), live = 0;
    if (!ended) return diag_memory(why);
    memset(ended, 0, p->sections * sizeof *ended);
    for (uint32_t i = 0; i < p->n; i++) ended[p->pieces[i].last] += counted(&p->pieces[i]);   // wraps with `live` alone
    bool far = false;
    for (uint32_t i = 0, section = 0; section < p->sections && !far; section++) {
        int64_t latest = INT64_MIN;
        for (; i < p->n && p->pieces[i].first == section && !far; i++) {
            const piece *it = &p->pieces[i];
            live += counted(it);
            far = live > FAR;
            if (p->buffers[it->buffer].from > latest) latest = p->buffers[it->buffer].from;
            if (it->fixed && it->offset + it->size > p->bound) p->bound = it->offset + it->size;
        }
        if (live > p->live || !section) {
            p->live = live;
            p->moment = latest;
        }
        live -= ended[section];
    }
    packing_drop(p, ended, p->sections, sizeof *ended);
    if (far) return diag_fail(why, XIR_E_LIMIT, XIR_STR(""), "more than 2^63 - 1 bytes live at the same time");
    if (p->live > p->bound) p->bound = p->live;
    return XIR_OK;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static xir_status open_pieces(packing *p, xir_diags *why) {
    opener o = { .p = p, .buffers = p->buffers, .n = p->n_buffers };
    bool ok = opener_open(&o);
    if (ok) {
        find_sections(&o);
        drop_ends(&o);
        p->pieces = packing_take(p, p->n_buffers, sizeof *p->pieces);
        ok = p->pieces != NULL;
    }
    if (ok) make_pieces(&o);
    opener_close(&o);
    return ok ? XIR_OK : diag_memory(why);
}

xir_status packing_open(packing *p, const xir_allocator *alloc, const xir_buffer *buffers, size_t n, xir_diags *why) {
    *p = (packing){ .alloc = alloc, .buffers = buffers, .peak = UINT64_MAX };
    if (n >= NONE) return diag_fail(why, XIR_E_LIMIT, XIR_STR(""), "there are more than 2^32 - 2 buffers");
    p->n_buffers = (uint32_t)n;
    xir_status status = check_buffers(buffers, n, why);
    if (!status) status = open_pieces(p, why);
    if (!status) status = find_bound(p, why);
    if (!status && !(p->best = packing_take(p, p->n, sizeof *p->best))) status = diag_memory(why);
    return status;
}

void packing_close(packing *p) {
    packing_drop(p, p->pieces, p->n_buffers, sizeof *p->pieces);
    packing_drop(p, p->best, p->n, sizeof *p->best);
}
