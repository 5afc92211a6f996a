/* Guards, markers and profiles in Code. */
#include "interp/profile.h"

#include <stdlib.h>

#include "interp/state.h"
#include "ir/unit.h"
#include "ir_fixture.h"
#include "ivalue/snapshot.h"

/* The text is baseline (markers) and plan (guards) at once; makes both kinds of Code. */
typedef struct Pair {
  IrText ir;
  Code *baseline, *plan;
} Pair;

static void pair_make(Pair *p, const char *text) {
  ir_parse(&p->ir, text);
  assert_null(graph_lint(p->ir.graph));
  assert_null(code_compile_baseline(p->ir.graph, STR("baseline"), &p->baseline));
  assert_null(code_compile_plan(p->ir.graph, STR("plan"), p->baseline, NULL, &p->plan));
}

static void pair_dispose(Pair *p) {
  code_free(p->plan);
  code_free(p->baseline);
  ir_dispose(&p->ir);
}

static IValue ones(int64_t n) {
  Tensor *t;
  assert_null(tensor_empty(DTYPE_FLOAT32, 1, &n, &t));
  for (int64_t i = 0; i < n; i++) ((float *)tensor_data(t))[i] = 1;
  return ivalue_tensor(t);
}

static uint32_t run_pair(Pair *p, const IValue *arguments, uint32_t count, IValue *out) {
  Exec exec;
  exec_init(&exec, NULL);
  InterpRun run = {0};
  Status status = interp_run_plan(&exec, p->plan, arguments, count, out, 1, &run);
  if (status) print_error("%s\n", status->message);
  assert_null(status);
  return run.failed_guard;
}

static const char *const in_loop =
    "graph(%x : Tensor, %n : int):\n"
    "  %0 : int = prim::Constant[value=0]()\n"
    "  %t : bool = prim::Constant[value=1]()\n"
    "  %three : int = prim::Constant[value=3]()\n"
    "  %total : int, %y : Tensor = prim::Loop(%n, %t, %0, %x)\n"
    "    block0(%i : int, %sum : int, %z : Tensor):\n"
    "      %late : bool = aten::gt(%i, %three)\n"
    "      %w : Tensor = prim::If(%late)\n"
    "        block0():\n"
    "          -> (%x)\n"
    "        block1():\n"
    "          %g : Float(2) = prim::BailOut[index=0](%z, %i, %n, %sum, %x)\n"
    "          -> (%g)\n"
    "      %h : Float(2) = prim::BailOut[index=1](%w, %i, %sum, %n, %x)\n"
    "      %size : int = aten::len(%h)\n"
    "      %more : int = aten::add(%sum, %i)\n"
    "      %next : int = aten::add(%more, %size)\n"
    "      -> (%t, %next, %h)\n"
    "  return (%total)\n";

static void test_guard_in_loop(void **state) {
  (void)state;
  Pair p;
  pair_make(&p, in_loop);
  for (int64_t size = 2; size < 4; size++) {
    IValue arguments[] = {ones(size), ivalue_int(10)}, out;
    assert_int_equal(run_pair(&p, arguments, 2, &out), size == 2 ? 0 : 1);
    assert_int_equal(out.i, 45 + 10 * size);
    ivalue_release(arguments[0]);
  }
  pair_dispose(&p);
}

/* Values that only the guard needs die behind it; the guarded one may be listed twice. */
static void test_last_uses(void **state) {
  (void)state;
  Pair p;
  pair_make(&p,
            "graph(%x : Tensor, %a : Tensor, %b : Tensor):\n"
            "  %g : Float(3) = prim::BailOut[index=4](%x, %a, %x, %b)\n"
            "  %dead : Float(3) = prim::BailOut[index=2](%g, %a, %g)\n"
            "  %l : Tensor[] = prim::ListConstruct(%g, %a)\n"
            "  return (%l)\n");
  assert_int_equal(p.baseline->entry_count, 5);
  assert_int_equal(p.baseline->entries[3].pc, NO_REGISTER);
  for (int64_t size = 3; size < 5; size++) {
    IValue arguments[] = {ones(size), ones(1), ones(2)}, out;
    assert_int_equal(run_pair(&p, arguments, 3, &out), size == 3 ? 0 : 5);
    assert_int_equal(out.list->length, 2);
    assert_ptr_equal(out.list->values[0].tensor, arguments[0].tensor);
    ivalue_release(out);
    for (int i = 0; i < 3; i++) {
      assert_true(ref_is_unique(&arguments[i].tensor->refs));
      ivalue_release(arguments[i]);
    }
  }
  pair_dispose(&p);
}

