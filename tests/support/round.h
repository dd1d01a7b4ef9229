/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Writes a network in every format and reads it again, in memory: it must be unchanged, with all its parameters. */
#ifndef SUPPORT_ROUND_H
#define SUPPORT_ROUND_H

#include <stdlib.h>
#include <xir/icraft.h>
#include "support/formats.h"
#include "support/net.h"

typedef struct round_memory { char *data; size_t size, room; } round_memory;
static inline bool round_keep(void *user, const void *data, size_t size) {
    round_memory *m = user;
    if (m->room - m->size < size) m->data = realloc(m->data, m->room = 2 * m->room + size);
    if (!m->data) abort();
    if (size) memcpy(m->data + m->size, data, size);
    m->size += size;
    return true;
}

/* `what` names the network in messages. */
static inline void round_one(xir_network *net, const char *format, const char *what) {
    round_memory file = { 0 }, raw = { 0 };
    xir_network *was = xir_network_clone(net);
    const xir_save_options options = XIR_INIT(xir_save_options, .format = format, .unchecked = true);
    xir_status status = xir_network_write(net, round_keep, &file, &options, why);
    bool pair = !xir_save_keeps_inside(net, &options);
    if (!status && pair) status = xir_raw_write(net, round_keep, &raw, why);
    xir_network *again = status ? NULL : xir_network_read(ctx, file.data, file.size, XIR_STR("again"),
                                                          &XIR_INIT(xir_load_options, .format = format,
                                                                    .no_params = pair), why);
    if (again && pair) status = xir_raw_read(again, raw.data, raw.size, 0, why);
    if (status || !again) {
        xir_diags_print(why, stderr);
        fail_msg("%s: cannot be read again from %s", what, format);
    }
    /* Fields that other formats have about their raw file are absent here. */
    xir_network_set_text(again, XIR_TEXT_PARAMS_MD5, xir_network_text_of(was, XIR_TEXT_PARAMS_MD5));
    if (!xir_network_equal(was, again, true)) fail_msg("%s: %s does not preserve it", what, format);
    xir_network_free(again);
    xir_network_free(was);
    free(file.data);
    free(raw.data);
}

static inline void round_all(xir_network *net, const char *what) {
    xir_format_info f;
    for (size_t i = 0; written_format_at(i, &f); i++) round_one(net, f.name, what);
}

#endif
