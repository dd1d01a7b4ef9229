/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The builder of FlatBuffers tables: bytes by hand, alignment of random items, limits, memory. */
#include <sys/mman.h>
#include "flat/build.h"
#include "support/net.h"

typedef struct bytes { uint8_t data[1 << 20]; size_t size; int pieces; } bytes;

static bool gather(void *user, const void *data, size_t size) {
    bytes *b = user;
    assert_true(b->size + size <= sizeof b->data);
    if (size) memcpy(b->data + b->size, data, size);
    b->size += size;
    b->pieces++;
    return true;
}

static flat_builder begun(void) {
    flat_builder b;
    flat_builder_init(&b, context_alloc(ctx));
    return b;
}

#define CHECK_BYTES(b, ...) check_bytes(b, (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }))
static void check_bytes(const flat_builder *b, const uint8_t *expected, size_t size) {
    static bytes all;
    all.size = 0;
    assert_true(flat_builder_write(b, gather, &all));
    assert_int_equal(all.size, b->size);
    assert_int_equal(all.size, size);
    assert_memory_equal(all.data, expected, size);
}

static void a_table_has_its_largest_fields_first(void **state) {
    (void)state;
    flat_builder b = begun();
    flat_last last = { 0 };
    flat_fields f;
    flat_fields_init(&f);
    uint32_t text = flat_string(&b, "abc", 3);
    flat_set8(&f, 0, 0x11);
    flat_set_at(&f, 1, text);
    flat_set64(&f, 3, 0x0102030405060708);
    flat_set32(&f, 4, 0xA1A2A3A4);
    flat_set64(&f, 6, 0);   /* 0 is absent */
    uint32_t table = flat_table_put(&b, &f, &last);
    assert_int_equal(text, 8);
    assert_int_equal(table, 36);   /* 21 bytes, and 7 after them to align the field of 8 */
    CHECK_BYTES(&b,
        /* vtable: its size, the table's, slots 0 to 4            */
        14, 0,  21, 0,  20, 0,  12, 0,  0, 0,  4, 0,  16, 0,
        /* table: the vtable is 14 bytes before                   */
        14, 0, 0, 0,
        /* slot 3                                                 */
        8, 7, 6, 5, 4, 3, 2, 1,
        /* slot 1: the text is 16 bytes later                   */
        16, 0, 0, 0,
        /* slot 4                                                 */
        0xA4, 0xA3, 0xA2, 0xA1,
        /* slot 0, and padding                                */
        0x11,  0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 'a', 'b', 'c', 0);
    assert_int_equal(flat_table_slot(&b, table, 3), table - 4);
    assert_int_equal(flat_table_slot(&b, table, 2), 0);
    assert_int_equal(flat_table_slot(&b, table, 6), 0);
    assert_int_equal(little_u32(flat_at(&b, flat_table_slot(&b, table, 4))), 0xA1A2A3A4);
    flat_builder_free(&b);
}

static void equal_tables_share_a_vtable(void **state) {
    (void)state;
    flat_builder b = begun();
    flat_last one = { 0 }, other = { 0 };
    flat_fields f;
    flat_fields_init(&f);
    flat_set32(&f, 0, 1);
    flat_table_put(&b, &f, &one);       /* a table of 8, a vtable of 6                        */
    assert_int_equal(b.size, 14);
    flat_table_put(&b, &f, &one);       /* 8, and 2 to align                                  */
    assert_int_equal(b.size, 24);
    flat_table_put(&b, &f, &other);     /* another kind of table, the same vtable: found by its bytes */
    assert_int_equal(b.size, 32);
    flat_set32(&f, 5, 7);
    flat_table_put(&b, &f, &one);       /* 12 and a vtable of 16                              */
    assert_int_equal(b.size, 60);
    flat_fields_init(&f);
    flat_set32(&f, 0, 9);
    flat_table_put(&b, &f, &one);       /* the first again                                    */
    assert_int_equal(b.size, 68);
    flat_fields_init(&f);
    uint32_t empty = flat_table_put(&b, &f, &one);   /* a table without fields, a vtable without slots */
    assert_int_equal(empty, 72);
    assert_int_equal(b.size, 76);
    CHECK_BYTES(&b,
        4, 0,  4, 0,   4, 0, 0, 0,                               /* 76: vtable, table                   */
        0xCA, 0xFF, 0xFF, 0xFF,  9, 0, 0, 0,                     /* 68: the vtable is 54 bytes later   */
        16, 0,  12, 0,  4, 0,  0, 0,  0, 0,  0, 0,  0, 0,  8, 0, /* 60: vtable                          */
        16, 0, 0, 0,  1, 0, 0, 0,  7, 0, 0, 0,
        0xEE, 0xFF, 0xFF, 0xFF,  1, 0, 0, 0,
        0xF6, 0xFF, 0xFF, 0xFF,  1, 0, 0, 0,  0, 0,
        6, 0,  8, 0,  4, 0,   6, 0, 0, 0,  1, 0, 0, 0);
    flat_builder_free(&b);
}

static void offsets_lead_forward(void **state) {
    (void)state;
    flat_builder b = begun();
    uint32_t at[3] = { flat_string(&b, "", 0), 0, 0 };
    at[2] = flat_string(&b, "xyz!", 4);
    uint32_t vector = flat_offsets(&b, at, 3, sizeof *at);
    assert_int_equal(vector, 8 + 12 + 16);
    CHECK_BYTES(&b, 3, 0, 0, 0,  24, 0, 0, 0,  0, 0, 0, 0,  4, 0, 0, 0,   /* an absent item is 0 */
                4, 0, 0, 0, 'x', 'y', 'z', '!', 0, 0, 0, 0,   0, 0, 0, 0, 0, 0, 0, 0);
    flat_builder_free(&b);
}

