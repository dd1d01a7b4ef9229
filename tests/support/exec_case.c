#include "support/exec_case.h"
#include <math.h>
#include "stored_numbers.h"

enum { MOST_ARRAYS = 64 };

/* ---- numbers ------------------------------------------------------------------------------------------------------ */

static bool is_real(const xir_type *type) { return xir_kernel_is_real(type); }

static bool has_bits_of_u64(const xir_type *type) {
    const xir_integer_type *integer = xir_integer_type_of(xir_type_object(xir_type_element(type)));
    return integer && !integer->sign && integer->ibits == 64;
}

/* Reads as many numbers as `n`; false if there are others. As integers they are in `whole`. */
static bool read_numbers(const xir_type *type, const char *text, size_t size, size_t n, double *reals, int64_t *whole, char fault[200]) {
    const char *at = text, *end = text + size;
    for (size_t i = 0; i <= n; i++) {
        while (at < end && (*at == ' ' || *at == '\t')) at++;
        if (i == n) break;
        char *next = NULL;
        if (at < end && is_real(type)) reals[i] = strtod(at, &next);
        else if (at < end && has_bits_of_u64(type)) reals[i] = (double)(whole[i] = (int64_t)strtoull(at, &next, 10));
        else if (at < end) reals[i] = (double)(whole[i] = strtoll(at, &next, 10));
        if (at == end || next == at || next > end) {
            snprintf(fault, 200, "%zu numbers were expected, %zu found", n, i);
            return false;
        }
        at = next;
    }
    if (at == end) return true;
    snprintf(fault, 200, "there are more numbers than %zu: '%.*s'", n, (int)(end - at < 60 ? end - at : 60), at);
    return false;
}

xir_array *exec_array(const xir_type *type, const char *text, size_t size, char fault[200]) {
    int64_t n = 0;
    numbers e;
    if (xir_type_elements(type, &n) || numbers_open(&e, &memory_default, type, NULL)) {
        snprintf(fault, 200, "there are no arrays of %s", op_type_words(type));
        return NULL;
    }
    double *reals = calloc((size_t)n + 1, sizeof *reals);
    int64_t *whole = calloc((size_t)n + 1, sizeof *whole);
    xir_array *array = NULL;
    if (read_numbers(type, text, size, (size_t)n, reals, whole, fault)) array = xir_array_new(ctx, type, NULL);
    void *bytes = array ? xir_array_edit(array) : NULL;
    if (bytes && is_real(type)) numbers_write_reals(&e, bytes, 0, (size_t)n, reals);
    else if (bytes) numbers_write_i64s(&e, bytes, 0, (size_t)n, whole);
    numbers_close(&e);
    free(reals);
    free(whole);
    return array;
}

/* ---- a case --------------------------------------------------------------------------------------------------------- */

typedef struct exec_case {
    op_case     c;
    const char *inputs, *outputs;      /* texts behind :: and =>            */
    char        path[8], code[40], part[200];
    bool        fails;
} exec_case;

/* The next array's text. */
static size_t next_text(const char **at, const char *end, const char **text) {
    const char *semicolon = memchr(*at, ';', (size_t)(end - *at));
    const char *stop = semicolon ? semicolon : end;
    *text = *at;
    *at = semicolon ? semicolon + 1 : end;
    return (size_t)(stop - *text);
}

static void free_all(xir_array **arrays, size_t n) {
    for (size_t i = 0; i < n; i++) xir_array_free(arrays[i]);
}

/* Arrays for the arguments of the case's network. */
static bool read_inputs(exec_case *x, xir_array **out, size_t *n) {
    const char *at = x->inputs, *end = at + strlen(at), *text;
    for (*n = 0; *n < x->c.n_args; ++*n) {
        char fault[200] = "";
        size_t size = next_text(&at, end, &text);
        out[*n] = exec_array(x->c.args[*n], text, size, fault);
        if (out[*n]) continue;
        op_case_fail(&x->c, "numbers for the inputs", "input %zu: %s", *n, fault);
        return false;
    }
    return true;
}

static bool near(double found, double expected, bool real) {
    if (isnan(expected)) return isnan(found);
    if (!real || isinf(expected)) return found == expected;
    return fabs(found - expected) <= 1e-6 * fmax(1, fabs(expected));
}

