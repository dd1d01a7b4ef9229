/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* xir view: a picture of a network, as DOT, SVG or one HTML page. The library draws (xir/draw.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "view.h"

static bool        to_dot, to_svg, to_html, left_to_right, no_values, constants;
static word_list   data_words;
static const char *group_word, *depth_word, *select_word, *hops_word, *other_word;

/* ---- the command line ------------------------------------------------------------------------------ */

/* The format of an option, or of the name of the file; HTML without either. */
static int choose_format(const char *out, xir_draw_format *format) {
    static const char *const suffixes[] = { "dot", "svg", "html" };
    const int given = to_dot + to_svg + to_html;
    if (given > 1) return complain(MISUSED, "--dot, --svg and --html contradict each other");
    *format = to_dot ? XIR_DRAW_DOT : to_svg ? XIR_DRAW_SVG : XIR_DRAW_HTML;
    if (given || !out || strcmp(out, "-") == 0 || !*suffix_of(out)) return DONE;
    for (int i = 0; i < 3; i++) {
        if (strcmp(suffix_of(out), suffixes[i]) == 0 || (i == 0 && strcmp(suffix_of(out), "gv") == 0)) {
            *format = (xir_draw_format)i;
            return DONE;
        }
    }
    return complain_of(MISUSED, out, "the name does not tell the format of the picture: dot, svg or html; "
                       "--dot, --svg and --html do");
}

static int read_group(xir_draw_options *how) {
    static const char *const names[] = { "both", "scope", "repeat", "tag", "none", NULL };
    if (!group_word) return DONE;
    if (strncmp(group_word, "tag:", 4) == 0 && group_word[4]) {
        how->group = XIR_DRAW_TAG;
        how->tag = xir_str_of(group_word + 4);
        return DONE;
    }
    for (int i = 0; names[i]; i++) {
        if (strcmp(group_word, names[i]) != 0 || i == XIR_DRAW_TAG) continue;
        how->group = (xir_draw_group)i;
        return DONE;
    }
    return complain(MISUSED, "--group takes scope, repeat, both, tag:KEY or none, not '%s'", group_word);
}

static int read_count(const char *name, const char *word, uint32_t *out) {
    char *end;
    if (!word) return DONE;
    errno = 0;
    const unsigned long n = strtoul(word, &end, 10);
    if (*word < '0' || *word > '9' || *end || errno || n > UINT32_MAX)
        return complain(MISUSED, "--%s takes a number, not '%s'", name, word);
    *out = (uint32_t)n;
    return DONE;
}

/* An op of the execution order by its name, or by its id as #17. A walk needs no memory: without it, an op would seem
 * to be missing. `meant` gets the names that are nearest. */
static const xir_op *find_op(const xir_network *net, const char *word, near_names *meant) {
    const xir_op *of_id = NULL;
    int64_t id;
    const bool has_id = read_op_id(word, &id);
    for (const xir_op *op = xir_network_first(net); op && *word; op = xir_op_next(op)) {
        if (xir_str_equal(xir_op_name(op), xir_str_of(word))) return op;
        if (has_id && xir_op_id(op) == id) of_id = op;
        near_add(meant, word, xir_op_name(op));
    }
    return of_id;
}

/* With another network: an op of that one, if the first one has none. */
static int find_selected(const loaded *l, const loaded *other, const xir_op **out) {
    if (!select_word) return DONE;
    near_names meant = { 0 };
    *out = find_op(l->net, select_word, &meant);
    if (!*out && other->net) *out = find_op(other->net, select_word, &meant);
    return *out ? DONE : no_such_op(l->name, "--select takes", select_word, &meant);
}

/* ---- writing ----------------------------------------------------------------------------------------- */

/* "NET.html" next to "NET.fb"; the caller's to free. */
static char *default_name(const char *in) {
    const char *suffix = suffix_of(in);
    const size_t n = *suffix ? (size_t)(suffix - in) - 1 : strlen(in);
    char *stem = take(n + 1, 1);
    memcpy(stem, in, n);
    char *name = join(stem, to_svg ? ".svg" : to_dot ? ".dot" : ".html");
    free(stem);
    return name;
}

/* A picture never replaces the network that it shows, by whatever name. */
static int check_apart(const char *in, const char *out) {
    struct stat a, b;
    if (strcmp(out, "-") == 0 || stat(out, &b) != 0 || !S_ISREG(b.st_mode)) return DONE;
    if ((strcmp(in, "-") == 0 ? fstat(0, &a) : stat(in, &a)) != 0) return DONE;
    if (a.st_dev != b.st_dev || a.st_ino != b.st_ino) return DONE;
    return complain_of(MISUSED, out, "this is the network itself; name another file for the picture");
}

/* Parameters are compared by value if they are read. */
static int compare(const loaded *a, const loaded *b, xir_diff **out) {
    xir_diags *why = new_diags();
    const xir_diff_options how = XIR_INIT(xir_diff_options, .params = !load_args.no_params);
    *out = xir_diff_new(a->net, b->net, &how, why);
    const int code = *out ? DONE : exit_of(xir_diags_at(why, 0)->code);
    say(why);
    xir_diags_free(why);
    return code;
}

static int draw(const loaded *l, xir_draw_format format, const xir_draw_options *how, FILE *file) {
    xir_diags *why = new_diags();
    const xir_status status = xir_draw(l->net, format, how, write_to, file, why);
    const int code = status == XIR_E_UNSUPPORTED ? MISUSED : exit_of(status);
    say(why);
    xir_diags_free(why);
    return code;
}

typedef struct picture { const loaded *l; xir_draw_format format; const xir_draw_options *how; } picture;

static int fill(const void *user, FILE *file) {
    const picture *p = user;
    return draw(p->l, p->format, p->how, file);
}

static int draw_to(const loaded *l, const char *out, xir_draw_format format, const xir_draw_options *how) {
    if (strcmp(out, "-") == 0) return draw(l, format, how, stdout);
    progress_writing(out);
    return write_whole(out, fill, &(picture){ l, format, how });
}

static int run(int n, char **operands) {
    xir_draw_options how = XIR_INIT(xir_draw_options, .left_to_right = left_to_right, .no_values = no_values,
                                   .constants = constants);
    const char *out = n > 1 ? operands[1] : NULL;
    xir_draw_format format = XIR_DRAW_HTML;
    how.hops = 2;
    if (choose_format(out, &format) || read_group(&how) || read_count("depth", depth_word, &how.depth) ||
        read_count("hops", hops_word, &how.hops) || check_binds() || check_shapes())
        return MISUSED;
    if (hops_word && !select_word) return complain(MISUSED, "--hops is about --select");
    if (!out && strcmp(operands[0], "-") == 0)
        return complain(MISUSED, "a picture of standard input needs the name of a file, or - for standard output");
    if (data_words.n && format != XIR_DRAW_HTML) return complain(MISUSED, "--data is for a page; use --html");
    if (other_word && strcmp(operands[0], "-") == 0 && strcmp(other_word, "-") == 0)
        return complain(MISUSED, "only one of the two networks can be standard input");
    const bool no_params = load_args.no_params;
    if (!load_args.params && (format != XIR_DRAW_HTML || no_values)) load_args.no_params = true;
    loaded l = { 0 }, other = { 0 };
    xir_diff *diff = NULL;
    char *name = out ? join(out, "") : default_name(operands[0]);
    int code = check_apart(operands[0], name);
    if (!code && other_word) code = check_apart(other_word, name);
    if (!code) code = load(&l, operands[0], LOAD_MAPPED | XIR_LOAD_NO_MD5);
    if (!code && !other_word) code = view_infer(&l, no_params, &how);
    load_args.params = NULL;   /* those are NET's */
    if (!code && other_word) code = load(&other, other_word, LOAD_MAPPED | XIR_LOAD_NO_MD5);
    if (!code && other_word) code = compare(&l, &other, &diff);
    if (!code) code = find_selected(&l, &other, &how.select);
    if (!code) code = view_read_data(&data_words, &how);
    how.diff = diff;
    if (!code) code = draw_to(&l, name, format, &how);
    free(name);
    view_free_data(&how);
    view_infer_end();
    xir_diff_free(diff);
    unload(&other);
    unload(&l);
    return code;
}

static const option options[] = {
    { "html", NULL, WORD_NONE, &to_html, "write one page for a browser, which needs nothing else" },
    { "svg", NULL, WORD_NONE, &to_svg, "write a picture as SVG" },
    { "dot", NULL, WORD_NONE, &to_dot, "write a graph for Graphviz" },
    { "group", "HOW", WORD_TEXT, &group_word,
      "what belongs together: scope (names of ops), repeat (equal blocks), both, tag:KEY or none (both)" },
    { "depth", "N", WORD_TEXT, &depth_word,
      "how many levels of boxes are drawn: 1 is the outermost groups, closed; 0 is everything (0)" },
    { "left-to-right", NULL, WORD_NONE, &left_to_right, "draw from left to right, not from top to bottom" },
    { "select", "OP", WORD_TEXT, &select_word, "draw only the op of this name, or of this id, #17, and its neighbours" },
    { "hops", "N", WORD_TEXT, &hops_word, "with --select: how many arrows away a neighbour may be (2)" },
    { "diff", "OTHER", WORD_FILE, &other_word,
      "draw both networks as one, with what was removed, added, moved or changed from NET to OTHER" },
    { .name = "data", .argument = "F", .is = WORD_FILE, .to = &data_words, .many = true,
      .doc = "html: a JSON file of numbers of ops, by which the page can colour them" },
    { "no-values", NULL, WORD_NONE, &no_values, "html: leave out the statistics of parameters" },
    { "constants", NULL, WORD_NONE, &constants,
      "draw ops that depend on constants alone, too; otherwise they belong to the ops that use them" },
    INPUT_SHAPE_OPTION, BIND_OPTION,
    PARAMS_OPTION, NO_PARAMS_OPTION, MAPPED_OPTIONS, FROM_OPTION, AS_CALLS_OPTION,
    { 0 },
};

const command view_command = {
    .name = "view", .operands = "NET [OUT]", .is = WORD_FILE,
    .doc = "draws a network",
    .details = "The format of OUT is that of its name: .html, .svg or .dot; without OUT it is NET.html. Ops that belong "
               "together are in one box, which the page opens and closes. With --diff, two networks are one picture of "
               "their differences. The network need not be valid. Of another framework's network the types and costs are those of "
               "its conversion (to-xir). See docs/view.md.",
    .faulty = "the file is invalid",
    .examples = (const example[]){
        { "xir view digits.onnx", "Draw a page for browsers, digits.html." },
        { "xir view digits.onnx digits.svg --depth 1", "Draw a picture with the groups closed." },
        { NULL, NULL },
    },
    .related = "show diff stats",
    .options = options, .least = 1, .most = 2, .run = run,
};
