/* wick/graph.h: looking at graphs, changing them, passes and operations; the example compiler does its work. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>
#include <cmocka.h>

#include "../../../examples/compiler/compiler.c"

static const char text[] =
    "graph(%x : Tensor, %n : int):\n"
    "  %one : int = prim::Constant[value=1]()\n"
    "  %y : Tensor = aten::relu(%x)\n"
    "  %z : Tensor = aten::neg(%y)\n"
    "  %w : Tensor = aten::add(%z, %n, %one)\n"
    "  return (%w)\n";

static wick_graph *parse(const char *from) {
  wick_graph *graph;
  wick_error *error = NULL;
  if (wick_graph_parse(from, strlen(from), &graph, &error)) print_error("%s\n", wick_error_message(error));
  assert_non_null(graph);
  return graph;
}

static void assert_printed(const wick_graph *graph, const char *expected) {
  char *printed;
  assert_int_equal(wick_graph_print(graph, &printed, NULL), WICK_OK);
  assert_string_equal(printed, expected);
  wick_text_free(printed);
}

static wick_value *floats(float a, float b) {
  wick_value *tensor;
  wick_tensor_view view = {.size = sizeof view};
  assert_int_equal(wick_tensor_new(WICK_FLOAT32, 1, (int64_t[]){2}, &tensor, NULL), WICK_OK);
  assert_int_equal(wick_tensor_view_of(tensor, &view, NULL), WICK_OK);
  ((float *)view.data)[0] = a;
  ((float *)view.data)[1] = b;
  return tensor;
}

static void assert_floats(const wick_value *tensor, float a, float b) {
  wick_tensor_view view = {.size = sizeof view};
  assert_int_equal(wick_tensor_view_of(tensor, &view, NULL), WICK_OK);
  assert_true(fabsf(((float *)view.data)[0] - a) < 1e-6f && fabsf(((float *)view.data)[1] - b) < 1e-6f);
}

static void test_look(void **state) {
  (void)state;
  wick_graph *graph = parse(text);
  wick_block *block = wick_graph_block(graph);
  wick_node *constant = wick_block_first(block), *relu = wick_node_next(constant), *add = wick_block_last(block);
  assert_string_equal(wick_node_kind(relu), "aten::relu");
  assert_null(wick_node_previous(constant));
  assert_null(wick_node_next(add));
  assert_int_equal(wick_block_input_count(block), 2);
  assert_ptr_equal(wick_node_input(relu, 0), wick_block_input(block, 0));
  assert_null(wick_node_input(relu, 1));
  assert_ptr_equal(wick_block_output(block, 0), wick_node_output(add, 0));
  char *string;
  assert_int_equal(wick_node_schema(add, &string, NULL), WICK_OK);
  assert_string_equal(string, "aten::add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor");
  wick_text_free(string);
  assert_int_equal(wick_ir_value_type(wick_node_input(add, 1), &string, NULL), WICK_OK);
  assert_string_equal(string, "int");
  wick_text_free(string);
  wick_value *value;
  assert_int_equal(wick_ir_value_constant(wick_node_output(constant, 0), &value, NULL), WICK_OK);
  assert_int_equal(wick_value_to_int(value), 1);
  wick_value_release(value);
  size_t input;
  assert_ptr_equal(wick_ir_value_user(wick_node_output(constant, 0), 0, &input), add);
  assert_int_equal(input, 2);
  assert_true(wick_node_is_pure(relu));
  wick_graph_release(graph);
}

static void test_change(void **state) {
  (void)state;
  wick_graph *graph = parse(text);
  wick_block *block = wick_graph_block(graph);
  wick_node *relu = wick_node_next(wick_block_first(block)), *neg = wick_node_next(relu), *made;
  wick_ir_value *input = wick_node_output(relu, 0), *two;
  wick_value *number = wick_value_int(2);
  assert_int_equal(wick_node_insert_constant(neg, number, &two, NULL), WICK_OK);
  wick_ir_value *inputs[] = {input, two};
  assert_int_equal(wick_node_new(block, neg, "aten::mul", inputs, 2, 1, &made, NULL), WICK_OK);
  assert_int_equal(wick_ir_value_set_type(wick_node_output(made, 0), "Float(2)", NULL), WICK_OK);
  assert_int_equal(wick_node_set_attribute(made, "note", number, NULL), WICK_OK);
  wick_error *error = NULL;
  assert_int_equal(wick_ir_value_set_type(wick_node_output(made, 0), "Flo at(", &error), WICK_SYNTAX);
  wick_error_free(error);
  assert_int_equal(wick_node_destroy(relu, NULL), WICK_INVALID_ARGUMENT);
  assert_int_equal(wick_ir_value_replace(wick_node_output(neg, 0), wick_node_output(made, 0), NULL), WICK_OK);
  assert_int_equal(wick_node_destroy(neg, NULL), WICK_OK);
  assert_int_equal(wick_graph_check(graph, NULL), WICK_OK);
  assert_printed(graph,
                 "graph(%x : Tensor,\n      %n : int):\n"
                 "  %one : int = prim::Constant[value=1]()\n"
                 "  %y : Tensor = aten::relu(%x)\n"
                 "  %6 : int = prim::Constant[value=2]()\n"
                 "  %7 : Float(2) = aten::mul[note=2](%y, %6)\n"
                 "  %w : Tensor = aten::add(%7, %n, %one)\n"
                 "  return (%w)\n");
  assert_int_equal(wick_node_new(block, NULL, "no kind", NULL, 0, 1, &made, NULL), WICK_INVALID_ARGUMENT);
  wick_value_release(number);
  wick_graph_release(graph);
}

static bool contains(char *given, const char *part) {
  bool found = given && strstr(given, part);
  if (!found) print_error("no '%s' in: %s\n", part, given);
  wick_text_free(given);
  return found;
}

static void test_calls_of_operators(void **state) {
  (void)state;
  wick_graph *graph = parse(text);
  wick_block *block = wick_graph_block(graph);
  wick_ir_value *x = wick_block_input(block, 0), *n = wick_block_input(block, 1), *sum, *last, *keep;
  wick_value *yes = wick_value_bool(1);
  wick_node *add = wick_block_last(block);
  assert_int_equal(wick_block_insert_constant(block, NULL, yes, &keep, NULL), WICK_OK);
  assert_ptr_equal(wick_node_next(add), wick_ir_value_node(keep));
  wick_ir_value *const inputs[] = {x, n, keep};
  static const char *const names[] = {"dim", "keepdim"};
  assert_int_equal(wick_node_insert(block, NULL, "aten::sum", inputs, 3, names, 2, &sum, NULL), WICK_OK);
  wick_node *node = wick_ir_value_node(sum); /* the int became a list */
  assert_string_equal(wick_node_kind(wick_ir_value_node(wick_node_named_input(node, "dim"))), "prim::ListConstruct");
  assert_ptr_equal(wick_node_named_input(node, "keepdim"), keep);
  assert_ptr_equal(wick_node_named_input(node, "self"), x);
  assert_non_null(wick_node_named_input(node, "dtype"));
  assert_null(wick_node_named_input(node, "dims"));
  assert_int_equal(wick_node_insert(block, add, "aten::neg", inputs, 1, NULL, 0, &last, NULL), WICK_OK);
  assert_ptr_equal(wick_node_next(wick_ir_value_node(last)), add);
  wick_error *error = NULL;
  assert_int_equal(wick_node_insert(block, NULL, "aten::relu", inputs, 2, NULL, 0, &last, &error), WICK_COMPILE);
  assert_null(last);
  assert_non_null(strstr(wick_error_message(error), "aten::relu(Tensor self) -> Tensor"));
  wick_error_free(error);
  assert_int_equal(wick_node_insert(block, NULL, "aten::rely", inputs, 1, NULL, 0, &last, NULL), WICK_COMPILE);
  assert_int_equal(wick_node_insert(block, NULL, "aten::sum", inputs, 1, names, 2, &last, NULL), WICK_INVALID_ARGUMENT);
  assert_int_equal(wick_graph_check(graph, NULL), WICK_OK);
  wick_value_release(yes);
  wick_graph_release(graph);
}

