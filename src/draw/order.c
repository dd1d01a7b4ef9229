/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The order of the vertices in each rank, so that few lines cross. Every interior is ordered alone, with the same
 * arrays: lines become chains of LINEs; then sweeps down and up put each vertex at the median of its neighbours, and
 * exchange neighbours while that saves crossings. The best order that occurs is kept. In the end vertices get their
 * numbers in reading order.
 *
 * Ranks are sorted by merging, and an equal median keeps the order, so the result depends on the network alone. */
#include <string.h>
#include "make.h"

enum {
    ROUNDS       = 8,        /* of a sweep down and a sweep up                          */
    MEDIUM       = 4000,     /* an interior with more vertices gets fewer beginnings,   */
    LARGE        = 8000,     /* and one with more than these fewer rounds:              */
    LARGE_ROUNDS = 2,
    PATIENCE     = 4,        /* rounds without fewer crossings, after which it is enough */
    MOST_DEGREE  = 16,       /* of a vertex that is exchanged with its neighbour         */
    EXCHANGES    = 4,        /* passes over a rank                                       */
    MOST_CHAINS  = 32        /* chains on one side of the boxes that are looked at       */
};

/* The neighbours of vertices in one direction: those of v are items[first[v]], … */
typedef struct lists { uint32_t *first, *items; } lists;

/* The chains of LINEs on one side of the boxes: the ranks in which the last ones end. */
typedef struct flank { uint32_t ends[MOST_CHAINS], n; } flank;

typedef struct ordering {
    picture              *p;
    const draw_interiors *in;
    uint32_t              group;
    const draw_link      *links;
    size_t                n_links;
    size_t                n, n_segments, n_ranks;
    draw_vertex          *vertices;    /* of the group: children, entries, exits, lines                    */
    draw_segment         *segments;
    uint8_t              *left;        /* of each vertex: a LINE that is left of the boxes at first          */
    flank                 sides[2];
    lists                 up, down;
    uint32_t             *starts;      /* the first position of each rank in `at`; one more                 */
    uint32_t             *at;          /* vertices by rank and order                                         */
    uint32_t             *place;       /* of a vertex in its rank                                             */
    uint32_t             *best;        /* `at` of the best order                                              */
    uint32_t             *medians, *spare, *tree;
    bool                  failed;
} ordering;

/* ---- vertices and segments --------------------------------------------------------------------------------------- */

static void *room(ordering *o, void *items, size_t need, size_t size) {
    void *now = o->failed ? NULL : draw_room(o->p->alloc, items, need, size);
    if (!now) o->failed = true;
    return now ? now : items;
}

static void add_vertex(ordering *o, draw_kind kind, uint32_t rank, uint32_t ref) {
    o->vertices = room(o, o->vertices, o->n + 1, sizeof *o->vertices);
    o->left = room(o, o->left, o->n + 1, sizeof *o->left);
    if (o->failed) return;
    o->left[o->n] = 0;
    o->vertices[o->n++] = (draw_vertex){ .kind = (unsigned)kind & 7, .rank = rank & (UINT32_MAX >> 3), .ref = ref };
}

static void add_segment(ordering *o, uint32_t from, uint32_t to, const draw_link *link, unsigned change) {
    o->segments = room(o, o->segments, o->n_segments + 1, sizeof *o->segments);
    if (o->failed) return;
    o->segments[o->n_segments++] = (draw_segment){ .from = from, .to = to, .value = link->value, .change = change & 3 };
}

/* The children in the order of their nodes, then the ports. The ranks of children begin after that of the entries. */
static void add_children(ordering *o, const draw_port *entries, const draw_port *exits) {
    const picture *p = o->p;
    const draw_group *g = &p->groups[o->group];
    const uint32_t shift = g->entries ? 1 : 0;
    uint32_t inner = o->group + 1;
    for (uint32_t i = g->begin; i < g->end && !o->failed;) {
        if (inner < g->next && p->groups[inner].begin == i) {
            add_vertex(o, DRAW_GROUP, o->in->group_rank[inner] + shift, inner);
            i = p->groups[inner].end;
            inner = p->groups[inner].next;
        } else {
            add_vertex(o, DRAW_NODE, o->in->node_rank[i] + shift, i);
            i++;
        }
    }
    const uint32_t last = o->in->last_rank[o->group] + shift;
    for (uint32_t k = 0; k < g->entries; k++) add_vertex(o, DRAW_ENTRY, 0, entries[k].value);
    for (uint32_t k = 0; k < g->exits; k++) add_vertex(o, DRAW_EXIT, last + 1, exits[k].value);
    o->n_ranks = o->n ? (size_t)last + 1 + (g->exits ? 1 : 0) : 0;
}

