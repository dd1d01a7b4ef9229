/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The MessagePack source: a cursor in the bytes. The input has been scanned, so every announced item exists. A list or
 * map is entered without moving; the step to its first member passes its head. The cursor counts the members left, and
 * keeps the counts of the enclosing lists and maps. Keys are compared in place. Texts and bytes stay in place, those of
 * parameters untouched. Items whose value must be decoded (nil, booleans, numbers) are unpacked by msgpack-c, one at a
 * time: for these it takes no memory, unlike for texts (its zone stays empty). */
#include <inttypes.h>
#include <msgpack.h>
#include "packed.h"
#include "utf8.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

static inline const uint8_t *here(const source *s) { return s->at; }
static inline const uint8_t *end_of(const source *s) { return s->end; }
static inline uint32_t *levels(const source *s) { return ((packed_levels *)s->state)->left; }

/* Compares the last bytes first: they hold the number of a value, the shape of a type. */
static inline bool same_bytes(const void *a, const void *b, size_t n) {
    const char *x = a, *y = b;
    if (n >= 8) return load8(x + n - 8) == load8(y + n - 8) && memcmp(x, y, n - 8) == 0;
    if (n >= 4) return load4(x + n - 4) == load4(y + n - 4) && load4(x) == load4(y);
    return memcmp(x, y, n) == 0;
}

/* ---- single items ------------------------------------------------------------------------------------------ */

static shape on_shape(source *s) { return (shape)packed_head_at(here(s))->shape; }

/* Unpacks the next item with msgpack-c; false, without a failure, if it is of another shape. */
static inline bool unpack(source *s, shape wanted, msgpack_object *out) {
    if (on_shape(s) != wanted) return false;
    size_t used = 0;
    msgpack_unpacked item;
    msgpack_unpacked_init(&item);
    if (msgpack_unpack_next(&item, s->at, (size_t)(end_of(s) - here(s)), &used) != MSGPACK_UNPACK_SUCCESS) return false;
    *out = item.data;
    s->at = here(s) + used;
    return true;
}

static bool on_null(source *s) {
    msgpack_object item;
    return unpack(s, SHAPE_NULL, &item) || source_expected(s, shape_words(SHAPE_NULL));
}

static bool on_boolean(source *s, bool *out) {
    msgpack_object item;
    if (!unpack(s, SHAPE_BOOL, &item)) return source_expected(s, shape_words(SHAPE_BOOL));
    *out = item.via.boolean;
    return true;
}

static bool on_number(source *s, number *out) {
    msgpack_object item;
    if (!unpack(s, SHAPE_NUMBER, &item)) return source_expected(s, shape_words(SHAPE_NUMBER));
    switch (item.type) {
    case MSGPACK_OBJECT_POSITIVE_INTEGER:
        *out = (number){ .kind = item.via.u64 > INT64_MAX ? NUMBER_U64 : NUMBER_I64, .u64 = item.via.u64 };
        break;
    case MSGPACK_OBJECT_NEGATIVE_INTEGER:
        *out = (number){ .kind = NUMBER_I64, .i64 = item.via.i64 };
        break;
    default:
        *out = (number){ .kind = NUMBER_REAL, .real = item.via.f64 };
        break;
    }
    return true;
}

static bool on_integer(source *s, int64_t *out) {
    const uint8_t *p = here(s);
    if (*p < 0x80) {   /* most integers are small */
        *out = *p;
        s->at = p + 1;
        return true;
    }
    number n = { .kind = NUMBER_I64 };
    if (!on_number(s, &n)) return false;
    if (n.kind == NUMBER_I64) {
        *out = n.i64;
        return true;
    }
    s->at = p;
    if (n.kind == NUMBER_U64)
        return source_fail(s, p, XIR_E_BOUNDS, "%" PRIu64 " does not fit 64 bits with a sign", n.u64);
    return source_fail(s, p, XIR_E_TYPE, "expected an integer, found %g", n.real);
}

/* The first byte of [p, end) that is not ASCII, or `end`. */
static const char *ascii_end(const char *p, const char *end) {
#if defined(__SSE2__)
    for (; end - p >= 16; p += 16) {
        int mask = _mm_movemask_epi8(_mm_loadu_si128((const __m128i *)(const void *)p));
        if (mask) return p + __builtin_ctz((unsigned)mask);
    }
#endif
    for (; end - p >= 8 && !(load8(p) & UINT64_C(0x8080808080808080)); p += 8) {}
    while (p < end && (unsigned char)*p < 0x80) p++;
    return p;
}

static bool check_text(const source *s, xir_str text) {
    const char *end = text.data + text.size;
    for (const char *p = text.data; (p = ascii_end(p, end)) < end;) {
        size_t length = utf8_length(p, end);
        if (!length) return source_fail(s, p, XIR_E_SYNTAX, "byte 0x%02x is not UTF-8 here", (unsigned char)*p);
        p += length;
    }
    return true;
}

/* The contents of the next item, a text or bytes, whose shape is known. Steps over it. */
static inline const uint8_t *take(source *s, uint32_t *size) {
    const uint8_t *p = here(s);
    const packed_head *h = packed_head_at(p);
    *size = packed_count(h, p);
    s->at = p + h->size + *size;
    return p + h->size;
}

