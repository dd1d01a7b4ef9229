/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Sealing turns a declaration into a class: it sorts the rows into attributes, ports and keys, makes the default body,
 * and refuses contradictions. */
#include <math.h>
#include "class_seal.h"
#include "number.h"
#include "sized.h"

/* ---- kinds ------------------------------------------------------------------------------------------------- */

/* ORDER KIND */
static const struct { const char *name; uint8_t size; bool plain, valued; } kinds[XIR_KIND_COUNT] = {
    [XIR_KIND_BOOL]    = { "bool",         sizeof(bool),         true,  true  },
    [XIR_KIND_I64]     = { "int64",        sizeof(int64_t),      true,  true  },
    [XIR_KIND_U64]     = { "uint64",       sizeof(uint64_t),     true,  true  },
    [XIR_KIND_REAL]    = { "float",        sizeof(double),       true,  true  },
    [XIR_KIND_TEXT]    = { "string",       sizeof(xir_str),      false, true  },
    [XIR_KIND_ENUM]    = { "enum",         sizeof(int),          true,  true  },
    [XIR_KIND_REF]     = { "ref",          sizeof(void *),       true,  true  },
    [XIR_KIND_PARAMS]  = { "params",       sizeof(void *),       false, false },
    [XIR_KIND_MAP]     = { "map",          sizeof(xir_map),      false, false },
    [XIR_KIND_BOOLS]   = { "list<bool>",   sizeof(xir_bools),    false, true  },
    [XIR_KIND_I64S]    = { "list<int64>",  sizeof(xir_i64s),     false, true  },
    [XIR_KIND_REALS]   = { "list<float>",  sizeof(xir_reals),    false, true  },
    [XIR_KIND_TEXTS]   = { "list<string>", sizeof(xir_texts),    false, true  },
    [XIR_KIND_REFS]    = { "list<ref>",    sizeof(xir_refs),     false, false },
    [XIR_KIND_RUNS]    = { "runs",         sizeof(xir_runs),     false, false },
    [XIR_KIND_PARAMSS] = { "list<params>", sizeof(xir_values),   false, false },
    [XIR_KIND_OPS]     = { "list<op>",     sizeof(xir_ops),      false, false },
};

const char *xir_kind_name(xir_kind kind) {
    return (unsigned)kind < XIR_KIND_COUNT ? kinds[kind].name : "?";
}

/* ---- sealing ----------------------------------------------------------------------------------------------- */

/* ORDER KEY_: the keys of every op. */
static const class_key base_keys[] = {
    { { "_type_key",      9  }, KEY_TYPE,    false },
    { { "compile_target", 14 }, KEY_TARGET,  false },
    { { "inputs",         6  }, KEY_INPUTS,  false },
    { { "name",           4  }, KEY_NAME,    false },
    { { "op_id",          5  }, KEY_ID,      false },
    { { "outputs",        7  }, KEY_OUTPUTS, false },
    { { "tags",           4  }, KEY_TAGS,    false },
};
_Static_assert(sizeof base_keys / sizeof base_keys[0] == BASE_KEYS, "class_seal.h says how many there are");

class_more *class_more_of_opaque(bool is_op) {
    static const class_more of_ops     = { .keys = (class_key *)(uintptr_t)base_keys, .n_keys = BASE_KEYS };
    static const class_more of_objects = { .keys = (class_key *)(uintptr_t)base_keys, .n_keys = 1 };
    return (class_more *)(uintptr_t)(is_op ? &of_ops : &of_objects);
}

/* Classes have few keys: an insertion sort is short and allocates nothing. */
static void sort_keys(class_key *keys, uint32_t n) {
    for (uint32_t i = 1; i < n; i++) {
        class_key key = keys[i];
        uint32_t at = i;
        for (; at > 0 && str_order(keys[at - 1].name, key.name) > 0; at--) keys[at] = keys[at - 1];
        keys[at] = key;
    }
}

