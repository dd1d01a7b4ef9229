/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The verifier. It walks the tables of the schema from the root and checks every offset, length, text and tag once, so
 * that the reader need not. Bytes of parameters are not touched, only counted.
 *
 * Offsets lead forward, so there are no cycles; but tables may be shared. A table that was verified as the same kind of
 * table is not verified again: every four bytes of the file have one mark, in pages that are allocated when the first
 * table on them is met. Contents that are met as another kind, that overlap or that are shared in other ways are paid
 * for from a budget that grows with the file size. A shared table may be met again at a greater depth: it is refused if
 * the highest table of its kind would be too deep there, unless a second walk shows that this one is lower. */
#include <inttypes.h>
#include "flat/flat.h"
#include "flat/wire.h"
#include "task.h"
#include "utf8.h"

enum { PAGE = 1 << 16, MARKS = PAGE / 4, TEXT_MARK = 0xFF };

/* A field of a vtable that leads somewhere, and where it led last: it usually leads there again. */
typedef struct lead {
    const flat_slot *slot;
    uint16_t         at;         /* in the table; 0: absent, which is right if the tag is 0         */
    uint16_t         tag_at;     /* of a union's tag, or of the vector of tags                      */
    uint32_t         to;         /* 0: nowhere yet                                                  */
    uint32_t         tag;        /* of a union; of a vector of unions, where its tags are           */
    uint16_t         height;     /* of the target                                                   */
} lead;

/* The last vtable of a table of the schema. */
typedef struct vtable_seen {
    uint32_t key;      /* its place, with the alignment of its table in the lowest bit            */
    uint16_t size;     /* of its tables */
    uint16_t n;
    lead    *leads;    /* NULL: none so far                                                       */
} vtable_seen;

typedef struct verifier {
    trace          trace;
    const uint8_t *base;
    uint32_t       size;
    uint32_t       depth, deepest;
    uint64_t       budget;
    uint8_t      **pages;
    size_t         n_pages;
    arena          arena;          /* of marks and leads        */
    vtable_seen    seen[256];      /* by table number           */
    uint16_t       highest[256];   /* the same                  */
    uint8_t        least[256];     /* heights of tables with no other inside: lists and maps count, even empty ones */
} verifier;

/* ---- findings ---------------------------------------------------------------------------------------------- */

#define FAIL(v, byte, code, ...) trace_fail(&(v)->trace, code, byte, __VA_ARGS__)

static bool spend(verifier *v, uint32_t at, uint64_t n) {
    if (n > v->budget) {
        return FAIL(v, at, XIR_E_LIMIT, "this is shared too often, or in too many ways, for a file of %u bytes",
                    v->size);
    }
    v->budget -= n;
    return true;
}

/* ---- marks ------------------------------------------------------------------------------------------------- */

static uint8_t *new_page(verifier *v, uint32_t at) {
    uint8_t *page = arena_take(&v->arena, MARKS * sizeof *page);
    if (!page) {
        trace_memory(&v->trace);
        return NULL;
    }
    memset(page, 0, MARKS * sizeof *page);
    return v->pages[at / PAGE] = page;
}

/* NULL if out of memory. */
static inline uint8_t *mark_of(verifier *v, uint32_t at) {
    uint8_t *page = v->pages[at / PAGE];
    if (!page && !(page = new_page(v, at))) return NULL;
    return page + at % PAGE / 4;
}

/* ---- offsets, texts, vectors ------------------------------------------------------------------------------- */

/* The target of the offset at `at`: an aligned place with at least four bytes. 0 after a failure. */
static inline uint32_t follow(verifier *v, uint32_t at) {
    uint64_t to = (uint64_t)at + little_u32(v->base + at);
    if (to != at && to <= v->size - 4 && to % 4 == 0) return (uint32_t)to;
    if (to == at) FAIL(v, at, XIR_E_CORRUPT, "an offset of 0 leads nowhere");
    else if (to % 4) FAIL(v, at, XIR_E_CORRUPT, "an offset leads to byte %" PRIu64 ", expected a multiple of 4", to);
    else FAIL(v, at, XIR_E_BOUNDS, "an offset leads to byte %" PRIu64 ", the file has %u bytes", to, v->size);
    return 0;
}

