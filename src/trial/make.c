/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Draws become ops. Each is in a network of its own, so that no answer about another op is remembered. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "trying.h"

/* ---- types and objects ------------------------------------------------------------------------------------------- */

/* ORDER ELEMENT */
static const char *const element_names[DRAWN_ELEMENTS] = {
    "fp32", "fp64", "i64", "i32", "bool", "u8", "fp16", "bf16",
};

static const xir_type *element_of(trying *t, drawn_element e) {
    switch (e) {
    case DRAWN_FP64: return xir_type_float(t->ctx, XIR_FLOAT_FP64);
    case DRAWN_I64:  return xir_type_sint(t->ctx, 64);
    case DRAWN_I32:  return xir_type_sint(t->ctx, 32);
    case DRAWN_BOOL: return xir_type_bool(t->ctx);
    case DRAWN_U8:   return xir_type_uint(t->ctx, 8);
    case DRAWN_FP16: return xir_type_float(t->ctx, XIR_FLOAT_FP16);
    case DRAWN_BF16: return xir_type_float(t->ctx, XIR_FLOAT_BF16);
    default:         return xir_type_float(t->ctx, XIR_FLOAT_FP32);
    }
}

static const char *const layouts[MOST_RANK + 1][6] = {
    { "" }, { "*", "C", "L" }, { "**", "NC", "CN" }, { "***", "NLC", "NCL", "LIO", "LOI" },
    { "****", "NHWC", "NCHW", "HWIO", "HWOI", "OIHW" }, { "*****", "NDHWC", "NCDHW", "DHWIO", "DHWOI" },
};

/* The text of a layout; NULL: the default of the rank. */
static const char *layout_of(const drawn_type *d) {
    size_t n = 0;
    while (n < 6 && layouts[d->rank][n]) n++;
    return d->layout ? layouts[d->rank][d->layout % n] : NULL;
}

static const xir_type *type_of(trying *t, const drawn_type *d) {
    const char *text = layout_of(d);
    const xir_layout *layout = text ? xir_layout_parse(t->ctx, xir_str_of(text), NULL) : NULL;
    return xir_type_tensor(t->ctx, element_of(t, d->element), layout, d->dims, d->rank);
}

/* An object of a class for a reference: a type, an element type or a layout; NULL if none is of the class. */
static const xir_object *object_of(trying *t, const xir_field *f, const drawn_field *d) {
    const xir_layout *layout = xir_layout_parse(t->ctx, xir_str_of(layouts[d->type.rank][0]), NULL);
    const char *text = layout_of(&d->type);
    const xir_layout *other = text ? xir_layout_parse(t->ctx, xir_str_of(text), NULL) : layout;
    const xir_type *type = type_of(t, &d->type), *element = element_of(t, d->type.element);
    const xir_object *all[] = {
        type ? xir_type_object(type) : NULL, element ? xir_type_object(element) : NULL, other ? &other->head : NULL,
        layout ? &layout->head : NULL, xir_object_parse(t->ctx, XIR_STR("\"@hostm\""), NULL),
        xir_object_parse(t->ctx, XIR_STR("\"@scales([axis=-1]0.5)\""), NULL),
        xir_object_parse(t->ctx, XIR_STR("\"@scale(0.5)\""), NULL),
    };
    const size_t n = sizeof all / sizeof *all;
    for (size_t i = 0; i < n; i++) {
        const xir_object *o = all[(i + d->object) % n];
        if (o && (!f->of || xir_class_is_a(xir_object_class(o), f->of))) return o;
    }
    return NULL;
}

/* ---- attributes -------------------------------------------------------------------------------------------------- */

/* The memory that the values of attributes point to. */
typedef struct values {
    bool           bools[MOST_FIELDS][MOST_ITEMS];
    xir_named_attr all[MOST_FIELDS];
    size_t         n;
} values;

static const char words[][4] = { "", "a", "ab" };

