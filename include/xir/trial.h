/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A plug-in is tried: random ops of each of its classes are made, checked, inferred and computed, and what the rows of
 * a class promise is compared with what its functions do. So the mistakes of an author are found before a network has
 * them. `xir check --plugin X.so` is this call.
 *
 * The trial looks for faults in these promises:
 *   - CHECK and INFER are pure: the same op gets the same answer twice, and its attributes do not change; a refusal has
 *     a sentence; unknown dims are accepted, and no result is known that depends on one
 *   - results: their number, and types that the parts of a composed class have, too
 *   - WORK, TAKES and NEEDS accept every op, and so do CHECK and INFER: absent inputs, inputs of odd types, attributes
 *     as a hostile file may have them
 *   - kernels: they accept the numbers that TAKES names, compute the same twice, and change nothing but their outputs;
 *     one of a composed class computes what its parts do (xir_op_check_kernel)
 *   - SHARES, NEEDS and LAYOUT (EACH): what the rows promise, against changes of single elements
 *   - tiles: where NEEDS says that an op computes a part alone, the joined parts have the same bits as the whole
 *   - refused memory: the answer is XIR_E_MEMORY, or the right one
 * A class without a legal op among the random ones is named; then only part of this was tried. */
#ifndef XIR_TRIAL_H
#define XIR_TRIAL_H

#include <xir/exec.h>
#include <xir/plugin.h>

XIR_BEGIN

/* ---- a kernel against its composition ---------------------------------------------------------------------------- */

/* The difference between a kernel and the parts of which the op is composed. */
typedef struct xir_kernel_check {
    uint32_t size;       /* XIR_INIT(xir_kernel_check)                                                        */
    double   within;     /* the tolerance of the row (COMPOSED_WITHIN); 0: the numbers must be equal       */
    size_t   elements;   /* that were compared, of all outputs                                             */
    size_t   differ;     /* of them, those that differ by more than `within`, absolute and relative        */
    double   largest;    /* the largest difference of two numbers, NaN ignored                             */
} xir_kernel_check;

/* Runs an op of a composed class on its kernel, and the parts of which its row composes it, on the same inputs, and
 * compares the results. `inputs` are as for xir_op_run. `out` may be NULL. The network is only read. XIR_OK if no
 * element differs; otherwise, with a finding:
 *   XIR_E_INVALID      an element differs: the finding has its place and both numbers
 *   XIR_E_TYPE         the results of the op do not have the types of those of its parts
 *   XIR_E_UNSUPPORTED  the class is not composed
 *   XIR_E_MISSING      `op` is NULL; XIR_E_ABI, XIR_E_MEMORY; what running the op or its parts refuses */
XIR_API xir_status xir_op_check_kernel(const xir_op *op, const xir_array *const *inputs, size_t n_inputs,
                                       xir_kernel_check *out, xir_diags *why);

/* ---- plug-ins ---------------------------------------------------------------------------------------------------- */

typedef struct xir_trial_options {
    uint32_t           size;       /* XIR_INIT(xir_trial_options)                                             */
    uint64_t           seed;       /* of the random ops: the same seed tries the same                         */
    size_t             ops;        /* how many legal ops of a class are drawn, at most; 0: 40                 */
    size_t             skip;       /* so many classes of operations are left out, the first of the plug-in    */
    const char *const *before;     /* plug-ins that are loaded first, because this one refers to them         */
    size_t             n_before;
    /* Unless NULL, it is called before each step: `cls` is the key of the class, `step` names what runs ("its kernel"),
     * and `op` shows the op. The texts live as long as the call. A program that tries a plug-in in another process
     * knows from the last call what has crashed. */
    void             (*doing)(void *user, xir_str cls, const char *step, xir_str op);
    void              *user;
} xir_trial_options;

/* The extent of a trial. */
typedef struct xir_trial {
    uint32_t size;       /* XIR_INIT(xir_trial)                                                            */
    size_t   classes;    /* of operations                                                                  */
    size_t   ops;        /* legal ops                                                                      */
    size_t   runs;       /* of them, those that were computed                                              */
    size_t   faults;     /* findings that are errors                                                       */
} xir_trial;

/* Loads a plug-in into contexts of its own, whose memory comes from the allocator of `ctx`, and tries each class of
 * operations that it adds; `ctx` does not change. `options` and `out` may be NULL. A fault is an error that names the
 * class, the op by which it was found, what was expected and what was found; each kind of fault is named once a class.
 * Notes name the parts that could not be tried. The code of the plug-in runs in this process: if it crashes, so does
 * the program. Takes a second or less for most classes.
 *   XIR_OK           no fault was found
 *   XIR_E_INVALID    one was
 *   XIR_E_MISSING    `ctx` or `path` is NULL; XIR_E_ABI, XIR_E_UNSUPPORTED for options of another version
 *   XIR_E_MEMORY, and what xir_plugin_load refuses */
XIR_API xir_status xir_plugin_try(xir_context *ctx, const char *path, const xir_trial_options *options, xir_trial *out,
                                  xir_diags *why);

XIR_END

#endif
