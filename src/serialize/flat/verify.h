/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The verifier, for a reader that has ops of a network verified one after the other, each right before it reads it. */
#ifndef SERIALIZE_FLAT_VERIFY_H
#define SERIALIZE_FLAT_VERIFY_H

#include "flat/flat.h"
#include "flat/wire.h"

/* Every four bytes of the file have one mark, in pages that are allocated when the first table on them is met. */
enum { FLAT_MARKED = 1 << 16, FLAT_MARKS = FLAT_MARKED / 4, FLAT_MARKED_TEXT = 0xFF };

typedef struct flat_lead flat_lead;

/* The last vtable of a table of the schema. */
typedef struct flat_vtable_seen {
    uint64_t   key;      /* twice its place, and the alignment of its table in the lowest bit; 0: none */
    uint16_t   size;     /* of its tables                                                              */
    uint16_t   n;
    flat_lead *leads;    /* NULL: none so far                                                          */
} flat_vtable_seen;

typedef struct flat_verifier {
    trace            trace;
    const uint8_t   *base;
    uint32_t         size;
    uint32_t         depth, deepest;
    uint64_t         budget;
    uint8_t        **pages;
    size_t           n_pages;
    arena            arena;          /* of marks and leads        */
    const flat_slot *later;          /* the list whose items are verified later; NULL: none, or it has been met */
    uint32_t         later_depth;    /* of its items              */
    flat_vtable_seen seen[256];      /* by table number           */
    uint16_t         highest[256];   /* the same                  */
    uint8_t          levels[256];    /* that a table adds         */
    uint8_t          least[256];     /* heights of tables with no other inside; lists and maps count, even empty */
} flat_verifier;

static inline uint64_t flat_vtable_key(const uint8_t *base, uint32_t table) {
    const int64_t vtable = (int64_t)table - (int32_t)little_u32(base + table);
    return 2 * (uint64_t)vtable + (table >> 2 & 1);
}

/* Verifies a buffer as flat_check does, but leaves out the items of `later`, a list in the root, if it is not NULL.
 * Free the verifier whether or not this succeeds. */
xir_status flat_verifier_init(flat_verifier *v, const flat_schema *schema, const flat_table *root,
                              const flat_slot *later, const uint8_t *data, uint64_t size, xir_str name, xir_diags *why);
void       flat_verifier_free(flat_verifier *v);

/* Verifies item i of the list that was left out, at `at` in the file; its tag is at `tag_at`. False with a finding. */
bool flat_verify_later(flat_verifier *v, const flat_slot *list, size_t i, uint32_t at, uint32_t tag_at);

/* Verifies an item of the inputs of such an item, likewise. The caller has put the path into the trace. */
bool flat_verify_input(flat_verifier *v, const flat_family *values, uint32_t at, uint32_t tag_at);

/* Returns true if there is a text at a place. There is no finding. */
bool flat_check_new_text(flat_verifier *v, uint32_t at);
static inline bool flat_check_text(flat_verifier *v, uint32_t at) {
    const uint8_t *page = v->pages[at / FLAT_MARKED];
    return (page && page[at % FLAT_MARKED / 4] == FLAT_MARKED_TEXT) || flat_check_new_text(v, at);
}

#endif
