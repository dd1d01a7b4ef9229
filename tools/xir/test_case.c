/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A case of xir test: its network is read, worked on and compared with what is expected, as networks. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "diff.h"
#include "test.h"

/* ---- failing ------------------------------------------------------------------------------------------------ */

static void fails(const test_file *f, test_case *t, size_t at, const char *format, ...) XIR_PRINTF(4, 5);
static void fails(const test_file *f, test_case *t, size_t at, const char *format, ...) {
    char *sentence = NULL;
    va_list args;
    va_start(args, format);
    if (vasprintf(&sentence, format, args) < 0) sentence = NULL;
    va_end(args);
    if (t->why.size) text_put(&t->why, "\n");
    text_printf(&t->why, "%s:%zu: ", f->path, at);
    text_put(&t->why, sentence ? sentence : "out of memory");
    printf("%s:%zu: %s\n", f->path, at, sentence ? sentence : "out of memory");
    free(sentence);
}

/* ---- networks ----------------------------------------------------------------------------------------------- */

/* Returns true if a text has the line "xir 1" already. */
static bool has_version(const char *p, const char *end) {
    for (; p < end; p++) {
        if (*p == '\n' || *p == ' ' || *p == '\r') continue;
        if (end - p < 2 || memcmp(p, "//", 2) != 0) return end - p > 4 && memcmp(p, "xir ", 4) == 0;
        p = memchr(p, '\n', (size_t)(end - p));
        if (!p) return false;
    }
    return false;
}

/* Reads the lines after a comment, whose place the version takes if they have none: so lines keep their numbers. */
static xir_network *read_lines(const test_file *f, const char *begin, const char *end, xir_diags *why) {
    const xir_load_options how = XIR_INIT(xir_load_options, .format = "text");
    const char *next = memchr(begin, '\n', (size_t)(end - begin));
    text t = { 0 };
    next = next ? next : end;
    text_put(&t, has_version(next, end) ? "//" : "xir 1");
    text_add(&t, next, (size_t)(end - next));
    xir_network *net = xir_network_read(context, t.data, t.size, xir_str_of(f->path), &how, why);
    text_free(&t);
    return net;
}

static bool append(void *user, const void *data, size_t size) {
    text_add(user, data, size);
    return true;
}

/* The network as an expectation has it. */
static void put_network(text *out, xir_network *net, bool exact) {
    const xir_save_options how = XIR_INIT(xir_save_options, .format = "text", .unchecked = true,
                                          .flags = XIR_SAVE_INLINE | (exact ? 0 : XIR_SAVE_NO_IDS));
    xir_diags *why = new_diags();
    text t = { 0 };
    if (xir_network_write(net, append, &t, &how, why)) say(why);
    else if (t.size > 6) text_add(out, t.data + 6, t.size - 6);   /* without "xir 1" */
    text_free(&t);
    xir_diags_free(why);
}

/* ---- work --------------------------------------------------------------------------------------------------- */

/* Runs the pipeline again, on a copy, which must be the same afterwards. */
static xir_status run_again(const xir_pipeline *p, const xir_network *net, const xir_pass_settings *settings,
                            xir_diags *why) {
    xir_network *again = xir_pipeline_run_copy(p, net, settings, NULL, why);
    const bool same = again && xir_network_equal(net, again, true);
    if (again && !same) xir_diags_add(why, XIR_ERROR, XIR_E_INVALID, XIR_STR(""),
                                      "a second run changes the network again");
    xir_network_free(again);
    return same ? XIR_OK : XIR_E_INVALID;
}

