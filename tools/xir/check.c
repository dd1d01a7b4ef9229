/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* xir check: everything that can be found out about a network without running it. The rules of validation; then the
 * inference of every op (check_infer.c); ops of a dialect are checked as what they would become; then the parameter
 * file. Notes say what cannot be checked. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "check.h"

static bool              as_json, repairs, typed;
static const char       *defs, *target_word;
static const xir_target *target;      /* of --target; NULL: not asked */

/* ---- ops ----------------------------------------------------------------------------------------- */

/* An element type of an unregistered class may mean anything. */
static void look_at_types(checking *c, const xir_op *op) {
    for (size_t i = 0; i < xir_op_output_count(op); i++) {
        const xir_type *type = xir_value_type(xir_op_output(op, (int64_t)i));
        const xir_type *element = xir_type_as_tensor(type) ? xir_type_element(type) : type;
        if (!element) continue;
        const xir_class *cls = xir_object_class(xir_type_object(element));
        if (xir_class_is_opaque(cls)) tally_add(&c->unknown_types, cls);
    }
}

/* Checks an op's constants if its maps are in normalised numbers: the file may be right, but this library cannot
 * compute it. */
static void look_at_numbers(checking *c, const xir_op *op) {
    bool normalised;
    if (!xir_op_can_run(op) || xir_op_is_normalised(op, &normalised, NULL) != XIR_E_UNSUPPORTED) return;
    xir_diags *said = new_diags();
    (void)xir_op_is_normalised(op, &normalised, said);
    for (size_t i = 0; i < xir_diags_count(said); i++) {
        xir_diag diag = *xir_diags_at(said, i);
        diag.severity = XIR_NOTE;
        xir_diags_append(c->why, &diag);
    }
    xir_diags_free(said);
}

/* `sound`: validation has found no fault in it, so that its faults are not reported twice. */
static void check_op(checking *c, const xir_op *op, xir_op *copy, const op_place *place, bool sound) {
    const xir_class *cls = xir_op_class(op);
    look_at_types(c, op);
    if (xir_class_is_dialect(cls)) return;   /* checked as what it becomes */
    if (xir_class_is_opaque(cls)) tally_add(&c->unknown, cls);
    else if (sound) inference_check(c, op, copy, place);
    if (sound) look_at_numbers(c, op);
    for (size_t i = 0; i < xir_class_field_count(cls); i++) {
        const xir_field *f = xir_class_field_at(cls, i);
        xir_attr parts, copies;
        if (f->kind != XIR_KIND_OPS || xir_op_get(op, f->name, &parts) || xir_op_get(copy, f->name, &copies)) continue;
        for (size_t j = 0; j < parts.as.ops.size && j < copies.as.ops.size; j++) {
            const op_place inside = { place, f->name, j };
            check_op(c, parts.as.ops.data[j], copies.as.ops.data[j], &inside, sound);
        }
    }
}

/* The number of the op that a finding is about; SIZE_MAX if it is about none. */
static size_t op_of(xir_str path) {
    if (path.size < 6 || memcmp(path.data, "/ops/", 5) != 0) return SIZE_MAX;
    size_t number = 0, i = 5;
    for (; i < path.size && path.data[i] >= '0' && path.data[i] <= '9'; i++)
        number = number * 10 + (size_t)(path.data[i] - '0');
    return i == 5 || (i < path.size && path.data[i] != '/') ? SIZE_MAX : number;
}

/* The dialect checks the inputs of its ops and the outputs of its networks, with the place in its own graph. */
static bool is_for_dialect(const checking *c, xir_str path) {
    size_t at = op_of(path), i = 5;
    const xir_op *op = at == SIZE_MAX ? NULL : xir_network_op_at(c->net, (int64_t)at);
    while (i < path.size && path.data[i] != '/') i++;
    bool inputs = op && path.size - i > 8 && memcmp(path.data + i, "/inputs/", 8) == 0;
    if (!inputs) return false;
    return xir_op_is(op, xir_output_class()) ? c->foreign : xir_class_is_dialect(xir_op_class(op));
}

