/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* PNNX as a dialect (docs/pnnx.md): the words for its operators, and what the network needs before they are converted:
 * a tuple that is a result of the network becomes its items, and so do the results of one that is taken apart again. */
#include <stdio.h>
#include <string.h>
#include "graph.h"
#include "pnnx/pnnx.h"

static const char construct[] = "TupleConstruct", unpack[] = "TupleUnpack",
                  unlist[] = "ListUnpack";

static bool is_prim(const xir_op *op, const char *type) { return op_is_of(op, "pnnx::prim::", type); }

/* The tuple that an input of an op is, or NULL. */
static xir_op *tuple_at(const xir_op *op, size_t i) {
    const xir_value *v = xir_op_input(op, (int64_t)i);
    xir_op *made_by = v ? xir_value_op(v) : NULL;
    return is_prim(made_by, construct) && made_by != op ? made_by : NULL;
}

/* The items of tuples in place of the tuples, and of the tuples among them. Tuples of a malformed file may contain
 * themselves, or be empty and many: depth and steps are bounded. */
enum { MOST_DEPTH = 64, MOST_STEPS = 1 << 17 };
typedef struct items { xir_value **v; size_t n, steps; } items;

static bool collect(const xir_op *op, items *to, int depth) {
    const size_t n = xir_op_input_count(op);
    if (depth > MOST_DEPTH) return false;
    for (size_t i = 0; i < n; i++) {
        const xir_op *tuple = tuple_at(op, i);
        if (++to->steps > MOST_STEPS || (tuple && !collect(tuple, to, depth + 1))) return false;
        if (tuple) continue;
        if (to->v) to->v[to->n] = xir_op_input(op, (int64_t)i);
        to->n++;
    }
    return true;
}

/* Beyond the bounds the tuples are kept. */
static xir_status spread(xir_op *op) {
    items all = { NULL, 0, 0 };
    if (!collect(op, &all, 0)) return XIR_OK;
    const xir_allocator *alloc = context_alloc(xir_network_context(xir_op_network(op)));
    const size_t bytes = (all.n + 1) * sizeof *all.v;
    all = (items){ mem_new(alloc, bytes), 0, 0 };
    if (!all.v) return XIR_E_MEMORY;
    (void)collect(op, &all, 0);
    bool changes = all.n != xir_op_input_count(op);
    for (size_t i = 0; i < all.n && !changes; i++) changes = all.v[i] != xir_op_input(op, (int64_t)i);
    xir_status status = xir_op_set_inputs(op, all.v, all.n);
    mem_free(alloc, (void *)all.v, bytes);
    /* The file's statements about the lines of the results concern the tuples. */
    if (!status && changes) status = xir_op_set_tag(op, XIR_STR("pnnx.lines"), NULL);
    return status;
}

/* The outputs of an Unpack of what a module makes, a tuple that nothing else uses, become the module's outputs. */
static xir_status given(xir_op *op, xir_op *module) {
    enum { MOST_OUTPUTS = 16 };
    const xir_type *types[MOST_OUTPUTS];
    const size_t n = xir_op_output_count(op);
    for (size_t i = 0; i < n && i < MOST_OUTPUTS; i++) types[i] = xir_value_type(xir_op_output(op, (int64_t)i));
    const size_t had = xir_op_output_count(module);   /* n if memory ran out in the loop below */
    const xir_use *use = had ? xir_value_uses(xir_op_output(module, 0)) : NULL;
    if (!n || n > MOST_OUTPUTS || (had != 1 && had != n) || !use || xir_use_next(use)) return XIR_OK;
    xir_status status = xir_op_set_outputs(module, types, n);
    for (size_t i = 0; i < n && !status; i++)
        status = xir_value_set_name(xir_op_output(module, (int64_t)i), xir_value_name(xir_op_output(op, (int64_t)i)));
    if (!status) xir_op_clear_inputs(op);
    for (size_t i = 0; i < n && !status; i++)
        status = xir_value_replace(xir_op_output(op, (int64_t)i), xir_op_output(module, (int64_t)i));
    return status ? status : xir_op_erase(op);
}

/* The outputs of an Unpack of a tuple are the tuple's items. */
static xir_status unpacked(xir_op *op) {
    const xir_value *v = xir_op_input_count(op) == 1 ? xir_op_input(op, 0) : NULL;
    xir_op *module = v ? xir_value_op(v) : NULL;
    const bool is_module = module && module != xir_network_input_op(xir_op_network(op)) && !is_prim(module, construct);
    if (is_module && module != op && xir_class_is_dialect(xir_op_class(module))) return given(op, module);
    const xir_op *tuple = xir_op_input_count(op) == 1 ? tuple_at(op, 0) : NULL;
    if (!tuple || xir_op_input_count(tuple) != xir_op_output_count(op)) return XIR_OK;
    for (size_t i = 0; i < xir_op_output_count(op); i++) {
        xir_value *item = xir_op_input(tuple, (int64_t)i);
        if (!item) return XIR_OK;
        const xir_status status = xir_value_replace(xir_op_output(op, (int64_t)i), item);
        if (status) return status;
    }
    return xir_op_erase(op);
}

