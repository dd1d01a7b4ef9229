/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Random shapes that broadcast, in pairs, Where, Matmul and Einsum, each compared with a second rule that is slow
 * and obvious. There a dim is the set of sizes that it may have: one size if it is known, all small ones if not.
 * Shapes are padded with 1 to the same rank. The result of two dims is tried size by size: no size is a refusal, one
 * size is known, several are unknown. */
#include <stdio.h>
#include <xir/icraft.h>
#include "graph.h"
#include "support/net.h"
#include "support/often.h"

enum { TRIALS = OFTEN(120000), A_NETWORK = 400, U = -1, MOST_RANK = 12, SIZES = 10 };

/* ---- shapes ----------------------------------------------------------------------------------------------------- */

typedef struct shape { int64_t dim[MOST_RANK]; size_t rank; } shape;

static const char *words_of(const shape *s) {
    static char room[8][200];
    static size_t next;
    char *out = room[next++ % COUNT(room)];
    int n = snprintf(out, sizeof room[0], "[");
    for (size_t i = 0; i < s->rank; i++)
        n += snprintf(out + n, sizeof room[0] - (size_t)n, i ? " %lld" : "%lld", (long long)s->dim[i]);
    snprintf(out + n, sizeof room[0] - (size_t)n, "]");
    return out;
}

/* The possible sizes of a dim, as bits. */
typedef unsigned sizes;
static sizes sizes_of(int64_t dim) { return dim < 0 ? (1u << SIZES) - 1 : 1u << dim; }
static bool  known(sizes s) { return s && !(s & (s - 1)); }
static int64_t dim_of(sizes s) { return known(s) ? __builtin_ctz(s) : U; }

static sizes broadcast_sizes(sizes a, sizes b) {
    sizes out = 0;
    for (int i = 0; i < SIZES; i++) {
        for (int k = 0; k < SIZES; k++) {
            if (!(a >> i & 1) || !(b >> k & 1)) continue;
            if (i == k) out |= 1u << i;
            else if (i == 1) out |= 1u << k;
            else if (k == 1) out |= 1u << i;
        }
    }
    return out;
}

/* NumPy's rule, written out: pad on the left with 1, then dim by dim. False: they do not fit. */
static bool broadcast_shapes(const shape *in, size_t n, shape *out) {
    out->rank = 0;
    for (size_t i = 0; i < n; i++) out->rank = in[i].rank > out->rank ? in[i].rank : out->rank;
    for (size_t k = 0; k < out->rank; k++) {
        sizes all = sizes_of(1);
        for (size_t i = 0; i < n; i++) {
            size_t missing = out->rank - in[i].rank;
            all = broadcast_sizes(all, sizes_of(k < missing ? 1 : in[i].dim[k - missing]));
        }
        if (!all) return false;
        out->dim[k] = dim_of(all);
    }
    return true;
}

/* ---- the library's result ---------------------------------------------------------------------------------------- */

static xir_network *net;
static xir_op *maker;      /* of the values, which are not Params */
static size_t asked, accepted;

static void next_network(void) {
    if (asked++ % A_NETWORK) return;
    xir_network_free(net);
    net = new_net();
    const xir_type *any = FP32("*", 1);
    maker = xir_inputs(XIR_AT(net), "in", &any, 1);
    assert_non_null(maker);
}

/* The shape that an op gives for inputs of these shapes; false if it refuses them, with a finding in `why`. */
static const xir_type *ask(const xir_class_decl *decl, const void *attrs, const shape *in,
                           const char *const *layouts, size_t n, bool last_is_bool) {
    xir_value values[8];
    xir_value *inputs[8];
    next_network();
    for (size_t i = 0; i < n; i++) {
        const xir_type *element = last_is_bool && i == n - 1 ? xir_type_bool(ctx) : xir_type_float(ctx, XIR_FLOAT_FP32);
        const xir_layout *layout = layouts && layouts[i] ? xir_layout_parse(ctx, xir_str_of(layouts[i]), why) : NULL;
        const xir_type *type = type_tensor(&net->pool, element, layout, (xir_i64s){ in[i].dim, in[i].rank },
                                           (xir_refs){ NULL, 0 });
        assert_non_null(type);
        values[i] = (xir_value){ .type = type, .from = (uintptr_t)maker };
        inputs[i] = &values[i];
    }
    xir_infer at;
    xir_diags_clear(why);
    infer_start(&at, net, xir_class_find_decl(ctx, decl), attrs, NULL, inputs, n, XIR_STR(""), why);
    xir_status checked = rule_check(&at);
    xir_status status = checked ? checked : infer_run(&at);
    const xir_type *out = status ? NULL : at.out[0];
    if (status && (!checked || status != XIR_E_INVALID))
        fail_msg("refused with %s by %s", xir_status_name(status), checked ? "the check" : "inference");
    if (!status) assert_int_equal(at.n_out, 1);
    infer_end(&at);
    accepted += out != NULL;
    return out;
}

