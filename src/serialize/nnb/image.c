/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The layout of a file, as today's exporter of NNabla writes it: inputs, outputs, buffers; of each variable its shape,
 * its data, its record; the list of variables; of each function its inputs, outputs, lists and record; the list of
 * functions. Each block has an entry of the index, and begins at a multiple of 4 bytes. */
#include "nnb/nnb.h"

typedef struct laying {
    nnb_model *m;
    nnb_image *out;
    uint32_t   n_index, next;    /* entries: all, and written so far        */
    uint64_t   held;             /* bytes of holes so far, with padding     */
    uint64_t   base;             /* where the data begins                   */
} laying;

static uint64_t count_blocks(const nnb_model *m) {
    const nnb_variable *v = m->variables.data;
    const nnb_record *f = m->records.data;
    uint64_t n = 3 + 2 + 2 * (uint64_t)m->variables.size + 3 * (uint64_t)m->records.size;
    for (size_t i = 0; i < m->variables.size; i++) n += v[i].stored;
    for (size_t i = 0; i < m->records.size; i++) n += f[i].n_lists;
    return n;
}

/* The bytes of all blocks but data. */
static uint64_t count_bytes(const nnb_model *m) {
    const nnb_variable *v = m->variables.data;
    const nnb_record *f = m->records.data;
    const nnb_args_list *lists = m->lists.data;
    uint64_t n = m->buffers.size + m->inputs.n + m->outputs.n + m->variables.size + m->records.size;
    for (size_t i = 0; i < m->variables.size; i++) n += v[i].rank + NNB_VARIABLE / 4;
    for (size_t i = 0; i < m->records.size; i++) {
        n += (uint64_t)f[i].in.n + f[i].out.n + (NNB_RECORD + (uint64_t)f[i].args_size + 3) / 4;
        for (uint32_t k = 0; k < f[i].n_lists; k++) n += lists[f[i].lists + k].items.n;
    }
    return 4 * n;
}

/* Begins a block. Returns its entry. */
static uint32_t begin(laying *l) {
    const uint64_t at = l->out->bytes.size + l->held - l->base;
    if (at > INT32_MAX) nnb_refuse(l->m, XIR_E_LIMIT, "the data of the file would have 2^31 bytes or more");
    if (!l->out->bytes.failed && l->next < l->n_index)
        little_put32((uint8_t *)l->out->bytes.data + NNB_HEADER + 4 * (size_t)l->next, (uint32_t)at);
    return l->next++;
}

static uint8_t *take(laying *l, size_t size) {
    const size_t whole = (size + 3) & ~(size_t)3;
    buffer *b = &l->out->bytes;
    if (!buffer_reserve(b, whole)) return NULL;
    uint8_t *p = (uint8_t *)b->data + b->size;
    if (whole > size) memset(p + size, 0, whole - size);
    b->size += whole;
    return p;
}

static uint32_t put_words(laying *l, const void *words, size_t n) {
    const uint32_t k = begin(l);
    const uint32_t *from = words;
    uint8_t *p = take(l, 4 * n);
    for (size_t i = 0; p && i < n; i++) little_put32(p + 4 * i, from[i]);
    return k;
}

static uint32_t put_list(laying *l, nnb_list list) {
    const int32_t *ints = l->m->ints.data;
    return put_words(l, ints ? ints + list.first : NULL, list.n);
}

static uint32_t put_data(laying *l, const nnb_variable *v) {
    const uint32_t k = begin(l);
    if (v->bytes > INT32_MAX) nnb_refuse(l->m, XIR_E_LIMIT, "the data of the file would have 2^31 bytes or more");
    nnb_hole *hole = l->m->status ? NULL : nnb_more(l->m, &l->out->holes, 1, sizeof *hole);
    if (!hole) return k;
    *hole = (nnb_hole){ l->out->bytes.size + l->held, v->bytes, (4 - v->bytes % 4) % 4, v->params };
    l->held += v->bytes + hole->pad;
    return k;
}

/* Each puts the blocks of item i. Returns the entry of its record, which comes last. */
typedef uint32_t put_fn(laying *l, size_t i);

/* All items, then the list of their records. */
static void put_all(laying *l, size_t n, put_fn *put) {
    nnb_model *m = l->m;
    uint32_t *entries = arena_take(&m->scratch, n * sizeof *entries);
    if (!entries) nnb_model_memory(m);
    for (size_t i = 0; i < n && !m->status && !l->out->bytes.failed; i++) entries[i] = put(l, i);
    if (!m->status) put_words(l, entries, n);
}

static uint32_t put_variable(laying *l, size_t i) {
    const nnb_variable *v = (const nnb_variable *)l->m->variables.data + i;
    const uint32_t dims = put_list(l, (nnb_list){ v->shape, v->rank });
    const uint32_t data = v->stored ? put_data(l, v) : (uint32_t)(-1 - v->buffer);
    const uint32_t k = begin(l);
    uint8_t *p = take(l, NNB_VARIABLE);
    if (!p) return k;
    little_put32(p, (uint32_t)i);
    little_put32(p + 4, v->rank);
    little_put32(p + 8, dims);
    little_put32(p + 12, (uint32_t)(v->type | v->fp_pos << 4));
    little_put32(p + 16, data);
    return k;
}

