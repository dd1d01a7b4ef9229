/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The tables of the schema: the original's 149, and one of XIR's after them. In the order of the original's
 * ObjectRef_box union, 44 of them are named here, and the operations are inserted between them by their tags. A table
 * whose fields are the rows of its class is only named; the others list their fields. */
#include "flat/schema.h"

/* ---- contents ---------------------------------------------------------------------------------------------- */

typedef struct field_text { const char *name; flat_kind kind; const char *of; } field_text;

/* Fields of tables that are not rows; `of` names a table or a union. */
static const field_text scalar_fields[]  = { { "dtype", FLAT_UNION, "DataType_box" },
                                             { "mtype", FLAT_UNION, "MemType_box" }, { 0 } };
static const field_text quant_fields[]   = { { "storage_dtype", FLAT_UNION, "ScalarType_box" },
                                             { "expressed_dtype", FLAT_UNION, "ScalarType_box" }, { 0 } };
static const field_text params_fields[]  = { { "_allow_no_data", FLAT_BOOL, NULL }, { "v_id", FLAT_I64, NULL },
                                             { "name", FLAT_TEXT, NULL }, { "tags", FLAT_JSON, NULL },
                                             { "dtype", FLAT_UNION, "DataType_box" }, { "mtype", FLAT_UNION, "MemType_box" },
                                             { "_data", FLAT_BYTES, NULL }, { 0 } };
static const field_text value_fields[]   = { { "v_id", FLAT_I64, NULL }, { "name", FLAT_TEXT, NULL },
                                             { "tags", FLAT_JSON, NULL },
                                             { "dtype", FLAT_UNION, "DataType_box" }, { "mtype", FLAT_UNION, "MemType_box" },
                                             { 0 } };
static const field_text distr_fields[]   = { { "merged_axis", FLAT_I64S, NULL }, { "valid_mask", FLAT_BYTES, NULL },
                                             { "uvalue", FLAT_TEXT, NULL }, { 0 } };
static const field_text ratios_fields[]  = { { "axis", FLAT_I64, NULL }, { "data", FLAT_F32S, NULL }, { 0 } };
static const field_text exp_scales_fields[] = { { "m", FLAT_I64S, NULL }, { "exp", FLAT_I64S, NULL },
                                                { "axis", FLAT_I64, NULL },
                                                { "origin_scale", FLAT_F32S, NULL }, { 0 } };
static const field_text scales_fields[]     =
    { { "axis", FLAT_I64, NULL }, { "origin_scale", FLAT_F32S, NULL }, { 0 } };
static const field_text unit_fields[]    = { { "unit", FLAT_U64, NULL }, { "name", FLAT_TEXT, NULL }, { 0 } };
static const field_text name_fields[]    = { { "name", FLAT_TEXT, NULL }, { 0 } };
static const field_text layout_fields[]  = { { "axis_names", FLAT_UNIONS, "AxisName_box" }, { 0 } };
static const field_text float_fields[]   = { { "emax", FLAT_I64, NULL }, { "emin", FLAT_I64, NULL },
                                             { "precision", FLAT_U64, NULL }, { "fbits", FLAT_U64, NULL }, { 0 } };
static const field_text network_fields[] = {
    { "name", FLAT_TEXT, NULL }, { "framework_kind", FLAT_TEXT, NULL }, { "framework_version", FLAT_TEXT, NULL },
    { "icraft_xir_version", FLAT_TEXT, NULL }, { "icraft_version", FLAT_TEXT, NULL }, { "params_bytes", FLAT_U64, NULL },
    { "params_md5", FLAT_TEXT, NULL }, { "tags", FLAT_JSON, NULL }, { "ops", FLAT_UNIONS, "Operation_box" },
    { "ai_target", FLAT_UNION, "CompileTarget_box" }, { 0 } };
static const field_text base_fields[]    = { { "ops", FLAT_UNIONS, "Operation_box" },
                                             { "ai_target", FLAT_UNION, "CompileTarget_box" },
                                             { 0 } };
