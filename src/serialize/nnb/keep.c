/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* One tag has the properties of a file that a network cannot express: the buffers, and which of them each variable
 * has. If the file is not laid out as the exporter does it, the tag also has its bytes, without the data of
 * parameters. Each part is good only for an unchanged network: sums say for which. */
#include <stdlib.h>
#include "nnb/nnb.h"
#include "number.h"

const xir_any *nnb_kept(const xir_network *net, const char *key, xir_any_kind kind) {
    const xir_any *file = xir_map_find(net->tags, XIR_STR(NNB_TAG_FILE));
    const xir_any *found = file && file->kind == XIR_ANY_MAP ? xir_map_find(&file->as.map, xir_str_of(key)) : NULL;
    return found && found->kind == kind ? found : NULL;
}

/* A sum over the data of all parameters of an image. */
static int64_t sum_data(const nnb_image *image) {
    const nnb_hole *holes = image->holes.data;
    uint64_t sum = 0;
    for (size_t i = 0; i < image->holes.size; i++) {
        const blob *data = value_params(holes[i].params)->data;
        sum = data ? hash_bytes(sum, data->bytes, (size_t)data->size) : sum + 1;
    }
    return (int64_t)(sum >> 2);
}

/* ---- bytes as text --------------------------------------------------------------------------------------------- */

static int digit_of(char c) { return is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; }

static bool take_digits(nnb_model *m, xir_str text, buffer *out) {
    if (!buffer_reserve(out, text.size / 2)) return nnb_model_memory(m);
    for (size_t i = 0; i + 1 < text.size; i += 2) {
        const int high = digit_of(text.data[i]), low = digit_of(text.data[i + 1]);
        if (high < 0 || low < 0) return false;
        out->data[out->size++] = (char)(high << 4 | low);
    }
    return text.size % 2 == 0;
}

static void put_digits(buffer *out, const uint8_t *p, size_t n) {
    if (!buffer_reserve(out, 2 * n)) return;
    for (size_t i = 0; i < n; i++) {
        out->data[out->size++] = "0123456789abcdef"[p[i] >> 4];
        out->data[out->size++] = "0123456789abcdef"[p[i] & 15];
    }
}

/* ---- writing --------------------------------------------------------------------------------------------------- */

/* Pairs of an offset in the file and the number of a parameter, ascending and without overlaps. */
static bool take_holes(nnb_model *m, const xir_list *pairs, nnb_image *out) {
    const nnb_variable *v = m->variables.data;
    uint64_t held = 0, end = 0;
    for (size_t i = 0; i + 1 < pairs->size; i += 2) {
        const xir_any *at = &pairs->items[i], *ordinal = at + 1;
        if (at->kind != XIR_ANY_INT || ordinal->kind != XIR_ANY_INT || at->as.integer < 0 || ordinal->as.integer < 0 ||
            (uint64_t)ordinal->as.integer >= m->variables.size || !v[ordinal->as.integer].stored) return false;
        nnb_hole *hole = nnb_more(m, &out->holes, 1, sizeof *hole);
        if (!hole) return false;
        *hole = (nnb_hole){ (uint64_t)at->as.integer, v[ordinal->as.integer].bytes, 0, v[ordinal->as.integer].params };
        if (hole->at < end || hole->at - held > out->bytes.size) return false;
        held += hole->size;
        end = hole->at + hole->size;
    }
    out->size = out->bytes.size + held;
    return pairs->size % 2 == 0 && end <= out->size;
}

bool nnb_kept_image(nnb_model *m, nnb_image *usual) {
    const xir_any *text = nnb_kept(m->net, "bytes", XIR_ANY_TEXT), *holes = nnb_kept(m->net, "holes", XIR_ANY_LIST);
    const xir_any *sum = nnb_kept(m->net, "data", XIR_ANY_INT);
    nnb_image made = { .size = 0 };
    if (!text || !holes || !sum || sum->as.integer != sum_data(usual)) return false;
    buffer_init(&made.bytes, m->alloc);
    bool ok = take_digits(m, text->as.text, &made.bytes) && take_holes(m, &holes->as.list, &made);
    nnb_image swap = ok ? *usual : made;
    if (ok) *usual = made;
    nnb_image_free(m, &swap);
    return ok;
}

