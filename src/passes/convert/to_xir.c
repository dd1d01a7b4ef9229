/* to-xir: converts a network of a foreign format's ops to XIR's ops, one by one, for any dialect. An op without
 * a counterpart stays. Each dialect gives the pass another name: "onnx-to-xir". */
#include "convert/convert.h"
#include "convert/options.h"
#include "manager/pass.h"

static xir_status run(xir_pass *at) {
    conversion c;
    bool fixed;
    xir_status status = convert_fix_inputs(at, &fixed);
    if (status) return status == XIR_E_MEMORY ? diag_memory(at->why) : status;
    conversion_begin(&c, at->net, at->why);
    c.strict = xir_pass_bool(at, "strict");
    c.reshaped = fixed;
    c.within = at->within;
    c.prefix = "to-xir: ";
    status = conversion_run(&c);
    xir_pass_changed(at, c.changed + fixed);
    conversion_end(&c);
    return status;
}

static const xir_pass_option options[] = {
    { "strict",      XIR_PASS_BOOL, "false", "an op without a counterpart in XIR is an error" },
    { "input-shape", XIR_PASS_TEXT, "",
      "dims of inputs that the file leaves open: \"image=1,3,224,224;mask=1,10\"; with the "
                                             "elements of inputs that have no type: \"image=1,3,224,224:fp32\" ("
                                             CONVERT_ELEMENT_WORDS ")" },
    { "bind",        XIR_PASS_TEXT, "",      "numbers or intervals for the names of open dims: \"batch=1,length=8..128\"" },
};

const xir_pass_decl pass_to_xir = {
    XIR_PASS_HEAD("to-xir", "converts another format's ops to XIR's, one by one"),
    .level = XIR_LEVEL_NEEDED, .options = options, .n_options = sizeof options / sizeof *options, .run = run,
};
