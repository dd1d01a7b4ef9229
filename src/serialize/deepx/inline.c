/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Blocks in the place of their calls: a call becomes the lines of the block, with what the call gives in place of the
 * names of the head. A tensor that a block makes for itself gets a name of its own. A call that does not fit its block
 * stays, and so do all calls once the lines have taken most of the bytes that a conversion may make. Blocks in blocks
 * need no recursion: their calls are ops that come next. */
#include <stdio.h>
#include <xir/deepx.h>
#include "deepx/blocks.h"

typedef struct meaning {
    xir_str     text;       /* of a parameter that is not a tensor, and of a var                */
    xir_value **values;     /* NULL: a text                                                     */
    size_t      n;
    bool        list;
    xir_str     name;       /* of the tensors that are written                                  */
    const xir_type *type;   /* of a return slot whose tensor nothing has made                   */
    int64_t     version;    /* of the value                                                     */
} meaning;

typedef struct inlining {
    xir_network       *net;
    xir_op            *op;       /* the call                                                     */
    const deepx_block *block;
    deepx_binding      binding;
    arena              scratch;
    text_table         names;    /* -> index in `means`                                          */
    meaning           *means;
    size_t             n, room;
    deepx_slots        slots;
    buffer             types;
    dialect_list       in;       /* xir_value *: inputs of the op that is made                  */
    dialect_list       out;      /* uint32_t: what its outputs mean                              */
    dialect_list       attrs;    /* xir_entry                                                    */
    bool               no_memory;
} inlining;

static bool memory(inlining *t, bool ok) {
    t->no_memory |= !ok;
    return ok;
}

static void *add_item(inlining *t, dialect_list *list, size_t size) {
    const bool ok = mem_reserve(t->slots.alloc, &list->data, &list->room, list->size + 1, size);
    return memory(t, ok) ? (char *)list->data + size * list->size++ : NULL;
}

/* ---- names ------------------------------------------------------------------------------------------------------ */

static meaning *find(inlining *t, xir_str name) {
    const uint32_t *at = text_table_find(&t->names, name);
    return at ? &t->means[*at] : NULL;
}

static meaning *add_meaning(inlining *t, xir_str name) {
    uint32_t *at = text_table_add(&t->names, name, (uint32_t)t->n);
    if (!memory(t, at && mem_reserve(t->slots.alloc, (void **)&t->means, &t->room, t->n + 1, sizeof *t->means)))
        return NULL;
    *at = (uint32_t)t->n;
    t->means[t->n] = (meaning){ .values = NULL };
    return &t->means[t->n++];
}

/* "mean.3.mm": a tensor or a var that the block has for itself. */
static bool name_own(inlining *t, xir_str name, xir_str *out) {
    char id[40];
    const int n = snprintf(id, sizeof id, ".%" PRId64 ".", t->op->id);
    const xir_str block = t->block->name;
    char *text = arena_take(&t->scratch, block.size + (size_t)n + name.size + 1);
    if (!memory(t, text)) return false;
    memcpy(text, block.data, block.size);
    memcpy(text + block.size, id, (size_t)n);
    memcpy(text + block.size + n, name.data, name.size);
    *out = (xir_str){ text, block.size + (size_t)n + name.size };
    return true;
}

static int64_t version_of(const xir_value *v) {
    const xir_any *tag = xir_map_find(xir_value_tags(v), XIR_STR(DEEPX_TAG_VERSION));
    return tag && tag->kind == XIR_ANY_INT ? tag->as.integer : 0;
}

/* A return slot means what its tensor holds before the call. */
static bool take_return(inlining *t, size_t formal, size_t own) {
    const deepx_actual *actual = &t->binding.actuals[formal];
    meaning *m = add_meaning(t, t->block->formals[formal].name);
    if (!m || actual->list || !actual->values) return false;
    const size_t at = own + xir_value_index(actual->values[0]);
    m->values = arena_take(&t->scratch, sizeof *m->values);
    if (!memory(t, m->values)) return false;
    m->values[0] = at < t->op->n_inputs ? op_inputs(t->op)[at].value : NULL;
    m->n = 1;
    m->name = xir_value_name(actual->values[0]);
    m->version = version_of(m->values[0]);
    m->type = deepx_formal_type(t->net, &t->binding, t->block->formals[formal].type);
    return true;
}

static bool take_head(inlining *t) {
    size_t own = 0;
    for (size_t i = 0; i < t->block->n_params; i++) {
        const deepx_actual *actual = &t->binding.actuals[i];
        meaning *m = add_meaning(t, t->block->formals[i].name);
        if (!m) return false;
        *m = (meaning){ .text = actual->text, .values = actual->values, .n = actual->n, .list = actual->list };
        own += actual->n;
    }
    for (size_t i = t->block->n_params; i < t->block->n_formals; i++)
        if (!take_return(t, i, own)) return false;
    return true;
}

