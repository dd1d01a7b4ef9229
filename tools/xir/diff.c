/* xir diff: what differs between two networks, said in their terms. Ops are the same by what match.c finds, values by who makes
 * them and Params by where they are used; so ids may differ, and the order of keys and the numbers of lines never matter. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "diff.h"

static bool        with_params, with_ids, as_json;
static const char *tolerance_word;

/* ---- inputs -------------------------------------------------------------------------------------- */

/* What stands at an input: "output 0 of icraft::xir::Conv2d 'c1' (op 3)". */
static void put_source(text *t, const xir_value *v) {
    const xir_op *maker = v ? xir_value_op(v) : NULL;
    if (!v) {
        text_put(t, "absent");
    } else if (maker) {
        text_printf(t, "output %zu of ", xir_value_index(v));
        describe(t, maker);
    } else {
        xir_str name = xir_value_name(v);
        text_printf(t, "%s %" PRId64, xir_value_is_params(v) ? "params" : "value", xir_value_id(v));
        if (name.size) text_printf(t, " '%.*s'", (int)(name.size < 200 ? name.size : 200), name.data);
    }
}

/* Whether two values are each other's mate. */
static bool same_source(const diffing *d, const xir_value *a, const xir_value *b) {
    if (!a || !b) return a == b;
    if (xir_value_is_params(a) || xir_value_is_params(b)) return xir_value_is_params(a) && xir_value_is_params(b);
    const xir_op *p = xir_value_op(a), *q = xir_value_op(b);
    if (p && q) return mate_of_a(&d->m, p) == q && xir_value_index(a) == xir_value_index(b);
    return p == q;
}

static void report_input(diffing *d, const spot *s, size_t i, const xir_value *a, const xir_value *b, bool has_a, bool has_b) {
    text x = { 0 }, y = { 0 };
    if (has_a) put_source(&x, a);
    if (has_b) put_source(&y, b);
    size_t whole = into(s, XIR_STR("inputs"));
    into_index(s, i);
    report_words(d, s, has_a ? &x : NULL, has_b ? &y : NULL);
    leave(s, whole);
}

/* What is the same at the beginning and at the end is left alone, so that one more input is one difference. */
static void compare_inputs(diffing *d, const spot *s) {
    size_t n = xir_op_input_count(s->a), m = xir_op_input_count(s->b), head = 0, tail = 0;
    while (head < n && head < m && same_source(d, xir_op_input(s->a, (int64_t)head), xir_op_input(s->b, (int64_t)head))) head++;
    while (head + tail < n && head + tail < m &&
           same_source(d, xir_op_input(s->a, (int64_t)(n - tail - 1)), xir_op_input(s->b, (int64_t)(m - tail - 1)))) tail++;
    for (size_t i = 0; i < n || i < m; i++) {
        size_t at_a = i, at_b = i;
        bool in_tail = i >= (n > m ? n : m) - tail;
        if (in_tail && n > m) at_b = i - (n - m);
        if (in_tail && m > n) at_a = i - (m - n);
        bool has_a = in_tail || i < n - tail, has_b = in_tail || i < m - tail;
        const xir_value *a = has_a ? xir_op_input(s->a, (int64_t)at_a) : NULL, *b = has_b ? xir_op_input(s->b, (int64_t)at_b) : NULL;
        if (!has_a && !has_b) continue;
        if (has_a != has_b || !same_source(d, a, b)) {
            report_input(d, s, has_a ? at_a : at_b, a, b, has_a, has_b);
        } else if (a && !xir_value_op(a)) {
            size_t whole = into(s, XIR_STR("inputs"));
            into_index(s, at_a);
            if (xir_value_is_params(a)) compare_params(d, s, a, b);
            else compare_value(d, s, a, b);
            leave(s, whole);
        }
    }
}

/* ---- ops ----------------------------------------------------------------------------------------- */

static void compare_outputs(diffing *d, const spot *s) {
    size_t n = xir_op_output_count(s->a), m = xir_op_output_count(s->b);
    for (size_t i = 0; i < n || i < m; i++) {
        size_t whole = into(s, XIR_STR("outputs"));
        into_index(s, i);
        if (i < n && i < m) {
            compare_value(d, s, xir_op_output(s->a, (int64_t)i), xir_op_output(s->b, (int64_t)i));
        } else {
            text x = { 0 };
            type_words(&x, xir_value_type(xir_op_output(i < n ? s->a : s->b, (int64_t)i)));
            report_words(d, s, i < n ? &x : NULL, i < m ? &x : NULL);
        }
        leave(s, whole);
    }
}

static void compare_lists(diffing *d, xir_op *const *a, size_t n_a, xir_op *const *b, size_t n_b);

