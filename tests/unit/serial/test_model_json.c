/* Archives of the first format, newer archives' additions, and what operators meant in older versions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "wick/wick.h"
#include "../../zip_writer.h"

static const char model[] =
    "{\"protoVersion\":\"5\",\"mainModule\":{\"torchscriptArena\":{\"key\":\"code/m.py\"},\"name\":\"m\","
    "\"submodules\":[{\"torchscriptArena\":{\"key\":\"code/m_1.py\"},\"name\":\"sub\","
    "\"parameters\":[{\"isBuffer\":false,\"tensorId\":\"0\",\"name\":\"weight\"}]}],"
    "\"attributes\":[{\"type\":\"List[int]\",\"name\":\"ints\",\"id\":\"0\"},"
    "{\"type\":\"Tensor\",\"name\":\"t\",\"id\":\"1\"},{\"type\":\"float\",\"name\":\"f\",\"id\":2}]},"
    "\"libs\":{\"torchscriptArena\":{\"key\":\"libs.py\"}},\"tensors\":["
    "{\"dims\":[\"2\"],\"offset\":\"1\",\"strides\":[\"1\"],\"requiresGrad\":true,\"dataType\":\"FLOAT\","
    "\"data\":{\"key\":\"tensors/0\"},\"device\":\"cpu\"},"
    "{\"dims\":[\"2\"],\"offset\":\"0\",\"strides\":[\"1\"],\"requiresGrad\":false,\"dataType\":\"INT64\","
    "\"data\":{\"key\":\"tensors/1\"},\"device\":\"cpu\"}]}";
static const char attributes[] =
    "\x80\x02("
    "ctorch.jit._pickle\nbuild_intlist\n(](K\x01K\x02K\x03"
    "etR"
    "ctorch.jit._pickle\nbuild_tensor_from_id\n(K\x01tR"
    "G\x40\x04\0\0\0\0\0\0t.";
static const char main_code[] =
    "op_version_set = 0\n"
    "def forward(self,\n"
    "    x: Tensor) -> Tensor:\n"
    "  p = Pair((self.sub).forward(x), torch.div(self.t, 2))\n"
    "  return torch.add(torch.add(p.a, p.b, alpha=1), (self.ints)[1], alpha=1)\n";
static const char sub_code[] =
    "op_version_set = 0\n"
    "def forward(self,\n"
    "    x: Tensor) -> Tensor:\n"
    "  return torch.mul(x, self.weight)\n";
static const char library[] =
    "op_version_set = 0\n"
    "class Pair(NamedTuple):\n"
    "  a : Tensor\n"
    "  b : Tensor\n";

static void add_bytes(Packed *zip, const char *name, const void *content, size_t length) {
  Bytes bytes = {0};
  put(&bytes, content, length);
  pack_record(zip, name, strlen(name), &bytes);
  free(bytes.data);
}
static void add_text(Packed *zip, const char *name, const char *text) {
  add_bytes(zip, name, text, strlen(text));
}

static Bytes archive_with(const char *json, size_t json_length) {
  const float floats[] = {9, 2, 3};
  const int64_t ints[] = {7, -7};
  Packed zip = {0};
  add_text(&zip, "m/version", "1\n");
  add_text(&zip, "m/code/m.py", main_code);
  add_text(&zip, "m/code/m_1.py", sub_code);
  add_text(&zip, "m/libs.py", library);
  add_bytes(&zip, "m/attributes.pkl", attributes, sizeof attributes - 1);
  add_bytes(&zip, "m/tensors/0", floats, sizeof floats);
  add_bytes(&zip, "m/tensors/1", ints, sizeof ints);
  add_bytes(&zip, "m/model.json", json, json_length);
  pack_finish(&zip);
  return zip.file;
}

/* NULL and the message (static) when refused. */
static wick_module *load(const Bytes *file, char message[400]) {
  wick_module *module;
  wick_error *error;
  wick_load_options options = {.size = sizeof options};
  if (!wick_load_memory(NULL, file->data, file->length, &options, &module, &error)) return module;
  snprintf(message, 400, "%s", wick_error_message(error));
  wick_error_free(error);
  return NULL;
}
static bool has_json(void) { /* built with cJSON, and it can be opened */
  char message[400] = "";
  Bytes file = archive_with("{}", 2);
  wick_module *module = load(&file, message);
  assert_null(module);
  free(file.data);
  return !strstr(message, "JSON can't be read");
}

