/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Saving over an existing file, by every way of saving, while the system fails. strace kills the program at each system
 * call of the saving in turn, and makes each of them fail in turn. In other runs file sizes are limited, or writes take
 * only some bytes. Afterwards the file is the old one or the new one, byte for byte; failures are reported; and no
 * temporary file stays except after a kill. A pair is the old one or the new one, or loading it fails and says that its
 * save is unfinished; finishing it then gives the new one.
 *
 * This program is its own victim: `serialize_crash crash save KIND FOLDER` saves once. XIR_CRASH=1 in the environment
 * tries more errors at more calls. Without strace, or if nothing may be traced, only the tests without it run. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <xir/icraft.h>
#include "support/raw_net.h"
#include "support/net.h"
#include "support/often.h"
#include "support/onnx_make.h"
#include "support/scratch.h"
#include "support/skips.h"

enum { MOST_CALLS = 400, MOST_FILES = 2, LINE = 4096 };
enum { EXIT_IO = 3, EXIT_OTHER = 4 };

/* ---- the victim ------------------------------------------------------------------------------------------------- */

/* A system that takes only some bytes per write, as it may. */
static size_t bytes_at_once = SIZE_MAX;
ssize_t write(int fd, const void *data, size_t size) {
    return (ssize_t)syscall(SYS_write, fd, data, size < bytes_at_once ? size : bytes_at_once);
}
ssize_t writev(int fd, const struct iovec *pieces, int n) {
    if (bytes_at_once == SIZE_MAX) return (ssize_t)syscall(SYS_writev, fd, pieces, n);
    while (n > 1 && !pieces->iov_len) pieces++, n--;
    return write(fd, pieces->iov_base, pieces->iov_len);
}

typedef xir_status save_fn(xir_network *net, const char *path, xir_diags *findings);

static xir_status save_json(xir_network *net, const char *path, xir_diags *findings) {
    return xir_json_save(net, path, XIR_SAVE_UNCHECKED, findings);
}
static xir_status save_raw(xir_network *net, const char *path, xir_diags *findings) {
    return xir_raw_save(net, path, findings);
}
static xir_status save_pair(xir_network *net, const char *path, xir_diags *findings) {
    return xir_json_raw_save(net, path, NULL, XIR_SAVE_UNCHECKED, findings);
}
static xir_status save_any(xir_network *net, const char *path, xir_diags *findings) {
    return xir_network_save(net, path, &XIR_INIT(xir_save_options, .unchecked = true), findings);
}
static xir_status save_external(xir_network *net, const char *path, xir_diags *findings) {
    return xir_network_save(net, path, &XIR_INIT(xir_save_options, .flags = XIR_SAVE_EXTERNAL), findings);
}

/* A way of saving: the files that it makes, of which the first is the named one. */
typedef struct way {
    const char *name;
    save_fn    *save;                  /* NULL: the program, `xir convert in.json FILE` */
    const char *files[MOST_FILES];     /* the structure, and its parameters */
    bool        link;                  /* the name is a symbolic link */
    bool        fresh;                 /* there is no old file       */
    bool        onnx;                  /* of a network of ONNX */
} way;

static const way all_ways[] = {
    { "json",          save_json, { "net.json" } },
    { "raw",           save_raw,  { "net.raw" } },
    { "pair",          save_pair, { "net.json", "net.raw" } },
    { "any-json",      save_any,  { "net.json", "net.raw" } },
    { "link",          save_json, { "net.json" }, .link = true },
    { "fresh",         save_json, { "net.json" }, .fresh = true },
    { "fresh-pair",    save_pair, { "net.json", "net.raw" }, .fresh = true },
    { "imodel",        save_any,  { "net.imodel" } },
    { "fb",            save_any,  { "net.fb" } },
    { "onnx",          save_any,  { "net.onnx" }, .onnx = true },
    { "onnx-pair",     save_external, { "net.onnx", "net.onnx.data" }, .onnx = true },
#ifdef XIR_PROGRAM
    { "program",        NULL,     { "net.json", "net.raw" } },
#endif
};

