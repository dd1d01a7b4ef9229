/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The way back of a whole network: its calls get the tensors that they write into. Each tensor has one call, so its
 * name has two values: what `newtensor` makes, and what the call writes. Inputs are names that no line makes. A tensor
 * without dims has one of 1 there. Names are unique, and legal in a line and as those of files; inputs and results keep
 * theirs. */
#include <stdio.h>
#include <string.h>
#include "deepx/deepx.h"
#include "walk/walk.h"
#include "manager/pass.h"
#include "number.h"

enum { MOST_NAME = 120, RECENT = 64 };

/* The attributes of the latest newtensor of a type; how many own inputs the calls have that share their attributes. */
typedef struct recent_tensor { const xir_type *type; const xir_map *extra; } recent_tensor;
typedef struct recent_call { const xir_map *extra; size_t own; } recent_call;

typedef struct making {
    xir_pass     *pass;
    xir_network  *net;
    xir_context  *ctx;
    text_table    names;      /* of tensors that exist                                  */
    pointer_table fresh;      /* calls that have no tensor to write into yet            */
    pointer_table used;       /* tensors that a later call uses, or that are results    */
    uint64_t      number;     /* of the next name                                       */
    recent_tensor tensors[RECENT];
    recent_call   calls[RECENT];
    const xir_class *newtensor;
    bool          no_memory;
} making;

static bool memory(making *m, bool ok) {
    m->no_memory |= !ok;
    return ok;
}

static bool is_fresh(const making *m, const xir_value *v) {
    const xir_op *op = v ? xir_value_op(v) : NULL;
    return op && pointer_table_find(&m->fresh, op);
}

/* ---- before ----------------------------------------------------------------------------------------------------- */

/* The tags of a file that the network came from are about that file. */
xir_status deepx_begin_back(xir_pass *pass) {
    static const char *const tags[] = { "deepx.file", "deepx.defs" };
    xir_network *net = xir_pass_network(pass);
    const xir_str author = xir_pass_text(pass, "author");
    if (!xir_str_equal(author, XIR_STR("cblas")) && !xir_str_equal(author, XIR_STR("cublas")))
        return xir_pass_fail(pass, XIR_E_INVALID, NULL, "author: expected cblas or cublas, found '%.*s'",
                             CLIP_TO(author, 40));
    if (!convert_has_ops_of_xir(net)) return XIR_OK;
    xir_status status = convert_need_static(pass, "tensors of DeepX have static types");
    for (size_t i = 0; i < COUNT(tags) && !status; i++) {
        if (!xir_map_find(xir_network_tags(net), xir_str_of(tags[i]))) continue;
        status = xir_network_set_tag(net, xir_str_of(tags[i]), NULL);
        if (status) return xir_pass_fail(pass, status, NULL, "out of memory");
    }
    return status;
}

/* ---- names ------------------------------------------------------------------------------------------------------ */

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr("_-@.", c) ||
           (unsigned char)c >= 0x80;
}

/* Other characters become _; so does a point or a sign at the beginning. A character of several bytes is not cut. */
static size_t legal(xir_str name, char out[MOST_NAME]) {
    size_t n = name.size < MOST_NAME ? name.size : MOST_NAME;
    while (n && n < name.size && ((unsigned char)name.data[n] & 0xC0) == 0x80) n--;
    for (size_t i = 0; i < n; i++) {
        const char c = name.data[i];
        const bool plain = c != '\0' && is_letter(c) && (i || !strchr(".-@", c));
        out[i] = plain ? c : '_';
    }
    return n;
}

/* Names a tensor, and notes the name. */
static bool name_tensor(making *m, xir_value *v) {
    char text[MOST_NAME + 1 + NUMBER_ROOM];
    const size_t n = legal(xir_value_name(v), text);
    xir_str name = { text, n };
    if (!n || text_table_find(&m->names, name)) {
        text[n] = n ? '_' : 't';
        name = text_table_unused(&m->names, text, n + 1, &m->number);
    }
    if (!xir_str_equal(name, xir_value_name(v)) && !memory(m, !xir_value_set_name(v, name))) return false;
    return memory(m, text_table_add(&m->names, xir_value_name(v), 0));
}

/* ---- calls ------------------------------------------------------------------------------------------------------ */

static const xir_class *class_of(making *m, const char *key) { return xir_class_opaque(m->ctx, xir_str_of(key)); }

static xir_op *add_call(making *m, const xir_class *cls, xir_value *in, const xir_type *type, xir_op *before) {
    const xir_op_desc desc = XIR_INIT(xir_op_desc, .cls = cls, .inputs = &in, .n_inputs = in != NULL, .types = &type,
                                      .n_types = 1, .id = XIR_NO_ID, .before = before);
    xir_op *op = cls ? xir_network_add(m->net, &desc) : NULL;
    return memory(m, op) ? op : NULL;
}

