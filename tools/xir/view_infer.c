/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

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
    bool      failed;          /* without memory                              */
} costs;

static costs all;

/* ---- types ------------------------------------------------------------------------------------------- */

static bool needs_type(const xir_value *v) {
    return v && (!xir_value_type(v) || xir_type_has_unknown_dim(xir_value_type(v)));
}

/* A value of the copy may stand for one of the file in another order of axes: then it does not have its name. False
 * without memory. */
static bool take_type(xir_network *net, const xir_provenance *made_of, const xir_value *from) {
    enum { MOST = 16 };
    int64_t ids[MOST];
    xir_value *to[MOST];
    size_t n = 0;
    const xir_type *type = xir_value_type(from);
    if (!type) return true;
    if (xir_provenance_values_of(made_of, from, ids, MOST, &n) != XIR_OK) return false;
    n = n < MOST ? n : MOST;
    (void)xir_network_values_by_id(net, ids, n, to);
    for (size_t i = 0; i < n; i++)
        if (needs_type(to[i]) && xir_str_equal(xir_value_name(to[i]), xir_value_name(from)) &&
            xir_value_set_type(to[i], type)) return false;
    return true;
}

static bool take_types(xir_network *net, const xir_network *copy, const xir_provenance *made_of) {
    const xir_op *first = xir_network_first(net);
    while (first && !xir_op_output_count(first)) first = xir_op_next(first);
    bool taken = !first || xir_network_value_by_id(net, xir_value_id(xir_op_output(first, 0)));   /* makes a table */
    for (const xir_op *op = xir_network_first(copy); op && taken; op = xir_op_next(op))
        for (size_t i = 0; i < xir_op_output_count(op) && taken; i++)
            taken = take_type(net, made_of, xir_op_output(op, (int64_t)i));
    return taken;
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
    size_t at, n;
    c->owed[0] = xir_cost_add(c->owed[0], cost->parameters);
    c->owed[1] = xir_cost_add(c->owed[1], cost->parameter_bytes);
    if (c->added[xir_op_slot(op)]) return true;
    c->failed |= !sources_of(c->made_of, op, c->ids, c->n, &at, 1, &n);
    if (c->failed || !n) return !c->failed;
    add_cost(&c->of[at], cost);
    c->of[at].parameters = xir_cost_add(c->of[at].parameters, c->owed[0]);
    c->of[at].parameter_bytes = xir_cost_add(c->of[at].parameter_bytes, c->owed[1]);
    c->owed[0] = c->owed[1] = 0;
    return true;
}

static bool cost_of(void *user, const xir_op *op, xir_cost *out) {
    const costs *c = user;
    const size_t at = source_at(c->ids, c->n, xir_op_id(op));
    if (at != SIZE_MAX) *out = c->of[at];
    return at != SIZE_MAX;
}

static bool take_costs(const xir_network *copy, const xir_provenance *made_of, xir_draw_options *how) {
    all.ids = source_ids(made_of, &all.n);
    all.of = take(all.n, sizeof *all.of);
    for (size_t i = 0; i < all.n; i++) all.of[i] = XIR_INIT(xir_cost);
    all.added = find_added(made_of, copy);
    all.made_of = made_of;
    if (!all.added || xir_network_costs(copy, note_cost, &all, NULL) == XIR_E_MEMORY) return false;
    how->cost = cost_of;
    how->user = &all;
    return !all.failed;
}

/* ---- both -------------------------------------------------------------------------------------------- */

/* A network that is not converted is drawn without types, unless the command line gives some, or memory ran out. */
static int infer(xir_network *net, xir_network *copy, xir_draw_options *how, xir_diags *why) {
    xir_provenance *made_of = xir_provenance_new(copy, why);
    if (!made_of) return no_memory();
    int code = convert_network(copy, why);
    const bool wanted = code && shape_words.n;
    if (!code && !take_types(net, copy, made_of)) code = FAULTY;
    if (!code && !take_costs(copy, made_of, how)) code = FAULTY;
    xir_provenance_free(made_of);
    if (wanted) say(why);
    return wanted || blame_memory(code ? FAULTY : DONE) == REFUSED ? code : DONE;
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
