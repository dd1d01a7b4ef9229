/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Reads a LAYOUT row: "SAME, IN_TURN, AXES, axis". A kind, flags, and the form of the attributes that follow. Three
 * tables say which of them can be combined, so that the pass can rely on every row of a class. */
#include "class_layout.h"
#include "context.h"
#include "row_words.h"

/* ---- the words -------------------------------------------------------------------------------------------------- */

#define FORM(name) (1u << BY_##name)

/* ORDER LAYOUT */
static const struct { const char *name; uint32_t forms, flags, inputs; bool one_output; } kind_rules[LAYOUT_KINDS] = {
    [LAYOUT_ANCHOR]  = { "ANCHOR",  FORM(NONE),                                  0, 1, false },
    [LAYOUT_FIXED]   = { "FIXED",   FORM(NONE),                                  0, 1, false },
    [LAYOUT_EACH]    = { "EACH",    FORM(NONE) | FORM(FACTORS),                  0, 1, false },
    [LAYOUT_SAME]    = { "SAME",    FORM(NONE) | FORM(AXIS) | FORM(AXIS_REF) | FORM(AXES) | FORM(ITEMS) | FORM(PAIRS) |
                                    FORM(TYPE) | FORM(FACTORS),
                                    LAYOUT_CHANNELS | LAYOUT_BATCH | LAYOUT_IN_TURN | LAYOUT_NAMED, 1, false },
    [LAYOUT_JOIN]    = { "JOIN",    FORM(NONE) | FORM(AXIS) | FORM(AXES),        0, 1, false },
    [LAYOUT_LOSE]    = { "LOSE",    FORM(AXIS) | FORM(AXIS_REF) | FORM(AXES),    LAYOUT_NAMED | LAYOUT_ONES, 1, false },
    [LAYOUT_GAIN]    = { "GAIN",    FORM(AXIS),                                  0, 1, false },
    [LAYOUT_GATHER]  = { "GATHER",  FORM(AXIS),                                  0, 2, false },
    [LAYOUT_RESHAPE] = { "RESHAPE", FORM(DIMS),                                  0, 1, true },
    [LAYOUT_SHAPE]   = { "SHAPE",   FORM(RANGE),                                 0, 1, true },
    [LAYOUT_MATMUL]  = { "MATMUL",  FORM(NONE),                                  0, 2, true },
};

/* The kind of an attribute, and for a reference its class. */
typedef struct attr_rule { xir_kind kind; int of; bool may_be_null; } attr_rule;
enum { ANY_CLASS = -1 };

/* ORDER LAYOUT: the attributes of each form, from `least` to `most` of them. */
static const struct { const char *name; uint32_t least, most; attr_rule attr[LAYOUT_ATTRS]; } form_rules[BY_FORMS] = {
    [BY_NONE]     = { "",         0, 0, { { 0 } } },
    [BY_AXIS]     = { "AXIS",     1, 1, { { XIR_KIND_I64, ANY_CLASS, false } } },
    [BY_AXIS_REF] = { "AXIS_REF", 1, 1, { { XIR_KIND_REF, CLASS_int_imm, true } } },
    [BY_AXES]     = { "AXES",     1, 1, { { XIR_KIND_I64S, ANY_CLASS, false } } },
    [BY_ITEMS]    = { "ITEMS",    1, 3, { { XIR_KIND_I64S, ANY_CLASS, false }, { XIR_KIND_I64S, ANY_CLASS, false },
                                          { XIR_KIND_I64S, ANY_CLASS, false } } },
    [BY_PAIRS]    = { "PAIRS",    1, 1, { { XIR_KIND_I64S, ANY_CLASS, false } } },
    [BY_TYPE]     = { "TYPE",     1, 1, { { XIR_KIND_REF, CLASS_tensor_type, false } } },
    [BY_FACTORS]  = { "FACTORS",  1, 3, { { XIR_KIND_PARAMS, ANY_CLASS, false }, { XIR_KIND_PARAMS, ANY_CLASS, false },
                                          { XIR_KIND_PARAMS, ANY_CLASS, false } } },   /* or lists of references */
    [BY_DIMS]     = { "DIMS",     2, 2,
                      { { XIR_KIND_I64S, ANY_CLASS, false }, { XIR_KIND_REF, CLASS_layout, false } } },
    [BY_RANGE]    = { "RANGE",    2, 2, { { XIR_KIND_I64, ANY_CLASS, false }, { XIR_KIND_REF, CLASS_int_imm, true } } },
};

/* ORDER LAYOUT: the bits in order; the forms and flags that a flag needs. */
static const struct { const char *name; uint32_t forms, needs; } flag_rules[] = {
    { "CHANNELS", UINT32_MAX,                  0               },
    { "BATCH",    UINT32_MAX,                  LAYOUT_CHANNELS },
    { "IN_TURN",  FORM(AXES),                  0               },
    { "NAMED",    FORM(AXES) | FORM(AXIS_REF), 0               },
    { "ONES",     FORM(AXES),                  0               },
};
enum { FLAGS = sizeof flag_rules / sizeof *flag_rules };

#undef FORM

/* ---- reading ---------------------------------------------------------------------------------------------------- */

#define REFUSE(...) row_refuse(cls, "LAYOUT", why, __VA_ARGS__)

static bool find_flag(xir_str word, size_t *i) {
    for (*i = 0; *i < FLAGS; ++*i) {
        if (xir_str_equal(word, xir_str_of(flag_rules[*i].name))) return true;
    }
    return false;
}

