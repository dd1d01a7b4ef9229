/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Reads the lines of a table and runs them. A case that fails is printed and counted, and the next case starts
 * afresh. */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include "support/op_case.h"
#include "graph.h"

/* ---- a case ----------------------------------------------------------------------------------------------------- */

void op_case_fail(op_case *c, const char *expected, const char *format, ...) {
    char found[4096];
    va_list list;
    va_start(list, format);
    vsnprintf(found, sizeof found, format, list);
    va_end(list);
    if (!c->failed) {
        fprintf(c->counts->out, "%s:%d: %s\n", c->file, c->line, c->text);
        c->counts->failed++;
    }
    c->failed = true;
    fprintf(c->counts->out, "    expected: %s\n    found:    %s\n", expected, found);
}

static bool read_class(op_text *t, op_case *c) {
    op_text_next(t);
    char key[200];
    size_t size = 0;
    while (op_text_in_word(t->at[size]) || t->at[size] == ':') size++;
    bool whole = size && memchr(t->at, ':', size);
    static const char *const before[] = { "icraft::xir::", "xir::" };
    for (size_t i = 0; i < COUNT(before) && !c->cls; i++) {
        snprintf(key, sizeof key, "%s%.*s", whole ? "" : before[i], (int)size, t->at);
        c->cls = xir_class_find(ctx, xir_str_of(key));
    }
    if (!c->cls || !xir_class_is_op(c->cls)) return op_text_fail(t, "there is no op '%.*s'", (int)size, t->at);
    t->at += size;
    if (*t->at != '@') return true;
    const xir_object *target = op_text_target(t);
    c->target = (const xir_target *)target;
    return target && (xir_object_body(target, xir_target_class()) || op_text_fail(t, "a target was expected"));
}

static bool read_inputs(op_text *t, op_case *c) {
    if (!op_text_expect(t, '(')) return false;
    while (!op_text_skip(t, ')')) {
        if (c->n_inputs && !op_text_expect(t, ',')) return false;
        size_t i = c->n_inputs++;
        if (i == MOST_INPUTS) return op_text_fail(t, "more than %d inputs", MOST_INPUTS);
        if (op_text_word(t, "param")) {
            c->inputs[i] = op_text_params(t);
            if (!c->inputs[i]) return false;
        } else if (!op_text_skip(t, '-')) {
            const xir_type *type = op_text_type(t);
            if (!type || !op_text_elements(t, type, &c->given[c->n_args])) return false;
            c->is_arg[i] = true;
            c->args[c->n_args++] = type;
        }
    }
    return true;
}

static bool read_attrs(op_text *t, op_case *c) {
    uint64_t seen = 0;
    c->body = op_text_keep(t, c->cls->body_size);
    memcpy(c->body, c->cls->defaults, c->cls->body_size);
    while (op_text_in_word(op_text_next(t))) {
        size_t size = 0;
        while (op_text_in_word(t->at[size])) size++;
        const xir_field *f = xir_class_field(c->cls, (xir_str){ t->at, size });
        if (!f) return op_text_fail(t, "there is no attribute '%.*s'", (int)size, t->at);
        size_t i = (size_t)(f - c->cls->fields);
        if (i < 64 && seen >> i & 1) return op_text_fail(t, "%s appears twice", f->name.data);
        seen |= i < 64 ? (uint64_t)1 << i : 0;
        t->at += size;
        if (!op_text_expect(t, '=') || !op_text_attr(t, f, c->body)) return false;
    }
    return true;
}

