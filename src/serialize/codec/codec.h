/* One traversal for every format. Who writes a network (write.c) tells a sink what comes; who reads one (read.c) asks a
 * source what is there. The two know rows, values, ops and networks, and no format; sinks and sources know a format and
 * no row. A new format is one sink and one source.
 *
 * Keys come baked: each format may prepare the bytes of a key once a run, so that writing one is a fixed move and
 * recognising one a few compares. Objects repeat: a sink may remember how it wrote one, and a source can tell
 * whether what comes is, byte for byte, what came before at a mark; the same objects are then not encoded or decoded
 * again. */
#ifndef SERIALIZE_CODEC_H
#define SERIALIZE_CODEC_H

#include <stdarg.h>
#include "graph.h"
#include "hash.h"
#include "number.h"

/* Whatever limit a context has, nesting deeper than this is refused: readers and writers recurse. */
enum { CODEC_DEEPEST = 1024 };

/* ---- keys -------------------------------------------------------------------------------------------------- */

enum { BAKED = 24 };

typedef struct codec_key {
    xir_str          name;
    const xir_field *field;         /* of the row; NULL: another key                                  */
    int              what;          /* the row's number, or one of KEY_…                              */
    uint8_t          size;          /* of `baked`; 0: too long to be baked                            */
    char             baked[BAKED];  /* as the format writes it, zeros behind                          */
} codec_key;

/* Bakes a key into BAKED zeroed bytes; 0 if it does not fit or is not that simple. */
typedef uint8_t bake_fn(xir_str name, char *out);

/* Where an object was read from, and what came of it. */
typedef struct codec_memo {
    const void *start;   /* NULL: nothing yet */
    size_t      size;
    const void *object;
    uint32_t    members; /* how many members a stretch has, where a format counts them */
} codec_memo;

enum { PLAN_SLOTS = 4 };

/* What stood in a row between two places of the last op of a class (or of the last value) that differ from one to
 * the next: mostly the same bytes stand there again, and then mean the same. It ends before the item of a key, or
 * with the map. */
typedef struct stretch {
    codec_memo memo;
    uint64_t   seen;    /* bits of the keys in it, as in members */
    uint32_t   next;    /* which key comes next                  */
    int        what;    /* whose item follows                    */
} stretch;
/* Places that differ: behind the beginning, inputs, name, op_id, outputs. */
enum { STRETCHES = 5 };

/* What the inputs and outputs of the last ops of a class were: those of the next one are often the same. */
typedef struct codec_recent {
    codec_memo inputs[PLAN_SLOTS], input_types[PLAN_SLOTS], output_types[PLAN_SLOTS];
} codec_recent;

/* The keys of a class in the order in which they are written, without old ones. */
typedef struct codec_plan {
    const xir_class   *cls;
    codec_key         *keys;
    uint32_t           n_keys;
    codec_recent      *recent;        /* not NULL                                  */
    stretch           *stretches;     /* STRETCHES of them; NULL: none is recalled */
    void              *last_body;     /* of a plain class; there if last_attrs are */
    const void        *last_attrs;
    const xir_target  *last_target;
} codec_plan;

/* A file may have as many classes as ops: finding the plan of one costs the same, and later ones recall less. */
typedef struct codec_plans {
    arena        *arena;
    bake_fn      *bake;
    pointer_table by_class;      /* to places in `plans`; the allocator is the arena's */
    codec_plan  **plans;
    size_t        room;
    codec_key    *opaque_keys;   /* of all classes that nobody registered; NULL: not made yet */
    codec_recent *shared;        /* by plans that came late; NULL: there are none             */
    codec_plan   *late;          /* of all such classes of ops that came late; NULL: none has */
} codec_plans;

void codec_plans_init(codec_plans *plans, arena *keep, bake_fn *bake);
void codec_plans_free(codec_plans *plans);

/* The plan of a class, made on first sight; NULL without memory. */
codec_plan *codec_plan_of(codec_plans *plans, const xir_class *cls);
void        codec_bake(codec_key *key, bake_fn *bake, const char *text, int what);

