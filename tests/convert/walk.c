/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* All classes, attributes and element types go to each format and back: each case of the executor's tables with one
 * attribute set to another value, or with other element types. What is written to a file, read and converted back
 * computes the same, or the op stays with a reason. walk.txt has, for each class and format, how many attributes and
 * types do: they may not become fewer. XIR_WALK=all takes each variation, not only the first two of each attribute
 * and type that work; XIR_WALK=print prints the table as it is now. */
#include <math.h>
#include "convert/way_back.h"
#include "elements.h"
#include "support/ways.h"

/* ---- formats ---------------------------------------------------------------------------------------------------- */

enum { FORMATS = 5, MOST_FIELDS = 24, TYPES = 14, FACETS = MOST_FIELDS + TYPES };
static const struct { const char *name, *before, *there, *options; } formats[FORMATS] = {
    { "onnx",  "layout{to=nchw}", "xir-to-onnx",  "opset=21" },
    { "pnnx",  NULL,              "xir-to-pnnx",  NULL },
    { "nnb",   NULL,              "xir-to-nnb",   "runtime=false" },
    { "tsm",   "layout{to=nchw}", "xir-to-tsm",   NULL },
    { "deepx", NULL,              "xir-to-deepx", "windows=true" },
};
_Static_assert((int)FORMATS == (int)WAYS, "each format with a dialect is here");

/* ---- element types ---------------------------------------------------------------------------------------------- */

static const char *const type_words[TYPES] = {
    "bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "fp16", "bf16", "fp32", "fp64", "as is",
};
enum { AS_IS = TYPES - 1 };

static const xir_type *type_of(size_t i) {
    static const xir_float_format reals[] = { XIR_FLOAT_FP16, XIR_FLOAT_BF16, XIR_FLOAT_FP32, XIR_FLOAT_FP64 };
    if (i == 0) return xir_type_bool(ctx);
    if (i < 5) return xir_type_sint(ctx, 8 << (i - 1));
    if (i < 9) return xir_type_uint(ctx, 8 << (i - 5));
    return xir_type_float(ctx, reals[i - 9]);
}

static bool is_plain(const xir_type *element) { return element_readable(element) && !xir_type_is_quantized(element); }

/* Elements that the whole case has: those of its first input are replaced wherever they are. */
static const xir_type *replaced(const xir_type *element, const xir_type *from, const xir_type *to) {
    return to && xir_type_equal(element, from) ? to : element;
}

static xir_array *cast(const xir_array *a, const xir_type *element) {
    const xir_type *type = xir_array_type(a);
    if (xir_type_equal(xir_type_element(type), element)) return xir_array_retain((xir_array *)(uintptr_t)a);
    xir_array *out = xir_array_new(ctx, xir_type_with_element(ctx, type, element, why), why);
    const size_t n = xir_array_count(a);
    double *v = malloc((n + 1) * sizeof *v);
    assert_non_null(out);
    assert_non_null(v);
    for (size_t i = 0; i < n; i++) v[i] = xir_array_real(a, i);
    assert_true(elements_of_reals(element, v, n, xir_array_edit(out)));
    free(v);
    return out;
}

static xir_value *cast_params(xir_network *net, const xir_value *v, const xir_type *from, const xir_type *to) {
    xir_value *own = (xir_value *)(uintptr_t)v;
    if (!xir_params_has_data(v) || !xir_type_equal(xir_type_element(xir_value_type(v)), from)) return own;
    xir_array *was = xir_array_from_params(v, why), *now = was ? cast(was, to) : NULL;
    xir_value *made = now ? xir_params_from_array(net, xir_value_name(v), now) : own;
    if (now && made) (void)xir_value_set_type(made, xir_type_with_element(ctx, xir_value_type(v), to, why));
    xir_array_free(was);
    xir_array_free(now);
    return made;
}

/* ---- attributes ------------------------------------------------------------------------------------------------- */

static const int64_t some_integers[] = { 1, 2, 0, 3, -1, -2, 4, 5 };
static const double  some_reals[] = { 0.5, 2.5, 0, 1, -1.5, 3, 1e39, INFINITY };

static const xir_object *scalar_of(size_t i) {
    if (i < COUNT(some_integers)) return (const xir_object *)xir_scalar_int(ctx, some_integers[i]);
    i -= COUNT(some_integers);
    return i < COUNT(some_reals) ? (const xir_object *)xir_scalar_real(ctx, some_reals[i]) : NULL;
}

