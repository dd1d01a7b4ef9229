/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Random draws. Most ops take inputs whose dims have to do with each other, so dims and numbers are taken from
 * other inputs, and a draw that is refused is varied where the finding says. */
#include <math.h>
#include <string.h>
#include "trying.h"

uint64_t trial_below(trying *t, uint64_t n) {
    t->seed = t->seed * 6364136223846793005u + 1442695040888963407u;
    return (t->seed >> 33) % n;
}

bool trial_once_in(trying *t, uint64_t n) { return trial_below(t, n) == 0; }

/* ---- types ------------------------------------------------------------------------------------------------------- */

static int64_t small_dim(trying *t) {
    static const int64_t dims[] = { 1, 2, 2, 3, 3, 4, 4, 6 };
    return dims[trial_below(t, sizeof dims / sizeof *dims)];
}

/* A dim that another input has, or a number of an attribute. */
static int64_t known_dim(trying *t, const drawn *d) {
    const size_t i = d->n_inputs ? trial_below(t, d->n_inputs) : 0;
    const drawn_type *of = &d->inputs[i].type;
    if (d->n_fields && trial_once_in(t, 5)) {
        const drawn_field *f = &d->fields[trial_below(t, d->n_fields)];
        if (f->set && f->n && f->whole[0] > 0 && f->whole[0] < 9) return f->whole[0];
    }
    if (i >= d->n_inputs || !d->inputs[i].present || !of->rank || trial_once_in(t, 4)) return small_dim(t);
    const int64_t dim = of->dims[trial_below(t, of->rank)];
    return dim > 0 && dim < 25 ? dim : small_dim(t);
}

static drawn_element some_element(trying *t) {
    return trial_once_in(t, 3) ? (drawn_element)trial_below(t, DRAWN_ELEMENTS) : DRAWN_FP32;
}

static void fresh_type(trying *t, const drawn *d, drawn_type *out) {
    out->rank = trial_once_in(t, 3) ? trial_below(t, MOST_RANK + 1) : trial_once_in(t, 2) ? 4 : 1 + trial_below(t, 3);
    out->element = some_element(t);
    out->layout = trial_once_in(t, 2) ? 0 : (unsigned)trial_below(t, 8);
    for (size_t k = 0; k < out->rank; k++) out->dims[k] = known_dim(t, d);
}

/* A type that has to do with that of another input: the same, its last dims, one of its dims, one dim exchanged. */
static void related_type(trying *t, const drawn *d, const drawn_type *of, drawn_type *out) {
    *out = *of;
    switch (trial_below(t, 6)) {
    case 0:
        out->rank = of->rank ? trial_below(t, of->rank) : 0;
        memmove(out->dims, of->dims + (of->rank - out->rank), out->rank * sizeof *out->dims);
        out->layout = 0;
        break;
    case 1:
        out->dims[0] = of->rank ? of->dims[trial_below(t, of->rank)] : 1;
        out->rank = 1;
        out->layout = 0;
        break;
    case 2:
        if (of->rank) out->dims[trial_below(t, of->rank)] = known_dim(t, d);
        break;
    case 3:
        if (of->rank) out->dims[trial_below(t, of->rank)] = 1;
        break;
    default: break;
    }
}

static void draw_type(trying *t, const drawn *d, size_t self, drawn_type *out) {
    size_t other = d->n_inputs ? trial_below(t, d->n_inputs) : 0;
    if (other != self && other < d->n_inputs && d->inputs[other].present && !trial_once_in(t, 3))
        related_type(t, d, &d->inputs[other].type, out);
    else fresh_type(t, d, out);
}

static void vary_type(trying *t, const drawn *d, size_t self, drawn_type *type) {
    switch (trial_below(t, 8)) {
    case 0:  type->element = (drawn_element)trial_below(t, DRAWN_ELEMENTS); break;
    case 1:  type->element = DRAWN_FP32; break;
    case 2:  type->layout = (unsigned)trial_below(t, 8); break;
    case 3:
    case 4:
        if (type->rank) type->dims[trial_below(t, type->rank)] = known_dim(t, d);
        break;
    default: draw_type(t, d, self, type); break;
    }
}

/* ---- attributes -------------------------------------------------------------------------------------------------- */

static int64_t some_integer(trying *t, const drawn *d, const xir_field *f) {
    static const int64_t numbers[] = { 0, 1, 1, 2, 2, 3, 4, -1, -2 };
    int64_t v = trial_once_in(t, 3) ? known_dim(t, d) : numbers[trial_below(t, sizeof numbers / sizeof *numbers)];
    if (f && f->has_min && v < f->min.i) v = f->min.i + (int64_t)trial_below(t, 3);
    if (f && f->has_max && v > f->max.i) v = f->max.i;
    return v;
}

static double some_real(trying *t, const xir_field *f) {
    static const double numbers[] = { 0, 1, 0.5, 0.25, 2, -1, 6, 1e-5 };
    double v = numbers[trial_below(t, sizeof numbers / sizeof *numbers)];
    if (f->has_min && v < f->min.r) v = f->min.r > -1e6 ? f->min.r + 0.5 : v;
    if (f->has_max && v > f->max.r) v = f->max.r;
    if (f->has_min && v < f->min.r) v = f->min.r;
    return (double)(float)v;
}

