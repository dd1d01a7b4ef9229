/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The folders of ONNX's own operator tests: each test has a model, and recorded inputs and outputs. Debian's package
 * libonnx-testdata has them; XIR_ONNX_TESTS names another folder, XIR_ONNX_ONLY a single test. */
#ifndef SUPPORT_ONNX_TESTS_H
#define SUPPORT_ONNX_TESTS_H

#include <xir/network.h>
#include "support/onnx_wire.h"

enum { ONNX_MOST_FILES = 32 };

/* The recorded inputs and outputs of one data set. */
typedef struct onnx_files {
    pb_bytes in[ONNX_MOST_FILES], out[ONNX_MOST_FILES];
    size_t   n_in, n_out;
} onnx_files;
/* Set `i` of a test; without files if it does not exist. */
void onnx_read_set(const char *test, size_t i, onnx_files *set);
void onnx_free_set(onnx_files *set);

/* Every input of the network but the first, or but the last of several, becomes Params with its recorded elements;
 * inputs that are not tensors that XIR knows stay inputs. */
void onnx_bind_inputs(xir_network *net, const onnx_files *set, bool last_stays);

const char *onnx_tests_folder(void);
/* Visits the folder and the name, "node/test_abs", of each test, in order. */
typedef void onnx_test_fn(const char *folder, const char *name);
void onnx_each_test(onnx_test_fn *visit);

#endif
