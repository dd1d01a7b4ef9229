/* Builds the network of a foreign model, whatever its format: opaque ops in the order of the file, their
 * attributes as they are, values found by names or by numbers, weights as parts of the file. Nothing is converted
 * here: that is for a pass.
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
 * Failure is sticky: the first one is recorded with its place, and from then on every call does nothing and
 * returns false or NULL; dialect_finish returns NULL then. So a reader may check where it must, or only at the
 * end.
 *
 * What a file gets wrong between names is kept and marked instead of refused, so that a check can list all of it:
 * a name that nothing defines is a value without an op, and a second value of a name has the tag source.duplicate.
 *
 * Texts that are given are copied unless the comment says otherwise. Every call costs what it is given: names are
 * hashed once, and a network of n names takes time in proportion to n. */
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

/* What a format says of itself. */
typedef struct dialect_about {
    const char          *prefix;      /* of its classes ("onnx::Conv") and tags ("onnx.doc_string"): "onnx"          */
    xir_framework        framework;   /* of the network                                                               */
    const element_codes *elements;    /* NULL: it has none                                                           */
    bool                 renames;     /* A use means the last definition before it, as in a list of instructions that
                                         assign; otherwise the first one, wherever it stands. */
} dialect_about;

/* A name and its hash, or a number: what a node says of a value. */
typedef struct dialect_ref {
    xir_str  text;
    uint64_t hash;    /* without text: the number + 1, 0 for nothing */
} dialect_ref;

/* What a file says of the type of a value. */
typedef struct dialect_declared {
    const xir_type *type;       /* NULL: it says none, or one that no type stands for   */
    const xir_map  *tags;       /* what the type cannot say: source.dims, …             */
} dialect_declared;

/* A dim as it is declared. */
typedef struct dialect_dim {
    int64_t size;
    bool    has_size;
    xir_str name;         /* of a dim without size; may be empty */
} dialect_dim;

/* What the nodes of one type have in common, and the attributes of the last of them: the next one's are often the
 * same bytes. */
typedef struct dialect_type {
    xir_str          name, domain;   /* borrowed */
    const xir_class *cls;
    const void      *attrs;
    xir_str          last;           /* the bytes that its last attributes were made of; size 0: none is remembered */
    const xir_map   *extra;
} dialect_type;

/* The heads of the parts of one blob, many for one allocation. */
typedef struct dialect_parts {
    blob  *whole, *keeper;
    size_t left;                /* heads that are free        */
    size_t next;                /* how many the next keeper has */
} dialect_parts;

/* The node that is being described. */
typedef struct dialect_node {
    dialect_type  *type;
    const xir_map *extra, *tags;
    dialect_list   in, out;       /* dialect_ref                            */
    dialect_list   slots;         /* xir_any: names of the first inputs     */
    dialect_list   attrs;         /* xir_entry                              */
    dialect_list   captures;      /* xir_str: names of its last inputs      */
    xir_str        bytes;         /* that its attributes are made of; size 0: not said */
    uint32_t       n_params;      /* of the network before its attributes   */
    const xir_map *tags_before;
} dialect_node;

typedef struct dialect_end { dialect_ref ref; dialect_declared declared; } dialect_end;

enum { DIALECT_TENSORS = 16, DIALECT_LAYOUTS = 9, DIALECT_ELEMENTS = 64 };

