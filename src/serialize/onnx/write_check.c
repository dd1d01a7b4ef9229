/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Checks content from tags and attributes, which need not be from the reader: texts are UTF-8, and messages that are
 * kept as bytes are such that the reader takes them again. Each is checked once, in the first walk. */
#include <stdio.h>
#include "diagnose.h"
#include "onnx/read.h"
#include "onnx/write.h"

/* ---- texts ----------------------------------------------------------------------------------------------------- */

bool proto_check_name(proto_writer *w, const char *what, xir_str name) {
    if (name.size && memchr(name.data, 0, name.size))
        return proto_refuse(w, XIR_E_INVALID, "the name '%.*s' of %s has a zero byte, which names in ONNX cannot have",
                            (int)strnlen(name.data, name.size < 60 ? name.size : 60), name.data, what);
    return !name.size || proto_is_text((wire_bytes){ (const uint8_t *)name.data, name.size }) ||
           proto_refuse(w, XIR_E_INVALID, "the name of %s is not UTF-8", what);
}

bool proto_check_text_slowly(proto_writer *w, const char *what, xir_str text) {
    return proto_is_text((wire_bytes){ (const uint8_t *)text.data, text.size }) ||
           proto_refuse(w, XIR_E_INVALID, "%s is not UTF-8", what);
}

void proto_put_said_slowly(proto_writer *w, uint32_t field, const char *key, xir_str text) {
    char what[64];
    snprintf(what, sizeof what, "the tag %s", key);
    if (proto_check_text(w, what, text)) proto_put_text(w, field, text);
}

/* ---- messages -------------------------------------------------------------------------------------------------- */

/* The place of a message in a model that has nothing else: the fields that contain each other, from the model on, and
 * what precedes the next one in each of them. A graph is not in a model: the reader looks for the names that it
 * uses. */
typedef struct level { const char *before; size_t size; uint32_t field; } level;
enum { LEVELS = 3 };
static const level places[][LEVELS] = {
    [PROTO_TENSOR]     = { { "", 0, 7 }, { "", 0, 5 } },
    [PROTO_SPARSE]     = { { "", 0, 7 }, { "", 0, 15 } },
    [PROTO_INFO]       = { { "", 0, 7 }, { "", 0, 13 } },
    [PROTO_ANNOTATION] = { { "", 0, 7 }, { "", 0, 14 } },
    [PROTO_TYPE]       = { { "", 0, 7 }, { "", 0, 11 }, { "\x0a\1x", 3, 2 } },
};

static bool put_model(buffer *to, const level *levels, wire_bytes message) {
    uint64_t sizes[LEVELS + 1];
    uint8_t bytes[20];
    size_t n = 0;
    while (n < LEVELS && levels[n].field) n++;
    sizes[n] = message.size;
    for (size_t i = n; i-- > 0;)
        sizes[i] = levels[i].size + proto_varint_size(proto_key(levels[i].field, WIRE_BYTES)) +
                   proto_varint_size(sizes[i + 1]) + sizes[i + 1];
    for (size_t i = 0; i < n; i++) {
        buffer_put(to, levels[i].before, levels[i].size);
        const uint8_t *end = proto_varint(proto_varint(bytes, proto_key(levels[i].field, WIRE_BYTES)), sizes[i + 1]);
        buffer_put(to, bytes, (size_t)(end - bytes));
    }
    if (message.size) buffer_put(to, message.at, message.size);
    return !to->failed;
}

static xir_network *read_model(const format_reading *how, wire_bytes message) {
    blob *whole = blob_borrow(context_alloc(how->ctx), message.at, message.size, false, NULL, NULL);
    xir_network *net = whole ? proto_read(how, whole) : NULL;
    blob_release(whole);
    return net;
}

static xir_network *read_graph(const format_reading *how, wire_bytes message) {
    proto_reader r;
    blob *whole = blob_borrow(context_alloc(how->ctx), message.at, message.size, false, NULL, NULL);
    const bool begun = whole && proto_begin(&r, how, whole);
    xir_network *net = begun ? proto_finish(&r, proto_find_captures(&r, message)) : NULL;
    blob_release(whole);
    return net;
}

bool proto_check_message(proto_writer *w, proto_place place, const char *what, wire_bytes message) {
    const bool plain = place == PROTO_GRAPH && !message.size;   /* a graph of nothing */
    if (!w->counting || plain || proto_failed(w) || message.size > PROTO_MOST) return !proto_failed(w);
    buffer model;
    buffer_init(&model, w->alloc);
    const format_reading how = { .ctx = w->net->ctx, .name = XIR_STR(""), .why = xir_diags_new(w->net->ctx) };
    xir_network *net = NULL;
    if (how.why && place == PROTO_GRAPH) net = read_graph(&how, message);
    else if (how.why && put_model(&model, places[place], message))
        net = read_model(&how, (wire_bytes){ (const uint8_t *)model.data, model.size });
    const bool good = net != NULL;
    const xir_diag *d = xir_diags_at(how.why, 0);
    if (!good && (!d || d->code == XIR_E_MEMORY)) proto_no_memory(w);
    else if (!good) proto_refuse(w, d->code, "%s is not a message of its kind: %.*s", what, CLIP(d->message));
    xir_network_free(net);
    xir_diags_free(how.why);
    buffer_free(&model);
    return good;
}
