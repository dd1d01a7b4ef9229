/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Shared by the FlatBuffers files. */
#ifndef SERIALIZE_FLAT_FLAT_H
#define SERIALIZE_FLAT_FLAT_H

#include "codec/codec.h"
#include "format.h"
#include "flat/schema.h"

/* Verifies a buffer of any content whose root should be such a table. After XIR_OK it may be read without further
 * checks; otherwise there is a finding (verify.c). */
xir_status flat_check(const flat_schema *schema, const flat_table *root, const uint8_t *data, uint64_t size,
                      xir_str name, xir_diags *why);

/* The network of a buffer; NULL with a finding (read.c). */
xir_network *flat_read(const format_reading *how, blob *whole);

/* write.c */
xir_status flat_write(xir_network *net, const format_writing *how);

/* Objects, ops and values alone (read.c, write.c). */
bool       flat_read_part(format_part *part, const void *data, size_t size, xir_diags *why);
xir_status flat_write_part(const format_part *part, const format_writing *how);

/* Returns how many levels a table adds to the depth of its contents: 0 if JSON writes it as one text or number, or as
 * part of one, so that a network read from one format can be written in the other. */
static inline uint32_t flat_levels(const flat_table *table) {
    if (table->shape == FLAT_AXIS_UNIT || table->shape == FLAT_AXIS_NAME) return 0;
    const xir_class *cls = table->cls;
    return !cls || !(cls->more->form || (cls->more->base && cls->more->base == cls->ctx->types[CLASS_scalar]));
}

#endif
