/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Shapes with element types: "(1,3,224,224)f32". A dim of an operand may be unknown, "?", or have a name, "%batch". */
#include "pnnx/pnnx.h"

/* ---- reading --------------------------------------------------------------------------------------------------- */

/* Older files have the names on the left. */
static const struct { const char *old, *now; } renamed[] = {
    { "cp64", "c64" }, { "cp128", "c128" }, { "cp32", "c32" },
};

static void read_element(xir_str word, bool weight, pnnx_shape *out) {
    xir_str name = word;
    for (size_t i = 0; i < sizeof renamed / sizeof renamed[0]; i++) {
        if (xir_str_equal(word, xir_str_of(renamed[i].old))) name = xir_str_of(renamed[i].now);
    }
    for (uint32_t i = 0; i < element_codes_pnnx.n && !out->knows_element; i++) {
        if (!xir_str_equal(name, xir_str_of(element_codes_pnnx.rows[i].name))) continue;
        out->element = i;
        out->knows_element = true;
    }
    out->has_element = word.size;
    out->same &= word.size ? out->knows_element && name.data == word.data : weight;
}

static bool read_dim(pnnx_reader *r, xir_str text, bool weight, dialect_dim *out, bool *same) {
    *out = (dialect_dim){ .size = XIR_UNKNOWN_DIM };
    if (text.size == 1 && text.data[0] == '?') {
        return !weight || PNNX_FAIL(r, text.data, XIR_E_BOUNDS, "a dim of a weight is unknown: '?'");
    }
    if (text.size > 1 && text.data[0] == '%') {
        out->name = (xir_str){ text.data + 1, text.size - 1 };
        *same = false;
        return !weight || PNNX_FAIL(r, text.data, XIR_E_BOUNDS, "a dim of a weight is unknown: '%.*s'", CLIP(text));
    }
    int32_t size = 0;
    size_t n = pnnx_scalar_kind(text) == XIR_PNNX_INT ? pnnx_take_int(text, &size) : text.size + 1;
    if (!n)
        return PNNX_FAIL(r, text.data, XIR_E_BOUNDS, "the dim '%.*s' does not fit into 32 bits", CLIP(text));
    if (n != text.size)
        return PNNX_FAIL(r, text.data, XIR_E_SYNTAX, "expected a dim, found '%.*s'", CLIP(text));
    if (size < 0 && weight) return PNNX_FAIL(r, text.data, XIR_E_BOUNDS, "a dim of a weight is %d", (int)size);
    if (size < -1) return PNNX_FAIL(r, text.data, XIR_E_BOUNDS, "a dim is %d: expected ? or at least 0", (int)size);
    *same &= size == 0 ? n == 1 : size > 0 && text.data[0] != '0';
    if (size >= 0) *out = (dialect_dim){ .size = size, .has_size = true };
    return true;
}

bool pnnx_read_shape(pnnx_reader *r, xir_str text, bool weight, pnnx_shape *out) {
    const char *close = text.size ? memrchr(text.data, ')', text.size) : NULL;
    *out = (pnnx_shape){ .same = true };
    r->dims.size = 0;
    if (!close || text.data[0] != '(')
        return PNNX_FAIL(r, text.data, XIR_E_SYNTAX, "expected a shape, '(1,3,224,224)f32', found '%.*s'", CLIP(text));
    read_element((xir_str){ close + 1, (size_t)(text.data + text.size - close) - 1 }, weight, out);
    const xir_str list = { text.data + 1, (size_t)(close - text.data) - 1 };
    xir_str item;
    if (!list.size) {
        bool nothing = weight && out->knows_element && out->element == 0;   /* a weight without type, as it is saved */
        return nothing || PNNX_FAIL(r, text.data, XIR_E_SYNTAX, "the shape is empty: a scalar has the shape (1)");
    }
    for (pnnx_items walk = pnnx_items_of(list); pnnx_next_item(&walk, &item);) {
        dialect_dim *dim = dialect_add(&r->d, &r->dims, sizeof *dim);
        if (!dim || !read_dim(r, item, weight, dim, &out->same)) return false;
    }
    out->rank = r->dims.size;
    return true;
}

bool pnnx_is_shape(xir_str text, bool weight) {
    const char *close = text.size ? memrchr(text.data, ')', text.size) : NULL;
    xir_str item;
    if (!close || *text.data != '(') return false;
    const xir_str element = { close + 1, (size_t)(text.data + text.size - close) - 1 };
    if (close == text.data + 1) return weight && xir_str_equal(element, xir_str_of(element_codes_pnnx.rows[0].name));
    for (pnnx_items walk = pnnx_items_of((xir_str){ text.data + 1, (size_t)(close - text.data) - 1 });
         pnnx_next_item(&walk, &item);) {
        int32_t dim = 0;
        const bool open = !weight && xir_str_equal(item, XIR_STR("?"));
        const bool known = pnnx_scalar_kind(item) == XIR_PNNX_INT && pnnx_take_int(item, &dim) == item.size && dim >= 0;
        if (!open && !known) return false;
    }
    return true;
}

