/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Resolving without memory: every allocation is refused, once and for good. The status is that of the first finding,
 * and what could not be resolved is resolved by the next call. */
#include <stdio.h>
#include "graph.h"
#include "support/net.h"
#include "support/scarce.h"

enum { OPS = TARGETS + 4, MOST = 300 };   /* more targets than a network lists, so that ops need memory for theirs */

/* The text of a network with ops whose targets are of an unknown class. `core` is that of the first one. */
static const char *text_of(const char *core) {
    static char text[8000];
    int n = snprintf(text, sizeof text, "{\"_type_key\":\"icraft::xir::Network\",\"ops\":[");
    for (int i = 0; i < OPS; i++) {
        char own[16];
        snprintf(own, sizeof own, "\"c%d\"", i);
        n += snprintf(text + n, sizeof text - (size_t)n, "%s{\"_type_key\":\"own::Op\",\"compile_target\":"
                      "{\"_type_key\":\"own::Target\",\"core\":%s},\"op_id\":%d}", i ? "," : "", i ? own : core, i);
    }
    snprintf(text + n, sizeof text - (size_t)n, "]}");
    return text;
}

static const xir_target_row row = { XIR_TARGET_HEAD("own::Target", "own", "a target"), .cores = "c0" };

/* Returns how many ops have a target of the class that has become known. */
static size_t resolved(xir_context *with, const xir_network *net) {
    const int kind = xir_target_find(with, XIR_STR("own"));
    size_t n = 0;
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op))
        n += (int)xir_target_kind_of(xir_op_target(op)) == kind;
    return n;
}

/* Resolves the network of a text without allocation `refuse`, if there are so many: false. With memory, the status is
 * `status`. */
static bool resolve_without(const char *text, size_t refuse, bool for_good, xir_status status) {
    scarce memory = { .plenty = true, .refuse = refuse, .for_good = for_good };
    const xir_allocator alloc = scarce_allocator(&memory);
    xir_context *with = xir_context_new(&alloc);
    xir_diags *found = xir_diags_new(with);
    xir_network *net = xir_json_read(with, xir_str_of(text), XIR_STR("x"), found);
    assert_non_null(net);
    DOES(xir_target_register(with, &(const xir_target_row *){ &row }, 1, found));
    const size_t known = status ? OPS - 1 : OPS;

    /* A small piece of the network's memory is an allocation only where the network has no room. */
    memory = (scarce){ .blocks = memory.blocks, .bytes = memory.bytes, .refuse = 0, .for_good = true };
    while (arena_take(&net->arena, 1)) {}
    memory = (scarce){ .blocks = memory.blocks, .bytes = memory.bytes, .refuse = refuse, .for_good = for_good };
    const xir_status got = xir_network_resolve(net, found);
    const bool refused = memory.refused;
    memory.plenty = true;
    const xir_diag *first = xir_diags_at(found, 0);
    if (got != (first ? first->code : XIR_OK) || (!refused && got != status) ||
        (!got && resolved(with, net) != OPS))
        fail_msg("allocation %zu%s: %s, the first finding is %s", refuse, for_good ? " and all after" : "",
                 xir_status_name(got), first ? xir_status_name(first->code) : "missing");
    CHECK_SOUND(net);
    assert_int_equal(xir_network_resolve(net, NULL), status);
    assert_int_equal(resolved(with, net), known);
    xir_network_free(net);
    xir_diags_free(found);
    xir_context_free(with);
    assert_int_equal(memory.blocks, 0);
    return refused;
}

static void check(const char *core, xir_status status) {
    const char *text = text_of(core);
    for (int for_good = 0; for_good < 2; for_good++) {
        size_t n = 0;
        while (n < MOST && resolve_without(text, n, for_good, status)) n++;
        assert_true(n > 0 && n < MOST);
    }
}

static void the_first_finding_is_about_memory(void **state) {
    (void)state;
    check("\"c0\"", XIR_OK);
}

static void a_finding_before_it_keeps_its_status(void **state) {
    (void)state;
    check("2", XIR_E_TYPE);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_finding_is_about_memory),
        cmocka_unit_test(a_finding_before_it_keeps_its_status),
    };
    return cmocka_run_group_tests(tests, group_begin, group_end);
}
