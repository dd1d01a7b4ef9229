/* What each class does when its input comes in another order. A class without a row works in its own order only. */
#include "layout/layout.h"

#define ROW(id, kind, ...)  { xir_##id##_class, ROW_##kind, __VA_ARGS__ }
#define EACH(id)            { xir_##id##_class, ROW_EACH, FORM_NONE, { NULL }, 0 }
#define NO_ATTR             FORM_NONE, { NULL }

const layout_row layout_rows[] = {
    /* Whose order spreads: they are taken as they stand, channels last. */
    ROW(conv1d,           ANCHOR, NO_ATTR, 0),
    ROW(conv2d,           ANCHOR, NO_ATTR, 0),
    ROW(conv3d,           ANCHOR, NO_ATTR, 0),
    ROW(conv_transpose1d, ANCHOR, NO_ATTR, 0),
    ROW(conv_transpose2d, ANCHOR, NO_ATTR, 0),
    ROW(conv_transpose3d, ANCHOR, NO_ATTR, 0),
    ROW(avg_pool1d,       ANCHOR, NO_ATTR, 0),
    ROW(avg_pool2d,       ANCHOR, NO_ATTR, 0),
    ROW(avg_pool3d,       ANCHOR, NO_ATTR, 0),
    ROW(max_pool1d,       ANCHOR, NO_ATTR, 0),
    ROW(max_pool2d,       ANCHOR, NO_ATTR, 0),
    ROW(max_pool3d,       ANCHOR, NO_ATTR, 0),
    ROW(resize,           ANCHOR, NO_ATTR, 0),
    ROW(upsample,         ANCHOR, NO_ATTR, 0),

    ROW(pixel_shuffle,    FIXED,  NO_ATTR, 0),
    ROW(unfold,           FIXED,  NO_ATTR, 0),
    ROW(grid_sample,      FIXED,  NO_ATTR, 0),

    /* Element by element. */
    EACH(abs), EACH(acos), EACH(acosh), EACH(asin), EACH(asinh), EACH(atan), EACH(atanh), EACH(clamp_scalar), EACH(cos), EACH(cosh),
    EACH(elu), EACH(gelu), EACH(hardshrink), EACH(hardsigmoid), EACH(hardswish), EACH(hardtanh), EACH(log), EACH(log_sigmoid),
    EACH(mish), EACH(neg), EACH(pow), EACH(relu), EACH(sigmoid), EACH(silu), EACH(sin), EACH(sinh), EACH(softplus),
    EACH(softshrink), EACH(softsign), EACH(sqrt), EACH(tan), EACH(tanh), EACH(tanhshrink),
    EACH(exp), EACH(erf), EACH(floor), EACH(ceil), EACH(round), EACH(sign), EACH(reciprocal),
    EACH(copy), EACH(divide_scalar), EACH(logical_not),
    EACH(multiply), EACH(div), EACH(maximum), EACH(minimum), EACH(mod),
    EACH(equal), EACH(not_equal), EACH(greater), EACH(greater_equal), EACH(less), EACH(less_equal),
    EACH(logical_and), EACH(logical_or), EACH(logical_xor), EACH(where),
    ROW(add,              EACH,   FORM_NONE,     { "alpha", "beta" },                   ROW_FACTORS),
    ROW(cast,             SAME,   FORM_TYPE,     { "target_dtype" },                    0),

    /* Along axes. */
    ROW(softmax,          SAME,   FORM_AXIS,     { "axis" },                            0),
    ROW(log_softmax,      SAME,   FORM_AXIS,     { "axis" },                            0),
    ROW(cum_sum,          SAME,   FORM_AXIS,     { "axis" },                            0),
    ROW(normalize,        SAME,   FORM_AXES,     { "axis" },                            0),
    ROW(layer_norm,       SAME,   FORM_AXES,     { "axis" },                            ROW_IN_TURN),
    ROW(rms_norm,         SAME,   FORM_AXES,     { "axis" },                            ROW_IN_TURN),
    ROW(swap_order,       SAME,   FORM_AXIS,     { "axis" },                            0),
    ROW(roll,             SAME,   FORM_AXES,     { "dims" },                            ROW_NAMED),
    ROW(top_k,            SAME,   FORM_AXIS,     { "axis" },                            0),
    ROW(split,            SAME,   FORM_AXIS,     { "axis" },                            0),
    ROW(concat,           JOIN,   FORM_AXIS,     { "axis" },                            0),
    ROW(gather_elements,  JOIN,   FORM_AXIS,     { "axis" },                            0),
    ROW(gather,           GATHER, FORM_AXIS,     { "axis" },                            0),
    ROW(stack,            GAIN,   FORM_AXIS,     { "dim" },                             0),
    ROW(unstack,          LOSE,   FORM_AXIS,     { "dim" },                             0),
    ROW(squeeze,          LOSE,   FORM_AXES,     { "axis" },                            0),
    ROW(max,              LOSE,   FORM_AXIS_REF, { "dim" },                             0),
    ROW(min,              LOSE,   FORM_AXIS_REF, { "dim" },                             0),
    ROW(argmax,           LOSE,   FORM_AXIS_REF, { "dim" },                             ROW_NAMED),
    ROW(argmin,           LOSE,   FORM_AXIS_REF, { "dim" },                             ROW_NAMED),
    ROW(mean,             LOSE,   FORM_AXES,     { "dim" },                             0),
    ROW(sum,              LOSE,   FORM_AXES,     { "dim" },                             0),
    ROW(prod,             LOSE,   FORM_AXES,     { "dim" },                             0),

    /* An item or two for each axis. */
    ROW(slice,            SAME,   FORM_ITEMS,    { "begin", "end", "stride" },          0),
    ROW(pad,              SAME,   FORM_PAIRS,    { "padding" },                         0),
    ROW(tile,             SAME,   FORM_ITEMS,    { "dims" },                            0),
    ROW(expand,           SAME,   FORM_ITEMS,    { "sizes" },                           0),

    /* Along the channels, wherever they are. */
    ROW(prelu,            SAME,   FORM_NONE,     { "alpha" },                           ROW_FACTORS),
    ROW(channel_shuffle,  SAME,   NO_ATTR,                                              ROW_CHANNELS),
    ROW(batch_norm1d,     SAME,   NO_ATTR,                                              ROW_CHANNELS),
    ROW(batch_norm2d,     SAME,   NO_ATTR,                                              ROW_CHANNELS),
    ROW(batch_norm3d,     SAME,   NO_ATTR,                                              ROW_CHANNELS),
    ROW(instance_norm1d,  SAME,   NO_ATTR,                                              ROW_CHANNELS | ROW_BATCH),
    ROW(instance_norm2d,  SAME,   NO_ATTR,                                              ROW_CHANNELS | ROW_BATCH),
    ROW(instance_norm3d,  SAME,   NO_ATTR,                                              ROW_CHANNELS | ROW_BATCH),
    ROW(group_norm,       SAME,   NO_ATTR,                                              ROW_CHANNELS | ROW_BATCH),

    ROW(reshape,          RESHAPE, NO_ATTR,                                             0),
    ROW(shape,            SHAPE,   NO_ATTR,                                             0),
    ROW(matmul,           MATMUL,  NO_ATTR,                                             0),
};
const size_t n_layout_rows = sizeof layout_rows / sizeof *layout_rows;

