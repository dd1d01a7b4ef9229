/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* xir plan: plans the memory of a network, and prints where each value is. */
#include <inttypes.h>
#include <stdlib.h>
#include "plan.h"

static const char *how;
static bool        as_csv, as_svg, from_csv;

typedef plan_asked asked;
typedef plan_row   row;
typedef plan_table table;

/* ---- the options of the pass --------------------------------------------------------------------- */

static asked told;

static xir_status tell(xir_pass *at) {
    told = (asked){ xir_pass_bool(at, "in-place"), xir_pass_bool(at, "parts"),
                    !xir_str_equal(xir_pass_text(at, "memory"), xir_str_of("chunk")), xir_pass_int(at, "upper"),
                    xir_pass_int(at, "align") };
    return XIR_OK;
}

/* Reads the options as the pass reads them: by a pass with the same ones, which only tells them. */
static int ask(xir_network *net, asked *out, xir_diags *why) {
    static xir_pass_decl teller = { XIR_PASS_HEAD("plan-options", "tells the options of plan"), .run = tell };
    const xir_pass_decl *of = xir_pass_find(context, XIR_STR("plan"));
    teller.options = of->options;
    teller.option_size = of->option_size;
    teller.n_options = of->n_options;
    xir_pipeline *one = xir_pipeline_new(context, why);
    xir_status status = one ? xir_pipeline_add(one, &teller, how, why) : XIR_E_MEMORY;
    if (!status) status = xir_pipeline_run(one, net, NULL, NULL, why);
    xir_pipeline_free(one);
    *out = told;
    return exit_of(status);
}

/* ---- the values ---------------------------------------------------------------------------------- */

static uint64_t address_of(const xir_value *v) {
    const xir_mtype *mtype = xir_value_mtype(v);
    return xir_mtype_kind_of(mtype) == XIR_MTYPE_CHUNK ? xir_mtype_offset(mtype) : xir_mtype_addr(mtype);
}

static bool has_address(void *user, const xir_value *v) {
    (void)user;
    return xir_mtype_kind_of(xir_value_mtype(v)) != XIR_MTYPE_HOST;
}

/* Bytes that are unknown are counted as those of the set. */
static uint64_t bytes_of(const table *t, const row *r) {
    return r->life.known ? r->life.bytes : xir_memory_buffers_data(t->sets)[r->set].size;
}

static void add_rows(table *t, const xir_network *net) {
    size_t room = 0;
    for (xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) room += xir_op_output_count(op);
    t->rows = take(room + 1, sizeof *t->rows);
    for (xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
        for (size_t i = 0; i < xir_op_output_count(op); i++) {
            row *r = &t->rows[t->n];
            *r = (row){ .v = xir_op_output(op, (int64_t)i), .life = XIR_INIT(xir_life) };
            r->set = xir_memory_buffers_find(t->sets, r->v);
            r->at = address_of(r->v);
            const bool listed = r->set != SIZE_MAX && xir_liveness_of(t->lives, r->v, &r->life);
            if (listed) r->bytes = bytes_of(t, r);
            r->base = r->at - r->life.offset;
            t->n += listed;
            t->on_host += !listed;
        }
    }
}

/* Rows of one set in the same bytes next to each other, in the order in which they are made. */
static int compare_rows(const void *a, const void *b) {
    const row *left = *(const row *const *)a, *right = *(const row *const *)b;
    if (left->set != right->set) return left->set < right->set ? -1 : 1;
    if (left->base != right->base) return left->base < right->base ? -1 : 1;
    return left < right ? -1 : left > right;
}

/* Finds the first row of each buffer, and stores it in `buffer` of all its rows. */
static void join_rows(table *t) {
    row **sorted = take(t->n + 1, sizeof *sorted);
    for (size_t i = 0; i < t->n; i++) sorted[i] = &t->rows[i];
    qsort((void *)sorted, t->n, sizeof *sorted, compare_rows);
    for (size_t i = 0; i < t->n; i++) {
        row *r = sorted[i], *before = i ? sorted[i - 1] : NULL;
        const bool joined = before && before->set == r->set && before->base == r->base;
        r->buffer = joined ? before->buffer : (size_t)(r - t->rows);
    }
    free((void *)sorted);
}

