/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Sealed classes, and the verbs that work on any class through its fields. A body is what a class describes: the
 * attribute struct of an op, or an object with its head. */
#ifndef CORE_OBJECT_H
#define CORE_OBJECT_H

#include <pthread.h>
#include <stdatomic.h>
#include <xir/infer.h>
#include <xir/quant.h>
#include "class_layout.h"
#include "class_normalised.h"
#include "class_shares.h"
#include "diagnose.h"
#include "memory.h"

/* ---- sealed classes -------------------------------------------------------------------------------------- */

/* The meaning of a key of an encoded object. Base keys are those that every op has. */
enum { KEY_TYPE = -1, KEY_TARGET = -2, KEY_INPUTS = -3, KEY_NAME = -4, KEY_ID = -5, KEY_OUTPUTS = -6, KEY_TAGS = -7 };

typedef struct class_key {
    xir_str name;
    int     field;   /* >= 0: index into fields; negative: one of KEY_… */
    bool    old;     /* read but never written (WAS)                    */
} class_key;

/* A stretch of a body without padding that compares and hashes as bytes. */
typedef struct class_span { uint32_t start, size; } class_span;

/* Inference functions that are added while a class is in use. When a slot is not NULL, everything that the function
 * needs has been stored before. */
typedef _Atomic(xir_infer_fn *) infer_slot;

/* The result of a rule of the library whose first input is a plain tensor of floats, while the others are of the same
 * floats and broadcast to it. No attribute matters but factors for channels, and those of `fits` and of `moved`. */
typedef enum float_rule {
    FLOATS_ASKED,      /* unknown: the rule has to be asked                                               */
    FLOATS_KEPT,       /* the type of the first input                                                     */
    FLOATS_COMPARED,   /* bool, in the dims and the layout of the first input                             */
    FLOATS_CHOSEN,     /* the type of the first two inputs; the third is bool, with their dims and layout */
    FLOATS_MOVED,      /* these floats, in dims that follow from the attributes; there is no other input  */
    FLOATS_RESHAPED    /* as many floats in the dims of an attribute, where -1 is what remains, and in the
                          layout of another one; there is no other input                                  */
} float_rule;

/* The dims of a result of FLOATS_MOVED, and its layout, which has one letter for each of them. */
enum { MOVED_DIMS = 8 };
typedef struct moved_dims {
    const struct xir_layout *layout;
    size_t                   rank;
    int64_t                  dims[MOVED_DIMS];
    bool                     narrows;   /* each dim is that of the operand, in its place, or 1 */
} moved_dims;
/* Finds them for a plain tensor type, which has a layout. False if the rule has to be asked, as where it may fail. */
typedef bool moved_fn(const void *attrs, const xir_type *of, moved_dims *out);
/* Returns false for attributes that the rule refuses. */
typedef bool fits_fn(const void *attrs);

/* The part that only registered classes have. A file may have an unknown key for each op: the classes of such keys
 * share one, which has base keys and nothing else and is never written. */
