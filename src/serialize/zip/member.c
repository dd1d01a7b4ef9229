/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The content of a member: its bytes in the archive, or what they inflate to. */
#include <inttypes.h>
#include <libdeflate.h>
#include "zip/zip.h"

static bool is_readable(zip_archive *z, const zip_member *m) {
    if (m->flags & ZIP_ENCRYPTED)
        return zip_fail(z, XIR_E_UNSUPPORTED, m->header, "the member '%.*s' is encrypted", CLIP(m->name));
    if (m->method != ZIP_STORED && m->method != ZIP_DEFLATED)
        return zip_fail(z, XIR_E_UNSUPPORTED, m->header,
                        "the member '%.*s' is packed by method %u, expected 0 (stored) or 8 (deflated)", CLIP(m->name),
                        (unsigned)m->method);
    if (m->method == ZIP_STORED && m->packed != m->size)
        return zip_fail(z, XIR_E_CORRUPT, m->header, "the member '%.*s' is stored, but takes %" PRIu64 " bytes "
                        "for %" PRIu64, CLIP(m->name), m->packed, m->size);
    return true;
}

static blob *inflate(zip_archive *z, const zip_member *m) {
    blob *out = blob_new(z->alloc, m->size);
    struct libdeflate_decompressor *d = out ? libdeflate_alloc_decompressor() : NULL;
    if (!d) {
        blob_release(out);
        zip_no_memory(z);
        return NULL;
    }
    size_t read = 0;
    enum libdeflate_result result = libdeflate_deflate_decompress_ex(
        d, z->whole->bytes + m->at, (size_t)m->packed, (void *)(uintptr_t)out->bytes, (size_t)m->size, &read, NULL);
    libdeflate_free_decompressor(d);
    if (result == LIBDEFLATE_SUCCESS && read == m->packed) return out;
    blob_release(out);
    if (result == LIBDEFLATE_SUCCESS) {
        zip_fail(z, XIR_E_CORRUPT, m->header, "the deflated bytes of '%.*s' end %" PRIu64 " bytes before the member",
                 CLIP(m->name), m->packed - read);
    } else {
        const char *what = result == LIBDEFLATE_BAD_DATA ? "invalid"
                         : result == LIBDEFLATE_SHORT_OUTPUT ? "too few" : "too many";
        zip_fail(z, XIR_E_CORRUPT, m->header, "the deflated bytes of '%.*s' are %s for %" PRIu64 " bytes",
                 CLIP(m->name), what, m->size);
    }
    return NULL;
}

bool zip_checksum(const void *data, uint64_t size, uint32_t *out) {
    *out = 0;
    for (uint64_t at = 0, n; at < size; at += n) {
        n = size - at < TASK_EACH ? size - at : TASK_EACH;
        *out = libdeflate_crc32(*out, (const char *)data + at, (size_t)n);
        if (!task_did(n)) return false;
    }
    return true;
}

blob *zip_take(zip_archive *z, const zip_member *m, bool check) {
    if (z->status || !is_readable(z, m)) return NULL;
    blob *out = m->method == ZIP_DEFLATED ? inflate(z, m) : blob_part(z->whole, m->at, m->size);
    if (!out) {
        zip_no_memory(z);   /* unless inflate has recorded another failure */
        return NULL;
    }
    uint32_t crc = m->crc;
    if (check && !zip_checksum(out->bytes, out->size, &crc)) zip_no_memory(z);
    else if (crc == m->crc) return out;
    else
        zip_fail(z, XIR_E_CORRUPT, m->header, "the checksum of '%.*s' is %08" PRIX32 ", but the archive says %08"
                 PRIX32, CLIP(m->name), crc, m->crc);
    blob_release(out);
    return NULL;
}
