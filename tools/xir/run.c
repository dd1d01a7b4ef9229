/* xir run: computes what a network computes, over arrays in .npy files or random ones, and compares the results with
 * others. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cli.h"

static word_list   input_words;
static const char *out_dir, *compare_dir, *tolerance_word, *seed_word;
static bool        each, as_json, memory;

/* What is run: one array a port, owned. */
typedef struct ports {
    xir_value **values;
    xir_array **arrays;
    size_t      n;
    bool        invented;   /* the arrays are random */
} ports;

static void ports_make(ports *p, size_t n) {
    p->n = n;
    p->values = take(n + 1, sizeof *p->values);
    p->arrays = take(n + 1, sizeof *p->arrays);
}

static void ports_free(ports *p) {
    for (size_t i = 0; i < p->n; i++) xir_array_free(p->arrays[i]);
    free(p->arrays);
    free(p->values);
}

/* A file of TensorStack, by its name. It must have one tensor. */
static xir_array *load_tensor(const char *path, xir_diags *why) {
    xir_array *arrays[1];
    size_t n;
    if (xir_tsm_tensor_load(context, path, arrays, 1, &n, why)) return NULL;
    if (n == 1) return arrays[0];
    if (n) xir_array_free(arrays[0]);
    char sentence[80];
    snprintf(sentence, sizeof sentence, "the file has %zu tensors: expected one", n);
    xir_diags_append(why, &(xir_diag){ .severity = XIR_ERROR, .code = XIR_E_INVALID, .file = xir_str_of(path),
                                       .byte = 0, .message = xir_str_of(sentence) });
    return NULL;
}

/* Reads an array; NULL with *code and a finding. */
static xir_array *load_array(const char *path, int *code, xir_diags *why) {
    const size_t before = xir_diags_count(why), size = strlen(path);
    const bool tensor = size > 2 && strcmp(path + size - 2, ".t") == 0;
    xir_array *array = tensor ? load_tensor(path, why) : xir_array_load_npy(context, path, why);
    const xir_diag *d = array ? NULL : xir_diags_at(why, before);
    *code = array ? DONE : d && d->code == XIR_E_UNSUPPORTED ? FAULTY : exit_of(d ? d->code : XIR_E_MEMORY);
    return array;
}

/* What a failed computation means: what the executor cannot compute is a matter of the network. */
static int exit_of_run(xir_status status) { return status == XIR_E_UNSUPPORTED ? FAULTY : exit_of(status); }

/* ---- memory -------------------------------------------------------------------------------------- */

/* The op after which the most bytes existed; NULL if nothing was computed. */
typedef struct peak { uint64_t bytes, held; const xir_op *op; } peak;
static peak most;

static void note_memory(void *user, const xir_op *op, const xir_run_memory *now) {
    (void)user;
    if (now->held > most.held) most.held = now->held;
    if (now->bytes <= most.bytes && most.op) return;
    most.bytes = now->bytes;
    most.op = op;
}

static void report_memory(json_out *j) {
    const xir_str key = xir_class_key(xir_op_class(most.op)), name = xir_op_name(most.op);
    if (!j) {
        printf("memory: at most %llu bytes of values, at ", (unsigned long long)most.bytes);
        print_text(stdout, key);
        printf(" '");
        print_text(stdout, name);
        printf("'; %llu without what they share\n", (unsigned long long)most.held);
        return;
    }
    json_open(j, "memory", '{');
    json_uint(j, "bytes", most.bytes);
    json_uint(j, "held", most.held);
    json_str(j, "class", key);
    json_str(j, "name", name);
    json_close(j, '}');
}

/* ---- inputs -------------------------------------------------------------------------------------- */

/* Which input a word NAME=FILE is for, and where the file's name begins; a bare FILE is for the only one. -1: none. */
static int64_t which_input(const ports *in, const char *word, const char **file) {
    int64_t best = -1;
    size_t longest = 0;
    for (size_t i = 0; i < in->n; i++) {
        xir_str name = xir_value_name(in->values[i]);
        bool fits = strlen(word) > name.size && name.size >= longest && word[name.size] == '=' &&
            memcmp(word, name.data, name.size) == 0;
        if (!name.size || !fits) continue;
        best = (int64_t)i;
        longest = name.size;
    }
    *file = best >= 0 ? word + longest + 1 : word;
    if (best >= 0 || in->n != 1) return best;
    return strchr(word, '=') && access(word, F_OK) != 0 ? -1 : 0;   /* the name of a file may have a '=' */
}

