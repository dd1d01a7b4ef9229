/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Files that the program itself writes, not a format. Each is complete, or the old one is unchanged. A new file is
 * filled in the folder of the one that it replaces. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cli.h"

/* Fills an open file and closes it. */
static int fill_file(const char *out, FILE *file, fill_fn *fill, const void *user) {
    int code = fill(user, file);
    const bool failed = ferror(file) != 0;
    if ((fclose(file) != 0 || failed) && !code) code = complain_of(REFUSED, out, "cannot be written");
    return code;
}

/* A new file in the folder of the target, with the mode of the file that it is to replace. NULL with errno. */
static FILE *open_part(const char *target, const struct stat *old, char **part) {
    enum { TRIES = 100, ROOM = 64 };
    const char *slash = strrchr(target, '/');
    const size_t folder = slash ? (size_t)(slash - target) + 1 : 0;
    char *path = take(folder + ROOM, 1);
    int fd = -1;
    memcpy(path, target, folder);
    errno = EEXIST;
    for (unsigned i = 0; fd < 0 && errno == EEXIST && i < TRIES; i++) {
        snprintf(path + folder, ROOM, ".xir-%ld-%u.part", (long)getpid(), i);
        fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, old ? 0600 : 0666);
    }
    if (fd >= 0 && old) (void)fchmod(fd, old->st_mode & 0777);   /* if it may not, the file stays private */
    FILE *file = fd >= 0 ? fdopen(fd, "wb") : NULL;
    if (file) {
        *part = path;
        note_part(path);
        return file;
    }
    const int why = errno;
    if (fd >= 0) {
        close(fd);
        unlink(path);
    }
    free(path);
    errno = why;
    return NULL;
}

/* Replaces the target when the new file is complete. After a failure nothing is left. */
static int fill_anew(const char *out, const char *target, const struct stat *old, fill_fn *fill, const void *user) {
    char *part = NULL;
    FILE *file = open_part(target, old, &part);
    if (!file) return complain_of(REFUSED, out, "cannot be written: %s", strerror(errno));
    int code = fill_file(out, file, fill, user);
    if (!code && rename(part, target) != 0)
        code = complain_of(REFUSED, out, "cannot be replaced: %s", strerror(errno));
    note_part(NULL);
    if (code) unlink(part);
    free(part);
    return code;
}

int write_whole(const char *out, fill_fn *fill, const void *user) {
    struct stat old, found;
    const bool there = stat(out, &old) == 0;
    if (!there && lstat(out, &found) == 0)
        return complain_of(REFUSED, out, "cannot be written: the link leads nowhere");
    char *target = there ? realpath(out, NULL) : join(out, "");
    const bool named = !there || (S_ISREG(old.st_mode) && target && stat(target, &found) == 0 &&
                                  found.st_dev == old.st_dev && found.st_ino == old.st_ino);
    FILE *file = named ? NULL : fopen(out, "wb");
    const int code = named ? fill_anew(out, target, there ? &old : NULL, fill, user) :
                     file  ? fill_file(out, file, fill, user) :
                     complain_of(REFUSED, out, "cannot be written: %s", strerror(errno));
    free(target);
    return code;
}

int write_bytes(const void *user, FILE *file) {
    const text *t = user;
    fwrite(t->data, 1, t->size, file);
    return DONE;
}
