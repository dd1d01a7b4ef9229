/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* xir opt: reads a network, runs passes over it, writes the result. */
#include <stdlib.h>
#include <string.h>
#include "opt.h"

static const char *passes_text, *reproduce, *split_dir;
static bool        with_times, as_json, with_provenance;

/* ---- the table of times -------------------------------------------------------------------------- */

static void print_ns(FILE *out, uint64_t ns) {
    if (ns < 1000000) fprintf(out, "%9.1f us", (double)ns / 1e3);
    else if (ns < 1000000000) fprintf(out, "%9.1f ms", (double)ns / 1e6);
    else fprintf(out, "%9.2f s ", (double)ns / 1e9);
}

static void print_row(const xir_pass_row *row, size_t width, FILE *out) {
    static const char *const fates[] = { "", "disabled", "above the level" };   /* ORDER FATE */
    text words = { 0 };
    text_printf(&words, "%*s", (int)(2 * row->depth), "");
    text_add(&words, row->text.data, row->text.size);
    if (row->added) text_put(&words, " (needed)");
    fprintf(out, "%-*.*s  ", (int)width, (int)words.size, words.data);
    text_free(&words);
    if (row->fate != XIR_PASS_RAN) {
        fprintf(out, "%s\n", fates[row->fate]);
        return;
    }
    fprintf(out, "%5zu  %8zu  %8zu  %8zu  ", row->runs, row->changes, row->ops_before, row->ops_after);
    print_ns(out, row->ns);
    fputc('\n', out);
}

void print_report(const xir_pass_report *report, FILE *out) {
    const xir_pass_row *row;
    size_t width = strlen("pass"), size;
    xir_pass_row all = { .text = XIR_STR("all"), .runs = 1 };
    for (size_t i = 0; (row = xir_pass_report_at(report, i)); i++) {
        size = row->text.size + 2 * row->depth + (row->added ? strlen(" (needed)") : 0);
        width = size > width && size <= 40 ? size : width;
        if (row->depth || row->fate != XIR_PASS_RAN) continue;
        if (!all.ns) all.ops_before = row->ops_before;
        all.ns += row->ns;
        all.changes += row->changes;
        all.ops_after = row->ops_after;
    }
    const bool is_table = out == stdout;
    if (is_table) table_begin();
    if (is_table) out = stdout;
    fprintf(out, "%-*s  %5s  %8s  %8s  %8s  %12s\n", (int)width, "pass", "runs", "changes", "ops from", "to",
            "time    ");
    for (size_t i = 0; (row = xir_pass_report_at(report, i)); i++) print_row(row, width, out);
    print_row(&all, width, out);
    if (is_table) table_end();
}

void put_report(json_out *j, const xir_pass_report *report) {
    static const char *const fates[] = { "ran", "disabled", "above the level" };   /* ORDER FATE */
    const xir_pass_row *row;
    json_open(j, "passes", '[');
    for (size_t i = 0; (row = xir_pass_report_at(report, i)); i++) {
        json_open(j, NULL, '{');
        json_str(j, "text", row->text);
        if (row->pass) json_str(j, "pass", xir_str_of(row->pass->name));
        else json_null(j, "pass");
        json_uint(j, "depth", row->depth);
        json_bool(j, "added", row->added);
        json_str(j, "fate", xir_str_of(fates[row->fate]));
        json_uint(j, "runs", row->runs);
        json_uint(j, "changes", row->changes);
        json_uint(j, "ops_before", row->ops_before);
        json_uint(j, "ops_after", row->ops_after);
        json_uint(j, "ns", row->ns);
        json_close(j, '}');
    }
    json_close(j, ']');
}

/* ---- running ------------------------------------------------------------------------------------- */

/* A pass has failed: how the network before it can be kept. */
static void note_reproducer(xir_status status, xir_diags *why) {
    if (reproduce || status == XIR_E_MEMORY || status == XIR_E_IO) return;
    xir_diags_add(why, XIR_NOTE, XIR_OK, XIR_STR(""),
                  "--reproduce FILE keeps the network before this pass, and prints the command that repeats the failure");
}

/* Findings about nodes are about the file, and name it; findings about ops are about the result of the passes. */
static void say_of(const char *file, xir_diags *why) {
    xir_diags *placed = new_diags();
    xir_diags_set_max(placed, xir_diags_count(why));
    const xir_diag *d;
    for (size_t i = 0; (d = xir_diags_at(why, i)); i++) {
        xir_diag copy = *d;
        bool of_node = d->path.size > 7 && memcmp(d->path.data, "/graph/", 7) == 0;
        if (of_node && !d->file.size) copy.file = xir_str_of(file);
        xir_diags_append(placed, &copy);
    }
    say(placed);
    say_more(xir_diags_more(why));
    xir_diags_free(placed);
}

