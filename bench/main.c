/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* xir-bench NAME [--ops N] [--net KIND | --file F] [--runs R] [--alone] [--full]
 *
 * Prints one JSON object a line. The first line is XIR, with NAME as its `bench`. Then, as "NAME/by", come yardsticks
 * of the machine and the same work done by peers, measured in the same run.
 *
 *   ns_per_op         processor time; best_ns_per_op is that of the best run, wall_ns_per_op is wall-clock time
 *   user_ns_per_op    the user part of ns_per_op; sys_ns_per_op is the rest, which the kernel took. The kernel samples
 *                     them by its ticks, 100 to 1000 a second: all runs together should last a second or more
 *   pages_per_op      pages that the work touched for the first time, by getrusage(2); a huge page counts as one
 *   clear_ns_per_op   the yardstick: what clearing as many fresh pages took, in the same runs
 *   quoted_ns_per_op  user_ns_per_op + clear_ns_per_op: the time of docs/performance.md;
 *                     best_quoted_ns_per_op is that of the best run
 *   ops               1 if the work is on a whole file or a buffer
 *   mb_per_s          of `bytes`, MB = 10^6, by processor time, or by wall-clock time if a disk works
 *   rss_bytes_per_op  memory still in use after the work; peak_bytes_per_op: the greatest amount in use
 *   count             what was done, as evidence that it was done
 *   ratio             the other's time / XIR's time: above 1, XIR is faster. Per op; for yardsticks of bytes per byte,
 *                     for walks per edge
 *
 * Figures are medians of `runs` runs, each in a fresh process; the runs of all lines take turns. Compare figures of
 * one call only: on a shared machine the same work took 290 ns at one time and 510 at another. */
#include "bench.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const bench_case *const tables[] = {
    bytes_cases,
    compare_cases,
    composed_cases,
    equal_cases,
    exec_cases,
    files_cases,
    fuse_cases,
    graph_cases,
    infer_cases,
    json_cases,
    lines_cases,
    layout_cases,
    library_cases,
    draw_cases,
    onnx_read_cases,
    passes_cases,
    plan_cases,
    nnb_cases,
    tsm_cases,
    deepx_cases,
    pnnx_cases,
    raw_cases,
    regions_cases,
    yardstick_cases,
#ifdef XIR_PEER_FLATBUFFERS
    flatbuffers_cases,
#endif
#ifdef XIR_PEER_MSGPACK_CXX
    msgpack_cxx_cases,
#endif
#ifdef XIR_PEER_MSGPACK_C
    msgpack_c_cases,
#endif
#ifdef XIR_PEER_MLIR
    mlir_cases,
#endif
#ifdef XIR_PEER_ONNX
    onnx_cases,
#endif
#ifdef XIR_PEER_SIMDJSON
    simdjson_cases,
#endif
#ifdef XIR_PEER_NLOHMANN
    nlohmann_cases,
#endif
#ifdef XIR_PEER_OPENBLAS
    openblas_cases,
#endif
};

size_t bench_threads = 1;

enum { TABLES = sizeof tables / sizeof tables[0], SLOW_OPS = 100000 };

/* The limit of the time for all runs of a row; only the first run may exceed it. */
static const double our_seconds = 20, peer_seconds = 5;

typedef struct options {
    const char *name, *net, *file, *text, *save;
    size_t      ops;
    int         runs;
    bool        alone, full, list;
} options;

/* The inputs made so far: with the requested number of ops, and with SLOW_OPS for slow peers. */
typedef struct inputs {
    bench_input plain, slow, raw, folder;
} inputs;

static bool need_text(bench_input *in, const char *file)
{
    if (in->text)
        return true;
    char *text = file ? pages_read(file, &in->size) : text_make(in->ops, &in->size, NULL, NULL);
    in->text = text;
    if (text && file) {
        in->ops = text_ops(text, in->size);
        in->path = file;
    }
    return text != NULL;
}

