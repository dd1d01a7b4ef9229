/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A picture: what DOT, SVG and the page are made of. picture.c makes it in these steps:
 *
 *     nodes.c    the ops that are drawn, in their order, and the edges between them;  merge.c  those of two networks
 *     scopes.c   groups by name or tag;  repeats.c  groups of repeated ops;  groups.c  the tree of all groups
 *     lift.c     what each group shows: its interior
 *     order.c    the order of the vertices in each rank
 *     place.c    coordinates, for the groups that are open
 *
 * Everything but the coordinates is independent of which groups are open. The page computes those again, for what its
 * reader opens, so they follow from the interior by the integer algorithm below, which is written twice: in place.c,
 * and in JavaScript. A test compares both.
 *
 * ---- groups ----
 *
 * A group is a range of nodes, [begin, end). Groups are nested or disjoint; group 0 is the network. They are numbered
 * in preorder: a parent is before its children, children are in the order of their nodes. The children of a group are
 * its groups and those of its nodes that are in no inner group, in the order of nodes.
 *
 * An edge goes from a node to a later one, so no arrow between children can lead back. In a broken network some do:
 * these edges are stubs. A stub is not drawn as a line: each of its ends has a short note that names the other.
 *
 * ---- interiors ----
 *
 * What is in a group is a graph of its own, the interior. Its vertices are
 *
 *     NODE, GROUP   the children
 *     ENTRY         a value that comes from outside and is used inside: it enters here
 *     EXIT          a value that is made inside and used outside: it leaves here
 *     LINE          the place where the line of a value passes through a rank
 *
 * Every vertex has a rank. ENTRYs are rank 0, alone; EXITs are the last rank, alone; if a group has none, that rank
 * does not exist. A segment leads from a vertex to one in the next rank, never farther: a line over several ranks is a
 * chain of segments through LINEs, and the chains of one value share them. So all there is to draw of a group are its
 * vertices and its segments, and the lines of an open group in it continue at its ENTRYs and EXITs of the same value.
 *
 * The vertices of a group are numbered in reading order: rank by rank, and in each rank by their order. So the ranks
 * of a group are a list of first vertices, and its segments are sorted by `from`, then `to`.
 *
 * An edge is a stub if its line would pass more than 32 ranks of an interior, if its value has more than 16 uses that
 * are more than 8 ranks away, or if it leads back.
 *
 * ---- coordinates: a specification, in integers ----
 *
 * `across` is the direction in which the vertices of a rank are side by side, `along` the one in which ranks follow
 * each other: x and y, or y and x if the picture is drawn from left to right. A `line` is an ENTRY, EXIT or LINE, a
 * `box` is a NODE or GROUP. floor(a / b) rounds towards minus infinity. All sizes are even, so halves are exact.
 *
 * 1. Sizes (w across, h along). A line has 0, 0. A node has node.width x node.height, and so does a closed group with
 *    group.width x group.height: width is in x, height in y. An open group with an interior of A across and L along has
 *        top to bottom:  width = max(A, group.title) + 2 PAD,  height = L + 2 PAD + TITLE
 *        left to right:  width = max(L, group.title) + 2 PAD,  height = A + 2 PAD + TITLE
 *    and its interior begins at x = PAD (top to bottom: PAD + (width - 2 PAD - A) / 2), y = PAD + TITLE of the box.
 *
 * 2. Across: c[v] is the centre of vertex v.
 *    The distance of neighbours a, b in a rank is
 *        (w[a] + w[b]) / 2 + (both are boxes ? GAP_BOX : both are lines ? GAP_LINE : GAP_MIXED)
 *    First, in every rank, c of the first vertex is w / 2, and the others follow in these distances.
 *    The ends of segments: e(s, v) is where segment s begins or ends, from the centre of its vertex v. It is 0, unless
 *    v is an open group: then it is the distance of the ENTRY (s leads to v) or EXIT (s leads from v) of the same value
 *    from the centre of the group's box, which its interior says.
 *    Then SWEEPS sweeps, numbered from 0. An even one goes down: over ranks 1, 2, … in this order, where the neighbours
 *    of a vertex are the other ends of the segments to it. An odd one goes up: over the ranks from the last but one to
 *    0, where they are the other ends of the segments from it. A box is an end if no segment leads to it, or none from
 *    it. Each segment s between a vertex v of the rank and a neighbour u has a wish, c[u] + e(s, u) - e(s, v), and a
 *    class:
 *        one of them is a LINE, the other one is not:  1
 *        both are LINEs, or v or u is an end:          2
 *        otherwise:                                    3
 *    The wish of v is floor(sum / number) of the wishes of its highest class; without neighbours it is c[v]. The class
 *    of v is that class; it is 0 without neighbours, and if v is an end. When all vertices of a rank have a wish, the
 *    rank is placed, with o[v] the sum of the distances from the first vertex to v. A block is a run of vertices with
 *    (class, sum, n); at = floor(sum / n). From left to right, each vertex is a new block (class, wish - o[v], 1).
 *    While the block before it has a greater `at`, both become one block: that of the higher class gives sum and n; if
 *    the classes are equal, both are added. In the end c[v] = at of its block + o[v]. After the last sweep all c are
 *    moved so that the least c - w/2 is 0. A = the greatest c + w/2, rounded up to even.
 *
 * 3. Along: thick[r] is the greatest h in rank r. With d the greatest |c[from] + e(s, from) - c[to] - e(s, to)| of the
 *    segments from rank r to rank r + 1, the gap between them is
 *        (rank r is ENTRYs or rank r + 1 is EXITs ? GAP_PORT : GAP_RANK) + 2 floor(min(d, GAP_MOST) / 16)
 *    top[0] = 0, top[r + 1] = top[r] + thick[r] + gap, L = top + thick of the last rank. A box begins at top[r] +
 *    (thick[r] - h) / 2. An interior without vertices has A = L = 0.
 *
 * 4. Segments. One begins at c[from] + e(s, from) and ends at c[to] + e(s, to). It is straight from the end of the box
 *    to the end of its rank, top + thick, then a curve to the top of the next rank, with control points halfway between
 *    both, and straight again to the box. A LINE is straight over the whole rank. In an open group the line continues
 *    straight from the edge of the box to the ENTRY, and from the EXIT to the edge. An arrow head is where the box is a
 *    node or closed. */
