/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* quantize: values become integers with scales, as a scheme has them (scheme.h).
 *
 *     x:fp32 = input()                       x:fp32 = input()
 *     y:fp32 = conv2d(x, w, b)        ->     q:uint8 = quantize(x)
 *     z:fp32 = conv2d(y, v, c)               y:fp32 = conv2d(q, w:sint8, b:sint32)
 *     output(z)                              r:uint8 = quantize(y)
 *                                            z:fp32 = conv2d(r, v:sint8, c:sint32)
 *                                            output(z)
 *
 * Ops are visited in order, so the inputs of an op are as they will be. An op is one of three kinds. A product takes
 * integers. An op that moves elements gives its input's type. Any other op takes floats, which a Cast makes; where the
 * scheme has no pairs, it takes what is stored if its class does. */
#include <stdio.h>
#include <xir/ops.h>
#include "quantize.h"
#include "rule.h"
#include "support/upkeep.h"

static const xir_pass_option options[] = {
    { "scheme",   XIR_PASS_TEXT, "onnx",    "onnx, zhuge, buyi, or one of a plug-in"                          },
    { "type",     XIR_PASS_TEXT, "int",     "int, or floats without a calibration: bf16, fp16, tf32"          },
    RANGE_OPTIONS,
    { "bits",     XIR_PASS_INT,  "0",       "of maps: 8, or 16 where the scheme has them; 0: the fewest"      },
    { "maps",     XIR_PASS_TEXT, "",        "onnx: uint, with zero points, or sint"                           },
    { "per",      XIR_PASS_TEXT, "channel", "what has a scale in weights: channel or tensor"                  },
    { "ratios",   XIR_PASS_TEXT, "tensor",  "what has a ratio in normalised maps: tensor or channel"          },
    { "precision", XIR_PASS_TEXT, "",       "a CSV of ops with other bits: op,type,bits,per,saturation, or its text" },
    { "pow2",     XIR_PASS_BOOL, "false",   "scales are powers of two"                                        },
    { "scope",    XIR_PASS_TEXT, "all",     "all values, or products: what convolutions and products read"    },
    { "keep",     XIR_PASS_TEXT, "",        "names of ops that stay in floats: \"conv1;head/fc\""             },
    { "outputs",  XIR_PASS_TEXT, "float",   "float: what the network returns is not stored; same: as other values" },
    { "strict",   XIR_PASS_BOOL, "false",   "an op that would stay in floats is an error"                     },
};

/* ---- options ----------------------------------------------------------------------------------------------------- */

xir_status read_choice(xir_pass *at, const char *option, const char *first, const char *second,
                              bool *is_second) {
    const xir_str word = xir_pass_text(at, option);
    *is_second = xir_str_equal(word, xir_str_of(second));
    if (*is_second || xir_str_equal(word, xir_str_of(first))) return XIR_OK;
    return xir_pass_fail(at, XIR_E_UNKNOWN, NULL, "%s: expected %s or %s, found '" XIR_PRI "'", option, first, second,
                         XIR_ARG(word));
}

static xir_status read_scheme(quantizing *q) {
    const xir_str name = xir_pass_text(q->at, "scheme");
    char names[160];
    if (scheme_find(q->net->ctx, name, &q->scheme)) return XIR_OK;
    scheme_names(q->net->ctx, names, sizeof names);
    return xir_pass_fail(q->at, XIR_E_UNKNOWN, NULL, "there is no scheme '" XIR_PRI "': expected %s", XIR_ARG(name),
                         names);
}

static xir_status read_maps(quantizing *q) {
    const xir_str word = xir_pass_text(q->at, "maps");
    const bool has = q->scheme.zero_points;
    q->symmetric = !has || xir_str_equal(word, XIR_STR("sint"));
    if (!word.size || xir_str_equal(word, XIR_STR("sint")) || (has && xir_str_equal(word, XIR_STR("uint"))))
        return XIR_OK;
    return xir_pass_fail(q->at, XIR_E_UNKNOWN, NULL, "maps of the scheme %s are %s, found '" XIR_PRI "'",
                         q->scheme.name, has ? "uint or sint" : "sint", XIR_ARG(word));
}

static xir_status read_bits(quantizing *q) {
    const int64_t bits = xir_pass_int(q->at, "bits");
    char wide[24] = "";
    q->bits = bits ? (uint32_t)bits : q->scheme.map_bits;
    if (bits == 0 || bits == q->scheme.map_bits || (bits == q->scheme.wide_bits && q->scheme.wide_bits)) return XIR_OK;
    if (q->scheme.wide_bits) snprintf(wide, sizeof wide, " or %u", q->scheme.wide_bits);
    return xir_pass_fail(q->at, XIR_E_BOUNDS, NULL, "maps of the scheme %s have %u%s bits, found %lld", q->scheme.name,
                         q->scheme.map_bits, wide, (long long)bits);
}

