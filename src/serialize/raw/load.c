/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Loading Params from a raw file: eagerly into one block of memory, or lazily from a mapping. The table is read, never
 * mapped, so that only payloads depend on the file staying unchanged. */
#include <xir/icraft.h>
#include "format.h"
#include "raw/check_meanwhile.h"
#include "task.h"

bool raw_digest_is(xir_str a, const char *b) {
    if (a.size != MD5_DIGITS) return false;
    for (size_t i = 0; i < MD5_DIGITS; i++) {
        char c = a.data[i];
        if ((c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c) != b[i]) return false;
    }
    return true;
}

bool raw_digest_is_hex(xir_str a) {
    for (size_t i = 0; i < a.size; i++)
        if (!strchr("0123456789abcdef", a.data[i]) || !a.data[i]) return false;
    return a.size == MD5_DIGITS;
}

/* New networks have the digest of no bytes, and so has a file that was written without one. */
bool raw_digest_is_none(xir_str said) { return said.size == 0 || raw_digest_is(said, MD5_OF_NOTHING); }

/* Compares the bytes with what the network says about them, and fills the origin's MD5. */
static xir_status check_digest(raw_listing *l, const blob *whole, uint64_t n, bool compare, unsigned flags,
                               raw_origin *from) {
    const xir_network *net = l->net;
    xir_str said = net->text[XIR_TEXT_PARAMS_MD5];
    bool silent = raw_digest_is_none(said);
    if (!(flags & RAW_SILENT) && net->params_bytes && net->params_bytes != whole->size)
        raw_warn(l, "params_bytes is %llu, but the file has %llu", (unsigned long long)net->params_bytes,
                 (unsigned long long)whole->size);
    if (!compare) {
        /* For a mapped file the claim is kept: checking it would read all of the file. */
        if (flags & XIR_LOAD_LAZY && raw_digest_is_hex(said) && !silent) memcpy(from->md5, said.data, MD5_DIGITS);
        return XIR_OK;
    }
    if (silent) {
        if (n > 0 && said.size) raw_warn(l, "params_md5 is that of no bytes: the parameters are not checked");
        else if (n > 0) raw_note_no_digest(l);
        return XIR_OK;
    }
    md5 m;
    l->status = md5_begin(&m, l->why);
    if (l->status != XIR_OK) return l->status;
    md5_add(&m, whole->bytes, (size_t)whole->size);
    l->status = md5_end(&m, from->md5, l->why);
    if (l->status != XIR_OK) return l->status;
    from->read = true;
    if (raw_digest_is(said, from->md5)) return XIR_OK;
    return raw_fail(l, XIR_E_CORRUPT, XIR_NO_BYTE, "the MD5 of the file is %s, but params_md5 of the network is %.*s",
                    from->md5, CLIP_TO(said, 64));
}

xir_status raw_attach(raw_listing *l, blob *whole, uint64_t n, raw_origin *from) {
    size_t heads, room;
    if (__builtin_mul_overflow((size_t)n, sizeof(blob) + sizeof(raw_origin_entry), &heads) ||
        __builtin_add_overflow(heads, sizeof(raw_origin), &room)) return raw_no_memory(l);
    blob *keeper = blob_new(&l->net->alloc, room);
    if (!keeper) return raw_no_memory(l);
    from->size = whole->size;
    from->n = (size_t)n;
    memcpy((void *)(uintptr_t)keeper->bytes, from, sizeof *from);
    keeper->user = (void *)(uintptr_t)&raw_origin_mark;
    keeper->parent = whole;
    blob_retain(whole);
    blob_retain_many(keeper, from->n);
    blob *parts = raw_origin_parts(keeper);
    raw_origin_entry *entries = raw_origin_entries(keeper, from->n);
    for (size_t i = 0; i < from->n; i++) {
        raw_item *it = &l->items[l->ranks[i].index];
        params *p = value_params(it->value);
        blob_part_in(&parts[i], keeper, whole, it->offset, it->size);
        entries[i] = (raw_origin_entry){ it->value->id, (uint32_t)it->entry };
        blob *old = p->data;
        p->data = &parts[i];
        p->raw_index = (uint32_t)i;
        p->table_index = (uint32_t)it->entry;
        blob_release(old);
    }
    blob_release(keeper);
    return XIR_OK;
}

/* `whole` has been checked: compares it, attaches its parts, and releases it. */
static xir_status take(raw_listing *l, blob *whole, uint64_t n, unsigned flags) {
    bool lazy = flags & XIR_LOAD_LAZY;
    const xir_str said = l->net->text[XIR_TEXT_PARAMS_MD5];
    const bool meanwhile = flags & RAW_MEANWHILE && check_meanwhile_can(whole) && raw_digest_is_hex(said) &&
                        !raw_digest_is_none(said);
    if (flags & RAW_MEANWHILE && !meanwhile) flags = (flags & ~(unsigned)XIR_LOAD_NO_MD5) | XIR_LOAD_MD5;
    bool compare = lazy ? flags & XIR_LOAD_MD5 : !(flags & XIR_LOAD_NO_MD5);
    raw_origin from = { .read = false };
    if (check_digest(l, whole, n, compare, flags, &from) == XIR_OK && meanwhile)
        l->status = check_meanwhile_file(l->net, whole, l->why);
    if (l->status == XIR_OK) (void)raw_attach(l, whole, n, &from);
    blob_release(whole);
    return l->status;
}

/* A file that is in memory as a whole. */
static xir_status check_whole(raw_listing *l, const blob *whole, uint64_t *n) {
    *n = 0;
    if (whole->size == 0) return raw_check_empty(l);
    size_t got = whole->size < RAW_HEADER ? (size_t)whole->size : RAW_HEADER;
    if (raw_check_magic(l, whole->bytes, got) != XIR_OK) return l->status;
    if (raw_check_count(l, whole->bytes, whole->size, n) != XIR_OK) return l->status;
    return raw_check_table(l, whole->bytes, *n, whole->size);
}

