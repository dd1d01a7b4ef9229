/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Runs pipelines. Before a pass: is it disabled, and what does it need? After a pass: did it report its changes, is
 * the network valid, and do the watches agree? The first error ends the run and is followed by a command that
 * repeats it. */
#include "manager/manager.h"
#include <stdio.h>
#include <time.h>
#include <xir/memory.h>
#include "provenance.h"
#include "support/spent.h"


/* ---- selection ------------------------------------------------------------------------------------------------- */

/* Returns true if a list contains the pass under any of its names. */
static bool names(xir_context *ctx, const char *const *list, const xir_pass_decl *pass) {
    for (; list && *list; list++)
        if (strcmp(*list, pass->name) == 0 || xir_pass_find(ctx, xir_str_of(*list)) == pass) return true;
    return false;
}

xir_pass_fate settings_fate(xir_context *ctx, const xir_pass_settings *set, const xir_pass_decl *pass, bool needed) {
    if (names(ctx, set->disabled, pass)) return XIR_PASS_DISABLED;
    bool above = set->level && pass->level > set->level;
    return above && !needed && !names(ctx, set->required, pass) ? XIR_PASS_ABOVE_LEVEL : XIR_PASS_RAN;
}

static xir_status check_names(const xir_pipeline *p, xir_context *ctx, const char *const *list, const char *word,
                              xir_diags *why) {
    for (; list && *list; list++) {
        if (pipeline_pass(p, ctx, xir_str_of(*list))) continue;
        xir_str near = pass_near(ctx, xir_str_of(*list));
        return diag_fail(why, XIR_E_UNKNOWN, XIR_STR(""), "there is no pass '%.80s', which the settings %s" NEAR_FORMAT,
                         *list, word, NEAR_ARGS(near));
    }
    return XIR_OK;
}

static xir_status check_watches(const xir_pass_settings *set, xir_diags *why) {
    xir_pass_watch watch;
    xir_status status = XIR_OK;
    for (size_t i = 0; i < set->n_watches && !status; i++) status = sized_take_at(WATCH, &watch, set->watches, i, why);
    return status;
}

xir_status settings_take(const xir_pipeline *p, xir_context *ctx, const xir_pass_settings *given,
                         xir_pass_settings *out, xir_diags *why) {
    xir_status status = sized_take(SETTINGS, out, given, why);
    if (!status) status = check_names(p, ctx, out->disabled, "disable", why);
    if (!status) status = check_names(p, ctx, out->required, "require", why);
    if (!status) status = pass_check_config(ctx, p, out->config, why);
    if (!status) status = check_watches(out, why);
    return status;
}

xir_status xir_pass_settings_check(xir_context *ctx, const xir_pass_settings *settings, xir_diags *why) {
    xir_pass_settings known;
    return settings_take(NULL, ctx, settings, &known, why);
}

/* ---- checks after a pass --------------------------------------------------------------------------------------- */

static xir_status accuse(manager *m, const pipeline_step *s, const char *sentence) {
    return diag_fail(m->why, XIR_E_INVALID, XIR_STR(""), "%s: %s", s->pass->name, sentence);
}

/* Findings of building calls belong to the network; copies them. */
static void take_findings_of_network(manager *m, size_t from) {
    const xir_diag *d;
    for (; m->why && (d = xir_diags_at(m->net->diags, from)); from++) xir_diags_append(m->why, d);
}

/* The addresses of a valid network are checked, too. */
static xir_status check_network(const xir_network *net, xir_diags *why) {
    const xir_status status = xir_network_validate(net, why);
    return status ? status : xir_memory_check(net, NULL, why);
}

/* A network that is valid once must stay valid. */
static xir_status validate(manager *m, const pipeline_step *s) {
    xir_diags *found = m->why ? xir_diags_new(m->net->ctx) : NULL;
    xir_status status = m->why && !found ? XIR_E_MEMORY : check_network(m->net, found);
    if (!status) m->valid = true;
    if (status == XIR_E_MEMORY) {   /* not an error of the pass */
        xir_diags_free(found);
        return diag_memory(m->why);
    }
    if (status && m->valid) {
        diag_fail(m->why, status, XIR_STR(""), "%s: the network is not valid any more after this pass:", s->pass->name);
        diags_append(m->why, found);
    }
    xir_diags_free(found);
    return status && m->valid ? status : XIR_OK;
}

