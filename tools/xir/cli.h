/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Declarations for all commands. A function that fails has printed why on stderr; running out of memory ends the
 * program. */
#ifndef CLI_H
#define CLI_H

#include <stdio.h>
#include <xir/xir.h>

/* ---- exit codes ---------------------------------------------------------------------------------- */

enum {
    DONE    = 0,
    FAULTY  = 1,  /* the file is invalid, or the two differ                    */
    MISUSED = 2,  /* the command line makes no sense, or this build cannot     */
    REFUSED = 3,  /* the operating system refused to read, write or give memory; or a format cannot hold the network */
    INTERRUPTED = 128  /* plus the number of the signal that ended the program  */
};
/* From now on Ctrl-C, SIGTERM and SIGHUP end the program at once, with a sentence, and leave files unchanged; a signal
 * that is ignored at the start stays ignored. */
void end_on_signals(void);
/* Names a file that is removed if the program ends in the middle; the path lasts until another, or NULL, is named. */
void note_part(const char *path);
void abandon_part(void);     /* removes it; a signal handler may call this */

/* From now on, if a kernel crashes, the program names its op before the system ends it. The second is for a handler of
 * a signal that means a crash. */
void name_crashes(void);
void end_crashed(int signal_number);
/* Writes to stderr from a signal handler; what is not ASCII, or drives a terminal, becomes \xNN. */
void signal_put(xir_str s);

/* Returns the exit code for a failed call of the library. */
int exit_of(xir_status status);
/* The same of a call that writes a network: the system refuses, or the format cannot hold it; or the bytes of what was
 * read are not what it says of them. */
int exit_of_writing(xir_status status);
/* The same, by the first error of a list; one with a byte is a fault of a file. */
int code_of(const xir_diags *why);
/* "xir: out of memory", unless a finding has reported it. Returns REFUSED. */
int no_memory(void);
/* The exit code of a command: any failure after memory was refused is REFUSED, with a sentence. A command that could do
 * without the memory has succeeded. */
int blame_memory(int code);
extern const xir_allocator noting_allocator;   /* the context's, which notes what it refuses */

/* ---- commands and their options ------------------------------------------------------------------
 * All documentation of the command line comes from these tables: help.c prints them for people and for docs/xir.md,
 * man.c as manual pages, completion.c for shells. */

/* The kind of a word of the command line, for shells that complete it. */
typedef enum word_kind {
    WORD_NONE,      /* a flag has no argument                       */
    WORD_TEXT,      /* nothing that can be completed                */
    WORD_FILE,
    WORD_FOLDER,
    WORD_FORMAT,
    WORD_PASS,
    WORD_PIPELINE,  /* passes with commas and brackets between them */
    WORD_CLASS,     /* an operation or a target                     */
    WORD_LEVEL,
    WORD_COMMAND,
    WORD_SHELL,
    WORD_KINDS
} word_kind;

/* The groups in which help lists options. ORDER GROUP: help.c. */
typedef enum option_group {
    GROUP_COMMAND,
    GROUP_PROOF,
    GROUP_LIMITS,
    GROUP_FILES,
    GROUP_FORMAT,   /* of one format: its name is option.format */
    GROUPS
} option_group;

typedef struct option {
    const char *name;      /* "params": spelled --params; NULL ends a list             */
    const char *argument;  /* "P", for the help; NULL: a flag                          */
    word_kind   is;        /* what the argument is                                     */
    void       *to;        /* a const char * that gets the argument, a bool of a flag  */
    const char *doc;       /* a line                                                   */
    bool        many;      /* may be repeated: `to` is a list of words                 */
    option_group group;
    const char *format;    /* "fb", of GROUP_FORMAT: help explains it if that is the format of the line */
} option;

/* A line for a shell, in a folder with the files of examples/models, and what it does. Those of a command are run one
 * after the other by a test. */
typedef struct example {
    const char *line, *doc;   /* `line` NULL ends a list */
} example;

typedef struct word_list {
    const char **items;
    size_t       n;
} word_list;
void words_add(word_list *w, const char *word);

enum { MANY = 1 << 30 };

