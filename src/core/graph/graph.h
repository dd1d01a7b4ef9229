/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The inside of the graph. An op, its input uses and its outputs are one piece of the network's arena, in this order.
 * What a walk reads is at the end of the op, next to the uses. Uses or outputs that an op gets later are apart. What
 * few ops and values have is in a record of its own, op_more or value_more. A value's uses are a doubly linked list
 * through the input positions of its users. Addresses of ops never change. Erased records are unlinked and remain in
 * the arena until the network is freed. */
#ifndef CORE_GRAPH_H
#define CORE_GRAPH_H

#include <stdatomic.h>
#include <xir/network.h>
#include <xir/work.h>
#include "blob.h"
#include "context.h"
#include "hash.h"
#include "rule.h"

/* A text with its size before it; empty names share one. */
typedef struct label { uint32_t size; char bytes[]; } label;
extern const label name_empty;
extern const label name_spent;   /* of a value that has become an output: empty */
static inline xir_str name_text(const label *n) { return (xir_str){ n->bytes, n->size }; }

struct xir_use {
    xir_value *value;   /* NULL: an absent input                 */
    xir_op    *user;
    xir_use   *next;
    xir_use  **link;    /* the pointer to this use: in the list head or in another use */
};

typedef struct params {
    blob     *data;            /* NULL: none                                                     */
    uint32_t  raw_index;       /* position of its payload in the file it came from, UINT32_MAX: none */
    uint32_t  table_index;     /* position in that file's table                                  */
    uint32_t  number;          /* below the network's n_params: an index into the marks of a walk */
    bool      allow_no_data;
    xir_value *next;           /* all Params of the network, newest first                        */
} params;

/* Members that few values need. Params always have one. */
typedef struct value_more {
    xir_network     *net;
    xir_op          *producer; /* NULL: Params, or a value whose op is missing                   */
    const label     *name;
    const xir_map   *tags;
    const xir_map   *extra;    /* undeclared keys of the file                                    */
    const xir_mtype *mtype;    /* NULL: host                                                     */
    params          *params;   /* NULL: not a constant                                           */
} value_more;

struct xir_value {
    const xir_type *type;
    int64_t         id;
    uintptr_t       from;      /* the op that makes it; with bit 0, its value_more */
    xir_use        *uses;
};

/* Members that few ops need. */
typedef struct op_more {
    const label   *name;
    const xir_map *tags;
    const xir_map *extra;      /* undeclared attributes                                          */
    uint64_t       absent;     /* bit i: field i was not in the file                             */
    xir_op        *parent;     /* the op that has this one as a sub op                           */
    const xir_target *target;  /* if OP_TARGET_APART                                             */
    xir_use       *inputs;     /* if OP_INPUTS_APART                                             */
    xir_value     *outputs;    /* if OP_OUTPUTS_APART                                            */
    uint32_t       input_room; /* in `inputs`                                                    */
} op_more;

enum {
    OP_PLACED = 1, OP_ERASED = 2, OP_CHILD = 4,
    OP_LEAVING = 8,     /* only during one edit                                                             */
    OP_MARKED  = 16,    /* only during one pass                                                             */
    OP_LEFT    = 32,    /* only during one run of passes: a note says that computing it would take too much */
    OP_DRAFT   = 64,    /* nobody has checked that it is complete; see draft.c                              */
    OP_REACHED = 128,   /* only during one replacement: it depends on what is replaced                      */
    OP_INPUTS_APART  = 256,    /* its op_more has them, since there was no room after the op                */
    OP_OUTPUTS_APART = 512,
    OP_TARGET_APART  = 1024,   /* its op_more has it, since the network's list of targets was full          */
    OP_TARGET_SHIFT  = 24,     /* the bits from here on: the target's position in that list                 */
    TARGETS          = 16      /* so many targets are in the list: the host, then the first ones used       */
};