static bool need_file(bench_input *in, const char *file)
{
    if (!need_text(in, file))
        return false;
    if (!in->path)
        in->path = pages_keep(in->text, in->size);
    return in->path != NULL;
}

static bool need_raw(bench_input *in)
{
    if (in->text)
        return true;
    char *raw;
    size_t raw_size;
    char *text = text_make(in->ops, &in->size, &raw, &raw_size);
    if (!text || !(in->path = pages_keep(raw, raw_size)))
        return false;
    in->text = text;
    return true;
}

static bool need_folder(bench_input *in, bool sparse)
{
    static bool tried;
    if (!in->path && !(in->path = pages_folder()))
        return false;
    if (sparse && !tried) { /* rows whose file could not be made will report it */
        tried = true;
        files_make(in->path);
    }
    return true;
}

/* The input that `c` needs, or NULL if it cannot be made. */
static const bench_input *input_for(const bench_case *c, inputs *all, const options *o)
{
    if (c->flags & BENCH_RAW)
        return need_raw(&all->raw) ? &all->raw : NULL;
    if (c->flags & (BENCH_FOLDER | BENCH_SPARSE))
        return need_folder(&all->folder, c->flags & BENCH_SPARSE) ? &all->folder : NULL;
    bool slow = (c->flags & BENCH_SLOW) && !o->full && !o->file && o->ops > SLOW_OPS;
    bench_input *in = slow ? &all->slow : &all->plain;
    if ((c->flags & BENCH_FILE) && !need_file(in, o->file))
        return NULL;
    if ((c->flags & BENCH_TEXT) && !need_text(in, o->file))
        return NULL;
    return in;
}

static double per(double what, double n)
{
    return n > 0 ? what / n : 0;
}

/* A requested row, and its runs so far. */
typedef struct row {
    const bench_case  *c;
    const bench_input *in;
    bench_run          runs[BENCH_MOST_RUNS];
    int                n;
    double             spent; /* ns, including the setup */
    bool               failed;
} row;

enum { MOST_ROWS = 16 };

/* Adds the rows of the requested bench that are XIR's, or the others. Returns the number of rows. */
static int add_rows(row *rows, int n, const options *o, bool of_xir)
{
    for (int t = 0; t < TABLES; t++)
        for (const bench_case *c = tables[t]; c->run; c++)
            if (n < MOST_ROWS && strcmp(c->bench, o->name) == 0 && !c->by == of_xir &&
                !(o->file && c->flags & BENCH_CHAIN))
                rows[n++].c = c;
    return n;
}

/* First the first run of every row, then the second of every row, so that a noisy minute affects all rows. */
static void run_rows(row *rows, int n, const options *o, inputs *all)
{
    for (int i = 0; i < n; i++)
        rows[i].failed = !(rows[i].in = input_for(rows[i].c, all, o));
    for (int round = 0; round < o->runs; round++)
        for (int i = 0; i < n; i++) {
            row *r = &rows[i];
            double most = (r->c->by ? peer_seconds : our_seconds) * 1e9;
            if (r->failed || (r->n && r->spent + r->spent / r->n > most))
                continue;
            double start = measure_now();
            r->runs[r->n] = measure_once(r->c, r->in, round == 0);
            r->failed = !r->runs[r->n++].done;
            r->spent += measure_now() - start;
        }
}

/* The time of XIR, for the ratios of the following lines. */
typedef struct pace {
    double ns_per_op, ns_per_byte, ns_per_count;
} pace;

