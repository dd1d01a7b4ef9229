/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include "gemm_paths.h"
#include <stdlib.h>
#include <string.h>
#if defined __x86_64__
#include <immintrin.h>
#elif defined __aarch64__
#include <arm_neon.h>
#endif

/* Before a loop of at most 8 rounds, a number that is known where the loop is compiled. Sums are in registers only if
 * nothing remains of the loops over them. */
#if defined __clang__    // which ignores another compiler's count unless the rounds are a multiple of it
#define UNROLLED _Pragma("clang loop unroll(full)")
#else
#define UNROLLED _Pragma("GCC unroll 8")
#endif

/* Stored numbers need not be aligned. */
static inline float from_single(const float *at) {
    float v;
    memcpy(&v, at, sizeof v);
    return v;
}
static inline double from_double(const double *at) {
    double v;
    memcpy(&v, at, sizeof v);
    return v;
}
static inline void to_single(float *at, float v) { memcpy(at, &v, sizeof v); }

/* ---- plain: vectors of two, which each processor of 64 bits has -------------------------------------------------- */

typedef double pair __attribute__((vector_size(16)));

static inline pair pair_load(const double *at) {
    pair v;
    memcpy(&v, at, sizeof v);
    return v;
}
static inline void pair_store(double *at, pair v) { memcpy(at, &v, sizeof v); }

static void plain_interleave(const float *const *from, size_t n, double *out, size_t unit) {
    for (size_t k = 0; k < n; k++, out += unit) {
        for (size_t i = 0; i < 4; i++) out[i] = (double)from_single(from[i] + k);
    }
}

#define PATH(name)      plain_##name
#define PATH_NAME       "plain"
#define TARGET
#define VECTOR          pair
#define LANES           2
#define LINES           4
#define TALL            4
#define BROAD           4
#define LOAD            pair_load
#define STORE           pair_store
#define SAME(x)         ((pair){ (x), (x) })
#define APART(a, b, c)  ((c) + (a) * (b))
#define FUSED           APART
#define WIDEN(from)     ((pair){ (double)from_single(from), (double)from_single((from) + 1) })
#define NARROW(to, v)   (to_single((to), (float)(v)[0]), to_single((to) + 1, (float)(v)[1]))
#include "gemm_loops.h"

#if defined __x86_64__

/* ---- AVX2 and FMA ---------------------------------------------------------------------------------------------- */

__attribute__((target("avx2,fma")))
static void avx2_interleave(const float *const *from, size_t n, double *out, size_t unit) {
    size_t k = 0;
    for (; n - k >= 4; k += 4, out += 4 * unit) {
        __m128 a = _mm_loadu_ps(from[0] + k), b = _mm_loadu_ps(from[1] + k), c = _mm_loadu_ps(from[2] + k),
               d = _mm_loadu_ps(from[3] + k);
        _MM_TRANSPOSE4_PS(a, b, c, d);
        _mm256_storeu_pd(out, _mm256_cvtps_pd(a));
        _mm256_storeu_pd(out + unit, _mm256_cvtps_pd(b));
        _mm256_storeu_pd(out + 2 * unit, _mm256_cvtps_pd(c));
        _mm256_storeu_pd(out + 3 * unit, _mm256_cvtps_pd(d));
    }
    for (; k < n; k++, out += unit) {
        for (size_t i = 0; i < 4; i++) out[i] = (double)from_single(from[i] + k);
    }
}

#define PATH(name)      avx2_##name
#define PATH_NAME       "avx2"
#define TARGET          __attribute__((target("avx2,fma")))
#define VECTOR          __m256d
#define LANES           4
#define LINES           4
#define TALL            4
#define BROAD           12
#define LOAD            _mm256_loadu_pd
#define STORE           _mm256_storeu_pd
#define SAME(x)         _mm256_set1_pd(x)
#define APART(a, b, c)  _mm256_add_pd(c, _mm256_mul_pd(a, b))
#define FUSED           _mm256_fmadd_pd
#define WIDEN(from)     _mm256_cvtps_pd(_mm_loadu_ps(from))
#define NARROW(to, v)   _mm_storeu_ps(to, _mm256_cvtpd_ps(v))
#include "gemm_loops.h"

/* ---- AVX-512 --------------------------------------------------------------------------------------------------- */

/* Eight lines of eight numbers become eight columns. */
#define COLUMNS(from, k, out)                                                                                        \
    do {                                                                                                             \
        const __m256 r0 = _mm256_loadu_ps((from)[0] + (k)), r1 = _mm256_loadu_ps((from)[1] + (k));                   \
        const __m256 r2 = _mm256_loadu_ps((from)[2] + (k)), r3 = _mm256_loadu_ps((from)[3] + (k));                   \
        const __m256 r4 = _mm256_loadu_ps((from)[4] + (k)), r5 = _mm256_loadu_ps((from)[5] + (k));                   \
        const __m256 r6 = _mm256_loadu_ps((from)[6] + (k)), r7 = _mm256_loadu_ps((from)[7] + (k));                   \
        const __m256 a0 = _mm256_unpacklo_ps(r0, r1), a1 = _mm256_unpackhi_ps(r0, r1);                               \
        const __m256 a2 = _mm256_unpacklo_ps(r2, r3), a3 = _mm256_unpackhi_ps(r2, r3);                               \
        const __m256 a4 = _mm256_unpacklo_ps(r4, r5), a5 = _mm256_unpackhi_ps(r4, r5);                               \
        const __m256 a6 = _mm256_unpacklo_ps(r6, r7), a7 = _mm256_unpackhi_ps(r6, r7);                               \
        const __m256 b0 = _mm256_shuffle_ps(a0, a2, 0x44), b1 = _mm256_shuffle_ps(a0, a2, 0xee);                     \
        const __m256 b2 = _mm256_shuffle_ps(a1, a3, 0x44), b3 = _mm256_shuffle_ps(a1, a3, 0xee);                     \
        const __m256 b4 = _mm256_shuffle_ps(a4, a6, 0x44), b5 = _mm256_shuffle_ps(a4, a6, 0xee);                     \
        const __m256 b6 = _mm256_shuffle_ps(a5, a7, 0x44), b7 = _mm256_shuffle_ps(a5, a7, 0xee);                     \
        (out)[0] = _mm256_permute2f128_ps(b0, b4, 0x20);                                                             \
        (out)[1] = _mm256_permute2f128_ps(b1, b5, 0x20);                                                             \
        (out)[2] = _mm256_permute2f128_ps(b2, b6, 0x20);                                                             \
        (out)[3] = _mm256_permute2f128_ps(b3, b7, 0x20);                                                             \
        (out)[4] = _mm256_permute2f128_ps(b0, b4, 0x31);                                                             \
        (out)[5] = _mm256_permute2f128_ps(b1, b5, 0x31);                                                             \
        (out)[6] = _mm256_permute2f128_ps(b2, b6, 0x31);                                                             \
        (out)[7] = _mm256_permute2f128_ps(b3, b7, 0x31);                                                             \
    } while (0)

