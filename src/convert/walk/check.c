/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Checks of a network in the operations of a dialect. xir_dialect_check runs the conversion on a copy, which calls
 * those of check_values.c, and those of check_node.c and check_types.c for each node. */
#include "walk/walk.h"

bool xir_network_is_dialect(const xir_network *net) {
    if (!net) return false;
    const xir_op *op = xir_network_first(net);
    while (op && !xir_class_is_dialect(op->cls)) op = xir_op_next(op);
    return op;
}

/* The number after the path of nodes, "/functions/3/input/0"; false if the path is another. */
static bool number_in(const xir_dialect_decl *dialect, xir_str path, size_t *out) {
    const char *nodes = convert_nodes(dialect);
    size_t i = strlen(nodes);
    if (path.size <= i || memcmp(path.data, nodes, i) != 0) return false;
    *out = 0;
    for (; i < path.size && path.data[i] >= '0' && path.data[i] <= '9' && *out < SIZE_MAX / 16; i++)
        *out = *out * 10 + (size_t)(path.data[i] - '0');
    return i == path.size || path.data[i] == '/';
}

static void mark_faulty(void *user, xir_severity severity, xir_str path) {
    conversion *c = user;
    size_t number;
    if (severity == XIR_ERROR && number_in(c->dialect, path, &number) && number < c->n_faulty)
        c->faulty[number] = true;
}

/* The format's own check: adds its findings, and marks the ops with errors, also those that are only counted. */
static xir_status check_file(conversion *c, const xir_network *net) {
    if (!DECLARED(c->dialect, check_file)) return XIR_OK;
    xir_diags *own = c->why ? NULL : xir_diags_new(c->ctx), *found = c->why ? c->why : own;
    c->n_faulty = xir_network_op_count(net);
    c->faulty = arena_take(&c->scratch, c->n_faulty + 1);
    if (!found || !c->faulty) {
        xir_diags_free(own);
        return diag_memory(c->why);
    }
    memset(c->faulty, 0, c->n_faulty + 1);
    diags_watch(found, mark_faulty, c);
    const xir_status status = c->dialect->check_file(net, found);
    diags_watch(found, NULL, NULL);
    xir_diags_free(own);
    c->status = status;
    return status == XIR_E_MEMORY ? status : XIR_OK;
}

xir_status xir_dialect_check(const xir_network *net, xir_diags *why) {
    if (!net) return diag_null(why, "network");
    if (!xir_network_is_dialect(net)) return XIR_OK;
    xir_network *copy = xir_network_clone(net);
    if (!copy) return diag_memory(why);
    conversion c;
    conversion_begin(&c, copy, why);
    c.checking = true;
    budget within = budget_of(&c.ctx->limits);
    c.within = &within;
    xir_status status = check_file(&c, net);
    if (!status) status = conversion_run(&c);
    conversion_end(&c);
    xir_network_free(copy);
    return status;
}
