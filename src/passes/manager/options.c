/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Options of passes. A pipeline keeps a value as text, for printing, and has checked it against the option's row. It is
 * read once for each run of the pass. */
#include <stdio.h>
#include "number.h"
#include "sized.h"
#include "manager/pipeline.h"

size_t pass_option_named(const xir_pass_decl *decl, xir_str name, xir_pass_option *out) {
    for (size_t i = 0; xir_pass_option_at(decl, i, out); i++)
        if (xir_str_equal(xir_str_of(out->name), name)) return i;
    return PASS_NO_OPTION;
}

/* ---- reading values -------------------------------------------------------------------------------------------- */

/* An integer, optionally followed by a power of a thousand; false if it is malformed or does not fit. */
static bool read_int(xir_str text, int64_t *out) {
    number n;
    size_t size = number_parse(text.data, text.size, &n);
    if (!size || n.kind != NUMBER_I64) return false;
    int64_t unit = 1;
    if (size + 1 == text.size) {
        char c = text.data[size++];
        unit = c == 'K' ? 1000 : c == 'M' ? 1000000 : c == 'G' ? 1000000000 : 0;
    }
    return size == text.size && unit && mul_i64(n.i64, unit, out);
}

static bool read_real(xir_str text, double *out) {
    number n;
    if (!text.size || number_parse(text.data, text.size, &n) != text.size || n.kind == NUMBER_OVERFLOW) return false;
    *out = n.kind == NUMBER_I64 ? (double)n.i64 : n.kind == NUMBER_U64 ? (double)n.u64 : n.real;
    return true;
}

/* A bool option without a value is true. */
static bool read_bool(xir_str text, bool *out) {
    *out = text.size == 0 || xir_str_equal(text, XIR_STR("true"));
    return *out || xir_str_equal(text, XIR_STR("false"));
}

static bool is_of_kind(xir_pass_kind kind, xir_str value) {
    int64_t i;
    double r;
    bool b;
    return kind == XIR_PASS_INT  ? read_int(value, &i)
         : kind == XIR_PASS_REAL ? read_real(value, &r)
         : kind == XIR_PASS_BOOL ? read_bool(value, &b) : kind == XIR_PASS_TEXT;
}

xir_status pass_check_value(const xir_pass_decl *decl, const xir_pass_option *o, xir_str value, xir_status code,
                            xir_diags *why) {
    static const char *const words[] = { "an integer", "a number", "true or false", "a text" };   /* ORDER PASS_KIND */
    if (is_of_kind(o->kind, value)) return XIR_OK;
    return diag_fail(why, code, XIR_STR(""), "option %s of the pass %s: expected %s, found '%.*s'", o->name,
                     decl->name, (unsigned)o->kind <= XIR_PASS_TEXT ? words[o->kind] : "an option of a known kind",
                     CLIP_TO(value, 80));
}

/* ---- suggestions ----------------------------------------------------------------------------------------------- */

xir_str pass_near(xir_context *ctx, xir_str name) {
    xir_str best = { NULL, 0 };
    size_t distance = SIZE_MAX;
    const xir_pass_decl *decl;
    for (size_t i = 0; (decl = xir_pass_at(ctx, i)); i++) {
        if (xir_str_is_nearer(name, xir_str_of(decl->name), &distance)) best = xir_str_of(decl->name);
    }
    return best;
}

const char *pass_option_hint(const xir_pass_decl *decl, xir_str name, char out[PASS_HINT_ROOM]) {
    xir_str best = { NULL, 0 };
    size_t distance = SIZE_MAX;
    xir_pass_option o;
    const xir_pass_removed *was = decl->size >= SIZE_TO(xir_pass_decl, removed) ? decl->removed : NULL;
    while (was && was->name && !xir_str_equal(xir_str_of(was->name), name)) was++;
    for (size_t i = 0; xir_pass_option_at(decl, i, &o); i++)
        if (xir_str_is_nearer(name, xir_str_of(o.name), &distance)) best = xir_str_of(o.name);
    if (was && was->name) snprintf(out, PASS_HINT_ROOM, ", which has been removed: %s", was->instead);
    else snprintf(out, PASS_HINT_ROOM, NEAR_FORMAT, NEAR_ARGS(best));
    return out;
}

/* ---- configuration --------------------------------------------------------------------------------------------- */

/* A value of the configuration in the spelling of a pipeline; numbers are written into `room`. Only texts stand for
 * texts; they live as long as the configuration. */
static bool config_text(xir_pass_kind kind, const xir_any *any, char room[NUMBER_ROOM], xir_str *out) {
    if (any->kind == XIR_ANY_TEXT) {
        *out = any->as.text;
        return true;
    }
    if (kind == XIR_PASS_TEXT) return false;
    switch (any->kind) {
    case XIR_ANY_BOOL: *out = any->as.boolean ? XIR_STR("true") : XIR_STR("false"); return true;
    case XIR_ANY_INT:  *out = (xir_str){ room, number_put_i64(room, any->as.integer) }; return true;
    case XIR_ANY_REAL: *out = (xir_str){ room, number_put_real(room, any->as.real) }; return true;
    default:           return false;
    }
}

