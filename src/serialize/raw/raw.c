/* The raw file: the bytes of a network's Params.
 *
 *     0          12 bytes   A5 "ICRAFT_RAW" A5
 *     12         u32        N
 *     16         N times    i32 v_id, u64 offset of the payload in the file
 *     16 + 12 N  payloads, one behind the other, to the end of the file
 *
 * Numbers are little-endian; nothing is aligned. Sizes are not in the file: the network's types say them, and of Params
 * without a type, as dialects have them, the next payload's offset. Entries and payloads may be in any order, each its
 * own, and both are kept, so that what is loaded and not changed is saved byte for byte; new Params come behind. A
 * Params of no bytes has an entry and may share its offset. Params that may stay without data and have none have no
 * entry. A network without Params has a file of N = 0; an empty file is taken for that too, since the structure file
 * says of such a network that its parameters take 0 bytes.
 *
 * A file is believed only as far as it has been checked: ids, each once and exactly the network's; payloads that
 * tile the rest of the file without gap or overlap. All this happens before any memory is taken that the file could
 * make large, and before any Params is touched. The table is read, never mapped, so that only payloads depend on the
 * file staying as it is. */
#include "format.h"
#include "raw/list.h"

static void write_le(uint8_t *at, int bytes, uint64_t v) {
    for (int i = 0; i < bytes; i++) at[i] = (uint8_t)(v >> (8 * i));
}

/* Where the bytes go. */
typedef struct sink {
    xir_write_fn *write;   /* NULL: nowhere */
    void         *user;
    md5           sum;
    uint64_t      written;
    bool          stopped;
} sink;

static bool put(sink *s, const void *data, uint64_t size) {
    md5_add(&s->sum, data, (size_t)size);
    s->stopped = s->write && size && !s->write(s->user, data, (size_t)size);
    if (!s->stopped) s->written += size;
    return !s->stopped;
}

/* Params that have an entry move to the front of the list; all others may do without. */
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
                            "%s has no type: how many bytes it has in a raw file cannot be said",
                            raw_who(it->value).text);
        if (!p->data && it->size > 0) {
            if (!first) first = it->value;
            missing++;
            continue;
        }
        if (p->data && p->data->size != it->size)
            return raw_fail(l, XIR_E_INVALID, XIR_NO_BYTE, "%s has %llu bytes, its type takes %llu",
                            raw_who(it->value).text, (unsigned long long)p->data->size, (unsigned long long)it->size);
        if (!l->wide_ids && (it->value->id < INT32_MIN || it->value->id > INT32_MAX))
            return raw_fail(l, XIR_E_BOUNDS, XIR_NO_BYTE, "%s: a raw file has ids of 32 bits", raw_who(it->value).text);
        if (!add_u64(l->total, it->size, &l->total))
            return raw_fail(l, XIR_E_LIMIT, XIR_NO_BYTE, "the Params take more bytes than a file can have");
        l->items[n++] = *it;
    }
    if (missing > 1)
        return raw_fail(l, XIR_E_MISSING, XIR_NO_BYTE, "%s and %zu more Params have no bytes", raw_who(first).text,
                        missing - 1);
    if (missing)
        return raw_fail(l, XIR_E_MISSING, XIR_NO_BYTE, "%s has no bytes", raw_who(first).text);
    l->n = n;
    if (l->total > INT64_MAX - raw_table_end(n))
        return raw_fail(l, XIR_E_LIMIT, XIR_NO_BYTE, "the Params take more bytes than a file can have");
    l->total += raw_table_end(n);
    return XIR_OK;
}

/* Both orders: ranks[0 … n - 1] that of the payloads, whose offsets are set, ranks[n … 2n - 1] that of the table. */
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

/* The origin if the file that is planned is, byte for byte, the one that all Params came from; NULL otherwise. */
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

static bool put_all(const raw_listing *l, sink *s) {
    uint8_t piece[RAW_ENTRY * 512];
    const raw_rank *payloads = l->ranks, *table = l->ranks + l->n;
    memcpy(piece, raw_magic, sizeof raw_magic);
    write_le(piece + RAW_N_AT, 4, l->n);
    if (!put(s, piece, RAW_HEADER)) return false;
    for (size_t i = 0, used = 0; i < l->n; i++) {
        const raw_item *it = &l->items[table[i].index];
        write_le(piece + used, 4, (uint32_t)it->value->id);
        write_le(piece + used + 4, 8, it->offset);
        used += RAW_ENTRY;
        if (used < sizeof piece && i + 1 < l->n) continue;
        if (!put(s, piece, used)) return false;
        used = 0;
    }
    for (size_t i = 0; i < l->n; i++) {
        const raw_item *it = &l->items[payloads[i].index];
        const blob *b = value_params(it->value)->data;
        if (params_check(it->value, l->why) != XIR_OK) return false;   /* once more: time has passed */
        if (b && !put(s, b->bytes, b->size)) return false;
    }
    return true;
}

