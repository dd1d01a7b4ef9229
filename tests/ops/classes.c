/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The rows of all op classes: those of the original as listed in tests/ops/classes.txt, and properties of every class:
 * notes, descriptions, unique names. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include "support/net.h"
#include "graph.h"

enum { ORIGINAL = 105, LATER = 4, FORMER = 7, XIR_ONLY = 29, ACTIVATIONS = 34, MOST_OPS = 400 };

static const char prefix[] = "icraft::xir::";

static const xir_class *ops[MOST_OPS];
static size_t           n_ops;
static size_t           n_faults;   /* of the test that runs */

static void fault_in(const xir_class *cls, const char *format, ...) XIR_PRINTF(2, 3);
static void fault_in(const xir_class *cls, const char *format, ...) {
    va_list list;
    va_start(list, format);
    fprintf(stderr, "%s: ", cls->key.data);
    vfprintf(stderr, format, list);
    fputc('\n', stderr);
    va_end(list);
    n_faults++;
}

static int find_ops(void **state) {
    if (group_begin(state)) return -1;
    n_ops = 0;
    for (size_t i = 0; xir_context_class_at(ctx, i); i++) {
        const xir_class *cls = xir_context_class_at(ctx, i);
        if (!xir_class_is_op(cls) || xir_class_is_opaque(cls)) continue;
        if (n_ops == MOST_OPS) abort();
        ops[n_ops++] = cls;
    }
    return 0;
}

static bool is_original(const xir_class *cls) { return strncmp(cls->key.data, prefix, strlen(prefix)) == 0; }

/* ---- a class in the table's form -------------------------------------------------------------------------------- */

typedef struct line { char text[4000]; size_t size; } line;

static void put(line *l, const char *format, ...) XIR_PRINTF(2, 3);
static void put(line *l, const char *format, ...) {
    va_list list;
    va_start(list, format);
    int n = vsnprintf(l->text + l->size, sizeof l->text - l->size, format, list);
    va_end(list);
    l->size += n > 0 ? (size_t)n : 0;
    assert_true(l->size < sizeof l->text);
}

static const char *short_name(const xir_class *cls) {
    return cls && is_original(cls) ? cls->key.data + strlen(prefix) : cls ? cls->key.data : "any";
}

static void put_type(line *l, const xir_field *f) {
    switch (f->kind) {
    case XIR_KIND_BOOL:    put(l, "bool"); break;
    case XIR_KIND_I64:     put(l, "int"); break;
    case XIR_KIND_REAL:    put(l, "real"); break;
    case XIR_KIND_TEXT:    put(l, "text"); break;
    case XIR_KIND_MAP:     put(l, "map"); break;
    case XIR_KIND_I64S:    put(l, "int[]"); break;
    case XIR_KIND_PARAMS:  put(l, "Params"); break;
    case XIR_KIND_PARAMSS: put(l, "Params[]"); break;
    case XIR_KIND_OPS:     put(l, "HardOp[]"); break;
    case XIR_KIND_REF:     put(l, "%s", short_name(f->of)); break;
    case XIR_KIND_REFS:    put(l, "%s[]", short_name(f->of)); break;
    case XIR_KIND_ENUM:
        for (size_t i = 0; i < f->members->size; i++) put(l, "%s%s", i ? "|" : "", f->members->names[i]);
        break;
    default:               put(l, "%s", xir_kind_name(f->kind)); break;
    }
    if (f->flags & XIR_FIELD_OPTIONAL) put(l, "?");
}

static bool is_list(xir_kind kind) {
    return kind == XIR_KIND_I64S || kind == XIR_KIND_PARAMSS || kind == XIR_KIND_REFS || kind == XIR_KIND_OPS ||
           kind == XIR_KIND_MAP;
}

static void put_default(line *l, const xir_field *f) {
    if (f->default_text.size) put(l, " = %s", f->default_text.data);
    else if (f->flags & XIR_FIELD_OPTIONAL || is_list(f->kind)) return;
    else if (!f->has_default) put(l, " !");
    else if (f->kind == XIR_KIND_REAL) put(l, " = %.9g", (double)(float)f->default_value.r);   // as it is stored
    else if (f->kind == XIR_KIND_BOOL) put(l, " = %s", f->default_value.i ? "true" : "false");
    else if (f->kind == XIR_KIND_ENUM) put(l, " = %s", f->members->names[f->default_value.i]);
    else if (f->kind == XIR_KIND_TEXT) put(l, " = \"\"");
    else put(l, " = %" PRId64, f->default_value.i);
}

