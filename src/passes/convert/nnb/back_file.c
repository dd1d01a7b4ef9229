/* What the way back does with a whole network: which functions it may make, and the types of the file. Where XIR has
 * bools and integers, NNabla has floats. The option `weights` chooses the type of parameters, each with the fraction
 * bits that NNabla's exporter gives it; the option `names` writes which variable and which function was what. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <xir/nnb.h>
#include "convert/nnb/nnb.h"
#include "support/numbers.h"

bool    nnb_for_runtime(const xir_node *at) { return xir_node_pass(at) && xir_pass_bool(xir_node_pass(at), "runtime"); }
int64_t nnb_level(const xir_node *at) { return nnb_api_level(xir_node_network(at), (xir_str){ NULL, 0 }); }

/* ---- one function ----------------------------------------------------------------------------------------------- */

/* Functions that do the same with whole numbers, as floats, as with integers. */
static bool takes_integers(xir_str name) {
    static const char *const names[] = {
        "Reshape", "Transpose", "Concatenate", "Stack", "Split", "Slice", "Flip", "Pad", "Broadcast", "Tile",
        "Identity", "Embed", "GatherNd", "ScatterNd", "Sort", "Max", "Min", "Equal", "NotEqual", "Greater",
        "GreaterEqual", "Less", "LessEqual", "Where", "Minimum2", "Maximum2", "MinimumScalar", "MaximumScalar",
        "Sign", "ReLU",
    };
    for (size_t i = 0; i < COUNT(names); i++) if (xir_str_equal(name, xir_str_of(names[i]))) return true;
    return false;
}

static bool is_said(xir_node *at, xir_str name, const xir_value *v) {
    if (!v || !xir_type_as_tensor(xir_value_type(v))) return true;
    const xir_type *element = v_element(v);
    for (size_t i = 0; i < v_rank(v); i++)
        if (v_dim(v, i) > INT32_MAX) return xir_node_unsupported(at, "a dim that does not fit into 32 bits");
    const xir_type_kind kind = xir_type_kind_of(element);
    const xir_type *real = xir_type_float(xir_node_context(at), XIR_FLOAT_FP32);
    if (!real) return node_no_memory(at);
    if (kind == XIR_TYPE_BOOL || xir_type_equal(element, real)) return true;
    if (kind == XIR_TYPE_INTEGER && takes_integers(name)) return true;
    return xir_node_unsupported(at, kind == XIR_TYPE_INTEGER ? "arithmetic of integers"
                                                             : "elements that NNabla does not have");
}

bool nnb_back_check(xir_node *at) {
    if (!at->c->back.to) return true;
    const xir_str key = xir_class_key(xir_op_class(at->op)), name = { key.data + 5, key.size - 5 };
    const bool runtime = nnb_for_runtime(at);
    const int64_t level = nnb_level(at);
    int64_t first = INT64_MAX;
    bool computed = false;
    const xir_nnb_function *f;
    for (size_t i = 0; (f = xir_nnb_function_at(i)); i++) {
        if (!xir_str_equal(name, xir_str_of(f->name)) || !f->api_level) continue;
        first = f->api_level < first ? f->api_level : first;
        computed |= f->runtime;
    }
    if (first == INT64_MAX)
        return xir_node_unsupported(at, "no exporter of NNabla writes %.*s", (int)name.size, name.data);
    if (first > level)
        return xir_node_unsupported(at, "%.*s needs api level %lld, %lld is wanted", (int)name.size, name.data,
                                    (long long)first, (long long)level);
    if (runtime && !computed)
        return xir_node_unsupported(at, "NNabla's C runtime does not compute %.*s", (int)name.size, name.data);
    for (size_t i = 0; i < xir_op_input_count(at->op); i++)
        if (!is_said(at, name, xir_op_input(at->op, (int64_t)i))) return false;
    for (size_t i = 0; i < xir_op_output_count(at->op); i++)
        if (!is_said(at, name, xir_op_output(at->op, (int64_t)i))) return false;
    return true;
}

/* ---- before: options and tags ----------------------------------------------------------------------------------- */

static const char *const weight_words[] = { "FLOAT32", "FIXED16", "FIXED8", "SIGN" };
enum { FLOAT32, FIXED16, FIXED8, SIGN };

static size_t wanted_weights(const xir_pass *pass) {
    const xir_str word = xir_pass_text(pass, "weights");
    size_t i = 0;
    while (i < COUNT(weight_words) && !xir_str_equal(word, xir_str_of(weight_words[i]))) i++;
    return i;
}

static xir_status set_tag(xir_pass *pass, const char *key, int64_t v) {
    const xir_any any = xir_any_int(v);
    const xir_status status = xir_network_set_tag(xir_pass_network(pass), xir_str_of(key), v ? &any : NULL);
    return status ? xir_pass_fail(pass, status, NULL, "out of memory") : XIR_OK;
}

