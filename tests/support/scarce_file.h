/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The scenarios of a format's reader and writer while memory is short: a failure gives XIR_E_MEMORY and no network,
 * leaks nothing, and the call succeeds when it is repeated. */
#ifndef SUPPORT_SCARCE_FILE_H
#define SUPPORT_SCARCE_FILE_H

#include "support/kept.h"
#include "support/scarce.h"

typedef struct scarce_file {
    const char *format;
    const void *bytes;
    size_t      size;
    bool        no_params;
    const char *drop;        /* NULL, or the tag without which the network is written */
} scarce_file;

static inline xir_network *scarce_read_once(want *w, const scarce_file *f) {
    return xir_network_read(w->ctx, f->bytes, f->size, XIR_STR("x"),
                            &XIR_INIT(xir_load_options, .format = f->format, .no_params = f->no_params), w->why);
}

static inline void scarce_read(want *w, const scarce_file *f) {
    xir_network *net, *expected;
    TRY_MAKE(w, net, scarce_read_once(w, f));
    IN_PLENTY(w, expected = scarce_read_once(w, f));
    IN_PLENTY(w,
        const char *broken = broken_invariant(net, ASK_ALL);
        if (broken) fail_msg("a network that was read: %s", broken);
        assert_true(xir_network_equal(net, expected, true));
        xir_network_free(expected);
        xir_network_free(net));
}

static inline void scarce_write(want *w, const scarce_file *f) {
    const xir_save_options options = XIR_INIT(xir_save_options, .format = f->format, .unchecked = true);
    buffer out;
    xir_network *net;
    buffer_init(&out, &memory_default);
    IN_PLENTY(w, net = scarce_read_once(w, f));
    if (f->drop) IN_PLENTY(w, (void)xir_network_set_tag(net, xir_str_of(f->drop), NULL));
    TRY(w, xir_network_write(net, keep, &out, &options, w->why));
    IN_PLENTY(w, xir_network_free(net));
    buffer_free(&out);
}

#endif