/* Also notes which ops are faulty: those that are not kept as findings, too. */
static xir_status validate(checking *c, bool *faulty, size_t n) {
    xir_diags *said = new_diags();
    xir_diags_set_max(said, SIZE_MAX);
    xir_status status = xir_network_validate(c->net, said);
    for (size_t i = 0; i < xir_diags_count(said); i++) {
        const xir_diag *diag = xir_diags_at(said, i);
        if (is_for_dialect(c, diag->path)) continue;
        size_t at = op_of(diag->path);
        if (at < n) faulty[at] = true;
        xir_diags_append(c->why, diag);
    }
    xir_diags_free(said);
    return status;
}

/* ---- what a target runs -------------------------------------------------------------------------- */

/* Ops in their order; those that validation has found faults in are not asked about. */
typedef struct sound_ops { const bool *faulty; size_t next; } sound_ops;

static bool is_sound(void *user, const xir_op *op) {
    sound_ops *in = user;
    (void)op;
    return !in->faulty[in->next++];
}

static void check_target(checking *c, const bool *faulty) {
    if (c->foreign) {
        xir_diags_add(c->why, XIR_ERROR, XIR_E_UNSUPPORTED, XIR_STR(""), "no target can be asked about ops of a "
                      "dialect: convert the network first, xir opt IN OUT");
        return;
    }
    sound_ops ops = { faulty, 0 };
    xir_tried tried = XIR_INIT(xir_tried);
    (void)xir_network_try(c->net, target, &XIR_INIT(xir_try_options, .typed = typed, .asks = is_sound, .user = &ops),
                          &tried, c->why);
    if (!tried.elsewhere) return;
    xir_diags_add(c->why, XIR_NOTE, XIR_OK, XIR_STR(""), "%zu op%s not for %s and %s not asked about", tried.elsewhere,
                  tried.elsewhere == 1 ? " is" : "s are", xir_target_row_of(target)->name,
                  tried.elsewhere == 1 ? "was" : "were");
}

/* Buyi has 2 MiB on the chip. */
static xir_status check_addresses(checking *c) {
    const bool buyi = xir_target_kind_of(xir_network_ai_target(c->net)) == XIR_TARGET_BUYI;
    return xir_memory_check(c->net, &XIR_INIT(xir_memory_check_options, .onchip = buyi ? 2 << 20 : 0), c->why);
}

static int check_structure(checking *c) {
    size_t n = xir_network_op_count(c->net);
    c->foreign = xir_network_is_dialect(c->net);
    bool *faulty = take(n, sizeof *faulty);
    xir_status status = validate(c, faulty, n);
    if (status == XIR_E_MEMORY) {
        free(faulty);
        return exit_of(status);
    }
    c->copy = xir_network_clone(c->net);
    if (!c->copy) {
        free(faulty);
        return no_memory();
    }
    inference_begin(c);
    const xir_op *op = xir_network_first(c->net);
    xir_op *copy = xir_network_first(c->copy);
    for (size_t i = 0; op && copy; i++, op = xir_op_next(op), copy = xir_op_next(copy)) {
        const op_place place = { .index = i };
        check_op(c, op, copy, &place, !faulty[i]);
    }
    if (target) check_target(c, faulty);
    free(faulty);
    inference_end(c);
    const xir_status addresses = status ? XIR_OK : check_addresses(c);
    xir_network_free(c->copy);
    if (addresses == XIR_E_MEMORY) return no_memory();
    /* a file of NNB without functions, or of DeepX with definitions alone, is of no dialect */
    const bool dialect = xir_network_is_dialect(c->net);
    if (!dialect && xir_nnb_check(c->net, c->why) == XIR_E_MEMORY) return no_memory();
    if (!dialect && xir_deepx_check(c->net, c->why) == XIR_E_MEMORY) return no_memory();
    return xir_dialect_check(c->net, c->why) == XIR_E_MEMORY ? no_memory() : DONE;
}

/* ---- what was not checked ------------------------------------------------------------------------ */