typedef struct dialect {
    xir_context          *ctx;
    xir_network          *net;
    const format_reading *how;
    const dialect_about  *about;
    trace                 trace;          /* where reading is: a format pushes its frames    */
    const uint8_t        *base;           /* of the file                                     */
    blob                 *whole;
    const xir_allocator  *alloc;
    arena                 scratch;        /* until the end                                   */
    char                  type_key[32];   /* "onnx.type"                                     */
    name_table            names;
    dialect_list          numbers;        /* xir_value *: NULL where nobody has asked        */
    dialect_type         *types;
    size_t                n_types, type_room;
    uint32_t             *type_slots;
    size_t                type_slot_room;
    const xir_type       *elements[DIALECT_ELEMENTS];
    const xir_layout     *layouts[DIALECT_LAYOUTS];
    const xir_type       *tensors[DIALECT_TENSORS];   /* made last, by their dims            */
    dialect_parts         parts;          /* of the file                                     */
    named_files           files;          /* that the file names                             */
    dialect_list          file_parts;     /* dialect_parts, of each                          */
    bool                  has_files;
    dialect_node          node;
    dialect_list          values;         /* xir_value *: inputs of an op that is being made */
    dialect_list          inputs, outputs;   /* dialect_end                                  */
    int64_t               n_nodes;
    bool                  has_inputs, has_outputs, has_dropped;
} dialect;

/* ---- dialect.c: begin, finish, tags ---------------------------------------------------------------------------- */

/* Begins a network. `about`, `how` and `whole` stay the caller's and must stay. False with a finding; then nothing
 * is to be released. */
bool dialect_begin(dialect *d, const dialect_about *about, const format_reading *how, blob *whole);
/* Makes the ends that are not made, leaves out constants that nothing uses, and gives the network; NULL after a
 * failure, and if the reader is not `ok`. The builder is released. */
xir_network *dialect_finish(dialect *d, bool ok);

static inline bool dialect_failed(const dialect *d) { return d->trace.status != XIR_OK; }
/* Records a failure at a byte of the file, XIR_NO_BYTE for none, under the frames of the trace. Returns false. */
#define DIALECT_FAIL(d, byte, code, ...) trace_fail(&(d)->trace, (code), (byte), __VA_ARGS__)

/* One more item of a list, uninitialised; NULL without memory, which is recorded. */
void *dialect_add_slow(dialect *d, dialect_list *list, size_t item);
static inline void *dialect_add(dialect *d, dialect_list *list, size_t item) {
    return list->size < list->room ? (char *)list->data + item * list->size++ : dialect_add_slow(d, list, item);
}
static inline void dialect_list_free(const dialect *d, dialect_list *list, size_t item) {
    mem_free(d->alloc, list->data, list->room * item);
}

/* Adds a tag to tags that are being gathered. Keys that only this format has begin with its prefix and a dot; keys of
 * source_tags.h mean the same in every format. */
bool dialect_tag(dialect *d, const xir_map **tags, const char *key, xir_any value);
bool dialect_tag_text(dialect *d, const xir_map **tags, const char *key, xir_str text);   /* none if it is empty */
/* The map of entries as a tag; of equal keys the last counts. Empties the list. */
bool dialect_tag_entries(dialect *d, const xir_map **tags, const char *key, dialect_list *entries);
/* Adds tags to those that a value has. */
bool dialect_value_tags(dialect *d, xir_value *v, const xir_map *tags);

/* ---- values.c: names, numbers, declared types ------------------------------------------------------------------ */

static inline uint64_t dialect_hash(const dialect *d, xir_str name) {
    return hash_text(d->names.seed, name.data, name.size);
}
/* A name for the calls below; memory is asked ahead where it will be looked for. The text must stay until the
 * call. */
static inline dialect_ref dialect_name(const dialect *d, xir_str text) {
    dialect_ref ref = { text, text.size ? dialect_hash(d, text) : 0 };
    if (text.size) name_prefetch(&d->names, ref.hash);
    return ref;
}
/* A number from 0 on, for formats that count values. Numbers are for dialect_expect_numbers to allow. */
static inline dialect_ref dialect_number(size_t i) { return (dialect_ref){ { NULL, 0 }, (uint64_t)i + 1 }; }
static inline bool dialect_is_nothing(dialect_ref ref) { return !ref.text.size && !ref.hash; }

/* So many names are likely to come; false without memory, which is recorded. */
bool dialect_expect_names(dialect *d, size_t n);
/* Numbers are below `n` from now on; others are XIR_E_BOUNDS. */
bool dialect_expect_numbers(dialect *d, size_t n);

