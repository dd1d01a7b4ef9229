/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* plan: an address for every value, so that values that live at the same time share no bytes.
 *
 *     x:@hostm = input()            x:@chunk(0@0) = input()
 *     a:@hostm = sigmoid(x)   ->    a:@chunk(0@64) = sigmoid(x)
 *     b:@hostm = sigmoid(a)         b:@chunk(0@0) = sigmoid(a)
 *
 * In a network for an accelerator these are the values that its ops read and make; the host has what only it sees.
 * Values that share bytes by the rows of their classes have one address (parts.h). No op changes, so the numbers stay
 * the same. All addresses are found before the first is set: a plan that fails changes nothing, unless memory runs
 * out. */
#include <inttypes.h>
#include <stdlib.h>
#include <xir/memory.h>
#include <xir/ops.h>
#include "number.h"
#include "tags.h"
#include "task.h"

/* ---- options ----------------------------------------------------------------------------------------------------- */

static const xir_pass_option options[] = {
    { "memory",       XIR_PASS_TEXT, "chunk", "chunk, etm: segments of external memory, ocm: and 2 MiB on the chip"    },
    { "levels",       XIR_PASS_TEXT, "",      "etm: ocm=BYTES,etm: on the chip is what is worth most"                  },
    { "chunks",       XIR_PASS_TEXT, "one",   "chunk: one for all, or views: one for values that share bytes"          },
    { "keep",         XIR_PASS_BOOL, "false", "keeps the addresses that values have"                                   },
    { "double",       XIR_PASS_TEXT, "",      "etm: the names of inputs that have a second copy: \"x,y\""              },
    { "align",        XIR_PASS_INT,  "64",    "addresses of values are multiples of this power of two"                 },
    { "base",         XIR_PASS_INT,  "4096",  "etm: the address of the first segment"                                  },
    { "params-align", XIR_PASS_INT,  "32",    "etm: addresses of Params are multiples of this power of two"            },
    { "limit",        XIR_PASS_INT,  "0",     "the greatest end of an address; 0: there is none"                       },
    { "effort",       XIR_PASS_INT,  "1",     "0, 1 or 2: how hard to try (docs/memory.md)"                            },
    { "in-place",     XIR_PASS_BOOL, "true",  "an output may be written over an input that nothing reads later"        },
    { "parts",        XIR_PASS_BOOL, "false", "what is joined or divided is in the bytes of the whole"                 },
    { "reuse",        XIR_PASS_BOOL, "true",  "values that do not live at the same time may have the same address"     },
    { "upper",        XIR_PASS_INT,  "0",     "the number that open dims count as; 0: they are an error"               },
    { "clear",        XIR_PASS_BOOL, "false", "takes all addresses away instead"                                       },
};

static xir_status read_power(xir_pass *at, const char *option, uint64_t *out) {
    const int64_t n = xir_pass_int(at, option);
    *out = (uint64_t)n;
    if (n > 0 && !(n & (n - 1))) return XIR_OK;
    return xir_pass_fail(at, XIR_E_BOUNDS, NULL, "%s: expected a power of two, found %" PRId64, option, n);
}

static xir_status read_natural(xir_pass *at, const char *option, uint64_t *out) {
    const int64_t n = xir_pass_int(at, option);
    *out = (uint64_t)n;
    return n >= 0 ? XIR_OK : xir_pass_fail(at, XIR_E_BOUNDS, NULL, "%s: %" PRId64 " is negative", option, n);
}

/* Returns true if an option has another value than its default. */
static bool is_given(const xir_pass *at, const xir_pass_option *o) {
    const xir_str usual = xir_str_of(o->default_text);
    if (o->kind == XIR_PASS_INT) return xir_pass_int(at, o->name) != strtoll(o->default_text, NULL, 10);
    if (o->kind == XIR_PASS_BOOL) return xir_pass_bool(at, o->name) != xir_str_equal(usual, XIR_STR("true"));
    return !xir_str_equal(xir_pass_text(at, o->name), usual);
}

