/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A picture of a plan: a rectangle for each buffer, from the first op of its life to the last, and from its address to
 * its end; within it, thin ones for values that are parts of it. A line is at the op at which the most bytes live. What
 * is on the chip is below the other memory. */
#include <inttypes.h>
#include "plan.h"

enum { WIDTH = 960, LEFT = 100, RIGHT = 20, TOP = 30, HEIGHT = 360, GAP = 50 };

/* One memory: its addresses, and where it is in the picture. */
typedef struct panel { const plan_table *t; bool onchip; uint64_t from, to; double top; } panel;

static bool is_in(const panel *p, const plan_row *r) {
    return (xir_mtype_kind_of(xir_value_mtype(r->v)) == XIR_MTYPE_ONCHIP) == p->onchip;
}

static double x_of(const panel *p, int64_t moment) {
    const double n = (double)xir_liveness_op_count(p->t->lives);
    return LEFT + (WIDTH - LEFT - RIGHT) * (double)moment / (n > 0 ? n : 1);
}

static double y_of(const panel *p, uint64_t at) {
    return p->top + HEIGHT * (1 - (double)(at - p->from) / (double)(p->to - p->from));
}

static void print_escaped(xir_str s) {
    for (size_t i = 0; i < s.size; i++) {
        const char c = s.data[i];
        if (c == '<' || c == '>' || c == '&' || c == '"') printf("&#%d;", c);
        else putchar((unsigned char)c < ' ' ? ' ' : c);
    }
}

static void rectangle(const panel *p, int64_t from, int64_t to, uint64_t at, uint64_t bytes, const char *how) {
    const double x = x_of(p, from), y = y_of(p, at + bytes);
    printf("<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" %s>", x, y, x_of(p, to + 1) - x, y_of(p, at) - y,
           how);
}

static void title(const plan_row *r, uint64_t bytes, uint64_t at) {
    printf("<title>");
    print_escaped(xir_value_name(r->v));
    printf(": %" PRIu64 " bytes at %" PRIu64 "</title></rect>\n", bytes, at);
}

static void print_buffer(const panel *p, size_t i) {
    static const char *const fills[] = { "#9ecae1", "#a1d99b", "#fdd0a2", "#dadaeb", "#fcbba1", "#c7e9c0" };
    const plan_row *first = &p->t->rows[p->t->first[i]];
    const xir_buffer *b = &p->t->buffers[i];
    char how[80];
    if (!is_in(p, first) || !b->size) return;
    snprintf(how, sizeof how, "fill=\"%s\" stroke=\"#333\"", fills[i % (sizeof fills / sizeof *fills)]);
    rectangle(p, b->from, b->to, first->base, b->size, how);
    title(first, b->size, first->base);
    const double wide = x_of(p, b->to + 1) - x_of(p, b->from);
    const double high = HEIGHT * (double)b->size / (double)(p->to - p->from);
    const xir_str name = xir_value_name(first->v);
    if (!name.size || high < 12 || wide < 7 * (double)name.size + 6) return;
    printf("<text x=\"%.2f\" y=\"%.2f\">", x_of(p, b->from) + 3, y_of(p, first->base) - 3);
    print_escaped(name);
    printf("</text>\n");
}

static void print_part(const panel *p, const plan_row *r) {
    if (!is_in(p, r) || !r->bytes || r->bytes >= p->t->buffers[r->buffer].size) return;
    rectangle(p, r->life.first, r->life.last, r->at, r->bytes, "fill=\"none\" stroke=\"#333\" stroke-dasharray=\"2\"");
    title(r, r->bytes, r->at);
}

static void print_panel(const panel *p) {
    printf("<text x=\"%d\" y=\"%.2f\">%s</text>\n", LEFT, p->top - 6, p->onchip ? "on the chip" : "memory");
    printf("<text x=\"%d\" y=\"%.2f\" text-anchor=\"end\">%" PRIu64 "</text>\n", LEFT - 4, p->top + HEIGHT, p->from);
    printf("<text x=\"%d\" y=\"%.2f\" text-anchor=\"end\">%" PRIu64 "</text>\n", LEFT - 4, p->top + 10, p->to);
    printf("<rect x=\"%d\" y=\"%.2f\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#bbb\"/>\n", LEFT, p->top,
           WIDTH - LEFT - RIGHT, HEIGHT);
    for (size_t i = 0; i < p->t->n_buffers; i++) print_buffer(p, i);
    for (size_t i = 0; i < p->t->n; i++) print_part(p, &p->t->rows[i]);
    const double x = x_of(p, p->t->peak.moment);
    printf("<line x1=\"%.2f\" x2=\"%.2f\" y1=\"%.2f\" y2=\"%.2f\" stroke=\"#c00\"/>\n", x, x, p->top, p->top + HEIGHT);
}

static bool find_panel(panel *p) {
    bool any = false;
    for (size_t i = 0; i < p->t->n; i++) {
        const plan_row *r = &p->t->rows[i];
        if (!is_in(p, r)) continue;
        if (!any || r->at < p->from) p->from = r->at;
        if (!any || r->at + r->bytes > p->to) p->to = r->at + r->bytes;
        any = true;
    }
    return any && p->to > p->from;
}

void plan_svg(const plan_table *t) {
    panel panels[2] = { { .t = t, .onchip = false }, { .t = t, .onchip = true } };
    bool there[2];
    double top = TOP;
    for (int i = 0; i < 2; i++) {
        there[i] = find_panel(&panels[i]);
        panels[i].top = top;
        if (there[i]) top += HEIGHT + GAP;
    }
    printf("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %.0f\" font-family=\"sans-serif\" "
           "font-size=\"11\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n", WIDTH, top);
    for (int i = 0; i < 2; i++)
        if (there[i]) print_panel(&panels[i]);
    printf("<text x=\"%d\" y=\"%.0f\">ops, in their order; the line is where %" PRIu64 " bytes live at most</text>\n"
           "</svg>\n", LEFT, top - GAP + 20, t->peak.bound);
}
