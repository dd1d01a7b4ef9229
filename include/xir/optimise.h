/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* One call for what a back end does with a network that it has loaded: the library's passes, its own passes after them,
 * the check of the network after every pass, and the proof that all of it computes the same.
 *
 *     xir_optimise_options how = XIR_INIT(xir_optimise_options, .then = "to-npu", .prove = true);
 *     xir_status status = xir_optimise(net, &how, NULL, why);
 *
 * pass.h and prove.h have the parts. */
#ifndef XIR_OPTIMISE_H
#define XIR_OPTIMISE_H

#include <xir/prove.h>

XIR_BEGIN

typedef struct xir_optimise_options {
    uint32_t                 size;         /* XIR_INIT(xir_optimise_options)                                     */
    int                      level;        /* XIR_LEVEL_...; 0: that of `settings`                               */
    const char              *pipeline;     /* NULL: xir_default_pipeline(); "" runs only `then`                  */
    const char              *then;         /* the passes that follow: "to-npu,dce"; NULL: none                   */
    /* Everything else about the run, its watches too; NULL: the network is validated after every pass. */
    const xir_pass_settings *settings;
    /* Tags say which ops and values of the network as it was each op and value stands for (provenance.h). */
    bool                     provenance;
    /* Run the network before the first pass and after each one that changed it, and compare. `proof` has the inputs and
     * the tolerance; NULL: random numbers and 1e-4. */
    bool                     prove;
    const xir_proof_options *proof;
} xir_optimise_options;

/* The result of a call. */
typedef struct xir_optimised {
    uint32_t size;          /* XIR_INIT(xir_optimised)                                                       */
    bool     filled;        /* all weights are zeros: the proof is of a copy whose weights are random numbers */
    size_t   changes;       /* that the passes counted                                                       */
    size_t   ops_before;
    size_t   ops_after;
    size_t   networks;      /* as in xir_proof_state; 0 without a proof                                      */
    size_t   outputs;
    double   largest;       /* the largest difference between two numbers                                    */
} xir_optimised;

/* Optimises a network in place. `how` may be NULL: the library's passes, no proof; and so may `out`, whose members are
 * zero if the call fails. The results of a network hardly depend on its inputs if all weights are zeros. For a proof,
 * the passes then run first on a copy with random weights (xir_network_fill_weights), without the watches and files of
 * `settings`.
 *   before anything has changed: the statuses of xir_pipeline_parse, xir_proof_new, xir_provenance_new and
 *                      xir_provenance_from_tags; those below, if they are about the copy; XIR_E_ABI
 *   the statuses of xir_pipeline_run; XIR_E_INVALID if the proof finds a difference. The network is then as the failing
 *                      pass left it
 *   XIR_E_UNSUPPORTED  a proof is wanted and no network could be run: the findings say why. The passes have run
 *   XIR_E_MEMORY */
XIR_API xir_status xir_optimise(xir_network *net, const xir_optimise_options *how, xir_optimised *out, xir_diags *why);

XIR_END

#endif