xir_status pnnx_prepare(xir_network *net, bool *changed) {
    bool older = false, any = false;
    xir_status status = pnnx_older(net, &older);
    for (xir_op *op = xir_network_first(net), *next; op && !status; op = next) {
        next = xir_op_next(op);
        const bool apart = is_prim(op, unpack) || is_prim(op, unlist);
        any |= is_prim(op, construct) || apart;
        if (apart) status = unpacked(op);
    }
    xir_op *last = xir_network_output_op(net);
    if (last && any && !status) status = spread(last);
    for (xir_op *op = any ? last : NULL, *before; op && !status; op = before) {
        before = xir_op_prev(op);
        if (is_prim(op, construct) && xir_op_output_count(op) == 1 && !xir_value_uses(xir_op_output(op, 0)))
            status = xir_op_erase(op);
    }
    *changed = any || older;
    return status;
}

/* Elements that PyTorch has, and dims of 32 bits. */
static bool is_known(xir_node *at, const xir_value *v) {
    if (!v || !xir_type_as_tensor(xir_value_type(v))) return true;
    if (!pnnx_element_word(at, v_element(v)))
        return xir_node_unsupported(at, "elements that PyTorch does not have");
    for (size_t i = 0; i < v_rank(v); i++)
        if (v_dim(v, i) > INT32_MAX) return xir_node_unsupported(at, "a dim that does not fit into 32 bits");
    return true;
}

static bool is_read(double x) {
    return !(isfinite(x) && fabs(x) > FLT_MAX) && pnnx_reads_real((float)x);
}

/* Reals of attributes, and of their lists. */
static bool reals_are_read(xir_node *at) {
    const xir_map *extra = xir_op_extra(at->op);
    for (size_t i = 0; extra && i < extra->size; i++) {
        const xir_str key = extra->entries[i].key;
        const xir_any *any = &extra->entries[i].value;
        const xir_any *each = any->kind == XIR_ANY_LIST ? any->as.list.items : any;
        const size_t n = any->kind == XIR_ANY_LIST ? any->as.list.size : 1;
        for (size_t k = 0; k < n; k++)
            if (each[k].kind == XIR_ANY_REAL && !is_read(each[k].as.real))
                return xir_node_unsupported(at, "%.*s is %g: PNNX's reader takes floats from %g to %g",
                                            CLIP_TO(key, 60), each[k].as.real, (double)FLT_MIN, (double)FLT_MAX);
    }
    return true;
}

bool pnnx_check(xir_node *at) {
    if (!at->c->back.to) return true;
    for (size_t i = 0, n = op_values(at->op); i < n; i++) if (!is_known(at, op_value(at->op, i))) return false;
    return node_ints_are_short(at) && reals_are_read(at);
}

/* PyTorch's functions only compute, except those that draw numbers. An operator of unknown type may do anything. */
bool pnnx_is_pure(const xir_op *op) {
    static const char *const families[] = { "pnnx::nn.", "pnnx::F.", "pnnx::torch.", "pnnx::Tensor.", "pnnx::pnnx.",
                                            "pnnx::prim::Tuple" };
    static const char *const draws[] = { "pnnx::torch.rand", "pnnx::torch.normal", "pnnx::torch.bernoulli",
                                         "pnnx::torch.multinomial" };
    const xir_str key = xir_class_key(xir_op_class(op));
    for (size_t i = 0; i < sizeof draws / sizeof *draws; i++) {
        if (key.size >= strlen(draws[i]) && memcmp(key.data, draws[i], strlen(draws[i])) == 0) return false;
    }
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        if (key.size >= strlen(families[i]) && memcmp(key.data, families[i], strlen(families[i])) == 0) return true;
    }
    return false;
}

/* In 2021 types of modules were bare: "Conv2d" is nn.Conv2d, "Expression" is pnnx.Expression. */
size_t pnnx_spelled(xir_str type, char *out, size_t room) {
    const char *const family = xir_str_equal(type, XIR_STR("Expression")) || xir_str_equal(type, XIR_STR("Attribute"))
                             ? "pnnx." : "nn.";
    for (size_t i = 0; i < type.size; i++) if (type.data[i] == '.' || type.data[i] == ':') return 0;
    const int n = snprintf(out, room, "%s%.*s", family, CLIP_TO(type, 100));
    return n > 0 && (size_t)n < room ? (size_t)n : 0;
}

/* The file's ends are the network's Input, 0, and Output; each other line is an op, from 1 on. */
int64_t pnnx_number(const xir_op *op) { return xir_op_id(op); }

/* nn.*, F.*, torch.*, Tensor.* and pnnx.* are PNNX's own; all others belong to some domain. */
void pnnx_split_key(xir_str key, xir_str *domain, xir_str *type) {
    static const char *const own[] = { "nn.", "F.", "torch.", "Tensor.", "pnnx." };
    *domain = (xir_str){ key.data, 0 };
    *type = key;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        if (key.size > strlen(own[i]) && memcmp(key.data, own[i], strlen(own[i])) == 0) return;
    }
    domain->size = key.size;
}