static bool set_text(making *m, xir_op *op, const char *key, const char *text) {
    const xir_any any = xir_any_text(xir_str_of(text));
    return memory(m, !xir_op_set_extra(op, xir_str_of(key), &any));
}

static bool set_version(making *m, xir_value *v, int64_t version) {
    const xir_any any = xir_any_int(version);
    return memory(m, !xir_value_set_tag(v, XIR_STR("deepx.version"), version ? &any : NULL));
}

/* Sets the attribute `types` to "BEGINtensor<PRECISION>". */
static bool set_types(making *m, xir_op *op, const char *begin, const char *precision) {
    char types[80];
    const char *const parts[] = { begin, "tensor<", precision, ">" };
    size_t size = 0;
    for (size_t i = 0; i < COUNT(parts); i++) {
        const size_t n = strlen(parts[i]);
        if (n >= sizeof types - size) return false;   /* no word is that long */
        memcpy(types + size, parts[i], n + 1);
        size += n;
    }
    return set_text(m, op, "types", types);
}

/* Sets the dims and the precision of a newtensor. */
static bool set_type(making *m, xir_op *op, const xir_type *type) {
    const size_t rank = xir_type_rank(type), room = (1 + NUMBER_ROOM) * rank + 8;
    char *dims = mem_new(context_alloc(m->ctx), room);
    if (!memory(m, dims)) return false;
    size_t n = 0;
    for (size_t i = 0; i < rank; i++) {
        dims[n++] = i ? ' ' : '[';
        n += number_put_i64(dims + n, xir_type_dim(type, (int64_t)i, false));
    }
    if (!rank) dims[n++] = '[';
    memcpy(dims + n, "]", 2);
    const bool ok = set_text(m, op, "arg0", dims) &&
                    set_types(m, op, "vector<int32> -> ", deepx_precision(xir_type_element(type)));
    mem_free(context_alloc(m->ctx), dims, room);
    return ok;
}

/* Gives a newtensor the attributes of the latest one of its type, if that is still known. */
static bool take_type(making *m, xir_op *op, const xir_type *type) {
    recent_tensor *like = &m->tensors[hash_pointer(type) % RECENT];
    if (like->type == type) return memory(m, !op_take_extras(op, like->extra));
    if (!set_type(m, op, type)) return false;
    *like = (recent_tensor){ type, xir_op_extra(op) };
    return true;
}

/* Makes the tensor of a name: newtensor, before an op. Its only use will be what is written to it. */
static xir_op *new_tensor(making *m, const xir_value *like, xir_op *before) {
    const xir_type *type = xir_value_type(like);
    if (!m->newtensor) m->newtensor = class_of(m, "deepx::newtensor");
    xir_op *op = add_call(m, m->newtensor, NULL, type, before);
    if (!op) return NULL;
    if (take_type(m, op, type) && memory(m, !xir_value_set_name(xir_op_output(op, 0), xir_value_name(like)))) return op;
    (void)xir_op_erase(op);
    return NULL;
}

/* Functions that only have a definition without an author. */
static bool has_author(const xir_op *op) {
    static const char *const without[] = { "loadtensordata", "copytensor", "newtensor", "deltensor", "todtype" };
    for (size_t i = 0; i < COUNT(without); i++) if (deepx_calls(op, without[i])) return false;
    return true;
}

static bool set_author(making *m, xir_op *op) {
    char text[40] = " author=";
    const size_t begun = strlen(text);
    if (!has_author(op)) return true;
    const xir_str author = deepx_calls(op, "matmul") ? xir_pass_text(m->pass, "author") : XIR_STR("miaobyte");
    const size_t n = author.size < sizeof text - 1 - begun ? author.size : sizeof text - 1 - begun;
    if (n) memcpy(text + begun, author.data, n);
    const xir_any any = xir_any_text((xir_str){ text, begun + n });
    return memory(m, !xir_op_set_tag(op, XIR_STR("deepx.meta"), &any));
}

/* The call writes into a new tensor of its name. */
static bool give_tensor(making *m, xir_op *op) {
    xir_value *v = xir_op_output(op, 0);
    if (deepx_calls(op, "loadtensordata")) {
        const xir_any path = xir_any_text(xir_value_name(v));
        if (!memory(m, !xir_op_set_extra(op, XIR_STR("arg0"), &path))) return false;
    }
    if (!set_version(m, v, 1) || !set_author(m, op)) return false;
    xir_op *made = new_tensor(m, v, op);
    if (!made) return false;
    if (memory(m, !xir_op_add_input(op, xir_op_output(made, 0)))) return true;
    (void)xir_op_erase(made);
    return false;
}

