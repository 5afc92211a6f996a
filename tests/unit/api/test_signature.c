/* wick_module_signature: what programs say of their inputs and outputs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "wick/wick.h"

#define FINE(call)                                   \
  do {                                               \
    wick_error *e = NULL;                            \
    if (call) fail_msg("%s", wick_error_message(e)); \
  } while (0)

/* "x: Tensor float32 [?, 3, ?]", with what else is known. */
static void describe(const wick_value_info *info, char *text, size_t room) {
  int n = snprintf(text, room, "%s: %s", info->name, info->type);
  if (info->dtype >= 0) n += snprintf(text + n, room - (size_t)n, " %s", wick_dtype_name((uint32_t)info->dtype));
  for (int i = 0; i < info->ndim; i++)
    n += info->sizes[i] < 0
             ? snprintf(text + n, room - (size_t)n, "%s?", i ? ", " : " [")
             : snprintf(text + n, room - (size_t)n, "%s%lld", i ? ", " : " [", (long long)info->sizes[i]);
  if (info->ndim > 0) n += snprintf(text + n, room - (size_t)n, "]");
  if (info->ndim < 0 && info->last_size >= 0)
    n += snprintf(text + n, room - (size_t)n, " [..., %lld]", (long long)info->last_size);
  if (info->index_limit >= 0) n += snprintf(text + n, room - (size_t)n, " below %lld", (long long)info->index_limit);
  snprintf(text + n, room - (size_t)n, "%s%s", info->is_optional ? " or None" : "", info->has_default ? " =" : "");
}

static void assert_says(const wick_module *module, const char *method, const char *expected) {
  wick_signature *signature;
  char all[1000], one[200];
  int n = 0;
  FINE(wick_module_signature(module, method, &signature, &e));
  for (size_t i = 0; i < wick_signature_input_count(signature); i++) {
    wick_value_info info = {.size = sizeof info};
    FINE(wick_signature_input(signature, i, &info, &e));
    describe(&info, one, sizeof one);
    n += snprintf(all + n, sizeof all - (size_t)n, "%s%s", i ? "; " : "", one);
  }
  n += snprintf(all + n, sizeof all - (size_t)n, " -> ");
  for (size_t i = 0; i < wick_signature_output_count(signature); i++) {
    wick_value_info info = {.size = sizeof info};
    FINE(wick_signature_output(signature, i, &info, &e));
    describe(&info, one, sizeof one);
    n += snprintf(all + n, sizeof all - (size_t)n, "%s%s", i ? "; " : "", one);
  }
  assert_string_equal(all, expected);
  wick_signature_release(signature);
}

static wick_attribute weight(const char *name, int32_t ndim, const int64_t *sizes) {
  wick_attribute attribute = {.size = sizeof attribute, .kind = WICK_PARAMETER, .name = name};
  wick_value *tensor;
  FINE(wick_tensor_new(WICK_FLOAT32, ndim, sizes, &tensor, &e));
  attribute.value = tensor;
  return attribute;
}

/* Methods of a module with a kernel of 8x3x5x5, a matrix of 10x6, and a table of 100 rows of 6. */
static void assert_methods_say(const char *text, const char *method, const char *expected) {
  wick_module *module;
  wick_attribute attributes[] = {weight("kernel", 4, (int64_t[]){8, 3, 5, 5}), weight("matrix", 2, (int64_t[]){10, 6}),
                                 weight("table", 2, (int64_t[]){100, 6}), weight("scale", 1, (int64_t[]){8})};
  FINE(wick_module_new(NULL, "Net", attributes, 4, &module, &e));
  for (int i = 0; i < 4; i++) wick_value_release((wick_value *)(uintptr_t)attributes[i].value);
  FINE(wick_module_define(module, NULL, text, strlen(text), NULL, &e));
  assert_says(module, method, expected);
  wick_module_release(module);
}
#define MODULE_CASE(name, text, expected)          \
  static void test_##name(void **state) {          \
    (void)state;                                   \
    assert_methods_say(text, "forward", expected); \
  }