/* The class that a row refers to: a registered one, one on the stage, or the one being sealed. */
static const xir_class *referred(const class_stage *stage, const xir_class *self, const xir_class_decl *(*of)(void)) {
    if (!of) return NULL;
    const xir_class_decl *decl = of();
    if (self && decl == self->decl) return self;
    const xir_class *cls = stage_find(stage, xir_str_of(decl->rows->name));
    return cls && cls->decl == decl ? cls : NULL;
}

static void fill_field(const class_stage *stage, const xir_class *self, xir_field *f, const xir_row *row) {
    *f = (xir_field){ .name = xir_str_of(row->name), .doc = xir_str_of(row->doc), .kind = row->kind,
                      .flags = row->flags, .default_value = row->default_value, .min = row->min, .max = row->max,
                      .default_text = xir_str_of(row->default_text), .offset = row->offset };
    if (row->kind == XIR_KIND_REAL) {
        f->has_min = row->min.r > -(double)INFINITY;
        f->has_max = row->max.r < (double)INFINITY;
    } else if (row->kind == XIR_KIND_I64 || row->kind == XIR_KIND_U64) {
        f->has_min = row->min.i != INT64_MIN;
        f->has_max = row->max.i != INT64_MAX;
    }
    f->has_default = !(row->flags & (XIR_FIELD_REQUIRED | XIR_FIELD_OPTIONAL));
    f->members = row->members ? row->members() : NULL;
    f->of = referred(stage, self, row->of);
}

/* Finds the stretches of a plain body without padding. */
static void make_spans(const xir_class *cls) {
    class_more *more = cls->more;
    for (uint32_t i = 0; i < cls->n_fields; i++) {
        const xir_field *f = &cls->fields[i];
        class_span *last = more->n_spans ? &more->spans[more->n_spans - 1] : NULL;
        if (last && last->start + last->size == f->offset) last->size += kinds[f->kind].size;
        else more->spans[more->n_spans++] = (class_span){ f->offset, kinds[f->kind].size };
    }
}

static void init_field(void *body, const xir_row *row) {
    void *at = (char *)body + row->offset;
    switch (row->kind) {
    case XIR_KIND_BOOL: *(bool *)at = row->default_value.i != 0; break;
    case XIR_KIND_I64:
    case XIR_KIND_U64:  *(int64_t *)at = row->default_value.i; break;
    case XIR_KIND_REAL: *(double *)at = number_to_f32(row->default_value.r); break;
    case XIR_KIND_TEXT: *(xir_str *)at = xir_str_of(row->default_text); break;
    case XIR_KIND_ENUM: *(int *)at = (int)row->default_value.i; break;
    default: break;   /* null or empty */
    }
}

/* Returns the offset of the mark in a body of the class that xir_X_init has made. */
static uint32_t made_at(const xir_class_decl *decl) {
    row_walk w;
    const xir_row *head = row_first(&w, decl);
    int64_t at = head->max.i;
    return at > 0 && at % 4 == 0 && at <= (int64_t)head->offset - 4 ? (uint32_t)at : 0;
}

void xir_body_init(const xir_class_decl *decl, void *body) {
    memset(body, 0, decl->rows->offset);
    row_walk w;
    for (const xir_row *row = row_first(&w, decl); row->decl != XIR_DECL_END; row = row_next(&w)) {
        if (row->decl == XIR_DECL_FIELD) init_field(body, row);
    }
    uint32_t at = made_at(decl);
    if (at) *(uint32_t *)(void *)((char *)body + at) = XIR_MADE_;
}

/* Makes the default of a reference from the row's text, which is spelled as in files: a one-string form or a number. */
static const xir_object *preset_object(xir_context *ctx, const char *text, xir_status *status, xir_diags *why) {
    form_error e = { 0 };
    const xir_object *object;
    if (text[0] == '@') {
        object = form_parse(&ctx->pool, xir_str_of(text), &e);
    } else {
        /* Defaults are short: an integer, or a real with few digits, which this reads exactly. */
        int64_t whole = 0, scale = 1;
        bool minus = *text == '-', real = false;
        for (const char *p = text + minus; *p; p++) {
            if (*p == '.') { real = true; continue; }
            whole = whole * 10 + (*p - '0');
            if (real) scale *= 10;
        }
        if (minus) whole = -whole;
        object = (const xir_object *)(real ? xir_scalar_real(ctx, (double)whole / (double)scale)
                                      : xir_scalar_int(ctx, whole));
    }
    if (object) return object;
    *status = e.status && e.status != XIR_E_MEMORY
        ? diag_fail(why, XIR_E_INVALID, XIR_STR(""), "the default %s: %s", text, e.message)
                                                   : diag_memory(why);
    return NULL;
}

