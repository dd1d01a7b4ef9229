/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Hashes and the two tables that use them: growth, keys whose hashes end alike, refused allocations. */
#include <stdio.h>
#include "support/scarce.h"
#include "hash.h"
#include "number.h"

enum { MANY = 20000 };

/* ---- hashes ----------------------------------------------------------------------------------------------------- */

/* Every byte counts, at any place in a text of any length; so do the length and the seed. */
static void every_byte_counts(void **state) {
    (void)state;
    char text[100];
    for (size_t i = 0; i < sizeof text; i++) text[i] = (char)('a' + i % 26);
    for (size_t size = 1; size <= sizeof text; size++) {
        uint64_t bytes = hash_bytes(7, text, size), name = hash_text(7, text, size);
        assert_int_equal(hash_bytes(7, text, size), bytes);
        assert_int_equal(hash_text(7, text, size), name);
        assert_int_not_equal(hash_bytes(8, text, size), bytes);
        assert_int_not_equal(hash_text(8, text, size), name);
        assert_int_not_equal(hash_bytes(7, text, size - 1), bytes);
        assert_int_not_equal(hash_text(7, text, size - 1), name);
        for (size_t i = 0; i < size; i++) {
            text[i] ^= 1;
            if (hash_bytes(7, text, size) == bytes) fail_msg("hash_bytes: byte %zu of %zu", i, size);
            if (hash_text(7, text, size) == name) fail_msg("hash_text: byte %zu of %zu", i, size);
            text[i] ^= 1;
        }
    }
}

/* ---- tables ----------------------------------------------------------------------------------------------------- */

static void pointers_are_found(void **state) {
    (void)state;
    static char keys[MANY * 8];
    pointer_table t;
    pointer_table_init(&t, &memory_default);
    assert_null(pointer_table_find(&t, keys));
    for (uint32_t i = 0; i < MANY; i++) {
        assert_int_equal(*pointer_table_add(&t, keys + 8 * i, i), i);
        if (i % 3 == 0) assert_int_equal(*pointer_table_add(&t, keys + 8 * i, 77), i);   /* the first value is kept */
    }
    assert_int_equal(t.n, MANY);
    assert_true(t.n * 2 <= t.room);
    for (uint32_t i = 0; i < MANY; i++) {
        assert_int_equal(*pointer_table_find(&t, keys + 8 * i), i);
        assert_null(pointer_table_find(&t, keys + 8 * i + 1));
    }
    *pointer_table_find(&t, keys) = 5;
    assert_int_equal(*pointer_table_find(&t, keys), 5);
    pointer_table_free(&t);
    assert_null(pointer_table_find(&t, keys));
}

/* Pointers that collide in a table of 64 are stored one after the other, across its end. */
static void pointers_collide(void **state) {
    (void)state;
    const void *keys[16];
    size_t n = 0;
    for (uintptr_t p = 8; n < 16; p += 8) {
        if ((hash_pointer((void *)p) & 63) == 62) keys[n++] = (void *)p;
    }
    pointer_table t;
    pointer_table_init(&t, &memory_default);
    assert_true(pointer_table_reserve(&t, 32));
    assert_int_equal(t.room, 64);
    for (uint32_t i = 0; i < 15; i++) assert_int_equal(*pointer_table_add(&t, keys[i], i), i);
    assert_int_equal(t.room, 64);
    for (uint32_t i = 0; i < 15; i++) assert_int_equal(*pointer_table_find(&t, keys[i]), i);
    assert_null(pointer_table_find(&t, keys[15]));
    pointer_table_free(&t);
}

static xir_str key_of(uint32_t i, char *room, size_t size) {
    int n = snprintf(room, size, "%s/%u", i % 2 ? "conv" : "a_longer_name_of_a_layer", i);
    return (xir_str){ room, (size_t)n };
}

static void texts_are_found(void **state) {
    (void)state;
    static char names[MANY][40];
    char room[40];
    text_table t;
    text_table_init(&t, &memory_default);
    assert_null(text_table_find(&t, XIR_STR("conv/1")));
    for (uint32_t i = 0; i < MANY; i++) {
        assert_int_equal(*text_table_add(&t, key_of(i, names[i], sizeof names[i]), i), i);
        assert_int_equal(*text_table_add(&t, key_of(i, room, sizeof room), 77), i);
    }
    assert_int_equal(t.n, MANY);
    assert_true(t.n * 2 <= t.room);
    for (uint32_t i = 0; i < MANY; i++) assert_int_equal(*text_table_find(&t, key_of(i, room, sizeof room)), i);
    assert_null(text_table_find(&t, key_of(MANY, room, sizeof room)));
    text_table_free(&t);
}

/* Texts are bytes: empty ones, with zero bytes, prefixes of others. */
static void texts_are_bytes(void **state) {
    (void)state;
    const xir_str keys[] = { { NULL, 0 }, XIR_STR("a"), XIR_STR("a\0"), XIR_STR("a\0b"), XIR_STR("\0"), XIR_STR("ab"),
                             XIR_STR("0123456789abcdef"), XIR_STR("0123456789abcdefg") };
    text_table t;
    text_table_init(&t, &memory_default);
    for (uint32_t i = 0; i < sizeof keys / sizeof keys[0]; i++) assert_int_equal(*text_table_add(&t, keys[i], i), i);
    for (uint32_t i = 0; i < sizeof keys / sizeof keys[0]; i++) assert_int_equal(*text_table_find(&t, keys[i]), i);
    assert_int_equal(*text_table_find(&t, XIR_STR("")), 0);
    text_table_free(&t);
}

