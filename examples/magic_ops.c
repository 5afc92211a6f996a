/* A library of operators: cc -shared -fPIC magic_ops.c $(pkg-config --cflags wick) -o magic_ops.so, then
 * `wick run --library ./magic_ops.so program.py ...` for a program that calls torch.ops.my_namespace.magic(x, 3). */
#include <wick/wick.h>

/* magic(x, n): the float32 elements of x in a new tensor, each plus n. */
static wick_status magic(void *user, wick_call *call, wick_error **error) {
  (void)user;
  wick_value *argument = wick_call_argument(call, 0), *n = wick_call_argument(call, 1), *dense = NULL, *result = NULL;
  wick_tensor_view from = {.size = sizeof from}, to = {.size = sizeof to};
  wick_status status = WICK_OUT_OF_MEMORY;
  if (argument && n) status = wick_tensor_contiguous(argument, &dense, error);
  if (!status) status = wick_tensor_view_of(dense, &from, error);
  if (!status && from.dtype != WICK_FLOAT32) {
    *error = wick_error_new(WICK_INVALID_ARGUMENT, "magic takes float32 tensors");
    status = WICK_INVALID_ARGUMENT;
  }
  if (!status) status = wick_tensor_new(WICK_FLOAT32, from.ndim, from.sizes, &result, error);
  if (!status) status = wick_tensor_view_of(result, &to, error);
  if (!status) {
    int64_t count = 1;
    for (int i = 0; i < from.ndim; i++) count *= from.sizes[i];
    for (int64_t i = 0; i < count; i++)
      ((float *)to.data)[i] = ((const float *)from.data)[i] + (float)wick_value_to_int(n);
    wick_call_set_result(call, 0, result);
  }
  wick_value_release(result);
  wick_value_release(dense);
  wick_value_release(argument);
  wick_value_release(n);
  return status;
}

WICK_API wick_status wick_library_init(wick_error **error) {
  return wick_op_register("my_namespace::magic(Tensor x, int n=1) -> Tensor", magic, NULL, error);
}
