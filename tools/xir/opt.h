/* xir opt and xir passes: words that they share, and the parts of opt. */
#ifndef OPT_H
#define OPT_H

#include "cli.h"

/* XIR_LEVEL_EXACT of "exact", or of its number. 0: there is no such level. */
int level_of(const char *word);

/* The configuration that the command line gives, which `settings_free` takes back. False if it makes no sense. */
bool settings_of_line(xir_pass_settings *out);
void settings_free(xir_pass_settings *settings);
#define SETTINGS_OPTIONS \
    { "level", "N", &settings_args.level, "leave out passes above it: needed, exact, fast, max, or 1 to 4" },                 \
    { "disable", "P", &settings_args.disabled, "leave out a pass; may be repeated", .many = true },                           \
    { "require", "P", &settings_args.required, "run a pass whatever its level; may be repeated", .many = true },              \
    { "set", "KEY=VALUE", &settings_args.set, "PASS.OPTION=VALUE wherever the passes do not say it; may be repeated", .many = true }, \
    { "strict", NULL, &settings_args.strict, "an op that cannot be converted is an error" },                                  \
    { "input-shape", "NAME=D,D,...[:ELEMENT]", &settings_args.shapes, "the shape of an input that the model leaves open, and its elements if it has no type (fp16 fp32 fp64 bf16 tf32 bool, i8 i64 and u8 of any width); may be repeated", .many = true }, \
    { "bind", "DIM=N", &settings_args.binds, "the size of a dim that the model only names; may be repeated", .many = true },  \
    { "verify", NULL, &settings_args.verify, "check the network, and what each pass says of itself, after each pass" },       \
    { "no-needs", NULL, &settings_args.no_needs, "what passes need has been run already" },                                   \
    { "dump-dir", "D", &settings_args.dump_dir, "keep the network after each pass that changed it, as D/NN-PASS.json" }

typedef struct settings_options {
    const char *level, *dump_dir;
    bool        strict, verify, no_needs;
    word_list   disabled, required, set, shapes, binds;
} settings_options;
extern settings_options settings_args;

/* The proof that the command line asks for, NULL if it asks for none, and its watch. */
int  proof_of_line(xir_proof **out, xir_pass_watch *watch);
/* Says what was proven. FAULTY: nothing. */
int  proof_end(const xir_proof *proof, FILE *out);
void proof_free(xir_proof *proof);   /* accepts NULL */
#define PROVE_OPTIONS \
    { "prove", NULL, &prove_args.prove, "run the network after every pass that changed it: it must compute the same" },       \
    { "input", "NAME=F.npy", &prove_args.inputs, "an input for --prove; the others are random; may be repeated", .many = true }, \
    { "each", NULL, &prove_args.each, "inputs for --prove hold many along their first dim: run each" },                       \
    { "seed", "N", &prove_args.seed, "of the random inputs (0)" },                                                            \
    { "tolerance", "T", &prove_args.tolerance, "how far numbers may be apart, absolutely and relatively (1e-4)" }

typedef struct prove_options {
    bool        prove, each;
    word_list   inputs;
    const char *seed, *tolerance;
} prove_options;
extern prove_options prove_args;

/* What passes did and how long it took. */
void print_report(const xir_pass_report *report, FILE *out);

#endif
