/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* fuse-to: replaces ops by the one op of a composed class that they are the parts of.
 *
 *     c = Conv2d(x, w, b), s = Add(c, r), y = ReLU(s){max_value=6}   ->   y = tern::Conv(x, w, b, r){max_value=6}
 *
 * The pattern is derived from the composition. A match gives each attribute of the class the number that a part has for
 * it; then the composition is asked for the attributes of all parts, and they must be those of the matched ops. So
 * writing the op out gives the ops again, whatever the composition computes. */
#include <xir/legal.h>
#include <xir/ops.h>
#include "compose/compose.h"
#include "normalised.h"
#include "pattern/pattern.h"
#include "support/numbers.h"
#include "support/target_option.h"
#include "support/upkeep.h"
#include "types.h"

enum { NO_ROW = 0xFF };

/* One way to find the class: with all parts, or without the last ones, which may be left out. */
typedef struct finding {
    const xir_class   *cls;
    const composition *c;
    const xir_target  *target;                     /* of the new op; NULL: that of the last part              */
    uint32_t           n_parts, last;              /* so many of the parts; the value that the pattern finds  */
    xir_pattern_row    rows[XIR_PATTERN_ROWS];
    uint8_t            n_rows;
    uint8_t           *row_of;                     /* by value: its row                                       */
    uint8_t            op_row[COMPOSE_PARTS];      /* by part                                                 */
    uint8_t            extra[COMPOSE_PARTS][XIR_ROW_MAX_INPUTS];   /* rows of operands that are constants     */
    bool              *needed;                     /* by value: the result depends on it                      */
    xir_pass          *at;
    bool               noted;                      /* that an op stays because its results are stored         */
    bool               no_memory;                  /* a candidate was given up for want of it                 */
} finding;

/* ---- the pattern ------------------------------------------------------------------------------------------------ */

static xir_status too_large(xir_pass *at, const finding *f, const char *what) {
    return xir_pass_fail(at, XIR_E_UNSUPPORTED, NULL, "no pattern can be derived for %.*s: %s",
                         CLIP_TO(f->cls->key, 200), what);
}

/* Marks the values that the last one depends on. */
static void mark_needed(finding *f) {
    memset(f->needed, 0, f->c->n_values * sizeof *f->needed);
    f->needed[f->last] = true;
    for (uint32_t i = f->n_parts; i-- > 0;) {
        const compose_part *p = &f->c->parts[i];
        bool any = false;
        for (uint32_t k = 0; k < p->n_results; k++) any |= f->needed[p->first + k];
        for (uint32_t k = 0; k < p->n_operands && any; k++) {
            const compose_operand *o = &p->operands[k];
            if (o->kind == OPERAND_VALUE || o->kind == OPERAND_REST) f->needed[o->value] = true;
        }
    }
}

static bool is_needed(const finding *f, const compose_part *p) {
    for (uint32_t k = 0; k < p->n_results; k++)
        if (f->needed[p->first + k]) return true;
    return false;
}

static xir_pattern_row *add_row(finding *f, xir_pattern_row row) {
    if (f->n_rows == XIR_PATTERN_ROWS) return NULL;
    f->rows[f->n_rows] = row;
    return &f->rows[f->n_rows++];
}

/* Sums and products of two operands in either order have the same bits. */
static bool commutes(const compose_part *p) {
    const bool sum = p->cls->decl == xir_add_class(), product = p->cls->decl == xir_multiply_class();
    if (p->n_operands != 2 || (!sum && !product)) return false;
    for (uint32_t i = 0; i < p->n_settings && sum; i++)
        if (xir_str_equal(p->settings[i].to->name, XIR_STR("alpha")) ||
            xir_str_equal(p->settings[i].to->name, XIR_STR("beta"))) return false;
    const xir_add_attrs *a = p->body;
    return product || (a->alpha.size == 1 && a->beta.size == 1 && xir_object_equal(a->alpha.data[0], a->beta.data[0]));
}

