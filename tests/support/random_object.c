/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Random objects and rows, made from the class tables. */
#include <stdio.h>
#include <stdlib.h>
#include "forms.h"
#include "support/random_parts.h"

size_t rnd_class_index(const rnd *r, const xir_class *cls) {
    size_t i = 0;
    while (r->classes[i] != cls) i++;
    return i;
}

void rnd_class_key(rnd *r, const xir_class *cls) {
    xir_str old = xir_class_note(cls, XIR_DECL_ALIAS, 0);
    xir_str key = r->loose && old.size && rnd_once_in(r, 2) ? old : cls->key;
    if (key.data == old.data) r->counts->old_names++;
    rnd_quote(r, key.data, key.size);
}

bool rnd_row_key(rnd *r, rnd_map *m, const xir_class *cls, uint32_t field) {
    xir_str name = cls->fields[field].name;
    for (uint32_t i = 0; r->loose && i < cls->more->n_keys; i++) {
        if (cls->more->keys[i].field != (int)field || !cls->more->keys[i].old || rnd_once_in(r, 2)) continue;
        name = cls->more->keys[i].name;
        r->counts->old_names++;
        break;
    }
    return rnd_map_key(r, m, name.data, name.size);
}

/* ---- one-string spellings ----------------------------------------------------------------------------------- */

/* The ends of runs increase; the last one can be far away. */
static uint64_t run_length(rnd *r, bool last) {
    if (last && rnd_once_in(r, 400)) {
        r->refusable = true;
        r->counts->huge_runs++;
        return UINT64_C(1) << (30 + rnd_below(r, 30));
    }
    return rnd_once_in(r, 30) ? 1 + rnd_below(r, 3000) : 1 + rnd_below(r, 3);
}

static void put_array(rnd *r, const char *name, bool exp) {
    static const char *const words[] = { "inf", "-inf", "nan" };
    sheet_print(r->out, "@%s([axis=", name);
    rnd_put_i64(r, rnd_once_in(r, 3) ? rnd_i64(r) : (int64_t)rnd_below(r, 6) - 2);
    sheet_put(r->out, "]", 1);
    uint64_t n = rnd_below(r, 5);
    uint32_t before = 0;
    bool special = false;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t times = run_length(r, i + 1 == n);
        float v = rnd_float(r);
        uint32_t bits;
        memcpy(&bits, &v, sizeof bits);
        if (i && bits == before) v = v == 1.0f ? 2.0f : 1.0f;   /* equal neighbours would be a single run */
        memcpy(&before, &v, sizeof before);
        if (i) sheet_put(r->out, ",", 1);
        if (times > 1) sheet_print(r->out, "%" PRIu64 "*", times);
        if (exp) {
            rnd_put_i64(r, rnd_i64(r));
            sheet_put(r->out, "/", 1);
            rnd_put_i64(r, rnd_i64(r));
            sheet_put(r->out, "/", 1);
        }
        special = !special && rnd_once_in(r, 20);
        if (special) sheet_str(r->out, words[rnd_below(r, 3)]);
        else rnd_put_float(r, v);
    }
    sheet_put(r->out, ")", 1);
}

static void put_distr(rnd *r) {
    static const char *const words[] = { "^ZERO", "^NONE", "" };
    sheet_str(r->out, "@merged_distr([");
    for (uint64_t n = rnd_below(r, 4), i = 0; i < n; i++) {
        if (i) sheet_str(r->out, ", ");
        rnd_put_i64(r, rnd_once_in(r, 4) ? rnd_i64(r) : (int64_t)rnd_below(r, 5));
    }
    sheet_print(r->out, "]%s:{", words[rnd_below(r, 3)]);
    uint64_t n = rnd_below(r, 5), start = 0;
    bool valid = rnd_once_in(r, 2);
    for (uint64_t i = 0; i < n; i++, valid = !valid) {
        uint64_t end = start + run_length(r, i + 1 == n);
        sheet_print(r->out, "%s%s[%" PRIu64 ", %" PRIu64 ")", i ? ", " : "", valid ? "v:" : "u:", start, end);
        start = end;
    }
    sheet_str(r->out, "})");
}

