/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Objects and classless values. Types are written as people write them, "fp32 NHWC [1,8,8,3]", objects with a
 * one-string form in that form, others as the name of their class and the members that differ from their defaults. */
#include <math.h>
#include "json/json.h"
#include "number.h"
#include "symbol.h"
#include "text/writer.h"

static text_writer *self(sink *s) { return (text_writer *)s; }

xir_status text_fail(text_writer *w, xir_status code) {
    if (!w->sink.status) w->sink.status = code;
    return w->sink.status;
}

/* ---- words ----------------------------------------------------------------------------------------------------- */

void text_put_str(text_writer *w, xir_str s) { buffer_put(&w->out, s.data, s.size); }
void text_put(text_writer *w, const char *words) { buffer_str(&w->out, words); }

/* The bytes of the character at `p` if it steers a terminal or the direction of text, and its number; otherwise 0. */
static size_t is_hidden(const uint8_t *p, size_t n, uint32_t *code) {
    if (n && p[0] == 0x7F) return *code = 0x7F, 1;
    if (n > 1 && (p[0] == 0xC2 || p[0] == 0xD8)) {
        *code = (p[0] & 0x1Fu) << 6 | (p[1] & 0x3Fu);
        return *code < 0xA0 || *code == 0x61C ? 2 : 0;
    }
    if (n < 3 || (p[0] != 0xE2 && p[0] != 0xEF)) return 0;
    *code = (p[0] & 0xFu) << 12 | (p[1] & 0x3Fu) << 6 | (p[2] & 0x3Fu);
    const bool steers = *code == 0x200E || *code == 0x200F || (*code >= 0x2028 && *code <= 0x202E) ||
                        (*code >= 0x2066 && *code <= 0x2069) || *code == 0xFEFF;
    return steers ? 3 : 0;
}

/* A text in quotes; a further piece of one has none at its beginning. */
static void put_piece(text_writer *w, xir_str s, bool further) {
    const size_t at = w->out.size;
    json_quote(&w->out, s);
    if (!further || w->out.failed) return;
    w->out.size--;
    memmove(w->out.data + at, w->out.data + at + 1, w->out.size - at);
}

/* A person who reads a text sees what it says: hidden characters are written as \uXXXX. */
void text_put_quoted(text_writer *w, xir_str s) {
    const uint8_t *p = (const uint8_t *)s.data;
    size_t from = 0, size;
    uint32_t code;
    if (!sink_takes(&w->sink, s)) return;
    for (size_t i = 0; i < s.size; i++) {
        if (p[i] < 0x7F || !(size = is_hidden(p + i, s.size - i, &code))) continue;
        char escape[8];
        snprintf(escape, sizeof escape, "\\u%04x", code);
        put_piece(w, (xir_str){ s.data + from, i - from }, from > 0);
        if (w->out.failed) return;
        w->out.size--;      /* the quote at the end of the piece */
        buffer_str(&w->out, escape);
        i += size - 1;
        from = i + 1;
    }
    put_piece(w, (xir_str){ s.data + from, s.size - from }, from > 0);
}

void text_put_word(text_writer *w, xir_str s) {
    if (text_is_name(s)) text_put_str(w, s);
    else text_put_quoted(w, s);
}

void text_put_int(text_writer *w, int64_t v) {
    if (buffer_reserve(&w->out, NUMBER_ROOM)) w->out.size += number_put_i64(w->out.data + w->out.size, v);
}

/* An unknown class of XIR's is quoted: without quotes it is a misspelled one. */
void text_put_class(text_writer *w, const xir_class *cls) {
    const xir_str word = w->last_class == cls ? w->last_word : text_class_word(cls->key);
    w->last_class = cls;
    w->last_word = word;
    if (word.size && (!cls->opaque || word.size == cls->key.size)) text_put_str(w, word);
    else text_put_quoted(w, cls->key);
}

void text_may_break(text_writer *w, text_group group) {
    if (!mem_reserve(context_alloc(w->ctx), (void **)&w->breaks, &w->break_room, w->n_breaks + 1, sizeof *w->breaks)) {
        text_fail(w, XIR_E_MEMORY);
        return;
    }
    w->breaks[w->n_breaks++] = (text_break){ w->out.size, group };
}

/* ---- the sink -------------------------------------------------------------------------------------------------- */

static char last_of(const text_writer *w) { return w->out.size ? w->out.data[w->out.size - 1] : '\0'; }

/* Precedes an item: in a list, a comma after the one before. */
static void lead_in(text_writer *w) {
    if (w->lists[w->depth / 64] >> (w->depth % 64) & 1 && last_of(w) != '[') buffer_char(&w->out, ',');
}

static void on_name(sink *s, xir_str key) {
    text_writer *w = self(s);
    if (last_of(w) != '{') text_put(w, ", ");
    text_put_word(w, key);
    buffer_char(&w->out, '=');
}

