/* Fuzz target: states of wick's own native classes, as fuzz_native.h has them. */
#include "fuzz_native.h"

#define QUANTIZED "    q = torch.quantize_per_tensor(x, 0.1, 3, 13)\n"
/* What a lone expression of p, x and q is. */
#define RUNS_QUANTIZED(name, expression) METHOD(name, QUANTIZED "    return torch.dequantize(" expression ")\n")

static const NativeProgram programs[] = {
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  return fuzz_native(programs, sizeof programs / sizeof *programs, data, size);
}
