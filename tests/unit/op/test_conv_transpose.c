/* Transposed convolutions of float32 against those of float64: strides, padding, dilation, groups, kernels larger and
 * smaller than strides, the weight kept from call to call and after it was written to. */
#include "program_fixture.h"

static const char program[] =
    "def differs(n: int, inputs: int, outputs: int, groups: int, sizes: List[int], kernel: List[int], stride: int,\n"
    "            padding: int, dilation: int, more: int) -> bool:\n"
    "    x = torch.randn([n, inputs * groups] + sizes)\n"
    "    weight = torch.randn([inputs * groups, outputs] + kernel)\n"
    "    bias = torch.randn(outputs * groups)\n"
    "    for k in range(3):\n"
    "        y = torch.conv_transpose2d(x, weight, bias, [stride, stride], [padding, padding], [more, more], groups,\n"
    "                                   [dilation, dilation])\n"
    "        z = torch.conv_transpose2d(x.double(), weight.double(), bias.double(), [stride, stride],\n"
    "                                   [padding, padding], [more, more], groups, [dilation, dilation])\n"
    "        if float((y - z).abs().max()) > 1e-3:\n"
    "            return True\n"
    "        if k == 1:\n"
    "            weight.mul_(-2.0)\n"
    "    return False\n"
    "def side(size: int, kernel: int, stride: int, padding: int, dilation: int, more: int) -> int:\n"
    "    return (size - 1) * stride - 2 * padding + dilation * (kernel - 1) + more + 1\n"
    "def all() -> str:\n"
    "    count = 0\n"
    "    for channels in [[1, 1], [3, 24], [16, 5]]:\n"
    "        for groups in [1, 2]:\n"
    "            for sizes in [[1, 1], [4, 4], [5, 7], [16, 16]]:\n"
    "                for kernel in [[1, 1], [2, 2], [3, 3], [4, 4], [3, 1]]:\n"
    "                    for stride in [1, 2, 3]:\n"
    "                        for padding in [0, 1]:\n"
    "                            for dilation in [1, 2]:\n"
    "                                count += 1\n"
    "                                n = 1 + count % 2\n"
    "                                more = count // 2 % 2 if stride > 1 else 0\n"
    "                                high = side(sizes[0], kernel[0], stride, padding, dilation, more)\n"
    "                                wide = side(sizes[1], kernel[1], stride, padding, dilation, more)\n"
    "                                if high > 0 and wide > 0 and differs(n, channels[0], channels[1], groups, sizes,\n"
    "                                                                     kernel, stride, padding, dilation, more):\n"
    "                                    return '{} {} {} {} {} {} {}'.format(channels, groups, sizes, kernel, "
    "stride,\n"
    "                                                                         padding, dilation)\n"
    "    return ''\n";

static void test_floats(void **state) {
  (void)state;
  for (int threads = 1; threads <= 3; threads += 2) expect_text(program, "all", -1, threads, WICK_GRAD_OFF, "");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_floats)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
