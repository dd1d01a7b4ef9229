/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The list of names that a conversion to a format writes if its option `names` asks for one: a line for each value and
 * op, with what it is, the number or name that it has in the format's file, and its name in the network. */
#include <string.h>
#include "walk/lost.h"
#include "manager/pass.h"

bool name_list_is_offered(const xir_pass_decl *decl) {
    xir_pass_option row;
    return pass_option_named(decl, XIR_STR("names"), &row) != PASS_NO_OPTION;
}

xir_str name_list_path(const xir_pass *pass) {
    return name_list_is_offered(pass->decl) ? xir_pass_text(pass, "names") : XIR_STR("");
}

xir_status name_list_open(name_list *n, xir_pass *pass) {
    const xir_str path = name_list_path(pass);
    n->is_open = false;
    if (!path.size) return XIR_OK;
    if (path.size >= sizeof n->path) return xir_pass_fail(pass, XIR_E_INVALID, NULL, "names: the path is too long");
    memcpy(n->path, path.data, path.size);
    n->path[path.size] = '\0';
    const xir_status status = file_open(&n->file, xir_pass_context(pass), n->path, pass->why);
    n->is_open = !status;
    return status;
}

/* A name without the characters that end a field. */
static void put_field(name_list *n, xir_str text) {
    size_t from = 0;
    for (size_t i = 0; i < text.size; i++) {
        const char c = text.data[i];
        if (c != '\t' && c != '\n' && c != '\\') continue;
        file_write(&n->file, text.data + from, i - from);
        file_write(&n->file, c == '\t' ? "\\t" : c == '\n' ? "\\n" : "\\\\", 2);
        from = i + 1;
    }
    if (from < text.size) file_write(&n->file, text.data + from, text.size - from);
}

void name_list_put(name_list *n, xir_str what, xir_str there, xir_str name) {
    if (!n->is_open) return;
    put_field(n, what);
    file_write(&n->file, "\t", 1);
    put_field(n, there);
    file_write(&n->file, "\t", 1);
    put_field(n, name);
    file_write(&n->file, "\n", 1);
}

xir_status name_list_close(name_list *n, bool ok) {
    if (!n->is_open) return XIR_OK;
    n->is_open = false;
    if (ok) return file_commit(&n->file);
    file_abort(&n->file);
    return XIR_OK;
}
