/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Shared by the files of xir reduce: commands in processes of their own, each with its own file. */
#ifndef REDUCE_H
#define REDUCE_H

#include "cli.h"

enum { MOST_JOBS = 64 };

/* The end of a command. */
typedef struct ending {
    bool timed_out;
    int  code;      /* of exit, or 128 and the number of the signal      */
    int  job;       /* whose files have what it said                     */
} ending;

/* A folder for the candidates, one below it for each job; removed with all that is in it by bench_close. `name` is that
 * of the candidates. False after a complaint. */
bool  bench_open(const char *name, size_t jobs);
void  bench_close(void);
/* The path of a job's candidate. It is valid until bench_close. */
const char *bench_path(size_t job);
/* Removes what a run has left in the folder of a job, before the next candidate is written there. False after a
 * complaint. */
bool  bench_clear(size_t job);

/* Runs a shell command for each of the jobs 0 to n - 1 at the same time, with {} for the path of its candidate, and
 * waits for them, `seconds` at most (0: no limit). `ends` is asked when one has ended: true means that those after it
 * are not needed, and they are ended. An ending whose `code` is -1 was not needed. What a command has started ends with
 * it. False if the program is to end. */
bool  bench_run(const char *words, size_t n, double seconds, bool (*ends)(const ending *e), ending *out);
/* The signal that asks the program to end; 0: none has come. From bench_open on it does not end at once. */
int   bench_interrupted(void);

/* The output of a job's command: all of its standard error, and the first of its findings that is not a note or a
 * warning, without names, numbers and the path of the candidate. The caller's to free. */
char *bench_said(size_t job);
char *bench_finding(size_t job);

#endif
