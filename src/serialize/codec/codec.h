/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* One traversal for every format. The writer (write.c) tells a sink which item comes next; the reader (read.c) asks a
 * source which item is next. Writer and reader know rows, values, ops and networks, but no format. Sinks and sources
 * know one format, but no rows. A new format is one sink and one source.
 *
 * Keys are baked: once per run, each format may prepare the bytes of a key, so that writing a key is a fixed-size copy
 * and recognising one is a few compares. Objects repeat: a sink may remember how it wrote one, and a source can tell
 * whether the next bytes equal those at an earlier mark. Such objects are not encoded or decoded a second time. */
#ifndef SERIALIZE_CODEC_H
#define SERIALIZE_CODEC_H

#include <stdarg.h>
#include "graph.h"
#include "hash.h"
#include "number.h"
#include "utf8.h"

/* Nesting deeper than this is refused, whatever the limit of the context: readers and writers recurse. */
enum { CODEC_DEEPEST = 1024 };

/* ---- keys -------------------------------------------------------------------------------------------------- */

enum { BAKED = 24 };

typedef struct codec_key {
    xir_str          name;
    const xir_field *field;         /* of the row; NULL: the key of no row                            */
    int              what;          /* the number of the row, or one of KEY_…                         */
    uint8_t          size;          /* of `baked`; 0: too long to be baked                            */
    char             baked[BAKED];  /* as the format writes it, then zeros                            */
} codec_key;

/* Bakes a key into BAKED zeroed bytes. Returns the size; 0 if the key does not fit or needs escapes. */
typedef uint8_t bake_fn(xir_str name, char *out);

/* The bytes from which an object was read, and the object itself. */
typedef struct codec_memo {
    const void *start;   /* NULL: nothing yet */
    size_t      size;
    const void *object;
    uint32_t    members; /* of a stretch, in formats that count members */
} codec_memo;

enum { PLAN_SLOTS = 4 };

/* A run of bytes between two varying places in the last op of a class (or in the last value). The next op usually has
 * the same bytes there, and then they mean the same. A stretch ends before the item of a key, or with the map. */
typedef struct stretch {
    codec_memo memo;
    uint64_t   seen;    /* bits of its keys, as in members */
    uint32_t   next;    /* the key that is likely next      */
    int        what;    /* the key whose item follows       */
} stretch;
/* Stretches begin at the start of the map, and after inputs, name, op_id and outputs. */
enum { STRETCHES = 5 };

/* The inputs and outputs of the last ops of a class: those of the next op are often the same. */
typedef struct codec_recent {
    codec_memo inputs[PLAN_SLOTS], input_types[PLAN_SLOTS], output_types[PLAN_SLOTS];
} codec_recent;

/* The keys of a class in the order in which they are written, without old ones. */
typedef struct codec_plan {
    const xir_class   *cls;
    codec_key         *keys;
    uint32_t           n_keys;
    codec_recent      *recent;        /* not NULL                                  */
    stretch           *stretches;     /* STRETCHES of them; NULL: not remembered   */
    void              *last_body;     /* of a plain class; set with last_attrs     */
    const void        *last_attrs;
    const xir_target  *last_target;
} codec_plan;

/* A file may have as many classes as ops. Finding a plan costs the same for all of them; later plans remember less. */
typedef struct codec_plans {
    arena        *arena;
    bake_fn      *bake;
    pointer_table by_class;      /* to indices in `plans`; uses the arena's allocator   */
    codec_plan  **plans;
    size_t        room;
    codec_key    *opaque_keys;   /* of all classes that nobody registered; NULL: not made yet */
    codec_recent *shared;        /* by later plans; NULL: not needed yet                      */
    codec_plan   *late;          /* of all later op classes that nobody registered; NULL: none */
} codec_plans;

void codec_plans_init(codec_plans *plans, arena *keep, bake_fn *bake);
void codec_plans_free(codec_plans *plans);

/* The plan of a class, made at its first use; NULL if out of memory. */
codec_plan *codec_plan_of(codec_plans *plans, const xir_class *cls);
void        codec_bake(codec_key *key, bake_fn *bake, const char *text, int what);

