/* check_ad: functions, their gradients and what of them belongs into differentiable graphs, recorded from PyTorch by
 * tests/autodiff/record_check_ad.py. Every function is split and differentiated; the named nodes must be in a
 * prim::DifferentiableGraph, or in none; results and gradients must be the recorded ones; gradients, first and second,
 * must agree with finite differences. With CHECK_AD=name in the environment the graphs of one function are shown. */
#include "gradient_record.h"

#include "autodiff/differentiate.h"
#include "ir/subgraph.h"

typedef struct Program {
  CompiledCase compiled;
  Arena arena;
  Graph *graph;
  Code *code;
} Program;

/* ---- programs ---- */

static void run_pass(const Case *c, Program *p, const char *name) {
  const Pass *pass = pass_find(str_from(name));
  if (pass) check(c, pass_run(pass, p->graph, &p->compiled.exec), name);
}

static void split(void *argument) {
  create_autodiff_subgraphs(argument, 1);
}

static void show(const Case *c, const Graph *graph) {
  const char *wanted = getenv("CHECK_AD");
  if (!wanted || !str_is(c->name, wanted)) return;
  StrBuf text = {0};
  graph_print(graph, false, &text);
  print_message("%s\n", text.data);
  strbuf_dispose(&text);
}

static void build(const Case *c, Program *p) {
  *p = (Program){0};
  compile_case(c, &p->compiled);
  arena_init(&p->arena, NULL);
  Catch catch_point;
  p->arena.catch_point = &catch_point;
  if (catch_enter(&catch_point))
    p->graph = graph_copy(p->compiled.function->graph, &p->arena, &p->compiled.unit->store);
  check(c, catch_point.status, "copying");
  static const char *const passes[] = {"inliner",
                                       "lower_tuples",
                                       "constant_propagation",
                                       "peephole",
                                       "canonicalize_graph_fuser_ops",
                                       "dead_code_elimination"};
  for (size_t i = 0; i < sizeof passes / sizeof *passes; i++) run_pass(c, p, passes[i]);
  check(c, arena_protect(&p->arena, split, p->graph), "create_autodiff_subgraphs");
  show(c, p->graph);
  run_pass(c, p, "differentiate");
  show(c, p->graph);
  check(c, code_compile(p->graph, STR("f"), &p->code), "code_compile");
}

static void dispose(Program *p) {
  code_free(p->code);
  graph_dispose(p->graph);
  arena_dispose(&p->arena);
  unit_release(p->compiled.unit);
}

/* ---- nodes ---- */

static const Node *find_inside(const Block *block, Str kind, bool inside) {
  BLOCK_EACH(node, block) {
    if (inside && str_equal(symbol_name(node->kind), kind)) return node;
    for (uint32_t i = 0; i < node->block_count; i++) {
      const Node *found = find_inside(node->blocks[i], kind, inside);
      if (found) return found;
    }
    const Graph *subgraph = node_subgraph(node);
    const Node *found = !subgraph                                      ? NULL
                        : node->kind == SYM_prim_DifferentiableGraph   ? find_inside(subgraph->block, kind, true)
                        : inside && node->kind == SYM_prim_FusionGroup ? find_inside(subgraph->block, kind, true)
                                                                       : NULL;
    if (found) return found;
  }
  return NULL;
}

static void check_node(const Case *c, const Program *p, Str kind) {
  const Node *found = find_inside(p->graph->block, kind, false);
  if (!found != c->should_autodiff) return;
  StrBuf text = {0};
  graph_print(p->graph, false, &text);
  if (found && node_schema(found)) {
    strbuf_puts(&text, "matched: ");
    schema_print(node_schema(found), &text);
  }
  fail_msg(STR_FMT ": " STR_FMT " %s a DifferentiableGraph\n%s", STR_ARG(c->name), STR_ARG(kind),
           found ? "should be in no part of" : "should be in", text.data);
}

static void check_nodes(const Case *c, const Program *p) {
  static const char *const lists[] = {"nonfusible_nodes", "fusible_nodes"};
  for (int k = 0; k < 2; k++) {
    IValue names = field(c->dict, lists[k]);
    for (size_t i = 0; i < names.list->length; i++) check_node(c, p, ivalue_str(item(names, i)));
  }
}

static double dot(const Tensors *a, const Tensors *b) {
  double sum = 0;
  for (uint32_t i = 0; i < a->count; i++) {
    if (!a->items[i] || !b->items[i]) continue;
    Tensor *u, *v;
    const double *x = values_of(a->items[i], &u), *y = values_of(b->items[i], &v);
    for (int64_t k = 0; k < u->numel; k++) sum += x[k] * y[k];
    tensor_release(u);
    tensor_release(v);
  }
  return sum;
}

/* ---- finite differences ---- */

