/* xir convert: reads one format, writes another. The network is not judged: what decodes is written. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "cli.h"

static const char *to_word, *out_params, *align_word;
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

/* Options that only some formats have. */
static int check_options(const file_format *to, const char *out, xir_save_options *o) {
    *o = (xir_save_options){ .format = to->word, .unchecked = true, .indent = indent };
    if (out_params && load_args.no_params) return complain(MISUSED, "--out-params and --no-params contradict each other");
    if (out_params && !to->pair)
        return complain_of(MISUSED, out, "parameters of %s are inside the file: --out-params is of json", to->word);
    if (out_params && strcmp(out_params, out) == 0) {
        return complain(MISUSED, "the structure and the parameters cannot both go to %s", strcmp(out, "-") == 0 ? "standard output" : out);
    }
    if (indent && !to->text) return complain_of(MISUSED, out, "%s is no text: --indent is of json", to->word);
    if (!align_word) return DONE;
    if (strcmp(to->word, "fb") != 0) return complain_of(MISUSED, out, "nothing is aligned in %s: --align is of fb", to->word);
    char *end;
    unsigned long long n = strtoull(align_word, &end, 10);
    if (end == align_word || *end || n == 0 || n > 1u << 30 || n & (n - 1)) {
        return complain(MISUSED, "--align takes a power of two up to 2^30, not '%s'", align_word);
    }
    o->align = (uint32_t)n;
    return DONE;
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

static int write_pair(loaded *l, const char *out, xir_diags *why) {
    char *neighbour = NULL;
    const char *params = NULL;
    if (l->params_path || keeps_params(l->net)) {
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
    free(neighbour);
    return code;
}

static int write_one(loaded *l, const char *out, const xir_save_options *o, xir_diags *why) {
    note_old_keys(l, why);
    if (strcmp(out, "-") == 0) return exit_of(xir_network_write(l->net, write_to, stdout, o, why));
    return exit_of(xir_network_save(l->net, out, o, why));
}

static int run(int n, char **operands) {
    (void)n;
    const char *in = operands[0], *out = operands[1];
    const file_format *to = choose_output(out);
    xir_save_options o;
    int code = to ? check_options(to, out, &o) : MISUSED;
    if (code) return code;
    loaded l = { 0 };
    code = load(&l, in, 0);
    if (!code) {
        xir_diags *why = new_diags();
        progress_writing(out_params && strcmp(out_params, "-") == 0 ? "-" : out);
        code = to->pair ? write_pair(&l, out, why) : write_one(&l, out, &o, why);
        say(why);
        xir_diags_free(why);
    }
    unload(&l);
    return code;
}

static const option options[] = {
    PARAMS_OPTION,
    { "out-params", "Q", &out_params, "where parameters are written" },
    NO_PARAMS_OPTION, LAZY_OPTION,
    { "indent", NULL, &indent, "write JSON indented by four blanks" },
    { "align", "N", &align_word, "fb: where each parameter begins is a multiple of N (4096)" },
    FROM_OPTION,
    { "to", "FORMAT", &to_word, "the format of the output, whatever its name" },
    { 0 },
};

const command convert_command = {
    .name = "convert", .operands = "IN OUT", .summary = "reads a network and writes it, in another format perhaps",
    .details = "The format of IN is told by its content, then by its name; that of OUT by its name. The parameters of X.json are in\n"
               "X.raw, or X.params, beside it; they are written to X.raw. Other formats have them inside. Nothing is judged (see\n"
               "xir check), and the spelling of the network's own version is kept.\n",
    .options = options, .least = 2, .most = 2, .run = run,
};
