/* Fuzz target: states of native classes. An input is the number of a program (one byte), the length of a pickle (two
 * bytes, low first), the data.pkl of a module of class M whose attribute p is an object of the class that the program
 * names, and its storages, 192 bytes each. What loads is called, within limits, and saved, which asks the object for
 * its state. */
#include "fuzz_archive.h"

typedef struct Program {
  const char *native_class, *methods;
} Program;

#define METHOD(name, ...) "  def " name "(self: __torch__.M,\n    x: Tensor) -> Tensor:\n" __VA_ARGS__
#define QUANTIZED "    q = torch.quantize_per_tensor(x, 0.1, 3, 13)\n"
/* What a lone expression of p and x, or of them and q, is. */
#define RUNS(name, expression) METHOD(name, "    return " expression "\n")
#define RUNS_QUANTIZED(name, expression) METHOD(name, QUANTIZED "    return torch.dequantize(" expression ")\n")

static const Program programs[] = {
    {"quantized.LinearPackedParamsBase",
     RUNS_QUANTIZED("static", "ops.quantized.linear(q, self.p, 0.1, 0)")
         RUNS("dynamic", "ops.quantized.linear_dynamic(x, self.p, True)")
             RUNS("half", "ops.quantized.linear_dynamic_fp16(x, self.p)") METHOD(
                 "unpacked", "    w, b = ops.quantized.linear_unpack(self.p)\n    return torch.dequantize(w)\n")},
    {"quantized.Conv2dPackedParamsBase",
     RUNS_QUANTIZED("static", "ops.quantized.conv2d(q, self.p, 0.1, 0)")
         RUNS_QUANTIZED("transposed", "ops.quantized.conv_transpose2d(q, self.p, 0.1, 0)")
             RUNS("dynamic", "ops.quantized.conv2d_dynamic(x, self.p, False)") METHOD(
                 "unpacked", "    w, b = ops.quantized.conv2d_unpack(self.p)\n    return torch.dequantize(w)\n")},
    {"quantized.EmbeddingPackedParamsBase",
     RUNS("byte", "ops.quantized.embedding_byte(self.p, torch.tensor([0, 2]))")
         RUNS("four_bits", "ops.quantized.embedding_4bit(self.p, torch.tensor([0, 2]))")
             RUNS("unpacked", "ops.quantized.embedding_bag_unpack(self.p)")},
    {"rnn.CellParamsBase", METHOD("lstm",
                                  "    h = torch.zeros([1, 2, 2])\n"
                                  "    y, h1, c1 = torch.quantized_lstm(torch.unsqueeze(x, 0), [h, h], [self.p], True, "
                                  "1, 0., False, False, False)\n"
                                  "    return y\n") METHOD("gru",
                                                           "    y, h = torch.quantized_gru(torch.unsqueeze(x, 0), "
                                                           "torch.zeros([1, 2, 2]), [self.p], True, 1, 0., False, "
                                                           "False, False)\n    return y\n")},
    {"xnnpack.LinearOpContext", RUNS("run", "ops.prepacked.linear_clamp_run(x, self.p)")},
    {"xnnpack.Conv2dOpContext", RUNS("run", "ops.prepacked.conv2d_clamp_run(x, self.p)")},
    {"xnnpack.TransposeConv2dOpContext", RUNS("run", "ops.prepacked.conv2d_transpose_clamp_run(x, self.p)")},
    {"quantized.Conv3dPackedParamsBase",
     METHOD("static",
            "    q = torch.quantize_per_tensor(torch.unsqueeze(x, 2), 0.1, 3, 13)\n"
            "    return torch.dequantize(ops.quantized.conv3d(q, self.p, 0.1, 0))\n")
         METHOD("unpacked", "    w, b = ops.quantized.conv3d_unpack(self.p)\n    return torch.dequantize(w)\n")},
};
enum { PROGRAM_COUNT = sizeof programs / sizeof *programs, GIVEN_BYTES = 192 };

/* With a matrix and with an image. */
static void call_methods(wick_module *module) {
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Packed zip = {0};
  char code[4096];
  wick_error *error;
  uint8_t storages[FUZZ_STORAGES][FUZZ_STORAGE_BYTES] = {{0}};
  if (size < 3) return 0;
  const Program *program = &programs[data[0] % PROGRAM_COUNT];
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
    size_t count = (size_t)(end - given) < GIVEN_BYTES ? (size_t)(end - given) : GIVEN_BYTES;
    memcpy(storages[i], given, count);
    given += count;
  }
  wick_module *module = fuzz_load_with(&zip, storages);
  if (!module) return 0;
  call_methods(module);
  if (wick_module_save(NULL, module, "/dev/null", NULL, &error)) {
    if (wick_error_status(error) == WICK_INTERNAL) abort();
    wick_error_free(error);
  }
  wick_module_release(module);
  return 0;
}