static xir_status read_options(quantizing *q) {
    xir_pass *at = q->at;
    bool per_tensor = false;
    xir_status status = read_scheme(q);
    if (!status) status = read_maps(q);
    if (!status) status = read_choice(at, "per", "channel", "tensor", &per_tensor);
    if (!status) status = read_choice(at, "scope", "all", "products", &q->products);
    if (!status) status = read_choice(at, "outputs", "float", "same", &q->outputs_stay);
    if (status) return status;
    status = read_bits(q);
    if (status) return status;
    if (q->products && q->scheme.normalised)
        return xir_pass_fail(at, XIR_E_UNSUPPORTED, NULL, "scope: the scheme %s stores all values", q->scheme.name);
    bool channels = false;
    status = read_choice(at, "ratios", "tensor", "channel", &channels);
    if (status) return status;
    if (channels && !q->scheme.normalised)
        return xir_pass_fail(at, XIR_E_UNSUPPORTED, NULL, "ratios: the scheme %s has none", q->scheme.name);
    q->even_maps = !channels;
    q->ranges.channels = channels;
    q->per_channel = !per_tensor && !q->scheme.per_tensor;
    q->pow2 = q->scheme.pow2 || xir_pass_bool(at, "pow2");
    q->strict = xir_pass_bool(at, "strict");
    q->keep = xir_pass_text(at, "keep");
    return XIR_OK;
}

/* Returns true if an op is named in `keep`, or is to compute with floats. */
static bool is_kept(const quantizing *q, const xir_op *op) {
    const xir_str name = xir_op_name(op);
    const op_precision *said = precision_of(&q->precision, op);
    if (said && said->floats) return true;
    for (size_t from = 0, i = 0; i <= q->keep.size && q->keep.size && name.size; i++) {
        if (i < q->keep.size && q->keep.data[i] != ';') continue;
        if (xir_str_equal(name, (xir_str){ q->keep.data + from, i - from })) return true;
        from = i + 1;
    }
    return false;
}

xir_status check_kept(quantizing *q) {
    for (size_t from = 0, i = 0; i <= q->keep.size && q->keep.size; i++) {
        if (i < q->keep.size && q->keep.data[i] != ';') continue;
        const xir_str name = { q->keep.data + from, i - from };
        if (!xir_network_op_by_name(q->net, name))
            return xir_pass_fail(q->at, XIR_E_UNKNOWN, NULL, "keep: no op is called '" XIR_PRI "'", XIR_ARG(name));
        from = i + 1;
    }
    return XIR_OK;
}

static void set_role(quantizing *q, const xir_op *op, op_role role) {
    if (op->slot < q->n_roles) q->roles[op->slot] = (uint8_t)role;
}

/* ---- kinds of ops ------------------------------------------------------------------------------------------------ */

static xir_status make_outputs_float(const quantizing *q, xir_op *op) {
    xir_status status = XIR_OK;
    for (uint32_t i = 0; i < op->n_outputs && !status; i++) {
        xir_value *value = &op_outputs(op)[i];
        if (!is_stored(value)) continue;
        const xir_type *type = xir_type_with_element(q->net->ctx, value->type, xir_type_expressed(value->type),
                                                     q->at->why);
        status = type ? xir_value_set_type(value, type) : XIR_E_MEMORY;
    }
    return status;
}

/* Returns true if a type has the ratio that all maps have so far. */
static bool has_probe(const xir_type *type) {
    const xir_norm_ratios *ratios = xir_type_norm_ratios(type);
    return ratios && xir_norm_ratios_count(ratios) && xir_norm_ratios_at(ratios, 0) == PROBE;
}

