/* Shared by the two files that write the JSON Schema of networks: building blocks for the sink, and names of
 * definitions. A definition is "class:KEY", the map of one class; "any:KEY", whatever may stand where that class is
 * expected; or a word of docs/formats.md. */
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

/* ---- building blocks: `key` NULL in lists -------------------------------------------------------------------- */

void schema_key(schema *s, const char *key);
void schema_map(schema *s, const char *key);
void schema_list(schema *s, const char *key);
void schema_end(schema *s);                                    /* of map or list   */
void schema_str(schema *s, const char *key, xir_str v);
void schema_word(schema *s, const char *key, const char *v);
void schema_i64(schema *s, const char *key, int64_t v);
void schema_bool(schema *s, const char *key, bool v);
/* "$ref": "#/$defs/<kind><name>". With a key, the reference is a map of its own under that key. */
void schema_ref(schema *s, const char *kind, xir_str name);
void schema_map_ref(schema *s, const char *key, const char *kind, xir_str name);
/* The key and the old keys of a class, as items. */
void schema_keys_of(schema *s, const xir_class *cls);
/* Begins a definition; schema_def_end ends it and flushes. */
void schema_def(schema *s, const char *kind, xir_str name);
void schema_def_end(schema *s);

static inline xir_str no_name(void) { return (xir_str){ "", 0 }; }

/* ---- schema_rows.c --------------------------------------------------------------------------------------------- */

/* Whether objects of a class are written as maps. */
static inline bool is_map_class(const xir_class *cls) {
    return !cls->is_op && !cls->more->form && !(cls->traits & XIR_TRAIT_ABSTRACT);
}

/* Writes "class:KEY", for the class of an object or of an op. */
void schema_class(schema *s, const xir_class *cls);
/* Writes "any:KEY" for a class, "any:" if `of` is NULL. */
void schema_family(schema *s, const xir_class *of);

#endif
