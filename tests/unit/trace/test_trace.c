/* Traces of functions: the kinds of nodes are those that PyTorch 1.13's torch.jit.trace makes of the same calls. */
#include <pthread.h>

#include "base/memory.h"
#include "trace_fixture.h"

static void test_straight(void **state) {
  (void)state;
  Pool p = {0};
  wick_value *input = tensor(&p, 2, 2, 3), *other = tensor(&p, 2, 4, 3), *x = begin(&p, input);
  op(&p, "aten::mul", "ti", x, 2); /* nobody needs it */
  wick_module *module = end(op(&p, "aten::add", "ti", x, 1));
  expect_kinds(module, "f", ". . add");
  expect_equal(&p, run(&p, module, "f", other), op(&p, "aten::add", "ti", other, 1));
  assert_int_equal(wick_module_method_count(module), 1);
  wick_module_release(module);
  pool_free(&p);
}

static void test_lists_and_several_results(void **state) {
  (void)state;
  Pool p = {0};
  wick_value *input = tensor(&p, 2, 2, 3), *x = begin(&p, input);
  wick_value *doubled = op(&p, "aten::mul", "ti", x, 2);
  wick_value *both = op(&p, "aten::cat", "Ti", 2, x, doubled, 0);
  wick_value *pieces = op(&p, "aten::split", "tii", both, 1, 0), *first = item(&p, pieces, 3);
  wick_value *best = op(&p, "aten::max", "tib", first, 1, 0), *both_of[] = {item(&p, best, 1), item(&p, best, 0)},
             *result;
  assert_int_equal(wick_value_tuple((const wick_value *const *)both_of, 2, &result, NULL), WICK_OK);
  wick_module *module = end(keep(&p, result));
  expect_kinds(module, "f", ". mul ListConstruct . cat . . split ListUnpack . . max TupleConstruct");
  wick_value *again = run(&p, module, "f", input);
  expect_equal(&p, item(&p, again, 1), both_of[1]);
  wick_module_release(module);
  pool_free(&p);
}

static void test_in_place_and_views(void **state) {
  (void)state;
  Pool p = {0};
  wick_value *input = tensor(&p, 2, 2, 3), *x = begin(&p, input);
  wick_value *y = op(&p, "aten::clone", "t", x);
  op(&p, "aten::add_", "ti", y, 1);
  wick_value *row = op(&p, "aten::select", "tii", y, 0, 0);
  op(&p, "aten::fill_", "ti", row, 3);
  wick_value *z = op(&p, "aten::view", "tI", y, 1, -1);
  op(&p, "aten::mul_", "ti", z, 2);
  op(&p, "aten::copy_", "tt", z, op(&p, "aten::reshape", "tI", x, 1, 6));
  wick_value *parts[] = {y, z}, *result;
  assert_int_equal(wick_value_tuple((const wick_value *const *)parts, 2, &result, NULL), WICK_OK);
  wick_module *module = end(keep(&p, result));
  expect_kinds(module, "f",
               ". clone . . add_ . . select . fill_ . ListConstruct view . mul_ . ListConstruct reshape . copy_ "
               "TupleConstruct");
  wick_value *other = tensor(&p, 2, 2, 3), *again = run(&p, module, "f", other);
  expect_equal(&p, item(&p, again, 0), other);
  wick_module_release(module);
  pool_free(&p);
}

static wick_value *size_of(Pool *p, const wick_value *x, int dim) {
  wick_value *size;
  assert_int_equal(wick_trace_size(x, dim, &size, NULL), WICK_OK);
  return keep(p, size);
}

