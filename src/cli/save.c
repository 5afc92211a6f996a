/* wick save, wick compile: programs to archives. */
#include <stdbool.h>
#include <stddef.h>

#include "cli/cli.h"

/* Puts the frozen module in its place. */
static wick_status freeze(wick_module **module, wick_error **error) {
  wick_module *frozen;
  wick_status status = wick_module_train(*module, 0, error);
  if (!status) status = wick_module_freeze(NULL, *module, NULL, 0, &frozen, error);
  if (status) return status;
  wick_module_release(*module);
  *module = frozen;
  return status;
}

static int save(const char *path, const char *to, const char *entry, bool frozen, const ModelOptions *model) {
  wick_error *error;
  wick_module *module = model_open(path, model, &error);
  if (!module) {
    if (error) complain_error(path, error);
    return EXIT_USAGE;
  }
  if (frozen && freeze(&module, &error)) {
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
  const char *to = NULL;
  bool frozen = false;
  ModelOptions model = {0};
  const Option options[] = {
      {"-o", OPTION_TEXT, &to, "OUT.pt  the archive to write"},
      {"--freeze", OPTION_FLAG, &frozen, "  parameters and other attributes as constants, in evaluation mode"},
      MODEL_OPTIONS(model),
      {0},
  };
  int result;
  if (!options_parse(command, options, &count, words, 1, &result)) return result;
  if (!to) {
    complain(NULL, "where to? (-o OUT.pt)");
    return EXIT_USAGE;
  }
  return save(words[0], to, NULL, frozen, &model);
}

static int run_compile(const Command *command, int count, char **words) {
  const char *to = NULL, *entry = NULL;
  ModelOptions model = {0};
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
  return save(words[0], to, entry, false, &model);
}

const Command command_save = {"save", "MODEL -o OUT.pt", "write a program as an archive", run_save};
const Command command_compile = {"compile", "SOURCE.py -o OUT.pt", "compile a function to an archive", run_compile};
