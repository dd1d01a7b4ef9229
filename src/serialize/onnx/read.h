/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Shared by the files that read ONNX. A model is read in one pass over its bytes, in place; weights in the graph become
 * parts of the file. The bytes are hostile: the walk checks the wire format (wire.h), and the reader of each message
 * checks its meaning.
 *
 * Protobuf leaves some oddities to readers. Here: if a singular number or text appears again, the last one counts. If a
 * singular message appears again, it is refused, since its parts would have to be merged, and no writer writes that
 * (only GraphProto is merged, because it costs nothing). A known field with another wire type is refused, an unknown
 * field is skipped. */
#ifndef SERIALIZE_ONNX_READ_H
#define SERIALIZE_ONNX_READ_H

#include "dialect/dialect.h"
#include "onnx/wire.h"

/* Fields of one number that are adjacent in a GraphProto. */
typedef struct proto_run {
    uint32_t   field;
    wire_bytes fields;
} proto_run;

/* An initializer. */
typedef struct proto_constant {
    wire_bytes message;
    xir_value *v;
    bool       sparse;
} proto_constant;

typedef struct proto_type_memo { wire_bytes of; dialect_declared declared; } proto_type_memo;
enum { PROTO_TYPE_MEMOS = 64 };

/* An op type of the default domain, which a node is compared with: up to eight bytes each of its begin and its end. */
enum { PROTO_KNOWN = 64, PROTO_WAITING = 8 };
typedef struct proto_known {
    uint64_t begin, end;
    xir_str  name;            /* size 0: none */
    size_t   type;            /* its number   */
} proto_known;

/* A node that is like an earlier one, whose op is made when some more have been read: meanwhile, memory responds. */
typedef struct proto_waiting { dialect_again node; size_t index; /* of the node in the file */ } proto_waiting;

typedef struct proto_reader {
    dialect         d;
    /* the graph */
    dialect_list    runs;                     /* proto_run */
    size_t          n_nodes, n_initializers, n_sparse;
    proto_type_memo types[PROTO_TYPE_MEMOS];
    proto_known     known[PROTO_KNOWN];
    proto_waiting   waiting[PROTO_WAITING];   /* a ring */
    size_t          first_waiting, n_waiting;
    /* the message being read */
    dialect_list    dims;                     /* int64_t */
    dialect_list    attributes;               /* wire_bytes */
    dialect_list    entries;                  /* xir_entry */
    dialect_list    items;                    /* xir_any: of a list */
    dialect_list    docs, kinds;              /* xir_entry: texts of attributes; kinds that values do not show */
    dialect_list    order;                    /* xir_any: names of attributes, as in the file */
    dialect_list    devices;                  /* xir_any: messages in base64 */
    bool            odd_type;                 /* the last description does not say all of its type */
    /* what only a writer needs */
    dialect_list    constants;                /* proto_constant */
    dialect_list    other_values, other_annotations;   /* xir_any: messages in base64 */
    bool            has_defaults;             /* an initializer that is declared as an input is its default */
    uint64_t        kept;                     /* bytes of unused initializers so far */
    xir_str         symbols;                  /* the entry xir.symbols */
    uint64_t        dense;                    /* bytes that sparse tensors may still expand to */
} proto_reader;

/* ---- read.c ---------------------------------------------------------------------------------------------------- */

xir_network *proto_read(const format_reading *how, blob *whole);
/* Begins a network of the bytes of one message, and ends it: NULL after a failure, or if the reader is not `ok`. False
 * with a finding; then there is nothing to end. */
bool         proto_begin(proto_reader *r, const format_reading *how, blob *whole);
xir_network *proto_finish(proto_reader *r, bool ok);
/* Reads an OperatorSetIdProto as one more entry of a map. */
bool         proto_read_opset(proto_reader *r, const wire_field *f, dialect_list *opsets);

/* A place in the message being read: pushed before a field is read, popped after it. */
static inline frame proto_enter(proto_reader *r, xir_str key) {
    return (frame){ .up = r->d.trace.top, .key = key, .index = SIZE_MAX };
}
#define PROTO_ENTER(r, frame_name, field_name)                        \
    frame frame_name = proto_enter((r), XIR_STR(field_name));         \
    (r)->d.trace.top = &frame_name
