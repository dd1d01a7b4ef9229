/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* xir reduce: the smallest network that still shows a fault. The library makes the networks (xir/reduce.h); here each
 * is written to a file, and a command says whether it is interesting (reduce_run.c). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "reduce.h"

static const char *check_word, *fails_word, *differs_word, *timeout_word, *jobs_word, *runs_word;
static bool        any_failure;

static const struct { const char *name; const char **word; } ways[] = {
    { "check", &check_word }, { "fails", &fails_word }, { "differs", &differs_word },
};

/* The question about each candidate. */
typedef struct question {
    char              *command;
    bool               fails;       /* it must fail as the first network does; else it must end with 0 */
    double             seconds;
    const file_format *format;
    const char        *out;
    const file_format *out_format;
    xir_save_options   out_options;
    ending             first;       /* of the first network                  */
    char              *finding;     /* its first finding; NULL: not run yet  */
    ending             last;        /* of the network that was asked about last */
    int                code;        /* why the program is to end             */
} question;
static question q;

/* ---- the line -------------------------------------------------------------------------------------------------- */

/* A command of this program: --fails has all of it, --differs what follows the first operand of xir compare. The
 * candidate is the first operand, unless {} says where it is. */
static char *own_command(const char *words, const char *verb) {
    char program[4096];
    text t = { 0 };
    const ssize_t n = readlink("/proc/self/exe", program, sizeof program);
    text_put(&t, "'");
    if (n > 0 && (size_t)n < sizeof program && !memchr(program, '\'', (size_t)n)) text_add(&t, program, (size_t)n);
    else text_put(&t, "xir");
    text_put(&t, "' ");
    if (strstr(words, "{}")) {
        if (verb) text_printf(&t, "%s ", verb);
        text_put(&t, words);
    } else if (verb) {
        text_printf(&t, "%s {} %s", verb, words);
    } else {
        const size_t first = strcspn(words, " ");
        text_printf(&t, "%.*s {}", (int)first, words);
        text_put(&t, words + first);
    }
    text_add(&t, "", 1);
    return t.data;
}

static int read_count(const char *which, const char *word, size_t most, size_t *out) {
    char *end;
    if (!word) return DONE;
    errno = 0;
    const unsigned long long n = strtoull(word, &end, 10);
    if (*word >= '0' && *word <= '9' && !*end && !errno && n >= 1 && n <= most) {
        *out = (size_t)n;
        return DONE;
    }
    return complain(MISUSED, "--%s takes a number from 1 to %zu, not '%s'", which, most, word);
}

static int read_line(xir_reduce_options *how) {
    size_t given = 0;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) given += *ways[i].word != NULL;
    if (given != 1) return complain(MISUSED, "reduce needs one of --check, --fails and --differs");
    if (check_word && !strstr(check_word, "{}"))
        return complain(MISUSED, "--check takes a command with {} where the network's file belongs, not '%s'", check_word);
    if (any_failure && check_word) return complain(MISUSED, "--any-failure is for --fails and --differs");
    q.seconds = 60;
    if (timeout_word) {
        char *end;
        q.seconds = strtod(timeout_word, &end);
        if (end == timeout_word || *end || !(q.seconds >= 0))
            return complain(MISUSED, "--timeout takes a number of seconds, not '%s'", timeout_word);
    }
    how->jobs = 1;
    int code = read_count("jobs", jobs_word, MOST_JOBS, &how->jobs);
    if (!code) code = read_count("max-runs", runs_word, SIZE_MAX / 2, &how->max_runs);
    if (code) return code;
    q.fails = !check_word;
    how->parts = differs_word != NULL;
    q.command = check_word ? join(check_word, "") : fails_word ? own_command(fails_word, NULL)
                                                               : own_command(differs_word, "compare");
    return DONE;
}

/* ---- answers --------------------------------------------------------------------------------------------------- */

/* A comparison's finding goes on with numbers and shapes, which do not matter. */
static char *finding_of(const ending *e) {
    char *finding = bench_finding((size_t)e->job);
    char *end = differs_word ? strstr(finding, "'': ") : NULL;
    if (end) end[2] = '\0';
    return finding;
}

