/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Printing, and memory for it. */
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cli.h"

int exit_of(xir_status status) {
    switch (status) {
    case XIR_OK:            return DONE;
    case XIR_E_MEMORY:
    case XIR_E_IO:
    case XIR_E_UNSUPPORTED: return REFUSED;
    default:                return FAULTY;
    }
}

int exit_of_writing(xir_status status) {
    return !status ? DONE : status == XIR_E_CORRUPT ? FAULTY : REFUSED;
}

/* ---- memory -------------------------------------------------------------------------------------- */

static atomic_bool refused;       /* the library was, at least once       */
static bool        said_memory;   /* a finding about it has been printed  */

static void *noting_resize(void *user, void *block, size_t old_size, size_t size) {
    (void)user;
    (void)old_size;
    if (size == 0) {
        free(block);
        return NULL;
    }
    void *now = realloc(block, size);
    if (!now) refused = true;
    return now;
}

const xir_allocator noting_allocator = { noting_resize, NULL };

int no_memory(void) {
    progress_end();
    if (!said_memory) fputs("xir: out of memory\n", stderr);
    said_memory = true;
    return REFUSED;
}

int blame_memory(int code) { return code == DONE || !refused ? code : no_memory(); }

static void *enough(void *block) {
    if (!block) {
        abandon_part();
        exit(no_memory());
    }
    return block;
}

void *take(size_t n, size_t size)           { return enough(calloc(n ? n : 1, size ? size : 1)); }
void *resize(void *block, size_t size)      { return enough(realloc(block, size ? size : 1)); }

char *join(const char *a, const char *b) {
    size_t n = strlen(a), m = strlen(b);
    char *both = take(n + m + 1, 1);
    memcpy(both, a, n);
    memcpy(both + n, b, m);
    return both;
}

/* ---- texts --------------------------------------------------------------------------------------- */

/* Always terminated, so that the bytes can be given to printf. */
void text_add(text *t, const void *bytes, size_t size) {
    if (t->room - t->size <= size) {
        t->room = (t->size + size + 32) * 2;
        t->data = resize(t->data, t->room);
    }
    if (size) memcpy(t->data + t->size, bytes, size);
    t->size += size;
    t->data[t->size] = '\0';
}

void text_put(text *t, const char *words) { text_add(t, words, strlen(words)); }

void text_printf(text *t, const char *format, ...) {
    char few[256];
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(few, sizeof few, format, args);
    va_end(args);
    if (n >= 0 && (size_t)n < sizeof few) {
        text_add(t, few, (size_t)n);
    } else if (n > 0) {
        char *many = take((size_t)n + 1, 1);
        vsnprintf(many, (size_t)n + 1, format, again);
        text_add(t, many, (size_t)n);
        free(many);
    }
    va_end(again);
}

void text_free(text *t) {
    free(t->data);
    *t = (text){ 0 };
}

xir_str text_of(const text *t) { return (xir_str){ t->data, t->size }; }

/* Returns how many bytes of well-formed UTF-8 begin here; 0 if none. */
static size_t character(const unsigned char *p, size_t size) {
    if (p[0] < 0x80) return 1;
    size_t n = p[0] >= 0xC2 && p[0] <= 0xDF ? 2 : (p[0] & 0xF0) == 0xE0 ? 3 : p[0] >= 0xF0 && p[0] <= 0xF4 ? 4 : 0;
    if (!n || size < n) return 0;
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xC0) != 0x80) return 0;
    }
    if (p[0] == 0xE0 && p[1] < 0xA0) return 0;                                   // overlong
    if (p[0] == 0xED && p[1] > 0x9F) return 0;                                   // a surrogate
    if ((p[0] == 0xF0 && p[1] < 0x90) || (p[0] == 0xF4 && p[1] > 0x8F)) return 0;  // overlong, above U+10FFFF
    return n;
}

/* Controls, marks that change the direction of the text, and line ends that only Unicode has: as findings escape
 * them. */
