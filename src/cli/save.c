/* wick save, wick compile: programs to archives. */
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

enum { MAX_PRESERVED = 1000 };

wick_status model_freeze(wick_module **module, const char *preserved, wick_error **error) {
  const char *names[MAX_PRESERVED];
  size_t count = 0;
  char *copy = strdup(preserved ? preserved : ""), *rest = copy;
  if (!copy) {
    *error = wick_error_new(WICK_OUT_OF_MEMORY, "out of memory");
    return WICK_OUT_OF_MEMORY;
  }
  for (char *name; count < MAX_PRESERVED && (name = strsep(&rest, ","));)
    if (*name) names[count++] = name;
  wick_module *frozen;
  wick_status status = wick_module_train(*module, 0, error);
  if (!status) status = wick_module_freeze(NULL, *module, names, count, &frozen, error);
  free(copy);
  if (status) return status;
  wick_module_release(*module);
  *module = frozen;
  return status;
}

/* frozen: with `preserved` as it is in model_freeze. */
static int save(const char *path, const char *to, const char *entry, bool frozen, const char *preserved,
                const ModelOptions *model) {
  wick_error *error;
  wick_module *module = model_open(path, model, &error);
  if (!module) {
    if (error) complain_error(path, error);
    return EXIT_USAGE;
  }
  if (frozen && model_freeze(&module, preserved, &error)) {
    complain_error(path, error);
    wick_module_release(module);
    return EXIT_FAILED;
  }
  int result = EXIT_DONE;
  if (wick_module_save(NULL, module, to, entry, &error)) {
    complain_error(path, error);
    result = EXIT_FAILED;
  }
  wick_module_release(module);
  return result;
}

static int run_save(const Command *command, int count, char **words) {
  const char *to = NULL, *preserved = NULL;
  bool frozen = false;
  ModelOptions model = {.keep_devices = true};
  const Option options[] = {
      {"-o", OPTION_TEXT, &to, "OUT.pt  the archive to write"},
      {"--freeze", OPTION_FLAG, &frozen, "  parameters and other attributes as constants, in evaluation mode"},
      {"--preserve", OPTION_TEXT, &preserved,
       "A,B  with --freeze: methods besides forward, and attributes (inner.weight), that stay"},
      MODEL_OPTIONS(model),
      {0},
  };
  int result;
  if (!options_parse(command, options, &count, words, 1, &result)) return result;
  if (!to) {
    complain(NULL, "where to? (-o OUT.pt)");
    return EXIT_USAGE;
  }
  if (preserved && !frozen) {
    complain(NULL, "--preserve is for --freeze");
    return EXIT_USAGE;
  }
  return save(words[0], to, NULL, frozen, preserved, &model);
}

static int run_compile(const Command *command, int count, char **words) {
  const char *to = NULL, *entry = NULL;
  ModelOptions model = {.keep_devices = true};
  const Option options[] = {
      {"-o", OPTION_TEXT, &to, "OUT.pt  the archive to write"},
      {"--entry", OPTION_TEXT, &entry, "NAME  the function to save (the first)"},
      MODEL_OPTIONS(model),
      {0},
  };
  int result;
  if (!options_parse(command, options, &count, words, 1, &result)) return result;
  if (!to || !is_source_file(words[0])) {
    complain(words[0], to ? "is no .py source" : "where to? (-o OUT.pt)");
    return EXIT_USAGE;
  }
  return save(words[0], to, entry, false, NULL, &model);
}

const Command command_save = {"save", "MODEL -o OUT.pt", "write a program as an archive", run_save};
const Command command_compile = {"compile", "SOURCE.py -o OUT.pt", "compile a function to an archive", run_compile};