static void note(xir_diags *why, const char *file, const char *format, ...) XIR_PRINTF(3, 4);
static void note(xir_diags *why, const char *file, const char *format, ...) {
    char sentence[400];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    xir_diags_append(why, &(xir_diag){
        .severity = XIR_NOTE, .file = xir_str_of(file), .byte = XIR_NO_BYTE, .message = xir_str_of(sentence) });
}

#define KEY(cls) (int)(xir_class_key(cls).size < 200 ? xir_class_key(cls).size : 200), xir_class_key(cls).data

static void note_classes(checking *c, xir_diags *why, const char *file) {
    class_count *counts;
    size_t n = tally_counts(&c->unknown, &counts);
    for (size_t i = 0; i < n; i++) {
        bool one = counts[i].n == 1;
        note(why, file, "%zu op%s of class %.*s %s not known here and %s not checked", counts[i].n, one ? "" : "s",
             KEY(counts[i].cls), one ? "is" : "are", one ? "was" : "were");
    }
    free(counts);
    n = tally_counts(&c->unknown_types, &counts);
    for (size_t i = 0; i < n; i++) {
        note(why, file, "%zu output%s elements of class %.*s, which is not known here and was not checked", counts[i].n,
             counts[i].n == 1 ? " has" : "s have", KEY(counts[i].cls));
    }
    free(counts);
    n = tally_counts(&c->uninferred, &counts);
    for (size_t i = 0; i < n; i++) {
        note(why, file, "nothing infers the output types of %zu op%s of class %.*s: they were taken as declared",
             counts[i].n, counts[i].n == 1 ? "" : "s", KEY(counts[i].cls));
    }
    free(counts);
    n = tally_counts(&c->open, &counts);
    for (size_t i = 0; i < n; i++) {
        note(
            why, file,
            "the output types of %zu op%s of class %.*s do not follow from the inputs (quantised, tiled or of no known "
             "rank): they were taken as declared", counts[i].n, counts[i].n == 1 ? "" : "s", KEY(counts[i].cls));
    }
    free(counts);
}

static int check_params(loaded *l, xir_diags *why) {
    if (load_args.no_params) return DONE;
    bool found;
    unsigned flags = load_args.lazy ? XIR_LOAD_LAZY | XIR_LOAD_MD5 : 0;
    /* Without a checksum nothing in the elements can be wrong: they are not read. */
    const bool has_sum = xir_network_params_bytes(l->net) > 0;
    int code = load_params(l, load_args.params, flags, &found, why);
    if (l->format->pair) {
        if (!code && !found && lacks_params(l->net))
            note(why, l->name, "there is no parameter file next to it: the parameters were not checked");
        return code;
    }
    if (!code) code = check_inside(l, has_sum ? flags : flags | XIR_LOAD_LAZY, &found, why);
    if (!code && !found) note(why, l->name, "there are no parameters in it: they were not checked");
    return code;
}

/* ---- the whole ----------------------------------------------------------------------------------- */

static void add(text *t, size_t n, const char *what) {
    if (n) text_printf(t, "%s%zu %s%s", t->size ? ", " : "", n, what, n == 1 ? "" : "s");
}

void print_summary(const char *name, bool whole, size_t errors, size_t warnings, size_t notes) {
    text t = { 0 };
    if (!errors) text_put(&t, whole ? "no fault found" : "not checked to the end");
    add(&t, errors, "error");
    add(&t, warnings, "warning");
    add(&t, notes, "note");
    print_text(stdout, xir_str_of(name));
    fputs(": ", stdout);
    paint(stdout, errors ? "31" : warnings || !whole ? "33" : "32");
    fputs(t.data, stdout);
    paint(stdout, "0");
    putchar('\n');
    text_free(&t);
}

