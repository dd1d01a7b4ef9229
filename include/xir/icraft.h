/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The members of the API of Icraft's XIR that XIR does not have elsewhere, for ports of back ends: each call does in
 * one step what others of this library do in one or two. docs/icraft.md says which member of the original is which
 * call. A new program needs none of it, and <xir/xir.h> does not include it.
 *
 * Where it is not said otherwise, a call that makes something returns NULL with a finding, one that writes a list
 * writes up to `room` items and returns their whole number, and errors are those of the call that it stands for. */
#ifndef XIR_ICRAFT_H
#define XIR_ICRAFT_H

#include <xir/distr.h>
#include <xir/layout.h>
#include <xir/mapping.h>
#include <xir/serialize.h>
#include <xir/sugar.h>
#include <xir/gone_off.h>

XIR_BEGIN

/* ---- operations ------------------------------------------------------------------------------------------------ */

/* The ops that make an op's inputs, and the ops that use its outputs: each once, in execution order if `sorted`,
 * otherwise in order of discovery. */
XIR_API size_t xir_op_producers(const xir_op *op, bool sorted, xir_op **out, size_t room);
XIR_API size_t xir_op_consumers(const xir_op *op, bool sorted, xir_op **out, size_t room);
/* The inputs that are not Params and not absent; the Params among the inputs; and those in the attributes (of sub ops
 * too). */
XIR_API size_t xir_op_data_inputs(const xir_op *op, xir_value **out, size_t room);
XIR_API size_t xir_op_params_inputs(const xir_op *op, xir_value **out, size_t room);
XIR_API size_t xir_op_params_attrs(const xir_op *op, xir_value **out, size_t room);
/* The positions at which the value with this id is an input. */
XIR_API size_t xir_op_input_index_by_id(const xir_op *op, int64_t v_id, size_t *out, size_t room);
/* Replaces `old` with `now` in every position; removes every position of one value, and later inputs move up. */
XIR_API xir_status xir_op_replace_input(xir_op *op, xir_value *old, xir_value *now);
XIR_API xir_status xir_op_remove_input_id(xir_op *op, int64_t v_id);
/* xir_op_set_output for all outputs at once, all or none: afterwards the op has `n`. XIR_E_IN_USE if one that it loses
 * is used, XIR_E_EXISTS for a value that is listed twice. The results are what xir_op_output returns. Many outputs are
 * made this way: one by one, each call moves all of them. */
XIR_API xir_status xir_op_set_output_values(xir_op *op, xir_value *const *values, size_t n);
/* Sets the id: XIR_E_EXISTS if it is not free, XIR_E_BOUNDS if it is negative, XIR_E_MEMORY. */
XIR_API xir_status xir_value_set_id(xir_value *value, int64_t id);

/* Identical ops also have equal ids, names and tags. Structurally equal ops have the same class, target, attributes,
 * operands (by identity) and output types: a pass may merge them; and so their hashes are equal. */
XIR_API bool     xir_op_identical(const xir_op *a, const xir_op *b);
XIR_API bool     xir_op_structural_equal(const xir_op *a, const xir_op *b);
XIR_API uint32_t xir_op_structural_hash(const xir_op *op);

/* getAttr and setAttr of the kinds that op.h has no call for, with the same statuses. A value is copied, and NULL is
 * null if the row allows it. */
XIR_API xir_status xir_op_get_u64(const xir_op *op, const char *name, uint64_t *out);
XIR_API xir_status xir_op_get_ref(const xir_op *op, const char *name, const xir_object **out);
XIR_API xir_status xir_op_get_map(const xir_op *op, const char *name, xir_map *out);
XIR_API xir_status xir_op_get_bools(const xir_op *op, const char *name, xir_bools *out);
XIR_API xir_status xir_op_get_reals(const xir_op *op, const char *name, xir_reals *out);
XIR_API xir_status xir_op_get_texts(const xir_op *op, const char *name, xir_texts *out);
XIR_API xir_status xir_op_get_refs(const xir_op *op, const char *name, xir_refs *out);
XIR_API xir_status xir_op_get_runs(const xir_op *op, const char *name, xir_runs *out);
XIR_API xir_status xir_op_get_values(const xir_op *op, const char *name, xir_values *out);
XIR_API xir_status xir_op_get_ops(const xir_op *op, const char *name, xir_ops *out);
XIR_API xir_status xir_op_set_u64(xir_op *op, const char *name, uint64_t v);
XIR_API xir_status xir_op_set_ref(xir_op *op, const char *name, const xir_object *v);
XIR_API xir_status xir_op_set_map(xir_op *op, const char *name, xir_map v);
XIR_API xir_status xir_op_set_bools(xir_op *op, const char *name, const bool *v, size_t n);
XIR_API xir_status xir_op_set_reals(xir_op *op, const char *name, const double *v, size_t n);
XIR_API xir_status xir_op_set_texts(xir_op *op, const char *name, const xir_str *v, size_t n);
XIR_API xir_status xir_op_set_refs(xir_op *op, const char *name, const xir_object *const *v, size_t n);
XIR_API xir_status xir_op_set_runs(xir_op *op, const char *name, const xir_run *v, size_t n);
XIR_API xir_status xir_op_set_values(xir_op *op, const char *name, xir_value *const *v, size_t n);
XIR_API xir_status xir_op_set_ops(xir_op *op, const char *name, xir_op *const *v, size_t n);