/* Returns how many chains of a side a new one, from rank `from` to rank `to`, would cross: those that end in between.
 * Forgets those that have ended. */
static uint32_t crossed(flank *side, uint32_t from, uint32_t to) {
    uint32_t n = 0, left = 0;
    for (uint32_t i = 0; i < side->n; i++) {
        if (side->ends[i] <= from) continue;
        n += side->ends[i] < to;
        side->ends[left++] = side->ends[i];
    }
    side->n = left;
    return n;
}

/* A chain goes left or right of the boxes, where it crosses fewer others. Moving one there later would take several
 * steps, of which the first ones make more crossings. */
static bool choose_left(ordering *o, uint32_t from, uint32_t to) {
    const uint32_t right = crossed(&o->sides[0], from, to), left = crossed(&o->sides[1], from, to);
    const bool other = left != right ? left < right : o->sides[1].n < o->sides[0].n;
    flank *side = &o->sides[other];
    if (side->n < MOST_CHAINS) side->ends[side->n++] = to;
    return other;
}

/* The links of one value, all from one vertex, share a chain of LINEs. */
static void add_chain(ordering *o, const draw_link *links, size_t n) {
    const uint32_t from = links[0].from, rank = o->vertices[from].rank, value = links[0].value;
    uint32_t last = rank + 1;
    unsigned change = 3;                     /* of the links that have LINEs; 3: there are none yet */
    for (size_t i = 0; i < n; i++) {
        const uint32_t r = o->vertices[links[i].to].rank;
        if (r > last) last = r;
        if (r > rank + 1) change = change == 3 || change == links[i].change ? links[i].change : DRAW_SAME;
    }
    const uint32_t first = (uint32_t)o->n;   /* the LINE in rank + 1 */
    const bool left = last > rank + 1 && choose_left(o, rank, last);
    for (uint32_t r = rank + 1; r < last; r++) {
        add_segment(o, r == rank + 1 ? from : (uint32_t)o->n - 1, (uint32_t)o->n, links, change);
        add_vertex(o, DRAW_LINE, r, value);
        if (!o->failed) o->left[o->n - 1] = left;
    }
    for (size_t i = 0; i < n && !o->failed; i++) {
        const uint32_t r = o->vertices[links[i].to].rank;
        add_segment(o, r == rank + 1 ? from : first + r - rank - 2, links[i].to, &links[i], links[i].change);
    }
}

static void add_lines(ordering *o) {
    for (size_t i = 0, end; i < o->n_links && !o->failed; i = end) {
        for (end = i + 1; end < o->n_links && o->links[end].value == o->links[i].value; end++) {}
        add_chain(o, o->links + i, end - i);
    }
}

/* ---- neighbours -------------------------------------------------------------------------------------------------- */

static void fill(ordering *o, lists *l, bool down) {
    memset(l->first, 0, (o->n + 2) * sizeof *l->first);
    for (size_t i = 0; i < o->n_segments; i++) l->first[(down ? o->segments[i].from : o->segments[i].to) + 2]++;
    for (size_t v = 0; v < o->n; v++) l->first[v + 2] += l->first[v + 1];
    for (size_t i = 0; i < o->n_segments; i++) {
        const draw_segment *s = &o->segments[i];
        l->items[l->first[(down ? s->from : s->to) + 1]++] = down ? s->to : s->from;
    }
}

static uint32_t degree(const lists *l, uint32_t v) { return l->first[v + 1] - l->first[v]; }

/* Makes the arrays large enough for this interior. */
static bool make_room(ordering *o) {
    const size_t n = o->n + 2;
    uint32_t **const each[] = { &o->up.first, &o->down.first, &o->starts, &o->at, &o->place, &o->best, &o->medians,
                                &o->spare, &o->tree };
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) *each[i] = room(o, *each[i], n, sizeof **each[i]);
    o->up.items = room(o, o->up.items, o->n_segments + 1, sizeof *o->up.items);
    o->down.items = room(o, o->down.items, o->n_segments + 1, sizeof *o->down.items);
    return !o->failed;
}

