/* Functions looked up once, results in the caller's memory, preparing, and modules made, changed and trained from C. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "wick/wick.h"

#define FINE(call)                                   \
  do {                                               \
    wick_error *e = NULL;                            \
    if (call) fail_msg("%s", wick_error_message(e)); \
  } while (0)
#define REFUSED(code, word, call)                                                    \
  do {                                                                               \
    wick_error *e = NULL;                                                            \
    assert_int_equal(call, code);                                                    \
    if (!strstr(wick_error_message(e), word)) fail_msg("%s", wick_error_message(e)); \
    wick_error_free(e);                                                              \
  } while (0)

static wick_module *compiled(const char *text) {
  wick_module *module;
  FINE(wick_compile(NULL, text, strlen(text), "test.py", &module, &e));
  return module;
}
static wick_value *floats(int64_t count, const float *values) {
  wick_value *tensor;
  FINE(wick_tensor_new(WICK_FLOAT32, 1, &count, &tensor, &e));
  if (values) FINE(wick_tensor_copy_from(tensor, values, (size_t)count * sizeof *values, &e));
  return tensor;
}
static float at(const wick_value *tensor, int i) {
  assert_non_null(wick_tensor_data(tensor));
  return ((const float *)wick_tensor_data(tensor))[i];
}

/* ---- functions ---- */

static void test_function(void **state) {
  (void)state;
  wick_module *module = compiled("def f(x, scale: float = 2.0):\n    return x * scale, x + 1\n");
  wick_function *f;
  REFUSED(WICK_NOT_FOUND, "there is f", wick_function_of(module, "g", &f, &e));
  FINE(wick_function_of(module, "f", &f, &e));
  wick_module_release(module); /* the function keeps it */
  assert_string_equal(wick_function_name(f), "f");
  char *schema;
  FINE(wick_function_schema(f, &schema, &e));
  assert_non_null(strstr(schema, "scale=2."));
  wick_text_free(schema);
  wick_value *x = floats(3, (float[]){1, 2, 3}), *pair;
  FINE(wick_function_run(f, (const wick_value *const[]){x}, 1, NULL, 0, NULL, &pair, &e));
  wick_value *first = wick_value_item(pair, 0);
  assert_true(at(first, 2) == 6);
  wick_value_release(first);
  wick_value_release(pair);

  /* into memory of another dtype, and with gaps */
  double doubles[3] = {0};
  float spread[6] = {0};
  wick_value *outputs[2], *short_one = floats(2, NULL);
  FINE(wick_tensor_borrow(doubles, WICK_FLOAT64, 1, (int64_t[]){3}, NULL, NULL, NULL, &outputs[0], &e));
  FINE(wick_tensor_borrow(spread, WICK_FLOAT32, 1, (int64_t[]){3}, (int64_t[]){2}, NULL, NULL, &outputs[1], &e));
  FINE(wick_function_run_into(f, (const wick_value *const[]){x}, 1, NULL, 0, NULL, outputs, 2, &e));
  assert_true(doubles[0] == 2 && doubles[2] == 6 && spread[0] == 2 && spread[1] == 0 && spread[4] == 4);
  memset(doubles, 0, sizeof doubles);
  REFUSED(WICK_INVALID_ARGUMENT, "of size [2]",
          wick_function_run_into(f, (const wick_value *const[]){x}, 1, NULL, 0, NULL,
                                 (wick_value *const[]){outputs[0], short_one}, 2, &e));
  assert_true(doubles[0] == 0); /* all or nothing */
  REFUSED(WICK_INVALID_ARGUMENT, "1 outputs for 2 results",
          wick_function_run_into(f, (const wick_value *const[]){x}, 1, NULL, 0, NULL, outputs, 1, &e));
  wick_value_release(outputs[0]);
  wick_value_release(outputs[1]);
  wick_value_release(short_one);
  wick_value_release(x);
  wick_function_release(f);
}

static const char COUNTER[] =
    "def forward(self, x):\n"
    "    self.calls += 1\n"
    "    self.total.add_(x.sum())\n"
    "    print('called')\n"
    "    return torch.relu(x * self.weight + torch.rand([1])).tanh() * 2\n";

