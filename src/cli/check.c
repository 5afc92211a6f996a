/* wick check: makes the recorded calls of an io file and compares. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/json.h"
#include "wick/autograd.h"

typedef struct Check {
  const char *model_path;
  wick_module *module;
  Tolerance tolerance;
  bool no_grads, reprint, json;
  const char *passes;
  const char *device; /* where arguments go; NULL: where they are */
  long repeat, threads;
  size_t passed, failed, total;
} Check;

__attribute__((format(printf, 3, 4))) static bool failed(const Check *check, const char *call, const char *format,
                                                         ...) {
  char text[DIFFERENCE_BYTES + 200];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  for (char *p = text; *p; p++)
    if (*p == '\n') *p = ' ';
  complain(check->model_path, "%s: %s", call, text);
  return false;
}

/* ---- recorded values as arguments: {"__dtype__": name} and {"__device__": name} become what they stand for ---- */

enum { MAX_NESTING = 500 };

static wick_value *marked(const wick_value *dict) {
  wick_value *name = wick_value_get_text(dict, "__dtype__"), *result = NULL;
  if (name) {
    for (uint32_t dtype = 0; dtype < WICK_DTYPE_LIMIT && !result; dtype++)
      if (*wick_dtype_name(dtype) && !strcmp(wick_dtype_name(dtype), wick_value_to_string(name, NULL)))
        result = wick_value_int(dtype);
  } else if ((name = wick_value_get_text(dict, "__device__"))) {
    wick_value_device(wick_value_to_string(name, NULL), &result, NULL);
  }
  wick_value_release(name);
  return result;
}

/* NULL: no memory, or nested too deeply. */
static wick_value *argument_of(const wick_value *recorded, int nesting, void *context) {
  uint32_t kind = wick_value_kind(recorded);
  if (kind == WICK_DICT && wick_value_length(recorded) == 1) {
    wick_value *value = marked(recorded);
    if (value) return value;
  }
  if (kind == WICK_LIST || kind == WICK_TUPLE || kind == WICK_DICT)
    return nesting < MAX_NESTING ? container_of_mapped(recorded, argument_of, nesting, context, NULL) : NULL;
  return wick_value_retain((wick_value *)(uintptr_t)recorded);
}

/* ---- one call ---- */

typedef struct Arguments {
  wick_value *args, *kwargs; /* tuple and dict */
  wick_value **values;       /* all of them, the named last */
  char **names;
  size_t count, named_count;
} Arguments;

static void arguments_dispose(Arguments *a) {
  for (size_t i = 0; a->values && i < a->count; i++) wick_value_release(a->values[i]);
  for (size_t i = 0; a->names && i < a->named_count; i++) free(a->names[i]);
  free(a->values);
  free(a->names);
  wick_value_release(a->args);
  wick_value_release(a->kwargs);
  *a = (Arguments){0};
}

/* What it says of the device goes into *error. */
static bool move_arguments(Arguments *a, const char *device, wick_error **error) {
  wick_value **both[] = {&a->args, &a->kwargs};
  for (int i = 0; i < 2; i++) {
    if (!*both[i]) continue;
    wick_value *moved = value_on_device(*both[i], device, error);
    if (!moved) return false;
    wick_value_release(*both[i]);
    *both[i] = moved;
  }
  return true;
}

