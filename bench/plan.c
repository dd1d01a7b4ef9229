/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Benchmarks memory plans without a network. The input is a chain of `ops` buffers; every fourth buffer is used 6 ops
 * later. If XIR_MINIMALLOC names the folder of MiniMalloc's published instances (benchmarks/challenging of
 * github.com/google/minimalloc), these are planned too. A line of stderr for each instance reports the number of
 * buffers, the ratio of the plan to the bound, and the steps and seconds of a search for a plan within the capacity. */
#include "bench.h"

#include <xir/xir.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct plans {
    xir_context     *ctx;
    xir_diags       *why;
    xir_buffer      *buffers;
    size_t           n;
    xir_memory_plan *plan;
} plans;

static void *chain_setup(const bench_input *in)
{
    plans *p = calloc(1, sizeof *p);
    if (!p || !(p->ctx = xir_context_new(NULL)) || !(p->why = xir_diags_new(p->ctx)) ||
        !(p->buffers = calloc(in->ops, sizeof *p->buffers)))
        return NULL;
    uint64_t seed = 1;
    for (p->n = 0; p->n < in->ops; p->n++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        p->buffers[p->n] = (xir_buffer){ .from = (int64_t)p->n, .to = (int64_t)p->n + (p->n % 4 == 3 ? 6 : 1),
                                         .size = 64 * (1 + (seed >> 33) % 1000), .align = 64 };
    }
    return p;
}

/* The same, but one of a hundred lives to the end. */
static void *long_setup(const bench_input *in)
{
    plans *p = chain_setup(in);
    for (size_t i = 0; p && i < p->n; i += 100)
        p->buffers[i].to = (int64_t)p->n;
    return p;
}

static bool plan(plans *p, xir_effort effort, bench_result *out)
{
    xir_memory_peak peak = XIR_INIT(xir_memory_peak);
    p->plan = xir_memory_plan_new(p->ctx, p->buffers, p->n, &XIR_INIT(xir_memory_options, .effort = effort), p->why);
    if (!p->plan || xir_memory_plan_peak(p->plan, &peak, p->why))
        return false;
    out->count = (size_t)(1000 * (double)peak.bytes / (double)peak.bound);
    return true;
}

static bool sweep_run(void *state, bench_result *out)
{
    return plan(state, XIR_EFFORT_SWEEP, out);
}

static bool orders_run(void *state, bench_result *out)
{
    return plan(state, XIR_EFFORT_ORDERS, out);
}

static bool planned_check(void *state)
{
    plans *p = state;
    return xir_memory_plan_check(p->ctx, p->buffers, xir_memory_plan_offsets(p->plan), p->n, 0, p->why) == XIR_OK;
}

static void *planned_setup(const bench_input *in)
{
    plans *p = chain_setup(in);
    bench_result none;
    return p && plan(p, XIR_EFFORT_SWEEP, &none) ? p : NULL;
}

static bool check_run(void *state, bench_result *out)
{
    plans *p = state;
    out->count = p->n;
    return planned_check(p);
}

/* Reads the lines "id,lower,upper,size" of a file. */
static bool read_instance(plans *p, const char *path)
{
    char line[256];
    FILE *f = fopen(path, "r");
    long long id, lower, upper, size;
    p->n = 0;
    if (!f)
        return false;
    const bool has_header = fgets(line, sizeof line, f) != NULL;
    while (has_header && p->n < 4096 && fgets(line, sizeof line, f))
        if (sscanf(line, "%lld,%lld,%lld,%lld", &id, &lower, &upper, &size) == 4)
            p->buffers[p->n++] = (xir_buffer){ .from = lower, .to = upper - 1, .size = (uint64_t)size };
    return fclose(f) == 0 && p->n > 0;
}

static bool try_instance(plans *p, const char *path, const char *name)
{
    enum { CAPACITY = 1048576 };
    xir_memory_peak orders = XIR_INIT(xir_memory_peak), searched = XIR_INIT(xir_memory_peak);
    const xir_memory_options how =
        XIR_INIT(xir_memory_options, .effort = XIR_EFFORT_SEARCH, .limit = CAPACITY, .steps = 4000000000);
    if (!read_instance(p, path))
        return false;
    double start = measure_now();
    xir_memory_plan *plan = xir_memory_plan_new(p->ctx, p->buffers, p->n, NULL, p->why);
    double middle = measure_now();
    if (!plan || xir_memory_plan_peak(plan, &orders, p->why))
        return false;
    xir_memory_plan_free(plan);
    plan = xir_memory_plan_new(p->ctx, p->buffers, p->n, &how, NULL);
    double end = measure_now();
    if (plan && xir_memory_plan_peak(plan, &searched, p->why))
        return false;
    fprintf(stderr, "%-14s %3zu buffers: effort 1 %.4f of the bound in %.0f ms; effort 2 %s in %.2f s, %.1e steps\n", name,
            p->n, (double)orders.bytes / (double)orders.bound, (middle - start) / 1e6,
            plan ? "within the capacity" : "above the capacity", (end - middle) / 1e9,
            plan ? (double)searched.steps : (double)how.steps);
    xir_memory_plan_free(plan);
    return plan != NULL;
}

static void *published_setup(const bench_input *in)
{
    return chain_setup(&(bench_input){ .ops = in->ops > 4096 ? in->ops : 4096 });
}

static bool published_run(void *state, bench_result *out)
{
    const char *folder = getenv("XIR_MINIMALLOC");
    struct dirent **files;
    char path[1024];
    int n = folder ? scandir(folder, &files, NULL, alphasort) : 0;
    for (int i = 0; i < n; i++) {
        const size_t size = strlen(files[i]->d_name);
        snprintf(path, sizeof path, "%s/%s", folder, files[i]->d_name);
        if (size > 4 && strcmp(files[i]->d_name + size - 4, ".csv") == 0)
            out->count += try_instance(state, path, files[i]->d_name);
        free(files[i]);
    }
    if (n > 0)
        free(files);
    return true;
}

const bench_case plan_cases[] = {
    { "memory-plan", NULL, 0, chain_setup, orders_run, planned_check,
      "effort 1 on a chain of buffers; count is 1000 times the peak over the bound" },
    { "memory-plan", "effort-0", 0, chain_setup, sweep_run, planned_check, "effort 0 on the same" },
    { "memory-plan", "long-lives", 0, long_setup, orders_run, planned_check,
      "effort 1, one of a hundred buffers lives to the end" },
    { "memory-plan", "check", 0, planned_setup, check_run, NULL, "the checker on the plan of effort 0" },
    { "memory-plan", "published", BENCH_FOLDER, published_setup, published_run, NULL,
      "MiniMalloc's instances, if XIR_MINIMALLOC names their folder; count is how many are within their capacity" },
    { 0 },
};