__attribute__((target("avx512f,avx2,fma")))
static void avx512_interleave(const float *const *from, size_t n, double *out, size_t unit) {
    size_t k = 0;
    for (; n - k >= 8; k += 8) {
        __m256 column[8];
        COLUMNS(from, k, column);
        UNROLLED for (size_t i = 0; i < 8; i++, out += unit) _mm512_storeu_pd(out, _mm512_cvtps_pd(column[i]));
    }
    for (; k < n; k++, out += unit) {
        for (size_t i = 0; i < 8; i++) out[i] = (double)from_single(from[i] + k);
    }
}

#define PATH(name)      avx512_##name
#define PATH_NAME       "avx512"
#define TARGET          __attribute__((target("avx512f,avx2,fma")))
#define VECTOR          __m512d
#define LANES           8
#define LINES           8
#define TALL            8
#define BROAD           24
#define LOAD            _mm512_loadu_pd
#define STORE           _mm512_storeu_pd
#define SAME(x)         _mm512_set1_pd(x)
#define APART(a, b, c)  _mm512_add_pd(c, _mm512_mul_pd(a, b))
#define FUSED           _mm512_fmadd_pd
#define WIDEN(from)     _mm512_cvtps_pd(_mm256_loadu_ps(from))
#define NARROW(to, v)   _mm256_storeu_ps(to, _mm512_cvtpd_ps(v))
#include "gemm_loops.h"

const gemm_path *gemm_path_at(size_t i) {
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"),
               avx512 = avx2 && __builtin_cpu_supports("avx512f");
    return i == 0 ? &plain_path : i == 1 && avx2 ? &avx2_path : i == 2 && avx512 ? &avx512_path : NULL;
}

#elif defined __aarch64__

/* ---- NEON, which each processor of aarch64 has: 32 registers, 16 of them sums ------------------------------------ */

static inline pair pair_fused(pair a, pair b, pair c) { return vfmaq_f64(c, a, b); }

static inline pair pair_widen(const float *from) {
    float32x2_t v;
    memcpy(&v, from, sizeof v);
    return vcvt_f64_f32(v);
}
static inline void pair_narrow(float *to, pair v) {
    const float32x2_t narrow = vcvt_f32_f64(v);
    memcpy(to, &narrow, sizeof narrow);
}

static void neon_interleave(const float *const *from, size_t n, double *out, size_t unit) {
    size_t k = 0;
    for (; n - k >= 4; k += 4, out += 4 * unit) {
        for (size_t i = 0; i < 4; i += 2) {
            float32x4_t a, b;
            memcpy(&a, from[i] + k, sizeof a);
            memcpy(&b, from[i + 1] + k, sizeof b);
            const float32x4_t first = vzip1q_f32(a, b), last = vzip2q_f32(a, b);
            pair_store(out + i, vcvt_f64_f32(vget_low_f32(first)));
            pair_store(out + unit + i, vcvt_high_f64_f32(first));
            pair_store(out + 2 * unit + i, vcvt_f64_f32(vget_low_f32(last)));
            pair_store(out + 3 * unit + i, vcvt_high_f64_f32(last));
        }
    }
    for (; k < n; k++, out += unit) {
        for (size_t i = 0; i < 4; i++) out[i] = (double)from_single(from[i] + k);
    }
}

#define PATH(name)      neon_##name
#define PATH_NAME       "neon"
#define TARGET
#define VECTOR          pair
#define LANES           2
#define LINES           4
#define TALL            8
#define BROAD           4
#define LOAD            pair_load
#define STORE           pair_store
#define SAME(x)         ((pair){ (x), (x) })
#define APART(a, b, c)  ((c) + (a) * (b))
#define FUSED           pair_fused
#define WIDEN           pair_widen
#define NARROW          pair_narrow
#include "gemm_loops.h"

const gemm_path *gemm_path_at(size_t i) { return i == 0 ? &plain_path : i == 1 ? &neon_path : NULL; }

#else
const gemm_path *gemm_path_at(size_t i) { return i == 0 ? &plain_path : NULL; }
#endif

const gemm_path *gemm_path_now(void) {
    const char *word = getenv("XIR_EXEC_PATH");
    const gemm_path *best = &plain_path, *now;
    for (size_t i = 0; (now = gemm_path_at(i)); i++) {
        best = now;
        if (word && strcmp(word, now->name) == 0) break;
    }
    return best;
}
