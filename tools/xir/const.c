/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Inputs that the command line makes constants, --const NAME=NUMBER or NAME=FILE, as soon as the network has been read:
 * every command sees the network without them. */
#include <stdlib.h>
#include <string.h>
#include "cli.h"

word_list const_words;

int check_consts(void) {
    for (size_t i = 0; i < const_words.n; i++) {
        const char *word = const_words.items[i], *equals = strchr(word, '=');
        if (!equals || equals == word || !equals[1])
            return complain(MISUSED, "--const takes NAME=NUMBER or NAME=FILE.npy, not '%s'", word);
    }
    return DONE;
}

/* The input, or the Params that are its default; NULL: there is none. */
static const xir_value *input_of(const xir_network *net, xir_str name) {
    const xir_value *v = xir_network_value_by_name(net, name);
    const xir_op *input = xir_network_input_op(net);
    const bool is = v && (xir_params_is_default(v) || (input && xir_value_op(v) == input));
    return is ? v : NULL;
}

/* An array of a number, or of a file. */
static xir_array *array_for(const xir_value *v, const char *value, int *code, xir_diags *why) {
    char *end;
    const double number = strtod(value, &end);
    if (end == value || *end) {
        xir_array *array = read_array(value, code, why);
        if (!*code) *code = recast(&array, xir_value_type(v), why);
        return array;
    }
    const xir_str name = xir_value_name(v);
    if (!xir_type_as_tensor(xir_value_type(v))) {
        *code = complain(FAULTY, "--const %.*s=%s: the input has no type, which a file would give it", (int)name.size,
                         name.data, value);
        return NULL;
    }
    const xir_type *type = xir_type_with_known_dims(context, xir_value_type(v), 1, why);
    xir_diags *said = new_diags();
    xir_array *array = type ? xir_array_filled(context, type, number, said) : NULL;
    const bool wrong = type && !array && xir_diags_count(said) && xir_diags_at(said, 0)->code == XIR_E_BOUNDS;
    *code = array   ? DONE
            : wrong ? complain(MISUSED, "--const %.*s=%s: the elements of the input cannot be this number",
                               (int)name.size, name.data, value)
                    : no_memory();
    xir_diags_free(said);
    return array;
}

int fix_inputs(xir_network *net, xir_diags *why) {
    int code = DONE;
    for (size_t i = 0; i < const_words.n && !code; i++) {
        const char *value;
        const xir_str name = input_name(net, const_words.items[i], &value);
        const xir_value *v = input_of(net, name);
        if (!v) return complain(MISUSED, "--const %s: the network has no such input any more", const_words.items[i]);
        xir_array *array = array_for(v, value, &code, why);
        if (!code) code = exit_of(xir_network_fix_input(net, name, array, why));
        xir_array_free(array);
    }
    return code;
}