static uint32_t put_record(laying *l, size_t nth) {
    nnb_model *m = l->m;
    const nnb_record *f = (const nnb_record *)m->records.data + nth;
    const nnb_args_list *lists = m->lists.data;
    const uint32_t in = put_list(l, f->in), out = put_list(l, f->out), first = l->next;
    for (uint32_t i = 0; i < f->n_lists; i++) (void)put_list(l, lists[f->lists + i].items);
    const uint32_t k = begin(l);
    uint8_t *p = take(l, NNB_RECORD + (size_t)f->args_size);
    if (!p) return k;
    little_put32(p, f->id | (uint32_t)f->impl << 16);
    little_put32(p + 4, f->in.n);
    little_put32(p + 8, in);
    little_put32(p + 12, f->out.n);
    little_put32(p + 16, out);
    if (f->args_size) memcpy(p + NNB_RECORD, m->bytes.data + f->args, f->args_size);
    for (uint32_t i = 0; i < f->n_lists; i++) {
        const nnb_args_list *list = &lists[f->lists + i];
        little_put32(p + NNB_RECORD + list->at, list->items.n);
        little_put32(p + NNB_RECORD + list->at + 4, first + i);
    }
    return k;
}

static void put_header(laying *l) {
    nnb_model *m = l->m;
    uint8_t *p = (uint8_t *)l->out->bytes.data;
    const uint64_t data = l->out->bytes.size + l->held - l->base;
    const uint32_t words[NNB_HEADER / 4] = {
        m->version, m->api, (uint32_t)m->buffers.size, 2, (uint32_t)m->variables.size, 0, (uint32_t)m->records.size,
        l->n_index - 1, m->inputs.n, 0, m->outputs.n, 1, l->n_index, (uint32_t)data };
    for (size_t i = 0; i < NNB_HEADER / 4; i++) little_put32(p + 4 * i, words[i]);
}

bool nnb_image_make(nnb_model *m, nnb_image *out) {
    laying l = { .m = m, .out = out };
    const uint64_t n = count_blocks(m);
    *out = (nnb_image){ .size = 0 };
    buffer_init(&out->bytes, m->alloc);
    if (n > INT32_MAX / 4) return nnb_refuse(m, XIR_E_LIMIT, "the file would have %" PRIu64 " blocks", n);
    l.n_index = (uint32_t)n;
    l.base = NNB_HEADER + 4 * n;
    const uint64_t whole = l.base + count_bytes(m);
    if (whole - l.base > INT32_MAX)
        return nnb_refuse(m, XIR_E_LIMIT, "the data of the file would have 2^31 bytes or more");
    if (!buffer_reserve(&out->bytes, (size_t)whole)) return nnb_model_memory(m);
    uint8_t *head = take(&l, (size_t)l.base);
    if (!head) return nnb_model_memory(m);
    memset(head, 0, (size_t)l.base);
    (void)put_list(&l, m->inputs);
    (void)put_list(&l, m->outputs);
    (void)put_words(&l, m->buffers.data, m->buffers.size);
    put_all(&l, m->variables.size, put_variable);
    const uint32_t variables = l.next - 1;
    if (!m->status) put_all(&l, m->records.size, put_record);
    if (out->bytes.failed) nnb_model_memory(m);
    if (m->status) return false;
    put_header(&l);
    little_put32((uint8_t *)out->bytes.data + 20, variables);
    out->size = out->bytes.size + l.held;
    if (out->size - l.base > INT32_MAX)
        return nnb_refuse(m, XIR_E_LIMIT, "the data of the file would have 2^31 bytes or more");
    return true;
}

void nnb_image_free(nnb_model *m, nnb_image *image) {
    buffer_free(&image->bytes);
    mem_free(m->alloc, image->holes.data, image->holes.room * sizeof(nnb_hole));
    *image = (nnb_image){ .size = 0 };
}

int64_t nnb_sum(const void *bytes, size_t size) { return (int64_t)(hash_bytes(0, bytes, size) >> 2); }

bool nnb_image_each(const nnb_image *image, nnb_put_fn *put, void *user) {
    const nnb_hole *holes = image->holes.data;
    const char *p = image->bytes.data;
    uint64_t at = 0;
    for (size_t i = 0; i <= image->holes.size; i++) {
        const nnb_hole *hole = i < image->holes.size ? &holes[i] : NULL;
        const uint64_t size = (hole ? hole->at : image->size) - at;
        if (size && !put(user, at, p, (size_t)size, NULL)) return false;
        at += size;
        p += size;
        if (!hole) break;
        const blob *data = value_params(hole->params)->data;
        if (hole->size && !put(user, at, data ? data->bytes : NULL, (size_t)hole->size, hole)) return false;
        at += hole->size;
        if (hole->pad && !put(user, at, "\0\0\0", (size_t)hole->pad, NULL)) return false;
        at += hole->pad;
    }
    return true;
}
