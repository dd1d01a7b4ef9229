/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Loading and saving in any format while memory is short: every allocation is refused, once and permanently. A failure
 * gives XIR_E_MEMORY, no network, no file, and the call succeeds when it is repeated. */
#include "support/faults.h"
#include <xir/icraft.h>
#include "support/load_net.h"
#include "support/often.h"
#include "support/scarce.h"

static xir_format_info tried;   /* the format of the scenario */

static size_t read_piece(void *user, void *out, size_t room) {
    raw_memory *m = user;
    size_t n = m->size - m->room < room ? m->size - m->room : room;
    memcpy(out, m->data + m->room, n);
    m->room += n;   /* the bytes read so far */
    return n;
}

static void begin(want *w) {
    set_fault(GO_ON, 0, 0);   /* no call fails, and hundreds of saves do not wait for the disk */
    IN_PLENTY(w, w->net = load_net(w->ctx));
    assert_non_null(w->net);
}

static void check_and_free(want *w, xir_network *net) {
    IN_PLENTY(w,
        const char *broken = broken_invariant(net, ASK_ALL);
        if (broken) fail_msg("a network that was loaded: %s", broken);
        assert_true(load_is_filled(net));
        xir_network_free(net));
}

static void saving_and_loading_files(want *w) {
    begin(w);
    const char *path = load_path("scarce", &tried);
    const xir_save_options how = XIR_INIT(xir_save_options, .unchecked = true, .flags = load_flags(&tried));
    TRY(w, xir_network_save(w->net, path, &how, w->why));
    assert_int_equal(scratch_count_in(scratch_folder), load_is_pair(&tried) ? 2 : 1);
    if (load_is_pair(&tried)) {
        char companion[PATH_MAX];
        size_t size;
        TRY(w, xir_params_file_find(w->ctx, tried.name, path, companion, sizeof companion, &size, w->why));
        assert_string_equal(companion, scratch("scarce.raw"));
        TRY(w, xir_params_file_name(w->ctx, tried.name, path, companion, sizeof companion, &size, w->why));
        assert_string_equal(companion, scratch("scarce.raw"));
    }
    xir_network *again;
    const xir_load_options ways[] = {
        XIR_INIT(xir_load_options, .lazy = false),
        XIR_INIT(xir_load_options, .lazy = true, .verify = XIR_VERIFY_ON_TOUCH),
        XIR_INIT(xir_load_options, .lazy = true, .verify = XIR_VERIFY_FULL),
    };
    for (size_t i = 0; i < COUNT(ways); i++) {
        TRY_MAKE(w, again, xir_network_load(w->ctx, path, &ways[i], w->why));
        check_and_free(w, again);
    }
}

static void writing_and_reading_memory(want *w) {
    begin(w);
    raw_memory file = { 0 };
    const char *raw = scratch("scarce.raw");
    const xir_save_options how = XIR_INIT(xir_save_options, .format = tried.name, .unchecked = true);
    const xir_load_options eager = XIR_INIT(xir_load_options, .params = load_is_pair(&tried) ? raw : NULL),
                           lazy = XIR_INIT(xir_load_options, .params = eager.params, .lazy = true);
    TRY(w, (file.size = 0, xir_network_write(w->net, raw_memory_write, &file, &how, w->why)));
    if (load_is_pair(&tried)) IN_PLENTY(w, assert_int_equal(xir_raw_save(w->net, raw, w->why), XIR_OK));
    xir_network *again;
    TRY_MAKE(w, again, xir_network_read(w->ctx, file.data, file.size, XIR_STR("memory"), &eager, w->why));
    check_and_free(w, again);
    TRY_MAKE(w, again, xir_network_read(w->ctx, file.data, file.size, XIR_STR("memory"), &lazy, w->why));
    check_and_free(w, again);
    TRY_MAKE(w, again, (file.room = 0, xir_network_read_stream(w->ctx, read_piece, &file, XIR_STR("stream"), &eager, w->why)));
    check_and_free(w, again);
    free(file.data);
}

static void every_allocation(void **state) {
    (void)state;
    bool both = OFTEN(5) == 5;   /* under a sanitizer the formats take turns */
    for (size_t i = 0; written_format_at(i, &tried); i++) {
        scratch_remove();
        scratch_make();
        if (both || i % 2) run_scarcely("saving and loading files", saving_and_loading_files, false);
        if (both || !(i % 2)) run_scarcely("writing and reading memory", writing_and_reading_memory, false);
    }
}

GROUP {
    scratch_make();
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_allocation) };
    return RUN_GROUP(tests);
}
