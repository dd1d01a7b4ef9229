/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include "tags.h"
#include <stdio.h>

static const char *const names[SEGMENTS] = { "params", "input", "output", "ftmp" };

typedef struct tag_key { char text[64]; } tag_key;

static tag_key key_of(const char *name, const char *what) {
    tag_key key;
    snprintf(key.text, sizeof key.text, "%s_segment_%s", name, what);
    return key;
}

/* ---- what a compiler has placed ---------------------------------------------------------------------------------- */

static bool find_tag(const xir_network *net, const char *name, const char *what, uint64_t *value) {
    const tag_key key = key_of(name, what);
    const xir_any *tag = xir_map_find(xir_network_tags(net), xir_str_of(key.text));
    if (!tag || tag->kind != XIR_ANY_INT || tag->as.integer < 0) return false;
    *value = (uint64_t)tag->as.integer;
    return true;
}

/* The bytes that the tags of a segment name; none if a tag is missing or they end beyond 2^63 - 1. */
static range find_range(const xir_network *net, const char *name) {
    uint64_t from, bytes;
    if (!find_tag(net, name, "addr", &from) || !find_tag(net, name, "bytesize", &bytes)) return (range){ 0, 0 };
    return bytes > INT64_MAX - from ? (range){ 0, 0 } : (range){ from, from + bytes };
}

range tags_instructions(const xir_network *net) { return find_range(net, "instr"); }

range tags_foreign_params(const xir_network *net) {
    range its = find_range(net, names[SEGMENT_PARAMS]);
    for (const xir_op *op = net->first; op; op = op->next) {
        for (uint32_t i = 0; i < op->n_inputs; i++) {
            const xir_value *v = op_inputs(op)[i].value;
            if (!v || !value_is_params(v) || xir_mtype_kind_of(xir_value_mtype(v)) != XIR_MTYPE_EXTERNAL) continue;
            const uint64_t at = xir_mtype_addr(xir_value_mtype(v));
            if (at >= its.from && at < its.to) its.to = at;
        }
    }
    return its.to > its.from ? its : (range){ 0, 0 };
}

/* ---- setting ----------------------------------------------------------------------------------------------------- */

/* Sets a tag, or removes it; a tag that changes is a change of the network. */
static xir_status set_tag(xir_pass *at, segment s, const char *what, const uint64_t *value) {
    const tag_key key = key_of(names[s], what);
    const xir_any *old = xir_map_find(xir_network_tags(at->net), xir_str_of(key.text));
    const xir_any now = xir_any_int(value ? (int64_t)*value : 0);
    if (value ? old && xir_any_equal(old, &now) : !old) return XIR_OK;
    xir_pass_changed(at, 1);
    return xir_network_set_tag(at->net, xir_str_of(key.text), value ? &now : NULL) ? pass_no_memory(at) : XIR_OK;
}

xir_status tags_set(xir_pass *at, segment s, const range *its) {
    const uint64_t bytes = its ? its->to - its->from : 0;
    xir_status status = set_tag(at, s, "addr", its ? &its->from : NULL);
    return status ? status : set_tag(at, s, "bytesize", its ? &bytes : NULL);
}

xir_status tags_clear(xir_pass *at) {
    const range theirs = tags_foreign_params(at->net);
    xir_status status = tags_set(at, SEGMENT_PARAMS, theirs.to > theirs.from ? &theirs : NULL);
    for (segment s = SEGMENT_INPUT; s < SEGMENTS && !status; s++) status = tags_set(at, s, NULL);
    return status;
}
