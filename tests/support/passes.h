/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Passes for tests: some change little, some are wrong on purpose. Their options say what they do. */
#ifndef SUPPORT_PASSES_H
#define SUPPORT_PASSES_H

#include <xir/xir.h>

/* Registers them all: each time the same declarations.
 *
 *   options{n,x,flag,word}   changes nothing; its settings are in passes_seen
 *   tag{key,value}           sets a tag of the network to an integer; it is a change if the tag had another value
 *   count-down{key}          decreases a positive tag by one
 *   ping, pong               undo each other's work forever
 *   needs-options, needs-both   do nothing; need options, and needs-options and tag
 *   liar                     changes the tag "lie" and reports no change; boaster reports 3 changes and makes none
 *   broken                   erases an op that others use: the network is no longer valid
 *   fails, mute              fail with a finding about the first op, or without one
 *   careless                 does not notice that a building call failed; clumsy notices and adds no finding of its own
 *   fast, max                do nothing; they belong to these levels
 */
void passes_for_tests(xir_context *ctx);

typedef struct passes_seen_s {
    int64_t n;
    double  x;
    bool    flag;
    char    word[64];
    bool    has_config;   /* the configuration has the key "seen" */
    size_t  runs;
} passes_seen_s;
extern passes_seen_s passes_seen;

#endif
