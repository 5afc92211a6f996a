/* Programs of torch.export from texts: what is checked of inputs, what is refused and how, and damaged files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "wick/wick.h"
#include "api/handles.h"
#include "../../zip_writer.h"

/* ---- files ---- */

#define TUPLE(children) \
  "{\\\"type\\\":\\\"builtins.tuple\\\",\\\"context\\\":\\\"null\\\",\\\"children_spec\\\":[" children "]}"
#define LEAF "{\\\"type\\\":null,\\\"context\\\":null,\\\"children_spec\\\":[]}"
#define NO_NAMES "{\\\"type\\\":\\\"builtins.dict\\\",\\\"context\\\":\\\"[]\\\",\\\"children_spec\\\":[]}"
#define SPEC(children) "\"[1," TUPLE(TUPLE(children) "," NO_NAMES) "]\""
#define META(sizes, strides)                                 \
  "{\"dtype\":7,\"sizes\":[" sizes "],\"strides\":[" strides \
  "],\"layout\":7,\"requires_grad\":false,"                  \
  "\"device\":{\"type\":\"cpu\",\"index\":null},\"storage_offset\":{\"as_int\":0}}"
#define INT(n) "{\"as_int\":" #n "}"
#define EXPRESSION(text) "{\"as_expr\":{\"expr_str\":\"" text "\",\"hint\":null}}"
#define TENSOR(name) "{\"as_tensor\":{\"name\":\"" name "\"}}"
#define INPUT(name, arg) "{\"name\":\"" name "\",\"arg\":" arg ",\"kind\":1}"
#define NODE(target, inputs, outputs) \
  "{\"target\":\"" target "\",\"inputs\":[" inputs "],\"outputs\":[" outputs "],\"metadata\":{}}"
#define SUM NODE("torch.ops.aten.add.Tensor", INPUT("self", TENSOR("x")) "," INPUT("other", TENSOR("w")), TENSOR("sum"))

/* A program of x and a buffer w; the sizes of x, the nodes, the symbols' ranges and the version are given. */
#define PROGRAM(sizes, nodes, ranges, version) PROGRAM_WITH(sizes, nodes, ranges, version, "")
#define PROGRAM_WITH(sizes, nodes, ranges, version, guards) PROGRAM_GIVING(sizes, nodes, ranges, version, guards, LEAF)
#define PROGRAM_GIVING(sizes, nodes, ranges, version, guards, result) \
  "{\"graph_module\":{\"graph\":{\"inputs\":[" TENSOR("w") "," TENSOR("x") "],\"outputs\":[" TENSOR("sum") "],"      \
  "\"nodes\":[" nodes "],\"tensor_values\":{\"x\":" META(sizes, "{\"as_int\":1}") "},\"sym_int_values\":{}},"         \
  "\"signature\":{\"input_specs\":[{\"buffer\":{\"arg\":{\"name\":\"w\"},\"buffer_name\":\"a.w\",\"persistent\":true}}," \
  "{\"user_input\":{\"arg\":" TENSOR("x") "}}],\"output_specs\":[{\"user_output\":{\"arg\":" TENSOR("sum") "}}]},"   \
  "\"module_call_graph\":[{\"fqn\":\"\",\"signature\":{\"in_spec\":" SPEC(LEAF) ",\"out_spec\":\"[1," result "]\"}}]},"  \
  "\"range_constraints\":{" ranges "},\"schema_version\":{\"major\":" version ",\"minor\":1},\"torch_version\":\"2.8\"," \
  "\"guards_code\":[" guards "]}"
#define WEIGHTS(path, meta) \
  "{\"config\":{\"a.w\":{\"path_name\":\"" path "\",\"use_pickle\":false,\"tensor_meta\":" meta "}}}"
#define GOOD_WEIGHTS WEIGHTS("w0", META(INT(1), INT(1)))

static void add_bytes(Packed *zip, const char *name, const void *content, size_t length) {
  Bytes bytes = {0};
  put(&bytes, content, length);
  pack_record(zip, name, strlen(name), &bytes);
  free(bytes.data);
}
static Bytes pack(const char *program, const char *weights) {
  static const float data[] = {5, 6, 7, 8};
  Packed zip = {0};
  add_bytes(&zip, "m/archive_format", "pt2", 3);
  add_bytes(&zip, "m/models/model.json", program, strlen(program));
  add_bytes(&zip, "m/data/weights/model_weights_config.json", weights, strlen(weights));
  add_bytes(&zip, "m/data/weights/w0", data, sizeof data);
  pack_finish(&zip);
  return zip.file;
}
/* NULL and the message when refused; frees the file. */
static wick_module *load(Bytes file, char message[600]) {
  wick_module *module;
  wick_error *error;
  wick_status status = wick_load_memory(NULL, file.data, file.length, NULL, &module, &error);
  free(file.data);
  message[0] = 0;
  if (!status) return module;
  snprintf(message, 600, "%s", wick_error_message(error));
  wick_error_free(error);
  return NULL;
}

