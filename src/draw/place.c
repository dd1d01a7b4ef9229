/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Coordinates. picture.h has the specification: whatever changes here changes there, and in the page. Everything is
 * linear in vertices and segments. */
#include <string.h>
#include "make.h"
#include "place.h"

/* A block of vertices that touch. */
typedef struct block {
    uint32_t first;
    int      rank;     /* the class of the wishes that count */
    int64_t  sum, n;
} block;

/* The group that is being placed, and arrays for its vertices. */
typedef struct placing {
    draw_places        *at;
    const picture      *p;
    const draw_group   *g;
    const draw_vertex  *v;
    const draw_segment *s;
    const uint32_t     *ranks;
    int64_t            *c;                         /* centres                                            */
    int64_t            *from, *to;                 /* the ends of segments, from the centres of their vertices */
    uint32_t           *up_first, *up;             /* the segments to each vertex                        */
    uint32_t           *down_first;                /* the first segment from each vertex                 */
    int64_t            *width, *offset;            /* by vertex                                          */
    block              *blocks;
    int64_t            *port;                      /* by value: the centre of the ENTRY or EXIT of a group */
} placing;

static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0); }

void draw_vertex_size(const draw_places *at, const draw_vertex *v, int64_t *across, int64_t *along) {
    int64_t width = 0, height = 0;
    if (v->kind == DRAW_NODE) {
        width = at->p->nodes[v->ref].width;
        height = at->p->nodes[v->ref].height;
    } else if (v->kind == DRAW_GROUP) {
        width = at->boxes[v->ref].width;
        height = at->boxes[v->ref].height;
    }
    const bool turned = at->p->how.left_to_right;
    *across = turned ? height : width;
    *along = turned ? width : height;
}

/* ---- ends of segments -------------------------------------------------------------------------------------------- */

/* Of segments from or to an open group, whose vertex is `v`: its EXITs or ENTRYs say where. */
static void find_ends(placing *l, uint32_t v, bool entries) {
    const picture *p = l->p;
    const draw_group *g = &p->groups[l->v[v].ref];
    const draw_box *b = &l->at->boxes[l->v[v].ref];
    const int64_t begin = (p->how.left_to_right ? b->inside_y : b->inside_x) - l->width[v] / 2;
    const uint32_t n = entries ? g->entries : g->exits, first = g->vertices + (entries ? 0 : g->n_vertices - n);
    for (uint32_t i = first; i < first + n; i++) l->port[p->vertices[i].ref] = begin + l->at->centre[i];
    const uint32_t *list = entries ? l->up_first : l->down_first;
    for (uint32_t i = list[v]; i < list[v + 1]; i++) {
        const uint32_t s = entries ? l->up[i] : i;
        (entries ? l->to : l->from)[s] = l->port[l->s[s].value];
    }
}

static void find_all_ends(placing *l) {
    for (uint32_t v = 0; v < l->g->n_vertices; v++) {
        if (l->v[v].kind != DRAW_GROUP || !l->at->boxes[l->v[v].ref].open) continue;
        find_ends(l, v, true);
        find_ends(l, v, false);
    }
}

/* From the beginning of the interior. */
static void finish_ends(placing *l) {
    for (uint32_t i = 0; i < l->g->n_segments; i++) {
        l->from[i] += l->c[l->s[i].from];
        l->to[i] += l->c[l->s[i].to];
    }
}

/* ---- across ------------------------------------------------------------------------------------------------------ */

static int64_t distance(const placing *l, uint32_t a, uint32_t b) {
    const bool x = draw_is_line(&l->v[a]), y = draw_is_line(&l->v[b]);
    const int gap = x != y ? DRAW_GAP_MIXED : x ? DRAW_GAP_LINE : DRAW_GAP_BOX;
    return (l->width[a] + l->width[b]) / 2 + gap;
}

