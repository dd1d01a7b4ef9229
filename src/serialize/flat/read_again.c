/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Tables that are like an earlier one are not read row by row. Two tables of a class are alike if they have one vtable,
 * their offsets lead to the same places, and all their other bytes are equal, except in the fields that each op has of
 * its own: its id, name, inputs and outputs; of a value its id. Then their attributes, targets and types are the same.
 *
 * Nothing here has been verified. A table that is like a verified one needs a look at its own fields only. An op is
 * made here only if it has one output that is like an earlier value, and its ids are new. Its inputs may be new. All
 * others are verified and read in the ordinary way, in verify.c and read_op.c, which write the findings. */
#include "flat/read.h"

enum { OWN_ID, OWN_NAME, OWN_INPUTS, OWN_OUTPUTS = OWN_INPUTS + 2, OWN_COUNT = OWN_OUTPUTS + 2 };

/* An earlier table, and what it was read as: attributes and a target, or a type. */
typedef struct known {
    const uint8_t *table;   /* NULL: none */
    const void    *what;
    const xir_target *target;
} known;

enum { KNOWN_OPS = 4, KNOWN_VALUES = 64, MOST_BYTES = 512, MOST_FIELDS = 48, MOST_FORMS = 8 };

typedef struct run { uint16_t at, size; } run;

/* The places of the fields under a vtable. */
struct flat_form {
    uint64_t       key;                   /* flat_vtable_key                                                  */
    flat_form     *next;                  /* another one of the table                                         */
    bool           is_known;              /* false: such tables are read in the ordinary way                  */
    uint32_t       size;                  /* of the tables                                                    */
    uint16_t       own[OWN_COUNT];        /* 0: absent                                                        */
    uint16_t       n_runs, n_shared;
    run            runs[MOST_FIELDS + 1]; /* equal bytes                                                      */
    uint16_t       shared[MOST_FIELDS];   /* offsets that lead to equal places                                */
    uint16_t       type;                  /* of a value: the offset to it, by which values are kept           */
    uint32_t       n_known, latest;
    known          known[];
};

/* ---- forms ------------------------------------------------------------------------------------------------------ */

/* The bytes of a table: of no field, or of one that is equal, its own, or an offset. */
enum { BYTE_FREE, BYTE_EQUAL, BYTE_OWN, BYTE_SHARED };

/* Marks a field. Returns false if it overlaps another one. */
static bool mark(uint8_t *bytes, uint32_t at, uint32_t size, uint8_t as) {
    for (uint32_t i = 0; i < size; i++) {
        if (bytes[at + i] != BYTE_FREE) return false;
        bytes[at + i] = as;
    }
    return true;
}

/* The place in `own` of an op's slot; -1: it is not its own. */
static int own_of(const flat_slot *slot) {
    switch (slot->what) {
    case FLAT_ID:      return OWN_ID;
    case FLAT_NAME:    return OWN_NAME;
    case FLAT_INPUTS:  return OWN_INPUTS;
    case FLAT_OUTPUTS: return OWN_OUTPUTS;
    default:           return -1;
    }
}

static bool mark_own(flat_form *f, uint8_t *bytes, int own, uint32_t at, uint32_t size) {
    f->own[own] = (uint16_t)at;
    return !at || mark(bytes, at, size, BYTE_OWN);
}

static bool mark_slot(flat_form *f, uint8_t *bytes, const flat_view *t, const flat_slot *slot, int own) {
    const bool two = slot->kind == FLAT_UNION || slot->kind == FLAT_UNIONS;
    const uint32_t tag = two ? flat_field(t, slot->slot) : 0, at = flat_field(t, slot->slot + two);
    const uint32_t size = slot->kind == FLAT_BOOL ? 1 : slot->kind == FLAT_I64 || slot->kind == FLAT_U64 ? 8 : 4;
    if (own >= 0) return mark_own(f, bytes, own, two ? tag : at, size) && (!two || mark_own(f, bytes, own + 1, at, 4));
    if (slot->kind == FLAT_UNIONS || f->n_shared == MOST_FIELDS) return false;
    if (tag && !mark(bytes, tag, 1, BYTE_EQUAL)) return false;
    if (!at || slot->kind <= FLAT_F32) return !at || mark(bytes, at, size, BYTE_EQUAL);
    f->shared[f->n_shared++] = (uint16_t)at;
    return mark(bytes, at, 4, BYTE_SHARED);
}

