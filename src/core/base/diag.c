/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A list of findings: records and texts in an arena, so that they keep their addresses, and an array of pointers to
 * them. One record is inside the list itself. It replaces a finding for which memory runs out, so adding never
 * fails. Findings that come when the list is full are only counted, and their sentences are never made. */
#include <inttypes.h>
#include <stdarg.h>
#include "context_base.h"
#include "diagnose.h"
#include "memory.h"
#include "memory_limit.h"
#include "task.h"
#include "utf8.h"

struct xir_diags {
    xir_allocator    alloc;
    arena            arena;
    const xir_diag **items;
    size_t           n, room;
    size_t           most;                /* the most that are kept                   */
    size_t           n_of[XIR_NOTE + 1];  /* all findings of each severity            */
    size_t           more[XIR_NOTE + 1];  /* those of them that are not kept          */
    bool             has_memory;          /* one reports that memory ran out          */
    diag_seen_fn    *seen;                /* gets each finding; NULL: nobody          */
    void            *user;
    xir_diag         spare;
    size_t           spare_at;            /* its index; NOT_USED: it is not in use    */
};

#define NOT_USED SIZE_MAX

xir_diags *xir_diags_new(xir_context *ctx) {
    const xir_allocator *alloc = context_alloc(ctx);
    xir_diags *diags = mem_new(alloc, sizeof *diags);
    if (!diags) return NULL;
    const uint64_t most = context_base_of(ctx)->limits.max_findings;
    *diags = (xir_diags){ .alloc = *alloc, .most = most < SIZE_MAX ? (size_t)most : SIZE_MAX, .spare_at = NOT_USED };
    arena_init(&diags->arena, &diags->alloc);
    return diags;
}

