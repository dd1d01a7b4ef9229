/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The way back: ops of XIR become ops of a dialect. An op's class has candidates, the rows of the dialect that stand
 * for it, in the order of their table; then formulas in terms of simpler classes of XIR (simpler.c), which every
 * dialect shares. The first that can say what the op computes is taken. What a candidate makes of XIR's own (a
 * Transpose before a convolution, the parts of a formula) are the products of the node: they are converted in turn,
 * before the node is given up. If one of them can't be, the candidate has not made anything.
 *
 * What only permutes axes back cancels: a Transpose whose input is the output of another one is its input. */
#include <inttypes.h>
#include "walk/lost.h"
#include "formula/simpler.h"
#include "walk/walk.h"
#include "support/names.h"

enum { MOST_DEPTH = 6 };   /* a product of a product of ... */

/* ---- candidates ------------------------------------------------------------------------------------------------- */

static bool add_row(conversion *c, const xir_convert_row *row) {
    back_state *b = &c->back;
    const char *classes = convert_row_classes(row);
    for (char name[64]; convert_next_class(&classes, name);) {
        const xir_class *cls = find_class(c->ctx, name);
        if (!cls) continue;
        if (!mem_reserve(context_alloc(c->ctx), (void **)&b->rows, &b->row_room, b->n_rows + 1, sizeof *b->rows))
            return false;
        uint32_t *first = pointer_table_add(&b->rows_of, cls, 0);
        if (!first) return false;
        b->rows[b->n_rows++] = (back_row){ .row = row, .next = *first };
        *first = (uint32_t)b->n_rows;
    }
    return true;
}

/* Each row is put before those that follow it in the table. */
static bool find_rows(conversion *c) {
    const size_t prefix = strlen(c->back.to->prefix);
    size_t n = 0;
    while (xir_convert_at(c->ctx, n)) n++;
    while (n-- > 0) {
        const xir_convert_row *row = xir_convert_at(c->ctx, n);
        if (strncmp(row->name, c->back.to->prefix, prefix) == 0 && !add_row(c, row)) return false;
    }
    return true;
}

bool back_begin(conversion *c) {
    back_state *b = &c->back;
    pointer_table *const tables[] = { &b->rows_of, &b->results, &b->replaced, &b->constant_of, &b->turn_of };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) pointer_table_init(tables[i], context_alloc(c->ctx));
    b->front = xir_network_first(c->net);
    for (xir_op *op = b->front; op && (op = xir_op_next(op)) && !xir_op_input_count(op) &&
                                dialect_has_class(b->to, op->cls);) b->front = op;   /* constants of an earlier run */
    const xir_op *output = xir_network_output_op(c->net);
    for (size_t i = 0; output && i < xir_op_input_count(output); i++) {
        const xir_value *v = xir_op_input(output, (int64_t)i);
        if (v && !pointer_table_add(&b->results, v, 0)) return false;
    }
    return find_rows(c);
}

void back_end(conversion *c) {
    const xir_allocator *alloc = context_alloc(c->ctx);
    back_state *b = &c->back;
    if (!b->to) return;
    pointer_table *const tables[] = { &b->rows_of, &b->results, &b->replaced, &b->constant_of, &b->turn_of };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) pointer_table_free(tables[i]);
    mem_free(alloc, (void *)b->rows, b->row_room * sizeof *b->rows);
    mem_free(alloc, (void *)b->by, b->by_room * sizeof *b->by);
    mem_free(alloc, (void *)b->constants, b->constant_room * sizeof *b->constants);
    mem_free(alloc, b->turns, b->turn_room * sizeof *b->turns);
}

static bool keeps_order(const xir_ints *order) {
    for (size_t i = 0; i < order->n; i++) if (order->v[i] != (int64_t)i) return false;
    return true;
}

/* ---- one node --------------------------------------------------------------------------------------------------- */

static bool run(conversion *c, xir_op *op, unsigned depth, xir_node *at);