/* The function whose derivative is taken: by its results, or by its gradients. */
static double value_at(const Case *c, Program *p, const Tensors *arguments, const Tensors *directions) {
  const Code *code;
  check(c, function_code(&p->compiled.exec, p->compiled.function, &code), "function_code");
  if (!directions) {
    p->compiled.exec.grad_enabled = false;
    Tensors outputs = run(c, &p->compiled.exec, code, arguments), chosen = {0};
    p->compiled.exec.grad_enabled = true;
    for (uint32_t i = 0; i < outputs.count; i++)
      if (dtype_is_floating((DType)outputs.items[i]->dtype)) chosen.items[chosen.count++] = outputs.items[i];
    double value = dot(&chosen, &c->seeds);
    release(&outputs);
    return value;
  }
  Tensors outputs = run(c, &p->compiled.exec, p->code, arguments);
  Tensors grads = gradients(c, &p->compiled.exec, &outputs, &c->seeds, arguments, false);
  double value = dot(&grads, directions);
  release(&outputs);
  release(&grads);
  return value;
}

static void compare_with_differences(const Case *c, Program *p, const Tensors *grads, const Tensors *directions) {
  const double step = 1e-6;
  uint32_t at = 0;
  for (uint32_t i = 0; i < c->arguments.count; i++) {
    if (!c->requires[i]) continue;
    Tensor *expected;
    assert_null(tensor_empty(DTYPE_FLOAT64, c->arguments.items[i]->ndim, c->arguments.items[i]->sizes, &expected));
    for (int64_t k = 0; k < expected->numel; k++) {
      double values[2];
      for (int side = 0; side < 2; side++) {
        Tensors arguments = leaves(c);
        ((double *)tensor_data(arguments.items[i]))[k] += side ? step : -step;
        values[side] = value_at(c, p, &arguments, directions);
        release(&arguments);
      }
      ((double *)tensor_data(expected))[k] = (values[1] - values[0]) / (2 * step);
    }
    compare(c, grads->items[at], expected, 2e-5, directions ? "second derivative" : "derivative", at);
    tensor_release(expected);
    at++;
  }
}

static void check_second(const Case *c, Program *p) {
  Tensors arguments = leaves(c), outputs = run(c, &p->compiled.exec, p->code, &arguments), directions = {0};
  Tensors grads = gradients(c, &p->compiled.exec, &outputs, &c->seeds, &arguments, true), some = {0};
  directions.count = grads.count;
  for (uint32_t i = 0; i < grads.count; i++) {
    if (!grads.items[i]) continue;
    assert_null(tensor_clone(grads.items[i], &directions.items[i]));
    double *d = tensor_data(directions.items[i]);
    for (int64_t k = 0; k < directions.items[i]->numel; k++) d[k] = 0.5 + 0.25 * (double)(k % 5);
    if (grads.items[i]->flags & TENSOR_RECORDS) some.items[some.count++] = directions.items[i];
  }
  Tensors defined = {0};
  for (uint32_t i = 0; i < grads.count; i++)
    if (grads.items[i]) defined.items[defined.count++] = grads.items[i];
  if (some.count) {
    Tensors second = gradients(c, &p->compiled.exec, &defined, &some, &arguments, false);
    compare_with_differences(c, p, &second, &directions);
    release(&second);
  }
  release(&grads);
  release(&directions);
  release(&outputs);
  release(&arguments);
}

/* ---- cases ---- */

static void check_case(const Case *c) {
  Program p;
  build(c, &p);
  check_nodes(c, &p);
  if (!is_in_this_build(c, &p.compiled.exec, p.code)) {
    dispose(&p);
    return;
  }
  Tensors arguments = leaves(c), outputs = run(c, &p.compiled.exec, p.code, &arguments);
  assert_int_equal(outputs.count, c->outputs.count);
  for (uint32_t i = 0; i < outputs.count && !c->random; i++)
    compare(c, outputs.items[i], c->outputs.items[i], 1e-6, "result", i);
  if (c->seeds.count) {
    Tensors grads = gradients(c, &p.compiled.exec, &outputs, &c->seeds, &arguments, false);
    assert_int_equal(grads.count, c->grads.count);
    for (uint32_t i = 0; i < grads.count && !c->random; i++) {
      if (grads.items[i])
        compare(c, grads.items[i], c->grads.items[i], 1e-6, "gradient", i);
      else
        assert_int_equal(c->grads.items[i]->numel, 0);
    }
    bool exact = !c->random && !str_is(c->name, "mixed");
    if (exact) {
      compare_with_differences(c, &p, &grads, NULL);
      check_second(c, &p);
    }
    release(&grads);
  }
  release(&outputs);
  release(&arguments);

  p.compiled.exec.grad_enabled = false; /* the same results, and nothing recorded */
  Tensors again = leaves(c), quiet = run(c, &p.compiled.exec, p.code, &again);
  assert_int_equal(recording(&quiet).count, 0);
  for (uint32_t i = 0; i < quiet.count && !c->random; i++)
    compare(c, quiet.items[i], c->outputs.items[i], 1e-6, "result without gradients", i);
  release(&quiet);
  release(&again);
  dispose(&p);
}

static void test_cases(void **state) {
  (void)state;
  wick_value *record;
  wick_error *error = NULL;
  if (wick_load_value(NULL, "data/check_ad.pt", NULL, &record, &error)) fail_msg("%s", wick_error_message(error));
  assert_int_equal(record->value.tag, TAG_LIST);
  const char *wanted = getenv("CHECK_AD");
  for (size_t i = 0; i < record->value.list->length; i++) {
    Case c = case_of(item(record->value, i).dict);
    if (wanted && !str_is(c.name, wanted)) continue;
    check_case(&c);
  }
  wick_value_release(record);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
