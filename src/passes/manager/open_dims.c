/* See open_dims.h. */
#include "open_dims.h"
#include <xir/symbols.h>
#include "graph.h"
#include "symbol.h"

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

/* What the given arrays say. A number outside of the interval is left to the run, which names the input. */
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

xir_status open_dims_bind(const xir_network *net, const xir_array *const *given, bool each, unsigned attempt,
                          xir_network **out, xir_diags *why) {
    *out = NULL;
    if (!symbol_at(&net->pool, 0)) return XIR_OK;
    size_t n = 0;
    xir_network *copy = xir_network_clone(net);   /* has the symbols of its types alone */
    xir_symbol *symbols = copy ? symbols_of(copy, &n) : NULL;
    xir_status status = symbols ? XIR_OK : diag_memory(why);
    if (!status) {
        learn(copy, symbols, given, each);
        for (size_t i = 0; i < n; i++) symbols[i].least = symbols[i].most = number_for(&symbols[i], i, attempt);
        status = xir_network_bind(copy, symbols, n, why);
        mem_free(context_alloc(net->ctx), symbols, (n + 1) * sizeof *symbols);
    }
    if (status) xir_network_free(copy);
    else *out = copy;
    return status;
}

/* ---- fitting ---------------------------------------------------------------------------------------------------- */

/* Whether dims of the two types mean the same: a pass may have moved the channels of an input. */
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
