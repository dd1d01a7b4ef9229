/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Shared by the files that read and write TSM, the module of TensorStack (docs/tsm.md). A module is one stream without
 * offsets or padding, little-endian:
 *
 *     header       128 bytes: a word that readers ignore, the code 0x19910929, 120 bytes for the user
 *     ends         the inputs and the outputs: a count and numbers of nodes each
 *     graph        a count of nodes; each node is a bubble and its inputs, a count and numbers of nodes
 *     bubble       a count of parameters; each is a name and a packed tensor
 *     packed       a count of tensors; each is a type of one byte, a rank, dims, and the elements
 *
 * Name and operator of a node are parameters too. Every node has one output. Nodes are in any order.
 *
 * A network has `<param>` nodes as inputs, `<const>` nodes as Params, and all others as ops of class "tsm::" and the
 * operator. Parameters become attributes by value: a number, a bool, a text, or a flat list of numbers. What a value
 * cannot say (its type, if the usual writer would choose another one) is in tags. */
#ifndef SERIALIZE_TSM_TSM_H
#define SERIALIZE_TSM_TSM_H

#include "dialect/dialect.h"
#include "little.h"

enum { TSM_HEADER = 128, TSM_USER = 120 };
#define TSM_CODE 0x19910929u

enum { TSM_VOID = 0, TSM_INT8 = 1, TSM_INT32 = 5, TSM_INT64 = 7, TSM_UINT64 = 8, TSM_FLOAT16 = 9, TSM_FLOAT32 = 10,
       TSM_FLOAT64 = 11, TSM_PTR = 12, TSM_CHAR8 = 13, TSM_BOOLEAN = 21 };
/* Longer lists of numbers, and those of more dims, are Params. */
enum { TSM_LIST_MOST = 4096, TSM_RANK_MOST = 64 };

/* Tags of this format. */
#define TSM_TAG_HEADER "tsm.header"   /* of the network: the fake word and the user's bytes, if they are not zero */
#define TSM_TAG_NODES  "tsm.nodes"    /* of the network: the order of the nodes, if it is not the usual one */
#define TSM_TAG_CSTA   "tsm.csta"     /* of the network: the container that the module was in                         */
#define TSM_TAG_PARAMS "tsm.params"   /* of an op or a value: what is unusual about the parameters of its node */
#define TSM_TAG_TYPE   "tsm.type"     /* of Params whose elements XIR does not have: the type and the dims            */
#define TSM_TAG_DEVICE "tsm.device"   /* of Params: the parameter `device` */
/* An undeclared attribute of the Input op: the Params that nothing uses. */
#define TSM_ATTR_UNUSED "tsm.unused"

/* The most that a dim, and another count, can be. */
enum { TSM_DIM_MOST = INT32_MAX };
#define TSM_COUNT_MOST UINT32_MAX
/* Returns true if the length of a text, list or map is at most this. */
static inline bool tsm_can_count(const xir_any *v, uint32_t most) {
    return v->kind == XIR_ANY_TEXT ? v->as.text.size <= most
         : v->kind == XIR_ANY_LIST ? v->as.list.size <= most
         : v->kind != XIR_ANY_MAP || v->as.map.size <= most;
}
static inline bool tsm_is(xir_str text, const char *word) {
    return text.size == strlen(word) && memcmp(text.data, word, text.size) == 0;
}

/* ---- cursor.c: reading the stream ------------------------------------------------------------------------------- */

/* The rest of a stream. All positions count from `base`. */
typedef struct tsm_cursor {
    const uint8_t *base, *p, *end;
    trace         *trace;
} tsm_cursor;

/* One tensor of a packed one, in place. */
typedef struct tsm_tensor {
    uint8_t        dtype;
    uint32_t       rank;
    const uint8_t *at, *dims, *data;   /* its first byte, its dims of 32 bits, its elements */
    uint64_t       elements, bytes;
} tsm_tensor;

