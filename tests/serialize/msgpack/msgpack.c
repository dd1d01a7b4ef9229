/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Valid MessagePack of networks: what JSON can hold comes back byte for byte; a file uses the shortest forms, and is
 * read from any forms. tests/golden/msgpack has the bytes of a file. Parameters are in params.c. */
#include <math.h>
#include "support/probe.h"
#include "support/json_repeats.h"
#include "support/msgpack_net.h"
#include "support/msgpack_text.h"
#include "support/scratch.h"
#include "support/skips.h"
#include "msgpack/packed.h"
#include "json/json.h"

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

/* ---- there and back ---------------------------------------------------------------------------------------- */

static void small_networks_come_back(void **state) {
    (void)state;
    check_packs(SMALL, strlen(SMALL));
    static const char empty[] = NETWORK_OF("3.33.1.0", "");
    check_packs(empty, strlen(empty));
    static const char least[] = "{\"_type_key\":\"icraft::xir::Network\",\"ops\":[],\"tags\":{}}";
    check_packs(least, strlen(least));
}

static void random_networks_come_back(void **state) {
    (void)state;
    for (int i = 0; i < 400; i++) {
        paper p = random_network(8);
        check_packs(p.data, p.size);
        free(p.data);
    }
}

/* Reads what another writer made of the JSON text; writing it must give `written`. */
static void check_foreign(const char *text, size_t size, const pack_style *style, const char *written,
                          size_t written_size) {
    paper p = { 0 };
    pack_json(&p, text, size, style);
    if (!style || !style->shuffled) assert_true(probe_head(&format_msgpack, p.data, p.size));
    xir_network *net = unpack_net(p.data, p.size);
    check_prints(net, 0, written, written_size);
    xir_network_free(net);
    free(p.data);
}

static void any_writer_is_read(void **state) {
    (void)state;
    static const pack_style styles[] = { { false, false }, { true, false }, { false, true }, { true, true } };
    for (int i = 0; i < 400; i++) {
        paper p = random_network(8);
        check_foreign(p.data, p.size, &styles[i % 4], p.data, p.size);
        free(p.data);
    }
}

static void parts_that_repeat_are_read_as_if_they_did_not(void **state) {
    (void)state;
    for (int i = 0; i < 600; i++) {
        paper written = { 0 }, other = { 0 };
        random_repeats(&written, &other);
        check_packs(written.data, written.size);
        check_foreign(other.data, other.size, NULL, written.data, written.size);
        free(written.data);
        free(other.data);
    }
}

typedef struct pieces { paper all; size_t n; } pieces;

static bool collect_pieces(void *user, const void *data, size_t size) {
    pieces *p = user;
    p->n++;
    put_bytes(&p->all, data, size);
    return true;
}

/* Written items are remembered across ops, and forgotten when a piece is flushed. */
static void long_networks_are_written_in_pieces(void **state) {
    (void)state;
    xir_network *net = xir_network_new(ctx, "long", XIR_FRAMEWORK_PYTORCH, "1.9");
    xir_at b = XIR_AT(net);
    xir_value *x = xir_input(b, "", XIR_TENSOR(ctx, xir_type_float(ctx, XIR_FLOAT_FP32), "NHWC", 1, 4, 4, 3)),
               *first = x;
    for (int i = 0; i < 3000; i++) {
        xir_relu_attrs six = xir_relu_init();
        six.max_value = 6;   /* an infinity would be a text in JSON */
        if (i % 3) x = XIR_OP(b, relu, .input = x, .attrs = &six);
        else x = XIR_OP(b, add, .lhs = x, .rhs = i % 2 ? x : first);
    }
    xir_output(b, XIR_VALUES(x));
    assert_int_equal(xir_network_status(net), XIR_OK);
    pieces p = { { 0 }, 0 };
    format_writing how = { .path = "", .write = collect_pieces, .user = &p, .why = why };
    assert_int_equal(format_msgpack.write(net, &how), XIR_OK);
    assert_true(p.n > 3);
    xir_text_buffer json;
    assert_int_equal(xir_json_print(net, 0, &json), XIR_OK);
    xir_network *again = unpack_net(p.all.data, p.all.size);
    check_prints(again, 0, json.data, json.size);
    paper plain = { 0 };
    pack_json(&plain, json.data, json.size, NULL);   /* packed without the library */
    check_same(p.all.data, p.all.size, plain.data, plain.size);
    xir_text_free(&json);
    xir_network_free(again);
    xir_network_free(net);
    free(plain.data);
    free(p.all.data);
}