static xir_status optimise(const test_case *t, xir_network *net, xir_diags *why) {
    xir_pipeline *p = NULL;
    text passes = { 0 }, bind = { 0 };
    if (t->bind.size) text_put(&passes, "bind,");
    text_add(&passes, t->words.data, t->words.size);
    text_add(&bind, t->bind.data ? t->bind.data : "", t->bind.size);
    for (char *comma = bind.data; (comma = strchr(comma, ',')) != NULL;) *comma = ';';
    const xir_entry entry = { XIR_STR("bind.dims"), xir_any_text((xir_str){ bind.data, bind.size }) };
    const xir_map config = { &entry, 1 };
    const xir_pass_settings settings = XIR_INIT(xir_pass_settings, .verify = true,
                                                .config = t->bind.size ? &config : NULL);
    xir_status status = XIR_E_SYNTAX;
    if ((p = xir_pipeline_parse(context, text_of(&passes), why)) != NULL)
        status = xir_pipeline_run(p, net, &settings, NULL, why);
    if (!status && t->stable) status = run_again(p, net, &settings, why);
    xir_pipeline_free(p);
    text_free(&passes);
    text_free(&bind);
    return status;
}

static xir_status check(const test_case *t, xir_network *net, xir_diags *why) {
    const xir_target *target = NULL;
    char *name = strndup(t->target.data ? t->target.data : "", t->target.size);
    const bool unknown = t->target.size && find_target(name, &target);
    free(name);
    if (unknown) return XIR_E_UNKNOWN;
    xir_status status = xir_network_validate(net, why);
    (void)xir_dialect_check(net, why);
    for (const xir_op *op = xir_network_first(net); op && target; op = xir_op_next(op)) {
        if (!(xir_class_traits(xir_op_class(op)) & (XIR_TRAIT_SOURCE | XIR_TRAIT_SINK))) (void)xir_op_try(op, target,
            why);
    }
    return status;
}

/* Into a format and back. */
static xir_network *convert(const test_case *t, xir_network *net, xir_diags *why) {
    char *word = strndup(t->words.data, t->words.size);
    const xir_save_options to = XIR_INIT(xir_save_options, .format = word, .unchecked = true);
    const xir_load_options from = XIR_INIT(xir_load_options, .format = word);
    const file_format *f = format_named(word);
    xir_network *back = NULL;
    text bytes = { 0 }, params = { 0 };
    if (f && !xir_network_write(net, append, &bytes, &to, why)) {
        back = xir_network_read(context, bytes.data, bytes.size, XIR_STR(""), &from, why);
        if (back && f->pair && !xir_save_keeps_inside(net, &to) && !f->splits &&
            (xir_network_write_params(net, append, &params, &to, why) ||
             xir_network_read_params(back, params.data, params.size, XIR_STR(""), &from, why))) {
            xir_network_free(back);
            back = NULL;
        }
    }
    text_free(&bytes);
    text_free(&params);
    free(word);
    return back;
}

/* Runs the action of a case on a network; NULL after an error. */
static xir_network *work(const test_case *t, xir_network *net, xir_diags *why) {
    xir_status status = XIR_OK;
    switch (t->kind) {
    case TEST_OPT:   status = optimise(t, net, why); break;
    case TEST_INFER: status = xir_network_infer(net, why); break;
    case TEST_CHECK: (void)check(t, net, why); break;
    case TEST_CONVERT: {
        xir_network *back = convert(t, net, why);
        xir_network_free(net);
        return back;
    }
    }
    if (!status) return net;
    xir_network_free(net);
    return NULL;
}

/* ---- comparing ---------------------------------------------------------------------------------------------- */

/* Without `exact`, the network's own words do not count. */
static bool matters(const test_case *t, const xir_diff_item *item) { return t->exact || item->a || item->b; }

/* Ops that look alike may be matched wrongly if names are ignored: names that are the same tell them apart. */
static bool same_by_names(const test_case *t, const xir_network *expected, const xir_network *found) {
    const xir_diff_options how = XIR_INIT(xir_diff_options, .params = true, .ignore = XIR_DIFF_IGNORE_ORDER);
    xir_diff *d = t->exact ? NULL : xir_diff_new(expected, found, &how, NULL);
    bool same = d != NULL;
    for (size_t i = 0; same && i < xir_diff_count(d); i++) same = !matters(t, xir_diff_at(d, i));
    xir_diff_free(d);
    return same;
}

