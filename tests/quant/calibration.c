/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Calibrations: what they count, that it does not depend on how samples are split, and what they refuse. */
#include <math.h>
#include <stdio.h>
#include "bins.h"
#include "support/scarce.h"
#include "support/story.h"

static const char half[] = "x: L 4; h: 0.5; y = Multiply x h; z = ReLU y; out z";

static xir_array *array_of(xir_context *in, const float *v, int64_t n) {
    const xir_type *type = xir_type_tensor(in, xir_type_float(in, XIR_FLOAT_FP32), NULL, &n, 1);
    return type ? xir_array_copy(in, type, v, (size_t)n * sizeof *v, NULL) : NULL;
}

static xir_calibration *make(void) {
    xir_calibration *c = xir_calibration_new(ctx, NULL, why);
    assert_non_null(c);
    return c;
}

static void add(xir_calibration *c, const xir_network *net, const float *v, int64_t n) {
    xir_array *in = array_of(ctx, v, n);
    DOES(xir_calibration_add(c, net, (const xir_array *const[]){ in }, 1, NULL, why));
    xir_array_free(in);
}

static xir_calibrated about(const xir_calibration *c, const char *name) {
    xir_calibrated is = XIR_INIT(xir_calibrated);
    assert_true(xir_calibration_at(c, xir_calibration_find_name(c, xir_str_of(name)), &is));
    return is;
}

/* A text that grows; it is freed with the group's allocator. */
typedef struct collected { char *data; size_t size, room; } collected;

static bool collect(void *user, const void *data, size_t size) {
    collected *t = user;
    if (t->size + size > t->room) {
        t->room = (t->size + size) * 2;
        t->data = realloc(t->data, t->room);
        assert_non_null(t->data);
    }
    memcpy(t->data + t->size, data, size);
    t->size += size;
    return true;
}

static xir_str text_of(const xir_calibration *c, collected *room) {
    *room = (collected){ 0 };
    DOES(xir_calibration_write(c, collect, room, why));
    return (xir_str){ room->data, room->size };
}

/* ---- counting -------------------------------------------------------------------------------------------------- */

static void all_values_are_counted(void **state) {
    (void)state;
    xir_network *net = story_net(half);
    xir_calibration *c = make();
    add(c, net, (float[]){ -4, 0, 1, 2 }, 4);
    add(c, net, (float[]){ -1, 8, 0, 0 }, 4);
    assert_int_equal(xir_calibration_samples(c), 2);
    assert_int_equal(xir_calibration_count(c), 3);
    const xir_calibrated x = about(c, "x"), y = about(c, "y"), z = about(c, "z");
    assert_int_equal(x.count, 8);
    assert_int_equal(x.samples, 2);
    assert_true(x.min == -4 && x.max == 8 && x.mean_min == -2.5 && x.mean_max == 5 && x.mean_abs == 6);
    assert_true(y.min == -2 && y.max == 4 && z.min == 0 && z.max == 4);
    assert_int_equal(xir_calibration_find(c, story_value(net, "y")), xir_calibration_find_name(c, XIR_STR("y")));
    assert_int_equal(xir_calibration_find(c, story_value(net, "h")), SIZE_MAX);
    xir_calibration_free(c);
    xir_network_free(net);
}

static void products_alone(void **state) {
    (void)state;
    const xir_calibration_options how = XIR_INIT(xir_calibration_options, .scope = XIR_CALIBRATE_PRODUCTS);
    xir_network *net = story_net("x: 1 4; w: params 4 2; y = ReLU x; z = Matmul y w; u = ReLU z; out u");
    xir_calibration *c = xir_calibration_new(ctx, &how, why);
    const float v[] = { 1, 2, 3, 4 };
    const xir_type *type = XIR_TENSOR(ctx, xir_type_float(ctx, XIR_FLOAT_FP32), "**", 1, 4);
    xir_array *in = xir_array_copy(ctx, type, v, sizeof v, why);
    DOES(xir_calibration_add(c, net, (const xir_array *const[]){ in }, 1, NULL, why));
    assert_int_equal(xir_calibration_count(c), 1);
    assert_true(about(c, "y").max == 4);
    xir_array_free(in);
    xir_calibration_free(c);
    xir_network_free(net);
}

