/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Large files: opened lazily, which must not depend on their size; and saved, at the speed of the disk. The network
 * is a chain of FILES_OPS operations, four of which have a kernel of some MiB: the height of the kernel is that
 * number, and the padding keeps the size of the images. */
#include "bench.h"

#include <xir/xir.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WIDTH = 1024, CHANNELS = 16, MIB = 1 << 20 }; /* rows of a kernel take 1 MiB */

static const char small[3 * 3 * CHANNELS * CHANNELS * 4];

typedef struct files {
    const bench_input *in;
    xir_context       *ctx;
    xir_diags         *why;
    xir_network       *net;
    const char        *format;
    char               path[300], raw[300];
} files;

static bool said(const files *f, bool ok)
{
    if (!ok)
        xir_diags_print(f->why, stderr);
    return ok;
}

static files *new_files(const bench_input *in, const char *name)
{
    files *f = calloc(1, sizeof *f);
    if (!f || !(f->ctx = xir_context_new(NULL)) || !(f->why = xir_diags_new(f->ctx)))
        return NULL;
    f->in = in;
    snprintf(f->path, sizeof f->path, "%s/%s", in->path, name);
    snprintf(f->raw, sizeof f->raw, "%.*s.raw", (int)(strrchr(f->path, '.') - f->path), f->path);
    return f;
}

static xir_value *make_params(files *f, const xir_type *type, const char *data, size_t size)
{
    return data ? xir_params_borrow(f->net, XIR_STR(""), type, data, size, NULL, NULL)
                : xir_params_new(f->net, XIR_STR(""), type);
}

/* Parameter i takes `mib` MiB and has the bytes data[i]; without `data` none has bytes. */
static bool make_network(files *f, int64_t mib, const char *const *data)
{
    const xir_type *f32 = xir_type_float(f->ctx, XIR_FLOAT_FP32);
    const xir_type *image = XIR_TENSOR(f->ctx, f32, "NHWC", 1, 56, 56, CHANNELS);
    const xir_type *kernel = XIR_TENSOR(f->ctx, f32, "HWIO", 3, 3, CHANNELS, CHANNELS);
    const xir_type *great = XIR_TENSOR(f->ctx, f32, "HWIO", mib, WIDTH, CHANNELS, CHANNELS);
    if (!(f->net = xir_network_new(f->ctx, "bench", XIR_FRAMEWORK_PYTORCH, "1.9")))
        return false;

    xir_at at = xir_at_end(f->net);
    xir_value *last = xir_input(at, "", image);
    xir_value *shared = make_params(f, kernel, data ? small : NULL, sizeof small);
    for (int i = 0; i < FILES_OPS; i++) {
        xir_op *op;
        if (i % 2 == 0) {
            bool own = i / 2 < FILES_PARAMS;
            xir_value *w = own ? make_params(f, great, data ? data[i / 2] : NULL, (size_t)mib * MIB) : shared;
            int64_t height = own ? mib : 3, width = own ? WIDTH : 3;
            xir_conv2d_attrs a = xir_conv2d_init();
            a.stride_width = a.stride_height = 1;
            a.dilation_width = a.dilation_height = 1;
            a.pad_top = (height - 1) / 2;
            a.pad_bottom = height / 2;
            a.pad_left = (width - 1) / 2;
            a.pad_right = width / 2;
            a.groups = 1;
            a.padding_mode = XIR_PADDING_ZEROS;
            op = xir_add_conv2d(at, (xir_conv2d_in){ .input = last, .weights = w }, &a);
        } else {
            op = xir_add_relu(at, (xir_relu_in){ .input = last }, NULL);
        }
        last = op ? xir_op_output(op, 0) : NULL;
    }
    xir_output(at, XIR_VALUES(last));
    if (xir_network_status(f->net) == XIR_OK)
        return true;
    xir_diags_print(xir_network_diags(f->net), stderr);
    return false;
}

uint64_t files_sum(const void *bytes, size_t size)
{
    const char *p = bytes;
    uint64_t sum = 0, word;
    for (size_t i = 0; i + sizeof word <= size; i += sizeof word) {
        memcpy(&word, p + i, sizeof word);
        sum += word;
    }
    return sum;
}

/* ---- the sparse files -------------------------------------------------------------------------- */

