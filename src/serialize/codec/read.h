/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Shared by the files that read. The section names say which file defines what. */
#ifndef SERIALIZE_CODEC_READ_H
#define SERIALIZE_CODEC_READ_H

#include <inttypes.h>
#include "codec/codec.h"

/* ---- read.c ----------------------------------------------------------------------------------------------- */

/* A list of unknown length that grows in the scratch arena. */
typedef struct gathered { void *data; size_t size, room; } gathered;

void *gather_slow(decoder *d, gathered *g, size_t item);
/* One more item, uninitialised; NULL if out of memory, which is recorded. */
static inline void *gather(decoder *d, gathered *g, size_t item) {
    return g->size < g->room ? (char *)g->data + g->size++ * item : gather_slow(d, g, item);
}

/* Empties the scratch arena. */
void decoder_rewind(decoder *d);

/* The members read so far of a map that has rows: bits of the fields, then bits of the other keys, and the undeclared
 * entries. */
typedef struct members {
    uint64_t    few[4];
    uint64_t   *seen;
    gathered    extra;     /* xir_entry, in file order */
    const void *at;        /* of the map                          */
} members;

bool     members_begin(decoder *d, source *s, members *m, const xir_class *cls);
uint64_t members_absent(const members *m, const xir_class *cls);
/* Marks a key as present; a second time is a failure. */
bool     members_note(decoder *d, const source *s, members *m, const xir_class *cls, int what, xir_str name);
static inline uint32_t member_bit(const xir_class *cls, int what) {
    return what >= 0 ? (uint32_t)what : cls->n_fields + (uint32_t)(-1 - what);
}

/* Steps to the next member of a map of the plan's class. 1: before its item; 0: after the map; -1: failed. `next` is
 * the likely key; *what becomes the field or KEY_…, KEY_NONE if no row has the key. */
enum { KEY_NONE = -8 };
int next_member(source *s, const codec_plan *plan, bool first, uint32_t *next, xir_str *name, int *what);

/* Sorts the undeclared entries; no key may appear twice. */
bool     sort_extra(decoder *d, const source *s, const void *at, gathered *extra, xir_map *out);
bool     add_extra(decoder *d, source *s, gathered *extra, xir_str key, bool with_params);
/* Records that a key of the map at `at` appears twice. Returns false. */
bool     key_again(decoder *d, const source *s, const void *at, xir_str key);

/* Copies a map for the network; NULL if it is empty. */
bool keep_map(decoder *d, const xir_map *from, const xir_map **out);

/* Reads a list, calling a function for each item; the functions below add the item to a gathered list. */
typedef bool item_fn(decoder *d, source *s, void *user);
bool each_item(decoder *d, source *s, item_fn *read, void *user);
item_fn item_bool, item_i64, item_real, item_text;

bool read_real(decoder *d, source *s, double *out);
/* "inf", "-inf" or "nan". */
bool special_real(xir_str text, double *out);
/* Rounds as the version of the network requires; a failure at `at` if a float32 cannot hold the number. */
bool fit_real(decoder *d, const source *s, const void *at, double v, double *out);

/* Steps over the next item. False, without a failure, if it is malformed. */
bool skip_item(decoder *d, source *s);

/* Classless values and maps; `with_params`: they may contain Params of the network. */
bool any_in(decoder *d, source *s, xir_any *out, bool with_params);
bool decode_map(decoder *d, source *s, xir_map *out, bool with_params);

/* ---- object.c ---------------------------------------------------------------------------------------------- */

/* An object of an unknown class fits any family of classes: code that uses a member of a family first asks which one
 * it is. */
bool object_fits(const xir_class *cls, const xir_class *of);
/* The interned object, or the failure. */
bool object_made(decoder *d, const xir_object *object, const xir_object **out);
/* Returns true if a body has all required references. */
bool object_complete(decoder *d, const xir_class *cls, const void *body, uint64_t byte);
bool decode_field(decoder *d, source *s, const xir_field *f, void *body);
/* The same for a row of an op: its maps may contain Params, as its undeclared attributes may. */
bool decode_op_field(decoder *d, source *s, const xir_field *f, void *body);

/* ---- value.c ----------------------------------------------------------------------------------------------- */

/* A value as a file describes it. */
typedef struct value_in {
    const void      *at;
    const xir_type  *type;
    const xir_mtype *mtype;    /* NULL: host */
    xir_str          name;
    xir_map          tags, extra;
    int64_t          id;
    bool             params, allow;
    uint32_t         seen;     /* bits of value_key */
} value_in;

bool read_id(decoder *d, source *s, const char *what, int64_t *out);
/* Records the id of an op. *taken is set if the file used it before. False if out of memory. */
bool note_op_id(decoder *d, int64_t id, bool *taken);

/* Returns true if nothing has these ids, so that an op and its output may have them, and the limit of ops is not
 * reached. */
bool decoder_is_new_slow(decoder *d, int64_t op_id, int64_t value_id);
static inline bool decoder_is_new(decoder *d, int64_t op_id, int64_t value_id) {
    if (op_id < 0 || op_id == INT64_MAX || value_id < 0 || value_id == INT64_MAX) return false;
    return d->n_ops < d->ctx->limits.max_ops && ((op_id > d->most_op_id && value_id > d->most_value_id) ||
                                                 decoder_is_new_slow(d, op_id, value_id));
}
/* Gives them to an op with one output, which the file describes at `at`. False without memory, which is recorded. */
bool decoder_take_new(decoder *d, xir_op *op, int64_t op_id, int64_t value_id, const void *at);

/* Expects so many ops, each with a value: reserves tables. Without the memory they grow as needed. */
void decoder_expect(decoder *d, size_t ops);

/* Reads a value's map, whose shape is known. */
bool read_value(decoder *d, source *s, codec_memo *likely, value_in *in);
/* The value that a use refers to: the one with this id, or a new one. */
bool use_value(decoder *d, source *s, const value_in *in, xir_value **out);
/* Defines output i of the op as the file says. */
bool define_value(decoder *d, source *s, xir_op *op, uint32_t i, const value_in *in);
/* Replaces an orphan by the value that has been defined under its id since. */
bool refresh_value(decoder *d, xir_value **value);
bool decode_params(decoder *d, source *s, xir_value **out);

/* ---- op.c -------------------------------------------------------------------------------------------------- */

/* An op as a file describes it, without its attributes. */
typedef struct op_in {
    codec_plan       *plan;
    const void       *at;
    const xir_target *target;    /* NULL: host */
    xir_str           name;
    int64_t           id;
    bool              has_id;
    xir_map           tags;
    gathered          inputs;    /* xir_value *             */
    gathered          outputs;   /* value_in                */
    gathered          types;     /* of the outputs          */
    codec_memo       *output_memos;   /* RECENT of them, of the outputs; NULL: not to be remembered */
} op_in;

/* Creates the op. `s` locates findings. */
bool build_op(decoder *d, source *s, op_in *in, const void *body, const xir_map *extra, uint64_t absent, xir_op **out);

/* ---- network.c --------------------------------------------------------------------------------------------- */

/* Stores a text of the network; the version also sets how reals are read. */
bool keep_network_text(decoder *d, network_key key, xir_str text);

#endif
