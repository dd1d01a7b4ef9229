/* Moves against a second implementation that is slow and obvious: it says for every element of the output which element of which
 * input stands there. Shapes must be the same, unknown dims unknown exactly where it depends on them, and what types say of
 * elements (scale, ratio, zero point, whether it is valid) must be said of the same elements afterwards. */
#include <stdio.h>
#include <string.h>
#include "support/forms.h"
#include "graph.h"
#include "support/often.h"
#include <xir/xir.h>

enum { CASES = OFTEN(100000), CHUNK = 2000, MOST_RANK = 6, MOST_INPUTS = 3, MOST_LIST = 8, MOST_OUT = 8 };

typedef enum move_kind {
    SLICE, SPLIT, UNSTACK, ROLL, SWAP, PAD, CONCAT, STACK, TRANSPOSE, SQUEEZE, EXPAND, TILE, RESHAPE, SHUFFLE, PIXEL, KINDS
} move_kind;
static const char *const names[KINDS] = {   // ORDER move_kind
    "Slice", "Split", "Unstack", "Roll", "SwapOrder", "Pad", "Concat", "Stack", "Transpose", "Squeeze", "Expand", "Tile",
    "Reshape", "ChannelShuffle", "PixelShuffle",
};

typedef struct shape { size_t rank; int64_t dim[MOST_RANK]; } shape;
typedef struct list { size_t size; int64_t data[MOST_LIST * 2]; } list;

typedef struct test_case {
    move_kind kind;
    size_t    n_inputs;
    shape     in[MOST_INPUTS];
    list      a, b, c;     /* the attributes that are lists, in the order of the rows */
    int64_t   number;      /* axis, dim, groups, upscale_factor, mode                 */
    bool      null_list;
} test_case;

/* ---- the second implementation ------------------------------------------------------------------------------------ */

static int64_t elements(const shape *s) {
    int64_t n = 1;
    for (size_t k = 0; k < s->rank; k++) n *= s->dim[k];
    return n;
}

static bool axis_in(int64_t *axis, size_t rank) {
    if (*axis < 0) *axis += (int64_t)rank;
    return *axis >= 0 && *axis < (int64_t)rank;
}

/* The places that begin:end:stride picks of n, as NumPy counts them. */
static size_t picked(int64_t begin, int64_t end, int64_t stride, int64_t n, int64_t *out) {
    __extension__ typedef __int128 wide;
    wide b = begin, e = end;
    size_t count = 0;
    if (b < 0) b += n;
    if (e < 0) e += n;
    wide least = stride < 0 ? -1 : 0, most = stride < 0 ? n - 1 : n;
    while (b < least || b > most) b = b < least ? least : most;
    while (e < least || e > most) e = e < least ? least : most;
    for (wide i = b; stride > 0 ? i < e : i > e; i += stride) out[count++] = (int64_t)i;
    return count;
}

/* The place in a dim of n that stands at `at` of the padded one; -1: a new element. -2: there is none. */
static int64_t padded_from(int64_t mode, int64_t n, int64_t before, int64_t after, int64_t at) {
    int64_t first = before < 0 ? -before : 0, last = n - 1 + (after < 0 ? after : 0), i = at - before;
    if (i >= first && i <= last) return i;
    if (mode == XIR_PAD_CONSTANT) return -1;
    if (last < first) return -2;
    if (mode == XIR_PAD_REPLICATION) return i < first ? first : last;
    if (mode == XIR_PAD_REFLECTION) i = i < first ? 2 * first - i : 2 * last - i;
    else i = i < first ? 2 * first - 1 - i : 2 * last + 1 - i;
    return i >= first && i <= last ? i : -2;
}

/* The shapes of the outputs; false if there are none. */
static bool shapes_of(const test_case *c, const shape *in, shape *out, size_t *n_out) {
    int64_t room[64], axis = c->number;
    size_t rank = in->rank;
    shape *o = out;
    *n_out = 1;
    *o = *in;
    switch (c->kind) {
    case SLICE:
        for (size_t k = 0; k < rank; k++) {
            o->dim[k] = (int64_t)picked(c->a.data[k], c->b.data[k], c->c.data[k], in->dim[k], room);
        }
        return true;
    case SPLIT: {
        int64_t total = 0;
        if (!axis_in(&axis, rank) || c->a.size == 0) return false;
        for (size_t i = 0; i < c->a.size; i++) {
            out[i] = *in;
            out[i].dim[axis] = c->a.data[i];
            total += c->a.data[i];
            if (c->a.data[i] < 0) return false;
        }
        *n_out = c->a.size;
        return total == in->dim[axis];
    }
    case UNSTACK:
        if (!axis_in(&axis, rank) || in->dim[axis] == 0) return false;
        *n_out = (size_t)in->dim[axis];
        o->rank = 0;
        for (size_t k = 0; k < rank; k++) if ((int64_t)k != axis) o->dim[o->rank++] = in->dim[k];
        for (size_t i = 1; i < *n_out; i++) out[i] = *o;
        return true;
    case ROLL:
        for (size_t i = 0; i < c->b.size; i++) if (!axis_in(&(int64_t){ c->b.data[i] }, rank)) return false;
        return c->b.size ? c->a.size == c->b.size : c->a.size == 1;
    case SWAP:
        if (!axis_in(&axis, rank) || (int64_t)c->a.size != in->dim[axis]) return false;
        for (size_t i = 0; i < c->a.size; i++) {
            size_t times = 0;
            for (size_t k = 0; k < c->a.size; k++) times += c->a.data[k] == (int64_t)i;
            if (times != 1) return false;
        }
        return true;
    case PAD:
        for (size_t k = 0; k < rank; k++) {
            int64_t before = c->a.data[2 * k], after = c->a.data[2 * k + 1];
            if (in->dim[k] + (before < 0 ? before : 0) + (after < 0 ? after : 0) < 0) return false;
            o->dim[k] = in->dim[k] + before + after;
            for (int64_t i = 0; i < o->dim[k]; i++) {
                if (padded_from(c->number, in->dim[k], before, after, i) == -2) return false;
            }
        }
        return true;
    case CONCAT:
        if (axis == -1) axis = (int64_t)rank - 1;
        if (axis < 0 || axis >= (int64_t)rank) return false;
        for (size_t i = 1; i < c->n_inputs; i++) {
            if (in[i].rank != rank) return false;
            for (size_t k = 0; k < rank; k++) if ((int64_t)k != axis && in[i].dim[k] != in->dim[k]) return false;
            o->dim[axis] += in[i].dim[axis];
        }
        return true;
    case STACK:
        if (!axis_in(&axis, rank + 1)) return false;
        for (size_t i = 1; i < c->n_inputs; i++) {
            if (in[i].rank != rank || memcmp(in[i].dim, in->dim, rank * sizeof(int64_t)) != 0) return false;
        }
        o->rank = 0;
        for (size_t k = 0; k <= rank; k++) {
            o->dim[o->rank++] = (int64_t)k == axis ? (int64_t)c->n_inputs : in->dim[k - ((int64_t)k > axis)];
        }
        return true;
    case TRANSPOSE:
        if (c->a.size != rank) return false;
        for (size_t k = 0; k < rank; k++) {
            int64_t from = c->a.data[k];
            if (!axis_in(&from, rank)) return false;
            for (size_t l = 0; l < k; l++) {
                int64_t other = c->a.data[l];
                axis_in(&other, rank);
                if (other == from) return false;
            }
            o->dim[k] = in->dim[from];
        }
        return true;
    case SQUEEZE: {
        bool goes[MOST_RANK] = { false };
        for (size_t i = 0; i < c->a.size; i++) {
            int64_t gone = c->a.data[i];
            if (!axis_in(&gone, rank) || goes[gone] || in->dim[gone] != 1) return false;
            goes[gone] = true;
        }
        o->rank = 0;
        for (size_t k = 0; k < rank; k++) if (c->a.size ? !goes[k] : in->dim[k] != 1) o->dim[o->rank++] = in->dim[k];
        return true;
    }
    case EXPAND:
        if (c->a.size < rank) return false;
        o->rank = c->a.size;
        for (size_t k = 0; k < o->rank; k++) {
            bool fresh = k + rank < o->rank;
            int64_t size = c->a.data[k], dim = fresh ? 1 : in->dim[k + rank - o->rank];
            if (size < -1 || (size == -1 && fresh) || (size >= 0 && size != dim && dim != 1)) return false;
            o->dim[k] = size == -1 ? dim : size;
        }
        return true;
    case TILE:
        o->rank = c->a.size > rank ? c->a.size : rank;
        for (size_t k = 0; k < o->rank; k++) {
            int64_t dim = k + rank < o->rank ? 1 : in->dim[k + rank - o->rank];
            int64_t times = k + c->a.size < o->rank ? 1 : c->a.data[k + c->a.size - o->rank];
            if (times < 0) return false;
            o->dim[k] = dim * times;
        }
        return true;
    case RESHAPE: {
        int64_t rest = -1, product = 1;
        o->rank = c->a.size;
        for (size_t k = 0; k < o->rank; k++) {
            o->dim[k] = c->a.data[k];
            if (o->dim[k] < -1 || (o->dim[k] == -1 && rest >= 0)) return false;
            if (o->dim[k] == -1) rest = (int64_t)k;
            else product *= o->dim[k];
        }
        if (rest < 0) return product == elements(in);
        if (product == 0 || elements(in) % product) return false;
        o->dim[rest] = elements(in) / product;
        return true;
    }
    case SHUFFLE:
        return rank && c->number >= 1 && in->dim[rank - 1] % c->number == 0;
    case PIXEL:
        if (rank != 4 || c->number < 1 || in->dim[3] % (c->number * c->number)) return false;
        o->dim[1] *= c->number;
        o->dim[2] *= c->number;
        o->dim[3] /= c->number * c->number;
        return true;
    case KINDS: break;
    }
    return false;
}

