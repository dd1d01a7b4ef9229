/* What is true of a network at any time, whatever was done to it and whether or not it succeeded. */
#ifndef SUPPORT_INVARIANTS_H
#define SUPPORT_INVARIANTS_H

#include <xir/network.h>

/* Asking for an id or an index makes tables, which changes what later edits have to keep: a test decides when. */
enum { ASK_NOTHING = 0, ASK_IDS = 1, ASK_INDEX = 2, ASK_ALL = ASK_IDS | ASK_INDEX };

/* Returns NULL, or a sentence (static) that says what is wrong:
 *   - the order is a list both ways, as long as is said, of placed ops whose positions grow;
 *   - sub ops are their parent's, and in no order;
 *   - an input is in the list of its value and nowhere else; a list has nothing but inputs; both are of this network;
 *   - ids are unique, below the next one, and found (ASK_IDS) or at least not found wrongly; what has left is not found;
 *   - Params in use have ids, and are counted;
 *   - positions are found both ways (ASK_INDEX). */
const char *broken_invariant(xir_network *net, unsigned ask);

#endif