static wick_value *floats(const char *shape) { /* one digit for each dimension */
  wick_value *tensor;
  int64_t sizes[4];
  int32_t ndim = 0;
  for (; shape[ndim]; ndim++) sizes[ndim] = shape[ndim] - '0';
  assert_int_equal(wick_tensor_new(WICK_FLOAT32, ndim, sizes, &tensor, NULL), WICK_OK);
  return tensor;
}
/* Runs forward of a tensor of that shape: "" or what it says. */
static void run(wick_module *module, const char *shape, char message[600]) {
  wick_value *x = floats(shape), *result = NULL;
  wick_error *error = NULL;
  message[0] = 0;
  if (wick_run(module, "forward", (const wick_value *const[]){x}, 1, NULL, 0, NULL, &result, &error)) {
    snprintf(message, 600, "%s", wick_error_message(error));
    wick_error_free(error);
  }
  wick_value_release(result);
  wick_value_release(x);
}

/* ---- inputs ---- */

static void test_checks_sizes(void **state) {
  (void)state;
#define WITH(sizes, ranges) PROGRAM(sizes, SUM, ranges, "8")
#define GUARDED(guards) PROGRAM_WITH(EXPRESSION("s0") "," EXPRESSION("s1"), SUM, "", "8", guards)
#define RANGE(least, most) "\"s0\":{\"min_val\":" least ",\"max_val\":" most "}"
#define POWERS(of) "((((((((((((((((" of ")**8)**8)**8)**8)**8)**8)**8)**8)**8)**8)**8)**8)**8)**8)**8)**8"
  static const struct {
    const char *program, *shape, *message;
  } cases[] = {
      {WITH(INT(2) "," INT(1), ""), "21", ""},
      {WITH(INT(2) "," INT(1), ""), "2", "x.dim() is 1, expected 2"},
      {WITH(INT(2) "," INT(1), ""), "31", "x.size(0) is 3, expected 2"},
      {WITH(EXPRESSION("s0") "," EXPRESSION("s0"), RANGE("2", "4")), "44", ""},
      {WITH(EXPRESSION("s0") "," EXPRESSION("s0"), RANGE("2", "4")), "11", ""}, /* as PyTorch: 2 is export's own */
      {WITH(EXPRESSION("s0") "," EXPRESSION("s0"), RANGE("2", "4")), "43", "x.size(1) is 3, expected 4, as x.size(0)"},
      {WITH(EXPRESSION("s0"), RANGE("2", "4")), "5", "x.size(0) is 5, at most 4"},
      {WITH(EXPRESSION("s0"), RANGE("3", "null")), "2", "x.size(0) is 2, at least 3"},
      {WITH(EXPRESSION("Symbol('s0', positive=True, integer=True)") "," EXPRESSION("Add(Symbol('s0'), Integer(-1))"),
            ""),
       "43", ""},
      {WITH(EXPRESSION("Symbol('s0')") "," EXPRESSION("Add(Mul(Integer(2), Symbol('s0')), Integer(-1))"), ""), "36",
       "x.size(1) is 6, expected 5"},
      {WITH(EXPRESSION("2*s0 + 1"), ""), "5", ""},
      {WITH(EXPRESSION("2*s0 + 1"), ""), "4", "x.size(0) is 4, expected 2 * n + 1"},
      {WITH(EXPRESSION("s0") "," EXPRESSION("(s0//2)*Mod(s0, 3)"), ""), "53", "x.size(1) is 3, expected 4"},
      {WITH(EXPRESSION("s0") "," EXPRESSION("s0**2"), ""), "29", "x.size(1) is 9, expected 4"},
      {WITH(EXPRESSION("s0") "," EXPRESSION("Max(1, s0 - 5)"), ""), "72", ""},
      {WITH(EXPRESSION("s0") "," EXPRESSION("unheard_of(s0)"), ""), "72", ""},
      {WITH(EXPRESSION("s0") "," EXPRESSION("-s0**2 + 20"), ""), "44", ""},
      {WITH(EXPRESSION("s0") "," EXPRESSION("s0 - Integer(-9223372036854775808)"), ""), "72",
       "x.size(1) is 2, expected"},
      {GUARDED("\"" POWERS("L['x'].size()[0]") " != 7\""), "64", ""}, /* too large: left out */
      {GUARDED("\"L['x'].size()[0] != 13\",\"L['x'].size()[1] <= (L['x'].size()[0] // 2)\""), "63", ""},
      {GUARDED("\"L['x'].size()[1] <= (L['x'].size()[0] // 2)\""), "64",
       "exported for sizes with L['x'].size()[1] <= (L['x'].size()[0] // 2)"},
      {GUARDED("\"L['flat_args'][0].size()[0] != 6\""), "64",
       "exported for sizes with L['flat_args'][0].size()[0] != 6"},
      {GUARDED("\"(L['x'].size()[0] % 2) == 0 and not (L['x'].size()[1] > 6 or L['x'].size()[1] == 3)\""), "64", ""},
      {GUARDED("\"(L['x'].size()[0] % 2) == 0 and not (L['x'].size()[1] > 6 or L['x'].size()[1] == 3)\""), "63",
       "exported for sizes with (L['x']"},
      {GUARDED("\"math.trunc(0.7*torch.sym_float(L['x'].size()[0])) == 3\",\"(L['x'].size()[0] / 2) > 1.5e0\""), "54",
       ""},
      {GUARDED("\"math.trunc(0.7*torch.sym_float(L['x'].size()[0])) == 3\""), "64", "== 3"},
      {GUARDED("\"math.ceil(L['x'].size()[0] / 3) == 2\",\"math.floor(L['x'].size()[0] / 3) == 1\""), "54", ""},
      {GUARDED("\"torch.sym_max(L['x'].size()[0], torch.sym_min(L['x'].size()[1], 9)) <= 7\""), "28", "<= 7"},
      {GUARDED("\"(L['x'].size()[0] & 1) == 1\",\"L['x'].size()[0] << 1 | 1 == 11\""), "54", ""},
      {GUARDED("\"(L['x'].size()[0] ^ 1) == 1\""), "54", "== 1"},
      {GUARDED("\"L['x'].size()[0] < 2 ** L['x'].size()[1]\",\"abs(-L['x'].size()[0]) >> 1 == 1\""), "32", ""},
      {GUARDED("\"L['x'].size()[0] < 2 ** L['x'].size()[1]\""), "42", "< 2 ** L"},
      {WITH(EXPRESSION("s0*s1") "," EXPRESSION("s0*s1"), ""), "55", ""},
      {WITH(EXPRESSION("s0*s1") "," EXPRESSION("s0*s1"), ""), "56", "x.size(1) is 6, expected 5, as x.size(0)"},
      {WITH(EXPRESSION("s0") "," EXPRESSION("ModularIndexing(Identity(s0), 2, 3)"), ""), "52", ""},
      {WITH(EXPRESSION("s0") "," EXPRESSION("Mul(Rational(1, 2), Symbol('s0'))"), ""), "63", ""},
      {WITH(EXPRESSION("s0") "," EXPRESSION("Mul(Rational(1, 2), Symbol('s0'))"), ""), "62", "expected 3"},
      {GUARDED("\"str(L['x'].dtype) == 'y'\",\"L\",\"L[\",\"L['x'][\",\"L['x'].size()[\",7,\"L['y'].size()[0] < "
               "1\",\"L['x'].size()[0] < \""),
       "64", ""},
  };
  char message[600];
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    wick_module *module = load(pack(cases[i].program, GOOD_WEIGHTS), message);
    if (!module) fail_msg("case %zu: %s", i, message);
    run(module, cases[i].shape, message);
    if (cases[i].message[0] ? !strstr(message, cases[i].message) : message[0] != 0)
      fail_msg("case %zu: '%s', not '%s'", i, message, cases[i].message);
    wick_module_release(module);
  }
}