static void test_types_and_places(void **state) {
  (void)state;
  static const char program[] = "def f(x: List[int], y, z: Optional[int]):\n    a = y.relu()\n    return a, x, z\n";
  wick_module *module;
  wick_graph *graph, *plain = parse("graph(%x : Float(2, *, requires_grad=0), %y : Tensor):\n  return (%x)\n");
  wick_compile_options options = {.size = sizeof options, .file_name = "f.py", .first_line = 10};
  assert_int_equal(wick_compile_with(NULL, program, strlen(program), &options, &module, NULL), WICK_OK);
  assert_int_equal(wick_graph_of_method(module, "f", 0, &graph, NULL), WICK_OK);
  wick_block *block = wick_graph_block(graph);
  assert_int_equal(wick_ir_value_kind(wick_block_input(block, 0)), WICK_LIST);
  assert_int_equal(wick_ir_value_kind(wick_block_input(block, 1)), WICK_TENSOR);
  assert_int_equal(wick_ir_value_kind(wick_block_input(block, 2)), WICK_OTHER);
  assert_int_equal(wick_ir_value_kind(wick_block_output(block, 0)), WICK_TUPLE);
  wick_node *relu = wick_block_first(block);
  wick_source_place place = {.size = sizeof place};
  assert_int_equal(wick_node_place(relu, &place, NULL), WICK_OK);
  assert_int_equal(place.line, 11);
  assert_int_equal(place.column, 8);
  assert_string_equal(place.file, "f.py");
  char *excerpt;
  assert_int_equal(wick_node_excerpt(relu, &excerpt, NULL), WICK_OK);
  assert_true(contains(excerpt, "a = y.relu()\n        ~~~~~~ <--- HERE"));

  wick_tensor_facts facts = {.size = sizeof facts};
  assert_int_equal(wick_ir_value_tensor(wick_block_input(block, 0), &facts, NULL), WICK_INVALID_ARGUMENT);
  block = wick_graph_block(plain);
  assert_int_equal(wick_ir_value_tensor(wick_block_input(block, 0), &facts, NULL), WICK_OK);
  assert_true(facts.dtype == WICK_FLOAT32 && facts.ndim == 2 && facts.sizes[0] == 2 && facts.sizes[1] == -1);
  assert_int_equal(facts.requires_grad, 0);
  assert_int_equal(wick_ir_value_tensor(wick_block_input(block, 1), &facts, NULL), WICK_OK);
  assert_true(facts.dtype == -1 && facts.ndim == -1 && facts.requires_grad == -1);
  wick_graph_release(plain);
  wick_graph_release(graph);
  wick_module_release(module);
}

