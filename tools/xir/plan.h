/* What the parts of xir plan share. */
#ifndef CLI_PLAN_H
#define CLI_PLAN_H

#include "cli.h"

/* --limit and --effort. */
extern const char *plan_limit, *plan_effort;

/* Plans the buffers of a file, "-" for standard input, and prints them with their offsets. */
int plan_csv(const char *path);

#endif
