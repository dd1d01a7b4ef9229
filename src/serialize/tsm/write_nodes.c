/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The nodes of a module that is written: ops in the order of execution, with the constants that each is the first to
 * use; their numbers, and their names. Tags say where the file of an unchanged network was different. */
#include "dialect/others.h"
#include "task.h"
#include "tsm/write.h"

/* ---- the nodes --------------------------------------------------------------------------------------------------- */

/* The operator that an op is, without "tsm::"; empty for another class. */
xir_str tsm_operator_of(const xir_op *op) {
    const xir_str key = op->cls->key;
    const bool own = key.size > 5 && memcmp(key.data, "tsm::", 5) == 0;
    return own ? (xir_str){ key.data + 5, key.size - 5 } : (xir_str){ NULL, 0 };
}

static bool is_input(const xir_op *op)  { return tsm_is(op->cls->key, "icraft::xir::Input"); }
static bool is_output(const xir_op *op) { return tsm_is(op->cls->key, "icraft::xir::Output"); }

static bool check_classes(tsm_writer *w) {
    char sentence[DIALECT_OTHERS];
    return dialect_has_all(w->net, XIR_STR("tsm::"), "TensorStack", "operator", "convert the network to them first",
                           sentence) || tsm_refuse(w, XIR_E_UNSUPPORTED, "%s", sentence);
}

/* Constants of several tensors are ops, and so are inputs that the network does not have. Variables never are. */
static bool check_kind(tsm_writer *w, const xir_op *op) {
    const xir_str name = tsm_operator_of(op);
    const tsm_kind kind = tsm_kind_of(name);
    const xir_any *value = kind == TSM_CONST ? xir_map_find(xir_op_extra(op), XIR_STR("value")) : NULL;
    const bool fits = kind == TSM_INPUT || (value && value->kind != XIR_ANY_NULL);
    return kind == TSM_OP || (fits && !op->n_inputs) ||
           tsm_refuse(w, XIR_E_UNSUPPORTED, "op %" PRId64 " '%.*s' cannot be %.*s: %s", op->id, CLIP(xir_op_name(op)),
                      CLIP(name), kind == TSM_VAR ? "variables exist in memory only"
                      : kind == TSM_CONST ? "a constant has a value and no inputs" : "an input has no inputs");
}

static bool add_node(tsm_writer *w, const xir_op *op, const xir_value *v) {
    if (w->n >= INT32_MAX) return tsm_refuse(w, XIR_E_LIMIT, "the network has 2^31 nodes or more");
    const uint32_t *place = pointer_table_add(&w->numbers, v, (uint32_t)w->n);
    if (!place || !mem_reserve(w->alloc, (void **)&w->nodes, &w->room, w->n + 1, sizeof *w->nodes))
        return tsm_no_memory(w);
    if (*place == w->n) w->nodes[w->n++] = (tsm_out_node){ op, v };
    return true;
}

static bool add_constants(tsm_writer *w, const xir_op *op) {
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const xir_value *v = op_inputs(op)[i].value;
        if (!v)
            return tsm_refuse(w, XIR_E_UNSUPPORTED,
                              "op %" PRId64 " '%.*s': input %" PRIu32 " is absent, which TSM cannot say", op->id,
                              CLIP(xir_op_name(op)), i);
        if (value_is_params(v) && !add_node(w, NULL, v)) return false;
    }
    return true;
}

static bool add_unused(tsm_writer *w) {
    const xir_map *extra = xir_op_extra(w->input);
    const xir_any *list = xir_map_find(extra, XIR_STR(TSM_ATTR_UNUSED));
    for (size_t i = 0; list && list->kind == XIR_ANY_LIST && i < list->as.list.size; i++)
        if (list->as.list.items[i].kind == XIR_ANY_PARAMS && !add_node(w, NULL, list->as.list.items[i].as.params))
            return false;
    return true;
}

static bool find_ends(tsm_writer *w) {
    for (const xir_op *op = w->net->first; op; op = op->next) {
        const xir_op **end = is_input(op) ? &w->input : is_output(op) ? &w->output : NULL;
        if (end && *end) return tsm_refuse(w, XIR_E_UNSUPPORTED, "there are two ops of class %.*s", CLIP(op->cls->key));
        if (end) *end = op;
        if (!end && op->n_outputs != 1)
            return tsm_refuse(w, XIR_E_UNSUPPORTED,
                              "op %" PRId64 " '%.*s' has %" PRIu32 " outputs: a node of TSM has one", op->id,
                              CLIP(xir_op_name(op)), op->n_outputs);
    }
    return true;
}

static void reach(const tsm_writer *w, const xir_op *op, bool *reached) {
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const uint32_t *place = pointer_table_find(&w->numbers, op_inputs(op)[i].value);
        if (place) reached[*place] = true;
    }
}

static bool lacks_inputs(const xir_op *op) {
    return op && !op->n_inputs && tsm_kind_of(tsm_operator_of(op)) != TSM_CONST;
}

/* TensorStack loads no operator without inputs, unless no output depends on it. */
static bool check_sources(tsm_writer *w) {
    bool any = false;
    for (size_t i = 0; i < w->n; i++) any |= lacks_inputs(w->nodes[i].op);
    if (!any || !w->output) return true;
    bool *reached = arena_take(&w->scratch, w->n * sizeof *reached);
    if (!reached) return tsm_no_memory(w);
    memset(reached, 0, w->n * sizeof *reached);
    reach(w, w->output, reached);
    for (size_t i = w->n; i-- > 0;) {
        const xir_op *op = reached[i] ? w->nodes[i].op : NULL;
        if (lacks_inputs(op))
            return tsm_refuse(w, XIR_E_UNSUPPORTED, "op %" PRId64 " '%.*s' has no inputs, and an output depends on it: "
                              "TensorStack does not load such an operator", op->id, CLIP(xir_op_name(op)));
        if (op) reach(w, op, reached);
    }
    return true;
}

