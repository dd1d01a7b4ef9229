/* --as-upstream=head: a text of DeepX as the executor's own parser understands it. Each line becomes the line that this
 * parser prints, with the metadata that it knows; line numbers stay. xir show prints all that it makes of a line. */
#include <stdlib.h>
#include <string.h>
#include "cli.h"

/* What the parser makes of a line, in a room that grows. */
typedef struct answers {
    char  *room;
    size_t had;
    text   all;      /* the new text */
} answers;

/* Returns the text that follows `word` in the answer, of `*n` bytes: up to `close` or the end of the line. NULL if the
 * answer does not contain `word`. */
static const char *after(const char *answer, const char *word, char close, size_t *n) {
    const char *p = strstr(answer, word);
    if (!p) return NULL;
    p += strlen(word);
    *n = strcspn(p, (const char[]){ close, '\n', '\0' });
    return p;
}

static void put_known(text *t, const char *answer, const char *word, char close, const char *key) {
    size_t n = 0;
    const char *p = after(answer, word, close, &n);
    if (!p || !n || (n == 1 && *p == '0')) return;
    text_put(t, " ");
    text_put(t, key);
    text_add(t, p, n);
}

/* The metadata that the parser keeps. */
static void put_meta(text *t, const char *answer) {
    const size_t before = t->size;
    text_put(t, " //");
    const size_t none = t->size;
    put_known(t, answer, "author=[", ']', "author=");
    put_known(t, answer, " id=", ' ', "id=");
    put_known(t, answer, "created=", ' ', "created_at=");
    put_known(t, answer, "bench=", ' ', "benchmark.repeat=");
    if (t->size == none) t->data[t->size = before] = '\0';
}

static bool is_passed_over(xir_str line) {
    size_t i = 0;
    while (i < line.size && (line.data[i] == ' ' || line.data[i] == '\t' || line.data[i] == '\r')) i++;
    return i == line.size || line.data[i] == '#';
}

static void take_line(answers *a, const loaded *l, xir_str line, uint32_t number, xir_diags *why) {
    const size_t need = xir_deepx_upstream(line, NULL, 0) + 1;
    if (need > a->had) a->room = resize(a->room, a->had = 2 * need);
    (void)xir_deepx_upstream(line, a->room, a->had);
    /* The answer is a text: it cannot be searched if the line has a byte 0. */
    const char *answer = memchr(line.data, 0, line.size) ? NULL : strchr(a->room, '\n'), *canon = NULL;
    for (const char *p = answer; p && (p = strstr(p, "\n  canon ")); p++) canon = p;   /* the last one is its own */
    size_t n = 0;
    if (!canon) {
        const char *fault = answer ? after(answer, "\n  ERROR ", '\n', &n) : NULL;
        text message = { 0 };
        text_put(&message, "the executor's parser refuses the line: ");
        if (fault) text_add(&message, fault, n);
        else text_put(&message, "a byte 0");
        xir_diags_append(why, &(xir_diag){ .severity = XIR_ERROR, .code = XIR_E_SYNTAX, .message = text_of(&message),
                                           .file = xir_str_of(l->name), .byte = XIR_NO_BYTE, .line = number,
                                           .column = 1 });
        text_free(&message);
        return;
    }
    canon = after(canon, "\n  canon ", '\n', &n);
    text_add(&a->all, canon, n);
    put_meta(&a->all, answer);
}

int read_as_upstream(loaded *l, xir_diags *why) {
    size_t size = 0;
    char *bytes;
    const int code = structure_bytes(l, &bytes, &size);
    if (!bytes) return code;
    answers a = { 0 };
    const size_t errors = xir_diags_count_of(why, XIR_ERROR);
    uint32_t number = 1;
    text_add(&a.all, "", 0);
    for (const char *p = bytes, *end = bytes + size; p < end; number++) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        const xir_str line = { p, (size_t)((stop ? stop : end) - p) };
        if (is_passed_over(line)) text_add(&a.all, line.data, line.size);
        else take_line(&a, l, line, number, why);
        text_add(&a.all, "\n", 1);
        p += line.size + 1;
    }
    free(a.room);
    free(bytes);
    l->bytes = a.all.data;
    l->size = a.all.size;
    return xir_diags_count_of(why, XIR_ERROR) > errors ? FAULTY : DONE;
}
