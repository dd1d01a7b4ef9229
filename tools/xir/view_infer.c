/* Types and costs of the ops of another format, for a picture: those of a copy that is converted. The network that is
 * drawn keeps its ops, and gets the types of its values. If it cannot be converted, it is drawn as the file has it. */
#include <stdlib.h>
#include <string.h>
#include "view.h"

typedef struct costs {
    int64_t  *ids;             /* of the ops of the file, ascending           */
    xir_cost *of;              /* what their conversions cost                 */
    size_t    n;
    bool     *added;           /* by slot of the copy                         */
    const xir_provenance *made_of;
    uint64_t  owed[2];         /* parameters and bytes of added ops: the next one has them */
} costs;

static costs all;

/* ---- types ------------------------------------------------------------------------------------------- */

static bool needs_type(const xir_value *v) {
    return v && (!xir_value_type(v) || xir_type_has_unknown_dim(xir_value_type(v)));
}

/* A value of the copy may stand for one of the file in another order of axes: then it does not have its name. */
static void take_type(xir_network *net, const xir_provenance *made_of, const xir_value *from) {
    enum { MOST = 16 };
    int64_t ids[MOST];
    xir_value *to[MOST];
    size_t n = 0;
    const xir_type *type = xir_value_type(from);
    if (!type || xir_provenance_values_of(made_of, from, ids, MOST, &n) != XIR_OK || !n) return;
    n = n < MOST ? n : MOST;
    (void)xir_network_values_by_id(net, ids, n, to);
    for (size_t i = 0; i < n; i++)
        if (needs_type(to[i]) && xir_str_equal(xir_value_name(to[i]), xir_value_name(from)))
            (void)xir_value_set_type(to[i], type);   /* without memory it has none */
}

static void take_types(xir_network *net, const xir_network *copy, const xir_provenance *made_of) {
    for (const xir_op *op = xir_network_first(copy); op; op = xir_op_next(op))
        for (size_t i = 0; i < xir_op_output_count(op); i++)
            take_type(net, made_of, xir_op_output(op, (int64_t)i));
}

/* ---- costs ------------------------------------------------------------------------------------------- */

static void add_cost(xir_cost *to, const xir_cost *cost) {
    to->multiply_adds = xir_cost_add(to->multiply_adds, cost->multiply_adds);
    to->element_ops = xir_cost_add(to->element_ops, cost->element_ops);
    to->bytes_read = xir_cost_add(to->bytes_read, cost->bytes_read);
    to->bytes_written = xir_cost_add(to->bytes_written, cost->bytes_written);
}

/* An op that stands for several ops of the file counts in the first one. */
static bool note_cost(void *user, const xir_op *op, const xir_cost *cost) {
    costs *c = user;
    size_t at;
    c->owed[0] = xir_cost_add(c->owed[0], cost->parameters);
    c->owed[1] = xir_cost_add(c->owed[1], cost->parameter_bytes);
    if (c->added[xir_op_slot(op)] || !sources_of(c->made_of, op, c->ids, c->n, &at, 1)) return true;
    add_cost(&c->of[at], cost);
    c->of[at].parameters = xir_cost_add(c->of[at].parameters, c->owed[0]);
    c->of[at].parameter_bytes = xir_cost_add(c->of[at].parameter_bytes, c->owed[1]);
    c->owed[0] = c->owed[1] = 0;
    return true;
}

static int by_id(const void *a, const void *b) {
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static bool cost_of(void *user, const xir_op *op, xir_cost *out) {
    const costs *c = user;
    const int64_t id = xir_op_id(op), *at = bsearch(&id, c->ids, c->n, sizeof id, by_id);
    if (at) *out = c->of[at - c->ids];
    return at != NULL;
}

static void take_costs(const xir_network *copy, const xir_provenance *made_of, xir_draw_options *how) {
    all.ids = source_ids(made_of, &all.n);
    all.of = take(all.n, sizeof *all.of);
    for (size_t i = 0; i < all.n; i++) all.of[i] = XIR_INIT(xir_cost);
    all.added = find_added(made_of, copy);
    all.made_of = made_of;
    if (xir_network_costs(copy, note_cost, &all, NULL) == XIR_E_MEMORY) return;
    how->cost = cost_of;
    how->user = &all;
}

/* ---- both -------------------------------------------------------------------------------------------- */

/* A network that is not converted is drawn without types, unless the command line gives some. */
static int infer(xir_network *net, xir_network *copy, xir_draw_options *how, xir_diags *why) {
    xir_provenance *made_of = xir_provenance_new(copy, why);
    if (!made_of) return no_memory();
    const int code = convert_network(copy, why);
    if (!code) take_types(net, copy, made_of);
    if (!code) take_costs(copy, made_of, how);
    if (code && shape_words.n) say(why);
    xir_provenance_free(made_of);
    return shape_words.n ? code : DONE;
}

int view_infer(loaded *l, bool no_params, xir_draw_options *how) {
    xir_diags *why = new_diags();
    const bool foreign = xir_network_is_dialect(l->net);
    if (foreign && load_args.no_params && !no_params) take_constants(l, why);   /* which reads the network again */
    int code = bind_network(l->net, why);
    say(why);
    if (!code && foreign) {
        xir_network *copy = xir_network_clone(l->net);
        code = copy ? infer(l->net, copy, how, why) : no_memory();
        xir_network_free(copy);
    }
    xir_diags_free(why);
    return code;
}

void view_infer_end(void) {
    free(all.ids);
    free(all.of);
    free(all.added);
}