static bool arguments_make(const wick_value *call, bool copy, const char *device, wick_error **error, Arguments *out) {
  wick_value *args = wick_value_get_text(call, "args"), *kwargs = wick_value_get_text(call, "kwargs");
  *out = (Arguments){0};
  if (args) out->args = argument_of(args, 0, NULL);
  if (kwargs) out->kwargs = argument_of(kwargs, 0, NULL);
  bool fine = out->args && (out->kwargs || !kwargs);
  wick_value_release(args);
  wick_value_release(kwargs);
  if (copy && fine) {
    wick_value *both = NULL, *copied = NULL;
    wick_value *none = wick_value_none();
    const wick_value *parts[] = {out->args, out->kwargs ? out->kwargs : none};
    fine = !wick_value_tuple(parts, 2, &both, NULL) && !wick_value_copy(both, &copied, NULL);
    if (fine) {
      wick_value_release(out->args);
      out->args = wick_value_item(copied, 0);
      if (out->kwargs) {
        wick_value_release(out->kwargs);
        out->kwargs = wick_value_item(copied, 1);
      }
    }
    wick_value_release(none);
    wick_value_release(both);
    wick_value_release(copied);
  }
  if (!fine || (device && !move_arguments(out, device, error))) return false;
  size_t positional = wick_value_length(out->args);
  out->named_count = out->kwargs ? wick_value_length(out->kwargs) : 0;
  out->count = positional + out->named_count;
  out->values = calloc(out->count + 1, sizeof *out->values);
  out->names = calloc(out->named_count + 1, sizeof *out->names);
  if (!out->values || !out->names) return false;
  for (size_t i = 0; i < positional; i++)
    if (!(out->values[i] = wick_value_item(out->args, i))) return false;
  for (size_t i = 0; i < out->named_count; i++) {
    wick_value *key = wick_value_key(out->kwargs, i);
    out->names[i] = strdup(wick_value_to_string(key, NULL));
    out->values[positional + i] = wick_value_item(out->kwargs, i);
    wick_value_release(key);
    if (!out->names[i] || !out->values[positional + i]) return false;
  }
  return true;
}

/* The last line that says something, without "ExceptionType: " before it. */
static const char *last_line(const char *text) {
  const char *line = text;
  for (const char *p = text; (p = strchr(p, '\n')); p++)
    if (p[1]) line = p + 1;
  return line;
}

/* Whether `part`, without what is blank around it, says something that stands in the text. */
static bool stands_in(const char *part, const char *text) {
  part += strspn(part, " \r\n");
  size_t length = strlen(part);
  while (length && strchr(" \r\n", part[length - 1])) length--;
  return length && memmem(text, strlen(text), part, length);
}
/* A call that must fail did: where the program raised itself, what it said should agree: one of the texts stands in the
 * other, as recordings have more or fewer names of exceptions before it. An empty text: whatever it says. */
static bool raises_agree(const Check *check, const char *name, wick_error *error, const char *recorded) {
  if (wick_error_status(error) != WICK_RAISED) return true;
  const char *said = last_line(wick_error_message(error)), *wanted = last_line(recorded);
  said += strspn(said, " ");
  return !*said || !*wanted || stands_in(said, recorded) || stands_in(wanted, said) ||
         failed(check, name, "raised '%.200s', not '%.200s'", said, wanted);
}

static bool compare_part(const Check *check, const char *name, const wick_value *call, const char *key,
                         const wick_value *got, const char *what) {
  char difference[DIFFERENCE_BYTES];
  wick_value *want = wick_value_get_text(call, key);
  if (!want) return true;
  bool same = got && values_agree(got, want, &check->tolerance, what, difference);
  wick_value_release(want);
  return same || failed(check, name, "%s", got ? difference : "no value to compare");
}

/* Recordings may have the strides of the output beside it. */
static bool compare_strides(const Check *check, const char *name, const wick_value *call, const wick_value *output) {
  char difference[DIFFERENCE_BYTES];
  wick_value *want = wick_value_get_text(call, "strides");
  if (!want) return true;
  bool same = strides_agree(output, want, "output", difference);
  wick_value_release(want);
  return same || failed(check, name, "%s", difference);
}

/* ---- gradients ---- */

