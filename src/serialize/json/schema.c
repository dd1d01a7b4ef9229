/* The JSON Schema (draft 2020-12) of network files, made from the classes of a context. Whatever both the reader and
 * validation accept, the schema accepts, unless an attribute without a default is left out. Undeclared keys and unknown
 * classes are allowed where the reader keeps them. docs/formats.md lists what a schema cannot express.
 *
 * The class of an op is chosen by its _type_key: one `if` per class, followed by the class's definition. So a validator
 * checks the keys of all classes but only one definition, and its findings are about the right class. */
#include "codec/given.h"
#include "json/schema.h"

/* ---- building blocks -------------------------------------------------------------------------------------------- */

static sink *out(schema *s) { return &s->json.sink; }

void schema_key(schema *s, const char *key) {
    if (key) out(s)->ops->name(out(s), xir_str_of(key));
}

void schema_map(schema *s, const char *key) {
    schema_key(s, key);
    out(s)->ops->map(out(s), NULL, 0);
}

void schema_list(schema *s, const char *key) {
    schema_key(s, key);
    out(s)->ops->list(out(s), 0);
}

void schema_end(schema *s) { out(s)->ops->end(out(s)); }

void schema_str(schema *s, const char *key, xir_str v) {
    schema_key(s, key);
    out(s)->ops->text(out(s), v);
}

void schema_word(schema *s, const char *key, const char *v) { schema_str(s, key, xir_str_of(v)); }

void schema_i64(schema *s, const char *key, int64_t v) {
    schema_key(s, key);
    out(s)->ops->integer(out(s), v);
}

void schema_bool(schema *s, const char *key, bool v) {
    schema_key(s, key);
    out(s)->ops->boolean(out(s), v);
}

