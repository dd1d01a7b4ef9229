/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The JSON sink. Every value is followed by a comma, which the end of its list or map removes: so no code asks whether
 * an item is the first. The text of an object is kept and copied when the object comes again. */
#include <math.h>
#include "json/json.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* Pieces of this size are flushed. */
enum { PIECE = 1 << 18 };

static json_sink *self(sink *s) { return (json_sink *)s; }

/* Room for `more` bytes; NULL if out of memory, and then the sink has failed. */
static inline char *room(json_sink *j, size_t more) {
    if (j->sink.status) return NULL;
    if (buffer_reserve(&j->out, more)) return j->out.data + j->out.size;
    j->sink.status = XIR_E_MEMORY;
    return NULL;
}

static void new_line(json_sink *j) {
    size_t blanks = (size_t)j->depth * j->indent;
    char *p = room(j, 1 + blanks);
    if (!p) return;
    *p = '\n';
    memset(p + 1, ' ', blanks);
    j->out.size += 1 + blanks;
}

/* Precedes an item of a list when indenting. */
static inline void lead_in(json_sink *j) {
    if (j->indent && j->lists[j->depth / 64] >> (j->depth % 64) & 1) new_line(j);
}

static inline void put(json_sink *j, const char *text, size_t size) {
    char *p = room(j, size + 1);
    if (!p) return;
    memcpy(p, text, size);
    p[size] = ',';
    j->out.size += size + 1;
}

/* ---- texts ------------------------------------------------------------------------------------------------- */

/* The first byte of [p, end) that must be escaped, or `end`. */
static const char *plain_end(const char *p, const char *end) {
#if defined(__SSE2__)
    const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\'), least = _mm_set1_epi8(0x1f);
    for (; end - p >= 16; p += 16) {
        __m128i x = _mm_loadu_si128((const __m128i *)(const void *)p);
        __m128i bad = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(x, quote), _mm_cmpeq_epi8(x, backslash)),
                                   _mm_cmpeq_epi8(_mm_min_epu8(x, least), x));
        int mask = _mm_movemask_epi8(bad);
        if (mask) return p + __builtin_ctz((unsigned)mask);
    }
#endif
    while (p < end && *p != '"' && *p != '\\' && (unsigned char)*p >= 0x20) p++;
    return p;
}

/* Writes `c` escaped; up to 6 bytes. */
static size_t escape(char *out, unsigned char c) {
    static const char hex[] = "0123456789abcdef";
    out[0] = '\\';
    switch (c) {
    case '"':  out[1] = '"';  return 2;
    case '\\': out[1] = '\\'; return 2;
    case '\b': out[1] = 'b';  return 2;
    case '\f': out[1] = 'f';  return 2;
    case '\n': out[1] = 'n';  return 2;
    case '\r': out[1] = 'r';  return 2;
    case '\t': out[1] = 't';  return 2;
    default:
        memcpy(out + 1, "u00", 3);
        out[4] = hex[c >> 4];
        out[5] = hex[c & 15];
        return 6;
    }
}

static inline void quote(buffer *out, xir_str v) {
    if (!buffer_reserve(out, v.size + 10)) return;   /* quotes, one escaped byte, and one that may follow */
    char *p = out->data + out->size;
    *p++ = '"';
    const char *from = v.data, *end = v.size ? v.data + v.size : v.data;
    for (;;) {
        const char *plain = plain_end(from, end);
        size_t n = (size_t)(plain - from);
        if (n) memcpy(p, from, n);
        p += n;
        if (plain == end) break;
        p += escape(p, (unsigned char)*plain);
        from = plain + 1;
        out->size = (size_t)(p - out->data);
        if (!buffer_reserve(out, (size_t)(end - from) + 10)) return;
        p = out->data + out->size;
    }
    *p++ = '"';
    out->size = (size_t)(p - out->data);
}

void json_quote(buffer *out, xir_str v) { quote(out, v); }

/* A text in quotes, followed by one more character. */
static void put_text(json_sink *j, xir_str v, char after) {
    if (j->sink.status || !sink_takes(&j->sink, v)) return;
    quote(&j->out, v);
    if (j->out.failed) {
        j->sink.status = XIR_E_MEMORY;
        return;
    }
    j->out.data[j->out.size++] = after;   /* there is room */
}

/* ---- events ------------------------------------------------------------------------------------------------ */

uint8_t json_bake(xir_str key, char *out) {
    if (key.size + 3 > BAKED || plain_end(key.data, key.data + key.size) != key.data + key.size) return 0;
    out[0] = '"';
    memcpy(out + 1, key.data, key.size);
    out[key.size + 1] = '"';
    out[key.size + 2] = ':';
    return (uint8_t)(key.size + 3);
}

