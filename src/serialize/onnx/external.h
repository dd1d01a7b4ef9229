/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Tensors whose elements are in other files. named_files.h finds and opens those files by its rules. */
#ifndef SERIALIZE_ONNX_EXTERNAL_H
#define SERIALIZE_ONNX_EXTERNAL_H

#include "onnx/read.h"

/* The bytes of a tensor with data_location EXTERNAL: a part of its file, which is opened once. `bytes` is the expected
 * size; NULL: whatever the model says. False with a failure. */
bool proto_external_data(proto_reader *r, const proto_tensor *t, const uint64_t *bytes, blob **out);

#endif
