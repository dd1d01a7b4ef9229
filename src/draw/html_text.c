/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Attributes, tags and types as short texts for the page. A long one is cut: the page is for reading. */
#include <string.h>
#include "html_out.h"

enum { MOST = 1000 };      /* bytes of a text */

/* Makes room for one more row of the set that is made. NULL without memory. */
static uint32_t *new_row(html_sets *s) {
    uint32_t *rows = draw_room(s->sets.alloc, s->rows, HTML_ROW * (s->n + 1), sizeof *rows);
    if (!rows) {
        s->sets.failed = true;
        return NULL;
    }
    s->rows = rows;
    return rows + HTML_ROW * s->n++;
}

/* Adds a row to the set that is made: the text as JSON has it, a string without its quotes. NULL without memory. */
static const uint32_t *add_row(html_sets *s, xir_str key, xir_str text, bool usual) {
    char cut[MOST + 4];
    uint32_t *row = new_row(s);
    if (!row) return NULL;
    if (text.size > 1 && text.data[0] == '"' && !memchr(text.data, '\\', text.size))
        text = (xir_str){ text.data + 1, text.size - 2 };
    if (text.size > MOST) {
        memcpy(cut, text.data, MOST);
        memcpy(cut + MOST, "…", 3);
        text = (xir_str){ cut, MOST + 3 };
    }
    row[0] = html_number(s->strings, key, true);
    row[1] = html_number(s->strings, text, true);
    row[2] = usual;
    return row;
}

static uint32_t end_set(html_sets *s) {
    const xir_str rows = { (const char *)s->rows, HTML_ROW * s->n * sizeof *s->rows };
    const uint32_t number = html_number(&s->sets, rows, true);
    s->n = 0;
    return number;
}

static void check_memory(html_sets *s, xir_status status) {
    if (status == XIR_E_MEMORY) s->sets.failed = true;
}

/* Params as an attribute: their type alone, since their number and name would make equal sets different. */
static bool add_params(html_sets *s, const xir_op *op, xir_str key, const xir_any *extra) {
    const xir_value *params = extra && extra->kind == XIR_ANY_PARAMS ? extra->as.params : NULL;
    xir_attr attr;
    char type[256];
    if (!extra && !xir_op_get(op, key, &attr) && attr.kind == XIR_KIND_PARAMS && !attr.is_null)
        params = attr.as.params;
    if (!params) return false;
    add_row(s, key, (xir_str){ type, draw_type_text(xir_value_type(params), type, sizeof type) }, false);
    return true;
}

/* An object is the default if it is spelled so. */
static bool is_usual(const xir_op *op, const xir_field *field, const xir_text_buffer *text) {
    const xir_str spelled = field->default_text;
    if (field->kind != XIR_KIND_REF || !spelled.size) return draw_is_default(op, field);
    return text->size == spelled.size + 2 && memcmp(text->data + 1, spelled.data, spelled.size) == 0;
}

/* ---- attributes ------------------------------------------------------------------------------------------------- */

static struct html_kept *kept_of(html_sets *s, const xir_field *field) {
    return &s->kept[(uintptr_t)field / sizeof *field % HTML_ROWS_KEPT];
}

/* Equal bytes are equal values. Lists of equal values may have other addresses: they are printed again. */
static bool same_value(const xir_attr *a, const xir_attr *b) {
    return a->kind == b->kind && a->is_null == b->is_null && memcmp(&a->as, &b->as, sizeof a->as) == 0;
}

/* Adds the row that the attribute of an earlier op had. False: none is kept, or that op has another value. */
static bool add_kept(html_sets *s, const xir_field *field, const xir_attr *value) {
    const struct html_kept *k = kept_of(s, field);
    if (k->field != field || !same_value(&k->value, value)) return false;
    uint32_t *row = new_row(s);
    if (row) memcpy(row, k->row, sizeof k->row);
    return true;
}

static void keep(html_sets *s, const xir_field *field, const xir_attr *value, const uint32_t *row) {
    struct html_kept *k = kept_of(s, field);
    k->field = field;
    k->value = *value;
    memcpy(k->row, row, sizeof k->row);
}

static void add_attribute(html_sets *s, const xir_op *op, const xir_field *field) {
    xir_text_buffer text = { 0 };
    xir_attr value;
    const bool known = xir_op_get(op, field->name, &value) == XIR_OK;
    if (known && add_kept(s, field, &value)) return;
    const xir_status status = xir_op_attr_print(op, field->name, 0, &text);
    const xir_str printed = { text.data, text.size };
    check_memory(s, status);
    const uint32_t *row = status ? NULL : add_row(s, field->name, printed, is_usual(op, field, &text));
    if (row && known) keep(s, field, &value, row);
    xir_text_free(&text);
}

static struct html_extra *extra_of(html_sets *s, xir_str key) {
    const unsigned char first = key.size ? (unsigned char)key.data[0] : 0,
                        last = key.size ? (unsigned char)key.data[key.size - 1] : 0;
    return &s->extras[(key.size * 32 + first * 8u + last) % HTML_ROWS_KEPT];
}

static void add_extra(html_sets *s, const xir_op *op, xir_str key, const xir_any *value) {
    struct html_extra *e = extra_of(s, key);
    if (e->value && xir_str_equal(e->key, key) && xir_any_equal(e->value, value)) {
        uint32_t *row = new_row(s);
        if (row) memcpy(row, e->row, sizeof e->row);
        return;
    }
    xir_text_buffer text = { 0 };
    const xir_status status = xir_op_attr_print(op, key, 0, &text);
    check_memory(s, status);
    const uint32_t *row = status ? NULL : add_row(s, key, (xir_str){ text.data, text.size }, false);
    if (row) {
        *e = (struct html_extra){ .key = key, .value = value };
        memcpy(e->row, row, sizeof e->row);
    }
    xir_text_free(&text);
}

uint32_t html_attributes(html_sets *s, const xir_op *op) {
    const xir_class *cls = xir_op_class(op);
    const xir_map *extra = xir_op_extra(op);
    const size_t n = xir_class_field_count(cls), more = extra ? extra->size : 0;
    for (size_t i = 0; i < n + more; i++) {
        const xir_field *field = i < n ? xir_class_field_at(cls, i) : NULL;
        const xir_str key = field ? field->name : extra->entries[i - n].key;
        if ((!field || field->kind == XIR_KIND_PARAMS) &&
            add_params(s, op, key, field ? NULL : &extra->entries[i - n].value)) continue;
        if (field) add_attribute(s, op, field);
        else add_extra(s, op, key, &extra->entries[i - n].value);
    }
    return end_set(s);
}

uint32_t html_map(html_sets *s, xir_context *ctx, const xir_map *map) {
    xir_text_buffer text = { 0 };
    for (size_t i = 0; map && i < map->size; i++) {
        xir_status status = xir_any_print(ctx, &map->entries[i].value, 0, &text);
        check_memory(s, status);
        if (!status) add_row(s, map->entries[i].key, (xir_str){ text.data, text.size }, false);
        xir_text_free(&text);
    }
    return end_set(s);
}

void html_sets_free(html_sets *s) {
    draw_free(s->sets.alloc, s->rows);
    html_table_free(&s->sets);
}

uint32_t html_type(html_table *strings, const xir_type *type) {
    char text[640];
    if (!type) return html_number(strings, XIR_STR(""), false);
    return html_number(strings, (xir_str){ text, draw_type_text(type, text, sizeof text) }, true);
}
