/* Traces of modules: attributes, submodules as methods, what leaves them; the kinds of nodes are those of PyTorch 1.13
 * for the same modules. */
#include "trace_fixture.h"

#include <unistd.h>

static wick_module *module_of(const char *class_name, size_t count, ...) {
  wick_attribute attributes[8];
  va_list arguments;
  wick_module *module;
  wick_error *error = NULL;
  va_start(arguments, count);
  for (size_t i = 0; i < count; i++) {
    const char *name = va_arg(arguments, const char *);
    wick_value *value = va_arg(arguments, wick_value *);
    uint32_t kind = wick_value_kind(value) != WICK_TENSOR ? WICK_ATTRIBUTE
                    : name[0] == 'b'                      ? WICK_BUFFER
                                                          : WICK_PARAMETER;
    attributes[i] = (wick_attribute){sizeof *attributes, kind, name, value};
  }
  va_end(arguments);
  require(wick_module_new(NULL, class_name, attributes, count, &module, &error), &error);
  return module;
}
static wick_value *object_of(Pool *p, wick_module *module) {
  wick_value *object = keep(p, wick_module_object(module));
  wick_module_release(module);
  return object;
}
static wick_value *parameter(Pool *p, int rows, int columns) {
  wick_value *t = columns ? tensor(p, 2, rows, columns) : tensor(p, 1, rows);
  assert_int_equal(wick_tensor_set_requires_grad(t, 1, NULL), WICK_OK);
  return t;
}
/* Archives name classes once. */
static wick_value *linear(Pool *p, int out, int in) {
  static int count;
  char name[32];
  snprintf(name, sizeof name, "Linear%d", count++);
  return object_of(p, module_of(name, 2, "weight", parameter(p, out, in), "bias", parameter(p, out, 0)));
}
static wick_value *part(Pool *p, const wick_value *object, const char *name) {
  return keep(p, wick_value_get_text(object, name));
}
static wick_value *call_linear(Pool *p, const wick_value *object, const char *path, wick_value *x) {
  require(wick_trace_enter(path, NULL), &(wick_error *){NULL});
  wick_value *y = op(p, "aten::linear", "ttt", x, part(p, object, "weight"), part(p, object, "bias"));
  require(wick_trace_leave(NULL), &(wick_error *){NULL});
  return y;
}
static wick_value *begin_module(Pool *p, wick_module *module, const wick_value *input) {
  wick_value *x;
  wick_error *error = NULL;
  wick_trace_options options = {.size = sizeof options, .module = module, .input_names = (const char *const[]){"x"}};
  require(wick_trace_begin(NULL, &options, &input, 1, &x, &error), &error);
  return keep(p, x);
}

/* Sub: l2(relu(l1(x))) + b, x * 2. Net: a, b = sub(x); y = l(a + b) + p; (l(a) + y, sub.l1.weight.sum()) */
static wick_module *net(Pool *p) {
  wick_value *sub =
      object_of(p, module_of("Sub", 3, "l1", linear(p, 3, 3), "l2", linear(p, 3, 3), "b", tensor(p, 1, 3)));
  return module_of("Net", 3, "sub", sub, "l", linear(p, 2, 3), "p", parameter(p, 2, 0));
}
static wick_value *call_net(Pool *p, wick_module *module, wick_value *x) {
  wick_value *self = keep(p, wick_module_object(module)), *sub = part(p, self, "sub"), *l = part(p, self, "l");
  assert_int_equal(wick_trace_enter("sub", NULL), WICK_OK);
  wick_value *h = op(p, "aten::relu", "t", call_linear(p, part(p, sub, "l1"), "sub.l1", x));
  wick_value *a = op(p, "aten::add", "tt", call_linear(p, part(p, sub, "l2"), "sub.l2", h), part(p, sub, "b"));
  wick_value *b = op(p, "aten::mul", "ti", x, 2);
  assert_int_equal(wick_trace_leave(NULL), WICK_OK);
  wick_value *y = call_linear(p, l, "l", op(p, "aten::add", "tt", a, b));
  y = op(p, "aten::add", "tt", y, part(p, self, "p"));
  wick_value *first = op(p, "aten::add", "tt", call_linear(p, l, "l", a), y);
  wick_value *second = op(p, "aten::sum", "t", part(p, part(p, sub, "l1"), "weight")), *result;
  assert_int_equal(wick_value_tuple((const wick_value *const[]){first, second}, 2, &result, NULL), WICK_OK);
  return keep(p, result);
}

static size_t count_of(const char *text, const char *part) {
  size_t count = 0;
  for (const char *at = text; (at = strstr(at, part)); at += strlen(part)) count++;
  return count;
}

