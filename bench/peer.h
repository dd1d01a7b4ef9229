/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The harness's view of everything it measures: a verb of XIR, a yardstick of the machine, or the same work done by
 * another project's library.
 *
 * Every run has its own process: `setup` prepares, unmeasured; `run` is measured, once; then the process ends. So
 * memory is always fresh, nothing is torn down, and a peer that crashes loses only its own figure. */
#ifndef XIR_BENCH_PEER_H
#define XIR_BENCH_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Readable zero bytes after every text. */
#define BENCH_PADDING 64

/* The inputs of a case. `text` is a network of `ops` operations as compact JSON: for BENCH_TEXT its convolutions
 * share one parameter (or it is the file of --file), for BENCH_RAW each has its own. `path` names a file: the same
 * text for BENCH_FILE and always with --file; for BENCH_RAW the parameters of the text. For BENCH_FOLDER and
 * BENCH_SPARSE it is a folder for files; for BENCH_SPARSE it has the files of files.c. Inputs that a case does not
 * request are NULL and 0. */
typedef struct bench_input {
    size_t      ops;
    const char *text;
    size_t      size;
    const char *path;
} bench_input;

/* The result of a run. `bytes` is the size of the text or payload that was read, written or copied, 0 if the work is
 * not measured in bytes. `count` counts what was done (ops made, edges visited, findings); it is printed, so that no
 * work can be optimised away or silently fail. */
typedef struct bench_result {
    size_t   bytes;
    uint64_t count;
} bench_result;

enum {
    BENCH_TEXT    = 1 << 0,
    BENCH_FILE    = 1 << 1,
    BENCH_RAW     = 1 << 2,
    BENCH_BY_BYTE = 1 << 3, /* without ops: times are compared per byte */
    BENCH_BY_EDGE = 1 << 4, /* times are compared per `count`: the peer's chain has other edges */
    BENCH_SLOW    = 1 << 5, /* on 100 000 ops at most, unless --full */
    BENCH_FOLDER  = 1 << 6, /* also without ops: times are of whole files */
    BENCH_SPARSE  = 1 << 7,
    BENCH_CHAIN   = 1 << 9, /* for the generated chain only; left out with other networks */
    BENCH_BY_WALL = 1 << 8, /* times are compared by the wall clock: the disk takes them */
};

/* One row: the work, and the library that does it. `bench` is the name on the command line; `by` is NULL for XIR.
 * If they cannot do their work, the functions return NULL or false and print the reason to stderr. */
typedef struct bench_case {
    const char *bench;
    const char *by;
    unsigned    flags;
    void     *(*setup)(const bench_input *in);
    bool      (*run)(void *state, bench_result *out);
    bool      (*check)(void *state); /* of the first run's result, unmeasured; may be NULL */
    const char *what; /* what is done between the clocks */
} bench_case;

/* For the setup of peers, bytes.c: the network of `in`, which has BENCH_TEXT, as a file of this format without the
 * bytes of parameters, in memory from pages_take. NULL with a message on stderr. */
const char *bytes_make(const bench_input *in, const char *format, size_t *size);

/* For the checks of peers: whether these bytes of a file are the network of `in`. */
bool bytes_same(const bench_input *in, const char *format, const void *data, size_t size);

/* The number of threads that compute, in the benches of the executor and their peers (--threads). */
extern size_t bench_threads;

/* The products of exec-product: so many of square matrices of this size, in double. */
enum { PRODUCTS = 10, PRODUCT_SIZE = 512 };

/* files.c: the sum of the 64-bit words of `size` bytes; it reads all of them. */
uint64_t files_sum(const void *bytes, size_t size);

/* The sparse files of BENCH_SPARSE: FILES_OPS operations, FILES_PARAMS of which are convolutions with their own
 * weights, 1 GiB each, or 511 MiB if a file must end before 2 GiB. */
#define FILES_JSON   "sparse.json"
#define FILES_FLAT   "sparse.fb"
#define FILES_MSG    "sparse.imodel"
enum { FILES_OPS = 100, FILES_PARAMS = 4, FILES_MOST_MIB = 1024, FILES_LESS_MIB = 511 };

/* FILES_MOST_MIB of zeros that take no memory; NULL if memory runs out. Writes at a position of a file, leaving
 * holes for zeros; ends and closes such a file. */
const char *files_zeros(void);
bool        files_put_sparse(int fd, const void *data, size_t size);
bool        files_end_sparse(int fd);

/* Rows of BENCH_FOLDER save this number of parameters of FILES_SAVE_MIB each, with such bytes, in a file of this name
 * in the folder. An earlier file is removed first, so that no row has to do it. */
enum { FILES_SAVE_MIB = 64 };
char       *files_random(size_t size);
const char *files_save_path(const bench_input *in, const char *name);

/* onnx.c: an ONNX model of `ops` nodes in memory from pages_take; the path of a file of 20 000 nodes and 256 MiB of
 * weights in the folder of `in`. NULL with a message on stderr. */
const char *onnx_make(size_t ops, size_t *size);
const char *onnx_make_file(const bench_input *in);

/* The tables of peers. Each ends with a row whose `run` is NULL. */
extern const bench_case flatbuffers_cases[];
extern const bench_case mlir_cases[];
extern const bench_case msgpack_c_cases[];
extern const bench_case msgpack_cxx_cases[];
extern const bench_case onnx_cases[];
extern const bench_case nlohmann_cases[];
extern const bench_case openblas_cases[];
extern const bench_case simdjson_cases[];

#ifdef __cplusplus
}
#endif

#endif