static xir_reduce_answer answer_of(const ending *e) {
    if (e->timed_out || e->code < 0) return XIR_REDUCE_UNKNOWN;
    if (!q.fails) return e->code == 0 ? XIR_REDUCE_YES : e->code == 125 ? XIR_REDUCE_UNKNOWN : XIR_REDUCE_NO;
    if (e->code == 0 || e->code == MISUSED) return XIR_REDUCE_NO;
    if (any_failure || !q.finding) return XIR_REDUCE_YES;
    if (e->code != q.first.code) return XIR_REDUCE_NO;
    char *finding = finding_of(e);
    const bool same = strcmp(finding, q.finding) == 0;
    free(finding);
    return same ? XIR_REDUCE_YES : XIR_REDUCE_NO;
}

static bool is_interesting(const ending *e) { return answer_of(e) == XIR_REDUCE_YES; }

/* Writes a candidate. What its format cannot hold is not interesting; where nothing can be written the program ends. */
static bool write_candidate(xir_network *net, size_t job) {
    if (!bench_clear(job)) {
        q.code = REFUSED;
        return false;
    }
    xir_diags *why = new_diags();
    const xir_save_options how = XIR_INIT(xir_save_options, .format = q.format->name, .unchecked = true);
    const xir_status status = xir_network_save(net, bench_path(job), &how, why);
    if (status == XIR_E_IO || status == XIR_E_MEMORY) {
        say(why);
        q.code = REFUSED;
    }
    xir_diags_free(why);
    return !status;
}

static void ask(void *user, xir_network *const *candidates, size_t n, xir_reduce_answer *answers) {
    ending endings[MOST_JOBS];
    size_t job_of[MOST_JOBS], jobs = 0;
    (void)user;
    for (size_t i = 0; i < n && !q.code; i++) job_of[i] = write_candidate(candidates[i], jobs) ? jobs++ : SIZE_MAX;
    bool fine = !q.code;
    if (fine && jobs) fine = bench_run(q.command, jobs, q.seconds, is_interesting, endings);
    for (size_t i = 0; i < n; i++) {
        if (!fine) answers[i] = XIR_REDUCE_STOP;
        else answers[i] = job_of[i] == SIZE_MAX ? XIR_REDUCE_NO : answer_of(&endings[job_of[i]]);
    }
    if (!fine || !jobs) return;
    q.last = endings[0];
    if (q.finding || answer_of(&q.last) != XIR_REDUCE_YES) return;
    q.first = q.last;
    q.finding = finding_of(&q.last);
}

static bool better(void *user, xir_network *best) {
    (void)user;
    xir_diags *why = new_diags();
    const int code = exit_of_writing(xir_network_save(best, q.out, &q.out_options, why));
    say(why);
    xir_diags_free(why);
    if (code) q.code = code;
    return !code;
}

/* ---- the result ------------------------------------------------------------------------------------------------ */

static int not_interesting(const loaded *l) {
    char *said = bench_said(0);
    if (q.last.timed_out) {
        complain_of(FAULTY, l->name, "the command did not end within %g s (--timeout)", q.seconds);
    } else if (q.fails) {
        complain_of(FAULTY, l->name, "the command does not fail, so there is nothing to reduce: exit code %d", q.last.code);
    } else {
        complain_of(FAULTY, l->name, "the command does not call the network interesting: exit code %d", q.last.code);
    }
    fputs(said, stderr);
    free(said);
    return FAULTY;
}

/* Asks about the result once more. */
static void check_again(xir_network *net) {
    xir_reduce_answer answer = XIR_REDUCE_NO;
    ask(NULL, &net, 1, &answer);
    if (answer == XIR_REDUCE_YES || answer == XIR_REDUCE_STOP) return;
    xir_diags *why = new_diags();
    xir_diags_append(why, &(xir_diag){ .severity = XIR_WARNING, .file = xir_str_of(q.out), .byte = XIR_NO_BYTE,
                                       .message = XIR_STR("the answers are not stable: asked once more, the command does "
                                                          "not call the result interesting") });
    say(why);
    xir_diags_free(why);
}

static int show(const loaded *l, xir_network *small, const xir_reduce_state *state) {
    const size_t n = xir_network_op_count(small), of = xir_network_op_count(l->net);
    printf("%zu of %zu ops are left, Input and Output included, after %zu runs%s\n", n, of, state->runs,
           state->stopped ? "; stopped before the end" : "");
    xir_diags *why = new_diags();
    const xir_save_options how = XIR_INIT(xir_save_options, .format = "text", .unchecked = true, .no_params = true,
                                          .flags = XIR_SAVE_NO_IDS);
    const int code = exit_of_writing(xir_network_write(small, write_to, stdout, &how, why));
    say(why);
    xir_diags_free(why);
    return code;
}

