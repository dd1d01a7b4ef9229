/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* See opened.h. */
#include <stdio.h>
#include "walk/called.h"
#include "walk/opened.h"
#include "walk/walk.h"
#include "source_tags.h"

void inlining_begin(conversion *c) {
    pointer_table_init(&c->in.list_of, context_alloc(c->ctx));
    text_table_init(&c->in.function_of, context_alloc(c->ctx));
    pointer_table_init(&c->in.called_op_of, context_alloc(c->ctx));
}

/* The mapping refers to both networks. */
static void release(conversion *c, opened_node *o) {
    xir_mapping_free(o->map);
    if (o->owns_body && o->body) {
        converted_body_gone(c, o->body);
        xir_network_free(o->body);
    }
    o->map = NULL;
    o->body = NULL;
}

/* ---- opening ---------------------------------------------------------------------------------------------------- */

opened_node *opened_of(const conversion *c, const xir_op *op) {
    opened_node *o = c->in.open;
    while (o && o->op != op) o = o->next;
    return o;
}

/* "y" of the node's first output, "y.z" within a body; "node3" for a node without names. */
static xir_str prefix_of(xir_node *at, int64_t number) {
    xir_str name = { NULL, 0 };
    for (size_t i = 0; i < xir_op_output_count(at->op) && !name.size; i++)
        name = xir_value_name(xir_op_output(at->op, (int64_t)i));
    char *text = node_affords(at, name.size) ? arena_take(&at->c->scratch, name.size + 40) : NULL;
    if (!text) return node_no_memory(at), (xir_str){ NULL, 0 };
    if (name.size) memcpy(text, name.data, name.size);
    else name.size = (size_t)snprintf(text, 40, "%.10s%lld", convert_node(at->cls->dialect), (long long)number);
    return (xir_str){ text, name.size };
}

opened_node *node_open(xir_node *at, xir_network *body, bool owns, const char *place, xir_convert_fn *resume) {
    conversion *c = at->c;
    int64_t number;
    const body_frame *up = origin_of(c, at->op, &number);
    opened_node *before = at->opened;
    opened_node *o = xir_node_failed(at) ? NULL : arena_take(&c->scratch, sizeof *o);
    if (!o) {
        if (owns) xir_network_free(body);
        return node_no_memory(at), NULL;
    }
    *o = (opened_node){ .next = c->in.open, .op = at->op, .mark = xir_op_prev(at->op),
                        .n_in = xir_op_input_count(at->op), .n_stayed = c->stayed.n, .n_lists = c->in.n_lists,
                        .n_kept = c->in.n_kept, .n_calls = c->in.n_calls, .changed = c->changed, .resume = resume,
                        .body = body, .owns_body = owns };
    if (before) {   /* another body of the same node */
        o->mark = before->mark;
        o->n_in = before->n_in;
        o->n_stayed = before->n_stayed;
        o->n_lists = before->n_lists;
        o->n_kept = before->n_kept;
        o->n_calls = before->n_calls;
        o->changed = before->changed;
        o->plan = before->plan;
        opened_close(c, before);
        o->next = c->in.open;
    }
    if (owns) converted_body(c, body);
    o->frame = (body_frame){ .up = up, .place = place, .prefix = prefix_of(at, number),
                             .unrolled = up && up->unrolled, .depth = up ? up->depth + 1 : 1 };
    c->in.open = o;
    at->opened = o;
    o->map = xir_mapping_new(body, c->net);
    if (!o->map) (void)node_no_memory(at);
    if (o->frame.depth > c->ctx->limits.max_depth)
        (void)xir_node_unsupported(at, "bodies are nested more than %u deep", c->ctx->limits.max_depth);
    return xir_node_failed(at) ? NULL : o;
}

void opened_close(conversion *c, opened_node *o) {
    opened_node **link = &c->in.open;
    while (*link && *link != o) link = &(*link)->next;
    if (*link) *link = o->next;
    release(c, o);
}

