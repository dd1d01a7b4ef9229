/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Losses of a network on its way to a format are reported once. A note counts the names of values and ops that the
 * file does not have; here the file is written and read, and its names are compared with those that the network had.
 * The list that the option `names` asks for says which value of the file is which of the network: both compute the
 * same. Element types that change are in the note, too. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <xir/convert.h>
#include <xir/exec.h>
#include <xir/pass.h>
#include <xir/serialize.h>
#include <xir/icraft.h>
#include "support/net.h"
#include "support/scratch.h"
#include "support/story.h"
#include "support/ways.h"

/* ---- texts ------------------------------------------------------------------------------------------------------ */

typedef struct texts { char **v; size_t n; } texts;

static size_t find(const texts *t, const char *text) {
    for (size_t i = 0; i < t->n; i++) if (!strcmp(t->v[i], text)) return i;
    return SIZE_MAX;
}

static void add(texts *t, xir_str text) {
    char *copy = malloc(text.size + 1);
    assert_non_null(copy);
    if (text.size) memcpy(copy, text.data, text.size);
    copy[text.size] = '\0';
    if (!*copy || find(t, copy) != SIZE_MAX) {
        free(copy);
        return;
    }
    t->v = realloc((void *)t->v, (t->n + 1) * sizeof *t->v);
    assert_non_null(t->v);
    t->v[t->n++] = copy;
}

static void drop(texts *t) {
    for (size_t i = 0; i < t->n; i++) free(t->v[i]);
    free((void *)t->v);
    *t = (texts){ NULL, 0 };
}

/* Returns true if a conversion has made the name for an op that it added: "c.Conv2d", "c.Conv2d.2". */
static bool is_made(xir_str name, const xir_op *op) {
    char text[300], suffix[100];
    const xir_str key = xir_class_key(xir_op_class(op));
    snprintf(text, sizeof text, "%.*s", (int)name.size, name.size ? name.data : "");
    char *end = text + strlen(text);
    snprintf(suffix, sizeof suffix, "%.*s", (int)key.size, key.data);
    *strrchr(suffix, ':') = '.';
    const char *dotted = strrchr(suffix, '.');
    while (end > text && end[-1] >= '0' && end[-1] <= '9') end--;
    if (*end && end > text && end[-1] == '.') end[-1] = '\0';
    const size_t n = strlen(text), m = strlen(dotted);
    return n > m && !strcmp(text + n - m, dotted);
}

/* The names of a network's values; and those of its ops that no value has. `made`: also those that a conversion has
 * made for what it added. */
static void names_of(const xir_network *net, bool made, texts *values, texts *ops) {
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
        xir_value *tensors[16];
        const size_t n = xir_op_params_attrs(op, tensors, COUNT(tensors));
        assert_true(n <= COUNT(tensors));
        for (size_t i = 0; i < n; i++) add(values, xir_value_name(tensors[i]));
        for (size_t i = 0; i < xir_op_input_count(op); i++)
            if (xir_op_input(op, (int64_t)i) && xir_value_is_params(xir_op_input(op, (int64_t)i)))
                add(values, xir_value_name(xir_op_input(op, (int64_t)i)));
        for (size_t i = 0; i < xir_op_output_count(op); i++)
            if (made || !is_made(xir_value_name(xir_op_output(op, (int64_t)i)), op))
                add(values, xir_value_name(xir_op_output(op, (int64_t)i)));
    }
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
        char name[300];
        const bool end = xir_op_is(op, xir_input_class()) || xir_op_is(op, xir_output_class());
        const xir_str own = xir_op_name(op);
        snprintf(name, sizeof name, "%.*s", (int)own.size, own.size ? own.data : "");
        if (!end && (made || !is_made(own, op)) && find(values, name) == SIZE_MAX) add(ops, xir_str_of(name));
    }
}

/* Returns the number of names that neither list has. */
static size_t count_missing(const texts *had, const texts *has, const texts *others) {
    size_t n = 0;
    for (size_t i = 0; i < had->n; i++)
        n += find(has, had->v[i]) == SIZE_MAX && (!others || find(others, had->v[i]) == SIZE_MAX);
    return n;
}

/* ---- a conversion ----------------------------------------------------------------------------------------------- */