static void put_layout(rnd *r) {
    static const char upper[] = "NLHWDCIO*", lower[] = "nlhwdcio";
    sheet_str(r->out, "@layout(");
    for (uint64_t n = rnd_below(r, 7); n > 0; n--) {
        if (rnd_once_in(r, 4)) {
            sheet_put(r->out, &lower[rnd_below(r, 8)], 1);
            rnd_put_i64(r, rnd_once_in(r, 8) ? INT64_MAX : 1 + (int64_t)rnd_below(r, 64));
        } else {
            sheet_put(r->out, &upper[rnd_below(r, 9)], 1);
        }
    }
    sheet_put(r->out, ")", 1);
}

static void put_core(rnd *r) {
    static const char *const cores[] = { "330", "340", "30S", "", ")", "a(b)", "\xC3\xA9" };
    sheet_print(r->out, "@zhuget(%s)", cores[rnd_below(r, 7)]);
}

static void put_number_form(rnd *r, const char *name) {
    static const char *const floats[] = { "@fp(16)", "@fp(32)", "@fp(64)", "@bf(16)", "@tf(32)", "@fpe7m8", "@fpe6m9" };
    if (strncmp(name, "fp", 2) == 0) {
        sheet_str(r->out, floats[rnd_below(r, 7)]);
    } else if (strcmp(name, "sint|uint") == 0) {
        int64_t bits = rnd_once_in(r, 8) ? 65536 : 1 + (int64_t)rnd_below(r, 70);
        sheet_print(r->out, "@%cint(%" PRId64 ")", rnd_once_in(r, 2) ? 's' : 'u', bits);
    } else {
        sheet_print(r->out, "@%s(%" PRIu64, name, rnd_u64(r));
        if (strcmp(name, "chunk") == 0) sheet_print(r->out, "@%" PRIu64, rnd_u64(r));
        sheet_put(r->out, ")", 1);
    }
}

static void put_scale(rnd *r, bool exp) {
    if (exp) {
        sheet_print(r->out, "@exp_scale(<%" PRId64 ", ", rnd_i64(r));
        sheet_print(r->out, "%" PRId64 ">, ", rnd_i64(r));
    } else {
        sheet_str(r->out, "@scale(");
    }
    rnd_put_float(r, rnd_float(r));
    sheet_put(r->out, ")", 1);
}

static void put_form(rnd *r, const xir_class *cls) {
    const char *name = cls->more->form->name;
    sheet_put(r->out, "\"", 1);
    if (cls->more->form->print == form_word_print)      sheet_print(r->out, "@%s", name);
    else if (strcmp(name, "layout") == 0)         put_layout(r);
    else if (strcmp(name, "merged_distr") == 0)   put_distr(r);
    else if (strcmp(name, "zhuget") == 0)         put_core(r);
    else if (strcmp(name, "scales") == 0 || strcmp(name, "norm_ratios") == 0) put_array(r, name, false);
    else if (strcmp(name, "exp_scales") == 0)     put_array(r, name, true);
    else if (strcmp(name, "scale") == 0 || strcmp(name, "exp_scale") == 0) put_scale(r, *name == 'e');
    else put_number_form(r, name);
    sheet_put(r->out, "\"", 1);
}

/* ---- objects ------------------------------------------------------------------------------------------------ */

static void put_unknown(rnd *r) {
    rnd_map m;
    rnd_map_open(r, &m);
    rnd_map_word(r, &m, "_type_key");
    sheet_print(r->out, "\"someone::%s%d\"", rnd_once_in(r, 3) ? "Op" : "Thing", (int)rnd_below(r, 4));
    for (uint64_t n = rnd_below(r, 4); n > 0; n--) {
        char key[64];
        size_t size = rnd_free_key(r, key, sizeof key);
        if (rnd_map_key(r, &m, key, size)) rnd_any(r, 2, false);
    }
    rnd_map_close(r, &m);
    r->counts->unknown_objects++;
}