/* The keys of a network in written order. Their numbers are the bits of xir_network.absent. ORDER NETWORK: codec.c */
typedef enum network_key {
    NETWORK_TYPE, NETWORK_AI_TARGET, NETWORK_FRAMEWORK, NETWORK_FRAMEWORK_VERSION, NETWORK_ICRAFT_VERSION,
    NETWORK_XIR_VERSION, NETWORK_NAME, NETWORK_OPS, NETWORK_PARAMS_BYTES, NETWORK_PARAMS_MD5, NETWORK_TAGS, NETWORK_KEYS
} network_key;
extern const char *const network_keys[NETWORK_KEYS];
/* Another bit of xir_network.absent: the file predates ai_target, and had one. */
#define NETWORK_HAD_AI_TARGET (UINT32_C(1) << 31)
/* The text that a network key stands for, XIR_TEXT_COUNT for the others. */
xir_network_text network_key_text(network_key key);

/* The keys of a value in written order; plain Values begin with the second. ORDER VALUE: codec.c */
typedef enum value_key {
    VALUE_ALLOW, VALUE_TYPE, VALUE_DTYPE, VALUE_MTYPE, VALUE_NAME, VALUE_TAGS, VALUE_ID, VALUE_KEYS
} value_key;
extern const char *const value_keys[VALUE_KEYS];

extern const xir_str network_class_key, value_class_key, params_class_key;

static inline bool version_before(const uint32_t version[4], uint32_t major, uint32_t minor) {
    return version[0] != major ? version[0] < major : version[1] < minor;
}

/* ---- sinks ------------------------------------------------------------------------------------------------- */

typedef struct sink sink;

/* After a failure, which sets `status`, every call does nothing. */
typedef struct sink_ops {
    bake_fn *bake;
    void (*key)(sink *s, const codec_key *key);
    void (*name)(sink *s, xir_str key);                    /* a key that no row declares                 */
    void (*null)(sink *s);
    void (*boolean)(sink *s, bool v);
    void (*integer)(sink *s, int64_t v);
    void (*uinteger)(sink *s, uint64_t v);
    void (*real)(sink *s, double v);
    void (*text)(sink *s, xir_str v);
    void (*bytes)(sink *s, const void *data, uint64_t size);
    void (*list)(sink *s, size_t n);
    void (*map)(sink *s, const xir_class *cls, size_t n);  /* `cls` NULL: classless, or a value          */
    void (*end)(sink *s);
    /* An object whose class has a one-string form. NULL: the sink wants its rows. */
    void (*form)(sink *s, const xir_object *object);
    /* An interned object is next. SINK_DONE: the sink has written it before and repeats it now. Otherwise the
     * caller writes it, then passes the returned number to `learn`. */
    size_t (*begin)(sink *s, const xir_object *object);
    void   (*learn)(sink *s, const xir_object *object, size_t begun);
    /* The same for a value. A value is written in full at each use, usually soon after its definition. */
    size_t (*begin_value)(sink *s, const xir_value *value);
    void   (*learn_value)(sink *s, const xir_value *value, size_t begun);
    /* An op is complete: a good moment to flush. */
    void (*piece)(sink *s);
    /* For a sink whose bytes of a member depend on nothing but the member and its depth: where it appends them, so that
     * members that were written before can be copied. NULL: it does not. */
    buffer *(*out)(sink *s);
    void (*bare)(sink *s, int64_t v);                      /* an integer without what `after` counts     */
    size_t after;                                          /* bytes after an item that `end` takes away  */
    /* An item of so many levels stands here, copied. Returns the levels of what was written since begin_value. NULL:
     * the sink does not count them. */
    uint32_t (*nest)(sink *s, uint32_t levels);
} sink_ops;

#define SINK_DONE SIZE_MAX

struct sink {
    const sink_ops *ops;
    xir_status      status;
    xir_str         malformed;   /* XIR_E_INVALID: a text that is not UTF-8, as all texts in files are */
};

/* Returns true if a text can be written; otherwise the sink has failed. */
static inline bool sink_takes(sink *s, xir_str text) {
    if (utf8_is_text(text.data, text.size)) return true;
    if (s->status) return false;
    s->status = XIR_E_INVALID;
    s->malformed = text;
    return false;
}

/* ---- writing ----------------------------------------------------------------------------------------------- */

typedef struct encoder encoder;

/* Network keys that only this format has, written at their place in the order. */
typedef struct encoder_more {
    const char *key;                          /* sorts after `ops` and before `params_bytes`                    */
    void (*write)(encoder *e, void *user);
    void *user;
    const struct encoder_more *next;          /* the key after it                                               */
} encoder_more;

/* Bytes that were written, kept to be copied. */
typedef struct encoder_kept { char *bytes; size_t size, room; } encoder_kept;

/* The members of an op that follow from its attributes, class and target. Others stand between these pieces. */
typedef struct encoder_run {
    const void  *what[3];
    encoder_kept kept;
    uint32_t     ends[STRETCHES], next[STRETCHES];   /* of piece i: where it ends in `kept`, the key after it   */
    bool         is_known;
} encoder_run;

