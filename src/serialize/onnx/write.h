/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Shared by the files that write ONNX. A model is written in two passes, by the same functions: the first validates it
 * and records the size of every message, in the order in which messages begin; the second one puts the
 * bytes out. So the two cannot disagree, and no message is ever held. */
#ifndef SERIALIZE_ONNX_WRITE_H
#define SERIALIZE_ONNX_WRITE_H

#include "dialect/made_names.h"
#include "element_codes.h"
#include "format.h"
#include "onnx/wire.h"
#include "source_tags.h"

/* A declared dim. */
typedef struct proto_dim { bool has_value; int64_t value; xir_str name; } proto_dim;

/* Bytes that are put again and again: the attributes of ops, by their maps, and types. */
enum { PROTO_BLOCKS = 64 };
typedef struct proto_block {
    const void    *of;                      /* NULL: none yet                                                 */
    const xir_map *tags;
    size_t         size;
    uint8_t        bytes[232];
} proto_block;
typedef struct proto_again {                /* between proto_put_again and proto_remember                         */
    proto_block   *block;
    const void    *of;
    const xir_map *tags;
    uint64_t       start, data_size;
    const uint8_t *bytes;
} proto_again;

typedef struct proto_writer {
    xir_network          *net;
    const format_writing *how;
    const xir_allocator  *alloc;
    arena                 scratch;
    const xir_op         *input, *output;   /* the ends; NULL: the network has none                        */
    const xir_op         *at;               /* the op that is being written, for findings                  */
    /* names */
    text_table            names;            /* of all values: twice a number, plus 1 for a duplicate       */
    made_names            made;
    uint32_t              n_values;
    pointer_table         open;             /* values without a producer                                   */
    xir_value           **open_values;
    size_t                n_open, open_room;
    bool                  backward;         /* an op uses what a later one makes,                          */
    bool                  opens;            /* or a value without a producer                               */
    bool                  tagged;           /* ops have tags                                               */
    const xir_value     **declared;         /* outputs of ops that have types or tags                      */
    size_t                n_declared, declared_room;
    /* constants that ops use, in the order in which they were made */
    xir_value           **constants;
    size_t                n_constants;
    bool                  has_defaults;      /* the file's version tells a default from a constant       */
    /* elements */
    const xir_type       *elements[32];     /* by TensorProto.DataType                                     */
    const xir_type       *last_element, *last_type;
    uint64_t              last_code;
    bool                  last_is_known;    /* of last_type: ONNX can say it                               */
    /* elements in a file of their own */
    int                   split;            /* proto_split                                                 */
    xir_str               location;         /* of that file, as the model names it                         */
    uint64_t              data_size;        /* of that file so far                                         */
    bool                  only_data;        /* the walk puts that file out, not the model                  */
    /* symbols */
    bool                  spells;           /* the entry xir.symbols is needed: dims may be expressions     */
    /* bytes */
    bool                  counting;
    uint64_t              count;            /* bytes of the file so far                                    */
    uint32_t             *sizes;            /* of messages, in the order in which they begin               */
    size_t                n_sizes, size_room;
    buffer                out;
    bool                  stopped;
    proto_block          *blocks;           /* PROTO_BLOCKS                                                   */
    /* the first failure */
    xir_status            status;
    const xir_op         *refused;          /* the op that `fault` is about; NULL: none                    */
    bool                  reported;
    char                  fault[SENTENCE_ROOM / 2];
} proto_writer;

/* ---- write_wire.c ---------------------------------------------------------------------------------------------- */

enum {
    PROTO_BLOCK = 1 << 20,            /* bytes are passed on in blocks of about this size                         */
    PROTO_LARGE = PROTO_BLOCK / 4,    /* a piece of this size is passed on where it lies                          */
    PROTO_HEAD  = 20,                 /* the most bytes of two varints, as of a key and a number                  */
    PROTO_MOST  = INT32_MAX           /* a message has less than 2 GiB                                            */
};

/* Records a failure; the first one counts. Returns false. */
bool proto_refuse(proto_writer *w, xir_status status, const char *sentence, ...) XIR_PRINTF(3, 4);
bool proto_no_memory(proto_writer *w);
static inline bool proto_failed(const proto_writer *w) { return w->status != XIR_OK || w->stopped; }

