/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Writes and reads counts as text: see packed.h. */
#include "packed.h"
#include <string.h>

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* ---- writing -------------------------------------------------------------------------------------------------- */

/* Bits that wait for their letter. */
typedef struct put { char *out; size_t size; uint32_t bits; int n; } put;

static void put_byte(put *p, uint8_t byte) {
    p->bits = p->bits << 8 | byte;
    p->n += 8;
    for (; p->n >= 6; p->n -= 6) p->out[p->size++] = letters[p->bits >> (p->n - 6) & 63];
}

static void put_number(put *p, uint64_t v) {
    for (; v >= 128; v >>= 7) put_byte(p, (uint8_t)(v | 128));
    put_byte(p, (uint8_t)v);
}

size_t packed_write(const uint64_t *counts, size_t n, char *out) {
    put p = { .out = out };
    while (n && !counts[n - 1]) n--;
    for (size_t i = 0; i < n; i++) {
        size_t zeros = 0;
        for (; !counts[i]; i++) zeros++;
        if (zeros) {
            put_byte(&p, 0);
            put_number(&p, zeros);
        }
        put_number(&p, counts[i]);
    }
    if (p.n) p.out[p.size++] = letters[p.bits << (6 - p.n) & 63];
    return p.size;
}

/* ---- reading -------------------------------------------------------------------------------------------------- */

typedef struct take { xir_str text; size_t at; uint32_t bits; int n; bool wrong; } take;

/* The next byte; false at the end. Bits that are left over are 0. */
static bool take_byte(take *t, uint8_t *out) {
    while (t->n < 8) {
        if (t->at == t->text.size) {
            t->wrong |= (t->bits & ((1u << t->n) - 1)) != 0 || t->n >= 6;
            return false;
        }
        const char c = t->text.data[t->at++];
        const char *letter = c ? strchr(letters, c) : NULL;
        if (!letter) {
            t->wrong = true;
            return false;
        }
        t->bits = t->bits << 6 | (uint32_t)(letter - letters);
        t->n += 6;
    }
    t->n -= 8;
    *out = (uint8_t)(t->bits >> t->n);
    return true;
}

/* The rest of a number whose first byte is known. */
static uint64_t take_number(take *t, uint8_t byte) {
    uint64_t v = byte & 127;
    for (int shift = 7; byte & 128; shift += 7) {
        if (shift > 56 || !take_byte(t, &byte)) {
            t->wrong = true;
            return 0;
        }
        v |= (uint64_t)(byte & 127) << shift;
    }
    return v;
}

bool packed_read(xir_str text, uint64_t *counts, size_t n, uint64_t *total) {
    take t = { .text = text };
    uint8_t byte;
    size_t i = 0;
    *total = 0;
    if (counts) memset(counts, 0, n * sizeof *counts);
    while (!t.wrong && take_byte(&t, &byte)) {
        if (byte) {
            const uint64_t v = take_number(&t, byte);
            if (i >= n || !v || v > INT64_MAX - *total) return false;
            if (counts) counts[i] = v;
            *total += v;
            i++;
            continue;
        }
        const uint64_t zeros = take_byte(&t, &byte) ? take_number(&t, byte) : 0;
        if (!zeros || zeros > n - i) return false;
        i += (size_t)zeros;
    }
    return !t.wrong;
}
