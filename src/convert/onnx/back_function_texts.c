/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Functions of the model: their names, which no two share, and their texts. Bodies that differ in names alone have one
 * function. */
#include <stdlib.h>
#include <xir/onnx.h>
#include "onnx/back_functions.h"
#include "onnx/control.h"
#include "number.h"
#include "source_tags.h"

enum { FUNCTIONS_SINCE = 8, OVERLOADS_SINCE = 10, CALLS_VERSION = 1 };
#define CALLS_DOMAIN "icraft.xir.calls"

/* ---- names ------------------------------------------------------------------------------------------------------ */

static xir_str tag_text(const xir_map *tags, const char *key) {
    const xir_any *tag = xir_map_find(tags, xir_str_of(key));
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

/* Replaces each character that no identifier has by an underscore. */
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

/* ---- its function ----------------------------------------------------------------------------------------------- */

static bool add_text(writing *w, xir_str text) {
    if (!mem_reserve(w->alloc, (void **)&w->texts, &w->text_room, w->n_texts + 1, sizeof *w->texts)) return false;
    w->texts[w->n_texts++] = xir_any_text(text);
    return true;
}

/* Notes an operator set that the model must have. */
static bool add_domain(writing *w, xir_str domain, xir_any version) {
    if (text_table_find(&w->domain_of, domain)) return true;
    if (!mem_reserve(w->alloc, (void **)&w->domains, &w->domain_room, w->n_domains + 1, sizeof *w->domains))
        return false;
    const xir_str own = kept(w, domain);
    w->domains[w->n_domains] = (xir_entry){ own, version };
    return own.data && text_table_add(&w->domain_of, own, (uint32_t)w->n_domains++);
}

static int by_key(const void *a, const void *b) {
    const xir_str x = ((const xir_entry *)a)->key, y = ((const xir_entry *)b)->key;
    const int order = memcmp(x.data, y.data, x.size < y.size ? x.size : y.size);
    return order ? order : (x.size > y.size) - (x.size < y.size);
}

xir_status onnx_import(xir_network *net, const xir_entry *more, size_t n) {
    const xir_allocator *alloc = context_alloc(xir_network_context(net));
    const xir_map old = onnx_operator_sets(net);
    const size_t bytes = (old.size + n + 1) * sizeof(xir_entry);
    xir_entry *all = mem_new(alloc, bytes);
    size_t count = 0;
    if (!all) return XIR_E_MEMORY;
    for (size_t i = 0; i < old.size; i++) all[count++] = old.entries[i];
    for (size_t i = 0; i < n; i++) if (!xir_map_find(&old, more[i].key)) all[count++] = more[i];
    qsort(all, count, sizeof *all, by_key);
    const xir_any map = xir_any_map(all, count);
    const xir_status status = count > old.size ? xir_network_set_tag(net, XIR_STR("onnx.opset"), &map) : XIR_OK;
    mem_free(alloc, all, bytes);
    return status;
}

/* The operator sets of a body's nodes that functions have, each once; NULL: out of memory. */
static xir_entry *list_used(writing *w, const xir_network *body, size_t *n) {
    xir_entry *used = arena_take(&w->room, (body->n_ops + (size_t)1) * sizeof *used);
    text_table seen;
    bool ok = used;
    *n = 0;
    text_table_init(&seen, w->alloc);
    for (const xir_op *op = body->first; op && ok; op = op->next) {
        const xir_str key = op->cls->key;
        xir_str domain, type;
        if (key.size <= 6 || memcmp(key.data, "onnx::", 6) != 0) continue;
        onnx_split_key((xir_str){ key.data + 6, key.size - 6 }, &domain, &type);
        const uint32_t *known = domain.size ? text_table_find(&w->domain_of, domain) : NULL;
        if (!known || text_table_find(&seen, domain)) continue;
        used[(*n)++] = w->domains[*known];
        ok = text_table_add(&seen, domain, 0);
    }
    text_table_free(&seen);
    return ok ? used : NULL;
}

/* The operator sets that a body needs: those of its functions, too. */
static xir_status import_used(writing *w, xir_network *body) {
    size_t n;
    const xir_entry *used = list_used(w, body, &n);
    xir_status status = used ? onnx_import(body, used, n) : XIR_E_MEMORY;
    const xir_map sets = onnx_operator_sets(body);
    for (size_t i = 0; i < sets.size && !status; i++)
        if (sets.entries[i].key.size && !add_domain(w, sets.entries[i].key, sets.entries[i].value))
            status = XIR_E_MEMORY;
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
static xir_status write_new(writing *w, const xir_op *call, xir_network *body, made_function *f, xir_diags *why) {
    xir_text_buffer text = { 0 };
    if (!name_function(w, call, f)) return XIR_E_MEMORY;
    const xir_any domain = xir_any_text(f->domain), overload = xir_any_text(f->overload);
    xir_status status = xir_network_set_text(body, XIR_TEXT_NAME, f->name);
    if (!status) status = xir_network_set_tag(body, XIR_STR("onnx.domain"), &domain);
    if (!status && f->overload.size) status = xir_network_set_tag(body, XIR_STR("onnx.overload"), &overload);
    if (!status) status = xir_onnx_write_function(body, &text, why);
    const xir_str own = status ? XIR_STR("") : kept(w, (xir_str){ text.data, text.size });
    if (!status && (!own.size || !add_text(w, own) || !add_domain(w, f->domain, xir_any_int(CALLS_VERSION)) ||
                    !mem_reserve(w->alloc, (void **)&w->functions, &w->function_room, w->n_functions + 1,
                                 sizeof *w->functions))) status = XIR_E_MEMORY;
    if (!status) w->functions[w->n_functions++] = *f;
    xir_text_free(&text);
    return status;
}

/* Graphs in attributes know values outside by their names, so a body with such nodes is a function of its own. */
static bool has_captures(const xir_network *body) {
    for (const xir_op *op = body->first; op; op = op->next)
        if (source_tag_find(xir_op_tags(op), SOURCE_CAPTURES)) return true;
    return false;
}

xir_status functions_find(writing *w, const xir_op *call, xir_network *body, made_function *f, xir_diags *why) {
    xir_text_buffer bare = { 0 };
    xir_status status = import_used(w, body);
    if (!status && has_captures(body)) return write_new(w, call, body, f, why);
    if (!status) status = write_bare(body, &bare, why);
    const uint32_t n = (uint32_t)w->n_functions;
    const uint32_t *known = status ? NULL : text_table_find(&w->bodies, (xir_str){ bare.data, bare.size });
    if (known) {
        *f = w->functions[*known];
    } else if (!status) {
        const xir_str key = kept(w, (xir_str){ bare.data, bare.size });
        status = write_new(w, call, body, f, why);
        if (!status && (!key.size || !text_table_add(&w->bodies, key, n))) status = XIR_E_MEMORY;
    }
    xir_text_free(&bare);
    return status;
}

const xir_class *functions_class(writing *w, const made_function *f) {
    const xir_str parts[] = { XIR_STR("onnx::"), f->domain, XIR_STR("."), f->name };
    char *text = arena_take(&w->room, f->domain.size + f->name.size + 8);
    size_t size = 0;
    for (size_t i = 0; text && i < COUNT(parts); i++) {
        memcpy(text + size, parts[i].data, parts[i].size);
        size += parts[i].size;
    }
    return text ? xir_class_opaque(w->net->ctx, (xir_str){ text, size }) : NULL;
}

/* ---- the model -------------------------------------------------------------------------------------------------- */

xir_status functions_note(writing *w) {
    const xir_any *list = xir_map_find(xir_network_tags(w->net), XIR_STR("onnx.functions"));
    const xir_map sets = onnx_operator_sets(w->net);
    xir_status status = XIR_OK;
    for (size_t i = 0; i < sets.size && !status; i++) {
        const xir_entry *e = &sets.entries[i];
        const bool other = e->key.size && e->value.kind == XIR_ANY_INT;
        if (other && !add_domain(w, e->key, e->value)) status = XIR_E_MEMORY;
    }
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
    const xir_any *now = xir_map_find(xir_network_tags(w->net), XIR_STR("onnx.ir_version"));
    const int64_t least = w->overloads ? OVERLOADS_SINCE : FUNCTIONS_SINCE;
    const xir_any version = xir_any_int(least);
    if (now && now->kind == XIR_ANY_INT && now->as.integer >= least) return XIR_OK;
    return xir_network_set_tag(w->net, XIR_STR("onnx.ir_version"), &version);
}

xir_status functions_store(writing *w) {
    const xir_any list = xir_any_list(w->texts, w->n_texts);
    xir_status status = w->n_functions ? xir_network_set_tag(w->net, XIR_STR("onnx.functions"), &list) : XIR_OK;
    if (!status && w->n_functions) status = onnx_import(w->net, w->domains, w->n_domains);
    return status || !w->n_functions ? status : set_version(w);
}

void functions_begin(writing *w) {
    w->alloc = context_alloc(w->net->ctx);
    w->number = 2;
    arena_init(&w->room, w->alloc);
    text_table_init(&w->names, w->alloc);
    text_table_init(&w->bodies, w->alloc);
    text_table_init(&w->domain_of, w->alloc);
}

void functions_end(writing *w) {
    mem_free(w->alloc, w->functions, w->function_room * sizeof *w->functions);
    mem_free(w->alloc, w->texts, w->text_room * sizeof *w->texts);
    mem_free(w->alloc, w->domains, w->domain_room * sizeof *w->domains);
    text_table_free(&w->domain_of);
    text_table_free(&w->bodies);
    text_table_free(&w->names);
    arena_free(&w->room);
}
