/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Comparing networks: which ops match, what differs and where, and the differences of elements. The tests of the
 * program (cli/diff.sh) have the printed form. */
#include <math.h>
#include <stdio.h>
#include <xir/icraft.h>
#include "support/net.h"
#include "support/story.h"

/* ---- what differs, as text ------------------------------------------------------------------------------------- */

typedef struct story { char text[4096]; size_t size; } story;

static void put(story *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(story *s, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(s->text + s->size, sizeof s->text - s->size, format, arguments);
    va_end(arguments);
    assert_in_range(n, 0, sizeof s->text - s->size - 1);
    s->size += (size_t)n;
}

static const char *word(xir_diff_kind kind) {
    if (kind == XIR_DIFF_CHANGED) return "changed";
    return kind == XIR_DIFF_REMOVED ? "removed" : kind == XIR_DIFF_ADDED ? "added" : "moved";
}

static const char *name(const xir_op *op) {
    static char names[4][32];
    static unsigned next;
    char *out = names[next++ % 4];
    xir_str text = op ? xir_op_name(op) : XIR_STR("-");
    snprintf(out, sizeof names[0], "%.*s", (int)text.size, text.data);
    return out;
}

static void put_side(story *s, const xir_diff_side *side) {
    const xir_attr *a = &side->as.attr;
    switch (side->what) {
    case XIR_DIFF_NOTHING:  put(s, "nothing"); break;
    case XIR_DIFF_ANY:      put(s, "any"); break;
    case XIR_DIFF_INPUT:    put(s, "%s", side->as.value ? name(xir_value_op(side->as.value)) : "absent"); break;
    case XIR_DIFF_VALUE:    put(s, "value"); break;
    case XIR_DIFF_BYTES:    put(s, "bytes"); break;
    case XIR_DIFF_ELEMENTS: put(s, "elements"); break;
    case XIR_DIFF_ATTR:
        if (a->is_null) put(s, "null");
        else if (a->kind == XIR_KIND_TEXT) put(s, "'%.*s'", (int)a->as.text.size, a->as.text.data);
        else if (a->kind == XIR_KIND_I64) put(s, "%lld", (long long)a->as.i64);
        else if (a->kind == XIR_KIND_I64S) put(s, "%zu dims", a->as.i64s.size);
        else put(s, "kind %d", (int)a->kind);
        break;
    }
}

/* "changed conv conv pad_top 1 2; removed relu -": kind, names of both ops, field, both sides. */
static const char *differences(const xir_diff *d) {
    static story s;
    s.size = 0;
    s.text[0] = '\0';
    for (size_t i = 0; i < xir_diff_count(d); i++) {
        const xir_diff_item *r = xir_diff_at(d, i);
        put(&s, "%s%s %s %s", i ? "; " : "", word(r->kind), name(r->a), name(r->b));
        if (r->kind != XIR_DIFF_CHANGED) {
            put(&s, " after %s %s", name(r->after_a), name(r->after_b));
            continue;
        }
        assert_int_equal(strlen(r->field.data), r->field.size);
        put(&s, " %s ", r->field.data);
        put_side(&s, &r->in_a);
        put(&s, " ");
        put_side(&s, &r->in_b);
    }
    return s.text;
}

static xir_diff *compare(const xir_network *a, const xir_network *b) {
    xir_diff *d = xir_diff_new(a, b, NULL, why);
    if (!d) xir_diags_print(why, stderr);
    assert_non_null(d);
    assert_null(xir_diff_at(d, xir_diff_count(d)));
    return d;
}

/* ---- stories: an edit of small_net, and what it is ------------------------------------------------------------- */

static void set_int(xir_op *op, const char *attr, int64_t v) {
    DOES(xir_op_set(op, xir_str_of(attr), &(xir_attr){ .kind = XIR_KIND_I64, .as.i64 = v }));
}

static void nothing(xir_network *net) { (void)net; }
static void pad(xir_network *net)     { set_int(op_of(net, 1), "pad_top", 2); }
static void rename_relu(xir_network *net) { DOES(xir_op_set_name(op_of(net, 2), XIR_STR("other"))); }
static void without_relu(xir_network *net) {
    DOES(xir_op_replace_input(op_of(net, 3), value_of(net, 3), value_of(net, 2)));
    DOES(xir_op_erase(op_of(net, 2)));
}
static void one_more(xir_network *net) {
    xir_at at = XIR_AT(net);
    at.before = op_of(net, 4);
    xir_value *x = xir_build_relu(at, value_of(net, 4), "more");
    DOES(xir_op_set_input(op_of(net, 4), 1, x));
}
static void rewired(xir_network *net) { DOES(xir_op_set_input(op_of(net, 4), 1, value_of(net, 0))); }
static void free_relu(xir_network *net) {
    xir_build_relu(XIR_AT(net), value_of(net, 0), "free");
}
static void free_relu_first(xir_network *net) {
    xir_at at = XIR_AT(net);
    at.before = op_of(net, 2);
    xir_build_relu(at, value_of(net, 0), "free");
}
static void all_alike(xir_network *net) {
    for (xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) DOES(xir_op_set_name(op, XIR_STR("same")));
}
static xir_status set_tag(xir_op *op) {
    xir_any v = xir_any_int(5);
    return xir_op_set_tag(op, XIR_STR("k"), &v);
}
static void tagged(xir_network *net) { DOES(set_tag(op_of(net, 3))); }
static void called(xir_network *net) { DOES(xir_network_set_text(net, XIR_TEXT_NAME, XIR_STR("big"))); }
static void renumbered(xir_network *net) {
    for (xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) DOES(xir_op_set_id(op, xir_op_id(op) + 100));
}
static void holes(xir_network *net) {
    for (int i = 0; i < 20; i++) {
        xir_build_relu(XIR_AT(net), value_of(net, 0), "gone");
        DOES(xir_op_erase(xir_network_last(net)));
    }
}

static const struct {
    const char *what;
    void (*a)(xir_network *net), (*b)(xir_network *net);
    const char *differ;
} stories[] = {
    { "the same",         nothing, nothing, "" },
    { "an attribute",     nothing, pad, "changed conv conv pad_top 1 2" },
    { "renamed",          nothing, rename_relu, "changed relu other name 'relu' 'other'" },
    { "removed",          nothing, without_relu, "removed relu - after conv -; changed pool pool inputs/0 relu conv" },
    { "added",            nothing, one_more, "added - more after - pool; changed add add inputs/1 pool more" },
    { "rewired",          nothing, rewired, "changed add add inputs/1 pool in" },
    { "moved",            free_relu_first, free_relu, "moved free free after conv out" },
    { "moved back",       free_relu, free_relu_first, "moved free free after out conv" },
    { "duplicated names", all_alike, all_alike, "" },
    { "one of them less", all_alike, without_relu, NULL },
    { "a tag",            nothing, tagged, "changed pool pool tags/k nothing any" },
    { "the network",      nothing, called, "changed - - name 'small' 'big'" },
    { "other ids",        nothing, renumbered, "" },
    { "erased ops",       holes, nothing, "" },
    { "both erased",      holes, without_relu, "removed relu - after conv -; changed pool pool inputs/0 relu conv" },
};

static void differences_are_reported(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(stories); i++) {
        xir_network *a = small_net(), *b = small_net();
        stories[i].a(a);
        stories[i].b(b);
        xir_diff *d = compare(a, b);
        if (stories[i].differ && strcmp(differences(d), stories[i].differ) != 0)
            fail_msg("%s: %s", stories[i].what, differences(d));
        xir_diff_free(d);
        xir_network_free(a);
        xir_network_free(b);
    }
}

