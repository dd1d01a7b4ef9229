/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A line of an operator. */
#include "pnnx/pnnx.h"

static pnnx_item item_of(xir_str word) {
    const char first = word.data[0];
    pnnx_item item = { .whole = word, .kind = first == '@' ? PNNX_ATTR : first == '$' ? PNNX_SLOT
                                            : first == '#' ? PNNX_SHAPE : PNNX_PARAM };
    const size_t sign = item.kind != PNNX_PARAM;
    const char *equals = memchr(word.data, '=', word.size), *end = word.data + word.size;
    const char *stop = equals ? equals : end;
    item.key = (xir_str){ word.data + sign, (size_t)(stop - word.data) - sign };
    item.value = (xir_str){ equals ? equals + 1 : end, equals ? (size_t)(end - equals) - 1 : 0 };
    return item;
}

bool pnnx_gather_items(pnnx_reader *r, pnnx_head *head) {
    xir_str word;
    r->items.size = 0;
    while (pnnx_next_word(&head->rest, &word)) {
        if (word.size == 1 && word.data[0] == '=') {   /* how PNNX saves the blank at the end of a line */
            r->differs = true;
            continue;
        }
        pnnx_item *item = dialect_add(&r->d, &r->items, sizeof *item);
        if (!item) return false;
        *item = item_of(word);
    }
    return true;
}

/* ---- operands by name ------------------------------------------------------------------------------------------ */

#define NONE UINT32_MAX   /* no operand */

static xir_str operand_name(const pnnx_reader *r, size_t i) {
    const dialect_node *n = &r->d.node;
    return i < n->in.size ? ((const dialect_ref *)n->in.data)[i].text
                          : ((const dialect_ref *)n->out.data)[i - n->in.size].text;
}

/* The operands of the op by name: inputs, then outputs. Made only for ops whose items are in an unusual order. */
static bool make_table(pnnx_reader *r) {
    const size_t n = r->d.node.in.size + r->d.node.out.size;
    if (r->has_table) return true;
    text_table_free(&r->operands);
    text_table_init(&r->operands, r->d.alloc);
    r->others.size = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t *next = dialect_add(&r->d, &r->others, sizeof *next);
        if (!next) return false;
        *next = NONE;
    }
    uint32_t *others = r->others.data;
    for (size_t i = n; i-- > 0;) {
        uint32_t *first = text_table_add(&r->operands, operand_name(r, i), (uint32_t)i);
        if (!first) return trace_memory(&r->d.trace);
        if (*first != i) others[i] = *first;
        *first = (uint32_t)i;
    }
    return r->has_table = true;
}

static void warn(pnnx_reader *r, const pnnx_item *item, const char *what) {
    enum { COUNTED = 100 };   /* at most so many findings get line numbers: each costs a scan from the start */
    char text[200];
    const xir_str name = item->kind == PNNX_SLOT ? item->value : item->key;
    if (diag_is_counted(r->d.how->why, XIR_WARNING, XIR_OK)) return;
    bool counted = xir_diags_count(r->d.how->why) < COUNTED;
    uint32_t line = counted;
    for (const char *p = r->text.data; counted && p < item->whole.data; p++) line += *p == '\n';
    snprintf(text, sizeof text, "'%.*s' is not %s of the operator: the item is ignored", CLIP(name), what);
    xir_diags_append(r->d.how->why, &(xir_diag){
        .severity = XIR_WARNING, .file = r->d.how->name, .byte = (uint64_t)(item->whole.data - r->text.data),
        .line = line, .message = xir_str_of(text) });
}

static bool has_slot(const pnnx_reader *r, size_t i) {
    const dialect_list *slots = &r->d.node.slots;
    return i < slots->size && ((const xir_any *)slots->data)[i].kind != XIR_ANY_NULL;
}

/* "$input=3": a name of the next input of this operand that has none. */
static bool read_slots(pnnx_reader *r) {
    const pnnx_item *items = r->items.data;
    const dialect_ref *in = r->d.node.in.data;
    const size_t n_in = r->d.node.in.size;
    size_t next = 0;
    for (size_t k = 0; k < r->items.size; k++) {
        if (items[k].kind != PNNX_SLOT) continue;
        const pnnx_item *item = &items[k];
        size_t i = next;
        while (!r->has_table && i < n_in && !xir_str_equal(in[i].text, item->value)) i++;
        if (r->has_table || i == n_in) {
            if (!make_table(r)) return false;
            uint32_t *first = text_table_find(&r->operands, item->value), *others = r->others.data;
            while (first && *first != NONE && has_slot(r, *first)) *first = others[*first];
            i = first ? *first : NONE;
            r->differs = true;
        }
        if (i >= n_in || !item->key.size) {
            warn(r, item, "an input");
            r->differs = true;
            continue;
        }
        if (!dialect_node_slot(&r->d, i, item->key)) return false;
        if (i + 1 > next) next = i + 1;
    }
    r->has_table = false;
    return true;
}

/* ---- shapes ---------------------------------------------------------------------------------------------------- */