/* The tensor type or element type with other elements; NULL for scales and other objects. */
static const xir_object *type_like(const xir_object *was, size_t i) {
    const xir_type *type = (const xir_type *)was;
    const xir_str key = xir_class_key(xir_object_class(was));
    if (i >= AS_IS || key.size < 4 || memcmp(key.data + key.size - 4, "Type", 4) != 0) return NULL;
    if (!xir_type_as_tensor(type)) return is_plain(type) ? (const xir_object *)type_of(i) : NULL;
    return (const xir_object *)xir_type_with_element(ctx, type, type_of(i), why);
}

/* Value `i` of an attribute in place of its own; false if there are no more. */
static bool vary_ref(const xir_field *f, const xir_object **at, size_t i) {
    const bool scalar = f->of && (f->of == xir_class_find_decl(ctx, xir_scalar_class()) ||
                                  f->of == xir_class_find_decl(ctx, xir_int_imm_class()) ||
                                  f->of == xir_class_find_decl(ctx, xir_float_imm_class()));
    const xir_object *now = scalar ? scalar_of(i) : *at ? type_like(*at, i) : NULL;
    if (now) *at = now;
    return now;
}

static bool vary(op_case *c, const xir_field *f, size_t i) {
    char *at = (char *)c->body + f->offset;
    switch (f->kind) {
    case XIR_KIND_BOOL:
        *(bool *)at = !*(bool *)at;
        return i == 0;
    case XIR_KIND_ENUM:
        *(int *)at = (int)i;
        return i < f->members->size;
    case XIR_KIND_I64:
        *(int64_t *)at = i < COUNT(some_integers) ? some_integers[i] : *(int64_t *)at + 1;
        return i <= COUNT(some_integers);
    case XIR_KIND_U64:
        *(uint64_t *)at = i < 4 ? (uint64_t)some_integers[i] : *(uint64_t *)at + 1;
        return i <= 4;
    case XIR_KIND_REAL:
        *(double *)at = i < COUNT(some_reals) ? some_reals[i] : *(double *)at + 0.25;
        return i <= COUNT(some_reals);
    case XIR_KIND_I64S: {
        xir_i64s *list = (xir_i64s *)at;
        const size_t items = 2 * list->size, more = list->size ? 2 : 1;
        int64_t *now = op_text_keep(&c->t, (list->size + 1) * sizeof *now);
        if (i >= items + more) return false;
        if (list->size) memcpy(now, list->data, list->size * sizeof *now);
        if (i < items) now[i / 2] += i % 2 ? -1 : 1;
        else if (i == items) now[list->size] = list->size ? list->data[list->size - 1] : 1;
        *list = (xir_i64s){ now, list->size + (i == items) - (i == items + 1) };
        return true;
    }
    case XIR_KIND_REALS: {
        xir_reals *list = (xir_reals *)at;
        double *now = op_text_keep(&c->t, (list->size + 1) * sizeof *now);
        if (i >= 2 || (i && !list->size)) return false;
        if (list->size) memcpy(now, list->data, list->size * sizeof *now);
        if (i) now[0] += 0.5;
        else now[list->size] = 1.5;
        *list = (xir_reals){ now, list->size + !i };
        return true;
    }
    case XIR_KIND_REFS: {
        xir_refs *list = (xir_refs *)at;
        const xir_object **now = op_text_keep(&c->t, (list->size + 1) * sizeof *now);
        if (!list->size) return false;
        memcpy((void *)now, (const void *)list->data, list->size * sizeof *now);
        const bool some = vary_ref(f, &now[0], i);
        *list = (xir_refs){ now, list->size };
        return some;
    }
    case XIR_KIND_REF: return vary_ref(f, (const xir_object **)(void *)at, i);
    default: return false;
    }
}

/* ---- a variation ------------------------------------------------------------------------------------------------ */

/* The result of each class with each format: for each attribute, and each element type. */
typedef struct fate { uint16_t same, stays; } fate;
typedef struct walked { char name[64]; uint16_t tried[FACETS]; fate fates[FORMATS][FACETS]; } walked;
static walked classes[WAY_CLASSES];
static size_t n_classes, n_wrong, n_variations;

