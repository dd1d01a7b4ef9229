/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The loops of one path. Before each inclusion are defined:
 *   PATH(name)       a name of this path
 *   TARGET           the attribute of its functions
 *   VECTOR, LANES    a vector of doubles and how many it has
 *   LINES            how many are interleaved at a time
 *   LOAD, STORE      of doubles at any address
 *   SAME(x)          a vector of one number
 *   FUSED, APART     a * b + c, rounded once and rounded twice
 *   WIDEN(from)      LANES floats as doubles
 *   NARROW(to, v)    and back */
/* no guard: included once for each path */

#define INLINED static inline __attribute__((always_inline)) TARGET

INLINED VECTOR PATH(add)(VECTOR a, VECTOR b, VECTOR c, const bool exact) {
    return exact ? FUSED(a, b, c) : APART(a, b, c);
}

INLINED void PATH(tile)(const size_t rows, const size_t vectors, const bool exact, const double *left,
                        const double *right, size_t depth, double *out, size_t step, bool begin) {
    VECTOR sum[GEMM_MOST_TALL][TILE_VECTORS], b[TILE_VECTORS];
    UNROLLED for (size_t i = 0; i < rows; i++) {
        UNROLLED for (size_t v = 0; v < vectors; v++) sum[i][v] = begin ? SAME(0) : LOAD(out + i * step + v * LANES);
    }
    for (size_t k = 0; k < depth; k++, left += TALL, right += BROAD) {
        UNROLLED for (size_t v = 0; v < vectors; v++) b[v] = LOAD(right + v * LANES);
        UNROLLED for (size_t i = 0; i < rows; i++) {
            const VECTOR a = SAME(left[i]);
            UNROLLED for (size_t v = 0; v < vectors; v++) sum[i][v] = PATH(add)(a, b[v], sum[i][v], exact);
        }
    }
    UNROLLED for (size_t i = 0; i < rows; i++) {
        UNROLLED for (size_t v = 0; v < vectors; v++) STORE(out + i * step + v * LANES, sum[i][v]);
    }
}

#define TILE(rows, vectors, exact)                                                                                   \
    TARGET static void PATH(tile_##rows##_##vectors##_##exact)(const double *left, const double *right, size_t depth, \
                                                               double *sum, size_t step, bool begin) {              \
        PATH(tile)(rows, vectors, exact, left, right, depth, sum, step, begin);                                      \
    }
#define TILES(vectors) \
    TILE(1, vectors, 0) TILE(2, vectors, 0) TILE(4, vectors, 0) TILE(1, vectors, 1) TILE(2, vectors, 1) \
    TILE(4, vectors, 1)
TILES(1) TILES(2)
#if BROAD > 2 * LANES
TILES(3)
#endif
#if TALL > 4
TILE(8, 1, 0) TILE(8, 2, 0) TILE(8, 1, 1) TILE(8, 2, 1)
#if BROAD > 2 * LANES
TILE(8, 3, 0) TILE(8, 3, 1)
#endif
#endif

TARGET static void PATH(widen)(const float *from, size_t n, double *out) {
    size_t i = 0;
    for (; n - i >= LANES; i += LANES) STORE(out + i, WIDEN(from + i));
    for (; i < n; i++) out[i] = (double)from_single(from + i);
}

/* A whole row of a panel is copied without a loop. Rows that are far apart are asked for in advance. */
#define COPY(name, type, VECTOR_OF, NUMBER_OF)                                                                       \
    TARGET static void PATH(name)(const type *from, ptrdiff_t step, size_t n, size_t rows, double *out,              \
                                  size_t unit) {                                                                     \
        enum { AHEAD = 12, LINE = 64 / sizeof(type) };                                                               \
        for (size_t k = 0; k < rows; k++, from += step, out += unit) {                                               \
            for (size_t i = 0; k + AHEAD < rows && i < n; i += LINE) __builtin_prefetch(from + AHEAD * step + i);    \
            size_t i = 0;                                                                                            \
            if (n == BROAD) {                                                                                        \
                UNROLLED                                                                                             \
                for (size_t v = 0; v < BROAD / LANES; v++)                                                           \
                    STORE(out + v * LANES, VECTOR_OF(from + v * LANES));                                             \
                continue;                                                                                            \
            }                                                                                                        \
            for (; n - i >= LANES; i += LANES) STORE(out + i, VECTOR_OF(from + i));                                  \
            for (; i < n; i++) out[i] = NUMBER_OF(from + i);                                                         \
        }                                                                                                            \
    }
