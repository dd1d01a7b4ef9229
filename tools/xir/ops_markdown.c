/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The reference of operations as Markdown: how to read it and what holds for all of them, a line an operation, then
 * a section each. `xir ops --markdown` is docs/ops.md, byte for byte; a test compares. */
#include <stdlib.h>
#include <string.h>
#include "ops.h"

static const char preface[] =
    "# Operations\n"
    "\n"
    "Every operation of this build, as its classes describe themselves. The program prints this page, and all of it\n"
    "is there at run time too:\n"
    "\n"
    "```\n"
    "xir ops              a line each           xir ops --json       everything, for programs\n"
    "xir ops Conv2d       one of them           xir ops --markdown   this page\n"
    "```\n"
    "\n"
    "In C, `xir_class_find(ctx, XIR_STR(\"icraft::xir::Conv2d\"))` and the questions of `<xir/class.h>` give the same.\n"
    "How operations are written: [writing-an-op.md](writing-an-op.md). How they are stored: [formats.md](formats.md).\n"
    "\n"
    "## How to read a section\n"
    "\n"
    "Under the name: the key that files have as `_type_key`; the tag in FlatBuffers unions, if there is one; old\n"
    "keys, which are read and never written; traits; the targets for which the class infers by rules of its own; how\n"
    "it works in other orders of axes (`layout:`, see [passes.md](passes.md#layout)); what it computes where its maps\n"
    "are in normalised numbers (`normalised:`, see [executor.md](executor.md#normalised-numbers)); and the C names: the\n"
    "constructor, the struct of the attributes, and the function that returns the class's declaration.\n"
    "\n"
    "- **Computes** says what the results are, **Gives** how element type, shape and layout of the outputs follow\n"
    "  from the inputs.\n"
    "- **Unlike** PyTorch or ONNX: where an operation of a similar name there does something else.\n"
    "- The table has inputs, attributes and outputs in their order. An attribute has its kind, its least and greatest\n"
    "  value, and its default after `=`; one without a default must be given. Words of an enumeration are listed,\n"
    "  the default one in bold. Reals are rounded to float32.\n"
    "- `x?` may be null; a list is written `list<…>`; `params` is a constant tensor that is an attribute. Scalars\n"
    "  (`ScalarImm`, `IntImm`) are bare numbers in files.\n"
    "\n";

static const char conventions[] =
    "## What holds for all\n"
    "\n"
    "**Types.** A tensor has an element type, dims, a layout and perhaps merged distributions. Inference sees class,\n"
    "attributes, input types and target, and nothing else, but where a section says that a constant's elements are\n"
    "read. The caller that adds an operation may give the types of outputs; they are kept then.\n"
    "\n"
    "**Layouts.** A letter a dim: N batch, D H W space, C channels, L length (the same as W), I O of kernels, `*` for\n"
    "none of these. Operations that know rows, columns and channels find them by their letters, in any order: NHWC\n"
    "and NCHW both work. What a layout does not name is taken in the order that the section says. The output has the\n"
    "layout of the first input if it has its rank, unless the section says otherwise; where letters cannot be kept\n"
    "they become `*`.\n"
    "\n"
    "**Unknown dims** are -1, printed `?`. They are accepted everywhere; what depends on one is unknown, all\n"
    "else is known. The rank always is. `-1` in an attribute where it means \"infer this\" (Reshape, Expand) is another\n"
    "thing.\n"
    "\n"
    "**Axes** are counted from 0, or from the end if negative, within the bounds of their row.\n"
    "\n"
    "**Broadcasting** is from the right: dims are the same, or one of them is 1; the missing ones count as 1. The\n"
    "output has the layout of the input of higher rank.\n"
    "\n"
    "**Element types.** Inputs of one operation have the same unless the section says otherwise: nothing is converted\n"
    "silently, Cast converts. Quantised types are passed on by operations whose results are values of the input or\n"
    "lie between them (moves, pools, resizing, ReLU, Maximum of equal types); scales, zero points and ratios along an\n"
    "axis follow it. What computes other values refuses them (`unsupported`): the quantiser decides the type of\n"
    "the result, by giving the types of the outputs.\n"
    "\n"
    "**Distributions** say which elements are valid and which are padding. They are kept, with their axes renumbered,\n"
    "where what they say is still true of the output; otherwise they are dropped where the result has no padding, or\n"
    "refused.\n"
    "\n"
    "**Targets.** The rules of the host hold for a target that a class has no rules of its own for. Tiled layouts\n"
    "(NCHWc32) are for the rules of a back end; the host's refuse them, but for those of operations that work element\n"
    "by element, which pass the type of their inputs on.\n"
    "\n"
    "**Faults** are found when an operation is added, and by `xir_op_validate` and `xir check` in what came from a\n"
    "file. Rows are checked first (bounds, words, references, ports), then the class's own rules; the sentence names\n"
    "attribute or input, what was expected and what was found. See [errors.md](errors.md).\n"
    "\n"
    "**Purity.** All operations are functions of their inputs but those with the trait *impure*: two equal ones of these\n"
    "are not one, and an unused one is not useless.\n"
    "\n";

