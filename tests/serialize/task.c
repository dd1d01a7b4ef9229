/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Loading and saving that the caller watches and cancels, in every format. A cancelled call gives XIR_E_CANCELLED with
 * one finding, no network and no file, the old file and the network as they were. */
#include <xir/icraft.h>
#include "support/load_net.h"
#include "support/often.h"
#include "support/scarce.h"
#include "task.h"

/* ---- a caller -------------------------------------------------------------------------------------------------- */

typedef struct caller {
    size_t   asked, stop;      /* how often `cancel` was called; it returns true from call `stop` on */
    size_t   told;
    uint64_t done, total, most;   /* `most`: the most bytes between two calls */
} caller;

static bool cancel(void *user) {
    caller *c = user;
    return c->asked++ >= c->stop;
}

static void progress(void *user, uint64_t done, uint64_t total) {
    caller *c = user;
    assert_true(done >= c->done && total >= c->total && (!total || done <= total));
    if (done - c->done > c->most) c->most = done - c->done;
    c->done = done;
    c->total = total;
    c->told++;
}

#define WATCHED(c) .cancel = cancel, .progress = progress, .user = (c)

static void is_cancelled(const char *what, size_t stop) {
    if (xir_diags_count_of(why, XIR_ERROR) == 1) {
        for (size_t i = 0; i < xir_diags_count(why); i++)
            if (xir_diags_at(why, i)->code == XIR_E_CANCELLED) {
                xir_diags_clear(why);
                return;
            }
    }
    xir_diags_print(why, stderr);
    fail_msg("%s, cancelled at call %zu: expected one error, that of the cancelling", what, stop);
}

static void is_finished(const char *what, const caller *c) {
    if (!c->total || c->done != c->total) fail_msg("%s: %zu of %zu bytes", what, (size_t)c->done, (size_t)c->total);
    if (c->told < 2) fail_msg("%s: %zu calls of progress", what, c->told);
}

/* Every call at first, then fewer: a sanitizer takes long. */
static size_t next_stop(size_t stop) { return stop + 1 + (stop > 60 ? stop / OFTEN(20) : 0); }

/* ---- files of every format ------------------------------------------------------------------------------------- */

static void try_loads(const char *path, const char *format, bool lazy) {
    for (size_t stop = 0;; stop = next_stop(stop)) {
        caller c = { .stop = stop };
        const xir_load_options how = XIR_INIT(xir_load_options, .format = format, .lazy = lazy,
                                              .verify = XIR_VERIFY_FULL, WATCHED(&c));
        xir_network *net = xir_network_load(ctx, path, &how, why);
        if (net) {
            xir_diags_clear(why);
            assert_true(c.asked <= stop);
            is_finished(path, &c);
            xir_network_free(net);
            return;
        }
        is_cancelled(path, stop);
    }
}

static void try_reads(const void *bytes, size_t size, const char *format) {
    for (size_t stop = 0;; stop = next_stop(stop)) {
        caller c = { .stop = stop };
        const xir_load_options how = XIR_INIT(xir_load_options, .format = format, WATCHED(&c));
        xir_network *net = xir_network_read(ctx, bytes, size, XIR_STR("bytes"), &how, why);
        if (net) {
            xir_diags_clear(why);
            is_finished(format, &c);
            xir_network_free(net);
            return;
        }
        is_cancelled(format, stop);
    }
}

/* Saves over the file at `path`, and compares it and the network after each attempt. */
static void try_saves(xir_network *net, const char *path, const char *format, uint64_t flags) {
    size_t old_size, size;
    const int files = scratch_count_in(scratch_folder);
    uint8_t *old = scratch_get(path, &old_size);
    char *before = picture(net);
    for (size_t stop = 0;; stop = next_stop(stop)) {
        caller c = { .stop = stop };
        const xir_save_options how = XIR_INIT(xir_save_options, .format = format, .unchecked = true, .flags = flags,
                                              WATCHED(&c));
        const xir_status status = xir_network_save(net, path, &how, why);
        uint8_t *now = scratch_get(path, &size);
        assert_int_equal(size, old_size);
        assert_memory_equal(now, old, size);    /* saved again, it has the same bytes */
        free(now);
        assert_int_equal(scratch_count_in(scratch_folder), files);
        char *after = picture(net);
        assert_string_equal(after, before);
        free(after);
        if (!status) {
            xir_diags_clear(why);
            is_finished(path, &c);
            break;
        }
        assert_int_equal(status, XIR_E_CANCELLED);
        is_cancelled(path, stop);
    }
    free(before);
    free(old);
}

