/* Options: one table of each command's is what is parsed and what --help shows. */
#include <assert.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/complete.h"
#include "cli/json.h"

enum { MAX_OPTIONS = 40, HELP_COLUMN = 20, SCREEN_WIDTH = 80 };

/* Those of commands that open a model. */
static size_t model_options(ModelOptions *m, Option *out) {
  const Option options[] = {
      {"--device-map", OPTION_TEXT, &m->device_map, "MAP", "devices that are not here: \"cuda=cpu\", \"*=cpu\""},
      {"--torch-version", OPTION_TORCH, &m->torch_version, "X.Y", "whose operators it means: 1.13 or 2"},
      {"--read", OPTION_FLAG, &m->read, NULL, "read the archive, check its sums; don't map it"},
      {"--library", OPTION_LIBRARY, NULL, "FILE", "open a library of operators first: name or file"},
      {"--no-libraries", OPTION_NO_LIBRARIES, NULL, NULL, "open none by itself that the program names"},
      {"--engine", OPTION_ENGINE, NULL, "ENGINE", "of quantized operators: qnnpack or onednn"},
      {"--device", OPTION_TEXT, &m->device, "DEVICE", "parameters, buffers, inputs go there: cuda:0"},
      {"--cpu", OPTION_CPUS, NULL, "LIST", "run on these processors only: 0,2-3"},
  };
  assert(sizeof options <= MAX_OPTIONS * sizeof *out);
  memcpy(out, options, sizeof options);
  return sizeof options / sizeof *options;
}

/* A command's own options and then, where OPTION_MODEL stands, those of models. */
typedef struct Table {
  Option options[MAX_OPTIONS];
  size_t own, count;
} Table;
static Table table_of(const Option *options) {
  Table table = {0};
  ModelOptions *model = NULL;
  for (const Option *o = options; o->name || o->kind == OPTION_MODEL; o++) {
    if (o->kind == OPTION_MODEL)
      model = o->to;
    else
      table.options[table.own++] = *o;
    assert(table.own < MAX_OPTIONS - 8);
  }
  table.count = table.own + (model ? model_options(model, table.options + table.own) : 0);
  return table;
}
static const char *option_name(const void *table, size_t index) {
  const Table *t = table;
  return index < t->count ? t->options[index].name : index == t->count ? "--help" : NULL;
}

/* ---- help ---- */

static void show_option(const Option *o, int column) {
  int width = show("  %s%s%s", o->name, o->argument ? " " : "", o->argument ? o->argument : "");
  show("%*s%s\n", width < column ? column - width : 1, "", o->help);
}
static void show_help(const Command *command, const Table *table) {
  show("usage: wick %s %s\n%s\n\n", command->name, command->usage, command->summary);
  for (size_t i = 0; i < table->own; i++) show_option(&table->options[i], HELP_COLUMN);
  if (table->count == table->own) return;
  int width = show("Of models (`wick help models`):");
  for (size_t i = table->own; i < table->count; i++) {
    const Option *o = &table->options[i];
    int length = (int)(strlen(o->name) + (o->argument ? strlen(o->argument) + 1 : 0)) + 2;
    if (width + length > SCREEN_WIDTH) width = show("\n ") - 1;
    width += show(" %s%s%s%s", o->name, o->argument ? " " : "", o->argument ? o->argument : "",
                  i + 1 < table->count ? "," : "\n");
  }
}
void options_show_models(void) {
  ModelOptions none = {0};
  Option options[MAX_OPTIONS];
  show(
      "MODEL is a .pt archive, a .ptl archive of the lite interpreter, a .pt2 of\n"
      "torch.export, or a .py source\n"
      "of TorchScript. Options of every command that opens one:\n\n");
  size_t count = model_options(&none, options);
  for (size_t i = 0; i < count; i++) show_option(&options[i], HELP_COLUMN);
}

/* ---- parsing ---- */

/* "0,2-3": of wick's threads and of this one. */
static bool set_cpus(const char *text) {
  enum { MOST = 1024, WORD_BITS = 8 * sizeof(unsigned long) };
  uint32_t numbers[MOST], count = 0;
  unsigned long set[MOST / WORD_BITS] = {0}; /* musl's cpu_set_t is too small */
  for (const char *at = text;; at++) {
    char *end;
    long first = strtol(at, &end, 10), last = first;
    bool fine = end != at && *at >= '0' && *at <= '9';
    if (fine && *end == '-') {
      at = end + 1;
      last = strtol(at, &end, 10);
      fine = end != at && *at >= '0' && *at <= '9';
    }
    if (!fine || (*end && *end != ',') || first > last || last >= MOST) {
      complain(NULL, "--cpu takes processors such as 0,2-3, not '%s'", text);
      return false;
    }
    for (long i = first; i <= last; i++) {
      if (!(set[i / WORD_BITS] >> i % WORD_BITS & 1)) numbers[count++] = (uint32_t)i;
      set[i / WORD_BITS] |= 1ul << i % WORD_BITS;
    }
    at = end;
    if (!*at) break;
  }
  wick_runtime_options options = {.size = sizeof options, .thread_cpus = numbers, .thread_cpu_count = count};
  wick_runtime *runtime;
  wick_error *error;
  if (wick_runtime_new(&options, &runtime, &error)) {
    complain_error("--cpu", error);
    return false;
  }
  wick_runtime_release(runtime); /* the process's threads stay so */
  if (!sched_setaffinity(0, sizeof set, (const cpu_set_t *)set)) return true;
  complain(NULL, "--cpu %s: %s", text, strerror(errno));
  return false;
}

