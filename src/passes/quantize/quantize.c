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
#include <xir/exec.h>
#include <xir/ops.h>
#include "quantize.h"
#include "rule.h"
#include "support/upkeep.h"

static const xir_pass_option options[] = {
    { "scheme",   XIR_PASS_TEXT, "onnx",    "onnx, zhuge, buyi"                                               },
    { "type",     XIR_PASS_TEXT, "int",     "int, or floats without a calibration: bf16, fp16, tf32"          },
    RANGE_OPTIONS,
    { "bits",     XIR_PASS_INT,  "8",       "of maps: 8, or 16 where the scheme has them"                     },
    { "maps",     XIR_PASS_TEXT, "",        "onnx: uint, with zero points, or sint"                           },
    { "per",      XIR_PASS_TEXT, "channel", "what has a scale in weights: channel or tensor"                  },
    { "pow2",     XIR_PASS_BOOL, "false",   "scales are powers of two"                                        },
    { "scope",    XIR_PASS_TEXT, "all",     "all values, or products: what convolutions and products read"    },
    { "keep",     XIR_PASS_TEXT, "",        "names of ops that stay in floats: \"conv1;head/fc\""             },
    { "outputs",  XIR_PASS_TEXT, "float",   "float: what the network returns is not stored; same: as other values" },
    { "strict",   XIR_PASS_BOOL, "false",   "an op that would stay in floats is an error"                     },
};

/* ---- options ----------------------------------------------------------------------------------------------------- */

/* The index of a word among two. */
static xir_status read_choice(xir_pass *at, const char *option, const char *first, const char *second,
                              bool *is_second) {
    const xir_str word = xir_pass_text(at, option);
    *is_second = xir_str_equal(word, xir_str_of(second));
    if (*is_second || xir_str_equal(word, xir_str_of(first))) return XIR_OK;
    return xir_pass_fail(at, XIR_E_UNKNOWN, NULL, "%s: expected %s or %s, found '" XIR_PRI "'", option, first, second,
                         XIR_ARG(word));
}

static xir_status read_scheme(quantizing *q) {
    const xir_str name = xir_pass_text(q->at, "scheme");
    q->scheme = scheme_of(name);
    if (q->scheme) return XIR_OK;
    return xir_pass_fail(q->at, XIR_E_UNKNOWN, NULL, "there is no scheme '" XIR_PRI "': expected %s", XIR_ARG(name),
                         scheme_names());
}

static xir_status read_maps(quantizing *q) {
    const xir_str word = xir_pass_text(q->at, "maps");
    const bool has = q->scheme->zero_points;
    q->symmetric = !has || xir_str_equal(word, XIR_STR("sint"));
    if (!word.size || xir_str_equal(word, XIR_STR("sint")) || (has && xir_str_equal(word, XIR_STR("uint"))))
        return XIR_OK;
    return xir_pass_fail(q->at, XIR_E_UNKNOWN, NULL, "maps of the scheme %s are %s, found '" XIR_PRI "'",
                         q->scheme->name, has ? "uint or sint" : "sint", XIR_ARG(word));
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
    const int64_t bits = xir_pass_int(at, "bits");
    if (bits != 8 && !(bits == 16 && q->scheme->wide))
        return xir_pass_fail(at, XIR_E_BOUNDS, NULL, "maps of the scheme %s have %s bits, found %lld", q->scheme->name,
                             q->scheme->wide ? "8 or 16" : "8", (long long)bits);
    if (q->products && q->scheme->normalised)
        return xir_pass_fail(at, XIR_E_UNSUPPORTED, NULL, "scope: the scheme %s stores all values", q->scheme->name);
    q->bits = (uint32_t)bits;
    q->per_channel = !per_tensor;
    q->pow2 = xir_pass_bool(at, "pow2");
    q->strict = xir_pass_bool(at, "strict");
    q->keep = xir_pass_text(at, "keep");
    return XIR_OK;
}