/* Ops that match refer to each other; an op without a match is removed or added. */
static void matches_are_mutual(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(stories); i++) {
        xir_network *a = small_net(), *b = small_net();
        stories[i].a(a);
        stories[i].b(b);
        xir_diff *d = compare(a, b);
        for (const xir_op *op = xir_network_first(a); op; op = xir_op_next(op)) {
            const xir_op *mate = xir_diff_in_b(d, op);
            assert_true(mate ? xir_diff_in_a(d, mate) == op : xir_diff_kinds(d, op) == XIR_DIFF_REMOVED);
            assert_null(xir_diff_in_a(d, op));   /* of the other network */
            if (mate) assert_int_equal(xir_diff_kinds(d, op), xir_diff_kinds(d, mate));
        }
        for (const xir_op *op = xir_network_first(b); op; op = xir_op_next(op)) {
            if (!xir_diff_in_a(d, op)) assert_int_equal(xir_diff_kinds(d, op), XIR_DIFF_ADDED);
        }
        xir_diff_free(d);
        xir_network_free(a);
        xir_network_free(b);
    }
}

/* The records of one op, and no others. */
static void records_are_found_by_op(void **state) {
    (void)state;
    xir_network *a = small_net(), *b = small_net();
    pad(b);
    tagged(b);
    called(b);
    without_relu(b);
    set_int(op_of(b, 1), "pad_left", 3);
    xir_diff *d = compare(a, b);
    size_t n, all = 0;
    const xir_diff_item *r = xir_diff_of(d, NULL, &n);
    assert_ptr_equal(r, xir_diff_at(d, 0));
    assert_ptr_equal(xir_diff_a(d), a);
    assert_ptr_equal(xir_diff_b(d), b);
    assert_int_equal(n, 1);
    all += n;
    for (const xir_op *op = xir_network_first(a); op; op = xir_op_next(op)) {
        r = xir_diff_of(d, op, &n);
        assert_true((r == NULL) == (n == 0));
        for (size_t i = 0; i < n; i++) assert_ptr_equal(r[i].a, op);
        all += n;
    }
    assert_int_equal(all, xir_diff_count(d));
    r = xir_diff_of(d, op_of(b, 1), &n);
    assert_int_equal(n, 2);
    CHECK_STR(r[0].attr->name, "pad_top");
    CHECK_STR(r[1].attr->name, "pad_left");
    xir_diff_counts counts = XIR_INIT(xir_diff_counts);
    DOES(xir_diff_summary(d, &counts));
    assert_true(counts.network);
    assert_int_equal(counts.removed, 1);
    assert_int_equal(counts.added, 0);
    assert_int_equal(counts.moved, 0);
    assert_int_equal(counts.changed, 2);
    xir_diff_free(d);
    xir_network_free(a);
    xir_network_free(b);
}