/* x.view(x.size(0), -1), x.reshape(x.shape[0] * x.shape[1]), x.expand(x.size(0), 3) * x.size(1), x.numel() * x */
static void test_sizes(void **state) {
  (void)state;
  Pool p = {0};
  wick_value *input = tensor(&p, 2, 2, 3), *wide = tensor(&p, 2, 5, 4), *x = begin(&p, input),
             *minus = keep(&p, wick_value_int(-1));
  wick_module *module = end(op(&p, "aten::view", "tT", x, 2, size_of(&p, x, 0), minus));
  expect_kinds(module, "f", ". size NumToTensor Int . ListConstruct view");
  expect_equal(&p, run(&p, module, "f", wide), wide);
  wick_module_release(module);
  x = begin(&p, input);
  wick_value *product = op(&p, "aten::mul", "tt", size_of(&p, x, 0), size_of(&p, x, -1));
  module = end(op(&p, "aten::reshape", "tT", x, 1, product));
  expect_kinds(module, "f", ". size NumToTensor . size NumToTensor mul Int ListConstruct reshape");
  expect_equal(&p, run(&p, module, "f", wide), op(&p, "aten::reshape", "tI", wide, 1, 20));
  wick_module_release(module);
  x = begin(&p, input);
  wick_value *expanded = op(&p, "aten::expand", "tT", x, 2, size_of(&p, x, 0), keep(&p, wick_value_int(3)));
  module = end(op(&p, "aten::mul", "tt", expanded, size_of(&p, x, 1)));
  expect_kinds(module, "f", ". size NumToTensor Int . ListConstruct . expand . size NumToTensor mul");
  wick_module_release(module);
  x = begin(&p, input);
  wick_value *count;
  assert_int_equal(wick_trace_numel(x, &count, NULL), WICK_OK);
  module = end(op(&p, "aten::mul", "tt", keep(&p, count), x));
  expect_kinds(module, "f", "numel NumToTensor mul");
  expect_equal(&p, run(&p, module, "f", wide), op(&p, "aten::mul", "ti", wide, 20));
  wick_module_release(module);
  x = begin(&p, input);
  module = end(op(&p, "aten::select", "tit", x, 1, size_of(&p, x, 0)));
  expect_kinds(module, "f", ". size NumToTensor Int . select");
  wick_module_release(module);
  pool_free(&p);
}

static void test_constants(void **state) {
  (void)state;
  Pool p = {0};
  wick_value *input = tensor(&p, 2, 2, 3), *k = tensor(&p, 1, 3), *x = begin(&p, input);
  wick_module *module = end(op(&p, "aten::add", "tt", op(&p, "aten::add", "tt", x, k), k));
  expect_kinds(module, "f", ". . add . add"); /* one constant for both */
  expect_equal(&p, run(&p, module, "f", input), op(&p, "aten::add", "tt", op(&p, "aten::add", "tt", input, k), k));
  wick_module_release(module);
  assert_int_equal(wick_tensor_set_requires_grad(k, 1, NULL), WICK_OK);
  x = begin(&p, input);
  wick_value *sum;
  wick_error *error;
  const wick_value *const arguments[] = {x, k};
  assert_int_equal(wick_op_call(NULL, "aten::add", NULL, arguments, 2, NULL, 0, &sum, &error), WICK_RUNTIME);
  assert_non_null(strstr(wick_error_message(error), "requires grad"));
  wick_error_free(error);
  wick_trace_abort();
  assert_int_equal(wick_trace_is_on(), 0);
  pool_free(&p);
}