/* ---- texts ------------------------------------------------------------------------------------------------------ */

/* "?1x3" and "[?1 3]" as the list of their numbers. */
static bool put_dims(inlining *t, xir_str text, xir_str *out) {
    buffer b;
    const bool list = *text.data == '[';
    const char *p = text.data + list, *end = text.data + text.size - list;
    bool ok = true;
    buffer_init(&b, t->slots.alloc);
    buffer_char(&b, '[');
    while (p < end && ok) {
        while (p < end && (*p == 'x' || *p == ',' || deepx_is_blank(*p))) p++;
        const char *start = p;
        while (p < end && *p != 'x' && *p != ',' && !deepx_is_blank(*p)) p++;
        if (p == start) break;
        char digits[NUMBER_ROOM];
        int64_t size = 0;
        const xir_str item = { start, (size_t)(p - start) };
        if (b.size > 1) buffer_char(&b, ' ');
        if (*start == '?') ok = deepx_dim_size(&t->binding, item, &size);
        if (*start == '?') buffer_put(&b, digits, number_put_u64(digits, (uint64_t)size));
        else buffer_put(&b, start, item.size);
    }
    buffer_char(&b, ']');
    char *copy = b.failed || !ok ? NULL : arena_copy(&t->scratch, b.data, b.size);
    *out = (xir_str){ copy, b.size };
    if (ok) memory(t, copy);
    buffer_free(&b);
    return copy;
}

/* Finds the text that stands for one of a line where the block is called. */
static bool put_text(inlining *t, xir_str text, xir_str *out) {
    const meaning *m = find(t, text);
    *out = text;
    if (m) {
        *out = m->text;
        return !m->values;
    }
    const bool open = *text.data == '[' && memchr(text.data, '?', text.size);
    return !(open || deepx_is_shape(text)) || put_dims(t, text, out);
}

static bool add_attr(inlining *t, bool ret, size_t i, xir_str text) {
    char room[DEEPX_KEY_ROOM];
    const xir_str key = deepx_slot_key(room, ret, i);
    char *copy = arena_copy(&t->scratch, key.data, key.size);
    xir_entry *e = memory(t, copy) ? add_item(t, &t->attrs, sizeof *e) : NULL;
    if (e) *e = (xir_entry){ { copy, key.size }, xir_any_text(text) };
    return e;
}

/* ---- slots ------------------------------------------------------------------------------------------------------ */

static bool add_input(inlining *t, xir_value *v) {
    xir_value **place = v ? add_item(t, &t->in, sizeof *place) : NULL;
    if (place) *place = v;
    return place;
}

/* A tensor that the line uses: a name of the head or of a line before. */
static bool use(inlining *t, xir_str name, size_t *n) {
    const meaning *m = find(t, name);
    if (!m || !m->values) return false;
    for (size_t i = 0; i < m->n; i++, (*n)++)
        if (!add_input(t, m->values[i])) return false;
    return true;
}

static bool make(inlining *t, xir_str name) {
    meaning *m = find(t, name);
    xir_str own;
    if (!m) {
        if (!name_own(t, name, &own) || !(m = add_meaning(t, name))) return false;
        m->values = arena_take(&t->scratch, sizeof *m->values);
        if (!memory(t, m->values)) return false;
        m->values[0] = NULL;
        m->n = 1;
        m->version = -1;
        m->name = own;
    }
    uint32_t *place = m->values && m->n == 1 ? add_item(t, &t->out, sizeof *place) : NULL;
    if (place) *place = (uint32_t)(m - t->means);
    return place;
}

/* A var that a line sets has a name of its own. */
static bool set_var(inlining *t, size_t i, xir_str name) {
    meaning *m = find(t, name);
    xir_str own;
    if (m && m->values) return false;
    if (!m) {
        if (!name_own(t, name, &own) || !(m = add_meaning(t, name))) return false;
        m->text = own;
    }
    return add_attr(t, true, i, m->text);
}

static bool add_slot(inlining *t, const deepx_line *line, size_t i) {
    const deepx_slot *slot = &line->slots[i];
    const bool ret = i >= line->n_args;
    const size_t at = ret ? i - line->n_args : i;
    const meaning *m = ret ? NULL : find(t, slot->value);
    deepx_slot_kind kind = deepx_kind_in_block(line, slot);
    xir_str text = slot->value, item;
    size_t n = 0;
    if (m) kind = !m->values ? DEEPX_SLOT_TEXT : m->list ? DEEPX_SLOT_TENSORS : DEEPX_SLOT_TENSOR;
    buffer_char(&t->types, '_');
    if (kind == DEEPX_SLOT_TEXT && ret) return set_var(t, at, text);
    if (kind == DEEPX_SLOT_TEXT) return put_text(t, text, &text) && add_attr(t, false, at, text);
    if (kind == DEEPX_SLOT_TENSORS && !m) text = deepx_inner(text);
    while (deepx_next_item(&text, &item)) {
        if (!(ret ? make(t, item) : use(t, item, &n))) return false;
    }
    if (kind == DEEPX_SLOT_TENSOR) return true;
    char digits[NUMBER_ROOM];
    buffer_char(&t->types, '*');
    buffer_put(&t->types, digits, number_put_u64(digits, n));
    return true;
}

