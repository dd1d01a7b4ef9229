/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Finds the losses of a network that becomes one of a format: see lost.h. Names are compared by value: a name is kept
 * if the value that had it, or the one in its place, has it in the file. */
#include <stdio.h>
#include <string.h>
#include "walk/lost.h"
#include "manager/pass.h"
#include "number.h"
#include "support/names.h"
#include "support/type_words.h"

enum { MOST_ENDS_SAID = 3 };

static const xir_allocator *alloc_of(const lost *l) { return context_alloc(l->c->ctx); }

static bool is_end(const xir_op *op) { return xir_op_is(op, xir_input_class()) || xir_op_is(op, xir_output_class()); }

/* ---- before the conversion -------------------------------------------------------------------------------------- */

/* A name that an earlier conversion has made, of what it added, is not missed. */
static bool is_missed(xir_str name, const xir_op *op) {
    return name.size && (!op || !name_is_made_for(name, xir_op_class(op)));
}

static bool note_value(lost *l, xir_value *v) {
    const xir_str name = v ? xir_value_name(v) : (xir_str){ NULL, 0 };
    const size_t n = l->values.n;
    if (!v || !is_missed(name, xir_value_is_params(v) ? NULL : xir_value_op(v))) return true;
    if (!mem_reserve(alloc_of(l), (void **)&l->first, &l->first_room, n + 1, sizeof *l->first) ||
        !text_table_add(&l->values, name, NAME_LOST)) return false;
    if (l->values.n > n) l->first[n] = v;
    return true;
}

static bool note_tensor(void *user, xir_value *v) { return note_value(user, v); }

static bool note_values(lost *l) {
    for (xir_op *op = xir_network_first(l->c->net); op; op = xir_op_next(op)) {
        if (!op_walk_attr_params(op, note_tensor, l)) return false;
        for (size_t i = 0, n = op_values(op); i < n; i++) if (!note_value(l, op_value(op, i))) return false;
    }
    return true;
}

/* An op that is called as a value is has no other name. */
static bool note_ops(lost *l) {
    for (const xir_op *op = xir_network_first(l->c->net); op; op = xir_op_next(op)) {
        const xir_str name = xir_op_name(op);
        if (is_end(op) || !is_missed(name, op) || text_table_find(&l->values, name)) continue;
        if (!text_table_add(&l->ops, name, NAME_LOST)) return false;
    }
    return true;
}

static lost_end end_of(const xir_value *v) {
    const xir_type *type = v ? xir_value_type(v) : NULL;
    return (lost_end){ v ? xir_value_name(v) : XIR_STR(""), xir_type_as_tensor(type) ? xir_type_element(type) : NULL };
}

static bool note_ends(lost *l) {
    const xir_op *input = xir_network_input_op(l->c->net), *output = xir_network_output_op(l->c->net);
    const size_t n_in = input ? xir_op_output_count(input) : 0, n_out = output ? xir_op_input_count(output) : 0;
    l->ends = mem_new(alloc_of(l), (n_in + n_out + 1) * sizeof *l->ends);
    if (!l->ends) return false;
    l->n_inputs = n_in;
    l->n_outputs = n_out;
    for (size_t i = 0; i < n_in; i++) l->ends[i] = end_of(xir_op_output(input, (int64_t)i));
    for (size_t i = 0; i < n_out; i++) l->ends[n_in + i] = end_of(xir_op_input(output, (int64_t)i));
    return true;
}

bool lost_begin(lost *l, conversion *c) {
    *l = (lost){ .c = c };
    text_table_init(&l->values, alloc_of(l));
    text_table_init(&l->ops, alloc_of(l));
    pointer_table_init(&l->had_at, alloc_of(l));
    if (!note_values(l) || !note_ops(l) || !note_ends(l)) return false;
    l->idle = !l->values.n && !l->ops.n && !name_list_path(c->back.pass).size;
    return true;
}

void lost_free(lost *l) {
    text_table_free(&l->values);
    text_table_free(&l->ops);
    pointer_table_free(&l->had_at);
    mem_free(alloc_of(l), (void *)l->first, l->first_room * sizeof *l->first);
    mem_free(alloc_of(l), l->ends, (l->n_inputs + l->n_outputs + 1) * sizeof *l->ends);
    mem_free(alloc_of(l), l->had, l->had_room * sizeof *l->had);
}

/* ---- the converted network -------------------------------------------------------------------------------------- */

static bool note_name(lost *l, const void *of, xir_str name) {
    if (!mem_reserve(alloc_of(l), (void **)&l->had, &l->had_room, l->n_had + 1, sizeof *l->had)) return false;
    l->had[l->n_had++] = (had_name){ of, name };
    return true;
}

