/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Opening an archive: the record at its end leads to the directory, whose entries lead to the members. The last record
 * counts, whatever the bytes before it look like. */
#include <inttypes.h>
#include <stdlib.h>
#include "zip/zip.h"

/* Deflate makes at most 1032 bytes of one: a match of 258 bytes takes two bits at least. An archive that grows less
 * than 16 times when it is inflated is always accepted. */
enum { MOST_GROWTH = 1032, USUAL_GROWTH = 16 };

bool zip_fail(zip_archive *z, xir_status code, uint64_t byte, const char *sentence, ...) {
    if (z->status) return false;
    va_list args;
    va_start(args, sentence);
    z->status = diag_failv(z->why, &(xir_diag){ .severity = XIR_ERROR, .code = code, .file = z->file, .byte = byte },
                           sentence, args);
    va_end(args);
    return false;
}

bool zip_no_memory(zip_archive *z) { return diag_no_memory(&z->status, z->why); }

/* ---- members --------------------------------------------------------------------------------------------------- */

/* Returns true if a member's packed bytes can have its size, and the sizes of all members are within the limit. */
static bool can_inflate(zip_archive *z, const zip_member *m) {
    if (m->method != ZIP_DEFLATED) return true;
    if (m->size / MOST_GROWTH > m->packed)
        return zip_fail(z, XIR_E_CORRUPT, m->header, "%" PRIu64 " deflated bytes of '%.*s' cannot be %" PRIu64 " bytes",
                        m->packed, CLIP(m->name), m->size);
    return (add_u64(z->unpacked, m->size, &z->unpacked) && z->unpacked <= z->most) ||
           zip_fail(z, XIR_E_LIMIT, m->header, "the members up to '%.*s' have more than %" PRIu64 " bytes when they "
                    "are inflated, which is the limit", CLIP(m->name), z->most);
}

bool zip_add_member(zip_archive *z, const zip_member *m) {
    if (!can_inflate(z, m)) return false;
    if (z->n == UINT32_MAX) return zip_fail(z, XIR_E_LIMIT, m->header, "the archive has too many members");
    if (!mem_reserve(z->alloc, (void **)&z->members, &z->room, z->n + 1, sizeof *m)) return zip_no_memory(z);
    const uint32_t *known = text_table_add(&z->by_name, m->name, (uint32_t)z->n);
    if (!known) return zip_no_memory(z);
    if (*known != z->n)
        return zip_fail(z, XIR_E_EXISTS, m->header, "the member '%.*s' appears twice, first at byte %" PRIu64,
                        CLIP(m->name), z->members[*known].header);
    z->members[z->n++] = *m;
    return true;
}

const zip_member *zip_find(const zip_archive *z, xir_str name) {
    const uint32_t *i = text_table_find(&z->by_name, name);
    return i ? &z->members[*i] : NULL;
}

void zip_close(zip_archive *z) {
    mem_free(z->alloc, z->members, z->room * sizeof *z->members);
    text_table_free(&z->by_name);
}

/* ---- the end --------------------------------------------------------------------------------------------------- */

typedef struct ending {
    uint64_t record;          /* where the first record after the directory begins */
    uint64_t at, size, n;     /* of the directory                                  */
} ending;

/* The last record whose comment ends with the file; otherwise the last one, which has other bytes after it. XIR_NO_BYTE
 * if there is none. */
static uint64_t find_end(const blob *whole) {
    const uint8_t *bytes = whole->bytes;
    uint64_t other = XIR_NO_BYTE;
    if (whole->size < ZIP_END_SIZE) return other;
    const uint64_t last = whole->size - ZIP_END_SIZE, first = last > UINT16_MAX ? last - UINT16_MAX : 0;
    for (uint64_t at = last + 1; at-- > first;) {
        if (bytes[at] != 'P' || little_u32(bytes + at) != ZIP_END) continue;
        const uint64_t comment = little_u16(bytes + at + 20);
        if (comment == last - at) return at;
        if (comment < last - at && other == XIR_NO_BYTE) other = at;
    }
    return other;
}

static bool is_whole(zip_archive *z, bool whole, uint64_t byte) {
    return whole || zip_fail(z, XIR_E_UNSUPPORTED, byte, "the file is a part of an archive of several files");
}

