/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Memory runs out anywhere in a program, its libraries and the C library: to be preloaded. Before the program begins,
 * it forks for every allocation that will be made, and the child is refused this one, or this one and all later ones.
 * The result is compared with a run that had memory: the folder XIR_MEMORY/good has its `out`, `err` and `code`, and
 * the files that it wrote.
 *
 *   exit code 3                 a line on stderr is about memory, every other line is one of the good run
 *   exit code of the good run   the same output and files; if stderr has fewer lines, one is about memory
 *   anything else               a fault, and so is an incomplete or leftover file; XIR_MEMORY/faults lists them
 *
 * XIR_MEMORY_STEP=N tries every N-th allocation; of those of libcrypto, which makes thousands when it starts, one in
 * 64 counts. With XIR_MEMORY_SITES the calls that led to a faulty one are listed too. */
#include <dirent.h>
#include <malloc.h>
#include <execinfo.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* glibc's own names of the allocating functions. */
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

enum { MOST_FILES = 8 };

/* The report of a child to its parent. */
typedef struct report { unsigned long calls; bool refused; } report;

static report       *child;                /* NULL in a program that is not tried */
static bool          armed, for_good;
static unsigned long wanted, step = 1;     /* which allocation is refused, from 1 */
static char          folder[PATH_MAX], good[PATH_MAX + 8];
static int           good_code;
static char          names[MOST_FILES][64];   /* of the files that the good run wrote */
static size_t        n_names;

/* ---- files ------------------------------------------------------------------------------------------------------ */

typedef struct content { char *data; size_t size; bool there; } content;

static content get(const char *dir, const char *name) {
    char path[2 * PATH_MAX];
    content c = { 0 };
    snprintf(path, sizeof path, "%s/%s", dir, name);
    int fd = open(path, O_RDONLY);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0) return c;
    c.data = __libc_malloc((size_t)st.st_size + 1);
    ssize_t n;
    while (c.size < (size_t)st.st_size && (n = read(fd, c.data + c.size, (size_t)st.st_size - c.size)) > 0)
        c.size += (size_t)n;
    c.data[c.size] = '\0';
    c.there = true;
    close(fd);
    return c;
}

/* The output without what a proof took, "(0.1 ms: 8 ops computed, 2 reused)": that differs from run to run, and fewer
 * arrays are kept if there is no memory for them. */
static content get_out(const char *dir) {
    content c = get(dir, "out");
    char *counted = c.there ? strstr(c.data, " ops computed, ") : NULL, *from = counted;
    while (from && from > c.data && *from != '(') from--;
    char *to = counted ? strchr(counted, ')') : NULL;
    if (!to) return c;
    memmove(from, to, (size_t)(c.data + c.size - to) + 1);
    c.size -= (size_t)(to - from);
    return c;
}

static bool same(const content *a, const content *b) {
    return a->there == b->there && a->size == b->size && (!a->size || !memcmp(a->data, b->data, a->size));
}

/* ---- checking --------------------------------------------------------------------------------------------------- */

static void fault(const char *what, const char *detail) {
    char path[PATH_MAX + 16], line[1200];
    snprintf(path, sizeof path, "%s/faults", folder);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0666);
    snprintf(line, sizeof line, "allocation %lu refused%s: %s%s%.800s\n", wanted,
             for_good ? ", and all that follow" : "", what, *detail ? ": " : "", detail);
    content site = get(folder, "site");
    if (fd < 0 || write(fd, line, strlen(line)) < 0 || write(fd, site.data, site.size) < 0) abort();
    free(site.data);
    close(fd);
}

static bool blames_memory(const char *line) { return strstr(line, "memory") || strstr(line, "Cannot allocate"); }

/* The message of a line, after its place, which may be less exact. */
static const char *sentence(const char *line) {
    const char *at = line;
    for (const char *colon; (colon = strstr(at, ": "));) at = colon + 2;
    return at;
}

/* True if the good run has a finding at the same place in the file: "bad.json:1:1743: /ops/1/stride_width: ". Another
 * check may find the same fault if the first one had no memory. */
static bool same_place(const char *line, const content *all) {
    const char *end = strstr(line, ": /");
    end = end ? strstr(end + 1, ": ") : NULL;
    return end && memmem(all->data, strlen(all->data), line, (size_t)(end + 2 - line));
}

/* Every line is about memory, or has the message or the place of a line of the good run. */
static bool check_words(const content *err, const content *all, bool *blamed) {
    bool fine = true;
    for (char *line = err->data, *next; line && *line; line = next) {
        next = strchr(line, '\n');
        if (next) *next++ = '\0';
        bool memory = blames_memory(line);
        *blamed |= memory;
        if (memory || strstr(all->data, sentence(line)) || same_place(line, all)) continue;
        fault("it blames something else", line);
        fine = false;
    }
    return fine;
}

static void check_files(bool failed) {
    DIR *dir = opendir(".");
    for (struct dirent *e; dir && (e = readdir(dir));) {
        if (strstr(e->d_name, ".tmp")) fault("a file is left", e->d_name), unlink(e->d_name);
    }
    if (dir) closedir(dir);
    for (size_t i = 0; i < n_names; i++) {
        content was = get(good, names[i]), is = get(".", names[i]);
        if (is.there ? !same(&was, &is) : !failed)
            fault(is.there ? "a file is not whole" : "a file is missing", names[i]);
        free(was.data), free(is.data);
        unlink(names[i]);
    }
}

