/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Builds the network of a foreign model, whatever its format: opaque ops in file order, their attributes unchanged,
 * values found by name or number, weights as parts of the file. Nothing is converted here: that is the job of a pass.
 *
 *     dialect d;
 *     if (!dialect_begin(&d, &about, how, whole)) return NULL;
 *     dialect_input(&d, name, &declared);            once for each input of the model
 *     dialect_constant(&d, value);                   once for each weight; in any order with the nodes
 *     dialect_node_begin(&d);                        once for each node
 *     dialect_node_type(&d, domain, type);
 *     dialect_node_in(&d, name); dialect_node_attr(&d, key, value); dialect_node_out(&d, name);
 *     dialect_node_end(&d, name);
 *     dialect_output(&d, name, &declared);           once for each result
 *     return dialect_finish(&d, true);
 *
 * Failure is sticky: the first one is recorded with its place; from then on every call does nothing and returns false
 * or NULL, and dialect_finish returns NULL. So a reader may check where it must, or only at the end.
 *
 * Inconsistent names in a file are kept and marked instead of refused, so that a check can list all of them: a name
 * without a definition is a value without an op, and a second value of the same name has the tag source.duplicate.
 *
 * Texts in arguments are copied unless the comment says otherwise. The cost of a call is linear in its arguments: names
 * are hashed once, and a network of n names takes time proportional to n. */
#ifndef SERIALIZE_DIALECT_H
#define SERIALIZE_DIALECT_H

#include <inttypes.h>
#include "codec/codec.h"
#include "dialect/names.h"
#include "element_codes.h"
#include "format.h"
#include "named_files.h"
#include "source_tags.h"

/* A growing list, reused from node to node. */
typedef struct dialect_list { void *data; size_t size, room; } dialect_list;

/* A format's description of itself for the builder. */
typedef struct dialect_about {
    const char          *prefix;      /* of its classes ("onnx::Conv") and tags ("onnx.doc_string"): "onnx"          */
    xir_framework        framework;   /* of the network                                                               */
    const element_codes *elements;    /* NULL: none                                                                  */
    bool                 renames;     /* A use means the last definition before it, as in a list of assignments;
                                         otherwise the first definition, wherever it is. */
} dialect_about;

/* A name and its hash, or a number: how a node refers to a value. */
typedef struct dialect_ref {
    xir_str    text;
    uint64_t   hash;     /* without text: the number + 1; 0: absent        */
    xir_value *value;    /* what it refers to; NULL: not looked up yet     */
} dialect_ref;

/* The type that a file declares for a value. */
typedef struct dialect_declared {
    const xir_type *type;       /* NULL: none, or one that XIR has no type for        */
    const xir_map  *tags;       /* what the type cannot hold: source.dims, …          */
} dialect_declared;

/* A declared dim. */
typedef struct dialect_dim {
    int64_t size;
    bool    has_size;
    xir_str name;         /* of a dim without size; may be empty */
} dialect_dim;

/* The facts that nodes of one type have in common, and the attributes of late nodes: the next one often has the same
 * bytes as one of them. */
enum { DIALECT_LATE = 4 };
typedef struct dialect_type {
    xir_str          name, domain;   /* borrowed */
    const xir_class *cls;
    const void      *attrs;
    struct { xir_str bytes; const xir_map *extra; } late[DIALECT_LATE];   /* size 0: none */
    uint32_t         n_late;         /* how many there have been; the latest take the places of the oldest */
    const xir_map   *slots;          /* the last tags that were the names of inputs alone; NULL: none */
} dialect_type;

/* The heads of the parts of one blob, many in one allocation. */
typedef struct dialect_parts {
    blob  *whole, *keeper;
    size_t left;                /* heads that are free        */
    size_t next;                /* size of the next keeper      */
} dialect_parts;