#ifndef DRAW_PICTURE_H
#define DRAW_PICTURE_H

#include <xir/draw.h>
#include "no_memory.h"

#define DRAW_NONE UINT32_MAX

enum {
    DRAW_PAD       = 14,    /* between the edge of an open group and its interior   */
    DRAW_TITLE     = 20,    /* the height of its title                              */
    DRAW_GAP_BOX   = 28,
    DRAW_GAP_MIXED = 18,
    DRAW_GAP_LINE  = 12,
    DRAW_GAP_RANK  = 28,
    DRAW_GAP_PORT  = 12,
    DRAW_GAP_MOST  = 960,
    DRAW_SWEEPS    = 8,
    DRAW_FAR       = 32,    /* ranks that a line may pass                           */
    DRAW_DISTANT   = 8,     /* a use is distant beyond so many ranks                */
    DRAW_MOST_USES = 16,    /* so many distant uses of a value are drawn            */
    DRAW_DEEP      = 64,    /* levels of scopes; deeper ones are not groups         */
    DRAW_LETTERS   = 28,    /* of a line of text in a box; a longer one is cut      */
    DRAW_HEAD      = 22,    /* the height of a node's head, with its class          */
    DRAW_LINE_HEIGHT = 16,  /* of each line below it that is not empty              */
    DRAW_LINE_END  = 4,     /* below the last one                                   */
    DRAW_CLOSED_HEIGHT = 44
};

/* An op. Nodes are in execution order, but a constant comes just before its first user. */
typedef struct draw_node {
    const xir_op *op;
    uint32_t      group;         /* the innermost one that it is in          */
    uint32_t      vertex;        /* in the interior of that group            */
    uint32_t      value;         /* the number of its first output; the others follow. nodes[n_nodes].value: how many
                                    values there are                         */
    uint16_t      width, height;
    bool          constant;      /* depends on Params alone                  */
} draw_node;

