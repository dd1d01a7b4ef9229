/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The loops of one path. Before each inclusion are defined:
 *   PATH(name)   a name of this path
 *   PATH_NAME    its name as text
 *   TARGET       the attribute of its functions
 * Each body is one loop without calls, which the compiler makes into vectors. */
/* no guard: included once for each path */

#define TO_REALS(id, type, conversion)                                                                               \
    TARGET static void PATH(id##_to_reals)(element_format f, const uint8_t *restrict b, size_t n,                    \
                                           double *restrict out) {                                                   \
        (void)f;                                                                                                     \
        for (size_t i = 0; i < n; i++) {                                                                             \
            type v;                                                                                                  \
            memcpy(&v, b + i * sizeof v, sizeof v);                                                                  \
            out[i] = (double)(conversion);                                                                           \
        }                                                                                                            \
    }
#define OF_REALS(id, type, conversion)                                                                               \
    TARGET static void PATH(reals_to_##id)(element_format f, const double *restrict in, size_t n,                    \
                                           uint8_t *restrict b) {                                                    \
        (void)f;                                                                                                     \
        for (size_t i = 0; i < n; i++) {                                                                             \
            const double x = in[i];                                                                                  \
            const type v = (type)(conversion);                                                                       \
            memcpy(b + i * sizeof v, &v, sizeof v);                                                                  \
        }                                                                                                            \
    }
#define TO_I64S(id, type, conversion)                                                                                \
    TARGET static void PATH(id##_to_i64s)(const uint8_t *restrict b, size_t n, int64_t *restrict out) {              \
        for (size_t i = 0; i < n; i++) {                                                                             \
            type v;                                                                                                  \
            memcpy(&v, b + i * sizeof v, sizeof v);                                                                  \
            out[i] = (int64_t)(conversion);                                                                          \
        }                                                                                                            \
    }
#define OF_I64S(id, type, conversion)                                                                                \
    TARGET static void PATH(i64s_to_##id)(const int64_t *restrict in, size_t n, uint8_t *restrict b) {               \
        for (size_t i = 0; i < n; i++) {                                                                             \
            const type v = (type)(conversion);                                                                       \
            memcpy(b + i * sizeof v, &v, sizeof v);                                                                  \
        }                                                                                                            \
    }

TO_REALS (f64, double,   v)
TO_REALS (f32, float,    v)
TO_REALS (bool, uint8_t, v != 0)
TO_REALS (s8,  int8_t,   v)
TO_REALS (u8,  uint8_t,  v)
TO_REALS (s16, int16_t,  v)
TO_REALS (u16, uint16_t, v)
TO_REALS (s32, int32_t,  v)
TO_REALS (u32, uint32_t, v)
TO_REALS (s64, int64_t,  v)
TO_REALS (u64, uint64_t, v)

/* Into integers: the fraction is dropped, NaN becomes 0. Wide ones through a type that holds all of their numbers. */
OF_REALS (f64,  double,   x)
OF_REALS (f32,  float,    x)
OF_REALS (bool, uint8_t,  x != 0)
OF_REALS (s8,   int8_t,   (int32_t)within(x, -0x1p7, 0x1p7 - 1))
OF_REALS (u8,   uint8_t,  (int32_t)within(x, 0, 0x1p8 - 1))
OF_REALS (s16,  int16_t,  (int32_t)within(x, -0x1p15, 0x1p15 - 1))
OF_REALS (u16,  uint16_t, (int32_t)within(x, 0, 0x1p16 - 1))
OF_REALS (s32,  int32_t,  (int32_t)within(x, -0x1p31, 0x1p31 - 1))
OF_REALS (u32,  uint32_t, (int64_t)within(x, 0, 0x1p32 - 1))

TO_I64S  (bool, uint8_t,  v != 0)
TO_I64S  (s8,   int8_t,   v)
TO_I64S  (u8,   uint8_t,  v)
TO_I64S  (s16,  int16_t,  v)
TO_I64S  (u16,  uint16_t, v)
TO_I64S  (s32,  int32_t,  v)
TO_I64S  (u32,  uint32_t, v)
TO_I64S  (s64,  int64_t,  v)

