/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The best that the machine can do with the same bytes, and the cost of a program written by hand: the figures next
 * to those of XIR. */
#include "bench.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { COPY_BYTES = 256 << 20, HASH_BYTES = 64 << 20 };

static void *fail(const char *what)
{
    fprintf(stderr, "xir-bench: %s: %s\n", what, strerror(errno));
    return NULL;
}

/* memcpy: from one touched buffer into another. */
typedef struct copy {
    char *from, *to;
} copy;

static void *copy_setup(const bench_input *in)
{
    (void)in;
    copy *c = malloc(sizeof *c);
    if (!c)
        return fail("memcpy");
    *c = (copy){ malloc(COPY_BYTES), malloc(COPY_BYTES) };
    if (!c->from || !c->to)
        return fail("memcpy");
    memset(c->from, 1, COPY_BYTES);
    memset(c->to, 2, COPY_BYTES);
    return c;
}

static bool copy_run(void *state, bench_result *out)
{
    copy *c = state;
    memcpy(c->to, c->from, COPY_BYTES);
    out->bytes = COPY_BYTES;
    out->count = (unsigned char)c->to[COPY_BYTES / 3];
    return true;
}

/* read: a file that is in the page cache, into untouched memory. */
typedef struct reading {
    int    fd;
    size_t size;
    bool   huge;
} reading;

static void *read_setup(const bench_input *in)
{
    reading *r = malloc(sizeof *r);
    struct stat st;
    if (!r || (r->fd = open(in->path, O_RDONLY)) < 0 || fstat(r->fd, &st) != 0)
        return fail(in->path);
    r->size = (size_t)st.st_size;
    r->huge = false;
    return r;
}

static void *read_huge_setup(const bench_input *in)
{
    reading *r = read_setup(in);
    if (r)
        r->huge = true;
    return r;
}

static bool read_run(void *state, bench_result *out)
{
    reading *r = state;
    char *to = r->huge ? pages_take(r->size) : malloc(r->size);
    if (!to)
        return false;
    size_t at = 0;
    while (at < r->size) {
        ssize_t n = read(r->fd, to + at, r->size - at);
        if (n <= 0)
            return fail("read") != NULL;
        at += (size_t)n;
    }
    out->bytes = at;
    out->count = (unsigned char)to[at - 1];
    return true;
}

/* md5: a touched buffer. */
static bool md5_of(const char *bytes, size_t size, unsigned char md5[EVP_MAX_MD_SIZE])
{
    return EVP_Digest(bytes, size, md5, NULL, EVP_md5(), NULL) == 1;
}

static void *md5_setup(const bench_input *in)
{
    (void)in;
    unsigned char md5[EVP_MAX_MD_SIZE];
    char *bytes = malloc(HASH_BYTES);
    if (!bytes || !md5_of("", 0, md5)) /* the first call of all loads OpenSSL's provider */
        return fail("md5");
    return memset(bytes, 3, HASH_BYTES);
}

static bool md5_run(void *state, bench_result *out)
{
    unsigned char md5[EVP_MAX_MD_SIZE];
    if (!md5_of(state, HASH_BYTES, md5))
        return false;
    out->bytes = HASH_BYTES;
    out->count = md5[0];
    return true;
}

/* by-hand: the same text, printed by a program that knows nothing else. */
static void *hand_setup(const bench_input *in)
{
    size_t *ops = malloc(sizeof *ops);
    if (!ops)
        return fail("by-hand");
    *ops = in->ops;
    return ops;
}

static bool hand_run(void *state, bench_result *out)
{
    const size_t *ops = state;
    out->count = *ops;
    return text_make(*ops, &out->bytes, NULL, NULL) != NULL;
}

/* scan: the bytes to be verified or read, each read once. */
typedef struct scanning {
    const char *bytes;
    size_t      size;
} scanning;

static void *scan_setup(const bench_input *in, const char *format)
{
    scanning *s = malloc(sizeof *s);
    return s && (s->bytes = bytes_make(in, format, &s->size)) ? s : NULL;
}

static void *scan_flat_setup(const bench_input *in)
{
    return scan_setup(in, "fb");
}

static void *scan_msg_setup(const bench_input *in)
{
    return scan_setup(in, "imodel");
}