static bool read_refusal(op_text *t, op_case *c) {
    c->bad = true;
    for (int code = 1; code < XIR_STATUS_COUNT && !c->code; code++) {
        if (op_text_word(t, xir_status_name((xir_status)code))) c->code = (xir_status)code;
    }
    if (!c->code) return op_text_fail(t, "a status was expected, like 'invalid'");
    op_text_next(t);
    size_t size = strcspn(t->at, " \t\"");
    if (!size || size >= sizeof c->path) return op_text_fail(t, "the end of a path was expected");
    snprintf(c->path, sizeof c->path, "%.*s", (int)size, t->at);
    t->at += size;
    if (!op_text_expect(t, '"')) return false;
    size = strcspn(t->at, "\"");
    if (!size || size >= sizeof c->part || t->at[size] != '"') {
        return op_text_fail(t, "part of a sentence was expected in quotes");
    }
    snprintf(c->part, sizeof c->part, "%.*s", (int)size, t->at);
    t->at += size + 1;
    return true;
}

static bool read_verdict(op_text *t, op_case *c) {
    op_text_next(t);
    if (strncmp(t->at, "!!", 2) == 0) {
        t->at += 2;
        if (!read_refusal(t, c)) return false;
    } else if (strncmp(t->at, "->", 2) == 0) {
        t->at += 2;
        while (op_text_in_word(op_text_next(t)) || *t->at == '@') {
            if (c->n_outputs == MOST_OUTPUTS) return op_text_fail(t, "more than %d outputs", MOST_OUTPUTS);
            const xir_type *type = op_text_type(t);
            if (!type || !op_text_elements(t, type, &c->results[c->n_outputs])) return false;
            c->outputs[c->n_outputs++] = type;
            if (!op_text_skip(t, ',')) break;
        }
        c->has_work = op_text_word(t, "takes");
        if (c->has_work && (!op_text_i64(t, &c->work[0]) || !op_text_i64(t, &c->work[1]))) return false;
        op_text_next(t);
        if (strncmp(t->at, "!!", 2) == 0) {
            t->at += 2;
            if (!read_refusal(t, c)) return false;
        }
    } else {
        return op_text_fail(t, "an attribute, '->' or '!!' was expected");
    }
    char c_end = op_text_next(t);
    return !c_end || c_end == '#' || op_text_fail(t, "the end was expected");
}

/* ---- the network of a case -------------------------------------------------------------------------------------- */

/* Adds the Input op, unless the case is about an Input op; the inputs that are arguments become its outputs. */
static void make_arguments(op_case *c) {
    if (xir_target_kind_of(c->target) >= XIR_TARGET_BUYI) DOES(xir_network_set_ai_target(c->net, c->target));
    if (c->cls->traits & XIR_TRAIT_SOURCE) return;
    xir_op_desc d = DESC(input, .types = c->args, .n_types = c->n_args, .name = XIR_STR("in"));
    xir_op *input = xir_network_add(c->net, &d);
    if (!input) abort();
    for (size_t i = 0, n = 0; i < c->n_inputs; i++) {
        if (c->is_arg[i]) c->inputs[i] = xir_op_output(input, (int64_t)n++);
    }
}

bool op_case_can_infer(const op_case *c) {
    return c->cls->more->infer[XIR_TARGET_HOST] || c->cls->more->infer[xir_target_kind_of(c->target)];
}

xir_op *op_case_add(op_case *c) {
    bool given = !op_case_can_infer(c) && !c->bad;
    return xir_network_add(c->net, &XIR_INIT(xir_op_desc,
        .cls = c->cls, .attrs = c->body, .inputs = c->inputs, .n_inputs = c->n_inputs, .types = given ? c->outputs
        : NULL, .n_types = given ? c->n_outputs : 0, .target = c->target, .name = XIR_STR("op"), .id = XIR_NO_ID));
}

const char *op_case_findings(const xir_diags *diags) {
    static char *text;
    size_t size = 0;
    free(text);
    FILE *out = open_memstream(&text, &size);
    if (!out) abort();
    xir_diags_print(diags, out);
    fclose(out);
    if (size) text[size - 1] = '\0';
    return size ? text : "no finding";
}

/* ---- good ------------------------------------------------------------------------------------------------------- */

static const char *all_words(const xir_type *const *types, size_t n, char *out, size_t size) {
    size_t at = 0;
    out[0] = '\0';
    for (size_t i = 0; i < n && at < size; i++) {
        at += (size_t)snprintf(out + at, size - at, "%s%s", i ? ", " : "", op_type_words(types[i]));
    }
    return n ? out : "no outputs";
}

