/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* See open_dims.h. */
#include "open_dims.h"
#include <stdlib.h>
#include <xir/symbols.h>
#include "graph.h"
#include "symbol.h"
#include "symbols.h"

/* The symbols of a network, by their numbers in its pool, and room for one more; NULL without memory. */
static xir_symbol *symbols_of(const xir_network *net, size_t *n) {
    const symbol *s;
    *n = 0;
    while (symbol_at(&net->pool, *n)) ++*n;
    xir_symbol *symbols = mem_new(context_alloc(net->ctx), (*n + 1) * sizeof *symbols);
    for (size_t i = 0; symbols && (s = symbol_at(&net->pool, i)); i++)
        symbols[i] = (xir_symbol){ s->name, s->least, s->most };
    return symbols;
}

/* The number of the symbol that a dim of a network's type is; SIZE_MAX for a number or another expression. */
static size_t symbol_of_dim(const xir_network *net, const xir_type *type, size_t k) {
    const int64_t dim = xir_type_as_tensor(type)->shape.data[k];
    return dim_is_symbolic(dim) ? symbol_of(&net->pool, dim) : SIZE_MAX;
}

static const xir_type *input_type(const xir_network *net, size_t i) {
    const xir_op *in = xir_network_input_op(net);
    return in ? xir_value_type(xir_op_output(in, (int64_t)i)) : NULL;
}

/* ---- binding ---------------------------------------------------------------------------------------------------- */

static int64_t number_for(const xir_symbol *s, size_t i, unsigned attempt) {
    static const int64_t all[OPEN_DIMS_ATTEMPTS] = { 0, 8, 32, 1 };
    const int64_t v = attempt ? all[attempt] : 2 + (int64_t)(i % 7);
    return v < s->least ? s->least : v > s->most ? s->most : v;
}

/* Learns the numbers of symbols from the given arrays. A number outside of the interval is left to the run, which
 * names the input. */
static void learn(const xir_network *net, xir_symbol *symbols, const xir_array *const *given, bool each) {
    const size_t n = xir_network_inputs(net, NULL, 0);
    for (size_t i = 0; i < n; i++) {
        const xir_type *type = input_type(net, i), *found = given[i] ? xir_array_type(given[i]) : NULL;
        for (size_t k = 0; found && k < xir_type_rank(type) && k < xir_type_rank(found); k++) {
            const size_t number = symbol_of_dim(net, type, k);
            if (number == SIZE_MAX) continue;
            xir_symbol *s = &symbols[number];
            const int64_t v = each && k == 0 ? 1 : xir_type_dim(found, (int64_t)k, false);
            if (v >= s->least && v <= s->most) s->least = s->most = v;
        }
    }
}

/* The dims of a network's values that are expressions, each once, and the symbols whose numbers may be chosen. */
typedef struct legality {
    const object_pool *pool;
    xir_symbol        *symbols;
    size_t             n_symbols;
    int64_t           *numbers;    /* of the symbols                           */
    expr              *dims;
    size_t             n_dims, room;
    bool              *chosen;     /* of the symbols                           */
    const xir_allocator *alloc;
} legality;

static bool collect(void *user, xir_value *v) {
    legality *l = user;
    const xir_tensor_type *tensor = xir_type_as_tensor(xir_value_type(v));
    for (size_t i = 0; tensor && i < tensor->shape.size; i++) {
        const expr e = expr_of_dim(tensor->shape.data[i]);
        if (!expr_is_symbolic(e)) continue;
        if (l->n_dims && l->dims[l->n_dims - 1] == e) continue;   /* neighbours often have the same dims */
        if (!mem_reserve(l->alloc, (void **)&l->dims, &l->room, l->n_dims + 1, sizeof *l->dims)) return false;
        l->dims[l->n_dims++] = e;
    }
    return true;
}

static int compare_exprs(const void *a, const void *b) {
    const expr x = *(const expr *)a, y = *(const expr *)b;
    return (x > y) - (x < y);
}

static void drop_repeats(legality *l) {
    size_t n = 0;
    if (l->n_dims) qsort(l->dims, l->n_dims, sizeof *l->dims, compare_exprs);
    for (size_t i = 0; i < l->n_dims; i++)
        if (!n || l->dims[n - 1] != l->dims[i]) l->dims[n++] = l->dims[i];
    l->n_dims = n;
}

/* The dim for the numbers; below 1 for one that no network should have, also if it is too large. */
static int64_t dim_with(const legality *l, expr e) {
    int64_t v;
    return expr_evaluate(l->pool, e, l->numbers, l->n_symbols, &v) ? v : INT64_MIN;
}

typedef struct turn { legality *l; expr dim; bool changed, enforced; } turn;

enum { MOST_NUMBER = 1 << 20, MOST_TURNS = 200 };

/* Doubles the number of a symbol, or halves it, if that makes the dim larger. */
static bool turn_symbol(void *user, size_t i) {
    turn *t = user;
    legality *l = t->l;
    const xir_symbol *s = &l->symbols[i];
    const int64_t was = l->numbers[i], before = dim_with(l, t->dim);
    const int64_t tries[] = { was < MOST_NUMBER ? was * 2 + !was : was, was / 2 };
    for (size_t k = 0; k < 2 && l->chosen[i]; k++) {
        l->numbers[i] = tries[k] < s->least ? s->least : tries[k] > s->most ? s->most : tries[k];
        if (l->numbers[i] == was) continue;
        if (dim_with(l, t->dim) > before || (t->enforced && !k)) {
            t->changed = true;
            return true;
        }
        l->numbers[i] = was;
    }
    return true;
}

