/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The state and the common runs of cases that read foreign files: onnx.c, pnnx.c, nnb.c, tsm.c, deepx.c. */
#ifndef XIR_BENCH_READING_H
#define XIR_BENCH_READING_H

#include <xir/xir.h>

#include "bench.h"

typedef struct reading {
    size_t       ops, size;
    size_t       filled;             /* of `to`, while a network is written there                */
    const char  *format;             /* of networks that are written                             */
    const char  *bytes;              /* the file in memory, `size` bytes; NULL: it is at `path` */
    char        *to;                 /* a copy of it                                             */
    char         path[300], params[300], copy[300], copy_params[300];
    xir_context *ctx;
    xir_diags   *why;
    xir_network *net;
} reading;

/* A context and a list of findings; NULL without memory. */
reading *reading_new(size_t ops);

/* Fills in the result of a run that has read `net`: whether it has as many ops as the file. */
bool reading_done(reading *r, bench_result *out);

/* Makes room for a copy of the bytes and touches it; NULL without memory, or if `r` is NULL. The run copies them. */
reading *reading_copy_setup(reading *r);
bool     reading_copy(void *state, bench_result *out);

/* Runs: xir_network_load of `path`. */
bool reading_lazy(void *state, bench_result *out);
bool reading_eager(void *state, bench_result *out);

/* read(2) of a file into fresh memory, which is r->to. */
bool reading_fetch(reading *r, const char *path, bench_result *out);

/* A writer for xir_network_write, with a file descriptor as its user. */
bool reading_to_fd(void *user, const void *data, size_t size);

/* ---- formats of one file -------------------------------------------------------------------------------------- */

/* Writes r->net as r->format into r->to: as many bytes as it was read from. */
bool reading_write(reading *r, bench_result *out);

/* Puts the bytes into the file `large.FORMAT` of the run's folder, once for all runs. NULL if that fails or `r` is
 * NULL. */
reading *reading_on_disk(reading *r, const bench_input *in);
/* The same, and loads it. */
reading *reading_loaded(reading *r, const bench_input *in);

/* Runs: read(2) of that file; r->net written into another one, not flushed; write(2) of the bytes into it. */
bool reading_fetch_file(void *state, bench_result *out);
bool reading_save(void *state, bench_result *out);
bool reading_put_copy(void *state, bench_result *out);

/* write(2) of bytes into a new file. */
bool reading_put(const char *path, const void *bytes, size_t size, bench_result *out);

#endif