static inline uint64_t tsm_at(const tsm_cursor *c, const uint8_t *p) { return (uint64_t)(p - c->base); }
static inline uint64_t tsm_left(const tsm_cursor *c) { return (uint64_t)(c->end - c->p); }
static inline int64_t tsm_dim(const tsm_tensor *t, uint32_t i) {
    return (int32_t)little_u32(t->dims + 4 * (size_t)i);
}
/* All return false after a failure, which is recorded. `what`: "the name of a parameter". */
/* A count of items that take at least `least` bytes each, at most 2^31. Most of what is read is counts. */
bool tsm_bad_count(tsm_cursor *c, uint64_t least, const char *what);
static inline bool tsm_take_count(tsm_cursor *c, uint64_t least, uint32_t *out, const char *what) {
    const uint64_t left = tsm_left(c);
    *out = left < 4 ? 0 : little_u32(c->p);
    if (left < 4 || *out * least > left - 4) return tsm_bad_count(c, least, what);
    c->p += 4;
    return true;
}
static inline bool tsm_take_u32(tsm_cursor *c, uint32_t *out, const char *what) {
    return tsm_take_count(c, 0, out, what);
}
static inline bool tsm_take_text(tsm_cursor *c, xir_str *out, const char *what) {
    uint32_t n;
    if (!tsm_take_count(c, 1, &n, what)) return false;
    *out = (xir_str){ (const char *)c->p, n };
    c->p += n;
    return true;
}
bool tsm_take_tensor(tsm_cursor *c, uint64_t most, tsm_tensor *out);
/* Texts are CHAR8 of rank 1. */
static inline bool tsm_is_text(const tsm_tensor *t) { return t->dtype == TSM_CHAR8 && t->rank == 1; }
static inline xir_str tsm_text(const tsm_tensor *t) {
    return (xir_str){ (const char *)t->data, (size_t)t->bytes };
}
/* The integers that a tensor of numbers has at `i`; false if its elements are not numbers. */
bool tsm_integer(const tsm_tensor *t, size_t i, int64_t *out);
/* Returns true if all of a text is UTF-8. */
bool tsm_is_utf8(xir_str text);

/* ---- scan.c: the whole stream once, before anything is made ---------------------------------------------------- */

typedef enum tsm_kind { TSM_OP, TSM_INPUT, TSM_CONST, TSM_VAR } tsm_kind;
/* Returns the kind of a node that has this operator, such as "<param>". */
tsm_kind tsm_kind_of(xir_str op);

typedef struct tsm_node {
    const uint8_t *params, *inputs;     /* its first parameter, its first input              */
    const uint8_t *rest;                /* usual: the parameters that follow                  */
    xir_value     *params_value;        /* of a <const> of one tensor                         */
    xir_str        op, name;
    uint32_t       n_params, n_inputs;
    uint8_t        kind;                /* tsm_kind                                          */
    uint8_t        state;               /* of ordering                                        */
    bool           usual;               /* #name and #op come first, in this order             */
    bool           sorted;              /* the names of the parameters ascend                 */
    bool           listed;              /* an input of the network                            */
    bool           reached;             /* from an output                                     */
    bool           made, unused;        /* a <const> of several tensors, an op; one without uses */
} tsm_node;

/* The tag of the last node of a class, because of the bytes of its parameters. */
typedef struct tsm_memo { const xir_class *cls; const xir_map *tags; } tsm_memo;
enum { TSM_MEMOS = 64 };

/* ---- container.c --------------------------------------------------------------------------------------------- */

typedef enum tsm_wrapping { TSM_UNKNOWN, TSM_MODULE, TSM_CONTAINER, TSM_SCRAMBLED } tsm_wrapping;
/* The kind of a file by its first bytes. */
tsm_wrapping tsm_wrapping_of(const uint8_t *head, size_t size);
/* Combines whole blocks with the key, or takes it out again. */
void tsm_scramble(uint8_t *p, uint64_t size);

/* A container that was read. Positions are in `plain`, or in the file if that is NULL. */
typedef struct tsm_container {
    const xir_allocator *alloc;
    arena                scratch;
    blob                *plain;         /* of a scrambled one                               */
    bool                 scrambled, found;
    uint64_t             at, size;      /* the module                                        */
    xir_str              file;          /* that has the module; size 0: it is inside         */
    xir_any              tree;
} tsm_container;
/* False after a failure; must be closed in any case. */
bool tsm_container_open(tsm_container *to, const format_reading *how, blob *whole, bool scrambled, trace *place);
void tsm_container_close(tsm_container *c);
/* Continues a sum over bytes, which begins with 0. */
uint64_t tsm_sum(uint64_t sum, const void *data, size_t size);