static void put_bounds(line *l, const xir_field *f) {
    if (f->has_min && f->kind == XIR_KIND_REAL) put(l, " >= %.9g", f->min.r);
    else if (f->has_min) put(l, " >= %" PRId64, f->min.i);
    if (f->has_max && f->kind == XIR_KIND_REAL) put(l, " <= %.9g", f->max.r);
    else if (f->has_max) put(l, " <= %" PRId64, f->max.i);
}

static void put_class(line *l, const xir_class *cls) {
    put(l, "%u %s (", xir_class_tag(cls), short_name(cls));
    for (size_t i = 0; i < xir_class_input_count(cls); i++) {
        const xir_port *port = xir_class_input_at(cls, i);
        put(l, "%s%s%s", i ? ", " : "", port->name.data, port->decl == XIR_DECL_OPT ? "?" : port->decl == XIR_DECL_VAR
            ? "..." : "");
    }
    put(l, ")");
    size_t n = xir_class_output_count(cls);
    if (n == 1 && xir_class_output_at(cls, 0)->decl == XIR_DECL_OUTS) put(l, " -> *");
    else if (n != 1) put(l, " -> %zu", n);
    if (xir_class_traits(cls) & XIR_TRAIT_ACTIVATION) put(l, " activation");
    for (size_t i = 0; xir_class_note(cls, XIR_DECL_ALIAS, i).size; i++) {
        const char *alias = xir_class_note(cls, XIR_DECL_ALIAS, i).data;
        bool prefixed = strncmp(alias, prefix, strlen(prefix)) == 0;
        put(l, "%s%s", i ? ", " : " was ", prefixed ? alias + strlen(prefix) : alias);
    }
    for (size_t i = 0; i < xir_class_field_count(cls); i++) {
        const xir_field *f = xir_class_field_at(cls, i);
        put(l, "%s%s: ", i ? ", " : " ", f->name.data);
        put_type(l, f);
        put_default(l, f);
        put_bounds(l, f);
    }
}

/* ---- the table -------------------------------------------------------------------------------------------------- */

/* Reads the next class and its attributes, separated by single blanks; false at the end. */
static bool read_class(FILE *in, line *l) {
    int c, before = '\n';
    l->size = 0;
    l->text[0] = '\0';
    for (; (c = getc(in)) != EOF; before = c) {
        if (before == '\n' && c == '#') {
            while (c != '\n' && c != EOF) c = getc(in);
            continue;
        }
        if (before == '\n' && c != ' ' && c != '\n' && l->size) {
            ungetc(c, in);
            break;
        }
        bool blank = c == ' ' || c == '\n';
        if (blank && (!l->size || l->text[l->size - 1] == ' ')) continue;
        put(l, "%c", blank ? ' ' : c);
    }
    while (l->size && l->text[l->size - 1] == ' ') l->text[--l->size] = '\0';
    return l->size;
}

static void test_table(void **state) {
    (void)state;
    FILE *in = fopen(XIR_TEST_DATA "/ops/classes.txt", "r");
    assert_non_null(in);
    size_t n = 0, differ = 0;
    line expected, found;
    for (; read_class(in, &expected); n++) {
        char key[100];
        assert_int_equal(sscanf(expected.text, "%*d %80s", key), 1);
        memmove(key + strlen(prefix), key, strlen(key) + 1);
        memcpy(key, prefix, strlen(prefix));
        const xir_class *cls = xir_class_find(ctx, xir_str_of(key));
        found = (line){ .size = 0 };
        if (cls) put_class(&found, cls);
        if (cls && strcmp(expected.text, found.text) == 0) continue;
        fprintf(stderr, "expected: %s\nfound:    %s\n", expected.text, cls ? found.text : "no such class");
        differ++;
    }
    fclose(in);
    assert_int_equal(n, ORIGINAL + LATER + FORMER);
    if (differ) fail_msg("%zu classes are not as the table has them", differ);
}

/* The activations are exactly those that the original flags. */
static void test_counts(void **state) {
    (void)state;
    size_t with_tag = 0, later = 0, in_xir = 0, activations = 0;
    for (size_t i = 0; i < n_ops; i++) {
        if (!is_original(ops[i])) in_xir++;
        else if (xir_class_tag(ops[i])) with_tag++;
        else later++;
        activations += (xir_class_traits(ops[i]) & XIR_TRAIT_ACTIVATION) != 0;
    }
    assert_int_equal(with_tag, ORIGINAL);
    assert_int_equal(later, LATER + FORMER);
    assert_int_equal(in_xir, XIR_ONLY);
    assert_int_equal(activations, ACTIVATIONS);
}

/* ---- every class ------------------------------------------------------------------------------------------------ */

static void check_text(const xir_class *cls, const char *what, xir_str text) {
    if (!text.size) fault_in(cls, "%s has no description", what);
    else if (text.data[0] == ' ' || text.data[text.size - 1] == ' ')
        fault_in(cls, "%s: '%s' has a blank too many", what, text.data);
}

