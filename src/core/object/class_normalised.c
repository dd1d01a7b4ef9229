/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Reads a NORMALISED row: "PRODUCT, weights, bias, cut_scale". A kind, then the names of inputs and attributes. */
#include "class_normalised.h"
#include "context.h"
#include "row_words.h"

#define REFUSE(...) row_refuse(cls, "NORMALISED", why, __VA_ARGS__)

static const struct { const char *name; uint32_t inputs; } kind_rules[NORMALISED_KINDS] = {   /* ORDER NORMALISED */
    [NORMALISED_NONE]    = { "",        0 },
    [NORMALISED_REAL]    = { "REAL",    1 },
    [NORMALISED_EVEN]    = { "EVEN",    1 },
    [NORMALISED_SCALED]  = { "SCALED",  1 },
    [NORMALISED_PRODUCT] = { "PRODUCT", 2 },
};

static bool is_scales(const xir_field *f) {
    return f->kind == XIR_KIND_REF && f->of && xir_class_is_a(f->of, f->of->ctx->types[CLASS_scales]);
}

bool field_holds_numbers(const xir_field *f) {
    switch (f->kind) {
    case XIR_KIND_REAL: case XIR_KIND_REALS: case XIR_KIND_PARAMS: case XIR_KIND_PARAMSS: return true;
    case XIR_KIND_REF: case XIR_KIND_REFS: {
        const xir_class *const *types = f->of ? f->of->ctx->types : NULL;
        return types && (f->of == types[CLASS_scalar] || f->of == types[CLASS_float_imm] ||
                         xir_class_is_a(f->of, types[CLASS_scales]));
    }
    default: return false;
    }
}

static xir_status read_name(const xir_class *cls, xir_str name, class_normalised *out, xir_diags *why) {
    uint32_t i = row_input(cls, name);
    if (i < cls->more->n_inputs) {
        if (i >= 64) return REFUSE("'%.*s' is not among the first 64 inputs", SHOWN(name));
        out->inputs |= UINT64_C(1) << i;
        return XIR_OK;
    }
    const xir_field *f = xir_class_field(cls, name);
    if (!f) return REFUSE("the class has no input or attribute '%.*s'", SHOWN(name));
    if (!field_holds_numbers(f)) {
        return REFUSE("attribute '%.*s' of kind %s holds no real numbers", SHOWN(name),
                      xir_kind_name(f->kind));
    }
    if (f - cls->fields >= 64) return REFUSE("'%.*s' is not among the first 64 attributes", SHOWN(name));
    if (is_scales(f)) {
        if (out->cut) return REFUSE("'%.*s' and '%.*s' are both scales", SHOWN(out->cut->name), SHOWN(name));
        if (out->kind < NORMALISED_SCALED) {
            return REFUSE("'%.*s' is of scales, which %s does not apply", SHOWN(name),
                          kind_rules[out->kind].name);
        }
        out->cut = f;
    }
    out->fields |= UINT64_C(1) << (f - cls->fields);
    return XIR_OK;
}

xir_status class_read_normalised(xir_class *cls, const xir_row *row, xir_diags *why) {
    xir_str text = xir_str_of(row->doc), word = row_word(&text);
    class_normalised read = { .kind = NORMALISED_REAL };
    while (read.kind < NORMALISED_KINDS && !xir_str_equal(word, xir_str_of(kind_rules[read.kind].name))) read.kind++;
    if (read.kind == NORMALISED_KINDS) return REFUSE("expected a kind such as REAL, found '%.*s'", SHOWN(word));
    if (!cls->is_op) return REFUSE("the class is not an operation");
    if (cls->more->normalised) return REFUSE("the class has two of these rows");
    if (cls->more->n_inputs < kind_rules[read.kind].inputs || cls->more->n_outputs == 0) {
        return REFUSE("%s needs %u inputs and an output", kind_rules[read.kind].name,
                      kind_rules[read.kind].inputs);
    }
    while ((word = row_word(&text)).size) {
        xir_status status = read_name(cls, word, &read, why);
        if (status) return status;
    }
    class_normalised *normalised = arena_take(&cls->ctx->arena, sizeof *normalised);
    if (!normalised) return diag_memory(why);
    *normalised = read;
    cls->more->normalised = normalised;
    return XIR_OK;
}