static void on_key(sink *s, const codec_key *key) { on_name(s, key->name); }

static void on_null(sink *s) {
    lead_in(self(s));
    text_put(self(s), "null");
}

static void on_boolean(sink *s, bool v) {
    lead_in(self(s));
    text_put(self(s), v ? "true" : "false");
}

static void on_integer(sink *s, int64_t v) {
    lead_in(self(s));
    text_put_int(self(s), v);
}

static void on_uinteger(sink *s, uint64_t v) {
    text_writer *w = self(s);
    lead_in(w);
    if (buffer_reserve(&w->out, NUMBER_ROOM)) w->out.size += number_put_u64(w->out.data + w->out.size, v);
}

/* A real that is not finite: by its bits, if it is not the usual NaN. */
static void put_odd_real(text_writer *w, double v) {
    uint64_t bits;
    char text[32];
    memcpy(&bits, &v, sizeof bits);
    if (!isnan(v)) text_put(w, v < 0 ? "-inf" : "inf");
    else if (bits == UINT64_C(0x7ff8000000000000)) text_put(w, "nan");
    else text_put_str(w, (xir_str){ text, (size_t)snprintf(text, sizeof text, "nan(0x%016llx)",
                                                          (unsigned long long)bits) });
}

static void on_real(sink *s, double v) {
    text_writer *w = self(s);
    lead_in(w);
    if (!isfinite(v)) {
        put_odd_real(w, v);
    } else if (buffer_reserve(&w->out, NUMBER_ROOM)) {
        char *at = w->out.data + w->out.size;
        const bool few = w->short_reals && number_to_f32(v) == v && (v != 0 || !signbit(v));   /* -0 is an integer */
        w->out.size += few ? number_put_f32(at, (float)v) : number_put_real(at, v);
    }
}

static void on_text(sink *s, xir_str v) {
    lead_in(self(s));
    text_put_quoted(self(s), v);
}

static void on_bytes(sink *s, const void *data, uint64_t size) {
    (void)data;
    (void)size;
    text_fail(self(s), XIR_E_UNSUPPORTED);   /* no caller writes any */
}

static void open_bracket(text_writer *w, char c, bool list) {
    buffer_char(&w->out, c);
    if (w->depth >= w->deepest) {
        text_fail(w, XIR_E_LIMIT);
        return;
    }
    w->depth++;
    uint64_t bit = (uint64_t)1 << (w->depth % 64), *word = &w->lists[w->depth / 64];
    *word = list ? *word | bit : *word & ~bit;
}

static void on_list(sink *s, size_t n) {
    (void)n;
    lead_in(self(s));
    open_bracket(self(s), '[', true);
}

static void on_map(sink *s, const xir_class *cls, size_t n) {
    (void)cls;
    (void)n;
    lead_in(self(s));
    open_bracket(self(s), '{', false);
}

static void on_end(sink *s) {
    text_writer *w = self(s);
    if (s->status) return;
    bool list = w->lists[w->depth / 64] >> (w->depth % 64) & 1;
    w->depth--;
    buffer_char(&w->out, list ? ']' : '}');
}

/* Objects come by the rows of their owner, which say what is expected; this one does not know. */
static size_t on_begin(sink *s, const xir_object *object) {
    lead_in(self(s));
    text_put_object(self(s), object, NULL);
    return SINK_DONE;
}

static void on_learn(sink *s, const xir_object *object, size_t begun) {
    (void)s;
    (void)object;
    (void)begun;
}

static size_t on_begin_value(sink *s, const xir_value *v) {
    lead_in(self(s));
    text_put_params(self(s), v);
    return SINK_DONE;
}

static void on_learn_value(sink *s, const xir_value *v, size_t begun) {
    (void)s;
    (void)v;
    (void)begun;
}

static void on_piece(sink *s) { (void)s; }

const sink_ops text_sink = {
    .key = on_key, .name = on_name, .null = on_null, .boolean = on_boolean, .integer = on_integer,
    .uinteger = on_uinteger, .real = on_real, .text = on_text, .bytes = on_bytes, .list = on_list, .map = on_map,
    .end = on_end, .begin = on_begin, .learn = on_learn, .begin_value = on_begin_value, .learn_value = on_learn_value,
    .piece = on_piece,
};

/* A map of classless values: tags, undeclared keys. Its reals are doubles. */
void text_put_map(text_writer *w, const xir_map *map) {
    const bool were_short = w->short_reals;
    const xir_any any = { .kind = XIR_ANY_MAP, .as.map = *map };
    uint64_t *word = &w->lists[w->depth / 64], had = *word;
    *word &= ~((uint64_t)1 << (w->depth % 64));   /* it is not an item, even if a list is open */
    w->short_reals = false;
    encode_any(&w->e, &any);
    w->short_reals = were_short;
    w->lists[w->depth / 64] = had;
}