static wick_module *new_counter(wick_runtime *runtime) {
  wick_value *values[] = {wick_value_int(0), floats(1, (float[]){0}), floats(1, (float[]){3})};
  wick_attribute attributes[] = {{sizeof(wick_attribute), WICK_ATTRIBUTE, "calls", values[0]},
                                 {sizeof(wick_attribute), WICK_BUFFER, "total", values[1]},
                                 {sizeof(wick_attribute), WICK_PARAMETER, "weight", values[2]}};
  wick_module *module;
  FINE(wick_module_new(runtime, "Counter", attributes, 3, &module, &e));
  for (int i = 0; i < 3; i++) wick_value_release(values[i]);
  FINE(wick_module_define(module, runtime, COUNTER, strlen(COUNTER), NULL, &e));
  return module;
}

static void print(void *user, const char *text, size_t length) {
  (void)text, (void)length;
  ++*(int *)user;
}

static void test_prepare(void **state) {
  (void)state;
  int printed = 0;
  wick_runtime *runtime;
  wick_runtime_options options = {.size = sizeof options, .print = print, .user = &printed};
  FINE(wick_runtime_new(&options, &runtime, &e));
  wick_module *module = new_counter(runtime);
  wick_value *x = floats(2, (float[]){1, 2}), *seed = wick_value_int(7), *value, *before, *after;
  const wick_value *arguments[] = {x};
  FINE(wick_op_call(runtime, "aten::manual_seed", NULL, (const wick_value *const[]){seed}, 1, NULL, 0, NULL, &e));
  FINE(wick_run(module, "forward", arguments, 1, NULL, 0, NULL, &before, &e));
  FINE(wick_op_call(runtime, "aten::manual_seed", NULL, (const wick_value *const[]){seed}, 1, NULL, 0, NULL, &e));
  printed = 0;
  FINE(wick_prepare(module, "forward", arguments, 1, NULL, 0, NULL, &e));
  assert_int_equal(printed, 0);
  FINE(wick_module_get(module, "calls", &value, &e));
  assert_int_equal(wick_value_to_int(value), 1);
  wick_value_release(value);
  FINE(wick_module_get(module, "total", &value, &e));
  assert_true(at(value, 0) == 3);
  wick_value_release(value);
  wick_stats made = {.size = sizeof made}, later = {.size = sizeof later};
  wick_stats_get(&made);
  FINE(wick_run(module, "forward", arguments, 1, NULL, 0, NULL, &after, &e));
  wick_wait_for_plans();
  wick_stats_get(&later);
  assert_int_equal(made.compiles, later.compiles);
  assert_true(at(before, 0) == at(after, 0) && at(before, 1) == at(after, 1)); /* random numbers as without */
  assert_true(printed > 0);
  wick_value_release(before);
  wick_value_release(after);
  /* what fails says so, and leaves the state as it was */
  REFUSED(WICK_INVALID_ARGUMENT, "not provided", wick_prepare(module, "forward", NULL, 0, NULL, 0, NULL, &e));
  wick_value_release(x);
  wick_value_release(seed);
  wick_module_release(module);
  wick_runtime_release(runtime);
}

/* ---- building and changing ---- */

