/* wick bench: what calls take. */
#include "cli/bench.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/hint.h"
#include "wick/archive.h"

enum { MAX_RUNS = 8 };
typedef struct Bench {
  const char *method, *threads, *against, *trace;
  long calls, warmup;
  double rate;
  bool json, explain, table, memory, grad;
  Mode mode;
  ModelOptions model;
  wick_profile *profile; /* NULL: not wanted */
  char **words;          /* the inputs as they were typed */
  int word_count;
  Measured runs[MAX_RUNS];
  size_t run_count;
} Bench;

/* ---- what is shown ---- */

/* The trace into its file; false: it was complained about. */
static bool write_trace(const Bench *bench) {
  wick_error *error = NULL;
  char *text = NULL;
  bool fine = !wick_profile_print(bench->profile, WICK_PROFILE_TRACE, &text, &error) &&
              !wick_file_write(bench->trace, text, strlen(text), &error);
  wick_text_free(text);
  if (!fine) complain_error(bench->trace, error);
  return fine;
}
static char *profile_text(const Bench *bench, uint32_t format) {
  char *text = NULL;
  wick_error *error;
  if (bench->table && wick_profile_print(bench->profile, format, &text, &error)) complain_error(NULL, error);
  return text;
}
static char *reasons_text(void) {
  char *text = NULL;
  wick_error *error;
  if (wick_explain(&text, &error)) complain_error(NULL, error);
  return text;
}

static bool print_json(const Bench *bench) {
  Json json;
  if (!json_out_open(&json)) return false;
  char *profile = profile_text(bench, WICK_PROFILE_JSON), *reasons = bench->explain ? reasons_text() : NULL;
  json_put_begin(&json, '{');
  if (bench->run_count == 1) {
    measured_json(&bench->runs[0], &json);
  } else {
    json_put_key(&json, "runs");
    json_put_begin(&json, '[');
    for (size_t i = 0; i < bench->run_count; i++) {
      json_put_begin(&json, '{');
      measured_json(&bench->runs[i], &json);
      json_put_end(&json, '}');
    }
    json_put_end(&json, ']');
    double low, high;
    if (bench->run_count == 2 && measured_ratio(&bench->runs[0], &bench->runs[1], &low, &high)) {
      json_put_key(&json, "second_over_first"); /* of the medians, with the limits of 95% */
      json_put_begin(&json, '[');
      json_put_real(&json, measured_median(&bench->runs[1]) / measured_median(&bench->runs[0]));
      json_put_real(&json, low);
      json_put_real(&json, high);
      json_put_end(&json, ']');
    }
  }
  if (profile) json_put_key(&json, "profile"), json_put_verbatim(&json, profile);
  if (reasons) json_put_key(&json, "explain"), json_put_text(&json, reasons);
  json_put_end(&json, '}');
  wick_text_free(profile);
  wick_text_free(reasons);
  return json_out_print(&json);
}
static void print_text(const Bench *bench) {
  enum { ENOUGH = 10 };
  char *profile = profile_text(bench, WICK_PROFILE_TABLE), *reasons = bench->explain ? reasons_text() : NULL;
  if (reasons) show("%s\n", reasons);
  measured_print(bench->runs, bench->run_count);
  for (size_t i = 0; i < bench->run_count && isatty(STDOUT_FILENO); i++)
    if (bench->runs[i].count - bench->runs[i].warmup >= ENOUGH) measured_histogram(&bench->runs[i]);
  measured_note_noise(bench->runs, bench->run_count);
  if (profile) show("%s", profile);
  wick_text_free(profile);
  wick_text_free(reasons);
}

/* ---- what is run ---- */

/* false: it was complained about. */
static bool run_model(Bench *bench, const char *path, const Inputs *inputs, const long *threads, size_t thread_count) {
  wick_error *error = NULL;
  double start = clock_ms();
  wick_module *module = model_open(path, &bench->model, &error);
  double load = clock_ms() - start;
  if (error) complain_error(path, error);
  bool fine = module && mode_set(path, module, bench->mode);
  const char *method = !fine ? NULL : bench->method ? bench->method : model_default_method(module);
  fine = fine && model_has_method(path, module, method);
  for (size_t i = 0; fine && i < thread_count; i++) {
    Measured *m = &bench->runs[bench->run_count++];
    *m = (Measured){.path = path,
                    .threads = threads[i],
                    .load = load,
                    .count = (size_t)(bench->calls + bench->warmup),
                    .warmup = (size_t)bench->warmup,
                    .rate = bench->rate,
                    .allocations = -1};
    m->times = calloc(m->count, sizeof *m->times);
    if (!m->times) complain(NULL, "out of memory");
    BenchCalls calls = {module, method, inputs, bench->profile, bench->grad, bench->model.device != NULL};
    fine = m->times && bench_calls(&calls, m) && (!bench->memory || bench_memory(&calls, &bench->model, m));
  }
  if (module && !fine && bench->run_count && method)
    hint_inputs(&(HintedCall){"bench", path, method, module, &bench->model, bench->words, bench->word_count});
  if (bench->explain) wick_wait_for_plans(); /* which go with the module, made or not */
  wick_module_release(module);
  return fine;
}