/* Integers are wrapped to their width, so the sign does not matter. */
OF_I64S  (bool, uint8_t,  in[i] != 0)
OF_I64S  (u8,   uint8_t,  in[i])
OF_I64S  (u16,  uint16_t, in[i])
OF_I64S  (u32,  uint32_t, in[i])
OF_I64S  (s64,  int64_t,  in[i])

/* A float of fewer bits has the upper bits of a double's fraction, and another bias, which a product with a power of
 * two corrects exactly, for subnormal numbers, too. */
TARGET static void PATH(f16_to_reals)(element_format f, const uint8_t *restrict b, size_t n, double *restrict out) {
    const unsigned up = 52u - f.mantissa;
    const uint64_t infinite = ((UINT64_C(1) << f.exponent) - 1) << f.mantissa;
    const double unit = power_of_2(1024 - (1 << (f.exponent - 1)));
    for (size_t i = 0; i < n; i++) {
        uint16_t v;
        memcpy(&v, b + i * sizeof v, sizeof v);
        const uint64_t size = v & 0x7FFFu;
        uint64_t bits = bits_of(double_of(size << up) * unit);
        bits = size < infinite ? bits : size == infinite ? BITS_INFINITE : BITS_NAN;
        out[i] = double_of(bits | (uint64_t)(v & 0x8000u) << 48);
    }
}

/* Adding a power of two whose last bit is the last one that is kept rounds to it, ties to even. What is too large for
 * the format becomes the power of two after its greatest number, whose bits are those of infinity. */
TARGET INLINED uint64_t PATH(narrowed)(element_format f, double x, double unit, int64_t low, int64_t high) {
    const int64_t size = (int64_t)(bits_of(x) & ~SIGN), exponent = size >> 52;
    const int64_t limited = size < high << 52 ? size : high << 52, least = exponent > low ? exponent : low;
    const int64_t kept = (least < high ? least : high) + 52 - f.mantissa;
    const double power = double_of((uint64_t)kept << 52), rounded = (double_of((uint64_t)limited) + power) - power;
    const uint64_t bits = bits_of(rounded * unit) >> (52 - f.mantissa);
    const uint64_t not_a_number = (((UINT64_C(2) << f.exponent) - 1) << (f.mantissa - 1));
    return (size > (int64_t)BITS_INFINITE ? not_a_number : bits) | bits_of(x) >> 63 << (f.exponent + f.mantissa);
}

/* The biased exponents of the least normal number of a format, and of the power of two after its greatest one. */
#define NARROWED(f)                                                                                                  \
    const int bias = (1 << ((f).exponent - 1)) - 1;                                                                  \
    const int64_t low = 1024 - bias, high = 1024 + bias;                                                             \
    const double unit = power_of_2(bias - 1023)

TARGET static void PATH(reals_to_f16)(element_format f, const double *restrict in, size_t n, uint8_t *restrict b) {
    NARROWED (f);
    for (size_t i = 0; i < n; i++) {
        const uint16_t v = (uint16_t)PATH(narrowed)(f, in[i], unit, low, high);
        memcpy(b + i * sizeof v, &v, sizeof v);
    }
}

TARGET static void PATH(reals_to_tf32)(element_format f, const double *restrict in, size_t n, uint8_t *restrict b) {
    NARROWED (f);
    for (size_t i = 0; i < n; i++) {
        const uint32_t v = (uint32_t)(PATH(narrowed)(f, in[i], unit, low, high) << (23 - f.mantissa));
        memcpy(b + i * sizeof v, &v, sizeof v);
    }
}

TARGET static void PATH(dequantise)(const quantum *q, size_t n, double *restrict x) {
    const double *restrict zero = q->zero, *restrict factor = q->factor;
    for (size_t i = 0; i < n; i++) x[i] = (x[i] - zero[i]) * factor[i];
}

TARGET static void PATH(quantise)(const quantum *q, size_t n, const double *restrict in, double *restrict out) {
    const double *restrict zero = q->zero, *restrict factor = q->factor, least = q->least, most = q->most;
    for (size_t i = 0; i < n; i++) {
        const double v = half_away(in[i] / factor[i]) + zero[i];
        out[i] = v > most ? most : v < least ? least : v;
    }
}

TARGET static void PATH(rescale)(const quantum *q, size_t n, const double *restrict in, double *restrict out) {
    const double *restrict zero = q->zero, *restrict factor = q->factor;
    for (size_t i = 0; i < n; i++) out[i] = in[i] / factor[i] + zero[i];
}

