/* Tensors whose elements lie in other files, which named_files.h finds and opens by its rules. */
#ifndef SERIALIZE_ONNX_EXTERNAL_H
#define SERIALIZE_ONNX_EXTERNAL_H

#include "onnx/read.h"

/* The bytes of a tensor with data_location EXTERNAL: a part of its file, which is opened once. `bytes` is how many
 * there must be, NULL: as many as the model says. False with a failure. */
bool proto_external_data(proto_reader *r, const proto_tensor *t, const uint64_t *bytes, blob **out);

#endif