static void compare_children(diffing *d, const spot *s) {
    const xir_class *cls = xir_op_class(s->a);
    if (!same_class(cls, xir_op_class(s->b))) return;
    for (size_t i = 0; i < xir_class_field_count(cls); i++) {
        const xir_field *f = xir_class_field_at(cls, i);
        xir_attr a, b;
        if (f->kind != XIR_KIND_OPS || xir_op_get(s->a, f->name, &a) || xir_op_get(s->b, f->name, &b)) continue;
        if (!a.as.ops.size && !b.as.ops.size) continue;
        match_ops(&d->m, a.as.ops.data, a.as.ops.size, b.as.ops.data, b.as.ops.size);
        compare_lists(d, a.as.ops.data, a.as.ops.size, b.as.ops.data, b.as.ops.size);
    }
}

static void compare_mates(diffing *d, const xir_op *a, const xir_op *b) {
    text field = { 0 };
    text_put(&field, "");
    const spot s = { a, b, &field };
    size_t before = d->records;
    compare_texts(d, &s, "name", xir_op_name(a), xir_op_name(b));
    d->renumbered += xir_op_id(a) != xir_op_id(b);
    if (d->with_ids) compare_numbers(d, &s, "op_id", xir_op_id(a), xir_op_id(b));
    compare_attrs(d, &s);
    compare_objects(d, &s, "compile_target", (const xir_object *)xir_op_target(a), (const xir_object *)xir_op_target(b));
    compare_inputs(d, &s);
    compare_outputs(d, &s);
    compare_maps(d, &s, "tags", xir_op_tags(a), xir_op_tags(b));
    d->changed += d->records != before;
    compare_children(d, &s);
    text_free(&field);
}

static const xir_op *before_in(xir_op *const *list, size_t i) { return i ? list[i - 1] : NULL; }

/* Everything about two lists of ops whose mates are known: what is gone, in the order of the first; then the second's. */
static void compare_lists(diffing *d, xir_op *const *a, size_t n_a, xir_op *const *b, size_t n_b) {
    bool *moved = take(n_a, sizeof *moved);
    size_t *from = take(n_b, sizeof *from);
    find_moved(&d->m, a, n_a, b, n_b, moved);
    for (size_t i = 0; i < n_a; i++) {
        const xir_op *mate = mate_of_a(&d->m, a[i]);
        if (mate) {
            from[d->m.index_b[xir_op_slot(mate)]] = i;
            continue;
        }
        d->removed++;
        report_op(d, "removed", &(spot){ a[i], NULL, NULL }, before_in(a, i), NULL);
    }
    for (size_t j = 0; j < n_b; j++) {
        if (!mate_of_b(&d->m, b[j])) {
            d->added++;
            report_op(d, "added", &(spot){ NULL, b[j], NULL }, NULL, before_in(b, j));
            continue;
        }
        size_t i = from[j];
        if (moved[i]) {
            d->moved++;
            report_op(d, "moved", &(spot){ a[i], b[j], NULL }, before_in(a, i), before_in(b, j));
        }
        compare_mates(d, a[i], b[j]);
    }
    free(moved);
    free(from);
}

/* ---- networks ------------------------------------------------------------------------------------ */

/* Whether a network says what its raw file would be: one that came from a format without such a thing, or is new, does not. */
static bool says_digest(const xir_network *net) {
    xir_str md5 = xir_network_text_of(net, XIR_TEXT_PARAMS_MD5);
    return xir_network_params_bytes(net) || (md5.size && !xir_str_equal(md5, XIR_STR("d41d8cd98f00b204e9800998ecf8427e")));
}

static void compare_networks(diffing *d) {
    static const struct { const char *key; xir_network_text which; } texts[] = {
        { "name", XIR_TEXT_NAME }, { "framework_kind", XIR_TEXT_FRAMEWORK }, { "framework_version", XIR_TEXT_FRAMEWORK_VERSION },
        { "icraft_version", XIR_TEXT_ICRAFT_VERSION }, { "icraft_xir_version", XIR_TEXT_XIR_VERSION }, { "params_md5", XIR_TEXT_PARAMS_MD5 },
    };
    const xir_network *a = d->m.a, *b = d->m.b;
    /* With parameters the values themselves are compared. */
    bool digests = !d->with_params && says_digest(a) && says_digest(b);
    text field = { 0 };
    text_put(&field, "");
    const spot s = { NULL, NULL, &field };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (texts[i].which == XIR_TEXT_PARAMS_MD5 && !digests) continue;
        compare_texts(d, &s, texts[i].key, xir_network_text_of(a, texts[i].which), xir_network_text_of(b, texts[i].which));
    }
    if (digests) compare_numbers(d, &s, "params_bytes", (int64_t)xir_network_params_bytes(a), (int64_t)xir_network_params_bytes(b));
    compare_objects(d, &s, "ai_target", (const xir_object *)xir_network_ai_target(a), (const xir_object *)xir_network_ai_target(b));
    compare_maps(d, &s, "tags", xir_network_tags(a), xir_network_tags(b));
    compare_maps(d, &s, NULL, xir_network_extra(a), xir_network_extra(b));
    d->network = d->records > 0;
    text_free(&field);
}

