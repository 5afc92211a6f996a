/* The `wick` command: a client of the public headers. This is what its subcommands share; besides it:
 *
 *   cli/literal.h   values in words of the command line
 *   cli/json.h      what --json prints
 *   cli/output.h    where results go: the terminal, files
 *   cli/stream.h    calls: one, or one for each piece of an input
 *   cli/hint.h      inputs that could have been typed
 *   cli/media.h     pictures, sound, tables
 *   cli/image.h     each format of pictures
 *   cli/deflate.h   what PNG packs pixels with
 *   cli/wav.h       sound without a library
 *   cli/bench.h     measured calls
 *   cli/energy.h    what they take of energy
 *   cli/flame.h     flame graphs
 *   cli/complete.h  what words can come next, for shells
 *   cli/steps.h     graphs after steps, and as pictures
 *   cli/view.h      pages for a browser
 *   cli/view_page_data.h   what view/ has, embedded */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "wick/compile.h"
#include "wick/graph.h"

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

/* ---- options (options.c) ---- */
typedef enum OptionKind {
  OPTION_FLAG,
  OPTION_FLAG_INT, /* a flag that a number may follow */
  OPTION_TEXT,
  OPTION_TEXTS, /* may be given several times */
  OPTION_INT,
  OPTION_REAL,
  OPTION_MODEL, /* stands for those of every command that opens a model; to: ModelOptions */
  OPTION_LIBRARY,
  OPTION_NO_LIBRARIES,
  OPTION_ENGINE,
  OPTION_TORCH,
  OPTION_CPUS
} OptionKind;
enum { MAX_TEXTS = 100 };
typedef struct Texts {
  const char *items[MAX_TEXTS];
  size_t count;
} Texts;
typedef struct FlagInt {
  bool is_set;
  long number; /* left alone where none follows */
} FlagInt;
typedef struct Option {
  const char *name; /* "--threads" or "-o" */
  OptionKind kind;
  /* bool, FlagInt, const char *, Texts, long, double, uint32_t (of PyTorch); unused for what is done at once: libraries,
   * engine, processors */
  void *to;
  const char *argument, *help; /* "N"; NULL: it takes none */
} Option;
typedef struct Command {
  const char *name, *usage, *summary;
  int (*run)(const struct Command *command, int count, char **words);
} Command;
/* Whether the word after the option is its value. word NULL: there is none. */
bool option_takes(const Option *option, const char *word);
/* Takes the options out of words; what is left are the positional words, `least` to `most` of them. false: *out_exit
 * says how to leave (help was shown, or a usage error). */
bool options_parse(const Command *command, const Option *options, int *count, char **words, int least, int most,
                   int *out_exit);
enum { ANY_WORDS = 1 << 20 };
/* What `wick help models` shows. */
void options_show_models(void);

extern const Command command_run, command_check, command_info, command_dump, command_ops, command_bench,
    command_profile, command_save, command_compile, command_view;

/* ---- text for people (show.c): control characters are spelled, whoever wrote them ---- */
/* As printf, to standard output; the length of what was written. */
int show(const char *format, ...) __attribute__((format(printf, 1, 2)));
void show_text(FILE *to, const char *text);
/* In one line, with spaces up to the width. */
void show_name(FILE *to, const char *name, int width);
/* The first `most` bytes at most, in one line, on standard output. */
void show_start(const char *text, size_t most);
/* Everything so far is to be there. false: not all of the standard output could be written, which was complained about
 * once. */
bool show_finish(void);

