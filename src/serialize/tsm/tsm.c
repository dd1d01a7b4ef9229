/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* TSM as a format: its magic number follows a word that nobody reads. A container begins with the same number, or with
 * the scrambled one. */
#include "tsm/tsm.h"

static xir_probe_grade probe(const xir_probe *file, void *user) {
    (void)user;
    return tsm_wrapping_of(file->head, file->head_size) == TSM_UNKNOWN ? XIR_PROBE_NO : XIR_PROBE_YES;
}

static bool may_begin(const uint8_t *head, size_t size) {
    enum { ENOUGH = 20 };
    return size < ENOUGH || tsm_wrapping_of(head, size) != TSM_UNKNOWN;
}

const format format_tsm = {
    .name = "tsm", .meaning = "TensorStack module", .suffixes = "tsm csta",
    .traits = XIR_FORMAT_DIALECT | XIR_FORMAT_PLAINS, .probe = probe, .may_begin = may_begin, .read = tsm_read,
    .write = tsm_write,
};
