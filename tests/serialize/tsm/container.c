/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Containers of modules: plain or scrambled, they come back byte for byte; a module may be in a file that the container
 * names. Malformed ones are refused with their byte. */
#include <unistd.h>
#include "support/kept.h"
#include "support/load_net.h"
#include "support/stored.h"
#include "support/tsm_make.h"
#include "graph.h"

static const char text[] = "inputs 0\noutputs 1\nn <param> x - #dtype=5::10 #shape=5:1:4\nn relu y 0\n";

typedef struct bytes { uint8_t p[4096]; size_t n, module; } bytes;

static void put(bytes *to, const void *p, size_t n) {
    assert_true(to->n + n <= sizeof to->p);
    memcpy(to->p + to->n, p, n);
    to->n += n;
}
static void put_word(bytes *to, uint32_t v) { put(to, &v, 4); }
static void put_text(bytes *to, const char *s) {
    put_word(to, (uint32_t)strlen(s));
    put(to, s, strlen(s));
}

/* A tree with pieces of all kinds, with keys that are not sorted, and with pieces that a map cannot say. */
static void make_container(bytes *to, const char *file) {
    tsm_made f;
    tsm_make(&f, text);
    to->n = 0;
    put_word(to, 0x19910929);
    put(to, "\6\7\0\0\0", 5);                                       /* a map of 7 */
    put_text(to, "version");  put(to, "\1\6\0\0\0", 5);
    put_text(to, "backbone"); put(to, "\6\2\0\0\0", 5);
    put_text(to, "tsm");
    to->module = to->n;
    if (file) {
        put(to, "\3", 1);
        put_text(to, file);
    } else {
        put(to, "\4", 1);
        put_word(to, (uint32_t)f.size);
        put(to, f.bytes, f.size);
    }
    put_text(to, "tsm2");     put(to, "\4\3\0\0\0\0\1\2", 8);
    put_text(to, "a");        put(to, "\2\0\0\300\177", 5);         /* NaN */
    put_text(to, "a");        put(to, "\2\0\0\0\077", 5);           /* 0.5, under the same key */
    put_text(to, "list");     put(to, "\5\4\0\0\0\0\0\0\1\7\1\7\2", 13);   /* nil, nil of 1, true, 2 */
    put_text(to, "\xff");     put(to, "\3\1\0\0\0\xfe", 6);         /* texts that are not UTF-8 */
    put_text(to, "end");      put(to, "\6\1\0\0\0\1\0\0\0@\5\0\0\0\0", 15);
}

/* Written from the description of the files, without the library. */
static void scramble(const bytes *plain, bytes *to) {
    static const char key[] = "seetatech.com";
    uint64_t sum = 0, ten = 1;
    for (size_t i = sizeof key - 1; i-- > 0; ten *= 10) sum += ten * (uint64_t)key[i];
    to->n = 0;
    put(to, "fast", 4);
    put(to, plain->p, plain->n);
    for (size_t i = 0; i < plain->n / 16 * 16; i++) to->p[4 + i] ^= (uint8_t)(sum >> 8 * (i % 8));
}

static xir_network *read_bytes(const bytes *from) { return stored_read("tsm", from->p, from->n); }

static void check_written(xir_network *net, bool plain, const void *p, size_t n) {
    buffer out;
    buffer_init(&out, &memory_default);
    DOES(xir_network_write(net, keep, &out, &XIR_INIT(xir_save_options, .format = "tsm", .plain = plain), why));
    assert_int_equal(out.size, n);
    assert_memory_equal(out.data, p, n);
    buffer_free(&out);
}

static void containers_come_back(void **state) {
    bytes plain, scrambled;
    (void)state;
    make_container(&plain, NULL);
    scramble(&plain, &scrambled);
    xir_network *net = read_bytes(&plain), *other = read_bytes(&scrambled);
    check_written(net, false, plain.p, plain.n);
    check_written(other, false, scrambled.p, scrambled.n);
    check_written(other, true, plain.p, plain.n);
    xir_network_free(net);
    xir_network_free(other);
}

static void through_other_formats(void **state) {
    xir_format_info other;
    bytes plain, scrambled;
    (void)state;
    make_container(&plain, NULL);
    scramble(&plain, &scrambled);
    for (size_t k = 0; written_format_at(k, &other); k++) {
        const char *between = strcmp(other.name, "tsm") == 0 ? scratch("between.csta") : load_path("between", &other);
        xir_network *net = read_bytes(&scrambled);
        load_save(net, between, &other);
        xir_network *again = load_must(between, &XIR_INIT(xir_load_options, .lazy = true));
        check_written(again, false, scrambled.p, scrambled.n);
        xir_network_free(net);
        xir_network_free(again);
        remove(between);
        remove(scratch("between.raw"));
    }
}

