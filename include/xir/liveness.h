/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The values that exist while an op runs, and their bytes. A value is alive from the op that makes it to the last op
 * that reads it, both included. Results of the network (what its Output op reads) stay alive to the end of the order.
 * What a sub op reads, its parent reads. Params do not count: they exist all the time (xir_liveness_params). While an
 * xir::Call runs, the values of its body that are alive together count, too, each with bytes of its own; they have no
 * lives here. What other sub ops make does not count.
 *
 *     xir_liveness *l = xir_liveness_new(net, NULL, why);
 *     xir_live_peak peak = XIR_INIT(xir_live_peak);
 *     if (l && !xir_liveness_peak(l, &peak, why)) show(peak.op, peak.bytes);
 *     xir_liveness_free(l);
 *
 * The bytes of a value are those that its elements take in a file (xir_type_bytes). A value whose bytes are unknown
 * (an unknown dim, no type, a type of an unknown class) is counted apart, never as 0 bytes. Sums and sizes that exceed
 * 64 bits are UINT64_MAX.
 *
 * By default every value has bytes of its own. With `views` and `in_place`, the SHARES rows of the classes (declare.h)
 * say which values share them:
 *   views      The output of a VIEW row is in the bytes of its input, if both types have the same element type and take
 *              the same number of bytes. Those live until no value in them is read any more. A view of Params takes no
 *              bytes.
 *   in_place   The output of an OVER row is written over the first input of the row that allows it: it has as many
 *              elements of as many bits; no op reads its bytes afterwards, in this value or a view of it; and this op
 *              reads them only through inputs of the row. Params, inputs of the network and results are never
 *              written over.
 *   parts      The inputs of a JOINS row are written into the bytes of its output, and the outputs of a DIVIDES or
 *              PICKS row are in those of its input, if all dims before the axis are 1, so that each part is one run of
 *              bytes; through several such ops. An op shares so only if the peak does not rise, the op first that saves
 *              most copied bytes. Not parts, and without any, are Params, inputs of the network, results, and what is
 *              written over while the whole is still needed.
 * The first two do not apply to tiled types, except where both types are equal. */
#ifndef XIR_LIVENESS_H
#define XIR_LIVENESS_H

#include <xir/network.h>

XIR_BEGIN

typedef struct xir_liveness_options {
    uint32_t size;                /* XIR_INIT(xir_liveness_options)                                              */
    bool     views, in_place;     /* which sharing counts                                                        */
    /* Every op of the network's order, once, in another order; NULL: the order as it is stored. */
    const xir_op *const *order;
    size_t   n_order;
    /* Unless NULL: returns true for further ops whose first output has the bytes of their first input, whatever their
     * classes say, if both have as many bytes. For moves that a later pass removes. */
    bool   (*is_view)(void *user, const xir_op *op);
    void    *user;
    bool     parts;               /* sharing of parts counts, too                                                */
    uint64_t part_align;          /* a part begins at a multiple of it in the whole; 0: anywhere                 */
    /* Unless NULL: returns true for values that are not parts and have none, such as those of other memories. */
    bool   (*is_apart)(void *user, const xir_value *value);
} xir_liveness_options;

typedef struct xir_liveness xir_liveness;

/* Computes it for all values, in time linear in the ops and their inputs. The network is only read and must outlive the
 * result; later changes do not change the result, and what is added later is not in it. Several threads may ask one
 * result. NULL options are the default. Returns NULL with a finding:
 *   XIR_E_MISSING  `net` is NULL
 *   XIR_E_INVALID  an op reads a value that it makes itself or that a later op makes (the network has a cycle or is not
 *                  sorted); or the given order lacks an op, has one twice, one of another network or one that is not
 *                  placed
 *   XIR_E_ABI, XIR_E_UNSUPPORTED   the options do not have their size, or set members that this library does not know
 *   XIR_E_LIMIT    more than 2^32 - 2 values
 *   XIR_E_MEMORY
 * Absent inputs, and inputs that no op of the order makes (values of sub ops, or of ops that a broken file lacks), are
 * ignored. xir_liveness_free accepts NULL. */
