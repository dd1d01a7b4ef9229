/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Reads the declaration of a dialect: parts of keys and places, and functions that it may have. */
#include "node/node.h"
#include "sized.h"

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

#define WORD(member, otherwise) return dialect && dialect->member ? dialect->member : (otherwise)
const char *convert_node(const xir_dialect_decl *dialect) { WORD(node, "op"); }
const char *convert_nodes(const xir_dialect_decl *dialect) { WORD(nodes, "/ops/"); }
const char *convert_results(const xir_dialect_decl *dialect) { WORD(results, "/outputs/"); }
const char *convert_sources(const xir_dialect_decl *dialect) { WORD(sources, "network input or constant"); }
const char *convert_operators(const xir_dialect_decl *dialect) { WORD(operators, "set of operations"); }

/* True if a declaration has a member that was added after the first version of the struct. */
#define HAS(d, member) ((d)->size >= SIZE_TO(xir_dialect_decl, member) && (d)->member)

bool convert_check(const xir_dialect_decl *dialect, xir_node *at) {
    return !HAS(dialect, check) || dialect->check(at);
}
void convert_types(const xir_dialect_decl *dialect, xir_node *at) {
    if (HAS(dialect, types)) dialect->types(at);
}
const xir_type *convert_element(const xir_dialect_decl *dialect, const xir_value *v) {
    return HAS(dialect, element) ? dialect->element(v) : NULL;
}

const xir_any *convert_dims(const xir_dialect_decl *dialect, const xir_value *v) {
    return HAS(dialect, dims) ? dialect->dims(v) : NULL;
}

int64_t convert_newest(const xir_dialect_decl *dialect) { return HAS(dialect, newest) ? dialect->newest : 0; }
bool    convert_grows(const xir_dialect_decl *dialect)  { return HAS(dialect, grows); }

size_t convert_spelled(const xir_dialect_decl *dialect, xir_str type, char *out, size_t room) {
    return HAS(dialect, spelled) ? dialect->spelled(type, out, room) : 0;
}

const char *convert_numbered(const xir_dialect_decl *dialect) {
    return HAS(dialect, numbered) ? dialect->numbered : NULL;
}
const char *convert_value(const xir_dialect_decl *dialect) { return HAS(dialect, value) ? dialect->value : "value"; }
uint32_t    convert_lacks(const xir_dialect_decl *dialect) { return HAS(dialect, lacks) ? dialect->lacks : 0; }

xir_status convert_prepare(const xir_dialect_decl *dialect, xir_network *net, bool *changed) {
    return dialect && HAS(dialect, prepare) ? dialect->prepare(net, changed) : XIR_OK;
}

bool convert_checks_file(const xir_dialect_decl *dialect) { return dialect && HAS(dialect, check_file); }
xir_status convert_check_file(const xir_dialect_decl *dialect, const xir_network *net, xir_diags *why) {
    return convert_checks_file(dialect) ? dialect->check_file(net, why) : XIR_OK;
}

const xir_pass_decl *convert_back(const xir_dialect_decl *dialect) {
    return HAS(dialect, back) ? dialect->back : NULL;
}
const char *convert_before_back(const xir_dialect_decl *dialect) {
    return HAS(dialect, before_back) ? dialect->before_back : NULL;
}
xir_convert_fn *convert_function(const xir_dialect_decl *dialect, xir_node *at) {
    return HAS(dialect, function) ? dialect->function(at) : NULL;
}
xir_convert_fn *convert_rest(const xir_dialect_decl *dialect, xir_node *at, size_t i) {
    return HAS(dialect, rest) ? dialect->rest(at, i) : NULL;
}
xir_convert_fn *convert_instead(const xir_dialect_decl *dialect, xir_node *at) {
    return HAS(dialect, instead) ? dialect->instead(at) : NULL;
}
bool convert_needs_constants(const xir_dialect_decl *dialect) { return HAS(dialect, constant); }
xir_status convert_finish(const xir_dialect_decl *dialect, xir_network *net, bool *changed) {
    return HAS(dialect, finish) ? dialect->finish(net, changed) : XIR_OK;
}
xir_status convert_begin_back(const xir_dialect_decl *dialect, xir_pass *pass) {
    return HAS(dialect, begin_back) ? dialect->begin_back(pass) : XIR_OK;
}
bool convert_has_calls(const xir_dialect_decl *dialect) { return HAS(dialect, calls); }
xir_status convert_calls(const xir_dialect_decl *dialect, xir_pass *pass) { return dialect->calls(pass); }
xir_status convert_end_back(const xir_dialect_decl *dialect, xir_pass *pass) {
    return HAS(dialect, end_back) ? dialect->end_back(pass) : XIR_OK;
}