static void test_build(void **state) {
  (void)state;
  wick_module *inner = new_counter(NULL), *outer, *again, *copy, *sharing;
  wick_value *object = wick_module_object(inner), *value, *x = floats(1, (float[]){5});
  wick_attribute attributes[] = {{sizeof(wick_attribute), WICK_ATTRIBUTE, "inner", object}};
  FINE(wick_module_new(NULL, "Outer", attributes, 1, &outer, &e));
  const char *text = "def forward(self, x):\n    return self.inner(x) if self.training else x\n";
  FINE(wick_module_define(outer, NULL, text, strlen(text), NULL, &e));
  assert_string_equal(wick_module_class_name(outer), "__torch__.Outer");
  FINE(wick_run(outer, "forward", (const wick_value *const[]){x}, 1, NULL, 0, NULL, NULL, &e));
  FINE(wick_module_get(outer, "inner.calls", &value, &e));
  assert_int_equal(wick_value_to_int(value), 1);
  wick_value_release(value);
  /* setting converts, and refuses what does not fit */
  wick_value *seven = wick_value_int(7), *word = wick_value_string("word", 4);
  FINE(wick_module_set(outer, "inner.calls", seven, &e));
  REFUSED(WICK_INVALID_ARGUMENT, "should be of type", wick_module_set(outer, "inner.calls", word, &e));
  REFUSED(WICK_RUNTIME, "no attribute 'nothing'", wick_module_set(outer, "inner.nothing", seven, &e));
  REFUSED(WICK_RUNTIME, "no submodule 'calls'", wick_module_get(outer, "inner.calls.x", &value, &e));
  /* copies: attributes of their own; tensors too, or shared */
  FINE(wick_module_clone(outer, NULL, 0, &copy, &e));
  FINE(wick_module_clone(outer, NULL, 1, &sharing, &e));
  FINE(wick_run(outer, "forward", (const wick_value *const[]){x}, 1, NULL, 0, NULL, NULL, &e));
  static const int calls[] = {8, 7, 7};
  static const float totals[] = {10, 5, 10};
  wick_module *modules[] = {outer, copy, sharing};
  for (int i = 0; i < 3; i++) {
    FINE(wick_module_get(modules[i], "inner.calls", &value, &e));
    assert_int_equal(wick_value_to_int(value), calls[i]);
    wick_value_release(value);
    FINE(wick_module_get(modules[i], "inner.total", &value, &e));
    assert_true(at(value, 0) == totals[i]);
    wick_value_release(value);
  }
  char path[64];
  snprintf(path, sizeof path, "/tmp/wick_build_%d.pt", (int)getpid());
  FINE(wick_module_save(outer, NULL, path, NULL, &e));
  FINE(wick_load(NULL, path, NULL, &again, &e));
  FINE(wick_module_get(again, "inner.calls", &value, &e));
  assert_int_equal(wick_value_to_int(value), 8);
  wick_value_release(value);
  wick_module_release(again);
  /* two classes of one name, each from a program of its own, are told apart or refused: never mixed up */
  wick_module *other = new_counter(NULL), *both;
  wick_value *other_object = wick_module_object(other);
  wick_attribute two[] = {{sizeof(wick_attribute), WICK_ATTRIBUTE, "a", object},
                          {sizeof(wick_attribute), WICK_ATTRIBUTE, "b", other_object}};
  FINE(wick_module_new(NULL, "Both", two, 2, &both, &e));
  REFUSED(WICK_UNSUPPORTED, "__torch__.Counter", wick_module_save(both, NULL, path, NULL, &e));
  REFUSED(WICK_INVALID_ARGUMENT, "no name", wick_module_new(NULL, "a b", two, 2, &again, &e));
  two[1].name = "a";
  REFUSED(WICK_INVALID_ARGUMENT, "two attributes", wick_module_new(NULL, "Both", two, 2, &again, &e));
  wick_module *all[] = {inner, outer, copy, sharing, other, both};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) wick_module_release(all[i]);
  wick_value *values[] = {object, x, seven, word, other_object};
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) wick_value_release(values[i]);
  unlink(path);
}

static void test_containers(void **state) {
  (void)state;
  wick_value *one = wick_value_int(1), *two = wick_value_int(2), *word = wick_value_string("a", 1), *list, *dict;
  FINE(wick_value_list((const wick_value *const[]){one}, 1, &list, &e));
  FINE(wick_list_append(list, two, &e));
  FINE(wick_list_set(list, 0, two, &e));
  REFUSED(WICK_RUNTIME, "item 2 of a list of 2", wick_list_set(list, 2, two, &e));
  REFUSED(WICK_INVALID_ARGUMENT, "should be of type int", wick_list_append(list, word, &e));
  FINE(wick_list_remove(list, 1, &e));
  assert_int_equal(wick_value_length(list), 1);
  FINE(wick_value_dict((const wick_value *const[]){word}, (const wick_value *const[]){one}, 1, &dict, &e));
  FINE(wick_dict_set(dict, word, two, &e));
  wick_value *got = wick_value_get_text(dict, "a");
  assert_int_equal(wick_value_to_int(got), 2);
  wick_value_release(got);
  FINE(wick_dict_remove(dict, word, &e));
  REFUSED(WICK_RUNTIME, "no such key", wick_dict_remove(dict, word, &e));
  REFUSED(WICK_INVALID_ARGUMENT, "a dict is expected", wick_dict_set(list, word, two, &e));
  wick_value *all[] = {one, two, word, list, dict};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) wick_value_release(all[i]);
}