static bool steers(const unsigned char *p) {
    if (p[0] == 0xE2 && p[1] == 0x80) return p[2] == 0x8E || p[2] == 0x8F || (p[2] >= 0xA8 && p[2] <= 0xAE);
    if (p[0] == 0xE2 && p[1] == 0x81) return p[2] >= 0xA6 && p[2] <= 0xA9;
    return p[0] < 0x20 || p[0] == 0x7F || (p[0] == 0xC2 && p[1] < 0xA0) || (p[0] == 0xD8 && p[1] == 0x9C);
}

void print_clipped(FILE *out, xir_str s, size_t most) {
    const unsigned char *p = (const unsigned char *)s.data;
    size_t plain = 0, i = 0;   /* plain bytes are written in one piece: stderr is not buffered */
    while (i < s.size) {
        size_t n = character(p + i, s.size - i);
        if (i + (n ? n : 1) > most) break;
        if (n && !steers(p + i)) {
            i += n;
            continue;
        }
        if (i > plain) fwrite(p + plain, 1, i - plain, out);
        for (size_t k = n ? n : 1; k > 0; k--) fprintf(out, "\\x%02x", p[i++]);
        plain = i;
    }
    if (i > plain) fwrite(p + plain, 1, i - plain, out);
    if (i < s.size) fputs("...", out);
}

void text_shown(text *t, xir_str s) {
    const unsigned char *p = (const unsigned char *)s.data;
    for (size_t i = 0; i < s.size;) {
        size_t n = character(p + i, s.size - i);
        const bool plain = n && !steers(p + i);
        if (!n) n = 1;
        if (plain) text_add(t, p + i, n);
        for (size_t k = 0; k < n && !plain; k++) text_printf(t, "\\x%02x", p[i + k]);
        i += n;
    }
}

void print_text(FILE *out, xir_str s) { print_clipped(out, s, SIZE_MAX); }

/* ---- findings ------------------------------------------------------------------------------------ */

static bool write_failed;   /* of write_to: why, close_output says */

static void colour(xir_severity severity) {
    static const char *const codes[] = { "31", "33", "36" };   /* ORDER SEVERITY */
    paint(stderr, codes[severity]);
}

static void plain(void) { paint(stderr, "0"); }

static const char program[] = "xir";

/* Words of the command line can have anything in them too. */
static int complain_args(int code, const char *of, const char *format, va_list args) {
    char *sentence = NULL;
    if (vasprintf(&sentence, format, args) < 0) sentence = NULL;
    progress_end();
    colour(XIR_ERROR);
    print_text(stderr, xir_str_of(of));
    fputs(": ", stderr);
    print_text(stderr, xir_str_of(sentence ? sentence : "out of memory"));
    plain();
    fputc('\n', stderr);
    note_complaint(code, of == program ? NULL : of, sentence ? sentence : "out of memory");
    free(sentence);
    return code;
}

int complain(int code, const char *format, ...) {
    va_list args;
    va_start(args, format);
    complain_args(code, program, format, args);
    va_end(args);
    return code;
}

int complain_of(int code, const char *file, const char *format, ...) {
    va_list args;
    va_start(args, format);
    complain_args(code, file, format, args);
    va_end(args);
    return code;
}

void say_more(size_t more) {
    note_more(more);
    if (more) fprintf(stderr, "and %zu more\n", more);
}

static bool is_in_text(const xir_diag *d) {
    const size_t n = d->file.size;
    return d->line && d->column && d->byte != XIR_NO_BYTE && n > 4 && memcmp(d->file.data + n - 4, ".xir", 4) == 0;
}

/* The line of a text that a finding is about, and a caret under the place. */
static void point(const xir_diag *d) {
    enum { SHOWN = 160 };
    if (!is_in_text(d)) return;
    char *name = take(d->file.size + 1, 1);      /* the name has no zero at its end */
    memcpy(name, d->file.data, d->file.size);
    name[d->file.size] = '\0';
    FILE *in = fopen(name, "rb");
    char line[SHOWN + 1];
    const size_t before = d->column - 1 < SHOWN / 2 ? d->column - 1 : SHOWN / 2;
    if (in && fseek(in, (long)(d->byte - before), SEEK_SET) == 0) {
        const size_t got = fread(line, 1, SHOWN, in);
        const char *stop = memchr(line, '\n', got);
        fputs("    ", stderr);
        print_text(stderr, (xir_str){ line, stop ? (size_t)(stop - line) : got });
        fprintf(stderr, "\n    %*s\n", (int)before + 1, "^");
    }
    if (in) fclose(in);
    free(name);
}

