/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The memo of composed classes, whose answers take as long as those of all parts. That of infer.c knows attributes by
 * their address, which ops with lists or Params do not share, and up to three inputs. Here a question is a few bytes:
 * the class, the target, the inputs, and the contents of the attributes; of Params their type alone, because an answer
 * that depends on bytes is not remembered. Each slot has the latest question. */
#include "graph.h"
#include "hash.h"

enum { SLOTS = 64, MOST_RESULTS = 4 };

typedef struct composed_answer {
    uint32_t        size;          /* of the question; 0: none */
    uint32_t        n_out;
    const xir_type *out[MOST_RESULTS];
    unsigned char   bytes[COMPOSED_QUESTION];
} composed_answer;

struct composed_memo {
    uint32_t        epoch;         /* the context's, of inference functions */
    composed_answer slots[SLOTS];
};

/* ---- questions --------------------------------------------------------------------------------------------------- */

static void add(composed_question *q, const void *data, size_t size) {
    if (!q->size || size > sizeof q->bytes - q->size) {
        q->size = 0;               /* too long, now or before */
        return;
    }
    if (size) memcpy(q->bytes + q->size, data, size);
    q->size += (uint32_t)size;
}

static void add_pointer(composed_question *q, const void *p) { add(q, &p, sizeof p); }

static void add_list(composed_question *q, const void *data, size_t n, size_t each) {
    const size_t size = data ? n : SIZE_MAX;      /* a list that is null differs from an empty one */
    add(q, &size, sizeof size);
    if (n > sizeof q->bytes) q->size = 0;
    else add(q, data, data ? n * each : 0);
}

static void add_field(composed_question *q, const xir_field *f, const void *at) {
    const xir_value *v;
    switch (f->kind) {
    case XIR_KIND_BOOL: add(q, at, sizeof(bool)); break;
    case XIR_KIND_ENUM: add(q, at, sizeof(int)); break;
    case XIR_KIND_I64:
    case XIR_KIND_U64:
    case XIR_KIND_REAL: add(q, at, 8); break;
    case XIR_KIND_REF:  add(q, at, sizeof(void *)); break;    /* an object of the pool */
    case XIR_KIND_TEXT: add_list(q, ((const xir_str *)at)->data, ((const xir_str *)at)->size, 1); break;
    case XIR_KIND_I64S: add_list(q, ((const xir_i64s *)at)->data, ((const xir_i64s *)at)->size, 8); break;
    case XIR_KIND_REALS: add_list(q, ((const xir_reals *)at)->data, ((const xir_reals *)at)->size, 8); break;
    case XIR_KIND_BOOLS: add_list(q, ((const xir_bools *)at)->data, ((const xir_bools *)at)->size, sizeof(bool)); break;
    case XIR_KIND_PARAMS:
        v = *(xir_value *const *)at;
        add_pointer(q, v ? v->type : NULL);
        add(q, &(bool){ v != NULL }, sizeof(bool));
        break;
    default: q->size = 0; break;
    }
}

/* Writes the question; it stays empty if it would be too long. */
static void ask(composed_question *q, const xir_infer *at) {
    const xir_class *cls = at->cls;
    q->size = 0;
    memcpy(q->bytes, &cls, sizeof cls);
    q->size = sizeof cls;
    add_pointer(q, at->target);
    for (size_t i = 0; i < at->n_inputs; i++) {
        const uintptr_t key = infer_key_of(infer_input(at, i));
        add(q, &key, sizeof key);
    }
    for (uint32_t i = 0; i < cls->n_fields && q->size; i++)
        add_field(q, &cls->fields[i], (const char *)at->attrs + cls->fields[i].offset);
    q->hash = q->size ? hash_bytes(q->size, q->bytes, q->size) : 0;
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
    if (found->size != q->size || memcmp(found->bytes, q->bytes, q->size) != 0 || found->n_out > at->room) return false;
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
    memcpy(to->bytes, q->bytes, q->size);
}