/* What calls a node was inlined by, from inside out, with the paths of the objects whose methods were called. */
static void test_inlined_calls(void **state) {
  (void)state;
  static const char inner[] = "def forward(self, x):\n    return x.relu()\n";
  static const char outer[] = "def forward(self, x):\n    return self.part.forward(x)\n";
  wick_module *leaf, *middle, *top;
  wick_graph *graph;
  assert_int_equal(wick_module_new(NULL, "Leaf", NULL, 0, &leaf, NULL), WICK_OK);
  assert_int_equal(wick_module_define(leaf, NULL, inner, strlen(inner), NULL, NULL), WICK_OK);
  wick_attribute part = {.size = sizeof part, .name = "part", .value = wick_module_object(leaf)};
  assert_int_equal(wick_module_new(NULL, "Middle", &part, 1, &middle, NULL), WICK_OK);
  wick_compile_options options = {.size = sizeof options, .file_name = "middle.py"};
  assert_int_equal(wick_module_define(middle, NULL, outer, strlen(outer), &options, NULL), WICK_OK);
  wick_value_release((wick_value *)part.value);
  part.value = wick_module_object(middle);
  assert_int_equal(wick_module_new(NULL, "Top", &part, 1, &top, NULL), WICK_OK);
  assert_int_equal(wick_module_define(top, NULL, outer, strlen(outer), NULL, NULL), WICK_OK);
  wick_value_release((wick_value *)part.value);
  assert_int_equal(wick_graph_of_method(top, "forward", 1, &graph, NULL), WICK_OK);
  wick_node *relu = wick_block_first(wick_graph_block(graph));
  while (relu && strcmp(wick_node_kind(relu), "aten::relu") != 0) relu = wick_node_next(relu);
  assert_non_null(relu);
  wick_inlined_call call = {.size = sizeof call};
  assert_int_equal(wick_node_inlined_call(relu, 0, &call, NULL), WICK_OK);
  assert_string_equal(call.function, "__torch__.Leaf.forward");
  assert_string_equal(call.instance, "part.part");
  assert_string_equal(call.file, "middle.py");
  assert_int_equal(call.line, 2);
  assert_int_equal(wick_node_inlined_call(relu, 1, &call, NULL), WICK_OK);
  assert_string_equal(call.function, "__torch__.Middle.forward");
  assert_string_equal(call.instance, "part");
  assert_int_equal(wick_node_inlined_call(relu, 2, &call, NULL), WICK_NOT_FOUND);
  assert_string_equal(call.function, "");
  wick_graph_release(graph);
  wick_module_release(leaf), wick_module_release(middle), wick_module_release(top);
}

