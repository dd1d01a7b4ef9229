/* See any_io.h. The sink keeps complete items on a stack; the end of a list or map pops its items. */
#include "codec/any_io.h"
#include "codec/read.h"

static any_sink *self(sink *s) { return (any_sink *)s; }

/* ---- building ---------------------------------------------------------------------------------------------- */

static void put_value(any_sink *a, xir_any value) {
    if (a->sink.status) return;
    if (a->size == a->room &&
        !mem_reserve(context_alloc(a->ctx), (void **)&a->stack, &a->room, a->size + 1, sizeof *a->stack)) {
        a->sink.status = XIR_E_MEMORY;
        return;
    }
    a->stack[a->size++] = (xir_entry){ a->key, value };
    a->key = (xir_str){ NULL, 0 };
}

static xir_str keep(any_sink *a, xir_str text) {
    xir_str kept = { NULL, 0 };
    if (!a->sink.status && !arena_text(a->to, text, &kept)) a->sink.status = XIR_E_MEMORY;
    return kept;
}

static void on_key(sink *s, const codec_key *key)    { self(s)->key = keep(self(s), key->name); }
static void on_name(sink *s, xir_str key)            { self(s)->key = keep(self(s), key); }
static void on_null(sink *s)                         { put_value(self(s), xir_any_null()); }
static void on_boolean(sink *s, bool v)              { put_value(self(s), xir_any_bool(v)); }
static void on_integer(sink *s, int64_t v)           { put_value(self(s), xir_any_int(v)); }
static void on_real(sink *s, double v)               { put_value(self(s), xir_any_real(v)); }
static void on_text(sink *s, xir_str v)              { put_value(self(s), xir_any_text(keep(self(s), v))); }

static void on_uinteger(sink *s, uint64_t v) {
    if (v <= INT64_MAX) on_integer(s, (int64_t)v);
    else put_value(self(s), (xir_any){ .kind = XIR_ANY_UINT, .as.uinteger = v });
}

static void on_bytes(sink *s, const void *data, uint64_t size) {
    (void)data;
    (void)size;
    if (!s->status) s->status = XIR_E_UNSUPPORTED;
}

static void start(any_sink *a, bool map) {
    if (a->sink.status) return;
    if (a->depth >= a->deepest) {
        a->sink.status = XIR_E_LIMIT;
        return;
    }
    a->open[a->depth].first = a->size;
    a->open[a->depth].map = map;
    a->open[a->depth++].key = a->key;
    a->key = (xir_str){ NULL, 0 };
}

static void on_list(sink *s, size_t n) {
    (void)n;
    start(self(s), false);
}

static void on_map(sink *s, const xir_class *cls, size_t n) {
    (void)cls;
    (void)n;
    start(self(s), true);
}

static bool before(xir_str a, xir_str b) {
    size_t n = a.size < b.size ? a.size : b.size;
    int order = n ? memcmp(a.data, b.data, n) : 0;
    return order ? order < 0 : a.size < b.size;
}

/* Keys arrive sorted, except those that only one format has. */
static void sort(xir_entry *entries, size_t n) {
    for (size_t i = 1; i < n; i++) {
        xir_entry entry = entries[i];
        size_t at = i;
        for (; at > 0 && before(entry.key, entries[at - 1].key); at--) entries[at] = entries[at - 1];
        entries[at] = entry;
    }
}

static void on_end(sink *s) {
    any_sink *a = self(s);
    if (s->status) return;
    a->depth--;
    xir_entry *items = a->stack + a->open[a->depth].first;
    size_t n = a->size - a->open[a->depth].first;
    xir_any value;
    if (a->open[a->depth].map) {
        sort(items, n);
        value = xir_any_map(n ? arena_copy(a->to, items, n * sizeof *items) : NULL, n);
        if (n && !value.as.map.entries) s->status = XIR_E_MEMORY;
    } else {
        xir_any *list = arena_take(a->to, n * sizeof *list);
        if (!list) s->status = XIR_E_MEMORY;
        for (size_t i = 0; list && i < n; i++) list[i] = items[i].value;
        value = xir_any_list(n ? list : NULL, n);
    }
    a->size = a->open[a->depth].first;
    a->key = a->open[a->depth].key;
    put_value(a, value);
}