static xir_op **all_ops(const xir_network *net) {
    xir_op **ops = take(xir_network_op_count(net), sizeof *ops);
    size_t n = 0;
    for (xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) ops[n++] = op;
    return ops;
}

static void print_summary(const diffing *d) {
    if (!d->records) return;
    printf("%sops: %zu removed, %zu added, %zu moved, %zu changed\n", d->network ? "the network itself changed; " : "", d->removed, d->added,
           d->moved, d->changed);
}

static int compare(const loaded *a, const loaded *b, double tolerance) {
    diffing d = { .tolerance = tolerance, .json = as_json, .with_params = with_params, .with_ids = with_ids };
    mates_init(&d.m, a->net, b->net);
    xir_op **ops_a = all_ops(a->net), **ops_b = all_ops(b->net);
    size_t n_a = xir_network_op_count(a->net), n_b = xir_network_op_count(b->net);
    match_ops(&d.m, ops_a, n_a, ops_b, n_b);
    if (d.json) printf("[");
    compare_networks(&d);
    compare_lists(&d, ops_a, n_a, ops_b, n_b);
    if (d.json) printf(d.records ? "\n]\n" : "]\n");
    else print_summary(&d);
    if (d.renumbered && !with_ids) {
        xir_diags *why = new_diags();
        xir_diags_add(why, XIR_NOTE, XIR_OK, XIR_STR(""), "%zu op%s or value%s the same but for the id; --ids shows them", d.renumbered,
                      d.renumbered == 1 ? "" : "s", d.renumbered == 1 ? " is" : "s are");
        say(why);
        xir_diags_free(why);
    }
    free((void *)ops_a);
    free((void *)ops_b);
    free(d.seen);
    mates_free(&d.m);
    return d.records ? FAULTY : DONE;
}

/* ---- the command --------------------------------------------------------------------------------- */

static int read_tolerance(double *out) {
    *out = 0;
    if (!tolerance_word) return DONE;
    char *end;
    *out = strtod(tolerance_word, &end);
    if (end == tolerance_word || *end || !(*out >= 0)) return complain(MISUSED, "--tolerance takes a number from 0, not '%s'", tolerance_word);
    return DONE;
}

static int run(int n, char **operands) {
    (void)n;
    double tolerance;
    if (read_tolerance(&tolerance)) return MISUSED;
    if (tolerance_word) with_params = true;
    if (with_params && load_args.no_params) {
        return complain(MISUSED, "%s and --no-params contradict each other", tolerance_word ? "--tolerance" : "--params");
    }
    if (strcmp(operands[0], "-") == 0 && strcmp(operands[1], "-") == 0) return complain(MISUSED, "only one of the two can be standard input");
    /* Without --params the structures are compared, so nothing else is read; and what a file that does not fit its MD5 has
     * instead is just what is asked. */
    load_args.no_params = !with_params;
    loaded a = { 0 }, b = { 0 };
    int code = load(&a, operands[0], XIR_LOAD_NO_MD5);
    if (!code) code = load(&b, operands[1], XIR_LOAD_NO_MD5);
    if (!code) code = compare(&a, &b, tolerance);
    unload(&a);
    unload(&b);
    return code;
}

static const option options[] = {
    { "params", NULL, &with_params, "compare the parameters by value" },
    { "tolerance", "T", &tolerance_word, "floats that differ by at most T are the same; implies --params" },
    { "ids", NULL, &with_ids, "ids count too" },
    { "json", NULL, &as_json, "a list of JSON objects, one a difference" },
    NO_PARAMS_OPTION, LAZY_OPTION, FROM_OPTION,
    { 0 },
};

const command diff_command = {
    .name = "diff", .operands = "A B", .summary = "says what differs between two networks",
    .details = "Ops are recognised by name, by id, and by their neighbours, not by where they stand. What was removed (-), added (+),\n"
               "moved in the execution order (>) and changed (~) is said attribute by attribute. Ids alone are no difference.\n",
    .options = options, .least = 2, .most = 2, .run = run,
};
