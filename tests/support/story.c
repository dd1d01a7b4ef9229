/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include "support/story.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <xir/exec.h>
#include "graph.h"
#include "support/numbers.h"

enum { MOST = 64 };

/* A text that is being read, and the network that is made from it. */
typedef struct telling {
    xir_network *net;
    xir_context *ctx;
    char         line[1000];
    char        *rest;              /* the words of the line that are not read yet */
    struct { char name[40]; xir_value *value; } values[MOST];
    size_t       n;
    const xir_type *inputs[MOST];   /* until the first op, before which the Input op is made */
    char         input_names[MOST][40];
    size_t       n_inputs;
    bool         failed;            /* memory ran out */
} telling;

static void stop(const telling *t, const char *what) {
    print_error("story: '%s': %s\n", t->line, what);
    if (t->net) xir_diags_print(xir_network_diags(t->net), stderr);
    fail();
}

static const char *word(telling *t) { return strtok_r(NULL, " ", &t->rest); }

static void know(telling *t, const char *name, xir_value *value) {
    if (!value) t->failed = true;
    if (t->n == MOST || strlen(name) >= sizeof t->values[0].name) stop(t, "too much");
    snprintf(t->values[t->n].name, sizeof t->values[0].name, "%s", name);
    t->values[t->n++].value = value;
}

static xir_value *known(const telling *t, const char *name) {
    if (strcmp(name, "-") == 0) return NULL;
    for (size_t i = 0; i < t->n; i++) {
        if (strcmp(t->values[i].name, name) == 0) return t->values[i].value;
    }
    stop(t, name);
    return NULL;
}

/* ---- values ----------------------------------------------------------------------------------------------------- */

/* "fp16 NHWC 1 8 8 3", up to "=" or the end. */
static const xir_type *read_type(telling *t, const char **next) {
    int64_t dims[8];
    size_t rank = 0;
    char layout[9] = "", element[20] = "@fp(32)";
    const char *w = word(t);
    if (w && w[0] >= 'a' && w[0] <= 'z') {
        size_t letters = strcspn(w, "0123456789");
        snprintf(element, sizeof element, w[letters] ? "@%.*s(%s)" : "@%.*s%s", (int)letters, w, w + letters);
        w = word(t);
    }
    if (w && w[0] >= 'A' && w[0] <= 'Z') {
        snprintf(layout, sizeof layout, "%s", w);
        w = word(t);
    }
    for (; w && *w != '='; w = word(t)) dims[rank++] = strtoll(w, NULL, 10);
    for (size_t i = strlen(layout); i < rank; i++) layout[i] = '*', layout[i + 1] = '\0';
    *next = w;
    form_error e = { 0 };
    const xir_object *of = form_parse(&t->ctx->pool, xir_str_of(element), &e);
    const xir_type *type = of ? xir_type_tensor_text(t->ctx, (const xir_type *)of, layout, dims, rank) : NULL;
    if (!type && e.status && e.status != XIR_E_MEMORY) stop(t, element);
    t->failed |= !type;
    return type;
}

static double number_of_name(const char *name, size_t i) {
    uint64_t bits = 1469598103934665603u + i * 0x9E3779B97F4A7C15u;
    for (; *name; name++) bits = (bits ^ (unsigned char)*name) * 1099511628211u;
    bits ^= bits >> 29;
    bits *= 0xBF58476D1CE4E5B9u;
    bits ^= bits >> 32;
    return (double)(bits % 2001) / 1000 - 1;   /* -1 to 1 */
}

static void put_number(const xir_type *type, void *at, size_t i, double x) {
    element_format form = element_format_of(type);
    size_t size = (size_t)xir_type_storage_bits(type) / 8;
    if (element_is_float(form)) {
        element_put_real(form, at, i, x);
    } else {
        int64_t whole = (int64_t)x;   /* little-endian: the lower bytes are those of narrower integers */
        memcpy((char *)at + size * i, &whole, size < 8 ? size : 8);
    }
}