/* A stem and the next number that makes a new key; the counter passes the numbers that are taken. */
static void unused_texts_are_found(void **state) {
    (void)state;
    static const struct { const char *stem, *expected; uint64_t next, after; } cases[] = {
        { "a_", "a_0", 0, 1 }, { "a_", "a_2", 1, 3 }, { "a_", "a_12", 12, 13 }, { "b", "b4", 3, 5 }, { "", "5", 5, 6 },
        { "", "8", 6, 9 },     { "b", "b18446744073709551614", UINT64_MAX - 1, UINT64_MAX },
    };
    static const char *const taken[] = { "a_1", "b3", "6", "7", "a_", "a_02" };
    text_table t;
    text_table_init(&t, &memory_default);
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        assert_non_null(text_table_add(&t, xir_str_of(taken[i]), 0));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[8 + NUMBER_ROOM];
        uint64_t next = cases[i].next;
        strcpy(text, cases[i].stem);
        const xir_str key = text_table_unused(&t, text, strlen(text), &next);
        assert_true(xir_str_equal(key, xir_str_of(cases[i].expected)));
        assert_int_equal(next, cases[i].after);
    }
    text_table_free(&t);
}

/* Reserved memory is not moved. */
static void reserved_room_lasts(void **state) {
    (void)state;
    static char keys[1000 * 8], names[1000][40];
    pointer_table p;
    text_table t;
    pointer_table_init(&p, &memory_default);
    text_table_init(&t, &memory_default);
    assert_true(pointer_table_reserve(&p, 1000));
    assert_true(text_table_reserve(&t, 1000));
    const void *pointers = p.slots, *texts = t.slots, *items = t.items;
    for (uint32_t i = 0; i < 1000; i++) {
        assert_non_null(pointer_table_add(&p, keys + 8 * i, i));
        assert_non_null(text_table_add(&t, key_of(i, names[i], sizeof names[i]), i));
    }
    assert_ptr_equal(p.slots, pointers);
    assert_ptr_equal(t.slots, texts);
    assert_ptr_equal(t.items, items);
    assert_true(pointer_table_reserve(&p, 10));
    assert_true(text_table_reserve(&t, 10));
    assert_false(pointer_table_reserve(&p, SIZE_MAX));
    assert_false(pointer_table_reserve(&p, SIZE_MAX / 2 + 2));
    assert_false(text_table_reserve(&t, SIZE_MAX));
    assert_int_equal(*pointer_table_find(&p, keys), 0);
    assert_int_equal(*text_table_find(&t, (xir_str){ names[9], strlen(names[9]) }), 9);
    pointer_table_free(&p);
    text_table_free(&t);
}

/* ---- without memory --------------------------------------------------------------------------------------------- */

/* If growing is refused, the table is unchanged, and the same call succeeds later. */
static void refused_growth_changes_nothing(void **state) {
    (void)state;
    static char keys[100 * 8], names[100][40];
    for (size_t refuse = 0; refuse < 17; refuse++) {
        scarce memory = { .refuse = refuse };
        xir_allocator a = scarce_allocator(&memory);
        pointer_table p;
        text_table t;
        pointer_table_init(&p, &a);
        text_table_init(&t, &a);
        for (uint32_t i = 0; i < 100; i++) {
            xir_str name = key_of(i, names[i], sizeof names[i]);
            uint32_t *by_pointer = pointer_table_add(&p, keys + 8 * i, i);
            if (!by_pointer) {
                assert_int_equal(p.n, i);
                if (i) assert_int_equal(*pointer_table_find(&p, keys), 0);
                assert_null(pointer_table_find(&p, keys + 8 * i));
                by_pointer = pointer_table_add(&p, keys + 8 * i, i);
            }
            uint32_t *by_text = text_table_add(&t, name, i);
            if (!by_text) {
                assert_int_equal(t.n, i);
                if (i) assert_int_equal(*text_table_find(&t, (xir_str){ names[0], strlen(names[0]) }), 0);
                assert_null(text_table_find(&t, name));
                by_text = text_table_add(&t, name, i);
            }
            assert_int_equal(*by_pointer, i);
            assert_int_equal(*by_text, i);
        }
        /* At the first key and at 9, 17, 33, 65 keys the slots of both grow, and the items of the texts. */
        assert_int_equal(memory.refused, refuse < 15);
        for (uint32_t i = 0; i < 100; i++) assert_int_equal(*pointer_table_find(&p, keys + 8 * i), i);
        pointer_table_free(&p);
        text_table_free(&t);
        assert_int_equal(memory.blocks, 0);
        assert_int_equal(memory.bytes, 0);
    }
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte_counts),     cmocka_unit_test(pointers_are_found),
        cmocka_unit_test(pointers_collide),      cmocka_unit_test(texts_are_found),
        cmocka_unit_test(texts_are_bytes),       cmocka_unit_test(unused_texts_are_found),
        cmocka_unit_test(reserved_room_lasts),   cmocka_unit_test(refused_growth_changes_nothing),
    };
    return cmocka_run_group_tests_name("hash", tests, NULL, NULL);
}