/* Returns true if an op is named in `keep`. */
static bool is_kept(const quantizing *q, const xir_op *op) {
    const xir_str name = xir_op_name(op);
    for (size_t from = 0, i = 0; i <= q->keep.size && q->keep.size && name.size; i++) {
        if (i < q->keep.size && q->keep.data[i] != ';') continue;
        if (xir_str_equal(name, (xir_str){ q->keep.data + from, i - from })) return true;
        from = i + 1;
    }
    return false;
}

static xir_status check_kept(quantizing *q) {
    for (size_t from = 0, i = 0; i <= q->keep.size && q->keep.size; i++) {
        if (i < q->keep.size && q->keep.data[i] != ';') continue;
        const xir_str name = { q->keep.data + from, i - from };
        if (!xir_network_op_by_name(q->net, name))
            return xir_pass_fail(q->at, XIR_E_UNKNOWN, NULL, "keep: no op is called '" XIR_PRI "'", XIR_ARG(name));
        from = i + 1;
    }
    return XIR_OK;
}

/* ---- which values are stored ------------------------------------------------------------------------------------- */

/* Classes that move elements, and those that choose some: ONNX computes them on the integers. */
static bool is_move(const xir_op *op) {
    static const xir_class_decl *(*const moves[])(void) = {
        xir_copy_class, xir_reshape_class, xir_squeeze_class, xir_expand_class, xir_tile_class, xir_transpose_class,
        xir_channel_shuffle_class, xir_pixel_shuffle_class, xir_slice_class, xir_split_class, xir_unstack_class,
        xir_roll_class, xir_swap_order_class, xir_max_pool1d_class, xir_max_pool2d_class, xir_max_pool3d_class,
    };
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++)
        if (xir_op_is(op, moves[i]())) return true;
    return false;
}

/* Returns true if a value only leads to results of the network: the Output op reads it, or moves whose results
 * do. */
static bool is_result(const quantizing *q, const xir_value *value) {
    const xir_op *out = xir_network_output_op(q->net);
    for (const xir_use *u = value->uses; u; u = xir_use_next(u)) {
        const xir_op *reader = xir_use_op(u);
        if (reader != out && !(reader->slot < q->n_tails && q->tails[reader->slot])) return false;
    }
    return value->uses != NULL;
}

static xir_status find_tails(quantizing *q) {
    q->n_tails = xir_network_slot_count(q->net);
    q->tails = mem_new(&q->net->alloc, q->n_tails + 1);
    if (!q->tails) return XIR_E_MEMORY;
    memset(q->tails, 0, q->n_tails + 1);
    for (const xir_op *op = xir_network_last(q->net); op; op = op->prev) {
        bool tail = is_move(op);
        for (uint32_t i = 0; i < op->n_outputs && tail; i++) tail = is_result(q, &op_outputs(op)[i]);
        q->tails[op->slot] = tail;
    }
    return XIR_OK;
}

/* The op that alone reads a value; NULL if there is none. */
static const xir_op *only_reader(const xir_value *value) {
    const xir_use *u = value->uses;
    return u && !xir_use_next(u) ? xir_use_op(u) : NULL;
}

/* Returns true if an op clips its input: what it cuts off need not be stored. */
static bool is_clip(const xir_op *op) {
    const xir_relu_attrs *relu = op ? xir_relu_of(op) : NULL;
    if (relu) return relu->alpha == 0 && relu->threshold == 0;
    return op && (xir_op_is(op, xir_clamp_scalar_class()) || xir_op_is(op, xir_hardtanh_class()));
}

/* The range that a value is stored with; NULL: it stays a float. */
static const value_range *stored_range(const quantizing *q, const xir_value *value) {
    if (!is_float(value) || !value->uses || (!q->outputs_stay && is_result(q, value))) return NULL;
    const int64_t rank = (int64_t)xir_type_rank(value->type);
    if (q->scheme->normalised && rank && xir_type_dim(value->type, rank - 1, false) < 0) return NULL;   /* how many? */
    for (const xir_use *u = value->uses; u; u = xir_use_next(u))
        if (xir_use_op(u)->flags & OP_CHILD) return NULL;   /* read inside of another op */
    return ranges_find(&q->ranges, value);
}

