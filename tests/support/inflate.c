/* See inflate.h. */
#include <string.h>
#include "support/inflate.h"
#include "support/net.h"

typedef struct bits { const unsigned char *p, *end; unsigned long held; int n; } bits;

static unsigned take_bits(bits *b, int n) {
    while (b->n < n) {
        assert_true(b->p < b->end);
        b->held |= (unsigned long)*b->p++ << b->n;
        b->n += 8;
    }
    const unsigned v = (unsigned)(b->held & ((1ul << n) - 1));
    b->held >>= n;
    b->n -= n;
    return v;
}

/* A Huffman code: how many symbols have each length, and the symbols in the order of their codes. */
typedef struct code { unsigned short count[16], symbol[288]; } code;

static void make_code(code *c, const unsigned char *lengths, size_t n) {
    unsigned short at[16] = { 0 };
    memset(c, 0, sizeof *c);
    for (size_t i = 0; i < n; i++) c->count[lengths[i]]++;
    c->count[0] = 0;
    for (size_t i = 1; i < 15; i++) at[i + 1] = (unsigned short)(at[i] + c->count[i]);
    for (size_t i = 0; i < n; i++) if (lengths[i]) c->symbol[at[lengths[i]]++] = (unsigned short)i;
}

static unsigned take_symbol(bits *b, const code *c) {
    unsigned value = 0, first = 0, index = 0;
    for (int length = 1; length < 16; length++) {
        value = value << 1 | take_bits(b, 1);
        if (value < first + c->count[length]) return c->symbol[index + value - first];
        index += c->count[length];
        first = (first + c->count[length]) << 1;
    }
    fail_msg("a code is malformed");
    return 0;
}

static void fixed_codes(code *literals, code *distances) {
    unsigned char lengths[288];
    for (size_t i = 0; i < 288; i++) lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    make_code(literals, lengths, 288);
    memset(lengths, 5, 30);
    make_code(distances, lengths, 30);
}

static void read_codes(bits *b, code *literals, code *distances) {
    static const unsigned char order[19] = { 16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15 };
    unsigned char lengths[320] = { 0 };
    const size_t n_literals = take_bits(b, 5) + 257, n_distances = take_bits(b, 5) + 1, n = take_bits(b, 4) + 4;
    code own;
    for (size_t i = 0; i < n; i++) lengths[order[i]] = (unsigned char)take_bits(b, 3);
    make_code(&own, lengths, 19);
    memset(lengths, 0, sizeof lengths);
    for (size_t i = 0; i < n_literals + n_distances;) {
        const unsigned s = take_symbol(b, &own);
        if (s < 16) {
            lengths[i++] = (unsigned char)s;
            continue;
        }
        assert_true(s > 16 || i);
        const unsigned char again = s == 16 ? lengths[i - 1] : 0;
        size_t times = s == 16 ? 3 + take_bits(b, 2) : s == 17 ? 3 + take_bits(b, 3) : 11 + take_bits(b, 7);
        assert_true(i + times <= n_literals + n_distances);
        while (times--) lengths[i++] = again;
    }
    make_code(literals, lengths, n_literals);
    make_code(distances, lengths + n_literals, n_distances);
}

static size_t unpack(bits *b, const code *literals, const code *distances, unsigned char *out, size_t at, size_t size) {
    for (unsigned s; (s = take_symbol(b, literals)) != 256;) {
        if (s < 256) {
            assert_true(at < size);
            out[at++] = (unsigned char)s;
            continue;
        }
        unsigned length = s - 254, distance;
        if (s > 264 && s < 285) {
            const unsigned extra = (s - 261) / 4;
            length = 3 + ((4 + (s - 265) % 4) << extra) + take_bits(b, (int)extra);
        } else if (s == 285) length = 258;
        s = take_symbol(b, distances);
        distance = s + 1;
        if (s > 3) distance = 1 + ((2 + s % 2) << (s / 2 - 1)) + take_bits(b, (int)(s / 2 - 1));
        assert_true(distance <= at && length <= size - at);
        for (; length; length--, at++) out[at] = out[at - distance];
    }
    return at;
}

void inflate_bytes(const unsigned char *from, size_t size, unsigned char *out, size_t out_size) {
    bits b = { from, from + size, 0, 0 };
    size_t at = 0;
    for (bool last = false; !last;) {
        code literals, distances;
        last = take_bits(&b, 1);
        const unsigned kind = take_bits(&b, 2);
        assert_true(kind < 3);
        if (!kind) {
            b.held = 0, b.n = 0;
            const unsigned n = take_bits(&b, 16);
            (void)take_bits(&b, 16);
            assert_true(n <= (size_t)(b.end - b.p) && n <= out_size - at);
            memcpy(out + at, b.p, n);
            b.p += n;
            at += n;
            continue;
        }
        if (kind == 1) fixed_codes(&literals, &distances);
        else read_codes(&b, &literals, &distances);
        at = unpack(&b, &literals, &distances, out, at, out_size);
    }
    assert_int_equal(at, out_size);
}
