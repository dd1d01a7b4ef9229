/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Short sequences of ops that rows of several formats need: parts of axes, products, angles. Each returns its last
 * value, NULL after a failure. */
#ifndef CONVERT_PARTS_H
#define CONVERT_PARTS_H

#include "node/helpers.h"

/* Elements [begin, end) of an axis, each `step` after the one before, as Slice counts them. */
xir_value *make_part(xir_node *at, xir_value *x, size_t axis, int64_t begin, int64_t end, int64_t step);
/* Elements of an axis by constant positions. */
xir_value *make_taken(xir_node *at, xir_value *x, size_t axis, const xir_ints *places);
/* An axis of a known dim, with elements before and after its own: those that these mirror as often as needed, without
 * the outermost ones or with them (XIR_PAD_REFLECTION, XIR_PAD_SYMMETRIC), or the outermost ones
 * (XIR_PAD_REPLICATION). */
xir_value *make_bordered(xir_node *at, xir_value *x, size_t axis, int64_t before, int64_t after, xir_pad_mode mode);
/* The place inside [0, n) that a place before or after it mirrors; with_border: the outermost ones count twice. */
int64_t mirrored_place(int64_t i, int64_t n, bool with_border);
/* x with its own elements around it, as often as needed: `cells` has the numbers before and after each dim. */
xir_value *make_wrapped(xir_node *at, xir_value *x, const xir_ints *cells);
/* Limits x to an interval; one bound may be infinite. */
xir_value *make_clamped(xir_node *at, xir_value *x, double least, double most);
/* x as booleans: numbers are true where they are not 0. */
xir_value *make_truth(xir_node *at, xir_value *x);
/* The product of each element and all before it along an axis of known length, by doubling: after each step every
 * element is the product of twice as many. */
xir_value *make_running_product(xir_node *at, xir_value *x, size_t axis);
/* Axis `axis` of x times a matrix [dim of x, n], given by rows. */
xir_value *make_mixed(xir_node *at, xir_value *x, size_t axis, const double *matrix, size_t n);
/* lhs times rhs; NULL if one of them is. */
xir_value *make_matrix_product(xir_node *at, xir_value *lhs, xir_value *rhs);
/* x in a shape of n dims; one of them may be -1. */
xir_value *make_shaped(xir_node *at, xir_value *x, const int64_t *dims, size_t n);
/* x * factor + addend, without ops for 1 and 0. */
xir_value *make_affine(xir_node *at, xir_value *x, double factor, double addend);
/* The angle of (x, y), from -pi to pi. */
xir_value *make_atan2(xir_node *at, xir_value *y, xir_value *x);
/* |x|^p, and x^(1/p). */
xir_value *make_powers(xir_node *at, xir_value *x, double p);
xir_value *make_root(xir_node *at, xir_value *x, double p);
/* The sum of each element and all before it along an axis of known length, or all after it; exclusive: without its own.
 * It is a product with a matrix. */
xir_value *make_running_sum(xir_node *at, xir_value *x, size_t axis, bool exclusive, bool reverse);
/* A constant matrix of 1 where the column minus the row is from `first` to `last`, else 0. */
xir_value *make_band(xir_node *at, const xir_type *element, const xir_ints *dims, int64_t first, int64_t last);
/* The weight of a cell at a distance: linear between cells, or the cubic convolution with the coefficient a. */
double curve_weight(double distance, bool cubic, double a);

#endif
