/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Reading and writing a network by one format, without the search for the format that the public functions begin with;
 * for fuzz targets. */
#ifndef XIR_TESTS_FUZZ_NETWORK_H
#define XIR_TESTS_FUZZ_NETWORK_H

#include <string.h>
#include <xir/convert.h>
#include <xir/pass.h>
#include "fuzz.h"
#include "support/kept.h"
#include "support/probe.h"
#include "format.h"

/* A context for one input. Classes of all keys that occurred stay in it, so there is a new one now and then. */
static inline xir_context *fuzz_context(void) {
    static size_t runs;
    static xir_context *ctx;
    if (runs++ % 1000 == 0) {
        xir_context_free(ctx);
        ctx = xir_context_new(NULL);
    }
    return ctx;
}

static inline xir_network *read_from(xir_context *ctx, const format *f, const void *data, size_t size,
                                     xir_diags *why) {
    blob *whole = blob_borrow(context_alloc(ctx), data, size, false, NULL, NULL);
    must(whole != NULL);
    xir_network *net = f->read(&(format_reading){ .ctx = ctx, .name = XIR_STR("fuzz"), .why = why }, whole);
    blob_release(whole);
    return net;
}

/* Writes the network into a new buffer. */
static inline xir_status write_to(xir_network *net, const format *f, bool no_params, buffer *out, xir_diags *why) {
    buffer_init(out, context_alloc(net->ctx));
    const format_writing how = { .path = "", .no_params = no_params, .write = keep, .user = out, .why = why };
    return f->write(net, &how);
}

/* The network is written as these bytes. */
static inline void must_be(xir_network *net, const format *f, bool no_params, const void *data, size_t size,
                           xir_diags *why) {
    buffer out;
    must(write_to(net, f, no_params, &out, why) == XIR_OK);
    must(out.size == size && (size == 0 || memcmp(out.data, data, size) == 0));   /* memcmp must not get NULL */
    buffer_free(&out);
}

/* Writes and reads a network by another format: the result is written as these bytes. */
static inline void must_survive(xir_network *net, const format *between, const format *f, bool no_params,
                                const void *data, size_t size, xir_diags *why) {
    buffer file;
    must(write_to(net, between, no_params, &file, why) == XIR_OK);
    xir_network *again = read_from(net->ctx, between, file.data, file.size, why);
    must(again != NULL);
    must_be(again, f, no_params, data, size, why);
    xir_network_free(again);
    buffer_free(&file);
}

/* A network can be validated and copied. Returns the copy; *valid: whether validation found no error. */
static inline xir_network *must_copy(xir_network *net, bool *valid, xir_diags *why) {
    const xir_status status = xir_network_validate(net, why);
    must((status == XIR_OK) == (xir_diags_count_of(why, XIR_ERROR) == 0));
    xir_diags_clear(why);
    xir_network *copy = xir_network_clone(net);
    must(copy != NULL && xir_network_equal(net, copy, true));
    *valid = status == XIR_OK;
    return copy;
}

/* A check leaves `copy` equal to the network; after a conversion of it by a pass it is still valid if it was. Frees
 * the copy. */
static inline void must_convert(xir_network *net, xir_network *copy, bool valid, const char *pass, xir_diags *why) {
    (void)xir_dialect_check(copy, why);
    must(xir_network_equal(net, copy, true));
    const bool converted = xir_pass_run(copy, pass, NULL, NULL, why) == XIR_OK;
    must(!converted || !valid || xir_network_validate(copy, why) == XIR_OK);
    xir_diags_clear(why);
    xir_network_free(copy);
}

/* A network that the first pass has changed goes back by the second one, with settings of it; the file that is written
 * then can be read. Frees the network. */
static inline void must_go_back(xir_network *net, const char *pass, const char *back, const char *settings,
                                const format *f, xir_diags *why) {
    buffer out;
    must(net != NULL);
    bool valid = xir_pass_run(net, pass, NULL, NULL, why) == XIR_OK && xir_network_validate(net, why) == XIR_OK;
    valid = xir_pass_run(net, back, settings, NULL, why) == XIR_OK && valid;
    must(!valid || xir_network_validate(net, why) == XIR_OK);
    if (valid && write_to(net, f, false, &out, why) == XIR_OK) {
        xir_network *again = read_from(net->ctx, f, out.data, out.size, why);
        must(again != NULL);
        xir_network_free(again);
    }
    if (valid) buffer_free(&out);
    xir_diags_clear(why);
    xir_network_free(net);
}

#endif
