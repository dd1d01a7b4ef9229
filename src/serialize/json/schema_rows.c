/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The JSON Schema of classes: the rows of a class, and what may stand where a class is expected. The rules are those of
 * codec/object.c, and of check.c for bounds and null. */
#include "forms.h"
#include "json/schema.h"

static void end_definition(schema *s) {
    schema_put(s, "}");
    s->json.sink.ops->piece(&s->json.sink);
}

/* ---- what may stand where a class is expected ------------------------------------------------------------------- */

static bool is_in(const xir_class *cls, const xir_class *of) { return !of || xir_class_is_a(cls, of); }

/* Objects of unknown classes are accepted where any member of a family may stand. */
static bool takes_unknown(const xir_class *of) { return !of || of->traits & XIR_TRAIT_ABSTRACT; }

static bool takes_maps(const schema *s, const xir_class *of) {
    if (takes_unknown(of)) return true;
    for (size_t i = 0; i < s->n; i++)
        if (is_map_class(s->classes[i]) && is_in(s->classes[i], of)) return true;
    return false;
}

/* "^@(layout(\(…\))?|hostt)$", and the reals that JSON has no number for. */
static void put_pattern(schema *s, const xir_class *of, bool real) {
    buffer b;
    buffer_init(&b, context_alloc(s->ctx));
    bool first = true;
    for (size_t i = 0; i < s->n; i++) {
        const xir_class *cls = s->classes[i];
        if (!cls->more->form || !is_in(cls, of)) continue;
        buffer_str(&b, first ? "^@(" : "|");
        bool many = strchr(cls->more->form->name, '|') != NULL;
        if (many) buffer_char(&b, '(');
        buffer_str(&b, cls->more->form->name);
        if (many) buffer_char(&b, ')');
        if (cls->more->form->print != form_word_print) buffer_str(&b, "(\\([\\s\\S]*\\))?");
        first = false;
    }
    if (!first) buffer_str(&b, ")$");
    if (real) buffer_str(&b, first ? "^(inf|-inf|nan)$" : "|^(inf|-inf|nan)$");
    if (b.failed) s->json.sink.status = XIR_E_MEMORY;
    else if (b.size) schema_put(s, "'pattern': %s", (xir_str){ b.data, b.size });
    buffer_free(&b);
}

static bool takes_texts(const schema *s, const xir_class *of, bool real) {
    for (size_t i = 0; i < s->n; i++) real |= s->classes[i]->more->form && is_in(s->classes[i], of);
    return real;
}

/* The classes that a map may name, and the rules that follow from each. */
static void put_maps(schema *s, const xir_class *of) {
    schema_put(s, "'required': ['_type_key'], 'properties': {'_type_key': {");
    if (takes_unknown(of)) schema_put(s, "'type': 'string', 'if': {@known}, 'then': {");
    schema_put(s, "'enum': [");
    for (size_t i = 0; i < s->n; i++)
        if (is_map_class(s->classes[i]) && is_in(s->classes[i], of)) schema_keys_of(s, s->classes[i]);
    schema_put(s, takes_unknown(of) ? "]}}}" : "]}}");
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++) {
        const xir_class *cls = s->classes[i];
        if (!is_map_class(cls) || !is_in(cls, of)) continue;
        schema_put(s, n++ ? "{" : "'allOf': [{");
        schema_put(s, "'if': {'type': 'object', 'properties': {'_type_key': {'enum': [");
        schema_keys_of(s, cls);
        schema_put(s, "]}}}, 'then': {%r}}", "class:", cls->key);
    }
    if (n) schema_put(s, "]");
}

void schema_family(schema *s, const xir_class *of) {
    xir_context *ctx = s->ctx;
    const bool truth = is_in(ctx->types[CLASS_bool_imm], of), whole = is_in(ctx->types[CLASS_int_imm], of);
    const bool real = is_in(ctx->types[CLASS_float_imm], of), maps = takes_maps(s, of);
    schema_put(s, "%d: {", "any:", of ? of->key : XIR_STR(""));
    if (of && of->more->doc.size) schema_put(s, "'description': %s", of->more->doc);
    schema_put(s, "'type': [");
    if (truth) schema_put(s, "'boolean'");
    if (real || whole) schema_put(s, real ? "'number'" : "'integer'");
    if (takes_texts(s, of, real)) schema_put(s, "'string'");
    if (maps) schema_put(s, "'object'");
    schema_put(s, "]");
    put_pattern(s, of, real);
    if (maps) put_maps(s, of);
    end_definition(s);
}

/* ---- rows ------------------------------------------------------------------------------------------------------- */

