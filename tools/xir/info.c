/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* xir info: what a network consists of, in numbers. Parameter files are mapped, not read: what is counted is known from
 * their table. */
#include <inttypes.h>
#include <stdlib.h>
#include <xir/cost.h>
#include <xir/division.h>
#include "cli.h"

static bool as_json;

/* ---- counting ------------------------------------------------------------------------------------ */

typedef struct counts {
    size_t       ops, values, params, kinds;
    class_count *kind;
    uint64_t     params_bytes;
} counts;

/* Values are what ops make, sub ops too, and what is used although nothing makes it. */
static xir_walk_answer count_value(void *user, xir_value *value) {
    (void)value;
    ((counts *)user)->values++;
    return XIR_WALK_ON;
}

/* Files that have their own figure are believed; otherwise it is what a raw file would take. */
static uint64_t params_size(const xir_network *net, size_t n) {
    uint64_t said = xir_network_params_bytes(net), total = 16 + 12 * (uint64_t)n;
    if (said || !n) return said;
    xir_value **params = take(n, sizeof *params);
    xir_network_params(net, params, n);
    for (size_t i = 0; i < n; i++) {
        uint64_t bytes;
        if (xir_type_bytes(xir_value_type(params[i]), &bytes) == XIR_OK) total += bytes;
    }
    free((void *)params);
    return total;
}

static int count(const xir_network *net, counts *c) {
    tally kinds = { 0 };
    if (xir_network_walk(net, &XIR_INIT(xir_walker, .user = c, .value = count_value), NULL)) return no_memory();
    c->ops = xir_network_op_count(net);
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) tally_add(&kinds, xir_op_class(op));
    c->kinds = tally_counts(&kinds, &c->kind);
    c->params = xir_network_params(net, NULL, 0);
    c->params_bytes = params_size(net, c->params);
    return DONE;
}

/* ---- groups -------------------------------------------------------------------------------------- */

/* Returns true if the pass partition has divided the network. */
static bool is_divided(const xir_network *net) {
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
        const xir_map *tags = xir_op_tags(op);
        const bool call = xir_op_is(op, xir_call_op_class()) && xir_target_row_of(xir_op_target(op))->accelerator;
        if (call || (tags && xir_map_find(tags, XIR_STR("xir.group")))) return true;
    }
    return false;
}

/* The parts; NULL of a network that is not divided, or whose groups are not convex, which is a finding. */
static xir_division *parts_of(const xir_network *net) {
    if (!is_divided(net)) return NULL;
    xir_diags *why = new_diags();
    xir_division *parts = xir_division_new(net, why);
    say(why);
    xir_diags_free(why);
    return parts;
}

typedef struct port_sum { size_t n; uint64_t bytes; } port_sum;

static port_sum sum_ports(const xir_network *net, size_t (*list)(const xir_network *, xir_value **, size_t)) {
    port_sum sum = { list(net, NULL, 0), 0 };
    xir_value **values = take(sum.n + 1, sizeof *values);
    list(net, values, sum.n);
    for (size_t i = 0; i < sum.n; i++) {
        uint64_t bytes;
        const xir_type *type = xir_value_type(values[i]);
        if (type && xir_type_bytes(type, &bytes) == XIR_OK) sum.bytes += bytes;
    }
    free((void *)values);
    return sum;
}

/* Returns the known multiply-adds of a network. */
static uint64_t products_of(const xir_network *net) {
    xir_cost known = XIR_INIT(xir_cost);
    (void)xir_network_cost(net, &known, NULL, NULL);
    return known.multiply_adds;
}

/* ---- as JSON ------------------------------------------------------------------------------------- */

static void put_groups(json_out *j, const xir_network *net) {
    xir_division *parts = parts_of(net);
    xir_division_part part = XIR_INIT(xir_division_part);
    if (!parts) return;
    json_open(j, "groups", '[');
    for (size_t i = 0; xir_division_at(parts, i, &part) == XIR_OK; i++) {
        if (part.group < 0) continue;
        const port_sum in = sum_ports(part.net, xir_network_inputs), out = sum_ports(part.net, xir_network_outputs);
        json_open(j, NULL, '{');
        json_int(j, "group", part.group);
        json_str(j, "target", xir_str_of(xir_target_row_of(part.target)->name));
        json_uint(j, "ops", part.ops);
        json_uint(j, "multiply_adds", products_of(part.net));
        json_uint(j, "inputs", in.n);
        json_uint(j, "input_bytes", in.bytes);
        json_uint(j, "outputs", out.n);
        json_uint(j, "output_bytes", out.bytes);
        json_close(j, '}');
    }
    json_close(j, ']');
    json_uint(j, "multiply_adds", products_of(xir_division_whole(parts)));
    xir_division_free(parts);
}

static void put_value(json_out *j, const xir_value *v) {
    json_open(j, NULL, '{');
    if (v) {
        json_str(j, "name", xir_value_name(v));
        json_int(j, "v_id", xir_value_id(v));
        json_type(j, xir_value_type(v));
    }
    json_close(j, '}');
}

