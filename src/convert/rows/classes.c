/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Foreign classes, as their rows describe them. The texts of a row are read once for each class. */
#include "registry.h"
#include "rows/row.h"
#include "source_tags.h"

/* ---- the texts of a row ----------------------------------------------------------------------------------------- */

/* The items of a list between blanks, and one more, since the end of the list is read into an item, too. */
static size_t room_for(const char *text) {
    size_t n = 2;
    for (; text && *text; text++) n += *text == ' ';
    return n;
}

static bool read_inputs(conversion *c, convert_class *cls) {
    const char *text = row_input_names(cls->row->inputs);
    row_input *slots = arena_take(&c->scratch, room_for(text) * sizeof *slots);
    while (slots && row_next_input(&text, &slots[cls->n_slots])) cls->n_slots++;
    cls->slots = slots;
    return slots;
}

static bool read_attributes(conversion *c, convert_class *cls) {
    const char *text = cls->row->attributes;
    row_attribute *list = arena_take(&c->scratch, room_for(text) * sizeof *list);
    while (list && row_next_attribute(&text, &list[cls->n_attributes])) cls->needs |= list[cls->n_attributes++].needed;
    cls->attributes = list;
    return list;
}

/* A name with an end; NULL: out of memory. */
static const char *ended(conversion *c, xir_str name) {
    char *text = arena_take(&c->scratch, name.size + 1);
    if (text && name.size) memcpy(text, name.data, name.size);
    if (text) text[name.size] = '\0';
    return text;
}

static bool read_pairs(conversion *c, row_set *set) {
    xir_str rest = set->words;
    row_word *pairs = arena_take(&c->scratch, (rest.size / 3 + 1) * sizeof *pairs);   /* a pair is "a:A" at least */
    while (pairs && row_next_word(&rest, &pairs[set->n_pairs])) set->n_pairs++;
    set->pairs = pairs;
    return pairs;
}

static bool read_sets(conversion *c, convert_class *cls) {
    const char *text = cls->row->sets;
    row_set *list = arena_take(&c->scratch, room_for(text) * sizeof *list);
    for (row_set *s = list; list && cls->n_sets < ROW_SETS && row_next_set(&text, s); s++, cls->n_sets++) {
        const row_attribute *a = row_attribute_named(cls, s->attribute);
        s->name = ended(c, s->field);
        s->theirs = ended(c, s->attribute);
        if (a) s->kinds = a->kinds;
        while (!xir_str_equal(list[s->first].attribute, s->attribute)) s->first++;
        if (!s->name || !s->theirs || !read_pairs(c, s)) return false;
    }
    cls->sets = list;
    return list;
}

const row_attribute *row_attribute_named(const convert_class *cls, xir_str name) {
    for (size_t i = 0; i < cls->n_attributes; i++)
        if (xir_str_equal(cls->attributes[i].name, name)) return &cls->attributes[i];
    return NULL;
}

/* ---- classes ---------------------------------------------------------------------------------------------------- */

enum {
    N_BUILT_IN = 0
#define FORMAT(id, page, fuzz)
#define DIALECT(id, page, fuzz) + 1
#include "formats.def"
#undef DIALECT
#undef FORMAT
};

/* The dialects of the library are the first ones of every context. Their checks see attributes and types alone. */
static bool is_built_in(xir_context *ctx, const xir_dialect_decl *d) {
    for (size_t i = 0; i < N_BUILT_IN; i++) {
        if (registry_at(ctx, REGISTRY_DIALECT, i) == d) return true;
    }
    return false;
}

static bool is_newer(const convert_class *cls) {
    const int64_t newest = DECLARED(cls->dialect, newest);
    return !cls->foreign && newest && cls->version > newest;
}

const convert_class *conversion_class(conversion *c, const xir_class *cls) {
    const xir_allocator *alloc = context_alloc(c->ctx);
    static const convert_class in_no_dialect;   /* a file may have many such classes */
    const uint32_t *known = pointer_table_find(&c->class_of, cls);
    if (known) return c->classes[*known];
    const xir_dialect_decl *dialect = dialect_of_class(cls);
    if (!dialect && !c->back.to) return &in_no_dialect;
    convert_class *made = arena_take(&c->scratch, sizeof *made);
    const void **facts = arena_take(&c->scratch, sizeof *facts);
    foreign_likes *likes = arena_take(&c->scratch, sizeof *likes);
    if (!made || !facts || !likes || !mem_reserve(alloc, (void **)&c->classes, &c->class_room, c->n_classes + 1,
                                        sizeof *c->classes)) return NULL;
    if (!pointer_table_add(&c->class_of, cls, (uint32_t)c->n_classes)) return NULL;
    c->classes[c->n_classes++] = made;
    xir_str key = xir_class_key(cls), domain;
    *facts = NULL;
    *likes = (foreign_likes){ .next_made = 0 };
    *made = (convert_class){ .cls = cls, .dialect = dialect, .facts = facts, .likes = likes,
                             .type = convert_short_name(cls) };
    if (!dialect) return made;
    convert_split_key(made->dialect, key, &domain, &made->type);
    made->row = convert_row_of(c->ctx, dialect, key);
    if (made->row && !xir_str_equal(key, xir_str_of(made->row->name))) {   /* hooks know the type of their row */
        key = xir_str_of(made->row->name);
        convert_split_key(made->dialect, key, &domain, &made->type);
    }
    made->foreign = domain.size > 0;
    made->built_in = is_built_in(c->ctx, dialect);
    if (made->row) {
        row_range(made->row->inputs, &made->least_in, &made->most_in);
        row_range(made->row->outputs, &made->least_out, &made->most_out);
        if (made->row->size >= SIZE_TO(xir_convert_row, variant)) made->variant = made->row->variant;
        if (!read_inputs(c, made) || !read_attributes(c, made) || !read_sets(c, made)) return NULL;
        row_versions(made->row->attributes, &made->from, &made->until);
    }
    made->version = made->dialect->version ? made->dialect->version(c->net, domain) : 0;
    made->newer = is_newer(made);
    return made;
}

static const convert_class *class_of_key(conversion *c, const char *key) {
    const uint32_t *known = text_table_find(&c->class_named, xir_str_of(key));
    if (known) return c->classes[*known];
    const xir_class *cls = xir_class_opaque(c->ctx, xir_str_of(key));
    const convert_class *made = cls ? conversion_class(c, cls) : NULL;
    const uint32_t *index = made ? pointer_table_find(&c->class_of, cls) : NULL;
    if (index && !text_table_add(&c->class_named, xir_class_key(cls), *index)) return NULL;
    return made;
}

const convert_class *conversion_class_named(conversion *c, const char *key) {
    const convert_class **latest = &c->latest[hash_pointer(key) % (sizeof c->latest / sizeof *c->latest)];
    if (!*latest || !xir_str_equal((*latest)->cls->key, xir_str_of(key))) *latest = class_of_key(c, key);
    return *latest;
}

const convert_class *conversion_class_of(conversion *c, const xir_op *op) {
    const convert_class *cls = conversion_class(c, xir_op_class(op));
    const xir_any *version = cls && cls->dialect ? source_tag_find(xir_op_tags(op), SOURCE_VERSION) : NULL;
    if (!version || version->kind != XIR_ANY_INT || version->as.integer == cls->version) return cls;
    convert_class *own = arena_take(&c->brief, sizeof *own);
    if (!own) return NULL;
    *own = *cls;
    own->version = version->as.integer;
    own->newer = is_newer(own);
    return own;
}