/* Convolutions as _convolution; what has no batch gets one. */
static void test_convolutions(void **state) {
  (void)state;
  Pool p = {0};
  wick_value *image = tensor(&p, 4, 1, 1, 4, 4), *line = tensor(&p, 2, 3, 8), *weight = tensor(&p, 4, 1, 1, 2, 2);
  wick_value *narrow = tensor(&p, 3, 2, 3, 1), *x = begin(&p, image);
  wick_module *module = end(op(&p, "aten::conv2d", "ttniiii", x, weight, 1, 0, 1, 1));
  expect_kinds(module, "f",
               ". . . . ListConstruct . . ListConstruct . . ListConstruct . . . ListConstruct . . . . . _convolution");
  expect_equal(&p, run(&p, module, "f", image), op(&p, "aten::conv2d", "tt", image, weight));
  wick_module_release(module);
  x = begin(&p, image);
  module = end(op(&p, "aten::conv_transpose2d", "ttniii", x, weight, 2, 0, 0));
  expect_kinds(module, "f",
               ". . . . ListConstruct . . ListConstruct . . ListConstruct . . . ListConstruct . . . . . _convolution");
  expect_equal(&p, run(&p, module, "f", image), op(&p, "aten::conv_transpose2d", "ttni", image, weight, 2));
  wick_module_release(module);
  x = begin(&p, line);
  module = end(op(&p, "aten::conv1d", "ttnis", x, narrow, 1, "same"));
  expect_kinds(module, "f", ". unsqueeze . . . ListConstruct . . ListConstruct . _convolution_mode . squeeze");
  expect_equal(&p, run(&p, module, "f", line), op(&p, "aten::conv1d", "ttnis", line, narrow, 1, "same"));
  wick_module_release(module);
  pool_free(&p);
}

/* ---- functions ---- */

static const char PROGRAM[] =
    "def scaled(x: Tensor, n: int = 3) -> Tuple[Tensor, List[Tensor]]:\n"
    "    for i in range(n):\n"
    "        if bool(x.sum() > 0):\n"
    "            x = x * 2\n"
    "    return x, [x]\n"
    "def by_name(x: Tensor) -> Dict[str, Tensor]:\n"
    "    return {'a': x, 'b': x + 1}\n"
    "def maybe(x: Tensor) -> Optional[Tensor]:\n"
    "    return x if x.dim() > 0 else None\n";

static void test_calls(void **state) {
  (void)state;
  Pool p = {0};
  wick_module *program, *module;
  wick_value *input = tensor(&p, 2, 2, 3), *x = begin(&p, input);
  assert_int_equal(wick_compile(NULL, PROGRAM, strlen(PROGRAM), "program.py", &program, NULL), WICK_OK);
  wick_value *pair = run(&p, program, "scaled", x), *list = item(&p, pair, 1);
  wick_value *sum = op(&p, "aten::add", "ti", item(&p, list, 0), 1);
  wick_value *dict = run(&p, program, "by_name", sum), *b = wick_value_get_text(dict, "b");
  module = end(op(&p, "aten::mul", "tt", keep(&p, b), run(&p, program, "maybe", x)));
  wick_module_release(program); /* the trace keeps it */
  expect_kinds(module, "f",
               ". . CallFunction TupleUnpack ListUnpack . . add . CallFunction . __getitem__ . "
               "CallFunction unchecked_cast mul");
  wick_value *negative = op(&p, "aten::sub", "ti", input, 9);
  wick_value *b_of = op(&p, "aten::add", "ti", negative, 2); /* the loop's branch is not taken for it */
  expect_equal(&p, run(&p, module, "f", negative), op(&p, "aten::mul", "tt", b_of, negative));
  wick_module_release(module);
  pool_free(&p);
}

static void test_forks(void **state) {
  (void)state;
  Pool p = {0};
  wick_value *input = tensor(&p, 2, 2, 3), *x = begin(&p, input), *future, *inner;
  wick_value *y = op(&p, "aten::add", "ti", x, 1);
  assert_int_equal(wick_trace_fork(NULL), WICK_OK);
  assert_int_equal(wick_trace_fork(NULL), WICK_OK);
  wick_value *sum = op(&p, "aten::add", "tt", y, x);
  assert_int_equal(wick_trace_join(sum, &inner, NULL), WICK_OK);
  wick_value *doubled = op(&p, "aten::mul", "ti", wait_for(&p, inner), 2);
  assert_int_equal(wick_trace_join(doubled, &future, NULL), WICK_OK);
  wick_module *module = end(wait_for(&p, future));
  expect_kinds(module, "f", ". . add fork wait");
  wick_value *other = tensor(&p, 1, 5);
  wick_value *wanted = op(&p, "aten::mul", "ti", op(&p, "aten::add", "ti", op(&p, "aten::mul", "ti", other, 2), 1), 2);
  expect_equal(&p, run(&p, module, "f", other), wanted);
  wick_module_release(module);
  pool_free(&p);
}

