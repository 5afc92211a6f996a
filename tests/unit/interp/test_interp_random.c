/* Random programs of branches and loops over ints and lists, run by the interpreter and by a walk of the graph:
 * registers, moves and drops must not change a result, lose a reference or keep one. */
#include <stdlib.h>

#include "ir_fixture.h"

#include "ir/match.h"

typedef struct Maker {
  Graph *graph;
  uint64_t seed;
  VEC(Value *) ints, lists; /* in scope */
  int left;                 /* nodes */
} Maker;

static uint32_t pick(Maker *m, uint32_t n) {
  m->seed = m->seed * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(m->seed >> 33) % n;
}

static Value *an_int(Maker *m) {
  return m->ints.data[pick(m, (uint32_t)m->ints.length)];
}
static Value *a_list(Maker *m) {
  return m->lists.data[pick(m, (uint32_t)m->lists.length)];
}

static Value *add(Maker *m, Symbol kind, Value *a, Value *b, const Type *type) {
  Node *node = graph_create(m->graph, kind, b ? 2 : 1, (Value *[]){a, b}, 1);
  node->outputs[0]->type = type;
  graph_insert_node(m->graph, node);
  return node->outputs[0];
}

static void make_block(Maker *m, Block *block, int depth);

/* Fills a block with its outputs: some ints and one list, from whatever is in scope at its end. */
static void make_body(Maker *m, Block *block, int depth, uint32_t int_outputs) {
  size_t ints = m->ints.length, lists = m->lists.length;
  Node *before = m->graph->insert_before;
  for (uint32_t i = 0; i < block_input_count(block); i++) {
    Value *v = block_input(block, i);
    if (v->type->kind == TYPE_INT)
      assert_true(vec_push(&m->ints, v));
    else
      assert_true(vec_push(&m->lists, v));
  }
  graph_set_insert_block(m->graph, block);
  make_block(m, block, depth);
  for (uint32_t i = 0; i < int_outputs; i++) block_register_output(block, an_int(m));
  block_register_output(block, a_list(m));
  m->graph->insert_before = before;
  m->ints.length = ints;
  m->lists.length = lists;
}

static void add_outputs(Maker *m, Node *node, uint32_t int_outputs) {
  for (uint32_t i = 0; i <= int_outputs; i++)
    node_add_output(node, i < int_outputs ? TYPE(INT) : type_list_of(TYPE_INT));
  graph_insert_node(m->graph, node);
}

static void keep_outputs(Maker *m, Node *node, uint32_t int_outputs) {
  for (uint32_t i = 0; i < int_outputs; i++) assert_true(vec_push(&m->ints, node->outputs[i]));
  assert_true(vec_push(&m->lists, node->outputs[int_outputs]));
}

