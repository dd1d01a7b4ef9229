/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Small networks as text, a line or ';' for each op, so that before and after can be read next to each other:
 *
 *     x: NHWC 1 8 8 3          an input of fp32 ("x: fp16 2 3": another type; the default layout is `*` per dim)
 *     w: params 3 = 1 2 3      Params with these elements; without "= …" with numbers that depend on the name;
 *                              "= none": without bytes
 *     h: 0.5                   Params of one element, of rank 0
 *     s = Sigmoid x            an op of the class whose key ends so; the op and its first output are called s
 *     y = Add x s [beta=-1]    with attributes; "-" is an absent input; "a, b = …" has two outputs; a list is 1,2, a
 *                              tensor type fp32,1,6
 *     out y                    a result of the network
 *
 * An op of an unregistered class ("onnx::Relu") belongs to a dialect: its attributes are undeclared, and its outputs
 * have the type of its first input. Ops are printed in order, with attributes that differ from their defaults;
 * Params and types are not printed. */
#ifndef SUPPORT_STORY_H
#define SUPPORT_STORY_H

#include "support/net.h"

/* The network, which must be sound; otherwise the test fails and names the line. */
xir_network *story_net(const char *text);
xir_network *story_net_in(xir_context *with, const char *text);   /* NULL if memory runs out */
/* Its ops as text, "s = Sigmoid x; y = Add x s [beta=-1]; out y". Free it. */
char *story_text(const xir_network *net);
/* The value with a name, or the op that makes it. */
xir_value *story_value(const xir_network *net, const char *name);
xir_op    *story_op(const xir_network *net, const char *name);

/* Checks that both compute the same from the same random inputs, within 1e-5; otherwise the test fails and names the
 * first difference. */
void check_same_numbers(const xir_network *a, const xir_network *b, const char *file, int line);
#define CHECK_SAME_NUMBERS(a, b) check_same_numbers(a, b, __FILE__, __LINE__)

void check_story(const xir_network *net, const char *expected, const char *file, int line);
#define CHECK_STORY(net, expected) check_story(net, expected, __FILE__, __LINE__)

#endif