/* Integers are not, and a value whose name an earlier one has is known by its id. */
static void other_elements_and_equal_names(void **state) {
    (void)state;
    xir_network *net = story_net("x: L 4; y = ReLU x; z = Cast y [target_dtype=sint32,4]; out y z");
    xir_calibration *c = make();
    DOES(xir_value_set_name(story_value(net, "y"), XIR_STR("x")));
    add(c, net, (float[]){ -4, 0, 1, 2 }, 4);
    assert_int_equal(xir_calibration_count(c), 2);
    assert_true(about(c, "x").min == -4);
    char id[40];
    snprintf(id, sizeof id, "#%lld", (long long)xir_value_id(xir_op_output(xir_network_op_at(net, 1), 0)));
    assert_true(about(c, id).min == 0);
    xir_calibration_free(c);
    xir_network_free(net);
}

/* Random samples of very different sizes give the same bins in one run, in another order, and in two runs that are
 * merged; sums of small integers are exact, so the whole text is the same. */
static void any_split_gives_the_same(void **state) {
    (void)state;
    enum { SAMPLES = 40 };
    static float samples[SAMPLES][4];
    chance_begin(54);
    for (int i = 0; i < SAMPLES; i++)
        for (int k = 0; k < 4; k++) {
            const float size = (float)(1u << chance(i % 5 ? 6 : 20));
            samples[i][k] = (float)chance(2) ? -(float)chance((uint64_t)size + 1) : (float)chance((uint64_t)size + 1);
        }
    xir_network *net = story_net(half);
    xir_calibration *whole = make(), *back = make(), *a = make(), *b = make();
    for (int i = 0; i < SAMPLES; i++) {
        add(whole, net, samples[i], 4);
        add(back, net, samples[SAMPLES - 1 - i], 4);
        add(i % 3 ? a : b, net, samples[i], 4);
    }
    collected room[3];
    const xir_str expected = text_of(whole, &room[0]), other = text_of(back, &room[1]);
    DOES(xir_calibration_merge(b, a, why));
    const xir_str merged = text_of(b, &room[2]);
    assert_true(xir_str_equal(expected, other));
    assert_true(xir_str_equal(expected, merged));
    for (int i = 0; i < 3; i++) free(room[i].data);
    xir_calibration_free(whole);
    xir_calibration_free(back);
    xir_calibration_free(a);
    xir_calibration_free(b);
    xir_network_free(net);
}

/* Each bin holds what the definition says: the numbers are counted again, one by one. */
static void bins_are_those_of_the_definition(void **state) {
    (void)state;
    static double x[20000];
    static uint64_t expected[2 * BINS];
    const xir_allocator *alloc = xir_context_allocator(ctx);
    bins b = { 0 };
    double most = 0;
    chance_begin(3);
    for (size_t i = 0; i < COUNT(x); i++) {
        x[i] = ((double)chance(1u << 30) - (1u << 29)) * ldexp(1, -(int)chance(40) - 20 + (int)(i / 2000));
        if (i % 100 == 0) x[i] = i % 200 ? 0.0 : -0.0;
    }
    for (size_t i = 0; i < COUNT(x); i += 500) {
        double here = 0;
        for (size_t k = i; k < i + 500; k++) here = fmax(here, fabs(x[k]));
        assert_true(bins_reserve(&b, alloc, 500));
        bins_add(&b, x + i, 500, here);
        most = fmax(most, here);
    }
    assert_true(most < ldexp(1, b.exponent) && most >= ldexp(1, b.exponent - 1));
    for (size_t i = 0; i < COUNT(x); i++)
        expected[(size_t)floor(fabs(x[i]) / ldexp(1, b.exponent) * BINS) + (x[i] < 0 ? BINS : 0)]++;
    static uint64_t counts[2 * BINS];
    bins_counts(&b, counts);
    for (size_t i = 0; i < 2 * BINS; i++) assert_int_equal(counts[i], expected[i]);
    /* A row that may not fit widens, and keeps its counts. */
    assert_null(b.wide);
    assert_true(bins_reserve(&b, alloc, UINT32_MAX));
    assert_non_null(b.wide);
    assert_null(b.narrow);
    bins_counts(&b, counts);
    for (size_t i = 0; i < 2 * BINS; i++) assert_int_equal(counts[i], expected[i]);
    bins_free(&b, alloc);
}

/* ---- numbers that are refused ------------------------------------------------------------------------------------ */