xir_status class_make_defaults(xir_context *ctx, xir_class *cls, const xir_class_decl *decl, xir_diags *why) {
    xir_status status = XIR_OK;
    xir_body_init(decl, cls->defaults);
    row_walk w;
    for (const xir_row *row = row_first(&w, decl); row->decl != XIR_DECL_END; row = row_next(&w)) {
        if (row->decl != XIR_DECL_FIELD || !row->default_text || row->kind == XIR_KIND_TEXT) continue;
        const xir_object *object = preset_object(ctx, row->default_text, &status, why);
        if (!object) return status;
        const xir_field *f = xir_class_field(cls, xir_str_of(row->name));
        if (f->of && !xir_class_is_a(object->cls, f->of)) {
            return diag_fail(why, XIR_E_INVALID, XIR_STR(""),
                             "class %s: the default of '%s' is a %s, expected a %s", cls->key.data,
                             row->name, object->cls->key.data, f->of->key.data);
        }
        void *at = (char *)cls->defaults + row->offset;
        if (row->kind == XIR_KIND_REF) {
            *(const xir_object **)at = object;
        } else {
            pthread_mutex_lock(&ctx->lock);
            const xir_object **item = arena_copy(&ctx->arena, &object, sizeof object);
            pthread_mutex_unlock(&ctx->lock);
            if (!item) return diag_memory(why);
            *(xir_refs *)at = (xir_refs){ item, 1 };
        }
    }
    cls->more->defaults_good = body_check(cls, cls->defaults, XIR_STR(""), XIR_STR(""), NULL) == XIR_OK;
    return XIR_OK;
}

typedef struct row_counts { uint32_t fields, inputs, outputs, aliases, was; } row_counts;

static row_counts count_rows(const xir_class_decl *decl) {
    row_counts n = { 0 };
    row_walk w;
    for (const xir_row *row = row_first(&w, decl); row->decl != XIR_DECL_END; row = row_next(&w)) {
        switch (row->decl) {
        case XIR_DECL_FIELD: n.fields++; break;
        case XIR_DECL_IN:
        case XIR_DECL_OPT:
        case XIR_DECL_VAR:   n.inputs++; break;
        case XIR_DECL_OUT:
        case XIR_DECL_OUTS:  n.outputs++; break;
        case XIR_DECL_ALIAS: n.aliases++; break;
        case XIR_DECL_WAS:   n.was++; break;
        default: break;
        }
    }
    return n;
}

size_t class_alias_count(const xir_class_decl *decl) { return count_rows(decl).aliases; }

static void add_port(xir_class *cls, const xir_row *row) {
    class_more *more = cls->more;
    xir_port port = { xir_str_of(row->name), xir_str_of(row->doc), row->decl };
    if (row->decl == XIR_DECL_OUT || row->decl == XIR_DECL_OUTS) {
        more->outputs[more->n_outputs++] = port;
        cls->many_outputs |= row->decl == XIR_DECL_OUTS;
        return;
    }
    const bool in_row = row->decl != XIR_DECL_VAR && row->offset == more->n_inputs * sizeof(xir_value *);
    more->inputs_are_list = in_row && (!more->n_inputs || more->inputs_are_list);
    more->input_offsets[more->n_inputs] = row->offset;
    more->inputs[more->n_inputs++] = port;
    cls->many_inputs |= row->decl == XIR_DECL_VAR;
    if (row->decl == XIR_DECL_IN) more->least_inputs = more->n_inputs;
}

static uint32_t field_index(const xir_class *cls, xir_str name) {
    uint32_t i = 0;
    while (i < cls->n_fields && !xir_str_equal(cls->fields[i].name, name)) i++;
    return i;
}

