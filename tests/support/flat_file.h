/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* FlatBuffers networks in memory, read by offsets alone: this shares nothing with the writer and the reader. Include
 * json_net.h and raw_net.h before it if you need networks. */
#ifndef SUPPORT_FLAT_FILE_H
#define SUPPORT_FLAT_FILE_H

#include <string.h>
#include "support/forms.h"
#include "flat/flat.h"

/* The bytes that were written, and the number of calls of the writer; call number `stop` fails. */
typedef struct flat_file { uint8_t *data; size_t size, room; int calls, stop; } flat_file;

static inline bool flat_gather(void *user, const void *data, size_t size) {
    flat_file *f = user;
    if (++f->calls == f->stop) return false;
    if (f->size + size > f->room) {
        f->room = (f->size + size) * 2;
        f->data = realloc(f->data, f->room);
        if (!f->data) abort();
    }
    if (size) memcpy(f->data + f->size, data, size);
    f->size += size;
    return true;
}

static inline xir_status flat_write_to(xir_network *net, flat_file *f, uint32_t align, xir_diags *diags) {
    format_writing how = { .path = "net.fb", .align = align, .write = flat_gather, .user = f, .why = diags };
    return flat_write(net, &how);
}

static inline flat_file flat_written_aligned(xir_network *net, uint32_t align) {
    flat_file f = { 0 };
    xir_status status = flat_write_to(net, &f, align, why);
    if (status) xir_diags_print(why, stderr);
    assert_int_equal(status, XIR_OK);
    return f;
}
static inline flat_file flat_written(xir_network *net) { return flat_written_aligned(net, 4096); }

/* ---- by offsets ------------------------------------------------------------------------------------------ */

static inline uint64_t flat_number(const flat_file *f, size_t at, size_t bytes) {
    uint64_t v = 0;
    assert_true(at + bytes <= f->size);
    assert_int_equal(at % bytes, 0);
    for (size_t i = 0; i < bytes; i++) v |= (uint64_t)f->data[at + i] << (8 * i);
    return v;
}
static inline size_t flat_follow(const flat_file *f, size_t at) { return at + (size_t)flat_number(f, at, 4); }
static inline size_t flat_root(const flat_file *f) { return flat_follow(f, 0); }

/* The place of a table's slot; 0: the table does not have it. */
static inline size_t flat_slot_at(const flat_file *f, size_t table, unsigned slot) {
    size_t vtable = table - (size_t)(int64_t)(int32_t)flat_number(f, table, 4), entry = 4 + 2 * (size_t)slot;
    size_t at = entry < flat_number(f, vtable, 2) ? (size_t)flat_number(f, vtable + entry, 2) : 0;
    assert_true(at == 0 || (at >= 4 && at < flat_number(f, vtable + 2, 2)));
    return at ? table + at : 0;
}
static inline uint64_t flat_slot_number(const flat_file *f, size_t table, unsigned slot, size_t bytes) {
    size_t at = flat_slot_at(f, table, slot);
    return at ? flat_number(f, at, bytes) : 0;
}
/* The place that the slot refers to; 0: none. */
static inline size_t flat_slot_to(const flat_file *f, size_t table, unsigned slot) {
    size_t at = flat_slot_at(f, table, slot);
    return at ? flat_follow(f, at) : 0;
}
/* A text as a string for "%.*s" and for comparing; "(none)" if it is absent. Valid until the next call. */
static inline const char *flat_slot_text(const flat_file *f, size_t table, unsigned slot) {
    static char *text;
    size_t at = flat_slot_to(f, table, slot);
    if (!at) return "(none)";
    size_t size = (size_t)flat_number(f, at, 4);
    assert_true(at + 4 + size < f->size);
    assert_int_equal(f->data[at + 4 + size], 0);
    free(text);
    text = malloc(size + 1);
    if (!text) abort();
    memcpy(text, f->data + at + 4, size + 1);
    return text;
}
static inline size_t flat_count(const flat_file *f, size_t vector) { return (size_t)flat_number(f, vector, 4); }
/* Item i of a vector of tables. */
static inline size_t flat_item_at(const flat_file *f, size_t vector, size_t i) {
    assert_true(i < flat_count(f, vector));
    return flat_follow(f, vector + 4 + 4 * i);
}

/* The slots of tables that tests read, numbered as in the schema. */
enum { AT_NET_NAME, AT_NET_KIND, AT_NET_KIND_VERSION, AT_NET_XIR_VERSION, AT_NET_ICRAFT_VERSION, AT_NET_BYTES,
       AT_NET_MD5, AT_NET_TAGS, AT_NET_OPS_TYPE, AT_NET_OPS, AT_NET_TARGET_TYPE, AT_NET_TARGET, AT_NET_EXTRA,
       AT_NET_TABLE };
enum { AT_VALUE_ID, AT_VALUE_NAME, AT_VALUE_TAGS, AT_VALUE_DTYPE_TYPE, AT_VALUE_DTYPE, AT_VALUE_MTYPE_TYPE,
       AT_VALUE_MTYPE, AT_VALUE_EXTRA };
enum { AT_PARAMS_ALLOW, AT_PARAMS_ID, AT_PARAMS_NAME, AT_PARAMS_TAGS, AT_PARAMS_DTYPE_TYPE, AT_PARAMS_DTYPE,
       AT_PARAMS_MTYPE_TYPE, AT_PARAMS_MTYPE, AT_PARAMS_DATA, AT_PARAMS_EXTRA };
/* The base slots of an op, which follow its own. */
enum { AT_OP_ID, AT_OP_NAME, AT_OP_INPUTS_TYPE, AT_OP_INPUTS, AT_OP_OUTPUTS_TYPE, AT_OP_OUTPUTS, AT_OP_TARGET_TYPE,
       AT_OP_TARGET, AT_OP_TAGS, AT_OP_EXTRA, AT_OP_EXTRA_PARAMS };

static inline size_t flat_ops(const flat_file *f) { return flat_slot_to(f, flat_root(f), AT_NET_OPS); }
static inline size_t flat_op_at(const flat_file *f, size_t i) { return flat_item_at(f, flat_ops(f), i); }

#endif