const char *files_zeros(void)
{
    static char *zeros;
    if (!zeros)
        zeros = mmap(NULL, (size_t)FILES_MOST_MIB * MIB, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return zeros == MAP_FAILED ? NULL : zeros;
}

static bool is_zero(const char *p, size_t size)
{
    return !p[0] && memcmp(p, p + 1, size - 1) == 0;
}

bool files_put_sparse(int fd, const void *data, size_t size)
{
    if (size < 4096 || !is_zero(data, size))
        return pages_write(fd, data, size);
    return lseek(fd, (off_t)size, SEEK_CUR) >= 0;
}

bool files_end_sparse(int fd)
{
    bool ok = ftruncate(fd, lseek(fd, 0, SEEK_CUR)) == 0;
    return close(fd) == 0 && ok;
}

static bool put_sparse(void *user, const void *data, size_t size)
{
    return files_put_sparse(*(const int *)user, data, size);
}

static int make_new(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        fprintf(stderr, "xir-bench: cannot make %s: %s\n", path, strerror(errno));
    return fd;
}

static bool make_file(files *f)
{
    int fd = make_new(f->path);
    xir_save_options how = XIR_INIT(xir_save_options, .format = f->format);
    xir_status status = xir_network_write(f->net, put_sparse, &fd, &how, f->why);
    return fd >= 0 && files_end_sparse(fd) && said(f, status == XIR_OK);
}

/* Writes the raw file by hand. The library could write it too, but would compute its MD5. So the structure says that
 * it has no MD5. */
static bool make_raw(const files *f, size_t mib)
{
    enum { N = FILES_PARAMS + 1, HEAD = 16, ENTRY = 12 };
    unsigned char head[HEAD + N * ENTRY] = "\xA5" "ICRAFT_RAW" "\xA5" "\5";
    const xir_op *conv = xir_op_next(xir_network_first(f->net));
    uint64_t offset = sizeof head;
    for (int i = 0; i < N; i++, conv = xir_op_next(xir_op_next(conv))) {
        uint64_t id = (uint64_t)xir_value_id(xir_op_input(conv, 1));
        unsigned char *entry = head + HEAD + ENTRY * i;
        for (int k = 0; k < 4; k++)
            entry[k] = (unsigned char)(id >> 8 * k);
        for (int k = 0; k < 8; k++)
            entry[4 + k] = (unsigned char)(offset >> 8 * k);
        offset += i < FILES_PARAMS ? mib * MIB : sizeof small;
    }
    int fd = make_new(f->raw);
    return fd >= 0 && pages_write(fd, head, sizeof head) &&
           lseek(fd, (off_t)offset, SEEK_SET) >= 0 && files_end_sparse(fd);
}

void files_make(const char *folder)
{
    static const struct { const char *name, *format; int mib; } all[] = {
        { FILES_JSON, "json",   FILES_MOST_MIB },
        { FILES_MSG,  "imodel", FILES_MOST_MIB },
        { FILES_FLAT, "fb",     FILES_LESS_MIB },
    };
    const char *zeros = files_zeros(), *const data[FILES_PARAMS] = { zeros, zeros, zeros, zeros };
    bench_input in = { .path = folder };
    for (size_t i = 0; zeros && i < sizeof all / sizeof all[0]; i++) {
        files *f = new_files(&in, all[i].name);
        bool pair = strcmp(all[i].format, "json") == 0;
        if (!f || !make_network(f, all[i].mib, pair ? NULL : data))
            return;
        f->format = all[i].format;
        if (make_file(f) && pair)
            make_raw(f, (size_t)all[i].mib);
        xir_network_free(f->net);
        xir_diags_free(f->why);
        xir_context_free(f->ctx);
        free(f);
    }
}

/* ---- opening ----------------------------------------------------------------------------------- */

static bool lazy_run(void *state, bench_result *out)
{
    files *f = state;
    xir_load_options how = XIR_INIT(xir_load_options, .lazy = true);
    if (!said(f, (f->net = xir_network_load(f->ctx, f->path, &how, f->why)) != NULL))
        return false;
    out->count = xir_network_op_count(f->net) - 2;
    return out->count == FILES_OPS;
}

static const void *first_params(const files *f, uint64_t *size)
{
    return xir_params_data(xir_op_input(xir_op_next(xir_network_first(f->net)), 1), size);
}

static bool lazy_check(void *state)
{
    const files *f = state;
    uint64_t size = 0;
    size_t mib = strstr(f->path, FILES_FLAT) ? FILES_LESS_MIB : FILES_MOST_MIB;
    return first_params(f, &size) && size == mib * MIB &&
           xir_params_is_lazy(xir_op_input(xir_op_next(xir_network_first(f->net)), 1));
}

static bool touch_run(void *state, bench_result *out)
{
    const files *f = state;
    uint64_t size;
    const void *bytes = first_params(f, &size);
    if (!bytes)
        return false;
    out->bytes = (size_t)size;
    out->count = files_sum(bytes, (size_t)size);
    return true;
}

static void *touch_setup(const bench_input *in, const char *name)
{
    files *f = new_files(in, name);
    bench_result ignored;
    return f && lazy_run(f, &ignored) ? f : NULL;
}

#define OPENED(name, file) \
    static void *open_##name##_setup(const bench_input *in) { return new_files(in, file); } \
    static void *touch_##name##_setup(const bench_input *in) { return touch_setup(in, file); }

OPENED(json, FILES_JSON)
OPENED(msg,  FILES_MSG)
OPENED(flat, FILES_FLAT)

/* ---- saving ------------------------------------------------------------------------------------ */

const char *files_save_path(const bench_input *in, const char *name)
{
    static const char *const all[] = { "save.json", "save.raw", "save.imodel", "save.fb", "save.peer" };
    static char path[300];
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", in->path, all[i]);
        unlink(path);
    }
    snprintf(path, sizeof path, "%s/%s", in->path, name);
    return path;
}

