/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Before the calls are converted one by one, blocks take the places of their calls, and what calls do to names becomes
 * edges of the network. The tensor that a call only overwrites is not an input of it. A var is the number that it
 * holds. What is printed or saved is a result. What is loaded is an input of the network, or what the program itself
 * has saved. A tensor that nothing has written to is not a result. Calls that only make or delete tensors are gone. */
#include <stdio.h>
#include <string.h>
#include <xir/deepx.h>
#include "deepx/deepx.h"
#include "source_tags.h"

typedef struct preparing {
    xir_network         *net;
    const xir_allocator *alloc;
    text_table           vars;       /* name -> index in `texts`                     */
    text_table           saved;      /* path -> index in `values`                    */
    text_table           loaded;     /* path or name -> index in `inputs`            */
    text_table           names;      /* of results                                   */
    pointer_table        is_result;
    xir_str             *texts;
    xir_value          **values;
    xir_op             **inputs;     /* calls that become inputs of the network      */
    xir_value          **results;
    size_t               n_texts, n_values, n_inputs, n_results;
    size_t               text_room, value_room, input_room, result_room;
    bool                 random_inputs, inference;
    bool                 changed, no_memory;
} preparing;

static bool memory(preparing *p, bool ok) {
    p->no_memory |= !ok;
    return ok;
}

static xir_str text_of(const xir_op *op, const char *key) {
    const xir_any *any = xir_map_find(xir_op_extra(op), xir_str_of(key));
    return any && any->kind == XIR_ANY_TEXT ? any->as.text : (xir_str){ "", 0 };
}

static xir_str unquoted(xir_str v) {
    const bool quoted = v.size >= 2 && (v.data[0] == '"' || v.data[0] == '\'') && v.data[v.size - 1] == v.data[0];
    return quoted ? (xir_str){ v.data + 1, v.size - 2 } : v;
}

static bool is_one_of(xir_str name, const char *const *names, size_t n) {
    for (size_t i = 0; i < n; i++) if (xir_str_equal(name, xir_str_of(names[i]))) return true;
    return false;
}

static bool is_known(const xir_op *op) {
    const xir_dialect_decl *dialect = dialect_of_class(xir_op_class(op));
    return dialect && convert_row_of(xir_network_context(xir_op_network(op)), dialect, xir_class_key(xir_op_class(op)));
}

/* ---- vars ------------------------------------------------------------------------------------------------------- */

static bool keep_var(preparing *p, const xir_op *op) {
    const xir_str name = text_of(op, "ret0"), value = text_of(op, "arg0");
    uint32_t *place = text_table_add(&p->vars, name, (uint32_t)p->n_texts);
    if (!memory(p, place && mem_reserve(p->alloc, (void **)&p->texts, &p->text_room, p->n_texts + 1,
                                        sizeof *p->texts))) return false;
    *place = (uint32_t)p->n_texts;
    p->texts[p->n_texts++] = value;
    return true;
}

/* Numbers in place of the names of vars. A number is never a name. */
static bool put_vars(preparing *p, xir_op *op) {
    static const char *const of_texts[] = { "load", "loadtensordata", "save", "print", "renametensor" };
    if (!p->vars.n || is_one_of(deepx_function(op), of_texts, COUNT(of_texts))) return true;
    for (size_t i = 0; i < 3; i++) {
        char key[8];
        double number;
        snprintf(key, sizeof key, "arg%zu", i);
        const xir_str text = text_of(op, key);
        if (!text.size || deepx_parse_number(text, &number)) continue;
        const uint32_t *known = text_table_find(&p->vars, text);
        if (!known) continue;
        const xir_any value = xir_any_text(p->texts[*known]);
        if (!memory(p, !xir_op_set_extra(op, xir_str_of(key), &value))) return false;
        p->changed = true;
    }
    return true;
}

/* ---- tensors that a call overwrites ------------------------------------------------------------------------------ */

/* Returns how many inputs are the call's own: the slots in "tensor<any>, listtensor<any>*2, var<any> -> tensor<any>"
 * that have no text; the old name of renametensor is a return slot. */