static bool is_before_clip(const xir_value *value) {
    const xir_op *maker = value_op(value), *reader = only_reader(value);
    return maker && is_product(maker) && is_clip(reader);
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

/* Returns true if a type has the ratio of a map; there is one for each index of its last dim. */
static bool has_ratio(const xir_type *type, const xir_value *map) {
    const xir_norm_ratios *ratios = xir_type_norm_ratios(type);
    return ratios && xir_norm_ratios_count(ratios) && xir_norm_ratios_at(ratios, 0) == ratio_of(map);
}

/* Sets the types of the outputs if inference gives all of them the elements of the first input. */
static xir_status pass_types_on(const quantizing *q, xir_op *op, bool *done) {
    xir_infer at;
    const xir_value *in = xir_op_input(op, 0);
    *done = false;
    if (!is_stored(in)) return XIR_OK;
    for (uint32_t i = 1; i < op->n_inputs; i++) {
        const xir_value *v = op_inputs(op)[i].value;
        if (is_stored(v) && !xir_type_equal(xir_type_element(v->type), xir_type_element(in->type))) return XIR_OK;
    }
    infer_start(&at, op->net, op->cls, op->attrs, op_target(op), NULL, 0, xir_op_name(op), NULL);
    at.op = op;
    at.n_inputs = op->n_inputs;
    xir_status status = infer_run(&at);
    bool same = !status && at.n_out == op->n_outputs;
    for (size_t i = 0; same && i < at.n_out; i++)
        same = q->scheme->normalised ? has_ratio(at.out[i], in)
                                     : xir_type_equal(xir_type_element(at.out[i]), xir_type_element(in->type));
    for (size_t i = 0; same && i < at.n_out && status != XIR_E_MEMORY; i++)
        status = xir_value_set_type(&op_outputs(op)[i], at.out[i]);
    infer_end(&at);
    *done = same && !status;
    bool normalised;
    if (!*done || !q->scheme->normalised) return status == XIR_E_MEMORY ? status : XIR_OK;
    status = xir_op_is_normalised(op, &normalised, NULL);
    if (!status || status == XIR_E_MEMORY) return status;
    *done = false;
    return make_outputs_float(q, op);
}

/* ---- one op ------------------------------------------------------------------------------------------------------ */

static xir_status store_outputs(quantizing *q, xir_op *op, xir_op *next) {
    xir_status status = XIR_OK;
    for (uint32_t i = 0; i < op->n_outputs && !status; i++) {
        xir_value *value = &op_outputs(op)[i];
        const value_range *range = stored_range(q, value);
        if (!range || is_before_clip(value)) continue;
        const xir_type *element = map_element(q, value->type, range);
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
        const value_range *range = stored_range(q, value);
        if (!range) continue;
        const value_range *after = is_before_clip(value)
            ? ranges_find(&q->ranges, xir_op_output(only_reader(value), 0)) : NULL;
        const xir_type *element = map_element(q, value->type, after ? after : range);
        const xir_type *type = element ? xir_type_with_element(q->net->ctx, value->type, element, q->at->why) : NULL;
        status = type ? xir_value_set_type(value, type) : XIR_E_MEMORY;
    }
    bool changed = false;
    if (!status && q->scheme->normalised) status = normalise_constants(q, op, done, &changed);
    if (status) return status;
    const xir_status valid = *done ? xir_op_validate(op, NULL) : XIR_E_INVALID;
    if (!valid || valid == XIR_E_MEMORY) return valid;
    *done = false;
    if (changed)
        return xir_pass_fail(q->at, XIR_E_UNSUPPORTED, op, "the constants do not fit normalised maps; keep the op");
    return make_outputs_float(q, op);
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
                             q->scheme->name);
    if (reads_stored(op) && !q->left++) q->first_left = op;
    xir_status status = read_floats(q, op);
    return status || kept ? status : store_outputs(q, op, next);
}