/* An op that is erased later can still be looked up. */
static void erased_ops_are_remembered(void **state) {
    (void)state;
    xir_network *a = small_net(), *b = small_net();
    xir_diff *d = compare(a, b);
    xir_op *relu = op_of(a, 2);
    without_relu(a);
    assert_true(xir_op_is_erased(relu));
    assert_ptr_equal(xir_diff_in_b(d, relu), op_of(b, 2));
    xir_diff_free(d);
    d = compare(a, b);
    assert_null(xir_diff_in_b(d, relu));
    assert_int_equal(xir_diff_kinds(d, relu), 0);
    assert_int_equal(xir_diff_kinds(d, op_of(b, 2)), XIR_DIFF_ADDED);
    /* An op that was added later does no harm either. */
    xir_build_relu(XIR_AT(a), value_of(a, 0), "late");
    assert_null(xir_diff_in_b(d, xir_network_last(a)));
    assert_int_equal(xir_diff_kinds(d, xir_network_last(a)), 0);
    xir_diff_free(d);
    xir_network_free(a);
    xir_network_free(b);
}

/* Sub ops are matched and compared too. */
static xir_network *with_subs(int64_t layers, int first) {
    xir_network *net = small_net();
    const xir_type *type = xir_value_type(value_of(net, 5));
    xir_value *in = value_of(net, 5);
    xir_op *children[3];
    for (int i = 0; i < 3; i++) {
        xir_hard_op_attrs a = xir_hard_op_init();
        int which = (first + i) % 3;
        a.layer_count = which == 1 ? layers : which;
        char called_so[8];
        snprintf(called_so, sizeof called_so, "sub%d", which);
        xir_op_desc desc = DESC(hard_op, .attrs = &a, .name = xir_str_of(called_so), INPUTS(in), TYPES(type));
        children[i] = xir_op_new(net, &desc);
        assert_non_null(children[i]);
    }
    xir_hard_op_attrs a = xir_hard_op_init();
    a.sub_hard_ops = (xir_ops){ children, 3 };
    xir_op_desc desc = DESC(hard_op, .attrs = &a, .name = XIR_STR("hard"), INPUTS(in), TYPES(type));
    assert_non_null(xir_network_add(net, &desc));
    return net;
}

