/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Buffers of variables: two may share one if no function needs both. A variable is needed from the function that makes
 * it to the last that uses it; an input of the network from the beginning, an output to the end.
 *
 * If few variables are needed at once, or there are few at all, the buffers are as NNabla's exporter chooses them: as
 * many as are needed at most, the k-th largest as large as the k-th largest variable of any function; a variable gets
 * the smallest that is free and large enough, else the smallest free one grows. Otherwise free buffers are looked for
 * by the power of two of their sizes. Both take time in proportion to the variables. */
#include "nnb/nnb.h"

enum { FEW = 64, FEW_STEPS = 1 << 18, NEVER = -1 };

typedef struct life { int32_t begin, end; uint32_t size; int32_t next_begin, next_end; } life;

typedef struct packing {
    nnb_model *m;
    life      *lives;
    size_t     n, steps, most;       /* variables; functions; needed at once          */
    int32_t   *begins, *ends;        /* of each step the first variable                */
    uint32_t  *sizes, *now;          /* of buffers, ascending; of what is needed       */
    bool      *taken;
} packing;

static void refer(packing *p, nnb_list list, int32_t step) {
    const int32_t *ints = p->m->ints.data;
    const nnb_variable *v = p->m->variables.data;
    for (uint32_t i = 0; i < list.n; i++) {
        const int32_t n = ints[list.first + i];
        life *l = &p->lives[n];
        if (v[n].stored) continue;
        if (l->begin == NEVER) l->begin = step;
        l->end = step;
    }
}

static bool find_lives(packing *p) {
    const nnb_variable *v = p->m->variables.data;
    const nnb_record *f = p->m->records.data;
    for (size_t i = 0; i < p->n; i++) {
        const uint64_t size = v[i].stored ? 0 : p->m->version == 2 ? v[i].elements : v[i].bytes;
        if (size > UINT32_MAX)
            return nnb_refuse(p->m, XIR_E_LIMIT, "variable %zu has too many elements for a buffer", i);
        p->lives[i] = (life){ NEVER, NEVER, (uint32_t)size, NEVER, NEVER };
    }
    refer(p, p->m->inputs, 0);
    for (size_t i = 0; i < p->m->records.size; i++) {
        refer(p, f[i].in, (int32_t)i);
        refer(p, f[i].out, (int32_t)i);
    }
    refer(p, p->m->outputs, (int32_t)p->steps - 1);
    return true;
}

/* Lists the variables that begin and end at each step, in ascending order. */
static void list_steps(packing *p) {
    for (size_t i = 0; i < p->steps; i++) p->begins[i] = p->ends[i] = NEVER;
    for (size_t i = p->n; i-- > 0;) {
        life *l = &p->lives[i];
        if (l->begin == NEVER) continue;
        l->next_begin = p->begins[l->begin];
        p->begins[l->begin] = (int32_t)i;
        l->next_end = p->ends[l->end];
        p->ends[l->end] = (int32_t)i;
    }
}

static void count_most(packing *p) {
    size_t now = 0;
    for (size_t i = 0; i < p->steps; i++) {
        for (int32_t v = p->begins[i]; v != NEVER; v = p->lives[v].next_begin) now++;
        if (now > p->most) p->most = now;
        for (int32_t v = p->ends[i]; v != NEVER; v = p->lives[v].next_end) now--;
    }
}

static int32_t *buffer_of(packing *p, int32_t v) { return &((nnb_variable *)p->m->variables.data)[v].buffer; }

/* ---- few at once ----------------------------------------------------------------------------------------------- */

/* The sizes that are needed at each step, ascending; the largest are compared with the largest. */
static void size_few(packing *p) {
    uint32_t *now = p->now;
    size_t n = 0;
    for (size_t i = 0; i < p->steps; i++) {
        for (int32_t v = p->begins[i]; v != NEVER; v = p->lives[v].next_begin) {
            size_t k = n++;
            for (; k > 0 && now[k - 1] > p->lives[v].size; k--) now[k] = now[k - 1];
            now[k] = p->lives[v].size;
        }
        for (size_t k = 0; k < n; k++) {
            uint32_t *size = &p->sizes[p->most - n + k];
            if (now[k] > *size) *size = now[k];
        }
        for (int32_t v = p->ends[i]; v != NEVER; v = p->lives[v].next_end) {
            size_t k = 0;
            while (now[k] != p->lives[v].size) k++;
            for (n--; k < n; k++) now[k] = now[k + 1];
        }
    }
}