/* ---- operands -------------------------------------------------------------------------------------------------- */

static void put_dims(buffer *out, const dialect_dim *dims, size_t rank) {
    char digits[NUMBER_ROOM];
    for (size_t i = 0; i < rank; i++) {
        buffer_char(out, i ? ',' : '(');
        if (dims[i].has_size) buffer_put(out, digits, number_put_i64(digits, dims[i].size));
        else buffer_char(out, '?');
    }
    buffer_char(out, ')');
}

bool pnnx_shape_declared(pnnx_reader *r, const pnnx_shape *s, dialect_declared *out) {
    dialect *d = &r->d;
    *out = (dialect_declared){ NULL, NULL };
    if (s->knows_element && dialect_has_element(d, s->element)) {
        return dialect_declared_tensor(d, dialect_element(d, s->element), r->dims.data, s->rank, out);
    }
    buffer text;
    buffer_init(&text, d->alloc);
    put_dims(&text, r->dims.data, s->rank);
    buffer_str(&text, element_codes_pnnx.rows[s->element].name);
    bool ok = !text.failed ? dialect_tag_text(d, &out->tags, PNNX_TAG_TYPE, (xir_str){ text.data, text.size })
                           : trace_memory(&d->trace);
    buffer_free(&text);
    return ok;
}

/* ---- weights --------------------------------------------------------------------------------------------------- */

static bool weight_dims(pnnx_reader *r, size_t rank, int64_t **out) {
    const dialect_dim *dims = r->dims.data;
    *out = arena_take(&r->d.scratch, (rank ? rank : 1) * sizeof **out);
    for (size_t i = 0; *out && i < rank; i++) (*out)[i] = dims[i].size;
    return *out || trace_memory(&r->d.trace);
}

/* The name of the member of the archive: OP.KEY. Valid until the next one. */
static bool member_name(pnnx_reader *r, xir_str op, xir_str key, xir_str *out) {
    dialect_list *member = &r->member;
    const size_t size = op.size + 1 + key.size;
    if (!mem_reserve(r->d.alloc, &member->data, &member->room, size, 1)) return trace_memory(&r->d.trace);
    char *name = member->data;
    memcpy(name, op.data, op.size);
    name[op.size] = '.';
    if (key.size) memcpy(name + op.size + 1, key.data, key.size);
    *out = (xir_str){ name, size };
    return true;
}

/* A weight with a type that the file gives and XIR has; others are not remembered. */
static bool read_plain(pnnx_reader *r, xir_str name, const xir_type *type, xir_any *out) {
    xir_value *v = dialect_params(&r->d, name, type, NULL);
    return v && dialect_any_params(&r->d, v, out);
}

bool pnnx_read_weight(pnnx_reader *r, xir_str op, const pnnx_item *item, xir_any *out) {
    dialect *d = &r->d;
    const xir_str text = item->value;
    pnnx_weight_memo *memo = &r->weights[dialect_hash(d, text) % PNNX_WEIGHT_MEMOS];
    pnnx_shape s;
    int64_t *dims;
    uint64_t elements, bytes;
    xir_str name;
    if (!member_name(r, op, item->key, &name)) return false;
    if (memo->type && xir_str_equal(memo->text, text)) return read_plain(r, name, memo->type, out);
    if (!pnnx_read_shape(r, text, true, &s)) return false;
    r->differs |= !s.same;
    const bool assumed = !s.has_element;
    const uint32_t element = assumed ? 1 : s.element;
    const element_code *code = element_code_at(&element_codes_pnnx, element);
    if (!weight_dims(r, s.rank, &dims)) return false;
    if (dialect_size(dims, s.rank, code->bits ? code->bits : 8, &elements, &bytes))
        return PNNX_FAIL(r, text.data, XIR_E_LIMIT, "the shape '%.*s' has too many elements", CLIP(text));
    const xir_type *type = code->kind == ELEMENT_NONE ? NULL
                         : dialect_tensor(d, dialect_element(d, element), dims, s.rank);
    if (type && s.same && !assumed) {
        *memo = (pnnx_weight_memo){ text, type };
        return read_plain(r, name, type, out);
    }
    xir_value *v = dialect_params(d, name, type, NULL);
    const xir_map *tags = NULL;
    if (!v) return false;
    if (!type && !dialect_tag_text(d, &tags, PNNX_TAG_TYPE, text)) return false;
    if (assumed && !dialect_tag(d, &tags, PNNX_TAG_ASSUMED, xir_any_bool(true))) return false;
    if (!type && !s.rank) xir_params_set_allow_no_data(v, true);
    return dialect_value_tags(d, v, tags) && dialect_any_params(d, v, out);
}
