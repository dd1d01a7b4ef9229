/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The folder next to a program with its tensors: X.data next to X.ir. A tensor is two files in it:
 *
 *     w.shape    dtype: float32        w.data    its elements, row-major, little-endian
 *                dim: 2
 *                shape:
 *                  - 3
 *                  - 4
 *                stride:
 *                  - 4
 *                  - 1
 *                size: 12
 *
 * A line refers to them by a path without suffix; its last part is the name of the files. In a network the tensor is an
 * attribute of the call that reads it, `load` or `loadtensordata`: Params. A call without it reads a file that the
 * folder does not have. */
#ifndef SERIALIZE_DEEPX_FOLDER_H
#define SERIALIZE_DEEPX_FOLDER_H

#include "deepx/deepx.h"

#define DEEPX_FOLDER       "data"     /* the suffix of the folder                                   */
#define DEEPX_SHAPE_SUFFIX ".shape"
#define DEEPX_DATA_SUFFIX  ".data"
#define DEEPX_DATA         "data"     /* the attribute of the call                                  */

/* The keys of a .shape, in the order of the executor. Strides count elements; `size` is the number of elements. */
typedef enum deepx_shape_key {
    DEEPX_SHAPE_DTYPE, DEEPX_SHAPE_DIM, DEEPX_SHAPE_SHAPE, DEEPX_SHAPE_STRIDE, DEEPX_SHAPE_SIZE, DEEPX_SHAPE_KEYS
} deepx_shape_key;
extern const char *const deepx_shape_keys[DEEPX_SHAPE_KEYS];

/* The name of the files of a path: its last part, without quotes. Empty if the path has none ("a/", "..", "."). */
xir_str deepx_file_name(xir_str path);
/* Returns true if an op is a call that reads such files: `load` or `loadtensordata` with a path. Sets *path. */
bool deepx_reads_files(const xir_op *op, xir_str *path);

/* shape.c: what a .shape says. */
enum { DEEPX_MOST_SHAPE = 1 << 16 /* bytes of such a file */ };
typedef struct deepx_shape {
    size_t   element;                 /* the number of its bit in a precision */
    int64_t  dims[DEEPX_MOST_DIMS];
    size_t   rank;
    uint64_t elements, bytes;
} deepx_shape;
/* Reads and checks a .shape; false after an error. Only the line and the text of the place need not be set. */
bool deepx_shape_read(deepx_place *w, xir_str text, deepx_shape *out);

/* params.c */
/* Gives each call that reads files its tensor from the folder how->path, all or none. A call whose files the folder
 * does not have stays as it is. */
xir_status deepx_load_params(xir_network *net, const format_reading *how);
xir_status deepx_read_params(xir_network *net, const format_reading *how, const void *data, size_t size);

/* folder_write.c */
/* Returns true if some call has a tensor of a file; whether a folder's file is one that is written here. */
bool deepx_has_files(const xir_network *net);
bool deepx_is_own_file(xir_str name);
/* Writes all of them. The text then refers to them by the last part of how->params_path. */
xir_status deepx_write_folder(xir_network *net, const format_writing *how, folder_writer *to);

#endif