static void check_array(exec_case *x, const xir_array *array, const char *text, size_t size, size_t which, const char *how) {
    const xir_type *type = xir_array_type(array);
    size_t n = xir_array_count(array);
    bool real = is_real(type);
    double *reals = calloc(n + 1, sizeof *reals), *found = calloc(n + 1, sizeof *found);
    int64_t *whole = calloc(n + 1, sizeof *whole), *found_whole = calloc(n + 1, sizeof *found_whole);
    char fault[200] = "";
    if (!read_numbers(type, text, size, n, reals, whole, fault)) {
        op_case_fail(&x->c, "numbers for the outputs", "output %zu%s: %s", which, how, fault);
    } else {
        DOES(xir_array_reals(array, 0, n, found));
        DOES(xir_array_i64s(array, 0, n, found_whole));
    }
    for (size_t i = 0; !x->c.failed && i < n; i++) {
        if (real ? near(found[i], reals[i], true) : found_whole[i] == whole[i]) continue;
        char expected[64];
        if (real) snprintf(expected, sizeof expected, "%.9g", reals[i]);
        else snprintf(expected, sizeof expected, "%lld", (long long)whole[i]);
        op_case_fail(&x->c, expected, "%.9g at element %zu of output %zu%s", found[i], i, which, how);
    }
    free(reals);
    free(found);
    free(whole);
    free(found_whole);
}

static void check_outputs(exec_case *x, xir_array *const *outputs, size_t n, const char *how) {
    const char *at = x->outputs, *end = at + strlen(at), *text;
    for (size_t i = 0; i < n && !x->c.failed; i++) {
        size_t size = next_text(&at, end, &text);
        if (i < x->c.n_outputs && !xir_type_equal(xir_array_type(outputs[i]), x->c.outputs[i])) {
            char expected[500];
            snprintf(expected, sizeof expected, "%s", op_type_words(x->c.outputs[i]));
            if (!xir_type_has_unknown_dim(x->c.outputs[i])) op_case_fail(&x->c, expected, "%s%s", op_type_words(xir_array_type(outputs[i])), how);
        }
        if (!x->c.failed) check_array(x, outputs[i], text, size, i, how);
    }
}

static void check_status(exec_case *x, xir_status status, xir_array *const *outputs, size_t n, const char *how) {
    if (!x->fails && status) {
        op_case_fail(&x->c, "it is run", "%s%s: %s", xir_status_name(status), how, op_case_findings(why));
    } else if (!x->fails) {
        check_outputs(x, outputs, n, how);
    } else if (strcmp(xir_status_name(status), x->code) != 0 || !strstr(op_case_findings(why), x->part)) {
        char expected[300];
        snprintf(expected, sizeof expected, "%s: %s", x->code, x->part);
        op_case_fail(&x->c, expected, "%s%s: %s", xir_status_name(status), how, op_case_findings(why));
    }
    for (size_t i = 0; status && i < n; i++) {
        if (outputs[i]) op_case_fail(&x->c, "no outputs after a failure", "output %zu%s", i, how);
    }
}

static void run_op(exec_case *x, const xir_op *op, const xir_array *const *arrays) {
    const xir_array *inputs[MOST_INPUTS] = { NULL };
    xir_array *outputs[MOST_OUTPUTS] = { NULL };
    size_t n = xir_op_output_count(op);
    for (size_t i = 0, k = 0; i < x->c.n_inputs; i++) inputs[i] = x->c.is_arg[i] ? arrays[k++] : NULL;
    xir_diags_clear(why);
    xir_status status = xir_op_run(op, inputs, x->c.n_inputs, outputs, n, why);
    check_status(x, status, outputs, n, " (as an op)");
    free_all(outputs, n);
}