/* A value that an op makes is noted with that op. */
bool lost_note_names(lost *l) {
    for (const xir_op *op = l->idle ? NULL : xir_network_first(l->c->net); op; op = xir_op_next(op)) {
        for (size_t i = 0, n_in = xir_op_input_count(op), n = op_values(op); i < n; i++) {
            const xir_value *v = op_value(op, i);
            if (v && (i >= n_in || !xir_value_op(v)) && !note_name(l, v, xir_value_name(v))) return false;
        }
        if (!is_end(op) && !note_name(l, op, xir_op_name(op))) return false;
    }
    return true;
}

/* Sets *had to the name that a value or op had, NULL: it is new. False: out of memory. */
static bool name_before(lost *l, const void *of, const xir_str **had) {
    *had = NULL;
    if (l->next >= l->n_had || l->had[l->next].of != of) {
        for (size_t i = l->had_at.n ? l->n_had : 0; i < l->n_had; i++)
            if (!pointer_table_add(&l->had_at, l->had[i].of, (uint32_t)i)) return false;
        const uint32_t *at = pointer_table_find(&l->had_at, of);
        if (!at) return true;
        l->next = *at;
    }
    *had = &l->had[l->next++].name;
    return true;
}

/* ---- what is written -------------------------------------------------------------------------------------------- */

typedef struct comparing {
    lost          *l;
    name_list     *list;
    pointer_table  values;     /* of the file -> their numbers, once something asks for them */
    bool           numbers, meets;
    uint32_t       n_ops;
    const char    *numbered;
    uint32_t       lacks;
} comparing;

/* The fate of a name after something in the file had it. The best counts. */
static void meet(text_table *names, xir_str name, bool kept) {
    uint32_t *fate = name.size ? text_table_find(names, name) : NULL;
    const uint32_t now = kept ? NAME_KEPT : NAME_LISTED;
    if (fate && *fate < now) *fate = now;
}

/* The name that a reader makes of a stem, "v" or "Affine_", and a number: whether it is this name. */
static bool is_numbered(xir_str name, xir_str stem, const char *between, xir_str digits) {
    const size_t n = strlen(between);
    return name.size == stem.size + n + digits.size && !memcmp(name.data, stem.data, stem.size) &&
           !memcmp(name.data + stem.size, between, n) && !memcmp(name.data + stem.size + n, digits.data, digits.size);
}

static xir_str digits_of(uint32_t nth, char room[NUMBER_ROOM]) {
    return (xir_str){ room, number_put_u64(room, nth) };
}

static bool put_value(comparing *c, const xir_value *v, uint32_t nth) {
    char room[NUMBER_ROOM];
    const xir_str *known;
    if (!name_before(c->l, v, &known)) return false;
    const xir_str now = xir_value_name(v), had = known ? *known : now;
    if (!c->numbers && !had.size) return true;
    const xir_str there = c->numbered ? digits_of(nth, room) : now;
    const bool kept = c->numbered ? is_numbered(had, xir_str_of(c->numbered), "", there) : xir_str_equal(had, now);
    meet(&c->l->values, had, kept);
    if (c->list->is_open && (c->numbered || (known && had.size)))
        name_list_put(c->list, xir_str_of(convert_value(c->l->c->back.to)), there, had);
    return true;
}

static bool put_op(comparing *c, const xir_op *op, uint32_t nth) {
    char room[NUMBER_ROOM];
    const xir_str *known;
    if (!name_before(c->l, op, &known)) return false;
    const xir_str had = known ? *known : xir_op_name(op);
    if (!c->numbered && !had.size) return true;
    const xir_str key = xir_class_key(xir_op_class(op));
    const size_t prefix = strlen(c->l->c->back.to->prefix);
    const xir_str type = { key.data + prefix, key.size - prefix };
    const xir_str result = xir_op_output_count(op) ? xir_value_name(xir_op_output(op, 0)) : XIR_STR("");
    const xir_str now = c->lacks & XIR_LACKS_OP_NAMES ? result : xir_op_name(op);
    const xir_str there = c->numbered ? digits_of(nth, room) : now;
    meet(&c->l->ops, had, c->numbered ? is_numbered(had, type, "_", there) : xir_str_equal(had, now));
    if (c->numbered || (known && had.size)) name_list_put(c->list, type, there, had);
    return true;
}