/* A box that nothing leads to, or from: a constant, a result that is not used. */
static bool is_end(const placing *l, uint32_t v) {
    return !draw_is_line(&l->v[v]) &&
           (l->up_first[v] == l->up_first[v + 1] || l->down_first[v] == l->down_first[v + 1]);
}

/* The class of the wish of `v` that comes from `other`. */
static int class_of(const placing *l, uint32_t v, uint32_t other) {
    const bool line = l->v[v].kind == DRAW_LINE;
    if (line != (l->v[other].kind == DRAW_LINE)) return 1;
    return line || is_end(l, v) || is_end(l, other) ? 2 : 3;
}

/* The wish of a vertex from its neighbours, the other ends of the segments to it or from it. */
static int wish(const placing *l, uint32_t v, bool down, int64_t *out) {
    const uint32_t *first = down ? l->up_first : l->down_first;
    int64_t sum[4] = { 0 }, n[4] = { 0 };
    for (uint32_t i = first[v]; i < first[v + 1]; i++) {
        const uint32_t s = down ? l->up[i] : i, other = down ? l->s[s].from : l->s[s].to;
        const int class = class_of(l, v, other);
        const int64_t from = l->from[s], to = l->to[s];
        sum[class] += l->c[other] + (down ? from - to : to - from);
        n[class]++;
    }
    for (int class = 3; class > 0; class--) {
        if (!n[class]) continue;
        *out = floor_div(sum[class], n[class]);
        return is_end(l, v) ? 0 : class;
    }
    *out = l->c[v];
    return 0;
}

static void join(block *a, const block *b) {
    if (b->rank > a->rank) {
        a->rank = b->rank;
        a->sum = b->sum;
        a->n = b->n;
    } else if (b->rank == a->rank) {
        a->sum += b->sum;
        a->n += b->n;
    }
}

static void place_rank(placing *l, uint32_t r, bool down) {
    const uint32_t begin = l->ranks[r], end = l->ranks[r + 1];
    size_t n = 0;
    for (uint32_t v = begin; v < end; v++) {
        int64_t x;
        const int class = wish(l, v, down, &x);
        l->offset[v] = v == begin ? 0 : l->offset[v - 1] + distance(l, v - 1, v);
        l->blocks[n++] = (block){ v, class, x - l->offset[v], 1 };
        while (n > 1 && floor_div(l->blocks[n - 2].sum, l->blocks[n - 2].n) >
                        floor_div(l->blocks[n - 1].sum, l->blocks[n - 1].n)) {
            n--;
            join(&l->blocks[n - 1], &l->blocks[n]);
        }
    }
    for (size_t b = 0; b < n; b++) {
        const uint32_t last = b + 1 < n ? l->blocks[b + 1].first : end;
        const int64_t x = floor_div(l->blocks[b].sum, l->blocks[b].n);
        for (uint32_t v = l->blocks[b].first; v < last; v++) l->c[v] = x + l->offset[v];
    }
}

static int64_t place_across(placing *l) {
    const uint32_t n = l->g->n_vertices, ranks = l->g->n_ranks;
    for (uint32_t r = 0; r < ranks; r++)
        for (uint32_t v = l->ranks[r]; v < l->ranks[r + 1]; v++)
            l->c[v] = v == l->ranks[r] ? l->width[v] / 2 : l->c[v - 1] + distance(l, v - 1, v);
    for (int sweep = 0; sweep < DRAW_SWEEPS; sweep++) {
        if (sweep % 2 == 0) for (uint32_t r = 1; r < ranks; r++) place_rank(l, r, true);
        else for (uint32_t r = ranks - 1; r-- > 0;) place_rank(l, r, false);
    }
    int64_t least = INT64_MAX, most = 0;
    for (uint32_t v = 0; v < n; v++)
        if (l->c[v] - l->width[v] / 2 < least) least = l->c[v] - l->width[v] / 2;
    for (uint32_t v = 0; v < n; v++) {
        l->c[v] -= least;
        if (l->c[v] + l->width[v] / 2 > most) most = l->c[v] + l->width[v] / 2;
    }
    return most + most % 2;
}