struct xir_op {
    const xir_class *cls;
    const void      *attrs;      /* the class's defaults, or a body in the arena; never written, may be shared */
    xir_network     *net;
    int64_t          id;
    uintptr_t        label;      /* its name, a label; with bit 0, its op_more                        */
    xir_op          *prev;
    uint32_t         slot;
    uint32_t         position;   /* grows along the order; see order.c                                */
    xir_op          *next;       /* from here on: what walks read                                     */
    uint32_t         room;       /* of the uses that follow the record; then come the outputs         */
    uint32_t         n_inputs, n_outputs;
    uint32_t         flags;
};

/* ---- what records have ------------------------------------------------------------------------------------------ */

static inline op_more *op_more_of(const xir_op *op) {   /* NULL: none */
    return op->label & 1 ? (op_more *)(op->label - 1) : NULL;
}
static inline const xir_map *op_tags(const xir_op *op) { return op_more_of(op) ? op_more_of(op)->tags : NULL; }
static inline const label *op_label(const xir_op *op) {
    return op->label & 1 ? op_more_of(op)->name : (const label *)op->label;
}
static inline void op_set_label(xir_op *op, const label *name) {
    if (op->label & 1) op_more_of(op)->name = name;
    else op->label = (uintptr_t)name;
}
/* A record with what few ops have. The op keeps its name. */
static inline void op_set_more(xir_op *op, op_more *more) {
    more->name = op_label(op);
    op->label = (uintptr_t)more | 1;
}
/* The uses of the inputs, and the outputs. */
static inline xir_value *op_outputs_inside(const xir_op *op) {
    return (xir_value *)((xir_use *)(uintptr_t)(op + 1) + op->room);
}
static inline xir_use *op_inputs(const xir_op *op) {
    return op->flags & OP_INPUTS_APART ? op_more_of(op)->inputs : (xir_use *)(uintptr_t)(op + 1);
}
static inline xir_value *op_outputs(const xir_op *op) {
    return op->flags & OP_OUTPUTS_APART ? op_more_of(op)->outputs : op_outputs_inside(op);
}

static inline value_more *value_more_of(const xir_value *v) {   /* NULL: no name, no tags, host memory */
    return v->from & 1 ? (value_more *)(v->from - 1) : NULL;
}
static inline xir_str value_text(const xir_value *v) {          /* its name; empty: none */
    return value_more_of(v) ? name_text(value_more_of(v)->name) : (xir_str){ "", 0 };
}
/* The op that makes a value. NULL: Params, or a value whose op is missing; these have a value_more. */
static inline xir_op *value_op(const xir_value *v) {
    return v->from & 1 ? value_more_of(v)->producer : (xir_op *)v->from;
}
static inline void value_set_op(xir_value *v, xir_op *op) {
    if (v->from & 1) value_more_of(v)->producer = op;
    else v->from = (uintptr_t)op;
}
/* `from` of a value that has this record; and one that gets it and keeps its op. */
static inline uintptr_t value_from(const value_more *more) { return (uintptr_t)more | 1; }
static inline void value_set_more(xir_value *v, value_more *more) {
    more->producer = value_op(v);
    v->from = value_from(more);
}

/* A table from ids to pointers, built on first use and then kept up to date. Open addressing; removing an item
 * shifts the items after it. */
typedef struct id_table {
    void  **slots;       /* xir_op * or xir_value *; NULL free                              */
    size_t  room, count; /* room a power of two; 0: not built                               */
} id_table;

/* A record and the name that it got; see by_name.c. */
typedef struct label_item { const void *record; const label *name; uint32_t older; } label_item;
typedef struct label_table {
    text_table  newest;      /* from names to the newest item; `older` leads on        */
    label_item  *items;
    size_t      room, n, built;
    atomic_bool is_known;
} label_table;

/* A body that the network has stored; see attrs.c. */
typedef struct attrs_memo { const xir_class *cls; const void *attrs; uint64_t hash; } attrs_memo;
enum { ATTRS_MEMO = 64, ATTRS_WAYS = 4, CLASS_MEMO = 32 };