/* Elements that .npy files do not have: they come as float32 or as wider integers. */
static bool is_foreign(const xir_type *type) {
    const xir_object *element = xir_type_object(xir_type_element(type));
    const xir_float_type *real = xir_float_type_of(element);
    const xir_integer_type *integer = xir_integer_type_of(element);
    if (real) return real->format != XIR_FLOAT_FP16 && real->format != XIR_FLOAT_FP32 && real->format != XIR_FLOAT_FP64;
    if (integer) return integer->ibits != 8 && integer->ibits != 16 && integer->ibits != 32 && integer->ibits != 64;
    return xir_type_is_quantized(xir_type_element(type));
}

/* The same numbers as elements of another type, by a network of one Cast. */
static int recast(xir_array **array, const xir_type *like, xir_diags *why) {
    const xir_type *from = xir_array_type(*array);
    if (!xir_type_as_tensor(like) || !is_foreign(like) ||
        xir_type_equal(xir_type_element(like), xir_type_element(from))) return DONE;
    xir_i64s dims = xir_type_as_tensor(from)->shape;
    xir_network *net = xir_network_new(context, "recast", XIR_FRAMEWORK_ONNX, "");
    if (!net) return no_memory();
    xir_at at = XIR_AT(net);
    const xir_type *to = xir_type_tensor(context, xir_type_element(like), NULL, dims.data, dims.size);
    xir_array *result = NULL;
    xir_output(at, XIR_VALUES(xir_build_cast(at, xir_input(at, "x", from), to, NULL)));
    xir_status status = xir_network_status(net);
    const xir_diag *d;
    for (size_t i = 0; (d = xir_diags_at(xir_network_diags(net), i)); i++) xir_diags_append(why, d);
    if (!status) status = xir_network_run(net, (const xir_array *const *)array, 1, &result, 1, NULL, why);
    if (!status) {
        xir_array_free(*array);
        *array = result;
    }
    xir_network_free(net);
    return exit_of_run(status);
}

static int read_inputs(ports *in, xir_diags *why) {
    for (size_t i = 0; i < input_words.n; i++) {
        const char *file;
        int64_t k = which_input(in, input_words.items[i], &file);
        if (k < 0) {
            text names = { 0 };
            for (size_t j = 0; j < in->n; j++) {
                xir_str name = xir_value_name(in->values[j]);
                text_put(&names, j ? ", " : "");
                if (name.size) text_add(&names, name.data, name.size);
                else text_put(&names, "one without a name, for which FILE is enough");
            }
            text_add(&names, "", 1);
            const char *word = input_words.items[i], *end = strchr(word, '=');
            int code = end ? complain(MISUSED, "--input %s: expected the name of an input (the network's inputs are: "
                                      "%s), found '%.*s'", word, names.data, (int)(end - word), word)
                           : complain(MISUSED, "--input takes NAME=FILE, not '%s'; the network's inputs are: %s",
                                      word, names.data);
            text_free(&names);
            return code;
        }
        xir_str name = xir_value_name(in->values[k]);
        if (in->arrays[k]) return complain(MISUSED, "--input gives '%.*s' twice", (int)name.size, name.data);
        int code;
        in->arrays[k] = load_array(file, &code, why);
        if (!code) code = recast(&in->arrays[k], xir_value_type(in->values[k]), why);
        if (code) return code;
    }
    return DONE;
}

/* Makes random numbers for the inputs without an array, which it marks. */
static int invent_inputs(ports *in, uint64_t seed, xir_diags *why) {
    for (size_t i = 0; i < in->n; i++) {
        const xir_type *type = xir_value_type(in->values[i]);
        xir_str name = xir_value_name(in->values[i]);
        if (in->arrays[i]) continue;
        if (input_words.n) return complain(MISUSED, "there is no --input for '%.*s'", (int)name.size, name.data);
        if (!xir_type_as_tensor(type)) {
            return complain(FAULTY, "input '%.*s' is not a tensor: there are no random numbers for it",
                            (int)name.size, name.data);
        }
        type = xir_type_with_known_dims(context, type, 1, why);
        in->arrays[i] = type ? xir_array_random(context, type, seed + i, why) : NULL;
        if (!in->arrays[i]) return code_of(why);
        in->invented = true;
    }
    return DONE;
}