/* ---- rows by class ------------------------------------------------------------------------------------------------ */

static size_t slot_of(const plan *l, const xir_class *cls) {
    uintptr_t bits = (uintptr_t)cls >> 4;
    return (bits ^ bits >> 8) & (l->row_room - 1);
}

bool rows_make(plan *l) {
    for (l->row_room = 64; l->row_room < 2 * n_layout_rows;) l->row_room *= 2;
    l->rows = mem_new(l->alloc, l->row_room * sizeof *l->rows);
    if (!l->rows) return false;
    memset(l->rows, 0, l->row_room * sizeof *l->rows);
    for (size_t i = 0; i < n_layout_rows; i++) {
        const layout_row *row = &layout_rows[i];
        const xir_class *cls = xir_class_of(l->net->ctx, row->decl());
        if (!cls) continue;
        size_t at = slot_of(l, cls);
        while (l->rows[at].cls) at = (at + 1) & (l->row_room - 1);
        l->rows[at] = (known_row){ .row = row, .cls = cls, .keepdim = xir_class_field(cls, XIR_STR("keepdim")) };
        for (size_t k = 0; k < MOST_ATTRS && row->attr[k]; k++) {
            l->rows[at].attr[k] = xir_class_field(cls, xir_str_of(row->attr[k]));
        }
    }
    return true;
}

const known_row *row_of(const plan *l, const xir_class *cls) {
    for (size_t at = slot_of(l, cls); l->rows[at].cls; at = (at + 1) & (l->row_room - 1)) {
        if (l->rows[at].cls == cls) return &l->rows[at];
    }
    return NULL;
}
