/* The harness: fresh processes, clocks, generated networks, and the tables of what is timed. */
#ifndef XIR_BENCH_H
#define XIR_BENCH_H

#include "peer.h"

/* measure.c: what one run took; and the medians of several. Times are ns, memory is bytes. */
typedef struct bench_run {
    bool         done;
    double       cpu;      /* processor time of every thread, user and system */
    double       wall;
    double       rss;      /* memory that the work left in use */
    double       peak;     /* memory that it had in use at most */
    bench_result result;
} bench_run;

enum { BENCH_MOST_RUNS = 99 };

/* Runs `c` on `in` once, in a process of its own; with `check`, its result is looked at too. What
 * went wrong, if it is not done, has been said on stderr. */
bench_run measure_once(const bench_case *c, const bench_input *in, bool check);

/* The medians of 1 to BENCH_MOST_RUNS runs, with the result of the last. */
bench_run measure_median(const bench_run *runs, int n);

/* ns since some moment. */
double measure_now(void);

/* memory.c: big buffers. */

/* Zeroed memory on huge pages where the system has them, never touched; NULL if there is none. */
void *pages_take(size_t size);

/* The bytes of a file and BENCH_PADDING zero bytes, or NULL with a word on stderr. */
char *pages_read(const char *path, size_t *size);

/* A folder under $TMPDIR or /tmp for files of any names. It is removed with them when the program
 * ends. Its path, or NULL with a word on stderr. */
const char *pages_folder(void);

/* A file of these bytes in that folder and in the page cache: its path, or NULL likewise. */
const char *pages_keep(const char *bytes, size_t size);

/* write(2) of all of it; false with a word on stderr. */
bool pages_write(int fd, const void *bytes, size_t size);

/* text.c: networks as text, written by hand rather than by the library. */

/* A chain of `ops` operations, Conv2d and ReLU by turns, between Input and Output, as compact JSON.
 * With `raw`, each Conv2d has a parameter of its own (1 KiB) and *raw becomes the raw file of them;
 * else all share one. Memory is from pages_take. NULL if there is none. */
char *text_make(size_t ops, size_t *size, char **raw, size_t *raw_size);

/* How many operations a text holds. */
size_t text_ops(const char *text, size_t size);

/* The tables, each in the file that has its name. */
extern const bench_case bytes_cases[];
extern const bench_case exec_cases[];
extern const bench_case files_cases[];
extern const bench_case fuse_cases[];
extern const bench_case graph_cases[];
extern const bench_case infer_cases[];
extern const bench_case json_cases[];
extern const bench_case layout_cases[];
extern const bench_case onnx_read_cases[];
extern const bench_case passes_cases[];
extern const bench_case raw_cases[];
extern const bench_case yardstick_cases[];

/* files.c: makes the sparse files of load-lazy in that folder, with a word on stderr for each that cannot be. */
void files_make(const char *folder);

/* infer.c: a file with the text of a network of about so many operations as real networks have them; with
 * `unique`, no two layers have the same size. */
bool infer_text(const char *path, size_t ops, bool unique);

/* json.c: whether a network prints as the text of `in`, which an indented one is not asked. */
struct xir_context;
struct xir_network;
bool json_same(struct xir_network *net, const bench_input *in);

/* graph.c: the chain again, made with the library. Its text is that of text_make without `raw`. */
struct xir_network *graph_make(struct xir_context *ctx, size_t ops);

#endif