/* Nodes tell which submodules were at work; those of the module itself have no scope. */
static void test_scopes(void **state) {
  (void)state;
  Pool p = {0};
  wick_module *module = net(&p), *same;
  same = end(call_net(&p, module, begin_module(&p, module, tensor(&p, 2, 2, 3))));
  wick_graph *graph;
  char *text;
  assert_int_equal(wick_graph_of_method(same, "forward", 1, &graph, NULL), WICK_OK);
  assert_int_equal(wick_graph_print(graph, &text, NULL), WICK_OK);
  assert_int_equal(count_of(text, ", scope: __module.sub/__module.sub.l1"), 1);
  assert_int_equal(count_of(text, ", scope: __module.sub/__module.sub.l2"), 1);
  assert_int_equal(count_of(text, ", scope: __module.l"), 2);
  assert_non_null(strstr(text, ") = aten::relu("));
  wick_text_free(text);
  wick_graph_release(graph);
  wick_module_release(same);
  wick_module_release(module);
  pool_free(&p);
}

static void test_submodules(void **state) {
  (void)state;
  Pool p = {0};
  wick_module *module = net(&p), *same, *loaded;
  wick_value *x = begin_module(&p, module, tensor(&p, 2, 2, 3)), *result = call_net(&p, module, x);
  same = end(result);
  expect_kinds(same, "forward",
               "GetAttr GetAttr GetAttr GetAttr GetAttr GetAttr CallMethod TupleUnpack . add CallMethod . add "
               "CallMethod . add . sum TupleConstruct");
  wick_value *again = run(&p, module, "forward", x);
  expect_equal(&p, item(&p, again, 0), item(&p, result, 0));
  expect_equal(&p, item(&p, again, 1), item(&p, result, 1));
  wick_function *function;
  char *code;
  assert_int_equal(wick_function_of(same, "forward", &function, NULL), WICK_OK);
  assert_int_equal(wick_function_print(function, WICK_PRINT_CODE, &code, NULL), WICK_OK);
  assert_non_null(strstr(code, "(l).forward1(_0, )"));
  wick_text_free(code);
  wick_function_release(function);
  char path[] = "/tmp/wick_trace_XXXXXX";
  close(mkstemp(path));
  wick_error *error = NULL;
  require(wick_module_save(same, NULL, path, NULL, &error), &error);
  require(wick_load(NULL, path, NULL, &loaded, &error), &error);
  wick_value *other = tensor(&p, 2, 5, 3);
  wick_value *of_loaded = run(&p, loaded, "forward", other), *of_traced = run(&p, module, "forward", other);
  expect_equal(&p, item(&p, of_loaded, 0), item(&p, of_traced, 0));
  unlink(path);
  wick_module_release(loaded);
  wick_module_release(same);
  wick_module_release(module);
  pool_free(&p);
}

/* Gradients are recorded while the trace is, and go through the traced method. */
static void test_gradients(void **state) {
  (void)state;
  Pool p = {0};
  wick_module *module = net(&p);
  wick_value *x = begin_module(&p, module, tensor(&p, 2, 2, 3)), *result = call_net(&p, module, x), *out, *grad;
  wick_module_release(end(result));
  wick_run_options options = {.size = sizeof options, .grad = WICK_GRAD_ON};
  wick_error *error = NULL;
  require(wick_run(module, "forward", (const wick_value *const *)&x, 1, NULL, 0, &options, &out, &error), &error);
  wick_value *loss = item(&p, keep(&p, out), 1);
  require(wick_backward(NULL, (const wick_value *const[]){loss}, NULL, 1, 0, &error), &error);
  wick_value *self = keep(&p, wick_module_object(module));
  wick_value *weight = part(&p, part(&p, part(&p, self, "sub"), "l1"), "weight");
  assert_int_equal(wick_tensor_grad(weight, &grad, NULL), WICK_OK);
  assert_non_null(grad);
  expect_equal(&p, keep(&p, grad), op(&p, "aten::ones_like", "t", weight));
  wick_module_release(module);
  pool_free(&p);
}

/* Submodules of one class share its methods: what each was traced to do is another one. */
static void test_shared_class(void **state) {
  (void)state;
  Pool p = {0};
  wick_module *first = module_of("Scale", 1, "w", parameter(&p, 3, 0)), *second;
  assert_int_equal(wick_module_clone(first, NULL, 0, &second, NULL), WICK_OK);
  wick_value *a = object_of(&p, first), *b = object_of(&p, second);
  wick_module *module = module_of("Both", 2, "a", a, "b", b);
  wick_value *input = tensor(&p, 1, 3), *x = begin_module(&p, module, input), *y = x;
  for (int i = 0; i < 2; i++) {
    assert_int_equal(wick_trace_enter(i ? "b" : "a", NULL), WICK_OK);
    y = op(&p, i ? "aten::mul" : "aten::add", "tt", y, part(&p, i ? b : a, "w"));
    assert_int_equal(wick_trace_leave(NULL), WICK_OK);
  }
  wick_module_release(end(y));
  expect_kinds(module, "forward", "GetAttr GetAttr CallMethod CallMethod");
  expect_equal(&p, run(&p, module, "forward", input), y);
  wick_error *error;
  x = begin_module(&p, module, input);
  assert_int_equal(wick_trace_enter("a", NULL), WICK_OK);
  y = op(&p, "aten::relu", "t", x);
  assert_int_equal(wick_trace_leave(NULL), WICK_OK);
  wick_module *none;
  assert_int_equal(wick_trace_end(y, &none, &error),
                   WICK_COMPILE); /* there is a forward; nothing else is left either */
  wick_error_free(error);
  wick_module_release(module);
  pool_free(&p);
}

