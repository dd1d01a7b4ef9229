/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Shorthands. Each fills in the structs of the general calls. */
#include <xir/sugar.h>
#include <xir/icraft.h>
#include "graph.h"

xir_at xir_at_end(xir_network *net) { return (xir_at){ .net = net }; }

xir_at xir_at_line(xir_at at, const char *file, int line) {
    if (at.is_fixed) return at;
    at.file = file;
    at.line = line;
    return at;
}

xir_at xir_at_fixed(xir_at at, const char *file, int line) {
    at = xir_at_line(at, file, line);
    at.is_fixed = true;
    return at;
}

xir_at xir_at_scope(xir_at at, const char *scope) {
    xir_str inner = xir_str_of(scope);
    if (!at.net || !inner.size) return at;
    char *text = arena_take(&at.net->arena, at.scope.size + inner.size);
    if (!text) {
        net_no_memory(at.net);
        return at;
    }
    if (at.scope.size) memcpy(text, at.scope.data, at.scope.size);
    memcpy(text + at.scope.size, inner.data, inner.size);
    at.scope = (xir_str){ text, at.scope.size + inner.size };
    return at;
}

/* ---- inputs and outputs ---------------------------------------------------------------------------------------- */

/* Returns true if all types are given, which inference does not check; `at` then has them. */
static bool take_types(xir_at *at, const xir_type *const *types, size_t n) {
    static const xir_type *const none[] = { NULL };
    if (!at->net) return false;
    size_t before = xir_diags_count(at->net->diags);
    for (size_t i = 0; i < n; i++) {
        if (types[i]) continue;
        char reason[sizeof ((type_refusal *)0)->words] = "NULL was given";
        context_take_refusal(at->net->ctx, reason);
        net_fail(at->net, XIR_E_MISSING, "argument %zu of the network has no type: %s", i, reason);
        if (at->file) diags_add_place(at->net->diags, before, at->file, at->line);
        return false;
    }
    at->types = n ? types : none;
    at->n_types = n;
    return true;
}

xir_op *xir_inputs(xir_at at, const char *op_name, const xir_type *const *types, size_t n) {
    if (!take_types(&at, types, n)) return NULL;
    if (op_name) at.name = xir_str_of(op_name);
    return xir_add_input(at, (xir_input_in){ 0 }, NULL);
}

xir_value *xir_input(xir_at at, const char *op_name, const xir_type *type) {
    return take_types(&at, &type, 1) ? xir_make_input(at, &(xir_input_call){ .name = op_name }) : NULL;
}

xir_op *xir_output(xir_at at, xir_values values) {
    return xir_add_output(at, (xir_output_in){ .values = values }, NULL);
}

xir_value *xir_build_params(xir_at at, const char *value_name, const xir_type *type) {
    if (!at.net) return NULL;
    xir_str name = xir_str_of(value_name);
    if (net_scoped_name(at, &name)) return xir_params_new(at.net, name, type);
    net_no_memory(at.net);
    return NULL;
}

/* ---- one number for both axes ---------------------------------------------------------------------------------- */

/* A member that the caller left out is zero. */
static int64_t or_default(int64_t given, int64_t preset) { return given ? given : preset; }

xir_conv2d_attrs xir_conv2d_attrs_square(int64_t stride, int64_t pad, int64_t dilation, int64_t groups) {
    xir_conv2d_attrs a = xir_conv2d_init();
    a.stride_width = a.stride_height = or_default(stride, a.stride_width);
    a.pad_top = a.pad_bottom = a.pad_left = a.pad_right = pad;
    a.dilation_width = a.dilation_height = or_default(dilation, a.dilation_width);
    a.groups = or_default(groups, a.groups);
    return a;
}

xir_max_pool2d_attrs xir_max_pool2d_attrs_square(int64_t k, int64_t stride, int64_t pad, int64_t dilation) {
    xir_max_pool2d_attrs a = xir_max_pool2d_init();
    a.pool_width = a.pool_height = k;
    a.stride_width = a.stride_height = or_default(stride, a.stride_width);
    a.pad_top = a.pad_bottom = a.pad_left = a.pad_right = pad;
    a.dilation_width = a.dilation_height = or_default(dilation, a.dilation_width);
    return a;
}