static void sub_ops_are_compared(void **state) {
    (void)state;
    xir_network *a = with_subs(7, 0), *b = with_subs(8, 1);
    xir_diff *d = compare(a, b);
    assert_string_equal(differences(d), "changed sub1 sub1 layer_count 7 8; moved sub0 sub0 after - sub2");
    const xir_diff_item *r = xir_diff_at(d, 0);
    assert_ptr_equal(xir_op_parent(r->a), xir_network_last(a));
    assert_ptr_equal(xir_diff_in_b(d, r->a), r->b);
    assert_int_equal(xir_diff_kinds(d, xir_network_last(a)), 0);   /* the parent itself is the same */
    xir_diff_free(d);
    xir_network_free(a);
    xir_network_free(b);
}

/* ---- options --------------------------------------------------------------------------------------------------- */

static void options_say_what_counts(void **state) {
    (void)state;
    xir_network *a = small_net(), *b = small_net();
    xir_op *conv = op_of(b, 1);
    renumbered(b);
    xir_diff_counts counts = XIR_INIT(xir_diff_counts);
    xir_diff *d = xir_diff_new(a, b, &XIR_INIT(xir_diff_options, .ids = true), why);
    assert_int_equal(xir_diff_count(d), xir_network_op_count(a));
    assert_string_equal(xir_diff_at(d, 0)->field.data, "op_id");
    DOES(xir_diff_summary(d, &counts));
    assert_int_equal(counts.renumbered, xir_network_op_count(a));
    xir_diff_free(d);
    set_int(conv, "pad_top", 2);
    d = xir_diff_new(a, b, &XIR_INIT(xir_diff_options, .match_only = true), why);
    assert_int_equal(xir_diff_count(d), 0);
    for (const xir_op *op = xir_network_first(a); op; op = xir_op_next(op)) assert_non_null(xir_diff_in_b(d, op));
    xir_diff_free(d);
    xir_network_free(a);
    xir_network_free(b);
}

static const char *ignoring(void (*edit)(xir_network *net), uint64_t what) {
    xir_network *a = small_net(), *b = small_net();
    edit(b);
    xir_diff *d = xir_diff_new(a, b, &XIR_INIT(xir_diff_options, .ignore = what), why);
    const char *text = differences(d);
    xir_diff_free(d);
    xir_network_free(a);
    xir_network_free(b);
    return text;
}

static void relu_goes_last(xir_network *net) { DOES(xir_op_move(op_of(net, 2), NULL)); }

static void names_and_order_can_be_ignored(void **state) {
    (void)state;
    assert_string_equal(ignoring(rename_relu, XIR_DIFF_IGNORE_NAMES), "");
    assert_string_equal(ignoring(called, XIR_DIFF_IGNORE_NAMES), "");
    assert_string_equal(ignoring(all_alike, XIR_DIFF_IGNORE_NAMES | XIR_DIFF_IGNORE_ORDER), "");
    assert_string_equal(ignoring(pad, XIR_DIFF_IGNORE_NAMES | XIR_DIFF_IGNORE_ORDER), "changed conv conv pad_top 1 2");
    assert_non_null(strstr(ignoring(relu_goes_last, XIR_DIFF_IGNORE_NAMES), "moved"));
    assert_string_equal(ignoring(relu_goes_last, XIR_DIFF_IGNORE_ORDER), "");
}

static void exchange(xir_network *net) {
    DOES(xir_op_set_name(op_of(net, 2), XIR_STR("pool")));
    DOES(xir_op_set_name(op_of(net, 3), XIR_STR("relu")));
}