#define PROTO_LEAVE(r, frame_name) ((r)->d.trace.top = (frame_name).up)
/* The same for item `i` of a repeated field: two frames. */
#define PROTO_ENTER_AT(r, frame_name, field_name, i)                                                         \
    frame frame_name[2] = { proto_enter((r), XIR_STR(field_name)), { .up = &frame_name[0], .index = (i) } }; \
    (r)->d.trace.top = &frame_name[1]
#define PROTO_LEAVE_AT(r, frame_name) ((r)->d.trace.top = (frame_name)[0].up)

static inline uint64_t proto_byte(const proto_reader *r, const uint8_t *at) {
    return at >= r->d.base && at <= r->d.base + r->d.whole->size ? (uint64_t)(at - r->d.base) : XIR_NO_BYTE;
}
/* Records a failure at a byte of the file. Returns false. */
#define PROTO_FAIL(r, at, code, ...) trace_fail(&(r)->d.trace, (code), proto_byte((r), (at)), __VA_ARGS__)

/* Returns true if a walk has reached its end without a fault; a fault is recorded. */
bool proto_end_slow(proto_reader *r, const wire *w);
static inline bool proto_end(proto_reader *r, const wire *w) { return w->fault == WIRE_GOOD || proto_end_slow(r, w); }
/* Returns true if a field has the required wire type; otherwise a failure under its name. */
bool proto_kind_fail(proto_reader *r, const wire_field *f, wire_kind kind, xir_str name);
#define PROTO_WANT(r, f, expected, name) \
    ((f)->kind == (expected) || proto_kind_fail((r), (f), (expected), XIR_STR(name)))
/* A singular message: sets *out, which must be empty so far. */
bool proto_once(proto_reader *r, const wire_field *f, wire_bytes *out, xir_str name);
#define PROTO_ONCE(r, f, out, name) proto_once((r), (f), (out), XIR_STR(name))

static inline xir_str proto_str(wire_bytes b) { return (xir_str){ (const char *)b.at, b.size }; }
/* Returns true if the bytes are UTF-8; usually they are ASCII. */
bool proto_is_utf8(wire_bytes b);
static inline bool proto_is_ascii(wire_bytes b) {
    const char *at = (const char *)b.at;
    uint64_t all = 0;
    size_t i = 0;
    for (; i + 8 <= b.size; i += 8) all |= hash_word(at + i, 8);
    if (b.size >= 8) all |= hash_word(at + b.size - 8, 8);
    else if (b.size >= 4) all |= hash_word(at, 4) | hash_word(at + b.size - 4, 4);
    else for (; i < b.size; i++) all |= (unsigned char)at[i];
    return !(all & HASH_NOT_ASCII);
}
static inline bool proto_is_text(wire_bytes b) { return proto_is_ascii(b) || proto_is_utf8(b); }
/* A text that must be UTF-8, such as a name. */
bool proto_text_fail(proto_reader *r, const wire_field *f, xir_str name);
static inline bool proto_text(proto_reader *r, const wire_field *f, wire_bytes *out, xir_str name) {
    *out = f->bytes;
    return (f->kind == WIRE_BYTES && proto_is_text(f->bytes)) || proto_text_fail(r, f, name);
}
#define PROTO_TEXT(r, f, out, name) proto_text((r), (f), (out), XIR_STR(name))

/* Reads a StringStringEntryProto as one more entry of a map. `name` empty: its place has been pushed. */
bool proto_add_entry(proto_reader *r, const wire_field *f, dialect_list *entries, xir_str name);

/* Adds a message to a list of texts in base64. */
bool proto_keep(proto_reader *r, wire_bytes message, dialect_list *list);

/* ---- keep.c: what only a writer needs -------------------------------------------------------------------------- */

/* The messages of initializers that nothing uses become a tag, unless they are large or in other files. */
bool proto_keep_unused(proto_reader *r);
/* The entry xir.symbols declares the symbols of its lines before the dims of inputs get names, and afterwards every dim
 * that is an expression over them becomes one. */
