/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* local LIBXIR PLUGIN KEY: opens the library as Python opens modules, so that no other object sees its names, and
 * loads a plug-in, which is linked with no library. The class of the plug-in must then exist. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <xir/plugin.h>

static void *library;

/* A function of the library; if it is missing, the program ends. */
static void *function(const char *name) {
    void *found = dlsym(library, name);
    if (!found) fprintf(stderr, "%s is missing\n", name);
    return found;
}

#define FUNCTION(result, name, ...)                                              \
    union { void *object; result (*call)(__VA_ARGS__); } name = { function(#name) }; \
    if (!name.object) return 1

int main(int argc, char **argv) {
    if (argc != 4 || !(library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL))) {
        fprintf(stderr, "%s\n", argc == 4 ? dlerror() : "usage: local LIBXIR PLUGIN KEY");
        return 1;
    }
    if (dlsym(RTLD_DEFAULT, "xir_version")) {
        fputs("the library's names are seen before a plug-in needs them\n", stderr);
        return 1;
    }
    FUNCTION(xir_context *, xir_context_new, const xir_allocator *);
    FUNCTION(void, xir_context_free, xir_context *);
    FUNCTION(xir_diags *, xir_diags_new, xir_context *);
    FUNCTION(void, xir_diags_free, xir_diags *);
    FUNCTION(void, xir_diags_print, const xir_diags *, FILE *);
    FUNCTION(xir_status, xir_plugin_load, xir_context *, const char *, xir_diags *);
    FUNCTION(const xir_class *, xir_class_find, xir_context *, xir_str);
    xir_context *ctx = xir_context_new.call(NULL);
    xir_diags *why = xir_diags_new.call(ctx);
    xir_status status = xir_plugin_load.call(ctx, argv[2], why);
    xir_diags_print.call(why, stderr);
    const xir_class *cls = xir_class_find.call(ctx, (xir_str){ argv[3], strlen(argv[3]) });
    xir_diags_free.call(why);
    xir_context_free.call(ctx);
    return status != XIR_OK || !cls;
}