/* ---- inputs and results ---- */

static void test_containers(void **state) {
  (void)state;
  Pool p = {0};
  wick_value *a = tensor(&p, 2, 2, 3), *list, *dict, *tuple, *keys[] = {keep(&p, wick_value_string("a", 1))}, *out[3];
  wick_error *error = NULL;
  assert_int_equal(wick_value_list((const wick_value *const[]){a, a}, 2, &list, NULL), WICK_OK);
  assert_int_equal(wick_value_dict((const wick_value *const *)keys, (const wick_value *const[]){a}, 1, &dict, NULL),
                   WICK_OK);
  assert_int_equal(wick_value_tuple((const wick_value *const[]){a, list}, 2, &tuple, NULL), WICK_OK);
  keep(&p, list), keep(&p, dict), keep(&p, tuple);
  const wick_value *const inputs[] = {list, dict, tuple};
  wick_trace_options options = {.size = sizeof options, .name = "f", .lenient = 1};
  require(wick_trace_begin(NULL, &options, inputs, 3, out, &error), &error);
  for (int i = 0; i < 3; i++) keep(&p, out[i]);
  wick_value *second = item(&p, out[0], 1), *of_key = wick_value_get_text(out[1], "a"), *first = item(&p, out[2], 0);
  assert_ptr_not_equal(wick_value_identity(second),
                       wick_value_identity(first)); /* views, to tell one tensor's places apart */
  wick_value *sum = op(&p, "aten::add", "tt", second, keep(&p, of_key)), *all = op(&p, "aten::add", "tt", sum, first),
             *result;
  assert_int_equal(wick_value_dict((const wick_value *const *)keys, (const wick_value *const[]){all}, 1, &result, NULL),
                   WICK_OK);
  wick_module *module = end(keep(&p, result));
  expect_kinds(module, "f", "ListUnpack . __getitem__ TupleUnpack . add . add . DictConstruct");
  wick_value *given;
  require(wick_run(module, "f", inputs, 3, NULL, 0, NULL, &given, &error), &error);
  wick_value *got = wick_value_get_text(keep(&p, given), "a");
  expect_equal(&p, keep(&p, got), op(&p, "aten::mul", "ti", a, 3));
  wick_module_release(module);
  pool_free(&p);
}

static void test_outplace(void **state) {
  (void)state;
  Pool p = {0};
  wick_value *a = tensor(&p, 2, 2, 3), *x;
  wick_error *error = NULL;
  wick_trace_options options = {.size = sizeof options, .name = "f", .outplace = 1};
  require(wick_trace_begin(NULL, &options, (const wick_value *const[]){a}, 1, &x, &error), &error);
  wick_value *y = op(&p, "aten::clone", "t", keep(&p, x));
  op(&p, "aten::add_", "tt", y, y);
  op(&p, "aten::relu_", "t", y);
  wick_module *module = end(op(&p, "aten::neg_", "t", y));
  expect_kinds(module, "f", ". clone . add relu neg");
  wick_module_release(module);
  pool_free(&p);
}

static void expect_refused(wick_status status, wick_status wanted, wick_error *const *error, const char *part) {
  assert_int_equal(status, wanted);
  if (!strstr(wick_error_message(*error), part)) fail_msg("'%s' is not in '%s'", part, wick_error_message(*error));
  wick_error_free(*error);
}

static wick_value *list_of(Pool *p, int count, ...) {
  va_list items;
  va_start(items, count);
  const wick_value *values[MOST];
  wick_value *list;
  for (int i = 0; i < count; i++) values[i] = va_arg(items, wick_value *);
  va_end(items);
  assert_int_equal(wick_value_list(values, (size_t)count, &list, NULL), WICK_OK);
  return keep(p, list);
}

