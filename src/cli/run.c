/* wick run: calls a method and prints or writes what it gives. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/hint.h"
#include "cli/output.h"
#include "cli/stream.h"

/* Of what was allowed from the start on (0: anything), at least the smallest deadline there is. */
static uint64_t time_left(uint64_t start, uint64_t allowed) {
  uint64_t used = clock_ns() - start;
  return !allowed ? 0 : used < allowed ? allowed - used : 1;
}

/* false: it was complained about. */
static bool load_weights(wick_module *module, const char *path) {
  wick_value *state = NULL;
  wick_error *error;
  if (complain_missing_file(path)) return false;
  bool done =
      !wick_load_value(NULL, path, &VALUE_OPTIONS, &state, &error) && !wick_module_load_state(module, state, &error);
  if (!done) complain_error(path, error);
  wick_value_release(state);
  return done;
}
static bool set_seed(const char *text) {
  char *end;
  errno = 0;
  wick_value *seed = wick_value_int(strtoll(text, &end, 10));
  wick_error *error;
  bool fine = end != text && !*end && !errno;
  if (!fine) {
    complain(NULL, "--seed takes a number, not '%s'", text);
  } else if (wick_op_call(NULL, "aten::manual_seed", NULL, (const wick_value *const[]){seed}, 1, NULL, 0, NULL,
                          &error)) {
    complain_error("--seed", error);
    fine = false;
  }
  wick_value_release(seed);
  return fine;
}

typedef struct Run {
  const char *method, *weights, *seed;
  bool grad, with_hooks;
  long threads, steps, megabytes;
  double seconds;
  Mode mode;
  Output output;
  Chunks chunks;
  Texts uses;
  ModelOptions model;
} Run;

/* Of a forked call what it gave; false: it failed, and *result is gone. */
static bool result_wait(const char *path, wick_value **result) {
  wick_value *future = *result;
  wick_error *error = NULL;
  if (wick_value_kind(future) != WICK_FUTURE) return true;
  wick_status status = wick_value_wait(future, result, &error);
  if (status) complain_error(path, error);
  wick_value_release(future);
  return !status;
}

/* To be written. */
static bool result_fetch(const char *path, wick_value **result) {
  wick_error *error;
  wick_value *here = value_on_device(*result, "cpu", &error);
  if (!here) complain_error(path, error);
  wick_value_release(*result);
  *result = here;
  return here != NULL;
}

/* One call, or one for each chunk. */
static int call(Run *run, wick_module *module, const char *path, Inputs *inputs, uint64_t deadline_ns) {
  wick_run_options limits = {.size = sizeof limits,
                             .threads = (uint32_t)run->threads,
                             .grad = run->grad ? WICK_GRAD_ON : WICK_GRAD_OFF,
                             .deadline_ns = deadline_ns,
                             .max_steps = (uint64_t)run->steps,
                             .max_bytes = (uint64_t)run->megabytes << 20,
                             .default_device = run->model.device};
  if (!getenv("WICK_EXECUTOR") && !run->chunks.size)
    limits.executor = WICK_EXECUTOR_SIMPLE; /* a plan would come too late */
  Call one = {module, path, run->with_hooks ? NULL : run->method, &limits};
  if (run->chunks.size) return stream(&one, &run->chunks, inputs, &run->output) ? EXIT_DONE : EXIT_FAILED;
  wick_value *result;
  if (!call_once(&one, inputs, &result) || !result_wait(path, &result)) return EXIT_FAILED;
  if (run->model.device && !result_fetch(path, &result)) return EXIT_FAILED;
  bool written = output_write(&run->output, result);
  wick_value_release(result);
  return written ? EXIT_DONE : EXIT_FAILED;
}

/* words: the inputs as they were typed. */
static int run_model(Run *run, wick_module *module, const char *path, Inputs *inputs, uint64_t start, uint64_t allowed,
                     int count, char **words) {
  if (!run->method && !run->with_hooks) run->method = model_default_method(module);
  if (run->method && !model_has_method(path, module, run->method)) return EXIT_USAGE;
  if (!output_check(&run->output, module, run->chunks.size ? NULL : run->method)) return EXIT_USAGE;
  if (run->weights && !load_weights(module, run->weights)) return EXIT_FAILED;
  if (!mode_set(path, module, run->mode)) return EXIT_USAGE;
  int result = call(run, module, path, inputs, time_left(start, allowed));
  if (result == EXIT_FAILED && run->method && !run->uses.count)
    hint_inputs(&(HintedCall){"run", path, run->method, module, &run->model, words, count});
  return result;
}

