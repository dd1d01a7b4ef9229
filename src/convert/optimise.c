/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* xir_optimise: pipeline, watches, proof and provenance in one call. */
#include <xir/optimise.h>
#include <xir/provenance.h>
#include "manager/manager.h"

typedef struct optimising {
    xir_context         *ctx;
    xir_optimise_options how;
    xir_pipeline        *pipeline;
    xir_pass_settings    settings;   /* its watches are the caller's, with room for one more */
    xir_pass_watch      *watches;
    size_t               room;
    xir_diags           *why;
} optimising;

/* ---- what is run ------------------------------------------------------------------------------------------------- */

/* The status of a call that gave nothing, whose findings go to `why`. */
static xir_status refused(xir_diags *said, xir_diags *why) {
    const xir_status status = xir_diags_count(said) ? xir_diags_at(said, 0)->code : diag_memory(said);
    diags_append(why, said);
    return status;
}

static xir_status append(optimising *o, const char *text) {
    xir_diags *said = xir_diags_new(o->ctx);
    if (!said) return diag_memory(o->why);
    xir_pipeline *steps = xir_pipeline_parse(o->ctx, xir_str_of(text), said);
    const xir_status status = steps ? xir_pipeline_append(o->pipeline, steps, 0, o->why) : refused(said, o->why);
    xir_pipeline_free(steps);
    xir_diags_free(said);
    return status;
}

static xir_status take_pipeline(optimising *o) {
    o->pipeline = xir_pipeline_new(o->ctx, o->why);
    if (!o->pipeline) return XIR_E_MEMORY;
    const xir_status status = append(o, o->how.pipeline ? o->how.pipeline : xir_default_pipeline());
    return status || !o->how.then ? status : append(o, o->how.then);
}

/* Settings are given, or current in this thread, or validate the network after each pass. */
static xir_status take_settings(optimising *o) {
    o->settings = XIR_INIT(xir_pass_settings);
    xir_status status = XIR_OK;
    if (o->how.settings) status = settings_take(o->pipeline, o->ctx, o->how.settings, &o->settings, o->why);
    else if (!xir_pass_current(o->ctx, &o->settings)) o->settings.verify = true;
    if (status) return status;
    o->settings.size = sizeof o->settings;
    if (o->how.level) o->settings.level = o->how.level;
    o->room = (o->settings.n_watches + 1) * sizeof *o->watches;
    o->watches = mem_new(context_alloc(o->ctx), o->room);
    if (!o->watches) return diag_memory(o->why);
    for (size_t i = 0; i < o->settings.n_watches; i++) {
        sized_take_at(WATCH, &o->watches[i], o->settings.watches, i, NULL);   /* settings_take has checked them */
        o->watches[i].size = sizeof *o->watches;
    }
    o->settings.watches = o->watches;
    return XIR_OK;
}

/* ---- with a proof ------------------------------------------------------------------------------------------------ */

static xir_status say_obstacle(const xir_proof *proof, xir_diags *why) {
    diags_append(why, xir_proof_obstacle(proof));
    return diag_fail(why, XIR_E_UNSUPPORTED, XIR_STR(""), "nothing was proven: no network could be run");
}

static xir_status make_proof(optimising *o, xir_proof **out) {
    xir_diags *said = xir_diags_new(o->ctx);
    *out = said ? xir_proof_new(o->ctx, o->how.proof, said) : NULL;
    const xir_status status = *out ? XIR_OK : said ? refused(said, o->why) : diag_memory(o->why);
    xir_diags_free(said);
    return status;
}

/* Runs the passes with one more watch, and keeps what the proof has seen. On a copy it is the only one, and nothing is
 * written. */
