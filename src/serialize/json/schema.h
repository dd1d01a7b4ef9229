/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Shared by the two files that write the JSON Schema of networks. A definition is "class:KEY", the map of one class;
 * "any:KEY", whatever may stand where that class is expected; or a word of docs/formats.md. */
#ifndef SERIALIZE_JSON_SCHEMA_H
#define SERIALIZE_JSON_SCHEMA_H

#include "json/json.h"

typedef struct schema {
    xir_context     *ctx;
    json_sink        json;
    encoder          encoder;      /* for defaults that are objects                                      */
    const xir_class **classes;     /* all that were registered at the start, in order                    */
    size_t           n, room;
    bool            *wanted;       /* [i]: some row takes an object of class i or one derived from it    */
    bool             any_wanted;   /* some row takes any object                                          */
} schema;

/* Writes a piece of the schema: JSON with ' instead of ", which need not be balanced, and without numbers. "@id" is a
 * reference, the entry "$ref": "#/$defs/id", which a '}' follows. An argument stands for
 *
 *     %s    a text, xir_str; before a ':' a key
 *     %i    an int64_t
 *     %u    a uint64_t
 *     %n    a double
 *     %d    a key, "<kind><name>": const char *kind, xir_str name
 *     %r    a reference to that definition */
void schema_put(schema *s, const char *piece, ...);
/* The key and the old keys of a class, as items. */
void schema_keys_of(schema *s, const xir_class *cls);

/* ---- schema_rows.c --------------------------------------------------------------------------------------------- */

/* Returns true if objects of a class are written as maps. */
static inline bool is_map_class(const xir_class *cls) {
    return !cls->is_op && !cls->more->form && !(cls->traits & XIR_TRAIT_ABSTRACT);
}

/* Writes "class:KEY", for the class of an object or of an op. */
void schema_class(schema *s, const xir_class *cls);
/* Writes "any:KEY" for a class, "any:" if `of` is NULL. */
void schema_family(schema *s, const xir_class *of);

#endif