/* Reports a value of the configuration that does not have the kind of its option. */
static xir_status wrong_kind(const xir_pass_decl *decl, const xir_pass_option *o, xir_diags *why) {
    return diag_fail(why, XIR_E_TYPE, XIR_STR(""), "%s.%s of the configuration: expected %s", decl->name, o->name,
                     o->kind == XIR_PASS_TEXT ? "a text" : "a text, a number or a bool");
}

xir_status pass_check_config(xir_context *ctx, const xir_pipeline *p, const xir_map *config, xir_diags *why) {
    for (size_t i = 0; config && i < config->size; i++) {
        const xir_entry *entry = &config->entries[i];
        const char *dot = entry->key.size ? memchr(entry->key.data, '.', entry->key.size) : NULL;
        if (!dot) continue;
        xir_str name = { entry->key.data, (size_t)(dot - entry->key.data) };
        xir_str option = { dot + 1, entry->key.size - name.size - 1 }, value, near;
        const xir_pass_decl *decl = pipeline_pass(p, ctx, name);
        if (!decl) {
            near = pass_near(ctx, name);
            return diag_fail(why, XIR_E_UNKNOWN, XIR_STR(""),
                             "there is no pass '%.*s', but the configuration has an option for it"
                             NEAR_FORMAT, (int)name.size, name.data, NEAR_ARGS(near));
        }
        xir_pass_option o;
        if (pass_option_named(decl, option, &o) == PASS_NO_OPTION) {
            char hint[PASS_HINT_ROOM];
            return diag_fail(why, XIR_E_UNKNOWN, XIR_STR(""), "the pass %s has no option '%.*s'%s", decl->name,
                             CLIP(option), pass_option_hint(decl, option, hint));
        }
        char room[NUMBER_ROOM];
        if (!config_text(o.kind, &entry->value, room, &value)) return wrong_kind(decl, &o, why);
        xir_status status = pass_check_value(decl, &o, value, XIR_E_TYPE, why);
        if (status) return status;
    }
    return XIR_OK;
}

const xir_any *xir_pass_config(const xir_pass *at, const char *key) {
    return xir_map_find(at->config, xir_str_of(key));
}

/* ---- values for a pass ----------------------------------------------------------------------------------------- */

/* The configuration's value for an option; the configuration may use any name of the pass. */
static const xir_any *configured(xir_context *ctx, const xir_pass_decl *decl, const xir_map *config,
                                 const char *option) {
    char key[160];
    snprintf(key, sizeof key, "%s.%s", decl->name, option);
    const xir_any *any = xir_map_find(config, xir_str_of(key));
    const size_t n = strlen(option) + 1;
    for (size_t i = 0; !any && config && i < config->size; i++) {
        const xir_entry *e = &config->entries[i];
        const size_t name = e->key.size > n ? e->key.size - n : 0;
        if (!name || e->key.data[name] != '.' || memcmp(e->key.data + name + 1, option, n - 1) != 0) continue;
        if (xir_pass_find(ctx, (xir_str){ e->key.data, name }) == decl) any = &e->value;
    }
    return any;
}

static void read_value(xir_pass_kind kind, xir_str text, pass_value *out) {
    switch (kind) {
    case XIR_PASS_INT:  read_int(text, &out->as.integer); break;
    case XIR_PASS_REAL: read_real(text, &out->as.real); break;
    case XIR_PASS_BOOL: read_bool(text, &out->as.flag); break;
    case XIR_PASS_TEXT: out->text = text; break;
    }
}

size_t pass_read_values(xir_context *ctx, const xir_pass_decl *decl, const pass_setting *settings, size_t n,
                        const xir_map *config, pass_value *out) {
    xir_pass_option o;
    size_t i = 0;
    for (; xir_pass_option_at(decl, i, &o); i++) {
        char room[NUMBER_ROOM];
        const xir_any *any = configured(ctx, decl, config, o.name);
        xir_str text = xir_str_of(o.default_text);
        if (any && !config_text(o.kind, any, room, &text)) text = xir_str_of(o.default_text);
        for (size_t k = 0; k < n; k++)
            if (xir_str_equal(settings[k].name, xir_str_of(o.name))) text = settings[k].value;
        out[i] = (pass_value){ .name = o.name, .kind = o.kind };
        read_value(o.kind, text, &out[i]);
    }
    return i;
}

static const pass_value *value_of(const xir_pass *at, const char *name, xir_pass_kind kind) {
    static const pass_value none = { .name = "" };
    for (size_t i = 0; i < at->n_values; i++)
        if (strcmp(at->values[i].name, name) == 0 && at->values[i].kind == kind) return &at->values[i];
    ((xir_pass *)(uintptr_t)at)->misread = name;
    return &none;
}

int64_t xir_pass_int(const xir_pass *at, const char *option)  { return value_of(at, option, XIR_PASS_INT)->as.integer; }
double  xir_pass_real(const xir_pass *at, const char *option) { return value_of(at, option, XIR_PASS_REAL)->as.real; }
bool    xir_pass_bool(const xir_pass *at, const char *option) { return value_of(at, option, XIR_PASS_BOOL)->as.flag; }
xir_str xir_pass_text(const xir_pass *at, const char *option) { return value_of(at, option, XIR_PASS_TEXT)->text; }