/* Once the network's operations are known, so are the numbers that its inputs take: indices within a table, for
 * example. Arrays that were invented are drawn again where that matters. */
static int redraw_inputs(const xir_network *net, ports *in, uint64_t seed, xir_diags *why) {
    if (!in->invented) return DONE;   /* either all are invented or none is */
    xir_numbers *takes = take(in->n + 1, sizeof *takes);
    for (size_t i = 0; i < in->n; i++) takes[i] = xir_numbers_any();
    int code = exit_of(xir_network_input_numbers(net, takes, in->n, why));
    for (size_t i = 0; i < in->n && !code; i++) {
        const xir_type *type = xir_array_type(in->arrays[i]);
        xir_array *drawn = xir_array_random_in(context, type, seed + i, &takes[i], why);
        code = drawn ? DONE : code_of(why);
        if (!drawn) break;
        xir_array_free(in->arrays[i]);
        in->arrays[i] = drawn;
    }
    free(takes);
    return code;
}

/* ---- a foreign network ------------------------------------------------------------------------------ */

/* An element type as input-shape has it, "fp32"; false: no word means it. */
static bool put_element(text *t, const xir_type *element) {
    static const char *const words[] = { [XIR_FLOAT_FP16] = "fp16", [XIR_FLOAT_BF16] = "bf16",
                                         [XIR_FLOAT_TF32] = "tf32",
                                         [XIR_FLOAT_FP32] = "fp32", [XIR_FLOAT_FP64] = "fp64" };
    const xir_float_type *real = xir_float_type_of(xir_type_object(element));
    const xir_integer_type *whole = xir_integer_type_of(xir_type_object(element));
    const char *word = real && (size_t)real->format < sizeof words / sizeof *words ? words[real->format] : NULL;
    if (xir_type_kind_of(element) == XIR_TYPE_BOOL) word = "bool";
    if (whole) text_printf(t, ":%c%d", whole->sign ? 'i' : 'u', (int)xir_type_storage_bits(element));
    else if (word) text_printf(t, ":%s", word);
    return whole || word;
}

/* The options of a conversion that knows the dims of the arrays, and the elements of inputs without a type:
 * input-shape="x=1,3;y=2:fp32". With --each an input without a type takes one at a time. */
static char *shapes_of(const ports *in) {
    text t = { 0 };
    for (size_t i = 0; i < in->n; i++) {
        xir_str name = xir_value_name(in->values[i]);
        const xir_type *declared = xir_value_type(in->values[i]), *type = xir_array_type(in->arrays[i]);
        size_t rank = xir_type_rank(type);
        bool plain = name.size > 0;
        for (size_t k = 0; plain && k < name.size; k++) plain = name.data[k] && !strchr("\";=", name.data[k]);
        const bool typed = xir_type_as_tensor(declared) != NULL;
        if (!plain || (typed && (!xir_type_has_unknown_dim(declared) || rank != xir_type_rank(declared)))) continue;
        const size_t before = t.size;
        text_put(&t, t.size ? ";" : "input-shape=\"");
        text_add(&t, name.data, name.size);
        text_put(&t, "=");
        for (size_t k = 0; k < rank; k++)
            text_printf(&t, k ? ",%lld" : "%lld",
                        each && !typed && k == 0 ? 1LL : (long long)xir_type_dim(type, (int64_t)k, false));
        if (!typed && !put_element(&t, xir_type_element(type))) t.size = before;
    }
    if (t.size) text_put(&t, "\"");
    text_add(&t, "", 1);
    return t.data;
}

static int convert(xir_network *net, const ports *in, xir_diags *why) {
    if (!xir_network_is_dialect(net)) return DONE;
    char *options = shapes_of(in);
    xir_status status = xir_pass_run(net, "to-xir", options, NULL, why);
    free(options);
    return exit_of_run(status);
}

/* ---- outputs ---------------------------------------------------------------------------------------- */

/* What an output is called: its name, output_N without one. */
static void add_name(text *t, const ports *out, size_t i) {
    xir_str name = xir_value_name(out->values[i]);
    text_add(t, name.data, name.size);
    if (!name.size) text_printf(t, "output_%zu", i);
}

