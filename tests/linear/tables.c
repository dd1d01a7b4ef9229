/* Tables that are searched for each op. That costs little compared with the rest of an op, so these searches are
 * measured alone, in large tables. */
#include "linear/shapes.h"
#include "codec/codec.h"

static void find_plans(costs *c, xir_context *ctx, int64_t n) {
    arena keep;
    codec_plans plans;
    arena_init(&keep, context_alloc(ctx));
    codec_plans_init(&plans, &keep, NULL);
    const xir_class **classes = malloc((size_t)n * sizeof *classes);
    for (int64_t i = 0; i < n; i++) {
        char key[40];
        snprintf(key, sizeof key, "t::Op%lld", (long long)i);
        classes[i] = xir_class_opaque(ctx, xir_str_of(key));
    }
    COST(c, "make plans", for (int64_t i = 0; i < n; i++) codec_plan_of(&plans, classes[i]));
    COST(c, "find plans", for (int64_t i = 0; i < n; i++) codec_plan_of(&plans, classes[i]));
    codec_plans_free(&plans);
    arena_free(&keep);
    free((void *)classes);
}

static void find_classes(costs *c, xir_context *ctx, int64_t n) {
    COST(c, "make classes", for (int64_t i = 0; i < n; i++) {
        char key[40];
        snprintf(key, sizeof key, "t::Op%lld", (long long)i);
        xir_class_opaque(ctx, xir_str_of(key));
    });
}

static void make_types(costs *c, xir_context *ctx, int64_t n) {
    COST(c, "make types", for (int64_t i = 0; i < n; i++) XIR_TENSOR(ctx, xir_type_float(ctx, XIR_FLOAT_FP32), "*", i + 1));
}

const table_shape table_shapes[] = { { "plans", find_plans }, { "classes", find_classes }, { "types", make_types } };
const size_t n_table_shapes = sizeof table_shapes / sizeof *table_shapes;