/* Sets the types of the outputs if inference gives all of them the elements of the first input. */
static xir_status pass_types_on(quantizing *q, xir_op *op, bool *done) {
    xir_infer at;
    const xir_value *in = xir_op_input(op, 0);
    *done = false;
    if (!is_stored(in)) return XIR_OK;
    for (uint32_t i = 1; i < op->n_inputs; i++) {
        const xir_value *v = op_inputs(op)[i].value;
        if (is_stored(v) && !xir_type_equal(xir_type_element(v->type), xir_type_element(in->type)) &&
            !(q->scheme.normalised && xir_type_equal(xir_type_storage(v->type), xir_type_storage(in->type))))
            return XIR_OK;
    }
    infer_start(&at, op->net, op->cls, op->attrs, op_target(op), NULL, 0, xir_op_name(op), NULL);
    at.op = op;
    at.n_inputs = op->n_inputs;
    xir_status status = infer_run(&at);
    bool same = !status && at.n_out == op->n_outputs;
    for (size_t i = 0; same && i < at.n_out; i++)
        same = q->scheme.normalised ? has_probe(at.out[i])
                                     : xir_type_equal(xir_type_element(at.out[i]), xir_type_element(in->type));
    for (size_t i = 0; same && i < at.n_out && status != XIR_E_MEMORY; i++)
        status = xir_value_set_type(&op_outputs(op)[i], at.out[i]);
    infer_end(&at);
    *done = same && !status;
    if (status == XIR_E_MEMORY) return status;
    if (*done && q->scheme.normalised) {
        status = normalise_takes(q, op, done);
        if (!status && !*done) status = make_outputs_float(q, op);
    }
    if (*done) set_role(q, op, ROLE_CARRIES);
    return status == XIR_E_MEMORY ? status : XIR_OK;
}

/* ---- one op ------------------------------------------------------------------------------------------------------ */

static uint32_t bits_of(const quantizing *q, const xir_op *op) {
    const op_precision *said = precision_of(&q->precision, op);
    return said && said->bits ? said->bits : q->bits;
}

static xir_status store_outputs(quantizing *q, xir_op *op, xir_op *next) {
    xir_status status = XIR_OK;
    const value_range *after;
    for (uint32_t i = 0; i < op->n_outputs && !status; i++) {
        xir_value *value = &op_outputs(op)[i];
        const value_range *range = stored_range(q, value);
        if (!range || is_before_clip(q, value, &after)) continue;
        const xir_type *element = map_element(q, value->type, range, bits_of(q, op));
        status = element ? store_value(q, value, element, next) : XIR_E_MEMORY;
    }
    return status;
}

/* Gives the outputs stored types themselves; false in *done if one has no range, or the op does not take it. */
static xir_status store_in_place(quantizing *q, xir_op *op, bool *done) {
    xir_status status = XIR_OK;
    *done = true;
    for (uint32_t i = 0; i < op->n_outputs && *done; i++) {
        const xir_value *value = &op_outputs(op)[i];
        const bool result = !q->outputs_stay && is_result(q, value);
        *done = !is_float(value) || !value->uses || result || stored_range(q, value);
    }
    if (!*done) return XIR_OK;
    for (uint32_t i = 0; i < op->n_outputs && !status; i++) {
        xir_value *value = &op_outputs(op)[i];
        const value_range *range = stored_range(q, value), *after;
        if (!range) continue;
        if (is_before_clip(q, value, &after) && after) range = after;
        const xir_type *element = map_element(q, value->type, range, bits_of(q, op));
        const xir_type *type = element ? xir_type_with_element(q->net->ctx, value->type, element, q->at->why) : NULL;
        status = type ? xir_value_set_type(value, type) : XIR_E_MEMORY;
    }
    if (status) return status;
    if (q->scheme.normalised) {
        status = normalise_takes(q, op, done);
    } else {
        status = xir_op_validate(op, NULL);
        *done = !status;
    }
    if (status == XIR_E_MEMORY) return status;
    if (*done) set_role(q, op, ROLE_COMPUTES);
    return *done ? XIR_OK : make_outputs_float(q, op);
}

static bool reads_stored(const xir_op *op) {
    for (uint32_t i = 0; i < op->n_inputs; i++)
        if (is_stored(op_inputs(op)[i].value)) return true;
    return false;
}

/* An op that the scheme does not compute on stored numbers. */
static xir_status leave_op(quantizing *q, xir_op *op, xir_op *next, bool kept) {
    if (!kept && q->strict)
        return xir_pass_fail(q->at, XIR_E_UNSUPPORTED, op, "the scheme %s does not compute the op on stored numbers",
                             q->scheme.name);
    if (reads_stored(op) && !q->left++) q->first_left = op;
    xir_status status = read_floats(q, op);
    return status || kept ? status : store_outputs(q, op, next);
}

static xir_status quantize_product(quantizing *q, xir_op *op, xir_op *next) {
    bool done = false;
    xir_status status = q->scheme.normalised ? XIR_OK : quantize_constants(q, op);
    if (status || q->products) return status;
    if (!q->scheme.pairs) status = store_in_place(q, op, &done);
    if (status || done) return status;
    return q->scheme.normalised ? leave_op(q, op, next, false) : store_outputs(q, op, next);
}