/* The row of an operand; NO_ROW if there is no room. */
static uint8_t operand_row(finding *f, uint32_t part, uint32_t k) {
    const compose_operand *o = &f->c->parts[part].operands[k];
    xir_pattern_row row = { 0 };
    if (o->kind == OPERAND_VALUE) return f->row_of[o->value];
    if (o->kind == OPERAND_REST) row.kind = XIR_PATTERN_REST;
    if (o->kind == OPERAND_NUMBER || o->kind == OPERAND_PARAMS) row.kind = XIR_PATTERN_PARAMS;
    if (o->kind == OPERAND_NONE) row = (xir_pattern_row){ .kind = XIR_PATTERN_ANY, .optional = true };
    if (o->kind == OPERAND_PARAMS && !o->needed) row.optional = true;
    if (!add_row(f, row)) return NO_ROW;
    return f->extra[part][k] = (uint8_t)(f->n_rows - 1);
}

static xir_status add_part(xir_pass *at, finding *f, uint32_t part) {
    const compose_part *p = &f->c->parts[part];
    const bool root = part + 1 == f->n_parts;
    xir_pattern_row row = { .kind = XIR_PATTERN_OP, .keys = p->cls->key.data, .n_inputs = p->n_operands,
                            .optional = p->optional && !root, .commutes = commutes(p) };
    if (p->n_operands > XIR_ROW_MAX_INPUTS) return too_large(at, f, "a part has too many inputs");
    for (uint32_t k = 0; k < p->n_operands; k++) {
        row.inputs[k] = operand_row(f, part, k);
        if (row.inputs[k] == NO_ROW) return too_large(at, f, "it has too many parts");
    }
    /* Without rows of inputs, any inputs would do; a part without operands has no inputs at all. */
    if (!p->n_operands) return too_large(at, f, "a part has no inputs");
    if (root) row.output = (uint8_t)(f->last - p->first);
    if (!add_row(f, row)) return too_large(at, f, "it has too many parts");
    f->op_row[part] = f->row_of[p->first] = (uint8_t)(f->n_rows - 1);
    if (root) f->row_of[f->last] = f->op_row[part];
    for (uint32_t k = 1; k < p->n_results && !root; k++) {
        if (!f->needed[p->first + k]) continue;
        const xir_pattern_row result = { .kind = XIR_PATTERN_OUTPUT, .inputs = { f->op_row[part] }, .n_inputs = 1,
                                         .output = (uint8_t)k };
        if (!add_row(f, result)) return too_large(at, f, "it has too many parts");
        f->row_of[p->first + k] = (uint8_t)(f->n_rows - 1);
    }
    return XIR_OK;
}

static xir_status make_rows(xir_pass *at, finding *f) {
    xir_status status = XIR_OK;
    f->n_rows = 0;
    mark_needed(f);
    memset(f->row_of, NO_ROW, f->c->n_values);
    memset(f->op_row, NO_ROW, sizeof f->op_row);
    memset(f->extra, NO_ROW, sizeof f->extra);
    for (uint32_t i = 0; i < f->c->n_inputs; i++) {
        const xir_decl_kind decl = f->cls->more->inputs[i].decl;
        if (!f->needed[i] || decl == XIR_DECL_VAR) continue;
        if (!add_row(f, (xir_pattern_row){ .kind = XIR_PATTERN_ANY, .optional = decl == XIR_DECL_OPT }))
            return too_large(at, f, "it has too many inputs");
        f->row_of[i] = (uint8_t)(f->n_rows - 1);
    }
    for (uint32_t i = 0; i < f->n_parts && !status; i++)
        if (is_needed(f, &f->c->parts[i])) status = add_part(at, f, i);
    return status;
}

/* ---- a candidate ------------------------------------------------------------------------------------------------ */

enum { INPUTS = 64, BODY = 2048 };

typedef struct candidate {
    xir_value *inputs[INPUTS];
    size_t     n;
    uint64_t   known[4];                 /* attributes that a part has told */
    double     numbers[COMPOSE_OPERANDS];
    const xir_type *types[COMPOSE_OPERANDS];
    size_t     n_numbers;
    xir_value  number;                   /* stands for those                */
    const xir_type *type;                /* of the result                   */
    bool       follows;                  /* from the inputs                 */
    _Alignas(16) char body[BODY];
} candidate;

static const xir_op *op_of(const finding *f, const xir_match *m, uint32_t part) {
    return f->op_row[part] == NO_ROW ? NULL : xir_match_op(m, f->op_row[part]);
}