/* The checks of a verified run. */
static xir_status verify(manager *m, const pipeline_step *s, const xir_network *before, size_t changes) {
    bool same = xir_network_equal(before, m->net, true);
    if (!changes && !same) return accuse(m, s, "the pass reports no change, but the network has changed");
    if (changes && same) {
        xir_diags_add(m->why, XIR_WARNING, XIR_OK, XIR_STR(""),
                      "%s: the pass reports %zu change%s, but the network is the same", s->pass->name, changes,
                      changes == 1 ? "" : "s");
    }
    return validate(m, s);
}

static xir_status call_watches(manager *m, const pipeline_step *s, size_t changes, bool after) {
    const xir_pass_event event = { .pass = s->pass, .text = s->text, .net = m->net, .run = m->runs, .changes = changes,
                                   .why = m->why };
    for (size_t i = 0; i < m->set->n_watches; i++) {
        xir_pass_watch w;
        xir_status status = sized_take_at(WATCH, &w, m->set->watches, i, m->why);
        xir_status (*call)(void *, const xir_pass_event *) = after ? w.after : w.before;
        if (!status && call) status = call(w.user, &event);
        if (status) return status;
    }
    return XIR_OK;
}

/* ---- one pass -------------------------------------------------------------------------------------------------- */

static uint64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static xir_status run_pass(manager *m, const pipeline_step *s, xir_pass_row *row, size_t *changes) {
    pass_value values[PIPELINE_OPTIONS];
    xir_pass at = { .decl = s->pass, .net = m->net, .values = values, .config = m->set->config, .within = &m->within,
                    .why = m->why };
    at.n_values = pass_read_values(m->net->ctx, s->pass, s->settings, s->n_settings, at.config, values);
    size_t said = xir_diags_count_of(m->why, XIR_ERROR), findings = xir_diags_count(m->net->diags);
    if (!row->runs++) row->ops_before = m->net->n_ops;
    const xir_status status_before = m->net->status;
    uint64_t begun = now();
    m->net->passes++;
    xir_status status = s->pass->run(&at);
    m->net->passes--;
    row->ns += now() - begun;
    /* a mapped file has changed */
    if (!status && !status_before && m->net->status == XIR_E_IO) status = XIR_E_IO;
    row->changes += *changes = at.changes;
    row->ops_after = m->net->n_ops;
    if (!status && !at.misread) return XIR_OK;
    take_findings_of_network(m, findings);
    if (!status)
        return diag_fail(m->why, XIR_E_INVALID, XIR_STR(""), "%s: the pass asks for an option '%.80s' that it does not "
                         "declare with this kind", s->pass->name, at.misread);
    if (xir_diags_count_of(m->why, XIR_ERROR) > said) return status;
    return diag_fail(m->why, status, XIR_STR(""), "%s: the pass failed (%s) without a finding", s->pass->name,
                     xir_status_name(status));
}

/* A recorder that could not note something ends the run: what it says would not be true. */
static xir_status record(const manager *m, const pipeline_step *s, bool begins) {
    xir_provenance *p = m->net->provenance;
    if (!p) return XIR_OK;
    if (begins) (void)xir_provenance_step(p, s->text);
    else provenance_settle(p);
    if (!p->status) return XIR_OK;
    if (p->status == XIR_E_MEMORY) return diag_memory(m->why);
    return diag_fail(m->why, p->status, XIR_STR(""), "%s: there is too much to record about ops", s->pass->name);
}

/* Runs a pass and checks the network afterwards; `before` is a copy from before the pass, or NULL. */
static xir_status run_checked(manager *m, const pipeline_step *s, xir_pass_row *row, const xir_network *before,
                             size_t *changes) {
    const xir_status status_before = m->net->status;
    const size_t findings = xir_diags_count(m->net->diags);
    xir_status status = call_watches(m, s, 0, false);
    if (!status) status = record(m, s, true);
    if (!status) status = run_pass(m, s, row, changes);
    if (!status) status = record(m, s, false);
    if (!status && m->net->status && !status_before) {
        take_findings_of_network(m, findings);
        status = accuse(m, s, "the pass ignored the failure of a call that changes the network");
    }
    if (!status && m->set->verify) status = verify(m, s, before, *changes);
    if (!status) status = call_watches(m, s, *changes, true);
    return status;
}

static xir_status run_needed(manager *m, const pipeline_step *s);

/* Keeps a copy of the network from before a pass, if anything will need it. Passes in a row that change nothing share
 * one copy. */
static xir_status keep_before(manager *m) {
    if (m->before || !(m->set->verify || m->set->reproduce)) return XIR_OK;
    m->before = xir_network_clone(m->net);
    return m->before ? XIR_OK : diag_memory(m->why);
}