xir_value *xir_build_conv2d(xir_at at, const xir_conv2d_args *args) {
    const xir_conv2d_attrs attrs = xir_conv2d_attrs_square(args->stride, args->pad, args->dilation, args->groups);
    return xir_make_conv2d(at, &(xir_conv2d_call){ .input = args->input, .weights = args->weights, .bias = args->bias,
                                                   .attrs = &attrs, .name = args->name });
}

xir_value *xir_build_max_pool2d(xir_at at, const xir_pool2d_args *args) {
    const xir_max_pool2d_attrs attrs = xir_max_pool2d_attrs_square(args->k, args->stride, args->pad, args->dilation);
    return xir_make_max_pool2d(at, &(xir_max_pool2d_call){ .input = args->input, .attrs = &attrs, .name = args->name });
}

xir_value *xir_build_avg_pool2d(xir_at at, const xir_pool2d_args *args) {
    xir_avg_pool2d_attrs a = xir_avg_pool2d_init();
    a.pool_width = a.pool_height = args->k;
    a.stride_width = a.stride_height = or_default(args->stride, a.stride_width);
    a.pad_top = a.pad_bottom = a.pad_left = a.pad_right = args->pad;
    return xir_make_avg_pool2d(at, &(xir_avg_pool2d_call){ .input = args->input, .attrs = &a, .name = args->name });
}

/* ---- element by element ------------------------------------------------------------------------------------------ */

xir_value *xir_build_relu(xir_at at, xir_value *input, const char *op_name) {
    return xir_make_relu(at, &(xir_relu_call){ .input = input, .name = op_name });
}

xir_value *xir_build_add(xir_at at, xir_value *lhs, xir_value *rhs, double alpha, double beta, const char *op_name) {
    if (!at.net) return NULL;
    xir_context *ctx = at.net->ctx;
    const xir_object *factor_of_lhs = (const xir_object *)xir_scalar_real(ctx, alpha);
    const xir_object *factor_of_rhs = (const xir_object *)xir_scalar_real(ctx, beta);
    if (!factor_of_lhs || !factor_of_rhs) {
        net_no_memory(at.net);
        return NULL;
    }
    xir_add_attrs attrs = xir_add_init();
    attrs.alpha = (xir_refs){ &factor_of_lhs, 1 };
    attrs.beta = (xir_refs){ &factor_of_rhs, 1 };
    return xir_make_add(at, &(xir_add_call){ .lhs = lhs, .rhs = rhs, .attrs = &attrs, .name = op_name });
}

xir_value *xir_build_cast(xir_at at, xir_value *input, const xir_type *target, const char *op_name) {
    xir_cast_attrs attrs = xir_cast_init();
    attrs.target_dtype = xir_type_as_tensor(target);   // NULL, which is refused, for any other type
    return xir_make_cast(at, &(xir_cast_call){ .input = input, .attrs = &attrs, .name = op_name });
}

static xir_value *no_value(xir_at at, size_t before) {
    if (at.file) diags_add_place(at.net->diags, before, at.file, at.line);
    return NULL;
}

