/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Reading ops. Ops of one class differ little. A run of members that equals the last op's, byte for byte, is skipped,
 * and its contents are taken from that op. */
#include "codec/read.h"

/* ---- ops --------------------------------------------------------------------------------------------------- */

/* Returns true if ops of the class can be read by stretches. */
static bool has_stretches(const source *s, const codec_plan *plan) {
    return s->ops->skip_members && plan->stretches && plan->cls->plain && plan->cls->n_fields + 8 <= 64;
}

static bool recall(source *s, const codec_memo *memo, xir_value **out) {
    if (!memo->start || !s->ops->repeats(s, memo)) return false;
    *out = (xir_value *)(uintptr_t)memo->object;
    return true;
}

/* The first input is usually the output of a recent op; the others are usually those of the last op of the class. */
static bool recall_input(decoder *d, source *s, const codec_memo *before, bool first, xir_value **out) {
    if (!first && recall(s, before, out)) return true;
    for (uint32_t i = 0; i < RECENT; i++) {
        if (recall(s, &d->recent_values[(d->next_value - 1 - i) % RECENT], out)) return true;
    }
    return first && recall(s, before, out);
}

static bool read_input(decoder *d, source *s, void *user) {
    op_in *op = user;
    size_t i = op->inputs.size, slot = i < PLAN_SLOTS ? i : PLAN_SLOTS - 1;
    codec_plan *plan = op->plan;
    xir_value *v = NULL;
    if (!recall_input(d, s, &plan->recent->inputs[slot], i == 0, &v)) {
        const void *start = s->at;
        shape found = s->ops->shape(s);
        value_in in;
        if (found == SHAPE_NULL) {
            if (!s->ops->null(s)) return false;
        } else if (found != SHAPE_MAP) {
            return source_expected(s, "a value or null");
        } else {
            if (!read_value(d, s, &plan->recent->input_types[slot], &in) || !use_value(d, s, &in, &v)) return false;
            /* The value for which an orphan stands may still come. */
            if (value_op(v) || value_is_params(v)) plan->recent->inputs[slot] = source_memo(s, start, v);
        }
    }
    xir_value **out = gather(d, &op->inputs, sizeof *out);
    if (out) *out = v;
    return out != NULL;
}

static bool read_output(decoder *d, source *s, void *user) {
    op_in *op = user;
    size_t i = op->outputs.size, slot = i < PLAN_SLOTS ? i : PLAN_SLOTS - 1;
    const void *start = s->at;
    if (s->ops->shape(s) != SHAPE_MAP) return source_expected(s, value_class_key.data);
    value_in *in = gather(d, &op->outputs, sizeof *in);
    if (!in || !read_value(d, s, &op->plan->recent->output_types[slot], in)) return false;
    if (in->params) {
        return source_fail(s, start, XIR_E_TYPE, "expected %s, found %s", value_class_key.data,
                           params_class_key.data);
    }
    if (i < RECENT) op->output_memos[i] = source_memo(s, start, NULL);
    const xir_type **type = gather(d, &op->types, sizeof *type);
    if (type) *type = in->type;
    return type != NULL;
}

static bool read_target(decoder *d, source *s, const xir_target **out) {
    const xir_object *target;
    if (!decode_object(d, s, d->ctx->types[CLASS_target], &target)) return false;
    *out = target->cls == d->ctx->types[CLASS_host_target] ? NULL : (const xir_target *)target;
    return true;
}

static bool read_op_id(decoder *d, source *s, op_in *in) {
    const void *at = s->at;
    if (!read_id(d, s, "op_id", &in->id)) return false;
    in->has_id = true;
    if (in->id < 0) return true;
    bool taken;
    if (!note_op_id(d, in->id, &taken)) return false;
    if (!taken && !(d->existing && net_find_op(d->net, in->id))) return true;
    return source_fail(s, at, XIR_E_EXISTS, "op_id %" PRId64 " is already used by another op", in->id);
}

