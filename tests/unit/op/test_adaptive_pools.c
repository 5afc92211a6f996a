/* Adaptive pooling of float32, where windows of one size are those of plain pooling, against float64: sizes that divide
 * and such that don't, in one to three dimensions, with and without values that are equal or NaN. */
#include "program_fixture.h"

static const char program[] =
    "def differs(x: Tensor, sizes: List[int]) -> str:\n"
    "    y = x.double()\n"
    "    if len(sizes) == 1:\n"
    "        a, b = torch.adaptive_avg_pool1d(x, sizes), torch.adaptive_avg_pool1d(y, sizes)\n"
    "        c, d = torch.adaptive_max_pool1d(x, sizes), torch.adaptive_max_pool1d(y, sizes)\n"
    "    elif len(sizes) == 2:\n"
    "        a, b = torch.nn.functional.adaptive_avg_pool2d(x, sizes), torch.nn.functional.adaptive_avg_pool2d(y, "
    "sizes)\n"
    "        c, d = torch._C._nn.adaptive_max_pool2d(x, sizes), torch._C._nn.adaptive_max_pool2d(y, sizes)\n"
    "    else:\n"
    "        a, b = torch._C._nn.adaptive_avg_pool3d(x, sizes), torch._C._nn.adaptive_avg_pool3d(y, sizes)\n"
    "        c, d = torch._C._nn.adaptive_max_pool3d(x, sizes), torch._C._nn.adaptive_max_pool3d(y, sizes)\n"
    "    if a.dtype != torch.float32 or not torch.allclose(a.double(), b, 1e-5, 1e-6, True):\n"
    "        return 'average {} {}'.format(x.size(), sizes)\n"
    "    if c[0].dtype != torch.float32 or not torch.allclose(c[0].double(), d[0], 0.0, 0.0, True) or \\\n"
    "            not torch.equal(c[1], d[1]):\n"
    "        return 'maximum {} {}'.format(x.size(), sizes)\n"
    "    return ''\n"
    "def every_size() -> str:\n"
    "    for sizes in [[8, 8], [8, 4], [8, 1], [8, 3], [3, 8], [7, 3], [10, 9], [12, 8, 3, 2], [12, 8, 12, 8], [12, 8, "
    "5, 2], [12, 8, "
    "4, "
    "3],\n"
    "                  [24, 40, 2, 20], [24, 40, 3, 4], [6, 4, 8, 3, 2, 4], [6, 4, 8, 6, 1, 3], [4, 4, 4, 2, 8, 2]]:\n"
    "        half = len(sizes) // 2\n"
    "        x = torch.randn([2, 3] + sizes[:half])\n"
    "        ways = [x, (x * 2).round(), torch.where(x > 1.0, torch.full([1], float('nan')), x), x.transpose(0, 1)]\n"
    "        if half == 2:\n"
    "            ways.append(x.contiguous(memory_format=torch.channels_last))\n"
    "        for way in ways:\n"
    "            wrong = differs(way, sizes[half:])\n"
    "            if wrong != '':\n"
    "                return wrong\n"
    "    return ''\n";

static void test_every_size(void **state) {
  (void)state;
  for (int threads = 1; threads <= 3; threads += 2) expect_text(program, "every_size", -1, threads, WICK_GRAD_OFF, "");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_size)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
