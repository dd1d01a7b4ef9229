/* What the harness knows of anything it times: a verb of ours, a yardstick of the machine, or the
 * same work done by another project's library.
 *
 * Every run has a process of its own: `setup` prepares there, unmeasured; `run` is measured, once;
 * then the process ends. So memory is always fresh, nothing is torn down, and a peer that crashes
 * takes only its own figure with it.
 */
#ifndef XIR_BENCH_PEER_H
#define XIR_BENCH_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Readable zero bytes behind every text. */
#define BENCH_PADDING 64

/* What a case may work on. `text` is a network of `ops` operations as compact JSON: for BENCH_TEXT
 * one whose convolutions share one parameter (or what --file has), for BENCH_RAW one where each has
 * its own. `path` names a file: the same text for BENCH_FILE and always with --file; for BENCH_RAW
 * the parameters of the text. What a case did not ask for is NULL and 0. */
typedef struct bench_input {
    size_t      ops;
    const char *text;
    size_t      size;
    const char *path;
} bench_input;

/* What a run came to. `bytes` is the text or payload that was read, written or copied, 0 where the
 * work is not a matter of bytes. `count` counts what was done (ops made, edges seen, findings); it
 * is printed, so that no work can be optimised away or quietly fail to happen. */
typedef struct bench_result {
    size_t   bytes;
    uint64_t count;
} bench_result;

enum {
    BENCH_TEXT    = 1 << 0,
    BENCH_FILE    = 1 << 1,
    BENCH_RAW     = 1 << 2,
    BENCH_BY_BYTE = 1 << 3, /* no ops here: times are compared per byte */
    BENCH_BY_EDGE = 1 << 4, /* times are compared per `count`: their chain has other edges */
    BENCH_SLOW    = 1 << 5, /* on 100 000 ops at most, unless --full */
};

/* One row: who does what. `bench` is the name on the command line; `who` is NULL for ours. The
 * functions return NULL or false, and say why on stderr, when they cannot do their work. */
typedef struct bench_case {
    const char *bench;
    const char *who;
    unsigned    flags;
    void     *(*setup)(const bench_input *in);
    bool      (*run)(void *state, bench_result *out);
    bool      (*check)(void *state); /* of the first run's result, unmeasured; may be NULL */
    const char *what; /* what exactly is between the clocks */
} bench_case;

/* The tables of peers. Each ends with a row whose `run` is NULL. */
extern const bench_case mlir_cases[];
extern const bench_case onnx_cases[];
extern const bench_case nlohmann_cases[];
extern const bench_case simdjson_cases[];

#ifdef __cplusplus
}
#endif

#endif
