/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Files of the operating system: they are read unchanged or not at all, and replaced as a whole or not at all. Every
 * system call that the library makes is tested with failing, doing less than requested, and being the last call of
 * the process (support/faults.h). */
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <cmocka.h>
#include <xir/serialize.h>
#include <xir/icraft.h>
#include "file.h"
#include "support/faults.h"
#include "support/raw_net.h"
#include "support/scratch.h"
#include "support/skips.h"

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

/* ---- reading ------------------------------------------------------------------------------------------------ */

static void fill(uint8_t *data, size_t size, unsigned seed) {
    for (size_t i = 0; i < size; i++) data[i] = (uint8_t)((i * 2654435761u + seed) >> 13);
}

static blob *map_whole(xir_context *ctx, const char *path, xir_diags *why) {
    file_reader r;
    if (file_reader_open(&r, ctx, path, why)) return NULL;
    blob *b = file_reader_map(&r);
    file_reader_close(&r);
    return b;
}

static void a_file_is_read_or_mapped_whole(void **state) {
    xir_context *ctx = *state;
    static const size_t sizes[] = { 0, 1, 15, 4095, 4096, 4097, (1 << 20) + 3, (4 << 20) + 1, 9 << 20 };
    const char *path = scratch("whole");
    for (size_t i = 0; i < COUNT(sizes); i++) {
        uint8_t *data = malloc(sizes[i] + 1);
        fill(data, sizes[i], (unsigned)i);
        scratch_put(path, data, sizes[i]);
        blob *read_one = file_read(ctx, path, NULL), *mapped = map_whole(ctx, path, NULL);
        assert_non_null(read_one);
        assert_non_null(mapped);
        assert_int_equal(read_one->size, sizes[i]);
        assert_int_equal(mapped->size, sizes[i]);
        assert_true(!read_one->mapped && mapped->mapped);
        if (sizes[i]) {
            assert_memory_equal(read_one->bytes, data, sizes[i]);
            assert_memory_equal(mapped->bytes, data, sizes[i]);
            assert_int_equal((uintptr_t)read_one->bytes % 16, 0);
        }
        unlink(path);   /* a mapping no longer needs the name */
        if (sizes[i]) assert_memory_equal(mapped->bytes, data, sizes[i]);
        blob_release(read_one);
        blob_release(mapped);
        free(data);
    }
}

static void a_file_without_a_size_is_read_to_its_end(void **state) {
    xir_context *ctx = *state;
    const size_t size = 700001;
    uint8_t *data = malloc(size);
    fill(data, size, 5);
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        for (size_t at = 0; at < size;) {
            ssize_t n = write(fds[1], data + at, size - at < 1000 ? size - at : 1000);
            if (n <= 0) _exit(1);
            at += (size_t)n;
        }
        _exit(0);
    }
    close(fds[1]);
    char path[64];
    snprintf(path, sizeof path, "/dev/fd/%d", fds[0]);
    blob *b = file_read(ctx, path, NULL);
    assert_non_null(b);
    assert_int_equal(b->size, size);
    assert_memory_equal(b->bytes, data, size);
    blob_release(b);
    close(fds[0]);
    waitpid(child, NULL, 0);
    free(data);

    b = file_read(ctx, "/proc/self/status", NULL);   /* claims to have 0 bytes */
    assert_non_null(b);
    assert_true(b->size > 100);
    blob_release(b);
    b = file_read(ctx, "/dev/null", NULL);
    assert_non_null(b);
    assert_int_equal(b->size, 0);
    blob_release(b);
}

static void expect(const xir_diags *why, xir_status code, const char *path, const char *text) {
    assert_int_equal(xir_diags_count(why), 1);
    const xir_diag *d = xir_diags_at(why, 0);
    if (d->message.size != strlen(text) || memcmp(d->message.data, text, d->message.size) != 0)
        fail_msg("expected \"%s\", found \"%.*s\"", text, (int)d->message.size, d->message.data);
    assert_int_equal(d->code, code);
    assert_true(xir_str_equal(d->file, xir_str_of(path)));
}

