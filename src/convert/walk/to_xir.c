/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* to-xir: converts a network of a foreign format's ops to XIR's ops, one by one, for any dialect. An op without
 * a counterpart stays. Each dialect gives the pass another name: "onnx-to-xir". */
#include "walk/called.h"
#include "walk/walk.h"
#include "walk/options.h"
#include "manager/pass.h"
#include "name_dims.h"
#include "source_tags.h"

/* Readers make symbols of open dims. A network that another version of the library stored may not have them yet. */
static xir_status name_dims(xir_pass *at, bool *named) {
    const xir_op *op = xir_network_first(at->net);
    *named = false;
    while (op && !xir_class_is_dialect(xir_op_class(op))) op = xir_op_next(op);
    return op ? net_name_dims(at->net, named) : XIR_OK;
}

/* Choices that the structure depends on are tags of the network while it is converted. */
static xir_status choose(xir_pass *at, bool chosen) {
    const xir_any yes = xir_any_bool(true);
    const xir_str how = xir_pass_text(at, "random");
    const bool drawn = xir_str_equal(how, XIR_STR("constant")), input = xir_str_equal(how, XIR_STR("input"));
    if (!drawn && !input)
        return xir_pass_fail(at, XIR_E_SYNTAX, NULL, "random: expected 'constant' or 'input', found '%.*s'",
                             CLIP_TO(how, 40));
    xir_status status = XIR_OK;
    if (input)
        status = xir_network_set_tag(at->net, source_tag_key(SOURCE_RANDOM_INPUTS), chosen ? &yes : NULL);
    if (!status && xir_pass_bool(at, "inference"))
        status = xir_network_set_tag(at->net, source_tag_key(SOURCE_INFERENCE), chosen ? &yes : NULL);
    return status;
}

/* The network gets its structure first, if its dialect needs that: shapes may also be given for inputs that it has only
 * then. */
static xir_status prepare(xir_network *net, bool *prepared) {
    const xir_op *op = xir_network_first(net);
    *prepared = false;
    while (op && !xir_class_is_dialect(xir_op_class(op))) op = xir_op_next(op);
    const xir_dialect_decl *d = op ? dialect_of_class(xir_op_class(op)) : NULL;
    return DECLARED(d, prepare) ? d->prepare(net, prepared) : XIR_OK;
}

xir_status xir_dialect_add_inputs(xir_network *net) {
    const xir_any yes = xir_any_bool(true);
    const xir_str drawn = source_tag_key(SOURCE_RANDOM_INPUTS);
    bool prepared;
    xir_status status = net ? xir_network_set_tag(net, drawn, &yes) : XIR_OK;
    if (net && !status) status = prepare(net, &prepared);
    const xir_status after = net ? xir_network_set_tag(net, drawn, NULL) : XIR_OK;
    return status ? status : after;
}

/* Inputs with a default become constants. */
static xir_status fix_defaults(xir_pass *at) {
    xir_status status = XIR_OK;
    if (!xir_pass_bool(at, "fix-defaults")) return status;
    for (xir_value *v = at->net->all_params; v && !status; v = value_params(v)->next) {
        if (!value_is_default(v)) continue;
        xir_pass_changed(at, 1);
        status = xir_params_fix_default(v);
    }
    return status;
}

/* Finds the way in which quantised numbers are converted. */
static xir_status how_quantised(xir_pass *at, bool *arithmetic) {
    const xir_str how = xir_pass_text(at, "quantized");
    *arithmetic = xir_str_equal(how, XIR_STR("arithmetic"));
    if (*arithmetic || xir_str_equal(how, XIR_STR("types"))) return XIR_OK;
    return xir_pass_fail(at, XIR_E_SYNTAX, NULL, "quantized: expected 'types' or 'arithmetic', found '%.*s'",
                         CLIP_TO(how, 40));
}

/* The option chooses whether nodes that call functions of the file are expanded or become calls. */
static xir_status how_called(xir_pass *at, bool *keep) {
    const xir_str how = xir_pass_text(at, "functions");
    *keep = xir_str_equal(how, XIR_STR("keep"));
    if (*keep || xir_str_equal(how, XIR_STR("expand"))) return XIR_OK;
    return xir_pass_fail(at, XIR_E_SYNTAX, NULL, "functions: expected 'expand' or 'keep', found '%.*s'",
                         CLIP_TO(how, 40));
}

static xir_status convert(xir_pass *at) {
    conversion c;
    bool fixed, named, prepared = false, arithmetic, keep;
    xir_status status = how_quantised(at, &arithmetic);
    if (!status) status = how_called(at, &keep);
    if (!status) status = fix_defaults(at);
    if (!status) status = name_dims(at, &named);
    if (!status && xir_pass_text(at, "input-shape").size) status = prepare(at->net, &prepared);
    if (!status) status = convert_fix_inputs(at, &fixed);
    if (status) return status == XIR_E_MEMORY ? diag_memory(at->why) : status;
    conversion_begin(&c, at->net, at->why);
    c.strict = xir_pass_bool(at, "strict");
    c.reshaped = fixed;
    c.within = at->within;
    c.prefix = "to-xir: ";
    c.arithmetic = arithmetic;
    c.in.keeps_functions = keep;
    status = conversion_run(&c);
    if (!status && c.quantised) status = conversion_take_quantised(&c);
    if (!status) status = called_outline(&c);
    xir_pass_changed(at, c.changed + fixed + named + prepared);
    conversion_end(&c);
    return status;
}

static xir_status run(xir_pass *at) {
    xir_status status = choose(at, true);
    if (!status) status = convert(at);
    const xir_status after = choose(at, false);
    return status ? status : after;
}

static const xir_pass_option options[] = {
    { "strict",      XIR_PASS_BOOL, "false", "an op without a counterpart in XIR is an error" },
    { "input-shape", XIR_PASS_TEXT, "",
      "dims of inputs that the file leaves open: \"image=1,3,224,224;mask=1,10\"; with the "
                                             "elements of inputs that have no type: \"image=1,3,224,224:fp32\" ("
                                             CONVERT_ELEMENT_WORDS ")" },
    { "fix-defaults", XIR_PASS_BOOL, "false", "inputs that have a default become constants" },
    { "random",      XIR_PASS_TEXT, "constant",
      "what the format draws: numbers as it draws them (constant), or inputs (input)" },
    { "inference",   XIR_PASS_BOOL, "false", "what only training does, as dropout, is left out" },
    { "quantized",   XIR_PASS_TEXT, "types",
      "quantised numbers get quantised types where their form is plain (types), or are computed with integers and "
      "reals (arithmetic)" },
    { "functions",   XIR_PASS_TEXT, "expand",
      "nodes of functions of the file become the nodes of these (expand), or calls (keep)" },
    { "bind",        XIR_PASS_TEXT, "",      "numbers or intervals for the names of open dims: \"batch=1,length=8..128\"" },
};

const xir_pass_decl pass_to_xir = {
    XIR_PASS_HEAD("to-xir", "converts another format's ops to XIR's, one by one"),
    .level = XIR_LEVEL_NEEDED, .options = options, .n_options = sizeof options / sizeof *options, .run = run,
};
