/* Small networks as text, a line or ';' each, so that before and after can be read beside each other:
 *
 *     x: NHWC 1 8 8 3          an input of fp32 ("x: fp16 2 3": of another type; without letters the layout is `*` per dim)
 *     w: params 3 = 1 2 3      Params with these elements; without "= …" with numbers that follow from the name; "= none": no bytes
 *     h: 0.5                   Params of one element, of rank 0
 *     s = Sigmoid x            an op of the class, found by the end of its key; its op and first output are called s
 *     y = Add x s [beta=-1]    with attributes; "-" is an absent input; "a, b = …" has two outputs
 *     out y                    what leaves the network
 *
 * An op of a class that nobody registered ("onnx::Relu") is one of a dialect: its attributes are undeclared, its
 * outputs are like its first input. Printed are the ops in order, with attributes that are not the default; Params
 * and types are not. */
#ifndef SUPPORT_STORY_H
#define SUPPORT_STORY_H

#include "support/net.h"

/* The network, which must be sound; the test fails, naming the line, if it is not. */
xir_network *story_net(const char *text);
xir_network *story_net_in(xir_context *with, const char *text);   /* NULL without memory */
/* Its ops as text, "s = Sigmoid x; y = Add x s [beta=-1]; out y". Free it. */
char *story_text(const xir_network *net);
/* The value, or the op that makes the value, of a name. */
xir_value *story_value(const xir_network *net, const char *name);
xir_op    *story_op(const xir_network *net, const char *name);

/* Whether both compute the same from the same random inputs, up to 1e-5; the test fails, naming the first
 * difference, if not. */
void check_same_numbers(const xir_network *a, const xir_network *b, const char *file, int line);
#define CHECK_SAME_NUMBERS(a, b) check_same_numbers(a, b, __FILE__, __LINE__)

void check_story(const xir_network *net, const char *expected, const char *file, int line);
#define CHECK_STORY(net, expected) check_story(net, expected, __FILE__, __LINE__)

#endif