static void print_row(const row *r, pace *our)
{
    const bench_case *c = r->c;
    bench_run m = measure_median(r->runs, r->n);
    double best = m.cpu, share = per(m.user, m.cpu), quoted = m.user + m.clear, best_quoted = quoted;
    for (int i = 0; i < r->n; i++) {
        double its = r->runs[i].cpu * share + r->runs[i].clear;
        best = r->runs[i].cpu < best ? r->runs[i].cpu : best;
        best_quoted = its < best_quoted ? its : best_quoted;
    }
    bool of_ops = !(c->flags & (BENCH_BY_BYTE | BENCH_FOLDER | BENCH_SPARSE)) ||
                  (c->flags & (BENCH_TEXT | BENCH_FILE | BENCH_RAW));
    double ops = of_ops ? (double)r->in->ops : 1;
    double bytes = (double)m.result.bytes, count = (double)m.result.count;
    double time = c->flags & BENCH_BY_WALL ? m.wall : m.cpu;
    pace its = { per(time, ops), per(time, bytes), per(time, count) };

    printf("{\"bench\":\"%s%s%s\",\"ops\":%.0f,\"ns_per_op\":%.3f,\"wall_ns_per_op\":%.3f,"
           "\"best_ns_per_op\":%.3f,\"user_ns_per_op\":%.3f,\"sys_ns_per_op\":%.3f,\"pages_per_op\":%.4f,"
           "\"clear_ns_per_op\":%.3f,\"quoted_ns_per_op\":%.3f,\"best_quoted_ns_per_op\":%.3f,\"bytes\":%.0f,\"mb_per_s\":%.1f,"
           "\"rss_bytes_per_op\":%.1f,\"peak_bytes_per_op\":%.1f,\"count\":%.0f,\"runs\":%d",
           c->bench, c->by ? "/" : "", c->by ? c->by : "", ops, per(m.cpu, ops),
           per(m.wall, ops), per(best, ops), per(m.user, ops), per(m.cpu - m.user, ops), per(m.pages, ops),
           per(m.clear, ops), per(quoted, ops), per(best_quoted, ops), bytes, per(1e3, its.ns_per_byte),
           per(m.rss, ops), per(m.peak, ops), count, r->n);
    if (!c->by)
        *our = its;
    else if (our->ns_per_op == 0)
        ; /* the row of XIR is missing or failed */
    else if (c->flags & BENCH_BY_BYTE)
        printf(",\"ratio\":%.3f", per(its.ns_per_byte, our->ns_per_byte));
    else if (c->flags & BENCH_BY_EDGE)
        printf(",\"ratio\":%.3f", per(its.ns_per_count, our->ns_per_count));
    else
        printf(",\"ratio\":%.3f", per(its.ns_per_op, our->ns_per_op));
    printf(",\"what\":\"%s\"}\n", c->what);
}

static int list(void)
{
    for (int t = 0; t < TABLES; t++)
        for (const bench_case *c = tables[t]; c->run; c++) {
            int n = printf("%s%s%s", c->bench, c->by ? "/" : "", c->by ? c->by : "");
            printf("%*s%s\n", n < 31 ? 31 - n : 1, "", c->what);
        }
    return 0;
}

static int write_text(const options *o)
{
    size_t size;
    char *text = text_make(o->ops, &size, NULL, NULL);
    FILE *f = text ? fopen(o->text, "wb") : NULL;
    if (!f || fwrite(text, 1, size, f) != size || fclose(f) != 0) {
        fprintf(stderr, "xir-bench: cannot write %s: %s\n", o->text, strerror(errno));
        return 3;
    }
    return 0;
}

static bool is_unique(const options *o)
{
    return strcmp(o->net, "unique") == 0;
}

/* The network of --net as a file. */
static const char *make_net(const options *o)
{
    static char path[300];
    const char *folder = pages_folder();
    if (!folder)
        return NULL;
    snprintf(path, sizeof path, "%s/net.json", folder);
    return infer_text(path, o->ops, is_unique(o)) ? path : NULL;
}

