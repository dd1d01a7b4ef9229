/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Attributes that a program gives: one pass over the rows of a class makes what is stored, and finds what separate
 * steps find, in their order and words. */
#include <math.h>
#include <stdio.h>
#include <xir/icraft.h>
#include "support/hostile.h"

#define XIR_DEFS "support/rows.def"
#include <xir/declare.h>
#define XIR_DEFS "support/rows.def"
#include <xir/define.h>

static const xir_class *rows_class(void) {
    const xir_class *cls = xir_class_find_decl(ctx, xir_rows_class());
    if (cls) return cls;
    DOES(xir_class_register(ctx, xir_rows_class(), why));
    return xir_class_find_decl(ctx, xir_rows_class());
}

static xir_rows_attrs good_rows(void) {
    xir_rows_attrs a = xir_rows_init();
    a.place = xir_mtype_host(ctx);
    return a;
}

/* All findings of a network, one a line, which are then cleared. Valid until the next but one call. */
static const char *take_findings(xir_network *net) {
    static char rooms[2][4096];
    static size_t turn;
    char *room = rooms[turn++ % 2];
    size_t at = 0;
    const xir_diags *found = xir_network_diags(net);
    room[0] = '\0';
    for (size_t i = 0; i < xir_diags_count(found) && at < sizeof rooms[0] - 1; i++) {
        const xir_diag *d = xir_diags_at(found, i);
        at += (size_t)snprintf(room + at, sizeof rooms[0] - at, "%s %.*s: %.*s\n", xir_status_name(d->code),
                               (int)d->path.size, d->path.data, (int)d->message.size, d->message.data);
    }
    xir_network_clear_status(net);
    xir_diags_clear(net->diags);
    return room;
}

/* ---- stories ---------------------------------------------------------------------------------------------------- */

static xir_op *add_rows(xir_network *net, const xir_rows_attrs *a) {
    return xir_network_add(net, &(xir_op_desc){ .size = sizeof(xir_op_desc), .cls = rows_class(), .attrs = a,
                                                .id = XIR_NO_ID, .name = XIR_STR("r") });
}

static void every_fault_is_found_in_the_order_of_the_rows(void **state) {
    (void)state;
    rows_class();
    xir_network *net = new_net();
    xir_input(XIR_AT(net), "x", FP32("*", 1));
    xir_rows_attrs a = good_rows();
    a.low = 0;
    a.high = 10;
    a.count = 1;
    a.ratio = (double)NAN;
    a.free = (double)NAN;   /* which no bound excludes */
    a.word = (xir_rows_word)2;
    a.cut = (const xir_scales *)(const void *)xir_layout_default(ctx, 1);
    a.place = NULL;
    assert_null(add_rows(net, &a));
    assert_int_equal(xir_network_status(net), XIR_E_BOUNDS);
    assert_string_equal(take_findings(net),
                        "bounds /low: 0 is below 1, the least low of test::Rows 'r'\n"
                        "bounds /high: 10 is above 9, the greatest high of test::Rows 'r'\n"
                        "bounds /count: 1 is below 2, the least count of test::Rows 'r'\n"
                        "bounds /ratio: nan is below 0, the least ratio of test::Rows 'r'\n"
                        "bounds /word: 2 is not a word of rows_word, which has 2\n"
                        "type /cut: expected a icraft::xir::QuantizedScaleArray, found a icraft::xir::Layout\n"
                        "missing /place: attribute place of test::Rows 'r' is null\n");
    CHECK_ORDER(net, "0");
    xir_network_free(net);
}

static void what_is_stored_is_complete_and_shared(void **state) {
    (void)state;
    const xir_class *cls = rows_class();
    xir_network *net = new_net();
    xir_rows_attrs a = good_rows();
    a.ratio = 0.7;
    a.free = (double)NAN;
    a.cut = NULL;
    a.unit = xir_scale_from(ctx, 0.25);
    const xir_rows_attrs *stored = net_checked_attrs(net, cls, &a, true, XIR_STR(""));
    assert_non_null(stored);
    assert_true(stored->ratio == (double)0.7f);
    assert_true(isnan(stored->free));
    assert_ptr_equal(stored->cut, ((const xir_rows_attrs *)cls->defaults)->cut);
    assert_ptr_not_equal(stored->unit, a.unit);
    assert_true(xir_object_equal((const xir_object *)stored->unit, (const xir_object *)a.unit));
    assert_ptr_equal(net_checked_attrs(net, cls, &a, true, XIR_STR("")), stored);
    a.ratio = (double)0.7f;
    a.cut = stored->cut;
    a.unit = stored->unit;
    assert_ptr_equal(net_checked_attrs(net, cls, &a, true, XIR_STR("")), stored);
    assert_ptr_equal(net_attrs(net, cls, stored), stored);
    a.free = -0.0;
    const xir_rows_attrs *minus = net_checked_attrs(net, cls, &a, true, XIR_STR(""));
    a.free = 0;
    const xir_rows_attrs *plus = net_checked_attrs(net, cls, &a, true, XIR_STR(""));
    assert_true(signbit(minus->free) && !signbit(plus->free));
    /* A network of an older version holds doubles. */
    DOES(xir_network_set_text(net, XIR_TEXT_XIR_VERSION, XIR_STR("3.29.0")));
    a.ratio = 0.7;
    stored = net_checked_attrs(net, cls, &a, true, XIR_STR(""));
    assert_true(stored->ratio == 0.7);
    xir_network_free(net);
}