/* The matched value of an operand, which may be an absent one. */
static xir_value *matched(const finding *f, const xir_match *m, uint32_t part, uint32_t k) {
    const compose_operand *o = &f->c->parts[part].operands[k];
    const uint8_t row = o->kind == OPERAND_VALUE ? f->row_of[o->value] : f->extra[part][k];
    return row == NO_ROW ? NULL : xir_match_value(m, row);
}

/* Notes what a part has for an attribute of the class. */
static void *learn(candidate *c, const finding *f, const xir_field *field) {
    const size_t i = (size_t)(field - f->cls->fields);
    if (i >= 256 || c->known[i / 64] >> (i % 64) & 1) return NULL;
    c->known[i / 64] |= UINT64_C(1) << (i % 64);
    return c->body + field->offset;
}

static void learn_number(candidate *c, const finding *f, const xir_field *field, double real, int64_t integer) {
    void *at = learn(c, f, field);
    if (!at) return;
    if (field->kind == XIR_KIND_REAL) *(double *)at = real;
    else if (field->kind == XIR_KIND_BOOL) *(bool *)at = integer != 0;
    else *(int64_t *)at = integer;
}

static size_t size_of_kind(xir_kind kind) {
    switch (kind) {
    case XIR_KIND_BOOL: return sizeof(bool);
    case XIR_KIND_ENUM: return sizeof(int);
    case XIR_KIND_I64: case XIR_KIND_U64: case XIR_KIND_REAL: case XIR_KIND_REF: case XIR_KIND_PARAMS: return 8;
    default: return 16;
    }
}

/* The attribute of a part, where the composition copies one or gives it as a number. */
static void learn_part(candidate *c, const finding *f, const xir_match *m, uint32_t part, const xir_op *op) {
    const compose_part *p = &f->c->parts[part];
    for (uint32_t i = 0; i < p->n_settings; i++) {
        const compose_setting *s = &p->settings[i];
        const void *has = body_at(op->attrs, s->to);
        const xir_field *of = s->kind == SETS_NUMBER && s->terms[0]->kind == COMPOSE_ATTR ? s->terms[0]->field : NULL;
        void *at = s->kind == SETS_COPY ? learn(c, f, s->from) : NULL;
        if (at) memcpy(at, has, size_of_kind(s->to->kind));
        const xir_i64s *list = s->kind == SETS_LIST && s->to->kind == XIR_KIND_I64S ? has : NULL;
        for (uint32_t k = 0; list && k < s->n && k < list->size; k++)
            if (s->terms[k]->kind == COMPOSE_ATTR)
                learn_number(c, f, s->terms[k]->field, (double)list->data[k], list->data[k]);
        if (!of) continue;
        const xir_refs *refs = s->to->kind == XIR_KIND_REFS ? has : NULL;
        const xir_object *scalar = refs ? refs->size == 1 ? refs->data[0] : NULL
                                 : s->to->kind == XIR_KIND_REF ? *(const xir_object *const *)has : NULL;
        if (scalar && xir_class_is_a(scalar->cls, f->cls->ctx->types[CLASS_scalar]))
            learn_number(c, f, of, xir_scalar_as_real((const xir_scalar *)scalar),
                         xir_scalar_as_int((const xir_scalar *)scalar));
        if (s->to->kind == XIR_KIND_REAL) learn_number(c, f, of, *(const double *)has, (int64_t)*(const double *)has);
        if (s->to->kind == XIR_KIND_I64) learn_number(c, f, of, (double)*(const int64_t *)has, *(const int64_t *)has);
    }
    for (uint32_t k = 0; k < p->n_operands; k++) {
        const compose_operand *o = &p->operands[k];
        xir_value *v = matched(f, m, part, k);
        double number;
        if (o->kind == OPERAND_PARAMS) {
            void *at = learn(c, f, o->field);
            if (at) *(xir_value **)at = v;
        }
        if (o->kind == OPERAND_NUMBER && o->number->kind == COMPOSE_ATTR && number_of_params(v, &number) &&
            number >= -9e15 && number <= 9e15)
            learn_number(c, f, o->number->field, number, (int64_t)number);
    }
}

