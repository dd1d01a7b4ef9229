/* The constant part of a graph, which dims and axes are computed with: a few op types, on few numbers. */
#include <string.h>
#include "onnx_rows.h"

static double real_of(onnx_number n) { return n.real ? n.f : (double)n.i; }

static onnx_number arithmetic(char what, onnx_number a, onnx_number b) {
    if (a.real || b.real) {
        double x = real_of(a), y = real_of(b);
        return (onnx_number){ .real = true, .f = what == '+' ? x + y : what == '-' ? x - y : what == '*' ? x * y : x / y };
    }
    uint64_t x = (uint64_t)a.i, y = (uint64_t)b.i;   // wraps, as the machine does
    if (what == '/') return (onnx_number){ .i = b.i == 0 || b.i == -1 ? (int64_t)(0 - x) : a.i / b.i };
    return (onnx_number){ .i = (int64_t)(what == '+' ? x + y : what == '-' ? x - y : x * y) };
}

/* Elements of output 0 from those of the inputs; false where this op type is none that shapes are made with. */
static bool compute(onnx_at *at, onnx_number *out, size_t n) {
    pb_bytes type = at->node.op_type;
    const onnx_number *a = NULL, *b = NULL;
    size_t n_a = 0, n_b = 0;
    if (pb_is(type, "Shape")) {
        xir_value *x = map_in(at, 0);
        int64_t start = map_attr_int(at, "start", 0), rank = (int64_t)map_rank_of(x);
        start = start < 0 ? start + rank : start;
        for (size_t i = 0; i < n; i++) {
            out[i] = (onnx_number){ .i = map_dim_of(x, (size_t)(start < 0 ? 0 : start) + i) };
            if (out[i].i < 0) return false;
        }
        return true;
    }
    if (pb_is(type, "Size")) {
        items dims = map_dims_of(map_in(at, 0));
        for (size_t i = 0; i < dims.n; i++) if (dims.v[i] < 0) return false;
        out[0] = (onnx_number){ .i = items_product(&dims, 0, dims.n) };
        return n == 1;
    }
    if (pb_is(type, "Concat")) {
        size_t filled_to = 0;
        for (size_t i = 0; i < at->n_in; i++) {
            if (!map_in_known(at, i, &a, &n_a) || filled_to + n_a > n) return false;
            if (n_a) memcpy(out + filled_to, a, n_a * sizeof *a);
            filled_to += n_a;
        }
        return filled_to == n;
    }
    if (!map_in_known(at, 0, &a, &n_a)) return false;
    if (pb_is(type, "ConstantOfShape")) {
        onnx_attribute value;
        onnx_tensor tensor;
        onnx_number number = { .real = true };
        if (onnx_find_attribute(&at->node, "value", &value) && onnx_read_tensor(value.t, &tensor)) {
            onnx_elements elements = onnx_elements_of(&tensor);
            if (!onnx_elements_next(&elements, &number)) return false;
        }
        for (size_t i = 0; i < n; i++) out[i] = number;
        return true;
    }
    if (pb_is(type, "Slice")) {
        const onnx_number *step;
        if (!map_in_known(at, 1, &b, &n_b) || n_b != 1) return false;
        if (map_has_in(at, 4) && (!map_in_known(at, 4, &step, &n_b) || n_b != 1 || step->i != 1)) return false;
        int64_t start = b->i < 0 ? b->i + (int64_t)n_a : b->i;
        for (size_t i = 0; i < n; i++) {
            int64_t from = start + (int64_t)i;
            if (from < 0 || from >= (int64_t)n_a) return false;
            out[i] = a[from];
        }
        return true;
    }
    if (pb_is(type, "Cast")) {
        uint64_t to = (uint64_t)map_attr_int(at, "to", 0);
        bool real = to == ONNX_FLOAT || to == ONNX_DOUBLE || to == ONNX_FLOAT16 || to == ONNX_BFLOAT16;
        if (n != n_a) return false;
        for (size_t i = 0; i < n; i++) {
            out[i] = real ? (onnx_number){ .real = true, .f = real_of(a[i]) }
                          : (onnx_number){ .i = a[i].real ? (int64_t)a[i].f : a[i].i };
        }
        return true;
    }
    if (pb_is(type, "Neg")) {
        for (size_t i = 0; i < n && i < n_a; i++) out[i] = arithmetic('-', (onnx_number){ .i = 0 }, a[i]);
        return n == n_a;
    }
    static const char *const same[] = { "Identity", "Unsqueeze", "Squeeze", "Reshape", "Flatten" };
    for (size_t i = 0; i < COUNT(same); i++) {
        if (!pb_is(type, same[i])) continue;
        if (n && n == n_a) memcpy(out, a, n * sizeof *a);
        return n == n_a;
    }
    char what = pb_is(type, "Add") ? '+' : pb_is(type, "Sub") ? '-' : pb_is(type, "Mul") ? '*' :
                pb_is(type, "Div") ? '/' : 0;
    if (!what || !map_in_known(at, 1, &b, &n_b) || !n_a || !n_b) return false;
    if ((n_a != n && n_a != 1) || (n_b != n && n_b != 1)) return false;
    for (size_t i = 0; i < n; i++) out[i] = arithmetic(what, a[n_a == 1 ? 0 : i], b[n_b == 1 ? 0 : i]);
    return true;
}

void onnx_fold(onnx_at *at) {
    if (map_failed(at) || at->n_out != 1) return;
    int64_t n;
    const xir_type *type = map_output_type(at, 0);
    if (!type || xir_type_rank(type) > 1 || xir_type_elements(type, &n) != XIR_OK || n < 0 || n > MOST_ITEMS) return;
    onnx_number *out = map_pool_take(at, n == 0 ? 1 : (size_t)n);
    if (!out) return;
    if (compute(at, out, (size_t)n) && !map_failed(at)) map_give_known(at, 0, out, (size_t)n);
}