bool node_has_inside(const xir_node *at, const xir_value *v) {
    const xir_op *op = xir_value_is_params(v) ? NULL : xir_value_op(v);
    const xir_op *mark = at->opened ? at->opened->mark : at->mark;
    return op && xir_op_is_placed(op) && xir_op_before(op, at->op) && (!mark || xir_op_before(mark, op));
}

bool node_go_back(xir_node *at) {
    if (!xir_node_failed(at)) {
        at->fate = NODE_OPENED;
        at->c->in.back = true;
    }
    return false;
}

xir_value *node_result_of_body(const xir_node *at, size_t i) {
    return xir_op_input(at->op, (int64_t)(at->opened->n_in + i));
}

bool node_set_result_of_body(xir_node *at, size_t i, xir_value *v) {
    const size_t k = at->opened->n_in + i;
    if (xir_node_failed(at)) return false;
    return !(k < xir_op_input_count(at->op) ? xir_op_set_input(at->op, k, v) : xir_op_add_input(at->op, v)) ||
           node_no_memory(at);
}

/* Takes what bodies returned off the node. */
static void drop_results(xir_op *op, size_t n_in) {
    while (xir_op_input_count(op) > n_in) {
        if (xir_op_remove_input(op, xir_op_input_count(op) - 1)) break;
    }
}

void node_undo(xir_node *at) {
    opened_node *o = at->opened;
    conversion *c = at->c;
    if (!o) return;
    drop_results(at->op, o->n_in);
    at->mark = o->mark;
    node_discard(at);
    stayed_forget(c, o->n_stayed);
    c->changed = o->changed;
    if (c->in.n_lists > o->n_lists) c->in.n_lists = o->n_lists;
    if (c->in.n_kept > o->n_kept) c->in.n_kept = o->n_kept;
    if (c->in.n_calls > o->n_calls) c->in.n_calls = o->n_calls;
    opened_close(c, o);
    at->opened = NULL;
    at->n_in = xir_op_input_count(at->op);
    while (at->n_in && !xir_op_input(at->op, (int64_t)at->n_in - 1)) at->n_in--;
    if (at->given) memset((void *)at->given, 0, at->n_out * sizeof *at->given);
}

void opened_undo_all(conversion *c) {
    while (c->in.open) {
        xir_node at = { .c = c, .op = c->in.open->op, .opened = c->in.open };
        node_undo(&at);
    }
}

/* ---- copies ----------------------------------------------------------------------------------------------------- */

/* "y.3.name". The network copies it, so it takes its bytes twice. */
static bool name_of_copy(xir_node *at, size_t round, xir_str name, xir_str *out) {
    const xir_str prefix = at->opened->frame.prefix;
    char digits[24] = "";
    const size_t n = round == SIZE_MAX ? 0 : (size_t)snprintf(digits, sizeof digits, ".%zu", round);
    const size_t size = prefix.size + n + name.size + 2;
    char *text = node_affords(at, 2 * size) ? node_take(at, size) : NULL;
    if (!text) return false;
    memcpy(text, prefix.data, prefix.size);
    memcpy(text + prefix.size, digits, n);
    text[prefix.size + n] = '.';
    if (name.size) memcpy(text + prefix.size + n + 1, name.data, name.size);
    *out = (xir_str){ text, prefix.size + n + 1 + name.size };
    return true;
}

/* Position of the value among those that the node captures, as an input of the node; SIZE_MAX: it is not among them. */
static size_t captured_at(const xir_node *at, xir_str name) {
    const xir_any *names = source_tag_find(xir_op_tags(at->op), SOURCE_CAPTURES);
    const size_t n = names && names->kind == XIR_ANY_LIST ? names->as.list.size : 0, own = at->opened->n_in;
    for (size_t i = 0; i < n && n <= own; i++) {
        const xir_any *item = &names->as.list.items[i];
        if (item->kind == XIR_ANY_TEXT && xir_str_equal(item->as.text, name)) return own - n + i;
    }
    return SIZE_MAX;
}

/* Finds the value of the network that stands for one of the body. Params are copied once; a value from outside is an
 * input of the node. */
