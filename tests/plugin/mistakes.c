/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A plug-in with one class, which XIR_MISTAKE in the environment names. Its author has made one mistake, which a trial
 * finds; tests/trial/mistakes.c and tests/cli/check_plugin.sh have the sentences. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xir/xir.h>

#define XIR_DEFS "mistakes.def"
#include <xir/declare.h>
#define XIR_DEFS "mistakes.def"
#include <xir/define.h>

static int calls;

/* ---- checks ------------------------------------------------------------------------------------------------------ */

static size_t rank_of(const xir_infer *at) { return xir_type_rank(xir_infer_input(at, 0)); }
static int64_t dim_of(const xir_infer *at, int64_t i) { return xir_type_dim(xir_infer_input(at, 0), i, false); }

xir_status m_check_counts(xir_infer *at) {
    return ++calls % 3 ? XIR_OK : xir_infer_fail(at, XIR_E_INVALID, "inputs/0", "it is the third time");
}

xir_status m_check_silent(xir_infer *at) { return rank_of(at) > 2 ? XIR_E_INVALID : XIR_OK; }

xir_status m_check_refuses(xir_infer *at) {
    return xir_infer_fail(at, XIR_E_INVALID, "inputs/0", "input has %zu dims: expected 77", rank_of(at));
}

xir_status m_check_closed(xir_infer *at) {
    for (size_t i = 0; i < rank_of(at); i++)
        if (dim_of(at, (int64_t)i) < 0) return xir_infer_fail(at, XIR_E_BOUNDS, "inputs/0", "dim %zu is negative", i);
    return XIR_OK;
}

xir_status m_check_vector(xir_infer *at) {
    return rank_of(at) == 1 ? XIR_OK : xir_infer_fail(at, XIR_E_INVALID, "inputs/0", "expected one dim");
}

xir_status m_check_loops(xir_infer *at) {
    const xir_m_loops_attrs *a = xir_infer_attrs(at);
    volatile int64_t sum = 0;
    for (int64_t i = 0; i < a->times; i++) sum = sum + 1;
    return XIR_OK;
}

/* It would wait for the clock of the trial, a minute; here the clock goes faster. */
xir_status m_check_waits(xir_infer *at) {
    (void)at;
    alarm(1);
    pause();
    return XIR_OK;
}

/* ---- inference --------------------------------------------------------------------------------------------------- */

xir_status m_same(xir_infer *at) {
    const xir_status status = xir_infer_need_tensors(at, 1);
    return status ? status : xir_infer_result(at, xir_infer_input(at, 0));
}

xir_status m_infer_two(xir_infer *at) {
    const xir_status status = m_same(at);
    return status ? status : m_same(at);
}

xir_status m_infer_none(xir_infer *at) {
    (void)at;
    return XIR_OK;
}

xir_status m_infer_null(xir_infer *at) { return xir_infer_result(at, NULL); }

static xir_status give_vector(xir_infer *at, int64_t n) {
    const xir_status status = xir_infer_need_tensors(at, 1);
    return status ? status : xir_infer_result_like(at, xir_infer_input(at, 0), &n, 1);
}

xir_status m_infer_counts(xir_infer *at) { return give_vector(at, 1 + ++calls % 4); }

xir_status m_infer_knows(xir_infer *at) {
    int64_t n = 1;
    for (size_t i = 0; i < rank_of(at); i++) n *= dim_of(at, (int64_t)i) > 0 ? dim_of(at, (int64_t)i) : 1;
    return give_vector(at, n);
}

/* The half of a vector. */
xir_status m_infer_half(xir_infer *at) {
    const int64_t n = dim_of(at, 0);
    return give_vector(at, n < 0 ? n : (n + 1) / 2);
}

/* A vector with one element more. */
xir_status m_infer_grows(xir_infer *at) {
    const int64_t n = dim_of(at, 0);
    return give_vector(at, n < 0 ? n : n + 1);
}

xir_status m_infer_changes(xir_infer *at) {
    xir_m_changes_attrs *a = (xir_m_changes_attrs *)(uintptr_t)xir_infer_attrs(at);
    if (a->times == 2) a->times = 3;
    return m_same(at);
}

xir_status m_infer_reads(xir_infer *at) {
    const xir_tensor_type *other = xir_type_as_tensor(xir_infer_input(at, 1));
    return other->shape.size > 100 ? XIR_E_INVALID : m_same(at);
}

