/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* xir schema: the schema of a file format, for other programs, made from the classes that the program knows, those of
 * plug-ins included. */
#include "cli.h"

static bool fbs, json_schema;

static int run(int n, char **operands) {
    (void)n;
    (void)operands;
    if (fbs == json_schema) return complain(MISUSED, "schema takes --fbs or --json-schema");
    xir_diags *why = new_diags();
    xir_status status = (fbs ? xir_flat_schema : xir_json_schema)(context, write_to, stdout, why);
    say(why);
    xir_diags_free(why);
    return exit_of(status);
}

static const option options[] = {
    { "fbs", NULL, WORD_NONE, &fbs, "the FlatBuffers schema of .fb files" },
    { "json-schema", NULL, WORD_NONE, &json_schema, "a JSON Schema (draft 2020-12) of .json files" },
    { 0 },
};

const command schema_command = {
    .name = "schema", .operands = "--fbs | --json-schema", .is = WORD_NONE,
    .doc = "prints the schema of a file format",
    .details = "For flatc and for validators of JSON. The library's own readers check more: see xir check.",
    .examples = (const example[]){
        { "xir schema --fbs >xir.fbs", "Write the schema of .fb files, for flatc." },
        { NULL, NULL },
    },
    .related = "convert check",
    .options = options, .least = 0, .most = 0, .run = run,
};
