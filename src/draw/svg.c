/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* SVG: valid XML without scripts. Boxes of open groups come first, then lines, then the other boxes. An op has the id
 * "n" and its own id, a group the id "g" and its number in the picture. */
#include "make.h"
#include "place.h"
#include "stubs.h"

typedef struct svg {
    draw_out     out;
    const picture *p;
    draw_places  at;
    draw_stubs   stubs;
    bool         turned;
} svg;

static const char style[] =
    "text{font-family:Inter,\"Segoe UI\",Helvetica,Arial,\"DejaVu Sans\",sans-serif;font-size:11px;fill:#3b4654}"
    ".k{font-size:12px;font-weight:600;fill:#fff;text-anchor:middle}"
    ".m{text-anchor:middle}.y{text-anchor:middle;fill:#66717f}"
    ".b{fill:#fff;stroke:#aeb8c4}"
    ".o{fill:#47648a;fill-opacity:.055;stroke:#47648a;stroke-opacity:.4}"
    ".c{fill:#e9f0f9;stroke:#6d88ac}"
    ".g{font-weight:600;fill:#3a5273;paint-order:stroke;stroke:#f4f6f9;stroke-width:3px}.q{font-size:12px;font-weight:600;fill:#2b4366;text-anchor:middle}"
    ".e{fill:none;stroke:#8893a1;stroke-width:1.3}.e:hover{stroke:#d2691e;stroke-width:2.4}"
    ".s{font-size:9px;fill:#8a4b08;paint-order:stroke;stroke:#fff;stroke-width:3px}";

static const char style_of_changes[] =
    ".ea{stroke:#1c7a3c;stroke-width:1.8}.er{stroke:#b3342b;stroke-width:1.8;stroke-dasharray:6 4}"
    ".r{stroke:#b3342b;stroke-dasharray:5 3}";

/* ---- lines ------------------------------------------------------------------------------------------------------- */

/* A point across and along, in the interior of a group, as x and y. */
static void point(svg *s, const draw_box *b, int64_t across, int64_t along) {
    draw_int(&s->out, b->inside_x + (s->turned ? along : across));
    draw_put(&s->out, " ", 1);
    draw_int(&s->out, b->inside_y + (s->turned ? across : along));
}

typedef struct stretch { int64_t begin, leave, arrive, end; } stretch;   /* along */

/* Measures the ends of a segment: at its boxes, at the far edge of the rank of a LINE, at the edge of the group. */
static stretch measure(const svg *s, const draw_group *g, const draw_box *b, const draw_vertex *from,
                       const draw_vertex *to) {
    const int64_t *top = s->at.top + g->ranks, *thick = s->at.thick + g->ranks;
    int64_t across, h;
    stretch l = { .leave = top[from->rank] + thick[from->rank], .arrive = top[to->rank] };
    draw_vertex_size(&s->at, from, &across, &h);
    l.begin = draw_is_line(from) ? l.leave : top[from->rank] + (thick[from->rank] - h) / 2 + h;
    draw_vertex_size(&s->at, to, &across, &h);
    l.end = draw_is_line(to) ? l.arrive + thick[to->rank] : l.arrive + (thick[to->rank] - h) / 2;
    if (from->kind == DRAW_ENTRY) l.begin = s->turned ? b->x - b->inside_x : b->y - b->inside_y;
    if (to->kind == DRAW_EXIT) l.end = s->turned ? b->x + b->width - b->inside_x : b->y + b->height - b->inside_y;
    return l;
}

static void put_line(svg *s, uint32_t group, uint32_t segment) {
    const picture *p = s->p;
    const draw_group *g = &p->groups[group];
    const draw_box *b = &s->at.boxes[group];
    const draw_segment *e = &p->segments[g->segments + segment];
    const draw_vertex *from = &p->vertices[g->vertices + e->from], *to = &p->vertices[g->vertices + e->to];
    const int64_t x = s->at.from[g->segments + segment], z = s->at.to[g->segments + segment];
    const stretch l = measure(s, g, b, from, to);
    const int64_t middle = (l.leave + l.arrive) / 2;
    const bool arrow = to->kind == DRAW_NODE || (to->kind == DRAW_GROUP && !s->at.boxes[to->ref].open);
    static const char *const classes[] = { [DRAW_SAME] = "e", [DRAW_GONE] = "e er", [DRAW_NEW] = "e ea" };
    draw_print(&s->out, arrow ? "<path class=\"%s\" marker-end=\"url(#a)\" d=\"M" : "<path class=\"%s\" d=\"M",
               classes[e->change]);
    point(s, b, x, l.begin);
    if (l.begin != l.leave) draw_text(&s->out, "L"), point(s, b, x, l.leave);
    if (x == z) {
        draw_text(&s->out, "L");
        point(s, b, z, l.end);
    } else {
        draw_text(&s->out, "C"), point(s, b, x, middle);
        draw_text(&s->out, " "), point(s, b, z, middle);
        draw_text(&s->out, " "), point(s, b, z, l.arrive);
        if (l.arrive != l.end) draw_text(&s->out, "L"), point(s, b, z, l.end);
    }
    uint32_t node;
    const xir_value *v = draw_value_of(p, e->value, &node);
    draw_text(&s->out, "\"><title>");
    if (v) draw_value_detail(&s->out, v, draw_xml);
    draw_text(&s->out, "</title></path>\n");
}

