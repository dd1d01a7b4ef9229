/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Each list or map announces items, and each item takes at least one byte. So the items still owed to all open lists
 * and maps never outnumber the bytes left; where they would, the file is refused, before anybody allocates memory for
 * them. */
#include <inttypes.h>
#include "scan.h"
#include "task.h"

#define TIMES2(...)   __VA_ARGS__, __VA_ARGS__
#define TIMES4(...)   TIMES2(__VA_ARGS__), TIMES2(__VA_ARGS__)
#define TIMES16(...)  TIMES4(__VA_ARGS__), TIMES4(__VA_ARGS__), TIMES4(__VA_ARGS__), TIMES4(__VA_ARGS__)
#define TIMES32(...)  TIMES16(__VA_ARGS__), TIMES16(__VA_ARGS__)
#define TIMES128(...) TIMES32(__VA_ARGS__), TIMES32(__VA_ARGS__), TIMES32(__VA_ARGS__), TIMES32(__VA_ARGS__)

const packed_head packed_heads[256] = {
    TIMES128({ SHAPE_NUMBER, 1, 0, 0 }),                                                  /* 00 … 7f  positive fixint       */
    TIMES16({ SHAPE_MAP, 1, 0, 0x0F }),                                                   /* 80 … 8f  fixmap                */
    TIMES16({ SHAPE_LIST, 1, 0, 0x0F }),                                                  /* 90 … 9f  fixarray              */
    TIMES32({ SHAPE_TEXT, 1, 0, 0x1F }),                                                  /* a0 … bf  fixstr                */
    { SHAPE_NULL, 1, 0, 0 }, { SHAPE_NONE, 1, 0, 0 },                                     /* c0, c1   nil, never used       */
    TIMES2({ SHAPE_BOOL, 1, 0, 0 }),                                                      /* c2, c3   false, true           */
    { SHAPE_BYTES, 2, 1, 0 }, { SHAPE_BYTES, 3, 2, 0 }, { SHAPE_BYTES, 5, 4, 0 },         /* c4 … c6  bin 8, 16, 32         */
    { SHAPE_NONE, 3, 1, 0 }, { SHAPE_NONE, 4, 2, 0 }, { SHAPE_NONE, 6, 4, 0 },            /* c7 … c9  ext 8, 16, 32         */
    { SHAPE_NUMBER, 5, 0, 0 }, { SHAPE_NUMBER, 9, 0, 0 },                                 /* ca, cb   float 32, 64          */
    { SHAPE_NUMBER, 2, 0, 0 }, { SHAPE_NUMBER, 3, 0, 0 }, { SHAPE_NUMBER, 5, 0, 0 }, { SHAPE_NUMBER, 9, 0, 0 },   /* uint   */
    { SHAPE_NUMBER, 2, 0, 0 }, { SHAPE_NUMBER, 3, 0, 0 }, { SHAPE_NUMBER, 5, 0, 0 }, { SHAPE_NUMBER, 9, 0, 0 },   /* int    */
    TIMES4({ SHAPE_NONE, 2, 0, 0 }), { SHAPE_NONE, 2, 0, 0 },                             /* d4 … d8  fixext               */
    { SHAPE_TEXT, 2, 1, 0 }, { SHAPE_TEXT, 3, 2, 0 }, { SHAPE_TEXT, 5, 4, 0 },            /* d9 … db  str 8, 16, 32         */
    { SHAPE_LIST, 3, 2, 0 }, { SHAPE_LIST, 5, 4, 0 },                                     /* dc, dd   array 16, 32          */
    { SHAPE_MAP, 3, 2, 0 }, { SHAPE_MAP, 5, 4, 0 },                                       /* de, df   map 16, 32            */
    TIMES32({ SHAPE_NUMBER, 1, 0, 0 }),                                                   /* e0 … ff  negative fixint       */
};

/* ---- locating a byte --------------------------------------------------------------------------------------- */

/* An open list or map. Of a map, keys and values are both items. */
typedef struct open_item {
    frame    f;
    uint64_t items, left;
    bool     map;
} open_item;