/* Pow(x, exponent): the exponent becomes Params of one element, fp64 for an fp64 input, fp32 for fp32 and quantised
 * inputs. XIR_E_UNSUPPORTED for others: for those, make the Params yourself. */
XIR_API xir_value *xir_build_pow(xir_at at, xir_value *input, double exponent, const char *name);

/* ---- networks -------------------------------------------------------------------------------------------------- */

/* Several ops at once: out[i] is the one that has op_ids[i], NULL if none has it. Returns how many were found. */
XIR_API size_t     xir_network_ops_by_id(const xir_network *net, const int64_t *op_ids, size_t n, xir_op **out);
/* The highest id of a value so far plus one. Automatic numbering continues from here. */
XIR_API int64_t    xir_network_next_value_id(const xir_network *net);
/* xir_network_remove for all ops that a function picks; their number in *removed, unless it is NULL. */
XIR_API xir_status xir_network_remove_if(xir_network *net, bool (*pick)(const xir_op *op, void *user), void *user,
                                         size_t *removed);
/* Connects `value` to an op: as an additional input, or at a position. */
XIR_API xir_status xir_network_connect(xir_network *net, xir_value *value, xir_op *op, int64_t index_or_minus_1);

/* The newest copy of an op in a mapping; NULL if nothing is known or the copy is erased. */
XIR_API xir_op *xir_mapping_op(const xir_mapping *map, const xir_op *from);

/* Rules of the caller for a mapping (CloneContext). Each may be NULL, or return NULL: then the usual copy is made. */
typedef struct xir_mapping_rules {
    uint32_t size;
    void    *user;
    /* Returns an op of `to` that is not placed: it becomes the copy, so it needs as many outputs. Asked before an op is
     * copied, but not about sub ops. If the call fails, the op is erased. */
    xir_op    *(*op)(void *user, xir_mapping *map, const xir_op *from);
    /* Returns Params of `to` that become the copy. Asked once about each. */
    xir_value *(*params)(void *user, xir_mapping *map, const xir_value *from);
    /* In a mapping within one network: Params are copied too, not shared. */
    bool copies_params;
} xir_mapping_rules;

/* Sets the rules (copied). XIR_E_ABI for a struct without its size: use XIR_INIT(xir_mapping_rules, …). */
XIR_API xir_status xir_mapping_set_rules(xir_mapping *map, const xir_mapping_rules *rules);

/* ---- views ------------------------------------------------------------------------------------------------------ */

/* Views of positions [start, end) (negative: from the end; end INT64_MAX: to the end); from one op id to another, both
 * included; of all ops except these ids. */
XIR_API xir_view *xir_view_range(xir_network *net, int64_t start, int64_t end);
XIR_API xir_view *xir_view_id_range(xir_network *net, int64_t first_id, int64_t last_id);
XIR_API xir_view *xir_view_except(xir_network *net, const int64_t *op_ids, size_t n);
/* The network, also of a stale view. The other queries give NULL if the view is stale. */
XIR_API xir_network *xir_view_network(const xir_view *view);
XIR_API xir_op      *xir_view_op_by_id(const xir_view *view, int64_t op_id);
XIR_API xir_op      *xir_view_last(const xir_view *view);
XIR_API xir_op      *xir_view_prev(const xir_view *view, const xir_op *op);
XIR_API xir_value   *xir_view_value_by_name(const xir_view *view, xir_str name);
/* Reorders the outputs to these value ids, which must be exactly the outputs. */
XIR_API xir_status   xir_view_order_outputs(xir_view *view, const int64_t *v_ids, size_t n);
/* Returns true if both have the same ops of the same network. */
XIR_API bool         xir_view_equal(const xir_view *a, const xir_view *b);

/* ---- Params ------------------------------------------------------------------------------------------------------ */

/* xir_params_copy with the memory that the bytes are for (NULL: host). */
XIR_API xir_value  *xir_params_copy_in(xir_network *net, xir_str name, const xir_type *type, const xir_mtype *mtype,
                                       const void *data, size_t size);
