/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The command, what a field says in words, and classes for people. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "ops.h"

static bool as_json, as_markdown, rules_only;

xir_str short_key(const xir_class *cls) {
    xir_str key = xir_class_key(cls);
    size_t start = 0;
    for (size_t i = 2; i <= key.size; i++) {
        if (key.data[i - 2] == ':' && key.data[i - 1] == ':') start = i;
    }
    return (xir_str){ key.data + start, key.size - start };
}

static int by_short_key(const void *a, const void *b) {
    xir_str x = short_key(*(const xir_class *const *)a), y = short_key(*(const xir_class *const *)b);
    int order = strncasecmp(x.data, y.data, x.size < y.size ? x.size : y.size);
    return order ? order : (x.size > y.size) - (x.size < y.size);
}

const xir_class **sorted_ops(size_t *n) {
    size_t all = 0;
    const xir_class *cls;
    while (xir_context_class_at(context, all)) all++;
    const xir_class **ops = take(all + 1, sizeof *ops);
    *n = 0;
    for (size_t i = 0; (cls = xir_context_class_at(context, i)); i++) {
        if (xir_class_is_op(cls) && !(xir_class_traits(cls) & XIR_TRAIT_ABSTRACT)) ops[(*n)++] = cls;
    }
    qsort((void *)ops, *n, sizeof *ops, by_short_key);
    return ops;
}

/* ---- what a field says --------------------------------------------------------------------------- */

