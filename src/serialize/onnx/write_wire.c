/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The bytes of a model on their way out, and failures. */
#include <stdarg.h>
#include <stdio.h>
#include "onnx/write.h"
#include "number.h"
#include "text.h"

bool proto_refuse(proto_writer *w, xir_status status, const char *sentence, ...) {
    va_list args;
    if (w->status) return false;
    w->status = status;
    w->refused = w->at;
    va_start(args, sentence);
    text_vprint(w->fault, sizeof w->fault, sentence, args);
    va_end(args);
    return false;
}

bool proto_no_memory(proto_writer *w) {
    if (!w->status) w->status = XIR_E_MEMORY;
    return false;
}

void proto_flush(proto_writer *w) {
    if (w->out.size && !w->stopped && !w->only_data)
        w->stopped = !w->how->write(w->how->user, w->out.data, w->out.size);
    w->out.size = 0;
}

void proto_put_slowly(proto_writer *w, const void *data, size_t size) {
    proto_flush(w);
    if (!w->stopped && !w->only_data) w->stopped = !w->how->write(w->how->user, data, size);
}

bool proto_write_lasting(const format_writing *how, const void *data, size_t size) {
    return (how->write_lasting ? how->write_lasting : how->write)(how->user, data, size);
}

/* Few bytes are worth a write from their own place. */
void proto_put_lasting(proto_writer *w, const void *data, size_t size) {
    enum { WORTH_IT = 4 << 10 };
    if (w->counting || !w->how->write_lasting || size < WORTH_IT) {
        proto_put(w, data, size);
        return;
    }
    w->count += size;
    proto_flush(w);
    if (!w->stopped && !w->only_data) w->stopped = !proto_write_lasting(w->how, data, size);
}

proto_message proto_open_slowly(proto_writer *w) {
    if (!mem_reserve(w->alloc, (void **)&w->sizes, &w->size_room, w->n_sizes + 1, sizeof *w->sizes)) {
        proto_no_memory(w);
        return (proto_message){ 0, w->count };
    }
    return (proto_message){ w->n_sizes++, w->count };
}

bool proto_put_again(proto_writer *w, const void *of, const xir_map *tags, proto_again *a) {
    proto_block *known = &w->blocks[hash_pointer(of) % PROTO_BLOCKS];
    if (known->of == of && known->tags == tags) {
        proto_put(w, known->bytes, known->size);
        return true;
    }
    *a = (proto_again){ known, of, tags, w->count, w->data_size, NULL };
    if (!w->counting) a->bytes = proto_room(w, sizeof known->bytes + PROTO_HEAD);
    return false;
}

void proto_remember(proto_writer *w, const proto_again *a) {
    const uint64_t size = w->count - a->start;
    if (proto_failed(w) || size > sizeof a->block->bytes || w->data_size != a->data_size) return;
    a->block->of = a->of;
    a->block->tags = a->tags;
    a->block->size = (size_t)size;
    if (a->bytes) memcpy(a->block->bytes, a->bytes, a->block->size);
}

/* ---- texts that are bytes -------------------------------------------------------------------------------------- */

static int digit_of(char c) {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (is_digit(c)) return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

bool proto_take_base64(proto_writer *w, xir_str text, wire_bytes *out) {
    size_t size = text.size, n = 0;
    if (size % 4) return false;
    uint8_t *bytes = arena_take(&w->scratch, size / 4 * 3);
    if (!bytes) return proto_no_memory(w);
    for (int i = 0; i < 2 && size && text.data[size - 1] == '='; i++) size--;
    uint32_t bits = 0;
    for (size_t i = 0; i < size; i++) {
        const int digit = digit_of(text.data[i]);
        if (digit < 0) return false;
        bits = bits << 6 | (uint32_t)digit;
        if (i % 4) bytes[n++] = (uint8_t)(bits >> (6 - 2 * (i % 4)));
    }
    *out = (wire_bytes){ bytes, n };
    return true;
}

/* ---- maps of texts --------------------------------------------------------------------------------------------- */

void proto_put_entries(proto_writer *w, uint32_t field, const xir_map *tags, const char *key) {
    const xir_any *map = proto_tag(tags, key, XIR_ANY_MAP);
    for (size_t i = 0; map && i < map->as.map.size; i++) {
        const xir_entry *e = &map->as.map.entries[i];
        if (e->value.kind != XIR_ANY_TEXT) {
            proto_refuse(w, XIR_E_TYPE, "the tag %s is not a map of texts", key);
            return;
        }
        char what[64];
        snprintf(what, sizeof what, "a text of the tag %s", key);
        if (!proto_check_text(w, what, e->key) || !proto_check_text(w, what, e->value.as.text)) return;
        const proto_message m = proto_open(w, field);
        proto_put_text(w, 1, e->key);
        proto_put_text(w, 2, e->value.as.text);
        proto_close(w, m);
    }
}

void proto_put_kept(proto_writer *w, uint32_t field, const xir_map *tags, const char *key) {
    const xir_any *list = proto_tag(tags, key, XIR_ANY_LIST);
    for (size_t i = 0; list && i < list->as.list.size; i++) {
        const xir_any *item = &list->as.list.items[i];
        wire_bytes bytes = { NULL, 0 };
        if (item->kind != XIR_ANY_TEXT || !proto_take_base64(w, item->as.text, &bytes)) {
            proto_refuse(w, XIR_E_SYNTAX, "item %zu of the tag %s is not in base64", i, key);
            return;
        }
        proto_put_bytes(w, field, bytes.at, bytes.size);
    }
}
