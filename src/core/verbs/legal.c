/* Whether a target runs an op: its inference and checks, then the rules of its row. The answer has no effect on the op,
 * its network or the network's status: what inference makes lies in a pool of this call. */
#include <xir/legal.h>
#include "legal.h"

/* ---- the rules ------------------------------------------------------------------------------------------------- */

/* Whether the target runs the class at all. */
static bool runs_class(const xir_target_row *row, const xir_class *cls) {
    bool names_some = false;
    for (size_t i = 0; i < row->n_rules; i++) {
        if (row->rules[i].cls && row->rules[i].cls() == cls->decl) return true;
        names_some |= row->rules[i].cls != NULL;
    }
    return !names_some;
}

static xir_status broken(xir_infer *at, const xir_target_row *row, const xir_target_rule *rule) {
    return xir_infer_fail(at, XIR_E_UNSUPPORTED, NULL, "%s needs %s%s%s", row->name, rule->needs,
                          rule->mend ? ": " : "", rule->mend ? rule->mend : "");
}

xir_status rules_check(xir_infer *at) {
    const xir_target_row *row = xir_target_row_of(at->target);
    if (!runs_class(row, at->cls))
        return xir_infer_fail(at, XIR_E_UNSUPPORTED, NULL, "%s does not run this class", row->name);
    xir_status first = XIR_OK;
    for (size_t i = 0; i < row->n_rules; i++) {
        const xir_target_rule *rule = &row->rules[i];
        if (!rule->holds || (rule->cls && rule->cls() != at->cls->decl) || rule->holds(at)) continue;
        first = broken(at, row, rule);
    }
    return first;
}

/* ---- the question ---------------------------------------------------------------------------------------------- */

static xir_status take_outputs(xir_infer *at, const xir_op *op) {
    xir_status status = XIR_OK;
    at->n_out = 0;
    for (uint32_t i = 0; i < op->n_outputs && !status; i++) status = infer_see_output(at, op_outputs(op)[i].type);
    return status;
}

/* Infers on the target. Types that do not follow from the inputs (quantised ones, for instance), and those of a class
 * without inference, are those that the op has. */
static xir_status infer_there(xir_infer *at, const xir_op *op, xir_diags *why) {
    const bool infers = class_can_infer(op->cls, xir_target_kind_of(at->target));
    xir_status status = infers ? infer_run(at) : XIR_E_UNSUPPORTED;
    if (!status) return XIR_OK;
    at->status = XIR_OK;
    at->why = why;   /* again, for the sentences */
    if (status != XIR_E_UNSUPPORTED || (infers && !op->n_outputs)) return infer_run(at);
    status = infer_check(at);
    return status ? status : take_outputs(at, op);
}

/* A target runs a call if it runs what is in its body. */
typedef struct attempt { const xir_target *target; xir_diags *why; xir_status status; } attempt;

static bool try_child(void *user, xir_op *child) {
    attempt *in = user;
    const bool is_end = child->cls->traits & (XIR_TRAIT_SOURCE | XIR_TRAIT_SINK);
    if (!is_end) in->status = xir_op_try(child, in->target, in->why);
    return !in->status;
}

xir_status xir_op_try(const xir_op *op, const xir_target *target, xir_diags *why) {
    if (!op) return diag_null(why, "op");
    if (op->flags & OP_ERASED) return diag_fail(why, XIR_E_INVALID, XIR_STR(""), "the op is erased");
    if (op->flags & OP_DRAFT) return diag_fail(why, XIR_E_MISSING, XIR_STR(""), "the op is a draft: complete it first");
    if (op->cls->opaque) {
        return diag_fail(why, XIR_E_UNKNOWN, XIR_STR(""), "%.*s is not known here: no target can be asked about it",
                         CLIP_TO(op->cls->key, 200));
    }
    object_pool pool;
    xir_infer at;
    pool_init_reader(&pool, &op->net->pool);
    infer_start(&at, op->net, op->cls, op->attrs, target, NULL, op->n_inputs, name_text(op_label(op)), NULL);
    at.pool = &pool;
    at.op = op;
    const int64_t place = why && op->flags & OP_PLACED ? xir_network_index_of(op->net, op) : -1;
    if (place >= 0) at.place = (size_t)place + 1;
    xir_status status = infer_there(&at, op, why);
    at.why = why;
    at.status = XIR_OK;
    const bool calls = is_call(op->cls);
    if (!status && has_rules(target) && !calls) status = rules_check(&at);
    infer_end(&at);
    pool_free(&pool);
    attempt in = { target, why, status };
    if (!status && calls) (void)op_each_child(op, try_child, &in);
    status = in.status;
    return status == XIR_E_MEMORY ? diag_memory(why) : status;
}