/* xir_params_data if the bytes are aligned to `alignment` (a power of two), otherwise NULL. */
XIR_API const void *xir_params_typed(const xir_value *params, size_t alignment);

/* ---- types ------------------------------------------------------------------------------------------------------- */

/* Arrays of scales m * 2^-exp that stand for `origin`, and of ratios. NULL if memory runs out. */
XIR_API const xir_scales      *xir_exp_scales_from(xir_context *ctx, const int64_t *m, const int64_t *exp,
                                                   const double *origin, size_t n, int64_t axis);
XIR_API const xir_norm_ratios *xir_norm_ratios_from(xir_context *ctx, const double *ratio, size_t n, int64_t axis);

/* One scale as an object, for attributes that have a single one: a plain scale, m * 2^-exp that stands for `origin`,
 * the i-th item of an array (of either class: xir_scale_of and xir_exp_scale_of tell). Reals are rounded to float32.
 * They return NULL if memory runs out, the last one also past the end. */
XIR_API const xir_scale     *xir_scale_from(xir_context *ctx, double scale);
XIR_API const xir_exp_scale *xir_exp_scale_from(xir_context *ctx, int64_t m, int64_t exp, double origin);
XIR_API const xir_object    *xir_scales_item(xir_context *ctx, const xir_scales *scales, size_t i);
/* Returns m * 2^-exp, 0 for NULL. The scale of a plain one is its attribute `origin_scale`. */
XIR_API double               xir_exp_scale_value(const xir_exp_scale *scale);

/* Arrays from arrays: two concatenated (of the same axis and form), one repeated, the items [start, end). */
XIR_API const xir_scales *xir_scales_concat(xir_context *ctx, const xir_scales *a, const xir_scales *b, xir_diags *why);
XIR_API const xir_scales *xir_scales_repeat(xir_context *ctx, const xir_scales *scales, size_t times, xir_diags *why);
XIR_API const xir_scales *xir_scales_slice(xir_context *ctx, const xir_scales *scales, size_t start, size_t end,
                                           xir_diags *why);
XIR_API const xir_norm_ratios *xir_norm_ratios_concat(xir_context *ctx, const xir_norm_ratios *a,
                                                      const xir_norm_ratios *b, xir_diags *why);
XIR_API const xir_norm_ratios *xir_norm_ratios_repeat(xir_context *ctx, const xir_norm_ratios *ratios, size_t times,
                                                      xir_diags *why);
XIR_API const xir_norm_ratios *xir_norm_ratios_slice(xir_context *ctx, const xir_norm_ratios *ratios, size_t start,
                                                     size_t end, xir_diags *why);

/* Quantised types over a storage type, as xir_type_quantized. A NULL `expressed` is @fp(32). */
XIR_API const xir_type *xir_type_calibrated(xir_context *ctx, double min, double max, double sat,
                                            const xir_type *storage, const xir_type *expressed);
XIR_API const xir_type *xir_type_normalized(xir_context *ctx, const xir_norm_ratios *ratios, const xir_type *storage,
                                            const xir_type *expressed);
XIR_API const xir_type *xir_type_normalized_quantized(xir_context *ctx, const xir_type *normalized,
                                                      const xir_scales *scale, const int64_t *zero_points, size_t n);

/* xir_type_with_scale for the other parts of a quantised type. XIR_E_TYPE if the type does not have the part. */
XIR_API const xir_type *xir_type_with_norm_ratios(xir_context *ctx, const xir_type *type, const xir_norm_ratios *ratios,
                                                  xir_diags *why);
XIR_API const xir_type *xir_type_with_zero_points(xir_context *ctx, const xir_type *type, const int64_t *zero, size_t n,
                                                  xir_diags *why);
XIR_API const xir_type *xir_type_with_storage(xir_context *ctx, const xir_type *type, const xir_type *storage,
                                              xir_diags *why);

/* A tensor type with a distribution over dims that do not have one (all valid; createAddMergedDistr), with a range
 * marked in the one over its dims, or without it. They fail with XIR_E_EXISTS and XIR_E_MISSING. */
XIR_API const xir_type *xir_type_add_distr(xir_context *ctx, const xir_type *type, const int64_t *axes, size_t n,
                                           xir_diags *why);
XIR_API const xir_type *xir_type_mark_distr(xir_context *ctx, const xir_type *type, const int64_t *axes, size_t n,
                                            int64_t start, int64_t end, bool valid, xir_diags *why);
XIR_API const xir_type *xir_type_remove_distr(xir_context *ctx, const xir_type *type, const int64_t *axes, size_t n,
                                              xir_diags *why);

