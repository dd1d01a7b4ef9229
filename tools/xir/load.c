/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Files into networks. Ordinary files are left to the library, which knows how to read and map them; standard input
 * and pipes can be read only once, so their bytes are taken here. A structure with its parameters next to it is read
 * in two steps, so that its contents are known even if the parameters are faulty. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xir/deepx.h>
#include "cli.h"

load_options load_args;

/* ---- bytes --------------------------------------------------------------------------------------- */

static int cannot_read(const char *name, int error) {
    return complain_of(REFUSED, name, "cannot be read: %s", strerror(error));
}

/* Returns the number of bytes that are read of a file without a size. */
static uint64_t most_of_stream(void) {
    xir_limits limits = XIR_INIT(xir_limits);
    if (xir_context_limits(context, &limits, NULL)) return SIZE_MAX / 4;
    return limits.max_stream < limits.max_bytes ? limits.max_stream : limits.max_bytes;
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

/* Reads the rest of a file without a size. It may never end. */
static int read_to_end(int fd, const char *name, text *to) {
    uint64_t most = most_of_stream();
    size_t all = most < SIZE_MAX / 4 ? (size_t)most + 1 : SIZE_MAX / 4;
    int code = read_some(fd, name, to, all > to->size ? all - to->size : 0);
    if (code || to->size <= most) return code;
    return complain_of(FAULTY, name, "it has more than %llu bytes, which is the limit; --max-bytes raises it",
                       (unsigned long long)most);
}

/* Opens a path, "-" for standard input. *regular: it is an ordinary file, of *total bytes. */
static int open_file(const char *path, const char *name, int *fd, bool *regular, uint64_t *total) {
    bool standard = strcmp(path, "-") == 0;
    *fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (*fd < 0) return cannot_read(name, errno);
    struct stat s;
    if (fstat(*fd, &s) != 0) return cannot_read(name, errno);
    if (S_ISDIR(s.st_mode)) return cannot_read(name, EISDIR);
    *regular = !standard && S_ISREG(s.st_mode);
    *total = *regular ? (uint64_t)s.st_size : XIR_NO_BYTE;
    return DONE;
}

static void close_file(int fd) {
    if (fd > STDIN_FILENO) close(fd);
}

/* The bytes of a file without a size that are read before its beginning must be that of its format. */
enum { HEAD = 256 << 10 };

static int read_head(int fd, const char *name, text *to) {
    const uint64_t most = most_of_stream();
    return read_some(fd, name, to, most < HEAD ? (size_t)most : HEAD);
}

/* All bytes of what is not an ordinary file. */
static int read_stream(const char *path, const char *name, text *to) {
    int fd = -1;
    bool regular;
    uint64_t total;
    int code = open_file(path, name, &fd, &regular, &total);
    if (!code) code = read_to_end(fd, name, to);
    close_file(fd);
    return code;
}

int structure_bytes(loaded *l, char **bytes, size_t *size) {
    *size = l->size;
    *bytes = l->format->text ? l->bytes : NULL;
    if (!l->format->text || l->bytes) return DONE;
    text all = { 0 };
    text_add(&all, "", 0);
    const int code = read_stream(l->path, l->name, &all);
    if (code) text_free(&all);
    *size = all.size;
    *bytes = all.data;
    return code;
}

/* ---- structure ----------------------------------------------------------------------------------- */

/* Chooses the format of the input: as the user says, by content, by name. */
static int choose_format(loaded *l, const char *from, const text *head, uint64_t total) {
    if (from) {
        l->format = format_named(from);
        if (!l->format) return MISUSED;
    } else {
        l->format = format_of(head->data, head->size, total, l->path);
        if (!l->format && head->size == 0) return complain_of(FAULTY, l->name, "the file is empty");
        if (!l->format)
            return complain_of(FAULTY, l->name,
                               "neither the content nor the name identifies the format: --from sets it, to one of %s",
                               format_words());
    }
    if (!l->format->reads) return complain_of(MISUSED, l->name, "this build cannot read %s", l->format->name);
    return DONE;
}

int code_of(const xir_diags *why) {
    for (size_t i = 0; i < xir_diags_count(why); i++) {
        const xir_diag *diag = xir_diags_at(why, i);
        if (diag->severity != XIR_ERROR) continue;
        /* A byte is of a file: that it cannot be read is due to what it contains, an unknown version for example. */
        const bool content = diag->code == XIR_E_UNSUPPORTED && diag->byte != XIR_NO_BYTE;
        return content || !exit_of(diag->code) ? FAULTY : exit_of(diag->code);
    }
    return REFUSED;   /* no finding: there was no memory for one */
}

/* A file without a size may never end: its beginning must be that of a format before the rest is read. */
static int read_whole(loaded *l, int fd, const char *from, text *to, xir_diags *why) {
    int code = read_head(fd, l->name, to);
    if (code || to->size < HEAD) return code ? code : read_to_end(fd, l->name, to);
    code = choose_format(l, from, to, XIR_NO_BYTE);
    if (code) return code;
    const bool begins = xir_format_may_begin(context, l->format->name, to->data, to->size, xir_str_of(l->name), why);
    return begins ? read_to_end(fd, l->name, to) : code_of(why);
}

/* Opens the input: detects its format, and reads all of it if that is possible only once. */
static int open_input(loaded *l, const char *path, const char *from, xir_diags *why) {
    bool standard = strcmp(path, "-") == 0;
    l->name = standard ? "<stdin>" : path;
    l->path = standard ? NULL : path;
    xir_deepx_as_calls(context, load_args.as_calls);
    progress_begin("reading", l->name);
    text head = { 0 };
    int fd = -1;
    uint64_t total = 0;
    int code = standard || !xir_save_check(context, path, why) ? DONE : code_of(why);
    if (!code) code = open_file(path, l->name, &fd, &l->regular, &total);
    text_add(&head, "", 0);
    if (!code) code = l->regular ? read_some(fd, l->name, &head, XIR_PROBE_HEAD) : read_whole(l, fd, from, &head, why);
    if (!code) code = choose_format(l, from, &head, l->regular ? total : head.size);
    close_file(fd);
    if (l->regular || code) {
        text_free(&head);
    } else {
        l->bytes = head.data;
        l->size = head.size;
    }
    return code;
}

/* Bytes in memory are not copied: they are kept until the end. For a structure alone the rest of the file is not
 * read. */
static int read_input(const loaded *l, xir_load_options o, xir_network **net, xir_diags *why) {
    o.format = l->format->name;
    o.progress = progress_bytes;
    if (!l->regular || o.no_params) o.lazy = true;
    if (!l->bytes) *net = xir_network_load(context, l->path, &o, why);
    else *net = xir_network_read(context, l->bytes, l->size, xir_str_of(l->name), &o, why);
    return *net ? DONE : code_of(why);
}

int load_structure(loaded *l, const char *path, const char *from, xir_diags *why) {
    int code = open_input(l, path, from, why);
    if (!code) code = read_input(l, XIR_INIT(xir_load_options, .no_params = true), &l->net, why);
    progress_end();
    return code;
}

/* ---- parameters ---------------------------------------------------------------------------------- */

/* The parameter file that lies next to a structure file; *path is NULL if there is none, or it belongs to something
 * else. */
static xir_status find_params(const loaded *l, char **path, xir_diags *why) {
    const char *word = l->format->name;
    size_t size = 0;
    *path = NULL;
    xir_status status = l->regular ? xir_network_params_file(l->net, word, l->path, NULL, 0, &size, why) : XIR_OK;
    if (status || !size) return status;
    *path = take(size + 1, 1);
    return xir_network_params_file(l->net, word, l->path, *path, size + 1, &size, why);
}

static int no_other_file(const loaded *l) {
    return complain_of(MISUSED, l->name, "parameters of %s are inside the file: --params is for %s", l->format->name,
                       formats_that(format_is_pair));
}

static xir_load_options options_of(const loaded *l, unsigned flags) {
    bool lazy = flags & XIR_LOAD_LAZY;
    bool compare = lazy ? flags & XIR_LOAD_MD5 : !(flags & XIR_LOAD_NO_MD5);
    const bool meanwhile = lazy && !compare && flags & LOAD_MEANWHILE;
    return XIR_INIT(xir_load_options, .format = l->format->name, .lazy = lazy,
                    .verify = compare ? XIR_VERIFY_FULL : meanwhile ? XIR_VERIFY_MEANWHILE : XIR_VERIFY_HEADER,
                    .progress = progress_bytes);
}

/* All bytes of standard input, which may never end: its beginning must be that of a parameter file. */
static int read_standard_params(const loaded *l, text *to, xir_diags *why) {
    int code = read_head(STDIN_FILENO, "<stdin>", to);
    if (code || to->size < HEAD) return code ? code : read_to_end(STDIN_FILENO, "<stdin>", to);
    const bool begins = xir_params_may_begin(context, l->format->name, to->data, to->size, XIR_STR("<stdin>"), why);
    return begins ? read_to_end(STDIN_FILENO, "<stdin>", to) : code_of(why);
}

/* The list may have findings about the structure before the one of the call. */
static int code_of_params(xir_status status, const xir_diags *why) {
    return status == XIR_E_UNSUPPORTED ? code_of(why) : exit_of(status);
}

static int read_params(loaded *l, const char *params, unsigned flags, bool *found, xir_diags *why) {
    if (params && strcmp(params, "-") == 0) {
        text all = { 0 };
        text_add(&all, "", 0);
        if (!l->path) {
            text_free(&all);
            return complain(MISUSED, "the structure and the parameters cannot both come from standard input");
        }
        progress_begin("reading", "<stdin>");
        int code = read_standard_params(l, &all, why);
        l->params_bytes = all.data;
        if (code) return code;
        *found = true;
        l->params_path = join("<stdin>", "");
        const xir_load_options o = options_of(l, flags);
        return code_of_params(xir_network_read_params(l->net, all.data, all.size, XIR_STR(""), &o, why), why);
    }
    free(l->params_path);   /* of the file that was tried before */
    l->params_path = NULL;
    xir_status status = XIR_OK;
    if (params) l->params_path = join(params, "");
    else status = find_params(l, &l->params_path, why);
    if (status || !l->params_path) return exit_of(status);
    *found = true;
    progress_begin("reading", l->params_path);
    const xir_load_options o = options_of(l, flags);
    return code_of_params(xir_network_load_params(l->net, l->params_path, &o, why), why);
}

/* A text, which may have its parameters inside: no file next to it is looked for, or found missing. */
static int read_text(loaded *l, xir_network **net, xir_diags *why) {
    const xir_load_options o = XIR_INIT(xir_load_options, .format = l->format->name, .progress = progress_bytes);
    int code = DONE;
    xir_diags *said = new_diags();
    *net = NULL;
    if (!l->bytes) code = structure_bytes(l, &l->bytes, &l->size);
    if (!code) *net = xir_network_read(context, l->bytes, l->size, xir_str_of(l->name), &o, said);
    for (size_t i = 0; !*net && i < xir_diags_count(said); i++) xir_diags_append(why, xir_diags_at(said, i));
    if (!code && !*net) code = code_of(said);
    xir_diags_free(said);
    return code;
}

static bool may_have_inside(const loaded *l) { return strcmp(l->format->name, "text") == 0; }

/* Gives the Params of a structure the bytes that its text has. */
static int take_inside(loaded *l, bool *found, xir_diags *why) {
    xir_network *net;
    int code = read_text(l, &net, why);
    const size_t n = net ? xir_network_params(net, NULL, 0) : 0;
    *found = net && !lacks_params(net);
    xir_value **from = take(n, sizeof *from), **to = take(n, sizeof *to);
    if (*found && xir_network_params(l->net, to, n) == n && xir_network_params(net, from, n) == n) {
        for (size_t i = 0; i < n && !code; i++) {
            uint64_t size;
            const void *data = xir_params_data(from[i], &size);
            if (data) code = exit_of(xir_params_set_copy(to[i], data, size));
        }
    }
    free((void *)from);
    free((void *)to);
    xir_network_free(net);
    return code;
}

int load_params(loaded *l, const char *params, unsigned flags, bool *found, xir_diags *why) {
    *found = false;
    if (!l->format->pair) return params ? no_other_file(l) : DONE;
    int code = may_have_inside(l) && !params && lacks_params(l->net) ? take_inside(l, found, why) : DONE;
    if (!code && !*found) code = read_params(l, params, flags, found, why);
    progress_end();
    return code;
}

int check_inside(loaded *l, unsigned flags, bool *found, xir_diags *why) {
    xir_network *net = NULL;
    xir_network_free(l->net);   /* a large file's network is in memory once */
    l->net = NULL;
    progress_begin("reading", l->name);
    int code = read_input(l, options_of(l, flags), &net, why);
    progress_end();
    *found = code || !lacks_params(net);
    xir_network_free(net);
    return code;
}

void take_constants(loaded *l, xir_diags *why) {
    xir_network *net = NULL;
    bool found;
    if (l->format->pair) {
        struct stat s;   /* a pipe has been read then */
        const bool again = !load_args.params || (stat(load_args.params, &s) == 0 && !S_ISFIFO(s.st_mode));
        if (l->regular && again) (void)load_params(l, load_args.params, XIR_LOAD_LAZY, &found, why);
    } else if (read_input(l, XIR_INIT(xir_load_options, .lazy = true), &net, why) == DONE) {
        xir_network_free(l->net);
        l->net = net;
        (void)fix_inputs(l->net, why);   /* which it has been once */
    }
    xir_diags_clear(why);
}

static bool any_params(const xir_network *net, bool (*is)(const xir_value *)) {
    size_t n = xir_network_params(net, NULL, 0);
    xir_value **params = take(n, sizeof *params);
    xir_network_params(net, params, n);
    bool any = false;
    for (size_t i = 0; i < n && !any; i++) any = is(params[i]);
    free((void *)params);
    return any;
}

static bool lacks(const xir_value *v) { return !xir_params_has_data(v) && !xir_params_allow_no_data(v); }
static bool has(const xir_value *v) {
    uint64_t size = 0;
    return xir_params_data(v, &size) && size;
}

bool lacks_params(const xir_network *net) { return any_params(net, lacks); }
bool keeps_params(const xir_network *net)   { return any_params(net, has); }

/* ---- both ---------------------------------------------------------------------------------------- */

/* Refuses, before the parameters are read, what the output format cannot hold. */
static int check_sizes(const loaded *l, const xir_network *net, xir_diags *why) {
    if (!l->written_as || load_args.no_params) return DONE;
    xir_diags *said = new_diags();
    const int code = exit_of_writing(xir_network_check_sizes(net, l->written_as->name, said));
    for (size_t i = 0; i < xir_diags_count(said); i++) {
        xir_diag diag = *xir_diags_at(said, i);
        diag.file = xir_str_of(l->name);
        xir_diags_append(why, &diag);
    }
    xir_diags_free(said);
    return code;
}

static int load_pair(loaded *l, unsigned flags, bool *found, xir_diags *why) {
    const bool whole = may_have_inside(l) && !load_args.no_params && !load_args.params;
    int code = whole ? read_text(l, &l->net, why)
                     : read_input(l, XIR_INIT(xir_load_options, .no_params = true), &l->net, why);
    if (!code) code = check_names(l->net, l->name);
    if (!code) code = check_sizes(l, l->net, why);
    if (!code && whole) *found = !lacks_params(l->net);
    if (code || load_args.no_params || *found) return code;
    if (whole) code = read_params(l, NULL, flags, found, why);
    else code = load_params(l, load_args.params, flags, found, why);
    progress_end();
    return code;
}

/* The same of a file that has them inside: its structure is read twice if it is large, or if options name parts. */
static int check_structure(const loaded *l, xir_diags *why) {
    enum { LARGE = 1 << 30 };
    struct stat s;
    xir_network *net = NULL;
    const bool large = l->written_as && l->regular && stat(l->path, &s) == 0 && s.st_size >= LARGE;
    if (!large && !has_names()) return DONE;
    xir_diags *said = new_diags();   /* the whole file has the same findings */
    int code = DONE;
    if (!read_input(l, XIR_INIT(xir_load_options, .no_params = true), &net, said)) code = check_names(net, l->name);
    if (net && !code && large) code = check_sizes(l, net, why);
    xir_network_free(net);
    xir_diags_free(said);
    return code;
}

static int load_one(loaded *l, unsigned flags, bool *found, xir_diags *why) {
    if (load_args.params) return no_other_file(l);
    xir_load_options o = options_of(l, flags);
    o.no_params = load_args.no_params;
    int code = check_structure(l, why);
    if (code) return code;
    code = read_input(l, o, &l->net, why);
    if (code == FAULTY && !o.no_params)
        (void)read_input(l, XIR_INIT(xir_load_options, .no_params = true), &l->net, NULL);
    *found = code || keeps_params(l->net);
    if (!code && *found) l->params_path = join(l->name, "");
    return code;
}

/* Files that are mapped and watched stay open: a model may name thousands. */
static void allow_files(void) {
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) || files.rlim_cur == files.rlim_max) return;
    files.rlim_cur = files.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &files);
}