static void test_aliasing(void **state) {
  (void)state;
  wick_graph *graph = parse(
      "graph(%x : Tensor, %y : Tensor):\n"
      "  %one : int = prim::Constant[value=1]()\n"
      "  %a : Tensor = aten::relu(%x)\n"
      "  %b : Tensor = aten::t(%a)\n"
      "  %c : Tensor = aten::neg(%b)\n"
      "  %d : Tensor = aten::add_(%a, %one, %one)\n"
      "  %e : Tensor = aten::neg(%y)\n"
      "  %f : Tensor = aten::exp(%b)\n"
      "  return (%c, %d, %e, %f)\n");
  wick_block *block = wick_graph_block(graph);
  wick_node *one = wick_block_first(block), *a = wick_node_next(one), *b = wick_node_next(a), *c = wick_node_next(b),
            *add = wick_node_next(c), *e = wick_node_next(add), *f = wick_node_next(e);
  wick_alias *alias;
  int moved;
  assert_int_equal(wick_alias_new(graph, &alias, NULL), WICK_OK);
  assert_true(wick_alias_may_share(alias, wick_node_output(a, 0), wick_node_output(b, 0)));
  assert_false(wick_alias_may_share(alias, wick_node_output(a, 0), wick_node_output(c, 0)));
  assert_true(wick_alias_has_writers(alias, wick_node_output(b, 0)));
  assert_false(wick_alias_has_writers(alias, wick_node_output(e, 0)));
  assert_int_equal(wick_alias_move_before(alias, f, add, &moved, NULL), WICK_OK);
  assert_false(moved); /* it reads what is written */
  assert_int_equal(wick_alias_move_before(alias, e, b, &moved, NULL), WICK_OK);
  assert_true(moved);
  assert_ptr_equal(wick_node_next(e), b);
  assert_int_equal(wick_graph_check(graph, NULL), WICK_OK);
  wick_alias_release(alias);
  wick_graph_release(graph);
}

static void test_rewrite_and_run(void **state) {
  (void)state;
  wick_graph *graph = parse(text);
  size_t count;
  assert_int_equal(wick_graph_rewrite(graph,
                                      "graph(%x):\n  %y : Tensor = aten::relu(%x)\n  %z : Tensor = aten::neg(%y)\n"
                                      "  return (%z)",
                                      "graph(%x):\n  %z : Tensor = aten::neg(%x)\n  return (%z)", &count, NULL),
                   WICK_OK);
  assert_int_equal(count, 1);
  assert_int_equal(wick_graph_rewrite(graph, "graph(", "graph(", NULL, NULL), WICK_SYNTAX);
  assert_int_equal(wick_graph_run_pass(graph, "canonicalize", NULL), WICK_OK);
  assert_int_equal(wick_graph_run_pass(graph, "no_such_pass", NULL), WICK_NOT_FOUND);
  wick_value *x = floats(1, -2), *n = wick_value_int(3), *result;
  const wick_value *arguments[] = {x, n}, *wrong[] = {n, x};
  assert_int_equal(wick_graph_run(graph, NULL, arguments, 2, &result, 1, NULL), WICK_OK);
  assert_floats(result, 2, 5);
  wick_value_release(result);
  assert_int_equal(wick_graph_run(graph, NULL, wrong, 2, &result, 1, NULL), WICK_INVALID_ARGUMENT);
  assert_int_equal(wick_graph_run(graph, NULL, arguments, 1, &result, 1, NULL), WICK_INVALID_ARGUMENT);
  wick_value_release(x);
  wick_value_release(n);
  wick_graph_release(graph);
}

