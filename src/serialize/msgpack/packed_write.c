/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The MessagePack sink. msgpack-c packs everything into XIR's buffer; baked keys, and objects and values that were
 * written before, are copied from there. No byte depends on the depth, so an item has the same bytes wherever it
 * stands. Its height is remembered with it, since the nesting limit applies to copies too. */
#include <math.h>
#include <msgpack.h>
#include "packed.h"

/* Pieces of PIECE bytes are flushed. */
enum { PIECE = 1 << 18 };

static packed_sink *self(sink *s) { return (packed_sink *)s; }

/* ---- packing ----------------------------------------------------------------------------------------------- */

static inline void put(packed_sink *p, const void *bytes, size_t size) {
    if (p->sink.status) return;
    if (!buffer_reserve(&p->out, size)) {
        p->sink.status = XIR_E_MEMORY;
        return;
    }
    memcpy(p->out.data + p->out.size, bytes, size);
    p->out.size += size;
}

static inline int append(void *to, const char *bytes, size_t size) {
    if (size) put(to, bytes, size);
    return 0;
}

/* A constant for the compiler, so that it inlines the callback. */
static inline msgpack_packer packer_of(packed_sink *p) { return (msgpack_packer){ .data = p, .callback = append }; }

static bool fits(packed_sink *p, uint64_t n) {
    if (n <= UINT32_MAX) return true;
    if (!p->sink.status) {
        p->sink.status = XIR_E_LIMIT;
        p->too_large = true;
    }
    return false;
}

static inline void put_text(packed_sink *p, xir_str v) {
    msgpack_packer k = packer_of(p);
    if (!fits(p, v.size) || !sink_takes(&p->sink, v)) return;
    msgpack_pack_str(&k, v.size);
    append(p, v.data, v.size);
}

/* ---- events ------------------------------------------------------------------------------------------------ */

static uint8_t bake(xir_str key, char *out) { return packed_bake(key, out); }

static void on_name(sink *s, xir_str key) { put_text(self(s), key); }

static void on_key(sink *s, const codec_key *key) {
    packed_sink *p = self(s);
    if (!key->size) {
        put_text(p, key->name);
        return;
    }
    if (s->status) return;
    if (!buffer_reserve(&p->out, BAKED)) {
        s->status = XIR_E_MEMORY;
        return;
    }
    memcpy(p->out.data + p->out.size, key->baked, BAKED);
    p->out.size += key->size;
}

static void on_null(sink *s) {
    msgpack_packer k = packer_of(self(s));
    msgpack_pack_nil(&k);
}

static void on_boolean(sink *s, bool v) {
    msgpack_packer k = packer_of(self(s));
    if (v) msgpack_pack_true(&k);
    else msgpack_pack_false(&k);
}

static void on_integer(sink *s, int64_t v) {
    msgpack_packer k = packer_of(self(s));
    msgpack_pack_int64(&k, v);
}

static void on_uinteger(sink *s, uint64_t v) {
    msgpack_packer k = packer_of(self(s));
    msgpack_pack_uint64(&k, v);
}

/* In 32 bits if that loses nothing, not even a bit of a NaN. */
static void on_real(sink *s, double v) {
    msgpack_packer k = packer_of(self(s));
    double rounded = number_to_f32(v);
    if (memcmp(&rounded, &v, sizeof v) == 0) msgpack_pack_float(&k, (float)rounded);
    else msgpack_pack_double(&k, v);
}

static void on_text(sink *s, xir_str v) { put_text(self(s), v); }

static void hand_on(packed_sink *p, const void *data, size_t size) {
    if (size && !p->sink.status && !p->write(p->user, data, size)) p->sink.status = XIR_E_IO;
}

static void flush(packed_sink *p) {
    hand_on(p, p->out.data, p->out.size);
    p->out.size = 0;
    memset(p->values, 0, sizeof p->values);
}

static void put_head(packed_sink *p, uint64_t size) {
    msgpack_packer k = packer_of(p);
    if (fits(p, size)) msgpack_pack_bin(&k, (size_t)size);
}

static void on_bytes(sink *s, const void *data, uint64_t size) {
    packed_sink *p = self(s);
    put_head(p, size);
    if (size < PACKED_DIRECT) {
        if (!s->status) append(p, data, (size_t)size);
    } else {
        flush(p);
        hand_on(p, data, (size_t)size);
    }
}

void packed_begin_bytes(sink *s, uint64_t size) {
    put_head(self(s), size);
    flush(self(s));
}

static void start(packed_sink *p, size_t n) {
    fits(p, n);
    if (p->sink.status) return;
    if (p->depth >= p->deepest) {
        p->sink.status = XIR_E_LIMIT;
        return;
    }
    if (++p->depth > p->peak) p->peak = p->depth;
}