/* --defs: the definitions of another file of DeepX, after those of the network. */
static int take_definitions(loaded *l, xir_diags *all) {
    const xir_str key = xir_str_of("deepx.defs");
    loaded other = { 0 };
    if (!defs) return DONE;
    const bool as_calls = load_args.as_calls;    /* of the program: its findings are placed later */
    load_args.as_calls = false;
    int code = load_structure(&other, defs, "deepx", all);
    load_args.as_calls = as_calls;
    xir_deepx_as_calls(context, as_calls);
    const xir_map *own = xir_network_tags(l->net), *theirs = code ? NULL : xir_network_tags(other.net);
    const xir_any *first = own ? xir_map_find(own, key) : NULL, *more = theirs ? xir_map_find(theirs, key) : NULL;
    const size_t n = first && first->kind == XIR_ANY_LIST ? first->as.list.size : 0;
    const size_t m = more && more->kind == XIR_ANY_LIST ? more->as.list.size : 0;
    xir_any *items = take(n + m + 1, sizeof *items);
    for (size_t i = 0; i < n + m; i++) items[i] = i < n ? first->as.list.items[i] : more->as.list.items[i - n];
    const xir_any both = xir_any_list(items, n + m);
    if (!code && !m) code = complain(FAULTY, "--defs %s: the file has no definitions", defs);
    if (!code && xir_network_set_tag(l->net, key, &both)) code = no_memory();
    free(items);
    unload(&other);
    return code;
}

/* The check of a dialect reads constants: a parameter file is read before it (*early), once unless it is faulty. */
static int check_early(loaded *l, checking *c, xir_diags *of_params, bool *early) {
    if (load_args.no_params || !xir_network_is_dialect(l->net)) return DONE;
    *early = l->format->pair;
    const int code = *early ? check_params(l, of_params) : DONE;
    if (!*early || code) take_constants(l, c->why);
    return code;
}

static int check(loaded *l, xir_diags *all) {
    checking c = { .why = new_diags() };
    xir_diags *of_params = new_diags();
    bool early = false;
    const int params_code = check_early(l, &c, of_params, &early);
    c.net = l->net;
    int code = take_definitions(l, all);
    if (code) {
        xir_diags_free(of_params);
        xir_diags_free(c.why);
        return code;
    }
    progress_begin("checking", l->name);
    code = check_structure(&c);
    progress_end();
    if (xir_diags_count(c.why)) {
        size_t size = 0;
        char *bytes;
        code = structure_bytes(l, &bytes, &size);
        const xir_str all_of_it = { bytes, size };
        if (xir_format_place_findings(context, l->format->name, all_of_it, xir_str_of(l->name), c.why, all))
            code = REFUSED;
        if (bytes != l->bytes) free(bytes);
    }
    if (!code && early) {
        for (size_t i = 0; i < xir_diags_count(of_params); i++) xir_diags_append(all, xir_diags_at(of_params, i));
        code = params_code;
    } else if (!code) {
        code = check_params(l, all);
    }
    xir_diags_free(of_params);
    note_classes(&c, all, l->name);
    xir_diags_free(c.why);
    return code;
}

/* --bind; its findings are about the network of this file. */
static int bind_file(loaded *l, xir_diags *all) {
    xir_diags *why = new_diags();
    int code = bind_network(l->net, why);
    for (size_t i = 0; i < xir_diags_count(why); i++) {
        xir_diag diag = *xir_diags_at(why, i);
        diag.file = xir_str_of(l->name);
        xir_diags_append(all, &diag);
    }
    xir_diags_free(why);
    return code;
}

/* --repair: finishes a save of two files that was interrupted. */
static int repair(const char *path, xir_diags *all) {
    bool finished = false;
    if (!repairs || strcmp(path, "-") == 0) return DONE;
    if (xir_save_finish(context, path, load_args.params, &finished, all)) return code_of(all);
    if (finished) note(all, path, "a save of this file and its parameters was interrupted, and is finished now");
    return DONE;
}