static bool same_shape(const xir_type *type, const shape *s) {
    if (xir_type_rank(type) != s->rank) return false;
    for (size_t i = 0; i < s->rank; i++) {
        if (xir_type_dim(type, (int64_t)i, false) != s->dim[i]) return false;
    }
    return true;
}

static void compare(const char *what, const xir_type *found, bool fits, const shape *expected,
                    const shape *in, size_t n) {
    if (fits ? found && same_shape(found, expected) : !found && xir_diags_count(why) == 1) return;
    for (size_t i = 0; i < n; i++) print_error("input %zu: %s\n", i, words_of(&in[i]));
    xir_diags_print(why, stderr);
    fail_msg("%s: expected %s, found %s", what, fits ? words_of(expected) : "a refusal",
             found ? picture_of_object((const xir_object *)found) : "a refusal");
}

static void no_network(void) {
    asked = accepted = 0;
    xir_network_free(net);
    net = NULL;
}

/* Both outcomes must occur often enough. */
static void check_mixture(void) {
    assert_true(accepted > asked / 4 && accepted < asked - asked / 20);
    no_network();
}

/* ---- random cases ------------------------------------------------------------------------------------------------ */

/* A dim that is usually shared with others, rarely unique. */
static int64_t vary(int64_t dim) {
    uint64_t c = chance(100);
    return c < 66 ? dim : c < 80 ? 1 : c < 93 ? U : (int64_t)chance(6);
}

/* A shape whose dims, from the right, are usually shared with others. */
static shape cut(const int64_t *common, size_t rank) {
    shape s = { .rank = rank };
    for (size_t k = 0; k < rank; k++) s.dim[k] = vary(common[MOST_RANK - rank + k]);
    return s;
}

static void fill_common(int64_t *common) {
    for (size_t i = 0; i < MOST_RANK; i++) common[i] = (int64_t)chance(6);
}

/* ---- the tests -------------------------------------------------------------------------------------------------- */

static void pairs_broadcast(void **state) {
    (void)state;
    const xir_class_decl *classes[] = { xir_add_class(), xir_multiply_class(), xir_maximum_class(), xir_less_class(),
                                        xir_pow_class() };
    const xir_add_attrs add = xir_add_init();
    const xir_multiply_attrs multiply = xir_multiply_init();
    const void *attrs[] = { &add, &multiply, &multiply, &multiply, &multiply };   /* the last three have none */
    for (int t = 0; t < TRIALS; t++) {
        int64_t common[MOST_RANK];
        shape in[2], expected;
        fill_common(common);
        for (size_t i = 0; i < 2; i++) in[i] = cut(common, chance(chance(20) ? 6 : MOST_RANK));
        bool fits = broadcast_shapes(in, 2, &expected);
        size_t which = chance(COUNT(classes));
        compare("a pair", ask(classes[which], attrs[which], in, NULL, 2, false), fits, &expected, in, 2);
    }
    check_mixture();
}

static void three_broadcast(void **state) {
    (void)state;
    const xir_where_attrs attrs = xir_where_init();
    for (int t = 0; t < TRIALS; t++) {
        int64_t common[MOST_RANK];
        shape in[3], expected;
        fill_common(common);
        for (size_t i = 0; i < 3; i++) in[i] = cut(common, chance(chance(20) ? 5 : MOST_RANK));
        bool fits = broadcast_shapes(in, 3, &expected);
        compare("Where", ask(xir_where_class(), &attrs, in, NULL, 3, true), fits, &expected, in, 3);
    }
    check_mixture();
}