static bool find_value(xir_node *at, const xir_value *v, xir_value **out) {
    opened_node *o = at->opened;
    *out = v ? xir_mapping_value(o->map, v) : NULL;
    if (*out || !v) return true;
    const xir_str name = xir_value_name(v);
    if (xir_value_is_params(v)) {
        xir_str own;
        const xir_value *newest = at->c->net->all_params;
        *out = name_of_copy(at, SIZE_MAX, name, &own) ? xir_value_clone(v, at->c->net) : NULL;
        converted_params(at->c, newest);
        if (!*out || xir_value_set_name(*out, own)) return node_no_memory(at);
    } else if (!xir_value_op(v)) {
        const size_t i = captured_at(at, name);
        if (i == SIZE_MAX) {
            return xir_node_unsupported(at, "its body uses '%.*s', which is not an input of the node",
                                        CLIP_TO(name, 100));
        }
        *out = xir_op_input(at->op, (int64_t)i);
        if (!*out) return true;
    } else {
        return true;   /* an input that is absent, or the result of a later op */
    }
    return !xir_mapping_set(o->map, v, *out) || node_no_memory(at);
}

/* The attribute that a reference in a function's body stands for; NULL: the caller has not given it. */
static const xir_any *referred(const body_frame *frame, xir_str name) {
    while (frame && !frame->function) frame = frame->up;
    const xir_any *given = frame ? xir_map_find(frame->given, name) : NULL;
    return given || !frame || !frame->defaults ? given : xir_map_find(frame->defaults, name);
}

static bool has_params(const xir_any *any) {
    bool has = any->kind == XIR_ANY_PARAMS;
    const size_t n = any->kind == XIR_ANY_LIST ? any->as.list.size : any->kind == XIR_ANY_MAP ? any->as.map.size : 0;
    for (size_t i = 0; i < n && !has; i++)
        has = has_params(any->kind == XIR_ANY_LIST ? &any->as.list.items[i] : &any->as.map.entries[i].value);
    return has;
}

/* The value of an attribute for another op, whose Params are its own. */
static bool copy_any(xir_node *at, const xir_any *from, xir_any *out) {
    *out = *from;
    if (from->kind == XIR_ANY_PARAMS) {
        out->as.params = xir_value_clone(from->as.params, at->c->net);
        return out->as.params || node_no_memory(at);
    }
    const bool list = from->kind == XIR_ANY_LIST, map = from->kind == XIR_ANY_MAP;
    const size_t n = list ? from->as.list.size : map ? from->as.map.size : 0;
    xir_any *items = list ? node_take(at, (n + 1) * sizeof *items) : NULL;
    xir_entry *entries = map ? node_take(at, (n + 1) * sizeof *entries) : NULL;
    if ((list && !items) || (map && !entries)) return node_no_memory(at);
    for (size_t i = 0; i < n; i++) {
        if (map) entries[i].key = from->as.map.entries[i].key;
        if (!copy_any(at, list ? &from->as.list.items[i] : &from->as.map.entries[i].value,
                      list ? &items[i] : &entries[i].value)) return false;
    }
    if (list) *out = xir_any_list(items, n);
    if (map) *out = xir_any_map(entries, n);
    return true;
}

/* A text counts for each op that has it: files repeat it. */
static bool share(xir_node *at, xir_op *op, xir_str key, const xir_any *value) {
    const uint64_t bytes = any_text_bytes(value);
    if (!node_affords(at, bytes)) return false;
    at->c->bytes.constants += bytes;
    return !op_share_extra(op, key, value) || node_no_memory(at);
}

/* References to a function's attributes become what the caller gives, or their defaults; others are left out. What
 * contains no Params is shared: a function may have thousands of references to a long text. */
