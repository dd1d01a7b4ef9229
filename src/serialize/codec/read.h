/* What the files that read share; which of them has it stands above. */
#ifndef SERIALIZE_CODEC_READ_H
#define SERIALIZE_CODEC_READ_H

#include <inttypes.h>
#include "codec/codec.h"

/* ---- read.c ----------------------------------------------------------------------------------------------- */

/* A list of unknown length, growing in the scratch arena. */
typedef struct gathered { void *data; size_t size, room; } gathered;

void *gather_slow(decoder *d, gathered *g, size_t item);
/* One more item, uninitialised; NULL without memory, which is recorded. */
static inline void *gather(decoder *d, gathered *g, size_t item) {
    return g->size < g->room ? (char *)g->data + g->size++ * item : gather_slow(d, g, item);
}

/* Empties the scratch arena. */
void decoder_rewind(decoder *d);

/* What has been read of a map that has rows: bits of fields, and behind them of the other keys, and what is
 * undeclared. */
typedef struct members {
    uint64_t    few[4];
    uint64_t   *seen;
    gathered    extra;     /* xir_entry, in the order of the file */
    const void *at;        /* of the map                          */
} members;

bool     members_begin(decoder *d, source *s, members *m, const xir_class *cls);
uint64_t members_absent(const members *m, const xir_class *cls);
/* Notes that a key is there; twice is a failure. */
bool     members_note(decoder *d, const source *s, members *m, const xir_class *cls, int what, xir_str name);
static inline uint32_t member_bit(const xir_class *cls, int what) {
    return what >= 0 ? (uint32_t)what : cls->n_fields + (uint32_t)(-1 - what);
}

/* Steps to the next member of a map of the plan's class. 1: before its item; 0: behind the map; -1: failed. `next`
 * is the key that is likely, *what the field or KEY_…, KEY_NONE if no row knows the key. */
enum { KEY_NONE = -8 };
int next_member(source *s, const codec_plan *plan, bool first, uint32_t *next, xir_str *name, int *what);

/* Sorts the undeclared ones; none may be there twice. */
bool     sort_extra(decoder *d, const source *s, const void *at, gathered *extra, xir_map *out);
bool     add_extra(decoder *d, source *s, gathered *extra, xir_str key, bool with_params);
/* Records that a key of the map at `at` is there twice. Returns false. */
bool     key_again(decoder *d, const source *s, const void *at, xir_str key);

/* A map that the network keeps; NULL if it is empty. */
bool keep_map(decoder *d, const xir_map *from, const xir_map **out);

/* Reads a list, each item by a function; those here put the item into a gathered list. */
typedef bool item_fn(decoder *d, source *s, void *user);
bool each_item(decoder *d, source *s, item_fn *read, void *user);
item_fn item_bool, item_i64, item_real, item_text;

bool read_real(decoder *d, source *s, double *out);
/* "inf", "-inf" or "nan". */
bool special_real(xir_str text, double *out);
/* Rounds as the version of the network wants; a failure at `at` if a float32 cannot hold it. */
bool fit_real(decoder *d, const source *s, const void *at, double v, double *out);

/* Steps over the item that comes. False, without a failure, if it is not right. */
bool skip_item(decoder *d, source *s);

/* Values and maps without a class; with Params where the network's may be. */
bool any_in(decoder *d, source *s, xir_any *out, bool with_params);
bool decode_map(decoder *d, source *s, xir_map *out, bool with_params);

/* ---- object.c ---------------------------------------------------------------------------------------------- */

/* What nobody knows may stand where a whole family may, since what is done with one of a family asks first what it
 * is. */
bool object_fits(const xir_class *cls, const xir_class *of);
/* The interned object, or the failure. */
bool object_made(decoder *d, const xir_object *object, const xir_object **out);
/* Whether a body has all references that it needs. */
bool object_complete(decoder *d, const xir_class *cls, const void *body, uint64_t byte);
bool decode_field(decoder *d, source *s, const xir_field *f, void *body);
/* The same for an op's: its maps may have Params, as its undeclared attributes may. */
bool decode_op_field(decoder *d, source *s, const xir_field *f, void *body);

/* ---- value.c ----------------------------------------------------------------------------------------------- */

/* What a file says of a value. */
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
/* Notes an op's id; taken if the file has it already. False without memory. */
bool note_op_id(decoder *d, int64_t id, bool *taken);

/* So many ops are likely to come, each with a value. What cannot be had for that is taken as it is needed. */
void decoder_expect(decoder *d, size_t ops);

/* Reads a value's map, whose shape has been asked. */
bool read_value(decoder *d, source *s, codec_memo *likely, value_in *in);
/* The value that a use means: the one of this id, or a new one. */
bool use_value(decoder *d, source *s, const value_in *in, xir_value **out);
/* Makes output i of the op what the file says of it. */
bool define_value(decoder *d, source *s, xir_op *op, uint32_t i, const value_in *in);
/* Replaces an orphan by the value that has been defined under its id since then. */
bool refresh_value(decoder *d, xir_value **value);
bool decode_params(decoder *d, source *s, xir_value **out);

/* ---- op.c -------------------------------------------------------------------------------------------------- */

/* What a file says of an op, beside its attributes. */
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
    codec_memo       *output_memos;   /* RECENT of them, where the outputs were read; NULL: not to be recalled */
} op_in;

/* Makes the op of what the file says; `s` is for the places of findings. */
bool build_op(decoder *d, source *s, op_in *in, const void *body, const xir_map *extra, uint64_t absent, xir_op **out);

/* ---- network.c --------------------------------------------------------------------------------------------- */

/* Reads the members of a map of attributes, which has been entered: rows, and what is undeclared. */
bool read_attrs(decoder *d, source *s, codec_plan *plan, void *body, members *m, xir_str *name);
/* Takes over one of the network's texts; sets how reals are read with the version. */
bool keep_network_text(decoder *d, network_key key, xir_str text);

#endif