typedef struct command {
    const char   *name, *operands;
    word_kind     is;            /* what the operands are                              */
    const char   *doc;           /* a line, "prints the network as JSON"               */
    const char   *details;       /* a paragraph                                        */
    const char   *faulty;        /* what exit code 1 says here; NULL: it is not used   */
    const option *options;
    const example *examples;     /* at least one                                        */
    const char   *related;       /* commands, "opt check"                              */
    int           least, most;   /* how many operands; MANY: any number                */
    bool          bare;          /* needs no context                                   */
    bool          tries;         /* without operands it loads the plug-ins of the line itself, to try them */
    int         (*run)(int n, char **operands);
} command;

/* Each command is in the file of its name. The list ends with NULL. */
extern const command info_command, show_command, convert_command, extract_command, check_command, diff_command,
                     compare_command, reduce_command, opt_command, plan_command, trace_command, run_command,
                     calibrate_command, mix_command, test_command,
                     stats_command, view_command, ops_command,
                     passes_command, schema_command, help_command, completion_command;
extern const command *const commands[];
extern const option common_options[];    /* what every command takes                        */
extern const option program_options[];   /* what is given instead of a command           */

/* The command of a name. NULL after a complaint. */
const command *find_command(const char *name);

/* Sorts `argv` into options, which are stored, and operands, which are moved to its front. Returns their number,
 * or -1 if the line makes no sense. *help is set if --help is among the options: then nothing else counts. */
int parse_options(const command *cmd, int argc, char **argv, bool *help);
/* The same before the command, for what all commands take: moves *argc and *argv past it. False if it makes no
 * sense. */
bool parse_leading(int *argc, char ***argv);

void print_usage(FILE *out);
/* Prints the versions of XIR and its libraries; `words` may be --json. Returns the exit code. */
int  print_version(int n, char **words);
void print_help(const command *cmd, FILE *out);

/* Plug-ins that the command line names, which every command may have. */
extern word_list plugins;
int load_plugins(void);
int code_of_plugin(xir_status status);   /* that is not XIR_OK: the exit code */

/* Limits that the command line sets, which every command may have. */
typedef struct limit_options {
    const char *max_bytes, *max_unpacked, *max_values, *max_read_memory, *max_findings;
} limit_options;
extern limit_options limit_args;
int set_limits(void);

/* The word among `words` (NULL at the end) that was perhaps meant; NULL if none is near. */
const char *nearest(const char *word, const char *const *words);

/* ---- reporting what is wrong ---------------------------------------------------------------------- */

extern xir_context *context;

/* "xir: <sentence>" on stderr. Returns `code`. */
int complain(int code, const char *format, ...) XIR_PRINTF(2, 3);
/* The same with the name of a file first; control bytes of the name are escaped. */
int complain_of(int code, const char *file, const char *format, ...) XIR_PRINTF(3, 4);
/* Prints findings on stderr, in colour on a terminal, and forgets them; or keeps them. */
void say(xir_diags *why);
void say_and_keep(const xir_diags *why);
void say_more(size_t more);       /* how many findings are not printed; 0: nothing */
xir_diags *new_diags(void);

/* Flushes and closes stdout. Returns `code`, or REFUSED if a write failed. */
int close_output(int code);

/* ---- the terminal ---------------------------------------------------------------------------------- */

/* Returns the number of columns of a line of standard output, by COLUMNS or the terminal; SIZE_MAX if neither says. */
size_t terminal_width(void);
/* From now on standard output gets a table, whose lines are cut to that width; until table_end. */
void table_begin(void);
void table_end(void);

extern const char *colour_word;
#define COLOR_OPTION                                                                                                  \
    { "color", "WHEN", WORD_TEXT, &colour_word, "when to print colours: auto (on a terminal), always or never" }
/* Complains about another word of --color: MISUSED. */
int  check_colour(void);
/* Returns true if a file, stdout or stderr, shows colours: by --color, NO_COLOR and TERM. */
bool in_colour(FILE *out);
/* Begins a colour ("31" is red), or ends all ("0"), where colours are shown. */
void paint(FILE *out, const char *code);

/* ---- progress ------------------------------------------------------------------------------------- */

/* From now on the program does this, until progress_end; on a terminal a line on stderr says so if it takes long. Ends
 * what was begun before. Not for work that prints. */
