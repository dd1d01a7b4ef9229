/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Signals: window functions and mel filter banks, which are constants if their sizes are, and Fourier transforms, which
 * are products with constant matrices. Complex numbers are pairs in a last dim of 2. */
#include <math.h>
#include "onnx/rows.h"
#include "formula/parts.h"

#define PI 3.14159265358979323846

enum { MOST_MATRIX = 1 << 22 };   /* elements of a constant */

/* One number of a constant input. */
static bool number_at(xir_node *at, size_t i, double *out) {
    char where[16] = { 'i', 'n', 'p', 'u', 't', '/', (char)('0' + i), 0 };
    const double *v;
    size_t n;
    if (!xir_node_reals(at, i, &v, &n)) return false;
    if (n != 1) return xir_node_invalid(at, XIR_E_BOUNDS, where, "expected one number, found %zu", n);
    *out = v[0];
    return true;
}

/* The same, a whole one in [least, most]. */
static bool whole_at(xir_node *at, size_t i, int64_t least, int64_t most, int64_t *out) {
    char where[16] = { 'i', 'n', 'p', 'u', 't', '/', (char)('0' + i), 0 };
    double v = 0;
    if (!number_at(at, i, &v)) return false;
    *out = v >= -1e15 && v <= 1e15 ? (int64_t)v : -1;
    if (*out >= least && *out <= most) return true;
    return xir_node_invalid(at, XIR_E_BOUNDS, where, "expected %lld to %lld, found %g", (long long)least,
                            (long long)most, v);
}

/* The elements that the attribute output_datatype names. */
static const xir_type *output_element(xir_node *at) {
    const int64_t code = xir_node_int(at, "output_datatype", 1);
    const xir_type *element = onnx_given_element(at, code);
    if (!element) (void)xir_node_unsupported(at, "elements of TensorProto.DataType %lld", (long long)code);
    return element;
}

/* ---- windows ---------------------------------------------------------------------------------------------------- */

/* The same for a size that a run gives. A single element has the angle 0, whatever that is divided by. */
static bool open_window(xir_node *at, const xir_type *element, const double factors[3]) {
    const xir_type *real = xir_type_float(at->c->ctx, XIR_FLOAT_FP64);
    xir_value *n = xir_node_input(at, 0);
    if (v_rank(n)) return xir_node_unsupported(at, "a size of %zu dims", v_rank(n));
    const xir_type *whole = v_element(n);
    xir_value *places = xir_node_make(at, "Range", INS(xir_node_scalar(at, whole, 0), n, xir_node_scalar(at, whole, 1)),
                                      NO_SETS);
    xir_value *last = xir_node_cast(at, n, real), *one = xir_node_scalar(at, real, 1);
    if (!xir_node_int(at, "periodic", 1)) last = xir_node_sum(at, last, one, 1, -1);
    last = last ? xir_node_make(at, "Maximum", INS(last, one), NO_SETS) : NULL;
    xir_value *angle = xir_node_quotient(at, xir_node_scaled(at, xir_node_cast(at, places, real), 2 * PI), last);
    xir_value *y = make_affine(at, angle ? xir_node_unary(at, "Cos", angle) : NULL, -factors[1], factors[0]);
    if (factors[2] != 0)
        y = xir_node_sum(at, y, xir_node_unary(at, "Cos", xir_node_scaled(at, angle, 2)), 1, factors[2]);
    return xir_node_result(at, 0, y ? xir_node_cast(at, y, element) : NULL);
}

/* a - b cos(2 pi i / n) + c cos(4 pi i / n); n is one less for a symmetric window. */
static bool window(xir_node *at, double a, double b, double c) {
    int64_t n;
    const xir_type *element = output_element(at);
    if (!xir_node_is_constant(at, 0)) return open_window(at, element, (double[]){ a, b, c });
    if (!whole_at(at, 0, 0, MOST_MATRIX, &n)) return false;
    const double last = fmax(1, (double)(xir_node_int(at, "periodic", 1) ? n : n - 1));
    double *v = node_reals(at, n);
    if (!v) return false;
    for (int64_t i = 0; i < n; i++)
        v[i] = a - b * cos(2 * PI * (double)i / last) + c * cos(4 * PI * (double)i / last);
    return xir_node_result(at, 0, xir_node_constant(at, element, NULL, v, (size_t)n));
}
bool onnx_hann_window(xir_node *at)     { return window(at, 0.5, 0.5, 0); }
bool onnx_hamming_window(xir_node *at)  { return window(at, 25.0 / 46, 21.0 / 46, 0); }
bool onnx_blackman_window(xir_node *at) { return window(at, 0.42, 0.5, 0.08); }

/* ---- filter banks ----------------------------------------------------------------------------------------------- */