static void test_elements(void **state) {
  (void)state;
  float values[6] = {1, 2, 3, 4, 5, 6}, read[6] = {0};
  wick_value *tensor, *spread;
  FINE(wick_tensor_new(WICK_FLOAT32, 2, (int64_t[]){2, 3}, &tensor, &e));
  FINE(wick_tensor_copy_from(tensor, values, sizeof values, &e));
  assert_int_equal(wick_tensor_count(tensor), 6);
  assert_true(at(tensor, 5) == 6);
  FINE(wick_op_call(NULL, "aten::t", NULL, (const wick_value *const[]){tensor}, 1, NULL, 0, &spread, &e));
  assert_null(wick_tensor_data(spread)); /* not row-major */
  FINE(wick_tensor_copy_to(spread, read, sizeof read, &e));
  assert_true(read[0] == 1 && read[1] == 4 && read[2] == 2);
  REFUSED(WICK_INVALID_ARGUMENT, "20 bytes for a tensor of 24", wick_tensor_copy_to(spread, read, 20, &e));
  wick_value_release(tensor);
  wick_value_release(spread);
}

static void test_save_value(void **state) {
  (void)state;
  char path[64];
  snprintf(path, sizeof path, "/tmp/wick_save_value_%d.pt", (int)getpid());
  wick_value *key = wick_value_string("weight", 6), *x = floats(2, (float[]){1, 2}), *dict, *read;
  FINE(wick_value_dict((const wick_value *const[]){key}, (const wick_value *const[]){x}, 1, &dict, &e));
  FINE(wick_save_value(NULL, dict, path, &e));
  FINE(wick_load_value(NULL, path, NULL, &read, &e));
  wick_value *got = wick_value_get_text(read, "weight");
  assert_true(at(got, 1) == 2);
  wick_value_release(got);
  wick_module *module = new_counter(NULL);
  wick_value *object = wick_module_object(module);
  REFUSED(WICK_UNSUPPORTED, "__torch__.Counter", wick_save_value(NULL, object, path, &e));
  wick_value *all[] = {key, x, dict, read, object};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) wick_value_release(all[i]);
  wick_module_release(module);
  unlink(path);
}

/* ---- training ---- */

/* The weight w of (w * 3 - 6)^2 after `steps` steps. */
static double trained(const wick_optimizer_options *options, int steps) {
  wick_value *weight = floats(1, (float[]){1}), *parameters, *loss;
  wick_module *module;
  wick_optimizer *optimizer;
  FINE(wick_tensor_set_requires_grad(weight, 1, &e));
  wick_attribute attributes[] = {{sizeof(wick_attribute), WICK_PARAMETER, "w", weight}};
  FINE(wick_module_new(NULL, "Line", attributes, 1, &module, &e));
  const char *text = "def forward(self):\n    return (self.w * 3 - 6).square().sum()\n";
  FINE(wick_module_define(module, NULL, text, strlen(text), NULL, &e));
  FINE(wick_module_parameters(module, &parameters, &e));
  assert_int_equal(wick_value_length(parameters), 1);
  FINE(wick_optimizer_new(parameters, options, &optimizer, &e));
  wick_run_options grad = {.size = sizeof grad, .grad = WICK_GRAD_ON};
  for (int i = 0; i < steps; i++) {
    FINE(wick_optimizer_zero_grad(optimizer, &e));
    FINE(wick_run(module, "forward", NULL, 0, NULL, 0, &grad, &loss, &e));
    FINE(wick_backward(NULL, (const wick_value *const[]){loss}, NULL, 1, 0, &e));
    FINE(wick_optimizer_step(optimizer, &e));
    wick_value_release(loss);
  }
  double result = at(weight, 0);
  FINE(wick_module_zero_grad(module, &e));
  wick_value *none;
  FINE(wick_tensor_grad(weight, &none, &e));
  assert_null(none);
  wick_optimizer_release(optimizer);
  wick_value_release(parameters);
  wick_value_release(weight);
  wick_module_release(module);
  return result;
}

