/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Targets: one row each, the library's in targets.def, others from programs and plug-ins. A row makes a class of
 * objects. The class contains the target's number in its context (its kind), so that kind, row and inference of an
 * op's target are simple loads. Questions about targets are answered from the row. No other file compares kinds,
 * except for the host, whose rules hold everywhere. */
#include <stdio.h>
#include "forms.h"
#include "number.h"
#include "sized.h"
#include "types.h"

/* A target with cores; targets without cores consist of the head alone. */
typedef struct cored_target {
    xir_object head;
    xir_str    core;
} cored_target;

/* ---- the library's ----------------------------------------------------------------------------------------- */

static const int64_t any_tiles[] = { XIR_ANY_TILE, 0 };

#define NO_TILES   NULL
#define ANY_TILES  any_tiles
#define TILES(...) (const int64_t[]){ __VA_ARGS__, 0 }
#define NO_CORES   NULL
#define TARGET(id, KIND, key, accelerator_, tiles_, cores_, describe_)                                            \
    [XIR_TARGET_##KIND] = { XIR_TARGET_HEAD(#key, #id, describe_), .accelerator = accelerator_, .tiles = tiles_, \
                            .cores = cores_ },
#define CORE_TARGET TARGET
static const xir_target_row builtin[XIR_TARGET_COUNT] = {
#include <xir/targets.def>
};
#undef TARGET
#undef CORE_TARGET

#define TARGET(id, KIND, ...) [XIR_TARGET_##KIND] = CLASS_##id##_target,
#define CORE_TARGET TARGET
static const class_number builtin_classes[XIR_TARGET_COUNT] = {
#include <xir/targets.def>
};
#undef TARGET
#undef CORE_TARGET

/* ---- asking ------------------------------------------------------------------------------------------------ */

xir_target_kind xir_target_kind_of(const xir_target *target) {
    if (!target) return XIR_TARGET_HOST;
    int what = object_what(target);
    return what ? (xir_target_kind)(what - 1) : XIR_TARGET_CUSTOM;
}

const xir_target_row *xir_target_row_of(const xir_target *target) {
    if (!target) return &builtin[XIR_TARGET_HOST];
    return ((const xir_object *)target)->cls->ctx->targets[xir_target_kind_of(target)];
}

xir_str xir_target_core(const xir_target *target) {
    if (!object_what(target) || !xir_target_row_of(target)->cores) return XIR_STR("");
    return ((const cored_target *)target)->core;
}

const xir_target_row *xir_target_row_at(xir_context *ctx, size_t kind) {
    pthread_mutex_lock(&ctx->lock);
    const xir_target_row *row = kind < ctx->n_targets ? ctx->targets[kind] : NULL;
    pthread_mutex_unlock(&ctx->lock);
    return row;
}

static int find(const xir_context *ctx, xir_str word, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        const xir_target_row *row = ctx->targets[i];
        if (xir_str_equal(word, xir_str_of(row->key)) || xir_str_equal(word, xir_str_of(row->name))) return (int)i;
    }
    return -1;
}

int xir_target_find(xir_context *ctx, xir_str word) {
    pthread_mutex_lock(&ctx->lock);
    int kind = find(ctx, word, ctx->n_targets);
    pthread_mutex_unlock(&ctx->lock);
    return kind;
}

/* ---- making ------------------------------------------------------------------------------------------------ */

static const xir_class *class_of_kind(xir_context *ctx, unsigned kind) {
    if (kind < XIR_TARGET_COUNT) return ctx->types[builtin_classes[kind]];
    return xir_class_find(ctx, xir_str_of(ctx->targets[kind]->key));
}

const xir_target *target_make(object_pool *pool, xir_target_kind kind, xir_str core) {
    cored_target target = { .head.cls = class_of_kind(pool->ctx, kind) };
    if (pool->ctx->targets[kind]->cores) target.core = core;
    return (const xir_target *)pool_intern(pool, &target.head);
}