/* ---- boxes ------------------------------------------------------------------------------------------------------- */

static void put_rect(svg *s, const char *class, int64_t x, int64_t y, int64_t width, int64_t height, int round) {
    draw_print(&s->out, "<rect class=\"%s\" x=\"%lld\" y=\"%lld\" width=\"%lld\" height=\"%lld\" rx=\"%d\"/>", class,
               (long long)x, (long long)y, (long long)width, (long long)height, round);
}

static void put_words(svg *s, const char *class, int64_t x, int64_t y, const char *text, size_t size) {
    draw_print(&s->out, "<text class=\"%s\" x=\"%lld\" y=\"%lld\">", class, (long long)x, (long long)y);
    draw_xml(&s->out, (xir_str){ text, size }, DRAW_TEXT);
    draw_text(&s->out, "</text>");
}

static void put_notes(svg *s, size_t box, int64_t middle, int64_t top, int64_t bottom) {
    for (int in = 0; in < 2 && s->stubs.in; in++) {
        const draw_stub *stub = in ? &s->stubs.in[box] : &s->stubs.out[box];
        if (!stub->n) continue;
        draw_print(&s->out, "<text class=\"s\" x=\"%lld\" y=\"%lld\">", (long long)middle + 7,
                   (long long)(in ? top - 4 : bottom + 11));
        draw_stub_words(&s->out, s->p, stub, in);
        draw_text(&s->out, "</text>");
    }
}

/* The corner of a vertex. */
static void corner(const svg *s, uint32_t group, uint32_t vertex, int64_t *x, int64_t *y) {
    const draw_group *g = &s->p->groups[group];
    const draw_box *b = &s->at.boxes[group];
    const draw_vertex *v = &s->p->vertices[g->vertices + vertex];
    int64_t across, along;
    draw_vertex_size(&s->at, v, &across, &along);
    const int64_t left = s->at.centre[g->vertices + vertex] - across / 2;
    const int64_t top = s->at.top[g->ranks + v->rank] + (s->at.thick[g->ranks + v->rank] - along) / 2;
    *x = b->inside_x + (s->turned ? top : left);
    *y = b->inside_y + (s->turned ? left : top);
}

static void put_head(svg *s, int64_t x, int64_t y, int width, bool whole, const char *colour) {
    const int r = 5, h = DRAW_HEAD;
    if (whole) {
        draw_print(&s->out, "<rect fill=\"%s\" x=\"%lld\" y=\"%lld\" width=\"%d\" height=\"%d\" rx=\"%d\"/>", colour,
                   (long long)x, (long long)y, width, h, r);
        return;
    }
    draw_print(&s->out, "<path fill=\"%s\" d=\"M%lld %lldv%da%d %d 0 0 1 %d %dh%da%d %d 0 0 1 %d %dv%dz\"/>", colour,
               (long long)x, (long long)y + h, r - h, r, r, r, -r, width - 2 * r, r, r, r, r, h - r);
}

static void put_node(svg *s, uint32_t i) {
    const draw_node *node = &s->p->nodes[i];
    char text[DRAW_TEXT];
    int64_t x, y;
    corner(s, node->group, node->vertex, &x, &y);
    const int64_t middle = x + node->width / 2;
    draw_print(&s->out, "<g id=\"%s%lld\"><title>", draw_id_prefix(s->p, i), (long long)xir_op_id(node->op));
    draw_detail(&s->out, node->op, draw_xml, "\n");
    draw_text(&s->out, "</title>");
    put_rect(s, draw_changes(s->p, i) & XIR_DIFF_REMOVED ? "b r" : "b", x, y, node->width, node->height, 5);
    put_head(s, x, y, node->width, node->height == DRAW_HEAD, draw_head_colour(s->p, i));
    put_words(s, "k", middle, y + 15, text, draw_node_text(s->p, i, DRAW_LINE_CLASS, text));
    int64_t base = y + DRAW_HEAD + 13;
    for (int line = DRAW_LINE_NAME; line < DRAW_LINES; line++) {
        const size_t n = draw_node_text(s->p, i, line, text);
        if (!n) continue;
        put_words(s, line == DRAW_LINE_NAME ? "m" : "y", middle, base, text, n);
        base += DRAW_LINE_HEIGHT;
    }
    put_notes(s, i, middle, y, y + node->height);
    draw_text(&s->out, "</g>\n");
}

