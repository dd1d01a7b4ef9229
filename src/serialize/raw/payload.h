/* The bytes of Params inside a file that has the structure too. The order of payloads, and of the table that a raw
 * file would have, belong to the network; such a file keeps both, so that the raw that is written later is the one
 * that was read. */
#ifndef SERIALIZE_PAYLOAD_H
#define SERIALIZE_PAYLOAD_H

#include "raw/list.h"

/* ---- writing ------------------------------------------------------------------------------------------------- */

/* What the structure says of the raw that would be written now: computed if all bytes are there, otherwise as it was
 * read. */
xir_status payload_digest(xir_network *net, uint64_t *bytes, xir_str *sum, char hex[MD5_DIGITS + 1], xir_diags *why);

typedef struct payload_plan {
    /* items[ranks[0 … n - 1].index]: in the order of payloads; ranks[n … 2n - 1]: in that of the table */
    raw_listing list;
    size_t      n;         /* how many have an entry; 0: none, or the network has no bytes at all           */
    bool        table_differs;   /* the two orders are not the same                                            */
    bool        as_walked;       /* that of the payloads is the one in which a walk meets Params               */
    uint64_t    params_bytes;    /* what the structure says of the raw that would be written now               */
    xir_str     params_md5;      /* borrows from here or from the network: the struct must not be moved        */
    bool        silent;          /* neither of the two was in the file, and there are no Params: neither is said */
    char        hex[MD5_DIGITS + 1];
} payload_plan;

/* Lists what is to be written. A network none of whose Params has bytes is written without payloads, params_bytes and
 * params_md5 as they are; one where only some lack bytes that they need is XIR_E_MISSING. To be freed whether or not it
 * succeeds. `path` is for findings. */
xir_status payload_plan_make(payload_plan *p, xir_network *net, const char *path, xir_diags *why);
/* The same where the structure alone is written: n is 0, and what it says of the raw is as if it were not alone. */
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

/* Bytes that a file has for Params of a network that was read from it. */
typedef struct payload {
    xir_value *value;
    uint64_t   offset, size;   /* in the file: both have been checked against its size */
    uint32_t   entry;          /* its position in a raw file's table                    */
} payload;

/* Gives Params their bytes, `list` in the order of payloads: parts of `whole`, which is retained. Each Params of the
 * network at most once; its type must take so many bytes; Params that need bytes and have no payload are a failure
 * unless n is 0. The digest that the network says is believed unless `compare`: then it is computed of the raw that
 * would be written, and a difference is XIR_E_CORRUPT. All or nothing. */
xir_status payload_attach(xir_network *net, blob *whole, const payload *list, size_t n, bool compare, xir_str file,
                          xir_diags *why);

/* Warns if the structure that was read with its parameters claims another size of their raw file. XIR_OK or
 * XIR_E_MEMORY. */
xir_status payload_compare_size(xir_network *net, const struct format_reading *how);

#endif
