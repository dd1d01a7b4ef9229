/* Formats, told by content first, then by name. Those that are only known by sight have no reader: a file of such a format
 * gets a clear refusal, not the complaints of a reader for another one. */
#include <stdlib.h>
#include <string.h>
#include "cli.h"

/* ---- by content: the first bytes, at most 256 ---------------------------------------------------- */

static bool looks_json(const unsigned char *head, size_t size) {
    size_t i = size >= 3 && memcmp(head, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;   /* which the reader refuses, by its name */
    while (i < size && strchr(" \t\r\n", head[i]) && head[i]) i++;
    return i < size && (head[i] == '{' || head[i] == '[');
}

static bool looks_pnnx(const unsigned char *head, size_t size) {
    return size > 7 && memcmp(head, "7767517", 7) == 0 && (head[7] == '\n' || head[7] == '\r');
}

static bool looks_tsm(const unsigned char *head, size_t size) {
    return size >= 8 && memcmp(head + 4, "\x29\x09\x91\x19", 4) == 0;
}

/* ---- readers ------------------------------------------------------------------------------------- */

static xir_network *read_json(loaded *from, xir_diags *why) {
    if (from->regular) return xir_json_load(context, from->path, why);
    return xir_json_read(context, (xir_str){ from->bytes, from->size }, xir_str_of(from->name), why);
}

/* ---- the table ----------------------------------------------------------------------------------- */

static const file_format formats[] = {
    { "json",   "JSON structure, raw parameters beside it", "json",       looks_json, read_json, true,  true  },
    { "pnnx",   "PNNX graph",                               "param",      looks_pnnx, NULL,      false, false },
    { "tsm",    "TensorStack module",                       "tsm",        looks_tsm,  NULL,      false, false },
    { "imodel", "MessagePack network",                      "imodel",     NULL,       NULL,      false, false },
    { "fb",     "FlatBuffers network",                      "fb",         NULL,       NULL,      false, false },
    { "onnx",   "ONNX model",                               "onnx",       NULL,       NULL,      false, false },
    { "nnb",    "NNabla binary",                            "nnb",        NULL,       NULL,      false, false },
    { "deepx",  "DeepX IR",                                 "ir",         NULL,       NULL,      false, false },
};
enum { FORMATS = sizeof formats / sizeof formats[0] };

const char *format_words(void) { return "json imodel fb onnx pnnx nnb tsm deepx"; }

const file_format *format_named(const char *word) {
    const char *words[FORMATS + 1] = { NULL };
    for (size_t i = 0; i < FORMATS; i++) {
        if (strcmp(formats[i].word, word) == 0) return &formats[i];
        words[i] = formats[i].word;
    }
    const char *meant = nearest(word, words);
    if (meant) complain(MISUSED, "there is no format '%s'; was %s meant?", word, meant);
    else complain(MISUSED, "there is no format '%s', but %s", word, format_words());
    return NULL;
}

const file_format *format_of_content(const unsigned char *head, size_t size) {
    for (size_t i = 0; i < FORMATS; i++) {
        if (formats[i].looks && formats[i].looks(head, size)) return &formats[i];
    }
    return NULL;
}

const char *suffix_of(const char *path) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    return dot && dot != name ? dot + 1 : name + strlen(name);
}

const file_format *format_of_name(const char *path) {
    const char *suffix = suffix_of(path);
    for (size_t i = 0; *suffix && i < FORMATS; i++) {
        if (strcmp(formats[i].suffix, suffix) == 0) return &formats[i];
    }
    return NULL;
}