/* A value in host memory without name, tags and undeclared keys follows from its type, its id apart. */
typedef struct encoder_alike {
    const xir_type *type;
    encoder_kept    kept;
    size_t          before;          /* bytes before the id            */
    uint32_t        levels;
    bool            is_known;
} encoder_alike;

enum { ENCODER_RUNS = 64, ENCODER_ALIKE = 32 };
typedef struct encoder_again { encoder_run runs[ENCODER_RUNS]; encoder_alike alike[ENCODER_ALIKE]; } encoder_again;

struct encoder {
    sink              *sink;
    xir_context       *ctx;
    arena              arena;
    codec_plans        plans;
    codec_key          network[NETWORK_KEYS], value[VALUE_KEYS];
    const encoder_more *more;
    const xir_network *net;          /* NULL: objects of the context, newest version   */
    bool               single;       /* XIR_FIELD_SINGLE lists are written as one item */
    encoder_again     *again;        /* made for the network's list of ops; NULL: not made                       */
    bool               repeats;      /* what is next is an op of that list, or a value of one                    */
    bool               plain;        /* in tags, and in undeclared keys of values and networks: Params are refused,
                                        XIR_E_UNSUPPORTED, because readers would make maps of them            */
};

void encoder_init(encoder *e, xir_context *ctx, const xir_network *net, sink *s);
void encoder_free(encoder *e);

/* Each writes one item to the sink, whose status says whether it succeeded. Objects and values may be NULL. */
void encode_object(encoder *e, const xir_object *object);
void encode_op(encoder *e, const xir_op *op);
void encode_value(encoder *e, const xir_value *value);
void encode_any(encoder *e, const xir_any *any);
/* The sentences of refusals: of Params among plain data, and of a text that is not UTF-8. */
extern const char codec_plain_only[];
xir_status codec_malformed(xir_diags *why, const char *path, xir_str text);
void encode_field(encoder *e, const xir_field *f, const void *at);   /* `at`: address of the row in its body */
void encode_network(encoder *e, uint64_t params_bytes, xir_str params_md5);

/* write_again.c: true if the sink's bytes can be copied, and there is memory for that. */
bool encoder_may_repeat(encoder *e);
/* The record of what an op or a value repeats, which is known or is to be learnt; NULL if it repeats nothing. Call
 * encoder_may_repeat before. */
encoder_run   *encoder_run_of(encoder *e, const xir_op *op);
encoder_alike *encoder_alike_of(encoder *e, const xir_value *v);
/* Appends bytes that the sink has written to those that are kept; and writes bytes. False without memory: then nothing
 * is kept, or the sink has failed. False also for more bytes than are kept. */
bool encoder_keep(encoder *e, encoder_kept *kept, size_t begun, size_t end);
bool encoder_put(encoder *e, const char *bytes, size_t size);
/* Writes a value of a known shape. */
void encoder_put_value(encoder *e, const encoder_alike *alike, const xir_value *v);

/* An object, an op or a value, as `kind` says. */
typedef struct format_part format_part;
void encode_part(encoder *e, const format_part *part);

/* The rows of `absent` that still hold their default: they stay absent. */
uint64_t codec_left_out(const xir_class *cls, const void *body, uint64_t absent);
/* Returns true if an object has its declared attributes and no others: a text may spell a scalar as the bare number. */
bool codec_is_bare(const xir_object *object);
/* Returns true if a key of the network is written. A key that the file did not have is left out until it is set. */
bool codec_has_key(const xir_network *net, network_key key, uint64_t params_bytes, xir_str params_md5);

/* ---- place in the input ------------------------------------------------------------------------------------ */

/* A map or list being read, with the current key or index. Frames live on the C stack. */
typedef struct frame {
    const struct frame *up;
    xir_str             key;
    size_t              index;    /* SIZE_MAX: see `key` */
} frame;

typedef struct trace trace;
struct trace {
    xir_context *ctx;
    xir_diags   *why;
    xir_str      file;
    const frame *top;
    xir_status   status;          /* of the first failure */
    xir_str      text;            /* for lines and columns; without data: none */
};

/* Records the first failure with path, byte, line and column. Later failures are consequences and are dropped.
 * Returns false. */