/* The product's shape by definition: vectors become matrices, and the added dim is removed again. */
static bool multiply_shapes(const shape *in, bool with_bias, shape *out) {
    shape x = in[0], k = in[1], batches[2], all;
    if (x.rank == 0 || k.rank == 0) return false;
    if (in[0].rank == 1) x = (shape){ { 1, in[0].dim[0] }, 2 };
    if (in[1].rank == 1) k = (shape){ { in[1].dim[0], 1 }, 2 };
    if (!(sizes_of(x.dim[x.rank - 1]) & sizes_of(k.dim[k.rank - 2]))) return false;
    batches[0] = x;
    batches[0].rank -= 2;
    batches[1] = k;
    batches[1].rank -= 2;
    if (!broadcast_shapes(batches, 2, &all)) return false;
    *out = all;
    if (in[0].rank > 1) out->dim[out->rank++] = x.dim[x.rank - 2];
    if (in[1].rank > 1) out->dim[out->rank++] = k.dim[k.rank - 1];
    if (!with_bias) return true;
    /* Some sizes of the bias leave the product unchanged. */
    for (size_t i = 0; i < in[2].rank; i++) {
        int64_t at = (int64_t)out->rank - (int64_t)in[2].rank + (int64_t)i;
        sizes product = sizes_of(at < 0 ? 1 : out->dim[at]), bias = sizes_of(in[2].dim[i]);
        if (!(bias & (product | sizes_of(1)))) return false;
    }
    return true;
}

static void matrices_multiply(void **state) {
    (void)state;
    const xir_matmul_attrs attrs = xir_matmul_init();
    for (int t = 0; t < TRIALS; t++) {
        int64_t common[MOST_RANK], inner = (int64_t)chance(5);
        shape in[3], expected;
        fill_common(common);
        for (size_t i = 0; i < 2; i++) {
            in[i] = cut(common, chance(50) ? 1 + chance(5) : chance(MOST_RANK));
            size_t rank = in[i].rank;
            if (rank) in[i].dim[rank < 2 ? 0 : i ? rank - 2 : rank - 1] = chance(20) ? inner : vary(inner);
            /* Rows and columns may be anything. */
            if (rank > 1) in[i].dim[i ? rank - 1 : rank - 2] = common[i ? MOST_RANK - 1 : MOST_RANK - 2];
            if (rank > 1 && !chance(8)) in[i].dim[i ? rank - 1 : rank - 2] = U;
        }
        bool bias = !chance(3);
        if (bias) in[2] = cut(common, chance(5));
        bool fits = multiply_shapes(in, bias, &expected);
        const char *layouts[3] = { in[0].rank == 2 ? "NC" : in[0].rank == 3 ? "HWC" : in[0].rank == 4 ? "NHWC" : NULL };
        const xir_type *found = ask(xir_matmul_class(), &attrs, in, layouts, bias ? 3 : 2, false);
        compare("Matmul", found, fits, &expected, in, bias ? 3 : 2);
        if (!found) continue;
        const char *layout = layouts[0] && in[0].rank == expected.rank ? layouts[0] : "************";
        xir_str text = xir_layout_text(xir_type_layout(found));
        assert_int_equal(text.size, expected.rank);
        assert_memory_equal(text.data, layout, text.size);
    }
    check_mixture();
}

/* ---- Einsum ----------------------------------------------------------------------------------------------------- */

enum { DOTS = '.', MOST_TERMS = 4, MOST_TOKENS = 12 };

/* A term as tokens: letters, and DOTS at most once. */
typedef struct term { char token[MOST_TOKENS]; size_t n; } term;

typedef struct equation {
    term   in[MOST_TERMS], out;
    size_t n;
    bool   written;            /* the output is */
    char   text[300];
} equation;

static bool has(const term *t, char c) { return memchr(t->token, c, t->n) != NULL; }

static void put_blanks(char *text) {
    while (!chance(12)) strcat(text, " ");
}

static void put_term(char *text, const term *t) {
    for (size_t i = 0; i < t->n; i++) {
        char one[] = { t->token[i], '\0' };
        put_blanks(text);
        strcat(text, t->token[i] == DOTS ? "..." : one);
    }
    put_blanks(text);
}

static int by_code(const void *a, const void *b) { return *(const char *)a - *(const char *)b; }