int stage_target(const class_stage *stage, xir_str key) {
    const xir_class *cls = stage_find(stage, key);
    return cls ? class_target(stage->ctx, cls) : -1;
}

/* The kind of target of an INFER row; -1 if there is no such target. */
static int infer_target(const class_stage *stage, const xir_row *row) {
    if (row->name) return stage_target(stage, xir_str_of(row->name));
    return (unsigned)row->target < XIR_TARGET_COUNT ? row->target : -1;
}

static void add_infer(const class_stage *stage, xir_class *cls, const xir_row *row) {
    bool alone = row->flags & XIR_INFER_ALONE;
    if (row->flags & XIR_INFER_TILED) {
        cls->more->infer_tiled = row->fn;
        cls->more->alone_tiled = alone;
        return;
    }
    int target = infer_target(stage, row);
    if (target < 0) return;
    class_set_infer(cls, (unsigned)target, row->fn);
    if (alone) cls->more->alone |= UINT32_C(1) << target;
}

static bool reserve_infers(const class_stage *stage, xir_class *cls, const xir_class_decl *decl) {
    row_walk w;
    for (const xir_row *row = row_first(&w, decl); row->decl != XIR_DECL_END; row = row_next(&w)) {
        int target = row->decl == XIR_DECL_INFER ? infer_target(stage, row) : -1;
        if (target >= 0 && !class_reserve_infer(cls, (unsigned)target)) return false;
    }
    return true;
}

static void add_rows(const class_stage *stage, xir_class *cls, const xir_class_decl *decl) {
    class_more *more = cls->more;
    row_walk w;
    for (const xir_row *row = row_first(&w, decl); row->decl != XIR_DECL_END; row = row_next(&w)) {
        switch (row->decl) {
        case XIR_DECL_FIELD:
            fill_field(stage, cls, &cls->fields[cls->n_fields], row);
            cls->plain &= kinds[row->kind].plain;
            cls->valued &= kinds[row->kind].valued;
            more->has_params |= row->kind == XIR_KIND_PARAMS || row->kind == XIR_KIND_PARAMSS;
            if (row->kind == XIR_KIND_REF) more->refs[more->n_refs++] = cls->n_fields;
            if (row->flags & XIR_FIELD_REQUIRED && cls->n_fields < 64) more->required |= UINT64_C(1) << cls->n_fields;
            cls->n_fields++;
            break;
        case XIR_DECL_IN: case XIR_DECL_OPT: case XIR_DECL_VAR: case XIR_DECL_OUT: case XIR_DECL_OUTS:
            add_port(cls, row);
            break;
        case XIR_DECL_CHECK: more->check = row->fn; break;
        case XIR_DECL_INFER: add_infer(stage, cls, row); break;
        case XIR_DECL_WORK:  more->work = row->fn; break;
        case XIR_DECL_TAKES: more->takes = row->fn; break;
        case XIR_DECL_NEEDS:
            more->needs = row->fn;
            more->needs_wide = row->flags & XIR_NEEDS_WIDE;
            break;
        case XIR_DECL_FORM:  more->form = row->form; break;
        default: break;
        }
    }
    more->n_keys = cls->is_op ? BASE_KEYS : 1;
    memcpy(more->keys, base_keys, more->n_keys * sizeof *base_keys);
    for (uint32_t i = 0; i < cls->n_fields; i++) {
        more->keys[more->n_keys++] = (class_key){ cls->fields[i].name, (int)i, false };
    }
    for (const xir_row *row = row_first(&w, decl); row->decl != XIR_DECL_END; row = row_next(&w)) {
        if (row->decl != XIR_DECL_WAS) continue;
        more->keys[more->n_keys++] =
            (class_key){ xir_str_of(row->doc), (int)field_index(cls, xir_str_of(row->name)), true };
    }
    sort_keys(more->keys, more->n_keys);
}