static bool count_bytes(void *user, const void *data, size_t size) {
    (void)data;
    *(size_t *)user += size;
    return true;
}

static void try_writes(xir_network *net, const char *format) {
    for (size_t stop = 0;; stop = next_stop(stop)) {
        caller c = { .stop = stop };
        size_t size = 0;
        const xir_save_options how = XIR_INIT(xir_save_options, .format = format, .unchecked = true, WATCHED(&c));
        const xir_status status = xir_network_write(net, count_bytes, &size, &how, why);
        if (!status) {
            xir_diags_clear(why);
            is_finished(format, &c);
            assert_true(size);
            return;
        }
        assert_int_equal(status, XIR_E_CANCELLED);
        is_cancelled(format, stop);
    }
}

static void try_format(xir_network *net, const xir_format_info *f) {
    const char *path = load_path("net", f);
    size_t size;
    load_save(net, path, f);
    xir_diags_clear(why);
    task_each = 1;
    try_saves(net, path, f->name, load_flags(f));
    try_writes(net, f->name);
    if (f->reads) {
        try_loads(path, f->name, false);
        try_loads(path, f->name, true);
        uint8_t *bytes = scratch_get(path, &size);
        try_reads(bytes, size, f->name);
        free(bytes);
    }
    task_each = TASK_EACH;
}

static void formats_of_any_network(void **state) {
    (void)state;
    xir_format_info f;
    xir_network *net = load_net(ctx);
    for (size_t i = 0; written_format_at(i, &f); i++) try_format(net, &f);
    xir_network_free(net);
}

/* A convolution with its operators. */
static void formats_of_dialects(void **state) {
    (void)state;
    xir_format_info f = XIR_INIT(xir_format_info);
    for (size_t i = 0; xir_format_at(i, &f, NULL) == XIR_OK; i++) {
        char steps[80];
        if (!f.writes || !f.dialect) continue;
        snprintf(steps, sizeof steps, "xir-to-%s", f.operators ? f.operators : f.name);
        xir_network *net = small_net();
        raw_fill(value_of(net, 1));
        xir_pipeline *pipeline = xir_pipeline_parse(ctx, xir_str_of(steps), why);
        if (!pipeline || xir_pipeline_run(pipeline, net, NULL, NULL, why)) {
            xir_diags_print(why, stderr);
            fail_msg("%s", steps);
        }
        xir_pipeline_free(pipeline);
        xir_diags_clear(why);
        try_format(net, &f);
        xir_network_free(net);
    }
}

/* ---- parameters ------------------------------------------------------------------------------------------------ */

static void parameters_alone(void **state) {
    (void)state;
    xir_network *net = load_net(ctx);
    const xir_save_options plain = XIR_INIT(xir_save_options, .format = "json");
    const char *path = scratch("alone.raw");
    assert_int_equal(xir_network_save_params(net, path, &plain, why), XIR_OK);
    task_each = 1;
    xir_status status = XIR_E_CANCELLED;
    for (size_t stop = 0; status; stop++) {
        caller c = { .stop = stop };
        const xir_load_options how = XIR_INIT(xir_load_options, .format = "json", WATCHED(&c));
        xir_value *v = value_of(net, load_params[2].id);
        uint64_t size;
        const void *old = xir_params_data(v, &size);
        status = xir_network_load_params(net, path, &how, why);
        if (!status) break;
        assert_int_equal(status, XIR_E_CANCELLED);
        is_cancelled("parameters", stop);
        assert_ptr_equal(xir_params_data(v, &size), old);
    }
    task_each = TASK_EACH;
    assert_true(load_is_filled(net));
    xir_network_free(net);
}