void progress_begin(const char *verb, const char *name);
/* Sets the step that is done now: ": fold", ", sample 3 of 64". Nothing if no line would show it. */
void progress_step(const char *format, ...) XIR_PRINTF(1, 2);
/* Shows the pass that runs: for xir_pass_watch.before. */
xir_status progress_pass(void *user, const xir_pass_event *event);
/* Shows the op that is computed: for xir_run_options.cancel. Returns false. */
bool progress_op(void *user);
/* Shows how much of a file is read or written: for the member `progress` of xir_load_options and xir_save_options. */
void progress_bytes(void *user, uint64_t done, uint64_t total);
void progress_end(void);
/* "writing OUT"; nothing if that is the terminal itself. */
void progress_writing(const char *out);

/* ---- files that the program writes itself ---------------------------------------------------------- */

/* Fills a file. Returns the exit code; what stdio refuses is found afterwards. */
typedef int fill_fn(const void *user, FILE *file);
/* Writes a file, which then is complete or as it was: it is replaced, and so is the file that a symbolic link leads to.
 * Anything else, such as a pipe, is written to. Returns the exit code, after a sentence if it is not DONE. */
int write_whole(const char *out, fill_fn *fill, const void *user);
/* Fills a file with a text. */
fill_fn write_bytes;

/* ---- files that others shorten ------------------------------------------------------------------- */

/* If a mapped file has become shorter and its bytes are read, the program names it and ends: REFUSED. */
void watch_for_losses(void);
/* Names the mapped file that the address is in, for code that finds its bytes missing without a signal. */
void say_lost(const void *address);

/* ---- memory and text ----------------------------------------------------------------------------- */

void *take(size_t n, size_t size);            /* zeroed; give back with free */
void *resize(void *block, size_t size);
char *join(const char *a, const char *b);

/* A text that grows. Zero is the empty one. */
typedef struct text {
    char  *data;
    size_t size, room;
} text;
void    text_add(text *t, const void *bytes, size_t size);
void    text_put(text *t, const char *words);
void    text_printf(text *t, const char *format, ...) XIR_PRINTF(2, 3);
void    text_free(text *t);
xir_str text_of(const text *t);

/* The names that are nearest to a word, all equally near; perhaps none. They are not copied. */
enum { NEAR = 4 };
typedef struct near_names {
    xir_str names[NEAR];
    size_t  n, distance;
} near_names;
/* Offers a name; an empty one, or one that is offered again, is ignored. */
void near_add(near_names *near, const char *word, xir_str name);
/* "'conv1', 'conv2' or 'conv3'" */
void near_put(text *t, const near_names *near);

/* A text from a file, so that it cannot drive a terminal: control bytes and invalid UTF-8 become \xNN. */
void print_text(FILE *out, xir_str s);
/* The same at the end of a text. */
void text_shown(text *t, xir_str s);
/* At most `most` bytes of it, with "..." if there are more. */
void print_clipped(FILE *out, xir_str s, size_t most);

/* ---- JSON ---------------------------------------------------------------------------------------- */

void json_text(text *t, xir_str s);
void json_real(text *t, double v);
void json_object(text *t, const xir_object *object);   /* NULL: null */
void json_any(text *t, const xir_any *any);
void json_i64s(text *t, const int64_t *v, size_t n);

/* Members of a map or items of a list that is being printed: puts a comma before all but the first. `name` NULL: an
 * item. */
typedef struct json_out {
    text t;
    bool more;
} json_out;
void json_open(json_out *j, const char *name, char bracket);
void json_close(json_out *j, char bracket);
void json_member(json_out *j, const char *name);     /* the value follows in j->t */
void json_str(json_out *j, const char *name, xir_str s);
void json_int(json_out *j, const char *name, int64_t v);
void json_uint(json_out *j, const char *name, uint64_t v);
void json_bool(json_out *j, const char *name, bool v);
void json_null(json_out *j, const char *name);

/* Members dtype, shape and layout. */
void json_type(json_out *j, const xir_type *type);
/* Prints a whole text, with a line end, and frees it. */
void json_print(json_out *j);

/* ---- findings as JSON ------------------------------------------------------------------------------ */