/* The inputs of the class; false if there are too many. */
static bool learn_inputs(candidate *c, const finding *f, const xir_match *m) {
    const uint32_t n = f->c->n_inputs;
    c->n = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (f->cls->more->inputs[i].decl != XIR_DECL_VAR) {
            if (c->n == INPUTS) return false;
            c->inputs[c->n++] = f->row_of[i] == NO_ROW ? NULL : xir_match_value(m, f->row_of[i]);
            continue;
        }
        for (uint32_t part = 0; part < f->n_parts; part++) {
            const compose_part *p = &f->c->parts[part];
            const xir_op *op = op_of(f, m, part);
            if (!op || !p->n_operands || p->operands[p->n_operands - 1].kind != OPERAND_REST) continue;
            const uint32_t from = p->n_operands - 1;
            if (op->n_inputs - from > INPUTS - c->n) return false;
            for (uint32_t k = from; k < op->n_inputs; k++) c->inputs[c->n++] = op_inputs(op)[k].value;
            break;
        }
    }
    return true;
}

static xir_value *note_number(void *user, const xir_type *type, double number) {
    candidate *c = user;
    if (c->n_numbers == COMPOSE_OPERANDS) return NULL;
    c->types[c->n_numbers] = type;
    c->numbers[c->n_numbers++] = number;
    return &c->number;
}

/* Returns true if Params are the number as elements of its type. */
static bool is_number(const xir_value *v, const xir_type *type, double number) {
    uint8_t bytes[16];
    double has, wanted;
    if (!number_of_params(v, &has) || !xir_type_equal(xir_type_element(v->type), xir_type_element(type)) ||
        !elements_fill(xir_type_element(type), number, 1, bytes)) return false;
    elements_to_reals(xir_type_element(type), bytes, 0, 1, &wanted);
    return memcmp(&has, &wanted, sizeof has) == 0;
}

static void note_stored(finding *f, const xir_op *op) {
    if (f->noted) return;
    f->noted = true;
    xir_pass_diag(f->at, XIR_NOTE, op, "its result is stored as integers, but between the parts of %.*s quantised "
                  "numbers are computed as reals: such ops stay", CLIP_TO(f->cls->key, 200));
}

/* Returns true if the results have the types that they have in the composed op: quantised ones follow, or are real. */
static bool has_types(finding *f, const xir_op *op, const compose_part *p, xir_value *const *inputs) {
    const part_question q = { p->cls, op->attrs, op_target(op), inputs, op->n_inputs, p->n_results };
    const xir_type *types[INPUTS];
    size_t n = 0;
    bool same;
    if (infers_same(op, op->attrs, inputs, op->n_inputs, &same)) return !(f->no_memory = true);
    if (same || p->n_results > INPUTS) return same;
    if (compose_real_types(op->net, &q, types, &n)) return !(f->no_memory = true);
    if (!n) return false;
    for (size_t i = 0; i < n; i++) {
        const xir_type *has = op_outputs(op)[i].type;
        if (xir_type_equal(has, types[i])) continue;
        if (xir_type_is_quantized(xir_type_element(has))) note_stored(f, op);
        return false;
    }
    return true;
}

/* Returns true if an op is what the composition makes of the candidate. */
static bool is_part(candidate *c, finding *f, const xir_match *m, compose_walk *w, uint32_t part,
                    const xir_op *op) {
    const compose_part *p = &f->c->parts[part];
    c->n_numbers = 0;
    const xir_status entered = compose_enter(w, p);
    f->no_memory |= entered == XIR_E_MEMORY;
    if (entered || op->n_outputs != p->n_results || xir_op_extra(op) || op_has_normalised(op)) return false;
    if (!body_equal(p->cls, w->body, op->attrs)) return false;
    size_t n = 0;
    for (uint32_t k = 0; k < p->n_operands; k++) {
        const xir_value *v = matched(f, m, part, k);
        if (p->operands[k].kind == OPERAND_NUMBER && (!v || !is_number(v, c->types[n], c->numbers[n]))) return false;
        n += p->operands[k].kind == OPERAND_NUMBER;
        if (p->operands[k].kind == OPERAND_PARAMS && v != w->inputs[k]) return false;
        if (p->operands[k].kind == OPERAND_NONE && v) return false;
        if (p->operands[k].kind != OPERAND_REST) continue;
        /* The same values as elsewhere. */
        const size_t from = f->c->n_inputs - 1;
        if (op->n_inputs - k != c->n - from) return false;
        for (size_t i = from; i < c->n; i++)
            if (op_inputs(op)[k + i - from].value != c->inputs[i]) return false;
    }
    xir_value *own[INPUTS];
    if (op->n_inputs > INPUTS) return false;
    for (uint32_t i = 0; i < op->n_inputs; i++) own[i] = op_inputs(op)[i].value;
    return has_types(f, op, p, own);
}

