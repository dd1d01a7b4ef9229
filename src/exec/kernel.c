/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Inputs are converted when a kernel asks for them. Outputs are stored once, at the end, as normalised numbers if the
 * constants of the op are stored for them; so kernels need not handle that. Then all memory is freed. */
#include "carry.h"
#include <stdarg.h>
#include <stdio.h>
#include "types.h"

/* ---- memory ----------------------------------------------------------------------------------------------------- */

typedef struct kernel_piece {
    struct kernel_piece *next;
    size_t               size;
} kernel_piece;

void *kernel_room(xir_kernel *at, size_t n, size_t size) {
    size_t bytes;
    kernel_piece *piece = NULL;
    if (!__builtin_mul_overflow(n, size, &bytes) && bytes < SIZE_MAX - sizeof *piece) {
        piece = rooms_take(at->rooms, &at->ctx->alloc, sizeof *piece + bytes);
    }
    if (!piece) return NULL;
    *piece = (kernel_piece){ .next = at->pieces, .size = sizeof *piece + bytes };
    at->pieces = piece;
    return piece + 1;
}

void *xir_kernel_alloc(xir_kernel *at, size_t n, size_t size) {
    void *room = kernel_room(at, n, size);
    return room ? memset(room, 0, n * size) : NULL;
}

/* ---- findings ---------------------------------------------------------------------------------------------------- */

const xir_op *xir_kernel_op(const xir_kernel *at)            { return at->op; }
const void   *xir_kernel_attrs(const xir_kernel *at)         { return at->op->attrs; }
size_t        xir_kernel_input_count(const xir_kernel *at)   { return at->n_inputs; }
size_t        xir_kernel_output_count(const xir_kernel *at)  { return at->n_outputs; }

const xir_type *xir_kernel_input_type(const xir_kernel *at, size_t i) {
    return i < at->n_inputs ? at->inputs[i].type : NULL;
}
const xir_type *xir_kernel_output_type(const xir_kernel *at, size_t i) {
    return i < at->n_outputs ? at->outputs[i].type : NULL;
}

bool xir_kernel_is_real(const xir_type *type) {
    const xir_type *element = xir_type_as_tensor(type) ? xir_type_element(type) : type;
    return xir_type_is_quantized(element) || xir_type_kind_of(element) == XIR_TYPE_FLOAT;
}

size_t xir_kernel_element_bytes(const xir_type *type) {
    uint64_t bits = xir_type_storage_bits(type);
    return bits % 8 ? 0 : (size_t)(bits / 8);
}

/* The position of a sub op among those of its parent, in the attribute that has it. */
typedef struct sought { const xir_op *op; size_t at; } sought;

static bool is_another(void *user, xir_op *child) {
    sought *s = user;
    s->at += child != s->op;
    return child != s->op;
}

/* A list of ops for each parent: few parents have more than one. */
static const char *list_of(const xir_op *parent) {
    const xir_class *cls = parent->cls;
    for (uint32_t i = 0; i < cls->n_fields; i++)
        if (cls->fields[i].kind == XIR_KIND_OPS) return cls->fields[i].name.data;
    return "";
}

/* Written from the inside out. Of a place that is too long, the innermost part is shown. */
void op_path(const xir_op *op, char *out, size_t size) {
    char now[100], before[100] = "";
    for (const xir_op *parent; (parent = xir_op_parent(op)); op = parent) {
        sought s = { op, 0 };
        (void)op_each_child(parent, is_another, &s);
        const int n = snprintf(now, sizeof now, "/%s/%zu%s", list_of(parent), s.at, before);
        if (n > 0 && (size_t)n < sizeof now) memcpy(before, now, sizeof before);
    }
    const int n = snprintf(out, size, "/ops/%lld%s", (long long)xir_network_index_of(op->net, op), before);
    if (n < 0) *out = 0;
}

