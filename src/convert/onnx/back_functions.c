/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The way back of xir::Call: its body becomes a function of the model, and the call a node of that. The body is
 * converted as a network of its own, calls within it first.
 *
 *     c = Call(x) { conv(x, w), relu }    ->    c = icraft.xir.calls.c(x, w)
 *                                               function c(x, w) { Conv(x, w), Relu }
 *
 * A function has no initializers. Constants of 1024 bytes and more are further inputs of it, so they are initializers
 * of the model, which can be mapped and shared; smaller ones are nodes of the function. Calls whose functions differ in
 * names alone have one function. A call is inlined if an op of its body stays XIR's. */
#include <stdlib.h>
#include <xir/onnx.h>
#include <xir/ops.h>
#include <xir/region.h>
#include "onnx/back.h"
#include "onnx/control.h"
#include "manager/pass.h"
#include "number.h"
#include "provenance.h"
#include "support/upkeep.h"

enum { LEAST_INPUT = 1024, FUNCTIONS_SINCE = 8, OVERLOADS_SINCE = 10, CALLS_VERSION = 1 };
#define CALLS_DOMAIN "icraft.xir.calls"

/* One function: the key of its nodes' class without the prefix, "domain.name", and its overload. */
typedef struct made_function { xir_str domain, name, overload; } made_function;

typedef struct writing {
    xir_pass      *pass;
    xir_network   *net;         /* of the model                                                        */
    const xir_allocator *alloc;
    arena          room;
    text_table     names;       /* "domain:overload:name" of all functions                             */
    text_table     bodies;      /* the text of a function without names -> its number                  */
    made_function *functions;
    size_t         n_functions, function_room;
    xir_any       *texts;       /* of the tag onnx.functions, those of the file first                  */
    size_t         n_texts, text_room;
    xir_entry     *domains;     /* operator sets that functions have, each once                        */
    size_t         n_domains, domain_room;
    uint64_t       number;      /* of the next name that is made                                       */
    size_t         n_inlined;
    bool           overloads;
} writing;

/* ---- names ------------------------------------------------------------------------------------------------------ */

static xir_str tag_text(const xir_map *tags, const char *key) {
    const xir_any *tag = tags ? xir_map_find(tags, xir_str_of(key)) : NULL;
    return tag && tag->kind == XIR_ANY_TEXT ? tag->as.text : XIR_STR("");
}

static xir_str kept(writing *w, xir_str text) {
    char *own = arena_take(&w->room, text.size + 1);
    if (!own) return XIR_STR("");
    if (text.size) memcpy(own, text.data, text.size);
    own[text.size] = '\0';
    return (xir_str){ own, text.size };
}

/* "domain:overload:name"; without data if memory is out. A number may follow. */
static xir_str key_of(writing *w, const made_function *f) {
    const xir_str parts[] = { f->domain, XIR_STR(":"), f->overload, XIR_STR(":"), f->name };
    size_t size = 0;
    char *text = arena_take(&w->room, f->domain.size + f->name.size + f->overload.size + 3 + NUMBER_ROOM);
    for (size_t i = 0; text && i < COUNT(parts); i++) {
        if (parts[i].size) memcpy(text + size, parts[i].data, parts[i].size);
        size += parts[i].size;
    }
    return (xir_str){ text, size };
}

/* What an identifier cannot have is a line. */
static xir_str identifier(writing *w, xir_str name) {
    enum { MOST = 200 };
    const size_t n = (size_t)text_clip(name, MOST);
    char *text = arena_take(&w->room, n + 6);
    size_t size = 0;
    if (!text) return (xir_str){ NULL, 0 };
    if (!n) memcpy(text, "Call", size = 4);
    if (n && name.data[0] >= '0' && name.data[0] <= '9') text[size++] = '_';
    for (size_t i = 0; i < n; i++) {
        const char c = name.data[i];
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        text[size++] = plain ? c : '_';
    }
    text[size] = '\0';
    return (xir_str){ text, size };
}