/* Row-major: the number of an index and back. */
static int64_t number_of(const shape *s, const int64_t *index) {
    int64_t n = 0;
    for (size_t k = 0; k < s->rank; k++) n = n * s->dim[k] + index[k];
    return n;
}
static void index_of(const shape *s, int64_t n, int64_t *index) {
    for (size_t k = s->rank; k-- > 0; n /= s->dim[k]) index[k] = n % s->dim[k];
}

/* Which element of which input stands at an index of an output; false: a new one, its index negative in the dims that are
 * padded there. */
static bool source_of(const test_case *c, const shape *out, size_t part, const int64_t *index, size_t *input, int64_t *from) {
    const shape *in = c->in;
    size_t rank = in->rank;
    int64_t axis = c->number, room[64];
    *input = 0;
    if (c->kind != EXPAND && c->kind != TILE) memcpy(from, index, sizeof(int64_t) * MOST_RANK);
    switch (c->kind) {
    case SLICE:
        for (size_t k = 0; k < rank; k++) {
            picked(c->a.data[k], c->b.data[k], c->c.data[k], in->dim[k], room);
            from[k] = room[index[k]];
        }
        return true;
    case SPLIT:
        axis_in(&axis, rank);
        for (size_t i = 0; i < part; i++) from[axis] += c->a.data[i];
        return true;
    case UNSTACK:
        axis_in(&axis, rank);
        for (size_t k = 0, l = 0; k < rank; k++) from[k] = (int64_t)k == axis ? (int64_t)part : index[l++];
        return true;
    case ROLL:
        if (c->b.size == 0) {
            int64_t n = elements(in);
            index_of(in, ((number_of(in, index) - c->a.data[0]) % n + n) % n, from);
        }
        for (size_t i = 0; i < c->b.size; i++) {
            axis = c->b.data[i];
            axis_in(&axis, rank);
            from[axis] = ((from[axis] - c->a.data[i]) % in->dim[axis] + in->dim[axis]) % in->dim[axis];
        }
        return true;
    case SWAP:
        axis_in(&axis, rank);
        from[axis] = c->a.data[index[axis]];
        return true;
    case PAD: {
        bool old = true;
        for (size_t k = 0; k < rank; k++) {
            from[k] = padded_from(c->number, in->dim[k], c->a.data[2 * k], c->a.data[2 * k + 1], index[k]);
            old &= from[k] >= 0;
        }
        return old;
    }
    case CONCAT:
        if (axis == -1) axis = (int64_t)rank - 1;
        for (; from[axis] >= in[*input].dim[axis]; (*input)++) from[axis] -= in[*input].dim[axis];
        return true;
    case STACK:
        axis_in(&axis, rank + 1);
        *input = (size_t)index[axis];
        for (size_t k = 0; k < rank; k++) from[k] = index[k + ((int64_t)k >= axis)];
        return true;
    case TRANSPOSE:
        for (size_t k = 0; k < rank; k++) {
            axis = c->a.data[k];
            axis_in(&axis, rank);
            from[axis] = index[k];
        }
        return true;
    case SQUEEZE:
    case RESHAPE: index_of(in, number_of(out, index), from); return true;
    case EXPAND:
    case TILE:
        for (size_t k = 0; k < rank; k++) from[k] = index[k + out->rank - rank] % in->dim[k];
        return true;
    case SHUFFLE: {
        int64_t channel = index[rank - 1], each = in->dim[rank - 1] / c->number;
        from[rank - 1] = channel % c->number * each + channel / c->number;
        return true;
    }
    case PIXEL:
        from[1] = index[1] / c->number;
        from[2] = index[2] / c->number;
        from[3] = (index[3] * c->number + index[1] % c->number) * c->number + index[2] % c->number;
        return true;
    case KINDS: break;
    }
    return false;
}

/* ---- the library's ---------------------------------------------------------------------------------------------- */

