/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The verifier. It walks the tables of the schema from the root and checks every offset, length, text and tag once, so
 * that the reader need not. The ops of a network may be left for later. Bytes of parameters are not touched, only
 * counted.
 *
 * Offsets lead forward, so there are no cycles; but tables may be shared. A table that was verified as the same kind of
 * table is not verified again: every four bytes of the file have one mark, in pages that are allocated when the first
 * table on them is met. Contents that are met as another kind, that overlap or that are shared in other ways are paid
 * for from a budget that grows with the file size. A shared table may be met again at a greater depth: it is refused if
 * the highest table of its kind would be too deep there, unless a second walk shows that this one is lower. */
#include <inttypes.h>
#include "flat/verify.h"
#include "task.h"
#include "utf8.h"

/* A field of a vtable that leads somewhere, and where it led last: it usually leads there again. */
struct flat_lead {
    const flat_slot *slot;
    uint16_t         at;         /* in the table; 0: absent, which is right if the tag is 0         */
    uint16_t         tag_at;     /* of a union's tag, or of the vector of tags; 0: it has none      */
    const uint8_t   *to;         /* NULL: nowhere yet                                               */
    uint32_t         tag;        /* of a union; of a vector of unions, where its tags are           */
    uint16_t         height;     /* of the target                                                   */
};

typedef flat_verifier    verifier;
typedef flat_vtable_seen vtable_seen;
typedef flat_lead        lead;

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
    uint8_t *page = arena_take(&v->arena, FLAT_MARKS * sizeof *page);
    if (!page) {
        trace_memory(&v->trace);
        return NULL;
    }
    memset(page, 0, FLAT_MARKS * sizeof *page);
    return v->pages[at / FLAT_MARKED] = page;
}