/* One answer of an inference function, reused while everything that it depends on is the same. */
typedef struct infer_memo {
    const xir_class  *cls;
    const void       *attrs;
    const xir_target *target;
    uintptr_t         in[3];   /* INFER_INPUTS: see infer_key_of */
    const xir_type   *out;
    uint64_t          hash;    /* of all others but `out`: infer_recall sets it */
} infer_memo;
enum { INFER_INPUTS = 3 };

/* A late op of a class whose output type was remembered; see repeat.c. */
typedef struct repeat_memo {
    const xir_class *cls;         /* NULL: none                                            */
    char            *given;       /* plain attributes as the program gave them, and room for */
    uint32_t         given_room;
    bool             has_given;   /* false: none, which means the defaults                 */
    uint32_t         n_inputs;    /* without absent ones at the end                        */
    uint32_t         epoch;       /* the context's, of inference functions                 */
    infer_memo       answer;      /* the attributes as stored, target, inputs, output      */
} repeat_memo;

/* A comparison of a network's parameters with the MD5 of their file. It must end before the network is saved. */
typedef struct net_check {
    atomic_size_t references;
    /* Waits for the outcome: XIR_OK, or what is wrong, with a finding; any number of threads may. */
    xir_status  (*await)(struct net_check *check, xir_diags *why);
    void        (*drop)(struct net_check *check);    /* ends it, after the last reference */
} net_check;
void net_check_release(net_check *check);            /* accepts NULL */
void net_share_check(const xir_network *net, xir_network *copy);

struct xir_network {
    xir_context      *ctx;
    atomic_size_t     references;      /* one for the caller and one per view; xir_network_free drops one */
    xir_allocator     alloc;
    object_pool              pool;
    arena             arena;
    xir_str           text[XIR_TEXT_COUNT];
    uint32_t          version[4];      /* XIR_TEXT_XIR_VERSION as numbers            */
    uint64_t          params_bytes;
    const xir_target *ai_target;       /* NULL: the file had none                    */
    const xir_type   *refused;         /* of the value that xir_match_replace refused last; NULL: of none */
    const xir_value  *replaced;        /* what it should have replaced                                     */
    struct xir_rewriter *rewriter;     /* the innermost rewriting that runs; NULL: none                   */
    struct xir_provenance *provenance; /* records what ops stand for (provenance.h); NULL: nobody asks     */
    bool              ai_target_new;   /* the one of new networks: nobody has set it */
    const xir_map    *tags, *extra;
    uint32_t          absent;          /* bit i: network key i was not in the file   */
    xir_op           *first, *last;
    size_t            n_ops;
    uint32_t          n_slots;
    int64_t           next_op_id, next_value_id, next_temp_id;
    xir_value        *all_params;      /* through params->next                       */
    uint32_t          n_params;
    /* Built on first use, under the lock, since several threads may ask; an edit updates or drops them. */
    pthread_mutex_t   cache_lock;
    atomic_bool       has_ids, has_index;
    atomic_bool       asked_names;     /* a table of names has been built, so each new name is noted */
    id_table          op_ids, value_ids;
    label_table        op_names, value_names;
    xir_op          **by_index;
    size_t            by_index_room;
    uint64_t          epoch;           /* grows with every change: views compare it  */
    bool              raw_known;       /* while a pair of files is saved: params_bytes and the MD5 are the raw's */
    bool              no_md5;          /* while it is saved without computing the MD5 */
    net_check        *check;           /* runs, or has ended; NULL: none              */
    uint32_t          passes;          /* that run on it: until they end, the bytes of a mapped file that has changed
                                          stay readable, since a pass may have planned with them */
    xir_status        status;
    xir_diags        *diags;
    const xir_target *host;
    const xir_target *targets[TARGETS];
    uint32_t          n_targets;
    const xir_class  *classes[CLASS_MEMO][2];  /* by declaration: a lookup in the context takes its lock */
    attrs_memo        attrs[ATTRS_MEMO];       /* by hash, ATTRS_WAYS places for each      */
    infer_memo       *inferred;        /* answers of inference, a power of two; NULL: none yet */
    struct composed_memo *composed;    /* answers of composed classes (composed_memo.c); NULL: none yet */
    uint32_t          inferred_room;
    uint32_t          infer_news;      /* answers since it last grew             */
    uint32_t          infer_epoch;     /* the context's epoch at that time       */
    repeat_memo       repeats[CLASS_MEMO];     /* by the number of the class             */
};