static bool set_engine(const char *name) {
  wick_error *error;
  if (!wick_runtime_set_quantized_engine(NULL, name, &error)) return true;
  complain_error("--engine", error);
  return false;
}
/* Of sources, and of the archive whatever it says. */
static bool set_torch_version(const char *text, uint32_t *out) {
  wick_error *error;
  if (!wick_torch_version_named(text, out, &error) && !wick_runtime_set_torch_version(NULL, *out, &error)) return true;
  complain_error("--torch-version", error);
  return false;
}
/* By name where the loader looks; a file of this folder need not be spelled ./file. */
static bool load_library(const char *name) {
  wick_error *error;
  char *here = NULL;
  if (!wick_load_library(name, &error)) return true;
  bool is_here = !strchr(name, '/') && !access(name, R_OK) && asprintf(&here, "./%s", name) >= 0;
  if (is_here) {
    wick_error_free(error);
    error = NULL;
    is_here = !wick_load_library(here, &error);
    free(here);
    if (is_here) return true;
  }
  complain_error(name, error);
  return false;
}

/* text NULL: it has no value. */
static bool set_option(const Option *option, const char *text) {
  char *end = NULL;
  errno = 0;
  switch (option->kind) {
    case OPTION_FLAG:
      *(bool *)option->to = true;
      return true;
    case OPTION_TEXT:
      *(const char **)option->to = text;
      return true;
    case OPTION_TEXTS: {
      Texts *texts = option->to;
      if (texts->count < MAX_TEXTS) {
        texts->items[texts->count++] = text;
        return true;
      }
      complain(NULL, "%s more than %d times", option->name, MAX_TEXTS);
      return false;
    }
    case OPTION_MODEL: /* expanded */
      return false;
    case OPTION_FLAG_INT: {
      FlagInt *flag = option->to;
      flag->is_set = true;
      if (!text) return true;
      return set_option(&(Option){option->name, OPTION_INT, &flag->number, NULL, NULL}, text);
    }
    case OPTION_INT:
      *(long *)option->to = strtol(text, &end, 10);
      break;
    case OPTION_REAL:
      *(double *)option->to = strtod(text, &end);
      break;
    case OPTION_LIBRARY:
      return load_library(text);
    case OPTION_NO_LIBRARIES:
      wick_set_automatic_libraries(0);
      return true;
    case OPTION_CPUS:
      return set_cpus(text);
    case OPTION_TORCH:
      return set_torch_version(text, option->to);
    case OPTION_ENGINE:
      return set_engine(text);
  }
  bool is_negative_count = option->kind == OPTION_INT && *(long *)option->to < 0; /* all are */
  if (end && end != text && !*end && !errno && !is_negative_count) return true;
  complain(NULL, "%s takes a number, not '%s'", option->name, text);
  return false;
}

static bool asks_for_json(int count, char **words) {
  for (int i = 0; i < count && strcmp(words[i], "--") != 0; i++)
    if (!strcmp(words[i], "--json")) return true;
  return false;
}

/* -1 and -.5 are inputs, and so is -, the standard input. */
static bool is_option(const char *word) {
  return word[0] == '-' && word[1] && !(word[1] >= '0' && word[1] <= '9') && word[1] != '.';
}
static void complain_of_option(const Command *command, const Table *table, const char *word, size_t length) {
  char name[64];
  snprintf(name, sizeof name, "%.*s", (int)length, word);
  const char *meant = suggest(name, option_name, table);
  if (meant)
    complain(NULL, "%s does not take %s. Did you mean '%s'?", command->name, word, meant);
  else
    complain(NULL, "%s does not take %s; `wick %s --help` lists its options", command->name, word, command->name);
}
bool option_takes(const Option *option, const char *word) {
  if (option->kind == OPTION_FLAG_INT) return word && *word && word[strspn(word, "0123456789")] == 0;
  return option->argument != NULL;
}
/* Sets the option of words[*at], whose value may be the next word. */
static bool take_option(const Command *command, const Table *table, int count, char **words, int *at) {
  const char *word = words[*at];
  size_t length = strcspn(word, "="), i = 0;
  while (i < table->count &&
         (strlen(table->options[i].name) != length || strncmp(table->options[i].name, word, length) != 0))
    i++;
  if (i == table->count) return complain_of_option(command, table, word, length), false;
  const Option *option = &table->options[i];
  const char *next = *at + 1 < count ? words[*at + 1] : NULL, *value = word[length] ? word + length + 1 : NULL;
  bool takes_next = !value && option_takes(option, next);
  if (value ? !option->argument : takes_next && !next) {
    complain(NULL, "%s %s", option->name, value ? "takes no value" : "needs a value");
    return false;
  }
  *at += takes_next;
  return set_option(option, takes_next ? next : value);
}

bool options_parse(const Command *command, const Option *options, int *count, char **words, int least, int most,
                   int *out_exit) {
  int kept = 0;
  bool only_words = false;
  Table table = table_of(options);
  if (completion_asked()) {
    complete_options(table.options, table.count, *count, words);
    *out_exit = EXIT_DONE;
    return false;
  }
  *out_exit = EXIT_USAGE;
  if (asks_for_json(*count, words)) json_out_announce();
  for (int i = 0; i < *count; i++) {
    char *word = words[i];
    if (only_words || !is_option(word)) {
      words[kept++] = word;
    } else if (!strcmp(word, "--")) {
      only_words = true;
    } else if (!strcmp(word, "--help") || !strcmp(word, "-h")) {
      show_help(command, &table);
      *out_exit = EXIT_DONE;
      return false;
    } else if (!take_option(command, &table, *count, words, &i)) {
      return false;
    }
  }
  *count = kept;
  if (kept >= least && kept <= most) return true;
  if (kept > most) complain(NULL, "%s does not know what to do with '%s'", command->name, words[most]);
  fprintf(stderr, "usage: wick %s %s\n", command->name, command->usage);
  return false;
}