static equation some_equation(void) {
    static const char letters[] = "jZaiA";
    equation e = { .n = 1 + chance(MOST_TERMS - 1), .written = chance(3) };
    char seen[64] = "";
    bool dots = false;
    for (size_t i = 0; i < e.n; i++) {
        size_t n = chance(4);
        for (size_t k = 0; k < n; k++) {
            char c = letters[chance(chance(3) ? 5 : 2)];
            e.in[i].token[e.in[i].n++] = c;
            if (!strchr(seen, c)) strcat(seen, (char[]){ c, '\0' });
        }
        if (!chance(3)) {
            size_t at = chance(e.in[i].n + 1);
            memmove(e.in[i].token + at + 1, e.in[i].token + at, e.in[i].n - at);
            e.in[i].token[at] = DOTS;
            e.in[i].n++;
            dots = true;
        }
        if (i) strcat(e.text, ",");
        put_term(e.text, &e.in[i]);
    }
    if (e.written) {
        for (size_t left = strlen(seen); left; left--) {   /* some of the letters, in any order */
            size_t at = chance(left);
            if (chance(3)) e.out.token[e.out.n++] = seen[at];
            seen[at] = seen[left - 1];
        }
        if (dots ? chance(4) : !chance(6)) {
            size_t at = chance(e.out.n + 1);
            memmove(e.out.token + at + 1, e.out.token + at, e.out.n - at);
            e.out.token[at] = DOTS;
            e.out.n++;
        }
        strcat(e.text, "->");
        put_term(e.text, &e.out);
        return e;
    }
    if (dots) e.out.token[e.out.n++] = DOTS;
    size_t first = e.out.n;
    for (const char *c = seen; *c; c++) {
        size_t times = 0;
        for (size_t i = 0; i < e.n; i++) {
            for (size_t k = 0; k < e.in[i].n; k++) times += e.in[i].token[k] == *c;
        }
        if (times == 1) e.out.token[e.out.n++] = *c;
    }
    qsort(e.out.token + first, e.out.n - first, 1, by_code);
    return e;
}

/* The label of each dim of a term: its letter, or its distance from the right in "...". */
static void label_dims(const term *t, size_t wide, char *labels) {
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++) {
        if (t->token[i] != DOTS) labels[n++] = t->token[i];
        for (size_t k = wide; t->token[i] == DOTS && k > 0; k--) labels[n++] = (char)(k - 1);
    }
}

static size_t count_dims(const term *t, size_t wide) { return t->n + (has(t, DOTS) ? wide : 0) - has(t, DOTS); }

/* The dictionary: what every label may be. `wide[i]` dims of "..." in term i. */
static bool sum_shapes(const equation *e, const shape *in, const size_t *wide, shape *out, bool *like_first) {
    sizes all[128];
    size_t widest = 0;
    for (size_t i = 0; i < 128; i++) all[i] = sizes_of(1);
    for (size_t i = 0; i < e->n; i++) {
        char labels[64];
        if (has(&e->in[i], DOTS) && wide[i] > widest) widest = wide[i];
        label_dims(&e->in[i], wide[i], labels);
        sizes own[128];
        for (size_t k = 0; k < 128; k++) own[k] = 0;
        for (size_t k = 0; k < in[i].rank; k++) {   /* in a diagonal all are equal */
            sizes *s = &own[(int)labels[k]], dim = sizes_of(in[i].dim[k]);
            if (*s && !(*s & dim)) return false;
            *s = *s ? *s & dim : dim;
        }
        for (size_t k = 0; k < 128; k++) {
            if (own[k] && !(all[k] = broadcast_sizes(all[k], own[k]))) return false;
        }
    }
    char labels[64], first[64];
    out->rank = count_dims(&e->out, widest);
    label_dims(&e->out, widest, labels);
    for (size_t k = 0; k < out->rank; k++) out->dim[k] = dim_of(all[(int)labels[k]]);
    label_dims(&e->in[0], wide[0], first);
    *like_first = out->rank == in[0].rank && memcmp(labels, first, out->rank) == 0;
    return true;
}

static xir_einsum_attrs attrs_of(const char *text) {
    xir_einsum_attrs a = xir_einsum_init();
    a.equation = (xir_str){ text, strlen(text) };
    return a;
}

/* Inputs that usually fit the terms: a letter has one dim, which varies. */
static void some_inputs(const equation *e, shape *in, size_t *wide) {
    int64_t dim[128], common[MOST_RANK];
    for (size_t i = 0; i < COUNT(dim); i++) dim[i] = (int64_t)chance(5);
    fill_common(common);
    for (size_t i = 0; i < e->n; i++) {
        char labels[64];
        wide[i] = has(&e->in[i], DOTS) ? chance(4) : 0;
        label_dims(&e->in[i], wide[i], labels);
        in[i].rank = count_dims(&e->in[i], wide[i]);
        for (size_t k = 0; k < in[i].rank; k++)
            in[i].dim[k] = chance(3) ? dim[(int)labels[k]] : vary(dim[(int)labels[k]]);
    }
}

