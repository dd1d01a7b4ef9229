/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A node as a hook sees it: its inputs, constants among them. attrs.c has its attributes, fail.c why it stays. */
#include <stdio.h>
#include "node/helpers.h"
#include "source_tags.h"

const xir_op *xir_node_op(const xir_node *at) { return at->op; }
xir_network  *xir_node_network(const xir_node *at) { return at->c->net; }
xir_context  *xir_node_context(const xir_node *at) { return at->c->ctx; }
int64_t       xir_node_version(const xir_node *at) { return at->to ? at->to->version : at->cls->version; }
xir_str       xir_node_type(const xir_node *at) { return at->cls->type; }
int64_t       xir_node_variant(const xir_node *at) { return at->to ? at->to->variant : at->cls->variant; }
size_t        xir_node_input_count(const xir_node *at) { return at->n_in; }
size_t        xir_node_output_count(const xir_node *at) { return at->n_out; }

/* ---- inputs ----------------------------------------------------------------------------------------------------- */

xir_value *node_input_at(const xir_node *at, size_t i) {
    if (i >= at->n_in) return NULL;
    return at->in ? at->in[i].value : xir_op_input(at->op, (int64_t)i);
}

const char *node_input_words(const xir_node *at, size_t i, char room[80]) {
    xir_str name = i < at->cls->n_slots ? at->cls->slots[i].name : (xir_str){ NULL, 0 };
    if (name.size) snprintf(room, 80, "input %zu (%.*s)", i, CLIP_TO(name, 50));
    else snprintf(room, 80, "input %zu", i);
    return room;
}

/* The names that the file gives to the inputs; NULL if it gives none. */
static const xir_list *names_in_file(const xir_node *at) {
    const xir_any *names = source_tag_find(xir_op_tags(at->op), SOURCE_INPUTS);
    return names && names->kind == XIR_ANY_LIST ? &names->as.list : NULL;
}

/* An input may stand for an attribute, as the weight of several operators does: "weight" for "@weight". */
static size_t position_named(const xir_node *at, xir_str name) {
    for (size_t i = 0; i < at->cls->n_slots; i++) {
        const row_input *slot = &at->cls->slots[i];
        if (xir_str_equal(slot->name, name)) return i;
        if (slot->is_attribute && xir_str_equal((xir_str){ slot->name.data + 1, slot->name.size - 1 }, name)) return i;
    }
    return SIZE_MAX;
}

static xir_str name_in_file(const xir_list *names, size_t i) {
    const xir_any *name = names && i < names->size ? &names->items[i] : NULL;
    return name && name->kind == XIR_ANY_TEXT ? name->as.text : (xir_str){ NULL, 0 };
}

/* Puts named inputs at the positions of their names. A second input with the same name counts as unnamed. */
static bool put_named(xir_node *at, node_input *in, bool *placed, const xir_list *names) {
    char where[32];
    for (size_t k = 0; k < at->n_in; k++) {
        xir_str name = name_in_file(names, k);
        const size_t i = name.size ? position_named(at, name) : SIZE_MAX;
        if (name.size && i == SIZE_MAX) {
            snprintf(where, sizeof where, "input/%zu", k);
            return xir_node_invalid(at, XIR_E_UNKNOWN, where, "there is no input '%.*s'", CLIP_TO(name, 80));
        }
        if (i == SIZE_MAX || in[i].value) continue;
        in[i] = (node_input){ xir_op_input(at->op, (int64_t)k), (uint32_t)k };
        placed[k] = true;
    }
    return true;
}

bool node_find_inputs(xir_node *at) {
    const size_t room = at->cls->n_slots + at->n_in;
    node_input *in = node_take(at, (room + 1) * sizeof *in);
    bool *placed = node_take(at, at->n_in + 1);
    if (!in || !placed) return node_no_memory(at);
    memset((void *)in, 0, (room + 1) * sizeof *in);
    memset(placed, 0, at->n_in + 1);
    const xir_list *names = names_in_file(at);
    if (names && !put_named(at, in, placed, names)) return false;
    for (size_t k = 0, i = 0; k < at->n_in; k++) {   /* the unnamed ones, in order, absent ones included */
        if (placed[k]) continue;
        while (in[i].value || (i < at->cls->n_slots && at->cls->slots[i].is_attribute)) i++;
        in[i++] = (node_input){ xir_op_input(at->op, (int64_t)k), (uint32_t)k };
    }
    for (size_t i = 0; i < at->cls->n_slots; i++) {
        const xir_map *extra = xir_op_extra(at->op);
        const xir_any *a = in[i].value || !extra ? NULL : xir_map_find(extra, at->cls->slots[i].name);
        if (a && a->kind == XIR_ANY_PARAMS) in[i] = (node_input){ a->as.params, FROM_ATTRIBUTE };
    }
    at->n_in = room;
    while (at->n_in && !in[at->n_in - 1].value) at->n_in--;
    at->in = in;
    return true;
}

size_t xir_node_input_named(const xir_node *at, const char *name) {
    if (at->c->back.to) {   /* a port of the class */
        const xir_port *port;
        for (size_t k = 0; (port = xir_class_input_at(xir_op_class(at->op), k)); k++)
            if (xir_str_equal(port->name, xir_str_of(name))) return node_input_at(at, k) ? k : SIZE_MAX;
        return SIZE_MAX;
    }
    const size_t i = position_named(at, xir_str_of(name));
    const xir_list *names = at->in ? NULL : names_in_file(at);
    if (i != SIZE_MAX) return node_input_at(at, i) ? i : SIZE_MAX;
    for (size_t k = 0; names && k < names->size; k++)
        if (xir_str_equal(name_in_file(names, k), xir_str_of(name))) return k;
    return SIZE_MAX;
}

