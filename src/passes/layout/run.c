/* layout: a whole network in one order, channels last.
 *
 *     x = input()            NCHW        x = input()            NCHW
 *     a = transpose(x)       NHWC        a = transpose(x)       NHWC
 *     b = conv(a)            NHWC        c = conv(a)            NHWC
 *     c = transpose(b)       NCHW   ->   d = relu(c)            NHWC
 *     d = relu(c)            NCHW        h = conv(d)            NHWC
 *     e = transpose(d)       NHWC        g = transpose(h)       NCHW
 *     f = conv(e)            NHWC        output(g)
 *     g = transpose(f)       NCHW
 *     output(g) */
#include "layout/layout.h"

/* Axes that an op takes away, and dims of 1, have no place in its output: where they stand is not looked for but
 * left as it is. In the network that comes out they may stand where another order is at hand, so it is looked at
 * again, as long as that finds something: nearly always once. */
enum { MOST_PLANS = 8 };

static xir_status relayout(xir_pass *at, bool open, bool first, bool *again) {
    plan l = { .at = at, .net = at->net, .alloc = &at->net->alloc, .first = first };
    xir_status status = plan_make(&l) ? XIR_OK : XIR_E_MEMORY;
    if (!status) plan_search(&l);
    if (!status && open) plan_open_borders(&l);
    if (!status) status = l.failed ? XIR_E_MEMORY : plan_apply(&l);
    *again = l.again;
    plan_free(&l);
    return status;
}

/* Which of two words an option is. */
static xir_status choose(xir_pass *at, const char *option, const char *no, const char *yes, bool *out) {
    xir_str word = xir_pass_text(at, option);
    *out = xir_str_equal(word, xir_str_of(yes));
    if (*out || xir_str_equal(word, xir_str_of(no))) return XIR_OK;
    return xir_pass_fail(at, XIR_E_INVALID, NULL, "%s is %s or %s, '%.*s' was found", option, no, yes,
                         (int)word.size, word.data);
}

static xir_status run(xir_pass *at) {
    bool open, first, again = true;
    size_t findings = xir_diags_count_of(at->why, XIR_ERROR);
    xir_status status = choose(at, "io", "keep", "nhwc", &open);
    if (!status) status = choose(at, "to", "nhwc", "nchw", &first);
    for (int i = 0; i < MOST_PLANS && again && !status; i++) status = relayout(at, open, first, &again);
    if (status == XIR_E_MEMORY) return xir_pass_fail(at, status, NULL, "out of memory");
    if (!status || xir_diags_count_of(at->why, XIR_ERROR) > findings) return status;
    /* What refuses an edit says so in the network. Of a valid one nothing is refused. */
    return xir_pass_fail(at, status, NULL, "an op cannot be what it would have to be: %s", xir_status_name(status));
}

static const xir_pass_option options[] = {
    { "io", XIR_PASS_TEXT, "keep", "keep: arguments and results stay in their order; nhwc: they may be channels last too" },
    { "to", XIR_PASS_TEXT, "nhwc", "nhwc: channels last; nchw: convolutions, pools and resizes that have them last have them first" },
};

const xir_pass_decl pass_layout = {
    XIR_PASS_HEAD("layout", "moves, cancels and absorbs the transposes around convolutions: channels last for a whole network"),
    .level = XIR_LEVEL_EXACT,
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .run = run,
};
