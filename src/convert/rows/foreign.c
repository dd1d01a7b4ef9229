/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Ops of a dialect that stand for ops of XIR: their inputs, by the names of their row, their attributes and types. Each
 * is checked by its own row, as if it had been read from a file. */
#include "number.h"
#include "rows/row.h"
#include "source_tags.h"

/* ---- constants -------------------------------------------------------------------------------------------------- */

xir_value *foreign_input(xir_node *at, xir_value *v) {
    back_state *b = &at->c->back;
    const bool plain = !b->to || !DECLARED(b->to, constant);   // ops take Params
    if (xir_node_failed(at) || !v || !xir_value_is_params(v) || plain) return v;
    const uint32_t *known = pointer_table_find(&b->constant_of, v);
    if (known) return b->constants[*known];
    const xir_op *last = xir_op_prev(at->op);
    xir_value *made = b->to->constant(at, v);
    xir_op *op = made ? xir_value_op(made) : NULL;
    if (!made || !op) return xir_node_unsupported(at, "a constant of this kind"), NULL;
    bool done = mem_reserve(context_alloc(at->c->ctx), (void **)&b->constants, &b->constant_room, b->n_constants + 1,
                            sizeof *b->constants);
    done = done && pointer_table_add(&b->constant_of, v, (uint32_t)b->n_constants);
    /* it comes before all nodes, and does not belong to this one */
    done = done && !xir_op_set_name(op, xir_value_name(v));
    if (done && xir_value_name(made).size == 0) done = !xir_value_set_name(made, xir_value_name(v));
    for (xir_op *part = last ? xir_op_next(last) : xir_network_first(at->c->net), *next; done && part != at->op;
         part = next) {
        next = xir_op_next(part);
        done = !xir_op_move(part, xir_op_next(b->front));
        b->front = part;
    }
    if (!done) return node_no_memory(at), NULL;
    b->constants[b->n_constants++] = made;
    return made;
}

/* ---- attributes ------------------------------------------------------------------------------------------------- */

static bool any_of_set(xir_node *at, const xir_set *s, xir_any *out) {
    const xir_ints *list = s->p;
    switch (s->kind) {
    case XIR_SET_INT:  *out = xir_any_int(s->i); return true;
    case XIR_SET_BOOL: *out = xir_any_bool(s->i != 0); return true;
    case XIR_SET_REAL: *out = xir_any_real(s->r); return true;
    case XIR_SET_ENUM: *out = xir_any_text(s->text); return true;
    case XIR_SET_ANY:  *out = *(const xir_any *)s->p; return true;
    case XIR_SET_OBJECT:
        *out = (xir_any){ .kind = XIR_ANY_PARAMS, .as.params = (xir_value *)(uintptr_t)s->p };
        return s->p;
    case XIR_SET_INTS: {
        xir_any *items = node_take(at, (list->n + 1) * sizeof *items);
        if (!items) return node_no_memory(at);
        for (size_t i = 0; i < list->n; i++) items[i] = xir_any_int(list->v[i]);
        *out = xir_any_list(items, list->n);
        return true;
    }
    }
    return false;
}

/* Returns true if the entries are the attributes of an op. */
static bool same_attributes(const foreign_like *l, const xir_entry *entries, size_t n) {
    if (!l->made || (l->extra ? l->extra->size : 0) != n) return false;
    for (size_t i = 0; i < n; i++) {
        const xir_entry *e = &l->extra->entries[l->place[i]];
        if (!xir_str_equal(e->key, entries[i].key) || !xir_any_equal(&e->value, &entries[i].value)) return false;
    }
    return true;
}

/* The op with these attributes, NULL if none of the latest has them. */
static const foreign_like *find_like(const foreign_likes *likes, const xir_entry *entries, size_t n) {
    for (size_t i = 0; likes && i < LIKES; i++)
        if (same_attributes(&likes->made[i], entries, n)) return &likes->made[i];
    return NULL;
}

static bool has_params(const xir_any *any) {
    bool found = any->kind == XIR_ANY_PARAMS || any->kind == XIR_ANY_MAP;   /* which may have some */
    for (size_t i = 0; any->kind == XIR_ANY_LIST && i < any->as.list.size && !found; i++)
        found = has_params(&any->as.list.items[i]);
    return found;
}

/* Notes the attributes that an op has got from these entries, in the place of the oldest op. */
static void note_attributes(foreign_likes *likes, const xir_op *op, const xir_entry *entries, size_t n) {
    const xir_map *extra = xir_op_extra(op);
    foreign_like made = { .made = true, .extra = n ? extra : NULL };
    if (n > LIKE_SETS || (n && extra->size != n)) return;
    for (size_t i = 0; i < n; i++) {
        const xir_any *any = xir_map_find(extra, entries[i].key);
        if (!any || has_params(any)) return;
        made.place[i] = (uint8_t)((const xir_entry *)(const void *)((const char *)any - offsetof(xir_entry, value)) -
                                  extra->entries);
    }
    likes->made[likes->next_made++ % LIKES] = made;
}