void proto_flush(proto_writer *w);
void proto_put_slowly(proto_writer *w, const void *data, size_t size);
/* The same for bytes that stay until the file is complete. */
void proto_put_lasting(proto_writer *w, const void *data, size_t size);
bool proto_write_lasting(const format_writing *how, const void *data, size_t size);

/* Room for `size` bytes, at most PROTO_LARGE, at w->out.data + w->out.size. */
static inline uint8_t *proto_room(proto_writer *w, size_t size) {
    if (size > PROTO_BLOCK - w->out.size) proto_flush(w);
    return (uint8_t *)w->out.data + w->out.size;
}

static inline void proto_put(proto_writer *w, const void *data, size_t size) {
    w->count += size;
    if (w->counting || !size) return;
    if (size >= PROTO_LARGE) {
        proto_put_slowly(w, data, size);
        return;
    }
    memcpy(proto_room(w, size), data, size);
    w->out.size += size;
}

static inline unsigned proto_varint_size(uint64_t v) { return (unsigned)(70 - __builtin_clzll(v | 1)) / 7; }
static inline uint8_t *proto_varint(uint8_t *out, uint64_t v) {
    for (; v >= 0x80; v >>= 7) *out++ = (uint8_t)(v | 0x80);
    *out++ = (uint8_t)v;
    return out;
}
/* Two numbers: a key and what follows it. */
static inline void proto_put_pair(proto_writer *w, uint64_t key, uint64_t v) {
    if (w->counting) {
        w->count += proto_varint_size(key) + proto_varint_size(v);
        return;
    }
    uint8_t *begin = proto_room(w, PROTO_HEAD);
    const size_t size = (size_t)(proto_varint(proto_varint(begin, key), v) - begin);
    w->count += size;
    w->out.size += size;
}
static inline void proto_put_varint(proto_writer *w, uint64_t v) {
    uint8_t bytes[10];
    proto_put(w, bytes, (size_t)(proto_varint(bytes, v) - bytes));
}
static inline uint64_t proto_key(uint32_t field, wire_kind kind) { return (uint64_t)field << 3 | kind; }
static inline void proto_put_key(proto_writer *w, uint32_t field, wire_kind kind) {
    proto_put_varint(w, proto_key(field, kind));
}

/* Fields. Numbers and texts are put whatever they are: absent ones are the caller's business. */
static inline void proto_put_number(proto_writer *w, uint32_t field, uint64_t v) {
    proto_put_pair(w, proto_key(field, WIRE_VARINT), v);
}
static inline void proto_put_float(proto_writer *w, uint32_t field, uint32_t bits) {
    const uint8_t bytes[4] = { (uint8_t)bits, (uint8_t)(bits >> 8), (uint8_t)(bits >> 16), (uint8_t)(bits >> 24) };
    proto_put_key(w, field, WIRE_FIXED32);
    proto_put(w, bytes, sizeof bytes);
}
static inline void proto_put_bytes(proto_writer *w, uint32_t field, const void *data, size_t size) {
    if (size >= 0x80) {
        proto_put_pair(w, proto_key(field, WIRE_BYTES), size);
        proto_put(w, data, size);
        return;
    }
    if (w->counting) {
        w->count += proto_varint_size(proto_key(field, WIRE_BYTES)) + 1 + size;
        return;
    }
    uint8_t *begin = proto_room(w, PROTO_HEAD + 0x80), *out = proto_varint(begin, proto_key(field, WIRE_BYTES));
    *out++ = (uint8_t)size;
    if (size) memcpy(out, data, size);
    const size_t taken = (size_t)(out - begin) + size;
    w->count += taken;
    w->out.size += taken;
}
static inline void proto_put_text(proto_writer *w, uint32_t field, xir_str text) {
    proto_put_bytes(w, field, text.data, text.size);
}
/* Nothing for an empty text. */
static inline void proto_put_some(proto_writer *w, uint32_t field, xir_str text) {
    if (text.size) proto_put_text(w, field, text);
}

/* Puts what was put for `of` and its tags before; false if it is not remembered. Then the caller puts it, and calls
 * proto_remember, which leaves out what is long or says where elements lie in another file, as only one op does. Both
 * walks find the same blocks. */
