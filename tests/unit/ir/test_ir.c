#include "ir_fixture.h"

#include "ir/match.h"

/* As PyTorch 1.13 prints it. */
static const char program[] =
    "graph(%x.1 : Tensor,\n"
    "      %l.1 : int[],\n"
    "      %d.1 : Dict(str, int),\n"
    "      %o.1 : int?):\n"
    "  %2 : str = prim::Constant[value=\"hello\\n\\'q\\'\"]()\n"
    "  %139 : (int, str) = prim::Constant[value=(1, \"a\")]()\n"
    "  %27 : NoneType = prim::Constant()\n"
    "  %11 : bool = prim::Constant[value=1]()\n"
    "  %5 : int = prim::Constant[value=1]()\n"
    "  %15 : float = prim::Constant[value=2.5]()\n"
    "  %14 : float = prim::Constant[value=1.0000000000000001e-05]()\n"
    "  %70 : float = prim::Constant[value=1.]()\n"
    "  %26 : Device = prim::Constant[value=\"cpu\"]()\n"
    "  %25 : Long(requires_grad=0, device=cpu) = prim::Constant[value={3}]()\n"
    "  %8 : Float(2, 3, strides=[3, 1], requires_grad=0, device=cpu) = aten::mul(%x.1, %25)\n"
    "  %y.1 : Tensor = aten::add(%x.1, %5, %5)\n"
    "  %y : Tensor = prim::Loop(%5, %11, %y.1)\n"
    "    block0(%i.1 : int, %y.27 : Tensor):\n"
    "      %16 : float = aten::mul(%i.1, %15)\n"
    "      %22 : bool = aten::gt(%i.1, %5)\n"
    "       = prim::If(%22)\n"
    "        block0():\n"
    "           = prim::RaiseException(%2, %27)\n"
    "          -> ()\n"
    "        block1():\n"
    "          -> ()\n"
    "      -> (%11, %y.27)\n"
    "  %3 : Tensor, %4 : Tensor = prim::ConstantChunk[chunks=2, dim=0](%y)\n"
    "  %114 : (Tensor, int[], Future[int]?) = prim::TupleConstruct(%y, %l.1, %27)\n"
    "  return (%114)\n";

static void test_round_trip(void **state) {
  (void)state;
  IrText ir;
  ir_parse(&ir, program);
  assert_null(graph_lint(ir.graph));
  StrBuf text = {0};
  graph_print(ir.graph, true, &text);
  assert_text(&text, program);
  Graph *copy = NULL;
  if (catch_enter(&ir.catch_point)) copy = graph_copy(ir.graph, &ir.arena, &ir.store);
  assert_null(graph_lint(copy));
  graph_dispose(copy);
  ir_dispose(&ir);
}

/* A copy made with one plan's store of a graph made with another's: its types are its own. */
static void test_copy_outlives_its_plan(void **state) {
  (void)state;
  const char *text =
      "graph(%x : Float(2, 3, device=cpu),\n"
      "      %y : Tensor):\n"
      "  %l : (Float(2, 3, device=cpu), Tensor[][]?) = prim::Uninitialized()\n"
      "  %p : Tensor = prim::profile[profiled_type=Float(2)](%y)\n"
      "  return (%x)\n";
  IrText ir;
  ir_parse(&ir, text);
  TypeStore home, other;
  Arena arena;
  Catch c;
  assert_null(type_store_init(&home, NULL));
  assert_null(type_store_init(&other, NULL));
  ir.store.home = other.home = &home;
  arena_init(&arena, &c);
  other.arena.catch_point = &c;
  Graph *copy = NULL;
  if (catch_enter(&c)) copy = graph_copy(ir.graph, &arena, &other);
  assert_null(c.status);
  const Type *tuple = node_output(copy->block->param->next, 0)->type;
  assert_ptr_equal(graph_input(copy, 0)->type->store, &other);
  assert_ptr_equal(tuple->store, &other);
  assert_ptr_equal(tuple->elements[0], graph_input(copy, 0)->type);
  assert_ptr_equal(tuple->elements[1]->elements[0]->store, &other);
  ir_dispose(&ir);
  StrBuf out = {0};
  graph_print(copy, false, &out);
  assert_text(&out, text);
  graph_dispose(copy);
  arena_dispose(&arena);
  type_store_dispose(&other);
  type_store_dispose(&home);
}