static void on_form(sink *s, const xir_object *object) {
    buffer text;
    buffer_init(&text, context_alloc(self(s)->ctx));
    object->cls->more->form->print(object, &text);
    if (text.failed) s->status = XIR_E_MEMORY;
    else on_text(s, (xir_str){ text.data, text.size });
    buffer_free(&text);
}

static size_t on_begin(sink *s, const xir_object *object) {
    (void)s;
    (void)object;
    return 0;
}

static void on_learn(sink *s, const xir_object *object, size_t begun) {
    (void)s;
    (void)object;
    (void)begun;
}

static size_t on_begin_value(sink *s, const xir_value *value) {
    (void)s;
    (void)value;
    return 0;
}

static void on_learn_value(sink *s, const xir_value *value, size_t begun) {
    (void)s;
    (void)value;
    (void)begun;
}

static void on_piece(sink *s) { (void)s; }

static const sink_ops any_ops = {
    .key = on_key, .name = on_name, .null = on_null, .boolean = on_boolean, .integer = on_integer,
    .uinteger = on_uinteger,
    .real = on_real, .text = on_text, .bytes = on_bytes, .list = on_list, .map = on_map, .end = on_end, .form = on_form,
    .begin = on_begin, .learn = on_learn, .begin_value = on_begin_value, .learn_value = on_learn_value,
    .piece = on_piece,
};

void any_sink_init(any_sink *a, xir_context *ctx, arena *to) {
    memset(a, 0, sizeof *a);
    a->sink.ops = &any_ops;
    a->ctx = ctx;
    a->to = to;
    a->deepest = ctx->limits.max_depth < CODEC_DEEPEST ? ctx->limits.max_depth : CODEC_DEEPEST;
}

xir_status any_sink_end(any_sink *a, xir_any *out) {
    *out = xir_any_null();
    if (!a->sink.status && a->size) *out = a->stack[0].value;
    return a->sink.status;
}

void any_sink_free(any_sink *a) { mem_free(context_alloc(a->ctx), a->stack, a->room * sizeof *a->stack); }

/* ---- reading ----------------------------------------------------------------------------------------------- */

static const xir_any *here(const source *s) { return s->at; }
static any_level *level(const source *s) { return &((any_levels *)s->state)->of[s->depth - 1]; }

static shape on_shape(source *s) {
    switch (here(s)->kind) {
    case XIR_ANY_NULL:   return SHAPE_NULL;
    case XIR_ANY_BOOL:   return SHAPE_BOOL;
    case XIR_ANY_INT:
    case XIR_ANY_UINT:
    case XIR_ANY_REAL:   return SHAPE_NUMBER;
    case XIR_ANY_TEXT:   return SHAPE_TEXT;
    case XIR_ANY_LIST:   return SHAPE_LIST;
    case XIR_ANY_MAP:
    case XIR_ANY_PARAMS: return SHAPE_MAP;   /* as it would be written */
    }
    return SHAPE_NULL;
}

static bool from_null(source *s) {
    (void)s;
    return true;
}

static bool from_boolean(source *s, bool *out) {
    if (here(s)->kind != XIR_ANY_BOOL) return source_expected(s, shape_words(SHAPE_BOOL));
    *out = here(s)->as.boolean;
    return true;
}

static bool from_number(source *s, number *out) {
    switch (here(s)->kind) {
    case XIR_ANY_INT:
        *out = (number){ .kind = NUMBER_I64, .i64 = here(s)->as.integer };
        return true;
    case XIR_ANY_UINT:
        *out = (number){ .kind = here(s)->as.uinteger > INT64_MAX ? NUMBER_U64 : NUMBER_I64,
                         .u64 = here(s)->as.uinteger };
        return true;
    case XIR_ANY_REAL:
        *out = (number){ .kind = NUMBER_REAL, .real = here(s)->as.real };
        return true;
    default: return source_expected(s, shape_words(SHAPE_NUMBER));
    }
}

