/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Returns true if a file is laid out as image.c lays out its network, which says everything else: then nothing of its
 * bytes has to be kept. One walk over the blocks in their order. It knows fewer files than there are: keep.c makes the
 * others again and compares. */
#include "nnb/nnb.h"

typedef struct walk {
    nnb_reader *r;
    uint32_t    k;         /* the entry of the next block      */
    uint64_t    at;        /* where it has to begin            */
    size_t      hole;      /* the next parameter               */
    buffer     *bytes;     /* of all blocks but data, so far   */
    uint64_t    copied;    /* the file up to here is in them   */
    bool        usual;
} walk;

/* Expects the next block, of so many bytes, then zeros up to a multiple of 4. Returns where it begins. */
static const uint8_t *next_block(walk *w, uint64_t size) {
    const nnb_reader *r = w->r;
    const uint64_t begin = w->at, end = begin + ((size + 3) & ~UINT64_C(3));
    w->usual = w->usual && w->k < r->n_index && end <= r->data_size && little_u32(r->index + 4 * (size_t)w->k) == begin;
    for (uint64_t i = begin + size; w->usual && i < end; i++) w->usual = !r->data[i];
    if (w->usual) w->at = end;
    w->k++;
    return r->data + begin;
}

/* Expects that a pointer means the next block, a list. */
static void next_list(walk *w, uint32_t n, uint32_t entry) {
    w->usual &= entry == w->k;
    (void)next_block(w, 4 * (uint64_t)n);
}

/* The file without the data of parameters. */
static void skip_data(walk *w, const nnb_hole *hole) {
    const uint64_t end = (uint64_t)(w->r->data - w->r->d.base) + w->at;
    buffer_put(w->bytes, w->r->d.base + w->copied, (size_t)(hole->at - w->copied));
    w->copied = end;
}

static void next_variable(walk *w, uint32_t i) {
    const nnb_reader *r = w->r;
    const nnb_read_variable *v = &r->v[i];
    const nnb_hole *holes = r->holes.data;
    const bool fixed = v->type == NNB_INT16 || v->type == NNB_INT8;
    const uint32_t entry = little_u32(r->data + r->variables.at + 4 * (size_t)i);
    const uint8_t *p = r->data + little_u32(r->index + 4 * (size_t)entry);
    for (uint32_t k = 0; k < v->rank; k++) w->usual &= (int32_t)little_u32(r->data + v->shape + 4 * (size_t)k) >= 0;
    w->usual &= v->type < NNB_TYPES && (fixed || !v->fp_pos) && (v->data_index < 0 || !v->made);
    next_list(w, v->rank, little_u32(p + 8));
    if (v->data_index >= 0 && w->usual) {
        const nnb_hole *hole = &holes[w->hole++];
        w->usual = (uint32_t)v->data_index == w->k;
        w->usual &= next_block(w, hole->size) == r->d.base + hole->at;
        if (w->usual) skip_data(w, hole);
    }
    w->usual &= entry == w->k;   /* an empty shape before it has the same offset */
    w->usual &= next_block(w, NNB_VARIABLE) == p && little_u32(p) == i && !p[13] && !p[14] && !p[15];
}

/* The arguments of a record that has the first n of them: whether their lists come next, and zeros between bytes and
 * words. */
static void next_arguments(walk *w, const nnb_signature *s, const uint8_t *p, size_t n) {
    uint32_t end = NNB_RECORD;
    for (size_t i = 0; i < n && w->usual; i++) {
        const nnb_argument *a = &s->arguments[i];
        for (; end < a->at; end++) w->usual &= !p[end];
        if (a->kind == NNB_LIST) next_list(w, little_u32(p + a->at), little_u32(p + a->at + 4));
        end = a->at + a->size;
    }
}

static void next_function(walk *w, uint32_t i, bool *memory) {
    const nnb_reader *r = w->r;
    const uint32_t k = little_u32(r->data + r->functions.at + 4 * (size_t)i), at = little_u32(r->index + 4 * (size_t)k);
    const uint8_t *p = r->data + at;
    const nnb_signature *s = nnb_signature_of(&w->r->signatures, little_u16(p), memory);
    uint32_t end;
    w->usual &= s && s->storable;
    if (!w->usual) return;
    const size_t n = nnb_record_arguments(s, nnb_next_block(r, k, at) - at, &end);
    next_list(w, little_u32(p + 4), little_u32(p + 8));
    next_list(w, little_u32(p + 12), little_u32(p + 16));
    next_arguments(w, s, p, n);
    w->usual &= k == w->k;
    w->usual &= next_block(w, end) == p;
}

static void check_header(walk *w, uint32_t variables) {
    const nnb_reader *r = w->r;
    const uint8_t *head = r->d.base;
    w->usual &= little_u32(head + 12) == 2 && little_u32(head + 20) == variables &&
                little_u32(head + 28) + 1 == r->n_index && little_u32(head + 36) == 0 && little_u32(head + 44) == 1;
    w->usual &= w->k == r->n_index && w->at == r->data_size &&
                r->d.whole->size == NNB_HEADER + 4 * (uint64_t)r->n_index + r->data_size;
}

bool nnb_is_usual(nnb_reader *r, int64_t *sum, bool *memory) {
    buffer bytes;
    buffer_init(&bytes, r->d.alloc);
    walk w = { .r = r, .usual = true, .bytes = &bytes };
    next_list(&w, r->inputs.n, 0);
    next_list(&w, r->outputs.n, 1);
    next_list(&w, r->buffers.n, 2);
    for (uint32_t i = 0; i < r->variables.n && w.usual; i++) next_variable(&w, i);
    const uint32_t variables = w.k;
    next_list(&w, r->variables.n, variables);
    for (uint32_t i = 0; i < r->functions.n && w.usual && !*memory; i++) next_function(&w, i, memory);
    next_list(&w, r->functions.n, w.k);
    check_header(&w, variables);
    if (w.usual && w.copied) buffer_put(&bytes, r->d.base + w.copied, (size_t)(r->d.whole->size - w.copied));
    if (w.usual) *sum = w.copied ? nnb_sum(bytes.data, bytes.size)
                                 : nnb_sum(r->d.base, (size_t)r->d.whole->size);
    *memory |= bytes.failed;
    buffer_free(&bytes);
    return w.usual && !*memory;
}
