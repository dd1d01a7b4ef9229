/* A network: operations in execution order over values in data order. It owns everything in it. */
#ifndef XIR_NETWORK_H
#define XIR_NETWORK_H

#include <xir/params.h>
#include <xir/quant.h>

XIR_BEGIN

/* ORDER FRAMEWORK: src/core/graph/network.c. Networks of other frameworks keep the word of their file. */
typedef enum xir_framework {
    XIR_FRAMEWORK_PYTORCH,
    XIR_FRAMEWORK_CAFFE,
    XIR_FRAMEWORK_TENSORFLOW,
    XIR_FRAMEWORK_DARKNET,
    XIR_FRAMEWORK_ONNX,
    XIR_FRAMEWORK_COUNT
} xir_framework;

/* Returns an empty network of the newest version, or NULL without memory. Freeing accepts NULL and frees ops, values,
 * and bytes that nobody else holds. */
XIR_API xir_network *xir_network_new(xir_context *ctx, const char *name, xir_framework framework,
                                     const char *framework_version);
XIR_API void         xir_network_free(xir_network *net);

/* Returns the context that the network was made with; it lives at least as long. */
XIR_API xir_context *xir_network_context(const xir_network *net);

/* The first failure of a building call since the network was made or cleared, and the findings. */
XIR_API xir_status xir_network_status(const xir_network *net);
XIR_API xir_diags *xir_network_diags(xir_network *net);
XIR_API void       xir_network_clear_status(xir_network *net);

/* ---- fields of the file -------------------------------------------------------------------------------------- */

typedef enum xir_network_text {
    XIR_TEXT_NAME,
    XIR_TEXT_FRAMEWORK,          /* "PYTORCH"                                                     */
    XIR_TEXT_FRAMEWORK_VERSION,  /* "v1.9"                                                        */
    XIR_TEXT_ICRAFT_VERSION,     /* "v3.33.1"                                                     */
    XIR_TEXT_XIR_VERSION,        /* "3.33.1.0": decides how files are spelled, see docs/formats.md */
    XIR_TEXT_PARAMS_MD5,         /* as the file said or the last save computed                     */
    XIR_TEXT_COUNT
} xir_network_text;

/* Reads a text, which lives as long as the network, or sets it to a copy. XIR_E_BOUNDS for no text of the list,
 * XIR_E_MEMORY; the old text stays then. */
XIR_API xir_str    xir_network_text_of(const xir_network *net, xir_network_text which);
XIR_API xir_status xir_network_set_text(xir_network *net, xir_network_text which, xir_str text);
#define xir_network_name(net) xir_network_text_of((net), XIR_TEXT_NAME)

/* Size of the parameter file as the structure file said or the last save computed. */
XIR_API uint64_t          xir_network_params_bytes(const xir_network *net);
XIR_API const xir_target *xir_network_ai_target(const xir_network *net);
XIR_API xir_status        xir_network_set_ai_target(xir_network *net, const xir_target *target);
XIR_API const xir_map    *xir_network_tags(const xir_network *net);
XIR_API xir_status        xir_network_set_tag(xir_network *net, xir_str key, const xir_any *value);
/* Undeclared keys of the file. */
XIR_API const xir_map    *xir_network_extra(const xir_network *net);
XIR_API xir_status        xir_network_set_extra(xir_network *net, xir_str key, const xir_any *value);

/* ---- asking -------------------------------------------------------------------------------------------------- */

/* How many ops are in the execution order, and below what every op's slot is. */
XIR_API size_t   xir_network_op_count(const xir_network *net);
XIR_API uint32_t xir_network_slot_count(const xir_network *net);
/* The ends of the execution order; NULL if empty. */
XIR_API xir_op  *xir_network_first(const xir_network *net);
XIR_API xir_op  *xir_network_last(const xir_network *net);
/* The next op of one class from `op` on (not including it; NULL: from the start): a typed walk. */
XIR_API xir_op  *xir_network_next_of_class(const xir_network *net, const xir_op *op, const xir_class_decl *decl);
/* By position in execution order, from the end if negative; NULL past the ends. Constant time after the first call
 * since a change, which is linear. */
XIR_API xir_op  *xir_network_op_at(const xir_network *net, int64_t i);
XIR_API int64_t  xir_network_index_of(const xir_network *net, const xir_op *op);
/* By id: constant time, linear once. By name: the first of that name, linear. NULL if there is none (or no memory
 * for the table that finding by id makes). */