/* ---- bytes ------------------------------------------------------------------------------------------------- */

/* A file as hexadecimal digits; text after '#' is a comment. */
static paper golden(const char *name) {
    char path[512];
    snprintf(path, sizeof path, XIR_TEST_DATA "/golden/msgpack/%s", name);
    size_t size = 0;
    char *text = (char *)scratch_get(path, &size);
    assert_non_null(text);
    paper out = { 0 };
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        for (const char *p = line; *p && *p != '#'; p++) {
            unsigned byte;
            if (*p == ' ' || sscanf(p, "%2x", &byte) != 1) continue;
            put_bytes(&out, &(char){ (char)byte }, 1);
            p++;
        }
    }
    free(text);
    return out;
}

/* An input, two convolutions of one kernel and bias, a ReLU, an output; bytes for the Params. */
static xir_network *golden_network(void) {
    xir_network *net = xir_network_new(ctx, "golden", XIR_FRAMEWORK_PYTORCH, "1.9");
    xir_at b = XIR_AT(net);
    xir_at image = b, conv = b;   /* names of ops, not of values */
    image.name = XIR_STR("image");
    conv.name = XIR_STR("conv");
    xir_value *x = xir_input(image, NULL, XIR_TENSOR(ctx, xir_type_float(ctx, XIR_FLOAT_FP32), "NHWC", 1, 4, 4, 3));
    xir_value *w = xir_params_new(net, XIR_STR("w"),
                                  XIR_TENSOR(ctx, xir_type_float(ctx, XIR_FLOAT_FP32), "HWIO", 1, 1, 3, 3));
    float data[9];
    for (int i = 0; i < 9; i++) data[i] = (float)i / 2;
    assert_int_equal(xir_params_set_copy(w, data, sizeof data), XIR_OK);
    x = XIR_CONV2D(conv, .input = x, .weights = w, .stride = 1, .dilation = 1);
    x = XIR_RELU(b, x);
    xir_any tag = xir_any_real(0.1);
    assert_int_equal(xir_op_set_tag(xir_value_op(x), XIR_STR("scale"), &tag), XIR_OK);
    xir_output(b, XIR_VALUES(x));
    assert_int_equal(xir_network_status(net), XIR_OK);
    return net;
}

static void a_file_is_as_documented(void **state) {
    (void)state;
    xir_network *net = golden_network();
    paper expected = golden("small.hex"), file = pack_net(net);
    check_same(file.data, file.size, expected.data, expected.size);
    xir_network *again = unpack_net(expected.data, expected.size);
    assert_true(xir_network_equal(net, again, true));
    xir_network_free(again);
    xir_network_free(net);
    free(file.data);
    free(expected.data);
}

/* One classless value, packed. */
static paper pack_one(const xir_any *any) {
    packed_sink p;
    encoder e;
    paper out = { 0 };
    packed_sink_init(&p, ctx, 0, collect_bytes, &out);
    encoder_init(&e, ctx, NULL, &p.sink);
    encode_any(&e, any);
    assert_int_equal(packed_sink_end(&p), XIR_OK);
    encoder_free(&e);
    packed_sink_free(&p);
    return out;
}

/* The value of the bytes as JSON; NULL with findings if they are refused. */
static char *unpack_one(const void *data, size_t size) {
    static decoder d;
    source s;
    packed_levels open;
    xir_any any;
    char *text = NULL, *block = block_of(data, size);
    decoder_init(&d, ctx, NULL, &packed_source, XIR_STR(""), (xir_str){ NULL, 0 }, why);
    packed_begin(&d, &s, &open, (const uint8_t *)block, size);
    if (packed_scan(&d.trace, (const uint8_t *)block, size, s.deepest) && decode_any(&d, &s, &any)) {
        assert_ptr_equal(s.at, block + size);
        assert_int_equal(s.depth, 0);
        xir_text_buffer out;
        assert_int_equal(xir_any_print(ctx, &any, 0, &out), XIR_OK);
        text = calloc(out.size + 1, 1);
        memcpy(text, out.data, out.size);
        xir_text_free(&out);
    }
    decoder_free(&d);
    free(block);
    return text;
}

static double real_of(uint64_t bits) {
    double v;
    memcpy(&v, &bits, 8);
    return v;
}

