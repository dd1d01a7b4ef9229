/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The raw file: the bytes of a network's Params.
 *
 *     0          12 bytes   A5 "ICRAFT_RAW" A5
 *     12         u32        N
 *     16         N times    i32 v_id, u64 offset of the payload in the file
 *     16 + 12 N  payloads, one after the other, to the end of the file
 *
 * Numbers are little-endian; nothing is aligned. The file has no sizes: they follow from the network's types, and for
 * Params without a type, which dialects have, from the next payload's offset. Entries and payloads have independent
 * orders; both are kept, so that a file that is loaded and not changed is saved byte for byte. New Params come last. A
 * Params of no bytes has an entry and may share its offset. Params that may stay without data and have none have no
 * entry. A network without Params has a file with N = 0; an empty file is accepted for it too, since the structure file
 * says that the parameters of such a network take 0 bytes.
 *
 * Nothing in a file is trusted before it is checked: the ids must be exactly the network's, each once; the payloads
 * must tile the rest of the file without gap or overlap. All this happens before the file can make XIR allocate much
 * memory, and before any Params is touched. The table is read, never mapped, so that only payloads depend on the
 * file staying unchanged. */
#include <xir/icraft.h>
#include "format.h"
#include "little.h"
#include "raw/list.h"

/* The destination of the bytes. */
typedef struct sink {
    xir_write_fn *write;   /* NULL: nowhere */
    xir_write_fn *write_lasting;   /* of payloads; NULL: `write` */
    void         *user;
    md5_meanwhile    sum;
    bool          digests;
    uint64_t      written;
    bool          stopped;
} sink;

static bool put_head(void *user, const void *data, size_t size) {
    sink *s = user;
    if (s->digests) meanwhile_begin_with(&s->sum, data, size);
    s->stopped = s->write && size && !s->write(s->user, data, size);
    if (!s->stopped) s->written += size;
    return !s->stopped;
}

/* The system gets the bytes first: if they are lost, it says so, where reading them would be a signal. */
bool raw_put_bytes(md5_meanwhile *sum, xir_write_fn *write, xir_write_fn *write_lasting, void *user, const blob *b) {
    enum { JOINED = 256 << 10 };   /* smaller ones are written with others, in one call */
    for (uint64_t at = 0, n; at < b->size; at += n) {
        n = b->size - at < MEANWHILE_AT_ONCE ? b->size - at : MEANWHILE_AT_ONCE;
        xir_write_fn *put = write_lasting && n < JOINED ? write_lasting : write;
        if (put && !put(user, b->bytes + at, (size_t)n)) return false;
        if (sum && !meanwhile_add(sum, b->bytes + at, (size_t)n)) return false;
    }
    return true;
}

static bool put_payload(sink *s, const blob *b) {
    if (!raw_put_bytes(s->digests ? &s->sum : NULL, s->write, s->write_lasting, s->user, b)) {
        s->stopped = !s->digests || !s->sum.stopped;
        return false;
    }
    s->written += b->size;
    return true;
}

/* Moves Params that have an entry to the front of the list; all others need none. */
static xir_status plan_items(raw_listing *l) {
    size_t n = 0, missing = 0;
    const xir_value *first = NULL;
    l->total = 0;
    for (size_t i = 0; i < l->n; i++) {
        const raw_item *it = &l->items[i];
        const params *p = value_params(it->value);
        if (!p->data && p->allow_no_data) continue;
        if (!p->data && it->open)
            return raw_fail(l, XIR_E_TYPE, XIR_NO_BYTE,
                            "%s has no type: its size in a raw file is unknown", raw_name_of(it->value).text);
        if (!p->data && it->size > 0) {
            if (!first) first = it->value;
            missing++;
            continue;
        }
        if (p->data && p->data->size != it->size)
            return raw_fail(l, XIR_E_INVALID, XIR_NO_BYTE, "%s has %llu bytes, but its type takes %llu",
                            raw_name_of(it->value).text, (unsigned long long)p->data->size,
                            (unsigned long long)it->size);
        if (!l->wide_ids && (it->value->id < INT32_MIN || it->value->id > INT32_MAX))
            return raw_fail(l, XIR_E_BOUNDS, XIR_NO_BYTE, "%s does not fit: ids in a raw file have 32 bits",
                            raw_name_of(it->value).text);
        if (!add_u64(l->total, it->size, &l->total))
            return raw_fail(l, XIR_E_LIMIT, XIR_NO_BYTE, "the Params take more bytes than a file can have");
        l->items[n++] = *it;
    }
    if (missing > 1)
        return raw_fail(l, XIR_E_MISSING, XIR_NO_BYTE, "%s and %zu more Params have no bytes", raw_name_of(first).text,
                        missing - 1);
    if (missing)
        return raw_fail(l, XIR_E_MISSING, XIR_NO_BYTE, "%s has no bytes", raw_name_of(first).text);
    l->n = n;
    if (l->total > INT64_MAX - raw_table_end(n))
        return raw_fail(l, XIR_E_LIMIT, XIR_NO_BYTE, "the Params take more bytes than a file can have");
    l->total += raw_table_end(n);
    return XIR_OK;
}