/* Asks for the gradients that were recorded: `recorded` has the structure of `value`, with None where there is none. */
static void mark_wanted(wick_value *value, const wick_value *recorded, int nesting) {
  if (wick_value_kind(recorded) == WICK_TENSOR && wick_value_kind(value) == WICK_TENSOR)
    wick_tensor_set_requires_grad(value, 1, NULL);
  for (size_t i = 0; nesting < MAX_NESTING && i < wick_value_length(recorded) && i < wick_value_length(value); i++) {
    wick_value *inner = wick_value_item(value, i), *inner_recorded = wick_value_item(recorded, i);
    if (inner && inner_recorded) mark_wanted(inner, inner_recorded, nesting + 1);
    wick_value_release(inner);
    wick_value_release(inner_recorded);
  }
}

typedef struct Outputs {
  wick_value **tensors, **ones;
  size_t count, capacity;
} Outputs;

/* The tensors of a result that a gradient can come from, each with ones. */
static bool collect_outputs(const wick_value *value, Outputs *out, int nesting) {
  wick_tensor_view view = {.size = sizeof view};
  if (wick_value_kind(value) == WICK_TENSOR) {
    if (wick_tensor_view_of(value, &view, NULL) || !(view.flags & WICK_TENSOR_REQUIRES_GRAD)) return true;
    if (out->count == out->capacity) {
      size_t capacity = out->capacity ? 2 * out->capacity : 8;
      wick_value **tensors = realloc(out->tensors, capacity * sizeof *tensors);
      if (tensors) out->tensors = tensors;
      wick_value **ones = tensors ? realloc(out->ones, capacity * sizeof *ones) : NULL;
      if (ones) out->ones = ones;
      if (!ones) return false;
      out->capacity = capacity;
    }
    if (wick_op_call(NULL, "aten::ones_like", NULL, &value, 1, NULL, 0, &out->ones[out->count], NULL)) return false;
    out->tensors[out->count++] = wick_value_retain((wick_value *)(uintptr_t)value);
    return true;
  }
  bool fine = true;
  for (size_t i = 0; fine && nesting < MAX_NESTING && i < wick_value_length(value); i++) {
    wick_value *item = wick_value_item(value, i);
    fine = item && collect_outputs(item, out, nesting + 1);
    wick_value_release(item);
  }
  return fine;
}

static bool compare_gradients(const Check *check, const char *name, const wick_value *value, const wick_value *recorded,
                              const char *what, int nesting) {
  char difference[DIFFERENCE_BYTES], inner_what[120];
  bool fine = true;
  if (wick_value_kind(recorded) == WICK_TENSOR && wick_value_kind(value) == WICK_TENSOR) {
    wick_value *grad = NULL;
    if (wick_tensor_grad(value, &grad, NULL) || !grad) return failed(check, name, "%s: none was computed", what);
    fine = values_agree(grad, recorded, &check->tolerance, what, difference) || failed(check, name, "%s", difference);
    wick_value_release(grad);
  }
  for (size_t i = 0; fine && nesting < MAX_NESTING && i < wick_value_length(recorded) && i < wick_value_length(value);
       i++) {
    wick_value *inner = wick_value_item(value, i), *inner_recorded = wick_value_item(recorded, i);
    snprintf(inner_what, sizeof inner_what, "%.80s[%zu]", what, i);
    fine = inner && inner_recorded && compare_gradients(check, name, inner, inner_recorded, inner_what, nesting + 1);
    wick_value_release(inner);
    wick_value_release(inner_recorded);
  }
  return fine;
}

/* Against the gradients of the sum of all floating outputs. */
static bool check_gradients(const Check *check, const char *name, const wick_value *recorded, const Arguments *a,
                            const wick_value *result) {
  Outputs outputs = {0};
  wick_error *error = NULL;
  bool fine = collect_outputs(result, &outputs, 0) || failed(check, name, "the outputs can't be differentiated");
  if (fine && outputs.count)
    wick_backward(NULL, (const wick_value *const *)outputs.tensors, (const wick_value *const *)outputs.ones,
                  outputs.count, 0, &error);
  if (error) fine = failed(check, name, "backward: %s: %s", wick_error_exception(error), wick_error_message(error));
  if (fine) fine = compare_gradients(check, name, a->args, recorded, "grads", 0);
  for (size_t i = 0; i < outputs.count; i++) {
    wick_value_release(outputs.tensors[i]);
    wick_value_release(outputs.ones[i]);
  }
  free(outputs.tensors);
  free(outputs.ones);
  wick_error_free(error);
  return fine;
}

