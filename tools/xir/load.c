/* Files into networks. Ordinary files are left to the library, which knows how to read and map them; standard input and pipes
 * can be read only once, so their bytes are taken here. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cli.h"

load_options load_args;

enum { HEAD = 256 };

/* ---- bytes --------------------------------------------------------------------------------------- */

static int cannot_read(const char *name, int error) {
    return complain_of(REFUSED, name, "cannot be read: %s", strerror(error));
}

/* Reads up to `most` bytes more. */
static int read_some(int fd, const char *name, text *to, size_t most) {
    char block[1 << 16];
    while (most) {
        ssize_t n = read(fd, block, most < sizeof block ? most : sizeof block);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return cannot_read(name, errno);
        if (n == 0) break;
        text_add(to, block, (size_t)n);
        most -= (size_t)n;
    }
    return DONE;
}

/* Opens a path, "-" for standard input. *regular if it is an ordinary file. */
static int open_file(const char *path, const char *name, int *fd, bool *regular) {
    bool standard = strcmp(path, "-") == 0;
    *fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (*fd < 0) return cannot_read(name, errno);
    struct stat s;
    if (fstat(*fd, &s) != 0) return cannot_read(name, errno);
    if (S_ISDIR(s.st_mode)) return cannot_read(name, EISDIR);
    *regular = !standard && S_ISREG(s.st_mode);
    return DONE;
}

static void close_file(int fd) {
    if (fd > STDIN_FILENO) close(fd);
}

/* The whole of what is no ordinary file. */
static int read_stream(const char *path, const char *name, text *to) {
    int fd = -1;
    bool regular;
    int code = open_file(path, name, &fd, &regular);
    if (!code) code = read_some(fd, name, to, SIZE_MAX);
    close_file(fd);
    return code;
}

char *structure_bytes(loaded *l, size_t *size) {
    *size = l->size;
    if (l->bytes) return l->bytes;
    text all = { 0 };
    text_add(&all, "", 0);
    if (read_stream(l->path, l->name, &all)) text_free(&all);
    *size = all.size;
    return all.data;
}

/* ---- structure ----------------------------------------------------------------------------------- */

/* What the input is: as the user says, by content, by name. */
static int choose_format(loaded *l, const char *from, const text *head) {
    if (from) {
        l->format = format_named(from);
        if (!l->format) return MISUSED;
    } else {
        l->format = format_of_content((const unsigned char *)head->data, head->size);
        if (!l->format && l->path) l->format = format_of_name(l->path);
        if (!l->format && head->size == 0) return complain_of(FAULTY, l->name, "the file is empty");
        if (!l->format) return complain_of(FAULTY, l->name, "neither content nor name tells the format; --from says it: %s", format_words());
    }
    if (!l->format->read) return complain_of(MISUSED, l->name, "this build cannot read %s", l->format->word);
    return DONE;
}

/* The first failure's code among findings. */
static int code_of(const xir_diags *why) {
    for (size_t i = 0; i < xir_diags_count(why); i++) {
        const xir_diag *diag = xir_diags_at(why, i);
        if (diag->severity == XIR_ERROR) return exit_of(diag->code) ? exit_of(diag->code) : FAULTY;
    }
    return REFUSED;   /* no finding: there was no memory for one */
}

int load_structure(loaded *l, const char *path, const char *from, xir_diags *why) {
    bool standard = strcmp(path, "-") == 0;
    l->name = standard ? "<stdin>" : path;
    l->path = standard ? NULL : path;
    text head = { 0 };
    int fd = -1;
    int code = open_file(path, l->name, &fd, &l->regular);
    text_add(&head, "", 0);
    if (!code) code = read_some(fd, l->name, &head, l->regular ? HEAD : SIZE_MAX);
    if (!code) code = choose_format(l, from, &head);
    close_file(fd);
    if (l->regular || code) {
        text_free(&head);
    } else {
        l->bytes = head.data;
        l->size = head.size;
    }
    if (code) return code;
    l->net = l->format->read(l, why);
    return l->net ? DONE : code_of(why);
}

/* ---- parameters ---------------------------------------------------------------------------------- */

char *beside(const char *path, const char *suffix) {
    size_t stem = strlen(path);
    const char *old = suffix_of(path);
    if (*old) stem = (size_t)(old - path) - 1;
    text t = { 0 };
    text_add(&t, path, stem);
    text_put(&t, ".");
    text_put(&t, suffix);
    return t.data;
}

/* The parameter file that lies beside a structure file, NULL if there is none. */
static char *find_params(const loaded *l) {
    static const char *const suffixes[] = { "raw", "params" };
    for (size_t i = 0; i < 2 && l->regular; i++) {
        char *path = beside(l->path, suffixes[i]);
        struct stat s;
        bool there = stat(path, &s) == 0 || (errno != ENOENT && errno != ENOTDIR && errno != ENAMETOOLONG);
        if (there && strcmp(path, l->path) != 0) return path;
        free(path);
    }
    return NULL;
}

int load_params(loaded *l, const char *params, unsigned flags, bool *found, xir_diags *why) {
    *found = false;
    if (params && strcmp(params, "-") == 0) {
        text all = { 0 };
        text_add(&all, "", 0);
        if (!l->path) {
            text_free(&all);
            return complain(MISUSED, "the structure and the parameters cannot both come from standard input");
        }
        int code = read_stream("-", "<stdin>", &all);
        l->params_bytes = all.data;
        if (code) return code;
        *found = true;
        l->params_path = join("<stdin>", "");
        return exit_of(xir_raw_read(l->net, all.data, all.size, flags, why));
    }
    l->params_path = params ? join(params, "") : find_params(l);
    if (!l->params_path) return DONE;
    *found = true;
    return exit_of(xir_raw_load(l->net, l->params_path, flags, why));
}

bool lacks_params(const xir_network *net) {
    size_t n = xir_network_params(net, NULL, 0);
    xir_value **params = take(n, sizeof *params);
    xir_network_params(net, params, n);
    bool lacks = false;
    for (size_t i = 0; i < n && !lacks; i++) {
        lacks = !xir_params_has_data(params[i]) && !xir_params_allow_no_data(params[i]);
    }
    free((void *)params);
    return lacks;
}

int load(loaded *l, const char *path, unsigned flags) {
    if (load_args.params && load_args.no_params) return complain(MISUSED, "--params and --no-params contradict each other");
    xir_diags *why = new_diags();
    if (load_args.lazy) flags |= XIR_LOAD_LAZY;
    int code = load_structure(l, path, load_args.from, why);
    bool found = false;
    if (!code && !load_args.no_params) {
        code = load_params(l, load_args.params, flags, &found, why);
        if (!code && !found && lacks_params(l->net)) {
            xir_diags_put(why, &(xir_diag){
                .severity = XIR_WARNING, .file = xir_str_of(l->name), .byte = XIR_NO_BYTE,
                .message = XIR_STR("there is no parameter file beside it: the structure alone is taken") });
        }
    }
    say(why);
    xir_diags_free(why);
    return code;
}

void unload(loaded *l) {
    xir_network_free(l->net);
    free(l->bytes);
    free(l->params_path);
    free(l->params_bytes);
    *l = (loaded){ 0 };
}