/* A tensor in an attribute, whose name is "OP.ATTRIBUTE", without an @ before the attribute. */
static bool put_tensor(comparing *c, const xir_op *op, xir_str key, const xir_value *v) {
    if (key.size && *key.data == '@') key = (xir_str){ key.data + 1, key.size - 1 };
    const xir_str name = xir_op_name(op), had = xir_value_name(v);
    const size_t size = name.size + 1 + key.size;
    char *text = mem_new(alloc_of(c->l), size);
    if (!text) return false;
    if (name.size) memcpy(text, name.data, name.size);
    text[name.size] = '.';
    memcpy(text + name.size + 1, key.data, key.size);
    meet(&c->l->values, had, xir_str_equal(had, (xir_str){ text, size }));
    if (had.size) name_list_put(c->list, XIR_STR("attribute"), (xir_str){ text, size }, had);
    mem_free(alloc_of(c->l), text, size);
    return true;
}

static bool meet_tensors(comparing *c, const xir_op *op) {
    const xir_map *extra = c->numbered || (c->lacks & XIR_LACKS_TENSOR_NAMES) || is_end(op) ? NULL : xir_op_extra(op);
    for (size_t i = 0; extra && i < extra->size; i++) {
        const xir_any *any = &extra->entries[i].value;
        if (any->kind == XIR_ANY_PARAMS && !put_tensor(c, op, extra->entries[i].key, any->as.params)) return false;
    }
    return true;
}

static bool meet_value(comparing *c, const xir_value *v) {
    const uint32_t nth = (uint32_t)c->values.n;
    if (!v || (c->numbers && pointer_table_find(&c->values, v))) return true;
    if (c->numbers && !pointer_table_add(&c->values, v, nth)) return false;
    return !c->meets || put_value(c, v, nth);
}

/* Without numbers, a value that an op makes is met there alone. */
static bool meet_values(comparing *c, const xir_op *op) {
    const bool input = xir_op_is(op, xir_input_class());
    for (size_t i = 0; i < xir_op_input_count(op); i++) {
        const xir_value *v = xir_op_input(op, (int64_t)i);
        if (v && (c->numbers || !xir_value_op(v)) && !meet_value(c, v)) return false;
    }
    for (size_t i = 0; i < xir_op_output_count(op); i++) {
        const xir_value *v = xir_op_output(op, (int64_t)i);
        if (input && (c->lacks & XIR_LACKS_UNUSED_INPUTS) && !xir_value_uses(v)) continue;
        if (!meet_value(c, v)) return false;
    }
    return true;
}

static bool meet_op(comparing *c, const xir_op *op) {
    if (!meet_values(c, op)) return false;
    return (is_end(op) || put_op(c, op, c->n_ops++)) && meet_tensors(c, op);
}

/* Names of values that are not in the file, although what stands in their places is: a second name of that. */
static void meet_others(comparing *c) {
    char room[NUMBER_ROOM];
    text_table *names = &c->l->values;
    const xir_str what = xir_str_of(convert_value(c->l->c->back.to));
    for (size_t i = 0; i < names->n; i++) {
        text_item *item = &names->items[i];
        const xir_value *v = item->value == NAME_LOST ? back_latest(c->l->c, c->l->first[i]) : NULL;
        const uint32_t *nth = v ? pointer_table_find(&c->values, v) : NULL;
        if (!nth) continue;
        item->value = NAME_LISTED;
        name_list_put(c->list, what, c->numbered ? digits_of(*nth, room) : xir_value_name(v),
                      (xir_str){ item->text, item->size });
    }
}

static size_t count_up_to(const text_table *names, name_fate most) {
    size_t n = 0;
    for (size_t i = 0; i < names->n; i++) n += names->items[i].value <= (uint32_t)most;
    return n;
}

/* Numbers the values of the file, if some name has not been met and nothing has numbered them yet. */
static bool number_values(comparing *c) {
    if (c->numbers || !count_up_to(&c->l->values, NAME_LOST)) return true;
    c->numbers = true, c->meets = false;
    for (const xir_op *op = xir_network_first(c->l->c->net); op; op = xir_op_next(op))
        if (!meet_values(c, op)) return false;
    return true;
}

static bool compare(lost *l, name_list *list) {
    comparing c = { .l = l, .list = list, .numbered = DECLARED(l->c->back.to, numbered),
                    .lacks = DECLARED(l->c->back.to, lacks), .meets = true };
    bool ok = true;
    c.numbers = list->is_open || c.numbered;
    pointer_table_init(&c.values, alloc_of(l));
    for (const xir_op *op = l->idle ? NULL : xir_network_first(l->c->net); op && ok; op = xir_op_next(op))
        ok = meet_op(&c, op);
    if (ok && (ok = number_values(&c))) meet_others(&c);
    pointer_table_free(&c.values);
    return ok;
}

