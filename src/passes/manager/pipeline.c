/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Pipelines as text: a recursive-descent parser with one token of lookahead, and a printer of the canonical spelling.
 * Every finding has the line and column of the wrong token. */
#include "manager/pipeline.h"
#include <stdarg.h>
#include <stdio.h>
#include "number.h"

const char pipeline_fix[] = "fix";

/* The one option of a group, in the form of a pass declaration. */
static const xir_pass_option group_options[] = {
    { "limit", XIR_PASS_INT, "100", "the maximum number of rounds" },
};
static const xir_pass_decl group = { XIR_PASS_HEAD(pipeline_fix, "repeats its steps"), .options = group_options,
                                     .n_options = 1 };

typedef struct parser {
    xir_pipeline *p;
    const char   *start, *next, *end;
    const char   *token;      /* where the last token began */
    xir_diags    *why;
    xir_status    status;
} parser;

/* ---- findings ------------------------------------------------------------------------------------------------ */

static XIR_PRINTF(4, 5) bool fail(parser *at, const char *place, xir_status code, const char *format, ...) {
    uint32_t line = 1, column = 1;
    for (const char *c = at->start; c < place; c++) {
        column = *c == '\n' ? 1 : column + 1;
        line += *c == '\n';
    }
    at->status = code;
    va_list list;
    va_start(list, format);
    diag_failv(at->why,
               &(xir_diag){ .severity = XIR_ERROR, .code = code, .file = XIR_STR("pipeline"), .byte = XIR_NO_BYTE,
                            .line = line, .column = column }, format, list);
    va_end(list);
    return false;
}

/* Fails with the expected thing and what was found instead. */
static bool expected(parser *at, const char *what) {
    if (at->next == at->end) return fail(at, at->next, XIR_E_SYNTAX, "expected %s, found the end", what);
    unsigned char c = (unsigned char)*at->next;
    if (c < 0x20 || c >= 0x7F)
        return fail(at, at->next, XIR_E_SYNTAX, "expected %s, found the byte 0x%02x", what, c);
    return fail(at, at->next, XIR_E_SYNTAX, "expected %s, found '%c'", what, c);
}

/* ---- tokens -------------------------------------------------------------------------------------------------- */

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

static void skip_blanks(parser *at) {
    while (at->next < at->end && is_blank(*at->next)) at->next++;
    at->token = at->next;
}

/* Takes a punctuation mark if it is the next token. */
static bool take(parser *at, char mark) {
    skip_blanks(at);
    if (at->next == at->end || *at->next != mark) return false;
    at->next++;
    return true;
}

static bool is_letter(char c) { return c >= 'a' && c <= 'z'; }
static bool is_name_part(char c) { return is_letter(c) || is_digit(c) || c == '-'; }

bool pipeline_is_name(xir_str text) {
    bool good = text.size && is_letter(text.data[0]);
    for (size_t i = 0; i < text.size && good; i++) good = is_name_part(text.data[i]);
    return good;
}

/* Also takes a text that only looks like a name, such as `Fold_2`: the finding is then that no pass has that name. */
static xir_str take_name(parser *at) {
    skip_blanks(at);
    const char *begin = at->next;
    for (; at->next < at->end; at->next++) {
        char c = *at->next;
        if (!is_name_part(c) && !(c >= 'A' && c <= 'Z') && c != '_') break;
    }
    return (xir_str){ begin, (size_t)(at->next - begin) };
}

/* Finds the closing quote first, so the time for many texts is linear in their bytes. */
static bool take_quoted(parser *at, xir_str *out) {
    const char *begin = ++at->next, *close = begin;
    while (close < at->end && *close != '"') close += *close == '\\' && close + 1 < at->end ? 2 : 1;
    if (close >= at->end) return fail(at, begin - 1, XIR_E_SYNTAX, "the closing \" is missing");
    char *text = arena_take(&at->p->arena, (size_t)(close - begin));
    if (!text) return diag_no_memory(&at->status, at->why);
    size_t n = 0;
    for (const char *c = begin; c < close; c++) {
        if (*c == '\\' && *++c != '"' && *c != '\\') {
            return fail(at, c - 1, XIR_E_SYNTAX, "expected \" or \\ after a backslash");
        }
        text[n++] = *c;
    }
    *out = (xir_str){ text, n };
    at->next = close + 1;
    return true;
}

