/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The harness: fresh processes, clocks, generated networks, and the tables of the measured cases. */
#ifndef XIR_BENCH_H
#define XIR_BENCH_H

#include "peer.h"

/* measure.c: the figures of one run, and the medians of several. Times are in ns, memory is in bytes. */
typedef struct bench_run {
    bool         done;
    double       cpu;      /* processor time of every thread, user and system: an exact clock */
    double       user;     /* the part of it that is user time, as the kernel's ticks sample it */
    double       wall;
    double       pages;    /* pages that the work touched for the first time; a huge page is one */
    double       clear;    /* processor time of clearing as many fresh pages, right after the work */
    double       rss;      /* memory still in use after the work */
    double       peak;     /* the greatest amount of memory in use */
    bench_result result;
} bench_run;

enum { BENCH_MOST_RUNS = 99 };

/* Runs `c` on `in` once, in its own process; with `check`, the result is checked too. If it fails, it has printed
 * the reason to stderr. */
bench_run measure_once(const bench_case *c, const bench_input *in, bool check);

/* The medians of 1 to BENCH_MOST_RUNS runs, with the result of the last one. Of the user time it is the median of the
 * processor time, times the share of user time in all runs together: a short run has few ticks, or none. */
bench_run measure_median(const bench_run *runs, int n);

/* ns since some fixed moment. */
double measure_now(void);

/* memory.c: big buffers. */

/* Zeroed memory on huge pages if the system has them, untouched; NULL if memory runs out. */
void *pages_take(size_t size);

/* The bytes of a file and BENCH_PADDING zero bytes, or NULL with a message on stderr. */
char *pages_read(const char *path, size_t *size);

/* The path of a folder under $TMPDIR or /tmp for files of any names, or NULL with a message on stderr. It is removed
 * with its files when the program ends. */
const char *pages_folder(void);

/* The path of a file with these bytes in that folder and in the page cache, or NULL likewise. */
const char *pages_keep(const char *bytes, size_t size);

/* write(2) of all bytes; false with a message on stderr. */
bool pages_write(int fd, const void *bytes, size_t size);

/* text.c: networks as text, written without the library. */

/* A chain of `ops` operations, Conv2d and ReLU in turn, between Input and Output, as compact JSON. With `raw`, each
 * Conv2d has its own parameter (1 KiB) and *raw becomes their raw file; otherwise all share one. Memory is from
 * pages_take. NULL if memory runs out. */
char *text_make(size_t ops, size_t *size, char **raw, size_t *raw_size);

/* The number of operations in a text. */
size_t text_ops(const char *text, size_t size);

/* The tables, each in the file of its name. */
extern const bench_case bytes_cases[];
extern const bench_case compare_cases[];
extern const bench_case composed_cases[];
extern const bench_case draw_cases[];
extern const bench_case equal_cases[];
extern const bench_case exec_cases[];
extern const bench_case files_cases[];
extern const bench_case fuse_cases[];
extern const bench_case graph_cases[];
extern const bench_case infer_cases[];
extern const bench_case json_cases[];
extern const bench_case lines_cases[];
extern const bench_case layout_cases[];
extern const bench_case library_cases[];
extern const bench_case onnx_read_cases[];
extern const bench_case passes_cases[];
extern const bench_case plan_cases[];
extern const bench_case nnb_cases[];
extern const bench_case tsm_cases[];
extern const bench_case deepx_cases[];
extern const bench_case pnnx_cases[];
extern const bench_case raw_cases[];
extern const bench_case regions_cases[];
extern const bench_case yardstick_cases[];

/* files.c: makes the sparse files of load-lazy in that folder, with a message on stderr for each one that cannot be
 * made. */
void files_make(const char *folder);

/* infer.c: a file with the text of a network with about this many operations, as real networks have them; with
 * `unique`, no two layers have the same size. */
bool infer_text(const char *path, size_t ops, bool unique);

/* json.c: whether a network prints as the text of `in`. An indented text is not compared. */
struct xir_context;
struct xir_network;
bool json_same(struct xir_network *net, const bench_input *in);

/* exec.c: saves the network of a bench of the executor, with its weights, in the format of the path's suffix. Returns
 * the exit status, with a message on stderr unless it is 0. */
int exec_save(const char *name, const char *path);

/* graph.c: the same chain, made with the library. Its text is that of text_make without `raw`. */
struct xir_network *graph_make(struct xir_context *ctx, size_t ops);

#endif