static bool find_runs(flat_form *f, const uint8_t *bytes, uint32_t size) {
    for (uint32_t i = 4, end; i < size; i = end) {
        const bool equal = bytes[i] <= BYTE_EQUAL;
        for (end = i + 1; end < size && (bytes[end] <= BYTE_EQUAL) == equal;) end++;
        if (!equal) continue;
        if (f->n_runs == MOST_FIELDS) return false;
        f->runs[f->n_runs++] = (run){ (uint16_t)i, (uint16_t)(end - i) };
    }
    return true;
}

static void find_fields(flat_form *f, const flat_view *t, const flat_table *as) {
    uint8_t bytes[MOST_BYTES] = { 0 };
    const uint32_t size = f->size = little_u16(t->vtable + 2);
    const bool is_value = as->shape == FLAT_VALUE;
    f->is_known = size <= MOST_BYTES && mark(bytes, 0, 4, BYTE_OWN);
    for (uint32_t i = 0; f->is_known && i < as->n_slots; i++) {
        const int own = !is_value ? own_of(&as->slots[i]) : i == VALUE_SLOT_ID ? OWN_ID : -1;
        f->is_known = mark_slot(f, bytes, t, &as->slots[i], own);
    }
    if (is_value) f->type = (uint16_t)flat_field(t, as->slots[VALUE_SLOT_DTYPE].slot + 1u);
    f->is_known = f->is_known && find_runs(f, bytes, size) && f->own[OWN_ID] && (!is_value || f->type);
}

static inline flat_form *form_of(const flat_reader *r, const flat_table *as, uint64_t key) {
    flat_form *f = r->classes[as->number].forms;
    while (f && f->key != key) f = f->next;
    return f;
}

/* The form of a table, made at need. NULL: out of memory, which only costs time, or the class has too many. */
static flat_form *need_form(flat_reader *r, const uint8_t *table, const flat_table *as) {
    const flat_view t = flat_view_of(table);
    const uint64_t key = flat_vtable_key(r->base, flat_place(r, table));
    flat_class *c = &r->classes[as->number];
    flat_form *f = form_of(r, as, key);
    if (f || c->n_forms == MOST_FORMS) return f;
    const uint32_t n = as->shape == FLAT_VALUE ? KNOWN_VALUES : KNOWN_OPS;
    const size_t size = sizeof *f + n * sizeof *f->known;
    if (!(f = arena_take(&r->d.keep, size))) return NULL;
    memset(f, 0, size);
    f->key = key;
    f->n_known = n;
    f->next = c->forms;
    c->forms = f;
    c->n_forms++;
    find_fields(f, &t, as);
    return f;
}

/* The form of a table that nobody has verified; NULL if it has none, or does not lie in the file. */
static inline flat_form *form_at(const flat_reader *r, const uint8_t *table, const flat_table *as) {
    const uint32_t place = flat_place(r, table);
    flat_form *f = form_of(r, as, flat_vtable_key(r->base, place));
    return f && f->is_known && f->size <= r->size - place ? f : NULL;
}

/* ---- the comparison --------------------------------------------------------------------------------------------- */

static inline bool same_run(const uint8_t *a, const uint8_t *b, uint32_t size) {
    if (size >= 8) return memcmp(a, b, size) == 0;
    for (uint32_t i = 0; i < size; i++) {
        if (a[i] != b[i]) return false;
    }
    return true;
}

/* Both have this form. */
static inline bool is_like(const flat_form *f, const uint8_t *a, const uint8_t *b) {
    const uint64_t apart = (uint64_t)(a - b);   /* an offset leads forward, and does not wrap */
    for (uint32_t i = 0; i < f->n_shared; i++) {
        const uint32_t at = f->shared[i];
        if (little_u32(a + at) + apart != little_u32(b + at)) return false;
    }
    for (uint32_t i = 0; i < f->n_runs; i++) {
        if (!same_run(a + f->runs[i].at, b + f->runs[i].at, f->runs[i].size)) return false;
    }
    return true;
}

