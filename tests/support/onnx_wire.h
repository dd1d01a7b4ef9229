/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* ONNX files in memory: a walk over the fields of protobuf messages, and readers of those messages of onnx.proto
 * that graphs consist of. Nothing is copied or allocated: results point into the bytes, which must outlive them. The
 * bytes may be anything. Every length is checked against its message, and the first reader that scans a message
 * refuses the whole message if it breaks the rules of the wire format. As in protobuf, the last one counts if a
 * field that should occur once occurs several times, and unknown fields are skipped. */
#ifndef SUPPORT_ONNX_WIRE_H
#define SUPPORT_ONNX_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- protobuf --------------------------------------------------------------------------------------------------- */

typedef struct pb_bytes {
    const unsigned char *data;
    size_t               size;
} pb_bytes;

typedef enum pb_wire { PB_VARINT = 0, PB_FIXED64 = 1, PB_BYTES = 2, PB_FIXED32 = 5 } pb_wire;

/* A field: its number, and its payload in `value` (numbers) or `bytes`. */
typedef struct pb_field {
    uint32_t number;
    pb_wire  wire;
    uint64_t value;
    pb_bytes bytes;
} pb_field;

/* Fields in the order of the bytes. pb_next returns false at the end, and from the point on where the bytes are not
 * a field; `broken` distinguishes the two. pb_next_of skips the fields of all other numbers. */
typedef struct pb_walk {
    const unsigned char *at, *end;
    bool                 broken;
} pb_walk;
pb_walk pb_begin(pb_bytes message);
bool    pb_next(pb_walk *walk, pb_field *out);
bool    pb_next_of(pb_walk *walk, uint32_t number, pb_field *out);

/* The number of fields with a given number, up to the first fault. */
size_t pb_count(pb_bytes message, uint32_t number);

/* The numbers of a repeated field, packed, one by one, or mixed, as bits: varints unchanged, floats in the low 32
 * bits or in all 64. `wire` is the wire type of a single number. */
typedef struct pb_numbers {
    pb_walk  fields, packed;
    uint32_t number;
    pb_wire  wire;
} pb_numbers;
pb_numbers pb_numbers_of(pb_bytes message, uint32_t number, pb_wire wire);
bool       pb_numbers_next(pb_numbers *numbers, uint64_t *out);

bool pb_is(pb_bytes text, const char *expected);
bool pb_same(pb_bytes a, pb_bytes b);

/* The float of the low 32 bits, the double of all 64. */
float  pb_float(uint64_t bits);
double pb_double(uint64_t bits);

/* ---- onnx.proto ------------------------------------------------------------------------------------------------- */

/* TensorProto.DataType. */
typedef enum onnx_element {
    ONNX_UNDEFINED, ONNX_FLOAT, ONNX_UINT8, ONNX_INT8, ONNX_UINT16, ONNX_INT16, ONNX_INT32, ONNX_INT64, ONNX_STRING,
    ONNX_BOOL, ONNX_FLOAT16, ONNX_DOUBLE, ONNX_UINT32, ONNX_UINT64, ONNX_COMPLEX64, ONNX_COMPLEX128, ONNX_BFLOAT16
} onnx_element;

/* AttributeProto.AttributeType. */
typedef enum onnx_attribute_type {
    ONNX_ATTR_UNDEFINED, ONNX_ATTR_FLOAT, ONNX_ATTR_INT, ONNX_ATTR_STRING, ONNX_ATTR_TENSOR, ONNX_ATTR_GRAPH,
    ONNX_ATTR_FLOATS, ONNX_ATTR_INTS, ONNX_ATTR_STRINGS, ONNX_ATTR_TENSORS, ONNX_ATTR_GRAPHS,
    ONNX_ATTR_SPARSE_TENSOR, ONNX_ATTR_SPARSE_TENSORS, ONNX_ATTR_TYPE_PROTO, ONNX_ATTR_TYPE_PROTOS
} onnx_attribute_type;

/* The members of a struct apart from `whole` are fields that occur once; repeated fields are walked through `whole`. */
typedef struct onnx_tensor {
    pb_bytes whole, name;
    pb_bytes raw;          /* data NULL: the elements are in the field of their type */
    uint64_t element;      /* an onnx_element, or another number of the file         */
    bool     external;     /* the elements are in another file                       */
} onnx_tensor;

typedef struct onnx_attribute {
    pb_bytes whole, name;
    uint64_t type;         /* an onnx_attribute_type, or another number              */
    int64_t  i;
    double   f;
    pb_bytes s, t, g;      /* a text; a TensorProto; a GraphProto                    */
} onnx_attribute;

typedef struct onnx_node {
    pb_bytes whole, name, op_type, domain;
} onnx_node;

/* The declaration of a value in a graph. */
typedef struct onnx_value {
    pb_bytes whole, name;
    bool     is_tensor;
    uint64_t element;
} onnx_value;

typedef struct onnx_model {
    pb_bytes whole, graph;
} onnx_model;

/* Each scans all bytes of the message, and returns false if they are not such a message. */
bool onnx_read_model(pb_bytes bytes, onnx_model *out);
bool onnx_read_node(pb_bytes bytes, onnx_node *out);
bool onnx_read_attribute(pb_bytes bytes, onnx_attribute *out);
bool onnx_read_tensor(pb_bytes bytes, onnx_tensor *out);
bool onnx_read_value(pb_bytes bytes, onnx_value *out);

/* The numbers of repeated fields, for pb_walk and pb_numbers. */
enum {
    ONNX_GRAPH_NODE = 1, ONNX_GRAPH_INITIALIZER = 5, ONNX_GRAPH_INPUT = 11, ONNX_GRAPH_OUTPUT = 12,
    ONNX_NODE_INPUT = 1, ONNX_NODE_OUTPUT = 2, ONNX_NODE_ATTRIBUTE = 5,
    ONNX_ATTRIBUTE_FLOATS = 7, ONNX_ATTRIBUTE_INTS = 8
};

/* The version of an operator set that a model imports; -1 if it does not import the set. "ai.onnx" is the same as
 * "". */
int64_t onnx_opset(const onnx_model *model, const char *domain);

/* The attribute with a name; false if the node does not have it. */
bool onnx_find_attribute(const onnx_node *node, const char *name, onnx_attribute *out);

/* The dims: writes up to `room` of them, returns how many there are. */
size_t onnx_tensor_dims(const onnx_tensor *tensor, int64_t *out, size_t room);

/* The elements of a tensor, wherever they are stored. Integers and booleans set `i`, floats set `f` (halves too).
 * Other element types and external data give none. False at the end. */
typedef struct onnx_elements {
    uint64_t   element;
    pb_bytes   raw;
    bool       is_raw;
    pb_numbers numbers;
} onnx_elements;
typedef struct onnx_number {
    bool    real;
    int64_t i;
    double  f;
} onnx_number;
onnx_elements onnx_elements_of(const onnx_tensor *tensor);
bool          onnx_elements_next(onnx_elements *elements, onnx_number *out);

/* The bytes of one element in raw_data; 0 for strings and unknown types. */
size_t onnx_element_size(uint64_t element);

#endif
