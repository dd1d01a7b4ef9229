/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The bytes of Params inside a file that also has the structure. The order of the payloads, and of the table that a raw
 * file would have, belong to the network. Such a file keeps both, so that a raw file written later equals the one that
 * was read. */
#ifndef SERIALIZE_PAYLOAD_H
#define SERIALIZE_PAYLOAD_H

#include "raw/list.h"

/* ---- writing ------------------------------------------------------------------------------------------------- */

/* Size and digest of the raw file that would be written now: computed if all bytes are present, otherwise as they were
 * read. */
xir_status payload_digest(xir_network *net, uint64_t *bytes, xir_str *sum, char hex[MD5_DIGITS + 1], xir_diags *why);

typedef struct payload_plan {
    /* items[ranks[0 … n - 1].index] is the order of the payloads, ranks[n … 2n - 1] that of the table */
    raw_listing list;
    size_t      n;         /* number of entries; 0: none, or the network has no bytes at all                */
    bool        table_differs;   /* the two orders differ                                                      */
    bool        as_walked;       /* the payloads are in the order of a walk                                    */
    uint64_t    params_bytes;    /* size of the raw file that would be written now                             */
    xir_str     params_md5;      /* borrows from here or from the network: do not move the struct              */
    bool        later;           /* `hex` has zeros until payload_end                                          */
    bool        hashes;          /* between payload_begin and payload_end                                      */
    md5_meanwhile  sum;
    bool        silent;          /* the file had neither of the two, and there are no Params: write neither      */
    char        hex[MD5_DIGITS + 1];
} payload_plan;

/* Lists what is to be written, without reading any bytes. If no Params has bytes, the network is written without
 * payloads, and params_bytes and params_md5 stay unchanged; if only some lack bytes that they need, the result is
 * XIR_E_MISSING. Free it whether or not this succeeds. `path` is for findings. */
xir_status payload_plan_list(payload_plan *p, xir_network *net, const char *path, xir_diags *why);
/* Then size and digest. `later`: a digest that must be computed is computed while the bytes are written, if they are
 * all written by payload_put; until payload_end params_md5 are zeros. */
xir_status payload_plan_digest(payload_plan *p, bool later);
/* Begins and ends the writing of the bytes, in the order of payload_at, each once; without `how` they are hashed, and
 * the caller writes them. payload_put returns false if writing stops, or if the digest fails, which payload_end
 * reports. If not all bytes were written, `complete` is false, and there is no digest. */
xir_status payload_begin(payload_plan *p);
bool       payload_put(payload_plan *p, const struct format_writing *how, const raw_item *it);
xir_status payload_end(payload_plan *p, bool complete);
/* The same if only the structure is written: n is 0, and size and digest are as if the payloads were written. */
xir_status payload_plan_none(payload_plan *p, xir_network *net, xir_diags *why);
void       payload_plan_free(payload_plan *p);

static inline const raw_item *payload_at(const payload_plan *p, size_t i) {
    return &p->list.items[p->list.ranks[i].index];
}
static inline const raw_item *payload_in_table(const payload_plan *p, size_t i) {
    return &p->list.items[p->list.ranks[p->n + i].index];
}
/* Its bytes; NULL if it takes none. */
static inline const uint8_t *payload_bytes(const raw_item *it) {
    const blob *b = value_params(it->value)->data;
    return b ? b->bytes : NULL;
}

/* ---- reading ------------------------------------------------------------------------------------------------- */

/* Bytes in a file for Params of the network that was read from it. */
typedef struct payload {
    xir_value *value;
    uint64_t   offset, size;   /* in the file; checked against its size                */
    uint32_t   entry;          /* its position in a raw file's table                    */
} payload;

/* Gives Params their bytes: `list`, in the order of payloads, has parts of `whole`, which is retained. Each Params of
 * the network occurs at most once, and its type must take so many bytes; Params that need bytes and have no payload are
 * a failure unless n is 0. The network's digest is trusted, or compared with that of the raw file that would be
 * written: a difference is XIR_E_CORRUPT. PAYLOAD_MEANWHILE compares later (check_meanwhile.h) where that is possible.
 * All or nothing. */
typedef enum payload_compare { PAYLOAD_TRUSTED, PAYLOAD_COMPARED, PAYLOAD_MEANWHILE } payload_compare;
static inline payload_compare payload_compare_of(bool compare, bool meanwhile) {
    return compare ? PAYLOAD_COMPARED : meanwhile ? PAYLOAD_MEANWHILE : PAYLOAD_TRUSTED;
}
xir_status payload_attach(xir_network *net, blob *whole, const payload *list, size_t n, payload_compare when,
                          xir_str file, xir_diags *why);

/* Warns if a structure that was read with its parameters claims another size for their raw file. XIR_OK or
 * XIR_E_MEMORY. */
xir_status payload_compare_size(xir_network *net, const struct format_reading *how);

#endif