/* A use of a value: the edges to a node are next to each other, in the order of its inputs. */
typedef struct draw_edge {
    uint32_t from, to;           /* nodes                                                             */
    uint32_t value;              /* output `value - nodes[from].value` of `from`                      */
    uint32_t input : 29;         /* the position among the inputs of `to`                             */
    uint32_t change : 2;         /* draw_change                                                       */
    uint32_t stub : 1;
} draw_edge;

/* With a diff: which of the two networks has an edge, a segment, or what shares it. */
typedef enum draw_change { DRAW_SAME, DRAW_GONE, DRAW_NEW } draw_change;

typedef enum draw_kind { DRAW_NODE, DRAW_GROUP, DRAW_ENTRY, DRAW_EXIT, DRAW_LINE } draw_kind;

typedef struct draw_vertex {
    uint32_t kind : 3;           /* draw_kind                                                         */
    uint32_t rank : 29;
    uint32_t ref;                /* NODE: the node; GROUP: the group; otherwise the value             */
} draw_vertex;

typedef struct draw_segment {
    uint32_t from, to;           /* vertices of the group                                             */
    uint32_t value : 30;
    uint32_t change : 2;         /* draw_change; SAME if edges that differ in it share the segment    */
} draw_segment;

typedef enum draw_reason {
    DRAW_OF_NETWORK,
    DRAW_OF_CALL,                /* `label` is its name, or "Call"                                    */
    DRAW_OF_SCOPE,               /* `label` is a part of names                                        */
    DRAW_OF_TAG,                 /* `label` is the value of the tag                                   */
    DRAW_OF_REPEATS,             /* `number` copies of one block, its children                        */
    DRAW_OF_COPY                 /* copy `number` of them, from 1                                     */
} draw_reason;

typedef struct draw_group {
    uint32_t    parent;          /* DRAW_NONE: group 0                                                */
    uint32_t    vertex;          /* in the interior of the parent                                     */
    uint32_t    begin, end;      /* its nodes                                                         */
    uint32_t    depth;           /* 0: the network                                                    */
    uint32_t    next;            /* the first group after it that is not in it                        */
    draw_reason reason;
    uint32_t    number;
    xir_str     label;           /* lives as long as the network; text of a file, so it may be anything */
    uint32_t    prefix;          /* how many bytes at the start of names the labels above them say:   */
    uint32_t    named;           /* those of the name of this node. Other nodes may have other names  */
    uint32_t    vertices, n_vertices;   /* picture.vertices[vertices], …                              */
    uint32_t    segments, n_segments;
    uint32_t    ranks, n_ranks;  /* picture.ranks[ranks + r]: the first vertex of rank r; [ranks + n_ranks] is
                                    n_vertices                                                        */
    uint32_t    entries, exits;  /* how many; ENTRYs are the first vertices, EXITs the last ones      */
    uint16_t    title;           /* the width of its title                                            */
    uint16_t    width, height;   /* of its closed box                                                 */
} draw_group;

/* An op that depends on constants alone and is not drawn: it belongs to the node of the op `into`, which uses it. */
typedef struct draw_folded {
    const xir_op *op, *into;
    uint32_t      node;
} draw_folded;

/* With how.diff, `net` is the first network. A node of both has the op of the second one, and `was` that of the first.
 * Its outputs are as many as the op with more of them has; its inputs are those of `op`, then `lost` ones that only
 * `was` has and another op makes. */
typedef struct picture {
    const xir_network   *net;
    const xir_allocator *alloc;
    xir_draw_options     how;
    draw_node           *nodes;      size_t n_nodes;      /* and one more, see draw_node.value        */
    draw_edge           *edges;      size_t n_edges;      /* sorted by `to`, then `input`             */
    draw_group          *groups;     size_t n_groups;
    draw_vertex         *vertices;   size_t n_vertices;
    draw_segment        *segments;   size_t n_segments;
    uint32_t            *ranks;      size_t n_ranks;
    draw_folded         *folded;     size_t n_folded;     /* in execution order                       */
    const xir_op       **was;        /* with a diff, by node                                                       */
    uint32_t            *lost;       /* the same                                                                   */
    uint8_t             *changes;    /* the same: bits of xir_diff_kind                                            */
    uint32_t            *differing;  /* by node: how many before it differ; one more                               */
    uint32_t            *records;    /* by record of the diff: its node; DRAW_NONE: the network, or not drawn      */
} picture;