static void numbers_take_their_shortest_form(void **state) {
    (void)state;
    const struct { xir_any any; const char *text, *json; } rows[] = {
        { xir_any_null(), "nil", "null" },
        { xir_any_bool(false), "#c2", "false" },
        { xir_any_bool(true), "#c3", "true" },
        { xir_any_int(0), "#00", "0" },
        { xir_any_int(127), "#7f", "127" },
        { xir_any_int(128), "#cc80", "128" },
        { xir_any_int(255), "#ccff", "255" },
        { xir_any_int(256), "#cd0100", "256" },
        { xir_any_int(65535), "#cdffff", "65535" },
        { xir_any_int(65536), "#ce00010000", "65536" },
        { xir_any_int(UINT32_MAX), "#ceffffffff", "4294967295" },
        { xir_any_int((int64_t)UINT32_MAX + 1), "#cf0000000100000000", "4294967296" },
        { xir_any_int(INT64_MAX), "#cf7fffffffffffffff", "9223372036854775807" },
        { { .kind = XIR_ANY_UINT, .as.uinteger = (uint64_t)INT64_MAX + 1 }, "#cf8000000000000000", "9223372036854775808" },
        { { .kind = XIR_ANY_UINT, .as.uinteger = UINT64_MAX }, "#cfffffffffffffffff", "18446744073709551615" },
        { xir_any_int(-1), "#ff", "-1" },
        { xir_any_int(-32), "#e0", "-32" },
        { xir_any_int(-33), "#d0df", "-33" },
        { xir_any_int(-128), "#d080", "-128" },
        { xir_any_int(-129), "#d1ff7f", "-129" },
        { xir_any_int(-32768), "#d18000", "-32768" },
        { xir_any_int(-32769), "#d2ffff7fff", "-32769" },
        { xir_any_int(INT32_MIN), "#d280000000", "-2147483648" },
        { xir_any_int((int64_t)INT32_MIN - 1), "#d3ffffffff7fffffff", "-2147483649" },
        { xir_any_int(INT64_MIN), "#d38000000000000000", "-9223372036854775808" },
        { xir_any_real(0.0), "#ca00000000", "0.0" },
        { xir_any_real(-0.0), "#ca80000000", "-0.0" },
        { xir_any_real(3.0), "#ca40400000", "3.0" },
        { xir_any_real((double)0.1f), "#ca3dcccccd", "0.10000000149011612" },
        { xir_any_real(0.1), "#cb3fb999999999999a", "0.1" },
        { xir_any_real(1e300), "#cb7e37e43c8800759c", "1e+300" },
        { xir_any_real(1e-45), "#cb3696d601ad376ab9", "1e-45" },   /* close to a float32, but not one */
        { xir_any_real(real_of(0x36A0000000000000)), "#ca00000001", "1.401298464324817e-45" },
        { xir_any_real(5e-324), "#cb0000000000000001", "5e-324" },
        { xir_any_real(16777217.0), "#cb4170000010000000", "16777217.0" },
        { xir_any_real((double)INFINITY), "#ca7f800000", "\"inf\"" },
        { xir_any_real(-(double)INFINITY), "#caff800000", "\"-inf\"" },
        { xir_any_real(real_of(0x7FF8000000000000)), "#ca7fc00000", "\"nan\"" },
        { xir_any_real(real_of(0xFFF8000020000000)), "#caffc00001", "\"nan\"" },
        { xir_any_real(real_of(0x7FF8000000000001)), "#cb7ff8000000000001", "\"nan\"" },
        { xir_any_text(XIR_STR("")), "#a0", "\"\"" },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        paper expected = { 0 }, out = pack_one(&rows[i].any);
        pack_text(&expected, rows[i].text, NULL);
        if (out.size != expected.size || memcmp(out.data, expected.data, out.size) != 0) fail_msg("%s", rows[i].text);
        char *json = unpack_one(out.data, out.size);
        assert_non_null(json);
        assert_string_equal(json, rows[i].json);
        free(json);
        free(out.data);
        free(expected.data);
    }
}

