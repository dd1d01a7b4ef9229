/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Writing a network, as the options of the commands ask. The network is not checked here. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "cli.h"

save_options save_args;

/* The output format: the one that the user names, or by the name of the file. A name without a suffix, like that of a
 * device, gets JSON. */
const file_format *choose_output(const char *path) {
    const file_format *f = NULL;
    if (save_args.to) {
        f = format_named(save_args.to);
    } else if (strcmp(path, "-") == 0 || !*suffix_of(path)) {
        f = format_named("json");
    } else {
        f = format_of(NULL, 0, 0, path);
        if (!f) complain_of(MISUSED, path, "the name does not tell the format; --to sets it: %s", format_words());
    }
    if (!f) return NULL;
    if (!f->writes) {
        complain_of(MISUSED, path, "this build cannot write %s", f->name);
        return NULL;
    }
    return f;
}

/* Returns true if a file can be next to this one: not if it exists and is not an ordinary file. */
static bool has_neighbours(const char *path) {
    struct stat s;
    return strcmp(path, "-") != 0 && (stat(path, &s) != 0 || S_ISREG(s.st_mode));
}

static bool is_indented(const file_format *f) { return f->indents; }
static bool is_aligned(const file_format *f) { return f->aligns; }
static bool is_plain(const file_format *f) { return f->plains; }
static bool is_split(const file_format *f) { return f->splits; }

/* --inline and --no-ids. */
static int take_inline(const char *out, const file_format *to, xir_save_options *o) {
    const bool is_text = strcmp(to->name, "text") == 0;
    const char *word = save_args.inside;
    if (!word && !save_args.no_ids) return DONE;
    if (!is_text)
        return complain_of(MISUSED, out,
                           "%s has ids, and its parameters in one place: --inline and --no-ids are for text",
                           to->name);
    if (word && strcmp(word, "all") != 0 && strcmp(word, "none") != 0)
        return complain(MISUSED, "--inline: expected all or none, found '%s'", word);
    if (word && *word == 'a' && save_args.out_params)
        return complain(MISUSED, "--inline all and --out-params contradict each other");
    o->flags |= (save_args.no_ids ? XIR_SAVE_NO_IDS : 0) | (word ? *word == 'a' ? XIR_SAVE_INLINE : XIR_SAVE_RAW : 0);
    return DONE;
}

/* Options that only some formats have. */
int check_save(const file_format *to, const char *out, xir_save_options *o) {
    *o = XIR_INIT(xir_save_options, .format = to->name, .unchecked = true, .progress = progress_bytes,
                  .indent = save_args.indent);
    if (save_args.out_params && load_args.no_params)
        return complain(MISUSED, "--out-params and --no-params contradict each other");
    if (save_args.external && !to->splits)
        return complain_of(MISUSED, out, "%s does not name a file of its parameters: --external is for %s", to->name,
                           formats_that(is_split));
    if (save_args.external && (load_args.no_params || strcmp(out, "-") == 0))
        return complain(MISUSED, "--external writes two files, a model and its parameters");
    if (save_args.out_params && !to->pair)
        return complain_of(MISUSED, out, "parameters of %s are inside the file: --out-params is for %s", to->name,
                           formats_that(format_is_pair));
    if (save_args.out_params && strcmp(save_args.out_params, out) == 0) {
        return complain(MISUSED, "the structure and the parameters cannot both go to %s",
                        strcmp(out, "-") == 0 ? "standard output" : out);
    }
    if (save_args.indent && !to->indents) {
        return complain_of(MISUSED, out, to->text ? "%s is not indented: --indent is for %s"
                           : "%s is not a text: --indent is for %s", to->name, formats_that(is_indented));
    }
    if (save_args.plain && !to->plains)
        return complain_of(MISUSED, out, "nothing is scrambled in %s: --plain is for %s", to->name,
                           formats_that(is_plain));
    o->plain = save_args.plain;
    o->flags = (save_args.no_md5 ? XIR_SAVE_NO_MD5 : 0) | (save_args.external ? XIR_SAVE_EXTERNAL : 0);
    const int code = take_inline(out, to, o);
    if (code) return code;
    if (!save_args.align) return DONE;
    if (!to->aligns)
        return complain_of(MISUSED, out, "nothing is aligned in %s: --align is for %s", to->name,
                           formats_that(is_aligned));
    char *end;
    unsigned long long n = strtoull(save_args.align, &end, 10);
    if (end == save_args.align || *end || n == 0 || n > 1u << 30 || n & (n - 1)) {
        return complain(MISUSED, "--align takes a power of two up to 2^30, not '%s'", save_args.align);
    }
    o->align = (uint32_t)n;
    return DONE;
}

/* Both to files are replaced together. What goes to standard output comes second, unless both are to be written
 * there. */
