/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The builder of networks of foreign models, without a format: short programs of its calls, and the networks that they
 * make.
 *
 * A program is statements separated by ';':
 *
 *     in x          an input                  out x         an output
 *     const w       a constant of two bytes   numbers 4     values are numbers below 4
 *     A x,,w -> y   a node of type A; then, in any order, key=7 is an attribute, ^h a capture, @1=weight the name of
 *                   input 1
 *
 * A name that begins with # is a number; an empty name is absent. A network is printed in its order: each value as
 * its name and id, with $ if it is Params, ? if it has no producer, and ! if it is marked as a duplicate; tags and
 * attributes in braces. */
#include <stdio.h>
#include <xir/serialize.h>
#include "dialect/dialect.h"
#include "support/scarce.h"
#include "support/scratch.h"

static const element_code rows[] = { { "none", 0, ELEMENT_NONE, 0, 1 },
                                     { "real", 32, ELEMENT_FLOAT, XIR_FLOAT_FP32, 1 },
                                     { "byte", 8, ELEMENT_UNSIGNED, 0, 1 } };
static const element_codes codes = { rows, COUNT(rows) };
static const dialect_about first_counts = { "my", XIR_FRAMEWORK_ONNX, &codes, false };
static const dialect_about last_counts = { "my", XIR_FRAMEWORK_ONNX, &codes, true };

/* The file of all tests; it begins at a multiple of 64. */
static _Alignas(64) const uint8_t file[64] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };

typedef struct building { dialect d; format_reading how; blob *whole; } building;

static void begin_in(building *b, xir_context *in, const dialect_about *about, xir_diags *findings, const char *path) {
    b->how = (format_reading){ .ctx = in, .name = XIR_STR("model"), .path = path, .why = findings };
    b->whole = blob_borrow(context_alloc(in), file, sizeof file, true, NULL, NULL);
    if (b->whole && !dialect_begin(&b->d, about, &b->how, b->whole)) {
        blob_release(b->whole);
        b->whole = NULL;
    }
    if (!b->whole) diag_memory(findings);
}

static void begin(building *b) {
    xir_diags_clear(why);
    begin_in(b, ctx, &first_counts, why, NULL);
    assert_non_null(b->whole);
}

static xir_network *finish(building *b) {
    xir_network *net = dialect_finish(&b->d, true);
    blob_release(b->whole);
    return net;
}

static void finish_and_forget(building *b) { xir_network_free(finish(b)); }

static void finish_failed(building *b, xir_status status, const char *part) {
    assert_null(finish(b));
    assert_int_equal(xir_diags_count(why), 1);
    if (xir_diags_at(why, 0)->code != status) fail_msg("%s", xir_diags_at(why, 0)->message.data);
    if (!strstr(xir_diags_at(why, 0)->message.data, part))
        fail_msg("'%s' has no '%s'", xir_diags_at(why, 0)->message.data, part);
    xir_diags_clear(why);
}

/* ---- programs -------------------------------------------------------------------------------------------------- */

/* Takes the text up to one of the marks, and steps over the mark. */
static xir_str until(const char **at, const char *marks) {
    size_t n = strcspn(*at, marks);
    xir_str text = { *at, n };
    *at += n + ((*at)[n] != '\0');
    return text;
}

static dialect_ref ref_of(dialect *d, xir_str text) {
    if (text.size && text.data[0] == '#') return dialect_number((size_t)strtoul(text.data + 1, NULL, 10));
    return dialect_name(d, text);
}

static void run_names(dialect *d, xir_str list, bool out) {
    const char *at = list.data, *end = list.data + list.size;
    while (at < end) {
        size_t n = 0;
        while (at + n < end && at[n] != ',') n++;
        dialect_ref ref = ref_of(d, (xir_str){ at, n });
        if (out) dialect_node_out_ref(d, ref);
        else dialect_node_in_ref(d, ref);
        at += n;
        if (at < end && ++at == end) {   /* a comma at the end: one more, absent */
            if (out) dialect_node_out_ref(d, dialect_name(d, XIR_STR("")));
            else dialect_node_in_ref(d, dialect_name(d, XIR_STR("")));
        }
    }
}

