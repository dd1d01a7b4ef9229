/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A dialect's declaration: parts of keys and places, and its words. */
#include "node/node.h"

/* ---- parts of keys and places ----------------------------------------------------------------------------------- */

void convert_split_key(const xir_dialect_decl *dialect, xir_str key, xir_str *domain, xir_str *type) {
    const size_t from = strlen(dialect->prefix);
    *domain = (xir_str){ key.data, 0 };
    *type = (xir_str){ key.data + from, key.size - from };
    if (dialect->split) dialect->split(*type, domain, type);
}

xir_str convert_short_name(const xir_class *cls) {
    xir_str key = xir_class_key(cls);
    size_t from = key.size;
    while (from > 0 && key.data[from - 1] != ':') from--;
    return (xir_str){ key.data + from, key.size - from };
}

bool dialect_has_class(const xir_dialect_decl *dialect, const xir_class *cls) {
    const size_t n = strlen(dialect->prefix);
    return cls->opaque && cls->key.size > n && memcmp(cls->key.data, dialect->prefix, n) == 0;
}
bool xir_class_is_dialect(const xir_class *cls) { return dialect_of_class(cls) != NULL; }

int64_t convert_number(const xir_dialect_decl *dialect, const xir_op *op) {
    if (!dialect) return xir_op_id(op);
    return dialect->number ? dialect->number(op) : xir_op_id(op) - 1;
}

#define WORD(member, otherwise) return DECLARED(dialect, member) ? dialect->member : (otherwise)
const char *convert_node(const xir_dialect_decl *dialect) { WORD(node, "op"); }
const char *convert_nodes(const xir_dialect_decl *dialect) { WORD(nodes, "/ops/"); }
const char *convert_results(const xir_dialect_decl *dialect) { WORD(results, "/outputs/"); }
const char *convert_sources(const xir_dialect_decl *dialect) { WORD(sources, "network input or constant"); }
const char *convert_operators(const xir_dialect_decl *dialect) { WORD(operators, "set of operations"); }
const char *convert_value(const xir_dialect_decl *dialect) { WORD(value, "value"); }
