/* What the command line says of open dims: --bind gives those with names numbers or intervals (the pass bind), and
 * --input-shape gives inputs their dims (the pass to-xir). */
#include <stdlib.h>
#include <string.h>
#include "cli.h"

word_list bind_words, shape_words;

bool binds_of_line(text *out) {
    for (size_t i = 0; i < bind_words.n; i++) {
        const char *word = bind_words.items[i], *equals = strrchr(word, '=');
        if (!equals || equals == word || !equals[1]) {
            complain(MISUSED, "--bind takes NAME=N or NAME=A..B, not '%s'", word);
            return false;
        }
        if (i) text_put(out, ";");
        text_put(out, word);
    }
    text_add(out, "", 1);
    return true;
}

int check_binds(void) {
    text list = { 0 };
    const bool sound = binds_of_line(&list);
    text_free(&list);
    return sound ? DONE : MISUSED;
}

/* Whether a pass is a step of a pipeline. Its name is neither in options nor in quotes. */
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

/* ---- shapes of inputs ------------------------------------------------------------------------------ */

bool shapes_of_line(text *out) {
    for (size_t i = 0; i < shape_words.n; i++) {
        const char *word = shape_words.items[i], *equals = strrchr(word, '=');
        if (!equals || equals == word || !equals[1]) {
            complain(MISUSED, "--input-shape takes NAME=D,D,..., not '%s'", word);
            return false;
        }
        if (i) text_put(out, ";");
        text_put(out, word);
    }
    text_add(out, "", 1);
    return true;
}

int check_shapes(void) {
    text list = { 0 };
    const bool sound = shapes_of_line(&list);
    text_free(&list);
    return sound ? DONE : MISUSED;
}

int convert_network(xir_network *net, xir_diags *why) {
    text list = { 0 };
    int code = MISUSED;
    if (!shape_words.n) code = exit_of(xir_pass_run(net, "to-xir", NULL, NULL, why));
    else if (shapes_of_line(&list)) code = run_with(net, "to-xir", "input-shape", list.data, why);
    text_free(&list);
    return code;
}