static void test_bad_text(void **state) {
  (void)state;
  static const char *const bad[] = {
      "",
      "graph",
      "graph(",
      "graph(%x : Tensr):\n  return (%x)\n",
      "graph(%x : int):\n  return (%y)\n",
      "graph(%x : int):\n  %y : int = neg(%x)\n  return (%y)\n",
      "graph():\n  %t : Float(2) = prim::Constant[value=<Tensor>]()\n  return (%t)\n",
      "graph():\n  %t : str[] = prim::Constant[value=[\"a\", \"b]()\n  return (%t)\n",
      "graph(%x : int):\n  return (%x) x",
      "graph(%x : ((((((((((int):\n  return (%x)\n",
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    Arena arena;
    TypeStore store;
    Catch c;
    assert_null(type_store_init(&store, NULL));
    arena_init(&arena, &c);
    store.arena.catch_point = &c;
    if (catch_enter(&c)) {
      graph_parse(&arena, &store, str_from(bad[i]), NULL, NULL);
      fail_msg("parsed: %s", bad[i]);
    }
    assert_int_equal(c.status->code, ERROR_SYNTAX);
    status_free(c.status);
    arena_dispose(&arena);
    type_store_dispose(&store);
  }
}

/* Numbers are read as numbers: zeros before them say nothing, and one too large for a value gets the next. */
static void test_numbers(void **state) {
  (void)state;
  IrText ir;
  StrBuf out = {0};
  ir_parse(&ir,
           "graph(%00 : int):\n"
           "  %99999999999 : int = aten::neg(%0)\n"
           "  %01 : int = aten::neg(%99999999999)\n"
           "  return (%1)\n");
  graph_print(ir.graph, false, &out);
  assert_text(&out,
              "graph(%0 : int):\n"
              "  %2 : int = aten::neg(%0)\n"
              "  %1 : int = aten::neg(%2)\n"
              "  return (%1)\n");
  ir_dispose(&ir);
}

/* Scopes go up to the end of the line, or to where the source is told. */
static void test_scopes(void **state) {
  (void)state;
  IrText ir;
  StrBuf out = {0};
  ir_parse(&ir,
           "graph(%x : int):\n"
           "  %1 : int = aten::neg(%x), scope: __module.a b/__module.a b.0 # net.py:3:0\n"
           "  %2 : int = aten::neg(%1)\n"
           "  return (%2)\n");
  graph_print(ir.graph, false, &out);
  assert_text(&out,
              "graph(%x : int):\n"
              "  %1 : int = aten::neg(%x), scope: __module.a b/__module.a b.0\n"
              "  %2 : int = aten::neg(%1)\n"
              "  return (%2)\n");
  ir_dispose(&ir);
}

/* The last value of a name keeps it; who had it before gets the next odd number. */
static void test_names(void **state) {
  (void)state;
  IrText ir;
  ir_parse(&ir, "graph(%x : int):\n  return (%x)\n");
  if (catch_enter(&ir.catch_point)) {
    Value *v[3];
    for (int i = 0; i < 3; i++) {
      v[i] = node_output(graph_insert_node(ir.graph, graph_create(ir.graph, SYM_prim_Uninitialized, 0, NULL, 1)), 0);
      value_set_name(v[i], STR("y"));
    }
    assert_true(str_is(v[0]->name, "y.1"));
    assert_true(str_is(v[1]->name, "y.3"));
    assert_true(str_is(v[2]->name, "y"));
  }
  ir_dispose(&ir);
}