static void expect_floats(wick_module *module, const float *input, const float *want, size_t count) {
  wick_value *x, *result;
  int64_t sizes[] = {(int64_t)count};
  assert_int_equal(wick_tensor_borrow((void *)(uintptr_t)input, WICK_FLOAT32, 1, sizes, NULL, NULL, NULL, &x, NULL), 0);
  assert_int_equal(wick_run(module, "forward", (const wick_value *const[]){x}, 1, NULL, 0, NULL, &result, NULL), 0);
  wick_tensor_view view = {.size = sizeof view};
  assert_int_equal(wick_tensor_view_of(result, &view, NULL), 0);
  assert_memory_equal(view.data, want, count * sizeof *want);
  wick_value_release(result);
  wick_value_release(x);
}

static void test_whole_model(void **state) {
  (void)state;
  if (!has_json()) skip();
  char message[400] = "";
  Bytes file = archive_with(model, sizeof model - 1);
  wick_module *module = load(&file, message);
  if (!module) fail_msg("%s", message);
  expect_floats(module, (const float[]){1, 1}, (const float[]){7, 2}, 2); /* 7 / 2 is 3: version 1 */
  wick_value *parameters;
  assert_int_equal(wick_module_state_dict(module, &parameters, NULL), 0);
  assert_int_equal(wick_value_length(parameters), 1);
  wick_value *weight = wick_value_get_text(parameters, "sub.weight");
  assert_non_null(weight);
  wick_value_release(weight);
  wick_value_release(parameters);
  wick_module_release(module);
  free(file.data);
}

/* Each is a replacement in the model's text and a part of the message that follows. */
static void test_refusals(void **state) {
  (void)state;
  if (!has_json()) skip();
  static const struct {
    const char *from, *to, *message;
  } cases[] = {
      {"\"dims\":[\"2\"]", "\"dims\":[\"3\"]", "tensors/0"},
      {"\"offset\":\"1\"", "\"offset\":\"4611686018427387904\"", "tensors/0"},
      {"\"offset\":\"1\"", "\"offset\":\"-1\"", "tensors/0"},
      {"\"dataType\":\"FLOAT\"", "\"dataType\":\"STRING\"", "dataType 'STRING'"},
      {"\"key\":\"tensors/0\"", "\"key\":\"tensors/9\"", "tensors/9"},
      {"\"tensorId\":\"0\"", "\"tensorId\":\"2\"", "tensor 2 of a table of 2"},
      {"\"id\":\"0\"", "\"id\":\"3\"", "attribute 3 of 3"},
      {"\"name\":\"t\"", "\"name\":\"ints\"", "twice"},
      {"\"type\":\"float\"", "\"type\":\"str\"", "m.f"},
      {"code/m_1.py", "code/m_2.py", "code/m_2.py"},
      {"\"device\":\"cpu\"", "\"device\":\"cuda:0\"", "cuda:0"},
      {"\"mainModule\":{", "\"otherModule\":{", "a module is no object"},
      {"{\"protoVersion\"", "[{\"protoVersion\"", "damaged JSON"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[sizeof model + 64], message[400] = "";
    const char *at = strstr(model, cases[i].from);
    assert_non_null(at);
    int length =
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - model), model, cases[i].to, at + strlen(cases[i].from));
    Bytes file = archive_with(text, (size_t)length);
    wick_module *module = load(&file, message);
    if (module || !strstr(message, cases[i].message))
      fail_msg("%s: '%s' does not say '%s'", cases[i].to, message, cases[i].message);
    free(file.data);
  }
}

