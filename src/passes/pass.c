/* What a pass sees of itself at work, and running one. Options are kept as text, as the pipeline has them, and read when they are asked
 * for: a setting is checked against its row before anything runs. */
#include "pass.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- options ------------------------------------------------------------------------------------------------- */

static const xir_pass_option *option_named(const xir_pass_decl *decl, xir_str name) {
    for (size_t i = 0; i < decl->n_options; i++)
        if (xir_str_equal(xir_str_of(decl->options[i].name), name)) return &decl->options[i];
    return NULL;
}

/* A number with a power of a thousand behind it; false if it is none or does not fit. */
static bool read_int(xir_str text, int64_t *out) {
    char room[32], *end;
    if (!text.size || text.size >= sizeof room) return false;
    memcpy(room, text.data, text.size);
    room[text.size] = '\0';
    long long n = strtoll(room, &end, 10);
    int64_t unit = *end == 'K' ? 1000 : *end == 'M' ? 1000000 : *end == 'G' ? 1000000000 : 1;
    if (end == room || end[unit > 1] != '\0') return false;
    return !__builtin_mul_overflow((int64_t)n, unit, out);
}

static bool read_real(xir_str text, double *out) {
    char room[64], *end;
    if (!text.size || text.size >= sizeof room) return false;
    memcpy(room, text.data, text.size);
    room[text.size] = '\0';
    *out = strtod(room, &end);
    return end != room && *end == '\0';
}

static bool read_bool(xir_str text, bool *out) {
    *out = text.size == 0 || xir_str_equal(text, XIR_STR("true"));
    return *out || xir_str_equal(text, XIR_STR("false"));
}

xir_status pass_check_setting(const xir_pass_decl *decl, const pass_setting *s, xir_diags *why) {
    const xir_pass_option *o = option_named(decl, s->name);
    int64_t i;
    double r;
    bool b;
    if (!o) {
        return diag_fail(why, XIR_E_UNKNOWN, XIR_STR(""), "the pass %s has no option '%.*s'", decl->name, (int)s->name.size,
                         s->name.data);
    }
    bool good = o->kind == XIR_PASS_INT  ? read_int(s->value, &i)
              : o->kind == XIR_PASS_REAL ? read_real(s->value, &r)
              : o->kind == XIR_PASS_BOOL ? read_bool(s->value, &b) : true;
    if (good) return XIR_OK;
    static const char *const words[] = { "an integer", "a number", "true or false" };   /* ORDER PASS_KIND */
    return diag_fail(why, XIR_E_TYPE, XIR_STR(""), "the option %s of the pass %s is %s, '%.*s' was found", o->name, decl->name,
                     words[o->kind], (int)s->value.size, s->value.data);
}

static xir_str setting_of(const xir_pass *at, const char *name) {
    for (size_t i = at->n_settings; i-- > 0;)   /* the last one counts */
        if (xir_str_equal(at->settings[i].name, xir_str_of(name))) return at->settings[i].value;
    const xir_pass_option *o = option_named(at->decl, xir_str_of(name));
    return o ? xir_str_of(o->preset) : (xir_str){ NULL, 0 };
}

int64_t xir_pass_int(const xir_pass *at, const char *option) {
    int64_t n = 0;
    return read_int(setting_of(at, option), &n) ? n : 0;
}

double xir_pass_real(const xir_pass *at, const char *option) {
    double r = 0;
    return read_real(setting_of(at, option), &r) ? r : 0;
}

bool xir_pass_bool(const xir_pass *at, const char *option) {
    bool b = false;
    return read_bool(setting_of(at, option), &b) && b;
}

xir_str xir_pass_text(const xir_pass *at, const char *option) { return setting_of(at, option); }

/* ---- the rest of what it sees ---------------------------------------------------------------------------------- */

xir_network *xir_pass_network(const xir_pass *at) { return at->net; }
xir_context *xir_pass_context(const xir_pass *at) { return at->net->ctx; }
xir_diags   *xir_pass_diags(xir_pass *at) { return at->why; }
void         xir_pass_changed(xir_pass *at, size_t n) { at->changes += n; }

const xir_any *xir_pass_config(const xir_pass *at, const char *key) {
    return at->config ? xir_map_get(at->config, xir_str_of(key)) : NULL;
}

static XIR_PRINTF(5, 0) void tell(xir_pass *at, xir_severity severity, xir_status code, const xir_op *op, const char *format,
                                  va_list list) {
    char sentence[1000], path[48] = "";
    vsnprintf(sentence, sizeof sentence, format, list);
    int64_t i = op ? xir_network_index_of(at->net, op) : -1;
    if (i >= 0) snprintf(path, sizeof path, "/ops/%lld", (long long)i);
    xir_str name = op ? xir_op_name(op) : (xir_str){ NULL, 0 }, key = op ? xir_class_key(op->cls) : name;
    if (op) {
        xir_diags_add(at->why, severity, code, xir_str_of(path), "%s: %.*s '%.*s': %s", at->decl->name, (int)key.size, key.data,
                      (int)name.size, name.size ? name.data : "", sentence);
    } else {
        xir_diags_add(at->why, severity, code, xir_str_of(path), "%s: %s", at->decl->name, sentence);
    }
}

xir_status xir_pass_fail(xir_pass *at, xir_status code, const xir_op *op, const char *format, ...) {
    va_list list;
    va_start(list, format);
    tell(at, XIR_ERROR, code, op, format, list);
    va_end(list);
    return code;
}

void xir_pass_say(xir_pass *at, xir_severity severity, const xir_op *op, const char *format, ...) {
    va_list list;
    va_start(list, format);
    tell(at, severity, XIR_OK, op, format, list);
    va_end(list);
}

/* ---- running one ------------------------------------------------------------------------------------------------ */

enum { MOST_SETTINGS = 32 };

/* "a=1,b" apart. Values hold no commas here. */
static bool read_settings(const char *text, pass_setting *out, size_t *n) {
    for (*n = 0; text && *text; (*n)++) {
        size_t size = strcspn(text, ","), name = strcspn(text, ",=");
        if (*n == MOST_SETTINGS || !name) return false;
        out[*n] = (pass_setting){ { text, name }, { NULL, 0 } };
        if (name < size) out[*n].value = (xir_str){ text + name + 1, size - name - 1 };
        text += size + (text[size] == ',');
    }
    return true;
}

xir_status xir_pass_run(xir_network *net, const char *name, const char *options, size_t *changes, xir_diags *why) {
    pass_setting settings[MOST_SETTINGS];
    const xir_pass_decl *decl = xir_pass_find(net->ctx, xir_str_of(name));
    xir_pass at = { .decl = decl, .net = net, .settings = settings, .why = why };
    if (!decl) return diag_fail(why, XIR_E_UNKNOWN, XIR_STR(""), "there is no pass '%.80s'", name);
    if (!read_settings(options, settings, &at.n_settings)) {
        return diag_fail(why, XIR_E_SYNTAX, XIR_STR(""), "'%.80s' is no list of options", options);
    }
    for (size_t i = 0; i < at.n_settings; i++) {
        xir_status status = pass_check_setting(decl, &settings[i], why);
        if (status) return status;
    }
    xir_status status = decl->run(&at);
    if (changes) *changes = at.changes;
    return status;
}
