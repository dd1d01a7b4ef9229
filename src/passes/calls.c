/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* inline and outline: ops in the bodies of calls, and back.
 *
 *     c = Call(x) { a = conv(x), b = relu(a) }    <->    a = conv(x), b = relu(a)
 *
 * `outline` makes calls of what belongs together by a tag or by the first parts of the names, as far as it is convex:
 * xir_groups_new decides. */
#include <limits.h>
#include <xir/ops.h>
#include <xir/region.h>
#include "hash.h"
#include "support/calls.h"
#include "support/upkeep.h"

/* ---- inline ----------------------------------------------------------------------------------------------------- */

static xir_status run_inline(xir_pass *at) {
    size_t n;
    return inline_calls(at, xir_pass_text(at, "name"), &n);
}

static const xir_pass_option inline_options[] = {
    { "name", XIR_PASS_TEXT, "", "of the calls that are inlined; if not given, all" },
};

const xir_pass_decl pass_inline = {
    XIR_PASS_HEAD("inline", "puts the ops in the bodies of calls in the places of the calls"),
    .level = XIR_LEVEL_NEEDED,
    .options = inline_options,
    .n_options = sizeof inline_options / sizeof *inline_options,
    .run = run_inline,
};

/* ---- outline ---------------------------------------------------------------------------------------------------- */

typedef struct sorting {
    bool       by_name;
    int64_t    depth;       /* how many parts of a name          */
    text_table kinds;       /* from the parts to their number     */
    bool       failed;
} sorting;

/* "a/b/" of "a/b/c/conv", for two parts; empty if there are fewer. */
static xir_str scope_of(xir_str name, int64_t depth) {
    for (size_t i = 0; i < name.size; i++) {
        if (name.data[i] == '/' && i && --depth == 0) return (xir_str){ name.data, i };
    }
    return (xir_str){ NULL, 0 };
}

static int kind_of(const xir_op *op, void *user) {
    sorting *s = user;
    const xir_any *tag = xir_map_find(xir_op_tags(op), XIR_STR("xir.group"));
    const bool numbered = tag && tag->kind == XIR_ANY_INT && tag->as.integer >= 0 && tag->as.integer <= INT_MAX;
    if (!s->by_name) return numbered ? (int)tag->as.integer : -1;
    const xir_str scope = scope_of(xir_op_name(op), s->depth);
    if (!scope.size) return -1;
    const uint32_t *number = text_table_add(&s->kinds, scope, (uint32_t)s->kinds.n);
    s->failed |= !number;
    return number ? (int)*number : -1;
}

/* The call of a scope has its name; of a tag, the tag. */
static xir_status outline_group(xir_pass *at, const sorting *s, xir_ops ops) {
    const xir_any *tag = xir_map_find(xir_op_tags(ops.data[0]), XIR_STR("xir.group"));
    const xir_str name = s->by_name ? scope_of(xir_op_name(ops.data[0]), s->depth) : XIR_STR("");
    xir_op *call = xir_outline(at->net, ops.data, ops.size, &XIR_INIT(xir_outline_options, .name = name));
    if (!call) return xir_network_status(at->net);
    xir_pass_changed(at, 1);
    if (s->by_name || !tag) return XIR_OK;
    return xir_op_set_tag(call, XIR_STR("xir.group"), tag) ? pass_no_memory(at) : XIR_OK;
}

static xir_status read_options(xir_pass *at, sorting *s) {
    const xir_str by = xir_pass_text(at, "by");
    s->by_name = xir_str_equal(by, XIR_STR("name"));
    s->depth = xir_pass_int(at, "depth");
    if (!s->by_name && !xir_str_equal(by, XIR_STR("group")))
        return xir_pass_fail(at, XIR_E_INVALID, NULL, "option by: expected group or name, found '%.*s'", CLIP(by));
    if (s->depth >= 1) return XIR_OK;
    return xir_pass_fail(at, XIR_E_INVALID, NULL, "option depth: expected a number from 1 on");
}

static xir_status run_outline(xir_pass *at) {
    sorting s = { 0 };
    const int64_t min = xir_pass_int(at, "min");
    xir_status status = read_options(at, &s);
    if (status) return status;
    text_table_init(&s.kinds, &at->net->alloc);
    xir_groups *groups = xir_groups_new(at->net, kind_of, &s, xir_pass_diags(at));
    if (!groups) status = pass_status_of_latest(at, XIR_E_MEMORY);
    else if (s.failed) status = pass_no_memory(at);
    for (size_t i = 0; i < xir_groups_count(groups) && !status; i++) {
        const xir_ops ops = xir_groups_at(groups, i);
        const bool call = ops.size == 1 && xir_op_is(ops.data[0], xir_call_op_class());
        if (!call && (min < 1 || ops.size >= (uint64_t)min)) status = outline_group(at, &s, ops);
    }
    xir_groups_free(groups);
    text_table_free(&s.kinds);
    return status;
}

static const xir_pass_option outline_options[] = {
    { "by",    XIR_PASS_TEXT, "group", "group: ops with the same tag xir.group; name: with the same first parts of the name" },
    { "depth", XIR_PASS_INT,  "1",     "by=name: how many parts, which end with a slash" },
    { "min",   XIR_PASS_INT,  "1",     "the fewest ops of a call" },
};

const xir_pass_decl pass_outline = {
    XIR_PASS_HEAD("outline", "puts ops that belong together by tag or name in the bodies of calls"),
    .level = XIR_LEVEL_NEEDED,
    .options = outline_options,
    .n_options = sizeof outline_options / sizeof *outline_options,
    .run = run_outline,
};