/* Caches are not part of a network's contents: a call that only reads may build them, under cache_lock. This is the one
 * place where a const network is written. */
static inline xir_network *net_cache(const xir_network *net) { return (xir_network *)(uintptr_t)net; }

/* Takes a reference of the network, which is dropped with xir_network_free. */
static inline void network_retain(xir_network *net) {
    atomic_fetch_add_explicit(&net->references, 1, memory_order_relaxed);
}

static inline const xir_target *op_target(const xir_op *op) {
    return op->flags & OP_TARGET_APART ? op_more_of(op)->target : op->net->targets[op->flags >> OP_TARGET_SHIFT];
}

/* ---- for the rest of core, readers and passes ------------------------------------------------------------------ */

/* Makes a network with no field set: the starting point of readers. */
xir_network *network_new(xir_context *ctx);
/* The bytes of its Params; and those that a conversion may make: 16 times as many, 16 times those of its texts, and
 * max_converted more. Texts are names, and the texts and lists in attributes and tags; each number in a list counts as
 * four bytes. */
uint64_t net_params_bytes(const xir_network *net);
uint64_t net_converted_most(const xir_network *net);
uint64_t any_text_bytes(const xir_any *any);   /* of one attribute or tag */
/* Returns true if the network's version is this one or later; it decides how files are spelled. */
bool network_since(const xir_network *net, uint32_t major, uint32_t minor);
/* Returns true if real attributes that are set stay doubles. From 3.30 on, and without a version, they are rounded to
 * float32, as readers round those of a file. */
static inline bool network_keeps_doubles(const xir_network *net) {
    return net->text[XIR_TEXT_XIR_VERSION].size && !network_since(net, 3, 30);
}

/* Adds a finding to the network, and sets its status if it is the first. Returns `code`. */
xir_status net_fail(xir_network *net, xir_status code, const char *format, ...) XIR_PRINTF(3, 4);
xir_status net_no_memory(xir_network *net);   /* "out of memory" */
/* Reports that a caller passed NULL for `what`. If the network has already failed, NULL is a consequence of that:
 * then it returns the network's status without a finding. */
xir_status net_null(xir_network *net, const char *what);

/* Reports that a parameter or value with this name is made without a type, with the reason if a type was refused. */
xir_status net_no_type(xir_network *net, const char *what, xir_str text);

bool net_scoped_name(xir_at at, xir_str *name);                 /* with the cursor's scope; false without memory */
const label *net_name(xir_network *net, xir_str text);          /* NULL without memory            */
const xir_object *net_intern(xir_network *net, const xir_object *object);
static inline const xir_type *net_type(xir_network *net, const xir_type *type) {
    return type ? (const xir_type *)net_intern(net, (const xir_object *)type) : NULL;
}

/* Attributes of a class as the network stores them: copied, or shared with a remembered equal set. NULL without
 * memory. */
const void *net_attrs(xir_network *net, const xir_class *cls, const void *body);
/* The same for a body from a program: absent references get their defaults, reals are rounded if `round` and the
 * network does not keep doubles, bounds and references are checked. NULL with a finding in the network. A NULL `body`
 * means the class's defaults. */
const void *net_checked_attrs(xir_network *net, const xir_class *cls, const void *body, bool round, xir_str op_name);
/* Refuses attributes without a default that a program has given neither in a struct nor by name. */
xir_status  net_check_set(xir_network *net, const xir_class *cls, uint64_t unset, xir_str op_name);

/* Makes an op for a reader: nothing is checked or inferred, and no ids are given; `attrs` is a result of net_attrs.
 * Outputs are made by op_make_outputs. It is not in the order until op_link. NULL without memory. */