static void run_node(dialect *d, xir_str type, const char *words) {
    dialect_node_begin(d);
    dialect_node_type(d, XIR_STR(""), type);
    bool out = false, any = false;
    while (*words) {
        xir_str word = until(&words, " ");
        const char *equals = memchr(word.data, '=', word.size);
        if (xir_str_equal(word, XIR_STR("->"))) {
            out = true;
        } else if (word.data[0] == '^') {
            dialect_node_capture(d, (xir_str){ word.data + 1, word.size - 1 });
        } else if (word.data[0] == '@') {
            dialect_node_slot(d, (size_t)(word.data[1] - '0'), (xir_str){ equals + 1, word.size - 3 });
        } else if (equals) {
            xir_any value = xir_any_int(equals[1] - '0');
            dialect_node_attr(d, (xir_str){ word.data, (size_t)(equals - word.data) }, &value);
        } else if (out || !any) {
            run_names(d, word, out);
            any = true;
        }
    }
    dialect_node_end(d, type);
}

static bool run_constant(dialect *d, dialect_ref ref) {
    const xir_type *type = dialect_tensor(d, dialect_element(d, 2), &(int64_t){ 2 }, 1);
    blob *data = type ? dialect_part(d, NULL, 4, 2) : NULL;
    return data && dialect_constant_ref(d, dialect_params(d, ref.text, type, data), ref);
}

static void run_statement(dialect *d, xir_str text) {
    char copy[200];
    assert_true(text.size < sizeof copy);
    memcpy(copy, text.data, text.size);
    copy[text.size] = '\0';
    xir_str *kept = arena_take(&d->scratch, text.size + 1 + sizeof *kept);   /* names must stay valid */
    if (!kept) {
        trace_memory(&d->trace);
        return;
    }
    const char *at = memcpy(kept + 1, copy, text.size + 1);
    xir_str word = until(&at, " ");
    xir_str rest = xir_str_of(at);
    if (xir_str_equal(word, XIR_STR("in"))) dialect_input(d, ref_of(d, rest), NULL);
    else if (xir_str_equal(word, XIR_STR("out"))) dialect_output(d, ref_of(d, rest), NULL);
    else if (xir_str_equal(word, XIR_STR("const"))) run_constant(d, ref_of(d, rest));
    else if (xir_str_equal(word, XIR_STR("numbers"))) dialect_expect_numbers(d, (size_t)strtoul(at, NULL, 10));
    else if (xir_str_equal(word, XIR_STR("begin"))) dialect_make_inputs(d);
    else run_node(d, word, at);
}

static void run(dialect *d, const char *program) {
    while (*program) {
        xir_str statement = until(&program, ";");
        run_statement(d, statement);
        while (*program == ' ') program++;
    }
}

/* ---- networks as text ------------------------------------------------------------------------------------------ */

typedef struct out { char text[2000]; size_t size; } out;

static void XIR_PRINTF(2, 3) put(out *o, const char *pattern, ...) {
    va_list args;
    va_start(args, pattern);
    int n = vsnprintf(o->text + o->size, sizeof o->text - o->size, pattern, args);
    va_end(args);
    assert_true(n >= 0 && (size_t)n < sizeof o->text - o->size);
    o->size += (size_t)n;
}

static void put_any(out *o, const xir_any *any) {
    switch (any->kind) {
    case XIR_ANY_NULL: put(o, "-"); break;
    case XIR_ANY_BOOL: put(o, "%s", any->as.boolean ? "true" : "false"); break;
    case XIR_ANY_INT:  put(o, "%lld", (long long)any->as.integer); break;
    case XIR_ANY_TEXT: put(o, "%.*s", (int)any->as.text.size, any->as.text.data); break;
    case XIR_ANY_LIST:
        for (size_t i = 0; i < any->as.list.size; i++) {
            put(o, "%s", i ? "," : "[");
            put_any(o, &any->as.list.items[i]);
        }
        put(o, "]");
        break;
    default: put(o, "*"); break;
    }
}

static void put_map(out *o, const xir_map *map) {
    for (size_t i = 0; map && i < map->size; i++) {
        put(o, "%s%.*s=", i ? " " : "{", (int)map->entries[i].key.size, map->entries[i].key.data);
        put_any(o, &map->entries[i].value);
    }
    if (map && map->size) put(o, "}");
}

static void put_value(out *o, const xir_value *v) {
    if (!v) {
        put(o, "-");
        return;
    }
    xir_str name = xir_value_name(v);
    put(o, "%.*s.%lld", (int)name.size, name.data ? name.data : "", (long long)v->id);
    if (xir_value_is_params(v)) put(o, "$");
    else if (!value_op(v)) put(o, "?");
    if (source_tag_find(xir_value_tags(v), SOURCE_DUPLICATE)) put(o, "!");
}

