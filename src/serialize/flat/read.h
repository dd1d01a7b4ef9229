/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Shared by the files that read FlatBuffers. What they read has been verified: no offset, length or tag is checked
 * again. The ops of a network are verified one by one, each right before it is read. Ops and values of the file go
 * through the functions that the other formats use (codec/read.h), which build the network.
 *
 * Tables are shared, so the result of reading one is remembered by its place. Vectors and texts are shared too, but are
 * copied each time: a budget that grows with the file size bounds what a small file can expand to. */
#ifndef SERIALIZE_FLAT_READ_H
#define SERIALIZE_FLAT_READ_H

#include <math.h>
#include "codec/read.h"
#include "flat/verify.h"
#include "json/json.h"
#include "raw/payload.h"

/* A table that was read, and its object, in a list of tables that begin in the same few bytes. */
typedef struct flat_met {
    const void *it;
    uint32_t    place, next;   /* the number of the next one, from 1; 0: none                  */
    uint32_t    weight;        /* number of tables in it and itself, counted at each use       */
    uint8_t     as;            /* number of its table in the schema                            */
} flat_met;
enum { FLAT_PAGE = 1 << 16, FLAT_FEW = 16 };

/* A field that is present under a vtable, and its last contents: shared tables usually come again. */
typedef struct flat_present {
    const flat_slot *slot;
    uint32_t         at;       /* in the table                                      */
    uint32_t         offset;   /* of the row in the body                            */
    const uint8_t   *to;       /* its text or table; NULL: none yet                 */
    const void      *object;   /* the object read from there                        */
    uint32_t         tag, weight;
    int              word;
} flat_present;

/* The places of a table's fields, and earlier tables that have them there (read_again.c). */
typedef struct flat_form flat_form;

/* The plan by which tables of a class are read. */
typedef struct flat_class {
    codec_plan    *plan;
    void          *blank;    /* the body if no field is present                   */
    const uint8_t *vtable;   /* the last one, and its fields                      */
    flat_present    *fields;
    uint32_t       n, n_forms;
    flat_form     *forms;
} flat_class;

/* Bytes in the file for Params. */
typedef struct flat_payload { xir_value *value; uint32_t at, size, table, met; } flat_payload;

/* The last type or memory type of a value: the next value usually has the same. */
typedef struct flat_last_ref { const uint8_t *table; const flat_table *as; const xir_object *object; } flat_last_ref;

typedef struct flat_reader {
    decoder            d;
    source             s;          /* locates findings */
    const flat_schema *schema;
    flat_verifier     *v;          /* of the ops of a network; NULL: a part, which has been verified */
    const uint8_t     *base;
    uint32_t           size;
    uint32_t           depth, deepest;
    uint64_t           budget;     /* for copied bytes */
    /* of the object being read; shared tables may stand for very many */
    uint64_t           weight;
    uint32_t           heaviest;
    arena              lists;      /* of the pages */
    uint32_t         **pages;      /* by place: the number of the last one that begins in those few bytes */
    size_t             n_pages;
    flat_met          *met;
    size_t             n_met, met_room;
    flat_last_ref          type, place;
    codec_plans        plans;
    flat_class         classes[256];   /* by the tables' numbers */
    flat_payload      *payloads;
    size_t             n_payloads, payload_room;
} flat_reader;

static inline uint32_t flat_place(const flat_reader *r, const uint8_t *at) { return (uint32_t)(at - r->base); }

/* Records a failure at a place. Returns false. */
#define FLAT_FAIL(r, place, code, ...) source_fail(&(r)->s, place, code, __VA_ARGS__)

bool flat_spend_slow(flat_reader *r, const uint8_t *at);
/* Spends `n` bytes, which are copied, from the budget. */
static inline bool flat_spend(flat_reader *r, const uint8_t *at, uint64_t n) {
    if (n > r->budget) return flat_spend_slow(r, at);
    r->budget -= n;
    return true;
}

/* ---- read_object.c ------------------------------------------------------------------------------------------- */

/* Returns the record of a table that was read; NULL if it was not. */
static inline const flat_met *flat_known_as(const flat_reader *r, const uint8_t *table, const flat_table *as) {
    uint32_t place = flat_place(r, table);
    const uint32_t *page = r->pages[place / FLAT_PAGE];
    for (uint32_t i = page ? page[place % FLAT_PAGE / FLAT_FEW] : 0; i; i = r->met[i - 1].next) {
        if (r->met[i - 1].place == place && r->met[i - 1].as == as->number) return &r->met[i - 1];
    }
    return NULL;
}
/* Records that the table was read as `it`. */
bool flat_remember(flat_reader *r, const uint8_t *table, const flat_table *as, const void *it, uint32_t weight);