/* The keys of a network in written order; their numbers are the bits of xir_network.absent. ORDER NETWORK: codec.c */
typedef enum network_key {
    NETWORK_TYPE, NETWORK_AI_TARGET, NETWORK_FRAMEWORK, NETWORK_FRAMEWORK_VERSION, NETWORK_ICRAFT_VERSION,
    NETWORK_XIR_VERSION, NETWORK_NAME, NETWORK_OPS, NETWORK_PARAMS_BYTES, NETWORK_PARAMS_MD5, NETWORK_TAGS, NETWORK_KEYS
} network_key;
extern const char *const network_keys[NETWORK_KEYS];
/* A bit of xir_network.absent beside them: the file was older than ai_target, and had one. */
#define NETWORK_HAD_AI_TARGET (UINT32_C(1) << 31)
/* The text that a network key stands for, XIR_TEXT_COUNT for the others. */
xir_network_text network_key_text(network_key key);

/* The keys of a value in written order; ordinary values begin with the second. ORDER VALUE: codec.c */
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
    void (*name)(sink *s, xir_str key);                    /* of what no row declares                    */
    void (*null)(sink *s);
    void (*boolean)(sink *s, bool v);
    void (*integer)(sink *s, int64_t v);
    void (*uinteger)(sink *s, uint64_t v);
    void (*real)(sink *s, double v);
    void (*text)(sink *s, xir_str v);
    void (*bytes)(sink *s, const void *data, uint64_t size);
    void (*list)(sink *s, size_t n);
    void (*map)(sink *s, const xir_class *cls, size_t n);  /* `cls` NULL: of no class, or a value        */
    void (*end)(sink *s);
    /* An object of a class with a one-string spelling. NULL: its rows are wanted. */
    void (*form)(sink *s, const xir_object *object);
    /* An interned object comes. Either it was met before and is written here (SINK_DONE), or it is to be written
     * now and then given to `learn` with the number that came back. */
    size_t (*begin)(sink *s, const xir_object *object);
    void   (*learn)(sink *s, const xir_object *object, size_t begun);
    /* The same for a value, which is written in full wherever it is used: mostly soon after it was made. */
    size_t (*begin_value)(sink *s, const xir_value *value);
    void   (*learn_value)(sink *s, const xir_value *value, size_t begun);
    /* An op is complete: a good moment to hand bytes on. */
    void (*piece)(sink *s);
} sink_ops;

#define SINK_DONE SIZE_MAX

struct sink {
    const sink_ops *ops;
    xir_status      status;
};

/* ---- writing ----------------------------------------------------------------------------------------------- */

typedef struct encoder encoder;

/* What a format has in a network beside what all formats have: more keys, written at their place. */
typedef struct encoder_more {
    const char *key;                          /* must come after `ops`; stands before `params_bytes`            */
    void (*write)(encoder *e, void *user);
    void *user;
    const struct encoder_more *next;          /* the key that stands behind it                                  */
} encoder_more;

struct encoder {
    sink              *sink;
    xir_context       *ctx;
    arena              arena;
    codec_plans        plans;
    codec_key          network[NETWORK_KEYS], value[VALUE_KEYS];
    const encoder_more *more;
    const xir_network *net;          /* NULL: objects of the context, newest spelling  */
    bool               single;       /* XIR_FIELD_SINGLE lists are spelled as one item */
};

void encoder_init(encoder *e, xir_context *ctx, const xir_network *net, sink *s);
void encoder_free(encoder *e);

/* Each writes one item to the sink, whose status says whether it worked. Objects and values may be NULL. */
void encode_object(encoder *e, const xir_object *object);
void encode_op(encoder *e, const xir_op *op);
void encode_value(encoder *e, const xir_value *value);
void encode_any(encoder *e, const xir_any *any);
void encode_field(encoder *e, const xir_field *f, const void *at);   /* `at`: where the row lies in its body */
void encode_network(encoder *e, uint64_t params_bytes, xir_str params_md5);