MODULE_CASE(convolution,
            "def forward(self, x):\n"
            "    y = torch.conv2d(x, self.kernel)\n"
            "    return torch.relu(torch.batch_norm(y, self.scale, None, self.scale, self.scale, False, 0.1, 1e-5, "
            "False))\n",
            "x: Tensor float32 [?, 3, ?, ?] -> : Tensor float32 [?, 8, ?, ?]")
/* What stands between the input and the layer: arithmetic with numbers, changes of dtype and order. */
MODULE_CASE(before_the_layer,
            "def forward(self, picture):\n"
            "    x = picture.permute([0, 3, 1, 2]).to(torch.float32)\n"
            "    return torch.conv2d((x - 0.5) / 0.5, self.kernel)\n",
            "picture: Tensor [?, ?, ?, 3] -> : Tensor")
MODULE_CASE(linear, "def forward(self, x):\n    return torch._C._nn.linear(x, self.matrix)\n",
            "x: Tensor float32 [..., 6] -> : Tensor float32 [..., 10]")
MODULE_CASE(embedding,
            "def forward(self, ids, offset: int = 0):\n"
            "    return torch.embedding(self.table, ids), offset\n",
            "ids: Tensor int64 below 100; offset: int = -> : Tensor float32 [..., 6]; : int")
/* Branches that want different ranks leave it open; None is no reason to. */
MODULE_CASE(branches,
            "def forward(self, x, bias: Optional[Tensor] = None):\n"
            "    if x.dim() == 3:\n"
            "        x = x.unsqueeze(0)\n"
            "    y = torch.conv2d(x, self.kernel)\n"
            "    if bias is not None:\n"
            "        y = y + bias\n"
            "    return {'features': y, 'mask': y > 0}\n",
            "x: Tensor float32; bias: Optional[Tensor] or None = -> features: Tensor; mask: Tensor")
/* What a program tests before it goes on. */
MODULE_CASE(tests_that_raise,
            "def forward(self, x, y):\n"
            "    if x.dim() != 3:\n"
            "        raise RuntimeError('rank')\n"
            "    assert x.size(1) == 7\n"
            "    if not y.dtype == torch.int32:\n"
            "        raise RuntimeError('dtype')\n"
            "    return x\n",
            "x: Tensor [?, 7, ?]; y: Tensor int32 -> : Tensor")

static void test_archive(void **state) {
  (void)state;
  wick_module *module;
  FINE(wick_load(NULL, "program/linear.pt", NULL, &module, &e));
  assert_says(module, "forward", "x: Tensor float32 [..., 3] -> : Tensor");
  wick_module_release(module);
}

static void test_function(void **state) {
  (void)state;
  const char *text =
      "class Point(NamedTuple):\n    x: Tensor\n    count: int\n"
      "def f(a: List[Tensor], n: Dict[str, int]) -> Point:\n    return Point(a[0], n['x'])\n";
  wick_module *module;
  wick_signature *signature = NULL;
  FINE(wick_compile(NULL, text, strlen(text), "test.py", &module, &e));
  assert_says(module, "f", "a: List[Tensor]; n: Dict[str, int] -> x: Tensor; count: int");
  assert_int_equal(wick_module_signature(module, "g", &signature, NULL), WICK_NOT_FOUND);
  assert_null(signature);
  FINE(wick_module_signature(module, "f", &signature, &e));
  wick_module_release(module); /* the signature does without */
  wick_signature_release(wick_signature_retain(signature));
  wick_value_info info = {.size = sizeof info};
  assert_int_equal(wick_signature_input(signature, 2, &info, NULL), WICK_NOT_FOUND);
  FINE(wick_signature_input(signature, 1, &info, &e));
  assert_string_equal(info.type, "Dict[str, int]");
  assert_int_equal(info.kind, WICK_DICT);
  wick_signature_release(signature);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_convolution), cmocka_unit_test(test_before_the_layer),
                                     cmocka_unit_test(test_linear),      cmocka_unit_test(test_embedding),
                                     cmocka_unit_test(test_branches),    cmocka_unit_test(test_tests_that_raise),
                                     cmocka_unit_test(test_archive),     cmocka_unit_test(test_function)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