xir_op    *op_make(xir_network *net, const xir_class *cls, const void *attrs, size_t n_inputs);
bool       op_make_outputs(xir_op *op, const xir_type *const *types, size_t n);  /* ids are temporary; NULL: no types */
/* Memory for `n` outputs, NULL without any; and the outputs that the caller has put into it become the op's. */
xir_value *op_take_outputs(xir_op *op, size_t n);
void       op_put_outputs(xir_op *op, xir_value *values, size_t n);
/* Removes an output that nothing uses; those after it take its place. */
void       op_remove_output(xir_op *op, size_t i);
/* The same for an op with these inputs and with outputs without types, in one piece, followed by `more` bytes for what
 * belongs to it: *rest. */
xir_op    *op_make_whole(xir_network *net, const xir_class *cls, const void *attrs, xir_value *const *inputs,
                         size_t n_inputs, size_t n_outputs, size_t more, void **rest);
void       op_link(xir_op *op, xir_op *before);                  /* into the execution order         */
void       op_unlink(xir_op *op);
/* Returns true if the op is placed or a sub op of a placed op. Only then its ids are in the tables. */
bool       op_is_in(const xir_op *op);
xir_status place_before(xir_op *op, xir_op *before);             /* ids and order; checks no rules of networks */
xir_status op_check_place(const xir_op *op, const xir_op *before);  /* those rules */
void       op_forget(xir_op *op);                                /* unlinks its uses; it is erased   */
/* Completes a draft: XIR_OK if it already is complete. On failure, with a finding, it is unchanged. */
xir_status op_complete_draft(xir_op *op);
static inline xir_status op_complete(xir_op *op) { return op->flags & OP_DRAFT ? op_complete_draft(op) : XIR_OK; }
/* A bit for each attribute without a default that is not set: the program has not given it to the draft yet, or the
 * file that the op is from does not have it. The second adds a finding for each: XIR_E_MISSING. */
uint64_t   op_unset(const xir_op *op);
xir_status class_check_set(const xir_class *cls, uint64_t unset, xir_str op_name, xir_str path, xir_diags *why);
/* Attributes for a draft, of which the fields of the bits in `which` are new: only they are checked, and the others may
 * lack what they need. NULL with a finding in the network. */
const void *draft_attrs(xir_network *net, const xir_class *cls, const void *body, uint64_t which, xir_str op_name);
/* Refuse a class that has no ops; and inputs that the class does not take. */
xir_status desc_check_class(xir_network *net, const xir_op_desc *desc);
xir_status desc_check_inputs(xir_network *net, const xir_op_desc *desc);
/* Returns true if the op's class has the key `prefix` + `type`. The op may be NULL. */
bool       op_is_of(const xir_op *op, const char *prefix, const char *type);
/* Structural equality except for the operands; and a hash of the declared attributes. */
bool       op_makes_same(const xir_op *a, const xir_op *b);
uint64_t   op_attrs_hash(const xir_op *op);
/* Turns inputs that use its outputs, or its sub ops' outputs, into absent ones. */
void       op_drop_uses(xir_op *op);
/* Visits the sub ops in the attributes, but not their sub ops; false stops. */
bool       op_each_child(const xir_op *op, bool (*visit)(void *user, xir_op *child), void *user);
bool       op_finds_child(const xir_op *op);
/* Returns true if there are sub ops in the attributes. */
static inline bool op_has_children(const xir_op *op) { return !op->cls->plain && op_finds_child(op); }
/* Sets an undeclared attribute without copying its value, which must be in the memory of the network. */
xir_status op_share_extra(xir_op *op, xir_str attr, const xir_any *value);
/* Gives an op of an opaque class that has none its undeclared attributes, all at once. Of one key, the last counts. */
xir_status op_add_extras(xir_op *op, const xir_entry *entries, size_t n);
/* Gives an op that has none the undeclared attributes of another op of its network, which have no Params. */
xir_status op_take_extras(xir_op *op, const xir_map *extras);
/* Makes the sub ops in the attributes children of this op, all or none; and numbers what the attributes contain. */
xir_status op_adopt_children(xir_op *op, const void *attrs);
/* Checks that all Params in it belong to this network; otherwise adds a finding. */
xir_status any_check_params(xir_network *net, const xir_any *any);
/* Numbering (numbering.c). The first two make room in the tables of ids for the op, or for several, for the sub ops and
 * all their values: then numbering them cannot fail. */
