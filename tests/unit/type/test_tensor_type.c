/* What types say of tensors, symbols in types, and records of profiles. */
#include <stdlib.h>

#include "executor/profiling_record.h"
#include "ir_fixture.h"
#include "pass/pass.h"
#include "type/tensor_type.h"

static TensorInfo info_of(int64_t rows, int64_t columns, int dtype) {
  TensorSpec spec = {.dtype = (DType)dtype, .device = DEVICE_CPU_0, .ndim = 2, .sizes = {rows, columns}};
  TensorInfo info;
  tensor_info_of_spec(&spec, &info);
  return info;
}

static void test_merge(void **state) {
  (void)state;
  TensorInfo a = info_of(2, 3, DTYPE_FLOAT32), b = info_of(4, 3, DTYPE_FLOAT32), merged = a;
  tensor_info_merge(&merged, &b);
  assert_int_equal(merged.sizes[0], -1);
  assert_int_equal(merged.sizes[1], 3);
  assert_int_equal(merged.strides[0], 3);
  assert_true(tensor_info_implies(&a, &merged));
  assert_true(tensor_info_implies(&b, &merged));
  assert_false(tensor_info_implies(&merged, &a));
  assert_true(tensor_info_is_complete(&a));
  assert_false(tensor_info_has_sizes(&merged));

  TensorInfo both = merged;
  assert_true(tensor_info_intersect(&both, &a));
  assert_true(tensor_info_equal(&both, &a));
  assert_false(tensor_info_intersect(&both, &b));

  TensorInfo undefined;
  tensor_info_of(tensor_undefined(), true, &undefined);
  assert_int_equal(undefined.undefined, 1);
  merged = a;
  tensor_info_merge(&merged, &undefined);
  assert_false(tensor_info_is_known(&merged));
  both = a;
  assert_false(tensor_info_intersect(&both, &undefined));
}

static void test_one_form(void **state) {
  (void)state;
  TypeStore *store = type_store_process();
  TensorInfo unknown_sizes, no_sizes;
  tensor_info_init(&no_sizes);
  no_sizes.dtype = DTYPE_FLOAT32;
  no_sizes.ndim = 2;
  unknown_sizes = no_sizes;
  unknown_sizes.has_sizes = true;
  unknown_sizes.sizes[0] = unknown_sizes.sizes[1] = -1;
  assert_ptr_equal(type_tensor_refined(store, &unknown_sizes), type_tensor_refined(store, &no_sizes));
  TensorInfo a = info_of(2, 3, DTYPE_FLOAT32), b = info_of(2, 3, DTYPE_INT64);
  const Type *merged = type_merge_tensor(store, type_tensor_refined(store, &a), type_tensor_refined(store, &b));
  assert_int_equal(merged->tensor->dtype, -1);
  assert_int_equal(merged->tensor->sizes[1], 3);
  assert_ptr_equal(type_merge_tensor(store, merged, TYPE(TENSOR)), TYPE(TENSOR));
}

static void test_wrapped_numbers(void **state) {
  (void)state;
  Tensor *number;
  TensorInfo info;
  assert_null(tensor_from_int(3, &number));
  tensor_info_of(number, true, &info);
  assert_false(tensor_info_is_known(&info));
  tensor_release(number);
}

static void test_symbols(void **state) {
  (void)state;
  const char *text =
      "graph(%x : Float(SS(-2), 3, *, device=cpu)):\n"
      "  %y : Tensor = aten::mul(%x, %x)\n"
      "  return (%y)\n";
  IrText ir;
  ir_parse(&ir, text);
  StrBuf out = {0};
  graph_print(ir.graph, false, &out);
  assert_text(&out,
              "graph(%x : Float(SS(-2), 3, *, device=cpu)):\n"
              "  %y : Tensor = aten::mul(%x, %x)\n"
              "  return (%y)\n");
  assert_null(pass_run(pass_find(STR("symbolic_shape_analysis")), ir.graph, NULL));
  out = (StrBuf){0};
  graph_print(ir.graph, false, &out);
  assert_text(&out,
              "graph(%x : Float(SS(-2), 3, SS(-3), device=cpu)):\n"
              "  %y : Float(SS(-2), 3, SS(-3), device=cpu) = aten::mul(%x, %x)\n"
              "  return (%y)\n");
  ir_dispose(&ir);
}

