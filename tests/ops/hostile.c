/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Every op of the library with random inputs and attributes, as in a hostile file. Checks, inference and validation
 * must do no harm, need little time and memory, be pure, and report errors in sentences. What is inferred from valid
 * inputs must be valid. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include "support/bounded.h"
#include "support/hostile.h"
#include "support/often.h"

/* The largest allocation is a growing list of 2^20 pieces of a distribution, 48 MiB, in each of the few inferences of a
 * trial. */
enum { TRIALS = OFTEN(400000), A_POOL = 400, MOST_OPS = 400, MOST_INPUTS = 80, MOST_CALLS = 1000,
       MOST_ASKED = 256 << 20 };

typedef struct trial {
    pool             *p;
    xir_network      *other;     /* another pool                     */
    const xir_class  *cls;
    void             *body;
    const xir_target *target;
    xir_value        *inputs[MOST_INPUTS];
    size_t            n_inputs;
    bool              sound;     /* all input types are valid         */
} trial;

static size_t n_good, n_refused, n_added;

/* ---- reporting -------------------------------------------------------------------------------------------------- */

static void print_attr(const trial *t, const xir_field *f) {
    const void *at = body_at(t->body, f);
    fprintf(stderr, "  %s = ", f->name.data);
    switch (f->kind) {
    case XIR_KIND_BOOL: fputs(*(const bool *)at ? "true" : "false", stderr); break;
    case XIR_KIND_ENUM: fprintf(stderr, "%d", *(const int *)at); break;
    case XIR_KIND_U64:
    case XIR_KIND_I64:  fprintf(stderr, "%" PRId64, *(const int64_t *)at); break;
    case XIR_KIND_REAL: fprintf(stderr, "%g", *(const double *)at); break;
    case XIR_KIND_TEXT: fprintf(stderr, "\"%.*s\"", (int)((const xir_str *)at)->size,
                                ((const xir_str *)at)->data); break;
    case XIR_KIND_I64S:
        for (size_t k = 0; k < ((const xir_i64s *)at)->size; k++)
            fprintf(stderr, "%" PRId64 " ", ((const xir_i64s *)at)->data[k]);
        break;
    case XIR_KIND_REF: {
        const xir_object *ref = *(const xir_object *const *)at;
        char *words = ref ? picture_of_object(ref) : NULL;
        fputs(words ? words : "null", stderr);
        free(words);
        break;
    }
    default: fprintf(stderr, "a %s", xir_kind_name(f->kind)); break;
    }
    fputc('\n', stderr);
}

static void print_trial(const trial *t) {
    for (size_t i = 0; i < t->n_inputs; i++) {
        const xir_value *v = t->inputs[i];
        const xir_type *type = v ? xir_value_type(v) : NULL;
        char *words = type ? picture_of_object((const xir_object *)type) : NULL;
        fprintf(stderr, "  input %zu: %s%s\n", i, v && xir_value_is_params(v) ? "params " : "",
                words ? words : v ? "no type" : "absent");
        free(words);
    }
    for (uint32_t i = 0; i < t->cls->n_fields; i++) print_attr(t, &t->cls->fields[i]);
}

/* The first fault of each class. */
static const xir_class *faulty[MOST_OPS];
static size_t n_faulty;

static void fault_of(const trial *t, const char *format, ...) XIR_PRINTF(2, 3);
static void fault_of(const trial *t, const char *format, ...) {
    for (size_t i = 0; i < n_faulty; i++) {
        if (faulty[i] == t->cls) return;
    }
    faulty[n_faulty++] = t->cls;
    char sentence[2000];
    va_list list;
    va_start(list, format);
    vsnprintf(sentence, sizeof sentence, format, list);
    va_end(list);
    fprintf(stderr, "%s on target %d: %s\n", t->cls->key.data, (int)xir_target_kind_of(t->target), sentence);
    xir_diags_print(why, stderr);
    print_trial(t);
}

/* ---- findings --------------------------------------------------------------------------------------------------- */

/* The part of a path up to the next '/'. */
static bool names_something(const xir_class *cls, xir_str path) {
    while (path.size && *path.data == '/') path.data++, path.size--;
    size_t size = 0;
    while (size < path.size && path.data[size] != '/') size++;
    xir_str first = { path.data, size };
    return size == 0 || xir_str_equal(first, XIR_STR("inputs")) || xir_class_field(cls, first);
}