static void texts_and_lists_take_their_shortest_form(void **state) {
    (void)state;
    static const struct { size_t size; const char *text, *list, *map; } rows[] = {
        { 0, "#a0", "#90", "#80" }, { 1, "#a1", "#91", "#81" }, { 15, "#af", "#9f", "#8f" },
        { 16, "#b0", "#dc0010", "#de0010" }, { 31, "#bf", "#dc001f", "#de001f" }, { 32, "#d920", "#dc0020", "#de0020" },
        { 255, "#d9ff", "#dc00ff", "#de00ff" }, { 256, "#da0100", "#dc0100", "#de0100" },
        { 65535, "#daffff", "#dcffff", "#deffff" }, { 65536, "#db00010000", "#dd00010000", "#df00010000" },
    };
    enum { MOST = 65536 };
    char *bytes = malloc(MOST + 1), (*keys)[8] = malloc(MOST * sizeof *keys);
    xir_any *items = malloc(MOST * sizeof *items);
    xir_entry *entries = malloc(MOST * sizeof *entries);
    memset(bytes, 'x', MOST);
    for (size_t i = 0; i < MOST; i++) {
        snprintf(keys[i], sizeof keys[i], "%06zu", i);
        items[i] = xir_any_int(5);
        entries[i] = (xir_entry){ { keys[i], 6 }, items[i] };
    }
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        size_t n = rows[i].size;
        const xir_any all[] = { xir_any_text((xir_str){ bytes, n }), xir_any_list(items, n), xir_any_map(entries, n) };
        const char *const heads[] = { rows[i].text, rows[i].list, rows[i].map };
        static const size_t each[] = { 1, 1, 8 };
        for (int k = 0; k < 3; k++) {
            paper head = { 0 }, out = pack_one(&all[k]);
            pack_text(&head, heads[k], NULL);
            assert_int_equal(out.size, head.size + each[k] * n);
            assert_memory_equal(out.data, head.data, head.size);
            char *json = unpack_one(out.data, out.size);
            xir_text_buffer printed;
            assert_int_equal(xir_any_print(ctx, &all[k], 0, &printed), XIR_OK);
            assert_non_null(json);
            check_same(json, strlen(json), printed.data, printed.size);
            xir_text_free(&printed);
            free(json);
            free(head.data);
            free(out.data);
        }
    }
    free(entries);
    free(items);
    free(keys);
    free(bytes);
}

/* ---- the test suite of others ------------------------------------------------------------------------------ */

static size_t from_hex(const char *text, size_t size, uint8_t *out) {
    size_t n = 0;
    for (size_t i = 0; i + 1 < size; i += 3) {
        unsigned byte = 0;
        assert_int_equal(sscanf(text + i, "%2x", &byte), 1);
        out[n++] = (uint8_t)byte;
    }
    return n;
}

static const xir_any *member_of(const xir_any *map, const char *key) {
    return xir_map_find(&map->as.map, xir_str_of(key));
}

/* Returns true if JSON texts are equal except in how whole reals are written. */
static bool same_number(const char *a, const xir_any *b) {
    double v = b->kind == XIR_ANY_INT ? (double)b->as.integer : b->kind == XIR_ANY_UINT ? (double)b->as.uinteger
        : b->as.real;
    return strtod(a, NULL) == v;
}

static void the_test_suite_agrees(void **state) {
    (void)state;
    const char *corpus = CORPUS_OR_SKIP();
    char path[4096];
    snprintf(path, sizeof path, "%s/msgpack/msgpack-test-suite.json", corpus);
    size_t size = 0, n = 0, refused = 0;
    char *text = (char *)scratch_get(path, &size);
    assert_non_null(text);
    arena a;
    arena_init(&a, context_alloc(ctx));
    xir_any all;
    assert_int_equal(json_read_any(ctx, &a, (xir_str){ text, size }, &all, why), XIR_OK);
    for (size_t g = 0; g < all.as.map.size; g++) {
        const xir_any *group = &all.as.map.entries[g].value;
        for (size_t i = 0; i < group->as.list.size; i++) {
            const xir_any *row = &group->as.list.items[i], *forms = member_of(row, "msgpack");
            bool odd = member_of(row, "binary") || member_of(row, "ext") || member_of(row, "timestamp");
            for (size_t k = 0; k < forms->as.list.size; k++, n++) {
                xir_str hex = forms->as.list.items[k].as.text;
                uint8_t bytes[512];
                assert_true(hex.size < 3 * sizeof bytes);
                size_t bytes_size = from_hex(hex.data, hex.size, bytes);
                char *json = unpack_one(bytes, bytes_size);
                if (odd) {   /* not possible in a network */
                    assert_null(json);
                    assert_int_equal(xir_diags_at(why, 0)->code, XIR_E_TYPE);
                    xir_diags_clear(why);
                    refused++;
                    continue;
                }
                if (!json) show_findings();
                assert_non_null(json);
                const xir_any *plain = member_of(row, "number"), *big = member_of(row, "bignum"), *value = NULL;
                static const char *const kinds[] = { "nil", "bool", "string", "array", "map" };
                for (size_t c = 0; c < COUNT_OF(kinds) && !value; c++) value = member_of(row, kinds[c]);
                if (value) {
                    xir_text_buffer out;
                    assert_int_equal(xir_any_print(ctx, value, 0, &out), XIR_OK);
                    check_same(json, strlen(json), out.data, out.size);
                    xir_text_free(&out);
                } else if (big && bytes[0] != 0xCA && bytes[0] != 0xCB) {
                    check_same(json, strlen(json), big->as.text.data, big->as.text.size);
                } else if (plain) {
                    assert_true(same_number(json, plain));
                } else {
                    char digits[64];
                    snprintf(digits, sizeof digits, "%.*s", (int)big->as.text.size, big->as.text.data);
                    assert_true(strtod(json, NULL) == strtod(digits, NULL));
                }
                free(json);
            }
        }
    }
    assert_int_equal(n, 233);
    assert_true(refused > 20 && refused < 80);
    arena_free(&a);
    free(text);
}

