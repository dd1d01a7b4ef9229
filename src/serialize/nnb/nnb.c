/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* NNB as a format: a file has no magic number, but its header must add up to its size. And the same file as the source
 * of an array, which is only written. */
#include "nnb/nnb.h"

/* Returns true if the words that are present can be a header: lists and their blocks are within the index and the
 * data. */
static bool may_be_head(const uint8_t *p, size_t size) {
    if (size >= 4 && !(little_u32(p) >= NNB_OLDEST && little_u32(p) <= NNB_NEWEST)) return false;
    if (size < NNB_HEADER) return size >= 4;
    const uint64_t entries = little_u32(p + 48), data = little_u32(p + 52);
    bool fits = data % 4 == 0;
    for (size_t at = 8; at < 48; at += 8) fits &= little_u32(p + at) <= data / 4 && little_u32(p + at + 4) < entries;
    return fits;
}

static xir_probe_grade probe(const xir_probe *file, void *user) {
    const uint8_t *p = file->head;
    (void)user;
    if (!may_be_head(p, file->head_size) || file->total < NNB_HEADER) return XIR_PROBE_NO;
    if (file->total == XIR_NO_BYTE || file->head_size < NNB_HEADER) return XIR_PROBE_MAYBE;
    const uint64_t size = NNB_HEADER + 4 * (uint64_t)little_u32(p + 48) + little_u32(p + 52);
    return size == file->total ? XIR_PROBE_LIKELY : XIR_PROBE_NO;
}

static bool may_begin(const uint8_t *head, size_t size) {
    return size < 4 || (little_u32(head) >= NNB_OLDEST && little_u32(head) <= NNB_NEWEST);
}

const format format_nnb = {
    .name = "nnb", .meaning = "NNabla binary", .suffixes = "nnb", .traits = XIR_FORMAT_DIALECT, .probe = probe,
    .may_begin = may_begin, .read = nnb_read, .write = nnb_write,
};

const format format_c = {
    .name = "c", .meaning = "NNabla binary as an array in C", .suffixes = "c",
    .traits = XIR_FORMAT_DIALECT, .operators = "nnb", .write = nnb_write_source,
};
