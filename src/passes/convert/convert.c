/* The walk: in execution order, the ops that a row or hook makes replace the node, or the node stays. */
#include <stdarg.h>
#include <stdio.h>
#include "convert/convert.h"
#include "convert/opened.h"
#include "provenance.h"
#include "support/spent.h"
#include "source_tags.h"

/* ---- a run ------------------------------------------------------------------------------------------------------ */

void conversion_begin(conversion *c, xir_network *net, xir_diags *why) {
    *c = (conversion){ .ctx = xir_network_context(net), .net = net, .why = why, .prefix = "" };
    for (const xir_op *op = xir_network_first(net); op && !c->dialect; op = xir_op_next(op)) {
        c->dialect = dialect_of_class(op->cls);
    }
    arena_init(&c->scratch, context_alloc(c->ctx));
    arena_init(&c->brief, context_alloc(c->ctx));
    pointer_table_init(&c->class_of, context_alloc(c->ctx));
    pointer_table_init(&c->permuted_of, context_alloc(c->ctx));
    pointer_table_init(&c->stayed.of, context_alloc(c->ctx));
    inlining_begin(c);
}

void conversion_end(conversion *c) {
    const xir_allocator *alloc = context_alloc(c->ctx);
    converted_end(c);
    inlining_end(c);
    arena_free(&c->scratch);
    arena_free(&c->brief);
    pointer_table_free(&c->class_of);
    pointer_table_free(&c->permuted_of);
    pointer_table_free(&c->stayed.of);
    mem_free(alloc, c->stayed.rows, c->stayed.room * sizeof *c->stayed.rows);
    mem_free(alloc, (void *)c->classes, c->class_room * sizeof *c->classes);
    mem_free(alloc, c->permuted, c->permuted_room * sizeof *c->permuted);
    mem_free(alloc, (void *)c->known, c->known_room * sizeof *c->known);
}

/* Reads the input names from the text of a row. */
static bool name_inputs(conversion *c, convert_class *cls) {
    const char *text = row_input_names(cls->row->inputs);
    size_t n = 0;
    for (row_input input; row_next_input(&text, &input);) n++;
    if (!n) return true;
    row_input *slots = arena_take(&c->scratch, n * sizeof *slots);
    text = row_input_names(cls->row->inputs);
    for (size_t i = 0; slots && i < n; i++) (void)row_next_input(&text, &slots[i]);
    cls->slots = slots;
    cls->n_slots = n;
    return slots;
}

static xir_str short_name(const xir_class *cls) {
    xir_str key = xir_class_key(cls);
    size_t from = key.size;
    while (from > 0 && key.data[from - 1] != ':') from--;
    return (xir_str){ key.data + from, key.size - from };
}

const convert_class *conversion_class(conversion *c, const xir_class *cls) {
    const xir_allocator *alloc = context_alloc(c->ctx);
    static const convert_class in_no_dialect;   /* a file may have many such classes */
    const uint32_t *known = pointer_table_find(&c->class_of, cls);
    if (known) return c->classes[*known];
    const xir_dialect_decl *dialect = dialect_of_class(cls);
    if (!dialect && !c->back.to) return &in_no_dialect;
    convert_class *made = arena_take(&c->scratch, sizeof *made);
    if (!made || !mem_reserve(alloc, (void **)&c->classes, &c->class_room, c->n_classes + 1, sizeof *c->classes))
        return NULL;
    if (!pointer_table_add(&c->class_of, cls, (uint32_t)c->n_classes)) return NULL;
    c->classes[c->n_classes++] = made;
    xir_str key = xir_class_key(cls), domain;
    *made = (convert_class){ .dialect = dialect, .type = short_name(cls) };
    if (!dialect) return made;
    convert_split_key(made->dialect, key, &domain, &made->type);
    made->row = convert_row_of(c->ctx, dialect, key);
    if (made->row && !xir_str_equal(key, xir_str_of(made->row->name))) {   /* hooks know the type of their row */
        key = xir_str_of(made->row->name);
        convert_split_key(made->dialect, key, &domain, &made->type);
    }
    made->foreign = domain.size > 0;
    if (made->row) {
        row_attribute attribute;
        const char *text = made->row->attributes;
        row_range(made->row->inputs, &made->least_in, &made->most_in);
        if (!name_inputs(c, made)) return NULL;
        row_range(made->row->outputs, &made->least_out, &made->most_out);
        while (row_next_attribute(&text, &attribute)) made->needs |= attribute.needed;
        row_versions(made->row->attributes, &made->from, &made->until);
    }
    made->version = made->dialect->version ? made->dialect->version(c->net, domain) : 0;
    made->newer = !made->foreign && convert_newest(dialect) && made->version > convert_newest(dialect);
    return made;
}

