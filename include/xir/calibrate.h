/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Calibration: which numbers the values of a network take, measured on samples. A calibration counts them in bins and
 * keeps nothing else, so its memory depends on the number of values and not on the number of samples. Ranges by
 * several methods are computed from the same bins.
 *
 *     xir_calibration *c = xir_calibration_new(ctx, NULL, why);
 *     for (each sample) xir_calibration_add(c, net, inputs, n, NULL, why);
 *     xir_calibration_save(c, "c.json", why);
 *
 * Values are known by their names, so a calibration can be saved, edited, and used for another copy of the network. A
 * value without a name, or whose name an earlier value has, is "#" and its id. docs/quantize.md has the formulas.
 * One thread may use a calibration at a time. */
#ifndef XIR_CALIBRATE_H
#define XIR_CALIBRATE_H

#include <xir/exec.h>
#include <xir/serialize.h>

XIR_BEGIN

typedef struct xir_calibration xir_calibration;

typedef enum xir_calibration_scope {
    XIR_CALIBRATE_ALL,        /* all floating-point values: inputs of the network and outputs of ops             */
    XIR_CALIBRATE_PRODUCTS    /* only those that a convolution or a matrix product reads                         */
} xir_calibration_scope;

typedef struct xir_calibration_options {
    uint32_t              size;       /* XIR_INIT(xir_calibration_options)                                         */
    xir_calibration_scope scope;      /* of the values that are added                                              */
    uint32_t              channels;   /* unless 0, the least and the greatest number of each channel are kept, too */
} xir_calibration_options;

/* Returns a calibration without samples. NULL options are the defaults. NULL with a finding: XIR_E_ABI,
 * XIR_E_UNSUPPORTED, XIR_E_INVALID for an unknown scope, XIR_E_MEMORY. The context must outlive it. Free it with
 * xir_calibration_free, which accepts NULL. */
XIR_API xir_calibration *xir_calibration_new(xir_context *ctx, const xir_calibration_options *options, xir_diags *why);
XIR_API void             xir_calibration_free(xir_calibration *c);

/* Runs a network on one sample and counts the numbers of its values. `inputs` and `options` are those of
 * xir_network_run, but `watch` and `user` of the options must be NULL (XIR_E_INVALID). A NaN or an infinity is
 * XIR_E_INVALID, and the finding names the sample, the value, its op and the element. More than 2^62 numbers of a value
 * are XIR_E_LIMIT. Statuses of xir_network_run; XIR_E_MEMORY. After a failure part of the sample may have been counted,
 * and each later call on the calibration fails with XIR_E_INVALID. */
XIR_API xir_status xir_calibration_add(xir_calibration *c, const xir_network *net, const xir_array *const *inputs,
                                       size_t n_inputs, const xir_run_options *options, xir_diags *why);

/* Adds the samples of another calibration. The bins are those of all samples in one calibration. XIR_E_LIMIT,
 * XIR_E_MEMORY; XIR_E_INVALID after an earlier failure of either. A failure is one of `c`, as above. */
XIR_API xir_status xir_calibration_merge(xir_calibration *c, const xir_calibration *other, xir_diags *why);

/* Saving writes JSON, sorted by the names of values; the file is replaced when it is complete. Writing does the same to
 * a function. XIR_E_IO; XIR_E_INVALID after an earlier failure; XIR_E_MEMORY. */
XIR_API xir_status xir_calibration_save(const xir_calibration *c, const char *path, xir_diags *why);
XIR_API xir_status xir_calibration_write(const xir_calibration *c, xir_write_fn *write, void *user, xir_diags *why);

/* Loading and reading return a calibration, or NULL with a finding that has `name` as its file: XIR_E_IO, XIR_E_SYNTAX
 * if it is not JSON, XIR_E_TYPE or XIR_E_MISSING for a member, XIR_E_BOUNDS for a number, XIR_E_CORRUPT for bins that
 * do not add up, XIR_E_UNSUPPORTED for a later version, XIR_E_LIMIT for a file of more than 2 GiB, XIR_E_MEMORY. Bins
 * stay packed, as they are in the file, until more numbers of their value are counted. */