static bool is_key_of(const xir_class *cls, const char *key, size_t size) {
    return class_find_key(cls, (xir_str){ key, size }, 0) != NULL;
}

static void put_rows(rnd *r, const xir_class *cls) {
    enum { TRACKED = 32 };   /* the rows of an object that may be absent */
    rnd_map m;
    rnd_map_open(r, &m);
    rnd_map_word(r, &m, "_type_key");
    rnd_class_key(r, cls);
    for (uint32_t i = 0; i < cls->n_fields; i++) {
        const xir_field *f = &cls->fields[i];
        bool needed = f->kind == XIR_KIND_REF && !(f->flags & XIR_FIELD_OPTIONAL);
        if (!needed && i < TRACKED && rnd_once_in(r, 8)) {
            r->counts->absent_object_rows++;
            continue;
        }
        rnd_row_key(r, &m, cls, i);
        rnd_row(r, f, false);
    }
    if (rnd_once_in(r, 8)) {
        char key[64];
        size_t size = rnd_free_key(r, key, sizeof key);
        if (!is_key_of(cls, key, size) && rnd_map_key(r, &m, key, size)) {
            bool fake = rnd_once_in(r, 6);
            if (fake) sheet_str(r->out, "{\"_type_key\":\"icraft::xir::Params\"}");   /* which is not Params here */
            else rnd_any(r, 2, false);
            r->ambiguous |= fake;
            r->counts->object_extra++;
        }
    }
    rnd_map_close(r, &m);
}

static void put_scalar(rnd *r, const xir_class *cls) {
    if (r->loose && rnd_once_in(r, 3)) put_rows(r, cls);   /* a map, which is written without a class again */
    else if (cls == r->ctx->types[CLASS_bool_imm]) sheet_str(r->out, rnd_once_in(r, 2) ? "true" : "false");
    else if (cls == r->ctx->types[CLASS_int_imm]) rnd_put_i64(r, rnd_i64(r));
    else {
        bool loose = r->loose;
        r->loose = false;   /* an integer would belong to another class */
        rnd_real(r);
        r->loose = loose;
    }
}

static bool is_scalar(const rnd *r, const xir_class *cls) { return xir_class_is_a(cls, r->ctx->types[CLASS_scalar]); }

static bool fits(const xir_class *cls, const xir_class *of) {
    return !cls->is_op && !(cls->traits & XIR_TRAIT_ABSTRACT) && (!of || xir_class_is_a(cls, of));
}

void rnd_object(rnd *r, const xir_class *of) {
    const xir_class *few[256];
    size_t n = 0;
    bool shallow = false;
    for (size_t i = 0; i < r->n_classes; i++)
        shallow |= fits(r->classes[i], of) && (r->classes[i]->more->form || is_scalar(r, r->classes[i]));
    for (size_t i = 0; i < r->n_classes && n < 256; i++) {
        const xir_class *cls = r->classes[i];
        if (!fits(cls, of) || (r->depth <= 0 && shallow && !cls->more->form && !is_scalar(r, cls))) continue;
        few[n++] = cls;
    }
    bool family = !of || of->traits & XIR_TRAIT_ABSTRACT;
    if (!n || (family && rnd_once_in(r, 12))) {
        put_unknown(r);
        return;
    }
    const xir_class *cls = few[rnd_below(r, n)];
    r->counts->objects[rnd_class_index(r, cls)]++;
    r->depth--;
    if (cls->more->form) put_form(r, cls);
    else if (is_scalar(r, cls)) put_scalar(r, cls);
    else put_rows(r, cls);
    r->depth++;
}

/* ---- rows --------------------------------------------------------------------------------------------------- */