/* One triangle of the bank: up from the first bin to the second, down to the third. */
static void triangle(double *v, int64_t columns, int64_t column, const int64_t bins[3]) {
    const int64_t up = bins[1] - bins[0], down = bins[2] - bins[1];
    if (up == 0) v[bins[1] * columns + column] = 1;
    for (int64_t k = bins[0]; up != 0 && k <= bins[1]; k++)
        v[k * columns + column] = (double)(k - bins[0]) / (double)up;
    for (int64_t k = bins[1]; down > 0 && k < bins[2]; k++)
        v[k * columns + column] = (double)(bins[2] - k) / (double)down;
}

/* Inputs: the number of filters, the length of the transform, the sample rate, the lowest and the highest frequency. */
bool onnx_mel_weight_matrix(xir_node *at) {
    enum { MOST = 1 << 16 };
    int64_t n, length, rate, bins[3] = { 0 };
    double low = 0, high = 0;
    if (!whole_at(at, 0, 1, MOST, &n) || !whole_at(at, 1, 1, MOST, &length) ||
        !whole_at(at, 2, 1, INT32_MAX, &rate) || !number_at(at, 3, &low) || !number_at(at, 4, &high)) return false;
    if (!(low >= 0) || !(high >= low) || !(high <= (double)rate)) {
        return xir_node_invalid(at, XIR_E_BOUNDS, "input/4",
                                "the frequencies: expected 0 <= lowest <= highest <= %lld, "
                                "found %g and %g", (long long)rate, low, high);
    }
    const int64_t rows = length / 2 + 1;
    const xir_type *element = output_element(at);
    if (!node_at_most(at, rows * n, MOST_MATRIX, "the number of elements of a matrix")) return false;
    double *v = node_reals(at, rows * n);
    if (!v || !element) return false;
    memset(v, 0, (size_t)(rows * n) * sizeof *v);
    const double from = 2595 * log10(1 + low / 700), step = (2595 * log10(1 + high / 700) - from) / (double)(n + 2);
    for (int64_t i = 0; i < n + 2; i++) {
        const double hertz = 700 * (pow(10, (from + (double)i * step) / 2595) - 1);
        bins[0] = bins[1], bins[1] = bins[2], bins[2] = (int64_t)floor((double)(length + 1) * hertz / (double)rate);
        if (bins[2] >= rows) return xir_node_unsupported(at, "filters beyond half of the sample rate");
        if (i >= 2) triangle(v, n, i - 2, bins);
    }
    const xir_ints dims = { (int64_t[]){ rows, n }, 2 };
    return xir_node_result(at, 0, xir_node_constant(at, element, &dims, v, (size_t)(rows * n)));
}

/* ---- transforms ------------------------------------------------------------------------------------------------- */

/* cos or sin of 2 pi i k / n times a factor, for i below `rows` and k below `columns`. */
static double *circle(xir_node *at, int64_t rows, int64_t columns, int64_t n, bool sine, double factor) {
    double *v = node_reals(at, rows * columns);
    for (int64_t i = 0; v && i < rows; i++) {
        for (int64_t k = 0; k < columns; k++) {
            const double angle = 2 * PI * (double)(i * k % n) / (double)n;
            v[i * columns + k] = factor * (sine ? sin(angle) : cos(angle));
        }
    }
    return v;
}

/* The transform of x along an axis, `n` elements long: x is cut or continued with zeros. */
static xir_value *transformed(xir_node *at, xir_value *x, size_t axis, int64_t n, bool inverse, bool onesided) {
    const size_t last = v_rank(x) - 1;
    if (!xir_node_need_dims(at, x, axis, axis + 1) || !xir_node_need_dims(at, x, last, last + 1)) return NULL;
    if (v_dim(x, last) < 1 || v_dim(x, last) > 2) {
        return xir_node_invalid(at, XIR_E_BOUNDS, "input/0",
                                "the last dim: expected 1 for real or 2 for complex numbers, "
                                "found %lld", (long long)v_dim(x, last)), NULL;
    }
    const bool complex = v_dim(x, last) == 2;
    const int64_t columns = onesided ? n / 2 + 1 : n;
    if (onesided && (complex || inverse))
        return xir_node_unsupported(at, "one side of a transform of complex numbers, or of an inverse one"), NULL;
    if (n > MOST_MATRIX || n * columns > MOST_MATRIX) return xir_node_unsupported(at, "a long transform"), NULL;
    if (v_dim(x, axis) > n) x = make_part(at, x, axis, 0, n, 1);
    if (!x) return NULL;
    const int64_t rows = v_dim(x, axis);
    const double factor = inverse ? 1 / (double)n : 1, turn = inverse ? factor : -factor;
    const double *c = circle(at, rows, columns, n, false, factor), *s = circle(at, rows, columns, n, true, turn);
    if (!c || !s) return NULL;
    xir_value *re = complex ? make_part(at, x, last, 0, 1, 1) : x;
    xir_value *real = make_mixed(at, re, axis, c, (size_t)columns);
    xir_value *imaginary = make_mixed(at, re, axis, s, (size_t)columns);
    if (complex) {   /* (a + bi)(c + si) */
        xir_value *im = make_part(at, x, last, 1, 2, 1);
        real = xir_node_sum(at, real, make_mixed(at, im, axis, s, (size_t)columns), 1, -1);
        imaginary = xir_node_sum(at, imaginary, make_mixed(at, im, axis, c, (size_t)columns), 1, 1);
    }
    return xir_node_make(at, "Concat", INS(real, imaginary), SETS(INT("axis", (int64_t)last)));
}