/* The facts about an op's class; an op may be of another version than those of its network. */
static const convert_class *class_of(conversion *c, const xir_op *op) {
    const convert_class *cls = conversion_class(c, xir_op_class(op));
    const xir_any *version = cls && cls->dialect ? source_tag_find(xir_op_tags(op), SOURCE_VERSION) : NULL;
    if (!version || version->kind != XIR_ANY_INT || version->as.integer == cls->version) return cls;
    convert_class *own = arena_take(&c->brief, sizeof *own);
    if (!own) return NULL;
    *own = *cls;
    own->version = version->as.integer;
    own->newer = !own->foreign && convert_newest(own->dialect) && own->version > convert_newest(own->dialect);
    return own;
}

/* ---- one node --------------------------------------------------------------------------------------------------- */

xir_op *node_mark(const xir_node *at) { return at->at_front ? at->c->back.front : at->mark; }

/* Removes the ops made for a node. */
void node_discard(xir_node *at) {
    for (xir_op *op; (op = xir_op_prev(at->op)) != node_mark(at);) {
        conversion_forget(at->c, op);
        if (xir_op_erase(op) != XIR_OK) break;   // only this node's ops can use it
    }
}

bool only_moves(const xir_op *op) {
    return xir_op_is(op, xir_transpose_class()) || xir_op_is(op, xir_reshape_class()) ||
           xir_op_is(op, xir_cast_class()) ||
           xir_op_is(op, xir_copy_class());
}

/* The network copies the name, so it takes its bytes twice. */
static xir_str joined(xir_node *at, xir_str name, xir_str suffix, size_t number) {
    char digits[24];
    int n = number ? snprintf(digits, sizeof digits, ".%zu", number) : 0;
    const size_t size = name.size + suffix.size + (size_t)n + 1;
    char *text = node_affords(at, 2 * size) ? node_take(at, size) : NULL;
    if (!text) return (xir_str){ NULL, 0 };
    if (name.size) memcpy(text, name.data, name.size);
    text[name.size] = '.';
    memcpy(text + name.size + 1, suffix.data, suffix.size);
    memcpy(text + name.size + 1 + suffix.size, digits, (size_t)n);
    return (xir_str){ text, size };
}

/* Names the ops of one node: the last op that computes has the node's name, and the others append their class. Likewise
 * the values in between append it to the name of the node's output. */