/* From now on what is said on stderr is noted for --json, too. */
void note_findings(void);
void note_finding(const xir_diag *d);
void note_complaint(int code, const char *file, const char *sentence);   /* `file` NULL: about the command line */
void note_more(size_t more);
/* Standard output has JSON from now on. */
void json_begun(void);
/* The members exit_code, findings and more, of what was said since this was last called. Returns the exit code, which
 * is not `code` if memory ran out. */
int json_findings(json_out *j, int code);
/* Returns how many errors, warnings and notes were noted since then. */
size_t findings_of(xir_severity severity);
/* Of a command with --json that failed before it had a result: its findings and exit code are its result. */
int json_failure(int code);
/* The objects of several files: opens and closes a list if there is more than one. */
void json_files_begin(json_out *j, int n);
void json_files_end(json_out *j, int n);
/* Fails unless the operands are files that one command can read: standard input once, --params for one file. */
int check_files(int n, char **operands);
/* "FILE", or "<stdin>" for "-". */
const char *shown_name(const char *path);

/* The JSON of an object, without the quotes if it is one text. */
void object_words(text *t, const xir_object *object);
/* "@fp(32) NHWC [1,2,3]", for people. NULL: "no type". */
void type_words(text *t, const xir_type *type);

/* ---- files --------------------------------------------------------------------------------------- */

typedef struct loaded loaded;

/* A format of the context, as the library describes it; in static memory. */
typedef xir_format_info file_format;

const file_format *format_named(const char *word);   /* complains                                        */
/* By content, then by name; NULL: neither tells. */
const file_format *format_of(const void *head, size_t size, uint64_t total, const char *path);
const char   *suffix_of(const char *path);           /* after the last dot of the last name             */
const char   *format_words(void);
/* "json, pnnx": the formats for which a question is true, for sentences about options. */
const char   *formats_that(bool (*is)(const file_format *f));
bool          format_is_pair(const file_format *f);

/* A network and where it came from. Zero is nothing loaded. */
struct loaded {
    const char   *name;          /* as diagnostics call it                                */
    const char   *path;          /* NULL: standard input                                  */
    const file_format *format;
    bool          regular;       /* an ordinary file: it can be read again, and has files next to it */
    char         *bytes;         /* all of it, if it is not regular                       */
    size_t        size;
    xir_network  *net;
    const file_format *written_as;   /* the network is written in this format as it is read; NULL: it is not */
    char         *params_path;   /* where parameter bytes came from; NULL: nowhere        */
    char         *params_bytes;  /* of a parameter file that is not regular               */
    bool          alone;         /* the structure alone was read, and lacks bytes         */
};

/* The options of every command that loads. */
typedef struct load_options {
    const char *from, *params;
    bool        no_params, lazy, eager, as_calls;
} load_options;
extern load_options load_args;
#define FROM_OPTION                                                                                                   \
    { "from", "FORMAT", WORD_FORMAT, &load_args.from,                                                                 \
      "the format of the input, whatever its content and name: json, onnx, pnnx, ...; an unknown word lists all",      \
      .group = GROUP_FILES }
#define AS_CALLS_OPTION \
    { "as-calls", NULL, WORD_NONE, &load_args.as_calls, "DeepX: every line is a call, also one that fits a definition", \
      .group = GROUP_FORMAT, .format = "deepx" }
#define NO_PARAMS_OPTION                                                                                               \
    { "no-params", NULL, WORD_NONE, &load_args.no_params, "read the structure alone", .group = GROUP_FILES }
#define LAZY_OPTION                                                                                                    \
    { "lazy", NULL, WORD_NONE, &load_args.lazy, "map parameters instead of reading them", .group = GROUP_FILES }
/* Of commands that map without being asked. */
#define MAPPED_OPTIONS                                                                                                 \
    { "eager", NULL, WORD_NONE, &load_args.eager, "read parameters into memory instead of mapping them",               \
      .group = GROUP_FILES },                                                                                          \
    { "lazy", NULL, WORD_NONE, &load_args.lazy, "map parameters, as without this option", .group = GROUP_FILES }
#define PARAMS_OPTION                                                                                                 \
    { "params", "P", WORD_FILE, &load_args.params,                                                                    \
      "the parameters of a structure: the file of JSON or PNNX, the folder of DeepX", .group = GROUP_FILES }

