/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

// A user's program in C++; see main.c.
#include <xir/xir.h>

#include <iostream>
#include <string>

// A caller's struct begins with its size; a returned one is filled up to it.
static bool use_the_library()
{
    xir_context *ctx = xir_context_new(nullptr);
    xir_limits limits = XIR_INIT(xir_limits), unset = xir_limits();
    limits.max_depth = 50;
    bool failed = xir_context_set_limits(ctx, &limits, nullptr) != XIR_OK;
    limits.max_depth = 0;
    failed |= xir_context_limits(ctx, &limits, nullptr) != XIR_OK || limits.max_depth != 50;
    failed |= xir_context_set_limits(ctx, &unset, nullptr) != XIR_E_ABI;
    xir_context_free(ctx);
    return failed;
}

int main()
{
    const std::string version = xir_version(), expected = EXPECTED;

    std::cout << "C++: " << version << "\n";
    if (use_the_library()) return 2;
    return version.compare(0, expected.size(), expected) != 0;
}
