/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Shared by help.c and man.c: how the tables of commands become sentences. */
#ifndef HELP_H
#define HELP_H

#include "cli.h"

/* The meanings of exit codes. The list ends with a NULL. */
typedef struct exit_meaning { const char *code, *meaning; } exit_meaning;
extern const exit_meaning exit_meanings[];
/* The meaning for a command (NULL: for all); NULL if the command does not use the code. */
const char *exit_meaning_of(const exit_meaning *e, const command *cmd);

/* The title over the options of a group, "Options of proofs". */
const char *option_group_title(option_group group);

/* "Runs passes. Formats are detected …" */
void put_paragraph(text *t, const command *cmd);
void put_option_doc(text *t, const option *o);

/* Prints the manual page of a command; NULL: of the program. */
void print_man(const command *cmd);

#endif
