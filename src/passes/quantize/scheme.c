/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The rows of schemes. */
#include "scheme.h"

static const scheme rows[] = {
    /* name     pairs  zeros  full   even   norm   maps wide weights bias       */
    { "onnx",   true,  true,  true,  true,  false, 8,   16,  8,      BIAS_PRODUCT },
    { "zhuge",  false, false, false, false, false, 8,   0,   8,      BIAS_FP16    },
    { "buyi",   false, false, false, false, true,  8,   16,  0,      BIAS_EXP     },
};

const scheme *scheme_of(xir_str name) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (xir_str_equal(name, xir_str_of(rows[i].name))) return &rows[i];
    return NULL;
}

const char *scheme_names(void) { return "onnx, zhuge or buyi"; }