static walked *class_of(const xir_class *cls) {
    const xir_str key = xir_class_key(cls);
    size_t from = key.size, i = 0;
    while (from > 0 && key.data[from - 1] != ':') from--;
    const xir_str name = { key.data + from, key.size - from };
    while (i < n_classes && !xir_str_equal(name, xir_str_of(classes[i].name))) i++;
    if (i == n_classes) {
        assert_true(n_classes < WAY_CLASSES && name.size < sizeof classes->name);
        memcpy(classes[n_classes++].name, name.data, name.size);
    }
    return &classes[i];
}

typedef struct variation {
    op_case        c;
    xir_array     *in[MOST_INPUTS], *expected[MOST_OUTPUTS];
    size_t         n_expected;
    size_t         facet, value;     /* an attribute and the number of its value, or an element type */
    bool           constants;        /* all inputs but the first are Params */
} variation;

static const xir_type *first_element(const op_case *c) {
    for (size_t i = 0; i < c->n_inputs; i++)
        if (c->inputs[i]) return xir_type_element(xir_value_type(c->inputs[i]));
    return NULL;
}

/* Gives the case its variation; false if there is none, or the op is refused. */
static bool change(variation *v) {
    op_case *c = &v->c;
    const bool typed = v->facet >= MOST_FIELDS;
    const size_t which = typed ? v->facet - MOST_FIELDS : AS_IS;
    const xir_type *from = first_element(c), *to = which == AS_IS ? NULL : type_of(which);
    if (!typed && !vary(c, &c->cls->fields[v->facet], v->value)) return false;
    if (to && (!from || !is_plain(from) || xir_type_equal(from, to))) return false;
    for (size_t i = 0, n = 0; i < c->n_inputs; i++) {
        if (c->is_arg[i]) {
            xir_array *own = c->given[n] ? xir_array_from_params(c->given[n], why) : NULL;
            if (!own) return false;
            const xir_type *element = replaced(xir_type_element(c->args[n]), from, to);
            char name[24];
            snprintf(name, sizeof name, "in%zu", n);
            assert_int_equal(xir_value_set_name(c->inputs[i], xir_str_of(name)), XIR_OK);
            v->in[n++] = cast(own, element);
            xir_array_free(own);
            const xir_type *type = xir_type_with_element(ctx, xir_value_type(c->inputs[i]), element, why);
            assert_int_equal(xir_value_set_type(c->inputs[i], type), XIR_OK);
            if (v->constants && i) {
                xir_value *made = xir_params_from_array(c->net, XIR_STR("k"), v->in[n - 1]);
                assert_non_null(made);
                assert_int_equal(xir_value_set_type(made, xir_value_type(c->inputs[i])), XIR_OK);
                c->inputs[i] = made;
            }
        } else if (c->inputs[i] && to) {
            c->inputs[i] = cast_params(c->net, c->inputs[i], from, to);
        }
    }
    for (size_t k = 0; to && k < c->cls->n_fields; k++) {
        xir_value **at = (xir_value **)(void *)((char *)c->body + c->cls->fields[k].offset);
        if (c->cls->fields[k].kind == XIR_KIND_PARAMS && *at) *at = cast_params(c->net, *at, from, to);
    }
    if (c->bad && c->n_outputs) return false;
    xir_op *op = xir_network_add(c->net, &XIR_INIT(xir_op_desc, .cls = c->cls, .attrs = c->body, .inputs = c->inputs,
                                                   .n_inputs = c->n_inputs, .target = c->target, .name = XIR_STR("op"),
                                                   .id = XIR_NO_ID));
    xir_value *outputs[MOST_OUTPUTS];
    xir_network_clear_status(c->net);
    const size_t n = op ? xir_op_output_count(op) : 0;
    if (!n || n > MOST_OUTPUTS) return false;
    for (size_t i = 0; i < n; i++) outputs[i] = xir_op_output(op, (int64_t)i);
    assert_non_null(xir_output(xir_at_end(c->net), (xir_values){ outputs, n }));
    v->n_expected = n;
    xir_diags_clear(why);
    const xir_run_options limits = XIR_INIT(xir_run_options, .max_work = 1 << 24);
    return !xir_network_validate(c->net, why) &&
           !xir_network_run(c->net, (const xir_array *const *)v->in, c->n_args, v->expected, n, &limits, why);
}

