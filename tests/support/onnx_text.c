/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include "support/onnx_text.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void wrong(const char *at) {
    fprintf(stderr, "onnx_text: what is \"%.30s\"?\n", at);
    abort();
}

static void put_hex(om_bytes *to, const char **at) {
    while (isxdigit((unsigned char)(*at)[0]) && isxdigit((unsigned char)(*at)[1])) {
        char digits[3] = { (*at)[0], (*at)[1], 0 };
        unsigned char byte = (unsigned char)strtoul(digits, NULL, 16);
        om_put_raw(to, &byte, 1);
        *at += 2;
    }
}

static om_bytes message(const char **at, char end, size_t *mark);

/* The text after a field's number. */
static void put_field(om_bytes *to, uint32_t field, const char **at, size_t *mark) {
    char kind = *(*at)++, *rest = NULL;
    om_bytes inner = { 0 };
    if (kind == ':') {
        int64_t v = **at == '-' ? strtoll(*at, &rest, 10) : (int64_t)strtoull(*at, &rest, 10);
        om_put_int(to, field, v);
        *at = rest;
    } else if (kind == '=') {
        om_put_float(to, field, strtof(*at, &rest));
        *at = rest;
    } else if (kind == '\'') {
        size_t n = strcspn(*at, "'");
        om_put_bytes(to, field, *at, n);
        *at += n + ((*at)[n] == '\'');
    } else if (kind == '#') {
        put_hex(&inner, at);
        om_put_message(to, field, &inner);
    } else if (kind == '{') {
        size_t below = SIZE_MAX;
        inner = message(at, '}', &below);
        size_t size = inner.size;
        om_put_message(to, field, &inner);
        if (below != SIZE_MAX) *mark = to->size - size + below;
    } else {
        wrong(*at - 1);
    }
}

static om_bytes message(const char **at, char end, size_t *mark) {
    om_bytes out = { 0 };
    for (;;) {
        while (**at == ' ') (*at)++;
        if (**at == '`') {
            *mark = out.size;
            (*at)++;
        } else if (**at == end) {
            *at += end != '\0';
            return out;
        } else if (**at == '#') {
            (*at)++;
            put_hex(&out, at);
        } else if (isdigit((unsigned char)**at)) {
            char *rest;
            uint32_t field = (uint32_t)strtoul(*at, &rest, 10);
            *at = rest;
            put_field(&out, field, at, mark);
        } else {
            wrong(*at);
        }
    }
}

om_bytes onnx_bytes_of(const char *text, size_t *mark) {
    *mark = SIZE_MAX;
    return message(&text, '\0', mark);
}

om_bytes onnx_everything(void) {
    om m = om_begin("all"), inner = om_begin("inner");
    om_metadata(&m, "key", "value");
    om_input(&m, "x", ONNX_FLOAT, OM_DIMS(1, -1, 4));
    om_value(&m, "y", ONNX_FLOAT, OM_NO_RANK);
    om_floats(&m, "w", OM_DIMS(2), (const float[]){ 1, 2 }, 2);
    size_t mark;
    om_bytes part = onnx_bytes_of("1:2 2:7 7:1 7#05 8'i'", &mark);
    om_initializer(&m, &part);
    part = onnx_bytes_of("1:2 2:8 6'ab' 6'c' 8's'", &mark);
    om_initializer(&m, &part);
    part = onnx_bytes_of("1{1:2 2:1 8'sp' 9#0000000000000000} 2{1:2 2:7 7:0 7:3} 3:4", &mark);
    om_put_message(&m.graph, 15, &part);
    om_node(&inner, "Add", "", "x,h", "r");
    om_output(&inner, "r", ONNX_FLOAT, OM_SCALAR);
    om_node(&m, "If", "n", "x,,w,i,s,sp", "y,,z");
    om_int(&m, "a", -1);
    om_float(&m, "f", 0.5f);
    om_text(&m, "s", "text");
    om_ints(&m, "l", OM_DIMS(1, 2, 300));
    om_reals(&m, "r", (const float[]){ 1, -2 }, 2);
    om_float(&m, "n", (float)NAN);
    om_texts(&m, "t", (const char *const[]){ "a", "\xff" }, 2);
    part = om_tensor("", ONNX_INT64, OM_DIMS(1), "\1\0\0\0\0\0\0\0", 8);
    om_tensor_attr(&m, "value", &part);
    om_graph_attr(&m, "then_branch", &inner);
    part = onnx_bytes_of("1'tp' 20:13 14{4{1{1{1:7 2{1{2'N'}}}}}}", &mark);
    om_attribute(&m, &part);
    om_node(&m, "com.example.Own", "", "z", "u");
    om_output(&m, "u", ONNX_BOOL, OM_SCALAR);
    size_t size;
    const void *data = om_done(&m, &size);
    om_bytes out = { 0 };
    om_put_raw(&out, data, size);
    om_free(&m);
    return out;
}