/* Prints what differs; without `exact`, names, ids and the order do not count. */
static bool same_as(const test_file *f, test_case *t, const xir_network *expected, const xir_network *found) {
    const xir_diff_options how = XIR_INIT(xir_diff_options, .ids = t->exact, .params = true,
                                          .ignore = t->exact ? 0 : XIR_DIFF_IGNORE_NAMES | XIR_DIFF_IGNORE_ORDER);
    if (same_by_names(t, expected, found)) return true;
    xir_diags *why = new_diags();
    xir_diff *d = xir_diff_new(expected, found, &how, why);
    reporting p = { .json = false };
    size_t n = 0;
    for (size_t i = 0; d && i < xir_diff_count(d); i++) {
        const xir_diff_item *item = xir_diff_at(d, i);
        if (!matters(t, item)) continue;
        if (!n++) fails(f, t, t->split_line ? t->split_line : t->line, "the network differs from the expected one:");
        report(&p, item);
    }
    if (!d) {
        fails(f, t, t->line, "the networks cannot be compared");
        say(why);
    }
    xir_diff_free(d);
    xir_diags_free(why);
    return d && !n;
}

/* Without `exact`, what was found gets the ids that its text would have: equal ids match ops that look alike. */
static bool same_networks(const test_file *f, test_case *t, const xir_network *expected, xir_network *found) {
    const xir_load_options how = XIR_INIT(xir_load_options, .format = "text");
    text all = { 0 };
    text_put(&all, "xir 1\n");
    if (!t->exact) put_network(&all, found, false);
    xir_network *again = t->exact ? NULL : xir_network_read(context, all.data, all.size, XIR_STR(""), &how, NULL);
    const bool same = same_as(f, t, expected, again ? again : found);
    xir_network_free(again);
    text_free(&all);
    return same;
}

/* ---- findings ----------------------------------------------------------------------------------------------- */

static bool counts(const test_case *t, const xir_diag *d) {
    bool warnings = t->none;
    for (size_t i = 0; i < t->n_findings; i++) warnings |= t->findings[i].warning;
    return d->severity == XIR_ERROR || (d->severity == XIR_WARNING && warnings);
}

/* Places of parts of the network become lines. */
static xir_diags *placed(const test_file *f, const test_case *t, const xir_diags *from) {
    xir_diags *out = new_diags();
    const char *next = memchr(t->begin, '\n', (size_t)(t->end - t->begin));
    const char *end = t->split ? t->split : t->end;
    text body = { 0 };
    text_put(&body, next && has_version(next, end) ? "//" : "xir 1");
    if (next) text_add(&body, next, (size_t)(end - next));
    if (xir_format_place_findings(context, "text", text_of(&body), xir_str_of(f->path), from, out)) say(out);
    text_free(&body);
    return out;
}

static bool is_expected(const test_case *t, const test_finding *e, const xir_diag *d) {
    const size_t at = d->line ? d->line + t->line - 1 : 0;
    if (e->warning != (d->severity == XIR_WARNING)) return false;
    if (!memmem(d->message.data, d->message.size, e->words.data, e->words.size)) return false;
    if (!at || at == t->line) return true;   /* of the passes, or of the whole network */
    return e->line == at && (!e->column || e->column == d->column);
}

/* Compares all findings with the expected ones, in order. */
static bool same_findings(const test_file *f, test_case *t, const xir_diags *why) {
    size_t i = 0;
    const xir_diag *d;
    bool good = true;
    for (size_t k = 0; (d = xir_diags_at(why, k)) != NULL; k++) {
        if (!counts(t, d)) continue;
        const size_t at = d->line ? d->line + t->line - 1 : t->line;
        if (i == t->n_findings) {
            fails(f, t, at, "unexpected, at column %u: %.*s", d->column, (int)d->message.size, d->message.data);
            good = false;
        } else if (!is_expected(t, &t->findings[i], d)) {
            fails(f, t, at, "at column %u: %.*s; expected in line %zu: %.*s", d->column, (int)d->message.size,
                  d->message.data, t->findings[i].line, (int)t->findings[i].words.size, t->findings[i].words.data);
            good = false;
        }
        i += i < t->n_findings;
    }
    for (; i < t->n_findings; i++, good = false)
        fails(f, t, t->findings[i].line, "not found: %.*s", (int)t->findings[i].words.size, t->findings[i].words.data);
    return good;
}

