/* What the files for FlatBuffers share. */
#ifndef SERIALIZE_FLAT_FLAT_H
#define SERIALIZE_FLAT_FLAT_H

#include "codec/codec.h"
#include "format.h"
#include "flat/schema.h"

/* Whether a buffer, whose root is such a table, may be read without further checks, whatever is in it. XIR_OK or a
 * finding (verify.c). */
xir_status flat_check(const flat_schema *schema, const flat_table *root, const uint8_t *data, uint64_t size,
                      xir_str name, xir_diags *why);

/* The network of a buffer; NULL with a finding (read.c). */
xir_network *flat_read(const format_reading *how, blob *whole);

/* write.c */
xir_status flat_write(xir_network *net, const format_writing *how);

/* Objects, ops and values alone (read.c, write.c). */
bool       flat_read_part(format_part *part, const void *data, size_t size, xir_diags *why);
xir_status flat_write_part(const format_part *part, const format_writing *how);

/* How many levels a table adds to the depth of what it stands in: 0 if JSON writes it as one text or number, or as a
 * part of one, so that whatever is read from one format may be written in the other. */
static inline uint32_t flat_levels(const flat_table *table) {
    if (table->shape == FLAT_AXIS_UNIT || table->shape == FLAT_AXIS_NAME) return 0;
    const xir_class *cls = table->cls;
    return !cls || !(cls->form || (cls->base && cls->base == cls->ctx->types[CLASS_scalar]));
}

#endif