size_t deepx_own_inputs(const xir_op *op) {
    const xir_str types = text_of(op, "types");
    const char *p = types.data, *end = p + types.size;
    size_t n = deepx_calls(op, "renametensor");
    for (size_t slot = 0; p < end && *p != '-' && *p != ' '; slot++) {
        char key[24] = { 'a', 'r', 'g', (char)('0' + slot % 10) };
        size_t items = 0;
        bool list = false;
        for (; p < end && *p != ',' && *p != ' '; p++) {
            if (list && *p >= '0' && *p <= '9' && items < UINT32_MAX) items = 10 * items + (size_t)(*p - '0');
            list |= *p == '*';
        }
        if (slot >= 10) snprintf(key, sizeof key, "arg%zu", slot);
        n += list ? items : !text_of(op, key).size;
        if (p < end && *p == ',') p += 2;
    }
    return n;
}

/* The last inputs are what the outputs were before. Calls that read it keep it, and those whose type it tells. */
static bool drop_former(preparing *p, xir_op *op) {
    static const char *const readers[] = { "dropout", "deltensor" };
    const size_t own = deepx_own_inputs(op);
    if (is_one_of(deepx_function(op), readers, COUNT(readers)) || !is_known(op)) return true;
    for (size_t i = xir_op_output_count(op); i-- > 0 && xir_op_input_count(op) > own;) {
        const bool makes = deepx_calls(op, "newtensor") || deepx_calls(op, "load");
        if (!makes && !xir_type_as_tensor(xir_value_type(xir_op_output(op, (int64_t)i)))) break;
        if (!memory(p, !xir_op_remove_input(op, xir_op_input_count(op) - 1))) return false;
        p->changed = true;
    }
    return true;
}

/* ---- files ------------------------------------------------------------------------------------------------------ */

static bool keep_saved(preparing *p, const xir_op *op) {
    uint32_t *place = text_table_add(&p->saved, unquoted(text_of(op, "arg1")), 0);
    if (!memory(p, place && mem_reserve(p->alloc, (void **)&p->values, &p->value_room, p->n_values + 1,
                                        sizeof *p->values))) return false;
    *place = (uint32_t)p->n_values;
    p->values[p->n_values++] = xir_op_input(op, 0);
    return true;
}

/* The call will be an input of the network. */
static bool becomes_input(preparing *p, xir_op *op) {
    if (!memory(p, mem_reserve(p->alloc, (void **)&p->inputs, &p->input_room, p->n_inputs + 1, sizeof *p->inputs)))
        return false;
    p->inputs[p->n_inputs++] = op;
    return true;
}

/* The tensor is one that the program has saved there, or comes from outside. A second load of a file is the first. */
static bool load(preparing *p, xir_op *op) {
    const xir_str path = unquoted(text_of(op, "arg0"));
    xir_value *out = xir_op_output(op, 0);
    if (deepx_own_inputs(op)) return true;   /* done before */
    const uint32_t *saved = text_table_find(&p->saved, path);
    xir_value *source = saved ? p->values[*saved] : NULL;
    if (!source && xir_op_has(op, XIR_STR("data"))) return true;
    if (!source && deepx_calls(op, "load")) {
        uint32_t *known = text_table_add(&p->loaded, path, (uint32_t)p->n_inputs);
        if (!memory(p, known)) return false;
        if (*known == p->n_inputs) return becomes_input(p, op);
        source = xir_op_output(p->inputs[*known], 0);
    }
    if (!source) return becomes_input(p, op);
    const xir_any types = xir_any_text(XIR_STR("var<string>, _ ->"));   /* the source is an input of its own */
    p->changed = true;
    const xir_type *type = xir_value_type(out) ? NULL : xir_value_type(source);
    return memory(p, !xir_op_set_inputs(op, &source, 1) && !xir_op_set_extra(op, XIR_STR("types"), &types) &&
                     (!type || !xir_value_set_type(out, type)));
}

/* ---- numbers that the executor draws ----------------------------------------------------------------------------- */

static bool draws(const xir_op *op) {
    static const char *const names[] = { "uniform", "normal", "dropout" };
    return is_one_of(deepx_function(op), names, COUNT(names));
}

static bool draw(preparing *p, xir_op *op) {
    const bool drops = deepx_calls(op, "dropout");
    const xir_str seed = text_of(op, drops ? "arg1" : "arg2");
    double number = 1;
    const bool from_system = deepx_parse_number(seed, &number) && number == 0;
    if (drops && p->inference) return true;
    return !(p->random_inputs || from_system) || xir_op_input_count(op) > 1 || becomes_input(p, op);
}