/* The frameworks that UNLIKE notes may name. */
static bool names_someone(const char *note) {
    return strstr(note, "PyTorch") || strstr(note, "ONNX") || strstr(note, "riginal");
}

static void test_descriptions(void **state) {
    (void)state;
    n_faults = 0;
    for (size_t i = 0; i < n_ops; i++) {
        const xir_class *cls = ops[i];
        check_text(cls, "the class", xir_class_doc(cls));
        for (size_t k = 0; k < xir_class_field_count(cls); k++) {
            check_text(cls, xir_class_field_at(cls, k)->name.data, xir_class_field_at(cls, k)->doc);
        }
        for (size_t k = 0; k < xir_class_input_count(cls); k++) {
            check_text(cls, xir_class_input_at(cls, k)->name.data, xir_class_input_at(cls, k)->doc);
        }
        for (size_t k = 0; k < xir_class_output_count(cls); k++) {
            check_text(cls, xir_class_output_at(cls, k)->name.data, xir_class_output_at(cls, k)->doc);
        }
        static const struct { xir_decl_kind word; const char *name; bool needed; } notes[] = {
            { XIR_DECL_FORMULA, "FORMULA", true }, { XIR_DECL_GIVES, "GIVES", true },
            { XIR_DECL_UNLIKE, "UNLIKE", false } };
        for (size_t n = 0; n < COUNT(notes); n++) {
            if (notes[n].needed && !xir_class_note(cls, notes[n].word, 0).size)
                fault_in(cls, "no %s note", notes[n].name);
            for (size_t k = 0; xir_class_note(cls, notes[n].word, k).size; k++) {
                xir_str note = xir_class_note(cls, notes[n].word, k);
                check_text(cls, notes[n].name, note);
                if (notes[n].word == XIR_DECL_UNLIKE && !names_someone(note.data)) {
                    fault_in(cls, "unlike whom? '%s'", note.data);
                }
            }
        }
    }
    if (n_faults) fail_msg("%zu faults", n_faults);
}

/* Keys, including old ones, are unique; so are tags, and names within a class. */
static void test_names(void **state) {
    (void)state;
    n_faults = 0;
    for (size_t i = 0; i < n_ops; i++) {
        const xir_class *cls = ops[i];
        for (size_t k = 0; k < i; k++) {
            if (xir_class_tag(cls) && xir_class_tag(cls) == xir_class_tag(ops[k]))
                fault_in(cls, "the tag of %s", ops[k]->key.data);
        }
        if (xir_class_find(ctx, cls->key) != cls) fault_in(cls, "its key finds another class");
        for (size_t k = 0; xir_class_note(cls, XIR_DECL_ALIAS, k).size; k++) {
            xir_str alias = xir_class_note(cls, XIR_DECL_ALIAS, k);
            if (xir_class_find(ctx, alias) != cls) fault_in(cls, "%s finds another class", alias.data);
            if (xir_str_equal(alias, cls->key)) fault_in(cls, "its old name is its name");
        }
        for (size_t k = 0; k < xir_class_field_count(cls); k++) {
            const xir_field *f = xir_class_field_at(cls, k);
            if (xir_class_field(cls, f->name) != f) fault_in(cls, "two attributes are called %s", f->name.data);
        }
    }
    if (n_faults) fail_msg("%zu faults", n_faults);
}

/* All classes have inference on the host, except those whose output types are set by others. */
static void test_functions(void **state) {
    (void)state;
    n_faults = 0;
    static const char *const without[] = { "icraft::xir::Input",     "icraft::xir::HardOp",    "icraft::xir::Unknown",
                                           "icraft::xir::Unsupport", "icraft::xir::Region",    "icraft::xir::Reorg",
                                           "icraft::xir::Yolo",      "icraft::xir::MultiYolo", "icraft::xir::SSDOutput",
                                           "icraft::xir::InnerProduct" };
    for (size_t i = 0; i < n_ops; i++) {
        bool given = false;
        for (size_t k = 0; k < COUNT(without); k++) given |= strcmp(without[k], ops[i]->key.data) == 0;
        if (given == (ops[i]->more->infer[XIR_TARGET_HOST] != NULL))
            fault_in(ops[i], given ? "is inferred" : "is not inferred");
    }
    if (n_faults) fail_msg("%zu faults", n_faults);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table), cmocka_unit_test(test_counts), cmocka_unit_test(test_descriptions),
        cmocka_unit_test(test_names), cmocka_unit_test(test_functions),
    };
    return cmocka_run_group_tests(tests, find_ops, group_end);
}