void say_and_keep(const xir_diags *why) {
    progress_end();
    size_t n = xir_diags_count(why);
    for (size_t i = 0; i < n; i++) note_finding(xir_diags_at(why, i));
    bool points = false;
    for (size_t i = 0; i < n; i++) points |= is_in_text(xir_diags_at(why, i));
    if (!in_colour(stderr) && !points) {
        xir_diags_print(why, stderr);
        note_more(xir_diags_more(why));
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const xir_diag *diag = xir_diags_at(why, i);
        if (write_failed && diag->code == XIR_E_IO && !diag->file.size) continue;
        said_memory |= diag->code == XIR_E_MEMORY;
        colour(diag->severity);
        xir_diag_print(diag, stderr);   /* ends the line: the colour ends at the beginning of the next */
        plain();
        point(diag);
    }
    say_more(xir_diags_more(why));
}

void say(xir_diags *why) {
    say_and_keep(why);
    xir_diags_clear(why);
}

xir_diags *new_diags(void) { return enough(xir_diags_new(context)); }

static int write_error;   /* why the first write failed that write_to made */

bool write_to(void *user, const void *data, size_t size) {
    errno = 0;
    if (fwrite(data, 1, size, user) == size) return true;
    write_failed = true;
    if (!write_error) write_error = errno;
    if (write_error == EFAULT) {   /* the bytes are lost, of a mapped file: standard output is not at fault */
        progress_end();
        say_lost(data);
    }
    return false;
}

int close_output(int code) {
    bool failed = ferror(stdout) != 0;
    int error = write_error;
    errno = 0;
    if (fflush(stdout) != 0) {
        failed = true;
        if (!error) error = errno;
    }
    if (fclose(stdout) != 0) {
        failed = true;
        if (!error) error = errno;
    }
    if (!failed) return code;
    /* A closed pipe needs no message; a lost file has been named. */
    if (error && error != EPIPE && error != EFAULT)
        complain(REFUSED, "cannot write standard output: %s", strerror(error));
    else if (!error) complain(REFUSED, "cannot write standard output");
    return REFUSED;
}

/* ---- JSON ---------------------------------------------------------------------------------------- */

void json_text(text *t, xir_str s) {
    const unsigned char *p = (const unsigned char *)s.data;
    text_put(t, "\"");
    for (size_t i = 0; i < s.size;) {
        size_t n = character(p + i, s.size - i);
        if (!n) {
            text_put(t, "\xEF\xBF\xBD");   /* U+FFFD: JSON has no bytes */
            i++;
            continue;
        }
        if (p[i] == '"' || p[i] == '\\') text_printf(t, "\\%c", p[i]);
        else if (p[i] < 0x20 || p[i] == 0x7F) text_printf(t, "\\u%04x", (unsigned)p[i]);
        else text_add(t, p + i, n);
        i += n;
    }
    text_put(t, "\"");
}

static void add_printed(text *t, xir_status status, xir_text_buffer *printed) {
    if (status == XIR_OK) text_add(t, printed->data, printed->size);
    else if (status == XIR_E_MEMORY) enough(NULL);
    else text_put(t, "null");
    xir_text_free(printed);
}

void json_object(text *t, const xir_object *object) {
    if (!object) {
        text_put(t, "null");
        return;
    }
    xir_text_buffer printed = { 0 };
    add_printed(t, xir_object_print(context, object, 0, &printed), &printed);
}

void json_any(text *t, const xir_any *any) {
    xir_text_buffer printed = { 0 };
    add_printed(t, xir_any_print(context, any, 0, &printed), &printed);
}

void json_real(text *t, double v) { json_any(t, &(xir_any){ .kind = XIR_ANY_REAL, .as.real = v }); }

