/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Einsum. An equation is parsed twice: alone, for errors that no input can fix, and then with the types of the
 * inputs. A letter has one dim, shared by all its occurrences; an occurrence of size 1 broadcasts. Within one term a
 * repeated letter means the diagonal, and its dims must be equal. Time is linear in the length of the text and the
 * ranks. */
#include <inttypes.h>
#include <xir/work.h>
#include "broadcast.h"
#include "needed.h"

enum { LETTERS = 52 };   /* A to Z, a to z: the order of the letters of an implicit output */

static int letter_index(char c) {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    return -1;
}
static char letter_of(int i) { return (char)(i < 26 ? 'A' + i : 'a' + i - 26); }

/* ---- the equation alone -------------------------------------------------------------------------------------- */

typedef enum token_kind { T_LETTER, T_DOTS, T_COMMA, T_ARROW, T_END, T_BAD } token_kind;

/* A token; `at` is where it starts. */
typedef struct token {
    token_kind kind;
    int        letter;
    size_t     at;
} token;

static token next_token(xir_str text, size_t *pos) {
    while (*pos < text.size && text.data[*pos] == ' ') ++*pos;
    token t = { T_BAD, -1, *pos };
    size_t left = text.size - *pos, size = 1;
    const char *p = left ? text.data + *pos : "";
    if (left == 0) {
        t.kind = T_END;
        return t;
    }
    if ((t.letter = letter_index(*p)) >= 0) t.kind = T_LETTER;
    else if (*p == ',') t.kind = T_COMMA;
    else if (left >= 2 && memcmp(p, "->", 2) == 0) t.kind = T_ARROW, size = 2;
    else if (left >= 3 && memcmp(p, "...", 3) == 0) t.kind = T_DOTS, size = 3;
    *pos += size;
    return t;
}

typedef struct equation {
    xir_str  text;
    size_t   terms;         /* number of input terms                                */
    size_t   end;           /* where the terms end                                   */
    uint64_t once, more;    /* bit sets: letters that occur, letters that occur again */
    bool     dots;          /* some term has "..."                                   */
    int      out[LETTERS];  /* the letters of the output                             */
    size_t   n_out;
    size_t   dots_at;       /* where the dims of "..." stand between them            */
    bool     dots_out;      /* whether it has any                                    */
} equation;

static uint64_t bit(int letter) { return UINT64_C(1) << letter; }

static xir_status bad_token(xir_infer *at, xir_str text, token t) {
    char c = text.data[t.at];
    if (c == '.') {
        return xir_infer_fail(at, XIR_E_INVALID, "equation", "expected '...' at character %zu", t.at + 1);
    }
    if (c == '-') return xir_infer_fail(at, XIR_E_INVALID, "equation", "expected '->' at character %zu", t.at + 1);
    if (c > ' ' && c < 127) {
        return xir_infer_fail(at, XIR_E_INVALID, "equation",
                              "expected a letter, '...', ',' or '->', found '%c' at character %zu", c, t.at + 1);
    }
    return xir_infer_fail(at, XIR_E_INVALID, "equation",
                          "expected a letter, '...', ',' or '->', found the byte 0x%02x at character %zu",
                          (unsigned char)c, t.at + 1);
}

static xir_status twice(xir_infer *at, const char *where, size_t position) {
    return xir_infer_fail(at, XIR_E_INVALID, "equation",
                          "'...' at character %zu is the second one in %s: expected at most one", position + 1, where);
}

/* Parses the part after "->". */
static xir_status read_output(xir_infer *at, equation *e, size_t pos) {
    uint64_t seen = 0;
    for (;;) {
        token t = next_token(e->text, &pos);
        switch (t.kind) {
        case T_END: return XIR_OK;
        case T_BAD: return bad_token(at, e->text, t);
        case T_COMMA:
            return xir_infer_fail(at, XIR_E_INVALID, "equation",
                                  "',' at character %zu is in the output: expected one output", t.at + 1);
        case T_ARROW:
            return xir_infer_fail(at, XIR_E_INVALID, "equation",
                                  "'->' at character %zu is the second one: expected one", t.at + 1);
        case T_DOTS:
            if (e->dots_out) return twice(at, "the output", t.at);
            e->dots_out = true;
            e->dots_at = e->n_out;
            break;
        case T_LETTER:
            if (!(e->once & bit(t.letter))) {
                return xir_infer_fail(at, XIR_E_INVALID, "equation",
                                      "the letter '%c' at character %zu of the output appears in no input",
                                      letter_of(t.letter), t.at + 1);
            }
            if (seen & bit(t.letter)) {
                return xir_infer_fail(at, XIR_E_INVALID, "equation",
                                      "'%c' at character %zu appears in the output twice", letter_of(t.letter),
                                      t.at + 1);
            }
            seen |= bit(t.letter);
            e->out[e->n_out++] = t.letter;
        }
    }
}