typedef struct class_more {
    xir_str               doc;
    const xir_class      *base;
    uint64_t              required;  /* a bit for each attribute without a default, of the first 64 */
    uint32_t              tag;
    _Atomic uint32_t      alone;     /* bit of a target: its inference does not need CHECK before it */
    bool                  alone_tiled;     /* infer_tiled does not need CHECK before it        */
    bool                  has_params;      /* has attributes whose types and bytes may be set  */
    bool                  defaults_good;   /* the defaults are valid: in bounds, with nothing missing */
    xir_port             *inputs, *outputs;
    uint32_t             *input_offsets;   /* in the struct of inputs                          */
    uint32_t              n_inputs, n_outputs;
    uint32_t              least_inputs;    /* how many are required                            */
    bool                  inputs_are_list; /* the struct of inputs is n_inputs values in a row */
    uint32_t              n_keys;
    class_key            *keys;      /* sorted by bytes: the order of the written form       */
    const xir_form       *form;
    class_span           *spans;     /* of a plain class                                     */
    uint32_t             *refs;      /* the fields of kind REF                               */
    uint32_t              n_spans, n_refs;
    xir_infer_fn         *check;
    infer_slot            infer[XIR_TARGET_COUNT];   /* for the library's targets, by kind; see class_infer_of */
    _Atomic(infer_slot *) infer_more;   /* XIR_TARGET_MAX slots, for all kinds; NULL: none     */
    xir_infer_fn         *infer_tiled;  /* for tiled targets without their own function        */
    xir_infer_fn         *work;      /* NULL: one element operation per element of its outputs */
    xir_infer_fn         *takes;     /* NULL: its inputs take all numbers                    */
    xir_infer_fn         *needs;     /* NULL: every part of an output needs the whole inputs */
    bool                  needs_wide; /* what it says may be more than what is needed        */
    _Atomic float_rule    floats;    /* what its rule for the host does with floats          */
    moved_fn             *moved;     /* of FLOATS_MOVED                                      */
    fits_fn              *fits;      /* of FLOATS_KEPT; NULL: the rule refuses no attributes */
    _Atomic(xir_kernel_fn *) kernel;    /* NULL: the executor cannot run it                    */
    const struct kernel_row *own_kernel;   /* the library's (src/exec/kernels.h); NULL: none   */
    _Atomic uint32_t      given_traits;   /* the high half of its traits: those with names     */
    const class_layout   *layout;    /* NULL: the op works in its own order only             */
    const class_normalised *normalised; /* NULL: unknown what it computes from normalised numbers */
    class_shares          shares;    /* whose bytes its first output may have                */
    const struct composition *composed; /* the parts that an op means (compose.h); NULL: it is not composed */
    const xir_class      *next;      /* in the order of registration                         */
    const xir_field      *dims, *dims_layout;   /* of FLOATS_RESHAPED                        */
} class_more;

struct xir_class {
    xir_context          *ctx;
    const xir_class_decl *decl;      /* NULL: opaque                                         */
    xir_str               key;
    class_more           *more;
    void                 *defaults;  /* a body with all defaults                             */
    xir_field            *fields;    /* in declared order                                    */
    uint32_t              n_fields;
    uint32_t              traits;
    uint32_t              body_size;
    uint32_t              made_at;   /* where a body has XIR_MADE_; 0: nowhere               */
    uint32_t              number;    /* see xir_class_number                                 */
    bool                  is_op, opaque;
    bool                  plain;     /* its fields point to nothing but objects              */
    bool                  valued;    /* its fields are numbers, texts, lists of them, and objects */
    bool                  many_inputs, many_outputs;
    uint8_t               what;      /* xir_type_kind etc. of the built-in families, see place.c, type.c */
};

/* xir_class.what is 1 + the kind for the built-in targets, memory types and types; one of these for arrays and scalars;
 * 0 for every other class. */
enum { WHAT_PLAIN = 1, WHAT_EXP };
enum { WHAT_BOOL = 1, WHAT_INT, WHAT_REAL };
static inline int object_what(const void *object) {
    return object ? ((const xir_object *)object)->cls->what : 0;
}

/* Returns the key with this name (old names too), NULL if the class has none. `hint` is the likely position. */
const class_key *class_find_key(const xir_class *cls, xir_str name, uint32_t hint);

/* The first makes room for inference on a kind of target; false without memory. The second sets the function, replacing
 * an earlier one; the check runs before it. Both require the context's lock. */
bool class_reserve_infer(xir_class *cls, unsigned target);
void class_set_infer(xir_class *cls, unsigned target, xir_infer_fn *fn);
/* The function for this kind of target; NULL: the class has no own one. */
static inline xir_infer_fn *class_infer_of(const xir_class *cls, unsigned kind) {
    if (kind < XIR_TARGET_COUNT) return cls->more->infer[kind];
    const infer_slot *slots = cls->more->infer_more;
    return slots && kind < XIR_TARGET_MAX ? slots[kind] : NULL;
}

/* The kernel of a class, for code that runs its ops; NULL: none. Setting requires the context's lock. */
static inline xir_kernel_fn *class_kernel(const xir_class *cls) { return cls->more->kernel; }
void class_set_kernel(xir_class *cls, xir_kernel_fn *fn);

/* The class of an unregistered key, made on first use. */
const xir_class *class_opaque(xir_context *ctx, xir_str key, bool is_op);