/* Returns true if a value may get the name of the result that it becomes: nothing else needs its own. */
static bool may_be_renamed(const conversion *c, const xir_value *v) {
    const xir_op *producer = xir_value_op(v);
    const bool is_input = !producer || xir_op_is(producer, xir_input_class());
    const xir_use *use = xir_value_uses(v);
    return !is_input && !back_is_result(c, v) && use && !xir_use_next(use);
}

/* A result of the network keeps its name, so a value that has another one is copied. */
static bool copy_results(xir_node *at) {
    for (size_t i = 0; i < xir_op_output_count(at->op); i++) {
        xir_value *old = xir_op_output(at->op, (int64_t)i), *v = at->given[i];
        if (!v || !back_is_result(at->c, old) || node_made(at, v) || xir_op_is(at->op, xir_copy_class())) continue;
        if (may_be_renamed(at->c, v)) continue;
        at->given[i] = xir_node_make(at, "Copy", XIR_VALUES(v), XIR_NO_SETS);
    }
    return !xir_node_failed(at);
}

/* Converts what the node's candidate has made of XIR's own. */
static bool convert_products(xir_node *at) {
    const xir_op *mark = node_mark(at);
    for (xir_op *op = mark ? xir_op_next(mark) : xir_network_first(at->c->net), *next; op != at->op; op = next) {
        next = xir_op_next(op);
        if (xir_class_is_opaque(xir_op_class(op))) continue;
        if (at->depth + 1 >= MOST_DEPTH) return xir_node_unsupported(at, "it takes too many steps");
        xir_node product;
        if (run(at->c, op, at->depth + 1, &product)) continue;
        if (product.fate == NODE_NO_MEMORY) return node_no_memory(at);
        return xir_node_unsupported(at, "%.*s: %s", (int)product.cls->type.size, product.cls->type.data,
                                    product.reason);
    }
    for (size_t i = 0; i < xir_op_output_count(at->op); i++) at->given[i] = back_latest(at->c, at->given[i]);
    return true;
}

static bool finish_node(xir_node *at, const xir_ints *order) {
    xir_value *from = order ? xir_op_input(at->op, 0) : NULL;
    if (xir_node_failed(at) || !copy_results(at) || !convert_products(at)) return false;
    if (!node_all_given(at)) return false;
    /* before the op is erased: nothing may fail after that */
    if (order && at->given[0] != from && !back_add_turn(at->c, from, at->given[0], order)) return node_no_memory(at);
    return node_put_in_place(at);
}

/* Tries one way. False: it has made nothing; the first reason is kept in `reason`. */
static bool attempt(xir_node *at, const convert_class *to, xir_convert_fn *hook, const xir_ints *order,
                    char reason[300]) {
    at->to = to;
    at->main = NULL;
    at->order = to->n_slots && to->slots[0].order.size ? to->slots[0].order : (xir_str){ NULL, 0 };
    at->fate = NODE_GOES;
    at->waits_for = NULL;
    memset((void *)at->given, 0, (xir_op_output_count(at->op) + 1) * sizeof *at->given);
    (void)hook(at);
    if (at->c->no_memory) at->fate = NODE_NO_MEMORY;
    if (finish_node(at, order)) return true;
    node_discard(at);
    if (!*reason) memcpy(reason, at->reason, 300);
    return false;
}

/* Returns true if the users of b find the same letters in a. */
static bool has_letters(const xir_value *a, const xir_value *b) {
    const xir_layout *x = xir_type_layout(xir_value_type(a)), *y = xir_type_layout(xir_value_type(b));
    for (size_t i = 0; x && y && i < xir_layout_rank(y); i++) {
        const char was = i < xir_layout_rank(x) ? xir_layout_axis(x, i) : '*', now = xir_layout_axis(y, i);
        if (was != now && now != '*') return false;
    }
    return true;
}

/* Without letters a map has channels last. So a value that the conversion has made with others, such as NCHW, loses
 * them before it takes the place of one that has none. False: it has users that still ask for its letters, or it is
 * not the conversion's own. */
