/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* ONNX files for tests, made in memory. A model is built part by part, in the order of the parts in a file, and gives
 * its bytes at the end. Nothing is checked, so invalid models are made in the same way.
 *
 *     om m = om_begin("net");
 *     om_input(&m, "x", ONNX_FLOAT, OM_DIMS(1, 3, 8, 8));
 *     om_floats(&m, "w", OM_DIMS(4, 3, 3, 3), weights, 108);
 *     om_node(&m, "Conv", "conv1", "x,w", "y");       // names are separated by commas; an empty one is an absent input
 *     om_ints(&m, "pads", OM_DIMS(1, 1, 1, 1));       // attributes of the last node
 *     om_output(&m, "y", ONNX_FLOAT, OM_DIMS(1, 4, 8, 8));
 *     size_t size;
 *     const void *bytes = om_done(&m, &size);         // ONNX, ir_version 8, opset 17
 *     …
 *     om_free(&m);
 *
 * If memory runs out, the test ends. The om_put calls make any other message of protobuf. */
#ifndef SUPPORT_ONNX_MAKE_H
#define SUPPORT_ONNX_MAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "onnx_wire.h"

/* ---- protobuf --------------------------------------------------------------------------------------------------- */

/* A message in the making. { 0 } is an empty one; om_put_message takes over its bytes. */
typedef struct om_bytes {
    unsigned char *data;
    size_t         size, room;
} om_bytes;
void om_put_raw(om_bytes *to, const void *data, size_t size);              /* bytes as they are, no field            */
void om_put_varint(om_bytes *to, uint64_t value);                          /* the same                               */
void om_put_key(om_bytes *to, uint32_t field, unsigned wire);
void om_put_int(om_bytes *to, uint32_t field, int64_t value);
void om_put_float(om_bytes *to, uint32_t field, float value);
void om_put_double(om_bytes *to, uint32_t field, double value);
void om_put_bytes(om_bytes *to, uint32_t field, const void *data, size_t size);
void om_put_text(om_bytes *to, uint32_t field, const char *text);
void om_put_packed(om_bytes *to, uint32_t field, const int64_t *values, size_t n);   /* varints in one field          */
void om_put_message(om_bytes *to, uint32_t field, om_bytes *message);      /* empties `message`                      */
void om_bytes_free(om_bytes *bytes);

/* ---- a model ---------------------------------------------------------------------------------------------------- */

typedef struct om_dims {
    const int64_t *data;
    size_t         size;
} om_dims;
/* Dims, or the integers of an attribute: OM_DIMS(1, 3, 8, 8). A negative dim of a value is written as the name
 * "N<index>" (symbolic), INT64_MIN as a dim without number and name. */
#define OM_DIMS(...) \
    ((om_dims){ (const int64_t[]){ __VA_ARGS__ }, sizeof((const int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t) })
#define OM_SCALAR  ((om_dims){ NULL, 0 })
#define OM_NO_RANK ((om_dims){ NULL, SIZE_MAX })   /* of a value: its shape is not written */

/* `model` and `graph` hold fields that are written before those that the calls below make; you may add to them. */
typedef struct om {
    om_bytes model, graph;
    om_bytes node;                /* the last one, still open     */
    bool     has_node, has_opset;
    om_bytes whole;               /* after om_done                */
} om;

om   om_begin(const char *graph_name);
void om_free(om *m);

/* After the first call, only the operator sets named in such calls are written. */
void om_opset(om *m, const char *domain, int64_t version);
void om_metadata(om *m, const char *key, const char *value);

/* Values. `element` is an onnx_element (or any number). */
void om_input(om *m, const char *name, int element, om_dims dims);
void om_output(om *m, const char *name, int element, om_dims dims);
void om_value(om *m, const char *name, int element, om_dims dims);         /* value_info                             */

/* Initializers. */
void om_floats(om *m, const char *name, om_dims dims, const float *data, size_t n);    /* as raw_data               */
void om_int64s(om *m, const char *name, om_dims dims, const int64_t *data, size_t n);  /* as raw_data               */
void om_raw(om *m, const char *name, int element, om_dims dims, const void *data, size_t size);
void om_external(om *m, const char *name, int element, om_dims dims, const char *location, const char *offset,
                 const char *length);                                      /* NULL: no such key                      */
void om_initializer(om *m, om_bytes *tensor);                              /* any TensorProto                        */
/* A TensorProto with raw_data, for attributes and initializers; without a name if it is NULL. */
om_bytes om_tensor(const char *name, int element, om_dims dims, const void *data, size_t size);

/* Begins a node and ends the one before. The op type may have a domain before its last dot: "com.microsoft.Gelu". */
void om_node(om *m, const char *op_type, const char *name, const char *inputs, const char *outputs);
/* Attributes of the last node. */
void om_int(om *m, const char *name, int64_t value);
void om_float(om *m, const char *name, float value);
void om_text(om *m, const char *name, const char *value);
void om_ints(om *m, const char *name, om_dims values);
void om_reals(om *m, const char *name, const float *values, size_t n);
void om_texts(om *m, const char *name, const char *const *values, size_t n);
void om_tensor_attr(om *m, const char *name, om_bytes *tensor);
/* A graph that was made as a model of its own; this frees it. */
void om_graph_attr(om *m, const char *name, om *graph);
void om_attribute(om *m, om_bytes *attribute);                             /* any AttributeProto                     */
om_bytes om_attribute_of(const char *name, int type);                      /* with these two fields                  */

/* The GraphProto, and the ModelProto around it. They belong to `m`, which may not be changed afterwards. */
const om_bytes *om_graph(om *m);
const void     *om_done(om *m, size_t *size);

#endif