/* Buffers are in the order of their first rows. */
static void add_buffers(table *t) {
    join_rows(t);
    t->buffers = take(t->n + 1, sizeof *t->buffers);
    t->first = take(t->n + 1, sizeof *t->first);
    for (size_t i = 0; i < t->n; i++) {
        row *r = &t->rows[i];
        const bool joined = r->buffer != i;
        r->buffer = joined ? t->rows[r->buffer].buffer : t->n_buffers++;
        xir_buffer *b = &t->buffers[r->buffer];
        if (!joined) *b = (xir_buffer){ .from = r->life.first, .to = r->life.last };
        if (!joined) t->first[r->buffer] = i;
        if (b->to < r->life.last) b->to = r->life.last;
        if (b->size < r->life.offset + r->bytes) b->size = r->life.offset + r->bytes;
    }
}

/* Finds the moment at which the most bytes live: any plan knows it. */
static int find_peak(table *t, xir_diags *why) {
    const xir_memory_options with = XIR_INIT(xir_memory_options, .effort = XIR_EFFORT_SWEEP);
    xir_memory_plan *any = xir_memory_plan_new(context, t->buffers, t->n_buffers, &with, why);
    t->peak = XIR_INIT(xir_memory_peak);
    const int code = any ? exit_of(xir_memory_plan_peak(any, &t->peak, why)) : code_of(why);
    xir_memory_plan_free(any);
    return code;
}

static bool is_accelerated(const xir_op *op) { return xir_target_kind_of(xir_op_target(op)) != XIR_TARGET_HOST; }

/* Values that the host sees are in segments of its own. */
static bool is_apart(void *user, const xir_value *v) {
    const table *t = user;
    if (!has_address(NULL, v)) return true;
    if (!t->accelerated || !t->asked.etm) return false;
    bool apart = !is_accelerated(xir_value_op(v));
    for (const xir_use *u = xir_value_uses(v); u && !apart; u = xir_use_next(u)) apart = !is_accelerated(xir_use_op(u));
    return apart;
}

static int make_table(table *t, xir_network *net, xir_diags *why) {
    int code = ask(net, &t->asked, why);
    if (code) return code;
    const xir_liveness_options shared =
        XIR_INIT(xir_liveness_options, .views = true, .in_place = t->asked.in_place, .parts = t->asked.parts,
                 .part_align = (uint64_t)t->asked.align, .is_apart = is_apart, .user = t);
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) t->accelerated |= is_accelerated(op);
    t->lives = xir_liveness_new(net, &shared, why);
    const xir_memory_buffers_options with =
        XIR_INIT(xir_memory_buffers_options, .takes = has_address, .upper = t->asked.upper);
    t->sets = t->lives ? xir_memory_buffers_new(t->lives, &with, why) : NULL;
    if (!t->sets) return code_of(why);
    add_rows(t, net);
    add_buffers(t);
    return find_peak(t, why);
}

static void free_table(table *t) {
    xir_memory_buffers_free(t->sets);
    xir_liveness_free(t->lives);
    free(t->rows);
    free(t->buffers);
    free(t->first);
}

/* ---- printing ------------------------------------------------------------------------------------ */

static void print_place(const xir_value *v, uint64_t at) {
    static const char *const words[] = { "host", "ocm", "etm", "chunk" };
    printf("%5s %12" PRIu64, words[xir_mtype_kind_of(xir_value_mtype(v))], at);
}