static xir_context *now;      /* for a chunk of cases: types pile up */
static xir_network *net;
static xir_value   *values[MOST_INPUTS];
static const xir_target *target;
static size_t       tiles_at, unit_at;   /* the dims of a tiled axis; both 0: none */

static void chunk_begin(void) {
    target = NULL;
    tiles_at = unit_at = 0;
    now = xir_context_new(NULL);
    net = xir_network_new(now, "net", XIR_FRAMEWORK_PYTORCH, "v1.9");
    const xir_type *number = xir_tensor(now, xir_float(now, XIR_FLOAT_FP32), NULL, NULL, 0);
    for (size_t i = 0; i < MOST_INPUTS; i++) values[i] = value_make_orphan(net, number);
    assert_non_null(values[MOST_INPUTS - 1]);
}
static void chunk_end(void) {
    xir_network_free(net);
    xir_context_free(now);
}

typedef union any_attrs {
    xir_slice_attrs slice; xir_split_attrs split; xir_unstack_attrs unstack; xir_roll_attrs roll; xir_swap_order_attrs swap;
    xir_pad_attrs pad; xir_concat_attrs concat; xir_stack_attrs stack; xir_transpose_attrs transpose; xir_squeeze_attrs squeeze;
    xir_expand_attrs expand; xir_tile_attrs tile; xir_reshape_attrs reshape; xir_channel_shuffle_attrs shuffle;
    xir_pixel_shuffle_attrs pixel;
} any_attrs;

static const xir_class_decl *attrs_of(const test_case *c, any_attrs *a) {
    const xir_i64s x = { c->a.data, c->a.size }, y = { c->b.data, c->b.size }, z = { c->c.data, c->c.size }, null = { NULL, 0 };
    const int64_t n = c->number;
#define WITH(id, member, ...) a->member = (xir_##id##_attrs){ __VA_ARGS__ }; return xir_##id##_class()
    switch (c->kind) {
    case SLICE:     WITH(slice,           slice,     .begin = x, .end = y, .stride = z);
    case SPLIT:     WITH(split,           split,     .sections = x, .axis = n);
    case UNSTACK:   WITH(unstack,         unstack,   .dim = n);
    case ROLL:      WITH(roll,            roll,      .shifts = x, .dims = c->null_list ? null : y);
    case SWAP:      WITH(swap_order,      swap,      .order = x, .axis = n);
    case PAD:       WITH(pad,             pad,       .padding = x, .mode = (xir_pad_mode)n, .value = xir_scalar_int(now, 0));
    case CONCAT:    WITH(concat,          concat,    .axis = n);
    case STACK:     WITH(stack,           stack,     .dim = n);
    case TRANSPOSE: WITH(transpose,       transpose, .dims = x);
    case SQUEEZE:   WITH(squeeze,         squeeze,   .axis = x);
    case EXPAND:    WITH(expand,          expand,    .sizes = x);
    case TILE:      WITH(tile,            tile,      .dims = x);
    case RESHAPE:   WITH(reshape,         reshape,   .shape = x, .layout = xir_layout_default(now, x.size));
    case SHUFFLE:   WITH(channel_shuffle, shuffle,   .groups = n);
    case PIXEL:     WITH(pixel_shuffle,   pixel,     .upscale_factor = n);
    case KINDS:     break;
    }
#undef WITH
    return NULL;
}

/* Runs it; the types it gives are in at->out until infer_end. */
static xir_status run(const test_case *c, const xir_type *const *types, xir_infer *at) {
    any_attrs a;
    const xir_class_decl *decl = attrs_of(c, &a);
    for (size_t i = 0; i < c->n_inputs; i++) assert_int_equal(xir_value_set_type(values[i], types[i]), XIR_OK);
    infer_start(at, net, xir_class_of(now, decl), &a, target, values, c->n_inputs, (xir_str){ NULL, 0 }, NULL);
    return infer_run(at);
}

static void describe(const test_case *c) {
    const list *lists[] = { &c->a, &c->b, &c->c };
    print_error("%s number=%lld\n", names[c->kind], (long long)c->number);
    for (size_t i = 0; i < c->n_inputs; i++) {
        print_error("  input %zu:", i);
        for (size_t k = 0; k < c->in[i].rank; k++) print_error(" %lld", (long long)c->in[i].dim[k]);
        xir_text_buffer text = { 0 };
        xir_print_object(now, (const xir_object *)xir_value_type(values[i]), 0, &text);
        print_error("   %.*s\n", (int)text.size, text.data);
        xir_text_free(&text);
    }
    for (size_t i = 0; i < 3; i++) {
        print_error("  list %zu:", i);
        for (size_t k = 0; k < lists[i]->size; k++) print_error(" %lld", (long long)lists[i]->data[k]);
        print_error("\n");
    }
}

static void describe_type(const char *what, const xir_type *type) {
    xir_text_buffer text = { 0 };
    xir_print_object(now, (const xir_object *)type, 0, &text);
    print_error("  %s: %.*s\n", what, (int)text.size, text.data);
    xir_text_free(&text);
}

/* ---- cases by chance ---------------------------------------------------------------------------------------------- */

static int64_t between(int64_t least, int64_t most) { return least + (int64_t)chance((uint64_t)(most - least + 1)); }

static shape some_shape(size_t rank) {
    shape s = { .rank = rank };
    for (size_t k = 0; k < rank; k++) s.dim[k] = chance(12) ? between(1, 4) : 0;
    return s;
}

static int64_t some_place(void) { return chance(8) ? between(-6, 6) : chance(2) ? INT64_MAX : INT64_MIN; }

/* Mostly an axis that there is, from either end. */
static int64_t some_axis(size_t rank) { return chance(30) ? between(-(int64_t)rank, (int64_t)rank - (rank > 0)) : between(-9, 9); }

static void shuffled(list *l, size_t n) {
    l->size = n;
    for (size_t i = 0; i < n; i++) l->data[i] = (int64_t)i;
    for (size_t i = n; i > 1; i--) {
        size_t k = chance(i);
        int64_t other = l->data[k];
        l->data[k] = l->data[i - 1];
        l->data[i - 1] = other;
    }
}