XIR_API xir_calibration *xir_calibration_load(xir_context *ctx, const char *path, xir_diags *why);
XIR_API xir_calibration *xir_calibration_read(xir_context *ctx, xir_str json, xir_str name, xir_diags *why);

/* ---- asking -------------------------------------------------------------------------------------------------- */

/* The statistics of one value over all samples. */
typedef struct xir_calibrated {
    uint32_t size;       /* XIR_INIT(xir_calibrated)                                          */
    xir_str  name;       /* lives as long as the calibration                                  */
    uint64_t samples;    /* how many samples had the value                                    */
    uint64_t count;      /* how many numbers were counted                                     */
    double   min, max;   /* the least and the greatest number; 0 if there are none            */
    double   mean_min, mean_max, mean_abs;   /* means over samples: of their least and greatest number, and of their
                                                greatest |x|                                   */
} xir_calibrated;

/* The number of samples; the number of values. 0 for NULL. */
XIR_API uint64_t xir_calibration_samples(const xir_calibration *c);
XIR_API size_t   xir_calibration_count(const xir_calibration *c);
/* Fills `out` with what is known about the i-th value; values are in the order in which they were first counted. False
 * past the end, and for a struct without its size. */
XIR_API bool     xir_calibration_at(const xir_calibration *c, size_t i, xir_calibrated *out);
/* Returns the number of channels of the i-th value: of the elements of its last dim, in the samples. With it come the
 * least and the greatest number of each channel, which live until the calibration is changed or freed; `min` and `max`
 * may be NULL. 0 if channels were not counted, for a value without dims, and if samples had different numbers of
 * them. */
XIR_API size_t   xir_calibration_channels(const xir_calibration *c, size_t i, const double **min, const double **max);
/* The index of a value of a network, or of a name; SIZE_MAX if it was not counted. */
XIR_API size_t   xir_calibration_find(const xir_calibration *c, const xir_value *value);
XIR_API size_t   xir_calibration_find_name(const xir_calibration *c, xir_str name);

typedef enum xir_range_method {
    XIR_RANGE_MAX,          /* all numbers                                                                          */
    XIR_RANGE_AVERAGE,      /* the mean range of the samples                                                        */
    XIR_RANGE_PERCENTILE,   /* `percent` of the numbers; on two sides half of the rest is cut on each               */
    XIR_RANGE_MSE,          /* the least sum of squared errors of a quantiser with `bits`                           */
    XIR_RANGE_KLD           /* the least divergence of a distribution with 128 levels                               */
} xir_range_method;

typedef struct xir_range_options {
    uint32_t         size;        /* XIR_INIT(xir_range_options)                                  */
    xir_range_method method;
    uint32_t         bits;        /* for XIR_RANGE_MSE, 2 to 16; 0: 8                             */
    bool             symmetric;   /* the range is [-high, high]                                   */
    double           percent;     /* for XIR_RANGE_PERCENTILE, in (0, 100]; 0: 99.99              */
} xir_range_options;

/* The range of the i-th value. It contains 0, so paddings and ReLU have an exact number; a value that was always 0 has
 * the range [0, 0]. NULL options are the defaults. XIR_E_BOUNDS past the end or for a number outside of its bounds,
 * XIR_E_INVALID for an unknown method or after an earlier failure, XIR_E_ABI, XIR_E_UNSUPPORTED, XIR_E_MEMORY. */
XIR_API xir_status xir_calibration_range(const xir_calibration *c, size_t i, const xir_range_options *options,
                                         double *low, double *high, xir_diags *why);
/* The method of a word: "max", "average", "percentile", "mse", "kld". False if there is none. */
XIR_API bool       xir_range_method_of(xir_str word, xir_range_method *out);

XIR_END

#endif