static void a_failed_read_says_why(void **state) {
    xir_context *ctx = *state;
    static const struct { const char *name; bool map; xir_status code; const char *text; } rows[] = {
        { "none",        false, XIR_E_IO, "cannot open: No such file or directory" },
        { "none",        true,  XIR_E_IO, "cannot open: No such file or directory" },
        { "folder",      false, XIR_E_IO, "cannot read: Is a directory" },
        { "folder",      true,  XIR_E_IO, "cannot read: Is a directory" },
        { "file/below",  false, XIR_E_IO, "cannot open: Not a directory" },
        { "loop",        false, XIR_E_IO, "cannot open: Too many levels of symbolic links" },
        { "/dev/null",   true,  XIR_E_IO, "not a regular file, and only such files can be mapped: load it eagerly" },
        { "file",        false, XIR_E_LIMIT, "the file has 100 bytes, the limit is 99" },
        { "/dev/zero",   false, XIR_E_LIMIT, "more than 99 bytes come, which is the limit" },
    };
    xir_limits limits = XIR_INIT(xir_limits);
    assert_int_equal(xir_context_limits(ctx, &limits, NULL), XIR_OK);
    assert_int_equal(xir_context_set_limits(ctx, &XIR_INIT(xir_limits, .max_bytes = 99), NULL), XIR_OK);
    mkdir(scratch("folder"), 0777);
    scratch_put(scratch("file"),
                "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789",
                100);
    assert_int_equal(symlink("loop", scratch("loop")), 0);
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *path = *rows[i].name == '/' ? rows[i].name : scratch(rows[i].name);
        xir_diags *why = xir_diags_new(ctx);
        assert_null(rows[i].map ? map_whole(ctx, path, why) : file_read(ctx, path, why));
        expect(why, rows[i].code, path, rows[i].text);
        xir_diags_free(why);
    }
    blob *b = map_whole(ctx, scratch("file"), NULL);   /* mapping takes no memory: no limit */
    assert_non_null(b);
    blob_release(b);
    assert_int_equal(xir_context_set_limits(ctx, &limits, NULL), XIR_OK);
}

static void a_file_that_changes_while_it_is_read_is_refused(void **state) {
    xir_context *ctx = *state;
    const char *path = scratch("changing");
    char bytes[10];
    for (int to = 5; to <= 15; to += 10) {
        xir_diags *why = xir_diags_new(ctx);
        file_reader r;
        scratch_put(path, "0123456789", 10);
        assert_int_equal(file_reader_open(&r, ctx, path, why), XIR_OK);
        assert_int_equal(truncate(path, to), 0);
        assert_null(file_reader_all(&r, UINT64_MAX));
        expect(why, XIR_E_IO, path, to < 10
            ? "the file had 10 bytes when it was opened and became shorter while it was read"
            : "the file had 10 bytes when it was opened and became longer while it was read");
        assert_int_equal(r.status, XIR_E_IO);
        assert_int_equal(file_reader_at(&r, 0, bytes, 5), XIR_E_IO);   /* and it is still refused */
        file_reader_close(&r);
        xir_diags_free(why);
    }
    xir_diags *why = xir_diags_new(ctx);
    file_reader r;
    scratch_put(path, "0123456789", 10);
    assert_int_equal(file_reader_open(&r, ctx, path, why), XIR_OK);
    assert_int_equal(file_reader_at(&r, 3, bytes, 7), XIR_OK);
    assert_memory_equal(bytes, "3456789", 7);
    assert_int_equal(truncate(path, 5), 0);
    assert_int_equal(file_reader_at(&r, 3, bytes, 7), XIR_E_IO);
    assert_int_equal(xir_diags_count(why), 1);
    file_reader_close(&r);
    xir_diags_free(why);
}

/* ---- writing ------------------------------------------------------------------------------------------------ */

/* Pieces that are smaller and larger than the writer's buffer. */
static xir_status save(xir_context *ctx, const char *path, const uint8_t *data, size_t size, xir_diags *why) {
    static const size_t pieces[] = { 1, 12, 0, 4096, 300000, 7, 262143, 262144, 262145 };
    file_writer w;
    if (file_open(&w, ctx, path, why) != XIR_OK) return w.status;
    for (size_t at = 0, i = 0; at < size; i++) {
        size_t n = pieces[i % COUNT(pieces)];
        if (n > size - at) n = size - at;
        if (!file_write(&w, data + at, n)) break;
        at += n;
    }
    return file_commit(&w);
}

static void assert_file(const char *path, const void *data, size_t size) {
    size_t now_size = 0;
    uint8_t *now = scratch_get(path, &now_size);
    if (!now) fail_msg("%s: %s, after %s", path, strerror(errno), trouble.hit ? trouble.hit : "nothing");
    assert_non_null(now);
    assert_int_equal(now_size, size);
    if (size) assert_memory_equal(now, data, size);
    free(now);
}

/* A folder of its own, so that leftover files can be counted. */
static const char *new_folder(void) {
    static int n;
    char name[32];
    snprintf(name, sizeof name, "dir%d", n++);
    const char *path = scratch(name);
    assert_int_equal(mkdir(path, 0777), 0);
    return path;
}

