/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Writing the text. The lines of ops and values are the writer's own; what is inside of braces (attributes, tags,
 * objects) goes through the traversal that all formats share, into this sink. */
#ifndef SERIALIZE_TEXT_WRITER_H
#define SERIALIZE_TEXT_WRITER_H

#include "codec/codec.h"
#include "codec/known.h"
#include "format.h"
#include "text/words.h"

/* The places at which a line may be broken, by the brackets that it is inside of. Numbers and hexadecimal digits fill
 * lines. */
typedef enum text_group { GROUP_RESULTS, GROUP_INPUTS, GROUP_ATTRS, GROUP_TYPES, GROUP_FILL, GROUPS } text_group;
typedef struct text_break { size_t at; text_group group; } text_break;
enum { TEXT_LABELS = 8, TEXT_COLUMNS = 160, TEXT_INDENT = 2, TEXT_RECENT = 32 };

/* An object that occurs in the network, and how often its text would. */
typedef struct text_counted { const xir_object *object; uint32_t uses; } text_counted;

typedef struct text_writer {
    sink               sink;
    encoder            e;
    xir_context       *ctx;
    const xir_network *net;        /* NULL: an object of the context */
    buffer             out, line;
    xir_write_fn      *write;      /* NULL: everything stays in `out` */
    void              *user;
    uint32_t           depth, deepest;
    uint64_t           lists[CODEC_DEEPEST / 64 + 1];   /* bit d: at depth d a list is open */
    bool               is_part;    /* an op or a value alone: outside values are declared, ids are always there */
    bool               no_ids, is_inline, has_bytes;
    bool               rounds;        /* the network's reals are float32              */
    bool               short_reals;   /* so are those that come now: their shortest text reads back */
    int64_t            next_op, next_value;
    text_break        *breaks;
    size_t             n_breaks, break_room;
    bool               forced[GROUPS];
    /* what the first walk finds */
    text_table         names, params_names;   /* value 1: of one, 2: of several */
    bool               has_twins, has_params_twins;
    pointer_table      counted_at;
    text_counted      *counted;
    size_t             n_counted, counted_room;
    const xir_object  *last_counted;
    uint32_t           last_at;
    pointer_table      numbers;     /* ids of values without `#`, by value, if no_ids */
    int64_t            numbered;
    pointer_table      met;         /* values without a producer                      */
    uint64_t          *declared;    /* a bit for each Params: it has been written      */
    size_t             n_declared;
    known_items        known;       /* texts of objects, or the names of aliases        */
    text_table         aliases;
    const xir_class   *last_class;    /* whose word was written last */
    xir_str            last_word;
    const xir_object  *last_object;   /* that was known, and its text */
    xir_str            last_text;
    /* attributes of the last ops without Params and lists */
    struct { const void *attrs; const char *text; size_t size; } recent[TEXT_RECENT];
} text_writer;

xir_status text_fail(text_writer *w, xir_status code);   /* the sink has failed; the first status counts */

/* survey.c: the walk before writing: which names are unique, which objects occur twice; then the aliases. */
void text_survey(text_writer *w);
void text_put_aliases(text_writer *w);

/* write_object.c */
extern const sink_ops text_sink;
void text_put_str(text_writer *w, xir_str s);                 /* as it is   */
void text_put(text_writer *w, const char *words);
void text_put_quoted(text_writer *w, xir_str s);
void text_put_word(text_writer *w, xir_str s);                /* a NAME, or quoted */
void text_put_int(text_writer *w, int64_t v);
void text_put_class(text_writer *w, const xir_class *cls);
void text_put_object(text_writer *w, const xir_object *object, const xir_class *of);   /* NULL: null */
void text_put_type(text_writer *w, const xir_type *type);     /* of a value; NULL: none */
void text_put_map(text_writer *w, const xir_map *map);
/* "a=1, b=2" and the undeclared members: what differs from the defaults, and undeclared ones. Sub ops are left out. */
void text_put_members(text_writer *w, const xir_class *cls, const void *body, const xir_map *extra, uint64_t skip);
void text_may_break(text_writer *w, text_group group);

/* write_value.c */
void text_put_result(text_writer *w, const xir_value *v);
void text_put_input(text_writer *w, const xir_value *v);      /* NULL: _ */
/* "@label", and its declaration at the first use. */
void text_put_params(text_writer *w, const xir_value *v);
/* write_payload.c: " = [1,2]"; nothing if the bytes are in the raw file. */
void text_put_payload(text_writer *w, const xir_value *v);

/* write_op.c */
void text_put_op(text_writer *w, const xir_op *op, uint32_t level);

#endif
