/* The reference executor: what a network computes, by definition and not by speed. It judges passes and computes
 * constants. A table has a kernel for each class that it can run; a program or a plug-in adds kernels for its own.
 *
 * Numbers: fp64, fp32 and smaller floats are computed in double and rounded once, when an operation's output is
 * stored; integers in int64 and wrapped to their width; bool is 0 or 1; quantised tensors are dequantised, computed,
 * quantised (docs/executor.md). */
#ifndef XIR_EXEC_H
#define XIR_EXEC_H

#include <xir/array.h>
#include <xir/view.h>

XIR_BEGIN

/* ---- running ------------------------------------------------------------------------------------------------- */

typedef struct xir_run_options {
    uint32_t size;   /* XIR_INIT(xir_run_options) */
    /* Called with every value that is computed, in order, if there: what a tool compares or keeps. False stops:
     * XIR_E_INVALID. */
    bool (*watch)(void *user, const xir_value *value, const xir_array *array);
    void  *user;
    /* Asked while ops are computed, about once a thousand element operations and at the end of a row, from the
     * thread that runs, if there. True ends the run: XIR_E_CANCELLED. */
    bool (*cancel)(void *user);
    /* The most steps that all ops together may take (xir_work_steps); 0: no limit. An op that would take more than
     * are left is not begun: XIR_E_LIMIT. */
    uint64_t max_work;
} xir_run_options;

/* Runs a network: `inputs` are as many as it has inputs, of their element types and of dims that agree with the known
 * ones; the layout of an array does not count. Fills `outputs` with as many arrays as the network has outputs, the
 * caller's to free; all NULL after a failure. Dims that the network does not know are inferred from the inputs. The
 * network is only read: several threads may run it.
 *   XIR_E_BOUNDS       another number of inputs, or another shape
 *   XIR_E_TYPE         another element type
 *   XIR_E_UNSUPPORTED  an operation without a kernel, or one that a kernel cannot run: the finding names it
 *   XIR_E_MISSING      Params without bytes
 *   XIR_E_LIMIT        more work than the options allow: the finding names the operation that was not begun
 *   XIR_E_CANCELLED    `cancel` has said so
 *   XIR_E_MEMORY, or what a kernel finds wrong: an index outside, for example */
XIR_API xir_status xir_network_run(const xir_network *net, const xir_array *const *inputs, size_t n_inputs,
                                   xir_array **outputs,
                                   size_t n_outputs, const xir_run_options *options, xir_diags *why);

/* Runs one operation; `inputs` NULL: its inputs must be Params with bytes. A NULL item is the op's own Params there,
 * or an absent input. Fills one array for each output of the op. Attributes and inputs are checked first: an op may
 * come from anywhere. */
XIR_API xir_status xir_op_run(const xir_op *op, const xir_array *const *inputs, size_t n_inputs, xir_array **outputs,
                              size_t n_outputs, xir_diags *why);

/* Whether there is a kernel for the class of an op; whether every op of a network has one. NULL, or the first op
 * that has none. */
XIR_API bool          xir_op_can_run(const xir_op *op);
XIR_API const xir_op *xir_network_first_unrunnable(const xir_network *net);

/* Whether an op is computed in normalised numbers, since its maps have ratios and its constants are stored for that
 * (docs/executor.md). XIR_E_UNSUPPORTED with a finding where it is not known what its constants hold: such an op is
 * never run. */
XIR_API xir_status xir_op_is_normalised(const xir_op *op, bool *normalised, xir_diags *why);

/* An array of random numbers of a type: floats normally distributed, integers in [0, 10), bools. The same seed gives
 * the same. */
XIR_API xir_array *xir_array_random(xir_context *ctx, const xir_type *type, uint64_t seed, xir_diags *why);

/* ---- kernels ------------------------------------------------------------------------------------------------- */

/* What a kernel (xir_kernel_fn) sees of the op that it computes is behind its xir_kernel. It returns XIR_OK, or
 * fails through xir_kernel_fail. Pure: what it writes are its outputs. */