static layout_form find_form(xir_str word) {
    layout_form form = BY_AXIS;
    while (form < BY_FORMS && !xir_str_equal(word, xir_str_of(form_rules[form].name))) form++;
    return form;
}

static layout_kind find_kind(xir_str word) {
    layout_kind kind = LAYOUT_ANCHOR;
    while (kind < LAYOUT_KINDS && !xir_str_equal(word, xir_str_of(kind_rules[kind].name))) kind++;
    return kind;
}

static xir_status check_attr(const xir_class *cls, const class_layout *of, const xir_field *f, const attr_rule *rule,
                             xir_diags *why) {
    bool factors = of->form == BY_FACTORS && f->kind == XIR_KIND_REFS;
    if (f->kind != rule->kind && !factors) {
        return REFUSE("attribute '%.*s' is of kind %s, expected %s for %s", SHOWN(f->name),
                      xir_kind_name(f->kind), xir_kind_name(rule->kind), form_rules[of->form].name);
    }
    if (rule->of != ANY_CLASS && (!f->of || !xir_class_is_a(f->of, cls->ctx->types[rule->of]))) {
        return REFUSE("attribute '%.*s' refers to %.*s, expected %.*s for %s", SHOWN(f->name),
                      f->of ? (int)f->of->key.size : 9, f->of ? f->of->key.data : "any class",
                      SHOWN(cls->ctx->types[rule->of]->key), form_rules[of->form].name);
    }
    if (f->flags & XIR_FIELD_OPTIONAL && f->kind == XIR_KIND_REF && !rule->may_be_null) {
        return REFUSE("attribute '%.*s' may be null, which %s does not allow", SHOWN(f->name),
                      form_rules[of->form].name);
    }
    return XIR_OK;
}

/* The attributes of the form; for LOSE, one may follow that says whether axes become dims of 1. */
static xir_status read_attrs(const xir_class *cls, xir_str text, class_layout *out, xir_diags *why) {
    uint32_t n = 0, most = form_rules[out->form].most;
    xir_str name;
    while ((name = row_word(&text)).size) {
        const xir_field *f = xir_class_field(cls, name);
        if (!f) return REFUSE("the class has no attribute '%.*s'", SHOWN(name));
        if (n < most) {
            xir_status status = check_attr(cls, out, f, &form_rules[out->form].attr[n], why);
            if (status) return status;
            out->attr[n++] = f;
        } else if (out->kind == LAYOUT_LOSE && !out->keepdim && f->kind == XIR_KIND_BOOL) {
            out->keepdim = f;
        } else {
            return REFUSE("'%.*s' is one attribute too many for %s", SHOWN(name), form_rules[out->form].name);
        }
    }
    if (n >= form_rules[out->form].least) return XIR_OK;
    return REFUSE("%s needs %u attributes, found %u", form_rules[out->form].name,
                  form_rules[out->form].least, n);
}

/* Checks that kind, form and flags fit each other and the class. */
static xir_status check_words(const xir_class *cls, const class_layout *of, xir_diags *why) {
    const char *kind = kind_rules[of->kind].name;
    if (!cls->is_op) return REFUSE("the class is not an operation");
    if (cls->more->layout) return REFUSE("the class has two of these rows");
    if (!(kind_rules[of->kind].forms >> of->form & 1)) {
        if (of->form == BY_NONE) return REFUSE("%s needs an attribute that names axes", kind);
        return REFUSE("%s does not go with %s", kind, form_rules[of->form].name);
    }
    for (size_t i = 0; i < FLAGS; i++) {
        if (!(of->flags >> i & 1)) continue;
        if (!(kind_rules[of->kind].flags >> i & 1))
            return REFUSE("%s does not go with %s", kind, flag_rules[i].name);
        if (!(flag_rules[i].forms >> of->form & 1))
            return REFUSE("%s needs a list of axes", flag_rules[i].name);
        if ((of->flags & flag_rules[i].needs) != flag_rules[i].needs)
            return REFUSE("%s needs CHANNELS", flag_rules[i].name);
    }
    if (cls->more->n_inputs < kind_rules[of->kind].inputs || cls->more->n_outputs == 0) {
        return REFUSE("%s needs %u inputs and an output", kind, kind_rules[of->kind].inputs);
    }
    if (kind_rules[of->kind].one_output && (cls->more->n_outputs > 1 || cls->many_outputs)) {
        return REFUSE("%s needs a single output", kind);
    }
    return XIR_OK;
}

xir_status class_read_layout(xir_class *cls, const xir_row *row, xir_diags *why) {
    xir_str text = xir_str_of(row->doc), word = row_word(&text);
    class_layout read = { .kind = find_kind(word) };
    if (read.kind == LAYOUT_KINDS) return REFUSE("expected a kind such as SAME, found '%.*s'", SHOWN(word));
    while (!read.form && (word = row_word(&text)).size) {
        size_t flag;
        if (find_flag(word, &flag)) read.flags |= 1u << flag;
        else read.form = find_form(word);
    }
    if (read.form == BY_FORMS)
        return REFUSE("expected a flag or a form such as AXIS, found '%.*s'", SHOWN(word));
    xir_status status = check_words(cls, &read, why);
    if (!status) status = read_attrs(cls, text, &read, why);
    if (status) return status;
    class_layout *layout = arena_take(&cls->ctx->arena, sizeof *layout);
    if (!layout) return diag_memory(why);
    *layout = read;
    cls->more->layout = layout;
    return XIR_OK;
}