static const char *text_of(xir_network *net) {
    static out o;
    o.size = 0;
    for (xir_op *op = net->first; op; op = op->next) {
        xir_str key = xir_class_key(op->cls);
        size_t type = key.size;
        while (type && key.data[type - 1] != ':') type--;
        put(&o, "%s%.*s", op->prev ? "; " : "", (int)(key.size - type), key.data + type);
        put_map(&o, xir_op_extra(op));
        put_map(&o, xir_op_tags(op));
        for (size_t i = 0; i < op->n_inputs; i++) {
            put(&o, "%s", i ? "," : " ");
            put_value(&o, op_inputs(op)[i].value);
        }
        for (size_t i = 0; i < op->n_outputs; i++) {
            put(&o, "%s", i ? "," : " -> ");
            put_value(&o, &op_outputs(op)[i]);
        }
    }
    return o.text;
}

typedef struct example { const char *program, *network; } example;

static const example in_any_order[] = {
    { "",                                                     "Input; Output" },
    { "in x; A x -> y; B y -> z; out z",                      "Input -> x.0; A x.0 -> y.1; B y.1 -> z.2; Output z.2" },
    { "out z; B y -> z; A x -> y; in x",                      "Input -> x.2; B y.0 -> z.1; A x.2 -> y.0; Output z.1" },
    { "in x; in y; A y,x,y -> z; out z; out x",               "Input -> x.1,y.0; A y.0,x.1,y.0 -> z.2; Output z.2,x.1" },
    { "begin; A w -> y; const w; out y",                      "Input; A w.0$ -> y.1; Output y.1" },
    { "const w; A w -> y; A w -> z; out z",                   "Input; A w.0$ -> y.1; A w.0$ -> z.2; Output z.2" },
    /* empty */
    { "in x; A x,,x -> y,,z",                                 "Input -> x.0; A x.0,-,x.0 -> y.1,.2,z.3; Output" },
    { "in x; begin; A x,, -> y; A ,x, -> z; out y; out ; out ", "Input -> x.0; A x.0 -> y.1; A -,x.0 -> z.2; Output y.1" },
    /* orphans */
    { "A q -> y; out y",                                      "Input; A q.0? -> y.1; Output y.1" },
    { "A q -> y; B q -> z; out r",                            "Input; A q.0? -> y.1; B q.0? -> z.2; Output r.3?" },
    { "begin; A y -> y; out y",                               "Input; A y.0 -> y.0; Output y.0" },
    /* duplicates */
    { "begin; A  -> y; B  -> y; C y -> z; out z",             "Input; A -> y.0; B -> y.1!; C y.0 -> z.2; Output z.2" },
    { "in y; begin; A y -> y; out y",                         "Input -> y.0; A y.0 -> y.1!; Output y.0" },
    { "const w; const w; A w -> y; out y",                    "Input; A w.0$! -> y.1; Output y.1" },
    { "A  -> w; const w; B w -> y; out y",                    "Input; A -> w.0!; B w.0! -> y.1; Output y.1" },
    /* contents of a node */
    { "A x ^h ^k ^h -> y; in h; const k; out y",
      "Input -> h.1; A{source.captures=[h,k]} x.0?,h.1,k.2$ -> y.3; Output y.3" },
    { "begin; A x, ^h -> y; out y",                           "Input; A{source.captures=[h]} x.0?,-,h.1? -> y.2; Output y.2" },
    { "const w; A x,w @1=weight -> y; out y",                 "Input; A{source.inputs=[-,weight]} x.0?,w.1$ -> y.2; Output y.2" },
    { "begin; A  c=3 a=1 b=2 -> y; out y",                    "Input; A{a=1 b=2 c=3} -> y.0; Output y.0" },
    { "begin; A  name=1 my.a=2 mya=3 my=4 -> y; out y",
      "Input; A{my=4 my.my.a=2 my.name=1 mya=3} -> y.0; Output y.0" },
    /* numbers */
    { "numbers 4; in #0; begin; A #0,#3 -> #1; B #1 -> #3; out #3",
      "Input -> .0; A .0,.1 -> .2; B .2 -> .1; Output .1" },
    { "numbers 3; begin; A #2 -> #0; A #0 -> #0; const #2; out #0", "Input; A .0$ -> .1; A .1 -> .2!; Output .1" },
};

