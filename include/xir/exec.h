/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The reference executor defines what a network computes; it is made to be exact, not fast. It checks passes and
 * computes constants. A table has a kernel for each class that it can run; programs and plug-ins add kernels for their
 * own.
 *
 * Numbers: fp64, fp32 and smaller floats are computed in double and rounded once, when an operation's output is stored.
 * Integers are computed in int64_t and wrapped to their width; bool is 0 or 1. Quantised tensors are dequantised,
 * computed and quantised again (docs/executor.md). */
#ifndef XIR_EXEC_H
#define XIR_EXEC_H

#include <xir/array.h>
#include <xir/takes.h>
#include <xir/view.h>

XIR_BEGIN

/* ---- running ------------------------------------------------------------------------------------------------- */

/* The memory that the values of a run take at one moment; liveness.h computes it without a run (docs/executor.md). The
 * values inside of sub ops, such as the body of an xir::Call, are not counted, although they exist while it runs. */
typedef struct xir_run_memory {
    uint32_t size;      /* XIR_INIT(xir_run_memory) */
    uint32_t values;    /* how many values exist, without Params                                              */
    uint64_t bytes;     /* the bytes of each of them                                                          */
    uint64_t held;      /* the same, but bytes that several values or Params share count once, and for Params not
                           at all                                                                             */
} xir_run_memory;

typedef struct xir_run_options {
    uint32_t size;   /* XIR_INIT(xir_run_options) */
    /* Called with every computed value, in order, unless NULL: for tools that compare or keep values. If it returns
     * false, the run stops with XIR_E_INVALID. */
    bool (*watch)(void *user, const xir_value *value, const xir_array *array);
    void  *user;
    /* Called while ops are computed, about once per thousand element operations and at the end of a row, on the thread
     * that called xir_network_run, unless NULL. If it returns true, the run ends with XIR_E_CANCELLED. */
    bool (*cancel)(void *user);
    /* The most steps that all ops together may take (xir_work_steps); 0: no limit. An op that would exceed the rest is
     * not started: XIR_E_LIMIT. */
    uint64_t max_work;
    /* Called after each op of the execution order, unless NULL, when its outputs exist and its inputs still do: so the
     * greatest numbers are those of the peak. After the Input op all inputs of the network exist. */
    void (*memory)(void *user, const xir_op *op, const xir_run_memory *now);
    /* The greatest number of threads that compute, the calling one included; 0 and 1: no others. The results have the
     * same bits for any number. Threads are made when they are needed and have ended when the run returns; if one
     * cannot be made, the run goes on with fewer. They share loops, and compute short ops before their turn, with
     * memory of the context's allocator; the result of such an op counts in its turn, or is dropped if it exceeds the
     * limit then or is known. They call none of the functions above, and only kernels of the library. */
    size_t threads;
    /* Values that are known already, unless NULL: called with the values that ops make, those of the Input op excepted,
     * on the thread that runs: with all of them before anything is computed, then with those of an op when its turn to
     * be computed comes. Returns the array of the value, which the run retains, or NULL. An op is not computed if all
     * its outputs are known, or if only such ops use them; its work is not charged, and `watch` does not see its
     * values. The caller answers for the array: only its element type and dims are compared with the value's. A
     * value that is known before the run must be known when the turn of its op comes. */
    const xir_array *(*known)(void *user, const xir_value *value);
    /* The most bytes that the elements of values and the memory of kernels may take at one moment; 0: no limit. Inputs,
     * Params and known values do not count, because the caller has them; what the caller keeps of the others counts
     * until it is freed. An op that would exceed the limit ends the run: XIR_E_LIMIT. With more threads some kernels
     * take more, and with a limit no op is computed before its turn. */
    uint64_t max_memory;
    /* Unless 0, runs in the memory that the network plans (memory.h): in one block, values that have addresses are at
     * them, and so are Params that one of them overlaps; what a plan has wrong computes wrong numbers. Bytes of no
     * value, or of none any more, are NaN. An output is written over an input where the rows of the classes say so.
     * Ops are computed in their turn. The results of a right plan have the same bits as without. The block counts for
     * max_memory. `watch` gets copies. More findings:
     *   XIR_E_MISSING   no value of the network has an address
     *   XIR_E_BOUNDS    the bytes of one that has are unknown
     *   XIR_E_INVALID   an op has changed bytes next to the memory of the plan */
    uint64_t arena;
} xir_run_options;