XIR_API xir_liveness *xir_liveness_new(const xir_network *net, const xir_liveness_options *options, xir_diags *why);
XIR_API void          xir_liveness_free(xir_liveness *l);

/* Returns the network that was asked; NULL for NULL. */
XIR_API const xir_network *xir_liveness_network(const xir_liveness *l);

/* ---- one value --------------------------------------------------------------------------------------------------- */

/* The life of a value. Positions count ops of the order, from 0. */
typedef struct xir_life {
    uint32_t size;             /* XIR_INIT(xir_life)                                                             */
    bool     known;            /* the bytes are known                                                            */
    bool     of_params;        /* a view of Params: it takes no bytes                                            */
    int64_t  first, last;      /* the op that makes it; the last that reads it: `first` if no op does, for a
                                  result the last op of the order                                                */
    uint64_t bytes;            /* that its elements take, shared or not; 0 if unknown                            */
    /* The oldest value in the same bytes, itself if it shares none; NULL for a view of Params. With parts, the value
     * that all of these are parts of. */
    const xir_value *in;
    /* Until when those bytes are needed: the greatest `last` of all values in them. */
    int64_t  end;
    /* From when: the least `first` of them; and at which of those bytes the value begins. */
    int64_t  begin;
    uint64_t offset;
} xir_life;

/* Fills `out`. False, with `out` all zero but its size, for Params, for a value of a sub op, of an op that was not in
 * the order, of another network, for NULL, and if `out` does not have its size. */
XIR_API bool xir_liveness_of(const xir_liveness *l, const xir_value *value, xir_life *out);

/* ---- one op ------------------------------------------------------------------------------------------------------ */

/* The number of ops in the order; the op at a position, NULL past the ends; the position of an op, -1 if it was not in
 * the order. */
XIR_API size_t        xir_liveness_op_count(const xir_liveness *l);
XIR_API const xir_op *xir_liveness_op_at(const xir_liveness *l, int64_t position);
XIR_API int64_t       xir_liveness_position(const xir_liveness *l, const xir_op *op);

/* The bytes that are alive while the op at a position runs: those of its inputs, of its outputs, of its body if it is a
 * call, and of all values that are made before and read after it. xir_liveness_unknown_at counts the values among them
 * whose bytes are unknown, so that the sum lacks them; values in a body are not among those. Both are 0 past the
 * ends. */
XIR_API uint64_t xir_liveness_bytes_at(const xir_liveness *l, int64_t position);
XIR_API size_t   xir_liveness_unknown_at(const xir_liveness *l, int64_t position);

/* Writes up to `room` of the values that are alive at a position, in the order in which they are made, and returns
 * their number; values that share bytes are all among them. Linear in the network. */
XIR_API size_t xir_liveness_values_at(const xir_liveness *l, int64_t position, const xir_value **out, size_t room);

/* ---- the whole --------------------------------------------------------------------------------------------------- */

/* The op at which the most bytes are alive, the first of several. */
typedef struct xir_live_peak {
    uint32_t size;             /* XIR_INIT(xir_live_peak)                                                        */
    bool     exact;            /* no value of the network has unknown bytes; otherwise more may be alive, and
                                  elsewhere                                                                      */
    uint64_t bytes;            /* alive while `op` runs                                                          */
    const xir_op *op;          /* NULL if there are no ops                                                       */
    int64_t  position;         /* -1 if there are no ops                                                         */
    uint64_t values;           /* of the whole network                                                           */
    uint64_t unknown;          /* how many of those have unknown bytes                                           */
} xir_live_peak;

/* XIR_E_MISSING if `l` is NULL, XIR_E_ABI. */
XIR_API xir_status xir_liveness_peak(const xir_liveness *l, xir_live_peak *out, xir_diags *why);

/* The bytes of all Params of the network that its ops or their attributes have, each once, as the network is now.
 * `unknown`, unless it is NULL, is set to the number of those whose bytes are unknown. Linear. */
XIR_API uint64_t xir_liveness_params(const xir_liveness *l, size_t *unknown);

XIR_END

#endif