/* Escapes a name as a JSON pointer in the fragment of a URI. */
static void put_escaped(buffer *b, xir_str name) {
    static const char plain[] = "-._:@!$&'()*+,;=";
    static const char hex[] = "0123456789ABCDEF";
    for (size_t i = 0; i < name.size; i++) {
        unsigned char c = (unsigned char)name.data[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (c == '~') buffer_str(b, "~0");
        else if (c == '/') buffer_str(b, "~1");
        else if (letter || (c && strchr(plain, c))) buffer_char(b, (char)c);
        else buffer_put(b, (const char[]){ '%', hex[c >> 4], hex[c & 15] }, 3);
    }
}

void schema_ref(schema *s, const char *kind, xir_str name) {
    buffer b;
    buffer_init(&b, context_alloc(s->ctx));
    buffer_str(&b, "#/$defs/");
    buffer_str(&b, kind);
    put_escaped(&b, name);
    if (b.failed) out(s)->status = XIR_E_MEMORY;
    else schema_str(s, "$ref", (xir_str){ b.data, b.size });
    buffer_free(&b);
}

void schema_map_ref(schema *s, const char *key, const char *kind, xir_str name) {
    schema_map(s, key);
    schema_ref(s, kind, name);
    schema_end(s);
}

void schema_keys_of(schema *s, const xir_class *cls) {
    schema_str(s, NULL, cls->key);
    xir_str old;
    for (size_t i = 0; (old = xir_class_note(cls, XIR_DECL_ALIAS, i)).size; i++) schema_str(s, NULL, old);
}

void schema_def(schema *s, const char *kind, xir_str name) {
    buffer b;
    buffer_init(&b, context_alloc(s->ctx));
    buffer_str(&b, kind);
    buffer_put(&b, name.data, name.size);
    if (b.failed) out(s)->status = XIR_E_MEMORY;
    else out(s)->ops->name(out(s), (xir_str){ b.data, b.size });
    buffer_free(&b);
    out(s)->ops->map(out(s), NULL, 0);
}

void schema_def_end(schema *s) {
    schema_end(s);
    out(s)->ops->piece(out(s));
}

/* ---- values ----------------------------------------------------------------------------------------------------- */

static void put_typed(schema *s, const char *key, const char *type) {
    schema_map(s, key);
    schema_word(s, "type", type);
    schema_end(s);
}

/* Plain values and Params differ in their class and in one key. */
static void put_value_def(schema *s, const char *name, xir_str key, bool constant) {
    schema_def(s, name, no_name());
    schema_word(s, "type", "object");
    schema_list(s, "required");
    for (int i = VALUE_TYPE; i < VALUE_KEYS; i++) {
        if (i == VALUE_TYPE || i == VALUE_DTYPE || i == VALUE_ID) schema_word(s, NULL, value_keys[i]);
    }
    schema_end(s);
    schema_map(s, "properties");
    if (constant) put_typed(s, value_keys[VALUE_ALLOW], "boolean");
    else schema_bool(s, value_keys[VALUE_ALLOW], false);
    schema_map(s, value_keys[VALUE_TYPE]);
    schema_str(s, "const", key);
    schema_end(s);
    schema_map(s, value_keys[VALUE_DTYPE]);
    schema_map(s, "if");
    schema_map(s, "not");
    schema_word(s, "type", "null");
    schema_end(s);
    schema_end(s);
    schema_map_ref(s, "then", "any:", s->ctx->types[CLASS_type]->key);
    schema_end(s);
    schema_map_ref(s, value_keys[VALUE_MTYPE], "any:", s->ctx->types[CLASS_mtype]->key);
    put_typed(s, value_keys[VALUE_NAME], "string");
    put_typed(s, value_keys[VALUE_TAGS], "object");
    schema_map_ref(s, value_keys[VALUE_ID], "id", no_name());
    schema_end(s);
    schema_def_end(s);
}

/* {"type": "object", "properties": {"_type_key": {"const": …}}, "required": ["_type_key"]} */
static void put_is_params(schema *s) {
    schema_map(s, "if");
    schema_word(s, "type", "object");
    schema_map(s, "properties");
    schema_map(s, "_type_key");
    schema_str(s, "const", params_class_key);
    schema_end(s);
    schema_end(s);
    schema_list(s, "required");
    schema_word(s, NULL, "_type_key");
    schema_end(s);
    schema_end(s);
    schema_map_ref(s, "then", "params", no_name());
}

static void put_values(schema *s) {
    put_value_def(s, "value", value_class_key, false);
    put_value_def(s, "params", params_class_key, true);

    schema_def(s, "input", no_name());
    schema_list(s, "type");
    schema_word(s, NULL, "object");
    schema_word(s, NULL, "null");
    schema_end(s);
    put_is_params(s);
    schema_map(s, "else");
    schema_map(s, "if");
    schema_word(s, "type", "object");
    schema_end(s);
    schema_map_ref(s, "then", "value", no_name());
    schema_end(s);
    schema_def_end(s);

    /* Undeclared, in an op: anything, but a map that claims to be Params must be Params. */
    schema_def(s, "free", no_name());
    put_is_params(s);
    schema_map(s, "else");
    schema_map_ref(s, "items", "free", no_name());
    schema_map_ref(s, "additionalProperties", "free", no_name());
    schema_end(s);
    schema_def_end(s);
}

static void put_numbers(schema *s) {
    schema_def(s, "id", no_name());
    schema_word(s, "type", "integer");
    schema_i64(s, "minimum", 0);
    schema_i64(s, "maximum", INT64_MAX - 1);
    schema_def_end(s);
    schema_def(s, "int64", no_name());
    schema_word(s, "type", "integer");
    schema_i64(s, "minimum", INT64_MIN);
    schema_i64(s, "maximum", INT64_MAX);
    schema_def_end(s);
    schema_def(s, "uint64", no_name());
    schema_word(s, "type", "integer");
    schema_i64(s, "minimum", 0);
    schema_key(s, "maximum");
    out(s)->ops->uinteger(out(s), UINT64_MAX);
    schema_def_end(s);
    schema_def(s, "real", no_name());
    schema_list(s, "type");
    schema_word(s, NULL, "number");
    schema_word(s, NULL, "string");
    schema_end(s);
    schema_word(s, "pattern", "^(inf|-inf|nan)$");
    schema_def_end(s);
}

/* ---- ops -------------------------------------------------------------------------------------------------------- */

static void put_all_keys(schema *s, const char *key, bool ops) {
    schema_list(s, key);
    for (size_t i = 0; i < s->n; i++) {
        if (s->classes[i]->is_op == ops) schema_keys_of(s, s->classes[i]);
    }
    schema_end(s);
}

/* {"properties": {"_type_key": {"enum": [the keys of a class, or of all ops if it is NULL]}}} */
static void put_if_class(schema *s, const xir_class *cls) {
    schema_map(s, "if");
    schema_map(s, "properties");
    schema_map(s, "_type_key");
    if (cls) {
        schema_list(s, "enum");
        schema_keys_of(s, cls);
        schema_end(s);
    } else {
        put_all_keys(s, "enum", true);
    }
    schema_end(s);
    schema_end(s);
    schema_end(s);
}

static void put_op(schema *s) {
    schema_def(s, "op", no_name());
    schema_word(s, "type", "object");
    schema_list(s, "required");
    schema_word(s, NULL, "_type_key");
    schema_word(s, NULL, "op_id");
    schema_end(s);
    schema_map(s, "properties");
    schema_map(s, "_type_key");
    schema_word(s, "type", "string");
    schema_map(s, "not");
    put_all_keys(s, "enum", false);
    schema_end(s);
    schema_end(s);
    schema_map_ref(s, "compile_target", "any:", s->ctx->types[CLASS_target]->key);
    schema_map(s, "inputs");
    schema_word(s, "type", "array");
    schema_map_ref(s, "items", "input", no_name());
    schema_end(s);
    put_typed(s, "name", "string");
    schema_map_ref(s, "op_id", "id", no_name());
    schema_map(s, "outputs");
    schema_word(s, "type", "array");
    schema_map_ref(s, "items", "value", no_name());
    schema_end(s);
    put_typed(s, "tags", "object");
    schema_end(s);
    put_if_class(s, NULL);
    schema_map(s, "then");
    schema_list(s, "allOf");
    for (size_t i = 0; i < s->n; i++) {
        if (!s->classes[i]->is_op) continue;
        schema_map(s, NULL);
        put_if_class(s, s->classes[i]);
        schema_map_ref(s, "then", "class:", s->classes[i]->key);
        schema_end(s);
    }
    schema_end(s);
    schema_end(s);
    schema_map(s, "else");
    schema_map_ref(s, "additionalProperties", "free", no_name());
    schema_end(s);
    schema_def_end(s);
}

/* ---- the whole -------------------------------------------------------------------------------------------------- */

static void put_network_key(schema *s, network_key key) {
    const char *name = network_keys[key];
    switch (key) {
    case NETWORK_TYPE:
        schema_map(s, name);
        schema_str(s, "const", network_class_key);
        schema_end(s);
        break;
    case NETWORK_AI_TARGET:
        schema_map(s, name);
        schema_map(s, "if");
        schema_map(s, "not");
        schema_word(s, "type", "null");
        schema_end(s);
        schema_end(s);
        schema_map_ref(s, "then", "any:", s->ctx->types[CLASS_target]->key);
        schema_end(s);
        break;
    case NETWORK_OPS:
        schema_map(s, name);
        schema_word(s, "type", "array");
        schema_map_ref(s, "items", "op", no_name());
        schema_end(s);
        break;
    case NETWORK_PARAMS_BYTES: schema_map_ref(s, name, "uint64", no_name()); break;
    case NETWORK_TAGS:         put_typed(s, name, "object"); break;
    default:                   put_typed(s, name, "string"); break;
    }
}

static void put_schema(schema *s) {
    schema_map(s, NULL);
    schema_word(s, "$schema", "https://json-schema.org/draft/2020-12/schema");
    schema_word(s, "title", "network");
    schema_word(s, "type", "object");
    schema_list(s, "required");
    schema_word(s, NULL, network_keys[NETWORK_TYPE]);
    schema_word(s, NULL, network_keys[NETWORK_OPS]);
    schema_end(s);
    schema_map(s, "properties");
    for (int i = 0; i < NETWORK_KEYS; i++) put_network_key(s, (network_key)i);
    schema_end(s);
    schema_map(s, "$defs");
    put_numbers(s);
    put_values(s);
    put_op(s);
    schema_def(s, "known", no_name());
    schema_list(s, "enum");
    for (size_t i = 0; i < s->n; i++) schema_keys_of(s, s->classes[i]);
    schema_end(s);
    schema_def_end(s);
    if (s->any_wanted) schema_family(s, NULL);
    for (size_t i = 0; i < s->n; i++) {
        if (s->wanted[i]) schema_family(s, s->classes[i]);
    }
    for (size_t i = 0; i < s->n; i++) {
        if (s->classes[i]->is_op || is_map_class(s->classes[i])) schema_class(s, s->classes[i]);
    }
    schema_end(s);
    schema_end(s);
}

static void want(schema *s, const xir_class *of) {
    if (!of) s->any_wanted = true;
    for (size_t i = 0; i < s->n; i++) s->wanted[i] |= s->classes[i] == of;
}

/* Lists the classes, and marks those that some row refers to. False if out of memory. */
static bool list_classes(schema *s) {
    const xir_class *cls;
    while ((cls = xir_context_class_at(s->ctx, s->n)) != NULL) {
        if (!mem_reserve(&s->ctx->alloc, (void **)&s->classes, &s->room, s->n + 1, sizeof *s->classes)) return false;
        s->classes[s->n++] = cls;
    }
    s->wanted = mem_new(&s->ctx->alloc, s->n);
    if (!s->wanted) return false;
    memset(s->wanted, 0, s->n);
    want(s, s->ctx->types[CLASS_target]);
    want(s, s->ctx->types[CLASS_mtype]);
    want(s, s->ctx->types[CLASS_type]);
    for (size_t i = 0; i < s->n; i++) {
        for (uint32_t j = 0; j < s->classes[i]->n_fields; j++) {
            const xir_field *f = &s->classes[i]->fields[j];
            if (f->kind == XIR_KIND_REF || f->kind == XIR_KIND_REFS) want(s, f->of);
        }
    }
    return true;
}

xir_status xir_json_schema(xir_context *ctx, xir_write_fn *write, void *user, xir_diags *why) {
    enum { INDENT = 1 };   /* deeper indentation would be most of the text */
    schema s = { .ctx = ctx };
    given_writer g = given_begin(write, user, why);
    json_sink_init(&s.json, ctx, INDENT, given_write, &g);
    s.json.deepest = CODEC_DEEPEST;   /* the schema's own nesting, unrelated to the limit for files */
    encoder_init(&s.encoder, ctx, NULL, &s.json.sink);
    if (list_classes(&s)) put_schema(&s);
    else s.json.sink.status = XIR_E_MEMORY;
    xir_status status = json_sink_end(&s.json);
    if (status == XIR_E_MEMORY) diag_memory(why);
    encoder_free(&s.encoder);
    json_sink_free(&s.json);
    mem_free(&ctx->alloc, (void *)s.classes, s.room * sizeof *s.classes);
    mem_free(&ctx->alloc, s.wanted, s.n);
    return given_end(&g, status);
}