xir_status m_work_counts(xir_infer *at) { return xir_work_result(at, 0, (uint64_t)++calls); }

/* ---- what a part needs ------------------------------------------------------------------------------------------- */

xir_status m_needs_all(xir_infer *at) {
    (void)at;
    return XIR_OK;
}

xir_status m_needs_same(xir_infer *at) {
    const xir_box *part = xir_needs_part(at);
    for (uint32_t k = 0; k < part->rank; k++) xir_needs_along(at, 0, k, part->begin[k], part->end[k]);
    if (xir_tile_asked(at)) xir_tile_same(at);
    return XIR_OK;
}

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

/* The numbers of a kernel with one input and one output. */
typedef struct numbers { const double *x; double *y; int64_t n, in; } numbers;

static xir_status open_numbers(xir_kernel *at, numbers *v) {
    v->x = xir_kernel_reals(at, 0);
    v->y = xir_kernel_real_out(at, 0);
    if (!v->x || !v->y) return XIR_E_MEMORY;
    return xir_type_elements(xir_kernel_input_type(at, 0), &v->in)
               ? XIR_E_BOUNDS : xir_type_elements(xir_kernel_output_type(at, 0), &v->n);
}

static xir_status run_same(xir_kernel *at) {
    numbers v;
    const xir_status status = open_numbers(at, &v);
    for (int64_t i = 0; i < v.n && !status; i++) v.y[i] = v.in ? v.x[i % v.in] : 0;
    return status;
}

static xir_status run_counts(xir_kernel *at) {
    numbers v;
    const xir_status status = open_numbers(at, &v);
    for (int64_t i = 0; i < v.n && !status; i++) v.y[i] = calls;
    calls++;
    return status;
}

static xir_status run_beyond(xir_kernel *at) {
    numbers v;
    const xir_status status = run_same(at) ? XIR_E_MEMORY : open_numbers(at, &v);
    if (!status) v.y[v.n] = 1;
    return status;
}

static xir_status run_writes(xir_kernel *at) {
    char *bytes = (char *)(uintptr_t)xir_kernel_bytes(at, 0);
    int64_t n;
    if (!bytes) return XIR_E_MEMORY;
    if (xir_type_elements(xir_kernel_input_type(at, 0), &n) == XIR_OK && n) bytes[0] = (char)(bytes[0] ^ 1);
    return run_same(at);
}

static xir_status run_forgets(xir_kernel *at) {
    double *room = xir_kernel_alloc(at, 8, sizeof *room);
    room[0] = 1;
    return run_same(at);
}

static xir_status run_answers(xir_kernel *at) {
    const double *room = xir_kernel_alloc(at, 8, sizeof *room);
    if (!room) return xir_kernel_fail(at, XIR_E_INVALID, NULL, "something is wrong");
    return run_same(at);
}

static xir_status run_fails(xir_kernel *at) {
    numbers v;
    const xir_status status = open_numbers(at, &v);
    for (int64_t i = 0; i < v.n && !status; i++) {
        if (v.x[i] < 0) return xir_kernel_fail(at, XIR_E_BOUNDS, "inputs/0", "a number is below 0");
        v.y[i] = sqrt(v.x[i]);
    }
    return status;
}

/* Sums of two neighbours. */
static xir_status run_pairs(xir_kernel *at) {
    numbers v;
    const xir_status status = open_numbers(at, &v);
    for (int64_t i = 0; i < v.n && !status; i++) v.y[i] = v.x[i] + (i ? v.x[i - 1] : 0);
    return status;
}

/* The number of its place is added to each. */
static xir_status run_places(xir_kernel *at) {
    numbers v;
    const xir_status status = open_numbers(at, &v);
    for (int64_t i = 0; i < v.n && !status; i++) v.y[i] = v.x[i] + (double)i;
    return status;
}

static xir_status run_grows(xir_kernel *at) {
    numbers v;
    const xir_status status = open_numbers(at, &v);
    for (int64_t i = 0; i < v.n && !status; i++) v.y[i] = i < v.in ? v.x[i] : 0;
    return status;
}

static xir_status run_minus(xir_kernel *at) {
    numbers v;
    const xir_status status = open_numbers(at, &v);
    for (int64_t i = 0; i < v.n && !status; i++) v.y[i] = 1 - v.x[i];
    return status;
}