/* The axis is an attribute before version 20, then an input. */
bool onnx_dft(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    const bool newer = xir_node_version(at) >= 20;
    int64_t axis = newer ? -2 : xir_node_int(at, "axis", 1), n;
    if (!onnx_ranked(at, 0, x, 2, SIZE_MAX)) return false;
    if (newer && xir_node_has(at, 2) && !whole_at(at, 2, -(int64_t)v_rank(x), (int64_t)v_rank(x) - 1,
                                                  &axis)) return false;
    if (!xir_node_axis(at, newer ? "input/2" : "attribute/axis", axis, v_rank(x), &axis)) return false;
    if ((size_t)axis + 1 == v_rank(x)) {
        return xir_node_invalid(at, XIR_E_BOUNDS, newer ? "input/2" : "attribute/axis",
                                "expected another axis than the last one, of the parts of numbers");
    }
    if (!xir_node_need_dims(at, x, (size_t)axis, (size_t)axis + 1)) return false;
    n = v_dim(x, (size_t)axis);
    if (xir_node_has(at, 1) && !whole_at(at, 1, 1, MOST_MATRIX, &n)) return false;
    if (n < 1) return xir_node_unsupported(at, "a transform of no elements");
    return xir_node_result(at, 0, transformed(at, x, (size_t)axis, n, xir_node_int(at, "inverse", 0),
                                              xir_node_int(at, "onesided", 0)));
}

/* Frames [batch, frames, length, parts] of a signal [batch, samples, parts]. */
static xir_value *frames_of(xir_node *at, xir_value *x, int64_t length, int64_t step) {
    const int64_t samples = v_dim(x, 1), frames = (samples - length) / step + 1;
    if (samples < length) {
        return xir_node_invalid(at, XIR_E_BOUNDS, "input/0", "expected at least %lld samples, one frame, found %lld",
                                (long long)length, (long long)samples), NULL;
    }
    if (!node_at_most(at, frames, MOST_MATRIX / length, "the number of frames of %lld samples", (long long)length))
        return NULL;
    double *places = node_reals(at, frames * length);
    for (int64_t i = 0; places && i < frames * length; i++) places[i] = (double)(i / length * step + i % length);
    const xir_ints dims = { (int64_t[]){ frames, length }, 2 };
    xir_value *index = places ? xir_node_constant(at, xir_type_sint(at->c->ctx, 64), &dims, places,
                                                  (size_t)(frames * length)) : NULL;
    return index ? xir_node_make(at, "Gather", INS(x, index), SETS(INT("axis", 1))) : NULL;
}

/* Inputs: the signal, the step between frames, a window, the length of a frame. */
bool onnx_stft(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *window = xir_node_optional_input(at, 2);
    int64_t step, length = 0;
    if (v_rank(x) == 2) {   /* real numbers without a dim for their parts */
        const xir_ints end = { (int64_t[]){ 2 }, 1 };
        x = xir_node_unsqueezed(at, x, &end, NULL);
    }
    if (!onnx_ranked(at, 0, x, 3, 3)) return false;
    if (!xir_node_need_dims(at, x, 1, 3) || !whole_at(at, 1, 1, MOST_MATRIX, &step)) return false;
    if (window) {
        if (v_rank(window) != 1) return xir_node_invalid(at, XIR_E_BOUNDS, "input/2", "expected 1 dim, found %zu",
                                                         v_rank(window));
        if (!xir_node_need_dims(at, window, 0, 1)) return false;
        length = v_dim(window, 0);
    }
    if (xir_node_has(at, 3)) {
        int64_t said;
        if (!whole_at(at, 3, 1, MOST_MATRIX, &said)) return false;
        if (window && said != length) {
            return xir_node_invalid(at, XIR_E_INVALID, "input/3",
                                    "the length of a frame: expected %lld, that of the window, "
                                    "found %lld", (long long)length, (long long)said);
        }
        length = said;
    }
    if (length < 1) return xir_node_invalid(at, XIR_E_MISSING, "input/3", "expected a window or the length of a frame");
    xir_value *frames = frames_of(at, x, length, step);
    if (window) frames = xir_node_product(at, frames, make_shaped(at, window, (int64_t[]){ length, 1 }, 2));
    const bool onesided = xir_node_int(at, "onesided", 1) && v_dim(x, 2) == 1;
    return xir_node_result(at, 0, transformed(at, frames, 2, length, false, onesided));
}