static bool is_bare(char c) {
    return (unsigned char)c > 0x20 && c != 0x7F && c != ',' && c != '(' && c != ')' && c != '{' && c != '}' && c != '"';
}

static bool take_value(parser *at, xir_str *out) {
    skip_blanks(at);
    if (at->next < at->end && *at->next == '"') return take_quoted(at, out);
    const char *begin = at->next;
    while (at->next < at->end && is_bare(*at->next)) at->next++;
    if (at->next == begin) return expected(at, "a value");
    if (arena_text(&at->p->arena, (xir_str){ begin, (size_t)(at->next - begin) }, out)) return true;
    return diag_no_memory(&at->status, at->why);
}

/* ---- options ------------------------------------------------------------------------------------------------- */

/* check_value's findings have no place; adds it. */
static bool check_value(parser *at, const char *place, const xir_pass_decl *pass, const xir_pass_option *o,
                        xir_str value) {
    xir_diags *found = xir_diags_new(at->p->ctx);
    if (!found) return diag_no_memory(&at->status, at->why);
    xir_status status = pass_check_value(pass, o, value, XIR_E_TYPE, found);
    const xir_diag *first = xir_diags_at(found, 0);
    if (first) fail(at, place, status, "%.*s", (int)first->message.size, first->message.data);
    xir_diags_free(found);
    return !status;
}

/* name [ "=" value ]; `values` has the index of the option in its declaration. */
static bool parse_option(parser *at, const xir_pass_decl *pass, xir_str values[PIPELINE_OPTIONS],
                         bool given[PIPELINE_OPTIONS]) {
    xir_str name = take_name(at), value = { NULL, 0 };
    const char *place = at->token;
    if (!name.size) return expected(at, "the name of an option");
    xir_pass_option o;
    size_t i = pass_option_named(pass, name, &o);
    if (i == PASS_NO_OPTION) {
        char hint[PASS_HINT_ROOM];
        return fail(at, place, XIR_E_UNKNOWN, "%s has no option '%.*s'%s", pass->name, CLIP_TO(name, 80),
                    pass_option_hint(pass, name, hint));
    }
    if (given[i]) return fail(at, place, XIR_E_EXISTS, "duplicate option %s", o.name);
    if (take(at, '=')) {
        skip_blanks(at);
        place = at->token;
        if (!take_value(at, &value)) return false;
    } else if (o.kind != XIR_PASS_BOOL) {
        return fail(at, place, XIR_E_SYNTAX, "the option %s has no value: expected %s=...", o.name, o.name);
    }
    if (!check_value(at, place, pass, &o, value)) return false;
    values[i] = value;
    given[i] = true;
    return true;
}

/* The options between braces, up to the mark that ends them; '\0' stands for the end of the text. */
static bool parse_options(parser *at, const xir_pass_decl *pass, char end, pipeline_step *out) {
    xir_str values[PIPELINE_OPTIONS];
    bool given[PIPELINE_OPTIONS] = { false };
    skip_blanks(at);
    while (end ? !take(at, end) : at->next < at->end) {
        do {
            if (!parse_option(at, pass, values, given)) return false;
        } while (take(at, ','));
        if (end ? at->next < at->end && *at->next == end : at->next == at->end) continue;
        return expected(at, end ? "',' or '}'" : "','");
    }
    pass_setting *settings = arena_take(&at->p->arena, pass->n_options * sizeof *settings);
    if (!settings) return diag_no_memory(&at->status, at->why);
    xir_pass_option o;
    for (size_t i = 0; xir_pass_option_at(pass, i, &o); i++) {
        if (given[i]) settings[out->n_settings++] = (pass_setting){ xir_str_of(o.name), values[i] };
    }
    out->settings = settings;
    return true;
}

