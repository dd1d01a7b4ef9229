/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Values without a class: equality, maps, copies. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <xir/any.h>
#include "object.h"
#include "support/program.h"

static arena memory;

static int set_up(void **state) {
    (void)state;
    arena_init(&memory, &memory_default);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    arena_free(&memory);
    return 0;
}

static xir_any uint_any(uint64_t v) { return (xir_any){ .kind = XIR_ANY_UINT, .as.uinteger = v }; }

/* Returns true if two are equal, and if so, whether their hashes are. */
static bool same(xir_any a, xir_any b) {
    bool equal = xir_any_equal(&a, &b);
    assert_int_equal(equal, xir_any_equal(&b, &a));
    assert_true(xir_any_equal(&a, &a));
    const xir_entry in_a = { XIR_STR("k"), a }, in_b = { XIR_STR("k"), b };
    const uint64_t of_a = map_hash(7, &(xir_map){ &in_a, 1 }), of_b = map_hash(7, &(xir_map){ &in_b, 1 });
    assert_int_equal(of_a == of_b, equal);   /* no two of these few collide */
    return equal;
}

static void kinds_are_distinct(void **state) {
    (void)state;
    xir_value *some = (xir_value *)&memory, *other = (xir_value *)&state;
    const xir_any items[] = { xir_any_int(1), xir_any_int(2) }, swapped[] = { xir_any_int(2), xir_any_int(1) };
    const xir_entry entries[] = { { XIR_STR("a"), items[0] } }, renamed[] = { { XIR_STR("b"), items[0] } };
    const xir_any rows[] = {
        xir_any_null(), xir_any_bool(false), xir_any_bool(true),
        xir_any_int(0), xir_any_int(1), xir_any_int(-1), uint_any(UINT64_MAX), uint_any((uint64_t)INT64_MAX + 1),
        xir_any_real(0.0), xir_any_real(-0.0), xir_any_real(1.0), xir_any_real(NAN), xir_any_real(INFINITY),
        xir_any_text(XIR_STR("")), xir_any_text(XIR_STR("a")), xir_any_text((xir_str){ "a\0", 2 }),
        xir_any_list(NULL, 0), xir_any_list(items, 1), xir_any_list(items, 2), xir_any_list(swapped, 2),
        xir_any_map(NULL, 0), xir_any_map(entries, 1), xir_any_map(renamed, 1),
        { .kind = XIR_ANY_PARAMS, .as.params = some }, { .kind = XIR_ANY_PARAMS, .as.params = other },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) assert_int_equal(same(rows[i], rows[k]), i == k);
    }
    assert_true(same(xir_any_int(5), uint_any(5)));   /* the same number */
}

static void maps_are_searched_by_bytes(void **state) {
    (void)state;
    /* '_' sorts after 'Z' and before 'a'; a prefix sorts before a longer text; bytes are unsigned. */
    static const char *const keys[] = { "", "Z", "_allow_no_data", "_type_key", "a", "aa", "b", "é" };
    enum { N = sizeof keys / sizeof keys[0] };
    xir_entry entries[N];
    for (size_t i = 0; i < N; i++) entries[i] = (xir_entry){ xir_str_of(keys[i]), xir_any_int((int64_t)i) };
    for (size_t n = 0; n <= N; n++) {
        const xir_map map = { entries, n };
        for (size_t i = 0; i < N; i++) {
            const xir_any *found = xir_map_find(&map, xir_str_of(keys[i]));
            assert_int_equal(found != NULL, i < n);
            if (found) assert_int_equal(found->as.integer, i);
        }
        assert_null(xir_map_find(&map, XIR_STR("aaa")));
    }
    assert_null(xir_map_find(NULL, XIR_STR("a")));
    assert_true(xir_map_equal(NULL, &(xir_map){ NULL, 0 }));
    assert_true(xir_map_equal(NULL, NULL));
    assert_false(xir_map_equal(NULL, &(xir_map){ entries, 1 }));
}

/* A copy is equal and shares nothing with its source. */
static void copies_are_deep(void **state) {
    (void)state;
    char text[] = "text", key[] = "key", inner_key[] = "inner";
    xir_any items[] = { xir_any_text(xir_str_of(text)), xir_any_real(0.5), xir_any_list(NULL, 0), uint_any(3) };
    xir_entry inner[] = { { xir_str_of(inner_key), xir_any_list(items, 4) } };
    xir_entry entries[] = { { xir_str_of(key), xir_any_map(inner, 1) } };
    xir_any from = xir_any_map(entries, 1), to;
    assert_true(any_copy(&memory, &from, &to));
    assert_true(same(from, to));

    memset(text, '#', sizeof text);
    memset(key, '#', sizeof key);
    memset(inner_key, '#', sizeof inner_key);
    memset(items, 0, sizeof items);
    const xir_any *list = xir_map_find(&xir_map_find(&to.as.map, XIR_STR("key"))->as.map, XIR_STR("inner"));
    assert_int_equal(list->as.list.size, 4);
    assert_true(xir_str_equal(list->as.list.items[0].as.text, XIR_STR("text")));
    assert_int_equal(list->as.list.items[3].kind, XIR_ANY_INT);   /* of the kind that it fits */
}