typedef struct format { const char *name, *suffix; bool lists; } format;
static const format formats[] = {
    { "nnb", "nnb", true }, { "tsm", "tsm", true }, { "deepx", "ir", true }, { "pnnx", "pnnx.param", true },
    { "onnx", "onnx", false },
};
_Static_assert(COUNT(formats) == WAYS, "each format with a dialect is here");

#define DOES_IT(call, what)                                  \
    do {                                                     \
        if (call) {                                          \
            xir_diags_print(why, stderr);                    \
            fail_msg("line %d: %s fails", __LINE__, (what)); \
        }                                                    \
    } while (0)

static xir_network *load(const char *path) {
    xir_network *net = xir_network_load(ctx, path, NULL, why);
    if (!net) xir_diags_print(why, stderr);
    assert_non_null(net);
    return net;
}

/* The network up to the last pass of the pipeline to a format. */
static void prepare(xir_network *net, const format *f) {
    char text[1000];
    assert_true(xir_pipeline_to(ctx, f->name, text, sizeof text) < sizeof text);
    *strrchr(text, ',') = '\0';
    xir_pipeline *pipeline = xir_pipeline_parse(ctx, xir_str_of(text), why);
    assert_non_null(pipeline);
    DOES(xir_pipeline_run(pipeline, net, NULL, NULL, why));
    xir_pipeline_free(pipeline);
}

static bool is_whole(const xir_network *net) {
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
        const bool end = xir_op_is(op, xir_input_class()) || xir_op_is(op, xir_output_class());
        if (!end && !xir_class_is_dialect(xir_op_class(op))) return false;
    }
    return true;
}

/* Runs the last pass. Returns the note, which is empty if there is none; valid until the next call. */
static const char *convert(xir_network *net, const format *f, const char *options) {
    static char note[1100];
    char pass[40];
    size_t n = 0;
    snprintf(pass, sizeof pass, "xir-to-%s", f->name);
    xir_diags_clear(why);
    DOES_IT(xir_pass_run(net, pass, options, NULL, why), pass);
    *note = '\0';
    for (size_t i = 0; i < xir_diags_count(why); i++) {
        const xir_diag *d = xir_diags_at(why, i);
        if (!strstr(d->message.data, "not in the file") && !strstr(d->message.data, "element types") &&
            !strstr(d->message.data, "without a type")) continue;
        assert_int_equal(d->severity, XIR_NOTE);
        snprintf(note, sizeof note, "%s", d->message.data);
        n++;
    }
    assert_true(n < 2);
    return note;
}

static xir_network *through_file(xir_network *net, const format *f) {
    char name[40];
    snprintf(name, sizeof name, "net.%s", f->suffix);
    const char *path = scratch(name);
    DOES_IT(xir_network_save(net, path, NULL, why), name);
    return load(path);
}

/* The number before "of N WHAT" in a note; 0 if the note does not have it. *all is N. */
static size_t said(const char *note, const char *what, size_t *all) {
    char words[60];
    *all = 0;
    for (const char *p = note; (p = strpbrk(p, "0123456789")); p += strspn(p, "0123456789")) {
        size_t n, of;
        if (sscanf(p, "%zu of %zu names of %50[a-z]", &n, &of, words) != 3 || strcmp(words, what)) continue;
        *all = of;
        return n;
    }
    return 0;
}

/* Returns the number of names that the option keeps, as the note says. */
static size_t said_kept(const char *note, size_t lost) {
    size_t n;
    const char *p = strstr(note, ".names=FILE keeps ");
    if (!p) return 0;
    if (strncmp(p + strlen(".names=FILE keeps "), "them", 4) == 0) return lost;
    assert_int_equal(sscanf(p, ".names=FILE keeps %zu of them", &n), 1);
    return n;
}

/* ---- the list --------------------------------------------------------------------------------------------------- */

typedef struct row { char what[80], there[300], name[300]; } row;
typedef struct rows { row *v; size_t n; } rows;