/* The file of an output: its name, with `_` for `/`, and with _N at its end if an earlier output has that file. */
static char *file_name(const ports *out, char *const *earlier, size_t i) {
    text t = { 0 };
    add_name(&t, out, i);
    for (size_t k = 0; k < t.size; k++) t.data[k] = t.data[k] == '/' || t.data[k] == '\0' ? '_' : t.data[k];
    text_put(&t, ".npy");
    text_add(&t, "", 1);
    for (size_t k = 0; k < i; k++) {
        if (strcmp(earlier[k], t.data) != 0 || out->values[k] == out->values[i]) continue;
        t.size -= sizeof ".npy";
        text_printf(&t, "_%zu.npy", i);
        text_add(&t, "", 1);
        break;
    }
    return t.data;
}

static char *in_dir(const char *dir, const char *file) {
    char *with_slash = join(dir, "/"), *path = join(with_slash, file);
    free(with_slash);
    return path;
}

static int make_dir(const char *dir) {
    char *path = join(dir, "");
    int error = 0;
    for (char *at = path + 1; *path && !error; at++) {
        if (*at != '/' && *at) continue;
        char end = *at;
        *at = '\0';
        if (mkdir(path, 0777) != 0 && errno != EEXIST) error = errno;
        *at = end;
        if (!end) break;
    }
    free(path);
    struct stat s;
    if (!error && (stat(dir, &s) != 0 || !S_ISDIR(s.st_mode))) error = ENOTDIR;
    return error ? complain_of(REFUSED, dir, "cannot be made: %s", strerror(error)) : DONE;
}

static int write_outputs(const ports *out, char *const *files, xir_diags *why) {
    int code = make_dir(out_dir);
    for (size_t i = 0; !code && i < out->n; i++) {
        char *path = in_dir(out_dir, files[i]);
        code = exit_of(xir_array_save_npy(out->arrays[i], path, why));
        free(path);
    }
    return code;
}

/* The place of an element: an index a dim, of MOST_DIMS at most. Returns how many. */
enum { MOST_DIMS = 64 };
static size_t place_of(const xir_type *type, size_t at, int64_t index[MOST_DIMS]) {
    const size_t rank = xir_type_rank(type);
    for (size_t k = rank; k-- > 0;) {
        size_t dim = (size_t)xir_type_dim(type, (int64_t)k, false);
        if (k < MOST_DIMS) index[k] = (int64_t)(at % dim);
        at /= dim;
    }
    return rank < MOST_DIMS ? rank : MOST_DIMS;
}

static void print_index(text *t, const xir_type *type, size_t at) {
    int64_t index[MOST_DIMS];
    const size_t n = place_of(type, at, index);
    if (n) json_i64s(t, index, n);
    else text_put(t, "its only element");
}

/* What a comparison with a file found; `d` NULL: it could not be made. */
static void put_comparison(json_out *j, const char *path, const xir_array *array, const xir_difference *d) {
    int64_t index[MOST_DIMS];
    json_open(j, "compared", '{');
    json_str(j, "file", xir_str_of(path));
    if (d) json_bool(j, "same_shape", d->same_shape);
    if (d && d->same_shape) {
        json_uint(j, "differ", d->count);
        json_uint(j, "of", xir_array_count(array));
        json_member(j, "largest");
        json_real(&j->t, d->largest);
    }
    if (d && d->same_shape && d->count) {
        json_member(j, "at");
        json_i64s(&j->t, index, place_of(xir_array_type(array), d->first, index));
        json_member(j, "found");
        json_real(&j->t, d->a);
        json_member(j, "expected");
        json_real(&j->t, d->b);
    }
    json_close(j, '}');
}

