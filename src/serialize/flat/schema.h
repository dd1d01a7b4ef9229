/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The FlatBuffers schema as tables in memory, made from the classes. The code that writes, reads, verifies or prints
 * walks these tables and knows no class. The rows of a class take slots in their order, followed by the base fields
 * of an op. A reference to a family of classes takes two slots: the union's tag and the offset. The few classes
 * whose tables are not their rows (layouts, distributions, arrays, floats) have shapes of their own. After the
 * original's last slot each table has `extra`, ops also have `extra_params`, networks `params_table`. The entry of
 * slot k is at byte 4 + 2 k of the vtable. */
#ifndef SERIALIZE_FLAT_SCHEMA_H
#define SERIALIZE_FLAT_SCHEMA_H

#include "context.h"

typedef struct flat_table  flat_table;
typedef struct flat_family flat_family;

typedef enum flat_kind {
    FLAT_BOOL, FLAT_I64, FLAT_U64, FLAT_F32,          /* stored in the table                       */
    FLAT_TEXT,                                        /* string                                    */
    FLAT_ENUM,                                        /* string: a name of the row's enum          */
    FLAT_JSON,                                        /* string: the JSON text of a map            */
    FLAT_TABLE,                                       /* a table                                   */
    FLAT_UNION,                                       /* two slots: tag u8, table                  */
    FLAT_BYTES,                                       /* [ubyte]                                   */
    FLAT_BOOLS, FLAT_I64S, FLAT_F32S, FLAT_TEXTS,     /* [bool] [long] [float] [string]            */
    FLAT_TABLES,                                      /* [table]                                   */
    FLAT_UNIONS,                                      /* two slots: [u8], [table]                  */
    FLAT_KINDS
} flat_kind;

/* The meaning of a slot that is not a row. */
typedef enum flat_base {
    FLAT_NO_ROW = -1,                                 /* of a table without a class, or with its own shape         */
    FLAT_ID = -2, FLAT_NAME = -3, FLAT_INPUTS = -4, FLAT_OUTPUTS = -5, FLAT_TARGET = -6, FLAT_TAGS = -7,
    FLAT_EXTRA = -8, FLAT_EXTRA_PARAMS = -9
} flat_base;

typedef struct flat_slot {
    xir_str            name;      /* of the field; the union's tag is `name`_type                      */
    flat_kind          kind;
    uint16_t           slot;      /* the first of two for UNION and UNIONS                             */
    int                what;      /* >= 0: the number of the row; otherwise a flat_base                */
    const xir_field   *row;       /* NULL: not a row                                                   */
    const flat_table  *table;     /* of TABLE and TABLES; sub ops: the op's table, others go into `extra` */
    const flat_family *family;    /* of UNION and UNIONS                                               */
} flat_slot;

/* Tables whose fields are not the rows of their class, and tables without a class. */
typedef enum flat_shape {
    FLAT_ROWS, FLAT_OP,                               /* an object; an op                              */
    FLAT_LAYOUT, FLAT_DISTR, FLAT_FLOAT, FLAT_SCALES, FLAT_EXP_SCALES, FLAT_NORM_RATIOS,
    FLAT_AXIS_UNIT, FLAT_AXIS_NAME, FLAT_VALUE, FLAT_PARAMS, FLAT_NETWORK, FLAT_PART,
    FLAT_UNUSED                                       /* in the schema but never written: a family, a base, or a
                                                             part of none; a file that has one is refused */
} flat_shape;

struct flat_table {
    const char      *name;        /* "Conv2d"; terminated                                              */
    flat_shape       shape;
    uint8_t          number;      /* 1 + its index in the schema                                       */
    const xir_class *cls;         /* NULL: none                                                        */
    const flat_slot *slots;       /* in slot order                                                     */
    uint32_t         n_slots;     /* entries of `slots`                                                */
    uint32_t         width;       /* slots of the vtable: a union has two                              */
    uint32_t         extra;       /* index of `extra` in `slots`                                       */
};