static bool check_text_at(verifier *v, uint32_t to) {
    uint8_t *mark = mark_of(v, to);
    if (!mark) return false;
    if (*mark == TEXT_MARK) return true;
    uint32_t n = little_u32(v->base + to);
    if (n >= v->size - to - 4) {
        return FAIL(v, to, XIR_E_BOUNDS,
                    "a text of %u bytes and its terminating zero do not fit the %u bytes that follow", n,
                    v->size - to - 4);
    }
    const uint8_t *text = v->base + to + 4;
    if (text[n]) return FAIL(v, to + 4 + n, XIR_E_CORRUPT, "the terminating zero of a text is missing");
    if (!spend(v, to, (uint64_t)n + 4)) return false;
    const size_t good = utf8_good((const char *)text, n);
    if (good < n) return FAIL(v, to + 4 + good, XIR_E_SYNTAX, "byte 0x%02x is not UTF-8 here", text[good]);
    *mark = TEXT_MARK;
    return true;
}

/* The items of a vector, of 2^shift bytes each; their contents are not checked. */
static inline bool check_vector(verifier *v, uint32_t to, uint32_t shift, uint32_t *first, uint32_t *count) {
    uint32_t n = little_u32(v->base + to), most = (v->size - to - 4) >> shift, item = 1u << shift;
    *first = to + 4;
    *count = n;
    if (n <= most && (*first % item == 0 || n == 0)) return true;
    if (n > most) {
        return FAIL(v, to, XIR_E_BOUNDS, "%u items of %u bytes do not fit the %u bytes that follow", n, item,
                    v->size - to - 4);
    }
    return FAIL(v, to, XIR_E_CORRUPT, "items of %u bytes are misaligned at byte %u", item, *first);
}

static bool check_texts(verifier *v, uint32_t at) {
    uint32_t first = 0, n = 0, to;
    if (!check_vector(v, at, 2, &first, &n) || !spend(v, first, 4 * (uint64_t)n)) return false;
    frame f = { .up = v->trace.top, .index = 0 };
    v->trace.top = &f;
    while (f.index < n && (to = follow(v, first + 4 * (uint32_t)f.index)) && check_text_at(v, to)) f.index++;
    v->trace.top = f.up;
    return f.index == n;
}

/* ---- tables ------------------------------------------------------------------------------------------------ */

/* Returns the levels of a table and everything below it, 0 after a failure. A table that adds no level of its own still
 * counts one, as every height does, so that 0 means failure. */
static uint32_t check_new_table(verifier *v, uint32_t at, const flat_table *table, uint8_t *mark);

static inline uint32_t check_table(verifier *v, uint32_t at, const flat_table *table) {
    uint8_t *mark = mark_of(v, at);
    if (!mark) return 0;
    uint32_t known = v->highest[table->number];
    if (*mark == table->number && v->depth + known - 1 <= v->deepest) return known;
    return check_new_table(v, at, table, mark);
}

/* The same for a table that an offset leads to. */
static inline uint32_t check_at(verifier *v, uint32_t at, const flat_table *table) {
    uint32_t to = follow(v, at);
    return to ? check_table(v, to, table) : 0;
}

/* The member of a union whose tag is not 0; NULL after a failure. */
static inline const flat_table *member(verifier *v, uint32_t tag_at, const flat_family *family) {
    uint8_t tag = v->base[tag_at];
    if (tag < family->n) return family->members[tag];
    FAIL(v, tag_at, XIR_E_UNKNOWN, "%u is not a tag of %s, expected 1 to %u", tag, family->name, family->n - 1);
    return NULL;
}

/* An item of a vector of unions; tag 0 means that it is absent. */
static inline uint32_t check_item(verifier *v, uint32_t at, uint32_t tag_at, const flat_family *family) {
    if (v->base[tag_at]) {
        const flat_table *table = member(v, tag_at, family);
        return table ? check_at(v, at, table) : 0;
    }
    if (!little_u32(v->base + at)) return 1;
    FAIL(v, at, XIR_E_CORRUPT, "a union of tag 0 has a value");
    return 0;
}