/* ---- the note --------------------------------------------------------------------------------------------------- */

typedef struct sentence { char text[SENTENCE_ROOM]; size_t size; } sentence;

static void say(sentence *s, const char *format, ...) XIR_PRINTF(2, 3);
static void say(sentence *s, const char *format, ...) {
    va_list args;
    va_start(args, format);
    s->size += text_vprint(s->text + s->size, sizeof s->text - s->size, format, args).size;
    va_end(args);
}

/* Names that the file does not have, nor the list, if there is one. */
static void say_names(sentence *s, const lost *l, const xir_pass_decl *decl, const char *list) {
    const name_fate most = list ? NAME_LOST : NAME_LISTED;
    const size_t values = count_up_to(&l->values, most), ops = count_up_to(&l->ops, most);
    const size_t listed = values + ops - count_up_to(&l->values, NAME_LOST) - count_up_to(&l->ops, NAME_LOST);
    if (!values && !ops) return;
    say(s, "not in the file");
    if (list) say(s, ", nor in '%.*s'", CLIP(xir_str_of(list)));
    if (values) say(s, ": %zu of %zu names of values", values, l->values.n);
    if (ops) say(s, "%s %zu of %zu names of ops", values ? "," : ":", ops, l->ops.n);
    if (!listed || list || !name_list_is_offered(decl)) return;
    if (listed == values + ops) say(s, " (--set %s.names=FILE keeps them)", decl->name);
    else say(s, " (--set %s.names=FILE keeps %zu of them)", decl->name, listed);
}

static void say_element(sentence *s, const lost *l, const char *before, const xir_type *element) {
    char words[TYPE_WORDS];
    const bool quantised = xir_type_is_quantized(element);
    say(s, " %s %s%s", before, quantised ? "quantised " : "",
        type_words(l->c->ctx, quantised ? xir_type_storage(element) : element, words));
}

static void say_end(sentence *s, const lost *l, size_t i, const lost_end *now, size_t n) {
    const lost_end *had = &l->ends[i];
    if (!n) say(s, "%selement types change:", s->size ? "; " : "");
    say(s, "%s %s '%.*s'", n ? "," : "", i < l->n_inputs ? "input" : "output", CLIP_TO(had->name, 40));
    say_element(s, l, "from", had->element);
    say_element(s, l, "to", now->element);
}

/* Inputs and outputs whose elements have changed. */
static void say_ends(sentence *s, const lost *l) {
    const xir_op *input = xir_network_input_op(l->c->net), *output = xir_network_output_op(l->c->net);
    size_t n = 0;
    for (size_t i = 0; i < l->n_inputs + l->n_outputs; i++) {
        const lost_end now = i < l->n_inputs ? end_of(xir_op_output(input, (int64_t)i))
                                             : end_of(xir_op_input(output, (int64_t)(i - l->n_inputs)));
        if (!l->ends[i].element || !now.element || xir_type_equal(l->ends[i].element, now.element)) continue;
        if (n < MOST_ENDS_SAID) say_end(s, l, i, &now, n);
        n++;
    }
    if (n > MOST_ENDS_SAID) say(s, ", and %zu more", n - MOST_ENDS_SAID);
}

/* A file that has no types has none of any input. */
static void say_untyped(sentence *s, const lost *l) {
    size_t n = 0;
    if (!(DECLARED(l->c->back.to, lacks) & XIR_LACKS_INPUT_TYPES)) return;
    for (size_t i = 0; i < l->n_inputs; i++) n += l->ends[i].element != NULL;
    if (n) say(s, "%s%zu input%s without a type, which --input-shape gives", s->size ? "; " : "", n, n == 1 ? "" : "s");
}

xir_status lost_report(lost *l, xir_pass *pass) {
    name_list list;
    sentence s = { .size = 0 };
    xir_status status = name_list_open(&list, pass);
    if (status) return status;
    const bool listed = list.is_open, ok = compare(l, &list);
    status = name_list_close(&list, ok);
    if (!ok) return diag_memory(pass->why);
    if (status || !l->c->changed) return status;
    say_names(&s, l, pass->decl, listed ? list.path : NULL);
    say_ends(&s, l);
    say_untyped(&s, l);
    if (s.size) xir_diags_add(pass->why, XIR_NOTE, XIR_OK, XIR_STR(""), "%s%s", l->c->prefix, s.text);
    return XIR_OK;
}
