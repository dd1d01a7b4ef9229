/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The ends of a network: one op of all inputs, which comes first and has id 0, and one of all outputs, which is
 * last. */
#include <assert.h>
#include "dialect/dialect.h"

static bool add_end(dialect *d, dialect_list *list, dialect_ref ref, const dialect_declared *declared) {
    dialect_end *out = dialect_failed(d) ? NULL : dialect_add(d, list, sizeof *out);
    if (!out) return false;
    *out = (dialect_end){ ref, declared ? *declared : (dialect_declared){ NULL, NULL } };
    return true;
}

bool dialect_input(dialect *d, dialect_ref ref, const dialect_declared *declared) {
    assert(!d->has_inputs || dialect_failed(d));
    return add_end(d, &d->inputs, ref, declared);
}

bool dialect_output(dialect *d, dialect_ref ref, const dialect_declared *declared) {
    assert(!d->has_outputs || dialect_failed(d));
    return add_end(d, &d->outputs, ref, declared);
}

static xir_op *make_end(dialect *d, const char *key, size_t n_inputs) {
    const xir_class *cls = xir_class_find(d->ctx, xir_str_of(key));
    const void *attrs = cls ? net_attrs(d->net, cls, cls->defaults) : NULL;
    xir_op *op = attrs ? op_make(d->net, cls, attrs, n_inputs) : NULL;
    if (!op) trace_memory(&d->trace);
    return op;
}

bool dialect_make_inputs(dialect *d) {
    if (dialect_failed(d)) return false;
    if (d->has_inputs) return true;
    const dialect_end *ends = d->inputs.data;
    size_t n = d->inputs.size;
    const xir_type **types = arena_take(&d->scratch, n * sizeof *types);
    xir_op *op = types ? make_end(d, "icraft::xir::Input", 0) : NULL;
    for (size_t i = 0; op && i < n; i++) types[i] = ends[i].declared.type;
    if (!op || !op_make_outputs(op, types, n)) return trace_memory(&d->trace);
    op_link(op, d->net->first);
    op_set_id(op, 0);
    d->has_inputs = true;
    for (size_t i = 0; i < n; i++) {
        xir_value *v = &op_outputs(op)[i];
        if (!dialect_name_value(d, v, ends[i].ref.text) || !dialect_value_tags(d, v, ends[i].declared.tags) ||
            !dialect_define(d, v, ends[i].ref)) return false;
    }
    return true;
}

bool dialect_make_outputs(dialect *d) {
    if (dialect_failed(d)) return false;
    if (d->has_outputs) return true;
    const dialect_end *ends = d->outputs.data;
    size_t n = d->outputs.size;
    d->has_outputs = true;
    d->values.size = 0;
    for (size_t i = 0; i < n; i++) {
        xir_value **out = dialect_add(d, &d->values, sizeof *out);
        if (!out) return false;
        *out = dialect_is_nothing(ends[i].ref) ? NULL : dialect_use(d, ends[i].ref);
        if (*out ? !dialect_declare(d, *out, &ends[i].declared) : dialect_failed(d)) return false;
    }
    xir_value **values = d->values.data;
    while (n && !values[n - 1]) n--;
    xir_op *op = make_end(d, "icraft::xir::Output", n);
    if (!op || !op_make_outputs(op, NULL, 0)) return trace_memory(&d->trace);
    for (size_t i = 0; i < n; i++) use_link(&op_inputs(op)[i], op, values[i]);
    op_link(op, NULL);
    op_set_id(op, d->n_nodes + 1);   /* the highest id: new ids count on from it */
    return true;
}

/* ---- constants that nothing uses ------------------------------------------------------------------------------- */

/* The names arrive newest first. */
static bool tag_unused(dialect *d, const char *key, xir_any *names, size_t n) {
    for (size_t i = 0, j = n; i + 1 < j; i++) {
        xir_any swap = names[i];
        names[i] = names[--j];
        names[j] = swap;
    }
    return !n || !key || dialect_tag(d, &d->net->tags, key, xir_any_list(names, n));
}

/* A constant gets its id at its first use; Params of attributes have theirs from the beginning. */
bool dialect_drop_unused(dialect *d, const char *key) {
    if (dialect_failed(d)) return false;
    if (d->has_dropped) return true;
    d->has_dropped = true;
    xir_value **link = &d->net->all_params;
    dialect_list unused = { 0 };
    uint32_t n_unused = 0;
    bool ok = true;
    while (*link) {
        xir_value *v = *link;
        params *p = value_params(v);
        if (v->id >= 0) {
            link = &p->next;
            continue;
        }
        *link = p->next;
        n_unused++;
        blob_release(p->data);
        p->data = NULL;
        xir_any *name = ok ? dialect_add(d, &unused, sizeof *name) : NULL;
        if (name) *name = xir_any_text(xir_value_name(v));
        else ok = false;
    }
    d->net->n_params -= n_unused;
    uint32_t place = d->net->n_params;
    for (xir_value *v = d->net->all_params; n_unused && v; v = value_params(v)->next) value_params(v)->number = --place;
    ok = ok && tag_unused(d, key, unused.data, unused.size);
    dialect_list_free(d, &unused, sizeof(xir_any));
    return ok;
}