static uint32_t check_items(verifier *v, const flat_slot *slot, uint32_t values, uint32_t tags, uint32_t n) {
    uint32_t highest = 1;
    frame f = { .up = v->trace.top, .index = 0 };
    v->trace.top = &f;
    v->depth++;
    for (; f.index < n; f.index++) {
        uint32_t i = (uint32_t)f.index, at = values + 4 * i;
        uint32_t height = slot->kind == FLAT_UNIONS ? check_item(v, at, tags + i, slot->family)
            : check_at(v, at, slot->table);
        if (height > highest) highest = height;
        if (!height || (!task_worked(TASK_PER_OBJECT) && !trace_memory(&v->trace))) break;
    }
    v->depth--;
    v->trace.top = f.up;
    return f.index == n ? highest + 1 : 0;
}

/* The vector of tables at `to`, or of unions whose tags are at `tags`. */
static uint32_t check_list(verifier *v, const flat_slot *slot, uint32_t to, uint32_t tags) {
    uint32_t values = 0, n = 0, n_tags = 0, first_tag = 0;
    if (!check_vector(v, to, 2, &values, &n)) return 0;
    if (slot->kind == FLAT_UNIONS) {
        if (!check_vector(v, tags, 0, &first_tag, &n_tags)) return 0;
        if (n != n_tags) {
            FAIL(v, tags, XIR_E_CORRUPT, "found %u tags for %u values", n_tags, n);
            return 0;
        }
    }
    if (!spend(v, values, 4 * (uint64_t)n)) return 0;
    if (v->depth + 1 > v->deepest) {
        FAIL(v, values, XIR_E_LIMIT, "values are nested deeper than %u", v->deepest);
        return 0;
    }
    return check_items(v, slot, values, first_tag, n);
}

/* A union has both a tag and a value, or neither. */
static uint32_t check_union(verifier *v, uint32_t table, const lead *l, uint32_t to) {
    uint32_t tag_at = table + l->tag_at;
    if (v->base[tag_at] && to) {
        const flat_table *as = member(v, tag_at, l->slot->family);
        return as ? check_table(v, to, as) : 0;
    }
    if (to) FAIL(v, table + l->at, XIR_E_CORRUPT, "a union of tag 0 has a value");
    else FAIL(v, tag_at, XIR_E_CORRUPT, "a union of tag %u has no value", v->base[tag_at]);
    return 0;
}

/* Verifies the target of a lead. */
static uint32_t check_target(verifier *v, uint32_t table, const lead *l, uint32_t to, uint32_t tag) {
    uint32_t first = 0, n = 0;
    switch (l->slot->kind) {
    case FLAT_TEXT:
    case FLAT_ENUM:
    case FLAT_JSON:   return check_text_at(v, to);
    case FLAT_BYTES:
    case FLAT_BOOLS:  return check_vector(v, to, 0, &first, &n);
    case FLAT_F32S:   return check_vector(v, to, 2, &first, &n);
    case FLAT_I64S:   return check_vector(v, to, 3, &first, &n);
    case FLAT_TEXTS:  return check_texts(v, to);
    case FLAT_TABLE:  return check_table(v, to, l->slot->table);
    case FLAT_UNION:  return check_union(v, table, l, to);
    case FLAT_TABLES:
    case FLAT_UNIONS: return check_list(v, l->slot, to, tag);
    case FLAT_BOOL: case FLAT_I64: case FLAT_U64: case FLAT_F32: case FLAT_KINDS: break;
    }
    return 1;
}

/* Returns true if a lead leads where it led before; the target may have `most` levels. */
static inline bool leads_again(const verifier *v, uint32_t table, const lead *l, uint32_t most) {
    uint32_t at = table + l->at;
    if ((uint64_t)at + little_u32(v->base + at) != l->to || l->height > most) return false;
    return l->slot->kind < FLAT_UNION || (l->slot->kind == FLAT_UNION && v->base[table + l->tag_at] == l->tag);
}

static uint32_t check_lead(verifier *v, uint32_t table, lead *l) {
    const flat_slot *slot = l->slot;
    uint32_t tag = 0;
    if (slot->kind == FLAT_UNION) {
        tag = v->base[table + l->tag_at];
        if (!l->at) return tag ? check_union(v, table, l, 0) : 1;
    } else if (slot->kind == FLAT_UNIONS && !(tag = follow(v, table + l->tag_at))) {
        return 0;
    }
    uint32_t to = follow(v, table + l->at);
    if (!to) return 0;
    if (to == l->to && tag == l->tag && v->depth + l->height - 1 <= v->deepest) return l->height;
    uint32_t height = check_target(v, table, l, to, tag);
    /* Verifying the target may have replaced the leads by those of another vtable. */
    if (height && l->slot == slot) l->to = to, l->tag = tag, l->height = (uint16_t)height;
    return height;
}