/* ---- results ---------------------------------------------------------------------------------------------------- */

/* A result has a name of its own: a value that is overwritten later gets its number after it, "a@2". */
static bool name_result(preparing *p, xir_value *v) {
    char name[160];
    const xir_str own = xir_value_name(v);
    const uint32_t *taken = text_table_find(&p->names, own);
    const xir_any *version = xir_map_find(xir_value_tags(v), XIR_STR("deepx.version"));
    if (!taken || own.size > 100) return memory(p, text_table_add(&p->names, own, 0));
    snprintf(name, sizeof name, "%.*s@%lld", (int)own.size, own.size ? own.data : "",
             version && version->kind == XIR_ANY_INT ? (long long)version->as.integer : 0LL);
    return memory(p, !xir_value_set_name(v, xir_str_of(name)) && text_table_add(&p->names, xir_value_name(v), 0));
}

static bool add_result(preparing *p, xir_value *v) {
    if (!v || pointer_table_find(&p->is_result, v)) return true;
    const bool room = pointer_table_reserve(&p->is_result, p->n_results + 1) &&
                      mem_reserve(p->alloc, (void **)&p->results, &p->result_room, p->n_results + 1,
                                  sizeof *p->results);
    if (!memory(p, room && pointer_table_add(&p->is_result, v, 0))) return false;
    p->results[p->n_results++] = v;
    return name_result(p, v);
}

static bool was_never_written(const xir_value *v) {
    return xir_value_op(v) && deepx_calls(xir_value_op(v), "newtensor");
}

/* Finds the results: tensors that are alive at the end, in the order of the Output op, then those that were printed
 * and saved. */
static bool find_results(preparing *p, const xir_op *output) {
    for (size_t i = 0; i < xir_op_input_count(output); i++) {
        xir_value *v = xir_op_input(output, (int64_t)i);
        if (v && !was_never_written(v) && !add_result(p, v)) return false;
    }
    for (xir_op *op = xir_network_first(p->net); op; op = xir_op_next(op)) {
        const bool shows = deepx_calls(op, "print") || deepx_calls(op, "save");
        if (shows && xir_op_input_count(op) == 1 && !add_result(p, xir_op_input(op, 0))) return false;
    }
    return true;
}

static bool set_results(preparing *p, xir_op *output) {
    bool same = xir_op_input_count(output) == p->n_results;
    for (size_t i = 0; same && i < p->n_results; i++) same = xir_op_input(output, (int64_t)i) == p->results[i];
    p->changed |= !same;
    return same || memory(p, !xir_op_set_inputs(output, p->results, p->n_results));
}

/* ---- the network's inputs --------------------------------------------------------------------------------------- */

/* An input takes the place of a call: of its output, or, for a dropout, of its mask. */
static bool connect(preparing *p, xir_op *op, xir_value *made) {
    char name[160];
    xir_value *old = xir_op_output(op, 0);
    const xir_str own = xir_value_name(old);
    const bool drops = deepx_calls(op, "dropout");
    snprintf(name, sizeof name, "%.*s.mask", CLIP_TO(own, 100));
    if (!memory(p, !xir_value_set_name(made, drops ? xir_str_of(name) : own))) return false;
    if (memory(p, drops ? !xir_op_add_input(op, made) : !xir_value_replace(old, made)))
        return drops || memory(p, xir_op_erase(op) != XIR_E_MEMORY);
    (void)xir_value_set_name(made, XIR_STR(""));
    return false;
}

/* The outputs of an op move when it gets more, so all inputs are made at once. If memory runs out, those that are not
 * connected yet have no name: the next attempt takes them. */