/* Gives the op the sets and the inputs that are attributes. Reals of all formats have 32 bits. */
static bool set_attributes(xir_node *at, xir_op *op, const convert_class *cls, xir_values inputs, xir_sets sets) {
    const size_t n_slots = inputs.size < cls->n_slots ? inputs.size : cls->n_slots;
    xir_entry *entries = node_take(at, (sets.n + n_slots + 1) * sizeof *entries);
    size_t n = 0;
    if (!entries) return node_no_memory(at);
    for (size_t i = 0; i < sets.n; i++) {
        xir_any *any = &entries[n].value;
        entries[n++].key = xir_str_of(sets.data[i].name);
        if (!any_of_set(at, &sets.data[i], any))
            return xir_node_unsupported(at, "the conversion is invalid: %s has no value", sets.data[i].name);
        if (any->kind == XIR_ANY_REAL && number_beyond_f32(any->as.real))
            return xir_node_unsupported(at, "%s: %g is beyond reals of 32 bits", sets.data[i].name, any->as.real);
    }
    for (size_t i = 0; i < n_slots; i++) {
        const xir_str name = cls->slots[i].name;
        if (!cls->slots[i].is_attribute || !inputs.data[i]) continue;
        if (!xir_value_is_params(inputs.data[i]))
            return xir_node_unsupported(at, "%.*s is not constant", (int)name.size, name.data);
        entries[n++] = (xir_entry){ name, { .kind = XIR_ANY_PARAMS, .as.params = inputs.data[i] } };
    }
    const foreign_like *like = find_like(cls->likes, entries, n);   /* of a class of a dialect */
    if (like) return !n || !op_take_extras(op, like->extra) || node_no_memory(at);
    if (op_add_extras(op, entries, n)) return node_no_memory(at);
    if (cls->likes) note_attributes(cls->likes, op, entries, n);
    return true;
}

/* ---- the op ----------------------------------------------------------------------------------------------------- */

/* Notes the names of the inputs of an op, unless their positions say the same. */
static bool name_inputs(xir_node *at, xir_op *op, const xir_any *names, size_t n, bool needed) {
    if (!needed || !n) return true;
    const xir_any list = xir_any_list(names, n);
    return !xir_op_set_tag(op, source_tag_key(SOURCE_INPUTS), &list) || node_no_memory(at);
}

/* Checks an op by its row; what the row finds is why the node stays. */
static bool fits(xir_node *at, xir_op *op, const convert_class *cls) {
    conversion *c = at->c;
    xir_diags *why = xir_diags_new(c->ctx), *before = c->why;
    if (!why) return node_no_memory(at);
    const xir_status status = c->status;
    const bool checking = c->checking;
    const char *prefix = c->prefix;
    xir_node made;
    node_begin(c, op, cls, &made);
    made.n_out = xir_op_output_count(op);   /* nothing uses them yet */
    c->prefix = "";
    c->why = why;
    c->checking = true;
    bool sound = made.given && (!cls->n_slots || node_find_inputs(&made)) && node_is_sound(&made) &&
                 (!DECLARED(cls->dialect, check) || cls->dialect->check(&made));
    c->why = before;
    c->checking = checking;
    c->prefix = prefix;
    c->status = status;
    const xir_diag *d = xir_diags_at(why, 0);
    const int size = d && d->message.size < 250 ? (int)d->message.size : 0;
    const bool reported = d || made.fate == NODE_STAYS;   /* a missing reason means that memory is short */
    if (!sound && (!reported || made.fate == NODE_NO_MEMORY || c->no_memory)) node_no_memory(at);
    else if (!sound && !d) xir_node_unsupported(at, "%.250s", made.reason);
    else if (!sound) xir_node_unsupported(at, "%.*s", size, size ? d->message.data : "");
    xir_diags_free(why);
    return sound;
}

static const xir_value *end_at(const xir_op *op, size_t i) {
    return i < op->n_inputs ? op_inputs(op)[i].value : &op_outputs(op)[i - op->n_inputs];
}

static bool same_ends(const foreign_like *l, const xir_op *op) {
    if (l->n_in != op->n_inputs || l->n_out != op->n_outputs) return false;
    for (size_t i = 0; i < (size_t)l->n_in + l->n_out; i++)
        if (infer_key_of(end_at(op, i)) != l->ends[i]) return false;
    return true;
}

/* Returns true if the checks would find of the op what they found of one of the latest: nothing. */
static bool is_like(const foreign_likes *likes, const xir_op *op) {
    const xir_map *extra = xir_op_extra(op);
    if (xir_op_tags(op)) return false;
    for (size_t i = 0; i < LIKES; i++) {
        const foreign_like *l = &likes->made[i];
        if (l->sound && l->extra == extra && same_ends(l, op)) return true;
    }
    return false;
}