static void test_uses_and_order(void **state) {
  (void)state;
  IrText ir;
  ir_parse(
      &ir,
      "graph(%x : int, %y : int):\n  %a : int = aten::add(%x, %x)\n  %b : int = aten::add(%a, %x)\n  return (%b)\n");
  if (catch_enter(&ir.catch_point)) {
    Value *x = graph_input(ir.graph, 0), *y = graph_input(ir.graph, 1);
    Node *a = ir.graph->block->param->next, *b = a->next;
    assert_int_equal(x->uses.length, 3);
    value_replace_all_uses_after(x, a, y);
    assert_int_equal(x->uses.length, 2);
    assert_ptr_equal(node_input(b, 1), y);
    assert_null(graph_lint(ir.graph));
    node_replace_input(a, 0, y);
    node_remove_input(a, 1);
    node_insert_input(a, 0, x);
    assert_null(graph_lint(ir.graph));
    assert_true(node_is_before(a, b));
    for (int i = 0; i < 200; i++) { /* positions run out and are given anew */
      Node *node = graph_create(ir.graph, SYM_aten_neg, 1, &x, 1);
      node->outputs[0]->type = TYPE(INT);
      node_insert_before(node, b);
      assert_true(node_is_before(a, node) && node_is_before(node, b));
    }
    assert_null(graph_lint(ir.graph));
    BLOCK_EACH(node, ir.graph->block)
    if (node->kind == SYM_aten_neg) node_destroy(node);
    assert_null(graph_lint(ir.graph));
    node_move_before(b, a);
    Status status = graph_lint(ir.graph);
    assert_non_null(status);
    assert_int_equal(status->code, ERROR_INTERNAL);
    status_free(status);
  }
  assert_null(ir.catch_point.status);
  ir_dispose(&ir);
}

static void test_many_uses(void **state) {
  (void)state;
  IrText ir;
  ir_parse(&ir, "graph(%x : int):\n  return (%x)\n");
  if (catch_enter(&ir.catch_point)) {
    Value *x = graph_input(ir.graph, 0);
    Node *nodes[20000];
    for (int i = 0; i < 20000; i++) {
      nodes[i] = graph_insert_node(ir.graph, graph_create(ir.graph, SYM_aten_neg, 1, &x, 1));
      nodes[i]->outputs[0]->type = TYPE(INT);
      value_set_name(nodes[i]->outputs[0], STR("v"));
    }
    assert_null(graph_lint(ir.graph));
    for (int i = 0; i < 20000; i++) node_destroy(nodes[i]);
    assert_int_equal(x->uses.length, 1);
  }
  assert_null(ir.catch_point.status);
  ir_dispose(&ir);
}

/* ---- matching ---- */

static MatchedSchema match(IrText *ir, const char *schema_text, uint32_t count, const NamedValue *arguments,
                           bool *out_ok, StrBuf *why) {
  MatchedSchema m = {0};
  if (catch_enter(&ir->catch_point)) {
    FunctionSchema *schema = schema_parse(&ir->arena, &ir->store, str_from(schema_text));
    CallArguments call = {.count = count, .positional = arguments};
    *out_ok = schema_try_match(ir->graph, schema, (SourceRange){0}, &call, true, why, &m);
  }
  assert_null(ir->catch_point.status);
  return m;
}

