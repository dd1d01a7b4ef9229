/* Formats, told by content first, then by name: those of the library, and those that are only known by sight. A file of one of
 * these gets a clear refusal, not the complaints of a reader for another one. */
#include <stdlib.h>
#include <string.h>
#include "cli.h"

/* ---- known by sight: the first bytes, at most 256 ------------------------------------------------ */

static bool looks_pnnx(const unsigned char *head, size_t size) {
    return size > 7 && memcmp(head, "7767517", 7) == 0 && (head[7] == '\n' || head[7] == '\r');
}

static bool looks_tsm(const unsigned char *head, size_t size) {
    return size >= 8 && memcmp(head + 4, "\x29\x09\x91\x19", 4) == 0;
}

typedef struct sight {
    file_format format;
    bool (*looks)(const unsigned char *head, size_t size);   /* NULL: content does not tell */
} sight;

static const sight sights[] = {
    { { .word = "pnnx",  .meaning = "PNNX graph",         .suffixes = "param" }, looks_pnnx },
    { { .word = "nnb",   .meaning = "NNabla binary",      .suffixes = "nnb"   }, NULL       },
    { { .word = "tsm",   .meaning = "TensorStack module", .suffixes = "tsm"   }, looks_tsm  },
    { { .word = "deepx", .meaning = "DeepX IR",           .suffixes = "ir"    }, NULL       },
};
enum { SIGHTS = sizeof sights / sizeof sights[0], MOST = 32 };

/* ---- all of them --------------------------------------------------------------------------------- */

static file_format all[MOST];
static size_t      n_all;
static text        words;

static const file_format *among(const char *word) {
    for (size_t i = 0; i < n_all; i++) {
        if (strcmp(all[i].word, word) == 0) return &all[i];
    }
    return NULL;
}

static void fill(void) {
    if (n_all) return;
    for (; n_all < MOST - SIGHTS; n_all++) {
        all[n_all] = XIR_INIT(file_format);
        if (xir_format_at(n_all, &all[n_all], NULL) != XIR_OK) break;
    }
    for (size_t i = 0; i < SIGHTS; i++) all[n_all++] = sights[i].format;
    for (size_t i = 0; i < n_all; i++) text_printf(&words, "%s%s", i ? " " : "", all[i].word);
}

const char *format_words(void) {
    fill();
    return words.data;
}

static const file_format *find(const char *word) {
    fill();
    return among(word);
}

const file_format *format_named(const char *word) {
    const file_format *f = find(word);
    if (f) return f;
    const char *near[MOST + 1] = { NULL };
    for (size_t i = 0; i < n_all; i++) near[i] = all[i].word;
    const char *meant = nearest(word, near);
    if (meant) complain(MISUSED, "there is no format '%s'; was %s meant?", word, meant);
    else complain(MISUSED, "there is no format '%s', but %s", word, format_words());
    return NULL;
}

const file_format *format_of_content(const unsigned char *head, size_t size) {
    const char *word = xir_format_of(head, size);
    for (size_t i = 0; !word && i < SIGHTS; i++) {
        if (sights[i].looks && sights[i].looks(head, size)) word = sights[i].format.word;
    }
    return word ? find(word) : NULL;
}

const char *suffix_of(const char *path) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    return dot && dot != name ? dot + 1 : name + strlen(name);
}

static bool has_word(const char *list, const char *word) {
    size_t size = strlen(word), n;
    for (; *list; list += n + (list[n] == ' ')) {
        n = strcspn(list, " ");
        if (n == size && memcmp(list, word, n) == 0) return true;
    }
    return false;
}

const file_format *format_of_name(const char *path) {
    const char *suffix = suffix_of(path);
    fill();
    for (size_t i = 0; *suffix && i < n_all; i++) {
        if (has_word(all[i].suffixes, suffix)) return &all[i];
    }
    return NULL;
}