static const example where_the_last_counts[] = {
    { "in x; begin; A x -> x; B x,x -> x; out x",  "Input -> x.0; A x.0 -> x.1; B x.1,x.1 -> x.2; Output x.2" },
    { "begin; A q -> y; B  -> q; C q -> z; out z", "Input; A q.0? -> y.1; B -> q.2; C q.2 -> z.3; Output z.3" },
    { "const w; begin; A w -> w; out w",           "Input; A w.0$ -> w.1; Output w.1" },
    { "numbers 2; in #0; begin; A #0 -> #0; out #0", "Input -> .0; A .0 -> .1; Output .1" },
};

static void check_examples(const example *all, size_t n, const dialect_about *about) {
    for (size_t i = 0; i < n; i++) {
        building b;
        xir_diags_clear(why);
        begin_in(&b, ctx, about, why, NULL);
        run(&b.d, all[i].program);
        xir_network *net = finish(&b);
        if (!net) xir_diags_print(why, stderr);
        assert_non_null(net);
        const char *broken = broken_invariant(net, ASK_ALL);
        if (broken) fail_msg("%s: %s", all[i].program, broken);
        if (strcmp(text_of(net), all[i].network) != 0) {
            fail_msg("%s\nis       %s\nexpected %s", all[i].program, text_of(net), all[i].network);
        }
        xir_network_free(net);
    }
}

static void names_and_numbers_may_come_in_any_order(void **state) {
    (void)state;
    check_examples(in_any_order, COUNT(in_any_order), &first_counts);
}

static void if_names_are_reassigned_the_last_definition_counts(void **state) {
    (void)state;
    check_examples(where_the_last_counts, COUNT(where_the_last_counts), &last_counts);
}

/* More names than the first table holds, each used before its definition. */
static void very_many_names(void **state) {
    (void)state;
    enum { MANY = 5000 };
    building b;
    begin(&b);
    char (*names)[24] = calloc(MANY + 1, sizeof *names);
    for (int i = 0; i <= MANY; i++) snprintf(names[i], sizeof names[i], "value%d", i);
    for (int i = MANY; i > 0; i--) {
        dialect_node_begin(&b.d);
        dialect_node_type(&b.d, XIR_STR("some.domain"), XIR_STR("A"));
        dialect_node_in(&b.d, xir_str_of(names[i - 1]));
        dialect_node_out(&b.d, xir_str_of(names[i]));
        assert_non_null(dialect_node_end(&b.d, XIR_STR("")));
    }
    dialect_input(&b.d, dialect_name(&b.d, xir_str_of(names[0])), NULL);
    dialect_output(&b.d, dialect_name(&b.d, xir_str_of(names[MANY])), NULL);
    xir_network *net = finish(&b);
    assert_non_null(net);
    assert_null(broken_invariant(net, ASK_ALL));
    CHECK_STR(xir_class_key(net->first->next->cls), "my::some.domain.A");
    size_t n = 0;
    const xir_op *op = net->last;
    while ((op = value_op(op_inputs(op)->value))->n_inputs) n++;
    assert_int_equal(n, MANY);
    xir_network_free(net);
    free(names);
}

/* ---- failures -------------------------------------------------------------------------------------------------- */

static const struct { const char *program; xir_status status; const char *part; } refused[] = {
    { "A  a=1 b=2 a=3 -> y",        XIR_E_EXISTS, "the attribute \"a\" appears twice" },
    { "A #0 -> y",                  XIR_E_BOUNDS, "found value 0, but there are only 0" },
    { "numbers 2; A #1 -> #2",      XIR_E_BOUNDS, "found value 2, but there are only 2" },
    { "numbers 2; in #7",           XIR_E_BOUNDS, "found value 7" },
    { "A  -> y; out #9; A  -> z",   XIR_E_BOUNDS, "found value 9" },
};

static void the_first_failure_stays(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(refused); i++) {
        building b;
        begin(&b);
        run(&b.d, refused[i].program);
        run(&b.d, "B  -> z; const w; begin");
        finish_failed(&b, refused[i].status, refused[i].part);
    }
}

