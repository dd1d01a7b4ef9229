/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Archives: named members, one after the other, and at the end a directory of them. Here they hold the weights of a
 * network, so members are usually stored, and their bytes are used where they lie in the file.
 *
 * An archive is hostile. What it says twice must agree: the record at the end with the directory, each entry of the
 * directory with the header of its member. No two members share a byte, none reaches into the directory, and no name
 * appears twice. A name is compared with the names that the reader looks for; it is never the path of a file. So an
 * archive that is opened means the same to every program that reads it by the rules.
 *
 * Numbers are little-endian. A number that does not fit into its 32 bits (in zip64, the form of large archives, any of
 * them) is all ones, and the true one is in the extra block 1 of the header, or in a second record at the end. */
#ifndef SERIALIZE_ZIP_ZIP_H
#define SERIALIZE_ZIP_ZIP_H

#include "blob.h"
#include "diagnose.h"
#include "hash.h"
#include "little.h"
#include "task.h"
#include <xir/serialize.h>

enum { ZIP_STORED = 0, ZIP_DEFLATED = 8 };

typedef struct zip_member {
    xir_str  name;         /* in the bytes of the archive                      */
    uint64_t header;       /* the first byte of the member                     */
    uint64_t at;           /* the first byte of its data                       */
    uint64_t packed;       /* bytes in the archive                             */
    uint64_t size;         /* bytes of the content                             */
    uint32_t crc;          /* of the content                                   */
    uint16_t method;       /* ZIP_STORED, ZIP_DEFLATED, or one that is not read */
    uint16_t flags;
} zip_member;

typedef struct zip_archive {
    const xir_allocator *alloc;
    blob       *whole;
    xir_str     file;      /* in findings                                      */
    xir_diags  *why;
    zip_member *members;   /* in the order of the directory                    */
    size_t      n, room;
    text_table  by_name;   /* indexes of members                               */
    uint64_t    unpacked, most;   /* bytes of all deflated members' contents; the limit */
    bool        zip64;     /* it has the second record, or a member has the block */
    bool        walked;    /* it has no directory: its members were found one after the other */
    xir_status  status;    /* of the first failure, whose finding is in `why`  */
} zip_archive;

/* ---- directory.c, walk.c --------------------------------------------------------------------------------------- */

/* Opens an archive: finds and checks all members, and reads no content. The caller keeps `whole` until zip_close, and
 * calls that after a failure too. XIR_E_CORRUPT if the archive contradicts itself, XIR_E_EXISTS if a name appears
 * twice, XIR_E_UNSUPPORTED for parts of a larger archive, XIR_E_LIMIT if the contents of its deflated members have more
 * bytes than `max_unpacked` (xir_limits) and 16 times the archive. */
xir_status zip_open(zip_archive *z, const xir_allocator *alloc, blob *whole, xir_str file, uint64_t max_unpacked,
                    xir_diags *why);
void zip_close(zip_archive *z);
/* The member of a name, or NULL. */
const zip_member *zip_find(const zip_archive *z, xir_str name);

/* ---- member.c -------------------------------------------------------------------------------------------------- */

/* The content of a member: a part of the archive if it is stored, a copy if it is deflated. `check`: compares its
 * checksum. NULL with a failure: XIR_E_CORRUPT; XIR_E_UNSUPPORTED if it is encrypted or packed by another method. No
 * memory is taken for a size that the packed bytes cannot have. */
blob *zip_take(zip_archive *z, const zip_member *m, bool check);
/* The checksum of bytes. Returns false if the task of this thread is cancelled. */
bool  zip_checksum(const void *data, uint64_t size, uint32_t *out);

/* ---- write.c --------------------------------------------------------------------------------------------------- */

/* Writes an archive of stored members without times, attributes and padding. With `zip64` every number is 64 bits wide,
 * even for an empty archive; otherwise none is, and what does not fit is XIR_E_LIMIT. */
typedef struct zip_writer {
    const xir_allocator *alloc;
    xir_write_fn *write;
    void         *user;
    bool          zip64;
    buffer        directory;
    uint64_t      at;      /* bytes written                                    */
    uint64_t      n;       /* members                                          */
    xir_status    status;  /* XIR_E_IO: `write` stopped; XIR_E_LIMIT, XIR_E_MEMORY. Without a finding. */
} zip_writer;

void zip_begin(zip_writer *w, const xir_allocator *alloc, bool zip64, xir_write_fn *write, void *user);
/* Adds a member; after a failure it does nothing. */
void zip_add(zip_writer *w, xir_str name, const void *data, uint64_t size);
/* Writes the directory and the records at the end, and releases the writer. */
xir_status zip_end(zip_writer *w);
/* The bytes of an archive of `n` members whose names have `names` bytes together and whose contents have `contents`;
 * false if a number does not fit. */
bool zip_fits(bool zip64, uint64_t n, uint64_t names, uint64_t contents);

/* ---- between the files of this folder ---------------------------------------------------------------------------- */

enum {
    ZIP_LOCAL = 0x04034b50, ZIP_CENTRAL = 0x02014b50, ZIP_END = 0x06054b50, ZIP_END64 = 0x06064b50,
    ZIP_LOCATOR = 0x07064b50,
    ZIP_LOCAL_SIZE = 30, ZIP_CENTRAL_SIZE = 46, ZIP_END_SIZE = 22, ZIP_END64_SIZE = 56, ZIP_LOCATOR_SIZE = 20,
    ZIP_ENCRYPTED = 1, ZIP_STREAMED = 1 << 3, ZIP_MASKED = 1 << 13,
    ZIP_BLOCK64 = 1,
};
#define ZIP_WIDE 0xFFFFFFFFu


/* Records the first failure, at a byte of the archive. Returns false. */
bool zip_fail(zip_archive *z, xir_status code, uint64_t byte, const char *sentence, ...) XIR_PRINTF(4, 5);
bool zip_no_memory(zip_archive *z);
/* Returns true if this range lies before `end`. */
static inline bool zip_holds(uint64_t end, uint64_t at, uint64_t size) { return at <= end && size <= end - at; }
/* Finds the block 1 of `size` bytes of extra blocks; NULL if there is none. *block_size is its size. */
const uint8_t *zip_block64(const uint8_t *extra, size_t size, size_t *block_size);
/* Takes the next 8 bytes of the block as a number if the 32-bit one is all ones. False if the block has no more. */
static inline bool zip_widen(const uint8_t **block, size_t *left, uint64_t *v) {
    if (*v != ZIP_WIDE) return true;
    if (*left < 8) return false;
    *v = little_u64(*block);
    *block += 8;
    *left -= 8;
    return true;
}
/* Reads the header of a member that ends before `end`. Its data begins at m->at. */
bool zip_read_local(zip_archive *z, uint64_t header, uint64_t end, zip_member *m);
/* Adds a member, whose name must be new. */
bool zip_add_member(zip_archive *z, const zip_member *m);
/* Finds the members of an archive without a directory. */
bool zip_walk(zip_archive *z);

#endif