void xir_diags_clear(xir_diags *diags) {
    arena_free(&diags->arena);
    memset(diags->n_of, 0, sizeof diags->n_of);
    memset(diags->more, 0, sizeof diags->more);
    diags->has_memory = false;
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

void xir_diags_set_max(xir_diags *diags, size_t most) {
    if (diags) diags->most = most;
}

size_t xir_diags_more(const xir_diags *diags) {
    return diags ? diags->more[XIR_ERROR] + diags->more[XIR_WARNING] + diags->more[XIR_NOTE] : 0;
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

static xir_severity known_severity(xir_severity s) { return (unsigned)s <= XIR_NOTE ? s : XIR_ERROR; }

static void count_more(xir_diags *diags, xir_severity severity, size_t n) {
    diags->n_of[severity] += n;
    diags->more[severity] += n;
}

void diags_watch(xir_diags *diags, diag_seen_fn *seen, void *user) {
    if (!diags) return;
    diags->seen = seen;
    diags->user = user;
}

/* Even a full list takes the first error and the first out-of-memory finding. */
static bool is_counted(xir_diags *diags, xir_severity severity, xir_status code) {
    severity = known_severity(severity);
    bool is_error = severity == XIR_ERROR, for_memory = is_error && code == XIR_E_MEMORY;
    bool is_first = is_error &&
        (diags->n_of[XIR_ERROR] == diags->more[XIR_ERROR] || (for_memory && !diags->has_memory));
    if (is_first || xir_diags_count(diags) < diags->most) return false;
    count_more(diags, severity, 1);
    return true;
}

bool diag_is_counted(xir_diags *diags, xir_severity severity, xir_status code) {
    return !diags || (!diags->seen && is_counted(diags, severity, code));
}

/* Returns true if a finding is to be kept; otherwise counts it. */
static bool is_kept(xir_diags *diags, xir_severity severity, xir_status code, xir_str path) {
    if (diags && diags->seen) diags->seen(diags->user, known_severity(severity), path);
    return diags && !is_counted(diags, severity, code);
}

/* A file often has many findings: its name is copied once. */
static bool copy_file(xir_diags *diags, xir_str file, xir_str *out) {
    const xir_diag *last = diags->n ? diags->items[diags->n - 1] : NULL;
    if (last && xir_str_equal(last->file, file)) {
        *out = last->file;
        return true;
    }
    return arena_text(&diags->arena, file, out);
}

static bool copy_rule(xir_diags *diags, const xir_diag_rule *rule, const xir_diag_rule **out) {
    *out = NULL;
    if (!rule) return true;
    xir_diag_rule *copy = arena_take(&diags->arena, sizeof *copy);
    *out = copy;
    return copy && arena_text(&diags->arena, rule->target, &copy->target) &&
           arena_text(&diags->arena, rule->name, &copy->name) &&
           arena_text(&diags->arena, rule->found, &copy->found) &&
           arena_text(&diags->arena, rule->needed, &copy->needed) &&
           arena_text(&diags->arena, rule->mend, &copy->mend);
}

/* Records a lost finding: the spare record keeps the worst severity and the first status. */
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
    if (!copy_file(diags, diag->file, &copy->file) || !arena_text(&diags->arena, diag->path, &copy->path) ||
        !copy_rule(diags, diag->rule, &copy->rule)) {
        put_spare(diags, diag);
        return;
    }
    diags->items[diags->n++] = copy;
    diags->n_of[copy->severity]++;
    diags->has_memory |= copy->severity == XIR_ERROR && copy->code == XIR_E_MEMORY;
}

/* Adds a copy of a finding that is to be kept. */
static xir_status keep(xir_diags *diags, const xir_diag *diag) {
    xir_diag copy = *diag;
    copy.severity = known_severity(copy.severity);
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

xir_status xir_diags_append(xir_diags *diags, const xir_diag *diag) {
    return is_kept(diags, diag->severity, diag->code, diag->path) ? keep(diags, diag) : diag->code;
}

static XIR_PRINTF(5, 0) xir_status add_args(xir_diags *diags, xir_severity severity, xir_status code, xir_str path,
                                            const char *format, va_list args) {
    if (!is_kept(diags, severity, code, path)) return code;
    char few[512];
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(few, sizeof few, format, args);
    char *message = NULL;
    if (length >= 0) message = arena_take(&diags->arena, (size_t)length + 1);
    if (message && (size_t)length < sizeof few) memcpy(message, few, (size_t)length + 1);
    else if (message) vsnprintf(message, (size_t)length + 1, format, again);
    va_end(again);

    xir_diag diag = { .severity = known_severity(severity), .code = code, .byte = XIR_NO_BYTE, .path = path };
    if (message) {
        diag.message = (xir_str){ message, (size_t)length };
        put(diags, &diag);
    } else {
        put_spare(diags, &diag);
    }
    return code;
}

xir_status xir_diags_add(xir_diags *diags, xir_severity severity, xir_status code, xir_str path,
                         const char *format, ...) {
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
    if (!is_kept(why, at->severity, at->code, at->path)) return at->code;
    char sentence[SENTENCE_ROOM];
    xir_diag diag = *at;
    diag.message = text_vprint(sentence, sizeof sentence, format, args);
    return keep(why, &diag);
}

xir_status diag_memory(xir_diags *why) {
    char limit[MEMORY_LIMIT_ROOM];
    xir_diag diag = { .severity = XIR_ERROR, .code = XIR_E_MEMORY, .byte = XIR_NO_BYTE,
                      .message = XIR_STR("out of memory") };
    if (why && task_is_cancelled()) {
        (void)task_fail(why);
    } else if (why && memory_limit_exceeded()) {
        diag.code = XIR_E_LIMIT;
        if (!memory_limit_say(limit)) return XIR_E_MEMORY;
        diag.message = xir_str_of(limit);
        xir_diags_append(why, &diag);
    } else if (why && !is_counted(why, XIR_ERROR, XIR_E_MEMORY)) {
        put(why, &diag);
    }
    return XIR_E_MEMORY;
}

xir_status diag_null(xir_diags *why, const char *what) {
    return diag_fail(why, XIR_E_MISSING, xir_str_of(NULL), "expected a %s, found NULL", what);
}

void diags_append(xir_diags *to, const xir_diags *from) {
    const xir_diag *diag;
    for (size_t i = 0; (diag = xir_diags_at(from, i)) != NULL; i++) xir_diags_append(to, diag);
    diags_append_more(to, from);
}

void diags_append_more(xir_diags *to, const xir_diags *from) {
    for (size_t i = 0; to && from && i <= XIR_NOTE; i++) count_more(to, (xir_severity)i, from->more[i]);
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

/* The length of the well-formed character that a text begins with, or 0. */
static size_t character_length(const unsigned char *p, size_t size) {
    return p[0] < 0x80 ? 1 : utf8_length((const char *)p, (const char *)p + size);
}

/* Returns true if a well-formed character can control a terminal or an editor: C0, DEL, C1; marks that change the
 * direction of text (U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069); line ends (U+2028, U+2029). */
static bool is_control(const unsigned char *p) {
    if (p[0] == 0xE2 && p[1] == 0x80) return p[2] == 0x8E || p[2] == 0x8F || (p[2] >= 0xA8 && p[2] <= 0xAE);
    if (p[0] == 0xE2 && p[1] == 0x81) return p[2] >= 0xA6 && p[2] <= 0xA9;
    return p[0] < 0x20 || p[0] == 0x7F || (p[0] == 0xC2 && p[1] < 0xA0) || (p[0] == 0xD8 && p[1] == 0x9C);
}

/* Collects output, so that an unbuffered stream such as stderr gets it in a few pieces. */
typedef struct printer {
    FILE  *out;
    size_t used;
    char   block[4096];
} printer;

static void flush(printer *p) {
    if (p->used) fwrite(p->block, 1, p->used, p->out);
    p->used = 0;
}

static void print_bytes(printer *p, const void *data, size_t size) {
    if (size > sizeof p->block - p->used) flush(p);
    if (size > sizeof p->block) {
        fwrite(data, 1, size, p->out);
        return;
    }
    memcpy(p->block + p->used, data, size);
    p->used += size;
}

static XIR_PRINTF(2, 3) void print(printer *p, const char *format, ...) {
    char few[80];   /* words and numbers */
    va_list args;
    va_start(args, format);
    int n = vsnprintf(few, sizeof few, format, args);
    va_end(args);
    if (n > 0) print_bytes(p, few, (size_t)n < sizeof few ? (size_t)n : sizeof few - 1);
}

static void print_text(printer *p, xir_str text) {
    const unsigned char *at = (const unsigned char *)text.data;
    size_t plain = 0;   /* start of the bytes that can be printed unchanged */
    for (size_t i = 0; i < text.size;) {
        size_t length = character_length(at + i, text.size - i);
        if (length && !is_control(at + i)) {
            i += length;
            continue;
        }
        print_bytes(p, at + plain, i - plain);
        for (size_t k = length ? length : 1; k > 0; k--) print(p, "\\x%02x", at[i++]);
        plain = i;
    }
    if (plain < text.size) print_bytes(p, at + plain, text.size - plain);
}

static void print_diag(printer *p, const xir_diag *diag) {
    print_text(p, diag->file);
    if (diag->line) {
        print(p, "%s%" PRIu32, diag->file.size ? ":" : "", diag->line);
        if (diag->column) print(p, ":%" PRIu32, diag->column);
    } else if (diag->byte != XIR_NO_BYTE) {
        print(p, "@0x%" PRIx64, diag->byte);
    }
    if (diag->file.size || diag->line || diag->byte != XIR_NO_BYTE) print(p, ": ");
    if (diag->path.size) {
        print_text(p, diag->path);
        print(p, ": ");
    }
    if (diag->severity == XIR_WARNING) print(p, "warning: ");
    if (diag->severity == XIR_NOTE) print(p, "note: ");
    print_text(p, diag->message);
    print(p, "\n");
}

void xir_diag_print(const xir_diag *diag, FILE *out) {
    printer p;
    p.out = out;
    p.used = 0;
    print_diag(&p, diag);
    flush(&p);
}

void xir_diags_print(const xir_diags *diags, FILE *out) {
    size_t n = xir_diags_count(diags), more = xir_diags_more(diags);
    printer p;
    p.out = out;
    p.used = 0;
    for (size_t i = 0; i < n; i++) print_diag(&p, xir_diags_at(diags, i));
    if (more) print(&p, "and %zu more\n", more);
    flush(&p);
}
