/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A module of PyTorch as a format, which is only written: modules and weights in __init__, operators in forward, and a
 * function that computes it. Its weights are in an archive as PNNX has it: net.py loads net.pnnx.bin. */
#include <stdio.h>
#include "dialect/others.h"
#include "python/python.h"

static const char preamble[] =
    "\"\"\"A network of PNNX as a module of PyTorch, written by XIR.\"\"\"\n";

static const char weight_text[] =
    "\n\ndef weight(archive, name, shape, dtype, to=None):\n"
    "    \"\"\"Returns a tensor of the archive, in which names are the bytes of UTF-8.\"\"\"\n"
    "    data = bytearray(archive.read(name.encode('utf-8').decode('cp437')))\n"
    "    tensor = torch.frombuffer(data, dtype=dtype) if data else torch.empty(0, dtype=dtype)\n"
    "    tensor = tensor.reshape(shape).to(to or dtype)\n"
    "    return nn.Parameter(tensor, requires_grad=dtype.is_floating_point or dtype.is_complex)\n";

static const char fill_text[] =
    "\n\ndef fill(module, archive, name, weights, to=None):\n"
    "    \"\"\"Gives a module its weights from the archive, with other elements than they are stored with.\"\"\"\n"
    "    for key, shape, dtype in weights:\n"
    "        *path, last = key.split('.')\n"
    "        owner = module.get_submodule('.'.join(path))\n"
    "        old, new = getattr(owner, last), weight(archive, name + '.' + key, shape, dtype, to)\n"
    "        if old is None or old.shape != new.shape:\n"
    "            raise ValueError('the weight ' + name + '.' + key + ' does not fit its module')\n"
    "        setattr(owner, last, new if isinstance(old, nn.Parameter) else new.data)\n";

static const char as_tensor_text[] =
    "\n\ndef as_tensor(value):\n"
    "    \"\"\"Returns a number, or a list of numbers, as a tensor.\"\"\"\n"
    "    return torch.tensor(value, dtype=torch.float64 if isinstance(value, float) else None)\n";

static const char test_text[] =
    "\n\ndef test_inference():\n"
    "    \"\"\"Computes the network for random inputs, with 2 for each open dim.\"\"\"\n"
    "    torch.manual_seed(0)\n"
    "    inputs = []\n"
    "    for shape, dtype in INPUTS:\n"
    "        shape = [2 if dim is None else dim for dim in shape]\n"
    "        real = dtype.is_floating_point or dtype.is_complex\n"
    "        inputs.append((torch.rand(shape) if real else torch.zeros(shape)).to(dtype))\n"
    "    with torch.no_grad():\n"
    "        return Model()(*inputs)\n"
    "\n\nif __name__ == '__main__':\n"
    "    print(test_inference())\n";

/* ---- failures ---------------------------------------------------------------------------------------------------- */

bool python_no_memory(python_writer *w) { return diag_no_memory(&w->status, w->how->why); }

static bool fail(python_writer *w, xir_status status, const char *sentence, ...) XIR_PRINTF(3, 4);
static bool fail(python_writer *w, xir_status status, const char *sentence, ...) {
    va_list args;
    if (w->status) return false;
    va_start(args, sentence);
    w->status = file_failv(w->how->why, status, w->how->path, XIR_NO_BYTE, sentence, args);
    va_end(args);
    return false;
}