static int run_words(Run *run, int count, char **words) {
  uint64_t start = clock_ns(), allowed = (uint64_t)(run->seconds * 1e9);
  Inputs inputs;
  wick_error *error = NULL;
  if (run->seed && !set_seed(run->seed)) return EXIT_USAGE; /* made inputs are random too */
  if (run->chunks.size && count > 1 && !strcmp(words[1], "-")) {
    run->chunks.live = true;
    words[1] = "None"; /* in the place of the pieces */
  }
  if (!inputs_read_for(&inputs, words[0], run->method, count - 1, words + 1)) return EXIT_USAGE;
  if (!inputs_move(&inputs, run->model.device)) return inputs_dispose(&inputs), EXIT_USAGE;
  if (run->output.json && !model_print_aside(&run->model)) return inputs_dispose(&inputs), EXIT_FAILED;
  run->model.deadline_ns = allowed;
  wick_module *module = model_open(words[0], &run->model, &error);
  int result = module ? run_model(run, module, words[0], &inputs, start, allowed, count - 1, words + 1) : EXIT_USAGE;
  if (error) complain_error(words[0], error);
  if (module && result == EXIT_FAILED && !inputs.count) samples_suggest(words[0], run->method);
  wick_module_release(module);
  wick_runtime_release(run->model.runtime);
  inputs_dispose(&inputs);
  return result;
}

static int run(const Command *command, int count, char **words) {
  Run run = {.output.rate = 16000};
  bool eval = false, train = false;
  const char *chunk = NULL;
  const Option options[] = {
      {"--method", OPTION_TEXT, &run.method, "METHOD", "call it, not forward or a source's first function"},
      {"--call", OPTION_FLAG, &run.with_hooks, NULL, "as Python's m(x): forward between the module's hooks"},
      {"--use", OPTION_TEXTS, &run.uses, "NAME=FILE", "what NAME means in a .py: a model, source, input"},
      {"--chunk", OPTION_TEXT, &chunk, "N[,pad]", "a call for each N of the first input's last dimension"},
      {"-o", OPTION_TEXT, &run.output.path, "FILE", "write it: .npy .npz .pt .json .wav .png"},
      {"--sample-rate", OPTION_INT, &run.output.rate, "N", "of -o FILE.wav (16000)"},
      {"--topk", OPTION_INT, &run.output.topk, "K", "print the K largest elements of each row"},
      {"--labels", OPTION_TEXT, &run.output.labels, "FILE", "for --topk: their names, one a line"},
      {"--full", OPTION_FLAG, &run.output.full, NULL, "print large tensors whole"},
      {"--json", OPTION_FLAG, &run.output.json, NULL, "print one JSON object"},
      {"--weights", OPTION_TEXT, &run.weights, "FILE", "parameters and buffers: torch.save or safetensors"},
      {"--eval", OPTION_FLAG, &eval, NULL, "in evaluation mode, whatever it was saved in"},
      {"--train", OPTION_FLAG, &train, NULL, "in training mode"},
      {"--grad", OPTION_FLAG, &run.grad, NULL, "with grad mode on, for programs that call backward"},
      {"--seed", OPTION_TEXT, &run.seed, "N", "of random numbers, those of made inputs too"},
      {"--threads", OPTION_INT, &run.threads, "N", "threads within one call"},
      {"--seconds", OPTION_REAL, &run.seconds, "X", "give up after so long: to load, compile and run"},
      {"--steps", OPTION_INT, &run.steps, "N", "give up after so many loop iterations and calls"},
      {"--megabytes", OPTION_INT, &run.megabytes, "N", "give up when it needs more"},
      {.kind = OPTION_MODEL, .to = &run.model},
      {0},
  };
  int result;
  if (!options_parse(command, options, &count, words, 1, ANY_WORDS, &result)) return result;
  if (!(run.seconds >= 0 && run.seconds < 1e9)) {
    complain(NULL, "--seconds takes a time from 0 on");
    return EXIT_USAGE;
  }
  if (run.with_hooks && run.method) {
    complain(NULL, "--call calls forward with its hooks, --method one method without");
    return EXIT_USAGE;
  }
  if (run.uses.count && !is_source_file(words[0])) {
    complain(NULL, "--use binds names of a .py source, not of %s", words[0]);
    return EXIT_USAGE;
  }
  if (!mode_of(eval, train, &run.mode) || !chunks_parse(chunk, &run.chunks)) return EXIT_USAGE;
  if (run.uses.count) run.model.uses = &run.uses;
  return run_words(&run, count, words);
}

const Command command_run = {"run", "MODEL [INPUT...] [NAME=INPUT...] [**FILE]",
                             "Calls a method and prints what it gives. `wick help inputs`: what an INPUT is.", run};
