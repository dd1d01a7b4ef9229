/* What the files that write FlatBuffers share. What is referred to is written first, and once: objects are
 * remembered by their address, since a network has each once; values by their producer; texts by their bytes. What a
 * slot cannot hold goes into the table's `extra`, as JSON. */
#ifndef SERIALIZE_FLAT_WRITE_H
#define SERIALIZE_FLAT_WRITE_H

#include "flat/build.h"
#include "flat/flat.h"
#include "flat/schema.h"
#include "json/json.h"
#include "raw/payload.h"

/* Distributions and arrays of more elements than this are written as their spelling, which has runs; and all of
 * them, once so many elements have been written out: a short text must not make a large file. */
#define FLAT_EXPANDED_MOST (INT64_C(1) << 20)
#define FLAT_EXPANDED_ALL  (INT64_C(1) << 24)

/* A table that was written. */
typedef struct flat_ref {
    const void *what;      /* the object or value                          */
    uint32_t    at;
    uint16_t    height;    /* levels that it adds: see flat_levels         */
    uint8_t     number;    /* of its table in the schema                   */
    uint8_t     tag;       /* in the last union that it was put into       */
} flat_ref;

/* A text or a vector of bytes that was written: the two look alike. */
typedef struct flat_bytes { const uint8_t *bytes; uint32_t size, at; } flat_bytes;

/* A vector of the tags of a few inputs or outputs. */
typedef struct flat_tags { uint64_t tags; uint32_t n, at; } flat_tags;

typedef struct flat_tagged { uint32_t at; uint8_t tag; } flat_tagged;

/* Where Params are; `listed` is the last list of extra_params that they were put into. */
typedef struct flat_params_at { uint32_t at, listed; bool has_bytes; } flat_params_at;

/* An entry of an `extra`, beside undeclared keys. */
typedef enum extra_kind { EXTRA_ABSENT, EXTRA_ROW, EXTRA_OBJECT, EXTRA_TEXT } extra_kind;
typedef struct extra_item {
    xir_str    key;
    extra_kind kind;
    union {
        struct { const xir_field *row; const void *body; } row;
        const xir_object *object;
        xir_str text;
    } as;
} extra_item;

enum { FLAT_TEXTS_KEPT = 256, FLAT_TEXT_SHORT = 32, FLAT_TAGS_KEPT = 64, FLAT_TAGS_FEW = 8 };

/* What the rows of an op's table were for some attributes. Only of classes whose rows lead to nothing but objects,
 * which have their places anyway: so the file is the same whether or not ops share attributes. */
typedef struct flat_rows { const void *attrs; uint64_t over; flat_fields fields; } flat_rows;

typedef struct flat_writer {
    flat_builder          b;
    flat_schema           s;
    xir_context          *ctx;
    xir_network          *net;
    const format_writing *how;
    payload_plan          plan;
    json_sink             json;         /* of texts in slots */
    encoder               e;
    flat_last             last[256];    /* by the table's number                                     */
    flat_rows            *rows;         /* of the last op, by the table's number                     */
    size_t                n_rows;
    pointer_table         ref_of;       /* objects, enum words and values that nothing makes          */
    flat_ref             *refs;
    size_t                ref_room, n_refs;
    flat_bytes            texts[FLAT_TEXTS_KEPT];
    flat_tags             tags[FLAT_TAGS_KEPT];
    uint32_t              no_text, no_map, no_list;   /* "", "{}", a vector of nothing                */
    uint32_t             *outputs;      /* by the op's slot: its only output, or 1 + where in `many` they begin */
    size_t                n_outputs;
    uint32_t             *many;
    size_t                n_many, many_room;
    flat_params_at       *params;       /* by number                                                 */
    size_t                n_params;
    uint32_t              lists;        /* of extra_params so far                                    */
    flat_tagged          *list;         /* of vectors in the making, one above the other             */
    size_t                n_list, list_room;
    extra_item           *items;
    size_t                n_items, item_room;
    int64_t               expanded;     /* elements of distributions and arrays so far                 */
    uint8_t               tag_params, tag_value;
    uint32_t              value_height; /* of the highest value so far                               */
    uint32_t              depth, deepest;
    bool                  too_deep;     /* that is the limit which was met */
} flat_writer;

static inline bool flat_failed(const flat_writer *w) { return w->b.status != XIR_OK; }
void flat_fail(flat_writer *w, xir_status status);

/* ---- write_object.c: what is referred to ---------------------------------------------------------------------- */

/* "" and short texts are written once. */
uint32_t flat_text(flat_writer *w, xir_str text);
uint32_t flat_i64s(flat_writer *w, const int64_t *data, size_t n);

/* Vectors of tables are gathered above what is there and then taken off as one. */
void     flat_push(flat_writer *w, uint32_t at, uint8_t tag);
uint32_t flat_pop_tables(flat_writer *w, size_t from);
void     flat_pop_unions(flat_writer *w, size_t from, flat_fields *f, uint32_t slot);

/* Fills one slot that a row has. False if the slot cannot hold what the row has. */
bool flat_row(flat_writer *w, flat_fields *f, const flat_slot *slot, const void *body);
/* The same for an object, which may be NULL. */
bool flat_object(flat_writer *w, flat_fields *f, const flat_slot *slot, const xir_object *object);

/* Where something is that was remembered by its address; 0: it was not. */
uint32_t flat_noted(const flat_writer *w, const void *what);
void     flat_note(flat_writer *w, const void *what, uint32_t at);

uint32_t flat_put(flat_writer *w, const flat_table *t, const flat_fields *f);

/* Something of so many levels stands in the table. */
static inline void flat_over(flat_fields *f, uint32_t levels) {
    if (levels > f->height) f->height = levels;
}

/* Deeper into tables; false, and the writer has failed, if that is too deep. */
bool flat_deeper(flat_writer *w);

/* ---- write_op.c ------------------------------------------------------------------------------------------------ */

uint32_t flat_params(flat_writer *w, const xir_value *v);
uint32_t flat_value(flat_writer *w, const xir_value *v);   /* which is no Params */
uint32_t flat_op(flat_writer *w, const xir_op *op, uint8_t *tag, uint32_t *height);

/* ---- write_extra.c: JSON in slots ------------------------------------------------------------------------------- */

uint32_t flat_map(flat_writer *w, flat_fields *f, const xir_map *map);
/* Items are put in the order of their keys. */
void     flat_item(flat_writer *w, extra_item item);
/* Rows of a class that were left out or, by the bits of `over`, not held by their slots; `body` is theirs. And an op's
 * target that its slot does not hold, otherwise NULL. */
void     flat_row_items(flat_writer *w, const xir_class *cls, const void *body, uint64_t out, uint64_t over,
                        const xir_target *target);
/* The text of all items, which are then gone, and the undeclared keys, for the table of the fields; 0 if there is
 * nothing. */
uint32_t flat_extra(flat_writer *w, flat_fields *f, const xir_map *undeclared);
/* All rows of an op without a table, and its target if `target`. */
void     flat_all_items(flat_writer *w, const xir_op *op, uint64_t out, bool target);
/* The class and the rows of an object without a table. */
void     flat_all_object_items(flat_writer *w, const xir_object *object, uint64_t out);
/* Puts the Params in it on the list, each once. */
void     flat_list_any(flat_writer *w, const xir_any *any);
void     flat_list_row(flat_writer *w, const xir_field *row, const void *body);
void     flat_list_op(flat_writer *w, const xir_op *op);

#endif