/* The node being described. */
typedef struct dialect_node {
    dialect_type  *type;
    const xir_map *extra, *tags;
    dialect_list   in, out;       /* dialect_ref                            */
    dialect_list   slots;         /* xir_any: names of the first inputs     */
    dialect_list   attrs;         /* xir_entry                              */
    size_t         n_sorted;      /* so many of them, from the first on, are in the order of their keys */
    dialect_list   captures;      /* xir_str: names of its last inputs      */
    xir_str        bytes;         /* of its attributes; size 0: unknown     */
    uint32_t       n_params;      /* of the network before its attributes   */
    const xir_map *tags_before;
} dialect_node;

/* A node that differs from an earlier one only in names: its type and attributes are those of an earlier one, without
 * tags. */
enum { DIALECT_AGAIN_IN = 8, DIALECT_AGAIN_OUT = 4 };
typedef struct dialect_again {
    const dialect_type *type;                /* as long as no other node gets a type */
    const xir_map      *extra;               /* NULL: no attributes                  */
    xir_str             name;
    uint32_t            n_in, n_out;
    dialect_ref         in[DIALECT_AGAIN_IN], out[DIALECT_AGAIN_OUT];
} dialect_again;

typedef struct dialect_end { dialect_ref ref; dialect_declared declared; } dialect_end;

/* A key that is in the arena of the network, as an attribute of this class has it. */
typedef struct dialect_key { const xir_class *cls; xir_str text; } dialect_key;

enum { DIALECT_TENSORS = 16, DIALECT_LAYOUTS = 9, DIALECT_ELEMENTS = 64, DIALECT_KEYS = 64 };

typedef struct dialect {
    xir_context          *ctx;
    xir_network          *net;
    const format_reading *how;
    const dialect_about  *about;
    trace                 trace;          /* the place of reading: a format pushes frames    */
    const uint8_t        *base;           /* of the file                                     */
    blob                 *whole;
    const xir_allocator  *alloc;
    arena                 scratch;        /* freed at the end                                */
    char                  type_key[32];   /* "onnx.type"                                     */
    name_table            names;
    dialect_list          numbers;        /* xir_value *: NULL if not used yet               */
    dialect_type         *types;
    size_t                n_types, type_room;
    uint32_t             *type_slots;
    size_t                type_slot_room;
    const xir_type       *elements[DIALECT_ELEMENTS];
    const xir_layout     *layouts[DIALECT_LAYOUTS];
    const xir_type       *tensors[DIALECT_TENSORS];   /* recent ones, by their dims         */
    dialect_key           keys[DIALECT_KEYS];         /* recent ones, by their text         */
    dialect_parts         parts;          /* of the file                                     */
    named_files           files;          /* named by the file                               */
    dialect_list          file_parts;     /* dialect_parts, one per file                     */
    bool                  has_files;
    dialect_node          node;
    dialect_list          values;         /* xir_value *: inputs of the op being made        */
    dialect_list          inputs, outputs;   /* dialect_end                                  */
    int64_t               n_nodes;
    bool                  has_inputs, has_outputs, has_dropped;
} dialect;

/* ---- dialect.c: begin, finish, tags ---------------------------------------------------------------------------- */

/* Begins a network. `about`, `how` and `whole` belong to the caller and must outlive the builder. False with a finding;
 * then there is nothing to release. */
bool dialect_begin(dialect *d, const dialect_about *about, const format_reading *how, blob *whole);
/* Makes the input and output ops unless they exist, drops unused constants, and returns the network; NULL after a
 * failure, or if the reader is not `ok`. Releases the builder. */
xir_network *dialect_finish(dialect *d, bool ok);

static inline bool dialect_failed(const dialect *d) { return d->trace.status != XIR_OK; }
/* Records a failure at a byte of the file (XIR_NO_BYTE: none), under the frames of the trace. Returns false. */
#define DIALECT_FAIL(d, byte, code, ...) trace_fail(&(d)->trace, (code), (byte), __VA_ARGS__)

/* One more item of a list, uninitialised; NULL if out of memory, which is recorded. */
void *dialect_add_slow(dialect *d, dialect_list *list, size_t item);
static inline void *dialect_add(dialect *d, dialect_list *list, size_t item) {
    return list->size < list->room ? (char *)list->data + item * list->size++ : dialect_add_slow(d, list, item);
}
static inline void dialect_list_free(const dialect *d, dialect_list *list, size_t item) {
    mem_free(d->alloc, list->data, list->room * item);
}

