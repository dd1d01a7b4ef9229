/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The text that people read: the chain of operations, read from memory and written; the numbers of a payload, and its
 * hexadecimal digits. What was read is written as the same bytes. */
#include "reading.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A writer's callback that keeps all bytes. */
typedef struct kept { char *bytes; size_t size, room; } kept;

static bool keep(void *user, const void *data, size_t size)
{
    kept *k = user;
    if (k->size + size > k->room) {
        k->room = 2 * (k->size + size);
        k->bytes = realloc(k->bytes, k->room);
        if (!k->bytes)
            return false;
    }
    memcpy(k->bytes + k->size, data, size);
    k->size += size;
    return true;
}

static bool write_text(reading *r, kept *out)
{
    const xir_save_options how = XIR_INIT(xir_save_options, .format = "text", .unchecked = true,
                                          .flags = XIR_SAVE_INLINE);
    out->size = 0;
    if (xir_network_write(r->net, keep, out, &how, r->why) == XIR_OK)
        return true;
    xir_diags_print(r->why, stderr);
    return false;
}

static void *write_setup(const bench_input *in)
{
    reading *r = reading_new(in->ops);
    return r && (r->net = graph_make(r->ctx, in->ops)) ? r : NULL;
}

static bool write_run(void *state, bench_result *out)
{
    reading *r = state;
    kept k = { .room = 256 * r->ops };
    k.bytes = malloc(k.room);
    if (!k.bytes || !write_text(r, &k))
        return false;
    out->bytes = k.size;
    out->count = xir_network_op_count(r->net);
    free(k.bytes);
    return true;
}

/* The text of a network that is freed. */
static reading *text_of(reading *r)
{
    kept k = { 0 };
    if (!r || !write_text(r, &k))
        return NULL;
    xir_network_free(r->net);
    r->net = NULL;
    r->bytes = k.bytes;
    r->size = k.size;
    return r;
}

static void *read_setup(const bench_input *in) { return text_of(write_setup(in)); }

static bool read_run(void *state, bench_result *out)
{
    reading *r = state;
    r->net = xir_network_read(r->ctx, r->bytes, r->size, XIR_STR("bench.xir"), NULL, r->why);
    if (!r->net)
        xir_diags_print(r->why, stderr);
    out->bytes = r->size;
    out->count = r->net ? xir_network_op_count(r->net) : 0;
    return r->net != NULL;
}

static bool read_check(void *state)
{
    reading *r = state;
    kept k = { 0 };
    const bool same = write_text(r, &k) && k.size == r->size && memcmp(k.bytes, r->bytes, k.size) == 0;
    if (!same)
        fprintf(stderr, "xir-bench: the text is not written as it was read\n");
    free(k.bytes);
    return same;
}

/* A network of one Params with as many elements: floats, which are numbers, or integers of 4 bits, which are digits. */
static void *payload_setup(const bench_input *in, bool digits)
{
    reading *r = reading_new(in->ops);
    const xir_type *of = !r ? NULL : digits ? xir_type_sint(r->ctx, 4) : xir_type_float(r->ctx, XIR_FLOAT_FP32);
    const xir_type *type = of ? XIR_TENSOR(r->ctx, of, "*", (int64_t)in->ops) : NULL;
    if (!type || !(r->net = xir_network_new(r->ctx, "bench", XIR_FRAMEWORK_ONNX, "")))
        return NULL;
    uint64_t size;
    if (xir_type_bytes(type, &size))
        return NULL;
    unsigned char *bytes = malloc((size_t)size);
    float *floats = (float *)(void *)bytes;
    for (size_t i = 0; bytes && i < (size_t)size / 4; i++) {
        const uint32_t bits = (uint32_t)(i * 2654435761u);
        if (digits)
            memcpy(bytes + 4 * i, &bits, 4);
        else
            floats[i] = (float)(bits >> 8) / 16777216.0f - 0.5f;
    }
    xir_value *w = bytes ? xir_params_copy(r->net, XIR_STR("w"), type, bytes, (size_t)size) : NULL;
    free(bytes);
    const xir_at at = xir_at_end(r->net);
    xir_value *x = w ? xir_input(at, "x", type) : NULL;
    xir_op *op = x ? xir_add_add(at, (xir_add_in){ .lhs = x, .rhs = w }, NULL) : NULL;
    if (!op)
        return NULL;
    xir_output(at, XIR_VALUES(xir_op_output(op, 0)));
    return text_of(r);
}

static void *numbers_setup(const bench_input *in) { return payload_setup(in, false); }
static void *hex_setup(const bench_input *in) { return payload_setup(in, true); }

static bool payload_run(void *state, bench_result *out)
{
    const bool done = read_run(state, out);
    out->count = ((const reading *)state)->ops;
    return done;
}

const bench_case lines_cases[] = {
    { "text-read", NULL, 0, read_setup, read_run, read_check, "the chain as text, from memory" },
    { "text-write", NULL, 0, write_setup, write_run, NULL, "the chain as text, into memory" },
    { "text-numbers", NULL, 0, numbers_setup, payload_run, read_check, "a text with the float32 of one Params" },
    { "text-hex", NULL, 0, hex_setup, payload_run, read_check, "a text with the digits of one Params" },
    { 0 },
};
