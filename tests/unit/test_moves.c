/* Operators that move elements, in the paths for frequent sizes of elements and layouts, against the general ones. */
#include "program_fixture.h"

static const char indexed[] =
    "def numbers(sizes: List[int]) -> Tensor:\n"
    "    return torch.randint(-100, 100, sizes).float()\n"
    /* exact in each dtype; float16 takes the general way */
    "def walked(x: Tensor, i: Tensor, y: Tensor, dim: int) -> List[Tensor]:\n"
    "    sum = x.float().scatter_add(dim, i, y.float()).double() if x.dtype == torch.float16 else \\\n"
    "        x.scatter_add(dim, i, y).double()\n"
    "    put = x.gather(dim, i).zero_().scatter(dim, torch.zeros_like(i), y)\n"
    "    return [x.gather(dim, i).double(), sum, put.double()]\n"
    "def indexed() -> str:\n"
    "    for dim in [0, 1, -1]:\n"
    "        x, y = numbers([7, 9, 11]), numbers([7, 9, 11])\n"
    "        i = torch.randint(0, x.size(dim), [7, 9, 11])\n"
    "        for turned in [False, True]:\n"
    "            if turned:\n"
    "                x, i, y = x.transpose(0, 2), i.transpose(0, 2), y.transpose(0, 2)\n"
    "                i = i.remainder(x.size(dim))\n"
    "            expected = walked(x.half(), i, y.half(), dim)\n"
    "            for d in [torch.float32, torch.float64]:\n"
    "                got = walked(x.to(d), i, y.to(d), dim)\n"
    "                for k in range(3):\n"
    "                    if not torch.equal(got[k], expected[k]):\n"
    "                        return 'dim {} {} {}'.format(dim, d, k)\n"
    "    return ''\n"
    "def outside() -> str:\n"
    "    return '{}'.format(torch.zeros([2, 3]).gather(1, torch.tensor([[0, 3]])))\n"
    "def below() -> str:\n"
    "    return '{}'.format(torch.zeros([2, 3]).scatter_add(1, torch.tensor([[0, -1]]), torch.ones([1, 2])))\n";

static void test_indexed(void **state) {
  (void)state;
  expect_text(indexed, "indexed", -1, 1, WICK_GRAD_OFF, "");
  expect_text(indexed, "outside", -1, 1, WICK_GRAD_OFF, "index 3 is out of bounds for dimension 1 with size 3");
  expect_text(indexed, "below", -1, 1, WICK_GRAD_OFF, "index -1 is out of bounds for dimension 1 with size 3");
}

static const char flipped[] =
    "def flipped() -> str:\n"
    "    for d in [torch.uint8, torch.int16, torch.float32, torch.float64, torch.complex128]:\n"
    "        for n in [1, 2, 5, 16, 37]:\n"
    "            x = torch.randint(0, 100, [3, n, 5]).to(d)\n"
    "            for v in [x, x.transpose(1, 2), x.transpose(0, 1)]:\n"
    "                back = torch.arange(v.size(2) - 1, -1, -1)\n"
    "                if not torch.equal(v.flip([-1]), v.index_select(2, back)):\n"
    "                    return '{} {}'.format(d, v.size())\n"
    "                if not torch.equal(v.flip([0, 2]).flip([2]).flip([0]), v):\n"
    "                    return 'twice {} {}'.format(d, v.size())\n"
    "    return ''\n";

static void test_flipped(void **state) {
  (void)state;
  expect_text(flipped, "flipped", -1, 2, WICK_GRAD_OFF, "");
}

static const char padded[] =
    /* dimension by dimension: what is left, between two pieces of the value */
    "def joined(x: Tensor, pad: List[int], value: float) -> Tensor:\n"
    "    for i in range(len(pad) // 2):\n"
    "        d, before, after = x.dim() - 1 - i, pad[2 * i], pad[2 * i + 1]\n"
    "        x = x.narrow(d, max(-before, 0), x.size(d) + min(before, 0) + min(after, 0))\n"
    "        sizes = x.size()\n"
    "        sizes[d] = max(before, 0)\n"
    "        first = torch.full(sizes, value, dtype=x.dtype)\n"
    "        sizes[d] = max(after, 0)\n"
    "        x = torch.cat([first, x, torch.full(sizes, value, dtype=x.dtype)], d)\n"
    "    return x\n"
    "def padded() -> str:\n"
    "    for pad in [[1, 1], [2, 0], [-1, 3], [1, -2], [1, 2, 3, 4], [0, 0, 1, 0], [1, 1, -2, 1], [-1, -1, -1, 0],\n"
    "                [1, 0, 0, 2, 1, 1], [0, 0, 0, 0, -1, 2], [1, 1, 1, 1, 1, 1, 2, 1], [-7, 2, 1, 1]]:\n"
    "        for sizes in [[4], [3, 7], [5, 4, 7], [2, 3, 4, 7], [2, 2, 3, 4, 7], [0, 4, 3, 7], [2, 3, 0, 7]]:\n"
    "            if len(pad) > 2 * len(sizes) or (pad[0] == -7 and sizes[-1] < 7) or \\\n"
    "                    (0 in sizes and min(pad) < 0):\n"
    "                continue\n"
    "            for d in [torch.uint8, torch.float16, torch.float32, torch.float64, torch.complex128]:\n"
    "                x = torch.randint(0, 100, sizes).to(d)\n"
    "                y, expected = torch.constant_pad_nd(x, pad, 3.), joined(x, pad, 3.)\n"
    "                if y.dtype != d or not torch.equal(y, expected):\n"
    "                    return '{} {} {}'.format(pad, sizes, d)\n"
    "                if len(sizes) > 2 and not torch.equal(\n"
    "                        torch.constant_pad_nd(x.transpose(0, 1), pad, 3.), joined(x.transpose(0, 1), pad, 3.)):\n"
    "                    return 'transposed {} {} {}'.format(pad, sizes, d)\n"
    "    return ''\n";

static void test_padded(void **state) {
  (void)state;
  expect_text(padded, "padded", -1, 1, WICK_GRAD_OFF, "");
  expect_text(padded, "padded", -1, 3, WICK_GRAD_OFF, "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_indexed),
      cmocka_unit_test(test_flipped),
      cmocka_unit_test(test_padded),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