static rows read_list(const char *path) {
    size_t size;
    char *text = (char *)scratch_get(path, &size);
    rows r = { NULL, 0 };
    assert_non_null(text);
    for (char *line = text, *end; *line; line = end + 1) {
        end = strchr(line, '\n');
        assert_non_null(end);
        *end = '\0';
        r.v = realloc(r.v, (r.n + 1) * sizeof *r.v);
        assert_non_null(r.v);
        row *to = &r.v[r.n++];
        *to->name = '\0';
        assert_true(sscanf(line, "%79[^\t]\t%299[^\t]\t%299[^\t]", to->what, to->there, to->name) >= 2);
    }
    free(text);
    return r;
}

/* The name that reading a file gives to what a line of the list is about. */
static const char *there(const row *r, const format *f) {
    static char text[400];
    const char *stem = strcmp(r->what, "variable") ? r->what : "v";
    if (strcmp(f->name, "nnb")) return r->there;
    snprintf(text, sizeof text, "%s%s%s", stem, strcmp(stem, "v") ? "_" : "", r->there);
    return text;
}

static bool is_value(const row *r) {
    static const char *const words[] = { "variable", "node", "tensor", "operand", "attribute" };
    for (size_t i = 0; i < COUNT(words); i++) if (!strcmp(r->what, words[i])) return true;
    return false;
}

/* ---- numbers ---------------------------------------------------------------------------------------------------- */

typedef struct watched { texts names; const xir_array **arrays; } watched;

static bool see(void *user, const xir_value *v, const xir_array *array) {
    watched *w = user;
    const size_t n = w->names.n;
    add(&w->names, xir_value_name(v));
    if (w->names.n == n) return true;
    w->arrays = realloc((void *)w->arrays, (n + 1) * sizeof *w->arrays);
    assert_non_null(w->arrays);
    w->arrays[n] = xir_array_retain((xir_array *)(uintptr_t)array);
    return true;
}

static void forget(watched *w) {
    for (size_t i = 0; i < w->names.n; i++) xir_array_free((xir_array *)(uintptr_t)w->arrays[i]);
    free((void *)w->arrays);
    drop(&w->names);
}

static watched compute(const xir_network *net, xir_array **in, size_t n) {
    watched w = { .arrays = NULL };
    xir_array *out[16] = { NULL };
    const size_t n_out = xir_op_input_count(xir_network_output_op(net));
    const xir_run_options options = XIR_INIT(xir_run_options, .watch = see, .user = &w);
    assert_true(n_out <= 16);
    DOES_IT(xir_network_run(net, (const xir_array *const *)in, n, out, n_out, &options, why), "a run");
    for (size_t i = 0; i < n_out; i++) xir_array_free(out[i]);
    return w;
}

