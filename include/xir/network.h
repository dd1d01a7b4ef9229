/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A network: operations in execution order, connected by values. It owns everything in it. */
#ifndef XIR_NETWORK_H
#define XIR_NETWORK_H

#include <xir/params.h>
#include <xir/quant.h>

XIR_BEGIN

/* ORDER FRAMEWORK: src/core/graph/network.c. A network of another framework keeps the word from its file. */
typedef enum xir_framework {
    XIR_FRAMEWORK_PYTORCH,
    XIR_FRAMEWORK_CAFFE,
    XIR_FRAMEWORK_TENSORFLOW,
    XIR_FRAMEWORK_DARKNET,
    XIR_FRAMEWORK_ONNX,
    XIR_FRAMEWORK_COUNT
} xir_framework;

/* Returns an empty network of the newest version, or NULL if memory runs out. xir_network_free accepts NULL and frees
 * all ops and values, and all bytes that nothing else holds. */
XIR_API xir_network *xir_network_new(xir_context *ctx, const char *name, xir_framework framework,
                                     const char *framework_version);
XIR_API void         xir_network_free(xir_network *net);

/* Returns the context that the network was made with. The network keeps it alive. */
XIR_API xir_context *xir_network_context(const xir_network *net);

/* The first failure of a building call since the network was made or its status cleared; and the findings. */
XIR_API xir_status xir_network_status(const xir_network *net);
XIR_API xir_diags *xir_network_diags(xir_network *net);
XIR_API void       xir_network_clear_status(xir_network *net);
/* Moves the findings to the end of another list, so that one list has those of the network and of other calls. The
 * status remains. */
XIR_API void       xir_network_move_diags(xir_network *net, xir_diags *to);

/* ---- fields of the file -------------------------------------------------------------------------------------- */

typedef enum xir_network_text {
    XIR_TEXT_NAME,
    XIR_TEXT_FRAMEWORK,          /* "PYTORCH"                                                     */
    XIR_TEXT_FRAMEWORK_VERSION,  /* "v1.9"                                                        */
    XIR_TEXT_ICRAFT_VERSION,     /* "v3.33.1"                                                     */
    XIR_TEXT_XIR_VERSION,        /* "3.33.1.0": decides how files are spelled, and whether reals that are set from
                                    then on are rounded (3.30), see docs/formats.md                */
    XIR_TEXT_PARAMS_MD5,         /* as the file said or the last save computed                     */
    XIR_TEXT_COUNT
} xir_network_text;

/* Gets a text, which lives as long as the network, or sets it to a copy. XIR_E_BOUNDS for a number that is not in the
 * list, XIR_E_MEMORY; on failure the old text remains. */
XIR_API xir_str    xir_network_text_of(const xir_network *net, xir_network_text which);
XIR_API xir_status xir_network_set_text(xir_network *net, xir_network_text which, xir_str text);
#define xir_network_name(net) xir_network_text_of((net), XIR_TEXT_NAME)

/* The size of the parameter file, as the structure file states it or the last save computed it. */
XIR_API uint64_t          xir_network_params_bytes(const xir_network *net);
/* The accelerator that the network is for; validation refuses ops of another one. A new network has @buyit, as files
 * of the original have, until it is set. NULL: a file or a program said that there is none. */
XIR_API const xir_target *xir_network_ai_target(const xir_network *net);
/* Returns true if a file or a program has set it: false for a network from code or from a foreign format that has the
 * @buyit of new networks, and for one without. */
XIR_API bool              xir_network_has_ai_target(const xir_network *net);
/* Sets it; NULL removes it. XIR_E_MEMORY. */
XIR_API xir_status        xir_network_set_ai_target(xir_network *net, const xir_target *target);
/* The tags are NULL if the network has none. Setting copies the tag, and NULL removes it. Its Params must be of the
 * network: XIR_E_INVALID. XIR_E_MEMORY. */
XIR_API const xir_map    *xir_network_tags(const xir_network *net);
XIR_API xir_status        xir_network_set_tag(xir_network *net, xir_str key, const xir_any *value);
/* Undeclared keys of the file, under the same rules. XIR_E_EXISTS for a key that every network has. */
XIR_API const xir_map    *xir_network_extra(const xir_network *net);
XIR_API xir_status        xir_network_set_extra(xir_network *net, xir_str key, const xir_any *value);

/* ---- asking -------------------------------------------------------------------------------------------------- */

/* The number of ops in the execution order; the number of slots: every op's slot is less than it. */
XIR_API size_t   xir_network_op_count(const xir_network *net);
XIR_API uint32_t xir_network_slot_count(const xir_network *net);
/* The first and last op of the execution order; NULL if it is empty. */
XIR_API xir_op  *xir_network_first(const xir_network *net);
XIR_API xir_op  *xir_network_last(const xir_network *net);
/* Returns the next op of one class after `op`; NULL starts at the beginning. */
XIR_API xir_op  *xir_network_next_of_class(const xir_network *net, const xir_op *op, const xir_class_decl *decl);
/* By position in execution order, from the end if negative; NULL past the ends. The first call after a change is
 * linear, later ones take constant time. */
