/* What the fuzz targets of native classes' states share. An input is the number of a program (one byte), the length of
 * a pickle (two bytes, low first), the data.pkl of a module of class M whose attribute p is an object of the class that
 * the program names, and its storages, 192 bytes each. What loads is called, within limits, and saved, which asks the
 * object for its state. */
#pragma once

#include "fuzz_archive.h"

typedef struct NativeProgram {
  const char *native_class, *methods;
} NativeProgram;

#define METHOD(name, ...) "  def " name "(self: __torch__.M,\n    x: Tensor) -> Tensor:\n" __VA_ARGS__
/* What a lone expression of p and x is. */
#define RUNS(name, expression) METHOD(name, "    return " expression "\n")

enum { GIVEN_BYTES = 192 };

/* With a matrix and with an image. */
static inline void call_methods(wick_module *module) {
  static float data[48];
  static const int64_t sizes[] = {2, 3}, image[] = {1, 3, 4, 4};
  wick_run_options limits = {
      .size = sizeof limits, .threads = 1, .deadline_ns = 200000000, .max_steps = 2000, .max_bytes = 16 << 20};
  for (int i = 0; i < 48; i++) data[i] = (float)(i % 7) - 3;
  for (size_t i = 0; i < 2 * wick_module_method_count(module); i++) {
    wick_value *argument = NULL, *result;
    wick_error *error;
    if (wick_tensor_borrow(data, WICK_FLOAT32, i % 2 ? 2 : 4, i % 2 ? sizes : image, NULL, NULL, NULL, &argument, NULL))
      return;
    if (wick_run(module, wick_module_method_name(module, i / 2), (const wick_value *const[]){argument}, 1, NULL, 0,
                 &limits, &result, &error)) {
      if (wick_error_status(error) == WICK_INTERNAL) abort();
      wick_error_free(error);
    } else {
      wick_value_release(result);
    }
    wick_value_release(argument);
  }
}

static inline int fuzz_native(const NativeProgram *programs, size_t count, const uint8_t *data, size_t size) {
  Packed zip = {0};
  char code[4096];
  wick_error *error;
  uint8_t storages[FUZZ_STORAGES][FUZZ_STORAGE_BYTES] = {{0}};
  if (size < 3) return 0;
  const NativeProgram *program = &programs[data[0] % count];
  int length = snprintf(code, sizeof code,
                        "class M(Module):\n  __parameters__ = []\n  __buffers__ = []\n  training : bool\n"
                        "  _is_full_backward_hook : Optional[bool]\n  p : __torch__.torch.classes.%s\n%s",
                        program->native_class, program->methods);
  fuzz_add_record(&zip, "m/code/__torch__.py", code, (size_t)length);
  size_t pickle_length = (size_t)data[1] | (size_t)data[2] << 8;
  if (pickle_length > size - 3) pickle_length = size - 3;
  fuzz_add_record(&zip, "m/data.pkl", data + 3, pickle_length);
  const uint8_t *given = data + 3 + pickle_length, *end = data + size;
  for (int i = 0; i < FUZZ_STORAGES && given < end; i++) {
    size_t taken = (size_t)(end - given) < GIVEN_BYTES ? (size_t)(end - given) : GIVEN_BYTES;
    memcpy(storages[i], given, taken);
    given += taken;
  }
  wick_module *module = fuzz_load_with(&zip, storages);
  if (!module) return 0;
  call_methods(module);
  if (wick_module_save(module, NULL, "/dev/null", NULL, &error)) {
    if (wick_error_status(error) == WICK_INTERNAL) abort();
    wick_error_free(error);
  }
  wick_module_release(module);
  return 0;
}