static void put_run(rnd *r, uint64_t *end) {
    int64_t small = (int64_t)rnd_below(r, 2001) - 1000;
    *end += 1 + rnd_below(r, 5);
    sheet_print(r->out, "[%" PRIu64 ",%" PRId64 ",%d,", *end, rnd_once_in(r, 4) ? small * (INT64_C(1) << 40) : small,
                (int)rnd_below(r, 9));
    rnd_put_double(r, (double)rnd_float(r));
    sheet_put(r->out, "]", 1);
}

/* A dim below -1 is refused wherever a type is made. */
static void put_integer(rnd *r, const xir_field *f) {
    int64_t v = rnd_i64(r);
    rnd_put_i64(r, field_is_shape(r->ctx, f) && v < XIR_UNKNOWN_DIM ? XIR_UNKNOWN_DIM : v);
}

static void put_item(rnd *r, const xir_field *f, uint64_t *end) {
    switch (f->kind) {
    case XIR_KIND_BOOLS:   sheet_str(r->out, rnd_once_in(r, 2) ? "true" : "false"); break;
    case XIR_KIND_I64S:    put_integer(r, f); break;
    case XIR_KIND_REALS:   rnd_real(r); break;
    case XIR_KIND_TEXTS:   rnd_text(r); break;
    case XIR_KIND_REFS:    rnd_object(r, f->of); break;
    case XIR_KIND_RUNS:    put_run(r, end); break;
    case XIR_KIND_PARAMSS: rnd_params(r); break;
    case XIR_KIND_OPS:     rnd_op(r, true); break;
    default: abort();
    }
}

static void put_items(rnd *r, const xir_field *f) {
    bool deep = f->kind == XIR_KIND_REFS || f->kind == XIR_KIND_OPS;
    uint64_t n = deep && r->depth <= 0 ? 0 : f->kind == XIR_KIND_OPS ? rnd_below(r, 3)
               : !deep && rnd_once_in(r, 40) ? rnd_below(r, 300) : rnd_below(r, 4), end = 0;
    bool single = f->flags & XIR_FIELD_SINGLE && n == 1 && (r->loose ? rnd_once_in(r, 2) : r->single);
    if (single) r->counts->singles++;
    else sheet_put(r->out, "[", 1);
    for (uint64_t i = 0; i < n; i++) {
        if (i) sheet_put(r->out, ",", 1);
        put_item(r, f, &end);
    }
    if (!single) sheet_put(r->out, "]", 1);
}

/* null for optional fields, and in ops for any reference, which is invalid but can be read. */
static bool may_be_null(const xir_field *f, bool in_op) {
    if (f->kind == XIR_KIND_I64S) return f->flags & XIR_FIELD_OPTIONAL;
    return (f->kind == XIR_KIND_REF || f->kind == XIR_KIND_PARAMS) && (f->flags & XIR_FIELD_OPTIONAL || in_op);
}

void rnd_row(rnd *r, const xir_field *f, bool in_op) {
    bool optional = f->flags & XIR_FIELD_OPTIONAL;
    if (may_be_null(f, in_op) && (rnd_once_in(r, optional ? 3 : 12) || (optional && r->depth <= 0))) {
        sheet_str(r->out, "null");
        r->counts->nulls[f->kind]++;
        return;
    }
    r->counts->kinds[f->kind]++;
    switch (f->kind) {
    case XIR_KIND_BOOL:   sheet_str(r->out, rnd_once_in(r, 2) ? "true" : "false"); break;
    case XIR_KIND_I64:    rnd_put_i64(r, rnd_i64(r)); break;
    case XIR_KIND_U64:    rnd_put_u64(r, rnd_u64(r)); break;
    case XIR_KIND_REAL:   rnd_real(r); break;
    case XIR_KIND_TEXT:   rnd_text(r); break;
    case XIR_KIND_ENUM:   sheet_print(r->out, "\"%s\"", f->members->names[rnd_below(r, f->members->size)]); break;
    case XIR_KIND_REF:    rnd_object(r, f->of); break;
    case XIR_KIND_PARAMS: rnd_params(r); break;
    case XIR_KIND_MAP:    rnd_any_map(r, 3, in_op); break;
    default:              put_items(r, f); break;
    }
}