/* What was made of a graph lives on without it: functions, values of its types, copies of a part of it. */
static void test_types_outlive_the_graph(void **state) {
  (void)state;
  static const char pairs[] =
      "graph(%0 : (int, float)[]):\n"
      "  %i : int = prim::Constant[value=0]()\n"
      "  %p : (int, float) = aten::__getitem__(%0, %i)\n"
      "  %3 : int, %4 : float = prim::TupleUnpack(%p)\n"
      "  %5 : (float, int) = prim::TupleConstruct(%4, %3)\n"
      "  %6 : (float, int)[] = prim::ListConstruct(%5)\n"
      "  return (%6)\n";
  wick_value *members[] = {wick_value_int(3), wick_value_double(0.5)};
  wick_value *pair, *list, *ran, *called;
  assert_int_equal(wick_value_tuple((const wick_value *const *)members, 2, &pair, NULL), WICK_OK);
  assert_int_equal(wick_value_list((const wick_value *const[]){pair}, 1, &list, NULL), WICK_OK);
  wick_graph *graph = parse(pairs), *copy,
             *around = parse("graph(%x : int):\n  %y : int = own::part(%x)\n  return (%y)\n");
  wick_module *module, *of_copy;
  assert_int_equal(wick_graph_run(graph, NULL, (const wick_value *const[]){list}, 1, &ran, 1, NULL), WICK_OK);
  assert_int_equal(wick_graph_compile(graph, NULL, "pairs", &module, NULL), WICK_OK);
  assert_int_equal(wick_graph_copy(graph, &copy, NULL), WICK_OK);
  wick_node *part = wick_block_first(wick_graph_block(around));
  assert_int_equal(wick_node_set_graph(part, "Subgraph", graph, NULL), WICK_OK);
  wick_graph_release(graph);
  assert_int_equal(wick_graph_of_node(part, &graph, NULL), WICK_OK);
  wick_graph_release(around);
  assert_printed(graph, pairs);
  wick_graph_release(graph);
  assert_printed(copy, pairs);
  assert_int_equal(wick_graph_compile(copy, NULL, "pairs", &of_copy, NULL), WICK_OK);
  wick_graph_release(copy);
  for (int i = 0; i < 4; i++) {
    wick_module *of = i % 2 ? module : of_copy;
    assert_int_equal(wick_run(of, "pairs", (const wick_value *const[]){list}, 1, NULL, 0, NULL, &called, NULL),
                     WICK_OK);
    char *schema, *shown, *before;
    assert_int_equal(wick_value_print(called, &shown, NULL), WICK_OK);
    assert_int_equal(wick_value_print(ran, &before, NULL), WICK_OK);
    assert_int_equal(wick_module_schema(of, "pairs", &schema, NULL), WICK_OK);
    assert_string_equal(schema, "pairs((int, float)[] argument_0) -> ((float, int)[])");
    assert_string_equal(shown, before);
    wick_text_free(schema), wick_text_free(shown), wick_text_free(before);
    wick_value_release(called);
  }
  wick_module_release(module);
  wick_module_release(of_copy);
  wick_value_release(ran), wick_value_release(list), wick_value_release(pair);
  wick_value_release(members[0]), wick_value_release(members[1]);
}

static void test_group_refusals(void **state) {
  (void)state;
  wick_graph *graph = parse(
      "graph(%x : Tensor):\n"
      "  %one : int = prim::Constant[value=1]()\n"
      "  %a : Tensor = aten::relu(%x)\n"
      "  %b : Tensor = aten::neg(%a)\n"
      "  %c : Tensor = aten::mul(%a, %b)\n"
      "  %d : Tensor = aten::add_(%c, %x, %one)\n"
      "  return (%d)\n");
  wick_node *a = wick_node_next(wick_block_first(wick_graph_block(graph))), *b = wick_node_next(a),
            *c = wick_node_next(b), *d = wick_node_next(c), *group;
  wick_node *with_gap[] = {a, c}, *disordered[] = {b, a}, *writes[] = {c, d}, *fine[] = {a, b, c};
  assert_int_equal(wick_node_group(with_gap, 2, "mine::group", &group, NULL), WICK_INVALID_ARGUMENT);
  assert_int_equal(wick_node_group(disordered, 2, "mine::group", &group, NULL), WICK_INVALID_ARGUMENT);
  assert_int_equal(wick_node_group(writes, 2, "mine::group", &group, NULL), WICK_INVALID_ARGUMENT);
  assert_int_equal(wick_node_group(fine, 3, "mine::group", &group, NULL), WICK_OK);
  assert_int_equal(wick_node_input_count(group), 1);
  assert_int_equal(wick_node_output_count(group), 1);
  assert_int_equal(wick_graph_check(graph, NULL), WICK_OK);
  wick_graph_release(graph);
}