/* A name that no function of this domain and overload has: its own if that is free, else "name_2". */
static bool take_name(writing *w, made_function *f) {
    xir_str key = key_of(w, f);
    if (!key.data) return false;
    if (text_table_find(&w->names, key)) {
        char *text = (char *)(uintptr_t)key.data;
        const size_t before = key.size - f->name.size;
        text[key.size] = '_';
        key = text_table_unused(&w->names, text, key.size + 1, &w->number);
        f->name = (xir_str){ key.data + before, key.size - before };
    }
    return text_table_add(&w->names, key, 0);
}

/* A call that was read of a file has the name of its function there. */
static bool name_function(writing *w, const xir_op *call, made_function *f) {
    const xir_map *tags = xir_op_tags(call);
    const xir_str was = tag_text(tags, ONNX_FUNCTION_TAG);
    size_t from = was.size;
    while (from && was.data[from - 1] != '.') from--;
    const xir_str domain = { was.data, from ? from - 1 : 0 };
    const bool known = domain.size && from < was.size && !xir_str_equal(domain, XIR_STR("ai.onnx"));
    *f = known ? (made_function){ kept(w, domain),
                                  kept(w, (xir_str){ was.data + from, was.size - from }),
                                  kept(w, tag_text(tags, "onnx.overload")) }
               : (made_function){ XIR_STR(CALLS_DOMAIN), identifier(w, xir_op_name(call)), XIR_STR("") };
    w->overloads |= f->overload.size;
    return f->domain.data && f->name.data && f->overload.data && take_name(w, f);
}

/* ---- the body as a network -------------------------------------------------------------------------------------- */

/* What a call becomes, with the constants that it passes. */
typedef struct made_call {
    xir_op      *call;
    xir_network *body;          /* all of it is ONNX's */
    xir_mapping *map;
    xir_value  **passed;        /* constants of the body that become inputs */
    size_t       n_passed;
} made_call;

static const xir_ops *body_of(const xir_op *call) { return &((const xir_call_op_attrs *)call->attrs)->body; }

/* An absent input of the call is one of the ops that use it. */
static bool drop_absent(const xir_op *call, const xir_network *body) {
    const xir_op *input = xir_network_input_op(body);
    for (uint32_t i = 0; i < call->n_inputs && i < input->n_outputs; i++) {
        if (op_inputs(call)[i].value) continue;
        for (xir_use *use = op_outputs(input)[i].uses, *next; use; use = next) {
            next = use->next;
            if (xir_op_set_input(use->user, xir_use_index(use), NULL)) return false;
        }
    }
    return true;
}

/* Copies a body, which its class has checked, into a network. */
static xir_status copy_body(writing *w, made_call *m, const xir_network *from) {
    const xir_map *tags = xir_network_tags(w->net);
    const xir_any *opset = tags ? xir_map_find(tags, XIR_STR("onnx.opset")) : NULL;
    const xir_ops ops = *body_of(m->call);
    m->body = xir_network_new(w->net->ctx, "", XIR_FRAMEWORK_ONNX, "");
    m->map = m->body ? xir_mapping_new((xir_network *)(uintptr_t)from, m->body) : NULL;
    if (!m->map || (opset && xir_network_set_tag(m->body, XIR_STR("onnx.opset"), opset))) return XIR_E_MEMORY;
    for (size_t i = 0; i < ops.size; i++) {
        if (xir_mapping_clone(m->map, ops.data[i], NULL)) continue;
        const xir_status status = xir_network_status(m->body);
        return status == XIR_E_MEMORY ? status
                                      : xir_pass_fail(w->pass, status ? status : XIR_E_INVALID, m->call,
                                                      "op %zu of its body uses what the body does not have", i);
    }
    return drop_absent(m->call, m->body) ? XIR_OK : XIR_E_MEMORY;
}

static void close_call(made_call *m) {
    xir_mapping_free(m->map);
    xir_network_free(m->body);
}

/* A result that is an input is a value of its own: the names of two ports differ. */
static xir_status copy_inputs(xir_network *body) {
    xir_op *output = xir_network_output_op(body);
    const xir_op *input = xir_network_input_op(body);
    for (uint32_t i = 0; i < output->n_inputs; i++) {
        xir_value *v = op_inputs(output)[i].value;
        if (!v || value_is_params(v) || value_op(v) != input) continue;
        const xir_class *cls = xir_class_opaque(body->ctx, XIR_STR("onnx::Identity"));
        const xir_type *type = xir_value_type(v);
        xir_op *op = cls ? xir_network_add(body, &XIR_INIT(xir_op_desc, .cls = cls, .inputs = &v, .n_inputs = 1,
                                           .types = &type, .n_types = 1, .id = XIR_NO_ID, .before = output)) : NULL;
        if (!op || xir_op_set_input(output, i, &op_outputs(op)[0])) return XIR_E_MEMORY;
    }
    return XIR_OK;
}

