/* Tests that run again, with a number of threads and a path of the executor in the environment (tests/CMakeLists.txt).
 * XIR_TEST_AGAIN is set for them. */
#ifndef SUPPORT_AGAIN_H
#define SUPPORT_AGAIN_H

/* The path that the environment names for such a test, if this processor lacks it; otherwise NULL. Programs that are
 * linked with the public library alone do not have this function. */
const char *missing_path(void) __attribute__((weak));

#endif