static void on_name(sink *s, xir_str key) {
    json_sink *j = self(s);
    if (j->indent) new_line(j);
    put_text(j, key, ':');
    if (j->indent) buffer_char(&j->out, ' ');
}

static void on_key(sink *s, const codec_key *key) {
    json_sink *j = self(s);
    if (!key->size) {
        on_name(s, key->name);
        return;
    }
    if (j->indent) new_line(j);
    char *p = room(j, BAKED + 1);
    if (!p) return;
    memcpy(p, key->baked, BAKED);
    p[key->size] = ' ';
    j->out.size += key->size + (j->indent != 0);
}

static void on_null(sink *s) {
    lead_in(self(s));
    put(self(s), "null", 4);
}

static void on_boolean(sink *s, bool v) {
    lead_in(self(s));
    if (v) put(self(s), "true", 4);
    else put(self(s), "false", 5);
}

static void on_integer(sink *s, int64_t v) {
    json_sink *j = self(s);
    lead_in(j);
    char *p = room(j, NUMBER_ROOM);
    if (!p) return;
    size_t n = 1;
    if (v >= 0 && v < 10) *p = (char)('0' + v);
    else n = number_put_i64(p, v);
    p[n] = ',';
    j->out.size += n + 1;
}

static void on_uinteger(sink *s, uint64_t v) {
    json_sink *j = self(s);
    lead_in(j);
    char *p = room(j, NUMBER_ROOM);
    if (!p) return;
    size_t n = number_put_u64(p, v);
    p[n] = ',';
    j->out.size += n + 1;
}

static void on_text(sink *s, xir_str v) {
    lead_in(self(s));
    put_text(self(s), v, ',');
}

static void on_real(sink *s, double v) {
    json_sink *j = self(s);
    if (!isfinite(v)) {
        on_text(s, isnan(v) ? XIR_STR("nan") : v < 0 ? XIR_STR("-inf") : XIR_STR("inf"));
        return;
    }
    lead_in(j);
    char *p = room(j, NUMBER_ROOM + 1);
    if (!p) return;
    size_t n = number_put_real(p, v);
    p[n] = ',';
    j->out.size += n + 1;
}

static void on_bytes(sink *s, const void *data, uint64_t size) {
    (void)data;
    (void)size;
    if (!s->status) s->status = XIR_E_UNSUPPORTED;   /* JSON has no bytes, and no caller writes any */
}

static void start(json_sink *j, char c, bool list) {
    lead_in(j);
    char *p = room(j, 1);
    if (!p) return;
    *p = c;
    j->out.size++;
    if (j->depth >= j->deepest) {
        j->sink.status = XIR_E_LIMIT;
        return;
    }
    j->depth++;
    uint64_t bit = (uint64_t)1 << (j->depth % 64), *word = &j->lists[j->depth / 64];
    *word = list ? *word | bit : *word & ~bit;
}

static void on_list(sink *s, size_t n) {
    if (self(s)->depth == 1) self(s)->listed = n;
    start(self(s), '[', true);
}

static void on_map(sink *s, const xir_class *cls, size_t n) {
    (void)cls;
    (void)n;
    start(self(s), '{', false);
}

static void on_end(sink *s) {
    json_sink *j = self(s);
    if (s->status) return;
    bool list = j->lists[j->depth / 64] >> (j->depth % 64) & 1;
    j->depth--;
    if (j->out.data[j->out.size - 1] == ',') {
        j->out.size--;
        if (j->indent) new_line(j);
    }
    char *p = room(j, 2);
    if (!p) return;
    p[0] = list ? ']' : '}';
    p[1] = ',';
    j->out.size += 2;
}

static void on_form(sink *s, const xir_object *object) {
    json_sink *j = self(s);
    buffer text;
    buffer_init(&text, context_alloc(j->ctx));
    object->cls->more->form->print(object, &text);
    if (text.failed) s->status = XIR_E_MEMORY;
    else on_text(s, (xir_str){ text.data, text.size });
    buffer_free(&text);
}

/* ---- objects and values written before --------------------------------------------------------------------- */

/* Compact text is the same at every depth. */
static uint32_t depth_of(const json_sink *j) { return j->indent ? j->depth : 0; }

static size_t on_begin(sink *s, const xir_object *object) {
    json_sink *j = self(s);
    const known_item *known = known_find(&j->known, object, depth_of(j));
    if (!known) return j->out.size;
    lead_in(j);
    put(j, known->bytes, known->size);
    return SINK_DONE;
}