static xir_status read_equation(xir_infer *at, equation *e) {
    const xir_einsum_attrs *a = xir_infer_attrs(at);
    *e = (equation){ .text = a->equation, .terms = 1 };
    size_t pos = 0;
    bool dots = false;
    for (;;) {
        token t = next_token(e->text, &pos);
        e->end = t.at;
        switch (t.kind) {
        case T_BAD: return bad_token(at, e->text, t);
        case T_ARROW: return read_output(at, e, pos);
        case T_LETTER:
            e->more |= e->once & bit(t.letter);
            e->once |= bit(t.letter);
            break;
        case T_DOTS:
            if (dots) return twice(at, "its term", t.at);
            dots = e->dots = true;
            break;
        case T_COMMA:
            e->terms++;
            dots = false;
            break;
        case T_END:
            e->dots_out = e->dots;
            for (int i = 0; i < LETTERS; i++) {
                if (e->once & ~e->more & bit(i)) e->out[e->n_out++] = i;
            }
            return XIR_OK;
        }
    }
}

/* ---- with the inputs ----------------------------------------------------------------------------------------- */

typedef struct sum {
    equation e;
    int64_t  dim[LETTERS];   /* of each letter that occurs                                   */
    dim_list wide;           /* dims of "...", right-aligned                                  */
    size_t   n_wide;
    bool     like_first;     /* the output has the term of the first input                   */
} sum;

/* Counts the letters of a term and sets *dots if it has "...". *pos moves past the comma. */
static size_t count_letters(xir_str text, size_t *pos, bool *dots) {
    size_t n = 0;
    *dots = false;
    for (;;) {
        token t = next_token(text, pos);
        if (t.kind == T_LETTER) n++;
        else if (t.kind == T_DOTS) *dots = true;
        else return n;
    }
}

/* Parses the term of input i, which starts at *pos, and merges its dims with those of earlier terms. */
static xir_status read_term(xir_infer *at, sum *s, size_t i, size_t *pos) {
    const xir_type *type = xir_infer_input(at, i);
    size_t rank = xir_type_rank(type), start = *pos, walk = *pos, axis = 0, n_own = 0;
    bool dots;
    size_t letters = count_letters(s->e.text, pos, &dots);
    if (dots ? letters > rank : letters != rank) {
        token first = next_token(s->e.text, &start);
        return xir_infer_fail(at, XIR_E_INVALID, "equation",
                              "the term at character %zu has %zu letter%s%s, but input %zu has %zu dim%s", first.at + 1,
                              letters, letters == 1 ? "" : "s", dots ? " and '...'" : "", i, rank,
                              rank == 1 ? "" : "s");
    }
    size_t wide = rank - letters;
    if (wide > s->n_wide) s->n_wide = wide;

    uint64_t seen = 0;
    int64_t own[LETTERS] = { 0 };
    size_t place[LETTERS] = { 0 };
    bool like = true;
    for (token t = next_token(s->e.text, &walk); t.kind == T_LETTER ||
         t.kind == T_DOTS; t = next_token(s->e.text, &walk)) {
        if (t.kind == T_DOTS) {
            like &= wide == 0 || n_own == s->e.dots_at;
            for (size_t k = wide; k > 0; k--, axis++) {
                int64_t dim = type_dim(type, (int64_t)axis), *joined = &s->wide.data[s->wide.size - k];
                int64_t before = *joined;
                if (join_dim(at, before, dim, joined)) continue;
                return xir_infer_fail(at, XIR_E_INVALID, "equation", "dim %zu of input %zu, in '...' at character %zu, "
                                      "is %s, that of the inputs before is %s: expected the same or 1", axis, i,
                                      t.at + 1, dim_words(at, dim).text, dim_words(at, before).text);
            }
            continue;
        }
        int64_t dim = type_dim(type, (int64_t)axis++);
        like &= n_own < s->e.n_out && s->e.out[n_own] == t.letter;
        n_own++;
        if (!(seen & bit(t.letter))) {
            seen |= bit(t.letter);
            own[t.letter] = dim;
            place[t.letter] = t.at;
            continue;
        }
        int64_t earlier = own[t.letter];
        if (same_dim(at, earlier, dim, &own[t.letter])) continue;
        return xir_infer_fail(at, XIR_E_INVALID, "equation",
                              "'%c' at character %zu is %s, earlier in the same term %s: "
                              "expected the same, for a diagonal", letter_of(t.letter), t.at + 1,
                              dim_words(at, dim).text, dim_words(at, earlier).text);
    }
    for (uint64_t left = seen; left; left &= left - 1) {
        int letter = __builtin_ctzll(left);
        int64_t before = s->dim[letter];
        if (join_dim(at, before, own[letter], &s->dim[letter])) continue;
        return xir_infer_fail(at, XIR_E_INVALID, "equation", "'%c' at character %zu is %s, in the terms before %s: "
                              "expected the same or 1", letter_of(letter), place[letter] + 1,
                              dim_words(at, own[letter]).text, dim_words(at, before).text);
    }
    if (i == 0) s->like_first = like && n_own == s->e.n_out;
    return XIR_OK;
}