const xir_target *xir_target_of_kind(xir_context *ctx, xir_target_kind kind, const char *core) {
    const xir_target_row *row = (unsigned)kind < XIR_TARGET_MAX ? xir_target_row_at(ctx, kind) : NULL;
    if (!row || (row->cores && !core)) return NULL;
    return target_make(context_pool(ctx), kind, xir_str_of(core));
}

const xir_target *xir_target_named(xir_context *ctx, xir_str word) {
    const int kind = xir_target_find(ctx, word);
    return kind < 0 ? NULL : xir_target_of_kind(ctx, (xir_target_kind)kind, NULL);
}

/* Returns the offset of the core, after a colon or bracket; the size of the text if it names none. Keys have double
 * colons. */
static size_t core_start(xir_str text) {
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] == '(') return i + 1;
        if (text.data[i] != ':') continue;
        if (i + 1 == text.size || text.data[i + 1] != ':') return i + 1;
        i++;
    }
    return text.size + 1;
}

static void no_such_target(xir_context *ctx, xir_str text, xir_str name, xir_diags *why) {
    size_t distance = SIZE_MAX;
    xir_str near = { NULL, 0 };
    const xir_target_row *row;
    for (size_t i = 0; (row = xir_target_row_at(ctx, i)); i++) {
        const xir_str other = xir_str_of(row->name);
        if (!xir_str_equal(other, name) && xir_str_is_nearer(name, other, &distance)) near = other;
    }
    diag_fail(why, XIR_E_UNKNOWN, XIR_STR(""), near.size ? "there is no target '%.*s'; did you mean '%.*s'?"
              : "there is no target '%.*s'%.*s", CLIP(text), (int)near.size, near.size ? near.data : "");
}

const xir_target *xir_target_parse(xir_context *ctx, xir_str text, xir_diags *why) {
    enum { CORE_MOST = 64 };
    const size_t start = core_start(text);
    const xir_str name = { text.data, start - 1 };
    const int kind = xir_target_find(ctx, name);
    const xir_target_row *row = kind < 0 ? NULL : xir_target_row_at(ctx, (size_t)kind);
    const bool names = start <= text.size, brackets = names && text.data[start - 1] == '(';
    xir_str core = names ? (xir_str){ text.data + start, text.size - start } : XIR_STR("");
    bool whole = row && (!names || row->cores);
    if (brackets) whole = whole && core.size && core.data[--core.size] == ')';
    if (!whole || (names && !core.size) || core.size >= CORE_MOST) {
        no_such_target(ctx, text, name, why);
        return NULL;
    }
    if (row->cores && !names) core = (xir_str){ row->cores, strcspn(row->cores, " ") };
    char word[CORE_MOST];
    snprintf(word, sizeof word, "%.*s", (int)core.size, core.size ? core.data : "");
    const xir_target *target = xir_target_of_kind(ctx, (xir_target_kind)kind, word);
    if (!target) (void)diag_memory(why);
    return target;
}

/* ---- one-string spellings of the library's ------------------------------------------------------------------ */

/* The core may be any text: the last byte closes it. */
static void print_core(const xir_object *object, buffer *out) {
    xir_str core = ((const cored_target *)object)->core;
    buffer_char(out, '@');
    buffer_str(out, object->cls->more->form->name);
    buffer_char(out, '(');
    buffer_put(out, core.data, core.size);
    buffer_char(out, ')');
}

static const xir_object *parse_core(object_pool *pool, const xir_class *cls, xir_str text, form_error *e) {
    form_text t;
    if (!form_open(&t, text, cls->more->form->name, e)) return NULL;
    if (t.at == text.size || text.data[text.size - 1] != ')') {
        form_expected(&t, XIR_E_SYNTAX, text.size, "')'");
        return NULL;
    }
    cored_target target = { .head.cls = cls, .core = { text.data + t.at, text.size - 1 - t.at } };
    return form_made(pool, &target.head, e);
}

#define TARGET(id, ...)      const xir_form xir_##id##_target_form = { #id "t", form_word_print, form_word_parse };
#define CORE_TARGET(id, ...) const xir_form xir_##id##_target_form = { #id "t", print_core, parse_core };
#include <xir/targets.def>
#undef TARGET
#undef CORE_TARGET