static test_case some_case(move_kind kind) {
    test_case c = { .kind = kind, .n_inputs = 1 };
    size_t rank = chance(5), axis;
    c.in[0] = some_shape(kind == PIXEL ? 4 : rank);
    shape *in = c.in;
    c.number = some_axis(rank);
    axis = rank ? (size_t)((c.number % (int64_t)rank + (int64_t)rank) % (int64_t)rank) : 0;
    switch (kind) {
    case SLICE:
        c.a.size = c.b.size = c.c.size = rank;
        for (size_t k = 0; k < rank; k++) {
            c.a.data[k] = chance(4) ? some_place() : 0;
            c.b.data[k] = chance(4) ? some_place() : INT64_MAX;
            c.c.data[k] = chance(3) ? chance(9) ? between(1, 3) : INT64_MAX : chance(9) ? between(-3, -1) : INT64_MIN;
        }
        break;
    case SPLIT: {
        int64_t rest = rank ? in->dim[axis] : 1;
        while (c.a.size < 4) {
            c.a.data[c.a.size] = c.a.size == 3 || !chance(3) ? rest : between(0, rest);
            rest -= c.a.data[c.a.size++];
            if (rest == 0 && chance(2)) break;
        }
        if (!chance(20)) c.a.data[0] += between(-1, 1);
        break;
    }
    case UNSTACK: break;
    case ROLL:
        c.b.size = rank ? chance(4) : 0;
        c.null_list = c.b.size == 0 && chance(2);
        c.a.size = c.b.size ? c.b.size : 1;
        for (size_t i = 0; i < c.a.size; i++) c.a.data[i] = between(-9, 9);
        for (size_t i = 0; i < c.b.size; i++) c.b.data[i] = some_axis(rank);
        if (!chance(30)) c.a.size = chance(4);
        break;
    case SWAP:
        shuffled(&c.a, rank ? (size_t)in->dim[axis] : 2);
        if (c.a.size && !chance(20)) c.a.data[chance(c.a.size)] = between(-1, 4);
        break;
    case PAD:
        c.number = (int64_t)chance(4);
        c.a.size = 2 * rank;
        for (size_t k = 0; k < rank; k++) {
            bool some = chance(2);
            for (size_t i = 0; i < 2; i++) c.a.data[2 * k + i] = some ? between(-1, 3) : 0;
        }
        break;
    case CONCAT:
        c.n_inputs = 1 + chance(MOST_INPUTS);
        if (!chance(2)) c.number = c.number < 0 ? -1 : c.number;
        if (rank) axis = c.number == -1 ? rank - 1 : axis;
        for (size_t i = 1; i < c.n_inputs; i++) {
            in[i] = *in;
            if (rank) in[i].dim[axis] = between(0, 4);
            if (!chance(20)) in[i] = some_shape(chance(5));
        }
        break;
    case STACK:
        c.n_inputs = 1 + chance(MOST_INPUTS);
        c.number = some_axis(rank + 1);
        for (size_t i = 1; i < c.n_inputs; i++) in[i] = chance(20) ? *in : some_shape(chance(5));
        break;
    case TRANSPOSE:
        shuffled(&c.a, rank);
        for (size_t k = 0; k < rank; k++) if (!chance(3)) c.a.data[k] -= (int64_t)rank;
        if (rank && !chance(20)) c.a.data[chance(rank)] = between(-5, 5);
        break;
    case SQUEEZE:
        for (size_t k = 0; k < rank; k++) {
            if (chance(2)) in->dim[k] = 1;
            if (in->dim[k] == 1 && chance(2)) c.a.data[c.a.size++] = chance(2) ? (int64_t)k : (int64_t)k - (int64_t)rank;
        }
        if (!chance(20)) c.a.data[c.a.size++] = some_axis(rank);
        break;
    case EXPAND:
        c.a.size = rank + chance(3);
        for (size_t k = 0; k < c.a.size; k++) {
            bool fresh = k + rank < c.a.size;
            int64_t *dim = fresh ? NULL : &in->dim[k + rank - c.a.size];
            if (dim && chance(2)) *dim = 1;
            c.a.data[k] = !dim || *dim == 1 ? between(0, 4) : chance(2) ? -1 : *dim;
            if (!chance(20)) c.a.data[k] = between(-2, 4);
        }
        break;
    case TILE:
        c.a.size = chance(6);
        for (size_t k = 0; k < c.a.size; k++) c.a.data[k] = chance(12) ? between(1, 3) : between(-1, 0);
        break;
    case RESHAPE: {
        /* Neighbours are merged, dims split, dims of 1 put in; sometimes it's another number. */
        int64_t carry = 1;
        for (size_t k = 0; k < rank; k++) {
            carry *= in->dim[k];
            if (k + 1 < rank && !chance(3)) continue;
            if (carry > 0 && carry % 2 == 0 && !chance(4) && c.a.size < 4) c.a.data[c.a.size++] = 2, carry /= 2;
            if (!chance(6) && c.a.size < 4) c.a.data[c.a.size++] = 1;
            c.a.data[c.a.size++] = carry;
            carry = 1;
        }
        if (c.a.size && !chance(3)) c.a.data[chance(c.a.size)] = chance(9) ? -1 : between(-2, 5);
        if (c.a.size > MOST_RANK) c.a.size = MOST_RANK;
        break;
    }
    case SHUFFLE:
        c.number = between(chance(20) != 0, 3);
        if (rank) in->dim[rank - 1] = chance(9) ? c.number * between(0, 3) : between(0, 7);
        break;
    case PIXEL:
        c.number = between(chance(20) != 0, 3);
        in->dim[3] = chance(9) ? c.number * c.number * between(0, 2) : between(0, 7);
        break;
    case KINDS: break;
    }
    return c;
}

/* ---- shapes ------------------------------------------------------------------------------------------------------- */

static const xir_type *plain(const shape *s) { return xir_tensor(now, xir_float(now, XIR_FLOAT_FP32), NULL, s->dim, s->rank); }

static bool has_shape(const xir_type *type, const shape *s) {
    if (xir_type_rank(type) != s->rank || xir_layout_rank(xir_type_layout(type)) != s->rank) return false;
    for (size_t k = 0; k < s->rank; k++) if (xir_type_dim(type, (int64_t)k, false) != s->dim[k]) return false;
    return true;
}

static void shapes_are_right(void **state) {
    const move_kind kind = (move_kind)(uintptr_t)*state;
    size_t good = 0;
    for (size_t n = 0; n < CASES; n++) {
        if (n % CHUNK == 0) chunk_begin();
        test_case c = some_case(kind);
        const xir_type *types[MOST_INPUTS];
        shape out[64];
        size_t n_out;
        xir_infer at;
        for (size_t i = 0; i < c.n_inputs; i++) types[i] = plain(&c.in[i]);
        bool expected = shapes_of(&c, c.in, out, &n_out), right;
        xir_status status = run(&c, types, &at);
        right = expected == (status == XIR_OK) && (!expected || at.n_out == n_out);
        for (size_t i = 0; right && expected && i < n_out; i++) right = has_shape(at.out[i], &out[i]);
        if (!right) {
            describe(&c);
            for (size_t i = 0; !status && i < at.n_out; i++) describe_type("output", at.out[i]);
            fail_msg("case %zu: %s, %s was expected", n, xir_status_name(status), expected ? "shapes" : "refusal");
        }
        good += expected;
        infer_end(&at);
        if (n % CHUNK == CHUNK - 1) chunk_end();
    }
    assert_in_range(good, CASES / 4, CASES);   // it is no test of refusals alone
}

/* ---- unknown dims -------------------------------------------------------------------------------------------------- */