/* The name of the output decides. */
static void a_module_alone_and_a_new_container(void **state) {
    bytes plain;
    tsm_made f;
    size_t size;
    (void)state;
    tsm_make(&f, text);
    make_container(&plain, NULL);
    xir_network *net = read_bytes(&plain);
    DOES(xir_network_save(net, scratch("alone.tsm"), NULL, why));
    uint8_t *alone = scratch_get(scratch("alone.tsm"), &size);
    assert_int_equal(size, f.size);
    assert_memory_equal(alone, f.bytes, size);
    xir_network_free(net);
    net = load_must(scratch("alone.tsm"), NULL);
    DOES(xir_network_save(net, scratch("new.csta"), NULL, why));
    xir_network *again = load_must(scratch("new.csta"), NULL);
    DOES(xir_network_save(again, scratch("again.tsm"), NULL, why));
    uint8_t *same = scratch_get(scratch("again.tsm"), &size);
    assert_int_equal(size, f.size);
    assert_memory_equal(same, f.bytes, size);
    xir_network_free(net);
    xir_network_free(again);
    free(alone);
    free(same);
}

/* ---- a module in another file ------------------------------------------------------------------------------------ */

static void put_file(const char *name, const void *p, size_t n) {
    FILE *f = fopen(scratch(name), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(p, 1, n, f), n);
    fclose(f);
}

static void a_module_in_another_file(void **state) {
    bytes plain;
    tsm_made f;
    size_t size;
    (void)state;
    tsm_make(&f, text);
    make_container(&plain, "@file@part.tsm");
    put_file("whole.csta", plain.p, plain.n);
    put_file("part.tsm", f.bytes, f.size);
    xir_network *net = load_must(scratch("whole.csta"), &XIR_INIT(xir_load_options, .lazy = true));
    DOES(xir_network_save(net, scratch("copy.csta"), NULL, why));
    uint8_t *copy = scratch_get(scratch("copy.csta"), &size);
    assert_int_equal(size, plain.n);
    assert_memory_equal(copy, plain.p, size);
    free(copy);
    /* A module that has changed is in the container. */
    DOES(xir_op_set_name(xir_network_op_at(net, 1), XIR_STR("z")));
    DOES(xir_network_save(net, scratch("copy.csta"), NULL, why));
    xir_network *again = load_must(scratch("copy.csta"), NULL);
    assert_true(xir_str_equal(xir_op_name(xir_network_op_at(again, 1)), XIR_STR("z")));
    xir_network_free(net);
    xir_network_free(again);
}

static void memory_has_no_files_next_to_it(void **state) {
    bytes plain;
    (void)state;
    make_container(&plain, "@file@part.tsm");
    assert_null(read_bytes(&plain));
    check_finding(XIR_E_MISSING, "the module is in the file 'part.tsm', and what is not read ");
}

static void files_that_must_not_be_opened(void **state) {
    static const struct { const char *name, *sentence; xir_status status; } rows[] = {
        { "@file@../part.tsm", "the file of the module, '../part.tsm': ", XIR_E_INVALID },
        { "@file@/etc/passwd", "the file of the module, '/etc/passwd': ", XIR_E_INVALID },
        { "@file@link.tsm",    "the file of the module, 'link.tsm': ",    XIR_E_INVALID },
        { "@file@nobody.tsm",  "the file of the module, 'nobody.tsm': ",  XIR_E_IO },
    };
    (void)state;
    put_file("part.tsm", "x", 1);
    (void)!symlink("part.tsm", scratch("link.tsm"));
    for (size_t i = 0; i < COUNT(rows); i++) {
        bytes plain;
        make_container(&plain, rows[i].name);
        put_file("bad.csta", plain.p, plain.n);
        assert_null(xir_network_load(ctx, scratch("bad.csta"), NULL, why));
        const xir_diag *d = xir_diags_at(why, 0);
        if (!memmem(d->message.data, d->message.size, rows[i].sentence, strlen(rows[i].sentence))) {
            xir_diags_print(why, stderr);
            fail_msg("row %zu", i);
        }
        xir_diags_clear(why);
    }
}

/* ---- malformed --------------------------------------------------------------------------------------------------- */