static void exchanged_names_are_noticed(void **state) {
    (void)state;
    xir_network *a = small_net(), *b = small_net();
    xir_diff_counts counts = XIR_INIT(xir_diff_counts);
    exchange(b);
    xir_diff *d = compare(a, b);
    DOES(xir_diff_summary(d, &counts));
    assert_int_equal(counts.exchanged, 2);
    assert_string_equal(name(counts.exchanged_a[0]), "relu");
    assert_string_equal(name(counts.exchanged_a[1]), "pool");
    xir_diff_free(d);
    assert_string_equal(ignoring(exchange, XIR_DIFF_IGNORE_NAMES), "");
    xir_network_free(a);
    xir_network_free(b);
}

static void what_makes_no_sense_is_refused(void **state) {
    (void)state;
    xir_network *a = small_net();
    assert_null(xir_diff_new(NULL, a, NULL, why));
    check_finding(XIR_E_MISSING, "two networks");
    assert_null(xir_diff_new(a, NULL, NULL, NULL));
    assert_null(xir_diff_new(a, a, &(xir_diff_options){ .ids = true }, why));
    check_finding(XIR_E_ABI, "xir_diff_options has no size");
    assert_null(xir_diff_new(a, a, &XIR_INIT(xir_diff_options, .tolerance = -1), why));
    check_finding(XIR_E_INVALID, "tolerance");
    assert_null(xir_diff_new(a, a, &XIR_INIT(xir_diff_options, .tolerance = NAN), why));
    check_finding(XIR_E_INVALID, "tolerance");
    xir_context *other = xir_context_new(NULL);
    xir_network *b = small_net_in(other);
    assert_null(xir_diff_new(a, b, NULL, why));
    check_finding(XIR_E_INVALID, "different contexts");
    xir_network_free(b);
    xir_context_free(other);
    xir_diff_counts counts = { 0 };
    assert_int_equal(xir_diff_summary(NULL, &counts), XIR_E_ABI);
    counts = XIR_INIT(xir_diff_counts, .removed = 5);
    DOES(xir_diff_summary(NULL, &counts));
    assert_int_equal(counts.removed, 0);
    size_t n = 5;
    assert_null(xir_diff_of(NULL, NULL, &n));
    assert_int_equal(n, 0);
    assert_int_equal(xir_diff_count(NULL), 0);
    assert_null(xir_diff_at(NULL, 0));
    assert_null(xir_diff_in_a(NULL, op_of(a, 0)));
    assert_null(xir_diff_a(NULL));
    assert_null(xir_diff_b(NULL));
    xir_diff *d = compare(a, a);   /* with itself */
    assert_int_equal(xir_diff_count(d), 0);
    assert_null(xir_diff_in_a(d, NULL));
    assert_null(xir_diff_in_b(d, NULL));
    xir_diff_free(d);
    xir_diff_free(NULL);
    xir_network_free(a);
}

/* ---- elements -------------------------------------------------------------------------------------------------- */

enum { F16, BF16, F32, F64, I8, U8, I64, U64, I4 };

static const xir_type *element(int which) {
    switch (which) {
    case F16:  return xir_type_float(ctx, XIR_FLOAT_FP16);
    case BF16: return xir_type_float(ctx, XIR_FLOAT_BF16);
    case F32:  return xir_type_float(ctx, XIR_FLOAT_FP32);
    case F64:  return xir_type_float(ctx, XIR_FLOAT_FP64);
    case I8:   return xir_type_sint(ctx, 8);
    case U8:   return xir_type_uint(ctx, 8);
    case I64:  return xir_type_sint(ctx, 64);
    case U64:  return xir_type_uint(ctx, 64);
    default:   return xir_type_sint(ctx, 4);
    }
}

#define BYTES(text) (text), sizeof(text) - 1