/* ---- types of outputs ------------------------------------------------------------------------------------------- */

static const xir_type *shaped(inlining *t, const xir_type *element, xir_str list) {
    int64_t dims[DEEPX_MOST_DIMS];
    xir_str items = deepx_inner(deepx_unquoted(list)), item;
    size_t rank = 0;
    while (deepx_next_item(&items, &item))
        if (rank == DEEPX_MOST_DIMS || !deepx_dim_size(&t->binding, item, &dims[rank++])) return NULL;
    return deepx_tensor_type(t->net, element, dims, rank);
}

static xir_str attr_text(const inlining *t, const char *key) {
    const xir_entry *e = t->attrs.data;
    for (size_t i = 0; i < t->attrs.size; i++) if (xir_str_equal(e[i].key, xir_str_of(key))) return e[i].value.as.text;
    return (xir_str){ "", 0 };
}

/* As for the calls of a file: newtensor gives a type, reshape a shape, and the rest keeps the type before. */
static const xir_type *type_of(inlining *t, const deepx_line *line, const meaning *m, size_t element) {
    const xir_value *former = m->values[0];
    const xir_type *type = former ? former->type : m->type;
    if (xir_str_equal(line->name, XIR_STR("newtensor"))) {
        const deepx_slot *ret = &line->slots[line->n_args];
        if (element == SIZE_MAX && ret->type.size) element = deepx_element_of(ret->is.precision);
        const element_code *code = element_code_at(&deepx_elements, element);
        return shaped(t, element_code_type(t->net->ctx, code), attr_text(t, "arg0"));
    }
    if (type && xir_str_equal(line->name, XIR_STR("reshape"))) {
        const xir_type *made = shaped(t, xir_type_element(type), attr_text(t, "arg1"));
        return made ? made : type;
    }
    return type;
}

/* ---- one line --------------------------------------------------------------------------------------------------- */

static const xir_class *class_of(inlining *t, xir_str function) {
    char *key = arena_take(&t->scratch, function.size + 8);
    if (!memory(t, key)) return NULL;
    memcpy(key, "deepx::", 7);
    memcpy(key + 7, function.data, function.size);
    const xir_class *cls = xir_class_opaque(t->net->ctx, (xir_str){ key, function.size + 7 });
    return memory(t, cls) ? cls : NULL;
}

/* All texts of the line at once: a copy for each would be quadratic in their number. */
static bool set_attributes(inlining *t, xir_op *op) {
    xir_entry *types = add_item(t, &t->attrs, sizeof *types);
    op_more *more = types ? op_need_more(op) : NULL;
    xir_any map, copy;
    if (!more) return false;
    *types = (xir_entry){ XIR_STR(DEEPX_TYPES), xir_any_text((xir_str){ t->types.data, t->types.size }) };
    if (!entries_sort(&t->scratch, t->attrs.data, t->attrs.size)) return false;
    map = xir_any_map(t->attrs.data, t->attrs.size);
    xir_map *extra = arena_take(&t->net->arena, sizeof *extra);
    if (!extra || !any_copy(&t->net->arena, &map, &copy)) return false;
    *extra = copy.as.map;
    more->extra = extra;
    return true;
}

static bool finish_op(inlining *t, xir_op *op) {
    const uint32_t *out = t->out.data;
    bool ok = set_attributes(t, op);
    for (size_t i = 0; i < t->out.size && ok; i++) {
        meaning *m = &t->means[out[i]];
        const xir_any version = xir_any_int(++m->version);
        ok = !xir_value_set_name(&op_outputs(op)[i], m->name) &&
             (!m->version || !xir_value_set_tag(&op_outputs(op)[i], XIR_STR(DEEPX_TAG_VERSION), &version));
        m->values[0] = &op_outputs(op)[i];
    }
    return memory(t, ok);
}

