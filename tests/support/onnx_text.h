/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Messages of protobuf as short texts, for tables of unusual ones:
 *
 *     7:-1          field 7, the number -1        7'text'     bytes: a text (no quote in it)
 *     7=1.5         four bytes, a float           7#00ff      bytes in hexadecimal
 *     7{ … }        a message                     #00ff       bytes without a field
 *
 * A ` marks the next byte. */
#ifndef SUPPORT_ONNX_TEXT_H
#define SUPPORT_ONNX_TEXT_H

#include "support/onnx_make.h"

/* The bytes, to be freed by om_bytes_free. *mark is the offset of the marked byte, SIZE_MAX if there is no mark. A
 * text of another form ends the program. */
om_bytes onnx_bytes_of(const char *text, size_t *mark);

/* A small model that has one of everything that the reader reads; free it in the same way. */
om_bytes onnx_everything(void);

#endif