static bool loses_letters(xir_node *at, xir_value *v, const xir_value *y) {
    const xir_layout *has = xir_type_layout(xir_value_type(v)), *asked = xir_type_layout(xir_value_type(y));
    const size_t rank = has ? xir_layout_rank(has) : 0;
    bool same = rank == 0 || xir_layout_axis(has, rank - 1) == 'C';
    for (size_t i = 0; !same && asked && i < rank; i++) same = xir_layout_axis(has, i) == xir_layout_axis(asked, i);
    if (same) return true;
    const xir_op *maker = xir_value_op(v);
    if (!maker || !xir_class_is_opaque(xir_op_class(maker))) return false;
    for (const xir_use *use = xir_value_uses(v); use; use = xir_use_next(use)) {
        const xir_op *user = xir_use_op(use);
        if (!xir_class_is_opaque(xir_op_class(user)) && !xir_op_is(user, xir_transpose_class())) return false;
    }
    const xir_type *plain = xir_type_with_layout(at->c->ctx, xir_value_type(v), NULL, NULL);
    return plain && xir_value_set_type(v, plain) == XIR_OK;
}

/* A Transpose that keeps the order, or restores that of its input's input. Otherwise nothing asks for a reason. */
static bool is_its_input(xir_node *at) {
    const xir_ints *order = &at->turn;
    xir_value *x = xir_node_input(at, 0), *y = xir_op_output(at->op, 0), *v = NULL;
    if (x) v = keeps_order(order) ? x : back_unturned(at->c, x, order->v, order->n);
    if (v && has_letters(v, y) && loses_letters(at, v, y)) return xir_node_result(at, 0, v);
    return node_declines(at);
}

static bool node_run_candidate(xir_node *at) {
    xir_convert_fn *back = convert_row_back(at->to->row);
    return back ? back(at) : row_run_back(at);
}

/* No format computes with XIR's quantised elements. A Cast only changes the type, and its row knows which ones. */
static bool is_quantised(const xir_node *at, const xir_value *v) {
    const xir_type *element = v ? xir_type_element(xir_value_type(v)) : NULL;
    return element && xir_type_is_quantized(element) && !xir_op_is(at->op, xir_cast_class());
}

/* Nor elements that are only padding. */
static bool is_distributed(const xir_value *v) {
    const xir_tensor_type *type = v ? xir_type_as_tensor(xir_value_type(v)) : NULL;
    return type && type->merged_distrs.size;
}

static bool is_plain(xir_node *at) {
    const size_t n_in = xir_op_input_count(at->op);
    for (size_t i = 0, n = op_values(at->op); i < n; i++) {
        const xir_value *v = op_value(at->op, i);
        if (is_quantised(at, v)) return xir_node_unsupported(at, "quantised elements");
        if (is_distributed(v)) return xir_node_unsupported(at, "elements that are padding");
        if (i >= n_in && !xir_type_as_tensor(xir_value_type(v)))
            return xir_node_unsupported(at, "output %zu has no tensor type", i - n_in);
    }
    return true;
}

/* Converts the rest by the hook of the dialect. False: the op stays, with the first reason, or memory is out. Without
 * a reason so far, `otherwise` is one (NULL: that the format has no operation). */
static bool run_rest(conversion *c, const convert_class *cls, xir_node *at, char reason[300], const char *otherwise) {
    const xir_dialect_decl *to = c->back.to;
    xir_convert_fn *rest;
    for (size_t i = 0; DECLARED(to, rest) && (rest = to->rest(at, i)) && at->fate != NODE_NO_MEMORY; i++)
        if (attempt(at, cls, rest, NULL, reason)) return true;
    if (at->fate == NODE_NO_MEMORY) return false;
    at->fate = NODE_STAYS;
    if (*reason) memcpy(at->reason, reason, 300);
    else if (otherwise) memcpy(at->reason, otherwise, 300);
    else snprintf(at->reason, sizeof at->reason, "%s has no operation for it", c->back.to->name);
    return false;
}