/* ---- reading --------------------------------------------------------------------------------------------------- */

/* A variable that nothing refers to. */
static bool put_idle(nnb_reader *r, uint32_t i, xir_any *out) {
    const nnb_read_variable *v = &r->v[i];
    xir_entry *entries = arena_take(&r->d.net->arena, 4 * sizeof *entries);
    xir_any *dims = arena_take(&r->d.net->arena, v->rank * sizeof *dims);
    if (!entries || !dims) return trace_memory(&r->d.trace);
    for (uint32_t k = 0; k < v->rank; k++)
        dims[k] = xir_any_int((int32_t)little_u32(r->data + v->shape + 4 * (size_t)k));
    entries[0] = (xir_entry){ XIR_STR("buffer"), xir_any_int(-1 - (int64_t)v->data_index) };
    entries[1] = (xir_entry){ XIR_STR("fp_pos"), xir_any_int(v->fp_pos) };
    entries[2] = (xir_entry){ XIR_STR("shape"), xir_any_list(dims, v->rank) };
    entries[3] = (xir_entry){ XIR_STR("type"), xir_any_int(v->type) };
    *out = xir_any_map(entries, 4);
    return true;
}

static bool list_variables(nnb_reader *r, xir_list *out) {
    xir_any *items = arena_take(&r->d.net->arena, r->variables.n * sizeof *items);
    if (!items) return trace_memory(&r->d.trace);
    *out = (xir_list){ items, r->variables.n };
    for (uint32_t i = 0; i < r->variables.n; i++) {
        if (r->v[i].data_index >= 0) items[i] = xir_any_null();
        else if (dialect_find(&r->d, dialect_number(i))) items[i] = xir_any_int(-1 - (int64_t)r->v[i].data_index);
        else if (!put_idle(r, i, &items[i])) return false;
    }
    return true;
}

static bool list_buffers(nnb_reader *r, xir_list *out) {
    xir_any *items = arena_take(&r->d.net->arena, r->buffers.n * sizeof *items);
    if (!items) return trace_memory(&r->d.trace);
    *out = (xir_list){ items, r->buffers.n };
    for (uint32_t i = 0; i < r->buffers.n; i++)
        items[i] = xir_any_int(little_u32(r->data + r->buffers.at + 4 * (size_t)i));
    return true;
}

/* Returns true if a piece is in the file. The data of a parameter is if it is that very part: its bytes are not
 * touched. */
static bool same_piece(void *user, uint64_t at, const void *data, size_t size, const nnb_hole *hole) {
    const nnb_reader *r = user;
    if (at > r->d.whole->size || size > r->d.whole->size - at) return false;
    if (hole) return !data || data == r->d.base + at;
    return memcmp(r->d.base + at, data, size) == 0;
}

static int hole_order(const void *a, const void *b) {
    const nnb_hole *x = a, *y = b;
    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    return (x->size < y->size) - (x->size > y->size);
}

/* The file without the data of its parameters; of data that overlaps, the first counts. */
static bool keep_bytes(nnb_reader *r, const nnb_model *m, buffer *text, xir_list *out) {
    nnb_hole *holes = r->holes.data;
    const size_t n = r->holes.size;
    const nnb_variable *v = m->variables.data;
    pointer_table numbers;
    uint64_t at = 0;
    size_t size = 0;
    xir_any *pairs = arena_take(&r->d.net->arena, 2 * n * sizeof *pairs);
    pointer_table_init(&numbers, r->d.alloc);
    bool ok = pairs;
    for (size_t i = 0; ok && i < m->variables.size; i++)
        ok = !v[i].stored || pointer_table_add(&numbers, v[i].params, (uint32_t)i);
    if (ok && n) qsort(holes, n, sizeof *holes, hole_order);
    for (size_t i = 0; ok && i < n; i++) {
        const uint32_t *ordinal = pointer_table_find(&numbers, holes[i].params);
        if (holes[i].at < at || !holes[i].size || !ordinal) continue;
        put_digits(text, r->d.base + at, (size_t)(holes[i].at - at));
        at = holes[i].at + holes[i].size;
        pairs[size++] = xir_any_int((int64_t)holes[i].at);
        pairs[size++] = xir_any_int(*ordinal);
    }
    pointer_table_free(&numbers);
    put_digits(text, r->d.base + at, (size_t)(r->d.whole->size - at));
    *out = (xir_list){ pairs, size };
    return (ok && !text->failed) || trace_memory(&r->d.trace);
}