static void put_bounds(schema *s, const xir_field *f) {
    const bool real = f->kind == XIR_KIND_REAL, is_signed = f->kind == XIR_KIND_I64;
    if (!f->has_min && !f->has_max) {
        schema_put(s, real ? "@real" : is_signed ? "@int64" : "@uint64");
    } else if (real) {
        schema_put(s, f->has_min && f->has_max ? "'type': ['number']" : "'type': ['number', 'string']");
        if (!f->has_min)      schema_put(s, "'pattern': '^-inf$'");
        else if (!f->has_max) schema_put(s, "'pattern': '^inf$'");
        if (f->has_min) schema_put(s, "'minimum': %n", f->min.r);
        if (f->has_max) schema_put(s, "'maximum': %n", f->max.r);
    } else {
        schema_put(s, "'type': 'integer', 'minimum': %i, 'maximum': %u",
                   f->has_min ? f->min.i : is_signed ? INT64_MIN : (int64_t)0,
                   f->has_max ? (uint64_t)f->max.i : is_signed ? (uint64_t)INT64_MAX : UINT64_MAX);
    }
}

/* The values of a row other than null. */
static void put_kind(schema *s, const xir_class *cls, const xir_field *f) {
    const xir_str family = f->of ? f->of->key : XIR_STR("");
    switch (f->kind) {
    case XIR_KIND_BOOL:  schema_put(s, "'type': 'boolean'"); break;
    case XIR_KIND_I64:
    case XIR_KIND_U64:
    case XIR_KIND_REAL:  put_bounds(s, f); break;
    case XIR_KIND_TEXT:  schema_put(s, "'type': 'string'"); break;
    case XIR_KIND_ENUM:
        schema_put(s, "'enum': [");
        for (size_t i = 0; i < f->members->size; i++) schema_put(s, "%s", xir_str_of(f->members->names[i]));
        schema_put(s, "]");
        break;
    case XIR_KIND_MAP:
        schema_put(s, "'type': 'object'");
        if (cls->is_op) schema_put(s, "'additionalProperties': {@free}");
        break;
    case XIR_KIND_REF:    schema_put(s, "%r", "any:", family); break;
    case XIR_KIND_PARAMS: schema_put(s, "@params"); break;
    case XIR_KIND_BOOLS:  schema_put(s, "'type': 'array', 'items': {'type': 'boolean'}"); break;
    case XIR_KIND_I64S:   schema_put(s, "'type': 'array', 'items': {@int64}"); break;
    case XIR_KIND_REALS:  schema_put(s, "'type': 'array', 'items': {@real}"); break;
    case XIR_KIND_TEXTS:  schema_put(s, "'type': 'array', 'items': {'type': 'string'}"); break;
    case XIR_KIND_REFS:   schema_put(s, "'type': 'array', 'items': {%r}", "any:", family); break;
    case XIR_KIND_RUNS:   /* [[end, m, exp, value], …] */
        schema_put(s, "'type': 'array', 'items': {'type': 'array', 'prefixItems': [{'type': 'integer'},"
                      "{'type': 'integer'}, {'type': 'integer'}, {@real}], 'minItems': %i, 'maxItems': %i}", (int64_t)4,
                   (int64_t)4);
        break;
    case XIR_KIND_PARAMSS:   /* old files may write the list as a single item */
        schema_put(s, !(f->flags & XIR_FIELD_SINGLE) ? "'type': 'array', 'items': {@params}" :
                   "'type': ['array', 'object'], 'items': {@params}, 'if': {'type': 'object'}, 'then': {@params}");
        break;
    case XIR_KIND_OPS:    schema_put(s, "'type': 'array', 'items': {@op}"); break;
    case XIR_KIND_COUNT:   break;
    }
}

/* The value of an attribute that is missing: for editors and for people. */
static void put_default(schema *s, const xir_class *cls, const xir_field *f) {
    if (f->flags & XIR_FIELD_REQUIRED) return;
    const void *at = body_at(cls->defaults, f);
    schema_put(s, "'default':");
    switch (f->kind) {
    case XIR_KIND_BOOL: schema_put(s, *(const bool *)at ? "true" : "false"); break;
    case XIR_KIND_I64:  schema_put(s, "%i", *(const int64_t *)at); break;
    case XIR_KIND_U64:  schema_put(s, "%u", *(const uint64_t *)at); break;
    case XIR_KIND_REAL: schema_put(s, "%n", *(const double *)at); break;
    case XIR_KIND_TEXT: schema_put(s, "%s", *(const xir_str *)at); break;
    case XIR_KIND_ENUM: schema_put(s, "%s", xir_str_of(f->members->names[*(const int *)at])); break;
    case XIR_KIND_REF:  encode_object(&s->encoder, *(const xir_object *const *)at); break;
    case XIR_KIND_REFS: {
        const xir_refs *list = at;
        schema_put(s, "[");
        for (size_t i = 0; i < list->size; i++) encode_object(&s->encoder, list->data[i]);
        schema_put(s, "]");
        break;
    }
    default:
        if (f->flags & XIR_FIELD_OPTIONAL) s->json.sink.ops->null(&s->json.sink);
        else schema_put(s, f->kind == XIR_KIND_MAP ? "{}" : "[]");
    }
}