/* What can't be checked is not left out silently: every run says it. */
static void keep_warning(void *user, const char *message) {
  snprintf(user, 600, "%s", message);
}
static void test_warns_of_what_it_cannot_check(void **state) {
  (void)state;
  static const struct {
    const char *program, *warning;
  } cases[] = {
      {GUARDED("\"L['x'].size()[0] > 1\""), ""},
      {GUARDED("\"L['x'].stride()[0] == 3\""), "exported for arguments with L['x'].stride()[0] == 3, which"},
      {GUARDED("\"L['x'].size()[0] and 7\""), "with L['x'].size()[0] and 7, which"},
      {GUARDED("\"L['x'].size()[0] + 1\""), "with L['x'].size()[0] + 1, which"},
      {GUARDED("\"L['y'] == 3\""), "with L['y'] == 3, which"},
      {GUARDED("\"L == 3\""), "with L == 3, which"},
      {GUARDED("\"" POWERS("L['x'].size()[0]") " != 7\""), "!= 7"},
      {WITH(EXPRESSION("s0") "," EXPRESSION("unheard_of(s0)"), ""), "x.size(1) is to be unheard_of(s0), which"},
      {WITH(EXPRESSION("s0*s1") "," EXPRESSION("s0//2"), ""), ""}, /* nothing to compare with, as in PyTorch */
  };
  char message[600], warning[600];
  wick_runtime_set_output(NULL, NULL, keep_warning, warning);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    wick_module *module = load(pack(cases[i].program, GOOD_WEIGHTS), message);
    if (!module) fail_msg("case %zu: %s", i, message);
    warning[0] = 0;
    run(module, "64", message);
    bool fits = cases[i].warning[0] ? strstr(warning, cases[i].warning) != NULL : !warning[0];
    if (message[0] || !fits) fail_msg("case %zu: '%s', warning '%s'", i, message, warning);
    wick_module_release(module);
  }
  wick_runtime_set_output(NULL, NULL, NULL, NULL);
}

/* ---- refusals ---- */

