/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* One run is one child process. The child sets up, returns free memory to the system, records its size, and does the
 * work between two readings of the clocks; the parent finds the figures in a shared page.
 *
 * Processor time is that of the whole child, so a library cannot hide threads; with one thread it is the time of
 * that thread.
 *
 * Memory that is touched for the first time costs what the system asks for clearing it, on a virtual machine also what
 * the host asks. That changes from minute to minute and from machine to machine. So the child counts the pages that
 * the work touched, and clears as many fresh ones when the work is done: the price of memory at that moment. */
#include "bench.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* The number after `key` in a /proc file of "key: n kB" lines, in bytes; 0 if the key is missing. */
static double proc_bytes(const char *file, const char *key)
{
    FILE *f = fopen(file, "r");
    if (!f)
        return 0;
    char line[256];
    double bytes = 0;
    size_t n = strlen(key);
    while (bytes == 0 && fgets(line, sizeof line, f))
        if (strncmp(line, key, n) == 0)
            bytes = strtod(line + n, NULL) * 1024;
    fclose(f);
    return bytes;
}

/* smaps_rollup walks the page tables: exact, where the counters of statm may lag by a few pages. */
static double memory_now(void)
{
    return proc_bytes("/proc/self/smaps_rollup", "Rss:");
}

static double memory_peak(void)
{
    return proc_bytes("/proc/self/status", "VmHWM:");
}

static void forget_peak(void)
{
    FILE *f = fopen("/proc/self/clear_refs", "w");
    if (!f)
        return;
    fputs("5", f);
    fclose(f);
}

/* ---- clearing pages -------------------------------------------------------------------------------------------- */

#define HUGE_PAGE ((size_t)2 << 20)

/* More is not cleared at once, so that a run never takes twice its memory: the rest is assumed to cost the same. */
#define MOST_CLEARED ((size_t)1 << 30)

/* Processor time of touching `n` fresh pages of `size` bytes; 0 if there is no memory for them. If the system has no
 * huge pages left, as many bytes are cleared as small ones. */
static double clear_pages(size_t n, size_t size)
{
    size_t touched = n < MOST_CLEARED / size ? n : MOST_CLEARED / size, step = (size_t)sysconf(_SC_PAGESIZE);
    if (!touched)
        return 0;
    size_t room = touched * size + size;
    char *p = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return 0;
    char *first = (char *)(((uintptr_t)p + size - 1) & ~(uintptr_t)(size - 1));
    madvise(first, touched * size, size == HUGE_PAGE ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    double begun = now(CLOCK_PROCESS_CPUTIME_ID);
    for (size_t at = 0; at < touched * size; at += step)
        *(volatile char *)(first + at) = 1;
    double spent = now(CLOCK_PROCESS_CPUTIME_ID) - begun;
    munmap(p, room);
    return spent * (double)n / (double)touched;
}

/* ---- runs ------------------------------------------------------------------------------------------------------- */

static double ns_of(struct timeval t)
{
    return (double)t.tv_sec * 1e9 + (double)t.tv_usec * 1e3;
}

/* Anonymous memory on huge pages. */
static double huge_now(void)
{
    return proc_bytes("/proc/self/smaps_rollup", "AnonHugePages:");
}

static void run_child(const bench_case *c, const bench_input *in, bool check, bench_run *out)
{
    void *state = c->setup(in);
    if (!state)
        return;
    malloc_trim(0);
    forget_peak();
    double before = memory_now(), huge = huge_now();
    struct rusage from, to;
    getrusage(RUSAGE_SELF, &from);
    double cpu = now(CLOCK_PROCESS_CPUTIME_ID);
    double wall = now(CLOCK_MONOTONIC);
    bool done = c->run(state, &out->result);
    out->wall = now(CLOCK_MONOTONIC) - wall;
    out->cpu = now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    getrusage(RUSAGE_SELF, &to);
    double after = memory_now();
    double peak = memory_peak();
    out->rss = after > before ? after - before : 0;
    out->peak = peak > after ? peak - before : out->rss;
    if (out->peak < 0)
        out->peak = 0;
    double system = ns_of(to.ru_stime) - ns_of(from.ru_stime);
    out->user = ns_of(to.ru_utime) - ns_of(from.ru_utime);
    out->user = out->user + system > 0 ? out->cpu * out->user / (out->user + system) : out->cpu;
    huge = huge_now() - huge;
    out->pages = (double)(to.ru_minflt - from.ru_minflt);
    huge = huge > 0 ? huge / (double)HUGE_PAGE : 0;
    huge = huge < out->pages ? huge : out->pages;
    out->clear = clear_pages((size_t)huge, HUGE_PAGE) +
                 clear_pages((size_t)(out->pages - huge), (size_t)sysconf(_SC_PAGESIZE));
    out->done = done && (!check || !c->check || c->check(state));
}

bench_run measure_once(const bench_case *c, const bench_input *in, bool check)
{
    const char *by = c->by ? c->by : "xir";
    bench_run run = { .done = false };
    bench_run *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        perror("xir-bench: mmap");
        return run;
    }
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        run_child(c, in, check, shared);
        fflush(stderr);
        _exit(0);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) < 0)
        perror("xir-bench: fork");
    else if (WIFSIGNALED(status))
        fprintf(stderr, "xir-bench: %s by %s: signal %d\n", c->bench, by, WTERMSIG(status));
    else if (!shared->done)
        fprintf(stderr, "xir-bench: %s by %s failed\n", c->bench, by);
    else
        run = *shared;
    munmap(shared, sizeof *shared);
    return run;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median of the doubles at `offset` in `n` runs. */
static double median(const bench_run *runs, int n, size_t offset)
{
    double v[BENCH_MOST_RUNS];
    for (int i = 0; i < n; i++)
        memcpy(&v[i], (const char *)&runs[i] + offset, sizeof v[i]);
    qsort(v, (size_t)n, sizeof v[0], by_value);
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

bench_run measure_median(const bench_run *runs, int n)
{
    double cpu = median(runs, n, offsetof(bench_run, cpu)), all = 0, user = 0;
    for (int i = 0; i < n; i++) {
        all += runs[i].cpu;
        user += runs[i].user;
    }
    return (bench_run){
        .done = true,
        .cpu = cpu,
        .user = all > 0 ? cpu * user / all : 0,
        .pages = median(runs, n, offsetof(bench_run, pages)),
        .clear = median(runs, n, offsetof(bench_run, clear)),
        .wall = median(runs, n, offsetof(bench_run, wall)),
        .rss = median(runs, n, offsetof(bench_run, rss)),
        .peak = median(runs, n, offsetof(bench_run, peak)),
        .result = runs[n - 1].result,
    };
}

double measure_now(void)
{
    return now(CLOCK_MONOTONIC);
}