static bool scan_run(void *state, bench_result *out)
{
    const scanning *s = state;
    out->bytes = s->size;
    out->count = files_sum(s->bytes, s->size);
    return true;
}

/* write: as many bytes as the saved parameters, into a new file. */
typedef struct writing {
    const char *bytes, *path;
} writing;

enum { WRITE_BYTES = FILES_PARAMS * FILES_SAVE_MIB << 20 };

static void *save_setup(const bench_input *in)
{
    writing *w = malloc(sizeof *w);
    if (!w || !(w->bytes = files_random(WRITE_BYTES)))
        return fail("write");
    w->path = files_save_path(in, "save.peer");
    return w;
}

static bool save(const writing *w, bool sync, bench_result *out)
{
    int fd = open(w->path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || !pages_write(fd, w->bytes, WRITE_BYTES) || (sync && fsync(fd) != 0) || close(fd) != 0)
        return fail(w->path) != NULL;
    out->bytes = WRITE_BYTES;
    out->count = FILES_PARAMS;
    return true;
}

static bool write_run(void *state, bench_result *out)
{
    return save(state, false, out);
}

static bool write_fsync_run(void *state, bench_result *out)
{
    return save(state, true, out);
}

#define MEMCPY   BENCH_BY_BYTE,              copy_setup, copy_run, NULL, \
                 "memcpy of 256 MiB, both buffers touched, each byte counted once"
#define MD5      BENCH_BY_BYTE,              md5_setup,  md5_run,  NULL, \
                 "MD5 of 64 MiB, touched, OpenSSL EVP"
#define READ(f)  BENCH_BY_BYTE | BENCH_##f,  read_setup, read_run, NULL, \
                 "read(2) of a cached file of the same size into fresh malloc memory"
#define HUGE(f)  BENCH_BY_BYTE | BENCH_##f,  read_huge_setup, read_run, NULL, \
                 "read(2) of a cached file of the same size into fresh huge pages"
#define SCAN(f)  BENCH_BY_BYTE | BENCH_TEXT, scan_##f##_setup, scan_run, NULL, \
                 "the sum of the 64-bit words of the same bytes, on huge pages"

const bench_case yardstick_cases[] = {
    { "memcpy",     NULL,        MEMCPY },
    { "read",       NULL,        READ(FILE) },
    { "read",       "read-huge", HUGE(FILE) },
    { "md5",        NULL,        MD5 },
    { "json-write", "memcpy",    MEMCPY },
    { "json-write", "by-hand",   BENCH_BY_BYTE | BENCH_TEXT, hand_setup, hand_run, NULL,
      "the same text printed by code for this one network into fresh huge pages" },
    { "json-read",  "memcpy",    MEMCPY },
    { "json-read",  "read",      READ(FILE) },
    { "json-read",  "read-huge", HUGE(FILE) },
    { "raw-eager",  "memcpy",    MEMCPY },
    { "raw-eager",  "read",      READ(RAW) },
    { "raw-eager",  "read-huge", HUGE(RAW) },
    { "raw-eager",  "md5",       MD5 },
    { "raw-eager-unchecked", "memcpy",    MEMCPY },
    { "raw-eager-unchecked", "read",      READ(RAW) },
    { "raw-eager-unchecked", "read-huge", HUGE(RAW) },
    { "flat-write", "memcpy",    MEMCPY },
    { "flat-read",  "memcpy",    MEMCPY },
    { "flat-read",  "scan",      SCAN(flat) },
    { "flat-open",  "memcpy",    MEMCPY },
    { "flat-open",  "scan",      SCAN(flat) },
    { "msgpack-write", "memcpy", MEMCPY },
    { "msgpack-read",  "memcpy", MEMCPY },
    { "msgpack-read",  "scan",   SCAN(msg) },
    { "save", "write-fsync", BENCH_FOLDER | BENCH_BY_WALL, save_setup, write_fsync_run, NULL,
      "write(2) of 256 MiB into a new file, then fsync(2)" },
    { "save", "write",       BENCH_FOLDER | BENCH_BY_WALL, save_setup, write_run, NULL,
      "write(2) of 256 MiB into a new file" },
    { "save", "md5",         MD5 },
    { 0 },
};