xir_status raw_check_there(raw_listing *l) {
    for (size_t i = 0; i < l->n && l->status == XIR_OK; i++) l->status = params_check(l->items[i].value, l->why);
    return l->status;
}

/* Writes the planned file; `hex` gets its MD5. A stop by the writer is XIR_E_IO without a finding: the writer has
 * it. */
static xir_status emit(raw_listing *l, sink *s, char hex[MD5_DIGITS + 1]) {
    if (raw_check_there(l) != XIR_OK) return l->status;   /* before anything is written */
    l->status = md5_begin(&s->sum, l->why);
    if (l->status != XIR_OK) return l->status;
    bool done = put_all(l, s);
    l->status = md5_end(&s->sum, done ? hex : NULL, l->why);
    if (!done) return l->status = XIR_E_IO;
    if (l->status != XIR_OK) return l->status;
    const raw_origin *from = l->n ? plan_origin(l) : NULL;
    if (from && from->md5[0] && strcmp(from->md5, hex) != 0)
        raw_warn(l, "the MD5 of the Params as they were mapped is %s, not %s as the network said when they were loaded",
                 hex, from->md5);
    return XIR_OK;
}

/* What the network says of its raw. Room for the text is taken before anything is written, so that this cannot fail. */
static void say(xir_network *net, char *room, uint64_t bytes, const char *hex) {
    memcpy(room, hex, MD5_DIGITS);
    net->params_bytes = bytes;
    net->text[XIR_TEXT_PARAMS_MD5] = (xir_str){ room, MD5_DIGITS };
}

/* The same of a file that was planned; one without entries counts as nothing. */
static void say_plan(const raw_listing *l, char *room, const char *hex) {
    say(l->net, room, l->n ? l->total : 0, l->n ? hex : MD5_OF_NOTHING);
}

static char *say_room(raw_listing *l) {
    char *room = arena_take(&l->net->arena, MD5_DIGITS);
    if (!room) raw_no_memory(l);
    return room;
}

xir_status raw_digest(xir_network *net, uint64_t *bytes, char hex[MD5_DIGITS + 1], xir_diags *why) {
    if (net->raw_known) {
        *bytes = net->params_bytes;
        memcpy(hex, net->text[XIR_TEXT_PARAMS_MD5].data, MD5_DIGITS);
        hex[MD5_DIGITS] = '\0';
        return XIR_OK;
    }
    raw_listing l = { 0 };
    if (raw_plan(&l, net, "", why) == XIR_OK) {
        const raw_origin *from = l.n ? plan_origin(&l) : NULL;
        sink nowhere = { .write = NULL };
        *bytes = l.n ? l.total : 0;
        if (l.n == 0) memcpy(hex, MD5_OF_NOTHING, MD5_DIGITS + 1);
        else if (from && from->md5[0]) memcpy(hex, from->md5, MD5_DIGITS + 1);
        else if (emit(&l, &nowhere, hex) == XIR_E_IO) l.status = XIR_E_MISSING;   /* gone with their file */
    } else if (l.status != XIR_E_MEMORY) {
        l.status = XIR_E_MISSING;
    }
    raw_list_free(&l);
    return l.status;
}

xir_status xir_raw_write(xir_network *net, xir_write_fn *write, void *user, xir_diags *why) {
    if (!net) return diag_null(why, "network");
    raw_listing l = { 0 };
    char hex[MD5_DIGITS + 1], *room;
    sink s = { .write = write, .user = user };
    if (raw_plan(&l, net, "", why) == XIR_OK && (room = say_room(&l))) {
        if (emit(&l, &s, hex) == XIR_OK) say_plan(&l, room, hex);
        else if (s.stopped) raw_fail(&l, XIR_E_IO, s.written, "the writer took no more bytes");
    }
    raw_list_free(&l);
    return l.status;
}

xir_status xir_raw_save(xir_network *net, const char *path, xir_diags *why) {
    if (!net) return diag_null(why, "network");
    raw_listing l = { 0 };
    file_writer w;
    char hex[MD5_DIGITS + 1], *room;
    sink s = { .write = file_write, .user = &w };
    if (raw_plan(&l, net, path, why) == XIR_OK && (room = say_room(&l)) &&
        (l.status = file_open(&w, net->ctx, path, why)) == XIR_OK) {
        if (emit(&l, &s, hex) != XIR_OK) file_abort(&w);
        else if ((l.status = file_commit(&w)) == XIR_OK) say_plan(&l, room, hex);
    }
    raw_list_free(&l);
    return l.status;
}

/* ---- as the companion of a structure ---------------------------------------------------------------------------- */

xir_status raw_write_params(xir_network *net, const format_writing *how) {
    raw_listing l = { 0 };
    char hex[MD5_DIGITS + 1], *room;
    sink s = { .write = how->write, .user = how->user };
    if (raw_plan(&l, net, how->path, how->why) == XIR_OK && (room = say_room(&l)) && emit(&l, &s, hex) == XIR_OK)
        say_plan(&l, room, hex);
    raw_list_free(&l);
    return l.status;
}