static void test_refusals(void **state) {
  (void)state;
  Pool p = {0};
  wick_error *error;
  wick_module *module;
  wick_value *out, *number = keep(&p, wick_value_int(1)), *input = tensor(&p, 1, 3), *dict,
                   *key = keep(&p, wick_value_string("a", 1));
  expect_refused(wick_trace_begin(NULL, NULL, (const wick_value *const[]){number}, 1, &out, &error),
                 WICK_INVALID_ARGUMENT, &error, "Only Tensors");
  assert_null(out);
  assert_int_equal(wick_trace_is_on(), 0);
  wick_value *x = begin(&p, input);
  expect_refused(wick_trace_begin(NULL, NULL, (const wick_value *const[]){x}, 1, &out, &error), WICK_INVALID_ARGUMENT,
                 &error, "nested");
  assert_int_equal(wick_trace_is_on(), 1);
  expect_refused(wick_trace_end(tensor(&p, 1, 2), &module, &error), WICK_RUNTIME, &error, "did not come");
  assert_null(module);
  assert_int_equal(wick_trace_is_on(), 0);
  wick_value *const empty = list_of(&p, 0), *const mixed = list_of(&p, 2, input, list_of(&p, 2, input, input));
  expect_refused(wick_trace_begin(NULL, NULL, (const wick_value *const[]){empty}, 1, &out, &error),
                 WICK_INVALID_ARGUMENT, &error, "must have elements");
  expect_refused(wick_trace_begin(NULL, NULL, (const wick_value *const[]){mixed}, 1, &out, &error),
                 WICK_INVALID_ARGUMENT, &error, "consistent element type. Found Tensor and List[Tensor]");
  x = begin(&p, input);
  expect_refused(wick_trace_end(number, &module, &error), WICK_RUNTIME, &error, "can be output");
  x = begin(&p, input);
  assert_int_equal(wick_value_dict((const wick_value *const[]){key}, (const wick_value *const[]){x}, 1, &dict, NULL),
                   WICK_OK);
  expect_refused(wick_trace_end(keep(&p, dict), &module, &error), WICK_RUNTIME, &error, "dict");
  x = begin(&p, input);
  assert_int_equal(wick_trace_fork(NULL), WICK_OK);
  expect_refused(wick_trace_leave(&error), WICK_INVALID_ARGUMENT, &error, "no submodule");
  expect_refused(wick_trace_enter("sub", &error), WICK_NOT_FOUND, &error, "sub");
  expect_refused(wick_trace_end(x, &module, &error), WICK_INVALID_ARGUMENT, &error, "fork");
  expect_refused(wick_trace_join(x, &out, &error), WICK_INVALID_ARGUMENT, &error, "does not trace");
  wick_trace_abort();
  pool_free(&p);
}

/* ---- callbacks ---- */

typedef struct Seen {
  int warnings, asked;
  uint32_t kind;
  const wick_value *x;
} Seen;
static void on_warning(void *user, uint32_t kind, const char *message) {
  Seen *seen = user;
  assert_true(strlen(message) > 20);
  seen->warnings++;
  seen->kind = kind;
}
static int on_place(void *user, wick_trace_place *out) {
  ((Seen *)user)->asked++;
  out->file = "model.py";
  out->line = 7;
  out->text = "y = x + 1";
  return 1;
}
static const char *on_name(void *user, const wick_value *tensor) {
  return wick_value_identity(tensor) == wick_value_identity(((Seen *)user)->x) ? "y" : NULL;
}

