/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Makes contexts for programs: every layer registers its component. Nothing in the lower layers knows this list. Each
 * component is an object of its own, which only its function and the list of all refer to: a linker that drops what
 * nothing refers to drops the components that a program does not name, and all that belongs to them alone. */
#include "context.h"
#include "library.h"

/* Components are added in the order of their ranks, whatever the order of the caller. */
typedef enum component_rank {
    RANK_KERNELS,
    RANK_PASSES,
    RANK_DIALECTS,
    RANK_TARGETS,
    RANK_FORMATS,      /* and those of formats.def from here on */
    RANK_COUNT = RANK_FORMATS + FORMAT_COUNT
} component_rank;

struct xir_component {
    component_rank       rank;
    xir_status         (*add)(xir_context *ctx);   /* NULL: of a format            */
    const struct format *format;
    const xir_component *needs;                    /* one of a lower rank, or NULL */
};

#define COMPONENT(id, ...) \
    static const xir_component component_##id = { __VA_ARGS__ }; \
    const xir_component *xir_component_##id(void) { return &component_##id; }

COMPONENT(kernels,  .rank = RANK_KERNELS,  .add = exec_register)
COMPONENT(passes,   .rank = RANK_PASSES,   .add = passes_register)
COMPONENT(dialects, .rank = RANK_DIALECTS, .add = convert_register, .needs = &component_passes)
COMPONENT(targets,  .rank = RANK_TARGETS,  .add = targets_register)

#define DIALECT FORMAT
#define FORMAT(id, page, fuzz) \
    extern const struct format format_##id; \
    COMPONENT(id, .rank = RANK_FORMATS + FORMAT_##id, .format = &format_##id)
#include "formats.def"
#undef FORMAT

static const xir_component *const all[] = {
    &component_kernels, &component_passes, &component_dialects, &component_targets,
#define FORMAT(id, page, fuzz) &component_##id,
#include "formats.def"
#undef FORMAT
#undef DIALECT
};

static bool has_rank(const xir_component *c, unsigned rank) { return c && c->rank == rank; }

/* The component of this rank, given or needed by one that is given; NULL if there is none. */
static const xir_component *find(const xir_component *const *given, size_t n, unsigned rank) {
    for (size_t i = 0; i < n; i++) {
        if (has_rank(given[i], rank)) return given[i];
        if (given[i] && has_rank(given[i]->needs, rank)) return given[i]->needs;
    }
    return NULL;
}

/* Adds the classes and the rules that every network needs, before all components. */
static xir_status add_common(xir_context *ctx) {
    xir_status status = types_register(ctx);
    if (!status) status = graph_register(ctx);
    if (!status) status = ops_register(ctx);
    return status ? status : serialize_register(ctx);
}

xir_context *xir_context_new_with(const xir_allocator *allocator, const xir_component *const *given, size_t n) {
    xir_context *ctx = given || !n ? context_make(allocator) : NULL;
    if (!ctx) return NULL;
    xir_status status = add_common(ctx);
    for (unsigned rank = 0; rank < RANK_COUNT && !status; rank++) {
        const xir_component *c = find(given, n, rank);
        if (!c) continue;
        if (c->format) ctx->formats[ctx->n_formats++] = c->format;
        if (c->add) status = c->add(ctx);
    }
    if (!status) return ctx;
    xir_context_free(ctx);
    return NULL;
}

xir_context *xir_context_new(const xir_allocator *allocator) {
    return xir_context_new_with(allocator, all, sizeof all / sizeof *all);
}
