/* xir ops: the classes that this build knows, from reflection. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "cli.h"

static bool as_json;

static const char *const trait_words[] = { "activation", "source", "sink", "free", "impure", "abstract" };   /* ORDER TRAIT */
enum { TRAITS = sizeof trait_words / sizeof trait_words[0] };

/* ---- what a field says --------------------------------------------------------------------------- */

static void put_type(text *t, const xir_field *f) {
    size_t size = xir_field_type_text(f, NULL, 0);
    char *words = take(size + 1, 1);
    xir_field_type_text(f, words, size + 1);
    text_add(t, words, size);
    free(words);
}

/* A reference as files spell it: "@…" is a text, anything else is JSON as it stands. */
static void put_reference(text *t, xir_str spelled) {
    if (spelled.size && spelled.data[0] == '@') json_text(t, spelled);
    else if (spelled.size) text_add(t, spelled.data, spelled.size);
    else text_put(t, "null");
}

static void put_default(text *t, const xir_field *f) {
    if (!f->has_default) {
        text_put(t, "null");
        return;
    }
    switch (f->kind) {
    case XIR_KIND_BOOL: text_put(t, f->preset.i ? "true" : "false"); break;
    case XIR_KIND_I64:  text_printf(t, "%" PRId64, f->preset.i); break;
    case XIR_KIND_U64:  text_printf(t, "%" PRIu64, (uint64_t)f->preset.i); break;
    case XIR_KIND_REAL: json_real(t, f->preset.r); break;
    case XIR_KIND_TEXT: json_text(t, f->preset_text); break;
    case XIR_KIND_ENUM: json_text(t, xir_str_of(f->members->words[f->preset.i])); break;
    case XIR_KIND_REF:  put_reference(t, f->preset_text); break;
    case XIR_KIND_REFS:
        text_put(t, "[");
        if (f->preset_text.size) put_reference(t, f->preset_text);
        text_put(t, "]");
        break;
    case XIR_KIND_MAP:  text_put(t, "{}"); break;
    case XIR_KIND_BOOLS: case XIR_KIND_I64S: case XIR_KIND_REALS: case XIR_KIND_TEXTS: case XIR_KIND_RUNS:
    case XIR_KIND_PARAMSS: case XIR_KIND_OPS:
        text_put(t, "[]");
        break;
    case XIR_KIND_PARAMS: case XIR_KIND_COUNT:
        text_put(t, "null");
        break;
    }
}

static void put_bound(text *t, const xir_field *f, bool has, xir_number v) {
    if (!has) text_put(t, "null");
    else if (f->kind == XIR_KIND_REAL) json_real(t, v.r);
    else if (f->kind == XIR_KIND_U64) text_printf(t, "%" PRIu64, (uint64_t)v.i);
    else text_printf(t, "%" PRId64, v.i);
}

/* ---- as JSON ------------------------------------------------------------------------------------- */