/* ---- reals ------------------------------------------------------------------------------------------------- */

/* A ReLU whose attributes are these items. */
static paper relu_with(const char *version, const char *alpha, const char *most) {
    paper p = { 0 };
    pack_text(&p, "{5 '_type_key' 'icraft::xir::Network' 'icraft_xir_version'", NULL);
    pack_head(&p, '\'', strlen(version), 0);
    put(&p, "%s", version);
    pack_text(&p, "'name' 'n' 'ops' [1 {5 '_type_key' 'icraft::xir::ReLU' 'alpha'", NULL);
    pack_text(&p, alpha, NULL);
    pack_text(&p, "'max_value'", NULL);
    pack_text(&p, most, NULL);
    pack_text(&p, "'name' 'r' 'op_id' 1 'tags' {0", NULL);
    return p;
}

static void check_relu(const char *version, const char *alpha, const char *most, uint64_t alpha_bits,
                       uint64_t most_bits) {
    paper p = relu_with(version, alpha, most);
    xir_network *net = unpack_net(p.data, p.size);
    const xir_relu_attrs *a = xir_relu_of(xir_network_first(net));
    uint64_t bits[2];
    memcpy(&bits[0], &a->alpha, 8);
    memcpy(&bits[1], &a->max_value, 8);
    assert_int_equal(bits[0], alpha_bits);
    assert_int_equal(bits[1], most_bits);
    /* Again, as XIR writes it. */
    paper file = pack_net(net);
    xir_network *again = unpack_net(file.data, file.size);
    a = xir_relu_of(xir_network_first(again));
    memcpy(&bits[0], &a->alpha, 8);
    memcpy(&bits[1], &a->max_value, 8);
    assert_int_equal(bits[0], alpha_bits);
    assert_int_equal(bits[1], most_bits);
    xir_network_free(again);
    xir_network_free(net);
    free(file.data);
    free(p.data);
}

static void reals_of_attributes_are_kept(void **state) {
    (void)state;
    check_relu("3.33.1.0", "#ca3dcccccd", "#ca7f800000", 0x3FB99999A0000000, 0x7FF0000000000000);
    check_relu("3.33.1.0", "#ca80000000", "#caff800000", 0x8000000000000000, 0xFFF0000000000000);
    /* rounded, as JSON's are */
    check_relu("3.33.1.0", "#cb3fb999999999999a", "'inf'", 0x3FB99999A0000000, 0x7FF0000000000000);
    check_relu("3.6.2.82", "#cb3fb999999999999a", "#cb7e37e43c8800759c", 0x3FB999999999999A, 0x7E37E43C8800759C);
    check_relu("3.6.2.82", "#ca7fc00001", "#cb7ff8000000000001", 0x7FF8000020000000, 0x7FF8000000000001);
    check_relu("3.33.1.0", "3", "#cfffffffffffffffff", 0x4008000000000000, 0x43F0000000000000);
    check_relu("3.33.1.0", "-3", "'-inf'", 0xC008000000000000, 0xFFF0000000000000);
}

