/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The notes at the ends of edges that are not drawn as lines. */
#ifndef DRAW_STUBS_H
#define DRAW_STUBS_H

#include "out.h"

/* The stubs that end at a box: how many, and the node at the other end of the first one. */
typedef struct draw_stub { uint32_t n, other; } draw_stub;

typedef struct draw_stubs {
    draw_stub *in, *out;   /* by node, then by group; NULL: the picture has none */
} draw_stubs;

/* False without memory; draw_stubs_free frees it anyway. */
bool draw_find_note_ends(draw_stubs *s, const picture *p);
void draw_stubs_free(draw_stubs *s, const picture *p);

/* "← conv1", "→ conv1 +3". */
void draw_stub_words(draw_out *o, const picture *p, const draw_stub *stub, bool in);

#endif