static void put_values(json_out *j, const char *name, const xir_network *net,
                       size_t (*list)(const xir_network *, xir_value **, size_t)) {
    size_t n = list(net, NULL, 0);
    xir_value **values = take(n, sizeof *values);
    list(net, values, n);
    json_open(j, name, '[');
    for (size_t i = 0; i < n; i++) put_value(j, values[i]);
    json_close(j, ']');
    free((void *)values);
}

/* The symbols of open dims; NULL without any. Free the list. */
static xir_symbol *symbols_of(const xir_network *net, size_t *n) {
    *n = xir_network_symbols(net, NULL, 0);
    if (*n == SIZE_MAX) exit(no_memory());
    xir_symbol *symbols = *n ? take(*n, sizeof *symbols) : NULL;
    if (*n) xir_network_symbols(net, symbols, *n);
    return symbols;
}

static void put_symbols(json_out *j, const xir_network *net) {
    size_t n;
    xir_symbol *symbols = symbols_of(net, &n);
    if (n) json_open(j, "symbols", '{');
    for (size_t i = 0; i < n; i++) {
        text key = { 0 };
        json_text(&key, symbols[i].name);
        json_member(j, NULL);
        text_printf(&j->t, "%s:[%" PRId64 ",%" PRId64 "]", key.data, symbols[i].least, symbols[i].most);
        text_free(&key);
    }
    if (n) json_close(j, '}');
    free(symbols);
}

static void put_network(json_out *j, const loaded *l, const counts *c) {
    json_str(j, "format", xir_str_of(l->format->name));
    json_str(j, "name", xir_network_name(l->net));
    json_str(j, "framework", xir_network_text_of(l->net, XIR_TEXT_FRAMEWORK));
    json_str(j, "framework_version", xir_network_text_of(l->net, XIR_TEXT_FRAMEWORK_VERSION));
    json_str(j, "icraft_version", xir_network_text_of(l->net, XIR_TEXT_ICRAFT_VERSION));
    json_str(j, "icraft_xir_version", xir_network_text_of(l->net, XIR_TEXT_XIR_VERSION));
    json_member(j, "ai_target");
    json_object(&j->t, xir_network_has_ai_target(l->net) ? (const xir_object *)xir_network_ai_target(l->net) : NULL);
    json_uint(j, "ops", c->ops);
    json_uint(j, "values", c->values);
    json_uint(j, "params", c->params);
    json_uint(j, "params_bytes", c->params_bytes);
    json_str(j, "params_md5", xir_network_text_of(l->net, XIR_TEXT_PARAMS_MD5));
    if (l->params_path) json_str(j, "params_file", xir_str_of(l->params_path));
    else json_null(j, "params_file");
    json_open(j, "op_types", '{');
    for (size_t i = 0; i < c->kinds; i++) {
        text key = { 0 };
        json_text(&key, xir_class_key(c->kind[i].cls));
        json_member(j, NULL);
        text_printf(&j->t, "%s:%zu", key.data, c->kind[i].n);
        text_free(&key);
    }
    json_close(j, '}');
    put_values(j, "inputs", l->net, xir_network_inputs);
    put_values(j, "outputs", l->net, xir_network_outputs);
    put_symbols(j, l->net);
    put_groups(j, l->net);
}

/* ---- for people ---------------------------------------------------------------------------------- */

static void print_line(const char *word, xir_str a, xir_str b) {
    printf("%-11s ", word);
    print_text(stdout, a);
    if (b.size) printf(" ");
    print_text(stdout, b);
    printf("\n");
}

static void print_values(const char *word, const xir_network *net,
                         size_t (*list)(const xir_network *, xir_value **, size_t)) {
    size_t n = list(net, NULL, 0);
    xir_value **values = take(n, sizeof *values);
    list(net, values, n);
    printf("%s\n", word);
    for (size_t i = 0; i < n; i++) {
        text type = { 0 };
        if (!values[i]) {
            printf("  absent\n");
            continue;
        }
        type_words(&type, xir_value_type(values[i]));
        printf("  value %" PRId64 " ", xir_value_id(values[i]));
        if (xir_value_name(values[i]).size) {
            printf("'");
            print_text(stdout, xir_value_name(values[i]));
            printf("' ");
        }
        print_text(stdout, text_of(&type));
        printf("\n");
        text_free(&type);
    }
    free((void *)values);
}

static void print_symbols(const xir_network *net) {
    size_t n;
    xir_symbol *symbols = symbols_of(net, &n);
    if (n) printf("symbols\n");
    for (size_t i = 0; i < n; i++) {
        printf("  ");
        print_text(stdout, symbols[i].name);
        printf(" from %" PRId64 " to %" PRId64 "\n", symbols[i].least, symbols[i].most);
    }
    free(symbols);
}