/* ---- printing ------------------------------------------------------------------------------------------------ */

static void print_value(buffer *out, xir_str value) {
    bool bare = value.size > 0;
    for (size_t i = 0; i < value.size; i++) bare &= is_bare(value.data[i]);
    if (bare) {
        buffer_put(out, value.data, value.size);
        return;
    }
    buffer_char(out, '"');
    for (size_t i = 0; i < value.size; i++) {
        if (value.data[i] == '"' || value.data[i] == '\\') buffer_char(out, '\\');
        buffer_char(out, value.data[i]);
    }
    buffer_char(out, '"');
}

static void print_step(buffer *out, const xir_pass_decl *pass, const pipeline_step *s) {
    buffer_str(out, pass->name);
    for (size_t i = 0; i < s->n_settings; i++) {
        xir_pass_option o;
        pass_option_named(pass, s->settings[i].name, &o);
        xir_str value = s->settings[i].value;
        buffer_char(out, i ? ',' : '{');
        buffer_str(out, o.name);
        if (o.kind == XIR_PASS_BOOL && (!value.size || xir_str_equal(value, XIR_STR("true")))) continue;
        buffer_char(out, '=');
        print_value(out, value);
    }
    if (s->n_settings) buffer_char(out, '}');
}

/* Keeps the step's own canonical text, for reports and findings. */
static bool keep_text(parser *at, const xir_pass_decl *pass, pipeline_step *s) {
    buffer text;
    buffer_init(&text, &at->p->ctx->alloc);
    print_step(&text, pass, s);
    bool kept = !text.failed && arena_text(&at->p->arena, (xir_str){ text.data, text.size }, &s->text);
    buffer_free(&text);
    return kept || diag_no_memory(&at->status, at->why);
}

static void print_steps(buffer *out, const xir_pipeline *p, size_t i, size_t end) {
    for (bool more = false; i < end; i = p->steps[i].end, more = true) {
        const pipeline_step *s = &p->steps[i];
        if (more) buffer_char(out, ',');
        buffer_put(out, s->text.data, s->text.size);
        if (s->pass) continue;
        buffer_char(out, '(');
        print_steps(out, p, i + 1, s->end);
        buffer_char(out, ')');
    }
}

xir_status xir_pipeline_print(const xir_pipeline *p, xir_text_buffer *out) {
    buffer text;
    buffer_init(&text, &p->ctx->alloc);
    *out = (xir_text_buffer){ .ctx = p->ctx };
    buffer_reserve(&text, 1);   /* so that the empty text has a buffer, too */
    print_steps(&text, p, 0, p->n);
    if (text.failed) {
        buffer_free(&text);
        return XIR_E_MEMORY;
    }
    *out = (xir_text_buffer){ .data = text.data, .size = text.size, .room = text.room, .ctx = p->ctx };
    return XIR_OK;
}

/* ---- steps --------------------------------------------------------------------------------------------------- */

static bool parse_steps(parser *at, uint32_t depth);

/* Appends a step; its address is valid until the next one is appended. */
static bool add_step(parser *at, const pipeline_step *s, size_t *i) {
    xir_pipeline *p = at->p;
    if (!mem_reserve(&p->ctx->alloc, (void **)&p->steps, &p->room, p->n + 1, sizeof *p->steps))
        return diag_no_memory(&at->status, at->why);
    *i = p->n;
    p->steps[p->n++] = *s;
    p->steps[*i].end = p->n;
    return true;
}

