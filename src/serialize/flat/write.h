/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Shared by the files that write FlatBuffers. A referenced item is written before its first use, and once: objects are
 * remembered by their address, since a network has each once; values by their producer; texts by their bytes. Whatever
 * a slot cannot hold goes into the table's `extra`, as JSON. */
#ifndef SERIALIZE_FLAT_WRITE_H
#define SERIALIZE_FLAT_WRITE_H

#include "flat/build.h"
#include "flat/flat.h"
#include "flat/schema.h"
#include "json/json.h"
#include "raw/payload.h"

/* A distribution or array of more elements than this is written as its one-string form, which has runs. So is every
 * one, once this many elements have been expanded in total: a short text must not make a large file. */
#define FLAT_EXPANDED_MOST (INT64_C(1) << 20)
#define FLAT_EXPANDED_ALL  (INT64_C(1) << 24)

/* A table that was written. */
typedef struct flat_ref {
    const void *what;      /* the object or value                          */
    uint32_t    at;
    uint16_t    height;    /* levels it adds: see flat_levels              */
    uint8_t     number;    /* of its table in the schema                   */
    uint8_t     tag;       /* in the last union that held it               */
} flat_ref;

/* A text or a vector of bytes that was written; both have the same encoding. */
typedef struct flat_bytes { const uint8_t *bytes; uint32_t size, at; } flat_bytes;

/* A vector of the tags of a few inputs or outputs. */
typedef struct flat_tags { uint64_t tags; uint32_t n, at; } flat_tags;

typedef struct flat_tagged { uint32_t at; uint8_t tag; } flat_tagged;

/* The offset at which Params were written; `listed` is the last list of extra_params that has them. */
typedef struct flat_params_at { uint32_t at, listed; bool has_bytes; } flat_params_at;

/* The kind of an entry in `extra`, other than undeclared keys. */
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

/* The row fields of an op's table for some attributes. Only for classes whose rows refer to nothing but objects, which
 * are written once anyway: so the file does not depend on whether ops share attributes. */
typedef struct flat_rows { const void *attrs; uint64_t over; flat_fields fields; } flat_rows;

/* A table that was written, and may be copied: the next one with the same contents differs from it in few fields. Its
 * bytes do not move until the writer is freed. */
typedef struct flat_pattern {
    const void    *what[3];      /* what the contents follow from: see write_again.c                  */
    const uint8_t *bytes;        /* of the last copy; NULL: none                                       */
    uint32_t       at, size;
    uint32_t       height;       /* of the items that all copies refer to                              */
    uint8_t        tag;          /* of an op's table in the union of ops                               */
    uint8_t        levels;       /* see flat_levels                                                    */
    uint16_t       own[6];       /* places of the fields that each copy has for itself                 */
    uint16_t       n_shared;
    uint16_t       shared[FLAT_SLOTS];   /* places of the other offsets                                */
} flat_pattern;

enum { FLAT_PATTERNS = 64 };

/* Positions of a vector of tags and of a vector of tables. */
typedef struct flat_pair { uint32_t tags, tables; } flat_pair;

typedef struct flat_writer {
    flat_builder          b;
    flat_schema           s;
    xir_context          *ctx;
    xir_network          *net;
    const format_writing *how;
    payload_plan          plan;
    uint32_t              md5_at;       /* position of the text params_md5; 0: none                        */
    uint32_t              first_align;  /* of the first payload: the greatest one of all                    */
    json_sink             json;         /* for texts in slots */
    encoder               e;
    flat_last             last[256];    /* by table number                                           */
    flat_pattern          op_patterns[FLAT_PATTERNS], value_patterns[FLAT_PATTERNS];   /* by what they follow from */
    flat_rows            *rows;         /* of the last op, by table number                           */
    size_t                n_rows;
    pointer_table         ref_of;       /* objects, enum names and values without a producer          */
    flat_ref             *refs;
    size_t                ref_room, n_refs;
    flat_bytes            texts[FLAT_TEXTS_KEPT];
    flat_tags             tags[FLAT_TAGS_KEPT];
    uint32_t              no_text, no_map, no_list;   /* "", "{}", an empty vector                    */
    uint32_t             *outputs;      /* by the op's slot: its only output, or 1 + the index in `many` */
    size_t                n_outputs;
    uint32_t             *many;
    size_t                n_many, many_room;
    flat_params_at       *params;       /* by number                                                 */
    size_t                n_params;
    uint32_t              lists;        /* number of extra_params so far                             */
    flat_tagged          *list;         /* a stack of vectors being built                            */
    size_t                n_list, list_room;
    extra_item           *items;
    size_t                n_items, item_room;
    int64_t               expanded;     /* elements of distributions and arrays so far                 */
    uint8_t               tag_params, tag_value;
    uint32_t              value_height; /* of the highest value so far                               */
    uint32_t              depth, deepest;
    bool                  too_deep;     /* the limit that was reached is depth */
} flat_writer;