bool trace_fail(trace *t, xir_status code, uint64_t byte, const char *format, ...) XIR_PRINTF(4, 5);
bool trace_failv(trace *t, xir_status code, uint64_t byte, const char *format, va_list args) XIR_PRINTF(4, 0);
bool trace_memory(trace *t);
/* Appends the JSON pointer of a frame. */
void trace_path(buffer *out, const frame *f);

/* ---- sources ----------------------------------------------------------------------------------------------- */

typedef enum shape {
    SHAPE_NONE,    /* no item: the failure is recorded */
    SHAPE_NULL, SHAPE_BOOL, SHAPE_NUMBER, SHAPE_TEXT, SHAPE_BYTES, SHAPE_LIST, SHAPE_MAP
} shape;

/* "a number": for messages. */
const char *shape_words(shape s);

typedef struct source source;
typedef struct decoder decoder;

/* A source is a cursor before an item: `at` is the first byte of the item, and copying the struct copies the position.
 * Every call that returns false has recorded a failure, unless it says otherwise. */
typedef struct source_ops {
    bake_fn *bake;
    shape (*shape)(source *s);
    bool (*null)(source *s);
    bool (*boolean)(source *s, bool *out);
    bool (*integer)(source *s, int64_t *out);
    bool (*number)(source *s, number *out);
    bool (*text)(source *s, xir_str *out);          /* in the input or in the scratch arena                   */
    bool (*params)(source *s, xir_value **out);     /* true if the item is Params already. May be NULL         */
    /* Reads an object in the format's own spelling. NULL: the format has texts and maps for them.            */
    bool (*object)(decoder *d, source *s, const xir_class *of, const xir_object **out);
    /* Enters a map or list, whose shape is known. Then key (or key_is) and item step to the members; `first`
     * is true for the first of them. They return 1 before an item, 0 at the end of the list or map, -1 after a
     * failure. */
    bool (*enter)(source *s);
    int  (*key)(source *s, bool first, xir_str *out);
    int  (*item)(source *s, bool first);
    /* Steps to the item of this key if it is next. Otherwise false, without a failure. */
    bool (*key_is)(source *s, bool first, const codec_key *key);
    /* The text under a key of the next map. False, without a failure, if the key is missing or is not a text. The
     * cursor stays. Anything that the source does not understand is left for later. */
    bool (*member)(const source *s, xir_str key, xir_str *out);
    /* Steps over members if they equal the memo's bytes. The memo must begin at the start of a map or after a
     * member. Then the item of the last key follows, or whatever may follow a member. Otherwise false, without a
     * failure. */
    bool (*skip_members)(source *s, const codec_memo *memo);
    /* Returns true if the next item has exactly the memo's encoding; if so, steps over it. Records no failure. */
    bool (*repeats)(source *s, const codec_memo *memo);
    /* The extent of the next item and a hash of its encoding. False, without a failure, if they cannot be had. */
    bool (*fingerprint)(const source *s, codec_memo *out, uint64_t *hash);
    uint64_t (*offset)(const source *s, const void *at);
    /* Steps over the next item, of any shape. May be NULL: then the item is read as a classless value. */
    void (*skip)(source *s);
} source_ops;

struct source {
    const source_ops *ops;
    const void       *at, *end;
    const void       *start;      /* of the input                    */
    trace            *trace;
    arena            *scratch;    /* for texts that the input escapes or splits     */
    uint32_t          depth, deepest;
    uint32_t          left;       /* members to come, in formats that count them instead of marking the end */
    void             *state;      /* private to the source; copies share it, so only one copy may go on */
};

/* Hash of the encoding of an item, for fingerprints. */
uint64_t codec_hash(const char *item, size_t size);

static inline uint64_t source_here(const source *s) { return s->ops->offset(s, s->at); }
static inline codec_memo source_memo(const source *s, const void *start, const void *object) {
    return (codec_memo){ start, (size_t)((uintptr_t)s->at - (uintptr_t)start), object, 0 };
}

static inline codec_memo source_stretch(const void *start, const void *end, uint32_t members) {
    return (codec_memo){ start, (size_t)((uintptr_t)end - (uintptr_t)start), NULL, members };
}

/* Records a failure at a place. Returns false. */
bool source_fail(const source *s, const void *at, xir_status code, const char *format, ...) XIR_PRINTF(4, 5);
/* Records that the input has something else than `what` here. Returns false. */
bool source_expected(source *s, const char *what);

/* ---- reading ----------------------------------------------------------------------------------------------- */

/* A value of the network by its id, and where it was first seen. */
typedef struct seen_value { int64_t id; xir_value *value; const void *at; } seen_value;