static int by_size(const void *a, const void *b) {
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

static double *sorted(const xir_array *a) {
    const size_t n = xir_array_count(a);
    double *v = malloc((n + 1) * sizeof *v);
    assert_non_null(v);
    for (size_t i = 0; i < n; i++) v[i] = xir_array_real(a, i);
    qsort(v, n, sizeof *v, by_size);
    return v;
}

/* Maps whose axes are in another order have the same elements. */
static bool same_elements(const xir_array *a, const xir_array *b) {
    double *x = sorted(a), *y = sorted(b);
    bool same = xir_array_count(a) == xir_array_count(b);
    for (size_t i = 0; same && i < xir_array_count(a); i++) same = fabs(x[i] - y[i]) <= 1e-4;
    free(x);
    free(y);
    return same;
}

/* Values that the list names compute the same as those of these names. Returns how many were compared. */
static size_t same_numbers(const xir_network *had, xir_network *read, const rows *list, const format *f) {
    const xir_op *inputs = xir_network_input_op(had);
    const size_t n = xir_op_output_count(inputs);
    xir_array *in[8];
    size_t compared = 0;
    assert_true(n <= 8);
    for (size_t i = 0; i < n; i++) {
        const xir_type *type = xir_value_type(xir_op_output(inputs, (int64_t)i));
        in[i] = xir_array_random(ctx, type, i + 1, why);
        assert_non_null(in[i]);
        if (!xir_value_type(xir_op_output(xir_network_input_op(read), (int64_t)i)))
            DOES(xir_value_set_type(xir_op_output(xir_network_input_op(read), (int64_t)i), type));
    }
    DOES(xir_pass_run(read, "to-xir", "strict", NULL, why));
    watched a = compute(had, in, n), b = compute(read, in, n);
    for (size_t i = 0; i < list->n; i++) {
        xir_difference d;
        const row *r = &list->v[i];
        const size_t k = find(&a.names, r->name), m = is_value(r) ? find(&b.names, there(r, f)) : SIZE_MAX;
        if (k == SIZE_MAX || m == SIZE_MAX) continue;
        const xir_type *x = xir_array_type(a.arrays[k]), *y = xir_array_type(b.arrays[m]);
        if (!xir_type_equal(xir_type_element(x), xir_type_element(y))) continue;
        DOES(xir_array_compare(a.arrays[k], b.arrays[m], 1e-4, 1e-4, &d));
        if ((!d.same_shape || d.count) && !same_elements(a.arrays[k], b.arrays[m]))
            fail_msg("%s: '%s' is not '%s': %g, not %g", f->name, r->there, r->name, d.a, d.b);
        compared++;
    }
    forget(&a);
    forget(&b);
    for (size_t i = 0; i < n; i++) xir_array_free(in[i]);
    return compared;
}

/* ---- the property ----------------------------------------------------------------------------------------------- */

/* The note says what really is not in the file; with a list, what neither has. Returns false if the format cannot
 * express the network: then nothing is said. */
static bool try(xir_network *net, const format *f) {
    texts values = { NULL, 0 }, ops = { NULL, 0 }, values_read = { NULL, 0 }, ops_read = { NULL, 0 };
    char options[PATH_MAX + 300];
    prepare(net, f);
    names_of(net, false, &values, &ops);
    xir_network *had = xir_network_clone(net), *again = xir_network_clone(net), *read;
    const char *note = convert(net, f, NULL);
    const bool whole = is_whole(net);
    if (!whole) {
        assert_string_equal(note, "");
        xir_network_free(had);
        xir_network_free(again);
        xir_network_free(net);
        drop(&values);
        drop(&ops);
        return false;
    }
    if (!strcmp(f->name, "onnx")) assert_string_equal(note, "");   /* it names all that these networks have */
    read = through_file(net, f);
    names_of(read, true, &values_read, &ops_read);
    size_t n_values, n_ops;
    const size_t lost_values = said(note, "values", &n_values), lost_ops = said(note, "ops", &n_ops);
    assert_int_equal(lost_values, count_missing(&values, &values_read, NULL));
    assert_int_equal(lost_ops, count_missing(&ops, &ops_read, &values_read));   /* a node has one name for both */
    if (lost_values) assert_int_equal(n_values, values.n);
    if (lost_ops) assert_int_equal(n_ops, ops.n);
    if (f->lists) {
        const char *path = scratch("names.tsv");
        snprintf(options, sizeof options, "names=\"%s\"", path);
        const size_t kept = said_kept(note, lost_values + lost_ops);
        note = convert(again, f, options);
        rows list = read_list(path);
        texts values_found = { NULL, 0 }, ops_found = { NULL, 0 };
        for (size_t i = 0; i < list.n; i++) {
            const bool value = is_value(&list.v[i]);
            const bool exists = find(value ? &values_read : &ops_read, there(&list.v[i], f)) != SIZE_MAX ||
                (!value && find(&values_read, there(&list.v[i], f)) != SIZE_MAX);
            if (!exists) fail_msg("%s: the file does not have '%s'", f->name, there(&list.v[i], f));
            const texts *names = value ? &values : &ops;
            if (find(names, list.v[i].name) == SIZE_MAX) continue;
            if (find(&values_read, list.v[i].name) == SIZE_MAX &&
                (value || find(&ops_read, list.v[i].name) == SIZE_MAX))
                add(value ? &values_found : &ops_found, xir_str_of(list.v[i].name));
        }
        assert_int_equal(kept, values_found.n + ops_found.n);
        assert_int_equal(said(note, "values", &n_values), lost_values - values_found.n);
        assert_int_equal(said(note, "ops", &n_ops), lost_ops - ops_found.n);
        drop(&values_found);
        drop(&ops_found);
        const size_t compared = same_numbers(had, read, &list, f);
        assert_true(compared >= 4);
        free(list.v);
    }
    drop(&values);
    drop(&ops);
    drop(&values_read);
    drop(&ops_read);
    xir_network_free(had);
    xir_network_free(again);
    xir_network_free(read);
    xir_network_free(net);
    return true;
}

static const char *const files[] = {
    XIR_TEST_DATA "/../examples/models/digits.onnx",
    XIR_TEST_DATA "/convert/onnx/dynamic/mlp.onnx",
    XIR_TEST_DATA "/convert/onnx/dynamic/efficientnet.onnx",
    XIR_TEST_DATA "/convert/onnx/dynamic/unet.onnx",
};

static void bind(xir_network *net) {
    DOES(xir_pass_run(net, "bind", "dims=\"batch=1\"", NULL, why));
}

static void the_note_says_what_is_not_in_the_file(void **state) {
    (void)state;
    for (size_t k = 0; k < COUNT(formats); k++) {
        size_t n = 0;
        for (size_t i = 0; i < COUNT(files); i++) {
            xir_network *net = load(files[i]);
            if (i) bind(net);
            n += try(net, &formats[k]);
        }
        assert_true(n >= 3);
    }
}

/* ---- small networks --------------------------------------------------------------------------------------------- */

/* The findings of a conversion of a story, each a line. With `list` its list of names is written there. */
static const char *findings_of(xir_network *net, const char *pass, const char *list) {
    static char text[2000];
    char options[PATH_MAX + 300];
    size_t n = 0;
    snprintf(options, sizeof options, "names=\"%s\"", list ? list : "");
    xir_diags_clear(why);
    DOES(xir_pass_run(net, pass, list ? options : NULL, NULL, why));
    *text = '\0';
    for (size_t i = 0; i < xir_diags_count(why); i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", i ? "\n" : "", xir_diags_at(why, i)->message.data);
    return text;
}

static void elements_that_change_are_named(void **state) {
    (void)state;
    static const char story[] =
        "j: sint64 3; k: sint64 3; u: 2 2; v: 2 2; a = Reshape j [shape=3,1 layout=@layout(**)]; "
        "b = Reshape k [shape=3,1 layout=@layout(**)]; r = Greater u v; out a b r";
    xir_network *net = story_net(story);
    assert_string_equal(findings_of(net, "xir-to-nnb", NULL),
                        "xir-to-nnb: not in the file: 7 of 7 names of values (--set xir-to-nnb.names=FILE keeps them); "
                        "element types change: input 'j' from @sint(64) to @fp(32), input 'k' from @sint(64) to "
                        "@fp(32), output 'a' from @sint(64) to @fp(32), and 2 more");
    xir_network_free(net);
    net = story_net(story);
    assert_string_equal(findings_of(net, "xir-to-nnb", scratch("elements.tsv")),
                        "xir-to-nnb: element types change: input 'j' from @sint(64) to @fp(32), input 'k' from "
                        "@sint(64) to @fp(32), output 'a' from @sint(64) to @fp(32), and 2 more");
    xir_network_free(net);
}

/* Nothing is said if nothing is lost, if nothing is converted, and if there is no file because an op stays. */
static void nothing_is_said_without_a_loss(void **state) {
    (void)state;
    static const char *const passes[] = { "xir-to-tsm", "xir-to-onnx", "xir-to-pnnx" };
    for (size_t i = 0; i < COUNT(passes); i++) {
        xir_network *net = story_net("x: 2 3; y = ReLU x; out y");
        assert_string_equal(findings_of(net, passes[i], NULL), "");
        xir_network_free(net);
    }
    xir_network *net = story_net("x: 2 3; y = ReLU x; out y");
    assert_string_equal(findings_of(net, "xir-to-nnb", NULL),
                        "xir-to-nnb: not in the file: 2 of 2 names of values (--set xir-to-nnb.names=FILE keeps them)");
    assert_string_equal(findings_of(net, "xir-to-nnb", NULL), "");
    xir_network_free(net);
    net = story_net("x: 2 3; y = Sin x; z = ReLU y; out z");
    assert_null(strstr(findings_of(net, "xir-to-nnb", NULL), "not in the file"));
    xir_network_free(net);
}

/* Two values of one name: the result keeps it. Tabs, line ends and backslashes do not end a field. */
static void names_are_listed_as_the_file_has_them(void **state) {
    (void)state;
    static const struct { const char *pass, *list; } cases[] = {
        { "xir-to-tsm", "node\ta\\tb\\\\c\\nd\ta\\tb\\\\c\\nd\nnode\ty_1\ty\nrelu\ty_1\tr\nnode\ty\ty\nsigmoid\ty\ty\n" },
        { "xir-to-deepx", NULL },
        { "xir-to-nnb", "variable\t0\ta\\tb\\\\c\\nd\nvariable\t1\ty\nReLU\t0\tr\nvariable\t2\ty\nSigmoid\t1\ty\n" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *path = scratch("small.tsv");
        size_t size;
        xir_network *net = story_net("x: 2 3; r = ReLU x; y = Sigmoid r; out y");
        DOES(xir_value_set_name(story_value(net, "x"), XIR_STR("a\tb\\c\nd")));
        DOES(xir_value_set_name(story_value(net, "r"), XIR_STR("y")));
        const char *said = findings_of(net, cases[i].pass, path);
        if (strstr(cases[i].pass, "deepx")) assert_non_null(strstr(said, "1 input without a type"));
        else assert_string_equal(said, "");
        char *text = (char *)scratch_get(path, &size);
        assert_non_null(text);
        if (cases[i].list) assert_string_equal(text, cases[i].list);
        else assert_non_null(strstr(text, "tensor\ta_b_c_d\ta\\tb\\\\c\\nd\n"));
        if (!cases[i].list) assert_non_null(strstr(text, "tensor\ty_1\ty\n"));
        CHECK_STR(xir_value_name(xir_op_input(xir_network_output_op(net), 0)), "y");
        free(text);
        xir_network_free(net);
    }
}

/* An op that permutes back becomes its input, which then has two names. The value between is gone. */
static void a_value_may_have_further_names(void **state) {
    (void)state;
    static const char story[] = "x: 2 3; t = Transpose x [dims=1,0 layout=@layout(**)]; "
                                "u = Transpose t [dims=1,0 layout=@layout(**)]; y = ReLU u; out y";
    const char *path = scratch("further.tsv");
    size_t size;
    xir_network *net = story_net(story);
    assert_string_equal(findings_of(net, "xir-to-nnb", NULL), "xir-to-nnb: not in the file: 4 of 4 names of values "
                        "(--set xir-to-nnb.names=FILE keeps 3 of them)");
    xir_network_free(net);
    net = story_net(story);
    const char *said = findings_of(net, "xir-to-nnb", path);
    assert_non_null(strstr(said, "xir-to-nnb: not in the file, nor in '"));
    assert_non_null(strstr(said, "': 1 of 4 names of values"));
    char *text = (char *)scratch_get(path, &size);
    assert_non_null(text);
    assert_string_equal(text, "variable\t0\tx\nvariable\t1\ty\nReLU\t0\ty\nvariable\t0\tu\n");
    free(text);
    xir_network_free(net);
}

static const char *scarce_pass;

static bool converts(xir_context *with) {
    char options[PATH_MAX + 300];
    snprintf(options, sizeof options, "names=\"%s\"", scratch("scarce.tsv"));
    xir_network *net = story_net_in(with, "x: 1 4; w: params 4 2; l = Matmul x w; y = ReLU l; out y");
    if (!net) return false;
    xir_diags *found = xir_diags_new(with);
    const xir_status status = found ? xir_pass_run(net, scarce_pass, options, NULL, found) : XIR_E_MEMORY;
    xir_diags_free(found);
    xir_network_free(net);
    assert_true(status == XIR_OK || status == XIR_E_MEMORY);
    return status == XIR_OK;
}

static void memory_may_run_out(void **state) {
    (void)state;
    static const char *const passes[] = { "xir-to-nnb", "xir-to-tsm", "xir-to-deepx", "xir-to-pnnx" };
    for (size_t i = 0; i < COUNT(passes); i++) {
        scarce_pass = passes[i];
        check_memory(converts);
    }
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_note_says_what_is_not_in_the_file),
        cmocka_unit_test(elements_that_change_are_named),
        cmocka_unit_test(nothing_is_said_without_a_loss),
        cmocka_unit_test(names_are_listed_as_the_file_has_them),
        cmocka_unit_test(a_value_may_have_further_names),
        cmocka_unit_test(memory_may_run_out),
    };
    scratch_make();
    return RUN_GROUP(tests);
}
