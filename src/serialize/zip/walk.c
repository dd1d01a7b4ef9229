/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Headers of members, and archives without a directory, for example because their end is missing: the members lie one
 * after the other from the first byte on, and each header has the sizes. */
#include <inttypes.h>
#include "zip/zip.h"

const uint8_t *zip_block64(const uint8_t *extra, size_t size, size_t *block_size) {
    while (size >= 4) {
        size_t n = little_u16(extra + 2);
        if (n > size - 4) return NULL;
        if (little_u16(extra) == ZIP_BLOCK64) {
            *block_size = n;
            return extra + 4;
        }
        extra += 4 + n;
        size -= 4 + n;
    }
    return NULL;
}

bool zip_read_local(zip_archive *z, uint64_t header, uint64_t end, zip_member *m) {
    const uint8_t *p = z->whole->bytes + header;
    if (zip_holds(end, header, 4) && little_u32(p) != ZIP_LOCAL)
        return zip_fail(z, XIR_E_CORRUPT, header,
                        "expected the header of a member, found the bytes %02X %02X %02X %02X", p[0], p[1], p[2], p[3]);
    if (!zip_holds(end, header, ZIP_LOCAL_SIZE))
        return zip_fail(z, XIR_E_CORRUPT, header, "the header of a member reaches beyond byte %" PRIu64, end);
    const size_t name = little_u16(p + 26), extra = little_u16(p + 28);
    if (!zip_holds(end, header + ZIP_LOCAL_SIZE, name + extra))
        return zip_fail(z, XIR_E_CORRUPT, header, "the name of a member reaches beyond byte %" PRIu64, end);
    *m = (zip_member){ .name = { (const char *)p + ZIP_LOCAL_SIZE, name }, .header = header,
                       .at = header + ZIP_LOCAL_SIZE + name + extra, .packed = little_u32(p + 18),
                       .size = little_u32(p + 22), .crc = little_u32(p + 14), .method = little_u16(p + 8),
                       .flags = little_u16(p + 6) };
    size_t left = 0;
    const uint8_t *block = zip_block64(p + ZIP_LOCAL_SIZE + name, extra, &left);
    z->zip64 |= block != NULL;
    if (block && !(zip_widen(&block, &left, &m->size) && zip_widen(&block, &left, &m->packed)))
        return zip_fail(z, XIR_E_CORRUPT, header, "the member '%.*s' has no 64-bit sizes", CLIP(m->name));
    return true;
}

/* Returns true if the members end here: at the end of the file, before up to three bytes, or where the directory
 * begins. */
static bool is_end(const zip_archive *z, uint64_t at) {
    if (z->whole->size - at < 4) return true;
    uint32_t sign = little_u32(z->whole->bytes + at);
    return sign == ZIP_CENTRAL || sign == ZIP_END64;
}

bool zip_walk(zip_archive *z) {
    const uint64_t end = z->whole->size;
    uint64_t at = 0;
    z->walked = true;
    if (end < 4) return zip_fail(z, XIR_E_CORRUPT, 0, "the file is not an archive: it has %" PRIu64 " bytes", end);
    while (!is_end(z, at)) {
        zip_member m;
        if (!zip_read_local(z, at, end, &m)) return false;
        if (m.flags & ZIP_STREAMED && !m.packed)
            return zip_fail(z, XIR_E_UNSUPPORTED, at,
                            "the size of '%.*s' comes after its data, and the archive has no directory", CLIP(m.name));
        if (!zip_holds(end, m.at, m.packed))
            return zip_fail(z, XIR_E_CORRUPT, at, "the member '%.*s' takes %" PRIu64 " bytes from %" PRIu64
                            " on, but the file ends at %" PRIu64, CLIP(m.name), m.packed, m.at, end);
        if (!zip_add_member(z, &m)) return false;
        at = m.at + m.packed;
    }
    return true;
}
