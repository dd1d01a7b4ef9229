/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The costs of ops. Multiply-adds and element operations are those of work.c, where the class says them; bytes and
 * parameters follow from the types. */
#include <stdio.h>
#include <xir/cost.h>
#include "graph.h"
#include "sized.h"

static const xir_cost nothing_known = {
    .size = sizeof(xir_cost), .multiply_adds = XIR_COST_UNKNOWN, .element_ops = XIR_COST_UNKNOWN,
    .bytes_read = XIR_COST_UNKNOWN, .bytes_written = XIR_COST_UNKNOWN, .parameters = XIR_COST_UNKNOWN,
    .parameter_bytes = XIR_COST_UNKNOWN,
};
#define COST SIZED(xir_cost, parameter_bytes)

/* A figure is at most INT64_MAX. */
static uint64_t figure(uint64_t n) { return n > INT64_MAX ? XIR_COST_UNKNOWN : n; }

static uint64_t bytes_of(const xir_type *type) {
    uint64_t bytes;
    return type && xir_type_bytes(type, &bytes) == XIR_OK ? figure(bytes) : XIR_COST_UNKNOWN;
}

static uint64_t elements_of(const xir_type *type) {
    int64_t n;
    return type && xir_type_elements(type, &n) == XIR_OK ? (uint64_t)n : XIR_COST_UNKNOWN;
}

/* ---- asking for costs, of one op or of many ---------------------------------------------------------------------- */

enum { FEW = 16 };

/* The Params that have been counted: a bit for each of the network, or the first few of a single op. */
typedef struct counted {
    uint64_t        *bits;          /* NULL: the few */
    const xir_value *few[FEW];
    size_t           n;
} counted;

typedef struct asking {
    const xir_network *net;
    object_pool        pool;
    xir_diags         *why;
    counted            seen;
    size_t             place;     /* of the op; SIZE_MAX: not known yet */
    bool               no_memory;
} asking;

static xir_status refuse_op(asking *a, const xir_op *op, xir_status code, const char *format, ...) XIR_PRINTF(4, 5);
static xir_status refuse_op(asking *a, const xir_op *op, xir_status code, const char *format, ...) {
    char path[40] = "", sentence[SENTENCE_ROOM];
    if (!a->why) return code;
    va_list list;
    va_start(list, format);
    text_vprint(sentence, sizeof sentence, format, list);
    va_end(list);
    long long place = a->place != SIZE_MAX ? (long long)a->place
        : op_is_in(op) ? (long long)xir_network_index_of(op->net, op) : -1;
    if (place >= 0) snprintf(path, sizeof path, "/ops/%lld", place);
    return diag_fail(a->why, code, xir_str_of(path), "%.*s: %s", CLIP_TO(op->cls->key, 200), sentence);
}

/* ---- parameters -------------------------------------------------------------------------------------------------- */

typedef struct counting {
    asking   *a;
    xir_cost *out;
    uint64_t  attr_bytes;
} counting;

static size_t bits_size(const xir_network *net) { return ((size_t)net->n_params / 64 + 1) * sizeof(uint64_t); }

static bool make_bits(asking *a) {
    a->seen.bits = mem_new(&a->net->alloc, bits_size(a->net));
    if (a->seen.bits) memset(a->seen.bits, 0, bits_size(a->net));
    return a->seen.bits;
}

static bool set_bit(counted *seen, const xir_value *v) {
    const uint32_t n = value_params(v)->number;
    if (seen->bits[n / 64] >> (n % 64) & 1) return false;
    seen->bits[n / 64] |= (uint64_t)1 << (n % 64);
    return true;
}

static bool first_time(asking *a, const xir_value *v) {
    counted *seen = &a->seen;
    for (size_t i = 0; !seen->bits && i < seen->n; i++) {
        if (seen->few[i] == v) return false;
    }
    if (!seen->bits && seen->n < FEW) {
        seen->few[seen->n++] = v;
        return true;
    }
    if (!seen->bits) {
        if (!make_bits(a)) {
            a->no_memory = true;
            return false;
        }
        for (size_t i = 0; i < seen->n; i++) set_bit(seen, seen->few[i]);
    }
    return set_bit(seen, v);
}