static xir_status quantize_op(quantizing *q, xir_op *op, xir_op *next) {
    bool done = false;
    xir_status status = XIR_OK;
    if (is_kept(q, op)) return leave_op(q, op, next, true);
    if (is_product(op) && product_fits(op)) return quantize_product(q, op, next);
    if (q->products) return read_floats(q, op);
    if (!q->scheme.pairs || is_move(op)) status = pass_types_on(q, op, &done);
    if (status || done) return status;
    if (!q->scheme.pairs && reads_stored(op)) status = store_in_place(q, op, &done);
    return status || done ? status : leave_op(q, op, next, false);
}

/* ---- the network ------------------------------------------------------------------------------------------------- */

/* Only products read what is stored, so each value that one reads is stored where it is made. */
static bool is_read_by_product(const xir_value *value) {
    for (const xir_use *u = value->uses; u; u = xir_use_next(u))
        if (is_product(xir_use_op(u))) return true;
    return false;
}

static xir_status store_for_products(quantizing *q, xir_op *op, xir_op *next) {
    xir_status status = XIR_OK;
    for (uint32_t i = 0; i < op->n_outputs && !status; i++) {
        xir_value *value = &op_outputs(op)[i];
        const value_range *range = stored_range(q, value);
        if (!range || !is_read_by_product(value)) continue;
        const xir_type *element = map_element(q, value->type, range, bits_of(q, op));
        status = element ? store_value(q, value, element, next) : XIR_E_MEMORY;
    }
    return status;
}

static xir_status visit(quantizing *q, xir_op *op, xir_op *next) {
    const bool source = op == xir_network_input_op(q->net);
    if (op == xir_network_output_op(q->net)) return q->outputs_stay ? XIR_OK : read_floats(q, op);
    xir_status status = source ? XIR_OK : quantize_op(q, op, next);
    if (status) return status;
    if (q->products) return store_for_products(q, op, next);
    return source && !is_kept(q, op) ? store_outputs(q, op, next) : XIR_OK;
}

/* The floats of the option `type`; NULL: integers. */
static xir_status read_type(quantizing *q, const xir_type **out) {
    static const struct { const char *word; xir_float_format format; } rows[] = {
        { "bf16", XIR_FLOAT_BF16 }, { "fp16", XIR_FLOAT_FP16 }, { "tf32", XIR_FLOAT_TF32 },
    };
    const xir_str word = xir_pass_text(q->at, "type");
    *out = NULL;
    if (xir_str_equal(word, XIR_STR("int"))) return XIR_OK;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!xir_str_equal(word, xir_str_of(rows[i].word))) continue;
        *out = xir_type_float(q->net->ctx, rows[i].format);
        return *out ? XIR_OK : XIR_E_MEMORY;
    }
    return xir_pass_fail(q->at, XIR_E_UNKNOWN, NULL, "type: expected int, bf16, fp16 or tf32, found '" XIR_PRI "'",
                         XIR_ARG(word));
}

/* Refuses options that mean nothing for floats of another type. */
static xir_status check_floats(const quantizing *q) {
    xir_pass *at = q->at;
    const char *option = xir_pass_int(at, "bits") ? "bits" : xir_pass_text(at, "maps").size ? "maps"
                       : xir_pass_bool(at, "pow2") ? "pow2" : NULL;
    if (q->keep.size || xir_pass_text(at, "precision").size)
        return xir_pass_fail(at, XIR_E_UNSUPPORTED, NULL, "keep, precision: floats of another type are those of all "
                             "ops");
    return !option ? XIR_OK : xir_pass_fail(at, XIR_E_UNSUPPORTED, NULL, "%s: this is about integers, and type names "
                                            "floats", option);
}

/* Calibrated types have given their ranges, and are floats again. */
static xir_status make_floats(quantizing *q) {
    xir_status status = XIR_OK;
    for (xir_op *op = q->net->first; op && !status; op = op->next) {
        for (uint32_t i = 0; i < op->n_outputs && !status; i++) {
            xir_value *value = &op_outputs(op)[i];
            const xir_type *element = xir_type_element(value->type);
            const xir_type_kind kind = element ? xir_type_kind_of(element) : XIR_TYPE_OTHER;
            if (kind != XIR_TYPE_CALIBRATED) continue;
            const xir_type *type = xir_type_with_element(q->net->ctx, value->type, xir_type_expressed(element),
                                                         q->at->why);
            status = type ? xir_value_set_type(value, type) : XIR_E_MEMORY;
            xir_pass_changed(q->at, 1);
        }
    }
    return status;
}