/* ---- messages: `wick: file: message`, with the trace (message.c) ---- */
void complain(const char *file, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Prints and frees the error. */
void complain_error(const char *file, wick_error *error);
/* What was complained about, in order, of many the first; NULL: no such index. */
const char *complaint_at(size_t index);

/* ---- did you mean? (suggest.c) ---- */
typedef const char *NameAt(const void *user, size_t index); /* NULL: there are no more */
/* The name that is most like the word, or NULL when none is. */
const char *suggest(const char *word, NameAt *name_at, const void *user);
/* Complains that a file is not there, with the one in its folder that is most like it. false: it is there. */
bool complain_missing_file(const char *path);

/* ---- models (model.c) ---- */
#define DEFAULT_DEVICE_MAP "*=cpu" /* of archives that the command opens: files of some other machine */
#define VALUE_OPTIONS ((wick_load_options){.size = sizeof(wick_load_options), .device_map = DEFAULT_DEVICE_MAP})
#define ARCHIVE_OPTIONS ((wick_load_options){.size = sizeof(wick_load_options), .mode = WICK_LOAD_MAP})
typedef struct ModelOptions {
  const char *device_map; /* NULL: the default, and what it replaced is told on standard error */
  uint32_t torch_version; /* 0: as the archive says */
  const char *device;     /* where parameters, buffers and inputs go; NULL: where they are */
  bool keep_devices;     /* by default as written, where the archive's tensors allow it: what was recorded names them */
  bool read;             /* read the archive instead of mapping it */
  wick_runtime *runtime; /* NULL: the default */
  uint64_t deadline_ns;  /* for opening it, from then on; 0: none */
  const Texts *uses;     /* NAME=FILE: what names of a source stand for (bind.c); NULL: none */
} ModelOptions;
bool is_source_file(const char *path); /* ends in .py */
/* What programs print goes to standard error: the standard output has an object of JSON. The caller releases the
 * runtime. false: it was complained about. */
bool model_print_aside(ModelOptions *options);
/* NULL: *error says why, or it was complained about. */
wick_module *model_open(const char *path, const ModelOptions *options, wick_error **error);
/* The tensors of it, also in lists, tuples and dicts, there; NULL: *error says why. */
wick_value *value_on_device(const wick_value *value, const char *device, wick_error **error);
/* A list, tuple or dict of the same keys whose items are what `map` makes of each, one level deeper. NULL: no memory,
 * or `map` gave NULL; error may be NULL. */
typedef wick_value *ItemMap(const wick_value *item, int nesting, void *context);
wick_value *container_of_mapped(const wick_value *container, ItemMap *map, int nesting, void *context,
                                wick_error **error);
/* Waits for what is still computed of it on devices. */
wick_status value_wait_for_devices(const wick_value *value, wick_error **error);
/* Puts the frozen module, in evaluation mode, in its place; the names of what stays as it is have commas between them,
 * NULL: nothing but forward. */
wick_status model_freeze(wick_module **module, const char *preserved_or_null, wick_error **error);
/* The whole file, terminated; the caller frees with free(). NULL: it was complained about. */
char *file_read(const char *path, size_t *out_length);
/* "forward", or the first function of a source. */
const char *model_default_method(const wick_module *module);
/* false: it is not there, which was complained about. */
bool model_has_method(const char *path, const wick_module *module, const char *method);

/* ---- names of a source bound to files (bind.c) ---- */
typedef struct Bindings Bindings;
/* NULL: it was complained about. */
Bindings *bindings_open(const ModelOptions *options);
void bindings_free(Bindings *bindings); /* NULL is allowed */
wick_resolve_callback bindings_resolve; /* user: Bindings */

/* ---- training and evaluation (mode.c) ---- */
typedef enum Mode { MODE_AS_SAVED, MODE_EVAL, MODE_TRAIN } Mode;
/* From --eval and --train; false: both were given, which was complained about. */
bool mode_of(bool eval, bool train, Mode *out);
/* Sets it; where it stays as saved, warns of what behaves otherwise in training: operators with an argument for that,
 * in submodules that are in training mode.
 * false: it was complained about. */
bool mode_set(const char *path, wick_module *module, Mode mode);
/* How many of the module and its submodules are in training mode, and the path of the first. */
size_t mode_training(const wick_module *module, char *out_first, size_t size);
/* "training", "evaluation", "mixed"; "": the module has none. */
const char *mode_name(const wick_module *module);

/* With places in the source or without; freed with wick_text_free. */
wick_status graph_text(const wick_graph *graph, bool with_source, char **out, wick_error **error);

/* ---- inputs (inputs.c) ---- */
typedef struct Inputs {
  wick_value **values;
  const char **names; /* of the last named_count */
  size_t count, named_count;
} Inputs;
/* What words of the command line mean; false: it was complained about, and nothing is kept. */
bool inputs_read(Inputs *inputs, int count, char **words);
/* Puts their tensors on the device (NULL: they stay); false: it was complained about. */
bool inputs_move(Inputs *inputs, const char *device);
void inputs_dispose(Inputs *inputs);
/* A value from a file by its kind. false: it was complained about. */
bool input_file_read(const char *path, wick_value **out);
/* Raw float32 numbers: at most `most` of them, fewer at the end of the input. NULL: it was complained about. */
wick_value *input_floats_read(FILE *from, size_t most);

/* ---- inputs that the file holds (samples.c) ---- */
/* The words', or for the word `samples` those that the program was exported with. method NULL: what runs without one.
 * false: it was complained about. */
bool inputs_read_for(Inputs *inputs, const char *path, const char *method, int count, char **words);
/* After a call without inputs failed: says so where the file holds some. */
void samples_suggest(const char *path, const char *method);
/* For each program that has samples the name of their record, tensor NULL, then each tensor with its place. Damaged
 * ones are left out. */
typedef void SampleVisit(void *user, const char *name, const wick_value *tensor);
void samples_each(const char *path, SampleVisit *visit, void *user);

/* ---- plans (dump_optimized.c) ---- */
typedef struct OptimizedDump {
  const char *path, *method, *pass; /* pass: its graphs are shown in place of the plans' */
  bool with_source, grad, kernels;  /* kernels: of the plans' fusion groups, in place of the graphs */
  bool as_difference;               /* of all passes the lines that they changed */
  long calls;
  FILE *to;
} OptimizedDump;
int dump_optimized(const OptimizedDump *dump, ModelOptions *model, int count, char **words); /* words: the inputs */

/* The words of --stage (dump.c); NULL: there are no more. */
const char *dump_stage_at(size_t index);

/* The words of profile's --by (profile.c); NULL: there are no more. */
const char *profile_group_at(size_t index);

/* ---- comparing (compare.c) ---- */
typedef struct Tolerance {
  double rtol, atol;
  bool scaled; /* relative to the largest magnitude of the tensor */
} Tolerance;
enum { DIFFERENCE_BYTES = 600 };
/* false: `difference` (of DIFFERENCE_BYTES) says in one line where and how they differ; `where` names the value. */
bool values_agree(const wick_value *got, const wick_value *want, const Tolerance *tolerance, const char *where,
                  char *difference);

/* The same for strides that were recorded beside a value. */
bool strides_agree(const wick_value *got, const wick_value *want, const char *where, char *difference);

/* ---- what a program needs (ops.c) ---- */
typedef struct Needs {
  size_t operators, missing, without_gradient;            /* names */
  char missing_names[2000], without_gradient_names[2000]; /* "aten::a, aten::b"; ", ..." where there is no room */
} Needs;
/* false: it was complained about. */
bool needs_of(const char *path, const wick_module *module, Needs *out);

/* ---- progress on a terminal (standard error); nothing elsewhere (progress.c) ---- */
void progress_show(const char *what, size_t done, size_t total);
void progress_clear(void);
/* Shows for how long it takes, past a second, until progress_end. Nothing may be printed meanwhile. */
void progress_begin(const char *what); /* static */
void progress_end(void);
uint64_t clock_ns(void); /* monotonic; message.c */
double clock_ms(void);
