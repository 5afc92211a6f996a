/* wick save, wick compile: programs to archives. */
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "cli/json.h"

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
  if (!status) status = wick_module_freeze(*module, NULL, names, count, &frozen, error);
  free(copy);
  if (status) return status;
  wick_module_release(*module);
  *module = frozen;
  return status;
}

typedef struct Save {
  const char *path, *to, *entry, *preserved; /* preserved: as in model_freeze */
  bool frozen, json;
  ModelOptions model;
} Save;

static bool print_json(const Save *save) {
  Json json;
  struct stat info;
  if (!json_out_open(&json)) return false;
  json_put_begin(&json, '{');
  json_put_key(&json, "written");
  json_put_text(&json, save->to);
  json_put_key(&json, "bytes");
  json_put_int(&json, stat(save->to, &info) ? 0 : (long long)info.st_size);
  json_put_end(&json, '}');
  return json_out_print(&json);
}
static int save_model(Save *save) {
  wick_error *error;
  wick_module *module = model_open(save->path, &save->model, &error);
  int result = EXIT_USAGE;
  progress_begin("saving");
  bool failed = module && ((save->frozen && model_freeze(&module, save->preserved, &error)) ||
                           wick_module_save(module, NULL, save->to, save->entry, &error));
  progress_end();
  if (failed)
    result = EXIT_FAILED;
  else if (module)
    result = !save->json || print_json(save) ? EXIT_DONE : EXIT_FAILED;
  if (error) complain_error(save->path, error);
  wick_module_release(module);
  return result;
}

static int run_save(const Command *command, int count, char **words) {
  Save save = {.model.keep_devices = true};
  const Option options[] = {
      {"-o", OPTION_TEXT, &save.to, "OUT.pt", "the archive to write"},
      {"--freeze", OPTION_FLAG, &save.frozen, NULL, "attributes as constants, in evaluation mode"},
      {"--preserve", OPTION_TEXT, &save.preserved, "NAMES", "methods, attributes (inner.weight) left as they are"},
      {"--json", OPTION_FLAG, &save.json, NULL, "print one JSON object"},
      {.kind = OPTION_MODEL, .to = &save.model},
      {0},
  };
  int result;
  if (!options_parse(command, options, &count, words, 1, 1, &result)) return result;
  save.path = words[0];
  if (!save.to) {
    complain(NULL, "where to? (-o OUT.pt)");
    return EXIT_USAGE;
  }
  if (save.preserved && !save.frozen) {
    complain(NULL, "--preserve is for --freeze");
    return EXIT_USAGE;
  }
  return save_model(&save);
}

static int run_compile(const Command *command, int count, char **words) {
  Save save = {.model.keep_devices = true};
  const Option options[] = {
      {"-o", OPTION_TEXT, &save.to, "OUT.pt", "the archive to write"},
      {"--entry", OPTION_TEXT, &save.entry, "FUNCTION", "the function to save (the first)"},
      {"--json", OPTION_FLAG, &save.json, NULL, "print one JSON object"},
      {.kind = OPTION_MODEL, .to = &save.model},
      {0},
  };
  int result;
  if (!options_parse(command, options, &count, words, 1, 1, &result)) return result;
  save.path = words[0];
  if (!save.to || !is_source_file(save.path)) {
    complain(save.path, save.to ? "is no .py source" : "where to? (-o OUT.pt)");
    return EXIT_USAGE;
  }
  return save_model(&save);
}

const Command command_save = {"save", "MODEL -o OUT.pt", "Writes a program as an archive.", run_save};
const Command command_compile = {"compile", "SOURCE.py -o OUT.pt", "Compiles a function to an archive.", run_compile};