static void put_open(svg *s, uint32_t i) {
    const draw_box *b = &s->at.boxes[i];
    draw_print(&s->out, "<g id=\"g%u\">", i);
    if (i) put_rect(s, "o", b->x, b->y, b->width, b->height, 8);
    draw_text(&s->out, "</g>\n");
}

static void put_title(svg *s, uint32_t i) {
    const draw_box *b = &s->at.boxes[i];
    char text[DRAW_TEXT];
    const size_t n = draw_group_title(s->p, i, text);
    put_words(s, "g", b->x + 9, b->y + 15, text, n);
    draw_text(&s->out, "\n");
}

/* Copies are drawn as a stack. */
static void put_closed(svg *s, uint32_t i) {
    const draw_box *b = &s->at.boxes[i];
    char text[DRAW_TEXT];
    const int64_t middle = b->x + b->width / 2;
    draw_print(&s->out, "<g id=\"g%u\"><title>", i);
    draw_xml(&s->out, (xir_str){ text, draw_group_title(s->p, i, text) }, DRAW_TEXT);
    draw_text(&s->out, "</title>");
    for (int k = s->p->groups[i].reason == DRAW_OF_REPEATS ? 2 : 0; k >= 0; k--)
        put_rect(s, "c", b->x + 3 * k, b->y + 3 * k, b->width, b->height, 8);
    put_words(s, "q", middle, b->y + 19, text, draw_group_title(s->p, i, text));
    put_words(s, "y", middle, b->y + 35, text, draw_group_count(s->p, i, text));
    put_notes(s, s->p->n_nodes + i, middle, b->y, b->y + b->height);
    draw_text(&s->out, "</g>\n");
}

/* ---- the picture ------------------------------------------------------------------------------------------------- */

static void put_begin(svg *s) {
    const draw_box *all = &s->at.boxes[0];
    draw_print(&s->out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%lld\" height=\"%lld\" "
               "viewBox=\"0 0 %lld %lld\">\n<title>", (long long)all->width, (long long)all->height,
               (long long)all->width, (long long)all->height);
    draw_xml(&s->out, xir_network_name(s->p->net), DRAW_TEXT);
    draw_text(&s->out, "</title>\n<style>");
    draw_text(&s->out, style);
    if (s->p->changes) draw_text(&s->out, style_of_changes);
    draw_text(&s->out, "</style>\n<defs><marker id=\"a\" viewBox=\"0 0 9 8\" refX=\"8\" refY=\"4\" markerWidth=\"9\" "
              "markerHeight=\"8\" orient=\"auto\" markerUnits=\"userSpaceOnUse\"><path d=\"M0 0L9 4L0 8L2 4z\" "
              "fill=\"#6b7683\"/></marker></defs>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n");
}

static void put_all(svg *s) {
    const picture *p = s->p;
    put_begin(s);
    for (uint32_t g = 0; g < p->n_groups; g++)
        if (s->at.boxes[g].open) put_open(s, g);
    for (uint32_t g = 0; g < p->n_groups; g++)
        for (uint32_t i = 0; s->at.boxes[g].open && i < p->groups[g].n_segments && !s->out.failed; i++)
            put_line(s, g, i);
    for (uint32_t g = 0; g < p->n_groups; g++) {
        if (s->at.boxes[g].open) put_title(s, g);
        else if (s->at.boxes[g].shown) put_closed(s, g);
    }
    for (uint32_t i = 0; i < p->n_nodes && !s->out.failed; i++)
        if (s->at.boxes[p->nodes[i].group].open) put_node(s, i);
    draw_text(&s->out, "</svg>\n");
}

xir_status draw_svg(const picture *p, xir_write_fn *write, void *user, xir_diags *why) {
    svg *s = draw_new(p->alloc, 1, sizeof *s);
    if (!s) return no_memory(why);
    s->out.write = write;
    s->out.user = user;
    s->p = p;
    s->turned = p->how.left_to_right;
    const bool placed = draw_place(&s->at, p), ok = draw_find_note_ends(&s->stubs, p) && placed;
    if (ok) put_all(s);
    const xir_status status = ok ? draw_end(&s->out, why) : no_memory(why);
    draw_stubs_free(&s->stubs, p);
    draw_unplace(&s->at);
    draw_free(p->alloc, s);
    return status;
}
