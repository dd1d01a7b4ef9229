/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A text becomes a network: a call is an op, a tensor's content after each call that writes it is a value. Values of
 * one name follow each other: the return slot of a call is its former value, an input, and its next value, an output. A
 * name that no line makes is an input of the network; which ones these are is known only at the end, and then the text
 * is read a second time. */
#include <stdlib.h>
#include "deepx/order.h"
#include "deepx/reader.h"

static bool read_definition(deepx_reader *r, deepx_kind kind, xir_str whole, const deepx_line *line) {
    buffer text;
    xir_any *out = dialect_add(&r->d, &r->defs, sizeof *out);
    if (!out) return false;
    if (kind == DEEPX_DEFINITION && deepx_verb_of(line->name) == VERB_NEW && line->n_rets == 1)
        r->fresh = deepx_element_of(line->slots[line->n_args].is.precision) + 1;
    buffer_init(&text, r->d.alloc);
    if (kind == DEEPX_DEFINITION) deepx_print_definition(&text, line);
    else buffer_put(&text, whole.data, whole.size);
    char *copy = text.failed ? NULL : arena_copy(&r->d.scratch, text.data, text.size);
    *out = xir_any_text((xir_str){ copy, text.size });
    if (copy) r->sum = hash_bytes(r->sum, copy, text.size);
    buffer_free(&text);
    return copy || trace_memory(&r->d.trace);
}

static bool visit(void *user, deepx_kind kind, xir_str whole, const deepx_line *line) {
    deepx_reader *r = user;
    if (r->w.status) return r->w.status != XIR_E_MEMORY;   /* further errors are looked for, but nothing is built */
    return kind == DEEPX_CALL ? deepx_read_call(r, whole, line) : read_definition(r, kind, whole, line);
}

/* ---- the network ----------------------------------------------------------------------------------------------- */

static int by_place(const void *a, const void *b) {
    const xir_value *v = *(xir_value *const *)a, *w = *(xir_value *const *)b;
    if (value_op(v) != value_op(w)) return value_op(v)->id < value_op(w)->id ? -1 : 1;
    return (v > w) - (v < w);
}

static xir_str name_of_value(const void *item) { return xir_value_name(*(xir_value *const *)item); }
static xir_str name_of_missing(const void *item) { return ((const deepx_missing *)item)->name; }

/* Gathers what the names mean at the end, in the order of the calls, unless the text says another one. Only calls that
 * made these values are looked at again. */
static bool find_alive(deepx_reader *r, dialect_list *out) {
    const name_table *names = &r->d.names;
    bool sorted = true;
    for (size_t i = 0; i < names->n; i++) {
        xir_value *v = names->values[i];
        if (!value_op(v) || !deepx_stays(v)) continue;
        xir_value **place = dialect_add(&r->d, out, sizeof *place);
        if (!place) return false;
        *place = v;
        sorted = sorted && (out->size == 1 || by_place(place - 1, place) < 0);
    }
    if (!sorted) qsort(out->data, out->size, sizeof(xir_value *), by_place);
    return !deepx_order_names(r->d.net, false, out->data, &out->size, sizeof(xir_value *), name_of_value) ||
           trace_memory(&r->d.trace);
}

static bool make_outputs(deepx_reader *r) {
    dialect_list alive = { 0 };
    bool ok = find_alive(r, &alive);
    for (size_t i = 0; i < alive.size && ok; i++) {
        xir_value *v = ((xir_value **)alive.data)[i];
        dialect_ref ref = dialect_name(&r->d, xir_value_name(v));
        ref.value = v;
        ok = dialect_output(&r->d, ref, NULL);
    }
    dialect_list_free(&r->d, &alive, sizeof(xir_value *));
    return ok;
}

/* Keeps the parts of the file besides its calls, with the definitions and the number of calls for which they hold. */
static bool keep_file(deepx_reader *r) {
    const char *end = r->text.data + r->text.size;
    const xir_str tail = { r->after, (size_t)(end - r->after) };
    xir_entry e[4];
    size_t n = 0;
    const bool open = r->text.size && end[-1] != '\n';
    e[n++] = (xir_entry){ XIR_STR("calls"), xir_any_int((int64_t)r->n_calls) };
    e[n++] = (xir_entry){ XIR_STR("for"), xir_any_int((int64_t)(r->sum >> 2)) };
    if (open) e[n++] = (xir_entry){ XIR_STR("open"), xir_any_bool(true) };
    if (tail.size) e[n++] = (xir_entry){ XIR_STR("tail"), xir_any_text(tail) };
    const xir_any word = xir_any_text(xir_str_of(deepx_spelling_words[r->printer.spelling]));
    const xir_any defs = xir_any_list(r->defs.data, r->defs.size);
    return dialect_tag(&r->d, &r->d.net->tags, DEEPX_TAG_SPELLING, word) &&
           (!r->defs.size || dialect_tag(&r->d, &r->d.net->tags, DEEPX_TAG_DEFS, defs)) &&
           dialect_tag(&r->d, &r->d.net->tags, DEEPX_TAG_FILE, xir_any_map(e, n));
}

