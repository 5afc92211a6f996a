/* Resampling in float32 against the same in float64: every filter, in one to three dimensions, up, down and of one
 * size, on one thread and on several; and what is not looked at. */
#include "program_fixture.h"

static const char program[] =
    "def resampled(x: Tensor, mode: str, sizes: List[int], aligned: Optional[bool]) -> Tensor:\n"
    "    return torch.nn.functional.interpolate(x, size=sizes, mode=mode, align_corners=aligned)\n"
    "def differs(mode: str, from_sizes: List[int], to_sizes: List[int], aligned: Optional[bool]) -> bool:\n"
    "    x = torch.randn([3, 5] + from_sizes)\n"
    "    a = resampled(x, mode, to_sizes, aligned)\n"
    "    b = resampled(x.double(), mode, to_sizes, aligned)\n"
    "    last = resampled(x.contiguous(memory_format=torch.channels_last), mode, to_sizes, aligned) \\\n"
    "        if x.dim() == 4 else a\n"
    "    return a.dtype != torch.float32 or float((a - b).abs().max()) > 2e-5 or not torch.equal(a, last)\n"
    "def one() -> str:\n"
    "    for sizes in [[1, 1], [1, 9], [7, 7], [7, 20], [33, 8], [16, 32]]:\n"
    "        if differs('nearest', sizes[:1], sizes[1:], None) or differs('nearest-exact', sizes[:1], sizes[1:], "
    "None):\n"
    "            return 'nearest {}'.format(sizes)\n"
    "        if differs('linear', sizes[:1], sizes[1:], False) or differs('linear', sizes[:1], sizes[1:], True):\n"
    "            return 'linear {}'.format(sizes)\n"
    "    return ''\n"
    "def two() -> str:\n"
    "    for sizes in [[1, 1, 4, 3], [5, 6, 5, 6], [5, 6, 10, 12], [9, 4, 3, 17], [4, 8, 4, 19], [8, 1, 3, 1]]:\n"
    "        a, b = sizes[:2], sizes[2:]\n"
    "        if differs('nearest', a, b, None) or differs('nearest-exact', a, b, None):\n"
    "            return 'nearest {}'.format(sizes)\n"
    "        for aligned in [False, True]:\n"
    "            if differs('bilinear', a, b, aligned) or differs('bicubic', a, b, aligned):\n"
    "                return '{} {}'.format(sizes, aligned)\n"
    "    return ''\n"
    "def three() -> str:\n"
    "    for sizes in [[2, 3, 4, 4, 6, 8], [3, 3, 3, 3, 3, 3], [5, 2, 7, 2, 9, 7], [1, 1, 1, 2, 2, 2]]:\n"
    "        a, b = sizes[:3], sizes[3:]\n"
    "        if differs('nearest', a, b, None) or differs('trilinear', a, b, False) or \\\n"
    "                differs('trilinear', a, b, True):\n"
    "            return '{}'.format(sizes)\n"
    "    return ''\n"
    "def smoothed() -> str:\n"
    "    for sizes in [[1, 1, 4, 3], [5, 6, 5, 6], [5, 6, 10, 12], [40, 33, 3, 4], [33, 8, 5, 19], [9, 1, 2, 1]]:\n"
    "        x = torch.randn([2, 3] + sizes[:2])\n"
    "        for mode in ['bilinear', 'bicubic']:\n"
    "            for aligned in [False, True]:\n"
    "                for y in [x, x.contiguous(memory_format=torch.channels_last)]:\n"
    "                    a = torch.nn.functional.interpolate(y, size=sizes[2:], mode=mode, align_corners=aligned,\n"
    "                                                        antialias=True)\n"
    "                    b = torch.nn.functional.interpolate(y.double(), size=sizes[2:], mode=mode,\n"
    "                                                        align_corners=aligned, antialias=True)\n"
    "                    if a.dtype != torch.float32 or a.stride() != b.stride() or float((a - b).abs().max()) > "
    "2e-5:\n"
    "                        return '{} {} {}'.format(sizes, mode, aligned)\n"
    "    return ''\n"
    /* Where a size stays, linear filters give the input, whatever the scale; a weight of 0 still meets its infinity. */
    "def edges() -> str:\n"
    "    x = torch.tensor([[[1.0, 5.0, 2.0]]])\n"
    "    if not torch.equal(torch.nn.functional.interpolate(x, scale_factor=1.3, mode='linear'), x):\n"
    "        return 'scaled to the same size'\n"
    "    x[0][0][1] = float('inf')\n"
    "    y = torch.nn.functional.interpolate(x, size=5, mode='linear', align_corners=True)\n"
    "    return '' if torch.equal(y[0][0].isnan(), torch.tensor([True, False, False, False, False])) \\\n"
    "        else '{}'.format(y)\n";

static void test_floats(void **state) {
  (void)state;
  for (int threads = 1; threads <= 3; threads += 2) {
    expect_text(program, "one", -1, threads, WICK_GRAD_OFF, "");
    expect_text(program, "two", -1, threads, WICK_GRAD_OFF, "");
    expect_text(program, "three", -1, threads, WICK_GRAD_OFF, "");
    expect_text(program, "smoothed", -1, threads, WICK_GRAD_OFF, "");
  }
}

static void test_edges(void **state) {
  (void)state;
  expect_text(program, "edges", -1, 1, WICK_GRAD_OFF, "");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_floats), cmocka_unit_test(test_edges)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
