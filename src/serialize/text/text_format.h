/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The text as a format: see docs/text.md. */
#ifndef SERIALIZE_TEXT_FORMAT_H
#define SERIALIZE_TEXT_FORMAT_H

#include "codec/codec.h"
#include "format.h"

xir_network *text_read(const format_reading *how, blob *whole);
bool         text_read_part(format_part *part, const void *data, size_t size, xir_diags *why);
xir_status   text_write(xir_network *net, const format_writing *how);
xir_status   text_write_part(const format_part *part, const format_writing *how);
/* Returns true if the bytes of the Params are in the text. */
bool         text_is_inline(const xir_network *net, const format_writing *how);
xir_status   text_find_places(xir_context *ctx, xir_str text, xir_format_place *places, size_t n, void *user);

/* Returns the value of a key of the network that the text does not mention. */
xir_str      text_usual(network_key key);

#endif
