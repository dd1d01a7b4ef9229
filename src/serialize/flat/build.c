/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The builder. Blocks grow by doubling. A block that is not filled down to its first byte is just shorter in the
 * file. */
#include "flat/build.h"

enum { FIRST_BLOCK = 32 << 10, LARGEST_BLOCK = 32 << 20, HUGE_FROM = 4 << 20 };

void flat_builder_init(flat_builder *b, const xir_allocator *alloc) {
    static uint8_t none[1];
    b->alloc = alloc;
    b->low = b->floor = none;
    b->size = 0;
    b->status = XIR_OK;
    b->n_blocks = 0;
    b->next_block = FIRST_BLOCK;
    text_table_init(&b->vtables, alloc);
}

void flat_builder_free(flat_builder *b) {
    for (uint32_t i = 0; i < b->n_blocks; i++) mem_free(b->alloc, b->blocks[i].memory, b->blocks[i].size);
    text_table_free(&b->vtables);
}

bool flat_builder_write(const flat_builder *b, bool (*write)(void *user, const void *data, size_t size), void *user) {
    for (uint32_t i = b->n_blocks; i-- > 0;) {
        const flat_block *block = &b->blocks[i];
        const uint8_t *low = i + 1 == b->n_blocks ? b->low : block->low;
        if (!write(user, low, (size_t)(block->memory + block->size - low))) return false;
    }
    return true;
}

static uint8_t *fail(flat_builder *b, xir_status status) {
    if (!b->status) b->status = status;
    return NULL;
}

/* Leaves the rest of the last block unused. Each block is twice as large as the one before, up to the largest size;
 * from then on any two neighbours hold more than that size. So blocks are few, whatever the requests are. */
uint8_t *flat_take_slow(flat_builder *b, size_t n, size_t pad) {
    if (b->status) return NULL;
    if (n > FLAT_MOST_BYTES || b->size + n + pad > FLAT_MOST_BYTES) return fail(b, XIR_E_LIMIT);
    if (b->n_blocks == FLAT_BLOCKS) return fail(b, XIR_E_LIMIT);
    size_t size = n + pad > b->next_block ? n + pad : b->next_block;
    uint8_t *memory = mem_new(b->alloc, size);
    if (!memory) return fail(b, XIR_E_MEMORY);
    if (size >= HUGE_FROM) memory_advise_huge(memory, size);
    if (b->n_blocks) b->blocks[b->n_blocks - 1].low = b->low;
    b->blocks[b->n_blocks++] = (flat_block){ memory, memory + size, size, b->size };
    if (b->next_block < LARGEST_BLOCK) b->next_block *= 2;
    b->floor = memory;
    b->low = memory + size - n - pad;
    b->size += n + pad;
    memset(b->low + n, 0, pad);
    return b->low;
}

uint8_t *flat_at(const flat_builder *b, uint32_t position) {
    uint32_t i = b->n_blocks - 1;
    while (i > 0 && b->blocks[i].before >= position) i--;
    const flat_block *block = &b->blocks[i];
    return block->memory + block->size - (position - block->before);
}

uint32_t flat_string(flat_builder *b, const void *data, size_t size) {
    if (size > FLAT_MOST_BYTES) {
        fail(b, XIR_E_LIMIT);
        return 0;
    }
    uint8_t *p = flat_take(b, 4 + size + 1, 4, 0);
    if (!p) return 0;
    little_put32(p, (uint32_t)size);
    if (size) memcpy(p + 4, data, size);
    p[4 + size] = 0;
    return flat_here(b);
}

/* ---- vtables ----------------------------------------------------------------------------------------------- */

/* The position of a vtable with these bytes; a new one goes in front of everything. */
static uint32_t put_vtable(flat_builder *b, const uint8_t *bytes, size_t n) {
    const uint32_t *known = text_table_find(&b->vtables, (xir_str){ (const char *)bytes, n });
    if (known) return *known;
    uint8_t *p = flat_take(b, n, 2, 0);
    if (!p) return 0;
    memcpy(p, bytes, n);
    if (!text_table_add(&b->vtables, (xir_str){ (const char *)p, n }, flat_here(b))) fail(b, XIR_E_MEMORY);
    return flat_here(b);
}

/* Writes where the fields of one size are; returns where the next field may begin. */
static uint16_t put_entries(uint8_t *vtable, uint64_t slots, uint16_t offset, uint16_t bytes) {
    for (; slots; slots &= slots - 1, offset = (uint16_t)(offset + bytes)) {
        little_put16(vtable + 4 + 2 * __builtin_ctzll(slots), offset);
    }
    return offset;
}

static uint32_t vtable_of(flat_builder *b, const flat_fields *f, uint32_t size) {
    uint8_t bytes[4 + 2 * FLAT_SLOTS];
    uint64_t there = f->wide | f->middle | f->narrow;
    size_t n = there ? 64 - (size_t)__builtin_clzll(there) : 0;
    memset(bytes, 0, 4 + 2 * n);
    little_put16(bytes, (uint16_t)(4 + 2 * n));
    little_put16(bytes + 2, (uint16_t)size);
    put_entries(bytes, f->narrow, put_entries(bytes, f->middle, put_entries(bytes, f->wide, 4, 8), 4), 1);
    return put_vtable(b, bytes, 4 + 2 * n);
}

static uint32_t size_of(const flat_fields *f) {
    return (uint32_t)(4 + 8 * __builtin_popcountll(f->wide) + 4 * __builtin_popcountll(f->middle) +
                      __builtin_popcountll(f->narrow));
}

uint32_t flat_table_put(flat_builder *b, const flat_fields *f, flat_last *last) {
    bool alike = last->vtable && last->wide == f->wide && last->middle == f->middle && last->narrow == f->narrow;
    uint32_t size = alike ? last->size : size_of(f);
    uint8_t *p = f->wide ? flat_take(b, size, 8, 4) : flat_take(b, size, 4, 0);
    if (!p) return 0;
    uint32_t table = flat_here(b), here = table - 4;
    uint8_t *to = p + 4;
    for (uint64_t m = f->wide; m; m &= m - 1, to += 8, here -= 8) little_put64(to, f->bits[__builtin_ctzll(m)]);
    for (uint64_t m = f->middle; m; m &= m - 1, to += 4, here -= 4) {
        uint32_t slot = (uint32_t)__builtin_ctzll(m), v = (uint32_t)f->bits[slot];
        little_put32(to, f->offsets >> slot & 1 ? here - v : v);
    }
    for (uint64_t m = f->narrow; m; m &= m - 1) *to++ = (uint8_t)f->bits[__builtin_ctzll(m)];
    if (!alike) {
        uint32_t vtable = vtable_of(b, f, size);
        if (!vtable) return 0;
        *last = (flat_last){ f->wide, f->middle, f->narrow, vtable, size };
    }
    little_put32(p, last->vtable - table);   /* signed distance from the vtable to the table */
    return table;
}

uint32_t flat_table_slot(const flat_builder *b, uint32_t table, uint32_t slot) {
    const uint8_t *vtable = flat_at(b, table + little_u32(flat_at(b, table)));
    uint32_t entry = 4 + 2 * slot;
    uint32_t offset = entry < little_u16(vtable) ? little_u16(vtable + entry) : 0;
    return offset ? table - offset : 0;
}