XIR_API xir_op  *xir_network_op_at(const xir_network *net, int64_t i);
XIR_API int64_t  xir_network_index_of(const xir_network *net, const xir_op *op);
/* By id, or by name. The first call is linear, later ones take constant time, also after changes. If several have a
 * name, the first one is found, in time linear in their number: the first op of the execution order, or the first value
 * that a walk over it meets; values are outputs of ops, and inputs that no op makes. An empty name finds nothing. NULL
 * if no op or value has it, or if memory for the table runs out. */
XIR_API xir_op    *xir_network_op_by_id(const xir_network *net, int64_t op_id);
XIR_API xir_value *xir_network_value_by_id(const xir_network *net, int64_t v_id);
XIR_API xir_op    *xir_network_op_by_name(const xir_network *net, xir_str name);
XIR_API xir_value *xir_network_value_by_name(const xir_network *net, xir_str name);
/* Several at once: out[i] is the value that has v_ids[i], NULL if none has it. Returns how many were found. */
XIR_API size_t xir_network_values_by_id(const xir_network *net, const int64_t *v_ids, size_t n, xir_value **out);

/* The Input op and the Output op; NULL if the network does not have it. Their values are the inputs and outputs of the
 * network. */
XIR_API xir_op *xir_network_input_op(const xir_network *net);
XIR_API xir_op *xir_network_output_op(const xir_network *net);
XIR_API size_t  xir_network_inputs(const xir_network *net, xir_value **out, size_t room);
XIR_API size_t  xir_network_outputs(const xir_network *net, xir_value **out, size_t room);

/* All Params: inputs of ops in execution order, then attributes, each once. Writes up to `room`, returns their
 * number. */
XIR_API size_t xir_network_params(const xir_network *net, xir_value **out, size_t room);

/* The highest id of an op so far plus one. Automatic numbering continues from here. */
XIR_API int64_t xir_network_next_op_id(const xir_network *net);

/* ---- editing: on failure the network is unchanged, and there is a finding ---------------------------------------- */

/* Removes an op even if it has users: those get an absent input in that position, which xir_network_validate
 * reports. */
XIR_API xir_status xir_network_remove(xir_network *net, xir_op *op);
/* Removes several ops and connects their neighbours: a use of output i of a removed op becomes a use of the op's
 * non-Params input i, or of its only one. XIR_E_INVALID if there is no such input. Uses of their sub ops by other ops
 * become absent inputs. */
XIR_API xir_status xir_network_bypass(xir_network *net, xir_op *const *ops, size_t n);

/* Put an unplaced op in the place of `old`, which is erased. Uses of its outputs become absent inputs, or they move to
 * the outputs of the new op, which must then have as many. */
XIR_API xir_status xir_network_replace(xir_network *net, xir_op *old, xir_op *now);
XIR_API xir_status xir_network_replace_keep_uses(xir_network *net, xir_op *old, xir_op *now);

/* Moves a placed op before another one; NULL: to the end. */
XIR_API xir_status xir_op_move(xir_op *op, xir_op *before);

/* Infers the outputs of all ops again, in execution order. Types that differ are replaced. An op keeps its types if its
 * class has no inference, or if they do not follow from its inputs (XIR_E_UNSUPPORTED: quantised or tiled). Quantised
 * elements are a conversion and are kept too: where they differ from the inferred type, or where only one of the two is
 * quantised and the other a float. Adds all other findings and returns the status of the first. Linear. */
XIR_API xir_status xir_network_infer(xir_network *net, xir_diags *why);

/* Turns every op (and sub op) of an unknown class into a real one, in place, if its class has been registered since, by
 * xir_class_register or a plug-in. The result is the same as if the class had been known when the file was read: id,
 * name, inputs, outputs, uses and tags are kept, undeclared attributes become attributes, and objects in them get their
 * classes. If the file was spelled as the writers spell, saving gives the same bytes. An op whose attributes do not
 * decode is left unchanged, with a finding at its place ("/ops/17/start"). Returns the status of the first finding. Ops
 * of classes that are still unknown cause none. Nothing is checked or inferred. Linear. Objects of unknown classes
 * elsewhere (an element type) remain until the file is read again. */
XIR_API xir_status xir_network_resolve(xir_network *net, xir_diags *why);

/* Runs the whole check of docs/errors.md: every op, value, type, id, the order, and the rules of a network. Adds every
 * finding and returns the status of the first error. */
XIR_API xir_status xir_network_validate(const xir_network *net, xir_diags *why);

/* Returns a network of the same content: ids, names, order, versions. Parameter bytes are shared until written. What an
 * op that is not placed makes becomes a value that no op makes. */
XIR_API xir_network *xir_network_clone(const xir_network *net);
/* Returns true if two networks are equal, with or without their parameter bytes. Params whose tags name each other, or
 * are nested deeper than max_depth of xir_limits, equal only themselves: no file can hold them. */
XIR_API bool xir_network_equal(const xir_network *a, const xir_network *b, bool with_params);

XIR_END

#endif