static bool are_parts(candidate *c, finding *f, const xir_match *m, compose_walk *w) {
    w->constant = note_number;
    w->user = c;
    for (uint32_t i = 0; i < f->c->n_parts; i++) {
        const compose_part *p = &f->c->parts[i];
        const xir_op *op = i < f->n_parts ? op_of(f, m, i) : NULL;
        const bool left_out = compose_is_left_out(w, p);
        if (left_out != !op || (op && op_target(op) != op_target(m->root))) return false;
        if (left_out) continue;
        for (uint32_t k = 0; k < p->n_results && k < op->n_outputs; k++) w->now[p->first + k] = &op_outputs(op)[k];
        if (!is_part(c, f, m, w, i, op)) return false;
    }
    return true;
}

static bool has_required(const candidate *c, const finding *f) {
    for (uint32_t i = 0; i < f->cls->n_fields && i < 256; i++)
        if (f->cls->fields[i].flags & XIR_FIELD_REQUIRED && !(c->known[i / 64] >> (i % 64) & 1)) return false;
    return f->cls->n_fields <= 256;
}

/* Of quantised operands the parts tell the type. */
static bool reads_quantised(const candidate *c) {
    bool any = false;
    for (size_t i = 0; i < c->n; i++)
        any |= c->inputs[i] && xir_type_is_quantized(xir_type_element(c->inputs[i]->type));
    return any;
}

/* The op that the match amounts to; false if there is none. */
static bool make_candidate(finding *f, const xir_match *m, candidate *c) {
    const xir_class *cls = f->cls;
    memset(c->known, 0, sizeof c->known);
    if (cls->body_size > BODY || !learn_inputs(c, f, m)) return false;
    memcpy(c->body, cls->defaults, cls->body_size);
    for (uint32_t i = 0; i < f->n_parts; i++) {
        const xir_op *op = op_of(f, m, i);
        if (op) learn_part(c, f, m, i, op);
    }
    if (!has_required(c, f) || body_check(cls, c->body, XIR_STR(""), XIR_STR(""), NULL)) return false;
    compose_walk w;
    xir_infer q;
    object_pool *pool = &m->root->net->pool;
    bool good = compose_begin(&w, pool, cls->ctx, cls, c->body, c->inputs, c->n);
    f->no_memory |= !good;
    good = good && are_parts(c, f, m, &w);
    compose_end(&w);
    if (!good) return false;
    infer_start(&q, m->root->net, cls, c->body, op_target(m->root), c->inputs, c->n, XIR_STR(""), NULL);
    const xir_value *old = xir_match_value(m, f->n_rows - 1u);
    const xir_status status = infer_run(&q);
    f->no_memory |= status == XIR_E_MEMORY;
    c->follows = status == XIR_OK;
    c->type = old ? old->type : NULL;
    good = old && (status ? status == XIR_E_UNSUPPORTED && reads_quantised(c)
                          : q.n_out == 1 && xir_type_equal(q.out[0], old->type));
    infer_end(&q);
    return good;
}

static bool check(const xir_match *m, void *user) {
    candidate c;
    return make_candidate(user, m, &c);
}

/* ---- the pass --------------------------------------------------------------------------------------------------- */