static void letters_are_summed(void **state) {
    (void)state;
    static const char *const layouts[] = { NULL, "C", "NC", "HWC", "NHWC", "NDHWC" };
    for (int t = 0; t < TRIALS; t++) {
        equation e = some_equation();
        shape in[MOST_TERMS], expected;
        size_t wide[MOST_TERMS];
        bool like_first = false;
        some_inputs(&e, in, wide);
        bool fits = sum_shapes(&e, in, wide, &expected, &like_first);
        const char *layout[MOST_TERMS] = { in[0].rank < COUNT(layouts) ? layouts[in[0].rank] : NULL };
        xir_einsum_attrs a = attrs_of(e.text);
        const xir_type *found = ask(xir_einsum_class(), &a, in, layout, e.n, false);
        compare(e.text, found, fits, &expected, in, e.n);
        if (!found) continue;
        xir_str text = xir_layout_text(xir_type_layout(found));
        const char *letters = layout[0] && like_first ? layout[0] : "************";
        if (text.size != expected.rank || memcmp(text.data, letters, text.size) != 0)
            fail_msg("%s: the layout is %.*s", e.text, (int)text.size, text.data);
    }
    check_mixture();
}

/* An equation with one error: the message names it and its position. */
static void faults_have_their_place(void **state) {
    (void)state;
    size_t tried[7] = { 0 };
    for (int t = 0; t < TRIALS; t++) {
        equation e = some_equation();
        shape in[MOST_TERMS + 1];
        size_t wide[MOST_TERMS], n = e.n, fault = chance(COUNT(tried)), size = strlen(e.text);
        char expected[96];
        some_inputs(&e, in, wide);
        switch (fault) {
        case 0:   /* a letter that no term has, at the end of the output */
            if (!e.written) continue;
            strcat(e.text, "q");
            snprintf(expected, sizeof expected, "'q' at character %zu of the output", size + 1);
            break;
        case 1:   /* a letter of the output again */
            if (!e.written || !e.out.n || e.out.token[0] == DOTS) continue;
            strcat(e.text, (char[]){ e.out.token[0], '\0' });
            snprintf(expected, sizeof expected, "'%c' at character %zu appears in the output twice",
                     e.out.token[0], size + 1);
            break;
        case 2: { /* a byte that is not a token, anywhere but inside one; the first error is reported */
            static const char marks[] = "0_()[]?;:\t\n\x7f";
            size_t at = chance(size + 1);
            if (at && at < size && (strchr(".-", e.text[at - 1]) || e.text[at - 1] == '>')) continue;
            memmove(e.text + at + 1, e.text + at, size - at + 1);
            e.text[at] = marks[chance(sizeof marks - 1)];
            snprintf(expected, sizeof expected, e.text[at] >= ' ' && e.text[at] < 127
                     ? "expected a letter, '...', ',' or '->', found '%c' at character %zu"
                     : "expected a letter, '...', ',' or '->', found the byte 0x%02x at character %zu",
                     (unsigned char)e.text[at], at + 1);
            break;
        }
        case 3:   /* a term too many */
            if (e.written) continue;
            strcat(e.text, ",");
            snprintf(expected, sizeof expected, "%zu terms, but there %s %zu input%s (character %zu)", n + 1,
                     n == 1 ? "is" : "are", n, n == 1 ? "" : "s", size + 2);
            break;
        case 4:   /* an input too many */
            in[n++] = (shape){ { 0 }, 0 };
            snprintf(expected, sizeof expected, "%zu term%s, but there are %zu inputs", n - 1, n == 2 ? "" : "s", n);
            break;
        case 5: { /* a dim too many */
            size_t which = chance(n);
            shape out;
            bool like_first;
            /* Different dims are reported where their term is parsed, which may be earlier. */
            if (has(&e.in[which], DOTS) || !sum_shapes(&e, in, wide, &out, &like_first)) continue;
            in[which].dim[in[which].rank++] = 1;
            snprintf(expected, sizeof expected, "input %zu has %zu dim%s", which, in[which].rank,
                     in[which].rank == 1 ? "" : "s");
            break;
        }
        default:  /* "..." again */
            if (e.written ? !has(&e.out, DOTS) : !has(&e.in[n - 1], DOTS)) continue;
            strcat(e.text, "...");
            snprintf(expected, sizeof expected, "'...' at character %zu is the second one", size + 1);
        }
        tried[fault]++;
        xir_einsum_attrs a = attrs_of(e.text);
        const xir_type *found = ask(xir_einsum_class(), &a, in, NULL, n, false);
        xir_str sentence = found ? (xir_str){ NULL, 0 } : xir_diags_at(why, 0)->message;
        if (found || !memmem(sentence.data, sentence.size, expected, strlen(expected))) {
            fail_msg("%s: expected \"%s\", found \"%.*s\"", e.text, expected, (int)sentence.size,
                     sentence.data ? sentence.data : "");
        }
    }
    for (size_t i = 0; i < COUNT(tried); i++) assert_true(tried[i] > TRIALS / 120);
    no_network();
}

