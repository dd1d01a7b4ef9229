/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Writing an archive. Headers hold what is known before a member is written, so an archive can go into a stream. */
#include "zip/zip.h"

enum { BLOCK64_SIZE = 28 };

static void put_le(uint8_t *at, int bytes, uint64_t v) {
    for (int i = 0; i < bytes; i++) at[i] = (uint8_t)(v >> (8 * i));
}

static bool put(zip_writer *w, const void *data, uint64_t size) {
    if (w->status || !size) return !w->status;
    if (w->write(w->user, data, (size_t)size)) w->at += size;
    else w->status = XIR_E_IO;
    return !w->status;
}

void zip_begin(zip_writer *w, const xir_allocator *alloc, bool zip64, xir_write_fn *write, void *user) {
    *w = (zip_writer){ .alloc = alloc, .write = write, .user = user, .zip64 = zip64 };
    buffer_init(&w->directory, alloc);
}

/* The extra block of both headers: sizes, and where the member begins, which only the directory knows. */
static void put_block64(uint8_t *out, uint64_t size, uint64_t header) {
    put_le(out, 2, ZIP_BLOCK64);
    put_le(out + 2, 2, BLOCK64_SIZE);
    put_le(out + 4, 8, size);
    put_le(out + 12, 8, size);
    put_le(out + 20, 8, header);
    put_le(out + 28, 4, 0);
}

static void add_entry(zip_writer *w, xir_str name, uint32_t crc, uint64_t size, uint64_t header) {
    uint8_t entry[ZIP_CENTRAL_SIZE] = { 0 }, block[4 + BLOCK64_SIZE];
    put_le(entry, 4, ZIP_CENTRAL);
    put_le(entry + 16, 4, crc);
    put_le(entry + 20, 4, w->zip64 ? ZIP_WIDE : size);
    put_le(entry + 24, 4, w->zip64 ? ZIP_WIDE : size);
    put_le(entry + 28, 2, name.size);
    put_le(entry + 30, 2, w->zip64 ? sizeof block : 0);
    put_le(entry + 34, 2, w->zip64 ? UINT16_MAX : 0);
    put_le(entry + 42, 4, w->zip64 ? ZIP_WIDE : header);
    put_block64(block, size, header);
    buffer_put(&w->directory, entry, sizeof entry);
    buffer_put(&w->directory, name.data, name.size);
    if (w->zip64) buffer_put(&w->directory, block, sizeof block);
    if (w->directory.failed) w->status = XIR_E_MEMORY;
}

void zip_add(zip_writer *w, xir_str name, const void *data, uint64_t size) {
    uint8_t local[ZIP_LOCAL_SIZE] = { 0 }, block[4 + BLOCK64_SIZE];
    const uint64_t header = w->at;
    if (w->status) return;
    if (name.size > UINT16_MAX || (!w->zip64 && (size >= ZIP_WIDE || header >= ZIP_WIDE))) {
        w->status = XIR_E_LIMIT;
        return;
    }
    uint32_t crc;
    if (!zip_checksum(data, size, &crc)) {
        w->status = XIR_E_MEMORY;
        return;
    }
    put_le(local, 4, ZIP_LOCAL);
    put_le(local + 14, 4, crc);
    put_le(local + 18, 4, w->zip64 ? ZIP_WIDE : size);
    put_le(local + 22, 4, w->zip64 ? ZIP_WIDE : size);
    put_le(local + 26, 2, name.size);
    put_le(local + 28, 2, w->zip64 ? sizeof block : 0);
    put_block64(block, size, 0);
    put(w, local, sizeof local);
    put(w, name.data, name.size);
    if (w->zip64) put(w, block, sizeof block);
    put(w, data, size);
    add_entry(w, name, crc, size, header);
    w->n++;
}

static void put_end64(zip_writer *w, uint64_t begin, uint64_t size) {
    uint8_t end[ZIP_END64_SIZE + ZIP_LOCATOR_SIZE] = { 0 }, *locator = end + ZIP_END64_SIZE;
    put_le(end, 4, ZIP_END64);
    put_le(end + 4, 8, ZIP_END64_SIZE - 12);
    put_le(end + 24, 8, w->n);
    put_le(end + 32, 8, w->n);
    put_le(end + 40, 8, size);
    put_le(end + 48, 8, begin);
    put_le(locator, 4, ZIP_LOCATOR);
    put_le(locator + 8, 8, w->at);
    put_le(locator + 16, 4, 1);
    put(w, end, sizeof end);
}

xir_status zip_end(zip_writer *w) {
    const uint64_t begin = w->at, size = w->directory.size;
    uint8_t end[ZIP_END_SIZE] = { 0 };
    if (!w->status && !w->zip64 && (begin >= ZIP_WIDE || size >= ZIP_WIDE || w->n >= UINT16_MAX))
        w->status = XIR_E_LIMIT;
    put(w, w->directory.data, size);
    if (w->zip64) put_end64(w, begin, size);
    put_le(end, 4, ZIP_END);
    if (w->zip64) memset(end + 4, 0xFF, 16);
    else {
        put_le(end + 8, 2, w->n);
        put_le(end + 10, 2, w->n);
        put_le(end + 12, 4, size);
        put_le(end + 16, 4, begin);
    }
    put(w, end, sizeof end);
    buffer_free(&w->directory);
    return w->status;
}

bool zip_fits(bool zip64, uint64_t n, uint64_t names, uint64_t contents) {
    uint64_t heads, both, all;
    return mul_u64(n, ZIP_LOCAL_SIZE + ZIP_CENTRAL_SIZE + 2 * (4 + BLOCK64_SIZE), &heads) &&
           mul_u64(names, 2, &both) && add_u64(heads, both, &heads) && add_u64(heads, contents, &all) &&
           (zip64 || (all < ZIP_WIDE && n < UINT16_MAX));
}