/* XIR_E_INVALID with a finding for a body whose gaps are zero instead of defaults: xir_X_init has not made it. */
static inline bool body_is_made(const xir_class *cls, const void *body) {
    return !cls->made_at || !body || *(const uint32_t *)(const void *)((const char *)body + cls->made_at) == XIR_MADE_;
}
xir_status body_refuse(const xir_class *cls, xir_diags *why);

/* A walk over the rows of a declaration, the first one too, up to the one that ends them:
 *     for (const xir_row *row = row_first(&w, decl); row->word != XIR_DECL_END; row = row_next(&w)) …
 * The declaration gives the distance between rows. Members that an older one does not have are zero: such rows are
 * copied into the walk. */
typedef struct row_walk {
    const char *at;
    uint32_t    size;
    xir_row     room;
} row_walk;

static inline const xir_row *row_here(row_walk *w) {
    if (w->size >= sizeof w->room) return (const xir_row *)(const void *)w->at;
    memset(&w->room, 0, sizeof w->room);
    memcpy(&w->room, w->at, w->size);
    return &w->room;
}

static inline const xir_row *row_first(row_walk *w, const xir_class_decl *decl) {
    w->at = (const char *)decl->rows;
    w->size = decl->row_size;
    return row_here(w);
}

static inline const xir_row *row_next(row_walk *w) {
    w->at += w->size;
    return row_here(w);
}

/* ---- pools: where immutable objects live ------------------------------------------------------------------ */

/* The set of all objects that a context or a network owns, each once. A network's pool holds copies of everything that
 * its objects refer to, so a network depends on no other network. */
typedef struct object_pool {
    xir_context       *ctx;
    pthread_mutex_t   *lock;    /* for a context's pool; NULL for a network's                 */
    arena              arena;
    const xir_object **table;   /* open addressing, a power of two                            */
    size_t             room, count;
    /* Threads that infer with a context's pool look at these two without its lock. */
    _Atomic(struct symbol_table *) symbols;   /* of the dims that have names, see symbol.h; NULL: none */
    _Atomic bool         forgot;    /* memory was short for numbers that may be known         */
    const struct object_pool *base; /* of a reader's pool: that of the network                */
} object_pool;

void pool_init(object_pool *pool, xir_context *ctx, pthread_mutex_t *lock);
/* A pool for a call that only reads a network, as other threads may do at the same time. What inference makes is in
 * this pool and ends with it; expressions for dims are taken from the network's when they are needed. */
void pool_init_reader(object_pool *pool, const object_pool *base);
void pool_free(object_pool *pool);
object_pool *context_pool(xir_context *ctx);

/* Returns the object in the pool that equals `object`, which may be in any pool, or on the stack with head.hash 0. If
 * there is none, it adds a deep copy; NULL without memory. Checks nothing. */
const xir_object *pool_intern(object_pool *pool, const xir_object *object);
/* The same for a caller that holds the pool's lock. */
const xir_object *pool_intern_held(object_pool *pool, const xir_object *object);

/* ---- verbs -------------------------------------------------------------------------------------------------- */

static inline void *body_at(const void *body, const xir_field *f) {
    return (char *)(uintptr_t)body + f->offset;
}

void     body_hash_into(const xir_class *cls, const void *body, uint64_t *hash);
bool     body_equal(const xir_class *cls, const void *a, const void *b);
/* Returns true if a pool would store one body for both: their objects are spelled alike, too. Tensor types are alike if
 * they are the same, since those of two networks may have symbols of one name. */
bool     body_same(const xir_class *cls, const void *a, const void *b);
/* One field of two bodies. */
bool     field_equal(const xir_field *f, const void *a, const void *b);
uint64_t field_hash(uint64_t hash, const xir_field *f, const void *body);
/* Deep copy of all fields, for a caller that holds the pool's lock. Objects are interned in the pool, lists and texts
 * copied into the arena, Params and ops copied as pointers. Reals are not rounded. False without memory. */