/* The tags of a file that the network came from are about that file; its version remains, unless another is wanted. */
xir_status nnb_begin_back(xir_pass *pass) {
    const int64_t version = xir_pass_int(pass, "version"), api = xir_pass_int(pass, "api");
    const xir_str word = xir_pass_text(pass, "weights");
    if (wanted_weights(pass) == COUNT(weight_words))
        return xir_pass_fail(pass, XIR_E_INVALID, NULL, "weights: expected FLOAT32, FIXED16, FIXED8 or SIGN, found "
                             "'%.*s'", (int)(word.size < 40 ? word.size : 40), word.data);
    if (version != 0 && version != 2 && version != 3)
        return xir_pass_fail(pass, XIR_E_INVALID, NULL, "version: expected 2 or 3, found %" PRId64, version);
    if (api < 0 || api > 45)
        return xir_pass_fail(pass, XIR_E_INVALID, NULL, "api: expected 1 to 45, found %" PRId64, api);
    bool foreign = false;
    for (const xir_op *op = xir_network_first(xir_pass_network(pass)); op; op = xir_op_next(op))
        foreign |= !xir_op_is(op, xir_input_class()) && !xir_op_is(op, xir_output_class()) &&
                   !xir_class_is_opaque(xir_op_class(op));
    const bool sets = foreign || version || api;
    if (sets) xir_pass_changed(pass, 1);
    xir_status status = sets ? set_tag(pass, "nnb.file", 0) : XIR_OK;
    if (!status && version) status = set_tag(pass, "nnb.version", version);
    return status || !sets ? status : set_tag(pass, "nnb.api_level", api);
}

/* ---- after: types ----------------------------------------------------------------------------------------------- */

typedef struct typing {
    xir_pass     *pass;
    xir_network  *net;
    xir_context  *ctx;
    size_t        weights;
    pointer_table params_of;    /* Params -> index in `made` */
    xir_value   **made;
    size_t        n, room;
    bool          mixed;        /* fixed-point weights of a convolution of floats */
    xir_status    status;
} typing;

static bool fail(typing *t, xir_status status, const char *what, const xir_value *v) {
    const xir_str name = xir_value_name(v);
    if (t->status) return false;
    if (status == XIR_E_MEMORY) t->status = xir_pass_fail(t->pass, status, NULL, "out of memory");
    else t->status = xir_pass_fail(t->pass, status, NULL, "the parameter '%.*s' %s",
                                   (int)(name.size < 80 ? name.size : 80), name.data, what);
    return false;
}

static bool is_whole_number(const xir_type *element) {
    return xir_type_kind_of(element) == XIR_TYPE_INTEGER || xir_type_kind_of(element) == XIR_TYPE_BOOL;
}

/* The elements of Params as reals, in memory of `n` doubles that the caller frees; NULL if there are none. */
static double *elements_of(typing *t, const xir_value *v, size_t n) {
    const xir_allocator *alloc = context_alloc(t->ctx);
    const void *bytes = whole_params(v);
    tensor_elements e;
    double *out = bytes ? mem_new(alloc, (n + 1) * sizeof *out) : NULL;
    if (!bytes) return NULL;
    if (!out || elements_open(&e, alloc, xir_value_type(v), NULL)) {
        fail(t, XIR_E_MEMORY, "", v);
        mem_free(alloc, out, (n + 1) * sizeof *out);
        return NULL;
    }
    elements_read_reals(&e, bytes, 0, n, out);
    elements_close(&e);
    return out;
}

/* The exporter's rule: the bits before the point are 1 for numbers below 1, else those of the greatest; one more if it
 * is a positive power of two, which would not fit. Negative: the numbers do not fit. */
static int fraction_bits(const double *v, size_t n, int bits) {
    double most = 0, positive = 0;
    int exponent = 0, whole = 1;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(v[i])) return -1;
        if (fabs(v[i]) > most) most = fabs(v[i]);
        if (v[i] > positive) positive = v[i];
    }
    if (most >= 1) {
        const bool power = frexp(most, &exponent) == 0.5;
        whole = power ? exponent : exponent + 1;
        if (power && positive == most) whole++;
    }
    return bits - whole;
}

static bool has_signs(const double *v, size_t n) {
    for (size_t i = 0; i < n; i++) if (v[i] != 1 && v[i] != -1) return false;
    return n && n % 8 == 0;
}

