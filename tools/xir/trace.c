/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* xir trace: what passes make of an op of a network, or what an op of their result was made of, pass by pass. The
 * passes run in memory with a recorder (xir/provenance.h); nothing is written. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "opt.h"

static const char *passes_text;
static bool        backward;

/* ---- words --------------------------------------------------------------------------------------- */

/* A name, and the end of the line: line ends in the name would be those of lines here. */
static void put_name(text *t, xir_str name) {
    text_put(t, "'");
    for (size_t i = 0; i < name.size; i++) {
        if (name.data[i] == '\n') text_put(t, "\\x0a");
        else text_add(t, &name.data[i], 1);
    }
    text_put(t, "'\n");
}

static void put_op(text *t, int64_t id, const xir_class *cls, xir_str name) {
    const xir_str key = cls ? xir_class_key(cls) : XIR_STR("an op");
    text_printf(t, "#%" PRId64 " %.*s ", id, (int)key.size, key.data);
    put_name(t, name);
}

static void put_params(text *t, int64_t id, xir_str name) {
    text_printf(t, "Params %" PRId64 " ", id);
    put_name(t, name);
}

/* Lines next to the name of a pass. */
enum { PASS_WIDTH = 22 };
static void print_block(const char *word, xir_str pass, const text *lines) {
    const char *at = lines->data, *end;
    text label = { 0 };
    text_put(&label, word);
    text_add(&label, pass.data, pass.size);
    print_clipped(stdout, text_of(&label), 4 * PASS_WIDTH);
    printf("%*s", label.size < PASS_WIDTH ? (int)(PASS_WIDTH - label.size) : 0, "");
    for (bool first = true; at && (end = strchr(at, '\n')); at = end + 1, first = false) {
        if (first) printf("  ");
        else printf("%*s", PASS_WIDTH + 2, "");
        print_text(stdout, (xir_str){ at, (size_t)(end - at) });
        putchar('\n');
    }
    text_free(&label);
}

/* Prints the tag of an op that the file has. */
static void print_tag(const xir_op *op) {
    const xir_map *tags = xir_op_tags(op);
    const xir_any *tag = tags ? xir_map_find(tags, XIR_STR(XIR_PROVENANCE_OPS)) : NULL;
    text t = { 0 };
    if (!tag) return;
    json_any(&t, tag);
    text_add(&t, "\n", 1);
    print_block("tag ", XIR_STR(XIR_PROVENANCE_OPS), &t);
    text_free(&t);
}

/* ---- which op ------------------------------------------------------------------------------------ */

/* Prints the tag of the op of NET with an id, if there is one. False without memory for the table of ids: then not even
 * the first op is found. */
static bool print_tag_of(const xir_network *net, int64_t id) {
    const xir_op *first = xir_network_first(net);
    if (first && !xir_network_op_by_id(net, xir_op_id(first))) return false;
    const xir_op *op = xir_network_op_by_id(net, id);
    if (op) print_tag(op);
    return true;
}

/* Returns true if a word is the name of an op, or its id if no op has that name. */
static bool is_meant(const char *word, bool by_id, int64_t id, xir_str name) {
    int64_t wanted;
    if (!by_id) return xir_str_equal(name, xir_str_of(word));
    return read_op_id(word, &wanted) && wanted == id;
}

/* ---- forward ------------------------------------------------------------------------------------- */

typedef struct tracing {
    xir_provenance          *p;
    int64_t                  id;       /* of the source that is followed        */
    text                     before;   /* what stood for it after the last pass */
} tracing;

/* Writes the ops that stand for the source now; false without memory. */
static bool put_present(const tracing *t, text *out) {
    size_t n = 0, n_params = 0;
    xir_status status = xir_provenance_became(t->p, t->id, NULL, 0, &n);
    if (!status) status = xir_provenance_became_params(t->p, t->id, NULL, 0, &n_params);
    xir_op **ops = take(n, sizeof *ops);
    xir_value **values = take(n_params, sizeof *values);
    if (!status) status = xir_provenance_became(t->p, t->id, ops, n, &n);
    if (!status) status = xir_provenance_became_params(t->p, t->id, values, n_params, &n_params);
    for (size_t i = 0; i < n && !status; i++)
        put_op(out, xir_op_id(ops[i]), xir_op_class(ops[i]), xir_op_name(ops[i]));
    for (size_t i = 0; i < n_params && !status; i++)
        put_params(out, xir_value_id(values[i]), xir_value_name(values[i]));
    if (!status && !out->size) text_put(out, "removed\n");
    free((void *)ops);
    free((void *)values);
    return !status;
}

