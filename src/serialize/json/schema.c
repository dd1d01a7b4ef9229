/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The JSON Schema (draft 2020-12) of network files, made from the classes of a context. Whatever both the reader and
 * validation accept, the schema accepts, unless an attribute without a default is left out. Undeclared keys and unknown
 * classes are allowed where the reader keeps them. docs/formats.md lists what a schema cannot express.
 *
 * The class of an op is chosen by its _type_key: one `if` per class, followed by the class's definition. So a validator
 * checks the keys of all classes but only one definition, and its findings are about the right class. */
#include "codec/given.h"
#include "json/schema.h"
#include "number.h"

/* ---- pieces ----------------------------------------------------------------------------------------------------- */

/* Escapes a name as a JSON pointer in the fragment of a URI. */
static void put_escaped(buffer *b, xir_str name) {
    static const char plain[] = "-._:@!$&'()*+,;=", hex[] = "0123456789ABCDEF";
    for (size_t i = 0; i < name.size; i++) {
        unsigned char c = (unsigned char)name.data[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c);
        if (c == '~') buffer_str(b, "~0");
        else if (c == '/') buffer_str(b, "~1");
        else if (letter || (c && strchr(plain, c))) buffer_char(b, (char)c);
        else buffer_put(b, (const char[]){ '%', hex[c >> 4], hex[c & 15] }, 3);
    }
}

static void put_text(sink *to, xir_str text, bool key) {
    if (key) to->ops->name(to, text);
    else to->ops->text(to, text);
}

/* Writes the key of a definition, or a reference to it. */
static void put_name(schema *s, const char *kind, xir_str name, bool reference) {
    sink *to = &s->json.sink;
    buffer b;
    buffer_init(&b, context_alloc(s->ctx));
    if (reference) to->ops->name(to, XIR_STR("$ref")), buffer_str(&b, "#/$defs/");
    buffer_str(&b, kind);
    if (reference) put_escaped(&b, name);
    else buffer_put(&b, name.data, name.size);
    if (b.failed) to->status = XIR_E_MEMORY;
    else put_text(to, (xir_str){ b.data, b.size }, !reference);
    buffer_free(&b);
}

void schema_put(schema *s, const char *piece, ...) {
    sink *to = &s->json.sink;
    va_list args;
    va_start(args, piece);
    for (const char *p = piece; *p; p++) {
        const char *close = *p == '\'' ? strchr(p + 1, '\'') : p + 1;
        const char kind = *p == '%' ? *++p : *p;
        switch (kind) {
        case '{': to->ops->map(to, NULL, 0); break;
        case '[': to->ops->list(to, 0); break;
        case '}':
        case ']': to->ops->end(to); break;
        case '\'':
            put_text(to, (xir_str){ p + 1, (size_t)(close - p - 1) }, close[1] == ':');
            p = close;
            break;
        case '@': {
            const size_t n = strcspn(close, "}");
            put_name(s, "", (xir_str){ close, n }, true);
            p += n;
            break;
        }
        case 's': put_text(to, va_arg(args, xir_str), p[1] == ':'); break;
        case 'i': to->ops->integer(to, va_arg(args, int64_t)); break;
        case 'u': to->ops->uinteger(to, va_arg(args, uint64_t)); break;
        case 'n': to->ops->real(to, va_arg(args, double)); break;
        case 'd':
        case 'r': {
            const char *definition = va_arg(args, const char *);
            put_name(s, definition, va_arg(args, xir_str), kind == 'r');
            break;
        }
        case 't': to->ops->boolean(to, true), p += 3; break;    /* "true"  */
        case 'f': to->ops->boolean(to, false), p += 4; break;   /* "false" */
        default: break;                                          /* blanks, commas and colons */
        }
    }
    va_end(args);
}

void schema_keys_of(schema *s, const xir_class *cls) {
    schema_put(s, "%s", cls->key);
    xir_str old;
    for (size_t i = 0; (old = xir_class_note(cls, XIR_DECL_ALIAS, i)).size; i++) schema_put(s, "%s", old);
}

/* ---- definitions that do not depend on the classes -------------------------------------------------------------- */

/* Plain values and Params differ in their class and in one key. */
static void put_value(schema *s, xir_str name, xir_str key, const char *no_data) {
    schema_put(s, "%s: {'type': 'object', 'required': ['_type_key', 'dtype', 'v_id'], 'properties': {'_allow_no_data':",
               name);
    schema_put(s, no_data);
    schema_put(s, "'_type_key': {'const': %s}, 'dtype': {'if': {'not': {'type': 'null'}}, 'then': {%r}}, 'mtype': {%r},"
               "'name': {'type': 'string'}, 'tags': {'type': 'object'}, 'v_id': {@id}}}", key,
               "any:", s->ctx->types[CLASS_type]->key, "any:", s->ctx->types[CLASS_mtype]->key);
}