/* The element type that a parameter gets; NULL after a failure. *fraction is for fixed point. */
static const xir_type *element_for(typing *t, const xir_value *v, const double *e, size_t n, int *fraction) {
    const xir_type *real = xir_type_float(t->ctx, XIR_FLOAT_FP32);
    const int bits = t->weights == FIXED16 ? 16 : 8;
    *fraction = -1;
    if (!e || t->weights == FLOAT32) return real;
    if (t->weights == SIGN) return has_signs(e, n) ? xir_type_uint(t->ctx, 1) : real;
    *fraction = fraction_bits(e, n, bits);
    if (*fraction < 0) {
        const xir_str name = xir_value_name(v);
        xir_pass_diag(t->pass, XIR_NOTE, NULL, "the parameter '%.*s' stays FLOAT32: its numbers need more than %d bits "
                      "before the point", (int)(name.size < 80 ? name.size : 80), name.data, bits);
        return real;
    }
    const double step = ldexp(1, -*fraction);
    const int64_t zero = 0;
    const xir_scales *scale = xir_scales_from(t->ctx, &step, 1, -1);
    const xir_type *storage = xir_type_sint(t->ctx, bits);
    return scale && storage ? xir_type_quantized(t->ctx, scale, &zero, 1, storage, NULL) : NULL;
}

static bool put_elements(typing *t, const xir_value *v, uint8_t *out, size_t size, const double *e, size_t n,
                         const xir_type *element, int fraction) {
    const bool bits = xir_type_storage_bits(element) == 1;
    memset(out, 0, size);
    for (size_t i = 0; i < n; i++) {
        if (bits) {
            out[i / 8] |= (uint8_t)((e[i] > 0) << i % 8);
        } else if (fraction < 0) {
            const float f = (float)e[i];
            if (is_whole_number(v_element(v)) && (double)f != e[i])
                return fail(t, XIR_E_BOUNDS, "has an integer that no float is equal to", v);
            memcpy(out + 4 * i, &f, 4);
        } else {
            const int64_t most = ((int64_t)1 << (xir_type_storage_bits(element) - 1)) - 1;
            int64_t q = llrint(ldexp(e[i], fraction));
            q = q > most ? most : q < -most - 1 ? -most - 1 : q;
            const uint16_t raw = (uint16_t)q;
            if (most > 127) memcpy(out + 2 * i, &raw, 2);
            else out[i] = (uint8_t)raw;
        }
    }
    return true;
}

static xir_value *made_params(typing *t, xir_value *v) {
    int64_t count;
    int fraction;
    uint64_t size = 0;
    if (xir_type_elements(xir_value_type(v), &count)) return fail(t, XIR_E_UNSUPPORTED, "has open dims", v), NULL;
    const size_t n = (size_t)count;
    double *e = elements_of(t, v, n);
    const xir_type *element = t->status ? NULL : element_for(t, v, e, n, &fraction), *type = NULL;
    xir_value *made = NULL;
    if (element && xir_type_equal(element, v_element(v))) {
        made = v;
    } else if (element) {
        type = xir_type_with_element(t->ctx, xir_value_type(v), element, NULL);
        made = type && !xir_type_bytes(type, &size) ? xir_params_new(t->net, xir_value_name(v), type) : NULL;
        blob *b = made && e ? blob_new(&t->net->alloc, size) : NULL;
        if (!made || (e && !b)) fail(t, XIR_E_MEMORY, "", v);
        else if (b) {
            value_params(made)->data = b;
            if (!put_elements(t, v, (uint8_t *)(uintptr_t)b->bytes, (size_t)size, e, n, element, fraction)) made = NULL;
        } else {
            value_params(made)->allow_no_data = value_params(v)->allow_no_data;
        }
    } else {
        fail(t, XIR_E_MEMORY, "", v);
    }
    mem_free(context_alloc(t->ctx), e, (n + 1) * sizeof *e);
    return t->status ? NULL : made;
}

static xir_value *params_for(typing *t, xir_value *v) {
    const uint32_t *known = pointer_table_find(&t->params_of, v);
    if (known) return t->made[*known];
    if (t->weights == FLOAT32 && !is_whole_number(v_element(v))) return v;
    xir_value *made = made_params(t, v);
    if (!made) return NULL;
    if (!mem_reserve(context_alloc(t->ctx), (void **)&t->made, &t->room, t->n + 1, sizeof *t->made) ||
        !pointer_table_add(&t->params_of, v, (uint32_t)t->n)) return fail(t, XIR_E_MEMORY, "", v), NULL;
    return t->made[t->n++] = made;
}

static bool is_convolution(const xir_op *op) {
    const xir_str key = xir_class_key(xir_op_class(op));
    return key.size > 10 && memcmp(key.data + key.size - 11, "Convolution", 11) == 0;
}