static void check_findings(const trial *t, xir_status status) {
    size_t n = xir_diags_count(why);
    if (!n) {
        fault_of(t, "%s without a finding", xir_status_name(status));
        return;
    }
    const xir_diag *last = xir_diags_at(why, n - 1);
    if (last->code != status)
        fault_of(t, "the status is %s, the finding's %s", xir_status_name(status), xir_status_name(last->code));
    for (size_t i = 0; i < n; i++) {
        const xir_diag *d = xir_diags_at(why, i);
        char message[1000];
        snprintf(message, sizeof message, "%.*s", (int)d->message.size, d->message.data);
        const char *sentence = strstr(message, t->cls->key.data);
        if (!sentence) {
            fault_of(t, "a finding that does not name the class");
            continue;
        }
        if (strlen(sentence) < t->cls->key.size + 8) fault_of(t, "a finding without a sentence");
        if (strstr(message, "(null)")) fault_of(t, "a finding with a hole");
        if (strlen(sentence) > t->cls->key.size + 390) fault_of(t, "a finding that is cut");
        if (!names_something(t->cls, d->path)) fault_of(t, "a path that names no input and no attribute");
    }
}

/* ---- results ---------------------------------------------------------------------------------------------------- */

/* Returns true if a type comes from an input or an attribute. */
static bool is_given(const trial *t, const xir_type *type) {
    for (uint32_t i = 0; i < t->cls->n_fields; i++) {
        const xir_field *f = &t->cls->fields[i];
        if (f->kind == XIR_KIND_REF && xir_type_equal(*(const xir_type *const *)body_at(t->body, f), type)) return true;
    }
    for (size_t i = 0; i < t->n_inputs; i++) {
        if (t->inputs[i] && xir_type_equal(xir_value_type(t->inputs[i]), type)) return true;
    }
    return false;
}

/* A dim below -1 can only come from an input. */
static bool dims_are_named(const trial *t, const xir_tensor_type *type) {
    for (size_t k = 0; k < type->shape.size; k++) {
        bool found = type->shape.data[k] >= -1;
        for (size_t i = 0; i < t->n_inputs && !found; i++) {
            const xir_tensor_type *input = t->inputs[i] ? xir_type_as_tensor(xir_value_type(t->inputs[i])) : NULL;
            found = input && k < input->shape.size && input->shape.data[k] == type->shape.data[k];
        }
        if (!found) return false;
    }
    return true;
}

static void check_results(const trial *t, const xir_infer *at) {
    if (!t->cls->many_outputs && at->n_out != t->cls->more->n_outputs) fault_of(t, "%zu outputs", at->n_out);
    for (size_t i = 0; i < at->n_out; i++) {
        const xir_type *type = at->out[i];
        if (is_given(t, type)) continue;
        const xir_tensor_type *tensor = xir_type_as_tensor(type);
        bool checkable = t->sound && t->p->body_sound;
        if (!tensor) {
            if (checkable) fault_of(t, "output %zu is not a tensor", i);
            continue;
        }
        char *words = picture_of_object((const xir_object *)type);
        if (checkable && !type_is_sound(type)) fault_of(t, "output %zu is not sound: %s", i, words);
        if (checkable && !dims_are_named(t, tensor)) fault_of(t, "output %zu has a dim below -1: %s", i, words);
        free(words);
    }
}

static void check_same(const trial *t, const xir_infer *a, const xir_infer *b, const char *where) {
    if (a->n_out != b->n_out) fault_of(t, "%zu outputs, %zu %s", a->n_out, b->n_out, where);
    for (size_t i = 0; i < a->n_out && i < b->n_out; i++) {
        if (!xir_type_equal(a->out[i], b->out[i])) fault_of(t, "output %zu is another type %s", i, where);
    }
}

/* ---- a trial ---------------------------------------------------------------------------------------------------- */

static void start(const trial *t, xir_infer *at, xir_network *net) {
    infer_start(at, net, t->cls, t->body, t->target, t->inputs, t->n_inputs, XIR_STR(""), why);
}

/* Refusals that only inference makes: facts that a rule cannot know, or for which there is no rule. */
static bool only_infers(xir_status status) {
    return status == XIR_E_UNSUPPORTED || status == XIR_E_LIMIT || status == XIR_E_MISSING || status == XIR_E_UNKNOWN ||
           status == XIR_E_TYPE;
}

