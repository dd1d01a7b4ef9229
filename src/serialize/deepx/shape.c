/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A .shape: the type of a tensor whose elements are in another file. It is YAML with five keys, each once: "key:
 * value", and lists of integers as lines "- 3" or as "[3, 4]". Nothing else of YAML is read. The strides and the size
 * must be those that follow from the dims. */
#include "deepx/folder.h"

typedef struct shape_reader {
    deepx_place *w;
    const char  *p, *end;             /* what is left of the text                            */
    xir_str      line;                /* without its end, its comment and blanks at both ends */
    int64_t      dims[DEEPX_MOST_DIMS], strides[DEEPX_MOST_DIMS], dim, size;
    size_t       rank, n_strides, element;
    const char  *at[DEEPX_SHAPE_KEYS];   /* where the values are; NULL: not found yet        */
} shape_reader;

/* ---- lines ------------------------------------------------------------------------------------------------------ */

/* Without a comment, which begins with '#' at the start or after a blank. */
static xir_str without_comment(const char *p, const char *stop) {
    for (const char *c = p; c < stop; c++)
        if (*c == '#' && (c == p || deepx_is_blank(c[-1]))) return deepx_trim(p, c);
    return deepx_trim(p, stop);
}

/* The next line that is not blank; false at the end. */
static bool next_line(shape_reader *r) {
    while (r->p < r->end) {
        const char *feed = memchr(r->p, '\n', (size_t)(r->end - r->p)), *stop = feed ? feed : r->end;
        r->w->line = r->p;
        r->w->number++;
        r->p = feed ? feed + 1 : r->end;
        r->line = without_comment(r->w->line, stop > r->w->line && stop[-1] == '\r' ? stop - 1 : stop);
        if (r->line.size) return true;
    }
    return false;
}

/* Returns true if the next line that is not blank is an item "- 3", and if so, takes it. */
static bool next_item(shape_reader *r) {
    const shape_reader before = *r;
    const deepx_place place = *r->w;
    if (next_line(r) && *r->line.data == '-' && (r->line.size == 1 || deepx_is_blank(r->line.data[1]))) return true;
    r->p = before.p;
    *r->w = place;
    return false;
}

/* ---- values ----------------------------------------------------------------------------------------------------- */

static bool take_integer(shape_reader *r, xir_str text, int64_t *out) {
    *out = 0;
    for (size_t i = 0; i < text.size && is_digit(text.data[i]) && *out <= INT32_MAX; i++)
        *out = 10 * *out + (text.data[i] - '0');
    for (size_t i = 0; i < text.size; i++)
        if (!is_digit(text.data[i]))
            return deepx_error(r->w, text.data, XIR_E_SYNTAX, "expected digits, found '%.*s'", CLIP(text));
    if (!text.size) return deepx_error(r->w, text.data, XIR_E_SYNTAX, "expected digits, found the end of the value");
    return *out <= INT32_MAX ||
           deepx_error(r->w, text.data, XIR_E_BOUNDS, "expected at most %d, found %.*s", INT32_MAX, CLIP(text));
}

static bool take_item(shape_reader *r, xir_str text, int64_t *list, size_t *n) {
    if (*n == DEEPX_MOST_DIMS)
        return deepx_error(r->w, text.data, XIR_E_LIMIT, "more than %d dims", DEEPX_MOST_DIMS);
    return take_integer(r, text, &list[(*n)++]);
}

/* "[3, 4]", or what follows in lines of their own. */
static bool take_list(shape_reader *r, xir_str text, int64_t *list, size_t *n) {
    const char *end = text.data + text.size, *p = text.data + 1;
    if (!text.size) {
        while (next_item(r))
            if (!take_item(r, deepx_trim(r->line.data + 1, r->line.data + r->line.size), list, n)) return false;
        return *n > 0 || deepx_error(r->w, text.data, XIR_E_SYNTAX, "expected a list of integers, found nothing");
    }
    if (*text.data != '[' || end[-1] != ']' || text.size < 2)
        return deepx_error(r->w, text.data, XIR_E_SYNTAX, "expected a list of integers, found '%.*s'", CLIP(text));
    if (!deepx_trim(p, end - 1).size) return true;
    for (const char *comma; p; p = comma ? comma + 1 : NULL) {
        comma = memchr(p, ',', (size_t)(end - 1 - p));
        if (!take_item(r, deepx_trim(p, comma ? comma : end - 1), list, n)) return false;
    }
    return true;
}

static bool take_dtype(shape_reader *r, xir_str text) {
    const xir_str word = deepx_unquoted(text);
    for (r->element = 0; r->element < deepx_elements.n; r->element++) {
        const element_code *e = &deepx_elements.rows[r->element];
        if (!*e->name || !xir_str_equal(word, xir_str_of(e->name))) continue;
        if (e->kind != ELEMENT_NONE && e->bits >= 8) return true;
        return deepx_error(r->w, text.data, XIR_E_UNSUPPORTED, "tensors of %s are not read", e->name);
    }
    return deepx_error(r->w, text.data, XIR_E_UNKNOWN, "'%.*s' is not the precision of a tensor", CLIP(word));
}

