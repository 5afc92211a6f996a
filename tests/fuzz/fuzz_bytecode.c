/* Fuzz target: archives of the lite interpreter without source. An input is the length of data.pkl (two bytes, low
 * first), that pickle and bytecode.pkl. What loads is called with a matrix and with a vector, within limits. */
#include "fuzz_archive.h"

static void call_methods(wick_module *module) {
  static float data[6];
  static const int64_t sizes[] = {2, 3};
  wick_run_options limits = {
      .size = sizeof limits, .threads = 1, .deadline_ns = 200000000, .max_steps = 2000, .max_bytes = 16 << 20};
  for (size_t i = 0; i < 2 * wick_module_method_count(module); i++) {
    wick_value *argument = NULL, *result;
    wick_error *error;
    if (wick_tensor_borrow(data, WICK_FLOAT32, i % 2 ? 2 : 1, sizes, NULL, NULL, NULL, &argument, NULL)) return;
    if (wick_run(module, wick_module_method_name(module, i / 2), (const wick_value *const[]){argument}, 1, NULL, 0,
                 &limits, &result, &error))
      wick_error_free(error);
    else
      wick_value_release(result);
    wick_value_release(argument);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Packed zip = {0};
  if (size < 2) return 0;
  size_t length = (size_t)data[0] | (size_t)data[1] << 8;
  if (length > size - 2) length = size - 2;
  fuzz_add_record(&zip, "m/data.pkl", data + 2, length);
  fuzz_add_record(&zip, "m/bytecode.pkl", data + 2 + length, size - 2 - length);
  wick_module *module = fuzz_load(&zip);
  if (module) call_methods(module);
  wick_module_release(module);
  return 0;
}