/* Returns true if the rules know all they need, and nothing is invalid by itself. */
static bool all_there(const trial *t) {
    for (size_t i = 0; i < t->n_inputs; i++) {
        if (!t->inputs[i]) return false;
    }
    return t->sound && t->p->body_sound && t->n_inputs && t->n_inputs >= t->cls->more->least_inputs;
}

static bool can_infer(const trial *t) {
    return t->cls->more->infer[XIR_TARGET_HOST] || t->cls->more->infer[xir_target_kind_of(t->target)];
}

/* Calls inference directly, with an unchecked body. */
static bool try_directly(trial *t) {
    xir_infer at, again;
    start(t, &at, t->p->net);
    xir_diags_clear(why);
    xir_status rule = rule_check(&at);
    if (rule) check_findings(t, rule);
    infer_end(&at);
    if (!can_infer(t)) return false;

    start(t, &at, t->p->net);
    xir_diags_clear(why);
    xir_status status = infer_run(&at);
    if (status) check_findings(t, status);
    if (rule && status != rule)
        fault_of(t, "the rule says %s, inference %s", xir_status_name(rule), xir_status_name(status));
    if (!rule && status && all_there(t) && !only_infers(status))
        fault_of(t, "inference refuses (%s) what the rule takes", xir_status_name(status));
    if (!status) {
        check_results(t, &at);
        start(t, &again, t->p->net);
        if (infer_run(&again)) fault_of(t, "refused the second time");
        check_same(t, &at, &again, "the second time");
        infer_end(&again);
        if (once_in(4)) {
            start(t, &again, t->other);
            if (infer_run(&again)) fault_of(t, "refused in another network");
            check_same(t, &at, &again, "in another network");
            infer_end(&again);
        }
    }
    infer_end(&at);
    n_good += !status;
    n_refused += status != XIR_OK;
    return !status;
}

/* An op of valid types has no errors except about its position, and a rule that reads values gives the same answer each
 * time. */
static void check_op(const trial *t, xir_op *op, bool inferred) {
    xir_diags_clear(why);
    xir_status status = xir_op_validate(op, why);
    for (size_t i = 0; i < xir_diags_count(why); i++) {
        if (!xir_diags_at(why, i)->message.size) fault_of(t, "a finding without a sentence");
    }
    bool for_another = xir_target_kind_of(t->target) >= XIR_TARGET_BUYI;
    if (status && inferred && t->sound && t->p->body_sound && !for_another)
        fault_of(t, "was inferred and is not valid");
    xir_network_clear_status(t->p->net);
    size_t n = xir_op_output_count(op);
    if (inferred && (xir_op_infer(op, true) || xir_op_output_count(op) != n))
        fault_of(t, "is inferred in another way where it stands");
    if (!inferred && can_infer(t)) xir_op_infer(op, once_in(2));
    if (xir_op_erase(op)) fault_of(t, "is not erased");
}

/* Returns true if a builder would change the body: a default for a null reference, reals rounded to float32. */
static bool is_built_otherwise(const trial *t) {
    for (uint32_t i = 0; i < t->cls->n_fields; i++) {
        const xir_field *f = &t->cls->fields[i];
        const void *at = body_at(t->body, f);
        if (f->kind == XIR_KIND_REF && f->default_text.size && !*(const xir_object *const *)at) return true;
        if (f->kind == XIR_KIND_REAL && fabs(*(const double *)at) > FLT_MAX) return true;
        if (f->kind == XIR_KIND_REAL && *(const double *)at != 0 && (float)*(const double *)at == 0) return true;
    }
    return false;
}

/* The op as a program or a file creates it. */
static void try_in_network(trial *t, bool inferable) {
    xir_op_desc d = XIR_INIT(xir_op_desc, .cls = t->cls, .attrs = t->body, .inputs = t->inputs,
                             .n_inputs = t->n_inputs, .target = t->target, .id = XIR_NO_ID);
    const xir_type *types[3];
    for (size_t i = 0; i < COUNT(types); i++) types[i] = xir_value_type(t->p->values[chance(POOL_VALUES)]);
    xir_network_clear_status(t->p->net);
    xir_op *op = can_infer(t) ? xir_network_add(t->p->net, &d) : NULL;
    if (op) {
        n_added++;
        if (!inferable && !is_built_otherwise(t)) fault_of(t, "was added, but is not inferred");
        check_op(t, op, true);
        return;
    }
    size_t n = xir_diags_count(xir_network_diags(t->p->net));
    if (can_infer(t) && (!xir_network_status(t->p->net) || !n)) fault_of(t, "was refused without a finding");
    xir_network_clear_status(t->p->net);
    d.types = types;
    d.n_types = chance(COUNT(types));
    op = xir_network_add(t->p->net, &d);
    if (op) check_op(t, op, false);
    xir_network_clear_status(t->p->net);
}