/* Converts one op. False: it stays, and *at has the reason, or memory is out. */
static bool run(conversion *c, xir_op *op, unsigned depth, xir_node *at) {
    char reason[300] = "";
    const convert_class *cls = conversion_class(c, xir_op_class(op));
    node_begin(c, op, cls, at);
    at->depth = depth;
    if (depth) at->n_out = xir_op_output_count(op);   /* of a product, nothing may use them yet */
    if (!cls || !at->given) return at->fate = NODE_NO_MEMORY, false;
    xir_convert_fn *instead = DECLARED(c->back.to, instead) ? c->back.to->instead(at) : NULL;
    if (instead) return attempt(at, cls, instead, NULL, reason);
    if (!is_plain(at)) {
        char otherwise[300];
        memcpy(otherwise, at->reason, sizeof otherwise);
        return run_rest(c, cls, at, reason, otherwise);
    }
    const xir_ints *order = NULL;
    if (xir_op_is(op, xir_transpose_class()) && xir_node_items(at, "dims", &at->turn)) order = &at->turn;
    char unused[300] = "";
    if (order && attempt(at, cls, is_its_input, NULL, unused)) return true;
    /* what only gives letters to axes remains until no op asks for them */
    if (order && keeps_order(order) && !back_is_result(c, xir_op_output(op, 0)) && at->fate != NODE_NO_MEMORY) {
        at->fate = NODE_GOES;
        xir_value *x = xir_op_input(op, 0), *y = xir_op_output(op, 0);
        return back_add_turn(c, x, y, order) || node_no_memory(at);
    }
    const uint32_t *first = pointer_table_find(&c->back.rows_of, xir_op_class(op));
    for (uint32_t i = first ? *first : 0, next; i && at->fate != NODE_NO_MEMORY; i = next) {
        back_row *b = &c->back.rows[i - 1];
        next = b->next;
        if (!b->to) b->to = conversion_class_named(c, b->row->name);
        if (!b->to) return at->fate = NODE_NO_MEMORY, false;
        if (attempt(at, b->to, node_run_candidate, order, reason)) return true;
    }
    xir_convert_fn *simpler;
    for (size_t i = 0; at->fate != NODE_NO_MEMORY && (simpler = simpler_of(op, c->back.to, i)); i++)
        if (attempt(at, cls, simpler, NULL, reason)) return true;
    return run_rest(c, cls, at, reason, NULL);
}

/* Params among the inputs of an op that is not converted, of the dialect or the results of the network, come from ops
 * too. A kind that the format has no constants of remains: then the file can't be written. */
static bool take_constants(conversion *c, xir_op *op) {
    const convert_class *cls = conversion_class(c, op->cls);
    if (!DECLARED(c->back.to, constant)) return true;
    xir_node at;
    for (size_t i = 0; cls && i < xir_op_input_count(op); i++) {
        xir_value *v = xir_op_input(op, (int64_t)i);
        if (!v || !xir_value_is_params(v)) continue;
        node_begin(c, op, cls, &at);
        xir_value *made = foreign_input(&at, v);
        if (at.fate == NODE_NO_MEMORY || (made && xir_op_set_input(op, i, made))) return false;
        c->changed += made != NULL;
    }
    return cls;
}

/* A product that stays takes no two Params, but what was computed for it may be a constant now. */
static bool keep_valid(conversion *c, xir_op *op) {
    xir_node at;
    xir_value *x = xir_op_input_count(op) > 1 ? xir_op_input(op, 0) : NULL, *y = x ? xir_op_input(op, 1) : NULL;
    const bool two = x && y && xir_value_is_params(x) && xir_value_is_params(y);
    if (!two || !xir_op_is(op, xir_matmul_class())) return true;
    node_begin(c, op, conversion_class(c, op->cls), &at);
    const uint64_t most = c->bytes.most;
    c->bytes.most = UINT64_MAX;   /* this op is needed in any case */
    xir_op *copy = xir_node_make_op(&at, "Copy", XIR_VALUES(x), XIR_NO_SETS);
    c->bytes.most = most;
    return copy && xir_op_set_input(op, 0, xir_op_output(copy, 0)) == XIR_OK;
}

