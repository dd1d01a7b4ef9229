/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Declarations for the files of xir view. */
#ifndef XIR_TOOL_VIEW_H
#define XIR_TOOL_VIEW_H

#include "cli.h"

/* Reads the files of --data into the options, which view_free_data frees, after a failure too. */
int  view_read_data(const word_list *names, xir_draw_options *how);
void view_free_data(xir_draw_options *how);

/* Binds the dims that the command line names. Gives a network of another format the types that its conversion infers,
 * and `how` the costs. `no_params`: the user wants the structure alone. The costs last until the second call. */
int  view_infer(loaded *l, bool no_params, xir_draw_options *how);
void view_infer_end(void);

#endif
