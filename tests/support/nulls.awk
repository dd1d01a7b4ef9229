# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# Writes to `out` a table of calls: every public function that takes an op, a value, a type or a network, once for each
# such parameter, with NULL for it. The table is made from the headers, so a new function cannot be forgotten. The other
# arguments are those of a `fixture` (tests/library/nulls.c). A parameter of an unknown type fails the build: add an
# argument for it below.
#
#     awk -v out=FILE -f declarations.awk -f nulls.awk include/xir/*.h

function type_of(p) {
    p = trim(p)
    if (match(p, /\(\*[a-z_0-9]+\)/)) return "(" substr(p, RSTART + 2, RLENGTH - 3) ")"
    sub(/ ?[a-z_0-9]+$/, "", p)
    return p
}

BEGIN {
    print "/* Made by nulls.awk from the public headers. */" >out

    argument["xir_op *"]      = argument["const xir_op *"]      = "f->op"
    argument["xir_value *"]   = argument["const xir_value *"]   = "f->value"
    argument["const xir_type *"]                                = "f->type"
    argument["xir_network *"] = argument["const xir_network *"] = "f->net"
    for (type in argument) may_be_null[type] = 1

    argument["xir_context *"]            = "f->ctx"
    argument["xir_diags *"]              = "f->why"
    argument["xir_at"]                   = "xir_at_end(f->net)"
    argument["const xir_target *"]       = "f->target"
    argument["const xir_layout *"]       = "f->layout"
    argument["const xir_scales *"]       = "f->scales"
    argument["const xir_norm_ratios *"]  = "f->ratios"
    argument["const xir_distr *"]        = "f->distr"
    argument["const xir_mtype *"]        = "f->mtype"
    argument["const xir_class_decl *"]   = "xir_relu_class()"
    argument["const xir_any *"]          = "&f->any"
    argument["xir_attr *"]               = argument["const xir_attr *"] = "&f->attr"
    argument["const xir_op_desc *"]      = "&f->desc"
    argument["const xir_array *"]        = "f->array"
    argument["const xir_array *const *"] = "f->arrays"
    argument["xir_array **"]             = "f->results"
    argument["const xir_diff *"]         = "f->diff"
    argument["const xir_liveness *"]     = "f->liveness"
    argument["const xir_memory_buffers *"] = "f->buffers"
    argument["const xir_memory_plan *"]  = "f->plan"
    argument["xir_mtype_kind"]           = "XIR_MTYPE_EXTERNAL"
    argument["const xir_groups *"]       = "f->groups"
    argument["const xir_levels *"]       = "f->levels"
    argument["const xir_dominance *"]    = "f->dominance"
    argument["xir_life *"]               = "&f->life"
    argument["const xir_walker *"]       = "&f->walker"
    argument["const xir_view *"]         = "f->view"
    argument["xir_provenance *"] = argument["const xir_provenance *"] = "f->provenance"
    argument["xir_mapping *"] = argument["const xir_mapping *"] = "f->mapping"
    argument["const xir_pipeline *"]     = "f->pipeline"
    argument["const xir_pattern *"]      = "f->pattern"
    argument["xir_proof *"]              = "f->proof"
    argument["const xir_mix_options *"] = argument["xir_mix *"] = argument["const xir_mix *"] = "NULL"
    argument["const xir_scheme_decl *"]  = "xir_scheme_at(ctx, 0)"
    argument["xir_calibration *"] = argument["const xir_calibration *"] = "f->calibration"
    argument["const xir_work *"] = argument["xir_work *"] = "&f->work"
    argument["xir_cost *"] = "&f->cost"
    argument["const xir_numbers *"] = argument["xir_numbers *"] = "&f->within"
    argument["xir_text_buffer *"]        = "&f->text"
    argument["xir_elements_diff *"]      = "&f->elements"
    argument["xir_match *"]              = "&f->match"
    argument["xir_op *const *"]          = "&f->op"
    argument["xir_value *const *"]       = "&f->value"
    argument["const xir_type *const *"]  = "&f->type"
    argument["const xir_value *const *"] = "(const xir_value *const *)&f->value"
    argument["xir_box *"] = argument["const xir_box *"] = "&XIR_INIT(xir_box)"
    argument["const xir_tiles_options *"] = "&XIR_INIT(xir_tiles_options, .budget = 1 << 20, .letters = \"HW\")"
    argument["const xir_tiles *"]        = "NULL"
    argument["const xir_trial_options *"] = argument["xir_trial *"] = argument["xir_kernel_check *"] = "NULL"
    argument["xir_op **"]                = "f->ops"
    argument["xir_value **"]             = "f->values"
    argument["const xir_rule *"]         = "f->rules"
    argument["xir_str"]                  = "XIR_STR(\"x\")"
    argument["const char *"]             = "\"x\""
    argument["char"]                     = "\047C\047"
    argument["bool"]                     = "false"
    argument["const xir_mapping_rules *"] = "&f->mapping_rules"
    argument["const xir_equal_rules *"]   = "NULL"
    argument["xir_pass *"]               = "NULL"
    argument["const xir_try_options *"] = argument["xir_tried *"] = "NULL"
    argument["const xir_optimise_options *"] = argument["xir_optimised *"] = "NULL"
    argument["const xir_compare_options *"] = argument["const xir_compare *"] = argument["xir_compare *"] = "NULL"
    argument["const xir_reduce_options *"] = argument["xir_reduce_state *"] = argument["xir_run_state *"] = "NULL"
    argument["bool *"]                   = "&f->flag"
    argument["double"]                   = "1.0"
    argument["size_t"] = argument["uint64_t"] = argument["int64_t"] = argument["int"] = argument["unsigned"] = "0"
    argument["xir_trait"]                = "XIR_TRAIT_SOURCE"
    argument["xir_status"]               = "XIR_E_INVALID"
    argument["const xir_named_attr *"]   = "&f->named"
    argument["xir_map"]                  = "(xir_map){ NULL, 0 }"
    n_outs = split("const bool *|double *|xir_str *|xir_map *|xir_bools *|xir_i64s *|xir_reals *|xir_texts *|" \
                   "xir_refs *|xir_runs *|xir_values *|xir_ops *|const xir_str *|const xir_run *|const xir_object *|" \
                   "xir_user *|const xir_user *|" \
                   "const xir_object **|const xir_object *const *|xir_provenance_item *", outs, "|")
    for (i = 1; i <= n_outs; i++) argument[outs[i]] = "(void *)f->room"
    argument["xir_severity"]             = "XIR_ERROR"
    argument["xir_network_text"]         = "XIR_TEXT_NAME"
    argument["size_t *"]                 = "&f->size"
    argument["uint64_t *"]               = "&f->bytes"
    argument["int64_t *"] = argument["const int64_t *"] = "f->ints"
    argument["const double *"]           = "f->reals"
    argument["void *"] = argument["const void *"] = "f->room"
    argument["xir_symbol *"] = argument["const xir_symbol *"] = argument["char *"] = "(void *)f->room"
    argument["xir_write_fn *"]           = "swallow"
    argument["xir_cost_fn *"]            = "see_cost"
    argument["xir_needed_fn *"]          = "see_part"
    argument["xir_draw_format"]          = "XIR_DRAW_SVG"
    argument["(pick)"]                   = "pick_none"
    argument["(kind)"]                   = "kind_none"
    argument["(release)"]                = "NULL"
    for (type in argument) known[type] = 1
    # Options: NULL is the default of each.
    n_options = split("save load pass_settings diff run liveness memory_check_options draw outline", options, " ")
    for (i = 1; i <= n_options; i++) {
        type = "const xir_" options[i] (options[i] ~ /_/ ? " *" : "_options *")
        argument[type] = "NULL"
    }
    argument["xir_pass_report *"] = "NULL"

    # Objects that exist only while a hook runs: the row of the table says in which hook the call is made.
    argument["xir_node *"]               = "f->node"
    argument["xir_infer *"]              = "f->infer"
    argument["xir_rewriter *"]           = "f->rewriter"
    argument["xir_kernel *"]             = "f->kernel"
    argument["const xir_match *"]        = "f->found"
    argument["const xir_ints *"]         = "&f->numbers"
    argument["const xir_format_reading *"] = "f->reading"
}

