/* Passes for tests: some change little, some are wrong on purpose. What they are told to do is in their options. */
#ifndef SUPPORT_PASSES_H
#define SUPPORT_PASSES_H

#include <xir/xir.h>

/* Registers them all: each time the same declarations.
 *
 *   options{n,x,flag,word}   changes nothing; what it was told is in passes_told
 *   tag{key,value}           sets a tag of the network to an integer, a change if it had another
 *   count-down{key}          makes a positive tag one less
 *   ping, pong               undo each other's work for ever
 *   needs-options, needs-both   do nothing, and need options; needs-options and tag
 *   liar                     changes the tag "lie" and says nothing; boaster says 3 changes, and makes none
 *   broken                   takes an op out that others use: not valid any more
 *   fails, mute              fail with a finding of the first op, or without one
 *   careless                 does not notice that a building call failed; clumsy notices and says nothing of its own
 *   fast, max                do nothing, on these levels
 */
void passes_for_tests(xir_context *ctx);

typedef struct passes_told_s {
    int64_t n;
    double  x;
    bool    flag;
    char    word[64];
    bool    has_config;   /* the configuration has the key "seen" */
    size_t  runs;
} passes_told_s;
extern passes_told_s passes_told;

#endif