/* Reads a structure; `path` "-" is standard input. Findings go to `why`. */
int load_structure(loaded *l, const char *path, const char *from, xir_diags *why);
/* For a format with parameters in a file next to it: reads the parameter bytes, from `params`, or if that is NULL from
 * the file next to it. If `params` is NULL and there is no such file, *found is false and that is not a failure. For
 * another format it is a failure to name a file. */
int load_params(loaded *l, const char *params, unsigned flags, bool *found, xir_diags *why);
/* For a format with parameters inside: reads all of the file again, as XIR_LOAD_… say, and its MD5, and discards it.
 * *found: there were parameters if they are needed. */
int check_inside(loaded *l, unsigned flags, bool *found, xir_diags *why);
/* Maps the parameters of a structure, if that is possible: the check of a dialect reads constants. It reports no faults
 * of the parameters, which are checked later; `why` is empty at the end. */
void take_constants(loaded *l, xir_diags *why);
/* Flags of loading, next to XIR_LOAD_…: parameters are mapped unless --eager is given; and if they are, their MD5 is
 * compared until the network is saved. */
enum { LOAD_MAPPED = 1 << 16, LOAD_MEANWHILE = 1 << 17 };
/* Structure and parameters, as load_args say, with a warning if needed parameters are missing. All findings
 * are printed. If the parameters alone are faulty, l->net has the structure nevertheless. */
int load(loaded *l, const char *path, unsigned flags);
void unload(loaded *l);

/* The options of every command that saves. */
typedef struct save_options {
    const char *to, *out_params, *align, *inside;
    bool        indent, plain, no_md5, external, no_ids;
} save_options;
extern save_options save_args;
#define OUT_PARAMS_OPTION                                                                                             \
    { "out-params", "Q", WORD_FILE, &save_args.out_params,                                                            \
      "the file that the parameters are written to, of a structure in JSON or PNNX", .group = GROUP_FILES }
#define INDENT_OPTION                                                                                                  \
    { "indent", NULL, WORD_NONE, &save_args.indent, "write JSON indented by four blanks",                              \
      .group = GROUP_FORMAT, .format = "json" }
#define ALIGN_OPTION                                                                                                  \
    { "align", "N", WORD_TEXT, &save_args.align,                                                                      \
      "fb: the offset of each parameter is a multiple of N, a power of two (4096; of those below 4096 bytes 64)",       \
      .group = GROUP_FORMAT, .format = "fb" }
#define NO_MD5_OPTION                                                                                                 \
    { "no-md5", NULL, WORD_NONE, &save_args.no_md5,                                                                   \
      "do not compute the MD5 of parameters: reading the file cannot compare them", .group = GROUP_FILES }
#define EXTERNAL_OPTION                                                                                               \
    { "external", NULL, WORD_NONE, &save_args.external,                                                               \
      "onnx: write constants of 1024 bytes and more to X.onnx.data, next to X.onnx",                                   \
      .group = GROUP_FORMAT, .format = "onnx" }
#define PLAIN_OPTION                                                                                                   \
    { "plain", NULL, WORD_NONE, &save_args.plain, "tsm: write a scrambled container plain",                            \
      .group = GROUP_FORMAT, .format = "tsm" }
#define INLINE_OPTION                                                                                                 \
    { "inline", "WORD", WORD_TEXT, &save_args.inside,                                                                 \
      "text: which parameters are in it: all, or none; without this, all if they take at most 16 KiB",                 \
      .group = GROUP_FORMAT, .format = "text" }
#define NO_IDS_OPTION                                                                                                 \
    { "no-ids", NULL, WORD_NONE, &save_args.no_ids, "text: write no ids, as in files that people write",               \
      .group = GROUP_FORMAT, .format = "text" }
#define TO_OPTION                                                                                                     \
    { "to", "FORMAT", WORD_FORMAT, &save_args.to,                                                                     \
      "the format of the output, whatever its name: json, fb, pnnx, ...; an unknown word lists all",                   \
      .group = GROUP_FILES }

