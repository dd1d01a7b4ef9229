/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The FlatBuffers schema: the printed one equals docs/xir.fbs, which fixes slots and tags; classes of programs do not
 * change it. The numbers checked here show that it agrees with the original's schema. */
#include "flat/schema.h"
#include "support/own.h"
#include "support/scarce.h"

static flat_schema schema;

static const flat_table *table(const char *name) {
    for (uint32_t i = 0; i < schema.n_tables; i++) {
        if (strcmp(schema.tables[i]->name, name) == 0) return schema.tables[i];
    }
    fail_msg("no table %s", name);
    return NULL;
}

static const flat_slot *slot(const char *of, const char *name) {
    const flat_table *t = table(of);
    for (uint32_t i = 0; i < t->n_slots; i++) {
        if (xir_str_equal(t->slots[i].name, xir_str_of(name))) return &t->slots[i];
    }
    fail_msg("%s has no %s", of, name);
    return NULL;
}

static bool gather_text(void *user, const void *data, size_t size) {
    buffer_put(user, data, size);
    return true;
}

static void check_printed(void) {
    buffer text;
    buffer_init(&text, context_alloc(ctx));
    assert_int_equal(xir_flat_schema(ctx, gather_text, &text, why), XIR_OK);
    FILE *f = fopen(XIR_TEST_DATA "/../docs/xir.fbs", "rb");
    assert_non_null(f);
    char *golden = malloc(1 << 20);
    assert_non_null(golden);
    size_t size = fread(golden, 1, 1 << 20, f);
    fclose(f);
    assert_int_equal(text.size, size);   /* to update it: xir schema --fbs > docs/xir.fbs */
    assert_memory_equal(text.data, golden, size);
    free(golden);
    buffer_free(&text);
}

static void the_printed_schema_is_the_one_in_docs(void **state) {
    (void)state;
    check_printed();
    /* Classes of a program, with tags that are used or unused, are not in it. */
    static const xir_class_decl *(*const own[])(void) = { xir_own_thing_class, xir_own_grain_class, xir_own_box_class,
                                                          xir_own_mix_class };
    for (size_t i = 0; i < COUNT(own); i++) assert_int_equal(xir_class_register(ctx, own[i](), why), XIR_OK);
    check_printed();
}

static void numbers_are_those_of_the_original(void **state) {
    (void)state;
    assert_true(flat_schema_init(&schema, ctx));
    assert_int_equal(schema.n_tables, 150);
    static const struct { const char *table; int number; } numbers[] = {
        { "HostTarget", 1 }, { "Bool", 8 }, { "Params", 12 }, { "TensorType", 24 }, { "Layout", 34 }, { "Network", 40 },
        { "Input", 42 }, { "Conv2d", 66 }, { "HardOp", 83 }, { "Where", 146 }, { "Operation", 147 }, { "ObjectRef", 149 }, { "Part", 150 },
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        assert_int_equal(table(numbers[i].table)->number, numbers[i].number);
    }
    static const struct { const char *table, *name; int slot; flat_kind kind; } slots[] = {
        { "Conv2d",          "stride_width",   0,  FLAT_I64    }, { "Conv2d",     "padding_mode", 9,  FLAT_ENUM   },
        { "Conv2d",          "cut_scale",      10, FLAT_UNION  }, { "Conv2d",     "op_id",        12, FLAT_I64    },
        { "Conv2d",          "inputs",         14, FLAT_UNIONS }, { "Conv2d",     "tags",         20, FLAT_JSON   },
        { "Conv2d",          "extra",          21, FLAT_TEXT   }, { "Conv2d",     "extra_params", 22, FLAT_TABLES },
        { "Add",             "alpha",          0,  FLAT_UNIONS }, { "Argmax",     "dim",          0,  FLAT_TABLE  },
        { "HardOp",          "instr",          0,  FLAT_TABLES }, { "HardOp",     "device_info",  3,  FLAT_JSON   },
        { "HardOp",          "sub_hard_ops",   5,  FLAT_TABLES }, { "AlignAxis",  "aligned_units", 0, FLAT_TABLES },
        { "IntegerType",     "ibits",          1,  FLAT_U64    }, { "MergedAxisDistr", "uvalue",  2,  FLAT_TEXT   },
        { "TensorType",      "element_dtype",  0,  FLAT_UNION  }, { "TensorType", "merged_distrs", 4, FLAT_TABLES },
        { "Params",          "_data",          8,  FLAT_BYTES  }, { "Params",     "extra",        9,  FLAT_TEXT   },
        { "Network",         "ops",            8,  FLAT_UNIONS }, { "Network",    "ai_target",    10, FLAT_UNION  },
        { "Network",         "extra",          12, FLAT_TEXT   }, { "Network",    "params_table", 13, FLAT_I64S   },
    };
    for (size_t i = 0; i < sizeof slots / sizeof slots[0]; i++) {
        const flat_slot *s = slot(slots[i].table, slots[i].name);
        assert_int_equal(s->slot, slots[i].slot);
        assert_int_equal(s->kind, slots[i].kind);
    }
    /* in a type, an element */
    assert_string_equal(slot("TensorType", "element_dtype")->family->name, "ScalarType_box");
    assert_string_equal(slot("IntImm", "dtype")->family->name, "DataType_box");
    assert_ptr_equal(slot("HardOp", "sub_hard_ops")->table, table("HardOp"));
    assert_int_equal(flat_tag(schema.ops, table("Conv2d")), 25);
    assert_int_equal(flat_tag(schema.ops, table("Operation")), 106);
    assert_int_equal(flat_tag(schema.types, table("TensorType")), 10);
    assert_int_equal(flat_tag(slot("TensorType", "element_dtype")->family, table("TensorType")), 0);
    assert_int_equal(flat_tag(schema.ops, table("Value")), 0);
    flat_schema_free(&schema);
}

