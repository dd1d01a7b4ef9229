/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The functions that the executor has on a processor, as it lists them, and what they say of a slot without a type. On
 * a graphics card they are the same but for the names of some parameters, the precisions of a few, and one author. */
#include "deepx/deepx.h"

const char *const deepx_known_lines[] = {
    "matmul(tensor<float64|float32>:A, tensor<float64|float32>:B)->(tensor<float64|float32>:C) // author=cblas",
    "matmul(tensor<any>:A, tensor<any>:B)->(tensor<any>:C) // author=miaobyte",
    "constant(var<any>:value)->(tensor<any>:t) // author=miaobyte",
    "arange(var<any>:start, var<any>:step)->(tensor<any>:t) // author=miaobyte",
    "uniform(var<any>:low, var<any>:high, var<int32>:seed)->(tensor<any>:t) // author=miaobyte",
    "dropout(var<float32>:p, var<int32>:seed)->(tensor<any>:A) // author=miaobyte",
    "normal(var<any>:mean, var<any>:std, var<int32>:seed)->(tensor<any>:t) // author=miaobyte",
    "load(var<string>:path)->()",
    "print(tensor<any>:t)->() // author=miaobyte",
    "print(tensor<any>:t, var<string>:format)->() // author=miaobyte",
    "save(tensor<any>:t, var<string>:path)->()",
    "loadtensordata(var<string>:path)->(tensor<any>:t)",
    "argset(var<any>:value)->(var<any>:name)",
    "vecset(vector<any>:value)->(vector<any>:name)",
    "copytensor(tensor<any>:src)->(tensor<any>:dst)",
    "newtensor(vector<int32>:shape)->(tensor<any>:t)",
    "newtensor(var<string>:shape)->(tensor<any>:t)",
    "renametensor(var<string>:new_name)->(tensor<any>:t)",
    "deltensor()->(tensor<any>:t)",
    "pow(tensor<any>:A, tensor<any>:B)->(tensor<any>:C) // author=miaobyte",
    "max(tensor<any>:A, tensor<any>:B)->(tensor<any>:C) // author=miaobyte",
    "mulscalar(tensor<any>:A, var<any>:b)->(tensor<any>:C) // author=miaobyte",
    "equal(tensor<any>:A, tensor<any>:B, var<float32>:eposilon)->(tensor<bool>:mask) // author=miaobyte",
    "mul(tensor<any>:A, tensor<any>:B)->(tensor<any>:C) // author=miaobyte",
    "exp(tensor<any>:A)->(tensor<any>:C) // author=miaobyte",
    "subscalar(tensor<any>:a, var<any>:scalar)->(tensor<any>:c) // author=miaobyte",
    "sqrt(tensor<any>:A)->(tensor<any>:C) // author=miaobyte",
    "sub(tensor<any>:a, tensor<any>:b)->(tensor<any>:c) // author=miaobyte",
    "add(tensor<float64|float32>:a, tensor<float64|float32>:b)->(tensor<float64|float32>:c) // author=cblas",
    "add(tensor<any>:a, tensor<any>:b)->(tensor<any>:c) // author=miaobyte",
    "todtype(tensor<any>:A)->(tensor<any>:C)",
    "invert(tensor<int64|int32|int16|int8|bool>:A)->(tensor<int64|int32|int16|int8|bool>:C) // author=miaobyte",
    "rdivscalar(var<any>:scalar, tensor<any>:A)->(tensor<any>:C) // author=miaobyte",
    "rpowscalar(var<float32>:scalar, tensor<any>:A)->(tensor<any>:C) // author=miaobyte",
    "cos(tensor<any>:A)->(tensor<any>:C) // author=miaobyte",
    "greater(tensor<any>:A, tensor<any>:B)->(tensor<bool>:mask) // author=miaobyte",
    "addscalar(tensor<any>:a, var<any>:scalar)->(tensor<any>:c) // author=miaobyte",
    "div(tensor<any>:A, tensor<any>:B)->(tensor<any>:C) // author=miaobyte",
    "divscalar(tensor<any>:A, var<any>:scalar)->(tensor<any>:C) // author=miaobyte",
    "lessscalar(tensor<any>:A, var<any>:scalar)->(tensor<bool>:mask) // author=miaobyte",
    "less(tensor<any>:A, tensor<any>:B)->(tensor<bool>:mask) // author=miaobyte",
    "notequalscalar(tensor<any>:A, var<any>:scalar, var<float32>:epsilon)->(tensor<bool>:mask) // author=miaobyte",
    "rsubscalar(var<any>:scalar, tensor<any>:a)->(tensor<any>:c) // author=miaobyte",
    "sin(tensor<any>:A)->(tensor<any>:C) // author=miaobyte",
    "minscalar(tensor<any>:A, var<any>:scalar)->(tensor<any>:C) // author=miaobyte",
    "tan(tensor<any>:A)->(tensor<any>:C) // author=miaobyte",
    "maxscalar(tensor<any>:A, var<any>:scalar)->(tensor<any>:C) // author=miaobyte",
    "min(tensor<any>:A, tensor<any>:B)->(tensor<any>:C) // author=miaobyte",
    "log(tensor<any>:A)->(tensor<any>:C) // author=miaobyte",
    "equalscalar(tensor<any>:A, var<any>:scalar, var<float32>:eposilon)->(tensor<bool>:mask) // author=miaobyte",
    "notequal(tensor<any>:A, tensor<any>:B, var<float32>:epsilon)->(tensor<bool>:mask) // author=miaobyte",
    "greaterscalar(tensor<any>:A, var<any>:scalar)->(tensor<bool>:mask) // author=miaobyte",
    "switch(listtensor<any>:tensors, tensor<int32|bool>:cases)->(tensor<any>:C) // author=miaobyte",
    "powscalar(tensor<any>:A, var<any>:scalar)->(tensor<any>:C) // author=miaobyte",
    "reshape(tensor<any>:A, vector<int32>:shape)->(tensor<any>:B) // author=miaobyte",
    "transpose(tensor<any>:A, vector<int32>:dim_order)->(tensor<any>:C) // author=miaobyte",
    "concat(listtensor<any>:tensors, var<int32>:dim)->(tensor<any>:result) // author=miaobyte",
    "broadcastTo(tensor<any>:A, vector<int32>:new_shape)->(tensor<any>:B) // author=miaobyte",
    "indexselect(tensor<any>:A, tensor<int64|int32>:index, var<int32>:axis)->(tensor<any>:B) // author=miaobyte",
    "repeat(tensor<any>:A, vector<int32>:repeats)->(tensor<any>:B) // author=miaobyte",
    "reducemin(tensor<any>:A, vector<int32>:axis, var<bool>:keepdims)->(tensor<any>:B) // author=miaobyte",
    "sum(tensor<any>:A, vector<int32>:axis, var<bool>:keepdims)->(tensor<any>:B) // author=miaobyte",
    "reducemax(tensor<any>:A, vector<int32>:axis, var<bool>:keepdims)->(tensor<any>:B) // author=miaobyte",
    "prod(tensor<any>:A, vector<int32>:axis, var<bool>:keepdims)->(tensor<any>:B) // author=miaobyte",
};
const size_t deepx_n_known = sizeof deepx_known_lines / sizeof *deepx_known_lines;