static bool resolve_references(xir_node *at, xir_op *copy, const xir_op *from) {
    const xir_map *extra = xir_op_extra(from);
    for (size_t i = 0; extra && i < extra->size; i++) {
        const xir_any *value = &extra->entries[i].value, *is;
        const xir_map *map = value->kind == XIR_ANY_MAP && value->as.map.size == 1 ? &value->as.map : NULL;
        const xir_any *name = xir_map_find(map, XIR_STR("onnx.ref"));
        xir_any own;
        if (!name || name->kind != XIR_ANY_TEXT) continue;
        is = referred(&at->opened->frame, name->as.text);
        const xir_str key = extra->entries[i].key;
        if (is && !has_params(is)) {
            if (!share(at, copy, key, is)) return false;
            continue;
        }
        const xir_value *newest = at->c->net->all_params;
        if (is && !copy_any(at, is, &own)) return false;
        converted_params(at->c, newest);
        if (xir_op_set_extra(copy, key, is ? &own : NULL)) return node_no_memory(at);
    }
    return true;
}

/* Notes the version of the operator set, if the function has another one than the network. */
static bool set_version(xir_node *at, xir_op *copy) {
    const body_frame *frame = &at->opened->frame;
    xir_str domain, type;
    while (frame && !frame->versions) frame = frame->up;
    const convert_class *cls = frame ? conversion_class(at->c, copy->cls) : NULL;
    if (!frame) return true;
    if (!cls) return node_no_memory(at);
    if (!cls->dialect) return true;
    convert_split_key(cls->dialect, xir_class_key(copy->cls), &domain, &type);
    const xir_any *version = xir_map_find(frame->versions, domain);
    if (!version || version->kind != XIR_ANY_INT || version->as.integer == cls->version) return true;
    return !xir_op_set_tag(copy, source_tag_key(SOURCE_VERSION), version) || node_no_memory(at);
}

/* The dims that a body declares need not be those of every round: only the elements and the rank stay. */
static bool open_dims_of(xir_node *at, xir_value *v) {
    const xir_type *type = xir_value_type(v);
    if (!at->opened->frame.unrolled || !type || !xir_type_as_tensor(type)) return true;
    const xir_ints dims = xir_node_make_ints(at, xir_type_rank(type), -1);
    type = dims.v ? xir_type_tensor(at->c->ctx, xir_type_element(type), NULL, dims.v, dims.n) : NULL;
    return (type && !xir_value_set_type(v, type)) || node_no_memory(at);
}

/* Names of the file are those of the body: copies get others. Names of dims mean nothing outside, since each round may
 * have other dims. */
static bool name_copy(xir_node *at, size_t round, xir_op *copy) {
    xir_str name;
    if (xir_op_name(copy).size && (!name_of_copy(at, round, xir_op_name(copy), &name) || xir_op_set_name(copy, name)))
        return node_no_memory(at);
    for (size_t i = 0; i < xir_op_output_count(copy); i++) {
        xir_value *v = xir_op_output(copy, (int64_t)i);
        if (source_tag_find(xir_value_tags(v), SOURCE_DIMS) && source_tag_set(v, SOURCE_DIMS, NULL))
            return node_no_memory(at);
        if (!open_dims_of(at, v)) return false;
        if (!xir_value_name(v).size) continue;
        if (!name_of_copy(at, round, xir_value_name(v), &name) || xir_value_set_name(v, name))
            return node_no_memory(at);
    }
    return true;
}

static bool copy_op(xir_node *at, size_t round, const xir_op *op) {
    conversion *c = at->c;
    opened_node *o = at->opened;
    for (size_t i = 0; i < xir_op_input_count(op); i++) {
        xir_value *unused;
        if (!find_value(at, xir_op_input(op, (int64_t)i), &unused)) return false;
    }
    if (!node_affords(at, sizeof *op + op->n_inputs * sizeof(xir_use))) return false;
    const xir_status before = xir_network_status(c->net);
    const xir_value *newest = c->net->all_params;
    xir_op *copy = xir_mapping_clone(o->map, op, at->op);
    converted_params(c, newest);
    if (!copy && xir_network_status(c->net) == XIR_E_MEMORY) return node_no_memory(at);
    if (!copy && !before) xir_network_clear_status(c->net);
    if (!copy) return xir_node_unsupported(at, "the nodes of its body are not in order");
    c->in.inlined++;
    c->in.unrolled += o->frame.unrolled;
    return (origin_note(c, copy, op, &o->frame) || node_no_memory(at)) && name_copy(at, round, copy) &&
           resolve_references(at, copy, op) && set_version(at, copy);
}