/* Between two calls there is bounded work, however large a parameter is. */
static void large_parameters(void **state) {
    (void)state;
    enum { SIZE = 24 << 20, PIECE = 4 << 20 };
    static const char *const names[] = { "large.json", "large.fb", "large.imodel" };
    const raw_param one[] = { { 3, SIZE / 4 * 4 } };
    xir_value *v;
    xir_network *net = raw_network(ctx, one, 1, 1, &v);
    raw_fill(v);
    for (size_t i = 0; i < COUNT(names); i++) {
        caller saves = { .stop = SIZE_MAX }, loads = { .stop = SIZE_MAX };
        const xir_save_options save = XIR_INIT(xir_save_options, .unchecked = true, WATCHED(&saves));
        const xir_load_options load = XIR_INIT(xir_load_options, WATCHED(&loads));
        assert_int_equal(xir_network_save(net, scratch(names[i]), &save, why), XIR_OK);
        xir_network *again = xir_network_load(ctx, scratch(names[i]), &load, why);
        assert_non_null(again);
        xir_network_free(again);
        is_finished(names[i], &saves);
        is_finished(names[i], &loads);
        assert_true(saves.asked >= SIZE / PIECE && loads.asked >= SIZE / TASK_EACH);
        assert_true(loads.total >= 2 * (uint64_t)SIZE && saves.total >= 2 * (uint64_t)SIZE);
        if (loads.most > SIZE + SIZE / 2) fail_msg("%s: %zu bytes at once", names[i], (size_t)loads.most);
    }
    xir_network_free(net);
}

/* ---- callers that do other things ------------------------------------------------------------------------------ */

static void load_another(void *user, uint64_t done, uint64_t total) {
    (void)done;
    (void)total;
    xir_network *net = xir_network_load(ctx, user, NULL, NULL);
    assert_non_null(net);
    xir_network_free(net);
}

static void a_caller_loads_another_network(void **state) {
    (void)state;
    xir_network *net = load_net(ctx);
    load_save(net, scratch("other.fb"), &(xir_format_info){ .name = "fb" });
    task_each = 1;
    const xir_load_options how = XIR_INIT(xir_load_options, .progress = load_another,
                                          .user = (void *)(uintptr_t)scratch("other.fb"));
    xir_network *again = load_must(scratch("other.fb"), &how);
    task_each = TASK_EACH;
    assert_true(xir_network_equal(again, net, true));
    xir_network_free(again);
    xir_network_free(net);
}

/* A failure of the file comes before the cancelling, and keeps its finding. */
static void other_failures(void **state) {
    (void)state;
    caller c = { .stop = SIZE_MAX };
    const xir_load_options how = XIR_INIT(xir_load_options, WATCHED(&c));
    scratch_put(scratch("bad.json"), "{\"ops\": [}", 10);
    FAILS_TO_LOAD(xir_network_load(ctx, scratch("bad.json"), &how, why), XIR_E_SYNTAX, "expected");
    c = (caller){ .stop = SIZE_MAX };
    FAILS_TO_LOAD(xir_network_load(ctx, scratch("none.json"), &how, why), XIR_E_IO, "No such file");
    c = (caller){ .stop = 0 };
    assert_null(xir_network_load(ctx, scratch("bad.json"), &how, NULL));
}

static void scarce_task(want *w) {
    caller c = { .stop = SIZE_MAX };
    const xir_save_options save = XIR_INIT(xir_save_options, .unchecked = true, WATCHED(&c));
    IN_PLENTY(w, w->net = load_net(w->ctx));
    TRY(w, (c = (caller){ .stop = SIZE_MAX }, xir_network_save(w->net, scratch("scarce.fb"), &save, w->why)));
    const xir_load_options load = XIR_INIT(xir_load_options, WATCHED(&c));
    xir_network *again;
    TRY_MAKE(w, again, (c = (caller){ .stop = SIZE_MAX }, xir_network_load(w->ctx, scratch("scarce.fb"), &load, w->why)));
    IN_PLENTY(w, xir_network_free(again));
}

SCARCE_TEST(scarce_task)

GROUP {
    scratch_make();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats_of_any_network),
        cmocka_unit_test(formats_of_dialects),
        cmocka_unit_test(parameters_alone),
        cmocka_unit_test(large_parameters),
        cmocka_unit_test(a_caller_loads_another_network),
        cmocka_unit_test(other_failures),
        cmocka_unit_test(test_scarce_task),
    };
    return RUN_GROUP(tests);
}
