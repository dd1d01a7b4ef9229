/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The way back of a whole network: which functions it may make, and the options. back_types.c has the types of the
 * file. */
#include <inttypes.h>
#include <xir/nnb.h>
#include "nnb/nnb.h"
#include "walk/walk.h"
#include "manager/pass.h"

bool    nnb_for_runtime(const xir_node *at) { return xir_node_pass(at) && xir_pass_bool(xir_node_pass(at), "runtime"); }
int64_t nnb_level(const xir_node *at) { return nnb_api_level(xir_node_network(at), (xir_str){ NULL, 0 }); }

/* ---- one function ----------------------------------------------------------------------------------------------- */

/* Functions that do the same with whole numbers, as floats, as with integers. */
static bool takes_integers(xir_str name) {
    static const char *const names[] = {
        "Reshape", "Transpose", "Concatenate", "Stack", "Split", "Slice", "Flip", "Pad", "Broadcast", "Tile",
        "Identity", "Embed", "GatherNd", "ScatterNd", "Sort", "Max", "Min", "Equal", "NotEqual", "Greater",
        "GreaterEqual", "Less", "LessEqual", "Where", "Minimum2", "Maximum2", "MinimumScalar", "MaximumScalar",
        "Sign", "ReLU",
    };
    for (size_t i = 0; i < COUNT(names); i++) if (xir_str_equal(name, xir_str_of(names[i]))) return true;
    return false;
}

static bool is_said(xir_node *at, xir_str name, const xir_value *v) {
    if (!v || !xir_type_as_tensor(xir_value_type(v))) return true;
    const xir_type *element = v_element(v);
    for (size_t i = 0; i < v_rank(v); i++)
        if (v_dim(v, i) > INT32_MAX) return xir_node_unsupported(at, "a dim that does not fit into 32 bits");
    const xir_type_kind kind = xir_type_kind_of(element);
    const xir_type *real = xir_type_float(xir_node_context(at), XIR_FLOAT_FP32);
    if (!real) return node_no_memory(at);
    if (kind == XIR_TYPE_BOOL || xir_type_equal(element, real)) return true;
    if (kind == XIR_TYPE_INTEGER && takes_integers(name)) return true;
    if (nnb_fraction_of(element) >= 0 && xir_str_equal(name, XIR_STR("Identity"))) return true;   /* a Cast */
    return xir_node_unsupported(at, kind == XIR_TYPE_INTEGER ? "arithmetic of integers"
                                                             : "elements that NNabla does not have");
}

bool nnb_back_check(xir_node *at) {
    if (!at->c->back.to) return true;
    const xir_str key = xir_class_key(xir_op_class(at->op)), name = { key.data + 5, key.size - 5 };
    const bool runtime = nnb_for_runtime(at);
    const int64_t level = nnb_level(at);
    int64_t first = INT64_MAX;
    bool computed = false;
    const xir_nnb_function *f;
    for (size_t i = 0; (f = xir_nnb_function_at(i)); i++) {
        if (!xir_str_equal(name, xir_str_of(f->name)) || !f->api_level) continue;
        first = f->api_level < first ? f->api_level : first;
        computed |= f->runtime;
    }
    if (first == INT64_MAX)
        return xir_node_unsupported(at, "no exporter of NNabla writes %.*s", (int)name.size, name.data);
    if (first > level)
        return xir_node_unsupported(at, "%.*s needs api level %lld, %lld is wanted", (int)name.size, name.data,
                                    (long long)first, (long long)level);
    if (runtime && !computed)
        return xir_node_unsupported(at, "NNabla's C runtime does not compute %.*s", (int)name.size, name.data);
    for (size_t i = 0; i < xir_op_input_count(at->op); i++)
        if (!is_said(at, name, xir_op_input(at->op, (int64_t)i))) return false;
    for (size_t i = 0; i < xir_op_output_count(at->op); i++)
        if (!is_said(at, name, xir_op_output(at->op, (int64_t)i))) return false;
    return node_ints_are_short(at);
}

/* ---- before: options and tags ----------------------------------------------------------------------------------- */

static xir_status set_tag(xir_pass *pass, const char *key, int64_t v) {
    const xir_any any = xir_any_int(v);
    const xir_status status = xir_network_set_tag(xir_pass_network(pass), xir_str_of(key), v ? &any : NULL);
    return status ? xir_pass_fail(pass, status, NULL, "out of memory") : XIR_OK;
}

/* The tags of a file that the network came from are about that file; its version remains, unless another is wanted. */
xir_status nnb_begin_back(xir_pass *pass) {
    const int64_t version = xir_pass_int(pass, "version"), api = xir_pass_int(pass, "api");
    const xir_str word = xir_pass_text(pass, "weights");
    if (nnb_weights(pass) == NNB_WEIGHTS)
        return xir_pass_fail(pass, XIR_E_INVALID, NULL, "weights: expected FLOAT32, FIXED16, FIXED8 or SIGN, found "
                             "'%.*s'", CLIP_TO(word, 40));
    if (version != 0 && version != 2 && version != 3)
        return xir_pass_fail(pass, XIR_E_INVALID, NULL, "version: expected 2 or 3, found %" PRId64, version);
    if (api < 0 || api > 45)
        return xir_pass_fail(pass, XIR_E_INVALID, NULL, "api: expected 1 to 45, found %" PRId64, api);
    const bool foreign = convert_has_ops_of_xir(xir_pass_network(pass));
    const bool sets = foreign || version || api;
    bool changed = false;
    xir_status status = foreign ? convert_need_static(pass, "every dim in NNB is a number") : XIR_OK;
    if (status) return status;
    status = nnb_ops_to_reals(xir_pass_network(pass), &changed);
    if (status) return xir_pass_fail(pass, status, NULL, "out of memory");
    if (sets || changed) xir_pass_changed(pass, 1);
    status = sets ? set_tag(pass, "nnb.file", 0) : XIR_OK;
    if (!status && version) status = set_tag(pass, "nnb.version", version);
    return status || !sets ? status : set_tag(pass, "nnb.api_level", api);
}