/* A file of known size: its beginning decides whether the rest is read. */
static xir_status load_regular(raw_listing *l, file_reader *r, unsigned flags) {
    const xir_allocator *alloc = &l->net->alloc;
    uint8_t first[RAW_HEADER], *head = NULL;
    uint64_t n = 0;
    size_t got = r->size < RAW_HEADER ? (size_t)r->size : RAW_HEADER, room = 0;
    if ((l->status = file_reader_at(r, 0, first, got)) != XIR_OK) return l->status;
    if (raw_check_magic(l, first, got) != XIR_OK || raw_check_count(l, first, r->size, &n) != XIR_OK) return l->status;
    room = (size_t)raw_table_end(raw_entries_to_read(l, n));
    if (!(head = mem_new(alloc, room))) return raw_no_memory(l);
    if ((l->status = file_reader_at(r, 0, head, room)) == XIR_OK && memcmp(head, first, RAW_HEADER) != 0)
        raw_fail(l, XIR_E_IO, 0, "the file was changed while it was read");
    if (l->status == XIR_OK && raw_check_table(l, head, n, r->size) == XIR_OK) {
        bool lazy = flags & XIR_LOAD_LAZY;
        blob *whole = !lazy ? file_reader_all(r, UINT64_MAX) : flags & RAW_WATCH ? file_reader_map_watched(r)
            : file_reader_map(r);
        if (!whole) {
            l->status = r->status;
        } else if (!lazy && memcmp(whole->bytes, head, room) != 0) {   /* the bytes read must be those checked */
            raw_fail(l, XIR_E_IO, 0, "the file was changed while it was read");
            blob_release(whole);
        } else {
            take(l, whole, n, flags);
        }
    }
    mem_free(alloc, head, room);
    return l->status;
}

/* A pipe, a device or an empty file. It may be endless: at most as many bytes are read as the largest valid file
 * has. */
static xir_status load_stream(raw_listing *l, file_reader *r, unsigned flags) {
    enum { MORE = 64 << 10 };
    uint64_t n, most = l->total < UINT64_MAX - MORE ? l->total + MORE : UINT64_MAX;
    if (flags & RAW_ANY && flags & XIR_LOAD_LAZY)
        flags = (flags & ~(unsigned)XIR_LOAD_LAZY) | (flags & (XIR_LOAD_MD5 | RAW_MEANWHILE) ? 0 : XIR_LOAD_NO_MD5);
    blob *whole = flags & XIR_LOAD_LAZY ? file_reader_map(r) : file_reader_all(r, most);
    if (!whole) return l->status = r->status;
    if (check_whole(l, whole, &n) == XIR_OK) return take(l, whole, n, flags);
    blob_release(whole);
    return l->status;
}

static xir_status raw_load(xir_network *net, const char *path, unsigned flags, xir_diags *why) {
    raw_listing l = { 0 };
    file_reader r;
    if (raw_list_params(&l, net, path, why) == XIR_OK &&
        (l.status = file_reader_open(&r, net->ctx, path, why)) == XIR_OK) {
        if (r.regular) load_regular(&l, &r, flags);
        else load_stream(&l, &r, flags);
        file_reader_close(&r);
    }
    raw_list_free(&l);
    return l.status;
}

xir_status xir_raw_load(xir_network *net, const char *path, unsigned flags, xir_diags *why) {
    if (!net) return diag_null(why, "network");
    return raw_load(net, path, flags & RAW_PUBLIC, why);
}

static xir_status raw_read(xir_network *net, const void *data, size_t size, unsigned flags, xir_diags *why) {
    raw_listing l = { 0 };
    if (raw_list_params(&l, net, "", why) == XIR_OK) {
        const xir_allocator *alloc = &net->alloc;
        blob given = { .bytes = data, .size = size };
        uint64_t n;
        if (check_whole(&l, &given, &n) == XIR_OK) {
            bool lazy = flags & XIR_LOAD_LAZY;
            blob *whole = lazy ? blob_borrow(alloc, data, size, true, NULL, NULL) : blob_new(alloc, size);
            if (whole && !lazy && !task_copy((void *)(uintptr_t)whole->bytes, data, size)) {
                blob_release(whole);
                whole = NULL;
            }
            if (whole) take(&l, whole, n, flags);
            else raw_no_memory(&l);
        }
    }
    raw_list_free(&l);
    return l.status;
}

xir_status xir_raw_read(xir_network *net, const void *data, size_t size, unsigned flags, xir_diags *why) {
    if (!net) return diag_null(why, "network");
    return raw_read(net, data, size, flags & RAW_PUBLIC, why);
}

/* ---- as the companion of a structure ---------------------------------------------------------------------------- */

static unsigned flags_of(const format_reading *how) {
    unsigned flags = RAW_ANY | (how->compare ? XIR_LOAD_MD5 : XIR_LOAD_NO_MD5);
    if (how->lazy) flags |= XIR_LOAD_LAZY;
    if (how->watch) flags |= RAW_WATCH;
    if (how->meanwhile) flags |= RAW_MEANWHILE;
    if (how->silent) flags |= RAW_SILENT;
    return flags;
}

xir_status raw_load_params(xir_network *net, const format_reading *how) {
    return raw_load(net, how->path, flags_of(how), how->why);
}

xir_status raw_read_params(xir_network *net, const format_reading *how, const void *data, size_t size) {
    return raw_read(net, data, size, flags_of(how), how->why);
}
