/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* xir test: cases in files of text, each a network, what is done with it, and what is expected. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "test.h"

static bool        update;
static const char *junit_path;
static word_list   files;

/* ---- files -------------------------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

/* The .xir files of a folder and of those in it. */
static int add_folder(char *path, size_t depth) {
    enum { DEEPEST = 32 };
    DIR *folder = opendir(path);
    int code = DONE;
    if (!folder) return complain_of(REFUSED, path, "%s", strerror(errno));
    for (const struct dirent *e; !code && depth < DEEPEST && (e = readdir(folder)) != NULL;) {
        struct stat s;
        if (e->d_name[0] == '.') continue;
        char *slash = join(path, "/"), *name = join(slash, e->d_name);
        free(slash);
        const size_t n = strlen(name);
        if (stat(name, &s) == 0 && S_ISDIR(s.st_mode)) code = add_folder(name, depth + 1);
        else if (n > 4 && strcmp(name + n - 4, ".xir") == 0) words_add(&files, join(name, ""));
        free(name);
    }
    closedir(folder);
    return code;
}

static int add_operand(const char *path) {
    struct stat s;
    if (stat(path, &s) != 0) return complain_of(REFUSED, path, "%s", strerror(errno));
    if (!S_ISDIR(s.st_mode)) {
        words_add(&files, join(path, ""));
        return DONE;
    }
    char *copy = join(path, "");
    const size_t had = files.n;
    const int code = add_folder(copy, 0);
    free(copy);
    if (!code && files.n == had) return complain_of(FAULTY, path, "there are no .xir files in it");
    qsort((void *)(files.items + had), files.n - had, sizeof *files.items, by_name);
    return code;
}

/* ---- a report for other programs ----------------------------------------------------------------------------- */

static void put_xml(FILE *out, xir_str s) {
    for (size_t i = 0; i < s.size; i++) {
        const char c = s.data[i];
        if (c == '<') fputs("&lt;", out);
        else if (c == '>') fputs("&gt;", out);
        else if (c == '&') fputs("&amp;", out);
        else if (c == '"') fputs("&quot;", out);
        else if (c == '\n' || (unsigned char)c >= 0x20) fputc(c, out);
        else fputc('?', out);
    }
}

static void put_case(FILE *out, const test_file *f, size_t line, xir_str why) {
    fputs("    <testcase classname=\"", out);
    put_xml(out, xir_str_of(f->path));
    fprintf(out, "\" name=\"line %zu\"", line);
    if (!why.size) {
        fputs("/>\n", out);
        return;
    }
    fputs(">\n      <failure>", out);
    put_xml(out, why);
    fputs("</failure>\n    </testcase>\n", out);
}

static void put_file(FILE *out, const test_file *f) {
    size_t failed = f->fault.size > 0;
    for (size_t i = 0; i < f->n; i++) failed += f->cases[i].why.size > 0;
    fputs("  <testsuite name=\"", out);
    put_xml(out, xir_str_of(f->path));
    fprintf(out, "\" tests=\"%zu\" failures=\"%zu\">\n", f->n + (f->fault.size > 0), failed);
    if (f->fault.size) put_case(out, f, 1, text_of(&f->fault));
    for (size_t i = 0; i < f->n; i++) put_case(out, f, f->cases[i].line, text_of(&f->cases[i].why));
    fputs("  </testsuite>\n", out);
}

/* ---- the command --------------------------------------------------------------------------------------------- */

typedef struct totals { size_t cases, failed, updated; } totals;

/* Plug-ins that a file names, from its folder; one that is loaded is not loaded again. */
static int load_for(const test_file *f) {
    const char *slash = strrchr(f->path, '/');
    int code = DONE;
    for (size_t i = 0; i < f->plugins.n && !code; i++) {
        const char *word = f->plugins.items[i];
        char *folder = slash && *word != '/' ? strndup(f->path, (size_t)(slash + 1 - f->path)) : join("", "");
        char *path = join(folder, word);
        xir_diags *why = new_diags();
        if (xir_plugin_load(context, path, why)) code = MISUSED;
        say(why);
        xir_diags_free(why);
        free(path);
        free(folder);
    }
    return code;
}

static int run_file(const char *path, FILE *junit, totals *all) {
    test_file f;
    if (!test_read(&f, path)) return REFUSED;
    int code = load_for(&f);
    bool changed = false;
    if (f.fault.size) printf("%s:1: %s\n", path, f.fault.data);
    all->failed += f.fault.size > 0;
    for (size_t i = 0; i < f.n && !code; i++) {
        test_run(&f, &f.cases[i], update);
        all->cases++;
        all->failed += f.cases[i].why.size > 0;
        all->updated += f.cases[i].now.size > 0;
        changed |= f.cases[i].now.size > 0;
    }
    if (!code && changed && !test_write(&f)) code = REFUSED;
    if (junit) put_file(junit, &f);
    test_free(&f);
    return code;
}

static int run_files(FILE *junit) {
    totals all = { 0 };
    int code = DONE;
    if (junit) fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n", junit);
    for (size_t i = 0; i < files.n && !code; i++) code = run_file(files.items[i], junit, &all);
    if (junit) fputs("</testsuites>\n", junit);
    printf("%zu cases, %zu failed", all.cases, all.failed);
    if (all.updated) printf(", %zu updated", all.updated);
    printf("\n");
    return code ? code : all.failed ? complain(FAULTY, "%zu cases failed", all.failed) : DONE;
}

static int run(int n, char **operands) {
    int code = DONE;
    for (int i = 0; i < n && !code; i++) code = add_operand(operands[i]);
    FILE *junit = !code && junit_path ? fopen(junit_path, "wb") : NULL;
    if (!code && junit_path && !junit) code = complain_of(REFUSED, junit_path, "%s", strerror(errno));
    if (!code) code = run_files(junit);
    if (junit && fclose(junit) != 0 && !code) code = complain_of(REFUSED, junit_path, "it cannot be written");
    for (size_t i = 0; i < files.n; i++) free((void *)(uintptr_t)files.items[i]);
    free((void *)files.items);
    return code;
}

static const option options[] = {
    { "update", NULL, WORD_NONE, &update, "write into the files what they should expect, and nothing else" },
    { "junit", "F", WORD_FILE, &junit_path, "write a report in JUnit's XML" },
    { 0 },
};

const command test_command = {
    .name = "test", .operands = "FILE|FOLDER...", .is = WORD_FILE,
    .doc = "runs tests of passes, checks, inference and formats",
    .details = "Each case of a file has a network as text, what is done with it (// opt: PASSES, // check, // infer, "
               "// convert: FORMAT), and the network or the findings that are expected.",
    .faulty = "a case failed",
    .examples = (const example[]){
        { "printf '// opt: dce\\n%%x = Input() : fp32 * [2]\\n%%dead = ReLU(%%x) : fp32 * [2]\\nOutput(%%x)\\n' "
          ">dce.xir", "Write a case, as yet without its result." },
        { "xir test --update dce.xir", "Write what the passes make as the expected result." },
        { "xir test dce.xir", "Compare from now on." },
        { NULL, NULL },
    },
    .related = "opt check",
    .options = options, .least = 1, .most = MANY, .run = run,
};
