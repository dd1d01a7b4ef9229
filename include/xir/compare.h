/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Finds the layer that is wrong: two networks are run, or one whose values a device has dumped, and each value that
 * both have is compared. The first network is right by definition, and the second is looked into: a conversion of the
 * first, the same after passes, its quantised form.
 *
 *     xir_compare *c = xir_compare_new(a, b, NULL, why);
 *     xir_status status = c ? xir_compare_run(c, inputs, n, why) : XIR_E_INVALID;
 *     const xir_compare_pair *bad = status ? NULL : xir_compare_first_bad(c);
 *     if (bad) show(xir_value_op(bad->b), bad->worst.snr);
 *     xir_compare_free(c);
 *
 * Which values are a pair:
 *   1. what provenance says (provenance.h): a recorder that is attached to a network, or the tags that one has left in
 *      it. If only one network has provenance, its sources are values of the other one.
 *   2. values of one name
 *   3. the outputs of ops that xir_diff matches
 *   4. outputs of the networks at the same position, if neither stands for another output: a pair more
 * Otherwise a value is in one pair at most. If the elements of two values cannot be at the same places, 1 does not make
 * a pair of them; 2 and 3 do if their ops have the same class, and it is a bad one. The inputs of the networks are not
 * compared.
 *
 * An element is compared with the element at the same place, also where one network has its axes in another order: by
 * the letters of the layouts, otherwise because channels were moved to the end; axes of length 1 do not count. What a
 * reshape makes of such a value, and what follows it, may keep that order of elements although its dims do not show it;
 * and letters that only one side has may lie. So a pair that is bad is compared in the other order, too, and is good if
 * it is good there. Quantised elements are the reals that they stand for. */
#ifndef XIR_COMPARE_H
#define XIR_COMPARE_H

#include <xir/exec.h>

XIR_BEGIN

/* The distance between the elements that were found and those that were expected, both as reals. Equal infinities, and
 * NaN on both sides, are equal and count for nothing else. If only one side has NaN or an infinity, `largest` and
 * `relative` are infinite, `cosine` is 0 and `snr` is minus infinity. */
typedef struct xir_compare_figures {
    double largest;      /* the largest |found - expected|                                                          */
    double relative;     /* `largest` as a part of the largest |expected|; infinite if that is 0 and `largest` not  */
    double cosine;       /* of the angle between both as vectors; if one is 0, 1 or 0: whether the other is 0, too  */
    double snr;          /* dB: 10 log10 of the sum of expected^2 over that of (found - expected)^2; infinite without
                            a difference                                                                            */
    double saturated;    /* how many of those found are at a limit of their type, from 0 to 1: of quantised types the
                            lowest and highest number, unless it stands for 0; of floats the infinities             */
} xir_compare_figures;

/* Why two values are a pair. */
typedef enum xir_compare_by {
    XIR_COMPARE_BY_SOURCE,   /* provenance                       */
    XIR_COMPARE_BY_NAME,
    XIR_COMPARE_BY_MATCH,    /* xir_diff matches their ops       */
    XIR_COMPARE_BY_FILE,     /* the folder has an array of it    */
    XIR_COMPARE_BY_POSITION  /* outputs at the same position, which 1 to 3 pair with other values */
} xir_compare_by;

/* A pair, after all runs so far. */
typedef struct xir_compare_pair {
    const xir_value    *a, *b;        /* of a folder, b is NULL                                                     */
    xir_compare_by      by;
    bool                bad;          /* beyond the tolerance in one of the samples                                 */
    bool                same_shape;   /* false: in one of the samples no element of one has a place in the other; then
                                         `bad`, and the figures are those of the other samples                      */
    size_t              samples;      /* how many samples the figures are of                                        */
    xir_compare_figures worst, mean;  /* of the samples, each figure by itself; the mean of finite figures          */
    uint64_t            differ, of;   /* elements beyond the tolerance, in the sample that has most; and all        */
    uint64_t            at;           /* where the largest difference is, as an index of a's elements               */
    double              expected, found;
} xir_compare_pair;