static xir_status write_both(const loaded *l, const char *out, const char *params, const xir_save_options *o,
                             xir_diags *why) {
    bool params_out = params && strcmp(params, "-") == 0, structure_out = strcmp(out, "-") == 0;
    xir_save_options alone = *o, both = *o;
    xir_status status = XIR_OK;
    alone.no_params = true;
    both.params = params;
    if (params && !params_out && !structure_out) return xir_network_save(l->net, out, &both, why);
    if (params_out) status = xir_network_write_params(l->net, write_to, stdout, o, why);
    else if (params) status = xir_network_save_params(l->net, params, o, why);
    if (status) return status;
    if (structure_out) return xir_network_write(l->net, write_to, stdout, &alone, why);
    return xir_network_save(l->net, out, &alone, why);
}

/* The name that the parameters get next to a structure. */
static xir_status params_name(const file_format *to, const char *out, char **name, xir_diags *why) {
    size_t size;
    xir_status status = xir_params_file_name(context, to->name, out, NULL, 0, &size, why);
    if (status) return status;
    *name = take(size + 1, 1);
    return xir_params_file_name(context, to->name, out, *name, size + 1, &size, why);
}

static void warn(xir_diags *why, const char *file, const char *sentence) {
    xir_diags_append(why, &(xir_diag){
        .severity = XIR_WARNING, .file = xir_str_of(file), .byte = XIR_NO_BYTE, .message = xir_str_of(sentence) });
}

/* Returns true if the format has a parameter file for a network without parameters, and there is a place for it. */
static bool writes_empty(const loaded *l, const char *out, const file_format *to) {
    return to->pair_always && !load_args.no_params && (save_args.out_params || has_neighbours(out)) &&
           !lacks_params(l->net);
}

static bool is_one_file(const char *a, const char *b) {
    struct stat of_a, of_b;
    return stat(a, &of_a) == 0 && stat(b, &of_b) == 0 && of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
}

/* Returns true if the parameters of the input would become those of another structure that is not the same network:
 * formats may share the name of their parameter files. */
static bool parts_input(const loaded *l, const char *out, const char *params) {
    return !l->written_as && l->path && l->params_path && params && is_one_file(l->params_path, params) &&
           !is_one_file(l->path, out);
}

static int write_pair(loaded *l, const char *out, const file_format *to, const xir_save_options *o, xir_diags *why) {
    char *neighbour = NULL;
    const char *params = NULL;
    xir_status named = XIR_OK;
    if (!o->no_params && (l->params_path || keeps_params(l->net) || writes_empty(l, out, to))) {
        if (!save_args.out_params && has_neighbours(out)) named = params_name(to, out, &neighbour, why);
        if (named) {
            free(neighbour);
            return exit_of(named);
        }
        params = save_args.out_params ? save_args.out_params : neighbour;
        if (!params)
            warn(why, strcmp(out, "-") == 0 ? "<stdout>" : out,
                 "the parameters are not written; --out-params names a file for them");
    } else if (save_args.out_params && !o->no_params) {
        warn(why, save_args.out_params, "is not written: there are no parameters");
    }
    int code = DONE;
    if (neighbour && strcmp(neighbour, out) == 0) {
        code = complain_of(MISUSED, out,
                           "its parameters would get the same name; --out-params sets another one");
    } else if (parts_input(l, out, params)) {
        code = complain_of(MISUSED, params, "the parameters of %s would be replaced, but not their structure; "
                           "--out-params names another file", l->name);
    } else {
        code = note_old_keys(l, why);   /* before the file is written over */
        if (!code) code = exit_of_writing(write_both(l, out, params, o, why));
    }
    free(neighbour);
    return code;
}

static int write_one(loaded *l, const char *out, const xir_save_options *o, xir_diags *why) {
    const int code = note_old_keys(l, why);
    if (code) return code;
    if (strcmp(out, "-") == 0) return exit_of_writing(xir_network_write(l->net, write_to, stdout, o, why));
    return exit_of_writing(xir_network_save(l->net, out, o, why));
}

int save(loaded *l, const char *out, const file_format *to, const xir_save_options *o) {
    xir_diags *why = new_diags();
    progress_writing(save_args.out_params && strcmp(save_args.out_params, "-") == 0 ? "-" : out);
    xir_save_options how = *o;
    how.format = to->name;
    /* Constants that passes computed have bytes, those of the file have none: no file holds some parameters only. */
    how.no_params = l->alone && keeps_params(l->net) && lacks_params(l->net);
    const bool inside = !save_args.out_params && xir_save_keeps_inside(l->net, &how);
    int code = to->pair && !inside ? write_pair(l, out, to, &how, why) : write_one(l, out, &how, why);
    if (!code && how.no_params && !load_args.no_params)
        warn(why, strcmp(out, "-") == 0 ? "<stdout>" : out,
             "the structure alone is written: there are no bytes for some of its parameters");
    say(why);
    xir_diags_free(why);
    return code;
}