static bool is_passed(const xir_value *v) {
    uint64_t bytes;
    return v && value_is_params(v) && v->type && !xir_type_bytes(v->type, &bytes) && bytes >= LEAST_INPUT;
}

/* Finds the constants that become inputs, each once, in the order of their users. */
static xir_status find_passed(writing *w, made_call *m) {
    pointer_table seen;
    size_t n = 0;
    xir_status status = XIR_OK;
    pointer_table_init(&seen, w->alloc);
    for (const xir_op *op = m->body->first; op; op = op->next)
        for (uint32_t i = 0; i < op->n_inputs; i++) n += is_passed(op_inputs(op)[i].value);
    m->passed = arena_take(&w->room, (n + 1) * sizeof *m->passed);
    if (!m->passed) status = XIR_E_MEMORY;
    for (const xir_op *op = m->body->first; op && !status; op = op->next) {
        for (uint32_t i = 0; i < op->n_inputs && !status; i++) {
            xir_value *v = op_inputs(op)[i].value;
            if (!is_passed(v) || pointer_table_find(&seen, v)) continue;
            if (!pointer_table_add(&seen, v, 0)) status = XIR_E_MEMORY;
            m->passed[m->n_passed++] = v;
        }
    }
    pointer_table_free(&seen);
    return status;
}

/* Makes these constants inputs of the body, which keep their names. Values lose their types: other calls of the
 * function may have other ones. */
static xir_status pass_constants(writing *w, made_call *m) {
    xir_op *input = xir_network_input_op(m->body);
    const size_t had = input->n_outputs, n = had + m->n_passed;
    const xir_type **types = mem_new(w->alloc, (n + 1) * sizeof *types);
    xir_status status = types ? XIR_OK : XIR_E_MEMORY;
    for (size_t i = 0; types && i < had; i++) types[i] = op_outputs(input)[i].type;
    for (size_t i = had; types && i < n; i++) types[i] = m->passed[i - had]->type;
    if (!status && n > had) status = xir_op_set_outputs(input, types, n);
    for (size_t i = had; i < n && !status; i++) {
        xir_value *v = m->passed[i - had], *port = &op_outputs(input)[i];
        status = xir_value_set_name(port, xir_value_name(v));
        if (!status) status = xir_value_replace(v, port);
    }
    mem_free(w->alloc, (void *)types, (n + 1) * sizeof *types);
    for (xir_op *op = m->body->first; op && !status; op = op->next)
        for (uint32_t i = 0; i < op->n_outputs; i++) op_outputs(op)[i].type = NULL;
    return status ? XIR_E_MEMORY : XIR_OK;
}

/* ---- its function ----------------------------------------------------------------------------------------------- */

static bool add_text(writing *w, xir_str text) {
    if (!mem_reserve(w->alloc, (void **)&w->texts, &w->text_room, w->n_texts + 1, sizeof *w->texts)) return false;
    w->texts[w->n_texts++] = xir_any_text(text);
    return true;
}

/* Notes an operator set that the model must have. */
static bool add_domain(writing *w, xir_str domain, xir_any version) {
    for (size_t i = 0; i < w->n_domains; i++) if (xir_str_equal(w->domains[i].key, domain)) return true;
    if (!mem_reserve(w->alloc, (void **)&w->domains, &w->domain_room, w->n_domains + 1, sizeof *w->domains))
        return false;
    w->domains[w->n_domains++] = (xir_entry){ kept(w, domain), version };
    return w->domains[w->n_domains - 1].key.data;
}

static int by_key(const void *a, const void *b) {
    const xir_str x = ((const xir_entry *)a)->key, y = ((const xir_entry *)b)->key;
    const int order = memcmp(x.data, y.data, x.size < y.size ? x.size : y.size);
    return order ? order : (x.size > y.size) - (x.size < y.size);
}

