/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Questions about a legal op: the same ones again, which must get the same answers; and those about an op of which one
 * dim is not known, whose answers must not contradict that with the dim. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "trying.h"

enum { TYPE_ROOM = 160 };

static const xir_type *output_type(const made *m, size_t i) { return xir_value_type(xir_op_output(m->op, (int64_t)i)); }

/* "@fp(32) NHWC [1,2,2,3]": the end of the line of a value. */
static const char *type_text(const made *m, size_t i, char *room) {
    char line[400];
    xir_value_line(xir_op_output(m->op, (int64_t)i), line, sizeof line);
    const char *colon = strstr(line, " : ");
    snprintf(room, TYPE_ROOM, "%.*s", TYPE_ROOM - 1, colon ? colon + 3 : line);
    return room;
}

/* ---- the same again ---------------------------------------------------------------------------------------------- */

static void compare_types(trying *t, const made *a, const made *b) {
    const size_t n = xir_op_output_count(a->op), more = xir_op_output_count(b->op);
    if (n != more) {
        trial_fault(t, FAULT_INFER_PURE, "INFER is not pure: %s gets %zu results, and %zu when it is asked again",
                    t->line, n, more);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        char one[TYPE_ROOM], other[TYPE_ROOM];
        if (xir_type_equal(output_type(a, i), output_type(b, i))) continue;
        trial_fault(t, FAULT_INFER_PURE, "INFER is not pure: output %zu of %s is %s, and %s when it is asked again", i,
                    t->line, type_text(a, i, one), type_text(b, i, other));
    }
}

static void ask_again(trying *t, const drawn *d, const made *m) {
    for (int k = 0; k < 2; k++) {
        made again = trial_make(t, d);
        const xir_diag *found = trial_finding(&again);
        if (again.op) compare_types(t, m, &again);
        else if (again.net)
            trial_fault(t, FAULT_CHECK_PURE, "CHECK is not pure: %s is accepted, and refused when it is asked again: "
                        "%.*s", t->line, found ? xir_str_shown_(found->message.size) : 0,
                        found ? found->message.data : "");
        trial_unmake(&again);
    }
}

/* ---- attributes -------------------------------------------------------------------------------------------------- */

/* The attribute as it was before CHECK and INFER ran, for kinds that are numbers. */
static bool was(const xir_field *f, const drawn_field *d, xir_attr *out) {
    *out = (xir_attr){ .kind = f->kind };
    if (!d->set && !f->has_default) return false;
    switch (f->kind) {
    case XIR_KIND_BOOL: out->as.boolean = d->set ? d->whole[0] != 0 : f->default_value.i != 0; return true;
    case XIR_KIND_I64:  out->as.i64 = d->set ? d->whole[0] : f->default_value.i; return true;
    case XIR_KIND_ENUM: out->as.enumerator = (int)(d->set ? d->whole[0] : f->default_value.i); return true;
    case XIR_KIND_REAL: out->as.real = d->set ? d->real[0] : f->default_value.r; return true;
    case XIR_KIND_I64S:
        out->is_null = d->is_null;
        out->as.i64s = (xir_i64s){ d->whole, d->n };
        return d->set;
    default: return false;
    }
}

static void look_at_attributes(trying *t, const drawn *d, const made *m) {
    for (size_t i = 0; i < d->n_fields; i++) {
        const xir_field *f = xir_class_field_at(t->cls, i);
        xir_text_buffer text = { 0 };
        xir_attr before;
        if (!was(f, &d->fields[i], &before) || xir_op_attr_is(m->op, f->name, &before)) continue;
        if (xir_op_attr_print(m->op, f->name, 0, &text) == XIR_OK)
            trial_fault(t, FAULT_CHANGES, "CHECK or INFER changes the attribute '%.*s' of %s to %.*s: they only read",
                        xir_str_shown_(f->name.size), f->name.data, t->line, xir_str_shown_(text.size), text.data);
        xir_text_free(&text);
    }
}