/* The position where term n starts. */
static size_t find_term(xir_str text, size_t n) {
    size_t pos = 0;
    bool dots;
    for (size_t i = 0; i < n; i++) count_letters(text, &pos, &dots);
    return pos;
}

/* Parses the equation and checks the number of terms. */
static xir_status read_alone(xir_infer *at, equation *e) {
    size_t n = xir_infer_input_count(at);
    xir_status status = read_equation(at, e);
    if (status || e->terms == n) return status;
    if (n == 0) return xir_infer_fail(at, XIR_E_MISSING, "inputs", "the op has no inputs: expected at least one");
    return xir_infer_fail(at, XIR_E_INVALID, "equation",
                          "the equation has %zu term%s, but there %s %zu input%s (character %zu)", e->terms,
                          e->terms == 1 ? "" : "s", n == 1 ? "is" : "are", n, n == 1 ? "" : "s",
                          (e->terms > n ? find_term(e->text, n) : e->end) + 1);
}

/* Parses everything; creates `out` and s->wide. */
static xir_status einsum_shape(xir_infer *at, sum *s, dim_list *out) {
    size_t n = xir_infer_input_count(at), rank = 0, pos = 0;
    xir_status status = read_alone(at, &s->e);
    if (status) return status;
    for (size_t i = 0; i < n; i++) {
        size_t r = xir_type_rank(xir_infer_input(at, i));
        status = need_numbers(at, i);
        if (!status && i) status = same_elements(at, 0, i);
        if (status) return status;
        if (r > rank) rank = r;
    }
    if (!dims_init(at, &s->wide, rank)) return XIR_E_MEMORY;
    for (size_t i = 0; i < rank; i++) s->wide.data[i] = 1;
    for (int i = 0; i < LETTERS; i++) s->dim[i] = 1;
    s->n_wide = 0;
    s->like_first = false;
    for (size_t i = 0; i < n && !status; i++) status = read_term(at, s, i, &pos);
    size_t wide = s->e.dots_out ? s->n_wide : 0;
    s->like_first &= s->e.n_out + wide == xir_type_rank(xir_infer_input(at, 0));
    if (!status && !dims_init(at, out, s->e.n_out + wide)) status = XIR_E_MEMORY;
    if (status) {
        dims_free(&s->wide);
        return status;
    }
    for (size_t i = 0, k = 0; i <= s->e.n_out; i++) {
        if (s->e.dots_out && i == s->e.dots_at) {
            for (size_t w = 0; w < wide; w++) out->data[k++] = s->wide.data[rank - wide + w];
        }
        if (i < s->e.n_out) out->data[k++] = s->dim[s->e.out[i]];
    }
    return XIR_OK;
}

/* Without the types of the inputs, only the equation itself is checked. */
xir_status einsum_check(xir_infer *at) {
    size_t n = xir_infer_input_count(at);
    sum s;
    dim_list dims;
    if (!inputs_known(at, n) || inputs_tiled(at, n)) return read_alone(at, &s.e);
    xir_status status = einsum_shape(at, &s, &dims);
    if (status) return status;
    dims_free(&s.wide);
    dims_free(&dims);
    return XIR_OK;
}