static bool check_once(const Check *check, const wick_value *call, const char *name, bool copy) {
  wick_value *method = wick_value_get_text(call, "method"), *raises = wick_value_get_text(call, "raises"),
             *result = NULL;
  wick_value *recorded = check->no_grads ? NULL : wick_value_get_text(call, "grads");
  wick_error *error = NULL;
  Arguments a;
  bool fine;
  wick_run_options options = {.size = sizeof options,
                              .threads = (uint32_t)check->threads,
                              .grad = WICK_GRAD_ON,
                              .default_device = check->device};
  if (!method || !arguments_make(call, copy, check->device, &error, &a)) {
    fine = failed(check, name, "%s",
                  error ? wick_error_message(error) : "the recorded call is malformed, or memory ran out");
    if (method) arguments_dispose(&a);
  } else {
    if (recorded) mark_wanted(a.args, recorded, 0);
    const char *name_of_method = wick_value_to_string(method, NULL);
    const wick_value *const *values = (const wick_value *const *)a.values;
    const char *const *names = (const char *const *)a.names;
    if (!strcmp(name_of_method, "__call__"))
      wick_module_call(check->module, values, a.count, names, a.named_count, &options, &result, &error);
    else
      wick_run(check->module, name_of_method, values, a.count, names, a.named_count, &options, &result, &error);
    if (raises) {
      fine = error
                 ? raises_agree(check, name, error, wick_value_to_string(raises, NULL))
                 : failed(check, name, "did not fail, recorded %.200s", last_line(wick_value_to_string(raises, NULL)));
    } else if (error) {
      fine = failed(check, name, "%s: %s", wick_error_exception(error), wick_error_message(error));
    } else {
      fine = compare_part(check, name, call, "output", result, "output") &&
             compare_strides(check, name, call, result) &&
             compare_part(check, name, call, "args_after", a.args, "args after the call") &&
             compare_part(check, name, call, "kwargs_after", a.kwargs, "kwargs after the call");
      if (fine && recorded) fine = check_gradients(check, name, recorded, &a, result);
    }
    arguments_dispose(&a);
  }
  wick_error_free(error);
  wick_value_release(result);
  wick_value_release(method);
  wick_value_release(raises);
  wick_value_release(recorded);
  return fine;
}

/* One round of calls. is_wrong: of each call, whether it failed, in an earlier round, too: then it is not made. */
static void make_calls(const Check *check, const wick_value *calls, const char *kind, bool *is_wrong, size_t *done) {
  size_t count = calls ? wick_value_length(calls) : 0;
  for (size_t i = 0; i < count; i++) {
    if (is_wrong[i]) continue;
    char name[60];
    snprintf(name, sizeof name, "%s %zu", kind, i);
    wick_value *call = wick_value_item(calls, i);
    bool fine = call && wick_value_kind(call) == WICK_DICT;
    if (!fine) failed(check, name, "the recorded call is malformed, or memory ran out");
    is_wrong[i] = !fine || !check_once(check, call, name, check->repeat > 1);
    wick_value_release(call);
    progress_show("call", ++*done, check->total * (size_t)check->repeat);
  }
}

/* A recording begins with the module as it was loaded, and a call may change it: each round has a copy. The functions,
 * and so their plans, are the same. A compiled text has no state; that of native objects is shared. */