static const field_text none[] = { { 0 } };

/* A table has the name of its class without "icraft::xir::". */
static const struct { const char *name; flat_shape shape; const field_text *fields; } named[] = {
    { "HostTarget",              FLAT_ROWS,        NULL              },
    { "FPGATarget",              FLAT_ROWS,        NULL              },
    { "CustomTarget",            FLAT_ROWS,        NULL              },
    { "BuyiTarget",              FLAT_ROWS,        NULL              },
    { "ZhugeTarget",             FLAT_ROWS,        NULL              },
    { "WolongTarget",            FLAT_ROWS,        NULL              },
    { "CompileTarget",           FLAT_UNUSED,      none              },
    { "Bool",                    FLAT_ROWS,        NULL              },
    { "IntImm",                  FLAT_ROWS,        NULL              },
    { "FloatImm",                FLAT_ROWS,        NULL              },
    { "ScalarImm",               FLAT_UNUSED,      scalar_fields     },
    { "Params",                  FLAT_PARAMS,      params_fields     },
    { "Value",                   FLAT_VALUE,       value_fields      },
    { "Data",                    FLAT_UNUSED,      scalar_fields     },
    { "BoolType",                FLAT_ROWS,        NULL              },
    { "IntegerType",             FLAT_ROWS,        NULL              },
    { "FloatType",               FLAT_FLOAT,       float_fields      },
    { "CalibratedType",          FLAT_ROWS,        NULL              },
    { "NormalizedType",          FLAT_ROWS,        NULL              },
    { "NormalizedQuantizedType", FLAT_ROWS,        NULL              },
    { "QuantizedType",           FLAT_ROWS,        NULL              },
    { "BaseQuantizedType",       FLAT_UNUSED,      quant_fields      },
    { "ScalarType",              FLAT_UNUSED,      none              },
    { "TensorType",              FLAT_ROWS,        NULL              },
    { "DataType",                FLAT_UNUSED,      none              },
    { "MergedAxisDistr",         FLAT_DISTR,       distr_fields      },
    { "NormratioArray",          FLAT_NORM_RATIOS, ratios_fields     },
    { "ExpQuantizedScale",       FLAT_ROWS,        NULL              },
    { "QuantizedScale",          FLAT_ROWS,        NULL              },
    { "ExpQuantizedScaleArray",  FLAT_EXP_SCALES,  exp_scales_fields },
    { "QuantizedScaleArray",     FLAT_SCALES,      scales_fields     },
    { "AxisUnit",                FLAT_AXIS_UNIT,   unit_fields       },
    { "AxisName",                FLAT_AXIS_NAME,   name_fields       },
    { "Layout",                  FLAT_LAYOUT,      layout_fields     },
    { "HostMem",                 FLAT_ROWS,        NULL              },
    { "OnChipMem",               FLAT_ROWS,        NULL              },
    { "ExternalMem",             FLAT_ROWS,        NULL              },
    { "ChunkMem",                FLAT_ROWS,        NULL              },
    { "MemType",                 FLAT_UNUSED,      none              },
    { "Network",                 FLAT_NETWORK,     network_fields    },
    { "NetworkBase",             FLAT_UNUSED,      base_fields       },
    /* the operations come here, by their tags */
    { "Operation",               FLAT_UNUSED,      none              },
    { "AlignedUnit",             FLAT_ROWS,        NULL              },
    { "ObjectRef",               FLAT_UNUSED,      none              },
};
enum { NAMED = sizeof named / sizeof named[0], BEFORE_OPS = NAMED - 3, OPS = 105, TABLES = NAMED + OPS };

/* After the original's tables: the root of a file that is a single object, op or value. */
static const field_text part_fields[] = { { "object", FLAT_UNION, "ObjectRef_box" }, { 0 } };