/* Vertices by rank. With `sides`, LINEs are on both sides of the others, the longest ones outside: chains are made in
 * the order of their beginnings. Otherwise they are on the right. */
static void fill_ranks(ordering *o, bool sides) {
    memset(o->starts, 0, (o->n + 2) * sizeof *o->starts);
    for (size_t v = 0; v < o->n; v++) o->starts[o->vertices[v].rank + 1]++;
    for (size_t r = 0; r < o->n_ranks; r++) o->starts[r + 1] += o->starts[r];
    memcpy(o->spare, o->starts, (o->n_ranks + 1) * sizeof *o->spare);
    for (int side = 2; side >= 0; side--) {   /* LINEs on the left, boxes, and backwards the LINEs on the right */
        for (uint32_t i = 0; i < o->n; i++) {
            const uint32_t v = side ? i : (uint32_t)o->n - 1 - i, r = o->vertices[v].rank;
            const int of = !sides || o->vertices[v].kind != DRAW_LINE ? 1 : o->left[v] ? 2 : 0;
            if (of != side) continue;
            o->place[v] = o->spare[r] - o->starts[r];
            o->at[o->spare[r]++] = v;
        }
    }
}

static uint32_t width(const ordering *o, size_t r) { return o->starts[r + 1] - o->starts[r]; }

/* ---- crossings --------------------------------------------------------------------------------------------------- */

/* Between rank r and the next one: a tree of sums counts, for each end, the earlier lines that end to its right. */
static uint64_t crossings_below(ordering *o, size_t r) {
    const uint32_t n = width(o, r + 1);
    uint64_t crossings = 0;
    uint32_t added = 0;
    if (width(o, r) < 2 || n < 2) return 0;
    memset(o->tree, 0, (n + 1) * sizeof *o->tree);
    for (uint32_t i = o->starts[r]; i < o->starts[r + 1]; i++) {
        const uint32_t v = o->at[i], *to = o->down.items + o->down.first[v], k = degree(&o->down, v);
        for (uint32_t j = 0; j < k; j++) {
            uint32_t before = 0;
            for (uint32_t x = o->place[to[j]] + 1; x; x &= x - 1) before += o->tree[x];
            crossings += added - before;
        }
        for (uint32_t j = 0; j < k; j++)
            for (uint32_t x = o->place[to[j]] + 1; x <= n; x += x & (0 - x)) o->tree[x]++;
        added += k;
    }
    return crossings;
}

static uint64_t crossings(ordering *o) {
    uint64_t all = 0;
    for (size_t r = 0; r + 1 < o->n_ranks; r++) all += crossings_below(o, r);
    return all;
}

/* ---- medians ----------------------------------------------------------------------------------------------------- */

/* Twice the median place of the neighbours; of an even number, between the two in the middle. A vertex without
 * neighbours stays where it is. */
static uint32_t median(ordering *o, const lists *l, uint32_t v) {
    const uint32_t n = degree(l, v), *items = l->items + l->first[v];
    if (n == 0) return 2 * o->place[v];
    if (n == 1) return 2 * o->place[items[0]];
    if (n == 2) return o->place[items[0]] + o->place[items[1]];
    if (n > MOST_DEGREE) {
        uint64_t sum = 0;
        for (uint32_t i = 0; i < n; i++) sum += o->place[items[i]];
        return (uint32_t)(2 * sum / n);
    }
    uint32_t sorted[MOST_DEGREE];
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = i;
        for (; at && sorted[at - 1] > o->place[items[i]]; at--) sorted[at] = sorted[at - 1];
        sorted[at] = o->place[items[i]];
    }
    return n % 2 ? 2 * sorted[n / 2] : sorted[n / 2 - 1] + sorted[n / 2];
}

/* Sorts a rank by medians; `turn`: vertices of the same median are turned round. */
static void sort_rank(ordering *o, size_t r, bool turn) {
    uint32_t *from = o->at + o->starts[r], *to = o->spare;
    const uint32_t n = width(o, r);
    for (uint32_t run = 1; run < n; run *= 2) {
        for (uint32_t at = 0; at < n; at += 2 * run) {
            const uint32_t middle = at + run < n ? at + run : n, end = middle + run < n ? middle + run : n;
            uint32_t a = at, b = middle, out = at;
            while (a < middle || b < end) {
                const bool left = b == end || (a < middle && (o->medians[from[a]] < o->medians[from[b]] ||
                                                              (!turn && o->medians[from[a]] == o->medians[from[b]])));
                to[out++] = left ? from[a++] : from[b++];
            }
        }
        uint32_t *other = from;
        from = to;
        to = other;
    }
    if (from == o->spare) memcpy(o->at + o->starts[r], from, n * sizeof *from);
    for (uint32_t i = 0; i < n; i++) o->place[o->at[o->starts[r] + i]] = i;
}