/* Random items, over many blocks: each is aligned and stays unchanged. */
static void everything_is_aligned_and_stays(void **state) {
    (void)state;
    enum { THINGS = 3000 };
    static struct { uint32_t at, n; size_t item; } things[THINGS];
    static bytes all;
    flat_builder b = begun();
    for (size_t i = 0; i < THINGS; i++) {
        static const size_t items[] = { 1, 4, 8 };
        things[i].item = items[chance(3)];
        things[i].n = (uint32_t)chance(i % 500 ? 30 : 5000);
        uint8_t *p = flat_vector(&b, things[i].n, things[i].item, &things[i].at);
        memset(p, (int)(i & 0xFF), things[i].n * things[i].item);
    }
    assert_non_null(flat_take(&b, 4, 8, 0));
    assert_true(b.n_blocks > 3);
    all.size = 0;
    all.pieces = 0;
    assert_true(flat_builder_write(&b, gather, &all));
    assert_int_equal(all.size, b.size);
    assert_int_equal(all.size % 8, 0);
    assert_int_equal(all.pieces, b.n_blocks);
    for (size_t i = 0; i < THINGS; i++) {
        size_t first = all.size - things[i].at + 4, item = things[i].item;
        assert_int_equal(first % (item == 8 ? 8 : 4), 0);
        assert_int_equal(little_u32(all.data + first - 4), things[i].n);
        assert_memory_equal(flat_at(&b, things[i].at), all.data + first - 4, 4 + things[i].n * item);
        for (size_t k = 0; k < things[i].n * item; k++) assert_int_equal(all.data[first + k], i & 0xFF);
    }
    flat_builder_free(&b);
}

/* ---- limits ------------------------------------------------------------------------------------------------ */

/* Memory that exists only when it is touched. */
static void *sparse(void *user, void *block, size_t old_size, size_t size) {
    (void)user;
    if (size == 0) {
        munmap(block, old_size);
        return NULL;
    }
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

static void two_gib_are_the_limit(void **state) {
    (void)state;
    const xir_allocator alloc = { .resize = sparse };
    uint32_t at;
    flat_builder b;
    flat_builder_init(&b, &alloc);
    assert_non_null(flat_vector(&b, (1 << 30) - 4, 1, &at));
    assert_int_equal(at, 1 << 30);
    assert_non_null(flat_vector(&b, (1 << 30) - 12, 1, &at));   /* 8 bytes are left, one more than allowed */
    assert_int_equal(b.size, 0x7FFFFFF8);
    assert_null(flat_take(&b, 8, 4, 0));
    assert_int_equal(b.status, XIR_E_LIMIT);
    assert_null(flat_take(&b, 1, 1, 0));   /* after a failure, nothing succeeds */
    flat_builder_free(&b);

    flat_builder_init(&b, &alloc);
    assert_null(flat_vector(&b, SIZE_MAX / 8, 8, &at));
    assert_int_equal(at, 0);
    assert_int_equal(b.status, XIR_E_LIMIT);
    flat_builder_free(&b);
    flat_builder_init(&b, &alloc);
    assert_int_equal(flat_string(&b, NULL, SIZE_MAX - 2), 0);
    assert_int_equal(b.status, XIR_E_LIMIT);
    flat_builder_free(&b);
}

/* The n-th allocation is refused. */
static size_t allocations, refused;
static void *scarce_resize(void *user, void *block, size_t old_size, size_t size) {
    (void)user;
    (void)old_size;
    if (size == 0) {
        free(block);
        return NULL;
    }
    return allocations++ == refused ? NULL : realloc(block, size);
}

static bool build_some(flat_builder *b) {
    flat_last last = { 0 };
    bool ok = true;
    for (uint32_t i = 0; i < 200; i++) {
        flat_fields f;
        flat_fields_init(&f);
        /* many vtables */
        for (uint32_t slot = 0; slot < 32; slot++) flat_set32(&f, slot, (i * 0x9E3779B9u) >> slot & 1);
        flat_set_at(&f, 40, flat_string(b, "0123456789", 10));
        ok = flat_table_put(b, &f, &last) != 0;
    }
    uint32_t at;
    return flat_vector(b, 100000, 8, &at) && ok;
}

static void refused_memory_is_a_failure(void **state) {
    (void)state;
    const xir_allocator alloc = { .resize = scarce_resize };
    bool ok = false;
    for (refused = 0; !ok; refused++) {
        flat_builder b;
        allocations = 0;
        flat_builder_init(&b, &alloc);
        ok = build_some(&b);
        assert_int_equal(b.status, ok ? XIR_OK : XIR_E_MEMORY);
        flat_builder_free(&b);
    }
    assert_true(refused > 5);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_has_its_largest_fields_first),
        cmocka_unit_test(equal_tables_share_a_vtable),
        cmocka_unit_test(offsets_lead_forward),
        cmocka_unit_test(everything_is_aligned_and_stays),
        cmocka_unit_test(two_gib_are_the_limit),
        cmocka_unit_test(refused_memory_is_a_failure),
    };
    return RUN_GROUP(tests);
}
