/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Memory runs out at every allocation of every scenario: the call reports it, nothing has changed, nothing leaks,
 * and the same call succeeds when there is memory again. The final result is the same as if memory had never run
 * out. */
#include <stdio.h>
#include <xir/icraft.h>
#include "support/raw_net.h"
#include "support/own.h"
#include "support/scarce.h"
#include "support/scratch.h"


typedef char letter_fn(void);
XIR_FUNCTOR(letter, letter_fn)
static char letter_a(void) { return 'a'; }
static char letter_b(void) { return 'b'; }

/* Types in the scenario's context. */
static const xir_type *tensor(want *w, const char *layout, const int64_t *dims, size_t rank) {
    const xir_type *fp32, *type;
    TRY_MAKE(w, fp32, xir_type_float(w->ctx, XIR_FLOAT_FP32));
    TRY_MAKE(w, type, xir_type_tensor_text(w->ctx, fp32, layout, dims, rank));
    return type;
}
#define TENSOR(layout, ...) \
    tensor(w, layout, (const int64_t[]){ __VA_ARGS__ }, sizeof((const int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t))

/* True if a network has its tables of ids before memory is scarce: edits then keep them up to date. */
static bool with_tables;

static void make_tables(want *w) {
    if (with_tables) IN_PLENTY(w, xir_network_op_by_id(w->net, 0));
}

/* A network that exists before memory is scarce. */
static void begin_with(want *w, xir_network *(*make)(xir_context *)) {
    IN_PLENTY(w, w->net = make(w->ctx));
    assert_non_null(w->net);
    make_tables(w);
    assert_int_equal(xir_network_status(w->net), XIR_OK);
}

/* A description: of a class, with an id or XIR_NO_ID. */
#define OF(id_, op_id, ...) \
    XIR_INIT(xir_op_desc, .cls = xir_class_find_decl(w->ctx, xir_##id_##_class()), .id = op_id, __VA_ARGS__)

/* The i-th op, found without an index. */
static xir_op *nth(const xir_network *net, size_t i) {
    xir_op *op = xir_network_first(net);
    while (i--) op = xir_op_next(op);
    return op;
}
static xir_value *made(const xir_network *net, size_t i) { return xir_op_output(nth(net, i), 0); }

/* ---- contexts and classes --------------------------------------------------------------------------------------- */

static void making_a_context(want *w) {
    xir_allocator alloc = scarce_allocator(&w->memory);
    TRY_MAKE(w, w->ctx, xir_context_new(&alloc));
    TRY_MAKE(w, w->why, xir_diags_new(w->ctx));
}

static void registering_classes(want *w) {
    const xir_class_decl *const all[] = { xir_own_thing_class(), xir_own_grain_class(), xir_own_box_class(),
                                          xir_own_mix_class() };
    size_t classes = 0;
    while (xir_context_class_at(w->ctx, classes)) classes++;
    for (size_t i = 0; i < COUNT(all); i++) TRY(w, xir_class_register(w->ctx, all[i], i % 2 ? w->why : NULL));
    for (size_t i = 0; i < COUNT(all); i++)
        assert_ptr_equal(xir_context_class_at(w->ctx, classes + i), xir_class_find_decl(w->ctx, all[i]));
    assert_null(xir_context_class_at(w->ctx, classes + COUNT(all)));

    int64_t marks[] = { 1, 2, 3 };
    xir_str names[] = { XIR_STR("a"), XIR_STR("b") };
    const xir_any notes_items[] = { xir_any_int(1), xir_any_text(XIR_STR("two")) };
    const xir_entry notes[] = { { XIR_STR("k"), xir_any_list(notes_items, 2) } };
    const xir_own_grain *grain;
    const xir_own_box *box;
    xir_own_grain grain_body = xir_own_grain_init();
    TRY_MAKE(w, grain, xir_own_grain_make(w->ctx, &grain_body, w->why));
    const xir_object *inside[] = { &grain->head, &grain->head };
    xir_own_box body = xir_own_box_init();
    body.where = xir_mtype_host(w->ctx);
    body.year = 1984;
    body.maker = XIR_STR("maker");
    body.marks = (xir_i64s){ marks, 3 };
    body.names = (xir_texts){ names, 2 };
    body.inside = (xir_refs){ inside, 2 };
    body.notes = (xir_map){ notes, 1 };
    TRY_MAKE(w, box, xir_own_box_make(w->ctx, &body, w->why));
    IN_PLENTY(w, w->result = picture_of_object(&box->head));
}

/* ---- types, layouts, distributions, scales ---------------------------------------------------------------------- */

static void making_types(want *w) {
    const xir_type *bits, *tiled, *type, *changed, *normalized, *quantized, *calibrated;
    const xir_layout *layout, *swapped;
    const xir_scales *scales, *exp, *both, *part;
    const xir_norm_ratios *ratios;
    const xir_distr *distr;
    xir_distr_builder *builder;
    const double numbers[] = { 1, 2, 3, 4, 5, 6, 7, 8 };
    const int64_t m[] = { 1, 2, 3, 4, 5, 6, 7, 8 }, zeros[] = { 0, 0, 1, 0, 0, 0, 0, 2 }, axes[] = { 1, 2 };

    TRY_MAKE(w, bits, xir_type_uint(w->ctx, 12));
    TRY_MAKE(w, layout, xir_layout_parse(w->ctx, XIR_STR("NCHWc4"), w->why));
    TRY_MAKE(w, swapped, xir_layout_swap(w->ctx, layout, 1, 2, w->why));
    TRY_MAKE(w, tiled, xir_type_tensor(w->ctx, bits, layout, (const int64_t[]){ 1, 2, 8, 8, 4 }, 5));
    TRY_MAKE(w, scales, xir_scales_from(w->ctx, numbers, 8, -1));
    TRY_MAKE(w, exp, xir_exp_scales_from(w->ctx, m, m, numbers, 8, 0));
    TRY_MAKE(w, both, xir_scales_concat(w->ctx, scales, scales, w->why));
    TRY_MAKE(w, part, xir_scales_slice(w->ctx, both, 3, 11, w->why));
    TRY_MAKE(w, ratios, xir_norm_ratios_from(w->ctx, numbers, 8, -1));
    TRY_MAKE(w, calibrated, xir_type_calibrated(w->ctx, -1, 1, 0.5, bits, NULL));
    TRY_MAKE(w, normalized, xir_type_normalized(w->ctx, ratios, bits, NULL));
    TRY_MAKE(w, quantized, xir_type_normalized_quantized(w->ctx, normalized, part, zeros, 8));
    type = TENSOR("NHWC", 1, 8, 8, 8);
    TRY_MAKE(w, type, xir_type_with_element(w->ctx, type, quantized, w->why));
    TRY_MAKE(w, changed, xir_type_with_shape(w->ctx, type, (const int64_t[]){ 1, 4, 4, 8 }, 4, w->why));
    TRY_MAKE(w, changed, xir_type_with_scale(w->ctx, changed, exp, w->why));
    TRY_MAKE(w, changed, xir_type_with_layout(w->ctx, changed, NULL, w->why));
    TRY_MAKE(w, changed, xir_type_add_distr(w->ctx, changed, axes, 2, w->why));
    TRY_MAKE(w, changed, xir_type_mark_distr(w->ctx, changed, axes, 2, 3, 5, false, w->why));
    TRY_MAKE(w, builder, xir_distr_new(w->ctx, axes, 2, 16));
    for (int64_t i = 0; i < 16; i += 2) TRY(w, xir_distr_set_invalid(builder, i, i + 1));
    TRY(w, xir_distr_append(builder, 4, false));
    TRY(w, xir_distr_append_mask(builder, (const bool[]){ true, false, true, true }, 4));
    TRY_MAKE(w, distr, xir_distr_build(builder, w->why));
    xir_distr_free(builder);
    TRY_MAKE(w, builder, xir_distr_edit(w->ctx, distr));
    xir_distr_free(builder);
    IN_PLENTY(w,
        char *a = picture_of_object((const xir_object *)changed), *b = picture_of_object((const xir_object *)distr);
        char *c = picture_of_object((const xir_object *)tiled), *d = picture_of_object((const xir_object *)swapped);
        assert_true(asprintf(&w->result, "%s\n%s\n%s\n%s", a, b, c, d) > 0);
        free(a), free(b), free(c), free(d));
}

/* ---- building --------------------------------------------------------------------------------------------------- */

static void release(void *user, const void *data) {
    (void)data;
    --*(int *)user;
}

static float number(size_t i) { return (float)i; }

static void building_a_network(want *w) {
    static const float bytes[108] = { 1, 2, 3 };
    static int borrowed;
    borrowed = 1;
    TRY_MAKE(w, w->net, xir_network_new(w->ctx, "net", XIR_FRAMEWORK_ONNX, "v1"));
    make_tables(w);
    xir_at at = XIR_AT(w->net);
    const xir_type *image = TENSOR("NHWC", 1, 8, 8, 3), *kernel = TENSOR("HWIO", 3, 3, 3, 4),
                    *target = TENSOR("****", 1, 4, 4, 4), *vector = TENSOR("*", 4);
    xir_value *x, *y, *p, *q, *bias;
    TRY_MAKE(w, x, xir_input(at, "in", image));
    TRY_MAKE(w, p, xir_params_copy(w->net, XIR_STR("w"), kernel, bytes, sizeof bytes));
    TRY_MAKE(w, q, xir_params_borrow(w->net, XIR_STR("w2"), kernel, bytes, sizeof bytes, release, &borrowed));
    TRY_MAKE(w, bias, xir_params_new(w->net, XIR_STR("b"), vector));
    TRY(w, xir_params_fill_f32(bias, number));
    TRY_MAKE(w, y, XIR_CONV2D(at, .input = x, .weights = p, .bias = bias, .pad = 1, .name = "conv"));
    at.scope = XIR_STR("scope/");
    at.name = XIR_STR("conv2");
    TRY_MAKE(w, x, XIR_CONV2D(at, .input = x, .weights = q, .pad = 1));
    TRY_MAKE(w, x, xir_build_add(at, x, y, 0.5, 2, "add"));
    TRY_MAKE(w, x, xir_build_relu(at, x, NULL));
    TRY_MAKE(w, x, XIR_MAX_POOL2D(at, .input = x, .k = 2, .stride = 2));
    TRY_MAKE(w, x, xir_build_cast(at, x, target, "cast"));
    xir_value *many[40];
    for (size_t i = 0; i < COUNT(many); i++) many[i] = i % 2 ? x : y;
    xir_op *out, *late;
    TRY_MAKE(w, late, xir_op_new(w->net, &OF(relu, XIR_NO_ID, INPUTS(x), .name = XIR_STR("late"), .target = xir_network_ai_target(w->net))));
    TRY_MAKE(w, out, xir_output(at, (xir_values){ many, COUNT(many) }));
    TRY(w, xir_op_place(late, out));
    TRY(w, xir_params_set_copy(q, bytes, sizeof bytes));
    assert_int_equal(borrowed, 0);   /* released, and not before */
    void *edited;
    TRY_MAKE(w, edited, xir_params_edit(p));
}

static void building_ops_with_parts(want *w) {
    begin_with(w, small_net_in);
    const xir_type *type = TENSOR("*", 4);
    xir_value *p[4], *x = made(w->net, 1);
    for (size_t i = 0; i < COUNT(p); i++) TRY_MAKE(w, p[i], xir_params_new(w->net, XIR_STR("p"), type));
    xir_op *a, *b, *op;
    TRY_MAKE(w, a, xir_op_new(w->net, &OF(hard_op, XIR_NO_ID, INPUTS(x, p[0]), TYPES(type), .name = XIR_STR("a"))));
    TRY_MAKE(w, b, xir_op_new(w->net, &OF(hard_op, XIR_NO_ID, INPUTS(xir_op_output(a, 0)), TYPES(type, type))));
    xir_entry info[] = { { XIR_STR("base"), xir_any_int(4294972444) },
                         { XIR_STR("table"), { .kind = XIR_ANY_PARAMS, .as.params = p[1] } } };
    xir_hard_op_attrs attrs = xir_hard_op_init();
    attrs.instr = XIR_VALUES(p[2], p[3]);
    attrs.origin_ops_id = (xir_i64s){ (const int64_t[]){ 3, 1 }, 2 };
    attrs.device_info = (xir_map){ info, 2 };
    attrs.sub_hard_ops = (xir_ops){ (xir_op *const[]){ a, b }, 2 };
    TRY_MAKE(w, op, xir_network_add(w->net, &OF(hard_op, 77, .attrs = &attrs, INPUTS(x), TYPES(type), .before = nth(w->net, 5))));
    assert_ptr_equal(xir_op_parent(a), op);
    /* Other parts: one is kept, one is removed, one is added. */
    xir_op *c;
    TRY_MAKE(w, c, xir_op_new(w->net, &OF(hard_op, XIR_NO_ID, INPUTS(x), TYPES(type))));
    attrs.sub_hard_ops = (xir_ops){ (xir_op *const[]){ c, a }, 2 };
    TRY(w, xir_hard_op_set(op, &attrs));
    assert_ptr_equal(xir_op_parent(c), op);
    xir_op *copy;
    TRY_MAKE(w, copy, xir_op_clone(op));
    TRY(w, xir_op_place(copy, NULL));
    TRY(w, xir_op_erase(op));
}

/* ---- changing --------------------------------------------------------------------------------------------------- */

static void setting_attributes(want *w) {
    begin_with(w, small_net_in);
    xir_op *conv = nth(w->net, 1), *relu = nth(w->net, 2), *add = nth(w->net, 4);
    const xir_scales *scales;
    const double numbers[] = { 1, 2, 3, 4 };
    TRY(w, xir_op_set_i64(conv, "stride_width", 2));
    TRY(w, xir_op_set_text(conv, "padding_mode", "REFLECT"));
    TRY(w, xir_op_set_real(relu, "alpha", 0.1));
    TRY_MAKE(w, scales, xir_scales_from(w->ctx, numbers, 4, -1));
    TRY(w, xir_op_set(conv, XIR_STR("cut_scale"), &(xir_attr){ .kind = XIR_KIND_REF, .as.ref = (const xir_object *)scales }));
    const xir_object *factors[4];
    for (size_t i = 0; i < 4; i++) TRY_MAKE(w, factors[i], (const xir_object *)xir_scalar_real(w->ctx, numbers[i]));
    TRY(w, xir_op_set(add, XIR_STR("alpha"), &(xir_attr){ .kind = XIR_KIND_REFS, .as.refs = { factors, 4 } }));
    TRY(w, xir_op_infer(conv, true));
    TRY(w, xir_op_infer(relu, true));
    TRY_LOOSELY(w, xir_network_infer(w->net, w->why));
}

static void setting_words(want *w) {
    begin_with(w, small_net_in);
    const xir_type *vector = TENSOR("*", 4), *image = TENSOR("N***", 1, 2, 3, 4);
    const xir_any items[] = { xir_any_int(1), xir_any_text(XIR_STR("word")), xir_any_real(0.5) };
    const xir_entry entries[] = { { XIR_STR("a"), items[0] }, { XIR_STR("b"), items[1] } };
    const xir_any list = xir_any_list(items, 3), map = xir_any_map(entries, 2);
    xir_op *conv = nth(w->net, 1);
    xir_value *v = made(w->net, 1), *p;
    TRY(w, xir_op_set_tag(conv, XIR_STR("tag"), &list));
    TRY(w, xir_op_set_tag(conv, XIR_STR("other"), &map));
    TRY(w, xir_value_set_tag(v, XIR_STR("tag"), &map));
    TRY(w, xir_network_set_tag(w->net, XIR_STR("tag"), &list));
    TRY(w, xir_network_set_extra(w->net, XIR_STR("swap_mode"), &items[0]));
    TRY(w, xir_op_set_extra(conv, XIR_STR("note"), &map));
    TRY_MAKE(w, p, xir_params_new(w->net, XIR_STR("p"), vector));
    const xir_any table = { .kind = XIR_ANY_PARAMS, .as.params = p };
    TRY(w, xir_op_set_extra(conv, XIR_STR("table"), &table));
    TRY(w, xir_op_set_tag(conv, XIR_STR("tag"), NULL));
    TRY(w, xir_op_set_name(conv, XIR_STR("a longer name than before")));
    TRY(w, xir_value_set_name(v, XIR_STR("a longer name than before")));
    TRY(w, xir_network_set_text(w->net, XIR_TEXT_NAME, XIR_STR("another name")));
    TRY(w, xir_op_set_id(conv, 50));
    TRY(w, xir_op_set_id(conv, 1));
    TRY(w, xir_value_set_id(v, 90));
    const xir_target *zhuge;
    const xir_mtype *chunk;
    TRY_MAKE(w, zhuge, xir_target_of_kind(w->ctx, XIR_TARGET_ZHUGE, "330"));
    TRY_MAKE(w, chunk, xir_mtype_chunk(w->ctx, 1, 2));
    TRY(w, xir_op_set_target(conv, zhuge));
    TRY(w, xir_network_set_ai_target(w->net, zhuge));
    TRY(w, xir_value_set_mtype(v, chunk));
    TRY(w, xir_value_set_type(v, image));
}

/* An id that is in use is not given while the table of ids cannot be made. */
static void taking_ids_that_are_taken(want *w) {
    begin_with(w, small_net_in);
    xir_op_desc desc = OF(relu, 3, INPUTS(made(w->net, 0)));
    for (int i = 0; i < 3; i++) {
        xir_network_clear_status(w->net);
        xir_status status = i == 0 ? (xir_network_add(w->net, &desc) ? XIR_OK : xir_network_status(w->net))
                          : i == 1 ? xir_op_set_id(xir_network_first(w->net), 3)
                                   : xir_value_set_id(xir_op_output(xir_network_first(w->net), 0), 3);
        assert_true(status == XIR_E_EXISTS || (status == XIR_E_MEMORY && w->memory.refused));
    }
    xir_network_clear_status(w->net);
}

static void editing(want *w) {
    begin_with(w, small_net_in);
    xir_network *net = w->net;
    const xir_type *type = TENSOR("*", 4);
    xir_value *v[6], *p[3];
    for (size_t i = 0; i < 5; i++) v[i + (i > 0)] = made(net, i);
    v[1] = xir_op_input(nth(net, 1), 1);
    for (int i = 0; i < 3; i++) TRY_MAKE(w, p[i], xir_params_new(net, XIR_STR("p"), type));
    xir_op *h, *late;
    TRY_MAKE(w, h, xir_network_add(net, &OF(hard_op, XIR_NO_ID, INPUTS(v[2]), TYPES(type), .before = xir_network_last(net))));
    for (size_t i = 0; i < 9; i++) TRY(w, xir_op_insert_input(h, i / 2, v[2 + i % 4]));
    TRY(w, xir_op_add_input(h, p[0]));
    TRY(w, xir_op_set_input(h, 1, p[1]));
    TRY(w, xir_op_replace_input(h, v[2], p[2]));
    TRY(w, xir_op_set_inputs(h, (xir_value *const[]){ v[0], v[1], v[2], v[3], v[4], v[5], v[0], v[1], v[2], v[3],
                                                      v[4], v[5], v[0], v[1], v[2], v[3], v[4], v[5], v[0], v[1],
                                                      v[2], v[3], v[4], v[5] }, 24));
    TRY(w, xir_op_remove_input(h, 2));
    TRY(w, xir_op_remove_input_id(h, xir_value_id(v[1])));
    TRY(w, xir_network_connect(net, v[3], h, -1));
    TRY(w, xir_op_set_outputs(h, (const xir_type *const[]){ type, type, type, type, type, type, type, type, type, type }, 10));
    TRY(w, xir_op_set_outputs(h, (const xir_type *const[]){ type }, 1));
    TRY_MAKE(w, late, xir_op_new(net, &OF(relu, XIR_NO_ID, INPUTS(v[3]))));
    TRY(w, xir_network_replace_keep_uses(net, xir_value_op(v[4]), late));
    TRY(w, xir_op_move(h, nth(net, 1)));
    TRY_MAKE(w, late, xir_op_clone(xir_value_op(v[3])));
    TRY(w, xir_network_replace(net, xir_value_op(v[3]), late));
    TRY(w, xir_network_bypass(net, &late, 1));
    TRY(w, xir_value_replace(v[2], v[0]));
    TRY(w, xir_network_remove(net, xir_value_op(v[2])));
    TRY(w, xir_op_erase(h));
}

static void asking(want *w) {
    begin_with(w, small_net_in);
    const xir_op *pool = xir_op_prev(xir_op_prev(xir_network_last(w->net)));
    /* None of these fails; without memory for an index some find nothing. */
    bool *refused = &w->memory.refused;
    const xir_op *found = xir_network_op_by_id(w->net, 3);
    assert_true(found == pool || (!found && *refused));
    found = xir_network_op_at(w->net, 3);
    assert_true(found == pool || (!found && *refused));
    int64_t at = xir_network_index_of(w->net, pool);
    assert_true(at == 3 || (at == -1 && *refused));
    const xir_value *v = xir_network_value_by_id(w->net, 4);
    assert_true(v == xir_op_output(pool, 0) || (!v && *refused));
    found = xir_network_op_by_name(w->net, XIR_STR("pool"));
    assert_true(found == pool || (!found && *refused));
    v = xir_network_value_by_name(w->net, XIR_STR("nobody"));
    assert_null(v);
    assert_int_equal(xir_network_params(w->net, NULL, 0), 1);
    TRY(w, xir_network_validate(w->net, w->why));
}

static void finding_faults(want *w) {
    begin_with(w, small_net_in);
    DOES(xir_network_remove(w->net, xir_op_next(xir_op_next(xir_network_first(w->net)))));
    IN_PLENTY(w, xir_diags_clear(w->why));
    xir_status status = xir_network_validate(w->net, w->why);
    assert_true(status == XIR_E_MISSING || (status == XIR_E_MEMORY && w->memory.refused));
    /* A finding that cannot be stored leaves a mark. */
    assert_true(xir_diags_count(w->why) > 0);
}

/* ---- clones and views ------------------------------------------------------------------------------------------- */

static xir_network *net_with_all(xir_context *with) {
    xir_network *net = small_net_in(with);
    const xir_type *type = XIR_TENSOR(with, xir_type_sint(with, 8), "*", 4);
    const xir_any number_any = xir_any_int(3), word = xir_any_text(XIR_STR("word"));
    xir_value *p = xir_params_copy(net, XIR_STR("p"), type, "abcd", 4),
               *q = xir_params_copy(net, XIR_STR("q"), type, "efgh", 4);
    xir_op *a = xir_op_new(net, &XIR_INIT(xir_op_desc, .cls = xir_class_find_decl(with, xir_hard_op_class()),
                                          INPUTS(value_of(net, 2), p), TYPES(type), .id = XIR_NO_ID));
    xir_entry info[] =
        { { XIR_STR("base"), number_any }, { XIR_STR("table"), { .kind = XIR_ANY_PARAMS, .as.params = q } } };
    xir_hard_op_attrs attrs = xir_hard_op_init();
    attrs.device_info = (xir_map){ info, 2 };
    attrs.sub_hard_ops = (xir_ops){ &a, 1 };
    xir_network_add(net, &XIR_INIT(xir_op_desc, .cls = xir_class_find_decl(with, xir_hard_op_class()), .attrs = &attrs,
                                   INPUTS(value_of(net, 3)), TYPES(type, type),
                                         .target = xir_target_of_kind(with, XIR_TARGET_FPGA,
                                                                      NULL), .id = 50, .before = op_of(net, 5)));
    const xir_any table = { .kind = XIR_ANY_PARAMS, .as.params = p };
    xir_op_set_extra(op_of(net, 1), XIR_STR("table"), &table);
    xir_op_set_tag(op_of(net, 2), XIR_STR("tag"), &word);
    xir_value_set_tag(value_of(net, 3), XIR_STR("tag"), &word);
    xir_value_set_mtype(value_of(net, 3), xir_mtype_onchip(with, 64));
    xir_network_set_tag(net, XIR_STR("tag"), &word);
    xir_network_set_extra(net, XIR_STR("extra"), &number_any);
    xir_params_fill_f32(value_of(net, 1), number);
    return net;
}

static void cloning(want *w) {
    begin_with(w, net_with_all);
    xir_network *copy, *source = w->net;
    xir_op *op;
    TRY_MAKE(w, copy, xir_network_clone(w->net));
    assert_true(xir_network_equal(source, copy, true));
    w->net = copy;
    IN_PLENTY(w, xir_network_free(source));
    TRY_MAKE(w, op, xir_op_clone(xir_op_prev(xir_network_last(w->net))));
    TRY(w, xir_op_place(op, NULL));
}

/* Into another network, whole, and one op again. */
static void mapping_a_network(want *w) {
    begin_with(w, net_with_all);
    xir_network *from = w->net;
    xir_mapping *map;
    xir_view *view;
    xir_op *again;
    bool equal = false;
    IN_PLENTY(w,
        w->net = xir_network_new(w->ctx, "to", XIR_FRAMEWORK_PYTORCH, "v1.9");
        view = xir_view_range(from, 0, INT64_MAX));
    TRY_MAKE(w, map, xir_mapping_new(from, w->net));
    TRY(w, xir_mapping_clone_view(map, view, NULL));
    TRY_MAKE(w, again, xir_mapping_clone(map, xir_op_prev(xir_network_last(from)), NULL));
    TRY(w, xir_network_equal_by(from, w->net, &XIR_INIT(xir_equal_rules, .flags = XIR_EQUAL_NO_IDS), &equal));
    assert_false(equal);   /* the second copy */
    IN_PLENTY(w,
        DOES(xir_op_erase(again));
        DOES(xir_network_equal_by(from, w->net, &XIR_INIT(xir_equal_rules, .flags = XIR_EQUAL_NO_IDS |
                                                          XIR_EQUAL_NO_FIELDS | XIR_EQUAL_NO_TAGS), &equal));
        xir_view_free(view);
        xir_mapping_free(map);
        xir_network_free(from));
    assert_true(equal);
}

static bool every_second(const xir_op *op, void *user) {
    (void)op;
    return ++*(int *)user % 2;
}

static bool has_no_slope(xir_infer *at) { return ((const xir_relu_attrs *)xir_infer_attrs(at))->alpha == 0; }

static void asking_a_target(want *w) {
    static const xir_target_rule rules[] = {
        { xir_relu_class, has_no_slope, "no slope", NULL }, { .cls = xir_conv2d_class } };
    static const xir_target_row row = { XIR_TARGET_HEAD("own::Strict", "strict", "a target"), XIR_TARGET_RULES(rules) };
    static const xir_target_row *const rows[] = { &row };
    begin_with(w, net_with_all);
    TRY(w, xir_target_register(w->ctx, rows, 1, w->why));
    const xir_target *target;
    TRY_MAKE(w, target, xir_target_of_kind(w->ctx, XIR_TARGET_COUNT, NULL));
    TRY(w, xir_op_try(nth(w->net, 1), target, w->why));
    TRY(w, xir_op_try(nth(w->net, 2), target, w->why));
    TRY(w, xir_op_try(nth(w->net, 3), NULL, w->why));
}

/* Values and ops that are made before anything else is known of them. */
static void completing(want *w) {
    begin_with(w, small_net_in);
    const xir_type *type = TENSOR("NC", 2, 3);
    const xir_mtype *memory;
    TRY_MAKE(w, memory, xir_mtype_onchip(w->ctx, 64));
    xir_value *v[6], *p, *out, *copy;
    for (size_t i = 0; i < COUNT(v); i++) {
        TRY_MAKE(w, v[i], xir_value_new(w->net, XIR_STR("a value with a name"), type, i % 2 ? memory : NULL));
        TRY(w, xir_value_set_tag(v[i], XIR_STR("k"), &(xir_any){ .kind = XIR_ANY_INT, .as.integer = 1 }));
    }
    TRY_MAKE(w, copy, xir_value_clone(v[1], w->net));
    TRY_MAKE(w, p, xir_params_new_untyped(w->net, XIR_STR("p")));
    TRY_MAKE(w, p, xir_params_copy_in(w->net, XIR_STR("p"), type, memory, "0123456789abcdefghijklm", 24));
    TRY_MAKE(w, p, xir_value_clone(p, w->net));
    const void *elements;
    TRY_MAKE(w, elements, xir_params_elements(p, 4));

    xir_op *pool, *relu = nth(w->net, 2);
    TRY_MAKE(w, pool, xir_op_create(w->net, XIR_STR("icraft::xir::MaxPool2d")));
    TRY(w, xir_op_set_i64(pool, "pool_width", 2));
    TRY(w, xir_op_set_i64(pool, "pool_height", 2));
    TRY(w, xir_op_add_input(pool, xir_op_output(relu, 0)));
    TRY(w, xir_op_place(pool, xir_op_next(relu)));

    TRY_MAKE(w, out, xir_op_set_output(relu, 0, v[0]));
    TRY(w, xir_op_set_output_values(relu, &v[1], 4));
    TRY_MAKE(w, out, xir_op_set_output(relu, 4, v[5]));
    TRY_MAKE(w, out, xir_op_set_output(relu, 5, copy));
    TRY(w, xir_op_set_outputs(relu, NULL, 0) == XIR_E_IN_USE ? XIR_OK : XIR_E_INVALID);
    const xir_type *own = xir_value_type(out), *types[] = { own, own, own, own, own };
    IN_PLENTY(w, xir_network_clear_status(w->net); xir_diags_clear(xir_network_diags(w->net)));
    const size_t calls = w->memory.calls;
    assert_int_equal(xir_op_set_outputs(relu, types, COUNT(types)), XIR_OK);
    assert_int_equal(w->memory.calls, calls);   /* fewer outputs take no memory */
}

static letter_fn *one_letter(want *w, xir_functor *f, const xir_class_decl *decl) {
    return (letter_fn *)xir_functor_find(f, xir_class_find_decl(w->ctx, decl));
}

static void dispatching(want *w) {
    xir_functor *f;
    TRY_MAKE(w, f, xir_functor_new(w->ctx));
    TRY(w, letter_set(f, xir_relu_class(), letter_a));
    TRY(w, letter_set_trait(f, XIR_TRAIT_ACTIVATION, letter_b));
    TRY(w, letter_set_rest(f, letter_b));
    xir_trait trait = 0;
    TRY(w, (trait = xir_trait_register(w->ctx, XIR_STR("test::Edible"), w->why)) ? XIR_OK : XIR_E_MEMORY);
    const xir_class_decl *const all[] = { xir_own_thing_class(), xir_own_grain_class(), xir_own_box_class(),
                                          xir_own_mix_class(), xir_own_all_class() };
    for (size_t i = 0; i < COUNT(all); i++) TRY(w, xir_class_register(w->ctx, all[i], w->why));
    TRY(w, letter_set(f, xir_own_mix_class(), letter_a));
    TRY(w, letter_set_trait(f, XIR_TRAIT_ACTIVATION, NULL));
    assert_true(xir_class_has_trait(xir_class_find_decl(w->ctx, xir_own_all_class()), trait));
    assert_ptr_equal(one_letter(w, f, xir_own_mix_class()), letter_a);
    assert_ptr_equal(one_letter(w, f, xir_tanh_class()), letter_b);
    xir_functor_free(f);
}

static void viewing(want *w) {
    begin_with(w, net_with_all);
    xir_view *view;
    xir_network *part;
    const int64_t ids[] = { 1, 2, 3 };
    int asked = 0;
    TRY_MAKE(w, view, xir_view_range(w->net, 1, 4));
    xir_view_free(view);
    TRY_MAKE(w, view, xir_view_id_range(w->net, 2, 4));
    xir_view_free(view);
    TRY_MAKE(w, view, xir_view_except(w->net, ids, 3));
    xir_view_free(view);
    TRY_MAKE(w, view, (asked = 0, xir_view_if(w->net, every_second, &asked)));
    xir_view_free(view);
    TRY_MAKE(w, view, xir_view_ids(w->net, ids, 3));
    TRY_MAKE(w, part, xir_view_to_network(view));
    xir_view_free(view);
    IN_PLENTY(w,
        const char *broken = broken_invariant(part, ASK_ALL);
        if (broken) fail_msg("a view's network: %s", broken);
        w->result = picture(part);
        xir_network_free(part));
}

/* ---- files ------------------------------------------------------------------------------------------------------ */

static void printing_and_reading_json(want *w) {
    begin_with(w, net_with_all);
    xir_text_buffer text = { 0 };
    xir_network *again;
    TRY(w, xir_json_print(w->net, 4, &text));
    TRY_MAKE(w, again, xir_json_read(w->ctx, (xir_str){ text.data, text.size }, XIR_STR("net.json"), w->why));
    xir_text_free(&text);
    assert_true(xir_network_equal(w->net, again, false));
    IN_PLENTY(w,
        const char *broken = broken_invariant(again, ASK_ALL);
        if (broken) fail_msg("a network that was read: %s", broken);
        xir_network_free(again));
}

static void printing_and_parsing_parts(want *w) {
    begin_with(w, net_with_all);
    xir_text_buffer text = { 0 };
    const xir_object *object, *type = (const xir_object *)xir_value_type(xir_op_output(xir_network_first(w->net), 0));
    TRY(w, xir_object_print(w->ctx, type, 0, &text));
    TRY_MAKE(w, object, xir_object_parse(w->ctx, (xir_str){ text.data, text.size }, w->why));
    assert_true(xir_object_equal(object, type));
    xir_text_free(&text);

    xir_op *op, *last = xir_network_last(w->net);
    IN_PLENTY(w, op = xir_op_clone(xir_op_prev(last)));
    TRY(w, xir_op_print(op, 0, &text));
    xir_text_free(&text);
    TRY(w, xir_op_print(xir_op_prev(last), 0, &text));
    TRY(w, xir_op_erase(op));
    TRY(w, xir_op_erase(xir_op_prev(last)));
    TRY_MAKE(w, op, xir_op_parse(w->net, (xir_str){ text.data, text.size }, w->why));
    TRY(w, xir_op_place(op, last));
    xir_text_free(&text);
}

static void writing_and_reading_raw(want *w) {
    begin_with(w, net_with_all);
    raw_memory file = { 0 };
    TRY(w, (file.size = 0, xir_raw_write(w->net, raw_memory_write, &file, w->why)));
    TRY(w, xir_raw_read(w->net, file.data, file.size, 0, w->why));
    TRY(w, xir_raw_read(w->net, file.data, file.size, XIR_LOAD_LAZY, w->why));
    xir_value *lazy = xir_op_input(nth(w->net, 1), 1);
    assert_true(xir_params_is_lazy(lazy));
    TRY(w, xir_params_load(lazy));
    IN_PLENTY(w, w->result = picture(w->net); xir_network_free(w->net); w->net = NULL);
    free(file.data);
}

static void saving_and_loading_files(want *w) {
    begin_with(w, net_with_all);
    TRY(w, xir_json_raw_save(w->net, scratch("net.json"), scratch("net.raw"), 0, w->why));
    assert_int_equal(scratch_count_in(scratch_folder), 2);
    xir_network *again;
    TRY_MAKE(w, again, xir_json_load(w->ctx, scratch("net.json"), w->why));
    xir_network *first = w->net;
    w->net = again;
    TRY(w, xir_raw_load(again, scratch("net.raw"), 0, w->why));
    TRY(w, xir_raw_load(again, scratch("net.raw"), XIR_LOAD_LAZY, w->why));
    assert_true(xir_network_equal(first, again, true));
    IN_PLENTY(w, xir_network_free(first));
}

#define SCENARIO(f)                                            \
    static void test_##f(void **state) {                       \
        (void)state;                                           \
        with_tables = false;                                   \
        run_scarcely(#f, f, f == making_a_context);            \
    }
#define SCENARIO_ON_NETWORKS(f)                                \
    static void test_##f(void **state) {                       \
        (void)state;                                           \
        for (int i = 0; i < 2; i++) {                          \
            with_tables = i;                                   \
            run_scarcely(#f, f, false);                        \
        }                                                      \
    }
SCENARIO(making_a_context)
SCENARIO(registering_classes)
SCENARIO(making_types)
SCENARIO_ON_NETWORKS(building_a_network)
SCENARIO_ON_NETWORKS(building_ops_with_parts)
SCENARIO_ON_NETWORKS(setting_attributes)
SCENARIO_ON_NETWORKS(setting_words)
SCENARIO_ON_NETWORKS(taking_ids_that_are_taken)
SCENARIO_ON_NETWORKS(editing)
SCENARIO_ON_NETWORKS(asking)
SCENARIO_ON_NETWORKS(finding_faults)
SCENARIO_ON_NETWORKS(cloning)
SCENARIO_ON_NETWORKS(mapping_a_network)
SCENARIO_ON_NETWORKS(asking_a_target)
SCENARIO_ON_NETWORKS(completing)
SCENARIO(dispatching)
SCENARIO_ON_NETWORKS(viewing)
SCENARIO(printing_and_reading_json)
SCENARIO(printing_and_parsing_parts)
SCENARIO(writing_and_reading_raw)
SCENARIO(saving_and_loading_files)

#define STORY(f) { #f, test_##f, NULL, NULL, NULL }

GROUP {
    scratch_make();
    const struct CMUnitTest tests[] = {
        STORY(making_a_context),
        STORY(registering_classes),
        STORY(making_types),
        STORY(building_a_network),
        STORY(building_ops_with_parts),
        STORY(setting_attributes),
        STORY(setting_words),
        STORY(taking_ids_that_are_taken),
        STORY(editing),
        STORY(asking),
        STORY(finding_faults),
        STORY(cloning),
        STORY(mapping_a_network),
        STORY(asking_a_target),
        STORY(completing),
        STORY(dispatching),
        STORY(viewing),
        STORY(printing_and_reading_json),
        STORY(printing_and_parsing_parts),
        STORY(writing_and_reading_raw),
        STORY(saving_and_loading_files),
    };
    return RUN_GROUP(tests);
}