/* An object, an op or a value, as `kind` says. */
typedef struct format_part format_part;
void encode_part(encoder *e, const format_part *part);

/* The rows of `absent` that still hold their default: they stay absent. */
uint64_t codec_left_out(const xir_class *cls, const void *body, uint64_t absent);
/* Whether a key of the network is written: what the file did not have is left out until it is set. */
bool codec_has_key(const xir_network *net, network_key key, uint64_t params_bytes, xir_str params_md5);

/* ---- where reading is -------------------------------------------------------------------------------------- */

/* A map or list being read, on the C stack, and the key or index of what is being read in it. */
typedef struct frame {
    const struct frame *up;
    xir_str             key;
    size_t              index;    /* SIZE_MAX: the key counts */
} frame;

typedef struct trace trace;
struct trace {
    xir_context *ctx;
    xir_diags   *why;
    xir_str      file;
    const frame *top;
    xir_status   status;          /* of the first failure */
    xir_str      text;            /* for lines and columns; without data there are none */
};

/* Records the first failure with the path, the byte, line and column; later ones are consequences and are dropped.
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

/* "a number", for sentences. */
const char *shape_words(shape s);

typedef struct source source;

/* A source is a cursor before an item: `at` is the item's first byte, and copying the struct copies the place. Every
 * call that returns false has recorded a failure, unless it says otherwise. */
typedef struct source_ops {
    bake_fn *bake;
    shape (*shape)(source *s);
    bool (*null)(source *s);
    bool (*boolean)(source *s, bool *out);
    bool (*integer)(source *s, int64_t *out);
    bool (*number)(source *s, number *out);
    bool (*text)(source *s, xir_str *out);          /* in the input, or in the scratch arena                   */
    bool (*params)(source *s, xir_value **out);     /* Params that are there as such: then true. May be NULL   */
    /* Into a map or list, whose shape has been asked. Then key (or key_is) and item step to the members: `first` is
     * true for the first of them. They return 1 before an item, 0 behind the end of the list or map, -1 after a
     * failure. */
    bool (*enter)(source *s);
    int  (*key)(source *s, bool first, xir_str *out);
    int  (*item)(source *s, bool first);
    /* Steps to the item of this key if it is the next one; false otherwise, without a failure. */
    bool (*key_is)(source *s, bool first, const codec_key *key);
    /* The text under a key of the map that comes; false, without a failure, if there is none or it is no text. The
     * cursor stays. What the source does not understand is left for later. */
    bool (*member)(const source *s, xir_str key, xir_str *out);
    /* Steps over members that are exactly the memo's, which began where a map began or behind a member. Then the
     * item of their last key follows, or what may follow a member. False, without a failure, if they are not. */
    bool (*skip_members)(source *s, const codec_memo *memo);
    /* Whether the item that comes has exactly the encoding of the memo's; then it is skipped. No failure. */
    bool (*repeats)(source *s, const codec_memo *memo);
    /* Where the item that comes would end and a hash of its encoding; false, without a failure, if that is not to be
     * had. */
    bool (*fingerprint)(const source *s, codec_memo *out, uint64_t *hash);
    uint64_t (*offset)(const source *s, const void *at);
    /* Steps over the item that comes, whatever it is. May be NULL: then it is read as a value without a class. */
    void (*skip)(source *s);
} source_ops;

struct source {
    const source_ops *ops;
    const void       *at, *end;
    const void       *start;      /* of everything                   */
    trace            *trace;
    arena            *scratch;    /* of texts that are not in the input as they are */
    uint32_t          depth, deepest;
    uint32_t          left;       /* members still to come, in a format that counts them instead of marking the end */
    void             *state;      /* the source's own; copies share it, so that only one is used on */
};

/* Of an item's encoding, for fingerprints. */
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
/* Records that something else was expected here. Returns false. */
bool source_expected(source *s, const char *what);

/* ---- reading ----------------------------------------------------------------------------------------------- */

/* A value of the network by its id, and where it was first seen. */
typedef struct seen_value { int64_t id; xir_value *value; const void *at; } seen_value;