static void assign_few(packing *p) {
    for (size_t i = 0; i < p->steps; i++) {
        for (int32_t v = p->begins[i]; v != NEVER; v = p->lives[v].next_begin) {
            size_t b = 0, free = p->most;
            for (; b < p->most && (p->taken[b] || p->sizes[b] < p->lives[v].size); b++)
                if (!p->taken[b] && free == p->most) free = b;
            if (b == p->most) p->sizes[b = free] = p->lives[v].size;
            p->taken[b] = true;
            *buffer_of(p, v) = (int32_t)b;
        }
        for (int32_t v = p->ends[i]; v != NEVER; v = p->lives[v].next_end) p->taken[*buffer_of(p, v)] = false;
    }
}

static bool pack_few(packing *p) {
    p->sizes = arena_take(&p->m->scratch, p->most * sizeof *p->sizes);
    p->now = arena_take(&p->m->scratch, p->most * sizeof *p->now);
    p->taken = arena_take(&p->m->scratch, p->most * sizeof *p->taken);
    if (!p->sizes || !p->now || !p->taken) return nnb_model_memory(p->m);
    memset(p->sizes, 0, p->most * sizeof *p->sizes);
    memset(p->taken, 0, p->most * sizeof *p->taken);
    size_few(p);
    assign_few(p);
    uint32_t *out = nnb_more(p->m, &p->m->buffers, p->most, sizeof *out);
    if (out) memcpy(out, p->sizes, p->most * sizeof *out);
    return out;
}

/* ---- many at once ---------------------------------------------------------------------------------------------- */

enum { CLASSES = 33, LOOKED_AT = 8 };
typedef struct classes { int32_t first[CLASSES]; int32_t *next; /* of a free buffer the next of its class */ } classes;

static int class_of(uint32_t size) {
    int c = 0;
    for (; size; size >>= 1) c++;
    return c;
}

/* A free buffer: one of the first few of the class that are large enough, the first of a larger class, or the largest
 * class's first, which grows. -1: none is free. */
static int32_t take_free(classes *c, uint32_t *sizes, uint32_t size) {
    int32_t *link = &c->first[class_of(size)];
    for (int i = 0; i < LOOKED_AT && *link != NEVER && sizes[*link] < size; i++) link = &c->next[*link];
    if (*link == NEVER || sizes[*link] < size) {
        int k = class_of(size) + 1;
        while (k < CLASSES && c->first[k] == NEVER) k++;
        if (k == CLASSES)
            for (k = class_of(size); k > 0 && c->first[k] == NEVER;) k--;
        link = &c->first[k];
    }
    const int32_t b = *link;
    if (b == NEVER) return NEVER;
    *link = c->next[b];
    if (sizes[b] < size) sizes[b] = size;
    return b;
}

static bool pack_many(packing *p) {
    classes c;
    uint32_t *sizes = nnb_more(p->m, &p->m->buffers, p->n, sizeof *sizes);
    c.next = arena_take(&p->m->scratch, p->n * sizeof *c.next);
    if (!sizes || !c.next) return nnb_model_memory(p->m);
    size_t n = 0;
    for (int k = 0; k < CLASSES; k++) c.first[k] = NEVER;
    for (size_t i = 0; i < p->steps; i++) {
        for (int32_t v = p->begins[i]; v != NEVER; v = p->lives[v].next_begin) {
            int32_t b = take_free(&c, sizes, p->lives[v].size);
            if (b == NEVER) sizes[b = (int32_t)n++] = p->lives[v].size;
            *buffer_of(p, v) = b;
        }
        for (int32_t v = p->ends[i]; v != NEVER; v = p->lives[v].next_end) {
            const int32_t b = *buffer_of(p, v);
            const int k = class_of(sizes[b]);
            c.next[b] = c.first[k];
            c.first[k] = b;
        }
    }
    p->m->buffers.size = n;
    return true;
}

/* ---- all ------------------------------------------------------------------------------------------------------- */

bool nnb_pack(nnb_model *m) {
    packing p = { .m = m, .n = m->variables.size, .steps = m->records.size ? m->records.size : 1 };
    p.lives = arena_take(&m->scratch, p.n * sizeof *p.lives);
    p.begins = arena_take(&m->scratch, p.steps * sizeof *p.begins);
    p.ends = arena_take(&m->scratch, p.steps * sizeof *p.ends);
    if (!p.lives || !p.begins || !p.ends) return nnb_model_memory(m);
    if (!find_lives(&p)) return false;
    list_steps(&p);
    count_most(&p);
    for (size_t i = 0; i < p.n; i++) {   /* one that nothing needs */
        nnb_variable *v = (nnb_variable *)m->variables.data + i;
        if (!v->stored) v->buffer = 0;
    }
    const bool few = p.most <= FEW || (p.n + p.steps) * p.most <= FEW_STEPS;
    return few ? pack_few(&p) : pack_many(&p);
}