static const known *find_op(flat_form *f, const uint8_t *table) {
    for (uint32_t i = 0; i < f->n_known; i++) {
        const uint32_t at = (f->latest + i) % KNOWN_OPS;
        const known *k = &f->known[at];
        if (!k->table || !is_like(f, table, k->table)) continue;
        f->latest = at;
        return k;
    }
    return NULL;
}

/* Values of one type take one place. */
static inline known *known_value(flat_form *f, const uint8_t *table) {
    const uintptr_t type = (uintptr_t)table + f->type + little_u32(table + f->type);
    return &f->known[(type >> 2 ^ type >> 8) % KNOWN_VALUES];
}

void flat_keep_op(flat_reader *r, const uint8_t *table, const flat_table *as, const xir_op *op) {
    flat_form *f = !r->v || !op->cls->plain || op_more_of(op) ? NULL : need_form(r, table, as);
    if (!f || !f->is_known) return;
    f->latest = (f->latest + KNOWN_OPS - 1) % KNOWN_OPS;   /* the oldest one, unless they have been met since */
    f->known[f->latest] = (known){ table, op->attrs, op_target(op) };
}

void flat_keep_value(flat_reader *r, const uint8_t *table, const xir_value *v) {
    flat_form *f = !r->v || value_more_of(v) ? NULL : need_form(r, table, r->schema->value);
    if (f && f->is_known) *known_value(f, table) = (known){ .table = table, .what = v->type };
}

/* ---- ops -------------------------------------------------------------------------------------------------------- */

/* The fields that an op has of its own. */
typedef struct own_fields {
    int64_t        id, output_id;
    xir_str        name;
    xir_value     *inputs[8];
    uint32_t       n_inputs;
    const uint8_t *output;
    const xir_type *type;
} own_fields;

/* The target of an offset; NULL if it does not lead to four bytes at an aligned place. */
static inline const uint8_t *lead(const flat_reader *r, const uint8_t *offset) {
    const uint64_t by = little_u32(offset), to = flat_place(r, offset) + by;
    return by && to <= r->size - 4 && to % 4 == 0 ? r->base + to : NULL;
}

/* A vector of values and their tags. */
typedef struct items { const uint8_t *tags, *offsets; uint32_t n; } items;
enum { MOST_ITEMS = sizeof ((own_fields *)0)->inputs / sizeof(xir_value *) };

/* The vectors at two fields; none if they are absent. */
static inline bool find_items(const flat_reader *r, const uint8_t *table, const uint16_t own[2], items *out) {
    *out = (items){ 0 };
    if (!own[0]) return true;
    const uint8_t *tags = lead(r, table + own[0]), *vector = lead(r, table + own[1]);
    if (!tags || !vector) return false;
    *out = (items){ tags + 4, vector + 4, little_u32(vector) };
    return out->n <= MOST_ITEMS && little_u32(tags) == out->n && out->n <= r->size - 4 - flat_place(r, tags) &&
           4 * out->n <= r->size - 4 - flat_place(r, vector);
}

/* The kind of an item; NULL: absent, or unknown. */
static inline const flat_table *kind_of(const flat_reader *r, const items *of, uint32_t i) {
    const flat_family *values = r->schema->values;
    return of->tags[i] < values->n ? values->members[of->tags[i]] : NULL;
}

/* The value of an input that was read before, and has at most so many levels; NULL: none. */
static inline xir_value *known_input(const flat_reader *r, const items *in, uint32_t i, uint32_t most) {
    const flat_table *as = kind_of(r, in, i);
    const uint8_t *table = as ? lead(r, in->offsets + 4 * i) : NULL;
    const flat_met *met = table && r->v->highest[as->number] <= most ? flat_known_as(r, table, as) : NULL;
    xir_value *v = met ? (xir_value *)(uintptr_t)met->it : NULL;
    return v && (value_op(v) || value_is_params(v)) ? v : NULL;
}

