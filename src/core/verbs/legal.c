/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Asks a target about an op: its inference and checks, then the rules of its row. The answer has no effect on the op,
 * its network or the network's status: what inference makes lies in a pool of this call. */
#include <inttypes.h>
#include <stdio.h>
#include <xir/legal.h>
#include "hash.h"
#include "legal.h"
#include "types.h"
#include "validate.h"

/* ---- the rules ------------------------------------------------------------------------------------------------- */

static bool names_classes(const xir_target_rule *rule) { return rule->cls || rule->key || rule->traits; }

/* Returns true if a rule that names classes names this one. */
static bool names_class(const xir_target_rule *rule, const xir_class *cls) {
    if (rule->cls) return rule->cls() == cls->decl;
    if (rule->key) return xir_str_equal(xir_str_of(rule->key), cls->key);
    return (cls->traits & rule->traits) == rule->traits;
}

static class_rules look_up(const xir_target_row *row, const xir_class *cls) {
    class_rules r = { .cls = cls, .row = row };
    bool some = false;
    for (size_t i = 0; i < row->n_rules; i++) {
        const xir_target_rule *rule = &row->rules[i];
        const bool names = names_classes(rule), excludes = rule->flags & XIR_RULE_EXCLUDES;
        some |= names && !excludes;
        if (names && !names_class(rule, cls)) continue;
        if (i < RULE_BITS && rule->holds) r.about[i / 64] |= UINT64_C(1) << (i % 64);
        if (!names) continue;
        if (excludes) r.excludes = rule;
        else r.runs = true;
        r.compiled |= (rule->flags & XIR_RULE_COMPILED) != 0;
    }
    r.runs = !r.excludes && (r.runs || !some);
    return r;
}

/* From the memo, or into `own`. */
static const class_rules *rules_about(rules_memo *memo, const xir_target_row *row, const xir_class *cls,
                                      class_rules *own) {
    enum { PLACES = sizeof memo->of / sizeof *memo->of };
    class_rules *known = memo ? &memo->of[hash_pointer(cls) % PLACES] : own;
    if (!memo || known->cls != cls || known->row != row) *known = look_up(row, cls);
    return known;
}

/* "what was found: the target needs this; this would mend it". `rule` is NULL for a class that no rule names. */
static void say_broken(xir_infer *at, const xir_target_row *row, const xir_target_rule *rule) {
    const bool note = rule && rule->flags & XIR_RULE_NOTE;
    const char *needs = rule ? rule->needs : NULL, *mend = rule ? rule->mend : NULL, *text = at->found->text;
    const char *semicolon = mend ? "; " : "";
    char sentence[SENTENCE_ROOM];
    if (!mend) mend = "";
    if (needs) snprintf(sentence, sizeof sentence, "%s%s%s %s %s%s%s", text, *text ? ": " : "", row->name,
                        note ? "is said to need" : "needs", needs, semicolon, mend);
    else snprintf(sentence, sizeof sentence, "%s does not run this class%s%s", row->name, semicolon, mend);
    const xir_diag_rule parts = {
        .target = xir_str_of(row->name), .name = xir_str_of(rule ? rule->name : NULL), .found = xir_str_of(text),
        .needed = xir_str_of(needs), .mend = xir_str_of(mend),
    };
    rule_say(at, note ? XIR_NOTE : XIR_ERROR, note ? XIR_OK : XIR_E_UNSUPPORTED,
             *at->found->where ? at->found->where : NULL, &parts, sentence);
}

/* Asks one rule; if it is broken, *status or *noted says so. */
static void ask(xir_infer *at, const xir_target_row *row, const xir_target_rule *rule, xir_status *status,
                bool *noted) {
    if (at->found) at->found->text[0] = at->found->where[0] = '\0';
    if (rule->holds(at)) return;
    if (rule->flags & XIR_RULE_NOTE) *noted = true;
    else *status = XIR_E_UNSUPPORTED;
    if (at->found) say_broken(at, row, rule);
}

xir_status rules_check(xir_infer *at, rules_memo *memo, bool typed, bool *noted) {
    const xir_target_row *row = xir_target_row_of(at->target);
    class_rules own;
    const class_rules *r = rules_about(memo, row, at->cls, &own);
    const uint64_t skipped = typed ? 0 : XIR_RULE_TYPES;
    rule_finding found;
    xir_status status = r->runs ? XIR_OK : XIR_E_UNSUPPORTED;
    at->found = at->why ? &found : NULL;
    found.text[0] = found.where[0] = '\0';
    if (status && at->found) say_broken(at, row, r->excludes);
    const size_t n = r->runs && !r->compiled ? row->n_rules : 0;
    for (size_t word = 0; word < RULE_BITS / 64 && word * 64 < n; word++) {
        for (uint64_t left = r->about[word]; left; left &= left - 1) {
            const xir_target_rule *rule = &row->rules[word * 64 + (size_t)__builtin_ctzll(left)];
            if (!(rule->flags & skipped)) ask(at, row, rule, &status, noted);
        }
    }
    for (size_t i = RULE_BITS; i < n; i++) {
        const xir_target_rule *rule = &row->rules[i];
        const bool about = !names_classes(rule) || names_class(rule, at->cls);
        if (about && rule->holds && !(rule->flags & skipped)) ask(at, row, rule, &status, noted);
    }
    at->found = NULL;
    return status;
}

/* ---- the question ---------------------------------------------------------------------------------------------- */

static xir_status take_outputs(xir_infer *at, const xir_op *op) {
    xir_status status = XIR_OK;
    at->n_out = 0;
    for (uint32_t i = 0; i < op->n_outputs && !status; i++) status = infer_see_output(at, op_outputs(op)[i].type);
    return status;
}