static void test_missing_value(void **state) {
  (void)state;
  IrText ir;
  ir_parse(&ir,
           "graph(%x : Tensor, %a : Tensor):\n"
           "  %g : Float(3) = prim::BailOut[index=0](%x)\n"
           "  %l : Tensor[] = prim::ListConstruct(%g, %a)\n"
           "  return (%l)\n");
  Code *code;
  Status status = code_compile_baseline(ir.graph, STR("f"), &code);
  assert_non_null(status);
  assert_non_null(strstr(status->message, "does not list"));
  status_free(status);
  ir_dispose(&ir);
}

static void test_profile(void **state) {
  (void)state;
  IrText ir;
  ir_parse(&ir,
           "graph(%x : Tensor, %y : Tensor):\n"
           "  %a : Tensor = prim::profile[index=0](%x)\n"
           "  %b : Tensor = prim::profile[index=2](%x)\n"
           "  %c : Tensor = prim::profile[index=2](%y)\n"
           "  %l : Tensor[] = prim::ListConstruct(%a, %b, %c)\n"
           "  return (%l)\n");
  Code *code;
  assert_null(code_compile_plan(ir.graph, STR("f"), NULL, NULL, &code));
  assert_int_equal(code->profile_count, 3);
  ProfileRun *profile = profile_run_new(3);
  Exec exec;
  exec_init(&exec, NULL);
  InterpRun run = {.profile = profile};
  IValue arguments[] = {ones(2), ones(3)}, out;
  assert_null(interp_run_plan(&exec, code, arguments, 2, &out, 1, &run));
  assert_int_equal(profile->slots[0].seen, PROFILE_DEFINED);
  assert_int_equal(profile->slots[0].sizes[0], 2);
  assert_int_equal(profile->slots[0].dtype, DTYPE_FLOAT32);
  assert_int_equal(profile->slots[1].seen, 0);
  assert_int_equal(profile->slots[2].ndim, 1);
  assert_int_equal(profile->slots[2].sizes[0], -1);
  assert_int_equal(profile->slots[2].strides[0], 1);
  ivalue_release(out);
  ivalue_release(arguments[0]);
  ivalue_release(arguments[1]);
  profile_run_free(profile);
  code_free(code);
  ir_dispose(&ir);
}

static void test_guard_holds(void **state) {
  (void)state;
  IValue v = ones(3);
  TensorInfo info = {
      .dtype = DTYPE_FLOAT32, .device_type = -1, .device_index = -1, .ndim = 1, .requires_grad = -1, .undefined = -1};
  assert_true(guard_holds(&info, v.tensor, true));
  assert_true(guard_holds(NULL, v.tensor, true));
  info.requires_grad = 0;
  info.device_type = DEVICE_CPU;
  assert_true(guard_holds(&info, v.tensor, true));
  v.tensor->flags |= TENSOR_REQUIRES_GRAD;
  assert_false(guard_holds(&info, v.tensor, true));
  assert_true(guard_holds(&info, v.tensor, false));
  info.has_sizes = true;
  info.sizes[0] = -1;
  assert_true(guard_holds(&info, v.tensor, false));
  info.sizes[0] = 4;
  assert_false(guard_holds(&info, v.tensor, false));
  info.sizes[0] = 3;
  info.undefined = 1;
  assert_false(guard_holds(&info, v.tensor, false));
  v.tensor->flags &= ~(uint32_t)TENSOR_REQUIRES_GRAD;
  ivalue_release(v);
  Tensor *undefined = tensor_undefined();
  assert_true(guard_holds(&info, undefined, false));
  tensor_release(undefined);
}

/* ---- guards on state ---- */

static const char *const on_state =
    "graph(%self : __torch__.Model, %turns : bool):\n"
    "  %w : Tensor = prim::GetAttr[name=\"w\"](%self)\n"
    "  %v : Tensor = prim::GetAttr[name=\"v\"](%self)\n"
    "  %a : Float(2, 3) = prim::BailOut[index=0](%w, %v, %turns)\n"
    "  %b : Float(1) = prim::BailOut[index=1](%v, %a, %turns)\n"
    "   = prim::If(%turns)\n"
    "    block0():\n"
    "      %t : Tensor = aten::t_(%a)\n"
    "      -> ()\n"
    "    block1():\n"
    "      -> ()\n"
    "  %c : Float(2, 3) = prim::BailOut[index=2](%a)\n"
    "  %size : int = aten::len(%c)\n"
    "  return (%size)\n";