static void test_refusals(void **state) {
  (void)state;
#define PLAIN(nodes) PROGRAM(INT(1), nodes, "", "8")
#define CALL(target, inputs) PLAIN(NODE(target, inputs, TENSOR("sum")))
#define GRAPH(inputs, nodes, outputs) \
  "{\"as_graph\":{\"graph\":{\"inputs\":[" inputs "],\"outputs\":[" outputs "],\"nodes\":[" nodes "]}}}"
#define OPERATOR(name) "{\"as_operator\":\"" name "\"}"
#define CARRIED(names) "{\"as_tensors\":[" names "]}"
/* Its condition has the nodes, and is of x alone, as what it carries. */
#define WHILE(nodes)                                                                                                   \
  NODE("torch.ops.higher_order.while_loop",                                                                            \
       INPUT("", GRAPH(TENSOR("x"), nodes, TENSOR("x"))) "," INPUT("", GRAPH(TENSOR("x"), "", TENSOR("x"))) "," INPUT( \
           "", CARRIED("{\"name\":\"x\"}")) "," INPUT("", CARRIED("")),                                                \
       TENSOR("y"))
  static const struct {
    const char *program, *weights, *message;
  } cases[] = {
      {PROGRAM(INT(1), SUM, "", "4"), GOOD_WEIGHTS, "by schema 4, from PyTorch 2.8 (wick reads 5 to 8)"},
      {PROGRAM(INT(1), SUM, "", "9"), GOOD_WEIGHTS, "by schema 9"},
      {"{}", GOOD_WEIGHTS, "no schema_version"},
      {"{", GOOD_WEIGHTS, "models/model.json: damaged JSON"},
      {"[]", GOOD_WEIGHTS, "no schema_version"},
      {"{\"schema_version\":{\"major\":8}}", GOOD_WEIGHTS, "no graph"},
      {PLAIN(NODE("torch.ops.aten.unheard.default", "", TENSOR("y")) "," NODE("torch.ops.mine.f.default", "",
                                                                              TENSOR("z"))),
       GOOD_WEIGHTS, "torch.ops.aten.unheard.default, torch.ops.mine.f.default (library mine"},
      {CALL("torch.ops.aten.add.Tensor", INPUT("self", TENSOR("nobody"))), GOOD_WEIGHTS,
       "node sum (torch.ops.aten.add.Tensor): no value is called 'nobody'"},
      {CALL("torch.ops.aten.add.Tensor", INPUT("self", "{\"as_graph\":{}}")), GOOD_WEIGHTS, "of the kind as_graph"},
      {CALL("torch.ops.aten.add.Tensor", INPUT("self", "{}")), GOOD_WEIGHTS, "malformed"},
      {CALL("torch.ops.aten.add.Tensor", INPUT("self", TENSOR("x"))), GOOD_WEIGHTS, "other"},
      {CALL("torch.ops.higher_order.cond", INPUT("", "{\"as_bool\":true}")), GOOD_WEIGHTS, "argument 3 is missing"},
      {PLAIN(NODE("torch.ops.aten.view.dtype", INPUT("self", TENSOR("x")) "," INPUT("dtype", "{\"as_scalar_type\":4}"),
                  TENSOR("sum")) "," NODE("torch.ops.aten.relu_.default", INPUT("self", TENSOR("x")), TENSOR("y"))),
       GOOD_WEIGHTS, "as another dtype (torch.ops.aten.view.dtype) and writes to tensors in place"},
      {CALL("torch._functorch.predispatch._add_batch_dim", ""), GOOD_WEIGHTS, "run_decompositions() before saving"},
      {CALL("torch.ops.higher_order.flex_attention", ""), GOOD_WEIGHTS, "have: torch.ops.higher_order.flex_attention"},
      {CALL("torch.ops.higher_order.auto_functionalized_v2", ""), GOOD_WEIGHTS, "no operator that writes"},
      {CALL("torch.ops.higher_order.auto_functionalized_v2", INPUT("", OPERATOR("torch.ops.mine.f.default"))),
       GOOD_WEIGHTS, "does not have: torch.ops.mine.f.default"},
      {CALL("torch.ops.higher_order.out_dtype", INPUT("", OPERATOR("torch.ops.aten.mm.default"))), GOOD_WEIGHTS,
       "no dtype"},
      {CALL("torch.ops.higher_order.print", INPUT("", "{\"as_string\":\"{:.2f}\"}") "," INPUT("", INT(1))),
       GOOD_WEIGHTS, "a format that is more than {}"},
      {CALL("torch.ops.higher_order.print", INPUT("", "{\"as_string\":\"{n}\"}") "," INPUT("n", INT(1))), GOOD_WEIGHTS,
       "values by name"},
      {CALL("torch.ops.higher_order.print", ""), GOOD_WEIGHTS, "no format"},
      {CALL("torch.ops.higher_order.strict_mode", ""), GOOD_WEIGHTS, "is missing"},
      {CALL("torch.sym_ite", INPUT("", TENSOR("x")) "," INPUT("", TENSOR("x")) "," INPUT("", TENSOR("x"))),
       GOOD_WEIGHTS, "a choice between values of different types"},
      {PLAIN(NODE("torch.ops.aten.relu.default", INPUT("self", TENSOR("x")),
                  TENSOR("y") ",{\"as_none\":{\"name\":\"sum\"}}")),
       GOOD_WEIGHTS, "no value is called 'sum'"},
      {PLAIN(WHILE(WHILE(WHILE(WHILE(WHILE("")))))), GOOD_WEIGHTS, "conditions of loops are nested too deeply"},
      {WITH(EXPRESSION(POWERS("s0")), ""), GOOD_WEIGHTS, "can't read"},
      {PLAIN(SUM "," SUM), GOOD_WEIGHTS, "two values are called 'sum'"},
      {PLAIN(""), GOOD_WEIGHTS, "no value is called 'sum'"},
      {WITH(EXPRESSION("s0 +"), ""), GOOD_WEIGHTS, "can't read: 's0 +'"},
      {WITH(EXPRESSION("((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((s0"), ""), GOOD_WEIGHTS,
       "can't read"},
      {PLAIN(SUM), WEIGHTS("w9", META(INT(1), INT(1))), "no record 'data/weights/w9'"},
      {PLAIN(SUM), WEIGHTS("w0", META(INT(5), INT(1))), "tensor 'a.w'"},
      {PLAIN(SUM), WEIGHTS("w0", META(INT(2), INT(4611686018427387904))), "tensor 'a.w'"},
      {PLAIN(SUM), WEIGHTS("w0", META(INT(-1), INT(1))), "no number"},
      {PLAIN(SUM), WEIGHTS("w0", META(INT(1), "")), "0 strides for 1 dimensions"},
      {PLAIN(SUM), "{}", "holds no tensor 'a.w'"},
  };
  char message[600];
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    wick_module *module = load(pack(cases[i].program, cases[i].weights), message);
    if (module || !strstr(message, cases[i].message))
      fail_msg("case %zu: '%s', not '%s'", i, message, cases[i].message);
  }
}