/* Verifies and reads an input. */
static bool read_new_input(flat_reader *r, const items *in, uint32_t i, xir_value **out) {
    const uint8_t *offset = in->offsets + 4 * i;
    frame list = { .up = r->d.trace.top, .key = XIR_STR("inputs"), .index = SIZE_MAX }, f = { .up = &list, .index = i };
    r->d.trace.top = r->v->trace.top = &f;
    r->depth += 2;
    const bool ok =
        flat_verify_input(r->v, r->schema->values, flat_place(r, offset), flat_place(r, in->tags + i)) &&
        (!in->tags[i] || flat_use_value(r, flat_follow(offset), kind_of(r, in, i), out));
    r->depth -= 2;
    r->d.trace.top = list.up;
    return ok;
}

static inline bool read_inputs(flat_reader *r, const items *in, own_fields *o) {
    const uint32_t most = r->v->deepest - r->v->later_depth - 1;
    for (uint32_t i = 0; i < in->n; i++) {
        o->inputs[i] = known_input(r, in, i, most);
        if (!o->inputs[i] && !read_new_input(r, in, i, &o->inputs[i])) return false;
    }
    o->n_inputs = in->n;
    while (o->n_inputs && !o->inputs[o->n_inputs - 1]) o->n_inputs--;   /* absent ones at the end are left out */
    return true;
}

/* Reads the output, which must be the only one. */
static inline bool read_output(const flat_reader *r, const items *out, own_fields *o) {
    const flat_table *as = r->schema->value;
    const uint8_t *table = out->n == 1 && kind_of(r, out, 0) == as ? lead(r, out->offsets) : NULL;
    flat_form *f = table ? form_at(r, table, as) : NULL;
    const known *k = f ? known_value(f, table) : NULL;
    if (!k || !k->table || !is_like(f, table, k->table)) return false;
    o->output = table;
    o->output_id = flat_i64(table + f->own[OWN_ID]);
    o->type = k->what;
    return true;
}

static inline bool read_name(const flat_reader *r, const uint8_t *table, const flat_form *f, xir_str *name) {
    *name = (xir_str){ NULL, 0 };
    if (!f->own[OWN_NAME]) return true;
    const uint8_t *text = lead(r, table + f->own[OWN_NAME]);
    if (!text || !flat_check_text(r->v, flat_place(r, text))) return false;
    *name = (xir_str){ (const char *)text + 4, little_u32(text) };
    return true;
}

/* False: the op is read in the ordinary way, unless a failure is recorded. */
static inline bool read_own(flat_reader *r, const uint8_t *table, const flat_form *f, own_fields *o) {
    items in, out;
    o->id = flat_i64(table + f->own[OWN_ID]);
    if (!find_items(r, table, f->own + OWN_INPUTS, &in) || !find_items(r, table, f->own + OWN_OUTPUTS, &out) ||
        !read_output(r, &out, o) || !read_name(r, table, f, &o->name)) {
        return false;
    }
    const uint64_t copied = o->name.size + (uint64_t)sizeof(xir_use) * (in.n + 1);
    const uint64_t met = 4 * (UINT64_C(3) + in.n);   /* two tables and the items, as verify.c counts them */
    if (!read_inputs(r, &in, o) || !decoder_is_new(&r->d, o->id, o->output_id)) return false;
    if (copied > r->budget || met > r->v->budget) return false;
    r->budget -= copied;
    r->v->budget -= met;
    return true;
}

xir_op *flat_op_again(flat_reader *r, const uint8_t *item, const flat_table *as) {
    const uint8_t *table = lead(r, item);
    flat_form *f = table ? form_at(r, table, as) : NULL;
    const known *k = f ? find_op(f, table) : NULL;
    own_fields o;
    if (!k || !read_own(r, table, f, &o)) return NULL;
    xir_network *net = r->d.net;
    const label *name = net_name(net, o.name);
    void *end;
    xir_op *op = name ? op_make_whole(net, as->cls, k->what, o.inputs, o.n_inputs, 1, 0, &end) : NULL;
    if (!op) return NULL;   /* without memory the ordinary way finds none either */
    op_set_label(op, name);
    op_outputs(op)->type = o.type;
    if (op_set_own_target(op, k->target) && decoder_take_new(&r->d, op, o.id, o.output_id, o.output) &&
        flat_remember(r, o.output, r->schema->value, op_outputs(op), 0)) {
        return op;
    }
    trace_memory(&r->d.trace);
    return NULL;
}