/* ---- what is refused when writing -------------------------------------------------------------------------- */

static void nesting_is_limited_when_writing(void **state) {
    (void)state;
    enum { DEPTH = 40 };
    xir_any lists[DEPTH + 1];
    lists[0] = xir_any_list(NULL, 0);
    for (int i = 1; i <= DEPTH; i++) lists[i] = xir_any_list(&lists[i - 1], 1);
    /* The network is 1 and its tags are 2 deep; the network's ops 2, an op 3, its tags 4. lists[i] is i + 1 deep. */
    for (int i = 25; i < DEPTH; i++) {
        xir_network *net = must_read(SMALL, strlen(SMALL));
        assert_int_equal(xir_network_set_tag(net, XIR_STR("deep"), &lists[i]), XIR_OK);
        paper file = { 0 };
        xir_status status = try_pack(net, &file);
        assert_int_equal(status, i + 1 + 2 <= 32 ? XIR_OK : XIR_E_LIMIT);
        if (status) check_finding(XIR_E_LIMIT, "tags or undeclared keys are nested deeper");
        else xir_network_free(unpack_net(file.data, file.size));
        free(file.data);
        xir_network_free(net);

        net = must_read(SMALL, strlen(SMALL));
        assert_int_equal(xir_op_set_tag(xir_network_op_by_id(net, 1), XIR_STR("deep"), &lists[i]), XIR_OK);
        file = (paper){ 0 };
        status = try_pack(net, &file);
        assert_int_equal(status, i + 1 + 4 <= 32 ? XIR_OK : XIR_E_LIMIT);
        if (status) {
            assert_true(xir_str_equal(xir_diags_at(why, 0)->path, XIR_STR("/ops/1")));
            check_finding(XIR_E_LIMIT, "icraft::xir::ReLU 'r' (op_id 1) holds values nested deeper than 32");
        } else {
            xir_network_free(unpack_net(file.data, file.size));
        }
        free(file.data);
        xir_network_free(net);
    }
}

/* An item that was written before is copied, and may be too deep in another place. */
static void copies_are_limited_too(void **state) {
    (void)state;
    paper type = { 0 };
    put(&type, "{\"_type_key\":\"someone::Type\",\"a\":");
    enum { HIGH = 23 };
    for (int i = 0; i < HIGH; i++) put(&type, "[");
    for (int i = 0; i < HIGH; i++) put(&type, "]");
    put(&type, "}");
    for (int deeper = 0; deeper < 4; deeper++) {
        paper p = { 0 };
        put(&p, "{\"_type_key\":\"icraft::xir::Network\",\"ops\":[{\"_type_key\":\"someone::Op\",\"op_id\":1,\"outputs\":[{\"_type_key\":"
                "\"icraft::xir::Value\",\"dtype\":%s,\"v_id\":1}]},{\"_type_key\":\"someone::Op\",\"k\":", type.data);
        for (int i = 0; i < deeper; i++) put(&p, "[");
        put(&p, "{\"_type_key\":\"icraft::xir::Params\",\"dtype\":%s,\"v_id\":2}", type.data);
        for (int i = 0; i < deeper; i++) put(&p, "]");
        put(&p, ",\"op_id\":2}]}");
        xir_network *net = must_read(p.data, p.size);
        paper file = { 0 };
        /* 1 the network, 2 its ops, 3 the op, `deeper` lists, the Params, its type, HIGH lists. */
        xir_status status = try_pack(net, &file);
        assert_int_equal(status, 3 + deeper + 1 + 1 + HIGH <= 32 ? XIR_OK : XIR_E_LIMIT);
        if (!status) xir_network_free(unpack_net(file.data, file.size));
        xir_diags_clear(why);
        xir_network_free(net);
        free(file.data);
        free(p.data);
    }
    free(type.data);
}

static void networks_that_it_cannot_hold_are_refused(void **state) {
    (void)state;
    static const char *const keys[] = { "params", "params_table" };
    for (int i = 0; i < 2; i++) {
        paper p = { 0 }, file = { 0 };
        put(&p, "{\"_type_key\":\"icraft::xir::Network\",\"ops\":[],\"%s\":[],\"tags\":{}}", keys[i]);
        xir_network *net = must_read(p.data, p.size);
        assert_int_equal(try_pack(net, &file), XIR_E_UNSUPPORTED);
        check_finding(XIR_E_UNSUPPORTED, "Json&Raw can hold it");
        assert_int_equal(file.size, 0);
        xir_network_free(net);
        free(p.data);
    }
}