/* Unions: the members have the tags from 1 on. */
static const struct { const char *name, *members; } unions[] = {
    { "CompileTarget_box",       "HostTarget FPGATarget CustomTarget BuyiTarget ZhugeTarget WolongTarget CompileTarget" },
    { "MemType_box",             "HostMem OnChipMem ExternalMem ChunkMem MemType" },
    { "Value_box",               "Params Value" },
    { "Data_box",                "Bool IntImm FloatImm ScalarImm Params Value Data" },
    { "ScalarImm_box",           "Bool IntImm FloatImm ScalarImm" },
    { "DataType_box",            "BoolType IntegerType FloatType CalibratedType NormalizedType NormalizedQuantizedType "
                                 "QuantizedType BaseQuantizedType ScalarType TensorType DataType" },
    { "ScalarType_box",          "BoolType IntegerType FloatType CalibratedType NormalizedType NormalizedQuantizedType "
                                 "QuantizedType BaseQuantizedType ScalarType" },
    { "BaseQuantizedType_box",   "CalibratedType NormalizedType NormalizedQuantizedType QuantizedType BaseQuantizedType" },
    { "QuantizedType_box",       "NormalizedQuantizedType QuantizedType" },
    { "QuantizedScale_box",      "ExpQuantizedScale QuantizedScale" },
    { "QuantizedScaleArray_box", "ExpQuantizedScaleArray QuantizedScaleArray" },
    { "AxisName_box",            "AxisUnit AxisName" },
    { "NetworkBase_box",         "Network NetworkBase" },
    { "Operation_box",           NULL },   /* the operations by their tags, and Operation */
    { "ObjectRef_box",           NULL },   /* all tables                                  */
};
enum { UNIONS = sizeof unions / sizeof unions[0] };

/* The union for a reference to a class. A class without derived classes needs none. */
static const struct { const char *cls, *family; } families[] = {
    { "CompileTarget",       "CompileTarget_box"       },
    { "MemType",             "MemType_box"             },
    { "DataType",            "DataType_box"            },
    { "ScalarType",          "ScalarType_box"          },
    { "BaseQuantizedType",   "BaseQuantizedType_box"   },
    { "ScalarImm",           "ScalarImm_box"           },
    { "QuantizedScaleArray", "QuantizedScaleArray_box" },
};

/* ---- construction ------------------------------------------------------------------------------------------ */

#define PREFIX "icraft::xir::"
enum { PREFIX_SIZE = sizeof PREFIX - 1, MOST_SLOTS = 64 };

/* The name of a class's table. The key is terminated by a zero. */
static const char *short_name(const xir_class *cls) {
    bool own = cls->key.size > PREFIX_SIZE && memcmp(cls->key.data, PREFIX, PREFIX_SIZE) == 0;
    return own ? cls->key.data + PREFIX_SIZE : NULL;
}

static flat_table *find_table(const flat_schema *s, const char *name) {
    for (uint32_t i = 0; i < s->n_tables; i++) {
        if (strcmp(s->tables[i]->name, name) == 0) return (flat_table *)(uintptr_t)s->tables[i];
    }
    return NULL;
}

static const flat_family *find_family(const flat_schema *s, const char *name) {
    for (uint32_t i = 0; i < s->n_families; i++) {
        if (strcmp(s->families[i]->name, name) == 0) return s->families[i];
    }
    return NULL;
}

const flat_table *flat_table_of(const flat_schema *s, const xir_class *cls) {
    const uint32_t *at = pointer_table_find(&s->by_class, cls);
    return at ? s->tables[*at] : NULL;
}

uint8_t flat_tag(const flat_family *family, const flat_table *table) {
    if (family->n > OPS && table->shape == FLAT_OP) {   /* no need to search: its tag is known */
        uint32_t tag = table->cls->more->tag + (family->n > TABLES ? BEFORE_OPS : 0);
        return tag < family->n && family->members[tag] == table ? (uint8_t)tag : 0;
    }
    for (uint32_t tag = 1; tag < family->n; tag++) {
        if (family->members[tag] == table) return (uint8_t)tag;
    }
    return 0;
}

