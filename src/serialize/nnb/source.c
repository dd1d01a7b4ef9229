/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A file as the source of an array in C11, aligned as the runtime needs it. A comment says what is inside. */
#include <stdarg.h>
#include "nnb/nnb.h"
#include "number.h"

enum { A_LINE = 16, ROOM = 8192 };

typedef struct c_text {
    const format_writing *how;
    char                  text[ROOM];
    size_t                size;
    bool                  stopped;
} c_text;

static void flush(c_text *s) {
    if (s->size && !s->stopped) s->stopped = !s->how->write(s->how->user, s->text, s->size);
    s->size = 0;
}

static void put(c_text *s, const char *sentence, ...) XIR_PRINTF(2, 3);
static void put(c_text *s, const char *sentence, ...) {
    enum { LONGEST = 512 };
    va_list args;
    if (s->size + LONGEST > ROOM) flush(s);
    va_start(args, sentence);
    const int n = vsnprintf(s->text + s->size, LONGEST, sentence, args);
    va_end(args);
    s->size += n < LONGEST ? (size_t)n : LONGEST - 1;
}

/* The file's name without folders and suffix, as a name in C: nnb_digits. */
static void name_of(const char *path, char out[80]) {
    const char *slash = strrchr(path, '/'), *stem = slash ? slash + 1 : path;
    const size_t n = strcspn(stem, ".");
    size_t at = (size_t)snprintf(out, 80, "nnb_");
    for (size_t i = 0; i < n && at < 79; i++) {
        const char c = stem[i];
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c);
        out[at++] = plain ? c : '_';
    }
    if (!n) at += (size_t)snprintf(out + at, 80 - at, "network");
    out[at] = '\0';
}

static void put_ends(c_text *s, const nnb_model *m, nnb_list list, const char *what) {
    static const char *const types[] = { "float", "int16", "int8", "sign" };
    const int32_t *ints = m->ints.data;
    for (uint32_t i = 0; i < list.n; i++) {
        const nnb_variable *v = (const nnb_variable *)m->variables.data + ints[list.first + i];
        put(s, " *   %s %u: %s", what, (unsigned)i, v->type < NNB_TYPES ? types[v->type] : "unknown");
        if (v->fp_pos) put(s, " with %d fraction bits", v->fp_pos);
        put(s, " [");
        for (uint32_t k = 0; k < v->rank; k++) put(s, "%s%d", k ? ", " : "", (int)ints[v->shape + k]);
        put(s, "], %" PRIu64 " bytes\n", v->bytes);
    }
}

static void put_comment(c_text *s, const nnb_model *m, const nnb_image *image, const char *name) {
    const uint32_t *sizes = m->buffers.data;
    const nnb_hole *holes = image->holes.data;
    uint64_t buffers = 0, data = 0;
    for (size_t i = 0; i < m->buffers.size; i++) buffers += sizes[i];
    for (size_t i = 0; i < image->holes.size; i++) data += holes[i].size;
    put(s, "/* %s: a network for NNabla's C runtime, NNB version %" PRIu32 ", api level %" PRIu32 "\n *\n", name,
        m->version,
        m->api);
    put_ends(s, m, m->inputs, "input");
    put_ends(s, m, m->outputs, "output");
    put(s, " *   %zu functions\n *   parameters: %" PRIu64 " bytes\n", m->records.size, data);
    put(s, " *   buffers: %" PRIu64 " bytes\n", m->version == 2 ? 4 * buffers : buffers);
    put(s, " *   in all: %" PRIu64 " bytes */\n", image->size);
}

static bool put_bytes(void *user, uint64_t at, const void *data, size_t size, const nnb_hole *hole) {
    c_text *s = user;
    const uint8_t *p = data;
    (void)hole;
    for (size_t i = 0; i < size && !s->stopped; i++) {
        put(s, "%s0x%02x,", at + i == 0 ? "    " : (at + i) % A_LINE ? " " : "\n    ", p[i]);
    }
    return !s->stopped;
}

xir_status nnb_write_source(xir_network *net, const format_writing *how) {
    nnb_image image;
    xir_status status;
    char name[80];
    c_text s = { .how = how };
    nnb_model *m = nnb_prepare(net, how, &image, &status);
    if (!m) return status;
    name_of(how->path, name);
    put_comment(&s, m, &image, name);
    put(&s, "#include <stdalign.h>\n#include <stddef.h>\n\nextern const unsigned char %s[];\nextern const size_t "
        "%s_size;\n\n",
        name, name);
    put(&s, "alignas(4) const unsigned char %s[%" PRIu64 "] = {\n", name, image.size);
    nnb_image_each(&image, put_bytes, &s);
    put(&s, "\n};\nconst size_t %s_size = sizeof %s;\n", name, name);
    flush(&s);
    if (s.stopped) status = XIR_E_IO;
    nnb_image_free(m, &image);
    nnb_model_free(m);
    return status;
}