/* Numbers to places in a list. The hash keeps neighbours together, since ids mostly grow. */
typedef struct seen_table {
    uint32_t *slots;         /* index + 1; 0: free                         */
    size_t    room, count;   /* `count` of the list's items are in here    */
} seen_table;

enum { RECENT = 4, FORMS = 512 };

/* A stretch of a value's members. The name in it is empty and there are no tags. */
typedef struct value_stretch {
    codec_memo       memo;
    uint32_t         seen;
    bool             params, allow;
    const xir_mtype *mtype;
} value_stretch;

typedef struct form_memo { xir_str text; const xir_object *object; } form_memo;
typedef struct object_memo { codec_memo memo; uint64_t hash; } object_memo;

/* An op made in a network that was there before. */
typedef struct made_op { xir_op *op; struct made_op *before; } made_op;
/* A value of that network which nobody made so far, and the one that it turned out to be. */
typedef struct adopted { xir_value *orphan, *value; struct adopted *before; } adopted;

typedef struct decoder decoder;
/* A key of the network that only one format has: sets *taken and reads the item, or leaves both. */
typedef bool decoder_key_fn(decoder *d, source *s, xir_str key, bool *taken, void *user);

struct decoder {
    trace            trace;
    xir_context     *ctx;
    xir_network     *net;             /* NULL: an object for the context */
    object_pool            *pool;
    source           root;            /* before anything was read: to find the path of a byte */
    bool             round;           /* reals to float32 */
    bool             existing;        /* the network was there before, like this: */
    xir_value       *old_params;
    uint32_t         old_n_params;
    int64_t          old_next_op_id, old_next_value_id;
    made_op         *made;
    bool             adopts;          /* what is made goes to where orphans may wait for it */
    adopted         *adopted;
    arena            keep;            /* plans: as long as the decoder */
    arena            scratch;         /* emptied after each op */
    /* items of lists and maps without a class that have no end yet, a stack of bytes */
    char            *open;
    size_t           open_size, open_room;
    uint64_t         values_left;     /* that may have no class; see xir_limits.max_values */
    bool             has_size;        /* of the input: values_left is known */
    void            *scratch_chunk;
    char            *scratch_next;
    codec_plans      plans;
    codec_key        value[VALUE_KEYS];
    codec_memo       recent_values[RECENT], recent_types[RECENT];
    codec_plan      *recent_plans[RECENT];
    uint32_t         next_plan;
    value_stretch    value_begin[3], value_middle;   /* up to dtype, of Value and Params; from there to v_id */
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

/* `file` names the input in findings; `text` is it where there are lines. `net` NULL makes objects of the context. */
void decoder_init(decoder *d, xir_context *ctx, xir_network *net, const source_ops *ops, xir_str file, xir_str text,
                  xir_diags *why);
void decoder_free(decoder *d);
/* Points a source at the beginning of an input. */
void decoder_source(decoder *d, source *s, const source_ops *ops, const void *data, size_t size);

/* Each reads the item that comes; false with a finding. Nothing may follow is for the caller to check. */
/* in the scratch arena; duplicate keys: the last counts */
bool decode_any(decoder *d, source *s, xir_any *out);
bool decode_object(decoder *d, source *s, const xir_class *of, const xir_object **out);
/* into d->net, in no order                               */
bool decode_op(decoder *d, source *s, xir_op **out);
/* into d->net, which is new and private                  */
bool decode_network(decoder *d, source *s);

/* An object, an op or a value alone: all that the source has, which `at_end` says. What was made is undone on
 * failure. */
bool decode_part(decoder *d, source *s, format_part *part, bool (*at_end)(source *s));

/* Reads a map of attributes into an op that is there, whose class becomes `cls`. On failure the op is as before. */
bool decode_attrs(decoder *d, source *s, xir_op *op, const xir_class *cls);

/* Before reading into a network that others know: values that it has are found by their ids. */
void decoder_join(decoder *d, const source *s);
/* After a failure: what was made is forgotten. */
void decoder_undo(decoder *d);

#endif