static void try_one(trial *t) {
    const xir_class *cls = t->cls;
    t->n_inputs = cls->more->least_inputs;
    t->sound = true;
    if (cls->many_inputs) t->n_inputs += once_in(50) ? chance(70) : chance(4);
    else if (cls->more->n_inputs > cls->more->least_inputs)
        t->n_inputs += chance(cls->more->n_inputs - cls->more->least_inputs + 1);
    if (once_in(20)) t->n_inputs = chance(cls->more->n_inputs + 3);
    for (size_t i = 0; i < t->n_inputs; i++) {
        if (i && once_in(3)) t->inputs[i] = t->inputs[i - 1];
        else t->inputs[i] = pool_value(t->p, &t->sound);
    }
    t->target = once_in(2) ? xir_target_of_kind(ctx, (xir_target_kind)chance(XIR_TARGET_COUNT), "330") : NULL;
    t->body = pool_body(t->p, cls, once_in(3));
    bounded_start();
    bool inferable = try_directly(t);
    if (once_in(3)) try_in_network(t, inferable);
    if (bounded.calls > MOST_CALLS) fault_of(t, "asked for memory %zu times", bounded.calls);
    if (bounded.bytes > MOST_ASKED) fault_of(t, "asked for %zu bytes in all", bounded.bytes);
    if (bounded.largest > BOUNDED_MOST) fault_of(t, "asked for %zu bytes at once", bounded.largest);
}

static size_t all_ops(const xir_class **out, const char *only) {
    size_t n = 0;
    for (size_t i = 0; xir_context_class_at(ctx, i); i++) {
        const xir_class *cls = xir_context_class_at(ctx, i);
        if (!xir_class_is_op(cls) || xir_class_traits(cls) & (XIR_TRAIT_SOURCE | XIR_TRAIT_ABSTRACT) || cls->opaque)
            continue;
        if (only && !strstr(cls->key.data, only)) continue;
        assert_true(n < MOST_OPS);
        out[n++] = cls;
    }
    return n;
}

static void test_no_harm(void **state) {
    (void)state;
    const xir_class *classes[MOST_OPS];
    size_t good[MOST_OPS] = { 0 };
    /* For debugging: a part of a key, the number of trials, another random seed. */
    const char *only = getenv("XIR_OPS_ONLY"), *times = getenv("XIR_OPS_TRIALS"), *course = getenv("XIR_OPS_COURSE");
    long trials = times ? atol(times) : TRIALS;
    for (long i = course ? atol(course) : 0; i > 0; i--) chance(2);
    size_t n = all_ops(classes, only);
    assert_true(n > 0);
    xir_network *other = new_net();
    for (long i = 0; i < trials;) {
        pool p;
        pool_begin(&p);
        trial t = { .p = &p, .other = other };
        for (size_t k = 0; k < A_POOL && i < trials; k++, i++) {
            /* Ops that are rarely valid are tried more often. */
            size_t which = chance(n), before = n_good;
            for (size_t more = k % 2 ? 3 : 0; more > 0; more--) {
                size_t other_one = chance(n);
                if (good[other_one] < good[which]) which = other_one;
            }
            t.cls = classes[which];
            try_one(&t);
            good[which] += can_infer(&t) ? n_good - before : 1;
        }
        pool_end(&p);
    }
    xir_network_free(other);
    printf("%ld trials: %zu inferred, %zu refused, %zu added\n", trials, n_good, n_refused, n_added);
    size_t never = 0;
    for (size_t i = 0; i < n; i++) {
        if (getenv("XIR_TEST_TALK")) printf("%6zu %s\n", good[i], classes[i]->key.data);
        if (!good[i]) printf("never inferred: %s\n", classes[i]->key.data), never++;
    }
    if (!only && !times && never > n / 20) fail_msg("%zu ops were never inferred", never);
    if (n_faulty) fail_msg("%zu ops have faults", n_faulty);
}

GROUP {
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_no_harm) };
    return cmocka_run_group_tests(tests, bounded_begin, bounded_end);
}