static xir_verdict fuse(xir_rewriter *at, const xir_match *m, const void *user) {
    finding *f = (finding *)(uintptr_t)user;
    candidate c;
    (void)at;
    if (!make_candidate(f, m, &c)) return XIR_REWRITE_LEFT;
    const xir_at place = xir_match_at(m);
    xir_op *op = xir_network_add(place.net, &XIR_INIT(xir_op_desc, .cls = f->cls, .attrs = c.body, .inputs = c.inputs,
                                                      .n_inputs = c.n, .types = c.follows ? NULL : &c.type,
                                                      .n_types = c.follows ? 0 : 1, .target = place.target,
                                                      .name = place.name,
                                                      .id = XIR_NO_ID, .before = place.before));
    if (!op) return XIR_REWRITE_FAILED;
    const xir_status tried = f->target ? xir_op_try(op, f->target, NULL) : XIR_OK;
    if (tried == XIR_E_MEMORY) return net_no_memory(place.net), XIR_REWRITE_FAILED;
    if (tried) return xir_op_erase(op) ? XIR_REWRITE_FAILED : XIR_REWRITE_LEFT;
    if (f->target && xir_op_set_target(op, f->target)) return XIR_REWRITE_FAILED;
    return xir_match_replace(m, &op_outputs(op)[0]);
}

static xir_status run_one(xir_pass *at, finding *f) {
    xir_status status = make_rows(at, f);
    if (status) return status;
    const xir_pattern_decl decl = {
        .abi = XIR_ABI, .size = sizeof decl, .row_size = sizeof *f->rows, .name = f->cls->key.data, .rows = f->rows,
        .n_rows = f->n_rows, .closed = true, .check = check, .user = f,
    };
    xir_pattern *found = xir_pattern_new(xir_pass_context(at), &decl, xir_pass_diags(at));
    if (!found) return pass_status_of_latest(at, XIR_E_MEMORY);
    const xir_rule rule = { found, fuse, f };
    size_t n = 0;
    status = xir_network_rewrite(at->net, &rule, 1, sizeof rule, 0, &n, xir_pass_diags(at));
    xir_pattern_free(found);
    xir_pass_changed(at, n);
    return f->no_memory && !status ? pass_no_memory(at) : status;
}

/* The part that makes a value; the number of parts: it is an input. */
static uint32_t maker_of(const composition *c, uint32_t value) {
    uint32_t i = 0;
    while (i < c->n_parts && (value < c->parts[i].first || value >= c->parts[i].first + c->parts[i].n_results)) i++;
    return i;
}

/* With all parts first, so that what is present is found whole; then without the last ones. */
static xir_status run_all(xir_pass *at, finding *f) {
    const composition *c = f->c;
    xir_status status = XIR_OK;
    for (f->last = c->outputs[0]; !status;) {
        const uint32_t part = maker_of(c, f->last);
        if (part == c->n_parts) break;
        f->n_parts = part + 1;
        status = run_one(at, f);
        if (!c->parts[part].optional) break;
        f->last = c->parts[part].operands[0].value;
    }
    return status;
}

static xir_status run(xir_pass *at) {
    const xir_class *cls;
    const xir_allocator *alloc = &at->net->alloc;
    xir_status status = pass_composed_class(at, &cls);
    if (!status && !cls)
        return xir_pass_fail(at, XIR_E_MISSING, NULL, "option class: name the class that is looked for");
    if (status) return status;
    finding *f = mem_new(alloc, sizeof *f);
    if (!f) return pass_no_memory(at);
    *f = (finding){ .cls = cls, .c = cls->more->composed, .at = at };
    if (cls->more->n_outputs != 1) status = too_large(at, f, "it has several outputs");
    if (!status && xir_pass_text(at, "target").size) status = pass_target(at, &f->target);
    f->row_of = mem_new(alloc, f->c->n_values + 1);
    f->needed = mem_new(alloc, (f->c->n_values + 1) * sizeof *f->needed);
    if (!f->row_of || !f->needed) status = pass_no_memory(at);
    if (!status) status = run_all(at, f);
    mem_free(alloc, f->row_of, f->c->n_values + 1);
    mem_free(alloc, f->needed, (f->c->n_values + 1) * sizeof *f->needed);
    mem_free(alloc, f, sizeof *f);
    return status;
}

static const xir_pass_option options[] = {
    { "class",  XIR_PASS_TEXT, "", "the key of a composed class, \"tern::Conv\"" },
    { "target", XIR_PASS_TEXT, "", "the target of the new ops, which must run them; if not given, that of the parts" },
};

static const char *const needs[] = { "infer", NULL };
const xir_pass_decl pass_fuse_to = {
    XIR_PASS_HEAD("fuse-to", "replaces the parts of a composed class by one op of it"),
    .level = XIR_LEVEL_FAST,
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .needs = needs,
    .run = run,
};
