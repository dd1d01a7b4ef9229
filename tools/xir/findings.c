/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Findings as JSON, for commands with --json: what is said on stderr is noted as it is said, and becomes a member of
 * the result. A command that fails before it has a result prints its findings alone. */
#include <string.h>
#include "cli.h"

static bool   noting, printed;   /* printed: standard output has JSON, or its beginning */
static text   items;             /* objects with commas between them */
static size_t n_more, counts[3]; /* ORDER SEVERITY */

void note_findings(void) { noting = true; }
void json_begun(void)    { printed = true; }

size_t findings_of(xir_severity severity) { return counts[severity]; }

/* ---- noting -------------------------------------------------------------------------------------- */

static void put_text_or_null(json_out *j, const char *name, xir_str s) {
    if (s.size) json_str(j, name, s);
    else json_null(j, name);
}

static void put_count_or_null(json_out *j, const char *name, bool known, uint64_t n) {
    if (known) json_uint(j, name, n);
    else json_null(j, name);
}

/* The parts of a finding about a rule of a target. */
static void put_rule(json_out *j, const xir_diag_rule *rule) {
    json_str(j, "target", rule->target);
    put_text_or_null(j, "rule", rule->name);
    put_text_or_null(j, "found", rule->found);
    put_text_or_null(j, "needed", rule->needed);
    put_text_or_null(j, "mend", rule->mend);
}

void note_finding(const xir_diag *d) {
    static const char *const severities[] = { "error", "warning", "note" };   /* ORDER SEVERITY */
    if (!noting) return;
    json_out j = { 0 };
    json_open(&j, NULL, '{');
    json_str(&j, "severity", xir_str_of(severities[d->severity]));
    put_text_or_null(&j, "status", xir_str_of(d->code ? xir_status_name(d->code) : ""));
    put_text_or_null(&j, "file", d->file);
    put_count_or_null(&j, "byte", d->byte != XIR_NO_BYTE, d->byte);
    put_count_or_null(&j, "line", d->line, d->line);
    put_count_or_null(&j, "column", d->line, d->column);
    json_str(&j, "path", d->path);
    json_str(&j, "message", d->message);
    if (d->rule) put_rule(&j, d->rule);
    json_close(&j, '}');
    if (items.size) text_put(&items, ",\n");
    text_add(&items, j.t.data, j.t.size);
    text_free(&j.t);
    counts[d->severity]++;
}

void note_more(size_t more) {
    if (noting) n_more += more;
}

void note_complaint(int code, const char *file, const char *sentence) {
    note_finding(&(xir_diag){ .severity = XIR_ERROR, .byte = XIR_NO_BYTE, .message = xir_str_of(sentence),
                              .code = code == FAULTY ? XIR_E_INVALID : code == REFUSED ? XIR_E_IO : XIR_OK,
                              .file = xir_str_of(file) });
}

/* ---- printing ------------------------------------------------------------------------------------ */

void json_print(json_out *j) {
    text_put(&j->t, "\n");
    printed = true;
    write_to(stdout, j->t.data, j->t.size);
    text_free(&j->t);
}

int json_findings(json_out *j, int code) {
    const int now = blame_memory(code);
    if (now != code) {
        note_finding(&(xir_diag){ .severity = XIR_ERROR, .code = XIR_E_MEMORY, .byte = XIR_NO_BYTE,
                                  .message = XIR_STR("out of memory") });
    }
    json_int(j, "exit_code", now);
    json_open(j, "findings", '[');
    if (items.size) text_put(&j->t, "\n");
    text_add(&j->t, items.data, items.size);
    json_close(j, ']');
    json_uint(j, "more", n_more);
    text_free(&items);
    n_more = 0;
    memset(counts, 0, sizeof counts);
    return now;
}

int json_failure(int code) {
    if (!noting || printed || code == DONE) return code;
    json_out j = { 0 };
    json_open(&j, NULL, '{');
    code = json_findings(&j, code);
    json_close(&j, '}');
    json_print(&j);
    return code;
}

/* ---- several files ------------------------------------------------------------------------------- */

void json_files_begin(json_out *j, int n) {
    if (n > 1) json_open(j, NULL, '[');
}

void json_files_end(json_out *j, int n) {
    if (n > 1) json_close(j, ']');
    json_print(j);
}

const char *shown_name(const char *path) { return strcmp(path, "-") == 0 ? "<stdin>" : path; }

int check_files(int n, char **operands) {
    int streams = 0;
    for (int i = 0; i < n; i++) streams += strcmp(operands[i], "-") == 0;
    if (streams > 1) return complain(MISUSED, "standard input can be read only once");
    if (n > 1 && load_args.params) return complain(MISUSED, "--params is for one file, not for %d", n);
    return DONE;
}