static void count_params(counting *c, const xir_value *v, uint64_t bytes) {
    if (!first_time(c->a, v)) return;
    c->out->parameters = xir_cost_add(c->out->parameters, elements_of(v->type));
    c->out->parameter_bytes = xir_cost_add(c->out->parameter_bytes, bytes);
}

static bool count_attr(void *user, xir_value *v) {
    counting *c = user;
    if (!value_is_params(v)) return true;
    const uint64_t bytes = bytes_of(v->type);
    c->attr_bytes = xir_cost_add(c->attr_bytes, bytes);
    count_params(c, v, bytes);
    return true;
}

/* ---- one op ------------------------------------------------------------------------------------------------------ */

/* Checks the answer of the class: a plug-in may have counted wrongly. */
static xir_status check_answer(asking *a, const xir_op *op, const infer_work_seen *said, xir_status status) {
    if (status) return refuse_op(a, op, status, "its WORK function fails (%s)", xir_status_name(status));
    if (!said->said) return refuse_op(a, op, XIR_E_INVALID, "its WORK function gives no result");
    const uint64_t given[2] = { said->multiply_adds, said->element_ops };
    for (int i = 0; i < 2; i++) {
        if (given[i] <= INT64_MAX || given[i] == UINT64_MAX) continue;
        return refuse_op(a, op, XIR_E_INVALID, "its WORK function gives %lld %s", (long long)given[i],
                      i ? "element operations" : "multiply-adds");
    }
    if (said->wrong)
        return refuse_op(a, op, XIR_E_INVALID,
                         "its WORK function reads more of input %u than there is, or says it twice", said->wrong - 1);
    return XIR_OK;
}

/* Asks the WORK function. Without one, or if it does not know, `out` stays as it is. */
static xir_status ask_class(asking *a, const xir_op *op, xir_cost *out, infer_work_seen *said) {
    xir_infer_fn *work = op->cls->more->work;
    xir_infer at;
    if (!work) {
        said->unsaid = true;
        return XIR_OK;
    }
    infer_start(&at, op->net, op->cls, op->attrs, op_target(op), NULL, op->n_inputs, name_text(op_label(op)), NULL);
    at.pool = &a->pool;
    at.op = op;
    at.work = (infer_work_seen){ 0 };
    xir_status status = XIR_OK;
    for (uint32_t i = 0; i < op->n_outputs && !status; i++) status = infer_see_output(&at, op_outputs(op)[i].type);
    if (!status) status = work(&at);
    infer_end(&at);
    *said = at.work;
    if (status == XIR_E_MEMORY) return diag_memory(a->why);
    if (said->unsaid && (!status || status == XIR_E_UNSUPPORTED)) return XIR_OK;
    if (status == XIR_E_BOUNDS || (!status && said->open)) {
        if (said->no_products) out->multiply_adds = 0;
        return XIR_OK;
    }
    status = check_answer(a, op, said, status);
    if (status) return status;
    out->multiply_adds = figure(said->multiply_adds);
    out->element_ops = figure(said->element_ops);
    return XIR_OK;
}

/* Bytes and Params of the inputs and attributes. */
static void count_reading(asking *a, const xir_op *op, const infer_work_seen *said, xir_cost *out) {
    counting c = { .a = a, .out = out };
    uint64_t read = said->part_open ? XIR_COST_UNKNOWN : figure(said->part_bytes);
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const xir_value *v = op_inputs(op)[i].value;
        if (!v) continue;
        const uint64_t bytes = bytes_of(v->type);
        if (i >= 64 || !(said->parts >> i & 1)) read = xir_cost_add(read, bytes);
        if (value_is_params(v)) count_params(&c, v, bytes);
    }
    if (!op->cls->plain || xir_op_extra(op)) op_walk_attr_params(op, count_attr, &c);
    if (!said->unsaid) out->bytes_read = xir_cost_add(read, c.attr_bytes);
}