static void run_network(exec_case *x, const xir_op *op, const xir_array *const *arrays, const char *how) {
    xir_array *outputs[MOST_OUTPUTS] = { NULL };
    xir_value *values[MOST_OUTPUTS];
    size_t n = xir_op_output_count(op);
    for (size_t i = 0; i < n; i++) values[i] = xir_op_output(op, (int64_t)i);
    if (!xir_output(XIR_AT(x->c.net), (xir_values){ values, n })) {
        op_case_fail(&x->c, "an Output op", "none%s: %s", how, op_case_findings(xir_network_diags(x->c.net)));
        return;
    }
    xir_diags_clear(why);
    xir_status status = xir_network_run(x->c.net, arrays, x->c.n_args, outputs, n, NULL, why);
    check_status(x, status, outputs, n, how);
    free_all(outputs, n);
}

/* The op as inference makes it, or with the types that the case says: those of quantised results do not follow. */
static xir_op *add_op(op_case *c) {
    xir_op *op = op_case_add(c);
    if (op || xir_network_status(c->net) != XIR_E_UNSUPPORTED) return op;
    xir_network_clear_status(c->net);
    return xir_network_add(c->net, &(xir_op_desc){
        .cls = c->cls, .attrs = c->body, .inputs = c->inputs, .n_inputs = c->n_inputs, .types = c->outputs, .n_types = c->n_outputs,
        .target = c->target, .name = XIR_STR("op"), .id = XIR_NO_ID });
}

/* The inputs of the network lose their dims; the op must be inferred without them, or the case is left out. */
static void run_unknown(exec_case *x, const char *text, const xir_array *const *arrays) {
    exec_case again = *x;
    if (!op_case_begin(&again.c, text, x->c.file, x->c.line, x->c.counts) || again.c.n_args == 0) {
        op_case_end(&again.c);
        return;
    }
    for (size_t i = 0, k = 0; i < again.c.n_inputs; i++) {
        if (!again.c.is_arg[i]) continue;
        const xir_tensor_type *tensor = xir_type_tensor(again.c.args[k++]);
        int64_t dims[16];
        for (size_t j = 0; j < 16; j++) dims[j] = XIR_UNKNOWN_DIM;
        if (tensor->shape.size > 16 || tensor->merged_distrs.size) continue;
        DOES(xir_value_set_type(again.c.inputs[i], xir_tensor(ctx, tensor->element_dtype, tensor->layout, dims, tensor->shape.size)));
    }
    const xir_op *op = op_case_add(&again.c);
    if (op) run_network(&again, op, arrays, " (with unknown dims)");
    op_case_end(&again.c);
}

/* Cuts `text` at a mark; what is behind it, or NULL. */
static char *cut_at(char *text, const char *mark) {
    char *at = strstr(text, mark);
    if (!at) return NULL;
    *at = '\0';
    return at + strlen(mark);
}

static bool read_failure(exec_case *x) {
    const char *at = x->outputs + strspn(x->outputs, " ");
    x->fails = strncmp(at, "!!", 2) == 0;
    return !x->fails || sscanf(at, "!! %39s \"%199[^\"]\"", x->code, x->part) == 2;
}

void exec_case_run(const char *text, const char *file, int line, op_counts *counts) {
    exec_case x = { 0 };
    xir_array *arrays[MOST_ARRAYS] = { NULL };
    size_t n = 0;
    char *copy = strdup(text);
    if (!copy) abort();
    x.outputs = cut_at(copy, "=>");
    x.inputs = cut_at(copy, "::");
    if (!x.inputs) x.inputs = "";
    bool good = op_case_begin(&x.c, copy, file, line, counts);
    x.c.text = text;
    if (!good) {
        op_case_fail(&x.c, x.c.t.fault, "'%s'", x.c.t.at);
    } else if (!x.outputs || !read_failure(&x)) {
        op_case_fail(&x.c, "'=>' and numbers, or a failure", "neither");
    } else if (read_inputs(&x, arrays, &n)) {
        const xir_op *op = add_op(&x.c);
        if (op) run_op(&x, op, (const xir_array *const *)arrays);
        else op_case_fail(&x.c, "the op is made", "%s", op_case_findings(xir_network_diags(x.c.net)));
        if (op && !x.c.failed) run_network(&x, op, (const xir_array *const *)arrays, " (as a network)");
        if (op && !x.c.failed) run_unknown(&x, copy, (const xir_array *const *)arrays);
    }
    if (x.fails) counts->bad++;
    else counts->good++;
    op_case_end(&x.c);
    free_all(arrays, n);
    free(copy);
}