static void print_row(const table *t, const row *r) {
    const xir_value *first = t->rows[t->first[r->buffer]].v;
    print_place(r->v, r->at);
    printf(" %12" PRIu64 " %6" PRId64 "-%-6" PRId64 " ", r->bytes, r->life.first, r->life.last);
    print_clipped(stdout, xir_value_name(r->v), 60);
    const bool part = r->bytes < t->buffers[r->buffer].size;
    if (part || (first != r->v && t->rows[t->first[r->buffer]].bytes == r->bytes)) {
        fputs(part ? "  in " : "  = ", stdout);
        print_clipped(stdout, xir_value_name(part ? r->life.in : first), 60);
    }
    putchar('\n');
}

/* The largest buffer that lives at a moment, after this one, the first of equal ones; n_buffers if there is none. */
static size_t largest_after(const table *t, int64_t moment, size_t after) {
    const xir_buffer *all = t->buffers;
    size_t largest = t->n_buffers;
    for (size_t i = 0; i < t->n_buffers; i++) {
        if (all[i].from > moment || all[i].to < moment || !all[i].size) continue;
        if (after < t->n_buffers && (all[i].size > all[after].size || (all[i].size == all[after].size && i <= after)))
            continue;
        if (largest == t->n_buffers || all[i].size > all[largest].size) largest = i;
    }
    return largest;
}

/* The largest of the values that live where the most bytes do. */
static void print_peak(const table *t, int64_t moment) {
    const xir_op *op = xir_liveness_op_at(t->lives, moment);
    fputs("most alive at op ", stdout);
    print_clipped(stdout, xir_op_name(op), 60);
    size_t b = largest_after(t, moment, t->n_buffers);
    for (int shown = 0; shown < 8 && b < t->n_buffers; shown++, b = largest_after(t, moment, b)) {
        fputs(shown ? ", " : ": ", stdout);
        print_clipped(stdout, xir_value_name(t->rows[t->first[b]].v), 60);
        printf(" %" PRIu64, t->buffers[b].size);
    }
    putchar('\n');
}

static void print_table(const table *t) {
    uint64_t end = 0, from = UINT64_MAX, onchip = 0;
    table_begin();
    puts("memory     address        bytes          life value");
    for (size_t i = 0; i < t->n; i++) {
        const row *r = &t->rows[i];
        print_row(t, r);
        uint64_t *to = xir_mtype_kind_of(xir_value_mtype(r->v)) == XIR_MTYPE_ONCHIP ? &onchip : &end;
        if (r->at + r->bytes > *to) *to = r->at + r->bytes;
        if (to == &end && r->at < from) from = r->at;
    }
    table_end();
    if (from > end) from = end;
    printf("%zu values in %zu buffers, %zu on the host; ", t->n, t->n_buffers, t->on_host);
    if (t->n) {
        if (onchip) printf("%" PRIu64 " bytes on the chip; ", onchip);
        printf("%" PRIu64 " bytes from %" PRIu64 " to %" PRIu64 ", at most %" PRIu64 " alive\n", end - from, from, end,
               t->peak.bound);
        print_peak(t, t->peak.moment);
    } else {
        puts("nothing is planned");
    }
}

/* In MiniMalloc's columns: `upper` is the first moment after a life. */
static void print_csv(const table *t) {
    puts("id,lower,upper,size,alignment,offset");
    for (size_t i = 0; i < t->n_buffers; i++) {
        const xir_buffer *b = &t->buffers[i];
        printf("%zu,%" PRId64 ",%" PRId64 ",%" PRIu64 ",%" PRId64 ",%" PRIu64 "\n", i, b->from, b->to + 1, b->size,
               t->asked.align, t->rows[t->first[i]].base);
    }
}

/* ---- the command --------------------------------------------------------------------------------- */

static int plan(loaded *l) {
    table t = { 0 };
    if (xir_network_is_dialect(l->net)) {
        return complain_of(MISUSED, l->name, "a network of another framework has no memory types: convert it first, "
                           "xir opt IN OUT");
    }
    xir_diags *why = new_diags();
    const xir_status status = xir_pass_run(l->net, "plan", how, NULL, why);
    int code = status ? exit_of(status) : make_table(&t, l->net, why);
    say(why);
    xir_diags_free(why);
    if (!code && as_csv) print_csv(&t);
    else if (!code && as_svg) plan_svg(&t);
    else if (!code) print_table(&t);
    free_table(&t);
    return code;
}