/* Texts of any bytes and length do no harm and take linear time. */
static void texts_by_chance(void **state) {
    (void)state;
    static const char pieces[] = "abAB,,..--> \xff...";
    enum { LONG = 4 << 20 };
    for (int t = 0; t < TRIALS; t++) {
        char text[24];
        size_t n = chance(sizeof text - 1);
        for (size_t i = 0; i < n; i++)
            text[i] = chance(30) ? pieces[chance(sizeof pieces - 1)] : (char)(1 + chance(255));
        text[n] = '\0';
        shape in[3] = { { { 2, 2, 2 }, chance(4) }, { { 2, 2 }, chance(3) }, { { 2 }, chance(2) } };
        xir_einsum_attrs a = attrs_of(text);
        ask(xir_einsum_class(), &a, in, NULL, 1 + chance(3), false);
    }
    char *text = malloc(LONG);
    assert_non_null(text);
    for (int kind = 0; kind < 4; kind++) {
        for (size_t i = 0; i < LONG; i++) text[i] = kind == 0 ? 'a' : kind == 1 ? ',' : kind == 2 ? ' ' : "a,"[i % 2];
        xir_einsum_attrs a = attrs_of("");
        a.equation = (xir_str){ text, LONG };
        const shape in[2] = { { { 2, 2 }, 2 }, { { 0 }, 0 } };
        assert_null(ask(xir_einsum_class(), &a, in, NULL, 2, false));
    }
    free(text);
    no_network();
}

/* ---- valid elements --------------------------------------------------------------------------------------------- */

enum { MOST_MASKED = 3 };

/* A distribution over some dims with random runs; at least one element is valid. */
static const xir_object *some_distr(const shape *s, const int64_t *axes, size_t n) {
    run_list runs;
    int64_t total = 1;
    for (size_t i = 0; i < n; i++) total *= s->dim[axes[i]];
    int64_t valid = (int64_t)chance((uint64_t)total);
    run_list_init(&runs, context_alloc(ctx));
    for (int64_t i = 0; i < total; i++) assert_int_equal(run_list_add(&runs, 1, i == valid || chance(3), 0, 0), XIR_OK);
    const xir_distr *distr = distr_make(&net->pool, (xir_i64s){ axes, n }, run_list_runs(&runs),
                                        XIR_UVALUE_ZERO, false);
    run_list_free(&runs);
    assert_non_null(distr);
    return (const xir_object *)distr;
}

/* A type of this shape; each dim is in one distribution or in none. */
static const xir_type *masked(const shape *s) {
    const xir_object *distrs[MOST_RANK];
    int64_t axes[MOST_RANK];
    size_t n = 0, n_axes = 0;
    for (size_t k = s->rank; k > 0; k--) {   /* merged dims may be in any order */
        if (chance(3)) axes[n_axes++] = (int64_t)k - 1;
        if (n_axes && (chance(2) || k == 1)) {
            distrs[n++] = some_distr(s, axes, n_axes);
            n_axes = 0;
        }
        if (!chance(3)) break;
    }
    const xir_type *type = type_tensor(&net->pool, xir_type_float(ctx, XIR_FLOAT_FP32), NULL,
                                       (xir_i64s){ s->dim, s->rank }, (xir_refs){ distrs, n });
    assert_non_null(type);
    return type;
}

/* Returns true if an element is valid according to the distributions over the output's dims: a sum of no valid elements
 * is 0. */
