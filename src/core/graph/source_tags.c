/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* See source_tags.h. */
#include "source_tags.h"

/* ORDER SOURCE TAG */
static const struct { const char *key, *old; } keys[SOURCE_TAG_COUNT] = {
    { "source.dims",      "onnx.dims" },
    { "source.captures",  "onnx.captures" },
    { "source.duplicate", "onnx.duplicate" },
    { "source.inputs",    NULL },
    { "source.random_inputs", NULL },
    { "source.inference", NULL },
    { "source.repeated", NULL },
    { "source.version", NULL },
};

static bool is_old(source_tag which, xir_str key) {
    return keys[which].old && xir_str_equal(key, xir_str_of(keys[which].old));
}

xir_str source_tag_key(source_tag which) { return xir_str_of(keys[which].key); }

bool source_tag_is(source_tag which, xir_str key) {
    return xir_str_equal(key, source_tag_key(which)) || is_old(which, key);
}

const xir_any *source_tag_find(const xir_map *tags, source_tag which) {
    if (!tags) return NULL;
    const xir_any *value = xir_map_find(tags, source_tag_key(which));
    return value || !keys[which].old ? value : xir_map_find(tags, xir_str_of(keys[which].old));
}

bool source_is_duplicate(const xir_value *v) {
    const xir_any *tag = source_tag_find(xir_value_tags(v), SOURCE_DUPLICATE);
    return tag && tag->kind == XIR_ANY_BOOL && tag->as.boolean;
}

xir_status source_tag_set(xir_value *v, source_tag which, const xir_any *value) {
    xir_status status = xir_value_set_tag(v, source_tag_key(which), value);
    return status || !keys[which].old ? status : xir_value_set_tag(v, xir_str_of(keys[which].old), NULL);
}
