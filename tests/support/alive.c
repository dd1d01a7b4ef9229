/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include "support/alive.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct comparing {
    xir_liveness *plain, *views;
    bool          has_cast;
    uint64_t      peak;
    size_t        calls;
    char         *fault;
} comparing;

static void compare(void *user, const xir_op *op, const xir_run_memory *now) {
    comparing *c = user;
    const int64_t at = xir_liveness_position(c->plain, op);
    const uint64_t bytes = xir_liveness_bytes_at(c->plain, at), held = xir_liveness_bytes_at(c->views, at);
    const bool exact = !xir_liveness_unknown_at(c->plain, at);
    const bool same = now->values == xir_liveness_values_at(c->plain, at, NULL, 0) &&
                      (exact ? now->bytes == bytes : now->bytes >= bytes) &&
                      (c->has_cast || !exact || now->held == held) && now->held <= now->bytes;
    if (now->bytes > c->peak) c->peak = now->bytes;
    c->calls++;
    if (same || *c->fault) return;
    snprintf(c->fault, ALIVE_FAULT, "op %" PRId64 ": %u values of %" PRIu64 " bytes exist, %" PRIu64 " are held; "
             "expected %zu, %" PRIu64 " and %" PRIu64, at, now->values, now->bytes, now->held,
             xir_liveness_values_at(c->plain, at, NULL, 0), bytes, held);
}

static xir_status run(const xir_network *net, const xir_array *const *inputs, size_t n, xir_array **outputs,
                      size_t n_out, comparing *c) {
    c->plain = xir_liveness_new(net, NULL, why);
    c->views = c->plain ? xir_liveness_new(net, &XIR_INIT(xir_liveness_options, .views = true), why) : NULL;
    c->fault[0] = '\0';
    if (!c->views) fail_msg("no liveness");
    for (xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) c->has_cast |= xir_cast_of(op) != NULL;
    xir_status status = xir_network_run(net, inputs, n, outputs, n_out,
                                        &XIR_INIT(xir_run_options, .user = c, .memory = compare), why);
    xir_live_peak peak = XIR_INIT(xir_live_peak);
    DOES(xir_liveness_peak(c->plain, &peak, why));
    if (!status && !*c->fault && (c->calls != xir_network_op_count(net) || (peak.exact && peak.bytes != c->peak)))
        snprintf(c->fault, ALIVE_FAULT, "%zu calls, peak of %" PRIu64 " bytes: expected %zu and %" PRIu64, c->calls,
                 c->peak, xir_network_op_count(net), peak.bytes);
    xir_liveness_free(c->plain);
    xir_liveness_free(c->views);
    return status;
}

xir_status run_alive(const xir_network *net, const xir_array *const *inputs, size_t n, xir_array **outputs,
                     size_t n_out, char fault[ALIVE_FAULT]) {
    comparing c = { .fault = fault };
    return run(net, inputs, n, outputs, n_out, &c);
}

/* The type with 64 for every dim that is open, or 1 for the first one, the batch. */
static const xir_type *known(const xir_type *type) {
    int64_t dims[16];
    const size_t rank = xir_type_rank(type);
    assert_true(rank <= COUNT(dims));
    for (size_t i = 0; i < rank; i++) dims[i] = xir_type_dim(type, (int64_t)i, false);
    for (size_t i = 0; i < rank; i++) dims[i] = dims[i] >= 0 ? dims[i] : i ? 64 : 1;
    return xir_type_with_shape(ctx, type, dims, rank, why);
}

uint64_t check_alive(const xir_network *net, uint64_t seed, const char *file, int line) {
    enum { MOST = 64 };
    char fault[ALIVE_FAULT];
    xir_value *values[MOST];
    xir_array *in[MOST] = { NULL }, *out[MOST] = { NULL };
    comparing c = { .fault = fault };
    const size_t n = xir_network_inputs(net, values, MOST), n_out = xir_network_outputs(net, NULL, 0);
    xir_numbers ranges[MOST];
    assert_true(n <= MOST && n_out <= MOST);
    for (size_t i = 0; i < n; i++) ranges[i] = XIR_INIT(xir_numbers);
    DOES(xir_network_input_numbers(net, ranges, n, why));
    for (size_t i = 0; i < n; i++) {
        in[i] = xir_array_random_in(ctx, known(xir_value_type(values[i])), seed + i, &ranges[i], why);
        assert_non_null(in[i]);
    }
    const xir_status status = run(net, (const xir_array *const *)in, n, out, n_out, &c);
    for (size_t i = 0; i < MOST; i++) {
        xir_array_free(in[i]);
        xir_array_free(out[i]);
    }
    if (status) xir_diags_print(why, stderr);
    if (status || *fault) fail_msg("%s:%d: %s", file, line, *fault ? fault : xir_status_name(status));
    return c.peak;
}
