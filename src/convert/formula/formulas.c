/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Functions that several formats have and XIR writes as a few ops: see formulas.h. */
#include "formula/formulas.h"
#include "formula/text.h"

xir_value *make_tanh_gelu(xir_node *at, xir_value *x) {
    return make_formula(at, "t = Tanh(Add(x, x * x * x, beta=0.044715) * 0.79788456080286535588) + 1; x * 0.5 * t",
                        INS(x), NULL);
}

/* The slope of each channel with the dims [n, 1, …], one less than x has. */
static xir_value *slope_of_channels(xir_node *at, size_t rank, xir_value *slope, int64_t n) {
    const xir_ints dims = node_line(at, rank > 1 ? rank - 1 : 1, 0, n);
    if (xir_node_failed(at) || v_rank(slope) == dims.n) return slope;
    if (n < 0) return xir_node_unsupported(at, "unknown slopes"), NULL;
    return make_reshaped(at, slope, &dims);
}

xir_value *make_prelu(xir_node *at, xir_value *x, xir_value *slope, bool channels) {
    if (xir_node_failed(at) || !x || !slope) return NULL;
    const xir_ints dims = xir_node_dims(at, slope);
    const int64_t n = product_of(&dims, 0, dims.n);
    const size_t rank = v_rank(x);
    const bool fits = n == 1 || (channels ? rank >= 2 && rank <= 5 : dims.n == 1);
    if (fits && xir_value_is_params(slope)) {
        const bool turned = channels && n != 1 && rank >= 3;
        const xir_ints flat = { (int64_t[]){ n }, 1 };
        if (dims.n != 1) slope = make_reshaped(at, slope, &flat);
        xir_value *y = xir_node_make(at, "PReLU", INS(turned ? xir_node_channels_last(at, x) : x),
                                     SETS(OBJ("alpha", slope)));
        return turned ? xir_node_channels_second(at, y) : y;
    }
    if (channels) slope = slope_of_channels(at, rank, slope, n);
    return make_formula(at, "r = y * Minimum(x, 0); ReLU(x) + r", INS(x, slope), NULL);
}

xir_value *make_lrn(xir_node *at, xir_value *x, int64_t size, int64_t before, double alpha, double beta, double k) {
    xir_ints dims = xir_node_dims(at, x), flat = xir_node_make_ints(at, 4, 1);
    if (xir_node_failed(at)) return NULL;
    flat.v[0] = dims.v[0], flat.v[1] = dims.v[1], flat.v[2] = product_of(&dims, 2, dims.n);
    /* an average pool over [n, channels, everything else, 1] */
    xir_value *square = xir_node_reshaped(at, xir_node_product(at, x, x), &flat, "NHWC");
    xir_value *mean = xir_node_make(at, "AvgPool2d", INS(square),
                                    SETS(INT("pool_height", size), INT("pool_width", 1), INT("pad_top", before),
                                         INT("pad_bottom", size - 1 - before), INT("count_include_pad", 1)));
    return make_formula(at, "x / Pow(Add(y, a, alpha=b), c)", INS(x, make_reshaped(at, mean, &dims)),
                        NUMBERS(k, alpha, beta));
}

/* |x| + 0.5 may round up. */
xir_value *make_rounded(xir_node *at, xir_value *x) {
    return make_formula(at, "s = Abs(x); n = Floor(s); n = n + like(s - n >= 0.5); Sign(x) * n", INS(x), NULL);
}

double *grid_places(xir_node *at, const int64_t *sides, size_t n, int64_t cells, bool corners) {
    double *v = node_reals(at, cells * ((int64_t)n + 1));
    for (int64_t i = 0; v && i < cells; i++) {
        double *place = v + i * ((int64_t)n + 1);
        int64_t rest = i;
        for (size_t d = 0; d < n; d++) {   /* the last axis first */
            const int64_t side = sides[n - 1 - d], p = rest % side;
            rest /= side;
            place[d] = !corners ? (2 * (double)p + 1) / (double)side - 1
                                : side > 1 ? 2 * (double)p / (double)(side - 1) - 1 : 0;
        }
        place[n] = 1;
    }
    return v;
}

xir_value *make_grid_sample(xir_node *at, xir_value *x, xir_value *grid, const char *word, xir_str padding,
                            bool corners) {
    if (xir_node_failed(at) || !x || !grid) return NULL;
    if (v_rank(x) != 4 && v_rank(x) != 5) return xir_node_unsupported(at, "%zu dims", v_rank(x)), NULL;
    xir_value *y = xir_node_make(at, "GridSample", INS(xir_node_channels_last(at, x), grid),
                                 SETS(WORD("interpolation", xir_str_of(word)), WORD("padding_mode", padding),
                                      INT("align_corners", corners)));
    return xir_node_channels_second(at, y);
}