static void test_arguments_named_as_numbers(void **state) {
  (void)state;
  char message[600];
  static const char names[] = "\"forward_arg_names\":[\"0\"],\"in_spec\"", program[] = PLAIN(SUM);
  char text[sizeof program + sizeof names];
  const char *at = strstr(program, "\"in_spec\"");
  snprintf(text, sizeof text, "%.*s%s%s", (int)(at - program), program, names, at + strlen("\"in_spec\""));
  assert_null(load(pack(text, GOOD_WEIGHTS), message));
  assert_non_null(strstr(message, "an argument is called '0'"));
}

/* What a class of a library holds comes as a dict, where the file names it; else the error names the class. */
static void test_classes_of_libraries(void **state) {
  (void)state;
#define OF_CLASS(context)                  \
  PROGRAM_GIVING(INT(1), SUM, "", "8", "", \
                 "{\\\"type\\\":\\\"net.Pair\\\",\\\"context\\\":" context ",\\\"children_spec\\\":[" LEAF "]}")
#define QUOTED(text) "\\\"" text "\\\""
  static const struct {
    const char *program;
    bool is_read;
  } cases[] = {
      {OF_CLASS("[" QUOTED("a") "]"), true},
      {OF_CLASS("[[" QUOTED("a") "],[" QUOTED("b") "]]"), true},
      {OF_CLASS("[[[" QUOTED("a") "]],[]]"), false},
      {OF_CLASS("[[" QUOTED("a") "," QUOTED("b") "],[]]"), false},
      {OF_CLASS("[[],[]]"), false},
      {OF_CLASS("[7]"), false},
      {OF_CLASS("null"), false},
  };
  char message[600];
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    wick_module *module = load(pack(cases[i].program, GOOD_WEIGHTS), message);
    wick_value *x = floats("1"), *result, *a = NULL;
    bool fits = module ? cases[i].is_read : !cases[i].is_read && strstr(message, "an object of the class net.Pair");
    if (!fits) fail_msg("case %zu: %s", i, message);
    if (module) {
      assert_int_equal(wick_run(module, "forward", (const wick_value *const[]){x}, 1, NULL, 0, NULL, &result, NULL), 0);
      a = wick_value_get_text(result, "a");
      assert_non_null(a);
      wick_value_release(a);
      wick_value_release(result);
    }
    wick_value_release(x);
    wick_module_release(module);
  }
}

/* ---- operators that write, called without that ---- */

/* test_pt2::double_(Tensor(a!) x, Tensor(b!)[] rest, *, Tensor(c!)? y=None, bool gives=True) doubles all of them. */
static wick_status double_one(const wick_value *tensor, wick_error **error) {
  const wick_value *arguments[] = {tensor, tensor};
  return wick_op_call(NULL, "aten::add_", "Tensor", arguments, 2, NULL, 0, NULL, error);
}
static wick_status double_kernel(void *user, wick_call *call, wick_error **error) {
  (void)user;
  wick_value *x = wick_call_argument(call, 0), *rest = wick_call_argument(call, 1), *y = wick_call_argument(call, 2);
  wick_status status = double_one(x, error);
  for (size_t i = 0; i < wick_value_length(rest) && !status; i++) {
    wick_value *item = wick_value_item(rest, i);
    status = double_one(item, error);
    wick_value_release(item);
  }
  if (!status && wick_value_kind(y) == WICK_TENSOR) status = double_one(y, error);
  wick_value_release(x);
  wick_value_release(rest);
  wick_value_release(y);
  return status;
}