static void draw_field(trying *t, const drawn *d, const xir_field *f, drawn_field *out) {
    *out = (drawn_field){ .set = true, .n = 1 };
    switch (f->kind) {
    case XIR_KIND_BOOL: out->whole[0] = (int64_t)trial_below(t, 2); break;
    case XIR_KIND_U64:
    case XIR_KIND_I64:  out->whole[0] = some_integer(t, d, f); break;
    case XIR_KIND_ENUM: out->whole[0] = f->members ? (int64_t)trial_below(t, f->members->size) : 0; break;
    case XIR_KIND_REAL: out->real[0] = some_real(t, f); break;
    case XIR_KIND_TEXT: out->n = trial_below(t, 3); break;
    case XIR_KIND_BOOLS:
    case XIR_KIND_I64S:
    case XIR_KIND_REALS:
        out->is_null = f->flags & XIR_FIELD_OPTIONAL && trial_once_in(t, 4);
        out->n = trial_below(t, 5);
        for (size_t i = 0; i < MOST_ITEMS; i++) {
            out->whole[i] = f->kind == XIR_KIND_BOOLS ? (int64_t)trial_below(t, 2) : some_integer(t, d, NULL);
            out->real[i] = (double)(float)out->whole[i] / 2;
        }
        break;
    case XIR_KIND_REF:
        out->is_null = f->flags & XIR_FIELD_OPTIONAL && trial_once_in(t, 3);
        out->object = (unsigned)trial_below(t, 1 << 16);
        draw_type(t, d, SIZE_MAX, &out->type);
        break;
    case XIR_KIND_PARAMS:
        out->is_null = f->flags & XIR_FIELD_OPTIONAL && trial_once_in(t, 2);
        draw_type(t, d, SIZE_MAX, &out->type);
        if (!trial_once_in(t, 4)) {
            out->type.rank = 1;
            out->type.dims[0] = known_dim(t, d);
            out->type.layout = 0;
        }
        break;
    default: out->set = false; break;    /* maps, lists of objects and ops keep their defaults */
    }
}

/* ---- draws ------------------------------------------------------------------------------------------------------- */

static void draw_presence(trying *t, const xir_port *port, drawn_input *in) {
    in->present = port->decl == XIR_DECL_IN || trial_once_in(t, 2);
    in->constant = trial_once_in(t, 4);
}

static const xir_port *port_of(const trying *t, size_t i) {
    const size_t n = xir_class_input_count(t->cls);
    return xir_class_input_at(t->cls, i < n ? i : n - 1);
}

void trial_draw(trying *t, drawn *d) {
    *d = (drawn){ .n_inputs = xir_class_input_count(t->cls), .seed = trial_below(t, 1 << 20) };
    const xir_port *last = d->n_inputs ? xir_class_input_at(t->cls, d->n_inputs - 1) : NULL;
    if (last && last->decl == XIR_DECL_VAR) d->n_inputs = d->n_inputs - 1 + trial_below(t, 4);
    if (d->n_inputs > MOST_INPUTS) d->n_inputs = MOST_INPUTS;
    for (size_t i = 0; i < d->n_inputs; i++) {
        draw_presence(t, port_of(t, i), &d->inputs[i]);
        if (i && !trial_once_in(t, 3)) related_type(t, d, &d->inputs[0].type, &d->inputs[i].type);
        else draw_type(t, d, i, &d->inputs[i].type);
        if (port_of(t, i)->decl == XIR_DECL_VAR) d->inputs[i].present = true;
    }
    d->n_fields = xir_class_field_count(t->cls);
    if (d->n_fields > MOST_FIELDS) d->n_fields = MOST_FIELDS;
    for (size_t i = 0; i < d->n_fields; i++) {
        const xir_field *f = xir_class_field_at(t->cls, i);
        if (f->flags & XIR_FIELD_REQUIRED || trial_once_in(t, 4)) draw_field(t, d, f, &d->fields[i]);
    }
}

static void vary_input(trying *t, drawn *d, size_t i) {
    drawn_input *in = &d->inputs[i];
    if (trial_once_in(t, 6)) in->constant = !in->constant;
    else if (port_of(t, i)->decl == XIR_DECL_OPT && trial_once_in(t, 3)) in->present = !in->present;
    else vary_type(t, d, i, &in->type);
}

static void vary_field(trying *t, drawn *d, size_t i) {
    const xir_field *f = xir_class_field_at(t->cls, i);
    if (d->fields[i].set && !(f->flags & XIR_FIELD_REQUIRED) && trial_once_in(t, 3)) d->fields[i].set = false;
    else draw_field(t, d, f, &d->fields[i]);
}

/* The first part of a path. */
static xir_str first_part(xir_str path) {
    while (path.size && *path.data == '/') path.data++, path.size--;
    for (size_t i = 0; i < path.size; i++)
        if (path.data[i] == '/') return (xir_str){ path.data, i };
    return path;
}

void trial_vary(trying *t, drawn *d, xir_str blamed) {
    const xir_str first = first_part(blamed);
    size_t at = 0;
    if (xir_str_equal(first, XIR_STR("inputs")) && d->n_inputs) {
        for (const char *p = first.data + first.size + 1; p < blamed.data + blamed.size && *p >= '0' && *p <= '9'; p++)
            at = at < 1000 ? at * 10 + (size_t)(*p - '0') : at;
        if (at >= d->n_inputs || trial_once_in(t, 5)) at = trial_below(t, d->n_inputs);
        vary_input(t, d, at);
        return;
    }
    for (size_t i = 0; i < d->n_fields; i++)
        if (xir_str_equal(first, xir_class_field_at(t->cls, i)->name) && !trial_once_in(t, 5)) {
            vary_field(t, d, i);
            return;
        }
    at = trial_below(t, d->n_inputs + d->n_fields + 1);
    if (at < d->n_inputs) vary_input(t, d, at);
    else if (at < d->n_inputs + d->n_fields) vary_field(t, d, at - d->n_inputs);
}