/* ---- members --------------------------------------------------------------------------------------------------- */

static void put_enum(text_writer *w, const xir_field *f, int member) {
    const bool known = member >= 0 && (size_t)member < f->members->size;
    const xir_str word = xir_str_of(known ? f->members->names[member] : "");
    if (!known) text_put_int(w, member);
    else if (text_is_name(word) && text_is(*word.data, TEXT_LAYOUT) && !text_is(*word.data, TEXT_DIGIT)) text_put_str(w,
        word);
    else text_put_quoted(w, word);
}

static void put_refs(text_writer *w, const xir_refs *list, const xir_class *of) {
    open_bracket(w, '[', true);
    for (size_t i = 0; i < list->size; i++) {
        lead_in(w);
        text_put_object(w, list->data[i], of);
    }
    on_end(&w->sink);
}

static void put_field(text_writer *w, const xir_field *f, const void *body) {
    const void *at = body_at(body, f);
    const bool were_short = w->short_reals;
    switch (f->kind) {
    case XIR_KIND_ENUM: put_enum(w, f, *(const int *)at); break;
    case XIR_KIND_REF:  text_put_object(w, *(const xir_object *const *)at, f->of); break;
    case XIR_KIND_REFS: put_refs(w, at, f->of); break;
    case XIR_KIND_MAP:
        w->short_reals = false;
        encode_field(&w->e, f, at);
        w->short_reals = were_short;
        break;
    default: encode_field(&w->e, f, at); break;
    }
}

/* The word of a member, and "="; a line break replaces the blank before it. */
static void put_member(text_writer *w, bool *first, xir_str key, bool quoted) {
    if (!*first) buffer_char(&w->out, ',');
    if (w->depth == 0) text_may_break(w, GROUP_ATTRS);
    if (!*first) buffer_char(&w->out, ' ');
    *first = false;
    if (quoted) text_put_quoted(w, key);
    else text_put_word(w, key);
    buffer_char(&w->out, '=');
}

void text_put_members(text_writer *w, const xir_class *cls, const void *body, const xir_map *extra, uint64_t skip) {
    const uint64_t required = text_required(cls);
    bool first = true;
    for (uint32_t i = 0; i < cls->n_fields && (required || body != cls->defaults); i++) {
        const xir_field *f = &cls->fields[i];
        if (f->kind == XIR_KIND_OPS || (i < 64 && skip >> i & 1)) continue;
        if (!(i < 64 && required >> i & 1) && field_equal(f, body, cls->defaults)) continue;
        put_member(w, &first, f->name, false);
        put_field(w, f, body);
    }
    const bool were_short = w->short_reals;
    w->short_reals = false;
    for (size_t i = 0; extra && i < extra->size; i++) {
        put_member(w, &first, extra->entries[i].key, true);
        encode_any(&w->e, &extra->entries[i].value);
    }
    w->short_reals = were_short;
}

/* ---- objects --------------------------------------------------------------------------------------------------- */

static void put_form(text_writer *w, const xir_object *object) {
    buffer text;
    buffer_init(&text, context_alloc(w->ctx));
    object->cls->more->form->print(object, &text);
    const xir_str all = { text.data, text.size };
    if (text.failed) {
        text_fail(w, XIR_E_MEMORY);
    } else if (sink_takes(&w->sink, all)) {
        if (text_form_length(all.data, all.data + all.size) == all.size) {
            text_put_str(w, all);
        } else {
            buffer_char(&w->out, '@');
            text_put_quoted(w, (xir_str){ all.data + 1, all.size - 1 });
        }
    }
    buffer_free(&text);
}

/* A scalar is the bare number, and a real has a dot or an exponent. One with more keys, or without its number, is
 * written as other objects. */
static bool put_scalar(text_writer *w, const xir_object *object) {
    const xir_class *const *types = (const xir_class *const *)w->ctx->types;
    const xir_class *cls = object->cls;
    if (!codec_is_bare(object)) return false;
    if (cls == types[CLASS_bool_imm]) {
        text_put(w, ((const xir_bool_imm *)object)->value ? "true" : "false");
    } else if (cls == types[CLASS_int_imm]) {
        text_put_int(w, ((const xir_int_imm *)object)->value);
    } else if (cls == types[CLASS_float_imm]) {
        const double v = ((const xir_float_imm *)object)->value;
        if (!isfinite(v)) put_odd_real(w, v);
        else if (buffer_reserve(&w->out, NUMBER_ROOM)) w->out.size += number_put_real(w->out.data + w->out.size, v);
    } else {
        return false;
    }
    return true;
}