/* Adds a tag to tags being gathered. Keys of this format alone begin with its prefix and a dot; keys of source_tags.h
 * mean the same in every format. */
bool dialect_tag(dialect *d, const xir_map **tags, const char *key, xir_any value);
/* The same for a value whose texts, lists and maps are in the network's arena. */
bool dialect_tag_kept(dialect *d, const xir_map **tags, const char *key, xir_any value);
bool dialect_tag_text(dialect *d, const xir_map **tags, const char *key, xir_str text);   /* empty: no tag */
/* Adds the map of the entries as a tag; of equal keys the last one counts. Empties the list. */
bool dialect_tag_entries(dialect *d, const xir_map **tags, const char *key, dialect_list *entries);
/* Adds tags to those of a value. */
bool dialect_value_tags(dialect *d, xir_value *v, const xir_map *tags);

/* ---- values.c: names, numbers, declared types ------------------------------------------------------------------ */

static inline uint64_t dialect_hash(const dialect *d, xir_str name) {
    return hash_text(d->names.seed, name.data, name.size);
}
/* A name for the calls below; prefetches its table slot. The text must stay valid until that call. */
static inline dialect_ref dialect_name(const dialect *d, xir_str text) {
    dialect_ref ref = { .text = text, .hash = text.size ? dialect_hash(d, text) : 0 };
    if (text.size) name_prefetch(&d->names, ref.hash);
    return ref;
}
/* The same for a name that may not be ASCII: false if it is not. */
static inline bool dialect_ascii_name(const dialect *d, xir_str text, dialect_ref *out) {
    uint64_t bits = 0;
    *out = (dialect_ref){ .text = text };
    if (!text.size) return true;
    out->hash = hash_text_bits(d->names.seed, text.data, text.size, &bits);
    name_prefetch(&d->names, out->hash);
    return !(bits & HASH_NOT_ASCII);
}
/* A number from 0 on, for formats that number values. dialect_expect_numbers sets the bound. */
static inline dialect_ref dialect_number(size_t i) { return (dialect_ref){ .hash = (uint64_t)i + 1 }; }
static inline bool dialect_is_nothing(dialect_ref ref) { return !ref.text.size && !ref.hash; }

/* Reserves memory for so many names; false if out of memory, which is recorded. */
bool dialect_expect_names(dialect *d, size_t n);
/* From now on numbers must be below `n`; others are XIR_E_BOUNDS. */
bool dialect_expect_numbers(dialect *d, size_t n);

/* The value that a use refers to, made if it has no definition yet. The ref must not be absent. */
xir_value *dialect_use(dialect *d, dialect_ref ref);
/* The value of a name or number that was used or defined; NULL, without a failure, if it was not. */
xir_value *dialect_find(dialect *d, dialect_ref ref);
/* Defines the ref as `v`. If it is another value already, `v` is marked as a duplicate and the first value stays (in
 * a format that renames, `v` takes the name instead). A name must be the value's own. An absent ref: `v` just gets
 * an id. */
bool dialect_define(dialect *d, xir_value *v, dialect_ref ref);
/* Names a value. */
bool dialect_name_value(dialect *d, xir_value *v, xir_str text);
/* Uses the declared type of a value, unless the value already has a type or the tag PREFIX.type. */
bool dialect_declare(dialect *d, xir_value *v, const dialect_declared *declared);

/* ---- node.c ---------------------------------------------------------------------------------------------------- */

void dialect_node_begin(dialect *d);
/* Sets the type of the node, giving it the class "PREFIX::domain.name"; an empty domain has no dot. Both texts must
 * stay valid until the end. */
bool dialect_node_type(dialect *d, xir_str domain, xir_str name);
/* The number of the type of the node, and the same type for a later node. */
static inline size_t dialect_node_type_number(const dialect *d) { return (size_t)(d->node.type - d->types); }
static inline bool dialect_node_type_again(dialect *d, size_t type) {
    d->node.type = &d->types[type];
    return !dialect_failed(d);
}
/* Adds an input or output. An absent ref: an absent input, an output without a name. Texts must stay valid until
 * dialect_node_end. */