/* On failure `out` says that nothing is known. */
static xir_status ask(asking *a, const xir_op *op, xir_cost *out) {
    infer_work_seen said = { 0 };
    *out = nothing_known;
    if (op->flags & OP_DRAFT) return refuse_op(a, op, XIR_E_MISSING, "the op is a draft: complete it first");
    const bool port = op->cls == op->net->ctx->input_class || op->cls == op->net->ctx->output_class;
    xir_status status = port ? XIR_OK : ask_class(a, op, out, &said);
    if (status) {
        *out = nothing_known;
        return status;
    }
    out->parameters = out->parameter_bytes = out->bytes_written = 0;
    for (uint32_t i = 0; i < op->n_outputs && !port; i++)
        out->bytes_written = xir_cost_add(out->bytes_written, bytes_of(op_outputs(op)[i].type));
    count_reading(a, op, &said, out);
    if (port) out->multiply_adds = out->element_ops = out->bytes_read = 0;
    if (!a->no_memory) return XIR_OK;
    *out = nothing_known;
    return diag_memory(a->why);
}

static void begin(asking *a, const xir_network *net, xir_diags *why) {
    *a = (asking){ .net = net, .why = why, .place = SIZE_MAX };
    pool_init_reader(&a->pool, &net->pool);
}

static void end(asking *a) {
    pool_free(&a->pool);
    if (a->seen.bits) mem_free(&a->net->alloc, a->seen.bits, bits_size(a->net));
}

/* ---- the calls --------------------------------------------------------------------------------------------------- */

xir_status xir_op_cost(const xir_op *op, xir_cost *out, xir_diags *why) {
    asking a;
    xir_cost cost = nothing_known;
    xir_status status = sized_fill(COST, out, &cost, why);
    if (status) return status;
    if (!op) return diag_null(why, "op");
    begin(&a, op->net, why);
    status = ask(&a, op, &cost);
    end(&a);
    xir_status filled = sized_fill(COST, out, &cost, why);
    return status ? status : filled;
}

xir_status xir_network_costs(const xir_network *net, xir_cost_fn *each, void *user, xir_diags *why) {
    asking a;
    xir_status first = XIR_OK;
    if (!net) return diag_null(why, "net");
    if (!each) return diag_null(why, "each");
    begin(&a, net, why);
    if (!make_bits(&a)) first = diag_memory(why);
    a.place = 0;
    for (const xir_op *op = first ? NULL : net->first; op; op = op->next, a.place++) {
        xir_cost cost;
        const xir_status status = ask(&a, op, &cost);
        if (status && !first) first = status;
        if (status == XIR_E_MEMORY || !each(user, op, &cost)) break;
    }
    end(&a);
    return first;
}

typedef struct sums { xir_cost known, unknown; } sums;

static void add_figure(uint64_t *known, uint64_t *unknown, uint64_t n) {
    if (n == XIR_COST_UNKNOWN) ++*unknown;
    else *known = xir_cost_add(*known, n);
}

static bool add_cost(void *user, const xir_op *op, const xir_cost *cost) {
    sums *s = user;
    (void)op;
#define ADD(name) add_figure(&s->known.name, &s->unknown.name, cost->name)
    ADD(multiply_adds);
    ADD(element_ops);
    ADD(bytes_read);
    ADD(bytes_written);
    ADD(parameters);
    ADD(parameter_bytes);
#undef ADD
    return true;
}

xir_status xir_network_cost(const xir_network *net, xir_cost *known, xir_cost *unknown, xir_diags *why) {
    sums s = { XIR_INIT(xir_cost), XIR_INIT(xir_cost) };
    xir_status status = known ? sized_fill(COST, known, &nothing_known, why) : XIR_OK;
    if (!status && unknown) status = sized_fill(COST, unknown, &nothing_known, why);
    if (!status) status = xir_network_costs(net, add_cost, &s, why);
    if (!net || status == XIR_E_MEMORY || status == XIR_E_ABI) return status;
    if (known) sized_fill(COST, known, &s.known, NULL);
    if (unknown) sized_fill(COST, unknown, &s.unknown, NULL);
    return status;
}
