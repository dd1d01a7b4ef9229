/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* DeepX texts hold what every format with a dialect promises. */
#include "dialect.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const fuzz_dialect deepx = { &format_deepx, .apart = true, .to = "deepx-to-xir", .back = "xir-to-deepx",
                                        .settings = { "delete=true", "windows=false" } };
    return must_hold(&deepx, data, size);
}