static void forget_before(manager *m) {
    xir_network_free(m->before);
    m->before = NULL;
}

static xir_status check_cancel(const manager *m, const pipeline_step *s) {
    if (!m->set->cancel || !m->set->cancel(m->set->cancel_user)) return XIR_OK;
    return diag_fail(m->why, XIR_E_CANCELLED, XIR_STR(""), "the run was cancelled before %s", s->pass->name);
}

static xir_status run_step(manager *m, size_t i, const pipeline_step *s, size_t *changes) {
    *changes = 0;
    xir_pass_fate fate = settings_fate(m->net->ctx, m->set, s->pass, i == REPORT_ADDED);
    xir_status status = fate == XIR_PASS_RAN && !m->set->no_needs ? run_needed(m, s) : XIR_OK;
    if (status) return status;
    xir_pass_row *row = report_row_of(m->report, i, s, m->net);
    if (!row) return diag_memory(m->why);
    row->fate = fate;
    if (fate != XIR_PASS_RAN) return XIR_OK;
    status = check_cancel(m, s);
    if (!status) status = keep_before(m);
    if (status) return status;
    const uint64_t epoch = m->net->epoch;
    m->runs++;
    status = run_checked(m, s, row, m->before, changes);
    if (status && status != XIR_E_MEMORY && m->set->reproduce) manager_reproduce(m, s, m->before);
    if (*changes || m->net->epoch != epoch) forget_before(m);
    if (!status && *changes && m->set->dump_dir) status = manager_dump(m, s->pass->name);
    return status;
}

/* Needed passes are registered before the passes that need them, so the recursion ends. */
static xir_status run_needed(manager *m, const pipeline_step *s) {
    for (const char *const *need = s->pass->needs; need && *need; need++) {
        const xir_pass_decl *pass = xir_pass_find(m->net->ctx, xir_str_of(*need));
        if (!pass) {   /* it has been removed since */
            return diag_fail(m->why, XIR_E_UNKNOWN, XIR_STR(""), "%s needs %s, which is not registered any more",
                             s->pass->name, *need);
        }
        if (report_has_run(m->report, pass)) continue;
        if (names(m->net->ctx, m->set->disabled, pass)) {
            return diag_fail(m->why, XIR_E_INVALID, XIR_STR(""), "%s needs %s, which is disabled", s->pass->name,
                             pass->name);
        }
        const pipeline_step added = { .pass = pass, .depth = s->depth, .text = xir_str_of(pass->name) };
        size_t changes;
        xir_status status = run_step(m, REPORT_ADDED, &added, &changes);
        if (status) return status;
    }
    return XIR_OK;
}

/* ---- steps ----------------------------------------------------------------------------------------------------- */

static xir_status run_group(manager *m, size_t i, size_t *changes);

static xir_status run_item(manager *m, size_t i, size_t *changes) {
    const pipeline_step *s = &m->p->steps[i];
    return s->pass ? run_step(m, i, s, changes) : run_group(m, i, changes);
}

/* Repeats the steps of a group until a full round in which none of them changes anything. */
static xir_status run_group(manager *m, size_t i, size_t *changes) {
    const pipeline_step *s = &m->p->steps[i];
    xir_status status = XIR_OK;
    size_t n = 0, quiet = 0, rounds = 0, last = 0, ops_before = m->net->n_ops;
    *changes = 0;
    for (size_t k = i + 1; k < s->end; k = m->p->steps[k].end) n++;
    if (!report_row_of(m->report, i, s, m->net)) return diag_memory(m->why);   /* before the rows of its steps */
    while (!status && quiet < n && rounds < (size_t)s->limit) {
        rounds++;
        last = 0;
        for (size_t k = i + 1; !status && k < s->end && quiet < n; k = m->p->steps[k].end) {
            size_t made;
            status = run_item(m, k, &made);
            quiet = made ? 0 : quiet + 1;
            last += made;
        }
        *changes += last;
    }
    xir_pass_row *row = report_row_of(m->report, i, s, m->net);
    if (!row->runs) row->ops_before = ops_before;
    row->runs += rounds;
    row->changes += *changes;
    row->ops_after = m->net->n_ops;
    if (status || quiet >= n) return status;
    return diag_fail(m->why, XIR_E_LIMIT, XIR_STR(""),
                     "%.*s(...) does not reach a fixed point: round %zu still made %zu change%s",
                     (int)s->text.size, s->text.data, rounds, last, last == 1 ? "" : "s");
}