/* Refuses an option that would have no effect. */
static xir_status check_use(xir_pass *at, const plan_options *how) {
    const bool clears = xir_pass_bool(at, "clear");
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        const xir_pass_option *o = &options[i];
        const xir_str name = xir_str_of(o->name);
        const bool of_etm = xir_str_equal(name, XIR_STR("base")) || xir_str_equal(name, XIR_STR("params-align")) ||
                            xir_str_equal(name, XIR_STR("double")) || xir_str_equal(name, XIR_STR("levels"));
        const bool of_reuse = xir_str_equal(name, XIR_STR("effort")), is_clear = xir_str_equal(name, XIR_STR("clear"));
        const bool of_chunk = xir_str_equal(name, XIR_STR("chunks"));
        const bool of_one = of_reuse || xir_str_equal(name, XIR_STR("limit")) || xir_str_equal(name, XIR_STR("reuse"));
        const char *with = clears && !is_clear         ? "clear"
                           : !how->etm && of_etm         ? "memory=chunk"
                           : how->etm && of_chunk        ? "segments"
                           : how->apart && of_one        ? "chunks=views"
                           : !how->reuse && of_reuse     ? "reuse=false" : NULL;
        if (with && is_given(at, o))
            return xir_pass_fail(at, XIR_E_INVALID, NULL, "%s: it has no effect with %s", o->name, with);
    }
    return XIR_OK;
}

/* "ocm=2M,etm" */
static xir_status read_levels(xir_pass *at, plan_options *how) {
    const xir_str text = xir_pass_text(at, "levels"), first = XIR_STR("ocm="), last = XIR_STR(",etm");
    uint64_t bytes = 0, unit = 1;
    bool ok = text.size > first.size + last.size && memcmp(text.data, first.data, first.size) == 0 &&
              memcmp(text.data + text.size - last.size, last.data, last.size) == 0;
    for (size_t i = first.size; ok && i < text.size - last.size; i++) {
        const char c = text.data[i];
        const bool ends = i > first.size && i + 1 == text.size - last.size;
        if (is_digit(c)) ok = bytes < INT64_MAX / 10 - 9 && unit == 1;
        else ok = ends && (unit = c == 'K' ? 1000 : c == 'M' ? 1000000 : c == 'G' ? 1000000000 : 0) != 0;
        if (ok && unit == 1) bytes = bytes * 10 + (uint64_t)(c - '0');
    }
    if (!text.size) return XIR_OK;
    if (!ok || !bytes || bytes > INT64_MAX / unit)
        return xir_pass_fail(at, XIR_E_BOUNDS, NULL, "levels: expected ocm=BYTES,etm, found '%.*s'", CLIP(text));
    how->onchip = bytes * unit;
    return XIR_OK;
}

static xir_status read_memory(xir_pass *at, plan_options *how) {
    const xir_str memory = xir_pass_text(at, "memory"), chunks = xir_pass_text(at, "chunks");
    const bool ocm = xir_str_equal(memory, XIR_STR("ocm"));
    how->etm = ocm || xir_str_equal(memory, XIR_STR("etm"));
    if (!how->etm && !xir_str_equal(memory, XIR_STR("chunk")))
        return xir_pass_fail(at, XIR_E_BOUNDS, NULL, "memory: expected chunk, etm or ocm, found '%.*s'", CLIP(memory));
    how->apart = xir_str_equal(chunks, XIR_STR("views"));
    if (!how->apart && !xir_str_equal(chunks, XIR_STR("one")))
        return xir_pass_fail(at, XIR_E_BOUNDS, NULL, "chunks: expected one or views, found '%.*s'", CLIP(chunks));
    if (ocm) how->onchip = 2 << 20;
    return read_levels(at, how);
}

static xir_status read_options(xir_pass *at, plan_options *how) {
    const int64_t effort = xir_pass_int(at, "effort");
    uint64_t upper;
    *how = (plan_options){ 0 };
    xir_status status = read_memory(at, how);
    if (status) return status;
    if (effort < 0 || effort > 2)
        return xir_pass_fail(at, XIR_E_BOUNDS, NULL, "effort: expected 0, 1 or 2, found %" PRId64, effort);
    status = read_power(at, "align", &how->align);
    if (!status) status = read_power(at, "params-align", &how->params_align);
    if (!status) status = read_natural(at, "base", &how->base);
    if (!status) status = read_natural(at, "limit", &how->limit);
    if (!status) status = read_natural(at, "upper", &upper);
    if (status) return status;
    if (!how->etm) how->base = 0;
    how->upper = (int64_t)upper;
    how->effort = (xir_effort)(XIR_EFFORT_SWEEP + effort);
    how->in_place = xir_pass_bool(at, "in-place");
    how->reuse = xir_pass_bool(at, "reuse");
    how->keep = xir_pass_bool(at, "keep");
    how->doubled = xir_pass_text(at, "double");
    how->parts = xir_pass_bool(at, "parts");
    return check_use(at, how);
}