bool proto_declare_symbols(proto_reader *r);
bool proto_spell_dims(proto_reader *r);

/* Asks for the bytes of the nodes some positions ahead, about two cache lines for each. */
__attribute__((always_inline)) static inline void proto_prefetch(const uint8_t *at) {
    enum { AHEAD = 1024, LINE = 64 };
    __builtin_prefetch((const void *)((uintptr_t)at + AHEAD));
    __builtin_prefetch((const void *)((uintptr_t)at + AHEAD + LINE));
}

/* ---- graph.c --------------------------------------------------------------------------------------------------- */

/* A GraphProto of the model: reads initializers, and records the other fields for proto_read_graph. */
bool proto_scan_graph(proto_reader *r, wire_bytes graph);
bool proto_read_graph(proto_reader *r);
/* The same for a FunctionProto: its attributes with defaults become an op without inputs and outputs. */
bool proto_scan_function(proto_reader *r, wire_bytes function);
bool proto_read_function(proto_reader *r);

/* ---- node.c, again.c, attribute.c, capture.c ------------------------------------------------------------------- */

bool proto_read_node(proto_reader *r, wire_bytes node);
/* The same for a node that is like an earlier one: false if it is not, or after a failure. */
bool proto_read_again(proto_reader *r, wire_bytes node, size_t index);
/* Makes the ops of all nodes that still wait. The innermost place is that of a node. */
bool proto_make_waiting(proto_reader *r);
/* Remembers the type of the node that is being read. */
void proto_know_type(proto_reader *r, xir_str op_type);
/* Reads one AttributeProto of the node; the fields other than its value go into r->docs and r->kinds. */
bool proto_read_attribute(proto_reader *r, wire_bytes attribute);
/* The names that a graph uses but does not define become captures of the node. */
bool proto_find_captures(proto_reader *r, wire_bytes graph);

/* ---- type.c ---------------------------------------------------------------------------------------------------- */

static inline const element_code *proto_element_of(uint64_t which) {
    return element_code_at(&element_codes_onnx, which);
}
/* The field of TensorProto for elements of a type outside raw_data, or 0. */
uint32_t proto_data_field(uint64_t element);
bool proto_read_type(proto_reader *r, wire_bytes type, dialect_declared *out);
/* The description of a type, in the arena: "seq(tensor(float)[2,N])". *bytes is the message in base64 if the
 * description cannot be read again as this type, otherwise null. */
bool proto_describe_type(proto_reader *r, wire_bytes type, xir_str *out, xir_any *bytes);
/* "tensor(string)[2,3]" */
bool proto_describe_tensor(proto_reader *r, uint64_t element, const int64_t *dims, size_t rank, xir_str *out);

/* ---- tensor.c, sparse.c ---------------------------------------------------------------------------------------- */

/* The fields of a TensorProto; dims are in r->dims. */
typedef struct proto_tensor {
    wire_bytes whole, name, doc;
    uint64_t   element;
    wire_bytes raw;
    bool       has_raw, external;
    uint32_t   data;          /* the field of typed elements; 0: none     */
    uint64_t   n_data;        /* number of such fields                    */
    wire_bytes packed;        /* the bytes of the last one                */
    bool       is_packed;
    bool       has_metadata;
} proto_tensor;
bool proto_scan_tensor(proto_reader *r, wire_bytes tensor, proto_tensor *out);
/* Params of a tensor, without id; NULL with a failure. They get their bytes unless only the structure is wanted. */
xir_value *proto_make_tensor(proto_reader *r, const proto_tensor *t);
/* Params with bytes of the file. */
xir_value *proto_make_bytes(proto_reader *r, xir_str name, wire_bytes bytes);
/* Appends all numbers of a field, packed or not, to `out` as int64_t. */
bool proto_int64s(proto_reader *r, const wire_field *f, dialect_list *out, xir_str name);
/* A sparse initializer: dense Params with a mark. */
xir_value *proto_read_sparse(proto_reader *r, wire_bytes sparse, wire_bytes *name);
/* A sparse attribute: the map of its parts. */
bool proto_sparse_any(proto_reader *r, wire_bytes sparse, xir_any *out);

#endif
