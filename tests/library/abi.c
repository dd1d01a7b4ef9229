/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Data from programs and plug-ins of an older or newer header: structs that begin with their size, declarations,
 * rows of arrays. Each is refused without its size, accepted with the size that is known, and accepted with a larger
 * size as long as the rest is zero. */
#include <stdio.h>
#include "sized.h"
#include "support/net.h"

/* ---- structs that begin with their size -------------------------------------------------------------------------- */

enum { ROOM = 4096 };   /* more than any struct needs */

static xir_network *net;
static xir_array   *array;

/* Calls that read the struct at `it`, or fill it. */
static xir_status load(void *it) {
    static const char json[] = "{}";   /* not a network: refused after the options were read */
    xir_network *made = xir_network_read(ctx, json, sizeof json - 1, XIR_STR("abi.json"), it, why);
    assert_null(made);
    xir_status status = xir_diags_at(why, 0)->code;
    if (status != XIR_E_ABI && status != XIR_E_UNSUPPORTED) {
        xir_diags_clear(why);
        return XIR_OK;
    }
    return status;
}

static bool write_nothing(void *user, const void *data, size_t size) {
    (void)user, (void)data, (void)size;
    return true;
}

static xir_status save(void *it) { return xir_network_write(net, write_nothing, NULL, it, why); }

static xir_status draw(void *it) { return xir_draw(net, XIR_DRAW_DOT, it, write_nothing, NULL, why); }

static xir_status settings(void *it) { return xir_pass_settings_check(ctx, it, why); }

static xir_status watches(void *it) {
    return xir_pass_settings_check(ctx, &XIR_INIT(xir_pass_settings, .watches = it, .n_watches = 1), why);
}

static xir_status run_network(void *it) {
    xir_array *out = NULL;
    xir_status status = xir_network_run(net, (const xir_array *const[]){ array }, 1, &out, 1, it, why);
    xir_array_free(out);
    return status;
}

static xir_status prove(void *it) {
    xir_proof *proof = xir_proof_new(ctx, it, why);
    xir_status status = proof ? XIR_OK : xir_diags_at(why, 0)->code;
    xir_proof_free(proof);
    return status;
}

static xir_status prove_on(void *it) { return prove(&XIR_INIT(xir_proof_options, .inputs = it, .n_inputs = 1)); }

/* The finding of a building call is in the network's list. */
static xir_status finish(const void *made) {
    xir_status status = made ? XIR_OK : xir_network_status(net);
    const xir_diag *d = xir_diags_at(xir_network_diags(net), 0);
    if (d) xir_diags_append(why, d);
    xir_network_clear_status(net);
    xir_diags_clear(xir_network_diags(net));
    return status;
}

static xir_status make_op(void *it) { return finish(xir_op_new(net, it)); }
static xir_status add_op(void *it) { return finish(xir_network_add(net, it)); }
static xir_status set_limits(void *it) { return xir_context_set_limits(ctx, it, why); }
static xir_status get_limits(void *it) { return xir_context_limits(ctx, it, why); }
static xir_status get_work(void *it) { return xir_op_work(xir_network_output_op(net), it, why); }
static xir_status walk(void *it) { return xir_network_walk(net, it, why); }

static xir_status live(void *it) {
    xir_liveness *l = xir_liveness_new(net, it, why);
    xir_status status = l ? XIR_OK : xir_diags_at(why, 0)->code;
    xir_liveness_free(l);
    return status;
}

static xir_status get_peak(void *it) {
    xir_liveness *l = xir_liveness_new(net, NULL, why);
    xir_status status = xir_liveness_peak(l, it, why);
    xir_liveness_free(l);
    return status;
}

static xir_status plan(void *it) {
    xir_memory_plan *made = xir_memory_plan_new(ctx, NULL, 0, it, why);
    xir_status status = made ? XIR_OK : xir_diags_at(why, 0)->code;
    xir_memory_plan_free(made);
    return status;
}

static xir_status make_buffers(void *it) {
    xir_liveness *l = xir_liveness_new(net, NULL, why);
    xir_memory_buffers *made = xir_memory_buffers_new(l, it, why);
    xir_status status = made ? XIR_OK : xir_diags_at(why, 0)->code;
    xir_memory_buffers_free(made);
    xir_liveness_free(l);
    return status;
}