/* The ops of other frameworks that are left: the conversion did not convert them, or did not run. */
static size_t foreign_ops(const xir_network *net) {
    size_t n = 0;
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
        n += xir_class_is_dialect(xir_op_class(op));
    }
    return n;
}

/* Runs the passes on a copy whose weights are filled, only to prove them. */
static int optimise_filled(const loaded *l, xir_network *copy, const xir_pipeline *pipeline,
                           const xir_pass_settings *settings, const xir_pass_watch *watch) {
    xir_pass_settings how = *settings;
    xir_diags *why = new_diags();
    how.watches = watch;
    how.n_watches = 1;
    how.dump_dir = NULL;
    progress_begin("optimising", l->name);
    xir_status status = xir_pipeline_run(pipeline, copy, &how, NULL, why);
    progress_end();
    if (status) complain(FAULTY, "with weights filled at random, because those of the network are all zeros:");
    if (status) say_of(l->name, why);   /* otherwise they are those of the first run */
    xir_diags_free(why);
    return exit_of(status);
}

/* Runs the passes. With --provenance the network gets tags: about the file that it was made from at first, if it has
 * such tags already. */
static xir_status run_passes(const xir_pipeline *pipeline, xir_network *net, const xir_pass_settings *settings,
                             xir_pass_report *report, xir_diags *why) {
    if (!with_provenance) return xir_pipeline_run(pipeline, net, settings, report, why);
    xir_provenance *p = xir_provenance_has_tags(net) ? xir_provenance_from_tags(net, why)
                                                     : xir_provenance_new(net, why);
    if (!p) return XIR_E_MEMORY;
    xir_status status = xir_pipeline_run(pipeline, net, settings, report, why);
    if (!status) status = xir_provenance_write_tags(p);
    xir_provenance_free(p);
    return status;
}

/* Runs the passes. What is printed goes where the output does not; `j` not NULL: into an object. */
static int optimise(loaded *l, const xir_pipeline *pipeline, const xir_pass_settings *settings, const xir_proof *proof,
                    const char *out, json_out *j) {
    FILE *to = j ? NULL : out && strcmp(out, "-") == 0 ? stderr : stdout;
    xir_network *copy = NULL;
    xir_proof *filled = NULL;
    xir_pass_watch watch;
    int code = proof ? proof_filled(l->net, &copy, &filled, &watch) : DONE;
    if (code) {
        xir_network_free(copy);
        return code;
    }
    xir_diags *why = new_diags();
    xir_pass_report *report = xir_pass_report_new(context);
    if (!report) {
        xir_diags_free(why);
        xir_network_free(copy);
        xir_proof_free(filled);
        return no_memory();
    }
    progress_begin("optimising", l->name);
    xir_status status = run_passes(pipeline, l->net, settings, report, why);
    if (status) note_reproducer(status, why);
    if (!status && out) status = xir_network_validate(l->net, why);
    progress_end();
    if (with_times && to) print_report(report, to);
    if (j) put_report(j, report);
    if (j) json_uint(j, "not_converted", foreign_ops(l->net));
    say_of(l->name, why);
    xir_pass_report_free(report);
    xir_diags_free(why);
    code = exit_of(status);
    /* before any verdict is printed */
    if (!code && filled) code = optimise_filled(l, copy, pipeline, settings, &watch);
    if (!code && proof) code = proof_end(proof, false, to);
    if (!code && filled) code = proof_end(filled, true, to);
    if (j) put_proof(j, proof, filled);
    xir_network_free(copy);
    xir_proof_free(filled);
    return code;
}

/* A pipeline that makes no sense is not the file's fault. Without --passes it ends with what the output format
 * needs. */
static xir_pipeline *parse(const file_format *to) {
    char usual[1024];
    xir_diags *why = new_diags();
    xir_pipeline_to(context, to ? to->name : "", usual, sizeof usual);
    char *passes = with_bind(passes_text ? passes_text : usual);
    xir_pipeline *p = xir_pipeline_parse(context, xir_str_of(passes), why);
    say(why);
    xir_diags_free(why);
    free(passes);
    return p;
}

static bool has_no_passes(const xir_pipeline *pipeline) {
    xir_text_buffer printed = { 0 };
    const bool none = xir_pipeline_print(pipeline, &printed) == XIR_OK && !printed.size;
    xir_text_free(&printed);
    return none;
}

