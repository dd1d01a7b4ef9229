/* Tensors whose elements lie in other files. A path in a model is a stranger's: it names a regular file in the model's
 * folder or below, and nothing else. It has no "..", does not begin at the root, and no part of it is a symbolic link;
 * the file has no other name (a hard link to a file outside cannot be told from that file). */
#ifndef SERIALIZE_ONNX_EXTERNAL_H
#define SERIALIZE_ONNX_EXTERNAL_H

#include "onnx/read.h"

/* Opens a file by such a path below a folder, for reading; -1 with errno. `by_steps`: folder by folder, as where the
 * kernel has no call for it. What kind of file it is has not been looked at. */
int proto_external_open(int folder, const char *location, bool by_steps);
/* NULL if a path may be opened, otherwise what is wrong with it. */
const char *proto_external_refuses(xir_str location);

/* The bytes of a tensor with data_location EXTERNAL: a part of its file, which is opened once. `bytes` is how many there must
 * be, NULL: as many as the model says. False with a failure. */
bool proto_external_data(proto_reader *r, const proto_tensor *t, const uint64_t *bytes, blob **out);
void proto_external_free(proto_external *e);

#endif
