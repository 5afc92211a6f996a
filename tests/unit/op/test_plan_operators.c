/* Operators that only passes make: nobody else can name them, whatever the way in; graphs hold them, and what is wrong
 * with their types is found before they run; and given what they do not take, their kernels say so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "../../small_archive.h"
#include "api/api.h"
#include "call/operator.h"
#include "wick/wick.h"

/* ---- names ---- */

static void expect_refused(const char *what, const char *name, wick_status status, wick_error *error) {
  char text[200];
  snprintf(text, sizeof text, "%s: only passes make it", name);
  if (!status) fail_msg("%s lets %s through", what, name);
  if (status == WICK_INTERNAL || !strstr(wick_error_message(error), text))
    fail_msg("%s, %s: %s", what, name, wick_error_message(error));
  wick_error_free(error);
}

static void refused_in_program(const char *name, const char *path) {
  char text[300];
  wick_module *module;
  wick_error *error = NULL;
  snprintf(text, sizeof text, "def f(x: Tensor):\n    return torch.ops.%s(x)\n", path);
  wick_status status = wick_compile(NULL, text, strlen(text), NULL, &module, &error);
  expect_refused("a program", name, status, error);
}

static void refused_in_archive(const char *name, const char *path) {
  char code[600];
  wick_module *module;
  wick_error *error = NULL;
  snprintf(code, sizeof code,
           "class M(Module):\n"
           "  __parameters__ = []\n"
           "  __buffers__ = []\n"
           "  def forward(self: __torch__.M, x: Tensor):\n"
           "    return ops.%s(x)\n",
           path);
  Bytes file = archive_of(code, plain_object, sizeof plain_object - 1, no_constants, sizeof no_constants - 1);
  wick_load_options options = {.size = sizeof options, .allow_ops = name};
  for (int is_allowed = 0; is_allowed < 2; is_allowed++) {
    wick_status status = wick_load_memory(NULL, file.data, file.length, is_allowed ? &options : NULL, &module, &error);
    expect_refused("an archive", name, status, error);
  }
  free(file.data);
}

static void refused_for_caller(const char *name) {
  wick_value *result;
  wick_error *error = NULL;
  wick_status status = wick_op_call(NULL, name, NULL, NULL, 0, NULL, 0, &result, &error);
  expect_refused("wick_op_call", name, status, error);
  if (wick_op_exists(name) || wick_overload_first(name)) fail_msg("%s is listed", name);
}

static void refused_in_graph(const char *name) {
  static const char text[] = "graph(%x : Tensor):\n  return (%x)\n";
  wick_graph *graph;
  wick_ir_value *made;
  wick_error *error = NULL;
  assert_int_equal(wick_graph_parse(text, sizeof text - 1, &graph, NULL), WICK_OK);
  wick_status status = wick_node_insert(wick_graph_block(graph), NULL, name, NULL, 0, NULL, 0, &made, &error);
  expect_refused("wick_node_insert", name, status, error);
  wick_graph_release(graph);
}

static wick_status answer_alias(void *user, const char *name, wick_name *out) {
  if (strcmp(name, "mine")) return WICK_OK;
  out->kind = WICK_NAME_ALIAS;
  out->member = user;
  return WICK_OK;
}
static void refused_as_alias(const char *name, const char *path) {
  static const char text[] = "def f(x: Tensor):\n    return mine(x)\n";
  char alias[200];
  wick_module *module;
  wick_error *error = NULL;
  snprintf(alias, sizeof alias, "torch.ops.%s", path);
  wick_compile_options options = {.size = sizeof options, .resolve = answer_alias, .user = alias};
  wick_status status = wick_compile_with(NULL, text, sizeof text - 1, &options, &module, &error);
  expect_refused("a resolver", name, status, error);
}

static void nobody_can_name_them(void **state) {
  (void)state;
  size_t count = 0;
  for (const Operator *op = operator_next(NULL); op; op = operator_next(op)) {
    char name[100], path[100];
    if (!operator_is_of_plans(op)) continue;
    snprintf(name, sizeof name, STR_FMT, STR_ARG(op->name));
    char *colon = strchr(strcpy(path, name), ':');
    *colon = '.';
    memmove(colon + 1, colon + 2, strlen(colon + 2) + 1);
    refused_in_program(name, path);
    refused_in_archive(name, path);
    refused_for_caller(name);
    refused_in_graph(name);
    refused_as_alias(name, path);
    count++;
  }
  assert_true(count > 15);
}

/* The prelude is wick's own text: what it names is there, for programs that use it. */
static void prelude_can(void **state) {
  (void)state;
  static const char text[] =
      "def f(q: Tensor):\n"
      "    return torch.nn.functional.scaled_dot_product_attention(q, q, q, None, 0.0, True)\n";
  wick_module *module;
  assert_int_equal(wick_compile(NULL, text, sizeof text - 1, NULL, &module, NULL), WICK_OK);
  wick_module_release(module);
}

