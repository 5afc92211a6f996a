/* wick complete WORD...: what the last word can be, for shells (scripts/completion); the other words come before it.
 * A line is a word, a tab and what it is; the line ":files" stands for names of files. The tables of options that are
 * parsed say what there is, so that nothing is offered that does not exist. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cli/complete.h"

static bool asked;
static const char *completed; /* what is there of the word */

bool completion_asked(void) {
  return asked;
}
static void offer(const char *word, const char *what) {
  if (!strncmp(word, completed, strlen(completed))) show("%s\t%.*s\n", word, (int)strcspn(what, ".\n"), what);
}

/* ---- words of options ---- */

/* What the words of a table's column `argument` stand for. */
static void offer_stages(const char *model) {
  (void)model;
  for (size_t i = 0; dump_stage_at(i); i++) offer(dump_stage_at(i), "");
}
static void offer_engines(const char *model) {
  (void)model;
  offer("qnnpack", "");
  offer("onednn", "");
}
static void offer_versions(const char *model) {
  (void)model;
  offer("1.13", "");
  offer("2", "");
}
static void offer_devices(const char *model) {
  (void)model;
  offer("cuda", "the first card");
  offer("cuda:1", "the next one");
}
static void offer_groups(const char *model) {
  (void)model;
  for (size_t i = 0; profile_group_at(i); i++) offer(profile_group_at(i), "");
}
static void offer_passes(const char *model) {
  (void)model;
  offer("all", "each step of compiling");
  for (size_t i = 0; wick_compile_step(i); i++) offer(wick_compile_step(i), "a step of compiling");
  for (size_t i = 0; wick_pass_name(i); i++) offer(wick_pass_name(i), "a pass");
}
static void offer_methods(const char *path) {
  wick_error *error = NULL;
  wick_set_automatic_libraries(0);
  ModelOptions options = {.device_map = DEFAULT_DEVICE_MAP, .deadline_ns = 1000000000};
  wick_module *module = path ? model_open(path, &options, &error) : NULL;
  for (size_t i = 0; module && i < wick_module_method_count(module); i++) offer(wick_module_method_name(module, i), "");
  wick_error_free(error);
  wick_module_release(module);
}
static void offer_files(const char *model) {
  (void)model;
  show(":files\n");
}
static const struct {
  const char *argument;
  void (*offer)(const char *model);
} kinds[] = {{"STAGE", offer_stages}, {"ENGINE", offer_engines}, {"X.Y", offer_versions},    {"PASS", offer_passes},
             {"A,B", offer_passes},   {"METHOD", offer_methods}, {"LIBRARY", offer_files},   {"FILE", offer_files},
             {"MODEL", offer_files},  {"OUT.pt", offer_files},   {"NAME=FILE", offer_files}, {"DEVICE", offer_devices},
             {"GROUP", offer_groups}};

static const Option *option_of(const Option *options, size_t count, const char *word) {
  for (size_t i = 0; i < count; i++)
    if (!strcmp(options[i].name, word)) return &options[i];
  return NULL;
}
void complete_options(const Option *options, size_t count, int word_count, char **words) {
  const Option *before = NULL; /* whose value comes next */
  const char *model = NULL;
  for (int i = 0; i < word_count; i++) {
    if (!strcmp(words[i], "=")) continue; /* bash takes it for a word */
    const Option *option = before ? NULL : option_of(options, count, words[i]);
    if (!before && !option && !model) model = words[i];
    const char *next = i + 1 < word_count ? words[i + 1] : NULL;
    before = option && option_takes(option, next) ? option : NULL;
  }
  for (size_t i = 0; before && i < sizeof kinds / sizeof *kinds; i++)
    if (!strcmp(before->argument, kinds[i].argument)) kinds[i].offer(model);
  if (before) return;
  assert(completed);
  if (*completed != '-') offer_files(NULL);
  for (size_t i = 0; i < count && *completed == '-'; i++) offer(options[i].name, options[i].help);
  if (*completed == '-') offer("--help", "what there is");
}

/* ---- commands ---- */

int complete(const Command *const *commands, size_t command_count, int count, char **words) {
  asked = true;
  if (!count) return EXIT_USAGE;
  completed = words[--count];
  bool is_help = count == 1 && !strcmp(words[0], "help");
  for (size_t i = 0; i < command_count; i++) {
    if (count == 0 || is_help)
      offer(commands[i]->name, commands[i]->summary);
    else if (!strcmp(words[0], commands[i]->name))
      return commands[i]->run(commands[i], count - 1, words + 1);
  }
  if (count == 0) {
    offer("help", "Shows what commands, inputs and models are");
    offer("--help", "Shows the commands");
    offer("--version", "Shows the version");
  }
  if (is_help) {
    offer("inputs", "What inputs can be");
    offer("models", "What programs can be");
  }
  return EXIT_DONE;
}
