/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* xir convert: reads one format, writes another. The network is not checked: what can be read is written. */
#include "cli.h"

static int run(int n, char **operands) {
    (void)n;
    const char *in = operands[0], *out = operands[1];
    const file_format *to = choose_output(out);
    xir_save_options o;
    int code = to ? check_save(to, out, &o) : MISUSED;
    if (code) return code;
    loaded l = { .written_as = to };
    code = load(&l, in, LOAD_MAPPED | LOAD_MEANWHILE);
    if (!code) code = save(&l, out, to, &o);
    unload(&l);
    return code;
}

static const option options[] = {
    PARAMS_OPTION, OUT_PARAMS_OPTION, NO_PARAMS_OPTION, MAPPED_OPTIONS, INDENT_OPTION, ALIGN_OPTION, PLAIN_OPTION,
        INLINE_OPTION, NO_IDS_OPTION,
    NO_MD5_OPTION, EXTERNAL_OPTION, FROM_OPTION, AS_CALLS_OPTION,
    TO_OPTION,
    { 0 },
};

const command convert_command = {
    .name = "convert", .operands = "IN OUT", .is = WORD_FILE,
    .doc = "reads a network and writes it, in another format or the same",
    .details = "The format of IN is detected by its content, then by its name; that of OUT by its name. The "
               "parameters of X.json are in X.raw, or in X.params, next to it; they are written to X.raw. Other "
               "formats have them inside. The network is not checked (see xir check), and it is written in the "
               "spelling of its own version.",
    .faulty = "IN is invalid",
    .examples = (const example[]){
        { "xir convert digits.onnx digits.json --indent",
          "Write the ops of a file, as they are, to JSON, and the parameters to digits.raw." },
        { "xir convert - digits.imodel --from json --params digits.raw <digits.json", "Read standard input." },
        { NULL, NULL },
    },
    .related = "opt show",
    .options = options, .least = 2, .most = 2, .run = run,
};