static bool has_format(const char *name) {
    const char *dot = strrchr(name, '.');
    xir_format_info f = XIR_INIT(xir_format_info);
    if (strcmp(dot, ".raw") == 0) return true;
    for (size_t i = 0; xir_format_at(i, &f, NULL) == XIR_OK; i++)
        if (strcmp(f.name, dot + 1) == 0) return f.reads && f.writes;
    return false;
}

/* The new network and the old one differ in everything. */
static xir_network *make_net(xir_context *with, bool old) {
    static const raw_param wanted[] = { { 10, 3000 }, { 11, 70 }, { 12, 5 }, { 13, 9 } };
    xir_value *values[4];
    size_t n = old ? 3 : 4;
    xir_network *net = raw_network(with, wanted, n, 1, values);
    for (size_t i = 0; i < n; i++) {
        if (xir_value_set_name(values[i], old ? XIR_STR("old") : XIR_STR("new"))) abort();
        raw_fill(values[i]);
    }
    return net;
}

/* Constants that are large enough for a file of their own. */
static xir_network *make_onnx(xir_context *with, bool old) {
    enum { LARGE = 3000 };
    static float data[LARGE];
    const size_t n = old ? LARGE / 2 : LARGE;
    size_t size;
    om m = om_begin(old ? "old" : "new");
    for (size_t i = 0; i < LARGE; i++) data[i] = (float)i + old;
    om_input(&m, "x", ONNX_FLOAT, OM_DIMS((int64_t)n));
    om_floats(&m, "w", OM_DIMS((int64_t)n), data, n);
    om_node(&m, "Add", old ? "op" : "add", "x,w", "y");
    om_output(&m, "y", ONNX_FLOAT, OM_DIMS((int64_t)n));
    const void *bytes = om_done(&m, &size);
    xir_network *net = xir_network_read(with, bytes, size, XIR_STR("m"),
                                        &XIR_INIT(xir_load_options, .format = "onnx"), NULL);
    if (!net) abort();
    om_free(&m);
    return net;
}

static xir_network *make_for(const way *w, xir_context *with, bool old) {
    return w->onnx ? make_onnx(with, old) : make_net(with, old);
}

static const char *in_folder(const char *folder, const char *name) {
    static char paths[4][2 * PATH_MAX];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

/* One save in the environment given. Returns the program's exit code. */
static int be_victim(const char *name, const char *folder) {
    const char *most = getenv("CRASH_FILE_SIZE"), *once = getenv("CRASH_AT_ONCE");
    size_t i = 0;
    while (i < COUNT(all_ways) && strcmp(all_ways[i].name, name) != 0) i++;
    if (i == COUNT(all_ways)) return 2;
    xir_context *with = xir_context_new(NULL);
    xir_diags *findings = xir_diags_new(with);
    xir_network *net = make_for(&all_ways[i], with, false);
    if (once) bytes_at_once = strtoul(once, NULL, 10);
    if (most) {
        const struct rlimit limit = { strtoul(most, NULL, 10), RLIM_INFINITY };
        signal(SIGXFSZ, SIG_IGN);
        if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 2;
    }
    xir_status status = all_ways[i].save(net, in_folder(folder, all_ways[i].files[0]), findings);
    if (status && xir_diags_count(findings) == 0) return 2;   /* the failure was not reported */
    xir_network_free(net);
    xir_diags_free(findings);
    xir_context_free(with);
    return status == XIR_OK ? 0 : status == XIR_E_IO ? EXIT_IO : EXIT_OTHER;
}

/* ---- before and after ------------------------------------------------------------------------------------------- */

typedef struct content { uint8_t *data; size_t size; } content;

typedef struct scene {
    const way *way;
    char       folder[PATH_MAX];
    content    before[MOST_FILES], after[MOST_FILES];
    size_t     n;                       /* files */
} scene;

static bool is_temporary(const char *name) { return strncmp(name, ".xir-", 5) == 0; }

/* The number of temporary files; removes them if requested. */
static size_t temporaries(const scene *s, bool remove_them) {
    size_t n = 0;
    DIR *dir = opendir(s->folder);
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        if (!is_temporary(entry->d_name)) continue;
        n++;
        if (remove_them) unlink(in_folder(s->folder, entry->d_name));
    }
    closedir(dir);
    return n;
}