static void make_block(Maker *m, Block *block, int depth) {
  (void)block;
  const Type *list = type_list_of(TYPE_INT);
  for (uint32_t n = 2 + pick(m, 6); n-- && m->left > 0;) {
    m->left--;
    switch (pick(m, depth < 4 ? 9 : 6)) {
      case 0:
      case 1:
        assert_true(vec_push(&m->ints, add(m, SYM_aten_add, an_int(m), an_int(m), TYPE(INT))));
        break;
      case 2:
        assert_true(vec_push(&m->ints, add(m, SYM_aten_sub, an_int(m), an_int(m), TYPE(INT))));
        break;
      case 3:
        assert_true(vec_push(&m->lists, add(m, SYM_prim_ListConstruct, an_int(m), an_int(m), list)));
        break;
      case 4:
        assert_true(vec_push(&m->ints, add(m, SYM_aten___getitem__, a_list(m),
                                           graph_insert_constant(m->graph, ivalue_int(1), NULL), TYPE(INT))));
        break;
      case 5: {
        Value *l = a_list(m), *tuple = graph_insert_tuple(m->graph, 2, (Value *[]){l, an_int(m)}, NULL);
        Value **parts = graph_insert_tuple_unpack(m->graph, tuple);
        assert_true(vec_push(&m->lists, parts[0]));
        break;
      }
      case 6:
      case 7: {
        Value *condition = add(m, pick(m, 2) ? SYM_aten_lt : SYM_aten_ge, an_int(m), an_int(m), TYPE(BOOL));
        if (pick(m, 3) == 0) condition = add(m, SYM_aten___not__, condition, NULL, TYPE(BOOL));
        Node *node = graph_create_if(m->graph, condition);
        uint32_t outputs = pick(m, 4);
        add_outputs(m, node, outputs);
        for (int b = 0; b < 2; b++) make_body(m, node->blocks[b], depth + 1, outputs);
        keep_outputs(m, node, outputs);
        break;
      }
      default: {
        bool is_while = pick(m, 3) == 0;
        uint32_t outputs = 1 + pick(m, 3);
        Value *limit = graph_insert_constant(m->graph, ivalue_int(is_while ? INT64_MAX : (int64_t)pick(m, 4)), NULL);
        Value *yes = graph_insert_constant(m->graph, ivalue_bool(true), NULL);
        Value *zero = graph_insert_constant(m->graph, ivalue_int(0), NULL),
              *turns = graph_insert_constant(m->graph, ivalue_int(pick(m, 4)), NULL);
        Value *start = is_while ? add(m, SYM_aten_lt, zero, turns, TYPE(BOOL)) : yes;
        Node *node = graph_create_loop(m->graph, limit, start);
        Block *body = node->blocks[0];
        if (is_while) { /* its own counter comes first */
          node_add_input(node, zero);
          node_add_output(node, TYPE(INT));
          block_add_input(body, STR(""), TYPE(INT));
        }
        for (uint32_t i = 0; i <= outputs; i++) {
          const Type *type = i < outputs ? TYPE(INT) : list;
          node_add_input(node, i < outputs ? an_int(m) : a_list(m));
          node_add_output(node, type);
          block_add_input(body, STR(""), type);
        }
        graph_insert_node(m->graph, node);
        size_t ints = m->ints.length;
        make_body(m, body, depth + 1, outputs);
        m->ints.length = ints;
        Node *before = m->graph->insert_before;
        graph_set_insert_block(m->graph, body);
        if (is_while) {
          Value *one = graph_insert_constant(m->graph, ivalue_int(1), NULL);
          Value *next = add(m, SYM_aten_add, block_input(body, 1), one, TYPE(INT));
          block_insert_output(body, 0, next);
          block_insert_output(body, 0, add(m, SYM_aten_lt, next, turns, TYPE(BOOL)));
        } else {
          block_insert_output(body, 0, yes);
        }
        m->graph->insert_before = before;
        for (uint32_t i = 0; i < outputs; i++) assert_true(vec_push(&m->ints, node->outputs[i + is_while]));
        assert_true(vec_push(&m->lists, node->outputs[outputs + is_while]));
        break;
      }
    }
  }
}

/* ---- the walk ---- */

static IValue *slot(IValue *values, const Value *v) {
  return &values[v->unique];
}

static void set(IValue *values, const Value *v, IValue value) {
  ivalue_release(*slot(values, v));
  *slot(values, v) = value;
}