/* Adds what a comparison found to a line of the summary, and with --json to an object. */
static int compare_one(const ports *out, size_t i, const char *file, double tolerance, text *line, json_out *j,
                       xir_diags *why) {
    char *path = in_dir(compare_dir, file);
    int code;
    xir_array *expected = load_array(path, &code, why);
    if (!expected) {
        if (j) put_comparison(j, path, NULL, NULL);
        free(path);
        return code;
    }
    xir_difference d;
    xir_status status = xir_array_compare(out->arrays[i], expected, tolerance, tolerance, &d);
    if (j) put_comparison(j, path, out->arrays[i], status ? NULL : &d);
    text name = { 0 };
    add_name(&name, out, i);
    if (status) {
        code = exit_of(status);
        xir_diags_append(why, &(xir_diag){
            .severity = XIR_ERROR, .code = status, .file = xir_str_of(path), .byte = XIR_NO_BYTE,
            .message = XIR_STR("its elements cannot be compared") });
    } else if (!d.same_shape) {
        text found = { 0 };
        type_words(&found, xir_array_type(expected));
        text_put(line, "  another shape");
        text_add(&found, "", 1);
        code = complain_of(FAULTY, path, "'%.*s' has another shape than this file, which has %s", (int)name.size,
                           name.data, found.data);
        text_free(&found);
    } else {
        text_printf(line, "  largest difference %.3g", d.largest);
        if (d.count) {
            text where = { 0 };
            print_index(&where, xir_array_type(out->arrays[i]), d.first);
            text_add(&where, "", 1);
            code = complain_of(FAULTY, path, "'%.*s' differs at %s: expected %.9g, found %.9g; %zu of %zu elements "
                               "differ, by up to %.3g", (int)name.size, name.data, where.data, d.b, d.a, d.count,
                               xir_array_count(out->arrays[i]), d.largest);
            text_free(&where);
        }
    }
    xir_array_free(expected);
    text_free(&name);
    free(path);
    return code;
}

/* An output as JSON: the members up to its comparison. */
static void open_output(json_out *j, const ports *out, size_t i, const char *file) {
    text name = { 0 };
    char *path = out_dir ? in_dir(out_dir, file) : NULL;
    add_name(&name, out, i);
    json_open(j, NULL, '{');
    json_str(j, "name", text_of(&name));
    json_type(j, xir_array_type(out->arrays[i]));
    if (path) json_str(j, "file", xir_str_of(path));
    else json_null(j, "file");
    if (!compare_dir) json_null(j, "compared");
    free(path);
    text_free(&name);
}

/* A line an output, or with --json an object: its name, its type, how far it is from what is expected. */
static int report(const ports *out, char *const *files, double tolerance, json_out *j, xir_diags *why) {
    int worst = DONE;
    for (size_t i = 0; i < out->n; i++) {
        text line = { 0 };
        if (j) open_output(j, out, i, files[i]);
        add_name(&line, out, i);
        text_put(&line, "  ");
        type_words(&line, xir_array_type(out->arrays[i]));
        int code = compare_dir ? compare_one(out, i, files[i], tolerance, &line, j, why) : DONE;
        if (code > worst) worst = code;
        if (j) json_close(j, '}');
        else print_text(stdout, text_of(&line));
        if (!j) putchar('\n');
        text_free(&line);
    }
    return worst;
}

/* ---- running ------------------------------------------------------------------------------------------ */

static int compute(loaded *l, ports *in, ports *out, uint64_t seed, const xir_run_options *options, xir_diags *why) {
    int code = bind_network(l->net, why);
    if (code) return code;
    ports_make(in, xir_network_inputs(l->net, NULL, 0));
    xir_network_inputs(l->net, in->values, in->n);
    code = read_inputs(in, why);
    if (!code) code = invent_inputs(in, seed, why);
    if (!code) code = convert(l->net, in, why);
    if (!code) code = redraw_inputs(l->net, in, seed, why);
    if (code) return code;
    ports_make(out, xir_network_outputs(l->net, NULL, 0));
    xir_network_outputs(l->net, out->values, out->n);
    progress_begin("running", l->name);
    const xir_array *const *arrays = (const xir_array *const *)in->arrays;
    xir_status status = each ? run_each(l->net, in->values, arrays, in->n, out->arrays, out->n, options, why)
                             : xir_network_run(l->net, arrays, in->n, out->arrays, out->n, options, why);
    progress_end();
    return exit_of_run(status);
}

/* A number of an option, all of it. */
static bool read_number(const char *which, const char *word, double *out) {
    char *end;
    if (!word) return true;
    *out = strtod(word, &end);
    if (end != word && !*end && *out >= 0) return true;
    complain(MISUSED, "--%s takes a number that is not below 0, not '%s'", which, word);
    return false;
}

