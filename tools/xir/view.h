/* What the files of xir view share. */
#ifndef XIR_TOOL_VIEW_H
#define XIR_TOOL_VIEW_H

#include "cli.h"

/* Reads the files of --data into the options, which view_free_data frees, after a failure too. */
int  view_read_data(const word_list *names, xir_draw_options *how);
void view_free_data(xir_draw_options *how);

#endif
