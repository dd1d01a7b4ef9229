/* See folder.h. A folder can't be renamed onto another one, so the old one gets another name first; if anything fails
 * then, it gets its own back. A killed process leaves at most folders ".NAME.xir-….tmp". */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include "context_base.h"
#include "folder.h"

enum { MORE = 64, TRIES = 100 };

static xir_status fail(folder_writer *f, xir_status code, const char *what) {
    if (f->status) return f->status;
    return f->status = file_fail(f->why, code, f->target, XIR_NO_BYTE, "%s: %s", what, strerror(errno));
}

/* ".X.data.xir-PID-N.tmp" next to X.data. */
static void name_next_to(const folder_writer *f, char *out, unsigned number) {
    const char *slash = strrchr(f->target, '/'), *last = slash ? slash + 1 : f->target;
    snprintf(out, f->room, "%.*s.%s.xir-%ld-%u.tmp", (int)(last - f->target), f->target, last, (long)getpid(), number);
}

static bool next_entry(DIR *d, xir_str *name) {
    const struct dirent *e;
    do {
        errno = 0;
        e = readdir(d);
    } while (e && (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0));
    if (e) *name = xir_str_of(e->d_name);
    return e;
}

/* Removes a folder with its files; it has no others than those of a writer. */
static void remove_folder(const char *path) {
    char file[PATH_MAX];
    xir_str name;
    DIR *d = opendir(path);
    while (d && next_entry(d, &name))
        if (snprintf(file, sizeof file, "%s/%.*s", path, (int)name.size, name.data) < (int)sizeof file)
            (void)unlink(file);
    if (d) closedir(d);
    (void)rmdir(path);
}

/* Whether the path is free, or a folder that may be replaced. */
static bool may_replace(folder_writer *f, bool *exists) {
    struct stat st, file;
    xir_str name;
    *exists = lstat(f->target, &st) == 0;
    if (!*exists) return errno == ENOENT || fail(f, XIR_E_IO, "cannot examine it") == XIR_OK;
    if (!S_ISDIR(st.st_mode)) {
        f->status = file_fail(f->why, XIR_E_EXISTS, f->target, XIR_NO_BYTE, "it exists and is not a folder");
        return false;
    }
    DIR *d = opendir(f->target);
    if (!d) return fail(f, XIR_E_IO, "cannot read the folder") == XIR_OK;
    while (!f->status && next_entry(d, &name)) {
        const bool plain = fstatat(dirfd(d), name.data, &file, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(file.st_mode);
        if (plain && f->is_own(name)) continue;
        f->status = file_fail(f->why, XIR_E_EXISTS, f->target, XIR_NO_BYTE, "the folder has something else: '%.*s'. It "
                              "is not replaced", (int)(name.size < 100 ? name.size : 100), name.data);
    }
    closedir(d);
    return !f->status;
}

xir_status folder_open(folder_writer *f, xir_context *ctx, const char *path, bool (*is_own)(xir_str name),
                       xir_diags *why) {
    size_t n = strlen(path);
    bool exists;
    while (n > 1 && path[n - 1] == '/') n--;
    *f = (folder_writer){ .ctx = ctx, .why = why, .room = 2 * n + MORE, .is_own = is_own };
    f->target = mem_new(context_alloc(ctx), f->room);
    f->temp = mem_new(context_alloc(ctx), f->room);
    f->old = mem_new(context_alloc(ctx), f->room);
    if (!f->target || !f->temp || !f->old) return f->status = diag_memory(why);
    memcpy(f->target, path, n);
    f->target[n] = '\0';
    if (!may_replace(f, &exists)) return f->status;
    for (unsigned i = 0; i < TRIES && !f->made; i++) {
        name_next_to(f, f->temp, 2 * i);
        name_next_to(f, f->old, 2 * i + 1);
        f->made = mkdir(f->temp, 0777) == 0;
        if (!f->made && errno != EEXIST) break;
    }
    return f->made ? XIR_OK : fail(f, XIR_E_IO, "cannot make a folder next to it");
}

xir_status folder_write(folder_writer *f, xir_str name, const void *data, size_t size) {
    char path[PATH_MAX];
    file_writer w;
    if (f->status) return f->status;
    if (snprintf(path, sizeof path, "%s/%.*s", f->temp, (int)name.size, name.data) >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        return fail(f, XIR_E_IO, "cannot write a file in it");
    }
    if (file_open(&w, f->ctx, path, f->why) == XIR_OK) (void)file_write(&w, data, size);
    return f->status = file_commit(&w);
}

/* Makes the new name durable. Some file systems do not support that, and a folder may be writable but not readable. */
static bool flush_parent(const folder_writer *f) {
    const char *slash = strrchr(f->target, '/');
    char dir[PATH_MAX] = ".";
    const int n = slash ? (int)(slash - f->target) + 1 : 0;
    if (n && snprintf(dir, sizeof dir, "%.*s", n, f->target) >= (int)sizeof dir) return true;
    const int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return errno == EACCES;
    const bool done = fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP || errno == EROFS;
    const int error = errno;
    (void)close(fd);
    errno = error;
    return done;
}

xir_status folder_place(folder_writer *f) {
    bool exists;
    if (f->status || !may_replace(f, &exists)) return f->status;
    if (exists && rename(f->target, f->old) != 0) return fail(f, XIR_E_IO, "cannot rename the old folder");
    f->replaced = exists;
    if (rename(f->temp, f->target) != 0) return fail(f, XIR_E_IO, "cannot rename the new folder");
    f->placed = true;
    return flush_parent(f) ? XIR_OK : fail(f, XIR_E_IO, "cannot flush the folder that it is in");
}

static void forget(folder_writer *f) {
    const xir_allocator *alloc = context_alloc(f->ctx);
    mem_free(alloc, f->target, f->room);
    mem_free(alloc, f->temp, f->room);
    mem_free(alloc, f->old, f->room);
    *f = (folder_writer){ .status = f->status };
}

void folder_commit(folder_writer *f) {
    if (f->replaced) remove_folder(f->old);
    forget(f);
}

void folder_abort(folder_writer *f) {
    if (!f->ctx) return;
    if (f->placed) (void)rename(f->target, f->temp);
    if (f->replaced) (void)rename(f->old, f->target);
    if (f->made) remove_folder(f->temp);
    forget(f);
}
