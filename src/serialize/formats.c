/* The formats that there are: one row each. Content decides what a file is, its name only if content does not: names are
 * changed more easily. */
#include "formats.h"
#include "sized.h"

static const format *const formats[] = {
    &format_json,
    &format_msgpack,
    &format_flat,
    &format_onnx,
};
enum { FORMATS = sizeof formats / sizeof formats[0] };

/* ---- the list ------------------------------------------------------------------------------------------------ */

xir_status xir_format_at(size_t i, xir_format_info *out, xir_diags *why) {
    if (i >= FORMATS) return XIR_E_BOUNDS;
    const format *f = formats[i];
    const xir_format_info info = { .word = f->word, .meaning = f->meaning, .suffixes = f->suffixes, .reads = f->read,
                                   .writes = f->write, .pair = f->pair, .text = f->text };
    return sized_fill(SIZED(xir_format_info, suffixes), out, &info, why);
}

format_list format_words(void) {
    format_list l = { "" };
    size_t at = 0;
    for (size_t i = 0; i < FORMATS && at < sizeof l.text; i++)
        at += (size_t)snprintf(l.text + at, sizeof l.text - at, "%s%s", i ? ", " : "", formats[i]->word);
    return l;
}

/* ---- finding one --------------------------------------------------------------------------------------------- */

const format *format_named(const char *word, xir_diags *why) {
    for (size_t i = 0; i < FORMATS; i++)
        if (strcmp(formats[i]->word, word) == 0) return formats[i];
    diag_fail(why, XIR_E_UNKNOWN, XIR_STR(""), "there is no format '%.40s', but %s", word, format_words().text);
    return NULL;
}

const format *format_of_head(const void *head, size_t size) {
    if (size > FORMAT_HEAD) size = FORMAT_HEAD;
    for (size_t i = 0; i < FORMATS; i++)
        if (size && formats[i]->looks(head, size)) return formats[i];
    return NULL;
}

const char *xir_format_of(const void *head, size_t size) {
    const format *f = format_of_head(head, size);
    return f ? f->word : NULL;
}

/* Whether one of the words in a text, apart by blanks, is this one. */
static bool has_word(const char *words, xir_str word) {
    while (*words) {
        size_t n = strcspn(words, " ");
        if (n == word.size && memcmp(words, word.data, n) == 0) return true;
        words += n + (words[n] == ' ');
    }
    return false;
}

const format *format_of_name(xir_str name) {
    xir_str suffix = path_suffix(name);
    for (size_t i = 0; suffix.size && i < FORMATS; i++)
        if (has_word(formats[i]->suffixes, suffix)) return formats[i];
    return NULL;
}

/* ---- names --------------------------------------------------------------------------------------------------- */

xir_str path_suffix(xir_str path) {
    size_t at = path.size;
    while (at > 0 && path.data[at - 1] != '.' && path.data[at - 1] != '/') at--;
    bool has = at > 1 && path.data[at - 1] == '.' && path.data[at - 2] != '/';
    return has ? (xir_str){ path.data + at, path.size - at } : (xir_str){ NULL, 0 };
}

char *path_beside(const xir_allocator *alloc, const char *path, const char *suffix, size_t *room) {
    size_t stem = strlen(path), n = strlen(suffix);
    xir_str old = path_suffix((xir_str){ path, stem });
    if (old.data) stem = (size_t)(old.data - path) - 1;
    *room = stem + n + 2;
    char *name = mem_new(alloc, *room);
    if (!name) return NULL;
    memcpy(name, path, stem);
    name[stem] = '.';
    memcpy(name + stem + 1, suffix, n + 1);
    return name;
}