/* The numbers are torch.optim's after three steps. */
static void test_optimizers(void **state) {
  (void)state;
  static const struct {
    wick_optimizer_options options;
    double expected;
  } cases[] = {
      {{.size = sizeof(wick_optimizer_options), .algorithm = WICK_SGD, .rate = 0.01}, 1.44863200},
      {{.size = sizeof(wick_optimizer_options), .algorithm = WICK_SGD, .rate = 0.01, .momentum = 0.9, .dampening = 0.5},
       1.68059802},
      {{.size = sizeof(wick_optimizer_options),
        .algorithm = WICK_SGD,
        .rate = 0.01,
        .momentum = 0.9,
        .nesterov = 1,
        .weight_decay = 0.1},
       2.03038836},
      {{.size = sizeof(wick_optimizer_options), .algorithm = WICK_ADAM, .rate = 0.1}, 1.29841375},
      {{.size = sizeof(wick_optimizer_options), .algorithm = WICK_ADAM, .rate = 0.1, .weight_decay = 0.5, .amsgrad = 1},
       1.29827857},
      {{.size = sizeof(wick_optimizer_options), .algorithm = WICK_ADAMW, .rate = 0.1}, 1.29514122},
      {{.size = sizeof(wick_optimizer_options),
        .algorithm = WICK_ADAMW,
        .rate = 0.1,
        .beta1 = 0.5,
        .beta2 = 0.9,
        .eps = 0.001},
       1.29077959},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    double got = trained(&cases[i].options, 3);
    if (fabs(got - cases[i].expected) > 1e-5) fail_msg("case %zu: %.7f, not %.7f", i, got, cases[i].expected);
  }
  wick_optimizer_options wrong = {.size = sizeof wrong, .algorithm = WICK_SGD};
  wick_value *empty;
  wick_optimizer *optimizer;
  FINE(wick_value_list(NULL, 0, &empty, &e));
  REFUSED(WICK_INVALID_ARGUMENT, "rate", wick_optimizer_new(empty, &wrong, &optimizer, &e));
  wick_value_release(empty);
}

/* ---- objects by their parts ---- */

static const char classes[] =
    "class Point:\n  def __init__(self, x: int, name: str):\n    self.x = x\n    self.name = name\n"
    "  def twice(self) -> int:\n    return self.x * 2\n"
    "class Color(Enum):\n  RED = 1\n  BLUE = 2\n"
    "class Both(NamedTuple):\n  a: int\n  b: Color\n"
    "class Net(Module):\n  __parameters__ = ['weight']\n  weight : Tensor\n  training : bool\n"
    "  def forward(self, x: Tensor) -> Tensor:\n    return x * self.weight\n"
    "def twice(p: Point) -> int:\n  return p.twice()\n"
    "def both(c: Color) -> Both:\n  return Both(c.value, c)\n";

static void test_object_of_parts(void **state) {
  (void)state;
  wick_module *program = compiled(classes);
  static const char *const names[] = {"name", "x"};
  wick_value *name = wick_value_string("p", 1), *x = wick_value_int(21), *point, *twice;
  const wick_value *parts[] = {name, x};
  FINE(wick_object_new(program, "Point", names, parts, 2, &point, &e));
  FINE(wick_run(program, "twice", (const wick_value *const[]){point}, 1, NULL, 0, NULL, &twice, &e));
  assert_int_equal(wick_value_to_int(twice), 42);
  wick_value_release(point), wick_value_release(twice);
  REFUSED(WICK_NOT_FOUND, "no class 'Line'", wick_object_new(program, "Line", names, parts, 2, &point, &e));
  REFUSED(WICK_NOT_FOUND, "no class 'Color'", wick_object_new(program, "Color", names, parts, 2, &point, &e));
  REFUSED(WICK_RUNTIME, "'x' of", wick_object_new(program, "Point", names, parts, 1, &point, &e));
  REFUSED(WICK_INVALID_ARGUMENT, "attribute 'x'",
          wick_object_new(program, "Point", names, (const wick_value *const[]){name, name}, 2, &point, &e));
  static const char *const odd[] = {"name", "y"};
  REFUSED(WICK_RUNTIME, "no attribute 'y'", wick_object_new(program, "Point", odd, parts, 2, &point, &e));
  wick_module *none;
  REFUSED(WICK_INVALID_ARGUMENT, "no module", wick_module_of_object(name, NULL, &none, &e));
  wick_value_release(name), wick_value_release(x);
  wick_module_release(program);
}

