/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Shared by checking, loading and saving raw files: a list of the network's Params with their places in a file, and the
 * origin of loaded Params. */
#ifndef SERIALIZE_RAW_LIST_H
#define SERIALIZE_RAW_LIST_H

#include "file.h"
#include "raw/meanwhile.h"
#include "raw/raw.h"
#include <xir/serialize.h>

enum { RAW_HEADER = 16, RAW_ENTRY = 12, RAW_N_AT = 12, RAW_NONE = -1 };

extern const uint8_t raw_magic[RAW_N_AT];

static inline uint64_t raw_table_end(uint64_t n) { return RAW_HEADER + RAW_ENTRY * n; }

typedef struct raw_item {
    xir_value *value;
    uint64_t   size;      /* of the payload               */
    uint64_t   offset;    /* in the file                  */
    int64_t    entry;     /* in its table; RAW_NONE         */
    bool       open;      /* without a type: it takes all bytes up to the next */
} raw_item;

/* An element of an order. */
typedef struct raw_rank {
    uint64_t key;
    uint32_t index;   /* into the items */
} raw_rank;

typedef struct raw_listing {
    xir_network *net;
    xir_diags   *why;
    const char  *path;     /* in findings */
    xir_status   status;
    raw_item    *items;    /* in the order of net_walk_params */
    size_t       n, room;
    raw_rank    *ranks;    /* room for two orders and a spare */
    size_t       n_ranks;
    bool         wide_ids; /* not for a raw file: ids may have 64 bits */
    uint64_t     total;    /* size of the file with all of them; UINT64_MAX: too large */
} raw_listing;

/* Records a failure at a byte of the file. Returns its status. */
xir_status raw_fail(raw_listing *l, xir_status code, uint64_t byte, const char *format, ...) XIR_PRINTF(4, 5);
xir_status raw_no_memory(raw_listing *l);
void       raw_warn(raw_listing *l, const char *format, ...) XIR_PRINTF(2, 3);
void       raw_note_no_digest(raw_listing *l);   /* the bytes cannot be compared */

/* "v_id 7 'conv1.weights'": for messages. */
typedef struct raw_name { char text[160]; } raw_name;
raw_name raw_name_of(const xir_value *value);

/* Fills the list. Free it whether or not this succeeds. */
xir_status raw_list_params(raw_listing *l, xir_network *net, const char *path, xir_diags *why);
void       raw_list_free(raw_listing *l);

/* Sorts by key, stably; `spare` has room for as many. */
void rank_sort(raw_rank *a, raw_rank *spare, size_t n);

/* Flags for raw files that XIR_LOAD_… does not have; load.c and save.c pass them. */
enum {
    RAW_PUBLIC = XIR_LOAD_LAZY | XIR_LOAD_NO_MD5 | XIR_LOAD_MD5,
    RAW_WATCH  = 1 << 16,   /* lazily: the mapping is watched (file_reader_map_watched)                */
    RAW_SILENT = 1 << 17,   /* what the structure says of the file is not compared at all              */
    RAW_MEANWHILE = 1 << 19,   /* lazily: the MD5 is compared by a thread (check_meanwhile.h); else XIR_LOAD_MD5   */
    RAW_ANY    = 1 << 18    /* lazily: a file that cannot be mapped is read, and compared only with XIR_LOAD_MD5 */
};

/* Plans the file to be written (raw.c): items that have an entry, their offsets, and both orders: ranks[0 … n - 1] that
 * of the payloads, ranks[n … 2n - 1] that of the table. */
xir_status raw_plan(raw_listing *l, xir_network *net, const char *path, xir_diags *why);
/* Fails unless all bytes to be written may be read: those of a watched file must still exist. (raw.c) */
xir_status raw_check_readable(raw_listing *l);
/* Passes the header and the table of the planned file to a function, which may stop it. (raw.c) */
bool       raw_put_table(const raw_listing *l, xir_write_fn *put, void *user);
/* Writes the bytes of a payload, which stay as they are until the file is complete, and hashes them unless `sum` is
 * NULL. `write` may be NULL, for nowhere, and `write_lasting`. Returns false if one of them stops it, or the MD5 fails,
 * which meanwhile_end reports. (raw.c) */
bool       raw_put_bytes(md5_meanwhile *sum, xir_write_fn *write, xir_write_fn *write_lasting, void *user,
                         const blob *b);
/* Gives items their parts of `whole`; ranks[0 … n - 1] is the order of the payloads. Everything that can fail comes
 * first. `from` is their origin; its size and n are filled in. (load.c) */
struct raw_origin;
xir_status raw_attach(raw_listing *l, blob *whole, uint64_t n, struct raw_origin *from);
/* Kinds of a network's params_md5: empty or that of no bytes; 32 hexadecimal digits. */
bool       raw_digest_is_none(xir_str said);
bool       raw_digest_is_hex(xir_str said);
bool       raw_digest_is(xir_str said, const char *hex);

/* ---- check.c: the contents of the file against the network ----------------------------------------------------- */

/* Checks the fixed beginning; `got` bytes of it were read. */
xir_status raw_check_magic(raw_listing *l, const uint8_t *head, size_t got);
/* Checks that the table fits the file; on success *n is the number of entries. */
xir_status raw_check_count(raw_listing *l, const uint8_t *head, uint64_t size, uint64_t *n);
/* Returns how many entries decide: one more than the network has Params includes a surplus or a duplicate. */
uint64_t   raw_entries_to_read(const raw_listing *l, uint64_t n);
/* The whole check, for a file of `size` bytes whose table, in memory, has raw_entries_to_read entries. On success the
 * items have their offsets, and ranks[0 … n - 1] is the order of the payloads. */
xir_status raw_check_table(raw_listing *l, const uint8_t *head, uint64_t n, uint64_t size);
xir_status raw_check_empty(raw_listing *l);

/* ---- the origin of loaded Params -------------------------------------------------------------------------------- */

/* The common origin of Params: stands before their blobs, which lie in the bytes of one blob with this mark. */
typedef struct raw_origin {
    char     md5[MD5_DIGITS + 1];   /* of the file; empty: unknown                  */
    bool     read;                  /* computed from the bytes, not just claimed    */
    uint64_t size;
    size_t   n;
} raw_origin;
/* the items, in the order of payloads */
typedef struct raw_origin_entry { int64_t id; uint32_t entry; } raw_origin_entry;
extern const char raw_origin_mark;

static inline blob *raw_origin_parts(const blob *b) { return (blob *)(uintptr_t)(b->bytes + sizeof(raw_origin)); }
static inline raw_origin_entry *raw_origin_entries(const blob *b, size_t n) {
    return (raw_origin_entry *)(uintptr_t)(raw_origin_parts(b) + n);
}

#endif