static void test_functionalized_operators(void **state) {
  (void)state;
#define DOUBLE OPERATOR("torch.ops.test_pt2.double_.default")
#define BY_NAME(name, arg) "{\"name\":\"" name "\",\"arg\":" arg ",\"kind\":2}"
#define NONE "{\"as_none\":true}"
#define V2 "torch.ops.higher_order.auto_functionalized_v2"
#define BASES(names) BY_NAME("_all_bases", "{\"as_tensors\":[" names "]}")
#define NAMED(name) "{\"name\":\"" name "\"}"
#define WITHOUT_Y BY_NAME("_y_base_index", NONE)
#define SLICED(prefix)                                                                                                 \
  BY_NAME(prefix "_base_index", INT(0))                                                                                \
  "," BY_NAME(prefix "_slice_dim", INT(0)) "," BY_NAME(prefix "_slice_start", INT(1)) "," BY_NAME(prefix "_slice_end", \
                                                                                                  INT(2))
#define STRIDED(prefix)                                                                                            \
  BY_NAME(prefix "_base_index", INT(0))                                                                            \
  "," BY_NAME(prefix "_size", "{\"as_ints\":[2]}") "," BY_NAME(prefix "_stride", "{\"as_ints\":[2]}") "," BY_NAME( \
      prefix "_storage_offset", INT(0))
  static const struct {
    const char *program;
    float wanted[3]; /* of 1, 2, 3 */
    const char *message;
  } cases[] = {
      {PROGRAM(INT(3),
               NODE(V2,
                    INPUT("", DOUBLE) "," BY_NAME("_x_base_index", INT(0)) "," BY_NAME(
                        "_rest_length", INT(0)) "," WITHOUT_Y "," BASES(NAMED("x")),
                    NONE "," TENSOR("sum")),
               "", "8"),
       {2, 4, 6},
       ""},
      {PROGRAM(INT(3),
               NODE(V2,
                    INPUT("", DOUBLE) "," SLICED("_x") "," BY_NAME(
                        "_rest_length", INT(1)) "," STRIDED("_rest_0") "," WITHOUT_Y "," BASES(NAMED("x")),
                    NONE "," TENSOR("sum")),
               "", "8"),
       {2, 4, 6},
       ""},
      {PROGRAM(INT(3),
               NODE(V2,
                    INPUT("", DOUBLE) "," SLICED("_x") "," BY_NAME("_rest_length", NONE) "," BY_NAME(
                        "_y_base_index", INT(0)) "," BY_NAME("_y_alias", "{\"as_bool\":true}") "," BASES(NAMED("x")),
                    NONE "," TENSOR("sum")),
               "", "8"),
       {0},
       "rest"},
      {PROGRAM(INT(3),
               NODE(V2,
                    INPUT("", DOUBLE) "," SLICED("_x") "," BY_NAME("_rest_length", INT(0)) "," BY_NAME(
                        "_y_base_index", INT(0)) "," BY_NAME("_y_alias", "{\"as_bool\":true}") "," BASES(NAMED("x")),
                    NONE "," TENSOR("sum")),
               "", "8"),
       {2, 8, 6},
       ""},
      /* the argument itself is as it was: what is added to is x */
      {PROGRAM(INT(3),
               NODE(V2,
                    INPUT("", DOUBLE) "," BY_NAME("_x_base_index", INT(0)) "," BY_NAME(
                        "_rest_length", INT(0)) "," WITHOUT_Y "," BASES(NAMED("x")),
                    NONE "," TENSOR("y")) "," NODE("torch.ops.aten.add.Tensor",
                                                   INPUT("self", TENSOR("x")) "," INPUT("other", TENSOR("y")),
                                                   TENSOR("sum")),
               "", "8"),
       {3, 6, 9},
       ""},
      {PROGRAM(INT(3),
               NODE(V2,
                    INPUT("", DOUBLE) "," BY_NAME("_x_base_index", INT(1)) "," BY_NAME(
                        "_rest_length", INT(0)) "," WITHOUT_Y "," BASES(NAMED("x")),
                    NONE "," TENSOR("sum")),
               "", "8"),
       {0},
       "_x_base_index is no base"},
      {PROGRAM(INT(3),
               NODE(V2, INPUT("", DOUBLE) "," BY_NAME("_x_base_index", INT(0)) "," BASES(NAMED("x")),
                    NONE "," TENSOR("sum")),
               "", "8"),
       {0},
       "_rest_length is missing"},
      {PROGRAM(INT(3), NODE(V2, INPUT("", DOUBLE), ""), "", "8"), {0}, "_all_bases is malformed"},
      {PROGRAM(INT(3),
               NODE("torch.ops.higher_order.auto_functionalized",
                    INPUT("", OPERATOR("torch.ops.aten.mul_.Tensor")) "," BY_NAME("self", TENSOR("x")) "," BY_NAME(
                        "other", TENSOR("x")),
                    TENSOR("z") "," TENSOR("y")) "," NODE("torch.ops.aten.add.Tensor",
                                                          INPUT("self", TENSOR("x")) "," INPUT("other", TENSOR("y")),
                                                          TENSOR("sum")),
               "", "8"),
       {2, 6, 12},
       ""},
  };
  static const int64_t sizes[] = {3};
  static const float given[] = {1, 2, 3};
  char message[600];
  static const char schema[] =
      "test_pt2::double_(Tensor(a!) x, Tensor(b!)[] rest, *, Tensor(c!)? y=None, bool gives=True) -> ()";
  assert_int_equal(wick_op_register(schema, double_kernel, NULL, NULL), WICK_OK);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    wick_module *module = load(pack(cases[i].program, GOOD_WEIGHTS), message);
    if (!module != (cases[i].message[0] != 0) || !strstr(message, cases[i].message))
      fail_msg("case %zu: '%s', not '%s'", i, message, cases[i].message);
    if (!module) continue;
    wick_value *x, *result;
    wick_tensor_view view = {.size = sizeof view};
    assert_int_equal(wick_tensor_new(WICK_FLOAT32, 1, sizes, &x, NULL), WICK_OK);
    assert_int_equal(wick_tensor_view_of(x, &view, NULL), WICK_OK);
    memcpy(view.data, given, sizeof given);
    wick_error *error = NULL;
    if (wick_run(module, "forward", (const wick_value *const[]){x}, 1, NULL, 0, NULL, &result, &error))
      fail_msg("case %zu: %s", i, wick_error_message(error));
    assert_memory_equal(view.data, given, sizeof given);
    assert_int_equal(wick_tensor_view_of(result, &view, NULL), WICK_OK);
    for (size_t k = 0; k < 3; k++)
      if (((const float *)view.data)[k] != cases[i].wanted[k])
        fail_msg("case %zu: [%zu] is %g", i, k, (double)((const float *)view.data)[k]);
    wick_value_release(result);
    wick_value_release(x);
    wick_module_release(module);
  }
}