size_t op_case_types(const xir_op *op, const xir_type **out) {
    size_t n = xir_op_output_count(op);
    for (size_t i = 0; i < n && i < MOST_OUTPUTS; i++) out[i] = xir_value_type(xir_op_output(op, (int64_t)i));
    return n < MOST_OUTPUTS ? n : MOST_OUTPUTS;
}

static bool same_types(const xir_type *const *a, size_t n, const xir_type *const *b, size_t m) {
    bool same = n == m;
    for (size_t i = 0; same && i < n; i++) same = xir_type_equal(a[i], b[i]);
    return same;
}

static void check_outputs(op_case *c, const xir_op *op, const char *when) {
    const xir_type *found[MOST_OUTPUTS];
    size_t n = op_case_types(op, found);
    if (same_types(c->outputs, c->n_outputs, found, n)) return;
    char expected[2048], words[2048];
    op_case_fail(c, all_words(c->outputs, c->n_outputs, expected, sizeof expected), "%s%s",
              all_words(found, n, words, sizeof words), when);
}

/* xir_op_work accepts any op; the amount is known if the op's types are. */
static void check_work(op_case *c, const xir_op *op) {
    char expected[60];
    xir_work work = XIR_INIT(xir_work);
    xir_status status = xir_op_work(op, &work, NULL);
    if (status && status != XIR_E_BOUNDS)
        op_case_fail(c, "an answer to how much it computes", "%s", xir_status_name(status));
    if (!c->has_work) return;
    snprintf(expected, sizeof expected, "takes %lld %lld", (long long)c->work[0], (long long)c->work[1]);
    if (status || work.multiply_adds != (uint64_t)c->work[0] || work.element_ops != (uint64_t)c->work[1]) {
        op_case_fail(c, expected, "%s, takes %llu %llu", xir_status_name(status),
                     (unsigned long long)work.multiply_adds, (unsigned long long)work.element_ops);
    }
}

static void check_copies(op_case *c) {
    xir_network *clone = xir_network_clone(c->net);
    if (!clone || !xir_network_equal(c->net, clone, true)) op_case_fail(c, "a clone that is equal", "another one");
    xir_network_free(clone);

    xir_text_buffer first = { 0 }, again = { 0 };
    xir_diags_clear(why);
    DOES(xir_json_print(c->net, 0, &first));
    xir_network *read = xir_json_read(ctx, (xir_str){ first.data, first.size }, XIR_STR(""), why);
    if (!read) op_case_fail(c, "JSON that can be read", "%s\n%.*s", op_case_findings(why), (int)first.size, first.data);
    else {
        DOES(xir_json_print(read, 0, &again));
        if (first.size != again.size || memcmp(first.data, again.data, first.size) != 0) {
            op_case_fail(c, "the same JSON again", "\n%.*s\n%.*s", (int)first.size, first.data, (int)again.size,
                         again.data);
        }
        xir_text_free(&again);
    }
    xir_network_free(read);
    xir_text_free(&first);
}

static void run_good(op_case *c) {
    xir_op *op = op_case_add(c);
    const xir_diags *diags = xir_network_diags(c->net);
    char expected[2048];
    if (!op) {
        op_case_fail(c, all_words(c->outputs, c->n_outputs, expected, sizeof expected), "%s", op_case_findings(diags));
        return;
    }
    check_outputs(c, op, "");
    check_work(c, op);
    if (op_case_can_infer(c)) {
        if (xir_op_infer(op, true)) op_case_fail(c, "the same when inferred again", "%s", op_case_findings(diags));
        check_outputs(c, op, ", inferred again");
    }
    if (!(c->cls->traits & XIR_TRAIT_SINK)) {
        xir_value *values[MOST_OUTPUTS];
        size_t n = xir_op_output_count(op);
        for (size_t i = 0; i < n && i < MOST_OUTPUTS; i++) values[i] = xir_op_output(op, (int64_t)i);
        if (!xir_output(XIR_AT(c->net), (xir_values){ values, n }))
            op_case_fail(c, "an Output after it", "%s", op_case_findings(diags));
    }
    xir_diags_clear(why);
    if (xir_network_validate(c->net, why)) op_case_fail(c, "a valid network", "%s", op_case_findings(why));
    check_copies(c);
    if (c->failed || !op_case_can_infer(c)) return;
    op_case_with_unknown_dims(c, op);
    if (!c->failed) op_case_with_symbols(c, op);
    op_case_with_harm(c, op);
}