/* Returns the tolerance for numbers of this element type: several roundings on the way. */
static double tolerance_of(const xir_type *element) {
    const element_format f = element_format_of(element);
    if (f.kind != ELEMENT_FLOAT) return xir_type_is_quantized(element) ? 1e-4 : 0;
    return f.mantissa < 10 ? 0.05 : f.mantissa < 23 ? 0.01 : 1e-4;
}

static bool is_near(double a, double b, double tolerance) {
    if (isnan(a) || isnan(b)) return isnan(a) && isnan(b);
    return a == b || fabs(a - b) <= tolerance * (1 + fmax(fabs(a), fabs(b)));
}

/* The tolerance for what a format cannot express: 32-bit reals instead of 64, and integers as reals. */
static double tolerance_between(const xir_array *a, const xir_array *b) {
    const xir_type *x = xir_type_element(xir_array_type(a)), *y = xir_type_element(xir_array_type(b));
    return fmax(tolerance_of(x), element_is_float(element_format_of(y)) ? tolerance_of(y) : 0);
}

static bool agrees(const xir_array *a, const xir_array *b, size_t *at) {
    const double tolerance = tolerance_between(a, b);
    *at = 0;
    if (xir_array_count(a) != xir_array_count(b)) return false;
    for (; *at < xir_array_count(a); (*at)++)
        if (!is_near(xir_array_real(a, *at), xir_array_real(b, *at), tolerance)) return false;
    return true;
}

/* ---- there and back --------------------------------------------------------------------------------------------- */

static const char *what_varies(const variation *v) {
    static char text[120];
    const char *how = v->constants ? ", with constants" : "";
    if (v->facet >= MOST_FIELDS) snprintf(text, sizeof text, "%s%s", type_words[v->facet - MOST_FIELDS], how);
    else snprintf(text, sizeof text, "%s, value %zu%s", v->c.cls->fields[v->facet].name.data, v->value, how);
    return text;
}

static void complain(variation *v, size_t f, const char *sentence, const char *more) {
    n_wrong++;
    print_error("%s:%d: %.200s\n    %s, %s: %s%s\n", v->c.file, v->c.line, v->c.text, formats[f].name,
                what_varies(v), sentence, more);
}

/* The array as an input of a file: the same numbers in its elements, or the bytes of quantised ones. */
static xir_array *as_input(const xir_array *a, const xir_value *input) {
    const xir_type *element = xir_type_element(xir_value_type(input)), *own = xir_type_element(xir_array_type(a));
    if (element && is_plain(element) && is_plain(own)) return cast(a, element);
    if (!element || is_plain(element) || xir_type_equal(element, own)) return way_input_stored(a, input);
    size_t size;
    const void *data = xir_array_data(a, &size);
    return xir_array_copy(ctx, xir_value_type(input), data, size, why);
}

/* Numbers that NNB does not have, which has all as 32-bit reals: integers beyond 24 bits, and what becomes of NaN in a
 * result that is not a real. */
static bool is_beyond_nnb(const variation *v) {
    bool real = true;
    for (size_t i = 0; i < v->n_expected; i++)
        real = real && element_is_float(element_format_of(xir_array_type(v->expected[i])));
    for (size_t i = 0; i < v->c.n_args; i++) {
        const bool whole = xir_type_kind_of(xir_type_element(xir_array_type(v->in[i]))) == XIR_TYPE_INTEGER;
        for (size_t k = 0; k < xir_array_count(v->in[i]); k++) {
            const double x = xir_array_real(v->in[i], k);
            if (whole ? fabs(x) > 0x1p24 : isnan(x) && !real) return true;
        }
    }
    return false;
}