static bool read_op_base(decoder *d, source *s, int what, op_in *op) {
    switch (what) {
    case KEY_TYPE: {
        xir_str known;
        return s->ops->text(s, &known);
    }
    case KEY_TARGET:  return read_target(d, s, &op->target);
    case KEY_INPUTS:  return each_item(d, s, read_input, op);
    case KEY_NAME:    return s->ops->text(s, &op->name);
    case KEY_OUTPUTS: return each_item(d, s, read_output, op);
    case KEY_TAGS:    return decode_map(d, s, &op->tags, false);
    case KEY_ID:      return read_op_id(d, s, op);
    default: return false;
    }
}

/* ---- the members of an op ---------------------------------------------------------------------------------- */

/* The stretch after the item of a key; NULL if none begins there. */
static stretch *stretch_after(codec_plan *plan, int what) {
    switch (what) {
    case KEY_INPUTS:  return &plan->stretches[1];
    case KEY_NAME:    return &plan->stretches[2];
    case KEY_ID:      return &plan->stretches[3];
    case KEY_OUTPUTS: return &plan->stretches[4];
    default:          return NULL;
    }
}

static xir_str base_name(int what) {
    switch (what) {
    case KEY_INPUTS: return XIR_STR("inputs");
    case KEY_NAME:   return XIR_STR("name");
    case KEY_ID:     return XIR_STR("op_id");
    default:         return XIR_STR("outputs");
    }
}

/* A stretch that is being read in full and recorded. Only members whose contents live in a plain body, in the target
 * or in empty tags can be taken from the last op. */
typedef struct stretching {
    stretch    *of;       /* NULL: nothing is recorded */
    const void *begin;
    uint32_t    left;     /* members to come at `begin` */
    bool        good;
    uint64_t    seen;
} stretching;

static void end_stretch(stretching *t, const void *end, uint32_t left, uint32_t next, int what) {
    if (!t->of) return;
    *t->of = (stretch){ .seen = t->seen, .next = next, .what = what };
    if (t->good) t->of->memo = source_stretch(t->begin, end, t->left - left);
    t->of = NULL;
}

/* Reads the members of an op's map, which has been entered. `passed` gets the bits of the stretches that were
 * passed. */
static bool read_op_members(decoder *d, source *s, void *body, members *m, op_in *op, xir_str *name, uint32_t *passed) {
    codec_plan *plan = op->plan;
    const xir_class *cls = plan->cls;
    bool stretches = has_stretches(s, plan);
    stretching now = { 0 };
    stretch *ahead = stretches ? &plan->stretches[0] : NULL;
    uint32_t next = 0;
    for (bool first = true;; first = false) {
        const void *begin = s->at;
        uint32_t left = s->left;
        int what;
        if (ahead) *passed |= UINT32_C(1) << (ahead - plan->stretches);
        if (ahead && ahead->memo.start && !(m->seen[0] & ahead->seen) && s->ops->skip_members(s, &ahead->memo)) {
            m->seen[0] |= ahead->seen;
            next = ahead->next;
            what = ahead->what;
            ahead = NULL;
            if (what == KEY_NONE) continue;
            *name = base_name(what);
        } else {
            if (ahead) now = (stretching){ .of = ahead, .begin = begin, .left = left, .good = true };
            ahead = NULL;
            int stepped = next_member(s, plan, first, &next, name, &what);
            if (stepped == 0) end_stretch(&now, begin, left, next, KEY_NONE);
            if (stepped != 1) return stepped == 0;
            if (what == KEY_NONE) {
                now.good = false;
                if (!add_extra(d, s, &m->extra, *name, true)) return false;
                continue;
            }
            if (!members_note(d, s, m, cls, what, *name)) return false;
            now.seen |= UINT64_C(1) << (member_bit(cls, what) % 64);
        }
        if (stretches && (ahead = stretch_after(plan, what)) != NULL) end_stretch(&now, s->at, s->left, next, what);
        if (!(what >= 0 ? decode_op_field(d, s, &cls->fields[what], body) : read_op_base(d, s, what, op))) return false;
        if (op->tags.size) now.good = false;
    }
}

/* Rows that the file leaves out hold their default, not the value of the last op. */
static void reset_absent(const xir_class *cls, void *body, uint64_t absent) {
    for (; absent; absent &= absent - 1) {
        const xir_field *f = &cls->fields[__builtin_ctzll(absent)];
        size_t size = f->kind == XIR_KIND_BOOL ? sizeof(bool) : f->kind == XIR_KIND_ENUM ? sizeof(int) : 8;
        memcpy(body_at(body, f), body_at(cls->defaults, f), size);
    }
}