static xir_status quantize_product(quantizing *q, xir_op *op, xir_op *next) {
    bool done = false;
    xir_status status = q->scheme->normalised ? XIR_OK : quantize_constants(q, op);
    if (status || q->products) return status;
    if (!q->scheme->pairs) status = store_in_place(q, op, &done);
    if (status || done) return status;
    return q->scheme->normalised ? leave_op(q, op, next, false) : store_outputs(q, op, next);
}

static xir_status quantize_op(quantizing *q, xir_op *op, xir_op *next) {
    bool done = false;
    xir_status status = XIR_OK;
    if (is_kept(q, op)) return leave_op(q, op, next, true);
    if (is_product(op) && product_fits(op)) return quantize_product(q, op, next);
    if (q->products) return read_floats(q, op);
    if (!q->scheme->pairs || is_move(op)) status = pass_types_on(q, op, &done);
    if (status || done) return status;
    if (!q->scheme->pairs && reads_stored(op)) status = store_in_place(q, op, &done);
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
        const xir_type *element = map_element(q, value->type, range);
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
    return source ? store_outputs(q, op, next) : XIR_OK;
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

/* An op that makes stored or normalised numbers: the network is quantised already. */
static const xir_op *find_stored(const xir_network *net) {
    for (const xir_op *op = net->first; op; op = op->next)
        for (uint32_t i = 0; i < op->n_outputs; i++) {
            const xir_type *element = xir_type_element(op_outputs(op)[i].type);
            const xir_type_kind kind = element ? xir_type_kind_of(element) : XIR_TYPE_OTHER;
            if (kind >= XIR_TYPE_NORMALIZED && kind <= XIR_TYPE_NORMALIZED_QUANTIZED) return op;
        }
    return NULL;
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
    xir_status status = ranges_measure(at, q->bits, &q->ranges);
    if (!status && !q->ranges.n)
        status = xir_pass_fail(at, XIR_E_MISSING, NULL, "no ranges are known: calibration=FILE gives them, or the pass "
                               "calibrate before this one");
    if (!status) status = make_floats(q);
    if (!status) status = find_tails(q);
    if (!status) status = walk(q);
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

static xir_status run(xir_pass *at) {
    quantizing q = { .at = at, .net = at->net, .ranges = { .alloc = &at->net->alloc } };
    const xir_type *floats = NULL;
    pointer_table_init(&q.casts, &at->net->alloc);
    pointer_table_init(&q.ranges.of, &at->net->alloc);
    const xir_op *stored = find_stored(at->net);
    if (stored) {
        xir_pass_diag(at, XIR_NOTE, stored, "the network is quantised already: nothing is done");
        return XIR_OK;
    }
    xir_status status = read_options(&q);
    if (!status) status = read_type(&q, &floats);
    if (!status) status = check_kept(&q);
    if (!status && floats && q.keep.size)
        status = xir_pass_fail(at, XIR_E_UNSUPPORTED, NULL, "keep: floats of another type are those of all ops");
    if (!status) status = quantize_all(&q, floats);
    ranges_free(&q.ranges);
    pointer_table_free(&q.casts);
    mem_free(&at->net->alloc, q.tails, q.n_tails + 1);
    mem_free(&at->net->alloc, q.floats, q.room * sizeof *q.floats);
    return status == XIR_E_MEMORY ? pass_no_memory(at) : status;
}

const xir_pass_decl pass_quantize = {
    XIR_PASS_HEAD("quantize", "values become integers with scales, as a back end or a format has them"),
    .level = XIR_LEVEL_NEEDED, .options = options, .n_options = sizeof options / sizeof *options,
    .run = run,
};