/* ---- along ------------------------------------------------------------------------------------------------------- */

static int64_t gap_below(const placing *l, uint32_t r) {
    int64_t d = 0;
    for (uint32_t i = l->down_first[l->ranks[r]]; i < l->down_first[l->ranks[r + 1]]; i++) {
        const int64_t x = l->from[i] - l->to[i];
        if (x > d || -x > d) d = x < 0 ? -x : x;
    }
    const bool port = l->v[l->ranks[r]].kind == DRAW_ENTRY || l->v[l->ranks[r + 1]].kind == DRAW_EXIT;
    return (port ? DRAW_GAP_PORT : DRAW_GAP_RANK) + (d < DRAW_GAP_MOST ? d : DRAW_GAP_MOST) / 16 * 2;
}

static int64_t place_along(placing *l) {
    int64_t *top = l->at->top + l->g->ranks, *thick = l->at->thick + l->g->ranks, end = 0;
    for (uint32_t r = 0; r < l->g->n_ranks; r++) {
        top[r] = r ? end + gap_below(l, r - 1) : 0;
        thick[r] = 0;
        for (uint32_t v = l->ranks[r]; v < l->ranks[r + 1]; v++) {
            int64_t across, along;
            draw_vertex_size(l->at, &l->v[v], &across, &along);
            if (along > thick[r]) thick[r] = along;
        }
        end = top[r] + thick[r];
    }
    return end;
}

/* ---- one group --------------------------------------------------------------------------------------------------- */

/* Segments are sorted by `from`; those to a vertex are listed in that order, too. */
static void find_neighbours(placing *l) {
    const uint32_t n = l->g->n_vertices, m = l->g->n_segments;
    memset(l->up_first, 0, (n + 2) * sizeof *l->up_first);
    memset(l->down_first, 0, (n + 2) * sizeof *l->down_first);
    for (uint32_t i = 0; i < m; i++) {
        l->up_first[l->s[i].to + 2]++;
        l->down_first[l->s[i].from + 1]++;
    }
    for (uint32_t v = 0; v < n; v++) {
        l->up_first[v + 2] += l->up_first[v + 1];
        l->down_first[v + 1] += l->down_first[v];
    }
    for (uint32_t i = 0; i < m; i++) l->up[l->up_first[l->s[i].to + 1]++] = i;
}

static void place_group(placing *l, uint32_t group) {
    const picture *p = l->p;
    l->g = &p->groups[group];
    l->v = p->vertices + l->g->vertices;
    l->s = p->segments + l->g->segments;
    l->ranks = p->ranks + l->g->ranks;
    l->c = l->at->centre + l->g->vertices;
    l->from = l->at->from + l->g->segments;
    l->to = l->at->to + l->g->segments;
    for (uint32_t v = 0; v < l->g->n_vertices; v++) {
        int64_t along;
        draw_vertex_size(l->at, &l->v[v], &l->width[v], &along);
    }
    draw_box *b = &l->at->boxes[group];
    if (l->g->n_vertices) {
        find_neighbours(l);
        find_all_ends(l);
        b->across = place_across(l);
        finish_ends(l);
        b->along = place_along(l);
    }
    const bool turned = p->how.left_to_right;
    const int64_t wide = turned ? b->along : b->across, high = turned ? b->across : b->along;
    b->width = (wide > l->g->title ? wide : l->g->title) + 2 * DRAW_PAD;
    b->height = high + 2 * DRAW_PAD + DRAW_TITLE;
    b->inside_x = DRAW_PAD + (turned ? 0 : (b->width - 2 * DRAW_PAD - wide) / 2);
    b->inside_y = DRAW_PAD + DRAW_TITLE;
}

/* ---- all groups -------------------------------------------------------------------------------------------------- */