bool xir_node_has(const xir_node *at, size_t i) { return node_input_at(at, i) != NULL; }

/* Weights may be stored with half of the bits of the maps that they meet. */
static xir_value *as_wide_as_first(xir_node *at, size_t i, xir_value *v) {
    const xir_value *x = node_input_at(at, 0);
    const bool stored = at->in && i && i < at->cls->n_slots && at->cls->slots[i].is_attribute &&
                        at->in[i].from == FROM_ATTRIBUTE;
    if (!stored || !x || !xir_type_as_tensor(xir_value_type(x))) return v;
    const xir_type *half = v_element(v), *full = v_element(x);
    const bool widens = xir_type_kind_of(half) == XIR_TYPE_FLOAT && xir_type_kind_of(full) == XIR_TYPE_FLOAT &&
                        xir_type_storage_bits(half) == 16 && xir_type_storage_bits(full) == 32;
    return widens ? at->in[i].value = xir_node_cast(at, v, full) : v;
}

xir_value *xir_node_input(xir_node *at, size_t i) {
    char words[80];
    if (xir_node_failed(at)) return NULL;
    xir_value *v = node_input_at(at, i);
    if (v && xir_type_as_tensor(xir_value_type(v))) return as_wide_as_first(at, i, v);
    if (!v) {
        char where[32];
        snprintf(where, sizeof where, "input/%zu", i);
        return xir_node_invalid(at, XIR_E_MISSING, where, "%s is missing",
                                node_input_words(at, i, words)), NULL;
    }
    xir_str name = xir_value_name(v);
    at->waits_for = v;
    return xir_node_unsupported(at, "input %zu '%.*s' has no tensor type", i, CLIP_TO(name, 100)), NULL;
}

xir_values node_inputs(xir_node *at) {
    xir_value **in = node_take(at, (at->n_in + 1) * sizeof *in);
    for (size_t i = 0; in && i < at->n_in; i++) in[i] = xir_node_input(at, i);
    return (xir_values){ in, in && !xir_node_failed(at) ? at->n_in : 0 };
}

xir_value *xir_node_optional_input(xir_node *at, size_t i) {
    return xir_node_has(at, i) ? xir_node_input(at, i) : NULL;
}

bool xir_node_is_constant(xir_node *at, size_t i) {
    const xir_type *element;
    const void *bytes;
    size_t n;
    return !xir_node_failed(at) && xir_node_has(at, i) && params_elements(node_input_at(at, i), &element, &bytes, &n);
}

static bool constant_of(xir_node *at, size_t i, const xir_type **element, const void **bytes, size_t *n) {
    xir_value *v = xir_node_input(at, i);
    if (!v) return false;
    if (params_elements(v, element, bytes, n)) return true;
    char words[80];
    at->waits_for = v;
    return xir_node_unsupported(at, "%s is not constant", node_input_words(at, i, words));
}

bool xir_node_ints(xir_node *at, size_t i, xir_ints *out) {
    const xir_type *element = NULL;
    const void *bytes = NULL;
    size_t n = 0;
    *out = (xir_ints){ NULL, 0 };
    if (!constant_of(at, i, &element, &bytes, &n)) return false;
    *out = xir_node_make_ints(at, n, 0);
    if (out->v) elements_to_ints(element, bytes, 0, n, out->v);
    return out->v;
}

bool xir_node_reals(xir_node *at, size_t i, const double **out, size_t *n) {
    const xir_type *element = NULL;
    const void *bytes = NULL;
    if (!constant_of(at, i, &element, &bytes, n)) return false;
    double *v = *n < SIZE_MAX / sizeof *v ? node_take(at, (*n + 1) * sizeof *v) : NULL;
    if (!v) return node_no_memory(at);
    elements_to_reals(element, bytes, 0, *n, v);
    *out = v;
    return true;
}

xir_value *xir_node_params(xir_node *at, size_t i) {
    xir_value *v = xir_node_input(at, i);
    if (!v || xir_value_is_params(v)) return v;
    char words[80];
    return xir_node_unsupported(at, "%s is not constant", node_input_words(at, i, words)), NULL;
}

/* ---- attributes or inputs --------------------------------------------------------------------------------------- */

bool xir_node_list(xir_node *at, const char *name, size_t input, xir_ints *out) {
    if (xir_node_items(at, name, out)) return true;
    return xir_node_has(at, input) && xir_node_ints(at, input, out);
}

bool xir_node_number(xir_node *at, const char *name, size_t input, double otherwise, double *out) {
    const double *v;
    size_t n;
    char where[32];
    *out = xir_node_real(at, name, otherwise);
    if (xir_node_failed(at)) return false;
    if (!xir_node_has(at, input)) return true;
    if (!xir_node_reals(at, input, &v, &n)) return false;
    snprintf(where, sizeof where, "input/%zu", input);
    if (n != 1) return xir_node_invalid(at, XIR_E_BOUNDS, where, "%s: expected one number, found %zu", name, n);
    *out = v[0];
    return true;
}

bool xir_node_axis(xir_node *at, const char *where, int64_t axis, size_t rank, int64_t *out) {
    int64_t r = (int64_t)rank;
    *out = axis < 0 ? axis + r : axis;
    if (xir_node_failed(at)) return false;
    if (*out >= 0 && *out < r) return true;
    return xir_node_invalid(at, XIR_E_BOUNDS, where,
                            "expected an axis from %lld to %lld of a tensor with %zu dims, found %lld",
                            (long long)-r, (long long)r - 1, rank, (long long)axis);
}