/* The format of the output: the one that the user names, or by the name of the file. NULL after a complaint. */
const file_format *choose_output(const char *path);
/* Checks save_args for an output of this format. */
int check_save(const file_format *to, const char *out, xir_save_options *o);
/* Writes the network; all findings are printed. */
int save(loaded *l, const char *out, const file_format *to, const xir_save_options *o);

/* Returns true if some of its Params have no bytes and need some; whether some have bytes. */
bool lacks_params(const xir_network *net);
bool keeps_params(const xir_network *net);
/* All bytes of a structure file that is text, read again if necessary; *bytes is NULL if the file is not a text, or
 * after a failure. They are the caller's to free, unless they are l->bytes. */
int   structure_bytes(loaded *l, char **bytes, size_t *size);

/* Reports which old keys of classes a file has: they will be written as the new ones. */
int   note_old_keys(loaded *l, xir_diags *why);

/* The function that the library's writers call: `user` is a FILE. */
bool write_to(void *user, const void *data, size_t size);

/* "#17" is the id of an op; false: another word. */
bool read_op_id(const char *word, int64_t *id);

/* ---- names of inputs and dims ---------------------------------------------------------------------- */

extern word_list bind_words, shape_words, input_words, const_words;

/* Returns true if options name inputs or open dims. */
bool has_names(void);
/* Compares these names with a structure, before parameters are read and passes run. MISUSED after a complaint: the
 * network does not have a name. `file` is the network's. */
int  check_names(const xir_network *net, const char *file);

/* Complains about the name of an op that the network does not have; `meant` is the nearest one, or empty. `takes`
 * begins what the word should be: "--op takes". Returns MISUSED. */
int  no_such_op(const char *file, const char *takes, const char *word, const near_names *meant);

/* Complains about a word of --input that makes no sense without a network. */
int     check_inputs(void);
/* Splits a word of --input: the name of an input, or its position; and its file, which is the rest of the word. */
xir_str input_name(const xir_network *net, const char *word, const char **file);
/* A number below n. */
bool    read_position(xir_str word, size_t n, size_t *out);
/* The same for --const, whose inputs become constants when the network has been read. */
int     check_consts(void);
int     fix_inputs(xir_network *net, xir_diags *why);
/* Integers that a quantised type stores, as a device or another program dumps them, become elements of that type. */
int     take_stored(xir_array **array, const xir_type *like, xir_diags *why);
/* Gives an array the elements of a type that .npy files do not have. */
int     recast(xir_array **array, const xir_type *like, xir_diags *why);
/* Reads an array of a file: .npy, or a tensor of TensorStack. NULL with *code and a finding. */
xir_array *read_array(const char *path, int *code, xir_diags *why);

/* ---- open dims ------------------------------------------------------------------------------------- */

/* Adds the value for bind.dims, "a=1;b=2..3", ended by NUL; empty without the option. False: a word makes no sense. */
bool  binds_of_line(text *out);
/* Complains about a word that makes no sense, of --const too. */
int   check_binds(void);
/* The target of --target (NULL: none is named), with its core where it has some: "zhuge(330)". MISUSED with a
 * complaint. */
int find_target(const char *word, const xir_target **out);
/* The pipeline, with the pass bind first if the option is given and the pipeline does not have it. The caller's to
 * free. */
char *with_bind(const char *passes);
/* Runs the pass bind. */
int   bind_network(xir_network *net, xir_diags *why);
#define BIND_OPTION                                                                                                   \
    { "bind", "NAME=N[..M]", WORD_TEXT, &bind_words,                                                                  \
      "a number, or fewer values, for an open dim with a name (the pass bind)", .many = true },                        \
    { "const", "NAME=NUMBER|FILE", WORD_TEXT, &const_words,                                                           \
      "make an input a constant: a number for each of its elements, or the array of a .npy file", .many = true }

/* The same for to-xir.input-shape: "x=1,3;y=2:fp32". */
bool  shapes_of_line(text *out);
int   check_shapes(void);
/* An element type as input-shape has it, "fp32"; false: no word means it. */
bool  put_element(text *t, const xir_type *element);
/* Runs the pass to-xir with these shapes. */
int   convert_network(xir_network *net, xir_diags *why);
#define INPUT_SHAPE_OPTION                                                                                            \
    { "input-shape", "NAME=D,D,...[:ELEMENT]", WORD_TEXT, &shape_words,                                               \
      "to-xir: the shape of an input that the model leaves open, and its elements if it has no type (fp16 fp32 fp64 " \
      "bf16 tf32 bool, i8 i64 and u8 of any width)", .many = true }

