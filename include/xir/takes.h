/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The numbers that inputs of operations may be. An index must be within its table, the argument of a logarithm must be
 * positive: a class says so in its TAKES row. Walking a network from its results to its inputs, the rows say which
 * numbers the inputs of the network take. Random inputs are drawn there, so that a network that can be run is run, and
 * its results are numbers (xir_array_random_in, prove.h).
 *
 * A range is a help for drawing numbers, not a property that is checked: an op without a row takes all numbers. */
#ifndef XIR_TAKES_H
#define XIR_TAKES_H

#include <xir/infer.h>

XIR_BEGIN

/* Numbers from `low` to `high`, both included; -INFINITY, INFINITY: no bound. */
typedef struct xir_numbers {
    uint32_t size;    /* XIR_INIT(xir_numbers) */
    bool     whole;   /* only integers       */
    double   low, high;
    double   gap;     /* numbers between -gap and gap are excluded */
} xir_numbers;

/* The numbers from `low` to `high`, both included. */
static inline xir_numbers xir_numbers_between(double low, double high) {
    xir_numbers range = XIR_INIT(xir_numbers);
    range.low = low;
    range.high = high;
    return range;
}
/* All numbers: -INFINITY to INFINITY. */
XIR_API xir_numbers xir_numbers_any(void);

/* Fills `out`, one range with its size for each of the `n` inputs of a network, in the order of xir_network_inputs. An
 * input of which no op asks anything gets xir_numbers_any(); so do inputs beyond those of the network. If two ops take
 * different numbers that have none in common, those of the later op count. Reads only; linear in the network.
 * XIR_E_MEMORY, XIR_E_ABI, XIR_E_MISSING if `net` is NULL. */
XIR_API xir_status xir_network_input_numbers(const xir_network *net, xir_numbers *out, size_t n, xir_diags *why);

/* ---- for TAKES functions ---------------------------------------------------------------------------------------- */

/* A TAKES function sees what an inference function sees, and which numbers its outputs must be, because later ops take
 * only those. It narrows the ranges of its inputs (xir_takes). It must accept any op, checked or not. If it fails, its
 * inputs take all numbers. */

/* Fills `out` with the range of output i. False if it may be any number. */
XIR_API bool xir_takes_output(const xir_infer *at, size_t i, xir_numbers *out);
/* Fills `out` with the least and the greatest number of an input that is Params of at most 4096 numbers. False for any
 * other input. */
XIR_API bool xir_takes_known(xir_infer *at, size_t i, xir_numbers *out);
/* Narrows input i to a range, unless nothing would remain. Inputs that the op does not have are ignored. */
XIR_API void xir_takes(xir_infer *at, size_t i, const xir_numbers *range);
/* Input i is an index into a dim, counted from 0. A dim that is not known (negative) or 0 is ignored. */
XIR_API void xir_takes_index(xir_infer *at, size_t i, int64_t dim);
/* Elements of input i become elements of output `o`. */
XIR_API void xir_takes_moved(xir_infer *at, size_t i, size_t o);

XIR_END

#endif