static void type_op(typing *t, xir_op *op) {
    for (size_t i = 0; i < xir_op_input_count(op) && !t->status; i++) {
        xir_value *v = xir_op_input(op, (int64_t)i);
        if (!v || !xir_value_is_params(v) || !xir_type_as_tensor(xir_value_type(v))) continue;
        xir_value *now = params_for(t, v);
        if (!now || now == v) continue;
        t->mixed |= is_convolution(op) && xir_type_is_quantized(v_element(now));
        if (xir_op_set_input(op, i, now)) fail(t, XIR_E_MEMORY, "", v);
        xir_pass_changed(t->pass, 1);
    }
    for (size_t i = 0; i < xir_op_output_count(op) && !t->status; i++) {
        xir_value *v = xir_op_output(op, (int64_t)i);
        if (!v || !xir_type_as_tensor(xir_value_type(v)) || !is_whole_number(v_element(v))) continue;
        const xir_type *type = xir_type_with_element(t->ctx, xir_value_type(v), xir_type_float(t->ctx, XIR_FLOAT_FP32),
                                                     NULL);
        if (!type || xir_value_set_type(v, type)) fail(t, XIR_E_MEMORY, "", v);
        xir_pass_changed(t->pass, 1);
    }
}

/* ---- after: names ----------------------------------------------------------------------------------------------- */

typedef struct naming { FILE *file; pointer_table seen; uint32_t variables, functions; bool no_memory; } naming;

/* A name, without the characters that end a field. */
static void put_name(naming *n, xir_str name) {
    for (size_t i = 0; i < name.size; i++) {
        const char c = name.data[i];
        if (c == '\t' || c == '\n' || c == '\\') fprintf(n->file, "\\%c", c == '\t' ? 't' : c == '\n' ? 'n' : '\\');
        else fputc(c, n->file);
    }
    fputc('\n', n->file);
}

/* In the order in which the writer numbers variables. */
static void name_variable(naming *n, const xir_value *v) {
    if (!v || pointer_table_find(&n->seen, v)) return;
    n->no_memory |= !pointer_table_add(&n->seen, v, 0);
    fprintf(n->file, "variable\t%" PRIu32 "\t", n->variables++);
    put_name(n, xir_value_name(v));
}

static void name_op(naming *n, const xir_op *op) {
    const xir_str key = xir_class_key(xir_op_class(op));
    for (size_t i = 0; i < xir_op_input_count(op); i++) name_variable(n, xir_op_input(op, (int64_t)i));
    for (size_t i = 0; i < xir_op_output_count(op); i++) name_variable(n, xir_op_output(op, (int64_t)i));
    if (xir_op_is(op, xir_input_class()) || xir_op_is(op, xir_output_class())) return;
    fprintf(n->file, "%.*s\t%" PRIu32 "\t", (int)(key.size - 5), key.data + 5, n->functions++);
    put_name(n, xir_op_name(op));
}

static xir_status write_names(xir_pass *pass, xir_str path) {
    char name[4096];
    naming n = { .variables = 0 };
    if (path.size >= sizeof name) return xir_pass_fail(pass, XIR_E_INVALID, NULL, "names: the path is too long");
    memcpy(name, path.data, path.size);
    name[path.size] = '\0';
    n.file = fopen(name, "w");
    if (!n.file) return xir_pass_fail(pass, XIR_E_IO, NULL, "%s: %s", name, strerror(errno));
    pointer_table_init(&n.seen, context_alloc(xir_pass_context(pass)));
    for (const xir_op *op = xir_network_first(xir_pass_network(pass)); op; op = xir_op_next(op)) name_op(&n, op);
    pointer_table_free(&n.seen);
    const bool failed = ferror(n.file);
    if (fclose(n.file) || failed) return xir_pass_fail(pass, XIR_E_IO, NULL, "%s: it could not be written", name);
    return n.no_memory ? xir_pass_fail(pass, XIR_E_MEMORY, NULL, "out of memory") : XIR_OK;
}

xir_status nnb_end_back(xir_pass *pass) {
    typing t = { .pass = pass, .net = xir_pass_network(pass), .ctx = xir_pass_context(pass),
                 .weights = wanted_weights(pass) };
    const xir_str names = xir_pass_text(pass, "names");
    pointer_table_init(&t.params_of, context_alloc(t.ctx));
    for (xir_op *op = xir_network_first(t.net); op && !t.status; op = xir_op_next(op)) type_op(&t, op);
    pointer_table_free(&t.params_of);
    mem_free(context_alloc(t.ctx), (void *)t.made, t.room * sizeof *t.made);
    if (t.mixed && !t.status)
        xir_pass_diag(pass, XIR_WARNING, NULL, "the weights of convolutions are fixed-point numbers, their inputs "
                      "floats: NNabla's C runtime computes convolutions in one type only");
    return t.status || !names.size ? t.status : write_names(pass, names);
}
