/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* One path of loops.c, which defines PATH(name), TARGET and WIDTH, the numbers in a vector. */

typedef double PATH(vector) __attribute__((vector_size(8 * WIDTH)));
typedef int64_t PATH(mask) __attribute__((vector_size(8 * WIDTH)));

#define VECTOR PATH(vector)
#define MASK   PATH(mask)
#define SIZE(v)          ((VECTOR)((MASK)(v) & INT64_MAX))                 /* |v| */
#define CHOOSE(m, a, b)  ((VECTOR)(((m) & (MASK)(a)) | (~(m) & (MASK)(b))))

/* One or two vectors of each sum are in registers at a time. Where these are not all LANES, elements are read again. */
TARGET static void PATH(add)(sums *s, const double *restrict expected, const double *restrict found, size_t n) {
    enum { AT_ONCE = LANES > WIDTH ? 2 : 1 };
    double *const all[SUMS] = { s->of_expected, s->of_found, s->of_product, s->of_error, s->largest, s->gap };
    for (size_t lane = 0; lane < LANES; lane += AT_ONCE * WIDTH) {
        VECTOR sum[SUMS][AT_ONCE];
        for (size_t i = 0; i < SUMS; i++) memcpy(sum[i], all[i] + lane, sizeof sum[i]);
        for (size_t i = lane; i < n; i += LANES) {
            for (size_t k = 0; k < AT_ONCE; k++) {
                VECTOR x, y;
                memcpy(&x, expected + i + k * WIDTH, sizeof x);
                memcpy(&y, found + i + k * WIDTH, sizeof y);
                const VECTOR d = y - x, size = SIZE(x), gap = SIZE(d);
                const MASK larger = size > sum[4][k], farther = gap > sum[5][k];
                sum[0][k] += x * x;
                sum[1][k] += y * y;
                sum[2][k] += x * y;
                sum[3][k] += d * d;
                sum[4][k] = CHOOSE(larger, size, sum[4][k]);
                sum[5][k] = CHOOSE(farther, gap, sum[5][k]);
            }
        }
        for (size_t i = 0; i < SUMS; i++) memcpy(all[i] + lane, sum[i], sizeof sum[i]);
    }
}

TARGET static size_t PATH(total)(MASK counts) {
    size_t sum = 0;
    for (size_t i = 0; i < WIDTH; i++) sum += (size_t)counts[i];
    return sum;
}

/* A comparison that holds is -1. */
TARGET static size_t PATH(count_beyond)(double absolute, double relative, const double *restrict expected,
                                        const double *restrict found, size_t n) {
    MASK counts = { 0 };
    for (size_t i = 0; i < n; i += WIDTH) {
        VECTOR x, y;
        memcpy(&x, expected + i, sizeof x);
        memcpy(&y, found + i, sizeof y);
        counts -= SIZE(y - x) > absolute + relative * SIZE(x);
    }
    return PATH(total)(counts);
}

TARGET static size_t PATH(count_at_limits)(const number_limits *l, const int64_t *numbers, size_t n) {
    MASK counts = { 0 };
    for (size_t i = 0; i < n; i += WIDTH) {
        MASK v;
        memcpy(&v, numbers + i, sizeof v);
        counts -= (v >= l->high) | ((v <= l->low) & (v != l->zero));
    }
    return PATH(total)(counts);
}

static const compare_loops PATH(loops) = { PATH(add), PATH(count_beyond), PATH(count_at_limits) };

#undef VECTOR
#undef MASK
#undef SIZE
#undef CHOOSE
#undef PATH
#undef TARGET
#undef WIDTH