/* ---- registering ------------------------------------------------------------------------------------------- */

enum { NAME_MOST = 31, TILES_MOST = 64 };

static bool is_word(const char *word, const char *others, bool upper) {
    if (!word || !*word) return false;
    for (; *word; word++) {
        bool plain = (*word >= 'a' && *word <= 'z') || is_digit(*word);
        bool large = upper && *word >= 'A' && *word <= 'Z';
        if (!plain && !large && !strchr(others, *word)) return false;
    }
    return true;
}

static bool are_tiles(const int64_t *tiles) {
    if (!tiles) return true;
    for (int i = 0; i < TILES_MOST; i++) {
        if (!tiles[i]) return i > 0;
        if (tiles[i] < XIR_ANY_TILE) return false;
    }
    return false;
}

#define fail(why, code, ...) diag_fail(why, code, XIR_STR(""), __VA_ARGS__)

/* Checks that a row can be read at all; *out gets the members that it has. */
static xir_status read_row(const xir_target_row *row, size_t i, xir_target_row *out, xir_diags *why) {
    enum { LEAST_SIZE = SIZE_TO(xir_target_row, cores) };
    if (!row) return fail(why, XIR_E_INVALID, "target %zu is NULL", i);
    if (row->abi != XIR_ABI || row->size < LEAST_SIZE) {
        return fail(why, XIR_E_ABI, "target %zu is a row of version %u and %u bytes, version %u and at least %d "
                    "bytes were expected", i, row->abi, row->size, XIR_ABI, (int)LEAST_SIZE);
    }
    size_t beyond = sized_beyond(row, sizeof *out, row->size);
    if (beyond < row->size) {
        return fail(why, XIR_E_UNSUPPORTED, "target %zu sets a member that this version does not know: byte %zu of "
                    "its row is set, its size here is %zu", i, beyond, sizeof *out);
    }
    memset(out, 0, sizeof *out);
    memcpy(out, row, row->size < sizeof *out ? row->size : sizeof *out);
    return XIR_OK;
}

/* A rule as this version has them: members that the caller does not know are zero. */
static xir_target_rule rule_at(const xir_target_row *row, size_t i) {
    xir_target_rule rule = { 0 };
    const size_t size = row->rule_size < sizeof rule ? row->rule_size : sizeof rule;
    memcpy((void *)&rule, (const char *)row->rules + i * row->rule_size, size);
    return rule;
}

static const char *rule_fault(const xir_target_rule *rule) {
    const uint64_t known = XIR_RULE_NOTE | XIR_RULE_TYPES | XIR_RULE_EXCLUDES | XIR_RULE_COMPILED;
    const bool names = rule->cls || rule->key || rule->traits;
    const bool whole = rule->flags & (XIR_RULE_EXCLUDES | XIR_RULE_COMPILED);
    if (rule->flags & ~known) return "has an unknown flag";
    if (whole && (!names || rule->holds)) return "is about a class as a whole, but names none or asks about ops";
    if (!names && !rule->holds) return "is about nothing";
    if (rule->holds && (!rule->needs || !*rule->needs)) return "does not tell what it needs";
    const bool says = rule->needs || rule->mend;
    return !rule->holds && says && !(rule->flags & XIR_RULE_EXCLUDES) ? "needs something, but cannot be asked" : NULL;
}

static xir_status check_rules(const xir_target_row *row, xir_diags *why) {
    if (!row->n_rules) return XIR_OK;
    if (!row->rules || row->rule_size < SIZE_TO(xir_target_rule, mend)) {
        return fail(why, XIR_E_INVALID, row->rules ? "target %.80s has %zu rules of another size"
                    : "target %.80s: the list of rules is NULL, but its length is %zu", row->key, row->n_rules);
    }
    for (size_t i = 0; i < row->n_rules; i++) {
        const void *given = (const char *)row->rules + i * row->rule_size;
        if (sized_beyond(given, sizeof *row->rules, row->rule_size) < row->rule_size) {
            return fail(why, XIR_E_UNSUPPORTED, "rule %zu of target %.80s sets a member that this version does not know",
                        i, row->key);
        }
        const xir_target_rule rule = rule_at(row, i);
        const char *fault = rule_fault(&rule);
        if (fault) return fail(why, XIR_E_INVALID, "rule %zu of target %.80s %s", i, row->key, fault);
    }
    return XIR_OK;
}