static void put_ports(json_out *j, const char *name, const xir_class *cls, size_t n,
                      const xir_port *(*at)(const xir_class *, size_t)) {
    json_open(j, name, '[');
    for (size_t i = 0; i < n; i++) {
        const xir_port *port = at(cls, i);
        json_open(j, NULL, '{');
        json_str(j, "name", port->name);
        json_str(j, "describe", port->describe);
        json_bool(j, "optional", port->word == XIR_WORD_OPT);
        json_bool(j, "variadic", port->word == XIR_WORD_VAR || port->word == XIR_WORD_OUTS);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void put_class(json_out *j, const xir_class *cls) {
    json_open(j, NULL, '{');
    json_str(j, "type_key", xir_class_key(cls));
    json_str(j, "describe", xir_class_describe(cls));
    put_ports(j, "inputs", cls, xir_class_input_count(cls), xir_class_input_at);
    put_ports(j, "outputs", cls, xir_class_output_count(cls), xir_class_output_at);
    json_open(j, "traits", '[');
    for (size_t i = 0; i < TRAITS; i++) {
        if (xir_class_traits(cls) >> i & 1) json_str(j, NULL, xir_str_of(trait_words[i]));
    }
    json_close(j, ']');
    json_open(j, "attributes", '[');
    for (size_t i = 0; i < xir_class_field_count(cls); i++) {
        const xir_field *f = xir_class_field_at(cls, i);
        text type = { 0 };
        put_type(&type, f);
        json_open(j, NULL, '{');
        json_str(j, "name", f->name);
        json_str(j, "type", text_of(&type));
        json_member(j, "default");
        put_default(&j->t, f);
        json_member(j, "lower");
        put_bound(&j->t, f, f->has_least, f->least);
        json_member(j, "upper");
        put_bound(&j->t, f, f->has_greatest, f->greatest);
        json_bool(j, "required", f->flags & XIR_FIELD_REQUIRED);
        json_str(j, "describe", f->describe);
        json_close(j, '}');
        text_free(&type);
    }
    json_close(j, ']');
    json_close(j, '}');
}

static void print_json(const xir_class *one) {
    json_out j = { 0 };
    json_open(&j, NULL, '[');
    const xir_class *cls;
    if (one) put_class(&j, one);
    for (size_t i = 0; !one && (cls = xir_context_class_at(context, i)); i++) {
        if (xir_class_is_op(cls)) put_class(&j, cls);
    }
    json_close(&j, ']');
    text_put(&j.t, "\n");
    write_to(stdout, j.t.data, j.t.size);
    text_free(&j.t);
}

/* ---- for people ---------------------------------------------------------------------------------- */

static int width(size_t n) { return n > 60 ? 60 : (int)n; }

static void print_ports(const char *word, const xir_class *cls, size_t n, const xir_port *(*at)(const xir_class *, size_t)) {
    size_t most = 0;
    for (size_t i = 0; i < n; i++) most = at(cls, i)->name.size > most ? at(cls, i)->name.size : most;
    if (n) printf("\n%s\n", word);
    for (size_t i = 0; i < n; i++) {
        const xir_port *p = at(cls, i);
        const char *how = p->word == XIR_WORD_OPT ? " (optional)" : p->word == XIR_WORD_VAR || p->word == XIR_WORD_OUTS ? " (any number)" : "";
        printf("  %-*.*s  %.*s%s\n", width(most), (int)p->name.size, p->name.data, (int)p->describe.size, p->describe.data, how);
    }
}

static void print_field(const xir_field *f, int names, int types) {
    text type = { 0 }, rest = { 0 };
    put_type(&type, f);
    if (f->has_default) {
        text_put(&rest, " = ");
        put_default(&rest, f);
    } else {
        text_put(&rest, f->flags & XIR_FIELD_REQUIRED ? " required" : " = null");
    }
    if (f->has_least) {
        text_put(&rest, ", from ");
        put_bound(&rest, f, true, f->least);
    }
    if (f->has_greatest) {
        text_put(&rest, ", to ");
        put_bound(&rest, f, true, f->greatest);
    }
    printf("  %-*.*s  %-*s%s\n  %*s    %.*s\n", names, (int)f->name.size, f->name.data, types, type.data, rest.data,
           names, "", (int)f->describe.size, f->describe.data);
    text_free(&type);
    text_free(&rest);
}

static void print_class(const xir_class *cls) {
    xir_str key = xir_class_key(cls), describe = xir_class_describe(cls);
    printf("%.*s\n  %.*s\n", (int)key.size, key.data, (int)describe.size, describe.data);
    for (uint32_t i = 0, traits = xir_class_traits(cls); i < TRAITS; i++) {
        if (traits >> i & 1) printf("  trait: %s\n", trait_words[i]);
    }
    print_ports("inputs", cls, xir_class_input_count(cls), xir_class_input_at);
    print_ports("outputs", cls, xir_class_output_count(cls), xir_class_output_at);
    size_t n = xir_class_field_count(cls), names = 0, types = 0;
    for (size_t i = 0; i < n; i++) {
        const xir_field *f = xir_class_field_at(cls, i);
        size_t type = xir_field_type_text(f, NULL, 0);
        if (f->name.size > names) names = f->name.size;
        if (type > types && type <= 24) types = type;
    }
    if (n) printf("\nattributes\n");
    for (size_t i = 0; i < n; i++) print_field(xir_class_field_at(cls, i), width(names), width(types));
}

static void print_list(void) {
    size_t most = 0;
    const xir_class *cls;
    for (size_t i = 0; (cls = xir_context_class_at(context, i)); i++) {
        if (xir_class_is_op(cls) && xir_class_key(cls).size > most) most = xir_class_key(cls).size;
    }
    for (size_t i = 0; (cls = xir_context_class_at(context, i)); i++) {
        xir_str key = xir_class_key(cls), describe = xir_class_describe(cls);
        if (!xir_class_is_op(cls)) continue;
        printf("%-*.*s  %.*s\n", width(most), (int)key.size, key.data, (int)describe.size, describe.data);
    }
}

/* ---- finding one --------------------------------------------------------------------------------- */

static xir_str short_key(const xir_class *cls) {
    xir_str key = xir_class_key(cls);
    size_t start = 0;
    for (size_t i = 2; i <= key.size; i++) {
        if (key.data[i - 2] == ':' && key.data[i - 1] == ':') start = i;
    }
    return (xir_str){ key.data + start, key.size - start };
}

/* By key or old key, whole or without what is before the last "::", and as a last resort in any case of letters. */
static const xir_class *find(const char *name) {
    const xir_class *cls = xir_class_find(context, xir_str_of(name));
    if (cls) return cls;
    char *whole = join("icraft::xir::", name);
    cls = xir_class_find(context, xir_str_of(whole));
    free(whole);
    if (cls) return cls;
    for (int loose = 0; loose < 2; loose++) {
        for (size_t i = 0; (cls = xir_context_class_at(context, i)); i++) {
            xir_str key = short_key(cls);
            if (key.size != strlen(name)) continue;
            if (loose ? strncasecmp(key.data, name, key.size) == 0 : memcmp(key.data, name, key.size) == 0) return cls;
        }
    }
    return NULL;
}

static int unknown(const char *name) {
    size_t n = 0;
    while (xir_context_class_at(context, n)) n++;
    text *keys = take(n, sizeof *keys);
    const char **words = take(n + 1, sizeof *words);
    for (size_t i = 0; i < n; i++) {
        xir_str key = short_key(xir_context_class_at(context, i));
        text_add(&keys[i], key.data, key.size);
        words[i] = keys[i].data;
    }
    const char *meant = nearest(name, words);
    if (meant) complain(MISUSED, "there is no class '%s'; was %s meant?", name, meant);
    else complain(MISUSED, "there is no class '%s'; xir ops lists them", name);
    for (size_t i = 0; i < n; i++) text_free(&keys[i]);
    free(keys);
    free((void *)words);
    return MISUSED;
}

static int run(int n, char **operands) {
    const xir_class *one = n ? find(operands[0]) : NULL;
    if (n && !one) return unknown(operands[0]);
    if (as_json) print_json(one);
    else if (one) print_class(one);
    else print_list();
    return DONE;
}

static const option options[] = {
    { "json", NULL, &as_json, "a list of JSON objects" },
    { 0 },
};

const command ops_command = {
    .name = "ops", .operands = "[NAME]", .summary = "lists the operations, or says all about one class",
    .details = "NAME is a key (icraft::xir::Conv2d), its end (Conv2d), or an old key. Types and targets are classes too.\n",
    .options = options, .least = 0, .most = 1, .run = run,
};