static bool valid_at(const xir_type *type, const int64_t *place, const char *labels, const int64_t *out) {
    xir_refs distrs = xir_type_as_tensor(type)->merged_distrs;
    for (size_t i = 0; i < distrs.size; i++) {
        const xir_distr *distr = (const xir_distr *)distrs.data[i];
        int64_t at = 0;
        bool summed = true;
        for (size_t k = 0; k < distr->merged_axis.size; k++) {
            int64_t axis = distr->merged_axis.data[k];
            at = at * xir_type_dim(type, axis, false) + place[axis];
            summed &= labels && out[(int)labels[axis]] < 0;
        }
        if (!summed && !xir_distr_is_valid(distr, at)) return false;
    }
    return true;
}

/* The next position of a shape; false after the last. */
static bool next_place(const xir_type *type, int64_t *place) {
    for (size_t k = xir_type_rank(type); k-- > 0;) {
        if (++place[k] < xir_type_dim(type, (int64_t)k, false)) return true;
        place[k] = 0;
    }
    return false;
}

/* Returns true if a valid element of an input contributes to the output element at `out`: the positions agree for every
 * label, or the input has size 1 there. For labels that the output lacks, `out` is -1 and any position contributes. */
static bool feeds(const xir_type *type, const char *labels, const int64_t *out) {
    int64_t place[MOST_RANK] = { 0 };
    do {
        int64_t seen[128];
        bool goes = true;
        for (size_t i = 0; i < 128; i++) seen[i] = U;
        for (size_t k = 0; k < xir_type_rank(type); k++) {
            int name = labels[k];
            goes &= xir_type_dim(type, (int64_t)k, false) == 1 || out[name] < 0 || out[name] == place[k];
            goes &= seen[name] < 0 || seen[name] == place[k];   /* a diagonal */
            seen[name] = place[k];
        }
        if (goes && valid_at(type, place, labels, out)) return true;
    } while (next_place(type, place));
    return false;
}

/* An element is valid if valid elements of all inputs contribute to it. The equation has one dim for each label. */
static void valid_elements_go_along(void **state) {
    (void)state;
    size_t refused = 0, kept = 0;
    for (int t = 0; t < TRIALS / 4; t++) {
        equation e = some_equation();
        bool pair = !chance(3);
        shape in[MOST_TERMS], all;
        size_t wide[MOST_TERMS], widest = 0, n = pair ? 2 : e.n;
        char labels[MOST_TERMS][64], out_labels[64];
        int64_t dim[128];
        xir_value values[MOST_TERMS], *inputs[MOST_TERMS];
        bool like_first;
        next_network();
        for (size_t i = 0; i < COUNT(dim); i++) dim[i] = 1 + (int64_t)chance(3);
        for (size_t i = 0; i < n; i++) {
            wide[i] = pair || has(&e.in[i], DOTS) ? chance(3) : 0;
            widest = wide[i] > widest ? wide[i] : widest;
            if (pair) e.in[i] = (term){ { DOTS }, 1 };
            in[i].rank = count_dims(&e.in[i], wide[i]);
            label_dims(&e.in[i], wide[i], labels[i]);
            bool thin = !chance(4);   /* except for diagonals a dim may be 1 */
            for (size_t k = 0; k < in[i].rank; k++)
                in[i].dim[k] = labels[i][k] < 'A' && thin ? 1 : dim[(int)labels[i][k]];
            values[i] = (xir_value){ .type = masked(&in[i]), .from = (uintptr_t)maker };
            inputs[i] = &values[i];
        }
        if (pair) {
            e.n = 2;
            e.out = (term){ { DOTS }, 1 };
        }
        assert_true(sum_shapes(&e, in, wide, &all, &like_first));
        label_dims(&e.out, widest, out_labels);
        const xir_einsum_attrs einsum = attrs_of(e.text);
        const xir_multiply_attrs multiply = xir_multiply_init();
        xir_infer at;
        xir_diags_clear(why);
        infer_start(&at, net, xir_class_find_decl(ctx, pair ? xir_multiply_class() : xir_einsum_class()),
                    pair ? (const void *)&multiply : &einsum, NULL, inputs, n, XIR_STR(""), why);
        xir_status status = infer_run(&at);
        const xir_type *out = status ? NULL : at.out[0];
        infer_end(&at);
        if (status) {   /* cannot be carried over */
            if (status != XIR_E_UNSUPPORTED) fail_msg("%s: %s", e.text, xir_status_name(status));
            refused++;
            continue;
        }
        assert_true(same_shape(out, &all));
        kept += xir_type_as_tensor(out)->merged_distrs.size > 0;
        int64_t place[MOST_RANK] = { 0 };
        do {
            int64_t by_label[128];
            bool expected = true;
            for (size_t i = 0; i < 128; i++) by_label[i] = U;
            for (size_t k = 0; k < all.rank; k++) by_label[(int)out_labels[k]] = place[k];
            for (size_t i = 0; i < n; i++) expected &= feeds(values[i].type, labels[i], by_label);
            if (expected == valid_at(out, place, NULL, NULL)) continue;
            for (size_t i = 0; i < n; i++)
                print_error("input %zu: %s\n", i, picture_of_object((const xir_object *)values[i].type));
            fail_msg("%s: an element is %svalid in %s", pair ? "a product" : e.text, expected ? "" : "not ",
                     picture_of_object((const xir_object *)out));
        } while (next_place(out, place));
    }
    if (refused < TRIALS / 120 || kept < TRIALS / 120) fail_msg("%zu refused, %zu with distributions", refused, kept);
    no_network();
}