/* A file; `j` NULL: for people. */
static int report_file(const char *path, json_out *j) {
    loaded l = { 0 };
    xir_diags *all = new_diags();
    int code = repair(path, all);
    if (!code) code = load_structure(&l, path, load_args.from, all);
    const bool readable = !code;
    size_t of[3] = { 0 };   /* ORDER SEVERITY */
    if (readable) code = check_names(l.net, l.name);
    if (readable && !code) code = bind_file(&l, all);
    if (readable && !code) code = check(&l, all);
    for (int i = 0; i < 3; i++) of[i] = xir_diags_count_of(all, (xir_severity)i);
    const size_t said = findings_of(XIR_ERROR);   /* complaints */
    say(all);
    if (readable && !j && code != MISUSED) print_summary(l.name, !code, of[XIR_ERROR], of[XIR_WARNING], of[XIR_NOTE]);
    const bool whole = readable && !code;
    if (whole && of[XIR_ERROR]) code = FAULTY;
    if (j) {
        json_open(j, NULL, '{');
        json_str(j, "file", xir_str_of(shown_name(path)));
        if (l.format) json_str(j, "format", xir_str_of(l.format->name));
        else json_null(j, "format");
        json_bool(j, "complete", whole);
        json_uint(j, "errors", of[XIR_ERROR] + said);
        json_uint(j, "warnings", of[XIR_WARNING]);
        json_uint(j, "notes", of[XIR_NOTE]);
        code = json_findings(j, code);
        json_close(j, '}');
    }
    xir_diags_free(all);
    unload(&l);
    return code;
}

static int run(int n, char **operands) {
    if (load_args.params && load_args.no_params) {
        return complain(MISUSED, "--params and --no-params contradict each other");
    }
    if (check_colour() || check_files(n, operands) || limit_constants() || check_binds()) return MISUSED;
    if (find_target(target_word, &target)) return MISUSED;
    if (!n && !plugins.n) return complain(MISUSED, "usage: xir check FILE...; xir check --help says more");
    if (!n) return check_plugins(as_json);
    int worst = DONE;
    json_out j = { 0 };
    if (as_json) json_files_begin(&j, n);
    for (int i = 0; i < n; i++) {
        int code = report_file(operands[i], as_json ? &j : NULL);
        if (code > worst) worst = code;
    }
    if (as_json) json_files_end(&j, n);
    free((void *)bind_words.items);
    free((void *)const_words.items);
    return worst;
}

static const option options[] = {
    { "json", NULL, WORD_NONE, &as_json, "print a JSON object; of several files a list of them" },
    { "defs", "FILE", WORD_FILE, &defs, "DeepX: a file of definitions that calls are checked against, besides those of "
      "the file; without any the executor's", .group = GROUP_FORMAT, .format = "deepx" },
    { "target", "NAME[:CORE]", WORD_CLASS, &target_word, "also whether this target runs each op; if ops of the network "
      "have it, these alone" },
    { "typed", NULL, WORD_NONE, &typed, "--target: also by rules about element types, which otherwise only quantised "
      "networks are asked" },
    { "repair", NULL, WORD_NONE, &repairs, "first finish a save of FILE and its parameters that was interrupted" },
    COLOR_OPTION,
    BIND_OPTION,
    PARAMS_OPTION, NO_PARAMS_OPTION, LAZY_OPTION, FROM_OPTION, AS_CALLS_OPTION,
    CONSTANT_OPTIONS,
    { 0 },
};

const command check_command = {
    .name = "check", .operands = "FILE...", .is = WORD_FILE,
    .doc = "finds all faults of networks",
    .details = "It checks the rules of validation, the output types of every op that can be inferred, and the "
               "parameters: sizes, ids and MD5. Each finding is a line on standard error, with its place; notes "
               "say what could not be checked. With --bind the network is checked as it is for these dims. If a save of "
               "FILE and its parameters was interrupted while it replaced the two files, that is an error, and --repair "
               "finishes it. With --plugin and without FILE, the operations of the plug-in are tried: random ops are "
               "made, checked, inferred and computed, and what their rows promise is compared with what their functions "
               "do. A plug-in that crashes, or does not return, is named; its code runs in another process.",
    .faulty = "there is an error",
    .examples = (const example[]){
        { "xir check digits.onnx", "Find all faults of a file." },
        { "xir check --json digits.onnx >findings.json", "The findings for programs." },
        { NULL, NULL },
    },
    .related = "test info",
    .options = options, .least = 0, .most = MANY, .tries = true, .run = run,
};