static bool is_plain(const xir_value *v) {
    return v && xir_type_as_tensor(v->type) && !xir_type_is_layouted(v->type);
}

/* Returns true if the target infers what the op has on the host: by the same rule, from types without tiles. Of the
 * library's own classes, those that it computes, checks give the same then, too. */
static bool infers_the_same(const xir_op *op, const xir_target *target) {
    const class_more *more = op->cls->more;
    const bool own = class_infer_of(op->cls, xir_target_kind_of(target)) || !target_is_host(op_target(op));
    if (own || !op->n_outputs || !more->own_kernel || !more->infer[XIR_TARGET_HOST]) return false;
    for (uint32_t i = 0; i < op->n_inputs; i++) if (!is_plain(op_inputs(op)[i].value)) return false;
    for (uint32_t i = 0; i < op->n_outputs; i++) if (!is_plain(&op_outputs(op)[i])) return false;
    return true;
}

/* Infers on the target. Types that do not follow from the inputs (quantised ones, for instance), and those of a class
 * without inference, are those that the op has. */
static xir_status infer_there(xir_infer *at, const xir_op *op, bool valid, xir_diags *why) {
    if (valid && infers_the_same(op, at->target)) return take_outputs(at, op);
    const bool infers = class_can_infer(op->cls, xir_target_kind_of(at->target));
    xir_status status = infers ? infer_run(at) : XIR_E_UNSUPPORTED;
    if (!status) return XIR_OK;
    at->status = XIR_OK;
    at->why = why;   /* again, for the sentences */
    if (status != XIR_E_UNSUPPORTED || (infers && !op->n_outputs)) return infer_run(at);
    status = infer_check(at);
    return status ? status : take_outputs(at, op);
}

static bool is_quantised(const xir_value *v) {
    return v && v->type && xir_type_is_quantized(xir_type_element(v->type));
}

bool op_is_quantised(const xir_op *op) {
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        if (is_quantised(&op_outputs(op)[i])) return true;
    }
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        if (is_quantised(op_inputs(op)[i].value)) return true;
    }
    return false;
}

/* Asks about one op, without the ops in a body. */
static xir_status try_alone(const trial *t, const xir_op *op, xir_str path, bool *noted) {
    const xir_class *cls = op->cls;
    const bool calls = is_call(cls);
    if (op->flags & OP_ERASED) return diag_fail(t->why, XIR_E_INVALID, path, "the op is erased");
    if (op->flags & OP_DRAFT) return diag_fail(t->why, XIR_E_MISSING, path, "the op is a draft: complete it first");
    class_rules own;
    if (cls->opaque && has_rules(t->target) &&
        rules_about(t->memo, xir_target_row_of(t->target), cls, &own)->compiled) return XIR_OK;
    if (cls->opaque) {
        return diag_fail(t->why, XIR_E_UNKNOWN, path, "%.*s is not known here: no target can be asked about it",
                         CLIP_TO(cls->key, 200));
    }
    xir_infer at;
    infer_start(&at, op->net, cls, op->attrs, t->target, NULL, op->n_inputs, name_text(op_label(op)), NULL);
    at.pool = t->pool;
    at.op = op;
    at.path = path;
    xir_status status = infer_there(&at, op, t->valid, t->why);
    at.why = t->why;
    at.status = XIR_OK;
    if (!status && has_rules(t->target) && !calls) status = rules_check(&at, t->memo, t->typed, noted);
    if (at.read_values) *noted = true;   /* not to be remembered */
    infer_end(&at);
    return status;
}

/* A target runs a call if it runs what is in its body. */
typedef struct body_trial { const trial *t; xir_str path; bool *noted; size_t i; xir_status status; } body_trial;

static bool try_child(void *user, xir_op *child) {
    body_trial *in = user;
    const bool is_end = child->cls->traits & (XIR_TRAIT_SOURCE | XIR_TRAIT_SINK);
    char path[300];
    int n = snprintf(path, sizeof path, "%.*s/body/%zu", (int)in->path.size, in->path.data, in->i++);
    xir_str at = { path, n < 0 ? 0 : (size_t)n < sizeof path ? (size_t)n : sizeof path - 1 };
    if (!in->t->why) at.size = 0;
    const xir_status status = is_end ? XIR_OK : try_op(in->t, child, at, in->noted);
    if (!in->status || status == XIR_E_MEMORY) in->status = status;
    return status != XIR_E_MEMORY;
}

xir_status try_op(const trial *t, const xir_op *op, xir_str path, bool *noted) {
    body_trial in = { .t = t, .path = path, .noted = noted };
    in.status = try_alone(t, op, path, noted);
    if (!in.status && is_call(op->cls)) (void)op_each_child(op, try_child, &in);
    return in.status;
}

xir_status xir_op_try(const xir_op *op, const xir_target *target, xir_diags *why) {
    if (!op) return diag_null(why, "op");
    object_pool pool;
    const trial t = { .target = target, .pool = &pool, .typed = op_is_quantised(op), .why = why };
    const bool has_place = why && op->flags & OP_PLACED && !(op->flags & OP_ERASED);
    const int64_t index = has_place ? xir_network_index_of(op->net, op) : -1;
    char path[32] = "";
    bool noted = false;
    if (index >= 0) snprintf(path, sizeof path, "/ops/%" PRId64, index);
    pool_init_reader(&pool, &op->net->pool);
    const xir_status status = try_op(&t, op, xir_str_of(path), &noted);
    pool_free(&pool);
    return status == XIR_E_MEMORY ? diag_memory(why) : status;
}
