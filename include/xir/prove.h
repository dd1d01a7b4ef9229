/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Proof by example that networks compute the same: the reference executor runs them on the same inputs. A proof checks
 * one network after another. As the watch of a pipeline it checks before the first pass and after every pass that
 * changed something. */
#ifndef XIR_PROVE_H
#define XIR_PROVE_H

#include <xir/exec.h>
#include <xir/pass.h>
#include <xir/symbols.h>

XIR_BEGIN

/* An input of the networks, identified by its name or its position, "0". */
typedef struct xir_proof_input {
    uint32_t         size;    /* XIR_INIT(xir_proof_input) */
    const char      *name;
    const xir_array *array;
} xir_proof_input;

typedef struct xir_proof_options {
    uint32_t               size;         /* XIR_INIT(xir_proof_options)                                            */
    /* Each with its size. Other inputs are random numbers that the first network takes (xir_network_input_numbers).
     * Symbols of dims get numbers within their intervals: from 2 to 8; if the network can't be run with them, all 8,
     * then 32, then 1. Other unknown dims are 1. */
    const xir_proof_input *inputs;
    size_t                 n_inputs;
    /* The given arrays hold equally many samples along their first dim: each sample is run separately. */
    bool                   each;
    uint64_t               seed;
    double                 absolute;     /* tolerances, see xir_array_compare; both 0: 1e-4 each */
    double                 relative;
    /* The limit of steps for one run of a network, as in xir_run_options, and for making the inputs of one sample: a
     * random element takes ten steps. 0 sets no limit. */
    uint64_t               max_work;
    bool                 (*cancel)(void *user);   /* as in xir_run_options */
    void                  *user;
    /* The most bytes of values that are kept for the next network, which computes only what has changed; 0: 512 MiB. Of
     * more than 16 samples, only the first 16 keep values. Arrays that share the bytes of Params take none. */
    uint64_t               max_kept;
    size_t                 threads;      /* as in xir_run_options */
    /* The most bytes that the proof may take at one moment: for the inputs that it makes, for outputs that it expects,
     * for values that it keeps, at most a quarter, and for a run (xir_run_options); 0: no limit. */
    uint64_t               max_memory;
} xir_proof_options;

/* The state of a proof. */
typedef struct xir_proof_state {
    uint32_t size;       /* XIR_INIT(xir_proof_state)                                              */
    size_t   networks;   /* number of runs; 0: none possible yet; 1: nothing to compare with         */
    size_t   outputs;    /* arrays that were compared                                              */
    double   largest;    /* the largest difference between two numbers, NaN ignored                */
    size_t   computed;   /* ops that were computed, in all networks and samples; those of a search for the first
                            difference do not count                                                */
    size_t   reused;     /* ops whose values were known from the network before, or not needed for that reason */
    uint64_t ns;         /* time that all checks took, by the wall clock                           */
    const xir_symbol *dims;   /* the numbers taken for open dims that no given array decides; they live as long as
                                 the proof                                                         */
    size_t   n_dims;
} xir_proof_state;

typedef struct xir_proof xir_proof;

/* Returns a proof that has not checked any network yet. It keeps the arrays, but not the list. NULL with a finding:
 * XIR_E_MEMORY, XIR_E_ABI, XIR_E_UNSUPPORTED. */
XIR_API xir_proof *xir_proof_new(xir_context *ctx, const xir_proof_options *options, xir_diags *why);
XIR_API void       xir_proof_free(xir_proof *proof);   /* accepts NULL */
/* Fills `out`. XIR_E_ABI. */
XIR_API xir_status xir_proof_state_of(const xir_proof *proof, xir_proof_state *out, xir_diags *why);

/* Checks a network. Of a later network only those ops are computed that are not the same as before: the same class,
 * attributes, target and types, and inputs with the same bytes; all outputs are compared in any case. The first network
 * that the executor can run completely is the reference for all later ones. Networks before it (such as unconverted
 * ones) give XIR_OK, and so does a later one whose outputs all equal those of the reference within the tolerance. All
 * ops of a later network with addresses are computed, in the memory of its plan (xir_run_options.arena), if the bytes
 * of its values are known. If an input or output now has its channels last, as after layout{io=nhwc}, the arrays
 * follow. Of a later network with ops of a foreign format, as after xir-to-pnnx, a copy is run that the pass to-xir has
 * converted.
 *   XIR_E_INVALID   an output differs, or their number does. Findings name it, and the first value in execution order
 *                   that differs from the value of its name in the network checked before
 *   XIR_E_UNKNOWN   the networks have no input of a given name
 *   XIR_E_CANCELLED `cancel` returned true
 *   XIR_E_BOUNDS    arrays hold different numbers of samples
 *   the status of xir_network_run, or of to-xir, if a later network cannot be run */
XIR_API xir_status xir_proof_check(xir_proof *proof, const xir_network *net, xir_diags *why);
/* Returns why nothing could be run so far: the findings of the last network. NULL if one was run or none was
 * checked. */
XIR_API const xir_diags *xir_proof_obstacle(const xir_proof *proof);

/* Fills `out` with a watch for xir_pass_settings that checks every network with this proof: before the first pass, and
 * after each one unless the network equals the one that was checked last, whatever the pass reports. It is valid as
 * long as the proof. Its findings name the pass. XIR_E_ABI. */
XIR_API xir_status xir_proof_watch(xir_proof *proof, xir_pass_watch *out, xir_diags *why);

/* ---- networks without weights ----------------------------------------------------------------------------------- */

/* Returns true if a network's weights are all zeros, as in files whose weights were removed: it has floating-point
 * Params of two or more dims, and all their elements are 0. A proof of such a network says little, since its results
 * hardly depend on its inputs. False if bytes are missing. */
XIR_API bool xir_network_weights_are_zero(const xir_network *net);
/* Fills floating-point Params of at least two elements that are all zeros with random numbers. So a copy of a network
 * without weights can be proven. Vectors, which may be variances, get numbers from 0.5 to 1.5. Params of more dims get
 * numbers around 0 that keep the results of a convolution or product about as large as its input. The numbers depend
 * only on the seed, the types and the order of the Params.
 *   XIR_E_MEMORY    some Params are filled */
XIR_API xir_status xir_network_fill_weights(xir_network *net, uint64_t seed, xir_diags *why);

XIR_END

#endif
