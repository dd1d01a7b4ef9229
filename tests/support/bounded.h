/* An allocator that counts what one trial asks for, and refuses what no trial may ask for. Work is measured by it: a
 * rule or a kernel that is led astray by a hostile file asks for memory again and again, or for much at once. */
#ifndef SUPPORT_BOUNDED_H
#define SUPPORT_BOUNDED_H

#include <stddef.h>

/* Of one block: the arrays of a type may have a million items, whatever a file says. */
enum { BOUNDED_MOST = 64 << 20 };

typedef struct bounded_counts {
    size_t calls, bytes;   /* how often memory was asked for, and how much was given in all */
    size_t largest;        /* the largest block that was asked for                            */
} bounded_counts;

/* Since bounded_start. */
extern bounded_counts bounded;
void bounded_start(void);

/* Set `ctx` and `why` up on this allocator, and down; the latter fails if a block is left. */
int bounded_begin(void **state);
int bounded_end(void **state);

#endif