void json_i64s(text *t, const int64_t *v, size_t n) {
    text_put(t, "[");
    for (size_t i = 0; i < n; i++) text_printf(t, i ? ",%lld" : "%lld", (long long)v[i]);
    text_put(t, "]");
}

void json_member(json_out *j, const char *name) {
    if (j->more) text_put(&j->t, ",");
    j->more = true;
    if (!name) return;
    json_text(&j->t, xir_str_of(name));
    text_put(&j->t, ":");
}

void json_open(json_out *j, const char *name, char bracket) {
    if (j->t.size) json_member(j, name);
    text_add(&j->t, &bracket, 1);
    j->more = false;
}

void json_close(json_out *j, char bracket) {
    text_add(&j->t, &bracket, 1);
    j->more = true;
}

void json_str(json_out *j, const char *name, xir_str s) {
    json_member(j, name);
    json_text(&j->t, s);
}

void json_int(json_out *j, const char *name, int64_t v) {
    json_member(j, name);
    text_printf(&j->t, "%lld", (long long)v);
}

void json_uint(json_out *j, const char *name, uint64_t v) {
    json_member(j, name);
    text_printf(&j->t, "%llu", (unsigned long long)v);
}

void json_bool(json_out *j, const char *name, bool v) {
    json_member(j, name);
    text_put(&j->t, v ? "true" : "false");
}

void json_null(json_out *j, const char *name) {
    json_member(j, name);
    text_put(&j->t, "null");
}

/* ---- types --------------------------------------------------------------------------------------- */

/* A text in quotes without them, if that is all it is. */
void object_words(text *t, const xir_object *object) {
    text printed = { 0 };
    json_object(&printed, object);
    if (printed.size > 2 && printed.data[0] == '"') text_add(t, printed.data + 1, printed.size - 2);
    else text_add(t, printed.data, printed.size);
    text_free(&printed);
}

/* "[1,3,-1]", or with the expression of a symbolic dim, "[batch,3,-1]". */
static void put_dims(text *t, const xir_type *type, bool symbols) {
    text_put(t, "[");
    for (size_t i = 0; i < xir_type_rank(type); i++) {
        char words[200];
        xir_type_dim_text(type, (int64_t)i, words, sizeof words);
        bool open = xir_type_dim(type, (int64_t)i, false) < 0 && (!symbols || strcmp(words, "?") == 0);
        text_printf(t, i ? ",%s" : "%s", open ? "-1" : words);
    }
    text_put(t, "]");
}

/* A text a dim: ["batch","3","?"]. */
static void json_dims(text *t, const xir_type *type) {
    text_put(t, "[");
    for (size_t i = 0; i < xir_type_rank(type); i++) {
        char words[400];
        xir_type_dim_text(type, (int64_t)i, words, sizeof words);
        if (i) text_put(t, ",");
        json_text(t, xir_str_of(words));
    }
    text_put(t, "]");
}

void json_type(json_out *j, const xir_type *type) {
    const xir_tensor_type *tensor = xir_type_as_tensor(type);
    json_member(j, "dtype");
    json_object(&j->t, xir_type_object(tensor ? tensor->element_dtype : type));
    json_member(j, "shape");
    if (tensor) put_dims(&j->t, type, false);
    else text_put(&j->t, "null");
    if (xir_type_is_symbolic(type)) {
        json_member(j, "dims");
        json_dims(&j->t, type);
    }
    json_member(j, "layout");
    json_object(&j->t, tensor ? (const xir_object *)tensor->layout : NULL);
}

void type_words(text *t, const xir_type *type) {
    if (!type) {
        text_put(t, "no type");
        return;
    }
    const xir_tensor_type *tensor = xir_type_as_tensor(type);
    if (!tensor) {
        object_words(t, xir_type_object(type));
        return;
    }
    object_words(t, xir_type_object(tensor->element_dtype));
    xir_str layout = xir_layout_text(tensor->layout);
    text_put(t, " ");
    text_add(t, layout.data, layout.size);
    text_put(t, " ");
    put_dims(t, type, true);
    for (size_t i = 0; i < tensor->merged_distrs.size; i++) {
        text_put(t, " ");
        object_words(t, tensor->merged_distrs.data[i]);
    }
}
