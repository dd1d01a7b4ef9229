/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Makes a picture, step by step. */
#include <string.h>
#include "make.h"

static bool find_groups(picture *p) {
    draw_spans spans = { .alloc = p->alloc };
    draw_span_add(&spans, (draw_span){ .end = (uint32_t)p->n_nodes, .reason = DRAW_OF_NETWORK });
    draw_find_calls(p, &spans);
    const xir_draw_group by = p->how.group;
    if (by == XIR_DRAW_BOTH || by == XIR_DRAW_SCOPE) draw_find_scopes(p, &spans);
    if (by == XIR_DRAW_BOTH || by == XIR_DRAW_REPEAT) draw_find_repeats(p, &spans);
    if (by == XIR_DRAW_TAG) draw_find_tags(p, &spans);
    const bool ok = draw_make_groups(p, &spans);
    draw_free(p->alloc, spans.items);
    return ok;
}

static bool make_interiors(picture *p) {
    draw_interiors in = { 0 };
    const bool ok = draw_lift(p, &in) && draw_order(p, &in);
    draw_interiors_free(p, &in);
    return ok;
}

xir_status picture_make(picture *p, const xir_network *net, const xir_draw_options *how, xir_diags *why) {
    *p = (picture){ .net = net, .alloc = xir_context_allocator(xir_network_context(net)), .how = *how };
    xir_status status = draw_find_nodes(p, why);
    if (!status && !(find_groups(p) && draw_size_boxes(p) && make_interiors(p))) status = no_memory(why);
    if (status) picture_free(p);
    return status;
}

void picture_free(picture *p) {
    draw_free(p->alloc, p->nodes);
    draw_free(p->alloc, p->edges);
    draw_free(p->alloc, p->groups);
    draw_free(p->alloc, p->vertices);
    draw_free(p->alloc, p->segments);
    draw_free(p->alloc, p->ranks);
    draw_free(p->alloc, p->folded);
    draw_free(p->alloc, (void *)p->was);
    draw_free(p->alloc, p->lost);
    draw_free(p->alloc, p->changes);
    draw_free(p->alloc, p->records);
    draw_free(p->alloc, p->differing);
    *p = (picture){ .alloc = p->alloc };
}