/* Both orders: ranks[0 … n - 1] that of the payloads, whose offsets are set; ranks[n … 2n - 1] that of the table. */
static void plan_orders(raw_listing *l) {
    raw_rank *payloads = l->ranks, *table = l->ranks + l->n, *spare = table + l->n;
    for (uint32_t i = 0; i < l->n; i++) {
        const params *p = value_params(l->items[i].value);
        payloads[i] = (raw_rank){ p->raw_index, i };
        table[i] = (raw_rank){ p->raw_index == UINT32_MAX ? UINT32_MAX : p->table_index, i };
    }
    rank_sort(payloads, spare, l->n);
    rank_sort(table, spare, l->n);
    uint64_t at = raw_table_end(l->n);
    for (size_t i = 0; i < l->n; i++) {
        raw_item *it = &l->items[payloads[i].index];
        it->offset = at;
        at += it->size;
    }
    for (size_t i = 0; i < l->n; i++) l->items[table[i].index].entry = (int64_t)i;
}

xir_status raw_plan(raw_listing *l, xir_network *net, const char *path, xir_diags *why) {
    if (raw_list_params(l, net, path, why) != XIR_OK || plan_items(l) != XIR_OK) return l->status;
    plan_orders(l);
    return XIR_OK;
}

/* The origin, if the planned file equals, byte for byte, the one that all Params came from; NULL otherwise. */
static const raw_origin *plan_origin(const raw_listing *l) {
    const blob *keeper = NULL;
    const raw_origin *from = NULL;
    for (size_t i = 0; i < l->n; i++) {
        const raw_item *it = &l->items[l->ranks[i].index];
        const blob *b = value_params(it->value)->data;
        if (!b || !b->inside) return NULL;
        if (!keeper) {
            keeper = b->parent;
            if (keeper->user != (const void *)&raw_origin_mark) return NULL;
            from = (const raw_origin *)(const void *)keeper->bytes;
            if (from->n != l->n) return NULL;
        }
        if (b != raw_origin_parts(keeper) + i) return NULL;
        const raw_origin_entry *was = &raw_origin_entries(keeper, from->n)[i];
        if (was->id != it->value->id || was->entry != it->entry) return NULL;
    }
    return from;
}

bool raw_put_table(const raw_listing *l, xir_write_fn *put, void *user) {
    uint8_t piece[RAW_ENTRY * 512];
    const raw_rank *table = l->ranks + l->n;
    memcpy(piece, raw_magic, sizeof raw_magic);
    little_put32(piece + RAW_N_AT, (uint32_t)l->n);
    if (!put(user, piece, RAW_HEADER)) return false;
    for (size_t i = 0, used = 0; i < l->n; i++) {
        const raw_item *it = &l->items[table[i].index];
        little_put32(piece + used, (uint32_t)it->value->id);
        little_put64(piece + used + 4, it->offset);
        used += RAW_ENTRY;
        if (used < sizeof piece && i + 1 < l->n) continue;
        if (!put(user, piece, used)) return false;
        used = 0;
    }
    return true;
}

static bool put_all(const raw_listing *l, sink *s) {
    if (!raw_put_table(l, put_head, s)) return false;
    for (size_t i = 0; i < l->n; i++) {
        const raw_item *it = &l->items[l->ranks[i].index];
        const blob *b = value_params(it->value)->data;
        if (params_check(it->value, l->why) != XIR_OK) return false;   /* again: the file may have changed since */
        if (b && !put_payload(s, b)) return false;
    }
    return true;
}

xir_status raw_check_readable(raw_listing *l) {
    for (size_t i = 0; i < l->n && l->status == XIR_OK; i++) l->status = params_check(l->items[i].value, l->why);
    return l->status;
}

/* Writes the planned file; `hex` gets its MD5, or is empty if the network is saved without. An MD5 that was compared,
 * or is being compared, is not computed again. If the writer stops, the result is XIR_E_IO without a finding: the
 * writer has it. */
static xir_status emit(raw_listing *l, sink *s, char hex[MD5_DIGITS + 1]) {
    if (raw_check_readable(l) != XIR_OK) return l->status;   /* before anything is written */
    const raw_origin *from = l->n ? plan_origin(l) : NULL;
    const bool known = from && from->md5[0] && (from->read || l->net->check);
    hex[0] = '\0';
    s->digests = !l->net->no_md5 && !known;
    if (s->digests) l->status = meanwhile_begin(&s->sum, &l->net->alloc, l->total, l->why);
    if (l->status) return l->status;
    bool done = put_all(l, s);
    if (s->digests) l->status = meanwhile_end(&s->sum, done ? hex : NULL, l->why);
    if (!done) return l->status = XIR_E_IO;
    if (known && !l->net->no_md5) memcpy(hex, from->md5, MD5_DIGITS + 1);
    if (l->status != XIR_OK || !s->digests) return l->status;
    if (from && from->md5[0] && strcmp(from->md5, hex) != 0)
        raw_warn(l, "the MD5 of the mapped Params is %s, but params_md5 was %s when they were loaded",
                 hex, from->md5);
    return XIR_OK;
}

