/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The memory of a trial. Each block stands between a head and a tail of known bytes, which show a write past its end.
 * New memory has no zeros, so that a kernel that does not write all its results is seen. */
#include <string.h>
#include "trying.h"

enum { TAIL = 64, GUARD = 0x5c };

typedef struct trial_block {
    struct trial_block *before, *next;
    size_t              size;
    unsigned char       guard[8];
    _Alignas(16) unsigned char bytes[];
} trial_block;

static size_t whole(size_t size) { return sizeof(trial_block) + size + TAIL; }

static bool is_sound(const trial_block *b) {
    bool sound = true;
    for (size_t i = 0; i < sizeof b->guard; i++) sound = sound && b->guard[i] == GUARD;
    for (size_t i = 0; i < TAIL; i++) sound = sound && b->bytes[b->size + i] == GUARD;
    return sound;
}

static void guard(trial_block *b) {
    memset(b->guard, GUARD, sizeof b->guard);
    memset(b->bytes + b->size, GUARD, TAIL);
}

static void drop(trial_memory *m, trial_block *b) {
    m->spoiled = m->spoiled || !is_sound(b);
    if (b->next) b->next->before = b->before;
    if (b->before) b->before->next = b->next;
    else m->first = b->next;
    m->under->resize(m->under->user, b, whole(b->size), 0);
}

static trial_block *new_block(trial_memory *m, size_t size) {
    m->count++;
    if (m->refuse && m->count == m->refuse) {
        m->refused = true;
        return NULL;
    }
    if (size > SIZE_MAX - whole(0)) return NULL;
    trial_block *b = m->under->resize(m->under->user, NULL, 0, whole(size));
    if (!b) {
        m->ran_out = true;
        return NULL;
    }
    *b = (trial_block){ .next = m->first, .size = size };
    memset(b->bytes, m->fill, size);
    guard(b);
    if (m->first) m->first->before = b;
    m->first = b;
    return b;
}

void *trial_resize(void *user, void *block, size_t old_size, size_t size) {
    trial_memory *m = user;
    trial_block *old = block ? (trial_block *)(void *)((char *)block - offsetof(trial_block, bytes)) : NULL;
    if (old && !size) {
        drop(m, old);
        return NULL;
    }
    trial_block *b = new_block(m, size);
    if (!b) return NULL;
    if (old) {
        memcpy(b->bytes, old->bytes, old_size < size ? old_size : size);
        drop(m, old);
    }
    return b->bytes;
}

bool trial_memory_is_spoiled(trial_memory *m) {
    bool spoiled = m->spoiled;
    for (trial_block *b = m->first; b; b = b->next) {
        if (is_sound(b)) continue;
        spoiled = true;
        guard(b);
    }
    m->spoiled = false;
    return spoiled;
}