/* A field of `bytes` bytes must lie in the table and be aligned. */
static bool check_field(verifier *v, uint32_t table, uint32_t at, uint32_t size, uint32_t bytes, uint32_t entry) {
    if (at < 4 || at + bytes > size) {
        return FAIL(v, entry, XIR_E_BOUNDS, "a field of %u bytes at %u does not fit its table of %u bytes", bytes, at,
                    size);
    }
    if ((table + at) % bytes)
        return FAIL(v, entry, XIR_E_CORRUPT, "a field of %u bytes is misaligned at byte %u", bytes, table + at);
    return true;
}

static uint32_t field_bytes(flat_kind kind) {
    return kind == FLAT_BOOL ? 1 : kind == FLAT_I64 || kind == FLAT_U64 ? 8 : 4;
}

/* Verifies a vtable for a table, and lists the fields that lead somewhere. */
static bool check_vtable(verifier *v, uint32_t at, uint32_t vtable, const flat_table *table, vtable_seen *seen) {
    const uint8_t *p = v->base + vtable;
    uint32_t vsize = little_u16(p), size = little_u16(p + 2);
    if (vsize < FLAT_VTABLE_HEAD || vsize % 2 || vsize > v->size - vtable) {
        return FAIL(v, vtable, XIR_E_BOUNDS, "a vtable of %u bytes where %u follow, expected an even size from 4 on",
                    vsize, v->size - vtable);
    }
    if (size < 4) return FAIL(v, vtable + 2, XIR_E_BOUNDS, "a table of %u bytes, expected at least 4", size);
    if (!seen->leads && !(seen->leads = arena_take(&v->arena, table->n_slots * sizeof *seen->leads))) {
        return trace_memory(&v->trace);
    }
    flat_view view = { .vtable = p, .vsize = vsize };
    frame f = { .up = v->trace.top, .index = SIZE_MAX };
    v->trace.top = &f;
    uint16_t n = 0;
    for (uint32_t i = 0; i < table->n_slots; i++) {
        const flat_slot *slot = &table->slots[i];
        bool is_union = slot->kind == FLAT_UNION, two = is_union || slot->kind == FLAT_UNIONS;
        uint32_t k = slot->slot, entry = vtable + FLAT_VTABLE_HEAD + 2 * k;
        uint32_t tag_at = two ? flat_field(&view, k) : 0, at_ = flat_field(&view, k + two);
        if (!at_ && !tag_at) continue;
        f.key = slot->name;
        if (tag_at && !check_field(v, at, tag_at, size, is_union ? 1 : 4, entry)) return false;
        if (at_ && !check_field(v, at, at_, size, field_bytes(slot->kind), entry + 2 * two)) return false;
        if (two && (!tag_at || (!at_ && !is_union))) {
            return FAIL(v, vtable, XIR_E_CORRUPT, "a union has only %s, expected both tags and values",
                        tag_at ? "tags" : "values");
        }
        if (slot->kind <= FLAT_F32) continue;
        seen->leads[n++] = (lead){ .slot = slot, .at = (uint16_t)at_, .tag_at = (uint16_t)tag_at };
    }
    v->trace.top = f.up;
    seen->n = n;
    seen->size = (uint16_t)size;
    return true;
}

/* The vtable of a table; both lie in the file. NULL after a failure. */
static vtable_seen *find_vtable(verifier *v, uint32_t at, const flat_table *table) {
    vtable_seen *seen = &v->seen[table->number];
    int64_t vtable = (int64_t)at - (int32_t)little_u32(v->base + at);
    if (vtable < 0 || vtable > v->size - FLAT_VTABLE_HEAD || vtable % 2) {
        FAIL(v, at, XIR_E_BOUNDS, "the vtable of %s is at byte %" PRId64 ", expected an even byte in the file",
             table->name, vtable);
        return NULL;
    }
    uint32_t key = (uint32_t)vtable | (at >> 2 & 1);
    if (!seen->leads || seen->key != key) {
        if (!check_vtable(v, at, (uint32_t)vtable, table, seen)) return NULL;
        seen->key = key;
    }
    if (seen->size <= v->size - at) return seen;
    FAIL(v, at, XIR_E_BOUNDS, "%s takes %u bytes, but %u follow", table->name, seen->size, v->size - at);
    return NULL;
}