static bool make_inputs(preparing *p, xir_op *input) {
    size_t had = xir_op_output_count(input);
    for (const xir_value *v; had; had--) {
        v = xir_op_output(input, (int64_t)had - 1);
        if (xir_value_uses(v) || xir_value_name(v).size) break;
    }
    const size_t n = had + p->n_inputs;
    const xir_type **types = mem_new(p->alloc, (n + 1) * sizeof *types);
    if (!p->n_inputs || !memory(p, types)) {
        mem_free(p->alloc, (void *)types, (n + 1) * sizeof *types);
        return !p->no_memory;
    }
    for (size_t i = 0; i < had; i++) types[i] = xir_value_type(xir_op_output(input, (int64_t)i));
    for (size_t i = had; i < n; i++) types[i] = xir_value_type(xir_op_output(p->inputs[i - had], 0));
    bool ok = memory(p, !xir_op_set_outputs(input, types, n));
    for (size_t i = had; i < n && ok; i++) ok = connect(p, p->inputs[i - had], xir_op_output(input, (int64_t)i));
    p->changed = true;
    mem_free(p->alloc, (void *)types, (n + 1) * sizeof *types);
    return ok;
}

/* ---- calls that are gone ---------------------------------------------------------------------------------------- */

static bool is_unused(const xir_op *op) {
    for (size_t i = 0; i < xir_op_output_count(op); i++)
        if (xir_value_uses(xir_op_output(op, (int64_t)i))) return false;
    return true;
}

/* Makers and deleters that nothing needs; without any result all that is known. */
static void sweep(preparing *p) {
    static const char *const gone[] = { "argset", "vecset", "argdel", "deltensor", "newtensor", "print",
                                        "save" };
    for (xir_op *op = xir_network_last(p->net), *before; op && !p->no_memory; op = before) {
        before = xir_op_prev(op);
        const xir_str function = deepx_function(op);
        const bool goes = is_one_of(function, gone, COUNT(gone)) || (!p->n_results && function.size && is_known(op));
        if (!goes || !is_unused(op)) continue;
        memory(p, xir_op_erase(op) != XIR_E_MEMORY);
        p->changed = true;
    }
}

/* ---- all of it -------------------------------------------------------------------------------------------------- */

static bool look_at(preparing *p, xir_op *op) {
    if (!deepx_function(op).size) return true;
    if (!put_vars(p, op) || !drop_former(p, op)) return false;
    if (deepx_calls(op, "argset") || deepx_calls(op, "vecset")) return keep_var(p, op);
    if (deepx_calls(op, "save") && xir_op_input_count(op) == 1) return keep_saved(p, op);
    if (xir_op_output_count(op) != 1) return true;
    if (deepx_calls(op, "load") || deepx_calls(op, "loadtensordata")) return load(p, op);
    return !draws(op) || draw(p, op);
}

static bool has_choice(const xir_network *net, source_tag tag) {
    return source_tag_find(xir_network_tags(net), tag) != NULL;
}

xir_status deepx_prepare(xir_network *net, bool *changed) {
    preparing p = { .net = net, .alloc = context_alloc(xir_network_context(net)),
                    .random_inputs = has_choice(net, SOURCE_RANDOM_INPUTS),
                    .inference = has_choice(net, SOURCE_INFERENCE) };
    xir_op *input = xir_network_input_op(net), *output = xir_network_output_op(net);
    *changed = false;
    if (!input || !output) return XIR_OK;
    if (xir_deepx_inline(net, &p.changed)) return XIR_E_MEMORY;
    text_table *const tables[] = { &p.vars, &p.saved, &p.loaded, &p.names };
    for (size_t i = 0; i < COUNT(tables); i++) text_table_init(tables[i], p.alloc);
    pointer_table_init(&p.is_result, p.alloc);
    bool ok = true;
    for (xir_op *op = xir_network_first(net); op && ok; op = xir_op_next(op)) ok = look_at(&p, op);
    ok = ok && find_results(&p, output) && set_results(&p, output) && make_inputs(&p, input);
    if (ok) sweep(&p);
    for (size_t i = 0; i < COUNT(tables); i++) text_table_free(tables[i]);
    pointer_table_free(&p.is_result);
    mem_free(p.alloc, p.texts, p.text_room * sizeof *p.texts);
    mem_free(p.alloc, (void *)p.values, p.value_room * sizeof *p.values);
    mem_free(p.alloc, (void *)p.inputs, p.input_room * sizeof *p.inputs);
    mem_free(p.alloc, (void *)p.results, p.result_room * sizeof *p.results);
    *changed = p.changed;
    return p.no_memory ? XIR_E_MEMORY : XIR_OK;
}
