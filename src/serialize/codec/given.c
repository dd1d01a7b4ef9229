/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A caller's write callback: counts the bytes it takes and reports where it stopped. */
#include "codec/given.h"
#include "file.h"
#include "task.h"

given_writer given_begin(xir_write_fn *write, void *user, xir_diags *why) {
    return (given_writer){ .write = write, .user = user, .why = why, .errors = xir_diags_count_of(why, XIR_ERROR) };
}

bool given_write(void *given, const void *data, size_t size) {
    given_writer *g = given;
    g->stopped = g->stopped || !task_did(size) || !g->write(g->user, data, size);
    if (!g->stopped) g->taken += size;
    return !g->stopped;
}

xir_status given_end(const given_writer *g, xir_status status) {
    if (!g->stopped || task_is_cancelled()) return status;
    if (xir_diags_count_of(g->why, XIR_ERROR) > g->errors) return XIR_E_IO;
    return file_fail(g->why, XIR_E_IO, "", g->taken, "the write callback accepted no more bytes");
}
