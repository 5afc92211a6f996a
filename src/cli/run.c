/* wick run: calls a method and prints what it gives. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

/* method NULL: the module, with its hooks. */
static int call(const wick_module *module, const char *path, const char *method, const Inputs *inputs,
                const wick_run_options *options, const char *output) {
  wick_value *result;
  wick_error *error;
  char *text;
  const wick_value *const *values = (const wick_value *const *)inputs->values;
  if (method ? wick_run(module, method, values, inputs->count, NULL, 0, options, &result, &error)
             : wick_module_call(module, values, inputs->count, NULL, 0, options, &result, &error)) {
    complain_error(path, error);
    return EXIT_FAILED;
  }
  int exit_status = EXIT_DONE;
  if (output) {
    if (wick_tensor_save_npy(result, output, &error)) {
      complain_error(output, error);
      exit_status = EXIT_FAILED;
    }
  } else if (wick_value_print(result, &text, &error)) {
    complain_error(path, error);
    exit_status = EXIT_FAILED;
  } else {
    puts(text);
    wick_text_free(text);
  }
  wick_value_release(result);
  return exit_status;
}

/* Of what was allowed from the start on (0: anything), at least the smallest deadline there is. */
static uint64_t time_left(uint64_t start, uint64_t allowed) {
  uint64_t used = clock_ns() - start;
  return !allowed ? 0 : used < allowed ? allowed - used : 1;
}

/* false: it was complained about. */
static bool load_weights(wick_module *module, const char *path) {
  wick_value *state = NULL;
  wick_error *error;
  bool done =
      !wick_load_value(NULL, path, &VALUE_OPTIONS, &state, &error) && !wick_module_load_state(module, state, &error);
  if (!done) complain_error(path, error);
  wick_value_release(state);
  return done;
}

static int run(const Command *command, int count, char **words) {
  const char *method = NULL, *output = NULL, *weights = NULL;
  bool grad = false, with_hooks = false;
  long threads = 0, steps = 0, megabytes = 0;
  double seconds = 0;
  ModelOptions model = {0};
  const Option options[] = {
      {"--method", OPTION_TEXT, &method,
       "NAME  the method or function to call (forward, or a source's first function)"},
      {"--call", OPTION_FLAG, &with_hooks,
       "  call the module as Python's m(x) does: forward between the module's hooks"},
      {"-o", OPTION_TEXT, &output, "FILE  write the result, a tensor, as .npy instead of printing it"},
      {"--weights", OPTION_TEXT, &weights,
       "FILE  take parameters and buffers from a state dict of torch.save or a safetensors file"},
      {"--threads", OPTION_INT, &threads, "N  threads within one call"},
      {"--seconds", OPTION_REAL, &seconds, "N  give up after so long, a fraction too: to load, to compile and to run"},
      {"--steps", OPTION_INT, &steps, "N  give up after so many loop iterations and calls"},
      {"--megabytes", OPTION_INT, &megabytes, "N  give up when it needs more"},
      {"--grad", OPTION_FLAG, &grad, "  with grad mode on, for programs that call backward"},
      MODEL_OPTIONS(model),
      {0},
  };
  int result;
  if (!options_parse(command, options, &count, words, 1, &result)) return result;
  if (!(seconds >= 0 && seconds < 1e9)) {
    complain(NULL, "--seconds takes a time from 0 on");
    return EXIT_USAGE;
  }
  if (with_hooks && method) {
    complain(NULL, "--call calls forward with its hooks, --method one method without");
    return EXIT_USAGE;
  }
  uint64_t start = clock_ns(), allowed = (uint64_t)(seconds * 1e9);
  model.deadline_ns = allowed;
  Inputs inputs;
  if (!inputs_read(&inputs, count - 1, words + 1)) return EXIT_USAGE;
  wick_error *error;
  wick_module *module = model_open(words[0], &model, &error);
  result = EXIT_USAGE;
  if (module && weights && !load_weights(module, weights)) {
    result = EXIT_FAILED;
  } else if (module) {
    wick_run_options limits = {.size = sizeof limits,
                               .threads = (uint32_t)threads,
                               .grad = grad ? WICK_GRAD_ON : WICK_GRAD_OFF,
                               .deadline_ns = time_left(start, allowed),
                               .max_steps = (uint64_t)steps,
                               .max_bytes = (uint64_t)megabytes << 20};
    if (!getenv("WICK_EXECUTOR")) limits.executor = WICK_EXECUTOR_SIMPLE; /* a plan would come too late */
    if (!method && !with_hooks) method = model_default_method(module);
    result = call(module, words[0], method, &inputs, &limits, output);
  } else if (error) {
    complain_error(words[0], error);
  }
  wick_module_release(module);
  inputs_dispose(&inputs);
  return result;
}

const Command command_run = {"run", "MODEL [INPUT...]", "call a method and print its result", run};