static void turn_to(ordering *o, size_t r, const lists *l, bool turn) {
    if (width(o, r) < 2) return;
    for (uint32_t i = o->starts[r]; i < o->starts[r + 1]; i++) o->medians[o->at[i]] = median(o, l, o->at[i]);
    sort_rank(o, r, turn);
}

/* ---- exchanges --------------------------------------------------------------------------------------------------- */

/* The crossings of the lines of `a` and `b` on one side if a is left of b, less those if it is right. */
static int64_t saved(const ordering *o, const lists *l, uint32_t a, uint32_t b) {
    const uint32_t n = degree(l, a), m = degree(l, b);
    int64_t less = 0;
    if (n > MOST_DEGREE || m > MOST_DEGREE) return 0;
    for (uint32_t i = l->first[a]; i < l->first[a] + n; i++) {
        for (uint32_t k = l->first[b]; k < l->first[b] + m; k++) {
            const uint32_t x = o->place[l->items[i]], y = o->place[l->items[k]];
            less += (x > y) - (x < y);
        }
    }
    return less;
}

/* With `turn`, the first pass also exchanges where nothing is saved: that may open a way. */
static void exchange(ordering *o, size_t r, bool turn) {
    bool changed = width(o, r) > 1;
    for (int pass = 0; changed && pass < EXCHANGES; pass++) {
        changed = false;
        for (uint32_t i = o->starts[r]; i + 1 < o->starts[r + 1]; i++) {
            const uint32_t a = o->at[i], b = o->at[i + 1];
            const int64_t less = saved(o, &o->up, a, b) + saved(o, &o->down, a, b);
            if (less < 0 || (less == 0 && !(turn && pass == 0))) continue;
            o->at[i] = b;
            o->at[i + 1] = a;
            o->place[b]--;
            o->place[a]++;
            changed = true;
        }
    }
}

/* ---- sweeps ------------------------------------------------------------------------------------------------------ */

static void keep_best(ordering *o, uint64_t *least, int *waited) {
    const uint64_t now = crossings(o);
    ++*waited;
    if (now >= *least) return;
    *least = now;
    *waited = 0;
    memcpy(o->best, o->at, o->n * sizeof *o->best);
}

static void sweep(ordering *o, bool down, bool turn) {
    if (down) for (size_t r = 1; r < o->n_ranks; r++) turn_to(o, r, &o->up, turn);
    else for (size_t r = o->n_ranks - 1; r-- > 0;) turn_to(o, r, &o->down, turn);
    for (size_t r = 0; r < o->n_ranks; r++) exchange(o, r, turn);
    for (size_t r = 0; r < o->n_ranks && turn; r++) exchange(o, r, false);
}

/* From several beginnings: with LINEs on both sides or on one, and with a first sweep that goes down or up. */
static void find_order(ordering *o) {
    uint64_t least = UINT64_MAX;
    int waited = 0;
    const int starts = o->n > LARGE ? 1 : o->n > MEDIUM ? 2 : 4;
    const int rounds = o->n > LARGE ? LARGE_ROUNDS : ROUNDS;
    fill_ranks(o, true);
    keep_best(o, &least, &waited);
    for (size_t r = 0; r < o->n_ranks && least; r++) exchange(o, r, false);
    keep_best(o, &least, &waited);
    for (int start = 0; start < starts && least; start++) {
        if (start) fill_ranks(o, start < 2);
        waited = 0;
        for (int k = 0; k < 2 * rounds && least && waited < 2 * PATIENCE; k++) {
            sweep(o, k % 2 == start % 2, k % 4 > 1);
            keep_best(o, &least, &waited);
        }
    }
}

/* ---- the result -------------------------------------------------------------------------------------------------- */

/* Sorts segments by `from`, then `to`, which are final numbers: by `to` first, and stably by `from` then. `sorted` has
 * room for them. */