/* Refuses rows that cannot be read at all. The code below relies on this. */
static xir_status check_shape(const class_stage *stage, const xir_class_decl *decl, xir_diags *why) {
    const xir_row *head = decl->rows;
    const char *many = NULL;
    bool is_op = head->decl == XIR_DECL_OP;
    size_t least = is_op ? 0 : sizeof(xir_object);
    if ((!is_op && head->decl != XIR_DECL_OBJ) || !head->name || !*head->name || head->offset < least) {
        return diag_fail(why, XIR_E_INVALID, XIR_STR(""),
                         "class %s: the first row must name the class and the size of its body",
                         head->name ? head->name : "?");
    }
    row_walk w;
    size_t at = 0;
    for (const xir_row *row = row_first(&w, decl); row->decl != XIR_DECL_END; row = row_next(&w), at++) {
        if ((unsigned)row->decl >= XIR_DECL_COUNT) {
            return diag_fail(why, XIR_E_ABI, XIR_STR(""),
                             "class %s has a row of the word %d, which this library does not know: it is of a later "
                             "version, or the rows do not end with END", head->name, (int)row->decl);
        }
        if (at && (row->decl == XIR_DECL_OP || row->decl == XIR_DECL_OBJ)) {
            return diag_fail(why, XIR_E_INVALID, XIR_STR(""),
                             "class %s: its rows do not end with END: row %zu begins the class %s", head->name, at,
                             row->name ? row->name : "?");
        }
        if (row->of && row->of() != decl && !referred(stage, NULL, row->of)) {
            return diag_fail(why, XIR_E_UNKNOWN, XIR_STR(""),
                             "class %s refers to %s, which is not registered", head->name, row->of()->rows->name);
        }
        if (row->decl == XIR_DECL_FIELD) {
            if (!row->name || (unsigned)row->kind >= XIR_KIND_COUNT || row->offset < least ||
                (size_t)row->offset + kinds[row->kind].size > head->offset) {
                return diag_fail(why, XIR_E_INVALID, XIR_STR(""),
                                 "class %s: '%s' is of no known kind, or outside of the body",
                                 head->name, row->name ? row->name : "?");
            }
        } else if (row->decl == XIR_DECL_ALIAS) {
            const xir_class *cls = stage_find(stage, xir_str_of(row->name));
            if (cls) {
                return diag_fail(why, XIR_E_EXISTS, XIR_STR(""), "class %s: the key %s is taken by %s",
                                 head->name, row->name, cls->key.data);
            }
        } else if (row->decl == XIR_DECL_INFER) {
            if (row->name && infer_target(stage, row) < 0) {
                return diag_fail(why, XIR_E_UNKNOWN, XIR_STR(""),
                                 "class %s infers on %s, which is not a registered target", head->name, row->name);
            }
            if (infer_target(stage, row) < 0 || !row->fn) {
                return diag_fail(why, XIR_E_INVALID, XIR_STR(""), "class %s infers for no known target", head->name);
            }
        } else if (row->decl == XIR_DECL_IN || row->decl == XIR_DECL_OPT || row->decl == XIR_DECL_VAR) {
            if (many) {
                return diag_fail(why, XIR_E_INVALID, XIR_STR(""),
                                 "class %s: inputs '%s' are any number and not the last", head->name, many);
            }
            if (row->decl == XIR_DECL_VAR) many = row->name;
        }
    }
    return XIR_OK;
}

static bool outside(const xir_field *f, xir_number v) {
    switch (f->kind) {
    case XIR_KIND_REAL: return (f->has_min && v.r < f->min.r) || (f->has_max && v.r > f->max.r);
    case XIR_KIND_U64:
        return (f->has_min && (uint64_t)v.i < (uint64_t)f->min.i) || (f->has_max && (uint64_t)v.i > (uint64_t)f->max.i);
    case XIR_KIND_I64:  return (f->has_min && v.i < f->min.i) || (f->has_max && v.i > f->max.i);
    case XIR_KIND_ENUM: return !f->members || v.i < 0 || (uint64_t)v.i >= f->members->size;
    default:            return false;
    }
}