static inline bool dialect_node_in_ref(dialect *d, dialect_ref ref) {
    dialect_ref *out = dialect_add(d, &d->node.in, sizeof *out);
    if (out) *out = ref;
    return out != NULL;
}
static inline bool dialect_node_out_ref(dialect *d, dialect_ref ref) {
    dialect_ref *out = dialect_add(d, &d->node.out, sizeof *out);
    if (out) *out = ref;
    return out != NULL;
}
static inline bool dialect_node_in(dialect *d, xir_str name) { return dialect_node_in_ref(d, dialect_name(d, name)); }
static inline bool dialect_node_out(dialect *d, xir_str name) { return dialect_node_out_ref(d, dialect_name(d, name)); }
/* The format's own name of input `i`, which has been added: the tag source.inputs lists them. The text must stay
 * valid. */
bool dialect_node_slot(dialect *d, size_t i, xir_str slot);
/* Adds an attribute. The value is copied; `_kept` takes one whose texts, lists and maps are in the network's arena. Set
 * the type first. A key that every op has in files, or that begins with PREFIX and a dot, gets PREFIX and a dot in
 * front. */
bool dialect_node_attr(dialect *d, xir_str key, const xir_any *value);
bool dialect_node_attr_kept(dialect *d, xir_str key, xir_any value);
/* Adds attributes as another node of this type has them: keys and values are in the network's arena. `sorted`: they
 * are in the order of their keys. */
bool dialect_node_attrs_kept(dialect *d, const xir_entry *entries, size_t n, bool sorted);
/* Gives the node, which has no attributes yet, all those of an earlier node of its class: op->more->extra. */
static inline bool dialect_node_attrs_shared(dialect *d, const xir_map *extra) {
    d->node.extra = extra;
    return !dialect_failed(d);
}
/* Ends the attributes: XIR_E_EXISTS if two have one key. For formats that push a frame for them; otherwise
 * dialect_node_end calls it. */
bool dialect_node_attrs_done(dialect *d);
/* Gives the bytes that the following attributes are made of; they must stay valid until the end. True: the last node of
 * this type had the same bytes, and this node now has its attributes: add none. Set the type first; add tags that
 * follow from attributes afterwards, and before dialect_node_attrs_done. */
bool dialect_node_attrs_again(dialect *d, xir_str bytes);
/* Adds a name that a subgraph in the attributes takes from outside: an input after the node's own, listed in the tag
 * source.captures. Duplicates count once. The text must stay valid until the end of the node. */
bool dialect_node_capture(dialect *d, xir_str name);
/* Makes the op, the last in the order so far. NULL with a failure. */
xir_op *dialect_node_end(dialect *d, xir_str name);
/* Returns true if the limit allows one more op; otherwise a failure. */
bool dialect_node_fits(dialect *d);

/* ---- again.c --------------------------------------------------------------------------------------------------- */

/* Makes the op of such a node in one piece of memory. It is what dialect_node_end makes. */
bool dialect_node_again(dialect *d, const dialect_again *n);

/* ---- ends.c ---------------------------------------------------------------------------------------------------- */

/* Adds an input or output of the network. Texts must stay valid until the ops of both are made; `declared` need not,
 * and may be NULL. An absent ref is an absent output; trailing absent outputs are dropped. */
bool dialect_input(dialect *d, dialect_ref ref, const dialect_declared *declared);
bool dialect_output(dialect *d, dialect_ref ref, const dialect_declared *declared);
/* Makes the op of all inputs, the first of the network. Formats that know the inputs before the nodes may call it then,
 * which is cheaper; formats that reassign names must. */
bool dialect_make_inputs(dialect *d);
/* Makes the op of all outputs, the last of the network. */
bool dialect_make_outputs(dialect *d);
/* Drops constants that nothing uses: a list of their names becomes a tag of the network. */
bool dialect_drop_unused(dialect *d, const char *key);

/* ---- types.c --------------------------------------------------------------------------------------------------- */