/* Returns true if the network of the file computes what the case does. */
static bool computes(variation *v, size_t f, const xir_network *from, xir_network *net) {
    xir_array *args[MOST_INPUTS] = { NULL }, *out[MOST_OUTPUTS] = { NULL };
    const xir_op *inputs = xir_network_input_op(net);
    const size_t n = xir_op_output_count(inputs);
    size_t at = 0;
    char text[200] = "";
    for (size_t i = 0; i < n; i++) {
        const xir_value *input = xir_op_output(inputs, (int64_t)i);
        const size_t named = way_input_named(from, xir_value_name(input)), k = named < v->c.n_args ? named : i;
        if (k >= v->c.n_args) continue;
        const xir_type *type = xir_value_type(input);
        xir_array *own = as_input(v->in[k], input);
        /* a tensor without dims has one in DeepX */
        if (xir_type_rank(type) == 1 && !xir_type_rank(xir_array_type(own))) {
            size_t size;
            const void *data = xir_array_data(own, &size);
            args[i] = xir_array_copy(ctx, type, data, size, why);
            xir_array_free(own);
        } else {
            args[i] = own;
        }
    }
    xir_diags_clear(why);
    const xir_status status = xir_network_run(net, (const xir_array *const *)args, n, out, v->n_expected, NULL, why);
    if (status) complain(v, f, "does not run: ", way_first_message());
    bool same = !status;
    for (size_t i = 0; i < v->n_expected && same; i++) {
        const bool stored = !xir_type_is_quantized(xir_type_element(xir_array_type(out[i])));
        xir_array *there = stored ? way_stored(v->expected[i]) : xir_array_retain(v->expected[i]);
        same = agrees(there, out[i], &at);
        if (!same && at < xir_array_count(out[i]) && at < xir_array_count(there))
            snprintf(text, sizeof text, "output %zu, element %zu: %g, not %g", i, at, xir_array_real(out[i], at),
                     xir_array_real(there, at));
        xir_array_free(there);
        if (!same) complain(v, f, "computes other numbers: ", text);
    }
    for (size_t i = 0; i < n; i++) xir_array_free(args[i]);
    for (size_t i = 0; i < v->n_expected; i++) xir_array_free(out[i]);
    return same;
}

/* Images in other sizes are sums of weighted cells in some formats, and infinity times 0 is not a number. */
static bool is_infinite_image(const variation *v) {
    const bool resizes = v->c.cls->decl == xir_resize_class() || v->c.cls->decl == xir_upsample_class();
    for (size_t k = 0; resizes && k < xir_array_count(v->in[0]); k++)
        if (isinf(xir_array_real(v->in[0], k))) return true;
    return false;
}

/* Returns true if the network computes what the case does, or stays. */
static bool goes(variation *v, size_t f, bool *stays) {
    xir_network *net = xir_network_clone(v->c.net), *again = NULL;
    bool same = false;
    assert_non_null(net);
    xir_diags_clear(why);
    xir_status status = XIR_OK;
    if (formats[f].before) status = xir_pass_run(net, "layout", "to=nchw", NULL, why);
    if (!status) status = xir_pass_run(net, formats[f].there, formats[f].options, NULL, why);
    *stays = status || !way_is_whole(net, true);
    if (*stays) {
        if (!xir_diags_count(why)) complain(v, f, "stays without a reason", "");
    } else {
        xir_diags_clear(why);
        const bool apart = strcmp(formats[f].name, "pnnx") == 0 || strcmp(formats[f].name, "deepx") == 0;
        again = apart ? xir_network_clone(net) : way_through_file(net, formats[f].name, NULL);
        *stays = !again;   /* the file refuses it, with a finding */
        if (!again && !xir_diags_count(why)) complain(v, f, "is not written, without a reason", "");
        xir_diags_clear(why);
        if (again && (xir_pass_run(again, "to-xir", "strict", NULL, why) || !way_is_whole(again, false)))
            complain(v, f, "does not come back: ", way_first_message());
        else if (again && strcmp(formats[f].name, "nnb") == 0 && is_beyond_nnb(v)) *stays = true;
        else if (again) same = computes(v, f, v->c.net, again);
    }
    xir_network_free(net);
    xir_network_free(again);
    return same;
}

/* ---- the walk --------------------------------------------------------------------------------------------------- */

enum { SAMPLE = 2 };
static size_t most_of_a_kind = SAMPLE;