/* ---- bad -------------------------------------------------------------------------------------------------------- */

static bool ends_with(xir_str text, const char *end) {
    size_t n = strlen(end);
    return text.size >= n && memcmp(text.data + text.size - n, end, n) == 0;
}

/* Returns true if the finding is in the list. If the builder makes the message itself (no path), the code is enough for
 * `any_words`. */
static bool has_finding(const op_case *c, const xir_diags *diags, bool any_words) {
    bool everywhere = strcmp(c->path, ".") == 0;
    for (size_t i = 0; i < xir_diags_count(diags); i++) {
        const xir_diag *d = xir_diags_at(diags, i);
        if (d->code != c->code) continue;
        if (everywhere && any_words) return true;
        if (!everywhere && !ends_with(d->path, c->path)) continue;
        if (memmem(d->message.data, d->message.size, c->part, strlen(c->part))) return true;
    }
    return false;
}

xir_op *op_case_bring_in(op_case *c, void *body) {
    const xir_type *any[MOST_OUTPUTS];
    size_t n_inputs = c->n_inputs, n = c->cls->more->n_outputs < MOST_OUTPUTS ? c->cls->more->n_outputs : MOST_OUTPUTS;
    while (n_inputs && !c->inputs[n_inputs - 1]) n_inputs--;
    for (size_t i = 0; i < n; i++) any[i] = FP32("*", 1);
    body_fill_presets(c->cls, body);
    const void *attrs = net_attrs(c->net, c->cls, body);
    xir_op *op = attrs ? op_make(c->net, c->cls, attrs, n_inputs) : NULL;
    if (!op || !op_make_outputs(op, any, n)) abort();
    op_set_label(op, net_name(c->net, XIR_STR("op")));
    if (c->target && !op_set_own_target(op, (const xir_target *)net_intern(c->net, (const xir_object *)c->target)))
        abort();
    for (size_t i = 0; i < n_inputs; i++) use_link(&op_inputs(op)[i], op, c->inputs[i]);
    if (place_before(op, NULL)) abort();
    return op;
}

static void run_bad(op_case *c) {
    char expected[512];
    snprintf(expected, sizeof expected, "%s %s \"%s\"", xir_status_name(c->code), c->path, c->part);
    char *before = picture(c->net);
    xir_op *op = op_case_add(c);
    char *after = picture(c->net);
    if (op) {
        const xir_type *found[MOST_OUTPUTS];
        char words[2048];
        op_case_fail(c, expected, "%s", all_words(found, op_case_types(op, found), words, sizeof words));
    } else {
        const xir_diags *diags = xir_network_diags(c->net);
        if (xir_network_status(c->net) != c->code || !has_finding(c, diags, false)) {
            op_case_fail(c, expected, "%s", op_case_findings(diags));
        }
        if (strcmp(before, after) != 0) op_case_fail(c, "a network as before", "\n%s\n%s", before, after);
    }
    free(before);
    free(after);
    if (op) return;

    op = op_case_bring_in(c, c->body);
    xir_diags_clear(why);
    xir_op_validate(op, why);
    bool only_inference_finds_it = c->code == XIR_E_UNSUPPORTED || c->code == XIR_E_LIMIT;
    if (!only_inference_finds_it && !has_finding(c, why, true)) {
        snprintf(expected, sizeof expected, "%s %s \"%s\" by validation", xir_status_name(c->code), c->path, c->part);
        op_case_fail(c, expected, "%s", op_case_findings(why));
    }
    if (op_case_can_infer(c)) xir_op_infer(op, true);   /* unchecked: it must do no harm */
    const char *broken = broken_invariant(c->net, ASK_ALL);
    if (broken) op_case_fail(c, "a sound network", "%s", broken);
}