/* NULL if out of memory. */
static inline uint8_t *mark_of(verifier *v, uint32_t at) {
    uint8_t *page = v->pages[at / FLAT_MARKED];
    if (!page && !(page = new_page(v, at))) return NULL;
    return page + at % FLAT_MARKED / 4;
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

bool flat_check_new_text(verifier *v, uint32_t at) {
    const uint32_t n = little_u32(v->base + at);
    const char *text = (const char *)v->base + at + 4;
    uint8_t *mark = n < v->size - at - 4 && !text[n] && n + UINT64_C(4) <= v->budget ? mark_of(v, at) : NULL;
    if (!mark || utf8_good(text, n) < n) return false;
    v->budget -= n + UINT64_C(4);
    *mark = FLAT_MARKED_TEXT;
    return true;
}

static bool check_text_at(verifier *v, uint32_t at) {
    if (flat_check_text(v, at)) return true;
    if (v->trace.status) return false;   /* no memory */
    const uint32_t n = little_u32(v->base + at), left = v->size - at - 4;
    if (n >= left) {
        return FAIL(v, at, XIR_E_BOUNDS,
                    "a text of %u bytes and its terminating zero do not fit the %u bytes that follow", n, left);
    }
    const uint8_t *text = v->base + at + 4;
    if (text[n]) return FAIL(v, at + 4 + n, XIR_E_CORRUPT, "the terminating zero of a text is missing");
    if (!spend(v, at, (uint64_t)n + 4)) return false;
    const size_t good = utf8_good((const char *)text, n);
    return FAIL(v, at + 4 + good, XIR_E_SYNTAX, "byte 0x%02x is not UTF-8 here", text[good]);
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

/* Verifies the item of a list at `at`; of a list of unions its tag is at `tag_at`. */
static inline bool check_listed(verifier *v, const flat_slot *slot, uint32_t at, uint32_t tag_at, uint32_t *highest) {
    const uint32_t height = slot->kind == FLAT_UNIONS ? check_item(v, at, tag_at, slot->family)
                                                      : check_at(v, at, slot->table);
    if (height > *highest) *highest = height;
    return height && (task_worked(TASK_PER_OBJECT) || trace_memory(&v->trace));
}

/* The vector of tables at `to`, or of unions whose tags are at `tags`. */
static __attribute__((noinline)) uint32_t check_list(verifier *v, const flat_slot *slot, uint32_t to, uint32_t tags) {
    uint32_t values = 0, n = 0, n_tags = 0, first_tag = 0, highest = 1;
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
    if (slot == v->later) {
        v->later = NULL;
        v->later_depth = v->depth + 1;
        return 2;
    }
    frame f = { .up = v->trace.top, .index = 0 };
    v->trace.top = &f;
    v->depth++;
    for (; f.index < n; f.index++) {
        const uint32_t i = (uint32_t)f.index;
        if (!check_listed(v, slot, values + 4 * i, first_tag + i, &highest)) break;
    }
    v->depth--;
    v->trace.top = f.up;
    return f.index == n ? highest + 1 : 0;
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
static inline bool leads_again(const uint8_t *table, const lead *l, uint32_t most) {
    if (flat_follow(table + l->at) != l->to || l->height > most) return false;
    return !l->tag_at || (l->slot->kind == FLAT_UNION && table[l->tag_at] == l->tag);
}

/* Passes over the leads that lead where they led before. */
static inline lead *pass_again(const uint8_t *table, lead *l, const lead *end, uint32_t most, uint32_t *highest) {
    uint32_t high = *highest;
    for (; l < end && leads_again(table, l, most); l++) high = l->height > high ? l->height : high;
    *highest = high;
    return l;
}

static __attribute__((noinline)) uint32_t check_lead(verifier *v, uint32_t table, lead *l) {
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
    if (v->base + to == l->to && tag == l->tag && v->depth + l->height - 1 <= v->deepest) return l->height;
    uint32_t height = check_target(v, table, l, to, tag);
    /* Verifying the target may have replaced the leads by those of another vtable. */
    if (height && l->slot == slot) l->to = v->base + to, l->tag = tag, l->height = (uint16_t)height;
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

/* Verifies the place of a table's vtable, and its contents. */
static bool check_new_vtable(verifier *v, uint32_t at, const flat_table *table, vtable_seen *seen) {
    const int64_t vtable = (int64_t)at - (int32_t)little_u32(v->base + at);
    if (vtable < 0 || vtable > v->size - FLAT_VTABLE_HEAD || vtable % 2) {
        return FAIL(v, at, XIR_E_BOUNDS,
                    "the vtable of %s is at byte %" PRId64 ", expected an even byte in the file", table->name, vtable);
    }
    return check_vtable(v, at, (uint32_t)vtable, table, seen);
}

/* The vtable of a table; both lie in the file. NULL after a failure. */
static inline vtable_seen *find_vtable(verifier *v, uint32_t at, const flat_table *table) {
    vtable_seen *seen = &v->seen[table->number];
    const uint64_t key = flat_vtable_key(v->base, at);
    if (seen->key != key || !seen->leads) {
        if (!check_new_vtable(v, at, table, seen)) return NULL;
        seen->key = key;
    }
    if (seen->size <= v->size - at) return seen;
    FAIL(v, at, XIR_E_BOUNDS, "%s takes %u bytes, but %u follow", table->name, seen->size, v->size - at);
    return NULL;
}

/* Verifies the leads of a table. On the way, other tables with its vtable, or with another one, may be met. */
static inline uint32_t check_leads(verifier *v, uint32_t at, const flat_table *table) {
    uint32_t highest = v->least[table->number];
    const uint32_t most = v->deepest - v->depth + 1;
    frame f = { .up = v->trace.top, .index = SIZE_MAX };
    v->trace.top = &f;
    vtable_seen *seen = find_vtable(v, at, table);
    if (!seen) return 0;
    const uint64_t key = seen->key;
    lead *l = seen->leads, *end = l + seen->n;
    for (; (l = pass_again(v->base + at, l, end, most, &highest)) < end; l++) {
        f.key = l->slot->name;
        const uint32_t height = check_lead(v, at, l);
        f.key = (xir_str){ NULL, 0 };
        if (!height || (seen->key != key && !find_vtable(v, at, table))) return 0;
        if (height > highest) highest = height;
    }
    v->trace.top = f.up;
    return highest;
}

static uint32_t check_new_table(verifier *v, uint32_t at, const flat_table *table, uint8_t *mark) {
    if (!spend(v, at, 4)) return 0;
    uint32_t levels = v->levels[table->number];
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

static void set_heights(verifier *v, const flat_table *table) {
    v->least[table->number] = least_height(table);
    v->levels[table->number] = (uint8_t)flat_levels(table);
}

static void check_size(verifier *v, uint64_t size) {
    if (size > FLAT_MOST) {
        FAIL(v, XIR_NO_BYTE, XIR_E_LIMIT, "the file has %" PRIu64 " bytes, FlatBuffers allow at most %" PRIu64, size,
             FLAT_MOST);
    } else if (size < 8) {
        FAIL(v, 0, XIR_E_BOUNDS, "%" PRIu64 " bytes are too few for a FlatBuffers file", size);
    }
}

xir_status flat_verifier_init(verifier *v, const flat_schema *schema, const flat_table *root, const flat_slot *later,
                              const uint8_t *data, uint64_t size, xir_str name, xir_diags *why) {
    xir_context *ctx = schema->ctx;
    const xir_allocator *alloc = context_alloc(ctx);
    uint32_t deepest = ctx->limits.max_depth;
    memset(v, 0, sizeof *v);
    v->trace = (trace){ .ctx = ctx, .why = why, .file = name };
    v->base = data;
    v->deepest = deepest < CODEC_DEEPEST ? deepest : CODEC_DEEPEST;
    v->later = later;
    arena_init(&v->arena, alloc);
    check_size(v, size);
    if (v->trace.status) return v->trace.status;
    v->size = (uint32_t)size;
    /* Contents that do not overlap and are met as one kind cost at most the bytes of the file; the same again is for
     * other ways of sharing. */
    v->budget = 2 * size;
    for (uint32_t i = 0; i < schema->n_tables; i++) set_heights(v, schema->tables[i]);
    v->n_pages = (size_t)(size / FLAT_MARKED + 1);
    v->pages = mem_new(alloc, v->n_pages * sizeof *v->pages);
    if (v->pages) {
        memset(v->pages, 0, v->n_pages * sizeof *v->pages);
        check_at(v, 0, root);
    } else {
        trace_memory(&v->trace);
    }
    return v->trace.status;
}

void flat_verifier_free(verifier *v) {
    mem_free(context_alloc(v->trace.ctx), v->pages, v->n_pages * sizeof *v->pages);
    arena_free(&v->arena);
}

bool flat_verify_later(verifier *v, const flat_slot *list, size_t i, uint32_t at, uint32_t tag_at) {
    frame up = { .key = list->name, .index = SIZE_MAX }, f = { .up = &up, .index = i };
    uint32_t highest = 1;
    v->trace.top = &f;
    v->depth = v->later_depth;
    return check_listed(v, list, at, tag_at, &highest);
}

bool flat_verify_input(verifier *v, const flat_family *values, uint32_t at, uint32_t tag_at) {
    v->depth = v->later_depth + 2;   /* in the op, in its list of inputs */
    return check_item(v, at, tag_at, values) && (task_worked(TASK_PER_OBJECT) || trace_memory(&v->trace));
}

xir_status flat_check(const flat_schema *schema, const flat_table *root, const uint8_t *data, uint64_t size,
                      xir_str name, xir_diags *why) {
    verifier v;
    const xir_status status = flat_verifier_init(&v, schema, root, NULL, data, size, name, why);
    flat_verifier_free(&v);
    return status;
}
