/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include <inttypes.h>
#include <stdio.h>
#include "spatial.h"

const char *map_letters(size_t n) {
    static const char *const letters[MOST_SPATIAL + 1] = { "NC", "NLC", "NHWC", "NDHWC" };
    return letters[n];
}

const axis_words *words_of_axis(size_t n, size_t k) {
    static const axis_words words[MOST_SPATIAL] = {
        { "slice",  "depth",  "pad_front", "pad_back",   "pool_depth",  "kernel_depth",  "output_pad_depth"  },
        { "row",    "height", "pad_top",   "pad_bottom", "pool_height", "kernel_height", "output_pad_height" },
        { "column", "width",  "pad_left",  "pad_right",  "pool_width",  "kernel_width",  "output_pad_width"  },
    };
    return &words[MOST_SPATIAL - n + k];
}

xir_status check_size(xir_infer *at, const char *attribute, int64_t size) {
    if (size >= 1) return XIR_OK;
    return xir_infer_fail(at, XIR_E_BOUNDS, attribute, "%s is %" PRId64 ": expected at least 1", attribute, size);
}

static xir_status check_step(xir_infer *at, const char *of, const axis_words *words, int64_t value) {
    if (value >= 1) return XIR_OK;
    char attribute[64];
    snprintf(attribute, sizeof attribute, "%s_%s", of, words->axis);
    return check_size(at, attribute, value);
}

xir_status check_steps(xir_infer *at, const steps *m, const axis_words *words) {
    xir_status status = check_step(at, "stride", words, m->stride);
    return status ? status : check_step(at, "dilation", words, m->dilation);
}
