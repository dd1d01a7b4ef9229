/* xir plan: plans the memory of a network, and prints where each value is. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "cli.h"

static const char *how, *limit_word, *effort_word;
static bool        as_csv, from_csv;

/* A value with an address, and the buffer that it is in. */
typedef struct row {
    const xir_value *v;
    xir_life         life;
    uint64_t         at;
    size_t           buffer;
} row;

typedef struct table {
    row                *rows;
    size_t              n, on_host;
    xir_liveness       *lives;
    xir_memory_buffers *buffers;
} table;

/* ---- the values ---------------------------------------------------------------------------------- */

static uint64_t address_of(const xir_value *v) {
    const xir_mtype *mtype = xir_value_mtype(v);
    return xir_mtype_kind_of(mtype) == XIR_MTYPE_CHUNK ? xir_mtype_offset(mtype) : xir_mtype_addr(mtype);
}

static bool has_address(void *user, const xir_value *v) {
    (void)user;
    return xir_mtype_kind_of(xir_value_mtype(v)) != XIR_MTYPE_HOST;
}

static void add_rows(table *t, const xir_network *net) {
    size_t room = 0;
    for (xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) room += xir_op_output_count(op);
    t->rows = take(room + 1, sizeof *t->rows);
    for (xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
        for (size_t i = 0; i < xir_op_output_count(op); i++) {
            row *r = &t->rows[t->n];
            *r = (row){ .v = xir_op_output(op, (int64_t)i), .life = XIR_INIT(xir_life) };
            r->buffer = xir_memory_buffers_find(t->buffers, r->v);
            r->at = address_of(r->v);
            const bool listed = r->buffer != SIZE_MAX && xir_liveness_of(t->lives, r->v, &r->life);
            t->n += listed;
            t->on_host += !listed;
        }
    }
}

static int make_table(table *t, xir_network *net, xir_diags *why) {
    const char *off = how ? strstr(how, "in-place=false") : NULL;
    t->lives = xir_liveness_new(net, &XIR_INIT(xir_liveness_options, .views = true, .in_place = !off), why);
    const xir_memory_buffers_options with = XIR_INIT(xir_memory_buffers_options, .takes = has_address, .upper = 1);
    t->buffers = t->lives ? xir_memory_buffers_new(t->lives, &with, why) : NULL;
    if (!t->buffers) return code_of(why);
    add_rows(t, net);
    return DONE;
}

static void free_table(table *t) {
    xir_memory_buffers_free(t->buffers);
    xir_liveness_free(t->lives);
    free(t->rows);
}

/* ---- printing ------------------------------------------------------------------------------------ */

static void print_place(const xir_value *v, uint64_t at) {
    static const char *const words[] = { "host", "ocm", "etm", "chunk" };
    printf("%5s %12" PRIu64, words[xir_mtype_kind_of(xir_value_mtype(v))], at);
}

static void print_row(const table *t, const row *r) {
    const xir_value *first = xir_memory_buffers_value(t->buffers, r->buffer);
    print_place(r->v, r->at);
    printf(" %12" PRIu64 " %6" PRId64 "-%-6" PRId64 " ", r->life.bytes, r->life.first, r->life.last);
    print_clipped(stdout, xir_value_name(r->v), 60);
    if (first != r->v) {
        fputs("  = ", stdout);
        print_clipped(stdout, xir_value_name(first), 60);
    }
    putchar('\n');
}

/* The largest of the values that live where the most bytes do. */
static void print_peak(const table *t, int64_t moment) {
    const xir_op *op = xir_liveness_op_at(t->lives, moment);
    size_t shown = 0;
    fputs("most alive at op ", stdout);
    print_clipped(stdout, xir_op_name(op), 60);
    for (uint64_t below = UINT64_MAX, most; shown < 8; shown++, below = most) {
        const row *largest = NULL;
        most = 0;
        for (size_t i = 0; i < t->n; i++) {
            const xir_buffer *b = &xir_memory_buffers_data(t->buffers)[t->rows[i].buffer];
            const bool first = xir_memory_buffers_value(t->buffers, t->rows[i].buffer) == t->rows[i].v;
            if (!first || b->from > moment || b->to < moment || b->size >= below || b->size <= most) continue;
            most = b->size;
            largest = &t->rows[i];
        }
        if (!largest) break;
        fputs(shown ? ", " : ": ", stdout);
        print_clipped(stdout, xir_value_name(largest->v), 60);
        printf(" %" PRIu64, most);
    }
    putchar('\n');
}

static void print_table(const table *t) {
    uint64_t end = 0, from = UINT64_MAX;
    xir_memory_peak peak = XIR_INIT(xir_memory_peak);
    xir_memory_plan *plan =
        xir_memory_buffers_plan(t->buffers, &XIR_INIT(xir_memory_options, .effort = XIR_EFFORT_SWEEP), NULL);
    puts("memory     address        bytes          life value");
    for (size_t i = 0; i < t->n; i++) {
        const row *r = &t->rows[i];
        print_row(t, r);
        if (r->at + r->life.bytes > end) end = r->at + r->life.bytes;
        if (r->at < from) from = r->at;
    }
    printf("%zu values in %zu buffers, %zu on the host; ", t->n, xir_memory_buffers_count(t->buffers), t->on_host);
    if (plan && t->n && !xir_memory_plan_peak(plan, &peak, NULL)) {
        printf("%" PRIu64 " bytes from %" PRIu64 " to %" PRIu64 ", at most %" PRIu64 " alive\n", end - from, from, end,
               peak.bound);
        print_peak(t, peak.moment);
    } else {
        puts("nothing is planned");
    }
    xir_memory_plan_free(plan);
}