static int run_bench(Bench *bench, const char *path, const Inputs *inputs, const long *threads, size_t thread_count) {
  if (bench->table || bench->trace) bench->profile = wick_profile_new();
  bool fine = run_model(bench, path, inputs, threads, thread_count) &&
              (!bench->against || run_model(bench, bench->against, inputs, threads, thread_count));
  int result = fine ? EXIT_DONE : bench->run_count ? EXIT_FAILED : EXIT_USAGE;
  if (fine && bench->json)
    result = print_json(bench) ? EXIT_DONE : EXIT_FAILED;
  else if (fine)
    print_text(bench);
  if (fine && bench->trace && !write_trace(bench)) result = EXIT_FAILED;
  for (size_t i = 0; i < bench->run_count; i++) free(bench->runs[i].times);
  wick_profile_release(bench->profile);
  return result;
}

/* "4" or "1,2,4". */
static bool read_threads(const char *text, long *out, size_t *out_count) {
  *out_count = 0;
  for (const char *at = text; at; at = *at ? at + 1 : NULL) {
    char *end;
    long number = strtol(at, &end, 10);
    bool fine = end != at && number >= 0 && number <= 1024 && (!*end || *end == ',') && *out_count < MAX_RUNS / 2;
    if (!fine) {
      complain(NULL, "--threads takes numbers such as 2 or 1,2 (at most %d), not '%s'", MAX_RUNS / 2, text);
      return false;
    }
    out[(*out_count)++] = number;
    at = end;
  }
  return true;
}

static int run(const Command *command, int count, char **words) {
  Bench bench = {.calls = 0, .warmup = -1, .threads = "0"};
  bool eval = false, train = false;
  const Option options[] = {
      {"--method", OPTION_TEXT, &bench.method, "METHOD", "the method or function to call"},
      {"--calls", OPTION_INT, &bench.calls, "N", "calls (20): without --warmup its half is warm-up"},
      {"--warmup", OPTION_INT, &bench.warmup, "N", "calls before them that are not counted"},
      {"--rate", OPTION_REAL, &bench.rate, "X", "calls a second, as a control loop; counts late ones"},
      {"--threads", OPTION_TEXT, &bench.threads, "N[,N...]", "threads within one call; a run for each"},
      {"--against", OPTION_TEXT, &bench.against, "MODEL", "measure this one beside it"},
      {"--memory", OPTION_FLAG, &bench.memory, NULL, "count blocks and bytes of memory that a call takes"},
      {"--explain", OPTION_FLAG, &bench.explain, NULL, "what was not optimized and why, what compiling took"},
      {"--profile", OPTION_FLAG, &bench.table, NULL, "time by operator, shapes and place"},
      {"--trace", OPTION_TEXT, &bench.trace, "FILE", "every operator that ran, for chrome://tracing"},
      {"--grad", OPTION_FLAG, &bench.grad, NULL, "with grad mode on, for programs that call backward"},
      {"--eval", OPTION_FLAG, &eval, NULL, "in evaluation mode, whatever it was saved in"},
      {"--train", OPTION_FLAG, &train, NULL, "in training mode"},
      {"--json", OPTION_FLAG, &bench.json, NULL, "print one JSON object, with every call's time"},
      {.kind = OPTION_MODEL, .to = &bench.model},
      {0},
  };
  int result;
  long threads[MAX_RUNS / 2];
  size_t thread_count;
  if (!options_parse(command, options, &count, words, 1, ANY_WORDS, &result)) return result;
  /* N calls without a warm-up of their own: the second half is measured */
  if (!bench.calls) bench.calls = bench.warmup < 0 ? 20 : 10;
  if (bench.warmup < 0) {
    bench.warmup = bench.calls / 2;
    bench.calls -= bench.warmup;
  }
  if (bench.calls + bench.warmup > 100000000 || bench.calls > 100000000 || bench.warmup > 100000000) {
    complain(NULL, "--calls: at most 100000000");
    return EXIT_USAGE;
  }
  if (!(bench.rate >= 0 && bench.rate <= 1e6)) {
    complain(NULL, "--rate takes calls a second, up to a million");
    return EXIT_USAGE;
  }
  if (!mode_of(eval, train, &bench.mode) || !read_threads(bench.threads, threads, &thread_count)) return EXIT_USAGE;
  Inputs inputs;
  if (!inputs_read_for(&inputs, words[0], bench.method, count - 1, words + 1)) return EXIT_USAGE;
  if (!inputs_move(&inputs, bench.model.device)) return inputs_dispose(&inputs), EXIT_USAGE;
  result = EXIT_FAILED;
  bench.words = words + 1;
  bench.word_count = count - 1;
  if (!bench.json || model_print_aside(&bench.model))
    result = run_bench(&bench, words[0], &inputs, threads, thread_count);
  if (result == EXIT_FAILED && !inputs.count) samples_suggest(words[0], bench.method);
  wick_runtime_release(bench.model.runtime);
  inputs_dispose(&inputs);
  return result;
}

const Command command_bench = {"bench", "MODEL [INPUT...]",
                               "Measures calls: load, first call, warm-up, percentiles, memory.", run};
