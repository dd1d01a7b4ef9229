/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Files of numbers for xir view --data. The page reads them, so here they are only taken as they are. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "view.h"

/* Reads a whole file. `out` is the caller's to free. */
static int read_whole(const char *name, xir_str *out) {
    FILE *file = fopen(name, "rb");
    if (!file) return complain_of(REFUSED, name, "cannot be read: %s", strerror(errno));
    size_t size = 0, room = 1 << 16;
    char *content = take(room, 1);
    for (size_t n; (n = fread(content + size, 1, room - size, file)) > 0;) {
        size += n;
        if (size < room) continue;
        char *more = take(2 * room, 1);
        memcpy(more, content, size);
        free(content);
        content = more;
        room *= 2;
    }
    const bool failed = ferror(file) != 0;
    fclose(file);
    *out = (xir_str){ content, size };
    return failed ? complain_of(REFUSED, name, "cannot be read: %s", strerror(errno)) : DONE;
}

int view_read_data(const word_list *names, xir_draw_options *how) {
    xir_str *data = take(names->n ? names->n : 1, sizeof *data);
    int code = DONE;
    how->data = data;
    for (size_t i = 0; i < names->n && !code; i++) {
        code = read_whole(names->items[i], &data[i]);
        how->n_data++;
    }
    return code;
}

void view_free_data(xir_draw_options *how) {
    for (size_t i = 0; i < how->n_data; i++) free((void *)(uintptr_t)how->data[i].data);
    free((void *)(uintptr_t)how->data);
}
