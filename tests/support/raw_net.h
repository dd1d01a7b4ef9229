/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Networks that consist of little more than Params, and raw files made by hand. */
#ifndef TESTS_RAW_NET_H
#define TESTS_RAW_NET_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xir/xir.h>
#include <xir/icraft.h>

enum { RAW_HEADER = 16, RAW_ENTRY = 12 };

/* One Params of int8: its id and its size. */
typedef struct raw_param { int64_t id; int64_t size; } raw_param;

static inline const xir_type *raw_bytes_type(xir_context *with, int64_t size) {
    return xir_type_tensor_text(with, xir_type_sint(with, 8), "*", &size, 1);
}

/* A network with these Params, without bytes: the first `inputs` are inputs of an op, the others its attributes.
 * out[i], unless `out` is NULL, is that of wanted[i]. Walks visit them in this order. */
static inline xir_network *raw_network(xir_context *with, const raw_param *wanted, size_t n, size_t inputs,
                                       xir_value **out) {
    xir_network *net = xir_network_new(with, "raw", XIR_FRAMEWORK_PYTORCH, "v1.9");
    xir_value **values = calloc(n + 2, sizeof *values);
    if (!net || !values) abort();
    xir_at at = xir_at_end(net);
    at.name = XIR_STR("x");   /* of the op, not of the value */
    values[0] = xir_input(at, NULL, raw_bytes_type(with, 1));
    for (size_t i = 0; i < n; i++) {
        char called[32];
        snprintf(called, sizeof called, "p%zu", i);
        values[i + 1] = xir_params_new(net, xir_str_of(called), raw_bytes_type(with, wanted[i].size));
        if (!values[i + 1] || xir_value_set_id(values[i + 1], wanted[i].id) != XIR_OK) {
            xir_diags_print(xir_network_diags(net), stderr);
            abort();
        }
        if (out) out[i] = values[i + 1];
    }
    if (inputs > n) inputs = n;
    xir_hard_op_attrs attrs = xir_hard_op_init();
    attrs.params = (xir_values){ values + 1 + inputs, n - inputs };
    const xir_type *type = raw_bytes_type(with, 1);
    xir_op *op = xir_network_add(net, &XIR_INIT(xir_op_desc,
        .cls = xir_class_find_decl(with, xir_hard_op_class()), .attrs = &attrs, .inputs = values,
        .n_inputs = inputs + 1, .types = &type, .n_types = 1, .name = XIR_STR("op"), .id = XIR_NO_ID));
    if (!op || !xir_output(xir_at_end(net), XIR_VALUES(xir_op_output(op, 0)))) {
        xir_diags_print(xir_network_diags(net), stderr);
        abort();
    }
    free(values);
    return net;
}

static inline void raw_put_le(uint8_t *at, int bytes, uint64_t v) {
    for (int i = 0; i < bytes; i++) at[i] = (uint8_t)(v >> (8 * i));
}

static inline uint64_t raw_get_le(const uint8_t *at, int bytes) {
    uint64_t v = 0;
    for (int i = 0; i < bytes; i++) v |= (uint64_t)at[i] << (8 * i);
    return v;
}

/* The header with the count `n`. */
static inline void raw_put_header(uint8_t *file, uint32_t n) {
    memcpy(file, "\xA5ICRAFT_RAW\xA5", 12);
    raw_put_le(file + 12, 4, n);
}

static inline void raw_put_entry(uint8_t *file, size_t i, int32_t id, uint64_t offset) {
    raw_put_le(file + RAW_HEADER + RAW_ENTRY * i, 4, (uint32_t)id);
    raw_put_le(file + RAW_HEADER + RAW_ENTRY * i + 4, 8, offset);
}

/* The bytes that a test gives to the Params with an id. */
static inline uint8_t raw_byte(int64_t id, size_t i) { return (uint8_t)(id * 37 + (int64_t)i * 11 + 5); }

static inline void raw_fill(xir_value *value) {
    uint64_t size;
    if (xir_type_bytes(xir_value_type(value), &size) != XIR_OK) abort();
    uint8_t *bytes = malloc(size + 1);
    if (!bytes) abort();
    for (size_t i = 0; i < size; i++) bytes[i] = raw_byte(xir_value_id(value), i);
    if (xir_params_set_copy(value, bytes, size) != XIR_OK) abort();
    free(bytes);
}

/* Returns true if the Params have the bytes of raw_fill. */
static inline bool raw_is_filled(const xir_value *value) {
    uint64_t size, needed;
    const uint8_t *bytes = xir_params_data(value, &size);
    if (xir_type_bytes(xir_value_type(value), &needed) != XIR_OK || needed != size) return false;
    for (size_t i = 0; i < size; i++)
        if (bytes[i] != raw_byte(xir_value_id(value), i)) return false;
    return true;
}

/* A buffer to write into. */
typedef struct raw_memory { uint8_t *data; size_t size, room, most; } raw_memory;
static inline bool raw_memory_write(void *user, const void *data, size_t size) {
    raw_memory *m = user;
    if (m->most && m->size + size > m->most) return false;
    if (m->size + size > m->room) {
        m->room = (m->size + size) * 2;
        m->data = realloc(m->data, m->room);
        if (!m->data) abort();
    }
    memcpy(m->data + m->size, data, size);
    m->size += size;
    return true;
}

#endif