static void tell_params(telling *t, const char *name, const xir_type *type, const char *w) {
    int64_t n = 0;
    uint64_t size = 0;
    if (!type) return;
    xir_type_elements(type, &n);
    xir_type_bytes(type, &size);
    char *bytes = calloc(1, size + 8);
    const char *first = w ? word(t) : NULL;
    xir_value *v;
    for (int64_t i = 0; i < n && !(first && strcmp(first, "none") == 0); i++) {
        if (i && w) first = word(t);
        if (w && !first) stop(t, "too few numbers");
        put_number(type, bytes, (size_t)i, w ? strtod(first, NULL) : number_of_name(name, (size_t)i));
    }
    if (first && strcmp(first, "none") == 0) v = xir_params_new(t->net, xir_str_of(name), type);
    else v = xir_params_copy(t->net, xir_str_of(name), type, bytes, size);
    free(bytes);
    know(t, name, v);
}

/* "x:" of an input, Params or a number. */
static void tell_value(telling *t, char *name) {
    name[strlen(name) - 1] = '\0';
    const char *w, *after;
    char *end;
    char first[40];
    snprintf(first, sizeof first, "%s", t->rest + strspn(t->rest, " "));
    *strchrnul(first, ' ') = '\0';
    double x = strtod(first, &end);
    bool alone = *end == '\0' && !strchr(t->rest + strspn(t->rest, " "), ' ');
    if (alone) {
        float narrow = (float)x;
        const xir_type *type = xir_type_tensor(t->ctx, xir_type_float(t->ctx, XIR_FLOAT_FP32), NULL, NULL, 0);
        know(t, name, type ? xir_params_copy(t->net, xir_str_of(name), type, &narrow, sizeof narrow) : NULL);
    } else if (strcmp(first, "params") == 0) {
        word(t);
        const xir_type *type = read_type(t, &after);
        tell_params(t, name, type, after);
    } else {
        const xir_type *type = read_type(t, &w);
        t->inputs[t->n_inputs] = type;
        snprintf(t->input_names[t->n_inputs++], sizeof t->input_names[0], "%s", name);
    }
}

static void tell_inputs(telling *t) {
    if (xir_network_first(t->net) || t->failed) return;
    xir_op *op = xir_inputs(xir_at_end(t->net), "in", t->inputs, t->n_inputs);
    for (size_t i = 0; i < t->n_inputs && op; i++) {
        t->failed |= xir_value_set_name(xir_op_output(op, (int64_t)i), xir_str_of(t->input_names[i])) != XIR_OK;
        know(t, t->input_names[i], xir_op_output(op, (int64_t)i));
    }
    t->failed |= !op;
}

/* ---- ops -------------------------------------------------------------------------------------------------------- */

static const xir_class *class_named(const telling *t, const char *name) {
    const xir_class *cls;
    if (strchr(name, ':')) return class_opaque(t->ctx, xir_str_of(name), true);
    for (size_t i = 0; (cls = xir_context_class_at(t->ctx, i)); i++) {
        xir_str key = xir_class_key(cls);
        size_t n = strlen(name);
        bool ends = key.size > n && key.data[key.size - n - 1] == ':' && memcmp(key.data + key.size - n, name, n) == 0;
        if (cls->is_op && ends) return cls;
    }
    stop(t, name);
    return NULL;
}

/* The type that "sint64,1,6" spells, or "sint64:NC,1,-1" with a layout and an open dim. */
static const xir_type *tensor(telling *t, const char *text) {
    int64_t dims[8];
    size_t rank = 0;
    char layout[9] = "", element[20];
    const size_t letters = strcspn(text, "0123456789,");
    const size_t digits = strcspn(text + letters, ":,");
    const char *named = text[letters + digits] == ':' ? text + letters + digits + 1 : NULL;
    const char *format = digits ? "@%.*s(%.*s)" : "@%.*s%.*s";
    snprintf(element, sizeof element, format, (int)letters, text, (int)digits, text + letters);
    for (const char *at = strchr(text, ','); at; at = strchr(at + 1, ',')) {
        dims[rank++] = strtoll(at + 1, NULL, 10);
        strcat(layout, "*");
    }
    if (named) memcpy(layout, named, strcspn(named, ",") < rank ? strcspn(named, ",") : rank);
    form_error e = { 0 };
    const xir_object *of = form_parse(&t->ctx->pool, xir_str_of(element), &e);
    return of ? xir_type_tensor_text(t->ctx, (const xir_type *)of, layout, dims, rank) : NULL;
}

