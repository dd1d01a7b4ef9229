/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Pictures of any network that can be read as JSON, in every format and with all kinds of groups, alone and next to a
 * copy that has lost an op: they are drawn, twice with the same bytes, and SVG has no byte that XML does not have and
 * no script of the file. */
#include <string.h>
#include <xir/xir.h>
#include "fuzz.h"

/* The bytes that were written: a sum over them, and the last eight of them to find words. */
typedef struct seen {
    uint64_t sum, last;
    bool     svg;
} seen;

static bool look(void *user, const void *data, size_t size) {
    seen *s = user;
    const unsigned char *c = data;
    for (size_t i = 0; i < size; i++) {
        s->sum = (s->sum ^ c[i]) * UINT64_C(0x100000001B3);
        s->last = s->last << 8 | c[i];
        must(c[i] >= 0x20 || c[i] == '\n');
        must(!s->svg || (s->last & 0xFFFFFFFFFFFFFF) != UINT64_C(0x3C736372697074));   /* <script */
    }
    return true;
}

static uint64_t draw(const xir_network *net, xir_draw_format format, const xir_draw_options *how, xir_diags *why) {
    seen s = { .svg = format == XIR_DRAW_SVG };
    must(xir_draw(net, format, how, look, &s, why) == XIR_OK);
    return s.sum;
}

static void draw_all(const xir_network *net, xir_diags *why) {
    const xir_op *middle = xir_network_op_at(net, (int64_t)xir_network_op_count(net) / 2);
    for (int group = XIR_DRAW_BOTH; group <= XIR_DRAW_NONE; group++) {
        const xir_draw_options how = XIR_INIT(xir_draw_options, .group = (xir_draw_group)group, .tag = XIR_STR("k"),
                                              .depth = (uint32_t)group % 3, .left_to_right = group % 2);
        const xir_draw_options part = XIR_INIT(xir_draw_options, .group = (xir_draw_group)group, .tag = XIR_STR("k"),
                                               .select = middle, .hops = 1);
        draw(net, XIR_DRAW_DOT, &how, why);
        must(draw(net, XIR_DRAW_SVG, &how, why) == draw(net, XIR_DRAW_SVG, &how, why));
        draw(net, XIR_DRAW_SVG, &part, why);
    }
    draw(net, XIR_DRAW_HTML, NULL, why);
}

/* A copy without its last op that nothing uses, and with two others exchanged. */
static xir_network *changed(const xir_network *net) {
    xir_network *copy = xir_network_clone(net);
    must(copy != NULL);
    for (int64_t i = (int64_t)xir_network_op_count(copy); i-- > 0;)
        if (!xir_op_erase(xir_network_op_at(copy, i))) break;
    const int64_t n = (int64_t)xir_network_op_count(copy);
    if (n > 2) must(xir_op_move(xir_network_op_at(copy, n / 2), xir_network_op_at(copy, 0)) == XIR_OK);
    xir_network_clear_status(copy);
    return copy;
}

static void draw_both(const xir_network *a, const xir_network *b, xir_diags *why) {
    xir_diff *diff = xir_diff_new(a, b, NULL, why);
    must(diff != NULL);
    const xir_draw_options how = XIR_INIT(xir_draw_options, .diff = diff);
    draw(a, XIR_DRAW_DOT, &how, why);
    must(draw(a, XIR_DRAW_SVG, &how, why) == draw(a, XIR_DRAW_SVG, &how, why));
    draw(a, XIR_DRAW_HTML, &how, why);
    xir_diff_free(diff);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static xir_context *ctx;
    if (!ctx) ctx = xir_context_new(NULL);
    must(ctx != NULL);
    xir_diags *why = xir_diags_new(ctx);
    xir_network *net = xir_network_read(ctx, data, size, XIR_STR("fuzz"),
                                        &XIR_INIT(xir_load_options, .format = "json", .no_params = true), why);
    if (net) {
        xir_network *copy = changed(net);
        draw_all(net, why);
        draw_both(net, copy, why);
        draw_both(copy, net, why);
        xir_network_free(copy);
    }
    xir_network_free(net);
    xir_diags_free(why);
    return 0;
}