/* The frames of the item at `at`, before which everything is well-formed; NULL outside of everything. */
static const frame *place_of(const uint8_t *data, const uint8_t *at, open_item places[PACKED_DEEPEST]) {
    uint32_t depth = 0;
    for (const uint8_t *p = data; p < at;) {
        const packed_head *h = packed_head_at(p);
        open_item *in = depth ? &places[depth - 1] : NULL;
        uint64_t items;
        if (in && in->map && in->left % 2 == 0) {
            bool text = h->shape == SHAPE_TEXT;
            in->f.key = text ? (xir_str){ (const char *)p + h->size, packed_count(h, p) } : (xir_str){ NULL, 0 };
        }
        if (in) in->left--;
        p = packed_step(p, &items);
        if (items) {
            places[depth++] = (open_item){ { .up = in ? &in->f : NULL, .index = SIZE_MAX }, items, items,
                                       h->shape == SHAPE_MAP };
        }
        while (depth && !places[depth - 1].left) depth--;
    }
    for (uint32_t i = 0; i < depth; i++) {
        open_item *in = &places[i];
        bool last = i + 1 == depth;   /* its next item has not begun; those of the others have */
        if (!in->map) in->f.index = (size_t)(in->items - in->left) - !last;
        else if (last && in->left % 2 == 0) in->f.key = (xir_str){ NULL, 0 };
    }
    return depth ? &places[depth - 1].f : NULL;
}

/* Records a failure of the item at `at`, with the path to it. Returns false. */
static bool fail(trace *t, const uint8_t *data, const uint8_t *at, xir_status code, const char *format, ...) {
    open_item places[PACKED_DEEPEST];
    const frame *top = t->top;
    t->top = place_of(data, at, places);
    va_list args;
    va_start(args, format);
    trace_failv(t, code, (uint64_t)(at - data), format, args);
    va_end(args);
    t->top = top;
    return false;
}

/* ---- scanning ---------------------------------------------------------------------------------------------- */

/* Reports what is wrong with the item at `p`, which has `room` bytes up to the end: one of four things. */
static bool bad_item(trace *t, const uint8_t *data, const uint8_t *p, size_t room) {
    const packed_head *h = packed_head_at(p);
    if (*p == 0xC1)
        return fail(t, data, p, XIR_E_SYNTAX, "expected an item, found byte 0xc1, which begins no item");
    if (h->shape == SHAPE_NONE) {
        return fail(t, data, p, XIR_E_TYPE, "expected an item of a network, found an extension (byte 0x%02x)",
                    *p);
    }
    if (room < h->size) {
        return fail(t, data, p, XIR_E_SYNTAX, "expected %u bytes from byte 0x%02x on, found %zu",
                    h->size, *p, room);
    }
    uint32_t n = packed_count(h, p);
    const char *what = h->shape == SHAPE_TEXT ? "a text" : h->shape == SHAPE_BYTES ? "a byte string"
                       : h->shape == SHAPE_MAP ? "a map" : "a list";
    return fail(t, data, p, XIR_E_SYNTAX, "found %s of %" PRIu32 " %s, but only %zu more bytes", what, n,
                h->shape == SHAPE_TEXT || h->shape == SHAPE_BYTES ? "bytes" : "members", room - h->size);
}

/* Values and their types are written in full at each use: a map that equals a recent one, byte for byte, is as valid as
 * that one. Half of a network's items are skipped this way: in a chain of convolutions and activations, an op takes
 * 180 ns instead of 450 (632 bytes; gcc 12 -O3, 2-vCPU Xeon VM). */
enum { RECENT_WAYS = 4, RECENT_SETS = 8, LEAST = 16, MOST = 512 };

typedef struct recent_map { const uint8_t *start; uint32_t size, height; } recent_map;
typedef struct recent_maps { recent_map of[RECENT_SETS][RECENT_WAYS]; uint32_t next; } recent_maps;

static inline bool ends_alike(const uint8_t *a, const uint8_t *b) { return memcmp(a, b, 8) == 0; }

static inline const recent_map *find_recent(const recent_maps *r, const uint8_t *p, size_t room) {
    const recent_map *set = r->of[*p % RECENT_SETS];
    for (int i = 0; i < RECENT_WAYS; i++) {
        size_t n = set[i].size;
        /* maps differ most at the end */
        if (!n || n > room || !ends_alike(p + n - 8, set[i].start + n - 8)) continue;
        if (memcmp(p, set[i].start, n) == 0) return &set[i];
    }
    return NULL;
}