/* Makes the rules of a row, which is not shared yet, an array of this version's: other code indexes it. */
static bool take_rules(xir_context *ctx, xir_target_row *row) {
    if (!row->n_rules || row->rule_size == sizeof *row->rules) return true;
    pthread_mutex_lock(&ctx->lock);
    xir_target_rule *rules = arena_take(&ctx->arena, row->n_rules * sizeof *rules);
    pthread_mutex_unlock(&ctx->lock);
    for (size_t i = 0; rules && i < row->n_rules; i++) rules[i] = rule_at(row, i);
    row->rules = rules;
    row->rule_size = sizeof *rules;
    return rules;
}

static xir_status check_row(const xir_target_row *row, size_t i, xir_diags *why) {
    if (!is_word(row->key, "_:.-", true)) {
        return fail(why, XIR_E_INVALID, "target %zu: a key of letters, digits and \"_:.-\" was expected, '%.80s' "
                    "was found", i, row->key ? row->key : "");
    }
    if (!is_word(row->name, "-", false) || strlen(row->name) > NAME_MOST) {
        return fail(why, XIR_E_INVALID, "target %.80s: a name of up to %d lower-case letters, digits and '-' was "
                    "expected, '%.80s' was found", row->key, (int)NAME_MOST, row->name ? row->name : "");
    }
    if (!row->doc || !*row->doc) {
        return fail(why, XIR_E_INVALID, "target %.80s is not described", row->key);
    }
    if (!are_tiles(row->tiles)) {
        return fail(why, XIR_E_INVALID, "target %.80s: up to %d sizes of tiles and a 0 were expected", row->key,
                    TILES_MOST - 1);
    }
    if (row->cores && !is_word(row->cores, "_.- ", true)) {
        return fail(why, XIR_E_INVALID, "target %.80s: names of cores with blanks between were expected, '%.80s' "
                    "was found", row->key, row->cores);
    }
    return check_rules(row, why);
}

/* A copy of the row and the declaration of its class, in the context's arena. */
typedef struct target_decl {
    xir_target_row row;
    xir_class_decl decl;
    xir_row        rows[3];
} target_decl;

static target_decl *declare(xir_context *ctx, const xir_target_row *row) {
    pthread_mutex_lock(&ctx->lock);
    target_decl *d = arena_take(&ctx->arena, sizeof *d);
    pthread_mutex_unlock(&ctx->lock);
    if (!d) return NULL;
    memset((void *)d, 0, sizeof *d);
    d->row = *row;
    if (!take_rules(ctx, &d->row)) return NULL;
    d->decl = (xir_class_decl){ .abi = XIR_ABI, .size = sizeof d->decl, .row_size = sizeof(xir_row),
                                .rows = d->rows };
    d->rows[0] = (xir_row){ .decl = XIR_DECL_OBJ, .name = row->key, .doc = row->doc, .of = xir_target_class,
                            .offset = row->cores ? sizeof(cored_target) : sizeof(xir_object) };
    if (row->cores) {
        d->rows[1] = (xir_row){ .decl = XIR_DECL_FIELD, .kind = XIR_KIND_TEXT, .name = "core", .doc = row->cores,
                                .offset = offsetof(cored_target, core), .default_text = "" };
    }
    return d;
}

