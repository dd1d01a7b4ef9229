/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* xir opt and xir passes: words that they share, and the parts of opt. */
#ifndef OPT_H
#define OPT_H

#include "cli.h"

/* XIR_LEVEL_EXACT of "exact", or of its number. 0: there is no such level. */
int level_of(const char *word);

/* The configuration that the command line gives, which `settings_free` takes back. False if it makes no sense. */
bool settings_of_line(xir_pass_settings *out);
void settings_free(xir_pass_settings *settings);
#define SETTINGS_OPTIONS                                                                                              \
    { "level", "N", WORD_LEVEL, &settings_args.level,                                                                 \
      "leave out passes above it: needed, exact, fast, max, or 1 to 4" },                                             \
    { "disable", "P", WORD_PASS, &settings_args.disabled, "leave out a pass", .many = true },                         \
    { "require", "P", WORD_PASS, &settings_args.required, "run a pass whatever its level", .many = true },            \
    { "set", "PASS.OPTION=VALUE", WORD_TEXT, &settings_args.set,                                                      \
      "the value of an option wherever the pipeline does not give one", .many = true },                               \
    { "strict", NULL, WORD_NONE, &settings_args.strict, "to-xir: an op that cannot be converted is an error" },       \
    INPUT_SHAPE_OPTION, BIND_OPTION,                                                                                  \
    { "verify", NULL, WORD_NONE, &settings_args.verify,                                                               \
      "validate the network after every pass, and compare what the pass says of itself with what it did" },           \
    { "no-needs", NULL, WORD_NONE, &settings_args.no_needs,                                                           \
      "do not add the passes that others need: they were run before" },                                               \
    { "dump-dir", "D", WORD_FOLDER, &settings_args.dump_dir,                                                          \
      "keep the network after each pass that changed it, as D/NN-PASS.json" }

typedef struct settings_options {
    const char *level, *dump_dir;
    bool        strict, verify, no_needs;
    word_list   disabled, required, set;
} settings_options;
extern settings_options settings_args;

/* --dump-text: takes the folder of dumps from the settings for a watch
 * that writes texts into it; false: the command line does not ask for them. */
bool dump_of_line(xir_pass_settings *settings, xir_pass_watch *watch);
int  dump_check_line(void);
int  dump_start(const xir_network *net, const xir_pass_watch *watch);   /* the network before all passes */
extern bool dump_as_text;
#define DUMP_TEXT_OPTION                                                                                              \
    { "dump-text", NULL, WORD_NONE, &dump_as_text,                                                                    \
      "--dump-dir: texts, D/NN-PASS.xir, whose second line has the pass with its options" }

/* Checks the options of a proof, before anything is read. */
int  proof_check_line(void);
/* The proof of a network that the command line asks for, NULL if it asks for none, and its watch. */
int  proof_of_line(const xir_network *net, xir_proof **out, xir_pass_watch *watch);
/* If the weights of a network that is to be proven are all zeros: a copy with other weights, and a proof of its own for
 * it with its watch. Otherwise both are NULL. */
int  proof_filled(const xir_network *net, xir_network **copy, xir_proof **out, xir_pass_watch *watch);
/* Says what was proven, of the network or of the copy with other weights; `out` NULL: nothing is printed. FAULTY:
 * nothing. */
int  proof_end(const xir_proof *proof, bool filled, FILE *out);
/* The member `proof`, and in it `filled`, which NULL leaves out; `proof` NULL: null. */
void put_proof(json_out *j, const xir_proof *proof, const xir_proof *filled);
void proof_free(xir_proof *proof);   /* accepts NULL */
/* Writes the parts of a divided network, and their index, to a folder. */
int  split_network(const xir_network *net, const char *dir);
#define PROVE_OPTIONS                                                                                                 \
    { "prove", NULL, WORD_NONE, &prove_args.prove,                                                                    \
      "run the network after every pass that changed it, on the same inputs, and compare the outputs",                \
      .group = GROUP_PROOF },                                                                                         \
    { "input", "NAME=F.npy", WORD_FILE, &input_words,                                                                 \
      "an input of --prove, by its name or position, also a tensor F.t of TensorStack; just F.npy if there is one "   \
      "input; the others are random", .many = true, .group = GROUP_PROOF },                                           \
    { "each", NULL, WORD_NONE, &prove_args.each, "inputs of --prove hold many along their first dim: run each",       \
      .group = GROUP_PROOF },                                                                                         \
    { "seed", "N", WORD_TEXT, &prove_args.seed, "the seed of the random inputs (0)", .group = GROUP_PROOF },          \
    { "tolerance", "T", WORD_TEXT, &prove_args.tolerance,                                                             \
      "how far two numbers may be apart, absolutely and relatively (1e-4)", .group = GROUP_PROOF },                   \
    { "max-memory", "N", WORD_TEXT, &work_args.max_memory,                                                            \
      "the most bytes that inputs, values and kernels of --prove may take at one moment (no limit)",                  \
      .group = GROUP_PROOF },                                                                                         \
    THREADS_OPTION("compute constants, and networks of --prove")

typedef struct prove_options {
    bool        prove, each;
    const char *seed, *tolerance;
} prove_options;
extern prove_options prove_args;

/* Prints the changes and the times of passes. */
void print_report(const xir_pass_report *report, FILE *out);
/* The same as the member `passes`. */
void put_report(json_out *j, const xir_pass_report *report);

#endif