xir_value *xir_build_pow(xir_at at, xir_value *input, double exponent, const char *op_name) {
    if (!at.net) return NULL;
    xir_pow_call call = { .input = input, .name = op_name };
    size_t before = xir_diags_count(at.net->diags);
    const xir_type *element = input ? xir_type_element(input->type) : NULL;
    const xir_float_type *real = xir_float_type_of((const xir_object *)element);
    const float narrow = (float)exponent;
    if (input && !xir_type_is_quantized(element) &&
        (!real || (real->format != XIR_FLOAT_FP32 && real->format != XIR_FLOAT_FP64))) {
        net_fail(at.net, XIR_E_UNSUPPORTED, "the exponent is a plain number, and its type does not follow: expected "
                 "elements that are fp32, fp64 or quantised");
        return no_value(at, before);
    }
    if (input) {
        bool wide = real && real->format == XIR_FLOAT_FP64;
        const xir_type *type = XIR_TENSOR(at.net->ctx,
                                          xir_type_float(at.net->ctx, wide ? XIR_FLOAT_FP64 : XIR_FLOAT_FP32), "O", 1);
        const void *bytes = wide ? (const void *)&exponent : &narrow;
        call.exponent = xir_params_copy(at.net, XIR_STR(""), type, bytes, wide ? sizeof exponent : sizeof narrow);
        if (!call.exponent) return no_value(at, before);
    }
    return xir_make_pow(at, &call);
}

/* ---- axes ------------------------------------------------------------------------------------------------------- */

xir_value *xir_build_reshape(xir_at at, xir_value *input, const char *layout, const int64_t *dims, size_t rank,
                             const char *op_name) {
    if (!at.net) return NULL;
    size_t before = xir_diags_count(at.net->diags);
    xir_reshape_attrs a = xir_reshape_init();
    a.layout = xir_layout_parse(at.net->ctx, xir_str_of(layout), at.net->diags);
    if (!a.layout) {
        const xir_diag *said = xir_diags_at(at.net->diags, before);
        if (!at.net->status) at.net->status = said ? said->code : XIR_E_MEMORY;
        return no_value(at, before);
    }
    a.shape = (xir_i64s){ dims, rank };
    return xir_make_reshape(at, &(xir_reshape_call){ .input = input, .attrs = &a, .name = op_name });
}

xir_value *xir_build_transpose(xir_at at, xir_value *input, const int64_t *dims, size_t rank, const char *op_name) {
    if (!at.net) return NULL;
    const xir_layout *from = input ? xir_type_layout(input->type) : NULL;
    xir_layout_steps steps = xir_layout_start();
    for (size_t i = 0; i < rank; i++) {
        int64_t k = dims[i] < 0 ? dims[i] + (int64_t)rank : dims[i];
        char axis = k >= 0 && (uint64_t)k < rank ? xir_layout_axis(from, (size_t)k) : '\0';
        int64_t unit = axis ? xir_layout_unit(from, (size_t)k) : 0;
        xir_layout_put(&steps, axis ? axis : '*', unit ? unit : 1);   // errors are reported below
    }
    xir_transpose_attrs a = xir_transpose_init();
    a.dims = (xir_i64s){ dims, rank };
    a.layout = xir_layout_finish(at.net->ctx, &steps, NULL);
    /* NULL, which is refused, if letters cannot be in this order. */
    return xir_make_transpose(at, &(xir_transpose_call){ .input = input, .attrs = &a, .name = op_name });
}

/* ---- tags ------------------------------------------------------------------------------------------------------- */

static const xir_any *tag_of(const xir_map *tags, const char *key, xir_any_kind kind) {
    const xir_any *tag = xir_map_find(tags, xir_str_of(key));
    return tag && tag->kind == kind ? tag : NULL;
}

bool xir_tag_int(const xir_map *tags, const char *key, int64_t *out) {
    const xir_any *tag = tag_of(tags, key, XIR_ANY_INT);
    if (tag) *out = tag->as.integer;
    return tag;
}

bool xir_tag_real(const xir_map *tags, const char *key, double *out) {
    const xir_any *tag = tag_of(tags, key, XIR_ANY_REAL);
    if (tag) *out = tag->as.real;
    return tag;
}

bool xir_tag_bool(const xir_map *tags, const char *key, bool *out) {
    const xir_any *tag = tag_of(tags, key, XIR_ANY_BOOL);
    if (tag) *out = tag->as.boolean;
    return tag;
}

bool xir_tag_text(const xir_map *tags, const char *key, xir_str *out) {
    const xir_any *tag = tag_of(tags, key, XIR_ANY_TEXT);
    if (tag) *out = tag->as.text;
    return tag;
}