static inline void remember(recent_maps *r, const uint8_t *start, const uint8_t *end, uint32_t height) {
    size_t n = (size_t)(end - start);
    if (n < LEAST || n > MOST) return;
    r->of[*start % RECENT_SETS][r->next++ % RECENT_WAYS] = (recent_map){ start, (uint32_t)n, height };
}

/* An open list or map. */
typedef struct opened {
    const uint8_t *start;
    uint64_t       left;     /* of the outer one, after it       */
    uint32_t       height;   /* 1 + height of its complete items */
} opened;

bool packed_scan(trace *t, const uint8_t *data, size_t size, uint32_t deepest) {
    if (!size) return trace_fail(t, XIR_E_SYNTAX, 0, "expected a network, found no bytes");
    const uint8_t *p = data, *end = data + size;
    opened open[PACKED_DEEPEST + 1];
    recent_maps recent = { .next = 0 };
    uint64_t left = 1, owed = 1;   /* items to come: in the innermost list or map; in all */
    uint32_t depth = 0;
    open[0].height = 0;            /* never used */
    for (;;) {
        while (!left) {
            if (!depth) {
                if (p == end) return true;
                return fail(t, data, p, XIR_E_SYNTAX, "expected the end, found %zu more bytes",
                            (size_t)(end - p));
            }
            opened *o = &open[depth--];
            if (!task_worked(TASK_PER_OBJECT)) return trace_memory(t);
            left = o->left;
            if (open[depth].height <= o->height) open[depth].height = o->height + 1;
            if (packed_head_at(o->start)->shape == SHAPE_MAP) remember(&recent, o->start, p, o->height);
        }
        /* At least one item is owed, and no more than there are bytes left: so there is a byte. */
        uint64_t room = (uint64_t)(end - p), more, items = 0;
        uint8_t c = *p;
        if ((c & 0xE0) == 0xA0) {
            more = 1 + (c & 0x1Fu);
        } else if (c < 0x80 || c >= 0xE0) {
            more = 1;
        } else {
            const packed_head *h = packed_head_at(p);
            more = h->size;
            if (room < more || h->shape == SHAPE_NONE) return bad_item(t, data, p, room);
            if (h->shape == SHAPE_TEXT || h->shape == SHAPE_BYTES) {
                more += packed_count(h, p);
            } else if (h->shape >= SHAPE_LIST) {
                items = (uint64_t)packed_count(h, p) << (h->shape == SHAPE_MAP);
                if (items > room - more) return bad_item(t, data, p, room);
                const recent_map *known = h->shape == SHAPE_MAP ? find_recent(&recent, p, room) : NULL;
                if (known && depth + known->height <= deepest) {
                    more = known->size;
                    items = 0;
                    if (open[depth].height <= known->height) open[depth].height = known->height + 1;
                } else if (depth == deepest) {
                    return fail(t, data, p, XIR_E_LIMIT, "values are nested deeper than %" PRIu32, deepest);
                } else {
                    open[++depth] = (opened){ p, left - 1, 1 };
                    left = items + 1;
                }
            }
        }
        left--;
        owed += items - 1;
        if (room < more) return bad_item(t, data, p, room);
        if (owed > room - more) {
            return fail(t, data, p, XIR_E_SYNTAX, "expected %" PRIu64 " more items after this one, found only %" PRIu64
                        " more bytes", owed, room - more);
        }
        p += more;
    }
}

uint32_t packed_height(const uint8_t *p) {
    uint64_t outer[PACKED_DEEPEST], left = 1;
    uint32_t depth = 0, height = 0;
    for (;;) {
        while (!left) {
            if (!depth) return height;
            left = outer[--depth];
        }
        shape found = (shape)packed_head_at(p)->shape;
        uint64_t items;
        p = packed_step(p, &items);
        left--;
        if (found < SHAPE_LIST) continue;
        outer[depth++] = left;
        left = items;
        if (depth > height) height = depth;
    }
}