static bool add_table(flat_schema *s, const char *name, flat_shape shape, const xir_class *cls) {
    flat_table *t = arena_take(&s->arena, sizeof *t);
    if (!t) return false;
    *t = (flat_table){ .name = name, .shape = shape, .number = (uint8_t)(s->n_tables + 1), .cls = cls };
    if (cls && !pointer_table_add(&s->by_class, cls, s->n_tables)) return false;
    s->tables[s->n_tables++] = t;
    return true;
}

/* Other threads may register classes meanwhile: the schema only names classes that were registered before. */
static void find_classes(xir_context *ctx, const xir_class **ops, const xir_class **objects) {
    pthread_mutex_lock(&ctx->lock);
    const xir_class *cls = atomic_load_explicit(&ctx->first_class, memory_order_relaxed);
    for (; cls; cls = cls->more->next) {
        const char *name = short_name(cls);
        if (!name) continue;
        const uint32_t tag = cls->more->tag;
        if (cls->is_op && tag >= 1 && tag <= OPS && !ops[tag]) ops[tag] = cls;
        for (size_t i = 0; !cls->is_op && i < NAMED; i++) {
            if (!objects[i] && strcmp(named[i].name, name) == 0) objects[i] = cls;
        }
    }
    pthread_mutex_unlock(&ctx->lock);
}

static bool add_tables(flat_schema *s) {
    const xir_class *ops[OPS + 1] = { NULL }, *objects[NAMED] = { NULL };
    find_classes(s->ctx, ops, objects);
    for (size_t i = 0; i < NAMED; i++) {
        for (uint32_t tag = 1; i == BEFORE_OPS && tag <= OPS; tag++) {
            if (!ops[tag] || !add_table(s, short_name(ops[tag]), FLAT_OP, ops[tag])) return false;
        }
        bool unused = named[i].shape == FLAT_UNUSED;
        if (!add_table(s, named[i].name, named[i].shape, unused ? NULL : objects[i])) return false;
    }
    return add_table(s, "Part", FLAT_PART, NULL);
}

static bool add_members(flat_schema *s, flat_family *f, const char *names) {
    f->members = arena_take(&s->arena, (TABLES + 1) * sizeof *f->members);
    if (!f->members) return false;
    f->members[0] = NULL;
    f->n = 1;
    if (!names) {   /* all operations, or all tables */
        bool all = strcmp(f->name, "ObjectRef_box") == 0;
        uint32_t first = all ? 0 : BEFORE_OPS, end = all ? TABLES : BEFORE_OPS + OPS + 1;
        for (uint32_t i = first; i < end; i++) f->members[f->n++] = s->tables[i];
        return true;
    }
    char name[64];
    while (*names) {
        size_t n = strcspn(names, " ");
        memcpy(name, names, n);
        name[n] = '\0';
        f->members[f->n++] = find_table(s, name);
        names += n + (names[n] == ' ');
    }
    return true;
}

static bool add_unions(flat_schema *s) {
    for (size_t i = 0; i < UNIONS; i++) {
        flat_family *f = arena_take(&s->arena, sizeof *f);
        if (!f) return false;
        *f = (flat_family){ .name = unions[i].name };
        if (!add_members(s, f, unions[i].members)) return false;
        s->families[s->n_families++] = f;
    }
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        flat_family *f = (flat_family *)(uintptr_t)find_family(s, families[i].family);
        char key[64] = PREFIX;
        memcpy(key + PREFIX_SIZE, families[i].cls, strlen(families[i].cls) + 1);
        f->base = xir_class_find(s->ctx, xir_str_of(key));
    }
    return true;
}

/* ---- slots ------------------------------------------------------------------------------------------------- */

typedef struct slot_list { flat_slot slots[MOST_SLOTS]; uint32_t n, width; } slot_list;

static void add_slot(slot_list *l, flat_slot slot) {
    slot.slot = (uint16_t)l->width;
    l->width += slot.kind == FLAT_UNION || slot.kind == FLAT_UNIONS ? 2 : 1;
    l->slots[l->n++] = slot;
}

