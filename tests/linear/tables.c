/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Tables that are searched for each op. That costs little compared with the rest of an op, so these searches are
 * measured alone, in large tables. */
#include "linear/shapes.h"
#include "codec/codec.h"
#include "hash.h"
#include "spelled.h"

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

/* A value with as many open dims as uses. Formats that write a value at each use are left out. */
static void spell_dims(costs *c, xir_context *ctx, int64_t n) {
    bytes b = { 0 };
    spelling s;
    n /= 16;
    put_text(&b, "{\"_type_key\":\"icraft::xir::Network\",\"name\":\"shape\",\"ops\":[{\"_type_key\":\"t::Op\",\"inputs\":[");
    put_text(&b, "{\"_type_key\":\"icraft::xir::Value\",\"dtype\":{\"_type_key\":\"icraft::xir::TensorType\",");
    put_text(&b, "\"element_dtype\":\"@fp(32)\",\"layout\":\"@layout(*)\",\"merged_distrs\":[],\"shape\":[-1");
    for (int64_t i = 1; i < n; i++) put_text(&b, ",-1");
    put_text(&b, "]},\"mtype\":\"@hostm\",\"name\":\"\",\"tags\":{},\"v_id\":0,\"xir.dims\":[\"n\"");
    for (int64_t i = 1; i < n; i++) put_text(&b, ",\"n\"");
    put_text(&b, "]}],\"name\":\"\",\"op_id\":0,\"outputs\":[],\"tags\":{}}],\"xir.symbols\":{\"n\":\"1..8\"}}");
    xir_network *net = xir_network_read(ctx, b.data, b.size, XIR_STR("shape"), NULL, NULL);
    xir_op *op = net ? xir_network_first(net) : NULL;
    if (!net) abort();
    for (int64_t i = 0; i < n; i++) xir_op_add_input(op, xir_op_input(op, 0));
    COST(c, "list symbols", if (xir_network_symbols(net, NULL, 0) != 1) abort());
    COST(c, "spell dims", if (spelling_begin(&s, net, NULL)) abort());
    COST(c, "take them back", spelling_end(&s));
    xir_network_free(net);
    free(b.data);
}

static bool keep(void *user, const void *data, size_t size) {
    put(user, data, size);
    return true;
}

/* An archive of as many members as weights. */
static void fill_archive(costs *c, xir_context *ctx, int64_t n) {
    const xir_save_options how = XIR_INIT(xir_save_options, .format = "pnnx");
    const xir_load_options back = XIR_INIT(xir_load_options, .format = "pnnx");
    bytes text = { 0 }, archive = { 0 };
    n /= 4;
    archive.data = malloc(archive.room = (size_t)64 << 20);   /* so that growing it is not counted */
    putf(&text, "7767517\n%lld %lld\n", (long long)n, (long long)n);
    for (int64_t i = 0; i < n; i++) putf(&text, "t.op op%lld 0 1 v%lld @w=(0)f32\n", (long long)i, (long long)i);
    const xir_load_options alone = XIR_INIT(xir_load_options, .format = "pnnx", .no_params = true);
    xir_network *net = xir_network_read(ctx, text.data, text.size, XIR_STR("shape"), &alone, NULL);
    COST(c, "write archive", if (xir_network_write_params(net, keep, &archive, &how, NULL)) abort());
    COST(c, "read archive",
         if (xir_network_read_params(net, archive.data, archive.size, XIR_STR("shape"), &back, NULL)) abort());
    xir_network_free(net);
    free(text.data);
    free(archive.data);
}

/* Names that look like those to come, and as many new ones. */
static void make_names(costs *c, xir_context *ctx, int64_t n) {
    char (*names)[40] = malloc((size_t)(2 * n) * sizeof *names);
    text_table taken;
    text_table_init(&taken, context_alloc(ctx));
    for (int64_t i = 0; i < n; i++) {
        const int size = snprintf(names[i], sizeof *names, "a_%lld", (long long)i * 2);
        if (!text_table_add(&taken, (xir_str){ names[i], (size_t)size }, 0)) abort();
    }
    uint64_t next = 0;
    COST(c, "make names", for (int64_t i = n; i < 2 * n; i++) {
        memcpy(names[i], "a_", 2);
        if (!text_table_add(&taken, text_table_unused(&taken, names[i], 2, &next), 0)) abort();
    });
    text_table_free(&taken);
    free(names);
}

const table_shape table_shapes[] = { { "plans", find_plans }, { "classes", find_classes }, { "types", make_types },
                                     { "symbols", narrow_symbols }, { "spelled dims", spell_dims },
                                     { "archive", fill_archive }, { "names", make_names } };
const size_t n_table_shapes = sizeof table_shapes / sizeof *table_shapes;