/* The record of large archives, and the locator that says where it is. */
static bool read_end64(zip_archive *z, uint64_t locator, ending *end) {
    const uint8_t *l = z->whole->bytes + locator;
    const uint64_t at = little_u64(l + 8);
    if (!is_whole(z, little_u32(l + 4) == 0 && little_u32(l + 16) <= 1, locator)) return false;
    if (!zip_holds(locator, at, ZIP_END64_SIZE) || little_u32(z->whole->bytes + at) != ZIP_END64)
        return zip_fail(z, XIR_E_CORRUPT, locator + 8, "the 64-bit record is not at byte %" PRIu64, at);
    const uint8_t *p = z->whole->bytes + at;
    *end = (ending){ .record = at, .n = little_u64(p + 32), .size = little_u64(p + 40), .at = little_u64(p + 48) };
    z->zip64 = true;
    if (little_u64(p + 4) < ZIP_END64_SIZE - 12 || !zip_holds(locator, at + 12, little_u64(p + 4)))
        return zip_fail(z, XIR_E_CORRUPT, at + 4, "the 64-bit record takes %" PRIu64 " bytes from %" PRIu64
                        " on, but its locator is at %" PRIu64, little_u64(p + 4), at + 12, locator);
    return is_whole(z, little_u32(p + 16) == 0 && little_u32(p + 20) == 0 && little_u64(p + 24) == end->n, at);
}

/* Returns true if a number of the 32-bit record is all ones or that of the 64-bit record. */
static bool agrees(uint64_t narrow, uint64_t ones, uint64_t wide) { return narrow == ones || narrow == wide; }

static bool read_end(zip_archive *z, uint64_t at, ending *end) {
    const uint8_t *p = z->whole->bytes + at;
    const uint64_t disk = little_u16(p + 4), first = little_u16(p + 6), here = little_u16(p + 8),
                   n = little_u16(p + 10), size = little_u32(p + 12), begin = little_u32(p + 16);
    bool large = at >= ZIP_LOCATOR_SIZE && little_u32(p - ZIP_LOCATOR_SIZE) == ZIP_LOCATOR;
    if (!large) {
        *end = (ending){ .record = at, .at = begin, .size = size, .n = n };
        return is_whole(z, disk == 0 && first == 0 && here == n, at);
    }
    if (!read_end64(z, at - ZIP_LOCATOR_SIZE, end)) return false;
    bool agree = agrees(disk, UINT16_MAX, 0) && agrees(first, UINT16_MAX, 0) && agrees(here, UINT16_MAX, end->n) &&
                 agrees(n, UINT16_MAX, end->n) && agrees(size, ZIP_WIDE, end->size) && agrees(begin, ZIP_WIDE, end->at);
    return agree || zip_fail(z, XIR_E_CORRUPT, at, "the record at the end contradicts the 64-bit record at %" PRIu64,
                             end->record);
}

/* ---- the directory --------------------------------------------------------------------------------------------- */

/* A writer that did not know the sizes in advance leaves them 0 in the header, and writes them after the data. */
static bool same_member(zip_archive *z, const zip_member *entry, const zip_member *local) {
    bool later = local->flags & ZIP_STREAMED && !local->crc && !local->packed && !local->size;
    const char *what = !xir_str_equal(entry->name, local->name) ? "name"
                     : (entry->flags ^ local->flags) & ZIP_ENCRYPTED ? "flags"
                     : entry->method != local->method ? "method"
                     : later ? NULL
                     : entry->crc != local->crc ? "checksum"
                     : entry->packed != local->packed || entry->size != local->size ? "size" : NULL;
    return !what || zip_fail(z, XIR_E_CORRUPT, local->header,
                             "the header of '%.*s' and its entry in the directory differ in the %s",
                             CLIP(entry->name), what);
}