/* Larger than any place that is counted from an end and the multiples that are asked for. */
enum { MOST_DIM = 16 };

/* Every number in the place of the unknown dims: what all of them agree on is known. */
typedef struct agreement {
    bool   any;
    size_t n_out;
    bool   same_count, same_rank;
    shape  out[64];
} agreement;

static void agree(const test_case *c, const shape *in, agreement *a) {
    shape out[64];
    size_t n_out;
    if (!shapes_of(c, in, out, &n_out)) return;
    if (!a->any) {
        *a = (agreement){ true, n_out, true, true, { { 0 } } };
        memcpy(a->out, out, n_out * sizeof *out);
        return;
    }
    a->same_count &= n_out == a->n_out;
    for (size_t i = 0; i < n_out && i < a->n_out; i++) {
        a->same_rank &= out[i].rank == a->out[i].rank;
        for (size_t k = 0; a->same_rank && k < out[i].rank; k++) {
            if (out[i].dim[k] != a->out[i].dim[k]) a->out[i].dim[k] = -1;
        }
    }
}

static void unknown_dims_stay_unknown(void **state) {
    const move_kind kind = (move_kind)(uintptr_t)*state;
    size_t good = 0;
    for (size_t n = 0; n < CASES; n++) {
        if (n % CHUNK == 0) chunk_begin();
        test_case c = some_case(kind);
        shape given[MOST_INPUTS], tried[MOST_INPUTS];
        int64_t *holes[2];
        size_t n_holes = 0;
        memcpy(given, c.in, sizeof given);
        memcpy(tried, c.in, sizeof tried);
        for (size_t i = 0; i < c.n_inputs; i++) {
            for (size_t k = 0; k < c.in[i].rank && n_holes < 2; k++) {
                if (chance(3)) continue;
                given[i].dim[k] = -1 - (int64_t)chance(3);
                holes[n_holes++] = &tried[i].dim[k];
            }
        }
        if (n_holes) {
            agreement a = { .any = false };
            for (int64_t x = 0; x <= MOST_DIM; x++) {
                for (int64_t y = 0; y <= (n_holes == 2 ? MOST_DIM : 0); y++) {
                    *holes[0] = x;
                    if (n_holes == 2) *holes[1] = y;
                    agree(&c, tried, &a);
                }
            }
            const xir_type *types[MOST_INPUTS];
            xir_infer at;
            for (size_t i = 0; i < c.n_inputs; i++) types[i] = plain(&given[i]);
            xir_status status = run(&c, types, &at);
            bool countable = a.any && a.same_count && a.same_rank, right = true;
            if (countable) right = status == XIR_OK && at.n_out == a.n_out;
            else if (a.any) right = status == XIR_E_UNSUPPORTED;   // what is unknown is how many outputs, or the rank
            for (size_t i = 0; right && countable && i < a.n_out; i++) right = has_shape(at.out[i], &a.out[i]);
            if (!right) {
                describe(&c);
                for (size_t i = 0; !status && i < at.n_out; i++) describe_type("output", at.out[i]);
                fail_msg("case %zu: %s", n, xir_status_name(status));
            }
            good += countable;
            infer_end(&at);
        }
        if (n % CHUNK == CHUNK - 1) chunk_end();
    }
    if (kind != UNSTACK) assert_in_range(good, CASES / 8, CASES);
}

/* ---- what is said of elements --------------------------------------------------------------------------------------- */

/* A type whose arrays and distributions are by chance: each along a dim of its own. */
static const xir_type *some_element(const shape *s, const xir_type *like) {
    const xir_type *sint = xir_sint(now, 8);
    double numbers[2][MOST_DIM + 2] = { { 0 } };
    int64_t zeros[MOST_DIM + 2], axes[2] = { -1, -1 }, m[MOST_DIM + 2], exp[MOST_DIM + 2];
    size_t sizes[2] = { 1, 1 };
    bool levels = chance(2);
    if (!chance(3) && !like) return xir_float(now, XIR_FLOAT_FP32);
    for (size_t i = 0; i < 2; i++) {
        int64_t axis = s->rank ? between(0, (int64_t)s->rank - 1) : 0;
        bool single = s->rank == 0 || chance(4) == 0 || s->dim[axis] == 0;
        bool both = unit_at && ((size_t)axis == tiles_at || (size_t)axis == unit_at);
        single |= both && s->dim[tiles_at] * s->dim[unit_at] == 0;
        sizes[i] = single ? 1 : (size_t)(both ? s->dim[tiles_at] * s->dim[unit_at] : s->dim[axis]);
        axes[i] = s->rank && chance(2) ? axis : s->rank ? axis - (int64_t)s->rank : -1;
        for (size_t k = 0; k < sizes[i]; k++) numbers[i][k] = levels ? 1 + (double)chance(3) : 2;
    }
    for (size_t k = 0; k < sizes[0]; k++) zeros[k] = levels ? between(-2, 2) : 3;
    for (size_t k = 0; k < sizes[0]; k++) m[k] = (int64_t)numbers[0][k], exp[k] = 1;
    bool exponents = chance(2), normal = chance(2), centred = chance(2);
    if (like) {   // quantised in the same way
        exponents = xir_scales_is_exp(xir_type_scale(like));
        normal = xir_type_norm_ratios(like) != NULL;
    }
    const xir_scales *scales = exponents ? xir_exp_scales_get(now, m, exp, numbers[0], sizes[0], axes[0])
                                         : xir_scales_get(now, numbers[0], sizes[0], axes[0]);
    size_t n_zeros = centred ? 0 : sizes[0];
    if (!normal) return xir_quantized(now, scales, zeros, n_zeros, sint, NULL);
    const xir_norm_ratios *ratios = xir_norm_ratios_get(now, numbers[1], sizes[1], axes[1]);
    return xir_normalized_quantized(now, xir_normalized(now, ratios, sint, NULL), scales, zeros, n_zeros);
}

/* `*`, or with a tiled axis where that is. */
static const xir_layout *some_layout(const shape *s) {
    xir_layout_steps steps = xir_layout_start();
    if (!unit_at) return NULL;
    for (size_t k = 0; k < s->rank; k++) {
        if (k == unit_at) xir_layout_put(&steps, 'c', s->dim[k]);
        else xir_layout_put(&steps, k == tiles_at ? 'C' : '*', 1);
    }
    return xir_layout_finish(now, &steps, NULL);
}

