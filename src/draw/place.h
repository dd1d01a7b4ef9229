/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Coordinates of a picture in which some groups are open, by the algorithm that picture.h specifies. */
#ifndef DRAW_PLACE_H
#define DRAW_PLACE_H

#include "picture.h"

/* A group as it is drawn. */
typedef struct draw_box {
    bool    shown;              /* all groups around it are open                                  */
    bool    open;
    int64_t x, y, width, height;
    int64_t inside_x, inside_y; /* where its interior begins, if it is open                      */
    int64_t across, along;      /* the extents of the interior                                    */
} draw_box;

typedef struct draw_places {
    const picture *p;
    draw_box      *boxes;       /* by group                                                        */
    int64_t       *centre;      /* c of each vertex of picture.vertices, if its group is open       */
    int64_t       *top, *thick; /* of each rank, by its place in picture.ranks                      */
    int64_t       *from, *to;   /* across, where each segment of picture.segments begins and ends   */
} draw_places;

/* Places everything; the options say which groups are open. False without memory; draw_unplace frees it anyway. */
bool draw_place(draw_places *at, const picture *p);
void draw_unplace(draw_places *at);

/* The extents of a vertex across and along. */
void draw_vertex_size(const draw_places *at, const draw_vertex *v, int64_t *across, int64_t *along);
static inline bool draw_is_line(const draw_vertex *v) { return v->kind >= DRAW_ENTRY; }

#endif
