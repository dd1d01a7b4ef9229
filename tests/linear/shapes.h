/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The ways in which a network can be large: each shape has the size `n` in one way and is small in all others. */
#ifndef LINEAR_SHAPES_H
#define LINEAR_SHAPES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "linear/count.h"

/* A network that a program builds. */
typedef struct net_shape {
    const char  *name;
    xir_network *(*make)(xir_context *ctx, int64_t n);
} net_shape;
extern const net_shape net_shapes[];
extern const size_t n_net_shapes;

/* Bytes to be read. */
typedef struct bytes {
    char  *data;
    size_t size, room;
} bytes;
void put(bytes *b, const void *data, size_t size);
void putf(bytes *b, const char *format, ...) XIR_PRINTF(2, 3);
typedef long long i64;
static inline void put_text(bytes *b, const char *text) { put(b, text, strlen(text)); }

typedef struct file_shape {
    const char *name;
    void      (*make)(bytes *b, int64_t n);
    bool        refused;   /* it is not a network */
} file_shape;
#define SHAPE(make)   { #make, make }
#define REFUSED(make) { #make, make, true }
extern const file_shape json_shapes[], packed_shapes[], onnx_shapes[], pnnx_shapes[], nnb_shapes[], deepx_shapes[],
                        tsm_shapes[];
extern const size_t n_json_shapes, n_packed_shapes, n_onnx_shapes, n_pnnx_shapes, n_nnb_shapes, n_deepx_shapes,
                    n_tsm_shapes;

typedef struct table_shape {
    const char *name;
    void      (*fill)(costs *c, xir_context *ctx, int64_t n);
} table_shape;
extern const table_shape table_shapes[];
extern const size_t n_table_shapes;

#endif