/* Bodies that take turns are stored again at most in the first round, whatever their hashes: the oldest of four that a
 * hash has may make room for one of them then. */
static void bodies_that_take_turns_are_stored_once(void **state) {
    (void)state;
    enum { BODIES = 40 };
    const xir_class *classes[] = { rows_class(), xir_class_find_decl(ctx, xir_transpose_class()) };
    xir_network *net = new_net();
    xir_rows_attrs rows[BODIES];
    xir_transpose_attrs turns[BODIES];
    int64_t dims[BODIES][2];
    for (int i = 0; i < BODIES; i++) {
        rows[i] = good_rows();
        rows[i].free = i + 1;
        turns[i] = xir_transpose_init();
        dims[i][0] = i + 1;
        dims[i][1] = 0;
        turns[i].dims = (xir_i64s){ dims[i], 2 };
    }
    for (size_t c = 0; c < 2; c++) {
        for (int i = 0; i < BODIES; i++) {
            for (int j = 0; j < i; j++) {
                const void *a = c ? (const void *)&turns[i] : &rows[i], *b = c ? (const void *)&turns[j] : &rows[j];
                assert_non_null(net_attrs(net, classes[c], a));
                assert_non_null(net_attrs(net, classes[c], b));
                const void *first = net_attrs(net, classes[c], a), *second = net_attrs(net, classes[c], b);
                assert_ptr_not_equal(first, second);
                assert_ptr_equal(net_attrs(net, classes[c], a), first);
                assert_ptr_equal(net_attrs(net, classes[c], b), second);
            }
        }
    }
    xir_network_free(net);
}

/* A body that a reader stored without checks does not make an equal one of a program good. */
static void what_a_reader_stored_is_checked(void **state) {
    (void)state;
    const xir_class *cls = rows_class();
    xir_network *net = new_net();
    xir_rows_attrs a = good_rows();
    a.low = 100;
    assert_non_null(net_attrs(net, cls, &a));
    assert_null(net_checked_attrs(net, cls, &a, true, XIR_STR("")));
    assert_string_equal(take_findings(net), "bounds /low: 100 is above 9, the greatest low of test::Rows\n");
    xir_network_free(net);
}

/* ---- one pass against separate steps ---------------------------------------------------------------------------- */

static xir_status check_owner(xir_network *net, xir_value *const *values, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (values[i] && value_net(values[i]) != net)
            return net_fail(net, XIR_E_INVALID, "Params in an attribute belong to another network");
    }
    return XIR_OK;
}

static xir_status check_owners(xir_network *net, const xir_class *cls, const void *body) {
    xir_status status = XIR_OK;
    for (uint32_t i = 0; i < cls->n_fields && !status; i++) {
        const xir_field *f = &cls->fields[i];
        const void *at = body_at(body, f);
        const xir_values *list = at;
        if (f->kind == XIR_KIND_PARAMS) status = check_owner(net, at, 1);
        if (f->kind == XIR_KIND_PARAMSS) status = check_owner(net, list->data, list->size);
        if (f->kind != XIR_KIND_MAP) continue;
        const xir_any map = { .kind = XIR_ANY_MAP, .as.map = *(const xir_map *)at };
        status = any_check_params(net, &map);
    }
    return status;
}