/* Params of random numbers, from 0.5 to 1.5, or integers that are small indices. */
static xir_value *params_of(trying *t, xir_network *net, const drawn_type *d, uint64_t seed) {
    const bool real = d->element == DRAWN_FP32 || d->element == DRAWN_FP64 || d->element == DRAWN_FP16 ||
                      d->element == DRAWN_BF16;
    const xir_numbers range = real ? xir_numbers_between(0.5, 1.5) : xir_numbers_between(0, 1);
    const xir_type *type = type_of(t, d);
    xir_array *array = type ? xir_array_random_in(t->ctx, type, seed, &range, NULL) : NULL;
    xir_value *v = array ? xir_params_from_array(net, XIR_STR(""), array) : NULL;
    xir_array_free(array);
    return v;
}

/* Returns true if there is a value to be set. */
static bool attr_of(trying *t, xir_network *net, const xir_field *f, const drawn_field *d, bool *bools, xir_attr *out) {
    *out = (xir_attr){ .kind = f->kind, .is_null = d->is_null };
    if (d->is_null) return true;
    for (size_t i = 0; i < MOST_ITEMS; i++) bools[i] = d->whole[i] != 0;
    switch (f->kind) {
    case XIR_KIND_BOOL:  out->as.boolean = bools[0]; return true;
    case XIR_KIND_I64:   out->as.i64 = d->whole[0]; return true;
    case XIR_KIND_U64:   out->as.u64 = d->whole[0] < 0 ? 0 : (uint64_t)d->whole[0]; return true;
    case XIR_KIND_ENUM:  out->as.enumerator = (int)d->whole[0]; return true;
    case XIR_KIND_REAL:  out->as.real = d->real[0]; return true;
    case XIR_KIND_TEXT:  out->as.text = xir_str_of(words[d->n % 3]); return true;
    case XIR_KIND_BOOLS: out->as.bools = (xir_bools){ bools, d->n }; return true;
    case XIR_KIND_I64S:  out->as.i64s = (xir_i64s){ d->whole, d->n }; return true;
    case XIR_KIND_REALS: out->as.reals = (xir_reals){ d->real, d->n }; return true;
    case XIR_KIND_REF:   return (out->as.ref = object_of(t, f, d));
    case XIR_KIND_PARAMS: return (out->as.params = params_of(t, net, &d->type, d->object));
    default:             return false;
    }
}

static void gather(trying *t, xir_network *net, const drawn *d, values *out) {
    out->n = 0;
    for (size_t i = 0; i < d->n_fields; i++) {
        const xir_field *f = xir_class_field_at(t->cls, i);
        xir_named_attr *a = &out->all[out->n];
        if (!d->fields[i].set || !attr_of(t, net, f, &d->fields[i], out->bools[i], &a->value)) continue;
        a->name = f->name;
        out->n++;
    }
}

/* ---- ops --------------------------------------------------------------------------------------------------------- */

static bool make_inputs(trying *t, xir_network *net, const drawn *d, xir_value **out) {
    const xir_type *types[MOST_INPUTS];
    size_t n = 0;
    bool good = true;
    for (size_t i = 0; i < d->n_inputs; i++)
        if (d->inputs[i].present && !d->inputs[i].constant)
            good = (types[n++] = type_of(t, &d->inputs[i].type)) && good;
    const xir_class *cls = xir_class_find_decl(t->ctx, xir_input_class());
    const xir_op *input = !good ? NULL : xir_network_add(net, &XIR_INIT(xir_op_desc, .cls = cls, .types = types,
                                                                         .n_types = n, .id = XIR_NO_ID));
    for (size_t i = 0, k = 0; i < d->n_inputs && input; i++) {
        const drawn_input *in = &d->inputs[i];
        if (!in->present) out[i] = NULL;
        else if (!in->constant) out[i] = xir_op_output(input, (int64_t)k++);
        else if (!(out[i] = params_of(t, net, &in->type, d->seed + i))) return false;
    }
    return input;
}