static void a_number_that_is_not_finite_is_named(void **state) {
    (void)state;
    xir_network *net = story_net("x: L 4; y = Log x; out y");
    static const struct { float at3; const char *what; } rows[] = {
        { -1, "value 'y' of op 'y' is NaN at element 3" }, { 0, "value 'y' of op 'y' is infinite at element 3" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        xir_calibration *c = make();
        add(c, net, (float[]){ 1, 2, 3, 4 }, 4);
        xir_array *in = array_of(ctx, (float[]){ 1, 2, 3, rows[i].at3 }, 4);
        assert_int_equal(xir_calibration_add(c, net, (const xir_array *const[]){ in }, 1, NULL, why), XIR_E_INVALID);
        check_finding(XIR_E_INVALID, rows[i].what);
        assert_int_equal(xir_calibration_add(c, net, (const xir_array *const[]){ in }, 1, NULL, why), XIR_E_INVALID);
        check_finding(XIR_E_INVALID, "part of a sample");
        double low, high;
        assert_int_equal(xir_calibration_range(c, 0, NULL, &low, &high, why), XIR_E_INVALID);
        assert_int_equal(xir_calibration_save(c, "never.json", why), XIR_E_INVALID);
        xir_diags_clear(why);
        xir_array_free(in);
        xir_calibration_free(c);
    }
    xir_network_free(net);
}

static void another_shape_and_a_watch_are_refused(void **state) {
    (void)state;
    xir_network *net = story_net(half);
    xir_calibration *c = make();
    xir_array *in = array_of(ctx, (float[]){ 1, 2, 3 }, 3);
    int user;
    const xir_run_options how = XIR_INIT(xir_run_options, .user = &user);
    assert_int_equal(xir_calibration_add(c, net, (const xir_array *const[]){ in }, 1, &how, why), XIR_E_INVALID);
    check_finding(XIR_E_INVALID, "expected NULL");
    assert_int_equal(xir_calibration_add(c, net, (const xir_array *const[]){ in }, 1, NULL, why), XIR_E_BOUNDS);
    xir_diags_clear(why);
    assert_int_equal(xir_calibration_merge(c, c, why), XIR_E_INVALID);
    xir_diags_clear(why);
    xir_array_free(in);
    xir_calibration_free(c);
    xir_network_free(net);
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static void a_file_is_read_as_it_was_written(void **state) {
    (void)state;
    xir_network *net = story_net(half);
    xir_calibration *c = make();
    add(c, net, (float[]){ -4.3f, 0, 1e-30f, 2 }, 4);
    add(c, net, (float[]){ 0.1f, 1e30f, -1e-38f, 2 }, 4);
    collected room, again;
    const xir_str text = text_of(c, &room);
    xir_calibration *read = xir_calibration_read(ctx, text, XIR_STR("c.json"), why);
    assert_non_null(read);
    assert_true(xir_str_equal(text, text_of(read, &again)));
    assert_int_equal(xir_calibration_samples(read), 2);
    /* It goes on where it was. */
    add(c, net, (float[]){ 5, 6, 7, 8 }, 4);
    add(read, net, (float[]){ 5, 6, 7, 8 }, 4);
    free(room.data);
    free(again.data);
    assert_true(xir_str_equal(text_of(c, &room), text_of(read, &again)));
    free(room.data);
    free(again.data);
    xir_calibration_free(c);
    xir_calibration_free(read);
    xir_network_free(net);
}

#define HEAD   "{\"xir.calibration\":1,\"samples\":1,\"values\":{\"x\":{"
#define BINS_  "\"bins\":{\"exponent\":1,\"negative\":\"\",\"positive\":\"AQ\"}"
#define REST   ",\"count\":1,\"max\":0,\"min\":0,\"samples\":1,\"sums\":[0,0,0]}}}"

static void what_is_not_a_calibration_is_refused(void **state) {
    (void)state;
    static const struct { const char *json; xir_status code; const char *part; } rows[] = {
        { "", XIR_E_SYNTAX, "" },
        { "[]", XIR_E_TYPE, "expected an object" },
        { "{}", XIR_E_MISSING, "missing" },
        { "{\"xir.calibration\":2}", XIR_E_UNSUPPORTED, "another version" },
        { "{\"xir.calibration\":\"1\"}", XIR_E_TYPE, "expected an integer" },
        { "{\"xir.calibration\":1,\"samples\":-1,\"values\":{}}", XIR_E_BOUNDS, "outside of its bounds" },
        { "{\"xir.calibration\":1,\"samples\":1,\"values\":[]}", XIR_E_TYPE, "expected an object" },
        { "{\"xir.calibration\":1,\"samples\":1,\"values\":{\"x\":1}}", XIR_E_TYPE, "expected an object" },
        { HEAD BINS_ "}}}", XIR_E_MISSING, "missing" },
        { HEAD BINS_ ",\"count\":2,\"max\":0,\"min\":0,\"samples\":1,\"sums\":[0,0,0]}}}", XIR_E_CORRUPT, "add up" },
        { HEAD BINS_ ",\"count\":0,\"max\":0,\"min\":0,\"samples\":1,\"sums\":[0,0,0]}}}", XIR_E_CORRUPT, "exceed" },
        { HEAD BINS_ ",\"count\":1,\"max\":0,\"min\":1,\"samples\":1,\"sums\":[0,0,0]}}}", XIR_E_BOUNDS, "exceeds" },
        { HEAD BINS_ ",\"count\":1,\"max\":0,\"min\":0,\"samples\":1,\"sums\":[0,0]}}}", XIR_E_BOUNDS, "three" },
        { HEAD BINS_ ",\"count\":1,\"max\":\"0\",\"min\":0,\"samples\":1,\"sums\":[0,0,0]}}}", XIR_E_TYPE, "a number" },
        { HEAD BINS_ ",\"count\":9e99,\"max\":0,\"min\":0,\"samples\":1,\"sums\":[0,0,0]}}}", XIR_E_TYPE, "integer" },
        { HEAD "\"bins\":{\"exponent\":1025,\"negative\":\"\",\"positive\":\"AQ\"}" REST, XIR_E_BOUNDS, "bounds" },
        { HEAD "\"bins\":{\"exponent\":1,\"negative\":\"\",\"positive\":\"A\"}" REST, XIR_E_CORRUPT, "packed" },
        { HEAD "\"bins\":{\"exponent\":1,\"negative\":\"\",\"positive\":\"A*\"}" REST, XIR_E_CORRUPT, "packed" },
        { HEAD "\"bins\":{\"exponent\":1,\"negative\":\"\",\"positive\":\"AP///w8B\"}" REST, XIR_E_CORRUPT, "packed" },
        { HEAD "\"bins\":{\"exponent\":1,\"negative\":\"\",\"positive\":\"//////////////8B\"}" REST, XIR_E_CORRUPT, "packed" },
        { HEAD "\"bins\":{\"exponent\":1,\"negative\":\"\",\"positive\":1}" REST, XIR_E_TYPE, "expected a text" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_null(xir_calibration_read(ctx, xir_str_of(rows[i].json), XIR_STR("c.json"), why));
        CHECK_STR(xir_diags_at(why, xir_diags_count(why) - 1)->file, "c.json");
        check_finding(rows[i].code, rows[i].part);
    }
    xir_calibration *c = xir_calibration_read(ctx, XIR_STR(HEAD BINS_ REST), XIR_STR("c.json"), why);
    assert_non_null(c);
    xir_calibration_free(c);
    assert_null(xir_calibration_load(ctx, "no/such/file", why));
    check_finding(XIR_E_IO, "cannot be read");
}

/* Bins of a file stay packed: a thousand values of 130 bytes take a few hundred bytes each, not 32 KiB. Ranges and a
 * file can be made of them, and numbers added. */
static void bins_of_a_file_stay_packed(void **state) {
    (void)state;
    enum { VALUES = 1000 };
    size_t n = 0;
    char *json = malloc(VALUES * 200);
    scarce memory = { .plenty = true };
    const xir_allocator alloc = scarce_allocator(&memory);
    xir_context *own = xir_context_new(&alloc);
    n += (size_t)sprintf(json, "{\"xir.calibration\":1,\"samples\":1,\"values\":{");
    for (int i = 0; i < VALUES; i++)
        n += (size_t)sprintf(json + n, "%s\n\"%04d\":{" BINS_ ",\"count\":1,\"max\":0.0,\"min\":0.0,\"samples\":1,"
                             "\"sums\":[0.0,0.0,0.0]}", i ? "," : "", i);
    n += (size_t)sprintf(json + n, "\n}}\n");
    const size_t before = memory.bytes;
    xir_calibration *c = xir_calibration_read(own, (xir_str){ json, n }, XIR_STR("c.json"), why);
    assert_non_null(c);
    assert_in_range(memory.bytes - before, 0, VALUES * 400);
    double low = 1, high = 1;
    DOES(xir_calibration_range(c, 500, NULL, &low, &high, why));
    assert_true(low == 0 && high == 0);
    collected room;
    assert_true(xir_str_equal(text_of(c, &room), (xir_str){ json, n }));
    free(room.data);
    free(json);
    xir_calibration_free(c);
    xir_context_free(own);
}

/* ---- channels ---------------------------------------------------------------------------------------------------- */

static xir_calibration *make_with_channels(void) {
    return xir_calibration_new(ctx, &XIR_INIT(xir_calibration_options, .channels = true), why);
}

static void check_channels(const xir_calibration *c, size_t n, const double *low, const double *high) {
    const double *min, *max;
    assert_int_equal(xir_calibration_channels(c, 0, &min, &max), n);
    for (size_t i = 0; i < n; i++)
        if (min[i] != low[i] || max[i] != high[i]) fail_msg("channel %zu: %g to %g", i, min[i], max[i]);
}

static void add_matrix(xir_calibration *c, const xir_network *net, const float v[6]) {
    xir_array *in = xir_array_copy(ctx, xir_value_type(story_value(net, "x")), v, 6 * sizeof *v, why);
    DOES(xir_calibration_add(c, net, (const xir_array *const[]){ in }, 1, NULL, why));
    xir_array_free(in);
}

/* Each element of the last dim has a range of its own, in a file and after merging, too. */
static void channels_have_ranges(void **state) {
    (void)state;
    static const double low[] = { -4, 0, -1 }, high[] = { 1, 9, 3 };
    xir_network *net = story_net("x: 2 3; out x");
    xir_calibration *c = make_with_channels(), *a = make_with_channels(), *b = make_with_channels();
    static float one[] = { 1, 0, 3, -4, 2, 3 }, two[] = { 0, 9, -1, 0, 0, 0 };
    add_matrix(c, net, one);
    add_matrix(c, net, two);
    check_channels(c, 3, low, high);
    add_matrix(a, net, one);
    add_matrix(b, net, two);
    DOES(xir_calibration_merge(a, b, why));
    check_channels(a, 3, low, high);
    collected room, again;
    const xir_str text = text_of(c, &room);
    xir_calibration *read = xir_calibration_read(ctx, text, XIR_STR("c.json"), why);
    assert_non_null(read);
    check_channels(read, 3, low, high);
    assert_true(xir_str_equal(text, text_of(read, &again)));
    free(room.data);
    free(again.data);
    /* Without the option there are none, and a merge with such a calibration has none. */
    xir_calibration *plain = make();
    add_matrix(plain, net, one);
    check_channels(plain, 0, NULL, NULL);
    DOES(xir_calibration_merge(a, plain, why));
    check_channels(a, 0, NULL, NULL);
    xir_calibration_free(plain);
    xir_calibration_free(read);
    xir_calibration_free(a);
    xir_calibration_free(b);
    xir_calibration_free(c);
    xir_network_free(net);
}

/* Samples that are added to a calibration from a file count channels as the samples before. */
static void channels_of_a_file_are_counted_on(void **state) {
    (void)state;
    static const double low[] = { -4, 0, -1 }, high[] = { 1, 9, 3 };
    xir_network *net = story_net("x: 2 3; out x"), *other = story_net("x: 3 2; out x");
    xir_calibration *c = make_with_channels();
    static float one[] = { 1, 0, 3, -4, 2, 3 }, two[] = { 0, 9, -1, 0, 0, 0 };
    add_matrix(c, net, one);
    collected room;
    xir_calibration *read = xir_calibration_read(ctx, text_of(c, &room), XIR_STR("c.json"), why);
    assert_non_null(read);
    add_matrix(read, net, two);
    check_channels(read, 3, low, high);
    add_matrix(read, other, two);
    check_channels(read, 0, NULL, NULL);
    free(room.data);
    xir_calibration_free(read);
    xir_calibration_free(c);
    xir_network_free(net);
    xir_network_free(other);
}

static void channels_of_a_file_are_checked(void **state) {
    (void)state;
    static const struct { const char *member; xir_status code; const char *part; } rows[] = {
        { "1", XIR_E_TYPE, "expected an object" },
        { "{\"min\":[0]}", XIR_E_MISSING, "missing" },
        { "{\"max\":[1,2],\"min\":[0]}", XIR_E_BOUNDS, "different lengths" },
        { "{\"max\":[1],\"min\":[2]}", XIR_E_BOUNDS, "exceeds" },
        { "{\"max\":[\"1\"],\"min\":[0]}", XIR_E_TYPE, "a number" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char json[400];
        snprintf(json, sizeof json, HEAD BINS_ ",\"channels\":%s" REST, rows[i].member);
        assert_null(xir_calibration_read(ctx, xir_str_of(json), XIR_STR("c.json"), why));
        check_finding(rows[i].code, rows[i].part);
    }
}

/* Every beginning of a file is refused. */
static void a_truncated_file_is_refused(void **state) {
    (void)state;
    static const char json[] = HEAD BINS_ REST;
    for (size_t n = 0; n + 1 < sizeof json; n++) {
        assert_null(xir_calibration_read(ctx, (xir_str){ json, n }, XIR_STR("c.json"), why));
        xir_diags_clear(why);
    }
}

/* The size in the file of a value with half a million numbers from a normal distribution. */
static void a_value_is_a_short_line(void **state) {
    (void)state;
    enum { N = 65536, SAMPLES = 8 };
    static float x[N];
    xir_network *net = story_net("x: L 65536; out x");
    xir_calibration *c = make();
    chance_begin(8);
    for (int s = 0; s < SAMPLES; s++) {
        for (int i = 0; i < N; i++) {
            double sum = -6;
            for (int k = 0; k < 12; k++) sum += (double)chance(1u << 20) / (1u << 20);
            x[i] = (float)sum;
        }
        add(c, net, x, N);
    }
    collected room;
    assert_in_range(text_of(c, &room).size, 1000, 16 << 10);
    free(room.data);
    xir_calibration_free(c);
    xir_network_free(net);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* Counts, writes and reads; NULL if any of it fails. */
static xir_calibration *whole(want *w, const xir_array *in) {
    collected room = { 0 };
    xir_calibration *c = xir_calibration_new(w->ctx, NULL, w->why), *read = NULL, *sum = NULL;
    xir_status status = c ? xir_calibration_add(c, w->net, (const xir_array *const[]){ in }, 1, NULL, w->why)
                          : XIR_E_MEMORY;
    if (!status) status = xir_calibration_write(c, collect, &room, w->why);
    if (!status) read = xir_calibration_read(w->ctx, (xir_str){ room.data, room.size }, XIR_STR("c"), w->why);
    if (read) sum = xir_calibration_new(w->ctx, NULL, w->why);
    if (sum && xir_calibration_merge(sum, read, w->why)) {
        xir_calibration_free(sum);
        sum = NULL;
    }
    free(room.data);
    xir_calibration_free(c);
    xir_calibration_free(read);
    return sum;
}

static void calibrating(want *w) {
    xir_array *in = NULL;
    xir_calibration *c = NULL;
    IN_PLENTY(w, w->net = story_net_in(w->ctx, half); in = array_of(w->ctx, (float[]){ 1, 2, 3, 4 }, 4));
    TRY_MAKE(w, c, whole(w, in));
    assert_int_equal(xir_calibration_count(c), 3);
    xir_calibration_free(c);
    xir_array_free(in);
}
SCARCE_TEST(calibrating)

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_values_are_counted),
        cmocka_unit_test(products_alone),
        cmocka_unit_test(other_elements_and_equal_names),
        cmocka_unit_test(any_split_gives_the_same),
        cmocka_unit_test(bins_are_those_of_the_definition),
        cmocka_unit_test(a_number_that_is_not_finite_is_named),
        cmocka_unit_test(another_shape_and_a_watch_are_refused),
        cmocka_unit_test(a_file_is_read_as_it_was_written),
        cmocka_unit_test(what_is_not_a_calibration_is_refused),
        cmocka_unit_test(bins_of_a_file_stay_packed),
        cmocka_unit_test(channels_have_ranges),
        cmocka_unit_test(channels_of_a_file_are_counted_on),
        cmocka_unit_test(channels_of_a_file_are_checked),
        cmocka_unit_test(a_truncated_file_is_refused),
        cmocka_unit_test(a_value_is_a_short_line),
        cmocka_unit_test(test_calibrating),
    };
    return RUN_GROUP(tests);
}