/* Adds domains to the operator sets of a network. */
static xir_status import(writing *w, xir_network *net, const xir_entry *more, size_t n) {
    const xir_map *tags = xir_network_tags(net);
    const xir_any *old = tags ? xir_map_find(tags, XIR_STR("onnx.opset")) : NULL;
    const size_t had = old && old->kind == XIR_ANY_MAP ? old->as.map.size : 0;
    xir_entry *all = mem_new(w->alloc, (had + n + 1) * sizeof *all);
    size_t count = 0;
    if (!all) return XIR_E_MEMORY;
    for (size_t i = 0; i < had; i++) all[count++] = old->as.map.entries[i];
    for (size_t i = 0; i < n; i++) {
        if (had && xir_map_find(&old->as.map, more[i].key)) continue;
        all[count++] = more[i];
    }
    qsort(all, count, sizeof *all, by_key);
    const xir_any map = xir_any_map(all, count);
    const xir_status status = count > had ? xir_network_set_tag(net, XIR_STR("onnx.opset"), &map) : XIR_OK;
    mem_free(w->alloc, all, (had + n + 1) * sizeof *all);
    return status;
}

/* The operator sets that a body needs: those of its functions, too. */
static xir_status import_used(writing *w, xir_network *body) {
    xir_status status = XIR_OK;
    for (const xir_op *op = body->first; op && !status; op = op->next) {
        const xir_str key = op->cls->key;
        xir_str domain, type;
        if (key.size <= 6 || memcmp(key.data, "onnx::", 6) != 0) continue;
        onnx_split_key((xir_str){ key.data + 6, key.size - 6 }, &domain, &type);
        for (size_t i = 0; i < w->n_domains && !status && domain.size; i++)
            if (xir_str_equal(w->domains[i].key, domain)) status = import(w, body, &w->domains[i], 1);
    }
    const xir_any *sets = xir_map_find(xir_network_tags(body), XIR_STR("onnx.opset"));
    for (size_t i = 0; sets && i < sets->as.map.size && !status; i++)
        if (sets->as.map.entries[i].key.size && !add_domain(w, sets->as.map.entries[i].key,
                                                            sets->as.map.entries[i].value)) status = XIR_E_MEMORY;
    return status;
}

/* Values are v0, v1, ... and ops have no names: then functions that differ in names alone are equal. */
static xir_status forget_names(xir_network *body) {
    char name[1 + NUMBER_ROOM] = "v";
    uint64_t n = 0;
    xir_status status = XIR_OK;
    for (xir_op *op = body->first; op && !status; op = op->next) {
        if (op->cls != body->ctx->input_class && op->cls != body->ctx->output_class)
            status = xir_op_set_name(op, XIR_STR(""));
        for (uint32_t i = 0; i < op->n_inputs && !status; i++) {
            xir_value *v = op_inputs(op)[i].value;
            if (v && value_is_params(v)) status = xir_value_set_name(v, XIR_STR(""));
        }
    }
    for (xir_op *op = body->first; op && !status; op = op->next) {
        for (uint32_t i = 0; i < op->n_outputs && !status; i++) {
            xir_value *v = &op_outputs(op)[i];
            if (!v->uses && op->cls != body->ctx->input_class) continue;
            status = xir_value_set_name(v, (xir_str){ name, 1 + number_put_u64(name + 1, n++) });
        }
    }
    return status ? status : xir_network_set_text(body, XIR_TEXT_NAME, XIR_STR("f"));
}

/* The text of a function without names. */
static xir_status write_bare(const xir_network *body, xir_text_buffer *out, xir_diags *why) {
    xir_network *bare = xir_network_clone(body);
    xir_status status = bare ? forget_names(bare) : XIR_E_MEMORY;
    if (!status) status = xir_onnx_write_function(bare, out, why);
    xir_network_free(bare);
    return status;
}

