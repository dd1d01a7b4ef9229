/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* --each of xir run and xir compare: arrays that hold many inputs one after the other along their first dim. The
 * network, whose first dim says how many it takes at a time, is run for each part; outputs are joined as the inputs
 * were. */
#include <stdlib.h>
#include <string.h>
#include "cli.h"

static int64_t first_dim(const xir_type *type) { return xir_type_rank(type) ? xir_type_dim(type, 0, false) : 0; }

/* An array's type with another first dim. */
static const xir_type *with_first_dim(const xir_type *type, int64_t first, xir_diags *why) {
    const xir_tensor_type *tensor = xir_type_as_tensor(type);
    int64_t *dims = take(tensor->shape.size, sizeof *dims);
    memcpy(dims, tensor->shape.data, tensor->shape.size * sizeof *dims);
    dims[0] = first;
    const xir_type *out = xir_type_with_shape(context, type, dims, tensor->shape.size, why);
    free(dims);
    return out;
}

size_t count_parts(xir_value *const *inputs, const xir_array *const *arrays, size_t n) {
    int64_t parts = 0;
    for (size_t i = 0; i < n; i++) {
        int64_t whole = first_dim(xir_array_type(arrays[i])), each = first_dim(xir_value_type(inputs[i]));
        xir_str name = xir_value_name(inputs[i]);
        each = each < 0 ? 1 : each;   /* a network that takes any number gets one at a time */
        if (whole < 1 || each < 1 || whole % each || (parts && whole / each != parts)) {
            complain(FAULTY, "--each: the first dim of '%.*s' is %lld in the array and %lld in the network; inputs "
                     "must have whole parts, and the same number of them", (int)name.size, name.data, (long long)whole,
                     (long long)each);
            return 0;
        }
        parts = whole / each;
    }
    if (!parts) complain(FAULTY, "--each: the network has no inputs");
    return (size_t)parts;
}

xir_array *part_of(const xir_array *whole, size_t i, size_t parts, xir_diags *why) {
    const xir_type *type = with_first_dim(xir_array_type(whole),
                                          first_dim(xir_array_type(whole)) / (int64_t)parts, why);
    size_t size;
    const char *bytes = xir_array_data(whole, &size);
    return type ? xir_array_copy(context, type, bytes + i * (size / parts), size / parts, why) : NULL;
}

/* Puts a part of an output where it belongs; the first one makes room for all of them. */
static xir_status join_part(xir_array **whole, const xir_array *part, size_t i, size_t parts, xir_diags *why) {
    const xir_type *type = xir_array_type(part);
    size_t size, room;
    const void *bytes = xir_array_data(part, &size);
    if (!xir_type_rank(type))
        return xir_diags_add(why, XIR_ERROR, XIR_E_BOUNDS, XIR_STR(""), "--each: an output has no dims to join along");
    if (!*whole) {
        const xir_type *all = with_first_dim(type, first_dim(type) * (int64_t)parts, why);
        *whole = all ? xir_array_new(context, all, why) : NULL;
        if (!*whole) return XIR_E_MEMORY;
    }
    char *out = xir_array_edit(*whole);
    xir_array_data(*whole, &room);
    if (size * parts != room)
        return xir_diags_add(why, XIR_ERROR, XIR_E_BOUNDS, XIR_STR(""),
                             "--each: an output has another size in part %zu", i);
    memcpy(out + i * size, bytes, size);
    return XIR_OK;
}

static void free_all(xir_array **arrays, size_t n) {
    for (size_t k = 0; k < n; k++) xir_array_free(arrays[k]);
}

xir_status each_part(xir_value *const *inputs, const xir_array *const *arrays, size_t n_in, part_fn *run, void *user,
                     xir_diags *why) {
    const size_t parts = count_parts(inputs, arrays, n_in);
    xir_array **in = take(n_in + 1, sizeof *in);
    xir_status status = parts ? XIR_OK : XIR_E_BOUNDS;
    for (size_t i = 0; i < parts && !status; i++) {
        progress_step(", sample %zu of %zu", i + 1, parts);
        for (size_t k = 0; k < n_in && !status; k++) {
            in[k] = part_of(arrays[k], i, parts, why);
            if (!in[k]) status = XIR_E_MEMORY;
        }
        if (!status) status = run(user, i, parts, (const xir_array *const *)in, why);
        free_all(in, n_in);
        memset(in, 0, n_in * sizeof *in);
    }
    free(in);
    return status;
}

/* A run of all parts, whose outputs are joined. */
typedef struct joining {
    const xir_network     *net;
    size_t                 n_in, n_out;
    xir_array            **out;
    const xir_run_options *options;
} joining;

static xir_status run_part(void *user, size_t i, size_t parts, const xir_array *const *in, xir_diags *why) {
    const joining *j = user;
    xir_array **got = take(j->n_out + 1, sizeof *got);
    xir_status status = xir_network_run(j->net, in, j->n_in, got, j->n_out, j->options, why);
    for (size_t k = 0; k < j->n_out && !status; k++) status = join_part(&j->out[k], got[k], i, parts, why);
    free_all(got, j->n_out);
    free(got);
    return status;
}

xir_status run_each(const xir_network *net, xir_value *const *inputs, const xir_array *const *arrays, size_t n_in,
                    xir_array **out, size_t n_out, const xir_run_options *options, xir_diags *why) {
    joining j = { net, n_in, n_out, out, options };
    return each_part(inputs, arrays, n_in, run_part, &j, why);
}