static void add_field(const flat_schema *s, slot_list *l, const field_text *f, int what) {
    flat_slot slot = { .name = xir_str_of(f->name), .kind = f->kind, .what = what };
    if (f->kind == FLAT_UNION || f->kind == FLAT_UNIONS) slot.family = find_family(s, f->of);
    if (f->kind == FLAT_TABLE || f->kind == FLAT_TABLES) slot.table = find_table(s, f->of);
    add_slot(l, slot);
}

/* The union for a reference to a class; inside a type, a type is an element type. NULL: the class's own table. */
static const flat_family *family_of(const flat_schema *s, const xir_class *cls, const xir_class *of) {
    const char *name = short_name(of);
    if (of == s->ctx->types[CLASS_type] && xir_class_is_a(cls, of)) name = "ScalarType";
    for (size_t i = 0; name && i < sizeof families / sizeof families[0]; i++) {
        if (strcmp(families[i].cls, name) == 0) return find_family(s, families[i].family);
    }
    return NULL;
}

static void add_row(const flat_schema *s, slot_list *l, const flat_table *table, int number) {
    static const flat_kind kinds[XIR_KIND_COUNT] = {
        [XIR_KIND_BOOL] = FLAT_BOOL, [XIR_KIND_I64] = FLAT_I64, [XIR_KIND_U64] = FLAT_U64, [XIR_KIND_REAL] = FLAT_F32,
        [XIR_KIND_TEXT] = FLAT_TEXT, [XIR_KIND_ENUM] = FLAT_ENUM, [XIR_KIND_REF] = FLAT_TABLE,
        [XIR_KIND_PARAMS] = FLAT_TABLE,
        [XIR_KIND_MAP] = FLAT_JSON, [XIR_KIND_BOOLS] = FLAT_BOOLS, [XIR_KIND_I64S] = FLAT_I64S,
        [XIR_KIND_REALS] = FLAT_F32S,
        [XIR_KIND_TEXTS] = FLAT_TEXTS, [XIR_KIND_REFS] = FLAT_TABLES, [XIR_KIND_PARAMSS] = FLAT_TABLES,
        [XIR_KIND_OPS] = FLAT_TABLES,
    };
    const xir_class *cls = table->cls;
    const xir_field *row = &cls->fields[number];
    flat_slot slot = { .name = row->name, .kind = kinds[row->kind], .what = number, .row = row };
    if (cls == s->ctx->types[CLASS_integer_type] && row->kind == XIR_KIND_I64) slot.kind = FLAT_U64;   /* a width */
    if (row->kind == XIR_KIND_REF || row->kind == XIR_KIND_REFS) {
        slot.family = family_of(s, cls, row->of);
        if (slot.family) slot.kind = row->kind == XIR_KIND_REF ? FLAT_UNION : FLAT_UNIONS;
        else slot.table = flat_table_of(s, row->of);
    }
    if (row->kind == XIR_KIND_PARAMS || row->kind == XIR_KIND_PARAMSS) slot.table = s->params;
    if (row->kind == XIR_KIND_OPS) slot.table = table;
    add_slot(l, slot);
}

static bool make_slots(flat_schema *s, flat_table *t, const field_text *fields) {
    static const field_text op_fields[] = {
        { "op_id", FLAT_I64, NULL }, { "name", FLAT_TEXT, NULL }, { "inputs", FLAT_UNIONS, "Value_box" },
        { "outputs", FLAT_UNIONS, "Value_box" }, { "compile_target", FLAT_UNION, "CompileTarget_box" },
        { "tags", FLAT_JSON, NULL },
    };
    slot_list l = { .n = 0 };
    for (; fields && fields->name; fields++) add_field(s, &l, fields, FLAT_NO_ROW);
    bool rows = t->shape == FLAT_ROWS || t->shape == FLAT_OP;
    if (rows && t->cls->n_fields > MOST_SLOTS / 2) return false;
    for (uint32_t i = 0; rows && i < t->cls->n_fields; i++) add_row(s, &l, t, (int)i);
    for (int i = 0; t->shape == FLAT_OP && i < 6; i++) add_field(s, &l, &op_fields[i], FLAT_ID - i);
    t->extra = l.n;
    if (t->shape != FLAT_UNUSED) add_field(s, &l, &(field_text){ "extra", FLAT_TEXT, NULL }, FLAT_EXTRA);
    if (t->shape == FLAT_OP)
        add_field(s, &l, &(field_text){ "extra_params", FLAT_TABLES, "Params" }, FLAT_EXTRA_PARAMS);
    if (t->shape == FLAT_NETWORK) add_field(s, &l, &(field_text){ "params_table", FLAT_I64S, NULL }, FLAT_NO_ROW);
    t->slots = arena_copy(&s->arena, l.slots, l.n * sizeof *l.slots);
    t->n_slots = l.n;
    t->width = l.width;
    return t->slots != NULL;
}

