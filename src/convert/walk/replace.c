/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Puts the values that were made for a node in its place: names, letters and types are compared or moved, then all
 * uses at once. */
#include "number.h"
#include "node/helpers.h"
#include "walk/opened.h"
#include "walk/walk.h"
#include "source_tags.h"

/* The network copies the name, so it takes its bytes twice. */
static xir_str joined(xir_node *at, xir_str name, xir_str suffix, size_t nth) {
    char digits[1 + NUMBER_ROOM] = ".";
    const size_t n = nth ? 1 + number_put_u64(digits + 1, nth) : 0, size = name.size + suffix.size + n + 1;
    char *text = node_affords(at, 2 * size) ? node_take(at, size) : NULL;
    if (!text) return (xir_str){ NULL, 0 };
    if (name.size) memcpy(text, name.data, name.size);
    text[name.size] = '.';
    memcpy(text + name.size + 1, suffix.data, suffix.size);
    memcpy(text + name.size + 1 + suffix.size, digits, n);
    return (xir_str){ text, size };
}

/* Names the ops of one node: the last op that computes has the node's name, and the others append their class. Likewise
 * the values in between append it to the name of the node's output. */
static bool name_ops(xir_node *at, xir_str output) {
    xir_op *mark = node_mark(at), *first = mark ? xir_op_next(mark) : xir_network_first(at->c->net), *main = at->main;
    xir_str name = xir_op_name(at->op);
    if (first == at->op || xir_op_next(first) == at->op) return true;
    for (xir_op *op = first; op != at->op && !at->main; op = xir_op_next(op)) if (!main || !only_moves(op)) main = op;
    size_t nth = 0;
    for (xir_op *op = first; op != at->op; op = xir_op_next(op)) {
        size_t before = 0;
        xir_str suffix = convert_short_name(xir_op_class(op));
        for (xir_op *p = first; p != op && nth < 16; p = xir_op_next(p))
            before += xir_op_class(p) == xir_op_class(op);
        if (before) before++;
        if (++nth > 16) before = nth;   // linear, whatever a hook makes
        xir_str made = joined(at, name, suffix, before);
        if (!made.data || (op != main && xir_op_set_name(op, made))) return false;
        /* the second one gets .2 */
        for (size_t i = 0; i < xir_op_output_count(op); i++, before += before ? 1 : 2) {
            xir_value *v = xir_op_output(op, (int64_t)i);
            if (xir_value_name(v).size) continue;
            made = joined(at, output, suffix, before);
            if (!made.data || xir_value_set_name(v, made)) return false;
        }
    }
    return true;
}

/* Returns true if a constant that was made for an output only has other letters than it. */
static bool lacks_letters(xir_node *at, const xir_value *v, const xir_value *old) {
    if (!at->c->back.to || !xir_value_is_params(v) || !node_made(at, v)) return false;
    const xir_type *has = xir_value_type(v), *had = xir_value_type(old);
    return type_same_dims(has, had) && xir_type_equal(xir_type_element(has), xir_type_element(had)) &&
           !xir_type_equal(has, had);
}

/* The value that replaces an output, under the output's name. */
static xir_value *stand_in(xir_node *at, size_t i) {
    xir_value *old = xir_op_output(at->op, (int64_t)i), *v = at->given[i];
    if (!node_made(at, v) && at->c->back.to) {
        if (!back_is_result(at->c, old)) return v;   /* a value may lose its name, a result may not */
    } else if (!node_made(at, v)) {
        v = xir_value_is_params(v) ? node_alias(at, v)
            : xir_node_make(at, "Copy", XIR_VALUES(v), XIR_NO_SETS);
        if (!v) return node_no_memory(at), NULL;
    }
    const xir_map *tags = xir_value_tags(old);
    if (lacks_letters(at, v, old) && xir_value_set_type(v, xir_value_type(old))) return node_no_memory(at), NULL;
    const bool foreign = at->c->back.to && xir_value_op(v) && xir_class_is_opaque(xir_op_class(xir_value_op(v)));
    if (foreign && xir_value_set_type(v, xir_value_type(old))) return node_no_memory(at), NULL;   /* its letters */
    if (xir_value_set_name(v, xir_value_name(old))) return node_no_memory(at), NULL;
    for (size_t k = 0; tags && k < tags->size; k++) {
        bool dims = source_tag_is(SOURCE_DIMS, tags->entries[k].key);
        if (dims && !xir_type_has_unknown_dim(xir_value_type(v))) continue;
        if (xir_value_set_tag(v, tags->entries[k].key, &tags->entries[k].value)) return node_no_memory(at), NULL;
    }
    return v;
}

/* In a network that is partly XIR's already, XIR's ops may find axes by the letters of a value, which what stands in
 * for it must have, too. */