static bool make_round(Check *check, const wick_value *calls, const wick_value *raising, bool *is_wrong, size_t *done) {
  wick_module *loaded = check->module, *copy = NULL;
  wick_error *error;
  if (check->repeat > 1 && *wick_module_class_name(loaded)) {
    if (wick_module_clone(loaded, NULL, 0, &copy, &error)) {
      complain_error(check->model_path, error);
      return false;
    }
    check->module = copy;
  }
  make_calls(check, calls, "call", is_wrong, done);
  make_calls(check, raising, "raising call", is_wrong + (calls ? wick_value_length(calls) : 0), done);
  check->module = loaded;
  wick_module_release(copy);
  return true;
}

static bool check_calls(Check *check, const wick_value *calls, const wick_value *raising) {
  bool *is_wrong = calloc(check->total + 1, sizeof *is_wrong), fine = is_wrong != NULL;
  size_t done = 0;
  if (!is_wrong) complain(check->model_path, "memory ran out");
  for (long k = 0; fine && k < check->repeat; k++) fine = make_round(check, calls, raising, is_wrong, &done);
  for (size_t i = 0; fine && i < check->total; i++) *(is_wrong[i] ? &check->failed : &check->passed) += 1;
  free(is_wrong);
  return fine;
}

static bool print_json(const Check *check) {
  Json json;
  const char *text;
  if (!json_out_open(&json)) return false;
  json_put_begin(&json, '{');
  json_put_key(&json, "passed");
  json_put_int(&json, (long long)check->passed);
  json_put_key(&json, "failed");
  json_put_int(&json, (long long)check->failed);
  json_put_key(&json, "messages");
  json_put_begin(&json, '[');
  for (size_t i = 0; (text = complaint_at(i)); i++) json_put_text(&json, text);
  json_put_end(&json, ']');
  json_put_end(&json, '}');
  return json_out_print(&json);
}
static int finish(const Check *check) {
  progress_clear();
  if (!check->json)
    show("%zu passed, %zu failed\n", check->passed, check->failed);
  else if (!print_json(check))
    return EXIT_FAILED;
  return check->failed ? EXIT_FAILED : EXIT_DONE;
}

/* A source that must not compile. */
static int check_rejection(Check *check, const wick_value *rejects, wick_error *error) {
  *(error ? &check->passed : &check->failed) += 1;
  if (!error)
    complain(check->model_path, "compiles, but should be rejected: %.300s",
             last_line(wick_value_to_string(rejects, NULL)));
  wick_error_free(error);
  return finish(check);
}

/* Whether every compiled function means the same after it was saved and loaded. */
static void check_reprint(Check *check) {
  char *differences = NULL;
  wick_error *error = NULL;
  wick_status status = wick_module_check_code(check->module, &differences, &error);
  bool fine = !status && !*differences;
  if (!fine) complain(check->model_path, "reprint: %s", status ? wick_error_message(error) : differences);
  wick_error_free(error);
  wick_text_free(differences);
  *(fine ? &check->passed : &check->failed) += 1;
}

/* Puts every compiled function's graph through the passes, before anything runs. */
static bool run_passes(const Check *check) {
  char *copy = strdup(check->passes), *rest = copy;
  const char **names = calloc(strlen(check->passes) + 1, sizeof *names);
  size_t count = 0;
  wick_error *error = NULL;
  for (char *name; copy && names && (name = strsep(&rest, ","));)
    if (*name || rest) names[count++] = name;
  bool fine = copy && names && !wick_module_run_passes(check->module, names, count, &error);
  if (!fine) complain(check->model_path, "%s", error ? wick_error_message(error) : "out of memory");
  wick_error_free(error);
  free(names);
  free(copy);
  return fine;
}