static bool add_slots(flat_schema *s) {
    for (uint32_t i = 0; i < s->n_tables; i++) {
        flat_table *t = (flat_table *)(uintptr_t)s->tables[i];
        const field_text *fields = i < BEFORE_OPS ? named[i].fields : i < BEFORE_OPS + OPS ? NULL
                                 : i < TABLES ? named[i - OPS].fields : part_fields;
        if (!make_slots(s, t, fields)) return false;
    }
    return true;
}

bool flat_schema_init(flat_schema *s, xir_context *ctx) {
    *s = (flat_schema){ .ctx = ctx };
    pointer_table_init(&s->by_class, context_alloc(ctx));
    arena_init(&s->arena, context_alloc(ctx));
    s->tables = arena_take(&s->arena, (TABLES + 1) * sizeof *s->tables);
    s->families = arena_take(&s->arena, UNIONS * sizeof *s->families);
    if (!s->tables || !s->families || !pointer_table_reserve(&s->by_class, TABLES)) return false;
    if (!add_tables(s) || !add_unions(s)) return false;
    s->network   = find_table(s, "Network");
    s->part      = find_table(s, "Part");
    s->value     = find_table(s, "Value");
    s->params    = find_table(s, "Params");
    s->axis_unit = find_table(s, "AxisUnit");
    s->axis_name = find_table(s, "AxisName");
    s->unknown   = find_table(s, "Unknown");
    s->custom_target = find_table(s, "CustomTarget");
    s->values    = find_family(s, "Value_box");
    s->ops       = find_family(s, "Operation_box");
    s->targets   = find_family(s, "CompileTarget_box");
    s->mtypes    = find_family(s, "MemType_box");
    s->types     = find_family(s, "DataType_box");
    s->objects   = find_family(s, "ObjectRef_box");
    return add_slots(s);
}

void flat_schema_free(flat_schema *s) {
    pointer_table_free(&s->by_class);
    arena_free(&s->arena);
}

/* ---- floats ------------------------------------------------------------------------------------------------ */

/* ORDER FLOAT: emax, emin, precision (with the hidden bit), bits. */
static const int64_t floats[][4] = {
    [XIR_FLOAT_FP16]   = { 15,   -14,   11, 16 },
    [XIR_FLOAT_FP32]   = { 127,  -126,  24, 32 },
    [XIR_FLOAT_FP64]   = { 1023, -1022, 53, 64 },
    [XIR_FLOAT_BF16]   = { 127,  -126,  8,  16 },
    [XIR_FLOAT_TF32]   = { 127,  -126,  11, 19 },
    [XIR_FLOAT_FPE7M8] = { 63,   -64,   9,  16 },
    [XIR_FLOAT_FPE6M9] = { 31,   -32,   10, 16 },
};

void flat_float_of(xir_float_format format, int64_t out[4]) { memcpy(out, floats[format], sizeof floats[0]); }

int flat_float_format(const int64_t in[4]) {
    for (size_t i = 0; i < sizeof floats / sizeof floats[0]; i++) {
        if (memcmp(in, floats[i], sizeof floats[0]) == 0) return (int)i;
    }
    return -1;
}