static void test_matching(void **state) {
  (void)state;
  IrText ir;
  ir_parse(&ir,
           "graph(%t : Tensor, %i : int, %f : float, %ts : (Tensor, Tensor), %is : (int, int), %o : Tensor?, %l : "
           "int[]):\n  return (%i)\n");
  NamedValue t = {.value = graph_input(ir.graph, 0)}, i = {.value = graph_input(ir.graph, 1)},
             f = {.value = graph_input(ir.graph, 2)}, ts = {.value = graph_input(ir.graph, 3)},
             is = {.value = graph_input(ir.graph, 4)}, o = {.value = graph_input(ir.graph, 5)},
             l = {.value = graph_input(ir.graph, 6)}, three = {.constant = ivalue_int(3), .is_constant = true};
  bool ok;
  MatchedSchema m = match(&ir, "aten::f(Tensor x, *, Scalar alpha=1) -> Tensor", 1, &t, &ok, NULL);
  assert_true(ok && m.input_count == 2 && m.inputs[1]->node->kind == SYM_prim_Constant);
  m = match(&ir, "aten::f(int[2] x) -> Tensor", 1, &three, &ok, NULL);
  assert_true(ok && m.inputs[0]->node->kind == SYM_prim_ListConstruct && m.inputs[0]->node->input_count == 2);
  m = match(&ir, "aten::f(int[] x) -> Tensor", 2, (NamedValue[]){i, three}, &ok, NULL);
  assert_true(ok && m.input_count == 1 && m.inputs[0]->node->input_count == 2);
  m = match(&ir, "aten::f(int[] x) -> Tensor", 1, &is, &ok, NULL);
  assert_true(ok && m.inputs[0]->node->kind == SYM_prim_ListConstruct &&
              node_input(m.inputs[0]->node, 0)->node->kind == SYM_prim_TupleUnpack);
  m = match(&ir, "aten::f(Tensor[] x) -> Tensor", 1, &ts, &ok, NULL);
  assert_true(ok);
  m = match(&ir, "aten::f(t[] x, t y) -> t", 2, (NamedValue[]){l, i}, &ok, NULL);
  assert_true(ok && m.return_types[0]->kind == TYPE_INT);
  m = match(&ir, "aten::f(Tensor? x) -> Tensor", 1, &o, &ok, NULL);
  assert_true(ok);

  Node *last = ir.graph->insert_before->prev;
  StrBuf why = {0};
  match(&ir, "aten::f(int x, Tensor y) -> Tensor", 2, (NamedValue[]){three, f}, &ok, &why);
  assert_false(ok);
  assert_ptr_equal(ir.graph->insert_before->prev, last); /* nothing stays behind */
  assert_text(&why,
              "\naten::f(int x, Tensor y) -> Tensor:\nExpected a value of type 'Tensor' for argument 'y' but instead "
              "found type 'float'.\n");
  match(&ir, "aten::f(int x) -> Tensor", 1, &f, &ok, NULL);
  assert_false(ok);
  match(&ir, "aten::f(Tensor x) -> Tensor", 1, &o, &ok, NULL);
  assert_false(ok);
  match(&ir, "aten::f(Tensor x) -> Tensor", 2, (NamedValue[]){t, t}, &ok, &why);
  assert_text(&why, "\naten::f(Tensor x) -> Tensor:\nExpected at most 1 arguments but found 2 positional arguments.\n");
  match(&ir, "aten::f(Tensor x, int y) -> Tensor", 1, &t, &ok, &why);
  assert_text(&why, "\naten::f(Tensor x, int y) -> Tensor:\nArgument y not provided.\n");
  assert_null(graph_lint(ir.graph));
  ir_dispose(&ir);
}

static void seal(void *graph) {
  graph_seal(graph);
}