static void print_groups(const xir_network *net) {
    xir_division *parts = parts_of(net);
    xir_division_part part = XIR_INIT(xir_division_part);
    uint64_t own = 0;
    size_t ops = 0, all = 0;
    if (!parts) return;
    puts("\ngroups");
    for (size_t i = 0; xir_division_at(parts, i, &part) == XIR_OK; i++) {
        all += part.ops;
        if (part.group < 0) continue;
        const port_sum in = sum_ports(part.net, xir_network_inputs), out = sum_ports(part.net, xir_network_outputs);
        const uint64_t products = products_of(part.net);
        printf("  %6" PRId64 "  %s: %zu op%s, %" PRIu64 " multiply-adds, %zu in (%" PRIu64 " bytes), %zu out (%" PRIu64
               " bytes)\n", part.group, xir_target_row_of(part.target)->name, part.ops, part.ops == 1 ? "" : "s",
               products, in.n, in.bytes, out.n, out.bytes);
        own = xir_cost_add(own, products);
        ops += part.ops;
    }
    const uint64_t sum = products_of(xir_division_whole(parts));
    printf("  %zu of %zu ops, %.2f %% of the multiply-adds\n", ops, all, sum ? 100.0 * (double)own / (double)sum : 100);
    xir_division_free(parts);
}

static void print_words(const loaded *l, const counts *c) {
    const xir_network *net = l->net;
    text target = { 0 };
    if (xir_network_ai_target(net)) object_words(&target, (const xir_object *)xir_network_ai_target(net));
    else text_put(&target, "none");
    if (xir_network_ai_target(net) && !xir_network_has_ai_target(net)) text_put(&target, " (default)");
    print_line("format", xir_str_of(l->format->name), (xir_str){ NULL, 0 });
    print_line("name", xir_network_name(net), (xir_str){ NULL, 0 });
    print_line("framework", xir_network_text_of(net, XIR_TEXT_FRAMEWORK),
               xir_network_text_of(net, XIR_TEXT_FRAMEWORK_VERSION));
    print_line("icraft", xir_network_text_of(net, XIR_TEXT_ICRAFT_VERSION), (xir_str){ NULL, 0 });
    print_line("xir", xir_network_text_of(net, XIR_TEXT_XIR_VERSION), (xir_str){ NULL, 0 });
    print_line("ai target", text_of(&target), (xir_str){ NULL, 0 });
    text_free(&target);
    printf("%-11s %zu\n%-11s %zu\n", "ops", c->ops, "values", c->values);
    printf("%-11s %zu, %" PRIu64 " bytes", "params", c->params, c->params_bytes);
    if (l->params_path && !l->format->pair) {
        printf(" inside");
    } else if (l->params_path) {
        printf(" in ");
        print_text(stdout, xir_str_of(l->params_path));
    }
    printf("\n\n");
    print_values("inputs", net, xir_network_inputs);
    print_values("outputs", net, xir_network_outputs);
    print_symbols(net);
    printf("\nops\n");
    for (size_t i = 0; i < c->kinds; i++) {
        printf("  %6zu  ", c->kind[i].n);
        print_text(stdout, xir_class_key(c->kind[i].cls));
        printf("\n");
    }
    print_groups(net);
}

/* A file; `j` NULL: for people. Parameters that are faulty are reported, but all else is known. */
static int report(const char *path, json_out *j) {
    loaded l = { 0 };
    int code = load(&l, path, XIR_LOAD_LAZY);
    bool known = l.net && code != MISUSED;
    counts c = { 0 };
    if (known && count(l.net, &c)) {
        code = REFUSED;
        known = false;
    }
    if (j) {
        json_open(j, NULL, '{');
        json_str(j, "file", xir_str_of(shown_name(path)));
        if (known) put_network(j, &l, &c);
        code = json_findings(j, code);
        json_close(j, '}');
    } else if (known) {
        table_begin();
        print_words(&l, &c);
        table_end();
    }
    free(c.kind);
    unload(&l);
    return code;
}

static int run(int n, char **operands) {
    json_out j = { 0 };
    int worst = check_files(n, operands);
    if (worst) return worst;
    if (as_json) json_files_begin(&j, n);
    for (int i = 0; i < n; i++) {
        if (!as_json && n > 1) {
            printf(i ? "\n" : "");
            print_text(stdout, xir_str_of(shown_name(operands[i])));
            printf("\n\n");
        }
        int code = report(operands[i], as_json ? &j : NULL);
        if (code > worst) worst = code;
    }
    if (as_json) json_files_end(&j, n);
    return worst;
}

static const option options[] = {
    { "json", NULL, WORD_NONE, &as_json, "print a JSON object; of several files a list of them" },
    PARAMS_OPTION, NO_PARAMS_OPTION, LAZY_OPTION, FROM_OPTION, AS_CALLS_OPTION,
    { 0 },
};

const command info_command = {
    .name = "info", .operands = "FILE...", .is = WORD_FILE,
    .doc = "prints what networks consist of",
    .details = "It counts ops, values and parameters, and lists the classes of the ops, the inputs and the outputs "
               "with their types. Parameter files are mapped, never read whole. Of several files there is a report each.",
    .faulty = "the file is invalid",
    .examples = (const example[]){
        { "xir info digits.onnx", "Count what a network consists of." },
        { "xir info --json digits.onnx >digits.info.json", "The same for programs." },
        { NULL, NULL },
    },
    .related = "show stats check",
    .options = options, .least = 1, .most = MANY, .run = run,
};