static void containers_that_are_refused(void **state) {
    static const struct { size_t at; uint32_t v; int width; xir_status status; size_t byte; const char *sentence; }
    rows[] = {
        { 4,  8,          1, XIR_E_SYNTAX,  4,  "expected the code" },
        { 5,  UINT32_MAX, 4, XIR_E_CORRUPT, 5,  "the length of a map is 4294967295" },
        { 5,  8,          4, XIR_E_CORRUPT, 0,  "the file ends in the length of a key" },
        { 5,  6,          4, XIR_E_CORRUPT, 0,  "22 bytes follow the container: expected the end" },
        { 9,  UINT32_MAX, 4, XIR_E_CORRUPT, 9,  "the length of a key is 4294967295" },
        { 20, 8,          1, XIR_E_TYPE,    20, "the type of a piece is 8: expected 0 to 7" },
        { 20, 255,        1, XIR_E_TYPE,    20, "the type of a piece is 255" },
        { 20, 5,          1, XIR_E_TYPE,    0,  "the type of a piece is " },
        { 29, 'B',        1, XIR_E_MISSING, 4,  "the container has no module" },
    };
    bytes plain;
    (void)state;
    make_container(&plain, NULL);
    for (size_t i = 0; i < COUNT(rows); i++) {
        bytes changed = plain;
        for (int k = 0; k < rows[i].width; k++) changed.p[rows[i].at + (size_t)k] = (uint8_t)(rows[i].v >> 8 * k);
        xir_network *net = read_bytes(&changed);
        const xir_diag *d = xir_diags_at(why, 0);
        const bool right = !net && d->code == rows[i].status && (!rows[i].byte || d->byte == rows[i].byte) &&
                           memmem(d->message.data, d->message.size, rows[i].sentence, strlen(rows[i].sentence));
        if (!right) {
            xir_diags_print(why, stderr);
            fail_msg("row %zu: expected %s at %zu", i, rows[i].sentence, rows[i].byte);
        }
        xir_diags_clear(why);
    }
}

static void reals_have_32_bits(void **state) {
    static const double reals[] = { 3e38, 1e300 };
    bytes plain;
    (void)state;
    make_container(&plain, NULL);
    for (size_t i = 0; i < COUNT(reals); i++) {
        const xir_entry module[] = { { XIR_STR("@module"), xir_any_bool(true) } };
        const xir_entry tree[] = { { XIR_STR("m"), xir_any_map(module, 1) }, { XIR_STR("r"), xir_any_real(reals[i]) } };
        const xir_entry file[] = { { XIR_STR("tree"), xir_any_map(tree, 2) } };
        const xir_any tag = xir_any_map(file, 1);
        xir_network *net = read_bytes(&plain);
        DOES(xir_network_set_tag(net, XIR_STR("tsm.csta"), &tag));
        if (i == 0) DOES(xir_network_save(net, scratch("reals.csta"), NULL, why));
        else FAILS_TO_SAVE(xir_network_save(net, scratch("large.csta"), NULL, why), XIR_E_INVALID,
                           "the tag tsm.csta is not a container");
        xir_network_free(net);
    }
}

static void deep_containers_are_refused(void **state) {
    bytes deep = { .n = 0 };
    (void)state;
    put_word(&deep, 0x19910929);
    for (int i = 0; i < 300; i++) put(&deep, "\5\1\0\0\0", 5);
    put(&deep, "\0\0", 2);
    assert_null(read_bytes(&deep));
    check_finding(XIR_E_LIMIT, "pieces are nested deeper than 128");
}

static void damaged_at_every_byte(void **state) {
    static const uint8_t others[] = { 0, 1, 3, 5, 6, 7, 0x7f, 0x80, 0xff };
    bytes plain, changed;
    (void)state;
    make_container(&plain, NULL);
    for (size_t n = 4; n < plain.n; n++) {
        changed = plain;
        changed.n = n;
        assert_null(read_bytes(&changed));
        xir_diags_clear(why);
    }
    for (size_t i = 4; i < plain.n; i++) {
        for (size_t k = 0; k < COUNT(others) + 8; k++) {
            changed = plain;
            if (k < COUNT(others)) changed.p[i] = others[k];
            else changed.p[i] ^= (uint8_t)(1 << (k - COUNT(others)));
            stored_comes_back("tsm", changed.p, changed.n);
        }
    }
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(containers_come_back),        cmocka_unit_test(through_other_formats),
        cmocka_unit_test(a_module_alone_and_a_new_container), cmocka_unit_test(a_module_in_another_file),
        cmocka_unit_test(memory_has_no_files_next_to_it), cmocka_unit_test(files_that_must_not_be_opened),
        cmocka_unit_test(containers_that_are_refused),  cmocka_unit_test(reals_have_32_bits),
        cmocka_unit_test(deep_containers_are_refused),  cmocka_unit_test(damaged_at_every_byte),
    };
    scratch_make();
    return cmocka_run_group_tests(tests, group_begin, group_end);
}