static bool asks_for_letters(const xir_value *old, const xir_value *v) {
    const xir_layout *had = xir_type_layout(xir_value_type(old)), *has = xir_type_layout(xir_value_type(v));
    bool other = false, asked = false;
    if (!had || !has || had == has) return false;
    for (const xir_use *use = xir_value_uses(old); use && !asked; use = xir_use_next(use)) {
        const xir_op *user = xir_use_op(use);
        asked = !xir_class_is_opaque(xir_op_class(user)) && !xir_op_is(user, xir_output_class());
    }
    const size_t rank = asked ? xir_layout_rank(had) : 0;
    if (!rank || xir_layout_rank(has) != rank || xir_type_rank(xir_value_type(v)) != rank) return false;
    for (size_t i = 0; i < rank; i++) {
        const char letter = xir_layout_axis(had, i);
        other |= letter != '*' && letter != xir_layout_axis(has, i);
    }
    return other;
}

bool node_give_letters(xir_node *at) {
    for (size_t i = 0; i < xir_op_output_count(at->op) && !at->c->back.to; i++) {
        const xir_value *old = xir_op_output(at->op, (int64_t)i);
        if (!at->given[i] || !asks_for_letters(old, at->given[i])) continue;
        const xir_str letters = xir_layout_text(xir_type_layout(xir_value_type(old)));
        char text[16] = "";
        if (letters.size >= sizeof text) continue;
        memcpy(text, letters.data, letters.size);
        const xir_ints same = xir_node_series(at, 0, letters.size);
        at->given[i] = same.v ? xir_node_transposed(at, at->given[i], same.v, same.n, text) : NULL;
    }
    return !xir_node_failed(at);
}

/* XIR's ops that use an output have types that follow from its declared one, so a result of other dims cannot take its
 * place: the node stays. */
static bool suits_ops(xir_node *at, size_t i) {
    const xir_value *old = xir_op_output(at->op, (int64_t)i);
    const xir_type *had = xir_value_type(old), *has = xir_value_type(at->given[i]);
    const size_t rank = xir_type_as_tensor(has) ? xir_type_rank(has) : 0;
    if (at->c->checking || at->c->back.to || at->c->reshaped) return true;
    if (!xir_type_as_tensor(had) || !xir_type_as_tensor(has)) return true;
    bool same = xir_type_rank(had) == rank;
    const int64_t *was = xir_type_as_tensor(had)->shape.data, *is = xir_type_as_tensor(has)->shape.data;
    for (size_t k = 0; same && k < rank; k++)
        same = was[k] == is[k] || ((was[k] < 0 || is[k] < 0) &&
                                   !expr_never_equal(&at->c->net->pool, expr_of_dim(was[k]), expr_of_dim(is[k])));
    for (const xir_use *use = same ? NULL : xir_value_uses(old); use; use = xir_use_next(use)) {
        const xir_op *user = xir_use_op(use);
        if (!xir_class_is_opaque(xir_op_class(user)) && !xir_op_is(user, xir_output_class()))
            return xir_node_unsupported(at, "output %zu has a wrong declared type, which ops of XIR depend on", i);
    }
    return true;
}

bool node_all_given(xir_node *at) {
    for (size_t i = 0; i < xir_op_output_count(at->op); i++) {
        xir_value *old = xir_op_output(at->op, (int64_t)i);
        if (!at->given[i] && xir_value_uses(old) && !conversion_list(at->c, old)) {
            return xir_node_unsupported(at, "%s has no op that makes output %zu",
                                        at->c->back.to ? at->c->back.to->name : "XIR", i);
        }
        if (!at->given[i]) continue;
        if (!node_agrees(at, i, xir_value_type(old), xir_value_type(at->given[i])) || !suits_ops(at, i)) return false;
    }
    return true;
}

/* Everything that needs memory comes first, so that either all uses move or none. */
bool node_put_in_place(xir_node *at) {
    size_t n = xir_op_output_count(at->op);
    xir_str output = { NULL, 0 };
    for (size_t i = 0; i < n; i++) {
        if (!at->given[i]) continue;
        if (!(at->given[i] = stand_in(at, i))) return false;
        if (!output.size) output = xir_value_name(at->given[i]);
    }
    if (at->makes_lists && !lists_reserve(at)) return false;
    if ((!at->opened && !name_ops(at, output)) || !net_reserve_ids(at->c->net, 0, n)) return node_no_memory(at);
    for (size_t i = 0; i < n; i++) {
        xir_value *old = xir_op_output(at->op, (int64_t)i);
        if (at->given[i] && at->c->back.to && !back_replace(at->c, old, at->given[i])) return node_no_memory(at);
        if (at->given[i] && xir_value_replace(old, at->given[i])) return node_no_memory(at);
    }
    if (at->makes_lists) return lists_keep(at), true;
    converted_replaced(at->c, at->op);
    return xir_op_erase(at->op) == XIR_OK || node_no_memory(at);
}