static bool name_ops(xir_node *at, xir_str output) {
    xir_op *mark = node_mark(at), *first = mark ? xir_op_next(mark) : xir_network_first(at->c->net), *main = at->main;
    xir_str name = xir_op_name(at->op);
    if (first == at->op || xir_op_next(first) == at->op) return true;
    for (xir_op *op = first; op != at->op && !at->main; op = xir_op_next(op)) if (!main || !only_moves(op)) main = op;
    size_t number = 0;
    for (xir_op *op = first; op != at->op; op = xir_op_next(op)) {
        size_t before = 0;
        xir_str suffix = short_name(xir_op_class(op));
        for (xir_op *p = first; p != op && number < 16; p = xir_op_next(p))
            before += xir_op_class(p) == xir_op_class(op);
        if (before) before++;
        if (++number > 16) before = number;   // linear, whatever a hook makes
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

bool node_made(const xir_node *at, const xir_value *v) {
    if (xir_value_is_params(v)) return !v->uses && v->id < 0;
    const xir_op *producer = xir_value_op(v);
    const xir_op *mark = node_mark(at);
    bool mine = producer && xir_op_is_placed(producer) && xir_op_before(producer, at->op) &&
        (!mark || xir_op_before(mark, producer));
    return mine && xir_value_name(v).size == 0;
}

/* Whether a constant that was made for an output only has other letters than it. */
static bool lacks_letters(xir_node *at, const xir_value *v, const xir_value *old) {
    if (!at->c->back.to || !xir_value_is_params(v) || !node_made(at, v)) return false;
    const xir_type *has = xir_value_type(v), *had = xir_value_type(old);
    bool same = xir_type_rank(has) == xir_type_rank(had) &&
                xir_type_equal(xir_type_element(has), xir_type_element(had));
    for (size_t i = 0; same && i < xir_type_rank(had); i++)
        same = xir_type_dim(has, (int64_t)i, false) == xir_type_dim(had, (int64_t)i, false);
    return same && !xir_type_equal(has, had);
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

/* In a network of which a part is XIR's already, XIR's ops may find axes by the letters of a value, which what stands
 * in for it must have, too. */
static bool asks_for_letters(const xir_value *old, const xir_value *v) {
    const xir_layout *had = xir_type_layout(xir_value_type(old)), *has = xir_type_layout(xir_value_type(v));
    const size_t rank = had ? xir_layout_rank(had) : 0;
    bool other = false, asked = false;
    if (!has || xir_layout_rank(has) != rank || xir_type_rank(xir_value_type(v)) != rank) return false;
    for (size_t i = 0; i < rank; i++) {
        const char letter = xir_layout_axis(had, i);
        other |= letter != '*' && letter != xir_layout_axis(has, i);
    }
    for (const xir_use *use = other ? xir_value_uses(old) : NULL; use && !asked; use = xir_use_next(use)) {
        const xir_op *user = xir_use_op(use);
        asked = !xir_class_is_opaque(xir_op_class(user)) && !xir_op_is(user, xir_output_class());
    }
    return asked;
}

static bool give_letters(xir_node *at) {
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
    for (size_t k = 0; same && k < rank; k++)
        same = !expr_never_equal(&at->c->net->pool, expr_of_dim(xir_type_as_tensor(had)->shape.data[k]),
                                 expr_of_dim(xir_type_as_tensor(has)->shape.data[k]));
    for (const xir_use *use = same ? NULL : xir_value_uses(old); use; use = xir_use_next(use)) {
        const xir_op *user = xir_use_op(use);
        if (!xir_class_is_opaque(xir_op_class(user)) && !xir_op_is(user, xir_output_class()))
            return xir_node_unsupported(at, "output %zu has a wrong declared type, which ops of XIR depend on", i);
    }
    return true;
}

/* Whether every used output has a replacement. */
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

/* Whether the inputs are made earlier. Otherwise the op is part of a cycle, or follows one in a file that can't be
 * sorted. */
static bool inputs_are_ready(const xir_node *at) {
    for (size_t i = 0; at->c->cyclic && i < xir_op_input_count(at->op); i++) {
        const xir_value *v = xir_op_input(at->op, (int64_t)i);
        if (v && xir_value_op(v) && !xir_op_before(xir_value_op(v), at->op)) return false;
    }
    return true;
}

static void unknown_op(xir_node *at) {
    conversion *c = at->c;
    if (!c->checking) {
        xir_node_unsupported(at, "XIR has no known equivalent");
        return;
    }
    at->fate = NODE_STAYS;
    xir_str key = xir_class_key(xir_op_class(at->op));
    size_t prefix = strlen(at->cls->dialect->prefix);
    int n = (int)(key.size - prefix < 120 ? key.size - prefix : 120);
    if (at->cls->foreign) {
        node_say(at, XIR_NOTE, XIR_OK, NULL, "%.*s is unknown: it was not checked", n, key.data + prefix);
        return;
    }
    if (at->cls->newer) {
        node_say(at, XIR_NOTE, XIR_OK, NULL,
                 "%.*s is unknown: it was not checked; versions of the %s are known up to %lld, "
                 "this graph has %lld", n, key.data + prefix, convert_operators(at->cls->dialect),
                 (long long)convert_newest(at->cls->dialect), (long long)at->cls->version);
        return;
    }
    if (node_is_silent(at, XIR_ERROR, XIR_E_UNKNOWN)) return;
    const xir_convert_row *near = row_like(c->ctx, at->cls->dialect, key);
    node_say(at, XIR_ERROR, XIR_E_UNKNOWN, NULL, "the %s of %s has no %.*s%s%s%s", convert_operators(at->cls->dialect),
             at->cls->dialect->name, n, key.data + prefix,
             near ? "; did you mean '" : "", near ? near->name + prefix : "", near ? "'?" : "");
}

void node_begin(conversion *c, xir_op *op, const convert_class *cls, xir_node *at) {
    size_t n_out = xir_op_output_count(op);
    *at = (xir_node){ .c = c, .op = op, .cls = cls, .n_in = xir_op_input_count(op), .n_out = n_out,
                      .mark = xir_op_prev(op) };
    at->at_front = c->back.to && at->mark == c->back.front;
    while (at->n_in && !xir_op_input(op, (int64_t)at->n_in - 1)) at->n_in--;
    const size_t least = cls ? cls->least_out : 0;   /* these have no names in networks that are made, not read */
    while (at->n_out > least && !xir_value_uses(xir_op_output(op, (int64_t)at->n_out - 1)) &&
           xir_value_name(xir_op_output(op, (int64_t)at->n_out - 1)).size == 0) at->n_out--;
    at->given = node_take(at, (n_out + 1) * sizeof *at->given);
    if (at->given) memset((void *)at->given, 0, (n_out + 1) * sizeof *at->given);
}

/* Whether the format's own check has found an error about the op. */
static bool is_faulty(const conversion *c, const xir_node *at) {
    const int64_t number = convert_number(at->cls->dialect, at->op);
    return number >= 0 && (uint64_t)number < c->n_faulty && c->faulty[number];
}

/* What comes before the row: sets the fate of a node that it must not convert. The format's own check has found what is
 * wrong here, if it has one. */
static inline void look_at(conversion *c, xir_node *at) {
    const convert_class *cls = at->cls;
    c->mute = c->checking && convert_checks_file(cls->dialect);
    if (c->mute && is_faulty(c, at)) at->fate = NODE_WRONG;
    else if ((!cls->row || cls->foreign) && (at->function = convert_function(cls->dialect, at))) {}
    else if (xir_node_failed(at)) {}
    else if (!cls->row) unknown_op(at);
    else if (cls->n_slots && !node_find_inputs(at)) at->fate = at->fate == NODE_NO_MEMORY ? at->fate : NODE_WRONG;
    else if (!node_is_sound(at) || !inputs_are_ready(at)) at->fate = xir_node_failed(at) ? at->fate : NODE_WRONG;
    c->mute = false;
}

/* An opened node's results come from its body. They take the names of its outputs. */
static void resume(xir_node *at) {
    at->mark = at->opened->mark;
    at->opened->resume(at);
    for (size_t i = 0; i < at->n_out && !xir_node_failed(at); i++) {
        xir_value *v = at->given[i];
        if (v && node_has_inside(at, v) && xir_value_set_name(v, XIR_STR(""))) (void)node_no_memory(at);
    }
}

static xir_status run_node(conversion *c, xir_op *op, const convert_class *cls) {
    xir_node at;
    node_begin(c, op, cls, &at);
    if (!at.given) return XIR_E_MEMORY;

    at.opened = opened_of(c, op);
    c->nodes += !at.opened;
    if (!at.opened) look_at(c, &at);
    if (xir_node_failed(&at)) {}
    else if (at.opened) resume(&at);
    else if (at.function) at.function(&at);
    else if (c->checking && !convert_check(cls->dialect, &at)) at.fate = NODE_WRONG;
    else if (cls->row->hook) cls->row->hook(&at);
    else row_run(&at);

    if (at.fate == NODE_OPENED) return c->no_memory ? XIR_E_MEMORY : XIR_OK;
    if (!xir_node_failed(&at) && node_all_given(&at) && give_letters(&at) && node_put_in_place(&at)) {
        if (at.opened) opened_close(c, at.opened);
        c->changed++;
        return XIR_OK;
    }
    c->bytes.stays = true;
    node_undo(&at);
    node_discard(&at);
    if (at.fate == NODE_NO_MEMORY) return XIR_E_MEMORY;
    if (at.fate == NODE_STAYS) convert_types(cls->dialect, &at);
    return at.fate == NODE_NO_MEMORY || c->no_memory || !stayed_add(c, &at) ? XIR_E_MEMORY : XIR_OK;
}

static bool is_used(const xir_op *op) {
    for (size_t i = 0; i < xir_op_output_count(op); i++) if (xir_value_uses(xir_op_output(op, (int64_t)i))) return true;
    return false;
}

/* A foreign network may return nothing, while what XIR's ops compute is returned: unused ones at the end are erased. */
static void drop_unreturned(conversion *c) {
    xir_op *output = xir_network_output_op(c->net), *op;
    if (!output || xir_op_input_count(output)) return;
    while ((op = xir_op_prev(output)) && !xir_op_is(op, xir_input_class()) &&
           !xir_class_is_opaque(xir_op_class(op)) && !is_used(op) && xir_op_erase(op) == XIR_OK) c->changed++;
}

static xir_status convert_op(conversion *c, xir_op *op, bool own) {
    const convert_class *cls = class_of(c, op);
    if (!cls || (own && !conversion_look_through(c, op))) return XIR_E_MEMORY;
    return cls->dialect ? run_node(c, op, cls) : XIR_OK;
}

xir_status conversion_run(conversion *c) {
    bool sorted;
    provenance_scope scope;
    spent_begin(c->within, c->net);
    converted_begin(c);
    xir_status status = conversion_order(c, &sorted);
    c->changed += !sorted && !c->cyclic;
    const bool by_rows = c->checking && !convert_checks_file(c->dialect);
    if (!status && by_rows) status = conversion_check_values(c, sorted || c->cyclic);
    bool prepared = false;
    if (!status && !defaults_begin(c)) status = XIR_E_MEMORY;
    const xir_value *newest = c->net->all_params;
    if (!status && !c->back.to) status = convert_prepare(c->dialect, c->net, &prepared);
    converted_params(c, newest);
    c->changed += prepared;
    for (xir_op *op = xir_network_first(c->net), *next; op && !status; op = next) {
        xir_op *const before = xir_op_prev(op);
        next = xir_op_next(op);
        const bool own = !xir_class_is_opaque(xir_op_class(op));
        if (!c->back.to && own && (!c->dialect || c->cyclic)) continue;
        provenance_begin(c->net, &scope, op);
        status = c->back.to ? back_run(c, op) : convert_op(c, op, own);
        provenance_end(c->net, &scope);
        converted_turn(c);
        if (c->back.to) continue;
        if (c->in.back) next = before ? xir_op_next(before) : xir_network_first(c->net);
        c->in.back = false;
        if (!status && c->cancelled)
            status = diag_fail(c->why, XIR_E_CANCELLED, XIR_STR(""), "%sthe run was cancelled", c->prefix);
    }
    if (status) opened_undo_all(c);
    converted_end(c);
    if (!status && c->back.to) status = back_finish(c);
    if (!status && !c->back.to) status = lists_settle(c);
    if (!status && !c->checking) status = stayed_report(c);
    if (!status) status = defaults_end(c);
    if (!status && !c->checking && !c->back.to && c->dialect) drop_unreturned(c);
    if (status == XIR_E_MEMORY) diag_memory(c->why);
    return status ? status : c->status;
}