/* The tag. Its items are in the order of their names. */
typedef struct file_tag {
    xir_entry entries[6];
    size_t    n;
} file_tag;

static void add(file_tag *tag, const char *key, xir_any v) {
    tag->entries[tag->n++] = (xir_entry){ xir_str_of(key), v };
}

/* The bytes, if the image does not have them. */
static bool tag_bytes(nnb_reader *r, const nnb_model *m, const nnb_image *image, file_tag *tag, xir_list *holes) {
    if (r->d.how->no_params || (image->size == r->d.whole->size && nnb_image_each(image, same_piece, r))) return true;
    xir_str kept = { NULL, 0 };
    buffer text;
    buffer_init(&text, r->d.alloc);
    bool ok = keep_bytes(r, m, &text, holes) &&
              (arena_text(&r->d.net->arena, (xir_str){ text.data, text.size }, &kept) || trace_memory(&r->d.trace));
    buffer_free(&text);
    add(tag, "bytes", xir_any_text(kept));
    add(tag, "data", xir_any_int(sum_data(image)));
    return ok;
}

static bool tag_file(nnb_reader *r, file_tag *tag, int64_t sum, const xir_list *holes, const xir_list *variables) {
    add(tag, "for", xir_any_int(sum));
    if (holes->items) add(tag, "holes", xir_any_list(holes->items, holes->size));
    add(tag, "variables", xir_any_list(variables->items, variables->size));
    xir_entry *entries = arena_copy(&r->d.net->arena, tag->entries, tag->n * sizeof *entries);
    if (!entries) return trace_memory(&r->d.trace);
    return dialect_tag_kept(&r->d, &r->d.net->tags, NNB_TAG_FILE, xir_any_map(entries, tag->n));
}

/* Makes the file again, to see what it has that this does not give. */
static bool keep_unusual(nnb_reader *r, file_tag *tag, const xir_list *variables, const xir_list *buffers) {
    nnb_image image = { .size = 0 };
    xir_list holes = { NULL, 0 };
    nnb_model *m = nnb_model_new(r->d.net);
    if (!m) return trace_memory(&r->d.trace);
    bool ok = nnb_model_as_read(m, variables, buffers) && nnb_image_make(m, &image);
    bool memory = m->status == XIR_E_MEMORY;
    if (ok) ok = tag_bytes(r, m, &image, tag, &holes) &&
                 tag_file(r, tag, nnb_sum(image.bytes.data, image.bytes.size), &holes, variables);
    else ok = !memory || trace_memory(&r->d.trace);   /* its blocks are shared too often to be written one by one */
    nnb_image_free(m, &image);
    nnb_model_free(m);
    return ok;
}

bool nnb_keep(nnb_reader *r) {
    xir_list variables, buffers;
    file_tag tag = { .n = 0 };
    int64_t sum;
    bool memory = false;
    if (!list_variables(r, &variables) || !list_buffers(r, &buffers)) return false;
    add(&tag, "buffers", xir_any_list(buffers.items, buffers.size));
    if (nnb_is_usual(r, &sum, &memory)) return tag_file(r, &tag, sum, &(xir_list){ NULL, 0 }, &variables);
    return memory ? trace_memory(&r->d.trace) : keep_unusual(r, &tag, &variables, &buffers);
}