/* ---- running ---------------------------------------------------------------------------------------------------- */

bool op_case_begin(op_case *c, const char *text, const char *file, int line, op_counts *counts) {
    *c = (op_case){ .text = text, .file = file, .line = line, .counts = counts, .net = new_net() };
    c->t = (op_text){ .at = text, .net = c->net };
    if (!read_class(&c->t, c) || !read_inputs(&c->t, c) || !read_attrs(&c->t, c) || !read_verdict(&c->t, c))
        return false;
    make_arguments(c);
    return true;
}

void op_case_end(op_case *c) {
    xir_network_free(c->net);
    op_text_free(&c->t);
}

void op_case_run(const char *text, const char *file, int line, op_counts *counts) {
    op_case c;
    if (op_case_begin(&c, text, file, line, counts)) {
        c.bad ? counts->bad++ : counts->good++;
        if (c.bad) run_bad(&c);
        else run_good(&c);
    } else {
        op_case_fail(&c, c.t.fault, "'%s'", c.t.at);
    }
    op_case_end(&c);
}

static size_t without_end(char *line) {
    size_t size = strlen(line);
    while (size && strchr(" \t\r\n", line[size - 1])) line[--size] = '\0';
    return size;
}

void op_cases_each(const char *path, op_line_fn *each, op_counts *counts) {
    FILE *in = fopen(path, "r");
    if (!in) fail_msg("%s can't be read", path);
    const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
    char *line = NULL, *text = NULL;
    size_t room = 0, size = 0;
    int number = 0, first = 0;
    while (getline(&line, &room, in) >= 0) {
        size_t n = without_end(line);
        number++;
        if (!size) first = number;
        if (!size && line[strspn(line, " \t")] == '#') continue;
        bool more = n && line[n - 1] == '\\';
        if (more) n--;
        const char *start = line;
        while (size && n && (*start == ' ' || *start == '\t')) start++, n--;   /* a continuation may be indented */
        text = realloc(text, size + n + 1);
        if (!text) abort();
        memcpy(text + size, start, n);
        text[size += n] = '\0';
        if (more) continue;
        if (size) each(text, file, first, counts);
        size = 0;
    }
    if (size) {
        fprintf(counts->out, "%s:%d: a case continues after the last line\n", file, first);
        counts->failed++;
    }
    free(line);
    free(text);
    fclose(in);
}

void op_cases_run(const char *path, op_counts *counts) { op_cases_each(path, op_case_run, counts); }

/* ---- tables ----------------------------------------------------------------------------------------------------- */


/* Some files in the folder are tables of other tests. */
static bool is_table(const char *name) {
    size_t size = strlen(name);
    bool others = strcmp(name, "classes.txt") == 0 || strncmp(name, "onnx_", 5) == 0;
    return size > 4 && strcmp(name + size - 4, ".txt") == 0 && !others;
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

char **op_tables(const char *folder) {
    enum { MOST = 100 };
    char path[1024], **names = calloc(MOST + 1, sizeof *names);
    snprintf(path, sizeof path, XIR_TEST_DATA "/%s", folder);
    DIR *dir = opendir(path);
    size_t n = 0;
    if (!names || !dir) abort();
    for (struct dirent *entry; (entry = readdir(dir)) && n < MOST;) {
        if (is_table(entry->d_name)) names[n++] = strndup(entry->d_name, strlen(entry->d_name) - 4);
    }
    closedir(dir);
    qsort(names, n, sizeof *names, by_name);
    return names;
}

const char *op_table_path(const char *folder, const char *name) {
    static char path[1024];
    snprintf(path, sizeof path, XIR_TEST_DATA "/%s/%s.txt", folder, name);
    return path;
}