/* The category of slot `i` of the list that begins after `p`, which has `n` slots; 0 if it has another number. */
static unsigned category_at(const char *p, size_t i, size_t n) {
    unsigned found = 0;
    size_t count = *p != ')';
    for (size_t k = 0; *p && *p != ')'; k++) {
        const size_t word = strcspn(p, "<");
        if (k == i) found = *p == 't' ? DEEPX_TENSOR : *p == 'l' ? DEEPX_LISTTENSOR
                          : word == 3 ? DEEPX_VAR : DEEPX_VECTOR;
        p += strcspn(p, ",)");
        if (*p == ',') {
            p += 2;
            count++;
        }
    }
    return count == n ? found : 0;
}

/* The category of parameter `i` of `n` of a known function, 0 if it is not known. */
static unsigned known_category(xir_str function, size_t i, size_t n, bool ret) {
    for (size_t k = 0; k < deepx_n_known; k++) {
        const char *line = deepx_known_lines[k];
        const bool same = strncmp(line, function.data, function.size) == 0 && line[function.size] == '(';
        if (!same) continue;
        const char *slots = ret ? strstr(line, "->(") + 3 : line + function.size + 1;
        const unsigned category = category_at(slots, i, n);
        if (category) return category;
    }
    return 0;
}

static bool are_tensor_names(xir_str list) {
    xir_str items = deepx_inner(list), item;
    while (deepx_next_item(&items, &item))
        if (!deepx_is_tensor_name(item)) return false;
    return true;
}

deepx_slot_kind deepx_kind_of(const deepx_line *line, const deepx_slot *slot) {
    const size_t i = (size_t)(slot - line->slots);
    const bool ret = i >= line->n_args, list = slot->value.data[0] == '[';
    const size_t n = ret ? line->n_rets : line->n_args;
    unsigned category = slot->is.category;
    if (!category && !slot->type.size) category = known_category(line->name, ret ? i - line->n_args : i, n, ret);
    if (category == DEEPX_LISTTENSOR || (!category && list && !deepx_is_literal(slot->value)))
        return list && are_tensor_names(slot->value) ? DEEPX_SLOT_TENSORS : DEEPX_SLOT_TEXT;
    if (!deepx_is_tensor_name(slot->value)) return DEEPX_SLOT_TEXT;
    if (category == DEEPX_TENSOR) return DEEPX_SLOT_TENSOR;
    if (category && !(category & DEEPX_TENSOR)) return DEEPX_SLOT_TEXT;
    return deepx_is_literal(slot->value) ? DEEPX_SLOT_TEXT : DEEPX_SLOT_TENSOR;
}
