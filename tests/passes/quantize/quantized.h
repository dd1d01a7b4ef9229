/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A network after the pass quantize, with ranges that a test has measured. */
#ifndef TESTS_QUANTIZED_H
#define TESTS_QUANTIZED_H

#include <stdio.h>
#include <unistd.h>
#include <xir/calibrate.h>
#include <xir/pass.h>
#include "support/net.h"

/* Quantises a network by a calibration, which it frees, with further options. The network is valid afterwards. */
static inline void quantise_by(xir_network *net, xir_calibration *c, const char *options) {
    char path[60], text[400];
    snprintf(path, sizeof path, "quantised-%ld.json", (long)getpid());
    DOES(xir_calibration_save(c, path, why));
    xir_calibration_free(c);
    snprintf(text, sizeof text, "calibration=\"%s\",%s", path, options);
    const xir_status status = xir_pass_run(net, "quantize", text, NULL, why);
    if (status) xir_diags_print(why, stderr);
    assert_int_equal(status, XIR_OK);
    xir_diags_clear(why);
    DOES(xir_network_validate(net, why));
    unlink(path);
}

#endif