static void test_callbacks(void **state) {
  (void)state;
  Pool p = {0};
  Seen seen = {0};
  wick_error *error = NULL;
  wick_trace_options options = {
      .size = sizeof options, .warn = on_warning, .place = on_place, .name_of = on_name, .user = &seen};
  wick_value *input = tensor(&p, 1, 1), *x;
  require(wick_trace_begin(NULL, &options, (const wick_value *const[]){input}, 1, &x, &error), &error);
  keep(&p, x);
  assert_int_equal(wick_value_kind(op(&p, "aten::dim", "t", x)), WICK_INT);
  assert_int_equal(seen.warnings, 0);
  op(&p, "aten::item", "t", x);
  assert_int_equal(seen.warnings, 1);
  assert_int_equal(seen.kind, WICK_TRACE_NUMBER);
  wick_trace_pause();
  assert_int_equal(wick_trace_is_on(), 0);
  op(&p, "aten::item", "t", x);
  wick_trace_resume();
  assert_int_equal(seen.warnings, 1);
  seen.x = op(&p, "aten::add", "ti", x, 1);
  wick_value *z = op(&p, "aten::relu", "t", seen.x), *list;
  assert_int_equal(wick_value_list((const wick_value *const[]){z}, 1, &list, NULL), WICK_OK);
  wick_module *module = end(keep(&p, list));
  assert_int_equal(seen.kind, WICK_TRACE_CONTAINER);
  assert_true(seen.asked > 0);
  wick_graph *graph;
  char *text;
  assert_int_equal(wick_graph_of_method(module, "forward", 0, &graph, NULL), WICK_OK);
  assert_int_equal(wick_graph_print_places(graph, &text, NULL), WICK_OK);
  assert_non_null(strstr(text, "%y : Float(1, strides=[1], requires_grad=0, device=cpu) = aten::add("));
  assert_non_null(strstr(text, "# model.py:7:0"));
  wick_text_free(text);
  wick_graph_release(graph);
  wick_module_release(module);
  pool_free(&p);
}

/* ---- operators from outside ---- */

static wick_status kernel_inner(void *user, wick_call *call, wick_error **error) {
  (void)user;
  wick_value *x = wick_call_argument(call, 0), *out;
  wick_status status =
      wick_op_call(NULL, "aten::mul", NULL, (const wick_value *const[]){x, x}, 2, NULL, 0, &out, error);
  if (!status) wick_call_set_result(call, 0, out);
  wick_value_release(x);
  if (!status) wick_value_release(out);
  return status;
}

/* What a kernel calls is not part of the trace, whether it runs in an operator or in a program. */
static void test_operators_from_outside(void **state) {
  (void)state;
  static const char text[] = "def f(x: Tensor) -> Tensor:\n    return torch.ops.traced.square(x) + 1\n";
  Pool p = {0};
  wick_module *program, *module;
  assert_int_equal(wick_op_register("traced::square(Tensor x) -> Tensor", kernel_inner, NULL, NULL), WICK_OK);
  assert_int_equal(wick_compile(NULL, text, strlen(text), NULL, &program, NULL), WICK_OK);
  wick_value *x = begin(&p, tensor(&p, 1, 3));
  wick_value *y = op(&p, "traced::square", "t", x);
  module = end(run(&p, program, "f", y));
  wick_module_release(program);
  expect_kinds(module, "f", "traced::square . CallFunction");
  wick_module_release(module);
  pool_free(&p);
}

/* A trace holds what its caller holds: what a long trace made goes as it goes for the caller. */
static void test_long_traces(void **state) {
  (void)state;
  Pool p = {0};
  wick_value *x = begin(&p, tensor(&p, 1, 3));
  wick_value *y = wick_value_retain(x);
  for (int i = 0; i < 3000; i++) {
    wick_value *next;
    assert_int_equal(wick_op_call(NULL, "aten::sin", NULL, (const wick_value *const[]){y}, 1, NULL, 0, &next, NULL),
                     WICK_OK);
    wick_value_release(y);
    y = next;
  }
  wick_module *module = end(keep(&p, y));
  expect_equal(&p, run(&p, module, "f", x), y);
  wick_module_release(module);
  pool_free(&p);
}

/* ---- short of memory ---- */