/* ---- bools ---- */

/* A bool as a number decides of what type a result is, which an int in its place does otherwise. */
static void test_bools_as_numbers(void **state) {
  (void)state;
#define TRUE "{\"as_bool\":true}"
#define OF_MASK(target, inputs)                                                                    \
  PLAIN(NODE("torch.ops.aten.isnan.default", INPUT("self", TENSOR("x")), TENSOR("mask")) "," NODE( \
      "torch.ops.aten." target, inputs, TENSOR("sum")))
#define MASK INPUT("self", TENSOR("mask"))
  static const struct {
    const char *program;
    uint32_t dtype;
  } cases[] = {
      {OF_MASK("bitwise_or.Scalar", MASK "," INPUT("other", TRUE)), WICK_BOOL8},
      {OF_MASK("bitwise_or.Scalar", MASK "," INPUT("other", INT(1))), WICK_INT64},
      {OF_MASK("add.Tensor", MASK "," INPUT("other", TRUE)), WICK_BOOL8},
      {OF_MASK("add.Tensor", INPUT("self", TENSOR("x")) "," INPUT("other", TRUE)), WICK_FLOAT32},
      {OF_MASK("where.Scalar", INPUT("condition", TENSOR("mask")) "," INPUT("self", TRUE) "," INPUT("other", TRUE)),
       WICK_BOOL8},
      {OF_MASK("where.ScalarOther", INPUT("condition", TENSOR("mask")) "," MASK "," INPUT("other", TRUE)), WICK_BOOL8},
      {OF_MASK("full.default", INPUT("size", "{\"as_ints\":[2]}") "," INPUT("fill_value", TRUE)), WICK_BOOL8},
      {OF_MASK("full.default", INPUT("size", "{\"as_ints\":[2]}") "," INPUT("fill_value", TRUE) "," INPUT(
                                   "dtype", "{\"as_scalar_type\":7}")),
       WICK_FLOAT32},
      {OF_MASK("full_like.default", INPUT("self", TENSOR("x")) "," INPUT("fill_value", TRUE)), WICK_FLOAT32},
  };
  char message[600];
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    wick_module *module = load(pack(cases[i].program, GOOD_WEIGHTS), message);
    wick_value *x = floats("1"), *result;
    wick_tensor_view view = {.size = sizeof view};
    if (!module) fail_msg("case %zu: %s", i, message);
    assert_int_equal(wick_run(module, "forward", (const wick_value *const[]){x}, 1, NULL, 0, NULL, &result, NULL), 0);
    assert_int_equal(wick_tensor_view_of(result, &view, NULL), WICK_OK);
    if (view.dtype != cases[i].dtype) fail_msg("case %zu: dtype %d", i, (int)view.dtype);
    wick_value_release(result);
    wick_value_release(x);
    wick_module_release(module);
  }
}

/* ---- places ---- */

static void test_places_of_nodes(void **state) {
  (void)state;
#define TRACED(trace)                                                                                  \
  PLAIN("{\"target\":\"torch.ops.aten.mm.default\",\"inputs\":[" INPUT("self", TENSOR("x")) "," INPUT( \
      "mat2", TENSOR("w")) "],\"outputs\":[" TENSOR("sum") "],\"metadata\":{\"stack_trace\":\"" trace "\"}}")
  static const struct {
    const char *program, *wanted;
  } cases[] = {
      {TRACED("File \\\"a.py\\\", line 3, in f\\n    g(x)\\n  File \\\"b.py\\\", line 12, in g\\n    y = x @ w\\n"),
       "File \"b.py\", line 12, in forward\ny = x @ w\n~~~~~~~~~ <--- HERE"},
      {TRACED("File \\\"b.py\\\", line twelve, in g\\n  y\\n"), "in forward"},
      {TRACED("File \\\""), "in forward"},
      {TRACED(""), "in forward"},
  };
  char message[600];
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    wick_module *module = load(pack(cases[i].program, GOOD_WEIGHTS), message);
    wick_value *x = floats("1"), *result;
    wick_error *error;
    if (!module) fail_msg("case %zu: %s", i, message);
    assert_int_not_equal(wick_run(module, "forward", (const wick_value *const[]){x}, 1, NULL, 0, NULL, &result, &error),
                         0);
    if (!strstr(wick_error_trace(error), cases[i].wanted)) fail_msg("case %zu: %s", i, wick_error_trace(error));
    wick_error_free(error);
    wick_value_release(x);
    wick_module_release(module);
  }
}