static bool parse_group(parser *at, const char *place, uint32_t depth) {
    pipeline_step s = { .depth = depth, .limit = PIPELINE_LIMIT };
    size_t i;
    if (depth == PIPELINE_DEPTH)
        return fail(at, place, XIR_E_LIMIT, "expected at most %d nested groups, found more", PIPELINE_DEPTH);
    if (take(at, '{') && !parse_options(at, &group, '}', &s)) return false;
    if (s.n_settings) {
        pass_value values[PIPELINE_OPTIONS];
        pass_read_values(at->p->ctx, &group, s.settings, s.n_settings, NULL, values);
        s.limit = values[0].as.integer;
        if (s.limit < 1) return fail(at, place, XIR_E_BOUNDS, "expected a limit of at least 1 for a group");
    }
    if (!take(at, '(')) return expected(at, "'('");
    if (!keep_text(at, &group, &s) || !add_step(at, &s, &i) || !parse_steps(at, depth + 1)) return false;
    if (!take(at, ')')) return expected(at, "',' or ')'");
    at->p->steps[i].end = at->p->n;
    return true;
}

static bool parse_step(parser *at, uint32_t depth) {
    xir_str name = take_name(at);
    const char *place = at->token;
    pipeline_step s = { .depth = depth };
    size_t i;
    if (!name.size) return expected(at, "the name of a pass");
    if (xir_str_equal(name, xir_str_of(pipeline_fix))) return parse_group(at, place, depth);
    s.pass = xir_pass_find(at->p->ctx, name);
    if (!s.pass) {
        xir_str near = pass_near(at->p->ctx, name);
        return fail(at, place, XIR_E_UNKNOWN, "there is no pass '%.*s'" NEAR_FORMAT, CLIP_TO(name, 80),
                     NEAR_ARGS(near));
    }
    if (take(at, '{') && !parse_options(at, s.pass, '}', &s)) return false;
    return keep_text(at, s.pass, &s) && add_step(at, &s, &i);
}

static bool parse_steps(parser *at, uint32_t depth) {
    do {
        if (!parse_step(at, depth)) return false;
    } while (take(at, ','));
    return true;
}

/* ---- interface ----------------------------------------------------------------------------------------------- */

xir_pipeline *xir_pipeline_new(xir_context *ctx, xir_diags *why) {
    xir_pipeline *p = mem_new(&ctx->alloc, sizeof *p);
    if (!p) {
        diag_memory(why);
        return NULL;
    }
    *p = (xir_pipeline){ .ctx = ctx };
    arena_init(&p->arena, &ctx->alloc);
    context_retain(ctx);
    return p;
}

void xir_pipeline_free(xir_pipeline *p) {
    if (!p) return;
    xir_context *ctx = p->ctx;
    arena_free(&p->arena);
    mem_free(&ctx->alloc, p->steps, p->room * sizeof *p->steps);
    mem_free(&ctx->alloc, p, sizeof *p);
    xir_context_free(ctx);
}

static parser parser_of(xir_pipeline *p, xir_str text, xir_diags *why) {
    const char *start = text.size ? text.data : "";
    return (parser){ .p = p, .start = start, .next = start, .end = start + text.size, .token = start, .why = why };
}

xir_pipeline *xir_pipeline_parse(xir_context *ctx, xir_str text, xir_diags *why) {
    xir_pipeline *p = xir_pipeline_new(ctx, why);
    if (!p) return NULL;
    parser at = parser_of(p, text, why);
    skip_blanks(&at);
    bool good = at.next == at.end || parse_steps(&at, 0);
    if (good && at.next < at.end) good = expected(&at, "','");
    if (good) return p;
    xir_pipeline_free(p);
    return NULL;
}

static bool add_pass(parser *at, const xir_pass_decl *pass) {
    pipeline_step s = { .pass = pass };
    size_t i;
    return parse_options(at, pass, '\0', &s) && keep_text(at, pass, &s) && add_step(at, &s, &i);
}

xir_pipeline *pipeline_of_pass(xir_context *ctx, const xir_pass_decl *pass, xir_str options, xir_status *status,
                               xir_diags *why) {
    xir_pipeline *p = xir_pipeline_new(ctx, why);
    *status = XIR_E_MEMORY;
    if (!p) return NULL;
    parser at = parser_of(p, options, why);
    if (add_pass(&at, pass)) return p;
    *status = at.status;
    xir_pipeline_free(p);
    return NULL;
}

