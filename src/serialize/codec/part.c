/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Objects, ops and values alone, as tree formats have them. */
#include "codec/read.h"
#include "format.h"

void encode_part(encoder *e, const format_part *part) {
    switch (part->kind) {
    case PART_OBJECT: encode_object(e, part->it); break;
    case PART_OP:     encode_op(e, part->it); break;
    case PART_VALUE:  encode_value(e, part->it); break;
    }
}

static bool read_value_alone(decoder *d, source *s, const void **out) {
    codec_memo likely = { 0 };
    value_in in;
    xir_value *v;
    if (s->ops->shape(s) != SHAPE_MAP) return source_expected(s, value_class_key.data);
    if (!read_value(d, s, &likely, &in) || !use_value(d, s, &in, &v)) return false;
    *out = v;
    return true;
}

static bool read_alone(decoder *d, source *s, part_kind kind, const void **out) {
    const xir_object *object = NULL;
    xir_op *op = NULL;
    bool ok = false;
    switch (kind) {
    case PART_OBJECT: ok = decode_object(d, s, NULL, &object); *out = object; break;
    case PART_OP:     ok = decode_op(d, s, &op); *out = op; break;
    case PART_VALUE:  ok = read_value_alone(d, s, out); break;
    }
    return ok;
}

bool decode_part(decoder *d, source *s, format_part *part, bool (*at_end)(source *s)) {
    if (part->net) decoder_join(d, s);
    if (read_alone(d, s, part->kind, &part->it) && at_end(s)) return true;
    if (part->net) decoder_undo(d);
    part->it = NULL;
    return false;
}