/* An op that has the attributes of one of the latest has passed the checks, with other inputs or outputs than it. */
static void note_sound(foreign_likes *likes, const xir_op *op) {
    const xir_map *extra = xir_op_extra(op);
    foreign_like *l = likes->made;
    while (l < likes->made + LIKES && !(l->made && l->extra == extra)) l++;
    if (l == likes->made + LIKES || xir_op_tags(op) || (size_t)op->n_inputs + op->n_outputs > LIKE_ENDS) return;
    if (l->sound) {   // with the other ends: this one gets a place of its own
        foreign_like *other = &likes->made[likes->next_made++ % LIKES];
        *other = *l;
        l = other;
    }
    l->sound = true;
    l->n_in = op->n_inputs;
    l->n_out = op->n_outputs;
    for (size_t i = 0; i < (size_t)l->n_in + l->n_out; i++) l->ends[i] = infer_key_of(end_at(op, i));
}

xir_op *foreign_make(xir_node *at, const convert_class *cls, xir_values inputs, xir_sets sets,
                     const xir_type *const *types, size_t n) {
    conversion *c = at->c;
    if (xir_node_failed(at)) return NULL;
    if (!node_affords(at, sizeof(xir_op) + inputs.size * sizeof(xir_use))) return NULL;
    xir_value **in = node_take(at, (inputs.size + 1) * sizeof *in);
    xir_any *names = node_take(at, (inputs.size + 1) * sizeof *names);
    const xir_type **own = node_take(at, ((n ? 0 : at->n_out) + 1) * sizeof *own);
    if (!in || !names || !own) return node_no_memory(at), NULL;
    size_t n_in = 0, n_plain = 0;
    bool skipped = false, weights = false;
    for (size_t i = 0; i < cls->n_slots; i++)
        weights |= cls->slots[i].is_attribute, n_plain += !cls->slots[i].is_attribute;
    for (size_t i = 0; i < inputs.size; i++) {
        const row_input *slot = i < cls->n_slots ? &cls->slots[i] : NULL;
        if (slot && slot->is_attribute) continue;
        skipped |= slot && !inputs.data[i];
        if (slot && !inputs.data[i]) continue;
        names[n_in] = slot ? xir_any_text(slot->name) : xir_any_null();
        in[n_in++] = foreign_input(at, inputs.data[i]);
    }
    if (xir_node_failed(at)) return NULL;
    for (size_t i = 0; !n && i < at->n_out; i++) own[i] = xir_value_type(xir_op_output(at->op, (int64_t)i));
    const xir_op_desc desc = XIR_INIT(xir_op_desc, .cls = cls->cls, .inputs = in, .n_inputs = n_in,
                                      .types = n ? types : own, .n_types = n ? n : at->n_out,
                                      .name = xir_op_name(at->op), .id = XIR_NO_ID, .before = at->op);
    const xir_status before = xir_network_status(c->net);
    xir_op *op = xir_network_add(c->net, &desc);
    if (!op && xir_network_status(c->net) == XIR_E_MEMORY) return node_no_memory(at), NULL;
    if (!op && !before) xir_network_clear_status(c->net);
    const xir_str key = cls->cls->key;
    if (!op) return xir_node_unsupported(at, "the conversion is invalid: %.*s is refused", CLIP_TO(key, 100)), NULL;
    if (!name_inputs(at, op, names, n_in, skipped || (!weights && n_plain > 1)) ||
        !set_attributes(at, op, cls, inputs, sets)) return NULL;
    if (!cls->row || (cls->built_in && is_like(cls->likes, op))) return op;
    if (!fits(at, op, cls)) return NULL;
    if (cls->built_in) note_sound(cls->likes, op);
    return op;
}

xir_op *xir_node_make_foreign(xir_node *at, const char *key, xir_values inputs, xir_sets sets,
                              const xir_type *const *types, size_t n) {
    if (xir_node_failed(at)) return NULL;
    const convert_class *cls = conversion_class_named(at->c, key);
    if (!cls) return node_no_memory(at), NULL;
    return foreign_make(at, cls, inputs, sets, types, n);
}

xir_value *foreign_value(xir_node *at, const char *key, xir_values inputs, xir_sets sets, const xir_type *type) {
    if (!type) (void)node_no_memory(at);
    return xir_op_output(xir_node_make_foreign(at, key, inputs, sets, &type, 1), 0);
}

xir_value *foreign_tensor(xir_node *at, const char *key, xir_values inputs, xir_sets sets, const xir_type *element,
                          const xir_ints *dims) {
    return xir_node_failed(at) ? NULL : foreign_value(at, key, inputs, sets, node_type(at, element, NULL, dims));
}

bool foreign_gives(xir_node *at, xir_op *op) {
    at->main = op;
    return op && node_gives(at, op);
}

bool xir_node_becomes_foreign(xir_node *at, xir_values inputs, xir_sets sets) {
    if (!at->to || !at->to->row) return xir_node_unsupported(at, "the conversion is invalid: there is no row");
    return foreign_gives(at, foreign_make(at, at->to, inputs, sets, NULL, 0));
}
