/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Little-endian integers at any address. */
#ifndef CORE_LITTLE_H
#define CORE_LITTLE_H

#include <stdint.h>
#include <string.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define LITTLE_ORDER(bits, v) __builtin_bswap##bits(v)
#else
#define LITTLE_ORDER(bits, v) (v)
#endif

#define LITTLE_BITS(bits)                                                      \
    static inline uint##bits##_t little_u##bits(const uint8_t *p) {            \
        uint##bits##_t v;                                                      \
        memcpy(&v, p, sizeof v);                                               \
        return LITTLE_ORDER(bits, v);                                          \
    }                                                                          \
    static inline void little_put##bits(uint8_t *p, uint##bits##_t v) {        \
        v = LITTLE_ORDER(bits, v);                                             \
        memcpy(p, &v, sizeof v);                                               \
    }
LITTLE_BITS(16)
LITTLE_BITS(32)
LITTLE_BITS(64)
#undef LITTLE_BITS

#endif