static int usage(void)
{
    fputs("usage: xir-bench NAME [--ops N] [--net KIND | --file F] [--runs R] [--threads N] [--alone] [--full]\n"
          "       xir-bench --list           the names, and what each measures\n"
          "       xir-bench --text F [--ops N] [--net KIND]   writes the generated network\n"
          "       xir-bench NAME --save F   saves the network of a bench of the executor: .fb, .json, .imodel\n"
          "  --ops N    operations in the network (100000)\n"
          "  --net K    of text: chain (convolutions and activations in turn), real (layers of ResNet-50,\n"
          "             YOLOv5s and a transformer), unique (those, no two of the same size)\n"
          "  --file F   the JSON text to read or to write again, instead of a generated one\n"
          "  --runs R   runs, of which best and median are printed (10; slow peers may get fewer)\n"
          "  --threads N  of the benches of the executor: how many compute (1)\n"
          "  --alone    XIR only, no yardsticks and no peers\n"
          "  --full     slow peers too on all N operations\n",
          stderr);
    return 2;
}

static bool parse_count(const char *s, size_t least, size_t most, size_t *out)
{
    char *end;
    errno = 0;
    unsigned long long n = strtoull(s, &end, 10);
    if (*s < '0' || *s > '9' || *end || errno || n < least || n > most)
        return false;
    *out = (size_t)n;
    return true;
}

static bool is_net(const char *word)
{
    return strcmp(word, "chain") == 0 || strcmp(word, "real") == 0 || strcmp(word, "unique") == 0;
}

static bool parse(int argc, char **argv, options *o)
{
    size_t runs = 10;
    *o = (options){ .ops = 100000 };
    for (int i = 1; i < argc; i++) {
        const char *arg = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(arg, "--list") == 0)
            o->list = true;
        else if (strcmp(arg, "--alone") == 0)
            o->alone = true;
        else if (strcmp(arg, "--full") == 0)
            o->full = true;
        else if (arg[0] != '-' && !o->name)
            o->name = arg;
        else if (!value)
            return false;
        else if (strcmp(arg, "--file") == 0)
            o->file = argv[++i];
        else if (strcmp(arg, "--net") == 0 && is_net(value))
            o->net = argv[++i];
        else if (strcmp(arg, "--text") == 0)
            o->text = argv[++i];
        else if (strcmp(arg, "--save") == 0)
            o->save = argv[++i];
        else if (strcmp(arg, "--ops") == 0 && parse_count(value, 2, 100000000, &o->ops))
            i++;
        else if (strcmp(arg, "--runs") == 0 && parse_count(value, 1, BENCH_MOST_RUNS, &runs))
            i++;
        else if (strcmp(arg, "--threads") == 0 && parse_count(value, 1, 64, &bench_threads))
            i++;
        else
            return false;
    }
    o->runs = (int)runs;
    return o->save ? o->name != NULL : o->name || o->list || o->text;
}

int main(int argc, char **argv)
{
    options o;
    if (!parse(argc, argv, &o))
        return usage();
    if (o.list)
        return list();
    if (o.save)
        return exec_save(o.name, o.save);
    bool made = o.net && strcmp(o.net, "chain") != 0;
    if (o.text)
        return made ? (infer_text(o.text, o.ops, is_unique(&o)) ? 0 : 3) : write_text(&o);

    if (made && !(o.file = make_net(&o)))
        return 3;

    static row rows[MOST_ROWS];
    int n = add_rows(rows, 0, &o, true);
    if (!o.alone)
        n = add_rows(rows, n, &o, false);
    if (!n) {
        fprintf(stderr, "xir-bench: no bench is called '%s'; see --list\n", o.name);
        return 2;
    }
    inputs all = { .plain.ops = o.ops, .slow.ops = SLOW_OPS, .raw.ops = o.ops };
    run_rows(rows, n, &o, &all);

    pace our = { 0 };
    int failed = 0;
    for (int i = 0; i < n; i++)
        if (rows[i].failed)
            failed++;
        else
            print_row(&rows[i], &our);
    return failed ? 1 : 0;
}