static bool list_nodes(tsm_writer *w) {
    if (!check_classes(w) || !find_ends(w)) return false;
    for (uint32_t i = 0; w->input && i < w->input->n_outputs; i++)
        if (!add_node(w, NULL, &op_outputs(w->input)[i])) return false;
    if (!add_unused(w)) return false;
    for (const xir_op *op = w->net->first; op; op = op->next) {
        if (op == w->input || op == w->output) continue;
        if (!task_worked(TASK_PER_OBJECT)) return tsm_no_memory(w);
        if (!check_kind(w, op) || !add_constants(w, op) || !add_node(w, op, &op_outputs(op)[0])) return false;
    }
    return (!w->output || add_constants(w, w->output)) && check_sources(w);
}

/* The numbers in the file: as the tag says, if it is a permutation of the nodes. */
static bool number_nodes(tsm_writer *w) {
    const xir_any *tag = xir_map_find(w->net->tags, XIR_STR(TSM_TAG_NODES));
    const xir_list *list = tag && tag->kind == XIR_ANY_LIST && tag->as.list.size == w->n ? &tag->as.list : NULL;
    w->number_of = arena_take(&w->scratch, (w->n + 1) * sizeof *w->number_of);
    w->node_at = arena_take(&w->scratch, (w->n + 1) * sizeof *w->node_at);
    w->made = arena_take(&w->scratch, (w->n + 1) * sizeof *w->made);
    if (!w->number_of || !w->node_at || !w->made) return tsm_no_memory(w);
    for (size_t i = 0; i < w->n; i++) w->number_of[i] = UINT32_MAX;
    for (size_t i = 0; i < w->n; i++) w->made[i] = (xir_str){ NULL, 0 };
    for (size_t i = 0; list && i < w->n; i++) {
        const xir_any *place = &list->items[i];
        const bool fits = place->kind == XIR_ANY_INT && place->as.integer >= 0 && (uint64_t)place->as.integer < w->n &&
                          w->number_of[place->as.integer] == UINT32_MAX;
        if (fits) w->number_of[place->as.integer] = (uint32_t)i;
        else list = NULL;
    }
    for (size_t i = 0; i < w->n; i++) {
        if (!list) w->number_of[i] = (uint32_t)i;
        w->node_at[w->number_of[i]] = (uint32_t)i;
    }
    return true;
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

static const xir_map *tags_of(const tsm_out_node *n) {
    return n->op ? xir_op_tags(n->op) : xir_value_tags(n->value);
}

const xir_any *tsm_kept(const tsm_out_node *n, const char *key, xir_any_kind kind) {
    const xir_any *tag = xir_map_find(tags_of(n), XIR_STR(TSM_TAG_PARAMS));
    const xir_any *found = tag && tag->kind == XIR_ANY_MAP ? xir_map_find(&tag->as.map, xir_str_of(key)) : NULL;
    return found && found->kind == kind ? found : NULL;
}

static xir_str own_name(const tsm_out_node *n) {
    const xir_str name = n->op ? xir_op_name(n->op) : (xir_str){ NULL, 0 };
    return name.size ? name : xir_value_name(n->value);
}

/* A name that the file had although another node has it too, or although it is empty. */
static bool keeps_name(const tsm_out_node *n) {
    const xir_any *name = tsm_kept(n, "name", XIR_ANY_TEXT);
    return name && xir_str_equal(name->as.text, own_name(n));
}

/* Each stem has its own numbers. */
static bool make_name(tsm_writer *w, size_t place, xir_str stem) {
    char *text = arena_take(&w->scratch, stem.size + 1 + NUMBER_ROOM);
    uint32_t *last = text_table_add(&w->stems, stem, 0);
    if (!text || !last) return tsm_no_memory(w);
    uint64_t next = *last < place ? place : *last;
    if (stem.size) memcpy(text, stem.data, stem.size);
    text[stem.size] = '_';
    w->made[place] = text_table_unused(&w->names, text, stem.size + 1, &next);
    *last = (uint32_t)next;
    return text_table_add(&w->names, w->made[place], (uint32_t)place) || tsm_no_memory(w);
}

/* Names are unique, unless a file said otherwise. */
static bool name_nodes(tsm_writer *w) {
    bool unique = true;
    for (size_t i = 0; i < w->n; i++) {
        const xir_str name = own_name(&w->nodes[i]);
        if (keeps_name(&w->nodes[i])) continue;
        const uint32_t *known = name.size ? text_table_add(&w->names, name, (uint32_t)i) : NULL;
        if (name.size && !known) return tsm_no_memory(w);
        unique &= known && *known == i;
    }
    for (size_t i = 0; !unique && i < w->n; i++) {
        const tsm_out_node *n = &w->nodes[i];
        const xir_str name = own_name(n);
        if (keeps_name(n)) continue;
        const uint32_t *first = name.size ? text_table_find(&w->names, name) : NULL;
        const xir_str stem = name.size ? name : n->op ? tsm_operator_of(n->op) : XIR_STR("value");
        if ((!first || *first != i) && !make_name(w, i, stem)) return false;
    }
    return true;
}

xir_str tsm_name_of(const tsm_writer *w, size_t place) {
    return w->made[place].size ? w->made[place] : own_name(&w->nodes[place]);
}

bool tsm_list_nodes(tsm_writer *w) { return list_nodes(w) && number_nodes(w) && name_nodes(w); }
