/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The sections of a distribution. */
#include <xir/icraft.h>
#include "types.h"

enum { ONLY_INVALID, ONLY_VALID, ALL };

static size_t list(const xir_distr *distr, int which, xir_section *out, size_t room) {
    const xir_runs runs = distr ? distr->sections : (xir_runs){ 0 };
    size_t n = 0;
    int64_t start = 0;
    for (size_t i = 0; i < runs.size; start = runs.data[i++].end) {
        bool valid = runs.data[i].m != 0;
        if (which != ALL && which != valid) continue;
        if (n < room) out[n] = (xir_section){ start, runs.data[i].end, valid };
        n++;
    }
    return n;
}

size_t xir_distr_all_sections(const xir_distr *distr, xir_section *out, size_t room) {
    return list(distr, ALL, out, room);
}
size_t xir_distr_valid_sections(const xir_distr *distr, xir_section *out, size_t room) {
    return list(distr, ONLY_VALID, out, room);
}
size_t xir_distr_invalid_sections(const xir_distr *distr, xir_section *out, size_t room) {
    return list(distr, ONLY_INVALID, out, room);
}
