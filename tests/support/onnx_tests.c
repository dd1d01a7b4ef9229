/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "support/net.h"
#include "support/onnx_data.h"
#include "support/onnx_tests.h"

#ifndef XIR_ONNX_TESTS
#define XIR_ONNX_TESTS "/usr/share/libonnx-testdata/data"
#endif

/* ---- files ------------------------------------------------------------------------------------------------------ */

/* A file in its own block; `data` is NULL if the file does not exist. */
static pb_bytes read_file(const char *path) {
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return (pb_bytes){ NULL, 0 };
    unsigned char *data = fstat(fd, &st) == 0 ? malloc(st.st_size ? (size_t)st.st_size : 1) : NULL;
    ssize_t n = data ? read(fd, data, (size_t)st.st_size) : -1;
    close(fd);
    if (n != st.st_size) fail_msg("%s cannot be read", path);
    return (pb_bytes){ data, (size_t)n };
}

static size_t read_some(const char *folder, const char *what, pb_bytes out[ONNX_MOST_FILES]) {
    char path[700];
    for (size_t n = 0; n < ONNX_MOST_FILES; n++) {
        snprintf(path, sizeof path, "%s/%s_%zu.pb", folder, what, n);
        if (!(out[n] = read_file(path)).data) return n;
    }
    return ONNX_MOST_FILES;
}

void onnx_read_set(const char *test, size_t i, onnx_files *set) {
    char folder[600];
    snprintf(folder, sizeof folder, "%s/test_data_set_%zu", test, i);
    set->n_in = read_some(folder, "input", set->in);
    set->n_out = read_some(folder, "output", set->out);
}

void onnx_free_set(onnx_files *set) {
    for (size_t i = 0; i < set->n_in; i++) free((void *)(uintptr_t)set->in[i].data);
    for (size_t i = 0; i < set->n_out; i++) free((void *)(uintptr_t)set->out[i].data);
}

void onnx_bind_inputs(xir_network *net, const onnx_files *set, bool last_stays) {
    const xir_op *first = xir_network_op_at(net, 0);
    const size_t n = xir_op_output_count(first);
    for (size_t i = 0; i < n && i < set->n_in; i++) {
        if (last_stays ? n > 1 && i + 1 == n : i == 0) continue;
        xir_value *value = xir_op_output(first, (int64_t)i);
        char why_not[200];
        xir_array *array = onnx_array(ctx, set->in[i], xir_value_type(value), why_not);
        xir_value *params = array ? xir_params_from_array(net, xir_value_name(value), array) : NULL;
        if (params) DOES(xir_value_replace(value, params));
        xir_array_free(array);
    }
}

/* ---- folders ---------------------------------------------------------------------------------------------------- */

static int visible(const struct dirent *entry) { return entry->d_name[0] != '.'; }

const char *onnx_tests_folder(void) {
    const char *folder = getenv("XIR_ONNX_TESTS");
    return folder && *folder ? folder : XIR_ONNX_TESTS;
}

void onnx_each_test(onnx_test_fn *visit) {
    struct dirent **groups, **tests;
    const char *only = getenv("XIR_ONNX_ONLY");
    int n = scandir(onnx_tests_folder(), &groups, visible, alphasort);
    for (int g = 0; g < n; g++) {
        char folder[300], path[560], name[300];
        snprintf(folder, sizeof folder, "%s/%s", onnx_tests_folder(), groups[g]->d_name);
        int m = scandir(folder, &tests, visible, alphasort);
        for (int t = 0; t < m; t++) {
            snprintf(name, sizeof name, "%.40s/%.200s", groups[g]->d_name, tests[t]->d_name);
            snprintf(path, sizeof path, "%s/%.250s", folder, tests[t]->d_name);
            if (!only || strcmp(only, name) == 0) visit(path, name);
            free(tests[t]);
        }
        if (m >= 0) free(tests);
        free(groups[g]);
    }
    if (n >= 0) free(groups);
}