typedef struct Stateful {
  CompilationUnit *unit;
  Graph *graph;
} Stateful;
static const Type *find_type(void *argument, Str name) {
  return unit_find_type(argument, name);
}
static void parse_stateful(void *argument) {
  Stateful *s = argument;
  TypeStore *store = &s->unit->store;
  ClassType *model = class_type_new(store, STR("__torch__.Model"), true);
  class_type_add_attribute(model, STR("w"), TYPE(TENSOR), ATTRIBUTE_PLAIN);
  class_type_add_attribute(model, STR("v"), TYPE(TENSOR), ATTRIBUTE_PLAIN);
  unit_add_type(s->unit, &model->type);
  s->graph = graph_parse(&store->arena, store, str_from(on_state), find_type, s->unit);
}

static uint32_t run_stateful(const Code *plan, Snapshot *state, bool turns, uint32_t force, int64_t expected) {
  Exec exec;
  exec_init(&exec, NULL);
  InterpRun run = {.state = state, .force_guard = force};
  IValue arguments[] = {IVALUE_NONE, ivalue_bool(turns)}, out;
  assert_null(interp_run_plan(&exec, plan, arguments, 2, &out, 1, &run));
  assert_int_equal(out.i, expected);
  return run.failed_guard;
}

/* Runs of guards are skipped once they held, until a tensor changes, be it in the call itself. */
static void test_guards_on_state(void **state) {
  (void)state;
  Stateful s = {0};
  Code *baseline, *plan;
  Tensor *w, *v;
  assert_null(unit_new(&s.unit));
  assert_null(arena_protect(&s.unit->store.arena, parse_stateful, &s));
  assert_null(graph_lint(s.graph));
  Value **inputs = calloc(s.graph->next_unique, sizeof *inputs);
  BLOCK_EACH(node, s.graph->block)
  if (node->kind == SYM_prim_GetAttr) inputs[node_output(node, 0)->unique] = graph_input(s.graph, 0);
  StateValues values = {inputs, s.graph->next_unique};
  assert_null(code_compile_baseline(s.graph, STR("baseline"), &baseline));
  assert_null(code_compile_plan(s.graph, STR("plan"), baseline, &values, &plan));
  assert_int_equal(code_state_count(plan), 2);
  assert_null(tensor_empty(DTYPE_FLOAT32, 2, (int64_t[]){2, 3}, &w));
  assert_null(tensor_empty(DTYPE_FLOAT32, 1, (int64_t[]){1}, &v));
  Snapshot *snapshot = snapshot_new(2);
  snapshot->stamp = state_stamp_now();
  snapshot->values[0] = ivalue_tensor(w);
  snapshot->values[1] = ivalue_tensor(v);
  assert_int_equal(run_stateful(plan, snapshot, false, 0, 2), 0);
  assert_int_equal(atomic_load(&snapshot->held), 3); /* the first two guards are one run */
  uint64_t asked = STATISTIC_GET(state_guards);
  assert_int_equal(run_stateful(plan, snapshot, false, 0, 2), 0);
  assert_int_equal(STATISTIC_GET(state_guards), asked);
  assert_int_equal(run_stateful(plan, snapshot, false, 2, 2), 2); /* guards that a test wants to fail do */
  assert_int_equal(run_stateful(plan, snapshot, true, 0, 3), 3);  /* the one after the write does */
  assert_int_not_equal(snapshot->stamp, state_stamp_now());
  /* from there on as written, which turns it once more */
  assert_int_equal(run_stateful(plan, snapshot, true, 0, 2), 1);
  snapshot_release(snapshot);
  free(inputs);
  code_free(plan);
  code_free(baseline);
  unit_release(s.unit);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_guard_in_loop), cmocka_unit_test(test_last_uses),   cmocka_unit_test(test_missing_value),
      cmocka_unit_test(test_profile),       cmocka_unit_test(test_guard_holds), cmocka_unit_test(test_guards_on_state),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