xir_status op_reserve_ids(const xir_op *op);
xir_status ops_reserve_ids(xir_network *net, xir_op *const *ops, size_t n);
/* Gives ids to an op that will be in the network, and to all that it needs ids for. It may bring ids that are taken:
 * XIR_E_EXISTS. On failure, with a finding, the network is unchanged. */
xir_status op_number(xir_op *op);
/* Gives a value the next id. */
xir_status value_number(xir_value *value);
void       op_number_attrs(xir_op *op);                          /* room is reserved                 */
/* Gives ids to the sub ops of an op that is in the network, which may bring ids that are taken: XIR_E_EXISTS. The
 * tables of ids have been built without the new ones. On failure, op_leave_ids takes those out that are new. */
xir_status op_enter_attrs(xir_op *op);
void       op_leave_ids(xir_op *op);
op_more   *op_need_more(xir_op *op);                             /* NULL without memory              */
bool       op_set_own_target(xir_op *op, const xir_target *own); /* false without memory; `own` is the network's */
value_more *value_need_more(xir_value *value);
xir_value *params_make(xir_network *net, const xir_type *type);  /* no id, no name                   */
/* Makes a value that has uses but no op (yet). */
xir_value *value_make_orphan(xir_network *net, const xir_type *type);
/* Moves the uses of an orphan to the value and forgets the orphan. */
void       value_adopt(xir_value *orphan, xir_value *v);
/* Turns every use of one value into a use of another. */
void       uses_move(xir_value *from, xir_value *to);

static inline xir_network *value_net(const xir_value *v) {
    return v->from & 1 ? value_more_of(v)->net : ((const xir_op *)v->from)->net;
}
static inline bool value_is_params(const xir_value *v) { return v->from & 1 && value_more_of(v)->params; }
/* Returns true for Params that are only the default of an input; and for all others, with whose bytes a pass may
 * compute: see xir_params_is_default. */
bool value_is_default(const xir_value *v);
bool value_is_constant(const xir_value *v);
static inline bool value_is_spent(const xir_value *v) {
    return v->from & 1 && !value_more_of(v)->producer && value_more_of(v)->name == &name_spent;
}
/* All that inference sees of an input, as one word: type, in bit 0 whether it is Params, in bit 1 that it exists. */
static inline uintptr_t infer_key_of(const xir_value *v) {
    return v ? (uintptr_t)v->type | 2 | value_is_params(v) : 0;
}
/* XIR_E_INVALID, with a finding, for a value that has become an output. */
static inline xir_status value_not_spent(const xir_value *v) {
    return !value_is_spent(v) ? XIR_OK
         : net_fail(value_net(v), XIR_E_INVALID, "the value has become an output: use that");
}
static inline params *value_params(const xir_value *v) { return value_more_of(v)->params; }
/* The number of bytes that a file has for these Params. XIR_E_TYPE without a type and without bytes, XIR_E_UNKNOWN
 * if the storage of its elements is unknown, XIR_E_BOUNDS with an unknown dim, XIR_E_LIMIT. */
xir_status params_size(const xir_value *params, uint64_t *out);
/* Checks that its bytes may be read: XIR_E_IO, with a finding in `why`, if they belong to a watched file that has
 * changed. For code that reads bytes without xir_params_data. */
xir_status params_check(const xir_value *params, xir_diags *why);

void use_link(xir_use *use, xir_op *user, xir_value *value);     /* value may be NULL                */
void use_unlink(xir_use *use);