/* Refuses rows that contradict themselves. */
static xir_status check_rows(const xir_class *cls, xir_diags *why) {
    for (uint32_t i = 0; i < cls->more->n_keys; i++) {
        const class_key *k = &cls->more->keys[i];
        if (i > 0 && xir_str_equal(cls->more->keys[i - 1].name, k->name)) {
            return diag_fail(why, XIR_E_INVALID, XIR_STR(""), "class %s declares '%.*s' twice", cls->key.data,
                             (int)k->name.size, k->name.data);
        }
        if (k->old && k->field >= (int)cls->n_fields) {
            return diag_fail(why, XIR_E_INVALID, XIR_STR(""), "class %s: '%.*s' is an old name of no attribute",
                             cls->key.data, (int)k->name.size, k->name.data);
        }
    }
    for (uint32_t i = 0; i < cls->n_fields; i++) {
        const xir_field *f = &cls->fields[i];
        if (f->has_default && outside(f, f->default_value)) {
            return diag_fail(why, XIR_E_INVALID, XIR_STR(""), "class %s: the default of '%s' is outside its bounds",
                             cls->key.data, f->name.data);
        }
        if (f->has_min && f->has_max && outside(f, f->min)) {
            return diag_fail(why, XIR_E_INVALID, XIR_STR(""), "class %s: the bounds of '%s' leave nothing",
                             cls->key.data, f->name.data);
        }
    }
    return XIR_OK;
}

/* Reads the rows of words, once all attributes and ports are known. */
static xir_status add_rules(xir_class *cls, const xir_class_decl *decl, xir_diags *why) {
    row_walk w;
    for (const xir_row *row = row_first(&w, decl); row->decl != XIR_DECL_END; row = row_next(&w)) {
        xir_status status = XIR_OK;
        if (row->decl == XIR_DECL_LAYOUT) status = class_read_layout(cls, row, why);
        if (row->decl == XIR_DECL_NORMALISED) status = class_read_normalised(cls, row, why);
        if (row->decl == XIR_DECL_SHARES) status = class_read_shares(cls, row, why);
        if (status) return status;
    }
    return XIR_OK;
}

xir_class *class_seal(const class_stage *stage, const xir_class_decl *decl, xir_status *status, xir_diags *why) {
    xir_context *ctx = stage->ctx;
    *status = check_shape(stage, decl, why);
    if (*status) return NULL;
    const xir_row *head = decl->rows;
    row_counts n = count_rows(decl);
    arena *a = &ctx->arena;
    xir_class *cls = arena_take(a, sizeof *cls);
    class_more *more = arena_take(a, sizeof *more);
    if (!cls || !more) goto memory;
    *more = (class_more){ .doc = xir_str_of(head->doc), .base = referred(stage, NULL, head->of),
                          .tag = (uint32_t)head->default_value.i };
    *cls = (xir_class){ .ctx = ctx, .decl = decl, .key = xir_str_of(head->name), .more = more,
                        .traits = head->flags, .is_op = head->decl == XIR_DECL_OP, .plain = true, .valued = true,
                        .body_size = head->offset, .made_at = made_at(decl) };
    cls->fields = arena_take(a, n.fields * sizeof *cls->fields);
    more->keys = arena_take(a, (n.fields + n.was + BASE_KEYS) * sizeof *more->keys);
    cls->defaults = arena_take(a, cls->body_size ? cls->body_size : 1);
    more->inputs = arena_take(a, n.inputs * sizeof *more->inputs);
    more->input_offsets = arena_take(a, n.inputs * sizeof *more->input_offsets);
    more->outputs = arena_take(a, n.outputs * sizeof *more->outputs);
    more->spans = arena_take(a, n.fields * sizeof *more->spans);
    more->refs = arena_take(a, n.fields * sizeof *more->refs);
    if (!cls->fields || !cls->defaults || !more->keys || !more->inputs || !more->input_offsets || !more->outputs ||
        !more->spans || !more->refs || !reserve_infers(stage, cls, decl)) goto memory;
    add_rows(stage, cls, decl);
    if (cls->plain) make_spans(cls);
    *status = check_rows(cls, why);
    if (!*status) *status = add_rules(cls, decl, why);
    return *status ? NULL : cls;
memory:
    *status = diag_memory(why);
    return NULL;
}