static const xir_type *some_type(const shape *s, const xir_type *like) {
    const xir_type *element = like ? xir_type_element(like) : some_element(s, NULL);
    if (like && xir_type_is_quantized(element)) element = some_element(s, element);
    const xir_type *type = xir_tensor(now, element, some_layout(s), s->dim, s->rank);
    size_t first = 0;
    for (size_t i = 0; i < 2 && s->rank && !chance(2); i++) {
        /* The first distribution is over some of the dims, the second over one of the others. */
        list order;
        shuffled(&order, s->rank - first);
        size_t n = i == 0 && s->rank > 1 && chance(2) ? 2 : 1;
        if (order.size < n || (i && first == 0)) break;
        int64_t axes[2], total = 1;
        for (size_t k = 0; k < n; k++) {
            axes[k] = order.data[k] + (int64_t)first;
            if (n == 2 && unit_at && chance(4)) axes[k] = (int64_t)(k ? unit_at : tiles_at);
            total *= s->dim[axes[k]];
        }
        if (n == 2 && axes[0] == axes[1]) break;
        if (i == 0) {
            size_t most = 0;
            for (size_t k = 0; k < n; k++) if ((size_t)axes[k] + 1 > most) most = (size_t)axes[k] + 1;
            first = most;
        }
        xir_distr_builder *b = xir_distr_new(now, axes, n, total);
        if (chance(3)) {
            for (int64_t k = 0; k < total; k++) if (!chance(3)) assert_int_equal(xir_distr_set_unvalid(b, k, k + 1), XIR_OK);
        }
        const xir_distr *distr = xir_distr_build(b, NULL);
        xir_distr_free(b);
        type = xir_type_add_distr(now, type, axes, n, NULL);
        if (type) type = xir_type_set_distr(now, type, distr, NULL);
        assert_non_null(type);
    }
    return type;
}

/* What a type says of the element at an index. */
typedef struct said { double scale, ratio; int64_t zero; bool valid; } said;

static size_t item(const xir_type *type, int64_t axis, size_t count, const shape *s, const int64_t *index) {
    const xir_layout *layout = xir_type_layout(type);
    if (count <= 1) return 0;
    if (axis < 0) axis += (int64_t)s->rank;
    assert_in_range(axis, 0, s->rank - 1);
    if (!xir_type_is_layouted(type) || xir_layout_axis(layout, (size_t)axis) == '*') {
        assert_int_equal(count, s->dim[axis]);   // one for each element of its dim
        return (size_t)index[axis];
    }
    int64_t tiles = xir_layout_index(layout, 'C'), unit = xir_layout_index(layout, 'c');
    assert_int_equal(count, s->dim[tiles] * s->dim[unit]);
    return (size_t)(index[tiles] * s->dim[unit] + index[unit]);
}

/* Whether an element is valid; of a new one that is up to the dims that are not padded there. */
static bool is_valid(const xir_type *type, const shape *s, const int64_t *index) {
    const xir_tensor_type *tensor = xir_type_tensor(type);
    bool valid = true;
    for (size_t i = 0; i < tensor->merged_distrs.size; i++) {
        const xir_distr *distr = (const xir_distr *)tensor->merged_distrs.data[i];
        int64_t number = 0, total = 1;
        bool fresh = false;
        for (size_t k = 0; k < distr->merged_axis.size; k++) {
            int64_t axis = distr->merged_axis.data[k];
            assert_true(axis_in(&axis, s->rank));
            number = number * s->dim[axis] + index[axis];
            total *= s->dim[axis];
            fresh |= index[axis] < 0;
        }
        assert_int_equal(total, xir_distr_total(distr));
        valid &= fresh || xir_distr_is_valid(distr, number);
    }
    return valid;
}

static said said_of(const xir_type *type, const shape *s, const int64_t *index) {
    const xir_scales *scales = xir_type_scale(type);
    const xir_norm_ratios *ratios = xir_type_norm_ratios(type);
    xir_i64s zeros = xir_type_zero_points(type);
    said what = { .valid = is_valid(type, s, index) };
    if (scales) what.scale = xir_scales_at(scales, item(type, xir_scales_axis(scales), xir_scales_count(scales), s, index));
    if (ratios) what.ratio = xir_norm_ratios_at(ratios, item(type, xir_norm_ratios_axis(ratios), xir_norm_ratios_count(ratios), s, index));
    if (zeros.size) what.zero = zeros.data[item(type, xir_scales_axis(scales), zeros.size, s, index)];
    return what;
}

/* Whether anything is said that is not the same of all elements: only that may be more than can be said of the output. */
static bool says_different_things(const test_case *c, const xir_type *const *types) {
    said first = { 0 };
    bool any = false;
    for (size_t i = 0; i < c->n_inputs; i++) {
        for (int64_t n = 0, total = elements(&c->in[i]); n < total; n++) {
            int64_t index[MOST_RANK];
            index_of(&c->in[i], n, index);
            said what = said_of(types[i], &c->in[i], index);
            if (!what.valid) return true;
            if (any && (what.scale != first.scale || what.ratio != first.ratio || what.zero != first.zero)) return true;
            first = what;
            any = true;
        }
        /* Arrays can differ where there are no elements. */
        if (elements(&c->in[i]) == 0) return true;
    }
    return false;
}

static bool refuses_some(move_kind kind) {
    return kind == RESHAPE || kind == PIXEL || kind == ROLL || kind == SQUEEZE || kind == UNSTACK || kind == CONCAT ||
           kind == STACK;
}

static void no_fault(void *user, const char *where, const char *sentence) {
    print_error("%s%s: %s\n", (const char *)user, where, sentence);
}

/* Whether each element of an output is said to be what its source is said to be; and the type has no faults. */
static bool says_the_same(const test_case *c, const xir_type *const *types, const xir_type *type, const shape *out, size_t part) {
    char output[] = "output: ";
    fault_sink sink = { no_fault, output, 0 };
    tensor_faults(xir_type_tensor(type), &sink);
    if (sink.count) return false;
    for (int64_t i = 0, total = elements(out); i < total; i++) {
        int64_t index[MOST_RANK] = { 0 }, from[MOST_RANK] = { 0 };
        size_t input;
        index_of(out, i, index);
        said found = said_of(type, out, index);
        if (!source_of(c, out, part, index, &input, from)) {
            if (found.valid != is_valid(types[0], &c->in[0], from)) return false;
            continue;
        }
        said expected = said_of(types[input], &c->in[input], from);
        if (found.scale != expected.scale || found.ratio != expected.ratio || found.zero != expected.zero ||
            found.valid != expected.valid) return false;
    }
    return true;
}

/* Types for the inputs; those of one shape are sometimes the same. */
static void some_types(const test_case *c, const xir_type **types) {
    for (size_t i = 0; i < c->n_inputs; i++) {
        bool same = i && chance(2) && c->in[i].rank == c->in->rank && memcmp(&c->in[i], c->in, sizeof(shape)) == 0;
        types[i] = same ? types[0] : some_type(&c->in[i], i ? types[0] : NULL);
        assert_non_null(types[i]);
    }
}

