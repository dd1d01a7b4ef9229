/* A list of findings: records and texts in an arena, so that they keep their address, and an array of pointers to them. One
 * record lies in the list itself: it takes the place of a finding for which there is no memory, so adding never fails. */
#include <inttypes.h>
#include <stdarg.h>
#include "context_base.h"
#include "diagnose.h"
#include "memory.h"
#include "utf8.h"

struct xir_diags {
    xir_allocator    alloc;
    arena            arena;
    const xir_diag **items;
    size_t           n, room;
    size_t           n_of[XIR_NOTE + 1];  /* of each severity, the spare one included */
    xir_diag         spare;
    size_t           spare_at;            /* where it stands; NOT_USED: nowhere       */
};

#define NOT_USED SIZE_MAX

xir_diags *xir_diags_new(xir_context *ctx) {
    const xir_allocator *alloc = context_alloc(ctx);
    xir_diags *diags = mem_new(alloc, sizeof *diags);
    if (!diags) return NULL;
    *diags = (xir_diags){ .alloc = *alloc, .spare_at = NOT_USED };
    arena_init(&diags->arena, &diags->alloc);
    return diags;
}

void xir_diags_clear(xir_diags *diags) {
    arena_free(&diags->arena);
    memset(diags->n_of, 0, sizeof diags->n_of);
    diags->n = 0;
    diags->spare_at = NOT_USED;
}

void xir_diags_free(xir_diags *diags) {
    if (!diags) return;
    xir_allocator alloc = diags->alloc;
    arena_free(&diags->arena);
    mem_free(&alloc, (void *)diags->items, diags->room * sizeof *diags->items);
    mem_free(&alloc, diags, sizeof *diags);
}

size_t xir_diags_count(const xir_diags *diags) {
    return diags ? diags->n + (diags->spare_at != NOT_USED) : 0;
}

size_t xir_diags_count_of(const xir_diags *diags, xir_severity severity) {
    return diags && (unsigned)severity <= XIR_NOTE ? diags->n_of[severity] : 0;
}

const xir_diag *xir_diags_at(const xir_diags *diags, size_t i) {
    if (i >= xir_diags_count(diags)) return NULL;
    if (i == diags->spare_at) return &diags->spare;
    return diags->items[i > diags->spare_at ? i - 1 : i];
}

/* ---- adding ------------------------------------------------------------------------------------------------ */

/* Files have many findings: their name is copied once. */
static bool copy_file(xir_diags *diags, xir_str file, xir_str *out) {
    const xir_diag *last = diags->n ? diags->items[diags->n - 1] : NULL;
    if (last && xir_str_equal(last->file, file)) {
        *out = last->file;
        return true;
    }
    return arena_text(&diags->arena, file, out);
}

/* Takes what was lost into account: the spare record keeps the worst severity and the first status. */
static void put_spare(xir_diags *diags, const xir_diag *lost) {
    if (diags->spare_at == NOT_USED) {
        diags->spare = (xir_diag){ .severity = lost->severity, .code = lost->code, .byte = XIR_NO_BYTE,
                                   .message = XIR_STR("out of memory: what was found here could not be kept") };
        diags->spare_at = diags->n;
        diags->n_of[lost->severity]++;
    } else if (lost->severity < diags->spare.severity) {
        diags->n_of[diags->spare.severity]--;
        diags->n_of[lost->severity]++;
        diags->spare.severity = lost->severity;
        diags->spare.code = lost->code;
    }
}

/* Adds a record whose message is in the arena or static. */
static void put(xir_diags *diags, const xir_diag *diag) {
    xir_diag *copy = NULL;
    if (mem_reserve(&diags->alloc, (void **)&diags->items, &diags->room, diags->n + 1, sizeof *diags->items)) {
        copy = arena_take(&diags->arena, sizeof *copy);
    }
    if (!copy) {
        put_spare(diags, diag);
        return;
    }
    *copy = *diag;
    if (!copy_file(diags, diag->file, &copy->file) || !arena_text(&diags->arena, diag->path, &copy->path)) {
        put_spare(diags, diag);
        return;
    }
    diags->items[diags->n++] = copy;
    diags->n_of[copy->severity]++;
}

xir_status xir_diags_put(xir_diags *diags, const xir_diag *diag) {
    if (!diags) return diag->code;
    xir_diag copy = *diag;
    if ((unsigned)copy.severity > XIR_NOTE) copy.severity = XIR_ERROR;
    char *message = arena_take(&diags->arena, diag->message.size + 1);   // with a zero byte after it, as all messages
    if (!message) {
        put_spare(diags, &copy);
        return diag->code;
    }
    if (diag->message.size) memcpy(message, diag->message.data, diag->message.size);
    message[diag->message.size] = '\0';
    copy.message.data = message;
    put(diags, &copy);
    return diag->code;
}