static void set_attr(telling *t, const xir_class *cls, void *body, xir_any *extra, const char *text) {
    static _Thread_local int64_t ints[8][16];
    static _Thread_local size_t lists;
    static _Thread_local const xir_object *refs[8][1];
    char name[40];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(text, "="), text);
    const char *value = text + strcspn(text, "=") + 1;
    const xir_field *f = xir_class_field(cls, xir_str_of(name));
    xir_attr a = { 0 };
    if (!f && cls->opaque) {
        const bool letter = (*value | 32) >= 'a' && (*value | 32) <= 'z';
        *extra = letter ? xir_any_text(xir_str_of(value)) : strchr(value, '.') ? xir_any_real(strtod(value, NULL))
            : xir_any_int(strtoll(value, NULL, 10));
        return;
    }
    if (!f) stop(t, name);
    a.kind = f->kind;
    switch (f->kind) {
    case XIR_KIND_BOOL:   a.as.boolean = strcmp(value, "true") == 0; break;
    case XIR_KIND_I64:    a.as.i64 = strtoll(value, NULL, 10); break;
    case XIR_KIND_REAL:   a.as.real = strtod(value, NULL); break;
    case XIR_KIND_ENUM:
    case XIR_KIND_TEXT:   a.kind = XIR_KIND_TEXT; a.as.text = xir_str_of(value); break;
    case XIR_KIND_PARAMS: a.as.params = known(t, value); break;
    case XIR_KIND_REFS:
        refs[lists % 8][0] = (const xir_object *)xir_scalar_real(t->ctx, strtod(value, NULL));
        a.as.refs = (xir_refs){ refs[lists++ % 8], 1 };
        if (!refs[(lists - 1) % 8][0]) t->failed = true;
        break;
    case XIR_KIND_REF: {
        form_error e = { 0 };
        if (strchr("-.0123456789", *value)) a.as.ref = (const xir_object *)xir_scalar_real(t->ctx, strtod(value, NULL));
        else if (*value == '@') a.as.ref = form_parse(&t->ctx->pool, xir_str_of(value), &e);
        else a.as.ref = xir_type_object(tensor(t, value));
        t->failed |= !a.as.ref;
        break;
    }
    case XIR_KIND_I64S: {
        int64_t *list = ints[lists++ % 8];
        size_t n = 0;
        for (char *at = (char *)(uintptr_t)value; *at; at += *at == ',') list[n++] = strtoll(at, &at, 10);
        a.as.i64s = (xir_i64s){ list, n };
        break;
    }
    default: stop(t, name);
    }
    if (!t->failed && body_set(cls, f, body, &a, why) != XIR_OK) stop(t, name);
}

/* Reads "Add x s [beta=-1]"; the outputs get these names. */
static void tell_op(telling *t, char names[][40], size_t n_names) {
    const xir_class *cls = class_named(t, word(t));
    xir_value *inputs[32];
    xir_op_desc d = XIR_INIT(xir_op_desc, .cls = cls, .inputs = inputs, .name = xir_str_of(names[0]), .id = XIR_NO_ID);
    char extra_name[40] = "";
    xir_any extra = { 0 };
    tell_inputs(t);
    if (t->failed || !cls) {
        t->failed = true;
        return;
    }
    uint64_t body[64];
    if (cls->decl) xir_body_init(cls->decl, body);
    for (const char *w = word(t); w; w = word(t)) {
        if (*w != '[') {
            if (strcmp(w, "]") != 0) inputs[d.n_inputs++] = known(t, w);
            continue;
        }
        for (char *at = (char *)(uintptr_t)w + 1; at; at = (char *)(uintptr_t)word(t)) {
            char *end = strchr(at, ']');
            if (end) *end = '\0';
            if (*at) set_attr(t, cls, body, &extra, at);
            if (cls->opaque && *at) snprintf(extra_name, sizeof extra_name, "%.*s", (int)strcspn(at, "="), at);
            if (end) break;
        }
    }
    if (t->failed) return;
    d.attrs = cls->decl ? body : NULL;
    const xir_type *types[4];
    if (cls->opaque) {
        for (size_t i = 0; i < n_names; i++) types[i] = xir_value_type(inputs[0]);
        d.types = types;
        d.n_types = n_names;
    }
    xir_op *op = xir_network_add(t->net, &d);
    if (!op && xir_network_status(t->net) != XIR_E_MEMORY) stop(t, "it is refused");
    t->failed |= !op;
    if (op && extra_name[0]) t->failed |= xir_op_set_extra(op, xir_str_of(extra_name), &extra) != XIR_OK;
    for (size_t i = 0; i < n_names && op; i++) {
        xir_value *v = xir_op_output(op, (int64_t)i);
        t->failed |= xir_value_set_name(v, xir_str_of(names[i])) != XIR_OK;
        know(t, names[i], v);
    }
}

