/* wick dump --stage optimized (or kernel): the plans (or their kernels) that calls with the given inputs lead to. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/steps.h"
#include "wick/autograd.h"

enum { MAX_NAMES = 128 };
typedef struct Watch {
  const OptimizedDump *dump;
  const char *function;         /* qualified; NULL: nothing is shown yet */
  const char *names[MAX_NAMES]; /* of the passes that ran, static */
  size_t name_count;
  Steps steps;
  bool found;
} Watch;

static void note_name(Watch *watch, const char *pass) {
  assert(watch->name_count <= MAX_NAMES);
  for (size_t i = 0; i < watch->name_count; i++)
    if (!strcmp(watch->names[i], pass)) return;
  if (watch->name_count < MAX_NAMES) watch->names[watch->name_count++] = pass;
}

static void observe(void *user, const char *function, const char *pass, const wick_graph *graph) {
  Watch *watch = user;
  bool all = !strcmp(watch->dump->pass, "all");
  if (!watch->function || strcmp(function, watch->function) != 0) return;
  note_name(watch, pass);
  if (!all && strcmp(watch->dump->pass, pass) != 0) return;
  watch->found = true;
  char *text = NULL;
  wick_error *error = NULL;
  if (graph_text(graph, watch->dump->with_source, &text, &error))
    complain_error(watch->dump->path, error);
  else
    steps_show(&watch->steps, pass, text), fputc('\n', watch->dump->to);
  wick_text_free(text);
}

static bool call(const OptimizedDump *dump, wick_function *function, const Inputs *inputs) {
  wick_run_options options = {.size = sizeof options, .grad = dump->grad ? WICK_GRAD_ON : WICK_GRAD_OFF};
  wick_value *result;
  wick_error *error;
  if (wick_function_run(function, (const wick_value *const *)inputs->values, inputs->count, inputs->names,
                        inputs->named_count, &options, &result, &error)) {
    complain_error(dump->path, error);
    return false;
  }
  wick_value_release(result);
  return true;
}

static int complain_of_name(const Watch *watch) {
  char *names = NULL;
  size_t length = 0;
  FILE *list = open_memstream(&names, &length);
  for (size_t i = 0; list && i < watch->name_count; i++) fprintf(list, "%s%s", i ? ", " : "", watch->names[i]);
  if (list && fclose(list)) length = 0;
  complain(watch->dump->path, "no pass '%s' ran for the plans of these calls (%s)", watch->dump->pass,
           length ? names : "there are none");
  free(names);
  return EXIT_USAGE;
}

static int print_plans(const OptimizedDump *dump, const wick_function *function) {
  char *text = NULL;
  wick_error *error = NULL;
  uint32_t what = dump->kernels ? WICK_PRINT_KERNELS : dump->with_source ? WICK_PRINT_PLAN_PLACES : WICK_PRINT_PLANS;
  if (wick_runtime_executor(NULL) == WICK_EXECUTOR_SIMPLE) {
    fputs("# simple: as written\n", dump->to);
    what = dump->with_source ? WICK_PRINT_PLACES : WICK_PRINT_GRAPH;
  }
  wick_status status = wick_function_print(function, what, &text, &error);
  if (status)
    complain_error(dump->path, error);
  else
    fputs(text, dump->to);
  wick_text_free(text);
  return status ? EXIT_FAILED : EXIT_DONE;
}

static int dump_plans(const OptimizedDump *dump, wick_function *function, const Inputs *inputs, Watch *watch) {
  watch->function = wick_function_qualified_name(function);
  for (size_t i = 0; dump->grad && i < inputs->count; i++)
    (void)wick_tensor_set_requires_grad(inputs->values[i], 1, NULL); /* of what can */
  for (long i = 0; i < dump->calls; i++)
    if (!call(dump, function, inputs)) return EXIT_FAILED;
  steps_end(&watch->steps);
  if (dump->pass && !watch->found) return complain_of_name(watch);
  return dump->pass ? EXIT_DONE : print_plans(dump, function);
}

int dump_optimized(const OptimizedDump *dump, ModelOptions *model, int count, char **words) {
  Inputs inputs;
  if (!inputs_read_for(&inputs, dump->path, dump->method, count, words)) return EXIT_USAGE;
  if (!inputs_move(&inputs, model->device)) return inputs_dispose(&inputs), EXIT_USAGE;
  Watch watch = {.dump = dump, .steps = {dump->to, dump->as_difference, NULL}};
  wick_error *error = NULL;
  wick_module *module = NULL;
  wick_function *function = NULL;
  wick_executor_options options = {.size = sizeof options, .executor = wick_runtime_executor(NULL), .synchronous = 1};
  int result = EXIT_USAGE;
  if ((model->runtime || !wick_runtime_new(NULL, &model->runtime, &error)) &&
      !wick_runtime_set_executor(model->runtime, &options, &error))
    module = model_open(dump->path, model, &error);
  if (module && dump->pass) wick_runtime_observe(model->runtime, observe, &watch);
  const char *method = !module ? NULL : dump->method ? dump->method : model_default_method(module);
  if (module && !wick_function_of(module, method, &function, &error))
    result = dump_plans(dump, function, &inputs, &watch);
  if (error) complain_error(dump->path, error);
  wick_function_release(function);
  wick_module_release(module);
  wick_runtime_release(model->runtime);
  inputs_dispose(&inputs);
  return result;
}