bool     body_copy(object_pool *pool, arena *to, const xir_class *cls, void *out, const void *body);
/* Gives absent references and empty lists of references the default of their row. */
void     body_fill_presets(const xir_class *cls, void *body);
/* Rounds one field, or all, to float32 if it is real. Lists are copied into the arena first. False without memory. */
bool     field_round(arena *to, const xir_field *f, void *body);
bool     body_round(arena *to, const xir_class *cls, void *body);
/* Checks bounds, words, required references and their classes. Adds every fault under `path`; returns the first.
 * `owner` is the name of the op for sentences, empty if there is none. */
xir_status body_check(const xir_class *cls, const void *body, xir_str owner, xir_str path, xir_diags *why);
xir_status field_check(const xir_class *cls, const xir_field *f, const void *body, xir_str owner, xir_str path,
                       xir_diags *why);
/* Return true if the field is good in a way that a comparison or two show. Otherwise it need not be bad: field_check
 * knows. Signed and real rows without a bound have the least or the greatest number as one. */
static inline bool number_is_good(const xir_field *f, const void *at) {
    switch (f->kind) {
    case XIR_KIND_BOOL: return true;
    case XIR_KIND_I64:  return *(const int64_t *)at >= f->min.i && *(const int64_t *)at <= f->max.i;
    case XIR_KIND_U64:  return (!f->has_min || *(const uint64_t *)at >= (uint64_t)f->min.i) &&
                               (!f->has_max || *(const uint64_t *)at <= (uint64_t)f->max.i);
    case XIR_KIND_REAL: return *(const double *)at >= f->min.r && *(const double *)at <= f->max.r;
    case XIR_KIND_ENUM: return *(const int *)at >= 0 && (size_t)*(const int *)at < f->members->size;
    default:            return false;
    }
}
static inline bool ref_is_good(const xir_field *f, const xir_object *ref) {
    if (!ref) return f->flags & XIR_FIELD_OPTIONAL;
    return !f->of || ref->cls == f->of || xir_class_is_a(ref->cls, f->of);
}

void     body_get(const xir_field *f, const void *body, xir_attr *out);
/* Checks kind and class, not bounds. The body then borrows. A real accepts an integer, an enum the text of its word. */
xir_status body_set(const xir_class *cls, const xir_field *f, void *body, const xir_attr *attr, xir_diags *why);

uint64_t map_hash(uint64_t seed, const xir_map *map);
/* Deep copies into an arena; false without memory. Params are copied as pointers. */
bool     any_copy(arena *to, const xir_any *from, xir_any *out);
/* Copies `map` (may be NULL) with one key set or, if `value` is NULL, removed. *out is NULL if nothing is left. */
bool     map_with(arena *to, const xir_map *map, xir_str key, const xir_any *value, const xir_map **out);
/* The same with a value that is not copied: it must live as long as the arena. */
bool     map_sharing(arena *to, const xir_map *map, xir_str key, const xir_any *value, const xir_map **out);

/* Sorts entries by their keys, stably. Few entries, and entries already in order, need no memory. False without
 * memory. */
bool     entries_sort(arena *scratch, xir_entry *entries, size_t n);

/* The attribute that a misspelled name may mean, empty if there is none. */
xir_str  class_suggest(const xir_class *cls, xir_str name);

/* ---- one-string spellings ------------------------------------------------------------------------------------- */

/* Why a text could not be read: the place in the text, and a sentence. */
typedef struct form_error {
    xir_status status;
    size_t     at;            /* offset in the text                          */
    char       message[200];
} form_error;

/* Sets the error and returns NULL, so that a parser can `return form_fail(…)`. */
const void *form_fail(form_error *e, xir_status status, size_t at, const char *format, ...) XIR_PRINTF(4, 5);

struct xir_form {
    const char *name;    /* "layout": the text after '@' up to '(' or the end; "sint|uint" is two names    */
    /* Appends the whole text, "@layout(NHWC)". */
    void (*print)(const xir_object *object, buffer *out);
    /* Makes the object from the whole text, interned in a pool; NULL with the error set. */
    const xir_object *(*parse)(object_pool *pool, const xir_class *cls, xir_str text, form_error *e);
};

/* Parses any "@…" text. */
const xir_object *form_parse(object_pool *pool, xir_str text, form_error *e);

#endif