static xir_status run_proven(optimising *o, xir_network *net, bool copy, xir_pass_report *report, xir_optimised *done) {
    xir_proof *proof;
    xir_pass_settings settings = o->settings;
    xir_proof_state state = XIR_INIT(xir_proof_state);
    xir_pass_watch *last = &o->watches[settings.n_watches++];
    if (copy) {
        settings.watches = last;
        settings.n_watches = 1;
        settings.dump_dir = settings.reproduce = NULL;
    }
    *last = XIR_INIT(xir_pass_watch);
    xir_status status = make_proof(o, &proof);
    if (!status) status = xir_proof_watch(proof, last, o->why);
    if (!status) status = xir_pipeline_run(o->pipeline, net, &settings, report, o->why);
    if (!status) status = xir_proof_state_of(proof, &state, o->why);
    if (!status && !state.networks) status = say_obstacle(proof, o->why);
    done->networks = state.networks;
    done->outputs = state.outputs;
    done->largest = state.largest;
    xir_proof_free(proof);
    return status;
}

/* Proves the passes on a copy with weights. */
static xir_status prove_filled(optimising *o, const xir_network *net, xir_optimised *done) {
    xir_proof_options how;
    xir_status status = sized_take(SIZED(xir_proof_options, relative), &how, o->how.proof, o->why);
    if (status) return status;
    xir_network *copy = xir_network_clone(net);
    status = copy ? xir_network_fill_weights(copy, how.seed, o->why) : diag_memory(o->why);
    if (!status) status = run_proven(o, copy, true, NULL, done);
    xir_network_free(copy);
    return status;
}

/* ---- the run ----------------------------------------------------------------------------------------------------- */

static xir_status run(optimising *o, xir_network *net, xir_pass_report *report, xir_optimised *done) {
    const bool filled = o->how.prove && xir_network_weights_are_zero(net);
    xir_status status = filled ? prove_filled(o, net, done) : XIR_OK;
    done->filled = filled;
    if (status) return status;
    return o->how.prove && !filled ? run_proven(o, net, false, report, done)
                                   : xir_pipeline_run(o->pipeline, net, &o->settings, report, o->why);
}

static xir_status run_traced(optimising *o, xir_network *net, xir_pass_report *report, xir_optimised *done) {
    if (!o->how.provenance) return run(o, net, report, done);
    xir_diags *said = xir_diags_new(o->ctx);
    if (!said) return diag_memory(o->why);
    xir_provenance *p = xir_provenance_has_tags(net) ? xir_provenance_from_tags(net, said)
                                                     : xir_provenance_new(net, said);
    xir_status status = p ? XIR_OK : refused(said, o->why);
    xir_diags_free(said);
    if (status) return status;
    status = run(o, net, report, done);
    if (!status && xir_provenance_write_tags(p)) status = diag_memory(o->why);
    xir_provenance_free(p);
    return status;
}

static size_t changes_of(const xir_pass_report *report) {
    const xir_pass_row *row;
    size_t n = 0;
    for (size_t i = 0; report && (row = xir_pass_report_at(report, i)); i++) n += row->depth ? 0 : row->changes;
    return n;
}

xir_status xir_optimise(xir_network *net, const xir_optimise_options *how, xir_optimised *out, xir_diags *why) {
    if (!net) return diag_null(why, "net");
    optimising o = { .ctx = xir_network_context(net), .why = why };
    xir_optimised done = XIR_INIT(xir_optimised, .ops_before = xir_network_op_count(net));
    const xir_optimised nothing = XIR_INIT(xir_optimised);
    xir_status status = sized_take(SIZED(xir_optimise_options, proof), &o.how, how, why);
    if (!status && out) status = sized_fill(SIZED(xir_optimised, largest), out, &nothing, why);
    if (status) return status;
    xir_pass_report *report = xir_pass_report_new(o.ctx);
    status = report ? take_pipeline(&o) : diag_memory(why);
    if (!status) status = take_settings(&o);
    if (!status) status = run_traced(&o, net, report, &done);
    done.changes = changes_of(report);
    done.ops_after = xir_network_op_count(net);
    if (!status && out) status = sized_fill(SIZED(xir_optimised, largest), out, &done, why);
    xir_pass_report_free(report);
    xir_pipeline_free(o.pipeline);
    mem_free(context_alloc(o.ctx), o.watches, o.room);
    return status;
}