/* Sections of a distribution, in order. */
typedef struct xir_section {
    int64_t start, end;   /* [start, end) */
    bool    valid;
} xir_section;
XIR_API size_t xir_distr_all_sections(const xir_distr *distr, xir_section *out, size_t room);
XIR_API size_t xir_distr_valid_sections(const xir_distr *distr, xir_section *out, size_t room);
XIR_API size_t xir_distr_invalid_sections(const xir_distr *distr, xir_section *out, size_t room);
/* Append elements to a builder: `count` equal ones, or by a mask. XIR_E_BOUNDS if `count` is negative, XIR_E_LIMIT
 * beyond 2^63 - 1. */
XIR_API xir_status xir_distr_append(xir_distr_builder *builder, int64_t count, bool valid);
XIR_API xir_status xir_distr_append_mask(xir_distr_builder *builder, const bool *mask, size_t n);
/* Sets whether invalid elements are stored as zero (true, the default) or do not exist. */
XIR_API void       xir_distr_set_zero(xir_distr_builder *builder, bool zero);

/* Checks the rules of xir_network_validate: every lower-case letter has its upper-case one, and no letter but `*`
 * occurs twice. */
XIR_API xir_status xir_layout_check(const xir_layout *layout, xir_diags *why);
/* New layouts from an old one: axes i and j swapped; axis i removed; an axis inserted before i (i = rank appends).
 * `unit` is for lower-case letters, otherwise 0. They return NULL with a finding if an index or axis is invalid. */
XIR_API const xir_layout *xir_layout_swap(xir_context *ctx, const xir_layout *layout, size_t i, size_t j,
                                          xir_diags *why);
XIR_API const xir_layout *xir_layout_erase(xir_context *ctx, const xir_layout *layout, size_t i, xir_diags *why);
XIR_API const xir_layout *xir_layout_insert(xir_context *ctx, const xir_layout *layout, size_t i, char axis,
                                            int64_t unit, xir_diags *why);

/* The storage bits that `bits` bits of one element take in this memory. So far, all memory types give the same. */
XIR_API uint64_t xir_mtype_storage_bits(const xir_mtype *mtype, uint64_t bits);

/* xir_object_make, but the reals of the object stay doubles instead of being rounded to float32. Such an object is for
 * networks of versions before 3.30: a file of a later version holds float32, so that reading it rounds. */
XIR_API const xir_object *xir_object_make_exact(xir_context *ctx, const xir_class_decl *decl, const void *body,
                                                xir_diags *why);
/* Returns the trait of this name, or 0 if nobody has registered it. */
XIR_API xir_trait xir_trait_find(xir_context *ctx, xir_str name);

/* ---- files of one format ----------------------------------------------------------------------------------------- */

/* The structure of a JSON file alone. */
XIR_API xir_network *xir_json_load(xir_context *ctx, const char *path, xir_diags *why);
/* Saves a JSON file and its raw file, which are replaced together (xir_save_finish). A NULL `raw_path` is `X.raw` next
 * to `X.json`. */
XIR_API xir_status   xir_json_raw_save(xir_network *net, const char *json_path, const char *raw_path, unsigned flags,
                                       xir_diags *why);

/* Reads a raw file from memory: xir_raw_load. With XIR_LOAD_LAZY the caller keeps it as long as the Params exist
 * (lazyLoadParams(ptr, size)); otherwise it is copied. */
XIR_API xir_status xir_raw_read(xir_network *net, const void *data, size_t size, unsigned flags, xir_diags *why);
/* Writes all Params. XIR_E_MISSING, naming one, if Params have no bytes. Updates the network's params_bytes and
 * params_md5. */
XIR_API xir_status xir_raw_write(xir_network *net, xir_write_fn *write, void *user, xir_diags *why);
XIR_API xir_status xir_raw_save(xir_network *net, const char *path, xir_diags *why);
/* Finds the raw file that loading uses with a JSON file: X.raw or X.params next to X.json, the first that exists. The
 * same as xir_params_file_find with "json". */
XIR_API xir_status xir_raw_find(const char *json_path, char *out, size_t room, size_t *size, xir_diags *why);

/* CreateFromMSGFile and dumpMSGToFile, CreateFromFlatFile and dumpFlatToFile: xir_network_load and xir_network_save
 * with the format named; flags as for raw and JSON files (XIR_LOAD_…, XIR_SAVE_…). */
XIR_API xir_network *xir_msg_load(xir_context *ctx, const char *path, unsigned flags, xir_diags *why);
XIR_API xir_status   xir_msg_save(xir_network *net, const char *path, unsigned flags, xir_diags *why);
XIR_API xir_network *xir_flat_load(xir_context *ctx, const char *path, unsigned flags, xir_diags *why);
XIR_API xir_status   xir_flat_save(xir_network *net, const char *path, unsigned flags, xir_diags *why);

XIR_END

#endif
