/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A format with a dialect refuses bytes with a finding, or they are a network that can be validated and copied, and
 * that is written as the same bytes, through another format too. It can be checked and converted, and the result
 * goes back: the file that is written then can be read. */
#ifndef XIR_TESTS_FUZZ_DIALECT_H
#define XIR_TESTS_FUZZ_DIALECT_H

#include "network.h"

typedef struct fuzz_dialect {
    const format *f;
    bool          one;         /* a refusal has one finding                                     */
    bool          apart;       /* parameters are in files of their own                          */
    const char   *to, *back;   /* the passes                                                    */
    const char   *settings[2]; /* of the pass back, for files with an even or odd size          */
    void        (*also)(xir_network *copy, xir_diags *why);   /* what else holds; NULL: nothing */
} fuzz_dialect;

static inline int must_hold(const fuzz_dialect *d, const uint8_t *data, size_t size) {
    xir_context *ctx = fuzz_context();
    xir_diags *why = xir_diags_new(ctx);
    must(why != NULL);
    (void)probe_head(d->f, data, size);
    xir_network *net = read_from(ctx, d->f, data, size, why);
    const size_t errors = xir_diags_count_of(why, XIR_ERROR);
    must((errors == 0) == (net != NULL) && (errors <= 1 || !d->one));
    xir_diags_clear(why);
    if (net) {
        bool valid;
        xir_network *copy = must_copy(net, &valid, why);
        must_be(copy, d->f, d->apart, data, size, why);
        must_survive(net, &format_flat, d->f, d->apart, data, size, why);
        if (d->also) d->also(copy, why);
        xir_network_free(copy);
        copy = xir_network_clone(net);
        must(copy != NULL);
        must_convert(net, copy, valid, d->to, why);
        must_go_back(xir_network_clone(net), d->to, d->back, d->settings[size % 2], d->f, why);
        xir_network_free(net);
    }
    xir_diags_free(why);
    return 0;
}

#endif