static const char *in(const char *folder, const char *name) {
    static char paths[4][PATH_MAX + 256];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static void a_file_is_replaced_and_keeps_its_mode(void **state) {
    xir_context *ctx = *state;
    const char *folder = new_folder(), *path = in(folder, "a");
    const size_t size = 1500000;
    uint8_t *data = malloc(size);
    struct stat before, after;
    mode_t mask = umask(027);
    for (unsigned i = 0; i < 3; i++) {
        fill(data, size, i);
        assert_int_equal(save(ctx, path, data, size - i, NULL), XIR_OK);
        assert_file(path, data, size - i);
    }
    assert_int_equal(stat(path, &before), 0);
    assert_int_equal(before.st_mode & 07777, 0640);   /* a new one has the mode of the umask */
    assert_int_equal(chmod(path, 0604), 0);
    assert_int_equal(save(ctx, path, data, 3, NULL), XIR_OK);
    assert_int_equal(stat(path, &after), 0);
    assert_int_equal(after.st_mode & 07777, 0604);
    assert_int_not_equal(before.st_ino, after.st_ino);
    assert_int_equal(save(ctx, path, data, 0, NULL), XIR_OK);
    assert_file(path, data, 0);
    assert_int_equal(scratch_count_in(folder), 1);
    umask(mask);
    free(data);
}

static void a_link_is_kept_and_its_file_is_replaced(void **state) {
    xir_context *ctx = *state;
    const char *folder = new_folder();
    struct stat st;
    mkdir(in(folder, "below"), 0777);
    scratch_put(in(folder, "below/file"), "old", 3);
    assert_int_equal(symlink("below/file", in(folder, "one")), 0);
    assert_int_equal(symlink("one", in(folder, "two")), 0);
    assert_int_equal(symlink(in(folder, "below/new"), in(folder, "dangling")), 0);
    assert_int_equal(link(in(folder, "below/file"), in(folder, "hard")), 0);
    assert_int_equal(save(ctx, in(folder, "two"), (const uint8_t *)"now", 3, NULL), XIR_OK);
    assert_int_equal(lstat(in(folder, "two"), &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(lstat(in(folder, "below/file"), &st), 0);
    assert_true(S_ISREG(st.st_mode));
    assert_file(in(folder, "below/file"), "now", 3);
    assert_file(in(folder, "hard"), "old", 3);
    assert_int_equal(save(ctx, in(folder, "dangling"), (const uint8_t *)"new", 3, NULL), XIR_OK);
    assert_file(in(folder, "below/new"), "new", 3);
    assert_int_equal(scratch_count_in(folder), 5);
    assert_int_equal(scratch_count_in(in(folder, "below")), 2);
}

static void names_in_the_current_folder_need_no_slash(void **state) {
    xir_context *ctx = *state;
    const char *folder = new_folder();
    char was[PATH_MAX];
    assert_non_null(getcwd(was, sizeof was));
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(save(ctx, "plain", (const uint8_t *)"plain", 5, NULL), XIR_OK);
    assert_file("plain", "plain", 5);
    char name[256];
    memset(name, 'n', 255);   /* the longest possible name: the temporary name is not made from it */
    name[255] = '\0';
    assert_int_equal(save(ctx, name, (const uint8_t *)"long", 4, NULL), XIR_OK);
    assert_file(name, "long", 4);
    assert_int_equal(scratch_count_in("."), 2);
    assert_int_equal(chdir(was), 0);
}

static void devices_and_pipes_are_written_directly(void **state) {
    xir_context *ctx = *state;
    uint8_t data[1000], now[1000];
    int fds[2];
    char path[64];
    fill(data, sizeof data, 1);
    assert_int_equal(save(ctx, "/dev/null", data, sizeof data, NULL), XIR_OK);
    assert_int_equal(pipe(fds), 0);
    snprintf(path, sizeof path, "/dev/fd/%d", fds[1]);
    assert_int_equal(save(ctx, path, data, sizeof data, NULL), XIR_OK);
    assert_int_equal(read(fds[0], now, sizeof now), sizeof now);
    assert_memory_equal(now, data, sizeof now);
    close(fds[0]);
    close(fds[1]);

    /* A file without a name, like a shell's here-document: its bytes are at the end of the link of its descriptor. */
    const char *gone = scratch("gone");
    int fd = open(gone, O_RDWR | O_CREAT, 0600);
    assert_int_equal(unlink(gone), 0);
    snprintf(path, sizeof path, "/dev/fd/%d", fd);
    assert_int_equal(save(ctx, path, data, sizeof data, NULL), XIR_OK);
    assert_int_equal(pread(fd, now, sizeof now, 0), sizeof now);
    assert_memory_equal(now, data, sizeof now);
    close(fd);
}

static void a_failed_write_says_why(void **state) {
    xir_context *ctx = *state;
    const char *folder = new_folder();
    static const struct { const char *name, *text; } rows[] = {
        { "none/file",   "cannot make a temporary file next to it: No such file or directory" },
        { "old/below",   "cannot open: Not a directory" },
        { "below",       "cannot write: Is a directory" },
        { "below/",      "cannot write: Is a directory" },
        { "new/",        "cannot write: Is a directory" },
        { "loop",        "cannot open: Too many levels of symbolic links" },
        { "/dev/full",   "cannot write byte 0: No space left on device" },
    };
    mkdir(in(folder, "below"), 0777);
    scratch_put(in(folder, "old"), "old", 3);
    assert_int_equal(symlink("loop", in(folder, "loop")), 0);
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *path = *rows[i].name == '/' ? rows[i].name : in(folder, rows[i].name);
        xir_diags *why = xir_diags_new(ctx);
        assert_int_equal(save(ctx, path, (const uint8_t *)"bytes", 5, why), XIR_E_IO);
        expect(why, XIR_E_IO, path, rows[i].text);
        xir_diags_free(why);
    }
    xir_diags *why = xir_diags_new(ctx);
    assert_int_equal(save(ctx, "", (const uint8_t *)"bytes", 5, why), XIR_E_IO);
    assert_int_equal(xir_diags_count(why), 1);
    char longest[PATH_MAX + 10];
    memset(longest, 'n', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    assert_int_equal(save(ctx, longest, (const uint8_t *)"bytes", 5, why), XIR_E_IO);
    xir_diags_free(why);
    assert_file(in(folder, "old"), "old", 3);
    assert_int_equal(scratch_count_in(folder), 3);
}

static void a_failed_writer_stays_failed(void **state) {
    xir_context *ctx = *state;
    static uint8_t much[1 << 20];
    xir_diags *why = xir_diags_new(ctx);
    file_writer w;
    assert_int_equal(file_open(&w, ctx, "/dev/full", why), XIR_OK);
    assert_true(file_write(&w, much, 1));
    for (int i = 0; i < 3; i++) assert_false(file_write(&w, much, sizeof much));
    assert_false(file_write(&w, much, 1));
    assert_int_equal(file_ready(&w), XIR_E_IO);
    assert_int_equal(file_commit(&w), XIR_E_IO);
    assert_int_equal(xir_diags_count(why), 1);
    xir_diags_free(why);
}

/* A limit on the size of files plays a full disk. */
static void a_full_disk_leaves_the_old_file(void **state) {
    xir_context *ctx = *state;
    const char *folder = new_folder(), *path = in(folder, "a");
    const size_t size = 3 << 20;
    uint8_t *data = malloc(size);
    fill(data, size, 1);
    scratch_put(path, "old", 3);
    struct rlimit was, small;
    getrlimit(RLIMIT_FSIZE, &was);
    small = was;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    static const size_t limits[] = { 0, 1, 4096, 262144, 300000, (3 << 20) - 1 };
    for (size_t i = 0; i < COUNT(limits); i++) {
        char text[64];
        small.rlim_cur = limits[i];
        xir_diags *why = xir_diags_new(ctx);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
        xir_status status = save(ctx, path, data, size, why);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
        assert_int_equal(status, XIR_E_IO);
        snprintf(text, sizeof text, "cannot write byte %zu: File too large", limits[i]);
        expect(why, XIR_E_IO, path, text);
        assert_file(path, "old", 3);
        assert_int_equal(scratch_count_in(folder), 1);
        xir_diags_free(why);
    }
    signal(SIGXFSZ, handler);
    free(data);
}

static void an_aborted_save_leaves_nothing(void **state) {
    xir_context *ctx = *state;
    const char *folder = new_folder(), *path = in(folder, "a");
    scratch_put(path, "old", 3);
    for (int ready = 0; ready < 2; ready++) {
        file_writer w;
        assert_int_equal(file_open(&w, ctx, path, NULL), XIR_OK);
        assert_true(file_write(&w, "new", 3));
        assert_int_equal(scratch_count_in(folder), 2);
        if (ready) assert_int_equal(file_ready(&w), XIR_OK);
        file_abort(&w);
        assert_int_equal(file_commit(&w), XIR_OK);   /* too late: it does nothing */
        assert_int_equal(scratch_count_in(folder), 1);
        assert_file(path, "old", 3);
        file_abort(&w);   /* a second time: it does nothing */
    }
}

/* ---- temporary files ------------------------------------------------------------------------------------------ */

static xir_status save_text(xir_context *ctx, const char *path, const char *text) {
    return save(ctx, path, (const uint8_t *)text, strlen(text), NULL);
}

/* A process that is killed while it saves. */
static void be_killed(xir_context *ctx, const char *path) {
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        file_writer w;
        bool good = file_open(&w, ctx, path, NULL) == XIR_OK && file_write(&w, "new", 3);
        _exit(good ? 0 : 1);
    }
    int status;
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* The path of the temporary file that exists. */
static void find_temp(const char *folder, char *out, size_t size) {
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    *out = '\0';
    for (struct dirent *entry; (entry = readdir(dir));)
        if (strncmp(entry->d_name, ".xir-", 5) == 0) snprintf(out, size, "%s/%s", folder, entry->d_name);
    closedir(dir);
    assert_true(*out);
}

static void a_save_removes_temporary_files_of_killed_saves(void **state) {
    xir_context *ctx = *state;
    char folder[PATH_MAX], a[PATH_MAX + 8], b[PATH_MAX + 8];
    snprintf(folder, sizeof folder, "%s", new_folder());
    snprintf(a, sizeof a, "%s/a", folder);
    snprintf(b, sizeof b, "%s/b", folder);
    be_killed(ctx, a);
    be_killed(ctx, a);
    assert_int_equal(scratch_count_in(folder), 1);   /* the second save has removed what the first left over */
    be_killed(ctx, b);
    assert_int_equal(scratch_count_in(folder), 2);
    assert_int_equal(save_text(ctx, a, "1"), XIR_OK);
    assert_int_equal(scratch_count_in(folder), 2);   /* a, and the temporary file of b */
    assert_int_equal(save_text(ctx, b, "2"), XIR_OK);
    assert_int_equal(scratch_count_in(folder), 2);
    assert_file(a, "1", 1);
    assert_file(b, "2", 1);
}

/* A signal handler may abandon saves: all temporary files of the process are removed, those of other processes are
 * kept, and the old files are unchanged. */
static void saves_are_abandoned_by_a_handler(void **state) {
    xir_context *ctx = *state;
    enum { MANY = 3 };
    char folder[PATH_MAX], path[PATH_MAX + 8];
    file_writer w[MANY], done;
    snprintf(folder, sizeof folder, "%s", new_folder());
    snprintf(path, sizeof path, "%s/a", folder);
    scratch_put(path, "old", 3);
    be_killed(ctx, path);
    for (int round = 0; round < 4; round++) {   /* more in all than are recorded at the same time */
        assert_int_equal(file_open(&done, ctx, path, NULL), XIR_OK);
        assert_true(file_write(&done, "old", 3));
        assert_int_equal(file_commit(&done), XIR_OK);
        for (int i = 0; i < MANY; i++) {
            assert_int_equal(file_open(&w[i], ctx, path, NULL), XIR_OK);
            assert_true(file_write(&w[i], "new", 3));
        }
        assert_int_equal(scratch_count_in(folder), MANY + 1);
        xir_abandon_saves();
        assert_int_equal(scratch_count_in(folder), 1);
        assert_file(path, "old", 3);
        for (int i = 0; i < MANY; i++) file_abort(&w[i]);
    }
    be_killed(ctx, path);
    xir_abandon_saves();
    assert_int_equal(scratch_count_in(folder), 2);   /* of a process that has ended: the next save removes it */
    assert_int_equal(save_text(ctx, path, "1"), XIR_OK);
    assert_int_equal(scratch_count_in(folder), 1);
}

static void a_save_keeps_temporary_files_of_running_saves(void **state) {
    xir_context *ctx = *state;
    enum { MANY = 12 };   /* more than there are names to choose from */
    char folder[PATH_MAX], path[PATH_MAX + 8], bytes[] = "0";
    snprintf(folder, sizeof folder, "%s", new_folder());
    snprintf(path, sizeof path, "%s/a", folder);
    file_writer w[MANY];
    for (int i = 0; i < MANY; i++) {
        bytes[0] = (char)('a' + i);
        assert_int_equal(file_open(&w[i], ctx, path, NULL), XIR_OK);
        assert_true(file_write(&w[i], bytes, 1));
    }
    assert_int_equal(scratch_count_in(folder), MANY);
    assert_int_equal(save_text(ctx, path, "x"), XIR_OK);
    assert_file(path, "x", 1);
    for (int i = 0; i < MANY; i++) {
        bytes[0] = (char)('a' + i);
        assert_int_equal(file_commit(&w[i]), XIR_OK);
        assert_file(path, bytes, 1);
    }
    assert_int_equal(scratch_count_in(folder), 1);
}

/* A thing that has the name of a temporary file but is not one is not opened, followed or removed. */
static void a_save_keeps_what_is_not_a_file(void **state) {
    xir_context *ctx = *state;
    char folder[PATH_MAX], path[PATH_MAX + 8], temp[2 * PATH_MAX], other[PATH_MAX + 16];
    snprintf(folder, sizeof folder, "%s", new_folder());
    snprintf(path, sizeof path, "%s/a", folder);
    snprintf(other, sizeof other, "%s/other", folder);
    scratch_put(other, "kept", 4);
    be_killed(ctx, path);
    find_temp(folder, temp, sizeof temp);
    for (int kind = 0; kind < 3; kind++) {
        struct stat st;
        assert_int_equal(unlink(temp), 0);
        assert_int_equal(kind == 0 ? mkfifo(temp, 0666) : kind == 1 ? symlink("other", temp) : mkdir(temp, 0777), 0);
        assert_int_equal(save_text(ctx, path, "new"), XIR_OK);
        assert_file(path, "new", 3);
        assert_int_equal(lstat(temp, &st), 0);
        assert_int_equal(scratch_count_in(folder), 3);
    }
    assert_file(other, "kept", 4);
}

/* ---- every call ---------------------------------------------------------------------------------------------- */

/* Each call of a save fails, in each way, in turn: the file is the old one, or it is the new one and the save has
 * reported that. */
static void any_call_of_a_save_may_fail(void **state) {
    if (!HAVE_FAULTS) SKIP("system calls are intercepted on x86-64 alone");
    xir_context *ctx = *state;
    static const struct { int what, error; } faults[] = {
        { FAIL, EIO }, { FAIL, ENOSPC }, { FAIL, EMFILE }, { FAIL, EACCES }, { FAIL, EEXIST }, { FAIL, EINVAL },
        { NOTHING, 0 } };
    enum { SIZE = 300000, NEW, OLD, OLD_OF_ANOTHER, DEVICE, CASES };
    uint8_t *data = malloc(SIZE);
    unsigned failed = 0, passed = 0;
    for (int which = NEW; which < CASES; which++) {
        for (size_t f = 0; f < COUNT(faults); f++) {
            bool over = false;
            for (unsigned at = 1; !over; at++) {
                const char *folder = new_folder(), *path = which == DEVICE ? "/dev/null" : in(folder, "a");
                bool there = which == OLD || which == OLD_OF_ANOTHER;
                xir_diags *why = xir_diags_new(ctx);
                struct stat st;
                fill(data, SIZE, at);
                if (there) scratch_put(path, "old", 3);
                if (which == OLD_OF_ANOTHER && (chmod(path, 04755) != 0 || chown(path, 12345, 54321) != 0)) {
                    over = true;   /* only root can change a file's owner */
                    xir_diags_free(why);
                    continue;
                }
                set_fault(faults[f].what, faults[f].error, at);
                xir_status status = save(ctx, path, data, SIZE, why);
                trouble.on = false;
                over = !trouble.hit;
                bool is_new = which != DEVICE && stat(path, &st) == 0 && st.st_size != 3;
                if (status == XIR_OK) {
                    if (which != DEVICE) assert_file(path, data, SIZE);
                    if (which == OLD_OF_ANOTHER && over) assert_int_equal(st.st_uid, 12345);
                    if (which == OLD_OF_ANOTHER && st.st_uid != 12345) assert_false(st.st_mode & S_ISUID);
                    passed++;
                } else {
                    assert_int_equal(status, XIR_E_IO);
                    assert_int_equal(xir_diags_count(why), 1);
                    assert_true(xir_str_equal(xir_diags_at(why, 0)->file, xir_str_of(path)));
                    /* The folder is flushed after the file was replaced. */
                    if (is_new) assert_memory_equal(xir_diags_at(why, 0)->message.data, "replaced, but", 13);
                    else if (there) assert_file(path, "old", 3);
                    failed++;
                }
                assert_int_equal(scratch_count_in(folder), there || is_new);
                xir_diags_free(why);
            }
        }
    }
    print_message("%u saves failed as they should, %u went on\n", failed, passed);
    assert_true(failed > 100);
    free(data);
}

static void interrupted_and_short_calls_are_normal(void **state) {
    if (!HAVE_FAULTS) SKIP("system calls are intercepted on x86-64 alone");
    xir_context *ctx = *state;
    enum { SIZE = 300000 };
    uint8_t *data = malloc(SIZE);
    for (int what = FAIL; what <= SHORT; what++) {
        bool over = false;
        for (unsigned at = 1; !over; at++) {
            const char *path = scratch("short");
            fill(data, SIZE, at);
            set_fault(what, EINTR, at);
            xir_status status = save(ctx, path, data, SIZE, NULL);
            trouble.on = false;
            over = !trouble.hit;
            /* Some calls are never interrupted by the system: then it is an error like any other. */
            if (status == XIR_OK) assert_file(path, data, SIZE);
            else if (!strstr("stat rename readlink", trouble.hit))
                fail_msg("an interrupted %s is not a failure", trouble.hit);
        }
        over = false;
        scratch_put(scratch("short"), data, SIZE);
        for (unsigned at = 1; !over; at++) {
            set_fault(what, EINTR, at);
            blob *b = file_read(ctx, scratch("short"), NULL);
            trouble.on = false;
            over = !trouble.hit;
            if (b) assert_memory_equal(b->bytes, data, SIZE);
            else assert_non_null(strstr("fstat", trouble.hit));
            blob_release(b);
        }
    }
    free(data);
}

static void any_call_of_a_read_may_fail(void **state) {
    if (!HAVE_FAULTS) SKIP("system calls are intercepted on x86-64 alone");
    xir_context *ctx = *state;
    const char *path = scratch("reads");
    scratch_put(path, "0123456789", 10);
    for (int way = 0; way < 4; way++) {   /* read, mapped, read without a size, read with calls that do nothing */
        bool over = false;
        unsigned failed = 0;
        for (unsigned at = 1; !over; at++) {
            xir_diags *why = xir_diags_new(ctx);
            set_fault(way == 3 ? NOTHING : FAIL, EIO, at);
            blob *b = way == 1 ? map_whole(ctx, path, why) : file_read(ctx, way == 2 ? "/dev/null" : path, why);
            trouble.on = false;
            over = !trouble.hit;
            assert_int_equal(xir_diags_count(why), b == NULL);
            if (b && way != 2) assert_memory_equal(b->bytes, "0123456789", 10);
            if (!b) failed++;
            blob_release(b);
            xir_diags_free(why);
        }
        assert_true(failed >= (way == 3 ? 1 : 3));
    }
}

/* A raw file of one Params of 4 bytes, which another program writes to while it is loaded. */
static const char *changing_raw;
static long changing_at;
static void change_raw(void) {
    FILE *f = fopen(changing_raw, "r+b");
    if (!f || fseek(f, changing_at, SEEK_SET) != 0 || fputc(0x55, f) == EOF || fclose(f) != 0) abort();
}

static void a_raw_that_changes_while_it_is_loaded_is_whole_or_refused(void **state) {
    if (!HAVE_FAULTS) SKIP("system calls are intercepted on x86-64 alone");
    xir_context *ctx = *state;
    static const raw_param wanted[] = { { 3, 4 } };
    uint8_t file[32] = { 0 };
    unsigned refused = 0;
    changing_raw = scratch("changing.raw");
    raw_put_header(file, 1);
    raw_put_entry(file, 0, 3, 28);
    memcpy(file + 28, "good", 4);
    for (unsigned flags = 0; flags <= XIR_LOAD_LAZY; flags++) {
        for (changing_at = 0; changing_at < 32; changing_at++) {
            bool over = false;
            for (unsigned at = 1; !over; at++) {
                xir_value *value;
                xir_network *net = raw_network(ctx, wanted, 1, 1, &value);
                scratch_put(changing_raw, file, sizeof file);
                set_fault(CHANGE, 0, at);
                trouble.change = change_raw;
                xir_status status = xir_raw_load(net, changing_raw, flags | XIR_LOAD_NO_MD5, NULL);
                trouble.on = false;
                over = !trouble.hit;
                if (status == XIR_OK) {
                    const uint8_t *bytes = xir_params_data(value, NULL);
                    for (int i = 0; i < 4; i++)
                        assert_true(bytes[i] == "good"[i] || (changing_at == 28 + i && bytes[i] == 0x55));
                } else {
                    assert_true(changing_at < 28);
                    assert_null(xir_params_data(value, NULL));
                    refused++;
                }
                xir_network_free(net);
            }
        }
    }
    assert_true(refused > 28 * 4);
}

/* The process is killed before each call: the file is the old one or the new one, complete. */
static void a_killed_save_leaves_the_old_file_or_the_new_one(void **state) {
    if (!HAVE_FAULTS) SKIP("system calls are intercepted on x86-64 alone");
    xir_context *ctx = *state;
    enum { SIZE = 300000 };
    uint8_t *data = malloc(SIZE), *old = malloc(SIZE);
    fill(data, SIZE, 1);
    fill(old, SIZE, 2);
    unsigned olds = 0, news = 0;
    bool over = false;
    for (unsigned at = 1; !over; at++) {
        const char *folder = new_folder(), *path = in(folder, "a");
        size_t size;
        scratch_put(path, old, SIZE);
        fflush(NULL);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            set_fault(KILL, 0, at);
            _exit(save(ctx, path, data, SIZE, NULL) == XIR_OK ? 0 : 1);
        }
        int status;
        waitpid(child, &status, 0);
        over = WIFEXITED(status);
        if (over) assert_int_equal(WEXITSTATUS(status), 0);
        uint8_t *now = scratch_get(path, &size);
        assert_int_equal(size, SIZE);
        if (memcmp(now, old, SIZE) == 0) {
            olds++;
            assert_int_equal(news, 0);
        } else {
            assert_memory_equal(now, data, SIZE);
            news++;
        }
        free(now);
        assert_true(scratch_count_in(folder) <= 2);
    }
    assert_true(olds > 5 && news > 1);
    free(data);
    free(old);
}

/* ---- a structure file and its parameters ---------------------------------------------------------------------- */

enum { OLD_PAIR, NEW_PAIR, UNFINISHED };

/* The contents of a folder in which "new" was being saved over "old". An unfinished save is finished. */
static int pair_in(xir_context *ctx, const char *folder) {
    xir_value *value;
    xir_network *net = xir_json_load(ctx, in(folder, "a.json"), NULL);
    const bool unfinished = !net;
    if (unfinished) {
        assert_int_equal(xir_save_check(ctx, in(folder, "a.json"), NULL), XIR_E_CORRUPT);
        assert_int_equal(xir_save_finish(ctx, in(folder, "a.json"), NULL, NULL, NULL), XIR_OK);
        net = xir_json_load(ctx, in(folder, "a.json"), NULL);
        assert_int_equal(scratch_count_in(folder), 2);
    }
    assert_non_null(net);
    assert_int_equal(xir_raw_load(net, in(folder, "a.raw"), 0, NULL), XIR_OK);
    assert_int_equal(xir_network_params(net, &value, 1), 1);
    const char *bytes = xir_params_data(value, NULL);
    const int is = memcmp(bytes, "new", 3) == 0 ? NEW_PAIR : OLD_PAIR;
    if (is == OLD_PAIR) assert_memory_equal(bytes, "old", 3);
    if (unfinished) assert_int_equal(is, NEW_PAIR);
    xir_network_free(net);
    return unfinished ? UNFINISHED : is;
}

/* Saves "new" over "old"; call number `at` suffers `what`. */
static xir_status save_pair(xir_context *ctx, const char *folder, int what, unsigned at) {
    static const raw_param wanted[] = { { 3, 3 } };
    char json[PATH_MAX + 256], raw[PATH_MAX + 256];
    xir_value *value;
    xir_network *net = raw_network(ctx, wanted, 1, 1, &value);
    snprintf(json, sizeof json, "%s", in(folder, "a.json"));
    snprintf(raw, sizeof raw, "%s", in(folder, "a.raw"));
    assert_int_equal(xir_params_set_copy(value, "old", 3), XIR_OK);
    assert_int_equal(xir_json_raw_save(net, json, raw, XIR_SAVE_UNCHECKED, NULL), XIR_OK);
    assert_int_equal(xir_params_set_copy(value, "new", 3), XIR_OK);
    set_fault(what, EIO, at);
    xir_status status = xir_json_raw_save(net, json, raw, XIR_SAVE_UNCHECKED, NULL);
    trouble.on = false;
    xir_network_free(net);
    return status;
}

static void a_pair_is_old_or_new_or_known_to_be_unfinished(void **state) {
    if (!HAVE_FAULTS) SKIP("system calls are intercepted on x86-64 alone");
    xir_context *ctx = *state;
    unsigned failed[3] = { 0 }, killed[3] = { 0 };
    bool over = false;
    for (unsigned at = 1; !over; at++) {
        const char *folder = new_folder();
        xir_status status = save_pair(ctx, folder, FAIL, at);
        over = !trouble.hit;
        int is = pair_in(ctx, folder);
        if (status == XIR_OK) assert_int_equal(is, NEW_PAIR);
        else failed[is]++;
        const bool removes = !over && strcmp(trouble.hit, "unlink") == 0;    /* then what it removes stays */
        assert_in_range(scratch_count_in(folder), 2, 2 + removes);
    }
    over = false;
    for (unsigned at = 1; !over; at++) {
        const char *folder = new_folder();
        fflush(NULL);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) _exit(save_pair(ctx, folder, KILL, at) == XIR_OK ? 0 : 1);
        int status;
        waitpid(child, &status, 0);
        over = WIFEXITED(status);
        if (over) assert_int_equal(WEXITSTATUS(status), 0);
        killed[pair_in(ctx, folder)]++;
    }
    print_message("failing: %u old, %u new, %u unfinished; killed: %u old, %u new, %u unfinished\n", failed[OLD_PAIR],
                  failed[NEW_PAIR], failed[UNFINISHED], killed[OLD_PAIR], killed[NEW_PAIR], killed[UNFINISHED]);
    assert_true(failed[OLD_PAIR] > 10 && failed[UNFINISHED] == 0);
    assert_true(killed[OLD_PAIR] > 10 && killed[UNFINISHED] > 3 && killed[NEW_PAIR] > 1);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_read_or_mapped_whole),
        cmocka_unit_test(a_file_without_a_size_is_read_to_its_end),
        cmocka_unit_test(a_failed_read_says_why),
        cmocka_unit_test(a_file_that_changes_while_it_is_read_is_refused),
        cmocka_unit_test(a_file_is_replaced_and_keeps_its_mode),
        cmocka_unit_test(a_link_is_kept_and_its_file_is_replaced),
        cmocka_unit_test(names_in_the_current_folder_need_no_slash),
        cmocka_unit_test(devices_and_pipes_are_written_directly),
        cmocka_unit_test(a_failed_write_says_why),
        cmocka_unit_test(a_failed_writer_stays_failed),
        cmocka_unit_test(a_full_disk_leaves_the_old_file),
        cmocka_unit_test(an_aborted_save_leaves_nothing),
        cmocka_unit_test(a_save_removes_temporary_files_of_killed_saves),
        cmocka_unit_test(saves_are_abandoned_by_a_handler),
        cmocka_unit_test(a_save_keeps_temporary_files_of_running_saves),
        cmocka_unit_test(a_save_keeps_what_is_not_a_file),
        cmocka_unit_test(any_call_of_a_save_may_fail),
        cmocka_unit_test(interrupted_and_short_calls_are_normal),
        cmocka_unit_test(any_call_of_a_read_may_fail),
        cmocka_unit_test(a_raw_that_changes_while_it_is_loaded_is_whole_or_refused),
        cmocka_unit_test(a_killed_save_leaves_the_old_file_or_the_new_one),
        cmocka_unit_test(a_pair_is_old_or_new_or_known_to_be_unfinished),
    };
    return cmocka_run_group_tests_name("files", tests, scratch_begin, scratch_end);
}