/* ---- attributes ---- */

static void test_names_of_tensors(void **state) {
  (void)state;
  char message[600];
  wick_module *module = load(pack(PLAIN(SUM), GOOD_WEIGHTS), message);
  wick_value *states = NULL;
  assert_non_null(module);
  assert_int_equal(wick_module_state_dict(module, &states, NULL), WICK_OK);
  wick_value *w = wick_value_get_text(states, "a.w");
  assert_non_null(w);
  wick_tensor_view view = {.size = sizeof view};
  assert_int_equal(wick_tensor_view_of(w, &view, NULL), WICK_OK);
  assert_true(*(const float *)view.data == 5);
  wick_value_release(w);
  wick_value_release(states);
  wick_module_release(module);
}

/* What the model has under two names is one tensor. */
static void test_tied_tensors(void **state) {
  (void)state;
#define PAYLOAD(name, meta) "\"" name "\":{\"path_name\":\"w0\",\"use_pickle\":false,\"tensor_meta\":" meta "}"
  static const char weights[] = "{\"config\":{" PAYLOAD("a.w", META(INT(1), INT(1))) "," PAYLOAD(
      "b.w", META(INT(1), INT(1))) "," PAYLOAD("b.v", META(INT(2), INT(1))) "}}";
  char message[600];
  wick_module *module = load(pack(PLAIN(SUM), weights), message);
  wick_value *states = NULL;
  assert_non_null(module);
  assert_int_equal(wick_module_state_dict(module, &states, NULL), WICK_OK);
  wick_value *first = wick_value_get_text(states, "a.w"), *second = wick_value_get_text(states, "b.w"),
             *other = wick_value_get_text(states, "b.v");
  assert_ptr_equal(first->value.tensor, second->value.tensor);
  assert_ptr_not_equal(first->value.tensor, other->value.tensor);
  assert_ptr_equal(first->value.tensor->storage, other->value.tensor->storage);
  wick_value_release(first);
  wick_value_release(second);
  wick_value_release(other);
  wick_value_release(states);
  wick_module_release(module);
}

/* ---- other files of that kind ---- */

static void test_packages_without_program(void **state) {
  (void)state;
  char message[600];
  Packed compiled = {0}, two = {0}, alike = {0};
  add_bytes(&compiled, "m/archive_format", "pt2", 3);
  add_bytes(&compiled, "m/data/aotinductor/model/a.so", "x", 1);
  pack_finish(&compiled);
  assert_null(load(compiled.file, message));
  assert_non_null(strstr(message, "AOTInductor"));
  add_bytes(&two, "m/models/a.json", "{}", 2);
  add_bytes(&two, "m/models/b.json", "{}", 2);
  pack_finish(&two);
  assert_null(load(two.file, message));
  assert_non_null(strstr(message, "program a: the program has no schema_version"));
  static const char *const names[] = {"m/models/1-a.json", "m/models/1.a.json"};
  for (size_t i = 0; i < 2; i++) {
    static const char program[] = PLAIN(SUM);
    add_bytes(&alike, names[i], program, sizeof program - 1);
  }
  add_bytes(&alike, "m/data/weights/1-a_weights_config.json", GOOD_WEIGHTS, sizeof GOOD_WEIGHTS - 1);
  add_bytes(&alike, "m/data/weights/w0", "abcd", 4);
  pack_finish(&alike);
  assert_null(load(alike.file, message));
  assert_non_null(strstr(message, "program 1.a: two programs would be the method _1_a"));
}

/* Every byte of the program in turn is another, and the program ends after each: an error or a module. */
static void test_damaged_programs(void **state) {
  (void)state;
  static const char good[] =
      PROGRAM(EXPRESSION("Add(Symbol('s0'), Integer(1))"), SUM, "\"s0\":{\"min_val\":1,\"max_val\":9}", "8");
  static const char other[] = "\"{[}]:,0-9a\\ ";
  char text[sizeof good], message[600];
  for (size_t i = 0; i < sizeof good - 1; i++) {
    memcpy(text, good, sizeof good);
    text[i] = other[i % (sizeof other - 1)];
    wick_module *module = load(pack(text, GOOD_WEIGHTS), message);
    if (module) run(module, "2", message);
    wick_module_release(module);
    text[i] = 0;
    wick_module_release(load(pack(text, GOOD_WEIGHTS), message));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_checks_sizes),
      cmocka_unit_test(test_warns_of_what_it_cannot_check),
      cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_arguments_named_as_numbers),
      cmocka_unit_test(test_classes_of_libraries),
      cmocka_unit_test(test_functionalized_operators),
      cmocka_unit_test(test_bools_as_numbers),
      cmocka_unit_test(test_places_of_nodes),
      cmocka_unit_test(test_names_of_tensors),
      cmocka_unit_test(test_tied_tensors),
      cmocka_unit_test(test_packages_without_program),
      cmocka_unit_test(test_damaged_programs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