/* Maps ids to indices of a list. The hash keeps neighbours together, since ids usually grow. */
typedef struct seen_table {
    uint32_t *slots;         /* index + 1; 0: free                         */
    size_t    room, count;   /* `count` items of the list are entered     */
} seen_table;

enum { RECENT = 4, FORMS = 512 };

/* A stretch of a value's members. Its name is empty and it has no tags. */
typedef struct value_stretch {
    codec_memo       memo;
    uint32_t         seen;
    bool             params, allow;
    const xir_mtype *mtype;
} value_stretch;

typedef struct form_memo { xir_str text; const xir_object *object; } form_memo;
typedef struct object_memo { codec_memo memo; uint64_t hash; } object_memo;

/* An op created in a network that existed before reading. */
typedef struct made_op { xir_op *op; struct made_op *before; } made_op;
/* A value of such a network without a producer so far, and the value that it turned out to be. */
typedef struct adopted { xir_value *orphan, *value; struct adopted *before; } adopted;

/* Handles a key of the network that only one format has: sets *taken and reads the item, or leaves both. */
typedef bool decoder_key_fn(decoder *d, source *s, xir_str key, bool *taken, void *user);

struct decoder {
    trace            trace;
    xir_context     *ctx;
    xir_network     *net;             /* NULL: an object for the context */
    object_pool     *pool;
    source           root;            /* at the beginning: to find the path of a byte */
    bool             round;           /* round reals to float32 */
    bool             existing;        /* the network existed before; its state then: */
    xir_value       *old_params;
    uint32_t         old_n_params;
    int64_t          old_next_op_id, old_next_value_id;
    made_op         *made;
    bool             adopts;          /* new values may resolve orphans of the network */
    adopted         *adopted;
    arena            keep;            /* for plans: lives as long as the decoder */
    arena            scratch;         /* emptied after each op */
    /* a stack of bytes: items of classless lists and maps whose end has not come yet */
    char            *open;
    size_t           open_size, open_room;
    uint64_t         n_ops;           /* that were read, those inside others too: xir_limits.max_ops */
    uint64_t         values_left;     /* how many more classless values are allowed: xir_limits.max_values */
    bool             has_size;        /* of the input: values_left is known */
    void            *scratch_chunk;
    char            *scratch_next;
    codec_plans      plans;
    codec_key        value[VALUE_KEYS];
    codec_memo       recent_values[RECENT], recent_types[RECENT];
    codec_plan      *recent_plans[RECENT];
    uint32_t         next_plan;
    value_stretch    value_begin[3], value_middle;   /* up to dtype, of Value and Params; dtype to v_id */
    uint32_t         next_value, next_type;
    object_memo     *objects;         /* open addressing */
    size_t           object_room, object_count;
    form_memo        forms[FORMS];
    seen_value      *values;
    size_t           n_values, value_room;
    seen_table       value_table;
    int64_t         *op_ids;
    size_t           n_op_ids, op_id_room;
    seen_table       op_table;
    int64_t          most_op_id, most_value_id;
    uint64_t         seed;
    decoder_key_fn  *other_key;
    void            *user;
};

/* `file` names the input in findings. `text` is the input if it has lines. `net` NULL creates objects of the
 * context. */
void decoder_init(decoder *d, xir_context *ctx, xir_network *net, const source_ops *ops, xir_str file, xir_str text,
                  xir_diags *why);
void decoder_free(decoder *d);
/* Points a source at the beginning of an input. */
void decoder_source(decoder *d, source *s, const source_ops *ops, const void *data, size_t size);

/* Each reads the next item; false with a finding. The caller checks that nothing follows. */
/* into the scratch arena; of duplicate keys the last one counts */
bool decode_any(decoder *d, source *s, xir_any *out);
bool decode_object(decoder *d, source *s, const xir_class *of, const xir_object **out);
/* into d->net, unordered                                  */
bool decode_op(decoder *d, source *s, xir_op **out);
/* into d->net, which is new and not shared                */
bool decode_network(decoder *d, source *s);

/* Reads an object, an op or a value alone. It must be the whole input, which `at_end` checks. A failure undoes
 * everything. */
bool decode_part(decoder *d, source *s, format_part *part, bool (*at_end)(source *s));

/* Reads a map of attributes into an existing op, whose class becomes `cls`. On failure the op is unchanged. */
bool decode_attrs(decoder *d, source *s, xir_op *op, const xir_class *cls);

/* Call before reading into a network that others refer to: its values are then found by their ids. */
void decoder_join(decoder *d, const source *s);
/* After a failure: forgets everything that was created. */
void decoder_undo(decoder *d);

#endif