/* Returns true if the copies stay within the limits. */
static bool has_room(xir_node *at) {
    const xir_limits *most = &at->c->ctx->limits;
    const inlining *in = &at->c->in;
    const opened_node *o = at->opened;
    const uint64_t ends = (xir_network_input_op(o->body) != NULL) + (xir_network_output_op(o->body) != NULL);
    const uint64_t n = xir_network_op_count(o->body) - ends - (o->skipped != NULL);
    if (o->frame.unrolled && n > most->max_unrolled - (in->unrolled < most->max_unrolled ? in->unrolled
                                                                : most->max_unrolled))
        return xir_node_unsupported(at, "unrolled loops have more than %llu ops",
                                    (unsigned long long)most->max_unrolled);
    if (n <= most->max_inlined - (in->inlined < most->max_inlined ? in->inlined : most->max_inlined)) return true;
    return xir_node_unsupported(at, "branches, functions and loops have more than %llu ops",
                                (unsigned long long)most->max_inlined);
}

bool node_copy_body(xir_node *at, xir_value *const *args, size_t n, size_t round, xir_value ***results,
                    size_t *n_results) {
    opened_node *o = at->opened;
    const xir_op *input = xir_network_input_op(o->body), *output = xir_network_output_op(o->body);
    if (xir_node_failed(at) || !has_room(at)) return false;
    for (size_t i = 0; i < n; i++) {
        if (xir_mapping_set(o->map, xir_op_output(input, (int64_t)i), args[i])) return node_no_memory(at);
    }
    for (const xir_op *op = xir_network_first(o->body); op; op = xir_op_next(op)) {
        if (op == input || op == output || op == o->skipped) continue;
        if (!copy_op(at, round, op)) return false;
    }
    *n_results = output ? xir_op_input_count(output) : 0;
    *results = node_take(at, (*n_results + 1) * sizeof **results);
    if (!*results) return node_no_memory(at);
    for (size_t i = 0; i < *n_results; i++) {
        if (!find_value(at, xir_op_input(output, (int64_t)i), &(*results)[i])) return false;
    }
    o->rounds++;
    return true;
}

/* ---- lists ------------------------------------------------------------------------------------------------------ */

typedef struct kept_list { xir_op *op, *mark; bool had_body; } kept_list;

const value_list *conversion_list(const conversion *c, const xir_value *v) {
    const xir_op *op = v ? xir_value_op(v) : NULL;
    const uint32_t *i = op ? pointer_table_find(&c->in.list_of, v) : NULL;
    return i && *i < c->in.n_lists && c->in.lists[*i].id == op->id ? &c->in.lists[*i] : NULL;
}

bool node_result_list(xir_node *at, size_t i, const member_tree *v, bool optional) {
    conversion *c = at->c;
    inlining *in = &c->in;
    const xir_value *out = xir_op_output(at->op, (int64_t)i);
    if (c->no_memory) return node_no_memory(at);
    if (xir_node_failed(at) || !out) return !xir_node_failed(at);
    if (!mem_reserve(context_alloc(c->ctx), (void **)&in->lists, &in->list_room, in->n_lists + 1, sizeof *in->lists))
        return node_no_memory(at);
    uint32_t *place = pointer_table_add(&in->list_of, out, 0);
    if (!place) return node_no_memory(at);
    *place = (uint32_t)in->n_lists;
    in->lists[in->n_lists++] = (value_list){ at->op->id, v, members_count(v), optional };
    return at->makes_lists = true;
}

bool lists_reserve(xir_node *at) {
    inlining *in = &at->c->in;
    return mem_reserve(context_alloc(at->c->ctx), (void **)&in->kept, &in->kept_room, in->n_kept + 1,
                       sizeof *in->kept) || node_no_memory(at);
}

void lists_keep(xir_node *at) {
    inlining *in = &at->c->in;
    if (at->opened) drop_results(at->op, at->opened->n_in);
    in->kept[in->n_kept++] = (kept_list){ at->op, at->mark, at->opened != NULL };
}