xir_status xir_kernel_fail(xir_kernel *at, xir_status code, const char *where, const char *format, ...) {
    if (!at->status) at->status = code;
    if (!at->why) return code;
    char sentence[SENTENCE_ROOM], path[100] = "";
    va_list args;
    va_start(args, format);
    text_vprint(sentence, sizeof sentence, format, args);
    va_end(args);
    if (op_is_in(at->op)) {
        op_path(at->op, path, sizeof path);
        const size_t size = strlen(path);
        if (where && snprintf(path + size, sizeof path - size, "/%s", where) < 0) path[size] = 0;
    } else if (where) {
        snprintf(path, sizeof path, "%s", where);
    }
    xir_str key = at->op->cls->key, name = name_text(op_label(at->op));
    if (!name.size)
        return xir_diags_add(at->why, XIR_ERROR, code, xir_str_of(path), "%.*s: %s", (int)key.size, key.data, sentence);
    return xir_diags_add(at->why, XIR_ERROR, code, xir_str_of(path), "%.*s '%.*s': %s", (int)key.size, key.data,
                         CLIP_TO(name, 80), sentence);
}

/* For calls that have already added a finding. */
static xir_status failed(xir_kernel *at, xir_status status) {
    if (!at->status) at->status = status;
    return status;
}

static xir_status no_memory(xir_kernel *at) {
    return xir_kernel_fail(at, XIR_E_MEMORY, NULL, "out of memory for the numbers of the op");
}

/* ---- inputs ----------------------------------------------------------------------------------------------------- */

/* `normalised`: without their ratios. `of`: the input that has them; -1: none. */
static bool open_elements(xir_kernel *at, const xir_type *type, bool normalised, int64_t of, tensor_elements *e) {
    xir_status status = elements_open(e, &at->ctx->alloc, type, NULL);
    char where[PORT_PATH];
    if (status) {
        xir_kernel_fail(at, status, of < 0 ? NULL : port_path(where, "inputs", (size_t)of), "%s",
                        status == XIR_E_MEMORY ? "out of memory" : "the elements cannot be read as numbers");
        return false;
    }
    if (normalised) elements_normalise(e);
    if (at->sums) elements_unscale(e);
    return true;
}

typedef struct conversion {
    const tensor_elements *e;
    const void            *bytes;
    bool                   real;
    number                *out;
} conversion;

static void convert_block(size_t from, size_t n, void *user) {
    const conversion *c = user;
    if (c->real) elements_read_reals(c->e, c->bytes, from, n, &c->out[from].real);
    else         elements_read_i64s(c->e, c->bytes, from, n, &c->out[from].integer);
}

/* All elements of an array as reals or integers. On failure adds a finding and returns NULL. */
static void *convert(xir_kernel *at, const xir_array *array, const tensor_elements *e, bool real) {
    conversion c = { e, array_bytes(array), real, kernel_room(at, array->count, 8) };
    if (!c.out) return no_memory(at), NULL;
    return spread_blocks(at, array->count, convert_block, &c) ? NULL : c.out;
}

static kernel_input *input(xir_kernel *at, size_t i) {
    char where[PORT_PATH];
    if (i < at->n_inputs && at->inputs[i].array) return &at->inputs[i];
    xir_kernel_fail(at, XIR_E_MISSING, port_path(where, "inputs", i), "the input is absent");
    return NULL;
}

static kernel_input *open_input(xir_kernel *at, size_t i) {
    kernel_input *in = input(at, i);
    if (!in || in->opened) return in;
    in->opened = open_elements(at, in->type, at->numbers.normalised, (int64_t)i, &in->elements);
    return in->opened ? in : NULL;
}

const kernel_input *kernel_open_input(xir_kernel *at, size_t i) { return open_input(at, i); }

const double *xir_kernel_reals(xir_kernel *at, size_t i) {
    kernel_input *in = open_input(at, i);
    if (in && !in->reals) in->reals = convert(at, in->array, &in->elements, true);
    return in ? in->reals : NULL;
}

const int64_t *xir_kernel_i64s(xir_kernel *at, size_t i) {
    kernel_input *in = open_input(at, i);
    if (in && !in->i64s) in->i64s = convert(at, in->array, &in->elements, false);
    return in ? in->i64s : NULL;
}

const void *xir_kernel_bytes(xir_kernel *at, size_t i) {
    kernel_input *in = input(at, i);
    if (!in) return NULL;
    return in->array->data ? (const void *)in->array->data->bytes : "";
}