bool python_refuse(python_op *c, xir_status status, const char *sentence, ...) {
    char text[SENTENCE_ROOM];
    va_list args;
    va_start(args, sentence);
    text_vprint(text, sizeof text, sentence, args);
    va_end(args);
    return fail(c->w, status, "op %" PRId64 " '%.*s' (%.*s): %s", c->op->id, CLIP(xir_op_name(c->op)), CLIP(c->type),
                text);
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

const python_value *python_value_of(python_writer *w, const xir_value *v) {
    const uint32_t *place = pointer_table_find(&w->places, v);
    return place ? &w->values[*place] : NULL;
}

bool python_define(python_writer *w, const xir_value *v, python_kind kind) {
    const xir_str name = python_identifier(w, 'v', xir_value_name(v));
    const bool room = name.size && mem_reserve(&w->net->ctx->alloc, (void **)&w->values, &w->value_room,
                                               w->n_values + 1, sizeof *w->values);
    if (!room || !pointer_table_add(&w->places, v, (uint32_t)w->n_values)) return python_no_memory(w);
    w->values[w->n_values++] = (python_value){ name, kind };
    return true;
}

/* ---- the network ------------------------------------------------------------------------------------------------- */

static bool is_input(const xir_op *op)  { return op_is_of(op, "icraft::xir::", "Input"); }
static bool is_output(const xir_op *op) { return op_is_of(op, "icraft::xir::", "Output"); }

static void note_weights(python_writer *w) {
    for (const xir_op *op = w->net->first; op; op = op->next) {
        const xir_map *extra = op_more_of(op) ? op_more_of(op)->extra : NULL;
        for (size_t i = 0; extra && i < extra->size; i++) w->has_weights |= pnnx_is_weight(&extra->entries[i]);
    }
}

/* An input must be made before it is used. */
static bool check_inputs(python_op *c) {
    for (uint32_t i = 0; i < c->op->n_inputs; i++) {
        const xir_value *v = op_inputs(c->op)[i].value;
        if (!v) return python_refuse(c, XIR_E_UNSUPPORTED, "input %u is absent", (unsigned)i);
        if (value_is_params(v))
            return python_refuse(c, XIR_E_UNSUPPORTED, "input %u is Params, which PNNX has only as weights of operators",
                                 (unsigned)i);
        if (!python_value_of(c->w, v))
            return python_refuse(c, XIR_E_MISSING, "input %u, '%.*s', is not made by an operator before it",
                                 (unsigned)i, CLIP(xir_value_name(v)));
    }
    return true;
}

static python_op begin_op(python_writer *w, const xir_op *op) {
    return (python_op){ .w = w, .op = op, .extra = xir_op_extra(op), .type = pnnx_type_of(op) };
}

static bool write_op(python_writer *w, const xir_op *op) {
    python_op c = begin_op(w, op);
    return check_inputs(&c) && python_write_op(&c);
}

static bool write_results(python_writer *w, const xir_op *output) {
    const bool one = output && output->n_inputs == 1;
    buffer_str(&w->forward, one ? "        return " : "        return (");
    if (output) {
        python_op c = begin_op(w, output);
        c.type = output->cls->key;
        if (!check_inputs(&c)) return false;
        python_put_inputs(&c, true);
    }
    buffer_str(&w->forward, one ? "\n" : ")\n");
    return true;
}

static bool write_ops(python_writer *w) {
    char sentence[DIALECT_OTHERS];
    const xir_op *input = NULL, *output = NULL;
    if (!dialect_has_all(w->net, XIR_STR("pnnx::"), "PNNX", "operator",
                         "xir opt converts those that it can, with to-xir and xir-to-pnnx", sentence))
        return fail(w, XIR_E_UNSUPPORTED, "%s", sentence);
    for (const xir_op *op = w->net->first; op; op = op->next) {
        const bool begins = is_input(op), ends = is_output(op);
        if ((begins && input) || (ends && output))
            return fail(w, XIR_E_UNSUPPORTED, "op %" PRId64 " is a second %s", op->id, begins ? "Input" : "Output");
        if (begins) input = op;
        if (ends) output = op;
        for (uint32_t i = 0; begins && i < op->n_outputs; i++)
            if (!python_define(w, &op_outputs(op)[i], PYTHON_TENSOR)) return false;
        if (!begins && !ends && !write_op(w, op)) return false;
    }
    return write_results(w, output);
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

/* Returns true if a path is the module's with another suffix, as Python's splitext finds it. */
static bool is_usual(const char *module, const char *archive) {
    const char *slash = strrchr(module, '/'), *name = slash ? slash + 1 : module, *dot = strrchr(name, '.');
    const size_t stem = *name == '.' || !dot ? strlen(module) : (size_t)(dot - module);
    return strncmp(module, archive, stem) == 0 && strcmp(archive + stem, ".pnnx.bin") == 0;
}

/* Writes the place of the weights: in a file of the module's name, or in one that the caller named, next to the module
 * or where its path says. */
static bool put_place(python_writer *w, buffer *out) {
    const format_writing *how = w->how;
    buffer_str(out, "\nWEIGHTS = ");
    if (!how->params_path || is_usual(how->path, how->params_path)) {
        buffer_str(out, "os.path.splitext(os.path.abspath(__file__))[0] + '.pnnx.bin'\n");
        return true;
    }
    const char *slash = strrchr(how->path, '/'), *file = how->params_path;
    const size_t folder = slash ? (size_t)(slash + 1 - how->path) : 0;
    const bool next_to = strncmp(how->path, file, folder) == 0 && !strchr(file + folder, '/');
    if (next_to) buffer_str(out, "os.path.join(os.path.dirname(os.path.abspath(__file__)), ");
    if (!python_put_text(out, xir_str_of(next_to ? file + folder : file)))
        return fail(w, XIR_E_INVALID, "the path of the weights is not UTF-8");
    buffer_str(out, next_to ? ")\n" : "\n");
    return true;
}

/* Returns true if all inputs have types. */
static bool put_input_types(python_writer *w, buffer *out) {
    const xir_op *input = w->net->first;
    while (input && !is_input(input)) input = input->next;
    const size_t begin = out->size;
    buffer_str(out, "\nINPUTS = (\n");
    for (uint32_t i = 0; input && i < input->n_outputs; i++) {
        buffer_str(out, "    (");
        if (!python_put_type(w, out, &op_outputs(input)[i])) {
            out->size = begin;
            return false;
        }
        buffer_str(out, "),\n");
    }
    buffer_str(out, ")\n");
    return true;
}

static void put_model(python_writer *w, buffer *out) {
    const xir_op *input = w->net->first;
    while (input && !is_input(input)) input = input->next;
    buffer_str(out, "\n\nclass Model(nn.Module):\n    def __init__(self");
    if (w->has_weights) buffer_str(out, ", weights=WEIGHTS");
    buffer_str(out, "):\n        super().__init__()\n");
    if (w->has_weights) buffer_str(out, "        with zipfile.ZipFile(weights) as archive:\n");
    buffer_put(out, w->init.data, w->init.size);
    buffer_str(out, "        self.eval()\n\n    def forward(self");
    for (uint32_t i = 0; input && i < input->n_outputs; i++) {
        const xir_str name = python_value_of(w, &op_outputs(input)[i])->name;
        buffer_str(out, ", ");
        buffer_put(out, name.data, name.size);
    }
    buffer_str(out, "):\n");
    buffer_put(out, w->forward.data, w->forward.size);
}

static bool put_file(python_writer *w, buffer *out) {
    buffer_str(out, preamble);
    if (w->uses_math) buffer_str(out, "import math\n");
    if (w->has_weights) buffer_str(out, "import os\nimport zipfile\n");
    if (w->uses_math || w->has_weights) buffer_char(out, '\n');
    buffer_str(out, "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n");
    if (w->has_weights && !put_place(w, out)) return false;
    const bool typed = put_input_types(w, out);
    if (w->has_weights) buffer_str(out, weight_text);
    if (w->fills) buffer_str(out, fill_text);
    if (w->uses_tensors) buffer_str(out, as_tensor_text);
    put_model(w, out);
    buffer_str(out, typed ? test_text : "");
    return true;
}

static void begin(python_writer *w) {
    const xir_allocator *alloc = &w->net->ctx->alloc;
    buffer_init(&w->init, alloc);
    buffer_init(&w->forward, alloc);
    pnnx_printer_init(&w->types, alloc);
    arena_init(&w->scratch, alloc);
    text_table_init(&w->rows, alloc);
    text_table_init(&w->taken, alloc);
    pointer_table_init(&w->places, alloc);
    note_weights(w);
    w->indent = w->has_weights ? "            " : "        ";
}

static void end(python_writer *w) {
    mem_free(&w->net->ctx->alloc, w->values, w->value_room * sizeof *w->values);
    pointer_table_free(&w->places);
    text_table_free(&w->taken);
    text_table_free(&w->rows);
    arena_free(&w->scratch);
    pnnx_printer_free(&w->types);
    buffer_free(&w->forward);
    buffer_free(&w->init);
}

static xir_status python_write(xir_network *net, const format_writing *how) {
    python_writer w = { .net = net, .how = how };
    buffer out;
    begin(&w);
    buffer_init(&out, &net->ctx->alloc);
    const bool ok = python_rows_begin(&w) && write_ops(&w) && put_file(&w, &out);
    if (ok && (out.failed || w.init.failed || w.forward.failed)) python_no_memory(&w);
    if (!ok && !w.status) python_no_memory(&w);
    if (!w.status && !how->write(how->user, out.data, out.size)) w.status = XIR_E_IO;
    buffer_free(&out);
    end(&w);
    return w.status;
}

const format format_python = {
    .name = "py", .meaning = "module of PyTorch, from operators of PNNX", .suffixes = "py",
    .operators = "pnnx",
    .traits = XIR_FORMAT_DIALECT, .write = python_write, .params_found = "pnnx.bin", .params_written = "pnnx.bin",
    .load_params = pnnx_load_params, .read_params = pnnx_read_params, .params_may_begin = pnnx_params_may_begin,
    .write_params = pnnx_write_params,
};
