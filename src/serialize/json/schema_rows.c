/* The JSON Schema of classes: the rows of a class, and what may stand where a class is expected. The rules are those of
 * codec/object.c, and of check.c for bounds and null. */
#include "forms.h"
#include "json/schema.h"

/* ---- what may stand where a class is expected ------------------------------------------------------------------- */

static bool fits(const xir_class *cls, const xir_class *of) { return !of || xir_class_is_a(cls, of); }

/* Objects of unknown classes are accepted where any member of a family may stand. */
static bool takes_unknown(const xir_class *of) { return !of || of->traits & XIR_TRAIT_ABSTRACT; }

static bool takes_maps(const schema *s, const xir_class *of) {
    if (takes_unknown(of)) return true;
    for (size_t i = 0; i < s->n; i++) {
        if (is_map_class(s->classes[i]) && fits(s->classes[i], of)) return true;
    }
    return false;
}

/* "^@(layout(\(…\))?|hostt)$", and the reals that JSON has no number for. */
static void put_pattern(schema *s, const xir_class *of, bool real) {
    buffer b;
    buffer_init(&b, context_alloc(s->ctx));
    bool first = true;
    for (size_t i = 0; i < s->n; i++) {
        const xir_class *cls = s->classes[i];
        if (!cls->more->form || !fits(cls, of)) continue;
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
    else if (b.size) schema_str(s, "pattern", (xir_str){ b.data, b.size });
    buffer_free(&b);
}

static bool takes_texts(const schema *s, const xir_class *of, bool real) {
    for (size_t i = 0; i < s->n; i++) real |= s->classes[i]->more->form && fits(s->classes[i], of);
    return real;
}

/* The classes that a map may name, and the rules that follow from each. */
static void put_maps(schema *s, const xir_class *of) {
    schema_list(s, "required");
    schema_word(s, NULL, "_type_key");
    schema_end(s);
    schema_map(s, "properties");
    schema_map(s, "_type_key");
    if (takes_unknown(of)) {
        schema_word(s, "type", "string");
        schema_map_ref(s, "if", "known", no_name());
        schema_map(s, "then");
    }
    schema_list(s, "enum");
    for (size_t i = 0; i < s->n; i++) {
        if (is_map_class(s->classes[i]) && fits(s->classes[i], of)) schema_keys_of(s, s->classes[i]);
    }
    schema_end(s);
    if (takes_unknown(of)) schema_end(s);
    schema_end(s);
    schema_end(s);
    bool first = true;
    for (size_t i = 0; i < s->n; i++) {
        const xir_class *cls = s->classes[i];
        if (!is_map_class(cls) || !fits(cls, of)) continue;
        if (first) schema_list(s, "allOf");
        first = false;
        schema_map(s, NULL);
        schema_map(s, "if");
        schema_word(s, "type", "object");
        schema_map(s, "properties");
        schema_map(s, "_type_key");
        schema_list(s, "enum");
        schema_keys_of(s, cls);
        schema_end(s);
        schema_end(s);
        schema_end(s);
        schema_end(s);
        schema_map_ref(s, "then", "class:", cls->key);
        schema_end(s);
    }
    if (!first) schema_end(s);
}

void schema_family(schema *s, const xir_class *of) {
    xir_context *ctx = s->ctx;
    bool truth = fits(ctx->types[CLASS_bool_imm], of);
    bool whole = fits(ctx->types[CLASS_int_imm], of), real = fits(ctx->types[CLASS_float_imm], of);
    bool maps = takes_maps(s, of);
    schema_def(s, "any:", of ? of->key : no_name());
    if (of && of->more->doc.size) schema_str(s, "description", of->more->doc);
    schema_list(s, "type");
    if (truth) schema_word(s, NULL, "boolean");
    if (real) schema_word(s, NULL, "number");
    else if (whole) schema_word(s, NULL, "integer");
    if (takes_texts(s, of, real)) schema_word(s, NULL, "string");
    if (maps) schema_word(s, NULL, "object");
    schema_end(s);
    put_pattern(s, of, real);
    if (maps) put_maps(s, of);
    schema_def_end(s);
}

/* ---- rows ------------------------------------------------------------------------------------------------------- */

static void put_items(schema *s, const char *kind, xir_str name) {
    schema_word(s, "type", "array");
    schema_map_ref(s, "items", kind, name);
}

static void put_items_of(schema *s, const char *type) {
    schema_word(s, "type", "array");
    schema_map(s, "items");
    schema_word(s, "type", type);
    schema_end(s);
}

static void put_bounds(schema *s, const xir_field *f) {
    sink *to = &s->json.sink;
    if (f->kind == XIR_KIND_REAL) {
        if (!f->has_min && !f->has_max) {
            schema_ref(s, "real", no_name());
            return;
        }
        schema_list(s, "type");
        schema_word(s, NULL, "number");
        if (!f->has_min || !f->has_max) schema_word(s, NULL, "string");
        schema_end(s);
        if (!f->has_min)         schema_word(s, "pattern", "^-inf$");
        else if (!f->has_max) schema_word(s, "pattern", "^inf$");
        if (f->has_min) schema_key(s, "minimum"), to->ops->real(to, f->min.r);
        if (f->has_max) schema_key(s, "maximum"), to->ops->real(to, f->max.r);
        return;
    }
    bool is_signed = f->kind == XIR_KIND_I64;
    if (!f->has_min && !f->has_max) {
        schema_ref(s, is_signed ? "int64" : "uint64", no_name());
        return;
    }
    schema_word(s, "type", "integer");
    schema_i64(s, "minimum", f->has_min ? f->min.i : is_signed ? INT64_MIN : 0);
    schema_key(s, "maximum");
    to->ops->uinteger(to, f->has_max ? (uint64_t)f->max.i : is_signed ? INT64_MAX : UINT64_MAX);
}

/* [[end, m, exp, value], …] */
static void put_runs(schema *s) {
    schema_word(s, "type", "array");
    schema_map(s, "items");
    schema_word(s, "type", "array");
    schema_list(s, "prefixItems");
    for (int i = 0; i < 3; i++) {
        schema_map(s, NULL);
        schema_word(s, "type", "integer");
        schema_end(s);
    }
    schema_map_ref(s, NULL, "real", no_name());
    schema_end(s);
    schema_i64(s, "minItems", 4);
    schema_i64(s, "maxItems", 4);
    schema_end(s);
}

/* A list that old files write as a single item. */
static void put_single(schema *s, const char *kind) {
    schema_list(s, "type");
    schema_word(s, NULL, "array");
    schema_word(s, NULL, "object");
    schema_end(s);
    schema_map_ref(s, "items", kind, no_name());
    schema_map(s, "if");
    schema_word(s, "type", "object");
    schema_end(s);
    schema_map_ref(s, "then", kind, no_name());
}

/* The values of a row other than null. */
static void put_kind(schema *s, const xir_class *cls, const xir_field *f) {
    switch (f->kind) {
    case XIR_KIND_BOOL:  schema_word(s, "type", "boolean"); break;
    case XIR_KIND_I64:
    case XIR_KIND_U64:
    case XIR_KIND_REAL:  put_bounds(s, f); break;
    case XIR_KIND_TEXT:  schema_word(s, "type", "string"); break;
    case XIR_KIND_ENUM:
        schema_list(s, "enum");
        for (size_t i = 0; i < f->members->size; i++) schema_word(s, NULL, f->members->names[i]);
        schema_end(s);
        break;
    case XIR_KIND_MAP:
        schema_word(s, "type", "object");
        if (cls->is_op) schema_map_ref(s, "additionalProperties", "free", no_name());
        break;
    case XIR_KIND_REF:     schema_ref(s, "any:", f->of ? f->of->key : no_name()); break;
    case XIR_KIND_PARAMS:  schema_ref(s, "params", no_name()); break;
    case XIR_KIND_BOOLS:   put_items_of(s, "boolean"); break;
    case XIR_KIND_I64S:    put_items(s, "int64", no_name()); break;
    case XIR_KIND_REALS:   put_items(s, "real", no_name()); break;
    case XIR_KIND_TEXTS:   put_items_of(s, "string"); break;
    case XIR_KIND_REFS:    put_items(s, "any:", f->of ? f->of->key : no_name()); break;
    case XIR_KIND_RUNS:    put_runs(s); break;
    case XIR_KIND_PARAMSS:
        if (f->flags & XIR_FIELD_SINGLE) put_single(s, "params");
        else put_items(s, "params", no_name());
        break;
    case XIR_KIND_OPS:     put_items(s, "op", no_name()); break;
    case XIR_KIND_COUNT:   break;
    }
}

/* The value of an attribute that is missing: for editors and for people. */
static void put_default(schema *s, const xir_class *cls, const xir_field *f) {
    if (f->flags & XIR_FIELD_REQUIRED) return;
    sink *to = &s->json.sink;
    const void *at = body_at(cls->defaults, f);
    bool null = f->flags & XIR_FIELD_OPTIONAL;
    switch (f->kind) {
    case XIR_KIND_BOOL: schema_bool(s, "default", *(const bool *)at); return;
    case XIR_KIND_I64:  schema_i64(s, "default", *(const int64_t *)at); return;
    case XIR_KIND_U64:  schema_key(s, "default"); to->ops->uinteger(to, *(const uint64_t *)at); return;
    case XIR_KIND_REAL: schema_key(s, "default"); to->ops->real(to, *(const double *)at); return;
    case XIR_KIND_TEXT: schema_str(s, "default", *(const xir_str *)at); return;
    case XIR_KIND_ENUM: schema_word(s, "default", f->members->names[*(const int *)at]); return;
    case XIR_KIND_REF:
        schema_key(s, "default");
        encode_object(&s->encoder, *(const xir_object *const *)at);
        return;
    case XIR_KIND_REFS: {
        const xir_refs *list = at;
        schema_list(s, "default");
        for (size_t i = 0; i < list->size; i++) encode_object(&s->encoder, list->data[i]);
        schema_end(s);
        return;
    }
    default:
        schema_key(s, "default");
        if (null) to->ops->null(to);
        else if (f->kind == XIR_KIND_MAP) to->ops->map(to, NULL, 0), schema_end(s);
        else to->ops->list(to, 0), schema_end(s);
    }
}

static void put_row(schema *s, const xir_class *cls, const xir_field *f, const char *name, bool old) {
    schema_map(s, name);
    if (f->doc.size) schema_str(s, "description", f->doc);
    if (old) schema_bool(s, "deprecated", true);
    else put_default(s, cls, f);
    if (f->flags & XIR_FIELD_OPTIONAL) {
        schema_map(s, "if");
        schema_map(s, "not");
        schema_word(s, "type", "null");
        schema_end(s);
        schema_end(s);
        schema_map(s, "then");
        put_kind(s, cls, f);
        schema_end(s);
    } else {
        put_kind(s, cls, f);
    }
    schema_end(s);
}

/* ---- classes ---------------------------------------------------------------------------------------------------- */

/* How many inputs an op takes, and which of them may be null. Trailing nulls do not count. */
static void put_inputs(schema *s, const xir_class *cls) {
    schema_map(s, "inputs");
    if (cls->more->least_inputs) schema_i64(s, "minItems", cls->more->least_inputs);
    uint32_t fixed = cls->more->n_inputs - (cls->many_inputs ? 1 : 0);
    if (fixed) {
        schema_list(s, "prefixItems");
        for (uint32_t i = 0; i < fixed; i++) {
            schema_map(s, NULL);
            schema_str(s, "title", cls->more->inputs[i].name);
            if (cls->more->inputs[i].doc.size) schema_str(s, "description", cls->more->inputs[i].doc);
            if (cls->more->inputs[i].decl == XIR_DECL_IN) schema_word(s, "type", "object");
            schema_end(s);
        }
        schema_end(s);
    }
    if (!cls->many_inputs) {
        schema_map(s, "items");
        schema_word(s, "type", "null");
        schema_end(s);
    }
    schema_end(s);
}

static void put_outputs(schema *s, const xir_class *cls) {
    schema_map(s, "outputs");
    if (!cls->many_outputs) {
        schema_i64(s, "minItems", cls->more->n_outputs);
        schema_i64(s, "maxItems", cls->more->n_outputs);
    }
    schema_end(s);
}

static void put_properties(schema *s, const xir_class *cls) {
    schema_map(s, "properties");
    for (uint32_t i = 0; i < cls->more->n_keys; i++) {
        const class_key *k = &cls->more->keys[i];
        if (k->field >= 0)              put_row(s, cls, &cls->fields[k->field], k->name.data, k->old);
        else if (k->field == KEY_INPUTS)  put_inputs(s, cls);
        else if (k->field == KEY_OUTPUTS) put_outputs(s, cls);
        else schema_bool(s, k->name.data, true);
    }
    schema_end(s);
}

static bool has_old_name(const xir_class *cls, int field) {
    for (uint32_t i = 0; i < cls->more->n_keys; i++) {
        if (cls->more->keys[i].old && cls->more->keys[i].field == field) return true;
    }
    return false;
}

static void put_required(schema *s, const xir_class *cls) {
    schema_list(s, "required");
    schema_word(s, NULL, "_type_key");
    if (cls->is_op && cls->more->least_inputs) schema_word(s, NULL, "inputs");
    if (cls->is_op && !cls->many_outputs && cls->more->n_outputs) schema_word(s, NULL, "outputs");
    for (uint32_t i = 0; i < cls->n_fields; i++) {
        if (cls->fields[i].flags & XIR_FIELD_REQUIRED && !has_old_name(cls, (int)i))
            schema_str(s, NULL, cls->fields[i].name);
    }
    schema_end(s);
}

/* A required row may be present under any of its names. */
static void put_required_by_names(schema *s, const xir_class *cls) {
    bool first = true;
    for (uint32_t i = 0; i < cls->n_fields; i++) {
        if (!(cls->fields[i].flags & XIR_FIELD_REQUIRED) || !has_old_name(cls, (int)i)) continue;
        if (first) schema_list(s, "allOf");
        first = false;
        schema_map(s, NULL);
        schema_list(s, "anyOf");
        for (uint32_t j = 0; j < cls->more->n_keys; j++) {
            if (cls->more->keys[j].field != (int)i) continue;
            schema_map(s, NULL);
            schema_list(s, "required");
            schema_str(s, NULL, cls->more->keys[j].name);
            schema_end(s);
            schema_end(s);
        }
        schema_end(s);
        schema_end(s);
    }
    if (!first) schema_end(s);
}

/* An old name excludes the other names. */
static void put_old_names(schema *s, const xir_class *cls) {
    bool first = true;
    for (uint32_t i = 0; i < cls->more->n_keys; i++) {
        const class_key *k = &cls->more->keys[i];
        if (!k->old) continue;
        if (first) schema_map(s, "dependentSchemas");
        first = false;
        schema_map(s, k->name.data);
        schema_map(s, "properties");
        for (uint32_t j = 0; j < cls->more->n_keys; j++) {
            if (j != i && cls->more->keys[j].field == k->field) schema_bool(s, cls->more->keys[j].name.data, false);
        }
        schema_end(s);
        schema_end(s);
    }
    if (!first) schema_end(s);
}

void schema_class(schema *s, const xir_class *cls) {
    schema_def(s, "class:", cls->key);
    if (cls->more->doc.size) schema_str(s, "description", cls->more->doc);
    put_required(s, cls);
    put_properties(s, cls);
    put_required_by_names(s, cls);
    put_old_names(s, cls);
    if (cls->is_op) schema_map_ref(s, "additionalProperties", "free", no_name());
    schema_def_end(s);
}