static inline bool flat_failed(const flat_writer *w) { return w->b.status != XIR_OK; }
void flat_fail(flat_writer *w, xir_status status);

/* ---- write_object.c: referenced items -------------------------------------------------------------------------- */

/* "" and short texts are written once. */
uint32_t flat_text(flat_writer *w, xir_str text);

/* The items of a vector of tables are pushed on a stack and then popped as one vector. */
void      flat_push_slow(flat_writer *w, flat_tagged item);
uint32_t  flat_pop_tables(flat_writer *w, size_t from);
flat_pair flat_pop_pair(flat_writer *w, size_t from);

static inline void flat_push(flat_writer *w, uint32_t at, uint8_t tag) {
    if (w->n_list < w->list_room) w->list[w->n_list++] = (flat_tagged){ at, tag };
    else flat_push_slow(w, (flat_tagged){ at, tag });
}
/* Sets the two slots of a vector of unions. */
static inline void flat_set_pair(flat_fields *f, uint32_t slot, flat_pair pair) {
    flat_set_at(f, slot, pair.tags);
    flat_set_at(f, slot + 1, pair.tables);
}

/* Fills the slot of a row. False if the slot cannot hold the row. */
bool flat_row(flat_writer *w, flat_fields *f, const flat_slot *slot, const void *body);
/* The same for an object, which may be NULL. */
bool flat_object(flat_writer *w, flat_fields *f, const flat_slot *slot, const xir_object *object);

/* The position of an item that was remembered by its address; 0: none. */
uint32_t flat_noted(const flat_writer *w, const void *what);
void     flat_note(flat_writer *w, const void *what, uint32_t at);

uint32_t flat_put(flat_writer *w, const flat_table *t, const flat_fields *f);

/* The table holds an item of so many levels. */
static inline void flat_over(flat_fields *f, uint32_t levels) {
    if (levels > f->height) f->height = levels;
}

/* Enters a table; false, and the writer has failed, if that is too deep. */
bool flat_deeper(flat_writer *w);

/* ---- write_op.c ------------------------------------------------------------------------------------------------ */

uint32_t flat_params(flat_writer *w, const xir_value *v);
uint32_t flat_value(flat_writer *w, const xir_value *v);   /* not Params */
uint32_t flat_op(flat_writer *w, const xir_op *op, uint8_t *tag, uint32_t *height);

/* ---- write_again.c: tables that are like an earlier one --------------------------------------------------------- */

/* The pattern with the same contents as the table of this op or value apart from its own fields, or one without bytes
 * that may be learnt; NULL if its contents follow from more than a pattern knows. */
flat_pattern *flat_op_pattern(flat_writer *w, const xir_op *op);
flat_pattern *flat_value_pattern(flat_writer *w, const xir_value *v);

/* Remembers the table at `at`, which has the fields `f`, as a pattern. own[i] are the slots of its own fields. Does
 * nothing if one of these is absent. */
void flat_learn(flat_writer *w, flat_pattern *p, const flat_fields *f, const uint16_t *own, uint32_t n, uint32_t at);

/* Writes a copy, whose own fields the caller sets. NULL after a failure; otherwise its position is p->at. */
uint8_t *flat_copy(flat_writer *w, flat_pattern *p);
static inline void flat_own64(uint8_t *table, const flat_pattern *p, uint32_t i, uint64_t v) {
    little_put64(table + p->own[i], v);
}
static inline void flat_own_at(uint8_t *table, const flat_pattern *p, uint32_t i, uint32_t at) {
    little_put32(table + p->own[i], p->at - p->own[i] - at);
}

/* ---- write_extra.c: JSON in slots ------------------------------------------------------------------------------- */

uint32_t flat_map(flat_writer *w, flat_fields *f, const xir_map *map);
uint32_t flat_plain_map(flat_writer *w, flat_fields *f, const xir_map *map);   /* of tags: without Params */
/* Add items in the order of their keys. */
void     flat_item(flat_writer *w, extra_item item);
/* Adds the rows of a class that were left out, or that their slots do not hold (the bits of `over`); `body` has the
 * rows. Also adds an op's target that its slot does not hold, otherwise NULL. */
void     flat_row_items(flat_writer *w, const xir_class *cls, const void *body, uint64_t out, uint64_t over,
                        const xir_target *target);
/* Writes the text of all items, which are then dropped, and of the undeclared keys into the table of the fields. 0:
 * nothing to write. */
uint32_t flat_extra(flat_writer *w, flat_fields *f, const xir_map *undeclared);
/* Adds all rows of an op without a table, and its target if `target`. */
void     flat_all_items(flat_writer *w, const xir_op *op, uint64_t out, bool target);
/* Adds the class and the rows of an object without a table. */
void     flat_all_object_items(flat_writer *w, const xir_object *object, uint64_t out);
/* Lists the Params inside, each once. */
void     flat_list_any(flat_writer *w, const xir_any *any);
void     flat_list_row(flat_writer *w, const xir_field *row, const void *body);
void     flat_list_op(flat_writer *w, const xir_op *op);

#endif