typedef struct xir_compare_options {
    uint32_t    size;         /* XIR_INIT(xir_compare_options)                                                      */
    /* Elements differ if |found - expected| > absolute + relative * |expected|, or if exactly one is NaN. Both 0: 1e-4
     * each. A pair is bad if an element differs; with `by_snr`, instead, if its snr is below `least_snr`. */
    double      absolute, relative;
    bool        by_snr;
    double      least_snr;    /* dB */
    /* After each pair the second network goes on with the value of the first, in its own type and order: so a pair
     * shows what is lost since the pairs before it, not in the whole. With a folder it is the first one that goes on
     * with the arrays of the folder, as the device did. */
    bool        alone;
    /* NULL, or a folder in place of the second network: for a value it has NAME.npy, ID.npy, NAME.bin or ID.bin, the
     * first of these that exists. NAME is the name of the value, with _ for /, ID its id; an output without a name is
     * output_N.npy, too. A .bin has the bytes of the value's type. Values without a file are not compared. Copied. */
    const char *folder;
    bool      (*cancel)(void *user);     /* these are as in xir_run_options, for each of the networks */
    void       *user;
    uint64_t    max_work, max_memory;
    size_t      threads;
} xir_compare_options;

typedef struct xir_compare xir_compare;

/* Finds the pairs of two networks of one context, or with `b` NULL those of a network and a folder. Both networks must
 * outlive the result and not change. NULL with a finding:
 *   XIR_E_MISSING   no network, or neither a second one nor a folder
 *   XIR_E_INVALID   both of these, networks of two contexts, a tolerance that is negative or NaN; no value is in a pair
 *   XIR_E_IO        the folder cannot be read
 *   XIR_E_ABI, XIR_E_UNSUPPORTED, XIR_E_MEMORY
 * xir_compare_free accepts NULL. One thread at a time may use the result. */
XIR_API xir_compare *xir_compare_new(const xir_network *a, const xir_network *b, const xir_compare_options *options,
                                     xir_diags *why);
XIR_API void         xir_compare_free(xir_compare *c);

/* Runs both networks on the same inputs, those of the first one, step by step, and compares. Each call is one sample.
 * An input of the second one is the input of the first that is its pair, otherwise the one at its position; it gets the
 * array in its own order and elements.
 *
 * Kept at one moment are the values that the two runs need, arrays of the first one that come before their turn in the
 * second, and one pair.
 *
 * Returns what xir_network_run returns for either network; XIR_E_BOUNDS if the second one has another number of inputs;
 * XIR_E_IO, XIR_E_CORRUPT and others for a file of the folder that cannot be read. What was compared before a failure
 * counts. */
XIR_API xir_status xir_compare_run(xir_compare *c, const xir_array *const *inputs, size_t n_inputs, xir_diags *why);

/* The pairs, in the execution order of the first network, those of 4 last; NULL past the end. They live as long as `c`,
 * and each run changes them. The second returns the first bad one, NULL if none is bad. */
XIR_API size_t                  xir_compare_count(const xir_compare *c);
XIR_API const xir_compare_pair *xir_compare_at(const xir_compare *c, size_t i);
XIR_API const xir_compare_pair *xir_compare_first_bad(const xir_compare *c);

/* The ops that make the value of a pair from values of other pairs, inputs and Params: the op that makes it, then those
 * before it, the last one first; of the first network, or `of_b` of the second. They are where a bad pair went wrong if
 * all pairs before it are good. Writes up to `room`, returns how many there are; SIZE_MAX if memory runs out. */
XIR_API size_t xir_compare_ops(const xir_compare *c, const xir_compare_pair *pair, bool of_b, const xir_op **out,
                               size_t room);

typedef struct xir_compare_state {
    uint32_t size;               /* XIR_INIT(xir_compare_state)                                       */
    size_t   samples;            /* runs that did not fail                                            */
    size_t   bad;                /* bad pairs                                                         */
    size_t   alone_a, alone_b;   /* values of ops that are in no pair; of a folder, files             */
} xir_compare_state;

/* Fills `out`. XIR_E_ABI. */
XIR_API xir_status xir_compare_state_of(const xir_compare *c, xir_compare_state *out, xir_diags *why);

/* Sets *out to the array that the folder has for a value of the first network, an input too, for the caller to free;
 * to NULL if it has none. Its elements are those of the value, in the value's order, if its dims allow that;
 * otherwise it stays as the file has it. XIR_E_MISSING if `c` is NULL, XIR_E_IO, XIR_E_BOUNDS for a .bin of another
 * size than the value, what xir_array_load_npy refuses, XIR_E_MEMORY. */
XIR_API xir_status xir_compare_array(const xir_compare *c, const xir_value *value, xir_array **out, xir_diags *why);
/* The files of the folder that no value has, in the order of their names; NULL past the end. They live as long as
 * `c`. */
XIR_API const char *xir_compare_file_alone(const xir_compare *c, size_t i);

XIR_END

#endif
