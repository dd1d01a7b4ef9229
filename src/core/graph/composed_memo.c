/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The memo of composed classes, whose answers take as long as those of all parts. That of infer.c knows attributes by
 * their address, which ops with lists or Params do not share, and up to three inputs. Here a question is a few words:
 * the class, the target, the inputs, and the contents of the attributes; of Params their type alone, because an answer
 * that depends on bytes is not remembered. Each slot has the latest question. */
#include "graph.h"

enum { SLOTS = 64, MOST_RESULTS = 4 };

typedef struct composed_answer {
    uint32_t        size;          /* of the question; 0: none */
    uint32_t        n_out;
    const xir_type *out[MOST_RESULTS];
    uint64_t        words[COMPOSED_QUESTION];
} composed_answer;

struct composed_memo {
    uint32_t        epoch;         /* the context's, of inference functions */
    composed_answer slots[SLOTS];
};

/* ---- questions --------------------------------------------------------------------------------------------------- */

/* There is room: see has_room. */
static inline void add(composed_question *q, uint64_t word) {
    q->words[q->size++] = word;
    q->hash = (q->hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
}

/* Returns true if these words fit; else the question stays empty. */
static bool has_room(composed_question *q, size_t words) {
    if (words <= COMPOSED_QUESTION && q->size + words <= COMPOSED_QUESTION) return true;
    q->size = 0;
    return false;
}

/* A list, before the words that are still to come. */
static void add_list(composed_question *q, size_t after, const void *data, size_t n, size_t each) {
    const char *at = data;
    size_t left = data && n <= sizeof q->words ? n * each : 0;
    if (!has_room(q, 1 + after + (left + 7) / 8) || (data && n > sizeof q->words)) {
        q->size = 0;
        return;
    }
    add(q, data ? n : UINT64_MAX);                /* a list that is null differs from an empty one */
    while (left) {
        uint64_t word = 0;
        const size_t size = left < sizeof word ? left : sizeof word;
        memcpy(&word, at, size);
        add(q, word);
        at += size;
        left -= size;
    }
}

static void add_field(composed_question *q, size_t after, const xir_field *f, const void *at) {
    switch (f->kind) {
    case XIR_KIND_BOOL: add(q, *(const bool *)at); break;
    case XIR_KIND_ENUM: add(q, (uint64_t)*(const int *)at); break;
    case XIR_KIND_I64:
    case XIR_KIND_U64:
    case XIR_KIND_REAL:
    case XIR_KIND_REF: {                                       /* an object of the pool */
        uint64_t word;
        memcpy(&word, at, sizeof word);
        add(q, word);
        break;
    }
    case XIR_KIND_TEXT: add_list(q, after, ((const xir_str *)at)->data, ((const xir_str *)at)->size, 1); break;
    case XIR_KIND_I64S: add_list(q, after, ((const xir_i64s *)at)->data, ((const xir_i64s *)at)->size, 8); break;
    case XIR_KIND_REALS: add_list(q, after, ((const xir_reals *)at)->data, ((const xir_reals *)at)->size, 8); break;
    case XIR_KIND_BOOLS:
        add_list(q, after, ((const xir_bools *)at)->data, ((const xir_bools *)at)->size, sizeof(bool));
        break;
    case XIR_KIND_PARAMS: add(q, infer_key_of(*(xir_value *const *)at)); break;
    default: q->size = 0; break;
    }
}

/* Writes the question; it stays empty if it would be too long. */
static void ask(composed_question *q, const xir_infer *at) {
    const xir_class *cls = at->cls;
    q->size = 0;
    q->hash = 0;
    if (!has_room(q, 2 + at->n_inputs + cls->n_fields)) return;
    add(q, (uintptr_t)cls);
    add(q, (uintptr_t)at->target);
    for (size_t i = 0; i < at->n_inputs; i++) add(q, infer_key_of(infer_input(at, i)));
    for (uint32_t i = 0; i < cls->n_fields && q->size; i++)
        add_field(q, cls->n_fields - i - 1, &cls->fields[i], (const char *)at->attrs + cls->fields[i].offset);
    q->hash ^= q->hash >> 32;
}

/* ---- answers ----------------------------------------------------------------------------------------------------- */

void composed_forget(xir_network *net) {
    if (net->composed) memset(net->composed, 0, sizeof *net->composed);
}

void composed_memo_free(xir_network *net) {
    if (net->composed) mem_free(&net->alloc, net->composed, sizeof *net->composed);
    net->composed = NULL;
}

bool composed_recall(xir_infer *at, xir_network *net, composed_question *q) {
    q->size = 0;
    if (!at->cls->more->composed) return false;
    if (at->cls->plain && at->n_inputs <= INFER_INPUTS && at->cls->more->n_outputs == 1) return false;   /* infer.c */
    ask(q, at);
    composed_memo *memo = net->composed;
    if (!q->size || !memo) return false;
    if (memo->epoch != net->ctx->infer_epoch) {   /* another function has been registered */
        composed_forget(net);
        memo->epoch = net->ctx->infer_epoch;
        return false;
    }
    const composed_answer *found = &memo->slots[q->hash % SLOTS];
    if (found->size != q->size || found->n_out > at->room ||
        memcmp(found->words, q->words, q->size * sizeof *q->words) != 0) return false;
    memcpy((void *)at->out, (const void *)found->out, found->n_out * sizeof *found->out);
    at->n_out = found->n_out;
    return true;
}

void composed_remember(const xir_infer *at, xir_network *net, const composed_question *q) {
    if (!q->size || at->read_values || at->n_out > MOST_RESULTS) return;
    if (!net->composed) {                          /* without memory nothing is remembered */
        net->composed = mem_new(&net->alloc, sizeof *net->composed);
        if (!net->composed) return;
        memset(net->composed, 0, sizeof *net->composed);
        net->composed->epoch = net->ctx->infer_epoch;
    }
    composed_answer *to = &net->composed->slots[q->hash % SLOTS];
    to->size = q->size;
    to->n_out = (uint32_t)at->n_out;
    memcpy((void *)to->out, (const void *)at->out, at->n_out * sizeof *to->out);
    memcpy(to->words, q->words, q->size * sizeof *q->words);
}