char *files_random(size_t size)
{
    char *bytes = pages_take(size);
    uint64_t word = 88172645463325252;
    for (size_t i = 0; bytes && i + sizeof word <= size; i += sizeof word) {
        word ^= word << 13;
        word ^= word >> 7;
        word ^= word << 17;
        memcpy(bytes + i, &word, sizeof word);
    }
    return bytes;
}

static void *save_setup(const bench_input *in, const char *name, const char *format)
{
    const size_t size = (size_t)FILES_SAVE_MIB * MIB;
    files_save_path(in, name);
    files *f = new_files(in, name);
    const char *bytes = files_random(FILES_PARAMS * size);
    if (!f || !bytes)
        return NULL;
    f->format = format;
    const char *const data[FILES_PARAMS] = { bytes, bytes + size, bytes + 2 * size, bytes + 3 * size };
    return make_network(f, FILES_SAVE_MIB, data) ? f : NULL;
}

static size_t file_size(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? (size_t)st.st_size : 0;
}

static bool saved(const files *f, bench_result *out)
{
    out->bytes = file_size(f->path) + (strcmp(f->format, "json") == 0 ? file_size(f->raw) : 0);
    out->count = FILES_PARAMS;
    return out->bytes > (size_t)FILES_PARAMS * FILES_SAVE_MIB * MIB;
}

static bool save_run(void *state, bench_result *out)
{
    files *f = state;
    return said(f, xir_network_save(f->net, f->path, NULL, f->why) == XIR_OK) && saved(f, out);
}

static bool put_plain(void *user, const void *data, size_t size)
{
    return pages_write(*(const int *)user, data, size);
}

static bool unsynced_run(void *state, bench_result *out)
{
    files *f = state;
    int fd = make_new(f->path);
    xir_save_options how = XIR_INIT(xir_save_options, .format = f->format);
    xir_status status = xir_network_write(f->net, put_plain, &fd, &how, f->why);
    return fd >= 0 && close(fd) == 0 && said(f, status == XIR_OK) && saved(f, out);
}

static bool save_check(void *state)
{
    files *f = state, *back = calloc(1, sizeof *back);
    if (!back || !(back->ctx = xir_context_new(NULL)) || !(back->why = xir_diags_new(back->ctx)))
        return false;
    back->net = xir_network_load(back->ctx, f->path, NULL, back->why);
    uint64_t size;
    const void *was, *is;
    return said(back, back->net != NULL) && (was = first_params(f, &size)) &&
           (is = first_params(back, &size)) && memcmp(was, is, (size_t)size) == 0;
}

#define SAVED(name, file, format) \
    static void *save_##name##_setup(const bench_input *in) { return save_setup(in, file, format); }

SAVED(json, "save.json",   "json")
SAVED(msg,  "save.imodel", "imodel")
SAVED(flat, "save.fb",     "fb")

/* ---- the table --------------------------------------------------------------------------------- */

#define OPEN(name)     BENCH_SPARSE, open_##name##_setup, lazy_run, lazy_check
#define TOUCH(name)    BENCH_SPARSE | BENCH_BY_BYTE, touch_##name##_setup, touch_run, NULL
#define SAVE(name)     BENCH_FOLDER | BENCH_BY_WALL, save_##name##_setup, save_run, save_check
#define UNSYNCED(name) BENCH_FOLDER | BENCH_BY_WALL, save_##name##_setup, unsynced_run, save_check

const bench_case files_cases[] = {
    { "load-lazy", NULL, OPEN(json), "xir_network_load, lazily: 100 ops, a raw file of 4 GiB" },
    { "load-lazy", "xir-imodel", OPEN(msg), "the same from one MessagePack file of 4 GiB" },
    { "load-lazy", "xir-fb", OPEN(flat), "the same from one FlatBuffers file of nearly 2 GiB" },
    { "touch-lazy", NULL, TOUCH(json), "the sum of the first parameter of the same: 1 GiB of holes" },
    { "touch-lazy", "xir-imodel", TOUCH(msg), "the same, MessagePack" },
    { "touch-lazy", "xir-fb", TOUCH(flat), "the same, FlatBuffers: 511 MiB" },
    { "save", NULL, SAVE(json), "xir_network_save, 256 MiB of parameters: validated, MD5, fsync; JSON and raw" },
    { "save", "xir-imodel", SAVE(msg), "the same, one MessagePack file" },
    { "save", "xir-fb", SAVE(flat), "the same, one FlatBuffers file" },
    { "save", "xir-imodel-unsynced", UNSYNCED(msg), "xir_network_write into a MessagePack file: validated, MD5, no fsync" },
    { "save", "xir-fb-unsynced", UNSYNCED(flat), "xir_network_write into a FlatBuffers file: validated, MD5, no fsync" },
    { 0 },
};
