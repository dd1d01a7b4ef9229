/* A test that cannot run says why, and CTest shows it: a program of which every test was skipped exits with 77, and
 * each skip is a line of the file that XIR_SKIPS names, which scripts/skips.sh holds against the list of those that
 * may be. */
#ifndef SUPPORT_SKIPS_H
#define SUPPORT_SKIPS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* Ends the test; the reason is a printf format and what belongs to it. Frees nothing. */
#define SKIP(...) skip_test(__func__, __VA_ARGS__)

__attribute__((format(printf, 2, 3))) void skip_test(const char *test, const char *format, ...);

/* The folder of real files, XIR_CORPUS; skips the test if there is none. */
#define CORPUS_OR_SKIP() corpus_or_skip(__func__)
const char *corpus_or_skip(const char *test);

#endif
