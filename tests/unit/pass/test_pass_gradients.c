/* Every pass that says it keeps gradients (Pass.keeps), alone: functions recorded from PyTorch are compiled, the pass
 * runs over the graph, and results and gradients must be those of the graph without it, and PyTorch's. Once with the
 * graph as it was compiled, once inlined and with the arguments' types in it. Every such pass must have had something
 * to do. With PASS_GRADIENTS=name in the environment the graphs of one function are shown. */
#include "gradient_record.h"

#include "autodiff/differentiate.h"
#include "type/tensor_type.h"

enum { MAX_PASSES = 256 };

/* Passes that change no graph of these tests, and why. */
static bool has_nothing_to_do(const Pass *pass) {
  static const char *const names[] = {"canonicalize_modified_loops", /* compiling has done these */
                                      "canonicalize_outputs",
                                      "normalize_ops",
                                      "refine_tuple_types",
                                      "check_inplace",       /* changes nothing */
                                      "check_strict_fusion", /* there is no such region */
                                      "hoist_attributes",    /* they have no objects */
                                      "fold_frozen_conv_bn", /* weights are not constant */
                                      "recompose",           /* nothing is in parts */
                                      "lower_grad_of",       /* prim::GradOf is in backward graphs */
                                      "specialize_autogradzero"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (!strcmp(pass->name, names[i])) return true;
  return false;
}

typedef struct Outcome {
  Tensors outputs, grads;
} Outcome;

typedef struct Program {
  CompiledCase compiled;
  Outcome plain; /* of the function as compiled */
} Program;

typedef struct Way {
  const char *first; /* a pass before, that makes what `pass` works on; NULL: none */
  bool typed;
} Way;

static uint32_t changes[MAX_PASSES];

static Outcome outcome_of(const Case *c, Program *p, const Code *code) {
  Outcome o = {0};
  Tensors arguments = leaves(c);
  o.outputs = run(c, &p->compiled.exec, code, &arguments);
  if (c->seeds.count) o.grads = gradients(c, &p->compiled.exec, &o.outputs, &c->seeds, &arguments, false);
  release(&arguments);
  return o;
}

static void outcome_dispose(Outcome *o) {
  release(&o->outputs);
  release(&o->grads);
}

/* Equal but for the order of sums. */
static void compare_outcomes(const Case *c, const Outcome *got, const Tensors *outputs, const Tensors *grads,
                             double tolerance) {
  assert_int_equal(got->outputs.count, outputs->count);
  assert_int_equal(got->grads.count, grads->count);
  for (uint32_t i = 0; i < outputs->count; i++)
    compare(c, got->outputs.items[i], outputs->items[i], tolerance, "result", i);
  for (uint32_t i = 0; i < grads->count; i++) {
    bool none = !grads->items[i] || (!grads->items[i]->numel && got->grads.items[i] == NULL);
    if (!none) compare(c, got->grads.items[i], grads->items[i], tolerance, "gradient", i);
  }
}

/* ---- one pass over one graph ---- */

typedef struct Copying {
  const Case *c;
  const Graph *from;
  Arena *arena;
  TypeStore *store;
  Graph *graph;
  bool typed;
} Copying;

static void copy_graph(void *argument) {
  Copying *copying = argument;
  copying->graph = graph_copy(copying->from, copying->arena, copying->store);
  for (uint32_t i = 0; copying->typed && i < copying->c->arguments.count; i++) {
    TensorInfo info;
    tensor_info_of(copying->c->arguments.items[i], true, &info);
    info.requires_grad = copying->c->requires[i];
    graph_input(copying->graph, i)->type = type_tensor_refined(copying->store, &info);
  }
}

static void print(const Graph *graph, StrBuf *out) {
  strbuf_dispose(out);
  graph_print(graph, false, out);
}

static void run_pass(const Case *c, Program *p, Graph *graph, const char *name) {
  Status status = pass_run(pass_find(str_from(name)), graph, &p->compiled.exec);
  if (!status) status = graph_lint(graph);
  check(c, status, name);
}

/* Whether the pass had something to do. */
static bool check_pass(const Case *of, Program *p, const Pass *pass, Way way) {
  char name[200]; /* for messages */
  snprintf(name, sizeof name, STR_FMT ", %s%s", STR_ARG(of->name), pass->name, way.typed ? ", typed" : "");
  Case named = *of, *c = &named;
  named.name = str_from(name);
  Arena arena;
  StrBuf before = {0}, after = {0};
  arena_init(&arena, NULL);
  Copying copying = {c, p->compiled.function->graph, &arena, &p->compiled.unit->store, NULL, way.typed};
  check(c, arena_protect(&arena, copy_graph, &copying), "copying");
  if (way.typed) run_pass(c, p, copying.graph, "inliner");
  if (way.typed) run_pass(c, p, copying.graph, "shape_analysis");
  if (way.first) run_pass(c, p, copying.graph, way.first);
  print(copying.graph, &before);
  run_pass(c, p, copying.graph, pass->name);
  print(copying.graph, &after);
  bool is_changed = strcmp(before.data, after.data) != 0;
  const char *shown = getenv("PASS_GRADIENTS");
  if (is_changed && shown && str_is(of->name, shown))
    print_message("before %s:\n%s\nafter:\n%s\n", name, before.data, after.data);
  strbuf_dispose(&before);
  strbuf_dispose(&after);
  if (is_changed) {
    Code *code;
    if (way.first) run_pass(c, p, copying.graph, "differentiate"); /* what is split off can run */
    check(c, code_compile(copying.graph, STR("f"), &code), "code_compile");
    Outcome got = outcome_of(c, p, code);
    compare_outcomes(c, &got, &p->plain.outputs, &p->plain.grads, 1e-11);
    compare_outcomes(c, &got, &c->outputs, &c->grads, 1e-6);
    outcome_dispose(&got);
    code_free(code);
  }
  graph_dispose(copying.graph);
  arena_dispose(&arena);
  return is_changed;
}

/* ---- all of them ---- */

static void check_case(const Case *c) {
  Program p;
  compile_case(c, &p.compiled);
  const Code *code;
  check(c, function_code(&p.compiled.exec, p.compiled.function, &code), "function_code");
  if (is_in_this_build(c, &p.compiled.exec, code)) {
    p.plain = outcome_of(c, &p, code);
    compare_outcomes(c, &p.plain, &c->outputs, &c->grads, 1e-6);
    uint32_t number = 0;
    for (const Pass *pass = pass_next(NULL); pass; pass = pass_next(pass), number++) {
      assert_true(number < MAX_PASSES);
      if (pass->keeps != KEEPS_GRADIENTS) continue;
      bool differentiates = !strcmp(pass->name, "differentiate") || !strcmp(pass->name, "inline_autodiff_subgraphs");
      const char *first = differentiates ? "create_autodiff_subgraphs" : NULL;
      for (int typed = 0; typed < 2; typed++) changes[number] += check_pass(c, &p, pass, (Way){first, typed});
    }
    outcome_dispose(&p.plain);
  }
  unit_release(p.compiled.unit);
}

static void check_file(const char *path) {
  wick_value *record;
  wick_error *error = NULL;
  if (wick_load_value(NULL, path, NULL, &record, &error)) fail_msg("%s", wick_error_message(error));
  assert_int_equal(record->value.tag, TAG_LIST);
  const char *wanted = getenv("PASS_GRADIENTS");
  for (size_t i = 0; i < record->value.list->length; i++) {
    Case c = case_of(item(record->value, i).dict);
    if (!c.random && (!wanted || str_is(c.name, wanted))) check_case(&c);
  }
  wick_value_release(record);
}

static void test_functions(void **state) {
  (void)state;
  check_file("data/pass_gradients.pt");
  check_file("data/check_ad.pt");
}

static void test_every_pass_had_work(void **state) {
  (void)state;
  uint32_t number = 0;
  bool fine = true;
  if (getenv("PASS_GRADIENTS")) skip();
  for (const Pass *pass = pass_next(NULL); pass; pass = pass_next(pass), number++) {
    if (pass->keeps != KEEPS_GRADIENTS || !changes[number] != !has_nothing_to_do(pass)) continue;
    print_error("%s changed %u graphs\n", pass->name, changes[number]);
    fine = false;
  }
  assert_true(fine);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_functions), cmocka_unit_test(test_every_pass_had_work)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