static xir_status check_memory_types(void *it) { return xir_memory_check(net, it, why); }

static xir_status get_plan_peak(void *it) {
    xir_memory_plan *made = xir_memory_plan_new(ctx, NULL, 0, NULL, why);
    xir_status status = xir_memory_plan_peak(made, it, why);
    xir_memory_plan_free(made);
    return status;
}

static xir_status get_format(void *it) { return xir_format_at(0, it, why); }

static xir_status get_state(void *it) {
    xir_proof *proof = xir_proof_new(ctx, NULL, why);
    xir_status status = xir_proof_state_of(proof, it, why);
    xir_proof_free(proof);
    return status;
}

static xir_status get_watch(void *it) {
    xir_proof *proof = xir_proof_new(ctx, NULL, why);
    xir_status status = xir_proof_watch(proof, it, why);
    xir_proof_free(proof);
    return status;
}

static xir_status optimise(void *it) { return xir_optimise(net, it, NULL, why); }
static xir_status get_optimised(void *it) { return xir_optimise(net, NULL, it, why); }

static xir_status new_calibration(void *it) {
    xir_calibration *c = xir_calibration_new(ctx, it, why);
    xir_status status = c ? XIR_OK : xir_diags_at(why, 0)->code;
    xir_calibration_free(c);
    return status;
}

static xir_status calibrate(void *it) {
    xir_calibration *c = xir_calibration_new(ctx, NULL, why);
    xir_status status = xir_calibration_add(c, net, (const xir_array *const[]){ array }, 1, it, why);
    xir_calibration_free(c);
    return status;
}

static xir_status get_range(void *it) {
    double low, high;
    xir_calibration *c = xir_calibration_new(ctx, NULL, why);
    xir_status status = xir_calibration_add(c, net, (const xir_array *const[]){ array }, 1, NULL, why);
    if (!status) status = xir_calibration_range(c, 0, it, &low, &high, why);
    xir_calibration_free(c);
    return status;
}

#define CALIBRATION "abi-c.json"
static xir_status new_mix(void *it) {
    xir_mix *m = xir_mix_new(net, it, why);
    xir_status status = m ? XIR_OK : xir_diags_at(why, 0)->code;
    xir_mix_free(m);
    return status;
}

static xir_status get_mix_state(void *it) { return xir_mix_state_of(NULL, it, why); }

typedef struct handed {
    const char *name;
    uint32_t    size, used;     /* of the struct; up to the end of its last member */
    uint32_t    least;          /* up to the last member of the first version */
    bool        filled;         /* by the call */
    xir_status (*call)(void *it);
} handed;