static void after_a_failure_every_call_does_nothing(void **state) {
    (void)state;
    building b;
    begin(&b);
    dialect *d = &b.d;
    run(d, "A  -> y");
    assert_false(DIALECT_FAIL(d, 7, XIR_E_CORRUPT, "what the format finds"));
    dialect_ref y = dialect_name(d, XIR_STR("y"));
    named_fault fault;
    xir_any any = xir_any_int(1);
    const xir_map *tags = NULL;
    assert_null(dialect_use(d, y));
    assert_null(dialect_element(d, 1));
    assert_null(dialect_tensor(d, xir_type_uint(ctx, 8), NULL, 0));
    assert_null(dialect_part(d, NULL, 0, 1));
    assert_null(dialect_file(d, XIR_STR("x"), &fault));
    assert_null(dialect_params(d, XIR_STR("x"), NULL, NULL));
    assert_null(dialect_node_end(d, XIR_STR("")));
    assert_false(dialect_tag(d, &tags, "k", any) || dialect_input(d, y, NULL) || dialect_output(d, y, NULL) ||
                 dialect_node_type(d, XIR_STR(""), XIR_STR("A")) || dialect_node_attr(d, XIR_STR("a"), &any) ||
                 dialect_expect_names(d, 9) || dialect_expect_numbers(d, 9) || dialect_node_capture(d, XIR_STR("c")) ||
                 dialect_make_inputs(d) || dialect_make_outputs(d) || dialect_drop_unused(d, NULL));
    assert_int_equal(d->net->n_ops, 1);
    assert_int_equal(xir_diags_at(why, 0)->byte, 7);
    finish_failed(&b, XIR_E_CORRUPT, "what the format finds");
}

static void a_reader_that_gives_up_gets_no_network(void **state) {
    (void)state;
    building b;
    begin(&b);
    assert_null(dialect_finish(&b.d, false));
    blob_release(b.whole);
}

/* ---- attributes ------------------------------------------------------------------------------------------------ */

/* A node with one attribute, made of these bytes. */
enum { PLAIN, WITH_PARAMS, WITH_TAG, WITH_CAPTURE };
static const xir_map *node_of(dialect *d, const char *bytes, int64_t value, int what) {
    dialect_node_begin(d);
    dialect_node_type(d, XIR_STR(""), XIR_STR("A"));
    if (!dialect_node_attrs_again(d, xir_str_of(bytes))) {
        xir_any any = xir_any_int(value);
        if (what == WITH_PARAMS) dialect_any_params(d, dialect_params(d, XIR_STR(""), NULL, NULL), &any);
        if (what == WITH_TAG) dialect_tag(d, &d->node.tags, "my.doc", any);
        if (what == WITH_CAPTURE) dialect_node_capture(d, XIR_STR("c"));
        dialect_node_attr(d, XIR_STR("a"), &any);
    }
    xir_op *op = dialect_node_end(d, XIR_STR(""));
    assert_non_null(op);
    return xir_op_extra(op);
}

static void attributes_of_the_same_bytes_are_made_once(void **state) {
    (void)state;
    building b;
    begin(&b);
    const xir_map *first = node_of(&b.d, "a=1", 1, PLAIN);
    assert_ptr_equal(node_of(&b.d, "a=1", 5, PLAIN), first);
    assert_int_equal(node_of(&b.d, "a=2", 2, PLAIN)->entries[0].value.as.integer, 2);
    assert_ptr_equal(node_of(&b.d, "a=1", 5, PLAIN), first);
    /* Four are remembered. */
    assert_int_equal(node_of(&b.d, "a=3", 3, PLAIN)->entries[0].value.as.integer, 3);
    assert_int_equal(node_of(&b.d, "a=4", 4, PLAIN)->entries[0].value.as.integer, 4);
    assert_ptr_equal(node_of(&b.d, "a=1", 5, PLAIN), first);
    assert_int_equal(node_of(&b.d, "a=5", 5, PLAIN)->entries[0].value.as.integer, 5);
    assert_int_equal(node_of(&b.d, "a=1", 6, PLAIN)->entries[0].value.as.integer, 6);
    assert_int_equal(node_of(&b.d, "", 4, PLAIN)->entries[0].value.as.integer, 4);
    assert_int_equal(node_of(&b.d, "", 5, PLAIN)->entries[0].value.as.integer, 5);
    /* Parts of attributes outside of their map belong to each node. */
    static const char *const bytes[] = { [WITH_PARAMS] = "p", [WITH_TAG] = "t", [WITH_CAPTURE] = "c" };
    for (int what = WITH_PARAMS; what <= WITH_CAPTURE; what++) {
        const xir_map *own = node_of(&b.d, bytes[what], 1, what);
        assert_ptr_not_equal(node_of(&b.d, bytes[what], 1, what), own);
    }
    finish_and_forget(&b);
}

