/* wick bench: the first call, the calls that warm up, and the median of the second half. */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "cli/cli.h"
#include "cli/json.h"

static int compare_times(const void *a, const void *b) {
  double left = *(const double *)a, right = *(const double *)b;
  return (left > right) - (left < right);
}
static double median_of_second_half(const double *times, size_t count) {
  assert(count > 0);
  size_t half = count / 2, n = count - half;
  double *sorted = malloc(n * sizeof *sorted), result = 0;
  if (!sorted) return 0;
  for (size_t i = 0; i < n; i++) sorted[i] = times[half + i];
  qsort(sorted, n, sizeof *sorted, compare_times);
  result = n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
  free(sorted);
  return result;
}

typedef struct ProfileOutput {
  wick_profile *profile; /* of the second half of the calls; NULL: not wanted */
  bool table;
  const char *trace; /* a file, or NULL */
} ProfileOutput;

static wick_status write_profile(const ProfileOutput *output, uint32_t format, FILE *to, wick_error **error) {
  char *text;
  wick_status status = wick_profile_print(output->profile, format, &text, error);
  if (!status) fputs(text, to);
  wick_text_free(text);
  return status;
}

/* The trace into its file; false: it was complained about. */
static bool write_trace(const ProfileOutput *output) {
  wick_error *error = NULL;
  FILE *file = fopen(output->trace, "w");
  bool fine = file && !write_profile(output, WICK_PROFILE_TRACE, file, &error);
  if (file && fclose(file)) fine = false;
  if (error)
    complain_error(output->trace, error);
  else if (!fine)
    complain(output->trace, "%s", strerror(errno));
  return fine;
}

static void print_json(double load, const double *times, size_t count, double peak, const ProfileOutput *output) {
  Json json;
  char *profile = NULL;
  if (!json_out_open(&json)) return;
  json_put_begin(&json, '{');
  json_put_key(&json, "load_ms");
  json_put_real(&json, load);
  json_put_key(&json, "calls_ms");
  json_put_begin(&json, '[');
  for (size_t i = 0; i < count; i++) json_put_real(&json, times[i]);
  json_put_end(&json, ']');
  json_put_key(&json, "median_ms");
  json_put_real(&json, median_of_second_half(times, count));
  json_put_key(&json, "peak_rss_mb");
  json_put_real(&json, peak);
  if (output->table && !wick_profile_print(output->profile, WICK_PROFILE_JSON, &profile, NULL)) {
    json_put_key(&json, "profile");
    json_put_verbatim(&json, profile);
  }
  json_put_end(&json, '}');
  json_out_print(&json);
  wick_text_free(profile);
}
static void report(bool json, double load, const double *times, size_t count, const ProfileOutput *output) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  double peak = (double)usage.ru_maxrss / 1024, median = median_of_second_half(times, count);
  if (json) {
    print_json(load, times, count, peak, output);
    return;
  }
  printf("load        %10.3f ms\nfirst call  %10.3f ms\n", load, times[0]);
  for (size_t i = 1; i < count && i < 6; i++) printf("call %-2zu     %10.3f ms\n", i + 1, times[i]);
  printf("median      %10.3f ms (second half of %zu calls)\npeak memory %10.1f MB\n", median, count, peak);
  if (output->table) write_profile(output, WICK_PROFILE_TABLE, stdout, NULL);
}

static void show_reasons(void) {
  char *text = NULL;
  wick_error *error = NULL;
  wick_wait_for_plans();
  if (wick_explain(&text, &error))
    complain_error(NULL, error);
  else
    fputs(text, stdout);
  wick_text_free(text);
}

static int measure(const wick_module *module, const char *path, const char *method, const Inputs *inputs, long threads,
                   size_t calls, wick_profile *profile, double *times) {
  wick_run_options options = {.size = sizeof options, .threads = (uint32_t)threads};
  wick_error *error;
  for (size_t i = 0; i < calls; i++) {
    wick_value *result;
    options.profile = i >= calls / 2 ? profile : NULL;
    double start = clock_ms();
    wick_status status = wick_run(module, method, (const wick_value *const *)inputs->values, inputs->count,
                                  inputs->names, inputs->named_count, &options, &result, &error);
    times[i] = clock_ms() - start;
    if (status) {
      complain_error(path, error);
      return EXIT_FAILED;
    }
    wick_value_release(result);
    progress_show("call", i + 1, calls);
  }
  progress_clear();
  return EXIT_DONE;
}

static int run(const Command *command, int count, char **words) {
  const char *method = NULL;
  long threads = 0, calls = 20;
  bool json = false, explain = false;
  ProfileOutput output = {0};
  ModelOptions model = {0};
  const Option options[] = {
      {"--method", OPTION_TEXT, &method, "NAME", "the method or function to call"},
      {"--threads", OPTION_INT, &threads, "N", "threads within one call"},
      {"--calls", OPTION_INT, &calls, "N", "calls to make (20)"},
      {"--json", OPTION_FLAG, &json, NULL, "one JSON object with every call's time"},
      {"--explain", OPTION_FLAG, &explain, NULL, "what was not optimized and why, what compiling took"},
      {"--profile", OPTION_FLAG, &output.table, NULL, "time by operator, shapes and place (second half)"},
      {"--trace", OPTION_TEXT, &output.trace, "FILE", "every operator (second half), for chrome://tracing"},
      {.kind = OPTION_MODEL, .to = &model},
      {0},
  };
  int result;
  if (!options_parse(command, options, &count, words, 1, ANY_WORDS, &result)) return result;
  if (calls < 1 || calls > 100000000) {
    complain(NULL, "--calls %ld", calls);
    return EXIT_USAGE;
  }
  Inputs inputs;
  if (!inputs_read(&inputs, count - 1, words + 1)) return EXIT_USAGE;
  wick_error *error;
  double start = clock_ms();
  wick_module *module = model_open(words[0], &model, &error);
  double load = clock_ms() - start, *times = calloc((size_t)calls, sizeof *times);
  result = EXIT_USAGE;
  if (output.table || output.trace) output.profile = wick_profile_new();
  if (!module || !times || ((output.table || output.trace) && !output.profile)) {
    if (!module) complain_error(words[0], error);
  } else {
    result = measure(module, words[0], method ? method : model_default_method(module), &inputs, threads, (size_t)calls,
                     output.profile, times);
    if (result == EXIT_DONE) report(json, load, times, (size_t)calls, &output);
    if (result == EXIT_DONE && output.trace && !write_trace(&output)) result = EXIT_USAGE;
    if (result == EXIT_DONE && explain) show_reasons();
  }
  free(times);
  wick_profile_release(output.profile);
  wick_module_release(module);
  inputs_dispose(&inputs);
  return result;
}

const Command command_bench = {"bench", "MODEL [INPUT...]", "Measures calls.", run};