/* The element type of a code; NULL if XIR has none, or with a failure. */
const xir_type *dialect_element(dialect *d, uint64_t code);
static inline bool dialect_has_element(const dialect *d, uint64_t code) {
    const element_code *e = element_code_at(d->about->elements, code);
    return e && e->kind != ELEMENT_NONE;
}
/* The tensor type with a layout of `*`; negative dims are unknown. NULL with a failure, or if `element` is NULL. */
const xir_type *dialect_tensor(dialect *d, const xir_type *element, const int64_t *dims, size_t rank);
/* The same for dims as declared: names go into the tag source.dims. */
bool dialect_declared_tensor(dialect *d, const xir_type *element, const dialect_dim *dims, size_t rank,
                             dialect_declared *out);
/* The number of elements and bytes of a tensor: XIR_E_LIMIT; XIR_E_BOUNDS for a negative dim. Elements smaller than a
 * byte are packed. */
xir_status dialect_size(const int64_t *dims, size_t rank, uint64_t bits, uint64_t *elements, uint64_t *bytes);

/* ---- params.c -------------------------------------------------------------------------------------------------- */

void dialect_parts_free(dialect_parts *p);
/* A part of a blob, in place: its bytes are not touched, and need not be aligned. NULL with a failure: out of
 * memory, or XIR_E_CORRUPT if it reaches beyond the blob. `parts` NULL: of the file. */
blob *dialect_part(dialect *d, dialect_parts *parts, uint64_t offset, uint64_t size);
/* The parts of a file that the file names, by the rules of named_files.h; opened once. NULL with a fault, which the
 * caller records (dialect_no_file) with its purpose. The text must stay valid until the end. */
dialect_parts *dialect_file(dialect *d, xir_str location, named_fault *fault);
/* Records such a fault: "WHAT: why". Returns false. */
bool dialect_no_file(dialect *d, uint64_t byte, const named_fault *fault, const char *what, ...) XIR_PRINTF(4, 5);

/* Params of a type (NULL: none) that take ownership of the bytes (NULL: none), which are released after a failure too.
 * They have no id: a constant gets one at its first use, an attribute from dialect_any_params. */
xir_value *dialect_params(dialect *d, xir_str name, const xir_type *type, blob *data);
/* A constant of the network. If it has a name, the name now refers to it. */
bool dialect_constant(dialect *d, xir_value *v);
bool dialect_constant_ref(dialect *d, xir_value *v, dialect_ref ref);
/* Params as an attribute value. False if `v` is NULL. */
bool dialect_any_params(dialect *d, xir_value *v, xir_any *out);

/* ---- captures.c ------------------------------------------------------------------------------------------------ */

typedef struct scope_name {
    xir_str  text;
    uint32_t next;      /* in the bucket: number + 1; 0: none */
    uint32_t bucket;
} scope_name;

/* Finds what a subgraph in an attribute takes from outside. A name is local if its graph, or an enclosing graph within
 * the attribute, defines it anywhere; all other names that it uses are captures of the node. Walking takes two passes
 * over a graph: its definitions, then its uses and the graphs in its nodes. */
typedef struct dialect_scopes {
    dialect     *d;
    dialect_list names;        /* scope_name: names in scope; texts are borrowed */
    uint32_t    *buckets;      /* number of the last name + 1; 0: none           */
    size_t       room;         /* a power of two                                 */
    uint32_t     depth, deepest;
} dialect_scopes;

void dialect_scopes_begin(dialect_scopes *s, dialect *d);
void dialect_scopes_end(dialect_scopes *s);
/* Enters a graph; XIR_E_LIMIT at `byte` if it is nested too deep. Pass *outside to dialect_scope_leave. */
bool dialect_scope_enter(dialect_scopes *s, uint64_t byte, size_t *outside);
void dialect_scope_leave(dialect_scopes *s, size_t outside);
/* Adds a name that the graph defines, or one that it uses; empty names are ignored. */
bool dialect_scope_define(dialect_scopes *s, xir_str name);
bool dialect_scope_use(dialect_scopes *s, xir_str name);
/* Keeps each capture of the node once, in order of first use. */
bool dialect_unite_captures(dialect *d);

#endif
