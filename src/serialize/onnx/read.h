/* What the files that read ONNX share. A model is read in one go over its bytes, where they lie; what the graph keeps
 * of weights are parts of the file. Bytes are hostile: the wire is checked by its walk (wire.h), what it means by who
 * reads the message.
 *
 * Protobuf leaves it to readers what to make of oddities. Here: of a number or text that should be there once and is
 * there again, the last counts. A message that should be there once and is there again is refused, since its parts
 * would have to be put together, and no writer writes such a thing (only GraphProto is put together, because it
 * costs nothing). A known field of another wire type is refused, an unknown one is passed over. */
#ifndef SERIALIZE_ONNX_READ_H
#define SERIALIZE_ONNX_READ_H

#include "dialect/dialect.h"
#include "onnx/wire.h"

/* Fields of one number that stand next to each other in a GraphProto. */
typedef struct proto_run {
    uint32_t   field;
    wire_bytes fields;
} proto_run;

typedef struct proto_type_memo { wire_bytes of; dialect_declared declared; } proto_type_memo;
enum { PROTO_TYPE_MEMOS = 64 };

typedef struct proto_reader {
    dialect         d;
    /* the graph */
    dialect_list    runs;                     /* proto_run */
    size_t          n_nodes, n_initializers, n_sparse;
    proto_type_memo types[PROTO_TYPE_MEMOS];
    /* of the message that is being read */
    dialect_list    dims;                     /* int64_t */
    dialect_list    attributes;               /* wire_bytes */
    dialect_list    entries;                  /* xir_entry */
    dialect_list    items;                    /* xir_any: of a list */
    dialect_list    docs;                     /* xir_entry: texts of attributes */
    uint64_t        dense;                    /* bytes that sparse tensors may still become */
} proto_reader;

/* ---- read.c ---------------------------------------------------------------------------------------------------- */

xir_network *proto_read(const format_reading *how, blob *whole);

/* A place in the message that is being read: pushed before what is in a field is read, popped behind it. */
static inline frame proto_enter(proto_reader *r, xir_str key) {
    return (frame){ .up = r->d.trace.top, .key = key, .index = SIZE_MAX };
}
#define PROTO_ENTER(r, frame_name, field_name)                        \
    frame frame_name = proto_enter((r), XIR_STR(field_name));         \
    (r)->d.trace.top = &frame_name
#define PROTO_LEAVE(r, frame_name) ((r)->d.trace.top = (frame_name).up)
/* The same for item `i` of a field that repeats: two frames. */
#define PROTO_ENTER_AT(r, frame_name, field_name, i)                                                         \
    frame frame_name[2] = { proto_enter((r), XIR_STR(field_name)), { .up = &frame_name[0], .index = (i) } }; \
    (r)->d.trace.top = &frame_name[1]
#define PROTO_LEAVE_AT(r, frame_name) ((r)->d.trace.top = (frame_name)[0].up)

static inline uint64_t proto_byte(const proto_reader *r, const uint8_t *at) {
    return at >= r->d.base && at <= r->d.base + r->d.whole->size ? (uint64_t)(at - r->d.base) : XIR_NO_BYTE;
}
/* Records a failure at a byte of the file. Returns false. */
#define PROTO_FAIL(r, at, code, ...) trace_fail(&(r)->d.trace, (code), proto_byte((r), (at)), __VA_ARGS__)

/* Whether a walk has come to its end without a fault, which is recorded otherwise. */
bool proto_end_slow(proto_reader *r, const wire *w);
static inline bool proto_end(proto_reader *r, const wire *w) { return w->fault == WIRE_GOOD || proto_end_slow(r, w); }
/* Whether a field has the wire type that it must; a failure under its name otherwise. */
bool proto_kind_fail(proto_reader *r, const wire_field *f, wire_kind kind, xir_str name);
#define PROTO_WANT(r, f, expected, name) \
    ((f)->kind == (expected) || proto_kind_fail((r), (f), (expected), XIR_STR(name)))
/* A message that is there once: sets *out, which has no bytes so far. */
bool proto_once(proto_reader *r, const wire_field *f, wire_bytes *out, xir_str name);
#define PROTO_ONCE(r, f, out, name) proto_once((r), (f), (out), XIR_STR(name))