COPY(widen_rows, float, WIDEN, (double)from_single)
COPY(copy_rows, double, LOAD, from_double)

TARGET static void PATH(interleave_doubles)(const double *const *from, size_t n, double *out, size_t unit) {
    size_t k = 0;
    for (; n - k >= 4; k += 4, out += 4 * unit) {
        for (size_t i = 0; i < LINES; i += 2) {
            const double *a = from[i] + k, *b = from[i + 1] + k;
            const pair a0 = pair_load(a), a1 = pair_load(a + 2), b0 = pair_load(b), b1 = pair_load(b + 2);
            pair_store(out + i, (pair){ a0[0], b0[0] });
            pair_store(out + unit + i, (pair){ a0[1], b0[1] });
            pair_store(out + 2 * unit + i, (pair){ a1[0], b1[0] });
            pair_store(out + 3 * unit + i, (pair){ a1[1], b1[1] });
        }
    }
    for (; k < n; k++, out += unit) {
        for (size_t i = 0; i < LINES; i++) memcpy(out + i, from[i] + k, sizeof *out);
    }
}

TARGET static void PATH(narrow)(const gemm_block *b, float *out, ptrdiff_t out_step) {
    const double *sum = b->sum, *column = b->column_bias;
    for (size_t i = 0; i < b->rows; i++, sum += b->step, out += out_step) {
        const double row = b->row_bias ? b->row_bias[i] : 0;
        const VECTOR same = SAME(row);
        size_t j = 0;
        if (b->row_bias) {
            for (; b->columns - j >= LANES; j += LANES) NARROW(out + j, LOAD(sum + j) + same);
            for (; j < b->columns; j++) to_single(out + j, (float)(sum[j] + row));
        } else if (column) {
            for (; b->columns - j >= LANES; j += LANES) NARROW(out + j, LOAD(sum + j) + LOAD(column + j));
            for (; j < b->columns; j++) to_single(out + j, (float)(sum[j] + column[j]));
        } else {
            for (; b->columns - j >= LANES; j += LANES) NARROW(out + j, LOAD(sum + j));
            for (; j < b->columns; j++) to_single(out + j, (float)sum[j]);
        }
    }
}

/* sum[i] += x[i] * k, and the sums of some taps, for x of a type; VECTOR_OF(from) and NUMBER_OF(from) read it as
 * doubles. The sums of some pixels stay in registers until all taps are added. */