# The hook in which a call with these parameters is made.
function hook_of(params) {
    if (params ~ /(^|[ (])xir_node \*/)             return "IN_CONVERSION"
    if (params ~ /(^|[ (])xir_infer \*/)            return "IN_INFERENCE"
    if (params ~ /(^|[ (])xir_kernel \*/)           return "IN_KERNEL"
    if (params ~ /(^|[ (])(xir_rewriter|const xir_match) \*/) return "IN_REWRITING"
    if (params ~ /(^|[ (])const xir_format_reading \*/) return "IN_READER"
    return "ANYWHERE"
}

function declaration(name, ret, params, n, p,    i, k, call, type) {
    for (k = 1; k <= n; k++) {
        if (!(type_of(p[k]) in may_be_null)) continue
        call = name "("
        for (i = 1; i <= n; i++) {
            type = type_of(p[i])
            if (!(type in argument) && type != "(fill)") {
                print "nulls.awk: " name ": no argument is known for a \047" type "\047" | "cat >&2"
                failed = 1
            }
            if (type == "(fill)") argument[type] = p[i] ~ /void \*user/ ? "fill_item" : "fill_float"
            call = call (i > 1 ? ", " : "") (i == k ? "NULL" : argument[type])
        }
        call = call ")"
        number++
        printf "static bool call_%d(fixture *f) {\n    (void)f;\n", number >out
        if (ret == "void") printf "    %s;\n    return true;\n", call >out
        else if (k > 1 || ret == "xir_status") printf "    (void)%s;\n    return true;\n", call >out
        else if (ret ~ /\*$/) printf "    return !%s;\n", call >out
        else if (ret == "xir_str") printf "    return !%s.size;\n", call >out
        else if (ret ~ /^(bool|size_t|uint32_t|uint64_t)$/) printf "    return !%s;\n", call >out
        else if (ret == "int64_t") printf "    return %s <= 0;\n", call >out
        else printf "    (void)%s;\n    return true;\n", call >out
        printf "}\n" >out
        table = table sprintf("    { \"%s, parameter %d\", %s, call_%d },\n", name, k, hook_of(params), number)
    }
}

END {
    print "static const struct { const char *call; place where; bool (*run)(fixture *f); } calls[] = {" >out
    print table "};" >out
    exit failed
}