/* ---- the example ---- */

static int runs_of_chain;
static wick_status count_chains(void *user, wick_graph *graph, wick_error **error) {
  (void)user, (void)error;
  for (wick_node *node = wick_block_first(wick_graph_block(graph)); node; node = wick_node_next(node))
    runs_of_chain += strcmp(wick_node_kind(node), "example::chain") == 0;
  return WICK_OK;
}

static void test_example(void **state) {
  (void)state;
  static const char source[] =
      "def forward(x: Tensor, y: Tensor):\n    return torch.abs(torch.tanh(torch.neg(x))) @ y\n";
  wick_module *module;
  assert_int_equal(wick_library_init(NULL), WICK_OK);
  assert_int_equal(wick_pass_register("count_chains", count_chains, NULL, NULL), WICK_OK);
  assert_int_equal(wick_pass_register("count_chains", count_chains, NULL, NULL), WICK_INVALID_ARGUMENT);
  assert_int_equal(wick_compile(NULL, source, sizeof source - 1, NULL, &module, NULL), WICK_OK);

  wick_graph *graph; /* by hand: the pass over a copy of the graph, which then runs */
  assert_int_equal(wick_graph_of_method(module, "forward", 1, &graph, NULL), WICK_OK);
  assert_true(wick_pass_exists("example_chain"));
  assert_int_equal(wick_graph_run_pass(graph, "example_chain", NULL), WICK_OK);
  assert_int_equal(wick_graph_check(graph, NULL), WICK_OK);
  assert_int_equal(wick_graph_run_pass(graph, "count_chains", NULL), WICK_OK);
  assert_int_equal(runs_of_chain, 1);
  wick_value *x = floats(1, -2), *y = floats(1, 0), *result;
  const wick_value *arguments[] = {x, y};
  assert_int_equal(wick_graph_run(graph, NULL, arguments, 2, &result, 1, NULL), WICK_OK);
  wick_tensor_view view = {.size = sizeof view};
  assert_int_equal(wick_tensor_view_of(result, &view, NULL), WICK_OK);
  assert_true(fabsf(*(float *)view.data - tanhf(1)) < 1e-6f);
  wick_value_release(result);
  wick_graph_release(graph);
  wick_module_release(module);

  /* by the executor, which runs both passes after its own */
  wick_runtime *runtime;
  wick_executor_options options = {
      .size = sizeof options, .executor = WICK_EXECUTOR_SPECIALIZING, .profiled_runs = 1, .synchronous = 1};
  assert_int_equal(wick_runtime_new(NULL, &runtime, NULL), WICK_OK);
  assert_int_equal(wick_runtime_set_executor(runtime, &options, NULL), WICK_OK);
  assert_int_equal(wick_enable_backend(WICK_BACKEND_TILE, 0, NULL), WICK_OK);
  assert_int_equal(wick_compile(runtime, source, sizeof source - 1, NULL, &module, NULL), WICK_OK);
  for (int call = 0; call < 4; call++) {
    assert_int_equal(wick_run(module, "forward", arguments, 2, NULL, 0, NULL, &result, NULL), WICK_OK);
    assert_int_equal(wick_tensor_view_of(result, &view, NULL), WICK_OK);
    assert_true(fabsf(*(float *)view.data - tanhf(1)) < 1e-6f);
    wick_value_release(result);
  }
  assert_true(runs_of_chain >= 2);
  assert_int_equal(wick_enable_backend(WICK_BACKEND_TILE, 1, NULL), WICK_OK);
  wick_runtime_release(runtime);
  wick_value_release(x);
  wick_value_release(y);
  wick_module_release(module);
  assert_int_equal(wick_pass_remove("count_chains", NULL), WICK_OK);
  assert_int_equal(wick_pass_remove("count_chains", NULL), WICK_NOT_FOUND);
  assert_false(wick_pass_exists("count_chains"));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_look),
                                     cmocka_unit_test(test_change),
                                     cmocka_unit_test(test_calls_of_operators),
                                     cmocka_unit_test(test_types_and_places),
                                     cmocka_unit_test(test_inlined_calls),
                                     cmocka_unit_test(test_aliasing),
                                     cmocka_unit_test(test_rewrite_and_run),
                                     cmocka_unit_test(test_types_outlive_the_graph),
                                     cmocka_unit_test(test_group_refusals),
                                     cmocka_unit_test(test_example)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