TARGET static void PATH(scale)(const uint8_t *restrict b, size_t n, double factor, uint8_t *restrict out) {
    for (size_t i = 0; i < n; i++) {
        float x;
        memcpy(&x, b + i * sizeof x, sizeof x);
        x = (float)((double)x * factor);
        memcpy(out + i * sizeof x, &x, sizeof x);
    }
}

TARGET static void PATH(scale_each)(const uint8_t *restrict b, size_t n, const double *restrict factors,
                                    uint8_t *restrict out) {
    for (size_t i = 0; i < n; i++) {
        float x;
        memcpy(&x, b + i * sizeof x, sizeof x);
        x = (float)((double)x * factors[i]);
        memcpy(out + i * sizeof x, &x, sizeof x);
    }
}

TARGET static void PATH(add_scaled)(const uint8_t *restrict b, size_t n, double factor, double *restrict sums) {
    for (size_t i = 0; i < n; i++) {
        float x;
        memcpy(&x, b + i * sizeof x, sizeof x);
        sums[i] += (double)x * factor;
    }
}

static const element_loops PATH(loops) = {
    .name = PATH_NAME,
    .to_reals = {
        [STORED_F64]  = PATH(f64_to_reals),  [STORED_F32] = PATH(f32_to_reals), [STORED_TF32] = PATH(f32_to_reals),
        [STORED_F16]  = PATH(f16_to_reals),
        [STORED_BOOL] = PATH(bool_to_reals), [STORED_S8]  = PATH(s8_to_reals),  [STORED_U8]  = PATH(u8_to_reals),
        [STORED_S16]  = PATH(s16_to_reals),  [STORED_U16] = PATH(u16_to_reals), [STORED_S32] = PATH(s32_to_reals),
        [STORED_U32]  = PATH(u32_to_reals),  [STORED_S64] = PATH(s64_to_reals), [STORED_U64] = PATH(u64_to_reals),
    },
    .of_reals = {
        [STORED_F64]  = PATH(reals_to_f64),  [STORED_F32] = PATH(reals_to_f32), [STORED_TF32] = PATH(reals_to_tf32),
        [STORED_F16]  = PATH(reals_to_f16),
        [STORED_BOOL] = PATH(reals_to_bool), [STORED_S8]  = PATH(reals_to_s8),  [STORED_U8]  = PATH(reals_to_u8),
        [STORED_S16]  = PATH(reals_to_s16),  [STORED_U16] = PATH(reals_to_u16), [STORED_S32] = PATH(reals_to_s32),
        [STORED_U32]  = PATH(reals_to_u32),
    },
    .to_i64s = {
        [STORED_BOOL] = PATH(bool_to_i64s),  [STORED_S8]  = PATH(s8_to_i64s),   [STORED_U8]  = PATH(u8_to_i64s),
        [STORED_S16]  = PATH(s16_to_i64s),   [STORED_U16] = PATH(u16_to_i64s),  [STORED_S32] = PATH(s32_to_i64s),
        [STORED_U32]  = PATH(u32_to_i64s),   [STORED_S64] = PATH(s64_to_i64s),  [STORED_U64] = PATH(s64_to_i64s),
    },
    .of_i64s = {
        [STORED_BOOL] = PATH(i64s_to_bool),  [STORED_S8]  = PATH(i64s_to_u8),   [STORED_U8]  = PATH(i64s_to_u8),
        [STORED_S16]  = PATH(i64s_to_u16),   [STORED_U16] = PATH(i64s_to_u16),  [STORED_S32] = PATH(i64s_to_u32),
        [STORED_U32]  = PATH(i64s_to_u32),   [STORED_S64] = PATH(i64s_to_s64),  [STORED_U64] = PATH(i64s_to_s64),
    },
    .dequantise = PATH(dequantise), .quantise = PATH(quantise), .rescale = PATH(rescale),
    .scale = PATH(scale), .scale_each = PATH(scale_each), .add_scaled = PATH(add_scaled),
};

#undef TO_REALS
#undef OF_REALS
#undef TO_I64S
#undef OF_I64S
#undef NARROWED
#undef PATH
#undef PATH_NAME
#undef TARGET
