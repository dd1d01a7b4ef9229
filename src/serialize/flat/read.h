/* What the files that read FlatBuffers share. The verifier has been over all of it: no offset, length or tag is checked
 * again. What a file says of ops and values goes to where the other formats' readers put it (codec/read.h), which make
 * the network.
 *
 * Tables are shared, so what was made of one is remembered by its place. Vectors and texts are shared too, and
 * copied each time: a budget that grows with the file ends what a small file could make of that. */
#ifndef SERIALIZE_FLAT_READ_H
#define SERIALIZE_FLAT_READ_H

#include <math.h>
#include "codec/read.h"
#include "flat/flat.h"
#include "flat/wire.h"
#include "json/json.h"
#include "raw/payload.h"

/* What a table was read as, in a list of those that begin in the same few bytes. */
typedef struct flat_met {
    const void *it;
    uint32_t    place, next;   /* the next one's number, from 1; 0: none                       */
    uint32_t    weight;        /* tables of it, and of all in it, as often as they are in it   */
    uint8_t     as;            /* number of the schema's table                                 */
} flat_met;
enum { FLAT_PAGE = 1 << 16, FLAT_FEW = 16 };

/* A field that the tables of a vtable have, and what came of it last: shared things mostly come again. */
typedef struct flat_there {
    const flat_slot *slot;
    uint32_t         at;       /* in the table                                      */
    uint32_t         offset;   /* of the row in a body                              */
    const uint8_t   *to;       /* where a word or object was; NULL: nowhere yet     */
    const void      *object;   /* what it is                                        */
    uint32_t         tag, weight;
    int              word;
} flat_there;

/* What is made of the tables of a class. */
typedef struct flat_class {
    codec_plan    *plan;
    void          *blank;    /* a body as it is if no field is there             */
    const uint8_t *vtable;   /* the one that was met last, and what it has        */
    flat_there    *fields;
    uint32_t       n;
} flat_class;

/* Bytes that the file has for Params. */
typedef struct flat_payload { xir_value *value; uint32_t at, size, table, met; } flat_payload;

/* What a value had last: the next one mostly has the same. */
typedef struct flat_last { const uint8_t *table; const flat_table *as; const xir_object *object; } flat_last;

typedef struct flat_reader {
    decoder            d;
    source             s;          /* for places in findings */
    const flat_schema *schema;
    const uint8_t     *base;
    uint32_t           size;
    uint32_t           depth, deepest;
    uint64_t           budget;     /* of bytes that are copied */
    /* of what has been read of an object; those that are shared may stand for very many */
    uint64_t           weight;
    uint32_t           heaviest;
    arena              lists;      /* of the pages */
    uint32_t         **pages;      /* by place: the number of the last that was met in those few bytes */
    size_t             n_pages;
    flat_met          *met;
    size_t             n_met, met_room;
    flat_last          type, place;
    codec_plans        plans;
    flat_class         classes[256];   /* by the tables' numbers */
    flat_payload      *payloads;
    size_t             n_payloads, payload_room;
} flat_reader;

static inline uint32_t flat_place(const flat_reader *r, const uint8_t *at) { return (uint32_t)(at - r->base); }

/* Records a failure at a place. Returns false. */
#define FLAT_FAIL(r, place, code, ...) source_fail(&(r)->s, place, code, __VA_ARGS__)

bool flat_spend_slow(flat_reader *r, const uint8_t *at);
/* So many bytes of the file are copied. */
static inline bool flat_spend(flat_reader *r, const uint8_t *at, uint64_t n) {
    if (n > r->budget) return flat_spend_slow(r, at);
    r->budget -= n;
    return true;
}

/* ---- read_object.c ------------------------------------------------------------------------------------------- */

/* What was made of a table; NULL if it was not met. */
static inline const flat_met *flat_known_as(const flat_reader *r, const uint8_t *table, const flat_table *as) {
    uint32_t place = flat_place(r, table);
    const uint32_t *page = r->pages[place / FLAT_PAGE];
    for (uint32_t i = page ? page[place % FLAT_PAGE / FLAT_FEW] : 0; i; i = r->met[i - 1].next) {
        if (r->met[i - 1].place == place && r->met[i - 1].as == as->number) return &r->met[i - 1];
    }
    return NULL;
}
/* `it` is what it is from now on. */
bool flat_remember(flat_reader *r, const uint8_t *table, const flat_table *as, const void *it, uint32_t weight);