/* Begins, records a list, a call, a size and a fork, ends; gives up at the first failure. */
static wick_status trace_some(wick_module *program, const wick_value *input, wick_error **error) {
  wick_value *x = NULL, *size = NULL, *pair = NULL, *list = NULL, *joined = NULL, *future = NULL, *waited = NULL;
  wick_module *module = NULL;
  wick_trace_options options = {.size = sizeof options, .name = "f"};
  wick_status status = wick_trace_begin(NULL, &options, &input, 1, &x, error);
  if (!status) status = wick_trace_size(x, 0, &size, error);
  if (!status) status = wick_run(program, "scaled", (const wick_value *const[]){x}, 1, NULL, 0, NULL, &pair, error);
  if (!status) status = wick_value_list((const wick_value *const[]){x, x}, 2, &list, error);
  if (!status) status = wick_trace_fork(error);
  if (!status)
    status = wick_op_call(NULL, "aten::cat", NULL, (const wick_value *const[]){list}, 1, NULL, 0, &joined, error);
  if (!status) status = wick_trace_join(joined, &future, error);
  if (!status) status = wick_trace_wait(future, &waited, error);
  if (!status)
    status = wick_trace_end(waited, &module, error);
  else
    wick_trace_abort();
  wick_value *const values[] = {x, size, pair, list, joined, future, waited};
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) wick_value_release(values[i]);
  wick_module_release(module);
  return status;
}

static void test_short_of_memory(void **state) {
  (void)state;
  Pool p = {0};
  wick_module *program;
  wick_error *error;
  wick_value *input = tensor(&p, 2, 2, 3);
  assert_int_equal(wick_compile(NULL, PROGRAM, strlen(PROGRAM), "program.py", &program, NULL), WICK_OK);
  assert_int_equal(trace_some(program, input, NULL), WICK_OK);
  for (int64_t n = 1, refused = 1; refused; n++) {
    mem_fail_after(n);
    wick_status status = trace_some(program, input, &error);
    refused = mem_fail_left() <= 0;
    mem_fail_after(0);
    if (status && status != WICK_OUT_OF_MEMORY) fail_msg("%s", wick_error_message(error));
    if (status) wick_error_free(error);
    assert_int_equal(wick_trace_is_on(), 0);
    assert_true(refused || n > 50);
  }
  wick_module_release(program);
  pool_free(&p);
}

/* ---- threads ---- */

/* Each thread traces by itself and calls one program; the parameter of all is one tensor. */
static void *trace_alone(void *argument) {
  wick_module *program = argument;
  for (int round = 0; round < 20; round++) {
    Pool p = {0};
    wick_value *input = tensor(&p, 2, 2, 3), *x = begin(&p, input);
    wick_value *pair = run(&p, program, "scaled", x), *y = op(&p, "aten::add", "ti", item(&p, pair, 0), round);
    wick_module *module = end(op(&p, "aten::relu", "t", y));
    expect_kinds(module, "f", ". . CallFunction TupleUnpack ListUnpack . . add relu");
    wick_module_release(module);
    pool_free(&p);
  }
  return NULL;
}
static void test_threads(void **state) {
  (void)state;
  enum { THREADS = 4 };
  pthread_t threads[THREADS];
  wick_module *program;
  assert_int_equal(wick_compile(NULL, PROGRAM, strlen(PROGRAM), "program.py", &program, NULL), WICK_OK);
  for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, trace_alone, program), 0);
  for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
  wick_module_release(program);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_straight),
                                     cmocka_unit_test(test_lists_and_several_results),
                                     cmocka_unit_test(test_in_place_and_views),
                                     cmocka_unit_test(test_sizes),
                                     cmocka_unit_test(test_constants),
                                     cmocka_unit_test(test_convolutions),
                                     cmocka_unit_test(test_calls),
                                     cmocka_unit_test(test_forks),
                                     cmocka_unit_test(test_containers),
                                     cmocka_unit_test(test_outplace),
                                     cmocka_unit_test(test_refusals),
                                     cmocka_unit_test(test_callbacks),
                                     cmocka_unit_test(test_operators_from_outside),
                                     cmocka_unit_test(test_long_traces),
                                     cmocka_unit_test(test_short_of_memory),
                                     cmocka_unit_test(test_threads)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