static void exactly_the_classes_of_the_schema_are_found(void **state) {
    (void)state;
    assert_true(flat_schema_init(&schema, ctx));
    size_t found = 0;
    const xir_class *cls;
    for (size_t i = 0; (cls = xir_context_class_at(ctx, i)) != NULL; i++) {
        const flat_table *t = flat_table_of(&schema, cls);
        found += t != NULL;
        if (cls->is_op) assert_int_equal(t != NULL, cls->more->tag >= 1 && cls->more->tag <= 105);
        if (t) assert_ptr_equal(t->cls, cls);
    }
    assert_int_equal(found, 105 + 29);
    assert_null(flat_table_of(&schema, xir_class_find_decl(ctx, xir_own_mix_class())));
    assert_null(flat_table_of(&schema, class_opaque(ctx, XIR_STR("nobody::Knows"), true)));
    flat_schema_free(&schema);
}

static void float_formats_are_their_numbers(void **state) {
    (void)state;
    for (int f = 0; f <= XIR_FLOAT_FPE6M9; f++) {
        int64_t numbers[4];
        flat_float_of((xir_float_format)f, numbers);
        assert_int_equal(flat_float_format(numbers), f);
        numbers[3]++;
        assert_int_equal(flat_float_format(numbers), -1);
    }
}

static void printing(want *w) {
    buffer text;
    buffer_init(&text, &memory_default);
    TRY(w, xir_flat_schema(w->ctx, gather_text, &text, w->why));
    buffer_free(&text);
}

static void without_memory_it_is_not_printed(void **state) {
    (void)state;
    run_scarcely("schema", printing, false);
}

static bool refuse_all(void *user, const void *data, size_t size) {
    (void)user;
    (void)data;
    (void)size;
    return false;
}

static void a_callback_that_stops_is_a_failure(void **state) {
    (void)state;
    assert_int_equal(xir_flat_schema(ctx, refuse_all, NULL, why), XIR_E_IO);
    assert_int_equal(xir_diags_count(why), 1);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_printed_schema_is_the_one_in_docs),
        cmocka_unit_test(numbers_are_those_of_the_original),
        cmocka_unit_test(exactly_the_classes_of_the_schema_are_found),
        cmocka_unit_test(float_formats_are_their_numbers),
        cmocka_unit_test(without_memory_it_is_not_printed),
        cmocka_unit_test(a_callback_that_stops_is_a_failure),
    };
    return RUN_GROUP(tests);
}