static void put_row(schema *s, const xir_class *cls, const xir_field *f, xir_str name, bool old) {
    const bool optional = f->flags & XIR_FIELD_OPTIONAL;
    schema_put(s, "%s: {", name);
    if (f->doc.size) schema_put(s, "'description': %s", f->doc);
    if (old) schema_put(s, "'deprecated': true");
    else put_default(s, cls, f);
    if (optional) schema_put(s, "'if': {'not': {'type': 'null'}}, 'then': {");
    put_kind(s, cls, f);
    schema_put(s, optional ? "}}" : "}");
}

/* ---- classes ---------------------------------------------------------------------------------------------------- */

/* Prints the number of inputs that an op takes, and those that may be null. Trailing nulls do not count. */
static void put_inputs(schema *s, const xir_class *cls) {
    const class_more *more = cls->more;
    schema_put(s, "'inputs': {");
    if (more->least_inputs) schema_put(s, "'minItems': %i", (int64_t)more->least_inputs);
    uint32_t fixed = more->n_inputs - (cls->many_inputs ? 1 : 0);
    if (fixed) schema_put(s, "'prefixItems': [");
    for (uint32_t i = 0; i < fixed; i++) {
        schema_put(s, "{'title': %s", more->inputs[i].name);
        if (more->inputs[i].doc.size) schema_put(s, "'description': %s", more->inputs[i].doc);
        schema_put(s, more->inputs[i].decl == XIR_DECL_IN ? "'type': 'object'}" : "}");
    }
    if (fixed) schema_put(s, "]");
    schema_put(s, cls->many_inputs ? "}" : "'items': {'type': 'null'}}");
}

static void put_outputs(schema *s, const xir_class *cls) {
    const int64_t n = cls->more->n_outputs;
    schema_put(s, "'outputs': {");
    if (!cls->many_outputs) schema_put(s, "'minItems': %i, 'maxItems': %i", n, n);
    schema_put(s, "}");
}

static void put_properties(schema *s, const xir_class *cls) {
    schema_put(s, "'properties': {");
    for (uint32_t i = 0; i < cls->more->n_keys; i++) {
        const class_key *k = &cls->more->keys[i];
        if (k->field >= 0)                put_row(s, cls, &cls->fields[k->field], k->name, k->old);
        else if (k->field == KEY_INPUTS)  put_inputs(s, cls);
        else if (k->field == KEY_OUTPUTS) put_outputs(s, cls);
        else schema_put(s, "%s: true", k->name);
    }
    schema_put(s, "}");
}

static bool has_old_name(const xir_class *cls, int field) {
    for (uint32_t i = 0; i < cls->more->n_keys; i++)
        if (cls->more->keys[i].old && cls->more->keys[i].field == field) return true;
    return false;
}

static void put_required(schema *s, const xir_class *cls) {
    schema_put(s, "'required': ['_type_key'");
    if (cls->is_op && cls->more->least_inputs) schema_put(s, "'inputs'");
    if (cls->is_op && !cls->many_outputs && cls->more->n_outputs) schema_put(s, "'outputs'");
    for (uint32_t i = 0; i < cls->n_fields; i++)
        if (cls->fields[i].flags & XIR_FIELD_REQUIRED && !has_old_name(cls, (int)i))
            schema_put(s, "%s", cls->fields[i].name);
    schema_put(s, "]");
}

/* A required row may be present under any of its names. */
static void put_required_by_names(schema *s, const xir_class *cls) {
    size_t n = 0;
    for (uint32_t i = 0; i < cls->n_fields; i++) {
        if (!(cls->fields[i].flags & XIR_FIELD_REQUIRED) || !has_old_name(cls, (int)i)) continue;
        schema_put(s, n++ ? "{'anyOf': [" : "'allOf': [{'anyOf': [");
        for (uint32_t j = 0; j < cls->more->n_keys; j++)
            if (cls->more->keys[j].field == (int)i) schema_put(s, "{'required': [%s]}", cls->more->keys[j].name);
        schema_put(s, "]}");
    }
    if (n) schema_put(s, "]");
}

/* An old name excludes the other names. */
static void put_old_names(schema *s, const xir_class *cls) {
    size_t n = 0;
    for (uint32_t i = 0; i < cls->more->n_keys; i++) {
        const class_key *k = &cls->more->keys[i];
        if (!k->old) continue;
        if (!n++) schema_put(s, "'dependentSchemas': {");
        schema_put(s, "%s: {'properties': {", k->name);
        for (uint32_t j = 0; j < cls->more->n_keys; j++)
            if (j != i && cls->more->keys[j].field == k->field)
                schema_put(s, "%s: false", cls->more->keys[j].name);
        schema_put(s, "}}");
    }
    if (n) schema_put(s, "}");
}

void schema_class(schema *s, const xir_class *cls) {
    schema_put(s, "%d: {", "class:", cls->key);
    if (cls->more->doc.size) schema_put(s, "'description': %s", cls->more->doc);
    put_required(s, cls);
    put_properties(s, cls);
    put_required_by_names(s, cls);
    put_old_names(s, cls);
    if (cls->is_op) schema_put(s, "'additionalProperties': {@free}");
    end_definition(s);
}