static void test_enum_values_and_fields(void **state) {
  (void)state;
  wick_module *program = compiled(classes);
  wick_value *blue, *both;
  REFUSED(WICK_NOT_FOUND, "no member 'GREEN'", wick_enum_value(program, "Color", "GREEN", &blue, &e));
  REFUSED(WICK_NOT_FOUND, "no enum 'Point'", wick_enum_value(program, "Point", "RED", &blue, &e));
  FINE(wick_enum_value(program, "__torch__.Color", "BLUE", &blue, &e));
  FINE(wick_run(program, "both", (const wick_value *const[]){blue}, 1, NULL, 0, NULL, &both, &e));
  wick_module_release(program);
  wick_value *parts[] = {wick_value_item(blue, 0), wick_value_item(blue, 1), wick_value_key(both, 0),
                         wick_value_key(both, 1), wick_value_item(both, 0)};
  assert_int_equal(wick_value_length(blue), 2);
  assert_null(wick_value_item(blue, 2));
  assert_null(wick_value_key(both, 2));
  assert_string_equal(wick_value_to_string(parts[0], NULL), "BLUE");
  assert_int_equal(wick_value_to_int(parts[1]), 2);
  assert_string_equal(wick_value_to_string(parts[2], NULL), "a");
  assert_string_equal(wick_value_to_string(parts[3], NULL), "b");
  assert_int_equal(wick_value_to_int(parts[4]), 2);
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) wick_value_release(parts[i]);
  wick_value_release(blue), wick_value_release(both);
}

/* Two modules of one class, each with a weight of its own; what is saved has the file that was put there. */
static void test_modules_of_one_class(void **state) {
  (void)state;
  wick_module *program = compiled(classes), *nets[2], *loaded;
  static const char *const names[] = {"weight", "training"};
  wick_value *x = floats(1, (float[]){3}), *training = wick_value_bool(1), *object, *y;
  for (int i = 0; i < 2; i++) {
    wick_value *weight = floats(1, (float[]){(float)(i + 1)});
    FINE(wick_object_new(program, "Net", names, (const wick_value *const[]){weight, training}, 2, &object, &e));
    FINE(wick_module_of_object(object, NULL, &nets[i], &e));
    wick_value_release(object), wick_value_release(weight);
  }
  for (int i = 0; i < 2; i++) {
    FINE(wick_run(nets[i], "forward", (const wick_value *const[]){x}, 1, NULL, 0, NULL, &y, &e));
    assert_true(at(y, 0) == (float)(3 * (i + 1)));
    wick_value_release(y);
  }
  assert_string_equal(wick_module_class_name(nets[0]), "__torch__.Net");
  REFUSED(WICK_INVALID_ARGUMENT, "extra files", wick_module_set_extra_file(program, "notes", "a", 1, &e));
  FINE(wick_module_set_extra_file(nets[1], "notes", "first", 5, &e));
  FINE(wick_module_set_extra_file(nets[1], "notes", "second", 6, &e));
  char path[] = "/tmp/wick_parts_XXXXXX";
  close(mkstemp(path));
  FINE(wick_module_save(nets[1], NULL, path, NULL, &e));
  FINE(wick_load(NULL, path, NULL, &loaded, &e));
  unlink(path);
  size_t length;
  assert_string_equal(wick_module_extra_file(loaded, "notes", &length), "second");
  FINE(wick_run(loaded, "forward", (const wick_value *const[]){x}, 1, NULL, 0, NULL, &y, &e));
  assert_true(at(y, 0) == 6);
  wick_value_release(y), wick_value_release(x), wick_value_release(training);
  wick_module_release(loaded), wick_module_release(nets[0]), wick_module_release(nets[1]);
  wick_module_release(program);
}