/* ---- what a conversion adds ------------------------------------------------------------------------ */

/* By slot: true if an op only moves elements, for an op of the file that does more. `p` has recorded the conversion of
 * the network. The caller's to free; NULL without memory. */
bool    *find_added(const xir_provenance *p, const xir_network *net);
/* The ids of the ops that a recorder began with, ascending; the caller's to free. */
int64_t *source_ids(const xir_provenance *p, size_t *n);
/* Returns the index of an id in that list, or SIZE_MAX. */
size_t   source_at(const int64_t *ids, size_t n, int64_t id);
/* Puts the places in that list of the first `room` ops that an op stands for. False without memory. */
bool     sources_of(const xir_provenance *p, const xir_op *op, const int64_t *ids, size_t n_ids, size_t *out,
                    size_t room, size_t *n);

/* ---- how much is computed -------------------------------------------------------------------------- */

typedef struct work_options { const char *max_work, *max_op_work, *max_converted, *max_memory; } work_options;
extern work_options work_args;
#define CONSTANT_OPTIONS                                                                                              \
    { "max-work", "N", WORD_TEXT, &work_args.max_work,                                                                \
      "the most steps for all constants: a step is a multiply-add, another element operation counts as ten (2G)",     \
      .group = GROUP_LIMITS },                                                                                        \
    { "max-op-work", "N", WORD_TEXT, &work_args.max_op_work, "the most steps for the constant of one op (2G)",        \
      .group = GROUP_LIMITS },                                                                                        \
    { "max-converted", "N", WORD_TEXT, &work_args.max_converted,                                                      \
      "the most bytes that a conversion makes, besides 16 times those of parameters and texts (67108864)",            \
      .group = GROUP_LIMITS }
/* Gives the context the limits that the command line says. */
int limit_constants(void);
/* The numbers of --max-work and --max-memory; 0: not given. */
int max_work_of_line(uint64_t *out);
int max_memory_of_line(uint64_t *out);

/* ---- how many threads compute ---------------------------------------------------------------------- */

extern const char *threads_word;
#define THREADS_OPTION(of)                                                                                            \
    { "threads", "N", WORD_TEXT, &threads_word,                                                                       \
      "how many threads " of " (all processors); results do not depend on it" }
/* The number of --threads, or the number of processors that the program may use. */
int threads_of_line(size_t *out);

/* ---- counting classes ---------------------------------------------------------------------------- */

typedef struct tally {
    const xir_class **noted;
    size_t            n, room;
} tally;
typedef struct class_count {
    const xir_class *cls;
    size_t           n;
} class_count;
void   tally_add(tally *t, const xir_class *cls);
/* Most frequent first, then by key; the caller's to free. Empties the tally. */
size_t tally_counts(tally *t, class_count **out);

/* ---- running parts --------------------------------------------------------------------------------- */

/* Calls a function for each part of inputs that hold many along their first dim, with the arrays of that part; `parts`
 * is their number. Ends with the first failure. */
typedef xir_status part_fn(void *user, size_t i, size_t parts, const xir_array *const *in, xir_diags *why);
xir_status each_part(xir_value *const *inputs, const xir_array *const *arrays, size_t n_in, part_fn *run, void *user,
                     xir_diags *why);
/* Runs a network for each part of inputs that hold many along their first dim, and joins the outputs. */
xir_status run_each(const xir_network *net, xir_value *const *inputs, const xir_array *const *arrays, size_t n_in,
                    xir_array **out, size_t n_out, const xir_run_options *options, xir_diags *why);
/* Returns how many parts the arrays of the inputs have, the same number for all; 0 after a complaint. */
size_t     count_parts(xir_value *const *inputs, const xir_array *const *arrays, size_t n);
/* The i-th of so many parts of an array; NULL with a finding. */
xir_array *part_of(const xir_array *whole, size_t i, size_t parts, xir_diags *why);

#endif