static void values_of_attributes_are_copied(void **state) {
    (void)state;
    building b;
    begin(&b);
    char text[] = "changes";
    xir_any items[] = { xir_any_text(xir_str_of(text)), xir_any_bool(true) }, list = xir_any_list(items, 2);
    dialect_node_begin(&b.d);
    dialect_node_type(&b.d, XIR_STR(""), XIR_STR("A"));
    dialect_node_attr(&b.d, XIR_STR("list"), &list);
    memset(text, 'x', sizeof text - 1);
    items[1] = xir_any_null();
    dialect_node_end(&b.d, XIR_STR("n"));
    xir_network *net = finish(&b);
    CHECK_STR(xir_str_of(text_of(net)), "Input; A{list=[changes,true]}; Output");
    xir_network_free(net);
}

/* ---- types ----------------------------------------------------------------------------------------------------- */

static const struct { dialect_dim dims[3]; size_t rank; int64_t sizes[3]; const char *tags; } shapes[] = {
    { { { 0, false, { NULL, 0 } } }, 0, { 0 }, "" },
    { { { 2, true, { NULL, 0 } }, { 0, true, { NULL, 0 } } }, 2, { 2, 0 }, "" },
    { { { 2, true, { NULL, 0 } }, { 9, false, { NULL, 0 } } }, 2, { 2, -1 }, "" },
    { { { 0, false, { "N", 1 } }, { 3, true, { NULL, 0 } }, { 0, false, { NULL, 0 } } }, 3, { -1, 3, -1 }, "{source.dims=[N,3,-]}" },
    { { { -7, true, { NULL, 0 } } }, 1, { -1 }, "{source.dims=[-7]}" },
};

static void declared_dims_become_a_type_and_a_tag(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(shapes); i++) {
        building b;
        out o = { .size = 0 };
        dialect_declared declared = { NULL, NULL };
        begin(&b);
        assert_true(dialect_declared_tensor(&b.d, dialect_element(&b.d, 1), shapes[i].dims, shapes[i].rank, &declared));
        dialect_input(&b.d, dialect_name(&b.d, XIR_STR("x")), &declared);
        xir_network *net = finish(&b);
        xir_value *x = &op_outputs(net->first)[0];
        put_map(&o, xir_value_tags(x));
        CHECK_STR(xir_str_of(o.text), shapes[i].tags);
        assert_int_equal(xir_type_rank(x->type), shapes[i].rank);
        for (size_t k = 0; k < shapes[i].rank; k++) {
            assert_int_equal(xir_type_dim(x->type, (int64_t)k, false), shapes[i].sizes[k]);
        }
        assert_true(xir_type_equal(xir_type_element(x->type), xir_type_float(ctx, XIR_FLOAT_FP32)));
        xir_network_free(net);
    }
}

/* The first declared type counts; Params have their own, and a description in a tag counts too. */
static void a_declaration_counts_if_nothing_else_gives_the_type(void **state) {
    (void)state;
    building b;
    begin(&b);
    dialect *d = &b.d;
    dialect_declared real = { dialect_tensor(d, dialect_element(d, 1), NULL, 0), NULL };
    dialect_declared byte = { dialect_tensor(d, dialect_element(d, 2), NULL, 0), NULL };
    dialect_declared described = { NULL, NULL };
    dialect_tag(d, &described.tags, "my.type", xir_any_text(XIR_STR("a sequence")));
    run(d, "const w; A w -> y,z");
    xir_value *y = dialect_find(d, dialect_name(d, XIR_STR("y"))), *z = dialect_find(d, dialect_name(d, XIR_STR("z")));
    xir_value *w = dialect_find(d, dialect_name(d, XIR_STR("w")));
    const xir_type *of_w = w->type;
    assert_true(dialect_declare(d, y, &real) && dialect_declare(d, y, &byte) && dialect_declare(d, z, &described) &&
                dialect_declare(d, z, &byte) && dialect_declare(d, w, &real));
    assert_ptr_equal(y->type, real.type);
    assert_null(z->type);
    assert_ptr_equal(w->type, of_w);
    assert_null(dialect_find(d, dialect_name(d, XIR_STR("q"))));
    assert_null(dialect_element(d, 0));
    assert_null(dialect_element(d, 3));
    assert_null(dialect_tensor(d, NULL, NULL, 0));
    finish_and_forget(&b);
}