static bool read_op(decoder *d, source *s, void *body, members *m, op_in *op) {
    codec_plan *plan = op->plan;
    const xir_class *cls = plan->cls;
    bool again = has_stretches(s, plan) && plan->last_attrs;
    memcpy(body, again ? plan->last_body : cls->defaults, cls->body_size);
    if (again) op->target = plan->last_target;
    uint32_t passed = 0;
    if (!members_begin(d, s, m, cls) || !s->ops->enter(s)) return false;
    frame f = { .up = d->trace.top, .index = SIZE_MAX };
    d->trace.top = &f;
    bool ok = read_op_members(d, s, body, m, op, &f.key, &passed);
    d->trace.top = f.up;
    if (!ok || !has_stretches(s, plan)) return ok;
    reset_absent(cls, body, members_absent(m, cls));
    if (!(m->seen[0] >> member_bit(cls, KEY_TARGET) & 1)) op->target = NULL;
    plan->last_target = op->target;
    /* Stretches that were not passed describe an earlier op. */
    for (uint32_t i = 0; i < STRETCHES; i++) {
        if (!(passed >> i & 1)) plan->stretches[i].memo.start = NULL;
    }
    return true;
}

/* The first bytes of an op tell its class if _type_key is among them. */
static codec_plan *recall_plan(decoder *d, const source *s) {
    for (uint32_t i = 0; i < RECENT; i++) {
        codec_plan *plan = d->recent_plans[i];
        const stretch *begin = plan ? plan->stretches : NULL;
        if (!begin || !begin->memo.start || !(begin->seen >> member_bit(plan->cls, KEY_TYPE) & 1)) continue;
        source copy = *s;
        if (s->ops->skip_members(&copy, &begin->memo)) return plan;
    }
    return NULL;
}

/* The plan of the next op. */
static codec_plan *find_plan(decoder *d, source *s) {
    uint64_t byte = source_here(s);
    xir_str key;
    if (!s->ops->member(s, XIR_STR("_type_key"), &key)) {
        xir_any ignored;
        source copy = *s;
        if (decode_any(d, &copy, &ignored)) trace_fail(&d->trace, XIR_E_MISSING, byte, "an op needs _type_key");
        return NULL;
    }
    const xir_class *cls = xir_class_find(d->ctx, key);
    if (cls && !cls->is_op) {
        trace_fail(&d->trace, XIR_E_TYPE, byte, "expected an op, found %.*s", CLIP(key));
        return NULL;
    }
    if (!cls) cls = class_opaque(d->ctx, key, true);
    codec_plan *plan = cls ? codec_plan_of(&d->plans, cls) : NULL;
    if (!plan) trace_memory(&d->trace);
    return plan;
}

static codec_plan *plan_of_op(decoder *d, source *s) {
    codec_plan *plan = s->ops->skip_members ? recall_plan(d, s) : NULL;
    if (plan) return plan;
    plan = find_plan(d, s);
    for (uint32_t i = 0; plan && i < RECENT; i++) {
        if (d->recent_plans[i] == plan) return plan;
    }
    if (plan) d->recent_plans[d->next_plan++ % RECENT] = plan;
    return plan;
}

/* The op's outputs exist: defines them as the file says. */
static bool define_outputs(decoder *d, source *s, xir_op *op, const op_in *in) {
    const value_in *outputs = in->outputs.data;
    frame list = { .up = d->trace.top, .key = XIR_STR("outputs"), .index = SIZE_MAX };
    frame item = { .up = &list, .index = 0 };
    d->trace.top = &item;
    while (item.index < op->n_outputs && define_value(d, s, op, (uint32_t)item.index, &outputs[item.index]))
        item.index++;
    d->trace.top = list.up;
    for (uint32_t i = 0; in->output_memos && i < op->n_outputs && i < RECENT; i++) {
        codec_memo *memo = &d->recent_values[d->next_value++ % RECENT];
        *memo = in->output_memos[i];
        memo->object = &op_outputs(op)[i];
    }
    return item.index == op->n_outputs;
}