/* Runs a network. `inputs` has one array for each input of the network, of its element type and with dims that agree
 * with the known ones; the layout of an array does not matter. Dims that the network does not know are inferred from
 * the inputs. Fills `outputs` with one array for each output of the network, for the caller to free; on failure all are
 * NULL. The network is only read, so several threads may run it.
 *   XIR_E_BOUNDS       a wrong number of inputs, or a wrong shape
 *   XIR_E_TYPE         a wrong element type
 *   XIR_E_UNSUPPORTED  an operation has no kernel, or its kernel cannot run it: the finding names it
 *   XIR_E_MISSING      Params without bytes
 *   XIR_E_LIMIT        more work or memory than the options allow: the finding names the operation that was not
 *                      started, or not finished
 *   XIR_E_CANCELLED    `cancel` returned true
 *   XIR_E_MEMORY, or what a kernel finds wrong, such as an index out of bounds
 * Without `max_memory` and `arena` the context keeps up to 32 MiB of the memory that the run has used, for its next
 * run. */
XIR_API xir_status xir_network_run(const xir_network *net, const xir_array *const *inputs, size_t n_inputs,
                                   xir_array **outputs,
                                   size_t n_outputs, const xir_run_options *options, xir_diags *why);

/* A run that the caller steps, op by op, to look at values and to exchange them. `net` and `options` are as for
 * xir_network_run, and so is what it computes, but for this: with several threads no op is computed before its turn.
 * The run keeps the inputs; the network must not change before it is freed. One thread at a time may use a run, several
 * threads may step runs of one network.
 *
 *     xir_run_state *run = xir_run_new(net, inputs, n, NULL, why);
 *     const xir_op *op;
 *     xir_status status = run ? XIR_OK : XIR_E_INVALID;
 *     while (!status && !(status = xir_run_step(run, &op, why)) && op) look_at_outputs(run, op);
 *     xir_run_free(run);
 *
 * The first returns NULL with a finding, for what xir_network_run refuses before it computes. The last accepts NULL. */
typedef struct xir_run_state xir_run_state;
XIR_API xir_run_state *xir_run_new(const xir_network *net, const xir_array *const *inputs, size_t n_inputs,
                                   const xir_run_options *options, xir_diags *why);
XIR_API void           xir_run_free(xir_run_state *run);
/* Computes the next op of the execution order and sets *op to it, or to NULL if all have had their turn: the Input op
 * and the Output op have one, too. `op` may be NULL. Returns the statuses of xir_network_run; after a failure each
 * later step returns the same. */
XIR_API xir_status xir_run_step(xir_run_state *run, const xir_op **op, xir_diags *why);
/* Returns the array of a value, for the caller to free: of Params, of what the last step has read or made, of what
 * later ops read, and once the Output op has had its turn of the outputs of the network. NULL with a finding:
 * XIR_E_MISSING for a value that is not computed yet or not kept any more, or Params without bytes; XIR_E_MEMORY. */
XIR_API xir_array *xir_run_value(xir_run_state *run, const xir_value *value, xir_diags *why);
/* Puts another array in the place of a value's, for the ops that have not had their turn. The run retains it.
 *   XIR_E_MISSING      the value does not exist at this step, or an argument is NULL
 *   XIR_E_TYPE, XIR_E_BOUNDS   the array does not have the element type, or the dims, of the value
 *   XIR_E_UNSUPPORTED  the options of the run set `arena` or `memory`
 *   XIR_E_MEMORY */
XIR_API xir_status xir_run_set(xir_run_state *run, const xir_value *value, const xir_array *array, xir_diags *why);

/* Runs one operation. If `inputs` is NULL, all its inputs must be Params with bytes. A NULL item stands for the op's
 * own Params in that position, or for an absent input. Fills one array for each output of the op. Attributes and
 * inputs are checked first, so any op is safe to run. Of the options it takes `threads`, `cancel`, `max_work` and
 * `max_memory`; the functions that see values are not called. NULL: one thread, no limits. */
XIR_API xir_status xir_op_run(const xir_op *op, const xir_array *const *inputs, size_t n_inputs, xir_array **outputs,
                              size_t n_outputs, const xir_run_options *options, xir_diags *why);

/* The first returns true if the class of an op has a kernel. The second returns the first op of a network, or of the
 * body of a call in it, whose class has none; NULL if all have one. */
XIR_API bool          xir_op_can_run(const xir_op *op);
XIR_API const xir_op *xir_network_first_unrunnable(const xir_network *net);

/* Returns the op whose kernel the calling thread runs, the innermost one; NULL if it runs none. A signal handler may
 * call it: so a program can name the op whose kernel crashed. */
XIR_API const xir_op *xir_run_current_op(void);

/* Sets whether an op is computed in normalised numbers, because its maps have ratios and its constants are stored
 * accordingly (docs/executor.md). XIR_E_UNSUPPORTED with a finding if it is unknown what its constants contain: such an
 * op is never run. */
XIR_API xir_status xir_op_is_normalised(const xir_op *op, bool *normalised, xir_diags *why);

/* Returns an array of random numbers of a type: normally distributed floats, integers in [0, 10), bools. The same seed
 * gives the same numbers. */
