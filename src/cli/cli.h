/* The `wick` command: what its subcommands share. They use the public headers and nothing else of wick. */
#pragma once

#include <stdbool.h>

#include "wick/wick.h"

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

/* ---- options ---- */
typedef enum OptionKind {
  OPTION_FLAG,
  OPTION_TEXT,
  OPTION_INT,
  OPTION_REAL,
  OPTION_LIBRARY,
  OPTION_NO_LIBRARIES,
  OPTION_ENGINE,
  OPTION_CPUS
} OptionKind;
typedef struct Option {
  const char *name; /* "--threads" or "-o" */
  OptionKind kind;
  void *to; /* bool, const char *, long, double; unused for what is done at once: libraries, engine, processors */
  const char *help; /* "N  threads within one call" */
} Option;
typedef struct Command {
  const char *name, *usage, *summary;
  int (*run)(const struct Command *command, int count, char **words);
} Command;
/* Takes the options out of words; what is left are the positional words, at least `least`. false: *out_exit says how to
 * leave (help was shown, or a usage error). Options of every command that takes a model are added by model_options. */
bool options_parse(const Command *command, const Option *options, int *count, char **words, int least, int *out_exit);

extern const Command command_run, command_check, command_info, command_dump, command_ops, command_bench, command_save,
    command_compile;

/* ---- messages: `wick: file: message`, with the trace ---- */
void complain(const char *file, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Prints and frees the error. */
void complain_error(const char *file, wick_error *error);

/* ---- models ---- */
#define DEFAULT_DEVICE_MAP "*=cpu" /* of archives that the command opens: files of some other machine */
#define VALUE_OPTIONS ((wick_load_options){.size = sizeof(wick_load_options), .device_map = DEFAULT_DEVICE_MAP})
#define ARCHIVE_OPTIONS ((wick_load_options){.size = sizeof(wick_load_options), .mode = WICK_LOAD_MAP})
typedef struct ModelOptions {
  const char *device_map; /* NULL: the default, and what it replaced is told on standard error */
  bool keep_devices;     /* by default as written, where the archive's tensors allow it: what was recorded names them */
  bool read;             /* read the archive instead of mapping it */
  wick_runtime *runtime; /* NULL: the default */
  uint64_t deadline_ns;  /* for opening it, from then on; 0: none */
} ModelOptions;
#define MODEL_OPTIONS(m)                                                                                 \
  {"--device-map", OPTION_TEXT, &(m).device_map,                                                         \
   "MAP  what stands for devices that are not here: \"cuda=cpu\", \"*=cpu\""},                           \
      {"--read", OPTION_FLAG, &(m).read, "  read the archive and check its sums instead of mapping it"}, \
      {"--no-libraries", OPTION_NO_LIBRARIES, NULL, "  open none by itself that the program names"},     \
      {"--library", OPTION_LIBRARY, NULL,                                                                \
       "NAME  open a library of operators first: its name, or a file with a / in it"},                   \
      {"--engine", OPTION_ENGINE, NULL, "NAME  of quantized operators: qnnpack or onednn"}, {            \
    "--cpu", OPTION_CPUS, NULL, "LIST  run on these processors only: 0,2-3"                              \
  }
bool is_source_file(const char *path); /* ends in .py */
/* NULL: *error says why. */
wick_module *model_open(const char *path, const ModelOptions *options, wick_error **error);
/* Puts the frozen module, in evaluation mode, in its place; the names of what stays as it is have commas between them,
 * NULL: nothing but forward. */
wick_status model_freeze(wick_module **module, const char *preserved_or_null, wick_error **error);
/* The whole file, terminated; the caller frees with free(). NULL: it was complained about. */
char *file_read(const char *path, size_t *out_length);
/* "forward", or the first function of a source. */
const char *model_default_method(const wick_module *module);

/* With places in the source or without; freed with wick_text_free. */
wick_status graph_text(const wick_graph *graph, bool with_source, char **out, wick_error **error);

/* ---- inputs ---- */
typedef struct Inputs {
  wick_value **values;
  size_t count, capacity;
} Inputs;
/* What words of the command line mean; false: it was complained about, and nothing is kept. */
bool inputs_read(Inputs *inputs, int count, char **words);
void inputs_dispose(Inputs *inputs);

/* ---- plans (dump_optimized.c) ---- */
typedef struct OptimizedDump {
  const char *path, *method, *pass; /* pass: its graphs are shown in place of the plans' */
  bool with_source, grad, kernels;  /* kernels: of the plans' fusion groups, in place of the graphs */
  long calls;
} OptimizedDump;
int dump_optimized(const OptimizedDump *dump, ModelOptions *model, int count, char **words); /* words: the inputs */

/* ---- comparing ---- */
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

/* ---- progress on a terminal (standard error); nothing elsewhere ---- */
void progress_show(const char *what, size_t done, size_t total);
void progress_clear(void);
uint64_t clock_ns(void); /* monotonic */
double clock_ms(void);