static xir_status print_after(void *user, const xir_pass_event *event) {
    tracing *t = user;
    text now = { 0 };
    if (!put_present(t, &now)) return XIR_E_MEMORY;
    if (strcmp(now.data, t->before.data) != 0) print_block("", event->text, &now);
    text_free(&t->before);
    t->before = now;
    return XIR_OK;
}

/* ---- backward ------------------------------------------------------------------------------------ */

/* The tags of the ops of NET that something was made of; false without memory. */
static bool print_sources(const xir_network *was, const xir_provenance_item *items, size_t n) {
    bool done = true;
    for (size_t i = 0; i < n && done; i++) done = items[i].params || print_tag_of(was, items[i].id);
    return done;
}

static int print_history(const xir_provenance *p, const xir_network *was, const xir_op *op) {
    text line = { 0 };
    size_t n = 0;
    put_op(&line, xir_op_id(op), xir_op_class(op), xir_op_name(op));
    print_text(stdout, (xir_str){ line.data, line.size - 1 });
    putchar('\n');
    text_free(&line);
    xir_status status = xir_provenance_history(p, op, NULL, 0, &n);
    xir_provenance_item *items = take(n, sizeof *items);
    if (!status) status = xir_provenance_history(p, op, items, n, &n);
    size_t last = 0;
    for (size_t i = 0; i < n && !status; i++) {
        if (i && items[i].step != items[i - 1].step) last = i;
        if (items[i].params) put_params(&line, items[i].id, items[i].name);
        else put_op(&line, items[i].id, items[i].cls, items[i].name);
        if (i + 1 < n && items[i + 1].step == items[i].step) continue;
        print_block("before ", xir_provenance_step_name(p, items[i].step), &line);
        text_free(&line);
    }
    bool done = !status;
    if (done) done = n ? print_sources(was, items + last, n - last) : print_tag_of(was, xir_op_id(op));
    free(items);
    return done ? DONE : no_memory();
}

/* All ops of the result with the name, or the one with the id. */
static int trace_back(const loaded *l, const xir_provenance *p, const xir_network *was, const char *word) {
    size_t n = 0;
    near_names meant = { 0 };
    int code = DONE;
    for (int by_id = 0; by_id < 2 && !n; by_id++) {
        for (const xir_op *op = xir_network_first(l->net); op && !code; op = xir_op_next(op)) {
            const xir_str name = xir_op_name(op);
            near_add(&meant, word, name);
            if (!is_meant(word, by_id, xir_op_id(op), name)) continue;
            code = print_history(p, was, op);
            n++;
        }
    }
    return n ? code : no_such_op(l->name, "OP is", word, &meant);
}

/* ---- running ------------------------------------------------------------------------------------- */

static int run_passes(const loaded *l, const xir_pipeline *pipeline, const xir_pass_settings *settings) {
    xir_diags *why = new_diags();
    progress_begin("optimising", l->name);
    const xir_status status = xir_pipeline_run(pipeline, l->net, settings, NULL, why);
    progress_end();
    say(why);
    say_more(xir_diags_more(why));
    xir_diags_free(why);
    return exit_of(status);
}

/* One source, from the network as the file has it. */
static int follow(const loaded *l, xir_provenance *p, const xir_provenance_source *source,
                  const xir_pipeline *pipeline, xir_pass_settings *settings) {
    tracing t = { .p = p, .id = source->id };
    xir_pass_watch watch = XIR_INIT(xir_pass_watch, .after = print_after, .user = &t);
    put_op(&t.before, source->id, source->cls, source->name);
    print_text(stdout, (xir_str){ t.before.data, t.before.size - 1 });
    putchar('\n');
    settings->watches = &watch;
    settings->n_watches = 1;
    const int code = print_tag_of(l->net, source->id) ? run_passes(l, pipeline, settings) : no_memory();
    text_free(&t.before);
    return code;
}

