/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The pass xir-to-onnx: a network of XIR's ops becomes one of ONNX's operators. The network's tags say the version of
 * the operator set, on which rows and hooks depend. At the end every operator, value and constant has a name. */
#include <stdio.h>
#include <string.h>
#include "onnx/back.h"
#include "onnx/onnx.h"
#include "manager/pass.h"

/* ---- the version ------------------------------------------------------------------------------------------------ */

static bool is_onnx(const xir_op *op) {
    const xir_str key = xir_class_key(xir_op_class(op));
    return key.size > 6 && memcmp(key.data, "onnx::", 6) == 0;
}

static bool has_operators(const xir_network *net) {
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) if (is_onnx(op)) return true;
    return false;
}

/* The version of the file that the network comes from; 0: of no file of ONNX. */
static int64_t version_of_source(const xir_network *net) {
    const xir_map *tags = xir_network_tags(net);
    return tags && xir_map_find(tags, XIR_STR("onnx.opset")) ? onnx_version(net, (xir_str){ NULL, 0 }) : 0;
}

/* The version must suit the ops in bodies of calls, too. */
static bool note_needs(void *user, xir_op *op) {
    int64_t *version = user;
    const int64_t needs = onnx_needs(op);
    if (needs > *version) *version = needs;
    return !xir_op_is(op, xir_call_op_class()) || op_each_child(op, note_needs, user);
}

/* Unless the option says it: the version of the source, as far as the way back knows it, or the usual one, or a newer
 * one that first has operators for all ops. */
static int64_t version_for(xir_pass *pass, int64_t most) {
    const xir_network *net = xir_pass_network(pass);
    const int64_t wanted = xir_pass_int(pass, "opset"), source = version_of_source(net);
    int64_t version = source ? source : ONNX_USUAL_BACK;
    if (wanted) return wanted;
    if (version < ONNX_OLDEST_BACK) version = ONNX_OLDEST_BACK;
    if (version > most) version = most;
    for (xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) (void)note_needs(&version, op);
    return version;
}

/* The version of the format that came with a version of the operator set. */
static int64_t format_of(int64_t version) {
    return version >= 24 ? 12 : version >= 23 ? 11 : version >= 21 ? 10 : version >= 19 ? 9 : version >= 15 ? 8
           : version >= 12 ? 7 : 6;
}

/* Tags about nodes of a file that the network came from. */
static const char *const of_file[] = { "onnx.functions", "onnx.training_info", "onnx.configuration",
                                       "onnx.unused_initializers", "onnx.graph_metadata" };

static xir_status set_tag(xir_pass *pass, const char *key, const xir_any *value) {
    xir_network *net = xir_pass_network(pass);
    const xir_any *old = xir_map_find(xir_network_tags(net), xir_str_of(key));
    if (old ? value && xir_any_equal(old, value) : !value) return XIR_OK;
    xir_pass_changed(pass, 1);
    return xir_network_set_tag(net, xir_str_of(key), value);
}

static xir_status set_version(xir_pass *pass, int64_t version) {
    xir_network *net = xir_pass_network(pass);
    const xir_map old = onnx_operator_sets(net);
    const xir_allocator *alloc = context_alloc(xir_network_context(net));
    const bool keeps = has_operators(net);
    xir_entry *entries = mem_new(alloc, (old.size + 1) * sizeof *entries);
    size_t count = 1;
    if (!entries) return xir_pass_fail(pass, XIR_E_MEMORY, NULL, "out of memory");
    entries[0] = (xir_entry){ .key = XIR_STR(""), .value = xir_any_int(version) };
    for (size_t i = 0; keeps && i < old.size; i++) {
        const xir_entry *e = &old.entries[i];
        if (e->key.size && !xir_str_equal(e->key, XIR_STR("ai.onnx"))) entries[count++] = *e;
    }
    const xir_any any = xir_any_map(entries, count), format = xir_any_int(format_of(version));
    xir_status status = set_tag(pass, "onnx.opset", &any);
    if (!keeps && !status) status = set_tag(pass, "onnx.ir_version", &format);
    for (size_t i = 0; i < COUNT(of_file) && !keeps && !status; i++) status = set_tag(pass, of_file[i], NULL);
    mem_free(alloc, entries, (old.size + 1) * sizeof *entries);
    return status ? xir_pass_fail(pass, status, NULL, "out of memory") : XIR_OK;
}

xir_status onnx_begin_back(xir_pass *pass) {
    xir_network *net = xir_pass_network(pass);
    const bool kept = has_operators(net);
    const int64_t most = kept ? ONNX_NEWEST : ONNX_NEWEST_BACK;   /* later versions have the same forms */
    const int64_t version = version_for(pass, most), had = kept ? onnx_version(net, (xir_str){ NULL, 0 }) : version;
    if (version < ONNX_OLDEST_BACK || version > most) {
        return xir_pass_fail(pass, XIR_E_BOUNDS, NULL, "opset: expected %d to %lld, found %lld", ONNX_OLDEST_BACK,
                             (long long)most, (long long)version);
    }
    for (const xir_op *op = had == version ? NULL : xir_network_first(net); op; op = xir_op_next(op)) {
        if (!is_onnx(op) || onnx_means_the_same(op, had, version)) continue;
        const xir_str key = xir_class_key(xir_op_class(op));
        return xir_pass_fail(pass, XIR_E_INVALID, op, "opset: a %.*s of version %lld means something else in version "
                             "%lld, or nothing", CLIP_TO(((xir_str){ key.data + 6, key.size - 6 }), 60),
                             (long long)had, (long long)version);
    }
    return set_version(pass, version);
}