static const struct { int64_t dims[3]; size_t rank; uint64_t bits; xir_status status; uint64_t elements,
                      bytes; } sizes[] = {
    { { 0 },                  0, 32, XIR_OK, 1, 4 },
    { { 2, 3 },               2, 32, XIR_OK, 6, 24 },
    { { 3 },                  1, 4,  XIR_OK, 3, 2 },
    { { 9 },                  1, 2,  XIR_OK, 9, 3 },
    { { 5, 0, INT64_MAX },    3, 8,  XIR_OK, 0, 0 },
    { { INT64_MAX, 4, 0 },    3, 8,  XIR_OK, 0, 0 },
    { { 2, -1 },              2, 8,  XIR_E_BOUNDS, 0, 0 },
    { { INT64_MAX, 2 },       2, 8,  XIR_E_LIMIT, 0, 0 },
    { { INT64_MAX },          1, 128, XIR_E_LIMIT, 0, 0 },
};

static void sizes_are_checked(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(sizes); i++) {
        uint64_t elements, bytes;
        assert_int_equal(dialect_size(sizes[i].dims, sizes[i].rank, sizes[i].bits, &elements, &bytes), sizes[i].status);
        if (sizes[i].status) continue;
        assert_int_equal(elements, sizes[i].elements);
        assert_int_equal(bytes, sizes[i].bytes);
    }
}

/* ---- parts ----------------------------------------------------------------------------------------------------- */

static void parts_lie_in_the_file_and_stay_after_the_builder(void **state) {
    (void)state;
    building b;
    begin(&b);
    run(&b.d, "const w; A w -> y; out y");
    blob *many[100];
    for (size_t i = 0; i < COUNT(many); i++) {
        many[i] = dialect_part(&b.d, NULL, i % 60, 4);
        assert_ptr_equal(many[i]->bytes, file + i % 60);
        assert_true(many[i]->mapped);
    }
    xir_network *net = finish(&b);
    for (size_t i = 0; i < COUNT(many); i++) blob_release(many[i]);
    const xir_value *w = op_inputs(net->first->next)[0].value;
    uint8_t two[2];
    DOES(xir_params_read(w, 0, two, 2));
    assert_true(two[0] == 4 && two[1] == 5);
    assert_ptr_equal(value_params(w)->data->bytes, file + 4);
    xir_network_free(net);
}

static const struct {
    uint64_t offset, size;
} beyond[] = { { 0, 65 }, { 64, 1 }, { 65, 0 }, { UINT64_MAX, 2 }, { 2, UINT64_MAX } };

static void parts_beyond_the_file_are_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(beyond); i++) {
        building b;
        begin(&b);
        blob_release(dialect_part(&b.d, NULL, 64, 0));
        assert_null(dialect_part(&b.d, NULL, beyond[i].offset, beyond[i].size));
        finish_failed(&b, XIR_E_CORRUPT, "reach beyond the end, at 64");
    }
}

static void unused_constants_are_left_out(void **state) {
    (void)state;
    building b;
    begin(&b);
    run(&b.d, "const a; const b; A b -> y; const c; const c; out y");
    assert_true(dialect_drop_unused(&b.d, "my.unused"));
    xir_network *net = finish(&b);
    assert_int_equal(net->n_params, 1);
    out o = { .size = 0 };
    put_any(&o, xir_map_find(xir_network_tags(net), XIR_STR("my.unused")));
    CHECK_STR(xir_str_of(o.text), "[a,c,c]");
    xir_network_free(net);
}

static void files_that_the_file_names(void **state) {
    (void)state;
    static const struct { const char *name; xir_status status; const char *part; } files[] = {
        { "w.bin", XIR_OK, NULL },
        { "../w.bin", XIR_E_INVALID, "the weights of 'w': it has a \"..\"" },
        { "none.bin", XIR_E_IO, "the weights of 'w': " },
    };
    scratch_put(scratch("w.bin"), "weights", 7);
    for (size_t i = 0; i < COUNT(files); i++) {
        building b;
        named_fault fault;
        xir_diags_clear(why);
        begin_in(&b, ctx, &first_counts, why, scratch("model.my"));
        dialect_parts *parts = dialect_file(&b.d, xir_str_of(files[i].name), &fault);
        if (files[i].status) {
            assert_null(parts);
            assert_false(dialect_no_file(&b.d, 3, &fault, "the weights of '%s'", "w"));
            finish_failed(&b, files[i].status, files[i].part);
            continue;
        }
        assert_ptr_equal(dialect_file(&b.d, xir_str_of(files[i].name), &fault), parts);
        blob *part = dialect_part(&b.d, parts, 2, 5);
        assert_memory_equal(part->bytes, "ights", 5);
        blob_release(part);
        finish_and_forget(&b);
    }
}

/* ---- captures -------------------------------------------------------------------------------------------------- */