/* The value that a use of the name means, made if nothing has defined it so far. The ref is not nothing. */
xir_value *dialect_use(dialect *d, dialect_ref ref);
/* The value of a name or number that something has used or defined; NULL, without a failure, if there is none. */
xir_value *dialect_find(dialect *d, dialect_ref ref);
/* `v` is what the ref stands for from now on, unless another value is it already: then `v` is a duplicate and
 * marked, and the first stays (of a format that renames, `v` takes the name). A name must be the value's own.
 * Nothing: it gets an id. */
bool dialect_define(dialect *d, xir_value *v, dialect_ref ref);
/* Names a value. */
bool dialect_name_value(dialect *d, xir_value *v, xir_str text);
/* The type that a file declares for a value counts where nothing else says it: neither a type nor the tag
 * PREFIX.type. */
bool dialect_declare(dialect *d, xir_value *v, const dialect_declared *declared);

/* ---- node.c ---------------------------------------------------------------------------------------------------- */

void dialect_node_begin(dialect *d);
/* The type of the node, of the class "PREFIX::domain.name"; an empty domain has no dot. Both texts must stay until
 * the end. */
bool dialect_node_type(dialect *d, xir_str domain, xir_str name);
/* The next input or output. Nothing: an absent input, an output that has no name. Texts must stay until
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
/* The format's own name of input `i`, which has been added: the tag source.inputs lists them. The text must stay. */
bool dialect_node_slot(dialect *d, size_t i, xir_str slot);
/* An attribute. The value is copied; `_kept` takes one whose texts, lists and maps are in the network's arena. The
 * type comes before. A key that every op has in files, or that begins with PREFIX and a dot, gets them in front. */
bool dialect_node_attr(dialect *d, xir_str key, const xir_any *value);
bool dialect_node_attr_kept(dialect *d, xir_str key, xir_any value);
/* Says that all attributes are there: XIR_E_EXISTS if two have one key. For formats that have a frame for them;
 * dialect_node_end calls it otherwise. */
bool dialect_node_attrs_done(dialect *d);
/* Says what bytes the attributes are made of that follow; the bytes must stay until the end. True: the last node
 * of this type had the same, and this one has its attributes now: none needs to be added. The type comes before;
 * tags that attributes are the reason for come after, and before dialect_node_attrs_done. */
bool dialect_node_attrs_again(dialect *d, xir_str bytes);
/* A name that a subgraph in the attributes takes from outside: an input after the node's own, which
 * source.captures names. Each counts once. The text must stay until the end of the node. */
bool dialect_node_capture(dialect *d, xir_str name);
/* Makes the op, which comes last in the order. NULL with a failure. */
xir_op *dialect_node_end(dialect *d, xir_str name);

/* ---- ends.c ---------------------------------------------------------------------------------------------------- */

/* The next input or output of the network. Texts must stay until the ends are made, `declared` need not and may be
 * NULL. An output that is nothing is an absent one; at the end they are left out. */
bool dialect_input(dialect *d, dialect_ref ref, const dialect_declared *declared);
bool dialect_output(dialect *d, dialect_ref ref, const dialect_declared *declared);
/* Makes the op of all inputs, the first of the network. For formats that know them before the nodes: it is cheaper
 * then; and where names are reassigned it must be done. */
bool dialect_make_inputs(dialect *d);
/* Makes the op of all outputs, the last of the network. */
bool dialect_make_outputs(dialect *d);
/* Leaves out constants that nothing uses: a list of their names becomes a tag of the network. */
bool dialect_drop_unused(dialect *d, const char *key);

/* ---- types.c --------------------------------------------------------------------------------------------------- */

/* The element type of a code; NULL if none stands for it, or with a failure. */
const xir_type *dialect_element(dialect *d, uint64_t code);
static inline bool dialect_has_element(const dialect *d, uint64_t code) {
    const element_code *e = element_code_at(d->about->elements, code);
    return e && e->kind != ELEMENT_NONE;
}
/* The tensor type with a layout of `*`; dims below 0 are unknown ones. NULL with a failure, or without `element`. */
const xir_type *dialect_tensor(dialect *d, const xir_type *element, const int64_t *dims, size_t rank);
/* The same for dims as declared: names go into the tag source.dims. */
bool dialect_declared_tensor(dialect *d, const xir_type *element, const dialect_dim *dims, size_t rank,
                             dialect_declared *out);