/* ---- inputs ----------------------------------------------------------------------------------------------------- */

/* A tensor without dims has one, if DeepX has its elements: others are inputs that nothing uses. */
static bool shape(making *m, xir_value *v) {
    const int64_t one = 1;
    const xir_type *type = xir_value_type(v);
    if (!xir_type_as_tensor(type) || xir_type_rank(type) || !deepx_precision(xir_type_element(type))) return true;
    type = xir_type_tensor(m->ctx, xir_type_element(type), NULL, &one, 1);
    return memory(m, type && !xir_value_set_type(v, type));
}

static bool copy_result(making *m, xir_op *output, size_t i) {
    char types[64];
    xir_value *v = xir_op_input(output, (int64_t)i);
    const char *word = deepx_precision(v_element(v));
    xir_op *copy = word ? add_call(m, class_of(m, "deepx::copytensor"), v, xir_value_type(v), output) : NULL;
    if (!copy) return !word;
    snprintf(types, sizeof types, "tensor<%s> -> tensor<%s>", word, word);
    return set_text(m, copy, "types", types) && memory(m, !xir_op_set_input(output, i, xir_op_output(copy, 0)));
}

/* A result that is an input, or an earlier result, is a copy of it: what exists at the end is what a line makes,
 * once. */
static bool copy_results(making *m, const xir_op *input, xir_op *output) {
    pointer_table seen;
    bool ok = true;
    pointer_table_init(&seen, context_alloc(m->ctx));
    for (size_t i = 0; output && i < xir_op_input_count(output) && ok; i++) {
        const xir_value *v = xir_op_input(output, (int64_t)i);
        if (!v || !xir_type_as_tensor(xir_value_type(v))) continue;
        const bool copies = (input && xir_value_op(v) == input) || pointer_table_find(&seen, v);
        ok = copies ? copy_result(m, output, i) : memory(m, pointer_table_add(&seen, v, 0));
    }
    pointer_table_free(&seen);
    return ok;
}

/* ---- deletions -------------------------------------------------------------------------------------------------- */

static bool delete_after(making *m, xir_value *v, xir_op *op) {
    if (!is_fresh(m, v) || pointer_table_find(&m->used, v)) return true;
    if (!memory(m, pointer_table_add(&m->used, v, 0))) return false;
    xir_op *made = add_call(m, class_of(m, "deepx::deltensor"), v, xir_value_type(v), xir_op_next(op));
    if (!made) return false;
    return set_types(m, made, "-> ", deepx_precision(v_element(v))) && set_version(m, xir_op_output(made, 0), 2) &&
           memory(m, !xir_value_set_name(xir_op_output(made, 0), xir_value_name(v)));
}

/* From the last call on: the first use that is met is the last one. What was deleted before memory ran out is not
 * deleted again. */
static bool delete_tensors(making *m) {
    xir_op *output = xir_network_output_op(m->net);
    for (size_t i = 0; output && i < xir_op_input_count(output); i++) {
        const xir_value *v = xir_op_input(output, (int64_t)i);
        if (v && !memory(m, pointer_table_add(&m->used, v, 0))) return false;
    }
    for (xir_op *op = output ? xir_op_prev(output) : NULL, *before; op; op = before) {
        before = xir_op_prev(op);
        const bool deletes = deepx_calls(op, "deltensor");
        const xir_value *gone = deletes && xir_op_input_count(op) ? xir_op_input(op, 0) : NULL;
        if (gone && !memory(m, pointer_table_add(&m->used, gone, 0))) return false;
        for (size_t i = 0; i < xir_op_input_count(op) && !deletes; i++)
            if (!delete_after(m, xir_op_input(op, (int64_t)i), op)) return false;
        if (pointer_table_find(&m->fresh, op) && !delete_after(m, xir_op_output(op, 0), op)) return false;
    }
    return true;
}

/* ---- all of it -------------------------------------------------------------------------------------------------- */

/* deepx_own_inputs, which the attributes tell alone: only renametensor has one more. */
static size_t own_inputs(making *m, const xir_op *op) {
    const xir_map *extra = xir_op_extra(op);
    recent_call *like = &m->calls[hash_pointer(extra) % RECENT];
    if (!extra || like->extra != extra) *like = (recent_call){ extra, deepx_own_inputs(op) };
    return like->own;
}

/* A call that this pass has made, and that writes into no tensor yet. */
static bool is_bare(making *m, const xir_op *op) {
    static const char *const makers[] = { "newtensor", "load", "renametensor" };
    for (size_t i = 0; i < COUNT(makers); i++) if (deepx_calls(op, makers[i])) return false;
    return deepx_function(op).size && xir_op_output_count(op) == 1 && xir_op_input_count(op) == own_inputs(m, op) &&
           deepx_precision(v_element(xir_op_output(op, 0)));
}

