/* Targets that a command names: by name or key, with the core if they have cores. */
#include <string.h>
#include "cli.h"

/* "zhuge(330)": the core, or the first one that is known. */
static void put_core(text *t, const char *word, const char *open, const char *known) {
    if (open) text_add(t, open + 1, strlen(word) - (size_t)(open - word) - 2);
    else text_add(t, known, strcspn(known, " "));
}

int find_target(const char *word, const xir_target **out) {
    *out = NULL;
    if (!word) return DONE;
    const char *open = strchr(word, '(');
    const size_t n = strlen(word);
    const int kind = xir_target_find(context, (xir_str){ word, open ? (size_t)(open - word) : n });
    const xir_target_row *row = kind < 0 ? NULL : xir_target_row_at(context, (size_t)kind);
    if (!row || (open && (!row->cores || word[n - 1] != ')')))
        return complain(MISUSED, "--target %s: there is no such target; xir ops lists them", word);
    text core = { 0 };
    if (row->cores) put_core(&core, word, open, row->cores);
    *out = xir_target_of_kind(context, (xir_target_kind)kind, row->cores ? core.data : NULL);
    text_free(&core);
    return *out ? DONE : no_memory();
}
