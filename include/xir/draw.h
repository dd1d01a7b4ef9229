/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Pictures of networks: DOT for Graphviz, SVG, and one HTML page that can be searched, opened and closed. Ops are
 * boxes in layers from top to bottom, an arrow is a value, and ops that belong together are in a group, which is drawn
 * open or as one closed box. Two networks are drawn as one, with what differs marked. Drawing takes linear time and
 * changes nothing; the same network and options give the same bytes.
 *
 *     xir_draw_options how = XIR_INIT(xir_draw_options, .depth = 2);
 *     xir_status status = xir_draw(net, XIR_DRAW_SVG, &how, write_to, stdout, why);
 *
 * Any network that can be read can be drawn: it need not be valid. docs/view.md shows pictures. */
#ifndef XIR_DRAW_H
#define XIR_DRAW_H

#include <xir/cost.h>
#include <xir/diff.h>
#include <xir/network.h>
#include <xir/serialize.h>

XIR_BEGIN

typedef enum xir_draw_format {
    XIR_DRAW_DOT,
    XIR_DRAW_SVG,
    XIR_DRAW_HTML
} xir_draw_format;

/* The rules by which ops form a group. Groups are runs of the execution order. A group whose ops are not next to each
 * other there is cut into several, so that no arrow leads back. A call (xir::Call) is always a group, with the ops of
 * its body; it is one op with `select` or `diff`. */
typedef enum xir_draw_group {
    XIR_DRAW_BOTH,     /* scopes, and repeats in them                                                                 */
    XIR_DRAW_SCOPE,    /* the names of ops, split at `/`, or at `.` in a name without one: "layer1/block2/conv"       */
    XIR_DRAW_REPEAT,   /* repeated ops: equal classes, attributes, types and connections, again and again             */
    XIR_DRAW_TAG,      /* the tag `tag` of ops: ops with the same value                                               */
    XIR_DRAW_NONE
} xir_draw_group;

typedef struct xir_draw_options {
    uint32_t       size;           /* XIR_INIT(xir_draw_options)                                                      */
    xir_draw_group group;
    uint32_t       depth;          /* how many levels of boxes are drawn; groups at the last level are closed. 1: the
                                      outermost groups alone, 0: everything. HTML: how much is open at first; 0: as
                                      many levels as show up to 300 boxes                                             */
    uint32_t       hops;           /* with `select`: how many arrows away an op may be                                */
    bool           left_to_right;  /* layers from left to right                                                       */
    bool           no_values;      /* HTML: do not read the bytes of Params for statistics                            */
    xir_str        tag;            /* XIR_DRAW_TAG: its key                                                           */
    const xir_op  *select;         /* draws only this op and its neighbours; NULL: all                                */
    const xir_str *data;           /* HTML: texts of data files, each with numbers of ops: docs/view.md. The page reads
                                      them; a text that is not JSON becomes a note on it                             */
    size_t         n_data;
    const xir_diff *diff;          /* draws the two networks of a diff as one: ops and arrows that were removed, added,
                                      moved or changed have a sign and a colour. The drawn network is the first one of
                                      the diff, neither was edited since, and `select` may be an op of either. NULL:
                                      one network                                                                     */
    bool           constants;      /* draws ops that depend on constants alone, too. Otherwise they belong to the ops
                                      that use them. With `diff` they are always drawn. HTML: what the page shows at
                                      first; it has both                                                              */
    /* HTML: fills in what an op costs, whose struct has its size, or returns false if that is not known. NULL:
     * xir_op_cost. For a dialect, whose ops have no costs until they are converted. */
    bool         (*cost)(void *user, const xir_op *op, xir_cost *out);
    void          *user;           /* for `cost`                                                                      */
} xir_draw_options;

/* Draws a network. NULL options are the default. Calls `write` with one piece after another. The network is only read:
 * several threads may draw it. On failure, some bytes may have been written:
 *   XIR_E_MISSING      no network, no `write`, or XIR_DRAW_TAG without a key
 *   XIR_E_INVALID      an unknown format or group; `select` is not an op of an execution order; the first network of
 *                      `diff` is another one
 *   XIR_E_ABI, XIR_E_UNSUPPORTED   the options do not have their size, or set members that this library does not know
 *   XIR_E_LIMIT        more than 2^28 ops, values or inputs
 *   XIR_E_IO           `write` returned false
 *   XIR_E_MEMORY */
XIR_API xir_status xir_draw(const xir_network *net, xir_draw_format format, const xir_draw_options *options,
                            xir_write_fn *write, void *user, xir_diags *why);

XIR_END

#endif
