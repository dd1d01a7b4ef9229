/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Compares the types that a file declares for the outputs of a node with the inferred ones. A file may declare a whole
 * type, only the elements, or only the dims. Dims agree if they may be equal for some values of the symbols. */
#include <stdio.h>
#include "node/node.h"
#include "name_dims.h"
#include "source_tags.h"

static size_t element_text(const xir_type *element, char *out, size_t room) {
    const xir_object *object = xir_type_object(element);
    buffer b;
    buffer_init(&b, &memory_default);
    const xir_class *cls = xir_object_class(object);
    if (cls && cls->more->form && cls->more->form->print) cls->more->form->print(object, &b);
    size_t n = (size_t)snprintf(out, room, "%.*s", (int)(b.size < 60 ? b.size : 60), b.size ? b.data : "");
    buffer_free(&b);
    return n;
}

/* The name of an unknown dim of a value in its file; empty if the file does not name it. */
static xir_str declared_name(const xir_value *v, size_t i) {
    const xir_any *names = v ? source_tag_find(xir_value_tags(v), SOURCE_DIMS) : NULL;
    const bool listed = names && names->kind == XIR_ANY_LIST && i < names->as.list.size;
    const xir_any *name = listed ? &names->as.list.items[i] : NULL;
    return name && name->kind == XIR_ANY_TEXT ? name->as.text : (xir_str){ NULL, 0 };
}

/* `v` has the names of unknown dims; it may be NULL. */
static void type_text(const xir_type *type, const xir_value *v, char *out, size_t room) {
    enum { DIM_ROOM = 50 };
    size_t n = element_text(xir_type_element(type), out, room);
    n += (size_t)snprintf(out + n, room - n, " [");
    for (size_t i = 0; i < xir_type_rank(type) && n < room - DIM_ROOM - 3; i++) {
        char dim[DIM_ROOM];
        xir_str name = declared_name(v, i);
        if (xir_type_as_tensor(type)->shape.data[i] != XIR_UNKNOWN_DIM) name.size = 0;
        if (name.size) snprintf(dim, sizeof dim, "%.*s", (int)(name.size < DIM_ROOM ? name.size : DIM_ROOM), name.data);
        else xir_type_dim_text(type, (int64_t)i, dim, sizeof dim);
        n += (size_t)snprintf(out + n, room - n, "%s%s", i ? ", " : "", dim);
    }
    snprintf(out + n, room - n, "]");
}

/* Returns true if the dims i may be the same for some values of the symbols: a name that the inputs do not have, or an
 * unknown dim, may be any number. */
static bool dim_agrees(xir_node *at, const xir_value *v, const xir_type *declared, const xir_type *inferred, size_t i) {
    object_pool *pool = &at->c->net->pool;
    const int64_t dim = xir_type_as_tensor(declared)->shape.data[i];
    if (dim == xir_type_as_tensor(inferred)->shape.data[i]) return true;
    const xir_str name = declared_name(v, i);
    expr e = expr_of_dim(dim);
    if (dim == XIR_UNKNOWN_DIM && name.size && !expr_of_name(pool, name, &e)) return node_no_memory(at);
    return !expr_never_equal(pool, e, expr_of_dim(xir_type_as_tensor(inferred)->shape.data[i]));
}

/* `has`: what is wrong with the output. */
static void contradict(xir_node *at, size_t output, const char *has, const char *expected, const char *found) {
    char where[32];
    const xir_str name = xir_value_name(xir_op_output(at->op, (int64_t)output));
    snprintf(where, sizeof where, "output/%zu", output);
    const bool error = at->c->checking && !at->c->one_more;
    node_say(at, error ? XIR_ERROR : XIR_WARNING, XIR_E_INVALID, where,
             "output %zu '%.*s' has %s: expected %s, found %s", output, CLIP_TO(name, 100), has, expected, found);
}

/* Exporters before onnx 1.16 counted a last window of a pool with ceil_mode that begins in the padding, which no pool
 * has. From there on the types that they declare may be wrong. */