const double *xir_kernel_param_reals(xir_kernel *at, const xir_value *value) {
    xir_array *array;
    tensor_elements e;
    if (failed(at, array_of_params(value, &array, at->why))) return NULL;
    const bool opened = open_elements(at, array->type, false, -1, &e);
    const double *out = opened ? convert(at, array, &e, true) : NULL;
    if (opened) elements_close(&e);
    xir_array_free(array);
    return out;
}

/* ---- outputs ---------------------------------------------------------------------------------------------------- */

/* Output i, whose dims must be known. */
static kernel_output *output(xir_kernel *at, size_t i, size_t *count) {
    char where[PORT_PATH];
    int64_t n;
    if (i >= at->n_outputs) {
        xir_kernel_fail(at, XIR_E_INVALID, port_path(where, "outputs", i), "the op has %zu outputs", at->n_outputs);
        return NULL;
    }
    if (xir_type_elements(at->outputs[i].type, &n)) {
        xir_kernel_fail(at, XIR_E_UNSUPPORTED, port_path(where, "outputs", i), "the dims are unknown");
        return NULL;
    }
    *count = (size_t)n;
    return &at->outputs[i];
}

static void forget(xir_kernel *at, kernel_output *out, output_state state) {
    array_give_back(out->array, at->rooms);
    out->array = NULL;
    out->state = state;
}

xir_status xir_kernel_result(xir_kernel *at, size_t i, const int64_t *dims, size_t rank) {
    char where[PORT_PATH];
    port_path(where, "outputs", i);
    const xir_type *known = xir_kernel_output_type(at, i);
    if (!xir_type_as_tensor(known))
        return xir_kernel_fail(at, XIR_E_UNSUPPORTED, where, "the element type is unknown");
    bool fits = xir_type_rank(known) == rank;
    for (size_t k = 0; fits && k < rank; k++) {
        int64_t dim = xir_type_dim(known, (int64_t)k, false);
        if (dims[k] < 0)
            return xir_kernel_fail(at, XIR_E_INVALID, where, "the kernel computed dim %zu as %lld: expected at least 0",
                                   k, (long long)dims[k]);
        if (dim < 0 || dim == dims[k]) continue;
        return xir_kernel_fail(at, XIR_E_INVALID, where,
                               "the kernel computed dim %zu as %lld: expected %lld, as in the type", k,
                               (long long)dims[k], (long long)dim);
    }
    const xir_type *type = xir_type_tensor(at->ctx, xir_type_element(known), fits ? xir_type_layout(known) : NULL,
                                           dims, rank);
    if (!type) return no_memory(at);
    at->outputs[i].type = type;
    forget(at, &at->outputs[i], OUTPUT_NONE);
    at->outputs[i].reals = NULL;
    at->outputs[i].i64s = NULL;
    if (at->outputs[i].opened) elements_close(&at->outputs[i].elements);
    at->outputs[i].opened = false;
    return XIR_OK;
}

/* The numbers of an output, cleared when they are first asked for if the kernel may leave some out. */
static void *numbers_out(xir_kernel *at, size_t i, bool real, bool cleared) {
    size_t n;
    kernel_output *out = output(at, i, &n);
    if (!out) return NULL;
    void *numbers = real ? (void *)out->reals : (void *)out->i64s;
    if (!numbers) {
        numbers = cleared ? xir_kernel_alloc(at, n, 8) : kernel_room(at, n, 8);
        if (!numbers) no_memory(at);
        if (real) out->reals = numbers;
        else      out->i64s = numbers;
    }
    forget(at, out, real ? OUTPUT_REALS : OUTPUT_I64S);
    return numbers;
}

double  *xir_kernel_real_out(xir_kernel *at, size_t i) { return numbers_out(at, i, true, true); }
int64_t *xir_kernel_i64_out(xir_kernel *at, size_t i)  { return numbers_out(at, i, false, true); }
double  *kernel_all_reals(xir_kernel *at, size_t i)    { return numbers_out(at, i, true, false); }
int64_t *kernel_all_i64s(xir_kernel *at, size_t i)     { return numbers_out(at, i, false, false); }