static const xir_map *with(const xir_map *map, const char *key, int64_t value) {
    const xir_any any = xir_any_int(value);
    const xir_map *out = NULL;
    assert_true(map_with(&memory, map, xir_str_of(key), &any, &out));
    return out;
}

static const xir_map *without(const xir_map *map, const char *key) {
    const xir_map *out = NULL;
    assert_true(map_with(&memory, map, xir_str_of(key), NULL, &out));
    return out;
}

static void a_changed_map_is_a_new_one(void **state) {
    (void)state;
    const xir_map *one = with(NULL, "m", 1), *two = with(one, "a", 2), *three = with(two, "z", 3);
    assert_int_equal(one->size, 1);
    assert_int_equal(two->size, 2);
    assert_int_equal(three->size, 3);
    for (size_t i = 1; i < three->size; i++)
        assert_true(three->entries[i - 1].key.data[0] < three->entries[i].key.data[0]);
    const xir_map *changed = with(three, "m", 9);
    assert_int_equal(xir_map_find(changed, XIR_STR("m"))->as.integer, 9);
    assert_int_equal(xir_map_find(three, XIR_STR("m"))->as.integer, 1);  /* unchanged */
    assert_int_equal(changed->size, 3);

    assert_ptr_equal(with(three, "m", 1), three);        /* no change: nothing is made */
    assert_ptr_equal(without(three, "none"), three);
    assert_null(without(NULL, "none"));
    const xir_map *cut = without(three, "m");
    assert_int_equal(cut->size, 2);
    assert_null(xir_map_find(cut, XIR_STR("m")));
    assert_null(without(one, "m"));                      /* an empty map is NULL */
}

/* Any order of setting and removing gives the same as a plain list of pairs. */
static void random_maps_agree_with_a_list(void **state) {
    (void)state;
    int64_t model[26] = { 0 };   /* 0: absent */
    const xir_map *map = NULL;
    uint32_t random = 12345;
    for (int step = 0; step < 20000; step++) {
        random = random * 1664525u + 1013904223u;
        int k = (int)(random >> 16) % 26, value = (int)(random >> 24);
        char key[] = { (char)('a' + k), '\0' };
        map = value < 96 ? without(map, key) : with(map, key, value);
        model[k] = value < 96 ? 0 : value;
        size_t n = 0;
        for (int i = 0; i < 26; i++) {
            if (!model[i]) continue;
            assert_true(n < map->size && map->entries[n].key.data[0] == 'a' + i);
            assert_int_equal(map->entries[n++].value.as.integer, model[i]);
        }
        assert_int_equal(map ? map->size : 0, n);
    }
}

static void *refuse(void *user, void *block, size_t old_size, size_t size) {
    (void)old_size;
    size_t *left = user;
    if (size == 0) {
        free(block);
        return NULL;
    }
    if (*left == 0) return NULL;
    --*left;
    return realloc(block, size);
}

static void without_memory_nothing_is_made(void **state) {
    (void)state;
    char *text = calloc(1, 5000);   /* more than an arena's first chunk */
    const xir_any item = xir_any_text((xir_str){ text, 5000 });
    const xir_entry entry = { XIR_STR("k"), xir_any_list(&item, 1) };
    const xir_any from = xir_any_map(&entry, 1);
    for (size_t allowed = 0;; allowed++) {
        size_t left = allowed;
        const xir_allocator alloc = { refuse, &left };
        arena small;
        arena_init(&small, &alloc);
        xir_any to = xir_any_int(1);
        const xir_map *map = NULL;
        bool copied = any_copy(&small, &from, &to), set = map_with(&small, NULL, XIR_STR("k"), &item, &map);
        if (!copied) assert_true(to.kind == XIR_ANY_INT && to.as.integer == 1);
        if (!set) assert_null(map);
        arena_free(&small);
        if (copied && set) break;
        assert_true(allowed < 20);
    }
    free(text);
}

#define STORY(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

/* Keys of a few letters, so that many are equal; the value is the position before sorting. */
static void entries_are_sorted_and_equal_keys_keep_their_order(void **state) {
    (void)state;
    static const char letters[] = "bacbcaabbcca";
    for (size_t n = 0; n < 70; n++) {
        for (size_t step = 1; step < 8; step++) {
            xir_entry entries[70];
            for (size_t i = 0; i < n; i++) {
                entries[i] = (xir_entry){ { letters + i * step % 11, i % 2 + 1 }, xir_any_int((int64_t)i) };
            }
            assert_true(entries_sort(&memory, entries, n));
            for (size_t i = 1; i < n; i++) {
                int order = str_order(entries[i - 1].key, entries[i].key);
                assert_true(order < 0 || (order == 0 && entries[i - 1].value.as.integer < entries[i].value.as.integer));
            }
        }
    }
}

GROUP {
    const struct CMUnitTest tests[] = {
        STORY(kinds_are_distinct),
        STORY(maps_are_searched_by_bytes),
        STORY(entries_are_sorted_and_equal_keys_keep_their_order),
        STORY(copies_are_deep),
        STORY(a_changed_map_is_a_new_one),
        STORY(random_maps_agree_with_a_list),
        STORY(without_memory_nothing_is_made),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