static void set_scene(const scene *s) {
    char journal[2 * PATH_MAX];
    temporaries(s, true);
    snprintf(journal, sizeof journal, "%s.xir-save", in_folder(s->folder, s->way->files[0]));
    unlink(journal);
    for (size_t i = 0; i < s->n; i++) {
        const char *path = in_folder(s->folder, s->way->files[i]),
                    *target = s->way->link ? in_folder(s->folder, "target") : path;
        unlink(path);
        if (s->way->fresh) continue;
        scratch_put(target, s->before[i].data, s->before[i].size);
        if (s->way->link) assert_int_equal(symlink("target", path), 0);
    }
}

typedef enum which { OLD, NEW, NEITHER } which;

static which which_is(const scene *s, size_t file) {
    content now = { 0 };
    const content *old = &s->before[file], *new = &s->after[file];
    now.data = scratch_get(in_folder(s->folder, s->way->files[file]), &now.size);
    which found = NEITHER;
    if (!now.data) found = s->way->fresh ? OLD : NEITHER;
    else if (now.size == new->size && memcmp(now.data, new->data, new->size) == 0) found = NEW;
    else if (!s->way->fresh && now.size == old->size && memcmp(now.data, old->data, old->size) == 0) found = OLD;
    free(now.data);
    return found;
}

typedef struct outcome { which files; bool unfinished; size_t temporaries; } outcome;

/* Returns true if loading says that the save is unfinished. */
static bool is_unfinished(const scene *s, const char *what) {
    const char *path = in_folder(s->folder, s->way->files[0]);
    xir_diags_clear(why);
    const bool unfinished = xir_save_check(ctx, path, why) != XIR_OK;
    if (!unfinished) return false;
    xir_diags_clear(why);
    xir_network *net = xir_network_load(ctx, path, NULL, why);
    const xir_diag *d = xir_diags_at(why, 0);
    if (net || !d || d->code != XIR_E_CORRUPT || !strstr(d->message.data, "xir check --repair"))
        fail_msg("%s: %s: an unfinished save is loaded", s->way->name, what);
    xir_diags_clear(why);
    return true;
}

/* Both files are new then, and nothing else is left. */
static void finish(const scene *s, const char *what) {
    const char *path = in_folder(s->folder, s->way->files[0]);
    bool finished = false;
    const xir_status status = xir_save_finish(ctx, path, NULL, &finished, why);
    if (status) xir_diags_print(why, stderr);
    if (status || !finished || xir_save_check(ctx, path, why) || which_is(s, 0) != NEW || which_is(s, s->n - 1) != NEW)
        fail_msg("%s: %s: the save cannot be finished", s->way->name, what);
    if (temporaries(s, false)) fail_msg("%s: %s: something stays after the save is finished", s->way->name, what);
}

/* Classifies the files; fails if their combination is not allowed. An unfinished save is finished. */
static outcome look(const scene *s, const char *what) {
    outcome o = { .temporaries = temporaries(s, false), .unfinished = is_unfinished(s, what) };
    which first = which_is(s, 0), last = which_is(s, s->n - 1);
    if (first == NEITHER || last == NEITHER)
        fail_msg("%s: %s: a file is neither the old one nor the new one", s->way->name, what);
    if (first == NEW && last == OLD)
        fail_msg("%s: %s: a new structure is next to old parameters", s->way->name, what);
    if (first != last && !o.unfinished)
        fail_msg("%s: %s: an old structure is next to new parameters, and loading accepts it", s->way->name, what);
    if (o.unfinished) finish(s, what);
    o.files = last;
    if (s->way->link) {
        char link[16];
        ssize_t n = readlink(in_folder(s->folder, s->way->files[0]), link, sizeof link);
        if (n != 6 || memcmp(link, "target", 6) != 0) fail_msg("%s: %s: the link is missing", s->way->name, what);
    }
    return o;
}

/* ---- running ---------------------------------------------------------------------------------------------------- */

