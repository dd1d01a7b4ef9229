/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* See type_words.h. */
#include "support/type_words.h"
#include "text.h"
#include <stdio.h>
#include <string.h>
#include <xir/serialize.h>

const char *type_words(xir_context *ctx, const xir_type *type, char out[TYPE_WORDS]) {
    xir_text_buffer element = { 0 };
    const xir_tensor_type *tensor = xir_type_as_tensor(type);
    const xir_type *printed = tensor ? xir_type_element(type) : type;
    if (!type || xir_object_print(ctx, xir_type_object(printed), 0, &element)) {
        snprintf(out, TYPE_WORDS, "%s", type ? "?" : "none");
        return out;
    }
    const bool quoted = element.size > 1 && *element.data == '"';   /* "@fp(32)", a JSON string */
    const size_t size = element.size - (quoted ? 2 : 0);
    int most = (int)(size < TYPE_WORDS / 2 ? size : TYPE_WORDS / 2);
    size_t n = (size_t)snprintf(out, TYPE_WORDS, "%.*s", most, element.data + quoted);
    xir_text_free(&element);
    if (!tensor) return out;
    const xir_str axes = tensor->layout ? tensor->layout->axes : XIR_STR("?");
    n += (size_t)snprintf(out + n, TYPE_WORDS - n, " %.*s [", CLIP_TO(axes, 40));
    for (size_t i = 0; i < tensor->shape.size && n < TYPE_WORDS - 24; i++) {
        char dim[24];   // longer expressions are cut
        xir_type_dim_text(type, (int64_t)i, dim, sizeof dim);
        n += (size_t)snprintf(out + n, TYPE_WORDS - n, "%s%s", i ? "," : "", strcmp(dim, "?") ? dim : "-1");
    }
    snprintf(out + n, TYPE_WORDS - n, "]");
    return out;
}
