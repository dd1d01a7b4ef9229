/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Makes a network of a view: copies its ops with their ids, and what the network has besides ops. The values that enter
 * become outputs of an Input, those that leave inputs of an Output. The work is that of the view, however large the
 * network is. */
#include <xir/mapping.h>
#include <xir/region.h>
#include "copying.h"
#include "view.h"

xir_op *view_make_end(xir_network *net, const xir_class *cls, const xir_type *const *types, size_t n_types,
                      size_t n_inputs) {
    if (!net_reserve_ids(net, 1, n_types)) return NULL;
    xir_op *op = op_make(net, cls, cls->defaults, n_inputs);
    if (!op || !op_make_outputs(op, types, n_types)) return NULL;
    op_set_id(op, net->next_op_id);
    return op;
}

/* The network of a view while it is made. */
typedef struct cutting {
    const xir_view *view;
    copying         c;
    xir_value     **coming;   /* values that enter, in the order of the view's inputs */
    const xir_type **types;   /* room for those, and for the outputs of an Input       */
    size_t          n;
} cutting;

static bool copy_ops(cutting *t) {
    const xir_view *view = t->view;
    for (size_t i = 0; i < view->n_ops; i++) {
        xir_op *copy = copy_op(&t->c, view->ops[i]);
        if (!copy) return false;
        op_link(copy, NULL);
    }
    return true;
}

static const xir_op *end_of(const xir_view *view, bool (*is_end)(const xir_op *)) {
    for (size_t i = 0; i < view->n_ops; i++) {
        const size_t at = is_end == is_sink ? view->n_ops - 1 - i : i;
        if (is_end(view->ops[at])) return view->ops[at];
    }
    return NULL;
}

/* The Input of the copy, with as many more outputs as values enter. They have no ids yet. NULL on failure. */
static xir_op *make_input(cutting *t) {
    xir_network *net = t->c.to;
    const xir_op *source = end_of(t->view, is_source);
    xir_op *input = source ? mapping_op(t->c.map, source)
                           : view_make_end(net, net->ctx->input_class, t->types, t->n, 0);
    if (!source && input) op_link(input, net->first);
    if (!source || !t->n) return input;
    const uint32_t first = input->n_outputs;
    const int64_t next_id = net->next_value_id;
    memmove((void *)(t->types + first), (const void *)t->types, t->n * sizeof *t->types);
    for (uint32_t i = 0; i < first; i++) t->types[i] = op_outputs(input)[i].type;
    if (xir_op_set_outputs(input, t->types, first + t->n)) return NULL;
    for (size_t i = 0; i < t->n; i++) ids_forget_value(&op_outputs(input)[first + i]);
    net->next_value_id = next_id;   /* the ids that they were given are not kept */
    return input;
}

/* Makes the values that enter outputs of the Input, which is made if the view has none. */
static bool make_inputs(cutting *t) {
    const xir_view *view = t->view;
    const xir_allocator *alloc = &view->net->alloc;
    const xir_op *source = end_of(view, is_source);
    const size_t room = view->inputs.n + (source ? source->n_outputs : 0) + 1;
    t->coming = mem_new(alloc, room * sizeof *t->coming);
    t->types = mem_new(alloc, room * sizeof *t->types);
    bool done = t->coming && t->types;
    for (size_t i = 0; i < view->inputs.n && done; i++) {
        xir_value *v = view->inputs.items[i];
        if (value_op(v) && view_has(view, value_op(v))) continue;
        t->coming[t->n] = v;
        t->types[t->n] = net_type(t->c.to, v->type);
        done = t->types[t->n++] || !v->type;
    }
    xir_op *input = done ? make_input(t) : NULL;
    const size_t first = input ? input->n_outputs - t->n : 0;
    done = input;
    for (size_t i = 0; i < t->n && done; i++) {
        xir_value *to = &op_outputs(input)[first + i];
        done = copy_value_to(&t->c, t->coming[i], to) && mapping_add_value(t->c.map, t->coming[i], to) &&
               (t->coming[i]->id >= 0 || value_set_id(to, t->c.to->next_value_id));
    }
    mem_free(alloc, (void *)t->coming, room * sizeof *t->coming);
    mem_free(alloc, (void *)t->types, room * sizeof *t->types);
    return done;
}

/* Makes the view's outputs inputs of the Output op. An Output inside the view keeps its inputs, unless the caller has
 * set an order, and also gets what is used outside. `out` has the copies of the view's outputs. */
static bool link_outputs(const cutting *t, xir_value *const *out) {
    const xir_view *view = t->view;
    xir_network *net = t->c.to;
    const xir_op *sink = end_of(view, is_sink);
    xir_op *output = sink ? mapping_op(t->c.map, sink) : NULL;
    if (!output) {
        output = view_make_end(net, net->ctx->output_class, NULL, 0, view->outputs.n);
        if (!output) return false;
        for (size_t i = 0; i < view->outputs.n; i++) use_link(&op_inputs(output)[i], output, out[i]);
        op_link(output, NULL);
        return true;
    }
    if (view->ordered) return xir_op_set_inputs(output, out, view->outputs.n) == XIR_OK;
    for (size_t i = 0; i < view->outputs.n; i++) {
        if (!view_is_used_outside(view, view->outputs.items[i]) || xir_op_input_index(output, out[i], NULL, 0))
            continue;
        if (xir_op_add_input(output, out[i]) != XIR_OK) return false;
    }
    return true;
}

static bool make_outputs(const cutting *t) {
    const xir_view *view = t->view;
    const size_t bytes = (view->outputs.n + 1) * sizeof(xir_value *);
    xir_value **out = mem_new(&view->net->alloc, bytes);
    if (!out) return false;
    for (size_t i = 0; i < view->outputs.n; i++) (void)mapping_value(t->c.map, view->outputs.items[i], &out[i]);
    const bool done = link_outputs(t, out);
    mem_free(&view->net->alloc, out, bytes);
    return done;
}

static bool cut(cutting *t) {
    const xir_network *from = t->view->net;
    xir_network *to = t->c.to;
    if (!copy_fields(&t->c, from)) return false;
    to->next_op_id = from->next_op_id;
    to->next_value_id = from->next_value_id;
    if (!copy_ops(t) || !make_inputs(t)) return false;
    for (size_t i = 0; i < t->view->n_ops; i++)
        if (!copy_inputs(&t->c, t->view->ops[i])) return false;
    ids_free(to);   /* if built, then while an op was not linked yet */
    return make_outputs(t) && !t->c.failed;
}

xir_network *view_network(const xir_view *view) {
    xir_network *net = view->net;
    cutting t = { .view = view, .c = { .to = network_new(net->ctx), .ids = true } };
    t.c.map = t.c.to ? xir_mapping_new(net, t.c.to) : NULL;
    const bool done = t.c.map && cut(&t);
    copying_end(&t.c);
    xir_mapping_free(t.c.map);
    if (done) net_share_check(net, t.c.to);
    if (done) return t.c.to;
    net_no_memory(net);
    xir_network_free(t.c.to);
    return NULL;
}

xir_network *xir_view_to_network(const xir_view *view) {
    xir_network *net = view->net;
    if (xir_view_is_stale(view)) {
        view_stale(view);
        return NULL;
    }
    const xir_status status = xir_region_check(net, view->ops, view->n_ops, net->diags);
    if (!status) return view_network(view);
    if (!net->status) net->status = status;
    return NULL;
}