/* Writes the body as a new function. */
static xir_status write_new(writing *w, const made_call *m, made_function *f, xir_diags *why) {
    xir_text_buffer text = { 0 };
    if (!name_function(w, m->call, f)) return XIR_E_MEMORY;
    const xir_any domain = xir_any_text(f->domain), overload = xir_any_text(f->overload);
    xir_status status = xir_network_set_text(m->body, XIR_TEXT_NAME, f->name);
    if (!status) status = xir_network_set_tag(m->body, XIR_STR("onnx.domain"), &domain);
    if (!status && f->overload.size) status = xir_network_set_tag(m->body, XIR_STR("onnx.overload"), &overload);
    if (!status) status = xir_onnx_write_function(m->body, &text, why);
    const xir_str own = status ? XIR_STR("") : kept(w, (xir_str){ text.data, text.size });
    if (!status && (!own.size || !add_text(w, own) || !add_domain(w, f->domain, xir_any_int(CALLS_VERSION)) ||
                    !mem_reserve(w->alloc, (void **)&w->functions, &w->function_room, w->n_functions + 1,
                                 sizeof *w->functions))) status = XIR_E_MEMORY;
    if (!status) w->functions[w->n_functions++] = *f;
    xir_text_free(&text);
    return status;
}

/* Finds the function that the body is, or writes one. */
static xir_status find_function(writing *w, const made_call *m, made_function *f, xir_diags *why) {
    xir_text_buffer bare = { 0 };
    xir_status status = write_bare(m->body, &bare, why);
    const uint32_t n = (uint32_t)w->n_functions;
    const uint32_t *known = status ? NULL : text_table_find(&w->bodies, (xir_str){ bare.data, bare.size });
    if (known) {
        *f = w->functions[*known];
    } else if (!status) {
        const xir_str key = kept(w, (xir_str){ bare.data, bare.size });
        status = write_new(w, m, f, why);
        if (!status && (!key.size || !text_table_add(&w->bodies, key, n))) status = XIR_E_MEMORY;
    }
    xir_text_free(&bare);
    return status;
}

/* ---- its node --------------------------------------------------------------------------------------------------- */

/* Enters the constants that the body had, by their copies. */
static bool note_constants(made_call *m, pointer_table *own, xir_value **all, size_t *n) {
    const xir_ops ops = *body_of(m->call);
    for (size_t i = 0; i < ops.size; i++) {
        for (uint32_t k = 0; k < ops.data[i]->n_inputs; k++) {
            xir_value *v = op_inputs(ops.data[i])[k].value;
            const xir_value *copy = v && value_is_params(v) ? xir_mapping_value(m->map, v) : NULL;
            if (!copy || pointer_table_find(own, copy)) continue;
            if (!pointer_table_add(own, copy, (uint32_t)*n)) return false;
            all[(*n)++] = v;
        }
    }
    return true;
}

/* The values that the node passes as further inputs: the constants of the body themselves, as far as these are what the
 * function reads, so that two calls share them. */
static xir_status find_outside(const writing *w, made_call *m, xir_network *net, xir_value **out) {
    const xir_ops ops = *body_of(m->call);
    size_t most = 1, n = 0;
    for (size_t i = 0; i < ops.size; i++) most += ops.data[i]->n_inputs;
    pointer_table own;
    pointer_table_init(&own, w->alloc);
    xir_value **all = mem_new(w->alloc, most * sizeof *all);
    bool ok = all && note_constants(m, &own, all, &n);
    for (size_t i = 0; i < m->n_passed && ok; i++) {
        const xir_value *v = m->passed[i];
        const uint32_t *known = pointer_table_find(&own, v);
        const bool same = known && xir_type_equal(all[*known]->type, v->type);
        out[i] = same ? all[*known] : xir_value_clone(v, net);
        ok = out[i];
    }
    mem_free(w->alloc, (void *)all, most * sizeof *all);
    pointer_table_free(&own);
    return ok ? XIR_OK : XIR_E_MEMORY;
}

static const xir_class *class_of(writing *w, const made_function *f) {
    const xir_str parts[] = { XIR_STR("onnx::"), f->domain, XIR_STR("."), f->name };
    char *text = arena_take(&w->room, f->domain.size + f->name.size + 8);
    size_t size = 0;
    for (size_t i = 0; text && i < COUNT(parts); i++) {
        memcpy(text + size, parts[i].data, parts[i].size);
        size += parts[i].size;
    }
    return text ? xir_class_opaque(w->net->ctx, (xir_str){ text, size }) : NULL;
}

