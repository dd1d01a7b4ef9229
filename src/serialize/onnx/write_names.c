/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The conditions for a network to be a graph of ONNX. A value is found by its name there, so names must differ: one
 * that is missing or taken is replaced by "xir_0", "xir_1", …. */
#include <xir/order.h>
#include "dialect/others.h"
#include "onnx/read.h"
#include "onnx/write.h"

/* ---- names ----------------------------------------------------------------------------------------------------- */

/* The value gets a name of its own later. */
static bool rename_value(proto_writer *w, const xir_value *v) {
    return made_names_add(&w->made, v) || proto_no_memory(w);
}

/* A second value of a name that its file has twice keeps it as long as nothing uses it. */
static bool define_hashed(proto_writer *w, const xir_value *v, uint32_t hash) {
    const xir_str name = value_text(v);
    const bool duplicate = source_is_duplicate(v);
    const uint32_t place = w->n_values++ << 1 | duplicate;
    if (!name.size) return !v->uses || rename_value(w, v);
    if (!proto_check_name(w, "a value", name)) return false;
    const uint32_t *known = text_table_add_hashed(&w->names, name, hash, place);
    if (!known) return proto_no_memory(w);
    return *known == place || (duplicate && !v->uses) || rename_value(w, v);
}

static bool define(proto_writer *w, const xir_value *v) {
    return (w->names.room || text_table_reserve(&w->names, 1) || proto_no_memory(w)) &&
           define_hashed(w, v, text_table_expect(&w->names, value_text(v)));
}

/* Values that are defined when some more have been met: meanwhile, memory responds. A ring. */
enum { WAITING = 8 };
typedef struct waiting_values {
    struct { const xir_value *v; uint32_t hash; } items[WAITING];
    size_t n;                       /* met so far */
} waiting_values;

static bool define_first(proto_writer *w, const waiting_values *all, size_t i) {
    const xir_value *v = all->items[i % WAITING].v;
    w->at = value_op(v);
    return define_hashed(w, v, all->items[i % WAITING].hash);
}

static bool define_soon(proto_writer *w, waiting_values *all, const xir_value *v) {
    if (all->n >= WAITING && !define_first(w, all, all->n - WAITING)) return false;
    all->items[all->n % WAITING].v = v;
    all->items[all->n++ % WAITING].hash = text_table_expect(&w->names, value_text(v));
    return true;
}

static bool define_waiting(proto_writer *w, const waiting_values *all) {
    for (size_t i = all->n < WAITING ? 0 : all->n - WAITING; i < all->n; i++)
        if (!define_first(w, all, i)) return false;
    return true;
}

/* A value that nothing defines: each user says its name. */
static bool define_open(proto_writer *w, xir_value *v) {
    if (pointer_table_find(&w->open, v)) return true;
    if (!pointer_table_add(&w->open, v, 0) ||
        !mem_reserve(w->alloc, (void **)&w->open_values, &w->open_room, w->n_open + 1, sizeof *w->open_values))
        return proto_no_memory(w);
    w->open_values[w->n_open++] = v;
    return define(w, v);
}

/* ---- ops ------------------------------------------------------------------------------------------------------- */

static bool list_end(proto_writer *w, const xir_op *op) {
    const bool input = op_is_of(op, "icraft::xir::", "Input");
    const xir_op **end = input ? &w->input : &w->output;
    if (*end) return proto_refuse(w, XIR_E_UNSUPPORTED, "a second %s: a graph of ONNX has one list of %s",
                                  input ? "Input" : "Output", input ? "inputs" : "outputs");
    *end = op;
    return true;
}

uint32_t proto_own_inputs(const xir_op *op) {
    const xir_any *names = op_more_of(op) ? source_tag_find(op_more_of(op)->tags, SOURCE_CAPTURES) : NULL;
    const size_t n = names && names->kind == XIR_ANY_LIST ? names->as.list.size : 0;
    return n <= op->n_inputs ? op->n_inputs - (uint32_t)n : op->n_inputs;
}

/* The bytes of a graph say the names of what it takes from outside. */
static bool check_captures(proto_writer *w, const xir_op *op) {
    const uint32_t own = proto_own_inputs(op);
    if (own == op->n_inputs) return true;
    const xir_any *names = source_tag_find(op_more_of(op)->tags, SOURCE_CAPTURES)->as.list.items;
    for (uint32_t i = own; i < op->n_inputs; i++) {
        const xir_value *v = op_inputs(op)[i].value;
        const xir_any *name = &names[i - own];
        if (!v || name->kind != XIR_ANY_TEXT || !xir_str_equal(proto_name(w, v), name->as.text))
            return proto_refuse(w, XIR_E_UNSUPPORTED, "input %u has the name '%.*s', but the graph that takes it calls "
                                "it '%.*s'", i, CLIP(v ? proto_name(w, v) : XIR_STR("")),
                                CLIP(name->kind == XIR_ANY_TEXT ? name->as.text : XIR_STR("")));
    }
    return true;
}

#define PREFIX XIR_STR("onnx::")

static bool refuse_others(proto_writer *w) {
    char sentence[DIALECT_OTHERS];
    w->at = NULL;
    return dialect_has_all(w->net, PREFIX, "ONNX", "operator",
                           "xir opt converts those that it can, with to-xir and xir-to-onnx", sentence) ||
           proto_refuse(w, XIR_E_UNSUPPORTED, "%s", sentence);
}