static xir_status run_parts(xir_kernel *at) {
    numbers v;
    const xir_status status = open_numbers(at, &v);
    for (int64_t i = 0; i < v.n && !status; i++) v.y[i] = v.x[i] > 0 ? v.x[i] * 1.01 : 0;
    return status;
}

/* ---- rows without an end ----------------------------------------------------------------------------------------- */

#define ROWS(key)                                                                              \
    { .decl = XIR_DECL_OP, .name = key, .doc = "its rows have no end", .offset = 8 },            \
    { .decl = XIR_DECL_OUTS, .name = "outputs", .doc = "some" }

/* The rows of another class follow. */
static const xir_class_decl *m_endless(void) {
    static const struct { xir_row rows[2], others[2], end; } both = {
        { ROWS("mistake::Endless") }, { ROWS("mistake::Next") }, { .decl = XIR_DECL_END },
    };
    static const xir_class_decl decl = { XIR_ABI, sizeof(xir_class_decl), sizeof(xir_row), both.rows };
    return &decl;
}

/* A text follows. */
static const xir_class_decl *m_text(void) {
    static const struct { xir_row rows[2]; char text[sizeof(xir_row)]; } both = { { ROWS("mistake::Text") }, "no end" };
    static const xir_class_decl decl = { XIR_ABI, sizeof(xir_class_decl), sizeof(xir_row), both.rows };
    return &decl;
}

/* ---- the description --------------------------------------------------------------------------------------------- */

static const struct { const char *name; xir_class_fn *cls; xir_kernel_fn *run; } mistakes[] = {
    { "fine",    xir_m_fine_class,    run_same    }, { "two",     xir_m_two_class,     run_same    },
    { "none",    xir_m_none_class,    run_same    }, { "null",    xir_m_null_class,    run_same    },
    { "checks",  xir_m_checks_class,  run_same    }, { "infers",  xir_m_infers_class,  run_same    },
    { "silent",  xir_m_silent_class,  run_same    }, { "refuses", xir_m_refuses_class, run_same    },
    { "closed",  xir_m_closed_class,  run_same    }, { "knows",   xir_m_knows_class,   run_same    },
    { "counts",  xir_m_counts_class,  run_counts  }, { "beyond",  xir_m_beyond_class,  run_beyond  },
    { "writes",  xir_m_writes_class,  run_writes  }, { "forgets", xir_m_forgets_class, run_forgets },
    { "answers", xir_m_answers_class, run_answers }, { "fails",   xir_m_fails_class,   run_fails   },
    { "over",    xir_m_over_class,    run_pairs   }, { "view",    xir_m_view_class,    run_minus   },
    { "little",  xir_m_little_class,  run_pairs   }, { "much",    xir_m_much_class,    run_same    },
    { "places",  xir_m_places_class,  run_places  }, { "grows",   xir_m_grows_class,   run_grows   },
    { "each",    xir_m_each_class,    run_pairs   }, { "work",    xir_m_work_class,    run_same    },
    { "parts",   xir_m_parts_class,   run_parts   }, { "types",   xir_m_types_class,   run_same    },
    { "changes", xir_m_changes_class, run_same    }, { "loops",   xir_m_loops_class,   run_same    },
    { "reads",   xir_m_reads_class,   run_same    }, { "endless", m_endless,           NULL        },
    { "text",    m_text,              NULL        }, { "waits",   xir_m_waits_class,   run_same    },
};

const xir_plugin *xir_plugin_entry(void) {
    static xir_class_fn *classes[1];
    static xir_plugin_kernel kernels[1];
    static xir_plugin plugin = { XIR_PLUGIN_HEAD("mistakes"), .classes = classes, .n_classes = 1, .kernels = kernels };
    const char *name = getenv("XIR_MISTAKE");
    while (name && strcmp(name, "stuck") == 0) {}
    for (size_t i = 0; name && i < sizeof mistakes / sizeof *mistakes; i++) {
        if (strcmp(name, mistakes[i].name) != 0) continue;
        classes[0] = mistakes[i].cls;
        kernels[0] = (xir_plugin_kernel){ mistakes[i].cls, mistakes[i].run };
        plugin.n_kernels = mistakes[i].run ? 1 : 0;
        return &plugin;
    }
    return NULL;
}