XIR_API xir_array *xir_array_random(xir_context *ctx, const xir_type *type, uint64_t seed, xir_diags *why);
/* The same within a range (xir_network_input_numbers), if numbers of the type are in it. Numbers between two bounds are
 * equally probable. With one bound or none, numbers outside are mirrored into the range. bools ignore it, and NULL is
 * the range of all numbers. */
XIR_API xir_array *xir_array_random_in(xir_context *ctx, const xir_type *type, uint64_t seed, const xir_numbers *range,
                                       xir_diags *why);

/* ---- kernels ------------------------------------------------------------------------------------------------- */

/* A kernel (xir_kernel_fn) sees the op that it computes through its xir_kernel. It returns XIR_OK or fails through
 * xir_kernel_fail. It must be pure: it writes only its outputs. */

/* Sets the kernel of a class, replacing an earlier one. XIR_E_UNKNOWN if the class is not registered. Other threads may
 * run networks at the same time: they use either the old or the new kernel for each op. */
XIR_API xir_status xir_kernel_register(xir_context *ctx, const xir_class_decl *decl, xir_kernel_fn *fn);

/* The op, for names, tags and its target. What it computes from is available through the functions below. */
XIR_API const xir_op *xir_kernel_op(const xir_kernel *at);
/* The attribute struct of the op's class. */
XIR_API const void   *xir_kernel_attrs(const xir_kernel *at);
/* The types of this run, with all dims known; NULL if the input is absent. */
XIR_API size_t          xir_kernel_input_count(const xir_kernel *at);
XIR_API size_t          xir_kernel_output_count(const xir_kernel *at);
XIR_API const xir_type *xir_kernel_input_type(const xir_kernel *at, size_t i);
XIR_API const xir_type *xir_kernel_output_type(const xir_kernel *at, size_t i);
/* Sets the dims of an output whose type depends on data, so that inference does not know it. Must come before the
 * output is used. Other outputs already have their types. */
XIR_API xir_status      xir_kernel_result(xir_kernel *at, size_t i, const int64_t *dims, size_t rank);

/* Returns true if the elements of a type are computed as reals (floats, quantised), false if as integers (integers,
 * bool). */
XIR_API bool xir_kernel_is_real(const xir_type *type);

/* Inputs and outputs as numbers: row-major, aligned, as many as the type has elements. NULL only if memory runs out,
 * which the kernel returns as XIR_E_MEMORY. Inputs are converted on first use, integers to reals too if asked for as
 * reals. The contents of an output are those of its last requested form. They are rounded, wrapped or quantised to its
 * type when the kernel returns. */
XIR_API const double  *xir_kernel_reals(xir_kernel *at, size_t input);
XIR_API const int64_t *xir_kernel_i64s(xir_kernel *at, size_t input);
XIR_API double        *xir_kernel_real_out(xir_kernel *at, size_t output);
XIR_API int64_t       *xir_kernel_i64_out(xir_kernel *at, size_t output);
/* The same for Params among the attributes. */
XIR_API const double  *xir_kernel_param_reals(xir_kernel *at, const xir_value *params);
/* The bytes as stored, for kernels that only move elements. xir_kernel_element_bytes is 0 if an element does not take
 * whole bytes; then such a kernel must move numbers. */
XIR_API const void    *xir_kernel_bytes(xir_kernel *at, size_t input);
XIR_API void          *xir_kernel_bytes_out(xir_kernel *at, size_t output);
XIR_API size_t         xir_kernel_element_bytes(const xir_type *type);
/* Returns true if the bytes of an input's element mean the same in the output: the element types are equal, or they are
 * quantised and inference has moved scales and zero points along. For kernels that only move elements; if false, they
 * must convert. */
XIR_API bool           xir_kernel_same_elements(const xir_kernel *at, size_t output, size_t input);
/* Makes output `output` share the array of input `input`, with the output's type: for reshapes. The sizes must be
 * equal. */
XIR_API xir_status     xir_kernel_forward(xir_kernel *at, size_t output, size_t input);
/* Returns zeroed memory that lives until the kernel returns; NULL if memory runs out. */
XIR_API void          *xir_kernel_alloc(xir_kernel *at, size_t n, size_t size);

/* Counts `steps` element operations or multiply-adds that a kernel has done, and checks from time to time whether
 * the run is cancelled. Once it returns true, the kernel must return at once, with any status. Kernels call it at
 * the end of every row, and within long rows; a call is cheap. */
XIR_API bool xir_kernel_stops(xir_kernel *at, uint64_t steps);

/* Reports what is wrong and returns `code`. The op's class and name are put before the sentence. `where` ("inputs/1")
 * may be NULL. */
XIR_API xir_status xir_kernel_fail(xir_kernel *at, xir_status code, const char *where, const char *format,
                                   ...) XIR_PRINTF(4, 5);

XIR_END

#endif