static bool list_class(proto_writer *w, const xir_op *op) {
    if (!dialect_is_known(op, PREFIX)) return refuse_others(w);
    return xir_class_is_opaque(op->cls) ? proto_check_name(w, "its class", op->cls->key) : list_end(w, op);
}

static bool list_op(proto_writer *w, const xir_op *op, uint8_t *used) {
    w->at = op;
    if (!list_class(w, op) || !proto_check_name(w, "the op", name_text(op_label(op)))) return false;
    w->tagged |= op_tags(op) != NULL;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const xir_value *v = op_inputs(op)[i].value;
        if (!v) continue;
        if (value_is_params(v)) used[value_params(v)->number] = 1;
        else if (value_op(v)) w->backward |= !xir_value_precedes(v, op);
        else w->opens = true;
    }
    return true;
}

static bool list_constants(proto_writer *w, const uint8_t *used) {
    size_t n = w->net->n_params;
    w->constants = arena_take(&w->scratch, n * sizeof *w->constants);
    if (!w->constants) return proto_no_memory(w);
    for (xir_value *v = w->net->all_params; v; v = value_params(v)->next)
        if (used[value_params(v)->number]) w->constants[--n] = v;
    w->constants += n;
    w->n_constants = w->net->n_params - n;
    return true;
}

static bool note_declared(proto_writer *w, const xir_value *v) {
    if (!v->type && !proto_value_tags(v)) return true;
    if (!mem_reserve(w->alloc, (void **)&w->declared, &w->declared_room, w->n_declared + 1, sizeof *w->declared))
        return proto_no_memory(w);
    w->declared[w->n_declared++] = v;
    return true;
}

static bool list_values(proto_writer *w) {
    waiting_values all = { .n = 0 };
    w->at = NULL;
    if (!text_table_reserve(&w->names, w->net->n_ops + w->n_constants)) return proto_no_memory(w);
    for (size_t i = 0; i < w->n_constants; i++)
        if (!define(w, w->constants[i])) return false;
    for (const xir_op *op = w->net->first; op; op = op->next)
        for (uint32_t i = 0; i < op->n_outputs; i++)
            if (!note_declared(w, &op_outputs(op)[i]) || !define_soon(w, &all, &op_outputs(op)[i])) return false;
    if (!define_waiting(w, &all)) return false;
    for (const xir_op *op = w->net->first; op && w->opens; op = op->next) {
        w->at = op;
        for (uint32_t i = 0; i < op->n_inputs; i++) {
            xir_value *v = op_inputs(op)[i].value;
            if (v && !value_op(v) && !value_is_params(v) && !define_open(w, v)) return false;
        }
    }
    return made_names_make(&w->made, &w->names, "xir_", &w->scratch) || proto_no_memory(w);
}

/* ---- cycles ---------------------------------------------------------------------------------------------------- */

/* Ops whose inputs are all made leave; an op that never does is on a cycle, or needs one. */
static bool check_cycles(proto_writer *w) {
    const size_t n = w->net->n_ops;
    pointer_table numbers;
    pointer_table_init(&numbers, w->alloc);
    const xir_op **ready = arena_take(&w->scratch, n * sizeof *ready);
    uint32_t *left = arena_take(&w->scratch, n * sizeof *left);
    bool ok = ready && left && pointer_table_reserve(&numbers, n);
    size_t n_ready = 0, k = 0;
    for (const xir_op *op = w->net->first; ok && op; op = op->next, k++) {
        ok = pointer_table_add(&numbers, op, (uint32_t)k) != NULL;
        left[k] = 0;
        for (uint32_t i = 0; i < op->n_inputs; i++) left[k] += xir_value_op(op_inputs(op)[i].value) != NULL;
        if (!left[k]) ready[n_ready++] = op;
    }
    for (size_t at = 0; ok && at < n_ready; at++) {
        for (uint32_t i = 0; i < ready[at]->n_outputs; i++) {
            for (const xir_use *use = op_outputs(ready[at])[i].uses; use; use = use->next) {
                const uint32_t *place = pointer_table_find(&numbers, use->user);
                if (place && !--left[*place]) ready[n_ready++] = use->user;
            }
        }
    }
    if (!ok) proto_no_memory(w);
    for (const xir_op *op = w->net->first; ok && op; op = op->next) {
        w->at = op;
        if (left[*pointer_table_find(&numbers, op)])
            ok = proto_refuse(w, XIR_E_INVALID, "it needs its own results, or an op that does: a graph of ONNX has no "
                              "cycles");
    }
    pointer_table_free(&numbers);
    return ok;
}

/* ---- all ------------------------------------------------------------------------------------------------------- */

bool proto_list(proto_writer *w) {
    uint8_t *used = arena_take(&w->scratch, w->net->n_params);
    if (!used) return proto_no_memory(w);
    memset(used, 0, w->net->n_params);
    if (!proto_check_name(w, "the network", w->net->text[XIR_TEXT_NAME])) return false;
    for (const xir_op *op = w->net->first; op; op = op->next)
        if (!list_op(w, op, used)) return false;
    if (!list_constants(w, used) || !list_values(w)) return false;
    for (const xir_op *op = w->net->first; op && w->tagged; op = op->next) {
        w->at = op;
        if (op_tags(op) && !check_captures(w, op)) return false;
    }
    const bool ok = !w->backward || check_cycles(w);
    if (ok) w->at = NULL;
    return ok;
}