static void find_open(draw_places *at) {
    const picture *p = at->p;
    for (uint32_t g = 0; g < p->n_groups; g++) {
        draw_box *b = &at->boxes[g];
        b->shown = g == 0 || at->boxes[p->groups[g].parent].open;
        b->open = b->shown && (g == 0 || p->how.depth == 0 || p->groups[g].depth < p->how.depth);
        b->width = p->groups[g].width;
        b->height = p->groups[g].height;
    }
}

/* From the outermost group inwards: where each box is. */
static void find_corners(draw_places *at) {
    const picture *p = at->p;
    for (uint32_t g = 0; g < p->n_groups; g++) {
        draw_box *b = &at->boxes[g];
        if (!b->shown) continue;
        if (g) {
            const draw_group *up = &p->groups[p->groups[g].parent];
            const draw_box *around = &at->boxes[p->groups[g].parent];
            const draw_vertex *v = &p->vertices[up->vertices + p->groups[g].vertex];
            const int64_t c = at->centre[up->vertices + p->groups[g].vertex];
            int64_t across, along;
            draw_vertex_size(at, v, &across, &along);
            const int64_t top = at->top[up->ranks + v->rank] + (at->thick[up->ranks + v->rank] - along) / 2;
            const bool turned = p->how.left_to_right;
            b->x = around->inside_x + (turned ? top : c - across / 2);
            b->y = around->inside_y + (turned ? c - across / 2 : top);
        }
        b->inside_x += b->x;
        b->inside_y += b->y;
    }
}

bool draw_place(draw_places *at, const picture *p) {
    const xir_allocator *a = p->alloc;
    placing l = { .at = at, .p = p };
    size_t n = 0, m = 0;
    for (size_t g = 0; g < p->n_groups; g++) {
        if (p->groups[g].n_vertices > n) n = p->groups[g].n_vertices;
        if (p->groups[g].n_segments > m) m = p->groups[g].n_segments;
    }
    *at = (draw_places){ .p = p };
    at->boxes = draw_new(a, p->n_groups, sizeof *at->boxes);
    at->centre = draw_new(a, p->n_vertices, sizeof *at->centre);
    at->top = draw_new(a, p->n_ranks, sizeof *at->top);
    at->thick = draw_new(a, p->n_ranks, sizeof *at->thick);
    at->from = draw_new(a, p->n_segments, sizeof *at->from);
    at->to = draw_new(a, p->n_segments, sizeof *at->to);
    l.up_first = draw_new(a, n + 2, sizeof *l.up_first);
    l.down_first = draw_new(a, n + 2, sizeof *l.down_first);
    l.up = draw_new(a, m, sizeof *l.up);
    l.width = draw_new(a, n, sizeof *l.width);
    l.offset = draw_new(a, n, sizeof *l.offset);
    l.blocks = draw_new(a, n, sizeof *l.blocks);
    l.port = draw_new(a, (size_t)p->nodes[p->n_nodes].value + 1, sizeof *l.port);
    const bool ok = at->boxes && at->centre && at->top && at->thick && at->from && at->to && l.up_first &&
                    l.down_first && l.up && l.width && l.offset && l.blocks && l.port;
    if (ok) {
        find_open(at);
        for (uint32_t g = (uint32_t)p->n_groups; g-- > 0;)
            if (at->boxes[g].open) place_group(&l, g);
        find_corners(at);
    }
    void *const each[] = { l.up_first, l.down_first, l.up, l.width, l.offset, l.blocks, l.port };
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) draw_free(a, each[i]);
    return ok;
}

void draw_unplace(draw_places *at) {
    const xir_allocator *a = at->p->alloc;
    draw_free(a, at->boxes);
    draw_free(a, at->centre);
    draw_free(a, at->top);
    draw_free(a, at->thick);
    draw_free(a, at->from);
    draw_free(a, at->to);
}
