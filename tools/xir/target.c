/* Targets that a command names: by name or key, with the core if they have cores. */
#include <string.h>
#include "cli.h"

/* "zhuge(330)": the core, or the first one that is known. */
static void put_core(text *t, const char *word, const char *open, const char *known) {
    if (open) text_add(t, open + 1, strlen(word) - (size_t)(open - word) - 2);
    else text_add(t, known, strcspn(known, " "));
}

static int no_such_target(const char *word, xir_str name) {
    const xir_target_row *row;
    xir_str meant = { NULL, 0 };
    size_t distance = SIZE_MAX;
    for (size_t i = 0; (row = xir_target_row_at(context, i)); i++)
        if (xir_str_is_nearer(name, xir_str_of(row->name), &distance)) meant = xir_str_of(row->name);
    if (meant.size)
        return complain(MISUSED, "--target %s: there is no such target; did you mean '%.*s'?", word, (int)meant.size,
                        meant.data);
    return complain(MISUSED, "--target %s: there is no such target; xir ops lists them", word);
}

int find_target(const char *word, const xir_target **out) {
    *out = NULL;
    if (!word) return DONE;
    const char *open = strchr(word, '(');
    const size_t n = strlen(word);
    const xir_str name = { word, open ? (size_t)(open - word) : n };
    const int kind = xir_target_find(context, name);
    const xir_target_row *row = kind < 0 ? NULL : xir_target_row_at(context, (size_t)kind);
    if (!row) return no_such_target(word, name);
    if (open && (!row->cores || word[n - 1] != ')'))
        return complain(MISUSED, "--target %s: there is no such target; xir ops lists them", word);
    text core = { 0 };
    if (row->cores) put_core(&core, word, open, row->cores);
    *out = xir_target_of_kind(context, (xir_target_kind)kind, row->cores ? core.data : NULL);
    text_free(&core);
    return *out ? DONE : no_memory();
}