/* NULL: the node is not a pair. */
static inline const xir_op *draw_was(const picture *p, size_t node) { return p->was ? p->was[node] : NULL; }
/* Returns the differences of a node: bits of xir_diff_kind; 0: it does not, or there is no diff. */
static inline unsigned draw_changes(const picture *p, size_t node) { return p->changes ? p->changes[node] : 0; }

/* ---- picture.c: making ------------------------------------------------------------------------------------------- */

/* Makes everything but coordinates. On failure there is a finding, and `p` is empty; picture_free frees it anyway. */
xir_status picture_make(picture *p, const xir_network *net, const xir_draw_options *how, xir_diags *why);
void       picture_free(picture *p);

/* ---- nodes.c ----------------------------------------------------------------------------------------------------- */

/* Output k of a node, of `was` if the op has fewer. NULL past the end. */
const xir_value *draw_output(const picture *p, size_t node, size_t k);

/* ---- text.c: what is written in boxes ---------------------------------------------------------------------------- */

/* Text of a file in at most DRAW_TEXT bytes: valid UTF-8 without control characters, without characters that change
 * the direction of text, and of at most DRAW_LETTERS letters, with an ellipsis if it is cut. The text is terminated. */
enum { DRAW_TEXT = 4 * DRAW_LETTERS + 64 };

/* The lines of a node's box: how it differs and its class, the rest of its name, and the type of its first output. A
 * line may be empty: then it has no place in the box. */
enum { DRAW_LINE_CLASS, DRAW_LINE_NAME, DRAW_LINE_TYPE, DRAW_LINES };
size_t draw_node_text(const picture *p, uint32_t node, int line, char out[DRAW_TEXT]);
/* The title of a group: "layer1", "block ×12", "block 3"; and what its closed box says below: "14 ops". */
size_t draw_group_title(const picture *p, uint32_t group, char out[DRAW_TEXT]);
size_t draw_group_count(const picture *p, uint32_t group, char out[DRAW_TEXT]);

/* Takes a character from a text of a file, and writes it, or \xNN or \uNNNN if it is not harmless. Returns how many
 * bytes were written. */
size_t  draw_harmless(xir_str *s, char out[8]);
/* The last part of the name of its class: "Conv2d". */
xir_str draw_class_word(const xir_op *op);
/* "fp32 1×56×56×64"; at least 64 bytes of room, and cut to fit. */
size_t  draw_type_text(const xir_type *type, char *out, size_t room);

/* The kind of operation, for its colour: 0 to DRAW_COLOURS - 1. */
typedef enum draw_colour {
    DRAW_OTHER, DRAW_PORT, DRAW_LINEAR, DRAW_ACTIVATION, DRAW_NORM, DRAW_POOL, DRAW_ELEMENTWISE, DRAW_SHAPE,
    DRAW_REDUCTION, DRAW_QUANTISATION, DRAW_COLOURS
} draw_colour;
draw_colour draw_colour_of(const xir_op *op);
/* The colour of a box's head as "#rrggbb", on which white text has a contrast of at least 4.5: that of its kind, or
 * with a diff how it differs. */
const char *draw_head_colour(const picture *p, uint32_t node);
/* The colour of what is only in the first network, or only in the second one. */
const char *draw_change_colour(draw_change change);

/* ---- the writers ------------------------------------------------------------------------------------------------- */

xir_status draw_dot(const picture *p, xir_write_fn *write, void *user, xir_diags *why);
xir_status draw_svg(const picture *p, xir_write_fn *write, void *user, xir_diags *why);
xir_status draw_html(const picture *p, xir_write_fn *write, void *user, xir_diags *why);

#endif
