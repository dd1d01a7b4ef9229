/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A network as a module of PyTorch, for fuzz targets. */
#ifndef XIR_TESTS_FUZZ_PYTHON_H
#define XIR_TESTS_FUZZ_PYTHON_H

#include "network.h"
#include "support/python_text.h"

/* The network is written in the form of a module, or refused with one finding before the first byte. */
static inline void must_be_python(xir_network *net, xir_diags *why) {
    buffer text;
    xir_diags_clear(why);
    if (write_to(net, &format_python, true, &text, why) == XIR_OK) {
        must(python_bad_line(text.data, text.size) == NULL);
    } else {
        must(text.size == 0 && xir_diags_count(why) == 1);
    }
    xir_diags_clear(why);
    buffer_free(&text);
}

#endif
