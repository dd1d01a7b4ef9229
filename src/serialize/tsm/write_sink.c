/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The destination of a module's bytes: the caller, perhaps scrambled, or they are counted. */
#include "tsm/write.h"

/* Bytes of whole blocks are combined with the key, at their place in the container. */
static bool put_scrambled(tsm_writer *w, const uint8_t *data, size_t size) {
    enum { ROOM = 4096, BLOCK = 16 };
    uint8_t room[ROOM + BLOCK];
    tsm_sink *s = &w->sink;
    while (size) {
        const size_t before = (size_t)(s->at % BLOCK);
        size_t n = size < ROOM - BLOCK ? size : ROOM - BLOCK;
        if (s->left && n > s->left) n = (size_t)s->left;
        const size_t whole = (before + n + BLOCK - 1) / BLOCK * BLOCK;
        memcpy(room + before, data, n);
        memset(room + before + n, 0, whole - before - n);
        if (s->left) tsm_scramble(room, whole);
        if (!w->how->write(w->how->user, room + before, n)) return false;
        s->at += n;
        s->left -= s->left ? n : 0;
        data += n;
        size -= n;
    }
    return true;
}

void tsm_put_out(tsm_writer *w, const void *data, size_t size) {
    tsm_sink *s = &w->sink;
    if (w->stopped || !size) return;
    if (s->counts) {
        s->size += size;
        if (s->sums) s->sum = tsm_sum(s->sum, data, size);
    } else {
        w->stopped = !(s->scrambles ? put_scrambled(w, data, size) : w->how->write(w->how->user, data, size));
    }
}

void tsm_flush(tsm_writer *w, size_t least) {
    if (w->out.size < least) return;
    tsm_put_out(w, w->out.data, w->out.size);
    w->out.size = 0;
}

/* Large elements are passed on where they lie. */
void tsm_put_data(tsm_writer *w, const void *data, size_t size) {
    if (size < TSM_FLUSH) {
        buffer_put(&w->out, data, size);
        return;
    }
    tsm_flush(w, 1);
    tsm_put_out(w, data, size);
}
