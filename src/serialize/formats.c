/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* All formats: those of formats.def, and those that programs and plug-ins register with a context. The content decides
 * the format of a file. The name decides only between formats that fit equally well: names are changed more easily. */
#include "formats.h"
#include "context.h"
#include "library.h"
#include "number.h"
#include "sized.h"

/* ---- the list ------------------------------------------------------------------------------------------------ */

/* All formats of the library. Only callers that may lack a context refer to them, so that a program which names the
 * formats of its contexts (xir_context_new_with) is not linked with the others. */
static xir_context every_format = {
    .alloc   = MEMORY_DEFAULT,
    .lock    = PTHREAD_MUTEX_INITIALIZER,
    .formats = {
#define FORMAT(id, page, fuzz)  &format_##id,
#define DIALECT FORMAT
#include "formats.def"
#undef DIALECT
#undef FORMAT
    },
    .n_formats = FORMAT_COUNT,
};

xir_context *formats_of(xir_context *ctx) { return ctx ? ctx : &every_format; }

bool format_at(xir_context *ctx, size_t i, format *out) {
    if (i < ctx->n_formats) {
        *out = *ctx->formats[i];
        return true;
    }
    const xir_format_decl *decl = registry_at(ctx, REGISTRY_FORMAT, i - ctx->n_formats);
    if (decl) *out = format_declared(decl);
    return decl;
}

static xir_status tell(xir_context *ctx, size_t i, xir_format_info *out, xir_diags *why) {
    format f;
    if (!format_at(ctx, i, &f)) return diag_fail(why, XIR_E_BOUNDS, XIR_STR(""), "there is no format %zu", i);
    const bool dialect = f.traits & XIR_FORMAT_DIALECT;
    const xir_format_info info = {
        .name = f.name, .meaning = f.meaning, .suffixes = f.suffixes, .reads = f.read, .writes = f.write,
        .pair = f.params_found, .text = f.traits & XIR_FORMAT_TEXT, .indents = f.traits & XIR_FORMAT_INDENTS,
        .aligns = f.traits & XIR_FORMAT_ALIGNS, .dialect = dialect,
        .plains = f.traits & XIR_FORMAT_PLAINS, .splits = f.traits & XIR_FORMAT_SPLITS,
        .pair_always = f.params_always, .operators = f.operators ? f.operators : dialect ? f.name : NULL };
    return sized_fill(SIZED(xir_format_info, suffixes), out, &info, why);
}

xir_status xir_context_format_at(xir_context *ctx, size_t i, xir_format_info *out, xir_diags *why) {
    return ctx ? tell(ctx, i, out, why) : diag_null(why, "context");
}

xir_status xir_format_at(size_t i, xir_format_info *out, xir_diags *why) {
    return tell(&every_format, i, out, why);
}

format_list format_names(xir_context *ctx, bool written) {
    format_list l = { "" };
    format f;
    size_t at = 0;
    for (size_t i = 0; format_at(ctx, i, &f) && at < sizeof l.text; i++) {
        bool has = written ? f.write != NULL : f.read != NULL;
        if (has) at += (size_t)snprintf(l.text + at, sizeof l.text - at, "%s%s", at ? ", " : "", f.name);
    }
    return l;
}

/* ---- finding one --------------------------------------------------------------------------------------------- */

static bool find(xir_context *ctx, const char *name, format *out) {
    for (size_t i = 0; format_at(ctx, i, out); i++)
        if (strcmp(out->name, name) == 0) return true;
    return false;
}

bool format_named(xir_context *ctx, const char *format_name, format *out, xir_diags *why) {
    if (find(ctx, format_name, out)) return true;
    diag_fail(why, XIR_E_UNKNOWN, XIR_STR(""), "there is no format '%.40s', expected one of %s", format_name,
              format_names(ctx, false).text);
    return false;
}

bool format_detect(xir_context *ctx, const void *head, size_t size, uint64_t total, xir_str name, format *out) {
    if (size > XIR_PROBE_HEAD) size = XIR_PROBE_HEAD;
    xir_probe file = {
        .size = sizeof file, .head_size = (uint32_t)size, .head = head, .total = total, .name = name };
    xir_probe_grade best = XIR_PROBE_NO;
    size_t longest = 0, which;
    format f;
    for (size_t i = 0; format_at(ctx, i, &f); i++) {
        void *user = f.decl ? f.decl->user : NULL;
        xir_probe_grade grade = f.probe && file.head_size ? f.probe(&file, user) : XIR_PROBE_NO;
        size_t suffix = suffix_length(f.suffixes, name, &which);
        if (grade < best || (grade == best && suffix <= longest)) continue;
        best = grade;
        longest = suffix;
        *out = f;
    }
    return best > XIR_PROBE_NO || longest;
}

const char *xir_format_of(const void *head, size_t size) {
    format f;
    return format_detect(&every_format, head, size, XIR_NO_BYTE, XIR_STR(""), &f) ? f.name : NULL;
}

const char *xir_format_detect(xir_context *ctx, const void *head, size_t size, uint64_t total, xir_str name) {
    format f;
    return format_detect(formats_of(ctx), head, size, total, name, &f) ? f.name : NULL;
}