/* ---- unknown dims ------------------------------------------------------------------------------------------------ */

static void compare_known(trying *t, const made *known, const made *open, size_t input, size_t dim, int64_t number) {
    for (size_t i = 0; i < xir_op_output_count(known->op); i++) {
        const xir_type *a = output_type(known, i), *b = output_type(open, i);
        if (!xir_type_as_tensor(a) || !xir_type_as_tensor(b)) continue;
        if (xir_type_rank(a) != xir_type_rank(b)) {
            trial_fault(t, FAULT_KNOWN, "output %zu of %s has %zu dims, and %zu if dim %zu of input %zu is unknown: the "
                        "rank is always known", i, t->line, xir_type_rank(a), xir_type_rank(b), dim, input);
            continue;
        }
        for (size_t k = 0; k < xir_type_rank(a); k++) {
            const int64_t with = xir_type_dim(a, (int64_t)k, false), without = xir_type_dim(b, (int64_t)k, false);
            if (without < 0 || without == with) continue;
            trial_fault(t, FAULT_KNOWN, "INFER gives %" PRId64 " as dim %zu of output %zu of %s if dim %zu of input %zu "
                        "is unknown, but %" PRId64 " if that is %" PRId64 ": expected an unknown dim", without, k, i,
                        t->line, dim, input, with, number);
        }
    }
}

static void open_one(trying *t, const drawn *d, const made *m, size_t input, size_t dim) {
    drawn open = *d;
    const int64_t number = d->inputs[input].type.dims[dim];
    open.inputs[input].type.dims[dim] = XIR_UNKNOWN_DIM;
    made now = trial_make(t, &open);
    const xir_diag *found = trial_finding(&now);
    if (now.op) compare_known(t, m, &now, input, dim, number);
    /* A class may need a number, and says so. */
    else if (now.net && (!found || found->code != XIR_E_UNSUPPORTED))
        trial_fault(t, FAULT_OPEN, "%s is refused if dim %zu of input %zu is unknown: %.*s", t->line, dim, input,
                    found ? xir_str_shown_(found->message.size) : 0, found ? found->message.data : "");
    trial_unmake(&now);
}

static void open_dims(trying *t, const drawn *d, const made *m) {
    for (size_t i = 0; i < d->n_inputs; i++)
        if (d->inputs[i].present && !d->inputs[i].constant && d->inputs[i].type.rank)
            open_one(t, d, m, i, trial_below(t, d->inputs[i].type.rank));
}

/* ---- work -------------------------------------------------------------------------------------------------------- */

static void ask_work(trying *t, const made *m) {
    xir_work one = XIR_INIT(xir_work), other = XIR_INIT(xir_work);
    xir_diags *found = xir_diags_new(t->ctx);
    const xir_status status = xir_op_work(m->op, &one, found);
    const xir_diag *d = trial_first(found);
    if (status && status != XIR_E_BOUNDS && status != XIR_E_MEMORY)
        trial_fault(t, FAULT_WORK, "WORK fails for %s: %.*s", t->line, d ? xir_str_shown_(d->message.size) : 0,
                    d ? d->message.data : xir_status_name(status));
    (void)xir_op_work(m->op, &other, NULL);
    if (!status && (one.multiply_adds != other.multiply_adds || one.element_ops != other.element_ops))
        trial_fault(t, FAULT_WORK, "WORK is not pure: %s takes %" PRIu64 " element operations, and %" PRIu64 " when it "
                    "is asked again", t->line, one.element_ops, other.element_ops);
    xir_diags_free(found);
}

void trial_ask(trying *t, const drawn *d, const made *m) {
    trial_step(t, "CHECK and INFER");
    look_at_attributes(t, d, m);
    ask_again(t, d, m);
    open_dims(t, d, m);
    trial_step(t, "WORK");
    ask_work(t, m);
}
