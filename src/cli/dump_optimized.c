/* wick dump --stage optimized (or kernel): the plans (or their kernels) that calls with the given inputs lead to. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/find.h"
#include "cli/cli.h"
#include "executor/executor.h"

enum { MAX_NAMES = 128 };
typedef struct Watch {
  const OptimizedDump *dump;
  const Function *function;
  const char *names[MAX_NAMES]; /* of the passes that ran, static */
  size_t name_count;
  bool found;
} Watch;

static void note_name(Watch *watch, const char *pass) {
  for (size_t i = 0; i < watch->name_count; i++)
    if (!strcmp(watch->names[i], pass)) return;
  if (watch->name_count < MAX_NAMES) watch->names[watch->name_count++] = pass;
}

static void observe(void *user, const Function *function, const char *pass, const Graph *graph) {
  Watch *watch = user;
  bool all = !strcmp(watch->dump->pass, "all");
  if (!watch->function || function != watch->function) return;
  note_name(watch, pass);
  if (!all && strcmp(watch->dump->pass, pass) != 0) return;
  watch->found = true;
  StrBuf text = {0};
  graph_print(graph, watch->dump->with_source, &text);
  printf("# after %s\n" STR_FMT "\n", pass, STR_ARG(strbuf_view(&text)));
  strbuf_dispose(&text);
}

static bool call(const OptimizedDump *dump, const wick_module *module, const char *method, const Inputs *inputs,
                 bool grad) {
  wick_run_options options = {.size = sizeof options, .grad = grad ? WICK_GRAD_ON : WICK_GRAD_OFF};
  wick_value *result;
  wick_error *error;
  if (wick_run(module, method, (const wick_value *const *)inputs->values, inputs->count, NULL, 0, &options, &result,
               &error)) {
    complain_error(dump->path, error);
    return false;
  }
  wick_value_release(result);
  return true;
}

static int complain_of_name(const Watch *watch) {
  StrBuf names = {0};
  for (size_t i = 0; i < watch->name_count; i++) strbuf_printf(&names, "%s%s", i ? ", " : "", watch->names[i]);
  complain(watch->dump->path, "no pass '%s' ran for the plans of these calls (%s)", watch->dump->pass,
           watch->name_count ? names.data : "there are none");
  strbuf_dispose(&names);
  return EXIT_USAGE;
}

static int dump_plans(const OptimizedDump *dump, const wick_module *module, const Inputs *inputs, Watch *watch,
                      const char *method) {
  Function *function;
  Status status = module_find(module, method, &function);
  if (status) {
    complain_error(dump->path, (wick_error *)status);
    return EXIT_USAGE;
  }
  watch->function = function;
  for (size_t i = 0; dump->grad && i < inputs->count; i++)
    (void)wick_tensor_set_requires_grad(inputs->values[i], 1, NULL); /* of what can */
  for (long i = 0; i < dump->calls; i++)
    if (!call(dump, module, method, inputs, dump->grad)) return EXIT_FAILED;
  if (dump->pass && !watch->found) return complain_of_name(watch);
  if (dump->pass) return EXIT_DONE;
  StrBuf text = {0};
  if (executor_defaults()->mode == EXECUTOR_SIMPLE) {
    strbuf_puts(&text, "# simple: as written\n");
    graph_print(function->graph, dump->with_source, &text);
  } else if (dump->kernels) {
    executor_print_kernels(function, &text);
  } else {
    executor_print_plans(function, dump->with_source, &text);
  }
  fwrite(text.data ? text.data : "", 1, text.length, stdout);
  strbuf_dispose(&text);
  return EXIT_DONE;
}

int dump_optimized(const OptimizedDump *dump, ModelOptions *model, int count, char **words) {
  Inputs inputs;
  if (!inputs_read(&inputs, count, words)) return EXIT_USAGE;
  Watch watch = {.dump = dump};
  wick_error *error = NULL;
  wick_module *module = NULL;
  ExecutorMode mode = executor_defaults()->mode;
  wick_executor_options options = {.size = sizeof options, .executor = (uint32_t)mode, .synchronous = 1};
  int result = EXIT_USAGE;
  if (!wick_runtime_new(NULL, &model->runtime, &error) && !wick_set_executor(model->runtime, &options, &error)) {
    module = model_open(dump->path, model, &error);
    if (module && dump->pass) {
      model->runtime->runtime.observe = observe;
      model->runtime->runtime.observe_user = &watch;
    }
    if (module)
      result = dump_plans(dump, module, &inputs, &watch, dump->method ? dump->method : model_default_method(module));
  }
  if (error) complain_error(dump->path, error);
  wick_module_release(module);
  wick_runtime_release(model->runtime);
  inputs_dispose(&inputs);
  return result;
}