/* Changes the numbers until all dims are 1 or more, as far as this is found. */
static void make_legal(legality *l) {
    size_t good = 0;   /* dims in a row that are legal */
    for (size_t i = 0, turns = 0; l->n_dims && good < l->n_dims && turns < MOST_TURNS; i = (i + 1) % l->n_dims) {
        good++;
        if (dim_with(l, l->dims[i]) >= 1) continue;
        good = 0;
        turns++;
        turn t = { l, l->dims[i], false, false };
        expr_walk(l->pool, l->dims[i], turn_symbol, &t);
        t.enforced = !t.changed;
        if (t.enforced) expr_walk(l->pool, l->dims[i], turn_symbol, &t);
        if (!t.changed) return;
    }
}

/* Chooses the numbers of all symbols, which are then the ends of their intervals; *sought: make_legal changed some.
 * False without memory. */
static bool choose(const xir_network *net, xir_symbol *symbols, size_t n, unsigned attempt, bool *sought) {
    const xir_allocator *alloc = context_alloc(net->ctx);
    legality l = { .pool = &net->pool, .symbols = symbols, .n_symbols = n, .alloc = alloc,
                   .numbers = mem_new(alloc, (n + 1) * sizeof *l.numbers),
                   .chosen = mem_new(alloc, (n + 1) * sizeof *l.chosen) };
    const bool good = l.numbers && l.chosen && net_walk_values(net, collect, &l);
    for (size_t i = 0; good && i < n; i++) {
        l.numbers[i] = number_for(&symbols[i], i, attempt);
        l.chosen[i] = symbols[i].least < symbols[i].most;
    }
    if (good) {
        drop_repeats(&l);
        make_legal(&l);
    }
    for (size_t i = 0; good && i < n; i++) {
        *sought |= l.numbers[i] != number_for(&symbols[i], i, attempt);
        symbols[i].least = symbols[i].most = l.numbers[i];
    }
    mem_free(alloc, l.numbers, (n + 1) * sizeof *l.numbers);
    mem_free(alloc, l.chosen, (n + 1) * sizeof *l.chosen);
    mem_free(alloc, l.dims, l.room * sizeof *l.dims);
    return good;
}

/* Lists the numbers that were chosen, with names of their own. False without memory. */
static bool list_taken(const xir_symbol *symbols, const xir_symbol *before, size_t n, arena *room, open_dims *taken) {
    taken->list = arena_take(room, (n + 1) * sizeof *taken->list);
    taken->n = 0;
    for (size_t i = 0; taken->list && i < n; i++) {
        if (before[i].least == before[i].most) continue;
        char *name = arena_take(room, symbols[i].name.size + 1);
        if (!name) return false;
        memcpy(name, symbols[i].name.data, symbols[i].name.size);
        name[symbols[i].name.size] = '\0';
        taken->list[taken->n++] = (xir_symbol){ { name, symbols[i].name.size }, symbols[i].least, symbols[i].most };
    }
    return taken->list;
}

xir_status open_dims_bind(const xir_network *net, const xir_array *const *given, bool each, unsigned attempt,
                          arena *room, open_dims *taken, xir_network **out, xir_diags *why) {
    *out = NULL;
    *taken = (open_dims){ NULL, 0, false };
    if (!symbol_at(&net->pool, 0)) return XIR_OK;
    size_t n = 0, same = 0;
    xir_network *copy = xir_network_clone(net);   /* has the symbols of its types alone */
    xir_symbol *symbols = copy ? symbols_of(copy, &n) : NULL, *before = copy ? symbols_of(copy, &same) : NULL;
    xir_status status = symbols && before ? XIR_OK : diag_memory(why);
    if (!status) {
        learn(copy, symbols, given, each);
        memcpy(before, symbols, n * sizeof *before);
        if (!choose(copy, symbols, n, attempt, &taken->sought) || !list_taken(symbols, before, n, room, taken))
            status = diag_memory(why);
    }
    if (!status) status = xir_network_bind(copy, symbols, n, why);
    mem_free(context_alloc(net->ctx), symbols, (n + 1) * sizeof *symbols);
    mem_free(context_alloc(net->ctx), before, (n + 1) * sizeof *before);
    if (status) xir_network_free(copy);
    else *out = copy;
    return status;
}

/* ---- fitting ---------------------------------------------------------------------------------------------------- */

/* Returns true if dims of the two types mean the same: a pass may have moved the channels of an input. */
static bool is_laid_out_as(const xir_type *a, const xir_type *b) {
    const xir_tensor_type *x = xir_type_as_tensor(a), *y = xir_type_as_tensor(b);
    return x && y && x->shape.size == y->shape.size &&
        xir_str_equal(xir_layout_text(x->layout), xir_layout_text(y->layout));
}

bool open_dims_fit(const xir_network *was, const xir_network *net, const xir_array *const *given,
                   const xir_array *const *arrays) {
    const size_t n = xir_network_inputs(net, NULL, 0);
    bool fit = true;
    for (size_t i = 0; fit && i < n; i++) {
        const xir_type *before = input_type(was, i), *now = input_type(net, i);
        if (given[i] || !is_laid_out_as(before, now)) continue;
        const int64_t *dims = xir_type_as_tensor(now)->shape.data;
        for (size_t k = 0; fit && k < xir_type_rank(now); k++) {
            if (xir_type_dim(before, (int64_t)k, false) >= 0) continue;
            const int64_t v = xir_type_dim(xir_array_type(arrays[i]), (int64_t)k, false);
            int64_t least, most;
            expr_range(&net->pool, expr_of_dim(dims[k]), &least, &most);
            fit = v >= least && v <= most;
        }
    }
    return fit;
}