/* Verifies the leads of a table. On the way, other tables with its vtable, or with another one, may be met. */
static uint32_t check_leads(verifier *v, uint32_t at, const flat_table *table) {
    uint32_t highest = v->least[table->number], most = v->deepest - v->depth + 1;
    frame f = { .up = v->trace.top, .index = SIZE_MAX };
    v->trace.top = &f;
    vtable_seen *seen = find_vtable(v, at, table);
    uint32_t key = seen ? seen->key : 0, n = seen ? seen->n : 0;
    lead *leads = seen ? seen->leads : NULL;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t height = leads[i].height;
        if (!leads_again(v, at, &leads[i], most)) {
            f.key = leads[i].slot->name;
            height = check_lead(v, at, &leads[i]);
            f.key = (xir_str){ NULL, 0 };
            if (!height || (seen->key != key && !find_vtable(v, at, table))) {
                highest = 0;
                break;
            }
        }
        if (height > highest) highest = height;
    }
    v->trace.top = f.up;
    return seen ? highest : 0;
}

static uint32_t check_new_table(verifier *v, uint32_t at, const flat_table *table, uint8_t *mark) {
    if (!spend(v, at, 4)) return 0;
    uint32_t levels = flat_levels(table);
    if (v->depth + levels + v->least[table->number] - 1 > v->deepest) {
        FAIL(v, at, XIR_E_LIMIT, "values are nested deeper than %u", v->deepest);
        return 0;
    }
    v->depth += levels;
    uint32_t height = check_leads(v, at, table);
    v->depth -= levels;
    if (!height) return 0;
    height += levels;
    if (height > v->highest[table->number]) v->highest[table->number] = (uint16_t)height;
    *mark = table->number;
    return height;
}

/* ---- the whole --------------------------------------------------------------------------------------------- */

static uint8_t least_height(const flat_table *table) {
    if (!flat_levels(table)) return 1;
    for (uint32_t i = 0; i < table->extra; i++) {
        flat_kind kind = table->slots[i].kind;
        if (kind == FLAT_JSON || (kind >= FLAT_BOOLS && kind < FLAT_KINDS)) return 2;
    }
    return 1;
}

static void check_size(verifier *v, uint64_t size) {
    if (size > FLAT_MOST) {
        FAIL(v, XIR_NO_BYTE, XIR_E_LIMIT, "the file has %" PRIu64 " bytes, FlatBuffers allow at most %" PRIu64, size,
             FLAT_MOST);
    } else if (size < 8) {
        FAIL(v, 0, XIR_E_BOUNDS, "%" PRIu64 " bytes are too few for a FlatBuffers file", size);
    }
}

xir_status flat_check(const flat_schema *schema, const flat_table *root, const uint8_t *data, uint64_t size,
                      xir_str name, xir_diags *why) {
    xir_context *ctx = schema->ctx;
    const xir_allocator *alloc = context_alloc(ctx);
    uint32_t deepest = ctx->limits.max_depth;
    verifier v = { .trace = { .ctx = ctx, .why = why, .file = name }, .base = data,
                   .deepest = deepest < CODEC_DEEPEST ? deepest : CODEC_DEEPEST };
    check_size(&v, size);
    if (v.trace.status) return v.trace.status;
    v.size = (uint32_t)size;
    /* Contents that do not overlap and are met as one kind cost at most the bytes of the file; the same again is for
     * other ways of sharing. */
    v.budget = 2 * size;
    for (uint32_t i = 0; i < schema->n_tables; i++)
        v.least[schema->tables[i]->number] = least_height(schema->tables[i]);
    arena_init(&v.arena, alloc);
    v.n_pages = (size_t)(size / PAGE + 1);
    v.pages = mem_new(alloc, v.n_pages * sizeof *v.pages);
    if (v.pages) {
        memset(v.pages, 0, v.n_pages * sizeof *v.pages);
        check_at(&v, 0, root);
    } else {
        trace_memory(&v.trace);
    }
    mem_free(alloc, v.pages, v.n_pages * sizeof *v.pages);
    arena_free(&v.arena);
    return v.trace.status;
}