/* ---- text ---------------------------------------------------------------------------------------- */

static bool in_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

/* Characters that Markdown would interpret get a backslash, in a table a bar too; code between backticks is
 * unchanged. */
static void put_escaped(text *t, xir_str s, bool table) {
    bool code = false;
    for (size_t i = 0; i < s.size; i++) {
        char c = s.data[i], before = i ? s.data[i - 1] : ' ', after = i + 1 < s.size ? s.data[i + 1] : ' ';
        bool special = c == '\\' || (c == '*' && (before != ' ' || after != ' ')) || (c == '(' && before == ']') ||
                       (c == '<' && (in_word(after) || after == '/')) ||
                           (c == '_' && !(in_word(before) && in_word(after)));
        if (c == '`') code = !code;
        if ((special && !code) || (c == '|' && table)) text_put(t, "\\");
        text_add(t, &c, 1);
    }
}

static void put_words(text *t, xir_str s) { put_escaped(t, s, false); }
static void put_cell(text *t, xir_str s)  { put_escaped(t, s, true); }

static void put_code(text *t, xir_str s) { text_printf(t, "`%.*s`", (int)s.size, s.data); }

/* ---- a section ----------------------------------------------------------------------------------- */

static void put_how(text *t, const char *what, xir_str row) {
    if (!row.size) return;
    text_printf(t, "; %s: ", what);
    put_code(t, row);
}

static void put_c_names(text *t, const xir_class *cls) {
    c_names c = c_names_of(cls);
    if (c.declaration.size) {
        text_printf(t, "  \nIn C: `%s`, `%s`, `%s`", c.constructor.data, c.attributes.data, c.declaration.data);
    }
    c_names_free(&c);
}

static void put_head(text *t, const xir_class *cls) {
    xir_str alias, trait;
    text targets = { 0 };
    put_words(t, xir_class_doc(cls));
    text_put(t, "  \n");
    put_code(t, xir_class_key(cls));
    if (xir_class_tag(cls)) text_printf(t, ", tag %u", (unsigned)xir_class_tag(cls));
    for (size_t i = 0; (alias = xir_class_note(cls, XIR_DECL_ALIAS, i)).size; i++) {
        text_put(t, i ? ", " : "; old: ");
        put_code(t, alias);
    }
    for (size_t i = 0; (trait = xir_class_trait_at(cls, i)).size; i++)
        text_printf(t, "; *%.*s*", (int)trait.size, trait.data);
    if (!put_targets(&targets, cls)) text_put(t, "; the types of its outputs are given");
    else if (strcmp(targets.data, "host") != 0) text_printf(t, "; rules for %s", targets.data);
    put_how(t, "layout", xir_class_note(cls, XIR_DECL_LAYOUT, 0));
    put_how(t, "normalised", xir_class_note(cls, XIR_DECL_NORMALISED, 0));
    put_how(t, "shares bytes", xir_class_note(cls, XIR_DECL_SHARES, 0));
    if (xir_class_needs(cls) != XIR_NEEDS_ALL) text_printf(t, "; needs of its inputs: %s", needs_word(cls));
    put_c_names(t, cls);
    text_put(t, "\n");
    text_free(&targets);
}

static void put_notes(text *t, const char *lead, const xir_class *cls, xir_decl_kind word) {
    xir_str note;
    for (size_t i = 0; (note = xir_class_note(cls, word, i)).size; i++) {
        text_printf(t, "- **%s** ", lead);
        put_words(t, note);
        text_put(t, "\n");
    }
}