/* Ids. Setting one updates the table if it exists. False without memory. */
bool op_set_id(xir_op *op, int64_t id);
bool value_set_id(xir_value *value, int64_t id);
xir_op    *net_find_op(const xir_network *net, int64_t id);
xir_value *net_find_value(const xir_network *net, int64_t id);
bool net_build_ids(const xir_network *net);   /* builds the tables; false without memory */
/* Makes room for so many more ids, so that setting them cannot fail. */
bool net_reserve_ids(xir_network *net, size_t ops, size_t values);

void ids_forget_op(xir_op *op);         /* and its outputs */
void ids_forget_value(xir_value *value);
void ids_free(xir_network *net);

/* Names (by_name.c). Call these when a value or an op has a name, and when an op with its values is placed. They do
 * nothing until somebody has asked for a name. */
void value_note_name(const xir_value *v);
void op_note_name(const xir_op *op);
void op_note_names(const xir_op *op);
static inline bool names_known(const label_table *t) {
    return atomic_load_explicit(&t->is_known, memory_order_relaxed);
}
static inline void value_named(const xir_value *v) {
    if (names_known(&value_net(v)->value_names)) value_note_name(v);
}
static inline void op_named(const xir_op *op) {
    if (names_known(&op->net->op_names)) op_note_name(op);
}
static inline void op_named_all(const xir_op *op) {
    if (atomic_load_explicit(&op->net->asked_names, memory_order_relaxed)) op_note_names(op);
}
/* Call this when a value gets users that are placed. */
static inline void value_met(const xir_value *v) {
    if (!value_op(v) && !value_is_params(v)) value_named(v);
}
void labels_free(xir_network *net);
/* As xir_network_op_by_name and xir_network_value_by_name, among those that `in` accepts; NULL: among all. */
xir_op    *net_op_named(const xir_network *net, xir_str name, bool (*in)(const void *user, const xir_op *op),
                        const void *user);
xir_value *net_value_named(const xir_network *net, xir_str name, bool (*in)(const void *user, const xir_value *v),
                           const void *user);

/* Order (order.c). */
enum { ORDER_STRIDE = 256 };
void order_insert_between(xir_op *op);
static inline void order_insert(xir_op *op) {   /* gives a position after linking; most ops are appended */
    if (op->prev && !op->next && op->prev->position <= UINT32_MAX - ORDER_STRIDE)
        op->position = op->prev->position + ORDER_STRIDE;
    else order_insert_between(op);
}
void order_set(xir_network *net, xir_op *const *ops);   /* all ops of the network, in their new order */

void net_changed(xir_network *net);   /* drops caches of the order; views become stale */

/* Walks the Params of an op's attributes, including sub ops, in declaration order. False stops. */
bool op_walk_attr_params(const xir_op *op, bool (*visit)(void *user, xir_value *params), void *user);
/* The same without those of sub ops. */
bool op_walk_own_params(const xir_op *op, bool (*visit)(void *user, xir_value *params), void *user);
/* Visits all Params of the network once: inputs in execution order, then attributes, op by op. */
bool net_walk_params(const xir_network *net, bool (*visit)(void *user, xir_value *params), void *user);
/* For a walk: counts the values and puts the first `room` of them into `out`. */
typedef struct value_room { xir_value **out; size_t room, n; } value_room;
bool value_gather(void *room, xir_value *v);

/* Adds a finding about an attribute that a class does not declare, with a suggestion. */
xir_status net_no_attr(xir_network *net, const xir_class *cls, xir_str attr);

/* Inference of an op. */
void       infer_start(xir_infer *at, xir_network *net, const xir_class *cls, const void *attrs,
                       const xir_target *target, xir_value *const *inputs, size_t n, xir_str op_name, xir_diags *why);
void       infer_start_in(xir_infer *at, xir_context *ctx, object_pool *pool, const xir_class *cls, const void *attrs,
                          const xir_target *target, xir_value *const *inputs, size_t n, xir_str op_name,
                          xir_diags *why);      /* with types of any pool                        */
