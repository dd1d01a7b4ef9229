/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A proof, between prove.c, prove_first.c and prove_difference.c. */
#ifndef MANAGER_PROOF_H
#define MANAGER_PROOF_H

#include <xir/prove.h>
#include "graph.h"
#include "reuse.h"

struct xir_proof {
    xir_context      *ctx;
    arena             arena;       /* names of the given inputs             */
    xir_proof_input  *given;
    size_t            n_given;
    uint64_t          seed;
    double            absolute, relative;
    bool              each;
    size_t            n_samples;
    /* of the first network that could be run, sample after sample */
    xir_array       **inputs;
    size_t            n_inputs;
    xir_array       **outputs;
    size_t            n_outputs;
    bool             *channels_last;   /* of each input, then of each output: the present order of the arrays */
    xir_network      *last;        /* the network that was checked before, in XIR's ops         */
    xir_network      *seen;        /* the same as it was given: `last` itself, or a copy       */
    reuse           **reuses;      /* values of the last network, for each of the first samples */
    size_t            n_reuses;
    uint64_t          max_kept;
    xir_diags        *obstacle;
    xir_proof_state   state;
    bool              started;
    uint64_t          max_work, max_memory;   /* 0: no limit */
    bool            (*cancel)(void *user);
    void             *user;
    size_t            threads;
};

/* An array of `n` arrays, all NULL; NULL without memory. */
xir_array **proof_new_arrays(xir_context *ctx, size_t n);
void proof_free_arrays(xir_context *ctx, xir_array **arrays, size_t n);
/* Records the order of the inputs and outputs of the first network; false without memory. */
bool proof_note_borders(xir_proof *p, const xir_network *net, size_t n_in, size_t n_out);

/* ---- prove_first.c ---------------------------------------------------------------------------------------------- */

/* Runs the first network on inputs of its own, which fit those of `like`. An obstacle is not a failure, except for
 * unknown names and memory. */
xir_status proof_check_first(xir_proof *p, const xir_network *net, const xir_network *like, xir_diags *why);
/* If open dims have got numbers that the inputs do not have, the network before is run again on inputs that have them,
 * and its outputs are expected from now on. */
xir_status proof_follow_dims(xir_proof *p, const xir_network *net, xir_diags *why);
/* Runs a network on every sample, as far as its values are not known; the outputs are ordered like the proof's. Must be
 * followed by proof_settle. */
xir_status proof_run_samples(xir_proof *p, const xir_network *net, xir_array *const *inputs, size_t n_in,
                             xir_array **outputs, size_t n_out, xir_diags *why);

/* Returns true if a network is run in the memory of its plan: it has addresses, and only of values of known bytes. */
bool       proof_is_planned(const xir_network *net);

/* Returns the bytes of these arrays, and of the outputs that the proof expects; 0 without a limit of memory. */
uint64_t   proof_held(const xir_proof *p, xir_array *const *inputs, size_t n_in, xir_array *const *outputs,
                      size_t n_out);
/* Sets *room to the bytes that the limit of memory leaves for a run, besides `held` and the values that the proof keeps
 * for the next network; to 0 if there is no limit. XIR_E_LIMIT. */
xir_status proof_room(const xir_proof *p, uint64_t held, uint64_t *room, xir_diags *why);

/* The values of the network that ran are known from now on, or forgotten; it must exist as long as it is the last. */
void proof_settle(xir_proof *p, bool keep);
void proof_free_reuses(xir_proof *p);

/* ---- prove_difference.c ----------------------------------------------------------------------------------------- */

/* Describes the first difference in one sample; `outputs` are those of all samples. The runs only improve a finding, so
 * their failures are ignored. */
void proof_report_first(xir_proof *p, const xir_network *net, size_t sample, xir_array *const *outputs,
                        xir_diags *why);
/* Adds a finding about elements that differ; `what` begins its sentence. */
void proof_describe_difference(const char *what, xir_str name, int64_t id, const xir_array *now,
                               const xir_difference *d, xir_diags *why);

#endif
