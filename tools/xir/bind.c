/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Open dims on the command line: --bind gives those with names numbers or intervals (the pass bind), and --input-shape
 * gives inputs their dims (the pass to-xir). Names are checked when the structure is known (names.c). */
#include <stdlib.h>
#include <string.h>
#include "cli.h"

word_list bind_words, shape_words;

/* ---- values ---------------------------------------------------------------------------------------- */

/* The rest after an integer; NULL: there is none. */
static const char *after_number(const char *p) {
    p += *p == '-';
    const size_t n = strspn(p, "0123456789");
    return n ? p + n : NULL;
}

/* "4", "8..512" */
static bool is_interval(const char *value) {
    const char *p = after_number(value);
    if (p && *p && strncmp(p, "..", 2) == 0) p = after_number(p + 2);
    return p && !*p;
}

static const char *const real_words[] = {
    [XIR_FLOAT_FP16] = "fp16", [XIR_FLOAT_BF16] = "bf16", [XIR_FLOAT_TF32] = "tf32", [XIR_FLOAT_FP32] = "fp32",
    [XIR_FLOAT_FP64] = "fp64",
};
enum { REAL_WORDS = sizeof real_words / sizeof real_words[0] };

bool put_element(text *t, const xir_type *element) {
    const xir_float_type *real = xir_float_type_of(xir_type_object(element));
    const xir_integer_type *whole = xir_integer_type_of(xir_type_object(element));
    const char *word = real && (size_t)real->format < REAL_WORDS ? real_words[real->format] : NULL;
    if (xir_type_kind_of(element) == XIR_TYPE_BOOL) word = "bool";
    if (whole) text_printf(t, "%c%d", whole->sign ? 'i' : 'u', (int)xir_type_storage_bits(element));
    else if (word) text_put(t, word);
    return whole || word;
}

/* "fp32", "bool", "u8" */
static bool is_element(const char *word) {
    const char *near[REAL_WORDS + 5] = { "bool", "i32", "i64", "u8" };
    size_t n = 4;
    for (size_t i = 0; i < REAL_WORDS; i++)
        if (real_words[i]) near[n++] = real_words[i];
    for (size_t i = 0; i < n; i++)
        if (strcmp(word, near[i]) == 0) return true;
    const bool whole = (*word == 'i' || *word == 'u') && word[1] >= '1' && word[1] <= '9';
    const size_t digits = whole ? strspn(word + 1, "0123456789") : 0;
    if (digits && !word[1 + digits] && digits <= 2 && atoi(word + 1) <= 64) return true;
    const char *meant = nearest(word, near);
    complain(MISUSED, "--input-shape: expected an element type, fp16 fp32 fp64 bf16 tf32 bool, i8 i64 and u8 of any "
             "width, found '%s'%s%s%s", word, meant ? "; did you mean '" : "", meant ? meant : "", meant ? "'?" : "");
    return false;
}

/* "1,3,224,224", or of no dims the empty text; and an element type after a colon, which is checked later. */
static bool is_shape(const char *value) {
    const char *p = value;
    if (!*p) return false;
    for (size_t n; (n = strspn(p, "0123456789")); p++) {
        p += n;
        if (*p != ',') break;
        if (p[1] < '0' || p[1] > '9') return false;
    }
    return !*p || (*p == ':' && p[1]);
}

/* ---- lists of words -------------------------------------------------------------------------------- */

/* Joins words of the form NAME=VALUE, each with a value that makes sense, by semicolons. False: one makes none. */
static bool join_words(const word_list *words, const char *name, const char *takes, bool (*is)(const char *),
                       text *out) {
    for (size_t i = 0; i < words->n; i++) {
        const char *word = words->items[i], *equals = strrchr(word, '=');
        if (!equals || equals == word || !is(equals + 1)) {
            complain(MISUSED, "--%s takes %s, not '%s'", name, takes, word);
            return false;
        }
        if (i) text_put(out, ";");
        text_put(out, word);
    }
    text_add(out, "", 1);
    return true;
}

bool binds_of_line(text *out) {
    return join_words(&bind_words, "bind", "NAME=N or NAME=A..B", is_interval, out);
}

bool shapes_of_line(text *out) {
    if (!join_words(&shape_words, "input-shape", "NAME=D,D,...", is_shape, out)) return false;
    for (size_t i = 0; i < shape_words.n; i++) {
        const char *colon = strrchr(shape_words.items[i], ':');
        if (colon && !strchr(colon, '=') && !is_element(colon + 1)) return false;
    }
    return true;
}

static int check(bool (*of_line)(text *out)) {
    text list = { 0 };
    const bool sound = of_line(&list);
    text_free(&list);
    return sound ? DONE : MISUSED;
}

int check_binds(void)  { return check(binds_of_line) || check_consts() ? MISUSED : DONE; }
int check_shapes(void) { return check(shapes_of_line); }

/* ---- the passes ------------------------------------------------------------------------------------ */

/* Returns true if a pass is a step of a pipeline. Its name is neither in options nor in quotes. */
static bool has_step(const char *passes, const char *name) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
    bool quoted = false, inside = false;
    for (const char *p = passes; *p; p++) {
        if (quoted && *p == '\\' && p[1]) p++;
        else if (*p == '"') quoted = !quoted;
        else if (quoted) continue;
        else if (*p == '{' || *p == '}') inside = *p == '{';
        const size_t n = quoted || inside ? 0 : strspn(p, letters);
        if (n == strlen(name) && memcmp(p, name, n) == 0) return true;
        if (n) p += n - 1;
    }
    return false;
}

char *with_bind(const char *passes) {
    const bool added = bind_words.n && !has_step(passes, "bind");
    return join(added ? *passes ? "bind," : "bind" : "", passes);
}

/* Runs a pass with a text for one of its options. */
static int run_with(xir_network *net, const char *pass, const char *key, const char *value, xir_diags *why) {
    text options = { 0 };
    text_printf(&options, "%s=\"", key);
    for (const char *p = value; *p; p++) {
        if (*p == '"' || *p == '\\') text_put(&options, "\\");
        text_add(&options, p, 1);
    }
    text_add(&options, "\"", 2);
    const xir_status status = xir_pass_run(net, pass, options.data, NULL, why);
    text_free(&options);
    return exit_of(status);
}

int bind_network(xir_network *net, xir_diags *why) {
    text list = { 0 };
    if (!bind_words.n) return DONE;
    const int code = binds_of_line(&list) ? run_with(net, "bind", "dims", list.data, why) : MISUSED;
    text_free(&list);
    return code;
}

int convert_network(xir_network *net, xir_diags *why) {
    text list = { 0 };
    int code = MISUSED;
    if (!shape_words.n) code = exit_of(xir_pass_run(net, "to-xir", NULL, NULL, why));
    else if (shapes_of_line(&list)) code = run_with(net, "to-xir", "input-shape", list.data, why);
    text_free(&list);
    return code;
}