bool proto_put_again(proto_writer *w, const void *of, const xir_map *tags, proto_again *a);
void proto_remember(proto_writer *w, const proto_again *a);

/* A message: everything between these two calls is in it. */
typedef struct proto_message { size_t number; uint64_t start; } proto_message;
proto_message proto_open_slowly(proto_writer *w);
static inline proto_message proto_open(proto_writer *w, uint32_t field) {
    if (!w->counting) {
        proto_put_pair(w, proto_key(field, WIRE_BYTES), w->sizes[w->n_sizes]);
        return (proto_message){ w->n_sizes++, w->count };
    }
    w->count += proto_varint_size(proto_key(field, WIRE_BYTES));
    if (w->n_sizes == w->size_room) return proto_open_slowly(w);
    return (proto_message){ w->n_sizes++, w->count };
}
static inline void proto_close(proto_writer *w, proto_message m) {
    if (!w->counting || proto_failed(w)) return;
    const uint64_t size = w->count - m.start;
    w->sizes[m.number] = size > PROTO_MOST ? PROTO_MOST : (uint32_t)size;   /* the model is refused as a whole */
    w->count += proto_varint_size(size);
}

/* The bytes of a text in base64, in the scratch arena; false without memory, or if the text is something else. */
bool proto_take_base64(proto_writer *w, xir_str text, wire_bytes *out);

/* ---- write_names.c: before the first walk ---------------------------------------------------------------------- */

/* Lists the ends, constants and names; refuses ops of other dialects, names and cycles that ONNX cannot have. */
bool proto_list(proto_writer *w);
/* Returns how many of its inputs are an op's own; captures follow. */
uint32_t proto_own_inputs(const xir_op *op);

static inline xir_str proto_name(const proto_writer *w, const xir_value *v) {
    return made_name_of(&w->made, v);
}

/* ---- tags ------------------------------------------------------------------------------------------------------ */

static inline const xir_any *proto_tag(const xir_map *tags, const char *key, xir_any_kind kind) {
    const xir_any *found = xir_map_find(tags, xir_str_of(key));
    return found && found->kind == kind ? found : NULL;
}
/* "ai.onnx" is another name of the default domain, "". */
static inline xir_str proto_domain(xir_str domain) {
    return xir_str_equal(domain, XIR_STR("ai.onnx")) ? XIR_STR("") : domain;
}
static inline xir_str proto_tag_text(const xir_map *tags, const char *key) {
    const xir_any *found = proto_tag(tags, key, XIR_ANY_TEXT);
    return found ? found->as.text : XIR_STR("");
}
static inline const xir_map *proto_value_tags(const xir_value *v) { return xir_value_tags(v); }

/* ---- write_check.c --------------------------------------------------------------------------------------------- */

/* These refuse, and return false. A name has no zero byte, and is UTF-8 as all texts are. `what` begins a sentence, or
 * is what has the name. The last two check in the first walk alone. */
bool proto_check_name(proto_writer *w, const char *what, xir_str name);
bool proto_check_text_slowly(proto_writer *w, const char *what, xir_str text);
static inline bool proto_check_text(proto_writer *w, const char *what, xir_str text) {
    return !text.size || !w->counting || proto_check_text_slowly(w, what, text);
}
/* A message that is kept as bytes is one that the reader takes where it is put; one of 2 GiB is not looked at. */
typedef enum proto_place {
    PROTO_GRAPH, PROTO_TENSOR, PROTO_SPARSE, PROTO_INFO, PROTO_ANNOTATION, PROTO_TYPE
} proto_place;
bool proto_check_message(proto_writer *w, proto_place place, const char *what, wire_bytes message);
/* The text of a tag, if it has one. */
void proto_put_said_slowly(proto_writer *w, uint32_t field, const char *key, xir_str text);
static inline void proto_put_said(proto_writer *w, uint32_t field, const xir_map *tags, const char *key) {
    const xir_str text = tags ? proto_tag_text(tags, key) : XIR_STR("");
    if (text.size) proto_put_said_slowly(w, field, key, text);
}

/* ---- tags that are maps and lists (write_wire.c) ---------------------------------------------------------------- */

/* StringStringEntryProtos of a tag that is a map of texts. */
void proto_put_entries(proto_writer *w, uint32_t field, const xir_map *tags, const char *key);