/* Erases what nothing uses, as an attempt that ran out of memory leaves it. */
static bool drop_unused(making *m) {
    for (xir_op *op = xir_network_last(m->net), *before; op; op = before) {
        before = xir_op_prev(op);
        const bool unused = xir_op_output_count(op) == 1 && !xir_value_uses(xir_op_output(op, 0)) && is_bare(m, op);
        if (unused && !memory(m, xir_op_erase(op) != XIR_E_MEMORY)) return false;
    }
    return true;
}

/* Finds the calls without tensors, and the names that others have. A deletion has the name of its call. */
static bool find_bare(making *m, bool *any) {
    *any = false;
    for (xir_op *op = xir_network_first(m->net); op; op = xir_op_next(op)) {
        const bool bare = xir_op_output_count(op) == 1 && xir_type_as_tensor(xir_value_type(xir_op_output(op, 0))) &&
                          is_bare(m, op);
        *any |= bare;
        if (bare && !memory(m, pointer_table_add(&m->fresh, op, 0))) return false;
        const bool deletes = deepx_calls(op, "deltensor") && is_fresh(m, xir_op_input(op, 0));
        for (size_t i = 0; !bare && !deletes && deepx_function(op).size && i < xir_op_output_count(op); i++) {
            const xir_str name = xir_value_name(xir_op_output(op, (int64_t)i));
            if (name.size && !memory(m, text_table_add(&m->names, name, 0))) return false;
        }
    }
    return true;
}

/* Inputs and results first: they keep their names. */
static bool name_tensors(making *m, xir_op *input) {
    const xir_op *output = xir_network_output_op(m->net);
    pointer_table named;
    pointer_table_init(&named, context_alloc(m->ctx));
    bool ok = true;
    for (size_t i = 0; input && i < xir_op_output_count(input) && ok; i++)
        ok = shape(m, xir_op_output(input, (int64_t)i)) && name_tensor(m, xir_op_output(input, (int64_t)i));
    for (size_t i = 0; output && i < xir_op_input_count(output) && ok; i++) {
        xir_value *v = xir_op_input(output, (int64_t)i);
        if (!is_fresh(m, v) || pointer_table_find(&named, v)) continue;
        ok = name_tensor(m, v) && memory(m, pointer_table_add(&named, v, 0));
    }
    for (xir_op *op = xir_network_first(m->net); op && ok; op = xir_op_next(op)) {
        if (!pointer_table_find(&m->fresh, op)) continue;
        xir_value *v = xir_op_output(op, 0);
        ok = shape(m, v) && (pointer_table_find(&named, v) || name_tensor(m, v));
    }
    pointer_table_free(&named);
    return ok;
}

static bool give_tensors(making *m) {
    for (xir_op *op = xir_network_first(m->net), *next; op; op = next) {
        next = xir_op_next(op);
        if (pointer_table_find(&m->fresh, op) && !give_tensor(m, op)) return false;
    }
    return true;
}

/* Returns true if this pass has made a call, which writes into no tensor yet. */
static bool is_new(making *m) {
    for (const xir_op *op = xir_network_first(m->net); op; op = xir_op_next(op))
        if (xir_op_output_count(op) == 1 && xir_type_as_tensor(xir_value_type(xir_op_output(op, 0))) && is_bare(m, op))
            return true;
    return false;
}

static bool make(making *m) {
    bool any;
    xir_op *input = xir_network_input_op(m->net);
    if (is_new(m) && !copy_results(m, input, xir_network_output_op(m->net))) return false;
    if (!drop_unused(m) || !find_bare(m, &any) || !any) return !m->no_memory;
    xir_pass_changed(m->pass, 1);
    return name_tensors(m, input) && (!xir_pass_bool(m->pass, "delete") || delete_tensors(m)) && give_tensors(m);
}

xir_status deepx_end_back(xir_pass *pass) {
    making m = { .pass = pass, .net = xir_pass_network(pass), .number = 1 };
    m.ctx = xir_network_context(m.net);
    text_table_init(&m.names, context_alloc(m.ctx));
    pointer_table_init(&m.fresh, context_alloc(m.ctx));
    pointer_table_init(&m.used, context_alloc(m.ctx));
    (void)make(&m);
    text_table_free(&m.names);
    pointer_table_free(&m.fresh);
    pointer_table_free(&m.used);
    return m.no_memory ? xir_pass_fail(pass, XIR_E_MEMORY, NULL, "out of memory") : XIR_OK;
}