static void check_result(int status) {
    char text[32];
    content out = get_out(folder), err = get(folder, "err"), good_out = get_out(good), good_err = get(good, "err");
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    bool blamed = false, as_good = same(&err, &good_err);
    snprintf(text, sizeof text, "%s %d", code < 0 ? "signal" : "exit code", code < 0 ? WTERMSIG(status) : code);
    if (code == 3 && good_code != 3) {
        if (check_words(&err, &good_err, &blamed) && !blamed) fault(text, "without a word of memory");
        if (out.data && strstr(out.data, "no fault found")) fault(text, "and no fault found");
        check_files(true);
    } else if (code == good_code) {
        if (!same(&out, &good_out)) fault(text, "and another output");
        if (!as_good && check_words(&err, &good_err, &blamed) && !blamed) fault(text, "and fewer findings");
        check_files(false);
    } else {
        fault(text, err.data ? err.data : "");
        check_files(true);
    }
    free(out.data), free(err.data), free(good_out.data), free(good_err.data);
}

/* ---- allocating ------------------------------------------------------------------------------------------------- */

static void say_site(void) {
    char path[PATH_MAX + 16];
    void *frames[32];
    armed = false;
    snprintf(path, sizeof path, "%s/site", folder);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (fd < 0) abort();
    backtrace_symbols_fd(frames, backtrace(frames, 32), fd);
    close(fd);
    armed = true;
}

/* The addresses of libcrypto's code. */
static uintptr_t crypto_start, crypto_end;

static int find_libcrypto(struct dl_phdr_info *info, size_t size, void *user) {
    (void)size, (void)user;
    if (!strstr(info->dlpi_name, "libcrypto")) return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
        crypto_start = info->dlpi_addr + part->p_vaddr;
        crypto_end = crypto_start + part->p_memsz;
    }
    return 1;
}

/* `caller` is the return address of the allocating function. */
static bool fails(const void *caller) {
    static unsigned long of_libcrypto;
    if (!armed) return false;
    bool skipped = (uintptr_t)caller - crypto_start < crypto_end - crypto_start && of_libcrypto++ % 64;
    if (skipped && !(for_good && child->refused)) return false;
    unsigned long n = skipped ? child->calls : ++child->calls;
    if (n != wanted && !(for_good && n >= wanted)) return false;
    if (n == wanted && getenv("XIR_MEMORY_SITES")) say_site();
    child->refused = true;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size) {
    return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}
void *calloc(size_t n, size_t size) {
    return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(n, size);
}
void *realloc(void *block, size_t size) {
    return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(block, size);
}
void *memalign(size_t alignment, size_t size) {
    return fails(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, size);
}
void *aligned_alloc(size_t alignment, size_t size) {
    return fails(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, size);
}
int posix_memalign(void **out, size_t alignment, size_t size) {
    *out = fails(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, size);
    return *out ? 0 : ENOMEM;
}

/* ---- trying ----------------------------------------------------------------------------------------------------- */

static void redirect(const char *name, int to) {
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (fd < 0 || dup2(fd, to) < 0) abort();
    close(fd);
}

static void read_good(void) {
    content code = get(good, "code");
    good_code = code.there ? atoi(code.data) : 0;
    free(code.data);
    DIR *dir = opendir(good);
    for (struct dirent *e; dir && (e = readdir(dir));) {
        bool own = !strcmp(e->d_name, "out") || !strcmp(e->d_name, "err") || !strcmp(e->d_name, "code");
        if (e->d_name[0] == '.' || own) continue;
        if (n_names == MOST_FILES) abort();
        snprintf(names[n_names++], sizeof names[0], "%.63s", e->d_name);
    }
    if (dir) closedir(dir);
}

/* Returns only in the children, which continue as the program. */
static void try_all(void) {
    unsigned long tried = 0;
    do {
        child->refused = false;
        for (int all = 0; all < 2; all++, tried++) {
            int status;
            for_good = all;
            child->calls = 0;
            lseek(STDIN_FILENO, 0, SEEK_SET);
            pid_t pid = fork();
            if (pid == 0) {
                redirect("out", STDOUT_FILENO);
                redirect("err", STDERR_FILENO);
                armed = true;
                return;
            }
            if (pid < 0 || waitpid(pid, &status, 0) != pid) abort();
            check_result(status);
        }
        wanted += step;
    } while (child->refused);
    redirect("count", STDOUT_FILENO);
    printf("%lu runs, the last of %lu allocations\n", tried, child->calls);
    fflush(stdout);
    _exit(0);
}

static __attribute__((constructor)) void begin(void) {
    const char *where = getenv("XIR_MEMORY"), *word = getenv("XIR_MEMORY_STEP");
    void *frames[2];
    if (!where) return;
    snprintf(folder, sizeof folder, "%s", where);
    snprintf(good, sizeof good, "%s/good", where);
    if (word && atol(word) > 0) step = (unsigned long)atol(word);
    (void)backtrace(frames, 2);   /* which allocates when it is first called */
    child = mmap(NULL, sizeof *child, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (child == MAP_FAILED) abort();
    dl_iterate_phdr(find_libcrypto, NULL);
    read_good();
    wanted = (step + 1) / 2;
    try_all();
}