/* Reads the entry at *at, and moves there to the next. */
static bool read_entry(zip_archive *z, uint64_t *at, const ending *dir) {
    const uint64_t end = dir->at + dir->size;
    const uint8_t *p = z->whole->bytes + *at;
    if (!zip_holds(end, *at, ZIP_CENTRAL_SIZE) || little_u32(p) != ZIP_CENTRAL)
        return zip_fail(z, XIR_E_CORRUPT, *at, "expected entry %zu of the directory, which ends at byte %" PRIu64, z->n,
                        end);
    const size_t name = little_u16(p + 28), extra = little_u16(p + 30), comment = little_u16(p + 32);
    if (!zip_holds(end, *at + ZIP_CENTRAL_SIZE, name + extra + comment))
        return zip_fail(z, XIR_E_CORRUPT, *at, "entry %zu reaches beyond the directory, which ends at byte %" PRIu64,
                        z->n, end);
    zip_member m = { .name = { (const char *)p + ZIP_CENTRAL_SIZE, name }, .packed = little_u32(p + 20),
                     .size = little_u32(p + 24), .crc = little_u32(p + 16), .header = little_u32(p + 42),
                     .method = little_u16(p + 10), .flags = little_u16(p + 8) }, local;
    uint32_t disk = little_u16(p + 34);
    size_t left = 0;
    const uint8_t *block = zip_block64(p + ZIP_CENTRAL_SIZE + name, extra, &left);
    z->zip64 |= block != NULL;
    if (block) {
        bool wide = zip_widen(&block, &left, &m.size) && zip_widen(&block, &left, &m.packed) &&
                    zip_widen(&block, &left, &m.header);
        if (!wide) return zip_fail(z, XIR_E_CORRUPT, *at, "the entry of '%.*s' has no 64-bit sizes", CLIP(m.name));
        if (disk == UINT16_MAX && left >= 4) disk = little_u32(block);
    }
    if (!is_whole(z, disk == 0, *at)) return false;
    if (m.flags & ZIP_MASKED)
        return zip_fail(z, XIR_E_UNSUPPORTED, *at, "the directory of the archive is encrypted");
    if (m.header >= dir->at)
        return zip_fail(z, XIR_E_CORRUPT, *at, "the entry of '%.*s' leads to byte %" PRIu64 ", but the members "
                        "end at %" PRIu64, CLIP(m.name), m.header, dir->at);
    if (!zip_read_local(z, m.header, dir->at, &local) || !same_member(z, &m, &local)) return false;
    m.at = local.at;
    if (!zip_holds(dir->at, m.at, m.packed))
        return zip_fail(z, XIR_E_CORRUPT, *at, "the member '%.*s' takes %" PRIu64 " bytes from %" PRIu64
                        " on, but the members end at %" PRIu64, CLIP(m.name), m.packed, m.at, dir->at);
    *at += ZIP_CENTRAL_SIZE + name + extra + comment;
    return zip_add_member(z, &m);
}

static int by_header(const void *a, const void *b) {
    const zip_member *const *x = a, *const *y = b;
    return ((*x)->header > (*y)->header) - ((*x)->header < (*y)->header);
}

static bool is_apart(zip_archive *z, const zip_member *a, const zip_member *b) {
    return a->at + a->packed <= b->header ||
           zip_fail(z, XIR_E_CORRUPT, b->header, "the member '%.*s' begins here, but '%.*s' reaches to byte %" PRIu64,
                    CLIP(b->name), CLIP(a->name), a->at + a->packed);
}

/* Members usually are in the order of the directory. */
static bool are_apart(zip_archive *z) {
    bool sorted = true;
    for (size_t i = 1; i < z->n && sorted; i++) sorted = z->members[i - 1].header <= z->members[i].header;
    const size_t room = sorted ? 0 : z->n * sizeof(zip_member *);
    const zip_member **order = room ? mem_new(z->alloc, room) : NULL;
    if (room && !order) return zip_no_memory(z);
    for (size_t i = 0; room && i < z->n; i++) order[i] = &z->members[i];
    if (room) qsort(order, z->n, sizeof *order, by_header);
    bool ok = true;
    for (size_t i = 1; i < z->n && ok; i++) {
        ok = room ? is_apart(z, order[i - 1], order[i]) : is_apart(z, &z->members[i - 1], &z->members[i]);
    }
    mem_free(z->alloc, order, room);
    return ok;
}

static bool read_directory(zip_archive *z, const ending *dir) {
    if (!zip_holds(dir->record, dir->at, dir->size))
        return zip_fail(z, XIR_E_CORRUPT, dir->record, "a directory of %" PRIu64 " bytes from %" PRIu64
                        " on reaches beyond the record that describes it", dir->size, dir->at);
    uint64_t at = dir->at;
    while (at < dir->at + dir->size) {
        if (!read_entry(z, &at, dir)) return false;
    }
    if (z->zip64 ? z->n != dir->n : (uint16_t)z->n != dir->n)
        return zip_fail(z, XIR_E_CORRUPT, dir->record, "the directory has %zu entries, but the record at the end "
                        "says %" PRIu64, z->n, dir->n);
    return are_apart(z);
}

xir_status zip_open(zip_archive *z, const xir_allocator *alloc, blob *whole, xir_str file, uint64_t max_unpacked,
                    xir_diags *why) {
    *z = (zip_archive){ .alloc = alloc, .whole = whole, .file = file, .why = why };
    if (!mul_u64(whole->size, USUAL_GROWTH, &z->most) || !add_u64(z->most, max_unpacked, &z->most))
        z->most = UINT64_MAX;
    text_table_init(&z->by_name, alloc);
    ending end = { 0 };
    uint64_t at = find_end(whole);
    if (at == XIR_NO_BYTE) (void)zip_walk(z);
    else if (read_end(z, at, &end)) (void)read_directory(z, &end);
    return z->status;
}