/* In MiniMalloc's columns: `upper` is the first moment after a life. */
static void print_csv(const table *t) {
    puts("id,lower,upper,size,offset");
    for (size_t i = 0; i < t->n; i++) {
        const row *r = &t->rows[i];
        const xir_buffer *b = &xir_memory_buffers_data(t->buffers)[r->buffer];
        if (xir_memory_buffers_value(t->buffers, r->buffer) != r->v) continue;
        printf("%zu,%" PRId64 ",%" PRId64 ",%" PRIu64 ",%" PRIu64 "\n", r->buffer, b->from, b->to + 1, b->size, r->at);
    }
}

/* ---- buffers without a network ------------------------------------------------------------------- */

static bool read_whole(const char *path, text *t) {
    char block[1 << 16];
    FILE *in = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    if (!in) return false;
    for (size_t n; (n = fread(block, 1, sizeof block, in)) > 0;) text_add(t, block, n);
    const bool ok = !ferror(in);
    if (in != stdin) fclose(in);
    return ok;
}

static bool read_word(const char *word, uint64_t most, uint64_t *out) {
    char *end;
    if (!word) return true;
    errno = 0;
    *out = strtoull(word, &end, 10);
    return *word >= '0' && *word <= '9' && !*end && !errno && *out <= most;
}

static void print_plan(const xir_buffer *b, const uint64_t *offsets, size_t n) {
    puts("id,lower,upper,size,alignment,offset");
    for (size_t i = 0; i < n; i++) {
        printf("%zu,%" PRId64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", i, b[i].from, (uint64_t)b[i].to + 1,
               b[i].size, b[i].align ? b[i].align : 1, offsets[i]);
    }
}

/* Plans the buffers of a file of numbers. */
static int plan_csv(const char *path) {
    uint64_t limit = 0, effort = 1, *offsets;
    xir_buffer *buffers;
    size_t n;
    text t = { 0 };
    if (!read_word(limit_word, UINT64_MAX, &limit)) return complain(MISUSED, "--limit takes a number of bytes");
    if (!read_word(effort_word, 2, &effort)) return complain(MISUSED, "--effort takes 0, 1 or 2");
    if (!read_whole(path, &t)) {
        const int why = errno;
        text_free(&t);
        return complain_of(REFUSED, path, "%s", strerror(why));
    }
    xir_diags *why = new_diags();
    int code = exit_of(xir_memory_csv_read(context, text_of(&t), &buffers, &offsets, &n, why));
    if (!code) {
        xir_memory_plan *plan = xir_memory_plan_new(
            context, buffers, n, &XIR_INIT(xir_memory_options, .effort = (xir_effort)(XIR_EFFORT_SWEEP + effort),
                                           .limit = limit), why);
        if (plan) print_plan(buffers, xir_memory_plan_offsets(plan), n);
        else code = code_of(why);
        xir_memory_plan_free(plan);
        xir_memory_csv_free(context, buffers, offsets, n);
    }
    say(why);
    xir_diags_free(why);
    text_free(&t);
    return code;
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
    else if (!code) print_table(&t);
    free_table(&t);
    return code;
}

static int run(int n, char **operands) {
    const char *out = n > 1 ? operands[1] : NULL;
    if (from_csv) return out ? complain(MISUSED, "--from-csv prints the plan: there is no OUT") : plan_csv(operands[0]);
    if (limit_word || effort_word)
        return complain(MISUSED, "--limit and --effort belong to --from-csv; --how has them for a network");
    const file_format *to = out ? choose_output(out) : NULL;
    xir_save_options o;
    int code = !out ? DONE : to ? check_save(to, out, &o) : MISUSED;
    if (code) return code;
    if (out && strcmp(out, "-") == 0)
        return complain(MISUSED, "plan prints the table to standard output: OUT is a file");
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
    { "csv", NULL, WORD_NONE, &as_csv, "print buffers in the columns of MiniMalloc: id,lower,upper,size,offset" },
    { "from-csv", NULL, WORD_NONE, &from_csv, "NET has lines of numbers: id,lower,upper,size and perhaps alignment" },
    { "limit", "BYTES", WORD_TEXT, &limit_word, "with --from-csv: the bytes that there are" },
    { "effort", "N", WORD_TEXT, &effort_word, "with --from-csv: 0, 1 or 2, how hard to try (1)" },
    PARAMS_OPTION, OUT_PARAMS_OPTION, NO_PARAMS_OPTION, LAZY_OPTION, INDENT_OPTION, ALIGN_OPTION, PLAIN_OPTION,
    NO_MD5_OPTION, EXTERNAL_OPTION, FROM_OPTION, AS_CALLS_OPTION, UPSTREAM_OPTION, TO_OPTION,
    { 0 },
};

const command plan_command = {
    .name = "plan", .operands = "NET [OUT]", .is = WORD_FILE,
    .doc = "plans the memory of a network, and prints where each value is",
    .details = "Runs the pass plan, and prints for each value that has an address: the memory, the address, the bytes, "
               "the first and the last op of its life, and the value whose bytes it shares. Then how many bytes are "
               "used, how many are alive at most, at which op, and which values those are. With OUT, the network is "
               "written with its addresses. A file of another framework has to be converted before (xir opt). With --from-csv, "
               "NET is a list of buffers in the columns of MiniMalloc, and a list with offsets is printed.",
    .faulty = "NET is invalid, or there is no plan within the limit",
    .options = options, .least = 1, .most = 2, .run = run,
};
