/* wick profile: where the time of calls goes, as a table, a flame graph, folded stacks or a trace. */
#include <stdlib.h>
#include <string.h>

#include "cli/bench.h"
#include "cli/flame.h"
#include "cli/hint.h"
#include "wick/archive.h"

typedef struct Profile {
  const char *path, *method, *flame, *folded, *trace, *by;
  long calls, warmup, threads;
  bool json, grad;
  Mode mode;
  ModelOptions model;
  wick_profile *profile;
  char **words; /* the inputs as they were typed */
  int word_count;
} Profile;

static char *text_as(const Profile *profile, uint32_t format) {
  char *text = NULL;
  wick_error *error;
  if (wick_profile_print(profile->profile, format, &text, &error)) complain_error(NULL, error);
  return text;
}

/* Folded stacks as a flame graph, malloc'd; NULL: out of memory. */
static char *flame_of(const Profile *profile, const char *folded) {
  char *text = NULL;
  size_t length;
  FILE *to = open_memstream(&text, &length);
  bool fine = to && flame_draw(folded, profile->path, (size_t)profile->calls, to);
  if (to && fclose(to)) fine = false;
  if (fine) return text;
  free(text);
  return NULL;
}
/* Nothing where no file was named. false: it was complained about. */
static bool write_to(const Profile *profile, const char *path, uint32_t format, bool as_flame) {
  if (!path) return true;
  char *text = text_as(profile, format);
  if (!text) return false;
  wick_error *error = NULL;
  char *flame = as_flame ? flame_of(profile, text) : NULL;
  const char *contents = as_flame ? flame : text;
  bool fine = contents && !wick_file_write(path, contents, strlen(contents), &error);
  if (error)
    complain_error(path, error);
  else if (!fine)
    complain(path, "out of memory");
  free(flame);
  wick_text_free(text);
  return fine;
}
static const struct {
  const char *word;
  uint32_t format;
} groups[] = {{"operator", WICK_PROFILE_BY_OPERATOR},
              {"module", WICK_PROFILE_BY_MODULE},
              {"source", WICK_PROFILE_BY_SOURCE},
              {"node", WICK_PROFILE_TABLE}};
enum { GROUP_COUNT = sizeof groups / sizeof *groups };
const char *profile_group_at(size_t index) {
  return index < GROUP_COUNT ? groups[index].word : NULL;
}
static uint32_t format_of(const char *word) { /* 0: none */
  for (size_t i = 0; i < GROUP_COUNT; i++)
    if (!strcmp(groups[i].word, word)) return groups[i].format;
  return 0;
}
/* What is wider than the screen goes on in the next line, indented, after two spaces where there are some. */
static void show_wrapped(const char *text) {
  enum { WIDTH = 100, INDENT = 57 };
  while (*text) {
    size_t left = strcspn(text, "\n"), room = WIDTH;
    while (left > room) {
      size_t cut = room;
      while (cut > 1 && (text[cut] != ' ' || text[cut - 1] == ' ')) cut--;
      if (cut <= INDENT && room == WIDTH) cut = room;
      if (cut <= 1) cut = room;
      show("%.*s\n%*s", (int)cut, text, INDENT, "");
      text += cut;
      while (*text == ' ') text++, cut++;
      left -= cut;
      room = WIDTH - INDENT;
    }
    show("%.*s\n", (int)left, text);
    text += left + (text[left] == '\n');
  }
}
static bool print(const Profile *profile) {
  char *text = text_as(profile, profile->json ? WICK_PROFILE_JSON : format_of(profile->by));
  Json json;
  bool fine = text != NULL;
  if (fine && profile->json) {
    if ((fine = json_out_open(&json))) json_put_verbatim(&json, text), fine = json_out_print(&json);
  } else if (fine) {
    show_wrapped(text);
  }
  wick_text_free(text);
  return fine;
}