xir_status back_run(conversion *c, xir_op *op) {
    xir_node at;
    if (xir_op_is(op, xir_input_class()) || xir_op_is(op, xir_output_class())) return XIR_OK;
    if (dialect_has_class(c->back.to, op->cls)) return take_constants(c, op) ? XIR_OK : XIR_E_MEMORY;
    c->nodes++;
    if (run(c, op, 0, &at)) {
        c->changed++;
        return c->no_memory ? XIR_E_MEMORY : XIR_OK;
    }
    c->bytes.stays = true;
    if (at.fate == NODE_NO_MEMORY || c->no_memory) return XIR_E_MEMORY;
    if (!keep_valid(c, op)) return XIR_E_MEMORY;
    at.waits_for = NULL;
    return stayed_add(c, &at) ? XIR_OK : XIR_E_MEMORY;
}

/* ---- the end ---------------------------------------------------------------------------------------------------- */

/* Erases the op of a value that nothing uses and that is not a result; Params do not count. Returns true if it has. */
static bool drop(xir_value *v) {
    xir_op *op = v ? xir_value_op(v) : NULL;
    if (!op || xir_op_is_erased(op) || !xir_class_is_opaque(op->cls) || xir_value_uses(v)) return false;
    return xir_op_erase(op) == XIR_OK;
}

/* A permuted value, or one with other letters, takes the name of the result, once that is dropped: unless its own name
 * is one that the conversion has not made of this one. */
static bool take_name(conversion *c, xir_value *from, const xir_value *dropped) {
    xir_value *v = back_latest(c, from);
    const xir_str name = xir_value_name(dropped);
    const xir_op *op = v && !xir_value_is_params(v) ? xir_value_op(v) : NULL;
    if (!name.size || !op || xir_op_is(op, xir_input_class()) || back_is_result(c, v)) return true;
    if (xir_value_name(v).size && !name_is_made_from(xir_value_name(v), name)) return true;
    return xir_value_set_name(v, name) == XIR_OK;
}

/* Constants that an attempt left when it ran out of memory. */
static void drop_older(conversion *c) {
    for (xir_op *first = xir_network_first(c->net), *op = first, *next; op; op = next) {
        next = xir_op_next(op);
        if (op == first) continue;
        if (xir_op_input_count(op) || xir_op_output_count(op) != 1 || !dialect_has_class(c->back.to, op->cls)) return;
        drop(xir_op_output(op, 0));
    }
}

/* A Transpose that keeps the order, if only foreign ops use it. */
static bool drop_letters(conversion *c, xir_value *v) {
    xir_op *op = xir_value_op(v);
    if (!op || xir_op_is_erased(op) || !xir_op_is(op, xir_transpose_class())) return true;
    for (const xir_use *use = xir_value_uses(v); use; use = xir_use_next(use))
        if (!xir_class_is_opaque(xir_op_class(xir_use_op(use)))) return true;
    c->changed++;
    xir_value *now = back_latest(c, xir_op_input(op, 0));
    return back_replace(c, v, now) && xir_value_replace(v, now) == XIR_OK && xir_op_erase(op) == XIR_OK &&
           take_name(c, now, v);
}

xir_status back_finish(conversion *c) {
    bool finished = false;
    xir_op *output = xir_network_output_op(c->net);
    if (output && !take_constants(c, output)) return XIR_E_MEMORY;
    for (size_t i = 0; i < c->back.n_turns; i++)
        if (!drop_letters(c, c->back.turns[i].to)) return XIR_E_MEMORY;
    for (size_t i = c->back.n_turns; i-- > 0;)
        if (drop(c->back.turns[i].to) && !take_name(c, c->back.turns[i].from, c->back.turns[i].to)) return XIR_E_MEMORY;
    for (size_t i = c->back.n_constants; i-- > 0;) drop(c->back.constants[i]);
    if (c->changed) drop_older(c);
    if (!lost_note_names(c->back.lost)) return XIR_E_MEMORY;
    const xir_status status = DECLARED(c->back.to, finish) ? c->back.to->finish(c->net, &finished) : XIR_OK;
    c->changed += finished;
    if (!status && c->bytes.windows)
        xir_diags_add(c->why, XIR_NOTE, XIR_OK, XIR_STR(""), "%swindows become constants of places, which take %" PRIu64
                      " bytes in the file", c->prefix, c->bytes.windows);
    return status;
}