/* Runs a case that has outputs. Refusals are for the caller to judge, by `may_refuse`; whether it was taken. */
typedef bool refusal_fn(const test_case *c, const xir_type *const *types);
static bool try_case(const test_case *c, const shape *out, size_t n_out, size_t number, refusal_fn *may_refuse) {
    const xir_type *types[MOST_INPUTS];
    xir_infer at;
    some_types(c, types);
    xir_status status = run(c, types, &at);
    bool right = status == XIR_OK ? at.n_out == n_out : status == XIR_E_UNSUPPORTED && may_refuse(c, types);
    for (size_t part = 0; right && !status && part < n_out; part++) {
        right = has_shape(at.out[part], &out[part]) && says_the_same(c, types, at.out[part], &out[part], part);
    }
    if (!right) {
        describe(c);
        for (size_t i = 0; !status && i < at.n_out; i++) describe_type("output", at.out[i]);
        fail_msg("case %zu: %s", number, xir_status_name(status));
    }
    infer_end(&at);
    return status == XIR_OK;
}

static bool may_refuse(const test_case *c, const xir_type *const *types) {
    return refuses_some(c->kind) && says_different_things(c, types);
}

static void elements_keep_what_is_said_of_them(void **state) {
    const move_kind kind = (move_kind)(uintptr_t)*state;
    size_t good = 0;
    for (size_t n = 0; n < CASES; n++) {
        if (n % CHUNK == 0) chunk_begin();
        test_case c = some_case(kind);
        shape out[64];
        size_t n_out;
        if (shapes_of(&c, c.in, out, &n_out)) good += try_case(&c, out, n_out, n, may_refuse);
        if (n % CHUNK == CHUNK - 1) chunk_end();
    }
    assert_in_range(good, CASES / 8, CASES);
}

/* ---- tiles ---------------------------------------------------------------------------------------------------------- */

static bool is_whole(const test_case *c, size_t k) {
    int64_t room[64];
    size_t n = picked(c->a.data[k], c->b.data[k], c->c.data[k], c->in->dim[k], room);
    return (int64_t)n == c->in->dim[k] && (n < 2 || room[1] == room[0] + 1);
}

/* A tiled axis is neither cut inside its tiles nor reordered; joins of padded tiles and of different types can't be said. */
static bool may_refuse_tiles(const test_case *c, const xir_type *const *types) {
    int64_t axis = c->number;
    switch (c->kind) {
    case SLICE: return !is_whole(c, unit_at) || c->c.data[unit_at] != 1;
    case SPLIT:
    case SWAP:  return axis_in(&axis, c->in->rank) && ((size_t)axis == unit_at || (size_t)axis == tiles_at);
    case ROLL:
        for (size_t i = 0; i < c->b.size; i++) {
            axis = c->b.data[i];
            if (axis_in(&axis, c->in->rank) && ((size_t)axis == unit_at || (size_t)axis == tiles_at)) return true;
        }
        return c->b.size == 0;
    case PAD:
        for (size_t i = 0; i < 2; i++) if (c->a.data[2 * unit_at + i] || c->a.data[2 * tiles_at + i]) return true;
        return false;
    case CONCAT: return says_different_things(c, types);
    default:    return false;
    }
}

static void tiles_move_too(void **state) {
    const move_kind kind = (move_kind)(uintptr_t)*state;
    size_t good = 0;
    for (size_t n = 0; n < CASES; n++) {
        if (n % CHUNK == 0) {
            chunk_begin();
            target = target_make(context_home(now), XIR_TARGET_BUYI, XIR_STR(""));
        }
        test_case c = some_case(kind);
        shape out[64];
        size_t n_out, rank = c.in->rank;
        bool fits = rank > 1 && !(kind == CONCAT && (c.number == -1 || c.number == (int64_t)rank - 1));
        unit_at = fits ? rank - 1 : 0;
        tiles_at = fits ? chance(rank - 1) : 0;
        for (size_t i = 0; i < c.n_inputs && fits; i++) {
            fits = c.in[i].rank == rank && c.in->dim[unit_at] > 0;
            c.in[i].dim[unit_at] = c.in->dim[unit_at];
        }
        if (fits && shapes_of(&c, c.in, out, &n_out)) good += try_case(&c, out, n_out, n, may_refuse_tiles);
        if (n % CHUNK == CHUNK - 1) chunk_end();
    }
    assert_in_range(good, CASES / 50, CASES);
}

/* ---- anything ------------------------------------------------------------------------------------------------------- */

/* What no one should write: it is refused or taken, in bounded time, and what is given is a tensor with a layout that fits. */
static const xir_type *any_type(void) {
    static const char *const layouts[] = { "*", "NHWC", "NCHWc32", "Cc2", "c3", "*C*c1", "C*c4", "***C", "CNc3n2", "HHWW", "" };
    int64_t dims[6], axes[3];
    double numbers[6];
    size_t rank = chance(7), count = chance(7);
    for (size_t k = 0; k < 6; k++) dims[k] = chance(8) ? between(-2, 4) : some_number(), numbers[k] = (double)chance(3);
    const xir_layout *layout = chance(2) ? xir_layout_parse(now, xir_str_of(layouts[chance(11)]), NULL) : xir_layout_default(now, rank);
    int64_t axis = chance(9) ? between(-7, 6) : some_number();
    const xir_type *sint = xir_sint(now, 8), *element = sint;
    if (chance(2)) element = xir_quantized(now, xir_scales_get(now, numbers, count, axis), dims, chance(7), sint, NULL);
    if (!chance(4)) element = xir_normalized(now, xir_norm_ratios_get(now, numbers, count, axis), sint, NULL);
    const xir_object *distrs[3];
    size_t n = chance(2) ? chance(4) : 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < 3; k++) axes[k] = chance(9) ? between(-6, 6) : some_number();
        int64_t total = between(0, 30);
        xir_distr_builder *b = xir_distr_new(now, axes, chance(4), total);
        for (int64_t k = 0; k < total; k++) if (chance(2)) xir_distr_set_unvalid(b, k, k + 1);
        distrs[i] = (const xir_object *)xir_distr_build(b, NULL);
        xir_distr_free(b);
    }
    return type_tensor(context_home(now), element, layout, (xir_i64s){ dims, rank }, (xir_refs){ distrs, n });
}

static void any_list(list *l, size_t rank) {
    l->size = chance(3) ? rank * (1 + !chance(3)) : chance(9);
    for (size_t i = 0; i < l->size; i++) l->data[i] = chance(6) ? between(-3, 5) : some_number();
}

static void anything_is_survived(void **state) {
    const move_kind kind = (move_kind)(uintptr_t)*state;
    for (size_t n = 0; n < CASES; n++) {
        if (n % CHUNK == 0) chunk_begin();
        if (n % 2) target = n % 4 == 1 ? NULL : target_make(context_home(now), XIR_TARGET_ZHUGE, XIR_STR("330"));
        const xir_type *types[MOST_INPUTS];
        test_case c = { .kind = kind, .n_inputs = 1 + (kind == CONCAT || kind == STACK ? chance(3) : 0), .null_list = chance(4) == 0 };
        xir_infer at;
        for (size_t i = 0; i < c.n_inputs; i++) types[i] = i && chance(3) ? types[0] : any_type();
        size_t rank = xir_type_rank(types[0]);
        any_list(&c.a, rank);
        any_list(&c.b, rank);
        any_list(&c.c, rank);
        c.number = chance(9) ? between(-4, 5) : some_number();
        if (kind == PAD) c.number = (int64_t)chance(5);
        xir_status status = run(&c, types, &at);
        for (size_t i = 0; !status && i < at.n_out; i++) {
            assert_non_null(xir_type_tensor(at.out[i]));
            assert_int_equal(xir_layout_rank(xir_type_layout(at.out[i])), xir_type_rank(at.out[i]));
        }
        infer_end(&at);
        if (n % CHUNK == CHUNK - 1) chunk_end();
    }
}

