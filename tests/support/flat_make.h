/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* FlatBuffers files made by hand. The text is JSON as flatc reads it (single quotes are allowed). Its tables are
 * written in the order of the text, each after its own vtable; nothing is shared. Shared tables have names: '*a' refers
 * to the table that the key '&' of the root has under 'a', with its type under '='. Those are written last, in the
 * order of their names. A tag is a name or a number; a vtable has all slots up to the last one that is present. Places
 * have names, so that a test can corrupt them:
 *
 *   /ops/0            where a table, text or vector begins      /ops/0.name     its field
 *   /ops/0:           its vtable                                /ops/0:name     the field's entry in it
 *   /ops[0]           an item of a vector                       ^               the offset of the root
 *   $                 the end
 *
 * The root is "" (or root). Tags are fields: /ops_type, /ops/0.compile_target_type. Named tables begin with &a. */
#ifndef SUPPORT_FLAT_MAKE_H
#define SUPPORT_FLAT_MAKE_H

#include <xir/xir.h>
#include "support/forms.h"
#include "flat/flat.h"

typedef struct flat_spot { char *name; size_t at; } flat_spot;

typedef struct flat_made {
    uint8_t   *data;
    size_t     size, room;
    flat_spot *spots;
    size_t     n_spots, spot_room;
} flat_made;

flat_made flat_make(xir_context *with, const char *text);
void      flat_made_free(flat_made *made);
/* The byte of a place, which must exist; "/ops/0+4" is four bytes after it. */
size_t    flat_spot_at(const flat_made *made, const char *place);
/* Corrupts bytes: "u32 /ops/0.name = 7; u16 /ops/0: += 2; cut $-3". A value may be a place ("@/ops/0": its byte;
 * "@/ops/0 - 4"). */
void      flat_spoil(flat_made *made, const char *changes);

/* Reads the bytes through the format; NULL with findings. */
xir_network *flat_read_bytes(xir_context *with, const void *data, size_t size, xir_diags *findings);

#endif
