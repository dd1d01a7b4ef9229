/* plan: an address for every value, so that values that live at the same time share no bytes.
 *
 *     x:@hostm = input()            x:@chunk(0@0) = input()
 *     a:@hostm = sigmoid(x)   ->    a:@chunk(0@64) = sigmoid(x)
 *     b:@hostm = sigmoid(a)         b:@chunk(0@0) = sigmoid(a)
 *
 * In a network for an accelerator these are the values that its ops read and make; the host has what only it sees.
 * Values that share bytes by the rows of their classes have one address (parts.h). No op changes, so the numbers stay
 * the same. All addresses are found before the first is set: a plan that fails changes nothing. */
#include <inttypes.h>
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

static bool is_power_of_two(int64_t n) { return n > 0 && !(n & (n - 1)); }

static xir_status read_options(xir_pass *at, plan_options *how) {
    const xir_str memory = xir_pass_text(at, "memory");
    const int64_t align = xir_pass_int(at, "align"), base = xir_pass_int(at, "base");
    const int64_t params_align = xir_pass_int(at, "params-align"), limit = xir_pass_int(at, "limit");
    const int64_t effort = xir_pass_int(at, "effort"), upper = xir_pass_int(at, "upper");
    how->etm = xir_str_equal(memory, XIR_STR("etm"));
    if (!how->etm && !xir_str_equal(memory, XIR_STR("chunk")))
        return xir_pass_fail(at, XIR_E_BOUNDS, NULL, "memory: expected chunk or etm, found '%.*s'", CLIP(memory));
    if (!is_power_of_two(align) || !is_power_of_two(params_align)) {
        return xir_pass_fail(at, XIR_E_BOUNDS, NULL, "align: expected a power of two, found %" PRId64,
                             is_power_of_two(align) ? params_align : align);
    }
    if (base < 0 || limit < 0 || upper < 0)
        return xir_pass_fail(at, XIR_E_BOUNDS, NULL, "base, limit and upper are not negative");
    if (effort < 0 || effort > 2)
        return xir_pass_fail(at, XIR_E_BOUNDS, NULL, "effort: expected 0, 1 or 2, found %" PRId64, effort);
    how->align = (uint64_t)align;
    how->params_align = (uint64_t)params_align;
    how->base = how->etm ? (uint64_t)base : 0;
    how->limit = (uint64_t)limit;
    how->upper = upper;
    how->effort = (xir_effort)(XIR_EFFORT_SWEEP + effort);
    how->in_place = xir_pass_bool(at, "in-place");
    how->reuse = xir_pass_bool(at, "reuse");
    return XIR_OK;
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
    if (xir_pass_bool(at, "clear")) return clear(at);
    xir_status status = read_options(at, &how);
    return status ? status : segments_plan(at, &how);
}

const xir_pass_decl pass_plan = {
    XIR_PASS_HEAD("plan", "gives values addresses in a chunk or in external memory"),
    .level = XIR_LEVEL_EXACT,
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .run = run,
};
