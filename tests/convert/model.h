/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The fixture of tests that make ONNX models: one empty model for each test. */
#ifndef TEST_CONVERT_MODEL_H
#define TEST_CONVERT_MODEL_H

#include "support/net.h"
#include "support/onnx_make.h"

static om m;

static int model_begin(void **state) {
    (void)state;
    m = om_begin("net");
    return 0;
}

static int model_end(void **state) {
    (void)state;
    om_free(&m);
    return 0;
}

#define MODEL_TEST(name) cmocka_unit_test_setup_teardown(name, model_begin, model_end)

#endif
