/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Mixed precision: which ops of a network need more than the fewest bits. The network is quantised, and each op is
 * measured by itself on samples: it reads what the network has there in floats, as it is stored, and its results are
 * stored. The ops whose results have the least cosine get more bits, then stay in floats, until the results of the
 * network are good enough. The outcome is a CSV for the option `precision` of the pass quantize.
 *
 *     xir_mix *m = xir_mix_new(net, &XIR_INIT(xir_mix_options, .quantize = "scheme=buyi,calibration=c.json"), why);
 *     for (each sample) xir_mix_add(m, inputs, n, why);
 *     xir_status status = xir_mix_choose(m, why);
 *     if (!status) xir_mix_write(m, to_file, file, why);
 *     xir_mix_free(m);
 *
 * One thread at a time may use a mix. docs/quantize.md has an example. */
#ifndef XIR_MIX_H
#define XIR_MIX_H

#include <xir/exec.h>
#include <xir/serialize.h>

XIR_BEGIN

typedef struct xir_mix_options {
    uint32_t    size;                /* XIR_INIT(xir_mix_options)                                                  */
    /* The options of the pass quantize, as a pipeline has them, "scheme=onnx,calibration=c.json"; without `precision`,
     * and not those that make floats of the network. NULL: its defaults. Copied. */
    const char *quantize;
    /* The results are good enough if the cosine of none is below `below`, and with a positive `least_snr` if none has
     * fewer dB: 10 log10 of the sum of expected^2 over that of (found - expected)^2, over all samples. */
    double      below;               /* from 0 to 1; 0: 0.97                                                       */
    double      least_snr;           /* dB; 0: any                                                                 */
    /* The greatest part of the values stored in the fewest bits that may get more bits or stay in floats. */
    double      budget;              /* from 0 to 1; 0: 0.25                                                       */
    bool      (*cancel)(void *user); /* these are as in xir_run_options, for each run                              */
    void       *user;
    uint64_t    max_work, max_memory;
    size_t      threads;
} xir_mix_options;

typedef struct xir_mix xir_mix;

/* Quantises a copy of the network, which must outlive the result and not change. NULL with a finding:
 *   XIR_E_MISSING   no network, or no ops that the scheme stores
 *   XIR_E_INVALID   a number outside of its bounds; the network is quantised already; ids are not unique
 *   what the pass quantize finds, with its warnings; XIR_E_ABI, XIR_E_UNSUPPORTED, XIR_E_MEMORY
 * xir_mix_free accepts NULL. */
XIR_API xir_mix *xir_mix_new(const xir_network *net, const xir_mix_options *options, xir_diags *why);
XIR_API void     xir_mix_free(xir_mix *m);

/* Runs both networks on a sample, and measures each op. The arrays are retained, and so are the results of the network,
 * because choosing runs all samples again. Samples should be others than those of the calibration. Statuses of
 * xir_network_run; XIR_E_INVALID for a result that is NaN or infinite, and after an earlier failure. */
XIR_API xir_status xir_mix_add(xir_mix *m, const xir_array *const *inputs, size_t n_inputs, xir_diags *why);

/* Chooses: the least number of ops, in the order of their cosines, that makes the results good enough within the
 * budget; first with the most bits that the scheme has, and where all of them do not suffice, with floats. Tries at
 * most 3 + 4 log2(ops) networks on all samples. If no choice suffices, the best one is kept, and `good` of the state is
 * false. Statuses of xir_mix_add and of the pass; XIR_E_MISSING without samples. May be called again after more
 * samples. */
XIR_API xir_status xir_mix_choose(xir_mix *m, xir_diags *why);

/* An op of the network that makes a stored value; or that moves one, or makes floats for one alone: such ops have the
 * bits of the other. */
typedef struct xir_mix_op {
    uint32_t      size;     /* XIR_INIT(xir_mix_op)                                                            */
    uint32_t      bits;     /* that it is to have; 0: floats                                                   */
    const xir_op *op;
    double        cosine;   /* of its results by themselves, the least one, over all samples                   */
    uint32_t      values;   /* how many stored values have these bits: its results, and what moves make of them */
    uint32_t      chosen;   /* unless 0, it gets more bits than the fewest                                     */
} xir_mix_op;

/* The number of ops, and the i-th by cosine, the least first; false past the end, and for a struct without its size.
 * Before the first sample all cosines are 1. */
XIR_API size_t xir_mix_count(const xir_mix *m);
XIR_API bool   xir_mix_at(const xir_mix *m, size_t i, xir_mix_op *out);

typedef struct xir_mix_state {
    uint32_t size;                   /* XIR_INIT(xir_mix_state)                                                     */
    bool     good;                   /* the results are good enough                                                 */
    uint64_t samples;
    uint64_t stored, raised;         /* values that the fewest bits store; those that the choice gives more         */
    uint64_t tried;                  /* networks that were run on all samples                                       */
    double   cosine, snr;            /* of the results with the choice, the least ones                              */
    double   plain_cosine, plain_snr;   /* of those without                                                         */
} xir_mix_state;

/* Fills `out`; what xir_mix_choose has not found yet is 0. XIR_E_ABI. */
XIR_API xir_status xir_mix_state_of(const xir_mix *m, xir_mix_state *out, xir_diags *why);

/* Writes the choice as a CSV of the columns op,type,bits,per,saturation. Without a choice it has no rows. XIR_E_IO if
 * `write` fails, XIR_E_MISSING if an argument is NULL. */
XIR_API xir_status xir_mix_write(const xir_mix *m, xir_write_fn *write, void *user, xir_diags *why);

XIR_END

#endif
