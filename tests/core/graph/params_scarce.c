/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Params when memory runs out: after a refused allocation they have their old bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "graph.h"
#include "support/program.h"
#include "support/raw_net.h"

/* Counts releases. */
typedef struct lender { int released; } lender;
static void release(void *user, const void *data) {
    lender *l = user;
    (void)data;
    l->released++;
}

static void low_byte(void *user, size_t i, void *out) {
    (void)user;
    *(uint8_t *)out = (uint8_t)i;
}

typedef struct meter { size_t calls, refuse_from, refuse_to; uint64_t in_use; } meter;

static void *metered(void *user, void *block, size_t old_size, size_t size) {
    meter *m = user;
    if (size == 0) {
        m->in_use -= old_size;
        free(block);
        return NULL;
    }
    m->calls++;
    if (m->calls >= m->refuse_from && m->calls < m->refuse_to) return NULL;
    void *now = realloc(block, size);
    if (now) m->in_use += size - (block ? old_size : 0);
    return now;
}

static void a_refused_allocation_leaves_the_old_bytes(void **state) {
    (void)state;
    enum { COPY_NEW, BORROW_NEW, SET_COPY, SET_BORROW, EDIT, LOAD, FILL, SCENARIOS };
    enum { N = 100000 };   /* larger than any chunk that the arena has at hand */
    static uint8_t bytes[N] = { 1, 2, 3 };
    const xir_str called = { memset(calloc(N, 1), 'q', N), N };
    for (int scenario = 0; scenario < SCENARIOS; scenario++) {
        for (size_t n = 1;; n++) {
            meter m = { .refuse_from = SIZE_MAX };
            lender l = { 0 };
            xir_context *ctx = xir_context_new(&(xir_allocator){ metered, &m });
            xir_network *net = xir_network_new(ctx, "oom", XIR_FRAMEWORK_ONNX, "1");
            const xir_type *type = raw_bytes_type(ctx, N);
            xir_value *p = xir_params_new(net, XIR_STR("p"), type), *q = p;
            assert_int_equal(xir_params_set_borrow(p, bytes, N, NULL, NULL), XIR_OK);
            value_params(p)->data->mapped = true;
            m.refuse_from = m.calls + n;
            m.refuse_to = m.refuse_from + 1;
            bool done = false;
            switch (scenario) {
            case COPY_NEW:   done = (q = xir_params_copy(net, called, type, bytes, N)) != NULL; break;
            case BORROW_NEW: done = (q = xir_params_borrow(net, called, type, bytes, N, release, &l)) != NULL; break;
            case SET_COPY:   done = xir_params_set_copy(p, bytes, N) == XIR_OK; break;
            case SET_BORROW: done = xir_params_set_borrow(p, bytes, N, release, &l) == XIR_OK; break;
            case EDIT:       done = xir_params_edit(p) != NULL; break;
            case LOAD:       done = xir_params_load(p) == XIR_OK; break;
            case FILL:       done = xir_params_fill(p, 1, low_byte, NULL) == XIR_OK; break;
            }
            bool refused = m.calls >= m.refuse_from;
            m.refuse_from = SIZE_MAX;
            if (!done) {
                assert_true(refused);
                assert_int_equal(xir_network_status(net), XIR_E_MEMORY);
                assert_int_equal(l.released, 0);
                assert_ptr_equal(xir_params_data(p, NULL), bytes);
            } else if (scenario != FILL) {
                assert_memory_equal(xir_params_data(q, NULL), bytes, N);
            }
            xir_network_free(net);
            xir_context_free(ctx);
            assert_int_equal(m.in_use, 0);
            if (!refused) break;
        }
    }
    free((char *)(uintptr_t)called.data);
}

GROUP {
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_refused_allocation_leaves_the_old_bytes) };
    return cmocka_run_group_tests_name("params_scarce", tests, NULL, NULL);
}