/* ---- out of memory ----------------------------------------------------------------------------------------------- */

enum { MANY = 10 };   /* dims and distributions that need separate allocations */

static bool use_memory(xir_context *with) {
    xir_network *n = xir_network_new(with, "n", XIR_FRAMEWORK_PYTORCH, "v1.9");
    if (!n) return false;
    int64_t dims[MANY];
    for (size_t i = 0; i < MANY; i++) dims[i] = 2;
    const xir_type *element = xir_type_float(with, XIR_FLOAT_FP32);
    const xir_type *plain = xir_type_tensor(with, element, NULL, dims, MANY), *type = plain;
    for (int64_t i = 0; type && i + 2 < MANY; i++) {
        type = xir_type_add_distr(with, type, &i, 1, NULL);
        type = type ? xir_type_mark_distr(with, type, &i, 1, 1, 2, false, NULL) : NULL;
    }
    const xir_type *truth = xir_type_tensor(with, xir_type_bool(with), NULL, dims, 1);
    xir_at at = XIR_AT(n);
    const xir_type *types[] = { plain, type, truth };
    xir_op *in = type && truth ? xir_inputs(at, "in", types, 3) : NULL;
    xir_value *x = in ? xir_op_output(in, 0) : NULL, *y = in ? xir_op_output(in, 1) : NULL;
    const xir_multiply_attrs multiply = xir_multiply_init();
    const xir_where_attrs where = xir_where_init();
    const xir_matmul_attrs matmul = xir_matmul_init();
    const xir_einsum_attrs einsum = attrs_of("...ij,...jk->...ik");
    xir_op *op = in ? xir_add_multiply(at, (xir_multiply_in){ .lhs = x, .rhs = y }, &multiply) : NULL;
    op = op ? xir_add_where(at,
                            (xir_where_in){ .lhs = x, .rhs = xir_op_output(op, 0), .condition = xir_op_output(in, 2) },
                            &where) : NULL;
    op = op ? xir_add_matmul(at, (xir_matmul_in){ .x = xir_op_output(op, 0), .k = x, .b = y }, &matmul) : NULL;
    op = op ? xir_add_einsum(at, (xir_einsum_in){ .inputs = XIR_VALUES(x, xir_op_output(op, 0)) }, &einsum) : NULL;
    bool done = op && xir_output(at, XIR_VALUES(xir_op_output(op, 0)));
    if (done) assert_int_equal(xir_type_as_tensor(xir_value_type(xir_op_output(op, 0)))->merged_distrs.size, MANY - 2);
    if (!done && type && truth) assert_int_equal(xir_network_status(n), XIR_E_MEMORY);
    xir_network_free(n);
    return done;
}

static void failing_allocations_lose_nothing(void **state) {
    (void)state;
    check_memory(use_memory);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_broadcast),
        cmocka_unit_test(three_broadcast),
        cmocka_unit_test(matrices_multiply),
        cmocka_unit_test(letters_are_summed),
        cmocka_unit_test(faults_have_their_place),
        cmocka_unit_test(texts_by_chance),
        cmocka_unit_test(valid_elements_go_along),
        cmocka_unit_test(failing_allocations_lose_nothing),
    };
    return RUN_GROUP(tests);
}
