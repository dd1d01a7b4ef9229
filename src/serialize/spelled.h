/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Symbolic dims in files. Every format has -1 for them in `shape` and keeps undeclared keys: the texts of the dims of a
 * value are in its key `xir.dims` ("" where `shape` says it), the symbols with their intervals in `xir.symbols` of the
 * network. The keys exist only while a network is written: they are made from the types, and types are made from them
 * after reading. */
#ifndef SERIALIZE_SPELLED_H
#define SERIALIZE_SPELLED_H

#include "symbols.h"

/* A value, and its undeclared keys without `xir.dims`. */
typedef struct spelled_value { xir_value *value; const xir_map *extra; } spelled_value;

typedef struct spelling {
    xir_network   *net;
    arena          scratch;
    spelled_value *values;
    size_t         n, room;
    const xir_map *extra;     /* of the network */
    bool           begun, failed;
} spelling;

/* Adds the keys, if the network has symbols; then writes may follow. XIR_E_MEMORY. The end removes them again, in any
 * case. */
xir_status spelling_begin(spelling *s, xir_network *net, xir_diags *why);
void       spelling_end(spelling *s);

/* Makes types from the keys of a network that was read, and removes the keys. A network without `xir.symbols` is left
 * as it is. */
xir_status spelled_read(xir_network *net, xir_str file, xir_diags *why);

#endif