/* An array for an output, in the bytes that the run has for it if they fit. */
static xir_status new_array(xir_kernel *at, size_t i) {
    uint64_t size;
    kernel_output *out = &at->outputs[i];
    if (i == 0 && at->into && at->into->data && !xir_type_bytes(out->type, &size) && size == at->into->data->size)
        return array_as(at->into, out->type, &out->array, at->why);
    return array_raw(at->ctx, out->type, at->rooms, &out->array, at->why);
}

/* The bits after the last element are 0. */
void *kernel_all_bytes(xir_kernel *at, size_t i) {
    size_t n;
    kernel_output *out = output(at, i, &n);
    if (!out) return NULL;
    forget(at, out, OUTPUT_NONE);
    if (failed(at, new_array(at, i))) return NULL;
    out->state = OUTPUT_ARRAY;
    uint8_t *bytes = array_bytes(out->array);
    if (out->array->data->size) bytes[out->array->data->size - 1] = 0;
    return bytes;
}

void *xir_kernel_bytes_out(xir_kernel *at, size_t i) {
    void *bytes = kernel_all_bytes(at, i);
    return bytes ? memset(bytes, 0, (size_t)at->outputs[i].array->data->size) : NULL;
}

bool xir_kernel_same_elements(const xir_kernel *at, size_t output_at, size_t input_at) {
    const xir_type *in = xir_kernel_input_type(at, input_at), *out = xir_kernel_output_type(at, output_at);
    if (!xir_type_as_tensor(in) || !xir_type_as_tensor(out)) return false;
    if (xir_type_equal(xir_type_element(in), xir_type_element(out))) return true;
    return at->outputs[output_at].followed && xir_type_is_quantized(xir_type_element(in)) &&
           xir_type_is_quantized(xir_type_element(out)) &&
           xir_type_equal(xir_type_storage(in), xir_type_storage(out));
}

xir_status xir_kernel_forward(xir_kernel *at, size_t i, size_t from) {
    size_t n = 0;
    kernel_output *out = output(at, i, &n);
    kernel_input *in = input(at, from);
    if (!out || !in) return at->status;
    if (xir_kernel_same_elements(at, i, from)) {
        forget(at, out, OUTPUT_NONE);
        xir_status status = failed(at, array_as(in->array, out->type, &out->array, at->why));
        if (!status) out->state = OUTPUT_ARRAY;
        return status;
    }
    /* The declared elements differ from the inferred ones: the same numbers are stored in the declared type. */
    if (n != in->array->count)
        return xir_kernel_fail(at, XIR_E_INVALID, NULL, "an input of %zu elements cannot become an output of %zu",
                               in->array->count, n);
    carrier m;
    const bool real = xir_kernel_is_real(in->type) || xir_kernel_is_real(out->type);
    return carry_begin_numbers(at, &m, i, from, real) ? carry_all(at, &m, (int64_t)n) : at->status;
}

/* ---- cancelling -------------------------------------------------------------------------------------------------- */

bool xir_kernel_stops(xir_kernel *at, uint64_t steps) {
    if (at->status == XIR_E_CANCELLED) return true;
    at->steps += steps;
    if (at->steps < STEPS_A_QUESTION) return false;
    at->steps = 0;
    if (!at->within || !at->within->cancel || !at->within->cancel(at->within->user)) return false;
    xir_kernel_fail(at, XIR_E_CANCELLED, NULL, "the run was cancelled during this op");
    return true;
}

/* ---- running ---------------------------------------------------------------------------------------------------- */

bool kernel_cut(xir_kernel *at, size_t i, size_t *n, size_t *inner) {
    const xir_type *type = at->outputs[i].type;
    const xir_scales *cut = at->numbers.cut;
    const size_t count = xir_scales_count(cut), rank = xir_type_rank(type);
    const int64_t axis = xir_scales_axis(cut) + (xir_scales_axis(cut) < 0 ? (int64_t)rank : 0);
    if (count > 1 && (axis < 0 || (size_t)axis >= rank || (size_t)xir_type_dim(type, axis, false) != count)) {
        const char *where = at->op->cls->more->normalised->cut->name.data;
        xir_kernel_fail(at, XIR_E_INVALID, where,
                        "there are %zu scales: expected one for each element of dim %lld of the output", count,
                        (long long)axis);
        return false;
    }
    *n = count;
    *inner = 1;
    for (size_t k = (size_t)axis + 1; count > 1 && k < rank; k++)
        *inner *= (size_t)xir_type_dim(type, (int64_t)k, false);
    return true;
}