/* The attributes of the plan's last op need no lookup. */
static const void *share_attrs(decoder *d, codec_plan *plan, const void *body) {
    const xir_class *cls = plan->cls;
    if (!cls->plain) return net_attrs(d->net, cls, body);
    if (plan->last_attrs && memcmp(plan->last_body, body, cls->body_size) == 0) return plan->last_attrs;
    memcpy(plan->last_body, body, cls->body_size);
    plan->last_attrs = net_attrs(d->net, cls, body);
    return plan->last_attrs;
}

static bool set_op_more(decoder *d, xir_op *op, const op_in *in, const xir_map *extra, uint64_t absent) {
    if (!in->tags.size && !extra->size && !absent) return true;
    op_more *more = op_need_more(op);
    if (!more) return trace_memory(&d->trace);
    more->absent = absent;
    return keep_map(d, &in->tags, &more->tags) && keep_map(d, extra, &more->extra);
}

/* In a network that existed before: records the op, so that a failure can remove it. */
static bool note_op(decoder *d, xir_op *op) {
    if (!d->existing) return true;
    made_op *made = arena_take(&d->keep, sizeof *made);
    if (!made) return false;
    *made = (made_op){ op, d->made };
    d->made = made;
    return true;
}

bool build_op(decoder *d, source *s, op_in *in, const void *body, const xir_map *extra, uint64_t absent, xir_op **out) {
    const void *attrs = share_attrs(d, in->plan, body);
    xir_value **inputs = in->inputs.data;
    size_t n = in->inputs.size;
    while (n && !inputs[n - 1]) n--;   /* absent inputs at the end are left out */
    /* Sub ops are read after the inputs, and may have made one of them. */
    for (size_t i = 0; !in->plan->cls->plain && i < n; i++) {
        if (!refresh_value(d, &inputs[i])) return false;
    }
    if (d->n_ops++ >= d->ctx->limits.max_ops)
        return source_fail(s, s->at, XIR_E_LIMIT, "more ops than the limit of %" PRIu64, d->ctx->limits.max_ops);
    xir_op *op = attrs ? op_make(d->net, in->plan->cls, attrs, n) : NULL;
    if (!op || !op_make_outputs(op, in->types.data, in->types.size) || !note_op(d, op)) return trace_memory(&d->trace);
    const label *name = net_name(d->net, in->name);
    if (!name || (in->target && !op_set_own_target(op, in->target))) return trace_memory(&d->trace);
    op_set_label(op, name);
    for (size_t i = 0; i < n; i++) use_link(&op_inputs(op)[i], op, inputs[i]);
    if (!set_op_more(d, op, in, extra, absent)) return false;
    if (!define_outputs(d, s, op, in)) return false;
    if (!in->plan->cls->plain && op_adopt_children(op, attrs)) return trace_memory(&d->trace);
    if (in->id >= 0 && d->existing) op->id = in->id;
    else if (in->id >= 0 && !op_set_id(op, in->id)) return trace_memory(&d->trace);
    *out = op;
    return true;
}

bool decode_op(decoder *d, source *s, xir_op **out) {
    enum { BODY = 256, FEW = 4 };
    if (s->ops->shape(s) != SHAPE_MAP) return source_expected(s, "an op");
    codec_plan *plan = plan_of_op(d, s);
    if (!plan) return false;
    const xir_class *cls = plan->cls;
    _Alignas(16) char space[BODY];
    xir_value *inputs[FEW];
    value_in outputs[2];
    const xir_type *types[2];
    codec_memo memos[RECENT];
    void *body = cls->body_size <= BODY ? space : arena_take(&d->scratch, cls->body_size);
    if (!body) return trace_memory(&d->trace);
    op_in in = { .plan = plan, .at = s->at, .id = -1, .inputs = { inputs, 0, FEW }, .outputs = { outputs, 0, 2 },
                 .types = { (void *)types, 0, 2 }, .output_memos = memos };
    members m;
    xir_map extra;
    if (!read_op(d, s, body, &m, &in)) return false;
    if (!in.has_id) return source_fail(s, in.at, XIR_E_MISSING, "an op needs op_id");
    if (!sort_extra(d, s, in.at, &m.extra, &extra)) return false;
    return build_op(d, s, &in, body, &extra, members_absent(&m, cls), out);
}