/* ---- without memory ----------------------------------------------------------------------------------------------- */

static xir_value *output_of(xir_op *op) { return op ? xir_op_output(op, 0) : NULL; }
#define LIST(...) { (const int64_t[]){ __VA_ARGS__ }, sizeof((const int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t) }
#define STEP(id, in_, ...)                                                                                        \
    do {                                                                                                          \
        const xir_##id##_attrs attrs = { __VA_ARGS__ };                                                           \
        if (x) x = output_of(xir_add_##id(at, (xir_##id##_in){ in_ }, &attrs));                                   \
    } while (0)
#define MOVE(id, ...) STEP(id, .input = x, __VA_ARGS__)

/* Every move over a type of ten dims, whose numbers don't fit where a few do. */
static bool move_all(xir_context *with) {
    enum { N = 12 };
    double scale[N];
    int64_t zero[N];
    for (int64_t i = 0; i < N; i++) scale[i] = 1 + (double)(i % 5), zero[i] = i % 7;
    const int64_t dims[] = { 1, 1, 1, 1, 1, 1, 1, 1, 2, N };
    xir_network *made = xir_network_new(with, "n", XIR_FRAMEWORK_PYTORCH, "v1.9");
    if (!made) return false;
    xir_at at = XIR_AT(made);
    const xir_scales *scales = xir_scales_get(with, scale, N, -1);
    const xir_type *sint = xir_sint(with, 8), *element = scales && sint ? xir_quantized(with, scales, zero, N, sint, NULL) : NULL;
    const xir_type *type = element ? xir_tensor(with, element, NULL, dims, 10) : NULL;
    type = type ? xir_type_add_distr(with, type, (const int64_t[]){ 8, 9 }, 2, NULL) : NULL;
    for (int64_t i = 1; i < 2 * N; i += 3) {
        type = type ? xir_type_mark_distr(with, type, (const int64_t[]){ 8, 9 }, 2, i, i + 1, false, NULL) : NULL;
    }
    xir_value *x = type ? xir_input(at, "x", type) : NULL;
    bool began = x != NULL;
    const xir_layout *stars = xir_layout_default(with, 10);
    if (stars) MOVE(transpose, .dims = LIST(9, 8, 7, 6, 5, 4, 3, 2, 1, 0), .layout = stars);
    else x = NULL;
    MOVE(slice, .begin = LIST(0, 0, 0, 0, 0, 0, 0, 0, 0, 0), .end = LIST(11, 2, 1, 1, 1, 1, 1, 1, 1, 1),
         .stride = LIST(1, 1, 1, 1, 1, 1, 1, 1, 1, 1));
    MOVE(roll, .shifts = LIST(3, 1), .dims = LIST(0, 1));
    MOVE(swap_order, .order = LIST(10, 0, 9, 1, 8, 2, 7, 3, 6, 4, 5), .axis = 0);
    MOVE(pad, .padding = LIST(2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), .mode = XIR_PAD_REFLECTION,
         .value = xir_scalar_int(with, 0));
    MOVE(split, .sections = LIST(12, 4), .axis = 0);
    MOVE(channel_shuffle, .groups = 1);
    if (x) {
        xir_value *const both[] = { x, x };
        x = output_of(xir_add_concat(at, (xir_concat_in){ .inputs = { both, 2 } }, &(xir_concat_attrs){ .axis = 0 }));
    }
    MOVE(tile, .dims = LIST(2, 1, 1, 1, 1, 1, 1, 1, 1, 1));
    MOVE(expand, .sizes = LIST(3, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1));
    if (x) {
        xir_value *const both[] = { x, x };
        x = output_of(xir_add_stack(at, (xir_stack_in){ .inputs = { both, 2 } }, &(xir_stack_attrs){ .dim = 0 }));
    }
    MOVE(unstack, .dim = 0);
    MOVE(unstack, .dim = 0);
    const xir_layout *layout = xir_layout_default(with, 9);
    if (layout) MOVE(reshape, .shape = LIST(48, 2, 1, 1, 1, 1, 1, 1, 1), .layout = layout);
    else x = NULL;
    MOVE(squeeze, .axis = LIST(2, 3, 4, 5, 6, 7, 8));
    bool done = x != NULL;
    if (done) {
        assert_int_equal(xir_type_rank(xir_value_type(x)), 2);
        assert_int_equal(xir_scales_count(xir_type_scale(xir_value_type(x))), 48);
        assert_int_equal(xir_type_zero_points(xir_value_type(x)).size, 48);
    } else if (began && layout && xir_network_status(made)) {
        assert_int_equal(xir_network_status(made), XIR_E_MEMORY);
    }
    xir_network_free(made);
    return done;
}

static void failing_allocations_lose_nothing(void **state) {
    (void)state;
    check_memory(move_all);
}

int main(void) {
    static const struct { const char *what; CMUnitTestFunction run; bool tiles; } all[] = {
        { "shapes are right",                   shapes_are_right,                   false },
        { "unknown dims stay unknown",          unknown_dims_stay_unknown,          false },
        { "elements keep what is said of them", elements_keep_what_is_said_of_them, false },
        { "tiles move too",                     tiles_move_too,                     true  },
        { "anything is survived",               anything_is_survived,               false },
    };
    static const bool tiled[KINDS] = { [SLICE] = true, [SPLIT] = true, [ROLL] = true, [SWAP] = true, [PAD] = true, [CONCAT] = true,
                                       [TRANSPOSE] = true };
    static struct CMUnitTest tests[5 * KINDS + 1];
    static char titles[5 * KINDS][64];
    size_t n = 0;
    for (size_t i = 0; i < 5 * KINDS; i++) {
        size_t k = i % KINDS, what = i / KINDS;
        if (all[what].tiles && !tiled[k]) continue;
        snprintf(titles[n], sizeof titles[n], "%s: %s", names[k], all[what].what);
        tests[n] = (struct CMUnitTest){ titles[n], all[what].run, NULL, NULL, (void *)(uintptr_t)k };
        n++;
    }
    tests[n++] = (struct CMUnitTest)cmocka_unit_test(failing_allocations_lose_nothing);
    return _cmocka_run_group_tests("ops_moves", tests, n, group_begin, group_end);
}