static void sort_segments(ordering *o, draw_segment *sorted) {
    for (int by_from = 0; by_from < 2; by_from++) {
        const draw_segment *s = by_from ? sorted : o->segments;
        draw_segment *out = by_from ? o->segments : sorted;
        memset(o->spare, 0, (o->n + 1) * sizeof *o->spare);
        for (size_t i = 0; i < o->n_segments; i++) o->spare[(by_from ? s[i].from : s[i].to) + 1]++;
        for (size_t v = 0; v < o->n; v++) o->spare[v + 1] += o->spare[v];
        for (size_t i = 0; i < o->n_segments; i++) out[o->spare[by_from ? s[i].from : s[i].to]++] = s[i];
    }
}

/* Adds the interior to the picture. `medians` gets the final number of each vertex. */
static bool finish(ordering *o) {
    picture *p = o->p;
    draw_group *g = &p->groups[o->group];
    for (uint32_t i = 0; i < o->n; i++) o->medians[o->best[i]] = i;
    for (size_t i = 0; i < o->n_segments; i++) {
        o->segments[i].from = o->medians[o->segments[i].from];
        o->segments[i].to = o->medians[o->segments[i].to];
    }
    p->vertices = room(o, p->vertices, p->n_vertices + o->n, sizeof *p->vertices);
    p->segments = room(o, p->segments, p->n_segments + o->n_segments, sizeof *p->segments);
    p->ranks = room(o, p->ranks, p->n_ranks + o->n_ranks + 1, sizeof *p->ranks);
    if (o->failed) return false;
    sort_segments(o, p->segments + p->n_segments);
    g->vertices = (uint32_t)p->n_vertices;
    g->n_vertices = (uint32_t)o->n;
    g->segments = (uint32_t)p->n_segments;
    g->n_segments = (uint32_t)o->n_segments;
    g->ranks = (uint32_t)p->n_ranks;
    g->n_ranks = (uint32_t)o->n_ranks;
    for (uint32_t i = 0; i < o->n; i++) {
        const draw_vertex v = p->vertices[p->n_vertices++] = o->vertices[o->best[i]];
        if (v.kind == DRAW_NODE) p->nodes[v.ref].vertex = i;
        if (v.kind == DRAW_GROUP) p->groups[v.ref].vertex = i;
    }
    if (o->n_segments) memcpy(p->segments + p->n_segments, o->segments, o->n_segments * sizeof *o->segments);
    p->n_segments += o->n_segments;
    memcpy(p->ranks + p->n_ranks, o->starts, (o->n_ranks + 1) * sizeof *p->ranks);
    p->n_ranks += o->n_ranks + 1;
    return true;
}

static bool order_group(ordering *o, const draw_port *entries, const draw_port *exits) {
    o->n = o->n_segments = 0;
    o->sides[0].n = o->sides[1].n = 0;
    add_children(o, entries, exits);
    if (!o->failed) add_lines(o);
    if (o->failed) return false;
    o->vertices = draw_trim(o->p->alloc, o->vertices, o->n, sizeof *o->vertices);
    o->segments = draw_trim(o->p->alloc, o->segments, o->n_segments, sizeof *o->segments);
    if (!make_room(o)) return false;
    fill(o, &o->up, false);
    fill(o, &o->down, true);
    find_order(o);
    return finish(o);
}

bool draw_order(picture *p, const draw_interiors *in) {
    ordering o = { .p = p, .in = in };
    const draw_port *entries = in->entries, *exits = in->exits;
    size_t link = 0;
    bool ok = true;
    for (uint32_t g = 0; g < p->n_groups && ok; g++) {
        o.group = g;
        o.links = in->links + link;
        for (o.n_links = 0; link < in->n_links && in->links[link].group == g; link++) o.n_links++;
        ok = order_group(&o, entries, exits);
        entries += p->groups[g].entries;
        exits += p->groups[g].exits;
    }
    uint32_t *const each[] = { o.up.first, o.up.items, o.down.first, o.down.items, o.starts, o.at, o.place, o.best,
                               o.medians, o.spare, o.tree };
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) draw_free(p->alloc, each[i]);
    draw_free(p->alloc, o.vertices);
    draw_free(p->alloc, o.left);
    draw_free(p->alloc, o.segments);
    if (ok) {
        p->vertices = draw_trim(p->alloc, p->vertices, p->n_vertices, sizeof *p->vertices);
        p->segments = draw_trim(p->alloc, p->segments, p->n_segments, sizeof *p->segments);
        p->ranks = draw_trim(p->alloc, p->ranks, p->n_ranks, sizeof *p->ranks);
    }
    return ok;
}