static bool from_integer(source *s, int64_t *out) {
    number n = { 0 };
    if (!from_number(s, &n)) return false;
    if (n.kind == NUMBER_U64) {
        return source_fail(s, s->at, XIR_E_BOUNDS, "%" PRIu64 " does not fit 64 bits with a sign", n.u64);
    }
    if (n.kind == NUMBER_REAL)
        return source_fail(s, s->at, XIR_E_TYPE, "expected an integer, found %g", n.real);
    *out = n.i64;
    return true;
}

static bool from_text(source *s, xir_str *out) {
    if (here(s)->kind != XIR_ANY_TEXT) return source_expected(s, shape_words(SHAPE_TEXT));
    *out = here(s)->as.text;
    return true;
}

static bool from_params(source *s, xir_value **out) {
    if (here(s)->kind != XIR_ANY_PARAMS) return false;
    *out = here(s)->as.params;
    return true;
}

static bool from_enter(source *s) {
    if (here(s)->kind != XIR_ANY_MAP && here(s)->kind != XIR_ANY_LIST) return source_expected(s, "a map or list");
    if (s->depth >= s->deepest)
        return source_fail(s, s->at, XIR_E_LIMIT, "values are nested deeper than %u", s->deepest);
    s->depth++;
    *level(s) = (any_level){ here(s), 0 };
    return true;
}

static int from_item(source *s, bool first) {
    (void)first;
    any_level *l = level(s);
    if (l->next == l->in->as.list.size) {
        s->depth--;
        return 0;
    }
    s->at = &l->in->as.list.items[l->next++];
    return 1;
}

static int from_key(source *s, bool first, xir_str *out) {
    (void)first;
    any_level *l = level(s);
    if (l->next == l->in->as.map.size) {
        s->depth--;
        return 0;
    }
    const xir_entry *entry = &l->in->as.map.entries[l->next++];
    *out = entry->key;
    s->at = &entry->value;
    return 1;
}

static bool from_key_is(source *s, bool first, const codec_key *key) {
    (void)first;
    any_level *l = level(s);
    if (l->next == l->in->as.map.size || !xir_str_equal(l->in->as.map.entries[l->next].key, key->name)) return false;
    s->at = &l->in->as.map.entries[l->next++].value;
    return true;
}

static bool from_member(const source *s, xir_str key, xir_str *out) {
    const xir_any *value = here(s)->kind == XIR_ANY_MAP ? xir_map_find(&here(s)->as.map, key) : NULL;
    if (!value || value->kind != XIR_ANY_TEXT) return false;
    *out = value->as.text;
    return true;
}

static bool from_repeats(source *s, const codec_memo *memo) {
    (void)s;
    (void)memo;
    return false;
}

static bool from_fingerprint(const source *s, codec_memo *out, uint64_t *hash) {
    (void)s;
    (void)out;
    (void)hash;
    return false;
}

static uint64_t from_offset(const source *s, const void *at) {
    (void)s;
    (void)at;
    return XIR_NO_BYTE;
}

const source_ops any_source = {
    .shape = on_shape, .null = from_null, .boolean = from_boolean, .integer = from_integer, .number = from_number,
    .text = from_text, .params = from_params, .enter = from_enter, .key = from_key, .item = from_item,
    .key_is = from_key_is, .member = from_member, .repeats = from_repeats, .fingerprint = from_fingerprint,
    .offset = from_offset,
};

void any_source_init(decoder *d, source *s, const xir_any *any, any_levels *levels) {
    decoder_source(d, s, &any_source, "", 0);   /* no bytes: everything */
    d->values_left = UINT64_MAX;                /* is in memory already */
    s->at = any;
    s->state = levels;
}
