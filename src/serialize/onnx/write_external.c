/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Elements in a file of their own, next to the model. Each tensor begins at a multiple of 4096, so that a mapping can
 * be used as it is. The file is put out by a walk of the model that puts out nothing else. */
#include "number.h"
#include "onnx/write.h"

enum { TENSOR_EXTERNAL = 13, TENSOR_LOCATION = 14, EXTERNAL = 1, LEAST = 1024, ALIGN = 4096 };

bool proto_is_external(const proto_writer *w, bool attribute, wire_bytes data) {
    return data.size >= LEAST && w->split >= (attribute ? SPLIT_ALL : SPLIT_CONSTANTS);
}

static void put_entry(proto_writer *w, xir_str key, xir_str value) {
    if (!proto_check_text(w, "the name of the file of the elements", value)) return;
    const proto_message m = proto_open(w, TENSOR_EXTERNAL);
    proto_put_text(w, 1, key);
    proto_put_text(w, 2, value);
    proto_close(w, m);
}

static void put_number(proto_writer *w, xir_str key, uint64_t v) {
    char digits[NUMBER_ROOM];
    put_entry(w, key, (xir_str){ digits, number_put_u64(digits, v) });
}

static void put_data(proto_writer *w, wire_bytes data, uint64_t gap) {
    static const uint8_t zeros[ALIGN];
    if (w->stopped || w->counting) return;
    w->stopped = (gap && !w->how->write(w->how->user, zeros, (size_t)gap)) ||
                 !proto_write_lasting(w->how, data.at, data.size);
}

void proto_put_external(proto_writer *w, wire_bytes data) {
    const uint64_t gap = (ALIGN - w->data_size % ALIGN) % ALIGN, offset = w->data_size + gap;
    w->data_size = offset + data.size;
    if (w->only_data) put_data(w, data, gap);
    put_entry(w, XIR_STR("location"), w->location);
    put_number(w, XIR_STR("offset"), offset);
    put_number(w, XIR_STR("length"), data.size);
    proto_put_number(w, TENSOR_LOCATION, EXTERNAL);
}