static void put_absent(text_writer *w, const xir_class *cls, uint64_t absent) {
    const char *between = "absent(";
    for (; absent; absent &= absent - 1) {
        text_put(w, between);
        text_put_word(w, cls->fields[__builtin_ctzll(absent)].name);
        between = ",";
    }
    buffer_char(&w->out, ')');
}

/* "{a=1, absent(b)}", without the rows of the bits in `skip`. */
static void put_braces(text_writer *w, const xir_object *object, uint64_t skip, bool even_empty) {
    const xir_class *cls = object->cls;
    const uint64_t absent = codec_left_out(cls, object, object->absent);
    const size_t before = w->out.size;
    open_bracket(w, '{', false);
    const size_t begun = w->out.size;
    text_put_members(w, cls, object, object->extra, skip | absent);
    if (absent) {
        if (w->out.size > begun) text_put(w, ", ");
        put_absent(w, cls, absent);
    }
    const bool empty = w->out.size == begun;
    on_end(&w->sink);
    if (empty && !even_empty && !w->sink.status) w->out.size = before;
}

static void put_dim(text_writer *w, int64_t dim) {
    if (dim >= 0) text_put_int(w, dim);
    else if (w->net && dim_is_symbolic(dim)) expr_print(&w->net->pool, dim, &w->out);
    else buffer_char(&w->out, '?');
}

static bool is_layout_word(xir_str axes) {
    bool so = true;
    for (size_t i = 0; i < axes.size; i++) so &= text_is(axes.data[i], TEXT_LAYOUT) != 0;
    return so;
}

static bool fits_words(const xir_tensor_type *t) {
    return t->element_dtype && !xir_type_as_tensor(t->element_dtype) && t->layout && is_layout_word(t->layout->axes) &&
           !(codec_left_out(t->head.cls, t, t->head.absent) & 7);
}

static void put_tensor(text_writer *w, const xir_tensor_type *t) {
    text_put_object(w, (const xir_object *)t->element_dtype, w->ctx->types[CLASS_type]);
    buffer_char(&w->out, ' ');
    if (t->layout->axes.size) {
        text_put_str(w, t->layout->axes);
        buffer_char(&w->out, ' ');
    } else if (t->shape.size) {
        text_put(w, "\"\" ");
    }
    buffer_char(&w->out, '[');
    for (size_t i = 0; i < t->shape.size; i++) {
        if (i) buffer_char(&w->out, ',');
        put_dim(w, t->shape.data[i]);
    }
    buffer_char(&w->out, ']');
    const size_t before = w->out.size;
    buffer_char(&w->out, ' ');
    put_braces(w, &t->head, 7, false);
    if (w->out.size == before + 1) w->out.size = before;
}

/* The words of types are for places where a type is expected, and those of layouts where a layout is. */
static void put_plainly(text_writer *w, const xir_object *object, const xir_class *of) {
    char word[TEXT_ELEMENT];
    const xir_class *cls = object->cls;
    const bool as_type = of && xir_class_is_a(of, w->ctx->types[CLASS_type]);
    const size_t n = as_type ? text_element_word(object, word) : 0;
    if (n) text_put_str(w, (xir_str){ word, n });
    else if (as_type && cls == w->ctx->tensor_class && fits_words((const xir_tensor_type *)object))
        put_tensor(w, (const xir_tensor_type *)object);
    else if (of == w->ctx->types[CLASS_layout] && cls == of && ((const xir_layout *)object)->axes.size &&
             is_layout_word(((const xir_layout *)object)->axes)) text_put_str(w, ((const xir_layout *)object)->axes);
    else if (cls->more->form) put_form(w, object);
    else if (!put_scalar(w, object)) {
        text_put_class(w, cls);
        put_braces(w, object, 0, true);
    }
}

void text_put_object(text_writer *w, const xir_object *object, const xir_class *of) {
    if (w->sink.status) return;
    if (!object) {
        text_put(w, "null");
        return;
    }
    const known_item *known = w->last_object == object ? NULL : known_find(&w->known, object, 0);
    if (known) {
        w->last_object = object;
        w->last_text = (xir_str){ known->bytes, known->size };
    }
    if (w->last_object == object) {
        text_put_str(w, w->last_text);
        return;
    }
    const size_t begun = w->out.size;
    const bool were_short = w->short_reals;
    w->short_reals = w->rounds;
    put_plainly(w, object, of);
    w->short_reals = were_short;
    const bool of_type = of && xir_class_is_a(of, w->ctx->types[CLASS_type]);
    if (of_type && !w->sink.status && !w->out.failed)   /* the same object has another text elsewhere */
        known_learn(&w->known, object, 0, w->out.data + begun, w->out.size - begun);
}

void text_put_type(text_writer *w, const xir_type *type) {
    if (!type) text_put(w, "none");
    else text_put_object(w, (const xir_object *)type, w->ctx->types[CLASS_type]);
}