/* What a ModuleList, a Sequential of one's own and a ModuleDict hold is gone over when the program is compiled. */
static void test_modules_that_hold_modules(void **state) {
  (void)state;
  static const char text[] =
      "class Scale(Module):\n  by : float\n  def forward(self, x: float) -> float:\n    return x * self.by\n"
      "class List(ModuleList):\n  __annotations__[\"0\"] = Scale\n  __annotations__[\"1\"] = Scale\n"
      "class Chain(Sequential):\n  __annotations__[\"0\"] = Scale\n  __annotations__[\"1\"] = Scale\n"
      "  def forward(self, x: float) -> float:\n    for one in self:\n      x = one(x)\n    return x\n"
      "class Dict(ModuleDict):\n  a : Scale\n"
      "class Net(Module):\n  list : List\n  chain : Chain\n  dict : Dict\n"
      "  def forward(self, x: float) -> float:\n"
      "    for i, one in enumerate(self.list):\n      x = one(x) + i\n"
      "    for one in self.list[1:]:\n      x = one(x)\n"
      "    for one in self.list[::-1]:\n      x = one(x) - 1.0\n"
      "    for name, one in self.dict.items():\n      x = one(x) + len(name)\n"
      "    for one in self.dict.values():\n      x = one(x)\n"
      "    for name in self.dict.keys():\n      x = x + len(name)\n"
      "    for name, one in self.named_children():\n      x = x + len(name)\n"
      "    if 'a' in self.dict and 'b' not in self.dict:\n      x = self.chain(x)\n"
      "    return x + len(self.list) * 100.0\n";
  wick_module *program = compiled(text), *net;
  wick_value *factor[] = {wick_value_double(2), wick_value_double(3)}, *scales[2], *held[3], *object, *y;
  static const char *const by[] = {"by"}, *const places[] = {"0", "1"}, *const a[] = {"a"},
                           *const names[] = {"list", "chain", "dict"};
  for (int i = 0; i < 2; i++)
    FINE(wick_object_new(program, "Scale", by, (const wick_value *const[]){factor[i]}, 1, &scales[i], &e));
  const wick_value *both[] = {scales[0], scales[1]};
  FINE(wick_object_new(program, "List", places, both, 2, &held[0], &e));
  FINE(wick_object_new(program, "Chain", places, both, 2, &held[1], &e));
  FINE(wick_object_new(program, "Dict", a, both, 1, &held[2], &e));
  FINE(wick_object_new(program, "Net", names, (const wick_value *const *)held, 3, &object, &e));
  FINE(wick_module_of_object(object, NULL, &net, &e));
  wick_value *one = wick_value_double(1);
  FINE(wick_run(net, "forward", (const wick_value *const[]){one}, 1, NULL, 0, NULL, &y, &e));
  /* 1*2+0 = 2, *3+1 = 7, [1:] *3 = 21, [::-1] *3-1 = 62, *2-1 = 123, dict *2+1 = 247, *2 = 494, +1, +4+5+4, chain *6 */
  assert_true(wick_value_to_double(y) == (494 + 1 + 13) * 6 + 200);
  wick_value_release(y), wick_value_release(one), wick_value_release(object);
  for (int i = 0; i < 2; i++) wick_value_release(scales[i]), wick_value_release(factor[i]);
  for (int i = 0; i < 3; i++) wick_value_release(held[i]);
  wick_module_release(net), wick_module_release(program);
  static const char no_list[] =
      "class Empty(ModuleList):\n  pass\n"
      "class Net(Module):\n  list : Empty\n  def forward(self, x: str) -> bool:\n    return x in self.list\n";
  REFUSED(WICK_COMPILE, "Only a ModuleDict", wick_compile(NULL, no_list, strlen(no_list), NULL, &net, &e));
}

