/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* System calls that fail, do less than requested, or end the process. The groups that include this are the program
 * faults, which has its own write, fsync, rename …, which the library's objects call. */
#ifndef SUPPORT_FAULTS_H
#define SUPPORT_FAULTS_H

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { GO_ON, FAIL, SHORT, NOTHING, KILL, CHANGE };

/* Calls are counted while `on` is set; call number `at` (from 1 on) suffers `what`. */
extern struct trouble {
    bool        on;
    int         what, error;
    unsigned    at, calls;
    const char *hit;
    void      (*change)(void);
    bool        no_exchange;     /* the file system has no call that exchanges names; set_fault keeps this */
} trouble;

void set_fault(int what, int error, unsigned at);

#if defined(__x86_64__) && !defined(__ILP32__)
#define HAVE_FAULTS 1
#else
#define HAVE_FAULTS 0
#endif

#endif