xir_value *infer_input(const xir_infer *at, size_t i);   /* the value, NULL: absent              */
xir_status infer_check(xir_infer *at);          /* the checks of the target and the class        */
xir_status infer_run(xir_infer *at);            /* XIR_E_UNKNOWN: nothing registered            */
/* Finds the work of the op (work.c), after the types of the outputs have been given, one after another. XIR_E_BOUNDS
 * if that is unknown. */
xir_status infer_see_output(xir_infer *at, const xir_type *type);
xir_status infer_work(xir_infer *at, xir_work *out);
void       infer_end(xir_infer *at);
/* Finds the numbers that the inputs of an op may be (takes.c): fills `in`, a range for each. `out` has one for each
 * output; NULL: they may be any numbers. XIR_E_MEMORY. */
#define NUMBERS_STRUCT SIZED(xir_numbers, gap)
xir_status op_takes(const xir_op *op, const xir_numbers *out, xir_numbers *in);
bool       numbers_are_any(const xir_numbers *range);
/* Leaves what both ranges have in common. False, without a change, if that is nothing. */
bool       numbers_narrow(xir_numbers *range, const xir_numbers *by);
/* Finds the parts of its inputs that a part of an output needs (needed.c): fills seen->in, which has room for all
 * inputs; the caller sets output, part (not empty), in and tile. Statuses are those of xir_op_needed. */
#define BOX_STRUCT SIZED(xir_box, end)
xir_status op_needs(const xir_op *op, infer_needs_seen *seen, xir_diags *why);
/* The same for a question whose inputs, and types of outputs, are in `at`. */
xir_status infer_needs(xir_infer *at, infer_needs_seen *seen, xir_diags *why);
/* The smallest box around two boxes of one rank. */
void       box_join(xir_box *box, const xir_box *by);
/* Returns true if a box has every element of another. */
bool       box_contains(const xir_box *box, const xir_box *other);
/* The treatment of existing output types. If somebody has quantised the elements or dequantised them, this is a
 * conversion that inference does not know: re-inferring a network keeps such elements, with the inferred dims and
 * letters. */
typedef enum infer_mode { INFER_MISSING, INFER_REPLACE, INFER_CONVERSIONS_STAY } infer_mode;
/* `place` is the position of the op, from 1, for findings; 0: not given. */
xir_status op_infer(xir_op *op, infer_mode mode, size_t place, xir_diags *why);
/* Returns true if the single output type of the same question is remembered: then key->out has it. Otherwise
 * infer_remember may follow. Only used for ops with few inputs. */
bool       infer_recall(xir_network *net, infer_memo *key);
/* Forgets all answers: symbols have fewer values now. */
void       net_forget_inferred(xir_network *net);
void       infer_remember(const xir_infer *at, xir_network *net, infer_memo *key);
/* The same for ops of composed classes: a question by contents, where infer_recall has none. True: at->out has the
 * types. Does nothing for other classes. (composed_memo.c) */
enum { COMPOSED_QUESTION = 40 };   /* words */
typedef struct composed_memo composed_memo;
typedef struct composed_question {
    uint64_t hash;
    uint32_t size;                             /* 0: it is not remembered */
    uint64_t words[COMPOSED_QUESTION];
} composed_question;
bool       composed_recall(xir_infer *at, xir_network *net, composed_question *q);
void       composed_remember(const xir_infer *at, xir_network *net, const composed_question *q);
void       composed_forget(xir_network *net);
void       composed_memo_free(xir_network *net);
/* Adds an op that is like the latest one or two of its class. NULL, without a finding, if it is not, or without memory:
 * then the op is added in the ordinary way. */
xir_op    *op_repeat(xir_network *net, const xir_op_desc *d);
/* Remembers an op with its attributes, target, inputs and output type, of which `n_inputs` are not absent. */
void       op_note_repeat(xir_network *net, const xir_op_desc *d, size_t n_inputs, const infer_memo *answer);
void       repeats_forget(xir_network *net);

#endif
