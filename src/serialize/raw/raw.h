/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The raw file as the companion of a structure file: the functions of a format's row, and what the writer of the
 * structure must know about it. */
#ifndef SERIALIZE_RAW_H
#define SERIALIZE_RAW_H

#include "graph.h"
#include "raw/md5.h"

/* Size and MD5 (lower-case, terminated) of the raw file that the network would write now; 0 and MD5_OF_NOTHING for a
 * network without Params, as the format requires. Linear in the bytes, unless all Params come unchanged from one file
 * whose MD5 the network has: then the results are that file's. XIR_E_MISSING if no raw file could be written now,
 * because Params lack required bytes or a type or id does not fit; XIR_E_MEMORY; XIR_E_UNSUPPORTED without MD5. `why`
 * may be NULL. */
xir_status raw_digest(xir_network *net, uint64_t *bytes, char hex[MD5_DIGITS + 1], xir_diags *why);

/* The same, but if the bytes would be read, *later is true instead, and `hex` has zeros. */
xir_status raw_digest_later(xir_network *net, uint64_t *bytes, char hex[MD5_DIGITS + 1], bool *later);

/* load_params, read_params and write_params of a row, and its suffixes. Writing sets params_bytes and params_md5 of the
 * network. */
struct format_reading;   /* format.h */
struct format_writing;
#define RAW_FOUND   "raw params"
#define RAW_WRITTEN "raw"
bool       raw_may_begin(const uint8_t *head, size_t size);
xir_status raw_load_params(xir_network *net, const struct format_reading *how);
xir_status raw_read_params(xir_network *net, const struct format_reading *how, const void *data, size_t size);
xir_status raw_write_params(xir_network *net, const struct format_writing *how);

#endif