/* A list of a body that something uses: an op of the dialect makes it from its members. If that takes too many bytes,
 * the node stays as it was in the file. */
static bool make_lists_of(xir_node *at) {
    for (size_t i = 0; i < xir_op_output_count(at->op); i++) {
        xir_value *old = xir_op_output(at->op, (int64_t)i);
        const value_list *list = conversion_list(at->c, old);
        if (!xir_value_uses(old)) continue;
        if (!list) return false;
        if (!node_affords(at, sizeof(xir_op) + list->n * 4 * sizeof(xir_use))) return true;
        const char *type = list->optional ? "Optional" : list->n ? "SequenceConstruct" : "SequenceEmpty";
        char key[100];
        snprintf(key, sizeof key, "%.40s%s", at->cls->dialect->prefix, type);
        const xir_type *none = NULL;
        xir_value *const *all = members_all(at, list->v);
        xir_op *op = xir_node_make_foreign(at, key, (xir_values){ all, all ? list->n : 0 }, XIR_NO_SETS, &none, 1);
        const xir_map *tags = xir_value_tags(old);
        if (!op && at->fate == NODE_STAYS)
            node_say(at, XIR_ERROR, XIR_E_UNSUPPORTED, NULL, "output %zu: no node makes this list", i);
        if (!op) return at->fate == NODE_STAYS || node_no_memory(at);
        xir_value *v = xir_op_output(op, 0);
        for (size_t k = 0; tags && k < tags->size; k++) {
            if (xir_value_set_tag(v, tags->entries[k].key, &tags->entries[k].value)) return node_no_memory(at);
        }
        if (xir_value_set_name(v, xir_value_name(old)) || xir_value_replace(old, v)) return node_no_memory(at);
        const convert_class *cls = conversion_class(at->c, op->cls);
        xir_node made = { .c = at->c, .op = op, .cls = cls, .fate = NODE_STAYS };
        snprintf(made.reason, sizeof made.reason, "a value is one tensor, not a list of tensors");
        if (!cls || !stayed_add(at->c, &made)) return node_no_memory(at);
    }
    return true;
}

xir_status lists_settle(conversion *c) {
    for (size_t i = c->in.n_kept; i-- > 0;) {
        const kept_list *k = &c->in.kept[i];
        const convert_class *cls = op_is_used(k->op) ? conversion_class(c, k->op->cls) : NULL;
        xir_node at = { .c = c, .op = k->op, .cls = cls };
        if (op_is_used(k->op) && !cls) return XIR_E_MEMORY;
        if (cls && k->had_body && !c->checking && !make_lists_of(&at)) return XIR_E_MEMORY;
        if (!op_is_used(k->op)) {
            if (xir_op_erase(k->op)) return XIR_E_MEMORY;
            c->changed++;
            continue;
        }
        if (c->changed) c->changed--;
        for (xir_op *op = xir_op_prev(k->op), *prev; op && op != k->mark; op = prev) {   /* made for its members */
            prev = xir_op_prev(op);
            if (!xir_class_is_opaque(op->cls) && !op_is_used(op) && xir_op_erase(op)) return XIR_E_MEMORY;
        }
        if (at.fate != NODE_STAYS)
            (void)xir_node_unsupported(&at, "a value is one tensor, not a list of tensors");
        if (!stayed_add(c, &at)) return XIR_E_MEMORY;
    }
    return XIR_OK;
}

/* ---- the end ---------------------------------------------------------------------------------------------------- */

void inlining_end(conversion *c) {
    const xir_allocator *alloc = context_alloc(c->ctx);
    inlining *in = &c->in;
    while (in->open) opened_close(c, in->open);
    for (size_t i = 0; i < in->n_functions; i++) xir_network_free(in->functions[i].net);
    pointer_table_free(&in->list_of);
    text_table_free(&in->function_of);
    called_end(c);
    mem_free(alloc, in->origins, in->origin_room * sizeof *in->origins);
    mem_free(alloc, in->lists, in->list_room * sizeof *in->lists);
    mem_free(alloc, in->kept, in->kept_room * sizeof *in->kept);
}