static const struct {
    int         type_a;
    const char *a; size_t n_a;
    int         type_b;
    const char *b; size_t n_b;
    double      tolerance;
    xir_elements_diff want;
} elements[] = {
    { F32, BYTES("\0\0\200\77\0\0\0\100"), F32, BYTES("\0\0\200\77\0\0\0\100"), 0, { 0 } },
    { F32, BYTES("\0\0\200\77\0\0\0\100"), F32, BYTES("\0\0\200\77\0\0\100\100"), 0, { .differ = 1, .of = 2, .at = 1, .largest = 1, .a = 2, .b = 3 } },
    { F32, BYTES("\0\0\200\77\0\0\0\100"), F32, BYTES("\0\0\200\77\0\0\100\100"), 1, { .of = 2 } },
    { F32, BYTES("\0\0\300\177"), F32, BYTES("\1\0\300\177"), 0, { .of = 1 } },                                  /* NaN is NaN */
    { F32, BYTES("\0\0\0\0"), F32, BYTES("\0\0\0\200"), 0, { .of = 1 } },                                        /* 0 is -0    */
    { F32, BYTES("\0\0\0\0"), F32, BYTES("\0\0\200\177"), 1e300, { .differ = 1, .of = 1, .largest = INFINITY, .b = INFINITY } },
    { F16, BYTES("\0\74\1\0"), F16, BYTES("\0\74\0\0"), 0, { .differ = 1, .of = 2, .at = 1, .largest = 0x1p-24, .a = 0x1p-24 } },
    { F16, BYTES("\0\174"), F16, BYTES("\0\374"), 9, { .differ = 1, .of = 1, .largest = INFINITY, .a = INFINITY, .b = -INFINITY } },
    { BF16, BYTES("\200\77"), BF16, BYTES("\0\300"), 0, { .differ = 1, .of = 1, .largest = 3, .a = 1, .b = -2 } },
    { F64, BYTES("\0\0\0\0\0\0\360\77"), F64, BYTES("\0\0\0\0\0\0\0\100"), 0.5, { .differ = 1, .of = 1, .largest = 1, .a = 1, .b = 2 } },
    { I8, BYTES("\1\200\3"), I8, BYTES("\1\177\4"), 1, { .integers = true, .differ = 2, .of = 3, .at = 1, .largest_int = 255, .int_a = -128, .int_b = 127 } },
    { U8, BYTES("\1\200"), U8, BYTES("\1\177"), 0, { .integers = true, .is_unsigned = true, .differ = 1, .of = 2, .at = 1, .largest_int = 1, .int_a = 128, .int_b = 127 } },
    { I64, BYTES("\0\0\0\0\0\0\0\200"), I64, BYTES("\377\377\377\377\377\377\377\177"), 0,
      { .integers = true, .differ = 1, .of = 1, .largest_int = UINT64_MAX, .int_a = INT64_MIN, .int_b = INT64_MAX } },
    { U64, BYTES("\0\0\0\0\0\0\0\0"), U64, BYTES("\377\377\377\377\377\377\377\377"), 0,
      { .integers = true, .is_unsigned = true, .differ = 1, .of = 1, .largest_int = UINT64_MAX, .int_b = -1 } },
    { I4, BYTES("\22\64"), I4, BYTES("\22\65"), 0, { .by_bytes = true, .differ = 1, .of = 2, .at = 1 } },         /* parts of bytes */
    { U8, BYTES("\1\2"), I8, BYTES("\1\3"), 0, { .by_bytes = true, .differ = 1, .of = 2, .at = 1 } },             /* two types      */
    { F32, BYTES("\0\0\0\0"), F32, BYTES("\0\0\0\0\0\0\0\0"), 0, { .by_bytes = true, .differ = 4, .of = 8, .at = 4 } },
    { F32, BYTES(""), F32, BYTES(""), 0, { 0 } },
};

static void elements_are_compared_as_numbers(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(elements); i++) {
        /* Nothing is aligned. */
        char room_a[32] = { 0 }, room_b[32] = { 0 };
        memcpy(room_a + 1, elements[i].a, elements[i].n_a);
        memcpy(room_b + 1, elements[i].b, elements[i].n_b);
        xir_elements_diff out = XIR_INIT(xir_elements_diff), want = elements[i].want;
        const xir_type *type_a = element(elements[i].type_a), *type_b = element(elements[i].type_b);
        DOES(xir_elements_compare(type_a, room_a + 1, elements[i].n_a, type_b, room_b + 1, elements[i].n_b,
                                  elements[i].tolerance, &out));
        bool same = out.by_bytes == want.by_bytes && out.integers == want.integers &&
                    out.is_unsigned == want.is_unsigned && out.differ == want.differ && out.of == want.of &&
                    out.at == want.at && out.largest == want.largest && out.a == want.a && out.b == want.b &&
                    out.largest_int == want.largest_int && out.int_a == want.int_a && out.int_b == want.int_b;
        if (want.of == 0) same = out.differ == 0;
        if (!same) fail_msg("row %zu: %zu of %zu differ, by %g", i, (size_t)out.differ, (size_t)out.of, out.largest);
    }
}

