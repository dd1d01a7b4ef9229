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

static const char *symbol_name(int64_t i) {
    static char text[24];
    snprintf(text, sizeof text, "s%lld", (long long)i);
    return text;
}

/* Symbols with expressions over them, then a narrower interval for each, and a proof after each. A step of the proof
 * costs more than in other tables. */
static void narrow_symbols(costs *c, xir_context *ctx, int64_t n) {
    enum { LESS = 8 };
    xir_network *net = xir_network_new(ctx, "shape", XIR_FRAMEWORK_PYTORCH, "1");
    const xir_type *like = XIR_TENSOR(ctx, xir_type_float(ctx, XIR_FLOAT_FP32), "*", 1);
    xir_symbol *bindings = calloc((size_t)n, sizeof *bindings);
    n /= LESS;
    COST(c, "declare symbols", for (int64_t i = 0; i < n; i++) {
        char dim[64];
        snprintf(dim, sizeof dim, "floor((s%lld + 1)/2)", (long long)i);
        xir_network_type_with_dims(net, like, (const xir_str[]){ xir_str_of(dim) }, 1, NULL);
    });
    COST(c, "narrow symbols", for (int64_t i = 0; i < n; i++) {
        char dim[64];
        xir_network_declare_symbol(net, xir_str_of(symbol_name(i)), 1, 1000, NULL);
        snprintf(dim, sizeof dim, "max(floor((s%lld + 1)/2), 1)", (long long)i);
        xir_network_type_with_dims(net, like, (const xir_str[]){ xir_str_of(dim) }, 1, NULL);
    });
    for (int64_t i = 0; i < n; i++) {
        char *name = malloc(24);
        strcpy(name, symbol_name(i));
        bindings[i] = (xir_symbol){ xir_str_of(name), 2, 500 };
    }
    COST(c, "bind symbols", xir_network_bind(net, bindings, (size_t)n, NULL));
    for (int64_t i = 0; i < n; i++) free((void *)(uintptr_t)bindings[i].name.data);
    free(bindings);
    xir_network_free(net);
}

const table_shape table_shapes[] = { { "plans", find_plans }, { "classes", find_classes }, { "types", make_types },
                                     { "symbols", narrow_symbols } };
const size_t n_table_shapes = sizeof table_shapes / sizeof *table_shapes;