static int run_check(Check *check, const wick_value *io, const ModelOptions *model) {
  wick_error *error;
  wick_value *rejects = wick_value_get_text(io, "rejects"), *calls = wick_value_get_text(io, "calls"),
             *raising = wick_value_get_text(io, "raising_calls"), *rtol = wick_value_get_text(io, "rtol");
  wick_value *engine = wick_value_get_text(io, "engine");
  const char *engine_name =
      engine && wick_value_kind(engine) == WICK_STRING ? wick_value_to_string(engine, NULL) : "any";
  int result = EXIT_USAGE;
  if (strcmp(engine_name, "any") && wick_runtime_set_quantized_engine(NULL, engine_name, &error)) {
    complain_error(check->model_path, error);
    wick_value_release(engine);
    return EXIT_USAGE;
  }
  if (rtol && check->tolerance.rtol < wick_value_to_double(rtol)) check->tolerance.rtol = wick_value_to_double(rtol);
  check->total = (calls ? wick_value_length(calls) : 0) + (raising ? wick_value_length(raising) : 0);
  check->module = model_open(check->model_path, model, &error);
  if (rejects && (check->module || error)) {
    result = check_rejection(check, rejects, error);
  } else if (!check->module) {
    if (error) complain_error(check->model_path, error);
  } else {
    if (check->reprint) check_reprint(check);
    if (check->passes && !run_passes(check)) check->failed++;
    if (check_calls(check, calls, raising)) result = finish(check);
  }
  wick_module_release(check->module);
  wick_value_release(rejects);
  wick_value_release(calls);
  wick_value_release(raising);
  wick_value_release(rtol);
  wick_value_release(engine);
  return result;
}

static int run(const Command *command, int count, char **words) {
  Check check = {.tolerance = {1e-4, 1e-5, false}, .repeat = 1};
  ModelOptions model = {.keep_devices = true};
  const Option options[] = {
      {"--rtol", OPTION_REAL, &check.tolerance.rtol, "X", "relative tolerance of floating values (1e-4)"},
      {"--atol", OPTION_REAL, &check.tolerance.atol, "X", "absolute tolerance of floating values (1e-5)"},
      {"--scaled", OPTION_FLAG, &check.tolerance.scaled, NULL, "relative to the largest magnitude in the tensor"},
      {"--no-grads", OPTION_FLAG, &check.no_grads, NULL, "leave recorded gradients out"},
      {"--repeat", OPTION_INT, &check.repeat, "N", "all calls N times, on copies of module and inputs"},
      {"--reprint", OPTION_FLAG, &check.reprint, NULL, "print every function, compile that, compare graphs"},
      {"--passes", OPTION_TEXT, &check.passes, "A,B", "first put every function's graph through these"},
      {"--threads", OPTION_INT, &check.threads, "N", "threads within one call"},
      {"--json", OPTION_FLAG, &check.json, NULL, "print one JSON object"},
      {.kind = OPTION_MODEL, .to = &model},
      {0},
  };
  int result;
  if (!options_parse(command, options, &count, words, 2, 2, &result)) return result;
  if (check.repeat < 1) {
    complain(NULL, "--repeat %ld", check.repeat);
    return EXIT_USAGE;
  }
  wick_value *io, *mark;
  wick_error *error;
  if (complain_missing_file(words[1])) return EXIT_USAGE;
  wick_status unread = wick_load_value(NULL, words[1], NULL, &io, &error); /* devices as they were recorded */
  if (unread) {
    wick_error_free(error);
    unread = wick_load_value(NULL, words[1], &VALUE_OPTIONS, &io, &error);
  }
  if (unread) {
    complain_error(words[1], error);
    return EXIT_USAGE;
  }
  check.model_path = words[0];
  check.device = model.device;
  if (!(mark = wick_value_get_text(io, "wick_io"))) {
    complain(words[1], "not a file of recorded calls: it has no \"wick_io\"");
    result = EXIT_USAGE;
  } else {
    result = !check.json || model_print_aside(&model) ? run_check(&check, io, &model) : EXIT_FAILED;
  }
  wick_runtime_release(model.runtime);
  wick_value_release(mark);
  wick_value_release(io);
  return result;
}

const Command command_check = {"check", "MODEL IO.pt", "Runs recorded calls and compares.", run};