const xir_op *find_stored(const xir_network *net, bool *again) {
    const xir_op *found = NULL;
    *again = true;
    for (const xir_op *op = net->first; op; op = op->next)
        for (uint32_t i = 0; i < op->n_outputs; i++) {
            const xir_type *element = xir_type_element(op_outputs(op)[i].type);
            const xir_type_kind kind = element ? xir_type_kind_of(element) : XIR_TYPE_OTHER;
            if (kind < XIR_TYPE_NORMALIZED || kind > XIR_TYPE_NORMALIZED_QUANTIZED) continue;
            *again &= kind == XIR_TYPE_NORMALIZED;
            if (!found) found = op;
        }
    return found;
}

static xir_status walk(quantizing *q) {
    xir_status status = XIR_OK;
    for (xir_op *op = q->net->first, *next; op && !status; op = next) {
        next = op->next;
        status = visit(q, op, next);
    }
    return status;
}

static xir_status quantize_integers(quantizing *q) {
    xir_pass *at = q->at;
    q->n_roles = xir_network_slot_count(q->net);
    q->roles = mem_new(&q->net->alloc, q->n_roles + 1);
    if (!q->roles) return XIR_E_MEMORY;
    memset(q->roles, ROLE_NONE, q->n_roles + 1);
    if (q->again) {
        xir_status status = normalise_again(q);
        return status ? status : normalise_network(q);
    }
    xir_status status = ranges_measure(at, q->bits, &q->precision, &q->ranges);
    if (!status && !q->ranges.n)
        status = xir_pass_fail(at, XIR_E_MISSING, NULL, "no ranges are known: calibration=FILE gives them, or the pass "
                               "calibrate before this one");
    if (!status) status = make_floats(q);
    if (!status) status = find_tails(q);
    if (!status) status = walk(q);
    if (!status && q->scheme.normalised) status = normalise_network(q);
    if (!status && q->left)
        xir_pass_diag(at, XIR_NOTE, q->first_left, "%zu ops compute with floats between Casts, this one first",
                      q->left);
    return status;
}

/* Does the work, and gives the network's results their names back: other values have got their places. */
static xir_status quantize_all(quantizing *q, const xir_type *floats) {
    const xir_op *out = xir_network_output_op(q->net);
    const uint32_t n = out ? out->n_inputs : 0;
    xir_str *names = mem_new(&q->net->alloc, (n + 1) * sizeof *names);
    if (!names) return XIR_E_MEMORY;
    for (uint32_t i = 0; i < n; i++) {
        const xir_value *value = op_inputs(out)[i].value;
        names[i] = value ? xir_value_name(value) : XIR_STR("");
    }
    xir_status status = floats ? quantize_floats(q, floats) : quantize_integers(q);
    if (!status && out) status = name_outputs(q, names);
    mem_free(&q->net->alloc, names, (n + 1) * sizeof *names);
    return status;
}

xir_status quantize_run(quantizing *q, const xir_type *floats) {
    const xir_allocator *alloc = &q->net->alloc;
    q->ranges.alloc = alloc;
    pointer_table_init(&q->casts, alloc);
    pointer_table_init(&q->ranges.of, alloc);
    precision_init(&q->precision, alloc);
    ratio_plan_init(&q->plan, alloc);
    xir_status status = precision_read(&q->precision, q->at, q->scheme.map_bits, q->scheme.wide_bits);
    if (!status) status = quantize_all(q, floats);
    ranges_free(&q->ranges);
    precision_free(&q->precision);
    ratio_plan_free(&q->plan);
    pointer_table_free(&q->casts);
    mem_free(alloc, q->roles, q->n_roles + 1);
    mem_free(alloc, q->tails, q->n_tails + 1);
    mem_free(alloc, q->floats, q->room * sizeof *q->floats);
    return status == XIR_E_MEMORY ? pass_no_memory(q->at) : status;
}

static xir_status run(xir_pass *at) {
    quantizing q = { .at = at, .net = at->net };
    const xir_type *floats = NULL;
    bool again;
    xir_status status = read_options(&q);
    if (!status) status = read_type(&q, &floats);
    if (!status) status = check_kept(&q);
    if (!status && floats) status = check_floats(&q);
    if (status) return status;
    const xir_op *stored = find_stored(at->net, &again);
    q.again = stored && again && q.scheme.normalised && !floats;
    if (stored && !q.again) {
        xir_pass_diag(at, XIR_NOTE, stored, "the network is quantised already: nothing is done");
        return XIR_OK;
    }
    return quantize_run(&q, floats);
}

const xir_pass_decl pass_quantize = {
    XIR_PASS_HEAD("quantize", "values become integers with scales, as a back end or a format has them"),
    .level = XIR_LEVEL_NEEDED, .options = options, .n_options = sizeof options / sizeof *options,
    .run = run,
};