/* The i-th source that the word means; NULL: there are no more. `meant` gets the names that are nearest. */
static const xir_provenance_source *source_of(const xir_provenance *p, const char *word, size_t i, near_names *meant) {
    size_t n = 0;
    const xir_provenance_source *s;
    for (int by_id = 0; by_id < 2 && !n; by_id++) {
        for (size_t k = 0; (s = xir_provenance_source_at(p, k)); k++) {
            near_add(meant, word, s->name);
            if (is_meant(word, by_id, s->id, s->name) && n++ == i) return s;
        }
    }
    return NULL;
}

/* Each op of that name in turn, since the passes change the network. */
static int trace_forward(loaded *l, const char *word, const xir_pipeline *pipeline, xir_pass_settings *settings) {
    int code = DONE;
    for (size_t i = 0; !code; i++) {
        xir_diags *why = new_diags();
        xir_network *was = xir_network_clone(l->net);
        xir_provenance *p = was ? xir_provenance_new(was, why) : NULL;
        near_names meant = { 0 };
        const xir_provenance_source *s = p ? source_of(p, word, i, &meant) : NULL;
        loaded copy = *l;
        copy.net = was;
        const bool ends = p && !s;
        if (!p) code = no_memory();
        else if (s && i) putchar('\n');
        if (s) code = follow(&copy, p, s, pipeline, settings);
        else if (p && !i) code = no_such_op(l->name, "OP is", word, &meant);
        xir_provenance_free(p);
        xir_network_free(was);
        xir_diags_free(why);
        if (ends) break;
    }
    return code;
}

static int trace(loaded *l, const char *word, const xir_pipeline *pipeline, xir_pass_settings *settings) {
    if (!backward) return trace_forward(l, word, pipeline, settings);
    xir_diags *why = new_diags();
    xir_network *was = xir_network_clone(l->net);
    xir_provenance *p = was ? xir_provenance_new(l->net, why) : NULL;
    int code = p ? run_passes(l, pipeline, settings) : no_memory();
    if (!code) code = trace_back(l, p, was, word);
    xir_provenance_free(p);
    xir_network_free(was);
    xir_diags_free(why);
    return code;
}

static int run(int n, char **operands) {
    (void)n;
    xir_pass_settings settings;
    int code = limit_constants();
    if (!code && !settings_of_line(&settings)) code = MISUSED;
    if (code) return code;
    xir_diags *why = new_diags();
    char *passes = with_bind(passes_text ? passes_text : xir_default_pipeline());
    xir_pipeline *pipeline = xir_pipeline_parse(context, xir_str_of(passes), why);
    say(why);
    xir_diags_free(why);
    free(passes);
    loaded l = { 0 };
    code = pipeline ? load(&l, operands[0], 0) : MISUSED;
    if (!code) code = trace(&l, operands[1], pipeline, &settings);
    unload(&l);
    xir_pipeline_free(pipeline);
    settings_free(&settings);
    return code;
}

static const option options[] = {
    { "passes", "TEXT", WORD_PIPELINE, &passes_text,
      "the pipeline; if not given, the default one, which xir passes prints" },
    { "back", NULL, WORD_NONE, &backward, "OP is an op of the result: print what it was made of, the last pass first" },
    SETTINGS_OPTIONS,
    CONSTANT_OPTIONS,
    PARAMS_OPTION, NO_PARAMS_OPTION, LAZY_OPTION, FROM_OPTION, AS_CALLS_OPTION,
    { 0 },
};

const command trace_command = {
    .name = "trace", .operands = "NET OP", .is = WORD_FILE,
    .doc = "prints what passes make of an op, pass by pass",
    .details = "OP is the name of an op, or its id as #17. The passes run in memory, and nothing is written. Each "
               "pass that changes what stands for the op is a line with what stands for it then. Tags that "
               "xir opt --provenance left in NET are printed as they are.",
    .faulty = "NET is invalid, or a pass failed",
    .examples = (const example[]){
        { "xir trace digits.onnx /c1/Conv", "See what becomes of an op." },
        { "xir trace digits.onnx /c1/Conv --back", "See what an op of the result was made of." },
        { NULL, NULL },
    },
    .related = "opt compare",
    .options = options, .least = 2, .most = 2, .run = run,
};