static bool declares_one_more(const xir_node *at, const xir_type *declared, const xir_type *inferred) {
    bool more = xir_node_int(at, "ceil_mode", 0) != 0;
    for (size_t i = 0; more && i < xir_type_rank(declared); i++) {
        const int64_t found = xir_type_dim(declared, (int64_t)i, false);
        const int64_t own = xir_type_dim(inferred, (int64_t)i, false);
        more = found < 0 || own < 0 || found == own || (i >= 2 && found == own + 1);
    }
    return more;
}

static void check_elements(xir_node *at, size_t output, const xir_type *inferred) {
    char expected[160], found[160];
    const xir_dialect_decl *d = at->cls->dialect;
    const xir_type *declared = DECLARED(d, element) ? d->element(xir_op_output(at->op, (int64_t)output)) : NULL;
    if (!declared || xir_type_equal(declared, xir_type_element(inferred))) return;
    element_text(xir_type_element(inferred), expected, sizeof expected);
    element_text(declared, found, sizeof found);
    contradict(at, output, "wrong declared elements", expected, found);
}

/* "[1, ?, 3]" */
static void dims_text(const xir_list *dims, char *out, size_t room) {
    size_t n = (size_t)snprintf(out, room, "[");
    for (size_t i = 0; i < dims->size && n < room - 30; i++) {
        const xir_any *dim = &dims->items[i];
        const bool known = dim->kind == XIR_ANY_INT && dim->as.integer >= 0;
        n += (size_t)snprintf(out + n, room - n, known ? "%s%lld" : "%s?", i ? ", " : "",
                              known ? (long long)dim->as.integer : 0);
    }
    snprintf(out + n, room - n, "]");
}

static void check_dims(xir_node *at, size_t output, const xir_type *inferred) {
    char expected[160], found[160];
    const xir_dialect_decl *d = at->cls->dialect;
    const xir_any *declared = DECLARED(d, dims) ? d->dims(xir_op_output(at->op, (int64_t)output)) : NULL;
    if (!declared || declared->kind != XIR_ANY_LIST) return;
    const xir_list *dims = &declared->as.list;
    bool same = dims->size == xir_type_rank(inferred);
    for (size_t i = 0; same && i < dims->size; i++) {
        const int64_t own = xir_type_dim(inferred, (int64_t)i, false);
        same = dims->items[i].kind != XIR_ANY_INT || dims->items[i].as.integer < 0 || own < 0 ||
               dims->items[i].as.integer == own;
    }
    if (same || (at->c->reshaped && !at->c->checking)) return;
    type_text(inferred, NULL, expected, sizeof expected);
    dims_text(dims, found, sizeof found);
    contradict(at, output, "wrong declared dims", strchr(expected, '['), found);
}

bool node_agrees(xir_node *at, size_t output, const xir_type *declared, const xir_type *inferred) {
    if (declared == inferred || !xir_type_as_tensor(inferred)) return true;
    if (!declared) {
        check_dims(at, output, inferred);
        check_elements(at, output, inferred);
        return true;
    }
    if (!xir_type_as_tensor(declared)) return true;
    const bool alike = xir_type_rank(declared) == xir_type_rank(inferred) &&
                       xir_type_equal(xir_type_element(declared), xir_type_element(inferred));
    bool same = alike;
    const xir_value *v = xir_op_output(at->op, (int64_t)output);
    for (size_t i = 0; same && i < xir_type_rank(declared); i++) same = dim_agrees(at, v, declared, inferred, i);
    if (at->fate == NODE_NO_MEMORY) return false;
    if (same || (at->c->reshaped && !at->c->checking)) return true;
    char expected[160], found[160];
    if (alike && declares_one_more(at, declared, inferred)) at->c->one_more = true;
    type_text(inferred, NULL, expected, sizeof expected);
    type_text(declared, v, found, sizeof found);
    contradict(at, output, "a wrong declared type", expected, found);
    return true;
}