static bool is_word(const char *p, const char *end, const char *word) {
    while (p < end && (*p == '/' || *p == ' ')) p++;
    return (size_t)(end - p) >= strlen(word) && memcmp(p, word, strlen(word)) == 0;
}

/* The lines of a case with the findings that there are, in the place of those that were expected. */
static void put_findings(test_case *t, const xir_diags *why) {
    const char *end = t->split ? t->split : t->end;
    size_t number = t->line;
    for (const char *p = t->begin; p < end; number++) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        stop = stop ? stop + 1 : end;
        const bool comment = stop - p > 2 && memcmp(p, "//", 2) == 0;
        const bool old = comment && (is_word(p, stop, "error:") || is_word(p, stop, "warning:") ||
                                     is_word(p, stop, "^"));
        if (!old) text_add(&t->now, p, (size_t)(stop - p));
        const xir_diag *d;
        for (size_t k = 0; !old && (d = xir_diags_at(why, k)) != NULL; k++) {
            if (!counts(t, d) || (d->line ? d->line : 1) + t->line - 1 != number) continue;
            text_printf(&t->now, "// %s: ", d->severity == XIR_WARNING ? "warning" : "error");
            text_add(&t->now, d->message.data, d->message.size);
            text_put(&t->now, "\n");
            if (d->column > 2) text_printf(&t->now, "//%*s\n", (int)d->column - 2, "^");
        }
        p = stop;
    }
}

/* ---- the case ----------------------------------------------------------------------------------------------- */

/* A new expectation, with the blank lines at the end of the case. */
static void put_expectation(test_case *t, xir_network *net) {
    const char *end = t->end;
    size_t blank = 0;
    while (end - blank > t->begin && end[-1 - (ptrdiff_t)blank] == '\n') blank++;
    if (!t->split) text_add(&t->now, t->begin, (size_t)(end - blank - t->begin) + (blank > 0));
    text_put(&t->now, "// ----\n");
    put_network(&t->now, net, t->exact);
    for (size_t i = 1; i < blank; i++) text_put(&t->now, "\n");
}

static void compare(const test_file *f, test_case *t, xir_network *net, xir_network *given, bool update) {
    xir_diags *why = new_diags();
    xir_network *expected = t->split ? read_lines(f, t->split, t->end, why) : NULL;
    if (t->split && !expected && !update) {
        fails(f, t, t->split_line, "the expected network cannot be read");
        say(why);
    } else if (!same_networks(f, t, t->split && expected ? expected : given, net) && update) {
        text_free(&t->why);
        put_expectation(t, net);
    } else if (t->split && !expected) {
        put_expectation(t, net);
    }
    xir_network_free(expected);
    xir_diags_free(why);
}

static bool has_errors(const test_case *t) {
    for (size_t i = 0; i < t->n_findings; i++) if (!t->findings[i].warning) return true;
    return false;
}

void test_run(const test_file *f, test_case *t, bool update) {
    xir_diags *why = new_diags();
    xir_network *net = read_lines(f, t->begin, t->split ? t->split : t->end, why);
    xir_network *given = net && !t->split ? xir_network_clone(net) : NULL;
    if (net) net = work(t, net, why);
    xir_diags *all = placed(f, t, why);
    const bool open = !t->n_findings && !t->split && !t->none && t->kind != TEST_CONVERT;
    if (open && !update) fails(f, t, t->line, "it expects nothing: // ---- and a network, or // error: words");
    else if (open && net && t->kind != TEST_CHECK) put_expectation(t, net);
    else if (open) put_findings(t, all);
    else if (!same_findings(f, t, all)) {
        if (update) text_free(&t->why);
        if (update) put_findings(t, all);
    } else if (!has_errors(t) && (t->split || t->kind == TEST_CONVERT)) {
        if (net) compare(f, t, net, given ? given : net, update);
    }
    xir_network_free(given);
    xir_network_free(net);
    xir_diags_free(all);
    xir_diags_free(why);
}
