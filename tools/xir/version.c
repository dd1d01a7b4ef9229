/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* xir --version: what a report of a defect needs. */
#include <string.h>
#include <commit.h>    /* made by tools/CMakeLists.txt */
#include "cli.h"

static void print_json(void) {
    json_out j = { 0 };
    xir_format_info format = XIR_INIT(xir_format_info);
    json_open(&j, NULL, '{');
    json_str(&j, "version", xir_str_of(xir_version()));
    if (*XIR_COMMIT) json_str(&j, "commit", XIR_STR(XIR_COMMIT));
    else json_null(&j, "commit");
    json_uint(&j, "abi", XIR_ABI);
    json_open(&j, "libraries", '{');
    for (size_t i = 0; xir_dependency_name(i); i++)
        json_str(&j, xir_dependency_name(i), xir_str_of(xir_dependency_version(i)));
    json_close(&j, '}');
    json_open(&j, "formats", '[');
    for (size_t i = 0; xir_format_at(i, &format, NULL) == XIR_OK; i++) json_str(&j, NULL, xir_str_of(format.name));
    json_close(&j, ']');
    json_close(&j, '}');
    json_print(&j);
}

static void print_words(void) {
    xir_format_info format = XIR_INIT(xir_format_info);
    printf("xir %s", xir_version());
    if (*XIR_COMMIT) printf(" (%s)", XIR_COMMIT);
    printf("\nbinary interface %u\n", XIR_ABI);
    for (size_t i = 0; xir_dependency_name(i); i++)
        printf("%s%s %s", i ? ", " : "libraries: ", xir_dependency_name(i), xir_dependency_version(i));
    printf("\nformats:");
    for (size_t i = 0; xir_format_at(i, &format, NULL) == XIR_OK; i++) printf("%s %s", i ? "," : "", format.name);
    putchar('\n');
}

int print_version(int n, char **words) {
    if (n == 1 && strcmp(words[0], "--json") == 0) print_json();
    else if (n) return complain(MISUSED, "--version takes --json alone, not '%s'", words[0]);
    else print_words();
    return DONE;
}
