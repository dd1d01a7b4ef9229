/* xir convert: reads one format, writes another. The network is not judged: what decodes is written. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "cli.h"

static const char *to_word, *out_params;
static bool        indent;

/* What comes out: as the user says, or by its name. What has no suffix, like a device, gets JSON. */
static const file_format *choose_output(const char *path) {
    const file_format *f = NULL;
    if (to_word) {
        f = format_named(to_word);
    } else if (strcmp(path, "-") == 0 || !*suffix_of(path)) {
        f = format_named("json");
    } else {
        f = format_of_name(path);
        if (!f) complain_of(MISUSED, path, "the name does not tell the format; --to says it: %s", format_words());
    }
    if (!f) return NULL;
    if (!f->writes) {
        complain_of(MISUSED, path, "this build cannot write %s", f->word);
        return NULL;
    }
    return f;
}

/* Whether a file can lie beside this one: not beside what is there and no ordinary file. */
static bool has_neighbours(const char *path) {
    struct stat s;
    return strcmp(path, "-") != 0 && (stat(path, &s) != 0 || S_ISREG(s.st_mode));
}

static bool some_bytes(const loaded *l) {
    if (l->params_path) return true;
    size_t n = xir_network_params(l->net, NULL, 0);
    xir_value **params = take(n, sizeof *params);
    xir_network_params(l->net, params, n);
    bool some = false;
    for (size_t i = 0; i < n && !some; i++) {
        uint64_t size = 0;
        some = xir_params_data(params[i], &size) && size;
    }
    free((void *)params);
    return some;
}

static xir_status write_json(const loaded *l, const char *out, const char *params, xir_diags *why) {
    unsigned flags = XIR_SAVE_UNCHECKED | (indent ? XIR_SAVE_INDENT : 0);
    bool params_first = params && (strcmp(params, "-") == 0 || strcmp(out, "-") == 0);
    xir_status status = XIR_OK;
    if (params && !params_first) return xir_json_raw_save(l->net, out, params, flags, why);
    if (params_first && strcmp(params, "-") == 0) status = xir_raw_write(l->net, write_to, stdout, why);
    else if (params_first) status = xir_raw_save(l->net, params, why);
    if (status) return status;
    if (strcmp(out, "-") != 0) return xir_json_save(l->net, out, flags, why);
    return xir_json_write(l->net, indent ? 4 : 0, write_to, stdout, why);
}

static void warn(xir_diags *why, const char *file, const char *sentence) {
    xir_diags_put(why, &(xir_diag){
        .severity = XIR_WARNING, .file = xir_str_of(file), .byte = XIR_NO_BYTE, .message = xir_str_of(sentence) });
}

static int write_all(loaded *l, const char *out) {
    xir_diags *why = new_diags();
    char *neighbour = NULL;
    const char *params = NULL;
    if (some_bytes(l)) {
        if (!out_params && has_neighbours(out)) neighbour = beside(out, "raw");
        params = out_params ? out_params : neighbour;
        if (!params) warn(why, strcmp(out, "-") == 0 ? "<stdout>" : out, "the parameters are not written; --out-params says where to");
    } else if (out_params) {
        warn(why, out_params, "is not written: there are no parameters");
    }
    int code = DONE;
    if (neighbour && strcmp(neighbour, out) == 0) {
        code = complain_of(MISUSED, out, "its parameters would get the same name; --out-params says where to write them");
    } else {
        note_old_keys(l, why);   /* before the file is written over */
        code = exit_of(write_json(l, out, params, why));
    }
    say(why);
    xir_diags_free(why);
    free(neighbour);
    return code;
}

static int run(int n, char **operands) {
    (void)n;
    const char *in = operands[0], *out = operands[1];
    const file_format *to = choose_output(out);
    if (!to) return MISUSED;
    if (out_params && load_args.no_params) return complain(MISUSED, "--out-params and --no-params contradict each other");
    if (out_params && strcmp(out_params, out) == 0) {
        return complain(MISUSED, "the structure and the parameters cannot both go to %s", strcmp(out, "-") == 0 ? "standard output" : out);
    }
    loaded l = { 0 };
    int code = load(&l, in, 0);
    if (!code) code = write_all(&l, out);
    unload(&l);
    return code;
}

static const option options[] = {
    PARAMS_OPTION,
    { "out-params", "Q", &out_params, "where parameters are written" },
    NO_PARAMS_OPTION, LAZY_OPTION,
    { "indent", NULL, &indent, "write JSON indented by four blanks" },
    FROM_OPTION,
    { "to", "FORMAT", &to_word, "the format of the output, whatever its name" },
    { 0 },
};

const command convert_command = {
    .name = "convert", .operands = "IN OUT", .summary = "reads a network and writes it, in another format perhaps",
    .details = "The format of IN is told by its content, then by its name; that of OUT by its name. The parameters of X.json are in\n"
               "X.raw, or X.params, beside it; they are written to X.raw. Nothing is judged (see xir check), and the spelling of the\n"
               "network's own version is kept.\n",
    .options = options, .least = 2, .most = 2, .run = run,
};