/* ---- detection --------------------------------------------------------------------------------------------- */

static void a_file_is_detected_by_its_first_bytes(void **state) {
    (void)state;
    static const struct { const char *text; bool is; } rows[] = {
        { "{11 '_type_key'", true }, { "{11 '_type_key' #b4696372", true }, { "{1 'ops' [0", true },
        { "#de000b '_type_key'", true }, { "#df0000000b '_type_key'", true },
        { "{3 #d9036f7073", true }, { "{3 #da00036f7073", true }, { "{3 #db000000036f7073", true },
        { "{3 'params'", true }, { "{3 'params_table'", true }, { "{11 #aa5f747970655f6b65", false },
        { "{3 'Ops'", true },                               /* undeclared keys */
        { "{3 'swap' true '_type_key' 'icraft::xir::Network'", true },
        { "{3 'swap' true '_type_key' 'icraft::xir::Netz'", false },
        { "{3 7 true '_type_key' 'icraft::xir::Network'", false },
        { "{3 '' 1 '_type_key' 'icraft::xir::Network'", true },
        { "{3 ''", false }, { "{3 'opt'", false }, { "{3 7 'ops'", false }, { "{3 <3", false }, { "{3", false },
        { "{0 '_type_key'", false }, { "[3 'ops'", false }, { "nil", false }, { "#de", false }, { "#de0001", false },
        { "#df00000001 #db00000003", false }, { "#84a10000", false }, { "#84a00000", false }, { "#83b4000000000000", false },
        { "#7b225f747970655f6b6579223a", false },           /* JSON     */
        { "#a5494352414654", false },                       /* raw      */
        { "#504b0304", false },                             /* zip      */
        { "#0807120673", false }, { "#8001", false },       /* protobuf */
        { "#8c000000", false }, { "#8400000058495220", false },   /* FlatBuffers */
        { "#8002635f", false },                             /* a pickle */
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        paper p = { 0 };
        pack_text(&p, rows[i].text, NULL);
        char *block = block_of(p.data, p.size);
        if ((probe_head(&format_msgpack, block, p.size) != XIR_PROBE_NO) != rows[i].is) fail_msg("%s", rows[i].text);
        free(block);
        free(p.data);
    }
    assert_false(probe_head(&format_msgpack, NULL, 0));
}

/* ---- memory ------------------------------------------------------------------------------------------------ */

static paper scarce;

static bool read_and_write(xir_context *with) {
    format_reading how = { .ctx = with, .name = XIR_STR("x"), .compare = true };
    xir_network *net = unpack_how(scarce.data, scarce.size, &how);
    if (!net) return false;
    paper out = { 0 };
    format_writing again = { .path = "", .write = collect_bytes, .user = &out };
    xir_status status = format_msgpack.write(net, &again);
    if (status) assert_int_equal(status, XIR_E_MEMORY);
    else check_same(out.data, out.size, scarce.data, scarce.size);
    xir_network_free(net);
    free(out.data);
    return status == XIR_OK;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    for (int i = 0; i < 6; i++) {
        paper p = random_network(4);
        xir_network *net = must_read(p.data, p.size);
        scarce = pack_net(net);
        check_memory(read_and_write);
        xir_network_free(net);
        free(scarce.data);
        free(p.data);
    }
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_networks_come_back),
        cmocka_unit_test(random_networks_come_back),
        cmocka_unit_test(any_writer_is_read),
        cmocka_unit_test(parts_that_repeat_are_read_as_if_they_did_not),
        cmocka_unit_test(long_networks_are_written_in_pieces),
        cmocka_unit_test(a_file_is_as_documented),
        cmocka_unit_test(numbers_take_their_shortest_form),
        cmocka_unit_test(texts_and_lists_take_their_shortest_form),
        cmocka_unit_test(the_test_suite_agrees),
        cmocka_unit_test(reals_of_attributes_are_kept),
        cmocka_unit_test(nesting_is_limited_when_writing),
        cmocka_unit_test(copies_are_limited_too),
        cmocka_unit_test(networks_that_it_cannot_hold_are_refused),
        cmocka_unit_test(a_file_is_detected_by_its_first_bytes),
        cmocka_unit_test(every_allocation_may_fail),
    };
    scratch_make();
    return RUN_GROUP(tests);
}