/* Cut and changed texts end in a module or an error. */
static void test_damage(void **state) {
  (void)state;
  if (!has_json()) skip();
  char text[sizeof model], message[400];
  for (size_t i = 0; i < sizeof model - 1; i += 3) {
    for (int cut = 0; cut < 2; cut++) {
      memcpy(text, model, sizeof model);
      text[i] = "{}[],\"09-"[i % 9];
      Bytes file = archive_with(text, cut ? i : sizeof model - 1);
      wick_module_release(load(&file, message));
      free(file.data);
    }
  }
}

static Bytes plain_archive(const char *version, const char *byte_order, const char *expression) {
  static const char data[] =
      "\x80\x02"
      "c__torch__\nM\n)\x81}b.",
                    constants[] = "\x80\x02).";
  char code[400];
  snprintf(code, sizeof code,
           "class M(Module):\n  __parameters__ = []\n  __buffers__ = []\n"
           "  def forward(self: __torch__.M,\n    x: Tensor) -> Tensor:\n    return %s\n",
           expression);
  Packed zip = {0};
  add_text(&zip, "m/version", version);
  add_bytes(&zip, "m/data.pkl", data, sizeof data - 1);
  add_bytes(&zip, "m/constants.pkl", constants, sizeof constants - 1);
  add_text(&zip, "m/code/__torch__.py", code);
  if (byte_order) {
    add_text(&zip, "m/byteorder", byte_order);
    add_text(&zip, "m/.format_version", "1");
    add_text(&zip, "m/.storage_alignment", "64");
    add_text(&zip, "m/.data/serialization_id", "0123456789");
  }
  pack_finish(&zip);
  return zip.file;
}
static void expect_result(const char *version, const char *byte_order, const char *expression, float want) {
  char message[400] = "";
  Bytes file = plain_archive(version, byte_order, expression);
  wick_module *module = load(&file, message);
  if (!module) fail_msg("%s: %s", expression, message);
  expect_floats(module, (const float[]){7}, &want, 1);
  wick_module_release(module);
  free(file.data);
}
static void expect_failure(const char *version, const char *byte_order, const char *expression, const char *part) {
  char message[400] = "";
  Bytes file = plain_archive(version, byte_order, expression);
  wick_module *module = load(&file, message);
  if (module || !strstr(message, part)) fail_msg("'%s' does not say '%s'", message, part);
  free(file.data);
}

static void test_older_meanings(void **state) {
  (void)state;
  static const char whole[] = "torch.to(torch.div(torch.to(x, 4), 2), 6)", real[] = "torch.div(x, 2)",
                    in_place[] = "torch.to(torch.div_(torch.to(x, 4), torch.tensor([-2])), 6)",
                    number[] = "torch.add(x, torch.div(7, 2))";
  expect_result("3\n", NULL, whole, 3);
  expect_result("4\n", NULL, whole, 3.5f);
  expect_result("3\n", NULL, real, 3.5f);
  expect_result("2\n", NULL, in_place, -3);
  expect_result("3\n", NULL, number, 10.5f);
  expect_result("3\n", NULL, "torch.div(x, torch.full([1], 2))", 3.5f);
  expect_result("4\n", NULL, "torch.div(torch.full([1], 7), 2)", 3.5f);
  expect_result("7\n", NULL, "torch.add(x, torch.size(torch.linspace(0., 1.), 0))", 107);
  expect_result("8\n", NULL, "torch.add(x, torch.size(torch.logspace(0., 1.), 0))", 107);
  expect_failure("8\n", NULL, "torch.add(x, torch.size(torch.linspace(0., 1.), 0))", "steps");
}

static void test_newer_archives(void **state) {
  (void)state;
  expect_result("10\n", "little", "torch.div(x, 2)", 3.5f);
  expect_result("12\n", "little", "torch.div(x, 2)", 3.5f);
  expect_failure("12\n", "little", "torch.no_such_operator(x)", "version 12");
  expect_failure("10\n", "big", "torch.div(x, 2)", "'big' byte order");
  expect_failure("0\n", NULL, "x", "version 0");
  expect_failure("new\n", NULL, "x", "no number");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_whole_model),    cmocka_unit_test(test_refusals),       cmocka_unit_test(test_damage),
      cmocka_unit_test(test_older_meanings), cmocka_unit_test(test_newer_archives),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