XIR_API xir_op    *xir_network_op_by_id(const xir_network *net, int64_t op_id);
XIR_API xir_value *xir_network_value_by_id(const xir_network *net, int64_t v_id);
XIR_API xir_op    *xir_network_op_by_name(const xir_network *net, xir_str name);

/* The Input op and the Output op; NULL if there is none. The values they hold are inputs and outputs of the network. */
XIR_API xir_op *xir_network_input_op(const xir_network *net);
XIR_API xir_op *xir_network_output_op(const xir_network *net);
XIR_API size_t  xir_network_inputs(const xir_network *net, xir_value **out, size_t room);
XIR_API size_t  xir_network_outputs(const xir_network *net, xir_value **out, size_t room);

/* All Params: inputs of ops in execution order, then attributes, each once. Writes up to `room`, returns the count. */
XIR_API size_t xir_network_params(const xir_network *net, xir_value **out, size_t room);

/* The highest id so far + 1, which automatic numbering continues from. */
XIR_API int64_t xir_network_next_op_id(const xir_network *net);
XIR_API int64_t xir_network_next_value_id(const xir_network *net);

/* ---- editing: each either happens or leaves the network as it was, with a finding ------------------------------- */

/* Takes ops out although others use them: their consumers get an absent input in that place, which is a finding of
 * validate. */
XIR_API xir_status xir_network_remove(xir_network *net, xir_op *op);
XIR_API xir_status xir_network_remove_if(xir_network *net, bool (*pick)(const xir_op *op, void *user), void *user,
                                         size_t *removed);
/* Takes several out and connects their neighbours: a use of output i of a removed op becomes a use of the op's
 * non-Params input i (its only one, if it has one). XIR_E_INVALID if there is none. Uses of their sub ops by others
 * become absent inputs. */
XIR_API xir_status xir_network_bypass(xir_network *net, xir_op *const *ops, size_t n);

/* Puts an unplaced op into the place of `old`, which is erased; uses of its outputs are dropped (absent inputs), or
 * kept: moved to the new op's outputs, which must be as many. */
XIR_API xir_status xir_network_replace(xir_network *net, xir_op *old, xir_op *now);
XIR_API xir_status xir_network_replace_keep_uses(xir_network *net, xir_op *old, xir_op *now);

/* Feeds `value` to an op: as one more input, or at a position. */
XIR_API xir_status xir_network_connect(xir_network *net, xir_value *value, xir_op *op, int64_t index_or_minus_1);

/* Moves a placed op before another (NULL: to the end). */
XIR_API xir_status xir_op_move(xir_op *op, xir_op *before);

/* Re-inference of all ops in execution order: types that differ are replaced, values whose types don't keep theirs.
 * Ops without inference keep what they have, and so do ops with types that do not follow from their inputs
 * (XIR_E_UNSUPPORTED: quantised or tiled). Quantised elements that differ from what is inferred, or stand where
 * floats are inferred or the other way round, stay: they are a conversion. Adds the other findings, and returns the
 * first one's status. Linear. */
XIR_API xir_status xir_network_infer(xir_network *net, xir_diags *why);

/* Makes every op (and sub op) of an unknown class whose class has been registered since, by xir_class_register or a
 * plug-in, a real one in its place, as if the class had been known when the file was read: same id, name, inputs,
 * outputs, uses and tags; what it carried undeclared becomes attributes, and objects in them of their classes. So it
 * is saved as before, if it was spelled as writers spell it. An op whose attributes do not decode stays as it was,
 * with a finding at its place ("/ops/17/start"); the first one's status is returned. Ops of classes that are still
 * unknown are no finding. Nothing is checked or inferred. Linear. Objects of unknown classes elsewhere (an element
 * type) stay until the file is read again. */
XIR_API xir_status xir_network_resolve(xir_network *net, xir_diags *why);

/* The whole check of docs/errors.md: every op, value, type, id, order, and the rules of a network. Adds every finding,
 * returns the first error's status. */
XIR_API xir_status xir_network_validate(const xir_network *net, xir_diags *why);

/* A network of the same content: ids, names, order, versions; parameter bytes are shared until written. */
XIR_API xir_network *xir_network_clone(const xir_network *net);
/* Whether two networks are the same but for parameter bytes; or with them. */
XIR_API bool xir_network_equal(const xir_network *a, const xir_network *b, bool with_params);

XIR_END

#endif
