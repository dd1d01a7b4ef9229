/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Helpers for the steps of making a picture: memory, and the list of groups before they are a tree. */
#ifndef DRAW_MAKE_H
#define DRAW_MAKE_H

#include "picture.h"

/* ---- memory.c: arrays that know their size. All memory of a picture is theirs ------------------------------------ */

/* Returns `n` zeroed items, NULL without memory. */
void *draw_new(const xir_allocator *alloc, size_t n, size_t size);
/* Returns the items with room for at least `need`, the old ones kept; NULL without memory, with the old ones still
 * valid. `items` may be NULL. */
void *draw_room(const xir_allocator *alloc, void *items, size_t need, size_t size);
/* Cuts the array to `n` items. It may stay longer. */
void *draw_trim(const xir_allocator *alloc, void *items, size_t n, size_t size);
void  draw_free(const xir_allocator *alloc, void *items);

/* ---- the groups that are found, before groups.c makes a tree of them --------------------------------------------- */

typedef struct draw_span {
    uint32_t    begin, end;
    draw_reason reason;
    uint32_t    number;
    uint32_t    prefix, named;   /* as in draw_group */
    xir_str     label;
} draw_span;

typedef struct draw_spans {
    const xir_allocator *alloc;
    draw_span           *items;
    size_t               n;
    bool                 failed;   /* memory ran out: nothing more is added */
} draw_spans;

/* Returns the position of the new span. */
size_t draw_span_add(draw_spans *spans, draw_span span);

/* Returns the positions at which the edges to each node begin, and one more for the last one's end; NULL without
 * memory. */
uint32_t *draw_edges_to(const picture *p);

/* The steps. They return false without memory. */
xir_status draw_find_nodes(picture *p, xir_diags *why);
void       draw_find_calls(const picture *p, draw_spans *spans);
/* Scopes end at the borders of calls. */
void       draw_find_scopes(const picture *p, draw_spans *spans);
void       draw_find_tags(const picture *p, draw_spans *spans);
/* Groups that neither cut nor cross the spans that were found before. */
void       draw_find_repeats(const picture *p, draw_spans *spans);
bool       draw_make_groups(picture *p, draw_spans *spans);
bool       draw_size_boxes(picture *p);

/* ---- lift.c and order.c ------------------------------------------------------------------------------------------ */

/* A use of a value in the interior of a group. Vertices are numbered as they come there: children, entries, exits. */
typedef struct draw_link {
    uint32_t group;
    uint32_t from, to;
    uint32_t value : 30;
    uint32_t change : 2;      /* draw_change */
} draw_link;

/* An ENTRY or EXIT. */
typedef struct draw_port { uint32_t group, value; } draw_port;

/* All interiors before the vertices have an order. */
typedef struct draw_interiors {
    uint32_t  *node_rank;     /* of each node in the interior of its group                            */
    uint32_t  *group_rank;    /* of each group in that of its parent                                  */
    uint32_t  *children;      /* how many a group has; node.vertex and group.vertex number them       */
    uint32_t  *last_rank;     /* of the children                                                      */
    draw_port *entries, *exits;
    size_t     n_entries, n_exits;
    draw_link *links;         /* sorted by group, then value, then `to`                               */
    size_t     n_links;
} draw_interiors;

bool draw_lift(picture *p, draw_interiors *in);
void draw_interiors_free(const picture *p, draw_interiors *in);
bool draw_order(picture *p, const draw_interiors *in);

#endif
