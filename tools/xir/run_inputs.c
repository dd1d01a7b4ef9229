/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The inputs of xir run: arrays of files, as elements of the type that the network declares, or random numbers. Where a
 * foreign network leaves dims or elements open, they are those of the arrays. */
#include <stdlib.h>
#include <string.h>
#include "run.h"

/* ---- files ------------------------------------------------------------------------------------------ */

/* A file of TensorStack, by its name. It must have one tensor. */
static xir_array *load_tensor(const char *path, xir_diags *why) {
    xir_array *arrays[1];
    size_t n;
    if (xir_tsm_tensor_load(context, path, arrays, 1, &n, why)) return NULL;
    if (n == 1) return arrays[0];
    if (n) xir_array_free(arrays[0]);
    char sentence[80];
    snprintf(sentence, sizeof sentence, "the file has %zu tensors: expected one", n);
    xir_diags_append(why, &(xir_diag){ .severity = XIR_ERROR, .code = XIR_E_INVALID, .file = xir_str_of(path),
                                       .byte = 0, .message = xir_str_of(sentence) });
    return NULL;
}

xir_array *read_array(const char *path, int *code, xir_diags *why) {
    const size_t before = xir_diags_count(why), size = strlen(path);
    const bool tensor = size > 2 && strcmp(path + size - 2, ".t") == 0;
    xir_array *array = tensor ? load_tensor(path, why) : xir_array_load_npy(context, path, why);
    const xir_diag *d = array ? NULL : xir_diags_at(why, before);
    *code = array ? DONE : d && d->code == XIR_E_UNSUPPORTED ? FAULTY : exit_of(d ? d->code : XIR_E_MEMORY);
    return array;
}

/* ---- arrays ----------------------------------------------------------------------------------------- */

/* Finds the input for which a word of --input is, and its file; SIZE_MAX: none yet. */
static size_t which_input(const xir_network *net, const ports *in, const char *word, const char **file) {
    const xir_str name = input_name(net, word, file);
    size_t position;
    for (size_t i = 0; i < in->n; i++)
        if (name.size && xir_str_equal(xir_value_name(in->values[i]), name)) return i;
    return read_position(name, in->n, &position) ? position : SIZE_MAX;
}

/* Elements that .npy files do not have: they come as float32 or as wider integers. */
static bool is_foreign(const xir_type *type) {
    const xir_object *element = xir_type_object(xir_type_element(type));
    const xir_float_type *real = xir_float_type_of(element);
    const xir_integer_type *integer = xir_integer_type_of(element);
    if (real) return real->format != XIR_FLOAT_FP16 && real->format != XIR_FLOAT_FP32 && real->format != XIR_FLOAT_FP64;
    if (integer) return integer->ibits != 8 && integer->ibits != 16 && integer->ibits != 32 && integer->ibits != 64;
    return xir_type_is_quantized(xir_type_element(type));
}

int take_stored(xir_array **array, const xir_type *like, xir_diags *why) {
    const xir_type *element = xir_type_element(like), *has = xir_array_type(*array);
    const xir_type *stored = element && xir_type_is_quantized(element) ? xir_type_storage(element) : NULL;
    if (!stored || !xir_type_equal(stored, xir_type_element(has))) return DONE;
    const xir_type *type = xir_type_with_element(context, has, element, NULL);
    size_t size;
    const void *bytes = xir_array_data(*array, &size);
    if (!type) return DONE;   /* its scales do not lie along these dims, which a run refuses */
    xir_array *result = xir_array_copy(context, type, bytes, size, why);
    if (!result) return exit_of(XIR_E_MEMORY);
    xir_array_free(*array);
    *array = result;
    return DONE;
}

/* The same numbers as elements of another type. */
int recast(xir_array **array, const xir_type *like, xir_diags *why) {
    if (!xir_type_as_tensor(like) || !is_foreign(like)) return DONE;
    const int code = take_stored(array, like, why);
    if (code) return code;
    const size_t before = xir_diags_count(why);
    xir_array *result = xir_array_cast(*array, xir_type_element(like), why);
    const xir_diag *d = result ? NULL : xir_diags_at(why, before);
    if (!result) return exit_of_run(d ? d->code : XIR_E_MEMORY);
    xir_array_free(*array);
    *array = result;
    return DONE;
}

int inputs_take_defaults(xir_network *net) {
    const size_t n = xir_network_params(net, NULL, 0);
    xir_value **params = take(n + 1, sizeof *params);
    xir_network_params(net, params, n);
    int code = DONE;
    for (size_t i = 0; i < n && !code; i++) {
        const xir_str name = xir_value_name(params[i]);
        bool named = false;
        for (size_t k = 0; k < input_words.n && name.size && !named; k++) {
            const char *word = input_words.items[k];
            named = strlen(word) > name.size && word[name.size] == '=' && memcmp(word, name.data, name.size) == 0;
        }
        if (named && xir_params_is_default(params[i]) && !xir_params_make_input(params[i]))
            code = complain(FAULTY, "--input %.*s: no op takes its default as an input", (int)name.size, name.data);
    }
    free(params);
    return code;
}

