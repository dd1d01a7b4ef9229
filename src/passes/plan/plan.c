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
#include "tags.h"

/* ---- options ----------------------------------------------------------------------------------------------------- */

static const xir_pass_option options[] = {
    { "memory",       XIR_PASS_TEXT, "chunk", "chunk: offsets in one chunk, etm: segments of external memory"          },
    { "align",        XIR_PASS_INT,  "64",    "addresses of values are multiples of this power of two"                 },
    { "base",         XIR_PASS_INT,  "4096",  "etm: the address of the first segment"                                  },
    { "params-align", XIR_PASS_INT,  "32",    "etm: addresses of Params are multiples of this power of two"            },
    { "limit",        XIR_PASS_INT,  "0",     "the greatest end of an address; 0: there is none"                       },
    { "effort",       XIR_PASS_INT,  "1",     "0, 1 or 2: how hard to try (docs/memory.md)"                            },
    { "in-place",     XIR_PASS_BOOL, "true",  "an output may be written over an input that nothing reads later"        },
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

/* Whether an option has another value than its default. */
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
        const bool of_etm = xir_str_equal(name, XIR_STR("base")) || xir_str_equal(name, XIR_STR("params-align"));
        const bool of_reuse = xir_str_equal(name, XIR_STR("effort")), is_clear = xir_str_equal(name, XIR_STR("clear"));
        const char *with = clears && !is_clear         ? "clear"
                           : !how->etm && of_etm         ? "memory=chunk"
                           : !how->reuse && of_reuse     ? "reuse=false" : NULL;
        if (with && is_given(at, o))
            return xir_pass_fail(at, XIR_E_INVALID, NULL, "%s: it has no effect with %s", o->name, with);
    }
    return XIR_OK;
}

static xir_status read_options(xir_pass *at, plan_options *how) {
    const xir_str memory = xir_pass_text(at, "memory");
    const int64_t effort = xir_pass_int(at, "effort");
    uint64_t upper;
    how->etm = xir_str_equal(memory, XIR_STR("etm"));
    if (!how->etm && !xir_str_equal(memory, XIR_STR("chunk")))
        return xir_pass_fail(at, XIR_E_BOUNDS, NULL, "memory: expected chunk or etm, found '%.*s'", CLIP(memory));
    if (effort < 0 || effort > 2)
        return xir_pass_fail(at, XIR_E_BOUNDS, NULL, "effort: expected 0, 1 or 2, found %" PRId64, effort);
    xir_status status = read_power(at, "align", &how->align);
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
    return check_use(at, how);
}

/* ---- memory types ------------------------------------------------------------------------------------------------ */

static bool is_at(const xir_mtype *mtype, xir_mtype_kind kind, uint64_t address) {
    if (xir_mtype_kind_of(mtype) != kind) return false;
    if (kind == XIR_MTYPE_CHUNK) return !xir_mtype_addr(mtype) && xir_mtype_offset(mtype) == address;
    return kind == XIR_MTYPE_HOST || xir_mtype_addr(mtype) == address;
}

xir_status plan_place(xir_pass *at, xir_value *v, xir_mtype_kind kind, uint64_t address) {
    if (is_at(xir_value_mtype(v), kind, address)) return XIR_OK;
    xir_context *ctx = at->net->ctx;
    const xir_mtype *mtype = kind == XIR_MTYPE_EXTERNAL ? xir_mtype_external(ctx, address)
                           : kind == XIR_MTYPE_CHUNK ? xir_mtype_chunk(ctx, 0, address) : xir_mtype_host(ctx);
    if (!mtype) return pass_no_memory(at);
    xir_pass_changed(at, 1);
    return xir_value_set_mtype(v, mtype);
}

/* ---- clearing ---------------------------------------------------------------------------------------------------- */

static xir_status clear(xir_pass *at) {
    xir_network *net = at->net;
    xir_status status = tags_clear(at);
    for (xir_op *op = net->first; op && !status; op = op->next) {
        for (uint32_t i = 0; i < op->n_outputs && !status; i++)
            status = plan_place(at, &op_outputs(op)[i], XIR_MTYPE_HOST, 0);
        for (uint32_t i = 0; i < op->n_inputs && !status; i++) {
            xir_value *v = op_inputs(op)[i].value;
            if (v && value_is_params(v)) status = plan_place(at, v, XIR_MTYPE_HOST, 0);
        }
    }
    return status;
}

static xir_status run(xir_pass *at) {
    plan_options how;
    const xir_status status = read_options(at, &how);
    return status ? status : xir_pass_bool(at, "clear") ? clear(at) : segments_plan(at, &how);
}

const xir_pass_decl pass_plan = {
    XIR_PASS_HEAD("plan", "gives values addresses in a chunk or in external memory"),
    .level = XIR_LEVEL_EXACT,
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .run = run,
};