static bool take_value(shape_reader *r, deepx_shape_key key, xir_str text) {
    switch (key) {
    case DEEPX_SHAPE_DTYPE:  return take_dtype(r, text);
    case DEEPX_SHAPE_DIM:    return take_integer(r, text, &r->dim);
    case DEEPX_SHAPE_SHAPE:  return take_list(r, text, r->dims, &r->rank);
    case DEEPX_SHAPE_STRIDE: return take_list(r, text, r->strides, &r->n_strides);
    default:                 return take_integer(r, text, &r->size);
    }
}

/* ---- keys ------------------------------------------------------------------------------------------------------- */

static bool take_key(shape_reader *r) {
    const char *start = r->line.data, *end = start + r->line.size, *colon = memchr(start, ':', r->line.size);
    if (start > r->w->line) return deepx_error(r->w, start, XIR_E_SYNTAX, "a key does not begin its line");
    if (!colon || (colon + 1 < end && !deepx_is_blank(colon[1])))
        return deepx_error(r->w, start, XIR_E_SYNTAX, "expected 'key: value', found '%.*s'", CLIP(r->line));
    const xir_str key = deepx_trim(start, colon);
    for (size_t i = 0; i < DEEPX_SHAPE_KEYS; i++) {
        if (!xir_str_equal(key, xir_str_of(deepx_shape_keys[i]))) continue;
        if (r->at[i]) return deepx_error(r->w, start, XIR_E_EXISTS, "the key '%s' appears twice", deepx_shape_keys[i]);
        const xir_str value = deepx_trim(colon + 1, end);
        r->at[i] = value.data;
        return take_value(r, (deepx_shape_key)i, value);
    }
    return deepx_error(r->w, start, XIR_E_UNKNOWN, "'%.*s' is not a key: expected dtype, dim, shape, stride or size",
                       CLIP(key));
}

/* ---- what must agree -------------------------------------------------------------------------------------------- */

/* Goes back to the line of a value, for a finding about it. */
static const char *value_at(shape_reader *r, deepx_shape_key key) {
    const char *at = r->at[key];
    r->w->line = r->w->text;
    r->w->number = 1;
    for (const char *p = r->w->text; p < at; p++) {
        if (*p != '\n') continue;
        r->w->line = p + 1;
        r->w->number++;
    }
    return at;
}

static bool disagrees(shape_reader *r, deepx_shape_key key, uint64_t expected, int64_t found) {
    return deepx_error(r->w, value_at(r, key), XIR_E_CORRUPT, "%s does not fit the shape: expected %" PRIu64
                       ", found %" PRId64, deepx_shape_keys[key], expected, found);
}

static bool check(shape_reader *r, deepx_shape *out) {
    uint64_t step = 1;
    for (size_t i = 0; i < DEEPX_SHAPE_KEYS; i++)
        if (!r->at[i])
            return deepx_error(r->w, r->w->line, XIR_E_MISSING, "the key '%s' is missing", deepx_shape_keys[i]);
    if ((uint64_t)r->dim != r->rank) return disagrees(r, DEEPX_SHAPE_DIM, r->rank, r->dim);
    if (dialect_size(r->dims, r->rank, deepx_elements.rows[r->element].bits, &out->elements, &out->bytes))
        return deepx_error(r->w, value_at(r, DEEPX_SHAPE_SHAPE), XIR_E_LIMIT, "the tensor would be too large");
    if (r->n_strides != r->rank)
        return deepx_error(r->w, value_at(r, DEEPX_SHAPE_STRIDE), XIR_E_CORRUPT, "expected %zu strides, found %zu",
                           r->rank, r->n_strides);
    for (size_t i = r->rank; i-- > 0; step *= (uint64_t)r->dims[i])   /* a stride is not larger than the product */
        if (out->elements && (uint64_t)r->strides[i] != step)
            return disagrees(r, DEEPX_SHAPE_STRIDE, step, r->strides[i]);
    if ((uint64_t)r->size != out->elements) return disagrees(r, DEEPX_SHAPE_SIZE, out->elements, r->size);
    out->element = r->element;
    out->rank = r->rank;
    memcpy(out->dims, r->dims, sizeof out->dims);
    return true;
}

bool deepx_shape_read(deepx_place *w, xir_str text, deepx_shape *out) {
    shape_reader r = { .w = w, .p = text.data, .end = text.data + text.size };
    w->text = w->line = text.data;
    w->number = 0;
    while (next_line(&r))
        if (!take_key(&r)) return false;
    if (!w->number) w->number = 1;
    return check(&r, out);
}