static void walk(const Block *block, IValue *values) {
  BLOCK_EACH(node, block) {
#define IN(i) (*slot(values, node_input(node, i)))
#define OUT(value) set(values, node->outputs[0], value)
    switch (node->kind) {
      case SYM_prim_Constant: {
        IValue v;
        value_is_constant(node->outputs[0], &v);
        OUT(ivalue_retain(v));
        break;
      }
      case SYM_aten_add:
        OUT(ivalue_int((int64_t)((uint64_t)IN(0).i + (uint64_t)IN(1).i)));
        break;
      case SYM_aten_sub:
        OUT(ivalue_int((int64_t)((uint64_t)IN(0).i - (uint64_t)IN(1).i)));
        break;
      case SYM_aten_lt:
        OUT(ivalue_bool(IN(0).i < IN(1).i));
        break;
      case SYM_aten_ge:
        OUT(ivalue_bool(IN(0).i >= IN(1).i));
        break;
      case SYM_aten___not__:
        OUT(ivalue_bool(!IN(0).b));
        break;
      case SYM_aten___getitem__:
        OUT(list_get(IN(0).list, (size_t)IN(1).i));
        break;
      case SYM_prim_ListConstruct: {
        List *l;
        assert_null(list_from_ints((int64_t[]){IN(0).i, IN(1).i}, 2, &l));
        OUT(ivalue_list(l));
        break;
      }
      case SYM_prim_TupleConstruct: {
        Tuple *t;
        assert_null(tuple_new(2, NULL, &t));
        t->values[0] = ivalue_retain(IN(0));
        t->values[1] = ivalue_retain(IN(1));
        OUT(ivalue_tuple(t));
        break;
      }
      case SYM_prim_TupleUnpack:
        for (int i = 0; i < 2; i++) set(values, node->outputs[i], ivalue_retain(IN(0).tuple->values[i]));
        break;
      case SYM_prim_If: {
        const Block *taken = node->blocks[!IN(0).b];
        walk(taken, values);
        for (uint32_t i = 0; i < node->output_count; i++)
          set(values, node->outputs[i], ivalue_retain(*slot(values, block_output(taken, i))));
        break;
      }
      case SYM_prim_Loop: {
        const Block *body = node->blocks[0];
        bool go = IN(1).b;
        uint32_t n = node->output_count;
        IValue *carried = calloc(n + 1, sizeof *carried);
        for (uint32_t i = 0; i < n; i++) carried[i] = ivalue_retain(IN(i + 2));
        for (int64_t turn = 0; turn < IN(0).i && go; turn++) {
          set(values, block_input(body, 0), ivalue_int(turn));
          for (uint32_t i = 0; i < n; i++) set(values, block_input(body, i + 1), carried[i]);
          walk(body, values);
          go = slot(values, block_output(body, 0))->b;
          for (uint32_t i = 0; i < n; i++) carried[i] = ivalue_retain(*slot(values, block_output(body, i + 1)));
        }
        for (uint32_t i = 0; i < n; i++) set(values, node->outputs[i], carried[i]);
        free(carried);
        break;
      }
      default:
        fail();
    }
  }
}

static void check(uint64_t seed) {
  Arena arena;
  TypeStore store;
  Catch catch_point;
  assert_null(type_store_init(&store, NULL));
  arena_init(&arena, &catch_point);
  store.arena.catch_point = &catch_point;
  Maker m = {.seed = seed, .left = 60};
  if (catch_enter(&catch_point)) {
    m.graph = graph_new(&arena, &store);
    for (int i = 0; i < 2; i++) assert_true(vec_push(&m.ints, graph_add_input(m.graph, STR(""), TYPE(INT))));
    assert_true(vec_push(&m.lists, graph_add_input(m.graph, STR(""), type_list_of(TYPE_INT))));
    make_block(&m, m.graph->block, 0);
    for (int i = 0; i < 3; i++) graph_register_output(m.graph, an_int(&m));
    graph_register_output(m.graph, a_list(&m));
  }
  assert_null(catch_point.status);
  Status status = graph_lint(m.graph);
  if (status) print_error("%s\n", status->message);
  assert_null(status);

  List *l;
  assert_null(list_from_ints((int64_t[]){4, 7}, 2, &l));
  IValue inputs[3] = {ivalue_int(3), ivalue_int(-2), ivalue_list(l)}, outputs[4];
  IValue *values = calloc(m.graph->next_unique, sizeof *values);
  for (uint32_t i = 0; i < 3; i++) set(values, graph_input(m.graph, i), ivalue_retain(inputs[i]));
  walk(m.graph->block, values);

  Code *code;
  assert_null(code_compile(m.graph, STR("random"), &code));
  Exec exec;
  exec_init(&exec, NULL);
  assert_null(interp_run(&exec, code, inputs, 3, outputs, 4));
  for (uint32_t i = 0; i < 4; i++) {
    if (!ivalue_is_surely_equal(outputs[i], *slot(values, graph_output(m.graph, i)))) {
      StrBuf text = {0};
      graph_print(m.graph, false, &text);
      code_print(code, &text);
      print_error("seed %llu, output %u\n%s\n", (unsigned long long)seed, i, text.data);
      fail();
    }
    ivalue_release(outputs[i]);
  }
  for (uint32_t i = 0; i < m.graph->next_unique; i++) ivalue_release(values[i]);
  free(values);
  assert_true(ref_is_unique(&l->refs));
  ivalue_release(inputs[2]);
  code_free(code);
  vec_dispose(&m.ints);
  vec_dispose(&m.lists);
  graph_dispose(m.graph);
  arena_dispose(&arena);
  type_store_dispose(&store);
}

static void test_random_programs(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 3000; seed++) check(seed * 77777);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_programs)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