/* Runs with these words of strace before it, or none; returns the status from wait. */
static int run(const scene *s, const char *const *strace) {
    const char *words[24];
    char self[PATH_MAX], input[2 * PATH_MAX];
    size_t n = 0;
    ssize_t size = readlink("/proc/self/exe", self, sizeof self - 1);
    assert_true(size > 0);
    self[size] = '\0';
    for (; strace && *strace; strace++) words[n++] = *strace;
    if (s->way->save) {
        words[n++] = self, words[n++] = group_argv[0], words[n++] = "save";
        words[n++] = s->way->name, words[n++] = s->folder;
    } else {
#ifdef XIR_PROGRAM
        words[n++] = XIR_PROGRAM;
#endif
        snprintf(input, sizeof input, "%s/in.json", s->folder);
        words[n++] = "convert", words[n++] = input, words[n++] = in_folder(s->folder, s->way->files[0]);
    }
    words[n] = NULL;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        int quiet = open("/dev/null", O_WRONLY);
        personality(ADDR_NO_RANDOMIZE);   /* each run makes the same calls, where this is permitted */
        setenv("ASAN_OPTIONS", "detect_leaks=0:allocator_may_return_null=1", 1);   /* leak detection traces by itself */
        if (quiet >= 0) dup2(quiet, 1), dup2(quiet, 2);
        execvp(words[0], (char *const *)(uintptr_t)words);
        _exit(127);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

/* Makes the folder, the old files and, by an undisturbed run, the new ones. */
static void begin_scene(scene *s, const way *w, const char *prefix) {
    char name[64];
    snprintf(name, sizeof name, "%s%s", prefix, w->name);
    *s = (scene){ .way = w };
    snprintf(s->folder, sizeof s->folder, "%s", scratch(name));
    if (mkdir(s->folder, 0700) != 0) scratch_die("make", s->folder);
    while (s->n < MOST_FILES && w->files[s->n]) s->n++;
    xir_network *old = make_for(w, ctx, true), *new = make_for(w, ctx, false);
    if (!w->save) assert_int_equal(save_pair(new, in_folder(s->folder, "in.json"), why), XIR_OK);
    if (!w->fresh) {
        const char *path = in_folder(s->folder, w->files[0]);
        assert_int_equal(w->save ? w->save(old, path, why) : save_any(old, path, why), XIR_OK);
    }
    for (size_t i = 0; i < s->n && !w->fresh; i++)
        s->before[i].data = scratch_get(in_folder(s->folder, w->files[i]), &s->before[i].size);
    set_scene(s);
    int status = run(s, NULL);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    for (size_t i = 0; i < s->n; i++) {
        s->after[i].data = scratch_get(in_folder(s->folder, w->files[i]), &s->after[i].size);
        assert_non_null(s->after[i].data);
        assert_true(s->after[i].size != s->before[i].size);
    }
    xir_network_free(old);
    xir_network_free(new);
}

static void end_scene(scene *s) {
    for (size_t i = 0; i < s->n; i++) free(s->before[i].data), free(s->after[i].data);
}

/* ---- with strace ------------------------------------------------------------------------------------------------ */

/* A system call of the saving: which occurrence of its name. */
typedef struct call { char name[32]; int number; } call;
typedef struct calls {
    call   of[MOST_CALLS];
    size_t n, renames;
    int    unlinks;        /* before the saving: the runtime of a sanitizer unlinks a file when it starts */
} calls;

static char traced[PATH_MAX + 300];   /* where strace writes */

static bool strace_works(void) {
    const char *const words[] = { "strace", "-o", traced, "-e", "inject=fsync:signal=KILL", "true", NULL };
    pid_t child = fork();
    if (child == 0) {
        int quiet = open("/dev/null", O_WRONLY);
        if (quiet >= 0) dup2(quiet, 2);
        execvp(words[0], (char *const *)(uintptr_t)words);
        _exit(127);
    }
    int status = 0;
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Returns true for a line of a rename that was done. */
static bool is_rename(const char *line) {
    return (strncmp(line, "rename(", 7) == 0 || strncmp(line, "renameat2(", 10) == 0) && strstr(line, ") = 0");
}

/* The calls from the first one about the file to the last of all. */
static void list_calls(const scene *s, calls *c) {
    const char *const words[] = { "strace", "-o", traced, NULL };
    set_scene(s);
    int status = run(s, words);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    FILE *in = fopen(traced, "r");
    assert_non_null(in);
    char line[LINE];
    struct seen { char name[32]; int times; } seen[200];
    size_t n_seen = 0;
    bool begun = false;
    *c = (calls){ .n = 0 };
    while (fgets(line, sizeof line, in)) {
        size_t size = strcspn(line, "(");
        if (size == 0 || size >= sizeof seen->name || strncmp(line, "+++", 3) == 0 || strncmp(line, "---", 3) == 0 ||
            line[size] != '(') continue;
        c->renames += begun && is_rename(line);
        line[size] = '\0';
        size_t i = 0;
        while (i < n_seen && strcmp(seen[i].name, line) != 0) i++;
        if (i == n_seen) {
            assert_true(n_seen < COUNT(seen));
            seen[n_seen++] = (struct seen){ .times = 0 };
            memcpy(seen[i].name, line, size + 1);
        }
        seen[i].times++;
        bool execs = strcmp(line, "execve") == 0;
        begun |= !execs && strstr(line + size + 1, "/net.") != NULL;
        if (!begun) c->unlinks += strcmp(line, "unlink") == 0;
        if (!begun) continue;
        assert_true(c->n < MOST_CALLS);
        call *one = &c->of[c->n];
        *one = (call){ .number = seen[i].times };
        memcpy(one->name, line, size + 1);
        c->n++;
    }
    fclose(in);
    assert_true(c->n > 8 && c->renames == (s->n > 1 ? 3 : 1));    /* a pair has a journal too */
}

/* Returns true if a call was made to fail, and how many renames there were before it. */
static bool is_injected(size_t *renames) {
    FILE *in = fopen(traced, "r");
    char line[LINE];
    bool found = false;
    *renames = 0;
    while (in && !found && fgets(line, sizeof line, in)) {
        found = strstr(line, "(INJECTED)") != NULL;
        *renames += !found && is_rename(line);
    }
    if (in) fclose(in);
    return found;
}

/* Prepares the scene and runs with this done to one call. */
static int disturb(const scene *s, const call *c, const char *what, char *words_out, size_t room) {
    snprintf(words_out, room, "inject=%s:%s:when=%d", c->name, what, c->number);
    const char *const words[] = { "strace", "-o", traced, "-e", words_out, NULL };
    set_scene(s);
    return run(s, words);
}

static bool is_of(const char *list, const char *name) {
    size_t n = strlen(name);
    for (const char *p = list; (p = strstr(p, name)) != NULL; p += n)
        if ((p == list || p[-1] == ' ') && (p[n] == ' ' || !p[n])) return true;
    return false;
}

/* brk reports by its return value, not by an error. */
#define CANNOT_FAIL \
    "brk geteuid getegid getpid futex exit_group rt_sigaction rt_sigprocmask munmap sched_yield sigaltstack"
#define MEMORY      "mmap mremap mprotect madvise"
#define WRITES \
    "openat write pwrite64 writev fsync fdatasync rename renameat2 close fchmod fchown ftruncate fallocate"

/* Returns true if a call may occur in one run and not in the next: those for memory and threads depend on addresses and
 * on time. So do those by which the runtime of a sanitizer reads /proc/self/maps before the saving. */
static bool may_be_absent(const call *c) {
    if (IS_SANITIZED && is_of("openat read close", c->name)) return true;
    return is_of(CANNOT_FAIL, c->name) || is_of(MEMORY, c->name);
}

/* These leave all files as they are: a kill there leaves what a kill at the next call leaves. */
#define READS "read pread64 lseek fstat newfstatat stat lstat statx access faccessat2 readlink getrandom getcwd uname"

typedef struct phases { size_t before, between, unfinished, after, absent; } phases;

static void kill_at_each(const scene *s, const calls *c) {
    phases p = { 0 };
    char words[100];
    size_t kills = 0;
    for (size_t i = 0; i < c->n; i++) {
        const char *name = c->of[i].name;
        const bool last = i + 1 == c->n;
        if (!last && (is_of(READS, name) || is_of(CANNOT_FAIL, name) || is_of(MEMORY, name))) continue;
        kills++;
        int status = disturb(s, &c->of[i], "signal=KILL", words, sizeof words);
        for (int again = 0; again < 3 && WIFEXITED(status); again++)
            status = disturb(s, &c->of[i], "signal=KILL", words, sizeof words);
        if (WIFEXITED(status) && may_be_absent(&c->of[i])) {
            p.absent++;
            continue;
        }
        if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL) fail_msg("%s: %s does not kill", s->way->name, words);
        outcome o = look(s, words);
        if (o.unfinished) p.unfinished++;
        else if (o.files == NEW) p.after++;
        else if (o.temporaries) p.between++;
        else p.before++;
    }
    printf("%-15s %3zu kills: %zu before there was a temporary file, %zu before the first rename, %zu unfinished, "
           "%zu after\n", s->way->name, kills, p.before, p.between, p.unfinished, p.after);
    assert_true(p.before > 0 && p.between > 3 && p.after > 0 && p.absent * 8 < kills);
    assert_true((p.unfinished > 2) == (s->n > 1));
}

static bool has_failed(const char *error, const char *name) {
    if (is_of(CANNOT_FAIL, name)) return false;
    if (is_of(MEMORY, name)) return strcmp(error, "ENOMEM") == 0;
    if (strcmp(error, "EIO") == 0) return true;
    return strcmp(error, "ENOMEM") != 0 && is_of(WRITES, name);
}

static void fail_each(const scene *s, const calls *c) {
    static const char *const errors[] = { "EIO", "ENOMEM", "EINTR", "ENOSPC", "EDQUOT", "EROFS" };
    bool more = getenv("XIR_CRASH") != NULL;
    size_t reported = 0, survived = 0, renames;
    char words[100], what[40];
    for (size_t e = 0; e < (more ? COUNT(errors) : OFTEN(20) < 20 ? 1 : 3); e++) {
        snprintf(what, sizeof what, "error=%s", errors[e]);
        for (size_t i = 0; i < c->n; i++) {
            if (!has_failed(errors[e], c->of[i].name)) continue;
            int status = disturb(s, &c->of[i], what, words, sizeof words);
            bool injected = is_injected(&renames);
            if (!injected && may_be_absent(&c->of[i])) continue;
            if (!injected) fail_msg("%s: %s: no call was made to fail", s->way->name, words);
            if (!WIFEXITED(status)) fail_msg("%s: %s: it dies of signal %d", s->way->name, words, WTERMSIG(status));
            int code = WEXITSTATUS(status);
            outcome o = look(s, words);
            if (o.unfinished) fail_msg("%s: %s: the save is unfinished", s->way->name, words);
            const bool removes = strcmp(c->of[i].name, "unlink") == 0;    /* then what it removes stays */
            if (o.temporaries > removes) fail_msg("%s: %s: a temporary file stays", s->way->name, words);
            if (code == 0 && o.files != NEW)
                fail_msg("%s: %s: it reports success", s->way->name, words);
            if (code != 0 && renames < c->renames && o.files == NEW)
                fail_msg("%s: %s: the file is new, but a failure was reported", s->way->name, words);
            bool memory = is_of(MEMORY, c->of[i].name);
            if (code != 0 && code != EXIT_IO && !memory) fail_msg("%s: %s: exit code %d", s->way->name, words, code);
            if (code == 0) survived++;
            else reported++;
        }
    }
    printf("%-15s %3zu errors reported, %zu without effect\n", s->way->name, reported, survived);
    assert_true(reported > 5);
}

/* The temporary file when writing fails and removing it fails too, or the program is killed then. */
static void fail_twice(const scene *s, const calls *c) {
    static const char *const second[] = { "error=EIO", "signal=KILL" };
    for (size_t i = 0; i < COUNT(second); i++) {
        char unlinks[100];
        snprintf(unlinks, sizeof unlinks, "inject=unlink:%s:when=%d+", second[i], c->unlinks + 1);
        const char *const words[] = { "strace", "-o", traced, "-e", "inject=fsync:error=EIO", "-e", unlinks, NULL };
        set_scene(s);
        int status = run(s, words);
        outcome o = look(s, unlinks);
        assert_true(o.files == OLD && !o.unfinished);
        assert_true(o.temporaries > 0);
        assert_true(i == 0 ? WIFEXITED(status) && WEXITSTATUS(status) == EXIT_IO
                    : WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    }
    /* A leftover does not hinder the next save. */
    assert_int_equal(WEXITSTATUS(run(s, NULL)), 0);
    assert_int_equal(look(s, "again").files, NEW);
}

static void every_call_fails_and_kills(void **state) {
    const way *w = *state;
    if (!has_format(w->files[0])) {
        SKIP("%s: there is no such format", w->name);
    }
    snprintf(traced, sizeof traced, "%s", scratch("strace"));
    if (!strace_works()) {
        SKIP("%s: strace is missing, or may not trace", w->name);
    }
    static scene s;
    static calls c;
    begin_scene(&s, w, "");
    list_calls(&s, &c);
    kill_at_each(&s, &c);
    fail_each(&s, &c);
    fail_twice(&s, &c);
    end_scene(&s);
}

/* ---- without strace --------------------------------------------------------------------------------------------- */

/* The file system has little space: a write is short, and the next one fails. */
static void a_file_that_may_not_grow_stays_old(const scene *s) {
    size_t largest = 0, step;
    for (size_t i = 0; i < s->n; i++) largest = s->after[i].size > largest ? s->after[i].size : largest;
    step = largest / OFTEN(25) + 1;
    char most[24];
    size_t refused = 0;
    for (size_t size = 0; size <= largest; size += size + step > largest && size < largest ? largest - size : step) {
        snprintf(most, sizeof most, "%zu", size);
        setenv("CRASH_FILE_SIZE", most, 1);
        set_scene(s);
        int status = run(s, NULL);
        assert_true(WIFEXITED(status));
        outcome o = look(s, most);
        if (WEXITSTATUS(status) != (size < largest ? EXIT_IO : 0))
            fail_msg("%s: %s bytes: exit code %d", s->way->name, most, WEXITSTATUS(status));
        assert_true(o.files == (size < largest ? OLD : NEW) && !o.unfinished && !o.temporaries);
        refused += size < largest;
    }
    unsetenv("CRASH_FILE_SIZE");
    assert_true(refused >= 4);
}

static void writes_that_take_some_bytes_are_continued(const scene *s) {
    static const char *const sizes[] = { "1", "7", "4095" };
    for (size_t i = 0; i < COUNT(sizes); i++) {
        setenv("CRASH_AT_ONCE", sizes[i], 1);
        set_scene(s);
        int status = run(s, NULL);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        outcome o = look(s, sizes[i]);
        assert_true(o.files == NEW && !o.unfinished && !o.temporaries);
    }
    unsetenv("CRASH_AT_ONCE");
}

static void short_writes_are_continued_or_reported(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(all_ways); i++) {
        if (!all_ways[i].save || !has_format(all_ways[i].files[0])) continue;
        static scene s;
        begin_scene(&s, &all_ways[i], "short-");
        a_file_that_may_not_grow_stays_old(&s);
        writes_that_take_some_bytes_are_continued(&s);
        end_scene(&s);
    }
}

GROUP {
    if (group_argc == 4 && strcmp(group_argv[1], "save") == 0) return be_victim(group_argv[2], group_argv[3]);
    struct CMUnitTest tests[COUNT(all_ways) + 1] = { cmocka_unit_test(short_writes_are_continued_or_reported) };
    for (size_t i = 0; i < COUNT(all_ways); i++)
        tests[i + 1] = (struct CMUnitTest){ all_ways[i].name, every_call_fails_and_kills, NULL, NULL,
                                            (void *)(uintptr_t)&all_ways[i] };
    scratch_make();
    return RUN_GROUP(tests);
}
