/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The losses of a network that becomes one of a format: names of values and ops, and the element types of its inputs
 * and outputs. What it had is noted before the conversion, and the names of the converted network before the format
 * gives its own. At the end both are compared: the names go to a list if the option `names` asks for one, and one note
 * says what is lost. */
#ifndef CONVERT_LOST_H
#define CONVERT_LOST_H

#include "node/node.h"
#include "file.h"

/* A name is lost, or the list has it, or the file of the format has it. */
typedef enum name_fate { NAME_LOST, NAME_LISTED, NAME_KEPT } name_fate;

/* An input or output of the network. */
typedef struct lost_end { xir_str name; const xir_type *element; } lost_end;

/* The name that a value or op has before the format gives its own. */
typedef struct had_name { const void *of; xir_str name; } had_name;

typedef struct lost {
    conversion   *c;
    text_table    values, ops;   /* names of values; names of ops that no value has -> the fate */
    xir_value   **first;         /* of each name in `values`: the first value that had it       */
    size_t        first_room;
    lost_end     *ends;          /* the inputs, then the outputs                                */
    size_t        n_inputs, n_outputs;
    bool          idle;          /* no name can be lost, and no list is asked for               */
    had_name     *had;           /* of the converted network, in the order of a walk            */
    size_t        n_had, had_room, next;
    pointer_table had_at;        /* index in `had`, once something is not met in this order     */
} lost;

/* Both return false without memory: the first notes what the network has, the second what the converted one has. */
bool       lost_begin(lost *l, conversion *c);
bool       lost_note_names(lost *l);
/* The end, after which the network is written as it is: writes the list of names, and adds the note. */
xir_status lost_report(lost *l, xir_pass *pass);
void       lost_free(lost *l);

/* names.c: the list of names, a file. Nothing is written unless it is open. */
typedef struct name_list {
    file_writer file;
    bool        is_open;
    char        path[FILE_PATH_ROOM];
} name_list;

/* Opens the list that the option `names` asks for. XIR_OK, or the status of a finding. */
xir_status name_list_open(name_list *n, xir_pass *pass);
/* A line: what it is, the number or name that the format's file gives it, and its name in the network. */
void       name_list_put(name_list *n, xir_str what, xir_str there, xir_str name);
/* Closes the list; `ok` false: nothing is written. */
xir_status name_list_close(name_list *n, bool ok);
/* Returns true if the pass has the option `names`; and its value, the path of the list, or "". */
bool       name_list_is_offered(const xir_pass_decl *decl);
xir_str    name_list_path(const xir_pass *pass);

#endif
