/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Checks a layout as a part of a network, and makes new layouts from one: each has the text of the old one with a part
 * moved, left out or added. */
#include <xir/icraft.h>
#include "forms.h"
#include "types.h"

typedef struct diags_sink { const xir_layout *layout; xir_diags *why; } diags_sink;

static void to_diags(void *user, const char *where, const char *sentence) {
    const diags_sink *d = user;
    (void)where;
    refuse(d->why, XIR_E_INVALID, "", "layout '%.*s': %s", CLIP_TO(d->layout->axes, 80), sentence);
}

xir_status xir_layout_check(const xir_layout *layout, xir_diags *why) {
    if (!layout) return diag_fail(why, XIR_E_MISSING, XIR_STR(""), "expected a layout, found none");
    diags_sink user = { layout, why };
    fault_sink sink = { to_diags, &user, 0 };
    layout_faults(layout, &sink);
    return sink.count ? XIR_E_INVALID : XIR_OK;
}

/* ---- new layouts from one ---------------------------------------------------------------------------------- */

/* Makes the layout spelled by a buffer, and frees the buffer. */
static const xir_layout *finish(xir_context *ctx, buffer *text, xir_diags *why) {
    xir_str axes = { text->data, text->size };
    const xir_layout *layout = text->failed ? out_of_memory(why) : xir_layout_parse(ctx, axes, why);
    buffer_free(text);
    return layout;
}

static const void *out_of_rank(const xir_layout *layout, size_t i, xir_diags *why) {
    return refuse(why, XIR_E_BOUNDS, "", "expected an axis below %zu, found %zu", xir_layout_rank(layout), i);
}

const xir_layout *xir_layout_swap(xir_context *ctx, const xir_layout *layout, size_t i, size_t j,
                                  xir_diags *why) {
    layout_axis a, b;
    if (!layout_find(layout, i, &a)) return out_of_rank(layout, i, why);
    if (!layout_find(layout, j, &b)) return out_of_rank(layout, j, why);
    if (a.start > b.start) {
        layout_axis c = a;
        a = b;
        b = c;
    }
    const char *from = layout->axes.data;
    size_t between = a.start == b.start ? 0 : b.start - (a.start + a.size), rest = b.start + b.size;
    buffer text;
    buffer_init(&text, context_alloc(ctx));
    buffer_put(&text, from, a.start);
    if (a.start != b.start) buffer_put(&text, from + b.start, b.size);
    buffer_put(&text, from + a.start + a.size, between);
    buffer_put(&text, from + a.start, a.size);
    buffer_put(&text, from + rest, layout->axes.size - rest);
    return finish(ctx, &text, why);
}

const xir_layout *xir_layout_erase(xir_context *ctx, const xir_layout *layout, size_t i, xir_diags *why) {
    layout_axis a;
    if (!layout_find(layout, i, &a)) return out_of_rank(layout, i, why);
    buffer text;
    buffer_init(&text, context_alloc(ctx));
    buffer_put(&text, layout->axes.data, a.start);
    buffer_put(&text, layout->axes.data + a.start + a.size, layout->axes.size - a.start - a.size);
    return finish(ctx, &text, why);
}

const xir_layout *xir_layout_insert(xir_context *ctx, const xir_layout *layout, size_t i, char letter,
                                    int64_t unit, xir_diags *why) {
    size_t rank = xir_layout_rank(layout);
    layout_axis a;
    if (!layout || (!layout_find(layout, i, &a) && i != rank)) {
        return refuse(why, XIR_E_BOUNDS, "", "expected a position up to %zu, found %zu", rank, i);
    }
    if (!layout_is_upper(letter) && !layout_is_lower(letter)) {
        char found[FORM_FOUND];
        form_found(found, (unsigned char)letter);
        return refuse(why, XIR_E_INVALID, "", "expected " AXIS_LETTER ", found %s", found);
    }
    if (layout_is_lower(letter) ? unit < 1 : unit != 0) {
        return refuse(why, XIR_E_BOUNDS, "", "expected %s for the axis %c, found %lld",
                      layout_is_lower(letter) ? "a unit of at least 1" : "the unit 0", letter, (long long)unit);
    }
    buffer text;
    buffer_init(&text, context_alloc(ctx));
    buffer_put(&text, layout->axes.data, a.start);
    buffer_char(&text, letter);
    if (unit) form_put_i64(&text, unit);
    if (i < rank) buffer_put(&text, layout->axes.data + a.start, layout->axes.size - a.start);
    return finish(ctx, &text, why);
}