static void on_list(sink *s, size_t n) {
    msgpack_packer k = packer_of(self(s));
    start(self(s), n);
    msgpack_pack_array(&k, n);
}

static void on_map(sink *s, const xir_class *cls, size_t n) {
    (void)cls;
    msgpack_packer k = packer_of(self(s));
    start(self(s), n);
    msgpack_pack_map(&k, n);
}

static void on_end(sink *s) { self(s)->depth--; }   /* after a failure the depth is unused */

static void on_form(sink *s, const xir_object *object) {
    buffer text;
    buffer_init(&text, context_alloc(self(s)->ctx));
    object->cls->more->form->print(object, &text);
    if (text.failed) s->status = XIR_E_MEMORY;
    else put_text(self(s), (xir_str){ text.data, text.size });
    buffer_free(&text);
}

/* ---- objects and values written before --------------------------------------------------------------------- */

/* Returns true if an item of this height may stand here. */
static bool deep_enough(packed_sink *p, uint32_t height) {
    if (p->depth + height > p->deepest) {
        if (!p->sink.status) p->sink.status = XIR_E_LIMIT;
        return false;
    }
    if (p->depth + height > p->peak) p->peak = p->depth + height;
    return true;
}

static size_t on_begin(sink *s, const xir_object *object) {
    packed_sink *p = self(s);
    const known_item *known = known_find(&p->known, object, 0);
    if (!known) return p->out.size;
    if (deep_enough(p, known->height)) put(p, known->bytes, known->size);
    return SINK_DONE;
}

static void on_learn(sink *s, const xir_object *object, size_t begun) {
    packed_sink *p = self(s);
    if (s->status) return;
    known_item *item = known_learn(&p->known, object, 0, p->out.data + begun, p->out.size - begun);
    if (item) item->height = packed_height((const uint8_t *)item->bytes);
}

static packed_value *recent_of(packed_sink *p, const xir_value *v) {
    uintptr_t bits = (uintptr_t)v >> 3;
    return &p->values[(bits ^ (bits >> 7)) % PACKED_VALUES];
}

static size_t on_begin_value(sink *s, const xir_value *v) {
    packed_sink *p = self(s);
    const packed_value *r = recent_of(p, v);
    if (r->value == v) {
        if (s->status || !deep_enough(p, r->height)) return SINK_DONE;
        if (!buffer_reserve(&p->out, r->size)) {
            s->status = XIR_E_MEMORY;
            return SINK_DONE;
        }
        memcpy(p->out.data + p->out.size, p->out.data + r->start, r->size);
        p->out.size += r->size;
        return SINK_DONE;
    }
    p->peak = p->depth;   /* values do not nest */
    return p->out.size;
}

static void on_learn_value(sink *s, const xir_value *v, size_t begun) {
    packed_sink *p = self(s);
    if (!s->status) *recent_of(p, v) = (packed_value){ v, begun, p->out.size - begun, p->peak - p->depth };
}

static void on_piece(sink *s) {
    if (self(s)->out.size >= PIECE) flush(self(s));
}

static buffer *on_out(sink *s) { return &self(s)->out; }

static uint32_t on_nest(sink *s, uint32_t levels) {
    deep_enough(self(s), levels);
    return self(s)->peak - self(s)->depth;
}

static const sink_ops packed_ops = {
    .bake = bake, .key = on_key, .name = on_name, .null = on_null, .boolean = on_boolean, .integer = on_integer,
    .uinteger = on_uinteger, .real = on_real, .text = on_text, .bytes = on_bytes, .list = on_list, .map = on_map,
    .end = on_end, .form = on_form, .begin = on_begin, .learn = on_learn, .begin_value = on_begin_value,
    .learn_value = on_learn_value, .piece = on_piece, .out = on_out, .bare = on_integer, .nest = on_nest,
};

/* ---- the whole --------------------------------------------------------------------------------------------- */

void packed_sink_init(packed_sink *p, xir_context *ctx, uint32_t depth, xir_write_fn *write, void *user) {
    memset(p, 0, sizeof *p);
    p->sink.ops = &packed_ops;
    p->ctx = ctx;
    p->depth = depth;
    p->deepest = ctx->limits.max_depth < PACKED_DEEPEST ? ctx->limits.max_depth : PACKED_DEEPEST;
    p->write = write;
    p->user = user;
    buffer_init(&p->out, context_alloc(ctx));
    known_init(&p->known, context_alloc(ctx));
}

xir_status packed_sink_end(packed_sink *p) {
    flush(p);
    return p->sink.status;
}

void packed_sink_free(packed_sink *p) {
    known_free(&p->known);
    buffer_free(&p->out);
}
