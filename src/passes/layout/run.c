/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* layout: puts a whole network into one order, channels last.
 *
 *     x = input()            NCHW        x = input()            NCHW
 *     a = transpose(x)       NHWC        a = transpose(x)       NHWC
 *     b = conv(a)            NHWC        c = conv(a)            NHWC
 *     c = transpose(b)       NCHW   ->   d = relu(c)            NHWC
 *     d = relu(c)            NCHW        h = conv(d)            NHWC
 *     e = transpose(d)       NHWC        g = transpose(h)       NCHW
 *     f = conv(e)            NHWC        output(g)
 *     g = transpose(f)       NCHW
 *     output(g) */
#include "layout/layout.h"

/* Axes that an op removes, and dims of 1, have no position in its output; their place is not searched for but kept. In
 * the resulting network another order may be possible for them. So the pass plans again as long as it finds something:
 * nearly always one plan is enough. */
enum { MOST_PLANS = 8 };

static xir_status relayout(xir_pass *at, bool open, bool first, bool *again) {
    plan l = { .at = at, .net = at->net, .alloc = &at->net->alloc, .first = first };
    xir_status status = plan_make(&l) ? XIR_OK : XIR_E_MEMORY;
    if (!status) plan_search(&l);
    if (!status && open) plan_open_borders(&l);
    if (!status) status = l.failed ? XIR_E_MEMORY : plan_apply(&l);
    *again = l.again;
    plan_free(&l);
    return status;
}

/* Returns true if some op can work in another order, or asks its neighbours to, and if something asks for one: a
 * Transpose, or the aim. A plan has a node for every op. */
static bool can_change(const xir_network *net, bool asked) {
    bool able = false;
    for (const xir_op *op = net->first; op && !(able && asked); op = op->next) {
        able |= op->cls->more->layout != NULL;
        asked |= op->cls->decl == xir_transpose_class();
    }
    return able && asked;
}

/* Reads an option that has two possible values. */
static xir_status choose(xir_pass *at, const char *option, const char *no, const char *yes, bool *out) {
    xir_str word = xir_pass_text(at, option);
    *out = xir_str_equal(word, xir_str_of(yes));
    if (*out || xir_str_equal(word, xir_str_of(no))) return XIR_OK;
    return xir_pass_fail(at, XIR_E_INVALID, NULL, "option %s: expected %s or %s, found '%.*s'", option, no, yes,
                         (int)word.size, word.data);
}

static xir_status run(xir_pass *at) {
    bool open, first;
    size_t findings = xir_diags_count_of(at->why, XIR_ERROR);
    xir_status status = choose(at, "io", "keep", "nhwc", &open);
    if (!status) status = choose(at, "to", "nhwc", "nchw", &first);
    bool again = !status && can_change(at->net, open || first);
    for (int i = 0; i < MOST_PLANS && again && !status; i++) status = relayout(at, open, first, &again);
    if (status == XIR_E_MEMORY) return xir_pass_fail(at, status, NULL, "out of memory");
    if (!status || xir_diags_count_of(at->why, XIR_ERROR) > findings) return status;
    /* A refused edit leaves its finding in the network. A valid network refuses no edit. */
    return xir_pass_fail(at, status, NULL, "an op can't be changed to another order: %s", xir_status_name(status));
}

static const xir_pass_option options[] = {
    { "io", XIR_PASS_TEXT, "keep", "keep: inputs and outputs of the network keep their order; nhwc: they may become channels last" },
    { "to", XIR_PASS_TEXT, "nhwc", "nhwc: channels last; nchw: convolutions, pools and resizes with channels last get them first" },
};

const xir_pass_decl pass_layout = {
    XIR_PASS_HEAD("layout", "moves, cancels and absorbs transposes around convolutions: channels last for the whole network"),
    .level = XIR_LEVEL_EXACT,
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .run = run,
};