void put_type(text *t, const xir_field *f) {
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

void put_default(text *t, const xir_field *f) {
    if (!f->has_default) {
        text_put(t, "null");
        return;
    }
    switch (f->kind) {
    case XIR_KIND_BOOL: text_put(t, f->default_value.i ? "true" : "false"); break;
    case XIR_KIND_I64:  text_printf(t, "%" PRId64, f->default_value.i); break;
    case XIR_KIND_U64:  text_printf(t, "%" PRIu64, (uint64_t)f->default_value.i); break;
    case XIR_KIND_REAL: json_real(t, f->default_value.r); break;
    case XIR_KIND_TEXT: json_text(t, f->default_text); break;
    case XIR_KIND_ENUM: json_text(t, xir_str_of(f->members->names[f->default_value.i])); break;
    case XIR_KIND_REF:  put_reference(t, f->default_text); break;
    case XIR_KIND_REFS:
        text_put(t, "[");
        if (f->default_text.size) put_reference(t, f->default_text);
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

void put_bound(text *t, const xir_field *f, bool has, xir_number v) {
    if (!has) text_put(t, "null");
    else if (f->kind == XIR_KIND_REAL) json_real(t, v.r);
    else if (f->kind == XIR_KIND_U64) text_printf(t, "%" PRIu64, (uint64_t)v.i);
    else text_printf(t, "%" PRId64, v.i);
}

c_names c_names_of(const xir_class *cls) {
    c_names names = { 0 };
    const xir_str id = xir_class_id(cls);
    const bool is_op = xir_class_is_op(cls);
    if (!id.size) return names;
    text_printf(&names.constructor, is_op ? "XIR_OP(at, %s, …)" : "xir_%s_make", id.data);
    text_printf(&names.attributes, is_op ? "xir_%s_attrs" : "xir_%s", id.data);
    text_printf(&names.declaration, "xir_%s_class", id.data);
    return names;
}

void c_names_free(c_names *names) {
    text_free(&names->constructor);
    text_free(&names->attributes);
    text_free(&names->declaration);
}

bool put_targets(text *t, const xir_class *cls) {
    bool any = false;
    const xir_target_row *row;
    for (int i = 0; (row = xir_target_row_at(context, (size_t)i)); i++) {
        if (!xir_class_infers_on(cls, i)) continue;
        text_printf(t, "%s%s", any ? ", " : "", row->name);
        any = true;
    }
    return any;
}

const xir_target_row *target_of(const xir_class *cls) {
    int kind = xir_class_is_op(cls) ? -1 : xir_target_find(context, xir_class_key(cls));
    return kind < 0 ? NULL : xir_target_row_at(context, (size_t)kind);
}

/* ---- for people ---------------------------------------------------------------------------------- */

static int width(size_t n) { return n > 60 ? 60 : (int)n; }

static void print_ports(const char *word, const xir_class *cls, size_t n,
                        const xir_port *(*at)(const xir_class *, size_t)) {
    size_t most = 0;
    for (size_t i = 0; i < n; i++) most = at(cls, i)->name.size > most ? at(cls, i)->name.size : most;
    if (n) printf("\n%s\n", word);
    for (size_t i = 0; i < n; i++) {
        const xir_port *p = at(cls, i);
        bool many = p->decl == XIR_DECL_VAR || p->decl == XIR_DECL_OUTS;
        const char *how = p->decl == XIR_DECL_OPT ? " (optional)" : many ? " (any number)" : "";
        printf("  %-*.*s  %.*s%s\n", width(most), (int)p->name.size, p->name.data, (int)p->doc.size, p->doc.data, how);
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
    if (f->has_min) {
        text_put(&rest, ", from ");
        put_bound(&rest, f, true, f->min);
    }
    if (f->has_max) {
        text_put(&rest, ", to ");
        put_bound(&rest, f, true, f->max);
    }
    printf("  %-*.*s  %-*s%s\n  %*s    %.*s\n", names, (int)f->name.size, f->name.data, types, type.data, rest.data,
           names, "", (int)f->doc.size, f->doc.data);
    text_free(&type);
    text_free(&rest);
}

const char *needs_word(const xir_class *cls) {
    const xir_needs needs = xir_class_needs(cls);
    return needs == XIR_NEEDS_EXACT ? "exact parts" : needs == XIR_NEEDS_SUPERSET ? "parts" : "all";
}

static void print_notes(const char *heading, const xir_class *cls, xir_decl_kind word) {
    xir_str note;
    for (size_t i = 0; (note = xir_class_note(cls, word, i)).size; i++) {
        if (!i) printf("\n%s\n", heading);
        printf("  %.*s\n", (int)note.size, note.data);
    }
}

static void print_target(const xir_target_row *row) {
    printf("  name: %s\n", row->name);
    if (row->accelerator) puts("  accelerator: its ops belong in networks for it only");
    if (row->tiles) fputs("  tiles:", stdout);
    for (const int64_t *tile = row->tiles; tile && *tile; tile++) {
        if (*tile == XIR_ANY_TILE) fputs(" of any size", stdout);
        else printf(" %" PRId64, *tile);
    }
    if (row->tiles) puts("");
    if (row->cores) printf("  cores: %s\n", row->cores);
}

static void print_class(const xir_class *cls) {
    xir_str key = xir_class_key(cls), doc = xir_class_doc(cls), alias, trait;
    text targets = { 0 };
    printf("%.*s\n  %.*s\n", (int)key.size, key.data, (int)doc.size, doc.data);
    for (size_t i = 0; (alias = xir_class_note(cls, XIR_DECL_ALIAS, i)).size; i++) {
        printf("  old key: %.*s\n", (int)alias.size, alias.data);
    }
    for (size_t i = 0; (trait = xir_class_trait_at(cls, i)).size; i++)
        printf("  trait: %.*s\n", (int)trait.size, trait.data);
    if (xir_class_tag(cls)) printf("  FlatBuffers tag: %u\n", (unsigned)xir_class_tag(cls));
    c_names c = c_names_of(cls);
    if (c.declaration.size) printf("  in C: %s, %s, %s\n", c.constructor.data, c.attributes.data, c.declaration.data);
    c_names_free(&c);
    if (put_targets(&targets, cls)) printf("  infers on: %s\n", targets.data);
    else if (target_of(cls)) print_target(target_of(cls));
    else if (xir_class_is_op(cls)) printf("  infers on: nothing, output types are given\n");
    text_free(&targets);
    print_notes("computes", cls, XIR_DECL_FORMULA);
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
    print_notes("gives", cls, XIR_DECL_GIVES);
    print_notes("unlike", cls, XIR_DECL_UNLIKE);
    print_notes("in other orders of axes", cls, XIR_DECL_LAYOUT);
    print_notes("from normalised numbers", cls, XIR_DECL_NORMALISED);
    print_notes("shares bytes", cls, XIR_DECL_SHARES);
    print_notes("composed of", cls, XIR_DECL_COMPOSED);
    if (xir_class_is_op(cls)) printf("\na part of an output needs\n  %s of the inputs\n", needs_word(cls));
    if (xir_class_is_op(cls)) print_rules_of(cls);
}

static void print_list(void) {
    size_t most = 0, n;
    const xir_class **ops = sorted_ops(&n);
    for (size_t i = 0; i < n; i++) most = xir_class_key(ops[i]).size > most ? xir_class_key(ops[i]).size : most;
    table_begin();
    for (size_t i = 0; i < n; i++) {
        xir_str key = xir_class_key(ops[i]), doc = xir_class_doc(ops[i]);
        printf("%-*.*s  %.*s\n", width(most), (int)key.size, key.data, (int)doc.size, doc.data);
    }
    table_end();
    free((void *)ops);
}

/* ---- finding one --------------------------------------------------------------------------------- */

/* By key or old key, whole or without what is before the last "::"; by a target's name; as a last resort in any case of
 * letters. */
static const xir_class *find(const char *name) {
    const xir_class *cls = xir_class_find(context, xir_str_of(name));
    if (cls) return cls;
    char *whole = join("icraft::xir::", name);
    cls = xir_class_find(context, xir_str_of(whole));
    free(whole);
    if (cls) return cls;
    int kind = xir_target_find(context, xir_str_of(name));
    if (kind >= 0) return xir_class_find(context, xir_str_of(xir_target_row_at(context, (size_t)kind)->key));
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
    const xir_class *cls;
    near_names meant = { 0 };
    text names = { 0 };
    for (size_t i = 0; (cls = xir_context_class_at(context, i)); i++) near_add(&meant, name, short_key(cls));
    near_put(&names, &meant);
    if (meant.n) complain(MISUSED, "there is no class '%s'; did you mean %s?", name, names.data);
    else complain(MISUSED, "there is no class '%s'; xir ops lists them", name);
    text_free(&names);
    return MISUSED;
}

static int run(int n, char **operands) {
    const xir_class *one = n ? find(operands[0]) : NULL;
    if (n && !one) return unknown(operands[0]);
    if (as_json + as_markdown + rules_only > 1)
        return complain(MISUSED, "--json, --markdown and --rules exclude each other");
    if (rules_only && n) return complain(MISUSED, "--rules prints the rules for all classes");
    if (rules_only) print_rules_markdown();
    else if (as_json) print_ops_json(one);
    else if (as_markdown) print_ops_markdown(one);
    else if (one) print_class(one);
    else print_list();
    return DONE;
}

static const option options[] = {
    { "json", NULL, WORD_NONE, &as_json, "print a list of JSON objects: all about the classes" },
    { "markdown", NULL, WORD_NONE, &as_markdown, "print the reference of operations, docs/ops.md" },
    { "rules", NULL, WORD_NONE, &rules_only, "print what the targets run, docs/targets.md" },
    { 0 },
};

const command ops_command = {
    .name = "ops", .operands = "[NAME]", .is = WORD_CLASS,
    .doc = "lists the operations, or prints all about one class",
    .details = "NAME is a key (icraft::xir::Conv2d), its end (Conv2d), or an old key. Types and targets are "
               "classes too; a target also has a name (buyi).",
    .examples = (const example[]){
        { "xir ops Conv2d", "Read all about one operation." },
        { "xir ops buyi", "Read about a target." },
        { NULL, NULL },
    },
    .related = "passes",
    .options = options, .least = 0, .most = 1, .run = run,
};
