/* --bind: numbers or intervals for open dims, by name. It sets the dims of the pass bind. */
#include <stdlib.h>
#include <string.h>
#include "cli.h"

word_list bind_words;

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

int bind_network(xir_network *net, xir_diags *why) {
    text list = { 0 }, options = { 0 };
    if (!bind_words.n) return DONE;
    if (!binds_of_line(&list)) return MISUSED;
    text_put(&options, "dims=\"");
    for (const char *p = list.data; *p; p++) {
        if (*p == '"' || *p == '\\') text_put(&options, "\\");
        text_add(&options, p, 1);
    }
    text_add(&options, "\"", 2);
    const xir_status status = xir_pass_run(net, "bind", options.data, NULL, why);
    text_free(&list);
    text_free(&options);
    return exit_of(status);
}