#define IF_PARAMS \
    "'if': {'type': 'object', 'properties': {'_type_key': {'const': %s}}, 'required': ['_type_key']}, 'then': {@params}"

static void put_fixed(schema *s) {
    schema_put(s, "'id':     {'type': 'integer', 'minimum': %i, 'maximum': %i},"
                  "'int64':  {'type': 'integer', 'minimum': %i, 'maximum': %i},"
                  "'uint64': {'type': 'integer', 'minimum': %i, 'maximum': %u},"
                  "'real':   {'type': ['number', 'string'], 'pattern': '^(inf|-inf|nan)$'}",
               (int64_t)0, (int64_t)(INT64_MAX - 1), (int64_t)INT64_MIN, (int64_t)INT64_MAX, (int64_t)0,
               (uint64_t)UINT64_MAX);
    put_value(s, XIR_STR("value"), value_class_key, "false");
    put_value(s, XIR_STR("params"), params_class_key, "{'type': 'boolean'}");
    /* "free": undeclared, in an op: anything, but a map that claims to be Params must be Params. */
    schema_put(s, "'input': {'type': ['object', 'null'], " IF_PARAMS ","
                            "'else': {'if': {'type': 'object'}, 'then': {@value}}},"
                  "'free': {" IF_PARAMS ", 'else': {'items': {@free}, 'additionalProperties': {@free}}}",
               params_class_key, params_class_key);
}

/* ---- ops -------------------------------------------------------------------------------------------------------- */

static void put_keys(schema *s, bool ops) {
    for (size_t i = 0; i < s->n; i++)
        if (s->classes[i]->is_op == ops) schema_keys_of(s, s->classes[i]);
}

static void put_op(schema *s) {
    schema_put(s, "'op': {'type': 'object', 'required': ['_type_key', 'op_id'],"
                  "'properties': {'_type_key': {'type': 'string', 'not': {'enum': [");
    put_keys(s, false);
    schema_put(s, "]}}, 'compile_target': {%r}, 'inputs': {'type': 'array', 'items': {@input}},"
                  "'name': {'type': 'string'}, 'op_id': {@id}, 'outputs': {'type': 'array', 'items': {@value}},"
                  "'tags': {'type': 'object'}},"
                  "'if': {'properties': {'_type_key': {'enum': [", "any:", s->ctx->types[CLASS_target]->key);
    put_keys(s, true);
    schema_put(s, "]}}}, 'then': {'allOf': [");
    for (size_t i = 0; i < s->n; i++) {
        if (!s->classes[i]->is_op) continue;
        schema_put(s, "{'if': {'properties': {'_type_key': {'enum': [");
        schema_keys_of(s, s->classes[i]);
        schema_put(s, "]}}}, 'then': {%r}}", "class:", s->classes[i]->key);
    }
    schema_put(s, "]}, 'else': {'additionalProperties': {@free}}}");
}

/* ---- the whole -------------------------------------------------------------------------------------------------- */

static void put_network_key(schema *s, network_key key) {
    schema_put(s, "%s: {", xir_str_of(network_keys[key]));
    switch (key) {
    case NETWORK_TYPE: schema_put(s, "'const': %s}", network_class_key); break;
    case NETWORK_AI_TARGET:
        schema_put(s, "'if': {'not': {'type': 'null'}}, 'then': {%r}}", "any:", s->ctx->types[CLASS_target]->key);
        break;
    case NETWORK_OPS:          schema_put(s, "'type': 'array', 'items': {@op}}"); break;
    case NETWORK_PARAMS_BYTES: schema_put(s, "@uint64}"); break;
    case NETWORK_TAGS:         schema_put(s, "'type': 'object'}"); break;
    default:                   schema_put(s, "'type': 'string'}"); break;
    }
}

static void put_schema(schema *s) {
    schema_put(s, "{'$schema': 'https://json-schema.org/draft/2020-12/schema', 'title': 'network', 'type': 'object',"
               "'required': ['_type_key', 'ops'], 'properties': {");
    for (int i = 0; i < NETWORK_KEYS; i++) put_network_key(s, (network_key)i);
    schema_put(s, "}, '$defs': {");
    put_fixed(s);
    put_op(s);
    schema_put(s, "'known': {'enum': [");
    for (size_t i = 0; i < s->n; i++) schema_keys_of(s, s->classes[i]);
    schema_put(s, "]}");
    if (s->any_wanted) schema_family(s, NULL);
    for (size_t i = 0; i < s->n; i++)
        if (s->wanted[i]) schema_family(s, s->classes[i]);
    for (size_t i = 0; i < s->n; i++)
        if (s->classes[i]->is_op || is_map_class(s->classes[i])) schema_class(s, s->classes[i]);
    schema_put(s, "}}");
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