/* The bytes of a container without the piece of the module. */
typedef struct tsm_tree { buffer out; size_t module_at; bool has_module; } tsm_tree;
/* Of a tag's tree, or of one that has only the module (NULL). False if the tree is malformed; out.failed: no memory. */
bool tsm_tree_make(tsm_tree *t, const xir_any *tree);
/* Appends the piece of the module: the beginning of its bytes, or the name of its file. */
void tsm_tree_module(buffer *out, bool binary, uint64_t size, xir_str file);

/* ---- scan.c, continued ------------------------------------------------------------------------------------------ */

typedef struct tsm_reader {
    dialect        d;
    tsm_cursor     c;
    dialect_parts *parts;               /* of the file with the module; NULL: the one that is read */
    const uint8_t *module;              /* its first byte                                    */
    const uint8_t *ends[2];             /* the numbers of inputs and outputs                 */
    uint32_t       n_ends[2];
    tsm_node      *nodes;
    size_t         n, node_room;
    uint32_t      *order;               /* of execution                                      */
    uint64_t       packed, repeated_names;   /* tensors of parameters with several; names that their node has before  */
    xir_status     status;              /* of the first fault                                */
    text_table     names;               /* of the parameters of one node                      */
    text_table     node_names;          /* numbers of nodes                                    */
    dialect_list   again;               /* const uint8_t *: parameters whose names their node has before, ascending  */
    dialect_list   types, more;         /* xir_entry: of the tag of one node (node.c)          */
    dialect_list   repeats, repeated;   /* xir_any: what parameters in `again` have; their names */
    dialect_list   dims;                /* int64_t                                             */
    tsm_memo       memos[TSM_MEMOS];
} tsm_reader;

/* Reads header, ends and nodes; every fault is a finding. False after one. */
bool tsm_scan(tsm_reader *r);
/* Adds a finding about a node, and goes on. `where`: "/params/value"; "": the node. */
void tsm_fault(tsm_reader *r, xir_status code, const uint8_t *at, size_t node, const char *where, const char *sentence,
               ...) XIR_PRINTF(6, 7);
/* order.c: the nodes in an order of execution; marks those that outputs reach. Faults are findings. */
bool tsm_order(tsm_reader *r);
static inline uint32_t tsm_input(const tsm_node *n, uint32_t i) { return little_u32(n->inputs + 4 * (size_t)i); }

/* ---- value.c: tensors as values, and back ------------------------------------------------------------------------ */

/* The tensor that the usual writer makes of a value of this name. */
typedef struct tsm_usual {
    uint8_t  dtype;
    uint32_t rank;
    int64_t  dims[2];
} tsm_usual;

/* A tensor by value; its texts and lists are in the arena of the network. False without a failure if it must be
 * Params. */
bool tsm_read_plain(tsm_reader *r, const tsm_tensor *t, xir_any *out);
/* Returns true if the usual writer makes this tensor of a value. */
bool tsm_is_usual(xir_str name, const xir_any *value, const tsm_tensor *t);
/* The code of an element type; false if TSM has none. */
bool tsm_code_of(const xir_type *element, uint8_t *out);
/* Appends a tensor of a value: of the type and dims that `kept` says ([5, 4, 2]), if the value fits them, otherwise as
 * usual. False if TSM cannot hold it; not of Params. */
bool tsm_put_plain(buffer *out, xir_str name, const xir_any *value, const xir_any *kept);
void tsm_put_head(buffer *out, uint8_t dtype, const int64_t *dims, size_t rank);
void tsm_put_word(buffer *out, uint32_t v);
void tsm_put_text(buffer *out, xir_str text);
/* Bytes as hexadecimal digits, and back: false if they are not. */
void tsm_put_digits(buffer *out, const uint8_t *p, size_t n);
bool tsm_take_digits(xir_str text, buffer *out);

/* ---- the network ------------------------------------------------------------------------------------------------- */

xir_network *tsm_read(const format_reading *how, blob *whole);
xir_status   tsm_write(xir_network *net, const format_writing *how);
/* node.c: ops, Params and inputs of nodes. */
bool tsm_make_op(tsm_reader *r, uint32_t i);
bool tsm_make_const(tsm_reader *r, uint32_t i);
bool tsm_declare_input(tsm_reader *r, uint32_t i, dialect_declared *out);

#endif