/* ---- profiles ---- */

static Tensor *zeros(int64_t rows, int64_t columns) {
  Tensor *t;
  int64_t sizes[] = {rows, columns};
  assert_null(tensor_empty(DTYPE_FLOAT32, 2, sizes, &t));
  tensor_fill_zero(t);
  return t;
}

static const char *const branching =
    "graph(%x : Tensor, %c : bool):\n"
    "  %y : Tensor = prim::If(%c)\n"
    "    block0():\n"
    "      %a : Tensor = aten::mul(%x, %x)\n"
    "      -> (%a)\n"
    "    block1():\n"
    "      %b : Tensor = aten::neg(%x)\n"
    "      -> (%b)\n"
    "  return (%y)\n";

static void profile(ProfilingRecord *record, const Code *code, int64_t rows, bool completed) {
  Exec exec;
  exec_init(&exec, NULL);
  Tensor *x = zeros(rows, 3);
  IValue arguments[] = {ivalue_tensor(x), ivalue_bool(true)}, out = IVALUE_NONE;
  InterpRun run = {.profile = profiling_record_begin(record)};
  assert_non_null(run.profile);
  assert_null(interp_run_plan(&exec, code, arguments, 2, &out, 1, &run));
  profiling_record_end(record, run.profile, completed);
  ivalue_release(out);
  tensor_release(x);
}

static void test_record(void **state) {
  (void)state;
  IrText ir;
  ir_parse(&ir, branching);
  ProfilingRecord *record;
  Code *code;
  assert_null(profiling_record_new(ir.graph, 2, NULL, &record));
  assert_int_equal(profiling_record_slots(record), 3); /* twice x, and what is returned */
  assert_null(graph_lint(ir.graph));
  assert_null(code_compile(ir.graph, STR("f"), &code));
  profile(record, code, 2, true);
  profile(record, code, 7, false); /* a run that failed says nothing */
  assert_false(profiling_record_is_ready(record));
  profile(record, code, 4, true);
  assert_true(profiling_record_is_ready(record));
  profile(record, code, 9, true); /* nor one that came too late */

  if (catch_enter(&ir.catch_point)) {
    profiling_record_apply(record, ir.graph);
    insert_guards(ir.graph, true);
  }
  assert_null(ir.catch_point.status);
  assert_null(graph_lint(ir.graph));
  StrBuf out = {0};
  graph_print(ir.graph, false, &out);
  /* The branch that never ran has no guard. */
  assert_text(&out,
              "graph(%x : Tensor,\n"
              "      %c : bool):\n"
              "  %y : Tensor = prim::If(%c)\n"
              "    block0():\n"
              "      %8 : Float(*, 3, strides=[3, 1], requires_grad=0, device=cpu) = prim::Guard(%x)\n"
              "      %a : Tensor = aten::mul(%8, %8)\n"
              "      -> (%a)\n"
              "    block1():\n"
              "      %b : Tensor = aten::neg(%x)\n"
              "      -> (%b)\n"
              "  %9 : Float(*, 3, strides=[3, 1], requires_grad=0, device=cpu) = prim::Guard(%y)\n"
              "  return (%9)\n");
  profiling_record_release(record);
  code_free(code);
  ir_dispose(&ir);
}

int main(void) {
  setenv("PYTORCH_JIT_TYPE_VERBOSITY", "4", 1);
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_merge), cmocka_unit_test(test_one_form),
                                     cmocka_unit_test(test_wrapped_numbers), cmocka_unit_test(test_symbols),
                                     cmocka_unit_test(test_record)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