static void try_variation(const char *text, const char *file, int line, op_counts *counts, size_t facet, size_t value,
                          bool *more) {
    variation v = { .facet = facet, .value = value };
    assert_true(op_case_begin(&v.c, text, file, line, counts));
    walked *w = class_of(v.c.cls);
    *more = w->tried[facet] < most_of_a_kind;
    v.constants = w->tried[facet] % 2;
    if (*more && !v.c.bad && change(&v) && !is_infinite_image(&v)) {
        w->tried[facet]++;
        n_variations++;
        for (size_t f = 0; f < FORMATS; f++) {
            bool stays;
            if (goes(&v, f, &stays)) w->fates[f][facet].same++;
            else if (stays) w->fates[f][facet].stays++;
        }
    }
    for (size_t i = 0; i < v.c.n_args; i++) xir_array_free(v.in[i]);
    for (size_t i = 0; i < v.n_expected; i++) xir_array_free(v.expected[i]);
    op_case_end(&v.c);
    xir_diags_clear(why);
}

static void each(const char *text, const char *file, int line, op_counts *counts) {
    enum { MOST_VALUES = 20 };
    op_case c;
    assert_true(op_case_begin(&c, text, file, line, counts));
    const bool walks = !c.bad && !(c.cls->traits & (XIR_TRAIT_SOURCE | XIR_TRAIT_SINK));
    const size_t n = c.cls->n_fields < MOST_FIELDS ? c.cls->n_fields : MOST_FIELDS;
    op_case_end(&c);
    for (size_t k = 0; k < n && walks; k++) {
        bool more = true;
        for (size_t i = 0; i < MOST_VALUES && more; i++) try_variation(text, file, line, counts, k, i, &more);
    }
    for (size_t i = 0; i < TYPES && walks; i++) {
        bool more;
        try_variation(text, file, line, counts, MOST_FIELDS + i, 0, &more);
    }
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const walked *)a)->name, ((const walked *)b)->name);
}

/* Counts the attributes and types of a class that compute the same in a format, and those that stay. */
static void count(const walked *w, size_t f, size_t *same, size_t *stays) {
    *same = *stays = 0;
    for (size_t k = 0; k < FACETS; k++) {
        *same += w->fates[f][k].same > 0;
        *stays += w->fates[f][k].stays > 0;
    }
}

/* Compares with the table: a class may have more than it says. */
static void compare_with_table(void) {
    char line[300], name[64];
    FILE *in = fopen(XIR_TEST_DATA "/convert/walk.txt", "r");
    assert_non_null(in);
    size_t rows = 0;
    while (fgets(line, sizeof line, in)) {
        unsigned least[FORMATS];
        if (sscanf(line, "%63s %u %u %u %u %u", name, &least[0], &least[1], &least[2], &least[3], &least[4]) != 6)
            continue;
        rows++;
        size_t i = 0;
        while (i < n_classes && strcmp(classes[i].name, name) != 0) i++;
        if (i == n_classes) fail_msg("the table has %s, which no case has", name);
        for (size_t f = 0; f < FORMATS; f++) {
            size_t same, stays;
            count(&classes[i], f, &same, &stays);
            if (same >= least[f]) continue;
            n_wrong++;
            print_error("%s: %zu attributes and types go to %s and back, and %u did\n", name, same, formats[f].name,
                        least[f]);
        }
    }
    fclose(in);
    assert_true(rows > 100);
}

static void print_table(void) {
    printf("# %-22s", "class");
    for (size_t f = 0; f < FORMATS; f++) printf(" %5s", formats[f].name);
    printf("    # how many attributes and types go there and back\n");
    for (size_t i = 0; i < n_classes; i++) {
        printf("%-24s", classes[i].name);
        for (size_t f = 0; f < FORMATS; f++) {
            size_t same, stays;
            count(&classes[i], f, &same, &stays);
            printf(" %5zu", same);
        }
        printf("\n");
    }
}

static void attributes_and_types_go_there_and_back(void **state) {
    (void)state;
    op_counts counts = { .out = stderr };
    const char *how = getenv("XIR_WALK");
    if (how && strcmp(how, "all") == 0) most_of_a_kind = SIZE_MAX;
    way_each("convert/nnb_back.txt", each, &counts);
    qsort(classes, n_classes, sizeof *classes, by_name);
    printf("%zu variations of %zu classes, each to %d formats\n", n_variations, n_classes, FORMATS);
    if (how && strcmp(how, "print") == 0) print_table();
    else compare_with_table();
    if (n_wrong) fail_msg("%zu differ", n_wrong);
}

GROUP {
    const struct CMUnitTest tests[] = { cmocka_unit_test(attributes_and_types_go_there_and_back) };
    return RUN_GROUP(tests);
}
