/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Old keys of classes are read and never written, so a file that has one is not written back byte for byte. Which
 * keys a file spells is not kept in the network: they are looked for in its text. */
#include <stdlib.h>
#include <string.h>
#include "cli.h"

/* The last keys that were looked up, by their hash: a file spells few of them, and each many times. */
enum { RECENT = 64 };

typedef struct found_key {
    xir_str          spelled;
    const xir_class *now;      /* NULL: no old key */
    size_t           n;
} found_key;

typedef struct list {
    found_key *items;
    size_t     n, room;
} list;

static found_key *look_up(list *l, uint32_t *recent, xir_str key) {
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < key.size; i++) h = (h ^ (unsigned char)key.data[i]) * 16777619u;
    uint32_t *slot = &recent[(h ^ h >> 13) % RECENT];
    if (*slot && xir_str_equal(l->items[*slot - 1].spelled, key)) return &l->items[*slot - 1];
    const xir_class *cls = xir_class_find(context, key);
    bool old = cls && !xir_str_equal(xir_class_key(cls), key);
    if (!old) cls = NULL;
    for (size_t i = 0; old && i < l->n; i++) {
        if (xir_str_equal(l->items[i].spelled, key)) return &l->items[i];
    }
    if (l->n == l->room) {
        l->room = l->room * 2 + 16;
        l->items = resize(l->items, l->room * sizeof *l->items);
    }
    l->items[l->n++] = (found_key){ key, cls, 0 };
    *slot = (uint32_t)l->n;
    return &l->items[l->n - 1];
}

int note_old_keys(loaded *l, xir_diags *why) {
    static const char word[] = "\"_type_key\"";
    size_t size;
    char *bytes;
    const int code = structure_bytes(l, &bytes, &size);
    if (!bytes) return code;
    list found = { 0 };
    uint32_t recent[RECENT] = { 0 };
    const char *p = bytes, *end = bytes + size;
    while ((p = memmem(p, (size_t)(end - p), word, sizeof word - 1))) {
        p += sizeof word - 1;
        while (p < end && *p && strchr(" \t\r\n:", *p)) p++;
        if (p == end || *p != '"') continue;
        const char *start = ++p;
        while (p < end && *p != '"' && *p != '\\') p++;
        found_key *key = look_up(&found, recent, (xir_str){ start, (size_t)(p - start) });
        key->n++;
    }
    for (size_t i = 0; i < found.n; i++) {
        const found_key *k = &found.items[i];
        if (!k->now) continue;
        text t = { 0 };
        text_printf(&t, "%zu op%s of class %.*s, an old key, %s written as %.*s", k->n, k->n == 1 ? "" : "s",
                    (int)k->spelled.size, k->spelled.data,
                    k->n == 1 ? "is" : "are", (int)xir_class_key(k->now).size, xir_class_key(k->now).data);
        xir_diags_append(why, &(xir_diag){
            .severity = XIR_NOTE, .file = xir_str_of(l->name), .byte = XIR_NO_BYTE, .message = text_of(&t) });
        text_free(&t);
    }
    free(found.items);
    if (bytes != l->bytes) free(bytes);
    return DONE;
}