/* Computes the outputs, writes and reports them. */
static int run_network(loaded *l, uint64_t seed, double tolerance, const xir_run_options *options, json_out *j) {
    ports in = { 0 }, out = { 0 };
    xir_diags *why = new_diags();
    int code = compute(l, &in, &out, seed, options, why);
    if (code) most.op = NULL;
    char **files = take(out.n + 1, sizeof *files);
    for (size_t i = 0; !code && i < out.n; i++) files[i] = file_name(&out, files, i);
    if (!code && out_dir) code = write_outputs(&out, files, why);
    if (!code) code = report(&out, files, tolerance, j, why);
    say(why);
    for (size_t i = 0; i < out.n; i++) free(files[i]);
    free(files);
    xir_diags_free(why);
    ports_free(&in);
    ports_free(&out);
    return code;
}

static int run(int n, char **operands) {
    (void)n;
    double tolerance = 1e-4, seed = 0;
    if (!read_number("tolerance", tolerance_word, &tolerance) || !read_number("seed", seed_word, &seed)) return MISUSED;
    if (seed >= 0x1p53 || seed != (double)(uint64_t)seed) {
        return complain(MISUSED, "--seed takes an integer below 2^53, not '%s'", seed_word);
    }
    xir_run_options options = XIR_INIT(xir_run_options);
    if (memory) options.memory = note_memory;
    if (max_work_of_line(&options.max_work) || threads_of_line(&options.threads)) return MISUSED;
    loaded l = { 0 };
    json_out j = { 0 };
    json_open(&j, NULL, '{');
    json_str(&j, "file", xir_str_of(shown_name(operands[0])));
    json_open(&j, "outputs", '[');
    int code = load(&l, operands[0], 0);
    if (!code) code = run_network(&l, (uint64_t)seed, tolerance, &options, as_json ? &j : NULL);
    json_close(&j, ']');
    if (most.op) report_memory(as_json ? &j : NULL);
    if (as_json) {
        code = json_findings(&j, code);
        json_close(&j, '}');
        json_print(&j);
    }
    text_free(&j.t);
    unload(&l);
    free((void *)input_words.items);
    free((void *)bind_words.items);
    return code;
}

static const option options[] = {
    { "input", "NAME=F.npy", WORD_FILE, &input_words,
      "the array of an input, also a tensor F.t of TensorStack; just F.npy if there is one input", .many = true },
    BIND_OPTION,
    { "each", NULL, WORD_NONE, &each, "inputs hold many along their first dim: run each, join the outputs" },
    { "seed", "N", WORD_TEXT, &seed_word, "without inputs: the seed of the random ones (0)" },
    { "output", "DIR", WORD_FOLDER, &out_dir, "write DIR/NAME.npy for each output" },
    { "compare", "DIR", WORD_FOLDER, &compare_dir, "compare each output with DIR/NAME.npy" },
    { "tolerance", "T", WORD_TEXT, &tolerance_word,
      "how far an element may be from the expected one: T + T * |expected| (1e-4)" },
    { "max-work", "N", WORD_TEXT, &work_args.max_work,
      "stop before the op that would exceed N steps: a step is a multiply-add, another element operation counts as ten "
      "(no limit)" },
    THREADS_OPTION("compute"),
    { "memory", NULL, WORD_NONE, &memory, "print how many bytes the values take at most, and at which op" },
    { "json", NULL, WORD_NONE, &as_json, "print a JSON object" },
    PARAMS_OPTION, LAZY_OPTION, FROM_OPTION, AS_CALLS_OPTION,
    UPSTREAM_OPTION,
    { 0 },
};

const command run_command = {
    .name = "run", .operands = "NET", .is = WORD_FILE,
    .doc = "computes the outputs of a network",
    .details = "A line is printed for each output: its name, its type, with --compare the largest difference. In "
               "the name of a file / becomes _; an output without a name is output_N. Without --input the inputs "
               "are random: normal numbers, integers from 0 to 9, indices within their table, and dims that the "
               "network leaves open are 1, or what --bind says. A network of another framework's operations is "
               "converted first (to-xir). This is the reference executor: see docs/executor.md.",
    .faulty = "the network is invalid or cannot be computed, or an output differs",
    .options = options, .least = 1, .most = 1, .run = run,
};