/* Puts the node in place of the call. `values`: its inputs, then its outputs' types. */
static xir_status put_node(writing *w, made_call *m, const made_function *f, xir_network *net, xir_value *const *in) {
    xir_op *call = m->call;
    const uint32_t n = call->n_outputs;
    const xir_class *cls = class_of(w, f);
    const xir_type **types = arena_take(&w->room, (n + (size_t)1) * sizeof *types);
    if (!cls || !types) return XIR_E_MEMORY;
    for (uint32_t i = 0; i < n; i++) types[i] = op_outputs(call)[i].type;
    xir_op *op = xir_network_add(net, &XIR_INIT(xir_op_desc, .cls = cls, .inputs = in, .name = xir_op_name(call),
                                                .n_inputs = call->n_inputs + m->n_passed, .types = types, .n_types = n,
                                                .id = XIR_NO_ID, .before = call));
    if (!op) return XIR_E_MEMORY;
    const xir_any overload = xir_any_text(f->overload);
    if (f->overload.size && xir_op_set_tag(op, XIR_STR("onnx.overload"), &overload)) return XIR_E_MEMORY;
    for (uint32_t i = 0; i < n; i++) {
        xir_value *old = &op_outputs(call)[i], *now = &op_outputs(op)[i];
        if (!value_take_name(now, old) || xir_value_replace(old, now)) return XIR_E_MEMORY;
    }
    return xir_op_erase(call);
}

static xir_status become_node(writing *w, made_call *m, const made_function *f, xir_network *net) {
    provenance_scope scope;
    xir_value **in = arena_take(&w->room, (m->call->n_inputs + m->n_passed + 1) * sizeof *in);
    if (!in) return XIR_E_MEMORY;
    for (uint32_t i = 0; i < m->call->n_inputs; i++) in[i] = op_inputs(m->call)[i].value;
    provenance_begin(net, &scope, m->call);
    xir_status status = find_outside(w, m, net, in + m->call->n_inputs);
    if (!status) status = put_node(w, m, f, net, in);
    provenance_end(net, &scope);
    return status;
}

/* ---- one call --------------------------------------------------------------------------------------------------- */

static xir_status convert_all_in(writing *w, xir_network *net, unsigned depth, bool *all);

/* The body is ONNX's: makes it a function with a node. What no function can have makes *made false. */
static xir_status make_function(writing *w, made_call *m, xir_network *net, bool *made) {
    made_function f;
    xir_diags *why = xir_diags_new(net->ctx);
    xir_status status = why ? copy_inputs(m->body) : XIR_E_MEMORY;
    if (!status) status = import_used(w, m->body);
    if (!status) status = find_passed(w, m);
    if (!status) status = pass_constants(w, m);
    if (!status) status = find_function(w, m, &f, why);
    xir_diags_free(why);
    *made = !status;
    if (status) return status == XIR_E_MEMORY ? status : XIR_OK;
    return become_node(w, m, &f, net);
}

static xir_status convert_call(writing *w, xir_network *net, xir_op *call, unsigned depth, bool *made) {
    made_call m = { .call = call };
    bool whole = depth < net->ctx->limits.max_depth && body_of(call)->size >= 2;
    xir_status status = whole ? copy_body(w, &m, net) : XIR_OK;
    if (!status && whole) status = convert_all_in(w, m.body, depth + 1, &whole);
    if (!status && whole) status = xir_dialect_convert_body(w->pass, m.body, &whole);
    *made = false;
    if (!status && whole) status = make_function(w, &m, net, made);
    close_call(&m);
    return status;
}

/* Converts the calls of a body. *all: all are nodes now; at the first that is not, it ends. */
static xir_status convert_all_in(writing *w, xir_network *net, unsigned depth, bool *all) {
    xir_status status = XIR_OK;
    for (xir_op *op = net->first, *next; op && *all && !status; op = next) {
        next = op->next;
        if (xir_op_is(op, xir_call_op_class())) status = convert_call(w, net, op, depth, all);
    }
    return status;
}