static inline xir_str proto_str(wire_bytes b) { return (xir_str){ (const char *)b.at, b.size }; }
/* Whether it is UTF-8: mostly it is ASCII. */
bool proto_is_utf8(wire_bytes b);
static inline bool proto_is_text(wire_bytes b) {
    const char *at = (const char *)b.at;
    uint64_t all = 0;
    size_t i = 0;
    for (; i + 8 <= b.size; i += 8) all |= hash_word(at + i, 8);
    if (b.size >= 8) all |= hash_word(at + b.size - 8, 8);
    else if (b.size >= 4) all |= hash_word(at, 4) | hash_word(at + b.size - 4, 4);
    else for (; i < b.size; i++) all |= (unsigned char)at[i];
    return !(all & 0x8080808080808080u) || proto_is_utf8(b);
}
/* A text that must be UTF-8: names. */
bool proto_text_fail(proto_reader *r, const wire_field *f, xir_str name);
static inline bool proto_text(proto_reader *r, const wire_field *f, wire_bytes *out, xir_str name) {
    *out = f->bytes;
    return (f->kind == WIRE_BYTES && proto_is_text(f->bytes)) || proto_text_fail(r, f, name);
}
#define PROTO_TEXT(r, f, out, name) proto_text((r), (f), (out), XIR_STR(name))

/* A field of StringStringEntryProto, one more entry of a map. `name` empty: its place has been entered. */
bool proto_add_entry(proto_reader *r, const wire_field *f, dialect_list *entries, xir_str name);

/* ---- graph.c --------------------------------------------------------------------------------------------------- */

/* A GraphProto of the model: initializers are read, the other fields are noted for proto_read_graph. */
bool proto_scan_graph(proto_reader *r, wire_bytes graph);
bool proto_read_graph(proto_reader *r);

/* ---- node.c, attribute.c, capture.c ---------------------------------------------------------------------------- */

bool proto_read_node(proto_reader *r, wire_bytes node);
/* One AttributeProto of the node; what it says of itself beside its value goes into r->docs. */
bool proto_read_attribute(proto_reader *r, wire_bytes attribute);
/* The names that a graph uses and nothing in it makes become captures of the node. */
bool proto_find_captures(proto_reader *r, wire_bytes graph);

/* ---- type.c ---------------------------------------------------------------------------------------------------- */

static inline const element_code *proto_element_of(uint64_t which) {
    return element_code_at(&element_codes_onnx, which);
}
/* The field of TensorProto that has elements of a type, if raw_data has not; 0: there is none. */
uint32_t proto_data_field(uint64_t element);
bool proto_read_type(proto_reader *r, wire_bytes type, dialect_declared *out);
/* The description of a type: "seq(tensor(float)[2,N])". It is the arena's. */
bool proto_describe_type(proto_reader *r, wire_bytes type, xir_str *out);
/* "tensor(string)[2,3]" */
bool proto_describe_tensor(proto_reader *r, uint64_t element, const int64_t *dims, size_t rank, xir_str *out);

/* ---- tensor.c, sparse.c ---------------------------------------------------------------------------------------- */

/* What a TensorProto says; dims are in r->dims. */
typedef struct proto_tensor {
    wire_bytes whole, name, doc;
    uint64_t   element;
    wire_bytes raw;
    bool       has_raw, external;
    uint32_t   data;          /* the field of typed elements; 0: none     */
    uint64_t   n_data;        /* how many fields of it there are          */
    wire_bytes packed;        /* the bytes of the last                    */
    bool       is_packed;
    bool       has_metadata;
} proto_tensor;
bool proto_scan_tensor(proto_reader *r, wire_bytes tensor, proto_tensor *out);
/* Params of a tensor, without id; NULL with a failure. The bytes of its elements are given unless only the structure is
 * wanted. */
xir_value *proto_make_tensor(proto_reader *r, const proto_tensor *t);
/* Params of bytes of the file. */
xir_value *proto_make_bytes(proto_reader *r, xir_str name, wire_bytes bytes);
/* Reads a field of numbers that may be packed, all of them: appended to `out` as int64_t. */
bool proto_int64s(proto_reader *r, const wire_field *f, dialect_list *out, xir_str name);
/* A sparse initializer: dense Params, marked. */
xir_value *proto_read_sparse(proto_reader *r, wire_bytes sparse, wire_bytes *name);
/* A sparse attribute: the map of its parts. */
bool proto_sparse_any(proto_reader *r, wire_bytes sparse, xir_any *out);

#endif