/* The plan and the blank body of a table's class; NULL if out of memory. */
flat_class *flat_class_of(flat_reader *r, const flat_table *table);
/* Lists the fields of a vtable, unless it is the same as last time. */
void flat_list_fields(flat_class *c, const flat_table *as, const flat_view *t);
/* Reads a field that is a row. */
bool flat_read_field(flat_reader *r, const flat_view *t, flat_present *field, void *body);

bool flat_read_object(flat_reader *r, const uint8_t *table, const flat_table *as, const xir_object **out);
/* The member of a union whose value is at `field`. */
static inline const flat_table *flat_member(const flat_view *t, const flat_slot *slot) {
    return slot->family->members[t->at[flat_field(t, slot->slot)]];
}
/* Copies a text. */
bool flat_read_text(flat_reader *r, const uint8_t *field, xir_str *out);
static inline xir_str flat_text_at(const uint8_t *field) {
    const uint8_t *text = flat_follow(field);
    return (xir_str){ (const char *)text + 4, little_u32(text) };
}

/* All NaNs become the same NaN. */
static inline float flat_real_at(const uint8_t *at) {
    float v = flat_f32(at);
    return isnan(v) ? (float)NAN : v;
}
/* The field of a named slot (schema.h); NULL: absent. */
static inline const uint8_t *flat_slot_at(const flat_view *t, const flat_table *as, int slot) {
    return flat_field_at(t, as->slots[slot].slot);
}
bool flat_read_i64s(flat_reader *r, const uint8_t *field, xir_i64s *out);
bool flat_read_enum(flat_reader *r, const uint8_t *field, const xir_enum *words, int *out);
/* Item i of a vector of tables or unions; its offset is at `item`. NULL after a failure. */
const uint8_t *flat_list_item(flat_reader *r, const flat_view *t, const flat_slot *slot, const uint8_t *item, size_t i,
                              const flat_table **as);

/* read_shape.c. Objects whose tables are not their rows. */
bool flat_read_shape(flat_reader *r, const flat_view *t, const flat_table *as, const xir_object **out);

/* ---- read_extra.c: JSON in texts ------------------------------------------------------------------------------- */

/* A source for a text that is nested at this depth. */
void flat_json(flat_reader *r, source *s, xir_str text, uint32_t depth);
/* A map; an empty text and null are empty maps. */
bool flat_read_map(flat_reader *r, const uint8_t *field, bool with_params, xir_map *out);
/* The object that is written as a map in the text. */
bool flat_read_spelled(flat_reader *r, const uint8_t *field, const xir_class *of, const xir_object **out);

/* The contents of an `extra` that concern rows. */
typedef struct flat_over {
    const xir_class   *cls;      /* NULL: no rows                                              */
    void              *body;
    const void        *blank;    /* has the values of absent rows                            */
    bool               all;      /* all rows are in extra, none has a slot                   */
    bool               op;
    const xir_target **target;   /* of an op: receives its target                            */
    const xir_type   **type;     /* of a value: receives its type and memory type            */
    const xir_mtype  **mtype;
    uint64_t           absent;
    members            m;        /* undeclared keys are in m.extra                           */
} flat_over;

bool flat_read_extra(flat_reader *r, const uint8_t *field, flat_over *over, xir_map *extra);

/* ---- read_op.c ------------------------------------------------------------------------------------------------- */

bool flat_use_params(flat_reader *r, const uint8_t *table, xir_value **out);
bool flat_use_value(flat_reader *r, const uint8_t *table, const flat_table *as, xir_value **out);   /* Params or not */
bool flat_read_op(flat_reader *r, const uint8_t *table, const flat_table *as, xir_op **out);

/* ---- read_again.c ---------------------------------------------------------------------------------------------- */

/* Makes an op of a network from a table that is like an earlier one; the offset to it is at `item`. NULL: it has to be
 * verified and read in the ordinary way, unless a failure is recorded. */
xir_op *flat_op_again(flat_reader *r, const uint8_t *item, const flat_table *as);
/* Keeps a table that has been read as this op or value, for later ones that are like it. */
void flat_keep_op(flat_reader *r, const uint8_t *table, const flat_table *as, const xir_op *op);
void flat_keep_value(flat_reader *r, const uint8_t *table, const xir_value *v);

/* ---- read_payload.c -------------------------------------------------------------------------------------------- */

/* Gives Params their bytes in the file. */
bool flat_read_payloads(flat_reader *r, const uint8_t *root, const format_reading *how, blob *whole);

#endif