/* ---- write_type.c ---------------------------------------------------------------------------------------------- */

/* Lists the element types of ONNX, before they are asked for. */
bool proto_list_elements(proto_writer *w);
/* The code of an element type; 0 if ONNX has none. */
uint64_t proto_code_of(proto_writer *w, const xir_type *element);
/* Returns true if ONNX can say the type of a value: a tensor of its elements. */
bool proto_has_type(proto_writer *w, const xir_value *v);
/* The type of a value, from its type or the tag onnx.type, always in the same field. */
void proto_put_type(proto_writer *w, uint32_t field, const xir_value *v);
/* A TypeProto from the map of an attribute: { "onnx.type": "seq(tensor(float))" }. */
void proto_put_type_map(proto_writer *w, uint32_t field, const xir_map *map);
/* The elements and dims of a description "tensor(string)[2,3]"; false if it is another one. */
bool proto_read_tensor_text(proto_writer *w, xir_str text, uint64_t *element, const int64_t **dims, size_t *rank);

/* ---- write_symbols.c ------------------------------------------------------------------------------------------- */

/* Decides whether the file needs the entry xir.symbols. */
bool proto_list_symbols(proto_writer *w);
/* The entry. */
void proto_put_symbols(proto_writer *w, uint32_t field);
/* Returns the file's statement about dim `i` of a value. */
proto_dim proto_dim_of(proto_writer *w, const xir_value *v, size_t i);

/* ---- write_external.c ------------------------------------------------------------------------------------------- */

/* The elements that are in a file of their own. */
typedef enum proto_split {
    SPLIT_NONE,
    SPLIT_CONSTANTS,    /* those of large constants, except in attributes, which runtimes expect in the model      */
    SPLIT_ALL           /* those in attributes, too                                                                */
} proto_split;

/* Returns true if the elements of a tensor go to that file. */
bool proto_is_external(const proto_writer *w, bool attribute, wire_bytes data);
/* The fields that say where they are; the walk of that file puts them out. */
void proto_put_external(proto_writer *w, wire_bytes data);

/* ---- write_tensor.c, write_attribute.c, write_graph.c, write.c --------------------------------------------------- */

/* A TensorProto of Params, under a name. */
void proto_put_tensor(proto_writer *w, uint32_t field, const xir_value *v, xir_str name, bool attribute);
void proto_put_sparse(proto_writer *w, uint32_t field, const xir_value *v, xir_str name);
/* Returns the bytes of Params, or NULL with a size of 0 if the Params have none. */
wire_bytes proto_data(proto_writer *w, const xir_value *v);

/* The op has op->more, and `proto_put_attributes_in` needs attributes in it. */
void proto_put_attributes(proto_writer *w, const xir_op *op);
void proto_put_attributes_in(proto_writer *w, uint32_t field, const xir_op *op);
/* Messages that a tag keeps in base64. */
void proto_put_kept(proto_writer *w, uint32_t field, const xir_map *tags, const char *key);
/* write_unused.c: initializers that nothing uses, of the kind "tensor" or "sparse_tensor"; the declaration of one of
 * them as an input; messages about values that do not exist. */
void proto_put_unused(proto_writer *w, uint32_t field, const char *kind);
void proto_put_unused_input(proto_writer *w, uint32_t field, size_t i);
void proto_put_others(proto_writer *w, uint32_t field, const char *key);
void proto_put_graph(proto_writer *w, uint32_t field);
void proto_put_node(proto_writer *w, uint32_t field, const xir_op *op);
/* The type and the tags of a value, if it has a name and some of them. */
void proto_put_declaration(proto_writer *w, uint32_t field, const xir_value *v);
/* The operator sets of the network. */
void proto_put_opsets(proto_writer *w, uint32_t field);

/* A writer with its network, `how` and allocator. A writer may write between the first and the last call. False if it
 * has failed; the status is that of the first failure, whose finding is added. */
bool       proto_begin_writing(proto_writer *w);
xir_status proto_written(const proto_writer *w);
void       proto_end_writing(proto_writer *w);

xir_status proto_write(xir_network *net, const format_writing *how);
xir_status proto_write_params(xir_network *net, const format_writing *how);
xir_status proto_splits(xir_network *net, const format_writing *how, bool *out);

#endif