made trial_make(trying *t, const drawn *d) {
    made m = { .net = xir_network_new(t->ctx, "trial", XIR_FRAMEWORK_PYTORCH, "") };
    xir_value *inputs[MOST_INPUTS];
    values v;
    if (!m.net) return m;
    if (!make_inputs(t, m.net, d, inputs)) {
        if (t->memory.refused || xir_network_status(m.net) == XIR_E_MEMORY) trial_unmake(&m);
        return m;
    }
    gather(t, m.net, d, &v);
    if (t->memory.refused) {
        trial_unmake(&m);
        return m;
    }
    m.op = xir_network_add(m.net, &XIR_INIT(xir_op_desc, .cls = t->cls, .inputs = inputs, .n_inputs = d->n_inputs,
                                            .named = v.all, .n_named = v.n, .id = XIR_NO_ID));
    return m;
}

void trial_unmake(made *m) {
    xir_network_free(m->net);
    *m = (made){ NULL, NULL };
}

const xir_diag *trial_first(const xir_diags *found) { return found ? xir_diags_at(found, 0) : NULL; }

const xir_diag *trial_finding(const made *m) { return m->net ? trial_first(xir_network_diags(m->net)) : NULL; }

/* ---- showing ----------------------------------------------------------------------------------------------------- */

static void put(char *line, const char *format, ...) XIR_PRINTF(2, 3);
static void put(char *line, const char *format, ...) {
    const size_t size = strlen(line);
    va_list args;
    va_start(args, format);
    vsnprintf(line + size, LINE_ROOM - size, format, args);
    va_end(args);
}

static void put_type(char *line, const drawn_type *d) {
    const char *layout = layout_of(d);
    put(line, "%s%s%s [", element_names[d->element], layout ? " " : "", layout ? layout : "");
    for (size_t k = 0; k < d->rank; k++)
        put(line, d->dims[k] < 0 ? "%s?" : "%s%" PRId64, k ? "," : "", d->dims[k]);
    put(line, "]");
}

static void put_field(char *line, const xir_field *f, const drawn_field *d) {
    put(line, " %.*s=", (int)f->name.size, f->name.data);
    if (d->is_null) {
        put(line, "null");
        return;
    }
    switch (f->kind) {
    case XIR_KIND_BOOL:   put(line, d->whole[0] ? "true" : "false"); break;
    case XIR_KIND_REAL:   put(line, "%g", d->real[0]); break;
    case XIR_KIND_ENUM:   put(line, "%s", f->members ? f->members->names[d->whole[0]] : "?"); break;
    case XIR_KIND_TEXT:   put(line, "\"%s\"", words[d->n % 3]); break;
    case XIR_KIND_REF:
    case XIR_KIND_PARAMS: put_type(line, &d->type); break;
    case XIR_KIND_I64:
    case XIR_KIND_U64:    put(line, "%" PRId64, d->whole[0]); break;
    default:
        put(line, "[");
        for (size_t i = 0; i < d->n; i++) {
            if (f->kind == XIR_KIND_REALS) put(line, "%s%g", i ? "," : "", d->real[i]);
            else put(line, "%s%" PRId64, i ? "," : "", d->whole[i]);
        }
        put(line, "]");
        break;
    }
}

void trial_show(trying *t, const drawn *d) {
    const xir_str key = xir_class_key(t->cls);
    *t->line = '\0';
    put(t->line, "%.*s(", (int)(key.size < 100 ? key.size : 100), key.data);
    for (size_t i = 0; i < d->n_inputs; i++) {
        put(t->line, "%s%s", i ? ", " : "", !d->inputs[i].present ? "_" : d->inputs[i].constant ? "@" : "");
        if (d->inputs[i].present) put_type(t->line, &d->inputs[i].type);
    }
    put(t->line, ")");
    for (size_t i = 0; i < d->n_fields; i++)
        if (d->fields[i].set) put_field(t->line, xir_class_field_at(t->cls, i), &d->fields[i]);
}
