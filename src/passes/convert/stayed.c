/* The nodes that a conversion leaves. Some of them only wait for others: an input has no type, or is not constant,
 * because the node that makes it stays. The report names causes, those that keep most nodes first, and counts. */
#include <stdlib.h>
#include "convert/convert.h"

/* What a node waits for: the node that makes the input, if it stays, too; else the input itself, which other nodes may
 * wait for as well. NULL: nothing. */
static const void *awaited(const conversion *c, const xir_value *v) {
    const xir_op *producer = v ? xir_value_op(v) : NULL;
    return producer && pointer_table_find(&c->stayed.of, producer) ? (const void *)producer : v;
}

bool stayed_add(conversion *c, const xir_node *at) {
    stayed_list *s = &c->stayed;
    const size_t size = strlen(at->reason) + 1;
    const void *what = awaited(c, at->waits_for);
    if (!mem_reserve(context_alloc(c->ctx), (void **)&s->rows, &s->room, s->n + 1, sizeof *s->rows)) return false;
    char *reason = arena_take(&c->scratch, size);
    if (!reason) return false;
    memcpy(reason, at->reason, size);
    const uint32_t *known = what ? pointer_table_find(&s->of, what) : NULL;
    const uint32_t own = (uint32_t)s->n, cause = known ? s->rows[*known].cause : own;
    s->rows[s->n++] = (stayed){ .op = at->op, .cause = cause, .reason = at->fate == NODE_STAYS ? reason : NULL };
    s->rows[cause].keeps++;
    return pointer_table_add(&s->of, at->op, own) && (known || !what || pointer_table_add(&s->of, what, own));
}

/* Most nodes first, then by order. */
static int compare(const void *a, const void *b) {
    const stayed *x = *(const stayed *const *)a, *y = *(const stayed *const *)b;
    if (x->keeps != y->keeps) return x->keeps > y->keeps ? -1 : 1;
    return x->cause < y->cause ? -1 : x->cause > y->cause;
}

static xir_status say_cause(conversion *c, const stayed *cause) {
    const xir_severity severity = c->strict ? XIR_ERROR : XIR_NOTE;
    const xir_status code = c->strict ? XIR_E_UNKNOWN : XIR_OK;
    const convert_class *cls = conversion_class(c, cause->op->cls);
    if (!cls) return XIR_E_MEMORY;
    const xir_node at = { .c = c, .op = cause->op, .cls = cls };
    if (cause->keeps == 1) node_say(&at, severity, code, NULL, "not converted: %s", cause->reason);
    else node_say(&at, severity, code, NULL, "not converted, nor %s %zu that wait%s for it: %s",
                  cause->keeps == 2 ? "is" : "are", cause->keeps - 1, cause->keeps == 2 ? "s" : "", cause->reason);
    return XIR_OK;
}

xir_status stayed_report(conversion *c) {
    const stayed_list *s = &c->stayed;
    const xir_allocator *alloc = context_alloc(c->ctx);
    size_t n = 0, stays = 0;
    const size_t size = (s->n + 1) * sizeof(stayed *);
    const stayed **causes = mem_new(alloc, size);
    xir_status status = causes ? XIR_OK : XIR_E_MEMORY;
    for (size_t i = 0; causes && i < s->n; i++) {
        if (s->rows[s->rows[i].cause].reason) stays++;   /* nodes that are wrong have their findings */
        if (s->rows[i].cause == i && s->rows[i].reason) causes[n++] = &s->rows[i];
    }
    if (causes) qsort((void *)causes, n, sizeof *causes, compare);
    for (size_t i = 0; i < n && !status; i++) status = say_cause(c, causes[i]);
    if (n && !status) {
        xir_diags_add(c->why, XIR_NOTE, XIR_OK, XIR_STR(""), "%s%zu of %zu %ss %s not converted, for %zu reason%s",
                      c->prefix, stays, c->nodes, convert_node(c->dialect), stays == 1 ? "is" : "are", n,
                      n == 1 ? "" : "s");
    }
    mem_free(alloc, (void *)causes, size);
    return status;
}