/* ---- graphs ---- */

static void graphs_are_checked(void **state) {
  (void)state;
  static const struct {
    const char *text, *error; /* NULL: nothing is wrong */
  } cases[] = {
      {"graph(%a : Tensor, %d : int):\n  %r : Tensor = prim::VarStack(%a, %a, %d)\n  return (%r)\n", NULL},
      {"graph(%a : Tensor, %d : str):\n  %r : Tensor = prim::VarStack(%a, %a, %d)\n  return (%r)\n", "no schema fits"},
      {"graph(%a : int):\n  %r : Tensor = prim::MMTreeReduce(%a, %a)\n  return (%r)\n", "no schema fits"},
      {"graph(%a : int):\n  %r : int[] = prim::BroadcastSizes(%a)\n  return (%r)\n", "no schema fits"},
      {"graph(%a : int[]):\n  %r : int[] = prim::BroadcastSizes(%a, %a)\n  return (%r)\n", NULL},
      {"graph(%a : Tensor):\n  %r : int = prim::MMBatchSide[side=0](%a, %a)\n  return (%r)\n", "the outputs are not"},
      {"graph(%a : Tensor):\n  %r : int = wick::region(%a, %a, %a)\n  return (%r)\n", "the outputs are not"},
      {"graph(%a : Tensor):\n  %r : Tensor = wick::region_0(%a, %a, %a)\n  return (%r)\n"
       "with wick::region_0 = graph(%a : Tensor, %b : Tensor):\n  return (%b)\n",
       NULL},
      {"graph(%a : Tensor):\n  %r : Tensor = wick::region_0(%a, %a, %a)\n  return (%r)\n"
       "with wick::region_0 = graph(%a : Tensor, %b : Tensor, %c : Tensor, %d : Tensor):\n  return (%b)\n",
       "the Subgraph takes more inputs"},
      {"graph(%a : Tensor):\n  %r : Tensor = wick::region_0(%a, %a, %a)\n  return (%r)\n"
       "with wick::region_0 = graph(%a : Tensor, %b : int[]):\n  return (%a)\n",
       "the Subgraph takes another type of input"},
      {"graph(%a : Tensor):\n  %r : Tensor = wick::region_0(%a, %a, %a)\n  return (%r)\n"
       "with wick::region_0 = graph(%a : Tensor):\n  return (%a, %a)\n",
       "the Subgraph gives another number of outputs"},
      {"graph(%a : Tensor):\n  %r : Tensor = wick::region_0(%a, %a, %a)\n  return (%r)\n"
       "with wick::region_0 = graph(%a : Tensor):\n  %n : int = prim::Constant[value=1]()\n  return (%n)\n",
       "the Subgraph gives another type of output"},
      {"graph(%a : Tensor):\n  %r : int = prim::AutogradAdd(%a, %a)\n  return (%r)\n", "the outputs are not"},
      {"graph(%a : Tensor):\n  %r : int = prim::ConstantChunk[chunks=1, dim=0](%a)\n  return (%r)\n",
       "takes and gives"},
      {"graph(%a : Tensor):\n  %r : Tensor = prim::FusedConcat(%a, %a)\n  return (%r)\n", "lacks an attribute"},
      {"graph(%a : int[]):\n  %r : int[], %s : int[] = prim::ChunkSizes[chunks=0, dim=0](%a)\n  return (%r, %s)\n",
       "there are no chunks"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    wick_graph *graph = NULL;
    wick_error *error = NULL;
    wick_status status = wick_graph_parse(cases[i].text, strlen(cases[i].text), &graph, &error);
    if (status ? !cases[i].error || !strstr(wick_error_message(error), cases[i].error) : cases[i].error != NULL)
      fail_msg("%s%s", cases[i].text, error ? wick_error_message(error) : "is let through");
    wick_error_free(error);
    wick_graph_release(graph);
  }
}

/* ---- kernels ---- */

static IValue matrix(int64_t rows, int64_t columns) {
  TensorSpec spec = {.dtype = DTYPE_FLOAT32, .ndim = 2, .sizes = {rows, columns}};
  Tensor *t;
  assert_null(tensor_new(&spec, &t));
  memset(tensor_data(t), 0, (size_t)t->numel * sizeof(float));
  return ivalue_tensor(t);
}
static IValue text(const char *content) {
  IValue value;
  assert_null(ivalue_from_str(str_from(content), &value));
  return value;
}

enum { MAX_INPUTS = 16 };
/* Takes over the inputs. */
static void expect_error(const char *name, const char *error, uint32_t count, IValue *inputs) {
  Exec exec;
  IValue output = IVALUE_NONE;
  const Operator *op = operator_find(str_from(name));
  Call call = {.inputs = inputs, .input_count = count, .outputs = &output, .output_count = 1};
  assert_non_null(op);
  api_exec_init(&exec, NULL);
  Status status = operator_call(&exec, op, &call);
  if (!status || !strstr(status->message, error)) fail_msg("%s: %s", name, status ? status->message : "a result");
  status_free(status);
  for (uint32_t i = 0; i < count; i++) ivalue_release(inputs[i]);
}
#define EXPECT_ERROR(name, error, ...)                                             \
  do {                                                                             \
    IValue inputs[] = {__VA_ARGS__};                                               \
    expect_error(name, error, (uint32_t)(sizeof inputs / sizeof *inputs), inputs); \
  } while (0)

static void kernels_look(void **state) {
  (void)state;
  const IValue number = ivalue_int(1311768467294899695), none = IVALUE_NONE;
  const IValue undefined = ivalue_tensor(tensor_undefined());
  EXPECT_ERROR("prim::BroadcastSizes", "'List[int]' for argument 0 but instead found type 'int'", number);
  EXPECT_ERROR("prim::VarStack", "'int' for argument 2 but instead found type 'str'", matrix(2, 2), matrix(2, 2),
               text("a"));
  EXPECT_ERROR("prim::VarConcat", "'Tensor' for argument 0", number, ivalue_int(0));
  expect_error("prim::VarConcat", "It does not take 0 arguments", 0, NULL);
  EXPECT_ERROR("prim::VarConcat", "an undefined Tensor", ivalue_retain(undefined), ivalue_int(0));
  EXPECT_ERROR("wick::region", "and it has no body", matrix(2, 2), number, none, text("gelu"));
  EXPECT_ERROR("prim::TupleIndex", "'tuple' for argument 0", number, ivalue_int(0));
  ivalue_release(undefined);
}

/* Undefined tensors among others, where sizes are read. */
static void lists_are_of_tensors(void **state) {
  (void)state;
  List *list;
  assert_null(list_new(TYPE(TENSOR), 2, &list));
  assert_null(list_append(list, matrix(2, 2)));
  assert_null(list_append(list, ivalue_tensor(tensor_undefined())));
  EXPECT_ERROR("aten::cat", "an undefined Tensor in C++) for argument #0 'tensors'", ivalue_list(list), ivalue_int(0));
}

/* ---- programs ---- */

static void programs_end_in_errors(void **state) {
  (void)state;
  static const struct {
    const char *text, *error;
  } cases[] = {
      {"def f(q: Tensor):\n"
       "    w = torch.quantize_per_tensor(torch.ones([4, 4, 3, 3]), 0.1, 0, torch.qint8)\n"
       "    return torch.ops.quantized.conv2d_prepack(w, None, [1, 1], [1], [1, 1], 1)\n",
       "expected 2 numbers, got 1"},
      {"def f(q: Tensor):\n"
       "    return torch.ops.prim.TupleIndex([1, 2], 3)\n",
       "'tuple' for argument 0 but instead found type 'List[int]'"},
      {"def f(q: Tensor):\n"
       "    return torch.ops.prim.TupleIndex((1, 2), 3)\n",
       "the tuple holds no such element"},
      {"def f(q: Tensor):\n"
       "    return torch.ops.prim.TupleUnpack((1, 2))\n",
       "the tuple holds no such elements"},
      {"def f(q: Tensor):\n"
       "    return torch.ops.prim.tolist(q, 1, 1)\n",
       "it gives another number of outputs"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    wick_module *module = NULL;
    wick_value *result = NULL, *ones = NULL;
    wick_error *error = NULL;
    wick_status status = wick_compile(NULL, cases[i].text, strlen(cases[i].text), NULL, &module, &error);
    if (!status) {
      int64_t size = 1;
      assert_int_equal(wick_tensor_new(WICK_FLOAT32, 1, &size, &ones, NULL), WICK_OK);
      status = wick_run(module, "f", (const wick_value *const[]){ones}, 1, NULL, 0, NULL, &result, &error);
    }
    if (!status || status == WICK_INTERNAL || !strstr(wick_error_message(error), cases[i].error))
      fail_msg("%s%s", cases[i].text, error ? wick_error_message(error) : "gives a result");
    wick_error_free(error);
    wick_value_release(ones);
    wick_value_release(result);
    wick_module_release(module);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nobody_can_name_them), cmocka_unit_test(prelude_can),
      cmocka_unit_test(graphs_are_checked),   cmocka_unit_test(kernels_look),
      cmocka_unit_test(lists_are_of_tensors), cmocka_unit_test(programs_end_in_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
