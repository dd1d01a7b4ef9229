/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Networks stored in the bytes of one file, for tests of a format's reader and writer. Bytes are read from a block of
 * exactly their size, so that a read after the end is detected. */
#ifndef SUPPORT_STORED_H
#define SUPPORT_STORED_H

#include "memory.h"
#include "support/net.h"

/* NULL with at least one error, or a network without an error; the findings are in `why`. */
xir_network *stored_read(const char *format, const void *bytes, size_t size);
/* The bytes must be read, to a valid network. Warnings are left in `why`. */
xir_network *stored_must_read(const char *format, const void *bytes, size_t size);

/* The file of a network, without a check of it; freed by buffer_free. */
buffer stored_as(xir_network *net, const char *format);
/* The network must be written as these bytes. */
void stored_must_be(xir_network *net, const char *format, const void *bytes, size_t size, const char *what);

/* Bytes that are refused, or read and written again as they were. */
void stored_comes_back(const char *format, const void *bytes, size_t size);
/* Each byte of a file becomes some others, and each of its bits is changed: the result comes back. */
void stored_changed_anywhere(const char *format, const void *bytes, size_t size);

#endif