static void on_learn(sink *s, const xir_object *object, size_t begun) {
    json_sink *j = self(s);
    if (s->status) return;
    /* In a list the text begins after the white space of the line. */
    while (begun < j->out.size && (j->out.data[begun] == '\n' || j->out.data[begun] == ' ')) begun++;
    known_learn(&j->known, object, depth_of(j), j->out.data + begun, j->out.size - 1 - begun);
}

static recent_value *recent_of(json_sink *j, const xir_value *v) {
    uintptr_t bits = (uintptr_t)v >> 3;
    return &j->values[(bits ^ (bits >> 7)) % RECENT_VALUES];
}

static size_t on_begin_value(sink *s, const xir_value *v) {
    json_sink *j = self(s);
    const recent_value *r = recent_of(j, v);
    if (r->value == v && r->depth == depth_of(j)) {
        lead_in(j);
        char *p = room(j, r->size + 1);
        if (!p) return SINK_DONE;
        memcpy(p, j->out.data + r->start, r->size);
        p[r->size] = ',';
        j->out.size += r->size + 1;
        return SINK_DONE;
    }
    return j->out.size;
}

static void on_learn_value(sink *s, const xir_value *v, size_t begun) {
    json_sink *j = self(s);
    if (s->status) return;
    while (j->out.data[begun] == '\n' || j->out.data[begun] == ' ') begun++;   /* the new line of a list item */
    *recent_of(j, v) = (recent_value){ v, depth_of(j), begun, j->out.size - 1 - begun };
}

/* Text that stays in memory is estimated after some ops, and room for all of it is reserved, in huge pages and without
 * moving later. Otherwise half of the time of writing a large text is spent on fresh memory. */
static void foresee(json_sink *j) {
    enum { MEASURED = 256 };
    if (++j->pieces != MEASURED || j->listed <= 4 * (size_t)MEASURED) return;
    size_t an_op = j->out.size / MEASURED + 1;
    if (j->listed > (SIZE_MAX >> 8) / an_op) return;
    if (buffer_reserve(&j->out, an_op * j->listed / 16 * 17)) memory_advise_huge(j->out.data, j->out.room);
    else j->out.failed = false;   /* failing to reserve ahead is not an error */
}

/* Flushes all but the last byte, which may be a comma to be removed. */
static void on_piece(sink *s) {
    json_sink *j = self(s);
    if (!j->write) foresee(j);
    if (!j->write || j->out.size < PIECE || s->status) return;
    if (!j->write(j->user, j->out.data, j->out.size - 1)) {
        s->status = XIR_E_IO;
        return;
    }
    j->out.data[0] = j->out.data[j->out.size - 1];
    j->out.size = 1;
    memset((void *)j->values, 0, sizeof j->values);
}

static buffer *on_out(sink *s) { return &self(s)->out; }

static void on_bare(sink *s, int64_t v) {
    json_sink *j = self(s);
    char *p = room(j, NUMBER_ROOM);
    if (p) j->out.size += number_put_i64(p, v);
}

static const sink_ops json_ops = {
    .bake = json_bake, .key = on_key, .name = on_name, .null = on_null, .boolean = on_boolean, .integer = on_integer,
    .uinteger = on_uinteger, .real = on_real, .text = on_text, .bytes = on_bytes, .list = on_list, .map = on_map,
    .end = on_end, .form = on_form, .begin = on_begin, .learn = on_learn, .begin_value = on_begin_value,
    .learn_value = on_learn_value, .piece = on_piece, .out = on_out, .bare = on_bare, .after = 1,   /* a comma */
};

/* ---- the whole --------------------------------------------------------------------------------------------- */

void json_sink_init(json_sink *j, xir_context *ctx, int indent, xir_write_fn *write, void *user) {
    memset(j, 0, sizeof *j);
    j->sink.ops = &json_ops;
    j->ctx = ctx;
    j->indent = indent < 0 ? 0 : indent > 1000 ? 1000 : (uint32_t)indent;
    j->deepest = ctx->limits.max_depth < CODEC_DEEPEST ? ctx->limits.max_depth : CODEC_DEEPEST;
    j->write = write;
    j->user = user;
    buffer_init(&j->out, context_alloc(ctx));
    known_init(&j->known, context_alloc(ctx));
}

xir_status json_sink_end(json_sink *j) {
    if (j->out.failed && !j->sink.status) j->sink.status = XIR_E_MEMORY;
    if (j->sink.status) return j->sink.status;
    if (j->out.size) j->out.size--;
    if (j->write && j->out.size && !j->write(j->user, j->out.data, j->out.size)) j->sink.status = XIR_E_IO;
    return j->sink.status;
}

void json_sink_free(json_sink *j) {
    known_free(&j->known);
    buffer_free(&j->out);
}