#define ADDS(name, type, exact, VECTOR_OF, NUMBER_OF)                                                                \
    TARGET static void PATH(name##scaled_##exact)(const type *x, double k, size_t n, double *sum) {                  \
        const VECTOR same = SAME(k);                                                                                 \
        size_t i = 0;                                                                                                \
        for (; n - i >= LANES; i += LANES) STORE(sum + i, PATH(add)(VECTOR_OF(x + i), same, LOAD(sum + i), exact));  \
        for (; i < n; i++) sum[i] += NUMBER_OF(x + i) * k;                                                           \
    }                                                                                                                \
    INLINED void PATH(name##pixels_##exact)(const size_t pixels, const type *const *x, const gemm_taps *w, size_t q,  \
                                            double *out) {                                                           \
        size_t i = 0;                                                                                                \
        for (; w->n - i >= LANES; i += LANES) {                                                                      \
            VECTOR sum[TAPS_PIXELS];                                                                                 \
            const double *k = w->k + i;                                                                              \
            UNROLLED for (size_t p = 0; p < pixels; p++) sum[p] = LOAD(out + p * w->n + i);                          \
            for (size_t t = 0; t < w->taps; t++, k += w->k_step) {                                                   \
                const type *from = x[t] + (ptrdiff_t)q * w->go[t] + i;                                               \
                const VECTOR factor = LOAD(k);                                                                       \
                UNROLLED for (size_t p = 0; p < pixels; p++, from += w->go[t])                                       \
                    sum[p] = PATH(add)(VECTOR_OF(from), factor, sum[p], exact);                                      \
            }                                                                                                        \
            UNROLLED for (size_t p = 0; p < pixels; p++) STORE(out + p * w->n + i, sum[p]);                          \
        }                                                                                                            \
        for (; i < w->n; i++) {                                                                                      \
            for (size_t p = 0; p < pixels; p++) {                                                                    \
                double *sum = out + p * w->n + i;                                                                    \
                for (size_t t = 0; t < w->taps; t++)                                                                 \
                    *sum += NUMBER_OF(x[t] + (ptrdiff_t)(q + p) * w->go[t] + i) * w->k[t * w->k_step + i];           \
            }                                                                                                        \
        }                                                                                                            \
    }                                                                                                                \
    TARGET static void PATH(name##taps_##exact)(const type *const *x, const gemm_taps *w, double *sum) {             \
        size_t q = 0;                                                                                                \
        for (; w->pixels - q >= TAPS_PIXELS; q += TAPS_PIXELS, sum += TAPS_PIXELS * w->n)                            \
            PATH(name##pixels_##exact)(TAPS_PIXELS, x, w, q, sum);                                                   \
        for (; q < w->pixels; q++, sum += w->n) PATH(name##pixels_##exact)(1, x, w, q, sum);                         \
    }
ADDS(, float, 0, WIDEN, (double)from_single)
ADDS(, float, 1, WIDEN, (double)from_single)
ADDS(wide_, double, 0, LOAD, from_double)
ADDS(wide_, double, 1, LOAD, from_double)

#define NAMES(rows, exact) { PATH(tile_##rows##_1_##exact), PATH(tile_##rows##_2_##exact), THIRD(rows, exact) }
#if BROAD > 2 * LANES
#define THIRD(rows, exact) PATH(tile_##rows##_3_##exact)
#else
#define THIRD(rows, exact) NULL
#endif
#if TALL > 4
#define LAST(exact) NAMES(8, exact)
#else
#define LAST(exact) { NULL, NULL, NULL }
#endif

static const gemm_path PATH(path) = {
    .name = PATH_NAME, .tall = TALL, .broad = BROAD, .lanes = LANES, .lines = LINES,
    .tile = { { NAMES(1, 0), NAMES(2, 0), NAMES(4, 0), LAST(0) }, { NAMES(1, 1), NAMES(2, 1), NAMES(4, 1), LAST(1) } },
    .widen = PATH(widen), .widen_rows = PATH(widen_rows), .copy_rows = PATH(copy_rows), .interleave = PATH(interleave),
    .interleave_doubles = PATH(interleave_doubles), .narrow = PATH(narrow),
    .add_scaled = { PATH(scaled_0), PATH(scaled_1) }, .add_taps = { PATH(taps_0), PATH(taps_1) },
    .add_wide_scaled = { PATH(wide_scaled_0), PATH(wide_scaled_1) },
    .add_wide_taps = { PATH(wide_taps_0), PATH(wide_taps_1) },
};

#undef INLINED
#undef ADDS
#undef COPY
#undef TILE
#undef TILES
#undef NAMES
#undef THIRD
#undef LAST
#undef PATH
#undef PATH_NAME
#undef TARGET
#undef VECTOR
#undef LANES
#undef LINES
#undef TALL
#undef BROAD
#undef LOAD
#undef STORE
#undef SAME
#undef FUSED
#undef APART
#undef WIDEN
#undef NARROW