kernel_output *kernel_open_output(xir_kernel *at, size_t i) {
    if (!kernel_all_bytes(at, i)) return NULL;
    kernel_output *out = &at->outputs[i];
    if (out->opened) return out;
    if (out->array->count == 0) {   // scales need not fit dims of 0
        out->elements = (tensor_elements){ .quantised = false };
        return out;
    }
    xir_status status = elements_open(&out->elements, &at->ctx->alloc, out->type, NULL);
    if (status) {
        xir_kernel_fail(at, status, NULL, "%s", status == XIR_E_MEMORY ? "out of memory"
                        : "the results cannot be stored as numbers");
        return NULL;
    }
    out->opened = true;
    if (at->numbers.normalised) elements_normalise(&out->elements);
    if (at->sums) elements_unscale(&out->elements);
    return out;
}

typedef struct storing {
    writer         y;
    const double  *reals;   /* NULL: integers */
    const int64_t *i64s;
} storing;

static void store_block(size_t from, size_t n, void *user) {
    const storing *s = user;
    number room[BLOCK];
    if (s->reals) memcpy(room, s->reals + from, n * sizeof *room);
    else          memcpy(room, s->i64s + from, n * sizeof *room);
    write_numbers(&s->y, s->reals != NULL, from, n, room);
}

static xir_status store(xir_kernel *at, size_t i) {
    kernel_output *out = &at->outputs[i];
    const output_state state = out->state;
    size_t n;
    if (state == OUTPUT_ARRAY) return XIR_OK;
    if (!output(at, i, &n)) return at->status;
    if (state == OUTPUT_NONE && n)
        return xir_kernel_fail(at, XIR_E_INVALID, NULL, "the kernel has not computed output %zu", i);
    if (n == 0) return kernel_all_bytes(at, i) ? XIR_OK : at->status;
    storing s = { .reals = state == OUTPUT_REALS ? out->reals : NULL, .i64s = out->i64s };
    if (!writer_open(&s.y, at, i)) return at->status;
    return spread_blocks(at, n, store_block, &s);
}

xir_status kernel_store(xir_kernel *at) {
    xir_status status = XIR_OK;
    for (size_t i = 0; !status && i < at->n_outputs; i++) status = store(at, i);
    return status;
}

static _Thread_local const xir_op *current_op __attribute__((tls_model("initial-exec")));

const xir_op *xir_run_current_op(void) { return current_op; }

xir_status kernel_run(xir_kernel *at) {
    xir_kernel_fn *fn = class_kernel(at->op->cls);
    const xir_op *caller = current_op;
    if (!fn) return xir_kernel_fail(at, XIR_E_UNSUPPORTED, NULL, "the executor has no kernel for this class");
    current_op = at->op;
    xir_status status = fn(at);
    current_op = caller;
    if (at->status) return at->status;
    if (status == XIR_E_MEMORY) return no_memory(at);
    if (status) return xir_kernel_fail(at, status, NULL, "the kernel failed: %s", xir_status_name(status));
    return kernel_store(at);
}

void kernel_end(xir_kernel *at) {
    for (size_t i = 0; i < at->n_outputs; i++) {
        array_give_back(at->outputs[i].array, at->rooms);
        at->outputs[i].array = NULL;
        if (at->outputs[i].opened) elements_close(&at->outputs[i].elements);
    }
    for (size_t i = 0; i < at->n_inputs; i++) {
        if (at->inputs[i].opened) elements_close(&at->inputs[i].elements);
    }
    while (at->pieces) {
        kernel_piece *piece = at->pieces;
        at->pieces = piece->next;
        rooms_give(at->rooms, &at->ctx->alloc, piece, piece->size);
    }
}