static void params_are_compared(void **state) {
    (void)state;
    xir_network *a = small_net(), *b = small_net();
    static float bytes[3 * 3 * 3 * 4], other[3 * 3 * 3 * 4];
    other[7] = 0.5f;
    xir_elements_diff out = XIR_INIT(xir_elements_diff);
    assert_int_equal(xir_params_compare(value_of(a, 1), value_of(b, 1), 0, &out), XIR_E_MISSING);
    assert_int_equal(xir_params_compare(value_of(a, 0), value_of(b, 1), 0, &out), XIR_E_TYPE);
    assert_int_equal(xir_params_compare(value_of(a, 1), NULL, 0, &out), XIR_E_TYPE);
    const xir_diff_options how = XIR_INIT(xir_diff_options, .params = true);
    const xir_diff_options loose = XIR_INIT(xir_diff_options, .params = true, .tolerance = 1);
    DOES(xir_params_set_copy(value_of(a, 1), bytes, sizeof bytes));
    xir_diff *d = xir_diff_new(a, b, &how, why);
    assert_string_equal(differences(d), "changed conv conv inputs/1/data bytes nothing");
    xir_diff_free(d);
    DOES(xir_params_set_copy(value_of(b, 1), other, sizeof other));
    DOES(xir_params_compare(value_of(a, 1), value_of(b, 1), 0, &out));
    assert_int_equal(out.differ, 1);
    assert_int_equal(out.at, 7);
    xir_elements_diff unsized = { 0 };
    assert_int_equal(xir_params_compare(value_of(a, 1), value_of(b, 1), 0, &unsized), XIR_E_ABI);
    d = xir_diff_new(a, b, &how, why);
    assert_string_equal(differences(d), "changed conv conv inputs/1/data elements elements");
    assert_int_equal(xir_diff_at(d, 0)->elements->at, 7);
    assert_true(xir_diff_at(d, 0)->elements->largest == 0.5);
    xir_diff_free(d);
    d = xir_diff_new(a, b, &loose, why);
    assert_int_equal(xir_diff_count(d), 0);
    xir_diff_free(d);
    xir_network_free(a);
    xir_network_free(b);
}

/* Params of the same name are the same ones, also where one op has more of them. */
static void params_are_matched_by_their_names(void **state) {
    (void)state;
    static const char before[] = "x: NHWC 1 4 4 3; w: params HWIO 1 1 3 2; y = Conv2d x w; out y";
    static const char after[] = "x: NHWC 1 4 4 3; w: params HWIO 1 1 3 2; b: params 2; z = Neg x; y = Conv2d z w b; out y";
    xir_network *a = story_net(before), *b = story_net(after);
    const xir_diff_options how = XIR_INIT(xir_diff_options, .params = true);
    xir_diff *d = xir_diff_new(a, b, &how, why);
    for (size_t i = 0; i < xir_diff_count(d); i++) {
        const xir_diff_item *item = xir_diff_at(d, i);
        assert_null(item->elements);   /* w is compared with w, and nothing with b */
    }
    xir_diff_free(d);
    xir_network_free(a);
    xir_network_free(b);
}