/* One step after another, each over all rows: what net_checked_attrs does at once. */
static xir_status by_steps(xir_network *net, const xir_class *cls, void *body) {
    body_fill_presets(cls, body);
    for (uint32_t i = 0; i < cls->n_fields; i++) {
        const xir_field *f = &cls->fields[i];
        const xir_object **ref = body_at(body, f);
        if (f->kind == XIR_KIND_REF && *ref && *ref != *(const xir_object **)body_at(cls->defaults, f))
            assert_non_null(*ref = net_intern(net, *ref));
    }
    if (!network_keeps_doubles(net)) assert_true(body_round(&net->arena, cls, body));
    const xir_status status = body_check(cls, body, XIR_STR("x"), XIR_STR(""), net->diags);
    return status ? status : check_owners(net, cls, body);
}

/* Params of another network, or a value of an op. */
static xir_value *wrong_value(const pool *p, xir_value *stranger) { return once_in(2) ? stranger : p->values[0]; }

/* Puts in what no file has: objects of another pool or class, values that are not the network's Params, maps. */
static void spoil(const pool *p, const xir_class *cls, void *body, xir_value *stranger, xir_entry *entry) {
    for (uint32_t i = 0; i < cls->n_fields; i++) {
        const xir_field *f = &cls->fields[i];
        void *at = body_at(body, f);
        const xir_values *list = at;
        if (!once_in(6)) continue;
        if (f->kind == XIR_KIND_REF) *(const void **)at = once_in(2) ? NULL : xir_type_bool(ctx);
        if (f->kind == XIR_KIND_PARAMS) *(xir_value **)at = wrong_value(p, stranger);
        if (f->kind == XIR_KIND_PARAMSS && list->size)
            ((xir_value **)(uintptr_t)list->data)[chance(list->size)] = once_in(3) ? NULL : wrong_value(p, stranger);
        if (f->kind != XIR_KIND_MAP) continue;
        *entry = (xir_entry){ .key = XIR_STR("k"), .value = { .kind = XIR_ANY_PARAMS } };
        entry->value.as.params = once_in(3) ? p->params[0] : wrong_value(p, stranger);
        *(xir_map *)at = (xir_map){ entry, 1 };
    }
}

typedef struct counts { size_t good, bad; } counts;

static void compare(pool *p, const xir_class *cls, xir_value *stranger, counts *n) {
    xir_entry entry;
    void *body = pool_body(p, cls, once_in(2));
    if (once_in(2)) spoil(p, cls, body, stranger, &entry);
    char *steps = malloc(cls->body_size + 1);
    assert_non_null(steps);
    memcpy(steps, body, cls->body_size);
    const xir_status expected = by_steps(p->net, cls, steps), first = xir_network_status(p->net);
    const char *findings = take_findings(p->net);
    const void *stored = net_checked_attrs(p->net, cls, body, true, XIR_STR("x"));
    if (expected) assert_int_equal(xir_network_status(p->net), first ? first : expected);
    assert_string_equal(take_findings(p->net), findings);
    assert_int_equal(stored != NULL, expected == XIR_OK);
    if (stored) {
        if (!body_equal(cls, stored, steps)) fail_msg("%s: stored otherwise than by steps", cls->key.data);
        if (!cls->plain && body_equal(cls, cls->defaults, steps)) assert_ptr_equal(stored, cls->defaults);
        if (cls->plain) assert_ptr_equal(net_checked_attrs(p->net, cls, body, true, XIR_STR("")), stored);
    }
    *(expected ? &n->bad : &n->good) += 1;
    free(steps);
}

static void one_pass_does_what_steps_do(void **state) {
    (void)state;
    counts n = { 0 };
    rows_class();
    xir_network *other = new_net();
    xir_value *stranger = xir_params_new(other, XIR_STR("s"), FP32("*", 1));
    for (int round = 0; round < 40; round++) {
        pool p;
        pool_begin(&p);
        if (round % 4 == 3) DOES(xir_network_set_text(p.net, XIR_TEXT_XIR_VERSION, XIR_STR("3.29.0")));
        const xir_class *cls;
        for (size_t i = 0; (cls = xir_context_class_at(ctx, i)); i++) {
            if (!cls->is_op || cls->opaque || !cls->n_fields || cls == rows_class()) continue;
            for (int k = 0; k < 4; k++) compare(&p, cls, stranger, &n);
        }
        pool_end(&p);
    }
    xir_network_free(other);
    if (n.good < 1000 || n.bad < 1000) fail_msg("%zu good and %zu bad bodies", n.good, n.bad);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_fault_is_found_in_the_order_of_the_rows),
        cmocka_unit_test(what_is_stored_is_complete_and_shared),
        cmocka_unit_test(bodies_that_take_turns_are_stored_once),
        cmocka_unit_test(what_a_reader_stored_is_checked),
        cmocka_unit_test(one_pass_does_what_steps_do),
    };
    return RUN_GROUP(tests);
}