/* Makes this the kernel of a class; it replaces an earlier one. XIR_E_UNKNOWN if the class is not registered. Other
 * threads may run networks meanwhile: each op is computed by the one or by the other. */
XIR_API xir_status xir_kernel_register(xir_context *ctx, const xir_class_decl *decl, xir_kernel_fn *fn);

/* The op that is computed; for names, tags and its target: what it computes from is asked for below. */
XIR_API const xir_op *xir_kernel_op(const xir_kernel *at);
/* The attribute struct of the op's class. */
XIR_API const void   *xir_kernel_attrs(const xir_kernel *at);
/* The types of this run, all dims known; NULL: the input is absent. */
XIR_API size_t          xir_kernel_input_count(const xir_kernel *at);
XIR_API size_t          xir_kernel_output_count(const xir_kernel *at);
XIR_API const xir_type *xir_kernel_input_type(const xir_kernel *at, size_t i);
XIR_API const xir_type *xir_kernel_output_type(const xir_kernel *at, size_t i);
/* Gives the type of an output that depends on data, whose dims inference does not know: before it is asked for.
 * Other outputs have their types already. */
XIR_API xir_status      xir_kernel_result(xir_kernel *at, size_t i, const int64_t *dims, size_t rank);

/* Whether the elements of a type are computed as reals (floats, quantised) or as integers (integers, bool). */
XIR_API bool xir_kernel_is_real(const xir_type *type);

/* Inputs and outputs as numbers, row-major, aligned, as many as the type has elements (never NULL for none of them:
 * NULL is a failure without memory, which the kernel returns as XIR_E_MEMORY). Inputs are converted on the first
 * question: integers asked for as reals too. An output is what was last asked for of it: it is rounded, wrapped or
 * quantised into its type when the kernel is done. */
XIR_API const double  *xir_kernel_reals(xir_kernel *at, size_t input);
XIR_API const int64_t *xir_kernel_i64s(xir_kernel *at, size_t input);
XIR_API double        *xir_kernel_real_out(xir_kernel *at, size_t output);
XIR_API int64_t       *xir_kernel_i64_out(xir_kernel *at, size_t output);
/* The same of Params among the attributes. */
XIR_API const double  *xir_kernel_param_reals(xir_kernel *at, const xir_value *params);
/* The bytes as they are stored, for kernels that only move elements; `xir_kernel_element_bytes` is 0 for elements
 * that are no whole bytes, which such kernels must move as numbers. */
XIR_API const void    *xir_kernel_bytes(xir_kernel *at, size_t input);
XIR_API void          *xir_kernel_bytes_out(xir_kernel *at, size_t output);
XIR_API size_t         xir_kernel_element_bytes(const xir_type *type);
/* Whether the bytes of an element of the input mean the same in the output: its elements are the same, or they are
 * quantised and inference has moved scales and zero points along with them. Asked by kernels that only move
 * elements; the others' must be converted. */
XIR_API bool           xir_kernel_same_elements(const xir_kernel *at, size_t output, size_t input);
/* Makes output `output` the very array of input `input`, under the output's type: for reshapes. Sizes must be the
 * same. */
XIR_API xir_status     xir_kernel_forward(xir_kernel *at, size_t output, size_t input);
/* Memory until the kernel is done, zeroed. NULL without memory. */
XIR_API void          *xir_kernel_alloc(xir_kernel *at, size_t n, size_t size);

/* Counts `steps` element operations or multiply-adds that a kernel has done, and asks from time to time whether the
 * run is cancelled. True, from then on: the kernel returns at once, whatever its status. Kernels call it at the end
 * of every row, and within rows that are long: a call is cheap. */
XIR_API bool xir_kernel_stops(xir_kernel *at, uint64_t steps);

/* Says what is wrong and returns `code`: the op's class and name are put before the sentence; `where` ("inputs/1")
 * may be NULL. */
XIR_API xir_status xir_kernel_fail(xir_kernel *at, xir_status code, const char *where, const char *format,
                                   ...) XIR_PRINTF(4, 5);

XIR_END

#endif