/* Sets the network's size and digest of its raw file. The text is allocated before anything is written, so this cannot
 * fail. */
static void set_digest(xir_network *net, char *room, uint64_t bytes, const char *hex) {
    memcpy(room, hex, strlen(hex));
    net->params_bytes = bytes;
    net->text[XIR_TEXT_PARAMS_MD5] = (xir_str){ room, strlen(hex) };
}

/* The same for a planned file; one without entries counts as no bytes. */
static void set_plan_digest(const raw_listing *l, char *room, const char *hex) {
    set_digest(l->net, room, l->n ? l->total : 0, l->n ? hex : MD5_OF_NOTHING);
}

static char *digest_room(raw_listing *l) {
    char *room = arena_take(&l->net->arena, MD5_DIGITS);
    if (!room) raw_no_memory(l);
    return room;
}

/* `later` not NULL: if it would read the bytes, *later is set instead, and `hex` has zeros. */
static xir_status digest(xir_network *net, uint64_t *bytes, char hex[MD5_DIGITS + 1], bool *later, xir_diags *why) {
    if (net->raw_known) {
        *bytes = net->params_bytes;
        xir_str known = net->text[XIR_TEXT_PARAMS_MD5];
        memcpy(hex, known.data, known.size);
        hex[known.size] = '\0';
        return XIR_OK;
    }
    raw_listing l = { 0 };
    if (raw_plan(&l, net, "", why) == XIR_OK) {
        const raw_origin *from = l.n ? plan_origin(&l) : NULL;
        sink nowhere = { .write = NULL };
        *bytes = l.n ? l.total : 0;
        if (l.n == 0) memcpy(hex, MD5_OF_NOTHING, MD5_DIGITS + 1);
        else if (net->no_md5) {
            hex[0] = '\0';
            if (raw_check_readable(&l) == XIR_E_IO) l.status = XIR_E_MISSING;
        } else if (from && from->md5[0]) memcpy(hex, from->md5, MD5_DIGITS + 1);
        else if (later) {
            *later = true;
            memset(hex, '0', MD5_DIGITS);
            hex[MD5_DIGITS] = '\0';
        } else if (emit(&l, &nowhere, hex) == XIR_E_IO) l.status = XIR_E_MISSING;   /* lost with their file */
    } else if (l.status != XIR_E_MEMORY) {
        l.status = XIR_E_MISSING;
    }
    raw_list_free(&l);
    return l.status;
}

xir_status raw_digest(xir_network *net, uint64_t *bytes, char hex[MD5_DIGITS + 1], xir_diags *why) {
    return digest(net, bytes, hex, NULL, why);
}

xir_status raw_digest_later(xir_network *net, uint64_t *bytes, char hex[MD5_DIGITS + 1], bool *later) {
    *later = false;
    return digest(net, bytes, hex, later, NULL);
}

xir_status xir_raw_write(xir_network *net, xir_write_fn *write, void *user, xir_diags *why) {
    if (!net) return diag_null(why, "network");
    raw_listing l = { 0 };
    char hex[MD5_DIGITS + 1], *room;
    sink s = { .write = write, .user = user };
    if (raw_plan(&l, net, "", why) == XIR_OK && (room = digest_room(&l))) {
        if (emit(&l, &s, hex) == XIR_OK && (l.status = xir_network_verified(net, why)) == XIR_OK)
            set_plan_digest(&l, room, hex);
        else if (s.stopped) raw_fail(&l, XIR_E_IO, s.written, "the write callback accepted no more bytes");
    }
    raw_list_free(&l);
    return l.status;
}

xir_status xir_raw_save(xir_network *net, const char *path, xir_diags *why) {
    if (!net) return diag_null(why, "network");
    raw_listing l = { 0 };
    file_writer w;
    char hex[MD5_DIGITS + 1], *room;
    sink s = { .write = file_write, .write_lasting = file_write_lasting, .user = &w };
    if (raw_plan(&l, net, path, why) == XIR_OK && (room = digest_room(&l)) &&
        (l.status = file_open(&w, net->ctx, path, why)) == XIR_OK) {
        if (emit(&l, &s, hex) != XIR_OK || (l.status = xir_network_verified(net, why)) != XIR_OK) file_abort(&w);
        else if ((l.status = file_commit(&w)) == XIR_OK) set_plan_digest(&l, room, hex);
    }
    raw_list_free(&l);
    return l.status;
}

/* ---- as the companion of a structure ---------------------------------------------------------------------------- */

xir_status raw_write_params(xir_network *net, const format_writing *how) {
    raw_listing l = { 0 };
    char hex[MD5_DIGITS + 1], *room;
    sink s = { .write = how->write, .write_lasting = how->write_lasting, .user = how->user };
    if (raw_plan(&l, net, how->path, how->why) == XIR_OK && (room = digest_room(&l)) && emit(&l, &s, hex) == XIR_OK)
        set_plan_digest(&l, room, hex);
    raw_list_free(&l);
    return l.status;
}