/* b, y, w: what a submodule gives in the order of its first use; a submodule whose result nobody uses gives None; a
 * parameter as a result. */
static void test_results_of_submodules(void **state) {
  (void)state;
  Pool p = {0};
  wick_value *l = linear(&p, 3, 3), *sub = object_of(&p, module_of("Sub", 0));
  wick_module *module = module_of("Net", 3, "sub", sub, "l", l, "w", parameter(&p, 3, 0));
  wick_value *x = begin_module(&p, module, tensor(&p, 2, 2, 3)), *self = keep(&p, wick_module_object(module)), *result;
  assert_int_equal(wick_trace_enter("sub", NULL), WICK_OK);
  wick_value *a = op(&p, "aten::mul", "ti", x, 2), *b = op(&p, "aten::mul", "ti", x, 3);
  assert_int_equal(wick_trace_leave(NULL), WICK_OK);
  call_linear(&p, l, "l", x);
  wick_value *y = op(&p, "aten::add", "ti", a, 1);
  assert_int_equal(wick_value_tuple((const wick_value *const[]){b, y, part(&p, self, "w")}, 3, &result, NULL), WICK_OK);
  wick_module_release(end(keep(&p, result)));
  expect_kinds(module, "forward", "GetAttr GetAttr GetAttr CallMethod TupleUnpack CallMethod . . add TupleConstruct");
  wick_value *again = run(&p, module, "forward", x);
  for (size_t i = 0; i < 3; i++) expect_equal(&p, item(&p, again, i), item(&p, result, i));
  wick_module_release(module);
  pool_free(&p);
}

/* A method that is compiled is called by name; a fork reads attributes of the module by itself. */
static void test_methods_and_forks(void **state) {
  (void)state;
  static const char text[] =
      "def forward(self, x: Tensor) -> Tensor:\n"
      "    for i in range(x.size(0)):\n        x = x * self.w\n    return x\n";
  Pool p = {0};
  wick_module *power = module_of("Power", 1, "w", tensor(&p, 1, 3));
  wick_value *inner = linear(&p, 3, 3), *future;
  assert_int_equal(wick_module_define(power, NULL, text, strlen(text), NULL, NULL), WICK_OK);
  wick_module *module =
      module_of("SM", 3, "l", keep(&p, wick_module_object(power)), "w", parameter(&p, 3, 0), "inner", inner);
  wick_value *x = begin_module(&p, module, tensor(&p, 2, 2, 3)), *self = keep(&p, wick_module_object(module));
  assert_int_equal(wick_trace_fork(NULL), WICK_OK);
  wick_value *y = call_linear(&p, inner, "inner", x);
  assert_int_equal(wick_trace_join(y, &future, NULL), WICK_OK);
  wick_value *of_l = run(&p, power, "forward", x);
  wick_module_release(power);
  wick_value *waited = wait_for(&p, future);
  wick_value *product = op(&p, "aten::mul", "tt", waited, part(&p, self, "w"));
  wick_value *sum = op(&p, "aten::add", "tt", of_l, product);
  wick_module_release(end(sum));
  expect_kinds(module, "forward", "GetAttr GetAttr fork CallMethod wait mul . add");
  expect_equal(&p, run(&p, module, "forward", x), sum);
  wick_module_release(module);
  pool_free(&p);
}

/* An object that is no part of the module, and a path that leads to none. */
static void test_refusals(void **state) {
  (void)state;
  static const char text[] = "def forward(self, x: Tensor) -> Tensor:\n    return x + self.w\n";
  Pool p = {0};
  wick_module *module = net(&p), *stranger = module_of("S", 1, "w", tensor(&p, 1, 3)), *none;
  assert_int_equal(wick_module_define(stranger, NULL, text, strlen(text), NULL, NULL), WICK_OK);
  wick_value *x = begin_module(&p, module, tensor(&p, 1, 3)), *out;
  wick_error *error;
  assert_int_equal(wick_run(stranger, "forward", (const wick_value *const *)&x, 1, NULL, 0, NULL, &out, &error),
                   WICK_RUNTIME);
  assert_non_null(strstr(wick_error_message(error), "object"));
  wick_error_free(error);
  assert_int_equal(wick_trace_enter("sub.l3", NULL), WICK_NOT_FOUND);
  assert_int_equal(wick_trace_enter("sub", NULL), WICK_OK);
  assert_int_equal(wick_trace_end(x, &none, NULL), WICK_INVALID_ARGUMENT); /* it was not left */
  assert_int_equal(wick_module_method_count(module), 0);
  wick_module_release(stranger);
  wick_module_release(module);
  pool_free(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_submodules),
                                     cmocka_unit_test(test_scopes),
                                     cmocka_unit_test(test_gradients),
                                     cmocka_unit_test(test_shared_class),
                                     cmocka_unit_test(test_results_of_submodules),
                                     cmocka_unit_test(test_methods_and_forks),
                                     cmocka_unit_test(test_refusals)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