static bool on_text(source *s, xir_str *out) {
    if (on_shape(s) != SHAPE_TEXT) return source_expected(s, shape_words(SHAPE_TEXT));
    uint32_t size;
    const uint8_t *p = take(s, &size);
    xir_str text = { (const char *)p, size };
    if (!check_text(s, text)) return false;
    *out = text;
    return true;
}

bool packed_bytes(source *s, const uint8_t **data, uint32_t *size) {
    if (on_shape(s) != SHAPE_BYTES) return source_expected(s, shape_words(SHAPE_BYTES));
    *data = take(s, size);
    return true;
}

/* ---- maps and lists ---------------------------------------------------------------------------------------- */

static bool on_enter(source *s) {
    if (s->depth >= s->deepest) {
        return source_fail(s, here(s), XIR_E_LIMIT, "values are nested deeper than %" PRIu32, s->deepest);
    }
    levels(s)[s->depth++] = s->left;
    s->left = packed_count(packed_head_at(here(s)), here(s));
    return true;
}

/* To the next member: 1: there is one; 0: it was the end. */
static inline int step(source *s, bool first) {
    if (first) s->at = here(s) + packed_head_at(here(s))->size;
    if (s->left) {
        s->left--;
        return 1;
    }
    s->left = levels(s)[--s->depth];
    return 0;
}

static int on_item(source *s, bool first) { return step(s, first); }

static int on_key(source *s, bool first, xir_str *out) {
    if (!step(s, first)) return 0;
    if (on_shape(s) != SHAPE_TEXT) {
        source_fail(s, s->at, XIR_E_TYPE, "expected a key, found %s", shape_words(on_shape(s)));
        return -1;
    }
    return on_text(s, out) ? 1 : -1;
}

static uint8_t bake(xir_str key, char *out) { return packed_bake(key, out); }

static bool on_key_is(source *s, bool first, const codec_key *key) {
    const uint8_t *p = here(s);
    size_t n = key->size;
    if (!s->left || !n) return false;
    if (first) p += packed_head_at(p)->size;
    if ((size_t)(end_of(s) - p) < n || *p != (uint8_t)key->baked[0]) return false;
    if (n < 8) {
        if (memcmp(p, key->baked, n) != 0) return false;
    } else if (load8(p) != load8(key->baked) || load8(p + n - 8) != load8(key->baked + n - 8) ||
               (n > 16 && load8(p + 8) != load8(key->baked + 8))) {
        return false;
    }
    s->left--;
    s->at = p + n;
    return true;
}

/* ---- looking ahead ----------------------------------------------------------------------------------------- */

static bool on_member(const source *s, xir_str key, xir_str *out) {
    const uint8_t *p = here(s);
    const packed_head *h = packed_head_at(p);
    if (h->shape != SHAPE_MAP) return false;
    uint32_t n = packed_count(h, p);
    for (p += h->size; n; n--) {
        h = packed_head_at(p);
        bool found = h->shape == SHAPE_TEXT && packed_count(h, p) == key.size &&
            memcmp(p + h->size, key.data, key.size) == 0;
        p = packed_end(p);
        if (found) {
            h = packed_head_at(p);
            if (h->shape != SHAPE_TEXT) return false;
            *out = (xir_str){ (const char *)p + h->size, packed_count(h, p) };
            return true;
        }
        p = packed_end(p);
    }
    return false;
}

/* The members equal the memo's byte for byte. If the memo began with the map, as many members follow; otherwise at
 * least that many must be left. */
static bool on_skip_members(source *s, const codec_memo *memo) {
    const uint8_t *p = here(s);
    size_t n = memo->size;
    if (!n || (size_t)(end_of(s) - p) < n || !same_bytes(p, memo->start, n)) return false;
    if (packed_head_at(p)->shape != SHAPE_MAP && memo->members > s->left) return false;
    s->left -= memo->members;
    s->at = p + n;
    return true;
}

static bool on_repeats(source *s, const codec_memo *memo) {
    const uint8_t *p = here(s);
    size_t n = memo->size;
    if (!n || (size_t)(end_of(s) - p) < n || !same_bytes(p, memo->start, n)) return false;
    s->at = p + n;
    return true;
}

static bool on_fingerprint(const source *s, codec_memo *out, uint64_t *hash) {
    const uint8_t *p = here(s);
    *out = (codec_memo){ .start = p, .size = (size_t)(packed_end(p) - p) };
    *hash = codec_hash((const char *)p, out->size);
    return true;
}

static uint64_t on_offset(const source *s, const void *at) {
    return (uint64_t)((const uint8_t *)at - (const uint8_t *)s->start);
}

static void on_skip(source *s) { s->at = packed_end(s->at); }

const source_ops packed_source = {
    .bake = bake, .shape = on_shape, .null = on_null, .boolean = on_boolean, .integer = on_integer, .number = on_number,
    .text = on_text, .enter = on_enter, .key = on_key, .item = on_item, .key_is = on_key_is, .member = on_member,
    .skip_members = on_skip_members, .repeats = on_repeats, .fingerprint = on_fingerprint, .offset = on_offset,
    .skip = on_skip,
};

void packed_begin(decoder *d, source *s, packed_levels *open, const uint8_t *data, size_t size) {
    decoder_source(d, s, &packed_source, data, size);
    if (s->deepest > PACKED_DEEPEST) s->deepest = PACKED_DEEPEST;
    s->state = open;
}