static int reduce(const loaded *l, const xir_reduce_options *how) {
    xir_reduce_state state = XIR_INIT(xir_reduce_state);
    xir_diags *why = new_diags();
    xir_network *small = xir_reduce(l->net, how, &state, why);
    const xir_diag *d = xir_diags_at(why, 0);
    int code = q.code;
    if (!small && d && d->code == XIR_E_INVALID && state.runs) code = not_interesting(l);
    else if (!small && !code && !bench_interrupted()) code = code_of(why);
    if (!small && d && (d->code != XIR_E_INVALID || !state.runs) && d->code != XIR_E_CANCELLED) say(why);
    if (small && !code && !state.kept) code = better(NULL, small) ? DONE : q.code;   /* nothing can be left out */
    if (small && !code && !bench_interrupted()) check_again(small);
    if (small && !code) code = show(l, small, &state);
    if (!code && bench_interrupted()) {
        code = complain(INTERRUPTED + bench_interrupted(), "%s",
                        small ? "interrupted; the smallest network so far is kept" : "interrupted");
    }
    xir_diags_free(why);
    xir_network_free(small);
    return code;
}

static const char *last_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static int run(int n, char **operands) {
    (void)n;
    xir_reduce_options how = XIR_INIT(xir_reduce_options, .ask = ask, .better = better);
    int code = read_line(&how);
    if (code) return code;
    q.out = operands[1];
    q.out_format = choose_output(q.out);
    code = q.out_format ? check_save(q.out_format, q.out, &q.out_options) : MISUSED;
    loaded l = { 0 };
    if (!code) code = load(&l, operands[0], 0);
    if (!code && (!l.path || !l.format->writes)) {
        code = complain_of(MISUSED, l.name, l.path ? "candidates are written in the network's own format, which this "
                           "build does not write" : "candidates have the name of the network's file: it cannot be "
                           "standard input");
    }
    q.format = l.format;
    if (!code && !bench_open(last_name(l.path), how.jobs)) code = REFUSED;
    if (!code) code = reduce(&l, &how);
    bench_close();
    unload(&l);
    free(q.command);
    free(q.finding);
    return code;
}

static const option options[] = {
    { "check", "CMD", WORD_TEXT, &check_word,
      "a shell command with {} for the network's file: exit code 0 is interesting, 125 means that it cannot say" },
    { "fails", "COMMAND", WORD_TEXT, &fails_word,
      "a command of xir, 'opt --strict': interesting while it fails with the same exit code and the same first finding, "
      "names and numbers apart" },
    { "differs", "B [OPTION]...", WORD_TEXT, &differs_word,
      "the same for xir compare: interesting while the first bad value is made by an op of the same class" },
    { "any-failure", NULL, WORD_NONE, &any_failure, "--fails: any exit code but 0 and any finding will do" },
    { "timeout", "S", WORD_TEXT, &timeout_word, "seconds that the command may take, 0: no limit (60)" },
    { "jobs", "N", WORD_TEXT, &jobs_word, "how many commands run at the same time (1); the result does not depend on it" },
    { "max-runs", "N", WORD_TEXT, &runs_word, "how many networks are tried at most (no limit)" },
    PARAMS_OPTION, FROM_OPTION, AS_CALLS_OPTION, INDENT_OPTION, TO_OPTION,
    { 0 },
};

const command reduce_command = {
    .name = "reduce", .operands = "NET OUT", .is = WORD_FILE,
    .doc = "writes the smallest network that still shows a fault, and prints it",
    .details = "Ops are cut off and left out, dims halved, attributes reset, weights made zero, names dropped, as long as "
               "the command calls the network interesting. Each candidate is a file in NET's own format, with its "
               "parameters next to it, and is as valid as NET. NET itself is tried first. OUT always has the smallest "
               "interesting network so far, also after Ctrl-C. The same answers give the same result.",
    .faulty = "NET is invalid or not interesting",
    .examples = (const example[]){
        { "xir reduce digits.onnx small.onnx --check 'xir show {} --text --no-params | grep -q MaxPool'",
          "Find the smallest network that still has a MaxPool." },
        { NULL, NULL },
    },
    .related = "compare extract",
    .options = options, .least = 2, .most = 2, .run = run,
};
