/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include <xir/ops.h>
#include "provenance.h"
#include "support/dialect.h"
#include "support/upkeep.h"

/* ---- purity ------------------------------------------------------------------------------------------------------ */

bool op_is_pure(const xir_op *op) {
    const xir_class *cls = op->cls;
    if (cls->opaque) {
        const xir_dialect_decl *dialect = dialect_of_class(cls);
        return dialect && dialect->is_pure && dialect->is_pure(op);
    }
    if (cls->traits & (XIR_TRAIT_SOURCE | XIR_TRAIT_SINK | XIR_TRAIT_IMPURE)) return false;
    return !op_has_children(op);
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

/* The use of a value by an Output, or NULL. It becomes the first use: many results may become one value, and then the
 * next search only meets the uses that have come since. */
static xir_use *output_use(xir_value *v) {
    xir_use *u = v->uses;
    while (u && !(u->user->cls->traits & XIR_TRAIT_SINK)) u = u->next;
    if (u && u != v->uses) {
        xir_op *output = u->user;
        use_unlink(u);
        use_link(u, output, v);
    }
    return u;
}

/* ---- replacing values -------------------------------------------------------------------------------------------- */

bool value_take_name(xir_value *now, const xir_value *old) {
    if (!value_more_of(old) || (!value_more_of(old)->name->size && !value_more_of(old)->tags)) return true;
    value_more *more = value_need_more(now);
    if (!more) return false;
    if (value_more_of(old)->name->size) more->name = value_more_of(old)->name;
    if (!more->tags) more->tags = value_more_of(old)->tags;
    value_named(now);
    return true;
}

static xir_str name_of(const xir_value *v) { return xir_value_name(v); }

/* Returns true if the old name is better than the value's own: that one is empty, or extends the old name, as
 * "y.Conv2d" does for "y". A conversion gives such names to the steps on the way to a source value. */
static bool is_better(xir_str old, xir_str own) {
    if (!old.size || !own.size) return old.size != 0;
    return own.size > old.size && own.data[old.size] == '.' && memcmp(own.data, old.data, old.size) == 0;
}

/* Moves every use except those by Outputs. */
static xir_status move_inner_uses(xir_value *now, xir_value *old, size_t *moved) {
    bool first = true;
    for (xir_use *u = old->uses, *next; u; u = next) {
        next = u->next;
        if (u->user->cls->traits & XIR_TRAIT_SINK) continue;
        xir_status status = xir_op_set_input(u->user, xir_use_index(u), now);
        if (status) return status;
        if (first) provenance_replaced(value_net(now), old, now);
        first = false;
        ++*moved;
    }
    return XIR_OK;
}

/* Returns true if no user knows the value by its name. False for a value with many uses, where finding out costs more
 * than a better name is worth. */
static bool is_inner(const xir_value *v) {
    enum { LOOKED_AT = 64 };
    size_t n = 0;
    for (const xir_use *u = v->uses; u; u = u->next) {
        if (u->user->cls->traits & XIR_TRAIT_SINK || ++n == LOOKED_AT) return false;
    }
    return true;
}

xir_status value_replace(xir_value *now, xir_value *old, bool fresh, size_t *moved) {
    if (!old->uses) return XIR_OK;
    bool fixed = value_op(now) ? value_op(now)->cls->traits & XIR_TRAIT_SOURCE : !fresh, result = output_use(old);
    if (result && (fixed || output_use(now))) return move_inner_uses(now, old, moved);
    bool renames = result || (!fixed && is_better(name_of(old), name_of(now)) && is_inner(now));
    if (renames && !value_take_name(now, old)) return XIR_E_MEMORY;
    for (const xir_use *u = old->uses; u; u = u->next) ++*moved;
    return xir_value_replace(old, now);
}

bool is_product_operand(const xir_op *op) {
    const xir_class_decl *matmul = xir_matmul_class();
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        for (const xir_use *u = op_outputs(op)[i].uses; u; u = u->next) {
            const size_t at = xir_use_index(u);
            if (u->user->cls->decl != matmul || at > 1 || u->user->n_inputs < 2) continue;
            const xir_value *other = op_inputs(u->user)[1 - at].value;
            if (other && value_is_params(other)) return true;
        }
    }
    return false;
}

/* ---- removal ----------------------------------------------------------------------------------------------------- */

bool op_is_unused(const xir_op *op) {
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        if (op_outputs(op)[i].uses) return false;
    }
    return true;
}

void op_drop(xir_op *op) {
    ids_forget_op(op);
    op_unlink(op);
    op_forget(op);
}

bool same_kind(const xir_value *a, const xir_value *b) {
    if (a->type != b->type && !xir_object_equal((const xir_object *)a->type, (const xir_object *)b->type)) return false;
    const value_more *of = value_more_of(a), *to = value_more_of(b);
    const xir_mtype *x = of ? of->mtype : NULL, *y = to ? to->mtype : NULL;   /* NULL: host */
    return x == y || xir_object_equal((const xir_object *)xir_value_mtype(a), (const xir_object *)xir_value_mtype(b));
}

xir_status infers_same(const xir_op *op, const void *attrs, xir_value *const *inputs, size_t n, bool *same) {
    xir_infer at;
    infer_start(&at, op->net, op->cls, attrs, op_target(op), inputs, n, name_text(op_label(op)), NULL);
    xir_status status = infer_run(&at);
    *same = !status && at.n_out == op->n_outputs;
    for (size_t i = 0; *same && i < at.n_out; i++) *same = xir_type_equal(at.out[i], op_outputs(op)[i].type);
    infer_end(&at);
    return status == XIR_E_MEMORY ? status : XIR_OK;
}

const xir_i64s *value_dims(const xir_value *v) {
    const xir_tensor_type *tensor = v ? xir_type_as_tensor(v->type) : NULL;
    return tensor ? &tensor->shape : NULL;
}

xir_status pass_no_memory(xir_pass *at) { return xir_pass_fail(at, XIR_E_MEMORY, NULL, "out of memory"); }

xir_status pass_status_of_latest(const xir_pass *at, xir_status otherwise) {
    const size_t n = xir_diags_count(at->why);
    const xir_diag *latest = n ? xir_diags_at(at->why, n - 1) : NULL;
    return latest && latest->code ? latest->code : otherwise;
}