int inputs_read(const xir_network *net, ports *in, xir_diags *why) {
    for (size_t i = 0; i < input_words.n; i++) {
        const char *word = input_words.items[i], *file;
        const size_t k = which_input(net, in, word, &file);
        if (k == SIZE_MAX)
            return complain(MISUSED, "--input %s: the network has this input only after its conversion", word);
        xir_str name = xir_value_name(in->values[k]);
        if (in->arrays[k]) return complain(MISUSED, "--input gives '%.*s' twice", (int)name.size, name.data);
        int code;
        in->arrays[k] = read_array(file, &code, why);
        if (!code) code = recast(&in->arrays[k], xir_value_type(in->values[k]), why);
        if (code) return code;
    }
    return DONE;
}

int inputs_type(ports *in, xir_diags *why) {
    for (size_t i = 0; i < in->n; i++) {
        const xir_type *type = xir_value_type(in->values[i]);
        xir_str name = xir_value_name(in->values[i]);
        if (in->arrays[i]) {
            in->types[i] = xir_array_type(in->arrays[i]);
            continue;
        }
        if (input_words.n) return complain(MISUSED, "there is no --input for '%.*s'", (int)name.size, name.data);
        if (!xir_type_as_tensor(type)) {
            return complain(FAULTY, "input '%.*s' is not a tensor: there are no random numbers for it",
                            (int)name.size, name.data);
        }
        in->types[i] = xir_type_with_known_dims(context, type, 1, why);
        if (!in->types[i]) return code_of(why);
    }
    return DONE;
}

/* Takes a cost from what a limit has left; 0: no limit. */
static int take_from(uint64_t *left, uint64_t cost, const char *of, const char *by, xir_diags *why) {
    if (*left && cost > *left) {
        xir_diags_add(why, XIR_ERROR, XIR_E_LIMIT, XIR_STR(""), "an input takes %llu %s, but only %llu are left (%s)",
                      (unsigned long long)cost, of, (unsigned long long)*left, by);
        return exit_of_run(XIR_E_LIMIT);
    }
    if (*left) *left = cost < *left ? *left - cost : 1;
    return DONE;
}

/* Before an array is made: its bytes, and ten steps for an element that is drawn. */
static int take_input(const ports *in, size_t i, xir_run_options *limits, xir_diags *why) {
    uint64_t bytes;
    int64_t n;
    if (xir_type_elements(in->types[i], &n) || xir_type_bytes(in->types[i], &bytes)) return DONE;   /* said later */
    const xir_work work = XIR_INIT(xir_work, .element_ops = in->arrays[i] ? 0 : (uint64_t)n);
    int code = take_from(&limits->max_work, xir_work_steps(&work), "steps", "--max-work", why);
    return code ? code : take_from(&limits->max_memory, bytes, "bytes", "--max-memory", why);
}

int inputs_draw(const xir_network *net, ports *in, uint64_t seed, xir_run_options *limits, xir_diags *why) {
    xir_numbers *takes = take(in->n + 1, sizeof *takes);
    for (size_t i = 0; i < in->n; i++) takes[i] = xir_numbers_any();
    int code = exit_of(xir_network_input_numbers(net, takes, in->n, why));
    for (size_t i = 0; i < in->n && !code; i++) {
        code = take_input(in, i, limits, why);
        if (code || in->arrays[i]) continue;
        in->arrays[i] = xir_array_random_in(context, in->types[i], seed + i, &takes[i], why);
        if (!in->arrays[i]) code = code_of(why);
    }
    free(takes);
    return code;
}

/* ---- a foreign network ------------------------------------------------------------------------------ */

/* The options of a conversion that knows the dims of the arrays, and the elements of inputs without a type:
 * input-shape="x=1,3;y=2:fp32". With --each an input without a type takes one at a time. */
static char *shapes_of(const ports *in) {
    text t = { 0 };
    for (size_t i = 0; i < in->n; i++) {
        xir_str name = xir_value_name(in->values[i]);
        const xir_type *declared = xir_value_type(in->values[i]), *type = in->types[i];
        size_t rank = xir_type_rank(type);
        bool plain = name.size > 0;
        for (size_t k = 0; plain && k < name.size; k++) plain = name.data[k] && !strchr("\";=", name.data[k]);
        const bool typed = xir_type_as_tensor(declared) != NULL;
        if (!plain || (typed && (!xir_type_has_unknown_dim(declared) || rank != xir_type_rank(declared)))) continue;
        const size_t before = t.size;
        text_put(&t, t.size ? ";" : "input-shape=\"");
        text_add(&t, name.data, name.size);
        text_put(&t, "=");
        for (size_t k = 0; k < rank; k++)
            text_printf(&t, k ? ",%lld" : "%lld",
                        run_args.each && !typed && k == 0 ? 1LL : (long long)xir_type_dim(type, (int64_t)k, false));
        if (typed) continue;
        text_put(&t, ":");
        if (!put_element(&t, xir_type_element(type))) t.size = before;
    }
    if (t.size) text_put(&t, "\"");
    text_add(&t, "", 1);
    return t.data;
}

int inputs_convert(xir_network *net, const ports *in, xir_diags *why) {
    if (!xir_network_is_dialect(net)) return DONE;
    char *options = shapes_of(in);
    xir_status status = xir_pass_run(net, "to-xir", options, NULL, why);
    free(options);
    return exit_of_run(status);
}
