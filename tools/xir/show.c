/* xir show: a network as JSON, byte for byte what the writer gives, so without a newline at the end. */
#include "cli.h"

static bool compact;

static int run(int n, char **operands) {
    (void)n;
    loaded l = { 0 };
    xir_diags *why = new_diags();
    /* The text is the same without parameter bytes, so they are only looked at if they are named. */
    int code = load_structure(&l, operands[0], load_args.from, why);
    if (!code && load_args.params && load_args.no_params)
        code = complain(MISUSED, "--params and --no-params contradict each other");
    if (!code && load_args.params) {
        bool found;
        code = load_params(&l, load_args.params, load_args.lazy ? XIR_LOAD_LAZY : 0, &found, why);
    }
    if (!code) {
        progress_writing("-");
        xir_status status = xir_json_write(l.net, compact ? 0 : 4, write_to, stdout, why);
        if (status) code = exit_of(status);
    }
    say(why);
    xir_diags_free(why);
    unload(&l);
    return code;
}

static const option options[] = {
    { "compact", NULL, WORD_NONE, &compact, "print it on one line, as files are written" },
    PARAMS_OPTION, NO_PARAMS_OPTION, LAZY_OPTION, FROM_OPTION,
    { 0 },
};

const command show_command = {
    .name = "show", .operands = "FILE", .is = WORD_FILE,
    .doc = "prints a network as JSON",
    .details = "Indented by four blanks, or compact: exactly the bytes that saving writes, without a newline at "
               "the end.",
    .faulty = "the file is invalid",
    .options = options, .least = 1, .most = 1, .run = run,
};