int load(loaded *l, const char *path, unsigned flags) {
    if (load_args.params && load_args.no_params)
        return complain(MISUSED, "--params and --no-params contradict each other");
    if (load_args.lazy && load_args.eager)
        return complain(MISUSED, "--lazy and --eager contradict each other");
    if (load_args.lazy || (flags & LOAD_MAPPED && !load_args.eager)) flags |= XIR_LOAD_LAZY;
    if (flags & LOAD_MEANWHILE) allow_files();
    bool found = false;
    xir_diags *why = new_diags();
    int code = open_input(l, path, load_args.from, why);
    if (code) {
        say(why);
        xir_diags_free(why);
        return code;
    }
    code = l->format->pair ? load_pair(l, flags, &found, why) : load_one(l, flags, &found, why);
    l->alone = !code && (load_args.no_params || !found) && lacks_params(l->net);
    if (l->alone && !load_args.no_params) {
        xir_diags_append(why, &(xir_diag){
            .severity = XIR_WARNING, .file = xir_str_of(l->name), .byte = XIR_NO_BYTE,
            .message = l->format->pair ? XIR_STR("there is no parameter file next to it: the structure alone is read")
                                       : XIR_STR("there are no parameters in it: the structure alone is read") });
    }
    if (!code) code = fix_inputs(l->net, why);
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