/* An option that was given and is not one of --from-csv; NULL if there is none. */
static const char *other_option(void) {
    for (const option *o = plan_command.options; o->name; o++) {
        const bool given = o->argument ? *(const char *const *)o->to != NULL : *(const bool *)o->to;
        if (given && o->to != &from_csv && o->to != &plan_limit && o->to != &plan_effort) return o->name;
    }
    return NULL;
}

static int run(int n, char **operands) {
    const char *out = n > 1 ? operands[1] : NULL;
    if (from_csv) {
        const char *other = other_option();
        if (out) return complain(MISUSED, "--from-csv prints the plan: there is no OUT");
        return other ? complain(MISUSED, "--%s is for a network, not for --from-csv", other) : plan_csv(operands[0]);
    }
    if (plan_limit || plan_effort)
        return complain(MISUSED, "--limit and --effort belong to --from-csv; --how has them for a network");
    const file_format *to = out ? choose_output(out) : NULL;
    xir_save_options o;
    int code = !out ? DONE : to ? check_save(to, out, &o) : MISUSED;
    if (code) return code;
    if (out && strcmp(out, "-") == 0)
        return complain(MISUSED, "plan prints the table to standard output: OUT is a file");
    if (as_csv && as_svg) return complain(MISUSED, "--csv and --svg print to standard output: only one can");
    loaded l = { 0 };
    code = load(&l, operands[0], 0);
    if (!code) code = plan(&l);
    if (!code && out) code = save(&l, out, to, &o);
    unload(&l);
    return code;
}

static const option options[] = {
    { "how", "OPTIONS", WORD_TEXT, &how,
      "options of the pass plan: \"memory=etm,limit=2M\"; xir passes plan lists them" },
    { "csv", NULL, WORD_NONE, &as_csv,
     "print buffers in the columns of MiniMalloc: id,lower,upper,size,alignment,offset" },
    { "svg", NULL, WORD_NONE, &as_svg, "print a picture of the plan: time from left to right, addresses from below" },
    { "from-csv", NULL, WORD_NONE, &from_csv,
      "NET has lines of numbers: id,lower,upper,size, and perhaps alignment and offset" },
    { "limit", "BYTES", WORD_TEXT, &plan_limit, "with --from-csv: the bytes that there are" },
    { "effort", "N", WORD_TEXT, &plan_effort, "with --from-csv: 0, 1 or 2, how hard to try (1)" },
    PARAMS_OPTION, OUT_PARAMS_OPTION, NO_PARAMS_OPTION, LAZY_OPTION, INDENT_OPTION, ALIGN_OPTION, PLAIN_OPTION,
    INLINE_OPTION, NO_IDS_OPTION, NO_MD5_OPTION, EXTERNAL_OPTION, FROM_OPTION, AS_CALLS_OPTION, TO_OPTION,
    { 0 },
};

const command plan_command = {
    .name = "plan", .operands = "NET [OUT]", .is = WORD_FILE,
    .doc = "plans the memory of a network, and prints where each value is",
    .details = "Runs the pass plan, and prints for each value that has an address: the memory, the address, the bytes, "
               "the first and the last op of its life, and the value whose bytes it shares. Then how many bytes are "
               "used, how many are alive at most, at which op, and which values those are. With OUT, the network is "
               "written with its addresses. A file of another framework has to be converted before (xir opt). With "
               "--from-csv, NET is a list of buffers in the columns of MiniMalloc, and a list with offsets is printed; "
               "offsets that NET has are checked.",
    .faulty = "NET is invalid, its offsets are, or there is no plan within the limit",
    .examples = (const example[]){
        { "xir opt digits.onnx digits.fb", "Make a typed network." },
        { "xir plan digits.fb planned.fb", "Give its values addresses." },
        { NULL, NULL },
    },
    .related = "stats opt",
    .options = options, .least = 1, .most = 2, .run = run,
};