/* The command line makes sense so far. */
static int optimise_file(const char *in, const char *out, const file_format *to, const xir_save_options *o,
                         xir_pass_settings *settings, json_out *j) {
    xir_pipeline *pipeline = parse(to);
    int code = pipeline ? DONE : MISUSED;
    xir_proof *proof = NULL;
    xir_pass_watch watches[3];
    size_t n = 0;
    if (!code) code = proof_check_line();
    if (!code) code = dump_check_line();
    loaded l = { .written_as = !code && has_no_passes(pipeline) ? to : NULL };
    if (!code) code = load(&l, in, LOAD_MAPPED | (out || split_dir ? LOAD_MEANWHILE : 0));
    if (!code) code = proof_of_line(l.net, &proof, &watches[0]);
    n += proof != NULL;
    if (!code && dump_of_line(settings, &watches[n])) code = dump_start(l.net, &watches[n++]);
    watches[n++] = XIR_INIT(xir_pass_watch, .before = progress_pass);
    settings->reproduce = reproduce;
    settings->watches = watches;
    settings->n_watches = n;
    if (!code) code = optimise(&l, pipeline, settings, proof, out, j);
    if (!code && out) code = save(&l, out, to, o);
    if (!code && split_dir) code = split_network(l.net, split_dir);
    unload(&l);
    proof_free(proof);
    xir_pipeline_free(pipeline);
    return code;
}

static int run(int n, char **operands) {
    const char *in = operands[0], *out = n > 1 ? operands[1] : NULL;
    const file_format *to = out ? choose_output(out) : NULL;
    xir_save_options o;
    xir_pass_settings settings;
    int code = out ? to ? check_save(to, out, &o) : MISUSED : DONE;
    if (!code && as_json && out && strcmp(out, "-") == 0) {
        code = complain(MISUSED, "--json and the network cannot both go to standard output");
    }
    if (!code && reproduce && strcmp(reproduce, "-") == 0)
        code = complain(MISUSED, "--reproduce takes a file, not standard output");
    if (!code) code = limit_constants();
    if (!code && !settings_of_line(&settings)) code = MISUSED;
    if (!code) code = threads_of_line(&settings.threads);
    if (code) return code;
    json_out j = { 0 };
    json_open(&j, NULL, '{');
    json_str(&j, "file", xir_str_of(shown_name(in)));
    if (out) json_str(&j, "output", xir_str_of(out));
    else json_null(&j, "output");
    code = optimise_file(in, out, to, &o, &settings, as_json ? &j : NULL);
    if (as_json) {
        code = json_findings(&j, code);
        json_close(&j, '}');
        json_print(&j);
    }
    text_free(&j.t);
    settings_free(&settings);
    return code;
}

static const option options[] = {
    { "passes", "TEXT", WORD_PIPELINE, &passes_text,
      "the pipeline, \"infer,fix(fold{limit=1M},dce)\"; if not given, the default one, which xir passes prints" },
    SETTINGS_OPTIONS,
    DUMP_TEXT_OPTION,
    CONSTANT_OPTIONS,
    PROVE_OPTIONS,
    { "reproduce", "FILE", WORD_FILE, &reproduce,
      "if a pass fails, save the network before it to this file, and print the command that repeats the failure" },
    { "provenance", NULL, WORD_NONE, &with_provenance,
      "keep in tags (source.ops, source.values) which ops and values of IN those of OUT stand for" },
    { "split", "DIR", WORD_FOLDER, &split_dir,
      "after the passes, write each part of a divided network (the pass partition) to this folder, with index.json" },
    { "time", NULL, WORD_NONE, &with_times, "print what each pass changed and how long it took" },
    { "json", NULL, WORD_NONE, &as_json, "print a JSON object: what --time and --prove print, and the findings" },
    PARAMS_OPTION, OUT_PARAMS_OPTION, NO_PARAMS_OPTION, MAPPED_OPTIONS,
    INDENT_OPTION, ALIGN_OPTION, PLAIN_OPTION, INLINE_OPTION, NO_IDS_OPTION, NO_MD5_OPTION, EXTERNAL_OPTION,
        FROM_OPTION,
    AS_CALLS_OPTION,
    TO_OPTION,
    { 0 },
};

const command opt_command = {
    .name = "opt", .operands = "IN [OUT]", .is = WORD_FILE,
    .doc = "runs passes over a network and writes the result",
    .details = "Formats are detected as by xir convert. Without OUT nothing is written. OUT is written only if "
               "every pass succeeded and the network is valid.",
    .faulty = "IN is invalid, a pass failed, or nothing was proven",
    .examples = (const example[]){
        { "xir opt digits.onnx digits.fb --prove",
          "Convert, type and optimise a model, and prove that it computes the same." },
        { "xir opt digits.onnx --passes \"to-xir,infer,fix(fold{limit=1M},dce)\" --time",
          "Choose the passes, and see what each of them does. Nothing is written." },
        { NULL, NULL },
    },
    .related = "passes trace convert check",
    .options = options, .least = 1, .most = 2, .run = run,
};