#define GROWN(type, first, last, filled, call) \
    { #type, sizeof(type), SIZE_TO(type, last), SIZE_TO(type, first), filled, call }
#define TAKEN(type, last, call)  GROWN(type, last, last, false, call)
#define FILLED(type, last, call) GROWN(type, last, last, true, call)

static const handed structs[] = {
    GROWN(xir_load_options,  verify, user, false, load),
    GROWN(xir_save_options,  flags,  user, false, save),
    GROWN(xir_pass_settings, n_watches, threads, false, settings),
    TAKEN(xir_pass_watch,    options,   watches),
    GROWN(xir_draw_options, n_data, user,   false,   draw),
    GROWN(xir_run_options,   user,      arena, false, run_network),
    GROWN(xir_proof_options, relative,  max_memory, false, prove),
    TAKEN(xir_proof_input,   array,     prove_on),
    TAKEN(xir_op_desc,       n_named,   make_op),
    TAKEN(xir_op_desc,       n_named,   add_op),
    GROWN(xir_limits,        max_bytes, max_converted, false, set_limits),
    GROWN(xir_limits,        max_bytes, max_converted, true, get_limits),
    GROWN(xir_format_info,   suffixes,  operators, true, get_format),
    GROWN(xir_proof_state,   largest,   n_dims,  true,  get_state),
    FILLED(xir_pass_watch,   options,   get_watch),
    FILLED(xir_work,         element_ops, get_work),
    GROWN(xir_liveness_options, n_order, is_apart, false, live),
    FILLED(xir_live_peak,    unknown,   get_peak),
    GROWN(xir_memory_options, steps, user, false, plan),
    FILLED(xir_memory_peak,  steps,     get_plan_peak),
    TAKEN(xir_memory_buffers_options, user, make_buffers),
    TAKEN(xir_memory_check_options, align, check_memory_types),
    TAKEN(xir_walker,        params,    walk),
    TAKEN(xir_optimise_options, proof,  optimise),
    FILLED(xir_optimised,    largest,   get_optimised),
    GROWN(xir_calibration_options, scope, channels, false, new_calibration),
    GROWN(xir_run_options,   user,      arena, false, calibrate),
    TAKEN(xir_range_options, percent,   get_range),
    TAKEN(xir_mix_options,   threads,   new_mix),
    FILLED(xir_mix_state,    plain_snr, get_mix_state),
};

/* The struct as a caller makes it, with its size, at the beginning of a larger block. */
static void *make(const handed *h, void *room, uint32_t size, int beyond) {
    static xir_value *inputs[1];
    inputs[0] = value_of(net, 0);
    const xir_op_desc desc = XIR_INIT(xir_op_desc, .cls = xir_class_find_decl(ctx, xir_relu_class()), .inputs = inputs,
                                      .n_inputs = 1,
                                      .id = XIR_NO_ID, .before = xir_network_output_op(net));
    const xir_save_options json = XIR_INIT(xir_save_options, .format = "json");
    const xir_proof_input input = XIR_INIT(xir_proof_input, .name = "0", .array = array);
    memset(room, 0, ROOM);
    if (strcmp(h->name, "xir_op_desc") == 0) memcpy(room, &desc, sizeof desc);
    if (strcmp(h->name, "xir_save_options") == 0) memcpy(room, &json, sizeof json);
    if (strcmp(h->name, "xir_proof_input") == 0) memcpy(room, &input, sizeof input);
    const xir_mix_options mix = XIR_INIT(xir_mix_options, .quantize = "calibration=" CALIBRATION);
    if (strcmp(h->name, "xir_mix_options") == 0) memcpy(room, &mix, sizeof mix);
    memset((char *)room + h->size, beyond, ROOM - h->size);
    *(uint32_t *)room = size;
    return room;
}

static float one(size_t i) {
    (void)i;
    return 1;
}

static int begin(void **state) {
    if (group_begin(state)) return -1;
    net = small_net();
    array = xir_array_random(ctx, xir_value_type(value_of(net, 0)), 1, why);
    if (!net || !array || xir_params_fill_f32(value_of(net, 1), one)) return -1;
    xir_calibration *c = xir_calibration_new(ctx, NULL, why);
    xir_status status = xir_calibration_add(c, net, (const xir_array *const[]){ array }, 1, NULL, why);
    if (!status) status = xir_calibration_save(c, CALIBRATION, why);
    xir_calibration_free(c);
    return status ? -1 : 0;
}

static int end(void **state) {
    remove(CALIBRATION);
    xir_array_free(array);
    xir_network_free(net);
    return group_end(state);
}

#define EACH_STRUCT(h) for (const handed *h = structs; h < structs + COUNT(structs); h++)

static void gives(const handed *h, void *it, xir_status code, const char *part) {
    xir_diags_clear(why);
    xir_status status = h->call(it);
    if (status != code) fail_msg("%s: found %s, expected %s", h->name, xir_status_name(status), xir_status_name(code));
    if (code) check_finding(code, part);
    else assert_int_equal(xir_diags_count(why), 0);
}

static _Alignas(16) char room[ROOM];

static void a_struct_without_its_size_is_refused(void **state) {
    (void)state;
    char sentence[200];
    EACH_STRUCT(h) {
        snprintf(sentence, sizeof sentence, "%s has no size: make it with XIR_INIT(%s)", h->name, h->name);
        gives(h, make(h, room, 0, 0), XIR_E_ABI, sentence);
    }
}

static void a_struct_that_is_smaller_than_the_first_one_is_refused(void **state) {
    (void)state;
    char sentence[200];
    EACH_STRUCT(h) {
        const uint32_t sizes[] = { 1, 4, h->least - 1 };
        for (size_t i = 0; i < COUNT(sizes); i++) {
            snprintf(sentence, sizeof sentence, "%s has a size of %u bytes, at least %u were expected", h->name,
                     sizes[i], h->least);
            gives(h, make(h, room, sizes[i], 0), XIR_E_ABI, sentence);
        }
        /* uninitialised memory */
        gives(h, make(h, room, UINT32_MAX, 0), XIR_E_ABI, "has a size of 4294967295 bytes");
        gives(h, make(h, room, h->least, 0), XIR_OK, NULL);
    }
}

static void a_struct_of_the_known_size_is_accepted(void **state) {
    (void)state;
    EACH_STRUCT(h) gives(h, make(h, room, h->size, 0xA5), XIR_OK, NULL);
}

static void a_larger_struct_is_accepted_if_the_rest_is_zero(void **state) {
    (void)state;
    EACH_STRUCT(h) {
        gives(h, make(h, room, h->size + 1, 0), XIR_OK, NULL);
        gives(h, make(h, room, h->size + 64, 0), XIR_OK, NULL);
    }
}

static void a_larger_struct_is_refused_if_the_rest_is_not_zero(void **state) {
    (void)state;
    char sentence[200];
    EACH_STRUCT(h) {
        for (uint32_t at = h->size; at < h->size + 64 && !h->filled; at += 21) {
            make(h, room, h->size + 64, 0);
            room[at] = 1;
            snprintf(sentence, sizeof sentence,
                     "%s sets a member that this version does not know: byte %u is set, its size here is %u", h->name, at, h->size);
            gives(h, room, XIR_E_UNSUPPORTED, sentence);
        }
    }
}

/* Members that the library does not know are zero, and memory after the caller's struct is unchanged. */
static void a_struct_is_filled_up_to_its_size(void **state) {
    (void)state;
    EACH_STRUCT(h) {
        for (uint32_t more = 0; more <= 32 && h->filled; more += 32) {
            make(h, room, h->size + more, 0xA5);
            gives(h, room, XIR_OK, NULL);
            assert_int_equal(*(uint32_t *)(void *)room, h->size + more);
            for (uint32_t i = h->size; i < h->size + more + 8; i++) {
                assert_int_equal((uint8_t)room[i], i < h->size + more ? 0 : 0xA5);
            }
        }
    }
    make(&structs[11], room, 4, 0);
    memset(room + 4, 0x5A, 60);
    assert_int_equal(get_format(room), XIR_E_ABI);
    for (size_t i = 4; i < 64; i++) assert_int_equal(room[i], 0x5A);   /* nothing is written */
}

/* A new member changes the size of the struct only if no padding can hold it. */
static void structs_end_without_padding(void **state) {
    (void)state;
    EACH_STRUCT(h) {
        if (h->size != h->used) fail_msg("%s has %u bytes and ends at %u", h->name, h->size, h->used);
    }
}

/* ---- an older caller --------------------------------------------------------------------------------------------- */

typedef struct growing { uint32_t size, first; uint64_t second, third; } growing;

static void members_that_the_caller_does_not_know_are_zero(void **state) {
    (void)state;
    const sized s = { "growing", sizeof(growing), SIZE_TO(growing, first) };
    const growing given = { .size = SIZE_TO(growing, second), .first = 1, .second = 2, .third = 3 };
    growing out;
    assert_int_equal(sized_take(s, &out, &given, why), XIR_OK);
    assert_true(out.first == 1 && out.second == 2 && out.third == 0);
    assert_int_equal(sized_take(s, &out, NULL, why), XIR_OK);
    assert_true(out.first == 0 && out.second == 0 && out.third == 0);
    growing filled = { .size = SIZE_TO(growing, second), .third = 7 };
    assert_int_equal(sized_fill(s, &filled, &(growing){ .first = 1, .second = 2, .third = 3 }, why), XIR_OK);
    assert_int_equal(filled.size, SIZE_TO(growing, second));
    assert_true(filled.first == 1 && filled.second == 2 && filled.third == 7);
}

/* ---- arrays ------------------------------------------------------------------------------------------------------ */

static xir_status count_event(void *user, const xir_pass_event *e) {
    (void)e;
    ++*(int *)user;
    return XIR_OK;
}

static xir_status run_empty(xir_pass *at) {
    int *counter = xir_pass_user(at);
    if (counter) ++*counter;
    return XIR_OK;
}

typedef struct wide_watch { xir_pass_watch watch; uint64_t more; } wide_watch;
typedef struct wide_input { xir_proof_input input; uint64_t more; } wide_input;

static void items_are_spaced_by_the_size_of_the_first(void **state) {
    (void)state;
    int counts[2] = { 0, 0 };
    wide_watch two[2] = { { { .size = sizeof *two, .before = count_event, .user = &counts[0] }, 0 },
                          { { .size = sizeof *two, .before = count_event, .user = &counts[1] }, 0 } };
    const xir_pass_settings set = XIR_INIT(xir_pass_settings, .watches = &two[0].watch, .n_watches = 2);
    xir_pipeline *p = xir_pipeline_parse(ctx, XIR_STR("dce,cse"), why);
    DOES(xir_pipeline_run(p, net, &set, NULL, why));
    assert_true(counts[0] == 2 && counts[1] == 2);
    two[1].more = 1;
    assert_int_equal(xir_pipeline_run(p, net, &set, NULL, why), XIR_E_UNSUPPORTED);
    check_finding(XIR_E_UNSUPPORTED, "xir_pass_watch sets a member that this version does not know");
    two[1].watch.size = sizeof(xir_pass_watch);
    assert_int_equal(xir_pipeline_run(p, net, &set, NULL, why), XIR_E_ABI);
    check_finding(XIR_E_ABI, "item 1 of an array of xir_pass_watch has a size of 40 bytes, the first has 48");
    xir_pipeline_free(p);

    wide_input inputs[2] = { { { .size = sizeof *inputs, .name = "0", .array = array }, 0 },
                             { { .size = sizeof *inputs, .name = "1", .array = array }, 0 } };
    const xir_proof_options o = XIR_INIT(xir_proof_options, .inputs = &inputs[0].input, .n_inputs = 2);
    xir_proof *proof = xir_proof_new(ctx, &o, why);
    assert_non_null(proof);
    xir_proof_free(proof);
    inputs[1].more = 1;
    assert_null(xir_proof_new(ctx, &o, why));
    check_finding(XIR_E_UNSUPPORTED, "xir_proof_input sets a member that this version does not know");
    inputs[1].input.size = 0;
    assert_null(xir_proof_new(ctx, &o, why));
    check_finding(XIR_E_ABI, "item 1 of an array of xir_proof_input has a size of 0 bytes, the first has 32");
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

typedef struct wide_row { xir_row row; uint64_t more; } wide_row;
typedef struct wide_decl { xir_class_decl decl; uint64_t more; } wide_decl;
typedef struct pair_body { xir_object head; int64_t a, b; } pair_body;

static wide_row rows[] = {
    { { .decl = XIR_DECL_OBJ, .name = "test::Pair", .doc = "two numbers", .offset = sizeof(pair_body) }, 0 },
    { { .decl = XIR_DECL_FIELD, .kind = XIR_KIND_I64, .name = "a", .doc = "", .offset = offsetof(pair_body, a),
        .default_value = { .i = 5 }, .min = { .i = INT64_MIN }, .max = { .i = INT64_MAX } }, 0 },
    { { .decl = XIR_DECL_FIELD, .kind = XIR_KIND_I64, .name = "b", .doc = "", .offset = offsetof(pair_body, b),
        .default_value = { .i = 7 }, .min = { .i = INT64_MIN }, .max = { .i = INT64_MAX } }, 0 },
    { { .decl = XIR_DECL_ALIAS, .name = "test::OldPair" }, 0 },
    { { .decl = XIR_DECL_UNLIKE, .doc = "a note" }, 0 },
    { { .decl = XIR_DECL_END }, 0 },
};

static void rows_of_classes_may_be_larger(void **state) {
    (void)state;
    static wide_decl wide = { { XIR_ABI, sizeof(wide_decl), sizeof(wide_row), &rows[0].row }, 0 };
    rows[2].more = 1;
    assert_int_equal(xir_class_register(ctx, &wide.decl, why), XIR_E_UNSUPPORTED);
    check_finding(XIR_E_UNSUPPORTED, "class test::Pair sets a member that this version does not know");
    rows[2].more = 0;
    wide.more = 1;
    assert_int_equal(xir_class_register(ctx, &wide.decl, why), XIR_E_UNSUPPORTED);
    check_finding(XIR_E_UNSUPPORTED, "class test::Pair sets a member that this version does not know");
    wide.more = 0;
    assert_null(xir_class_find(ctx, XIR_STR("test::Pair")));
    DOES(xir_class_register(ctx, &wide.decl, why));
    const xir_class *cls = xir_class_find(ctx, XIR_STR("test::OldPair"));
    assert_non_null(cls);
    assert_int_equal(xir_class_field_count(cls), 2);
    CHECK_STR(xir_class_note(cls, XIR_DECL_UNLIKE, 0), "a note");
    pair_body body;
    xir_body_init(&wide.decl, &body);
    assert_true(body.a == 5 && body.b == 7);
}

static void members_that_a_smaller_row_lacks_are_zero(void **state) {
    (void)state;
    enum { SMALL = offsetof(xir_row, default_value) }; /* as if rows had ended here in an older version */
    static _Alignas(8) char small[3 * SMALL];
    const xir_row full[3] = { { .decl = XIR_DECL_OBJ, .name = "a", .flags = 1, .target = 9 },
                              { .decl = XIR_DECL_ALIAS, .name = "b" },
                              { .decl = XIR_DECL_END } };
    for (size_t i = 0; i < 3; i++) memcpy(small + i * SMALL, &full[i], SMALL);
    const xir_class_decl decl = { XIR_ABI, sizeof decl, SMALL, (const xir_row *)(const void *)small };
    row_walk w;
    const xir_row *row = row_first(&w, &decl);
    assert_true(row->decl == XIR_DECL_OBJ && row->flags == 1 && row->target == 0 && !row->form && !row->of);
    row = row_next(&w);
    assert_true(row->decl == XIR_DECL_ALIAS && *row->name == 'b' && row->default_value.i == 0 && !row->fn);
    assert_int_equal(row_next(&w)->decl, XIR_DECL_END);
}

typedef struct wide_option { xir_pass_option option; uint64_t more; } wide_option;
typedef struct wide_pass { xir_pass_decl decl; uint64_t more; } wide_pass;

static void options_of_passes_may_be_larger(void **state) {
    (void)state;
    static int counter;
    static wide_option options[2] = { { { "first", XIR_PASS_INT, "1", "a number" }, 0 },
                                      { { "last", XIR_PASS_TEXT, "x", "a text" }, 0 } };
    static wide_pass pass = {
        { XIR_PASS_HEAD("wide", "has large options"), .level = XIR_LEVEL_EXACT, .options = &options[0].option,
          .n_options = 2,
          .run = run_empty, .user = &counter }, 0,
    };
    pass.decl.size = sizeof pass;
    pass.decl.option_size = sizeof *options;
    options[1].more = 1;
    assert_int_equal(xir_pass_register(ctx, &pass.decl, why), XIR_E_UNSUPPORTED);
    check_finding(XIR_E_UNSUPPORTED, "the pass wide sets a member that this version does not know");
    options[1].more = 0;
    pass.more = 1;
    assert_int_equal(xir_pass_register(ctx, &pass.decl, why), XIR_E_UNSUPPORTED);
    xir_diags_clear(why);
    pass.more = 0;
    pass.decl.option_size = sizeof(xir_pass_option) - 1;
    assert_int_equal(xir_pass_register(ctx, &pass.decl, why), XIR_E_ABI);
    check_finding(XIR_E_ABI, "another version of the binary interface");
    pass.decl.option_size = sizeof *options;
    DOES(xir_pass_register(ctx, &pass.decl, why));
    xir_pass_option o;
    assert_true(xir_pass_option_at(&pass.decl, 1, &o));
    assert_string_equal(o.name, "last");
    assert_false(xir_pass_option_at(&pass.decl, 2, &o));
    xir_pipeline *p = xir_pipeline_parse(ctx, XIR_STR("wide{last=\"a b\",first=2}"), why);
    assert_non_null(p);
    xir_text_buffer text;
    DOES(xir_pipeline_print(p, &text));
    CHECK_STR(((xir_str){ text.data, text.size }), "wide{first=2,last=\"a b\"}");
    xir_text_free(&text);
    DOES(xir_pipeline_run(p, net, NULL, NULL, why));
    assert_int_equal(counter, 1);   /* `run` got the declaration's own */
    xir_pipeline_free(p);
}

typedef struct wide_pattern_row { xir_pattern_row row; uint64_t more; } wide_pattern_row;
typedef struct wide_pattern { xir_pattern_decl decl; uint64_t more; } wide_pattern;
typedef struct wide_rule { xir_rule rule; uint64_t more; } wide_rule;

static xir_verdict count_match(xir_rewriter *at, const xir_match *m, const void *user) {
    (void)at, (void)m;
    ++**(int *const *)user;   /* what `user` points to is constant; it may point to what is not */
    return XIR_REWRITE_LEFT;
}

static void rows_of_patterns_and_rules_may_be_larger(void **state) {
    (void)state;
    static wide_pattern_row pattern_rows[2] = { { { XIR_ROW_ANY }, 0 },
                                                { { XIR_ROW_OP(xir_relu_class), XIR_ROW_INPUTS(0) }, 0 } };
    wide_pattern wide = { { .abi = XIR_ABI, .size = sizeof wide, .row_size = sizeof *pattern_rows, .name = "wide",
                            .rows = &pattern_rows[0].row, .n_rows = 2 }, 0 };
    pattern_rows[1].more = 1;
    assert_null(xir_pattern_new(ctx, &wide.decl, why));
    check_finding(XIR_E_UNSUPPORTED, "pattern 'wide', row 1: it sets a member that this version does not know");
    pattern_rows[1].more = 0;
    wide.more = 1;
    assert_null(xir_pattern_new(ctx, &wide.decl, why));
    check_finding(XIR_E_UNSUPPORTED, "the pattern sets a member that this version does not know");
    wide.more = 0;
    wide.decl.row_size = offsetof(xir_pattern_row, type) - 1;   /* less than any caller has */
    assert_null(xir_pattern_new(ctx, &wide.decl, why));
    check_finding(XIR_E_ABI, "another version of the binary interface");
    wide.decl.row_size = sizeof *pattern_rows;
    xir_pattern *pattern = xir_pattern_new(ctx, &wide.decl, why);
    assert_non_null(pattern);

    int counts[2] = { 0, 0 }, *each[2] = { &counts[0], &counts[1] };
    wide_rule rules[2] = { { { pattern, count_match, &each[0] }, 0 }, { { pattern, count_match, &each[1] }, 0 } };
    DOES(xir_network_rewrite(net, &rules[0].rule, 2, sizeof *rules, 0, NULL, why));
    assert_true(counts[0] == 1 && counts[1] == 1);
    rules[1].more = 1;
    assert_int_equal(xir_network_rewrite(net, &rules[0].rule, 2, sizeof *rules, 0, NULL, why), XIR_E_UNSUPPORTED);
    check_finding(XIR_E_UNSUPPORTED, "rule 1 sets a member that this version does not know");
    assert_int_equal(xir_network_rewrite(net, &rules[0].rule, 2, 0, 0, NULL, why), XIR_E_ABI);
    check_finding(XIR_E_ABI, "expected a rule of sizeof(xir_rule) bytes, found 0");
    xir_pattern_free(pattern);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_struct_without_its_size_is_refused),
        cmocka_unit_test(a_struct_that_is_smaller_than_the_first_one_is_refused),
        cmocka_unit_test(a_struct_of_the_known_size_is_accepted),
        cmocka_unit_test(a_larger_struct_is_accepted_if_the_rest_is_zero),
        cmocka_unit_test(a_larger_struct_is_refused_if_the_rest_is_not_zero),
        cmocka_unit_test(a_struct_is_filled_up_to_its_size),
        cmocka_unit_test(structs_end_without_padding),
        cmocka_unit_test(members_that_the_caller_does_not_know_are_zero),
        cmocka_unit_test(items_are_spaced_by_the_size_of_the_first),
        cmocka_unit_test(rows_of_classes_may_be_larger),
        cmocka_unit_test(members_that_a_smaller_row_lacks_are_zero),
        cmocka_unit_test(options_of_passes_may_be_larger),
        cmocka_unit_test(rows_of_patterns_and_rules_may_be_larger),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