static xir_status run_all(manager *m) {
    xir_status status = m->set->dump_dir ? manager_dump(m, "start") : XIR_OK;
    if (!status && m->set->verify) m->valid = check_network(m->net, NULL) == XIR_OK;
    for (size_t i = 0, changes; !status && i < m->p->n; i = m->p->steps[i].end) status = run_item(m, i, &changes);
    if (!status && m->set->verify && !m->valid) status = check_network(m->net, m->why);
    return status;
}

/* Runs with settings that have been checked. They are current in the thread meanwhile, except for what belongs to this
 * network alone. */
static xir_status run(const xir_pipeline *p, xir_network *net, const xir_pass_settings *set, xir_pass_report *report,
                      xir_diags *why) {
    manager m = { .p = p, .net = net, .set = set, .report = report, .why = why,
                  .within = budget_of(&net->ctx->limits) };
    xir_pass_settings inner = *set;
    pass_scope scope;
    m.within.cancel = set->cancel;
    m.within.user = set->cancel_user;
    m.within.threads = set->threads;
    inner.no_needs = false;
    inner.dump_dir = inner.reproduce = NULL;
    inner.watches = NULL;
    inner.n_watches = 0;
    scope_enter(net->ctx, &scope, &inner);
    xir_status status = run_all(&m);
    scope_leave(net->ctx, &scope);
    spent_nothing(net, &m.within);
    forget_before(&m);
    report_sum_groups(report);
    return status;
}

/* The caller's settings, or the current ones of the thread. */
static xir_status settings_for(const xir_pipeline *p, xir_context *ctx, const xir_pass_settings *given,
                               xir_pass_settings *out, xir_diags *why) {
    return !given && scope_current(ctx, out) ? XIR_OK : settings_take(p, ctx, given, out, why);
}

xir_status xir_pipeline_run(const xir_pipeline *p, xir_network *net, const xir_pass_settings *settings,
                            xir_pass_report *report, xir_diags *why) {
    if (!net) return diag_null(why, "network");
    xir_pass_report *own = report ? NULL : xir_pass_report_new(net->ctx);
    if (!report && !own) return diag_memory(why);
    xir_pass_settings known;
    report_clear(report ? report : own);
    xir_status status = settings_for(p, net->ctx, settings, &known, why);
    if (!status) status = run(p, net, &known, report ? report : own, why);
    xir_pass_report_free(own);
    return status;
}

xir_network *xir_pipeline_run_copy(const xir_pipeline *p, const xir_network *net, const xir_pass_settings *settings,
                                   xir_pass_report *report, xir_diags *why) {
    xir_network *copy = xir_network_clone(net);
    if (!copy) {
        if (net) diag_memory(why);
        else diag_null(why, "network");
        return NULL;
    }
    if (xir_pipeline_run(p, copy, settings, report, why) == XIR_OK) return copy;
    xir_network_free(copy);
    return NULL;
}

/* Runs one pass with settings that have been checked. */
static xir_status run_one(xir_network *net, const char *name, const char *options, const xir_pass_settings *set,
                          size_t *changes, xir_diags *why) {
    const xir_pass_decl *pass = xir_pass_find(net->ctx, xir_str_of(name));
    if (!pass) {
        xir_str near = pass_near(net->ctx, xir_str_of(name));
        return diag_fail(why, XIR_E_UNKNOWN, XIR_STR(""), "there is no pass '%.80s'" NEAR_FORMAT, name,
                         NEAR_ARGS(near));
    }
    xir_status status = XIR_OK;
    xir_pipeline *p = pipeline_of_pass(net->ctx, pass, xir_str_of(options), &status, why);
    if (!p) return status;
    xir_pass_report *report = xir_pass_report_new(net->ctx);
    status = report ? run(p, net, set, report, why) : diag_memory(why);
    if (changes) *changes = report && report->n ? report->rows[0].row.changes : 0;
    xir_pass_report_free(report);
    xir_pipeline_free(p);
    return status;
}

xir_status xir_pass_run(xir_network *net, const char *name, const char *options, size_t *changes, xir_diags *why) {
    if (!net) return diag_null(why, "network");
    xir_pass_settings set;
    xir_status status = settings_for(NULL, net->ctx, NULL, &set, why);
    set.no_needs = true;
    return status ? status : run_one(net, name, options, &set, changes, why);
}

xir_status pass_run_alone(xir_network *net, const char *name, xir_diags *why) {
    return run_one(net, name, NULL, &XIR_INIT(xir_pass_settings, .no_needs = true), NULL, why);
}
