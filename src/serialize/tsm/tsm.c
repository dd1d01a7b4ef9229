/* TSM as a format: its magic number follows a word that nobody reads. */
#include "tsm/tsm.h"

static xir_probe_grade probe(const xir_probe *file, void *user) {
    (void)user;
    return file->head_size >= 8 && tsm_u32((const uint8_t *)file->head + 4) == TSM_CODE ? XIR_PROBE_YES : XIR_PROBE_NO;
}

static bool may_begin(const uint8_t *head, size_t size) {
    return size < 8 || tsm_u32(head + 4) == TSM_CODE;
}

const format format_tsm = {
    .name = "tsm", .meaning = "TensorStack module", .suffixes = "tsm", .traits = XIR_FORMAT_DIALECT, .probe = probe,
    .may_begin = may_begin, .read = tsm_read, .write = tsm_write,
};