/* ---- memory types ------------------------------------------------------------------------------------------------ */

static bool is_at(const xir_mtype *mtype, xir_mtype_kind kind, uint64_t chunk, uint64_t address) {
    if (xir_mtype_kind_of(mtype) != kind) return false;
    if (kind == XIR_MTYPE_CHUNK) return xir_mtype_addr(mtype) == chunk && xir_mtype_offset(mtype) == address;
    return kind == XIR_MTYPE_HOST || xir_mtype_addr(mtype) == address;
}

xir_status plan_place(xir_pass *at, xir_value *v, xir_mtype_kind kind, uint64_t chunk, uint64_t address) {
    if (is_at(xir_value_mtype(v), kind, chunk, address)) return XIR_OK;
    xir_context *ctx = at->net->ctx;
    const xir_mtype *mtype = kind == XIR_MTYPE_EXTERNAL ? xir_mtype_external(ctx, address)
                           : kind == XIR_MTYPE_ONCHIP   ? xir_mtype_onchip(ctx, address)
                           : kind == XIR_MTYPE_CHUNK    ? xir_mtype_chunk(ctx, chunk, address) : xir_mtype_host(ctx);
    if (!mtype) return pass_no_memory(at);
    xir_pass_changed(at, 1);
    return xir_value_set_mtype(v, mtype);
}

/* ---- second copies ----------------------------------------------------------------------------------------------- */

xir_status plan_double(xir_pass *at, xir_value *v, const uint64_t *address) {
    const xir_str key = XIR_STR("double_addr");
    const xir_any *old = xir_map_find(xir_value_tags(v), key);
    const xir_any now = xir_any_int(address ? (int64_t)*address : 0);
    if (address ? old && xir_any_equal(old, &now) : !old) return XIR_OK;
    xir_pass_changed(at, 1);
    return xir_value_set_tag(v, key, address ? &now : NULL) ? pass_no_memory(at) : XIR_OK;
}

/* ---- clearing ---------------------------------------------------------------------------------------------------- */

static xir_status clear_value(xir_pass *at, xir_value *v) {
    const xir_status status = plan_double(at, v, NULL);
    return status ? status : plan_place(at, v, XIR_MTYPE_HOST, 0, 0);
}

typedef struct clearing { xir_pass *at; xir_status status; } clearing;

static bool clear_op(void *user, xir_op *op) {
    clearing *c = user;
    for (uint32_t i = 0; i < op->n_outputs && !c->status; i++) c->status = clear_value(c->at, &op_outputs(op)[i]);
    for (uint32_t i = 0; i < op->n_inputs && !c->status; i++) {
        xir_value *v = op_inputs(op)[i].value;
        if (v && value_is_params(v)) c->status = plan_place(c->at, v, XIR_MTYPE_HOST, 0, 0);
    }
    return !c->status && (!xir_op_is(op, xir_call_op_class()) || op_each_child(op, clear_op, user));
}

static xir_status clear(xir_pass *at) {
    clearing c = { at, tags_clear(at) };
    for (xir_op *op = at->net->first; op && !c.status; op = op->next) (void)clear_op(&c, op);
    return c.status;
}

static xir_status run(xir_pass *at) {
    plan_options how;
    xir_status status = read_options(at, &how);
    if (!status && how.keep) status = xir_memory_check(at->net, NULL, at->why);
    if (status || xir_pass_bool(at, "clear")) return status ? status : clear(at);
    task t;   // a search takes seconds
    task_begin(&t, at->within->cancel, NULL, at->within->user);
    status = segments_plan(at, &how);
    t.final = !status;   // the values have their addresses: it is too late
    return task_end(&t, status, at->why);
}

const xir_pass_decl pass_plan = {
    XIR_PASS_HEAD("plan", "gives values addresses in a chunk or in external memory"),
    .level = XIR_LEVEL_EXACT,
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .run = run,
};
