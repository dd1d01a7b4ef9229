/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Shared by the files that make random networks. Every function appends to the text in the making. */
#ifndef SUPPORT_RANDOM_PARTS_H
#define SUPPORT_RANDOM_PARTS_H

#include <inttypes.h>
#include "graph.h"
#include "number.h"
#include "support/random_net.h"

/* A text that grows. */
typedef struct sheet { char *data; size_t size, room; } sheet;
void sheet_put(sheet *s, const void *data, size_t size);
void sheet_str(sheet *s, const char *text);
void sheet_print(sheet *s, const char *format, ...) XIR_PRINTF(2, 3);   /* short ones */

/* A value that has been made: every copy of it has the same text. */
typedef struct made_value {
    char   *text;
    size_t  size;
    bool    params, defined;   /* defined: it is an output of an op */
} made_value;

typedef struct rnd {
    uint64_t         state;
    xir_context     *ctx;
    random_counts   *counts;
    const xir_class **classes;      /* of the context */
    size_t           n_classes;
    sheet           *out;
    bool             old;           /* before 3.30: doubles                 */
    bool             single;        /* before 3.31: lists of one item without brackets */
    bool             payloads, loose, refusable, ambiguous;
    int              depth;         /* how many more levels objects may nest */
    made_value      *values;
    size_t           n_values, value_room;
    uint64_t         next_value, next_op;
    int              id_mode;
} rnd;

/* ---- random_any.c -------------------------------------------------------------------------------------------- */

uint64_t rnd_bits(rnd *r);
uint64_t rnd_below(rnd *r, uint64_t n);                      /* n > 0 */
static inline bool rnd_once_in(rnd *r, uint64_t n) { return rnd_below(r, n) == 0; }
int64_t  rnd_i64(rnd *r);                                    /* often at a border */
uint64_t rnd_u64(rnd *r);
double   rnd_double(rnd *r);                                 /* finite            */
float    rnd_float(rnd *r);                                  /* finite            */

/* Text in UTF-8 with everything that must be escaped, and a number, in the spelling of files. */
void   rnd_quote(rnd *r, const char *text, size_t size);
size_t rnd_words(rnd *r, char *out, size_t room);            /* not quoted */
void   rnd_text(rnd *r);
void   rnd_put_i64(rnd *r, int64_t v);
void   rnd_put_u64(rnd *r, uint64_t v);
void   rnd_put_double(rnd *r, double v);
void   rnd_put_float(rnd *r, float v);                       /* shortest, as in "@…" texts */
/* A value of a float row that the version keeps exactly. */
void   rnd_real(rnd *r);

/* A map in the making; its members may come in any order. */
typedef struct rnd_member { char key[64]; size_t key_size, at; } rnd_member;
typedef struct rnd_map { size_t start; rnd_member *members; size_t n, room; } rnd_map;
void rnd_map_open(rnd *r, rnd_map *m);
/* Begins a member: the next thing appended is its value. False if the map has the key already. */
bool rnd_map_key(rnd *r, rnd_map *m, const char *key, size_t size);
bool rnd_map_word(rnd *r, rnd_map *m, const char *key);
/* Sorts the members. */
void rnd_map_close(rnd *r, rnd_map *m);

/* Any value; Params of the network may be in it if they are allowed. */
void rnd_any(rnd *r, int depth, bool with_params);
void rnd_any_map(rnd *r, int depth, bool with_params);
/* A key that is not a row's; NULL if the random key is one. */
size_t rnd_free_key(rnd *r, char *out, size_t room);

/* ---- random_object.c ----------------------------------------------------------------------------------------- */

/* Any value that may be placed where this class is wanted (NULL: any). */
void rnd_object(rnd *r, const xir_class *of);
/* A row that is present; `in_op`: of an op. */
void rnd_row(rnd *r, const xir_field *f, bool in_op);
/* The name to write for a row or a class. */
void rnd_class_key(rnd *r, const xir_class *cls);
bool rnd_row_key(rnd *r, rnd_map *m, const xir_class *cls, uint32_t field);
size_t rnd_class_index(const rnd *r, const xir_class *cls);

/* ---- random_net.c -------------------------------------------------------------------------------------------- */

void rnd_params(rnd *r);        /* a use of existing Params, or of new ones */
void rnd_op(rnd *r, bool sub);

#endif