/* How many elements and bytes a tensor takes: XIR_E_LIMIT, XIR_E_BOUNDS with a dim below 0. Elements of less than
 * a byte are packed. */
xir_status dialect_size(const int64_t *dims, size_t rank, uint64_t bits, uint64_t *elements, uint64_t *bytes);

/* ---- params.c -------------------------------------------------------------------------------------------------- */

void dialect_parts_free(dialect_parts *p);
/* A part of a blob, in place: its bytes are not touched, and need not be aligned. NULL with a failure: without
 * memory, XIR_E_CORRUPT if it reaches beyond the blob. `parts` NULL: of the file. */
blob *dialect_part(dialect *d, dialect_parts *parts, uint64_t offset, uint64_t size);
/* The same, but bytes that do not begin at a multiple of `alignment` in memory (a power of two) are copied. */
blob *dialect_part_aligned(dialect *d, dialect_parts *parts, uint64_t offset, uint64_t size, size_t alignment);
/* The parts of a file that the file names, by the rules of named_files.h; opened once. NULL with a fault, which is
 * for the caller to record (dialect_no_file) with what it was for. The text must stay until the end. */
dialect_parts *dialect_file(dialect *d, xir_str location, named_fault *fault);
/* Records that: "WHAT: why". Returns false. */
bool dialect_no_file(dialect *d, uint64_t byte, const named_fault *fault, const char *what, ...) XIR_PRINTF(4, 5);

/* Params of a type (NULL: none), with bytes (NULL: none) that are theirs from now on; they are released after a
 * failure, too. They have no id: a constant gets it where it is used first, an attribute by dialect_any_params. */
xir_value *dialect_params(dialect *d, xir_str name, const xir_type *type, blob *data);
/* A constant of the network: what its name stands for, if it has one. */
bool dialect_constant(dialect *d, xir_value *v);
bool dialect_constant_ref(dialect *d, xir_value *v, dialect_ref ref);
/* Params as a value of attributes. False without `v`. */
bool dialect_any_params(dialect *d, xir_value *v, xir_any *out);

/* ---- captures.c ------------------------------------------------------------------------------------------------ */

typedef struct scope_name {
    xir_str  text;
    uint32_t next;      /* in the bucket, its number + 1 */
    uint32_t bucket;
} scope_name;

/* What a subgraph in an attribute takes from outside. A name is its own if its graph, or one around it within the
 * attribute, defines it, wherever; all others that it uses are captures of the node. Walking takes two steps a
 * graph: its definitions, then its uses and the graphs in its nodes. */
typedef struct dialect_scopes {
    dialect     *d;
    dialect_list names;        /* scope_name: those in force; texts are borrowed */
    uint32_t    *buckets;      /* of the last name + 1; 0: none                  */
    size_t       room;         /* a power of two                                 */
    uint32_t     depth, deepest;
} dialect_scopes;

void dialect_scopes_begin(dialect_scopes *s, dialect *d);
void dialect_scopes_end(dialect_scopes *s);
/* Enters a graph; XIR_E_LIMIT at `byte` where they are nested too deeply. *outside is for dialect_scope_leave. */
bool dialect_scope_enter(dialect_scopes *s, uint64_t byte, size_t *outside);
void dialect_scope_leave(dialect_scopes *s, size_t outside);
/* A name that the graph defines, and one that it uses; empty ones are neither. */
bool dialect_scope_define(dialect_scopes *s, xir_str name);
bool dialect_scope_use(dialect_scopes *s, xir_str name);
/* Leaves each capture of the node once, where it was met first. */
bool dialect_unite_captures(dialect *d);

#endif