static void tell_output(telling *t) {
    xir_value *values[16];
    size_t n = 0;
    tell_inputs(t);
    for (const char *w = word(t); w; w = word(t)) values[n++] = known(t, w);
    if (!t->failed) t->failed = !xir_output(xir_at_end(t->net), (xir_values){ values, n });
}

static void tell_line(telling *t) {
    char copy[sizeof t->line], names[4][40];
    size_t n = 0;
    memcpy(copy, t->line, sizeof copy);
    char *w = strtok_r(copy, " ", &t->rest);
    if (!w) return;
    if (strcmp(w, "out") == 0) {
        tell_output(t);
    } else if (w[strlen(w) - 1] == ':') {
        tell_value(t, w);
    } else {
        for (; w && strcmp(w, "=") != 0; w = (char *)(uintptr_t)word(t)) {
            snprintf(names[n++], 40, "%.*s", (int)strcspn(w, ","), w);
        }
        if (!w) stop(t, "no '='");
        tell_op(t, names, n);
    }
}

xir_network *story_net_in(xir_context *with, const char *text) {
    telling t = { .ctx = with, .net = xir_network_new(with, "story", XIR_FRAMEWORK_PYTORCH, "v1.9") };
    for (const char *at = text; *at && t.net && !t.failed; at += *at != '\0') {
        size_t n = strcspn(at, "\n;");
        snprintf(t.line, sizeof t.line, "%.*s", (int)n, at);
        tell_line(&t);
        at += n;
    }
    if (!t.failed) return t.net;
    xir_network_free(t.net);
    return NULL;
}

xir_network *story_net(const char *text) {
    xir_network *net = story_net_in(ctx, text);
    assert_non_null(net);
    CHECK_SOUND(net);
    return net;
}

/* ---- as text ---------------------------------------------------------------------------------------------------- */

static void put_name(FILE *out, const xir_value *v) {
    xir_str name = v ? xir_value_name(v) : XIR_STR("-");
    if (name.size) fprintf(out, "%.*s", (int)name.size, name.data);
    else fprintf(out, "%%%" PRId64, xir_value_id(v));
}

static void put_value(FILE *out, const xir_field *f, const xir_attr *a) {
    switch (f->kind) {
    case XIR_KIND_BOOL:   fputs(a->as.boolean ? "true" : "false", out); break;
    case XIR_KIND_I64:    fprintf(out, "%" PRId64, a->as.i64); break;
    case XIR_KIND_REAL:   fprintf(out, "%g", a->as.real); break;
    case XIR_KIND_TEXT:   fprintf(out, "%.*s", (int)a->as.text.size, a->as.text.data); break;
    case XIR_KIND_ENUM:   fputs(f->members->names[a->as.enumerator], out); break;
    case XIR_KIND_PARAMS: put_name(out, a->as.params); break;
    case XIR_KIND_REF:
        if (a->as.ref->cls->more->form) fputs(spelled(a->as.ref), out);
        else fprintf(out, "%g", xir_scalar_as_real((const xir_scalar *)a->as.ref));
        break;
    case XIR_KIND_I64S:
        for (size_t i = 0; i < a->as.i64s.size; i++) fprintf(out, "%s%" PRId64, i ? "," : "", a->as.i64s.data[i]);
        break;
    case XIR_KIND_REFS:
        for (size_t i = 0; i < a->as.refs.size; i++) {
            fprintf(out, "%s%g", i ? "," : "", xir_scalar_as_real((const xir_scalar *)a->as.refs.data[i]));
        }
        break;
    default: fputs("?", out);
    }
}

