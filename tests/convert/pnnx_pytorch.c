/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Operators of PNNX compute what PyTorch and torchvision computed: the networks and the numbers are in
 * pnnx_pytorch.txt. XIR_PNNX_ONLY names a single case. */
#include <math.h>
#include "convert/pnnx_text.h"

enum { MOST_LINE = 1 << 12 };

typedef struct test_case {
    char   name[80], inputs[200], lines[2000], outputs[40], out[4][MOST_LINE];
    size_t n_out;
} test_case;

/* The words after the first one. */
static const char *rest_of(char *line) {
    line[strcspn(line, "\n")] = '\0';
    const char *blank = strchr(line, ' ');
    assert_non_null(blank);
    return blank + 1;
}

/* Reads lines up to an empty one; false at the end of the file. */
static bool read_case(FILE *in, test_case *c) {
    char line[MOST_LINE];
    *c = (test_case){ .n_out = 0 };
    while (fgets(line, sizeof line, in) && *line != '\n') {
        if (*line == '#') continue;
        const bool op = !strncmp(line, "op ", 3);
        const char *rest = rest_of(line);
        if (!strncmp(line, "case ", 5)) snprintf(c->name, sizeof c->name, "%s", rest);
        if (!strncmp(line, "in ", 3)) snprintf(c->inputs, sizeof c->inputs, "%s", rest);
        const size_t n = strlen(c->lines), m = strlen(c->outputs);
        if (op) snprintf(c->lines + n, sizeof c->lines - n, "%s\n", rest);
        if (strncmp(line, "out ", 4) != 0) continue;
        assert_true(c->n_out < 4);
        snprintf(c->outputs + m, sizeof c->outputs - m, "%.*s ", (int)strcspn(rest, " "), rest);
        snprintf(c->out[c->n_out++], MOST_LINE, "%s", rest + strcspn(rest, " ") + 1);
    }
    return *c->name || !feof(in);
}

static const xir_type *element_of(const char *word) {
    return !strncmp(word, "i64", 3) ? xir_type_sint(ctx, 64)
                                    : xir_type_float(ctx, strncmp(word, "f64", 3) ? XIR_FLOAT_FP32 : XIR_FLOAT_FP64);
}

/* A record: "f32 2x3: 1 2 3 4 5 6". */
static bool is_recorded(const xir_array *found, const char *record) {
    const xir_type *type = xir_array_type(found);
    const char *p = record + 4;
    size_t rank = 0;
    if (!xir_type_equal(xir_type_element(type), element_of(record))) return false;
    for (char *end; *p && *p != ' '; p = end + 1, rank++)
        if (rank >= xir_type_rank(type) || strtoll(p, &end, 10) != xir_type_dim(type, (int64_t)rank, false))
            return false;
    for (size_t i = 0; i < xir_array_count(found); i++) {
        char *end;
        const double expected = strtod(p, &end), x = xir_array_real(found, i);
        const bool near = isnan(expected) ? isnan(x) : fabs(x - expected) <= 1e-5 * (1 + fabs(expected));
        if (end == p || !near) return false;
        p = end;
    }
    return rank == xir_type_rank(type) && !p[strspn(p, " ")];
}

static void operators_compute_what_pytorch_computed(void **state) {
    (void)state;
    static test_case c;
    const char *only = getenv("XIR_PNNX_ONLY");
    size_t wrong = 0, run = 0;
    FILE *in = fopen(XIR_TEST_DATA "/convert/pnnx_pytorch.txt", "r");
    assert_non_null(in);
    while (read_case(in, &c)) {
        xir_array *out[PNNX_MOST_ENDS];
        if (!*c.name || (only && strcmp(only, c.name) != 0)) continue;
        xir_network *net = pnnx_net(c.inputs, c.lines, c.outputs);
        pnnx_converted(net, c.name);
        assert_int_equal(pnnx_run(net, out), c.n_out);
        for (size_t i = 0; i < c.n_out; i++) {
            if (!is_recorded(out[i], c.out[i])) print_error("%s: output %zu differs\n", c.name, i), wrong++;
            xir_array_free(out[i]);
        }
        xir_network_free(net);
        run++;
    }
    fclose(in);
    assert_true(run);
    assert_int_equal(wrong, 0);
}

GROUP {
    const struct CMUnitTest tests[] = { cmocka_unit_test(operators_compute_what_pytorch_computed) };
    return RUN_GROUP(tests);
}