static XIR_PRINTF(5, 0) xir_status add_args(xir_diags *diags, xir_severity severity, xir_status code, xir_str path,
                                            const char *format, va_list args) {
    if (!diags) return code;
    char few[512];
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(few, sizeof few, format, args);
    char *message = NULL;
    if (length >= 0) message = arena_take(&diags->arena, (size_t)length + 1);
    if (message && (size_t)length < sizeof few) memcpy(message, few, (size_t)length + 1);
    else if (message) vsnprintf(message, (size_t)length + 1, format, again);
    va_end(again);

    xir_diag diag = { .severity = severity, .code = code, .byte = XIR_NO_BYTE, .path = path };
    if ((unsigned)severity > XIR_NOTE) diag.severity = XIR_ERROR;
    if (message) {
        diag.message = (xir_str){ message, (size_t)length };
        put(diags, &diag);
    } else {
        put_spare(diags, &diag);
    }
    return code;
}

xir_status xir_diags_add(xir_diags *diags, xir_severity severity, xir_status code, xir_str path, const char *format, ...) {
    va_list args;
    va_start(args, format);
    add_args(diags, severity, code, path, format, args);
    va_end(args);
    return code;
}

xir_status diag_fail(xir_diags *why, xir_status code, xir_str path, const char *format, ...) {
    va_list args;
    va_start(args, format);
    add_args(why, XIR_ERROR, code, path, format, args);
    va_end(args);
    return code;
}

xir_status diag_failv(xir_diags *why, const xir_diag *at, const char *format, va_list args) {
    if (!why) return at->code;
    char sentence[SENTENCE_ROOM];
    xir_diag diag = *at;
    diag.message = text_vprint(sentence, sizeof sentence, format, args);
    return xir_diags_put(why, &diag);
}

xir_status diag_memory(xir_diags *why) {
    xir_diag diag = { .severity = XIR_ERROR, .code = XIR_E_MEMORY, .byte = XIR_NO_BYTE, .message = XIR_STR("out of memory") };
    if (why) put(why, &diag);
    return XIR_E_MEMORY;
}

xir_status diag_null(xir_diags *why, const char *what) {
    return diag_fail(why, XIR_E_MISSING, xir_str_of(NULL), "expected a %s, found NULL", what);
}

void diags_add_place(xir_diags *diags, size_t from, const char *file, int line) {
    xir_str text = { NULL, 0 };
    for (size_t i = from; i < xir_diags_count(diags); i++) {
        xir_diag *diag = (xir_diag *)(uintptr_t)xir_diags_at(diags, i);
        if (diag->file.size || diag->line) continue;
        if (!text.size && !arena_text(&diags->arena, xir_str_of(file), &text)) return;
        diag->file = text;
        diag->line = line > 0 ? (uint32_t)line : 0;
    }
}

/* ---- printing ---------------------------------------------------------------------------------------------- */

/* How many bytes of a well-formed character begin a text, or 0. */
static size_t character_length(const unsigned char *p, size_t size) {
    return p[0] < 0x80 ? 1 : utf8_length((const char *)p, (const char *)p + size);
}

/* Returns true if a well-formed character steers a terminal or an editor: C0, DEL, C1; marks that change the direction
 * of the text (U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069); line ends (U+2028, U+2029). */
static bool is_control(const unsigned char *p) {
    if (p[0] == 0xE2 && p[1] == 0x80) return p[2] == 0x8E || p[2] == 0x8F || (p[2] >= 0xA8 && p[2] <= 0xAE);
    if (p[0] == 0xE2 && p[1] == 0x81) return p[2] >= 0xA6 && p[2] <= 0xA9;
    return p[0] < 0x20 || p[0] == 0x7F || (p[0] == 0xC2 && p[1] < 0xA0) || (p[0] == 0xD8 && p[1] == 0x9C);
}

static void print_text(xir_str text, FILE *out) {
    const unsigned char *p = (const unsigned char *)text.data;
    for (size_t i = 0; i < text.size;) {
        size_t length = character_length(p + i, text.size - i);
        bool plain = length && !is_control(p + i);
        if (!length) length = 1;
        if (plain) fwrite(p + i, 1, length, out);
        else for (size_t k = 0; k < length; k++) fprintf(out, "\\x%02x", p[i + k]);
        i += length;
    }
}

void xir_diag_print(const xir_diag *diag, FILE *out) {
    print_text(diag->file, out);
    if (diag->line) {
        if (diag->file.size) fputc(':', out);
        fprintf(out, "%" PRIu32, diag->line);
        if (diag->column) fprintf(out, ":%" PRIu32, diag->column);
    } else if (diag->byte != XIR_NO_BYTE) {
        fprintf(out, "@0x%" PRIx64, diag->byte);
    }
    if (diag->file.size || diag->line || diag->byte != XIR_NO_BYTE) fputs(": ", out);
    if (diag->path.size) {
        print_text(diag->path, out);
        fputs(": ", out);
    }
    if (diag->severity == XIR_WARNING) fputs("warning: ", out);
    if (diag->severity == XIR_NOTE) fputs("note: ", out);
    print_text(diag->message, out);
    fputc('\n', out);
}

void xir_diags_print(const xir_diags *diags, FILE *out) {
    size_t n = xir_diags_count(diags);
    for (size_t i = 0; i < n; i++) xir_diag_print(xir_diags_at(diags, i), out);
}