static xir_status stage_row(class_stage *stage, const xir_target_row *row, size_t i, xir_diags *why) {
    xir_context *ctx = stage->ctx;
    uint32_t kind = ctx->n_targets + (uint32_t)i;
    xir_status status = check_row(row, i, why);
    if (status) return status;
    if (kind >= XIR_TARGET_MAX) {
        return fail(why, XIR_E_LIMIT, "target %.80s would be one of more than %d", row->key, XIR_TARGET_MAX);
    }
    int other = find(ctx, xir_str_of(row->name), kind);
    if (other < 0) other = find(ctx, xir_str_of(row->key), kind);
    if (other >= 0) {
        return fail(why, XIR_E_EXISTS, "target %.80s: the name '%s' or the key is taken by %.80s", row->key,
                    row->name, ctx->targets[other]->key);
    }
    target_decl *d = declare(ctx, row);
    if (!d) return diag_memory(why);
    status = stage_class(stage, &d->decl, why);
    if (status) return status;
    stage->classes[stage->n - 1]->what = (uint8_t)(kind + 1);
    ctx->targets[kind] = &d->row;
    return XIR_OK;
}

xir_status targets_stage(class_stage *stage, const xir_target_row *const *rows, size_t n, xir_diags *why) {
    if (n && !rows) return fail(why, XIR_E_INVALID, "the list of targets is NULL, but its length is %zu", n);
    for (size_t i = 0; i < n; i++) {
        xir_target_row row;
        xir_status status = read_row(rows[i], i, &row, why);
        if (!status) status = stage_row(stage, &row, i, why);
        if (status) return status;
    }
    return XIR_OK;
}

void targets_enter(xir_context *ctx, size_t n) {
    for (; n--; ctx->n_targets++) {
        const int64_t *tiles = ctx->targets[ctx->n_targets]->tiles;
        if (!tiles) continue;
        bool any = false;
        for (; *tiles; tiles++) any |= *tiles == XIR_ANY_TILE;
        ctx->tiled_targets |= UINT32_C(1) << ctx->n_targets;
        if (!any) ctx->choosy_targets |= UINT32_C(1) << ctx->n_targets;
    }
}

void targets_builtin(xir_context *ctx) {
    for (size_t i = 0; i < XIR_TARGET_COUNT; i++) ctx->targets[i] = &builtin[i];
    targets_enter(ctx, XIR_TARGET_COUNT);
}

xir_status xir_target_set_rules(xir_context *ctx, int kind, const xir_target_row *from, xir_diags *why) {
    const xir_target_row *old = kind < 0 ? NULL : xir_target_row_at(ctx, (size_t)kind);
    xir_target_row given = { 0 };
    if (!old) return fail(why, XIR_E_BOUNDS, "the context has no target of kind %d", kind);
    xir_status status = read_row(from, 0, &given, why);
    if (status) return status;
    pthread_mutex_lock(&ctx->lock);
    xir_target_row *row = arena_take(&ctx->arena, sizeof *row);
    pthread_mutex_unlock(&ctx->lock);
    if (!row) return diag_memory(why);
    *row = *old;
    row->rules = given.rules;
    row->n_rules = given.n_rules;
    row->rule_size = given.rule_size;
    row->flags = given.flags;
    status = check_rules(row, why);
    if (!status && !take_rules(ctx, row)) status = diag_memory(why);
    if (status) return status;
    pthread_mutex_lock(&ctx->lock);
    ctx->targets[kind] = row;
    pthread_mutex_unlock(&ctx->lock);
    return XIR_OK;
}

xir_status xir_target_register(xir_context *ctx, const xir_target_row *const *rows, size_t n, xir_diags *why) {
    xir_class *classes[XIR_TARGET_MAX];
    class_stage stage = { .ctx = ctx, .classes = classes };
    pthread_mutex_lock(&ctx->registering);
    xir_status status = targets_stage(&stage, rows, n, why);
    if (!status) {
        pthread_mutex_lock(&ctx->lock);
        status = stage_reserve(&stage, why);
        if (!status) {
            stage_enter(&stage);
            targets_enter(ctx, n);
        }
        pthread_mutex_unlock(&ctx->lock);
    }
    pthread_mutex_unlock(&ctx->registering);
    return status;
}