/* Every operator is known afterwards, those of a Subgraph too, and asking writes nothing; a copy is not sealed. */
static void test_sealing(void **state) {
  (void)state;
  IrText ir;
  ir_parse(&ir,
           "graph(%x : Tensor, %c : bool):\n"
           "  %y : Tensor = prim::If(%c)\n"
           "    block0():\n"
           "      %a : Tensor = aten::relu(%x)\n"
           "      -> (%a)\n"
           "    block1():\n"
           "      %b : Tensor = aten::neg(%x)\n"
           "      -> (%b)\n"
           "  %f : Future(Tensor) = prim::fork_0(%y)\n"
           "  %z : Tensor = aten::wait(%f)\n"
           "  return (%z)\n"
           "with prim::fork_0 = graph(%i : Tensor):\n"
           "  %j : Tensor = aten::tanh(%i)\n"
           "  return (%j)\n");
  assert_null(arena_protect(&ir.arena, seal, ir.graph));
  const Node *branch = ir.graph->block->param->next, *fork = branch->next;
  const Graph *subgraph = node_attribute(fork, SYM_attr_Subgraph)->g;
  assert_true(ir.graph->is_sealed && subgraph->is_sealed);
  for (int i = 0; i < 2; i++) assert_non_null(branch->blocks[i]->param->next->op);
  assert_non_null(subgraph->block->param->next->op);
  assert_non_null(fork->next->op);
  const char *used = ir.arena.next;
  assert_non_null(node_schema(fork->next));
  assert_null(node_operator(branch));
  assert_ptr_equal(ir.arena.next, used);
  ir.catch_point.status = NULL;
  if (catch_enter(&ir.catch_point)) {
    Graph *copy = graph_copy(ir.graph, &ir.arena, &ir.store);
    assert_false(copy->is_sealed);
    assert_ptr_equal(copy->block->param->next->next->next->op, fork->next->op);
    graph_dispose(copy);
  }
  assert_null(ir.catch_point.status);
  ir_dispose(&ir);
}

static void assert_same_text(const Graph *a, const Graph *b) {
  StrBuf texts[2] = {{0}};
  graph_print(a, true, &texts[0]);
  graph_print(b, true, &texts[1]);
  assert_string_equal(texts[0].data, texts[1].data);
  for (int i = 0; i < 2; i++) strbuf_dispose(&texts[i]);
}

static void add_and_remove(Graph *graph, int count) {
  for (int i = 0; i < count; i++) {
    Node *node = graph_insert_node(graph, graph_create(graph, SYM_prim_Uninitialized, 0, NULL, 1));
    value_set_name(node_output(node, 0), STR("y"));
    node_destroy(node);
  }
}

/* A compact copy says the same and has nothing of what was removed; unsealed, it is as good as another. */
static void test_compact(void **state) {
  (void)state;
  IrText ir;
  Arena arena;
  ir_parse(&ir, program);
  arena_init(&arena, &ir.catch_point);
  if (catch_enter(&ir.catch_point)) {
    add_and_remove(ir.graph, 500);
    Graph *same = graph_compact(ir.graph, &arena, &ir.store, true);
    size_t bytes = arena.bytes;
    assert_true(bytes * 8 < ir.arena.bytes);
    Graph *copy = graph_copy(ir.graph, &ir.arena, &ir.store),
          *fresh = graph_compact(ir.graph, &arena, &ir.store, false);
    assert_true(arena.bytes <= 2 * bytes);
    assert_same_text(same, ir.graph);
    assert_same_text(fresh, copy);
    assert_null(graph_lint(same));
    graph_seal(same);
    graph_unseal(same);
    graph_set_insert_point(same, same->block->ret->prev);
    Node *node = graph_insert_node(same, graph_create(same, SYM_prim_Uninitialized, 0, NULL, 1));
    value_set_name(node_output(node, 0), STR("y"));
    assert_true(str_is(node_output(node, 0)->name, "y"));
    assert_null(graph_lint(same));
    graph_dispose(same);
    graph_dispose(fresh);
    graph_dispose(copy);
  }
  assert_null(ir.catch_point.status);
  arena_dispose(&arena);
  ir_dispose(&ir);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_round_trip),     cmocka_unit_test(test_copy_outlives_its_plan),
      cmocka_unit_test(test_bad_text),       cmocka_unit_test(test_numbers),
      cmocka_unit_test(test_names),          cmocka_unit_test(test_scopes),
      cmocka_unit_test(test_uses_and_order), cmocka_unit_test(test_many_uses),
      cmocka_unit_test(test_matching),       cmocka_unit_test(test_sealing),
      cmocka_unit_test(test_compact),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