xir_status xir_pipeline_add(xir_pipeline *p, const xir_pass_decl *pass, const char *options, xir_diags *why) {
    if (!p) return diag_null(why, "pipeline");
    if (!pass) return diag_null(why, "pass");
    xir_status status = pass_check(p->ctx, pass, why);
    parser at = parser_of(p, xir_str_of(options), why);
    return status || add_pass(&at, pass) ? status : at.status;
}

/* ---- steps of other pipelines -------------------------------------------------------------------------------- */

/* Copies what a step points to into the arena of the pipeline. */
static bool keep_step(xir_pipeline *p, pipeline_step *s) {
    pass_setting *settings = arena_take(&p->arena, (s->n_settings + 1) * sizeof *settings);
    bool ok = settings && arena_text(&p->arena, s->text, &s->text);
    for (size_t i = 0; i < s->n_settings && ok; i++) {
        settings[i].name = s->settings[i].name;   /* of the declaration */
        ok = arena_text(&p->arena, s->settings[i].value, &settings[i].value);
    }
    s->settings = settings;
    return ok;
}

/* The step of a group that repeats `n` steps after it. */
static bool make_group(parser *at, int64_t limit, size_t n, pipeline_step *out) {
    char room[NUMBER_ROOM];
    pass_setting *setting = arena_take(&at->p->arena, sizeof *setting);
    const xir_str value = { room, number_put_i64(room, limit) };
    if (!setting || !arena_text(&at->p->arena, value, &setting->value)) return diag_no_memory(&at->status, at->why);
    setting->name = xir_str_of(group_options[0].name);
    *out = (pipeline_step){ .settings = setting, .n_settings = 1, .limit = limit, .end = at->p->n + 1 + n };
    return keep_text(at, &group, out);
}

static xir_status check_append(const xir_pipeline *p, const xir_pipeline *steps, int64_t limit, xir_diags *why) {
    if (!p || !steps) return diag_null(why, "pipeline");
    if (p->ctx != steps->ctx)
        return diag_fail(why, XIR_E_INVALID, XIR_STR(""), "the pipelines have two contexts");
    if (limit < 0) return diag_fail(why, XIR_E_BOUNDS, XIR_STR(""), "expected a limit of at least 1 for a group");
    for (size_t i = 0; i < steps->n && limit; i++) {
        if (steps->steps[i].pass || steps->steps[i].depth + 1 < PIPELINE_DEPTH) continue;
        return diag_fail(why, XIR_E_LIMIT, XIR_STR(""), "expected at most %d nested groups, found more",
                         PIPELINE_DEPTH);
    }
    return XIR_OK;
}

xir_status xir_pipeline_append(xir_pipeline *p, const xir_pipeline *steps, int64_t limit, xir_diags *why) {
    xir_status status = check_append(p, steps, limit, why);
    if (status) return status;
    const size_t n = steps->n, first = p->n + (limit > 0);
    parser at = parser_of(p, XIR_STR(""), why);
    if (!mem_reserve(&p->ctx->alloc, (void **)&p->steps, &p->room, first + n, sizeof *p->steps))
        return diag_memory(why);
    if (limit && !make_group(&at, limit, n, &p->steps[p->n])) return at.status;
    for (size_t i = 0; i < n; i++) {
        pipeline_step *s = &p->steps[first + i];
        *s = steps->steps[i];   /* of the same pipeline too */
        s->depth += limit > 0;
        s->end += first;
        if (!keep_step(p, s)) return diag_memory(why);
    }
    p->n = first + n;
    return XIR_OK;
}

const xir_pass_decl *pipeline_pass(const xir_pipeline *p, xir_context *ctx, xir_str name) {
    for (size_t i = 0; p && i < p->n; i++) {
        const xir_pass_decl *pass = p->steps[i].pass;
        if (pass && xir_str_equal(xir_str_of(pass->name), name)) return pass;
    }
    return xir_pass_find(ctx, name);
}