static int profile_module(Profile *profile, wick_module *module, const Inputs *inputs) {
  const char *method = profile->method ? profile->method : model_default_method(module);
  if (!model_has_method(profile->path, module, method)) return EXIT_USAGE;
  Measured m = {.path = profile->path,
                .threads = profile->threads,
                .warmup = (size_t)profile->warmup,
                .count = (size_t)(profile->warmup + profile->calls)};
  BenchCalls calls = {module, method, inputs, profile->profile, profile->grad, profile->model.device != NULL};
  m.times = calloc(m.count, sizeof *m.times);
  if (!m.times) complain(NULL, "out of memory");
  int result = m.times && bench_calls(&calls, &m) ? EXIT_DONE : EXIT_FAILED;
  if (result != EXIT_DONE)
    hint_inputs(
        &(HintedCall){"profile", profile->path, method, module, &profile->model, profile->words, profile->word_count});
  if (result == EXIT_DONE && !print(profile)) result = EXIT_FAILED;
  if (result == EXIT_DONE && !profile->json) measured_note_noise(&m, 1);
  free(m.times);
  if (result != EXIT_DONE) return result;
  bool written = write_to(profile, profile->flame, WICK_PROFILE_FOLDED, true) &&
                 write_to(profile, profile->folded, WICK_PROFILE_FOLDED, false) &&
                 write_to(profile, profile->trace, WICK_PROFILE_TRACE, false);
  return written ? EXIT_DONE : EXIT_FAILED;
}
static int profile_model(Profile *profile, const Inputs *inputs) {
  wick_error *error = NULL;
  int result = EXIT_USAGE;
  profile->profile = wick_profile_new();
  wick_module *module = profile->profile ? model_open(profile->path, &profile->model, &error) : NULL;
  if (error) complain_error(profile->path, error);
  if (module && mode_set(profile->path, module, profile->mode)) result = profile_module(profile, module, inputs);
  wick_module_release(module);
  wick_profile_release(profile->profile);
  return result;
}

static int run(const Command *command, int count, char **words) {
  Profile profile = {.calls = 20, .warmup = 10, .by = "operator"};
  bool eval = false, train = false;
  const Option options[] = {
      {"--method", OPTION_TEXT, &profile.method, "METHOD", "the method or function to call"},
      {"--calls", OPTION_INT, &profile.calls, "N", "calls that are recorded (20)"},
      {"--warmup", OPTION_INT, &profile.warmup, "N", "calls before them (10)"},
      {"--threads", OPTION_INT, &profile.threads, "N", "threads within one call"},
      {"--by", OPTION_TEXT, &profile.by, "GROUP", "sums by: operator (default), module, source; or each node"},
      {"--flame", OPTION_TEXT, &profile.flame, "FILE", "write a flame graph: one SVG"},
      {"--folded", OPTION_TEXT, &profile.folded, "FILE", "write folded stacks, in nanoseconds, for other tools"},
      {"--trace", OPTION_TEXT, &profile.trace, "FILE", "write every operator that ran, for chrome://tracing"},
      {"--grad", OPTION_FLAG, &profile.grad, NULL, "with grad mode on, for programs that call backward"},
      {"--eval", OPTION_FLAG, &eval, NULL, "in evaluation mode, whatever it was saved in"},
      {"--train", OPTION_FLAG, &train, NULL, "in training mode"},
      {"--json", OPTION_FLAG, &profile.json, NULL, "print one JSON object"},
      {.kind = OPTION_MODEL, .to = &profile.model},
      {0},
  };
  int result;
  if (!options_parse(command, options, &count, words, 1, ANY_WORDS, &result)) return result;
  profile.path = words[0];
  profile.words = words + 1;
  profile.word_count = count - 1;
  if (profile.calls < 1 || profile.calls > 1000000 || profile.warmup > 1000000) {
    complain(NULL, "--calls and --warmup: at most a million, and at least one call");
    return EXIT_USAGE;
  }
  if (!format_of(profile.by)) {
    complain(NULL, "--by takes operator, module, source or node, not '%s'", profile.by);
    return EXIT_USAGE;
  }
  Inputs inputs;
  if (!mode_of(eval, train, &profile.mode) || !inputs_read_for(&inputs, words[0], profile.method, count - 1, words + 1))
    return EXIT_USAGE;
  if (!inputs_move(&inputs, profile.model.device)) return inputs_dispose(&inputs), EXIT_USAGE;
  result = EXIT_FAILED;
  if (!profile.json || model_print_aside(&profile.model)) result = profile_model(&profile, &inputs);
  if (result == EXIT_FAILED && !inputs.count) samples_suggest(words[0], profile.method);
  wick_runtime_release(profile.model.runtime);
  inputs_dispose(&inputs);
  return result;
}

const Command command_profile = {"profile", "MODEL [INPUT...]",
                                 "Shows where the time of calls goes: by operator, module or source.", run};