/* Elements of two layouts are compared by their letters, or not at all. */
static void params_of_two_layouts(void **state) {
    (void)state;
    static const struct { const char *a, *b; bool compared; uint64_t differ; } rows[] = {
        { "HW 2 3 = 1 2 3 4 5 6", "WH 3 2 = 1 4 2 5 3 6", true,  0 },
        { "HW 2 3 = 1 2 3 4 5 6", "WH 3 2 = 1 2 3 4 5 6", true,  4 },
        { "HW 2 2 = 1 2 3 4",     "WH 2 2 = 1 3 2 4",     true,  0 },
        { "HW 2 3 = 1 2 3 4 5 6", "3 2 = 1 2 3 4 5 6",    false, 0 },
        { "HW 2 3 = 1 2 3 4 5 6", "3 2 = 1 4 2 5 3 6",    false, 0 },
        { "HW 2 3 = 1 2 3 4 5 6", "HC 3 2 = 1 4 2 5 3 6", false, 0 },
        { "HW 2 2 = 1 2 3 4",     "2 2 = 1 2 3 5",        true,  1 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[200];
        xir_elements_diff out = XIR_INIT(xir_elements_diff);
        snprintf(text, sizeof text, "a: params %s; b: params %s; x = Neg a; y = Neg b; out x y", rows[i].a, rows[i].b);
        xir_network *net = story_net(text);
        DOES(xir_params_compare(story_value(net, "a"), story_value(net, "b"), 0, &out));
        if (out.not_compared == rows[i].compared || out.differ != rows[i].differ)
            fail_msg("row %zu: %s, %zu differ", i, out.not_compared ? "not compared" : "compared", (size_t)out.differ);
        xir_network_free(net);
    }
}

/* ---- memory and work ------------------------------------------------------------------------------------------- */

static bool diff_with_little(xir_context *with) {
    xir_network *a = small_net_in(with), *b = a ? small_net_in(with) : NULL;
    bool done = b && !xir_network_status(a) && !xir_network_status(b);
    xir_op *relu = done ? xir_op_next(xir_op_next(xir_network_first(b))) : NULL;
    if (relu && xir_op_set_name(relu, XIR_STR("")) == XIR_OK && set_tag(xir_op_next(relu)) == XIR_OK &&
        xir_op_move(xir_network_last(b), NULL) == XIR_OK) {
        xir_diags *found = xir_diags_new(with);
        const xir_diff_options how = XIR_INIT(xir_diff_options, .ids = true, .params = true);
        xir_diff *d = found ? xir_diff_new(a, b, &how, found) : NULL;
        if (found && !d) assert_int_equal(xir_diags_at(found, 0)->code, XIR_E_MEMORY);
        done = d != NULL;
        if (d) assert_int_equal(xir_diff_count(d), 2);
        xir_diff_free(d);
        xir_diags_free(found);
    } else {
        done = false;
    }
    xir_network_free(a);
    xir_network_free(b);
    return done;
}

static void failing_allocations_lose_nothing(void **state) {
    (void)state;
    check_memory(diff_with_little);
}

/* Ops of one class that all have the same name. */
static xir_network *many(int n, int but) {
    xir_network *net = new_net();
    xir_value *x = xir_input(xir_at_end(net), "in", FP32("*", 4)), *last = x;
    for (int i = 0; i < n; i++) {
        if (i == but) continue;
        xir_value *y = xir_build_relu(xir_at_end(net), i % 2 ? x : last, "r");
        if (i % 2 == 0) last = y;
    }
    assert_non_null(last);
    return net;
}

static void many_similar_ops_are_matched(void **state) {
    (void)state;
    enum { N = 20000 };
    /* One of 10000 users of the input is missing, and ids are shifted. */
    xir_network *a = many(N, -1), *b = many(N, N / 2 + 1);
    xir_diff *d = compare(a, b);
    xir_diff_counts counts = XIR_INIT(xir_diff_counts);
    DOES(xir_diff_summary(d, &counts));
    assert_int_equal(counts.removed, 1);
    assert_int_equal(counts.added, 0);
    xir_diff_free(d);
    xir_network_free(a);
    xir_network_free(b);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(differences_are_reported),
        cmocka_unit_test(matches_are_mutual),
        cmocka_unit_test(records_are_found_by_op),
        cmocka_unit_test(erased_ops_are_remembered),
        cmocka_unit_test(sub_ops_are_compared),
        cmocka_unit_test(options_say_what_counts),
        cmocka_unit_test(names_and_order_can_be_ignored),
        cmocka_unit_test(exchanged_names_are_noticed),
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test(elements_are_compared_as_numbers),
        cmocka_unit_test(params_are_compared),
        cmocka_unit_test(params_are_matched_by_their_names),
        cmocka_unit_test(params_of_two_layouts),
        cmocka_unit_test(failing_allocations_lose_nothing),
        cmocka_unit_test(many_similar_ops_are_matched),
    };
    return RUN_GROUP(tests);
}