/* Code that calls a submodule calls its hooks; overloads of a method are chosen by the arguments. */
static void test_hooks_and_overloads_in_source(void **state) {
  (void)state;
  static const char text[] =
      "class Inner(Module):\n  __forward_pre_hooks__ = ['before', 'look']\n  __forward_hooks__ = ['after']\n  step : "
      "float\n"
      "  def before(self, input: Tuple[float]) -> Tuple[float]:\n    return (input[0] + self.step,)\n"
      "  def look(self, input: Tuple[float]) -> None:\n    pass\n"
      "  def after(self, input: Tuple[float], result: float) -> float:\n    return result * 10.0 + input[0]\n"
      "  def forward(self, x: float) -> float:\n    return x * 2.0\n"
      "class Net(Module):\n  inner : Inner\n"
      "  @torch.jit._overload_method\n  def pick(self, x: float) -> float:\n    pass\n"
      "  @torch.jit._overload_method\n  def pick(self, x: int) -> int:\n    pass\n"
      "  def pick(self, x):\n    return x + x\n"
      "  def forward(self, x: float) -> float:\n"
      "    return self.inner(x) + self.inner.forward(x) * 1000.0 + self.pick(x) * 10000 + self.pick(3) * 100000\n";
  wick_module *program = compiled(text), *net;
  wick_value *step = wick_value_double(1), *two = wick_value_double(2), *inner, *object, *y;
  static const char *const steps[] = {"step"}, *const inners[] = {"inner"};
  FINE(wick_object_new(program, "Inner", steps, (const wick_value *const[]){step}, 1, &inner, &e));
  FINE(wick_object_new(program, "Net", inners, (const wick_value *const[]){inner}, 1, &object, &e));
  FINE(wick_module_of_object(object, NULL, &net, &e));
  FINE(wick_run(net, "forward", (const wick_value *const[]){two}, 1, NULL, 0, NULL, &y, &e));
  assert_true(wick_value_to_double(y) == 63 + 4000 + 40000 + 600000);
  wick_value_release(y), wick_value_release(two), wick_value_release(step);
  wick_value_release(inner), wick_value_release(object);
  wick_module_release(net), wick_module_release(program);
}

static wick_status resolve_part(void *user, const char *name, wick_name *out) {
  if (!strcmp(name, "part")) {
    out->kind = WICK_NAME_FUNCTION;
    out->module = user;
    out->member = "f";
  }
  return WICK_OK;
}
/* Two programs with the same function of the language's own are saved as one. */
static void test_save_of_several_programs(void **state) {
  (void)state;
  static const char text[] = "def g(x):\n    return part(torch.nn.functional.relu(x))\n";
  wick_module *part = compiled("def f(x):\n    return torch.nn.functional.relu(x) + 1\n"), *whole, *loaded;
  wick_compile_options options = {.size = sizeof options, .resolve = resolve_part, .user = part};
  FINE(wick_compile_with(NULL, text, strlen(text), &options, &whole, &e));
  char path[] = "/tmp/wick_programs_XXXXXX";
  close(mkstemp(path));
  FINE(wick_module_save(whole, NULL, path, NULL, &e));
  FINE(wick_load(NULL, path, NULL, &loaded, &e));
  unlink(path);
  wick_value *x = floats(2, (float[]){-3, 3}), *y;
  FINE(wick_run(loaded, "forward", (const wick_value *const[]){x}, 1, NULL, 0, NULL, &y, &e));
  assert_true(at(y, 0) == 1 && at(y, 1) == 4);
  wick_value_release(x), wick_value_release(y);
  wick_module_release(loaded), wick_module_release(whole), wick_module_release(part);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_object_of_parts),
      cmocka_unit_test(test_enum_values_and_fields),
      cmocka_unit_test(test_modules_of_one_class),
      cmocka_unit_test(test_modules_that_hold_modules),
      cmocka_unit_test(test_hooks_and_overloads_in_source),
      cmocka_unit_test(test_save_of_several_programs),
      cmocka_unit_test(test_function),
      cmocka_unit_test(test_prepare),
      cmocka_unit_test(test_build),
      cmocka_unit_test(test_containers),
      cmocka_unit_test(test_elements),
      cmocka_unit_test(test_save_value),
      cmocka_unit_test(test_optimizers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