/* Those of the model. A call that stays is inlined, and calls of its body are met in the next round. */
static xir_status convert_all(writing *w, bool *again) {
    xir_status status = XIR_OK;
    *again = false;
    for (xir_op *op = w->net->first, *next; op && !status; op = next) {
        bool made;
        next = op->next;
        if (!xir_op_is(op, xir_call_op_class())) continue;
        status = convert_call(w, w->net, op, 0, &made);
        if (status) continue;
        xir_pass_changed(w->pass, 1);
        if (made) continue;
        status = xir_op_inline(op);
        if (status && status != XIR_E_MEMORY) return xir_pass_fail(w->pass, status, op, "the call cannot be inlined");
        *again = true;
        w->n_inlined++;
    }
    return status;
}

/* ---- the model -------------------------------------------------------------------------------------------------- */

/* Functions of the file that the network comes from keep their names. */
static xir_status note_functions(writing *w) {
    const xir_map *tags = xir_network_tags(w->net);
    const xir_any *list = tags ? xir_map_find(tags, XIR_STR("onnx.functions")) : NULL;
    xir_status status = XIR_OK;
    for (size_t i = 0; list && list->kind == XIR_ANY_LIST && i < list->as.list.size && !status; i++) {
        const xir_any *text = &list->as.list.items[i];
        if (text->kind != XIR_ANY_TEXT) continue;
        xir_network *f = xir_onnx_read_function(w->net->ctx, text->as.text, NULL);
        const made_function known = { kept(w, f ? tag_text(xir_network_tags(f), "onnx.domain") : XIR_STR("")),
                                      kept(w, f ? xir_network_text_of(f, XIR_TEXT_NAME) : XIR_STR("")),
                                      kept(w, f ? tag_text(xir_network_tags(f), "onnx.overload") : XIR_STR("")) };
        xir_network_free(f);
        const xir_str key = key_of(w, &known), own = kept(w, text->as.text);
        if (!key.data || !text_table_add(&w->names, key, 0) || !own.data || !add_text(w, own)) status = XIR_E_MEMORY;
    }
    return status;
}

static xir_status set_version(const writing *w) {
    const xir_map *tags = xir_network_tags(w->net);
    const xir_any *now = tags ? xir_map_find(tags, XIR_STR("onnx.ir_version")) : NULL;
    const int64_t least = w->overloads ? OVERLOADS_SINCE : FUNCTIONS_SINCE;
    const xir_any version = xir_any_int(least);
    if (now && now->kind == XIR_ANY_INT && now->as.integer >= least) return XIR_OK;
    return xir_network_set_tag(w->net, XIR_STR("onnx.ir_version"), &version);
}

static xir_status finish(writing *w) {
    if (w->n_inlined)
        xir_pass_diag(w->pass, XIR_NOTE, NULL, "%zu call%s inlined: a function of ONNX has operators alone",
                      w->n_inlined, w->n_inlined == 1 ? " is" : "s are");
    if (!w->n_functions) return XIR_OK;
    const xir_any list = xir_any_list(w->texts, w->n_texts);
    xir_status status = xir_network_set_tag(w->net, XIR_STR("onnx.functions"), &list);
    if (!status) status = import(w, w->net, w->domains, w->n_domains);
    return status ? status : set_version(w);
}

static bool has_calls(const xir_network *net) {
    for (const xir_op *op = net->first; op; op = op->next) if (xir_op_is(op, xir_call_op_class())) return true;
    return false;
}

xir_status onnx_back_functions(xir_pass *pass) {
    writing w = { .pass = pass, .net = xir_pass_network(pass), .number = 2 };
    if (!has_calls(w.net)) return XIR_OK;
    bool again = true;
    w.alloc = context_alloc(w.net->ctx);
    arena_init(&w.room, w.alloc);
    text_table_init(&w.names, w.alloc);
    text_table_init(&w.bodies, w.alloc);
    xir_status status = note_functions(&w);
    while (again && !status) status = convert_all(&w, &again);
    if (!status) status = finish(&w);
    mem_free(w.alloc, w.functions, w.function_room * sizeof *w.functions);
    mem_free(w.alloc, w.texts, w.text_room * sizeof *w.texts);
    mem_free(w.alloc, w.domains, w.domain_room * sizeof *w.domains);
    text_table_free(&w.bodies);
    text_table_free(&w.names);
    arena_free(&w.room);
    return status == XIR_E_MEMORY ? diag_memory(pass->why) : status;
}
