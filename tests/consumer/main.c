/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A user's program in C. It prints the version of the library that it runs with; EXPECTED is the version that the
 * package promised. */
#include <xir/xir.h>

#include <stdio.h>
#include <string.h>

int main(void)
{
    const char *version = xir_version();

    printf("C: %s\n", version);
    if (XIR_INIT(xir_load_options, .lazy = true).size != sizeof(xir_load_options)) return 2;
    return strncmp(version, EXPECTED, strlen(EXPECTED)) != 0;
}