/* Graphs in braces: "+a" defines, "a" uses. Definitions hold from their place on, as for a format that walks twice. */
static const struct { const char *graph, *captures; } graphs[] = {
    { "{}", "" },
    { "{+a a b}", "b" },
    { "{+a {+b a b c} b}", "c b" },
    { "{+a +a {+a} a b}", "b" },
    { "{a {a {a +a a}} a}", "a" },
};

static void subgraphs_capture_what_they_do_not_define(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(graphs); i++) {
        building b;
        dialect_scopes s;
        size_t outside[8], depth = 0;
        begin(&b);
        dialect_node_begin(&b.d);
        dialect_node_type(&b.d, XIR_STR(""), XIR_STR("If"));
        dialect_scopes_begin(&s, &b.d);
        for (const char *at = graphs[i].graph; *at; at++) {
            if (*at == '{') assert_true(dialect_scope_enter(&s, 0, &outside[depth++]));
            else if (*at == '}') dialect_scope_leave(&s, outside[--depth]);
            else if (*at == '+') assert_true(dialect_scope_define(&s, (xir_str){ ++at, 1 }));
            else if (*at != ' ') assert_true(dialect_scope_use(&s, (xir_str){ at, 1 }));
        }
        dialect_scopes_end(&s);
        xir_op *op = dialect_node_end(&b.d, XIR_STR(""));
        out o = { .size = 0 };
        for (size_t k = 0; k < op->n_inputs; k++) {
            xir_str name = xir_value_name(op_inputs(op)[k].value);
            put(&o, "%s%.*s", k ? " " : "", (int)name.size, name.data);
        }
        CHECK_STR(((xir_str){ o.text, o.size }), graphs[i].captures);
        finish_and_forget(&b);
    }
}

static void nesting_of_graphs_is_limited(void **state) {
    (void)state;
    building b;
    dialect_scopes s;
    size_t outside;
    begin(&b);
    dialect_scopes_begin(&s, &b.d);
    for (uint32_t i = 0; i < s.deepest; i++) assert_true(dialect_scope_enter(&s, 0, &outside));
    assert_false(dialect_scope_enter(&s, 5, &outside));
    dialect_scopes_end(&s);
    finish_failed(&b, XIR_E_LIMIT, "graphs are nested deeper than");
}

/* ---- without memory -------------------------------------------------------------------------------------------- */

static xir_network *build(want *w, const char *program, const dialect_about *about) {
    building b;
    begin_in(&b, w->ctx, about, w->why, NULL);
    if (!b.whole) return NULL;
    run(&b.d, program);
    return finish(&b);
}

static void building_examples(want *w) {
    for (size_t i = 0; i < COUNT(in_any_order) + COUNT(where_the_last_counts); i++) {
        bool last = i >= COUNT(in_any_order);
        const example *e = last ? &where_the_last_counts[i - COUNT(in_any_order)] : &in_any_order[i];
        xir_network *net = NULL;
        TRY_MAKE(w, net, build(w, e->program, last ? &last_counts : &first_counts));
        IN_PLENTY(w,
            if (strcmp(text_of(net), e->network) != 0) fail_msg("%s is %s", e->program, text_of(net));
            xir_network_free(net));
    }
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    run_scarcely("dialect", building_examples, false);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_numbers_may_come_in_any_order),
        cmocka_unit_test(if_names_are_reassigned_the_last_definition_counts),
        cmocka_unit_test(very_many_names),
        cmocka_unit_test(the_first_failure_stays),
        cmocka_unit_test(after_a_failure_every_call_does_nothing),
        cmocka_unit_test(a_reader_that_gives_up_gets_no_network),
        cmocka_unit_test(attributes_of_the_same_bytes_are_made_once),
        cmocka_unit_test(values_of_attributes_are_copied),
        cmocka_unit_test(declared_dims_become_a_type_and_a_tag),
        cmocka_unit_test(a_declaration_counts_if_nothing_else_gives_the_type),
        cmocka_unit_test(sizes_are_checked),
        cmocka_unit_test(parts_lie_in_the_file_and_stay_after_the_builder),
        cmocka_unit_test(parts_beyond_the_file_are_refused),
        cmocka_unit_test(unused_constants_are_left_out),
        cmocka_unit_test(files_that_the_file_names),
        cmocka_unit_test(subgraphs_capture_what_they_do_not_define),
        cmocka_unit_test(nesting_of_graphs_is_limited),
        cmocka_unit_test(every_allocation_may_fail),
    };
    scratch_make();
    return RUN_GROUP(tests);
}
