/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Reading a node of the library's own domain: custom_attrs.c reads its attributes, custom_read.c makes the op. */
#ifndef CONVERT_ONNX_CUSTOM_READ_H
#define CONVERT_ONNX_CUSTOM_READ_H

#include "node/helpers.h"
#include "onnx/back.h"
#include "onnx/custom.h"

/* A node that is being read. */
typedef struct custom_reading {
    xir_node         *at;
    const xir_class  *cls;
    const xir_map    *given;       /* the node's attributes */
    xir_named_attr   *named;
    size_t            n_named;
    xir_value       **in;
    size_t            n_in, n_out;
    const xir_type  **out;         /* declared types; NULL: none     */
    const xir_target *target;
    bool              moved;       /* some input has other dims now */
} custom_reading;

/* An attribute of the node; NULL: it has none of this name. */
static inline const xir_any *custom_find(const custom_reading *r, const char *name) {
    return xir_map_find(r->given, xir_str_of(name));
}
/* A finding about an attribute; false. */
bool custom_wrong(custom_reading *r, xir_status code, xir_str name, const char *what);

/* Parse an attribute's JSON: an object, NULL with a finding; a type, for which an empty text is NULL; a map. */
const xir_object *custom_parse(custom_reading *r, xir_str name, xir_str json);
bool custom_parse_type(custom_reading *r, xir_str name, const xir_any *any, const xir_type **out);
bool custom_parse_map(custom_reading *r, xir_str name, xir_str json, xir_map *out);

/* Returns true if two element types store the same: they are one type, or one is quantised and the other has its
 * integers. */
bool custom_store_the_same(const xir_type *a, const xir_type *b);
/* Params with this type; NULL: as they are. */
bool custom_as_typed(custom_reading *r, xir_str name, xir_value **v, const xir_type *type);

/* Fills r->named from the attributes that the class declares. */
bool custom_read_attributes(custom_reading *r);
/* A finding for an attribute that neither the class nor such nodes have. */
bool custom_are_known(custom_reading *r);

#endif