static void put_op(FILE *out, const xir_op *op) {
    xir_str key = xir_class_key(op->cls);
    bool leaves = xir_op_is(op, xir_output_class());
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        fputs(i ? ", " : "", out);
        put_name(out, &op_outputs(op)[i]);
    }
    size_t from = key.size;
    while (from && key.data[from - 1] != ':') from--;
    if (leaves) fputs("out", out);
    else if (op->cls->opaque) fprintf(out, " = %.*s", (int)key.size, key.data);
    else fprintf(out, " = %.*s", (int)(key.size - from), key.data + from);
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        fputc(' ', out);
        put_name(out, op_inputs(op)[i].value);
    }
    bool any = false;
    for (uint32_t i = 0; i < op->cls->n_fields && !leaves; i++) {
        const xir_field *f = &op->cls->fields[i];
        if (field_equal(f, op->attrs, op->cls->defaults)) continue;
        xir_attr a;
        body_get(f, op->attrs, &a);
        fprintf(out, "%s%.*s=", any ? " " : " [", (int)f->name.size, f->name.data);
        put_value(out, f, &a);
        any = true;
    }
    if (any) fputc(']', out);
}

char *story_text(const xir_network *net) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    bool first = true;
    for (const xir_op *op = net->first; op; op = op->next) {
        if (xir_op_is(op, xir_input_class())) continue;
        fputs(first ? "" : "; ", out);
        put_op(out, op);
        first = false;
    }
    fclose(out);
    return text;
}

void check_story(const xir_network *net, const char *expected, const char *file, int line) {
    char *text = story_text(net);
    if (strcmp(text, expected) != 0) {
        print_error("found:    %s\nexpected: %s\n", text, expected);
        free(text);
        _fail(file, line);
    }
    free(text);
}

xir_value *story_value(const xir_network *net, const char *name) {
    for (const xir_op *op = net->first; op; op = op->next) {
        for (uint32_t i = 0; i < op->n_outputs; i++) {
            if (xir_str_equal(xir_value_name(&op_outputs(op)[i]), xir_str_of(name))) return &op_outputs(op)[i];
        }
        for (uint32_t i = 0; i < op->n_inputs; i++) {
            xir_value *v = op_inputs(op)[i].value;
            if (v && xir_str_equal(xir_value_name(v), xir_str_of(name))) return v;
        }
    }
    fail_msg("there is no value '%s'", name);
    return NULL;
}

xir_op *story_op(const xir_network *net, const char *name) { return xir_value_op(story_value(net, name)); }

/* ---- numbers ---------------------------------------------------------------------------------------------------- */

static size_t run_network(const xir_network *net, xir_array **out, const char *file, int line) {
    xir_value *inputs[MOST];
    xir_array *arrays[MOST];
    size_t n = xir_network_inputs(net, inputs, MOST), n_out = xir_network_outputs(net, NULL, 0);
    xir_diags_clear(why);
    for (size_t i = 0; i < n; i++) arrays[i] = xir_array_random(ctx, xir_value_type(inputs[i]), i + 1, why);
    if (xir_network_run(net, (const xir_array *const *)arrays, n, out, n_out, NULL, why) != XIR_OK) {
        xir_diags_print(why, stderr);
        _fail(file, line);
    }
    for (size_t i = 0; i < n; i++) xir_array_free(arrays[i]);
    return n_out;
}

void check_same_numbers(const xir_network *a, const xir_network *b, const char *file, int line) {
    xir_array *of_a[MOST], *of_b[MOST];
    size_t n = run_network(a, of_a, file, line);
    if (run_network(b, of_b, file, line) != n) _fail(file, line);
    for (size_t i = 0; i < n; i++) {
        xir_difference d = { 0 };
        if (xir_array_compare(of_b[i], of_a[i], 1e-5, 1e-5, &d) != XIR_OK || !d.same_shape || d.count) {
            print_error("output %zu: %zu elements differ, the first is %zu: %g and %g\n", i, d.count,
                        d.first, d.a, d.b);
            _fail(file, line);
        }
        xir_array_free(of_a[i]);
        xir_array_free(of_b[i]);
    }
}