static bool add_line(inlining *t, xir_str text) {
    deepx_place quiet = { .text = text.data, .line = text.data, .quiet = true };
    deepx_line line;
    size_t element = SIZE_MAX;
    if (!deepx_read_line(&quiet, &t->slots, text, &line)) return memory(t, quiet.status != XIR_E_MEMORY) && false;
    t->types.size = t->in.size = t->out.size = t->attrs.size = 0;
    const bool fresh = xir_str_equal(line.name, XIR_STR("newtensor")) && line.n_rets == 1;
    const bool typed = fresh && line.n_args == 2;   /* newtensor(?1x3, f32)->(t) */
    if (typed) element = deepx_element_word(line.slots[1].value);
    for (size_t i = 0; i < line.n_args + line.n_rets; i++) {
        if (i == line.n_args) buffer_str(&t->types, i ? " -> " : "-> ");
        else if (i && !(typed && i == 1)) buffer_str(&t->types, ", ");
        if (!(typed && i == 1) && !add_slot(t, &line, i)) return false;
    }
    if (!line.n_rets) buffer_str(&t->types, line.n_args ? " ->" : "->");
    const size_t n = t->out.size;
    const uint32_t *out = t->out.data;
    const xir_type **types = arena_take(&t->scratch, (n + 1) * sizeof *types);
    const xir_class *cls = memory(t, types && !t->types.failed) ? class_of(t, line.name) : NULL;
    if (!cls) return false;
    for (size_t i = 0; i < n; i++) {
        const meaning *m = &t->means[out[i]];
        types[i] = type_of(t, &line, m, element);
        if (m->values[0] && !fresh && !add_input(t, m->values[0])) return false;
    }
    const xir_op_desc desc = XIR_INIT(xir_op_desc, .cls = cls, .inputs = t->in.data, .n_inputs = t->in.size,
                                      .types = types, .n_types = n, .id = XIR_NO_ID, .before = t->op);
    xir_op *made = xir_network_add(t->net, &desc);
    return memory(t, made) && finish_op(t, made);
}

/* ---- one call --------------------------------------------------------------------------------------------------- */

/* The values that the block has written take the places of the call's. */
static bool replace_call(inlining *t) {
    for (size_t i = t->block->n_params; i < t->block->n_formals; i++) {
        const meaning *m = find(t, t->block->formals[i].name);
        if (!memory(t, !xir_value_replace(t->binding.actuals[i].values[0], m->values[0]))) return false;
    }
    return memory(t, !xir_op_erase(t->op));
}

/* The ops that were made for a call that stays. */
static void undo(const inlining *t, const xir_op *before) {
    while (t->op->prev != before && !xir_op_erase(t->op->prev)) {}
}

static bool inline_call(inlining *t, bool *changed) {
    const xir_op *before = t->op->prev;
    arena_init(&t->scratch, t->slots.alloc);
    text_table_init(&t->names, t->slots.alloc);
    t->n = 0;
    const xir_status status = deepx_bind(t->op, t->block, &t->scratch, &t->binding);
    bool ok = memory(t, status != XIR_E_MEMORY) && !status && take_head(t);
    for (size_t i = 0; i < t->block->n_lines && ok; i++) ok = add_line(t, t->block->lines[i].text);
    if (!ok) undo(t, before);
    *changed |= ok;
    if (ok) replace_call(t);
    text_table_free(&t->names);
    arena_free(&t->scratch);
    return !t->no_memory;
}

/* The most bytes that the arena of the network may have handed out: a quarter of those that a conversion may make is
 * for what the lines become. */
static uint64_t most_bytes(const xir_network *net) {
    const uint64_t most = net_converted_most(net);
    uint64_t all;
    return add_u64(most - most / 4, net->arena.taken, &all) ? all : UINT64_MAX;
}

xir_status xir_deepx_inline(xir_network *net, bool *replaced) {
    deepx_blocks blocks;
    if (!net) return XIR_E_MISSING;
    const xir_allocator *alloc = context_alloc(net->ctx);
    inlining t = { .net = net, .slots = { .alloc = alloc } };
    *replaced = false;
    buffer_init(&t.types, alloc);
    bool ok = deepx_blocks_begin(&blocks, net);
    if (ok && blocks.n && deepx_blocks_size(&blocks, net) <= deepx_blocks_most(net)) {
        const uint64_t most = most_bytes(net);
        for (xir_op *op = net->first, *next; op && ok && net->arena.taken < most; op = next) {
            xir_op *before = op->prev;
            next = op->next;
            t.op = op;
            t.block = deepx_block_of(&blocks, op);
            if (!t.block || t.block->status) continue;
            bool now = false;
            ok = inline_call(&t, &now);
            *replaced |= now;
            if (now && ok) next = before ? before->next : net->first;   /* its lines may call other blocks */
        }
    }
    deepx_blocks_end(&blocks);
    deepx_slots_free(&t.slots);
    buffer_free(&t.types);
    mem_free(alloc, t.means, t.room * sizeof *t.means);
    mem_free(alloc, t.in.data, t.in.room * sizeof(xir_value *));
    mem_free(alloc, t.out.data, t.out.room * sizeof(uint32_t));
    mem_free(alloc, t.attrs.data, t.attrs.room * sizeof(xir_entry));
    return ok ? XIR_OK : net_no_memory(net);
}
