/* cat, stack and their variadic kinds against copies element by element: runs that are cut anywhere between threads,
 * tensors without elements, dtypes, sizes on both sides of where several threads begin. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/handles.h"
#include "random_numbers.h"

enum { MOST_TENSORS = 6, DIMS = 3 };

static Tensor *counting(DType dtype, const int64_t *sizes) {
  Tensor *t;
  assert_null(tensor_empty(dtype, DIMS, sizes, &t));
  size_t bytes = (size_t)t->numel * dtype_size(dtype);
  char *data = tensor_data(t);
  for (size_t i = 0; i < bytes; i++) data[i] = (char)next();
  return t;
}

static List *tensors_of(size_t count, Tensor *const *tensors) {
  List *list;
  assert_null(list_new(TYPE(TENSOR), count, &list));
  for (size_t i = 0; i < count; i++) assert_null(list_append(list, ivalue_tensor(tensor_retain(tensors[i]))));
  return list;
}

static Tensor *joined(OpRef *op, int threads, size_t count, Tensor *const *tensors, int64_t dim, bool is_variadic) {
  Exec exec;
  IValue out = IVALUE_NONE, inputs[MOST_TENSORS + 1];
  exec_init(&exec, NULL);
  exec.work.threads = threads;
  List *list = tensors_of(count, tensors);
  memcpy(inputs, list->values, count * sizeof *inputs);
  inputs[count] = ivalue_int(dim);
  if (is_variadic)
    assert_null(op_call(&exec, op, (uint32_t)count + 1, inputs, 1, &out));
  else
    assert_null(op_call(&exec, op, 2, (IValue[]){ivalue_list(list), ivalue_int(dim)}, 1, &out));
  ivalue_release(ivalue_list(list));
  return out.tensor;
}

/* The bytes of tensor after tensor, for each index of the dimensions before `dim`. */
static void check(const Tensor *out, size_t count, Tensor *const *tensors, int64_t dim) {
  const char *at = tensor_data(out);
  int64_t outer = 1;
  for (int64_t d = 0; d < dim; d++) outer *= tensors[0]->sizes[d];
  for (int64_t k = 0; k < outer; k++)
    for (size_t i = 0; i < count; i++) {
      size_t bytes = (size_t)(tensors[i]->numel / outer) * dtype_size((DType)out->dtype);
      assert_memory_equal(at, (const char *)tensor_data(tensors[i]) + (size_t)k * bytes, bytes);
      at += bytes;
    }
  assert_ptr_equal(at, (const char *)tensor_data(out) + (size_t)out->numel * dtype_size((DType)out->dtype));
}

static void joins_by_any_number_of_threads(void **state) {
  (void)state;
  static OpRef cat = OP_REF("aten::cat", ""), stack = OP_REF("aten::stack", ""),
               variadic_cat = OP_REF("prim::VarConcat", ""), variadic_stack = OP_REF("prim::VarStack", "");
  static const DType dtypes[] = {DTYPE_UINT8, DTYPE_FLOAT16, DTYPE_FLOAT32, DTYPE_COMPLEX128};
  static const int64_t most[][DIMS] = {{3, 40, 500}, {900, 7, 5}, {1, 2, 30000}, {1, 60, 700}, {2, 3, 4}};
  for (int round = 0; round < 400; round++) {
    DType dtype = dtypes[next() % 4];
    const int64_t *limits = most[next() % 5];
    bool stacks = next() % 3 == 0, is_variadic = next() % 2;
    size_t count = 1 + next() % MOST_TENSORS;
    int64_t dim = pick(0, stacks ? DIMS : DIMS - 1), sizes[DIMS];
    Tensor *tensors[MOST_TENSORS];
    for (int d = 0; d < DIMS; d++) sizes[d] = pick(1, limits[d]);
    for (size_t i = 0; i < count; i++) {
      if (!stacks) sizes[dim] = pick(0, limits[dim]);
      tensors[i] = counting(dtype, sizes);
    }
    OpRef *op = stacks ? (is_variadic ? &variadic_stack : &stack) : (is_variadic ? &variadic_cat : &cat);
    for (int threads = 1; threads <= 3; threads++) {
      Tensor *out = joined(op, threads, count, tensors, dim, is_variadic);
      assert_int_equal(out->ndim, DIMS + stacks);
      check(out, count, tensors, dim);
      memset(tensor_data(out), 0x5a, (size_t)out->numel * dtype_size(dtype)); /* the next may take the same memory */
      tensor_release(out);
    }
    for (size_t i = 0; i < count; i++) tensor_release(tensors[i]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(joins_by_any_number_of_threads)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