/* Marks the names that a line makes: new tensors, loaded ones, and new names. */
static void mark_made(deepx_reader *r, text_table *names) {
    static const char *const makers[] = { "deepx::newtensor", "deepx::load", "deepx::renametensor" };
    for (const xir_op *op = r->d.net->first; op; op = op->next) {
        bool makes = false;
        for (size_t i = 0; i < sizeof makers / sizeof *makers; i++)
            makes |= xir_str_equal(op->cls->key, xir_str_of(makers[i]));
        for (uint32_t i = 0; makes && i < op->n_outputs; i++) {
            uint32_t *made = text_table_find(names, xir_value_name(&op_outputs(op)[i]));
            if (made) *made = 1;
        }
    }
}

/* The missing names that no line makes. */
static bool find_inputs(deepx_reader *r, dialect_list *out) {
    const deepx_missing *m = r->missing.data;
    text_table names;
    bool ok = true;
    if (!r->missing.size) return true;
    text_table_init(&names, r->d.alloc);
    for (size_t i = 0; i < r->missing.size && ok; i++) ok = text_table_add(&names, m[i].name, 0);
    if (ok) mark_made(r, &names);
    for (size_t i = 0; i < r->missing.size && ok; i++) {
        uint32_t *made = text_table_find(&names, m[i].name);
        if (*made) continue;
        deepx_missing *copy = dialect_add(&r->d, out, sizeof *copy);
        if (!copy) break;
        *copy = m[i];
        *made = 1;
    }
    text_table_free(&names);
    ok = ok && !deepx_order_names(r->d.net, true, out->data, &out->size, sizeof(deepx_missing), name_of_missing);
    return (ok || trace_memory(&r->d.trace)) && !dialect_failed(&r->d);
}

static const dialect_about about = { "deepx", XIR_FRAMEWORK_COUNT, &deepx_elements, true };

static bool declare_inputs(deepx_reader *r, const dialect_list *inputs) {
    const deepx_missing *m = inputs->data;
    for (size_t i = 0; i < inputs->size; i++) {
        dialect_declared declared = { NULL, NULL };
        const element_code *e = element_code_at(&deepx_elements, m[i].element);
        if (e && !dialect_tag_text(&r->d, &declared.tags, "deepx.type", xir_str_of(e->name))) return false;
        if (!dialect_input(&r->d, dialect_name(&r->d, m[i].name), &declared)) return false;
    }
    return true;
}

/* Reads the text once; `inputs` are those of the network, and `found` those that it should have. */
static xir_network *read_once(deepx_reader *r, const format_reading *how, blob *whole, const dialect_list *inputs,
                              dialect_list *found, bool quiet) {
    dialect *d = &r->d;
    if (!dialect_begin(d, &about, how, whole)) return NULL;
    d->trace.text = r->text;
    r->w = (deepx_place){ .why = how->why, .file = how->name, .quiet = quiet };
    r->after = r->text.data;
    buffer_init(&r->types, d->alloc);
    buffer_init(&r->printer.out, d->alloc);
    bool ok = !xir_network_set_text(d->net, XIR_TEXT_FRAMEWORK, XIR_STR("DEEPX")) || trace_memory(&d->trace);
    ok = ok && declare_inputs(r, inputs) && dialect_make_inputs(d) &&
         deepx_walk(&r->w, d->alloc, r->text, how->ctx->as_calls, visit, r) && !r->w.status;
    ok = ok && (found ? find_inputs(r, found) : true) && make_outputs(r) && keep_file(r);
    dialect_list_free(d, &r->missing, sizeof(deepx_missing));
    dialect_list_free(d, &r->defs, sizeof(xir_any));
    dialect_list_free(d, &r->former, sizeof(xir_value *));
    dialect_list_free(d, &r->codes, sizeof(slot_code));
    dialect_list_free(d, &r->plans, sizeof(call_plan));
    dialect_list_free(d, &r->versions, sizeof(const xir_map *));
    buffer_free(&r->types);
    buffer_free(&r->printer.out);
    return dialect_finish(d, ok);
}

xir_network *deepx_read(const format_reading *how, blob *whole) {
    const xir_allocator *alloc = context_alloc(how->ctx);
    const xir_str text = { whole->size ? (const char *)whole->bytes : "", (size_t)whole->size };
    dialect_list none = { 0 }, inputs = { 0 };
    deepx_reader *r = mem_new(alloc, sizeof *r);
    if (!r) {
        diag_memory(how->why);
        return NULL;
    }
    memset(r, 0, sizeof *r);
    r->text = text;
    xir_network *net = read_once(r, how, whole, &none, &inputs, false);
    if (net && inputs.size) {
        xir_network_free(net);
        memset(r, 0, sizeof *r);
        r->text = text;
        net = read_once(r, how, whole, &inputs, NULL, true);
    }
    mem_free(alloc, inputs.data, inputs.room * sizeof(deepx_missing));
    mem_free(alloc, r, sizeof *r);
    return net;
}