/* ---- beginnings ---------------------------------------------------------------------------------------------- */

static bool refuse(xir_diags *why, const xir_diag *at, const char *sentence, ...) XIR_PRINTF(3, 4);
static bool refuse(xir_diags *why, const xir_diag *at, const char *sentence, ...) {
    va_list args;
    va_start(args, sentence);
    diag_failv(why, at, sentence, args);
    va_end(args);
    return false;
}

typedef bool may_begin_fn(const uint8_t *head, size_t size);

/* `what`: "file", "parameter file". */
static bool may_begin(may_begin_fn *fn, const format *f, const char *what, const void *head, size_t size, xir_str name,
                      xir_diags *why) {
    enum { SHOWN = 8 };
    const uint8_t *bytes = head;
    char shown[3 * SHOWN + 1] = "";
    if (!fn || fn(bytes, size)) return true;
    for (size_t i = 0; i < SHOWN && i < size; i++) snprintf(shown + 3 * i, 4, " %02X", bytes[i]);
    const xir_diag at = { .severity = XIR_ERROR, .code = XIR_E_SYNTAX, .file = name, .byte = 0 };
    return refuse(why, &at, "a %s of format %s does not begin with the bytes%s: the rest is not read", what, f->name,
                  shown);
}

bool format_may_begin(const format *f, const void *head, size_t size, xir_str name, xir_diags *why) {
    return may_begin(f->may_begin, f, "file", head, size, name, why);
}

bool xir_format_may_begin(xir_context *ctx, const char *format_name, const void *head, size_t size, xir_str name,
                          xir_diags *why) {
    format f;
    return !format_named(formats_of(ctx), format_name, &f, NULL) || format_may_begin(&f, head, size, name, why);
}

bool xir_params_may_begin(xir_context *ctx, const char *format_name, const void *head, size_t size, xir_str name,
                          xir_diags *why) {
    format f;
    return !format_named(formats_of(ctx), format_name, &f, NULL) ||
           may_begin(f.params_may_begin, &f, "parameter file", head, size, name, why);
}

/* ---- adding one ---------------------------------------------------------------------------------------------- */

static bool is_format_name(const char *name) {
    if (!name || !*name) return false;
    for (; *name; name++)
        if (!(*name >= 'a' && *name <= 'z') && !is_digit(*name) && !strchr("-_", *name)) return false;
    return true;
}

static bool has_words(const char *words) { return words && words[strspn(words, " ")]; }

/* A parameter file that is read must have its functions, and so must one that is written. */
static bool is_whole(const xir_format_decl *decl) {
    bool found = has_words(decl->params_found), written = has_words(decl->params_written);
    if (found != (decl->read_params != NULL) || written != (decl->write_params != NULL)) return false;
    return !found ? !written : decl->read && written == (decl->write != NULL);
}

static xir_status check_decl(xir_context *ctx, const void *const *items, size_t i, const char **name, xir_diags *why) {
    const xir_format_decl *decl = items[i];
    if (decl->abi != XIR_ABI || decl->size < SIZE_TO(xir_format_decl, find_places)) {
        return diag_fail(why, XIR_E_ABI, XIR_STR(""), "a format was declared for another version of the binary "
                         "interface");
    }
    if (!is_format_name(decl->name)) {
        return diag_fail(why, XIR_E_INVALID, XIR_STR(""), "'%.40s' is not a format name, expected lower-"
                         "case letters, digits and dashes", decl->name ? decl->name : "");
    }
    *name = decl->name;
    if (sized_beyond(decl, sizeof *decl, decl->size) < decl->size) {
        return diag_fail(why, XIR_E_UNSUPPORTED, XIR_STR(""), "the format %s sets a member that this version does not know",
                         decl->name);
    }
    if (!decl->doc || !has_words(decl->suffixes)) {
        return diag_fail(why, XIR_E_INVALID, XIR_STR(""), "the format %s has no description or no suffix", decl->name);
    }
    if (!is_whole(decl)) {
        return diag_fail(why, XIR_E_INVALID, XIR_STR(""),
                         "the format %s has a parameter file, but not all functions to "
                         "read and write both files", decl->name);
    }
    for (size_t k = 0; k < ctx->n_formats; k++) {
        if (strcmp(ctx->formats[k]->name, decl->name) != 0) continue;
        return diag_fail(why, XIR_E_EXISTS, XIR_STR(""), "there is a format '%s' already", decl->name);
    }
    return XIR_OK;
}

static const registry_rules rules = { .noun = "format", .check = check_decl };

xir_status serialize_register(xir_context *ctx) {
    registry_define(ctx, REGISTRY_FORMAT, &rules);
    return XIR_OK;
}

xir_status xir_format_register(xir_context *ctx, const xir_format_decl *decl, xir_diags *why) {
    const void *item = decl;
    bool again = decl && decl->name && registry_find(ctx, REGISTRY_FORMAT, xir_str_of(decl->name)) == item;
    return again ? XIR_OK : registry_add(ctx, REGISTRY_FORMAT, &item, 1, why);
}