static bool drop_type(pnnx_reader *r, xir_value *v) {
    const xir_map *tags = xir_value_tags(v), *kept = NULL;
    for (size_t i = 0; tags && i < tags->size; i++) {
        bool own = xir_str_equal(tags->entries[i].key, xir_str_of(PNNX_TAG_TYPE)) ||
                   source_tag_is(SOURCE_DIMS, tags->entries[i].key);
        if (!own && !map_with(&r->d.net->arena, kept, tags->entries[i].key, &tags->entries[i].value, &kept))
            return trace_memory(&r->d.trace);
    }
    if (value_more_of(v)) value_more_of(v)->tags = kept;
    v->type = NULL;
    return true;
}

static bool is_declared_so(const xir_value *v, const dialect_declared *declared) {
    if (v->type || declared->type) return v->type == declared->type && !declared->tags;
    const xir_any *tag = value_more_of(v) ? xir_map_find(value_more_of(v)->tags, XIR_STR(PNNX_TAG_TYPE)) : NULL;
    return tag && xir_any_equal(tag, &declared->tags->entries[0].value);
}

/* Declares the shape of a value; the last declaration counts. */
static bool declare(pnnx_reader *r, xir_value *v, const pnnx_item *item) {
    dialect_declared declared;
    pnnx_shape s;
    const xir_str text = item->value;
    pnnx_shape_memo *memo = &r->shapes[hash_text(r->d.names.seed, text.data, text.size) % PNNX_SHAPE_MEMOS];
    if (memo->text.data && xir_str_equal(memo->text, text)) {
        declared = memo->declared;
    } else {
        if (!pnnx_read_shape(r, text, false, &s) || !pnnx_shape_declared(r, &s, &declared)) return false;
        r->differs |= !s.same;
        *memo = (pnnx_shape_memo){ text, declared };
    }
    if (pnnx_has_shape(v)) {
        if (is_declared_so(v, &declared)) return true;
        r->differs = true;
        if (!drop_type(r, v)) return false;
    }
    v->type = declared.type;
    return dialect_value_tags(&r->d, v, declared.tags);
}

static xir_value *operand(const xir_op *op, size_t i) {
    return i < op->n_inputs ? op_inputs(op)[i].value : &op_outputs(op)[i - op->n_inputs];
}

/* Items of shapes are expected in the order of the operands. */
static bool read_shapes(pnnx_reader *r, const xir_op *op) {
    const pnnx_item *items = r->items.data;
    const size_t n = r->d.node.in.size + r->d.node.out.size;
    size_t next = 0, declared = 0;
    for (size_t k = 0; k < r->items.size; k++) {
        if (items[k].kind != PNNX_SHAPE) continue;
        size_t i = next;
        while (!r->has_table && i < n && !xir_str_equal(operand_name(r, i), items[k].key)) i++;
        if (r->has_table || i == n) {
            if (!make_table(r)) return false;
            const uint32_t *first = text_table_find(&r->operands, items[k].key);
            r->differs = true;
            if (!first) {
                warn(r, &items[k], "an operand");
                continue;
            }
            i = *first;
        }
        if (!declare(r, operand(op, i), &items[k])) return false;
        next = i + 1;
        declared++;
    }
    r->has_bare |= declared < n;
    r->has_table = false;
    return true;
}

/* ---- the op ---------------------------------------------------------------------------------------------------- */

static bool read_result(pnnx_reader *r, pnnx_head *head, xir_str name) {
    const char *first = head->rest.p;
    if (!pnnx_gather_items(r, head)) return false;
    const pnnx_item *items = r->items.data;
    const dialect_ref ref = dialect_name(&r->d, name);
    pnnx_end_line *line = dialect_add(&r->d, &r->ends[1], sizeof *line);
    xir_value *v = line && dialect_output(&r->d, ref, NULL) ? dialect_use(&r->d, ref) : NULL;
    if (!v) return false;
    *line = (pnnx_end_line){ head->type, head->name, { first, (size_t)(head->rest.end - first) },
                             r->line };
    for (size_t i = 0; i < r->items.size; i++) {
        if (items[i].kind != PNNX_SHAPE || !xir_str_equal(items[i].key, name)) continue;
        if (!declare(r, v, &items[i])) return false;
    }
    return true;
}

bool pnnx_read_op(pnnx_reader *r, pnnx_head *head) {
    dialect *d = &r->d;
    xir_str name;
    dialect_node_begin(d);
    for (uint32_t i = 0; i < head->n_in; i++) {
        if (!pnnx_read_operand(r, head, i, head->n_in, "inputs", &name)) return false;
        if (head->end == PNNX_OUTPUT) return read_result(r, head, name);
        if (!dialect_node_in(d, name)) return false;
    }
    for (uint32_t i = 0; i < head->n_out; i++) {
        if (!pnnx_read_operand(r, head, i, head->n_out, "outputs", &name) || !dialect_node_out(d, name)) return false;
    }
    if (!dialect_node_type(d, XIR_STR(""), head->type) || !pnnx_gather_line(r, head) ||
        !pnnx_read_attributes(r, head->name) || !read_slots(r)) return false;
    const xir_op *op = dialect_node_end(d, head->name);
    r->n_values += head->n_out;
    return op && read_shapes(r, op);
}
