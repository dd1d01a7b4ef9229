/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The schema as flatc reads it. */
#include <stdio.h>
#include <xir/serialize.h>
#include "codec/given.h"
#include "flat/schema.h"

static void put_str(buffer *b, xir_str s) { buffer_put(b, s.data, s.size); }

static void put_type(buffer *b, const flat_slot *slot) {
    static const char *const words[FLAT_KINDS] = {
        [FLAT_BOOL] = "bool", [FLAT_I64] = "long", [FLAT_U64] = "ulong", [FLAT_F32] = "float", [FLAT_TEXT] = "string",
        [FLAT_ENUM] = "string", [FLAT_JSON] = "string", [FLAT_BYTES] = "[ubyte]", [FLAT_BOOLS] = "[bool]",
        [FLAT_I64S] = "[long]",
        [FLAT_F32S] = "[float]", [FLAT_TEXTS] = "[string]",
    };
    switch (slot->kind) {
    case FLAT_TABLE: buffer_str(b, slot->table->name); break;
    case FLAT_UNION: buffer_str(b, slot->family->name); break;
    case FLAT_TABLES:
    case FLAT_UNIONS:
        buffer_char(b, '[');
        buffer_str(b, slot->kind == FLAT_TABLES ? slot->table->name : slot->family->name);
        buffer_char(b, ']');
        break;
    default: buffer_str(b, words[slot->kind]); break;
    }
}

static void put_table(buffer *b, const flat_table *t) {
    buffer_str(b, "\ntable ");
    buffer_str(b, t->name);
    buffer_str(b, " {");
    for (uint32_t i = 0; i < t->n_slots; i++) {
        const flat_slot *slot = &t->slots[i];
        buffer_str(b, "\n  ");
        put_str(b, slot->name);
        buffer_char(b, ':');
        put_type(b, slot);
        buffer_char(b, ';');
    }
    buffer_str(b, t->n_slots ? "\n}\n" : "}\n");
}

static void put_union(buffer *b, const flat_family *f) {
    buffer_str(b, "\nunion ");
    buffer_str(b, f->name);
    buffer_str(b, " {");
    for (uint32_t tag = 1; tag < f->n; tag++) {
        char number[24];
        snprintf(number, sizeof number, " = %u", tag);
        buffer_str(b, tag == 1 ? "\n  " : ",\n  ");
        buffer_str(b, f->members[tag]->name);
        buffer_str(b, number);
    }
    buffer_str(b, "\n}\n");
}

xir_status xir_flat_schema(xir_context *ctx, xir_write_fn *write, void *user, xir_diags *why) {
    flat_schema s;
    buffer b;
    buffer_init(&b, context_alloc(ctx));
    bool made = flat_schema_init(&s, ctx);
    if (made) {
        buffer_str(&b, "// FlatBuffers schema of XIR networks, printed from the classes: xir schema --fbs\n"
                       "// The slots after the original's last ones are extra, extra_params and params_table.\n"
                       "\nnamespace fbs;\n");
        for (uint32_t i = 0; i < s.n_families; i++) put_union(&b, s.families[i]);
        for (uint32_t i = 0; i < s.n_tables; i++) put_table(&b, s.tables[i]);
        buffer_str(&b, "\nroot_type Network;\n");
    }
    flat_schema_free(&s);
    xir_status status = !made || b.failed ? diag_memory(why) : XIR_OK;
    given_writer g = given_begin(write, user, why);
    if (!status) (void)given_write(&g, b.data, b.size);
    buffer_free(&b);
    return given_end(&g, status);
}