/* A union: the meaning of its tags. */
struct flat_family {
    const char        *name;      /* "DataType_box"                                                    */
    const flat_table **members;   /* [tag], [0] NULL                                                   */
    uint32_t           n;         /* 1 + the largest tag                                               */
    const xir_class   *base;      /* the base class of all; NULL: none, or any op                      */
};

/* Slots of tables without rows, by their index in `slots`, which is their order in the schema. */
enum { VALUE_SLOT_ID, VALUE_SLOT_NAME, VALUE_SLOT_TAGS, VALUE_SLOT_DTYPE, VALUE_SLOT_MTYPE, VALUE_SLOT_EXTRA };
enum { PARAMS_SLOT_ALLOW, PARAMS_SLOT_ID, PARAMS_SLOT_NAME, PARAMS_SLOT_TAGS, PARAMS_SLOT_DTYPE, PARAMS_SLOT_MTYPE,
       PARAMS_SLOT_DATA, PARAMS_SLOT_EXTRA };
enum { NET_SLOT_NAME, NET_SLOT_FRAMEWORK, NET_SLOT_FRAMEWORK_VERSION, NET_SLOT_XIR_VERSION, NET_SLOT_ICRAFT_VERSION,
       NET_SLOT_PARAMS_BYTES, NET_SLOT_PARAMS_MD5, NET_SLOT_TAGS, NET_SLOT_OPS, NET_SLOT_AI_TARGET, NET_SLOT_EXTRA,
       NET_SLOT_PARAMS_TABLE };
enum { PART_SLOT_OBJECT, PART_SLOT_EXTRA };
enum { LAYOUT_SLOT_AXES };
enum { DISTR_SLOT_AXIS, DISTR_SLOT_MASK, DISTR_SLOT_UVALUE };
enum { FLOAT_SLOT_EMAX, FLOAT_SLOT_EMIN, FLOAT_SLOT_PRECISION, FLOAT_SLOT_BITS };
enum { SCALES_SLOT_AXIS, SCALES_SLOT_SCALE };
enum { EXP_SCALES_SLOT_M, EXP_SCALES_SLOT_EXP, EXP_SCALES_SLOT_AXIS, EXP_SCALES_SLOT_SCALE };
enum { RATIOS_SLOT_AXIS, RATIOS_SLOT_DATA };
enum { AXIS_UNIT_SLOT_UNIT, AXIS_UNIT_SLOT_NAME };
enum { AXIS_NAME_SLOT_NAME };

/* An absent scalar is 0, whatever default the row has. Objects with a one-string form are always valid, because their
 * parsers check them; so code that reads one from a table checks its body as the parser does. */

/* All tables and unions for one context: those of the original's schema and no others, whatever is registered. */
typedef struct flat_schema {
    xir_context       *ctx;
    arena              arena;
    const flat_table **tables;    /* in the order of the ObjectRef_box union, then Part                */
    uint32_t           n_tables;
    const flat_family **families;
    uint32_t           n_families;
    const flat_table  *network, *part, *value, *params, *axis_unit, *axis_name, *unknown, *custom_target;
    const flat_family *values, *ops, *targets, *mtypes, *types, *objects;
    pointer_table      by_class;  /* to indices in `tables`                                            */
} flat_schema;

/* False if out of memory. Free it whether or not this succeeds. Takes some 30 us. */
bool flat_schema_init(flat_schema *s, xir_context *ctx);
void flat_schema_free(flat_schema *s);

/* The table of a class; NULL if the schema has none: then an op is written as Unknown, an object in `extra`. */
const flat_table *flat_table_of(const flat_schema *s, const xir_class *cls);
/* The tag of a table in a union; 0 if the union does not have it. */
uint8_t flat_tag(const flat_family *family, const flat_table *table);

/* The characteristics of a float format, in the order of FloatType's slots, and the format with four such
 * numbers, or -1. */
void flat_float_of(xir_float_format format, int64_t out[4]);
int  flat_float_format(const int64_t in[4]);

#endif