static void put_row(text *t, xir_str name, const char *what, xir_str doc) {
    text_put(t, "| ");
    put_code(t, name);
    text_printf(t, " | %s | ", what);
    put_cell(t, doc);
    text_put(t, " |\n");
}

static void put_port(text *t, const xir_port *port) {
    const char *what = port->decl == XIR_DECL_IN ? "input" : port->decl == XIR_DECL_OPT ? "input, may be absent" :
                       port->decl == XIR_DECL_VAR ? "inputs, any number" : port->decl == XIR_DECL_OUT ? "output"
                           : "outputs, any number";
    put_row(t, port->name, what, port->doc);
}

static void put_enum(text *t, const xir_field *f) {
    for (size_t i = 0; i < f->members->size; i++) {
        const char *mark = f->has_default && f->default_value.i == (int64_t)i ? "**" : "";
        text_printf(t, "%s%s%s%s", i ? ", " : "", mark, f->members->names[i], mark);
    }
}

static void put_field(text *t, const xir_field *f) {
    text what = { 0 };
    if (f->members) {
        put_enum(&what, f);
    } else {
        text type = { 0 };
        put_type(&type, f);
        put_code(&what, text_of(&type));
        text_free(&type);
    }
    if (f->has_min) {
        text_put(&what, ", from ");
        put_bound(&what, f, true, f->min);
    }
    if (f->has_max) {
        text_put(&what, ", to ");
        put_bound(&what, f, true, f->max);
    }
    if (f->has_default && !f->members) {
        text preset = { 0 };
        put_default(&preset, f);
        text_put(&what, " = ");
        put_code(&what, text_of(&preset));
        text_free(&preset);
    } else if (f->flags & XIR_FIELD_OPTIONAL) {
        text_put(&what, " = `null`");
    }
    put_row(t, f->name, what.data, f->doc);
    text_free(&what);
}

static void put_section(text *t, const xir_class *cls) {
    xir_str name = short_key(cls);
    text_printf(t, "## %.*s\n\n", (int)name.size, name.data);
    put_head(t, cls);
    text_put(t, "\n");
    put_notes(t, "Computes", cls, XIR_DECL_FORMULA);
    put_notes(t, "Gives", cls, XIR_DECL_GIVES);
    put_notes(t, "Unlike", cls, XIR_DECL_UNLIKE);
    if (xir_class_note(cls, XIR_DECL_FORMULA, 0).size) text_put(t, "\n");
    text_put(t, "| | | |\n|---|---|---|\n");
    for (size_t i = 0; i < xir_class_input_count(cls); i++) put_port(t, xir_class_input_at(cls, i));
    for (size_t i = 0; i < xir_class_field_count(cls); i++) put_field(t, xir_class_field_at(cls, i));
    for (size_t i = 0; i < xir_class_output_count(cls); i++) put_port(t, xir_class_output_at(cls, i));
}

/* ---- the page ------------------------------------------------------------------------------------ */

static void put_contents(text *t, const xir_class *const *ops, size_t n) {
    text_printf(t, "## The %zu operations\n\n| | |\n|---|---|\n", n);
    for (size_t i = 0; i < n; i++) {
        xir_str name = short_key(ops[i]);
        text_printf(t, "| [%.*s](#", (int)name.size, name.data);
        for (size_t k = 0; k < name.size; k++) {
            char c = name.data[k];
            if (c >= 'A' && c <= 'Z') c = (char)(c | 0x20);
            text_add(t, &c, 1);
        }
        text_put(t, ") | ");
        put_cell(t, xir_class_doc(ops[i]));
        text_put(t, " |\n");
    }
}

void print_ops_markdown(const xir_class *one) {
    text t = { 0 };
    if (one) {
        put_section(&t, one);
    } else {
        size_t n;
        const xir_class **ops = sorted_ops(&n);
        text_put(&t, preface);
        text_put(&t, conventions);
        put_contents(&t, ops, n);
        for (size_t i = 0; i < n; i++) {
            text_put(&t, "\n");
            put_section(&t, ops[i]);
        }
        free((void *)ops);
    }
    write_to(stdout, t.data, t.size);
    text_free(&t);
}