/* Each combination of indices, those of the output and the summed ones, multiplies n inputs: n - 1 products. */
xir_status einsum_work(xir_infer *at) {
    size_t n = xir_infer_input_count(at);
    sum s;
    dim_list dims;
    uint64_t terms = 1, outputs = xir_work_outputs(at);
    for (size_t i = 0; i < n; i++) (void)xir_work_elements(at, xir_infer_input(at, i));   // all dims are known
    xir_status status = inputs_known(at, n) && !inputs_tiled(at, n) ? einsum_shape(at, &s, &dims) : XIR_E_BOUNDS;
    if (status == XIR_E_MEMORY) return status;
    if (status) return xir_work_unknown(at);   // the equation does not fit the inputs
    for (int i = 0; i < LETTERS; i++) terms = xir_work_times(terms, (uint64_t)s.dim[i]);
    for (size_t i = 0; i < s.wide.size; i++) terms = xir_work_times(terms, (uint64_t)s.wide.data[i]);
    dims_free(&s.wide);
    dims_free(&dims);
    if (n == 1) return xir_work_elementwise(at, xir_work_add(terms, outputs));
    return xir_work_result(at, xir_work_times(terms, n - 1), outputs);
}

/* ---- valid elements ------------------------------------------------------------------------------------------ */

/* Carries the distributions of input i, whose term starts at *pos, over to the output. */
static xir_status carry_term(xir_infer *at, const sum *s, size_t i, size_t *pos, const dim_list *dims,
                             distr_list *list) {
    const xir_type *type = xir_infer_input(at, i);
    size_t rank = xir_type_rank(type), axis = 0, walk = *pos, wide = s->e.dots_out ? s->n_wide : 0;
    bool dots;
    size_t letters = count_letters(s->e.text, pos, &dots), own = rank - letters;
    int64_t place[LETTERS];
    dim_list to;
    if (xir_type_as_tensor(type)->merged_distrs.size == 0) return XIR_OK;
    if (!dims_init(at, &to, rank)) return XIR_E_MEMORY;
    for (int k = 0; k < LETTERS; k++) place[k] = -1;
    for (size_t k = 0; k < s->e.n_out; k++) {
        place[s->e.out[k]] = (int64_t)(k + (s->e.dots_out && k >= s->e.dots_at ? wide : 0));
    }
    for (token t = next_token(s->e.text, &walk); t.kind == T_LETTER ||
         t.kind == T_DOTS; t = next_token(s->e.text, &walk)) {
        if (t.kind == T_LETTER) to.data[axis++] = place[t.letter];
        for (size_t k = 0; t.kind == T_DOTS && k < own; k++) {
            to.data[axis++] = s->e.dots_out ? (int64_t)(s->e.dots_at + wide - own + k) : -1;
        }
    }
    xir_status status = carry_distrs(at, i, to.data, dims, list);
    dims_free(&to);
    return status;
}

xir_status einsum_infer(xir_infer *at) {
    size_t n = xir_infer_input_count(at), pos = 0;
    sum s;
    dim_list dims;
    xir_status status = need_inputs(at, n);
    if (!status) status = einsum_shape(at, &s, &dims);
    if (status) return status;
    const xir_type *element = NULL, *other;
    distr_list list;
    distrs_init(at, &list);
    for (size_t i = 0; i < n && !status; i++) {
        status = computed_element(at, i, i ? &other : &element);
        if (!status) status = carry_term(at, &s, i, &pos, &dims, &list);
    }
    if (!status) {
        const xir_layout *layout = s.like_first ? xir_type_layout(xir_infer_input(at, 0)) : NULL;
        status = give_with(at, element, layout, &dims, &list);
    }
    distrs_free(&list);
    dims_free(&s.wide);
    dims_free(&dims);
    return status;
}

/* ---- parts ------------------------------------------------------------------------------------------------------ */

/* Of each input the dims whose letter is one of the output follow it; those of "..." and of summed letters are
 * whole. */
xir_status einsum_needs(xir_infer *at) {
    equation e;
    size_t pos = 0;
    xir_status status = read_alone(at, &e);
    for (size_t i = 0; i < e.terms && !status; i++) {
        const size_t rank = rank_of_input(at, i);
        bool dots;
        size_t walk = pos, axis = 0;
        const size_t letters = count_letters(e.text, &pos, &dots);
        if (letters > rank || (!dots && letters != rank)) return XIR_E_INVALID;
        for (token t = next_token(e.text, &walk); t.kind == T_LETTER || t.kind == T_DOTS;
             t = next_token(e.text, &walk)) {
            if (t.kind == T_DOTS) axis += rank - letters;
            if (t.kind != T_LETTER) continue;
            for (size_t k = 0; k < e.n_out; k++) {
                if (e.out[k] != t.letter || dim_of_input(at, i, axis) == 1) continue;
                const size_t wide = xir_needs_part(at)->rank - e.n_out;
                need_same(at, i, axis, k < e.dots_at || !e.dots_out ? k : k + wide);
            }
            axis++;
        }
    }
    if (!status) xir_tile_same(at);
    return status;
}