/* The plan and the blank body of a table's class; NULL without memory. */
flat_class *flat_class_of(flat_reader *r, const flat_table *table);
/* Lists the fields of a vtable, if it is not the one that was met last. */
void flat_list_fields(flat_class *c, const flat_table *as, const flat_view *t);
/* Reads a field that has a row. */
bool flat_read_field(flat_reader *r, const flat_view *t, flat_there *field, void *body);

bool flat_read_object(flat_reader *r, const uint8_t *table, const flat_table *as, const xir_object **out);
/* The member of a union whose value is at `field`. */
static inline const flat_table *flat_member(const flat_view *t, const flat_slot *slot) {
    return slot->family->members[t->at[flat_field(t, slot->slot)]];
}
/* A text that is copied. */
bool flat_read_text(flat_reader *r, const uint8_t *field, xir_str *out);
static inline xir_str flat_text_at(const uint8_t *field) {
    const uint8_t *text = flat_follow(field);
    return (xir_str){ (const char *)text + 4, flat_u32(text) };
}

/* Of all NaNs there is one. */
static inline float flat_real_at(const uint8_t *at) {
    float v = flat_f32(at);
    return isnan(v) ? (float)NAN : v;
}
/* The field of a slot that has a name (schema.h); NULL: absent. */
static inline const uint8_t *flat_slot_at(const flat_view *t, const flat_table *as, int slot) {
    return flat_field_at(t, as->slots[slot].slot);
}
bool flat_read_i64s(flat_reader *r, const uint8_t *field, xir_i64s *out);
bool flat_read_word(flat_reader *r, const uint8_t *field, const xir_enum *words, int *out);
/* Item i, whose offset is at `item`, of a vector of tables or unions; NULL after a failure. */
const uint8_t *flat_list_item(flat_reader *r, const flat_view *t, const flat_slot *slot, const uint8_t *item, size_t i,
                              const flat_table **as);

/* read_shape.c. Objects whose tables are not their rows. */
bool flat_read_shape(flat_reader *r, const flat_view *t, const flat_table *as, const xir_object **out);

/* ---- read_extra.c: JSON in texts ------------------------------------------------------------------------------- */

/* The source of a text that stands at a depth. */
void flat_json(flat_reader *r, source *s, xir_str text, uint32_t depth);
/* A map; a text of nothing and null are maps of nothing. */
bool flat_read_map(flat_reader *r, const uint8_t *field, bool with_params, xir_map *out);
/* The object that is spelled as a map in the text. */
bool flat_read_spelled(flat_reader *r, const uint8_t *field, const xir_class *of, const xir_object **out);

/* What an `extra` says of rows. */
typedef struct flat_over {
    const xir_class   *cls;      /* NULL: there are no rows                                   */
    void              *body;
    const void        *blank;    /* what a row has that is absent                            */
    bool               all;      /* all rows are here, none has a slot                       */
    bool               op;
    const xir_target **target;   /* of an op: where its target goes                          */
    const xir_type   **type;     /* of a value: where its type and place go                  */
    const xir_mtype  **mtype;
    uint64_t           absent;
    members            m;        /* what is undeclared is in m.extra                         */
} flat_over;

bool flat_read_extra(flat_reader *r, const uint8_t *field, flat_over *over, xir_map *extra);

/* ---- read_op.c ------------------------------------------------------------------------------------------------- */

bool flat_use_params(flat_reader *r, const uint8_t *table, xir_value **out);
bool flat_use_value(flat_reader *r, const uint8_t *table, const flat_table *as, xir_value **out);   /* Params or not */
bool flat_read_op(flat_reader *r, const uint8_t *table, const flat_table *as, xir_op **out);

/* ---- read_payload.c -------------------------------------------------------------------------------------------- */

/* Gives Params the bytes that the file has for them. */
bool flat_read_payloads(flat_reader *r, const uint8_t *root, const format_reading *how, blob *whole);

#endif
